/* Bit loops: loops that count bits become one instruction.
 *
 *   while x: x &= x - 1; n += 1      n += popcount(x)
 *   while x: x >>= 1; n += 1         n += the bit length of x
 *   while x: n += x & 1; x >>= 1     n += popcount(x)
 *   while x >> k > 0: k += 1         k = max(k, the bit length of x), of constant first k
 *
 * In: functions without variables in memory. Such a loop has no other effect, and is one block that
 * runs at least once (after LLVM's passes, which rotate loops), or a block that asks and one that
 * counts (before them). Each of its variables must be x itself, or a sum of the same term in each
 * iteration, or of x's lowest bit, or change by an exclusive or with the same term. In the last
 * form x is from in front of the loop, and k may be clamped to, or asked for, x's width; a loop
 * that might not end, as of a negative x that is not 0, stays.
 * LLVM has a pass for the first form, which it does not run for NVPTX, and for the host only when
 * threads are lanes of vectors already: loops that the lanes leave one by one. */
#include "codegen/llvm/bit_loops.h"

#include <assert.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

typedef struct BitLoop {
  Cg *cg;
  /* the header; the one that counts, which is the header where that runs at least once; from: the
   * block before them */
  LLVMBasicBlockRef block, body, exit, from;
  bool asks_first;      /* it may run zero times: two blocks */
  LLVMValueRef x, next; /* the phi, and its value for the next iteration; NULL, NULL: see places */
  LLVMValueRef start;   /* x's first value */
  bool shifts;          /* x >> 1, else x & (x - 1) */
  bool arithmetic;      /* that shift is; the loop ends at numbers that are not positive */
  LLVMValueRef places;  /* the phi by which `start` is shifted, where that is none itself */
  LLVMValueRef rounds;  /* how often it runs: once there is code for it */
} BitLoop;

/* The other operand of a commutative operation that has `one` as an operand; else NULL. */
static LLVMValueRef other_operand(LLVMValueRef v, LLVMOpcode op, LLVMValueRef one) {
  if (!cg_is_op(v, op))
    return NULL;
  LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
  return a == one ? b : b == one ? a : NULL;
}

static bool is_inside(const BitLoop *l, LLVMValueRef v) {
  LLVMBasicBlockRef b = LLVMIsAInstruction(v) ? LLVMGetInstructionParent(v) : NULL;
  return b && (b == l->block || b == l->body);
}

/* --- the loop --- */

static bool is_step(BitLoop *l) {
  LLVMValueRef less = other_operand(l->next, LLVMAnd, l->x);
  if (less)
    return cg_is_op(less, LLVMAdd) && LLVMGetOperand(less, 0) == l->x &&
           cg_is_number(LLVMGetOperand(less, 1), UINT64_MAX);
  l->arithmetic = cg_is_op(l->next, LLVMAShr);
  l->shifts = l->arithmetic || cg_is_op(l->next, LLVMLShr);
  return l->shifts && LLVMGetOperand(l->next, 0) == l->x &&
         cg_is_number(LLVMGetOperand(l->next, 1), 1);
}

/* Does it go on while the next x is not 0, or positive where the shift is arithmetic? Where it asks
 * first, while x is. */
static bool is_condition(BitLoop *l, const Fork *end) {
  LLVMValueRef c = end->condition;
  if (!LLVMIsAICmpInst(c) || (end->yes == l->body) == (end->no == l->body))
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  bool stays = end->yes == l->body,
       of_next = LLVMGetOperand(c, 0) == (l->asks_first ? l->x : l->next);
  if (!of_next && (l->asks_first || !l->shifts || LLVMGetOperand(c, 0) != l->x))
    return false;
  /* inside a loop that asks first whether x is positive, LLVM takes any shift for a logical one */
  l->arithmetic |= l->asks_first && l->shifts && (p == LLVMIntSGT || p == LLVMIntSLT);
  LLVMValueRef limit = LLVMGetOperand(c, 1);
  if (l->arithmetic) /* next > 0 is x > 1 */
    return stays ? p == LLVMIntSGT && cg_is_number(limit, !of_next)
                 : p == LLVMIntSLT && cg_is_number(limit, of_next ? 1 : 2);
  if (of_next && cg_is_number(limit, 0))
    return p == (stays ? LLVMIntNE : LLVMIntEQ);
  return !of_next && (stays ? p == LLVMIntUGT && cg_is_number(limit, 1)
                            : p == LLVMIntULT && cg_is_number(limit, 2));
}

