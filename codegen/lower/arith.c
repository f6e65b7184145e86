/* Arithmetic, comparison and conversion of numbers, exactly as semantics.md defines them.
 *
 * In: operations whose operands typing has converted to the types that they need. Out: LLVM IR that
 * is defined for every operand: a divisor that would be undefined in LLVM is replaced before the
 * division, and the result of that case selected after it; shift counts are clamped; conversions
 * saturate. The optimiser removes what cannot happen. Operations on floats carry the fast-math
 * flags of the options (lw_fast), except where an algorithm depends on its roundings. Integers
 * marked by ssa/narrow.c are computed in 32 bits. */
#include <assert.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "ir/cfg.h"
#include "ir/interval.h"

static bool is_float_value(LLVMValueRef v) {
  LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(v));
  return k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind || k == LLVMFloatTypeKind ||
         k == LLVMDoubleTypeKind;
}

LLVMValueRef lw_is_nan(Lower *lw, LLVMValueRef x) {
  x = lw_ready(lw, x);
  return l_fcmp(lw->b, LLVMRealUNO, x, x);
}

static LLVMValueRef fast(Lower *lw, LLVMValueRef v) {
  lw_fast(lw, v);
  return v;
}

static LLVMValueRef binary(Lower *lw, LLVMOpcode op, LLVMValueRef x, LLVMValueRef y) {
  return l_binop(lw->b, op, x, y);
}

/* A call of the C library's or libdevice's function for float or double operands of one type; half
 * goes through float. */
