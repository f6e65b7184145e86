/* Host safepoints: points in compiled code at which a thread can be interrupted, so that kernels
 * that never end can be stopped (runtime/host/safepoint.h).
 *
 * In: the module after LLVM's passes, which would not vectorise loops with safepoints. Out: each
 * loop polls a word on its back edges: one load, and a branch that is hardly ever taken. Innermost
 * loops that count towards a bound have none: they end, and are the loops that are vectorised. Nor
 * have those over the bits of a mask.
 * Recursive functions poll on entry (lowering writes that). The polling call keeps all registers,
 * so it costs the loop none.
 *
 * In code for launches with a timeout (options.timed) every loop polls, counting ones too, and the
 * call passes the site of the last mark of codegen/lower/places.c that the thread has come by. */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

#define FLAG           "rt_host_safepoint"
#define CALL           "rt_host_at_safepoint"
#define CALL_WITH_SITE "rt_host_at_site"

/* A function, and one of its loops. */
typedef struct Poller {
  Cg *cg;
  LLVMBuilderRef b;
  LLVMValueRef f;
  FnGraph g; /* of f as it was: safepoints change neither loops nor their exits */
  const GraphLoop *loop;
  uint32_t *mark; /* by node: the number of the header of the loop + 1, in the loop's nodes */
} Poller;

/* --- one safepoint --- */

static LLVMValueRef flag_of(Cg *cg) {
  LLVMValueRef flag = LLVMGetNamedGlobal(cg->module, FLAG);
  return flag ? flag : LLVMAddGlobal(cg->module, cg->t.i32, FLAG);
}

static LLVMValueRef function_of(Cg *cg, const char *name, LLVMTypeRef type) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, name);
  if (fn)
    return fn;
  fn = LLVMAddFunction(cg->module, name, type);
  cg_attribute(cg, fn, L_FUNCTION, "cold", 0);
#ifdef __x86_64__
  /* runtime/host/calls.c keeps them all */
  cg_attribute_text(cg, fn, "no_caller_saved_registers", "");
#endif
  return fn;
}

void cg_host_write_safepoint(Cg *cg, LLVMValueRef site) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
  LLVMBasicBlockRef attend = LLVMAppendBasicBlockInContext(cg->context, f, "attend"),
                    go = LLVMAppendBasicBlockInContext(cg->context, f, "");
  LLVMValueRef wanted = l_load(b, cg->t.i32, flag_of(cg));
  LLVMSetOrdering(wanted, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(wanted, 4);
  LLVMValueRef none = l_icmp(b, LLVMIntEQ, wanted, LLVMConstNull(cg->t.i32));
  cg_branch_weights(cg, l_condbr(b, none, go, attend), CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(b, attend);
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, &cg->t.i32, site ? 1 : 0, 0);
  l_call_type(b, type, function_of(cg, site ? CALL_WITH_SITE : CALL, type), &site, site ? 1 : 0);
  l_br(b, go);
  LLVMPositionBuilderAtEnd(b, go);
}

/* --- loops that end --- */

static bool has(const Poller *w, uint32_t node) { return w->mark[node] == w->loop->header + 1; }

static bool in_loop(const Poller *w, LLVMBasicBlockRef b) {
  uint32_t n = graph_number(&w->g, b);
  return n != GRAPH_NONE && has(w, n);
}

static void select_loop(Poller *w, const GraphLoop *loop) {
  w->loop = loop;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    w->mark[loop->nodes[k]] = loop->header + 1;
}

static bool is_invariant(const Poller *w, LLVMValueRef v) {
  return !LLVMIsAInstruction(v) || !in_loop(w, LLVMGetInstructionParent(v));
}

/* The phi plus a loop invariant? */
static bool is_step_of(const Poller *w, LLVMValueRef v, LLVMValueRef phi) {
  if (!LLVMIsAInstruction(v))
    return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  if (op == LLVMGetElementPtr)
    return LLVMGetNumOperands(v) == 2 && LLVMGetOperand(v, 0) == phi &&
           is_invariant(w, LLVMGetOperand(v, 1));
  return ((op == LLVMAdd || op == LLVMSub) && LLVMGetOperand(v, 0) == phi &&
          is_invariant(w, LLVMGetOperand(v, 1))) ||
         (op == LLVMAdd && LLVMGetOperand(v, 1) == phi && is_invariant(w, LLVMGetOperand(v, 0)));
}

static bool is_counter(const Poller *w, LLVMValueRef phi) {
  if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != w->g.nodes[w->loop->header].block)
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (in_loop(w, LLVMGetIncomingBlock(phi, k)) &&
        !is_step_of(w, LLVMGetIncomingValue(phi, k), phi))
      return false;
  return true;
}

/* Is it an induction variable, or its next value? */
static bool counts(const Poller *w, LLVMValueRef v) {
  if (is_counter(w, v))
    return true;
  for (int k = 0; LLVMIsAInstruction(v) && k < LLVMGetNumOperands(v) && k < 2; k++)
    if (is_counter(w, LLVMGetOperand(v, (unsigned)k)) &&
        is_step_of(w, v, LLVMGetOperand(v, (unsigned)k)))
      return true;
  return false;
}

/* Is v what is left of a set of bits without its lowest one, `bits & (bits - 1)`, which the next
 * iteration has? So a loop over lanes goes on while any is left. */