static bool find_x(BitLoop *l, const Fork *end) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    l->x = i, l->next = graph_incoming(i, l->body), l->start = graph_incoming(i, l->from);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind && is_step(l) && is_condition(l, end))
      return true;
  }
  return false;
}

/* --- a counter of places --- */

static LLVMValueRef without_casts(LLVMValueRef v) {
  while (cg_is_extension(v) || cg_is_op(v, LLVMTrunc))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* Is it a condition that the shift is by less places than x has? *holds: where it is. */
static bool asks_width(const BitLoop *l, LLVMValueRef c, LLVMValueRef by, bool *holds) {
  uint64_t width = LLVMGetIntTypeWidth(LLVMTypeOf(l->start));
  if (!LLVMIsAICmpInst(c) || LLVMGetOperand(c, 0) != by)
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  *holds = p == LLVMIntULT;
  return (*holds && cg_is_number(LLVMGetOperand(c, 1), width)) ||
         (p == LLVMIntUGT && cg_is_number(LLVMGetOperand(c, 1), width - 1));
}

/* The number of places without a clamp to x's width less 1, and casts. *clamped: there was one. */
static LLVMValueRef without_clamp(const BitLoop *l, LLVMValueRef by, bool *clamped) {
  by = without_casts(by);
  *clamped = LLVMIsACallInst(by) && cg_is_call_of_any(by, "llvm.umin.") &&
             cg_is_number(LLVMGetOperand(by, 1), LLVMGetIntTypeWidth(LLVMTypeOf(l->start)) - 1);
  return *clamped ? without_casts(LLVMGetOperand(by, 0)) : by;
}

/* Does the loop go on while `shifted` is positive, or not 0, and end for each x? */
static bool is_shift(BitLoop *l, LLVMValueRef shifted, LLVMIntPredicate p, uint64_t first) {
  bool clamped = false, sign = cg_is_op(shifted, LLVMAShr);
  if (!sign && !cg_is_op(shifted, LLVMLShr))
    return false;
  l->start = LLVMGetOperand(shifted, 0);
  if (is_inside(l, l->start) || first >= LLVMGetIntTypeWidth(LLVMTypeOf(l->start)))
    return false;
  LLVMValueRef by = without_clamp(l, LLVMGetOperand(shifted, 1), &clamped);
  l->asks_first = by == l->places;
  l->arithmetic = p == LLVMIntSGT;
  l->shifts = true;
  if (!l->asks_first && (by != graph_incoming(l->places, l->body) || l->body != l->block))
    return false;
  if (l->arithmetic)
    return sign || (first == 0 && l->asks_first);
  return !sign && (!clamped || LLVMIsAZExtInst(l->start));
}

/* A comparison of the shifted x, and perhaps one of the number of places in front of it. */
static bool is_shift_condition(BitLoop *l, const Fork *end, uint64_t first) {
  LLVMValueRef c = end->condition, width = NULL;
  bool stays = end->yes == l->body, holds = false;
  if (stays ? cg_is_both(c) : cg_is_either(c))
    width = LLVMGetOperand(c, 0), c = cg_second_condition(c);
  if (!LLVMIsAICmpInst(c) || (end->yes == l->body) == (end->no == l->body))
    return false;
  LLVMValueRef shifted = LLVMGetOperand(c, 0), limit = LLVMGetOperand(c, 1);
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  if (!stays && p == LLVMIntSLT ? !cg_is_number(limit, 1) : !cg_is_number(limit, 0))
    return false;
  p = stays ? p : p == LLVMIntSLT ? LLVMIntSGT : p == LLVMIntEQ ? LLVMIntNE : LLVMIntEQ;
  if ((p != LLVMIntSGT && p != LLVMIntNE) || !is_shift(l, shifted, p, first))
    return false;
  return !width || (asks_width(l, width, LLVMGetOperand(shifted, 1), &holds) && holds == stays);
}

static bool find_places(BitLoop *l, const Fork *end) {
  l->x = l->next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef first = graph_incoming(i, l->from);
    LLVMValueRef next = graph_incoming(i, l->body);
    if (!LLVMIsAConstantInt(first) || LLVMGetIntTypeWidth(LLVMTypeOf(i)) < 8 ||
        !cg_is_op(next, LLVMAdd) || LLVMGetOperand(next, 0) != i ||
        !cg_is_number(LLVMGetOperand(next, 1), 1))
      continue;
    l->places = i;
    if (is_shift_condition(l, end, LLVMConstIntGetZExtValue(first)))
      return true;
  }
  l->places = NULL;
  return false;
}

