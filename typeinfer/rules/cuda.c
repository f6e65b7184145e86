/* Rules of cuda.*: position in the grid, memory, synchronisation, atomics.
 *
 * Positions are pyints that are not negative. Shared and local arrays have a shape and a dtype that
 * are known while the kernel is compiled; constant arrays are frozen NumPy arrays. An atomic
 * operation finds its element as an assignment does (ty_element), and its row of ir/atomics.def
 * says which types have it. A cache hint (ir/hints.def) goes along with a load or store. */
#include <string.h>

#include "ir/libdevice.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

/* --- position in the grid --- */

static const Type *pyint(Ty *ty) { return ty_id(ty, TY_PYINT); }

static Val sreg(Ty *ty, IntrinsicId id) {
  Val v = ty_intrinsic(ty, id, pyint(ty), NULL, 0);
  ty_flag(v, INS_NONNEGATIVE);
  return v;
}

static Val exact(Ty *ty, Op op, Val a, Val b) {
  Val v = ty_op2(ty, op, pyint(ty), a, b);
  ty_flag(v, INS_NONNEGATIVE | INS_NO_WRAP);
  return v;
}

/* What a signature that ends "ndim" asks for: one value, or a tuple of 2 or 3. */
static Val by_axis(Ty *ty, const TyCall *c, Val (*one)(Ty *ty, int axis)) {
  int64_t n;
  if (!fz_get_int(c->args[0].konst, &n))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the number of axes of %s", c->name),
                           NULL);
  if (n < 1 || n > 3)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "ndim must be 1, 2 or 3");
  Val axes[3];
  for (int k = 0; k < n; k++)
    axes[k] = one(ty, k);
  return n == 1 ? axes[0] : ty_make_tuple(ty, axes, (uint32_t)n);
}

static Val grid_axis(Ty *ty, int k) {
  Val first = exact(ty, OP_MUL, sreg(ty, INTR_CTAID_X + (IntrinsicId)k),
                    sreg(ty, INTR_NTID_X + (IntrinsicId)k));
  return exact(ty, OP_ADD, first, sreg(ty, INTR_TID_X + (IntrinsicId)k));
}

static Val gridsize_axis(Ty *ty, int k) {
  return exact(ty, OP_MUL, sreg(ty, INTR_NCTAID_X + (IntrinsicId)k),
               sreg(ty, INTR_NTID_X + (IntrinsicId)k));
}

Val ty_rule_grid(Ty *ty, const TyCall *c) { return by_axis(ty, c, grid_axis); }
Val ty_rule_gridsize(Ty *ty, const TyCall *c) { return by_axis(ty, c, gridsize_axis); }

Val ty_rule_sreg(Ty *ty, const TyCall *c) {
  return ty_cast_id(ty, sreg(ty, c->id), ty_policy(ty->cx)->device_int);
}

Val ty_rule_warpsize(Ty *ty, const TyCall *c) {
  (void)c;
  return ty_const_int(ty, 32);
}

Val ty_rule_none(Ty *ty, const TyCall *c) { return TY_FAIL(ty, ERR_NOT_CALLABLE, c->name); }

/* --- memory --- */

/* The shape as constants: an int or a tuple of ints. Returns the number of axes, 0 after an error.
 * */
