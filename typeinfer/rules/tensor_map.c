/* Rules of tensor maps. A map is a named tuple of an array and constants. A copy gets the array,
 * the shape of the box and the swizzle, and on a GPU finds the kernel's parameter that they make
 * (codegen/ssa/params.h). So the array is an argument of the kernel, as it is. Of a map that was
 * made on the host (pyext/pyptx/cuda/_tensor_map.py), an argument itself, the class's name says the
 * constants: TensorMap_box_64_64_swizzle_128. */
#include <stdio.h>
#include <string.h>

#include "ir/tensor_maps.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

#define TITLE "TensorMap"
enum { ARRAY, BOX, SWIZZLE, NBYTES, FIELDS };

static Val wrong(Ty *ty, const TyCall *c, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, c->name, what);
}

static bool is_element(const Type *t) {
  return ty_is_number(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL;
}

/* An argument of the kernel, or in a tuple of one, which the launch can describe. */
static bool is_argument(Ty *ty, Val a) {
  const Ins *i = a.ins;
  while (i && i->op == OP_TUPLE_GET)
    i = i->args[0];
  return i && i->op == OP_PARAM && ty->p->kernel && ty->spec->level == 0;
}

static Val read_box(Ty *ty, const TyCall *c, int64_t box[TENSOR_RANK], int64_t *elements) {
  Val v = c->args[1];
  uint32_t rank = c->args[0].type->ndim;
  if (rank == 1 && v.type->id != TY_TUPLE)
    v = ty_make_tuple(ty, &v, 1);
  if (v.type->id != TY_TUPLE || v.type->n != rank)
    return wrong(ty, c, "the box has an extent for each axis of the array");
  *elements = 1;
  for (uint32_t k = 0; k < rank; k++) {
    if (!fz_get_int(ty_item(ty, v, k).konst, &box[k]))
      return ty_not_constant(ty, "the box of cuda.tensor_map", NULL);
    if (box[k] < 1 || box[k] > TENSOR_BOX)
      return wrong(ty, c,
                   arena_printf(&ty->cx->arena,
                                "a box has 1 to 256 elements along each axis, not %lld",
                                (long long)box[k]));
    *elements *= box[k];
  }
  return v;
}

/* Which axis has neighbours: the last one, or the first. */
static bool is_fortran(const Type *array) { return array->layout == LAYOUT_F; }

/* The layout that order= says; a single axis has both. */
static bool read_order(Ty *ty, const TyCall *c) {
  const Type *t = c->args[0].type;
  const Frozen *f = c->given[3] && c->args[3].type->id == TY_STR ? c->args[3].type->frozen : NULL;
  bool fortran = f && !strcmp(f->text, "F");
  if (c->given[3] && !fortran && (!f || strcmp(f->text, "C") != 0)) {
    (void)wrong(ty, c, "the order is 'C' or 'F'");
    return false;
  }
  if (t->layout == (fortran && t->ndim > 1 ? LAYOUT_F : LAYOUT_C))
    return true;
  if (is_fortran(t))
    (void)wrong(ty, c, "of an array in Fortran order it needs order='F'");
  else if (fortran && t->layout == LAYOUT_C)
    (void)wrong(ty, c, "order='F' is for an array in Fortran order, and this one is in C order");
  else
    (void)TY_FAIL(ty, ERR_LAYOUT, c->name, TY_PRETTY(ty, c->args[0]));
  return false;
}

Val ty_rule_tensor_map(Ty *ty, const TyCall *c) {
  static const char *const names[] = {"array", "box", "swizzle", "nbytes"};
  const Type *t = c->args[0].type;
  int64_t box[TENSOR_RANK], elements, swizzle = 0;
  bool fits = t->id == TY_ARRAY && t->space == SPACE_GLOBAL && is_element(t->elem) && t->ndim &&
              t->ndim <= TENSOR_RANK && !t->pointer;
  if (!fits)
    return ty_argument_type(ty, c, 0, "an array of numbers of 1 to 5 axes");
  if (!read_order(ty, c))
    return BOTTOM;
  if (ty->emit && !is_argument(ty, c->args[0]))
    return wrong(ty, c,
                 "it is made of an argument of the kernel, in the kernel itself, by the launch");
  Val shape = read_box(ty, c, box, &elements);
  if (ty_is_bottom(shape))
    return BOTTOM;
  if (c->given[2] && !fz_get_int(c->args[2].konst, &swizzle))
    return ty_not_constant(ty, "the swizzle of cuda.tensor_map", NULL);
  int64_t size = (int64_t)ty_size(t->elem), row = box[is_fortran(t) ? 0 : t->ndim - 1] * size;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return wrong(ty, c, "the swizzle is 0, 32, 64 or 128 bytes");
  if (row % 16 || (swizzle && row != swizzle))
    return wrong(
        ty, c,
        arena_printf(&ty->cx->arena,
                     swizzle ? "a row of the box has %lld bytes, and must have the %lld of the "
                               "swizzle"
                             : "a row of the box has %lld bytes, and must have a multiple of 16",
                     (long long)row, (long long)swizzle));
  Val items[] = {c->args[0], shape, ty_const_int(ty, swizzle), ty_const_int(ty, elements * size)};
  Val m = ty_make_tuple(ty, items, FIELDS);
  if (ty_is_bottom(m))
    return m;
  m.type = ty_named_tuple(ty->cx, m.type->elems, FIELDS, names, TITLE);
  return m;
}

/* --- copies: dst or src, the array, elements of dst or src, box and swizzle, indices, then of a
 * load the barrier and the mask --- */

typedef struct Tensor {
  Val args[TY_MAX_NDIM + 32];
  uint32_t n, rank;
} Tensor;

/* The box and the swizzle of a map of so many axes; false, without an error: m is none, or they
 * are not known. */
static bool read_map(Ty *ty, Val m, uint32_t rank, int64_t box[TENSOR_RANK], int64_t *swizzle) {
  const char *at = m.type->title + strlen(TITLE);
  int n = 0;
  if (*at) { /* the host's */
    bool ok = sscanf(at, "_box%n", &n) == 0 && n;
    for (uint32_t a = 0; ok && a < rank; a++)
      ok = sscanf(at += n, "_%lld%n", (long long *)&box[a], &n) == 1;
    return ok && sscanf(at + n, "_swizzle_%lld%n", (long long *)swizzle, &n) == 1;
  }
  Val items = ty_item(ty, m, BOX);
  for (uint32_t a = 0; a < rank; a++)
    if (!fz_get_int(ty_item(ty, items, a).konst, &box[a]))
      return false;
  return fz_get_int(ty_item(ty, m, SWIZZLE).konst, swizzle);
}

/* Of argument k, which is a map, with the index behind it. shared: the argument in shared
 * memory. */
static bool read_tensor(Ty *ty, const TyCall *c, uint32_t k, uint32_t shared, Tensor *out) {
  Val m = c->args[k], s = c->args[shared], index = c->args[k + 1];
  bool map = m.type->id == TY_TUPLE && m.type->title &&
             !strncmp(m.type->title, TITLE, strlen(TITLE)) && m.type->n == FIELDS &&
             m.type->elems[ARRAY]->id == TY_ARRAY;
  if (!map) {
    (void)ty_argument_type(ty, c, k, "what cuda.tensor_map gives");
    return false;
  }
  Val array = ty_item(ty, m, ARRAY);
  out->rank = array.type->ndim;
  if (ty->emit && !is_argument(ty, array)) {
    (void)wrong(ty, c,
                ty->spec->level
                    ? "a tensor map is a parameter of the kernel, which functions that it calls "
                      "do not have: copy with it in the kernel itself, and hand the rest to "
                      "the function"
                    : "the map is to be known: make it in the kernel, of one of its arguments, or "
                      "on the host, and pass it as one");
    return false;
  }
  if (s.type->id != TY_ARRAY || s.type->space != SPACE_SHARED || s.type->layout != LAYOUT_C ||
      s.type->elem != array.type->elem) {
    (void)ty_argument_type(ty, c, shared,
                           arena_printf(&ty->cx->arena, "a C-contiguous shared array of %s",
                                        ty_name(ty->cx, array.type->elem)));
    return false;
  }
  if (out->rank == 1 && index.type->id != TY_TUPLE)
    index = ty_make_tuple(ty, &index, 1);
  if (index.type->id != TY_TUPLE || index.type->n != out->rank) {
    (void)ty_argument_type(ty, c, k + 1, "an index for each axis of the array");
    return false;
  }
  int64_t n, width, box[TENSOR_RANK];
  if (out->rank > TENSOR_RANK || !read_map(ty, m, out->rank, box, &width)) {
    (void)ty_not_constant(ty, "the map", NULL);
    return false;
  }
  Val elements = ty_const_int(ty, 1);
  for (unsigned a = 0; a < s.type->ndim; a++)
    elements = ty_int_op(ty, OP_MUL, elements, ty_extent(ty, s, a));
  Val *args = out->args;
  args[out->n++] = s, args[out->n++] = array;
  args[out->n++] = ty_cast_id(ty, elements, TY_I64);
  bool fortran = is_fortran(array.type);
  for (uint32_t a = 0; a < out->rank; a++)
    args[out->n++] = ty_const_int(ty, box[fortran ? out->rank - 1 - a : a]);
  args[out->n++] = ty_const_int(ty, width);
  for (uint32_t a = 0; a < out->rank; a++) {
    Val one = ty_item(ty, index, fortran ? out->rank - 1 - a : a);
    if (!ty_is_number(one.type) || !ty_is_integral(one.type)) {
      (void)ty_argument_type(ty, c, k + 1, "an index for each axis of the array");
      return false;
    }
    int64_t step = 16 / (int64_t)ty_size(array.type->elem);
    if (a + 1 == out->rank && fz_get_int(one.konst, &n) && n % step) {
      (void)wrong(ty, c,
                  arena_printf(&ty->cx->arena,
                               "boxes begin at multiples of 16 bytes, so the %s index is a "
                               "multiple of %lld, and not %lld",
                               fortran ? "first" : "last", (long long)step, (long long)n));
      return false;
    }
    if (c->id == INTR_CP_ASYNC_TENSOR_STORE && fz_get_int(one.konst, &n) && n < 0) {
      (void)wrong(ty, c,
                  arena_printf(&ty->cx->arena,
                               "a store may go beyond the array's end, but does not begin before "
                               "it, at %lld",
                               (long long)n));
      return false;
    }
    args[out->n++] = ty_cast_id(ty, one, TY_I64);
  }
  IrAlloc *own = ty_own_memory(s.ins);
  uint32_t align = width ? (uint32_t)(8 * width) : 128;
  if (own && own->align < align)
    own->align = align;
  return true;
}

Val ty_rule_tensor_load(Ty *ty, const TyCall *c) {
  Tensor t = {0};
  if (!read_tensor(ty, c, 1, 0, &t))
    return BOTTOM;
  uint32_t n = ty_read_barrier(ty, c, 3, false, t.args + t.n);
  Val mask = ty_read_multicast(ty, c, 5), policy;
  if (!n || ty_is_bottom(mask) || !ty_read_policy(ty, c, 6, &policy))
    return BOTTOM;
  t.n += n;
  t.args[t.n++] = mask, t.args[t.n++] = policy;
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), t.args, t.n);
  return ty_none(ty);
}

