/* Flow: see block_order.h. */
#include "codegen/llvm/block_order.h"

#include "codegen/llvm/valuemap.h"

static void reverse(Blocks *blocks) {
  for (uint32_t a = 0, b = blocks->len; a + 1 < b; a++) {
    LLVMBasicBlockRef t = blocks->data[a];
    blocks->data[a] = blocks->data[--b];
    blocks->data[b] = t;
  }
}

/* With a stack of its own: code may be deep. */
Blocks cg_blocks_in_order(Arena *arena, LLVMValueRef f) {
  typedef struct Visit {
    LLVMBasicBlockRef block;
    unsigned next;
  } Visit;
  VEC(Visit) stack = {0};
  ValueMap seen = {.arena = arena};
  Blocks post = {0};
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f);
  valuemap_set(&seen, entry, 1);
  VEC_PUSH(arena, &stack, ((Visit){entry, 0}));
  while (stack.len) {
    Visit *top = &stack.data[stack.len - 1];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(top->block);
    if (top->next == LLVMGetNumSuccessors(end)) {
      VEC_PUSH(arena, &post, top->block);
      stack.len--;
      continue;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, top->next++);
    if (valuemap_get(&seen, to) == VALUEMAP_NONE) {
      valuemap_set(&seen, to, 1);
      VEC_PUSH(arena, &stack, ((Visit){to, 0}));
    }
  }
  reverse(&post);
  return post;
}

bool cg_only_computes(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMPHI:
  case LLVMSelect:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMGetElementPtr:
  case LLVMExtractElement:
  case LLVMInsertElement:
  case LLVMShuffleVector:
  case LLVMExtractValue:
  case LLVMInsertValue:
  case LLVMFreeze:
  case LLVMFNeg: return true;
  default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

bool cg_is_division(LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
}

bool cg_is_plain_access(LLVMValueRef i) {
  return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}
