/* NVPTX loads ahead: loads of several iterations in front of the first store, or slow operation.
 *
 *   for k in range(1, x.shape[0] - 1):
 *     out[k, i] = x[k - 1, i] + x[k, i] + x[k + 1, i]
 *
 * ssa/apart_versions.c has found that `out` and `x` are apart, and LLVM has unrolled the loop, but
 * what it emits is in the order of the iterations, and ptxas, which knows nothing of the arrays,
 * moves no load over a store. So here the loads of all iterations in a row go to the beginning:
 *
 *   v0 = x[k - 1]; v1 = x[k]; v2 = x[k + 1]; v3 = x[k + 2]; …
 *   out[k] = v0 + v1 + v2; out[k + 1] = v1 + v2 + v3; …
 *
 * A load behind a condition that is known there takes it along, as a branch around it, of which
 * ptxas makes a predicate. What its address is computed of moves with it, loads that are ahead
 * themselves among it. What all iterations load from one address is loaded once, in front of the
 * loop.
 *
 * In a loop that stores nothing, each iteration may have a quotient or root behind a condition:
 *
 *   for k in range(neighbours.shape[0]):
 *     j = neighbours[k, i]
 *     …
 *     if r2 < cutoff2: force += 1.0 / r2
 *
 * ptxas gives it a branch to a slow path, and moves no load over that, so that only the loads of
 * one iteration are in flight. Here no array need be known to be apart, so what all iterations load
 * by their counter goes to the beginning, without a mark. What they load by what was loaded stays:
 * in front it would wait for that.
 *
 * In: a module that only the code generator is still to see. Out: such loads at the beginning of
 * their unrolled loops; where they are more than have registers, in groups, the next of which is
 * where its first load was. A loop that stores anything but what they may pass, or that is left
 * elsewhere than at its end, stays as it is. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"

enum {
  WORDS = 8, /* of 32 bits: what may be in flight, beside what the loop keeps in registers */
  ONCE = 8,  /* loads in front of a loop */
  DEEP = 8   /* sums and products that an address is made of */
};

typedef struct Ahead {
  LLVMValueRef load, condition; /* condition NULL: none */
  bool otherwise;               /* it is loaded where the condition does not hold */
} Ahead;

typedef struct Loop {
  Cg *cg;
  const FnGraph *g;
  uint32_t number, latch;
  bool stores, slow; /* does anything in it */
  ValueMap place;    /* its instructions, but for the header's phis, in their order */
  ValueMap free;     /* loads that need no mark */
  ValueMap moved; /* what is in front of a group that has been written, and so of all later ones */
  VEC(LLVMValueRef) dead;
} Loop;

/* Loads that are issued together, in front of an instruction. */
typedef struct Group {
  LLVMValueRef front;
  uint32_t from;  /* its place: several groups have one, where loads share a condition */
  ValueMap ahead; /* loads of the group */
  VEC(Ahead) loads;
  unsigned words;
  bool gains; /* a store, or in another block a slow operation, is in front of one of them */
} Group;

static bool has(const ValueMap *m, LLVMValueRef v) { return valuemap_get(m, v) != VALUEMAP_NONE; }

/* May loads with CG_AHEAD go in front of it? */
static bool may_be_passed(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMStore)) {
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 1)));
    return cg_goes_ahead(cg, i) ||
           (cg_is_plain_access(i) && (space == NVPTX_SHARED || space == NVPTX_LOCAL));
  }
  if (cg_is_op(i, LLVMAtomicRMW))
    return cg_goes_ahead(cg, i);
  if (cg_is_op(i, LLVMLoad))
    return cg_is_plain_access(i);
  return LLVMIsATerminatorInst(i) || cg_is_speculatable(i) || cg_only_computes(i) ||
         cg_is_division(i) || cg_is_op(i, LLVMFRem) || cg_is_slow(cg, i) ||
         cg_is_function_of_operands(i);
}

static bool writes(LLVMValueRef i) { return cg_is_op(i, LLVMStore) || cg_is_op(i, LLVMAtomicRMW); }

static unsigned words_of(const Cg *cg, LLVMValueRef load) {
  return (unsigned)(LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(load)) + 31) / 32;
}

/* Its instructions get their places. False: some of them may not be passed. */
static bool read_block(Loop *l, LLVMBasicBlockRef block, bool header, uint32_t *place) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (!may_be_passed(l->cg, i))
      return false;
    l->stores |= writes(i);
    l->slow |= cg_is_slow(l->cg, i);
    if (!header || !LLVMIsAPHINode(i))
      valuemap_set(&l->place, i, ++*place);
  }
  return true;
}

