/* NVPTX leave early: threads that have nothing left to do leave in front of what only the others
 * need.
 *
 *   total = block_total(s, parts)                # ends with a barrier
 *   inverse = 1 / math.sqrt(total / width + epsilon)
 *   for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
 *     out[row, k] = (x[row, k] - mean) * inverse
 *
 * Of a row that is shorter than its block most warps have no iteration of the loop, but all of them
 * add up the block's sum, divide twice and take a root. Whether there is one is known at the
 * kernel's beginning. It is asked behind the barrier, the last thing that others see of the thread:
 *
 *   if cuda.threadIdx.x >= width: return
 *
 * Between barriers the same is done where threads meet again,
 *
 *   mean = block_total(s, parts) / width         # behind the question, too
 *   for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
 *     s += (x[row, k] - mean) ** 2
 *   total = block_total(s, parts)
 *
 * if what is computed there is read behind such questions only.
 *
 * Nothing but the time changes: behind this point such a thread only loads and computes, on all
 * ways to the kernel's end, on which it meets no loop, store, barrier, call or check. The question
 * costs nothing, since it is asked anyway, further down, and no more then. It must be one that
 * whole warps can answer alike, by their place in the block or the grid: where some lanes stay, so
 * does the work.
 *
 * In: kernels after coarsening, with their loops unrolled. Out: such branches moved up. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/loops/strided_unroll.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum {
  MOST_BLOCKS = 400,    /* of a function that is looked at */
  MOST_CONDITIONS = 16, /* that are asked, of a function */
  LANES = 32,
  LOAD = 2, /* the work of a load, and of a quotient or a root, in operations */
  SLOW = 8,
  MOST_VALUES = 8, /* that are used where threads meet again */
  ENOUGH = 8       /* work that is left out, at least */
};

/* Threads of which the condition is `idle` have nothing to do behind some points. */
typedef struct Leaving {
  Cg *cg;
  FnGraph g;
  LLVMValueRef condition;
  bool idle;
  bool *in, *out;        /* of nodes: … at its beginning; at its end */
  LLVMValueRef *last;    /* the last instruction with an effect; NULL: none */
  uint32_t *seen, round; /* of nodes: in which round they were counted */
} Leaving;

/* --- conditions --- */

/* Can it be the number of a lane? */
static bool is_by_lane(LLVMValueRef v) {
  Interval range = cg_nvptx_range(v);
  return !cg_nvptx_same_in_block(v) && range.lo >= 0 && range.hi < LANES;
}

/* Is it asked of a thread's place in the launch, and may differ from warp to warp? What arguments
 * alone decide is left to where it is asked. */
static bool is_by_place(LLVMValueRef condition) {
  if (!cg_is_op(condition, LLVMICmp))
    return false;
  bool instruction = false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef v = LLVMGetOperand(condition, k);
    if (!cg_int_width(v) || !cg_nvptx_is_of_place(v) || is_by_lane(v))
      return false;
    instruction |= LLVMIsAInstruction(v) != NULL;
  }
  return instruction;
}

/* Has it no effect but its value? */
static bool only_gives(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMLoad))
    return cg_is_plain_access(i);
  return cg_only_computes(i) || cg_is_speculatable(i) || cg_is_slow(cg, i) ||
         cg_is_function_of_operands(i);
}

/* --- where there is nothing left to do --- */

/* The successor that the branch leads an idle thread to; NULL: any. */
static LLVMBasicBlockRef idle_way(const Leaving *l, LLVMValueRef end) {
  Fork fork;
  if (!graph_fork(end, &fork) || fork.condition != l->condition || fork.yes == fork.no)
    return NULL;
  return l->idle ? fork.yes : fork.no;
}

