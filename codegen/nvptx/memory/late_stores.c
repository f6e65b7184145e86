/* NVPTX late stores: stores of a loop behind the loads that come after them.
 *
 *   for k in range(n):
 *     low, at = read(words, at)         # `at` is where the next iteration reads
 *     out[i, k] = low
 *
 * A decoder's next load waits for what the iteration before has found, and for nothing that is
 * stored. ptxas moves no load over a store, so that of an unrolled loop it waits for all that the
 * store's value is made of, too. Where launches look that arrays lie apart (apart.c), the store
 * goes behind the loads that follow it: to the end of the loop's body, if nothing is in between
 * that it may not pass. There the stores of all iterations come together, as do the bytes that they
 * write side by side, each coarsened copy's by themselves: copies are threads, whose stores have
 * no order.
 *
 * The same holds of one iteration, or thread, that gathers and stores by turns:
 *
 *   for c in range(3):
 *     out[i, c] = f(table[at, c], table[at + row, c])
 *
 * Loads by counters alone are loads_ahead.c's, which knows how many have registers.
 *
 * In: functions as they go to the code generator; innermost loops that are left at their end only,
 * and each block that is in no loop. Out: such stores further down, in the order in which they
 * were. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_STORES = 8, /* of a loop */
  MOST_LOADS = 32,
  MOST_COPIES = 16, /* of a coarsened entry */
};

typedef struct Loop {
  Cg *cg;
  const FnGraph *g;
  uint32_t number, latch;
  ValueMap waiting; /* what is made of phis that do not count, and of what is loaded */
  /* what is between `place` and where the walk has come */
  LLVMValueRef place, loads[MOST_LOADS];
  unsigned nloads, nstores;
  LLVMValueRef first; /* of the stores that came down in a block */
  bool waits;         /* one of the loads is at such an address, or in no loop */
} Loop;

/* --- addresses that are made of what was found --- */

static bool has(const ValueMap *map, LLVMValueRef v) {
  return valuemap_get(map, v) != VALUEMAP_NONE;
}

static bool is_made_of(const ValueMap *map, LLVMValueRef i) {
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
    if (has(map, LLVMGetOperand(i, k)))
      return true;
  return false;
}

/* What the loop makes of what is in the map. */
static void spread(const Loop *l, ValueMap *map) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < l->g->len; n++)
      for (LLVMValueRef i = l->g->nodes[n].first; i && l->g->nodes[n].loop == l->number;
           i = LLVMGetNextInstruction(i))
        if (!has(map, i) && is_made_of(map, i)) {
          valuemap_set(map, i, 1);
          changed = true;
        }
  }
}

