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
 * What begins with a number that was read may be nan:
 *
 *   low = x[0]
 *   for k in range(1, n): low = min(low, x[k])
 *
 * If x[0] is nan so is low, all the way; else it never is. So these are one instruction each, too,
 * and what reads low behind the loop reads x[0] where that is nan. It pays where the extremes are
 * more, by the loops around them, than what reads them.
 *
 * The second of two, `if d < a: b = a; a = d; elif d < b: b = d`, is max(a, min(b, d)) while a is
 * not beyond b, which each update keeps so.
 *
 * In: a module behind coarsening. */
#include <math.h>

#include "codegen/llvm/copy.h"
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

static void write_as(Cg *cg, LLVMValueRef i, const Extreme *e, const char *name) {
  LLVMValueRef compare = LLVMGetOperand(i, 0);
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef fn = cg_intrinsic_fn(cg, name, &cg->t.f32, 1);
  LLVMReplaceAllUsesWith(i, l_call(cg->builder, fn, (LLVMValueRef[]){e->kept, e->other}, 2));
  LLVMInstructionEraseFromParent(i);
  if (!LLVMGetFirstUse(compare))
    LLVMInstructionEraseFromParent(compare);
}

static void write_extreme(Cg *cg, LLVMValueRef i, const Extreme *e) {
  write_as(cg, i, e, e->least ? "llvm.minnum" : "llvm.maxnum");
}

/* --- differences beside 0 --- */

/* max(a - b, 0.0), and the same of sums: ptxas would ask whether a > b, and select. The instruction
 * that keeps nan is there from sm_80 on. */
static void write_beside_zero(Cg *cg, LLVMValueRef i) {
  Extreme e;
  if (LLVMTypeOf(i) != cg->t.f32 || cg_nvptx_arch_number(cg) < 80 || !read_extreme(i, &e) ||
      !(cg_is_op(e.kept, LLVMFSub) || cg_is_op(e.kept, LLVMFAdd)) || !LLVMIsAConstantFP(e.other) ||
      !LLVMIsNull(e.other))
    return;
  write_as(cg, i, &e, e.least ? "llvm.minimum" : "llvm.maximum");
}

/* --- clamps by what a loop does not change ---
 *
 *   for k in range(n): total += min(x[k], most)
 *
 * The instruction that keeps nan gives nan where `most` is, and Python x[k]: as if it were inf. So
 * that is what a nan becomes in front of the loop. */

static void write_clamp(Cg *cg, const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  Extreme e;
  if (LLVMTypeOf(i) != cg->t.f32 || !read_extreme(i, &e) || LLVMIsAConstant(e.other) ||
      !graph_in_loop(g, loop, e.kept))
    return;
  LLVMValueRef front = graph_outer_front(g, loop, e.other);
  if (!front)
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, front);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(front));
  LLVMValueRef far = LLVMConstReal(cg->t.f32, e.least ? INFINITY : -INFINITY);
  e.other = l_select(b, l_fcmp(b, LLVMRealUNO, e.other, e.other), far, e.other);
  write_as(cg, i, &e, e.least ? "llvm.minimum" : "llvm.maximum");
}

static void look_at_clamps(Cg *cg, const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (LLVMValueRef i = n->loop == loop ? n->first : NULL, next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      write_clamp(cg, g, loop, i);
    }
  }
}

/* --- the pass --- */

static void find(Extremes *x, LLVMValueRef i) {
  Extreme e;
  if (LLVMTypeOf(i) == x->cg->t.f32 && read_extreme(i, &e) && is_never_nan(x, e.kept))
    VEC_PUSH(&x->cg->cx->arena, &x->found, i);
}

static void replace(Cg *cg, LLVMValueRef i) {
  Extreme e;
  if (read_extreme(i, &e))
    write_extreme(cg, i, &e);
}

/* --- the second of two extremes --- */

enum { MOST_ASSUMED = 4, MOST_UPDATES = 64 };