static bool ends_idle(const Leaving *l, uint32_t at) {
  const GraphNode *node = &l->g.nodes[at];
  LLVMValueRef end = node->last;
  LLVMBasicBlockRef way = idle_way(l, end);
  Fork fork;
  if (LLVMIsAReturnInst(end))
    return !LLVMGetNumOperands(end);
  if (!node->nsucc || (node->nsucc > 1 && !graph_fork(end, &fork)))
    return false;
  for (uint32_t k = 0; k < node->nsucc; k++) {
    uint32_t next = node->succ[k];
    if ((!way || l->g.nodes[next].block == way) && (next <= at || !l->in[next]))
      return false; /* a loop may have no end, so none is left out */
  }
  return true;
}

static void find_idle(Leaving *l) {
  for (uint32_t at = l->g.len; at-- > 0;) {
    l->out[at] = ends_idle(l, at);
    l->in[at] = l->out[at] && !l->last[at];
  }
}

/* The first instruction of the node behind its effects. */
static LLVMValueRef cut_of(const Leaving *l, uint32_t at) {
  LLVMValueRef last = l->last[at];
  return last ? LLVMGetNextInstruction(last) : graph_behind_phis(l->g.nodes[at].block);
}

/* --- whether it pays --- */

/* What an idle thread does from this instruction to the end of its block, but for the condition. */
static unsigned work_from(const Leaving *l, LLVMValueRef i) {
  unsigned work = 0;
  for (; i && LLVMGetNextInstruction(i); i = LLVMGetNextInstruction(i)) {
    bool nothing = LLVMIsAPHINode(i) || LLVMIsACastInst(i) || i == l->condition ||
                   cg_nvptx_is_of_place(i);
    work += cg_is_slow(l->cg, i) ? SLOW : cg_is_op(i, LLVMLoad) ? LOAD : !nothing;
  }
  return work;
}

/* And in the blocks behind that, each once. */
static unsigned work_behind(Leaving *l, uint32_t at) {
  const GraphNode *node = &l->g.nodes[at];
  LLVMBasicBlockRef way = idle_way(l, node->last);
  unsigned work = 0;
  for (uint32_t k = 0; k < node->nsucc; k++) {
    uint32_t next = node->succ[k];
    if (l->seen[next] == l->round || (way && l->g.nodes[next].block != way))
      continue;
    l->seen[next] = l->round;
    work += work_from(l, l->g.nodes[next].first) + work_behind(l, next);
  }
  return work;
}

/* --- the condition, further up --- */

/* Where a node is to ask. */
typedef struct Front {
  const Leaving *l;
  uint32_t at;
  LLVMValueRef cut; /* the first instruction behind it */
} Front;

static bool is_behind(const Front *f, LLVMValueRef i) {
  return graph_number(&f->l->g, LLVMGetInstructionParent(i)) == f->at && copy_is_behind(f->cut, i);
}

static bool is_known(void *user, LLVMValueRef i) {
  const Front *f = user;
  uint32_t own = graph_number(&f->l->g, LLVMGetInstructionParent(i));
  return own != GRAPH_NONE && graph_dominates(&f->l->g, own, f->at) && !is_behind(f, i);
}

/* What the block computes in any case may be computed in front of the rest of it. */
static bool may_move(void *user, LLVMValueRef i) {
  return is_behind(user, i) && cg_is_speculatable(i);
}

static bool is_ready(Front *f) {
  return cg_is_ready(&(Spot){is_known, may_move, f}, f->l->condition);
}

