/* Equality and identity: ==, != and `is` of any two values; `in`.
 *
 * What is not known when a kernel is compiled is computed from the parts, or is an error: a kernel
 * has no objects, so two values of one kind may be one object or two. Each kind of value says for
 * itself what holds (same_kind, is_same): there is no kind whose answer is another's, and one that
 * a new kind of value has not given does not compile. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

/* --- what is known of two objects of one kind --- */

typedef enum Known { UNKNOWN, DIFFERENT, SAME } Known;

static Known known(bool same) { return same ? SAME : DIFFERENT; }

/* Of each evaluation of a def or lambda there is a function of its own; a method is bound anew each
 * time. */
static Known same_functions(Ty *ty, const Type *a, const Type *b) {
  const Frozen *f = a->frozen;
  if (f != b->frozen)
    return DIFFERENT;
  bool made_here = a->n || b->n || (f->kind != FZ_FUNC && f->kind != FZ_INTRINSIC);
  for (uint32_t k = 0; k < ty->p->nested.len; k++)
    made_here |= ty->p->nested.data[k] == f;
  return made_here ? UNKNOWN : SAME;
}

static Known same_modules(const Type *a, const Type *b) {
  if (a == b)
    return SAME;
  return strcmp(a->frozen->text, b->frozen->text) ? DIFFERENT : UNKNOWN;
}

/* The type of an element that a dtype made of it would be of: np.dtype(float) is float64's. */
static bool same_element(const Frozen *a, const Frozen *b) {
  TypeId x = a->type < TY_SCALARS ? ty_strengthen(a->type) : a->type;
  TypeId y = b->type < TY_SCALARS ? ty_strengthen(b->type) : b->type;
  return x == y && (x < TY_SCALARS || !strcmp(a->text, b->text));
}

/* A dtype is equal to what makes it, and is it never; np.longlong and pyptx.int64 are not
 * np.int64. */
static Known same_dtypes(const Type *s, const Type *t, bool identity) {
  const Frozen *a = s->frozen, *b = t->frozen;
  bool dtypes = a->i == DTYPE_INSTANCE && b->i == DTYPE_INSTANCE;
  bool one = a->i == DTYPE_INSTANCE || b->i == DTYPE_INSTANCE;
  if (one && !identity)
    return known(same_element(a, b));
  if (one && !dtypes)
    return DIFFERENT;
  if (a->i == DTYPE_CLASS && b->i == DTYPE_CLASS)
    return known(s == t);
  return same_element(a, b) ? UNKNOWN : DIFFERENT;
}

/* Objects that are known by what they are, not by what they hold: classes are one each. */
static Known same_objects(const Type *a, const Type *b, bool identity) {
  const Frozen *f = a->frozen, *g = b->frozen;
  if (f->kind == FZ_OPAQUE || g->kind == FZ_OPAQUE)
    return identity ? known(f == g) : UNKNOWN;
  if (f->kind != g->kind)
    return DIFFERENT;
  switch (f->kind) {
  case FZ_ELLIPSIS:
  case FZ_ENUM:
  case FZ_NAMED: return known(f == g);
  case FZ_BYTES: return f != g ? DIFFERENT : identity ? UNKNOWN : SAME;
  default:
    return f != g ? DIFFERENT : UNKNOWN; /* of exceptions a class and its instances are one */
  }
}

/* --- == --- */

static Val equal_parts(Ty *ty, Val a, Val b, uint32_t n) {
  Val r = ty_const_bool(ty, true);
  for (uint32_t k = 0; k < n; k++)
    r = ty_both(ty, OP_AND, r,
                ty_truth(ty, ty_equal(ty, OP_EQ, ty_item(ty, a, k), ty_item(ty, b, k))));
  return r;
}

static Val equal_tuples(Ty *ty, Val a, Val b) {
  if (a.type->n != b.type->n || a.type->list != b.type->list)
    return ty_const_bool(ty, false);
  return equal_parts(ty, a, b, a.type->n);
}

