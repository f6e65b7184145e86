/* Index: a[…] on arrays and tuples, unpacking, len.
 *
 * An index of an array becomes pyint operands in range: constants are resolved here; others pass
 * WRAP_INDEX, which
 * engine/index_wraps.c takes away again where the index cannot be negative, and CHECK_INDEX where
 * checks are compiled in. */
#include <string.h>

#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"
#include "typeinfer/value/wide.h"

/* --- one index --- */

static const char *array_name(Val array) {
  return array.src && array.src->name ? array.src->name : NULL;
}

/* A uint64 is shown as the program has it, not as the bits of a negative number. */
static const char *index_message(Ty *ty, Val array, bool is_unsigned, unsigned axis) {
  const char *name = array_name(array);
  const char *of = name ? arena_printf(&ty->cx->arena, " of '%s'", name) : "";
  const Ins *made = array.ins;
  bool dynamic = made && made->op == OP_ALLOC && made->aux.alloc->dynamic;
  return arena_printf(&ty->cx->arena, "index {0%s} is out of bounds for axis %u%s with size {1}%s",
                      is_unsigned ? ":U=" : "", axis, of,
                      dynamic ? ": the launch gives the size of dynamic shared memory, "
                                "kernel[grid, block, stream, bytes]"
                              : "");
}

static Val check_index(Ty *ty, Val array, Val index, bool is_unsigned, Val extent, unsigned axis) {
  if (!ty->cx->checked)
    return index;
  Val r = ty_op2(ty, OP_CHECK_INDEX, ty_id(ty, TY_PYINT), index, extent);
  if (r.ins) {
    r.ins->aux.site = ir_site(ty->cx, ty->p->program, "IndexError",
                              index_message(ty, array, is_unsigned, axis), ty->at->loc);
    r.ins->aux2 = (int32_t)axis;
    r.ins->name = array_name(array);
  }
  return r;
}

/* a[True] is a mask in NumPy, with an axis more. */
static Val in_range(Ty *ty, Val array, Val index, unsigned axis) {
  bool mask = index.type && index.type->id == TY_PYBOOL;
  Val i = mask ? TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, index)) : ty_to_index(ty, index);
  if (array.type->pointer) /* it may count backwards, and has no end */
    return i;
  Val extent = ty_extent(ty, array, axis);
  if (ty_is_bottom(i) || ty_is_bottom(extent))
    return BOTTOM;
  bool from_end = index.type->id != TY_U64; /* those above 2**63 are out of bounds, not negative */
  int64_t k, n;
  if (fz_get_int(i.konst, &k)) {
    if (fz_get_int(extent.konst, &n) && k >= (from_end ? -n : 0) && k < n)
      return ty_const_int(ty, k < 0 ? k + n : k);
    if (k < 0 && from_end)
      i = ty_op2(ty, OP_ADD, ty_id(ty, TY_PYINT), extent, i);
  } else if (from_end) {
    i = ty_op2(ty, OP_WRAP_INDEX, ty_id(ty, TY_PYINT), i, extent);
  }
  return check_index(ty, array, i, !from_end, extent, axis);
}

/* --- views --- */

typedef struct Indices { /* a subscript as a list */
  Val items[2 * TY_MAX_NDIM];
  uint32_t n;
  uint32_t axes; /* that take an axis of the array */
  bool all_ints; /* no slice, Ellipsis, None */
} Indices;

static bool is_ellipsis(Val v) {
  return v.type->id == TY_OBJECT && v.type->frozen->kind == FZ_ELLIPSIS;
}

/* a[[0, 1]] takes several elements in NumPy, a[0, 1] one. */
static bool is_list(Val v) { return v.type && v.type->id == TY_TUPLE && v.type->list; }

