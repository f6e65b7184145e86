/* Host wide masks: with AVX2, a mask that a loop does not change is made as wide as the elements in
 * front of it.
 *
 * AVX2's masked accesses and selections take the sign of each element. A mask that comes from
 * another block is a vector of bytes, of which each use makes a vector for each register again: for
 * 16 lanes of 32 bits four operations, for 32 lanes ten. Where these are made in front of the loop,
 * it reads them from registers, or from the stack.
 *
 * In: the module after LLVM's passes, which would undo it. Out: the same; masks of innermost loops
 * are comparisons with 0 of vectors from in front of them. */
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

typedef struct Wide {
  LLVMValueRef mask, wide;
} Wide;

typedef struct WideMasks {
  Cg *cg;
  FnGraph g;
  uint32_t loop;
  VEC(Wide) all; /* of the loop */
} WideMasks;

/* The number of the operand that is the mask of a vector of elements of that type; -1: there is
 * none. */
static int mask_of(LLVMValueRef i, LLVMTypeRef *t) {
  bool stores = cg_is_call_of_any(i, "llvm.masked.store.");
  if (!stores && !LLVMIsASelectInst(i) && !cg_is_call_of_any(i, "llvm.masked.load."))
    return -1;
  *t = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
  int at = LLVMIsASelectInst(i) ? 0 : stores ? 2 : 1;
  bool is = LLVMGetTypeKind(*t) == LLVMVectorTypeKind &&
            LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, (unsigned)at))) == LLVMVectorTypeKind;
  return is ? at : -1;
}

/* As wide as the elements, in front of the loop. */
static LLVMValueRef wide_of(WideMasks *w, LLVMValueRef mask, LLVMTypeRef t, LLVMValueRef front) {
  for (uint32_t k = 0; k < w->all.len; k++)
    if (w->all.data[k].mask == mask && LLVMTypeOf(w->all.data[k].wide) == t)
      return w->all.data[k].wide;
  LLVMPositionBuilderBefore(w->cg->builder, front);
  Wide wide = {mask, l_sext(w->cg->builder, mask, t)};
  VEC_PUSH(w->g.arena, &w->all, wide);
  return wide.wide;
}

static void widen(WideMasks *w, LLVMValueRef i, LLVMValueRef front) {
  enum { REGISTER_BITS = 256 };
  LLVMTypeRef t;
  int at = mask_of(i, &t);
  LLVMValueRef mask = at < 0 ? NULL : LLVMGetOperand(i, (unsigned)at);
  if (!mask || LLVMIsAConstant(mask) || graph_in_loop(&w->g, w->loop, mask))
    return;
  unsigned bits = (unsigned)LLVMSizeOfTypeInBits(w->cg->layout, LLVMGetElementType(t)),
           n = LLVMGetVectorSize(t);
  if ((bits != 32 && bits != 64) || n * bits < REGISTER_BITS)
    return;
  LLVMTypeRef wide_t = LLVMVectorType(LLVMIntTypeInContext(w->cg->context, bits), n);
  LLVMValueRef wide = wide_of(w, mask, wide_t, front);
  LLVMPositionBuilderBefore(w->cg->builder, i);
  LLVMSetOperand(i, (unsigned)at, l_icmp(w->cg->builder, LLVMIntSLT, wide, LLVMConstNull(wide_t)));
}

static void widen_in(Cg *cg, LLVMValueRef f) {
  WideMasks w = {.cg = cg, .g = graph_of(&cg->cx->arena, f, NULL)};
  graph_loops(&w.g);
  for (w.loop = 0; w.loop < w.g.loops.len; w.loop++) {
    const GraphLoop *loop = &w.g.loops.data[w.loop];
    LLVMValueRef front = loop->innermost ? graph_front(&w.g, w.loop) : NULL;
    w.all.len = 0;
    for (uint32_t k = 0; k < loop->nnodes && front; k++)
      for (LLVMValueRef i = w.g.nodes[loop->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
        widen(&w, i, front);
  }
}

void cg_host_widen_masks(Cg *cg) {
  enum { AVX2 = 8 };
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  if (cg_lanes_part(cg) != AVX2)
    return;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (LLVMCountBasicBlocks(f))
      widen_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
