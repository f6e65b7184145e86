/* Fold: compile-time values. Weak numbers are folded as Python computes them: integers may leave 64
 * bits on the way, and where one does not come back it has no value in the kernel (ty_ins
 * raises). */
#include <math.h>
#include <string.h>

#include "ir/base/half.h"
#include "ir/base/suggest.h"
#include "typeinfer/value/value.h"
#include "typeinfer/value/wide.h"

const Frozen *ty_canonical(TyProgram *p, const Frozen *f) {
  for (uint32_t k = 0; k < p->frozen.len; k++)
    if (fz_same(p->frozen.data[k], f))
      return p->frozen.data[k];
  VEC_PUSH(&p->cx->arena, &p->frozen, f);
  return f;
}

static bool is_float_const(const Frozen *f) {
  return f->kind == FZ_FLOAT ||
         (f->kind == FZ_SCALAR && ty_scalar_info[f->type].kind == KIND_FLOAT);
}

/* --- arithmetic on weak numbers --- */

typedef enum NumKind { NUM_NO, NUM_BOOL, NUM_INT, NUM_FLOAT } NumKind;
typedef struct Num {
  NumKind kind;
  int64_t i;
  double d;
} Num;

static Num num_of(const Frozen *f) {
  switch (f->kind) {
  case FZ_BOOL: return (Num){NUM_BOOL, f->i, (double)f->i};
  case FZ_INT: return (Num){NUM_INT, f->i, f->wide ? wide_double(f) : (double)f->i};
  case FZ_FLOAT: return (Num){NUM_FLOAT, 0, f->re};
  case FZ_SCALAR: /* of the weak numbers' storage: computed alike as long as nothing overflows */
    return f->type == TY_I64   ? (Num){NUM_INT, f->i, (double)f->i}
           : f->type == TY_F64 ? (Num){NUM_FLOAT, 0, f->re}
                               : (Num){0};
  default: return (Num){0};
  }
}

static bool floor_div(int64_t a, int64_t b, int64_t *q, int64_t *r) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  *q = a / b;
  *r = a % b;
  if (*r && (*r < 0) != (b < 0)) {
    *r += b;
    --*q;
  }
  return true;
}

static bool power(int64_t a, int64_t n, int64_t *out) {
  int64_t r = 1;
  if (n < 0 || n > 64)
    return false;
  for (int64_t k = 0; k < n; k++)
    if (__builtin_mul_overflow(r, a, &r))
      return false;
  *out = r;
  return true;
}

static const Frozen *fold_int(Cx *cx, Op op, int64_t a, int64_t b) {
  int64_t r = 0, other;
  bool ok = true;
  switch (op) {
  case OP_ADD: ok = !__builtin_add_overflow(a, b, &r); break;
  case OP_SUB: ok = !__builtin_sub_overflow(a, b, &r); break;
  case OP_MUL: ok = !__builtin_mul_overflow(a, b, &r); break;
  case OP_FLOORDIV: ok = floor_div(a, b, &r, &other); break;
  case OP_MOD: ok = floor_div(a, b, &other, &r); break;
  case OP_POW: ok = power(a, b, &r); break;
  case OP_AND: r = a & b; break;
  case OP_OR: r = a | b; break;
  case OP_XOR: r = a ^ b; break;
  case OP_LSHIFT:
    ok = b >= 0 && b < 63 && a >= 0 && a <= INT64_MAX >> b;
    r = ok ? a << b : 0;
    break;
  case OP_RSHIFT:
    ok = b >= 0 && b < 64;
    r = ok ? a >> b : 0;
    break;
  default: ok = false; break;
  }
  return ok ? fz_int(cx, r) : NULL;
}

/* Of what wide_compare gives: 2 is a nan, which has no place in the order. */
static const Frozen *fold_order(Cx *cx, Op op, int order) {
  bool less = order == -1, equal = order == 0, greater = order == 1;
  switch (op) {
  case OP_LT: return fz_bool(cx, less);
  case OP_LE: return fz_bool(cx, less || equal);
  case OP_EQ: return fz_bool(cx, equal);
  case OP_NE: return fz_bool(cx, !equal);
  case OP_GT: return fz_bool(cx, greater);
  case OP_GE: return fz_bool(cx, greater || equal);
  default: return NULL;
  }
}

