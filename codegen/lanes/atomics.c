/* Lanes: atomics on memory that one OS thread accesses: shared memory, and a worker's own sums
 * (host/own_sums.c). See lanes.h; values.c calls it.
 *
 * Until LLVM's passes have run they are atomics (host/atomics.c), since lanes may have one element,
 * and the load of one must not come before the store of another. Where each lane's element is its
 * own, a load of all of them, the operation and a store do the same, as accesses of memory.c: the
 * ends of histograms, whose bins are added to an array. Where all lanes have one element, what they
 * add to it is added up first. */
#include <assert.h>

#include "codegen/lanes/private.h"

/* Of an operation on integers that may be done in any order; else NULL. */
static const char *reduction_of(LLVMAtomicRMWBinOp op) {
  switch (op) {
  case LLVMAtomicRMWBinOpAdd: return "llvm.vector.reduce.add";
  case LLVMAtomicRMWBinOpAnd: return "llvm.vector.reduce.and";
  case LLVMAtomicRMWBinOpOr: return "llvm.vector.reduce.or";
  case LLVMAtomicRMWBinOpXor: return "llvm.vector.reduce.xor";
  case LLVMAtomicRMWBinOpMax: return "llvm.vector.reduce.smax";
  case LLVMAtomicRMWBinOpMin: return "llvm.vector.reduce.smin";
  case LLVMAtomicRMWBinOpUMax: return "llvm.vector.reduce.umax";
  case LLVMAtomicRMWBinOpUMin: return "llvm.vector.reduce.umin";
  default: return NULL;
  }
}

static bool is_elementwise(LLVMAtomicRMWBinOp op) {
  return reduction_of(op) || op == LLVMAtomicRMWBinOpSub || op == LLVMAtomicRMWBinOpFAdd;
}

/* Is it no more than a load and a store for this thread, of an element that no other lane has? */
bool ln_is_apart(Lanes *l, LLVMValueRef i) {
  if (!LLVMIsAAtomicRMWInst(i) || !LLVMIsAtomicSingleThread(i) || LLVMGetVolatile(i) ||
      !is_elementwise(LLVMGetAtomicRMWBinOp(i)) || !ln_fills_bytes(l, LLVMTypeOf(i)))
    return false;
  Shape s = ln_shape(l, LLVMGetOperand(i, 0));
  int64_t size = (int64_t)LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(i));
  return s.kind == SHAPE_STEP && (s.step >= size || s.step <= -size);
}

/* The accesses are written from ones of a single thread, which are no longer than that in the
 * function; the one that is stored is the atomic, as long as it has the new value. */
void ln_write_apart(Lanes *l, LLVMValueRef i, LaneValue *v) {
  assert(v && v->shape.kind == SHAPE_VECTOR);
  LLVMValueRef pointer = LLVMGetOperand(i, 0), by = LLVMGetOperand(i, 1);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMPositionBuilderBefore(l->b, LLVMGetNextInstruction(i));
  LLVMValueRef load = l_load(l->b, LLVMTypeOf(i), pointer), store = l_store(l->b, i, pointer);
  LLVMSetAlignment(load, LLVMGetAlignment(i));
  LLVMSetAlignment(store, LLVMGetAlignment(i));
  LLVMPositionBuilderAtEnd(l->b, here);
  LaneValue old = {.old = load, .block = v->block, .shape = v->shape};
  ln_write_load(l, load, &old);
  v->now = cg_atomic_result(l->b, LLVMGetAtomicRMWBinOp(i), old.now, ln_vector(l, by));
  ln_write_store(l, store);
  v->now = old.now;
  LLVMInstructionEraseFromParent(store);
  LLVMInstructionEraseFromParent(load);
}

bool ln_is_reduced(Lanes *l, LLVMValueRef i) {
  return ln_is_short(l, i) && reduction_of(LLVMGetAtomicRMWBinOp(i)) &&
         ln_fills_bytes(l, LLVMTypeOf(i)) && ln_is_uniform(ln_shape(l, LLVMGetOperand(i, 0)));
}

void ln_write_reduced(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef all = ln_vector_type(l, LLVMTypeOf(i));
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, reduction_of(LLVMGetAtomicRMWBinOp(i)), &all, 1),
               each = ln_vector(l, LLVMGetOperand(i, 1)),
               operands[] = {ln_scalar(l, LLVMGetOperand(i, 0)), l_call(l->b, fn, &each, 1)};
  copy_ins(l->b, i, operands);
  v->now = LLVMGetPoison(all);
}