static bool list_indices(Ty *ty, Val array, Val index, Indices *out) {
  bool is_tuple = index.type->id == TY_TUPLE;
  uint32_t n = is_tuple ? index.type->n : 1;
  bool ellipsis = false;
  *out = (Indices){.all_ints = true};
  for (uint32_t k = 0; k < n; k++) {
    Val v = is_tuple ? ty_item(ty, index, k) : index;
    if (ty_is_bottom(v))
      return false;
    if (is_list(index) || is_list(v)) {
      (void)TY_FAIL_ADVISED(ty, "loop over the indices and take one element in each turn",
                            ERR_INDEX_TYPE, "a list");
      return false;
    }
    bool other = is_ellipsis(v) || v.type->id == TY_NONE;
    if ((is_ellipsis(v) && ellipsis) || k == sizeof out->items / sizeof *out->items ||
        out->axes + !other > array.type->ndim) {
      (void)TY_FAIL(ty, ERR_INDEX_COUNT, TY_PRETTY(ty, array), (int)n);
      return false;
    }
    ellipsis |= is_ellipsis(v);
    out->axes += !other;
    out->all_ints &= !other && v.type->id != TY_SLICE;
    out->items[out->n++] = v;
  }
  return true;
}

bool ty_element(Ty *ty, Val array, Val index, Val *out) {
  Indices list;
  if (!list_indices(ty, array, index, &list) || !list.all_ints || list.axes != array.type->ndim)
    return false;
  for (uint32_t k = 0; k < list.n; k++)
    if (ty_is_bottom(out[k] = in_range(ty, array, list.items[k], k)))
      return false;
  return true;
}

static Val less(Ty *ty, Val a, Val b) { return ty_int_test(ty, OP_LT, a, b); }

static Val clamp(Ty *ty, Val v, Val lo, Val hi) {
  v = ty_select(ty, less(ty, v, lo), lo, v);
  return ty_select(ty, less(ty, hi, v), hi, v);
}

/* A constant bound or step as Python takes it: beyond 64 bits the nearest of them. False: not
 * known. */
static bool constant_part(Ty *ty, const Frozen *k, int64_t *out) {
  if (!k || fz_get_int(k, out))
    return k != NULL;
  bool high = k->kind == FZ_SCALAR && k->type == TY_U64;
  bool wide = k->kind == FZ_INT && k->wide;
  int sign = high ? 1 : wide ? wide_compare(k, fz_int(ty->cx, 0)) : 2;
  *out = sign < 0 ? INT64_MIN : INT64_MAX;
  return sign != 2;
}

/* A bound or a step as a pyint: one above 2**63 is as good as the largest. */
static Val part_index(Ty *ty, Val part) {
  Val i = ty_to_index(ty, part);
  int64_t k;
  if (ty_is_bottom(i) || fz_get_int(part.konst, &k))
    return i;
  if (constant_part(ty, part.konst, &k))
    return ty_const_int(ty, k);
  if (part.type->id != TY_U64 || part.konst)
    return i;
  return ty_select(ty, less(ty, i, ty_const_int(ty, 0)), ty_const_int(ty, INT64_MAX), i);
}

/* A bound of a slice as Python's slice.indices has it: negative counts from the end, then
 * clipped. */
static Val slice_bound(Ty *ty, Val bound, Val extent, bool descending, Val fallback) {
  if (bound.type->id == TY_NONE)
    return fallback;
  Val i = part_index(ty, bound), zero = ty_const_int(ty, 0), minus = ty_const_int(ty, -1);
  if (ty_is_bottom(i))
    return BOTTOM;
  int64_t k;
  if (fz_get_int(i.konst, &k))
    i = k < 0 ? ty_int_op(ty, OP_ADD, extent, i) : i;
  else
    i = ty_op2(ty, OP_WRAP_INDEX, ty_id(ty, TY_PYINT), i, extent);
  if (descending)
    return clamp(ty, i, minus, ty_int_op(ty, OP_ADD, extent, minus));
  return clamp(ty, i, zero, extent);
}

/* The same where the sign of the step is not known. */
static Val either_bound(Ty *ty, Val slice, uint32_t k, Val extent, Val down) {
  Val bound = ty_item(ty, slice, k), minus = ty_const_int(ty, -1);
  if (ty_is_bottom(bound))
    return BOTTOM;
  Val low = ty_select(ty, down, minus, ty_const_int(ty, 0));
  Val high = ty_select(ty, down, ty_int_op(ty, OP_ADD, extent, minus), extent);
  if (bound.type->id == TY_NONE)
    return k ? ty_select(ty, down, low, high) : ty_select(ty, down, high, low);
  Val i = ty_op2(ty, OP_WRAP_INDEX, ty_id(ty, TY_PYINT), part_index(ty, bound), extent);
  return ty_is_bottom(i) ? BOTTOM : clamp(ty, i, low, high);
}

