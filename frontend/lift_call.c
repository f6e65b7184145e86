/* Lift, calls: all forms of a call become CALL or CALL_STAR; nested functions become MAKE_FUNC. */
#include <string.h>

#include "frontend/lift_private.h"

/* (callee, first argument or null) as operands at the front of args; the null may stand on either side (bc.h). */
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

void bc_lift_call_star(Lift *l) {
  Ins *args[4], *keywords = l->node->arg & 1 ? bc_pop(l) : l->null, *positional = bc_pop(l);
  if (take_callee(l, args) != 1)
    bc_damaged(l, "a call with * has a bound argument");
  args[1] = positional;
  if (!bc_is_null(l, keywords))
    fail(l->cx, l->loc, ERR_STAR_CALL);
  uint32_t n;
  Ins **items = bc_items(l, positional, &n);
  if (!items) {
    bc_push(l, bc_emit(l, OP_CALL_STAR, args, 2));
    return;
  }
  Ins **all = CX_ARRAY(l->cx, Ins *, n + 1); /* its arguments are known here: a plain call */
  all[0] = args[0];
  memcpy(all + 1, items, sizeof *all * n);
  bc_push(l, bc_emit(l, OP_CALL, all, n + 1));
}

/* A dict is made: for f(**x), as the message then says, or as a value. */
void bc_lift_dict(Lift *l) {
  const BcNode *nodes = l->bc->nodes.data, *n = l->node;
  uint32_t above = 1; /* values from the dict upwards */
  bool map = n->op == BC_BUILD_MAP;
  for (int steps = 0; steps < 1000 && n->succ[0] != BC_NONE; steps++) {
    n = &nodes[n->succ[0]];
    uint32_t pops = n->op == BC_BUILD_MAP             ? 2 * n->arg
                    : n->op == BC_BUILD_CONST_KEY_MAP ? n->arg + 1
                                                      : bc_pops(n);
    if (bc_info[n->op].error == ERR_STAR_CALL ||
        (n->op == BC_call_star && (n->arg & 1) && pops > above && map))
      fail(l->cx, bc_loc(l->bc, n), ERR_STAR_CALL);
    if (pops >= above && (n->op == BC_make_function || n->op == BC_SET_FUNCTION_ATTRIBUTE))
      fail(l->cx, l->loc, ERR_ARGUMENTS, "a nested function",
           "keyword-only parameters cannot have defaults");
    if (pops >= above || bc_ends(n))
      break;
    above = above - pops + bc_pushes(n);
  }
  fail(l->cx, l->loc, ERR_DICT);
}

/* --- nested functions --- */

enum { FUNC_DEFAULTS = 1, FUNC_KWDEFAULTS = 2, FUNC_ANNOTATIONS = 4, FUNC_CLOSURE = 8 };

static void check_comprehension(Lift *l, const Code *code) {
  static const char *const names[] = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(code->name ? code->name : "", names[k]))
      fail(l->cx, l->loc, ERR_COMPREHENSION);
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

static void set_attribute(Lift *l, Ins *made, uint32_t flag, Ins *value) {
  uint32_t n;
  const Code *inner = made->aux.frozen->code;
  if (flag != FUNC_CLOSURE && flag != FUNC_DEFAULTS)
    return; /* annotations mean nothing here; keyword defaults have failed as a dict */
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

/* Operands of MAKE_FUNC stand before it even where its closure is set later: they are made first on the stack. */
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

/* 3.13 and later. The function stays where it is on the stack; a constant that is made here for it stands behind it in the
 * block, so it moves to the end. */
void bc_lift_function_attribute(Lift *l) {
  Ins *made = bc_pop(l), *value = bc_pop(l);
  if (made->op != OP_MAKE_FUNC || made->block != l->block)
    bc_damaged(l, "a nested function is not made where it is completed");
  ir_remove(made);
  set_attribute(l, made, l->node->arg, value);
  ir_append(l->block, made);
  bc_push(l, made);
}
