/* Host gather: every function in which threads meet goes into the kernel.
 *
 * In: a module whose barriers and meetings are calls of markers (fission/fission.h). Out: all of
 * them in the kernel's own function, whose code is small; a recursive function that has one is an
 * error. */
#include <llvm-c/DebugInfo.h>

#include "codegen/host/host.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/valuemap.h"

static LLVMValueRef function_of(LLVMValueRef i) {
  return LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
}

/* Every function that calls f, and every one that calls those, is inlined where it is called. */
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

/* Barriers and other meetings: functions that stand for them, NULL where the module has none. */
LLVMValueRef cg_host_marker(const Cg *cg, const char *name) {
  LLVMValueRef f = LLVMGetNamedFunction(cg->module, name);
  return f && LLVMGetFirstUse(f) ? f : NULL;
}

static void check_gathered(const Cg *cg, LLVMValueRef f, LLVMValueRef kernel) {
  for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
    if (function_of(LLVMGetUser(use)) != kernel)
      fail(cg->cx, barrier_place(cg), ERR_HOST_ONLY, "a barrier in a recursive function", "host");
}

/* Brings all barriers into the kernel, and makes its code small: what is constant or unused need
 * not be kept in frames. */
void cg_host_gather(Cg *cg, LLVMValueRef const markers[2], LLVMValueRef kernel) {
  LLVMStripModuleDebugInfo(cg->module); /* a segment is no function of the source */
  for (int k = 0; k < 2; k++)
    if (markers[k])
      inline_callers(cg, markers[k], kernel);
  LLVMSetLinkage(kernel, LLVMExternalLinkage); /* nobody calls it yet */
  cg_run_passes(cg, "always-inline");
  if (cg->options.opt > 0)
    cg_run_passes(cg, cg_cleaning(cg));
  LLVMSetLinkage(kernel, LLVMInternalLinkage);
  for (int k = 0; k < 2; k++)
    if (markers[k])
      check_gathered(cg, markers[k], kernel);
}