static void move_up(Front *f, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || is_known(f, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move_up(f, LLVMGetOperand(v, k));
  if (v == f->cut) {
    f->cut = LLVMGetNextInstruction(v);
    return;
  }
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(f->l->cg->builder, f->cut);
  l_insert(f->l->cg->builder, v);
}

/* --- leaving --- */

/* Has the condition been asked on all ways to the node? */
static bool is_asked(const Leaving *l, uint32_t at) {
  for (uint32_t k = at; k != GRAPH_NONE; k = l->g.nodes[k].idom) {
    const GraphNode *node = &l->g.nodes[k];
    if (node->npred == 1 && idle_way(l, l->g.nodes[node->pred[0]].last))
      return true;
  }
  return false;
}

/* Has the node work for idle threads to leave out, and is the condition known there? */
static bool pays(Leaving *l, Front *f) {
  if (!l->out[f->at] || l->g.nodes[f->at].loop != GRAPH_NONE || is_asked(l, f->at))
    return false;
  f->cut = cut_of(l, f->at);
  l->round++;
  return work_from(l, f->cut) + work_behind(l, f->at) >= ENOUGH && is_ready(f);
}

/* The block's branch by the condition, which has been asked, leads where the others go. */
static void drop_question(const Leaving *l, LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  LLVMBasicBlockRef idle = idle_way(l, end);
  Fork fork;
  if (!idle || LLVMIsAPHINode(LLVMGetFirstInstruction(idle)) || !graph_fork(end, &fork))
    return;
  l_at_end(l->cg->builder, block, end);
  LLVMInstructionEraseFromParent(end);
  l_br(l->cg->builder, l->idle ? fork.no : fork.yes);
}

/* The front of the block asks, and its idle threads leave. */
static void write_question(const Leaving *l, Front *f) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMBasicBlockRef busy = l->g.nodes[f->at].block;
  LLVMValueRef kernel = LLVMGetBasicBlockParent(busy);
  move_up(f, l->condition);
  LLVMValueRef line = f->cut;
  LLVMBasicBlockRef front = graph_cut_before(l->cg, f->cut),
                    out = LLVMAppendBasicBlockInContext(l->cg->context, kernel, "");
  l_at_end(b, front, line);
  l_condbr(b, l->condition, l->idle ? out : busy, l->idle ? busy : out);
  l_at_end(b, out, line);
  l_ret_void(b);
  for (uint32_t k = f->at; k < l->g.len; k++)
    if (graph_dominates(&l->g, f->at, k))
      drop_question(l, l->g.nodes[k].block);
}

/* Lets idle threads leave at the first such place; is there one? */
static bool leave(Leaving *l) {
  for (uint32_t at = 0; at < l->g.len; at++) {
    Front f = {l, at, NULL};
    if (pays(l, &f)) {
      write_question(l, &f);
      return true;
    }
  }
  return false;
}

/* --- skipping --- */

/* Do only those come to the node that have been asked, and are not idle? */
static bool is_busy(const Leaving *l, uint32_t at) {
  for (uint32_t k = at; k != GRAPH_NONE; k = l->g.nodes[k].idom) {
    const GraphNode *node = &l->g.nodes[k];
    LLVMBasicBlockRef way = node->npred == 1 ? idle_way(l, l->g.nodes[node->pred[0]].last) : NULL;
    if (way && way != node->block)
      return true;
  }
  return false;
}

/* A branch that idle threads take to where all meet, with nothing in between. */
typedef struct Skip {
  Leaving *l;
  Front front;
  uint32_t busy, join;
  LLVMValueRef values[MOST_VALUES]; /* that are used behind the join */
  unsigned n;
} Skip;

static uint32_t node_of_use(const Leaving *l, LLVMUseRef use, LLVMValueRef v) {
  LLVMValueRef user = LLVMGetUser(use);
  if (!LLVMIsAPHINode(user))
    return graph_number(&l->g, LLVMGetInstructionParent(user));
  uint32_t at = GRAPH_NONE;
  for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
    if (LLVMGetIncomingValue(user, k) == v) {
      if (at != GRAPH_NONE)
        return GRAPH_NONE;
      at = graph_number(&l->g, LLVMGetIncomingBlock(user, k));
    }
  return at;
}

/* Is the use between the question and the join? */
static bool is_between(const Skip *s, uint32_t at) {
  return at == s->front.at || graph_dominates(&s->l->g, s->busy, at);
}

static bool is_used_outside(const Skip *s, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    uint32_t at = node_of_use(s->l, u, v);
    if (at == GRAPH_NONE || !is_between(s, at))
      return true;
  }
  return false;
}

