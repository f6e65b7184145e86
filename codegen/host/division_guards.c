/* Host division guards: what floor division adds to the CPU's division, behind branches.
 *
 * Lowering (lower/divide.c) divides by 1 where the divisor is 0 or the quotient would overflow, and
 * corrects a remainder whose sign is not the divisor's. Both are selections, which suits lanes and
 * GPUs. For a single thread they stand in a row with the division: it waits for comparisons of both
 * operands, and what follows waits for the correction. Hardly any division needs either, so a
 * branch around them is predicted, and nothing waits:
 *
 *   before -> block                 where y is neither 0 nor -1 (of signs: the rest has y's)
 *     |         |
 *     +-> seldom -> block           the selection, as it was
 *
 * In: the module after LLVM's passes, which would make selections of such branches again. Out: the
 * same, with these branches in front of the selections of numbers. */
#include "codegen/host/host.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/guards.h"
#include "codegen/llvm/match.h"

static LLVMValueRef is_seldom(Cg *cg, const DivisionGuard *g) {
  LLVMTypeRef t = LLVMTypeOf(g->choice);
  if (g->seldom)
    return g->seldom;
  return l_icmp(cg->builder, LLVMIntULT, l_add(cg->builder, g->divisor, l_int(t, 1)), l_int(t, 2));
}

static void move_to_end(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef v) {
  LLVMInstructionRemoveFromParent(v);
  l_at_end(cg->builder, block, NULL);
  l_insert(cg->builder, v);
}

/* What only v, in the block `seldom`, needs of what `before` computes. */
static void move_operands(Cg *cg, LLVMBasicBlockRef before, LLVMValueRef v) {
  for (int k = 0; k < LLVMGetNumOperands(v); k++) {
    LLVMValueRef o = LLVMGetOperand(v, (unsigned)k);
    if (!LLVMIsAInstruction(o) || LLVMGetInstructionParent(o) != before || !cg_has_one_use(o) ||
        !cg_is_speculatable(o))
      continue;
    LLVMInstructionRemoveFromParent(o);
    LLVMPositionBuilderBefore(cg->builder, v);
    l_insert(cg->builder, o);
    move_operands(cg, before, o);
  }
}

static void branch_around(Cg *cg, const DivisionGuard *g) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef last = g->sum ? g->sum : g->choice, next = LLVMGetNextInstruction(last),
               condition = LLVMGetOperand(g->choice, 0);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(last), before = graph_cut_before(cg, next),
                    seldom = LLVMInsertBasicBlockInContext(cg->context, block, "seldom");
  LLVMPositionBuilderBefore(b, next);
  LLVMValueRef phi = l_phi(b, LLVMTypeOf(last));
  LLVMReplaceAllUsesWith(last, phi);
  move_to_end(cg, seldom, g->choice);
  if (g->sum)
    move_to_end(cg, seldom, g->sum);
  l_at_end(b, seldom, NULL);
  l_br(b, block);
  l_at_end(b, before, NULL);
  cg_branch_weights(cg, l_condbr(b, is_seldom(cg, g), seldom, block), 1, CG_OFTEN);
  LLVMAddIncoming(phi, (LLVMValueRef[]){last, g->often}, (LLVMBasicBlockRef[]){seldom, before}, 2);
  if (g->then) {
    LLVMSetOperand(g->choice, 0, g->then);
    copy_erase_unused(condition);
  }
  move_operands(cg, before, g->choice);
}

static bool is_number(LLVMValueRef v) { return cg_int_width(v) > 1 && cg_int_width(v) <= 64; }

static void guard_in(Cg *cg, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      DivisionGuard g;
      next = LLVMGetNextInstruction(i);
      if (!is_number(i) || !cg_find_guard(i, &g))
        continue;
      next = g.sum ? LLVMGetNextInstruction(g.sum) : next;
      branch_around(cg, &g);
    }
}

void cg_host_guard_divisions(Cg *cg) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    guard_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