/* Parts of a slice with a step known at run time only; nothing overflows, whatever the step. A step
 * of 0 that no check stops makes an empty view. */
static bool slice_at_run_time(Ty *ty, Val slice, Val extent, Val out[3]) {
  Val zero = ty_const_int(ty, 0), one = ty_const_int(ty, 1), minus = ty_const_int(ty, -1);
  Val step = part_index(ty, ty_item(ty, slice, 2));
  if (ty_is_bottom(step))
    return false;
  Val some = ty_op2(ty, OP_NE, ty_id(ty, TY_PYBOOL), step, zero);
  if (ty->cx->checked)
    ty_check(ty, some, "ValueError", "slice step cannot be zero", NULL, 0);
  Val down = less(ty, step, zero);
  Val start = either_bound(ty, slice, 0, extent, down);
  Val stop = either_bound(ty, slice, 1, extent, down);
  if (ty_is_bottom(start) || ty_is_bottom(stop))
    return false;
  Val last = ty_int_op(ty, OP_ADD, ty_int_op(ty, OP_SUB, stop, start),
                       ty_select(ty, down, one, minus));
  Val count = ty_int_op(ty, OP_ADD, ty_int_op(ty, OP_FLOORDIV, last, step), one);
  count = ty_select(ty, less(ty, count, zero), zero, count);
  out[0] = start;
  out[1] = ty_select(ty, some, count, zero);
  out[2] = step;
  return !ty_is_bottom(out[1]);
}

/* start, count, step of a slice over an extent. */
static bool slice_parts(Ty *ty, Val slice, Val extent, Val out[3]) {
  /* no extent is that large: one step of it, and of any larger, leaves the array */
  const int64_t far = INT64_C(1) << 62;
  Val zero = ty_const_int(ty, 0), minus = ty_const_int(ty, -1);
  Val step = ty_item(ty, slice, 2);
  int64_t k = 1;
  if (ty_is_bottom(step) || ty_is_bottom(extent))
    return false;
  if (step.type->id != TY_NONE && !fz_get_int(part_index(ty, step).konst, &k))
    return slice_at_run_time(ty, slice, extent, out);
  k = k > far ? far : k < -far ? -far : k;
  if (k == 0) {
    (void)TY_FAIL(ty, ERR_BAD_OPERAND, "a slice", "step 0");
    return false;
  }
  bool down = k < 0;
  Val start = slice_bound(ty, ty_item(ty, slice, 0), extent, down,
                          down ? ty_int_op(ty, OP_ADD, extent, minus) : zero);
  Val stop = slice_bound(ty, ty_item(ty, slice, 1), extent, down, down ? minus : extent);
  if (ty_is_bottom(start) || ty_is_bottom(stop))
    return false;
  Val span = down ? ty_int_op(ty, OP_SUB, start, stop) : ty_int_op(ty, OP_SUB, stop, start);
  int64_t width = down ? -k : k;
  if (width > 1)
    span = ty_int_op(ty, OP_FLOORDIV, ty_int_op(ty, OP_ADD, span, ty_const_int(ty, width - 1)),
                     ty_const_int(ty, width));
  out[0] = start;
  out[1] = ty_select(ty, less(ty, span, zero), zero, span);
  out[2] = ty_const_int(ty, k);
  return !ty_is_bottom(out[1]);
}

typedef struct ViewPlan {
  IrView *view;
  Val args[1 + 3 * 2 * TY_MAX_NDIM];
  uint32_t nargs;
  unsigned axis, ndim; /* of the source so far; of the result so far */
  bool full_tail;      /* C: every axis since the first kept one is whole; F is not kept */
  bool sliced;         /* a kept axis has been cut */
} ViewPlan;