LLVMValueRef lw_math(Lower *lw, const char *name, LLVMValueRef const *args, unsigned n) {
  LLVMTypeRef type = LLVMTypeOf(args[0]), in = lw_is_narrow(lw, type) ? lw->t->f32 : type;
  LLVMValueRef copy[4];
  assert(n >= 1 && n <= 4);
  for (unsigned k = 0; k < n; k++)
    copy[k] = lw_widen(lw, args[k]);
  const char *symbol = lw->target->math_name(lw->cg, name, in == lw->t->f32);
  LLVMValueRef v = lw_call_extern(lw, symbol, in, copy, n);
  if (!strcmp(name,
              "fmod")) { /* LLVM would assume of the fmod that it knows that no divisor is nan */
    unsigned kind = LLVMGetEnumAttributeKindForName("nobuiltin", 9);
    LLVMAddCallSiteAttribute(v, L_FUNCTION, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  }
  return lw_fit(lw, v, type);
}

/* --- add, sub, mul, truediv, and, or, xor --- */

static const struct {
  LLVMOpcode of_int, of_float;
  int of_bool; /* LLVMOpcode, 0: bools have none */
} arithmetic[OP_COUNT] = {
    [OP_ADD] = {LLVMAdd, LLVMFAdd, LLVMOr},  [OP_SUB] = {LLVMSub, LLVMFSub, 0},
    [OP_MUL] = {LLVMMul, LLVMFMul, LLVMAnd}, [OP_TRUEDIV] = {0, LLVMFDiv, 0},
    [OP_AND] = {LLVMAnd, 0, LLVMAnd},        [OP_OR] = {LLVMOr, 0, LLVMOr},
    [OP_XOR] = {LLVMXor, 0, LLVMXor},
};

LLVMValueRef lw_low(Lower *lw, LLVMValueRef v) {
  assert(LLVMTypeOf(v) == lw->t->i64);
  bool extended = LLVMIsAZExtInst(v) || LLVMIsASExtInst(v);
  if (extended && LLVMTypeOf(LLVMGetOperand(v, 0)) == lw->t->i32)
    return LLVMGetOperand(v, 0);
  return l_trunc(lw->b, v, lw->t->i32);
}

LLVMValueRef lw_extended(Lower *lw, const Ins *i, LLVMValueRef v) {
  assert(LLVMTypeOf(v) == lw->t->i32 && ty_bits(i->type) == 64);
  if (!(i->flags & INS_U32))
    return l_sext(lw->b, v, lw->t->i64);
  v = l_zext(lw->b, v, lw->t->i64);
  if (i->flags & INS_I32 && LLVMIsAInstruction(v))
    LLVMSetNNeg(v, 1);
  return v;
}

/* Do the operands of a 64-bit operation fit int32, uint32, and its result (ssa/narrow.c)? */
static bool all_i32(const Ins *i) { return i->flags & INS_OF_I32; }
static bool all_u32(const Ins *i) { return i->flags & INS_OF_U32; }
static bool is_narrow(const Ins *i) { return all_i32(i) || all_u32(i); }

static void narrow_arithmetic(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_low(lw, lw_value(lw, i->args[0])), y = lw_low(lw, lw_value(lw, i->args[1]));
  LLVMValueRef v = binary(lw, arithmetic[i->op].of_int, x, y);
  if (LLVMIsAInstruction(v)) {
    LLVMSetNSW(v, all_i32(i));
    LLVMSetNUW(v, all_u32(i));
  }
  lw_set(lw, i, lw_extended(lw, i, v));
}

void lw_arithmetic(Lower *lw, Ins *i) {
  if (is_narrow(i)) {
    narrow_arithmetic(lw, i);
    return;
  }
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]), v;
  TypeKind kind = ty_kind(i->type);
  LLVMOpcode op = kind == KIND_FLOAT  ? arithmetic[i->op].of_float
                  : kind == KIND_BOOL ? (LLVMOpcode)arithmetic[i->op].of_bool
                                      : arithmetic[i->op].of_int;
  if (!op)
    cx_bug(lw->cx, "%s of %s", ir_op_info[i->op].text, ty_name(lw->cx, i->type));
  v = fast(lw, binary(lw, op, lw_ready(lw, x), lw_ready(lw, y)));
  bool signed_flag = (i->flags & INS_NO_WRAP) && (op == LLVMAdd || op == LLVMSub || op == LLVMMul);
  if (signed_flag && LLVMIsAInstruction(v))
    LLVMSetNSW(v, 1);
  if (op == LLVMFDiv && (lw->cg->options.fastmath & CG_FAST_DIV) && LLVMIsAInstruction(v))
    LLVMSetFastMathFlags(v, LLVMGetFastMathFlags(v) | LLVMFastMathApproxFunc |
                                LLVMFastMathAllowReciprocal);
  lw_set(lw, i, lw_fit(lw, v, LLVMTypeOf(x)));
}

/* --- neg, invert, not, truth --- */

static LLVMValueRef truth(Lower *lw, LLVMValueRef x) {
  if (LLVMTypeOf(x) == lw->t->i1)
    return x;
  x = lw_ready(lw, x);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
  return is_float_value(x) ? l_fcmp(lw->b, LLVMRealUNE, x, zero)
                           : l_icmp(lw->b, LLVMIntNE, x, zero);
}

void lw_unary(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]), ready = lw_ready(lw, x);
  switch ((Op)i->op) {
  case OP_NEG: {
    if (all_i32(i)) {
      LLVMValueRef v = l_neg(lw->b, lw_low(lw, x));
      if (LLVMIsAInstruction(v))
        LLVMSetNSW(v, 1);
      lw_set(lw, i, lw_extended(lw, i, v));
      break;
    }
    lw_set(lw, i,
           is_float_value(x) ? lw_fit(lw, fast(lw, l_fneg(lw->b, ready)), LLVMTypeOf(x))
                             : l_neg(lw->b, x));
    break;
  }
  case OP_INVERT: lw_set(lw, i, l_not(lw->b, x)); break;
  case OP_NOT: lw_set(lw, i, l_not(lw->b, truth(lw, x))); break;
  default: lw_set(lw, i, truth(lw, x)); break;
  }
}

/* --- comparison --- */