static unsigned read_shape(Ty *ty, const TyCall *c, Space space, int64_t *extents) {
  Val shape = c->args[0];
  bool is_tuple = shape.type->id == TY_TUPLE;
  uint32_t n = is_tuple ? shape.type->n : 1;
  const char *name = c->name;
  if (n == 0 || n > TY_MAX_NDIM) {
    (void)TY_FAIL(ty, ERR_SHAPE, name, arena_printf(&ty->cx->arena, "%u axes", n));
    return 0;
  }
  for (uint32_t k = 0; k < n; k++) {
    Val v = is_tuple ? ty_item(ty, shape, k) : shape;
    if (ty_is_bottom(v))
      return 0;
    if (!ty_is_integral(v.type)) {
      (void)TY_FAIL(ty, ERR_SHAPE, name,
                    arena_printf(&ty->cx->arena, "%s is no int", TY_PRETTY(ty, v)));
      return 0;
    }
    if (!fz_get_int(v.konst, &extents[k])) {
      (void)ty_not_constant(
          ty, arena_printf(&ty->cx->arena, "the shape of %s", name),
          space == SPACE_SHARED && n == 1
              ? "use a global constant, or shape 0 for dynamic shared memory: kernel[grid, block, stream, bytes](...)"
              : NULL);
      return 0;
    }
  }
  return n;
}

/* An element type: a scalar type object, or its name as NumPy takes it. */
static bool read_dtype(Ty *ty, const TyCall *c, const Type **out) {
  Val v = c->args[1];
  const Frozen *f = v.type->frozen;
  TypeId id = TY_SCALARS;
  if (v.type->id == TY_FUNC && f->kind == FZ_INTRINSIC && f->i == INTR_CUDA_MBARRIER &&
      c->id == INTR_CUDA_SHARED_ARRAY) {
    *out = ty_mbarrier(ty);
    return true;
  }
  if (v.type->id == TY_DTYPE && f->type == TY_RECORD) {
    *out = ty_elem(ty, TY_RECORD, f->text);
    return true;
  }
  const Type *date = ty_date_type(ty, v);
  if (date) {
    *out = date;
    return true;
  }
  if (v.type->id == TY_DTYPE)
    id = ty_strengthen(f->type);
  else if (v.type->id == TY_STR && f)
    id = ty_by_name(f->text, f->n);
  if (id == TY_SCALARS || id == TY_NONE || id == TY_VOID || ty_scalar_info[id].weak) {
    (void)TY_FAIL(ty, ERR_DTYPE, c->name, TY_PRETTY(ty, v));
    return false;
  }
  *out = ty_id(ty, id);
  return true;
}

static bool read_alignment(Ty *ty, const TyCall *c, uint32_t *out) {
  int64_t n = 0;
  if (!c->given[2] || c->args[2].type->id == TY_NONE)
    return true;
  if (!fz_get_int(c->args[2].konst, &n)) {
    (void)ty_not_constant(ty, arena_printf(&ty->cx->arena, "the alignment of %s", c->name), NULL);
    return false;
  }
  if (n < 1 || n > 1024 || (n & (n - 1))) {
    (void)TY_FAIL(ty, ERR_ARGUMENTS, c->name, "the alignment must be a power of two, at most 1024");
    return false;
  }
  *out = (uint32_t)n;
  return true;
}

static bool check_extents(Ty *ty, const TyCall *c, IrAlloc *a, unsigned n, Space space,
                          const Type *elem) {
  int64_t bytes = (int64_t)ty_size(elem), limit = INT32_MAX;
  a->dynamic = space == SPACE_SHARED && n == 1 && a->extents[0] == 0;
  for (unsigned k = 0; k < n && !a->dynamic; k++)
    if (a->extents[k] <= 0) {
      (void)TY_FAIL(
          ty, ERR_SHAPE, c->name,
          arena_printf(&ty->cx->arena, "axis %u has %lld elements", k, (long long)a->extents[k]));
      return false;
    } else if (__builtin_mul_overflow(bytes, a->extents[k], &bytes) || bytes > limit) {
      (void)TY_FAIL(ty, ERR_SHAPE, c->name, "it needs more than 2 GB");
      return false;
    }
  return true;
}

