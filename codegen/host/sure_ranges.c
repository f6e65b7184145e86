/* Host sure ranges: loops over ranges whose checks of indices hold throughout, in code that runs
 * thread by thread.
 *
 *   for k in range(starts[row], starts[row + 1]):
 *     s += values[k] * x[columns[k]]
 *
 * Lanes find the checks of linear indices at their two ends; for a single thread each iteration
 * has two for k alone, which are as long as the rest of it. Here such a loop is written twice, with
 * a test in front:
 *
 *   if starts[row] >= 0 and starts[row + 1] <= min(values.size, columns.size):
 *     the loop, without the checks of k        # 0 <= k < each size, in all iterations
 *   else:
 *     the loop
 *
 * In: a function in which checks branch to blocks that end in traps, and loops have a block in
 * front. Out: the same with second versions. The loops have one exit, at the header, which compares
 * a counter that goes up, or down by one, with what stays the same, and no others but traps. An
 * index is the counter plus a constant, or goes up as the counter does from wherever it begins
 * (`out[to + k]`; `out[to]` with `to += 1`). What is known of neither version is not changed: the
 * second one has all checks. Without checks LLVM keeps what the next iteration reads, as a running
 * maximum does, in a register.
 */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum { MOST_INSTRUCTIONS = 96, MOST_BLOCKS = 24, MOST_CHECKS = 8, MOST_LOOPS = 16 };
enum { SHORT = 16 }; /* iterations that LLVM unrolls in any case */

typedef struct RangeCheck {
  HostCheck check;
  bool walks; /* its index goes up as the counter does; otherwise it is the counter plus `by` */
  int64_t by;
} RangeCheck;

typedef struct RangeLoop {
  const FnGraph *g;
  uint32_t number; /* in g->loops */
  LLVMBasicBlockRef header, front;
  LLVMValueRef counter, start, stop;
  LLVMValueRef step; /* a constant */
  bool is_signed;    /* the comparison with stop */
  bool down;         /* by 1, while it is above stop */
  int64_t lead;      /* what is compared with stop is the counter plus this */
  RangeCheck checks[MOST_CHECKS];
  unsigned nchecks;
} RangeLoop;

static bool has_block(const RangeLoop *r, LLVMBasicBlockRef block) {
  return graph_in_loop(r->g, r->number, LLVMGetBasicBlockTerminator(block));
}

static bool has(const RangeLoop *r, LLVMValueRef v) { return graph_in_loop(r->g, r->number, v); }

/* A trap of one check of the loop, which each version has for itself. */
static bool is_own_trap(const RangeLoop *r, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef before = graph_before(block);
  return before && LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) &&
         has_block(r, before);
}

/* --- which loops --- */