static const Frozen *fold_compare(Cx *cx, Op op, Num a, Num b) {
  bool ints = a.kind != NUM_FLOAT && b.kind != NUM_FLOAT;
  if (!ints && (fabs(a.d) > 0x1p53 || fabs(b.d) > 0x1p53) && a.kind != b.kind)
    return NULL;
  int order = ints                       ? (a.i > b.i) - (a.i < b.i)
              : isnan(a.d) || isnan(b.d) ? 2
                                         : (a.d > b.d) - (a.d < b.d);
  return fold_order(cx, op, order);
}

/* Where one is beyond 64 bits. */
static const Frozen *compare_wide(Cx *cx, Op op, const Frozen *a, const Frozen *b) {
  int order = wide_compare(a, b);
  bool unknown = order == 2 && a->kind != FZ_FLOAT && b->kind != FZ_FLOAT;
  return unknown ? NULL : fold_order(cx, op, order);
}

/* What leaves the finite numbers stays an operation, which check="nan" finds. */
static const Frozen *fold_float(Cx *cx, Op op, double a, double b) {
  double r = 0;
  switch (op) {
  case OP_ADD: r = a + b; break;
  case OP_SUB: r = a - b; break;
  case OP_MUL: r = a * b; break;
  case OP_TRUEDIV:
    if (b == 0)
      return NULL;
    r = a / b;
    break;
  default: return NULL;
  }
  return isfinite(r) || !isfinite(a) || !isfinite(b) ? fz_float(cx, r) : NULL;
}

static const Frozen *fold_strings(Cx *cx, Op op, const Frozen *a, const Frozen *b) {
  bool same = a->n == b->n && !memcmp(a->text, b->text, a->n);
  uint32_t n = a->n < b->n ? a->n : b->n;
  int first = memcmp(a->text, b->text, n); /* UTF-8 has the order of the characters */
  bool less = first < 0 || (!first && a->n < b->n);
  switch (op) {
  case OP_EQ: return fz_bool(cx, same);
  case OP_NE: return fz_bool(cx, !same);
  case OP_LT: return fz_bool(cx, less);
  case OP_LE: return fz_bool(cx, less || same);
  case OP_GT: return fz_bool(cx, !less && !same);
  case OP_GE: return fz_bool(cx, !less);
  default: return NULL;
  }
}

static bool is_wide(const Frozen *f) { return f->kind == FZ_INT && f->wide; }

/* Python converts the integer, and has an OverflowError for one that no float is near to: that
 * integer is the result, which no kernel takes. */
static const Frozen *wide_beside_float(Cx *cx, Op op, const Frozen *a, double x, const Frozen *b,
                                       double y) {
  if (is_wide(a) && !isfinite(x))
    return a;
  return is_wide(b) && !isfinite(y) ? b : fold_float(cx, op, x, y);
}

const Frozen *ty_fold_binary(Cx *cx, Op op, const Frozen *a, const Frozen *b) {
  if (!a || !b)
    return NULL;
  if (a->kind == FZ_STR && b->kind == FZ_STR)
    return fold_strings(cx, op, a, b);
  Num x = num_of(a), y = num_of(b);
  if (!x.kind || !y.kind)
    return NULL;
  bool compares = op >= OP_LT && op <= OP_GE, wide = is_wide(a) || is_wide(b);
  bool weak = a->kind != FZ_SCALAR && b->kind != FZ_SCALAR;
  if (compares && wide)
    return weak ? compare_wide(cx, op, a, b) : NULL;
  if (compares)
    return fold_compare(cx, op, x, y);
  bool floats = x.kind == NUM_FLOAT || y.kind == NUM_FLOAT;
  bool exact = fabs(x.d) <= 0x1p53 && fabs(y.d) <= 0x1p53;
  if (wide && !weak)
    return NULL;
  if (wide || (weak && !floats && op == OP_TRUEDIV && !exact))
    return floats ? wide_beside_float(cx, op, a, x.d, b, y.d) : wide_binary(cx, op, a, b);
  if (x.kind == NUM_BOOL && y.kind == NUM_BOOL && (op == OP_AND || op == OP_OR || op == OP_XOR))
    return fz_bool(cx, op == OP_AND ? x.i & y.i : op == OP_OR ? x.i | y.i : x.i ^ y.i);
  if (x.kind == NUM_FLOAT || y.kind == NUM_FLOAT || op == OP_TRUEDIV)
    return fold_float(cx, op, x.d, y.d);
  const Frozen *k = fold_int(cx, op, x.i, y.i);
  return k || !weak || !ty_policy(cx)->weak ? k : wide_binary(cx, op, a, b);
}

