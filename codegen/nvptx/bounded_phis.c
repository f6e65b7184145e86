/* NVPTX bounded phis: variables of 64 bits that the conditions of their loop bound, in 32.
 *
 *   x = int(ox)
 *   while 0 <= x < nx:
 *     if grid[x] != 0: break
 *     x += step                # 1 or -1
 *
 * Of int(ox) nothing is known, and of x + step neither: typed SSA leaves the variable 64 bits,
 * since it has them in front of the loop's condition. LLVM's passes ask the condition at the end of
 * an iteration, and in front of the first one. So wherever a value comes to the loop it is from 0
 * on and less than a number of 32 bits, or a constant, and the variable has 32 bits. It plus or
 * minus 1 has, too; what comes of that is small_numbers.c's. Where it is an index it is one of the
 * array as it is: it was wrapped, as umin(x, x + extent), before its bounds were known.
 *
 * In: functions after LLVM's passes and low_halves.c. Out: such phis of headers in 32 bits, their
 * sums with numbers from -1 to 1, and no wraps of them. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/guarded.h"
#include "codegen/nvptx/nvptx.h"

enum { BOUNDED = GUARD_WHOLE | GUARD_LESS };

static bool is_number_in(LLVMValueRef v, int64_t least, int64_t most) {
  return LLVMIsAConstantInt(v) && LLVMConstIntGetSExtValue(v) >= least &&
         LLVMConstIntGetSExtValue(v) <= most;
}

/* The guards of what comes by that edge. A sum of the phi, whose values are from 0 on, or of what
 * is, with a number from 0 on is so, too. */
static unsigned guards(Cg *cg, const FnGraph *g, LLVMValueRef phi, unsigned e) {
  LLVMValueRef v = LLVMGetIncomingValue(phi, e);
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, e), to = LLVMGetInstructionParent(phi);
  unsigned known = cg_nvptx_guards(cg, g, v, from, to);
  while (!(known & GUARD_FROM_0) && cg_is_op(v, LLVMAdd) && LLVMGetNSW(v) &&
         is_number_in(LLVMGetOperand(v, 1), 0, INT32_MAX)) {
    v = LLVMGetOperand(v, 0);
    known |= v == phi ? GUARD_FROM_0 : cg_nvptx_guards(cg, g, v, from, to) & GUARD_FROM_0;
  }
  return known;
}

/* Is each value from 0 on, and less than 2^31 - 1, where it comes to the loop? */
static bool is_bounded(Cg *cg, const FnGraph *g, LLVMValueRef phi) {
  unsigned guarded = 0;
  if (cg_int_width(phi) != 64)
    return false;
  for (unsigned e = 0; e < LLVMCountIncoming(phi); e++) {
    LLVMValueRef v = LLVMGetIncomingValue(phi, e);
    if (is_number_in(v, 0, INT32_MAX - 1))
      continue;
    if ((guards(cg, g, phi, e) & BOUNDED) != BOUNDED)
      return false;
    guarded++;
  }
  return guarded;
}

/* A step of at most 1 in 32 bits; NULL: v is not known to be one. */
static LLVMValueRef step(Cg *cg, LLVMValueRef v) {
  if (is_number_in(v, -1, 1))
    return l_trunc(cg->builder, v, cg->t.i32);
  if (LLVMIsASelectInst(v) && is_number_in(LLVMGetOperand(v, 1), -1, 1) &&
      is_number_in(LLVMGetOperand(v, 2), -1, 1)) {
    LLVMPositionBuilderBefore(cg->builder, v); /* perhaps in front of the loop */
    return l_select(cg->builder, LLVMGetOperand(v, 0), step(cg, LLVMGetOperand(v, 1)),
                    step(cg, LLVMGetOperand(v, 2)));
  }
  bool small = cg_is_extension(v) && cg_nvptx_range(v).lo >= -1 && cg_nvptx_range(v).hi <= 1;
  return small ? l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, LLVMIsASExtInst(v))
               : NULL;
}

/* The sum of the phi, which is `narrow` in 32 bits, and a small step. */
static LLVMValueRef narrow_sum(Cg *cg, LLVMValueRef sum, LLVMValueRef phi, LLVMValueRef narrow) {
  if (!cg_is_op(sum, LLVMAdd))
    return NULL;
  LLVMValueRef by = LLVMGetOperand(sum, LLVMGetOperand(sum, 0) == phi);
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(sum));
  by = by == phi ? NULL : step(cg, by);
  LLVMPositionBuilderBefore(cg->builder, sum);
  return by ? l_sext(cg->builder, l_add_nsw(cg->builder, narrow, by), cg->t.i64) : NULL;
}

/* x is from 0 on, so it is the minimum of itself and its sum with a number from 0 on. */
static void leave_wraps(LLVMValueRef x) {
  for (LLVMUseRef u = LLVMGetFirstUse(x), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef least = LLVMGetUser(u);
    if (!LLVMIsACallInst(least) || !cg_is_call_of(least, "llvm.umin.i32"))
      continue;
    LLVMValueRef more = LLVMGetOperand(least, LLVMGetOperand(least, 0) == x);
    if (!cg_is_op(more, LLVMAdd))
      continue;
    LLVMValueRef by = LLVMGetOperand(more, LLVMGetOperand(more, 0) == x);
    bool is_sum = LLVMGetOperand(more, 0) == x || LLVMGetOperand(more, 1) == x;
    if (is_sum && cg_nvptx_range(by).lo >= 0)
      LLVMReplaceAllUsesWith(least, x);
  }
}

static void write_narrow(Cg *cg, LLVMValueRef phi) {
  LLVMBuilderRef b = cg->builder;
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMValueRef narrow = cg_nvptx_phi_in_32_bits(cg, phi);
  for (LLVMUseRef u = LLVMGetFirstUse(phi), next; u; u = next) {
    next = LLVMGetNextUse(u);
    LLVMValueRef sum = LLVMGetUser(u), now = narrow_sum(cg, sum, phi, narrow);
    if (now)
      LLVMReplaceAllUsesWith(sum, now);
  }
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u))
    if (cg_is_op(LLVMGetUser(u), LLVMTrunc) && LLVMTypeOf(LLVMGetUser(u)) == cg->t.i32)
      LLVMReplaceAllUsesWith(LLVMGetUser(u), narrow);
  leave_wraps(narrow);
  LLVMPositionBuilderBefore(b, graph_behind_phis(LLVMGetInstructionParent(phi)));
  LLVMReplaceAllUsesWith(phi, l_sext(b, narrow, cg->t.i64));
}

static bool narrow_in(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  bool any = false;
  for (LLVMValueRef i = g->nodes[loop->header].first, next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    if (!is_bounded(cg, g, i))
      continue;
    write_narrow(cg, i);
    any = true;
  }
  return any;
}

void cg_nvptx_bounded_phis(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    bool any = false;
    graph_loops(&g);
    for (uint32_t k = 0; k < g.loops.len && !g.irreducible; k++)
      any |= narrow_in(cg, &g, &g.loops.data[k]);
    if (any)
      cg_run_function_passes(cg, f, "instsimplify,adce");
  }
}