/* The counter's next value cannot wrap: it is below `stop` where 1 is added. */
static bool goes_up(const RangeLoop *r, LLVMValueRef next) {
  if (!cg_is_op(next, LLVMAdd) || LLVMGetOperand(next, 0) != r->counter ||
      !LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
    return false;
  int64_t step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
  return step == 1 || (step > 0 && LLVMGetNSW(next));
}

static bool goes_down(const RangeLoop *r, LLVMValueRef next) {
  return cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == r->counter &&
         cg_is_number(LLVMGetOperand(next, 1), UINT64_MAX);
}

/* LLVM counts `range(first + 1, last)` from `first`. */
static LLVMValueRef without_lead(RangeLoop *r, LLVMValueRef v) {
  enum { FARTHEST = 1 << 20 };
  int64_t by = 0;
  if (cg_is_op(v, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
    by = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
  r->lead = by >= -FARTHEST && by <= FARTHEST ? by : 0;
  return r->lead ? LLVMGetOperand(v, 0) : v;
}

static bool find_counter(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  LLVMValueRef front = graph_front(r->g, r->number);
  Fork fork;
  r->header = r->g->nodes[loop->header].block;
  if (!front || loop->nlatches != 1 || !graph_next(LLVMGetInstructionParent(front)) ||
      !graph_fork(LLVMGetBasicBlockTerminator(r->header), &fork) || !has_block(r, fork.yes) ||
      has_block(r, fork.no) || !LLVMIsAICmpInst(fork.condition))
    return false;
  LLVMIntPredicate how = LLVMGetICmpPredicate(fork.condition);
  r->front = LLVMGetInstructionParent(front);
  r->counter = LLVMGetOperand(fork.condition, 0);
  r->stop = LLVMGetOperand(fork.condition, 1);
  r->is_signed = how != LLVMIntULT;
  r->down = how == LLVMIntSGT;
  if (how == LLVMIntSLT)
    r->counter = without_lead(r, r->counter);
  if ((how != LLVMIntSLT && how != LLVMIntULT && !r->down) || !LLVMIsAPHINode(r->counter) ||
      (r->lead && cg_int_width(r->counter) != 64) ||
      LLVMGetInstructionParent(r->counter) != r->header || has(r, r->stop))
    return false;
  r->start = graph_incoming(r->counter, r->front);
  LLVMValueRef next = graph_incoming(r->counter, r->g->nodes[loop->latches[0]].block);
  if (!(r->down ? goes_down(r, next) : goes_up(r, next)))
    return false;
  r->step = LLVMGetOperand(next, 1);
  return true;
}

/* Does the phi take v on edges of the loop alone? Further behind, v would be one version's. */
static bool takes_at_edges(const RangeLoop *r, LLVMValueRef phi, LLVMValueRef v) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (LLVMGetIncomingValue(phi, k) == v && !has_block(r, LLVMGetIncomingBlock(phi, k)))
      return false;
  return true;
}

/* Are its values used behind it by phis alone, which get those of the other version too? */
static bool is_used_by_phis(const RangeLoop *r, LLVMValueRef i) {
  for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAPHINode(user) ? !takes_at_edges(r, user, i)
                             : !has(r, user) && !is_own_trap(r, LLVMGetInstructionParent(user)))
      return false;
  }
  return true;
}

static bool is_small_and_closed(const RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  unsigned instructions = 0;
  if (loop->nnodes > MOST_BLOCKS)
    return false;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *n = &r->g->nodes[loop->nodes[k]];
    if (n->nsucc + (n->trap != NULL) != graph_count_edges(n->last))
      return false;
    for (uint32_t s = 0; s < n->nsucc; s++)
      if (n->block != r->header && !has_block(r, r->g->nodes[n->succ[s]].block))
        return false;
    for (LLVMValueRef i = n->first; i; i = LLVMGetNextInstruction(i))
      if (++instructions > MOST_INSTRUCTIONS || LLVMIsAAllocaInst(i) || !is_used_by_phis(r, i))
        return false;
  }
  return true;
}

enum { DEEPEST = 4 };

/* Does v grow from iteration to iteration by what the counter grows by? Modulo 2**bits, that is. */
static bool walks(const RangeLoop *r, LLVMValueRef v, unsigned depth) {
  if (!has(r, v) || depth > DEEPEST)
    return false;
  if (LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == r->header) {
    const GraphLoop *loop = &r->g->loops.data[r->number];
    LLVMValueRef next = graph_incoming(v, r->g->nodes[loop->latches[0]].block);
    return cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == v &&
           LLVMGetOperand(next, 1) == r->step;
  }
  if (!cg_is_op(v, LLVMAdd) && !cg_is_op(v, LLVMSub))
    return false;
  LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
  return (!has(r, y) && walks(r, x, depth + 1)) ||
         (cg_is_op(v, LLVMAdd) && !has(r, x) && walks(r, y, depth + 1));
}

/* Its value in the first iteration, at the end of the block in front. */
static LLVMValueRef write_first(const RangeLoop *r, LLVMBuilderRef b, LLVMValueRef v) {
  if (!has(r, v))
    return v;
  if (LLVMIsAPHINode(v))
    return graph_incoming(v, r->front);
  LLVMValueRef x = write_first(r, b, LLVMGetOperand(v, 0)),
               y = write_first(r, b, LLVMGetOperand(v, 1));
  return cg_is_op(v, LLVMAdd) ? l_add(b, x, y) : l_sub(b, x, y);
}

