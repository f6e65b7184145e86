/* Rules of mbarriers and asynchronous copies. An mbarrier is a record of one field, so that arrays
 * of them are nothing else; an instruction gets the view of that field, with resolved indices. What
 * addresses are multiples of is looked at by the host device (runtime/host/copies.c), and memory of
 * the kernel's own begins where a copy needs it. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

enum { BULK_ALIGN = 16 };
#define FIELD "mbarrier"

const Type *ty_mbarrier(Ty *ty) {
  const RecordField field = {.name = FIELD, .type = ty_id(ty, TY_U64)};
  return ty_record(ty->cx, &field, 1, 8);
}

/* --- mbarriers --- */

uint32_t ty_read_barrier(Ty *ty, const TyCall *c, uint32_t k, bool elsewhere, Val *out) {
  Val a = c->args[k];
  bool space = a.type->id == TY_ARRAY &&
               (a.type->space == SPACE_SHARED || (elsewhere && a.type->space == SPACE_CLUSTER));
  if (!space || a.type->elem != ty_mbarrier(ty) || !a.type->ndim) {
    (void)ty_argument_type(ty, c, k, "an array of cuda.shared.array(n, cuda.mbarrier)");
    return 0;
  }
  out[0] = ty_get_barriers(ty, a);
  if (ty_is_bottom(out[0]))
    return 0;
  if (!ty_element(ty, a, c->args[k + 1], out + 1)) {
    (void)ty_argument_type(ty, c, k + 1, "an index of one barrier");
    return 0;
  }
  return 1 + a.type->ndim;
}

static Val read_integer(Ty *ty, const TyCall *c, uint32_t k) {
  Val v = c->args[k];
  if (!ty_is_number(v.type) || !ty_is_integral(v.type))
    return ty_argument_type(ty, c, k, "an integer");
  return ty_cast_id(ty, v, TY_I64);
}

static Val effect(Ty *ty, IntrinsicId id, const Val *args, uint32_t n) {
  (void)ty_intrinsic(ty, id, ty_id(ty, TY_VOID), args, n);
  return ty_none(ty);
}

Val ty_rule_mbarrier(Ty *ty, const TyCall *c) {
  Val args[TY_MAX_NDIM + 3];
  uint32_t n = ty_read_barrier(ty, c, 0, c->id == INTR_MBARRIER_ARRIVE, args);
  if (n && c->n > 2)
    args[n++] = read_integer(ty, c, 2);
  if (!n || ty_is_bottom(args[n - 1]))
    return BOTTOM;
  if (c->id == INTR_MBARRIER_TRY_WAIT)
    return ty_intrinsic(ty, c->id, ty_id(ty, TY_PYBOOL), args, n);
  bool elsewhere = c->args[0].type->space == SPACE_CLUSTER;
  return effect(ty, elsewhere ? INTR_MBARRIER_ARRIVE_CLUSTER : c->id, args, n);
}

/* barriers[0], which numba-cuda-mlir has a pointer to. */
Val ty_rule_first_barrier(Ty *ty, const TyCall *c, IntrinsicId of) {
  TyCall first = *c;
  first.id = of, first.n = 3;
  first.args[1] = ty_const_int(ty, 0), first.args[2] = c->args[1];
  first.given[2] = true;
  return ty_rule_mbarrier(ty, &first);
}

Val ty_rule_mbarrier_cluster(Ty *ty, const TyCall *c) {
  TyCall there = *c;
  Val args[TY_MAX_NDIM + 3];
  if (!ty_read_barrier(ty, c, 0, false, args))
    return BOTTOM;
  there.args[0] = ty_map_shared(ty, c, c->args[0], 2);
  if (ty_is_bottom(there.args[0]))
    return BOTTOM;
  uint32_t n = ty_read_barrier(ty, &there, 0, true, args);
  return n ? effect(ty, c->id, args, n) : BOTTOM;
}

