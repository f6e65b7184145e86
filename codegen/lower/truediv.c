/* True division: x / y of Python ints, the double nearest to the quotient, ties to even, as in
 * CPython.
 *
 * Operands up to 2**53 are exact as doubles, and the division is the only rounding. Larger ones
 * would be rounded by the conversion already. For these the quotient is computed in integers, to 63
 * bits or more; its last bit is set if there is a remainder (sticky), so its conversion to a double
 * is the only rounding. */
#include <assert.h>

#include "codegen/lower/private.h"

static LLVMValueRef op2(Lower *lw, LLVMOpcode op, LLVMValueRef x, LLVMValueRef y) {
  return l_binop(lw->b, op, x, y);
}

static LLVMValueRef shifted(Lower *lw, LLVMOpcode op, LLVMValueRef x, int64_t n) {
  return op2(lw, op, x, lw_i64(lw, n));
}

static LLVMValueRef call2(Lower *lw, const char *name, LLVMValueRef x) {
  LLVMTypeRef t = lw->t->i64;
  return lw_intrinsic(lw, name, &t, 1, (LLVMValueRef[]){x, LLVMConstNull(lw->t->i1)}, 2);
}

/* -2**53 <= x <= 2**53 */
static LLVMValueRef is_small(Lower *lw, const Ins *of, LLVMValueRef x) {
  if (of->flags & (INS_I32 | INS_U32))
    return l_int(lw->t->i1, 1);
  LLVMValueRef moved = op2(lw, LLVMAdd, x, lw_i64(lw, 1LL << 53));
  return l_icmp(lw->b, LLVMIntULE, moved, lw_i64(lw, 1LL << 54));
}

typedef struct Step { /* of a long division in digits of 32 bits */
  LLVMValueRef digit, rest;
} Step;

/* The next digit of (high * 2**32 + low) / v, where high < v and bit 63 of v is set. The estimate
 * from v's upper half is too large by two at most, and corrected (Knuth, The Art of Computer
 * Programming 2, 4.3.1, algorithm D). */
static Step next_digit(Lower *lw, LLVMValueRef high, LLVMValueRef low, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMValueRef v1 = shifted(lw, LLVMLShr, v, 32), v0 = shifted(lw, LLVMAnd, v, 0xffffffff);
  LLVMValueRef q = op2(lw, LLVMUDiv, high, v1);
  LLVMValueRef r = op2(lw, LLVMSub, high, op2(lw, LLVMMul, q, v1));
  LLVMValueRef base = lw_i64(lw, 1LL << 32);
  for (int k = 0; k < 2; k++) {
    LLVMValueRef estimate = op2(lw, LLVMOr, shifted(lw, LLVMShl, r, 32), low);
    LLVMValueRef large = l_icmp(b, LLVMIntUGE, q, base);
    LLVMValueRef over = l_icmp(b, LLVMIntUGT, op2(lw, LLVMMul, q, v0), estimate);
    LLVMValueRef holds = l_icmp(b, LLVMIntULT, r, base); /* else the estimate is right */
    LLVMValueRef lower = l_and(b, holds, l_or(b, large, over));
    q = op2(lw, LLVMSub, q, l_zext(b, lower, lw->t->i64));
    r = op2(lw, LLVMAdd, r, l_select(b, lower, v1, lw_i64(lw, 0)));
  }
  LLVMValueRef rest = op2(lw, LLVMAdd, shifted(lw, LLVMShl, high, 32), low);
  return (Step){q, op2(lw, LLVMSub, rest, op2(lw, LLVMMul, q, v))};
}

