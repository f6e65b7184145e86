/* Cast: the common type of two values, and the conversion to it. */
#include <string.h>

#include "typeinfer/dates.h"

/* --- joins --- */

static const Type *join_arrays(Ty *ty, const Type *a, const Type *b) {
  if (a->elem != b->elem || a->ndim != b->ndim || a->space != b->space)
    return NULL;
  Layout layout = a->layout == b->layout ? (Layout)a->layout : LAYOUT_A;
  unsigned align = ty_array_align(a) < ty_array_align(b) ? ty_array_align(a) : ty_array_align(b);
  return ty_array_aligned(ty->cx,
                          ty_array(ty->cx, a->elem, a->ndim, layout, (Space)a->space,
                                   a->wide || b->wide, a->readonly || b->readonly),
                          align);
}

static const Type *join_elems(Ty *ty, const Type *a, const Type *b) {
  if (a->n != b->n || a->frozen != b->frozen)
    return NULL;
  const Type **elems = CX_ARRAY(ty->cx, const Type *, a->n + 1);
  for (uint32_t k = 0; k < a->n; k++)
    if (!(elems[k] = ty_join(ty, a->elems[k], b->elems[k])))
      return NULL;
  if (a->id == TY_TUPLE)
    return ty_same_names(a, b) ? ty_tuple_like(ty->cx, elems, a) : ty_tuple(ty->cx, elems, a->n);
  return a->frozen ? ty_frozen(ty->cx, a->id, a->frozen, elems, a->n)
                   : ty_list_like(ty->cx, a->id, elems, a->n);
}

const Type *ty_join(Ty *ty, const Type *a, const Type *b) {
  if (a == b)
    return a;
  if (ty_is_number(a) && ty_is_number(b))
    return ty_id(ty, ty_promote(TYPING_NUMPY, a->id, b->id));
  if (ty_is_date(a) && a->id == b->id)
    return ty_date_promote(ty->cx, a->id, a, b);
  if ((a->id == TY_TIMEDELTA && ty_is_integral(b)) || (b->id == TY_TIMEDELTA && ty_is_integral(a)))
    return ty_is_date(a) ? a : b; /* the integer counts its units */
  if (a->id != b->id || ty_is_scalar(a) || a->id == TY_NONE)
    return NULL;
  if (a->id == TY_ARRAY)
    return join_arrays(ty, a, b);
  if (a->id == TY_TUPLE || a->id == TY_ENUMERATE || a->id == TY_ZIP || a->id == TY_FUNC ||
      a->id == TY_SLICE)
    return join_elems(ty, a, b);
  return NULL;
}

/* --- numbers --- */

/* One storage, another name. */
static bool is_rename(const Type *from, const Type *to) {
  return ty_strengthen(from->id) == ty_strengthen(to->id);
}

static Val cast_number(Ty *ty, Val v, const Type *to) {
  const Frozen *k = v.konst ? ty_fold_cast(ty->cx, v.konst, to->id) : NULL;
  if (k)
    return (Val){.type = to, .konst = k, .src = v.src};
  if (is_rename(v.type, to))
    return ty_op_i(ty, OP_CAST, to, 1, &v, 1);
  if (ty_kind(to) == KIND_BOOL)
    return ty_cast(ty, ty_op1(ty, OP_TRUTH, ty_id(ty, TY_PYBOOL), v), to);
  return ty_op1(ty, OP_CAST, to, v);
}

