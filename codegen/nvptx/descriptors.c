/* NVPTX descriptors: the 64 bits by which a matrix operation of a warpgroup finds a tile in shared
 * memory (PTX ISA, "Matrix descriptor"). The low 14 bits are its address in units of 16 bytes, and
 * the others, the same for tiles of one array, say how it lies there.
 *
 * Lowering writes a call that only computes, so that LLVM's passes see the addresses of a loop's
 * tiles as sums (of the array, of a stage, of constants once the loop over k is unrolled). This
 * pass replaces it: what is added to the address is added to the descriptor, divided by 16. So a
 * loop has one addition for each tile, and what does not change in it is computed before it.
 *
 * A tile begins at a multiple of 16 bytes. Terms are split off while they are such multiples, so
 * what is left is one too. Shared memory of a block lies in 2**18 bytes at a multiple of that: no
 * sum carries beyond the 14 bits. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

#define NAME "pyptx.tile_descriptor"

enum { UNIT = 16, WINDOW = 0x3ffff };

LLVMValueRef cg_nvptx_descriptor(Lower *lw, LLVMValueRef tile, LLVMValueRef rest) {
  static const char *const pure[] = {"nounwind", "willreturn", "nosync", "nofree", "memory"};
  LLVMValueRef f = LLVMGetNamedFunction(lw->cg->module, NAME);
  if (!f) {
    LLVMTypeRef types[] = {LLVMTypeOf(tile), lw->t->i64};
    f = LLVMAddFunction(lw->cg->module, NAME, LLVMFunctionType(lw->t->i64, types, 2, 0));
    for (unsigned k = 0; k < sizeof pure / sizeof *pure; k++)
      cg_attribute(lw->cg, f, L_FUNCTION, pure[k], 0);
  }
  return l_call(lw->b, f, (LLVMValueRef[]){tile, rest}, 2);
}

/* --- addresses as sums --- */

typedef struct Term { /* value * units */
  LLVMValueRef value;
  int64_t units;
  bool is_signed; /* of a value with fewer than 64 bits */
} Term;

typedef struct Sum {
  LLVMValueRef root;
  VEC(Term) terms;
  int64_t units;
} Sum;

static bool is_constant(LLVMValueRef v, int64_t *out) {
  bool is = LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
  if (is)
    *out = LLVMConstIntGetSExtValue(v);
  return is;
}

/* Does the extension of the product equal the product of the extension? */
static bool is_exact(LLVMValueRef product, bool extended, bool is_signed) {
  return !extended || (is_signed ? LLVMGetNSW(product) : LLVMGetNUW(product));
}

/* index * bytes as a term, if that is seen to be a multiple of the unit. */
static bool find_term(LLVMValueRef index, int64_t bytes, Term *out) {
  enum { MOST = 1 << 20 }; /* beyond shared memory: no product overflows */
  bool is_signed = LLVMIsASExtInst(index), extended = cg_is_extension(index);
  LLVMValueRef v = extended ? LLVMGetOperand(index, 0) : index;
  int64_t by = 0;
  bool shift = cg_is_op(v, LLVMShl);
  if ((shift || cg_is_op(v, LLVMMul)) && is_constant(LLVMGetOperand(v, 1), &by) &&
      is_exact(v, extended, is_signed) && by > 0 && by < (shift ? 20 : MOST)) {
    bytes *= shift ? (int64_t)1 << by : by;
    v = LLVMGetOperand(v, 0);
  }
  *out = (Term){v, bytes / UNIT, is_signed};
  return bytes % UNIT == 0 && bytes < MOST;
}

static Sum sum_of(Cg *cg, LLVMValueRef address) {
  Sum s = {.root = address};
  for (;; s.root = LLVMGetOperand(s.root, 0)) {
    LLVMValueRef at = s.root;
    bool steps = cg_is_op(at, LLVMGetElementPtr) ||
                 (LLVMIsAConstantExpr(at) && LLVMGetConstOpcode(at) == LLVMGetElementPtr);
    if (!steps || LLVMGetNumOperands(at) != 2)
      return s;
    int64_t bytes = (int64_t)LLVMABISizeOfType(LLVMGetModuleDataLayout(cg->module),
                                               LLVMGetGEPSourceElementType(at)),
            n = 0;
    Term t;
    if (is_constant(LLVMGetOperand(at, 1), &n)) {
      if (n * bytes % UNIT)
        return s;
      s.units += n * bytes / UNIT;
    } else if (find_term(LLVMGetOperand(at, 1), bytes, &t)) {
      VEC_PUSH(&cg->cx->arena, &s.terms, t);
    } else {
      return s;
    }
  }
}

/* --- writing them --- */

/* Behind v, or at the kernel's beginning. */
static void go_behind(Cg *cg, LLVMValueRef v, LLVMValueRef user) {
  LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
  LLVMValueRef at = LLVMIsAInstruction(v) ? LLVMGetNextInstruction(v)
                                          : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
  while (LLVMIsAPHINode(at) || LLVMIsAAllocaInst(at))
    at = LLVMGetNextInstruction(at);
  LLVMPositionBuilderBefore(cg->builder, at);
}

static LLVMValueRef written(Cg *cg, const Term *t) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef wide = cg->t.i64;
  LLVMValueRef v = t->value;
  if (LLVMTypeOf(v) != wide)
    v = t->is_signed ? l_sext(b, v, wide) : l_zext(b, v, wide);
  bool power = t->units > 0 && !(t->units & (t->units - 1));
  return power ? l_shl(b, v, l_int(wide, (uint64_t)__builtin_ctzll((uint64_t)t->units)))
               : l_mul(b, v, l_int(wide, (uint64_t)t->units));
}

/* Is the term computed in the block, as a stage's is in a loop? */
static bool is_near(const Term *t, LLVMBasicBlockRef b) {
  return LLVMIsAInstruction(t->value) && LLVMGetInstructionParent(t->value) == b;
}

static void replace(Cg *cg, LLVMValueRef call) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef wide = cg->t.i64;
  LLVMValueRef rest = LLVMGetOperand(call, 1);
  Sum s = sum_of(cg, LLVMGetOperand(call, 0));
  LLVMSetCurrentDebugLocation2(b, NULL);
  go_behind(cg, s.root, call);
  LLVMValueRef v = l_and(b, l_ptrtoint(b, s.root, wide), l_int(wide, WINDOW));
  v = l_lshr(b, v, l_int(wide, 4));
  if (LLVMIsConstant(rest))
    v = l_add(b, v, rest);
  LLVMPositionBuilderBefore(b, call);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
  if (!LLVMIsConstant(rest))
    v = l_add(b, v, rest);
  for (int near = 0; near < 2; near++) /* what may leave a loop comes first, constants last */
    for (uint32_t k = s.terms.len; k-- > 0;)
      if (is_near(&s.terms.data[k], LLVMGetInstructionParent(call)) == near)
        v = l_add(b, v, written(cg, &s.terms.data[k]));
  v = l_add(b, v, l_int(wide, (uint64_t)s.units));
  LLVMReplaceAllUsesWith(call, v);
  LLVMInstructionEraseFromParent(call);
}

void cg_nvptx_descriptors(Cg *cg) {
  LLVMValueRef f = LLVMGetNamedFunction(cg->module, NAME);
  if (!f)
    return;
  for (LLVMUseRef u; (u = LLVMGetFirstUse(f));)
    replace(cg, LLVMGetUser(u));
  LLVMDeleteFunction(f);
  if (cg->options.opt)
    cg_run_passes(cg, "function(early-cse,loop-mssa(licm))");
}
