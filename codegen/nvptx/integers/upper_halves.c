/* NVPTX upper halves: comparisons of 64-bit numbers that the upper half answers, in 32 bits.
 *
 *   x > -1          as LLVM writes x >= 0
 *   x | y < 2**32   whether the operands of a division fit 32 bits (lower/divide.c)
 *
 * ptxas compares halves: the lower ones, and the upper ones with what came out. Of x < 0 it sees
 * that the lower half says nothing, of these it does not, and computes x | y of both.
 *
 * In: a module that only the code generator is still to see. Out: such comparisons in kernels as
 * those of the upper half. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { HALF = 32 };

/* Is it x < n with a lower half of n of zeros, or x > n with one of ones? */
static bool is_of_upper_half(const Cg *cg, LLVMValueRef i) {
  if (!cg_is_op(i, LLVMICmp) || LLVMTypeOf(LLVMGetOperand(i, 0)) != cg->t.i64 ||
      !LLVMIsAConstantInt(LLVMGetOperand(i, 1)))
    return false;
  uint64_t n = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
  switch (LLVMGetICmpPredicate(i)) {
  case LLVMIntULT: return n && !(uint32_t)n;
  case LLVMIntSLT: return n && !(uint32_t)n; /* x < 0 ptxas sees */
  case LLVMIntUGT:
  case LLVMIntSGT: return !~(uint32_t)n;
  default: return false;
  }
}

static void compare_upper_half(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef shifted = l_lshr(b, LLVMGetOperand(i, 0), l_int(cg->t.i64, HALF));
  uint64_t n = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) >> HALF;
  LLVMValueRef upper = l_trunc(b, shifted, cg->t.i32);
  LLVMReplaceAllUsesWith(i, l_icmp(b, LLVMGetICmpPredicate(i), upper, l_int(cg->t.i32, n)));
  LLVMInstructionEraseFromParent(i);
}

static void visit(Cg *cg, LLVMValueRef kernel) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (is_of_upper_half(cg, i))
        compare_upper_half(cg, i);
    }
}

/* Functions that are called are slow paths of libraries, as a rule: they hardly ever run. */
void cg_nvptx_upper_halves(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (LLVMGetFunctionCallConv(f) == CG_LLVM_PTX_KERNEL)
      visit(cg, f);
}
