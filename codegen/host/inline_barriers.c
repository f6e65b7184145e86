/* Host inlining of barriers: every function with a barrier or another meeting is inlined into the
 * kernel.
 *
 * In: a module in which these are calls of markers (fission/fission.h). Out: all such calls are in
 * the kernel's own function, after a first clean-up, since every value that is live across one may
 * need a slot of the frame. A barrier in a recursive function is an error of the user. */
#include <llvm-c/DebugInfo.h>

#include "codegen/host/host.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/valuemap.h"

static LLVMValueRef function_of(LLVMValueRef i) {
  return LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
}

/* Marks all direct and indirect callers of f alwaysinline. */
static void inline_callers(const Cg *cg, LLVMValueRef f, LLVMValueRef kernel) {
  VEC(LLVMValueRef) work = {0};
  Arena *a = &cg->cx->arena;
  ValueMap seen = {.arena = a};
  unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12),
           never = LLVMGetEnumAttributeKindForName("noinline", 8);
  LLVMAttributeIndex whole = L_FUNCTION;
  VEC_PUSH(a, &work, f);
  while (work.len) {
    for (LLVMUseRef use = LLVMGetFirstUse(VEC_POP(&work)); use; use = LLVMGetNextUse(use)) {
      LLVMValueRef caller = function_of(LLVMGetUser(use));
      if (caller == kernel || valuemap_get(&seen, caller) != VALUEMAP_NONE)
        continue;
      valuemap_set(&seen, caller, 1);
      LLVMRemoveEnumAttributeAtIndex(caller, whole, never);
      LLVMAddAttributeAtIndex(caller, whole, LLVMCreateEnumAttribute(cg->context, always, 0));
      VEC_PUSH(a, &work, caller);
    }
  }
}

static Loc barrier_place(const Cg *cg) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++) {
    const Fn *fn = cg->program->fns.data[k];
    if (fn->recursive && fn->has_barrier)
      FOR_BLOCKS (fn, b)
        FOR_INS (b, i)
          if (i->op == OP_CALL_FN ||
              (i->op == OP_INTRINSIC && ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC))
            return i->loc;
  }
  return (Loc){0};
}

LLVMValueRef cg_host_marker(const Cg *cg, const char *name) {
  LLVMValueRef f = LLVMGetNamedFunction(cg->module, name);
  return f && LLVMGetFirstUse(f) ? f : NULL;
}

static void check_inlined(const Cg *cg, LLVMValueRef f, LLVMValueRef kernel) {
  for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
    if (function_of(LLVMGetUser(use)) != kernel)
      fail(cg->cx, barrier_place(cg), ERR_HOST_ONLY, "a barrier in a recursive function", "host");
}

void cg_host_inline_barriers(Cg *cg, LLVMValueRef const markers[2], LLVMValueRef kernel) {
  LLVMStripModuleDebugInfo(cg->module); /* a segment is no function of the source */
  for (int k = 0; k < 2; k++)
    if (markers[k])
      inline_callers(cg, markers[k], kernel);
  LLVMSetLinkage(kernel, LLVMExternalLinkage); /* it has no callers yet */
  cg_run_passes(cg, "always-inline");
  if (cg->options.opt > 0)
    cg_run_passes(cg, cg_cleaning(cg));
  LLVMSetLinkage(kernel, LLVMInternalLinkage);
  for (int k = 0; k < 2; k++)
    if (markers[k])
      check_inlined(cg, markers[k], kernel);
}
