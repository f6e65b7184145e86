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
 * maximum does, in a register. Beside checks of the counter those of what is the same in all
 * iterations go, too, where others stay: LLVM moves what is read there in front of the loop, which
 * it may not behind another check.
 *
 * Of loops with other exits, searches and comparisons,
 *
 *   while i + k < data.size and data[i + k] == data[j + k]:
 *     k += 1
 *
 * each iteration asks whether what goes up by one is below a bound, before the check, and before it
 * goes on: a guard. What begins between 0 and where that begins, and goes up with it, is in range,
 * too, where the bound is: here where 0 <= j <= i.
 */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum { MOST_INSTRUCTIONS = 96, MOST_BLOCKS = 24, MOST_CHECKS = 8, MOST_LOOPS = 16 };
enum { ROW_INSTRUCTIONS = 192, ROW_BLOCKS = 40, ROW_CHECKS = 16 }; /* of the body of a thread */
enum { DEEPEST = 4 };
enum { SHORT = 16 }; /* iterations that LLVM unrolls in any case */

typedef struct RangeCheck {
  HostCheck check;
  bool walks; /* its index goes up as the counter does */
  bool still; /* its index is the same in all iterations; else it is the counter plus `by` */
  int64_t by;
  /* of a loop without a counter: what has been found to be below the bound in front of it */
  LLVMValueRef guard, bound;
  int64_t times; /* of a row: the counter is in the index so many times; 0: */
  unsigned bits; /* it has no more than these */
} RangeCheck;

typedef struct RangeLoop {
  const FnGraph *g;
  uint32_t number; /* in g->loops */
  LLVMBasicBlockRef header, front;
  LLVMValueRef counter, start, stop; /* counter: NULL if it has guards instead */
  LLVMValueRef step;                 /* a constant; NULL: 1 */
  bool is_signed;                    /* the comparison with stop */
  bool down;                         /* by 1, while it is above stop */
  int64_t lead;                      /* what is compared with stop is the counter plus this */
  bool row;                          /* the comparison is at the end of each iteration */
  RangeCheck checks[ROW_CHECKS];
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

static bool find_front(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  LLVMValueRef front = graph_front(r->g, r->number);
  if (!front || loop->nlatches != 1 || !graph_next(LLVMGetInstructionParent(front)))
    return false;
  r->header = r->g->nodes[loop->header].block;
  r->front = LLVMGetInstructionParent(front);
  return true;
}

/* A comparison that ends the loop where it does not hold. */
static LLVMValueRef leaves_unless(const RangeLoop *r, LLVMBasicBlockRef block) {
  Fork fork;
  return graph_fork(LLVMGetBasicBlockTerminator(block), &fork) && has_block(r, fork.yes) &&
                 !has_block(r, fork.no) && LLVMIsAICmpInst(fork.condition)
             ? fork.condition
             : NULL;
}

static bool find_counter(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  LLVMValueRef condition = leaves_unless(r, r->header);
  if (!condition)
    return false;
  LLVMIntPredicate how = LLVMGetICmpPredicate(condition);
  r->counter = LLVMGetOperand(condition, 0);
  r->stop = LLVMGetOperand(condition, 1);
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
  unsigned instructions = 0, most = r->row ? ROW_INSTRUCTIONS : MOST_INSTRUCTIONS;
  LLVMBasicBlockRef leaves = r->row ? r->g->nodes[loop->latches[0]].block : r->header;
  if (loop->nnodes > (r->row ? ROW_BLOCKS : MOST_BLOCKS))
    return false;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *n = &r->g->nodes[loop->nodes[k]];
    if (n->nsucc + (n->trap != NULL) != graph_count_edges(n->last))
      return false;
    for (uint32_t s = 0; s < n->nsucc; s++)
      if (r->counter && n->block != leaves && !has_block(r, r->g->nodes[n->succ[s]].block))
        return false;
    for (LLVMValueRef i = n->first; i; i = LLVMGetNextInstruction(i))
      if (++instructions > most || LLVMIsAAllocaInst(i) || !is_used_by_phis(r, i))
        return false;
  }
  return true;
}

