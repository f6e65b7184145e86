/* Rules of cuda.float32x4 and the like: a vector of numbers and smaller vectors, each converted as
 * float32(x) does. And of cuda.vector.load and store: neighbouring elements in one access, as an
 * OP_LOAD or OP_STORE of a tuple. */
#include <string.h>

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

/* The first of the names of one vector stands for all; NULL: there is no such vector. */
static const Type *vector_type(Ty *ty, TypeId elem, uint32_t n) {
  const Vector *first = vectors, *end = vectors + sizeof vectors / sizeof *vectors;
  while (first < end && (first->elem != elem || first->n != n))
    first++;
  if (first == end)
    return NULL;
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

/* --- several elements in one access --- */

enum { MOST_BYTES = 16, MOST_ELEMENTS = 16 };

typedef struct Access {
  Val args[TY_MAX_NDIM + 2]; /* the array, an index an axis */
  uint32_t n, count;         /* of args; elements */
  int64_t align;
} Access;

/* A constant of a call: a power of two from `least` to `most`. */
static bool read_power(Ty *ty, const TyCall *c, uint32_t k, const char *what, int64_t least,
                       int64_t most, int64_t *out) {
  Val v = c->args[k];
  if (v.type->id == TY_TUPLE && v.type->n == 1)
    v = ty_item(ty, v, 0);
  if (!fz_get_int(v.konst, out)) {
    (void)ty_not_constant(ty, arena_printf(&ty->cx->arena, "%s of %s", what, c->name), NULL);
    return false;
  }
  if (*out >= least && *out <= most && !(*out & (*out - 1)))
    return true;
  (void)TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                arena_printf(&ty->cx->arena,
                             "%s of elements of type %s is a power of two from %lld "
                             "to %lld, not %lld",
                             what, ty_name(ty->cx, c->args[0].type->elem), (long long)least,
                             (long long)most, (long long)*out));
  return false;
}

static bool has_numbers(const Type *t) {
  return t->id == TY_ARRAY && t->ndim && ty_is_number(t->elem) && !ty_is_complex(t->elem) &&
         ty_kind(t->elem) != KIND_BOOL;
}

static bool has_neighbours(const Type *t) { return t->layout == LAYOUT_C && !t->pointer; }

static bool takes_vectors(Ty *ty, const TyCall *c) {
  if (!has_numbers(c->args[0].type)) {
    (void)ty_argument_type(ty, c, 0, "an array of integers or floats");
    return false;
  }
  if (has_neighbours(c->args[0].type))
    return true;
  (void)TY_FAIL(ty, ERR_LAYOUT, c->name, TY_PRETTY(ty, c->args[0]));
  return false;
}

IrAlloc *ty_own_memory(const Ins *array) {
  while (array && array->op == OP_VIEW)
    array = array->args[0];
  return array && array->op == OP_ALLOC ? (IrAlloc *)(uintptr_t)array->aux.alloc : NULL;
}

/* Bytes from the array's beginning to the element. */
static Val byte_offset(Ty *ty, const Access *x) {
  Val at = x->args[1], array = x->args[0];
  for (unsigned k = 1; k < array.type->ndim; k++)
    at = ty_int_op(ty, OP_ADD, ty_int_op(ty, OP_MUL, at, ty_extent(ty, array, k)), x->args[1 + k]);
  return ty_int_op(ty, OP_MUL, at, ty_const_int(ty, (int64_t)ty_size(array.type->elem)));
}

static void check_end(Ty *ty, const TyCall *c, const Access *x) {
  unsigned axis = x->args[0].type->ndim - 1u;
  Val first = x->args[1 + axis], extent = ty_extent(ty, x->args[0], axis);
  Val last = ty_int_op(ty, OP_ADD, first, ty_const_int(ty, x->count - 1));
  const char *message = arena_printf(&ty->cx->arena,
                                     "%s: %u elements from {0} on of axis %u, which has {1}",
                                     c->name, x->count, axis);
  ty_check(ty, ty_int_test(ty, OP_LT, last, extent), "IndexError", message, (Val[]){first, extent},
           2);
}

/* Bytes from the last place where an access may begin to where this one does. */
static Val misalignment(Ty *ty, const Access *x) {
  const Type *t = ty_id(ty, TY_PYINT);
  Val begin = ty_op1(ty, OP_ADDRESS, t, x->args[0]);
  Val address = ty_int_op(ty, OP_ADD, begin, byte_offset(ty, x));
  return ty_int_op(ty, OP_AND, address, ty_const_int(ty, x->align - 1));
}

/* Memory of the kernel's own begins where the access needs it; of what an argument brings the
 * address is looked at. */
static void check_alignment(Ty *ty, const TyCall *c, const Access *x) {
  Val array = x->args[0];
  IrAlloc *own = ty_own_memory(array.ins);
  if (own && own->align < x->align)
    own->align = (uint32_t)x->align;
  if (!ty->cx->checked || x->align <= (int64_t)ty_array_align(array.type))
    return;
  Val rest = misalignment(ty, x);
  int64_t size = (int64_t)ty_size(array.type->elem);
  bool smaller = !strncmp(c->name, "cuda.vector.", 12) && x->align == size * x->count;
  const char *message = arena_printf(
      &ty->cx->arena,
      "%s: the address of element {0} is {1} bytes beyond a multiple of %lld, to which an access of "
      "%u elements must be aligned: begin at a multiple of %lld elements%s",
      c->name, (long long)x->align, x->count, (long long)(x->align / size),
      smaller ? ", or pass alignment=" : "");
  ty_check(ty, ty_int_test(ty, OP_EQ, rest, ty_const_int(ty, 0)), "ValueError", message,
           (Val[]){x->args[array.type->ndim], rest}, 2);
}