/* May v not be known where idle threads are? */
static bool may_lack(Skip *s, LLVMValueRef v) {
  const Leaving *l = s->l;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    uint32_t at = node_of_use(l, u, v);
    bool own = at == s->front.at, phi = LLVMIsAPHINode(LLVMGetUser(u)) != NULL;
    if (at == GRAPH_NONE || (own && phi) ||
        (!is_between(s, at) && !(graph_dominates(&l->g, s->join, at) && is_busy(l, at))))
      return false;
  }
  bool outside = is_used_outside(s, v);
  if (outside && s->n < MOST_VALUES)
    s->values[s->n] = v;
  s->n += outside;
  return s->n <= MOST_VALUES;
}

/* Are all ways to the join, but that of idle threads, through the busy block? */
static bool joins_all(const Skip *s) {
  const GraphNode *join = &s->l->g.nodes[s->join];
  for (uint32_t k = 0; k < join->npred; k++)
    if (join->pred[k] != s->front.at && !graph_dominates(&s->l->g, s->busy, join->pred[k]))
      return false;
  return true;
}

/* Is it computed in front of the question, as the condition is? What all threads have of the same
 * numbers is the same in all behind the join, too, where ptxas then needs no place for threads to
 * meet again. */
static bool moves_up(const Skip *s, LLVMValueRef i) {
  return i == s->l->condition || (cg_nvptx_is_of_place(i) && is_used_outside(s, i));
}

static bool differs_in_block(LLVMValueRef condition) {
  return !cg_nvptx_same_in_block(LLVMGetOperand(condition, 0)) ||
         !cg_nvptx_same_in_block(LLVMGetOperand(condition, 1));
}

/* Is the last effect in front of the node's end a barrier, which other threads wait at? */
static bool follows_barrier(const Leaving *l, uint32_t at) {
  while (at != GRAPH_NONE && !l->last[at])
    at = l->g.nodes[at].idom;
  return at != GRAPH_NONE && cg_is_call_of_any(l->last[at], "llvm.nvvm.barrier");
}

/* Reads the node's branch as one, behind a barrier. */
static bool read_skip(Skip *s) {
  Leaving *l = s->l;
  Fork fork;
  const GraphNode *node = &l->g.nodes[s->front.at];
  if (!idle_way(l, node->last) || !graph_fork(node->last, &fork) ||
      !differs_in_block(l->condition) || !follows_barrier(l, s->front.at))
    return false;
  s->join = graph_number(&l->g, l->idle ? fork.yes : fork.no);
  s->busy = graph_number(&l->g, l->idle ? fork.no : fork.yes);
  s->front.cut = cut_of(l, s->front.at);
  if (l->g.nodes[s->busy].npred != 1 || s->join <= s->front.at || !is_ready(&s->front) ||
      work_from(l, s->front.cut) < ENOUGH)
    return false;
  for (LLVMValueRef i = s->front.cut; i != node->last; i = LLVMGetNextInstruction(i))
    if (!moves_up(s, i) && !may_lack(s, i))
      return false;
  return !s->n || joins_all(s);
}

static void move_places(Skip *s) {
  LLVMValueRef end = s->l->g.nodes[s->front.at].last;
  move_up(&s->front, s->l->condition);
  for (LLVMValueRef i = s->front.cut, next; i != end; i = next) {
    next = LLVMGetNextInstruction(i);
    if (moves_up(s, i))
      move_up(&s->front, i);
  }
}

/* v, where threads that have it and others meet. */
static void meet(const Skip *s, LLVMValueRef v, LLVMBasicBlockRef front) {
  const Leaving *l = s->l;
  const GraphNode *join = &l->g.nodes[s->join];
  LLVMPositionBuilderBefore(l->cg->builder, LLVMGetFirstInstruction(join->block));
  LLVMValueRef phi = l_phi(l->cg->builder, LLVMTypeOf(v)), none = LLVMGetPoison(LLVMTypeOf(v));
  for (LLVMUseRef u = LLVMGetFirstUse(v), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef user = LLVMGetUser(u);
    if (is_between(s, node_of_use(l, u, v)))
      continue;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
      if (LLVMGetOperand(user, k) == v)
        LLVMSetOperand(user, k, phi);
    next = LLVMGetFirstUse(v); /* those of one user are gone together */
  }
  for (uint32_t k = 0; k < join->npred; k++) {
    bool asks = join->pred[k] == s->front.at;
    LLVMBasicBlockRef from = asks ? front : l->g.nodes[join->pred[k]].block;
    LLVMAddIncoming(phi, asks ? &none : &v, &from, 1);
  }
}

