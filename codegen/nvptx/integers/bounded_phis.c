/* NVPTX bounded phis: variables of 64 bits that the conditions of their loop bound, in 32.
 *
 *   x = int(ox)
 *   while 0 <= x < nx:
 *     if grid[x] != 0: break
 *     x += step                # 1 or -1
 *
 * Of int(ox) nothing is known, and of x + step neither: typed SSA leaves the variable 64 bits,
 * since it has them in front of the loop's condition. LLVM's passes ask the condition at the end of
 * an iteration, and in front of the first one. So wherever a value comes to the loop it is from 0
 * on and less than a number of 32 bits, or a constant, and the variable has 32 bits. It plus or
 * minus 1 has, too; what comes of that is small_numbers.c's. Where it is an index it is one of the
 * array as it is: it was wrapped, as umin(x, x + extent), before its bounds were known.
 *
 * A variable that falls (for k in range(int(lengths[i]) - 1, -1, -1), while h > 0: h -= 1) by what
 * it is at least is no larger than it began. That may be 2^31 - 1: then only what falls has 32
 * bits.
 *
 * A counter that goes up by 1 from less than a limit, as the phi of a loop over range(width), until
 * it is the limit, is less than that wherever the loop begins an iteration.
 *
 * Variables that go together:
 *
 *   s = int(starts[i])             # an int32
 *   while s < end:                 # another one
 *     if …: mark = s
 *     elif …: s += 1
 *     else:
 *       mark += 1
 *       s = mark
 *
 * At the end of an iteration each is what it was, the other, or one more than one of them, of which
 * the condition asks: of s itself, and of `mark` where it has become what s has. So if all of them
 * are less than 2^31 - 1 and not less than -2^31 in one iteration, they are in the next.
 *
 * In: functions after LLVM's passes and low_halves.c. Out: such phis of headers, and what they are
 * at the ends of branches, in 32 bits, their sums with numbers from -1 to 1, and no wraps of those
 * that are from 0 on. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/guarded.h"

enum { BOUNDED = GUARD_WHOLE | GUARD_LESS };

static bool is_number_in(LLVMValueRef v, int64_t least, int64_t most) {
  return LLVMIsAConstantInt(v) && LLVMConstIntGetSExtValue(v) >= least &&
         LLVMConstIntGetSExtValue(v) <= most;
}

/* The guards of what comes by that edge. A sum of the phi, whose values are from 0 on, or of what
 * is, with a number from 0 on is so, too. */
static unsigned guards(Cg *cg, const FnGraph *g, LLVMValueRef phi, unsigned e) {
  LLVMValueRef v = LLVMGetIncomingValue(phi, e);
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, e), to = LLVMGetInstructionParent(phi);
  unsigned known = cg_nvptx_guards(cg, g, v, from, to);
  while (!(known & GUARD_FROM_0) && cg_is_op(v, LLVMAdd) && LLVMGetNSW(v) &&
         is_number_in(LLVMGetOperand(v, 1), 0, INT32_MAX)) {
    v = LLVMGetOperand(v, 0);
    known |= v == phi ? GUARD_FROM_0 : cg_nvptx_guards(cg, g, v, from, to) & GUARD_FROM_0;
  }
  return known;
}

/* Is what comes by that edge less than the phi, if that is from 0 on, and from 0 on itself? */
static bool falls(Cg *cg, const FnGraph *g, LLVMValueRef phi, unsigned e) {
  LLVMValueRef v = LLVMGetIncomingValue(phi, e);
  if (!cg_is_op(v, LLVMAdd) || LLVMGetOperand(v, 0) != phi ||
      !is_number_in(LLVMGetOperand(v, 1), -INT32_MAX, -1))
    return false;
  return cg_nvptx_is_at_least(cg, g, phi, -LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)),
                              LLVMGetIncomingBlock(phi, e), LLVMGetInstructionParent(phi));
}

