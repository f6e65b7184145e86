/* NVPTX local rings: small local arrays that a loop of unknown length goes through in circles.
 *
 *   for k in range(rounds):        rounds is known at run time
 *     w[k % 16] += w[(k + 1) % 16]
 *
 * local_unroll.c makes registers of an array whose loops end. Here the loop may go on for ever, but
 * its indices repeat: after 16 iterations they are what they were. So it becomes two loops, an
 * inner one of at most 16 iterations and one around it, and the indices count from the inner
 * one's beginning:
 *
 *   while True:
 *     for j in range(16):
 *       w[j % 16] += w[(j + 1) % 16]
 *       k += 1
 *       if k == rounds: leave both
 *
 * The inner one ends as local_unroll.c wants it. Where the length is a count, circles run as long
 * as all of one is left, without a test in between, and the rest has a loop of its own. Other
 * loops over such an array, which fill it with as many words as were given, have no more
 * iterations than the array has places: each iteration accesses one, and an access out of bounds
 * is undefined. They get that as a second end.
 *
 * An index repeats if it is made of one counter with constant start and step, and of its low bits
 * only (masks, shifts, sums and products keep them), or of its rest by a constant, before which
 * nothing may wrap around. What it is at the same place of another circle is then equal, whatever
 * the counter is by then. Or it is made of a place that is a function of the place before and
 * comes back to where it started: `at = at + 1 if at < 15 else 0`. Counters of loops whose length
 * is known may be in it, too, as of an inner loop over all of a delay line.
 *
 * In: the arrays that local_unroll.c has not chosen. Out: loops in loops, which it looks at again;
 * a wrong guess of what it will do with them costs time only. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_PERIOD = 64,
  MOST_ITERATIONS = 64,  /* of a loop that ends with the array */
  MOST_TRIPS = 256,      /* of one that a counter ends, as in local_unroll.c */
  MOST_CODE = 2500,      /* of LLVM's a circle; the instruction cache has some 2,000 of ptxas's */
  MAX_DEPTH = 10,        /* of an index's expression */
  MOST_NUMBER = 1 << 16, /* a counter's start and step, what is added to it in front of a rest */
};

typedef struct Counter { /* a phi of the loop's header */
  LLVMValueRef phi;
  int64_t start, step; /* start + step * iterations; step 0: another, which turns */
  uint32_t turn;       /* after so many iterations it is what it was at the start */
  bool exact;          /* it is never negative, and does not wrap around */
} Counter;

typedef struct Index { /* of an access */
  const LocalAccess *access;
  uint32_t loop;
  Counter counter;
} Index;

typedef struct Shape {  /* what a loop becomes */
  uint32_t period, end; /* end: no iteration is behind that many; 0: not known */
  uint32_t size;        /* instructions, of the loops in it, too */
  uint32_t trips;       /* as its counter alone decides; 0: it does not, or they are many */
} Shape;

typedef struct Rings {
  Cg *cg;
  const FnGraph *g;
  Shape *shapes; /* of loops */
  VEC(Index) indices;
} Rings;

/* --- counters --- */

static bool is_small(int64_t n) { return n >= -MOST_NUMBER && n <= MOST_NUMBER; }

/* The loop's only latch; NULL: there are several. */
static const GraphNode *latch_of(const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  return l->nlatches == 1 ? &g->nodes[l->latches[0]] : NULL;
}

/* What the phi of the loop's header is at first, and then. */
static bool read_steps(const FnGraph *g, uint32_t loop, LLVMValueRef phi, int64_t *start,
                       LLVMValueRef *next) {
  const GraphNode *latch = latch_of(g, loop);
  LLVMValueRef front = graph_front(g, loop);
  if (!latch || !front || LLVMCountIncoming(phi) != 2)
    return false;
  LLVMValueRef first = graph_incoming(phi, LLVMGetInstructionParent(front));
  *next = graph_incoming(phi, latch->block);
  if (!first || !LLVMIsAConstantInt(first) || !*next)
    return false;
  *start = cg_int_value(first);
  return true;
}

/* The loop at or around this one of whose header the phi is. */
static uint32_t loop_of(const FnGraph *g, uint32_t from, LLVMValueRef phi) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);
  while (from != GRAPH_NONE && g->nodes[g->loops.data[from].header].block != block)
    from = g->loops.data[from].parent;
  return from;
}

