/* Methods: obj.name(…) of numbers and arrays. A method is a function object that holds the object
 * it belongs to.
 *
 * Adding one is a row: name, which types have it, how many arguments it takes, what it does. */
#include <math.h>
#include <string.h>

#include "ir/base/suggest.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"
#include "typeinfer/value/wide.h"

typedef struct Method {
  const char *name;
  bool (*has)(const Type *self);
  uint32_t least, most; /* arguments */
  const char *takes;    /* for messages */
  Val (*call)(Ty *ty, Val self, const Val *args, uint32_t n);
  Frozen mark; /* its identity in types */
} Method;

static bool is_array(const Type *t) { return t->id == TY_ARRAY; }
static bool is_number(const Type *t) { return ty_is_number(t); }
static bool is_strong(const Type *t) { return ty_is_number(t) && !ty_is_weak(t); }
static bool is_real_strong(const Type *t) {
  return is_strong(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL;
}
static bool is_integer(const Type *t) { return ty_is_integral(t) && t->id != TY_BOOL; }
static bool is_weak_integer(const Type *t) { return ty_is_integral(t) && ty_is_weak(t); }
static bool is_real(const Type *t) { return ty_is_number(t) && !ty_is_complex(t); }

/* --- numbers --- */

static Val number_item(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  return ty_weak_number(ty, self);
}

/* Of a number: no record's, no date's. */
static bool is_number_dtype(Val v) {
  return v.type->id == TY_DTYPE && v.type->frozen->type < TY_SCALARS;
}

static Val number_astype(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)n;
  if (ty_date_type(ty, args[0]))
    return ty_date_astype(ty, self, args[0]);
  if (!is_number_dtype(args[0]))
    return TY_FAIL(ty, ERR_DTYPE, "astype", TY_PRETTY(ty, args[0]));
  return ty_convert(ty, ty_strengthen(args[0].type->frozen->type), &self, 1);
}

/* Integers of one size convert into each other as their bits do. */
static Val number_view(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)n;
  if (!is_number_dtype(args[0]))
    return TY_FAIL(ty, ERR_DTYPE, "view", TY_PRETTY(ty, args[0]));
  const Type *t = ty_id(ty, ty_strengthen(args[0].type->frozen->type));
  if (t->id == self.type->id)
    return self;
  bool real = ty_is_number(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL;
  if (!real || ty_bits(t) != ty_bits(self.type))
    return TY_FAIL(ty, ERR_ARGUMENTS, "view",
                   arena_printf(&ty->cx->arena, "%s and %s are no real numbers of one size",
                                ty_pretty(ty->cx, self.type), ty_pretty(ty->cx, t)));
  if (ty_is_integral(t) && ty_is_integral(self.type))
    return ty_cast(ty, self, t);
  return ty_intrinsic(ty, INTR_NP_VIEW, t, &self, 1);
}

static Val number_conjugate(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  if (self.type->id == TY_PYBOOL)
    return ty_cast_id(ty, self, TY_PYINT);
  return ty_is_complex(self.type) ? ty_complex_conjugate(ty, self) : self;
}

/* The absolute value's bits, as 64 of them. */
Val ty_magnitude(Ty *ty, Val x) {
  if (ty_kind(x.type) == KIND_BOOL || ty_kind(x.type) == KIND_UINT)
    return ty_cast_id(ty, x, TY_U64);
  x = ty_cast_id(ty, x, TY_I64);
  return ty_cast_id(ty, ty_intrinsic(ty, INTR_PY_ABS, x.type, &x, 1), TY_U64);
}

Val ty_bit_count(Ty *ty, Val x, TypeId result) {
  Val bits = ty_magnitude(ty, x);
  Val n = ty_intrinsic(ty, INTR_CUDA_POPC, ty_id(ty, TY_PYINT), &bits, 1);
  ty_flag(n, INS_NONNEGATIVE);
  return ty_cast_id(ty, n, result);
}

static Val number_bit_count(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  if (ty_is_weak(self.type) && wide_is_int(self.konst) && wide_bit_count(self.konst) >= 0)
    return ty_const_int(ty, wide_bit_count(self.konst));
  return ty_bit_count(ty, self, TY_PYINT);
}

static Val number_bit_length(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  if (wide_is_int(self.konst) && wide_bit_length(self.konst) >= 0)
    return ty_const_int(ty, wide_bit_length(self.konst));
  Val bits = ty_magnitude(ty, self), all = ty_const_int(ty, 64);
  Val zeros = ty_intrinsic(ty, INTR_CUDA_CLZ, all.type, &bits, 1);
  return ty_op2(ty, OP_SUB, all.type, all, zeros);
}

