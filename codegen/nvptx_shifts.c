/* NVPTX shifts: in the module as it goes to the code generator.
 *
 * select(count < 64, x << count, 0) is what a Python shift by a variable is. PTX's shifts take a 32-bit count and give 0 for all
 * counts from 64 up, so LLVM 22 drops the select, and forgets that it has taken the low half of a 64-bit count: x << 2**32 gives x.
 * A clamped count keeps the two apart. It cannot be written in lowering, since LLVM's passes know that it changes nothing. */
#include "codegen/nvptx_shifts.h"

static bool feeds_select(LLVMValueRef shift) {
  for (LLVMUseRef use = LLVMGetFirstUse(shift); use; use = LLVMGetNextUse(use))
    if (LLVMIsASelectInst(LLVMGetUser(use)))
      return true;
  return false;
}

static bool is_guarded_shift(Cg *cg, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return (op == LLVMShl || op == LLVMLShr) && LLVMTypeOf(i) == cg->t.i64 &&
         !LLVMIsAConstant(LLVMGetOperand(i, 1)) && feeds_select(i);
}

static void clamp_count(Cg *cg, LLVMValueRef shift) {
  LLVMValueRef fn = cg_intrinsic_fn(cg, "llvm.umin", &cg->t.i64, 1);
  LLVMValueRef args[] = {LLVMGetOperand(shift, 1), LLVMConstInt(cg->t.i64, 64, 0)};
  LLVMPositionBuilderBefore(cg->builder, shift);
  LLVMSetOperand(shift, 1,
                 LLVMBuildCall2(cg->builder, LLVMGlobalGetValueType(fn), fn, args, 2, ""));
}

void cg_keep_shift_guards(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (is_guarded_shift(cg, i))
          clamp_count(cg, i);
}