/* Does v grow from iteration to iteration by what the counter grows by? Modulo 2**bits, that is. */
static bool walks(const RangeLoop *r, LLVMValueRef v, unsigned depth) {
  if (!has(r, v) || depth > DEEPEST)
    return false;
  if (LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == r->header) {
    const GraphLoop *loop = &r->g->loops.data[r->number];
    LLVMValueRef next = graph_incoming(v, r->g->nodes[loop->latches[0]].block);
    LLVMValueRef by = cg_is_op(next, LLVMAdd) ? LLVMGetOperand(next, 1) : NULL;
    return by && LLVMGetOperand(next, 0) == v && (r->step ? by == r->step : cg_is_number(by, 1));
  }
  if (LLVMIsATruncInst(v) && !r->counter)
    return walks(r, LLVMGetOperand(v, 0), depth + 1);
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
  if (LLVMIsATruncInst(v))
    return l_trunc(b, write_first(r, b, LLVMGetOperand(v, 0)), LLVMTypeOf(v));
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

/* An index as it walks: LLVM extends those of 32 bits. */
static LLVMValueRef walker(LLVMValueRef v) { return LLVMIsASExtInst(v) ? LLVMGetOperand(v, 0) : v; }

/* Has every iteration that comes to the check, or goes on, asked before it whether what goes up
 * with its index is below something? */
static bool is_guarded(const RangeLoop *r, RangeCheck *c, uint32_t node) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  *c = (RangeCheck){.check = c->check};
  if (has(r, c->check.n) || !walks(r, walker(c->check.x), 0))
    return false;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    uint32_t at = loop->nodes[k];
    LLVMValueRef condition = leaves_unless(r, r->g->nodes[at].block);
    if (!condition || at == node || LLVMGetICmpPredicate(condition) != LLVMIntSLT ||
        !graph_dominates(r->g, at, node) || !graph_dominates(r->g, at, loop->latches[0]))
      continue;
    LLVMValueRef guard = LLVMGetOperand(condition, 0), bound = LLVMGetOperand(condition, 1);
    if (has(r, bound) || !walks(r, walker(guard), 0))
      continue;
    bool same = walker(guard) == walker(c->check.x);
    if (!c->guard || same)
      c->guard = guard, c->bound = bound;
    if (same && cg_peel(bound) == cg_peel(c->check.n))
      return true;
  }
  return c->guard != NULL;
}

static bool is_of_row(const RangeLoop *r, RangeCheck *c);
static bool find_row_check(LLVMBasicBlockRef block, HostCheck *c);

/* Is the check's index the same in all iterations, in each of which it is tested? A constant one is
 * as likely to count from the end. */
static bool is_still(const RangeLoop *r, RangeCheck *c, uint32_t node) {
  (void)node;
  uint32_t latch = r->g->loops.data[r->number].latches[0], own = graph_number(r->g, c->check.block);
  c->still = !has(r, c->check.x) && !has(r, c->check.n) && !LLVMIsAConstant(c->check.x) &&
             graph_dominates(r->g, own, latch);
  return c->still;
}

static bool stays(const RangeLoop *r, LLVMValueRef v, unsigned depth) {
  if (!has(r, v))
    return true;
  if (LLVMIsAPHINode(v) || LLVMIsALoadInst(v) || LLVMIsACallInst(v) || depth > DEEPEST)
    return false;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    if (!stays(r, LLVMGetOperand(v, k), depth + 1))
      return false;
  return true;
}

/* Does the loop read again and again what nothing in it writes? */
static bool reads_again(const RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  bool again = false;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = r->g->nodes[loop->nodes[k]].first; i; i = LLVMGetNextInstruction(i)) {
      if (cg_lanes_writes(i))
        return false;
      again |= LLVMIsALoadInst(i) && stays(r, LLVMGetOperand(i, 0), 0);
    }
  return again;
}

typedef bool IsKnown(const RangeLoop *r, RangeCheck *c, uint32_t node);

static bool holds_throughout(const RangeLoop *r, RangeCheck *c, uint32_t node) {
  return r->row ? is_of_row(r, c) : r->counter ? is_of_counter(r, c) : is_guarded(r, c, node);
}

/* A search is short: where another check is left, the second version gains nothing. */
static void find_checks(RangeLoop *r, IsKnown *is_known) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  unsigned most = r->row ? ROW_CHECKS : MOST_CHECKS;
  for (uint32_t k = 0; k < loop->nnodes && r->nchecks < most; k++) {
    RangeCheck *c = &r->checks[r->nchecks];
    LLVMBasicBlockRef block = r->g->nodes[loop->nodes[k]].block;
    *c = (RangeCheck){0};
    if (r->row ? !find_row_check(block, &c->check)
               : block == r->header || !cg_host_find_check(block, &c->check))
      continue;
    if (is_known(r, c, loop->nodes[k])) {
      r->nchecks++;
    } else if (!r->counter) {
      r->nchecks = 0;
      return;
    }
  }
}

