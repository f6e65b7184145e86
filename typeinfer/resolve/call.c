/* Call: what is called, and which argument goes to which parameter.
 *
 * A callee is known while the kernel is compiled: an intrinsic, a Python function, a type that
 * converts, a method, a class of named tuples. Intrinsics are bound to the text of their signature
 * (ir/intrinsics.def) and go to their rule. Python functions are bound as CPython binds them, with
 * defaults, keywords and *args; behind the parameters come the values that a nested function has
 * captured. All arguments together are the row of types under which the engine finds the function
 * (ty_call_spec). */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/number.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

static const char *argument_advice(const TyCall *c, const Type *given, const char *want) {
  bool number = strstr(want, "number") || strstr(want, "integer");
  bool whole = given->id == TY_ARRAY;
  return !strcmp(want, TY_CONSUMED)
             ? "give a tuple, an array, a range or a generator expression: sum(v * v for v in x)"
         : whole && number && c->library && !strncmp(c->name, "numpy.", 6)
             ? "pass one element, or an array for the results too: np.add(x, y, out)"
         : whole && strstr(want, " array")
             ? "pass an array of that kind; the guide's page on this function has examples"
         : whole && number ? "pass one element: a kernel computes with one at a time"
         : given->id == TY_TUPLE && strstr(want, "integer")
             ? "take one item: x.shape[0], which len(x) is too; a tuple is looped over itself: for v in t"
         : ty_is_number(given) && !ty_is_integral(given) && strstr(want, "integer")
             ? "divide integers with //, or convert with int()"
             : NULL;
}

/* --- intrinsics: bound to the text of their signature --- */

enum { MAX_PARAMETERS = 16 };

typedef struct Parameter {
  const char *name;
  size_t len;
  bool optional, star, named; /* named: by keyword alone */
} Parameter;

static uint32_t read_signature(const char *s, Parameter *out, uint32_t limit) {
  uint32_t n = 0;
  bool named = false;
  while (*s && n < limit) {
    while (*s == ' ' || *s == ',')
      s++;
    if (s[0] == '*' && s[1] == ',') {
      named = true;
      s += 2;
      continue;
    }
    Parameter *p = &out[n++];
    *p = (Parameter){.star = *s == '*', .named = named};
    s += p->star;
    p->name = s;
    while (isalnum((unsigned char)*s) || *s == '_')
      s++;
    p->len = (size_t)(s - p->name);
    p->optional = *s == '=';
    while (*s && *s != ',')
      s++;
  }
  return n;
}

Val ty_argument_type(Ty *ty, const TyCall *c, uint32_t k, const char *want) {
  Parameter params[MAX_PARAMETERS];
  uint32_t np = read_signature(ir_intrinsics[c->id].signature, params, MAX_PARAMETERS);
  const char *which = k < np && np > 1 && !params[0].star
                          ? arena_printf(&ty->cx->arena, "%u ('%.*s')", k + 1, (int)params[k].len,
                                         params[k].name)
                          : arena_printf(&ty->cx->arena, "%u", k + 1);
  return TY_FAIL_ADVISED(ty, argument_advice(c, c->args[k].type, want), ERR_ARGUMENT_TYPE, c->name,
                         which, want, TY_PRETTY(ty, c->args[k]));
}

static Val arguments_error(Ty *ty, const char *name, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, name, what);
}

/* What a call of an intrinsic lacks, with its parameters. */
static bool cannot_bind(Ty *ty, const TyCall *c, const char *what) {
  const char *form = arena_printf(&ty->cx->arena, "write %s(%s)", c->name,
                                  ir_intrinsics[c->id].signature);
  (void)TY_FAIL_ADVISED(ty, form, ERR_ARGUMENTS, c->name, what);
  return false;
}

static bool bind_keyword(Ty *ty, TyCall *c, const Parameter *params, uint32_t n, const char *key,
                         Val v) {
  for (uint32_t k = 0; k < n; k++) {
    if (strlen(key) != params[k].len || memcmp(params[k].name, key, params[k].len))
      continue;
    if (c->given[k]) {
      return cannot_bind(ty, c, arena_printf(&ty->cx->arena, "argument '%s' is given twice", key));
    }
    c->args[k] = v;
    c->given[k] = true;
    return true;
  }
  return cannot_bind(ty, c,
                     arena_printf(&ty->cx->arena, "in a kernel there is no parameter '%s'", key));
}