typedef struct Leaf { /* the only phi that an expression is made of */
  LLVMValueRef phi;
  uint32_t loop;
} Leaf;

/* Is v, in that loop, made of constants and one phi of a header, beside those of loops that count?
 */
static bool is_of_one(const Rings *r, uint32_t from, LLVMValueRef v, Leaf *leaf, unsigned depth) {
  if (LLVMIsAConstantInt(v))
    return true;
  if (!LLVMIsAInstruction(v) || !cg_int_width(v) || cg_int_width(v) > 64 || depth == MAX_DEPTH)
    return false;
  if (LLVMIsAPHINode(v)) {
    uint32_t loop = loop_of(r->g, from, v);
    bool counts = loop != GRAPH_NONE && r->shapes[loop].trips;
    if (loop == GRAPH_NONE || (!counts && leaf->phi && leaf->phi != v))
      return false;
    *leaf = counts ? *leaf : (Leaf){v, loop};
    return true;
  }
  if (!LLVMIsABinaryOperator(v) && !LLVMIsACastInst(v) && !LLVMIsAICmpInst(v) &&
      !LLVMIsASelectInst(v))
    return false;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    if (!is_of_one(r, from, LLVMGetOperand(v, k), leaf, depth + 1))
      return false;
  return true;
}

/* After how many iterations the phi is what it was at the start: of a place that begins anew at an
 * array's end. 0: they are many, or not known. */
static uint32_t turn_of(const Rings *r, uint32_t loop, LLVMValueRef phi) {
  int64_t start, n;
  LLVMValueRef next;
  Leaf leaf = {0};
  if (!read_steps(r->g, loop, phi, &start, &next) || !is_of_one(r, loop, next, &leaf, 0) ||
      leaf.phi != phi)
    return 0;
  n = start;
  for (uint32_t k = 1; k <= MOST_PERIOD && cg_value_at(next, phi, n, &n); k++)
    if (n == start)
      return k;
  return 0;
}

static bool read_counter(const Rings *r, uint32_t loop, LLVMValueRef phi, Counter *c) {
  LLVMValueRef next;
  int64_t start;
  if (!read_steps(r->g, loop, phi, &start, &next))
    return false;
  *c = (Counter){.phi = phi, .start = start, .turn = turn_of(r, loop, phi)};
  if (c->turn || !cg_is_op(next, LLVMAdd) || LLVMGetOperand(next, 0) != phi ||
      !LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
    return c->turn;
  c->step = cg_int_value(LLVMGetOperand(next, 1));
  c->exact = start >= 0 && c->step > 0 && LLVMGetNSW(next);
  return is_small(start) && is_small(c->step) && c->step;
}

/* --- periods, as differences of the counter --- */

static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }

/* 0: there is none, or it is too long. */
static uint64_t together(uint64_t a, uint64_t b) {
  uint64_t all = a && b ? a / divisor(a, b) * b : 0;
  return all <= MOST_NUMBER ? all : 0;
}

/* The most that v is in a circle from the counter's start on, if it is the counter, or sums and
 * products of it with constants, of which none is negative, wraps around, or is large in such a
 * circle; else -1. */
