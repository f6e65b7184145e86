/* Tensor maps: what the launch makes of an array for cp_async_bulk_tensor, and where the operands
 * of that instruction are. */
#ifndef PYPTX_IR_TENSOR_MAPS_H
#define PYPTX_IR_TENSOR_MAPS_H

#include <stdbool.h>

#include "ir/fn.h"

enum { TENSOR_RANK = 5, TENSOR_BOX = 256 }; /* at most */
/* Operands: shared memory, the array, the former's elements, then these. */
enum { TENSOR_SHARED, TENSOR_ARRAY, TENSOR_ELEMENTS, TENSOR_FIRST };

static inline bool ir_is_tensor_copy(const Ins *i) {
  return i->op == OP_INTRINSIC && (i->aux.intrinsic == INTR_CP_ASYNC_TENSOR ||
                                   i->aux.intrinsic == INTR_CP_ASYNC_TENSOR_STORE);
}
static inline unsigned ir_tensor_rank(const Ins *i) { return i->args[TENSOR_ARRAY]->type->ndim; }
/* Then the box, the extents and the indices are those of the transposed array. */
static inline bool ir_tensor_is_fortran(const Ins *i) {
  return i->args[TENSOR_ARRAY]->type->layout == LAYOUT_F;
}
static inline int64_t ir_tensor_box(const Ins *i, unsigned axis) {
  return i->args[TENSOR_FIRST + axis]->aux.frozen->i;
}
static inline int64_t ir_tensor_swizzle(const Ins *i) {
  return i->args[TENSOR_FIRST + ir_tensor_rank(i)]->aux.frozen->i;
}
/* The index along each axis; behind them the barrier, the mask of blocks and the policy of a load,
 * the reduction and the policy of a store: the last are numbers from 1 on of ir/bulk.def. */
static inline Ins **ir_tensor_index(const Ins *i) {
  return i->args + TENSOR_FIRST + ir_tensor_rank(i) + 1;
}

#endif
