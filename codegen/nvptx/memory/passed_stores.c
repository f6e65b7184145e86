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
 * What all threads load from one address stays where a test would be needed: it is one line, which
 * comes from L1 soon. Of arrays that lie apart (apart.c) none is, and it passes one store.
 *
 * A store behind a condition is passed as well, by what is loaded behind both ways:
 *
 *   for part in range(4):                     # unrolled
 *     value = scan(words[first + part * width])
 *     if place + 32 * part < out.size: out[place + 32 * part] = value
 *
 * It has changed what is loaded where the condition holds, too. What is loaded behind a condition
 * as well, as where a thread has several elements,
 *
 *   for k in range(4):
 *     j = first + k * blockDim.x
 *     if j < out.size: out[j] = f(x[j])
 *
 * takes its condition along, as a branch around it, of which ptxas makes a predicate. Neither do a
 * warp's shuffles hold loads back, which order nothing that is stored in memory.
 *
 * In: functions as they go to the code generator. Out: in blocks outside of loops, and chains of
 * them with short sides, loads in front of the first of some stores, one of which waits for a load,
 * if their addresses can be computed there, and few comparisons tell whether they are of the same
 * place. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_STORES = 6, /* that a load passes */
  /* what it takes to compare a load's place with a store's, and, of stores behind conditions, with
   * another one that is a constant away from it; for all loads that pass one store */
  FIRST_TEST = 3,
  NEXT_TEST = 1,
  MOST_TESTS = 24,
  MOST_BLOCKS = 32, /* of a chain */
  MOST_WORDS = 16,  /* of 32 bits: what is loaded early takes registers */
  MOST_OF_ONE = 8,  /* of what all threads load from one address, in front of a store */
  MOST_LOADS = 32,  /* that are looked at */
  FEW_LOADS = 2,    /* of a side */
  DEEP = 12         /* operations between an address and what it is made of */
};

/* An address: so many bytes behind another one. */
typedef struct Place {
  LLVMValueRef from;
  int64_t more;
} Place;

typedef struct Stored {
  LLVMValueRef store, front; /* front: the store, or the branch by its condition */
  LLVMValueRef condition;    /* NULL: none */
  bool otherwise;            /* it is made where the condition does not hold */
  LLVMBasicBlockRef on;      /* what comes behind it and its condition */
  LLVMValueRef value;        /* there, where it was made; NULL: nothing has asked yet */
} Stored;

typedef struct Passing {
  Cg *cg;
  const FnGraph *g;
  bool *seen;                           /* of nodes: part of a chain that was visited */
  LLVMBasicBlockRef chain[MOST_BLOCKS]; /* each comes behind those in front of it */
  unsigned blocks;
  bool loaded; /* something in the chain is */
  Stored stores[MOST_STORES];
  unsigned n, tests, words, loads;
  unsigned first;        /* store that the load passes now */
  unsigned words_of_one; /* since the last store */
  bool waits;            /* one of the stores does, for a load of the block, or of the chain */
  bool stayed;           /* a load behind the last of them did */
} Passing;

/* No load goes in front of what comes now. */
static void start_anew(Passing *p) {
  p->n = p->tests = p->words = p->words_of_one = p->loads = 0;
  p->waits = p->stayed = false;
}

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

static LLVMValueRef address_of(LLVMValueRef access) {
  return LLVMGetOperand(access, cg_is_op(access, LLVMStore));
}

/* Are both parts of one row or record? Its places are known. */
static bool is_apart(const Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  return place_of(cg, address_of(a)).from == place_of(cg, address_of(b)).from;
}

/* Are they of two arrays, which lie apart (apart.c)? What a function is given may be one array. */
static bool is_of_another(const Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef x = cg_array_of(address_of(a)), y = cg_array_of(address_of(b));
  return cg->out->needs_apart && x != y && cg_is_kernel_argument(x) && cg_is_kernel_argument(y);
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

/* A place in the chain. */
typedef struct Front {
  const Passing *p;
  LLVMValueRef at;
} Front;

/* Is v that instruction, or one of the chain behind it? */
static bool is_behind(const Front *f, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v))
    return false;
  LLVMBasicBlockRef in = LLVMGetInstructionParent(v), at = LLVMGetInstructionParent(f->at);
  if (in == at)
    return copy_is_behind(f->at, v);
  unsigned k = f->p->blocks;
  while (k && f->p->chain[k - 1] != in && f->p->chain[k - 1] != at)
    k--;
  return k && f->p->chain[k - 1] == in;
}

static bool is_in_front(void *front, LLVMValueRef i) { return !is_behind(front, i); }

static bool is_ready_at(const Passing *p, LLVMValueRef at, LLVMValueRef v) {
  Spot spot = {.has = is_in_front, .user = &(Front){p, at}};
  return cg_is_ready(&spot, v);
}

