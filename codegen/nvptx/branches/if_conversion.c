/* NVPTX if-conversion: short sides of a branch become selections.
 *
 *   if p > 0: c += 1          c = c + 1 if p > 0 else (c - 1 if p < 0 else c)
 *   elif p < 0: c -= 1
 *
 * LLVM's simplifycfg does so for a side of one operation, but not behind a comparison of floats,
 * and not where a third way leads to the same place, as with `elif`. What is left are branches in a
 * loop: threads wait for each other at each of them, and the loads of the next iteration behind
 * them. Here a side, or both, may have a few operations that can be speculated and are not slow.
 * Conditions of two parts, `a or b`, become one first, and the returns of a device function one
 * place, so that `if h == 0: return x` is such a side, too.
 *
 * In: functions as they are lowered, before LLVM's passes; and once more after these, which leave
 * few operations of some sides, where constants have come in or a loop was unrolled:
 *
 *   if p < n: word = text[p]        # ptxas makes predicates of this branch, so that the loads of
 *   elif p == n: word = 0x80        # all unrolled iterations are in flight together, only if its
 *   else: word = ends >> 8 * p      # sides have no branches of their own
 *
 *   if x[k] >= h:                   # in innermost loops, a side that may leave them: one branch
 *     count += 1                    # asks both conditions
 *     if count == h: break
 */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST = 10,        /* instructions that all threads run then: those of the sides, and selections */
  MOST_LEAVING = 4, /* … of a side that may leave its loop */
  MAX_PHIS = 4,
};

typedef struct Branch {
  LLVMBasicBlockRef from, join;
  Fork fork; /* a side that is the join itself is empty */
} Branch;

static bool has_one_edge_in(LLVMBasicBlockRef b) {
  return cg_has_one_use(LLVMBasicBlockAsValue(b));
}

/* Is it a block of the branch's alone, which leads to one place? */
static bool is_side(const Cg *cg, LLVMBasicBlockRef b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  return has_one_edge_in(b) && graph_next(b) &&
         !LLVMGetMetadata(end, LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9));
}

static bool find_join(const Cg *cg, Branch *x) {
  LLVMBasicBlockRef yes = x->fork.yes, no = x->fork.no;
  if (yes == no)
    return false;
  if (is_side(cg, yes) &&
      (graph_next(yes) == no || (is_side(cg, no) && graph_next(no) == graph_next(yes))))
    x->join = graph_next(yes);
  else if (is_side(cg, no) && graph_next(no) == yes)
    x->join = yes;
  return x->join && x->join != x->from;
}

/* The instructions of a side; MOST + 1 if it has one that stays behind the branch. */
static unsigned cost_of_side(const Cg *cg, const Branch *x, LLVMBasicBlockRef side) {
  unsigned cost = 0;
  if (side == x->join)
    return 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(side); i != LLVMGetBasicBlockTerminator(side);
       i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i) || !cg_is_speculatable(i) || cg_is_slow(cg, i))
      return MOST + 1;
    bool free = cg_is_extension(i) || cg_is_op(i, LLVMTrunc) || cg_is_op(i, LLVMFNeg) ||
                cg_is_op(i, LLVMGetElementPtr);
    bool wide = LLVMTypeOf(i) == cg->t.i64 || LLVMTypeOf(i) == cg->t.f64;
    cost += free ? 0 : 1 + wide;
  }
  return cost;
}

static LLVMBasicBlockRef source(const Branch *x, LLVMBasicBlockRef side) {
  return side == x->join ? x->from : side;
}

/* A flag stays as it is: ptxas would move its predicate to a register and back around branches. Of
 * many phis, to which other branches lead as well, a comparison of floats may choose some, with
 * short sides; of those of integers LLVM has made selections. */
static unsigned cost_of_selections(const Cg *cg, const Branch *x) {
  unsigned n = 0, cost = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(x->join); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i), n++) {
    bool differs = graph_incoming(i, source(x, x->fork.yes)) !=
                   graph_incoming(i, source(x, x->fork.no));
    if (differs && LLVMTypeOf(i) == cg->t.i1)
      return MOST + 1;
    cost += differs;
  }
  if (n > MAX_PHIS && cost <= MAX_PHIS && LLVMIsAFCmpInst(x->fork.condition))
    return cost + MOST / 2;
  return n && n <= MAX_PHIS ? cost : MOST + 1;
}

/* Moves what is in the side to the end of the block before it. */
static void lift(Cg *cg, LLVMBasicBlockRef side) {
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(side); i != LLVMGetBasicBlockTerminator(side);
       i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMInstructionRemoveFromParent(i);
    l_insert(cg->builder, i);
  }
}

static void merge(Cg *cg, const Branch *x, LLVMValueRef phi) {
  LLVMBasicBlockRef from_yes = source(x, x->fork.yes), from_no = source(x, x->fork.no);
  LLVMValueRef yes = graph_incoming(phi, from_yes), no = graph_incoming(phi, from_no);
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(x->from));
  LLVMValueRef v = yes == no ? yes : l_select(cg->builder, x->fork.condition, yes, no);
  graph_join_edges(cg, phi, (LLVMBasicBlockRef[]){from_yes, from_no}, 2, x->from, v);
}

