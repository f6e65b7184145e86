/* Leaves: the flat list of numbers and addresses that a value of typed SSA consists of. No LLVM
 * here.
 *
 *   a number           one leaf; a complex number two, its parts
 *   an array           the pointer to element 0, an extent for each axis and, for layout A, a byte
 *                      stride for each axis
 *   a tuple, a range   the leaves of its elements, in order
 *   a function         the leaves of the values that it has captured
 *   None, text, dtypes none
 * This file alone knows the order of an array's leaves. */
#ifndef PYPTX_CODEGEN_SSA_LEAVES_H
#define PYPTX_CODEGEN_SSA_LEAVES_H

#include "ir/type.h"
#include "runtime/abi.h"

uint32_t cg_leaf_count(const Type *t);
uint32_t cg_tuple_offset(const Type *tuple, uint32_t index); /* first leaf of an element */

enum { LEAF_POINTER = 0 };
static inline uint32_t cg_extent_leaf(unsigned axis) { return 1u + axis; }
static inline uint32_t cg_stride_leaf(const Type *t, unsigned axis) { return 1u + t->ndim + axis; }
static inline bool cg_has_strides(const Type *t) { return t->layout == LAYOUT_A; }
/* What kind of field leaf k of an array is in a parameter block, and of which axis. */
RtFieldKind cg_array_leaf(const Type *t, uint32_t k, unsigned *axis);

#endif