/* The comparison that ends the loop where the phi, which counts by 1 from a constant that is less
 * than a limit of 32 bits, is that limit; NULL: there is none. */
static LLVMValueRef end_at_limit(Cg *cg, const FnGraph *g, const GraphLoop *loop,
                                 LLVMValueRef phi) {
  Fork end;
  unsigned back = LLVMIsAConstantInt(LLVMGetIncomingValue(phi, 0)) ? 1 : 0;
  if (LLVMCountIncoming(phi) != 2 ||
      !graph_fork(LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, back)), &end))
    return NULL;
  LLVMBasicBlockRef header = LLVMGetInstructionParent(phi);
  LLVMValueRef next = LLVMGetIncomingValue(phi, back), first = LLVMGetIncomingValue(phi, !back);
  if (!is_number_in(first, 0, INT32_MAX - 1) || !cg_is_op(next, LLVMAdd) ||
      LLVMGetOperand(next, 0) != phi || !cg_is_number(LLVMGetOperand(next, 1), 1) ||
      !LLVMIsAICmpInst(end.condition) || LLVMGetOperand(end.condition, 0) != next)
    return NULL;
  LLVMIntPredicate p = LLVMGetICmpPredicate(end.condition);
  LLVMValueRef limit = LLVMGetOperand(end.condition, 1);
  Interval r = cg_nvptx_range(limit);
  bool leaves = (p == LLVMIntEQ && end.no == header && end.yes != header) ||
                (p == LLVMIntNE && end.yes == header && end.no != header);
  int64_t least = LLVMConstIntGetSExtValue(first) + 1;
  bool small = leaves && r.lo >= 0 && r.hi <= INT32_MAX &&
               !graph_in_loop(g, (uint32_t)(loop - g->loops.data), limit) &&
               (r.lo >= least || cg_nvptx_is_at_least(cg, g, limit, least,
                                                      LLVMGetIncomingBlock(phi, !back), header));
  return small ? end.condition : NULL;
}

/* Both numbers have 32 bits, of which the limit's need not be there. */
static void compare_low(Cg *cg, LLVMValueRef comparison) {
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, comparison);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(comparison));
  LLVMValueRef next = l_trunc(b, LLVMGetOperand(comparison, 0), cg->t.i32);
  LLVMValueRef limit = l_trunc(b, LLVMGetOperand(comparison, 1), cg->t.i32);
  LLVMReplaceAllUsesWith(comparison, l_icmp(b, LLVMGetICmpPredicate(comparison), next, limit));
}

/* The largest that v, which comes by that edge, can be, if it is from 0 on and has 32 bits; else 0.
 * A guard says more than a range of a phi that does not fall: such ranges are small_numbers.c's. */
static int64_t most_of_edge(Cg *cg, const FnGraph *g, LLVMValueRef phi, unsigned e, bool falling) {
  Interval r = cg_nvptx_range(LLVMGetIncomingValue(phi, e));
  unsigned known = guards(cg, g, phi, e);
  if ((known & BOUNDED) == BOUNDED)
    return INT32_MAX - 1;
  bool from_0 = r.lo >= 0 || known & GUARD_FROM_0;
  bool small = r.hi <= INT32_MAX || known & GUARD_SMALL;
  if (!falling || !from_0 || !small)
    return 0;
  return r.hi < INT32_MAX || known & GUARD_LESS ? INT32_MAX - 1 : INT32_MAX;
}

/* The largest number that the phi can be, 2^31 - 2 or 2^31 - 1, where each value that comes to the
 * loop is from 0 on and has 32 bits; else 0. */
