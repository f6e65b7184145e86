/* Memory: elements, views and allocations of arrays.
 *
 * An array's leaves are its pointer, extents and, for layout A, byte strides. Layouts C and F
 * compute an element's number from the extents, layout A its byte offset from the strides; indices
 * are in range by then, so the arithmetic cannot overflow and says so. In an array that is not wide
 * (Type.wide) an element number fits 32 bits; on GPUs it is computed there, and a constant part of
 * the last index becomes the offset of the access. A view is a new set of leaves over the same
 * memory. Shared arrays take their place in the block's static part in the order in which they are
 * lowered; local ones are allocas, and limited to what a launch provides. */
#include <assert.h>
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/lower/private.h"
#include "runtime/abi.h"

static LLVMValueRef mul(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  return l_mul_nsw(lw->b, x, y);
}
static LLVMValueRef add(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  return l_add_nsw(lw->b, x, y);
}

/* Byte stride of an axis, from the leaves. */
static LLVMValueRef lw_array_stride(Lower *lw, const Type *t, LLVMValueRef const *leaves,
                                    unsigned axis) {
  if (cg_has_strides(t))
    return leaves[cg_stride_leaf(t, axis)];
  LLVMValueRef stride = lw_i64(lw, (int64_t)ty_size(t->elem));
  if (t->layout == LAYOUT_C)
    for (unsigned k = t->ndim - 1u; k > axis; k--)
      stride = mul(lw, stride, leaves[cg_extent_leaf(k)]);
  else
    for (unsigned k = 0; k < axis; k++)
      stride = mul(lw, stride, leaves[cg_extent_leaf(k)]);
  return stride;
}

void lw_stride(Lower *lw, Ins *i) {
  lw_set(lw, i,
         lw_array_stride(lw, i->args[0]->type, lw_leaves(lw, i->args[0]), (unsigned)i->aux.i));
}

void lw_array_address(Lower *lw, Ins *i) {
  lw_set(lw, i, l_ptrtoint(lw->b, lw_leaves(lw, i->args[0])[LEAF_POINTER], lw->t->i64));
}

static bool is_narrow(const Lower *lw, const Type *array) {
  return lw->target->narrows && lw->cg->options.opt && !array->wide;
}

/* c of an index x + c, -c of x - c, if it is at most TY_REACH in size; else 0. */
static int64_t reach_of(const Ins *i) {
  const Ins *c = i->op == OP_ADD || i->op == OP_SUB ? i->args[1] : NULL;
  const Frozen *f = c && c->op == OP_CONST ? c->aux.frozen : NULL;
  bool near = f && f->kind == FZ_INT && !f->wide && f->i >= -TY_REACH && f->i <= TY_REACH;
  return !near ? 0 : i->op == OP_ADD ? f->i : -f->i;
}

/* The low 32 bits of a 64-bit sum with a constant. LLVM would narrow the sum by itself, but for
 * each such index instcombine goes over all users of the other term: in a long function, of 5,000
 * lines, a third of its time. */
static LLVMValueRef low_sum(Lower *lw, LLVMValueRef v) {
  enum { LONG_FUNCTION = 8000 }; /* values */
  LLVMValueRef c = LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAdd
                       ? LLVMIsAConstantInt(LLVMGetOperand(v, 1))
                       : NULL;
  if (!c || lw->fn->next_id <= LONG_FUNCTION)
    return lw_low(lw, v);
  return l_add(lw->b, lw_low(lw, LLVMGetOperand(v, 0)), lw_i32(lw, LLVMConstIntGetSExtValue(c)));
}

/* The low 32 bits of an index, without its constant if that becomes an offset (reach is not 0).
 * They are exact, since the index is in range and x at most TY_REACH away. */
static LLVMValueRef low_index(Lower *lw, Ins *i, int64_t reach) {
  return low_sum(lw, lw_value(lw, reach ? i->args[0] : i));
}

/* Number of the element in memory order: for layout C ((i*e1)+j)*e2+k, for F i+e0*(j+e1*k). The
 * indices are in range, so nothing overflows. */