static int64_t exact_bound(const Counter *c, LLVMValueRef v) {
  if (LLVMIsAZExtInst(v))
    return exact_bound(c, LLVMGetOperand(v, 0));
  if (v == c->phi)
    return c->exact ? c->start + c->step * MOST_PERIOD : -1;
  bool adds = cg_is_op(v, LLVMAdd);
  if (!(adds || cg_is_op(v, LLVMMul)) || !LLVMGetNUW(v) ||
      !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
    return -1;
  int64_t n = cg_int_value(LLVMGetOperand(v, 1)), of = exact_bound(c, LLVMGetOperand(v, 0));
  if (of < 0 || n < 0 || !is_small(n))
    return -1;
  of = adds ? of + n : of * n;
  return of <= INT32_MAX ? of : -1;
}

static uint64_t period_of(const Counter *c, LLVMValueRef v, unsigned bits);

/* Of the sum, product or other operation of which each bit depends on no higher ones. */
static uint64_t period_of_both(const Counter *c, LLVMValueRef v, unsigned bits) {
  return together(period_of(c, LLVMGetOperand(v, 0), bits),
                  period_of(c, LLVMGetOperand(v, 1), bits));
}

static unsigned length_of(uint64_t n) {
  unsigned bits = 0;
  for (; n; n >>= 1)
    bits++;
  return bits;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* The bits that a mask leaves; 64: it is none, or negative. */
static unsigned masked_bits(LLVMValueRef v) {
  LLVMValueRef mask = LLVMGetOperand(v, 1);
  int64_t n = LLVMIsAConstantInt(mask) ? cg_int_value(mask) : -1;
  return n < 0 ? 64 : length_of((uint64_t)n);
}

static uint64_t period_of_shift(const Counter *c, LLVMValueRef v, unsigned bits) {
  LLVMValueRef by = LLVMGetOperand(v, 1), x = LLVMGetOperand(v, 0);
  int64_t n = LLVMIsAConstantInt(by) ? cg_int_value(by) : -1;
  if (n < 0 || n >= cg_int_width(v))
    return 0;
  if (cg_is_op(v, LLVMShl))
    return bits <= n ? 1 : period_of(c, x, bits - (unsigned)n);
  return period_of(c, x, least(bits + (unsigned)n, cg_int_width(v)));
}

/* Of a rest. */
static uint64_t period_of_rest(const Counter *c, LLVMValueRef v) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  int64_t n = LLVMIsAConstantInt(by) ? cg_int_value(by) : 0;
  bool wide = cg_int_width(v) >= 32 && cg_int_width(c->phi) >= 32;
  return n > 0 && is_small(n) && wide && exact_bound(c, LLVMGetOperand(v, 0)) >= 0 ? (uint64_t)n
                                                                                   : 0;
}

/* A number by which the counter may differ, so that the low bits of v are the same; 0: not known.
 */
static uint64_t period_of(const Counter *c, LLVMValueRef v, unsigned bits) {
  if (LLVMIsAConstantInt(v) || !bits)
    return 1;
  if (LLVMIsAPHINode(v)) /* others are of loops that count */
    return v != c->phi ? 1 : bits <= 16 ? (uint64_t)1 << bits : 0;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAnd: return period_of_both(c, v, least(bits, masked_bits(v)));
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMOr:
  case LLVMXor: return period_of_both(c, v, bits);
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr: return period_of_shift(c, v, bits);
  case LLVMTrunc: return period_of(c, LLVMGetOperand(v, 0), bits);
  case LLVMZExt:
  case LLVMSExt: {
    LLVMValueRef x = LLVMGetOperand(v, 0);
    return period_of(c, x, least(bits, cg_int_width(x)));
  }
  case LLVMURem: return period_of_rest(c, v);
  default: return 0;
  }
}

/* In iterations. */
static uint64_t iterations_of(const Counter *c, LLVMValueRef index) {
  if (c->turn)
    return c->turn;
  uint64_t period = period_of(c, index, cg_int_width(index));
  uint64_t step = (uint64_t)(c->step < 0 ? -c->step : c->step);
  return period ? period / divisor(period, step) : 0;
}

/* --- loops --- */

static bool is_inside(const FnGraph *g, uint32_t loop, uint32_t node) {
  return graph_in_loop(g, loop, g->nodes[node].last);
}

/* Does each iteration come to the node, whatever else it does? */
static bool is_always_met(const FnGraph *g, uint32_t loop, uint32_t node) {
  const GraphLoop *l = &g->loops.data[loop];
  if (!l->innermost)
    return false;
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    bool leaves = l->nodes[k] == l->latches[0];
    for (uint32_t s = 0; s < n->nsucc; s++)
      leaves |= !is_inside(g, loop, n->succ[s]);
    if (leaves && !graph_dominates(g, node, l->nodes[k]))
      return false;
    for (LLVMValueRef i = n->first; i; i = LLVMGetNextInstruction(i))
      if (LLVMIsACallInst(i) && !cg_only_computes(i))
        return false; /* from which it need not come back */
  }
  return true;
}

/* How many iterations access a place of the array, if all of them make this access; 0: more than
 * are looked at, or none. */