static int64_t most_of(Cg *cg, const FnGraph *g, const GraphLoop *loop, LLVMValueRef phi) {
  unsigned guarded = 0, n = cg_int_width(phi) == 64 ? LLVMCountIncoming(phi) : 0;
  int64_t most = INT32_MAX - 1;
  bool falling = false;
  if (n && end_at_limit(cg, g, loop, phi))
    return most;
  for (unsigned e = 0; e < n; e++)
    falling |= falls(cg, g, phi, e);
  for (unsigned e = 0; e < n; e++) {
    if (is_number_in(LLVMGetIncomingValue(phi, e), 0, INT32_MAX - 1))
      continue;
    int64_t here = falls(cg, g, phi, e) ? most : most_of_edge(cg, g, phi, e, falling);
    if (!here)
      return 0;
    most = here > most ? here : most;
    guarded++;
  }
  return guarded ? most : 0;
}

/* A step of at most 1 in 32 bits; NULL: v is not known to be one. */
static LLVMValueRef step(Cg *cg, LLVMValueRef v) {
  if (is_number_in(v, -1, 1))
    return l_trunc(cg->builder, v, cg->t.i32);
  if (LLVMIsASelectInst(v) && is_number_in(LLVMGetOperand(v, 1), -1, 1) &&
      is_number_in(LLVMGetOperand(v, 2), -1, 1)) {
    LLVMPositionBuilderBefore(cg->builder, v); /* perhaps in front of the loop */
    return l_select(cg->builder, LLVMGetOperand(v, 0), step(cg, LLVMGetOperand(v, 1)),
                    step(cg, LLVMGetOperand(v, 2)));
  }
  bool small = cg_is_extension(v) && cg_nvptx_range(v).lo >= -1 && cg_nvptx_range(v).hi <= 1;
  return small ? l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, LLVMIsASExtInst(v))
               : NULL;
}

/* The sum of the phi, which is `narrow` in 32 bits and at most `most`, and a small step. */
static LLVMValueRef narrow_sum(Cg *cg, LLVMValueRef sum, LLVMValueRef phi, LLVMValueRef narrow,
                               int64_t most) {
  if (!cg_is_op(sum, LLVMAdd) ||
      (most == INT32_MAX && !is_number_in(LLVMGetOperand(sum, 1), -1, 0)))
    return NULL;
  LLVMValueRef by = LLVMGetOperand(sum, LLVMGetOperand(sum, 0) == phi);
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(sum));
  by = by == phi ? NULL : step(cg, by);
  LLVMPositionBuilderBefore(cg->builder, sum);
  return by ? l_sext(cg->builder, l_add_nsw(cg->builder, narrow, by), cg->t.i64) : NULL;
}

/* x is from 0 on, so it is the minimum of itself and its sum with a number from 0 on. */
static void leave_wraps(LLVMValueRef x) {
  for (LLVMUseRef u = LLVMGetFirstUse(x), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef least = LLVMGetUser(u);
    if (!LLVMIsACallInst(least) || !cg_is_call_of(least, "llvm.umin.i32"))
      continue;
    LLVMValueRef more = LLVMGetOperand(least, LLVMGetOperand(least, 0) == x);
    if (!cg_is_op(more, LLVMAdd))
      continue;
    LLVMValueRef by = LLVMGetOperand(more, LLVMGetOperand(more, 0) == x);
    bool is_sum = LLVMGetOperand(more, 0) == x || LLVMGetOperand(more, 1) == x;
    if (is_sum && cg_nvptx_range(by).lo >= 0)
      LLVMReplaceAllUsesWith(least, x);
  }
}

static void write_narrow(Cg *cg, LLVMValueRef phi, int64_t most) {
  LLVMBuilderRef b = cg->builder;
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMValueRef narrow = cg_nvptx_phi_in_32_bits(cg, phi);
  for (LLVMUseRef u = LLVMGetFirstUse(phi), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef sum = LLVMGetUser(u), now = narrow_sum(cg, sum, phi, narrow, most);
    if (now)
      LLVMReplaceAllUsesWith(sum, now);
  }
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u))
    if (cg_is_op(LLVMGetUser(u), LLVMTrunc) && LLVMTypeOf(LLVMGetUser(u)) == cg->t.i32)
      LLVMReplaceAllUsesWith(LLVMGetUser(u), narrow);
  leave_wraps(narrow);
  LLVMPositionBuilderBefore(b, graph_behind_phis(LLVMGetInstructionParent(phi)));
  LLVMReplaceAllUsesWith(phi, l_sext(b, narrow, cg->t.i64));
}