/* --- its variables --- */

/* x & 1, of any width? */
static bool is_lowest_bit(const BitLoop *l, LLVMValueRef v) {
  v = without_casts(v);
  return l->shifts && cg_is_op(v, LLVMAnd) && without_casts(LLVMGetOperand(v, 0)) == l->x &&
         cg_is_number(LLVMGetOperand(v, 1), 1);
}

/* What a variable changes by in each iteration: the same term, or the lowest bit; else NULL. */
static LLVMValueRef term_of(const BitLoop *l, LLVMValueRef phi) {
  LLVMValueRef next = graph_incoming(phi, l->body);
  LLVMValueRef sum = other_operand(next, LLVMAdd, phi), flip = other_operand(next, LLVMXor, phi);
  if (sum && (!is_inside(l, sum) || is_lowest_bit(l, sum)))
    return sum;
  return flip && !is_inside(l, flip) ? flip : NULL;
}

/* The variable as it is when the loop ends. */
static LLVMValueRef last_of(const BitLoop *l, LLVMValueRef phi) {
  return l->asks_first ? phi : graph_incoming(phi, l->body);
}

/* Is the value, after the loop, one that is known: a variable's last? */
static bool is_result(const BitLoop *l, LLVMValueRef v) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    if (last_of(l, i) == v)
      return true;
  return false;
}

static bool is_used_outside(const BitLoop *l, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (!is_inside(l, LLVMGetUser(u)))
      return true;
  return false;
}

static bool only_counts_in(const BitLoop *l, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    bool phi = LLVMIsAPHINode(i);
    if (phi &&
        (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind || (i != l->x && !term_of(l, i))))
      return false;
    if (!phi && i != LLVMGetBasicBlockTerminator(block) && !cg_only_computes(i) &&
        !cg_is_speculatable(i))
      return false;
    if (is_used_outside(l, i) && !is_result(l, i))
      return false;
  }
  return true;
}

static bool only_counts(const BitLoop *l) {
  return only_counts_in(l, l->block) && (l->body == l->block || only_counts_in(l, l->body));
}

/* --- its results --- */

static LLVMValueRef call(BitLoop *l, const char *name, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef t = LLVMTypeOf(args[0]);
  return l_call(l->cg->builder, cg_intrinsic_fn(l->cg, name, &t, 1), args, n);
}

static LLVMValueRef count_of_ones(BitLoop *l) { return call(l, "llvm.ctpop", &l->start, 1); }

/* Is x positive at the beginning? */
static LLVMValueRef is_positive(BitLoop *l) {
  return l_icmp(l->cg->builder, LLVMIntSGT, l->start, LLVMConstNull(LLVMTypeOf(l->start)));
}

/* From the first number of places that it asks about to x's bit length. */
static LLVMValueRef rounds_of_places(BitLoop *l, LLVMValueRef length) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef t = LLVMTypeOf(l->start);
  uint64_t first = LLVMConstIntGetZExtValue(graph_incoming(l->places, l->from));
  LLVMValueRef least = l_int(t, !l->asks_first);
  LLVMValueRef most = call(l, "llvm.umax",
                           (LLVMValueRef[]){length, l_int(t, first + !l->asks_first)}, 2);
  LLVMValueRef n = l_sub(b, most, l_int(t, first));
  return l->arithmetic ? l_select(b, is_positive(l), n, least) : n;
}

/* At least 1 where the loop does not ask first, also for an x that is 0, and for one that is
 * negative where that ends the loop. */
static LLVMValueRef count_rounds(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef t = LLVMTypeOf(l->start);
  LLVMValueRef least = l_int(t, !l->asks_first), n = NULL;
  if (l->shifts) {
    LLVMValueRef zeros = call(l, "llvm.ctlz",
                              (LLVMValueRef[]){l->start, LLVMConstNull(l->cg->t.i1)}, 2);
    n = l_sub(b, l_int(t, LLVMGetIntTypeWidth(t)), zeros);
    if (l->places)
      return rounds_of_places(l, n);
  } else {
    n = count_of_ones(l);
  }
  if (l->arithmetic)
    return l_select(b, is_positive(l), n, least);
  return l->asks_first ? n : call(l, "llvm.umax", (LLVMValueRef[]){n, least}, 2);
}