static LLVMValueRef element_number(Lower *lw, const Type *t, LLVMValueRef const *leaves,
                                   Ins *const *indices) {
  LLVMValueRef at = NULL;
  for (unsigned n = 0; n < t->ndim; n++) {
    unsigned k = t->layout == LAYOUT_C ? n : t->ndim - 1u - n;
    LLVMValueRef index = lw_value(lw, indices[k]);
    at = at ? add(lw, mul(lw, at, leaves[cg_extent_leaf(k)]), index) : index;
  }
  return at;
}

/* The same in 32 bits, for an array that is not wide. The constant of the fastest index is left out
 * and stored in *reach. */
static LLVMValueRef narrow_number(Lower *lw, const Type *t, LLVMValueRef const *leaves,
                                  Ins *const *indices, int64_t *reach) {
  LLVMValueRef at = NULL;
  for (unsigned n = 0; n < t->ndim; n++) {
    unsigned k = t->layout == LAYOUT_C ? n : t->ndim - 1u - n;
    int64_t c = reach_of(indices[k]);
    LLVMValueRef index = low_index(lw, indices[k], c);
    if (n + 1 == t->ndim)
      *reach = c;
    else if (c)
      index = add(lw, index, lw_i32(lw, c));
    at = at ? add(lw, mul(lw, at, lw_low(lw, leaves[cg_extent_leaf(k)])), index) : index;
  }
  return at ? l_sext(lw->b, at, lw->t->i64) : NULL;
}

static LLVMValueRef narrow_address(Lower *lw, const Type *t, LLVMValueRef const *leaves,
                                   Ins *const *indices) {
  LLVMTypeRef unit = lw_memory_type(lw->cg, t->elem->id);
  int64_t reach = 0;
  LLVMValueRef at = narrow_number(lw, t, leaves, indices, &reach);
  if (!at)
    return leaves[LEAF_POINTER];
  if (!reach)
    return l_gep_inbounds(lw->b, unit, leaves[LEAF_POINTER], &at, 1);
  LLVMValueRef near = l_gep(lw->b, unit, leaves[LEAF_POINTER], &at, 1), c = lw_i64(lw, reach);
  return l_gep(lw->b, unit, near, &c, 1);
}

LLVMValueRef lw_address(Lower *lw, Ins *array, Ins *const *indices) {
  const Type *t = array->type;
  LLVMValueRef *leaves = lw_leaves(lw, array);
  LLVMTypeRef unit = cg_has_strides(t) ? lw->t->i8 : lw_memory_type(lw->cg, t->elem->id);
  LLVMValueRef at = NULL;
  CX_ASSERT(lw->cx, t->elem->id != TY_RECORD); /* typing has made views of the fields */
  assert(t->id == TY_ARRAY && leaves[LEAF_POINTER]);
  if (t->layout != LAYOUT_A && is_narrow(lw, t))
    return narrow_address(lw, t, leaves, indices);
  if (t->layout != LAYOUT_A)
    at = element_number(lw, t, leaves, indices);
  else
    for (unsigned k = 0; k < t->ndim; k++) {
      LLVMValueRef index = lw_value(lw, indices[k]);
      if (is_narrow(lw, t))
        index = l_sext(lw->b, lw_low(lw, index), lw->t->i64);
      LLVMValueRef step = mul(lw, index, leaves[cg_stride_leaf(t, k)]);
      at = at ? add(lw, at, step) : step;
    }
  return at ? l_gep_inbounds(lw->b, unit, leaves[LEAF_POINTER], &at, 1) : leaves[LEAF_POINTER];
}

static unsigned element_alignment(const Lower *lw, const Type *array) {
  unsigned align = ty_array_align(array);
  return ty_is_complex(array->elem) && !array->align && !lw->target->whole_complex ? align / 2
                                                                                   : align;
}

/* The cache hint of a load or store, if one access covers the element. */
static CacheHint usable_hint(const Lower *lw, const Ins *i) {
  const Type *array = i->args[0]->type;
  bool whole = element_alignment(lw, array) >= ty_size(array->elem);
  return whole ? (CacheHint)i->aux.i : HINT_NONE;
}

static void put_mark(Lower *lw, LLVMValueRef access, const char *name) {
  LLVMContextRef c = lw->cg->context;
  unsigned kind = LLVMGetMDKindIDInContext(c, name, (unsigned)strlen(name));
  LLVMSetMetadata(access, kind, LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0)));
}