/* --- variables that go together --- */

enum {
  MOST_TOGETHER = 16, /* of a loop */
  MAX_DEPTH = 8,      /* operations that a number is made by */
};

/* What is known of a number: nothing, it fits int32, and is less than the largest of these. */
typedef enum Level { ANY, FITS, LESS } Level;

typedef struct Together {
  Cg *cg;
  const FnGraph *g;
  uint32_t loop;
  LLVMValueRef phis[MOST_TOGETHER];
  Level levels[MOST_TOGETHER]; /* assumed of all when they were last computed */
  unsigned n;
} Together;

static Level smaller(Level a, Level b) { return a < b ? a : b; }

/* By what it is made of. One more than a number is no less than that; a minimum, or a selection, is
 * what one of its operands is. */
static Level level_in(const Together *t, LLVMValueRef v, unsigned depth) {
  for (unsigned k = 0; k < t->n; k++)
    if (t->phis[k] == v)
      return t->levels[k];
  if (cg_is_op(v, LLVMAdd) && cg_is_number(LLVMGetOperand(v, 1), 1) && depth &&
      level_in(t, LLVMGetOperand(v, 0), depth - 1) == LESS)
    return FITS;
  bool selects = cg_is_op(v, LLVMSelect);
  if (depth && (selects || cg_is_call_of(v, "llvm.smin.i64") || cg_is_call_of(v, "llvm.smax.i64")))
    return smaller(level_in(t, LLVMGetOperand(v, selects), depth - 1),
                   level_in(t, LLVMGetOperand(v, selects + 1u), depth - 1));
  Interval r = cg_nvptx_range(v), room = cg_nvptx_numbers(32);
  return !ir_interval_lies_within(r, room) ? ANY : r.hi < room.hi ? LESS : FITS;
}

static Level level_of(const Together *t, LLVMValueRef v) { return level_in(t, v, MAX_DEPTH); }

static bool is_less(const Together *t, LLVMValueRef v, LLVMBasicBlockRef from,
                    LLVMBasicBlockRef to) {
  return cg_nvptx_guards(t->cg, t->g, v, from, to) & GUARD_LESS;
}

/* Another phi of v's block has the same value where it comes to it by that edge, and is less. */
static bool is_less_as_another(const Together *t, LLVMValueRef v, unsigned e,
                               LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  LLVMBasicBlockRef in = LLVMGetInstructionParent(v), by = LLVMGetIncomingBlock(v, e);
  for (LLVMValueRef i = LLVMGetFirstInstruction(in); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    if (i != v && graph_incoming(i, by) == LLVMGetIncomingValue(v, e) && is_less(t, i, from, to))
      return true;
  return false;
}

/* What is known of v where it comes by that edge. */
static Level level_at(const Together *t, LLVMValueRef v, LLVMBasicBlockRef from,
                      LLVMBasicBlockRef to) {
  Level level = level_of(t, v);
  if (level != FITS)
    return level;
  if (is_less(t, v, from, to))
    return LESS;
  for (unsigned e = 0; LLVMIsAPHINode(v) && e < LLVMCountIncoming(v); e++)
    if (level_of(t, LLVMGetIncomingValue(v, e)) != LESS && !is_less_as_another(t, v, e, from, to))
      return FITS;
  return LLVMIsAPHINode(v) ? LESS : FITS;
}

static Level level_of_phi(const Together *t, LLVMValueRef phi) {
  Level level = LESS;
  for (unsigned e = 0; e < LLVMCountIncoming(phi) && level != ANY; e++)
    level = smaller(level, level_at(t, LLVMGetIncomingValue(phi, e), LLVMGetIncomingBlock(phi, e),
                                    LLVMGetInstructionParent(phi)));
  return level;
}

/* The phis of 64 bits of the loop; false: there are none, or too many. */
static bool read_together(Together *t) {
  for (uint32_t node = 0; node < t->g->len; node++)
    for (LLVMValueRef i = t->g->nodes[node].first;
         t->g->nodes[node].loop == t->loop && i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
      if (cg_int_width(i) != 64)
        continue;
      if (t->n == MOST_TOGETHER)
        return false;
      t->levels[t->n] = LESS;
      t->phis[t->n++] = i;
    }
  return t->n;
}

/* Is it compared? What is an index alone may stay. */
static bool is_asked(LLVMValueRef phi) {
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u))
    if (LLVMIsAICmpInst(LLVMGetUser(u)))
      return true;
  return false;
}