static bool is_numbers(const Type *t, Space space) {
  return t->id == TY_ARRAY && t->space == space && ty_is_number(t->elem) && t->ndim;
}

/* The array, its indices, the barriers, their index, and a tuple of numbers; both arrays are those
 * of the other block. */
Val ty_rule_st_async(Ty *ty, const TyCall *c) {
  enum { MOST_BYTES = 16, MOST_ELEMENTS = 4 };
  TyCall there = *c;
  Val args[2 * TY_MAX_NDIM + 5], all[MOST_ELEMENTS], array = c->args[0], values = c->args[2];
  if (!is_numbers(array.type, SPACE_SHARED) || array.type->layout != LAYOUT_C)
    return ty_argument_type(ty, c, 0, "a C-contiguous array of numbers of cuda.shared.array");
  const Type *elem = array.type->elem;
  uint32_t size = (uint32_t)ty_size(elem), n = values.type->id == TY_TUPLE ? values.type->n : 1;
  if ((size != 4 && size != 8) || ty_is_complex(elem))
    return ty_argument_type(ty, c, 0, "an array of integers or floats of 4 or 8 bytes");
  if (n == 0 || n > MOST_ELEMENTS || (n & (n - 1)) || n * size > MOST_BYTES)
    return ty_argument_type(
        ty, c, 2, size == 4 ? "a number or a tuple of 2 or 4" : "a number or a tuple of 2");
  for (uint32_t k = 0; k < n; k++) {
    Val v = values.type->id == TY_TUPLE ? ty_item(ty, values, k) : values;
    if (ty_is_bottom(v))
      return BOTTOM;
    if (!ty_is_number(v.type) || !ty_can_store(v.type, elem))
      return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, v), TY_PRETTY(ty, array));
    all[k] = ty_cast(ty, v, elem);
  }
  uint32_t at = 1 + array.type->ndim, m;
  if (!ty_row_of_bytes(ty, c, n * size, n, args) || !ty_read_barrier(ty, c, 3, false, args + at))
    return BOTTOM;
  args[0] = ty_map_shared(ty, c, array, 5);
  there.args[3] = ty_map_shared(ty, c, c->args[3], 5);
  if (ty_is_bottom(args[0]) || ty_is_bottom(there.args[3]) ||
      !(m = ty_read_barrier(ty, &there, 3, true, args + at)))
    return BOTTOM;
  args[at + m] = ty_make_tuple(ty, all, n);
  return effect(ty, c->id, args, at + m + 1);
}

/* --- copies of a thread --- */

static bool check_arrays(Ty *ty, const TyCall *c, uint32_t global, uint32_t shared) {
  const Type *g = c->args[global].type, *s = c->args[shared].type;
  if (!is_numbers(g, SPACE_GLOBAL))
    (void)ty_argument_type(ty, c, global, "an array of numbers in global memory");
  else if (!is_numbers(s, SPACE_SHARED))
    (void)ty_argument_type(ty, c, shared, "an array of numbers of cuda.shared.array");
  else if (g->layout != LAYOUT_C || s->layout != LAYOUT_C || g->pointer)
    (void)TY_FAIL(ty, ERR_LAYOUT, c->name,
                  TY_PRETTY(ty, c->args[s->layout == LAYOUT_C ? global : shared]));
  else if (g->elem != s->elem)
    (void)TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                  arena_printf(&ty->cx->arena, "a copy keeps the type: %s is not %s",
                               ty_name(ty->cx, g->elem), ty_name(ty->cx, s->elem)));
  else
    return true;
  return false;
}

/* Whether so many elements are some of the count and lie behind the index, where indices are
 * checked. */