/* Moves the first such branch up; is there one? */
static bool skip(Leaving *l) {
  LLVMBuilderRef b = l->cg->builder;
  for (uint32_t at = 0; at < l->g.len; at++) {
    Skip s = {.l = l, .front = {l, at, NULL}};
    if (!read_skip(&s))
      continue;
    move_places(&s);
    LLVMBasicBlockRef block = l->g.nodes[at].block, join = l->g.nodes[s.join].block,
                      busy = l->g.nodes[s.busy].block;
    LLVMValueRef end = l->g.nodes[at].last, line = s.front.cut;
    LLVMBasicBlockRef front = graph_cut_before(l->cg, s.front.cut);
    l_at_end(b, front, line);
    l_condbr(b, l->condition, l->idle ? join : block, l->idle ? block : join);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(join), next; LLVMIsAPHINode(phi); phi = next) {
      next = LLVMGetNextInstruction(phi);
      graph_join_edges(l->cg, phi, &block, 1, front, graph_incoming(phi, block));
    }
    l_at_end(b, block, end);
    LLVMInstructionEraseFromParent(end);
    l_br(b, busy);
    for (unsigned k = 0; k < s.n; k++)
      meet(&s, s.values[k], front);
    return true;
  }
  return false;
}

/* --- functions --- */

static bool is_among(LLVMValueRef v, const LLVMValueRef *list, unsigned n) {
  for (unsigned k = 0; k < n; k++)
    if (list[k] == v)
      return true;
  return false;
}

/* The next condition of a branch that was not asked for yet; NULL: there is none. */
static LLVMValueRef next_condition(const Leaving *l, LLVMValueRef *asked, unsigned *n) {
  Fork fork;
  for (uint32_t k = 0; k < l->g.len && *n < MOST_CONDITIONS; k++)
    if (graph_fork(l->g.nodes[k].last, &fork) && fork.yes != fork.no &&
        !is_among(fork.condition, asked, *n)) {
      asked[(*n)++] = fork.condition;
      if (is_by_place(fork.condition))
        return fork.condition;
    }
  return NULL;
}

static LLVMValueRef last_effect(const Cg *cg, const GraphNode *node) {
  LLVMValueRef i = LLVMGetPreviousInstruction(node->last);
  while (i && only_gives(cg, i))
    i = LLVMGetPreviousInstruction(i);
  return i;
}

static void look(Leaving *l, LLVMValueRef f) {
  l->g = graph_of(&l->cg->cx->arena, f, NULL);
  graph_loops(&l->g);
  l->in = CX_ARRAY(l->cg->cx, bool, l->g.len);
  l->out = CX_ARRAY(l->cg->cx, bool, l->g.len);
  l->last = CX_ARRAY(l->cg->cx, LLVMValueRef, l->g.len);
  l->seen = CX_ARRAY(l->cg->cx, uint32_t, l->g.len);
  for (uint32_t k = 0; k < l->g.len; k++) {
    l->last[k] = last_effect(l->cg, &l->g.nodes[k]);
    l->seen[k] = 0;
  }
  l->round = 0;
}

static void visit(Cg *cg, LLVMValueRef f) {
  Leaving l = {.cg = cg};
  LLVMValueRef asked[MOST_CONDITIONS];
  unsigned n = 0;
  look(&l, f);
  if (l.g.len > MOST_BLOCKS)
    return;
  while ((l.condition = next_condition(&l, asked, &n)) != NULL)
    for (unsigned side = 0; side < 2; side++) {
      l.idle = side;
      for (find_idle(&l); leave(&l); find_idle(&l))
        look(&l, f);
      for (; skip(&l); find_idle(&l))
        look(&l, f);
    }
}

void cg_nvptx_leave_early(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == CG_LLVM_PTX_KERNEL)
      visit(cg, f);
}
