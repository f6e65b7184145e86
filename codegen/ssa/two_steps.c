/* Two steps: loops over steps of which every other one is another way, as two iterations one after
 * the other.
 *
 *   for step in range(steps):               while step < steps:
 *     now = step % 2                          next[...] = old[...]        # now is 0
 *     v[1 - now, j] = … v[now, j - 1] …       syncthreads()
 *     cuda.syncthreads()                      step += 1
 *                                             if step >= steps: break
 *                                             old[...] = next[...]        # now is 1
 *                                             syncthreads()
 *                                             step += 1
 *
 * Two buffers take turns, and what is computed in each iteration is where they begin. LLVM unrolls
 * no loop with a barrier whose trip count it does not know, since the threads of a rest could meet
 * at another barrier than the others. Here each copy is left by the loop's own condition, so each
 * thread executes the same iterations in the same order as before, and its k-th barrier is that of
 * the k-th iteration; threads that meet at one are in the same iteration, and so in the same copy,
 * as only a loop whose every iteration has a barrier of the whole block is taken.
 *
 * The counter begins with an even number and goes up by 1, so it is even in the first copy and odd
 * in the second: it fits 32 bits, and does not wrap around.
 *
 * In: a strict Fn in order, with one back edge a loop, dominators and the marks of narrow. Out: the
 * same. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"

enum { MAX_SIZE = 60, MAX_LOOPS = 8 };

/* --- which loops --- */

static bool is_barrier(const Ins *i) {
  return i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_SYNCTHREADS;
}

static bool may_be_twice(const Ins *i) {
  Effect e = ir_op_info[i->op].effect;
  if (i->op == OP_INTRINSIC)
    return is_barrier(i) || ir_intrinsics[i->aux.intrinsic].effect != EFFECT_SYNC;
  return i->op != OP_CALL_FN && i->op != OP_CALL_C && i->op != OP_PRINT && i->op != OP_ALLOC &&
         e != EFFECT_SYNC && e != EFFECT_STOP;
}

/* Does each iteration have a barrier, and is the loop short? */
static bool has_barriers(const SmallLoop *loop, const Block *latch) {
  unsigned size = 0;
  bool barrier = false;
  for (unsigned k = 0; k < loop->n; k++)
    FOR_INS (loop->blocks[k], i) {
      if (!may_be_twice(i) || ++size > MAX_SIZE)
        return false;
      barrier |= is_barrier(i) && k && ir_dominates(loop->blocks[k], latch);
    }
  return barrier;
}

static bool is_number(const Ins *i, int64_t n) {
  int64_t v;
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, &v) && v == n;
}

/* A counter from an even number upward by 1, of 32 bits throughout. */
static bool read_counter(Range *r, const Block *header) {
  const Ins *less = header->last->args[0];
  int64_t start;
  if (less->op != OP_LT || less->args[0]->op != OP_PHI || less->args[0]->block != header)
    return false;
  r->counter = less->args[0];
  const Ins *next = ssa_from_edge(r->counter, r->latch);
  const Ins *first = r->counter->args[r->counter->args[0] == next];
  return next->op == OP_ADD && next->args[0] == r->counter && is_number(next->args[1], 1) &&
         next->flags & r->counter->flags & INS_I32 && first->op == OP_CONST &&
         fz_get_int(first->aux.frozen, &start) && start >= 0 && start % 2 == 0;
}

static const Ins *uncast(const Ins *i) {
  while (i->op == OP_CAST && ty_kind(i->args[0]->type) == KIND_INT &&
         ty_kind(i->type) == KIND_INT && ty_bits(i->type) >= ty_bits(i->args[0]->type))
    i = i->args[0];
  return i;
}

/* counter % 2, or counter & 1 */
static bool is_parity(const Range *r, const Ins *i) {
  return (i->op == OP_MOD ? is_number(i->args[1], 2)
                          : i->op == OP_AND && is_number(i->args[1], 1)) &&
         uncast(i->args[0]) == r->counter;
}

static bool has_parity(const Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (is_parity(r, i))
        return true;
  return false;
}

static bool read_loop(Range *r, Block *header, Block *latch) {
  *r = (Range){.latch = latch, .known = true};
  if (!ssa_small_loop(&r->loop, header, latch) || header->preds.len != 2 || header == latch ||
      header->last->op != OP_CONDBR || !ssa_in_loop(&r->loop, header->succ[0]) ||
      ssa_in_loop(&r->loop, header->succ[1]) || latch->last->op != OP_BR)
    return false;
  r->less = header->last->args[0];
  r->outside = header->succ[1];
  return has_barriers(&r->loop, latch) && read_counter(r, header) && has_parity(r);
}

/* --- the second copy --- */

/* It is even in the first copy, and odd in the second. */
static void write_parities(Cx *cx, Fn *fn, const Range *r, bool second) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      if (!is_parity(r, i))
        continue;
      Ins *at = second ? i->note : i;
      Ins *n = ir_const(cx, fn, fz_int(cx, second), at->type, at->loc);
      n->flags |= INS_NONNEGATIVE | (at->flags & (INS_I32 | INS_U32));
      ir_insert_before(at, n);
      ir_replace(at, n);
    }
}

static uint32_t edge_from(const Block *to, const Block *from) {
  uint32_t k = 0;
  while (to->preds.data[k] != from)
    k++;
  return k;
}

/* Each copy goes on with the other. */
static void cross(const Range *r) {
  Block *header = r->loop.blocks[0], *copy = ssa_copy_of_block(header), *latch = r->latch,
        *last = ssa_copy_of_block(latch);
  uint32_t a = edge_from(header, latch), b = edge_from(copy, last);
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next) {
    Ins *other = phi->note, *next = phi->args[a];
    phi->args[a] = other->args[b];
    other->args[b] = next;
  }
  header->preds.data[a] = last;
  copy->preds.data[b] = latch;
  latch->succ[0] = copy;
  last->succ[0] = header;
}

static void write_twice(Cx *cx, Fn *fn, Range *r) {
  Block *header = r->loop.blocks[0], *exit = ssa_split_edge(cx, fn, header, r->outside);
  const Block *entry = header->preds.data[header->preds.data[0] == r->latch];
  Block *nowhere = ir_block(cx, fn); /* so that the copy has as many ways in; ir_order drops it */
  ssa_copy_blocks(cx, fn, r);
  ir_br(cx, fn, nowhere, ssa_copy_of_block(header), r->less->loc)->type = r->latch->last->type;
  ssa_copy_branches(cx, fn, r);
  ssa_copy_phis(r, entry, nowhere);
  ssa_merge_exits(cx, fn, r, exit);
  write_parities(cx, fn, r, true);
  write_parities(cx, fn, r, false);
  ir_settle(fn);
  cross(r);
}

void cg_take_two_steps(Cx *cx, Fn *fn) {
  Range all[MAX_LOOPS];
  unsigned n = 0;
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2 && n < MAX_LOOPS; s++)
      if (latch->succ[s] && read_loop(&all[n], latch->succ[s], latch))
        n++;
  if (!n)
    return;
  for (unsigned k = 0; k < n; k++) {
    write_twice(cx, fn, &all[k]);
    ir_order(cx, fn);
  }
  ir_simplify_phis(cx, fn);
  ir_drop_dead(cx, fn);
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}