/* Is it an unrolled loop that is left at its end only, and may all that is in it be passed? */
static bool read_loop(Loop *l) {
  const GraphLoop *loop = &l->g->loops.data[l->number];
  if (!loop->innermost || loop->nlatches != 1)
    return false;
  l->latch = loop->latches[0];
  if (!cg_mark_of(l->cg, l->g->nodes[l->latch].block, MARK_UNROLLED))
    return false;
  uint32_t place = 0;
  for (uint32_t k = loop->header; k < l->g->len; k++) {
    const GraphNode *n = &l->g->nodes[k];
    if (n->loop != l->number)
      continue;
    for (uint32_t s = 0; s < n->nsucc && k != l->latch; s++)
      if (l->g->nodes[n->succ[s]].loop != l->number)
        return false;
    if (!read_block(l, n->block, k == loop->header, &place))
      return false;
  }
  return true;
}

static bool is_before(void *loop, LLVMValueRef i) { return !has(&((const Loop *)loop)->place, i); }

/* Is v made of the thread's place, as far as that can be seen? */
static bool is_of_thread(LLVMValueRef v, unsigned depth) {
  if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || depth == DEEP)
    return false;
  bool is = cg_nvptx_is_thread(v);
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n && !is; k++)
    is = is_of_thread(LLVMGetOperand(v, k), depth + 1);
  return is;
}

/* Where nothing is stored: what each iteration loads from global memory by an address that is known
 * when the loop's first instruction is reached. It is loaded whenever that is, since the loop is
 * left at its end only. What all threads load from one address is in the cache, and stays. */
static void find_free(Loop *l) {
  if (l->stores || !l->slow)
    return;
  Spot front = {.has = is_before, .user = l};
  for (uint32_t node = 0; node < l->g->len; node++) {
    if (l->g->nodes[node].loop != l->number || !graph_dominates(l->g, node, l->latch))
      continue;
    LLVMBasicBlockRef block = l->g->nodes[node].block;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
      if (cg_is_op(i, LLVMLoad) && cg_is_plain_access(i) &&
          LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == NVPTX_GLOBAL &&
          is_of_thread(LLVMGetOperand(i, 0), 0) && cg_is_ready(&front, LLVMGetOperand(i, 0)))
        valuemap_set(&l->free, i, 1);
  }
}

/* To be erased when the loop has been written, since what comes at its address then would be taken
 * for it in the maps. */
static void drop(Loop *l, LLVMValueRef i, LLVMValueRef instead) {
  LLVMReplaceAllUsesWith(i, instead);
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++)
    LLVMSetOperand(i, k, LLVMGetPoison(LLVMTypeOf(LLVMGetOperand(i, k))));
  VEC_PUSH(&l->cg->cx->arena, &l->dead, i);
}

/* --- in front of the loop --- */

static bool is_ahead(const Loop *l, LLVMValueRef i) {
  return cg_is_op(i, LLVMLoad) && LLVMGetFirstUse(i) &&
         (has(&l->free, i) || cg_goes_ahead(l->cg, i));
}

/* What each iteration loads from the same address. */
static void load_once(Loop *l) {
  LLVMValueRef front = graph_front(l->g, l->number), once[ONCE];
  unsigned n = 0;
  if (!front || graph_count_edges(front) != 1) /* the loop might not be entered */
    return;
  for (uint32_t node = 0; node < l->g->len; node++) {
    LLVMBasicBlockRef block = l->g->nodes[node].block;
    if (l->g->nodes[node].loop != l->number || !graph_dominates(l->g, node, l->latch))
      continue;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      unsigned k = 0;
      if (!is_ahead(l, i) || graph_in_loop(l->g, l->number, LLVMGetOperand(i, 0)))
        continue;
      while (k < n && (LLVMGetOperand(once[k], 0) != LLVMGetOperand(i, 0) ||
                       LLVMTypeOf(once[k]) != LLVMTypeOf(i)))
        k++;
      if (k < n) {
        drop(l, i, once[k]);
      } else if (n < ONCE) {
        LLVMInstructionRemoveFromParent(once[n++] = i);
        LLVMPositionBuilderBefore(l->cg->builder, front);
        l_insert(l->cg->builder, i);
      }
    }
  }
}

/* --- a group in front --- */