/* Moves v, and what it is computed of, there, where it is ready. */
static void move_to(const Passing *p, LLVMValueRef at, LLVMValueRef v) {
  if (!is_behind(&(Front){p, at}, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move_to(p, at, LLVMGetOperand(v, k));
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(p->cg->builder, at);
  l_insert(p->cg->builder, v);
}

/* Of the load's place with that of store k, if it passes all before that. */
static unsigned test_of(const Passing *p, LLVMValueRef load, unsigned k) {
  const Stored *of = &p->stores[k];
  if (is_apart(p->cg, load, of->store))
    return 0;
  for (unsigned j = 0; j < k && of->condition; j++)
    if (p->stores[j].condition && !is_apart(p->cg, load, p->stores[j].store) &&
        is_apart(p->cg, p->stores[j].store, of->store))
      return NEXT_TEST;
  return FIRST_TEST;
}

/* What it takes to load in front of the stores; MOST_TESTS + 1: it may not. */
static unsigned tests_of(const Passing *p, LLVMValueRef load) {
  const unsigned never = MOST_TESTS + 1;
  LLVMTypeRef t = LLVMTypeOf(load);
  unsigned tests = 0;
  for (unsigned k = p->first; k < p->n; k++) {
    LLVMValueRef store = p->stores[k].store;
    LLVMTypeRef stored = LLVMTypeOf(LLVMGetOperand(store, 0));
    if (is_of_another(p->cg, load, store))
      continue;
    if (!is_whole(p->cg, load, t) || !is_whole(p->cg, store, stored) ||
        bytes_of(p->cg, stored) != bytes_of(p->cg, t))
      return never;
    if (is_apart(p->cg, load, store) && place_of(p->cg, LLVMGetOperand(load, 0)).more ==
                                            place_of(p->cg, LLVMGetOperand(store, 1)).more)
      return never; /* the same place, which LLVM's passes see */
    tests += test_of(p, load, k);
  }
  return is_ready_at(p, p->stores[p->first].front, LLVMGetOperand(load, 0)) ? tests : never;
}

/* Was what the load reads stored there? Where the builder is. The address of a store that was not
 * made may be poison. */
static LLVMValueRef is_same(const Passing *p, LLVMValueRef load, const Stored *s) {
  Cg *cg = p->cg;
  LLVMBuilderRef b = cg->builder;
  Place to = place_of(cg, LLVMGetOperand(load, 0)), of = place_of(cg, LLVMGetOperand(s->store, 1));
  LLVMValueRef apart = l_sub(b, l_ptrtoint(b, to.from, cg->t.i64),
                             l_ptrtoint(b, of.from, cg->t.i64));
  LLVMValueRef same = l_icmp(b, LLVMIntEQ, apart, l_int(cg->t.i64, (uint64_t)(of.more - to.more))),
               no = l_int(cg->t.i1, 0);
  if (!s->condition)
    return same;
  return s->otherwise ? l_select(b, s->condition, no, same) : l_select(b, s->condition, same, no);
}

/* What the store writes, as it is known behind it. */
static LLVMValueRef value_of(const Passing *p, Stored *s) {
  LLVMValueRef v = LLVMGetOperand(s->store, 0);
  if (!s->condition)
    return v;
  if (is_ready_at(p, s->front, v)) {
    move_to(p, s->front, v);
    return v;
  }
  if (!s->value) {
    LLVMValueRef both[] = {v, LLVMGetPoison(LLVMTypeOf(v))};
    LLVMBasicBlockRef from[] = {LLVMGetInstructionParent(s->store),
                                LLVMGetInstructionParent(s->front)};
    LLVMPositionBuilderBefore(p->cg->builder, LLVMGetFirstInstruction(s->on));
    LLVMSetCurrentDebugLocation2(p->cg->builder, NULL);
    s->value = l_phi(p->cg->builder, LLVMTypeOf(v));
    LLVMAddIncoming(s->value, both, from, 2);
  }
  return s->value;
}

/* A copy of the load at the front, behind its condition. */
static LLVMValueRef load_if(Passing *p, LLVMValueRef front, LLVMValueRef load, const Fork *fork) {
  LLVMBuilderRef b = p->cg->builder;
  LLVMBasicBlockRef on = LLVMGetInstructionParent(front), before = graph_cut_before(p->cg, front),
                    only = LLVMInsertBasicBlockInContext(p->cg->context, on, "");
  bool otherwise = fork->no == LLVMGetInstructionParent(load);
  unsigned k = p->blocks++;
  for (; p->chain[k - 1] != on; k--)
    p->chain[k] = p->chain[k - 1];
  p->chain[k] = on;
  p->chain[k - 1] = before;
  l_at_end(b, before, NULL);
  l_condbr(b, fork->condition, otherwise ? on : only, otherwise ? only : on);
  l_at_end(b, only, NULL);
  LLVMValueRef of[] = {NULL}, both[] = {copy_ins(b, load, of), LLVMGetPoison(LLVMTypeOf(load))};
  l_br(b, on);
  LLVMPositionBuilderBefore(b, front);
  LLVMValueRef value = l_phi(b, LLVMTypeOf(load));
  LLVMAddIncoming(value, both, (LLVMBasicBlockRef[]){only, before}, 2);
  return value;
}

/* fork: by what condition the load is made; NULL: always. */
static void pass(Passing *p, LLVMValueRef load, const Fork *fork) {
  LLVMBuilderRef b = p->cg->builder;
  LLVMValueRef of[] = {NULL}, front = p->stores[p->first].front, value;
  LLVMTypeRef t = LLVMTypeOf(load);
  move_to(p, front, LLVMGetOperand(load, 0));
  LLVMPositionBuilderBefore(b, front);
  if (fork) {
    move_to(p, front, fork->condition);
    value = load_if(p, front, load, fork);
  } else {
    value = copy_ins(b, load, of);
  }
  for (unsigned k = p->first; k < p->n; k++) {
    Stored *s = &p->stores[k];
    if (is_apart(p->cg, load, s->store) || is_of_another(p->cg, load, s->store))
      continue;
    LLVMValueRef stored = value_of(p, s);
    if (s->condition) /* where it stores that is read behind it, too */
      move_to(p, s->front, LLVMGetOperand(s->store, 1));
    LLVMPositionBuilderBefore(b, load);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(load));
    if (LLVMTypeOf(stored) != t)
      stored = l_bitcast(b, stored, t);
    value = l_select(b, is_same(p, load, s), stored, value);
  }
  LLVMReplaceAllUsesWith(load, value);
  LLVMInstructionEraseFromParent(load);
}

static unsigned count_loads(LLVMBasicBlockRef block) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n += cg_is_op(i, LLVMLoad);
  return n;
}

