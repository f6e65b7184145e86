/* NVPTX extremes: minima and maxima of float32 as one instruction each.
 *
 *   best = max(best, x)  # x if x > best else best
 *
 * keeps best where x is nan, and so does the instruction. Where best is nan Python keeps it too,
 * and the instruction would give x: so LLVM and ptxas make a comparison and a selection, one after
 * the other, of each. But what begins with a number, such as -inf, and becomes another value only
 * where that is greater, is never nan. Of 0.0 and -0.0 the instruction may give the other one
 * (docs/guide/deviations.md).
 *
 * An extreme's place needs the comparison all the same. But the next number then waits for one
 * instruction, not for a comparison and a selection.
 *
 * Of others a comparison may ask that follows from them:
 *
 *   w = min(right, x[k, 2]) - max(left, x[k, 0])  # left, right: from in front of the loop
 *   h = …
 *   if w > 0 and h > 0: …                         # what else reads w and h is in here
 *
 * If left is nan so is w, and the comparison does not hold. So it asks too whether left and right
 * are numbers, which a flag from in front of the loop says: ptxas makes it a part of a comparison.
 *
 * In: a module behind coarsening. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST_REACHED = 256 }; /* values from which one is made */

typedef struct Extremes {
  Cg *cg;
  ValueMap known; /* 1: never nan; 0: that was not found */
  LLVMValueRef reached[MOST_REACHED];
  unsigned nreached;
  VEC(LLVMValueRef) found;
} Extremes;

/* A selection between the two numbers that are compared. */
typedef struct Extreme {
  LLVMValueRef kept, other; /* kept: what it gives if one is nan */
  bool least;
} Extreme;

static bool read_extreme(LLVMValueRef v, Extreme *e) {
  LLVMValueRef compare = cg_is_op(v, LLVMSelect) ? LLVMGetOperand(v, 0) : NULL;
  if (!compare || !cg_is_op(compare, LLVMFCmp))
    return false;
  LLVMValueRef x = LLVMGetOperand(compare, 0), yes = LLVMGetOperand(v, 1),
               no = LLVMGetOperand(v, 2);
  bool same = yes == x && no == LLVMGetOperand(compare, 1);
  if (!same && !(no == x && yes == LLVMGetOperand(compare, 1)))
    return false;
  LLVMRealPredicate p = LLVMGetFCmpPredicate(compare);
  bool less = p == LLVMRealOLT || p == LLVMRealOLE || p == LLVMRealULT || p == LLVMRealULE;
  bool greater = p == LLVMRealOGT || p == LLVMRealOGE || p == LLVMRealUGT || p == LLVMRealUGE;
  bool ordered = p == LLVMRealOLT || p == LLVMRealOLE || p == LLVMRealOGT || p == LLVMRealOGE;
  *e = (Extreme){ordered ? no : yes, ordered ? yes : no, less == same};
  return less || greater;
}

/* --- what is never nan --- */

static bool is_nan(LLVMValueRef constant) {
  LLVMBool loses;
  double d = LLVMConstRealGetDouble(constant, &loses);
  return d != d;
}

/* Notes v as one of the values that must not be nan. False if there are too many, or if it was
 * found to be one that may be. */
static bool reach(Extremes *x, LLVMValueRef v) {
  uint32_t known = valuemap_get(&x->known, v);
  if (known != VALUEMAP_NONE)
    return known;
  for (unsigned k = 0; k < x->nreached; k++)
    if (x->reached[k] == v)
      return true;
  if (x->nreached == MOST_REACHED)
    return false;
  x->reached[x->nreached++] = v;
  return true;
}

/* Notes what must not be nan for v not to be. False: v may be nan. */
static bool expand(Extremes *x, LLVMValueRef v) {
  Extreme e;
  if (LLVMIsAConstantFP(v))
    return !is_nan(v);
  if (LLVMIsPoison(v) || cg_is_op(v, LLVMSIToFP) || cg_is_op(v, LLVMUIToFP))
    return true;
  if (read_extreme(v, &e))
    return reach(x, e.kept);
  if (cg_is_op(v, LLVMFNeg) || cg_is_call_of_any(v, "llvm.fabs."))
    return reach(x, LLVMGetOperand(v, 0));
  if (cg_is_op(v, LLVMSelect))
    return reach(x, LLVMGetOperand(v, 1)) && reach(x, LLVMGetOperand(v, 2));
  if (!LLVMIsAPHINode(v))
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
    if (!reach(x, LLVMGetIncomingValue(v, k)))
      return false;
  return true;
}