/* As sequences: of no items all are equal, of one item the step does not matter. */
static Val equal_ranges(Ty *ty, Val a, Val b) {
  Val n = ty_len(ty, a), m = ty_len(ty, b), zero = ty_const_int(ty, 0), one = ty_const_int(ty, 1);
  if (ty_is_bottom(n) || ty_is_bottom(m))
    return BOTTOM;
  Val step = ty_both(ty, OP_OR, ty_int_test(ty, OP_EQ, n, one),
                     ty_int_test(ty, OP_EQ, ty_item(ty, a, 2), ty_item(ty, b, 2)));
  Val start = ty_int_test(ty, OP_EQ, ty_item(ty, a, 0), ty_item(ty, b, 0));
  Val items = ty_both(ty, OP_OR, ty_int_test(ty, OP_EQ, n, zero), ty_both(ty, OP_AND, start, step));
  return ty_both(ty, OP_AND, ty_int_test(ty, OP_EQ, n, m), items);
}

static Val cannot_know(Ty *ty, Op op, Val a, Val b) {
  const char *advice = NULL;
  if (a.type->id == TY_STR || ty_is_bytes(a))
    advice = "two texts that are equal may be one object or two: write == or !=";
  else if (a.type->id == TY_OBJECT || b.type->id == TY_OBJECT)
    advice =
        "its class may have an == of its own, which kernels do not call: decide it outside of the kernel, or ask whether it `is` a "
        "certain global object";
  else if (a.type->id == TY_FUNC || ty_is_iterator(a.type))
    advice =
        "kernels do not know which of several such objects this is: compare numbers that say it";
  return ty_bad_operands(ty, op, a, b, advice);
}

static Val answer(Ty *ty, Op op, Val a, Val b, Known k) {
  return k == UNKNOWN ? cannot_know(ty, op, a, b) : ty_const_bool(ty, k == SAME);
}

/* Two values of one TypeId. */
static Val equal_alike(Ty *ty, Op op, Val a, Val b) {
  switch (a.type->id) {
#define T(ID, ...) case TY_##ID:
#include "ir/types.def"
#undef T
  case TY_DATETIME:
  case TY_TIMEDELTA:
    return a.type->id == TY_NONE ? ty_const_bool(ty, true) : ty_binary(ty, OP_EQ, a, b);
  case TY_TUPLE: return equal_tuples(ty, a, b);
  case TY_RANGE: return equal_ranges(ty, a, b);
  case TY_SLICE: return equal_parts(ty, a, b, 3);
  case TY_STR: return ty_const_bool(ty, a.type == b.type);
  case TY_ENUM:
    return a.type == b.type ? ty_equal_members(ty, a, b, false) : ty_const_bool(ty, false);
  case TY_FUNC: return answer(ty, op, a, b, same_functions(ty, a.type, b.type));
  case TY_MODULE: return answer(ty, op, a, b, same_modules(a.type, b.type));
  case TY_DTYPE: return answer(ty, op, a, b, same_dtypes(a.type, b.type, false));
  case TY_OBJECT: return answer(ty, op, a, b, same_objects(a.type, b.type, false));
  case TY_ENUMERATE:
  case TY_ZIP:
  case TY_REVERSED: return answer(ty, op, a, b, UNKNOWN);
  case TY_OPTIONAL: return ty_equal_optional(ty, a, b);
  case TY_ARRAY:
  case TY_RECORD: return ty_whole_array(ty, op, a, b);
  }
  cx_bug(ty->cx, "no equality of %s", TY_PRETTY(ty, a));
}

/* x.dtype == "float32" */
static Val equal_name(Ty *ty, Op op, Val dtype, Val text) {
  const Frozen *f = dtype.type->frozen;
  TypeId id = ty_by_name(text.konst->text, text.konst->n);
  bool named = id < TY_SCALARS && !ty_is_ml_dtype(id) && f->type < TY_SCALARS &&
               (!strcmp(text.konst->text, ty_scalar_info[id].name) ||
                !strcmp(text.konst->text, ty_scalar_info[id].npy));
  return named
             ? ty_const_bool(ty, id == f->type)
             : ty_bad_operands(ty, op, dtype, text,
                               "compare with a type, or with its full name: x.dtype == np.float32");
}

