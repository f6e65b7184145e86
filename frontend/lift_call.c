/* Lift, calls: all forms of a call become CALL or CALL_STAR; nested functions become MAKE_FUNC. */
#include <string.h>

#include "frontend/lift_private.h"

/* (callee, first argument or null) as operands at the front of args; the null may stand on either
 * side (bc.h). */
static uint32_t take_callee(Lift *l, Ins **args) {
  Ins *upper = bc_pop(l), *lower = bc_pop(l);
  if (bc_is_null(l, lower)) {
    args[0] = upper;
    return 1;
  }
  args[0] = lower;
  if (bc_is_null(l, upper))
    return 1;
  args[1] = upper; /* the bound first argument of a method, as in AssertionError(message) */
  return 2;
}

static void call(Lift *l, const Frozen *names) {
  uint32_t n = l->node->arg;
  Ins **values = bc_pop_many(l, n), **args = CX_ARRAY(l->cx, Ins *, n + 2);
  uint32_t lead = take_callee(l, args);
  memcpy(args + lead, values, sizeof *args * n);
  Ins *i = bc_emit(l, OP_CALL, args, lead + n);
  i->aux.names = names;
  bc_push(l, i);
}

void bc_lift_call(Lift *l) { call(l, NULL); }

void bc_lift_call_kw(Lift *l) {
  Ins *names = bc_pop(l);
  const Frozen *f = names->op == OP_CONST ? names->aux.frozen : NULL;
  if (!f || f->kind != FZ_TUPLE || f->n > l->node->arg)
    bc_damaged(l, "keyword names are not a tuple of strings");
  for (uint32_t k = 0; k < f->n; k++)
    if (f->items[k]->kind != FZ_STR)
      bc_damaged(l, "keyword names are not a tuple of strings");
  call(l, f->n ? f : NULL);
}

/* The dict of f(*x, name=y) or of keyword defaults: taken out of the program; its values and names
 * (both NULL without one). */
static Ins **take_dict(Lift *l, Ins *dict, const Frozen **names) {
  if (bc_is_null(l, dict)) {
    *names = NULL;
    return NULL;
  }
  dict = bc_through(l, dict);
  if (dict->op != OP_MAKE_DICT)
    fail(l->cx, l->loc, ERR_STAR_CALL);
  if (dict->block)
    ir_remove(dict);
  *names = dict->aux.names;
  return dict->args;
}

void bc_lift_call_star(Lift *l) {
  Ins *callee[4], *dict = l->node->arg & 1 ? bc_pop(l) : l->null, *positional = bc_pop(l);
  if (take_callee(l, callee) != 1)
    bc_damaged(l, "a call with * has a bound argument");
  const Frozen *names;
  Ins **keywords = take_dict(l, dict, &names);
  uint32_t n, nkeys = names ? names->n : 0;
  Ins **items = bc_items(l, positional, &n);
  if (!items)
    n = 1;
  Ins **all = CX_ARRAY(l->cx, Ins *, (size_t)n + nkeys + 1);
  all[0] = callee[0];
  memcpy(all + 1, items ? items : &positional, sizeof *all * n);
  if (nkeys)
    memcpy(all + 1 + n, keywords, sizeof *all * nkeys);
  /* where the arguments are known here it is a plain call */
  Ins *i = bc_emit(l, items ? OP_CALL : OP_CALL_STAR, all, 1 + n + nkeys);
  i->aux.names = nkeys ? names : NULL;
  bc_push(l, i);
}

/* --- dicts --- */

static void push_dict(Lift *l, const Frozen *names, Ins *const *values) {
  for (uint32_t k = 0; k < names->n; k++)
    if (names->items[k]->kind != FZ_STR)
      fail(l->cx, l->loc, ERR_DICT);
  Ins *dict = bc_emit(l, OP_MAKE_DICT, values, names->n);
  dict->aux.names = names;
  bc_push(l, dict);
}

/* On the stack: key, value, key, value … */
void bc_lift_build_map(Lift *l) {
  uint32_t n = l->node->arg;
  Ins **pairs = bc_pop_many(l, 2 * n), **values = CX_ARRAY(l->cx, Ins *, n + 1);
  const Frozen **keys = CX_ARRAY(l->cx, const Frozen *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    const Ins *key = bc_through(l, pairs[2 * k]);
    if (key->op != OP_CONST)
      fail(l->cx, l->loc, ERR_DICT);
    keys[k] = key->aux.frozen;
    values[k] = pairs[2 * k + 1];
  }
  push_dict(l, fz_tuple(l->cx, keys, n), values);
}

