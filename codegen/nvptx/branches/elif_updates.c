/* NVPTX updates behind elif: each by a condition of its own.
 *
 *   if d > t:
 *     above += d - t; brighter |= 1 << k
 *   elif d < -t:
 *     below -= d + t; darker |= 1 << k
 *
 * Of the second part LLVM, or if-conversion, makes selections, which are the other side of the
 * first branch. Of such a side ptxas makes predicates; of a selection in it a comparison, an
 * operation and a selection under one. Here the second part is a branch of its own behind the first
 * one, by `not d > t and d < -t`: then each update is one operation under a predicate.
 *
 * In: a module that only the code generator is still to see. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST = 12, FEWEST = 2 }; /* instructions of a side; selections */

typedef struct Elif {
  Cg *cg;
  LLVMBasicBlockRef from, first, second, join;
  LLVMValueRef condition; /* of the first side */
  bool otherwise;         /* that is where it does not hold */
  LLVMValueRef chosen;    /* the condition of the second side's selections */
} Elif;

/* A block of the branch's alone, with little in it, that goes to one place. */
static bool is_side(const Cg *cg, LLVMBasicBlockRef b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  unsigned n = 0;
  if (!cg_has_one_use(LLVMBasicBlockAsValue(b)) || !graph_next(b) ||
      LLVMGetMetadata(end, LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9)))
    return false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != end; i = LLVMGetNextInstruction(i))
    if (LLVMIsAPHINode(i) || !cg_is_speculatable(i) || cg_is_slow(cg, i) || ++n > MOST)
      return false;
  return n > 0;
}

static bool is_in(LLVMBasicBlockRef b, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == b;
}

/* Does v, of the second side, select between something and `otherwise`? */
static bool selects(const Elif *e, LLVMValueRef v, LLVMValueRef otherwise) {
  return cg_is_op(v, LLVMSelect) && is_in(e->second, v) && cg_has_one_use(v) &&
         LLVMGetOperand(v, 2) == otherwise && LLVMTypeOf(LLVMGetOperand(v, 0)) == e->cg->t.i1;
}

/* The selection by which the second side changes what the first one keeps: between that and another
 * value, or of 0 and what is added to it; NULL: there is none. */
static LLVMValueRef selection(const Elif *e, LLVMValueRef phi) {
  LLVMValueRef v = graph_incoming(phi, e->second), kept = graph_incoming(phi, e->first);
  if (is_in(e->first, kept))
    return NULL;
  if (selects(e, v, kept))
    return v;
  bool either = cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMOr) || cg_is_op(v, LLVMXor);
  if ((!either && !cg_is_op(v, LLVMSub)) || !is_in(e->second, v) || !cg_has_one_use(v))
    return NULL;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
  for (unsigned k = 0; k < (either ? 2u : 1u); k++)
    if (LLVMGetOperand(v, k) == kept && selects(e, LLVMGetOperand(v, !k), zero))
      return LLVMGetOperand(v, !k);
  return NULL;
}

/* Each phi is changed by one side, by the second one under one condition. */
static bool are_updates(Elif *e) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(e->join); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef v = selection(e, i);
    if (!v && is_in(e->second, graph_incoming(i, e->second)))
      return false;
    if (!v)
      continue;
    if (n++ && LLVMGetOperand(v, 0) != e->chosen)
      return false;
    e->chosen = LLVMGetOperand(v, 0);
  }
  return n >= FEWEST && LLVMCountIncoming(LLVMGetFirstInstruction(e->join)) == 2;
}

static bool read_elif(Elif *e) {
  Fork fork;
  if (!graph_fork(LLVMGetBasicBlockTerminator(e->from), &fork) || fork.yes == fork.no ||
      !is_side(e->cg, fork.yes) || !is_side(e->cg, fork.no) ||
      graph_next(fork.yes) != graph_next(fork.no))
    return false;
  e->condition = fork.condition;
  e->join = graph_next(fork.yes);
  for (int k = 0; k < 2; k++) {
    e->otherwise = k;
    e->first = k ? fork.no : fork.yes;
    e->second = k ? fork.yes : fork.no;
    if (LLVMIsAPHINode(LLVMGetFirstInstruction(e->join)) && are_updates(e))
      return true;
  }
  return false;
}

/* Moves v to the builder, if it is in the second side, and what it is made of there. */
static void move(Elif *e, LLVMValueRef v) {
  if (!is_in(e->second, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move(e, LLVMGetOperand(v, k));
  LLVMInstructionRemoveFromParent(v);
  l_insert(e->cg->builder, v);
}

/* The phi of the first side's change, in front of the second branch; of the second's, behind it. */
static void split_phi(Elif *e, LLVMValueRef phi, LLVMBasicBlockRef between) {
  LLVMBuilderRef b = e->cg->builder;
  LLVMValueRef select = selection(e, phi), changed = graph_incoming(phi, e->second);
  LLVMValueRef kept = graph_incoming(phi, e->first);
  LLVMValueRef first[] = {kept, changed}, second[] = {changed, kept};
  LLVMBasicBlockRef to_first[] = {e->first, e->from}, to_second[] = {e->second, between};
  if (select == changed)
    second[0] = LLVMGetOperand(select, 1);
  if (select)
    LLVMPositionBuilderBefore(b, phi);
  else
    l_at_end(b, between, NULL);
  LLVMValueRef now = l_phi(b, LLVMTypeOf(phi));
  LLVMAddIncoming(now, select ? second : first, select ? to_second : to_first, 2);
  LLVMReplaceAllUsesWith(phi, now);
  LLVMInstructionEraseFromParent(phi);
  if (!select)
    return;
  LLVMReplaceAllUsesWith(select, LLVMGetOperand(select, 1));
  LLVMInstructionEraseFromParent(select);
}

static void part(Elif *e) {
  Cg *cg = e->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMMoveBasicBlockAfter(e->second, e->first);
  LLVMBasicBlockRef between = LLVMInsertBasicBlockInContext(cg->context, e->second, "");
  LLVMValueRef end = LLVMGetBasicBlockTerminator(e->from), next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(e->join); LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    split_phi(e, i, between);
  }
  l_at_end(b, e->from, NULL);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(end));
  /* By another name, or the generator would compare once more, the other way round. */
  LLVMValueRef first = cg_nvptx_hidden(cg, e->condition);
  l_condbr(b, first, e->otherwise ? between : e->first, e->otherwise ? e->first : between);
  LLVMInstructionEraseFromParent(end);
  LLVMSetSuccessor(LLVMGetBasicBlockTerminator(e->first), 0, between);
  l_at_end(b, between, NULL);
  move(e, e->chosen);
  LLVMValueRef sure = l_freeze(b, e->chosen); /* `first` comes last: ptxas makes one comparison */
  first = e->otherwise ? first : l_not(b, first);
  l_condbr(b, l_and(b, sure, first), e->second, e->join);
}

void cg_nvptx_elif_updates(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      Elif e = {.cg = cg, .from = b};
      if (read_elif(&e))
        part(&e);
    }
}