static uint32_t places_of(const Rings *r, const LocalArray *a, const Index *x) {
  int64_t size = (int64_t)LLVMABISizeOfType(r->cg->layout, cg_local_type(x->access)), at;
  for (int64_t k = 0; k <= MOST_ITERATIONS; k++) {
    const Counter *c = &x->counter;
    if (!cg_value_at(x->access->index, c->phi, c->start + c->step * k, &at) || !is_small(at))
      return 0;
    at = x->access->offset + x->access->scale * at;
    if (at < 0 || at + size > (int64_t)a->bytes)
      return (uint32_t)k;
  }
  return 0;
}

/* Adds what the access asks of the loop of unknown length whose counter is in its index. */
static bool read_access(Rings *r, const LocalArray *a, const LocalAccess *access) {
  uint32_t node = graph_number(r->g, LLVMGetInstructionParent(access->ins));
  Leaf leaf = {0};
  if (!access->index)
    return true;
  if (node == GRAPH_NONE || !cg_int_width(access->index) ||
      !is_of_one(r, r->g->nodes[node].loop, access->index, &leaf, 0))
    return false;
  Index x = {.access = access, .loop = leaf.loop};
  if (!leaf.phi) /* local_unroll.c knows all of it */
    return true;
  if (!read_counter(r, x.loop, leaf.phi, &x.counter))
    return false;
  Shape *s = &r->shapes[x.loop];
  uint64_t period = iterations_of(&x.counter, access->index);
  uint32_t end = period || !is_always_met(r->g, x.loop, node) ? 0 : places_of(r, a, &x);
  if (end)
    s->end = s->end && s->end < end ? s->end : end;
  else
    s->period = (uint32_t)together(s->period, period);
  VEC_PUSH(&r->cg->cx->arena, &r->indices, x);
  return end || s->period;
}

/* How often the loop runs if one of its counters, from a constant on, ends it. */
static uint32_t trips_of(const Rings *r, uint32_t loop) {
  const GraphLoop *l = &r->g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &r->g->nodes[l->nodes[k]];
    Fork fork;
    Leaf leaf = {0};
    LLVMValueRef next;
    int64_t at, stays;
    if (n->loop != loop || !graph_fork(n->last, &fork) ||
        is_inside(r->g, loop, n->succ[0]) == is_inside(r->g, loop, n->succ[1]) ||
        !is_of_one(r, loop, fork.condition, &leaf, 0) || leaf.loop != loop || !leaf.phi ||
        !read_steps(r->g, loop, leaf.phi, &at, &next) || !is_of_one(r, loop, next, &leaf, 0))
      continue;
    bool yes = is_inside(r->g, loop, graph_number(r->g, fork.yes));
    for (uint32_t t = 1; t <= MOST_TRIPS && cg_value_at(fork.condition, leaf.phi, at, &stays); t++)
      if ((stays != 0) != yes)
        return t;
      else if (!cg_value_at(next, leaf.phi, at, &at))
        break;
  }
  return 0;
}

static void measure(Rings *r) {
  const FnGraph *g = r->g;
  for (uint32_t k = 0; k < g->loops.len; k++)
    r->shapes[k] = (Shape){.period = 1};
  for (uint32_t k = 0; k < g->loops.len; k++)
    r->shapes[k].trips = trips_of(r, k);
  for (uint32_t k = 0; k < g->len; k++) {
    const GraphNode *n = &g->nodes[k];
    for (LLVMValueRef i = n->first; i && n->loop != GRAPH_NONE; i = LLVMGetNextInstruction(i))
      r->shapes[n->loop].size += !LLVMIsAPHINode(i);
  }
  for (uint32_t k = g->loops.len; k-- > 0;)
    if (g->loops.data[k].parent != GRAPH_NONE)
      r->shapes[g->loops.data[k].parent].size += r->shapes[k].size *
                                                 (r->shapes[k].trips ? r->shapes[k].trips : 1);
}

static bool fits(const Shape *s) {
  uint64_t copies = s->end ? s->end : s->period;
  return copies <= MOST_PERIOD && s->size * copies <= MOST_CODE;
}

