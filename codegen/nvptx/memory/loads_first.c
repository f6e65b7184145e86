/* NVPTX loads first: loads in front of the slow operations of their block.
 *
 * ptxas gives an IEEE quotient or root a branch to a slow path, and moves nothing across it. Of a
 * loop that was unrolled,
 *
 *   delta = x[k] - mean; mean += delta / (k + 1); delta = x[k + 1] - mean; …
 *
 * each load would wait for the quotient before it, which waits for the load before that: one load
 * in flight. The loads that no store, barrier or call stands in front of are issued in front of the
 * first slow operation, as many as have registers. The first for which there is no room stays, and
 * those behind it go in front of the next slow operation.
 *
 * What all threads load in a loop from one address, such as the coefficients of a series, stays
 * where each slow operation waits for the one before: it is in the L1 cache, from where it comes
 * while that is computed. In front it would take registers.
 *
 * A quotient or root behind a branch, `u = p / h if h > 0 else 0`, holds up what comes behind the
 * join just so. All threads come there, so outside of loops the join's loads go in front of the
 * branch, and from there on as above, if nothing on the way stands in front of them.
 *
 * Nor does what is computed behind a slow operation, but without it, overlap what leads to it: of a
 * sigmoid and a logarithm, `1 / (1 + exp(-z))` and `log1p(exp(-abs(z)))`, one would begin where the
 * other has ended. In loops that load one number at a time, few threads, each of which waits for
 * itself, are the rule. So long chains go in front, too.
 *
 * In: a module that only the code generator is still to see. Out: loads, and what their addresses
 * are computed with, further up in their block, or in front of branches that join in it; chains
 * further up in their block. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"

enum {
  WORDS = 16,   /* of 32 bits: what may be in flight */
  MADE_OF = 48, /* values that an address is made of, and at most */
};

/* May a load not go from behind it to the front of it? */
static bool stops_loads(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMLoad))
    return !cg_is_plain_access(i);
  return !cg_is_speculatable(i) && !cg_is_slow(cg, i) && !cg_is_division(i) && !cg_only_computes(i);
}

typedef struct Front {
  Cg *cg;
  LLVMValueRef first;     /* its first slow operation; NULL: none so far */
  bool chained;           /* the last waits for the first */
  ValueMap behind, moved; /* instructions from that on; those of them that are in front by now */
} Front;

static bool is_behind(const Front *b, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && valuemap_get(&b->behind, v) != VALUEMAP_NONE &&
         valuemap_get(&b->moved, v) == VALUEMAP_NONE;
}

static bool is_known(void *front, LLVMValueRef i) { return !is_behind(front, i); }

static bool may_move(void *front, LLVMValueRef i) {
  return cg_is_speculatable(i) && !cg_is_slow(((const Front *)front)->cg, i);
}

