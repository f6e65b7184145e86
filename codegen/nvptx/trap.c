/* NVPTX traps: how a thread stops, and how it reports an exception in the launch's RtTrap.
 *
 * Stopping is `exit`. A thread that stops with an exception first fills the RtTrap, if it is the
 * first of the launch to do so; the runtime reads it after the launch. The code for that is one
 * cold function of the module. */
#include <assert.h>

#include "codegen/nvptx/nvptx.h"

static const LLVMAttributeIndex on_function = L_FUNCTION;

void cg_nvptx_stop(Lower *lw) {
  LLVMValueRef call = cg_nvptx_asm(lw, lw->t->none, "exit;", "~{memory}", true);
  unsigned kind = LLVMGetEnumAttributeKindForName("noreturn", 8);
  LLVMAddCallSiteAttribute(call, on_function, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  l_unreachable(lw->b);
}

static LLVMValueRef trap_member(Lower *lw, LLVMValueRef trap, size_t offset) {
  LLVMValueRef at = lw_i64(lw, (int64_t)offset);
  return l_gep_inbounds(lw->b, lw->t->i8, trap, &at, 1);
}

/* Run by the first thread to trap. The RtTrap is complete when its state is 2. */
static void fill_trap(Lower *lw, LLVMValueRef trap, LLVMValueRef site, LLVMValueRef const *values) {
  l_store(lw->b, site, trap_member(lw, trap, offsetof(RtTrap, site)));
  for (unsigned k = 0; k < 3; k++) {
    l_store(lw->b, cg_nvptx_sreg(lw, SREG_CTAID + k),
            trap_member(lw, trap, offsetof(RtTrap, block) + 4u * k));
    l_store(lw->b, cg_nvptx_sreg(lw, SREG_TID + k),
            trap_member(lw, trap, offsetof(RtTrap, thread) + 4u * k));
  }
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    l_store(lw->b, values[k], trap_member(lw, trap, offsetof(RtTrap, values) + 8u * k));
  cg_nvptx_fence(lw, FENCE_SYSTEM);
  LLVMSetVolatile(l_store(lw->b, lw_i32(lw, 2), trap), 1);
  cg_nvptx_fence(lw, FENCE_SYSTEM);
}

static void trap_body(Lower *lw, LLVMValueRef fn) {
  LLVMValueRef trap = LLVMGetParam(fn, 0), values[RT_TRAP_VALUES];
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    values[k] = LLVMGetParam(fn, 2 + k);
  LLVMBasicBlockRef first = lw_block(lw, "first"), done = lw_block(lw, "done");
  unsigned scope = LLVMGetSyncScopeID(lw->cg->context, "device", 6);
  LLVMValueRef old = LLVMBuildAtomicCmpXchgSyncScope(lw->b, trap, lw_i32(lw, 0), lw_i32(lw, 1),
                                                     LLVMAtomicOrderingMonotonic,
                                                     LLVMAtomicOrderingMonotonic, scope);
  l_condbr(lw->b, l_extract_value(lw->b, old, 1), first, done);
  lw_at(lw, first);
  fill_trap(lw, trap, LLVMGetParam(fn, 1), values);
  l_br(lw->b, done);
  lw_at(lw, done);
  cg_nvptx_stop(lw);
}

/* One function for the module, never inlined: a check costs its function a comparison, a branch and
 * a call that is hardly ever executed. */
static LLVMValueRef trap_function(Lower *lw) {
  NvptxState *s = lw->cg->target_state;
  if (s->trap)
    return s->trap;
  LLVMTypeRef types[2 + RT_TRAP_VALUES] = {lw->t->space[SPACE_GLOBAL], lw->t->i32};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    types[2 + k] = lw->t->i64;
  LLVMValueRef fn = LLVMAddFunction(lw->cg->module, "pyptx$trap",
                                    LLVMFunctionType(lw->t->none, types, 2 + RT_TRAP_VALUES, 0));
  s->trap = fn;
  static const char *const attributes[] = {"noinline", "noreturn", "nounwind", "cold", NULL};
  Lower inner = cg_nvptx_open_function(lw, fn, attributes);
  trap_body(&inner, fn);
  LLVMDisposeBuilder(inner.b);
  return fn;
}

void cg_nvptx_trap(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n) {
  assert(lw->cg->has_trap && n <= RT_TRAP_VALUES);
  LLVMValueRef fn = trap_function(lw),
               args[2 + RT_TRAP_VALUES] = {cg_nvptx_trap_address(lw), lw_trap_site(lw, site)};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    args[2 + k] = k < n ? values[k] : lw_i64(lw, 0);
  l_call(lw->b, fn, args, 2 + RT_TRAP_VALUES);
  l_unreachable(lw->b);
}
