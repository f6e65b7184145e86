/* Array methods: views of an array with other axes or other elements, and what NumPy has for single
 * elements and all of them. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val view_of(Ty *ty, Val array, const Type *type, IrView *how) {
  Val r = ty_op1(ty, OP_VIEW, type, array);
  if (r.ins)
    r.ins->aux.view = how;
  return r;
}

/* --- one axis --- */

Val ty_array_ravel(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  Val all = ty_const_int(ty, -1);
  return self.type->ndim == 1 ? self : ty_reshape(ty, self, &all, 1);
}

/* The array as one of one axis. */
static Val flattened(Ty *ty, Val array) {
  if (array.type->ndim == 1)
    return array;
  if (array.type->layout != LAYOUT_C)
    return TY_FAIL(ty, ERR_LAYOUT, ".flat", TY_PRETTY(ty, array));
  return ty_array_ravel(ty, array, NULL, 0);
}

/* An iterator in NumPy, whose items are the elements in C order. */
Val ty_array_flat(Ty *ty, Val array) {
  Val r = flattened(ty, array);
  if (!ty_is_bottom(r))
    r.type = ty_array_flat_like(ty->cx, r.type, true);
  return r;
}

Val ty_array_set_flat(Ty *ty, Val array, Val value) {
  return array.type->readonly ? TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, array))
                              : ty_assign(ty, flattened(ty, array), value);
}

/* --- axes in another order --- */

static Val permuted(Ty *ty, Val a, const uint8_t *axes) {
  const Type *t = a.type;
  bool same = true, reversed = true;
  IrView *view = CX_NEW(ty->cx, IrView);
  view->n = t->ndim;
  for (unsigned k = 0; k < t->ndim; k++) {
    view->kind[k] = VIEW_PERMUTE;
    view->axes[k] = axes[k];
    same &= axes[k] == k;
    reversed &= axes[k] == t->ndim - 1 - k;
  }
  if (same)
    return a;
  Layout layout = !reversed               ? LAYOUT_A
                  : t->layout == LAYOUT_C ? LAYOUT_F
                  : t->layout == LAYOUT_F ? LAYOUT_C
                                          : LAYOUT_A;
  return view_of(ty, a, ty_array_in(ty->cx, t, t->elem, t->ndim, layout), view);
}

/* Axis number k, which may count from the end. */
static bool read_axis(Ty *ty, const char *method, unsigned ndim, Val v, uint8_t *out) {
  int64_t k;
  if (ty_is_bottom(v))
    return false;
  if (!fz_get_int(v.konst, &k)) {
    (void)ty_not_constant(ty, arena_printf(&ty->cx->arena, "an axis of %s()", method), NULL);
    return false;
  }
  if (k < -(int64_t)ndim || k >= ndim) {
    (void)TY_FAIL(
        ty, ERR_ARGUMENTS, method,
        arena_printf(&ty->cx->arena, "axis %lld of an array of %u axes", (long long)k, ndim));
    return false;
  }
  *out = (uint8_t)(k < 0 ? k + ndim : k);
  return true;
}

Val ty_array_transpose(Ty *ty, Val self, const Val *args, uint32_t n) {
  unsigned ndim = self.type->ndim, seen = 0;
  uint8_t axes[TY_MAX_NDIM];
  bool tuple = n == 1 && args[0].type->id == TY_TUPLE;
  bool none = n == 0 || (n == 1 && args[0].type->id == TY_NONE);
  uint32_t given = tuple ? args[0].type->n : n;
  if (!none && given != ndim)
    return TY_FAIL(ty, ERR_ARGUMENTS, "transpose", "it takes the axes, each once, or nothing");
  for (unsigned k = 0; k < ndim; k++) {
    axes[k] = (uint8_t)(ndim - 1 - k);
    if (!none &&
        !read_axis(ty, "transpose", ndim, tuple ? ty_item(ty, args[0], k) : args[k], &axes[k]))
      return BOTTOM;
    seen |= 1u << axes[k];
  }
  if (seen != (1u << ndim) - 1)
    return TY_FAIL(ty, ERR_ARGUMENTS, "transpose", "it takes the axes, each once, or nothing");
  return permuted(ty, self, axes);
}

Val ty_array_swapaxes(Ty *ty, Val self, const Val *args, uint32_t n) {
  uint8_t axes[TY_MAX_NDIM], a, b;
  (void)n;
  if (!read_axis(ty, "swapaxes", self.type->ndim, args[0], &a) ||
      !read_axis(ty, "swapaxes", self.type->ndim, args[1], &b))
    return BOTTOM;
  for (unsigned k = 0; k < self.type->ndim; k++)
    axes[k] = (uint8_t)k;
  axes[a] = b;
  axes[b] = a;
  return permuted(ty, self, axes);
}

/* --- other elements --- */

/* The array's type with other elements in the same memory, which starts where the old elements
 * may. */
