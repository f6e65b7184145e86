/* Rules of Python's builtins. */
#include <string.h>

#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"
#include "typeinfer/value/wide.h"

static bool want_number(Ty *ty, const TyCall *c, uint32_t k) {
  if (ty_is_number(c->args[k].type))
    return true;
  (void)ty_argument_type(ty, c, k, "a number");
  return false;
}

Val ty_rule_abs(Ty *ty, const TyCall *c) {
  Val x = c->args[0];
  if (ty_is_date(x.type))
    return ty_date_abs(ty, x);
  if (!want_number(ty, c, 0))
    return BOTTOM;
  if (x.type->id == TY_PYBOOL)
    return ty_cast_id(ty, x, TY_PYINT);
  if (x.type->id == TY_BOOL && ty_policy(ty->cx)->bool_is_int)
    return ty_cast_id(ty, x, TY_I8);
  if (ty_is_complex(x.type))
    return ty_complex_abs(ty, x);
  if (ty_is_weak(x.type) && wide_is_int(x.konst)) {
    bool negative = wide_compare(x.konst, fz_int(ty->cx, 0)) < 0;
    return negative ? ty_unary(ty, OP_NEG, x) : x;
  }
  bool same = x.type->id == TY_BOOL || ty_kind(x.type) == KIND_UINT;
  return same ? x : ty_intrinsic(ty, INTR_PY_ABS, x.type, &x, 1);
}

/* Whether value k is chosen over the best of those before it, which is the last that was chosen.
 * Compared are the values as they are: converted to the common type two may have changed their
 * order. */
static Val is_better(Ty *ty, Op op, const Val *v, const Val *chosen, uint32_t k) {
  Val better = ty_truth(ty, ty_binary(ty, op, v[k], v[0]));
  for (uint32_t j = 1; j < k && !ty_is_bottom(better); j++) {
    Val than_j = ty_truth(ty, ty_binary(ty, op, v[k], v[j]));
    better = ty_is_bottom(than_j) ? BOTTOM : ty_select(ty, chosen[j], than_j, better);
  }
  return better;
}

/* b if cond else a, of one type: numbers, or tuples of them. */
static Val select_value(Ty *ty, Val cond, Val yes, Val no) {
  if (ty_is_bottom(cond) || ty_is_bottom(yes) || ty_is_bottom(no) || yes.type->id != TY_TUPLE)
    return ty_select(ty, cond, yes, no);
  const Type *t = yes.type;
  Val *items = CX_ARRAY(ty->cx, Val, t->n + 1);
  for (uint32_t k = 0; k < t->n; k++)
    items[k] = select_value(ty, cond, ty_item(ty, yes, k), ty_item(ty, no, k));
  return ty_pack(ty, t, items, t->n);
}

/* The common type of values; NULL after an error. */
static const Type *common_type(Ty *ty, const Val *v, uint32_t n) {
  const Type **types = CX_ARRAY(ty->cx, const Type *, n);
  for (uint32_t k = 0; k < n; k++)
    types[k] = v[k].type;
  const Type *t = ty_join_all(ty, types, n);
  if (!t)
    (void)TY_FAIL(ty, ERR_BAD_OPERANDS, "min() or max()", TY_PRETTY(ty, v[0]),
                  TY_PRETTY(ty, v[n - 1]));
  return t;
}

static Val chosen_as(Ty *ty, Val v, const Type *t) {
  Val r = ty_cast(ty, v, t);
  if (ty->emit)
    ty_remark_cut(ty, v, r.ins, ty->at->loc);
  return r;
}

/* min(a, b) is b if b < a else a, as in Python: the first of equals, and nan stays where it stands
 * first. Compared are the keys, which may be the values. */
static Val choose(Ty *ty, Op op, const Val *keys, const Val *v, uint32_t n) {
  const Type *t = common_type(ty, v, n), *of_keys = keys == v ? t : common_type(ty, keys, n);
  if (!t || !of_keys)
    return BOTTOM;
  Val best = chosen_as(ty, v[0], t), key = keys == v ? best : ty_cast(ty, keys[0], of_keys),
      *chosen = CX_ARRAY(ty->cx, Val, n);
  bool alike = keys[0].type == of_keys;
  for (uint32_t k = 1; k < n; k++) {
    chosen[k] = alike ? ty_truth(ty, ty_binary(ty, op, keys[k], key))
                      : is_better(ty, op, keys, chosen, k);
    if (ty_is_bottom(chosen[k]))
      return BOTTOM;
    best = select_value(ty, chosen[k], chosen_as(ty, v[k], t), best);
    key = keys == v ? best : select_value(ty, chosen[k], ty_cast(ty, keys[k], of_keys), key);
    alike &= keys[k].type == of_keys;
  }
  return best;
}