/* Those of what stays the same go beside some of the counter, where something is read there, and
 * only where others stay: without any check LLVM makes vectors of a loop, which takes longer where
 * it has few iterations, and so does one of a known number of them when it is unrolled. */
static void find_still_checks(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  unsigned all = 0, counted = r->nchecks;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    all += r->g->nodes[loop->nodes[k]].trap != NULL;
  if (!counted || (LLVMIsAConstant(r->start) && LLVMIsAConstant(r->stop)) || !reads_again(r))
    return;
  find_checks(r, is_still);
  if (r->nchecks == all)
    r->nchecks = counted;
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

/* --- rows of threads --- */

/* The loop over the threads of a row, as entry.c writes it: from 0, at least one. */
static bool find_row(RangeLoop *r) {
  const GraphLoop *loop = &r->g->loops.data[r->number];
  LLVMBasicBlockRef latch = r->g->nodes[loop->latches[0]].block;
  Fork fork;
  if (!graph_fork(LLVMGetBasicBlockTerminator(latch), &fork) || fork.yes != r->header ||
      has_block(r, fork.no) || !LLVMIsAICmpInst(fork.condition) ||
      LLVMGetICmpPredicate(fork.condition) != LLVMIntULT)
    return false;
  LLVMValueRef next = LLVMGetOperand(fork.condition, 0);
  r->stop = LLVMGetOperand(fork.condition, 1);
  r->counter = cg_is_op(next, LLVMAdd) ? LLVMGetOperand(next, 0) : NULL;
  if (!r->counter || !LLVMIsAPHINode(r->counter) || has(r, r->stop) || !LLVMGetNSW(next) ||
      LLVMGetInstructionParent(r->counter) != r->header || cg_int_width(r->counter) != 32 ||
      !cg_is_number(LLVMGetOperand(next, 1), 1))
    return false;
  r->start = graph_incoming(r->counter, r->front);
  return r->row = cg_is_number(r->start, 0);
}

enum { ROW_DEPTH = 10, MOST_TIMES = 1 << 20 };

static bool is_constant_below(LLVMValueRef v, int64_t n) {
  return LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) < (uint64_t)n;
}

/* Is v so many times the counter plus what is the same for the row, modulo its type? What is the
 * same can be written in front. */
static bool is_sum(const RangeLoop *r, LLVMValueRef v, unsigned depth, int64_t *times) {
  int64_t x, y;
  *times = v == r->counter;
  if (!has(r, v) || *times)
    return true;
  if (!depth || LLVMIsAPHINode(v))
    return false;
  if (cg_is_extension(v))
    return is_sum(r, LLVMGetOperand(v, 0), depth - 1, times) &&
           (!*times || LLVMGetOperand(v, 0) == r->counter);
  if (cg_is_op(v, LLVMOr) && LLVMGetIsDisjoint(v)) /* 4 * k + 1 */
    return is_sum(r, LLVMGetOperand(v, 0), depth - 1, times) &&
           is_constant_below(LLVMGetOperand(v, 1), *times & -*times);
  if (!cg_is_op(v, LLVMAdd) && !cg_is_op(v, LLVMSub) && !cg_is_op(v, LLVMMul) &&
      !cg_is_op(v, LLVMShl))
    return false;
  LLVMValueRef other = LLVMGetOperand(v, 1);
  if (!is_sum(r, LLVMGetOperand(v, 0), depth - 1, &x) || !is_sum(r, other, depth - 1, &y))
    return false;
  if (cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMSub)) {
    *times = cg_is_op(v, LLVMAdd) ? x + y : x - y;
  } else if (x || y) {
    int64_t by = LLVMIsAConstantInt(other) ? LLVMConstIntGetSExtValue(other) : -1;
    if (by < 0 || by > (cg_is_op(v, LLVMShl) ? 20 : MOST_TIMES))
      return false;
    *times = cg_is_op(v, LLVMShl) ? x << by : x * by;
  }
  return *times >= 0 && *times <= MOST_TIMES;
}

/* Such a sum for the first thread. */
static LLVMValueRef write_sum(const RangeLoop *r, LLVMBuilderRef b, LLVMValueRef v) {
  if (v == r->counter)
    return r->start;
  if (!has(r, v))
    return v;
  LLVMValueRef x = write_sum(r, b, LLVMGetOperand(v, 0));
  if (cg_is_extension(v))
    return LLVMIsASExtInst(v) ? l_sext(b, x, LLVMTypeOf(v)) : l_zext(b, x, LLVMTypeOf(v));
  return l_binop(b, LLVMGetInstructionOpcode(v), x, write_sum(r, b, LLVMGetOperand(v, 1)));
}

