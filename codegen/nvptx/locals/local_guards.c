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
 * Where an array has a power of two of elements, an index that was wrapped is its lowest bits, with
 * which any load is in range. What a second condition compares is then loaded in front of the
 * first, and one branch asks for both:
 *
 *   if count < k or d < distance[count - 1]: …    # distance[(count - 1) & 15]
 *
 * In: a module with the local arrays that are left after local_unroll.c and local_registers.c. A
 * load moves to the end of the only block before its own, over nothing that writes. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

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

/* --- one of two conditions --- */

/* An index as other + plus, modulo the number of elements, which is a power of two. */
typedef struct Remainder {
  LLVMValueRef other;
  uint64_t plus, n;
} Remainder;

static bool is_constant(LLVMValueRef v, uint64_t n, uint64_t *rest) {
  if (!LLVMIsAConstantInt(v))
    return false;
  *rest = LLVMConstIntGetZExtValue(v) & (n - 1);
  return true;
}

static void add_rest(Remainder *r, LLVMValueRef v) {
  uint64_t rest;
  r->other = v;
  r->plus = 0;
  if (cg_is_op(v, LLVMAdd) && is_constant(LLVMGetOperand(v, 1), r->n, &rest)) {
    r->other = LLVMGetOperand(v, 0);
    r->plus = rest;
  }
}

/* Both sides of a wrapped index are the same: i and i + n, or i + (-1 or n - 1). */
static bool read_wrapped(Remainder *r, LLVMValueRef v) {
  Remainder second = {.n = r->n};
  if (cg_is_op(v, LLVMAdd) && cg_is_op(LLVMGetOperand(v, 0), LLVMSelect)) {
    LLVMValueRef choice = LLVMGetOperand(v, 0);
    r->other = LLVMGetOperand(v, 1);
    return is_constant(LLVMGetOperand(choice, 1), r->n, &r->plus) &&
           is_constant(LLVMGetOperand(choice, 2), r->n, &second.plus) && r->plus == second.plus;
  }
  if (!cg_is_op(v, LLVMSelect))
    return false;
  add_rest(r, LLVMGetOperand(v, 1));
  add_rest(&second, LLVMGetOperand(v, 2));
  return r->other == second.other && r->plus == second.plus;
}

static bool is_power_of_two(uint64_t n) { return n > 1 && !(n & (n - 1)); }

/* The load's wrapped index, if it may be computed in front of its block. */
static bool read_index(Cg *cg, const LocalArray *array, const LocalAccess *a, Remainder *r) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, CG_IN_RANGE, sizeof CG_IN_RANGE - 1);
  uint64_t size = LLVMABISizeOfType(cg->layout, cg_local_type(a));
  if (!LLVMGetMetadata(a->ins, kind) || a->offset || a->scale != (int64_t)size ||
      !cg_is_op(a->index, LLVMSExt) || array->bytes % size)
    return false;
  r->n = array->bytes / size;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(a->ins);
  return is_power_of_two(r->n) && read_wrapped(r, LLVMGetOperand(a->index, 0)) &&
         !(LLVMIsAInstruction(r->other) && LLVMGetInstructionParent(r->other) == block);
}

/* Is the load what the block's own condition compares, and does the block nothing else that could
 * not come earlier? */
static bool only_asks(LLVMValueRef load, const Fork *own) {
  LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(load));
  for (; !LLVMIsATerminatorInst(i); i = LLVMGetNextInstruction(i))
    if (i != load && !cg_is_speculatable(i))
      return false;
  return cg_has_one_use(load) && LLVMGetUser(LLVMGetFirstUse(load)) == own->condition;
}

/* Does the block ask where the one before has not decided: does either way lead to the same? */
static bool is_second(const Fork *first, const Fork *own, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef decided = first->yes == block ? first->no : first->yes;
  return own->yes == decided || own->no == decided;
}

static void load_first(Cg *cg, const LocalArray *array, const LocalAccess *a, const Remainder *r,
                       LLVMValueRef end) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef type = LLVMTypeOf(r->other);
  LLVMPositionBuilderBefore(b, end);
  LLVMValueRef sum = l_freeze(b, l_add(b, r->other, l_int(type, r->plus))),
               place = l_and(b, sum, l_int(type, r->n - 1)),
               index = l_zext(b, place, LLVMTypeOf(a->index)), old = LLVMGetOperand(a->ins, 0);
  LLVMSetOperand(a->ins, 0, l_gep(b, cg_local_type(a), array->alloca, &index, 1));
  LLVMInstructionRemoveFromParent(a->ins);
  l_insert(b, a->ins);
  copy_erase_unused(old);
}

static void visit_access(Cg *cg, const FnGraph *g, const LocalArray *array, const LocalAccess *a) {
  if (!LLVMIsALoadInst(a->ins) || !a->index)
    return;
  uint32_t at = graph_number(g, LLVMGetInstructionParent(a->ins));
  if (at == GRAPH_NONE || g->nodes[at].npred != 1)
    return;
  const GraphNode *before = &g->nodes[g->nodes[at].pred[0]];
  Fork fork, own;
  Remainder r;
  if (before->loop == GRAPH_NONE || !graph_fork(before->last, &fork))
    return;
  if (graph_fork(g->nodes[at].last, &own) && is_second(&fork, &own, g->nodes[at].block) &&
      only_asks(a->ins, &own) && read_index(cg, array, a, &r)) {
    load_first(cg, array, a, &r, before->last);
    return;
  }
  if (!may_move(a->ins) || !cg_is_of_load(fork.condition, before->block) ||
      !is_in_range(cg, array, a, before->block))
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
