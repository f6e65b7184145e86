/* Rules of cuda.float32x4 and the like: a vector of numbers and smaller vectors, each converted as
 * float32(x) does. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

typedef struct Vector {
  IntrinsicId id;
  TypeId elem;
  uint32_t n;
} Vector;

static const Vector vectors[] = {
#define V(ID, name, elem, n, doc) {INTR_VECTOR_##ID, TY_##elem, n},
#include "ir/vectors.def"
#undef V
};

/* The first of the names of one vector stands for all. */
static const Type *vector_type(Ty *ty, TypeId elem, uint32_t n) {
  const Vector *first = vectors;
  while (first->elem != elem || first->n != n)
    first++;
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_INTRINSIC;
  f->i = first->id;
  return ty_vector(ty->cx, ty_canonical(ty->p, f), ty_id(ty, elem), n);
}

/* Appends what an argument has to the n before it; the number of components, also of those that
 * have no place. */
static uint32_t add_components(Ty *ty, const Type *vector, Val v, Val out[4], uint32_t n) {
  bool whole = ty_is_vector(v.type);
  uint32_t count = whole ? v.type->n : 1;
  for (uint32_t k = 0; k < count && n + k < vector->n; k++) {
    Val one = whole ? ty_item(ty, v, k) : v;
    out[n + k] = ty_convert(ty, vector->elems[0]->id, &one, 1);
  }
  return n + count;
}

Val ty_rule_vector(Ty *ty, const TyCall *c, TypeId elem, uint32_t want) {
  const Type *vector = vector_type(ty, elem, want);
  Val out[4];
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n; k++) {
    const Type *t = c->args[k].type;
    if (!ty_is_vector(t) && (!ty_is_number(t) || ty_is_complex(t)))
      return ty_argument_type(ty, c, k, "a number or a vector");
    n = add_components(ty, vector, c->args[k], out, n);
  }
  if (n != want)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                   arena_printf(&ty->cx->arena, "it takes %u component%s, but %u %s given", want,
                                want == 1 ? "" : "s", n, n == 1 ? "is" : "are"));
  return ty_pack(ty, vector, out, n);
}