static Val number_is_integer(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)args;
  (void)n;
  if (ty_is_integral(self.type))
    return ty_const_bool(ty, true);
  Val whole = ty_intrinsic(ty, INTR_MATH_TRUNC, self.type, &self, 1);
  Val finite = ty_intrinsic(ty, INTR_MATH_ISFINITE, ty_id(ty, TY_PYBOOL), &self, 1);
  return ty_both(ty, OP_AND, finite, ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), whole, self));
}

static Val date_astype(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)n;
  return ty_date_astype(ty, self, args[0]);
}

/* --- the table --- */

#define MARK(text_)                                                                                \
  { .kind = FZ_OPAQUE, .text = text_ }
static const Method methods[] = {
    {"reshape", is_array, 1, TY_MAX_NDIM, "1 to 16 integers, or a tuple of them", ty_reshape,
     MARK("array.reshape")},
    {"ravel", is_array, 0, 0, "nothing", ty_array_ravel, MARK("array.ravel")},
    {"view", is_array, 1, 1, "a type", ty_array_view, MARK("array.view")},
    {"transpose", is_array, 0, TY_MAX_NDIM, "the axes, each once, or nothing", ty_array_transpose,
     MARK("array.transpose")},
    {"swapaxes", is_array, 2, 2, "two axes", ty_array_swapaxes, MARK("array.swapaxes")},
    {"item", is_array, 1, TY_MAX_NDIM, "an index: one number, or one an axis", ty_array_item,
     MARK("array.item")},
    {"fill", is_array, 1, 1, "a number", ty_array_fill, MARK("array.fill")},
    {"view", is_real_strong, 1, 1, "a type", number_view, MARK("number.view")},
    {"item", is_strong, 0, 0, "nothing", number_item, MARK("number.item")},
    {"astype", is_strong, 1, 1, "a type", number_astype, MARK("number.astype")},
    {"astype", ty_is_date, 1, 1, "a type", date_astype, MARK("date.astype")},
    {"conjugate", is_number, 0, 0, "nothing", number_conjugate, MARK("number.conjugate")},
    {"conj", is_strong, 0, 0, "nothing", number_conjugate, MARK("number.conj")},
    {"bit_count", is_integer, 0, 0, "nothing", number_bit_count, MARK("int.bit_count")},
    {"bit_length", is_weak_integer, 0, 0, "nothing", number_bit_length, MARK("int.bit_length")},
    {"row", ty_are_accumulators, 1, 1, "the number of an element", ty_accumulator_row,
     MARK("accumulators.row")},
    {"col", ty_are_accumulators, 1, 1, "the number of an element", ty_accumulator_col,
     MARK("accumulators.col")},
    {"is_integer", is_real, 0, 0, "nothing", number_is_integer, MARK("number.is_integer")},
};
enum { NMETHODS = sizeof methods / sizeof *methods };

static const Method *method_of(Val callee) {
  for (size_t k = 0; callee.type->id == TY_FUNC && k < NMETHODS; k++)
    if (callee.type->frozen == &methods[k].mark)
      return &methods[k];
  return NULL;
}

const char *ty_method_name(Val callee) { return method_of(callee)->name; }

bool ty_is_method(Val callee) { return method_of(callee) != NULL; }

bool ty_find_method(Ty *ty, Val obj, const char *name, Val *out, Suggest *s) {
  for (size_t k = 0; k < NMETHODS; k++) {
    if (!methods[k].has(obj.type))
      continue;
    suggest_try(s, methods[k].name);
    if (strcmp(methods[k].name, name))
      continue;
    *out = ty_pack(ty, ty_frozen(ty->cx, TY_FUNC, &methods[k].mark, &obj.type, 1), &obj, 1);
    return true;
  }
  return false;
}

Val ty_call_method(Ty *ty, Val callee, const Val *args, uint32_t n) {
  const Method *m = method_of(callee);
  Val self = ty_item(ty, callee, 0);
  if (ty_is_bottom(self))
    return BOTTOM;
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (n < m->least || n > m->most)
    return TY_FAIL(ty, ERR_ARGUMENTS, m->name,
                   arena_printf(&ty->cx->arena, "it takes %s", m->takes));
  return m->call(ty, self, args, n);
}