static bool is_key(Val v) { return v.type && v.type->id != TY_NONE; }

static Val choose_of_none(Ty *ty, const TyCall *c) {
  return c->options[1].type ? c->options[1]
                            : TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                                      "it takes two or more numbers, or a tuple of them");
}

/* An array's items must be numbers, unless a key makes them so; a key something to call. False
 * after an error. */
static bool check_consumed(Ty *ty, const TyCall *c, Val items) {
  const Type *t = items.type, *key = c->options[0].type;
  bool callable = !key || key->id == TY_NONE || key->id == TY_FUNC || key->id == TY_DTYPE ||
                  key->id == TY_OBJECT;
  if (t->id == TY_ARRAY && t->ndim > 1 && !is_key(c->options[0]))
    (void)TY_FAIL_ADVISED(
        ty, arena_printf(&ty->cx->arena, "take all elements: %s(v for v in x.flat)", c->name),
        ERR_WHOLE_ARRAY, arena_printf(&ty->cx->arena, "%s()", c->name), TY_PRETTY(ty, items));
  else if (!callable)
    (void)TY_FAIL_ADVISED(ty, "write a function: key=lambda v: v[1]", ERR_ARGUMENT_TYPE, c->name,
                          "'key'", "a function", TY_PRETTY(ty, c->options[0]));
  else
    return true;
  return false;
}

/* Is it consumed by a loop? Tuples and several values are taken item by item, which typing
 * knows. */
static bool is_iterated(const TyCall *c, Val items) {
  return ty_is_generator(items) || (c->library && ty_can_consume(items));
}

static Val consume(Ty *ty, const TyCall *c, Val items, int consumer, Val start) {
  Val key = c->options[0];
  if (!check_consumed(ty, c, items))
    return BOTTOM;
  return ty_is_generator(items)
             ? ty_consume(ty, items, (Consumer)consumer, start, key)
             : ty_consume_items(ty, c->library, items, (Consumer)consumer, start, key);
}

static Val choose_item(Ty *ty, const TyCall *c, Val items, Consumer consumer) {
  Val missing = c->options[1];
  int how = (int)consumer | (is_key(c->options[0]) ? CONSUME_KEYED : 0) |
            (missing.type ? CONSUME_DEFAULTED : 0);
  return consume(ty, c, items, how, missing.type ? missing : ty_none(ty));
}

Val ty_rule_minmax(Ty *ty, const TyCall *c, Op op) {
  Val items = c->n == 1 ? ty_sequence(ty, c->args[0]) : c->args[0];
  if (c->n == 1 && is_iterated(c, items))
    return choose_item(ty, c, items, op == OP_LT ? CONSUME_MIN : CONSUME_MAX);
  if (c->n && !check_consumed(ty, c, items))
    return BOTTOM;
  bool of_tuple = c->n == 1 && items.type->id == TY_TUPLE;
  uint32_t n = of_tuple ? items.type->n : c->n;
  if (c->options[1].type && !of_tuple && c->n > 1)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name,
                   "default= is for one iterable, not for several values");
  if (n == 0)
    return choose_of_none(ty, c);
  if (!of_tuple && n < 2)
    return ty_argument_type(ty, c, 0, TY_CONSUMED);
  Val *v = CX_ARRAY(ty->cx, Val, n), *keys = v;
  if (is_key(c->options[0]))
    keys = CX_ARRAY(ty->cx, Val, n);
  for (uint32_t k = 0; k < n; k++) {
    v[k] = of_tuple ? ty_item(ty, items, k) : c->args[k];
    if (ty_is_bottom(v[k]))
      return BOTTOM;
    if (!ty_is_value(v[k].type) && v[k].type->id != TY_TUPLE)
      return of_tuple ? TY_FAIL(ty, ERR_ARGUMENTS, c->name, "the tuple must hold numbers")
                      : ty_argument_type(ty, c, k, "a number");
    if (keys != v && ty_is_bottom(keys[k] = ty_call(ty, c->options[0], &v[k], 1, NULL)))
      return BOTTOM;
  }
  return choose(ty, op, keys, v, n);
}