static const struct {
  LLVMIntPredicate is_signed, is_unsigned;
  LLVMRealPredicate real;
  Op swapped;
} compares[OP_COUNT] = {
    [OP_LT] = {LLVMIntSLT, LLVMIntULT, LLVMRealOLT, OP_GT},
    [OP_LE] = {LLVMIntSLE, LLVMIntULE, LLVMRealOLE, OP_GE},
    [OP_GT] = {LLVMIntSGT, LLVMIntUGT, LLVMRealOGT, OP_LT},
    [OP_GE] = {LLVMIntSGE, LLVMIntUGE, LLVMRealOGE, OP_LE},
    [OP_EQ] = {LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ, OP_EQ},
    [OP_NE] = {LLVMIntNE, LLVMIntNE, LLVMRealUNE, OP_NE},
};

/* A signed x with an unsigned y: the unsigned comparison, except that a negative x is less than any
 * y. */
static LLVMValueRef compare_mixed(Lower *lw, Op op, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef negative = l_icmp(lw->b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)));
  LLVMValueRef v = l_icmp(lw->b, compares[op].is_unsigned, x, y);
  bool less = op == OP_LT || op == OP_LE || op == OP_NE;
  return less ? l_or(lw->b, v, negative) : l_and(lw->b, v, l_not(lw->b, negative));
}

static const Ins *before_casts(const Ins *i) {
  while (i->op == OP_CAST)
    i = i->args[0];
  return i;
}

/* Is it the test of a window's loop, `range(x - r, x + r + 1)`? Of `k < x + r + 1` LLVM makes
 * `k <= x + r`, and then counts the trips in 64 bits, since x + r + 1 might wrap around. Where the
 * start or the step is what LLVM can reason with, that does no harm. */
static bool ends_window(const Ins *i) {
  const Ins *end = i->block->last, *stop = before_casts(i->args[1]);
  Counter c;
  return i->op == OP_LT && end->op == OP_CONDBR && end->args[0] == i && i->args[0]->op == OP_PHI &&
         i->args[0]->block == i->block && stop->op == OP_ADD && stop->args[1]->op == OP_CONST &&
         stop->block != i->block && ir_counter(i->args[0], &c) && c.step->op == OP_CONST &&
         before_casts(c.start)->op != OP_CONST;
}

void lw_compare(Lower *lw, Ins *i) {
  const Type *tx = i->args[0]->type, *ty = i->args[1]->type;
  if (!ty_is_scalar(tx) || !ty_is_scalar(ty)) { /* values without storage: None is None */
    lw_set(lw, i, l_int(lw->t->i1, (i->op == OP_EQ) == (tx == ty)));
    return;
  }
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]), v;
  CX_ASSERT(lw->cx, LLVMTypeOf(x) == LLVMTypeOf(y));
  if (is_narrow(i)) {
    LLVMValueRef a = lw_low(lw, x), b = lw_low(lw, y);
    lw_set(lw, i,
           l_icmp(lw->b, all_i32(i) ? compares[i->op].is_signed : compares[i->op].is_unsigned, a,
                  ends_window(i) ? l_freeze(lw->b, b) : b));
    return;
  }
  if (is_float_value(x))
    v = l_fcmp(lw->b, compares[i->op].real, lw_ready(lw, x), lw_ready(lw, y));
  else if (ty_is_signed(tx) && !ty_is_signed(ty))
    v = compare_mixed(lw, i->op, x, y);
  else if (!ty_is_signed(tx) && ty_is_signed(ty))
    v = compare_mixed(lw, compares[i->op].swapped, y, x);
  else
    v = l_icmp(lw->b, ty_is_signed(tx) ? compares[i->op].is_signed : compares[i->op].is_unsigned, x,
               y);
  lw_set(lw, i, v);
}

/* --- shifts: a count that is not below the width as an unsigned number is out of range --- */

