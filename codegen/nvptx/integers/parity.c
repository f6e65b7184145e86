/* NVPTX parity: whether a number of 64 bits has an odd count of ones, by one count of 32 bits.
 *
 *   syndrome ^= (cuda.popc(word & mask) & 1) << b
 *
 * LLVM's code generator has an operation for the lowest bit of a count, a parity. Where a machine
 * has one instruction that counts in all of the bits it takes that, and for NVPTX, which counts 64
 * in halves, eleven shifts and exclusive ors of 64 bits. But a bit that both halves have does not
 * change the parity: it is the one of low ^ high, which one instruction counts; they are few, 16
 * each clock of a multiprocessor, so one is better than the two of a whole count as well.
 *
 * In: functions as they go to the code generator. Out: counts of which nothing but the lowest bit
 * is used, through shifts, truncations and sums, as counts of low ^ high. Such a count is from 0 to
 * the count that it stands for, with the same lowest bit: what a truncation, an extension or a
 * shift to the left promises of that one it keeps. */
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { DEEP = 6 }; /* operations between the count and what takes the bit */

/* Is no more used of v than its bits up to number `bit`? exact: v is the count, shifted; what an
 * operation promises of other numbers, made of it, might not hold any more. */
static bool is_used_up_to(LLVMValueRef v, unsigned bit, bool exact, unsigned deep) {
  LLVMUseRef u = LLVMGetFirstUse(v);
  for (; u && deep < DEEP; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u), by;
    if (!LLVMIsAInstruction(user) || !cg_int_width(user))
      return false;
    if (bit + 1 >= cg_int_width(user) && (LLVMIsATruncInst(user) || cg_is_op(user, LLVMShl)) &&
        exact && LLVMGetOperand(user, 0) == v)
      continue; /* all of it */
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMAnd:
      by = LLVMGetOperand(user, LLVMGetOperand(user, 0) == v);
      if (LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) >> bit <= 1)
        continue;
      return false;
    case LLVMTrunc:
    case LLVMZExt:
      if (!exact || !is_used_up_to(user, bit, true, deep + 1))
        return false;
      continue;
    case LLVMShl:
      by = LLVMGetOperand(user, 1);
      if (!exact || !LLVMIsAConstantInt(by) ||
          !is_used_up_to(user, bit + (unsigned)LLVMConstIntGetZExtValue(by), true, deep + 1))
        return false;
      continue;
    case LLVMXor:
      if (!is_used_up_to(user, bit, false, deep + 1))
        return false;
      continue;
    default: return false;
    }
  }
  return !u;
}

static void count_folded(Cg *cg, LLVMValueRef count) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(count, 0);
  LLVMPositionBuilderBefore(b, count);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(count));
  LLVMValueRef high = l_trunc(b, l_lshr(b, x, l_int(cg->t.i64, 32)), cg->t.i32);
  LLVMValueRef folded = l_xor(b, l_trunc(b, x, cg->t.i32), high);
  LLVMValueRef fn = cg_intrinsic_fn(cg, "llvm.ctpop", &cg->t.i32, 1);
  LLVMReplaceAllUsesWith(count, l_zext(b, l_call(b, fn, &folded, 1), cg->t.i64));
  LLVMInstructionEraseFromParent(count);
}

void cg_nvptx_parity(Cg *cg) {
  LLVMValueRef of_64 = LLVMGetNamedFunction(cg->module, "llvm.ctpop.i64");
  for (LLVMUseRef u = of_64 ? LLVMGetFirstUse(of_64) : NULL, next; u; u = next) {
    next = LLVMGetNextUse(u);
    if (LLVMIsACallInst(LLVMGetUser(u)) && is_used_up_to(LLVMGetUser(u), 0, true, 0))
      count_folded(cg, LLVMGetUser(u));
  }
}
