/* Promotion: types of operations from types of operands, without looking at any value. Pure
 * functions over type ids. */
#ifndef PYPTX_TYPEINFER_VALUE_PROMOTE_H
#define PYPTX_TYPEINFER_VALUE_PROMOTE_H

#include "ir/cx.h"
#include "ir/fn.h"

/* What a typing answers where NumPy's and Numba's differ: rows of policy.def. */
typedef struct TyPolicy {
#define Q(type, answer, numpy, numba, meaning) type answer;
#include "typeinfer/value/policy.def"
#undef Q
} TyPolicy;

extern const TyPolicy ty_policies[]; /* by Typing */
static inline const TyPolicy *ty_policy(const Cx *cx) { return &ty_policies[cx->typing]; }

/* Operands are cast to left and right (equal but for an int64 with a uint64 in a comparison); the
 * op then gives result.
 * op: the strict operation that does it (a logical or for bool + bool). ok false: NumPy has no such
 * operation. */
typedef struct TyOp {
  bool ok;
  Op op;
  TypeId left, right, result;
} TyOp;

/* Two scalar ids (weak or strong) to their common type. */
TypeId ty_promote(Typing typing, TypeId a, TypeId b);
/* The common type of a set of scalar ids, bit 1 << id for each: np.result_type's for all of them at
 * once. Two by two the answer depends on the order: int8, uint8 and float16 are a float16
 * together, but int8 and uint8 an int16, which wants a float32. */
TypeId ty_promote_all(Typing typing, uint32_t ids);
/* x op y for the binary arithmetic, bitwise, shift and comparison ops of promote.def. */
TyOp ty_op_types(Typing typing, Op op, TypeId a, TypeId b);
/* -x ~x +x: done in left, then widened to result; ok false where there is none. */
TyOp ty_unary_types(Typing typing, Op op, TypeId a);
const char *ty_op_text(Op op); /* as Python writes it: "+" */
/* The strong type with a weak one's storage; a strong one itself. */
TypeId ty_strengthen(TypeId t);

#endif