const Frozen *ty_fold_unary(Cx *cx, Op op, const Frozen *a) {
  Num x = a ? num_of(a) : (Num){0};
  if (!x.kind)
    return NULL;
  if (is_wide(a) || (a->kind == FZ_INT && x.i == INT64_MIN && ty_policy(cx)->weak))
    return wide_unary(cx, op, a);
  switch (op) {
  case OP_NEG:
    if (x.kind == NUM_FLOAT)
      return fz_float(cx, -x.d);
    return x.i == INT64_MIN ? NULL : fz_int(cx, -x.i);
  case OP_POS: return x.kind == NUM_FLOAT ? a : fz_int(cx, x.i);
  case OP_INVERT: return x.kind == NUM_FLOAT ? NULL : fz_int(cx, ~x.i);
  default: return NULL;
  }
}

/* --- conversion --- */

static int64_t wrap_int(int64_t v, TypeId to) {
  unsigned bits = ty_scalar_info[to].bits;
  if (bits >= 64)
    return v;
  uint64_t u = (uint64_t)v << (64 - bits);
  return ty_scalar_info[to].kind == KIND_UINT ? (int64_t)(u >> (64 - bits))
                                              : (int64_t)u >> (64 - bits);
}

/* Saturates; nan gives 0. */
static int64_t float_to_int(double d, TypeId to) {
  unsigned bits = ty_scalar_info[to].bits;
  bool is_unsigned = ty_scalar_info[to].kind == KIND_UINT;
  if (isnan(d))
    return 0;
  if (is_unsigned) {
    if (d <= 0)
      return 0;
    if (d >= ldexp(1, (int)bits))
      return bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
    return (int64_t)(uint64_t)d;
  }
  if (d >= ldexp(1, (int)bits - 1))
    return bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
  if (d < -ldexp(1, (int)bits - 1))
    return bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
  return (int64_t)d;
}

static double as_double(const Frozen *f) {
  if (is_float_const(f))
    return f->re;
  if (f->wide && f->text)
    return wide_double(f);
  bool is_unsigned = f->wide || (f->kind == FZ_SCALAR && f->type == TY_U64);
  return is_unsigned ? (double)(uint64_t)f->i : (double)f->i;
}

/* Rounded once, straight from the constant; a Python int becomes a float32 by way of a double, as
 * NumPy has it. */
static double as_float(const Frozen *f, TypeId to) {
  bool is_unsigned = f->wide || (f->kind == FZ_SCALAR && f->type == TY_U64);
  const HalfFormat *half = ty_half_format(to);
  if (f->wide && f->text && half) /* by way of a double */
    return half_round(half, wide_double(f));
  if (to == TY_F32 && f->kind == FZ_SCALAR && !is_float_const(f))
    return is_unsigned ? (double)(float)(uint64_t)f->i : (double)(float)f->i;
  if (!half)
    return to == TY_F32 ? (double)(float)as_double(f) : as_double(f);
  bool negative = !is_unsigned && f->i < 0;
  double v = is_float_const(f) ? f->re
                               : half_sticky(negative, negative ? -(uint64_t)f->i : (uint64_t)f->i);
  return half_round(half, v);
}

/* Has an integer beyond 64 bits that type: as a truth value, as a float in its range, and as the
 * Python int that it is. */