static void write_together(const Together *t) {
  LLVMBuilderRef b = t->cg->builder;
  for (unsigned k = 0; k < t->n; k++) {
    if (t->levels[k] == ANY)
      continue;
    LLVMSetCurrentDebugLocation2(b, NULL);
    LLVMValueRef phi = t->phis[k], narrow = cg_nvptx_phi_in_32_bits(t->cg, phi);
    for (LLVMUseRef u = LLVMGetFirstUse(phi), next; u && t->levels[k] == LESS; u = next) {
      next = LLVMGetNextUse(u);
      LLVMValueRef sum = LLVMGetUser(u);
      if (!cg_is_op(sum, LLVMAdd) || !cg_is_number(LLVMGetOperand(sum, 1), 1))
        continue;
      LLVMPositionBuilderBefore(b, sum);
      LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(sum));
      LLVMValueRef now = l_add_nsw(b, narrow, l_int(t->cg->t.i32, 1));
      LLVMReplaceAllUsesWith(sum, l_sext(b, now, t->cg->t.i64));
    }
    LLVMSetCurrentDebugLocation2(b, NULL);
    LLVMPositionBuilderBefore(b, graph_behind_phis(LLVMGetInstructionParent(phi)));
    LLVMReplaceAllUsesWith(phi, l_sext(b, narrow, t->cg->t.i64));
  }
}

/* What is assumed of the phis is taken back until it follows from itself. */
static bool narrow_together(Cg *cg, const FnGraph *g, uint32_t loop) {
  Together t = {.cg = cg, .g = g, .loop = loop};
  if (!read_together(&t))
    return false;
  bool asked = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned k = 0; k < t.n; k++) {
      Level level = smaller(t.levels[k], level_of_phi(&t, t.phis[k]));
      changed |= level != t.levels[k];
      t.levels[k] = level;
    }
  }
  for (unsigned k = 0; k < t.n; k++)
    asked |= t.levels[k] != ANY && is_asked(t.phis[k]);
  if (asked)
    write_together(&t);
  return asked;
}

/* --- loops over local arrays ---
 *
 *   for k in range(side * side): seen[k] = 0     # side is an extent: 62 bits
 *
 * An element of the array by the number of the iteration, or a multiple of it, is accessed in each
 * iteration, and there are no more of them: a limit that is further away would not be defined, if
 * nothing else ends the loop, as a check of the index does. */

/* A counter of the loop from a constant, by a constant that is more than 0. */
static bool counts_up(LLVMValueRef phi, LLVMBasicBlockRef latch) {
  LLVMValueRef next = LLVMIsAPHINode(phi) ? graph_incoming(phi, latch) : NULL;
  if (!next || LLVMCountIncoming(phi) != 2 || !cg_is_op(next, LLVMAdd) ||
      LLVMGetOperand(next, 0) != phi || !is_number_in(LLVMGetOperand(next, 1), 1, UINT8_MAX))
    return false;
  return is_number_in(LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == latch), 0,
                      INT32_MAX);
}

