/* NVPTX shifts: Python's shifts by variable counts in PTX's.
 *
 * A Python shift by a variable is select(count < 64, x << count, 0). PTX's shifts take a 32-bit
 * count and give 0 for counts of 64 or more, so LLVM 22 drops the select; but it has truncated the
 * 64-bit count, so x << 2**32 gives x. With the count clamped to 64 before, that is right. Lowering
 * cannot write the clamp, since LLVM's passes would remove it.
 *
 * x >> count is x >> min(count, 63): of more, PTX's shift gives the sign by itself, so the minimum
 * goes. A count of 64 bits needs neither if its low half is 64 or more wherever it is: one that was
 * extended from 32 bits, as all integers of narrow signatures are, negative ones too.
 *
 * In: an instruction of a module as it goes to the code generator. */
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/prepare.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* Is the low half of a count 64 or more, as a number without a sign, where the count is? */
static bool is_short_count(LLVMValueRef count) {
  return ir_interval_lies_within(cg_nvptx_range(count),
                                 (Interval){64 - (INT64_C(1) << 32), UINT32_MAX});
}

/* --- counts that a selection guards --- */

static bool feeds_select(LLVMValueRef shift) {
  for (LLVMUseRef use = LLVMGetFirstUse(shift); use; use = LLVMGetNextUse(use))
    if (LLVMIsASelectInst(LLVMGetUser(use)))
      return true;
  return false;
}

static bool is_guarded_shift(Cg *cg, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return (op == LLVMShl || op == LLVMLShr) && LLVMTypeOf(i) == cg->t.i64 &&
         !LLVMIsAConstant(LLVMGetOperand(i, 1)) && feeds_select(i) &&
         !is_short_count(LLVMGetOperand(i, 1));
}

/* Does the selection give 0 for counts of 64 or more? */
static bool is_guard_of(LLVMValueRef choice, LLVMValueRef shift) {
  LLVMValueRef test = LLVMIsASelectInst(choice) ? LLVMGetOperand(choice, 0) : NULL;
  return test && LLVMIsAICmpInst(test) && LLVMGetICmpPredicate(test) == LLVMIntULT &&
         LLVMGetOperand(test, 0) == LLVMGetOperand(shift, 1) &&
         cg_is_number(LLVMGetOperand(test, 1), 64) && LLVMGetOperand(choice, 1) == shift &&
         LLVMIsNull(LLVMGetOperand(choice, 2));
}

/* The selection asks the clamped count too: by that LLVM sees that it may drop it. */
static void clamp_count(Cg *cg, LLVMValueRef shift) {
  LLVMValueRef fn = cg_intrinsic_fn(cg, "llvm.umin", &cg->t.i64, 1), few = l_int(cg->t.i64, 64);
  LLVMValueRef args[] = {LLVMGetOperand(shift, 1), few};
  LLVMPositionBuilderBefore(cg->builder, shift);
  LLVMValueRef count = l_call(cg->builder, fn, args, 2), test = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(shift), next; use; use = next) {
    next = LLVMGetNextUse(use);
    if (!is_guard_of(LLVMGetUser(use), shift))
      continue;
    test = test ? test : l_icmp(cg->builder, LLVMIntULT, count, few);
    LLVMSetOperand(LLVMGetUser(use), 0, test);
  }
  LLVMSetOperand(shift, 1, count);
}

/* Of the low bits of a shift of 32 bits the generator does not see that. */
static bool is_guarded_low(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef low = LLVMIsASelectInst(i) ? LLVMGetOperand(i, 1) : NULL;
  if (!low || !LLVMIsATruncInst(low) || !LLVMIsNull(LLVMGetOperand(i, 2)))
    return false;
  LLVMValueRef shift = LLVMGetOperand(low, 0), test = LLVMGetOperand(i, 0);
  return (cg_is_op(shift, LLVMShl) || cg_is_op(shift, LLVMLShr)) &&
         LLVMTypeOf(shift) == cg->t.i32 && LLVMIsAICmpInst(test) &&
         LLVMGetICmpPredicate(test) == LLVMIntULT &&
         LLVMGetOperand(test, 0) == LLVMGetOperand(shift, 1) &&
         LLVMIsAConstantInt(LLVMGetOperand(test, 1)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(test, 1)) == 32;
}

static void choose_before_low(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef shift = LLVMGetOperand(LLVMGetOperand(i, 1), 0);
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef all = l_select(b, LLVMGetOperand(i, 0), shift, l_int(cg->t.i32, 0));
  LLVMReplaceAllUsesWith(i, l_trunc(b, all, LLVMTypeOf(i)));
}

/* --- counts that lowering has clamped --- */

