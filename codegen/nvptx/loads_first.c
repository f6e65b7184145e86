/* NVPTX loads first: loads in front of the slow operations of their block.
 *
 * ptxas gives an IEEE quotient or root a branch to a slow path, and moves nothing across it. Of a
 * loop that was unrolled,
 *
 *   delta = x[k] - mean; mean += delta / (k + 1); delta = x[k + 1] - mean; …
 *
 * each load would wait for the quotient before it, which waits for the load before that: one load
 * in flight. The loads that no store, barrier or call stands in front of are issued in front of the
 * first slow operation, as many as have registers. The first for which there is no room stays, and
 * those behind it go in front of the next slow operation.
 *
 * In: a module that only the code generator is still to see. Out: loads, and what their addresses
 * are computed with, further up in their block. */
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"

enum { WORDS = 16 }; /* of 32 bits: what may be in flight */

/* May a load not go from behind it to the front of it? */
static bool stops_loads(const Cg *cg, LLVMValueRef i) {
  if (cg_is_op(i, LLVMLoad))
    return !cg_is_plain_access(i);
  return !cg_is_speculatable(i) && !cg_is_slow(cg, i) && !cg_is_division(i) && !cg_only_computes(i);
}

typedef struct Front {
  Cg *cg;
  LLVMValueRef first;     /* its first slow operation; NULL: none so far */
  ValueMap behind, moved; /* instructions from that on; those of them that are in front by now */
} Front;

static bool is_behind(const Front *b, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && valuemap_get(&b->behind, v) != VALUEMAP_NONE &&
         valuemap_get(&b->moved, v) == VALUEMAP_NONE;
}

static bool is_known(void *front, LLVMValueRef i) { return !is_behind(front, i); }

static bool may_move(void *front, LLVMValueRef i) {
  return cg_is_speculatable(i) && !cg_is_slow(((const Front *)front)->cg, i);
}

static void move(Front *b, LLVMValueRef v) {
  if (!is_behind(b, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    move(b, LLVMGetOperand(v, k));
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(b->cg->builder, b->first);
  l_insert(b->cg->builder, v);
  valuemap_set(&b->moved, v, 1);
}

static unsigned words_of(const Cg *cg, LLVMValueRef load) {
  return (unsigned)(LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(load)) + 31) / 32;
}

static Front new_front(Cg *cg) {
  return (Front){.cg = cg, .behind = {.arena = &cg->cx->arena}, .moved = {.arena = &cg->cx->arena}};
}

static void order_loads(Cg *cg, LLVMBasicBlockRef block) {
  Front b = new_front(cg);
  unsigned words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    bool stops = stops_loads(cg, i), load = cg_is_op(i, LLVMLoad);
    if (b.first && stops)
      return;
    if (!b.first && cg_is_slow(cg, i))
      b.first = i;
    if (b.first)
      valuemap_set(&b.behind, i, 1);
    unsigned size = load ? words_of(cg, i) : 0;
    if (load && b.first && words + size > WORDS) {
      b = new_front(cg);
      words = size;
      continue;
    }
    Spot front = {is_known, may_move, &b};
    if (load && b.first && !cg_is_ready(&front, LLVMGetOperand(i, 0)))
      continue;
    words = stops ? 0 : words + size; /* in front of a barrier, loads have arrived */
    if (load && b.first)
      move(&b, i);
  }
}

void cg_nvptx_loads_first(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      order_loads(cg, b);
}