static bool wide_fits(const Frozen *f, TypeId to) {
  TypeKind kind = ty_scalar_info[to].kind;
  return kind == KIND_BOOL || to == TY_PYINT || (kind == KIND_FLOAT && isfinite(wide_double(f)));
}

const Frozen *ty_fold_cast(Cx *cx, const Frozen *f, TypeId to) {
  bool number = f && (f->kind == FZ_BOOL || f->kind == FZ_INT || f->kind == FZ_FLOAT ||
                      f->kind == FZ_SCALAR);
  if (!number || (f->wide && f->text && !wide_fits(f, to)) ||
      (f->kind == FZ_SCALAR && ty_scalar_info[f->type].kind == KIND_COMPLEX))
    return NULL;
  TypeKind kind = ty_scalar_info[to].kind;
  Frozen *r = CX_NEW(cx, Frozen);
  switch (kind) {
  case KIND_BOOL: r->i = is_float_const(f) ? f->re != 0 : f->wide || f->i; break;
  case KIND_INT:
  case KIND_UINT: r->i = is_float_const(f) ? float_to_int(f->re, to) : wrap_int(f->i, to); break;
  case KIND_FLOAT: r->re = as_float(f, to); break;
  default: return NULL;
  }
  r->type = to;
  r->kind = FZ_SCALAR;
  if (ty_scalar_info[to].weak) {
    r->kind = kind == KIND_BOOL ? FZ_BOOL : kind == KIND_FLOAT ? FZ_FLOAT : FZ_INT;
    r->type = TY_VOID;
    if (to == TY_PYINT && f->wide) { /* stays what it was written as: uint64 may take it */
      r->wide = true;
      r->i = f->i;
      r->text = f->text;
    }
  }
  return r;
}

const Frozen *ty_normal(Cx *cx, const Frozen *f, const Type *t) {
  const Frozen *c = ty_fold_cast(cx, f, t->id);
  if (!c)
    return f;
  switch (ty_kind(t)) {
  case KIND_BOOL: return fz_bool(cx, c->i != 0);
  case KIND_FLOAT: return fz_float(cx, c->re);
  case KIND_UINT: return fz_uint(cx, (uint64_t)c->i);
  default: return fz_int(cx, c->i);
  }
}

bool ty_int_fits(const Frozen *f, TypeId to) {
  const ScalarInfo *s = &ty_scalar_info[to];
  if (f->wide)
    return !f->text && s->kind == KIND_UINT && s->bits == 64;
  if (s->kind == KIND_UINT)
    return f->i >= 0 && (s->bits == 64 || f->i < INT64_C(1) << s->bits);
  return s->bits == 64 ||
         (f->i >= -(INT64_C(1) << (s->bits - 1)) && f->i < INT64_C(1) << (s->bits - 1));
}

/* --- values --- */

Val ty_constant(Ty *ty, const Frozen *f, TypeId id) {
  const Frozen *k = ty_fold_cast(ty->cx, f, id);
  return (Val){.type = ty_id(ty, id), .konst = k ? k : f};
}

Val ty_const_int(Ty *ty, int64_t v) {
  return (Val){.type = ty_id(ty, TY_PYINT), .konst = fz_int(ty->cx, v)};
}
Val ty_const_float(Ty *ty, double v) {
  return (Val){.type = ty_id(ty, TY_PYFLOAT), .konst = fz_float(ty->cx, v)};
}
Val ty_const_bool(Ty *ty, bool v) {
  return (Val){.type = ty_id(ty, TY_PYBOOL), .konst = fz_bool(ty->cx, v)};
}
Val ty_none(Ty *ty) { return (Val){.type = ty_id(ty, TY_NONE), .konst = fz_none(ty->cx)}; }

Val ty_scalar_const(Ty *ty, TypeId id, double v) {
  if (ty_scalar_info[id].kind == KIND_COMPLEX)
    return (Val){.type = ty_id(ty, id), .konst = fz_complex(ty->cx, id, v, 0)};
  return (Val){.type = ty_id(ty, id), .konst = ty_fold_cast(ty->cx, fz_float(ty->cx, v), id)};
}

