/* NVPTX local space: accesses of local arrays that stay in memory are ld.local and st.local.
 *
 * LLVM's code generator knows that an alloca is in local memory, but it folds a constant offset
 * into the generic form of the stack pointer: ld [%SP+4]. ptxas cannot see what a generic access
 * touches. It keeps such an array in memory, though it puts one into registers that has only
 * local accesses at constant offsets. So the array's local address goes through a move that LLVM
 * does not look into; all addresses come from there, and LLVM's inference of address spaces makes
 * them local. Of an array that has other accesses the move has a comment with its place in Python,
 * for advice (pyext/compile/assembler_log.c). An array whose size is a multiple of 16 bytes, or
 * that is long and of bytes, lies at such an address, and neighbours in it at known places, or
 * bytes and half words from a counter on that goes by as many, are accessed together; here, since
 * the code generator leaves that out, too, for long functions. (Words of a thread lie apart in
 * memory, so that a wide access to them takes as much of it as several.)
 *
 * In: the module right before code generation. */
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { WIDEST = 16, WORD = 4, LONG = 128 }; /* bytes; LONG: of an array that may be filled up */

static LLVMValueRef opaque_move(Cg *cg, LLVMTypeRef type, const char *place) {
  static const char constraints[] = "=l,l";
  const char *code = arena_printf(&cg->cx->arena, "mov.b64 $0, $1;%s%s", *place ? " " : "", place);
  return LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints), false, false,
                          LLVMInlineAsmDialectATT, false);
}

static bool is_lifetime(LLVMValueRef i) {
  return LLVMIsACallInst(i) &&
         (cg_is_call_of(i, "llvm.lifetime.start.p0") || cg_is_call_of(i, "llvm.lifetime.end.p0"));
}

static bool is_fill(LLVMValueRef i) {
  LLVMValueRef n = LLVMIsAMemIntrinsic(i) ? LLVMGetOperand(i, 2) : NULL;
  return n && LLVMIsAConstantInt(n);
}

/* Is there an access, or another use of the address, that is at no constant offset? */
static bool varies(LLVMValueRef address) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    bool step = cg_is_op(by, LLVMGetElementPtr), same = cg_is_op(by, LLVMAddrSpaceCast);
    for (unsigned k = 0; step && k < LLVMGetNumIndices(by); k++)
      if (!LLVMIsAConstantInt(LLVMGetOperand(by, k + 1)))
        return true;
    bool access = LLVMIsALoadInst(by) ||
                  (LLVMIsAStoreInst(by) && LLVMGetOperand(by, 0) != address) || is_lifetime(by) ||
                  is_fill(by);
    if (step || same ? varies(by) : !access)
      return true;
  }
  return false;
}

/* What codegen/lower/memory.c says of an array; "" of others, and where nothing varies. */
static const char *place_of(Cg *cg, LLVMValueRef array) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, CG_PLACE, sizeof CG_PLACE - 1), n = 0;
  LLVMValueRef node = LLVMGetMetadata(array, kind), words = NULL;
  if (!node || LLVMGetMDNodeNumOperands(node) != 1 || !varies(array))
    return "";
  LLVMGetMDNodeOperands(node, &words);
  const char *text = LLVMGetMDString(words, &n);
  return arena_printf(&cg->cx->arena, "%.*s", (int)n, text);
}

static void redirect(Cg *cg, LLVMValueRef array, LLVMValueRef address, LLVMValueRef moved) {
  VEC(LLVMValueRef) users = {0};
  for (LLVMUseRef u = LLVMGetFirstUse(array); u; u = LLVMGetNextUse(u))
    VEC_PUSH(&cg->cx->arena, &users, LLVMGetUser(u));
  for (uint32_t n = 0; n < users.len; n++) {
    LLVMValueRef by = users.data[n];
    if (by == address || is_lifetime(by)) /* only an alloca may have a lifetime */
      continue;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(by); k++)
      if (LLVMGetOperand(by, k) == array)
        LLVMSetOperand(by, k, moved);
  }
}