static bool is_dtype(Val v) {
  return v.type->id == TY_DTYPE && v.type->frozen->i == DTYPE_INSTANCE;
}
static bool is_opaque(Val v) {
  return v.type->id == TY_OBJECT && v.type->frozen->kind == FZ_OPAQUE;
}
static bool is_strong(Val v) { return ty_is_value(v.type) && !ty_is_weak(v.type); }
/* What NumPy makes an array of, to compare it with a number. */
static bool is_sequence(Val v) {
  bool class = v.type->id == TY_OBJECT && v.type->frozen->kind == FZ_ENUM;
  return v.type->id == TY_TUPLE || v.type->id == TY_RANGE || class;
}

/* Of two kinds: different, but where one of them has a say in it that is not followed here. */
static Val equal_unlike(Ty *ty, Op op, Val a, Val b) {
  if (is_dtype(a) && b.type->id == TY_STR && b.konst)
    return equal_name(ty, op, a, b);
  if (is_dtype(b) && a.type->id == TY_STR && a.konst)
    return equal_name(ty, op, b, a);
  if (is_opaque(a) || is_opaque(b))
    return answer(ty, op, a, b, UNKNOWN);
  bool by_element = (is_strong(a) && is_sequence(b)) || (is_strong(b) && is_sequence(a));
  if (by_element || is_dtype(a) || is_dtype(b) || ty_is_vector(a.type) || ty_is_vector(b.type))
    return ty_bad_operands(ty, op, a, b,
                           by_element ? "NumPy compares its numbers with each element: write x in "
                                        "(1, 2), or x == t[0]"
                                      : NULL);
  return ty_const_bool(ty, false);
}

static Val equal_arrays(Ty *ty, Op op, Val a, Val b) {
  if (a.type->id == TY_NONE || b.type->id == TY_NONE)
    return ty_bad_operands(ty, op, a, b, NULL);
  bool first = a.type->id == TY_ARRAY;
  return ty_whole_array(ty, op, first ? a : b, first ? b : a);
}

Val ty_equal(Ty *ty, Op op, Val a, Val b) {
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  if (a.type->id == TY_OPTIONAL || b.type->id == TY_OPTIONAL) {
    Val same = ty_equal_optional(ty, a, b);
    return op == OP_EQ || ty_is_bottom(same) ? same : ty_not(ty, same);
  }
  if (a.type->id == TY_ENUM && a.type == b.type)
    return ty_equal_members(ty, a, b, op == OP_NE);
  if (ty_is_value(a.type) && ty_is_value(b.type))
    return ty_binary(ty, op, a, b);
  if (a.type->id == TY_ARRAY || b.type->id == TY_ARRAY)
    return equal_arrays(ty, op, a, b);
  if (ty_is_fstring(a) || ty_is_fstring(b)) /* its text is not there */
    return TY_FAIL(ty, ERR_STRING_BUILD);
  Val r = a.type->id == b.type->id ? equal_alike(ty, op, a, b) : equal_unlike(ty, op, a, b);
  return op == OP_EQ || ty_is_bottom(r) ? r : ty_not(ty, r);
}

/* --- is --- */

/* Two values of one TypeId. */
static Known is_same(Ty *ty, Val a, Val b) {
  switch (a.type->id) {
#define T(ID, ...) case TY_##ID:
#include "ir/types.def"
#undef T
    return a.type->id == TY_NONE ? SAME : UNKNOWN;
  case TY_STR:
  case TY_ENUM: return a.type == b.type ? UNKNOWN : DIFFERENT;
  case TY_FUNC: return same_functions(ty, a.type, b.type);
  case TY_MODULE: return same_modules(a.type, b.type);
  case TY_DTYPE: return same_dtypes(a.type, b.type, true);
  case TY_OBJECT: return same_objects(a.type, b.type, true);
  case TY_TUPLE:
  case TY_ARRAY:
  case TY_RECORD:
  case TY_SLICE:
  case TY_RANGE:
  case TY_ENUMERATE:
  case TY_ZIP:
  case TY_REVERSED:
  case TY_OPTIONAL:
  case TY_DATETIME:
  case TY_TIMEDELTA: return UNKNOWN;
  }
  cx_bug(ty->cx, "no identity of %s", TY_PRETTY(ty, a));
}