static Val apply_rule(Ty *ty, const TyCall *c) {
  switch (c->id) {
#define CALL             ty, c
#define ARG(type, value) value
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc)                               \
  case INTR_##ID:                                                                                  \
    return ty_rule_##rule;
#include "ir/intrinsics.def"
#undef I
#undef ARG
#undef CALL
  case INTR_COUNT:
  case INTR_NONE: break;
  }
  cx_bug(ty->cx, "there is no intrinsic %d", (int)c->id);
}

/* Keywords of a function with *args, parameter number `star`. */
static bool bind_options(Ty *ty, TyCall *c, const Parameter *params, uint32_t star, uint32_t np,
                         const Val *args, const Frozen *names) {
  for (uint32_t j = 0; names && j < names->n; j++) {
    const char *key = names->items[j]->text;
    uint32_t k = star + 1;
    while (k < np && (strlen(key) != params[k].len || memcmp(params[k].name, key, params[k].len)))
      k++;
    if (k == np) {
      return cannot_bind(
          ty, c, arena_printf(&ty->cx->arena, "in a kernel there is no parameter '%s'", key));
    }
    c->options[k - star - 1] = args[j];
  }
  return true;
}

/* The last names->n arguments have names. */
static bool bind_intrinsic(Ty *ty, TyCall *c, const Val *args, uint32_t n, const Frozen *names) {
  Parameter params[MAX_PARAMETERS];
  uint32_t np = read_signature(ir_intrinsics[c->id].signature, params, MAX_PARAMETERS);
  uint32_t nkeys = names ? names->n : 0, positional = n - nkeys;
  uint32_t first = 0; /* the one with a star, or np */
  while (first < np && !params[first].star)
    first++;
  bool star = first < np;
  uint32_t limit = star ? TY_MAX_ARGS : np;
  while (!star && limit && params[limit - 1].named)
    limit--;
  if (positional > limit) {
    return cannot_bind(ty, c,
                       arena_printf(&ty->cx->arena, "it takes %u %sargument%s, but %u are given",
                                    limit, limit < np ? "positional " : "", limit == 1 ? "" : "s",
                                    positional));
  }
  for (uint32_t k = 0; k < positional; k++) {
    c->args[k] = args[k];
    c->given[k] = true;
  }
  if (star && positional >= first) {
    c->n = positional;
    return bind_options(ty, c, params, first, np, args + positional, names);
  }
  c->n = np;
  for (uint32_t k = 0; k < nkeys; k++)
    if (!bind_keyword(ty, c, params, np, names->items[k]->text, args[positional + k]))
      return false;
  for (uint32_t k = 0; k < np; k++)
    if (!c->given[k] && !params[k].optional) {
      return cannot_bind(ty, c,
                         arena_printf(&ty->cx->arena, "the argument '%.*s' is missing",
                                      (int)params[k].len, params[k].name));
    }
  return true;
}

static const char *short_path(const char *path) {
  return strncmp(path, "builtins.", 9) ? path : path + 9;
}

static Val call_intrinsic(Ty *ty, IntrinsicId id, const FrozenFunc *library, const Val *args,
                          uint32_t n, const Frozen *names) {
  TyCall c = {.id = id, .library = library, .name = short_path(ir_intrinsics[id].path)};
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  return bind_intrinsic(ty, &c, args, n, names) ? apply_rule(ty, &c) : BOTTOM;
}

Val ty_call_intrinsic(Ty *ty, IntrinsicId id, const Val *args, uint32_t n, const Frozen *names) {
  return call_intrinsic(ty, id, NULL, args, n, names);
}

/* --- conversions --- */

/* int, not pyint: what users write */
static const char *type_name(Ty *ty, const Type *t) {
  const char *name = ty_name(ty->cx, t);
  return ty_is_weak(t) ? name + 2 : name;
}