/* Not there yet: it is, or comes behind, the group's front. What comes before that is known there,
 * since it is on the way to a load behind it. */
static bool is_behind(const Loop *l, const Group *g, LLVMValueRef v) {
  uint32_t place = LLVMIsAInstruction(v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  return place != VALUEMAP_NONE && place >= g->from && !has(&l->moved, v);
}

typedef struct Front {
  const Loop *loop;
  const Group *group;
} Front;

static bool is_known(void *front, LLVMValueRef i) {
  const Front *f = front;
  return !is_behind(f->loop, f->group, i) || has(&f->group->ahead, i);
}

/* To the builder, which may be right in front of v itself. */
static void move(Loop *l, Group *g, LLVMValueRef v) {
  if (!is_behind(l, g, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move(l, g, LLVMGetOperand(v, k));
  valuemap_set(&l->moved, v, 1);
  if (v == g->front && LLVMGetInstructionParent(v) == LLVMGetInsertBlock(l->cg->builder)) {
    g->front = LLVMGetNextInstruction(v);
    LLVMPositionBuilderBefore(l->cg->builder, g->front);
  } else {
    LLVMInstructionRemoveFromParent(v);
    l_insert(l->cg->builder, v);
  }
}

/* By what all readers of a byte or half word extend it to 32 bits or more; 0: by different
 * operations, or by none. */
static LLVMOpcode extension_of(LLVMValueRef load) {
  LLVMTypeRef t = LLVMTypeOf(load);
  LLVMUseRef u = LLVMGetFirstUse(load);
  if (!u || LLVMGetTypeKind(t) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(t) >= 32 ||
      !cg_is_extension(LLVMGetUser(u)))
    return (LLVMOpcode)0;
  LLVMOpcode op = LLVMGetInstructionOpcode(LLVMGetUser(u));
  for (; u; u = LLVMGetNextUse(u))
    if (!cg_is_op(LLVMGetUser(u), op) || LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetUser(u))) < 32)
      return (LLVMOpcode)0;
  return op;
}

/* The readers of the load read v, the phi behind the branch around it, which may have been extended
 * to 32 bits. */
static void read_instead(Loop *l, LLVMValueRef load, LLVMValueRef v) {
  if (LLVMTypeOf(load) == LLVMTypeOf(v)) {
    LLVMReplaceAllUsesWith(load, v);
    return;
  }
  for (LLVMUseRef u = LLVMGetFirstUse(load), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef reader = LLVMGetUser(u);
    if (LLVMTypeOf(reader) != LLVMTypeOf(v))
      LLVMSetOperand(reader, 0, v);
    else
      drop(l, reader, v);
  }
}

/* Loads behind a branch, in front of `next`, and goes on behind that. ptxas would not know of a phi
 * of bytes that the upper part of its register is zero, so they are extended where they are
 * loaded. */
static void load_behind(Loop *l, Group *g, const Ahead *a, LLVMBasicBlockRef next) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b),
                    yes = LLVMInsertBasicBlockInContext(l->cg->context, next, ""),
                    on = LLVMInsertBasicBlockInContext(l->cg->context, next, "");
  LLVMOpcode extends = extension_of(a->load);
  l_condbr(b, a->condition, a->otherwise ? on : yes, a->otherwise ? yes : on);
  l_at_end(b, on, NULL);
  LLVMTypeRef type = extends ? l->cg->t.i32 : LLVMTypeOf(a->load);
  LLVMValueRef phi = l_phi(b, type), without = LLVMGetPoison(type), v = a->load;
  read_instead(l, a->load, phi);
  l_at_end(b, yes, NULL);
  move(l, g, a->load);
  if (extends)
    v = l_cast(b, extends, v, type);
  l_br(b, on);
  LLVMAddIncoming(phi, (LLVMValueRef[]){v, without}, (LLVMBasicBlockRef[]){yes, from}, 2);
  l_at_end(b, on, NULL);
}

static void write_group(Loop *l, Group *g) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMBasicBlockRef next = NULL; /* where the front is, if what comes before it is cut off */
  LLVMPositionBuilderBefore(b, g->front);
  for (uint32_t k = 0; k < g->loads.len; k++) {
    const Ahead *a = &g->loads.data[k];
    if (a->condition && !next) {
      next = LLVMGetInstructionParent(g->front);
      l_at_end(b, graph_cut_before(l->cg, g->front), NULL);
    }
    move(l, g, LLVMGetOperand(a->load, 0));
    if (a->condition) {
      move(l, g, a->condition);
      load_behind(l, g, a, next);
    } else {
      move(l, g, a->load);
    }
  }
  if (next)
    l_br(b, next);
}