/* The count k of min(k, most), which may be extended; NULL: it is something else. */
static LLVMValueRef clamped(LLVMValueRef count, unsigned most) {
  if (LLVMIsAZExtInst(count))
    count = LLVMGetOperand(count, 0);
  bool right = cg_is_call_of_any(count, "llvm.umin.") &&
               cg_is_number(LLVMGetOperand(count, 1), most) &&
               is_short_count(LLVMGetOperand(count, 0));
  return right ? LLVMGetOperand(count, 0) : NULL;
}

/* Of x >> min(k, 63), or of 31 for 32 bits; NULL: i is something else. */
static LLVMValueRef clamped_count(const Cg *cg, LLVMValueRef i) {
  LLVMTypeRef t = LLVMTypeOf(i);
  bool right = cg_is_op(i, LLVMAShr) ||
               (cg_is_op(i, LLVMLShr) && cg_nvptx_range(LLVMGetOperand(i, 0)).lo >= 0);
  return right && (t == cg->t.i64 || t == cg->t.i32)
             ? clamped(LLVMGetOperand(i, 1), LLVMGetIntTypeWidth(t) - 1)
             : NULL;
}

/* LLVM does not know of it: a shift of its own by 64 or more is poison. */
static LLVMValueRef hidden_count(Cg *cg, LLVMValueRef count, LLVMTypeRef t) {
  LLVMBuilderRef b = cg->builder;
  if (LLVMTypeOf(count) == cg->t.i64)
    count = l_trunc(b, count, cg->t.i32);
  count = cg_nvptx_hidden(cg, count);
  return t == cg->t.i64 ? l_zext(b, count, t) : count;
}

/* The number x of x & 1 << min(k, 63) in a comparison with 0, which LLVM makes of x >> k & 1. */
static LLVMValueRef tested_number(const Cg *cg, LLVMValueRef i, LLVMValueRef *count) {
  LLVMValueRef both = cg_is_op(i, LLVMICmp) ? LLVMGetOperand(i, 0) : NULL;
  if (!both || !cg_is_op(both, LLVMAnd) || LLVMTypeOf(both) != cg->t.i64 || !cg_has_one_use(both) ||
      (LLVMGetICmpPredicate(i) != LLVMIntEQ && LLVMGetICmpPredicate(i) != LLVMIntNE) ||
      !LLVMIsNull(LLVMGetOperand(i, 1)))
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef bit = LLVMGetOperand(both, k);
    if (cg_is_op(bit, LLVMShl) && cg_is_number(LLVMGetOperand(bit, 0), 1) &&
        (*count = clamped(LLVMGetOperand(bit, 1), 63)))
      return LLVMGetOperand(both, !k);
  }
  return NULL;
}

static void test_bit(Cg *cg, LLVMValueRef i, LLVMValueRef x, LLVMValueRef count) {
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef moved = l_trunc(b, l_ashr(b, x, hidden_count(cg, count, cg->t.i64)), cg->t.i32),
               bit = l_and(b, moved, l_int(cg->t.i32, 1));
  LLVMReplaceAllUsesWith(i, l_icmp(b, LLVMGetICmpPredicate(i), bit, l_int(cg->t.i32, 0)));
  LLVMInstructionEraseFromParent(i);
}

/* --- of 8 and 16 bits ---
 *
 * PTX's shifts of 16 bits give 0 or the sign for counts of 16 or more, for which ptxas clamps each
 * count first, in three instructions. In 32 bits there is nothing to clamp. */

static bool is_thin_shift(LLVMValueRef i) {
  return (cg_is_op(i, LLVMShl) || cg_is_op(i, LLVMLShr) || cg_is_op(i, LLVMAShr)) &&
         LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMTypeOf(i)) <= 16 && !LLVMIsAConstant(LLVMGetOperand(i, 1));
}

static void shift_word(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef word = cg->t.i32;
  LLVMPositionBuilderBefore(b, i);
  LLVMValueRef x = LLVMGetOperand(i, 0);
  LLVMValueRef wide = cg_is_op(i, LLVMAShr) ? l_sext(b, x, word) : l_zext(b, x, word);
  LLVMValueRef moved = l_binop(b, LLVMGetInstructionOpcode(i), wide,
                               l_zext(b, LLVMGetOperand(i, 1), word));
  LLVMReplaceAllUsesWith(i, l_trunc(b, moved, LLVMTypeOf(i)));
  LLVMInstructionEraseFromParent(i);
}

bool cg_nvptx_prepare_shift(Cg *cg, LLVMValueRef i) {
  LLVMValueRef count = clamped_count(cg, i), x;
  if (count) {
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMSetOperand(i, 1, hidden_count(cg, count, LLVMTypeOf(i)));
  } else if (is_guarded_shift(cg, i)) {
    clamp_count(cg, i);
  } else if (is_guarded_low(cg, i)) {
    choose_before_low(cg, i);
  } else if ((x = tested_number(cg, i, &count))) {
    test_bit(cg, i, x, count);
  } else if (is_thin_shift(i)) {
    shift_word(cg, i);
  } else {
    return false;
  }
  return true;
}