static Val bad_text(Ty *ty, const Type *t, Val v) {
  return arguments_error(ty, type_name(ty, t),
                         arena_printf(&ty->cx->arena, "%s is no number", fz_text(ty->cx, v.konst)));
}

/* The number that a text says: digits with a sign and single underscores between them, for floats
 * also what strtod() takes. */
static Val convert_text(Ty *ty, const Type *t, Val v) {
  char digits[64];
  size_t n = 0;
  const char *s = v.konst->text, *end = s + v.konst->n;
  while (s < end && isspace((unsigned char)*s))
    s++;
  while (end > s && isspace((unsigned char)end[-1]))
    end--;
  for (const char *p = s; p < end && n < sizeof digits - 1; p++) {
    bool inside = p > s && p + 1 < end && isdigit((unsigned char)p[-1]) &&
                  isdigit((unsigned char)p[1]);
    if (*p != '_')
      digits[n++] = *p;
    else if (!inside)
      return bad_text(ty, t, v);
  }
  digits[n] = 0;
  if (!n || n == sizeof digits - 1 || memchr(digits, 0, n) || strpbrk(digits, "xXpP("))
    return bad_text(ty, t, v);
  char *rest;
  errno = 0;
  if (ty_is_float(t)) {
    double d = number_read(digits, &rest);
    return *rest ? bad_text(ty, t, v) : ty_scalar_const(ty, t->id, d);
  }
  long long i = strtoll(digits, &rest, 10);
  if (*rest || errno)
    return bad_text(ty, t, v);
  return ty_operand(ty, ty_const_int(ty, i), t->id);
}

static Val convert(Ty *ty, TypeId to, Val v) {
  const Type *t = ty_id(ty, to);
  if (v.type->id == TY_STR && v.konst && (to == TY_PYINT || to == TY_PYFLOAT))
    return convert_text(ty, t, v);
  if (ty_kind(t) == KIND_BOOL)
    return ty_cast(ty, ty_truth(ty, v), t);
  if (!ty_is_number(v.type) || (ty_is_complex(v.type) && !ty_is_complex(t)))
    return TY_FAIL(ty, ERR_BAD_OPERAND, arena_printf(&ty->cx->arena, "%s()", type_name(ty, t)),
                   TY_PRETTY(ty, v));
  bool kept = (to == TY_PYINT && ty_is_integral(v.type) && v.type->id != TY_BOOL) ||
              (to == TY_PYFLOAT && ty_is_float(v.type));
  return kept && ty_policy(ty->cx)->keeps_width ? v : ty_operand(ty, v, to);
}

Val ty_convert(Ty *ty, TypeId to, const Val *args, uint32_t n) {
  const Type *t = ty_id(ty, to);
  bool float32s = n > 0;
  for (uint32_t k = 0; k < n; k++)
    float32s &= args[k].type && args[k].type->id == TY_F32;
  if (float32s && to == TY_PYCOMPLEX && ty_policy(ty->cx)->keeps_width)
    t = ty_id(ty, to = TY_C64);
  if (ty_is_complex(t) && n == 2)
    return ty_complex_of(ty, t, args[0], args[1]);
  if (n > 1)
    return arguments_error(ty, type_name(ty, t), "it takes one value");
  if (n == 0)
    return ty_scalar_const(ty, to, 0);
  return ty_is_bottom(args[0]) ? BOTTOM : convert(ty, to, args[0]);
}

/* complex(re, imag=im) and the like. */
static Val convert_named(Ty *ty, const Val *args, uint32_t n, const Frozen *names) {
  Val parts[2] = {ty_const_int(ty, 0), ty_const_int(ty, 0)};
  bool given[2] = {false};
  uint32_t positional = n - names->n;
  for (uint32_t k = 0; k < n; k++) {
    const char *name = k < positional ? NULL : names->items[k - positional]->text;
    uint32_t at = !name ? k : !strcmp(name, "real") ? 0 : !strcmp(name, "imag") ? 1 : 2;
    if (at > 1 || given[at])
      return arguments_error(ty, "complex()", "it takes real and imag, each once");
    parts[at] = args[k];
    given[at] = true;
  }
  return ty_complex_of(ty, ty_id(ty, TY_PYCOMPLEX), parts[0], parts[1]);
}

