/* Lift, generator expressions: lifted for the function that consumes all their items, sum(x * x for
 * x in t).
 *
 * In: the code of a generator expression, a FrozenFunc.consumer. Out: a plain function of the
 * iterable and a start value: each `yield x` is what the consumer does with an item, and the end
 * returns its result. The result so far, and for min and max whether there is one, are two
 * variables behind those of the code. For names that it is unpacked into, and for tuple(), the
 * function is called once an item, with that alone, and gives what its first yield does. What must
 * hold: a generator object is used once, by a call or an unpacking in the block that makes it, so
 * that nothing happens between its making and its consumption (bc_check_generators). */
#include "frontend/lift_private.h"

static uint32_t result_var(const Lift *l) { return bc_state(l, l->code->stacksize + 8); }
static uint32_t seen_var(const Lift *l) { return result_var(l) + 1; }
static uint32_t key_var(const Lift *l) { return result_var(l) + 2; }

static Ins *boolean(Lift *l, bool value) { return bc_constant(l, fz_bool(l->cx, value)); }

static bool chooses(Consumer c) { return c == CONSUME_MIN || c == CONSUME_MAX; }

/* What min and max have before the first item: nothing, which nobody reads. */
static Ins *nothing(Lift *l) {
  Ins *i = bc_emit(l, OP_UNSET, NULL, 0);
  i->aux2 = 1;
  return i;
}

/* May an item of what the one loop runs over give nothing, or several? A condition leads back to
 * the loop without a yield, and so does the end of a loop inside. */
static bool may_skip(const Lift *l, uint32_t loop) {
  VEC(uint32_t) todo = {0};
  bool *seen = CX_ARRAY(l->cx, bool, l->bc->nodes.len);
  VEC_PUSH(&l->cx->arena, &todo, l->bc->nodes.data[loop].succ[0]);
  while (todo.len) {
    uint32_t at = todo.data[--todo.len];
    if (at == loop)
      return true;
    if (at == BC_NONE || seen[at] || l->bc->nodes.data[at].op == BC_YIELD_VALUE)
      continue;
    seen[at] = true;
    VEC_PUSH(&l->cx->arena, &todo, l->bc->nodes.data[at].succ[0]);
    VEC_PUSH(&l->cx->arena, &todo, l->bc->nodes.data[at].succ[1]);
  }
  return false;
}

static void check_items(const Lift *l) {
  for (uint32_t k = 0; k < l->bc->nodes.len; k++)
    if (l->bc->nodes.data[k].op == BC_for_iter) {
      if (may_skip(l, k))
        fail(l->cx, bc_loc(l->bc, &l->bc->nodes.data[k]), ERR_GENEXPR_ITEMS);
      return;
    }
}

/* In the entry block. */
void bc_begin_consumer(Lift *l) {
  Consumer c = CONSUME_KIND(l->func->consumer);
  l->block = l->fn->entry;
  if (c == CONSUME_ONE)
    check_items(l);
  bc_write(l, result_var(l),
           c == CONSUME_SUM                 ? l->fn->params[1]
           : chooses(c) || c == CONSUME_ONE ? nothing(l)
                                            : boolean(l, c == CONSUME_ALL));
  if (l->func->consumer & CONSUME_KEYED)
    bc_write(l, key_var(l), nothing(l));
  bc_write(l, seen_var(l), boolean(l, false));
}

static Block *new_block(Lift *l, uintptr_t npreds) {
  Block *b = ir_block(l->cx, l->fn);
  b->note = (void *)npreds;
  return b;
}

static void branch(Lift *l, Ins *cond, Block *yes, Block *no) {
  ir_condbr(l->cx, l->fn, l->block, cond, yes, no, l->loc);
}

/* any and all end at the first item that decides. */
static void decide(Lift *l, Ins *item, bool all) {
  Block *end = new_block(l, 1), *on = new_block(l, 1);
  branch(l, bc_emit1(l, OP_TRUTH, item), all ? on : end, all ? end : on);
  l->block = end;
  ir_ret(l->cx, l->fn, end, boolean(l, !all), l->loc);
  l->block = on;
}

