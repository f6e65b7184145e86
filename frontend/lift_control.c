/* Lift, control: branches, loops, returns, raise. Each but get_iter ends its block.
 *
 * CPython keeps an iterator on the stack; a kernel has none. The sequence stays on the stack in
 * its place, and the iterator's state is an integer variable named after that slot (bc_state), so
 * that the construction of SSA makes a phi of it like of any other. FOR_ITER becomes the test for
 * another item, with which the block ends, and a block of its own on the way into the body, which
 * takes the item and steps. A return in what a reduction consumes gives the reduction's result
 * instead. */
#include "frontend/lift_private.h"

static void condition(Lift *l, Ins *cond) {
  Block *yes = bc_block_at(l, l->node->succ[0]), *no = bc_block_at(l, l->node->succ[1]);
  ir_condbr(l->cx, l->fn, l->block, cond, yes, no, l->loc);
  l->block = NULL;
}

void bc_lift_branch(Lift *l) { condition(l, bc_emit1(l, OP_TRUTH, bc_pop(l))); }

void bc_lift_branch_none(Lift *l) {
  Ins *value = bc_pop(l);
  condition(l, bc_emit2(l, OP_IS, value, bc_constant(l, fz_none(l->cx))));
}

void bc_lift_line(Lift *l) { (void)bc_emit(l, OP_LINE, NULL, 0); }

/* The jump that is left of an endless loop that does nothing. */
void bc_lift_jump(Lift *l) {
  ir_br(l->cx, l->fn, l->block, bc_block_at(l, l->node->succ[0]), l->loc);
  l->block = NULL;
}

/* Up to 3.12 the place of a loop is the whole statement; what is looped over has just been
 * computed. */
static void place_at_iterable(Lift *l) {
  const BcNode *n = l->node, *first = l->bc->nodes.data;
  n -= n > first;
  bool pairs = l->bc->ops->version >= 315;
  while (n > first &&
         (n->op == BC_get_iter || (pairs && (n->op == BC_POP_TOP || n->op == BC_PUSH_NULL))))
    n--;
  if (ir_loc_inside(bc_loc(l->bc, n), l->loc))
    l->loc = bc_loc(l->bc, n);
}

/* Up to 3.14 whoever calls a generator expression's code makes the iterator; here the code itself
 * does, as from 3.15 on. */
static bool is_for_generator(const Lift *l) {
  const BcNode *next = &l->bc->nodes.data[l->node->succ[0]];
  return l->node->op == BC_get_iter && next->op == BC_call && !next->arg;
}

void bc_lift_get_iter(Lift *l) {
  if (is_for_generator(l))
    return;
  place_at_iterable(l);
  Ins *sequence = bc_emit1(l, OP_ITER, bc_pop(l));
  bc_write(l, bc_state(l, l->depth), bc_emit1(l, OP_ITER_START, sequence));
  bc_push(l, sequence);
}

/* The item and the step have a block of their own on the way into the body, since they are not
 * there on the way out. */
void bc_lift_for_iter(Lift *l) {
  uint32_t slot = l->depth - 1;
  Ins *sequence = bc_peek(l, 1), *state = bc_read(l, bc_state(l, slot));
  place_at_iterable(l);
  Ins *more = bc_emit2(l, OP_ITER_MORE, sequence, state);
  Block *body = ir_block(l->cx, l->fn);
  body->note = (void *)(uintptr_t)1;
  ir_condbr(l->cx, l->fn, l->block, more, body, bc_block_at(l, l->node->succ[1]), l->loc);
  l->block = body;
  Ins *item = bc_emit2(l, OP_ITER_ITEM, sequence, state);
  bc_write(l, bc_state(l, slot), bc_emit2(l, OP_ITER_STEP, sequence, state));
  bc_push(l, item);
  ir_br(l->cx, l->fn, body, bc_block_at(l, l->node->succ[0]), l->loc);
  l->block = NULL;
}

static void finish(Lift *l, Ins *value) {
  if (l->func->consumer)
    value = bc_consumed(l);
  ir_ret(l->cx, l->fn, l->block, value, l->loc);
  l->block = NULL;
}

void bc_lift_return_value(Lift *l) { finish(l, bc_pop(l)); }
void bc_lift_return_none(Lift *l) { finish(l, bc_constant(l, fz_none(l->cx))); }

void bc_lift_return_const(Lift *l) {
  bc_lift_const(l);
  finish(l, bc_pop(l));
}

void bc_lift_return_small(Lift *l) { finish(l, bc_constant(l, fz_int(l->cx, l->node->arg))); }

/* raise, raise x, raise x from cause. Alone it has nothing to raise again, since there is no except
 * in a kernel. */
void bc_lift_raise(Lift *l) {
  if (l->node->arg == 2)
    (void)bc_pop(l);
  Ins *what = l->node->arg ? bc_pop(l) : bc_exception(l, "RuntimeError");
  bc_emit1(l, OP_RAISE, what);
  l->block = NULL;
}

void bc_lift_end_for(Lift *l) { bc_damaged(l, "the end of a for loop has no loop"); }
