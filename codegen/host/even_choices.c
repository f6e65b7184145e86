/* Host even choices: selections that stay selections, since branches would be mispredicted.
 *
 *   score = max(score, diagonal + (match if a[i] == b[j] else -mismatch))
 *
 * In loops that wait for a comparison x86's code generator makes branches of selections (LLVM's
 * X86CmovConversion), except of those that are said to be unpredictable. Most are better so: a
 * pivot's search finds a larger number seldom. But whether two elements are equal nobody knows.
 *
 * In: the module after LLVM's passes. Out: the same; a selection of one of two numbers that the
 * loop does not change, by the equality of what it has loaded and something that is no constant, is
 * marked. The mark does not survive where LLVM truncates the selection, so what is chosen from is
 * truncated here. */
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

static bool is_loaded(const FnGraph *g, uint32_t loop, LLVMValueRef v) {
  while (LLVMIsACastInst(v) || LLVMIsAFreezeInst(v))
    v = LLVMGetOperand(v, 0);
  return LLVMIsALoadInst(v) && graph_in_loop(g, loop, v);
}

static bool is_even(const FnGraph *g, LLVMValueRef i) {
  LLVMValueRef how = LLVMIsASelectInst(i) ? LLVMGetOperand(i, 0) : NULL;
  if (!how || cg_int_width(i) < 16 || cg_int_width(i) > 64 || !LLVMIsAICmpInst(how))
    return false;
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(how);
  uint32_t node = graph_number(g, LLVMGetInstructionParent(i)),
           loop = node == GRAPH_NONE ? GRAPH_NONE : g->nodes[node].loop;
  if ((predicate != LLVMIntEQ && predicate != LLVMIntNE) || loop == GRAPH_NONE ||
      graph_in_loop(g, loop, LLVMGetOperand(i, 1)) || graph_in_loop(g, loop, LLVMGetOperand(i, 2)))
    return false;
  LLVMValueRef x = LLVMGetOperand(how, 0), y = LLVMGetOperand(how, 1);
  return !LLVMIsConstant(y) && (is_loaded(g, loop, x) || is_loaded(g, loop, y));
}

static void mark(Cg *cg, LLVMValueRef i) {
  static const char name[] = "unpredictable";
  LLVMMetadataRef nothing = LLVMMDNodeInContext2(cg->context, NULL, 0);
  LLVMSetMetadata(i, LLVMGetMDKindIDInContext(cg->context, name, strlen(name)),
                  LLVMMetadataAsValue(cg->context, nothing));
}

static void truncate_choices(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  for (LLVMUseRef u = LLVMGetFirstUse(i), next; u; u = next) {
    LLVMValueRef user = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    if (!LLVMIsATruncInst(user))
      continue;
    LLVMTypeRef t = LLVMTypeOf(user);
    LLVMPositionBuilderBefore(b, i);
    LLVMValueRef x = l_trunc(b, LLVMGetOperand(i, 1), t), y = l_trunc(b, LLVMGetOperand(i, 2), t),
                 now = l_select(b, LLVMGetOperand(i, 0), x, y);
    mark(cg, now);
    LLVMReplaceAllUsesWith(user, now);
    LLVMInstructionEraseFromParent(user);
  }
}

static void mark_in(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (!is_even(&g, i))
        continue;
      mark(cg, i);
      truncate_choices(cg, i);
      next = LLVMGetNextInstruction(i);
    }
}

void cg_host_mark_choices(Cg *cg) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      mark_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