/* second = first if d < first else min(before, d), or the same of the greatest. */
typedef struct Second {
  LLVMValueRef first, before, number, inner; /* inner: the minimum */
  bool least;
} Second;

/* Pairs of phis that are in order in the iterations before. */
typedef struct Order {
  LLVMValueRef first[MOST_ASSUMED], second[MOST_ASSUMED];
  unsigned n;
  bool least;
} Order;

/* Is it the comparison whether d is less (more) than x, or at most equal to it? */
static bool is_beyond(LLVMValueRef compare, LLVMValueRef d, LLVMValueRef x, bool less) {
  LLVMRealPredicate p = LLVMGetFCmpPredicate(compare);
  bool is_less = p == LLVMRealOLT || p == LLVMRealOLE,
       is_more = p == LLVMRealOGT || p == LLVMRealOGE;
  LLVMValueRef a = LLVMGetOperand(compare, 0), b = LLVMGetOperand(compare, 1);
  return (a == d && b == x && (less ? is_less : is_more)) ||
         (a == x && b == d && (less ? is_more : is_less));
}

static bool read_second(LLVMValueRef v, Second *s) {
  Extreme e, inner;
  LLVMValueRef compare = cg_is_op(v, LLVMSelect) ? LLVMGetOperand(v, 0) : NULL;
  if (read_extreme(v, &e)) { /* it has been written */
    bool is = read_extreme(e.other, &inner) && inner.least != e.least;
    *s = (Second){e.kept, inner.kept, inner.other, e.other, inner.least};
    return is;
  }
  if (!compare || !cg_is_op(compare, LLVMFCmp) || !read_extreme(LLVMGetOperand(v, 2), &e))
    return false;
  *s = (Second){LLVMGetOperand(v, 1), e.kept, e.other, LLVMGetOperand(v, 2), e.least};
  return is_beyond(compare, s->number, s->first, s->least);
}

static bool are_constants_in_order(const Order *o, LLVMValueRef first, LLVMValueRef second) {
  if (!LLVMIsAConstantFP(first) || !LLVMIsAConstantFP(second))
    return false;
  LLVMBool loses;
  double a = LLVMConstRealGetDouble(first, &loses), b = LLVMConstRealGetDouble(second, &loses);
  return o->least ? a <= b : a >= b;
}

static bool is_in_order(Order *o, LLVMValueRef first, LLVMValueRef second, unsigned updates);

/* Two phis of a block are, if they are on each of its edges. */
static bool are_phis_in_order(Order *o, LLVMValueRef first, LLVMValueRef second, unsigned updates) {
  for (unsigned k = 0; k < o->n; k++)
    if (o->first[k] == first && o->second[k] == second)
      return true;
  if (o->n == MOST_ASSUMED || LLVMGetInstructionParent(first) != LLVMGetInstructionParent(second))
    return false;
  o->first[o->n] = first;
  o->second[o->n++] = second;
  bool right = true;
  for (unsigned k = 0; k < LLVMCountIncoming(first) && right; k++)
    right = is_in_order(o, LLVMGetIncomingValue(first, k),
                        graph_incoming(second, LLVMGetIncomingBlock(first, k)), updates);
  return right;
}

/* Is the second never beyond the first, if neither is nan? Each update keeps it so. */
static bool is_in_order(Order *o, LLVMValueRef first, LLVMValueRef second, unsigned updates) {
  Extreme e;
  Second s;
  if (!second || !updates)
    return false;
  if (first == second || LLVMIsPoison(first) || LLVMIsPoison(second) ||
      are_constants_in_order(o, first, second))
    return true;
  if (LLVMIsAPHINode(first) && LLVMIsAPHINode(second))
    return are_phis_in_order(o, first, second, updates - 1);
  if (!read_extreme(first, &e) || e.least != o->least)
    return false;
  if (read_second(second, &s) && s.least == o->least && s.first == e.kept && s.number == e.other)
    return is_in_order(o, s.first, s.before, updates - 1);
  return is_in_order(o, e.kept, second, updates - 1);
}

