/* Lanes: low halves of products of which the high half is used too (Philox, Montgomery's products),
 * as short products; divisions of what was extended, as short divisions; squares of differences of
 * what was extended. See lanes.h.
 *
 * In: a function of one thread. Out: the same, with `trunc(zext a * zext b)` as a * b, whose bits
 * are those: a product's low half does not depend on how its factors were extended. LLVM does so
 * itself where the long product has no other use. Where it has, that one becomes an instruction for
 * high halves, of which there are vectors, but only if the low half does not need it as well. A
 * single thread takes one instruction more.
 *
 * `n / d` and `n % d` of 64 bits, where both are extended from 32 bits with a sign and n is not
 * negative, are extensions of those of 32 bits: |n / d| <= n, so the quotient that would not fit
 * (that of -2**31 and -1) is not among them, and dividing by 0 is undefined in both. LLVM does so
 * itself where neither has a sign. Vectors divide 32 bits by floats (divide.c). */
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

/* Is the highest bit 0 by the operation itself? A flag of an extension would not do: where that is
 * wrong, its value is poison, but the short quotient of -2**31 and -1 undefined. */
static bool has_no_sign(LLVMValueRef v) {
  LLVMValueRef by = LLVMIsABinaryOperator(v) ? LLVMGetOperand(v, 1) : NULL;
  if (!by || !LLVMIsAConstantInt(by))
    return false;
  return cg_is_op(v, LLVMLShr) ? !LLVMIsNull(by)
                               : cg_is_op(v, LLVMAnd) && LLVMConstIntGetSExtValue(by) >= 0;
}

/* Of what number of 32 bits with a sign v is the extension; NULL: it may be of none. natural: that
 * must not be negative. */
static LLVMValueRef before_sign(LLVMValueRef v, LLVMTypeRef i32, bool natural) {
  LLVMValueRef x = cg_is_extension(v) ? LLVMGetOperand(v, 0) : NULL;
  if (!x || LLVMTypeOf(x) != i32)
    return NULL;
  return has_no_sign(x) || (!natural && LLVMIsASExtInst(v)) ? x : NULL;
}

/* The extended short division, or NULL. */
static LLVMValueRef short_division(Cg *cg, LLVMValueRef i) {
  bool rest = cg_is_op(i, LLVMSRem);
  if ((!rest && !cg_is_op(i, LLVMSDiv)) || cg_int_width(i) != 64)
    return NULL;
  LLVMValueRef n = before_sign(LLVMGetOperand(i, 0), cg->t.i32, true),
               d = before_sign(LLVMGetOperand(i, 1), cg->t.i32, false);
  if (!n || !d)
    return NULL;
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  return l_sext(cg->builder, l_binop(cg->builder, rest ? LLVMSRem : LLVMSDiv, n, d), cg->t.i64);
}

/* What is extended from 32 bits with a sign, if it is computed in this block; or NULL. */
static LLVMValueRef short_operand(Lanes *l, LLVMValueRef i, unsigned k) {
  LLVMValueRef wide = LLVMGetOperand(i, k);
  LLVMValueRef x = LLVMIsASExtInst(wide) ? LLVMGetOperand(wide, 0) : NULL;
  return x && LLVMTypeOf(x) == l->cg->t.i32 && ln_is_here(l, x) ? x : NULL;
}

/* (a - b)**2 of 64 bits, where both are extended from 32: their distance has 32 bits without a
 * sign, and the CPU multiplies vectors of those at once. */
LLVMValueRef ln_square(Lanes *l, LLVMValueRef i) {
  LLVMValueRef d = cg_is_op(i, LLVMMul) ? LLVMGetOperand(i, 0) : NULL;
  if (!d || d != LLVMGetOperand(i, 1) || cg_int_width(i) != 64 || !cg_is_op(d, LLVMSub))
    return NULL;
  LLVMValueRef a = short_operand(l, d, 0), b = short_operand(l, d, 1);
  if (!a || !b)
    return NULL;
  LLVMValueRef both[] = {ln_vector(l, a), ln_vector(l, b)};
  LLVMTypeRef t = LLVMTypeOf(both[0]);
  LLVMValueRef most = l_call(l->b, cg_intrinsic_fn(l->cg, "llvm.smax", &t, 1), both, 2),
               least = l_call(l->b, cg_intrinsic_fn(l->cg, "llvm.smin", &t, 1), both, 2),
               far = l_zext(l->b, l_sub(l->b, most, least), ln_vector_type(l, l->cg->t.i64));
  return l_mul(l->b, far, far);
}

void ln_shorten_products(Cg *cg, LLVMValueRef f) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      LLVMValueRef low = low_product(cg, i);
      if (!low)
        low = short_division(cg, i);
      if (!low)
        continue;
      LLVMReplaceAllUsesWith(i, low);
      LLVMInstructionEraseFromParent(i);
    }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
