/* NVPTX short shuffles: of a 64-bit number that fits 32 bits, one exchange of its low half.
 *
 * An int64 goes to another lane in two halves. Where a lane's number is an index or a count of 32
 * bits, so are the others', and the high half that arrives is 0: comparisons and selections of what
 * arrived have 32 bits too, as those of the place of a warp's least number.
 *
 * In: a module after LLVM's passes. Out: the same, without shuffles of halves that are 0, and with
 * no phi of a number's words beside one of the number. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

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

/* --- bits of numbers ---
 *
 * A number goes to another lane as words of 32 bits. Of one that is changed behind a condition and
 * goes on from there, LLVM makes phis of the number and of its words: more registers, and moves on
 * both ways to them. */

static bool is_word_of(const Cg *cg, LLVMValueRef word, LLVMValueRef number, unsigned k) {
  LLVMTypeRef type = LLVMTypeOf(number);
  if (type == cg->t.f32)
    return LLVMIsAConstantFP(number)
               ? LLVMConstBitCast(number, cg->t.i32) == word
               : (cg_is_op(word, LLVMBitCast) && LLVMGetOperand(word, 0) == number) ||
                     (cg_is_op(number, LLVMBitCast) && LLVMGetOperand(number, 0) == word);
  if (!LLVMIsAConstantFP(number) && !LLVMIsAConstantInt(number)) {
    LLVMValueRef words = LLVMIsAExtractElementInst(word) ? LLVMGetOperand(word, 0) : NULL;
    return words && cg_is_number(LLVMGetOperand(word, 1), k) && cg_is_op(words, LLVMBitCast) &&
           LLVMGetOperand(words, 0) == number;
  }
  LLVMBool lost;
  double d = LLVMIsAConstantFP(number) ? LLVMConstRealGetDouble(number, &lost) : 0;
  uint64_t bits = LLVMIsAConstantInt(number) ? LLVMConstIntGetZExtValue(number) : 0;
  if (LLVMIsAConstantFP(number))
    memcpy(&bits, &d, sizeof bits);
  return LLVMIsAConstantInt(word) && LLVMConstIntGetZExtValue(word) == (uint32_t)(bits >> 32 * k);
}

/* The phi of the number of whose words this one, number k, is the phi; NULL if there is none. */
static LLVMValueRef phi_of_number(const Cg *cg, LLVMValueRef word, unsigned k) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(word)); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    LLVMTypeRef t = LLVMTypeOf(i);
    bool same = (t == cg->t.f32 && !k) || t == cg->t.f64 || t == cg->t.i64;
    for (unsigned j = 0; j < LLVMCountIncoming(word) && same; j++) {
      LLVMValueRef in = LLVMGetIncomingValue(word, j),
                   number = graph_incoming(i, LLVMGetIncomingBlock(word, j));
      same = is_word_of(cg, in, number, k) || (in == word && number == i);
    }
    if (same)
      return i;
  }
  return NULL;
}

static LLVMValueRef word_of(Cg *cg, LLVMValueRef number, unsigned k) {
  LLVMPositionBuilderBefore(cg->builder, graph_behind_phis(LLVMGetInstructionParent(number)));
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  if (LLVMTypeOf(number) == cg->t.f32)
    return l_bitcast(cg->builder, number, cg->t.i32);
  LLVMValueRef words = l_bitcast(cg->builder, number, LLVMVectorType(cg->t.i32, 2));
  return l_extract_element(cg->builder, words, l_int(cg->t.i32, k));
}

static void merge_phis(Cg *cg, LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef number = NULL;
    for (unsigned k = 0; k < 2 && !number && LLVMTypeOf(i) == cg->t.i32; k++)
      if ((number = phi_of_number(cg, i, k)))
        LLVMReplaceAllUsesWith(i, word_of(cg, number, k));
    if (!number)
      continue;
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
      LLVMValueRef in = LLVMGetIncomingValue(i, k);
      LLVMSetOperand(i, k, LLVMGetPoison(cg->t.i32));
      copy_erase_unused(in);
    }
    LLVMInstructionEraseFromParent(i);
  }
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
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      merge_phis(cg, b);
}