Val ty_rule_alloc(Ty *ty, const TyCall *c, Space space) {
  IrAlloc *a = CX_NEW(ty->cx, IrAlloc);
  const Type *elem;
  unsigned n = read_shape(ty, c, space, a->extents);
  if (!n || !read_dtype(ty, c, &elem) || !read_alignment(ty, c, &a->align) ||
      !check_extents(ty, c, a, n, space, elem))
    return BOTTOM;
  a->name = ty->at->name;
  Val r = ty_op(ty, OP_ALLOC, ty_array(ty->cx, elem, n, LAYOUT_C, space, false, false), NULL, 0);
  if (r.ins) {
    r.ins->aux.alloc = a;
    r.ins->name = a->name;
    ty->p->program->uses_dynamic_shared |= a->dynamic;
  }
  if (!a->dynamic) {
    Val *extents = CX_ARRAY(ty->cx, Val, n);
    for (unsigned k = 0; k < n; k++)
      extents[k] = ty_const_int(ty, a->extents[k]);
    r.items = extents;
  }
  return r;
}

Val ty_rule_const_array(Ty *ty, const TyCall *c) {
  Val a = c->args[0];
  if (a.type->id == TY_ARRAY && a.konst && a.konst->kind == FZ_ARRAY)
    return a;
  return TY_FAIL(ty, ERR_CONST_ARRAY, c->name, TY_PRETTY(ty, a));
}

/* --- compile time --- */

Val ty_rule_static_assert(Ty *ty, const TyCall *c) {
  Val condition = ty_truth(ty, c->args[0]);
  const Frozen *message = c->args[1].konst;
  bool holds;
  if (!message || message->kind != FZ_STR)
    return ty_argument_type(ty, c, 1, "a literal text");
  if (ty_is_bottom(condition))
    return BOTTOM;
  if (!fz_truth(condition.konst, &holds))
    return ty_not_constant(
        ty, arena_printf(&ty->cx->arena, "the condition of %s (%s)", c->name, message->text), NULL);
  return holds ? ty_none(ty) : TY_FAIL(ty, ERR_STATIC_ASSERT, message->text);
}

/* An assertion that is no branch where kernels do not raise: an assert ends the thread there. */
Val ty_rule_assume(Ty *ty, const TyCall *c) {
  Val condition = ty_truth(ty, c->args[0]);
  const Frozen *message = c->args[1].konst;
  if (!message || message->kind != FZ_STR)
    return ty_argument_type(ty, c, 1, "a literal text");
  if (ty_is_bottom(condition))
    return BOTTOM;
  ty_check(ty, condition, "AssertionError", message->text, NULL, 0);
  return ty_none(ty);
}

/* --- synchronisation --- */

Val ty_rule_void0(Ty *ty, const TyCall *c) {
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), NULL, 0);
  return ty_none(ty);
}

Val ty_rule_sync_pred(Ty *ty, const TyCall *c) {
  Val p = ty_truth(ty, c->args[0]);
  Val r = ty_intrinsic(ty, c->id, pyint(ty), &p, 1);
  ty_flag(r, INS_NONNEGATIVE);
  return ty_cast_id(ty, r, ty_policy(ty->cx)->device_int);
}

/* --- atomics --- */

static bool fits_atomic(AtomicOp op, const Type *e) {
  enum { NUMBER, INTEGER, UNSIGNED };
  static const uint8_t elements[] = {
#define A(ID, text, elements, of_signed, of_unsigned) [ATOMIC_##ID] = elements,
#include "ir/atomics.def"
#undef A
  };
  switch (ty_kind(e)) {
  case KIND_UINT: return true;
  case KIND_INT: return elements[op] != UNSIGNED;
  case KIND_FLOAT: return elements[op] == NUMBER && !ty_is_float8(e->id);
  default: return false;
  }
}

