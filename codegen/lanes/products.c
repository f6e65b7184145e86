/* Lanes: low halves of products of which the high half is used too (Philox, Montgomery's products),
 * as short products. See lanes.h.
 *
 * In: a function of one thread. Out: the same, with `trunc(zext a * zext b)` as a * b, whose bits
 * are those: a product's low half does not depend on how its factors were extended. LLVM does so
 * itself where the long product has no other use. Where it has, that one becomes an instruction for
 * high halves, of which there are vectors, but only if the low half does not need it as well. A
 * single thread takes one instruction more. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

/* v as a number of type t of which it is the extension, or that has its low bits; NULL: unknown. */
static LLVMValueRef before_extension(LLVMValueRef v, LLVMTypeRef t) {
  if (LLVMIsAConstantInt(v))
    return l_int(t, LLVMConstIntGetZExtValue(v));
  return cg_is_extension(v) && LLVMTypeOf(LLVMGetOperand(v, 0)) == t ? LLVMGetOperand(v, 0) : NULL;
}

/* The short product, or NULL: it is no such truncation. */
static LLVMValueRef low_product(Cg *cg, LLVMValueRef i) {
  LLVMValueRef product = LLVMIsATruncInst(i) ? LLVMGetOperand(i, 0) : NULL;
  if (!product || !cg_is_op(product, LLVMMul) || cg_int_width(i) != 32 ||
      cg_int_width(product) != 64 || cg_has_one_use(product))
    return NULL;
  LLVMValueRef x = before_extension(LLVMGetOperand(product, 0), LLVMTypeOf(i)),
               y = before_extension(LLVMGetOperand(product, 1), LLVMTypeOf(i));
  if (!x || !y)
    return NULL;
  LLVMPositionBuilderBefore(cg->builder, product);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(product));
  return l_mul(cg->builder, x, y);
}

void ln_shorten_products(Cg *cg, LLVMValueRef f) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      LLVMValueRef low = low_product(cg, i);
      if (!low)
        continue;
      LLVMReplaceAllUsesWith(i, low);
      LLVMInstructionEraseFromParent(i);
    }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