/* CPython keeps one object of most small ints and not of others: here equal ones are the same. */
static bool is_python_int(Val v) { return ty_kind(v.type) == KIND_INT && ty_is_weak(v.type); }

static bool is_known_bool(Val v) { return v.konst && ty_kind(v.type) == KIND_BOOL; }

/* x is True: of a bool its value, of another number False. */
static Val is_bool(Ty *ty, Val x, Val known, bool negate) {
  if (ty_kind(x.type) != KIND_BOOL)
    return ty_const_bool(ty, negate);
  return (known.konst->i != 0) != negate ? ty_truth(ty, x) : ty_not(ty, x);
}

Val ty_is(Ty *ty, Val a, Val b, bool negate) {
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  if (a.type->id == TY_OPTIONAL || b.type->id == TY_OPTIONAL)
    return ty_is_none(ty, a, b, negate);
  if (a.type->id == TY_ENUM && a.type == b.type)
    return ty_equal_members(ty, a, b, negate);
  bool numbers = ty_is_number(a.type) && ty_is_number(b.type);
  if (numbers && (is_known_bool(a) || is_known_bool(b)))
    return is_known_bool(b) ? is_bool(ty, a, b, negate) : is_bool(ty, b, a, negate);
  bool bools = ty_kind(a.type) == KIND_BOOL && ty_kind(b.type) == KIND_BOOL;
  if (numbers && !bools && (ty_kind(a.type) == KIND_BOOL || ty_kind(b.type) == KIND_BOOL))
    return ty_const_bool(ty, negate);
  if (bools || (is_python_int(a) && is_python_int(b))) /* there are two objects of bools */
    return ty_equal(ty, negate ? OP_NE : OP_EQ, a, b);
  if (numbers && !ty_policy(ty->cx)->weak) /* those of one type are the same if they are equal */
    return a.type == b.type ? ty_equal(ty, negate ? OP_NE : OP_EQ, a, b)
                            : ty_const_bool(ty, negate);
  if (ty_is_fstring(a) || ty_is_fstring(b))
    return TY_FAIL(ty, ERR_STRING_BUILD);
  bool values = ty_is_value(a.type) && ty_is_value(b.type);
  Known k = values ? UNKNOWN : a.type->id == b.type->id ? is_same(ty, a, b) : DIFFERENT;
  return answer(ty, negate ? OP_IS_NOT : OP_IS, a, b,
                k == UNKNOWN ? UNKNOWN : known((k == SAME) != negate));
}

/* --- in --- */

static Val contains_text(Ty *ty, Val item, Val seq, bool negate) {
  const Frozen *a = item.konst, *b = seq.konst;
  if (!a || !b || a->kind != FZ_STR || b->kind != FZ_STR)
    return ty_bad_operands(ty, negate ? OP_NOT_IN : OP_IN, item, seq, NULL);
  return ty_const_bool(ty, (memmem(b->text, b->n, a->text, a->n) != NULL) != negate);
}

Val ty_contains(Ty *ty, Val item, Val seq, bool negate) {
  seq = ty_sequence(ty, seq);
  if (ty_is_bottom(item) || ty_is_bottom(seq))
    return BOTTOM;
  if (seq.type->id == TY_STR)
    return contains_text(ty, item, seq, negate);
  if (seq.type->id == TY_RANGE && ty_is_integral(item.type)) {
    Val in = ty_range_contains(ty, item, seq);
    return negate ? ty_not(ty, in) : in;
  }
  if (seq.type->id == TY_ARRAY)
    return ty_whole_array(ty, negate ? OP_NOT_IN : OP_IN, seq, BOTTOM);
  if (ty_is_bytes(seq) && ty_is_number(item.type))
    return ty_contains(ty, item, ty_bytes_tuple(ty, seq), negate);
  if (seq.type->id != TY_TUPLE)
    return ty_bad_operands(ty, negate ? OP_NOT_IN : OP_IN, item, seq, NULL);
  Val r = ty_const_bool(ty, false);
  for (uint32_t k = 0; k < seq.type->n; k++)
    r = ty_both(ty, OP_OR, r, ty_truth(ty, ty_equal(ty, OP_EQ, item, ty_item(ty, seq, k))));
  return negate ? ty_not(ty, r) : r;
}
