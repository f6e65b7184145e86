/* Signature: the text of argument types, and the front door of the room. */
#include <string.h>

#include "typeinfer/engine/engine.h"
#include "typeinfer/infer.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

/* --- text --- */

static const char *skip_space(const char *s) {
  while (*s == ' ' || *s == '\t' || *s == '\n')
    s++;
  return s;
}

/* Is the parenthesis at s closed only at the end of the text? */
static bool encloses_all(const char *s) {
  int depth = 0;
  for (; *s; s++) {
    depth += (*s == '(') - (*s == ')');
    if (depth == 0)
      return !*skip_space(s + 1);
  }
  return false;
}

static const Type *one_type(Cx *cx, const char **s) {
  const char *error = NULL;
  const Type *t = ty_parse(cx, s, &error);
  if (!t)
    fail(cx, (Loc){0}, ERR_SIGNATURE, error ? error : "it ends early");
  *s = skip_space(*s);
  return t;
}

/* "float32(…)": a result type in front of a list. */
static const Type *result_type(Cx *cx, const char **text) {
  const char *s = *text;
  const Type *t;
  if (*s == '(') {
    if (encloses_all(s))
      return NULL;
    const char *error = NULL;
    t = ty_parse(cx, &s, &error);
    if (!t || *(s = skip_space(s)) != '(')
      return NULL;
  } else {
    const char *open = strchr(s, '(');
    for (const char *c = s; open && c < open; c++)
      if (*c == ',')
        return NULL;
    if (!open)
      return NULL;
    t = one_type(cx, &s);
    if (*s != '(')
      return NULL;
  }
  if (!encloses_all(s))
    return NULL;
  *text = s;
  return t->id == TY_VOID ? ty_scalar(cx, TY_NONE) : t;
}

Signature ty_signature(Cx *cx, const char *text) {
  Signature sig = {0};
  VEC(const Type *) args = {0};
  const char *s = skip_space(ty_skip_narrow(text, &sig.narrow));
  sig.result = result_type(cx, &s);
  bool list = *s == '(' && encloses_all(s);
  s = skip_space(s + list);
  while (*s && !(list && *s == ')')) {
    const Type *t = one_type(cx, &s);
    if (t->id == TY_VOID)
      fail(cx, (Loc){0}, ERR_SIGNATURE, "void is no type of an argument");
    VEC_PUSH(&cx->arena, &args, t);
    if (*s == ',')
      s = skip_space(s + 1);
    else if (*s && !(list && *s == ')'))
      fail(cx, (Loc){0}, ERR_SIGNATURE, arena_printf(&cx->arena, "expected ',' at '%.20s'", s));
  }
  sig.args = args.data;
  sig.nargs = args.len;
  return sig;
}

/* --- inference of a program --- */

/* A record is passed by reference: an array without axes. */
static const Type *argument_type(Cx *cx, const Type *t) {
  if (t->id == TY_RECORD)
    return ty_array(cx, t, 0, LAYOUT_C, SPACE_GLOBAL, false, false);
  if (ty_policy(cx)->weak && t->id != TY_TUPLE)
    return t;
  if (ty_is_scalar(t) && !ty_policy(cx)->weak)
    return ty_scalar(cx, ty_strengthen(t->id));
  if (t->id != TY_TUPLE)
    return t;
  const Type **elems = CX_ARRAY(cx, const Type *, t->n + 1);
  for (uint32_t k = 0; k < t->n; k++)
    elems[k] = argument_type(cx, t->elems[k]);
  return ty_tuple_like(cx, elems, t);
}

/* The parameters' values: the signature's types, then defaults. */
static Val *arguments(Ty *ty, const FrozenFunc *func, const Signature *sig, uint32_t *count) {
  Cx *cx = ty->cx;
  const Code *code = func->code;
  uint32_t n = code->argcount + code->kwonlyargcount;
  Loc loc = {.code = code, .line = code->firstlineno, .end_line = code->firstlineno};
  if (code->flags & (CODE_VARARGS | CODE_VARKEYWORDS)) {
    advise(cx, "give the kernel a parameter for each argument, or one that takes a tuple of them");
    fail(cx, loc, ERR_ARGUMENTS, code->qualname, "a kernel cannot take *args or **kwargs");
  }
  if (sig->nargs > n)
    fail(cx, loc, ERR_ARGUMENTS, code->qualname,
         arena_printf(&cx->arena, "it takes %u argument%s, but the signature has %u", n,
                      n == 1 ? "" : "s", sig->nargs));
  Val *args = CX_ARRAY(cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    if (k < sig->nargs) {
      args[k].type = argument_type(cx, sig->args[k]);
      if (args[k].type->id == TY_NONE)
        args[k].konst = fz_none(cx);
      continue;
    }
    const Binding *kw = fz_find(func->kwdefaults, func->nkwdefaults, code->localsplus[k]);
    const Frozen *f = k < code->argcount
                          ? (k + func->ndefaults >= code->argcount
                                 ? func->defaults[k + func->ndefaults - code->argcount]
                                 : NULL)
                      : kw ? kw->value
                           : NULL;
    if (!f)
      fail(cx, loc, ERR_ARGUMENTS, code->qualname,
           arena_printf(&cx->arena, "the argument '%s' is missing", code->localsplus[k]));
    args[k] = ty_const(ty, f);
    if (!args[k].konst)
      fail(cx, loc, ERR_OBJECT_VALUE, fz_text(cx, f));
    args[k].type = argument_type(cx, args[k].type);
  }
  *count = n;
  return args;
}

/* A function synchronises if what it calls does; calls may form cycles. */
static void spread_barriers(Program *program) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < program->fns.len; k++) {
      Fn *fn = program->fns.data[k];
      FOR_BLOCKS (fn, b)
        FOR_INS (b, i)
          if (i->op == OP_CALL_FN && i->aux.fn->has_barrier && !fn->has_barrier)
            changed = fn->has_barrier = true;
    }
  }
}

/* A function of None keeps its returns as they are: the caller of compile() sees TY_NONE. */
Program *ty_infer(Cx *cx, const FrozenFunc *func, const Signature *sig, bool is_kernel) {
  cx->pass = "infer";
  TyProgram *p = CX_NEW(cx, TyProgram);
  p->cx = cx;
  p->program = CX_NEW(cx, Program);
  p->program->narrow = sig->narrow && is_kernel;
  p->kernel = is_kernel;
  p->npassed = sig->nargs;
  p->call_intrinsic = ty_call_intrinsic;
  Ins here = {.loc = {.code = func->code,
                      .line = func->code->firstlineno,
                      .end_line = func->code->firstlineno}};
  Ty ty = {.cx = cx, .p = p, .at = &here}; /* only asks: nothing can be emitted yet */
  uint32_t n;
  Val *args = arguments(&ty, func, sig, &n);
  TySpec *s = ty_new_spec(p, func, args, n);
  for (uint32_t k = sig->nargs; k < n; k++) /* defaults are constants */
    s->args[k].konst = s->infos[s->fn->params[k]->id].v.konst = args[k].konst;
  if (!is_kernel)
    ty_add_root(p, s);
  ty_type_spec(p, s);
  ty_emit_spec(p, s);
  spread_barriers(p->program);
  if (!is_kernel && sig->result && s->result != sig->result && s->result)
    fail(cx, here.loc, ERR_SIGNATURE,
         arena_printf(&cx->arena, "it promises %s, but the function returns %s",
                      ty_name(cx, sig->result), ty_name(cx, s->result)));
  return p->program;
}