void lw_mark_ahead(Lower *lw, const Ins *i, LLVMValueRef access) {
  if (i->flags & INS_AHEAD)
    put_mark(lw, access, CG_AHEAD);
}

/* Says of an access that it goes ahead, or is passed; and that its index, of which 64-bit
 * arithmetic is left, is in range. */
static void mark_access(Lower *lw, const Ins *i, LLVMValueRef access) {
  const Type *t = i->args[0]->type;
  const Ins *index = i->args[1];
  lw_mark_ahead(lw, i, access);
  if (t->ndim != 1 || t->layout == LAYOUT_A || !is_narrow(lw, t) || reach_of(index) ||
      index->flags & (INS_I32 | INS_U32))
    return;
  put_mark(lw, access, CG_IN_RANGE);
}

static LLVMValueRef read_element(Lower *lw, Ins *i) {
  const Type *array = i->args[0]->type;
  assert(i->nargs == 1u + array->ndim); /* the array, an index for each axis */
  LLVMTypeRef type = lw_memory_type(lw->cg, array->elem->id);
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1);
  CacheHint hint = usable_hint(lw, i);
  LLVMValueRef v = hint ? lw->target->load_hinted(lw, hint, type, p) : NULL;
  if (v)
    return v;
  v = l_load(lw->b, type, p);
  LLVMSetAlignment(v, element_alignment(lw, array));
  LLVMSetVolatile(v, i->aux.i == HINT_LDCV || i->flags & INS_POLLED);
  mark_access(lw, i, v);
  return v;
}

static void write_element(Lower *lw, Ins *i, LLVMValueRef v) {
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1);
  CacheHint hint = usable_hint(lw, i);
  if (hint && lw->target->store_hinted(lw, hint, v, p))
    return;
  LLVMValueRef store = l_store(lw->b, v, p);
  LLVMSetAlignment(store, element_alignment(lw, i->args[0]->type));
  mark_access(lw, i, store);
}

/* --- several elements: OP_LOAD and OP_STORE of a tuple, aux2 bytes aligned --- */

typedef struct Vector {
  LLVMTypeRef whole, part; /* in memory; of an element: its bits, or its own type */
  LLVMValueRef at;
  uint32_t n;
  unsigned align, size;
} Vector;

static Vector vector_of(Lower *lw, Ins *i, const Type *tuple) {
  const Type *elem = i->args[0]->type->elem;
  unsigned size = (unsigned)ty_size(elem);
  LLVMTypeRef bits = cg_int_type(lw->cg, 8 * size);
  return (Vector){.whole = LLVMVectorType(bits, tuple->n),
                  .part = lw->target->vector_accesses ? bits : lw_memory_type(lw->cg, elem->id),
                  .at = lw_address(lw, i->args[0], i->args + 1),
                  .n = tuple->n,
                  .align = (unsigned)i->aux2,
                  .size = size};
}

/* Element k where each has an access of its own. */
static LLVMValueRef part_address(Lower *lw, const Vector *v, uint32_t k) {
  LLVMValueRef by = lw_i64(lw, k);
  return k ? l_gep_inbounds(lw->b, v->part, v->at, &by, 1) : v->at;
}

static void load_vector(Lower *lw, Ins *i) {
  Vector v = vector_of(lw, i, i->type);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, v.n), whole = NULL;
  if (lw->target->vector_accesses)
    LLVMSetAlignment(whole = l_load(lw->b, v.whole, v.at), v.align);
  for (uint32_t k = 0; k < v.n; k++) {
    if (!whole)
      LLVMSetAlignment(leaves[k] = l_load(lw->b, v.part, part_address(lw, &v, k)), v.size);
    else
      leaves[k] = l_bitcast(lw->b, l_extract_element(lw->b, whole, lw_i32(lw, k)),
                            lw_scalar_type(lw->cg, i->type->elems[k]->id));
  }
  lw_set_leaves(lw, i, leaves);
}

static void store_vector(Lower *lw, Ins *i) {
  Ins *value = i->args[i->nargs - 1];
  Vector v = vector_of(lw, i, value->type);
  LLVMValueRef *leaves = lw_leaves(lw, value), whole = LLVMGetPoison(v.whole);
  for (uint32_t k = 0; k < v.n; k++) {
    if (!lw->target->vector_accesses)
      LLVMSetAlignment(l_store(lw->b, leaves[k], part_address(lw, &v, k)), v.size);
    else
      whole = l_insert_element(lw->b, whole, l_bitcast(lw->b, leaves[k], v.part), lw_i32(lw, k));
  }
  if (lw->target->vector_accesses)
    LLVMSetAlignment(l_store(lw->b, whole, v.at), v.align);
}