/* Does the array become registers if its loops get these shapes? Then they keep them. */
static bool read_array(Rings *r, const LocalArray *a) {
  Shape *before = r->shapes;
  uint32_t known = r->indices.len;
  bool circles = false, right = true;
  r->shapes = ARENA_ARRAY(&r->cg->cx->arena, Shape, r->g->loops.len);
  for (uint32_t k = 0; k < r->g->loops.len; k++)
    r->shapes[k] = before[k];
  for (uint32_t k = 0; k < a->accesses.len && right; k++)
    right = read_access(r, a, &a->accesses.data[k]);
  for (uint32_t k = known; k < r->indices.len && right; k++) {
    const Shape *s = &r->shapes[r->indices.data[k].loop];
    circles |= !s->end;
    right = fits(s);
  }
  if (right && circles)
    return true;
  r->shapes = before;
  r->indices.len = known;
  return false;
}

/* --- how many iterations are left --- */

typedef struct Length { /* the loop goes on until `next` is `end` */
  LLVMValueRef end;
  unsigned counter; /* the number of its phi */
  int64_t step;
} Length;

/* Is v used behind the loop only by phis where it ends, as what they are then? */
static bool is_closed(const FnGraph *g, uint32_t loop, LLVMValueRef v, LLVMBasicBlockRef exit) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (graph_in_loop(g, loop, by))
      continue;
    if (!LLVMIsAPHINode(by) || LLVMGetInstructionParent(by) != exit)
      return false;
    for (unsigned k = 0; k < LLVMCountIncoming(by); k++)
      if (LLVMGetIncomingValue(by, k) == v &&
          LLVMGetIncomingBlock(by, k) != latch_of(g, loop)->block)
        return false;
  }
  return true;
}

/* Does the loop end at its latch only, all of whose values that are used behind it are phis there?
 */
static bool has_one_exit(const FnGraph *g, uint32_t loop, LLVMBasicBlockRef exit) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (uint32_t s = 0; s < n->nsucc; s++)
      if (!is_inside(g, loop, n->succ[s]) && l->nodes[k] != l->latches[0])
        return false;
    for (LLVMValueRef i = n->first; i; i = LLVMGetNextInstruction(i))
      if (!is_closed(g, loop, i, exit))
        return false;
  }
  return true;
}

/* So many iterations, by step, as the end is away from the counter: it does not wrap around. */
static bool read_length(const Rings *r, uint32_t loop, Length *length) {
  const FnGraph *g = r->g;
  const GraphNode *latch = latch_of(g, loop);
  LLVMBasicBlockRef header = g->nodes[g->loops.data[loop].header].block;
  Fork fork;
  Counter c;
  if (!graph_fork(latch->last, &fork) || !LLVMIsAICmpInst(fork.condition) ||
      (fork.yes == header) == (fork.no == header) ||
      LLVMGetICmpPredicate(fork.condition) != (fork.yes == header ? LLVMIntNE : LLVMIntEQ) ||
      !has_one_exit(g, loop, fork.yes == header ? fork.no : fork.yes))
    return false;
  LLVMValueRef next = LLVMGetOperand(fork.condition, 0);
  length->end = LLVMGetOperand(fork.condition, 1);
  length->counter = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(header); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i), length->counter++)
    if (graph_incoming(i, latch->block) == next && read_counter(r, loop, i, &c)) {
      length->step = c.step;
      return c.exact && !c.turn && !graph_in_loop(g, loop, length->end);
    }
  return false;
}

/* --- writing --- */

typedef struct Turn { /* one of the loops that are made of one */
  LLVMBasicBlockRef header, latch;
  LLVMValueRef iteration; /* stands for its counter, until that is written */
} Turn;

static LLVMBasicBlockRef block_before(const Cg *cg, LLVMBasicBlockRef before) {
  return LLVMInsertBasicBlockInContext(cg->context, before, "");
}

/* The loop, which came from one block, comes from another one, with these values, and goes out
 * behind so many iterations; *last: the values by then. */