void bc_lift_build_const_key_map(Lift *l) {
  Ins *keys = bc_pop(l), **values = bc_pop_many(l, l->node->arg);
  const Frozen *names = keys->op == OP_CONST ? keys->aux.frozen : NULL;
  if (!names || names->kind != FZ_TUPLE || names->n != l->node->arg)
    bc_damaged(l, "the keys of a dict are not a tuple");
  push_dict(l, names, values);
}

/* --- nested functions --- */

enum { FUNC_DEFAULTS = 1, FUNC_KWDEFAULTS = 2, FUNC_ANNOTATIONS = 4, FUNC_CLOSURE = 8 };

static void check_comprehension(Lift *l, const Code *code) {
  static const char *const names[] = {"<listcomp>", "<setcomp>", "<dictcomp>"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(code->name ? code->name : "", names[k]))
      fail(l->cx, l->loc, ERR_COMPREHENSION);
  l->generators |= code_is_genexpr(code);
}

/* Notes which cell variables the nested function takes, for bc_check_captures. */
static void note_captures(Lift *l, Ins *made, const Code *inner) {
  uint32_t first_free = inner->nlocalsplus - inner->nfrees,
           first = l->code->nlocalsplus - l->code->nfrees;
  for (uint32_t k = first_free; k < inner->nlocalsplus; k++)
    for (uint32_t var = 0; var < first; var++)
      if (inner->localsplus[k] && !strcmp(inner->localsplus[k], l->code->localsplus[var]))
        VEC_PUSH(&l->cx->arena, &l->captures, ((Capture){made, var, l->at}));
}

/* Behind the captured values: a constant that names them, then the defaults of keyword-only
 * parameters. */
static void add_keyword_defaults(Lift *l, Ins *made, Ins *dict) {
  const Frozen *names;
  Ins **values = take_dict(l, dict, &names);
  if (!names)
    bc_damaged(l, "a nested function has no written-out keyword defaults");
  Frozen *mark = CX_NEW(l->cx, Frozen);
  *mark =
      (Frozen){.kind = FZ_OPAQUE, .text = fz_keywords_mark, .n = names->n, .items = names->items};
  ir_add_arg(l->cx, made, bc_constant(l, mark));
  for (uint32_t k = 0; k < names->n; k++)
    ir_add_arg(l->cx, made, values[k]);
}

static void set_attribute(Lift *l, Ins *made, uint32_t flag, Ins *value) {
  uint32_t n;
  const Code *inner = made->aux.frozen->code;
  if (flag == FUNC_KWDEFAULTS) {
    add_keyword_defaults(l, made, value);
    return;
  }
  if (flag != FUNC_CLOSURE && flag != FUNC_DEFAULTS)
    return; /* annotations mean nothing here */
  Ins **items = bc_items(l, value, &n);
  if (!items)
    bc_damaged(l, "a nested function has no written-out closure or defaults");
  if (flag == FUNC_CLOSURE) {
    if (made->nargs || n != inner->nfrees)
      bc_damaged(l, "a nested function and its closure differ");
    made->aux2 = (int32_t)n;
    note_captures(l, made, inner);
  }
  for (uint32_t k = 0; k < n; k++)
    ir_add_arg(l->cx, made, items[k]);
}

/* Operands of MAKE_FUNC stand before it even where its closure is set later: they are made first on
 * the stack. */
void bc_lift_make_function(Lift *l) {
  Ins *code = bc_pop(l);
  if (code->op != OP_CONST || code->aux.frozen->kind != FZ_CODE || !code->aux.frozen->code)
    bc_damaged(l, "a nested function has no code");
  const Code *inner = code->aux.frozen->code;
  if (inner->nfrees > inner->nlocalsplus)
    bc_damaged(l, "a nested function has fewer variables than it captures");
  check_comprehension(l, inner);
  Ins *values[4] = {NULL};
  for (int bit = 3; bit >= 0; bit--)
    if (l->node->arg & 1u << bit)
      values[bit] = bc_pop(l);
  Ins *made = ir_ins(l->cx, l->fn, OP_MAKE_FUNC, NULL, l->loc, NULL, 0);
  made->aux.frozen = code->aux.frozen;
  for (int bit = 3; bit >= 0; bit--)
    if (values[bit])
      set_attribute(l, made, 1u << bit, values[bit]);
  made->note = (void *)((uintptr_t)l->at + 1);
  ir_append(l->block, made);
  bc_push(l, made);
}

/* 3.13 and later. The function stays where it is on the stack; a constant that is made here for it
 * stands behind it in the block, so it moves to the end. */
void bc_lift_function_attribute(Lift *l) {
  Ins *made = bc_pop(l), *value = bc_pop(l);
  if (made->op != OP_MAKE_FUNC || made->block != l->block)
    bc_damaged(l, "a nested function is not made where it is completed");
  ir_remove(made);
  set_attribute(l, made, l->node->arg, value);
  ir_append(l->block, made);
  bc_push(l, made);
}
