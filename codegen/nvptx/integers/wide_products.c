/* NVPTX wide products: 64-bit products of 32-bit numbers, as one instruction; 32-bit products of
 * numbers of 16 bits that were loaded.
 *
 * Where two arrays end is asked in front of loops that store:
 *
 *   rows * columns * 4 + a <= b
 *
 * where the extents have 32 bits, and were extended at the kernel's beginning. LLVM's code
 * generator makes one multiplication, with 64 bits of result, of a product whose factors are
 * extended in its own block. Of others it makes a product of 64-bit numbers, and ptxas, which finds
 * that the upper halves are zero, still adds their products: an addition, and a register that is
 * zero, for each.
 *
 * LLVM's passes shift one factor first, rows * 4 * columns, which then has more than 32 bits: the
 * product is shifted instead. Low halves are the same.
 *
 * The square of a difference of such numbers is that of its magnitude, which has 32 bits again:
 *
 *   dx = int(x[i]) - int(y[k]); d = dx * dx
 *
 * is one instruction for |dx| and one for the square, in place of two and four.
 *
 * Of `int(x[k]) * int(y[k])` with arrays of int16 the generator makes a product of two registers of
 * 16 bits, which it loads without a sign. ptxas extends each again, where a load that extends would
 * be as short, and the product as well.
 *
 * In: a module that only the code generator is still to see. Out: such factors are extended once
 * more in front of the product, of the number by another name, or the generator would find that it
 * is extended already. Of two short factors one has another name, too: the product has 32 bits
 * then, and the loads are such as extend. Squares are of magnitudes. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* Does the factor have 32 bits, of that extension? A number that is not negative has either. */
static bool is_extended(const Cg *cg, LLVMValueRef v, LLVMOpcode how) {
  if (LLVMIsAConstantInt(v)) {
    int64_t c = LLVMConstIntGetSExtValue(v);
    return how == LLVMZExt ? c >= 0 && c <= UINT32_MAX : c >= INT32_MIN && c <= INT32_MAX;
  }
  bool either = cg_is_op(v, LLVMZExt) && LLVMGetNNeg(v);
  return (cg_is_op(v, how) || either) && LLVMTypeOf(LLVMGetOperand(v, 0)) == cg->t.i32;
}

static bool is_elsewhere(LLVMValueRef product, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) != LLVMGetInstructionParent(product);
}

/* The number that nothing but the product shifts, by a constant; else the factor itself. */
static LLVMValueRef unshifted(LLVMValueRef v) {
  bool shifted = cg_is_op(v, LLVMShl) && LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
                 cg_has_one_use(v);
  return shifted ? LLVMGetOperand(v, 0) : v;
}

static bool is_product_of(const Cg *cg, LLVMValueRef i, LLVMOpcode how) {
  if (!cg_is_op(i, LLVMMul) || LLVMTypeOf(i) != cg->t.i64)
    return false;
  LLVMValueRef x = unshifted(LLVMGetOperand(i, 0)), y = unshifted(LLVMGetOperand(i, 1));
  return is_extended(cg, x, how) && is_extended(cg, y, how) &&
         (is_elsewhere(i, x) || is_elsewhere(i, y));
}

static LLVMValueRef factor(Cg *cg, LLVMValueRef product, LLVMValueRef v, LLVMOpcode how) {
  if (!is_elsewhere(product, v))
    return v;
  return l_cast(cg->builder, how, cg_nvptx_hidden(cg, LLVMGetOperand(v, 0)), cg->t.i64);
}

static void extend_here(Cg *cg, LLVMValueRef product, LLVMOpcode how) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef of[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1)}, x[2];
  bool shifted[2];
  LLVMPositionBuilderBefore(b, product);
  for (unsigned k = 0; k < 2; k++) {
    shifted[k] = unshifted(of[k]) != of[k];
    x[k] = factor(cg, product, unshifted(of[k]), how);
  }
  LLVMValueRef wide = l_mul(b, x[0], x[1]);
  for (unsigned k = 0; k < 2; k++)
    if (shifted[k])
      wide = l_shl(b, wide, LLVMGetOperand(of[k], 1));
  LLVMReplaceAllUsesWith(product, wide);
  LLVMInstructionEraseFromParent(product);
  for (unsigned k = 0; k < 2; k++)
    if (shifted[k])
      LLVMInstructionEraseFromParent(of[k]);
}