/* How many bits it has at most, as a number without a sign. */
static unsigned bits_of(LLVMValueRef v, unsigned depth) {
  unsigned most = cg_int_width(v);
  if (LLVMIsAConstantInt(v) && most <= 64) {
    uint64_t n = LLVMConstIntGetZExtValue(v);
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
  }
  if (!depth || !LLVMIsAInstruction(v))
    return most;
  if (cg_is_extension(v) || LLVMIsAFreezeInst(v)) {
    unsigned bits = bits_of(LLVMGetOperand(v, 0), depth - 1);
    return LLVMIsASExtInst(v) && bits == cg_int_width(LLVMGetOperand(v, 0)) ? most : bits;
  }
  if (LLVMIsAPHINode(v)) {
    unsigned all = 0;
    for (unsigned k = 0; k < LLVMCountIncoming(v); k++) {
      unsigned one = bits_of(LLVMGetIncomingValue(v, k), depth - 1);
      all = one > all ? one : all;
    }
    return all;
  }
  if (LLVMGetNumOperands(v) != 2 || !LLVMIsABinaryOperator(v))
    return most;
  LLVMValueRef other = LLVMGetOperand(v, 1);
  unsigned x = bits_of(LLVMGetOperand(v, 0), depth - 1),
           by = LLVMIsAConstantInt(other) ? (unsigned)LLVMConstIntGetZExtValue(other) : most;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAnd:
  case LLVMOr: {
    unsigned y = bits_of(other, depth - 1);
    return LLVMGetInstructionOpcode(v) == LLVMAnd ? (x < y ? x : y) : x > y ? x : y;
  }
  case LLVMLShr:
  case LLVMAShr: {
    bool known = by < most && (x < most || LLVMGetInstructionOpcode(v) == LLVMLShr);
    return !known ? most : x > by ? x - by : 0;
  }
  case LLVMShl: return by < most && x + by < most ? x + by : most;
  default: return most;
  }
}

static bool is_of_row(const RangeLoop *r, RangeCheck *c) {
  enum { MOST_BITS = 31 };
  int64_t none;
  *c = (RangeCheck){.check = c->check};
  LLVMValueRef x = c->check.x, n = c->check.n;
  if (!is_sum(r, n, ROW_DEPTH, &none) || none)
    return false;
  if (LLVMIsAZExtInst(n) && cg_int_width(x) == 64 && is_sum(r, x, ROW_DEPTH, &c->times))
    return true;
  c->times = 0, c->bits = bits_of(x, ROW_DEPTH);
  return c->bits && c->bits <= MOST_BITS && c->bits < cg_int_width(x);
}

/* LLVM compares as 32 bits what has no more. */
static bool find_row_check(LLVMBasicBlockRef block, HostCheck *c) {
  Fork fork;
  if (cg_host_find_check(block, c))
    return true;
  if (!graph_fork(LLVMGetBasicBlockTerminator(block), &fork) || !LLVMIsAICmpInst(fork.condition) ||
      LLVMGetICmpPredicate(fork.condition) != LLVMIntULT ||
      !LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(fork.no)))
    return false;
  LLVMValueRef x = LLVMGetOperand(fork.condition, 0), n = LLVMGetOperand(fork.condition, 1);
  *c = (HostCheck){.block = block,
                   .ok = fork.yes,
                   .stop = fork.no,
                   .test = fork.condition,
                   .x = x,
                   .index = x,
                   .n = n};
  return true;
}

static LLVMValueRef and_with(LLVMBuilderRef b, LLVMValueRef all, LLVMValueRef more) {
  return all ? l_and(b, all, more) : more;
}

/* Does the check hold for the first thread and the last? Or for all numbers of so many bits? The
 * last index cannot wrap around: the first is below 2**32, and the rest below 2**51. */
