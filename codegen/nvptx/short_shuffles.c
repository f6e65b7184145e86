/* NVPTX short shuffles: of a 64-bit number that fits 32 bits, one exchange of its low half.
 *
 * An int64 goes to another lane in two halves. Where a lane's number is an index or a count of 32
 * bits, so are the others', and the high half that arrives is 0: comparisons and selections of what
 * arrived have 32 bits too, as those of the place of a warp's least number.
 *
 * In: a module after LLVM's passes. Out: the same, without shuffles of halves that are 0. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/value_ranges.h"

#define SHUFFLE "llvm.nvvm.shfl.sync."

enum { VALUE = 1 }; /* an operand of a shuffle */

static bool is_shuffle(LLVMValueRef i) { return cg_is_call_of_any(i, SHUFFLE); }

/* The number of 64 bits of which v is the high half; NULL if it is none. */
static LLVMValueRef whole_of(const Cg *cg, LLVMValueRef v) {
  LLVMValueRef halves = LLVMIsAExtractElementInst(v) ? LLVMGetOperand(v, 0) : NULL;
  if (!halves || !cg_is_op(halves, LLVMBitCast) || !cg_is_number(LLVMGetOperand(v, 1), 1))
    return NULL;
  LLVMValueRef whole = LLVMGetOperand(halves, 0);
  return LLVMTypeOf(whole) == cg->t.i64 ? whole : NULL;
}

/* Is the high half of v, of 64 bits, 0? */
static bool is_short(LLVMValueRef v) {
  return ir_interval_lies_within(cg_nvptx_range(v), (Interval){0, UINT32_MAX});
}

/* The number whose high half, v, has arrived; `low` is the other. NULL if it is not made so. */
static LLVMValueRef arrived(const Cg *cg, LLVMValueRef v, LLVMValueRef *low) {
  LLVMUseRef use = LLVMGetFirstUse(v);
  LLVMValueRef halves = use ? LLVMGetUser(use) : NULL;
  if (!halves || LLVMGetNextUse(use) || !LLVMIsAInsertElementInst(halves) ||
      !cg_is_number(LLVMGetOperand(halves, 2), 1))
    return NULL;
  LLVMValueRef first = LLVMGetOperand(halves, 0);
  use = LLVMGetFirstUse(halves);
  if (!LLVMIsAInsertElementInst(first) || !cg_is_number(LLVMGetOperand(first, 2), 0) || !use ||
      LLVMGetNextUse(use))
    return NULL;
  *low = LLVMGetOperand(first, 1);
  LLVMValueRef whole = LLVMGetUser(use);
  return cg_is_op(whole, LLVMBitCast) && LLVMTypeOf(whole) == cg->t.i64 ? whole : NULL;
}

static bool visit_shuffle(Cg *cg, LLVMValueRef i) {
  LLVMValueRef from = whole_of(cg, LLVMGetOperand(i, VALUE)), low = NULL;
  LLVMValueRef to = from && is_short(from) ? arrived(cg, i, &low) : NULL;
  if (!to)
    return false;
  LLVMPositionBuilderBefore(cg->builder, to);
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  LLVMReplaceAllUsesWith(to, l_zext(cg->builder, low, cg->t.i64));
  LLVMReplaceAllUsesWith(i, LLVMGetPoison(cg->t.i32));
  LLVMInstructionEraseFromParent(i);
  return true;
}

static bool visit_function(Cg *cg, LLVMValueRef f) {
  bool changed = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (is_shuffle(i) && LLVMTypeOf(i) == cg->t.i32)
        changed |= visit_shuffle(cg, i);
    }
  return changed;
}

void cg_nvptx_short_shuffles(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (visit_function(cg, f))
      cg_run_function_passes(cg, f, "instcombine<no-verify-fixpoint>");
}
