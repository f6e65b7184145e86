/* NVPTX passed stores: loads in front of the stores that they come behind.
 *
 *   out[i, 0] = f(p) + shifts[body, 0]
 *   out[i, 1] = g(p) + shifts[body, 1]
 *
 * `out` may overlap `shifts`, so the second load stays behind the first store, which waits for the
 * first load: of all these loads one is in flight at a time. Where threads read rows that are far
 * apart, the row may have left the L1 cache by then, and comes from L2 once more.
 *
 * But the store changes what is loaded in one case only, where both are of the same place. Elements
 * of one size lie at its multiples, so that two of them are one place or have nothing in common:
 *
 *   a = load shifts[body, 0]; b = load shifts[body, 1]
 *   store stored to out[i, 0]
 *   b = stored if address of out[i, 0] == address of shifts[body, 1] else b
 *
 * which is what the thread itself has written. What others write in between is ordered neither
 * before nor after the load, as there is no barrier, fence, atomic or call between the two.
 *
 * What all threads load from one address stays: it is one line, which comes from L1 soon.
 *
 * In: functions as they go to the code generator. Out: in blocks outside of loops, loads in front
 * of the first of some stores, one of which waits for a load, if their addresses can be computed
 * there, and few comparisons tell whether they are of the same place. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_STORES = 6, /* that a load passes */
  MOST_TESTS = 8,  /* of the loads that pass one store */
  MOST_WORDS = 16, /* of 32 bits: what is loaded early takes registers */
  MOST_LOADS = 32, /* that are looked at */
  DEEP = 12        /* operations between an address and what it is made of */
};

/* An address: so many bytes behind another one. */
typedef struct Place {
  LLVMValueRef from;
  int64_t more;
} Place;

typedef struct Passing {
  Cg *cg;
  LLVMValueRef stores[MOST_STORES];
  unsigned n, tests, words, loads;
  bool waits;  /* one of the stores does, for a load of the block */
  bool stayed; /* a load behind the last of them did */
} Passing;

static uint64_t bytes_of(const Cg *cg, LLVMTypeRef t) { return LLVMABISizeOfType(cg->layout, t); }

static Place place_of(const Cg *cg, LLVMValueRef p) {
  Place at;
  at.from = cg_base_of(cg, p, &at.more);
  return at;
}

/* Does the access take a number of 4 or 8 bytes, at a multiple of them? */
static bool is_whole(const Cg *cg, LLVMValueRef access, LLVMTypeRef t) {
  return (t == cg->t.i32 || t == cg->t.i64 || t == cg->t.f32 || t == cg->t.f64) &&
         LLVMGetAlignment(access) >= bytes_of(cg, t);
}

/* Are both parts of one row or record? Its places are known, and not the same. */
static bool is_apart(const Cg *cg, LLVMValueRef load, LLVMValueRef store) {
  return place_of(cg, LLVMGetOperand(load, 0)).from == place_of(cg, LLVMGetOperand(store, 1)).from;
}

/* May the threads of a warp have different numbers there? What all of them read from one address is
 * one line of the cache, and comes soon. */
static bool differs(LLVMValueRef v, unsigned depth) {
  if (!LLVMIsAInstruction(v))
    return false;
  bool any = cg_nvptx_is_thread(v) || cg_is_op(v, LLVMLoad) || LLVMIsAPHINode(v) || depth == DEEP;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n && !any; k++)
    any = differs(LLVMGetOperand(v, k), depth + 1);
  return any;
}

static bool is_in_front(void *front, LLVMValueRef i) { return !copy_is_behind(front, i); }

/* How many comparisons it takes to load in front of the stores; MOST_TESTS + 1: it may not. */
static unsigned tests_of(const Passing *p, LLVMValueRef load) {
  const unsigned never = MOST_TESTS + 1;
  LLVMTypeRef t = LLVMTypeOf(load);
  unsigned tests = 0;
  if (!is_whole(p->cg, load, t))
    return never;
  for (unsigned k = 0; k < p->n; k++) {
    LLVMTypeRef stored = LLVMTypeOf(LLVMGetOperand(p->stores[k], 0));
    if (!is_whole(p->cg, p->stores[k], stored) || bytes_of(p->cg, stored) != bytes_of(p->cg, t))
      return never;
    bool apart = is_apart(p->cg, load, p->stores[k]);
    if (apart && place_of(p->cg, LLVMGetOperand(load, 0)).more ==
                     place_of(p->cg, LLVMGetOperand(p->stores[k], 1)).more)
      return never; /* the same place, which LLVM's passes see */
    tests += !apart;
  }
  Spot front = {.has = is_in_front, .user = p->stores[0]};
  return cg_is_ready(&front, LLVMGetOperand(load, 0)) ? tests : never;
}