/* Is the check's index known in all iterations, and its extent the same? */
static bool is_of_counter(const RangeLoop *r, RangeCheck *c) {
  enum { FARTHEST = 1 << 30 };
  LLVMValueRef x = c->check.x;
  c->by = 0;
  c->walks = false;
  if (has(r, c->check.n) || LLVMTypeOf(x) != LLVMTypeOf(r->counter))
    return false;
  if (x == r->counter)
    return true;
  if (!r->is_signed || !cg_is_op(x, LLVMAdd) || LLVMGetOperand(x, 0) != r->counter ||
      !LLVMIsAConstantInt(LLVMGetOperand(x, 1)))
    return c->walks = !r->down && !r->lead && walks(r, x, 0);
  c->by = LLVMConstIntGetSExtValue(LLVMGetOperand(x, 1));
  return c->by >= -FARTHEST && c->by <= FARTHEST;
}

static void find_checks(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  for (uint32_t k = 0; k < loop->nnodes && r->nchecks < MOST_CHECKS; k++) {
    RangeCheck *c = &r->checks[r->nchecks];
    LLVMBasicBlockRef block = r->g->nodes[loop->nodes[k]].block;
    if (block != r->header && cg_host_find_check(block, &c->check) && is_of_counter(r, c))
      r->nchecks++;
  }
}

/* Does a check against a small constant, as of a thread's own array, end the loop early? LLVM then
 * unrolls it, so that indices are constants and the array may be registers; in a second version it
 * would not be. */
static bool is_short(const RangeLoop *r) {
  for (unsigned k = 0; k < r->nchecks; k++) {
    LLVMValueRef n = r->checks[k].check.n;
    if (LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) <= SHORT)
      return true;
  }
  return false;
}

/* --- the second version --- */

static LLVMValueRef and_with(LLVMBuilderRef b, LLVMValueRef all, LLVMValueRef more) {
  return all ? l_and(b, all, more) : more;
}

/* The index begins at `first` and ends before first + stop - start. Both comparisons are of numbers
 * without a sign: where the first one holds, n - first does not wrap, and where the second one
 * does, too, no sum of first and less than stop - start wraps. A loop without iterations may come
 * out either way. */
static LLVMValueRef write_walk_test(const RangeLoop *r, LLVMBuilderRef b, const HostCheck *c,
                                    LLVMValueRef all) {
  LLVMValueRef first = write_first(r, b, c->x), length = l_sub(b, r->stop, r->start);
  all = and_with(b, all, l_icmp(b, LLVMIntULE, first, c->n));
  return l_and(b, all, l_icmp(b, LLVMIntULE, length, l_sub(b, c->n, first)));
}

/* Is no index plus `by` beyond n? That is not negative, so that n - by does not wrap. */
static LLVMValueRef write_end_test(const RangeLoop *r, LLVMBuilderRef b, const RangeCheck *c) {
  int64_t by = c->by - r->lead;
  LLVMValueRef n = c->check.n;
  if (by)
    n = l_sub(b, n, l_int(LLVMTypeOf(n), (uint64_t)by));
  if (r->down)
    return l_icmp(b, LLVMIntSLT, r->start, n);
  return l_icmp(b, r->is_signed ? LLVMIntSLE : LLVMIntULE, r->stop, n);
}

/* Is none below `least`? With a lead, nor so large that the sum may wrap. */
static LLVMValueRef write_begin_test(const RangeLoop *r, LLVMBuilderRef b, int64_t least) {
  LLVMTypeRef t = LLVMTypeOf(r->counter);
  if (r->down)
    return l_icmp(b, LLVMIntSGE, r->stop, l_int(t, (uint64_t)(-least - 1)));
  LLVMValueRef begins = l_icmp(b, LLVMIntSGE, r->start, l_int(t, (uint64_t)-least));
  return r->lead ? l_and(b, begins, l_icmp(b, LLVMIntSLT, r->start, l_int(t, UINT64_C(1) << 62)))
                 : begins;
}

/* At the end of the block in front. A check holds in all iterations if start + by >= 0 and stop +
 * by <= n, or, of a counter that goes down, if start + by < n and stop + by >= -1. */