/* --- Python functions --- */

typedef struct Bind {
  Ty *ty;
  const FrozenFunc *func;
  const Code *code;
  Val callee;
  Val *bound; /* parameters, then captured values */
  bool *given;
  uint32_t nparams; /* with *args */
} Bind;

static bool bind_fail(Bind *b, const char *what) {
  (void)arguments_error(b->ty, arena_printf(&b->ty->cx->arena, "%s()", b->code->qualname), what);
  return false;
}

static bool bind_positional(Bind *b, const Val *args, uint32_t n) {
  const Code *code = b->code;
  bool varargs = code->flags & CODE_VARARGS;
  if (n > code->argcount && !varargs)
    return bind_fail(
        b, arena_printf(&b->ty->cx->arena, "it takes %u positional argument%s, but %u %s given",
                        code->argcount, code->argcount == 1 ? "" : "s", n, n == 1 ? "is" : "are"));
  for (uint32_t k = 0; k < n && k < code->argcount; k++) {
    b->bound[k] = args[k];
    b->given[k] = true;
  }
  if (varargs) {
    uint32_t extra = n > code->argcount ? n - code->argcount : 0,
             at = code->argcount + code->kwonlyargcount;
    b->bound[at] = ty_make_tuple(b->ty, args + (n - extra), extra);
    b->given[at] = true;
  }
  return true;
}

static bool bind_name(Bind *b, const char *key, Val v) {
  const Code *code = b->code;
  for (uint32_t k = code->posonlyargcount; k < code->argcount + code->kwonlyargcount; k++) {
    if (strcmp(code->localsplus[k], key))
      continue;
    if (b->given[k])
      return bind_fail(b, arena_printf(&b->ty->cx->arena, "argument '%s' is given twice", key));
    b->bound[k] = v;
    return b->given[k] = true;
  }
  return bind_fail(b, arena_printf(&b->ty->cx->arena, "there is no parameter '%s'", key));
}

/* The names of a nested function's keyword defaults, if it has any: the part behind its captured
 * values. */
static const Frozen *keyword_names(const Type *func, uint32_t at) {
  const Frozen *f = at < func->n ? func->elems[at]->frozen : NULL;
  return f && f->kind == FZ_OPAQUE && f->text == fz_keywords_mark ? f : NULL;
}

/* The default of parameter k; bottom if there is none. A nested function keeps its defaults behind
 * its captured values. */
static Val default_of(Bind *b, uint32_t k) {
  const Code *code = b->code;
  uint32_t first = b->callee.type->n ? code->nfrees : 0;
  const Frozen *names = keyword_names(b->callee.type, first);
  uint32_t after = names ? first + 1 + names->n : first; /* where the positional defaults are */
  if (k < code->argcount) {
    uint32_t nested = b->callee.type->n - after, n = nested ? nested : b->func->ndefaults;
    if (k + n < code->argcount)
      return BOTTOM;
    uint32_t at = k + n - code->argcount;
    return nested ? ty_item(b->ty, b->callee, after + at) : ty_const(b->ty, b->func->defaults[at]);
  }
  for (uint32_t j = 0; names && j < names->n; j++)
    if (!strcmp(names->items[j]->text, code->localsplus[k]))
      return ty_item(b->ty, b->callee, first + 1 + j);
  const Binding *d = fz_find(b->func->kwdefaults, b->func->nkwdefaults, code->localsplus[k]);
  return d ? ty_const(b->ty, d->value) : BOTTOM;
}

static bool bind_defaults(Bind *b) {
  for (uint32_t k = 0; k < b->nparams; k++) {
    if (b->given[k])
      continue;
    b->bound[k] = default_of(b, k);
    if (ty_is_bottom(b->bound[k]))
      return bind_fail(b, arena_printf(&b->ty->cx->arena, "the argument '%s' is missing",
                                       b->code->localsplus[k]));
  }
  return true;
}