void lw_load(Lower *lw, Ins *i) {
  const Type *elem = i->args[0]->type->elem;
  if (i->type->id == TY_TUPLE) {
    load_vector(lw, i);
    return;
  }
  LLVMValueRef v = read_element(lw, i);
  if (ty_is_complex(elem)) {
    LLVMValueRef *parts = CX_ARRAY(lw->cx, LLVMValueRef, 2);
    lw_split_complex(lw, v, parts);
    lw_set_leaves(lw, i, parts);
    return;
  }
  if (ty_kind(elem) == KIND_BOOL)
    v = l_icmp(lw->b, LLVMIntNE, v, LLVMConstNull(lw->t->i8));
  lw_set(lw, i, v);
}

void lw_store(Lower *lw, Ins *i) {
  const Type *elem = i->args[0]->type->elem;
  Ins *value = i->args[i->nargs - 1];
  if (value->type->id == TY_TUPLE) {
    store_vector(lw, i);
    return;
  }
  assert(i->nargs == 2u + i->args[0]->type->ndim && value->type->id == elem->id);
  if (ty_is_complex(elem)) {
    write_element(lw, i, lw_join_complex(lw, elem->id, lw_leaves(lw, value)));
    return;
  }
  LLVMValueRef v = lw_value(lw, value);
  if (ty_kind(elem) == KIND_BOOL)
    v = l_zext(lw->b, v, lw->t->i8);
  write_element(lw, i, v);
}

/* --- views --- */

typedef struct View { /* the result under construction */
  LLVMValueRef pointer, extents[TY_MAX_NDIM], strides[TY_MAX_NDIM];
  unsigned ndim;
} View;

static void view_axis(View *v, LLVMValueRef extent, LLVMValueRef stride) {
  assert(v->ndim < TY_MAX_NDIM);
  v->extents[v->ndim] = extent;
  v->strides[v->ndim++] = stride;
}

static void view_advance(Lower *lw, View *v, LLVMValueRef index, LLVMValueRef stride) {
  LLVMValueRef offset = l_mul(lw->b, index, stride);
  v->pointer = l_gep(lw->b, lw->t->i8, v->pointer, &offset, 1);
}

static void view_permute(Lower *lw, View *v, Ins *array, const IrView *how) {
  LLVMValueRef *leaves = lw_leaves(lw, array);
  for (unsigned k = 0; k < how->n; k++)
    view_axis(v, leaves[cg_extent_leaf(how->axes[k])],
              lw_array_stride(lw, array->type, leaves, how->axes[k]));
}

static void view_reshape(Lower *lw, View *v, Ins *i) {
  LLVMValueRef stride = lw_i64(lw, (int64_t)ty_size(i->type->elem));
  v->ndim = i->type->ndim;
  for (unsigned k = v->ndim; k-- > 0;) {
    v->extents[k] = lw_value(lw, i->args[1 + k]);
    v->strides[k] = stride;
    stride = mul(lw, stride, v->extents[k]);
  }
}

static void view_part(Lower *lw, View *v, Ins *array, const IrView *how) {
  LLVMValueRef *leaves = lw_leaves(lw, array);
  view_advance(lw, v, lw_i64(lw, how->axes[0]),
               lw_i64(lw, (int64_t)ty_size(array->type->elem) / 2));
  for (unsigned k = 0; k < array->type->ndim; k++)
    view_axis(v, leaves[cg_extent_leaf(k)], lw_array_stride(lw, array->type, leaves, k));
}