static bool plan_one(Ty *ty, ViewPlan *p, Val array, Val v) {
  uint8_t *kind = &p->view->kind[p->view->n++];
  if (v.type->id == TY_NONE) {
    *kind = VIEW_NEWAXIS;
    p->ndim++;
    return true;
  }
  if (v.type->id == TY_SLICE) {
    Val whole = ty_item(ty, v, 0), stop = ty_item(ty, v, 1), step = ty_item(ty, v, 2);
    bool full = whole.type && whole.type->id == TY_NONE && stop.type && stop.type->id == TY_NONE &&
                step.type && step.type->id == TY_NONE;
    *kind = full ? VIEW_FULL : VIEW_SLICE;
    int64_t k = full; /* the step; 0: not known */
    if (!full && !slice_parts(ty, v, ty_extent(ty, array, p->axis), &p->args[p->nargs]))
      return false;
    if (!full) {
      (void)fz_get_int(p->args[p->nargs + 2].konst, &k);
      p->nargs += 3;
    }
    p->full_tail &= full || (p->ndim == 0 &&
                             k == 1); /* the first kept axis may be cut, if the rest is whole */
    p->ndim++;
    p->axis++;
    return true;
  }
  *kind = VIEW_INDEX;
  p->full_tail &= p->ndim == 0; /* an index behind a kept axis leaves gaps */
  Val i = in_range(ty, array, v, p->axis++);
  p->args[p->nargs++] = i;
  return !ty_is_bottom(i);
}

static void plan_full(ViewPlan *p, unsigned n) {
  for (; n; n--, p->axis++, p->ndim++)
    p->view->kind[p->view->n++] = VIEW_FULL;
}

static Val view(Ty *ty, Val array, const Indices *list) {
  const Type *t = array.type;
  ViewPlan p = {.view = CX_NEW(ty->cx, IrView), .args = {array}, .nargs = 1, .full_tail = true};
  bool ellipsis = false, has_newaxis = false;
  for (uint32_t k = 0; k < list->n; k++) {
    if (is_ellipsis(list->items[k])) {
      plan_full(&p, t->ndim - list->axes);
      ellipsis = true;
    } else {
      has_newaxis |= list->items[k].type->id == TY_NONE;
      if (!plan_one(ty, &p, array, list->items[k]))
        return BOTTOM;
    }
    if (p.ndim > TY_MAX_NDIM)
      return TY_FAIL(ty, ERR_INDEX_COUNT, TY_PRETTY(ty, array), (int)list->n);
  }
  if (!ellipsis)
    plan_full(&p, t->ndim - p.axis);
  if (p.ndim > TY_MAX_NDIM)
    return TY_FAIL(ty, ERR_INDEX_COUNT, TY_PRETTY(ty, array), (int)list->n);
  bool c = t->layout == LAYOUT_C && p.full_tail && !has_newaxis;
  const Type *result = ty_array_in(ty->cx, t, t->elem, p.ndim, c ? LAYOUT_C : LAYOUT_A);
  Val r = ty_op(ty, OP_VIEW, result, p.args, p.nargs);
  if (r.ins)
    r.ins->aux.view = p.view;
  return r;
}

/* --- tuples --- */

/* A bound of a slice of n items, as Python's slice.indices has it. */
static int64_t constant_bound(int64_t k, int64_t n, bool down) {
  k = k < 0 ? k + n : k;
  int64_t low = down ? -1 : 0, high = down ? n - 1 : n;
  return k < low ? low : k > high ? high : k;
}

static Val tuple_slice(Ty *ty, Val t, Val slice) {
  int64_t n = t.type->n, part[3] = {0, 0, 1}; /* start, stop, step */
  bool given[3];
  for (uint32_t k = 0; k < 3; k++) {
    Val v = ty_item(ty, slice, k);
    if (ty_is_bottom(v))
      return BOTTOM;
    given[k] = v.type->id != TY_NONE;
    if (given[k] && !constant_part(ty, v.konst, &part[k]))
      return ty_not_constant(ty, "a slice of a tuple", NULL);
  }
  if (!part[2])
    return TY_FAIL(ty, ERR_ARGUMENTS, "a slice", "the step must not be zero");
  bool down = part[2] < 0;
  /* which is as far, and counts safely */
  int64_t step = part[2] > n ? n : part[2] < -n ? -n : part[2];
  int64_t at = given[0] ? constant_bound(part[0], n, down) : down ? n - 1 : 0;
  int64_t stop = given[1] ? constant_bound(part[1], n, down) : down ? -1 : n;
  Val *items = CX_ARRAY(ty->cx, Val, (size_t)n + 1);
  uint32_t count = 0;
  for (; n && (down ? at > stop : at < stop); at += step)
    items[count++] = ty_item(ty, t, (uint32_t)at);
  return ty_make_sequence(ty, items, count, t.type->list);
}