static LLVMValueRef clamped_count(Lower *lw, LLVMValueRef count, unsigned limit) {
  LLVMTypeRef t = LLVMTypeOf(count);
  return lw_intrinsic(lw, "llvm.umin", &t, 1, (LLVMValueRef[]){count, l_int(t, limit)}, 2);
}

void lw_shift(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]);
  if (i->flags & INS_LOW) { /* its count fits 32 bits (ssa/narrow_low.c) */
    LLVMValueRef count = lw_low(lw, y), shifted = binary(lw, LLVMShl, lw_low(lw, x), count);
    LLVMValueRef is_near = l_icmp(lw->b, LLVMIntULT, count, lw_i32(lw, 32));
    shifted = l_select(lw->b, is_near, shifted, LLVMConstNull(lw->t->i32));
    lw_set(lw, i, lw_extended(lw, i, shifted));
    return;
  }
  LLVMTypeRef t = LLVMTypeOf(x);
  unsigned width = LLVMGetIntTypeWidth(t);
  if (i->op == OP_RSHIFT && t == lw->t->i64 && i->args[0]->flags & INS_I32) {
    /* The upper half is copies of the sign, so the low half shifts in what 64 bits would, and 31
     * of these are all that more could. LLVM makes of a truncated shift and a truncated start of a
     * loop's variable a variable of 64 bits. */
    LLVMValueRef count = l_trunc(lw->b, clamped_count(lw, y, 31), lw->t->i32);
    lw_set(lw, i, lw_extended(lw, i, binary(lw, LLVMAShr, lw_low(lw, x), count)));
    return;
  }
  if (i->op == OP_RSHIFT && ty_is_signed(i->type)) {
    lw_set(lw, i, binary(lw, LLVMAShr, x, clamped_count(lw, y, width - 1)));
    return;
  }
  LLVMValueRef in_range = l_icmp(lw->b, LLVMIntULT, y, l_int(t, width));
  LLVMValueRef v = binary(lw, i->op == OP_LSHIFT ? LLVMShl : LLVMLShr, x, y);
  lw_set(lw, i, l_select(lw->b, in_range, v, LLVMConstNull(t)));
}

/* --- floor division and modulo: of integers in divide.c --- */

static LLVMValueRef copysign_of(Lower *lw, LLVMValueRef magnitude, LLVMValueRef sign) {
  LLVMTypeRef t = LLVMTypeOf(magnitude);
  return lw_intrinsic(lw, "llvm.copysign", &t, 1, (LLVMValueRef[]){magnitude, sign}, 2);
}

/* NumPy's npy_divmod: the remainder of fmod is given the divisor's sign, then the quotient is
 * snapped to an integer. None of it may be contracted or reassociated, so these operations carry no
 * fast-math flags. */
static LLVMValueRef divide_float(Lower *lw, bool quotient, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t);
  LLVMValueRef by_zero = l_fcmp(b, LLVMRealOEQ, y, zero);
  LLVMValueRef mod = lw_math(lw, "fmod", (LLVMValueRef[]){x, y}, 2);
  LLVMValueRef has_mod = l_fcmp(b, LLVMRealUNE, mod, zero);
  LLVMValueRef y_neg = l_fcmp(b, LLVMRealOLT, y, zero), mod_neg = l_fcmp(b, LLVMRealOLT, mod, zero);
  LLVMValueRef adjust = l_and(b, has_mod, l_xor(b, y_neg, mod_neg));
  if (!quotient) {
    LLVMValueRef moved = l_select(b, adjust, binary(lw, LLVMFAdd, mod, y), mod);
    LLVMValueRef v = l_select(b, has_mod, moved, copysign_of(lw, zero, y));
    return l_select(b, by_zero, mod, v);
  }
  LLVMValueRef exact = binary(lw, LLVMFDiv, x, y);
  LLVMValueRef div = binary(lw, LLVMFDiv, binary(lw, LLVMFSub, x, mod), y);
  div = l_select(b, adjust, binary(lw, LLVMFSub, div, LLVMConstReal(t, 1)), div);
  LLVMValueRef down = lw_intrinsic(lw, "llvm.floor", &t, 1, &div, 1);
  LLVMValueRef above = l_fcmp(b, LLVMRealOGT, binary(lw, LLVMFSub, div, down),
                              LLVMConstReal(t, 0.5));
  LLVMValueRef snapped = l_select(b, above, binary(lw, LLVMFAdd, down, LLVMConstReal(t, 1)), down);
  LLVMValueRef has_div = l_fcmp(b, LLVMRealUNE, div, zero);
  LLVMValueRef v = l_select(b, has_div, snapped, copysign_of(lw, zero, exact));
  return l_select(b, by_zero, exact, v);
}

