/* Place: see place.h. */
#include "ir/place.h"

#include "ir/registers.h"

static bool reads(const Ins *i, IntrinsicId of_x, unsigned axis) {
  while (i->op == OP_CAST && ty_is_integral(i->type) && ty_bits(i->type) >= 32)
    i = i->args[0];
  return i->op == OP_INTRINSIC && i->aux.intrinsic == (IntrinsicId)(of_x + axis);
}

/* Does it multiply blockDim by this register of the same axis? */
static bool is_extended(const Ins *i, IntrinsicId of_x, unsigned axis) {
  if (i->op != OP_MUL)
    return false;
  const Ins *a = i->args[0], *b = i->args[1];
  return (reads(a, of_x, axis) && reads(b, INTR_NTID_X, axis)) ||
         (reads(b, of_x, axis) && reads(a, INTR_NTID_X, axis));
}

bool ir_is_place(const Ins *i) {
  for (unsigned axis = 0; axis < 3; axis++) {
    if (is_extended(i, INTR_CTAID_X, axis) || is_extended(i, INTR_NCTAID_X, axis))
      return true;
    if (i->op != OP_ADD)
      continue;
    for (unsigned k = 0; k < 2; k++)
      if (is_extended(i->args[k], INTR_CTAID_X, axis) && reads(i->args[1 - k], INTR_TID_X, axis))
        return true;
  }
  return false;
}
