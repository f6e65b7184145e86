/* Condition loads: what a loop's condition loads, in front of the loop.
 *
 *   while k < ends[i]:
 *     h = (h ^ data[k]) * 16777619
 *     k += 1
 *
 * In Python the end is read again for each iteration. Where the loop writes nothing it is the same
 * each time, and LLVM reads it once; but until then no analysis knows the range of k, so that its
 * indices are wrapped one by one, and loops like `for k in range(starts[i], ends[i])` are written
 * twice (range_versions.c), but not this one.
 *
 * In: a strict Fn in order, with one back edge a loop and dominators. Out: the same; elements of
 * arrays with which a small loop compares its counter are loaded on the way to it, if the loop
 * neither writes to memory nor waits for other threads. The header runs at least once, so that
 * nothing is loaded that was not. */
#include "codegen/ssa/condition_loads.h"

#include "codegen/ssa/range_private.h"
#include "ir/cfg.h"

/* May another load of the loop see something else than the first? */
static bool may_change(const SmallLoop *loop) {
  for (unsigned k = 0; k < loop->n; k++)
    FOR_INS (loop->blocks[k], i) {
      Effect e = ir_op_info[i->op].effect;
      bool reads = e == EFFECT_PURE || e == EFFECT_READ || e == EFFECT_PHI || e == EFFECT_TERM;
      if (!reads ||
          (i->op == OP_INTRINSIC && ir_intrinsics[i->aux.intrinsic].effect != EFFECT_PURE))
        return true;
    }
  return false;
}

enum { MAX_DEPTH = 6 }; /* of the expression of a place */

/* Is it computed by the header from what is known before the loop? */
static bool is_same_each_time(const SmallLoop *loop, const Ins *i, unsigned depth) {
  if (!i->block || !ssa_in_loop(loop, i->block))
    return true;
  Effect e = ir_op_info[i->op].effect;
  if (!depth || i->block != loop->blocks[0] || i->op == OP_PHI ||
      (e != EFFECT_PURE && i->op != OP_LOAD))
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (!is_same_each_time(loop, i->args[k], depth - 1))
      return false;
  return true;
}

/* Moves it in front of `at`, behind what it is computed from. */
static void move(const SmallLoop *loop, Ins *i, Ins *at) {
  if (!i->block || !ssa_in_loop(loop, i->block))
    return;
  for (uint32_t k = 0; k < i->nargs; k++)
    move(loop, i->args[k], at);
  ir_remove(i);
  ir_insert_before(at, i);
}

static Ins *without_casts(Ins *v) {
  while (v->op == OP_CAST)
    v = v->args[0];
  return v;
}

/* The load with which the condition compares what the loop counts; NULL: it does something else. A
 * loop that only looks at an element waits for another thread. */
static Ins *limit_of(const Block *header) {
  const Ins *c = header->last->op == OP_CONDBR ? header->last->args[0] : NULL;
  if (!c || c->op < OP_LT || c->op > OP_GE || c->block != header)
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    Ins *limit = without_casts(c->args[k]), *counter = without_casts(c->args[!k]);
    if (limit->op == OP_LOAD && limit->block == header && counter->op == OP_PHI &&
        counter->block == header)
      return limit;
  }
  return NULL;
}

/* The block from which alone the loop is entered. */
static Block *entry_of(Cx *cx, Fn *fn, Block *header, const Block *latch) {
  const uint32_t n = header->preds.len;
  Block *before = header->preds.data[header->preds.data[0] == latch];
  if (n == 2 && before->last->op == OP_BR)
    return before;
  bool *through = CX_ARRAY(cx, bool, n);
  for (uint32_t k = 0; k < n; k++)
    through[k] = header->preds.data[k] != latch;
  return ir_join_edges(cx, fn, header, through);
}

static bool load_before(Cx *cx, Fn *fn, Block *header, Block *latch) {
  SmallLoop loop;
  Ins *limit = limit_of(header);
  if (!limit || header->preds.len < 2 || !ssa_small_loop(&loop, header, latch) ||
      !is_same_each_time(&loop, limit, MAX_DEPTH) || may_change(&loop))
    return false;
  move(&loop, limit, entry_of(cx, fn, header, latch)->last);
  return true;
}

typedef struct Edge { /* back to a loop's header */
  Block *latch, *header;
} Edge;

void cg_load_conditions(Cx *cx, Fn *fn) {
  VEC(Edge) back = {0};
  bool moved = false;
  FOR_BLOCKS (fn, b)
    for (int s = 0; s < 2; s++)
      if (b->succ[s] && ir_dominates(b->succ[s], b))
        VEC_PUSH(&cx->arena, &back, ((Edge){b, b->succ[s]}));
  for (uint32_t k = 0; k < back.len; k++)
    moved |= load_before(cx, fn, back.data[k].header, back.data[k].latch);
  if (!moved)
    return;
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}
