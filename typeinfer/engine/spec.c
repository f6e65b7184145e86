/* Spec: one function for one row of argument types; found again by them, typed once, emitted if a
 * call of it is. */
#include <ctype.h>
#include <string.h>

#include "ir/cfg.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/value/value.h"

/* --- look-up --- */

static bool wants_values(const TyProgram *p, const Code *code) {
  for (const TyWant *w = p->wants; w; w = w->next)
    if (w->code == code)
      return true;
  return false;
}

static uint64_t spec_hash(const FrozenFunc *func, const Val *args, uint32_t n) {
  uint64_t h = hash_bytes(&func, sizeof func, 7);
  for (uint32_t k = 0; k < n; k++)
    h = hash_bytes(&args[k].type, sizeof args[k].type, h);
  return h;
}

/* Values are part of the identity only of a function that needs them; what has no storage is its
 * type. */
static const Frozen *key_value(Val v, bool values) {
  return values && v.konst && (ty_is_value(v.type) || v.type->id == TY_TUPLE) ? v.konst : NULL;
}

/* So are the extents of an array of constant shape, of rank 1 or more. */
static const Val *key_extents(Val v, bool values) {
  if (!values || v.type->id != TY_ARRAY || v.konst || !v.type->ndim || !v.items)
    return NULL;
  for (uint32_t k = 0; k < v.type->ndim; k++)
    if (!v.items[k].konst)
      return NULL;
  return v.items;
}

static bool same_extents(Val a, Val b, bool values) {
  const Val *x = key_extents(a, values), *y = key_extents(b, values);
  for (uint32_t k = 0; x && y && k < a.type->ndim; k++)
    if (!fz_same(x[k].konst, y[k].konst))
      return false;
  return !x == !y;
}

static bool spec_matches(const TySpec *s, const FrozenFunc *func, const Val *args, uint32_t n,
                         bool values) {
  if (s->func != func || s->nargs != n || s->const_args != values)
    return false;
  for (uint32_t k = 0; k < n; k++) {
    const Frozen *a = key_value(s->args[k], values), *b = key_value(args[k], values);
    if (s->args[k].type != args[k].type || !a != !b || (a && !fz_same(a, b)) ||
        !same_extents(s->args[k], args[k], values))
      return false;
  }
  return true;
}

/* --- making --- */

/* A call on the way down, for the notes of an error below it. */
static void enter(Cx *cx, Loc loc, const char *name) {
  uint32_t n = cx->ncalls++;
  if (n < sizeof cx->calls / sizeof *cx->calls) {
    cx->calls[n].loc = loc;
    cx->calls[n].name = name;
  }
}

static void leave(Cx *cx) { cx->ncalls--; }

/* Captured values become parameters behind the others. */
static void add_captured(Cx *cx, Fn *fn, const FrozenFunc *func, uint32_t nargs) {
  uint32_t have = fn->nparams;
  if (nargs <= have)
    return;
  Ins **params = CX_ARRAY(cx, Ins *, nargs);
  const char **names = CX_ARRAY(cx, const char *, nargs);
  for (uint32_t k = 0; k < nargs; k++) {
    params[k] = k < have ? fn->params[k] : ir_ins(cx, fn, OP_PARAM, NULL, (Loc){0}, NULL, 0);
    names[k] =
        k < have
            ? (fn->param_names ? fn->param_names[k] : NULL)
            : func->code->localsplus[func->code->nlocalsplus - func->code->nfrees + (k - have)];
    if (k < have)
      continue;
    params[k]->aux.i = k;
    params[k]->name = names[k];
    ir_insert_before(fn->entry->first, params[k]);
  }
  fn->params = params;
  fn->param_names = names;
  fn->nparams = nargs;
}

TySpec *ty_new_spec(TyProgram *p, const FrozenFunc *func, const Val *args, uint32_t n) {
  Cx *cx = p->cx;
  TySpec *s = CX_NEW(cx, TySpec);
  s->func = func;
  s->nargs = n;
  s->args = CX_ARRAY(cx, Val, n + 1);
  s->fn = cx->lift(cx, func);
  s->fn->program = p->program;
  s->fn->source = func;
  s->fn->exact = func->options && func->options->exact;
  s->fn->inlining = func->options ? func->options->inlining : INLINE_AUTO;
  add_captured(cx, s->fn, func, n);
  CX_ASSERT(cx, s->fn->nparams == n);
  s->params = s->fn->params;
  ir_order(cx, s->fn);
  s->ninfos = s->fn->next_id;
  s->infos = CX_ARRAY(cx, TyInfo, s->ninfos);
  s->taken = CX_ARRAY(cx, uint8_t, s->fn->next_block);
  s->first_edge = CX_ARRAY(cx, Block *, s->fn->next_block);
  s->taken[s->fn->entry->id] = BLOCK_REACHED;
  for (uint32_t k = 0; k < n; k++) {
    Val v = {.type = args[k].type, .konst = args[k].konst, .src = s->fn->params[k]};
    if (ty_stored(v.type))
      v.konst = NULL;
    s->args[k] = s->infos[s->fn->params[k]->id].v = v;
  }
  return s;
}

