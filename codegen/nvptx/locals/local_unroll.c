/* NVPTX local unrolling: loops over small local arrays, unrolled until every index is a constant.
 *
 * An array whose indices are all constants becomes registers (LLVM's sroa). LLVM alone unrolls a
 * loop by the size of its body and so leaves a factorisation of an 8 x 8 matrix, or the insertion
 * into a sorted window, in local memory. Here the loops that an index depends on are found, their
 * counters are run as the kernel would run them, and the loops are marked for full unrolling if
 * they end, and if the code of all iterations together stays below a limit.
 *
 *   for i in range(8):                 the index depends on both loops, the inner one's bound on
 *     for j in range(i):               the outer one's counter: 28 iterations of the inner body
 *       a[j] -= ...
 *
 * Running the counters makes triangular loops, counters that double, counters that go through
 * several loops and bounds like row - 2 and row + 3 one case: a value is a constant, or one opaque
 * value plus a constant. A loop that data may leave early counts as long as its counter lasts.
 *
 * Where an array has to stay in memory, since one index is found at run time, a loop that reads
 * what its iterations before have stored (the schedule of a hash) is unrolled all the same: LLVM
 * then takes these values from registers, and no iteration waits for the store of another.
 *
 * So are nests of loops in all of which a block's threads wait for one another, and which counters
 * alone end: the stages of a sorting network. At constants a stage computes half as much, and where
 * barriers keep threads in step that is its time.
 *
 * In: a module after LLVM's loop passes up to the unrolling. Out: loops unrolled by LLVM, whose
 * own analysis decides about every trip count again, so a wrong guess here costs time only. */
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_TRIPS = 256, /* of one loop */
  /* Instructions of all iterations of a function's unrolled loops. */
  MOST_CODE = 12000,
  MOST_OF_A_RECURRENCE = 3000, /* of one loop over an array that stays in memory */
  MOST_OF_A_NETWORK = 1600,    /* of a nest with barriers */
  MAX_DEPTH = 12,              /* of an expression */
};

typedef struct Number { /* base + n; base NULL: a constant */
  LLVMValueRef base;
  int64_t n;
  bool wraps;   /* the sum may have wrapped around, so it has no place in an order */
  bool guess;   /* it is base + n only if sums did not wrap before they were compared or widened */
  bool cancels; /* a constant that is the difference of two sums */
} Number;

typedef struct LoopNote {
  bool circles;     /* it is of circles (local_rings.c), and of no known length */
  bool needed;      /* by the array being looked at */
  bool chosen;      /* by some array that becomes registers */
  bool data_leaves; /* some exit depends on data */
  bool runs;
  uint32_t least, trips; /* iterations: the fewest and the most of all runs */
  LLVMValueRef end;      /* the fork that leaves it in all runs; NULL: none, or several */
  bool relative;         /* its comparison is of sums with one base, which do not wrap */
  uint32_t size;         /* instructions of its own */
} LoopNote;

typedef struct Unroll {
  Cg *cg;
  FnGraph g;
  LoopNote *loops;
  ValueMap slot; /* header phi -> index of its value */
  VEC(Number) now;
  ValueMap seen; /* values whose loops have been marked as needed */
  bool asks;     /* they are not marked: whether counters decide is the question */
  VEC(bool) constant;
  uint64_t code, chosen_code; /* instructions of all iterations: of needed loops, of chosen ones */
  bool relative;              /* the comparison that was looked at last: see LoopNote */
} Unroll;

/* --- values --- */

static Number opaque(LLVMValueRef v) { return (Number){.base = v}; }
static Number constant(int64_t n) { return (Number){.n = n}; }

static Number value_of(Unroll *u, LLVMValueRef v, int depth);

/* a + b.n or a - b.n, as v computes it. */
static Number sum(LLVMValueRef v, Number a, Number b, int64_t n) {
  return (Number){.base = a.base,
                  .n = n,
                  .wraps = a.wraps || b.wraps || !LLVMGetNSW(v),
                  .guess = a.guess || b.guess,
                  .cancels = a.cancels || b.cancels};
}