static void move(Front *b, LLVMValueRef v) {
  if (!is_behind(b, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move(b, LLVMGetOperand(v, k));
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(b->cg->builder, b->first);
  l_insert(b->cg->builder, v);
  valuemap_set(&b->moved, v, 1);
}

/* Adds what v is made of to the list; false: it may differ from thread to thread. */
static bool add_operands(LLVMValueRef *list, unsigned *n, LLVMValueRef v) {
  if (cg_is_op(v, LLVMLoad) || cg_nvptx_is_thread(v) ||
      (LLVMIsACallInst(v) && !cg_is_speculatable(v)))
    return false;
  for (unsigned k = 0, count = (unsigned)LLVMGetNumOperands(v); k < count; k++) {
    LLVMValueRef of = LLVMGetOperand(v, k);
    bool known = !LLVMIsAInstruction(of);
    for (unsigned i = 0; i < *n && !known; i++)
      known = list[i] == of;
    if (known)
      continue;
    if (*n == MADE_OF)
      return false;
    list[(*n)++] = of;
  }
  return true;
}

/* Do all threads load from one address, which a loop changes? Of loops that they leave one by one,
 * those that are still in them. */
static bool is_shared(LLVMValueRef load) {
  LLVMValueRef list[MADE_OF] = {LLVMGetOperand(load, 0)};
  unsigned n = 1;
  bool changes = false;
  for (unsigned k = 0; k < n; k++) {
    changes |= LLVMIsAPHINode(list[k]) != NULL;
    if (LLVMIsAInstruction(list[k]) && !add_operands(list, &n, list[k]))
      return false;
  }
  return changes;
}

/* Does the last slow operation of the block wait for this one, the first? */
static bool is_waited_for(const Cg *cg, LLVMValueRef first) {
  bool waits = false;
  ValueMap made = {.arena = &cg->cx->arena};
  valuemap_set(&made, first, 1);
  for (LLVMValueRef i = LLVMGetNextInstruction(first); i; i = LLVMGetNextInstruction(i)) {
    bool uses = false;
    for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n && !uses; k++)
      uses = valuemap_get(&made, LLVMGetOperand(i, k)) != VALUEMAP_NONE;
    if (cg_is_slow(cg, i))
      waits = uses;
    if (uses)
      valuemap_set(&made, i, 1);
  }
  return waits;
}

static unsigned words_of(const Cg *cg, LLVMValueRef load) {
  return (unsigned)(LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(load)) + 31) / 32;
}

static Front new_front(Cg *cg) {
  return (Front){.cg = cg, .behind = {.arena = &cg->cx->arena}, .moved = {.arena = &cg->cx->arena}};
}

static void order_loads(Cg *cg, LLVMBasicBlockRef block) {
  Front b = new_front(cg);
  unsigned words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    bool stops = stops_loads(cg, i), load = cg_is_op(i, LLVMLoad);
    if (b.first && stops)
      return;
    if (!b.first && cg_is_slow(cg, i)) {
      b.first = i;
      b.chained = is_waited_for(cg, i);
    }
    if (b.first)
      valuemap_set(&b.behind, i, 1);
    unsigned size = load ? words_of(cg, i) : 0;
    if (load && b.first && words + size > WORDS) {
      b = new_front(cg);
      words = size;
      continue;
    }
    Spot front = {is_known, may_move, &b};
    if (load && b.first &&
        ((b.chained && is_shared(i)) || !cg_is_ready(&front, LLVMGetOperand(i, 0))))
      continue;
    words = stops ? 0 : words + size; /* in front of a barrier, loads have arrived */
    if (load && b.first)
      move(&b, i);
  }
}

/* --- chains --- */

enum { LONG = 8, RESULTS = 4 }; /* operations one after the other; what may wait for its use */

/* Has the operation a chain of its own, or is it made of one? Of those that need nothing of what
 * stays behind the first slow operation; 0: of the others. */
static uint32_t length_of(const Front *b, const ValueMap *length, LLVMValueRef i) {
  uint32_t most = 0;
  if (cg_is_slow(b->cg, i) || !(cg_is_speculatable(i) || cg_is_function_of_operands(i)))
    return 0;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
    LLVMValueRef of = LLVMGetOperand(i, k);
    uint32_t before = is_behind(b, of) ? valuemap_get(length, of) : VALUEMAP_NONE;
    if (!before)
      return 0;
    most = before != VALUEMAP_NONE && before > most ? before : most;
  }
  return most + 1;
}

/* Is it the end of its chain: nothing that may go in front reads it? An address is none: its load
 * stays, and comes no earlier. */
static bool is_result(const ValueMap *length, LLVMValueRef i) {
  if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind)
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
    uint32_t n = valuemap_get(length, LLVMGetUser(u));
    if (n != VALUEMAP_NONE && n)
      return false;
  }
  return true;
}