static void convert(Cg *cg, const Branch *x) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(x->from), next;
  LLVMBasicBlockRef sides[] = {x->fork.yes, x->fork.no};
  for (int k = 0; k < 2; k++) {
    LLVMPositionBuilderBefore(cg->builder, end);
    if (sides[k] != x->join)
      lift(cg, sides[k]);
  }
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(end));
  for (LLVMValueRef i = LLVMGetFirstInstruction(x->join); LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    merge(cg, x, i);
  }
  LLVMPositionBuilderBefore(cg->builder, end);
  LLVMBuildBr(cg->builder, x->join);
  LLVMInstructionEraseFromParent(end);
  for (int k = 0; k < 2; k++)
    if (sides[k] != x->join)
      LLVMDeleteBasicBlock(sides[k]);
}

/* --- conditions of two parts --- */

/* Does each phi of the block take the same from both? */
static bool takes_the_same(LLVMBasicBlockRef block, LLVMBasicBlockRef a, LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    if (graph_incoming(i, a) != graph_incoming(i, b))
      return false;
  return true;
}

/* What comes from both blocks is chosen by the first condition. */
static void select_edges(Cg *cg, const Branch *x, LLVMBasicBlockRef second, LLVMBasicBlockRef to) {
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(to); LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef a = graph_incoming(i, x->from), b = graph_incoming(i, second);
    bool yes = second == x->fork.yes;
    LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(x->from));
    LLVMValueRef v = a == b ? a
                            : l_select(cg->builder, x->fork.condition, yes ? b : a, yes ? a : b);
    graph_join_edges(cg, i, (LLVMBasicBlockRef[]){second, x->from}, 2, x->from, v);
  }
}

/* The same as v where `second` leads elsewhere: what its condition says is equal, and what the
 * other way has a selection of, so that both ways out of a loop leave one register. */
static LLVMValueRef selected(const Branch *x, LLVMBasicBlockRef second, const Fork *then,
                             LLVMValueRef v) {
  bool yes = second == x->fork.yes;
  LLVMBasicBlockRef both = yes ? x->fork.no : x->fork.yes;
  if (LLVMIsAICmpInst(then->condition) &&
      LLVMGetICmpPredicate(then->condition) == (then->no == both ? LLVMIntEQ : LLVMIntNE) &&
      LLVMGetOperand(then->condition, 1) == v)
    v = LLVMGetOperand(then->condition, 0);
  for (LLVMValueRef i = LLVMGetFirstInstruction(both); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef s = graph_incoming(i, x->from);
    if (LLVMIsASelectInst(s) && LLVMGetOperand(s, 0) == x->fork.condition &&
        LLVMGetOperand(s, yes ? 1 : 2) == v)
      return s;
  }
  return v;
}

/* The edge from `second` to elsewhere becomes one from the block in front of it. */
static void move_edges(Cg *cg, const Branch *x, const Fork *then, LLVMBasicBlockRef second) {
  LLVMBasicBlockRef both = second == x->fork.yes ? x->fork.no : x->fork.yes, from = x->from;
  LLVMBasicBlockRef to = then->yes == both ? then->no : then->yes;
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(to); LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef v = selected(x, second, then, graph_incoming(i, second));
    graph_join_edges(cg, i, (LLVMBasicBlockRef[]){second, from}, 2, from, v);
  }
}

/* Takes `second`, a side, into the block in front of it, of which the end asks both conditions. */
static void fold(Cg *cg, const Branch *x, LLVMBasicBlockRef second, const Fork *then) {
  LLVMBasicBlockRef both = second == x->fork.yes ? x->fork.no : x->fork.yes;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(x->from), v;
  LLVMPositionBuilderBefore(cg->builder, end);
  lift(cg, second);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(end));
  LLVMValueRef known = l_int(cg->t.i1, then->yes == both);
  v = second == x->fork.no ? l_select(cg->builder, x->fork.condition, known, then->condition)
                           : l_select(cg->builder, x->fork.condition, then->condition, known);
  select_edges(cg, x, second, both);
  move_edges(cg, x, then, second);
  LLVMPositionBuilderBefore(cg->builder, end);
  LLVMBuildCondBr(cg->builder, v, then->yes, then->no);
  LLVMInstructionEraseFromParent(end);
  LLVMDeleteBasicBlock(second);
}

/* `second` is the side of the branch where the other part of the condition is asked, if it is:
 * a block with a branch of its own, one way of which leads where the first does, too. */