static void find_waiting(Loop *l) {
  const GraphNode *header = &l->g->nodes[l->g->loops.data[l->number].header];
  for (LLVMValueRef i = header->first; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
    if (!graph_counts(l->g, l->number, i)) /* loads_ahead.c knows all values of a counter */
      valuemap_set(&l->waiting, i, 1);
  for (uint32_t n = 0; n < l->g->len; n++)
    for (LLVMValueRef i = l->g->nodes[n].first; i && l->g->nodes[n].loop == l->number;
         i = LLVMGetNextInstruction(i))
      if (cg_is_op(i, LLVMLoad))
        valuemap_set(&l->waiting, i, 1);
  spread(l, &l->waiting);
}

/* --- what a store passes --- */

static bool has_noalias(LLVMValueRef f, unsigned parameter) {
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
  return LLVMGetEnumAttributeAtIndex(f, parameter + 1, kind) != NULL;
}

static bool is_apart_from_others(LLVMValueRef parameter) {
  LLVMValueRef f = LLVMGetParamParent(parameter);
  unsigned k = 0;
  while (LLVMGetParam(f, k) != parameter)
    k++;
  return has_noalias(f, k);
}

static bool has_arrays_apart(LLVMValueRef f) {
  unsigned n = 0;
  for (unsigned k = 0; k < LLVMCountParams(f) && n < 2; k++)
    n += has_noalias(f, k);
  return n == 2;
}

/* Are a store and a load of different arrays, which the launch has found apart? */
static bool are_apart(LLVMValueRef store, LLVMValueRef load) {
  LLVMValueRef a = cg_array_of(LLVMGetOperand(store, 1)), b = cg_array_of(LLVMGetOperand(load, 0));
  return a != b && LLVMIsAArgument(a) && LLVMIsAArgument(b) && is_apart_from_others(a) &&
         is_apart_from_others(b);
}

static bool passes_all(const Loop *l, LLVMValueRef store) {
  for (unsigned k = 0; k < l->nloads; k++)
    if (!are_apart(store, l->loads[k]))
      return false;
  return l->waits;
}

/* The number of a coarsened copy whose store it is; MOST_COPIES: none is known. */
static unsigned copy_of(const Cg *cg, LLVMValueRef store) {
  LLVMValueRef note = LLVMGetMetadata(
                   store, LLVMGetMDKindIDInContext(cg->context, CG_COPY, sizeof CG_COPY - 1)),
               number;
  if (!note || LLVMGetMDNodeNumOperands(note) != 1)
    return MOST_COPIES;
  LLVMGetMDNodeOperands(note, &number);
  uint64_t copy = LLVMConstIntGetZExtValue(number);
  return copy < MOST_COPIES ? (unsigned)copy : MOST_COPIES;
}

/* Stores side by side, one copy's after another's: a row's bytes come together. */
static void sort_by_copies(Loop *l) {
  LLVMValueRef run[2 * MOST_STORES], behind = l->first;
  unsigned n = 0;
  for (; cg_is_op(behind, LLVMStore) && n < 2 * MOST_STORES; n++) {
    run[n] = behind;
    behind = LLVMGetNextInstruction(behind);
    if (copy_of(l->cg, run[n]) == MOST_COPIES || !cg_is_plain_access(run[n]))
      return;
  }
  l->first = NULL;
  for (unsigned c = 0; c < MOST_COPIES; c++)
    for (unsigned k = 0; k < n; k++)
      if (copy_of(l->cg, run[k]) == c) {
        LLVMInstructionRemoveFromParent(run[k]);
        LLVMPositionBuilderBefore(l->cg->builder, behind);
        l_insert(l->cg->builder, run[k]);
        l->first = l->first ? l->first : run[k];
      }
}

/* Brings what its address alone is made of along: of sums far from an access LLVM's code generator
 * does not see that they do not wrap around, nor so what addresses have in common. */
static void bring_address(const Loop *l, LLVMValueRef store) {
  LLVMValueRef place = store, v = LLVMGetOperand(store, 1);
  while (LLVMIsAInstruction(v) && cg_has_one_use(v) && graph_in_loop(l->g, l->number, v) &&
         (LLVMIsAGetElementPtrInst(v) || cg_is_extension(v) || cg_is_op(v, LLVMAdd) ||
          cg_is_disjoint_or(v))) {
    LLVMInstructionRemoveFromParent(v);
    LLVMPositionBuilderBefore(l->cg->builder, place);
    l_insert(l->cg->builder, v);
    place = v;
    v = LLVMGetOperand(v, LLVMIsAGetElementPtrInst(v) ? 1 : 0);
  }
}

/* place NULL: no store may come here */
static void begin_at(Loop *l, LLVMValueRef place) {
  l->place = place;
  l->nloads = l->nstores = 0;
  l->waits = false;
}

static void look_at(Loop *l, LLVMValueRef i, bool always) {
  bool store = cg_is_op(i, LLVMStore), load = cg_is_op(i, LLVMLoad),
       plain = (store || load) && cg_is_plain_access(i);
  if (plain && load && l->nloads < MOST_LOADS) {
    l->waits |= l->number == GRAPH_NONE || has(&l->waiting, LLVMGetOperand(i, 0));
    l->loads[l->nloads++] = i;
  } else if (plain && store && always && l->place && l->nstores < MOST_STORES && passes_all(l, i)) {
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(l->cg->builder, l->place);
    l_insert(l->cg->builder, i);
    l->place = l->first = i;
    l->nstores++;
  } else if (store || (!cg_is_speculatable(i) && !cg_only_computes(i) && !LLVMIsATerminatorInst(i)))
    begin_at(l, always ? i : NULL);
}

static void look_through(Loop *l, uint32_t node) {
  LLVMValueRef end = l->g->nodes[node].last;
  bool alone = l->number == GRAPH_NONE, always = alone || graph_dominates(l->g, node, l->latch);
  if (alone || (always && !l->place))
    begin_at(l, end);
  for (LLVMValueRef i = end, before; i && !LLVMIsAPHINode(i); i = before) {
    before = LLVMGetPreviousInstruction(i);
    look_at(l, i, always);
  }
  if (l->first)
    sort_by_copies(l);
  for (LLVMValueRef i = l->first; i; i = LLVMGetNextInstruction(i))
    if (cg_is_op(i, LLVMStore))
      bring_address(l, i);
  l->first = NULL;
}

/* Is it left at its only latch alone? */
static bool read_loop(Loop *l) {
  const GraphLoop *loop = &l->g->loops.data[l->number];
  if (!loop->innermost || loop->nlatches != 1)
    return false;
  l->latch = loop->latches[0];
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *n = &l->g->nodes[loop->nodes[k]];
    for (uint32_t s = 0; s < n->nsucc; s++)
      if (loop->nodes[k] != l->latch && l->g->nodes[n->succ[s]].loop != l->number)
        return false;
  }
  return true;
}

static void look_through_all(Loop *l) {
  for (uint32_t k = l->g->len; k-- > 0;)
    if (l->g->nodes[k].loop == l->number)
      look_through(l, k);
}

void cg_nvptx_late_stores(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || !has_arrays_apart(f))
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    Loop none = {.cg = cg, .g = &g, .number = GRAPH_NONE};
    look_through_all(&none);
    for (uint32_t n = 0; n < g.loops.len; n++) {
      Loop l = {.cg = cg, .g = &g, .number = n, .waiting = {.arena = &cg->cx->arena}};
      if (read_loop(&l)) {
        find_waiting(&l);
        look_through_all(&l);
      }
    }
  }
}