/* What is a multiple of the unit, a power of two, plus the offset is one of this. */
static unsigned least_unit(unsigned unit, uint64_t offset) {
  return offset & (unit - 1) ? (unsigned)(offset & -offset) : unit;
}

/* A power of two of which the index is a multiple. */
static unsigned multiple_of(LLVMValueRef index) {
  unsigned zeros = cg_low_zeros(index);
  return zeros < WIDEST ? 1u << zeros : WIDEST;
}

/* Says of accesses at an offset from an address that is a multiple of `unit` what theirs are
 * multiples of, so that the generator makes wide ones of neighbours. */
static void align_accesses(Cg *cg, LLVMValueRef address, uint64_t offset, unsigned unit) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    bool store = LLVMIsAStoreInst(by) && LLVMGetOperand(by, 1) == address;
    if (cg_is_op(by, LLVMAddrSpaceCast))
      align_accesses(cg, by, offset, unit);
    else if (cg_is_op(by, LLVMGetElementPtr) && LLVMGetNumIndices(by) == 1) {
      LLVMValueRef index = LLVMGetOperand(by, 1);
      uint64_t size = LLVMABISizeOfType(cg->layout, LLVMGetGEPSourceElementType(by));
      if (LLVMIsAConstantInt(index))
        align_accesses(cg, by, offset + (uint64_t)LLVMConstIntGetSExtValue(index) * size, unit);
      else if (size < WORD)
        align_accesses(cg, by, offset, least_unit(unit, size * multiple_of(index)));
    } else if ((store || LLVMIsALoadInst(by)) && cg_is_plain_access(by)) {
      unsigned of = least_unit(unit, offset);
      if (LLVMGetAlignment(by) < of)
        LLVMSetAlignment(by, of);
    }
  }
}

/* Has it bytes or half words at places of which something is known? */
static bool has_short_places(Cg *cg, LLVMValueRef address) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (cg_is_op(by, LLVMGetElementPtr) && LLVMGetNumIndices(by) == 1 &&
        LLVMABISizeOfType(cg->layout, LLVMGetGEPSourceElementType(by)) < WORD &&
        cg_low_zeros(LLVMGetOperand(by, 1)))
      return true;
  }
  return false;
}

static void move_address(Cg *cg, LLVMValueRef array) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef local = LLVMPointerTypeInContext(cg->context, NVPTX_LOCAL);
  LLVMTypeRef type = LLVMFunctionType(local, &local, 1, false);
  LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(array));
  LLVMSetCurrentDebugLocation2(b, NULL);
  const char *place = place_of(cg, array);
  LLVMValueRef address = l_addrspacecast(b, array, local);
  LLVMValueRef moved = l_call_type(b, type, opaque_move(cg, type, place), &address, 1);
  LLVMValueRef generic = l_addrspacecast(b, moved, cg->t.ptr);
  redirect(cg, array, address, generic);
  uint64_t size = LLVMABISizeOfType(cg->layout, LLVMGetAllocatedType(array));
  if (size % WIDEST == 0 || (size >= LONG && has_short_places(cg, generic))) {
    LLVMSetAlignment(array, WIDEST);
    align_accesses(cg, generic, 0, WIDEST);
  }
}

void cg_nvptx_local_space(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    LLVMBasicBlockRef entry = LLVMIsDeclaration(f) ? NULL : LLVMGetFirstBasicBlock(f);
    for (LLVMValueRef i = entry ? LLVMGetFirstInstruction(entry) : NULL; i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsAAllocaInst(i) && LLVMGetFirstUse(i)) {
        move_address(cg, i);
        any = true;
      }
  }
  if (any) /* which the code generator leaves out for long functions */
    cg_run_passes(cg, "function(infer-address-spaces,load-store-vectorizer)");
}
