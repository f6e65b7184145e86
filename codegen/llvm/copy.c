/* Copy: see copy.h. A region is copied in two sweeps: first all instructions, with the operands of
 * the originals and empty phis; then, when every copy exists, operands, successors and incoming
 * values are mapped. */
#include "codegen/llvm/copy.h"

#include <assert.h>

#include "codegen/llvm/match.h"

LLVMValueRef copy_ins(LLVMBuilderRef b, LLVMValueRef i, const LLVMValueRef *operands) {
  LLVMValueRef copy = LLVMInstructionClone(i);
  l_insert(b, copy);
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++)
    if (operands[k])
      LLVMSetOperand(copy, k, operands[k]);
  return copy;
}

void copy_forget_flags(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMTrunc:
    LLVMSetNSW(i, 0);
    LLVMSetNUW(i, 0);
    break;
  case LLVMUDiv:
  case LLVMLShr:
  case LLVMAShr: LLVMSetExact(i, 0); break;
  case LLVMZExt: LLVMSetNNeg(i, 0); break;
  case LLVMOr: LLVMSetIsDisjoint(i, 0); break;
  case LLVMGetElementPtr: LLVMGEPSetNoWrapFlags(i, 0); break;
  case LLVMICmp: LLVMSetICmpSameSign(i, 0); break;
  default: break;
  }
}

void copy_without_contraction(LLVMBuilderRef b, LLVMValueRef i) {
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef again = l_binop(b, LLVMGetInstructionOpcode(i), LLVMGetOperand(i, 0),
                               LLVMGetOperand(i, 1));
  if (LLVMIsAInstruction(again))
    LLVMSetFastMathFlags(again, cg_flags_without_contraction(i));
  LLVMReplaceAllUsesWith(i, again);
  LLVMInstructionEraseFromParent(i);
}

bool copy_is_behind(LLVMValueRef front, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != LLVMGetInstructionParent(front))
    return false;
  while (front && front != v)
    front = LLVMGetNextInstruction(front);
  return front;
}

void copy_move_front(LLVMBuilderRef b, LLVMValueRef front, LLVMValueRef v) {
  if (!copy_is_behind(front, v))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    copy_move_front(b, front, LLVMGetOperand(v, k));
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(b, front);
  l_insert(b, v);
}

static bool is_unused(LLVMValueRef v) {
  return LLVMIsAInstruction(v) && !LLVMIsAPHINode(v) && cg_only_computes(v) && !LLVMGetFirstUse(v);
}

/* Both operands are tested before one is erased. */
void copy_erase_unused(LLVMValueRef v) {
  if (!is_unused(v))
    return;
  LLVMValueRef of[2] = {NULL, NULL};
  bool unused[2] = {false, false};
  for (int k = 0; k < 2 && k < LLVMGetNumOperands(v); k++)
    of[k] = LLVMGetOperand(v, (unsigned)k);
  LLVMInstructionEraseFromParent(v);
  for (int k = 0; k < 2; k++)
    unused[k] = of[k] && is_unused(of[k]) && !(k && of[1] == of[0]);
  for (int k = 0; k < 2; k++)
    if (unused[k])
      copy_erase_unused(of[k]);
}

/* --- regions --- */

LLVMValueRef copy_of(const RegionCopy *r, LLVMValueRef old) {
  uint32_t n = valuemap_get(&r->number, old);
  return n == VALUEMAP_NONE ? old : r->now.data[n];
}

LLVMBasicBlockRef copy_of_block(const RegionCopy *r, LLVMBasicBlockRef old) {
  assert(old);
  return LLVMValueAsBasicBlock(copy_of(r, LLVMBasicBlockAsValue(old)));
}

static void add_copy(RegionCopy *r, LLVMValueRef old, LLVMValueRef now) {
  assert(valuemap_get(&r->number, old) == VALUEMAP_NONE); /* no block is copied twice */
  valuemap_set(&r->number, old, r->now.len);
  VEC_PUSH(r->number.arena, &r->now, now);
}

static void copy_block(RegionCopy *r, LLVMBasicBlockRef block) {
  LLVMBuilderRef b = r->cg->builder;
  l_at_end(b, copy_of_block(r, block), NULL);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    bool phi = LLVMIsAPHINode(i);
    LLVMValueRef copy = phi ? l_phi(b, LLVMTypeOf(i)) : LLVMInstructionClone(i);
    if (!phi)
      l_insert(b, copy);
    add_copy(r, i, copy);
  }
}

static void fill_phi(RegionCopy *r, LLVMValueRef phi) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = copy_of_block(r, LLVMGetIncomingBlock(phi, k));
    LLVMValueRef v = copy_of(r, LLVMGetIncomingValue(phi, k));
    LLVMAddIncoming(copy_of(r, phi), &v, &from, 1);
  }
}

