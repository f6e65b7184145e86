/* Promotion: types of operations from types of operands, without looking at any value. Pure functions over type ids. */
#ifndef PYPTX_TYPEINFER_VALUE_PROMOTE_H
#define PYPTX_TYPEINFER_VALUE_PROMOTE_H

#include "ir/cx.h"
#include "ir/fn.h"

/* What NumPy's and Numba's typing answer differently, beside the rows of promote.def. */
typedef struct TyPolicy {
  bool weak;        /* Python's numbers are types of their own; else they are NumPy's of 64 bits */
  bool wide_ints;   /* operators give integers of 64 bits, the unary ones and shifts too */
  bool bool_is_int; /* -x, abs(x) and np.sign(x) have a bool for an integer */
  bool float32_power;   /* float16 or float32 ** integer is float32 */
  bool power_inverts;   /* of integers x ** -n is the whole part of 1 / x ** n; else 0 */
  bool keeps_width;     /* int(x), float(x) and complex(x) change x's kind, not its width */
  bool float_floor;     /* math.floor and its like give floats, and range takes them */
  bool narrow_is_float; /* cmath, round and some of math take integers that float32 holds as it */
  bool ints_yield;      /* to a ufunc an integer has no say beside a float or complex number */
  bool counts_as_given; /* popc(x) and clz(x) are of x's type, ffs(x) and brev(x) unsigned */
  TypeId least_loop;    /* the narrowest float type of a ufunc of bools and integers of 8 bits */
  TypeId device_int;    /* special registers, votes of a block, frexp's exponent */
  TypeId lane_mask;     /* of ballot_sync and match_sync */
} TyPolicy;

extern const TyPolicy ty_policies[]; /* by Typing */
static inline const TyPolicy *ty_policy(const Cx *cx) { return &ty_policies[cx->typing]; }

/* Operands are cast to left and right (equal but for an int64 with a uint64 in a comparison); the op then gives result.
 * op: the strict operation that does it (a logical or for bool + bool). ok false: NumPy has no such operation. */
typedef struct TyOp {
  bool ok;
  Op op;
  TypeId left, right, result;
} TyOp;

/* Two scalar ids (weak or strong) to their common type. */
TypeId ty_promote(Typing typing, TypeId a, TypeId b);
/* The common type of a set of scalar ids, bit 1 << id for each: np.result_type's for all of them at once. Two by two the answer would
 * hang on the order: int8, uint8 and float16 are a float16 together, but int8 and uint8 an int16, which wants a float32. */
TypeId ty_promote_all(Typing typing, uint32_t ids);
/* x op y for the binary arithmetic, bitwise, shift and comparison ops of promote.def. */
TyOp ty_op_types(Typing typing, Op op, TypeId a, TypeId b);
/* -x ~x +x: done in left, then widened to result; ok false where there is none. */
TyOp ty_unary_types(Typing typing, Op op, TypeId a);
/* The strong type with a weak one's storage; a strong one itself. */
TypeId ty_strengthen(TypeId t);

#endif
