/* Leaves in LLVM: the types that the leaves of a value have in registers, in memory and in the
 * parameter block (codegen/ssa/leaves.h says what the leaves of a type are). While a function is
 * lowered, Ins.note of each instruction is an array of cg_leaf_count(type) LLVM values. */
#include <assert.h>

#include "codegen/lower/lower.h"
#include "codegen/ssa/params.h"

uint32_t lw_leaf_types(Cg *cg, const Type *t, LLVMTypeRef *out) {
  uint32_t n = cg_leaf_count(t), at = 0;
  if (ty_is_complex(t)) {
    out[0] = out[1] = lw_scalar_type(cg, ty_part_id(t->id));
  } else if (ty_is_scalar(t)) {
    out[0] = lw_scalar_type(cg, t->id);
  } else if (t->id == TY_ARRAY || t->id == TY_RANGE) {
    for (uint32_t k = 0; k < n; k++)
      out[k] = k == LEAF_POINTER && t->id == TY_ARRAY ? cg->t.space[t->space] : cg->t.i64;
  } else {
    for (uint32_t k = 0; at < n; k++)
      at += lw_leaf_types(cg, t->elems[k], out + at);
    assert(at == n); /* of a tuple: the elements' leaves are all */
  }
  return n;
}

LLVMTypeRef lw_scalar_type(Cg *cg, TypeId id) {
  const ScalarInfo *s = &ty_scalar_info[id];
  switch (s->kind) {
  case KIND_BOOL: return cg->t.i1;
  case KIND_INT:
  case KIND_UINT: return cg_int_type(cg, s->bits);
  case KIND_FLOAT:
    return id == TY_BF16 ? cg->t.bf16 : ty_is_float8(id) ? cg->t.i8 : cg_float_type(cg, s->bits);
  default: cx_bug(cg->cx, "%s has no storage", s->name);
  }
}

LLVMTypeRef lw_memory_type(Cg *cg, TypeId id) {
  if (ty_scalar_info[id].kind == KIND_COMPLEX)
    return LLVMVectorType(lw_scalar_type(cg, ty_part_id(id)), 2);
  return ty_scalar_info[id].kind == KIND_BOOL ? cg->t.i8 : lw_scalar_type(cg, id);
}

LLVMTypeRef lw_field_type(Cg *cg, uint32_t i) {
  assert(i < cg->params->fields.len);
  const Param *p = &cg->params->fields.data[i];
  switch ((RtFieldKind)p->field.kind) {
  case RT_FIELD_POINTER:
  case RT_FIELD_GRID:
  case RT_FIELD_TRAP: return cg->t.space[SPACE_GLOBAL];
  case RT_FIELD_TENSOR_MAP: return cg->t.ptr;
  case RT_FIELD_BLOCKS:
  case RT_FIELD_EXTENT32: return cg->t.i32;
  case RT_FIELD_EXTENT64:
  case RT_FIELD_STRIDE: return cg->t.i64;
  case RT_FIELD_SCALAR: break;
  }
  return lw_memory_type(cg, p->type->id);
}

LLVMValueRef *lw_leaves(Lower *lw, Ins *i) {
  CX_ASSERT(lw->cx, i->note);
  return i->note;
}

LLVMValueRef lw_value(Lower *lw, Ins *i) {
  CX_ASSERT(lw->cx, ty_is_scalar(i->type) && !ty_is_complex(i->type));
  return lw_leaves(lw, i)[0];
}

void lw_split_complex(Lower *lw, LLVMValueRef memory, LLVMValueRef out[2]) {
  for (int k = 0; k < 2; k++)
    out[k] = l_extract_element(lw->b, memory, lw_i32(lw, k));
}

LLVMValueRef lw_join_complex(Lower *lw, TypeId id, LLVMValueRef const parts[2]) {
  LLVMValueRef v = LLVMGetPoison(lw_memory_type(lw->cg, id));
  for (int k = 0; k < 2; k++)
    v = l_insert_element(lw->b, v, parts[k], lw_i32(lw, k));
  return v;
}

void lw_set_leaves(Lower *lw, Ins *i, LLVMValueRef *leaves) {
  (void)lw;
  assert(leaves);
  i->note = leaves;
}

void lw_set(Lower *lw, Ins *i, LLVMValueRef v) {
  assert(v && cg_leaf_count(i->type) == 1);
  LLVMValueRef *leaf = CX_NEW(lw->cx, LLVMValueRef);
  *leaf = v;
  i->note = leaf;
}