static Number folded(LLVMValueRef v, Number a, Number b) {
  Number r = {.guess = a.guess || b.guess, .cancels = a.cancels || b.cancels};
  return cg_fold(v, a.n, b.n, &r.n) ? r : opaque(v);
}

static Number of_two(Unroll *u, LLVMValueRef v, int depth) {
  Number a = value_of(u, LLVMGetOperand(v, 0), depth), b = value_of(u, LLVMGetOperand(v, 1), depth);
  if (!a.base && !b.base)
    return folded(v, a, b);
  if (cg_is_op(v, LLVMAdd) && !b.base)
    return sum(v, a, b, a.n + b.n);
  if (cg_is_op(v, LLVMAdd) && !a.base)
    return sum(v, b, a, a.n + b.n);
  if (cg_is_op(v, LLVMSub) && !b.base)
    return sum(v, a, b, a.n - b.n);
  if (cg_is_op(v, LLVMSub) && a.base == b.base)
    return (Number){.n = a.n - b.n, .guess = a.guess || b.guess, .cancels = true};
  return opaque(v);
}

/* Sums with the same base compare as their constants. Whether that is certain: u->relative. */
static Number of_comparison(Unroll *u, LLVMValueRef v, int depth) {
  if (!cg_int_width(LLVMGetOperand(v, 0)))
    return opaque(v);
  Number a = value_of(u, LLVMGetOperand(v, 0), depth), b = value_of(u, LLVMGetOperand(v, 1), depth);
  if (a.base != b.base)
    return opaque(v);
  LLVMIntPredicate how = LLVMGetICmpPredicate(v);
  bool equality = how == LLVMIntEQ || how == LLVMIntNE;
  bool is_signed = how == LLVMIntSLT || how == LLVMIntSLE || how == LLVMIntSGT || how == LLVMIntSGE;
  bool ordered = !a.base || (is_signed && !a.wraps && !b.wraps);
  u->relative = (a.base || a.cancels || b.cancels) && !a.guess && !b.guess && (equality || ordered);
  return constant(cg_compares(how, a.n, b.n));
}

static Number of_cast(Unroll *u, LLVMValueRef v, int depth) {
  Number a = value_of(u, LLVMGetOperand(v, 0), depth);
  if (!a.base)
    return folded(v, a, (Number){0});
  bool widens = !LLVMIsATruncInst(v),
       is_signed = LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v));
  a.guess |= widens && (a.wraps || !is_signed);
  a.wraps |= !widens;
  return a;
}

/* 0 to 3: smin, smax, umin, umax of integers; -1: another call. */
static int extreme_of(LLVMValueRef call) {
  static const char *const names[] = {"llvm.smin.i", "llvm.smax.i", "llvm.umin.i", "llvm.umax.i"};
  size_t n = 0;
  LLVMValueRef f = LLVMGetCalledValue(call);
  const char *name = LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
  for (int k = 0; k < 4; k++)
    if (n > strlen(names[k]) && memcmp(name, names[k], strlen(names[k])) == 0)
      return k;
  return -1;
}

static Number of_extreme(Unroll *u, LLVMValueRef v, int depth) {
  int kind = extreme_of(v);
  if (kind < 0)
    return opaque(v);
  Number a = value_of(u, LLVMGetOperand(v, 0), depth), b = value_of(u, LLVMGetOperand(v, 1), depth);
  if (a.base != b.base)
    return opaque(v);
  Number r = (kind % 2 == 1) == (a.n > b.n) ? a : b;
  r.guess |= a.guess || b.guess || (a.base && (kind > 1 || a.wraps || b.wraps));
  r.cancels |= a.cancels || b.cancels;
  return r;
}

static void join(Number *a, const Number *b) {
  a->wraps |= b->wraps, a->guess |= b->guess, a->cancels |= b->cancels;
}

