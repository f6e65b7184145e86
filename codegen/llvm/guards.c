/* Guards: finds what floor division adds to a CPU's division. See guards.h. */
#include "codegen/llvm/guards.h"
#include "codegen/llvm/match.h"

/* --- the divisor, or 1 instead --- */

static bool divides_by(LLVMValueRef v, LLVMValueRef divisor) {
  return cg_is_division(v) && LLVMGetOperand(v, 1) == divisor;
}

/* Does c hold for a y of 0 or -1 only, as far as it can be seen? y may be an extension of what it
 * asks about. */
static bool is_of_divisor(LLVMValueRef c, LLVMValueRef y, int depth) {
  enum { DEEPEST = 3 };
  if (depth == DEEPEST || !LLVMIsAInstruction(c))
    return false;
  LLVMValueRef a = LLVMGetOperand(c, 0);
  if (cg_is_op(c, LLVMOr))
    return is_of_divisor(a, y, depth + 1) && is_of_divisor(LLVMGetOperand(c, 1), y, depth + 1);
  if (cg_is_both(c))
    return is_of_divisor(a, y, depth + 1) || is_of_divisor(LLVMGetOperand(c, 1), y, depth + 1);
  if (!LLVMIsAICmpInst(c) || LLVMGetICmpPredicate(c) != LLVMIntEQ)
    return false;
  LLVMValueRef n = LLVMGetOperand(c, 1);
  bool is_zero = cg_is_number(n, 0), is_minus_one = n == LLVMConstAllOnes(LLVMTypeOf(n)),
       extends_sign = LLVMIsASExtInst(y) && LLVMGetOperand(y, 0) == a,
       extends = LLVMIsAZExtInst(y) && LLVMGetOperand(y, 0) == a;
  return ((a == y || extends_sign) && (is_zero || is_minus_one)) || (extends && is_zero);
}

static bool is_safe_divisor(LLVMValueRef v, DivisionGuard *g) {
  if (!LLVMIsASelectInst(v) || !cg_is_number(LLVMGetOperand(v, 1), 1))
    return false;
  LLVMValueRef y = LLVMGetOperand(v, 2);
  bool divides = false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    divides |= divides_by(LLVMGetUser(u), v);
  *g = (DivisionGuard){.choice = v, .often = y, .divisor = y};
  return divides && is_of_divisor(LLVMGetOperand(v, 0), y, 0);
}

/* --- the correction of signs --- */

static bool is_rest(LLVMValueRef v) { return cg_is_op(v, LLVMSRem) || cg_is_op(v, LLVMURem); }

static bool is_some_rest(LLVMValueRef v) {
  return LLVMIsAICmpInst(v) && LLVMGetICmpPredicate(v) == LLVMIntNE &&
         cg_is_number(LLVMGetOperand(v, 1), 0) && is_rest(LLVMGetOperand(v, 0));
}

static bool is_negative(LLVMValueRef v) {
  return LLVMIsAICmpInst(v) && LLVMGetICmpPredicate(v) == LLVMIntSLT &&
         cg_is_number(LLVMGetOperand(v, 1), 0);
}

/* Adds it to another value, or takes it from one. */
static bool takes_part(LLVMValueRef user, LLVMValueRef v) {
  return LLVMGetInstructionParent(user) == LLVMGetInstructionParent(v) &&
         (cg_is_op(user, LLVMAdd) || (cg_is_op(user, LLVMSub) && LLVMGetOperand(user, 1) == v));
}

/* Of rest != 0 and something is negative: the divisor, or that in which it and the rest differ. */
static bool is_correction(LLVMValueRef v, DivisionGuard *g) {
  if (!LLVMIsASelectInst(v) && !cg_is_extension(v))
    return false;
  LLVMValueRef c = LLVMGetOperand(v, 0),
               user = cg_has_one_use(v) ? LLVMGetUser(LLVMGetFirstUse(v)) : NULL;
  if (!LLVMIsAInstruction(c) || !cg_is_both(c))
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef some = LLVMGetOperand(c, k), negative = LLVMGetOperand(c, 1 - k);
    if (!is_some_rest(some) || !is_negative(negative))
      continue;
    *g = (DivisionGuard){.choice = v, .seldom = negative, .then = some};
    g->often = LLVMIsASelectInst(v) ? LLVMGetOperand(v, 2) : LLVMConstNull(LLVMTypeOf(v));
    if (user && cg_is_number(g->often, 0) && takes_part(user, v))
      g->sum = user, g->often = LLVMGetOperand(user, LLVMGetOperand(user, 0) == v);
    return true;
  }
  return false;
}

bool cg_find_guard(LLVMValueRef v, DivisionGuard *guard) {
  return LLVMIsAInstruction(v) && (is_safe_divisor(v, guard) || is_correction(v, guard));
}

bool cg_is_guard(LLVMValueRef v) {
  DivisionGuard guard;
  return cg_find_guard(v, &guard);
}