/* Phis may be made of themselves: what all of them begin with decides. */
static bool is_never_nan(Extremes *x, LLVMValueRef v) {
  x->nreached = 0;
  bool right = reach(x, v);
  for (unsigned k = 0; right && k < x->nreached; k++)
    right = expand(x, x->reached[k]);
  for (unsigned k = 0; k < (right ? x->nreached : x->nreached > 0); k++)
    valuemap_set(&x->known, x->reached[k], right);
  return right;
}

/* --- the pass --- */

static void find(Extremes *x, LLVMValueRef i) {
  Extreme e;
  if (LLVMTypeOf(i) == x->cg->t.f32 && read_extreme(i, &e) && is_never_nan(x, e.kept))
    VEC_PUSH(&x->cg->cx->arena, &x->found, i);
}

static void replace(Cg *cg, LLVMValueRef i) {
  Extreme e;
  LLVMValueRef compare = LLVMGetOperand(i, 0);
  if (!read_extreme(i, &e))
    return;
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef fn = cg_intrinsic_fn(cg, e.least ? "llvm.minnum" : "llvm.maxnum", &cg->t.f32, 1);
  LLVMReplaceAllUsesWith(i, l_call(cg->builder, fn, (LLVMValueRef[]){e.kept, e.other}, 2));
  LLVMInstructionEraseFromParent(i);
  if (!LLVMGetFirstUse(compare))
    LLVMInstructionEraseFromParent(compare);
}

/* --- extremes of numbers from in front of a loop --- */

enum { MOST_DEEP = 4, MOST_EXTREMES = 16, LEAST_EXTREMES = 2 };

typedef struct Guard { /* a branch in a loop, by comparisons that must all hold */
  Cg *cg;
  const FnGraph *g;
  uint32_t loop, inside; /* inside: where they hold */
  LLVMValueRef asks[MOST_EXTREMES], extremes[MOST_EXTREMES];
  unsigned nasks, n;
} Guard;

static bool is_ordered(LLVMValueRef v) {
  if (!cg_is_op(v, LLVMFCmp))
    return false;
  LLVMRealPredicate p = LLVMGetFCmpPredicate(v);
  return p == LLVMRealOLT || p == LLVMRealOLE || p == LLVMRealOGT || p == LLVMRealOGE ||
         p == LLVMRealOEQ || p == LLVMRealONE;
}

/* Notes the comparisons; what reads one reads nothing else. */
static void find_asks(Guard *u, LLVMValueRef condition, unsigned depth) {
  if (!cg_has_one_use(condition) || u->nasks == MOST_EXTREMES)
    return;
  if (is_ordered(condition))
    u->asks[u->nasks++] = condition;
  else if (depth < MOST_DEEP && LLVMTypeOf(condition) == u->cg->t.i1 && cg_is_both(condition))
    for (unsigned k = 0; k < 2; k++)
      find_asks(u, LLVMGetOperand(condition, k), depth + 1);
}

/* Is it nan where an operand is? */
static bool keeps_nan(const Cg *cg, LLVMValueRef v) {
  return LLVMTypeOf(v) == cg->t.f32 && (cg_is_op(v, LLVMFAdd) || cg_is_op(v, LLVMFSub) ||
                                        cg_is_op(v, LLVMFMul) || cg_is_op(v, LLVMFNeg));
}

static bool asks(const Guard *u, LLVMValueRef v) {
  for (unsigned k = 0; k < u->nasks; k++)
    if (u->asks[k] == v)
      return true;
  return false;
}

/* Is it a place where the comparisons hold? A phi's operands are read before. */
static bool is_inside(const Guard *u, LLVMValueRef user) {
  if (LLVMIsAPHINode(user))
    return false;
  uint32_t at = graph_number(u->g, LLVMGetInstructionParent(user));
  return at != GRAPH_NONE && graph_dominates(u->g, u->inside, at);
}