/* The array whose shape or strides the tuple is, or NULL: what is wrong then is its number of
 * axes. */
static const Type *array_of_shape(Ty *ty, Val t) {
  if (!t.src || t.src->op != OP_GETATTR || !t.src->name ||
      (strcmp(t.src->name, "shape") && strcmp(t.src->name, "strides")))
    return NULL;
  Val of = ty_arg(ty, t.src, 0);
  return !ty_is_bottom(of) && of.type->id == TY_ARRAY && of.type->ndim == t.type->n ? of.type
                                                                                    : NULL;
}

static const char *pretty_tuple(Ty *ty, Val t) {
  const Type *array = array_of_shape(ty, t);
  return array ? arena_printf(&ty->cx->arena, "the %s of %s", t.src->name, ty_pretty(ty->cx, array))
               : TY_PRETTY(ty, t);
}

static const char *axes_advice(Ty *ty, Val t) {
  const Type *array = array_of_shape(ty, t);
  unsigned n = array ? array->ndim : 0;
  return array
             ? arena_printf(
                   &ty->cx->arena,
                   "the array has %u %s here: pass one with as many as the kernel uses, or use %u in the kernel",
                   n, n == 1 ? "axis" : "axes", n)
             : NULL;
}

static Val bad_tuple_index(Ty *ty, Val t, int64_t k) {
  return TY_FAIL_ADVISED(ty, axes_advice(ty, t), ERR_TUPLE_INDEX, (long long)k,
                         pretty_tuple(ty, t));
}

static Val bad_unpack_count(Ty *ty, Val seq, uint32_t targets) {
  bool tuple = seq.type->id == TY_TUPLE;
  return TY_FAIL_ADVISED(ty, tuple ? axes_advice(ty, seq) : NULL, ERR_UNPACK_COUNT,
                         tuple ? pretty_tuple(ty, seq) : TY_PRETTY(ty, seq), (int)targets);
}

static Val tuple_index(Ty *ty, Val t, Val index) {
  int64_t k, n = t.type->n;
  if (index.type->id == TY_SLICE)
    return tuple_slice(ty, t, index);
  if (!ty_is_integral(index.type))
    return TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, index));
  if (fz_get_int(index.konst, &k)) {
    if (k < -n || k >= n)
      return bad_tuple_index(ty, t, k);
    return ty_item(ty, t, (uint32_t)(k < 0 ? k + n : k));
  }
  for (uint32_t j = 1; j < t.type->n; j++)
    if (t.type->elems[j] != t.type->elems[0])
      return TY_FAIL(ty, ERR_TUPLE_MIXED, TY_PRETTY(ty, t));
  if (!n)
    return bad_tuple_index(ty, t, 0);
  if (!ty_stored(t.type->elems[0]))
    return ty_item(ty, t, 0);
  Val extent = ty_const_int(ty, n);
  Val i = ty_op2(ty, OP_WRAP_INDEX, ty_id(ty, TY_PYINT), ty_to_index(ty, index), extent);
  if (ty->cx->checked && ty->emit)
    ty_check(ty,
             ty_op2(ty, OP_AND, ty_id(ty, TY_PYBOOL),
                    ty_op2(ty, OP_GE, ty_id(ty, TY_PYBOOL), i, ty_const_int(ty, 0)),
                    less(ty, i, extent)),
             "IndexError", "tuple index out of range: {0}", &i, 1);
  return ty_op2(ty, OP_TUPLE_INDEX, t.type->elems[0], t, i);
}

/* --- bytes --- */

bool ty_is_bytes(Val v) { return v.type->id == TY_OBJECT && v.type->frozen->kind == FZ_BYTES; }

