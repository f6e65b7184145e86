/* Cast: the common type of two values, and the conversion to it. */
#include <string.h>

#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

/* --- what may be None: see resolve/optional.c --- */

static bool can_be_optional(const Type *t) {
  bool can = ty_is_value(t) || t->id == TY_ENUM || t->id == TY_TUPLE;
  for (uint32_t k = 0; t->id == TY_TUPLE && can && k < t->n; k++)
    can = t->elems[k]->id == TY_NONE || t->elems[k]->id == TY_OPTIONAL ||
          can_be_optional(t->elems[k]);
  return can;
}

static const Type *optional(Ty *ty, const Type *t) {
  const Type *parts[] = {ty_id(ty, TY_PYBOOL), t};
  return ty_list_like(ty->cx, TY_OPTIONAL, parts, 2);
}

/* NULL: of None. */
static const Type *without_none(const Type *t) {
  return t->id == TY_NONE ? NULL : t->id == TY_OPTIONAL ? t->elems[1] : t;
}

static bool has_none(const Type *t) { return t->id == TY_NONE || t->id == TY_OPTIONAL; }

static const Type *join_none(Ty *ty, const Type *const *types, uint32_t n) {
  const Type **rest = CX_ARRAY(ty->cx, const Type *, n + 1);
  uint32_t some = 0;
  for (uint32_t k = 0; k < n; k++)
    if (without_none(types[k]))
      rest[some++] = without_none(types[k]);
  const Type *t = some ? ty_join_all(ty, rest, some) : NULL;
  if (!some)
    return types[0];
  return t && can_be_optional(t) ? optional(ty, t) : NULL;
}

const Type *ty_map_optional(Ty *ty, const Type *t, const Type *(*map)(Ty *, const Type *)) {
  return optional(ty, map(ty, t->elems[1]));
}

/* --- joins --- */

static const Type *join_arrays(Ty *ty, const Type *a, const Type *b) {
  if (a->elem != b->elem || a->ndim != b->ndim || a->space != b->space)
    return NULL;
  Layout layout = a->layout == b->layout ? (Layout)a->layout : LAYOUT_A;
  unsigned align = ty_array_align(a) < ty_array_align(b) ? ty_array_align(a) : ty_array_align(b);
  const Type *t = ty_array(ty->cx, a->elem, a->ndim, layout, (Space)a->space, a->wide || b->wide,
                           a->readonly || b->readonly);
  return ty_array_flat_like(ty->cx, ty_array_aligned(ty->cx, t, align), a->flat || b->flat);
}

static const Type *join_elems(Ty *ty, const Type *a, const Type *b) {
  if (a->n != b->n || a->frozen != b->frozen || a->list != b->list)
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
  if (has_none(a) || has_none(b))
    return join_none(ty, (const Type *[]){a, b}, 2);
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
  if (a->id == TY_TUPLE || a->id == TY_ENUMERATE || a->id == TY_ZIP || a->id == TY_REVERSED ||
      a->id == TY_FUNC || a->id == TY_SLICE)
    return join_elems(ty, a, b);
  return NULL;
}

/* Types of tuples of one length: element by element. */
static const Type *join_columns(Ty *ty, const Type *const *types, uint32_t n) {
  const Type *first = types[0], **column = CX_ARRAY(ty->cx, const Type *, n),
             **elems = CX_ARRAY(ty->cx, const Type *, first->n + 1);
  bool named = true;
  for (uint32_t k = 1; k < n; k++) {
    named &= ty_same_names(first, types[k]);
    if (first->list != types[k]->list)
      return NULL;
  }
  for (uint32_t j = 0; j < first->n; j++) {
    for (uint32_t k = 0; k < n; k++)
      column[k] = types[k]->elems[j];
    if (!(elems[j] = ty_join_all(ty, column, n)))
      return NULL;
  }
  return named ? ty_tuple_like(ty->cx, elems, first) : ty_tuple(ty->cx, elems, first->n);
}

const Type *ty_join_all(Ty *ty, const Type *const *types, uint32_t n) {
  uint32_t ids = 0;
  bool numbers = true, tuples = true;
  CX_ASSERT(ty->cx, n > 0);
  for (uint32_t k = 0; k < n; k++) {
    if (n > 1 && has_none(types[k]))
      return join_none(ty, types, n);
    numbers &= ty_is_number(types[k]);
    tuples &= types[k]->id == TY_TUPLE && types[k]->n == types[0]->n;
    ids |= numbers ? (uint32_t)1 << types[k]->id : 0;
  }
  if (n > 2 && numbers)
    return ty_id(ty, ty_promote_all(TYPING_NUMPY, ids));
  if (n > 2 && tuples)
    return join_columns(ty, types, n);
  /* integers beside a span count its units, each for itself: int8 and uint64 do not meet */
  uint32_t first = 0;
  while (first + 1 < n && !ty_is_date(types[first]))
    first++;
  const Type *t = types[ty_is_date(types[first]) ? first : 0];
  for (uint32_t k = 0; k < n && t; k++)
    t = ty_join(ty, t, types[k]);
  return t;
}