/* Does all that reads v ask by it, or is where the comparisons hold? */
static bool is_asked(const Guard *u, LLVMValueRef v, unsigned depth) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!is_inside(u, user) && !asks(u, user) &&
        !(depth < MOST_DEEP && keeps_nan(u->cg, user) && is_asked(u, user, depth + 1)))
      return false;
  }
  return true;
}

static void find_extremes(Guard *u, LLVMValueRef v, unsigned depth) {
  Extreme e;
  if (LLVMTypeOf(v) != u->cg->t.f32 || !graph_in_loop(u->g, u->loop, v))
    return;
  if (keeps_nan(u->cg, v) && depth < MOST_DEEP) {
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
      find_extremes(u, LLVMGetOperand(v, k), depth + 1);
    return;
  }
  if (!read_extreme(v, &e) || graph_in_loop(u->g, u->loop, e.kept) || !is_asked(u, v, 0))
    return;
  for (unsigned k = 0; k < u->n; k++)
    if (u->extremes[k] == v)
      return;
  if (u->n < MOST_EXTREMES)
    u->extremes[u->n++] = v;
}

/* Whether what the extremes keep are numbers, in front of the loop. */
static LLVMValueRef are_numbers(Guard *u, LLVMValueRef front) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMValueRef all = NULL;
  Extreme e;
  LLVMPositionBuilderBefore(b, front);
  for (unsigned k = 0; k < u->n; k++) {
    (void)read_extreme(u->extremes[k], &e);
    LLVMValueRef one = l_fcmp(b, LLVMRealORD, e.kept, e.kept);
    all = all ? l_and(b, all, one) : one;
  }
  return l_freeze(b, all);
}

/* A comparison that is in the loop, behind what is asked in front of it. One is: an extreme is. */
static LLVMValueRef first_inside(const Guard *u) {
  unsigned k = 0;
  while (k + 1 < u->nasks && !graph_in_loop(u->g, u->loop, u->asks[k]))
    k++;
  return graph_in_loop(u->g, u->loop, u->asks[k]) ? u->asks[k] : NULL;
}

static void ask_first(Guard *u, LLVMValueRef front) {
  Cg *cg = u->cg;
  LLVMValueRef first = first_inside(u);
  if (!first)
    return;
  LLVMValueRef numbers = are_numbers(u, front), user = LLVMGetUser(LLVMGetFirstUse(first));
  LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(first));
  LLVMValueRef both = l_and(cg->builder, first, numbers);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
    if (LLVMGetOperand(user, k) == first)
      LLVMSetOperand(user, k, both);
  for (unsigned k = 0; k < u->n; k++)
    replace(cg, u->extremes[k]);
}

static void visit_branch(Cg *cg, const FnGraph *g, const GraphNode *node) {
  Guard u = {.cg = cg, .g = g, .loop = node->loop};
  Fork fork;
  LLVMValueRef front = node->loop == GRAPH_NONE ? NULL : graph_front(g, node->loop);
  if (!front || !graph_fork(node->last, &fork) || fork.yes == fork.no)
    return;
  u.inside = graph_number(g, fork.yes);
  if (g->nodes[u.inside].npred != 1)
    return;
  find_asks(&u, fork.condition, 0);
  for (unsigned k = 0; k < u.nasks; k++)
    for (unsigned m = 0; m < 2; m++)
      find_extremes(&u, LLVMGetOperand(u.asks[k], m), 0);
  if (u.n >= LEAST_EXTREMES)
    ask_first(&u, front);
}

static void visit_branches(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; g.loops.len && k < g.len; k++)
    visit_branch(cg, &g, &g.nodes[k]);
}

void cg_nvptx_extremes(Cg *cg) {
  Extremes x = {.cg = cg, .known = {.arena = &cg->cx->arena}};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        find(&x, i);
  for (uint32_t k = 0; k < x.found.len; k++)
    replace(cg, x.found.data[k]);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      visit_branches(cg, f);
}