static Val cast_array(Ty *ty, Val v, const Type *to) {
  IrView *view = CX_NEW(ty->cx, IrView);
  view->n = to->ndim;
  memset(view->kind, VIEW_FULL, to->ndim);
  Val r = ty_op1(ty, OP_VIEW, to, v);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

static Val cast_packed(Ty *ty, Val v, const Type *to) {
  Val items[8], *at = to->n <= 8 ? items : CX_ARRAY(ty->cx, Val, to->n);
  for (uint32_t k = 0; k < to->n; k++)
    at[k] = ty_cast(ty, ty_item(ty, v, k), to->elems[k]);
  Val none = {0};
  Val r = ty_pack(ty, to, to->n ? at : &none, to->n);
  r.src = v.src;
  return r;
}

Val ty_cast(Ty *ty, Val v, const Type *to) {
  if (is_bottom(v) || v.type == to)
    return v;
  if (ty_is_number(v.type) && ty_is_number(to)) {
    if (ty_is_complex(to))
      return ty_to_complex(ty, v, to);
    if (ty_is_complex(v.type))
      return TY_FAIL(ty, ERR_BAD_OPERAND, "a real conversion", TY_PRETTY(ty, v));
    return cast_number(ty, v, to);
  }
  if (ty_is_date(to) && (v.type->id == to->id || ty_is_integral(v.type)))
    return ty_date_cast(ty, v, to);
  if (v.type->id == to->id && to->id == TY_ARRAY)
    return cast_array(ty, v, to);
  if (v.type->id == to->id && v.type->n == to->n && !ty_is_scalar(to))
    return cast_packed(ty, v, to);
  return TY_FAIL(ty, ERR_NO_COMMON_TYPE, "(value)", TY_PRETTY(ty, v), ty_pretty(ty->cx, to));
}

Val ty_cast_id(Ty *ty, Val v, TypeId to) { return ty_cast(ty, v, ty_id(ty, to)); }

Val ty_operand(Ty *ty, Val v, TypeId to) {
  if (is_bottom(v) || v.type->id == to)
    return v;
  bool literal = v.konst && v.konst->kind == FZ_INT && !ty_scalar_info[to].weak &&
                 ty_is_weak(v.type);
  if (literal && ty_is_integral(ty_id(ty, to)) && !ty_int_fits(v.konst, to)) {
    if (ty->emit)
      return TY_FAIL(ty, ERR_LITERAL_RANGE, fz_text(ty->cx, v.konst), ty_scalar_info[to].name);
    v.konst =
        NULL; /* a loop's first value, perhaps: its type is known, and what depends on it can go on */
  }
  return ty_cast_id(ty, v, to);
}

/* --- truth and indices --- */

Val ty_truth(Ty *ty, Val v) {
  bool known;
  if (is_bottom(v))
    return BOTTOM;
  if (fz_truth(v.konst, &known))
    return ty_const_bool(ty, known);
  switch (v.type->id) {
  case TY_PYBOOL: return v;
  case TY_NONE: return ty_const_bool(ty, false);
  case TY_TUPLE: return ty_const_bool(ty, v.type->n != 0);
  case TY_ENUM:
  case TY_FUNC:
  case TY_MODULE:
  case TY_DTYPE: return ty_const_bool(ty, true);
  case TY_RANGE: return ty_iter_more(ty, v, ty_item(ty, v, 0));
  default: break;
  }
  if (ty_has_fields(v))
    return TY_FAIL(ty, ERR_RECORD_OPERAND, "a truth value", TY_PRETTY(ty, v));
  if (v.type->id == TY_ARRAY)
    return TY_FAIL(ty, ERR_WHOLE_ARRAY, "a truth value", TY_PRETTY(ty, v));
  if (ty_is_date(v.type))
    return ty_date_truth(ty, v);
  if (!ty_is_number(v.type))
    return TY_FAIL(ty, ERR_BAD_OPERAND, "a truth value", TY_PRETTY(ty, v));
  if (ty_is_complex(v.type))
    return ty_complex_truth(ty, v);
  return ty_op1(ty, OP_TRUTH, ty_id(ty, TY_PYBOOL), v);
}

Val ty_to_index(Ty *ty, Val v) {
  if (is_bottom(v))
    return BOTTOM;
  bool ok = ty_is_integral(v.type) && v.type->id != TY_BOOL;
  return ok ? ty_cast_id(ty, v, TY_PYINT) : TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, v));
}
