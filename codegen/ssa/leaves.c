/* Leaves: see leaves.h. The number and the order of a type's leaves follow from the type alone;
 * lowering and the parameter block agree about them because both ask here. */
#include "codegen/ssa/leaves.h"

#include <assert.h>

uint32_t cg_leaf_count(const Type *t) {
  if (ty_is_scalar(t))
    return ty_is_complex(t) ? 2 : 1;
  switch (t->id) {
  case TY_ARRAY: return 1u + t->ndim + (cg_has_strides(t) ? t->ndim : 0u);
  case TY_RANGE: return 3;
  case TY_TUPLE:
  case TY_SLICE:
  case TY_ENUMERATE:
  case TY_ZIP:
  case TY_REVERSED:
  case TY_FUNC: return cg_tuple_offset(t, t->n);
  default: return 0;
  }
}

uint32_t cg_tuple_offset(const Type *tuple, uint32_t index) {
  uint32_t at = 0;
  if (tuple->id == TY_RANGE || ty_is_complex(tuple))
    return index;
  assert(index <= tuple->n);
  for (uint32_t k = 0; k < index && k < tuple->n; k++)
    at += cg_leaf_count(tuple->elems[k]);
  return at;
}

RtFieldKind cg_array_leaf(const Type *t, uint32_t k, unsigned *axis) {
  assert(t->id == TY_ARRAY && k < cg_leaf_count(t));
  *axis = k == LEAF_POINTER ? 0 : (k - 1) % t->ndim;
  if (k == LEAF_POINTER)
    return RT_FIELD_POINTER;
  return k >= cg_stride_leaf(t, 0) ? RT_FIELD_STRIDE
         : t->wide                 ? RT_FIELD_EXTENT64
                                   : RT_FIELD_EXTENT32;
}