static const Type *viewed_type(Ty *ty, const Type *t, const Type *elem) {
  bool smaller = ty_size(elem) < ty_size(t->elem); /* and more of them */
  bool wide = t->wide || (smaller && (t->space == SPACE_GLOBAL || t->space == SPACE_CONST));
  const Type *r = ty_array(ty->cx, elem, t->ndim, (Layout)t->layout, (Space)t->space, wide,
                           t->readonly);
  return ty_array_aligned(ty->cx, r, ty_array_align(t));
}

/* Elements of another size: the last axis, whose elements lie side by side, has more or fewer of
 * them. */
static Val resized_view(Ty *ty, Val a, const Type *to) {
  unsigned last = a.type->ndim - 1u;
  int64_t from = (int64_t)ty_size(a.type->elem), size = (int64_t)ty_size(to->elem);
  Val args[TY_MAX_NDIM + 1] = {a};
  for (unsigned k = 0; k < last; k++)
    args[1 + k] = ty_extent(ty, a, k);
  Val bytes = ty_int_op(ty, OP_MUL, ty_extent(ty, a, last), ty_const_int(ty, from));
  ty_flag(bytes, INS_NONNEGATIVE | INS_NO_WRAP);
  args[1 + last] = ty_int_op(ty, OP_FLOORDIV, bytes, ty_const_int(ty, size));
  if (ty_is_bottom(args[1 + last]))
    return BOTTOM;
  ty_flag(args[1 + last], INS_NONNEGATIVE);
  Val rest = ty_int_op(ty, OP_MOD, bytes, ty_const_int(ty, size));
  if (ty->cx->checked)
    ty_check(ty, ty_int_test(ty, OP_EQ, rest, ty_const_int(ty, 0)), "ValueError",
             arena_printf(&ty->cx->arena,
                          "the last axis has {0} bytes, which are no whole elements of %d",
                          (int)size),
             &bytes, 1);
  IrView *view = CX_NEW(ty->cx, IrView);
  view->n = 1;
  view->kind[0] = VIEW_RESHAPE;
  Val r = ty_op(ty, OP_VIEW, to, args, last + 2);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

Val ty_array_view(Ty *ty, Val self, const Val *args, uint32_t n) {
  const Type *t = self.type;
  (void)n;
  bool number = args[0].type->id == TY_DTYPE && args[0].type->frozen->type < TY_SCALARS;
  if (!number || t->elem->id == TY_RECORD)
    return TY_FAIL(ty, ERR_DTYPE, "view", number ? TY_PRETTY(ty, self) : TY_PRETTY(ty, args[0]));
  const Type *elem = ty_id(ty, ty_strengthen(args[0].type->frozen->type));
  if (elem == t->elem)
    return self;
  const Type *to = viewed_type(ty, t, elem);
  if (ty_size(elem) == ty_size(t->elem)) {
    IrView *view = CX_NEW(ty->cx, IrView);
    view->n = 1;
    view->kind[0] = VIEW_FIELD;
    return view_of(ty, self, to, view);
  }
  if (!t->ndim || t->layout != LAYOUT_C)
    return TY_FAIL(ty, ERR_LAYOUT, "view() as elements of another size", TY_PRETTY(ty, self));
  return resized_view(ty, self, to);
}

/* --- elements --- */

Val ty_weak_number(Ty *ty, Val v) {
  TypeKind kind = ty_kind(v.type);
  return ty_cast_id(ty, v,
                    kind == KIND_BOOL        ? TY_PYBOOL
                    : kind == KIND_COMPLEX   ? TY_PYCOMPLEX
                    : ty_is_integral(v.type) ? TY_PYINT
                                             : TY_PYFLOAT);
}

Val ty_array_item(Ty *ty, Val self, const Val *args, uint32_t n) {
  bool tuple = n == 1 && args[0].type->id == TY_TUPLE;
  Val of = n == 1 && !tuple && self.type->ndim > 1 ? flattened(ty, self) : self;
  uint32_t given = tuple ? args[0].type->n : n;
  if (ty_is_bottom(of))
    return BOTTOM;
  if (given != of.type->ndim)
    return TY_FAIL(ty, ERR_ARGUMENTS, "item", "it takes an index: one number, or one an axis");
  Val v = ty_getitem(ty, of, tuple || n == 1 ? args[0] : ty_make_tuple(ty, args, n));
  return ty_is_bottom(v) || !ty_is_number(v.type) ? v : ty_weak_number(ty, v);
}

/* All elements, by the thread that executes it. */
Val ty_array_fill(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)n;
  if (self.type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, self));
  if (!ty_is_value(args[0].type))
    return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, args[0]), TY_PRETTY(ty, self));
  Val r = ty_assign(ty, self, args[0]);
  return ty_is_bottom(r) ? r : ty_none(ty);
}