/* A phi that is not of a loop's header: what all edges agree on. */
static Number of_phi(Unroll *u, LLVMValueRef v, int depth) {
  uint32_t slot = valuemap_get(&u->slot, v);
  if (slot != VALUEMAP_NONE)
    return u->now.data[slot];
  Number all = value_of(u, LLVMGetIncomingValue(v, 0), depth);
  for (unsigned k = 1; k < LLVMCountIncoming(v); k++) {
    Number a = value_of(u, LLVMGetIncomingValue(v, k), depth);
    if (a.base != all.base || a.n != all.n)
      return opaque(v);
    join(&all, &a);
  }
  return all;
}

static Number of_select(Unroll *u, LLVMValueRef v, int depth) {
  Number c = value_of(u, LLVMGetOperand(v, 0), depth);
  return c.base ? opaque(v) : value_of(u, LLVMGetOperand(v, c.n ? 1 : 2), depth);
}

static Number value_of(Unroll *u, LLVMValueRef v, int depth) {
  if (LLVMIsAConstantInt(v) && cg_int_width(v) <= 64)
    return constant(cg_int_value(v));
  if (!LLVMIsAInstruction(v) || !cg_int_width(v) || cg_int_width(v) > 64 || depth == MAX_DEPTH)
    return opaque(v);
  depth++;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMPHI: return of_phi(u, v, depth);
  case LLVMICmp: return of_comparison(u, v, depth);
  case LLVMSelect: return of_select(u, v, depth);
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc: return of_cast(u, v, depth);
  case LLVMFreeze: return value_of(u, LLVMGetOperand(v, 0), depth);
  case LLVMCall: return of_extreme(u, v, depth);
  default: return LLVMIsABinaryOperator(v) ? of_two(u, v, depth) : opaque(v);
  }
}

/* --- running counters --- */

static bool is_inside(const Unroll *u, uint32_t node, uint32_t loop) {
  uint32_t l = u->g.nodes[node].loop;
  while (l != GRAPH_NONE && l != loop)
    l = u->g.loops.data[l].parent;
  return l == loop;
}

/* The node that a fork goes to; GRAPH_NONE if that is not known. */
static uint32_t goes_to(Unroll *u, uint32_t node) {
  Fork fork;
  if (!graph_fork(u->g.nodes[node].last, &fork))
    return GRAPH_NONE;
  Number c = value_of(u, fork.condition, 0);
  return c.base ? GRAPH_NONE : graph_number(&u->g, c.n ? fork.yes : fork.no);
}

/* Do branches on the way from the parent's header show that the loop is not entered? */
static bool is_skipped(Unroll *u, uint32_t loop) {
  const GraphLoop *l = &u->g.loops.data[loop];
  uint32_t stop = l->parent == GRAPH_NONE ? 0 : u->g.loops.data[l->parent].header;
  for (uint32_t at = l->header; at > stop;) {
    at = u->g.nodes[at].idom;
    uint32_t to = goes_to(u, at);
    if (to == GRAPH_NONE || graph_dominates(&u->g, to, l->header))
      continue;
    for (uint32_t s = 0; s < u->g.nodes[at].nsucc; s++)
      if (graph_dominates(&u->g, u->g.nodes[at].succ[s], l->header))
        return true;
  }
  return false;
}

/* Does each iteration have its own? Then the one before's is not known any more. */
static bool is_of_loop(const Unroll *u, LLVMValueRef v, uint32_t loop) {
  uint32_t node = v && LLVMIsAInstruction(v) ? graph_number(&u->g, LLVMGetInstructionParent(v))
                                             : GRAPH_NONE;
  return node != GRAPH_NONE && is_inside(u, node, loop);
}