/* round(x, n) as NumPy has it: scaled by 10**n, rounded half to even, scaled back. */
Val ty_round_digits(Ty *ty, Val x, int64_t n) {
  enum { MAX_DIGITS = 22 }; /* 10**22 is exact in float64 */
  if (ty_is_integral(x.type))
    return n >= 0 ? x
                  : TY_FAIL(ty, ERR_ARGUMENTS, "round",
                            "integers cannot be rounded to tens in a kernel");
  if (n > MAX_DIGITS || n < -MAX_DIGITS)
    return TY_FAIL(ty, ERR_ARGUMENTS, "round", "ndigits must be between -22 and 22");
  double scale = 1;
  for (int64_t k = n < 0 ? -n : n; k > 0; k--)
    scale *= 10;
  Val s = ty_scalar_const(ty, x.type->id, scale);
  Val up = ty_op2(ty, n < 0 ? OP_TRUEDIV : OP_MUL, x.type, x, s);
  return ty_op2(ty, n < 0 ? OP_MUL : OP_TRUEDIV, x.type,
                ty_intrinsic(ty, INTR_PY_ROUND, x.type, &up, 1), s);
}

static Val round_digits(Ty *ty, const TyCall *c, Val x) {
  int64_t n;
  Val digits = c->args[1];
  if (ty_policy(ty->cx)->narrow_is_float && ty_is_integral(x.type))
    x = ty_cast_id(ty, x, ty_is_narrow(x.type) ? TY_F32 : TY_F64);
  if (fz_get_int(digits.konst, &n))
    return ty_round_digits(ty, x, n);
  if (ty_is_integral(x.type) || !c->library)
    return ty_not_constant(ty, "ndigits of round() of an integer", NULL);
  if (!ty_is_integral(digits.type))
    return ty_argument_type(ty, c, 1, "an integer");
  return ty_cast(ty, ty_call_library(ty, c->library, (Val[]){x, digits}, 2, NULL), x.type);
}

Val ty_rule_round(Ty *ty, const TyCall *c) {
  Val x = c->args[0];
  if (!want_number(ty, c, 0))
    return BOTTOM;
  if (ty_is_complex(x.type))
    return ty_argument_type(ty, c, 0, "a real number");
  if (x.type->id == TY_PYBOOL)
    x = ty_cast_id(ty, x, TY_PYINT);
  if (c->given[1] && c->args[1].type->id != TY_NONE)
    return round_digits(ty, c, x);
  if (!ty_is_integral(x.type))
    x = ty_intrinsic(ty, INTR_PY_ROUND, x.type, &x, 1);
  return ty_cast_id(ty, x, TY_PYINT);
}

Val ty_rule_pow(Ty *ty, const TyCall *c) { return ty_binary(ty, OP_POW, c->args[0], c->args[1]); }

Val ty_rule_divmod(Ty *ty, const TyCall *c) {
  Val pair[] = {ty_binary(ty, OP_FLOORDIV, c->args[0], c->args[1]),
                ty_binary(ty, OP_MOD, c->args[0], c->args[1])};
  return ty_make_tuple(ty, pair, 2);
}

Val ty_rule_len(Ty *ty, const TyCall *c) { return ty_len(ty, c->args[0]); }

Val ty_rule_range(Ty *ty, const TyCall *c) {
  if (c->n < 1 || c->n > 3)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "it takes 1 to 3 integers");
  Val parts[3] = {ty_const_int(ty, 0), ty_const_int(ty, 0), ty_const_int(ty, 1)};
  for (uint32_t k = 0; k < c->n; k++) {
    bool cut = ty_policy(ty->cx)->float_floor && ty_is_float(c->args[k].type);
    if (!cut && !ty_is_integral(c->args[k].type))
      return ty_argument_type(ty, c, k, "an integer");
    parts[c->n == 1 ? 1 : k] = ty_cast_id(ty, c->args[k], TY_PYINT);
  }
  int64_t step;
  if (fz_get_int(parts[2].konst, &step) && step == 0)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "the step must not be zero");
  if (ty->cx->checked)
    ty_check(ty, ty_truth(ty, parts[2]), "ValueError", "range() arg 3 must not be zero", NULL, 0);
  return ty_pack(ty, ty_list_like(ty->cx, TY_RANGE, NULL, 0), parts, 3);
}

Val ty_rule_enumerate(Ty *ty, const TyCall *c) {
  Val parts[2] = {ty_iter(ty, c->args[0]), ty_const_int(ty, 0)};
  if (ty_is_bottom(parts[0]))
    return BOTTOM;
  if (c->given[1]) {
    if (!ty_is_integral(c->args[1].type))
      return ty_argument_type(ty, c, 1, "an integer");
    parts[1] = ty_cast_id(ty, c->args[1], TY_PYINT);
  }
  return ty_pack(ty, ty_list_like(ty->cx, TY_ENUMERATE, &parts[0].type, 1), parts, 2);
}