static void order_chains(Cg *cg, LLVMBasicBlockRef block) {
  Front b = new_front(cg);
  ValueMap length = {.arena = &cg->cx->arena};
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); !LLVMIsATerminatorInst(i);
       i = LLVMGetNextInstruction(i)) {
    if (!b.first && cg_is_slow(cg, i))
      b.first = i;
    if (!b.first)
      continue;
    valuemap_set(&length, i, length_of(&b, &length, i));
    valuemap_set(&b.behind, i, 1);
  }
  unsigned results = 0;
  for (LLVMValueRef i = b.first, next; i && !LLVMIsATerminatorInst(i); i = next) {
    next = LLVMGetNextInstruction(i);
    if (valuemap_get(&length, i) >= LONG && is_result(&length, i) && results++ < RESULTS)
      move(&b, i);
  }
}

/* --- in front of branches --- */

/* Instructions of the block, which may be in front of others; false: one stops loads. */
static bool add_all(Front *b, LLVMBasicBlockRef block, bool *slow) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); !LLVMIsATerminatorInst(i);
       i = LLVMGetNextInstruction(i)) {
    if (!LLVMIsAPHINode(i) && stops_loads(b->cg, i))
      return false;
    *slow |= cg_is_slow(b->cg, i);
    valuemap_set(&b->behind, i, 1);
  }
  return true;
}

/* The block with the branch whose sides, which do nothing but compute, join in `join`: some of it
 * slow. In a loop the loads of further iterations would take registers, and with them threads (of
 * lennard_jones, forces behind a distance, 1.09 of the time). NULL: there is none. */
static LLVMBasicBlockRef branch_to(Front *b, const FnGraph *g, uint32_t join) {
  const GraphNode *n = &g->nodes[join];
  uint32_t from = n->idom;
  bool slow = false;
  if (from == GRAPH_NONE || n->loop != GRAPH_NONE)
    return NULL;
  for (uint32_t k = 0; k < n->npred; k++) {
    const GraphNode *side = &g->nodes[n->pred[k]];
    if (n->pred[k] != from && (side->npred != 1 || side->pred[0] != from || side->nsucc != 1 ||
                               !add_all(b, side->block, &slow)))
      return NULL;
  }
  for (uint32_t k = 0; k < g->nodes[from].nsucc; k++) {
    uint32_t to = g->nodes[from].succ[k];
    if (to != join && (g->nodes[to].nsucc != 1 || g->nodes[to].succ[0] != join))
      return NULL;
  }
  return slow ? g->nodes[from].block : NULL;
}

/* Loads of a block that have not arrived at its end. */
static unsigned words_in(const Cg *cg, LLVMBasicBlockRef block) {
  unsigned words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    words = cg_is_op(i, LLVMLoad) ? words + words_of(cg, i) : stops_loads(cg, i) ? 0 : words;
  return words;
}

static void pass_branch(Cg *cg, const FnGraph *g, uint32_t join) {
  Front b = new_front(cg);
  LLVMBasicBlockRef from = branch_to(&b, g, join);
  if (!from)
    return;
  b.first = LLVMGetBasicBlockTerminator(from);
  unsigned words = words_in(cg, from);
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[join].block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    valuemap_set(&b.behind, i, 1);
    if (!LLVMIsAPHINode(i) && stops_loads(cg, i))
      return;
    Spot front = {is_known, may_move, &b};
    unsigned size = cg_is_op(i, LLVMLoad) ? words_of(cg, i) : 0;
    if (!size || !cg_is_ready(&front, LLVMGetOperand(i, 0)) || is_shared(i))
      continue;
    if (words + size > WORDS)
      return;
    words += size;
    move(&b, i);
  }
}

static void order_in(Cg *cg, LLVMValueRef f) {
  if (!cg_has_slow(cg, f))
    return;
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  /* From the end: what has passed one branch comes to another. */
  for (uint32_t k = g.len; k-- > 0;) {
    order_loads(cg, g.nodes[k].block);
    order_chains(cg, g.nodes[k].block);
    pass_branch(cg, &g, k);
  }
}

void cg_nvptx_loads_first(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    order_in(cg, f);
}