/* Sets the header's phis to what they are on edges from outside of the loop, or from inside. */
static void set_phis(Unroll *u, uint32_t loop, bool inside) {
  LLVMBasicBlockRef header = u->g.nodes[u->g.loops.data[loop].header].block;
  VEC(Number) next = {0};
  for (LLVMValueRef i = LLVMGetFirstInstruction(header); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    Number all = opaque(i);
    unsigned edges = 0;
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
      uint32_t from = graph_end(&u->g, LLVMGetIncomingBlock(i, k));
      if (from == GRAPH_NONE || is_inside(u, from, loop) != inside)
        continue;
      Number a = value_of(u, LLVMGetIncomingValue(i, k), 0);
      bool differs = edges++ && (a.base != all.base || a.n != all.n);
      all = differs || (inside && is_of_loop(u, a.base, loop)) ? opaque(i) : a;
    }
    VEC_PUSH(&u->cg->cx->arena, &next, all);
  }
  uint32_t k = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(header); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i), k++)
    u->now.data[valuemap_get(&u->slot, i)] = next.data[k];
}

/* Does an iteration that has been run end the loop? */
static bool is_left(Unroll *u, uint32_t loop) {
  const GraphLoop *l = &u->g.loops.data[loop];
  LoopNote *note = &u->loops[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &u->g.nodes[l->nodes[k]];
    for (uint32_t s = 0; s < n->nsucc; s++) {
      if (is_inside(u, n->succ[s], loop))
        continue;
      u->relative = false;
      uint32_t to = n->loop == loop ? goes_to(u, l->nodes[k]) : GRAPH_NONE;
      note->data_leaves |= to == GRAPH_NONE;
      if (to != n->succ[s])
        continue;
      note->relative = u->relative && (!note->runs || note->relative);
      note->end = note->runs && note->end != n->last ? NULL : n->last;
      return true;
    }
  }
  return false;
}

static void count_run(LoopNote *note, uint32_t trips) {
  note->trips = trips > note->trips ? trips : note->trips;
  note->least = !note->runs || trips < note->least ? trips : note->least;
  note->runs = true;
}

/* Runs the loop's counters, and those of the loops in it. False if it does not end, or the code
 * becomes too long. */
static bool run_loop(Unroll *u, uint32_t loop) {
  LoopNote *note = &u->loops[loop];
  if (is_skipped(u, loop))
    return true;
  set_phis(u, loop, false);
  for (uint32_t trip = 1;; trip++) {
    u->code += note->size;
    for (uint32_t k = loop + 1; k < u->g.loops.len; k++)
      if (u->g.loops.data[k].parent == loop && !run_loop(u, k))
        return false;
    if (u->code > MOST_CODE)
      return false;
    if (!note->needed || is_left(u, loop)) {
      count_run(note, trip);
      return true;
    }
    if (trip == MOST_TRIPS)
      return false;
    set_phis(u, loop, true);
  }
}

/* --- the loops that an index depends on --- */

static void need_loop(Unroll *u, uint32_t loop);

static bool need(Unroll *u, LLVMValueRef v);

static bool need_operands(Unroll *u, LLVMValueRef v) {
  bool is_call = LLVMIsACallInst(v) != NULL, all = true;
  bool known = LLVMIsABinaryOperator(v) || LLVMIsACastInst(v) || LLVMIsAICmpInst(v) ||
               LLVMIsASelectInst(v) || (is_call && extreme_of(v) >= 0);
  unsigned n = is_call ? LLVMGetNumArgOperands(v) : (unsigned)LLVMGetNumOperands(v);
  for (unsigned k = LLVMIsASelectInst(v) != NULL; k < n && known; k++)
    all &= need(u, LLVMGetOperand(v, k));
  return known && all;
}

static bool need_incoming(Unroll *u, LLVMValueRef phi) {
  bool all = true;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    all &= need(u, LLVMGetIncomingValue(phi, k));
  if (!u->asks && valuemap_get(&u->slot, phi) != VALUEMAP_NONE)
    need_loop(u, u->g.nodes[graph_number(&u->g, LLVMGetInstructionParent(phi))].loop);
  return all;
}