static LLVMValueRef write_row_test(const RangeLoop *r, LLVMBuilderRef b) {
  LLVMValueRef all = NULL;
  for (unsigned k = 0; k < r->nchecks; k++) {
    const RangeCheck *c = &r->checks[k];
    LLVMValueRef n = write_sum(r, b, c->check.n);
    LLVMTypeRef t = LLVMTypeOf(n);
    if (c->bits) {
      all = and_with(b, all, l_icmp(b, LLVMIntULT, l_int(t, (UINT64_C(1) << c->bits) - 1), n));
      continue;
    }
    LLVMValueRef first = write_sum(r, b, c->check.x),
                 rest = l_zext(b, l_sub(b, r->stop, l_int(LLVMTypeOf(r->stop), 1)), t),
                 last = l_add(b, first, l_mul(b, rest, l_int(t, (uint64_t)c->times)));
    all = and_with(b, all, l_icmp(b, LLVMIntULT, first, n));
    if (c->times)
      all = l_and(b, all, l_icmp(b, LLVMIntULT, last, n));
  }
  return all;
}

/* --- the second version --- */

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

static LLVMValueRef as_long(LLVMBuilderRef b, LLVMValueRef v) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(v)));
  return LLVMTypeOf(v) == i64 ? v : l_sext(b, v, i64);
}

/* Numbers with a sign. What is below the bound goes up by one and does not wrap, nor then what
 * begins with less, if both have room for the bound; extents are not negative. */
static LLVMValueRef write_guard_test(const RangeLoop *r, LLVMBuilderRef b, const RangeCheck *c,
                                     LLVMValueRef all) {
  LLVMValueRef x = walker(c->check.x), guard = walker(c->guard),
               first = as_long(b, write_first(r, b, x));
  all = and_with(b, all, l_icmp(b, LLVMIntSGE, first, LLVMConstNull(LLVMTypeOf(first))));
  if (guard != x)
    all = l_and(b, all, l_icmp(b, LLVMIntSLE, first, as_long(b, write_first(r, b, guard))));
  unsigned bits = cg_int_width(x) < cg_int_width(guard) ? cg_int_width(x) : cg_int_width(guard);
  LLVMTypeRef t = LLVMTypeOf(c->bound);
  if (bits < cg_int_width(c->bound))
    all = l_and(b, all, l_icmp(b, LLVMIntSLE, c->bound, l_int(t, (UINT64_C(1) << (bits - 1)) - 1)));
  if (cg_peel(c->bound) != cg_peel(c->check.n))
    all = l_and(b, all, l_icmp(b, LLVMIntSLE, as_long(b, c->bound), as_long(b, c->check.n)));
  return all;
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
    if (c->guard) {
      all = write_guard_test(r, b, c, all);
      continue;
    }
    if (c->walks || c->still) {
      all = c->walks ? write_walk_test(r, b, &c->check, all)
                     : and_with(b, all, l_icmp(b, LLVMIntULT, c->check.x, c->check.n));
      continue;
    }
    for (unsigned j = 0; j < k; j++)
      seen |= !r->checks[j].walks && !r->checks[j].still && r->checks[j].check.n == c->check.n &&
              r->checks[j].by == c->by;
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
  LLVMBasicBlockRef blocks[2 * ROW_BLOCKS];
  uint32_t n = loop->nnodes;
  assert(n <= ROW_BLOCKS && r->nchecks);
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
  LLVMValueRef test = r->row ? write_row_test(r, cg->builder) : write_test(r, cg->builder);
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
    if (!find_front(&r) || is_around(&r, chosen, n))
      continue;
    if (!find_counter(&r) || !is_small_and_closed(&r)) {
      r = (RangeLoop){.g = &g, .number = k, .header = r.header, .front = r.front};
      if (!is_small_and_closed(&r))
        continue;
    }
    find_checks(&r, holds_throughout);
    if (r.counter)
      find_still_checks(&r);
    if (r.nchecks && !is_short(&r))
      chosen[n++] = r;
  }
  for (uint32_t k = 0; k < n; k++)
    write_version(cg, &chosen[k]);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}

/* The loops over the threads of a row, each of which runs alone. */
void cg_host_version_rows(Cg *cg) {
  LLVMValueRef f = cg->kernel;
  FnGraph g = graph_of(&cg->cx->arena, f, &(GraphHow){.checks = true});
  graph_loops(&g);
  for (uint32_t k = g.irreducible ? 0 : g.loops.len; k--;) {
    RangeLoop *r = ARENA_NEW(&cg->cx->arena, RangeLoop);
    *r = (RangeLoop){.g = &g, .number = k};
    if (!find_front(r) || !find_row(r) || !is_small_and_closed(r))
      continue;
    find_checks(r, holds_throughout);
    if (r->nchecks)
      write_version(cg, r);
    return;
  }
}