static void write_turn(Cg *cg, const Turn *t, LLVMBasicBlockRef from, const LLVMValueRef *first,
                       LLVMValueRef *last, uint32_t count, LLVMBasicBlockRef out) {
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef again = block_before(cg, t->header), both[] = {from, again};
  LLVMValueRef end = LLVMGetBasicBlockTerminator(t->latch), of[2];
  unsigned n = 0;
  LLVMSetCurrentDebugLocation2(b, NULL);
  for (LLVMValueRef i = LLVMGetFirstInstruction(t->header), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    of[0] = first[n], of[1] = graph_incoming(i, t->latch);
    LLVMPositionBuilderBefore(b, i);
    LLVMValueRef now = l_phi(b, LLVMTypeOf(i));
    LLVMAddIncoming(now, of, both, 2);
    LLVMReplaceAllUsesWith(i, now);
    LLVMInstructionEraseFromParent(i);
    last[n++] = now;
  }
  for (unsigned k = 0; k < n; k++)
    last[k] = graph_incoming(last[k], again);
  cg_unmark(cg, end);
  graph_redirect(end, t->header, again);
  LLVMTypeRef type = LLVMTypeOf(t->iteration);
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(t->header));
  LLVMValueRef counter = l_phi(b, type);
  LLVMReplaceAllUsesWith(t->iteration, counter);
  LLVMInstructionEraseFromParent(t->iteration);
  l_at_end(b, again, NULL);
  of[0] = l_int(type, 0), of[1] = l_add_nuw(b, counter, l_int(type, 1));
  LLVMAddIncoming(counter, of, both, 2);
  l_condbr(b, l_icmp(b, LLVMIntEQ, of[1], l_int(type, count)), out, t->header);
}

/* Where control does not come. */
static LLVMBasicBlockRef write_nowhere(Cg *cg, LLVMBasicBlockRef before) {
  LLVMBasicBlockRef nowhere = block_before(cg, before);
  l_at_end(cg->builder, nowhere, NULL);
  l_unreachable(cg->builder);
  return nowhere;
}

/* The expression where the counter is another. */
static LLVMValueRef copy_index(LLVMBuilderRef b, LLVMValueRef v, LLVMValueRef phi,
                               LLVMValueRef now) {
  if (LLVMIsAPHINode(v) || LLVMIsAConstantInt(v))
    return v == phi ? now : v;
  LLVMValueRef x = copy_index(b, LLVMGetOperand(v, 0), phi, now);
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  if (LLVMGetNumOperands(v) < 2)
    return l_cast(b, op, x, LLVMTypeOf(v));
  return l_binop(b, op, x, copy_index(b, LLVMGetOperand(v, 1), phi, now));
}

/* The address in which the access has its index. */
static LLVMValueRef address_of(const LocalAccess *a) {
  LLVMValueRef v = LLVMGetOperand(a->ins, LLVMIsAStoreInst(a->ins) ? 1 : 0);
  while (cg_is_op(v, LLVMGetElementPtr) && LLVMGetOperand(v, 1) != a->index)
    v = LLVMGetOperand(v, 0);
  return cg_is_op(v, LLVMGetElementPtr) ? v : NULL;
}

/* Indices of the loop count from the beginning of a circle, `iteration` iterations ago. */
static void write_indices(const Rings *r, uint32_t loop, LLVMValueRef iteration) {
  LLVMBuilderRef b = r->cg->builder;
  for (uint32_t k = 0; k < r->indices.len; k++) {
    const Index *x = &r->indices.data[k];
    LLVMValueRef address = x->loop == loop && !x->counter.turn ? address_of(x->access) : NULL;
    if (!address) /* that of two accesses */
      continue;
    LLVMPositionBuilderBefore(b, address);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(address));
    LLVMTypeRef type = LLVMTypeOf(x->counter.phi);
    LLVMValueRef now = l_mul(b, l_int_cast(b, iteration, type, false),
                             l_int(type, (uint64_t)x->counter.step));
    now = l_add(b, now, l_int(type, (uint64_t)x->counter.start));
    LLVMSetOperand(address, 1, copy_index(b, x->access->index, x->counter.phi, now));
  }
}

/* A copy of the loop without its end, for circles of which all iterations are there. Behind them
 * `behind` may end it. */