static bool loses_a_bit(const Poller *w, LLVMValueRef v) {
  for (unsigned k = 0; k < 2 && cg_is_op(v, LLVMAnd); k++) {
    LLVMValueRef phi = LLVMGetOperand(v, k), less = LLVMGetOperand(v, 1 - k);
    if (!LLVMIsAPHINode(phi) || !cg_is_op(less, LLVMAdd) || LLVMGetOperand(less, 0) != phi ||
        !cg_is_number(LLVMGetOperand(less, 1), UINT64_MAX) ||
        LLVMGetInstructionParent(phi) != w->g.nodes[w->loop->header].block)
      continue;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++)
      if (LLVMGetIncomingValue(phi, n) == v && in_loop(w, LLVMGetIncomingBlock(phi, n)))
        return true;
  }
  return false;
}

/* Is the loop left as soon as such a set is empty? */
static bool empties(const Poller *w, const GraphNode *n, LLVMValueRef c) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  Fork fork;
  return (p == LLVMIntEQ || p == LLVMIntNE) && cg_is_number(LLVMGetOperand(c, 1), 0) &&
         loses_a_bit(w, LLVMGetOperand(c, 0)) && graph_fork(n->last, &fork) &&
         !in_loop(w, p == LLVMIntEQ ? fork.yes : fork.no);
}

/* Does the loop count towards a bound? An induction variable must be compared with an invariant in
 * every iteration, in the header or in the latch. */
static bool is_counted(const Poller *w) {
  uint32_t ends[] = {w->loop->header, w->loop->latches[0]};
  for (unsigned k = 0; k < 2; k++) {
    const GraphNode *n = &w->g.nodes[ends[k]];
    LLVMValueRef c = NULL;
    if (cg_llvm_is_branch(n->last) && n->nsucc == 2 && !(has(w, n->succ[0]) && has(w, n->succ[1])))
      c = LLVMGetCondition(n->last);
    if (c && LLVMIsAICmpInst(c) && empties(w, n, c))
      return w->loop->nlatches == 1;
    for (unsigned side = 0; c && LLVMIsAICmpInst(c) && side < 2; side++) {
      if (counts(w, LLVMGetOperand(c, side)) && is_invariant(w, LLVMGetOperand(c, 1 - side)))
        return w->loop->nlatches == 1;
    }
  }
  return false;
}

/* --- places --- */

static bool is_in_loop(LLVMValueRef place) {
  return LLVMConstIntGetZExtValue(LLVMGetOperand(place, 1)) != 0;
}

/* The site of the first mark in a function that is called, where it is the same for all calls. */
static LLVMValueRef site_in(LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMIsAFunction(f) ? LLVMGetFirstBasicBlock(f) : NULL; b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_call_of(i, CG_PLACE_NAME) && LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
        return LLVMGetOperand(i, 0);
  return NULL;
}

/* The last mark of a node; of a loop's own node one in each iteration alone. */
static LLVMValueRef site_at(const GraphNode *n, bool own) {
  for (LLVMValueRef i = n->last; i; i = LLVMGetPreviousInstruction(i)) {
    if (cg_is_call_of(i, CG_PLACE_NAME) && (!own || is_in_loop(i)))
      return LLVMGetOperand(i, 0);
    LLVMValueRef found = !own && LLVMIsACallInst(i) ? site_in(LLVMGetCalledValue(i)) : NULL;
    if (found)
      return found;
  }
  return NULL;
}

/* Of the marks that a thread has passed on every way to the back edge: the loop's own, else the
 * last. */
static LLVMValueRef site_of(const Poller *w) {
  uint32_t own = w->g.nodes[w->loop->header].loop, from = w->loop->header;
  if (w->loop->nlatches == 1)
    from = w->loop->latches[0];
  for (uint32_t n = from; n != GRAPH_NONE && has(w, n); n = w->g.nodes[n].idom) {
    LLVMValueRef found = w->g.nodes[n].loop == own ? site_at(&w->g.nodes[n], true) : NULL;
    if (found)
      return found;
  }
  for (uint32_t n = from; n != GRAPH_NONE; n = w->g.nodes[n].idom) {
    LLVMValueRef found = site_at(&w->g.nodes[n], false);
    if (found)
      return found;
  }
  return l_int(w->cg->t.i32, RT_NO_SITE);
}

static void erase_places(Cg *cg) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CG_PLACE_NAME);
  for (LLVMUseRef use; fn && (use = LLVMGetFirstUse(fn));)
    LLVMInstructionEraseFromParent(LLVMGetUser(use));
  if (fn)
    LLVMDeleteFunction(fn);
}

/* --- back edges --- */

/* All back edges are led through one block with a safepoint. */
static void poll_on_back_edges(Poller *w) {
  assert(w->loop->nlatches > 0);
  LLVMValueRef site = w->cg->options.timed ? site_of(w) : NULL;
  LLVMBasicBlockRef header = w->g.nodes[w->loop->header].block,
                    back = LLVMAppendBasicBlockInContext(w->cg->context, w->f, "back");
  LLVMPositionBuilderAtEnd(w->b, back);
  cg_host_write_safepoint(w->cg, site); /* graph_join_latches puts the phis in front of it */
  LLVMBasicBlockRef from = LLVMGetInsertBlock(w->b);
  l_br(w->b, header);
  graph_join_latches(&w->g, w->loop, w->b, back, from);
}

static void visit_function(Cg *cg, LLVMValueRef f) {
  Arena *a = &cg->cx->arena;
  Poller w = {.cg = cg, .b = cg->builder, .f = f, .g = graph_of(a, f, NULL)};
  w.mark = ARENA_ARRAY(a, uint32_t, w.g.len);
  graph_loops(&w.g);
  for (uint32_t k = 0; k < w.g.loops.len; k++) {
    select_loop(&w, &w.g.loops.data[k]);
    if (cg->options.timed || !w.loop->innermost || !is_counted(&w))
      poll_on_back_edges(&w);
  }
}

void cg_host_add_safepoints(Cg *cg) {
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      visit_function(cg, f);
  erase_places(cg);
}