/* May one that is behind this condition? Not where a store of its own side is the first, nor of a
 * side that has many, which are in flight together as they are. */
static bool may_be_asked(const Passing *p, const Fork *fork) {
  LLVMValueRef front = p->stores[0].front;
  return p->blocks < MOST_BLOCKS && LLVMIsATerminatorInst(front) &&
         LLVMGetInstructionParent(front) != p->chain[p->blocks - 2] &&
         count_loads(p->chain[p->blocks - 1]) <= FEW_LOADS &&
         is_ready_at(p, front, fork->condition);
}

/* May it go in front of the stores? It takes its part of what may be tested and loaded. */
static bool goes(Passing *p, LLVMValueRef load, const Fork *fork) {
  if (!p->n || p->n > MOST_STORES || !p->waits || !cg_is_plain_access(load) ||
      p->loads++ >= MOST_LOADS ||
      LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(load, 0))) != NVPTX_GLOBAL ||
      (fork && !may_be_asked(p, fork)))
    return false;
  bool one = !differs(LLVMGetOperand(load, 0), 0); /* address, for all threads */
  p->first = one ? p->n - 1 : 0;
  unsigned tests = tests_of(p, load), words = (unsigned)(bytes_of(p->cg, LLVMTypeOf(load)) + 3) / 4,
           *taken = one ? &p->words_of_one : &p->words;
  if (p->tests + tests > MOST_TESTS || *taken + words > (one ? MOST_OF_ONE : MOST_WORDS) ||
      (one && (tests || fork)))
    return false;
  p->tests += tests;
  *taken += words;
  return true;
}

/* Of more stores than a load may pass those from a load on that stays. One behind stores without a
 * load between them stays too: what staged_stores.c writes together is not parted. */
static void visit_store(Passing *p, Stored s) {
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(s.store, 1)));
  bool plain = cg_is_plain_access(s.store);
  if (plain && (space == NVPTX_SHARED || space == NVPTX_LOCAL))
    return; /* not where global loads are */
  bool passed = plain && space == NVPTX_GLOBAL &&
                (!s.condition || is_ready_at(p, s.front, LLVMGetOperand(s.store, 1)));
  if (!passed || (p->n >= MOST_STORES && p->stayed))
    start_anew(p);
  if (!passed)
    return;
  p->stayed = false;
  p->words_of_one = 0;
  p->waits |= s.condition
                  ? p->loaded
                  : cg_is_of_load(LLVMGetOperand(s.store, 0), LLVMGetInstructionParent(s.store));
  if (p->n < MOST_STORES)
    p->stores[p->n] = s;
  p->n += p->n <= MOST_STORES;
}