void lw_divide(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]);
  if (is_float_value(x)) /* 16-bit floats are rounded once, at the end, as in NumPy */
    lw_set(lw, i,
           lw_fit(lw, divide_float(lw, i->op == OP_FLOORDIV, lw_widen(lw, x), lw_widen(lw, y)),
                  LLVMTypeOf(x)));
  else
    lw_divide_integers(lw, i, x, y);
}

/* --- power --- */

/* x ** n by squaring, n constant: at most 2 * log2(n) multiplications. */
static LLVMValueRef power_constant(Lower *lw, LLVMValueRef x, uint64_t n) {
  LLVMOpcode mul = is_float_value(x) ? LLVMFMul : LLVMMul;
  LLVMValueRef acc = NULL;
  for (; n; n >>= 1) {
    if (n & 1)
      acc = acc ? fast(lw, binary(lw, mul, acc, x)) : x;
    if (n > 1)
      x = fast(lw, binary(lw, mul, x, x));
  }
  if (acc)
    return acc;
  return is_float_value(x) ? LLVMConstReal(LLVMTypeOf(x), 1) : l_int(LLVMTypeOf(x), 1);
}

static LLVMValueRef power_int(Lower *lw, LLVMValueRef x, LLVMValueRef y, bool is_signed) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMBuilderRef b = lw->b;
  LLVMValueRef zero = LLVMConstNull(t), one = l_int(t, 1);
  LLVMValueRef negative = is_signed ? l_icmp(b, LLVMIntSLT, y, zero) : LLVMConstNull(lw->t->i1);
  LLVMValueRef start = l_select(b, negative, zero, one);
  LLVMValueRef count = l_select(b, negative, zero, y);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = lw_block(lw, "pow"),
                    body = lw_block(lw, "pow.step"), done = lw_block(lw, "pow.done");
  l_br(b, head);
  lw_at(lw, head);
  LLVMValueRef base = l_phi(b, t), n = l_phi(b, t), acc = l_phi(b, t);
  l_condbr(b, l_icmp(b, LLVMIntNE, n, zero), body, done);
  lw_at(lw, body);
  LLVMValueRef odd = l_trunc(b, n, lw->t->i1);
  LLVMValueRef acc1 = l_select(b, odd, l_mul(b, acc, base), acc);
  LLVMValueRef base1 = l_mul(b, base, base), n1 = l_lshr(b, n, one);
  l_br(b, head);
  LLVMBasicBlockRef blocks[] = {from, body};
  LLVMAddIncoming(base, (LLVMValueRef[]){x, base1}, blocks, 2);
  LLVMAddIncoming(n, (LLVMValueRef[]){count, n1}, blocks, 2);
  LLVMAddIncoming(acc, (LLVMValueRef[]){start, acc1}, blocks, 2);
  lw_at(lw, done);
  return acc;
}

/* Small constant exponents for which products, a square root or a reciprocal give pow's value. The
 * square root needs help: pow(-inf, 0.5) is inf and pow(-0.0, 0.5) is 0, where sqrt gives nan and
 * -0.0. NULL if there is no such form. */
