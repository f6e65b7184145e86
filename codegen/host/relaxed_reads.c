/* Relaxed reads: plain loads that may be beside atomic operations of other threads.
 *
 * In: typed functions, with dominators and marks on loads of loops that wait (ssa/waits.c). Out: is
 * a load one of these?
 *   - A poll: a loop that waits reads it, and its end depends on the value.
 *   - A guess: an atomic operation on the same element, which depends on the value, corrects it:
 *     `if v > best[0]: cuda.atomic.max(best, 0, v)`, the first read of a compare-and-swap loop. */
#include "codegen/host/checks.h"

#include "ir/cfg.h"

static bool keeps_value(const Ins *cast) {
  const Type *from = cast->args[0]->type, *to = cast->type;
  return ty_is_integral(from) && ty_is_integral(to) && ty_bits(to) >= ty_bits(from) &&
         ty_is_signed(from) == ty_is_signed(to);
}

static const Ins *index_of(const Ins *i) {
  while (i->op == OP_CHECK_INDEX || i->op == OP_WRAP_INDEX || (i->op == OP_CAST && keeps_value(i)))
    i = i->args[0];
  return i;
}

static bool is_same_index(const Ins *a, const Ins *b) {
  int64_t x, y;
  a = index_of(a), b = index_of(b);
  if (a->op == OP_CONST && b->op == OP_CONST)
    return fz_get_int(a->aux.frozen, &x) && fz_get_int(b->aux.frozen, &y) && x == y;
  return ir_is_same_value(a, b) || (a->op == OP_CAST && b->op == OP_CAST && a->type == b->type &&
                                    is_same_index(a->args[0], b->args[0]));
}

bool cg_host_is_same_element(const Ins *a, const Ins *b) {
  bool same = a->args[0] == b->args[0];
  for (uint32_t k = 1; same && k <= a->args[0]->type->ndim; k++)
    same = is_same_index(a->args[k], b->args[k]);
  return same;
}

static bool comes_before(const Ins *a, const Ins *b) {
  if (a->block != b->block)
    return ir_dominates(a->block, b->block);
  while (a && a != b)
    a = a->next;
  return a != NULL;
}

typedef struct Reads {
  Lower *lw;
  HostState *state;
  VEC(Ins *) todo, loads;
  uint32_t *seen, stamp; /* by id */
} Reads;

/* The loads that the values in todo depend on. */
static void find_loads(Reads *r) {
  Arena *arena = &r->lw->cx->arena;
  r->loads.len = 0;
  r->stamp++;
  while (r->todo.len) {
    Ins *i = VEC_POP(&r->todo);
    if (r->seen[i->id] == r->stamp)
      continue;
    r->seen[i->id] = r->stamp;
    if (i->op == OP_LOAD)
      VEC_PUSH(arena, &r->loads, i);
    for (uint32_t k = 0; i->op != OP_LOAD && i->op != OP_ATOMIC && i->op != OP_CALL && k < i->nargs;
         k++)
      VEC_PUSH(arena, &r->todo, i->args[k]);
  }
}

/* Its operands, and whether it is done. */
static void find_guesses(Reads *r, Ins *atomic) {
  Arena *arena = &r->lw->cx->arena;
  for (uint32_t k = 1; k < atomic->nargs; k++)
    VEC_PUSH(arena, &r->todo, atomic->args[k]);
  for (Block *b = atomic->block->idom; b; b = b == b->idom ? NULL : b->idom)
    if (b->last->op == OP_CONDBR)
      VEC_PUSH(arena, &r->todo, b->last->args[0]);
  find_loads(r);
  for (uint32_t k = 0; k < r->loads.len; k++)
    if (cg_host_is_same_element(r->loads.data[k], atomic) && comes_before(r->loads.data[k], atomic))
      VEC_PUSH(arena, &r->state->relaxed, r->loads.data[k]);
}

static void look_at(Lower *lw, HostState *state) {
  Reads r = {.lw = lw, .state = state, .seen = CX_ARRAY(lw->cx, uint32_t, lw->fn->next_id + 1)};
  state->looked_at = lw->fn;
  state->relaxed.len = 0;
  FOR_BLOCKS (lw->fn, b)
    FOR_INS (b, i)
      if (i->op == OP_ATOMIC)
        find_guesses(&r, i);
}

bool cg_host_is_relaxed(Lower *lw, const Ins *load) {
  HostState *state = lw->cg->target_state;
  if (load->flags & INS_POLLED)
    return true;
  if (state->looked_at != lw->fn)
    look_at(lw, state);
  for (uint32_t k = 0; k < state->relaxed.len; k++)
    if (state->relaxed.data[k] == load)
      return true;
  return false;
}
