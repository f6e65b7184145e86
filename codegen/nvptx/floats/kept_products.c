/* NVPTX products that stay: what is contracted to fma, by one rule for all that use a product.
 *
 * x * s - floor(x * s) is a fraction, from 0 to 1. Contracted it is fma(x, s, -floor(x * s)): the
 * one half of it sees the product as it was rounded, the other does not, and where the product was
 * rounded up to a whole number the fraction is negative. Nothing is saved either, since the product
 * is computed in any case. So a product is contracted with all that uses it or with nothing, which
 * is ptxas's own rule. LLVM's code generator looks at each sum by itself.
 *
 * Of two products in one sum, a * b + c * d, one stays: one of another block, which the generator
 * does not see; else the one with more uses; else the second.
 *
 * In: functions after LLVM's passes. Out: the same; products that stay have lost the flag that
 * permits contraction, so that each sum has at most one operand with it. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

static bool is_read_otherwise(LLVMValueRef product) {
  bool by_sums = false, otherwise = false;
  for (LLVMUseRef u = LLVMGetFirstUse(product); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    bool sum = cg_is_contractible_sum(by) && LLVMGetOperand(by, 0) != LLVMGetOperand(by, 1);
    by_sums |= sum;
    otherwise |= !sum;
  }
  return by_sums && otherwise;
}

static void keep_read_products(LLVMBuilderRef b, LLVMValueRef i) {
  if (cg_is_contractible(i, LLVMFMul) && is_read_otherwise(i))
    copy_without_contraction(b, i);
}

static LLVMValueRef one_of_two(LLVMValueRef sum, LLVMValueRef x, LLVMValueRef y) {
  LLVMBasicBlockRef here = LLVMGetInstructionParent(sum);
  bool x_here = LLVMGetInstructionParent(x) == here, y_here = LLVMGetInstructionParent(y) == here;
  if (x_here != y_here)
    return x_here ? y : x;
  return cg_count_uses(x) > cg_count_uses(y) ? x : y;
}

static void keep_one_of_two(LLVMBuilderRef b, LLVMValueRef i) {
  if (!cg_is_contractible_sum(i))
    return;
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  if (cg_is_contractible(x, LLVMFMul) && cg_is_contractible(y, LLVMFMul))
    copy_without_contraction(b, one_of_two(i, x, y));
}

static void each_instruction(Cg *cg, void (*visit)(LLVMBuilderRef, LLVMValueRef)) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(cg->builder, i);
      }
}

void cg_nvptx_keep_products(Cg *cg) {
  each_instruction(cg, keep_read_products);
  each_instruction(cg, keep_one_of_two);
}
