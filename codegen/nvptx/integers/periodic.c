/* NVPTX periodic: comparisons that show that an index is one of n places.
 *
 *   if i < n:
 *     left, right = (i - 1) % n, (i + 1) % n
 *     further = (right + 1) % n
 *
 * Where i < n, a few steps around a period of n are a comparison each; else there is a division
 * (lower/divide.c asks which). LLVM drops the question behind a guard that says i < n. But it does
 * not see that `right` is less than n again, nor that this follows from the guard on i.
 *
 * In: functions after LLVM's passes. Out: such comparisons decided, what is behind them gone. */
#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* operations one behind the other; in all, since phis of phis have many; rounds, since what one
 * decides shows another one */
enum { MOST_OPERATIONS = 12, MOST_VISITS = 100, MOST_ROUNDS = 4 };

typedef struct Places {
  const FnGraph *g;
  LLVMValueRef n;
  unsigned visits;
} Places;

static LLVMValueRef unextended(LLVMValueRef v) {
  while (LLVMIsAZExtInst(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

static bool is_not_negative(LLVMValueRef v) { return cg_nvptx_range(v).lo >= 0; }

/* --- guards --- */

/* Does it say that `v < n`, as a comparison of numbers of 0 or more? */
static bool says(const Places *p, Fact fact, LLVMValueRef v) {
  LLVMValueRef c = fact.condition;
  bool yes = fact.holds;
  if (!LLVMIsAICmpInst(c))
    return false;
  LLVMIntPredicate is = LLVMGetICmpPredicate(c);
  LLVMValueRef a = unextended(LLVMGetOperand(c, 0)), b = unextended(LLVMGetOperand(c, 1));
  bool signed_one = is == LLVMIntSLT || is == LLVMIntSGE || is == LLVMIntSGT || is == LLVMIntSLE;
  bool forward = is == (yes ? LLVMIntULT : LLVMIntUGE) || is == (yes ? LLVMIntSLT : LLVMIntSGE);
  bool backward = is == (yes ? LLVMIntUGT : LLVMIntULE) || is == (yes ? LLVMIntSGT : LLVMIntSLE);
  bool same = (forward && a == v && b == p->n) || (backward && b == v && a == p->n);
  return same && (!signed_one || is_not_negative(v));
}

static bool is_guarded(const Places *p, LLVMValueRef v, uint32_t node) {
  Facts facts = {.n = 0};
  cg_add_facts_at(&facts, p->g, node);
  for (unsigned k = 0; k < facts.n; k++)
    if (says(p, facts.list[k], v))
      return true;
  return false;
}

/* --- places --- */

static bool is_place(Places *p, LLVMValueRef v, uint32_t node, unsigned depth);

/* Is v x and `by`, of as many bits? */
static bool is_sum(LLVMValueRef v, LLVMValueRef x, int64_t by) {
  return cg_is_op(v, LLVMAdd) && LLVMGetOperand(v, 0) == x &&
         cg_is_number(LLVMGetOperand(v, 1), (uint64_t)by);
}

/* A step from a place: `0 if x + 1 == n else x + 1`, or `n - 1 if x == 0 else x - 1`. */
static bool is_step(Places *p, LLVMValueRef v, uint32_t node, unsigned depth) {
  LLVMValueRef c = LLVMGetOperand(v, 0), yes = LLVMGetOperand(v, 1), no = LLVMGetOperand(v, 2);
  if (!LLVMIsAICmpInst(c) || !cg_is_op(no, LLVMAdd) || LLVMGetICmpPredicate(c) != LLVMIntEQ)
    return false;
  LLVMValueRef x = LLVMGetOperand(no, 0), a = LLVMGetOperand(c, 0), b = LLVMGetOperand(c, 1);
  bool up = cg_is_number(yes, 0) && is_sum(no, x, 1) &&
            ((a == no && unextended(b) == p->n) || (b == no && unextended(a) == p->n)),
       down = is_sum(no, x, -1) && a == x && cg_is_number(b, 0) && cg_is_op(yes, LLVMAdd) &&
              unextended(LLVMGetOperand(yes, 0)) == p->n &&
              cg_is_number(LLVMGetOperand(yes, 1), UINT64_MAX);
  return (up || down) && is_place(p, x, node, depth);
}

/* n, or a place other than 0, and one less: `(n if x == 0 else x) - 1`. */
static bool is_step_down(Places *p, LLVMValueRef v, uint32_t node, unsigned depth) {
  LLVMValueRef s = LLVMGetOperand(v, 0);
  if (!cg_is_number(LLVMGetOperand(v, 1), UINT64_MAX) || !cg_is_op(s, LLVMSelect))
    return false;
  LLVMValueRef c = LLVMGetOperand(s, 0), x = LLVMGetOperand(s, 2);
  return unextended(LLVMGetOperand(s, 1)) == p->n && LLVMIsAICmpInst(c) &&
         LLVMGetICmpPredicate(c) == LLVMIntEQ && LLVMGetOperand(c, 0) == x &&
         cg_is_number(LLVMGetOperand(c, 1), 0) && is_place(p, x, node, depth);
}

static bool is_place_on_all_ways(Places *p, LLVMValueRef phi, unsigned depth) {
  bool all = true;
  for (unsigned k = 0; k < LLVMCountIncoming(phi) && all; k++) {
    uint32_t from = graph_end(p->g, LLVMGetIncomingBlock(phi, k));
    all = from != GRAPH_NONE && is_place(p, LLVMGetIncomingValue(phi, k), from, depth);
  }
  return all;
}

/* Is v one of 0 … n-1 in this block, as an unsigned number? */
static bool is_place(Places *p, LLVMValueRef v, uint32_t node, unsigned depth) {
  v = unextended(v);
  if (!depth-- || p->visits++ >= MOST_VISITS || !LLVMIsAInstruction(v))
    return false;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMURem:
    if (unextended(LLVMGetOperand(v, 1)) == p->n)
      return true;
    break;
  case LLVMPHI:
    if (is_place_on_all_ways(p, v, depth))
      return true;
    break;
  case LLVMSelect:
    if (is_step(p, v, node, depth))
      return true;
    break;
  case LLVMAdd:
    if (is_step_down(p, v, node, depth))
      return true;
    break;
  default: break;
  }
  return is_guarded(p, v, node);
}

/* --- comparisons --- */

/* A comparison `v < n` of what may be a place by a number of places that is not constant. */
static bool asks(LLVMValueRef i, LLVMValueRef *v, LLVMValueRef *n) {
  LLVMIntPredicate is = LLVMIsAICmpInst(i) ? LLVMGetICmpPredicate(i) : LLVMIntEQ;
  bool forward = is == LLVMIntULT || is == LLVMIntSLT,
       backward = is == LLVMIntUGT || is == LLVMIntSGT;
  if (!forward && !backward)
    return false;
  *v = unextended(LLVMGetOperand(i, backward));
  *n = unextended(LLVMGetOperand(i, forward));
  bool shown = cg_is_op(*v, LLVMSelect) || cg_is_op(*v, LLVMAdd) || LLVMIsAPHINode(*v);
  return shown && cg_int_width(*n) && !LLVMIsAConstant(*n) && LLVMGetFirstUse(i) &&
         (is == LLVMIntULT || is == LLVMIntUGT || is_not_negative(*n));
}

static bool decide(Cg *cg, LLVMValueRef f) {
  FnGraph g = {0};
  Places p = {&g, NULL, 0};
  bool changed = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), v; i; i = LLVMGetNextInstruction(i)) {
      if (!asks(i, &v, &p.n))
        continue;
      if (!g.len) {
        g = graph_of(&cg->cx->arena, f, NULL);
        graph_loops(&g);
      }
      uint32_t node = graph_number(&g, b);
      p.visits = 0;
      if (node == GRAPH_NONE || !is_place(&p, v, node, MOST_OPERATIONS))
        continue;
      LLVMReplaceAllUsesWith(i, LLVMConstInt(cg->t.i1, 1, 0));
      changed = true;
    }
  return changed;
}

void cg_nvptx_periodic(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (unsigned k = 0; k < MOST_ROUNDS && LLVMGetFirstBasicBlock(f) && decide(cg, f); k++)
      cg_run_function_passes(cg, f, "simplifycfg,instcombine<no-verify-fixpoint>,early-cse");
}
