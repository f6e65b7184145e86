/* Unset: which reads of a local variable some path reaches without having set it.
 *
 * In: nodes, and those among them that begin blocks. Out: Lift.maybe_unset by node. Bits of
 * variables flow forward through the blocks until nothing changes; behind a read that may raise the
 * variable is set, as CPython has it. */
#include <string.h>

#include "frontend/lift_private.h"

typedef struct Unset {
  Lift *l;
  uint32_t words;
  /* by node that begins a block: a bit a variable that may be unset there; NULL: not reached yet */
  uint64_t **in;
  uint64_t *now;
  bool changed;
} Unset;

bool bc_is_cell(const Lift *l, uint32_t var) {
  return var < l->code->nlocalsplus && (bc_is_free(l, var) || l->cells[var]);
}

static void flow_to(Unset *u, uint32_t node) {
  uint64_t **in = &u->in[node];
  bool first = !*in;
  if (first)
    *in = CX_ARRAY(u->l->cx, uint64_t, u->words);
  u->changed |= first;
  for (uint32_t w = 0; w < u->words; w++) {
    u->changed |= (u->now[w] & ~(*in)[w]) != 0;
    (*in)[w] |= u->now[w];
  }
}

static void visit(Unset *u, uint32_t at) {
  Lift *l = u->l;
  const BcNode *n = &l->bc->nodes.data[at];
  uint32_t var = n->arg;
  bool reads = n->op == BC_LOAD_FAST || n->op == BC_LOAD_DEREF,
       sets = n->op == BC_STORE_FAST || n->op == BC_STORE_DEREF, unsets = n->op == BC_DELETE_FAST;
  if (!(reads || sets || unsets) || var >= l->code->nlocalsplus || bc_is_free(l, var))
    return;
  uint64_t *word = &u->now[var / 64], bit = (uint64_t)1 << var % 64;
  if (n->op == BC_LOAD_FAST && l->cells[var])
    return; /* its cell */
  l->maybe_unset[at] |= !sets && (*word & bit);
  *word = unsets ? *word | bit : *word & ~bit;
}

static void run(Unset *u, uint32_t at) {
  const BcNode *nodes = u->l->bc->nodes.data;
  CX_ASSERT(u->l->cx, u->in[at]); /* in reverse post-order some predecessor comes first */
  memcpy(u->now, u->in[at], sizeof *u->now * u->words);
  for (;;) {
    visit(u, at);
    if (bc_ends(&nodes[at]))
      return;
    bool two = bc_has_two(&nodes[at]);
    uint32_t to = nodes[at].succ[0];
    if (two)
      flow_to(u, nodes[at].succ[1]);
    if (two || u->l->npreds[to] != 1 || u->l->blocks[to]) {
      flow_to(u, to);
      return;
    }
    at = to;
  }
}

void bc_find_unset(Lift *l, const uint32_t *order, uint32_t n) {
  uint32_t nvars = l->code->nlocalsplus;
  Unset u = {.l = l, .words = nvars / 64 + 1};
  u.in = CX_ARRAY(l->cx, uint64_t *, l->bc->nodes.len);
  u.now = CX_ARRAY(l->cx, uint64_t, u.words);
  for (uint32_t k = 0; k < l->bc->nodes.len; k++) {
    const BcNode *node = &l->bc->nodes.data[k];
    if (node->op == BC_MAKE_CELL && node->arg < nvars)
      l->cells[node->arg] = true;
  }
  for (uint32_t var = l->nargs; var < nvars; var++)
    u.now[var / 64] |= (uint64_t)1 << var % 64;
  flow_to(&u, l->bc->entry);
  while (u.changed) {
    u.changed = false;
    for (uint32_t k = 0; k < n; k++)
      if (u.in[order[k]])
        run(&u, order[k]);
  }
}
