/* NVPTX traps: how a thread stops, and how it reports an exception in the launch's RtTrap.
 *
 * Stopping is `exit`. A thread that stops with an exception first fills the RtTrap, if it is the
 * first of the launch to do so; the runtime reads it after the launch. The code for that is one
 * cold function of the module. Its last arguments are an axis, blockIdx and threadIdx there: a
 * coarsened kernel's (codegen/coarsen), whose registers have other numbers. */
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

/* An index of the thread or its block: the argument on its axis, else the register. */
static void fill_index(Lower *lw, LLVMValueRef const *args, unsigned axis, LLVMValueRef own,
                       SpecialReg of_x, size_t offset) {
  LLVMValueRef given = l_icmp(lw->b, LLVMIntEQ, args[NVPTX_TRAP_AXIS], lw_i32(lw, axis)),
               index = l_select(lw->b, given, own, cg_nvptx_sreg(lw, of_x + axis));
  l_store(lw->b, index, trap_member(lw, args[0], offset + 4u * axis));
}

/* Run by the first thread to trap. The RtTrap is complete when its state is 2. */
static void fill_trap(Lower *lw, LLVMValueRef const *args) {
  LLVMValueRef trap = args[0];
  l_store(lw->b, args[1], trap_member(lw, trap, offsetof(RtTrap, site)));
  for (unsigned k = 0; k < 3; k++) {
    fill_index(lw, args, k, args[NVPTX_TRAP_BLOCK], SREG_CTAID, offsetof(RtTrap, block));
    fill_index(lw, args, k, args[NVPTX_TRAP_THREAD], SREG_TID, offsetof(RtTrap, thread));
  }
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    l_store(lw->b, args[2 + k], trap_member(lw, trap, offsetof(RtTrap, values) + 8u * k));
  cg_nvptx_fence(lw, FENCE_SYSTEM);
  LLVMSetVolatile(l_store(lw->b, lw_i32(lw, 2), trap), 1);
  cg_nvptx_fence(lw, FENCE_SYSTEM);
}

static void trap_body(Lower *lw, LLVMValueRef fn) {
  LLVMValueRef args[NVPTX_TRAP_ARGS], trap = LLVMGetParam(fn, 0);
  LLVMGetParams(fn, args);
  LLVMBasicBlockRef first = lw_block(lw, "first"), done = lw_block(lw, "done");
  unsigned scope = LLVMGetSyncScopeID(lw->cg->context, "device", 6);
  LLVMValueRef old = LLVMBuildAtomicCmpXchgSyncScope(lw->b, trap, lw_i32(lw, 0), lw_i32(lw, 1),
                                                     LLVMAtomicOrderingMonotonic,
                                                     LLVMAtomicOrderingMonotonic, scope);
  l_condbr(lw->b, l_extract_value(lw->b, old, 1), first, done);
  lw_at(lw, first);
  fill_trap(lw, args);
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
  LLVMTypeRef types[NVPTX_TRAP_ARGS] = {lw->t->space[SPACE_GLOBAL], lw->t->i32};
  for (unsigned k = 2; k < NVPTX_TRAP_ARGS; k++)
    types[k] = k < NVPTX_TRAP_AXIS ? lw->t->i64 : lw->t->i32;
  LLVMValueRef fn = LLVMAddFunction(lw->cg->module, NVPTX_TRAP_NAME,
                                    LLVMFunctionType(lw->t->none, types, NVPTX_TRAP_ARGS, 0));
  s->trap = fn;
  static const char *const attributes[] = {"noinline", "noreturn", "nounwind", "cold", NULL};
  Lower inner = cg_nvptx_open_function(lw, fn, attributes);
  trap_body(&inner, fn);
  LLVMDisposeBuilder(inner.b);
  return fn;
}

void cg_nvptx_trap(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n) {
  assert(lw->cg->has_trap && n <= RT_TRAP_VALUES);
  enum { NO_AXIS = 3 };
  LLVMValueRef fn = trap_function(lw), zero = lw_i32(lw, 0),
               args[NVPTX_TRAP_ARGS] = {cg_nvptx_trap_address(lw), lw_trap_site(lw, site)};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    args[2 + k] = k < n ? values[k] : lw_i64(lw, 0);
  args[NVPTX_TRAP_AXIS] = lw_i32(lw, NO_AXIS);
  args[NVPTX_TRAP_BLOCK] = args[NVPTX_TRAP_THREAD] = zero;
  l_call(lw->b, fn, args, NVPTX_TRAP_ARGS);
  l_unreachable(lw->b);
}