/* --- types that meet --- */

static void meet_type(Ty *ty, TyMeeting *m, const Type *t) {
  uint32_t k = m->n;
  while (k && m->types[k - 1]->number > t->number)
    k--;
  if (k && m->types[k - 1] == t)
    return;
  if (m->n == TY_MEET_MAX) { /* tuples: there are not so many numbers */
    const Type *all = ty_meeting_type(ty, m);
    if (all) {
      *m = (TyMeeting){.n = 1, .types = {all}};
      meet_type(ty, m, t);
    }
    return;
  }
  memmove(m->types + k + 1, m->types + k, (m->n - k) * sizeof *m->types);
  m->types[k] = t;
  m->n++;
}

void ty_meet_value(Ty *ty, TyMeeting *m, const TyInfo *info) {
  if (!info->met)
    meet_type(ty, m, info->v.type);
  else
    for (uint32_t k = 0; k < info->met->n; k++)
      meet_type(ty, m, info->met->types[k]);
}

const Type *ty_meeting_type(Ty *ty, const TyMeeting *m) {
  return m->n ? ty_join_all(ty, m->types, m->n) : NULL;
}

static bool is_met(const TyMet *met, const Type *const *types, uint32_t n) {
  return met && met->n == n && !memcmp(met->types, types, n * sizeof(const Type *));
}

bool ty_same_met(const TyMet *a, const TyMet *b) {
  return a == b || (a && b && is_met(a, b->types, b->n));
}

const TyMet *ty_met(Ty *ty, const TyMeeting *m, const TyMet *last) {
  if (m->n < 2)
    return NULL;
  if (is_met(last, m->types, m->n))
    return last;
  TyMet *met = arena_alloc(&ty->cx->arena, sizeof *met + m->n * sizeof(const Type *));
  met->n = m->n;
  memcpy(met->types, m->types, m->n * sizeof(const Type *));
  return met;
}

/* Strong types promote to types that hold them (an int64 or uint64 becomes a float64 at once). A
 * weak number's may be narrower, and a count without a unit takes that of the type it becomes. */
static bool loses(const Type *from, const Type *by, const Type *to) {
  if (from == by || by == to)
    return false;
  if (by->id == TY_OPTIONAL || to->id == TY_OPTIONAL) {
    from = without_none(from), by = without_none(by), to = without_none(to);
    return from && by && to && loses(from, by, to);
  }
  if (from->id == TY_TUPLE && by->id == TY_TUPLE && to->id == TY_TUPLE) {
    for (uint32_t k = 0; k < from->n; k++)
      if (loses(from->elems[k], by->elems[k], to->elems[k]))
        return true;
    return false;
  }
  /* counts, of which the numbers' common type may be a float */
  if (ty_is_date(to) && ty_is_number(by))
    return true;
  bool months = ty_is_date(from) && (from->unit == DATE_Y || from->unit == DATE_M);
  if (ty_is_date(by) && ty_is_date(to)) /* months have no whole weeks */
    return !ty_is_date(from) || from->unit == DATE_GENERIC || (months && by->unit > DATE_M);
  if (!ty_is_number(from) || !ty_is_number(by) || !ty_is_number(to) || !ty_is_weak(from))
    return false;
  TypeId strong = ty_strengthen(by->id), end = ty_strengthen(to->id);
  bool as_double = (strong == TY_F64 || strong == TY_C128) && (end == TY_F64 || end == TY_C128);
  return from->id != TY_PYBOOL && !as_double && strong != ty_strengthen(from->id);
}