static LLVMValueRef write_test(const RangeLoop *r, LLVMBuilderRef b) {
  LLVMValueRef all = NULL;
  int64_t least = 0;
  bool plain = false; /* are there checks of the counter itself? */
  for (unsigned k = 0; k < r->nchecks; k++) {
    const RangeCheck *c = &r->checks[k];
    bool seen = false;
    if (c->walks) {
      all = write_walk_test(r, b, &c->check, all);
      continue;
    }
    for (unsigned j = 0; j < k; j++)
      seen |= !r->checks[j].walks && r->checks[j].check.n == c->check.n && r->checks[j].by == c->by;
    if (c->by < least || !plain)
      least = c->by;
    plain = true;
    if (seen)
      continue;
    all = and_with(b, all, write_end_test(r, b, c));
  }
  if (plain && r->is_signed)
    all = and_with(b, all, write_begin_test(r, b, least));
  return all;
}

static void add_to_phis(const RegionCopy *copy, LLVMBasicBlockRef to, LLVMBasicBlockRef old) {
  LLVMBasicBlockRef from = copy_of_block(copy, old);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef v = copy_of(copy, graph_incoming(phi, old));
    LLVMAddIncoming(phi, &v, &from, 1);
  }
}

/* What is behind the loop has the copy's edges, too. */
static void enter_from_copy(const RangeLoop *r, const RegionCopy *copy, const GraphNode *n) {
  for (uint32_t s = 0; s < n->nsucc; s++)
    if (!has_block(r, r->g->nodes[n->succ[s]].block))
      add_to_phis(copy, r->g->nodes[n->succ[s]].block, n->block);
  if (n->trap && !is_own_trap(r, n->trap))
    add_to_phis(copy, n->trap, n->block);
}

static void forget_checks(Cg *cg, const RangeLoop *r, const RegionCopy *copy) {
  for (unsigned k = 0; k < r->nchecks; k++) {
    const HostCheck *c = &r->checks[k].check;
    LLVMSetCondition(LLVMGetBasicBlockTerminator(copy_of_block(copy, c->block)),
                     l_int(cg->t.i1, 1));
    if (c->index != c->x)
      LLVMReplaceAllUsesWith(copy_of(copy, c->index), copy_of(copy, c->x));
  }
}

static void write_version(Cg *cg, const RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  LLVMBasicBlockRef blocks[2 * MOST_BLOCKS];
  uint32_t n = loop->nnodes;
  assert(n <= MOST_BLOCKS && r->nchecks);
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *node = &r->g->nodes[loop->nodes[k]];
    blocks[k] = node->block;
    if (node->trap && is_own_trap(r, node->trap))
      blocks[n++] = node->trap;
  }
  RegionCopy copy = copy_region(cg, blocks, n, r->header, "sure");
  for (uint32_t k = 0; k < loop->nnodes; k++)
    enter_from_copy(r, &copy, &r->g->nodes[loop->nodes[k]]);
  forget_checks(cg, r, &copy);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(r->front);
  LLVMPositionBuilderBefore(cg->builder, end);
  LLVMValueRef test = write_test(r, cg->builder);
  l_condbr(cg->builder, test, copy_of_block(&copy, r->header), r->header);
  LLVMInstructionEraseFromParent(end);
}

/* Of a nest the innermost that can be. */
static bool is_around(const RangeLoop *outer, const RangeLoop *chosen, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (has_block(outer, chosen[k].header))
      return true;
  return false;
}

void cg_host_version_ranges(Cg *cg, LLVMValueRef f) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Arena *arena = &cg->cx->arena;
  FnGraph g = graph_of(arena, f, &(GraphHow){.checks = true});
  RangeLoop *chosen = ARENA_ARRAY(arena, RangeLoop, MOST_LOOPS);
  uint32_t n = 0;
  graph_loops(&g);
  for (uint32_t k = g.irreducible ? 0 : g.loops.len; k-- && n < MOST_LOOPS;) {
    RangeLoop r = {.g = &g, .number = k};
    if (!find_counter(&r) || is_around(&r, chosen, n) || !is_small_and_closed(&r))
      continue;
    find_checks(&r);
    if (r.nchecks && !is_short(&r))
      chosen[n++] = r;
  }
  for (uint32_t k = 0; k < n; k++)
    write_version(cg, &chosen[k]);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
