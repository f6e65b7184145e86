/* Records: fields of NumPy's structured dtypes.
 *
 * A record is a reference to its memory, as np.void is: an array of records without axes. A field
 * is a view of it (VIEW_FIELD); the field of one record that is a number is loaded and stored
 * through that view, so there are no operations for records but the view. Assignment goes field by
 * field, by position, as NumPy's does. */
#include <string.h>

#include "ir/base/suggest.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

/* --- fields --- */

/* Bytes that kernels cannot read are seen as uint8, to be copied. */
static Val view_of(Ty *ty, Val a, const RecordField *f) {
  const Type *t = a.type, *elem = f->type->id == TY_VOID ? ty_id(ty, TY_U8) : f->type;
  unsigned ndim = t->ndim + f->ndim, align = ty_array_align(t), at = f->offset & -f->offset;
  if (ndim > TY_MAX_NDIM)
    return TY_FAIL(ty, ERR_TOO_LARGE, arena_printf(&ty->cx->arena, "the field '%s'", f->name),
                   "with the array's it has more than 16 axes");
  const Type *type = ty_array(ty->cx, elem, ndim, t->ndim ? LAYOUT_A : LAYOUT_C, (Space)t->space,
                              t->wide, t->readonly);
  Val r = ty_op1(ty, OP_VIEW, ty_array_aligned(ty->cx, type, at && at < align ? at : align), a);
  if (ty_is_bottom(r))
    return r;
  if (r.ins) {
    IrView *view = CX_NEW(ty->cx, IrView);
    *view = (IrView){.n = 1,
                     .kind = {VIEW_FIELD},
                     .offset = f->offset,
                     .nested = f->ndim,
                     .extents = f->extents};
    r.ins->aux.view = view;
  }
  Val *extents = CX_ARRAY(ty->cx, Val, ndim + 1);
  for (unsigned k = 0; k < f->ndim; k++)
    extents[t->ndim + k] = ty_const_int(ty, f->extents[k]);
  r.items = f->ndim ? extents : NULL;
  return r;
}

static Val field_view(Ty *ty, Val a, const RecordField *f) {
  return a.type->elem == ty_mbarrier(ty) ? TY_FAIL(ty, ERR_BARRIER) : view_of(ty, a, f);
}

Val ty_get_barriers(Ty *ty, Val a) { return view_of(ty, a, &a.type->elem->fields[0]); }

static Val get_field(Ty *ty, Val a, const RecordField *f) {
  if (f->type->id == TY_VOID)
    return TY_FAIL(ty, ERR_RECORD_FIELD, f->name, TY_PRETTY(ty, a));
  Val r = field_view(ty, a, f);
  bool number = !ty_is_bottom(r) && !r.type->ndim && ty_is_value(r.type->elem);
  return number ? ty_op1(ty, OP_LOAD, r.type->elem, r) : r;
}

static Val no_field(Ty *ty, Val a, const char *name) {
  Suggest s = suggest_for(name);
  for (uint32_t k = 0; k < a.type->elem->nfields; k++)
    suggest_try(&s, a.type->elem->fields[k].name);
  return TY_FAIL(ty, ERR_NO_ATTRIBUTE, TY_PRETTY(ty, a), name,
                 s.best ? arena_printf(&ty->cx->arena, " (did you mean '%s'?)", s.best) : "");
}

Val ty_get_field(Ty *ty, Val obj, const char *name) {
  const RecordField *f = ty_find_field(obj.type->elem, name);
  return f ? get_field(ty, obj, f) : no_field(ty, obj, name);
}

Val ty_get_field_at(Ty *ty, Val record, uint32_t k) {
  return k == UINT32_MAX ? BOTTOM : get_field(ty, record, &record.type->elem->fields[k]);
}

Val ty_record_items(Ty *ty, Val record) {
  uint32_t n = record.type->elem->nfields;
  Val *items = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = ty_get_field_at(ty, record, k);
  return ty_make_tuple(ty, items, n);
}

static Val set_field(Ty *ty, Val obj, const RecordField *f, Val value) {
  if (obj.type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, obj));
  if (f->type->id == TY_VOID)
    return TY_FAIL(ty, ERR_RECORD_FIELD, f->name, TY_PRETTY(ty, obj));
  return ty_assign(ty, field_view(ty, obj, f), value);
}

Val ty_set_field(Ty *ty, Val obj, const char *name, Val value) {
  const RecordField *f = ty_find_field(obj.type->elem, name);
  return f ? set_field(ty, obj, f, value) : no_field(ty, obj, name);
}

Val ty_set_field_at(Ty *ty, Val record, uint32_t k, Val value) {
  return k == UINT32_MAX ? BOTTOM : set_field(ty, record, &record.type->elem->fields[k], value);
}

uint32_t ty_field_number(Ty *ty, Val record, Val index) {
  int64_t k, n = record.type->elem->nfields;
  if (!fz_get_int(index.konst, &k)) {
    (void)ty_not_constant(ty, "the number of a record's field", NULL);
    return UINT32_MAX;
  }
  if (k < -n || k >= n) {
    (void)TY_FAIL(ty, ERR_TUPLE_INDEX, (long long)k, TY_PRETTY(ty, record));
    return UINT32_MAX;
  }
  return (uint32_t)(k < 0 ? k + n : k);
}

/* --- assignment --- */

static Val mismatch(Ty *ty, Val target, Val value) {
  return TY_FAIL(ty, ERR_RECORD_VALUE, TY_PRETTY(ty, value), TY_PRETTY(ty, target));
}

static bool same_bytes(const RecordField *a, const RecordField *b) {
  return a->type->id == TY_VOID && b->type->id == TY_VOID && ty_field_bytes(a) == ty_field_bytes(b);
}

static Val copy_record(Ty *ty, Val target, Val value) {
  const Type *to = target.type->elem, *from = value.type->elem;
  if (to->nfields != from->nfields)
    return mismatch(ty, target, value);
  for (uint32_t k = 0; k < to->nfields; k++) {
    const RecordField *a = &to->fields[k], *b = &from->fields[k];
    if ((a->type->id == TY_VOID || b->type->id == TY_VOID) && !same_bytes(a, b))
      return mismatch(ty, target, value);
    Val part = field_view(ty, value, b);
    if (!ty_is_bottom(part) && !part.type->ndim && ty_is_value(part.type->elem)) {
      part = ty_op1(ty, OP_LOAD, part.type->elem, part);
      ty_flag(part, INS_COPIED);
    }
    if (ty_is_bottom(ty_assign(ty, field_view(ty, target, a), part)))
      return BOTTOM;
  }
  return ty_none(ty);
}

Val ty_assign_record(Ty *ty, Val target, Val value) {
  const Type *to = target.type->elem;
  bool tuple = value.type->id == TY_TUPLE;
  if (ty_has_fields(value))
    return copy_record(ty, target, value);
  if (!ty_is_value(value.type) && !(tuple && value.type->n == to->nfields))
    return mismatch(ty, target, value);
  for (uint32_t k = 0; k < to->nfields; k++)
    if (ty_is_bottom(set_field(ty, target, &to->fields[k], tuple ? ty_item(ty, value, k) : value)))
      return BOTTOM;
  return ty_none(ty);
}