/* The pointer advances to the field; the axes of a nested array follow those of the source. */
static void view_field(Lower *lw, View *v, Ins *i) {
  const IrView *how = i->aux.view;
  const Type *from = i->args[0]->type;
  LLVMValueRef *leaves = lw_leaves(lw, i->args[0]), offset = lw_i64(lw, how->offset);
  if (how->offset)
    v->pointer = l_gep_inbounds(lw->b, lw->t->i8, v->pointer, &offset, 1);
  for (unsigned k = 0; k < from->ndim; k++)
    view_axis(v, leaves[cg_extent_leaf(k)], lw_array_stride(lw, from, leaves, k));
  int64_t stride = (int64_t)ty_size(i->type->elem);
  v->ndim = i->type->ndim;
  for (unsigned k = how->nested; k-- > 0; stride *= how->extents[k]) {
    v->extents[from->ndim + k] = lw_i64(lw, how->extents[k]);
    v->strides[from->ndim + k] = lw_i64(lw, stride);
  }
}

/* Is it a row or a column of an array that is not wide, array[i] or array[:, j]? Its first element
 * has a number of 32 bits, too. */
static bool is_row(const Lower *lw, const Ins *i) {
  const IrView *how = i->aux.view;
  const Type *t = i->args[0]->type;
  bool any = false;
  for (unsigned k = 0; k < how->n; k++) {
    if (how->kind[k] != VIEW_INDEX && how->kind[k] != VIEW_FULL)
      return false;
    any |= how->kind[k] == VIEW_INDEX;
  }
  return any && t->ndim > 1 && t->layout == LAYOUT_C && t->elem->id != TY_RECORD &&
         is_narrow(lw, t);
}

static void view_row(Lower *lw, View *v, Ins *i) {
  const IrView *how = i->aux.view;
  const Type *t = i->args[0]->type;
  LLVMValueRef *leaves = lw_leaves(lw, i->args[0]), at = NULL;
  for (unsigned axis = 0, arg = 1; axis < t->ndim; axis++) {
    LLVMValueRef extent = leaves[cg_extent_leaf(axis)];
    bool index = axis < how->n && how->kind[axis] == VIEW_INDEX;
    at = at ? mul(lw, at, lw_low(lw, extent)) : NULL;
    if (!index) {
      view_axis(v, extent, lw_array_stride(lw, t, leaves, axis));
      continue;
    }
    LLVMValueRef n = lw_low(lw, lw_value(lw, i->args[arg++]));
    at = at ? add(lw, at, n) : n;
  }
  at = l_sext(lw->b, at, lw->t->i64);
  v->pointer = l_gep(lw->b, lw_memory_type(lw->cg, t->elem->id), v->pointer, &at, 1);
}

static void view_axes(Lower *lw, View *v, Ins *i) {
  const IrView *how = i->aux.view;
  LLVMValueRef *leaves = lw_leaves(lw, i->args[0]);
  unsigned axis = 0, arg = 1;
  if (is_row(lw, i)) {
    view_row(lw, v, i);
    return;
  }
  for (unsigned k = 0; k < how->n; k++) {
    if (how->kind[k] == VIEW_NEWAXIS) {
      view_axis(v, lw_i64(lw, 1), lw_i64(lw, 0));
      continue;
    }
    LLVMValueRef stride = lw_array_stride(lw, i->args[0]->type, leaves, axis);
    LLVMValueRef extent = leaves[cg_extent_leaf(axis++)];
    if (how->kind[k] == VIEW_FULL) {
      view_axis(v, extent, stride);
    } else {
      view_advance(lw, v, lw_value(lw, i->args[arg++]), stride);
      if (how->kind[k] == VIEW_SLICE) {
        LLVMValueRef count = lw_value(lw, i->args[arg]), step = lw_value(lw, i->args[arg + 1]);
        view_axis(v, count, l_mul(lw->b, stride, step));
        arg += 2;
      }
    }
  }
  assert(axis <= i->args[0]->type->ndim && arg == i->nargs);
  for (; axis < i->args[0]->type->ndim; axis++) /* the remaining axes are kept whole */
    view_axis(v, leaves[cg_extent_leaf(axis)], lw_array_stride(lw, i->args[0]->type, leaves, axis));
}

