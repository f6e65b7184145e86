/* Host attention: places in compiled code where a thread looks up, so that what never ends can be
 * ended (runtime/host/safepoint.h).
 *
 * In: the module behind LLVM's passes. Out: each loop asks on its way back whether there is
 * something to attend to: one load and a branch that is never taken. Innermost loops that count
 * towards a bound are left alone: they end, and are what vectors are made of. Functions that call
 * themselves ask at their beginning (lowering). */
#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"

#define FLAG "rt_host_safepoint"
#define CALL "rt_host_at_safepoint"

typedef struct Ways { /* of a function, and the loop that is looked at */
  Cg *cg;
  LLVMBuilderRef b;
  LLVMValueRef f;
  FnGraph g; /* as it was: what is written here changes neither a loop nor its exits */
  const GraphLoop *loop;
  uint32_t *mark; /* the header's number + 1 in its loop's blocks */
} Ways;

/* --- asking --- */

static LLVMValueRef flag_of(Cg *cg) {
  LLVMValueRef flag = LLVMGetNamedGlobal(cg->module, FLAG);
  return flag ? flag : LLVMAddGlobal(cg->module, cg->t.i32, FLAG);
}

static LLVMValueRef function_of(Cg *cg, LLVMTypeRef type) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CALL);
  if (fn)
    return fn;
  fn = LLVMAddFunction(cg->module, CALL, type);
  cg_attribute(cg, fn, L_FUNCTION, "cold", 0);
#ifdef __x86_64__
  cg_attribute_text(cg, fn, "no_caller_saved_registers",
                    ""); /* runtime/host/host.c keeps them all */
#endif
  return fn;
}

void cg_host_look_up(Cg *cg) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
  LLVMBasicBlockRef attend = LLVMAppendBasicBlockInContext(cg->context, f, "attend"),
                    go = LLVMAppendBasicBlockInContext(cg->context, f, "");
  LLVMValueRef wanted = l_load(b, cg->t.i32, flag_of(cg));
  LLVMSetOrdering(wanted, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(wanted, 4);
  LLVMValueRef none = l_icmp(b, LLVMIntEQ, wanted, LLVMConstNull(cg->t.i32));
  LLVMValueRef branch = l_condbr(b, none, go, attend);
  LLVMMetadataRef weights[] = {
      LLVMMDStringInContext2(cg->context, "branch_weights", 14),
      LLVMValueAsMetadata(l_int(cg->t.i32, 1u << 20)),
      LLVMValueAsMetadata(l_int(cg->t.i32, 1)),
  };
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(cg->context, "prof", 4),
                  LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, weights, 3)));
  LLVMPositionBuilderAtEnd(b, attend);
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, NULL, 0, 0);
  l_call_type(b, type, function_of(cg, type), NULL, 0);
  l_br(b, go);
  LLVMPositionBuilderAtEnd(b, go);
}

/* --- loops --- */

static bool has(const Ways *w, uint32_t node) { return w->mark[node] == w->loop->header + 1; }

static bool in_loop(const Ways *w, LLVMBasicBlockRef b) {
  uint32_t n = graph_number(&w->g, b);
  return n != GRAPH_NONE && has(w, n);
}

static void look_at(Ways *w, const GraphLoop *loop) {
  w->loop = loop;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    w->mark[loop->nodes[k]] = loop->header + 1;
}

static bool is_fixed(const Ways *w, LLVMValueRef v) {
  return !LLVMIsAInstruction(v) || !in_loop(w, LLVMGetInstructionParent(v));
}

/* phi plus what is the same in every round */
static bool is_step_of(const Ways *w, LLVMValueRef v, LLVMValueRef phi) {
  if (!LLVMIsAInstruction(v))
    return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  if (op == LLVMGetElementPtr)
    return LLVMGetNumOperands(v) == 2 && LLVMGetOperand(v, 0) == phi &&
           is_fixed(w, LLVMGetOperand(v, 1));
  return ((op == LLVMAdd || op == LLVMSub) && LLVMGetOperand(v, 0) == phi &&
          is_fixed(w, LLVMGetOperand(v, 1))) ||
         (op == LLVMAdd && LLVMGetOperand(v, 1) == phi && is_fixed(w, LLVMGetOperand(v, 0)));
}

static bool is_counter(const Ways *w, LLVMValueRef phi) {
  if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != w->g.nodes[w->loop->header].block)
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (in_loop(w, LLVMGetIncomingBlock(phi, k)) &&
        !is_step_of(w, LLVMGetIncomingValue(phi, k), phi))
      return false;
  return true;
}

/* The counter, or the next value of it. */
static bool counts(const Ways *w, LLVMValueRef v) {
  if (is_counter(w, v))
    return true;
  for (int k = 0; LLVMIsAInstruction(v) && k < LLVMGetNumOperands(v) && k < 2; k++)
    if (is_counter(w, LLVMGetOperand(v, (unsigned)k)) &&
        is_step_of(w, v, LLVMGetOperand(v, (unsigned)k)))
      return true;
  return false;
}

/* Does it count towards a bound? The counter is to be compared in every round, in the header or on
 * the way back. */
static bool is_counted(const Ways *w) {
  uint32_t ends[] = {w->loop->header, w->loop->latches[0]};
  for (unsigned k = 0; k < 2; k++) {
    const GraphNode *n = &w->g.nodes[ends[k]];
    LLVMValueRef c = NULL;
    if (LLVMIsABranchInst(n->last) && n->nsucc == 2 && !(has(w, n->succ[0]) && has(w, n->succ[1])))
      c = LLVMGetCondition(n->last);
    for (unsigned side = 0; c && LLVMIsAICmpInst(c) && side < 2; side++) {
      if (counts(w, LLVMGetOperand(c, side)) && is_fixed(w, LLVMGetOperand(c, 1 - side)))
        return w->loop->nlatches == 1;
    }
  }
  return false;
}

/* --- the way back --- */

static void look_up_on_the_way_back(Ways *w) {
  LLVMBasicBlockRef header = w->g.nodes[w->loop->header].block,
                    back = LLVMAppendBasicBlockInContext(w->cg->context, w->f, "back");
  LLVMPositionBuilderAtEnd(w->b, back);
  cg_host_look_up(w->cg); /* in `back`: its phis come in front */
  LLVMBasicBlockRef from = LLVMGetInsertBlock(w->b);
  l_br(w->b, header);
  graph_join_latches(&w->g, w->loop, w->b, back, from);
}

static void look_up_in(Cg *cg, LLVMValueRef f) {
  Arena *a = &cg->cx->arena;
  Ways w = {.cg = cg, .b = cg->builder, .f = f, .g = graph_of(a, f, NULL)};
  w.mark = ARENA_ARRAY(a, uint32_t, w.g.len);
  graph_loops(&w.g);
  for (uint32_t k = 0; k < w.g.loops.len; k++) {
    look_at(&w, &w.g.loops.data[k]);
    if (!w.loop->innermost || !is_counted(&w))
      look_up_on_the_way_back(&w);
  }
}

void cg_host_look_up_in_loops(Cg *cg) {
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      look_up_in(cg, f);
}