/* The first item, or one that is smaller (larger) than all before it. */
static void choose(Lift *l, Ins *item, Op better) {
  bool keyed = l->func->consumer & CONSUME_KEYED;
  Ins *key = keyed ? bc_emit2(l, OP_CALL, l->fn->params[2], item) : item;
  Block *compare = new_block(l, 1), *take = new_block(l, 2), *on = new_block(l, 2);
  branch(l, bc_read(l, seen_var(l)), compare, take);
  l->block = compare;
  Ins *best = bc_read(l, keyed ? key_var(l) : result_var(l));
  branch(l, bc_emit1(l, OP_TRUTH, bc_emit2(l, better, key, best)), take, on);
  l->block = take;
  bc_write(l, result_var(l), item);
  if (keyed)
    bc_write(l, key_var(l), key);
  bc_write(l, seen_var(l), boolean(l, true));
  ir_br(l->cx, l->fn, take, on, l->loc);
  l->block = on;
}

/* The one item is the result. Behind it the loop goes on for whoever looks at its shape. */
static void give(Lift *l, Ins *item) {
  Block *end = new_block(l, 1), *on = new_block(l, 1);
  branch(l, boolean(l, true), end, on);
  ir_ret(l->cx, l->fn, end, item, l->loc);
  l->block = on;
}

void bc_lift_yield_value(Lift *l) {
  Ins *item = bc_pop(l);
  Consumer c = CONSUME_KIND(l->func->consumer);
  switch (c) {
  case CONSUME_SUM:
    bc_write(l, result_var(l), bc_emit2(l, OP_ADD, bc_read(l, result_var(l)), item));
    break;
  case CONSUME_ANY:
  case CONSUME_ALL: decide(l, item, c == CONSUME_ALL); break;
  case CONSUME_MIN: choose(l, item, OP_LT); break;
  case CONSUME_MAX: choose(l, item, OP_GT); break;
  case CONSUME_ONE: give(l, item); break;
  default: bc_damaged(l, "a yield outside of a generator expression");
  }
  bc_push(l, bc_constant(l, fz_none(l->cx))); /* what is sent into it: popped at once */
}

void bc_lift_return_generator(Lift *l) { bc_push(l, bc_constant(l, fz_none(l->cx))); }

static void raise_empty(Lift *l, Consumer c) {
  const char *text = arena_printf(&l->cx->arena, "%s() iterable argument is empty",
                                  c == CONSUME_MIN ? "min" : "max");
  Ins *class = bc_exception(l, "ValueError"), *message = bc_constant(l, fz_str(l->cx, text));
  bc_emit1(l, OP_RAISE, bc_emit2(l, OP_CALL, class, message));
}

/* The end of the code. */
Ins *bc_consumed(Lift *l) {
  Consumer c = CONSUME_KIND(l->func->consumer);
  if (chooses(c)) {
    Block *empty = new_block(l, 1), *end = new_block(l, 1);
    branch(l, bc_read(l, seen_var(l)), end, empty);
    l->block = empty;
    if (l->func->consumer & CONSUME_DEFAULTED)
      ir_ret(l->cx, l->fn, empty, l->fn->params[1], l->loc);
    else
      raise_empty(l, c);
    l->block = end;
  }
  return bc_read(l, result_var(l));
}

/* --- where it is made --- */

bool bc_makes_generator(const Ins *i) {
  const Ins *callee = i->op == OP_CALL ? ir_real(i->args[0]) : NULL;
  return callee && callee->op == OP_MAKE_FUNC && code_is_genexpr(callee->aux.frozen->code);
}

void bc_check_generators(Lift *l) {
  if (!l->generators)
    return;
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++) {
        Ins *made = ir_real(i->args[k]);
        bool further = i->op == OP_UNPACK && made->note == i->prev; /* of the same names */
        bool elsewhere = made->block != b || (i->op != OP_CALL && i->op != OP_UNPACK) ||
                         (made->note && !further);
        if (bc_makes_generator(made) && elsewhere)
          fail(l->cx, made->loc, ERR_GENEXPR);
        if (bc_makes_generator(made))
          made->note = i;
      }
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i)
      if (bc_makes_generator(i))
        i->note = NULL;
}
