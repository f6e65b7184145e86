/* NVPTX sum comparisons: sums of two 32-bit numbers that are compared in 64 bits, in 32.
 *
 *   place = max(0, min(steps.size - 1, place + change[code]))
 *
 * A place in an array plus a number that was loaded may need 33 bits. Their sum's low half is all
 * that is chosen, but the comparison asks all of it: x + d < n. A place is not negative, so n - x
 * fits 32 bits where n does: d < n - x says the same.
 *
 * In: a module that only the code generator is still to see, with such sums and what they are
 * compared with extended from 32 bits. Out: such comparisons of 32 bits. */
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { HALF = 32 };

/* Of 64 bits, extended from no more than 32, or a constant? */
static bool is_extended(LLVMValueRef v) {
  if (LLVMIsAConstantInt(v))
    return cg_nvptx_fits(v, HALF);
  return cg_is_extension(v) && cg_int_width(LLVMGetOperand(v, 0)) <= HALF && cg_nvptx_fits(v, HALF);
}

static LLVMValueRef narrow(Cg *cg, LLVMValueRef v) {
  if (LLVMIsAConstantInt(v))
    return l_int(cg->t.i32, LLVMConstIntGetZExtValue(v));
  return l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, LLVMIsASExtInst(v) != NULL);
}

static bool is_signed_one(LLVMIntPredicate how) {
  return how == LLVMIntEQ || how == LLVMIntNE || how == LLVMIntSLT || how == LLVMIntSLE ||
         how == LLVMIntSGT || how == LLVMIntSGE;
}

/* Of a sum that something else reads the upper half is there, and answers comparisons with a
 * constant (upper_halves.c). */
static bool is_only_compared(LLVMValueRef sum) {
  for (LLVMUseRef use = LLVMGetFirstUse(sum); use; use = LLVMGetNextUse(use))
    if (!LLVMIsAICmpInst(LLVMGetUser(use)))
      return false;
  return true;
}

/* The number of the term that can go to the side of `with`; 2: neither. */
static unsigned moved_term(LLVMValueRef sum, LLVMValueRef with) {
  for (unsigned k = 0; k < 2; k++) {
    Interval x = cg_nvptx_range(LLVMGetOperand(sum, k));
    Interval left = ir_interval_sum(cg_nvptx_range(with), ir_interval_negated(x));
    if (ir_interval_lies_within(left, cg_nvptx_numbers(HALF)))
      return k;
  }
  return 2;
}

/* The same comparison in 32 bits; NULL: i is no such. */
static LLVMValueRef compared(Cg *cg, LLVMValueRef i) {
  if (!LLVMIsAICmpInst(i) || LLVMTypeOf(LLVMGetOperand(i, 0)) != cg->t.i64 ||
      !is_signed_one(LLVMGetICmpPredicate(i)))
    return NULL;
  for (unsigned side = 0; side < 2; side++) {
    LLVMValueRef sum = LLVMGetOperand(i, side), with = LLVMGetOperand(i, !side);
    if (!cg_is_op(sum, LLVMAdd) || (LLVMIsAConstantInt(with) && !is_only_compared(sum)) ||
        !is_extended(with) || !is_extended(LLVMGetOperand(sum, 0)) ||
        !is_extended(LLVMGetOperand(sum, 1)) || cg_nvptx_fits(sum, HALF))
      continue;
    unsigned k = moved_term(sum, with);
    if (k == 2)
      continue;
    LLVMBuilderRef b = cg->builder;
    LLVMPositionBuilderBefore(b, i);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef x = narrow(cg, LLVMGetOperand(sum, k)), d = narrow(cg, LLVMGetOperand(sum, !k));
    LLVMValueRef left = l_sub(b, narrow(cg, with), x);
    LLVMIntPredicate how = LLVMGetICmpPredicate(i);
    return side ? l_icmp(b, how, left, d) : l_icmp(b, how, d, left);
  }
  return NULL;
}

void cg_nvptx_sum_comparisons(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMValueRef v = compared(cg, i);
        if (!v)
          continue;
        LLVMReplaceAllUsesWith(i, v);
        LLVMInstructionEraseFromParent(i);
      }
}