static void check_valid(Ty *ty, const TyCall *c, Val array, Val last_index, Val valid,
                        int64_t count) {
  if (!ty->emit || !ty->cx->checked)
    return;
  Val most = ty_const_int(ty, count);
  const char *out = arena_printf(&ty->cx->arena, "%s: valid={0}, of 0 to {1} elements", c->name);
  ty_check(ty, ty_int_test(ty, OP_GE, valid, ty_const_int(ty, 0)), "ValueError", out,
           (Val[]){valid, most}, 2);
  ty_check(ty, ty_int_test(ty, OP_LE, valid, most), "ValueError", out, (Val[]){valid, most}, 2);
  Val extent = ty_extent(ty, array, array.type->ndim - 1u);
  Val end = ty_int_op(ty, OP_ADD, last_index, valid);
  ty_check(
      ty, ty_int_test(ty, OP_LE, end, extent), "IndexError",
      arena_printf(&ty->cx->arena, "%s: valid={1} elements from {0} on of an axis of {2}", c->name),
      (Val[]){last_index, valid, extent}, 3);
}

Val ty_rule_cp_async(Ty *ty, const TyCall *c) {
  TyCall from = *c;
  Val args[2 * TY_MAX_NDIM + 6];
  int64_t count;
  if (!check_arrays(ty, c, 2, 0))
    return BOTTOM;
  if (!fz_get_int(c->args[4].konst, &count))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the number of %s", c->name), NULL);
  const Type *elem = c->args[0].type->elem;
  int64_t size = (int64_t)ty_size(elem), bytes = count > 0 && count <= 16 ? count * size : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                   arena_printf(&ty->cx->arena,
                                "it copies 4, 8 or 16 bytes, not %lld elements of type %s",
                                (long long)count, ty_name(ty->cx, elem)));
  bool part = c->given[5] && c->args[5].type->id != TY_NONE;
  Val valid = part ? read_integer(ty, c, 5) : ty_const_int(ty, count);
  from.args[0] = c->args[2], from.args[1] = c->args[3];
  uint32_t n = 1 + c->args[0].type->ndim, m = 1 + c->args[2].type->ndim;
  if (ty_is_bottom(valid) || !ty_row_of_bytes(ty, c, (uint32_t)bytes, (uint32_t)count, args) ||
      !ty_row_of_bytes(ty, &from, (uint32_t)bytes, part ? 1 : (uint32_t)count, args + n))
    return BOTTOM;
  if (part)
    check_valid(ty, c, c->args[2], args[n + m - 1], ty_cast_id(ty, valid, TY_PYINT), count);
  args[n + m] = ty_cast_id(ty, valid, TY_I64);
  args[n + m + 1] = ty_const_int(ty, bytes);
  return effect(ty, c->id, args, n + m + 2);
}

Val ty_rule_copy_groups(Ty *ty, const TyCall *c) {
  int64_t count;
  bool read = false;
  if (!fz_get_int(c->args[0].konst, &count))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the number of %s", c->name), NULL);
  if (count < 0 || count > INT32_MAX)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "the number of groups is not negative");
  if (c->n > 1 && c->given[1] && !fz_truth(c->args[1].konst, &read))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "read= of %s", c->name), NULL);
  Val args[] = {ty_const_int(ty, count), ty_const_int(ty, read)};
  return effect(ty, c->id, args, 2);
}

/* --- bulk copies --- */

static void align_own(Val array, uint32_t bytes) {
  IrAlloc *own = ty_own_memory(array.ins);
  if (own && own->align < bytes)
    own->align = bytes;
}

static Val elements(Ty *ty, Val array) {
  Val n = ty_const_int(ty, 1);
  for (unsigned k = 0; k < array.type->ndim; k++)
    n = ty_int_op(ty, OP_MUL, n, ty_extent(ty, array, k));
  return ty_cast_id(ty, n, TY_I64);
}

