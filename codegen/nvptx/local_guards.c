/* NVPTX local guards: loads of local arrays in front of a condition that was loaded itself.
 *
 *   up = row[j + 1]
 *   if x[i] == y[j]: …            # waits for memory
 *   else: row[j + 1] = max(up, row[j])    # and then for row[j]
 *
 * Nothing moves a load above its guard, where it might be out of range. Here it is not: row[j + 1]
 * is accessed on the way to the guard, j is not negative, and so row[j] lies between two places of
 * the array. Then both loads are in flight together, and the branch can become a selection.
 *
 * In: a module with the local arrays that are left after local_unroll.c and local_registers.c. A
 * load moves to the end of the only block before its own, over nothing that writes. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/local_arrays.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/value_ranges.h"

static int64_t end_of(const Cg *cg, const LocalAccess *a) {
  return a->offset + (int64_t)LLVMABISizeOfType(cg->layout, cg_local_type(a));
}

/* Is the index of 32 bits, and not negative? Scaled it does not wrap. */
static bool is_positive(const LocalAccess *a) {
  if (!cg_is_extension(a->index) || a->scale <= 0 || a->offset < 0)
    return false;
  return cg_int_width(LLVMGetOperand(a->index, 0)) <= 32 && cg_nvptx_range(a->index).lo >= 0;
}

/* Do accesses in the block show that this one is within the array? */
static bool is_in_range(const Cg *cg, const LocalArray *array, const LocalAccess *a,
                        LLVMBasicBlockRef before) {
  bool low = is_positive(a), high = false;
  for (uint32_t k = 0; k < array->accesses.len; k++) {
    const LocalAccess *x = &array->accesses.data[k];
    if (LLVMGetInstructionParent(x->ins) != before || x->index != a->index || x->scale != a->scale)
      continue;
    low |= x->offset <= a->offset;
    high |= end_of(cg, x) >= end_of(cg, a);
  }
  return low && high;
}

/* Is the load, whose address comes from elsewhere, behind nothing of its block that writes? */
static bool may_move(LLVMValueRef load) {
  LLVMValueRef address = LLVMGetOperand(load, 0);
  LLVMBasicBlockRef b = LLVMGetInstructionParent(load);
  if (LLVMIsAInstruction(address) && LLVMGetInstructionParent(address) == b)
    return false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != load; i = LLVMGetNextInstruction(i))
    if (!LLVMIsALoadInst(i) && !cg_only_computes(i))
      return false;
  return true;
}

static void visit_access(Cg *cg, const FnGraph *g, const LocalArray *array, const LocalAccess *a) {
  if (!LLVMIsALoadInst(a->ins) || !a->index || !may_move(a->ins))
    return;
  uint32_t at = graph_number(g, LLVMGetInstructionParent(a->ins));
  if (at == GRAPH_NONE || g->nodes[at].npred != 1)
    return;
  const GraphNode *before = &g->nodes[g->nodes[at].pred[0]];
  Fork fork;
  if (before->loop == GRAPH_NONE || !graph_fork(before->last, &fork) ||
      !cg_is_of_load(fork.condition, before->block) || !is_in_range(cg, array, a, before->block))
    return;
  LLVMInstructionRemoveFromParent(a->ins);
  LLVMPositionBuilderBefore(cg->builder, before->last);
  l_insert(cg->builder, a->ins);
}

void cg_nvptx_local_guards(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    LocalArrays arrays = cg_local_arrays(cg, f);
    if (!arrays.len)
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    for (uint32_t k = 0; k < arrays.len; k++)
      for (uint32_t n = 0; n < arrays.data[k].accesses.len; n++)
        visit_access(cg, &g, &arrays.data[k], &arrays.data[k].accesses.data[n]);
  }
}