/* One constant array of each bytes object. */
static Val bytes_array(Ty *ty, const Frozen *bytes) {
  TyProgram *p = ty->p;
  for (uint32_t k = 0; k < p->frozen.len; k++)
    if (p->frozen.data[k]->kind == FZ_ARRAY && p->frozen.data[k]->array->data == bytes->text)
      return ty_const(ty, p->frozen.data[k]);
  FrozenArray *a = CX_NEW(ty->cx, FrozenArray);
  *a = (FrozenArray){
      .elem = TY_U8, .ndim = 1, .extents = {bytes->n}, .data = bytes->text, .nbytes = bytes->n};
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_ARRAY;
  f->array = a;
  VEC_PUSH(&ty->cx->arena, &p->frozen, (const Frozen *)f);
  return ty_const(ty, f);
}

/* Their items are Python ints. */
static Val bytes_item(Ty *ty, Val bytes, Val index) {
  if (!ty_is_integral(index.type))
    return TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, index));
  return ty_cast_id(ty, ty_getitem(ty, bytes_array(ty, bytes.type->frozen), index), TY_PYINT);
}

Val ty_bytes_tuple(Ty *ty, Val bytes) {
  const Frozen *f = bytes.type->frozen;
  if (f->n > TY_MAX_TUPLE)
    return TY_FAIL(ty, ERR_TOO_LARGE, "the bytes object", "it has more than 4096 elements");
  Val *items = CX_ARRAY(ty->cx, Val, f->n + 1);
  for (uint32_t k = 0; k < f->n; k++)
    items[k] = ty_const_int(ty, (unsigned char)f->text[k]);
  return ty_make_tuple(ty, items, f->n);
}

/* --- the operations --- */

const char *ty_outside_advice(Val obj) {
  bool func = obj.type->id == TY_FUNC && obj.type->frozen->kind == FZ_FUNC;
  return func
             ? "a kernel cannot launch kernels: call the function without [ ], each thread by itself, or launch both from the host"
         : ty_is_position(obj) ? "it has parts: cuda.threadIdx.x, cuda.blockDim.y"
         : obj.type->id == TY_OBJECT
             ? "what a kernel reads from outside is a number, a tuple or a NumPy array, not a list or dict: freeze a tuple, or pass an array"
             : NULL;
}

Val ty_getitem(Ty *ty, Val obj, Val index) {
  if (ty_is_bottom(obj) || ty_is_bottom(index))
    return BOTTOM;
  if (obj.type->id == TY_TUPLE)
    return tuple_index(ty, obj, index);
  if (obj.type->id == TY_STR)
    return TY_FAIL(ty, ERR_STRING_BUILD);
  if (obj.type->id == TY_RANGE)
    return ty_range_item(ty, obj, index);
  if (obj.type->id == TY_OBJECT && obj.type->frozen->kind == FZ_ENUM && index.type->id == TY_STR) {
    const char *name = index.type->frozen->text; /* Color["RED"] */
    const Frozen *member = fz_attr(obj.type->frozen, name);
    return member ? ty_const(ty, member) : ty_getattr(ty, obj, name);
  }
  if (ty_is_bytes(obj))
    return bytes_item(ty, obj, index);
  if (obj.type->id != TY_ARRAY)
    return TY_FAIL_ADVISED(ty, ty_outside_advice(obj), ERR_BAD_OPERAND, "an index [ ]",
                           TY_PRETTY(ty, obj));
  if (ty_has_fields(obj) && index.type->id == TY_STR)
    return ty_get_field(ty, obj, index.type->frozen->text);
  if (ty_has_fields(obj) && index.type->id == TY_TUPLE && index.type->n &&
      index.type->elems[0]->id == TY_STR)
    return TY_FAIL(ty, ERR_INDEX_TYPE, "a list of field names");
  if (ty_is_record(obj) && ty_is_integral(index.type))
    return ty_get_field_at(ty, obj, ty_field_number(ty, obj, index));
  Indices list;
  if (!list_indices(ty, obj, index, &list))
    return BOTTOM;
  if (!list.all_ints || list.axes != obj.type->ndim || ty_has_fields(obj))
    return view(ty, obj, &list);
  Val args[TY_MAX_NDIM + 1] = {obj};
  for (uint32_t k = 0; k < list.n; k++)
    args[k + 1] = in_range(ty, obj, list.items[k], k);
  return ty_op(ty, OP_LOAD, obj.type->elem, args, list.n + 1);
}

