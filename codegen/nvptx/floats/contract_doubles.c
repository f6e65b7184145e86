/* NVPTX doubles and squares: contractions that LLVM's code generator misses.
 *
 * t + t + c is one fused operation, fma(t, 2, c). The imaginary part of z * z is x * y + y * x,
 * which LLVM turns into t + t; contracted as it stands, z * z + c takes a multiplication, a fused
 * operation and an addition. Twice a number is exact, so fma(t, 2, c) rounds once, where the sum
 * would.
 *
 * A loop `while x * x + y * y <= 4` is rotated by LLVM, and carries the squares of its condition to
 * x * x - y * y in the next iteration as phis, which are no products any more and cannot be
 * contracted. Such a square is computed again where that costs nothing: where it becomes part of a
 * fused operation in both places.
 *
 * In: functions after LLVM's passes. Only operations with the flag that permits contraction are
 * changed. */
#include <assert.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* --- doubles --- */

static bool is_double(LLVMValueRef v) {
  return cg_is_contractible_sum(v) && LLVMGetInstructionOpcode(v) == LLVMFAdd &&
         LLVMGetOperand(v, 0) == LLVMGetOperand(v, 1);
}

static void fuse(Cg *cg, LLVMValueRef sum, unsigned at) {
  LLVMValueRef twice = LLVMGetOperand(sum, at), other = LLVMGetOperand(sum, 1 - at);
  assert(is_double(twice));
  LLVMTypeRef type = LLVMTypeOf(sum);
  bool minus = LLVMGetInstructionOpcode(sum) == LLVMFSub;
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(sum));
  if (minus && at == 0)
    other = l_fneg(cg->builder, other);
  LLVMValueRef args[] = {LLVMGetOperand(twice, 0),
                         LLVMConstReal(type, minus && at == 1 ? -2.0 : 2.0), other};
  LLVMValueRef fma = cg_intrinsic_fn(cg, "llvm.fma", &type, 1);
  LLVMValueRef call = l_call(cg->builder, fma, args, 3);
  LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(sum));
  LLVMReplaceAllUsesWith(sum, call);
  LLVMInstructionEraseFromParent(sum);
  if (!LLVMGetFirstUse(twice))
    LLVMInstructionEraseFromParent(twice);
}

/* --- squares --- */

/* Are all its uses (but one) sums that would be contracted with it, rather than with their other
 * operand? Then the product itself costs nothing. */
static bool is_fused_away(LLVMValueRef v, LLVMValueRef but) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (by == but)
      continue;
    if (!cg_is_contractible_sum(by) ||
        LLVMGetInstructionParent(by) != LLVMGetInstructionParent(LLVMIsAPHINode(v) ? by : v))
      return false;
    LLVMValueRef other = LLVMGetOperand(by, LLVMGetOperand(by, 0) == v);
    bool alone = cg_has_one_use(other);
    if (other == v || (cg_is_contractible(other, LLVMFMul) && alone) ||
        (LLVMIsAPHINode(v) && cg_is_contractible(other, LLVMFMul)))
      return false;
  }
  return true;
}

/* The phi of the same block whose squares are the operands of this one; NULL if there is none. */
static LLVMValueRef root_of(LLVMValueRef phi) {
  unsigned n = LLVMCountIncoming(phi);
  for (LLVMValueRef q = LLVMGetFirstInstruction(LLVMGetInstructionParent(phi)); LLVMIsAPHINode(q);
       q = LLVMGetNextInstruction(q)) {
    bool all = LLVMTypeOf(q) == LLVMTypeOf(phi);
    for (unsigned k = 0; k < n && all; k++) {
      LLVMValueRef square = LLVMGetIncomingValue(phi, k);
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
      all = cg_is_contractible(square, LLVMFMul) &&
            LLVMGetOperand(square, 0) == LLVMGetOperand(square, 1);
      for (unsigned j = 0; j < n && all; j++)
        all = LLVMGetIncomingBlock(q, j) != from ||
              LLVMGetIncomingValue(q, j) == LLVMGetOperand(square, 0);
    }
    if (all)
      return q;
  }
  return NULL;
}

/* Are all uses in the phi's own block? Then the square can be computed again right after the
 * phis. */
static bool is_used_here(LLVMValueRef phi) {
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u))
    if (LLVMGetInstructionParent(LLVMGetUser(u)) != LLVMGetInstructionParent(phi) ||
        LLVMIsAPHINode(LLVMGetUser(u)))
      return false;
  return LLVMGetFirstUse(phi) != NULL;
}

static void visit_square(Cg *cg, LLVMValueRef phi) {
  LLVMValueRef root = is_used_here(phi) && is_fused_away(phi, NULL) ? root_of(phi) : NULL;
  for (unsigned k = 0, n = LLVMCountIncoming(phi); root && k < n; k++)
    if (LLVMGetIncomingBlock(phi, k) == LLVMGetInstructionParent(phi) &&
        !is_fused_away(LLVMGetIncomingValue(phi, k), phi))
      root = NULL;
  if (!root)
    return;
  LLVMValueRef at = graph_behind_phis(LLVMGetInstructionParent(phi));
  LLVMPositionBuilderBefore(cg->builder, at);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(at));
  LLVMValueRef square = l_fmul(cg->builder, root, root);
  LLVMSetFastMathFlags(square, LLVMFastMathAllowContract);
  LLVMReplaceAllUsesWith(phi, square);
  LLVMInstructionEraseFromParent(phi);
}

/* --- the pass --- */

static void visit(Cg *cg, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (type != cg->t.f32 && type != cg->t.f64)
    return;
  if (LLVMIsAPHINode(i)) {
    visit_square(cg, i);
    return;
  }
  if (!cg_is_contractible_sum(i) || is_double(i))
    return;
  for (unsigned k = 0; k < 2; k++)
    if (is_double(LLVMGetOperand(i, k))) {
      fuse(cg, i, k);
      return;
    }
}

void cg_nvptx_double(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(cg, i);
      }
}
