/* Rules of instructions.def: election, named barriers, registers, clusters. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

/* Argument k as a uint32; a constant lies between the bounds. */
static Val count(Ty *ty, const TyCall *c, uint32_t k, int64_t least, int64_t most, int64_t by,
                 const char *what) {
  Val v = c->args[k];
  int64_t n;
  if (!ty_is_number(v.type) || !ty_is_integral(v.type))
    return ty_argument_type(ty, c, k, "an integer");
  if (fz_get_int(v.konst, &n) && (n < least || n > most || n % by))
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, arena_printf(&ty->cx->arena, what, (long long)n));
  return ty_cast_id(ty, v, TY_U32);
}

Val ty_rule_elect(Ty *ty, const TyCall *c) {
  Val mask = c->given[0] ? count(ty, c, 0, INT32_MIN, UINT32_MAX, 1, "the mask %lld has 32 bits")
                         : ty_cast_id(ty, ty_const_int(ty, UINT32_MAX), TY_U32);
  return ty_intrinsic(ty, INTR_ELECT_SYNC, ty_id(ty, TY_PYBOOL), &mask, 1);
}

Val ty_rule_named_barrier(Ty *ty, const TyCall *c) {
  Val args[] = {
      count(ty, c, 0, 1, 15, 1, "there are barriers 1 to 15 (0 is syncthreads's), and none %lld"),
      count(ty, c, 1, 32, 1024, 32,
            "a barrier is for a multiple of 32 threads, at most 1024, not for %lld")};
  if (ty_is_bottom(args[0]) || ty_is_bottom(args[1]))
    return BOTTOM;
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), args, 2);
  return ty_none(ty);
}

Val ty_rule_register_count(Ty *ty, const TyCall *c) {
  int64_t n;
  Val v = count(ty, c, 0, 24, 256, 8, "the count is a multiple of 8 from 24 to 256, not %lld");
  if (!ty_is_bottom(v) && !fz_get_int(c->args[0].konst, &n))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the count of %s", c->name), NULL);
  if (ty_is_bottom(v))
    return v;
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), &v, 1);
  return ty_none(ty);
}

/* --- clusters --- */

Val ty_rule_cluster_number(Ty *ty, const TyCall *c) {
  Val v = ty_intrinsic(ty, c->id, ty_id(ty, TY_PYINT), NULL, 0);
  ty_flag(v, INS_NONNEGATIVE);
  return ty_cast_id(ty, v, ty_policy(ty->cx)->device_int);
}

Val ty_rule_cluster_place(Ty *ty, const TyCall *c) {
  const Type *one = ty_id(ty, TY_PYINT), *axes[] = {one, one, one};
  return ty_intrinsic(ty, c->id, ty_tuple(ty->cx, axes, 3), NULL, 0);
}

Val ty_map_shared(Ty *ty, const TyCall *c, Val array, uint32_t k) {
  Val rank = count(ty, c, k, 0, 15, 1, "a cluster has ranks 0 to 15 at most, and none %lld");
  if (ty_is_bottom(rank))
    return BOTTOM;
  const Type *t = array.type;
  Val r = ty_intrinsic(
      ty, INTR_CLUSTER_MAP,
      ty_array(ty->cx, t->elem, t->ndim, (Layout)t->layout, SPACE_CLUSTER, t->wide, t->readonly),
      (Val[]){array, rank}, 2);
  r.items = array.items; /* extents */
  return r;
}

Val ty_rule_map_shared(Ty *ty, const TyCall *c) {
  Val array = c->args[0];
  if (array.type->id != TY_ARRAY || array.type->space != SPACE_SHARED)
    return ty_argument_type(ty, c, 0, "an array of cuda.shared.array");
  return ty_map_shared(ty, c, array, 1);
}

/* Another name of a function without arguments. */
Val ty_rule_alias(Ty *ty, const TyCall *c, IntrinsicId of) {
  (void)c;
  return ty_call_intrinsic(ty, of, NULL, 0, NULL);
}