static bool joins_condition(Cg *cg, const Branch *x, LLVMBasicBlockRef second) {
  LLVMBasicBlockRef both = second == x->fork.yes ? x->fork.no : x->fork.yes, other;
  Fork then;
  if (!has_one_edge_in(second) || !graph_fork(LLVMGetBasicBlockTerminator(second), &then) ||
      then.yes == then.no || (then.yes != both && then.no != both))
    return false;
  other = then.yes == both ? then.no : then.yes;
  if (both == x->from || !is_side(cg, other) ||
      (graph_next(other) != both && graph_next(other) != graph_next(both)) ||
      !takes_the_same(both, x->from, second) || cost_of_side(cg, x, second) > MOST)
    return false;
  fold(cg, x, second, &then);
  return true;
}

static void join_conditions(Cg *cg, LLVMBasicBlockRef b) {
  Branch x = {.from = b};
  while (graph_fork(LLVMGetBasicBlockTerminator(b), &x.fork) && x.fork.yes != x.fork.no &&
         (joins_condition(cg, &x, x.fork.yes) || joins_condition(cg, &x, x.fork.no)))
    ;
}

/* --- returns --- */

/* The function returns its number from one place. */
static void join_returns(Cg *cg, LLVMValueRef f) {
  LLVMTypeRef t = LLVMGetReturnType(LLVMGlobalGetValueType(f));
  LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(f), last = LLVMGetLastBasicBlock(f), join = NULL;
  LLVMValueRef phi = NULL;
  unsigned returns = 0;
  if (LLVMGetTypeKind(t) != LLVMIntegerTypeKind && LLVMGetTypeKind(t) != LLVMFloatTypeKind &&
      LLVMGetTypeKind(t) != LLVMDoubleTypeKind)
    return;
  for (LLVMBasicBlockRef b = first; b; b = LLVMGetNextBasicBlock(b))
    returns += LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(b)) != NULL;
  if (returns < 2)
    return;
  join = LLVMAppendBasicBlockInContext(cg->context, f, "returns");
  l_at_end(cg->builder, join, NULL);
  phi = l_phi(cg->builder, t);
  LLVMBuildRet(cg->builder, phi);
  for (LLVMBasicBlockRef b = first;; b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    if (LLVMIsAReturnInst(end)) {
      LLVMValueRef v = LLVMGetOperand(end, 0);
      LLVMPositionBuilderBefore(cg->builder, end);
      LLVMBuildBr(cg->builder, join);
      LLVMInstructionEraseFromParent(end);
      LLVMAddIncoming(phi, &v, &b, 1);
    }
    if (b == last)
      break;
  }
}

static bool converts(Cg *cg, LLVMBasicBlockRef b) {
  Branch x = {.from = b};
  join_conditions(cg, b);
  bool found = graph_fork(LLVMGetBasicBlockTerminator(b), &x.fork) && find_join(cg, &x) &&
               cost_of_side(cg, &x, x.fork.yes) + cost_of_side(cg, &x, x.fork.no) +
                       cost_of_selections(cg, &x) <=
                   MOST;
  if (found)
    convert(cg, &x);
  return found;
}

/* Inner branches first, so that the sides of those around them are without branches. */
static void convert_in(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  for (uint32_t k = g.len; k--;)
    converts(cg, g.nodes[k].block);
}

void cg_nvptx_convert_ifs(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) {
      join_returns(cg, f);
      convert_in(cg, f);
    }
}

/* --- ways out of loops --- */

static bool is_in_loop(const FnGraph *g, uint32_t loop, LLVMBasicBlockRef b) {
  return graph_in_loop(g, loop, LLVMGetBasicBlockTerminator(b));
}

/* Is `second` a short side of a branch of the loop, which leaves it, or comes to where the branch
 * leads otherwise? */
static bool may_leave(const Cg *cg, const FnGraph *g, uint32_t loop, const Branch *x,
                      LLVMBasicBlockRef second, Fork *then) {
  LLVMBasicBlockRef both = second == x->fork.yes ? x->fork.no : x->fork.yes;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(second);
  if (!has_one_edge_in(second) || !graph_fork(end, then) ||
      (then->yes != both) == (then->no != both))
    return false;
  Branch joined = {.from = x->from, .join = both, .fork = x->fork};
  return is_in_loop(g, loop, both) && both != g->nodes[g->loops.data[loop].header].block &&
         !is_in_loop(g, loop, then->yes == both ? then->no : then->yes) &&
         cost_of_side(cg, x, second) + cost_of_selections(cg, &joined) <= MOST_LEAVING;
}

static void convert_ways_out(Cg *cg, const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes && l->innermost; k++) {
    Branch x = {.from = g->nodes[l->nodes[k]].block};
    Fork then;
    if (!graph_fork(LLVMGetBasicBlockTerminator(x.from), &x.fork) || x.fork.yes == x.fork.no)
      continue;
    LLVMBasicBlockRef sides[] = {x.fork.yes, x.fork.no};
    for (int s = 0; s < 2; s++)
      if (may_leave(cg, g, loop, &x, sides[s], &then)) {
        fold(cg, &x, sides[s], &then);
        return;
      }
  }
}

void cg_nvptx_convert_late_ifs(Cg *cg) {
  graph_each_loop(cg, convert_ways_out);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      convert_in(cg, f);
}
