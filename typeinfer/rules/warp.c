/* Rules of the operations of a warp and of cooperative groups. Masks and lane numbers may be any
 * integers and are taken modulo 2**32, as C takes them; masks that come out are uint32 (Numba's
 * typing: int32 for those of ballot and match). */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

static bool is_integer(Val v) { return ty_is_number(v.type) && ty_is_integral(v.type); }

/* Argument k as a 32-bit integer. */
static Val bits32(Ty *ty, const TyCall *c, uint32_t k) {
  if (!is_integer(c->args[k]))
    return ty_argument_type(ty, c, k, "an integer");
  int64_t v;
  if (fz_get_int(c->args[k].konst, &v) && (v < INT32_MIN || v > UINT32_MAX))
    return TY_FAIL(ty, ERR_LITERAL_RANGE, arena_printf(&ty->cx->arena, "%lld", (long long)v),
                   "uint32");
  return ty_cast_id(ty, c->args[k], TY_U32);
}

static const Type *mask_type(Ty *ty) { return ty_id(ty, ty_policy(ty->cx)->lane_mask); }

/* A number, or a tuple (a named one or a vector, too) of which each element is shuffled for
 * itself. */
static Val shuffle(Ty *ty, const TyCall *c, Val mask, Val value, Val lane) {
  if (ty_is_bottom(value))
    return BOTTOM;
  if (ty_is_number(value.type))
    return ty_intrinsic(ty, c->id, value.type, (Val[]){mask, value, lane}, 3);
  if (ty_is_date(value.type))
    return ty_date_of(ty, value.type, shuffle(ty, c, mask, ty_date_raw(ty, value), lane));
  if (value.type->id != TY_TUPLE)
    return ty_argument_type(ty, c, 1, "a number or a tuple of numbers");
  Val *items = CX_ARRAY(ty->cx, Val, value.type->n + 1);
  for (uint32_t k = 0; k < value.type->n; k++) {
    items[k] = shuffle(ty, c, mask, ty_item(ty, value, k), lane);
    if (ty_is_bottom(items[k]))
      return BOTTOM;
  }
  return ty_pack(ty, value.type, items, value.type->n);
}

Val ty_rule_shuffle(Ty *ty, const TyCall *c) {
  Val mask = bits32(ty, c, 0), lane = bits32(ty, c, 2);
  return ty_is_bottom(mask) || ty_is_bottom(lane) ? BOTTOM : shuffle(ty, c, mask, c->args[1], lane);
}

Val ty_rule_warp_vote(Ty *ty, const TyCall *c, bool gives_lanes) {
  Val args[] = {bits32(ty, c, 0), ty_truth(ty, c->args[1])};
  const Type *t = gives_lanes ? mask_type(ty) : ty_id(ty, TY_PYBOOL);
  return ty_intrinsic(ty, c->id, t, args, 2);
}

Val ty_rule_match(Ty *ty, const TyCall *c, bool all) {
  Val args[] = {bits32(ty, c, 0), c->args[1]};
  if (ty_is_bottom(args[0]))
    return BOTTOM;
  if (!ty_is_number(args[1].type) || ty_is_complex(args[1].type))
    return ty_argument_type(ty, c, 1, "a real number");
  const Type *parts[] = {mask_type(ty), ty_id(ty, TY_PYBOOL)};
  const Type *t = all ? ty_tuple(ty->cx, parts, 2) : parts[0];
  return ty_intrinsic(ty, c->id, t, args, 2);
}

Val ty_rule_syncwarp(Ty *ty, const TyCall *c) {
  Val mask = c->given[0] ? bits32(ty, c, 0) : ty_cast_id(ty, ty_const_int(ty, UINT32_MAX), TY_U32);
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), &mask, 1);
  return ty_none(ty);
}

Val ty_rule_lanes(Ty *ty, const TyCall *c) {
  return ty_intrinsic(ty, c->id, ty_id(ty, TY_U32), NULL, 0);
}

/* A group has no state: it is its namespace. */
Val ty_rule_this_group(Ty *ty, const TyCall *c, IntrinsicId group) {
  (void)c;
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_INTRINSIC;
  f->i = group;
  return ty_const(ty, f);
}