static Turn write_copy(const Rings *r, uint32_t loop, const Turn *t, LLVMBasicBlockRef behind) {
  Cg *cg = r->cg;
  const GraphLoop *l = &r->g->loops.data[loop];
  LLVMBasicBlockRef *blocks = CX_ARRAY(cg->cx, LLVMBasicBlockRef, l->nnodes);
  for (uint32_t k = 0; k < l->nnodes; k++)
    blocks[k] = r->g->nodes[l->nodes[k]].block;
  RegionCopy copy = copy_region(cg, blocks, l->nnodes, t->header, "");
  Turn now = {copy_of_block(&copy, t->header), copy_of_block(&copy, t->latch),
              copy_of(&copy, t->iteration)};
  Fork fork;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(now.latch);
  graph_fork(end, &fork);
  LLVMInstructionEraseFromParent(end);
  l_at_end(cg->builder, now.latch, NULL);
  l_br(cg->builder, now.header);
  for (LLVMValueRef i = LLVMGetFirstInstruction(fork.yes == now.header ? fork.no : fork.yes);
       LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
    LLVMValueRef v = copy_of(&copy, graph_incoming(i, t->latch));
    LLVMAddIncoming(i, &v, &behind, 1);
  }
  return now;
}

/* The phis of the header that are what they were at the start where a circle begins. */
static bool *turning(const Rings *r, uint32_t loop, LLVMBasicBlockRef header, unsigned n) {
  bool *turns = CX_ARRAY(r->cg->cx, bool, n + 1);
  LLVMValueRef i = LLVMGetFirstInstruction(header);
  for (unsigned k = 0; k < n; k++, i = LLVMGetNextInstruction(i)) {
    turns[k] = false;
    for (uint32_t m = 0; m < r->indices.len; m++) {
      const Index *x = &r->indices.data[m];
      turns[k] |= x->loop == loop && x->counter.phi == i && x->counter.turn;
    }
  }
  return turns;
}

/* Phis of these values from one block; those that turn stay what they are. */
static LLVMValueRef *write_phis(Cg *cg, const LLVMValueRef *first, const bool *turns, unsigned n,
                                LLVMBasicBlockRef from, LLVMBasicBlockRef at) {
  LLVMValueRef *phis = CX_ARRAY(cg->cx, LLVMValueRef, n + 1);
  l_at_end(cg->builder, at, NULL);
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef v = first[k];
    phis[k] = turns[k] ? v : l_phi(cg->builder, LLVMTypeOf(v));
    if (!turns[k])
      LLVMAddIncoming(phis[k], &v, &from, 1);
  }
  return phis;
}

static void add_incoming(LLVMValueRef *phis, LLVMValueRef *more, const bool *turns, unsigned n,
                         LLVMBasicBlockRef from) {
  for (unsigned k = 0; k < n; k++)
    if (!turns[k])
      LLVMAddIncoming(phis[k], &more[k], &from, 1);
}

/* At the block's end, if a circle is left: goes there, else elsewhere. */
static LLVMValueRef write_test(Cg *cg, const Length *length, LLVMValueRef counter, uint32_t period,
                               LLVMBasicBlockRef circle, LLVMBasicBlockRef other,
                               LLVMValueRef *left) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef all = l_int(LLVMTypeOf(counter), period * (uint64_t)length->step);
  *left = l_sub(b, length->end, counter);
  return l_condbr(b, l_icmp(b, LLVMIntUGE, *left, all), circle, other);
}

/* The loop becomes one of circles, in each iteration of which it may end. */
static void write_circles(const Rings *r, uint32_t loop, const Turn *t, LLVMValueRef front,
                          const LLVMValueRef *first, unsigned n) {
  Cg *cg = r->cg;
  uint32_t period = r->shapes[loop].period;
  LLVMBasicBlockRef around = block_before(cg, t->header), back = block_before(cg, t->header);
  const bool *turns = turning(r, loop, t->header, n);
  LLVMValueRef *last = CX_ARRAY(cg->cx, LLVMValueRef, n + 1),
               *phis = write_phis(cg, first, turns, n, LLVMGetInstructionParent(front), around);
  graph_redirect(front, t->header, around);
  l_br(cg->builder, t->header);
  write_turn(cg, t, around, phis, last, period, back);
  add_incoming(phis, last, turns, n, back);
  l_at_end(cg->builder, back, NULL);
  cg_mark_circles(cg->context, l_br(cg->builder, around), period);
}

