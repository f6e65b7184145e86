/* NVPTX shared offsets: constants in the indices of shared arrays, as offsets of their accesses.
 *
 *   for k in range(7):
 *       total += d[y, k] * field[z, k, x]    # unrolled: (z * 7 + 0) * 7 + x, (z * 7 + 1) * 7 + x
 *
 * LLVM's code generator makes an offset of a constant that is added last, and leaves one in front
 * of a product: each row has an address of its own, or all but the first, whose constant is 0. But
 * an array of fixed extents has constant rows and is small, so that an element number without its
 * constants is exact in 32 bits, too, negative ones included.
 *
 * In: functions as they go to the code generator. Out: of such accesses, one address and offsets.
 */
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { SHARED = 3, MAX_DEPTH = 6, MOST = 1 << 20 };

/* rest + constant, modulo the type's size; rest is NULL if it is 0. */
typedef struct Linear {
  LLVMValueRef rest;
  int64_t constant;
  bool product; /* the constant, or a part of it, was multiplied */
} Linear;

static bool is_shared_array(LLVMValueRef v) {
  return LLVMIsAGlobalVariable(v) && LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == SHARED &&
         LLVMGetInitializer(v);
}

static Linear linear(Cg *cg, LLVMValueRef v, unsigned depth) {
  LLVMBuilderRef b = cg->builder;
  Linear whole = {v, 0, false};
  if (LLVMIsAConstantInt(v))
    return (Linear){NULL, LLVMConstIntGetSExtValue(v), false};
  bool sum = cg_is_op(v, LLVMAdd) || cg_is_disjoint_or(v), product = cg_is_op(v, LLVMMul);
  LLVMValueRef second = sum || product ? LLVMGetOperand(v, 1) : NULL;
  if (!second || depth == MAX_DEPTH || (product && !LLVMIsAConstantInt(second)))
    return whole;
  Linear x = linear(cg, LLVMGetOperand(v, 0), depth + 1);
  Linear y = sum ? linear(cg, second, depth + 1) : (Linear){0};
  if (!x.constant && !y.constant)
    return whole;
  if (x.constant < -MOST || x.constant > MOST || y.constant < -MOST || y.constant > MOST)
    return whole;
  LLVMPositionBuilderBefore(b, v);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(v));
  if (sum)
    return (Linear){!x.rest   ? y.rest
                    : !y.rest ? x.rest
                              : l_add(b, x.rest, y.rest),
                    x.constant + y.constant, x.product || y.product};
  int64_t by = LLVMConstIntGetSExtValue(second);
  if (by < -MOST || by > MOST)
    return whole;
  return (Linear){x.rest ? l_mul(b, x.rest, second) : NULL, x.constant * by, true};
}

static void move_constant(Cg *cg, LLVMValueRef gep) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef index = LLVMGetOperand(gep, 1),
               number = cg_is_extension(index) ? LLVMGetOperand(index, 0) : index;
  Linear at = linear(cg, number, 0);
  if (!at.product || !at.rest || !at.constant || at.constant < -MOST || at.constant > MOST)
    return;
  LLVMPositionBuilderBefore(b, gep);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(gep));
  LLVMTypeRef unit = LLVMGetGEPSourceElementType(gep);
  LLVMValueRef rest = l_int_cast(b, at.rest, cg->t.i64, true), c = l_int(cg->t.i64, at.constant);
  LLVMValueRef row = l_gep(b, unit, LLVMGetOperand(gep, 0), &rest, 1);
  LLVMReplaceAllUsesWith(gep, l_gep(b, unit, row, &c, 1));
  LLVMInstructionEraseFromParent(gep);
}

void cg_nvptx_shared_offsets(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMIsAGetElementPtrInst(i) && LLVMGetNumOperands(i) == 2 && LLVMIsInBounds(i) &&
            is_shared_array(LLVMGetOperand(i, 0)))
          move_constant(cg, i);
      }
}