/* 0: none was given. */
Val ty_read_multicast(Ty *ty, const TyCall *c, uint32_t k) {
  int64_t mask;
  if (!c->given[k] || c->args[k].type->id == TY_NONE)
    return ty_cast_id(ty, ty_const_int(ty, 0), TY_I64);
  if (fz_get_int(c->args[k].konst, &mask) && (mask < 1 || mask > UINT16_MAX))
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                   arena_printf(&ty->cx->arena,
                                "multicast= has a bit for each block, of ranks 0 to 15, that gets "
                                "the copy: 1 to 65535, not %lld",
                                (long long)mask));
  return read_integer(ty, c, k);
}

/* The number of the word among `names`, from 1 on; 0: none; -1 after an error. */
static int read_word(Ty *ty, const TyCall *c, uint32_t k, const char *const *names, int n) {
  const Frozen *f = c->given[k] ? c->args[k].konst : NULL;
  if (!c->given[k] || c->args[k].type->id == TY_NONE)
    return 0;
  Buf all;
  buf_init(&all, &ty->cx->arena);
  for (int i = 0; i < n; i++) {
    if (f && f->kind == FZ_STR && !strcmp(f->text, names[i]))
      return i + 1;
    buf_printf(&all, "%s'%s'", !i ? "" : i + 1 < n ? ", " : " or ", names[i]);
  }
  (void)ty_argument_type(ty, c, k, all.text);
  return -1;
}

bool ty_read_policy(Ty *ty, const TyCall *c, uint32_t k, Val *out) {
  static const char *const names[] = {
#define POLICY(id, name) name,
#include "ir/bulk.def"
  };
  int n = read_word(ty, c, k, names, sizeof names / sizeof *names);
  *out = ty_const_int(ty, n);
  return n >= 0;
}

bool ty_read_reduction(Ty *ty, const TyCall *c, uint32_t k, const Type *elem, Val *out) {
  static const char *const names[] = {
#define REDUCTION(id, name, types) name,
#include "ir/bulk.def"
  };
  static const char *const types[] = {
#define REDUCTION(id, name, types) types,
#include "ir/bulk.def"
  };
  int n = read_word(ty, c, k, names, sizeof names / sizeof *names);
  if (n < 0)
    return false;
  *out = ty_const_int(ty, n);
  const char *own = ty_name(ty->cx, elem), *found = n ? strstr(types[n - 1], own) : own;
  if (found && (found == own || found == types[n - 1] || found[-1] == ' '))
    return true;
  (void)TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                arena_printf(&ty->cx->arena, "reduce='%s' is for %s, and these are elements of %s",
                             names[n - 1], types[n - 1], own));
  return false;
}

/* dst, src, elements of each, then the barrier, the mask, the policy. */
Val ty_rule_bulk_load(Ty *ty, const TyCall *c) {
  Val args[TY_MAX_NDIM + 8] = {c->args[0], c->args[1]};
  if (!check_arrays(ty, c, 1, 0))
    return BOTTOM;
  args[2] = elements(ty, c->args[0]), args[3] = elements(ty, c->args[1]);
  uint32_t n = ty_read_barrier(ty, c, 2, false, args + 4);
  Val mask = ty_read_multicast(ty, c, 4);
  if (!n || ty_is_bottom(mask) || !ty_read_policy(ty, c, 5, &args[5 + n]))
    return BOTTOM;
  align_own(c->args[0], BULK_ALIGN);
  args[4 + n] = mask;
  return effect(ty, c->id, args, 6 + n);
}

/* dst, src, elements of each, then the reduction, the policy. */
Val ty_rule_bulk_store(Ty *ty, const TyCall *c) {
  if (!check_arrays(ty, c, 0, 1))
    return BOTTOM;
  if (c->args[0].type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, c->args[0]));
  Val args[6] = {c->args[0], c->args[1], elements(ty, c->args[0]), elements(ty, c->args[1])};
  if (!ty_read_reduction(ty, c, 2, c->args[0].type->elem, &args[4]) ||
      !ty_read_policy(ty, c, 3, &args[5]))
    return BOTTOM;
  align_own(c->args[1], BULK_ALIGN);
  return effect(ty, c->id, args, 6);
}