/* The same where it is known how many iterations are left: those of a circle ask for nothing, and
 * what is less than a circle comes behind them:
 *
 *   if left >= 16:
 *     while True:
 *       a circle
 *       if left < 16: break
 *     if left == 0: go behind the loop
 *   the loop, 15 iterations at most */
static void write_whole_circles(const Rings *r, uint32_t loop, const Turn *t, LLVMValueRef front,
                                const LLVMValueRef *first, unsigned n, const Length *length) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef ask = block_before(cg, t->header), around = block_before(cg, t->header),
                    back = block_before(cg, t->header), behind = block_before(cg, t->header),
                    rest = block_before(cg, t->header);
  LLVMBasicBlockRef exit;
  Fork fork;
  graph_fork(LLVMGetBasicBlockTerminator(t->latch), &fork);
  exit = fork.yes == t->header ? fork.no : fork.yes;
  uint32_t period = r->shapes[loop].period;
  const bool *turns = turning(r, loop, t->header, n);
  LLVMValueRef *last = CX_ARRAY(cg->cx, LLVMValueRef, n + 1), left;
  Turn circle = write_copy(r, loop, t, behind);
  graph_redirect(front, t->header, ask);
  LLVMValueRef *asked = write_phis(cg, first, turns, n, LLVMGetInstructionParent(front), ask);
  write_test(cg, length, asked[length->counter], period, around, rest, &left);
  LLVMValueRef *phis = write_phis(cg, asked, turns, n, ask, around);
  l_br(b, circle.header);
  write_turn(cg, &circle, around, phis, last, period, back);
  add_incoming(phis, last, turns, n, back);
  l_at_end(b, back, NULL);
  cg_mark_circles(cg->context,
                  write_test(cg, length, last[length->counter], period, around, behind, &left),
                  period);
  l_at_end(b, behind, NULL);
  l_condbr(b, l_icmp(b, LLVMIntEQ, left, LLVMConstNull(LLVMTypeOf(left))), exit, rest);
  phis = write_phis(cg, asked, turns, n, ask, rest);
  add_incoming(phis, last, turns, n, behind);
  l_br(b, t->header);
  write_turn(cg, t, rest, phis, last, period - 1, write_nowhere(cg, t->header));
}

/* The loop ends with the array's last place, or is one of circles. */
static void write_loop(const Rings *r, uint32_t loop) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  const Shape *s = &r->shapes[loop];
  LLVMValueRef front = graph_front(r->g, loop);
  LLVMBasicBlockRef entry = LLVMGetInstructionParent(front);
  Turn t = {.header = r->g->nodes[r->g->loops.data[loop].header].block,
            .latch = latch_of(r->g, loop)->block};
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(t.header); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    n++;
  LLVMValueRef *first = CX_ARRAY(cg->cx, LLVMValueRef, 2 * n + 1), *last = first + n,
               i = LLVMGetFirstInstruction(t.header);
  for (unsigned k = 0; k < n; k++, i = LLVMGetNextInstruction(i))
    first[k] = graph_incoming(i, entry);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, NULL);
  t.iteration = l_freeze(b, LLVMGetUndef(cg->t.i32));
  if (s->end) {
    write_turn(cg, &t, entry, first, last, s->end, write_nowhere(cg, t.header));
    return;
  }
  write_indices(r, loop, t.iteration);
  Length length;
  if (read_length(r, loop, &length))
    write_whole_circles(r, loop, &t, front, first, n, &length);
  else
    write_circles(r, loop, &t, front, first, n);
}

bool cg_nvptx_local_rings(Cg *cg, const FnGraph *g, const LocalArrays *arrays) {
  Rings r = {.cg = cg, .g = g, .shapes = ARENA_ARRAY(&cg->cx->arena, Shape, g->loops.len + 1)};
  bool any = false;
  measure(&r);
  for (uint32_t k = 0; k < arrays->len; k++)
    any |= read_array(&r, &arrays->data[k]);
  for (uint32_t k = 0; k < g->loops.len && any; k++)
    if (r.shapes[k].end || r.shapes[k].period > 1)
      write_loop(&r, k);
  return any;
}
