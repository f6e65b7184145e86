/* NVPTX vector counters: a counter to which sums under predicates belong, in a thread's register.
 *
 *   for p in range(1, n):                # unrolled: p, p + 1, p + 2, …
 *       if v[p] > top:
 *           top = v[p]
 *           who = p                      # p, p + 1, p + 2, … or what it was
 *
 * ptxas puts a counter that is the same in all threads into one of the registers that a warp has in
 * common. Nothing is added to those under a predicate: each iteration copies the counter first, and
 * then adds. In a register of each thread it is one instruction, and what else a loop does with its
 * counter takes as many either way. So the counter begins with its first value and a 0 that ptxas
 * takes for another number in each thread: the sign of the thread's place in its block.
 *
 * In: functions as they go to the code generator. Out: the same numbers. */
#include <string.h>

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  LEAST = 3, /* sums that are chosen: an unrolled loop of four iterations has so many */
  PARTS = 12 /* of what a counter is made of */
};

typedef struct Parts {
  LLVMValueRef v[PARTS];
  unsigned n;
} Parts;

static bool is_given(LLVMValueRef v) { return LLVMIsAConstantInt(v) || cg_is_kernel_argument(v); }

/* Is it made of constants and of the kernel's arguments, in loops too? Of many parts it is not. */
static bool is_counted(Parts *seen, LLVMValueRef v) {
  bool sum = cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMSub);
  if (is_given(v))
    return true;
  for (unsigned k = 0; k < seen->n; k++)
    if (seen->v[k] == v)
      return true;
  if (seen->n == PARTS || (!sum && !LLVMIsAPHINode(v)))
    return false;
  seen->v[seen->n++] = v;
  for (unsigned k = 0, n = sum ? 2 : LLVMCountIncoming(v); k < n; k++)
    if (!is_counted(seen, sum ? LLVMGetOperand(v, k) : LLVMGetIncomingValue(v, k)))
      return false;
  return true;
}

/* Is it an operand of a selection of the block? */
static bool is_chosen(LLVMValueRef sum, LLVMBasicBlockRef block) {
  for (LLVMUseRef u = LLVMGetFirstUse(sum); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (cg_is_op(by, LLVMSelect) && LLVMGetInstructionParent(by) == block)
      return true;
  }
  return false;
}

/* Do enough selections of the counter's block take sums of it and constants? */
static bool is_chosen_often(LLVMValueRef counter) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(counter);
  unsigned n = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(counter); u && n < LEAST; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    n += cg_is_op(by, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(by, 1)) && is_chosen(by, block);
  }
  return n >= LEAST;
}

LLVMValueRef cg_nvptx_hidden_zero(Cg *cg, LLVMValueRef f) {
  const char *sign = "shr.u32 $0, $1, 31;", *operands = "=r,r";
  LLVMTypeRef type = LLVMFunctionType(cg->t.i32, &cg->t.i32, 1, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, sign, strlen(sign), operands, strlen(operands), false,
                                       0, LLVMInlineAsmDialectATT, 0);
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f)));
  LLVMValueRef read = cg_intrinsic_fn(cg, "llvm.nvvm.read.ptx.sreg.tid.x", NULL, 0);
  LLVMValueRef place = l_call(cg->builder, read, NULL, 0);
  return l_call_type(cg->builder, type, text, &place, 1);
}

static void visit(Cg *cg, LLVMValueRef f, LLVMValueRef phi, LLVMValueRef *zero) {
  if (LLVMTypeOf(phi) != cg->t.i32 || LLVMCountIncoming(phi) != 2 || !is_chosen_often(phi) ||
      !is_counted(&(Parts){.n = 0}, phi))
    return;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef first = LLVMGetIncomingValue(phi, k);
    if (!is_given(first))
      continue;
    *zero = *zero ? *zero : cg_nvptx_hidden_zero(cg, f);
    LLVMPositionBuilderBefore(cg->builder,
                              LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k)));
    LLVMSetOperand(phi, k, l_add(cg->builder, *zero, first));
  }
}

void cg_nvptx_vector_counters(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    LLVMValueRef zero = NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && LLVMIsAPHINode(i);
           i = LLVMGetNextInstruction(i))
        visit(cg, f, i, &zero);
  }
}