/* Marks the loops whose counters decide v. False if something else decides it, too. */
static bool need(Unroll *u, LLVMValueRef v) {
  if (LLVMIsAConstantInt(v))
    return true;
  if (!LLVMIsAInstruction(v) || !cg_int_width(v))
    return false;
  uint32_t seen = valuemap_get(&u->seen, v);
  if (seen != VALUEMAP_NONE)
    return u->constant.data[seen];
  seen = u->constant.len;
  valuemap_set(&u->seen, v, seen);
  /* in a cycle: what the rest of it says */
  VEC_PUSH(&u->cg->cx->arena, &u->constant, true);
  bool all = LLVMIsAPHINode(v) ? need_incoming(u, v) : need_operands(u, v);
  return u->constant.data[seen] = all;
}

/* Of a loop that is needed, also those that decide when it ends. */
static void need_loop(Unroll *u, uint32_t loop) {
  const GraphLoop *l = &u->g.loops.data[loop];
  Fork fork;
  if (u->loops[loop].needed || u->loops[loop].circles)
    return;
  u->loops[loop].needed = true;
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &u->g.nodes[l->nodes[k]];
    bool leaves = false;
    for (uint32_t s = 0; s < n->nsucc; s++)
      leaves |= !is_inside(u, n->succ[s], loop);
    if (leaves && n->loop == loop && graph_fork(n->last, &fork))
      need(u, fork.condition);
  }
}

/* --- the arrays --- */

/* Are all indices known once loops are unrolled? Of a short array others are allowed, too. */
static bool reads_indices(Unroll *u, const LocalArray *a) {
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    const LocalAccess *x = &a->accesses.data[k];
    uint64_t size = LLVMABISizeOfType(u->cg->layout, cg_local_type(x));
    if (x->index && !need(u, x->index) && a->bytes > LOCAL_MOST_OPAQUE * size)
      return false;
  }
  return true;
}

/* Runs the outermost needed loops. */
static bool run_needed(Unroll *u) {
  bool any = false;
  u->code = 0;
  for (uint32_t k = 0; k < u->g.loops.len; k++) {
    uint32_t up = u->g.loops.data[k].parent;
    while (up != GRAPH_NONE && !u->loops[up].needed)
      up = u->g.loops.data[up].parent;
    if (!u->loops[k].needed || up != GRAPH_NONE)
      continue;
    any = true;
    if (!run_loop(u, k))
      return false;
  }
  return any;
}

static void begin_choice(Unroll *u) {
  u->seen = (ValueMap){.arena = &u->cg->cx->arena};
  u->constant.len = 0;
  for (uint32_t k = 0; k < u->g.loops.len; k++)
    u->loops[k].needed = u->loops[k].chosen;
}

/* Chooses the loops that are needed, beside those chosen before, if all of them end and have no
 * more code than that. */
static bool choose_needed(Unroll *u, uint64_t most) {
  if (!run_needed(u) || u->code > u->chosen_code + most)
    return false;
  u->chosen_code = u->code;
  for (uint32_t k = 0; k < u->g.loops.len; k++)
    u->loops[k].chosen = u->loops[k].needed;
  return true;
}

/* Does the loop read of the array what it has stored, all at places that its counter alone decides?
 * Then it needs no other loop. */
static bool is_recurrence(Unroll *u, const LocalArray *a, uint32_t loop) {
  bool loads = false, stores = false;
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    const LocalAccess *x = &a->accesses.data[k];
    uint32_t node = graph_number(&u->g, LLVMGetInstructionParent(x->ins));
    if (node == GRAPH_NONE || !is_inside(u, node, loop))
      continue;
    if (u->g.nodes[node].loop != loop || (x->index && !need(u, x->index)))
      return false;
    bool store = LLVMIsAStoreInst(x->ins) != NULL;
    loads |= !store, stores |= store;
  }
  for (uint32_t k = 0; k < u->g.loops.len; k++)
    if (k != loop &&
        (u->g.loops.data[k].parent == loop || u->loops[k].needed != u->loops[k].chosen))
      return false;
  return loads && stores;
}

