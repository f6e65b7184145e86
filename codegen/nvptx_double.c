/* Doubles: t + t + c as one fused operation, fma(t, 2, c).
 *
 * The imaginary part of z * z is x * y + y * x, which LLVM makes t + t of; contracted as it stands, that is a multiplication, a fused one and
 * an addition for z * z + c. Twice a number is exact, so the fused form rounds once, where the sum would. In: optimised functions. Only
 * what may be contracted is. */
#include "codegen/llvm_compat.h"
#include "codegen/nvptx.h"

static bool is_contractible_sum(LLVMValueRef v) {
  if (!LLVMIsAInstruction(v))
    return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  return (op == LLVMFAdd || op == LLVMFSub) && LLVMGetFastMathFlags(v) & LLVMFastMathAllowContract;
}

static bool is_double(LLVMValueRef v) {
  return is_contractible_sum(v) && LLVMGetInstructionOpcode(v) == LLVMFAdd &&
         LLVMGetOperand(v, 0) == LLVMGetOperand(v, 1);
}

static void fuse(Cg *cg, LLVMValueRef sum, unsigned at) {
  LLVMValueRef twice = LLVMGetOperand(sum, at), other = LLVMGetOperand(sum, 1 - at);
  LLVMTypeRef type = LLVMTypeOf(sum);
  bool minus = LLVMGetInstructionOpcode(sum) == LLVMFSub;
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(sum));
  if (minus && at == 0)
    other = LLVMBuildFNeg(cg->builder, other, "");
  LLVMValueRef args[] = {LLVMGetOperand(twice, 0), LLVMConstReal(type, minus && at == 1 ? -2.0 : 2.0), other};
  LLVMValueRef fma = cg_intrinsic_fn(cg, "llvm.fma", &type, 1);
  LLVMValueRef call = LLVMBuildCall2(cg->builder, LLVMGlobalGetValueType(fma), fma, args, 3, "");
  LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(sum));
  LLVMReplaceAllUsesWith(sum, call);
  LLVMInstructionEraseFromParent(sum);
  if (!LLVMGetFirstUse(twice))
    LLVMInstructionEraseFromParent(twice);
}

static void visit(Cg *cg, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if ((type != cg->t.f32 && type != cg->t.f64) || !is_contractible_sum(i) || is_double(i))
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
