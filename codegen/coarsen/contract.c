/* Coarsening: which multiplications and additions are contracted to fma, decided before there are
 * copies.
 *
 * In: the kernel that will be coarsened. Out: the same, with `llvm.fma` and without the flag that
 * permits contraction.
 *
 * If it were left to the code generator, the choice would depend on the number of uses of each
 * product, which differs between the two entries where copies share a value: a coarsened launch
 * would round differently. So it is made here, as LLVM's generator for NVPTX makes it for a kernel
 * by itself: an addition takes an operand that is a product; of two, the one with fewer uses, else
 * the first. What remains may not be contracted any more, by ptxas either. */
#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/compat.h"

static bool is_contractible(LLVMValueRef v, LLVMOpcode op) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op &&
         (LLVMGetFastMathFlags(v) & LLVMFastMathAllowContract);
}

static bool is_sum(LLVMValueRef v) {
  return is_contractible(v, LLVMFAdd) || is_contractible(v, LLVMFSub);
}

static unsigned count_uses(LLVMValueRef v) {
  unsigned n = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    n++;
  return n;
}

/* Which operand is the product to contract; 2: neither is a product. */
static unsigned product_of(LLVMValueRef sum) {
  LLVMValueRef a = LLVMGetOperand(sum, 0), b = LLVMGetOperand(sum, 1);
  bool first = is_contractible(a, LLVMFMul), second = is_contractible(b, LLVMFMul);
  if (first && second)
    return count_uses(a) > count_uses(b);
  return first ? 0 : second ? 1 : 2;
}

static LLVMFastMathFlags settled(LLVMValueRef v) {
  return LLVMGetFastMathFlags(v) & ~(LLVMFastMathFlags)LLVMFastMathAllowContract;
}

static LLVMValueRef fused(Cg *cg, LLVMBuilderRef b, LLVMValueRef sum, unsigned product) {
  LLVMValueRef mul = LLVMGetOperand(sum, product), other = LLVMGetOperand(sum, 1 - product);
  LLVMValueRef args[] = {LLVMGetOperand(mul, 0), LLVMGetOperand(mul, 1), other};
  LLVMTypeRef type = LLVMTypeOf(sum);
  if (LLVMGetInstructionOpcode(sum) == LLVMFSub) { /* a * b - c, c - a * b */
    unsigned negated = !product ? 2 : LLVMIsConstant(args[1]) ? 1 : 0;
    args[negated] = l_fneg(b, args[negated]);
  }
  LLVMValueRef fma = cg_intrinsic_fn(cg, "llvm.fma", &type, 1);
  LLVMValueRef call = l_call(b, fma, args, 3);
  LLVMSetFastMathFlags(call, settled(sum));
  return call;
}

static LLVMBuilderRef at(LLVMBuilderRef b, LLVMValueRef i) {
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  return b;
}

static void fuse(Cg *cg, LLVMBuilderRef b, LLVMValueRef sum, unsigned product) {
  LLVMValueRef mul = LLVMGetOperand(sum, product);
  LLVMReplaceAllUsesWith(sum, fused(cg, at(b, sum), sum, product));
  LLVMInstructionEraseFromParent(sum);
  if (!LLVMGetFirstUse(mul))
    LLVMInstructionEraseFromParent(mul);
}

static void each_instruction(Cg *cg, LLVMBuilderRef b,
                             void (*visit)(Cg *, LLVMBuilderRef, LLVMValueRef)) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(cg->kernel); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      visit(cg, b, i);
    }
}

static void visit_sum(Cg *cg, LLVMBuilderRef b, LLVMValueRef i) {
  unsigned product = is_sum(i) ? product_of(i) : 2;
  if (product < 2)
    fuse(cg, b, i, product);
}

/* The flag cannot be removed from an instruction, so it is built anew. */
static void visit_rest(Cg *cg, LLVMBuilderRef b, LLVMValueRef i) {
  (void)cg;
  if (!is_sum(i) && !is_contractible(i, LLVMFMul))
    return;
  LLVMValueRef again = l_binop(at(b, i), LLVMGetInstructionOpcode(i), LLVMGetOperand(i, 0),
                               LLVMGetOperand(i, 1));
  if (LLVMIsAInstruction(again))
    LLVMSetFastMathFlags(again, settled(i));
  LLVMReplaceAllUsesWith(i, again);
  LLVMInstructionEraseFromParent(i);
}

void co_contract(Cg *cg) {
  /* reassociation leaves the rounding open in any case */
  if (!cg->options.fma || cg->options.fastmath & CG_FAST_REASSOC)
    return;
  LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->context);
  each_instruction(cg, b, visit_sum);
  each_instruction(cg, b, visit_rest);
  LLVMDisposeBuilder(b);
}