static Val object(Ty *ty, TypeId id, const Frozen *f) {
  f = ty_canonical(ty->p, f);
  return (Val){.type = ty_frozen(ty->cx, id, f, NULL, 0), .konst = f};
}

/* Takes a tuple's elements, and those of the tuples in it, off *left. Thirty tuples can be a tree
 * of 2**30, if each holds the one before twice. */
static bool too_large(const Frozen *f, int depth, uint32_t *left) {
  if (depth > TY_MAX_DEPTH || f->n > TY_MAX_TUPLE || f->n > *left)
    return true;
  *left -= f->n;
  for (uint32_t k = 0; k < f->n; k++)
    if (f->items[k]->kind == FZ_TUPLE && too_large(f->items[k], depth + 1, left))
      return true;
  return false;
}

static Val tuple_const(Ty *ty, const Frozen *f) {
  uint32_t left = 1 << 17;
  if (too_large(f, 1, &left))
    return TY_FAIL(
        ty, ERR_TOO_LARGE, "the tuple",
        "it has more than 4096 elements, more than 131072 with those of the tuples in it, or is nested too deep");
  const Type **types = CX_ARRAY(ty->cx, const Type *, f->n + 1);
  for (uint32_t k = 0; k < f->n; k++) {
    Val v = ty_const(ty, f->items[k]);
    if (ty_is_bottom(v))
      return BOTTOM;
    types[k] = v.type;
  }
  return (Val){.type = f->names ? ty_named_tuple(ty->cx, types, f->n, f->names, f->text)
                                : ty_tuple(ty->cx, types, f->n),
               .konst = f};
}

const Type *ty_elem(Ty *ty, TypeId id, const char *record) {
  const char *error = NULL;
  const Type *t = id >= TY_SCALARS ? ty_parse(ty->cx, &record, &error) : ty_id(ty, id);
  CX_ASSERT(ty->cx, t);
  return t;
}

static Val array_const(Ty *ty, const Frozen *f) {
  const FrozenArray *a = f->array;
  const Type *elem = ty_elem(ty, a->elem, a->record);
  bool wide = ty_is_wide(a->extents, a->ndim);
  return (Val){.type = ty_array(ty->cx, elem, a->ndim, LAYOUT_C, SPACE_CONST, wide, true),
               .konst = f};
}

static Val device_array_const(Ty *ty, const Frozen *f) {
  const char *text = f->text, *error = NULL;
  const Type *t = ty_parse(ty->cx, &text, &error);
  CX_ASSERT(ty->cx, t && t->id == TY_ARRAY && t->ndim == f->array->ndim);
  return (Val){.type = t, .konst = f};
}

static Val int_const(Ty *ty, const Frozen *f) {
  bool strong = f->wide && !ty_policy(ty->cx)->weak; /* uint64, as Numba takes it */
  if (strong && f->text)
    return TY_FAIL(ty, ERR_LITERAL_RANGE, fz_text(ty->cx, f), "64 bits");
  return (Val){.type = ty_id(ty, strong ? TY_U64 : TY_PYINT), .konst = f};
}

/* A NumPy scalar keeps its type; Numba's typing has no weak numbers, which ty_eval takes care
 * of. */
static Val scalar_const(Ty *ty, const Frozen *f) {
  return (Val){.type = ty_id(ty, f->type), .konst = f};
}

/* What to do about a name that nobody has imported; NULL. */
static const char *import_advice(Ty *ty, const char *name) {
  static const char *const spaces[] = {"cuda", "math"};
  for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
    const char *path = arena_printf(&ty->cx->arena, "%s.%s", spaces[k], name);
    if (ir_intrinsic_by_path(path) != INTR_NONE)
      return arena_printf(&ty->cx->arena, "write %s, or import the name", path);
  }
  for (TypeId id = TY_BOOL; id <= TY_C128; id++)
    if (!strcmp(ty_scalar_info[id].name, name))
      return arena_printf(&ty->cx->arena, "write %s.%s, or import the name",
                          id == TY_BF16 || ty_is_float8(id) ? "cuda" : "np", name);
  return NULL;
}