Val ty_rule_zip(Ty *ty, const TyCall *c) {
  Val parts[TY_MAX_ARGS + 1] = {0};
  const Type *types[TY_MAX_ARGS + 1];
  for (uint32_t k = 0; k < c->n; k++) {
    parts[k] = ty_iter(ty, c->args[k]);
    if (ty_is_bottom(parts[k]))
      return BOTTOM;
    types[k] = parts[k].type;
  }
  return ty_pack(ty, ty_list_like(ty->cx, TY_ZIP, types, c->n), parts, c->n);
}

/* sep= and end=, which must be known. */
static bool print_option(Ty *ty, const TyCall *c, uint32_t k, const char *name, const char *plain,
                         Val *out) {
  Val v = c->options[k];
  bool given = v.type && v.type->id != TY_NONE;
  *out = given ? v : ty_const(ty, fz_str(ty->cx, plain));
  if (!given || (v.type->id == TY_STR && v.konst))
    return true;
  (void)TY_FAIL(ty, ERR_ARGUMENT_TYPE, c->name, name, "a string known at compile time",
                TY_PRETTY(ty, v));
  return false;
}

Val ty_rule_print(Ty *ty, const TyCall *c) {
  TyText *t = CX_NEW(ty->cx, TyText);
  Val sep, end;
  t->library = c->library;
  buf_init(&t->format, &ty->cx->arena);
  if (!print_option(ty, c, 0, "sep", " ", &sep) || !print_option(ty, c, 1, "end", "\n", &end))
    return BOTTOM;
  for (uint32_t k = 0; k < c->n; k++)
    if ((k && !ty_text_add(ty, t, sep, TY_STR_OF, 0)) ||
        !ty_text_add(ty, t, c->args[k], TY_STR_OF, 0))
      return BOTTOM;
  if (!ty_text_add(ty, t, end, TY_STR_OF, 0))
    return BOTTOM;
  Val r = ty_op(ty, OP_PRINT, ty_id(ty, TY_VOID), t->values, t->n);
  if (r.ins)
    r.ins->aux.frozen = fz_str(ty->cx, t->format.text);
  return ty_none(ty);
}

/* Of all items of what has a constant number of them, or of what a generator expression makes of
 * each. */
static Val tuple_of_items(Ty *ty, Val of, const Val *generator) {
  int64_t n;
  of = ty_sequence(ty, of);
  if (ty_is_bottom(of))
    return BOTTOM;
  if (!fz_get_int(ty_item_count(ty, of).konst, &n))
    return ty_not_constant(ty, "the length of a tuple", NULL);
  if (n > TY_MAX_TUPLE)
    return TY_FAIL(ty, ERR_TOO_LARGE, "the tuple", "it has more than 4096 elements");
  Val *items = CX_ARRAY(ty->cx, Val, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) {
    items[k] = ty_unpack(ty, of, k, (uint32_t)n);
    items[k] = generator ? ty_consume_one(ty, *generator, items[k]) : items[k];
  }
  return ty_make_tuple(ty, items, (uint32_t)n);
}

Val ty_rule_tuple(Ty *ty, const TyCall *c) {
  Val items = ty_sequence(ty, c->args[0]);
  if (ty_is_bottom(items))
    return BOTTOM;
  if (ty_is_generator(items))
    return tuple_of_items(ty, ty_item(ty, items, 1), &items);
  if (items.type->id == TY_RANGE || items.type->id == TY_ENUMERATE || items.type->id == TY_ZIP)
    return tuple_of_items(ty, items, NULL);
  if (items.type->id == TY_TUPLE && items.type->list)
    return ty_extend(ty, ty_make_tuple(ty, NULL, 0), items);
  return items.type->id == TY_TUPLE ? items : ty_argument_type(ty, c, 0, "a tuple");
}

Val ty_rule_reversed(Ty *ty, const TyCall *c) { return ty_reversed(ty, c->args[0]); }

Val ty_rule_slice(Ty *ty, const TyCall *c) {
  if (c->n < 1 || c->n > 3)
    return TY_FAIL(ty, ERR_ARGUMENTS, c->name, "it takes 1 to 3 integers or None");
  Val parts[3] = {ty_none(ty), ty_none(ty), ty_none(ty)};
  for (uint32_t k = 0; k < c->n; k++)
    parts[c->n == 1 ? 1 : k] = c->args[k];
  return ty_slice(ty, parts);
}

/* NumPy's float64 and complex128 are Python's float and complex too, as in Python; without weak
 * numbers int is int64 and nothing else, and so on.
 * False: cls is not a class that kernels know. */