/* May no load go from behind it to the front of it? */
static bool stops_loads(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMLoad))
    return !cg_is_plain_access(i);
  return !LLVMIsAPHINode(i) && !cg_is_speculatable(i) && !cg_is_slow(cg, i) && !cg_is_division(i) &&
         !cg_only_computes(i) && !cg_is_call_of_any(i, "llvm.nvvm.shfl.sync.");
}

/* fork: NULL, or by what condition the block runs, which is then one of its sides. */
static void visit_block(Passing *p, LLVMBasicBlockRef block, const Fork *fork) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block), next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != end; i = next) {
    next = LLVMGetNextInstruction(i);
    Stored s = {.store = i, .front = i};
    if (fork) {
      s.front = LLVMGetBasicBlockTerminator(p->chain[p->blocks - 2]);
      s.condition = fork->condition;
      s.otherwise = fork->no == block;
      s.on = s.otherwise ? fork->yes : fork->no;
    }
    bool load = cg_is_op(i, LLVMLoad);
    if (cg_is_op(i, LLVMStore)) {
      visit_store(p, s);
    } else if (stops_loads(p->cg, i)) {
      start_anew(p);
      p->loaded = load = false;
    } else if (load && goes(p, i, fork)) {
      pass(p, i, fork);
    } else {
      p->stayed |= load;
    }
    p->loaded |= load;
  }
}

/* --- chains --- */

/* The side of a fork that leads to nothing but the other way, *on; NULL: it has none. */
static LLVMBasicBlockRef side_of(const Fork *fork, LLVMBasicBlockRef *on) {
  bool yes = graph_next(fork->yes) == fork->no;
  *on = yes ? fork->no : fork->yes;
  return yes ? fork->yes : graph_next(fork->no) == fork->yes ? fork->no : NULL;
}

static bool is_outside_of_loops(const Passing *p, LLVMBasicBlockRef block, unsigned preds) {
  uint32_t n = graph_number(p->g, block);
  return n != GRAPH_NONE && p->g->nodes[n].loop == GRAPH_NONE && p->g->nodes[n].npred == preds;
}

/* Visits the side at the end of the block, and gives the block behind it; NULL: the chain ends. */
static LLVMBasicBlockRef visit_side(Passing *p, LLVMBasicBlockRef block) {
  Fork fork;
  LLVMBasicBlockRef on, side;
  if (!graph_fork(LLVMGetBasicBlockTerminator(block), &fork) || p->blocks + 2 > MOST_BLOCKS ||
      !(side = side_of(&fork, &on)) || !is_outside_of_loops(p, side, 1) ||
      !is_outside_of_loops(p, on, 2))
    return NULL;
  p->chain[p->blocks++] = side;
  visit_block(p, side, &fork);
  p->chain[p->blocks++] = on;
  return on;
}

static void visit_chain(Passing *p, LLVMBasicBlockRef block) {
  uint32_t n = graph_number(p->g, block);
  if (n == GRAPH_NONE || p->seen[n] || p->g->nodes[n].loop != GRAPH_NONE)
    return;
  p->loaded = false;
  p->blocks = 0;
  p->chain[p->blocks++] = block;
  start_anew(p);
  for (; block; block = visit_side(p, block)) {
    p->seen[graph_number(p->g, block)] = true;
    visit_block(p, block, NULL);
  }
}

static bool has(LLVMBasicBlockRef block, LLVMOpcode op) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (cg_is_op(i, op))
      return true;
  return false;
}

/* The side at the end of the block, and what comes behind it; NULL: it has none. */
static LLVMBasicBlockRef side_at(LLVMBasicBlockRef block, LLVMBasicBlockRef *on) {
  Fork fork;
  return graph_fork(LLVMGetBasicBlockTerminator(block), &fork) ? side_of(&fork, on) : NULL;
}

/* Is there a load behind a store: in the block, behind the side at its end, or on the next one? */
static bool has_both(LLVMBasicBlockRef block) {
  bool stored = false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (stored && cg_is_op(i, LLVMLoad))
      return true;
    stored |= cg_is_op(i, LLVMStore);
  }
  LLVMBasicBlockRef on, side = side_at(block, &on);
  if (!side || !(stored || has(side, LLVMStore)))
    return false;
  LLVMBasicBlockRef end, next = side_at(on, &end);
  return has(on, LLVMLoad) || (next && has(next, LLVMLoad));
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
    Passing p = {.cg = cg, .g = &g, .seen = CX_ARRAY(cg->cx, bool, g.len)};
    for (uint32_t k = 0; k < blocks.len; k++)
      visit_chain(&p, blocks.data[k]);
  }
}
