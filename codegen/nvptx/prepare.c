/* NVPTX prepare: the optimised module as it goes to LLVM's code generator: a fault of its worked
 * around, and a form that ptxas makes less of turned into a better one; and which modules it would
 * be too slow for. */
#include "codegen/nvptx/prepare.h"

/* --- shifts ---
 *
 * select(count < 64, x << count, 0) is what a Python shift by a variable is. PTX's shifts take a
 * 32-bit count and give 0 for all counts from 64 up, so LLVM 22 drops the select, and forgets that
 * it has taken the low half of a 64-bit count: x << 2**32 gives x. A clamped count keeps the two
 * apart. It cannot be written in lowering, since LLVM's passes know that it changes nothing. */
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
  LLVMValueRef args[] = {LLVMGetOperand(shift, 1), l_int(cg->t.i64, 64)};
  LLVMPositionBuilderBefore(cg->builder, shift);
  LLVMSetOperand(shift, 1, l_call(cg->builder, fn, args, 2));
}

/* --- counts ---
 *
 * n + zext(condition) is what LLVM makes of `if condition: n += 1`. As a selection between n + 1
 * and n ptxas makes one instruction of it that only some lanes run; of the sum it makes a selection
 * between 0 and 1, and an addition. */
static bool is_count(Cg *cg, LLVMValueRef i) {
  if (LLVMGetInstructionOpcode(i) != LLVMAdd || LLVMTypeOf(i) != cg->t.i32)
    return false;
  for (unsigned k = 0; k < 2; k++)
    if (LLVMIsAZExtInst(LLVMGetOperand(i, k)) &&
        LLVMTypeOf(LLVMGetOperand(LLVMGetOperand(i, k), 0)) == cg->t.i1)
      return true;
  return false;
}

static void choose_count(Cg *cg, LLVMValueRef sum) {
  bool second = LLVMIsAZExtInst(LLVMGetOperand(sum, 1)) &&
                LLVMTypeOf(LLVMGetOperand(LLVMGetOperand(sum, 1), 0)) == cg->t.i1;
  LLVMValueRef c = LLVMGetOperand(LLVMGetOperand(sum, second), 0), n = LLVMGetOperand(sum, !second);
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMValueRef one = l_add(cg->builder, n, l_int(cg->t.i32, 1));
  LLVMReplaceAllUsesWith(sum, l_select(cg->builder, c, one, n));
}

void cg_nvptx_prepare(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (is_guarded_shift(cg, i))
          clamp_count(cg, i);
        else if (is_count(cg, i))
          choose_count(cg, i);
}

/* --- long functions --- */

/* LLVM's straight-line strength reduction, a part of its code generator, compares every integer
 * addition, multiplication and address of a function with those before it: 2,000 lines can take
 * half a minute. It cannot be left out alone, so a module with a function beyond this many of them
 * is emitted without the generator's own optimisations; ours are done, and ptxas has its own (the
 * straight-line kernels of bench/scaling.py get 20 % more PTX and the same number of registers). */
enum { MAX_STRAIGHT_LINE = 400 };

static bool is_strength_candidate(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMMul:
  case LLVMGetElementPtr: return true;
  default: return false;
  }
}

bool cg_nvptx_is_long(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        n += is_strength_candidate(i);
    if (n > MAX_STRAIGHT_LINE)
      return true;
  }
  return false;
}