/* --- the groups of a loop --- */

/* By which condition does an iteration come to the node? False: by several. */
static bool read_condition(const Loop *l, uint32_t node, Ahead *a) {
  const GraphNode *n = &l->g->nodes[node];
  Fork fork;
  if (graph_dominates(l->g, node, l->latch))
    return true;
  if (n->npred != 1 || !graph_dominates(l->g, n->pred[0], l->latch) ||
      !graph_fork(l->g->nodes[n->pred[0]].last, &fork) || fork.yes == fork.no)
    return false;
  a->condition = fork.condition;
  a->otherwise = fork.no == n->block;
  return true;
}

static Group group_at(const Loop *l, LLVMValueRef front) {
  Arena *arena = &l->cg->cx->arena;
  return (Group){.front = front, .from = valuemap_get(&l->place, front), .ahead.arena = arena};
}

/* Words in a group, so that groups are alike; 0: there is nothing to load. */
static unsigned size_of_groups(const Loop *l) {
  unsigned words = 0;
  for (uint32_t node = 0; node < l->g->len; node++) {
    const GraphNode *n = &l->g->nodes[node];
    for (LLVMValueRef i = LLVMGetFirstInstruction(n->block); i; i = LLVMGetNextInstruction(i))
      words += n->loop == l->number && is_ahead(l, i) ? words_of(l->cg, i) : 0;
  }
  unsigned groups = (words + WORDS - 1) / WORDS;
  return groups ? (words + groups - 1) / groups : 0;
}

/* The groups are planned on the loop as it is, and written when all are known. */
static void order_loop(Loop *l) {
  const GraphLoop *loop = &l->g->loops.data[l->number];
  Arena *arena = &l->cg->cx->arena;
  VEC(Group) all = {0};
  unsigned most = size_of_groups(l);
  if (!most)
    return;
  Group now = group_at(l, graph_behind_phis(l->g->nodes[loop->header].block));
  bool passed = false, slow = false;
  for (uint32_t node = loop->header; node < l->g->len; node++) {
    const GraphNode *n = &l->g->nodes[node];
    if (n->loop != l->number)
      continue;
    passed |= slow; /* loads_first.c has seen to those of the block itself */
    slow = false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(n->block); i; i = LLVMGetNextInstruction(i)) {
      Ahead a = {.load = i};
      passed |= writes(i);
      slow |= cg_is_slow(l->cg, i);
      if (!is_ahead(l, i) || !read_condition(l, node, &a))
        continue;
      if (now.words >= most) { /* the first of the next group */
        VEC_PUSH(arena, &all, now);
        now = group_at(l, a.condition ? l->g->nodes[n->pred[0]].last : LLVMGetNextInstruction(i));
        passed = slow = false;
        if (!a.condition) { /* it stays where it is */
          now.words = words_of(l->cg, i);
          continue;
        }
      }
      Spot front = {.has = is_known, .user = &(Front){l, &now}};
      if (!cg_is_ready(&front, LLVMGetOperand(i, 0)) ||
          (a.condition && !cg_is_ready(&front, a.condition)))
        continue;
      now.words += words_of(l->cg, i);
      now.gains |= passed;
      valuemap_set(&now.ahead, i, 1);
      VEC_PUSH(arena, &now.loads, a);
    }
  }
  VEC_PUSH(arena, &all, now);
  for (uint32_t k = 0; k < all.len; k++)
    if (all.data[k].gains)
      write_group(l, &all.data[k]);
  for (uint32_t k = 0; k < l->dead.len; k++)
    LLVMInstructionEraseFromParent(l->dead.data[k]);
}

static void order_loads(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    Arena *arena = &cg->cx->arena;
    Loop l = {.cg = cg,
              .g = &g,
              .number = k,
              .place.arena = arena,
              .free.arena = arena,
              .moved.arena = arena};
    if (!read_loop(&l))
      continue;
    find_free(&l);
    load_once(&l);
    order_loop(&l);
  }
}

/* May there be anything to do? */
static bool has_work(const Cg *cg, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_slow(cg, i) || (cg_is_op(i, LLVMLoad) && cg_goes_ahead(cg, i)))
        return true;
  return false;
}

void cg_nvptx_loads_ahead(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (has_work(cg, f))
      order_loads(cg, f);
}