/* x / y for any x and any y that is not 0. */
static LLVMValueRef divide_large(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f64 = lw->t->f64;
  LLVMValueRef u = call2(lw, "llvm.abs", x), v = call2(lw, "llvm.abs", y);
  /* 0 has 64 leading zeros, which is no valid shift count; it stays 0 however it is shifted */
  LLVMValueRef zu = shifted(lw, LLVMAnd, call2(lw, "llvm.ctlz", u), 63);
  LLVMValueRef zv = shifted(lw, LLVMAnd, call2(lw, "llvm.ctlz", v), 63);
  u = op2(lw, LLVMShl, u, zu);
  v = op2(lw, LLVMShl, v, zv);
  /* u * 2**63 / v, between 2**62 and 2**64 */
  LLVMValueRef high = shifted(lw, LLVMLShr, u, 1);
  LLVMValueRef low = shifted(lw, LLVMLShr, shifted(lw, LLVMShl, u, 63), 32);
  Step first = next_digit(lw, high, low, v), second = next_digit(lw, first.rest, lw_i64(lw, 0), v);
  LLVMValueRef q = op2(lw, LLVMOr, shifted(lw, LLVMShl, first.digit, 32), second.digit);
  LLVMValueRef inexact = l_icmp(b, LLVMIntNE, second.rest, lw_i64(lw, 0));
  q = op2(lw, LLVMOr, q, l_zext(b, inexact, lw->t->i64));
  LLVMValueRef exponent = shifted(lw, LLVMAdd, op2(lw, LLVMSub, zv, zu), 1023 - 63);
  LLVMValueRef scale = l_bitcast(b, shifted(lw, LLVMShl, exponent, 52), f64);
  LLVMValueRef size = l_fmul(b, l_uitofp(b, q, f64), scale);
  LLVMValueRef signs = op2(lw, LLVMXor, x, y);
  LLVMValueRef negative = l_icmp(b, LLVMIntSLT, signs, lw_i64(lw, 0));
  return l_select(b, negative, l_fneg(b, size), size);
}

/* Dividing a double by a power of two is exact here, since the quotient is never subnormal. */
static bool is_power_of_two(const Ins *y) {
  const Frozen *f = y->op == OP_CONST ? y->aux.frozen : NULL;
  int64_t n = f && f->kind == FZ_INT && !f->wide ? f->i : 0;
  return n > 0 && !(n & (n - 1));
}

void lw_truediv(Lower *lw, Ins *i) {
  if (ty_is_float(i->args[0]->type)) {
    lw_arithmetic(lw, i);
    return;
  }
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef f64 = lw->t->f64;
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]);
  assert(LLVMTypeOf(x) == lw->t->i64 && LLVMTypeOf(y) == lw->t->i64);
  LLVMValueRef rounded = l_fdiv(b, l_sitofp(b, x, f64), l_sitofp(b, y, f64));
  lw_fast(lw, rounded);
  LLVMValueRef exact = l_and(b, is_small(lw, i->args[0], x), is_small(lw, i->args[1], y));
  bool known = i->flags & INS_EXACT ||
               (LLVMIsAConstantInt(exact) && LLVMConstIntGetZExtValue(exact));
  if (known || is_power_of_two(i->args[1]) || (lw->cg->options.fastmath & CG_FAST_DIV)) {
    lw_set(lw, i, rounded);
    return;
  }
  LLVMValueRef zero = l_icmp(b, LLVMIntEQ, y, lw_i64(lw, 0));
  exact = l_or(b, exact, zero);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), large = lw_block(lw, "large"),
                    done = lw_block(lw, "divided");
  l_condbr(b, exact, done, large);
  LLVMPositionBuilderAtEnd(b, large);
  LLVMValueRef quotient = divide_large(lw, x, y);
  LLVMBasicBlockRef end = LLVMGetInsertBlock(b);
  l_br(b, done);
  LLVMPositionBuilderAtEnd(b, done);
  LLVMValueRef phi = l_phi(b, f64);
  LLVMAddIncoming(phi, (LLVMValueRef[]){rounded, quotient}, (LLVMBasicBlockRef[]){from, end}, 2);
  lw_set(lw, i, phi);
}