static Val call_func(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names) {
  const FrozenFunc *func = callee.type->frozen->func;
  const Code *code = func->code;
  if (code->flags & CODE_VARKEYWORDS)
    return TY_FAIL(ty, ERR_VARARGS_KERNEL, code->qualname);
  Bind b = {.ty = ty, .func = func, .code = code, .callee = callee};
  b.nparams = code->argcount + code->kwonlyargcount + !!(code->flags & CODE_VARARGS);
  uint32_t ncaptured = callee.type->n ? code->nfrees : 0, nkeys = names ? names->n : 0;
  b.bound = CX_ARRAY(ty->cx, Val, b.nparams + ncaptured + 1);
  b.given = CX_ARRAY(ty->cx, bool, b.nparams + 1);
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (!bind_positional(&b, args, n - nkeys))
    return BOTTOM;
  for (uint32_t k = 0; k < nkeys; k++)
    if (!bind_name(&b, names->items[k]->text, args[n - nkeys + k]))
      return BOTTOM;
  if (!bind_defaults(&b))
    return BOTTOM;
  if (code_is_genexpr(code))
    return ty_generator(ty, callee, b.bound[0]);
  for (uint32_t k = 0; k < ncaptured; k++)
    b.bound[b.nparams + k] = ty_item(ty, callee, k);
  const Type *result = NULL;
  if (func->options && func->options->nsignatures &&
      !ty_as_declared(ty, func, b.bound, b.nparams, &result))
    return BOTTOM;
  Val v = ty_call_spec(ty, func, b.bound, b.nparams + ncaptured);
  return result ? ty_result_as_declared(ty, func, v, result) : v;
}

/* --- any callee --- */

/* An intrinsic's form that pyptx/_library.py has: pow(base, exp, mod). */
Val ty_call_library(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n,
                    const Frozen *names) {
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_FUNC;
  f->func = func;
  return call_func(ty, ty_const(ty, f), args, n, names);
}

Val ty_call(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names) {
  if (ty_is_bottom(callee))
    return BOTTOM;
  const Frozen *f = callee.type->frozen;
  if (callee.type->id == TY_FUNC && f->kind == FZ_INTRINSIC &&
      ir_intrinsics[f->i].kind == INTRINSIC_FUNC && f->i == INTR_PY_POW && n == 3 && f->func) {
    Val r = ty_call_library(ty, f->func, args, n, names);
    return ty_is_bottom(r) ? r : ty_cast_id(ty, r, TY_PYINT);
  }
  Val result;
  if (ty_ufunc_into(ty, callee, args, n, names, &result))
    return result;
  if (callee.type->id == TY_FUNC && f->kind == FZ_INTRINSIC &&
      ir_intrinsics[f->i].kind == INTRINSIC_FUNC)
    return call_intrinsic(ty, (IntrinsicId)f->i, f->func, args, n, names);
  if (callee.type->id == TY_FUNC && f->kind == FZ_FUNC)
    return call_func(ty, callee, args, n, names);
  if (ty_is_method(callee))
    return names ? arguments_error(
                       ty, ty_method_name(callee),
                       "methods take no keywords in a kernel: give the values by position")
                 : ty_call_method(ty, callee, args, n);
  if (callee.type->id == TY_DTYPE && (f->type == TY_DATETIME || f->type == TY_TIMEDELTA) && !names)
    return ty_make_date(ty, f->type, args, n);
  if (callee.type->id == TY_DTYPE && f->type < TY_SCALARS && !names)
    return ty_convert(ty, f->type, args, n);
  if (callee.type->id == TY_OBJECT && f->kind == FZ_NAMED)
    return ty_call_named(ty, f, args, n, names);
  if (ty_is_replace(callee))
    return ty_call_replace(ty, callee, args, n, names);
  if (callee.type->id == TY_DTYPE && f->type == TY_PYCOMPLEX)
    return convert_named(ty, args, n, names);
  if (callee.type->id == TY_OBJECT && f->kind == FZ_DECLARED)
    return ty_call_declared(ty, f, args, n, names);
  if (callee.type->id == TY_OBJECT && f->kind == FZ_EXCEPTION)
    return (Val){.type = callee.type, .konst = f};
  const char *name = TY_PRETTY(ty, callee);
  const char *advice = diag_advice("", name);
  if (!advice && strstr(name, " GUFunc>"))
    advice =
        "gufuncs are for the host: call the function itself with the arrays of one call, f.py_func(a, out)";
  if (!advice && callee.type->id == TY_OBJECT && !strncmp(name, "<object of type", 15))
    advice = "write a function, or a closure over what the object knows: def add(v): return v + n";
  if (!advice && callee.type->id == TY_OBJECT && f->kind == FZ_OPAQUE && f->i)
    advice =
        "a kernel makes no objects of classes: use a typing.NamedTuple, or records of an array";
  return TY_FAIL_ADVISED(ty, advice, ERR_NOT_CALLABLE, name);
}

