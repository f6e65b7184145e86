/* Host store order: a store of more than one register, from the lowest address to the highest.
 *
 * Sixteen lanes of 32 bits are two registers of AVX2. LLVM 22 may store the higher one first, and a
 * loop that stores so writes each cache line backwards: a Xeon took twice as long for a stencil.
 *
 * In: the module after LLVM's passes, which would join the stores again. Out: the same, with a
 * store for each register, in the order of their addresses. */
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/match.h"

enum { LANE_BYTES = 4 }; /* of the lanes that cg_lanes_part counts */

/* How many elements a register has, if the store is a plain one of several whole registers; else
 * 0. */
static unsigned elements_of(const Cg *cg, LLVMValueRef i, unsigned bytes) {
  if (!LLVMIsAStoreInst(i) || !cg_is_plain_access(i))
    return 0;
  LLVMTypeRef t = LLVMTypeOf(LLVMGetOperand(i, 0));
  if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
    return 0;
  LLVMTypeRef element = LLVMGetElementType(t);
  uint64_t size = LLVMABISizeOfType(cg->layout, element);
  unsigned n = LLVMGetVectorSize(t);
  bool whole = LLVMSizeOfTypeInBits(cg->layout, element) == 8 * size && bytes % size == 0;
  return whole && n * size > bytes && n * size % bytes == 0 ? (unsigned)(bytes / size) : 0;
}

/* Elements first, first + 1, … of a vector. */
static LLVMValueRef part_of(Cg *cg, LLVMValueRef v, unsigned first, unsigned n) {
  LLVMValueRef *numbers = CX_ARRAY(cg->cx, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    numbers[k] = l_int(cg->t.i32, first + k);
  return l_shuffle(cg->builder, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(numbers, n));
}

static void divide(Cg *cg, LLVMValueRef store, unsigned elements, unsigned bytes) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef v = LLVMGetOperand(store, 0), to = LLVMGetOperand(store, 1);
  unsigned align = LLVMGetAlignment(store), n = LLVMGetVectorSize(LLVMTypeOf(v));
  LLVMPositionBuilderBefore(b, store);
  for (unsigned k = 0; k * elements < n; k++) {
    LLVMValueRef by = l_int(cg->t.i64, (uint64_t)k * bytes),
                 at = l_gep_inbounds(b, cg->t.i8, to, &by, 1),
                 part = l_store(b, part_of(cg, v, k * elements, elements), at);
    LLVMSetAlignment(part, k && align > bytes ? bytes : align);
  }
  LLVMInstructionEraseFromParent(store);
}

void cg_host_order_stores(Cg *cg) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  unsigned bytes = LANE_BYTES * cg_lanes_part(cg);
  for (LLVMValueRef f = bytes ? LLVMGetFirstFunction(cg->module) : NULL; f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        unsigned elements = elements_of(cg, i, bytes);
        if (elements)
          divide(cg, i, elements, bytes);
      }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