/* Does the array become registers? */
static bool visit_array(Unroll *u, const LocalArray *a) {
  begin_choice(u);
  if (reads_indices(u, a) && choose_needed(u, MOST_CODE))
    return true;
  for (uint32_t k = 0; k < u->g.loops.len; k++) {
    begin_choice(u);
    if (!u->loops[k].chosen && is_recurrence(u, a, k))
      choose_needed(u, MOST_OF_A_RECURRENCE);
  }
  return false;
}

/* --- networks --- */

/* Do the block's threads wait for one another in the loop, or in one inside of it? */
static bool meets(const FnGraph *g, const GraphLoop *l) {
  for (uint32_t k = 0; k < l->nnodes; k++) {
    LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[l->nodes[k]].block);
    for (; i; i = LLVMGetNextInstruction(i))
      if (cg_is_call_of_any(i, cg_llvm_barrier))
        return true;
  }
  return false;
}

/* Is it a loop of loops, in all of which they do? */
static bool is_network(const FnGraph *g, uint32_t loop) {
  bool nest = false, all = true;
  for (uint32_t k = loop + 1; k < g->loops.len && all; k++)
    if (g->loops.data[k].parent == loop) {
      nest = true;
      all = meets(g, &g->loops.data[k]);
    }
  return nest && all && g->loops.data[loop].parent == GRAPH_NONE;
}

bool cg_nvptx_has_networks(const Cg *cg) {
  if (!LLVMGetNamedFunction(cg->module, cg_llvm_barrier))
    return false;
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);)
    for (uint32_t k = 0; k < g.loops.len; k++)
      if (is_network(&g, k))
        return true;
  return false;
}

/* Chooses a nest of loops which counters alone end, if threads wait for one another in all of it:
 * the stages of a sorting network. Each stage is short, and at places that are constants then. */
static void visit_network(Unroll *u, uint32_t loop) {
  begin_choice(u);
  if (u->loops[loop].chosen || !is_network(&u->g, loop))
    return;
  need_loop(u, loop);
  for (uint32_t k = loop + 1; k < u->g.loops.len; k++)
    if (u->g.loops.data[k].parent == loop)
      need_loop(u, k);
  choose_needed(u, MOST_OF_A_NETWORK);
}

/* Which element of a tuple it is, say: a constant in each iteration, and the selection no code. */
static bool is_chosen_by_counters(Unroll *u, LLVMValueRef i) {
  return LLVMIsASelectInst(i) && need(u, LLVMGetOperand(i, 0));
}

static void note_loops(Unroll *u) {
  Arena *arena = &u->cg->cx->arena;
  u->seen = (ValueMap){.arena = arena};
  u->asks = true;
  u->loops = ARENA_ARRAY(arena, LoopNote, u->g.loops.len + 1);
  for (uint32_t k = 0; k < u->g.loops.len; k++) {
    const GraphNode *latch = &u->g.nodes[u->g.loops.data[k].latches[0]];
    u->loops[k].circles = cg_mark_of(u->cg, latch->block, MARK_CIRCLES);
  }
  for (uint32_t k = 0; k < u->g.len; k++) {
    const GraphNode *n = &u->g.nodes[k];
    bool header = n->loop != GRAPH_NONE && u->g.loops.data[n->loop].header == k;
    for (LLVMValueRef i = n->first; i && n->loop != GRAPH_NONE; i = LLVMGetNextInstruction(i)) {
      u->loops[n->loop].size += !LLVMIsAPHINode(i) && !is_chosen_by_counters(u, i);
      if (!header || !LLVMIsAPHINode(i))
        continue;
      valuemap_set(&u->slot, i, u->now.len);
      VEC_PUSH(arena, &u->now, opaque(i));
    }
  }
  u->asks = false;
}

