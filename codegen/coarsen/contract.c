/* Coarsening: which multiplications and additions are contracted to fma, decided before there are
 * copies.
 *
 * In: the kernel that will be coarsened. Out: the same, with `llvm.fma` and without the flag that
 * permits contraction.
 *
 * If it were left to the code generator, a coarsened launch could round differently: of a sum's
 * products it contracts the one with fewer uses, and values that copies share have more. So it is
 * made here, by what kept_products.c has left: each sum has one product to be contracted with
 * at most. What remains may not be contracted any more, by ptxas either. */
#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

/* Which operand is the product to contract; 2: neither. */
static unsigned product_of(LLVMValueRef sum) {
  for (unsigned k = 0; k < 2; k++)
    if (cg_is_contractible(LLVMGetOperand(sum, k), LLVMFMul))
      return k;
  return 2;
}

static LLVMValueRef fused(Cg *cg, LLVMBuilderRef b, LLVMValueRef sum, unsigned product) {
  LLVMValueRef mul = LLVMGetOperand(sum, product), other = LLVMGetOperand(sum, 1 - product);
  LLVMValueRef args[] = {LLVMGetOperand(mul, 0), LLVMGetOperand(mul, 1), other};
  LLVMTypeRef type = LLVMTypeOf(sum);
  if (LLVMGetInstructionOpcode(sum) == LLVMFSub) { /* a * b - c, c - a * b */
    unsigned negated = !product ? 2 : LLVMIsConstant(args[1]) ? 1 : 0;
    args[negated] = l_fneg(b, args[negated]);
  }
  LLVMValueRef fma = cg_intrinsic_fn(cg, "llvm.fma", &type, 1);
  LLVMValueRef call = l_call(b, fma, args, 3);
  LLVMSetFastMathFlags(call, cg_flags_without_contraction(sum));
  return call;
}

static LLVMBuilderRef at(LLVMBuilderRef b, LLVMValueRef i) {
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  return b;
}

static void fuse(Cg *cg, LLVMBuilderRef b, LLVMValueRef sum, unsigned product) {
  LLVMValueRef mul = LLVMGetOperand(sum, product);
  LLVMReplaceAllUsesWith(sum, fused(cg, at(b, sum), sum, product));
  LLVMInstructionEraseFromParent(sum);
  if (!LLVMGetFirstUse(mul))
    LLVMInstructionEraseFromParent(mul);
}

static void each_instruction(Cg *cg, LLVMBuilderRef b,
                             void (*visit)(Cg *, LLVMBuilderRef, LLVMValueRef)) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(cg->kernel); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      visit(cg, b, i);
    }
}

static void visit_sum(Cg *cg, LLVMBuilderRef b, LLVMValueRef i) {
  unsigned product = cg_is_contractible_sum(i) ? product_of(i) : 2;
  if (product < 2)
    fuse(cg, b, i, product);
}

static void visit_rest(Cg *cg, LLVMBuilderRef b, LLVMValueRef i) {
  (void)cg;
  if (cg_is_contractible_sum(i) || cg_is_contractible(i, LLVMFMul))
    copy_without_contraction(b, i);
}

void co_contract(Cg *cg) {
  /* reassociation leaves the rounding open in any case */
  if (!cg->options.fma || cg->options.fastmath & CG_FAST_REASSOC)
    return;
  LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->context);
  each_instruction(cg, b, visit_sum);
  each_instruction(cg, b, visit_rest);
  LLVMDisposeBuilder(b);
}