/* Recursion that calls itself with new types each time would never end. */
static void check_types(Ty *ty, const Code *code) {
  const TyProgram *p = ty->p;
  uint32_t same = 0;
  for (uint32_t k = 0; k < p->stack.len; k++)
    same += p->stack.data[k]->func->code == code;
  if (same >= TY_MAX_TYPES)
    fail(ty->cx, ty->at->loc, ERR_TOO_DEEP, TY_MAX_TYPES, code->qualname);
}

/* Extents without the instructions of the caller. */
static const Val *known_extents(Ty *ty, Val v, bool values) {
  const Val *extents = key_extents(v, values);
  Val *own = extents ? CX_ARRAY(ty->cx, Val, v.type->ndim) : NULL;
  for (uint32_t k = 0; own && k < v.type->ndim; k++)
    own[k] = (Val){.type = extents[k].type, .konst = extents[k].konst};
  return own;
}

static TySpec *find_or_make(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n) {
  TyProgram *p = ty->p;
  bool values = wants_values(p, func->code);
  uint32_t slot = (uint32_t)spec_hash(func, args, n) % SPEC_SLOTS;
  for (TySpec *s = p->specs[slot]; s; s = s->next)
    if (spec_matches(s, func, args, n, values))
      return s;
  if (p->nspecs++ >= TY_MAX_SPECS)
    fail(ty->cx, ty->at->loc, ERR_TOO_LARGE,
         p->program->fns.len ? p->program->fns.data[0]->name : "the program",
         "it calls more than 4096 functions, counted by the types of their arguments");
  check_types(ty, func->code);
  TySpec *s = ty_new_spec(p, func, args, n);
  s->const_args = values;
  for (uint32_t k = 0; k < n; k++) {
    const Frozen *f = key_value(args[k], values);
    if (f)
      s->args[k].konst = s->infos[s->fn->params[k]->id].v.konst = f;
    s->args[k].items = s->infos[s->fn->params[k]->id].v.items = known_extents(ty, args[k], values);
  }
  s->next = p->specs[slot];
  return p->specs[slot] = s;
}

/* A function that is typed for itself is found by its own calls, if they would pass what its
 * signature names. */
void ty_add_root(TyProgram *p, TySpec *s) {
  for (uint32_t k = 0; k < s->nargs; k++)
    if (!ty_stored(s->args[k].type) || s->args[k].konst)
      return;
  uint32_t slot = (uint32_t)spec_hash(s->func, s->args, s->nargs) % SPEC_SLOTS;
  s->next = p->specs[slot];
  p->specs[slot] = s;
}

/* --- calling --- */

static void use_in_progress(Ty *ty, TySpec *s) {
  uint32_t low = s->state == SPEC_TYPING ? s->level : s->low;
  if (s->state == SPEC_TYPING)
    s->recursive = true;
  if (low < ty->spec->low)
    ty->spec->low = low;
}

static TySpec *typed_spec(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n) {
  for (;;) {
    TySpec *s = find_or_make(ty, func, args, n);
    if (s->state == SPEC_NEW ||
        (s->state == SPEC_PROVISIONAL && (ty->emit || s->round != ty->p->round)))
      ty_type_spec(ty->p, s);
    else if (s->state == SPEC_TYPING || s->state == SPEC_PROVISIONAL)
      use_in_progress(ty, s);
    if (s->const_args || !wants_values(ty->p, func->code))
      return s;
  }
}

/* What has no storage is not passed. */
static Val emit_call(Ty *ty, TySpec *s, const Val *args, uint32_t n) {
  Val *passed = CX_ARRAY(ty->cx, Val, n + 1);
  uint32_t count = 0;
  for (uint32_t k = 0; k < n; k++)
    if (ty_stored(args[k].type) && !s->args[k].konst)
      passed[count++] = args[k];
  CX_ASSERT(ty->cx, s->state != SPEC_DONE || count == s->fn->nparams);
  Val r = ty_op(ty, OP_CALL_FN, s->result, passed, count);
  r.ins->aux.fn = s->fn;
  if (s->fn->has_barrier)
    ty->fn->has_barrier = true;
  if (ty_stored(s->result))
    return r;
  return (Val){.type = s->result,
               .konst = s->result->id == TY_NONE ? fz_none(ty->cx) : s->result->frozen};
}

Val ty_call_spec(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (ty->cx->ncalls >= TY_MAX_CALLS)
    fail(ty->cx, ty->at->loc, ERR_TOO_DEEP, TY_MAX_CALLS, func->code->qualname);
  enter(ty->cx, ty->at->loc, func->code->qualname);
  TySpec *s = typed_spec(ty, func, args, n);
  if (!ty->emit) {
    leave(ty->cx);
    if (!s->result && s->stuck)
      ty->stuck = true;
    if (s->missing)
      ty_want_values(ty);
    if (!s->result)
      return BOTTOM;
    return (Val){.type = s->result,
                 .konst = ty_stored(s->result)       ? NULL
                          : s->result->id == TY_NONE ? fz_none(ty->cx)
                                                     : s->result->frozen};
  }
  if (s->state == SPEC_TYPED)
    ty_emit_spec(ty->p, s);
  leave(ty->cx);
  if (!s->result)
    fail(ty->cx, ty->at->loc, ERR_RECURSION, func->code->qualname);
  return emit_call(ty, s, args, n);
}
