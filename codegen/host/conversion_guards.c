/* Host conversion guards: what `int(x)` adds to the CPU's conversion, behind a branch.
 *
 * A float that is no number becomes 0, and one that is too large the largest integer. x86 has the
 * least integer for all of these, so LLVM compares and selects twice behind each conversion. For a
 * single thread that takes several times as long as the conversion. Here it asks once whether the
 * least integer came out, which is predicted:
 *
 *   before -> block                 the CPU's conversion
 *     |         |
 *     +-> seldom -> block           the saturating one, as it was
 *
 * In: the module after LLVM's passes, which would make selections of such branches again. Out: the
 * same, with these branches in place of saturating conversions of one number to 32 or 64 bits, on
 * x86. AArch64's conversions saturate. */
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

/* Of the first element of a register. */
static LLVMValueRef convert(Cg *cg, LLVMValueRef call) {
  static const char *const names[2][2] = {
      {"llvm.x86.sse.cvttss2si", "llvm.x86.sse.cvttss2si64"},
      {"llvm.x86.sse2.cvttsd2si", "llvm.x86.sse2.cvttsd2si64"},
  };
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(call, 0);
  LLVMTypeRef t = LLVMTypeOf(x);
  bool is_double = LLVMGetTypeKind(t) == LLVMDoubleTypeKind;
  LLVMValueRef all = LLVMGetPoison(LLVMVectorType(t, is_double ? 2 : 4)),
               one = l_insert_element(b, all, x, l_int(cg->t.i32, 0)),
               fn = cg_intrinsic_fn(cg, names[is_double][cg_int_width(call) == 64], NULL, 0);
  return l_call(b, fn, &one, 1);
}

static bool saturates(LLVMValueRef i) {
  if (!cg_is_call_of_any(i, "llvm.fptosi.sat.") || (cg_int_width(i) != 32 && cg_int_width(i) != 64))
    return false;
  LLVMTypeKind from = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0)));
  return from == LLVMFloatTypeKind || from == LLVMDoubleTypeKind;
}

static void branch_around(Cg *cg, LLVMValueRef call) {
  LLVMBuilderRef b = cg->builder;
  GraphDetour d = graph_detour(cg, call, "seldom");
  LLVMValueRef often = convert(cg, call),
               least = l_int(LLVMTypeOf(call), UINT64_C(1) << (cg_int_width(call) - 1)),
               odd = l_icmp(b, LLVMIntEQ, often, least);
  cg_branch_weights(cg, l_condbr(b, odd, d.apart, d.block), 1, CG_OFTEN);
  graph_join_detour(&d, call, often);
}

static void guard_in(Cg *cg, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (saturates(i))
        branch_around(cg, i);
    }
}

void cg_host_guard_conversions(Cg *cg) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  bool is_x86 = strncmp(LLVMGetTarget(cg->module), "x86_64", 6) == 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); is_x86 && f; f = LLVMGetNextFunction(f))
    guard_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