/* first if d < first else min(second, d) is max(first, min(second, d)): written as a comparison of
 * the two. */
static void write_second(Extremes *x, LLVMValueRef i) {
  Extreme e;
  Second s;
  if (LLVMTypeOf(i) != x->cg->t.f32 || read_extreme(i, &e) || !read_second(i, &s))
    return;
  Order o = {.least = s.least};
  if (!is_in_order(&o, s.first, s.before, MOST_UPDATES) || !is_never_nan(x, s.first) ||
      !is_never_nan(x, s.before))
    return;
  LLVMBuilderRef b = x->cg->builder;
  LLVMPositionBuilderBefore(b, i);
  LLVMSetOperand(i, 0, l_fcmp(b, s.least ? LLVMRealOGT : LLVMRealOLT, s.inner, s.first));
  LLVMSetOperand(i, 1, s.inner);
  LLVMSetOperand(i, 2, s.first);
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

/* --- extremes that all begin with one number --- */

enum {
  MOST_CHAINED = 64,
  MOST_RESTORED = 16,
  MOST_READERS = 64,
  MOST_TRIES = 4,
  LOOP_WEIGHT = 8,
  MOST_LOOPS = 4
};

/* A value of a chain as it was, where something else than the chain reads it. */
typedef struct Restored {
  LLVMValueRef value, made;
  LLVMBasicBlockRef block;
} Restored;

typedef struct Reader {
  LLVMValueRef user;
  unsigned operand, restored;
} Reader;

typedef struct Chain {
  Cg *cg;
  const FnGraph *g;
  LLVMValueRef root;                 /* NULL: not known yet */
  LLVMValueRef values[MOST_CHAINED]; /* extremes, and phis and selections of these and the root */
  Restored restored[MOST_RESTORED];
  Reader readers[MOST_READERS];
  unsigned n, nrestored, nreaders;
} Chain;

static bool is_choice(LLVMValueRef v) { return LLVMIsAPHINode(v) || cg_is_op(v, LLVMSelect); }

/* The value for which an extreme keeps its place: what it gives if one is nan. */
static bool is_kept(LLVMValueRef user, LLVMValueRef v) {
  Extreme e;
  return read_extreme(user, &e) && e.kept == v;
}

static bool in_chain(const Chain *c, LLVMValueRef v) {
  for (unsigned k = 0; k < c->n; k++)
    if (c->values[k] == v)
      return true;
  return false;
}

/* What is no choice is what the chain begins with: one value. */
static bool add_to_chain(Chain *c, LLVMValueRef v) {
  if (v == c->root || LLVMIsPoison(v) || in_chain(c, v))
    return true;
  if (!is_choice(v)) {
    bool first = !c->root && (LLVMIsAInstruction(v) || LLVMIsAArgument(v));
    c->root = first ? v : c->root;
    return first;
  }
  if (c->n == MOST_CHAINED)
    return false;
  c->values[c->n++] = v;
  return true;
}

/* What v is made of, and the extremes that keep it. */
static bool add_around(Chain *c, LLVMValueRef v) {
  Extreme e;
  bool right = true;
  if (LLVMIsAPHINode(v))
    for (unsigned k = 0; k < LLVMCountIncoming(v) && right; k++)
      right = add_to_chain(c, LLVMGetIncomingValue(v, k));
  else if (read_extreme(v, &e))
    right = e.kept != e.other && add_to_chain(c, e.kept);
  else
    right = add_to_chain(c, LLVMGetOperand(v, 1)) && add_to_chain(c, LLVMGetOperand(v, 2));
  for (LLVMUseRef u = LLVMGetFirstUse(v); u && right; u = LLVMGetNextUse(u))
    if (is_kept(LLVMGetUser(u), v))
      right = add_to_chain(c, LLVMGetUser(u));
  return right;
}

/* A comparison of which only extremes of the chain are made. */
static bool is_dropped(const Chain *c, LLVMValueRef compare) {
  Extreme e;
  for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u))
    if (!in_chain(c, LLVMGetUser(u)) || !read_extreme(LLVMGetUser(u), &e))
      return false;
  return true;
}