/* Is v an int16, extended to 32 bits, or a constant that would be one? */
static bool is_short(const Cg *cg, LLVMValueRef v) {
  if (LLVMIsAConstantInt(v)) {
    int64_t c = LLVMConstIntGetSExtValue(v);
    return c >= INT16_MIN && c <= INT16_MAX;
  }
  return cg_is_op(v, LLVMSExt) && LLVMTypeOf(LLVMGetOperand(v, 0)) == cg->t.i16;
}

/* A factor that the same block has loaded, for nothing else. */
static bool is_loaded_short(const Cg *cg, LLVMValueRef v) {
  LLVMValueRef load = cg_is_op(v, LLVMSExt) ? LLVMGetOperand(v, 0) : NULL;
  if (!load || LLVMTypeOf(v) != cg->t.i32 || LLVMTypeOf(load) != cg->t.i16 ||
      !LLVMIsALoadInst(load) || !cg_has_one_use(load) || is_elsewhere(load, v))
    return false;
  bool factor = false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u && !factor; u = LLVMGetNextUse(u)) {
    LLVMValueRef product = LLVMGetUser(u);
    factor = cg_is_op(product, LLVMMul) && is_short(cg, LLVMGetOperand(product, 0)) &&
             is_short(cg, LLVMGetOperand(product, 1));
  }
  return factor;
}

static void name_anew(Cg *cg, LLVMValueRef v) {
  LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(v));
  LLVMValueRef hidden = cg_nvptx_hidden(cg, v);
  LLVMReplaceAllUsesWith(v, hidden);
  LLVMSetOperand(hidden, 0, v);
}

/* --- squares --- */

/* Is it the square of a difference of two numbers of 32 bits, of that extension? */
static bool is_square_of(const Cg *cg, LLVMValueRef i, LLVMOpcode how) {
  if (!cg_is_op(i, LLVMMul) || LLVMTypeOf(i) != cg->t.i64)
    return false;
  LLVMValueRef d = LLVMGetOperand(i, 0);
  return d == LLVMGetOperand(i, 1) && cg_is_op(d, LLVMSub) &&
         is_extended(cg, LLVMGetOperand(d, 0), how) && is_extended(cg, LLVMGetOperand(d, 1), how);
}

static LLVMValueRef unextended(const Cg *cg, LLVMValueRef v) {
  return LLVMIsAConstantInt(v) ? l_int(cg->t.i32, LLVMConstIntGetZExtValue(v) & UINT32_MAX)
                               : LLVMGetOperand(v, 0);
}

static void square_magnitude(Cg *cg, LLVMValueRef square, const char *magnitude) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef d = LLVMGetOperand(square, 0);
  LLVMValueRef of[] = {unextended(cg, LLVMGetOperand(d, 0)), unextended(cg, LLVMGetOperand(d, 1)),
                       l_int(cg->t.i32, 0)};
  LLVMPositionBuilderBefore(b, square);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(square));
  LLVMValueRef size = l_zext(b, l_call(b, cg_intrinsic_fn(cg, magnitude, NULL, 0), of, 3),
                             cg->t.i64);
  LLVMReplaceAllUsesWith(square, l_mul(b, size, size));
  LLVMInstructionEraseFromParent(square);
  if (!LLVMGetFirstUse(d))
    LLVMInstructionEraseFromParent(d);
}

/* --- the pass --- */

void cg_nvptx_wide_products(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMOpcode how = is_product_of(cg, i, LLVMZExt)   ? LLVMZExt
                         : is_product_of(cg, i, LLVMSExt) ? LLVMSExt
                                                          : (LLVMOpcode)0;
        if (how)
          extend_here(cg, i, how);
        else if (is_loaded_short(cg, i))
          name_anew(cg, i);
        else if (is_square_of(cg, i, LLVMSExt))
          square_magnitude(cg, i, "llvm.nvvm.sad.i");
        else if (is_square_of(cg, i, LLVMZExt))
          square_magnitude(cg, i, "llvm.nvvm.sad.ui");
      }
}
