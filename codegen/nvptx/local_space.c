/* NVPTX local space: accesses of local arrays that stay in memory are ld.local and st.local.
 *
 * LLVM's code generator knows that an alloca is in local memory, but it folds a constant offset
 * into the generic form of the stack pointer: ld [%SP+4]. ptxas cannot see what a generic access
 * touches. It keeps such an array in memory, though it puts one into registers that has only
 * local accesses at constant offsets. So the array's local address goes through a move that LLVM
 * does not look into; all addresses come from there, and LLVM's inference of address spaces makes
 * them local.
 *
 * In: the module right before code generation. */
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

static LLVMValueRef opaque_move(LLVMTypeRef type) {
  static const char code[] = "mov.b64 $0, $1;", constraints[] = "=l,l";
  return LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints), false, false,
                          LLVMInlineAsmDialectATT, false);
}

static bool is_lifetime(LLVMValueRef i) {
  return LLVMIsACallInst(i) &&
         (cg_is_call_of(i, "llvm.lifetime.start.p0") || cg_is_call_of(i, "llvm.lifetime.end.p0"));
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

static void move_address(Cg *cg, LLVMValueRef array) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef local = LLVMPointerTypeInContext(cg->context, NVPTX_LOCAL);
  LLVMTypeRef type = LLVMFunctionType(local, &local, 1, false);
  LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(array));
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMValueRef address = l_addrspacecast(b, array, local);
  LLVMValueRef moved = l_call_type(b, type, opaque_move(type), &address, 1);
  redirect(cg, array, address, l_addrspacecast(b, moved, cg->t.ptr));
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
    cg_run_passes(cg, "function(infer-address-spaces)");
}