/* Where does the user, by operand k, need v as it was? NULL: it is of the chain, which does not. */
static LLVMBasicBlockRef read_in(const Chain *c, LLVMValueRef v, LLVMValueRef user, unsigned k) {
  Extreme e;
  bool inside = in_chain(c, user);
  if (inside ? !read_extreme(user, &e) || e.kept == v
             : LLVMIsAFCmpInst(user) && is_dropped(c, user))
    return NULL;
  return LLVMIsAPHINode(user) ? LLVMGetIncomingBlock(user, k) : LLVMGetInstructionParent(user);
}

/* Its number; MOST_RESTORED: there are too many. */
static unsigned restored_in(Chain *c, LLVMValueRef v, LLVMBasicBlockRef block) {
  unsigned k = 0;
  while (k < c->nrestored && (c->restored[k].value != v || c->restored[k].block != block))
    k++;
  if (k == c->nrestored && k < MOST_RESTORED)
    c->restored[c->nrestored++] = (Restored){.value = v, .block = block};
  return k;
}

static bool find_readers(Chain *c, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    unsigned k = 0;
    while (LLVMGetOperandUse(user, k) != u)
      k++;
    LLVMBasicBlockRef block = read_in(c, v, user, k);
    if (!block)
      continue;
    unsigned r = restored_in(c, v, block);
    if (r == MOST_RESTORED || c->nreaders == MOST_READERS ||
        graph_number(c->g, block) == GRAPH_NONE)
      return false;
    c->readers[c->nreaders++] = (Reader){user, k, r};
  }
  return true;
}

static bool is_root_there(const Chain *c, LLVMValueRef v) {
  LLVMBasicBlockRef from = LLVMIsAInstruction(c->root) ? LLVMGetInstructionParent(c->root) : NULL,
                    to = LLVMGetInstructionParent(v);
  if (from == to) /* a phi there is of the root of an iteration before */
    return !LLVMIsAPHINode(v) && copy_is_behind(c->root, v);
  return !from || graph_dominates(c->g, graph_number(c->g, from), graph_number(c->g, to));
}

static unsigned weight_in(const Chain *c, LLVMBasicBlockRef block) {
  unsigned weight = 1;
  for (uint32_t k = 0; k < c->g->nodes[graph_number(c->g, block)].depth && k < MOST_LOOPS; k++)
    weight *= LOOP_WEIGHT;
  return weight;
}

/* Instructions: one for each extreme, which has two now; the question whether the root is nan, and
 * a selection by it. */
static bool gains(const Chain *c) {
  Extreme e;
  unsigned now = LLVMIsAInstruction(c->root) ? weight_in(c, LLVMGetInstructionParent(c->root)) : 1,
           saved = 0;
  for (unsigned k = 0; k < c->nrestored; k++)
    now += weight_in(c, c->restored[k].block);
  for (unsigned k = 0; k < c->n; k++)
    saved += read_extreme(c->values[k], &e) ? weight_in(c, LLVMGetInstructionParent(c->values[k]))
                                            : 0;
  return saved > now;
}

/* All of the chain of i; false: it begins with several numbers, or is too long. */
static bool find_chain(Chain *c, LLVMValueRef i) {
  Extreme e;
  for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
    c->n = 0;
    bool right = add_to_chain(c, i);
    unsigned k = 0;
    while (right && k < c->n && (right = add_around(c, c->values[k])))
      k++;
    if (right || c->n == MOST_CHAINED || read_extreme(c->values[k], &e))
      return right && c->root;
    c->root = c->values[k]; /* a choice between several */
  }
  return false;
}