static bool check_atomic(Ty *ty, const TyCall *c, AtomicOp op) {
  Val a = c->args[0];
  if (a.type->id != TY_ARRAY) {
    (void)ty_argument_type(ty, c, 0, "an array");
    return false;
  }
  const Type *e = a.type->elem;
  if (!fits_atomic(op, e)) {
    (void)TY_FAIL(ty, ERR_ATOMIC_TYPE, c->name, ty_name(ty->cx, e));
    return false;
  }
  if (a.type->readonly) {
    (void)TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, a));
    return false;
  }
  if (a.type->align) {
    (void)TY_FAIL(ty, ERR_ATOMIC_ALIGN, c->name, ty_name(ty->cx, e), (int)a.type->align);
    return false;
  }
  return true;
}

/* Argument k is no index of one element of argument 0. */
static Val not_an_element(Ty *ty, const TyCall *c, uint32_t k) {
  unsigned n = c->args[0].type->ndim;
  return ty_argument_type(
      ty, c, k, arena_printf(&ty->cx->arena, "an index with %u integer%s", n, n == 1 ? "" : "s"));
}

/* On one element of the checked array; the operation's values are the arguments from number `first`
 * on. */
static Val on_element(Ty *ty, const TyCall *c, AtomicOp op, Val *args, uint32_t first) {
  Val a = args[0] = c->args[0];
  uint32_t n = 1 + a.type->ndim;
  for (uint32_t k = first; k < c->n; k++) {
    if (!ty_is_number(c->args[k].type))
      return ty_argument_type(ty, c, k, "a number");
    args[n++] = ty_cast(ty, c->args[k], a.type->elem);
  }
  return ty_op_i(ty, OP_ATOMIC, a.type->elem, op, args, n);
}

Val ty_rule_atomic(Ty *ty, const TyCall *c, AtomicOp op) {
  Val args[TY_MAX_NDIM + 3];
  if (!check_atomic(ty, c, op))
    return BOTTOM;
  return ty_element(ty, c->args[0], c->args[1], args + 1) ? on_element(ty, c, op, args, 2)
                                                          : not_an_element(ty, c, 1);
}

/* Of the element at the start. */
Val ty_rule_cas_first(Ty *ty, const TyCall *c) {
  Val args[TY_MAX_NDIM + 3];
  if (!check_atomic(ty, c, ATOMIC_CAS))
    return BOTTOM;
  for (unsigned k = 0; k < c->args[0].type->ndim; k++)
    args[1 + k] = ty_const_int(ty, 0);
  return on_element(ty, c, ATOMIC_CAS, args, 1);
}

/* --- cache hints --- */

/* The access to one element of numbers, as array[index]; value is NULL for a load. */
static Val hinted(Ty *ty, const TyCall *c, CacheHint hint, const Val *value) {
  Val a = c->args[0], args[TY_MAX_NDIM + 2] = {a};
  if (a.type->id != TY_ARRAY || !ty_is_number(a.type->elem))
    return ty_argument_type(ty, c, 0, "an array of numbers");
  if (!ty_element(ty, a, c->args[1], args + 1))
    return not_an_element(ty, c, 1);
  uint32_t n = 1 + a.type->ndim;
  if (!value)
    return ty_op_i(ty, OP_LOAD, a.type->elem, hint, args, n);
  if (a.type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, a));
  if (!ty_can_store(value->type, a.type->elem))
    return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, *value), TY_PRETTY(ty, a));
  args[n++] = ty_cast(ty, *value, a.type->elem);
  (void)ty_op_i(ty, OP_STORE, ty_id(ty, TY_VOID), hint, args, n);
  return ty_none(ty);
}

Val ty_rule_load_hint(Ty *ty, const TyCall *c, CacheHint hint) { return hinted(ty, c, hint, NULL); }
Val ty_rule_store_hint(Ty *ty, const TyCall *c, CacheHint hint) {
  return hinted(ty, c, hint, &c->args[2]);
}

/* --- libdevice --- */

/* Arguments are converted as by a store; the result, and what the function writes to addresses in
 * C, in a tuple if they are many. */