static LLVMValueRef power_special(Lower *lw, LLVMValueRef x, double y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  if (y == 0 || y == 1 || y == 2 || y == 3 || y == 4)
    return power_constant(lw, x, (uint64_t)y);
  if (y == -1)
    return fast(lw, binary(lw, LLVMFDiv, LLVMConstReal(t, 1), x));
  if (y == 0.5) {
    LLVMValueRef positive = binary(lw, LLVMFAdd, x, LLVMConstNull(t));
    LLVMValueRef root = lw_intrinsic(lw, "llvm.sqrt", &t, 1, &positive, 1);
    LLVMValueRef inf = LLVMConstReal(t, __builtin_inf());
    return l_select(lw->b, l_fcmp(lw->b, LLVMRealOEQ, x, LLVMConstReal(t, -__builtin_inf())), inf,
                    root);
  }
  return NULL;
}

void lw_power(Lower *lw, Ins *i) {
  LLVMValueRef x = lw_value(lw, i->args[0]), y = lw_value(lw, i->args[1]), v = NULL;
  if (is_float_value(x)) {
    LLVMBool lossy;
    LLVMTypeRef t = LLVMTypeOf(x);
    x = lw_widen(lw, x);
    if (LLVMIsAConstantFP(y))
      v = power_special(lw, x, LLVMConstRealGetDouble(y, &lossy));
    if (!v)
      v = lw_math(lw, "pow", (LLVMValueRef[]){x, lw_widen(lw, y)}, 2);
    v = lw_fit(lw, v, t);
  } else if (LLVMIsAConstantInt(y) && LLVMConstIntGetZExtValue(y) <= 64) {
    v = power_constant(lw, x, LLVMConstIntGetZExtValue(y));
  } else {
    v = power_int(lw, x, y, ty_is_signed(i->type));
  }
  lw_set(lw, i, v);
}

/* --- conversion --- */

static LLVMValueRef to_int(Lower *lw, LLVMValueRef v, const Type *to) {
  return lw->target->float_to_int(lw, lw_widen(lw, v), ty_bits(to), ty_is_signed(to));
}

static LLVMValueRef int_to_float(Lower *lw, LLVMValueRef v, LLVMTypeRef t, bool is_signed) {
  return is_signed ? l_sitofp(lw->b, v, t) : l_uitofp(lw->b, v, t);
}

LLVMValueRef lw_convert(Lower *lw, LLVMValueRef v, const Type *from, const Type *to) {
  if (from->id == to->id)
    return v;
  if (ty_is_float8(from->id))
    return lw_convert(lw, lw_float8_to_float(lw, v, from->id), ty_scalar(lw->cx, TY_F32), to);
  LLVMTypeRef t = lw_scalar_type(lw->cg, to->id);
  TypeKind kind = ty_kind(to);
  bool is_signed = ty_kind(from) == KIND_INT;
  if (ty_is_float8(to->id))
    return lw_to_float8(lw, v, is_signed, to->id);
  if (kind == KIND_BOOL)
    return truth(lw, v);
  if (LLVMTypeOf(v) == t)
    return v;
  if (kind == KIND_FLOAT) {
    if (t == lw->t->bf16)
      return lw_to_bfloat(lw, v, is_signed);
    if (!is_float_value(v))
      return t == lw->t->f16 ? lw_int_to_half(lw, v, is_signed) : int_to_float(lw, v, t, is_signed);
    if (LLVMTypeOf(v) == lw->t->bf16)
      v = lw_widen(lw, v);
    return LLVMTypeOf(v) == t ? v : l_fpcast(lw->b, v, t);
  }
  if (is_float_value(v))
    return to_int(lw, v, to);
  return l_int_cast(lw->b, v, t, is_signed);
}

void lw_cast_ins(Lower *lw, Ins *i) {
  lw_set(lw, i, lw_convert(lw, lw_value(lw, i->args[0]), i->args[0]->type, i->type));
}