Val ty_call_star(Ty *ty, Ins *i) {
  Val callee = ty_arg(ty, i, 0), t = ty_sequence(ty, ty_arg(ty, i, 1));
  uint32_t nkeys = i->nargs - 2;
  if (ty_is_bottom(callee) || ty_is_bottom(t))
    return BOTTOM;
  if (t.type->id != TY_TUPLE)
    return TY_FAIL(ty, ERR_STAR_CALL);
  Val *args = CX_ARRAY(ty->cx, Val, t.type->n + nkeys + 1);
  for (uint32_t k = 0; k < t.type->n; k++)
    args[k] = ty_item(ty, t, k);
  for (uint32_t k = 0; k < nkeys; k++)
    if (ty_is_bottom(args[t.type->n + k] = ty_arg(ty, i, 2 + k)))
      return BOTTOM;
  return ty_call(ty, callee, args, t.type->n + nkeys, nkeys ? i->aux.names : NULL);
}

/* --- nested functions --- */

static const char capture_mark[] = "captured value";

static const Frozen *capture_marker(TyProgram *p, uint32_t k) {
  Frozen *f = CX_NEW(p->cx, Frozen);
  f->kind = FZ_OPAQUE;
  f->text = capture_mark;
  f->i = k;
  return f;
}

bool ty_is_capture(const Frozen *f, uint32_t *k) {
  *k = (uint32_t)f->i;
  return f->kind == FZ_OPAQUE && f->text == capture_mark;
}

/* The function object of a nested code: one for the globals that it sees, whose closure cells stand
 * for values that each call passes. */
static const Frozen *nested_func(Ty *ty, const Frozen *code) {
  TyProgram *p = ty->p;
  const FrozenFunc *outer = ty->spec->func;
  for (uint32_t k = 0; k < p->nested.len; k++)
    if (p->nested.data[k]->func->code == code->code &&
        p->nested.data[k]->func->globals == outer->globals)
      return p->nested.data[k];
  FrozenFunc *func = CX_NEW(ty->cx, FrozenFunc);
  *func = (FrozenFunc){.code = code->code,
                       .module = outer->module,
                       .globals = outer->globals,
                       .nglobals = outer->nglobals};
  const Frozen **cells = CX_ARRAY(ty->cx, const Frozen *, code->code->nfrees + 1);
  for (uint32_t k = 0; k < code->code->nfrees; k++)
    cells[k] = capture_marker(p, k);
  func->closure = cells;
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_FUNC;
  f->func = func;
  VEC_PUSH(&ty->cx->arena, &p->nested, f);
  VEC_PUSH(&ty->cx->arena, &p->frozen, f);
  return f;
}

Val ty_make_func(Ty *ty, Ins *i) {
  const Frozen *f = nested_func(ty, i->aux.frozen);
  const Type **types = CX_ARRAY(ty->cx, const Type *, i->nargs + 1);
  Val *items = CX_ARRAY(ty->cx, Val, i->nargs + 1);
  for (uint32_t k = 0; k < i->nargs; k++) {
    items[k] = k < (uint32_t)i->aux2 ? ty_capture(ty, i->args[k]) : ty_arg(ty, i, k);
    if (ty_is_bottom(items[k]))
      return BOTTOM;
    types[k] = items[k].type;
  }
  const Type *t = ty_frozen(ty->cx, TY_FUNC, f, types, i->nargs);
  return i->nargs ? ty_pack(ty, t, items, i->nargs) : (Val){.type = t, .konst = f};
}
