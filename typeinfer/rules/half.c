/* Rules of cuda.fp16.*: the operators and functions of numbers, on float16. */
#include "typeinfer/ty.h"

/* What computes it: an operator, or a function of one type; the intrinsic itself where neither is named. */
static const struct {
  Op op;
  IntrinsicId call;
} made_of[INTR_COUNT] = {
    [INTR_FP16_HADD] = {.op = OP_ADD},
    [INTR_FP16_HSUB] = {.op = OP_SUB},
    [INTR_FP16_HMUL] = {.op = OP_MUL},
    [INTR_FP16_HDIV] = {.op = OP_TRUEDIV},
    [INTR_FP16_HEQ] = {.op = OP_EQ},
    [INTR_FP16_HNE] = {.op = OP_NE},
    [INTR_FP16_HLT] = {.op = OP_LT},
    [INTR_FP16_HLE] = {.op = OP_LE},
    [INTR_FP16_HGT] = {.op = OP_GT},
    [INTR_FP16_HGE] = {.op = OP_GE},
    [INTR_FP16_HNEG] = {.op = OP_NEG},
    [INTR_FP16_HABS] = {.call = INTR_PY_ABS},
    [INTR_FP16_HSQRT] = {.call = INTR_MATH_SQRT},
    [INTR_FP16_HSIN] = {.call = INTR_MATH_SIN},
    [INTR_FP16_HCOS] = {.call = INTR_MATH_COS},
    [INTR_FP16_HTANH] = {.call = INTR_MATH_TANH},
    [INTR_FP16_HEXP] = {.call = INTR_MATH_EXP},
    [INTR_FP16_HEXP2] = {.call = INTR_MATH_EXP2},
    [INTR_FP16_HLOG] = {.call = INTR_MATH_LOG},
    [INTR_FP16_HLOG2] = {.call = INTR_MATH_LOG2},
    [INTR_FP16_HLOG10] = {.call = INTR_MATH_LOG10},
    [INTR_FP16_HCEIL] = {.call = INTR_MATH_CEIL},
    [INTR_FP16_HFLOOR] = {.call = INTR_MATH_FLOOR},
    [INTR_FP16_HTRUNC] = {.call = INTR_MATH_TRUNC},
    [INTR_FP16_HRINT] = {.call = INTR_PY_ROUND},
};

static bool operands(Ty *ty, const TyCall *c, Val *out) {
  for (uint32_t k = 0; k < c->n; k++) {
    const Type *t = c->args[k].type;
    if (!ty_is_number(t) || ty_is_complex(t)) {
      (void)ty_argument_type(ty, c, k, "a number");
      return false;
    }
    out[k] = ty_cast_id(ty, c->args[k], TY_F16);
  }
  return true;
}

/* 1 / x, or 1 / sqrt(x) in float32 and rounded at the end. */
static Val reciprocal(Ty *ty, Val x, bool of_root) {
  const Type *t = ty_id(ty, TY_F32);
  x = ty_cast(ty, x, t);
  if (of_root)
    x = ty_intrinsic(ty, INTR_MATH_SQRT, t, &x, 1);
  return ty_cast_id(ty, ty_op2(ty, OP_TRUEDIV, t, ty_scalar_const(ty, TY_F32, 1), x), TY_F16);
}

static Val compute(Ty *ty, const TyCall *c) {
  Val x[3];
  Op op = made_of[c->id].op;
  if (!operands(ty, c, x))
    return BOTTOM;
  if (c->id == INTR_FP16_HRCP || c->id == INTR_FP16_HRSQRT)
    return reciprocal(ty, x[0], c->id == INTR_FP16_HRSQRT);
  if (op)
    return c->n == 1 ? ty_unary(ty, op, x[0]) : ty_binary(ty, op, x[0], x[1]);
  IntrinsicId id = made_of[c->id].call;
  return ty_intrinsic(ty, id ? id : c->id, ty_id(ty, TY_F16), x, c->n);
}

Val ty_rule_fp16_1(Ty *ty, const TyCall *c) { return compute(ty, c); }
Val ty_rule_fp16_2(Ty *ty, const TyCall *c) { return compute(ty, c); }
Val ty_rule_fp16_3(Ty *ty, const TyCall *c) { return compute(ty, c); }