/* x, y and a pointer to the barrier, in one form a mask of blocks: numba-cuda-mlir's. */
Val ty_rule_tensor_load_2d(Ty *ty, const TyCall *c) {
  TyCall whole = {.id = INTR_CP_ASYNC_TENSOR, .name = c->name, .n = 7};
  Val at[] = {c->args[3], c->args[2]},
      args[] = {c->args[0], c->args[1], ty_make_tuple(ty, at, 2), c->args[4], ty_const_int(ty, 0)};
  for (uint32_t k = 0; k < sizeof args / sizeof *args; k++)
    whole.args[k] = args[k], whole.given[k] = true;
  if (c->n == 6) /* with a mask of blocks */
    whole.args[5] = c->args[5], whole.given[5] = true;
  return ty_is_bottom(args[2]) ? BOTTOM : ty_rule_tensor_load(ty, &whole);
}

Val ty_rule_tensor_store(Ty *ty, const TyCall *c) {
  Tensor t = {0};
  if (!read_tensor(ty, c, 0, 2, &t))
    return BOTTOM;
  if (t.args[1].type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, t.args[1]));
  Val reduction, policy;
  if (!ty_read_reduction(ty, c, 3, t.args[1].type->elem, &reduction) ||
      !ty_read_policy(ty, c, 4, &policy))
    return BOTTOM;
  t.args[t.n++] = reduction, t.args[t.n++] = policy;
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), t.args, t.n);
  return ty_none(ty);
}