static LLVMValueRef last_x(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef t = LLVMTypeOf(l->start);
  if (!l->arithmetic)
    return LLVMConstNull(t);
  return l_select(b, is_positive(l), LLVMConstNull(t),
                  l->asks_first ? l->start : l_ashr(b, l->start, l_int(t, 1)));
}

/* The sum of the lowest bits of all x. */
static LLVMValueRef sum_of_bits(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef first = LLVMConstNull(LLVMTypeOf(l->start));
  if (!l->asks_first)
    first = l_and(b, l->start, l_int(LLVMTypeOf(l->start), 1));
  return l->arithmetic ? l_select(b, is_positive(l), count_of_ones(l), first) : count_of_ones(l);
}

static LLVMValueRef result_of(BitLoop *l, LLVMValueRef phi) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef start = graph_incoming(phi, l->from), term = term_of(l, phi);
  LLVMTypeRef t = LLVMTypeOf(phi);
  if (is_inside(l, term))
    return l_add(b, start, l_int_cast(b, sum_of_bits(l), t, false));
  if (cg_is_op(graph_incoming(phi, l->body), LLVMAdd))
    return l_add(b, start, l_mul(b, l_int_cast(b, l->rounds, t, false), term));
  LLVMValueRef odd = l_trunc(b, l->rounds, l->cg->t.i1);
  return l_xor(b, start, l_select(b, odd, term, LLVMConstNull(t)));
}

/* The header runs once and computes the results from what its variables begin with. */
static void rewrite(BitLoop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->block), phi, following;
  LLVMPositionBuilderBefore(l->cg->builder, end);
  LLVMSetCurrentDebugLocation2(l->cg->builder, LLVMInstructionGetDebugLoc(end));
  l->rounds = count_rounds(l);
  for (phi = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef result = phi == l->x ? last_x(l) : result_of(l, phi);
    LLVMValueRef last = last_of(l, phi);
    for (LLVMUseRef u = LLVMGetFirstUse(last), more; u; u = more) {
      more = LLVMGetNextUse(u);
      LLVMValueRef by = LLVMGetUser(u);
      for (unsigned k = 0; !is_inside(l, by) && k < (unsigned)LLVMGetNumOperands(by); k++)
        if (LLVMGetOperand(by, k) == last)
          LLVMSetOperand(by, k, result);
    }
  }
  l_br(l->cg->builder, l->exit);
  LLVMInstructionEraseFromParent(end);
  for (phi = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(phi); phi = following) {
    following = LLVMGetNextInstruction(phi);
    LLVMReplaceAllUsesWith(phi, graph_incoming(phi, l->from));
    LLVMInstructionEraseFromParent(phi);
  }
  if (l->body != l->block)
    LLVMDeleteBasicBlock(l->body);
}

/* The loop's blocks, if it has the form; only they, *end and `from` are set then. */
static bool find_blocks(const FnGraph *g, const GraphLoop *loop, BitLoop *l, Fork *end) {
  const GraphNode *n = &g->nodes[loop->header];
  if (loop->nnodes > 2 || loop->nlatches != 1 || n->npred != 2 || !graph_fork(n->last, end))
    return false;
  const GraphNode *body = &g->nodes[loop->latches[0]];
  l->block = n->block, l->body = body->block, l->asks_first = body != n;
  l->from = g->nodes[n->pred[n->pred[0] == loop->latches[0]]].block;
  l->exit = end->yes == l->body ? end->no : end->yes;
  return l->exit != l->block && l->exit != l->body &&
         (!l->asks_first || (graph_before(l->body) == l->block && graph_next(l->body) == l->block));
}

bool cg_count_bits(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  bool found = false;
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    BitLoop l = {.cg = cg};
    Fork end;
    if (!find_blocks(&g, &g.loops.data[k], &l, &end) ||
        !(find_x(&l, &end) || find_places(&l, &end)) || !only_counts(&l))
      continue;
    rewrite(&l);
    found = true;
  }
  return found;
}