Val ty_setitem(Ty *ty, Val obj, Val index, Val value) {
  if (ty_is_bottom(obj) || ty_is_bottom(index) || ty_is_bottom(value))
    return BOTTOM;
  if (is_list(obj))
    return TY_FAIL(ty, ERR_LIST);
  if (obj.type->id != TY_ARRAY)
    return TY_FAIL_ADVISED(ty,
                           obj.type->id == TY_TUPLE ? "a tuple cannot change: use cuda.local.array"
                                                    : ty_outside_advice(obj),
                           ERR_BAD_OPERAND, "assignment to an element", TY_PRETTY(ty, obj));
  if (obj.type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, obj));
  if (ty_has_fields(obj) && index.type->id == TY_STR)
    return ty_set_field(ty, obj, index.type->frozen->text, value);
  if (ty_is_record(obj) && ty_is_integral(index.type))
    return ty_set_field_at(ty, obj, ty_field_number(ty, obj, index), value);
  Indices list;
  if (!list_indices(ty, obj, index, &list))
    return BOTTOM;
  if (!list.all_ints || list.axes != obj.type->ndim || ty_has_fields(obj))
    return ty_assign(ty, view(ty, obj, &list), value);
  if (!ty_can_store(value.type, obj.type->elem))
    return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, value), TY_PRETTY(ty, obj));
  Val args[TY_MAX_NDIM + 2] = {obj};
  for (uint32_t k = 0; k < list.n; k++)
    args[k + 1] = in_range(ty, obj, list.items[k], k);
  args[list.n + 1] = ty_cast(ty, value, obj.type->elem);
  return ty_op(ty, OP_STORE, ty_id(ty, TY_VOID), args, list.n + 2);
}

static Val not_unpackable(Ty *ty, Val v, uint32_t n) {
  return TY_FAIL_ADVISED(
      ty,
      v.type->id == TY_ARRAY
          ? "the number of an array's elements is not known: take x[0] and the slice x[1:]"
          : "tuples and arrays can be unpacked; cuda.grid(2) gives two numbers, cuda.grid(1) one",
      ERR_BAD_OPERAND, arena_printf(&ty->cx->arena, "unpacking into %u targets", n),
      TY_PRETTY(ty, v));
}

Val ty_item_count(Ty *ty, Val seq) {
  if (seq.type->id == TY_ENUMERATE)
    return ty_item_count(ty, ty_sequence(ty, ty_item(ty, seq, 0)));
  if (seq.type->id != TY_ZIP || !seq.type->n)
    return seq.type->id == TY_ZIP ? ty_const_int(ty, 0) : ty_len(ty, seq);
  Val least = ty_item_count(ty, ty_sequence(ty, ty_item(ty, seq, 0)));
  for (uint32_t k = 1; k < seq.type->n; k++) {
    Val count = ty_item_count(ty, ty_sequence(ty, ty_item(ty, seq, k)));
    least = ty_select(ty, ty_int_test(ty, OP_LT, count, least), count, least);
  }
  return least;
}

/* Item k of what has as many. */
static Val item_at(Ty *ty, Val seq, uint32_t k) {
  seq = ty_sequence(ty, seq);
  if (ty_is_bottom(seq))
    return BOTTOM;
  Val at = ty_const_int(ty, k);
  switch (seq.type->id) {
  case TY_RANGE: return ty_range_item(ty, seq, at);
  case TY_ENUMERATE: {
    Val pair[] = {ty_int_op(ty, OP_ADD, ty_item(ty, seq, 1), at),
                  item_at(ty, ty_item(ty, seq, 0), k)};
    return ty_make_tuple(ty, pair, 2);
  }
  case TY_ZIP: {
    Val *items = CX_ARRAY(ty->cx, Val, seq.type->n + 1);
    for (uint32_t j = 0; j < seq.type->n; j++)
      items[j] = item_at(ty, ty_item(ty, seq, j), k);
    return ty_make_tuple(ty, items, seq.type->n);
  }
  default: return ty_getitem(ty, seq, at);
  }
}