/* Is it an access of a local array by a counter of the loop? */
static bool is_of_local_array(LLVMValueRef i, LLVMBasicBlockRef header, LLVMBasicBlockRef latch) {
  LLVMValueRef p = LLVMIsALoadInst(i)    ? LLVMGetOperand(i, 0)
                   : LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1)
                                         : NULL;
  if (!p || !cg_is_op(p, LLVMGetElementPtr) || LLVMGetNumIndices(p) != 1 || !LLVMIsInBounds(p) ||
      !LLVMIsAAllocaInst(LLVMGetOperand(p, 0)))
    return false;
  LLVMValueRef index = cg_peel(LLVMGetOperand(p, 1));
  return LLVMIsAPHINode(index) && LLVMGetInstructionParent(index) == header &&
         counts_up(index, latch);
}

/* Is the loop left at its end only? */
static bool has_one_exit(const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (uint32_t s = 0; s < n->nsucc && l->nodes[k] != l->latches[0]; s++)
      if (!graph_in_loop(g, loop, g->nodes[n->succ[s]].last))
        return false;
  }
  return true;
}

static bool goes_over_local_array(const FnGraph *g, const GraphLoop *loop) {
  LLVMBasicBlockRef header = g->nodes[loop->header].block, latch = g->nodes[loop->latches[0]].block;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    uint32_t at = loop->nodes[k];
    if (!graph_dominates(g, at, loop->latches[0]))
      continue;
    for (LLVMValueRef i = g->nodes[at].first; i; i = LLVMGetNextInstruction(i))
      if (is_of_local_array(i, header, latch))
        return true;
  }
  return false;
}

/* Compares the counter of such a loop with its limit in 32 bits. */
static bool narrow_limit(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  uint32_t number = (uint32_t)(loop - g->loops.data);
  LLVMBasicBlockRef latch = g->nodes[loop->latches[0]].block;
  Fork end;
  if (loop->nlatches != 1 || !graph_fork(LLVMGetBasicBlockTerminator(latch), &end) ||
      !LLVMIsAICmpInst(end.condition) || LLVMTypeOf(LLVMGetOperand(end.condition, 0)) != cg->t.i64)
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(end.condition);
  LLVMValueRef next = LLVMGetOperand(end.condition, 0), limit = LLVMGetOperand(end.condition, 1);
  LLVMValueRef phi = cg_is_op(next, LLVMAdd) ? LLVMGetOperand(next, 0) : NULL;
  if ((p != LLVMIntEQ && p != LLVMIntNE) || !phi || !counts_up(phi, latch) ||
      LLVMGetInstructionParent(phi) != g->nodes[loop->header].block || LLVMIsAConstantInt(limit) ||
      graph_in_loop(g, number, limit) || !has_one_exit(g, number) ||
      !goes_over_local_array(g, loop))
    return false;
  compare_low(cg, end.condition);
  return true;
}

static bool narrow_in(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  bool any = false;
  for (LLVMValueRef i = g->nodes[loop->header].first, next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    int64_t most = most_of(cg, g, loop, i);
    if (!most)
      continue;
    LLVMValueRef end = end_at_limit(cg, g, loop, i);
    if (end)
      compare_low(cg, end);
    write_narrow(cg, i, most);
    any = true;
  }
  return any;
}

void cg_nvptx_bounded_phis(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    bool any = false;
    for (uint32_t k = 0; k < g.loops.len && !g.irreducible; k++)
      any |= narrow_in(cg, &g, &g.loops.data[k]) || narrow_limit(cg, &g, &g.loops.data[k]);
    for (uint32_t k = 0; k < g.loops.len && !g.irreducible; k++)
      any |= narrow_together(cg, &g, k);
    if (any)
      cg_run_function_passes(cg, f, "instsimplify,adce");
  }
}