static void connect(RegionCopy *r, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    LLVMValueRef copy = copy_of(r, i);
    if (LLVMIsAPHINode(i)) {
      fill_phi(r, i);
      continue;
    }
    for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++)
      if (!LLVMValueIsBasicBlock(LLVMGetOperand(i, k)))
        LLVMSetOperand(copy, k, copy_of(r, LLVMGetOperand(i, k)));
    for (unsigned s = 0; LLVMIsATerminatorInst(i) && s < LLVMGetNumSuccessors(i); s++)
      LLVMSetSuccessor(copy, s, copy_of_block(r, LLVMGetSuccessor(i, s)));
  }
}

RegionCopy copy_region(Cg *cg, const LLVMBasicBlockRef *blocks, uint32_t n,
                       LLVMBasicBlockRef before, const char *name) {
  RegionCopy r = {.cg = cg, .number.arena = &cg->cx->arena};
  for (uint32_t k = 0; k < n; k++)
    add_copy(&r, LLVMBasicBlockAsValue(blocks[k]),
             LLVMBasicBlockAsValue(LLVMInsertBasicBlockInContext(cg->context, before, name)));
  for (uint32_t k = 0; k < n; k++)
    copy_block(&r, blocks[k]);
  for (uint32_t k = 0; k < n; k++)
    connect(&r, blocks[k]);
  return r;
}

void copy_join_exits(const RegionCopy *r, const LLVMBasicBlockRef *blocks, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks[k]);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) { /* an edge each, of a switch too */
      LLVMBasicBlockRef to = LLVMGetSuccessor(end, s);
      if (copy_of_block(r, to) != to)
        continue;
      for (LLVMValueRef i = LLVMGetFirstInstruction(to); LLVMIsAPHINode(i);
           i = LLVMGetNextInstruction(i)) {
        LLVMValueRef v = copy_of(r, graph_incoming(i, blocks[k]));
        LLVMBasicBlockRef from = copy_of_block(r, blocks[k]);
        LLVMAddIncoming(i, &v, &from, 1);
      }
    }
  }
}

/* --- functions --- */

void copy_attributes(Arena *arena, LLVMValueRef from, LLVMValueRef to) {
  for (unsigned k = 0, n = LLVMCountParams(from) + 2; k < n; k++) {
    LLVMAttributeIndex at = k == n - 1 ? L_FUNCTION : k; /* 0: the result */
    unsigned count = LLVMGetAttributeCountAtIndex(from, at);
    LLVMAttributeRef *all = ARENA_ARRAY(arena, LLVMAttributeRef, count);
    LLVMGetAttributesAtIndex(from, at, all);
    for (unsigned a = 0; a < count; a++)
      LLVMAddAttributeAtIndex(to, at, all[a]);
  }
}

static void take_parameters(LLVMValueRef from, LLVMValueRef to, LLVMValueRef i) {
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    for (unsigned p = 0; LLVMIsAArgument(v) && p < LLVMCountParams(from); p++)
      if (v == LLVMGetParam(from, p))
        LLVMSetOperand(i, k, LLVMGetParam(to, p));
  }
}

LLVMValueRef copy_function(Cg *cg, LLVMValueRef f, const char *name, RegionCopy *copy) {
  return copy_function_as(cg, f, LLVMGlobalGetValueType(f), name, copy);
}

LLVMValueRef copy_function_as(Cg *cg, LLVMValueRef f, LLVMTypeRef type, const char *name,
                              RegionCopy *copy) {
  Arena *arena = &cg->cx->arena;
  LLVMValueRef now = LLVMAddFunction(cg->module, name, type);
  unsigned n = LLVMCountBasicBlocks(f);
  LLVMBasicBlockRef *blocks = ARENA_ARRAY(arena, LLVMBasicBlockRef, n);
  assert(n && !LLVMGetSubprogram(f));
  LLVMSetLinkage(now, LLVMInternalLinkage);
  LLVMSetFunctionCallConv(now, LLVMGetFunctionCallConv(f));
  copy_attributes(arena, f, now);
  LLVMGetBasicBlocks(f, blocks);
  *copy = copy_region(cg, blocks, n, blocks[0], "");
  LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(cg->context, now, "");
  for (unsigned k = 0; k < n; k++) {
    LLVMBasicBlockRef b = copy_of_block(copy, blocks[k]);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      take_parameters(f, now, i);
    LLVMMoveBasicBlockAfter(b, LLVMGetLastBasicBlock(now)); /* Before stays in one function */
  }
  LLVMDeleteBasicBlock(first);
  return now;
}