bool ty_loses(const TyMet *met, const Type *by, const Type *to) {
  for (uint32_t k = 0; met && k < met->n; k++)
    if (loses(met->types[k], by, to))
      return true;
  return false;
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

/* A tuple that is known stays known: the shape of an array may be one. */
static const Frozen *packed_konst(Ty *ty, Val v, const Type *to, const Val *items) {
  if (!v.konst || v.konst->kind != FZ_TUPLE || to->title)
    return NULL;
  const Frozen **konst = CX_ARRAY(ty->cx, const Frozen *, to->n + 1);
  for (uint32_t k = 0; k < to->n; k++)
    if (!(konst[k] = items[k].konst))
      return NULL;
  return fz_tuple(ty->cx, konst, to->n);
}

static Val cast_packed(Ty *ty, Val v, const Type *to) {
  const Type *const *elems;
  uint32_t n = ty_parts(ty, to, &elems);
  Val items[8], *at = n <= 8 ? items : CX_ARRAY(ty->cx, Val, n);
  for (uint32_t k = 0; k < n; k++)
    at[k] = ty_cast(ty, ty_item(ty, v, k), elems[k]);
  Val none = {0};
  Val r = ty_pack(ty, to, n ? at : &none, n);
  if (!ty_is_bottom(r))
    r.konst = packed_konst(ty, v, to, at);
  r.src = v.src;
  return r;
}

static Val zeros(Ty *ty, const Type *t) {
  if (t->id == TY_NONE)
    return ty_none(ty);
  if (ty_is_complex(t))
    return ty_complex(ty, t, ty_scalar_const(ty, ty_part_id(t->id), 0),
                      ty_scalar_const(ty, ty_part_id(t->id), 0));
  if (ty_is_number(t))
    return ty_scalar_const(ty, t->id, 0);
  if (ty_is_date(t) || t->id == TY_ENUM)
    return (Val){.type = t, .konst = fz_int(ty->cx, 0)};
  const Type *const *elems;
  uint32_t n = ty_parts(ty, t, &elems);
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = zeros(ty, elems[k]);
  return ty_pack(ty, t, items, n);
}

static Val to_optional(Ty *ty, Val v, const Type *to) {
  Val parts[] = {ty_const_bool(ty, v.type->id != TY_NONE), BOTTOM};
  parts[1] = v.type->id == TY_NONE ? zeros(ty, to->elems[1]) : ty_cast(ty, v, to->elems[1]);
  return ty_pack(ty, to, parts, 2);
}

Val ty_cast(Ty *ty, Val v, const Type *to) {
  if (ty_is_bottom(v) || v.type == to)
    return v;
  if (ty_is_number(v.type) && ty_is_number(to)) {
    if (ty_is_complex(to))
      return ty_to_complex(ty, v, to);
    if (ty_is_complex(v.type))
      return TY_FAIL(ty, ERR_BAD_OPERAND, "a real conversion", TY_PRETTY(ty, v));
    return cast_number(ty, v, to);
  }
  if (to->id == TY_OPTIONAL && v.type->id != TY_OPTIONAL)
    return to_optional(ty, v, to);
  if (ty_is_date(to) && (v.type->id == to->id || ty_is_integral(v.type)))
    return ty_date_cast(ty, v, to);
  if (v.type->id == to->id && to->id == TY_ARRAY)
    return cast_array(ty, v, to);
  if (v.type->id == to->id && v.type->n == to->n && !ty_is_scalar(to))
    return cast_packed(ty, v, to);
  return TY_FAIL(ty, ERR_NO_COMMON_TYPE, "(value)", TY_PRETTY(ty, v), ty_pretty(ty->cx, to));
}

Val ty_cast_id(Ty *ty, Val v, TypeId to) { return ty_cast(ty, v, ty_id(ty, to)); }

/* A hexadecimal constant is often meant for its bits: an int32 has those of 0x9E3779B9 as a
 * negative number. */
static void advise_bits(Ty *ty, const Frozen *f, TypeId to) {
  const ScalarInfo *info = &ty_scalar_info[to];
  bool negative = f->i < 0 && !f->wide;
  if (info->kind != KIND_INT || f->text || negative ||
      (info->bits < 64 && (uint64_t)f->i >> info->bits))
    return;
  unsigned shift = 64 - info->bits;
  advise(ty->cx, arena_printf(&ty->cx->arena,
                              "where its bits are meant, write np.%s(%lld), or compute with "
                              "np.u%s(x), which holds it; else use a wider type",
                              info->name, (long long)((int64_t)((uint64_t)f->i << shift) >> shift),
                              info->name));
}

Val ty_operand(Ty *ty, Val v, TypeId to) {
  if (ty_is_bottom(v) || v.type->id == to)
    return v;
  bool literal = v.konst && v.konst->kind == FZ_INT && !ty_scalar_info[to].weak &&
                 ty_is_weak(v.type);
  if (literal && ty_is_integral(ty_id(ty, to)) && !ty_int_fits(v.konst, to)) {
    if (ty->emit) {
      advise_bits(ty, v.konst, to);
      return TY_FAIL(ty, ERR_LITERAL_RANGE, fz_text(ty->cx, v.konst), ty_scalar_info[to].name);
    }
    /* perhaps a loop's first value: its type is known, and what depends on it can go on */
    v.konst = NULL;
  }
  return ty_cast_id(ty, v, to);
}

/* --- indices --- */

Val ty_to_index(Ty *ty, Val v) {
  if (ty_is_bottom(v))
    return BOTTOM;
  if (ty_is_integral(v.type) && v.type->id != TY_BOOL)
    return ty_cast_id(ty, v, TY_PYINT);
  if (!ty_policy(ty->cx)->weak) /* int64 or uint64, and the argument that says which may be known */
    ty_want_values(ty);
  return TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, v));
}