/* Is the place of the load the store's? Where the builder is. */
static LLVMValueRef is_same(const Passing *p, LLVMValueRef load, LLVMValueRef store) {
  Cg *cg = p->cg;
  LLVMBuilderRef b = cg->builder;
  Place to = place_of(cg, LLVMGetOperand(load, 0)), of = place_of(cg, LLVMGetOperand(store, 1));
  LLVMValueRef apart = l_sub(b, l_ptrtoint(b, to.from, cg->t.i64),
                             l_ptrtoint(b, of.from, cg->t.i64));
  return l_icmp(b, LLVMIntEQ, apart, l_int(cg->t.i64, (uint64_t)(of.more - to.more)));
}

static void pass(Passing *p, LLVMValueRef load) {
  LLVMBuilderRef b = p->cg->builder;
  LLVMValueRef of[] = {NULL};
  LLVMTypeRef t = LLVMTypeOf(load);
  copy_move_front(b, p->stores[0], LLVMGetOperand(load, 0));
  LLVMPositionBuilderBefore(b, p->stores[0]);
  LLVMValueRef value = copy_ins(b, load, of);
  LLVMPositionBuilderBefore(b, load);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(load));
  for (unsigned k = 0; k < p->n; k++) {
    LLVMValueRef stored = LLVMGetOperand(p->stores[k], 0);
    if (is_apart(p->cg, load, p->stores[k]))
      continue;
    if (LLVMTypeOf(stored) != t)
      stored = l_bitcast(b, stored, t);
    value = l_select(b, is_same(p, load, p->stores[k]), stored, value);
  }
  LLVMReplaceAllUsesWith(load, value);
  LLVMInstructionEraseFromParent(load);
}

/* May it go in front of the stores? It takes its part of what may be tested and loaded. */
static bool goes(Passing *p, LLVMValueRef load) {
  if (!p->n || p->n > MOST_STORES || !p->waits || !cg_is_plain_access(load) ||
      p->loads++ >= MOST_LOADS ||
      LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(load, 0))) != NVPTX_GLOBAL ||
      !differs(LLVMGetOperand(load, 0), 0))
    return false;
  unsigned tests = tests_of(p, load), words = (unsigned)(bytes_of(p->cg, LLVMTypeOf(load)) + 3) / 4;
  if (p->tests + tests > MOST_TESTS || p->words + words > MOST_WORDS)
    return false;
  p->tests += tests;
  p->words += words;
  return true;
}

/* Of more stores than a load may pass those from a load on that stays. One behind stores without a
 * load between them stays too: what staged_stores.c writes together is not parted. */
static void visit_store(Passing *p, LLVMValueRef store) {
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(store, 1)));
  bool plain = cg_is_plain_access(store);
  if (plain && (space == NVPTX_SHARED || space == NVPTX_LOCAL))
    return; /* not where global loads are */
  if (!plain || space != NVPTX_GLOBAL || (p->n >= MOST_STORES && p->stayed))
    *p = (Passing){.cg = p->cg};
  if (!plain || space != NVPTX_GLOBAL)
    return;
  p->stayed = false;
  p->waits |= cg_is_of_load(LLVMGetOperand(store, 0), LLVMGetInstructionParent(store));
  if (p->n < MOST_STORES)
    p->stores[p->n] = store;
  p->n += p->n <= MOST_STORES;
}

/* May no load go from behind it to the front of it? */
static bool stops_loads(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMLoad))
    return !cg_is_plain_access(i);
  return !LLVMIsAPHINode(i) && !cg_is_speculatable(i) && !cg_is_slow(cg, i) && !cg_is_division(i) &&
         !cg_only_computes(i);
}

static void visit(Cg *cg, LLVMBasicBlockRef block) {
  Passing p = {.cg = cg};
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (cg_is_op(i, LLVMStore))
      visit_store(&p, i);
    else if (stops_loads(cg, i))
      p = (Passing){.cg = cg};
    else if (cg_is_op(i, LLVMLoad) && goes(&p, i))
      pass(&p, i);
    else
      p.stayed |= cg_is_op(i, LLVMLoad);
  }
}

static bool has_both(LLVMBasicBlockRef block) {
  bool stored = false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (stored && cg_is_op(i, LLVMLoad))
      return true;
    stored |= cg_is_op(i, LLVMStore);
  }
  return false;
}

void cg_nvptx_passed_stores(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    VEC(LLVMBasicBlockRef) blocks = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (has_both(b))
        VEC_PUSH(&cg->cx->arena, &blocks, b);
    if (!blocks.len)
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    for (uint32_t k = 0; k < blocks.len; k++) {
      uint32_t n = graph_number(&g, blocks.data[k]);
      if (n != GRAPH_NONE && g.nodes[n].loop == GRAPH_NONE)
        visit(cg, blocks.data[k]);
    }
  }
}