Val ty_rule_libdevice(Ty *ty, const TyCall *c) {
  const LibdeviceInfo *f = ir_libdevice(c->id);
  Val args[LIBDEVICE_MAX_PARAMS];
  const Type *results[1 + LIBDEVICE_MAX_OUTPUTS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n; k++) {
    if (!ty_is_number(c->args[k].type) || ty_is_complex(c->args[k].type))
      return ty_argument_type(ty, c, k, "a number");
    args[k] = ty_cast_id(ty, c->args[k], f->params[k]);
  }
  if (f->result != TY_VOID)
    results[n++] = ty_id(ty, f->result);
  for (uint32_t k = 0; k < f->noutputs; k++)
    results[n++] = ty_id(ty, f->outputs[k]);
  const Type *type = n == 1 ? results[0] : ty_tuple(ty->cx, results, n);
  return ty_intrinsic(ty, c->id, type, args, c->n);
}

/* --- bits, selection, time --- */

/* The same bits as 32: with zeros before them where they are counted, as CUDA C++ passes the number
 * else. */
static Val as_32_bits(Ty *ty, IntrinsicId id, Val x) {
  static const TypeId without_sign[] = {[1] = TY_U8, [2] = TY_U16};
  bool is_signed = ty_kind(x.type) == KIND_INT;
  if (id != INTR_CUDA_POPC && id != INTR_CUDA_CLZ)
    return ty_cast_id(ty, x, is_signed ? TY_I32 : TY_U32);
  return ty_cast_id(ty, ty_cast_id(ty, x, without_sign[ty_bits(x.type) / 8]), TY_U32);
}

Val ty_rule_bits(Ty *ty, const TyCall *c) {
  Val x = c->args[0];
  TypeKind kind = ty_is_number(x.type) ? ty_kind(x.type) : KIND_OTHER;
  if (kind != KIND_INT && kind != KIND_UINT)
    return ty_argument_type(ty, c, 0, "an integer");
  unsigned bits = ty_bits(x.type);
  if (bits < 32)
    x = as_32_bits(ty, c->id, x);
  bool count = c->id != INTR_CUDA_BREV;
  Val v = ty_intrinsic(ty, c->id, count ? pyint(ty) : x.type, &x, 1);
  if (count)
    ty_flag(v, INS_NONNEGATIVE);
  if (bits < 32 && c->id == INTR_CUDA_CLZ)
    v = ty_binary(ty, OP_SUB, v, ty_const_int(ty, 32 - bits));
  if (!ty_policy(ty->cx)->counts_as_given)
    return v;
  return ty_cast_id(ty, v,
                    c->id == INTR_CUDA_FFS ? TY_U32
                    : count                ? c->args[0].type->id
                    : bits > 32            ? TY_U64
                                           : TY_U32);
}

Val ty_rule_selp(Ty *ty, const TyCall *c) {
  Val a = ty_truth(ty, c->args[0]);
  for (uint32_t k = 1; k < 3; k++)
    if (!ty_is_value(c->args[k].type))
      return ty_argument_type(ty, c, k, "a number");
  const Type *t = ty_join(ty, c->args[1].type, c->args[2].type);
  if (ty_is_bottom(a))
    return BOTTOM;
  if (!t)
    return TY_FAIL(ty, ERR_BAD_OPERANDS, c->name, TY_PRETTY(ty, c->args[1]),
                   TY_PRETTY(ty, c->args[2]));
  return ty_select(ty, a, ty_cast(ty, c->args[1], t), ty_cast(ty, c->args[2], t));
}

Val ty_rule_nanosleep(Ty *ty, const TyCall *c) {
  if (!ty_is_number(c->args[0].type) || !ty_is_integral(c->args[0].type))
    return ty_argument_type(ty, c, 0, "an integer");
  Val ns = ty_cast_id(ty, c->args[0], TY_U32);
  (void)ty_intrinsic(ty, c->id, ty_id(ty, TY_VOID), &ns, 1);
  return ty_none(ty);
}
