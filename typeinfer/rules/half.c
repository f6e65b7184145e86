/* Rules of cuda.fp16.*: the operators and functions of numbers, on float16. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

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

Val ty_rule_fp16_op(Ty *ty, const TyCall *c, Op op) {
  Val x[2];
  if (!operands(ty, c, x))
    return BOTTOM;
  return c->n == 1 ? ty_unary(ty, op, x[0]) : ty_binary(ty, op, x[0], x[1]);
}

/* f is a function of one type. */
Val ty_rule_fp16_function(Ty *ty, const TyCall *c, IntrinsicId f) {
  Val x[3];
  return operands(ty, c, x) ? ty_intrinsic(ty, f, ty_id(ty, TY_F16), x, c->n) : BOTTOM;
}

/* 1 / x, or 1 / sqrt(x) in float32 and rounded at the end. */
Val ty_rule_fp16_reciprocal(Ty *ty, const TyCall *c, bool of_root) {
  Val x;
  const Type *t = ty_id(ty, TY_F32);
  if (!operands(ty, c, &x))
    return BOTTOM;
  x = ty_cast(ty, x, t);
  if (of_root)
    x = ty_intrinsic(ty, INTR_MATH_SQRT, t, &x, 1);
  return ty_cast_id(ty, ty_op2(ty, OP_TRUEDIV, t, ty_scalar_const(ty, TY_F32, 1), x), TY_F16);
}
