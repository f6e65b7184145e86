/* Unset: is a variable that some path leaves unset set on every path that can be taken here?
 *
 * A loop over something that is never empty runs its body at least once, so what the body sets is set behind the loop.
 *
 * Numba compiles variables that may be unset, and leaves open what they are then; under its typing they are 0 there, or what another
 * path would have set. */
#include "typeinfer/ty.h"

bool ty_may_be_unset(const Ty *ty, const Type *t) {
  return ty->cx->typing == TYPING_NUMBA && t && ty_is_number(t) && !ty_is_complex(t);
}

/* --- loops that run at least once --- */

static bool nonempty(Ty *ty, Val seq) {
  int64_t start, stop, step;
  switch (seq.type->id) {
  case TY_TUPLE: return seq.type->n != 0;
  case TY_RANGE:
    if (!fz_get_int(ty_item(ty, seq, 0).konst, &start) ||
        !fz_get_int(ty_item(ty, seq, 1).konst, &stop) ||
        !fz_get_int(ty_item(ty, seq, 2).konst, &step))
      return false;
    return step > 0 ? start < stop : start > stop;
  case TY_ENUMERATE: return nonempty(ty, ty_item(ty, seq, 0));
  case TY_ZIP:
    for (uint32_t k = 0; k < seq.type->n; k++)
      if (!nonempty(ty, ty_item(ty, seq, k)))
        return false;
    return seq.type->n != 0;
  case TY_ARRAY: return seq.items && fz_get_int(seq.items[0].konst, &start) && start > 0;
  default: return false;
  }
}

void ty_find_first_edges(Ty *ty) {
  bool emit = ty->emit;
  ty->emit = false; /* only asks */
  ir_dominators(ty->cx, ty->fn);
  FOR_BLOCKS (ty->fn, b) {
    Ins *more = b->last && b->last->op == OP_CONDBR ? b->last->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || more->args[1]->op != OP_PHI ||
        more->args[1]->block != b)
      continue;
    Val seq = ty_info(ty, more->args[0])->v;
    if (is_bottom(seq) || !nonempty(ty, seq))
      continue;
    Ins *state = more->args[1];
    for (uint32_t k = 0; k < state->nargs; k++)
      if (state->args[k]->op == OP_ITER_START)
        ty->spec->first_edge[b->id] = b->preds.data[k];
  }
  ty->emit = emit;
}

/* --- the question --- */

typedef struct Query {
  Ty *ty;
  uint32_t budget;
} Query;

static bool set_on_edge(Query *q, Ins *v, Block *from, Block *to);

static bool all_set(Query *q, Ins *phi, const Block *skip) {
  for (uint32_t k = 0; k < phi->nargs; k++) {
    Block *from = phi->block->preds.data[k];
    if (from != skip && ty_edge_taken(q->ty->spec, from, phi->block) &&
        !set_on_edge(q, phi->args[k], from, phi->block))
      return false;
  }
  return true;
}

/* Behind the loop: on the edge out of its header, or anywhere that only the edge out leads to. */
static bool is_behind(const Block *header, const Block *from, const Block *to) {
  const Block *out = header->succ[1];
  return (from == header && to == out) || (out && out->preds.len == 1 && ir_dominates(out, from));
}

static bool set_on_edge(Query *q, Ins *v, Block *from, Block *to) {
  if (!ty_info(q->ty, v)->unset)
    return true;
  if (v->op != OP_PHI || !q->budget)
    return false;
  q->budget--;
  Block *first = q->ty->spec->first_edge[v->block->id];
  if (first && is_behind(v->block, from, to))
    return all_set(q, v, first);
  return all_set(q, v, NULL);
}

bool ty_set_here(Ty *ty, const Ins *phi) {
  Query q = {ty, 64};
  return set_on_edge(&q, (Ins *)(uintptr_t)phi, ty->at->block, NULL);
}