/* Where it is, from the array and the index that the call begins with. */
static bool place_access(Ty *ty, const TyCall *c, Access *x) {
  Val array = x->args[0] = c->args[0];
  int64_t size = (int64_t)ty_size(array.type->elem);
  if (array.type->align && array.type->align < size) {
    (void)TY_FAIL(ty, ERR_ATOMIC_ALIGN, c->name, ty_name(ty->cx, array.type->elem),
                  (int)array.type->align);
    return false;
  }
  if (!ty_element(ty, array, c->args[1], x->args + 1)) {
    (void)ty_argument_type(ty, c, 1, "an index of one element");
    return false;
  }
  x->n = 1 + array.type->ndim;
  if (ty->emit && ty->cx->checked)
    check_end(ty, c, x);
  if (ty->emit)
    check_alignment(ty, c, x);
  return true;
}

static bool read_access(Ty *ty, const TyCall *c, Access *x) {
  int64_t size = (int64_t)ty_size(c->args[0].type->elem);
  x->align = size * x->count;
  if (c->given[3] && c->args[3].type->id != TY_NONE &&
      !read_power(ty, c, 3, "the alignment", size, 1024, &x->align))
    return false;
  return place_access(ty, c, x);
}

bool ty_row_of_bytes(Ty *ty, const TyCall *c, uint32_t bytes, uint32_t present, Val *args) {
  Access x = {.count = present, .align = bytes};
  bool ok = place_access(ty, c, &x);
  for (uint32_t k = 0; k < x.n; k++)
    args[k] = x.args[k];
  return ok;
}

static int64_t most_elements(const Type *elem) { return MOST_BYTES / (int64_t)ty_size(elem); }

Val ty_rule_vector_load(Ty *ty, const TyCall *c) {
  Access x = {0};
  int64_t count;
  if (!takes_vectors(ty, c))
    return BOTTOM;
  const Type *elem = c->args[0].type->elem, *all[MOST_ELEMENTS];
  if (!read_power(ty, c, 2, "the number", 2, most_elements(elem), &count))
    return BOTTOM;
  x.count = (uint32_t)count;
  if (!read_access(ty, c, &x))
    return BOTTOM;
  for (int64_t k = 0; k < count; k++)
    all[k] = elem;
  const Type *vector = vector_type(ty, elem->id, x.count);
  Val r = ty_op(ty, OP_LOAD, vector ? vector : ty_tuple(ty->cx, all, x.count), x.args, x.n);
  if (r.ins)
    r.ins->aux2 = (int32_t)x.align;
  return r;
}

/* Of an array that load and store refuse for its type it is False when the kernel is compiled, so
 * that code behind it is not typed. */
Val ty_rule_vector_aligned(Ty *ty, const TyCall *c) {
  const Type *t = c->args[0].type;
  Access x = {.args = {c->args[0]}, .n = 1 + t->ndim};
  int64_t count;
  if (t->id != TY_ARRAY)
    return ty_argument_type(ty, c, 0, "an array");
  if (!has_numbers(t) || !has_neighbours(t) || ty_array_align(t) < ty_size(t->elem))
    return ty_const_bool(ty, false);
  if (!read_power(ty, c, 2, "the number", 2, most_elements(t->elem), &count))
    return BOTTOM;
  x.align = count * (int64_t)ty_size(t->elem);
  if (!ty_element(ty, x.args[0], c->args[1], x.args + 1))
    return ty_argument_type(ty, c, 1, "an index of one element");
  return ty_int_test(ty, OP_EQ, misalignment(ty, &x), ty_const_int(ty, 0));
}

Val ty_rule_vector_store(Ty *ty, const TyCall *c) {
  Access x = {0};
  if (!takes_vectors(ty, c))
    return BOTTOM;
  const Type *elem = c->args[0].type->elem;
  Val values = c->args[2], all[MOST_ELEMENTS];
  int64_t most = most_elements(elem), n = values.type->id == TY_TUPLE ? values.type->n : 0;
  if (n < 2 || n > most || (n & (n - 1)))
    return ty_argument_type(ty, c, 2,
                            arena_printf(&ty->cx->arena,
                                         "a tuple of 2 to %lld numbers, a power of two",
                                         (long long)most));
  for (uint32_t k = 0; k < n; k++) {
    Val v = ty_item(ty, values, k);
    if (ty_is_bottom(v))
      return BOTTOM;
    if (!ty_is_number(v.type) || !ty_can_store(v.type, elem))
      return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, v), TY_PRETTY(ty, c->args[0]));
    all[k] = ty_cast(ty, v, elem);
  }
  if (c->args[0].type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, c->args[0]));
  x.count = (uint32_t)n;
  if (!read_access(ty, c, &x))
    return BOTTOM;
  x.args[x.n++] = ty_make_tuple(ty, all, x.count);
  Val r = ty_op(ty, OP_STORE, ty_id(ty, TY_VOID), x.args, x.n);
  if (r.ins)
    r.ins->aux2 = (int32_t)x.align;
  return ty_none(ty);
}