/* Is it what a loop runs over, whose number of items may be known at run time only? */
static bool is_counted(Val seq) {
  TypeId id = seq.type->id;
  return id == TY_RANGE || id == TY_ENUMERATE || id == TY_ZIP ||
         (id == TY_ARRAY && seq.type->ndim);
}

/* Target k of n. */
static Val counted_part(Ty *ty, Val seq, uint32_t k, uint32_t n) {
  Val count = ty_item_count(ty, seq);
  int64_t known;
  if (ty_is_bottom(count))
    return BOTTOM;
  if (fz_get_int(count.konst, &known) && known != n)
    return bad_unpack_count(ty, seq, n);
  if (ty->cx->checked && k == 0)
    ty_check(ty, ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), count, ty_const_int(ty, n)), "ValueError",
             arena_printf(&ty->cx->arena, "cannot unpack {0} elements into %u targets", n), &count,
             1);
  return item_at(ty, seq, k);
}

Val ty_unpack(Ty *ty, Val seq, uint32_t k, uint32_t n) {
  seq = ty_sequence(ty, seq);
  if (ty_is_bottom(seq))
    return BOTTOM;
  if (ty_is_generator(seq))
    return ty_consume_one(ty, seq, ty_unpack(ty, ty_item(ty, seq, 1), k, n));
  if (is_counted(seq))
    return counted_part(ty, seq, k, n);
  if (ty_is_record(seq) && seq.type->elem->nfields == n)
    return ty_get_field_at(ty, seq, k);
  if (ty_is_record(seq))
    return bad_unpack_count(ty, seq, n);
  if (seq.type->id != TY_TUPLE)
    return not_unpackable(ty, seq, n);
  if (seq.type->n != n)
    return bad_unpack_count(ty, seq, n);
  return ty_item(ty, seq, k);
}

Val ty_unpack_ex(Ty *ty, Val seq, uint32_t k, uint32_t before, uint32_t after) {
  seq = ty_sequence(ty, seq);
  if (ty_is_bottom(seq))
    return BOTTOM;
  if (seq.type->id != TY_TUPLE)
    return not_unpackable(ty, seq, before + after + 1);
  uint32_t n = seq.type->n;
  if (n < before + after)
    return bad_unpack_count(ty, seq, before + after);
  if (k < before)
    return ty_item(ty, seq, k);
  if (k > before)
    return ty_item(ty, seq, n - after + (k - before - 1));
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t j = before; j < n - after; j++)
    items[j - before] = ty_item(ty, seq, j);
  return ty_make_sequence(ty, items, n - after - before, true);
}

static int64_t characters(const Frozen *string) {
  int64_t n = 0;
  for (uint32_t k = 0; k < string->n; k++) /* UTF-8: 10xxxxxx goes on with a character */
    n += ((unsigned char)string->text[k] & 0xC0) != 0x80;
  return n;
}

Val ty_len(Ty *ty, Val v) {
  if (ty_is_bottom(v))
    return BOTTOM;
  switch (v.type->id) {
  case TY_TUPLE: return ty_const_int(ty, v.type->n);
  case TY_OBJECT:
    if (v.type->frozen->kind == FZ_ENUM || v.type->frozen->kind == FZ_BYTES)
      return ty_const_int(ty, v.type->frozen->n);
    break;
  case TY_STR: return v.konst ? ty_const_int(ty, characters(v.konst)) : BOTTOM;
  case TY_ARRAY:
    if (v.type->ndim)
      return ty_extent(ty, v, 0);
    if (ty_is_record(v))
      return ty_const_int(ty, v.type->elem->nfields);
    break;
  case TY_RANGE: return ty_range_len(ty, v);
  default: break;
  }
  if (ty_is_fstring(v))
    return TY_FAIL(ty, ERR_STRING_BUILD);
  return TY_FAIL_ADVISED(ty, ty_outside_advice(v), ERR_BAD_OPERAND, "len()", TY_PRETTY(ty, v));
}
