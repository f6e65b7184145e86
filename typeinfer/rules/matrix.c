/* Rules of cuda.ldmatrix, stmatrix and mma_sync: fragments of matrices, as tuples of a lane's
 * elements. The numbers and types of the elements choose the shape (ir/matrices.def). */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

enum { ROW_BYTES = 16, MOST_ELEMENTS = 16 };

typedef struct Shape {
  uint32_t m, n, k;
  TypeId factor, sum;
} Shape;

static const Shape shapes[] = {
#define X(m, n, k, factor, sum, code, ptx_factor, ptx_sum) {m, n, k, TY_##factor, TY_##sum},
#include "ir/matrices.def"
#undef X
};
enum { NSHAPES = sizeof shapes / sizeof *shapes };

static bool is_fragment(Val v) {
  for (uint32_t k = 0; v.type->id == TY_TUPLE && k < v.type->n; k++)
    if (v.type->elems[k] != v.type->elems[0])
      return false;
  return v.type->id == TY_TUPLE && v.type->n && ty_is_number(v.type->elems[0]);
}

/* Numbers of Python among the elements of C take the type of the sum. */
static bool fits(const Shape *s, const TyCall *c) {
  const Type *a = c->args[0].type, *b = c->args[1].type, *d = c->args[2].type;
  return a->n == s->m * s->k / 32 && b->n == s->k * s->n / 32 && d->n == s->m * s->n / 32 &&
         a->elems[0]->id == s->factor && b->elems[0]->id == s->factor &&
         (d->elems[0]->id == s->sum || ty_is_weak(d->elems[0]));
}

static Val no_shape(Ty *ty, const TyCall *c) {
  return TY_FAIL_ADVISED(
      ty,
      "the reference lists the shapes: m16n8k16 of float16 takes 8, 4 and 4 elements a lane, the "
      "last of float32; docs/guide/instructions.md has them all",
      ERR_ARGUMENTS, c->name,
      arena_printf(&ty->cx->arena, "no shape has fragments of %s, %s and %s",
                   TY_PRETTY(ty, c->args[0]), TY_PRETTY(ty, c->args[1]),
                   TY_PRETTY(ty, c->args[2])));
}

Val ty_rule_mma(Ty *ty, const TyCall *c) {
  for (uint32_t k = 0; k < 3; k++)
    if (!is_fragment(c->args[k]))
      return ty_argument_type(ty, c, k, "a tuple of numbers of one type");
  const Shape *s = shapes, *end = shapes + NSHAPES;
  while (s < end && !fits(s, c))
    s++;
  if (s == end)
    return no_shape(ty, c);
  Val args[4] = {c->args[0], c->args[1], c->args[2], ty_const_int(ty, s - shapes)}, sums[4];
  uint32_t n = c->args[2].type->n;
  for (uint32_t k = 0; k < n; k++)
    sums[k] = ty_cast_id(ty, ty_item(ty, c->args[2], k), s->sum);
  args[2] = ty_make_tuple(ty, sums, n);
  return ty_is_bottom(args[2]) ? BOTTOM : ty_intrinsic(ty, c->id, args[2].type, args, 4);
}

/* --- ldmatrix, stmatrix: of shared arrays of elements of 1, 2 or 4 bytes --- */

typedef struct Rows {
  Val args[TY_MAX_NDIM + 3]; /* the array, indices, values of a store, 0 or 1: transposed */
  uint32_t n;
} Rows;

static bool read_rows(Ty *ty, const TyCall *c, Rows *r) {
  Val array = c->args[0], trans = c->given[3] ? c->args[3] : ty_const_bool(ty, false);
  const Type *t = array.type;
  bool numbers = t->id == TY_ARRAY && t->space == SPACE_SHARED && ty_is_number(t->elem) &&
                 !ty_is_complex(t->elem) && ty_size(t->elem) <= 4;
  bool transposed;
  if (!numbers) {
    (void)ty_argument_type(ty, c, 0, "a shared array of numbers of 1, 2 or 4 bytes");
    return false;
  }
  if (t->layout != LAYOUT_C) {
    (void)TY_FAIL(ty, ERR_LAYOUT, c->name, TY_PRETTY(ty, array));
    return false;
  }
  if (!fz_truth(trans.konst, &transposed)) {
    (void)ty_not_constant(ty, arena_printf(&ty->cx->arena, "trans= of %s", c->name), NULL);
    return false;
  }
  if (transposed && ty_size(t->elem) != 2) {
    (void)TY_FAIL(ty, ERR_ARGUMENTS, c->name, "trans= is for elements of 2 bytes");
    return false;
  }
  if (!ty_row_of_bytes(ty, c, ROW_BYTES, ROW_BYTES / (uint32_t)ty_size(t->elem), r->args))
    return false;
  r->n = 1 + t->ndim;
  r->args[TY_MAX_NDIM + 2] = ty_const_int(ty, transposed);
  return true;
}

static uint32_t elements_of(const Type *elem) { return (uint32_t)(4 / ty_size(elem)); }

Val ty_rule_ldmatrix(Ty *ty, const TyCall *c) {
  Rows r = {0};
  int64_t num;
  const Type *all[MOST_ELEMENTS];
  if (!read_rows(ty, c, &r))
    return BOTTOM;
  if (!fz_get_int(c->args[2].konst, &num))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the number of %s", c->name), NULL);
  if (num != 1 && num != 2 && num != 4)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "it loads 1, 2 or 4 matrices");
  const Type *elem = c->args[0].type->elem;
  uint32_t n = (uint32_t)num * elements_of(elem);
  for (uint32_t k = 0; k < n; k++)
    all[k] = elem;
  r.args[r.n++] = r.args[TY_MAX_NDIM + 2];
  return ty_intrinsic(ty, c->id, ty_tuple(ty->cx, all, n), r.args, r.n);
}

Val ty_rule_stmatrix(Ty *ty, const TyCall *c) {
  Rows r = {0};
  Val all[MOST_ELEMENTS], values = c->args[2];
  if (!read_rows(ty, c, &r))
    return BOTTOM;
  const Type *elem = c->args[0].type->elem;
  uint32_t each = elements_of(elem), n = values.type->id == TY_TUPLE ? values.type->n : 0;
  if (n != each && n != 2 * each && n != 4 * each)
    return ty_argument_type(
        ty, c, 2,
        arena_printf(&ty->cx->arena, "a tuple of %u, %u or %u numbers", each, 2 * each, 4 * each));
  for (uint32_t k = 0; k < n; k++) {
    Val v = ty_item(ty, values, k);
    if (!ty_is_bottom(v) && (!ty_is_number(v.type) || !ty_can_store(v.type, elem)))
      return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, v), TY_PRETTY(ty, c->args[0]));
    all[k] = ty_is_bottom(v) ? v : ty_cast(ty, v, elem);
  }
  r.args[r.n++] = ty_make_tuple(ty, all, n);
  r.args[r.n++] = r.args[TY_MAX_NDIM + 2];
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), r.args, r.n);
  return ty_none(ty);
}