/* LLVM does not see that `for y in range(row - 2, row + 3)` has five iterations, unless it knows
 * that row is small. What has been run does not wrap, or the kernel is undefined, so the loop gets
 * a counter of its own that starts at 0. */
static void count_from_zero(Unroll *u, const GraphLoop *l, const LoopNote *note) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMTypeRef type = u->cg->t.i32;
  const GraphNode *header = &u->g.nodes[l->header];
  Fork fork;
  if (!graph_fork(note->end, &fork) || !LLVMIsAICmpInst(fork.condition) || header->npred != 2 ||
      LLVMGetInstructionParent(note->end) != u->g.nodes[l->latches[0]].block)
    return;
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(header->block));
  LLVMValueRef counter = l_phi(b, type), zero = l_int(type, 0);
  LLVMPositionBuilderBefore(b, note->end);
  LLVMValueRef next = l_add_nuw(b, counter, l_int(type, 1));
  for (uint32_t k = 0; k < 2; k++) {
    LLVMBasicBlockRef from = u->g.nodes[header->pred[k]].block;
    LLVMAddIncoming(counter, header->pred[k] == l->latches[0] ? &next : &zero, &from, 1);
  }
  bool stays = fork.yes == header->block;
  LLVMSetCondition(note->end,
                   l_icmp(b, stays ? LLVMIntNE : LLVMIntEQ, next, l_int(type, note->trips)));
}

static bool mark_loops(Unroll *u) {
  bool any = false;
  for (uint32_t k = 0; k < u->g.loops.len; k++) {
    const GraphLoop *l = &u->g.loops.data[k];
    const LoopNote *note = &u->loops[k];
    if (!note->chosen || l->nlatches != 1)
      continue;
    any = true;
    if (note->relative && note->end && note->least == note->trips && !note->data_leaves)
      count_from_zero(u, l, note);
    cg_mark_whole(u->cg->context, u->g.nodes[l->latches[0]].last,
                  note->data_leaves ? note->trips : 0);
  }
  return any;
}

/* Chooses loops for the arrays of f, *rest: those that stay in memory, and networks. NULL: there
 * are no loops. */
static Unroll *choose_loops(Cg *cg, LLVMValueRef f, LocalArrays *rest) {
  LocalArrays arrays = cg_local_arrays(cg, f);
  Unroll *u = CX_NEW(cg->cx, Unroll);
  *u = (Unroll){.cg = cg, .g = graph_of(&cg->cx->arena, f, NULL)};
  u->slot.arena = &cg->cx->arena;
  graph_loops(&u->g);
  if (u->g.irreducible || !u->g.loops.len)
    return NULL;
  note_loops(u);
  for (uint32_t k = 0; k < arrays.len; k++)
    if (!visit_array(u, &arrays.data[k]))
      VEC_PUSH(&cg->cx->arena, rest, arrays.data[k]);
  for (uint32_t k = 0; k < u->g.loops.len; k++)
    visit_network(u, k);
  return u;
}

static bool visit_function(Cg *cg, LLVMValueRef f) {
  LocalArrays rest = {0};
  Unroll *u = LLVMIsDeclaration(f) ? NULL : choose_loops(cg, f, &rest);
  if (u && cg_nvptx_local_rings(cg, &u->g, &rest))
    u = choose_loops(cg, f, &rest);
  if (!u)
    return false;
  cg->whole_code += (uint32_t)u->chosen_code;
  return mark_loops(u);
}

/* Is there an array that sroa has left? */
static bool has_arrays(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    any |= cg_local_arrays(cg, f).len > 0;
  return any;
}

void cg_nvptx_local_unroll(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    any |= visit_function(cg, f);
  if (!any)
    return;
  cg_run_passes(cg, "function(loop(loop-unroll-full),sroa)");
  cg_unmark_whole(cg); /* what LLVM has not unrolled */
  if (has_arrays(cg))  /* local_registers.c looks for phis of constants, not for sums of them */
    cg_run_passes(cg, cg_cleaning(cg));
}