/* --- the same of so many bytes, from the arrays' beginning on: numba-cuda-mlir's --- */

/* The elements that nbytes are; where indices are checked, that both arrays have them. */
static Val read_bytes(Ty *ty, const TyCall *c, uint32_t k, const Val counts[2]) {
  Val nbytes = read_integer(ty, c, k);
  if (ty_is_bottom(nbytes))
    return BOTTOM;
  int64_t size = (int64_t)ty_size(c->args[0].type->elem), n;
  if (fz_get_int(c->args[k].konst, &n) && (n <= 0 || n % BULK_ALIGN))
    return TY_FAIL(
        ty, ERR_ARGUMENTS, c->name,
        arena_printf(&ty->cx->arena, "it copies a multiple of 16 bytes, not %lld", (long long)n));
  nbytes = ty_cast_id(ty, nbytes, TY_PYINT);
  bool checked = ty->emit && ty->cx->checked;
  if (checked) {
    Val whole = ty_int_op(ty, OP_AND, nbytes, ty_const_int(ty, INT64_MIN | (BULK_ALIGN - 1)));
    ty_check(ty, ty_int_test(ty, OP_EQ, whole, ty_const_int(ty, 0)), "ValueError",
             arena_printf(&ty->cx->arena, "%s: it copies a multiple of 16 bytes, not {0}", c->name),
             &nbytes, 1);
  }
  for (unsigned a = 0; checked && a < 2; a++) {
    Val all = ty_int_op(ty, OP_MUL, ty_cast_id(ty, counts[a], TY_PYINT), ty_const_int(ty, size));
    ty_check(ty, ty_int_test(ty, OP_LE, nbytes, all), "IndexError",
             arena_printf(&ty->cx->arena, "%s: {0} bytes of an array of {1}", c->name),
             (Val[]){nbytes, all}, 2);
  }
  return ty_cast_id(ty, ty_int_op(ty, OP_FLOORDIV, nbytes, ty_const_int(ty, size)), TY_I64);
}

/* dst, src, the barriers, of which the first is meant, bytes. */
Val ty_rule_bulk_load_bytes(Ty *ty, const TyCall *c) {
  TyCall first = *c;
  if (!check_arrays(ty, c, 1, 0))
    return BOTTOM;
  Val args[TY_MAX_NDIM + 8] = {c->args[0], c->args[1]};
  Val counts[] = {elements(ty, c->args[0]), elements(ty, c->args[1])};
  args[2] = args[3] = read_bytes(ty, c, 3, counts);
  first.args[3] = ty_const_int(ty, 0);
  uint32_t n = ty_is_bottom(args[2]) ? 0 : ty_read_barrier(ty, &first, 2, false, args + 4);
  if (!n)
    return BOTTOM;
  align_own(c->args[0], BULK_ALIGN);
  args[4 + n] = ty_cast_id(ty, ty_const_int(ty, 0), TY_I64); /* no other block */
  args[5 + n] = ty_const_int(ty, 0);                         /* no policy */
  return effect(ty, INTR_CP_ASYNC_BULK, args, 6 + n);
}

/* dst, src, bytes. */
Val ty_rule_bulk_store_bytes(Ty *ty, const TyCall *c) {
  if (!check_arrays(ty, c, 0, 1))
    return BOTTOM;
  if (c->args[0].type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, c->args[0]));
  Val counts[] = {elements(ty, c->args[0]), elements(ty, c->args[1])};
  Val n = read_bytes(ty, c, 2, counts), none = ty_const_int(ty, 0);
  if (ty_is_bottom(n))
    return BOTTOM;
  align_own(c->args[1], BULK_ALIGN);
  return effect(ty, INTR_CP_ASYNC_BULK_STORE, (Val[]){c->args[0], c->args[1], n, n, none, none}, 6);
}