/* Names that could be meant: the function's own variables, the globals it names, the builtins. */
static Val undefined(Ty *ty, const char *name) {
  const FrozenFunc *func = ty->spec->func;
  Suggest s = suggest_for(name);
  for (uint32_t k = 0; k < func->nglobals; k++)
    if (func->globals[k].value->kind != FZ_UNSET)
      suggest_try(&s, func->globals[k].name);
  for (uint32_t k = 0; k < func->code->nlocalsplus; k++)
    if (strcmp(func->code->localsplus[k], name))
      suggest_try(&s, func->code->localsplus[k]);
  const char *builtin = ir_intrinsic_suggest("builtins", name);
  if (builtin)
    suggest_try(&s, builtin);
  return TY_FAIL_ADVISED(ty, import_advice(ty, name), ERR_UNDEFINED, name,
                         s.best ? arena_printf(&ty->cx->arena, " (did you mean '%s'?)", s.best)
                                : "");
}

/* A slice or tuple in a slice is wrong whatever is in it, which may be the same ones again and
 * again. */
static Val slice_const(Ty *ty, const Frozen *f) {
  Val parts[3];
  for (int k = 0; k < 3; k++)
    if (f->items[k]->kind == FZ_SLICE || f->items[k]->kind == FZ_TUPLE)
      return TY_FAIL(ty, ERR_INDEX_TYPE, f->items[k]->kind == FZ_SLICE ? "a slice" : "a tuple");
  for (int k = 0; k < 3; k++)
    parts[k] = ty_const(ty, f->items[k]);
  return ty_slice(ty, parts);
}

Val ty_const(Ty *ty, const Frozen *f) {
  switch (f->kind) {
  case FZ_NONE: return ty_none(ty);
  case FZ_BOOL: return (Val){.type = ty_id(ty, TY_PYBOOL), .konst = f};
  case FZ_INT: return int_const(ty, f);
  case FZ_FLOAT: return (Val){.type = ty_id(ty, TY_PYFLOAT), .konst = f};
  case FZ_COMPLEX: return (Val){.type = ty_id(ty, TY_PYCOMPLEX), .konst = f};
  case FZ_SCALAR: return scalar_const(ty, f);
  case FZ_DATE: return (Val){.type = ty_elem(ty, f->type, f->text), .konst = f};
  case FZ_TUPLE: return tuple_const(ty, f);
  case FZ_ARRAY: return array_const(ty, f);
  case FZ_DEVICE_ARRAY: return device_array_const(ty, f);
  case FZ_MEMBER: return (Val){.type = ty_enum(ty->cx, f->items[0]), .konst = f};
  case FZ_STR: return object(ty, TY_STR, f);
  case FZ_DTYPE: return object(ty, TY_DTYPE, f);
  case FZ_MODULE: return object(ty, TY_MODULE, f);
  case FZ_FUNC: return object(ty, TY_FUNC, f);
  case FZ_INTRINSIC:
    if (ir_intrinsics[f->i].kind == INTRINSIC_VALUE)
      return ty->p->call_intrinsic(ty, (IntrinsicId)f->i, NULL, 0, NULL);
    return object(ty, TY_FUNC, f);
  case FZ_SLICE: return slice_const(ty, f);
  case FZ_UNSET: return undefined(ty, f->text);
  default: return object(ty, TY_OBJECT, f);
  }
}

/* --- what must be known --- */

/* The function is typed again with values, if its caller knows them. */
void ty_want_values(Ty *ty) {
  ty->spec->missing = true;
  if (ty->spec->const_args)
    return;
  TyWant *w = CX_NEW(ty->cx, TyWant);
  w->code = ty->spec->func->code;
  w->next = ty->p->wants;
  ty->p->wants = w;
}

Val ty_not_constant(Ty *ty, const char *what, const char *advice) {
  ty_want_values(ty);
  return TY_FAIL_ADVISED(ty, advice, ERR_NOT_CONSTANT, what);
}
