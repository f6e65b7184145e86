/* Places: marks from which the host's safepoints know by which loop a thread came to them, in code
 * for launches with a timeout.
 *
 * Each iteration of a loop passes a mark at its beginning, which is a call. LLVM would not
 * vectorise a loop with calls: so small innermost loops that count have their mark in front of
 * them. The site of a mark is the first operation of an iteration, the condition of `while` and
 * `for`. */
#include "codegen/lower/private.h"
#include "codegen/ssa/small_loop.h"

/* The source of the loop's back edge (ir_join_latches leaves one); NULL: b begins no loop. */
static Block *latch_of(const Block *b) {
  for (uint32_t k = 0; k < b->preds.len; k++)
    if (b->preds.data[k]->rpo >= b->rpo)
      return b->preds.data[k];
  return NULL;
}

static const Ins *peeled(const Ins *i) {
  while (i->op == OP_CAST)
    i = i->args[0];
  return i;
}

/* Is it a phi of the header that the loop adds to? */
static bool is_counter(const Ins *phi, const Block *header, const Block *latch) {
  if (phi->op != OP_PHI || phi->block != header)
    return false;
  for (uint32_t k = 0; k < header->preds.len; k++) {
    const Ins *next = peeled(phi->args[k]);
    if (header->preds.data[k] == latch)
      return (next->op == OP_ADD || next->op == OP_SUB) &&
             (peeled(next->args[0]) == phi || peeled(next->args[1]) == phi);
  }
  return false;
}

static bool compares(const Ins *i) {
  return i->op == OP_LT || i->op == OP_LE || i->op == OP_GT || i->op == OP_GE || i->op == OP_NE;
}

static bool counts(Block *header, Block *latch) {
  SmallLoop loop;
  const Ins *end = header->last;
  if (end->op != OP_CONDBR || !compares(end->args[0]) || end->flags & INS_YIELDS ||
      latch->last->flags & INS_YIELDS || !ssa_small_loop(&loop, header, latch))
    return false;
  return is_counter(peeled(end->args[0]->args[0]), header, latch) ||
         is_counter(peeled(end->args[0]->args[1]), header, latch);
}

static uint32_t site_of(Lower *lw, const Block *header) {
  const Ins *i = header->first;
  while (i->op == OP_PHI || (i->loc.line <= 0 && i->next))
    i = i->next;
  return ir_site(lw->cx, lw->cg->program, "TimeoutError", "", i->loc)->number;
}

static bool has_places(const Lower *lw) { return lw->cg->options.timed && lw->target->place; }

void lw_place_at(Lower *lw, const Block *b) {
  Block *latch = has_places(lw) ? latch_of(b) : NULL;
  if (latch && !counts((Block *)b, latch))
    lw->target->place(lw, site_of(lw, b), true);
}

void lw_place_behind(Lower *lw, const Block *b) {
  for (int s = 0; has_places(lw) && s < 2; s++) {
    Block *header = b->succ[s], *latch = header ? latch_of(header) : NULL;
    if (latch && header->rpo > b->rpo && counts(header, latch))
      lw->target->place(lw, site_of(lw, header), false);
  }
}

void lw_yield(Lower *lw, const Ins *branch) {
  uint32_t site = RT_NO_SITE;
  for (int s = 0; has_places(lw) && s < 2; s++)
    if (branch->block->succ[s] && branch->block->succ[s]->rpo <= branch->block->rpo)
      site = site_of(lw, branch->block->succ[s]);
  lw->target->yield(lw, site);
}
