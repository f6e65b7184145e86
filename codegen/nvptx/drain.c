/* NVPTX drain: a block's shared memory is given to another when its threads have ended, and so a
 * thread with bulk stores under way waits at the end until these have read it. A wait is for
 * groups, so what no commit has followed becomes one first; without any that is an empty group.
 *
 * In: kernels right before code generation. A thread that cannot have begun a store returns by
 * itself, without waiting: where one thread of a warp drives copies up to the kernel's end, ptxas
 * then knows that the rest of the warp is gone, and keeps its numbers in uniform registers. */
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* All bulk stores, and no other instructions, are parts of such groups. */
bool cg_nvptx_stores_in_bulk(const char *text, size_t n) {
  return memmem(text, n, "bulk_group", 10) != NULL;
}

/* An instruction that may begin a store: inline assembly of that kind, or what is not known. */
static bool may_store(LLVMValueRef i) {
  LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  if (!f)
    return false;
  if (!LLVMIsAInlineAsm(f))
    return !LLVMIsAFunction(f) || !LLVMGetIntrinsicID(f);
  size_t n = 0;
  const char *text = LLVMGetInlineAsmAsmString(f, &n);
  return cg_nvptx_stores_in_bulk(text, n);
}

static bool block_may_store(LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
    if (may_store(i))
      return true;
  return false;
}

/* By node: may a thread that leaves it have begun a store? */
static bool *find_stored(Cg *cg, const FnGraph *g) {
  bool *stored = CX_ARRAY(cg->cx, bool, g->len), changed = true;
  for (uint32_t k = 0; k < g->len; k++)
    stored[k] = block_may_store(g->nodes[k].block);
  while (changed) {
    changed = false;
    for (uint32_t k = 0; k < g->len; k++)
      for (uint32_t p = 0; p < g->nodes[k].npred && !stored[k]; p++)
        changed |= stored[k] = stored[g->nodes[k].pred[p]];
  }
  return stored;
}

/* Edges to a block that only returns, from where nothing has been stored, lead to another. */
static void part(Cg *cg, const FnGraph *g, uint32_t returns, const bool *stored) {
  const GraphNode *node = &g->nodes[returns];
  LLVMBasicBlockRef plain = NULL;
  for (uint32_t p = 0; p < node->npred && node->first == node->last; p++) {
    if (stored[node->pred[p]])
      continue;
    if (!plain) {
      plain = LLVMInsertBasicBlockInContext(cg->context, node->block, "returns");
      l_at_end(cg->builder, plain, node->last);
      l_ret_void(cg->builder);
    }
    graph_redirect(g->nodes[node->pred[p]].last, node->block, plain);
  }
}

static void drain(Cg *cg, LLVMValueRef kernel) {
  static const char code[] = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
                    constraints[] = "~{memory}";
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, NULL, 0, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  FnGraph g = graph_of(&cg->cx->arena, kernel, NULL);
  const bool *stored = find_stored(cg, &g);
  for (uint32_t k = 0; k < g.len; k++) {
    LLVMValueRef last = g.nodes[k].last;
    if (!LLVMIsAReturnInst(last) || !stored[k])
      continue;
    part(cg, &g, k, stored);
    LLVMPositionBuilderBefore(cg->builder, last);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(last));
    l_call_type(cg->builder, type, text, NULL, 0);
  }
}

void cg_nvptx_drain(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == CG_LLVM_PTX_KERNEL)
      drain(cg, f);
}
