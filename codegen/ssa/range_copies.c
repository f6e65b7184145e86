/* Range copies: the second version of a loop that is written twice (range_versions.c).
 *
 * In: a loop, and the checks that its second version leaves out. Out: that version, and phis for
 * what is read behind the two. Blocks and instructions of the loop keep their copies as notes. */
#include <assert.h>

#include "codegen/ssa/range_private.h"
#include "ir/cfg.h"

Ins *ssa_unwrapped(Ins *i) { return i->op == OP_WRAP_INDEX ? i->args[0] : i; }

Block *ssa_copy_of_block(const Block *b) { return b->note; }

static bool is_settled(const Range *r, const Ins *i) {
  for (unsigned k = 0; k < r->nchecks; k++)
    if (r->checks[k] == i)
      return true;
  return false;
}

static Ins *copy_of(const Range *r, Ins *i) {
  while (is_settled(r, i))
    i = ssa_unwrapped(i->args[0]);
  return i->block && ssa_in_loop(&r->loop, i->block) ? i->note : i;
}

void ssa_copy_blocks(Cx *cx, Fn *fn, const Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++) {
    Block *b = r->loop.blocks[k], *to = ir_block(cx, fn);
    b->note = to;
    FOR_INS (b, i) {
      if (ins_is_term(i) || is_settled(r, i))
        continue;
      Ins *c = ir_ins(cx, fn, (Op)i->op, i->type, i->loc, i->args, i->nargs);
      c->flags = i->flags;
      c->aux2 = i->aux2;
      c->name = i->name;
      c->aux = i->aux;
      i->note = c;
      ir_append(to, c);
    }
  }
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (ssa_copy_of_block(r->loop.blocks[k]), c)
      for (uint32_t n = 0; c->op != OP_PHI && n < c->nargs; n++)
        c->args[n] = copy_of(r, c->args[n]);
}

static Block *target(const Range *r, Block *to) {
  return ssa_in_loop(&r->loop, to) ? ssa_copy_of_block(to) : to;
}

void ssa_copy_branches(Cx *cx, Fn *fn, const Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++) {
    Block *b = r->loop.blocks[k], *from = ssa_copy_of_block(b);
    Ins *end = b->last, *c;
    if (end->op == OP_BR) {
      c = ir_br(cx, fn, from, target(r, b->succ[0]), end->loc);
    } else {
      Ins *condition = k ? copy_of(r, end->args[0]) : copy_of(r, r->less);
      c = ir_condbr(cx, fn, from, condition, target(r, b->succ[0]), target(r, b->succ[1]),
                    end->loc);
    }
    c->type = end->type;
    c->flags = end->flags;
  }
}

/* The operand of a phi for an edge. */
Ins *ssa_from_edge(const Ins *phi, const Block *from) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->block->preds.data[k] == from)
      return phi->args[k];
  assert(false);
  return NULL;
}

/* Phis have an operand for each predecessor, in their order. `entry` and `fast` are the blocks
 * from which the two versions are entered. */
void ssa_copy_phis(const Range *r, const Block *entry, const Block *fast) {
  for (unsigned k = 0; k < r->loop.n; k++) {
    const Block *b = r->loop.blocks[k], *to = ssa_copy_of_block(b);
    assert(b->preds.len == to->preds.len);
    for (Ins *i = b->first; i->op == OP_PHI; i = i->next)
      for (uint32_t n = 0; n < i->nargs; n++) {
        const Block *from = to->preds.data[n];
        for (unsigned m = 0; m < r->loop.n; m++)
          if (ssa_copy_of_block(r->loop.blocks[m]) == from)
            from = r->loop.blocks[m];
        ((Ins *)i->note)->args[n] = copy_of(r, ssa_from_edge(i, from == fast ? entry : from));
      }
  }
}

void ssa_lead_back(Cx *cx, Fn *fn, const Range *r, const Block *fast, Block *leave,
                   uint32_t in_front) {
  Block *header = r->loop.blocks[0];
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next) {
    Ins *copy = phi->note, *left = ir_ins(cx, fn, OP_PHI, phi->type, phi->loc, NULL, 0);
    left->flags = phi->flags;
    left->name = phi->name;
    for (uint32_t k = 0; k < leave->preds.len; k++)
      ir_add_arg(cx, left, k < in_front ? ssa_from_edge(copy, fast) : copy);
    ir_insert_phi(leave, left);
    ir_add_arg(cx, phi, left);
  }
  ir_br(cx, fn, leave, header, r->less->loc)->type = header->last->type;
  uint16_t *flags = &r->latch->last->flags;
  *flags = (uint16_t)((*flags & ~(INS_UNROLL_4 | INS_UNROLL_8)) | INS_ROLLED);
}

/* A block of its own on one edge. */
Block *ssa_split_edge(Cx *cx, Fn *fn, Block *from, Block *to) {
  bool *through = CX_ARRAY(cx, bool, to->preds.len);
  for (uint32_t k = 0; k < to->preds.len; k++)
    through[k] = to->preds.data[k] == from;
  return ir_join_edges(cx, fn, to, through);
}

/* Values of the loop that are read behind it come from either version. */
void ssa_merge_exits(Cx *cx, Fn *fn, const Range *r, Block *exit) {
  const Block *header = r->loop.blocks[0];
  Ins **merged = CX_ARRAY(cx, Ins *, fn->next_id);
  uint32_t most = fn->next_id;
  FOR_BLOCKS (fn, b) {
    if (ssa_in_loop(&r->loop, b))
      continue;
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++) {
        Ins *a = i->args[k];
        if (i->id >= most || !a->block || !ssa_in_loop(&r->loop, a->block))
          continue;
        if (!merged[a->id]) {
          Ins *both[] = {a, copy_of(r, a)}, *phi = ir_ins(cx, fn, OP_PHI, a->type, a->loc, both, 2);
          phi->flags = a->flags & (INS_NONNEGATIVE);
          phi->name = a->name;
          merged[a->id] = phi;
        }
        i->args[k] = merged[a->id];
      }
  }
  assert(exit->preds.len == 2 && exit->preds.data[0] == header);
  (void)header;
  for (uint32_t k = 0; k < most; k++)
    if (merged[k])
      ir_insert_phi(exit, merged[k]);
}