static bool is_instance(Ty *ty, const Type *t, Val cls, bool *out) {
  const Frozen *f = cls.type->frozen;
  if (cls.type->id == TY_DTYPE && !ty_policy(ty->cx)->weak) {
    *out = t->id == ty_strengthen(f->type);
    return true;
  }
  if (cls.type->id == TY_DTYPE) {
    *out = t->id == f->type || (f->type == TY_PYINT && t->id == TY_PYBOOL) ||
           (f->type == TY_PYFLOAT && t->id == TY_F64) ||
           (f->type == TY_PYCOMPLEX && t->id == TY_C128);
    return true;
  }
  bool named = cls.type->id == TY_OBJECT && f->kind == FZ_OPAQUE && f->wide;
  if (named && !strcmp(f->text, "list")) {
    *out = t->id == TY_TUPLE && t->list;
    return true;
  }
  if (named && !strcmp(f->text, "numpy.ndarray")) {
    *out = t->id == TY_ARRAY && t->ndim;
    return true;
  }
  bool is_class = cls.type->id == TY_FUNC && f->kind == FZ_INTRINSIC &&
                  (f->i == INTR_PY_TUPLE || f->i == INTR_PY_RANGE || f->i == INTR_PY_SLICE);
  if (is_class)
    *out = !t->list && t->id == (f->i == INTR_PY_TUPLE   ? TY_TUPLE
                                 : f->i == INTR_PY_RANGE ? TY_RANGE
                                                         : TY_SLICE);
  return is_class;
}

Val ty_rule_isinstance(Ty *ty, const TyCall *c) {
  Val cls = c->args[1];
  bool many = cls.type->id == TY_TUPLE, any = false;
  for (uint32_t k = 0; k < (many ? cls.type->n : 1); k++) {
    bool is = false;
    Val one = many ? ty_item(ty, cls, k) : cls;
    if (ty_is_bottom(one) || !is_instance(ty, c->args[0].type, one, &is))
      return ty_argument_type(
          ty, c, 1,
          "int, float, bool, tuple, list, range, np.ndarray, a NumPy scalar type or a tuple of them");
    any |= is;
  }
  return ty_const_bool(ty, any);
}

/* type(x) of a number, which can be called, and compared with int, np.float32 and their like. */
Val ty_rule_type(Ty *ty, const TyCall *c) {
  const Type *t = c->args[0].type;
  return ty_is_number(t) ? ty_dtype_of(ty, t, DTYPE_CLASS) : ty_argument_type(ty, c, 0, "a number");
}

Val ty_rule_sum(Ty *ty, const TyCall *c) {
  Val t = ty_sequence(ty, c->args[0]), r = c->given[1] ? c->args[1] : ty_const_int(ty, 0);
  if (is_iterated(c, t))
    return consume(ty, c, t, CONSUME_SUM, r);
  if (t.type->id != TY_TUPLE)
    return ty_argument_type(ty, c, 0, TY_CONSUMED);
  for (uint32_t k = 0; k < t.type->n; k++)
    r = ty_binary(ty, OP_ADD, r, ty_item(ty, t, k));
  return r;
}

Val ty_rule_anyall(Ty *ty, const TyCall *c, bool all) {
  Val t = ty_sequence(ty, c->args[0]), r = ty_const_bool(ty, all);
  if (is_iterated(c, t))
    return consume(ty, c, t, all ? CONSUME_ALL : CONSUME_ANY, ty_none(ty));
  if (t.type->id != TY_TUPLE)
    return ty_argument_type(ty, c, 0, TY_CONSUMED);
  for (uint32_t k = 0; k < t.type->n; k++)
    r = ty_both(ty, all ? OP_AND : OP_OR, r, ty_truth(ty, ty_item(ty, t, k)));
  return r;
}

Val ty_rule_ord(Ty *ty, const TyCall *c) {
  const Frozen *f = c->args[0].type->id == TY_STR ? c->args[0].konst : NULL;
  const unsigned char *s = f && f->n ? (const unsigned char *)f->text : NULL;
  uint32_t bytes = !s ? 0 : *s < 0x80 ? 1 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
  if (!s || bytes != f->n)
    return ty_argument_type(ty, c, 0,
                            "a string of one character, known when the kernel is compiled");
  int64_t code = bytes == 1 ? *s : *s & (0x7F >> bytes);
  for (uint32_t k = 1; k < bytes; k++)
    code = code << 6 | (s[k] & 0x3F);
  return ty_const_int(ty, code);
}