void lw_view(Lower *lw, Ins *i) {
  const Type *t = i->type;
  const IrView *how = i->aux.view;
  View v = {.pointer = lw_leaves(lw, i->args[0])[LEAF_POINTER]};
  ViewKind first = how->n ? how->kind[0] : VIEW_FULL;
  if (first == VIEW_RESHAPE)
    view_reshape(lw, &v, i);
  else if (first == VIEW_FIELD)
    view_field(lw, &v, i);
  else if (first == VIEW_PERMUTE)
    view_permute(lw, &v, i->args[0], how);
  else if (first == VIEW_PART)
    view_part(lw, &v, i->args[0], how);
  else
    view_axes(lw, &v, i);
  CX_ASSERT(lw->cx, v.ndim == t->ndim);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(t) + 1);
  leaves[LEAF_POINTER] = v.pointer;
  memcpy(leaves + cg_extent_leaf(0), v.extents, t->ndim * sizeof *leaves);
  if (cg_has_strides(t))
    memcpy(leaves + cg_stride_leaf(t, 0), v.strides, t->ndim * sizeof *leaves);
  lw_set_leaves(lw, i, leaves);
}

/* --- allocations --- */

enum {
  STATIC_SHARED_LIMIT = 48 * 1024, /* PTX's limit; more needs dynamic shared memory */
  LOCAL_LIMIT = RT_LOCAL_BYTES - RT_STACK_BYTES,
};

static uint64_t alloc_bytes(Lower *lw, const Type *t, const IrAlloc *a) {
  uint64_t bytes = ty_size(t->elem);
  for (unsigned k = 0; k < t->ndim; k++)
    if (__builtin_mul_overflow(bytes, (uint64_t)a->extents[k], &bytes) || a->extents[k] < 0)
      fail(lw->cx, lw->ins->loc, ERR_SHAPE, a->name ? a->name : "the array", "too large");
  return bytes;
}

static LLVMValueRef alloc_shared(Lower *lw, const IrAlloc *a, uint64_t bytes, unsigned align) {
  Cg *cg = lw->cg;
  assert(align && !(align & (align - 1)));
  uint64_t offset = (cg->static_shared + align - 1u) / align * align;
  if (offset + bytes > STATIC_SHARED_LIMIT || bytes > STATIC_SHARED_LIMIT)
    fail(lw->cx, lw->ins->loc, ERR_SHARED_SIZE, cg->program->fns.data[0]->name,
         (long long)(offset + bytes), (long long)STATIC_SHARED_LIMIT);
  cg->static_shared = (uint32_t)(offset + bytes);
  return lw->target->shared_static(lw, bytes, align, (uint32_t)offset,
                                   a->name ? a->name : "shared");
}

/* Says of a local array where it is made, and how large, in the words of a comment for the PTX. */
static void mark_local(Lower *lw, LLVMValueRef array, uint64_t bytes) {
  LLVMContextRef c = lw->cg->context;
  Buf text;
  buf_init(&text, &lw->cx->arena);
  cx_put_place(&text, arena_printf(&lw->cx->arena, "local.array[%llu]", (unsigned long long)bytes),
               lw->ins->loc);
  LLVMMetadataRef words = LLVMMDStringInContext2(c, text.text, text.len);
  unsigned kind = LLVMGetMDKindIDInContext(c, CG_PLACE, sizeof CG_PLACE - 1);
  LLVMSetMetadata(array, kind, LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &words, 1)));
}

static LLVMValueRef alloc_local(Lower *lw, const IrAlloc *a, uint64_t bytes, unsigned align) {
  Cg *cg = lw->cg;
  if (bytes > LOCAL_LIMIT || cg->local_bytes + bytes > LOCAL_LIMIT)
    fail(lw->cx, lw->ins->loc, ERR_LOCAL_SIZE, a->name ? a->name : "the array", (long long)bytes,
         (long long)LOCAL_LIMIT);
  cg->local_bytes += (uint32_t)bytes;
  LLVMValueRef array = lw_alloca(lw, LLVMArrayType2(lw->t->i8, bytes), align,
                                 a->name ? a->name : "local");
  mark_local(lw, array, bytes);
  return array;
}