static bool read_chain(Chain *c, LLVMValueRef i) {
  bool right = find_chain(c, i);
  for (unsigned k = 0; k < c->n && right; k++)
    right = graph_number(c->g, LLVMGetInstructionParent(c->values[k])) != GRAPH_NONE &&
            is_root_there(c, c->values[k]) && find_readers(c, c->values[k]);
  return right && gains(c);
}

/* Behind v in its block, in front in others. */
static void go_behind(LLVMBuilderRef b, LLVMValueRef v, LLVMBasicBlockRef block) {
  bool here = LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == block && !LLVMIsAPHINode(v);
  LLVMPositionBuilderBefore(b, here ? LLVMGetNextInstruction(v) : graph_behind_phis(block));
  LLVMSetCurrentDebugLocation2(b, NULL);
}

/* If the root is nan so were all of the chain. */
static void write_restored(Chain *c) {
  LLVMBuilderRef b = c->cg->builder;
  go_behind(b, c->root,
            LLVMIsAInstruction(c->root) ? LLVMGetInstructionParent(c->root)
                                        : LLVMGetEntryBasicBlock(LLVMGetParamParent(c->root)));
  LLVMValueRef nan = l_fcmp(b, LLVMRealUNO, c->root, c->root);
  for (unsigned k = 0; k < c->nrestored; k++) {
    Restored *r = &c->restored[k];
    go_behind(b, r->value, r->block);
    r->made = l_select(b, nan, c->root, r->value);
  }
  for (unsigned k = 0; k < c->nreaders; k++)
    LLVMSetOperand(c->readers[k].user, c->readers[k].operand,
                   c->restored[c->readers[k].restored].made);
}

static void write_chain(Chain *c) {
  Extreme e[MOST_CHAINED];
  unsigned kept[MOST_CHAINED]; /* an operand; 0: it is no extreme */
  for (unsigned k = 0; k < c->n; k++) {
    kept[k] = read_extreme(c->values[k], &e[k]);
    kept[k] += kept[k] && LLVMGetOperand(c->values[k], 1) != e[k].kept;
  }
  write_restored(c);
  for (unsigned k = 0; k < c->n; k++)
    if (kept[k]) {
      e[k].kept = LLVMGetOperand(c->values[k], kept[k]);
      e[k].other = LLVMGetOperand(c->values[k], 3 - kept[k]);
      write_extreme(c->cg, c->values[k], &e[k]);
    }
}

static void visit_chains(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  ValueMap done = {.arena = &cg->cx->arena};
  VEC(LLVMValueRef) all = {0};
  Extreme e;
  graph_loops(&g);
  for (uint32_t k = 0; k < g.len; k++)
    for (LLVMValueRef i = g.nodes[k].first; i; i = LLVMGetNextInstruction(i))
      if (LLVMTypeOf(i) == cg->t.f32 && read_extreme(i, &e))
        VEC_PUSH(&cg->cx->arena, &all, i);
  for (uint32_t k = 0; k < all.len; k++) {
    Chain c = {.cg = cg, .g = &g};
    if (valuemap_get(&done, all.data[k]) != VALUEMAP_NONE || !read_chain(&c, all.data[k]))
      continue;
    for (unsigned n = 0; n < c.n; n++)
      valuemap_set(&done, c.values[n], 1);
    write_chain(&c);
  }
}

void cg_nvptx_extremes(Cg *cg) {
  Extremes x = {.cg = cg, .known = {.arena = &cg->cx->arena}};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        write_second(&x, i);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        find(&x, i);
  for (uint32_t k = 0; k < x.found.len; k++)
    replace(cg, x.found.data[k]);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        write_beside_zero(cg, i);
      }
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) {
      visit_branches(cg, f);
      visit_chains(cg, f);
    }
  if (cg_nvptx_arch_number(cg) >= 80)
    graph_each_loop(cg, look_at_clamps);
}
