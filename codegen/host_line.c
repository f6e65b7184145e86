/* Host line: blocks that are neighbours along x as one long row.
 *
 * In: the function of a thread without barriers, behind LLVM's passes. Where it uses blockIdx.x and threadIdx.x in the sum
 * blockIdx.x * blockDim.x + threadIdx.x alone, the thread of block b + k at x is the one of block b at k * blockDim.x + x. Out: the
 * same function, for any tx from the first thread of its block on: what stops there names the block and the thread that it stands for. */
#include <stddef.h>

#include "codegen/fission.h"
#include "codegen/host.h"

static bool is_extension(LLVMValueRef v) { return LLVMIsAZExtInst(v) || LLVMIsASExtInst(v); }

static LLVMValueRef unextended(LLVMValueRef v) {
  while (is_extension(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* blockDim.x, read from the launch. */
static bool is_width(LLVMValueRef v, LLVMValueRef launch) {
  v = unextended(v);
  if (!LLVMIsALoadInst(v))
    return false;
  LLVMValueRef p = LLVMGetOperand(v, 0);
  return LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
         LLVMGetOperand(p, 0) == launch &&
         LLVMGetTypeKind(LLVMGetGEPSourceElementType(p)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(p)) == 8 &&
         LLVMIsAConstantInt(LLVMGetOperand(p, 1)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(p, 1)) == offsetof(RtHostLaunch, block);
}

static bool is_operation(LLVMValueRef v, LLVMOpcode op) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}

/* blockIdx.x * blockDim.x */
static bool is_begin_of_block(LLVMValueRef f, LLVMValueRef v) {
  v = unextended(v);
  if (!is_operation(v, LLVMMul))
    return false;
  for (unsigned k = 0; k < 2; k++)
    if (unextended(LLVMGetOperand(v, k)) == LLVMGetParam(f, HOST_BX) &&
        is_width(LLVMGetOperand(v, 1 - k), LLVMGetParam(f, HOST_LAUNCH)))
      return true;
  return false;
}

/* The sum; v is one of its sides. */
static bool is_place_in_grid(LLVMValueRef f, LLVMValueRef sum) {
  if (!is_operation(sum, LLVMAdd))
    return false;
  for (unsigned k = 0; k < 2; k++)
    if (unextended(LLVMGetOperand(sum, k)) == LLVMGetParam(f, HOST_TX) &&
        is_begin_of_block(f, LLVMGetOperand(sum, 1 - k)))
      return true;
  return false;
}

/* Is v, a part of the sum, used in such sums alone? */
static bool only_in_sums(LLVMValueRef f, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (is_place_in_grid(f, user))
      continue;
    if (!(is_extension(user) || is_begin_of_block(f, user)) || !only_in_sums(f, user))
      return false;
  }
  return true;
}

static bool only_in_traps(LLVMValueRef arg) {
  for (LLVMUseRef u = LLVMGetFirstUse(arg); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u), next = NULL;
    if (!cg_is_call_of(user, "rt_host_trap") || !(next = LLVMGetNextInstruction(user)) ||
        !LLVMIsAUnreachableInst(next))
      return false;
  }
  return true;
}

/* trap: a call of rt_host_trap(launch, site, block, thread, …). */
static void name_thread(Cg *cg, LLVMValueRef f, LLVMValueRef trap) {
  enum { BLOCK = 2, THREAD };
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, trap);
  LLVMValueRef width = cg_host_launch_field(cg, LLVMGetParam(f, HOST_LAUNCH), cg->t.i32,
                                            offsetof(RtHostLaunch, block), 1024),
               blocks = LLVMBuildUDiv(b, LLVMGetParam(f, HOST_TX), width, "");
  LLVMValueRef before = LLVMBuildMul(b, blocks, width, "");
  LLVMSetOperand(trap, BLOCK,
                 LLVMBuildAdd(b, LLVMGetParam(f, HOST_BLOCK),
                              LLVMBuildZExt(b, blocks, cg->t.i64, ""), ""));
  LLVMSetOperand(trap, THREAD, LLVMBuildSub(b, LLVMGetParam(f, HOST_THREAD), before, ""));
}

bool cg_host_make_line(Cg *cg, LLVMValueRef thread) {
  static const HostArg sums[] = {HOST_BX, HOST_TX}, names[] = {HOST_BLOCK, HOST_THREAD};
  for (int k = 0; k < 2; k++)
    if (!only_in_sums(thread, LLVMGetParam(thread, sums[k])) ||
        !only_in_traps(LLVMGetParam(thread, names[k])))
      return false;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_call_of(i, "rt_host_trap"))
        name_thread(cg, thread, i);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  return true;
}