void lw_alloc(Lower *lw, Ins *i) {
  const Type *t = i->type;
  const IrAlloc *a = i->aux.alloc;
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(t) + 1);
  unsigned size = (unsigned)ty_size(t->elem), own = ty_align(t->elem);
  unsigned align = a->align > own ? a->align : own;
  for (unsigned k = 0; k < t->ndim; k++)
    leaves[cg_extent_leaf(k)] = lw_i64(lw, a->extents[k]);
  if (a->dynamic) {
    lw->cg->uses_dynamic_shared = true;
    leaves[LEAF_POINTER] = lw->target->shared_dynamic(lw, align);
    LLVMValueRef bytes = l_zext(lw->b, lw->target->shared_dynamic_bytes(lw), lw->t->i64);
    leaves[cg_extent_leaf(0)] = l_udiv(lw->b, bytes, lw_i64(lw, size));
  } else if (t->space == SPACE_SHARED) {
    leaves[LEAF_POINTER] = alloc_shared(lw, a, alloc_bytes(lw, t, a), align);
  } else {
    leaves[LEAF_POINTER] = alloc_local(lw, a, alloc_bytes(lw, t, a), align);
  }
  for (unsigned k = 0; cg_has_strides(t) && k < t->ndim; k++) {
    int64_t stride = size;
    for (unsigned j = k + 1; j < t->ndim; j++)
      stride *= a->extents[j];
    leaves[cg_stride_leaf(t, k)] = lw_i64(lw, stride);
  }
  lw_set_leaves(lw, i, leaves);
}

/* --- constant arrays --- */

/* The elements as an LLVM constant, in the host's byte order. Records and dates are bytes, since
 * LLVM's data arrays hold numbers only; a complex number is two. */
static LLVMValueRef constant_data(Lower *lw, const FrozenArray *a) {
  bool record = a->elem >= TY_SCALARS, /* or date */
      complex = !record && ty_scalar_info[a->elem].kind == KIND_COMPLEX;
  LLVMTypeRef elem = record ? lw->t->i8
                            : lw_memory_type(lw->cg, complex ? ty_part_id(a->elem) : a->elem);
  if (!a->nbytes)
    return LLVMConstNull(LLVMArrayType2(elem, 1));
  return LLVMConstDataArray(elem, a->data, a->nbytes);
}

/* A captured device array: its address is known when the kernel is compiled. */
static void frozen_device_array(Lower *lw, Ins *i) {
  const Type *t = i->type;
  const FrozenArray *a = i->aux.frozen->array;
  assert(a && a->ndim == t->ndim);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(t) + 1);
  leaves[LEAF_POINTER] = LLVMConstIntToPtr(lw_i64(lw, (int64_t)a->address),
                                           lw->t->space[SPACE_GLOBAL]);
  for (unsigned k = 0; k < t->ndim; k++) {
    leaves[cg_extent_leaf(k)] = lw_i64(lw, a->extents[k]);
    if (cg_has_strides(t))
      leaves[cg_stride_leaf(t, k)] = lw_i64(lw, a->strides[k]);
  }
  lw_set_leaves(lw, i, leaves);
}

LLVMValueRef lw_constant_table(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                               const char *name) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(lw->cg->module); g; g = LLVMGetNextGlobal(g))
    if (LLVMIsGlobalConstant(g) && LLVMGetInitializer(g) == init && LLVMGetAlignment(g) >= align)
      return LLVMTypeOf(g) == lw->t->ptr ? g : LLVMConstAddrSpaceCast(g, lw->t->ptr);
  lw->cg->constant_bytes += (uint32_t)bytes;
  return lw->target->constant(lw, init, bytes, align, name);
}

void lw_const_array(Lower *lw, Ins *i) {
  if (i->aux.frozen->kind == FZ_DEVICE_ARRAY) {
    frozen_device_array(lw, i);
    return;
  }
  const Type *t = i->type;
  const FrozenArray *a = i->aux.frozen->array;
  CX_ASSERT(lw->cx, a && a->ndim == t->ndim);
  if (a->nbytes > FZ_MAX_BYTES)
    fail(lw->cx, i->loc, ERR_FROZEN_SIZE, (long long)a->nbytes, (long long)FZ_MAX_BYTES);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(t) + 1);
  leaves[LEAF_POINTER] = lw_constant_table(lw, constant_data(lw, a), a->nbytes, ty_align(t->elem),
                                           i->name ? i->name : "constant");
  int64_t stride = (int64_t)ty_size(t->elem);
  for (unsigned k = t->ndim; k-- > 0;) {
    leaves[cg_extent_leaf(k)] = lw_i64(lw, a->extents[k]);
    if (cg_has_strides(t))
      leaves[cg_stride_leaf(t, k)] = lw_i64(lw, stride);
    stride *= a->extents[k];
  }
  lw_set_leaves(lw, i, leaves);
}
