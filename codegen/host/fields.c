/* Host fields: what the launch and its parameters hold is loaded once, at the entry's beginning.
 *
 * In: the module with the entry, before LLVM's passes. Out: the same, with the functions of the row
 * inlined into the entry, and the loads of fields that ran for each vector at its beginning.
 *
 * LLVM moves such a load down to its use, behind the checks of indices, and may not move it out of
 * the loop over vectors from there. It would then run for each vector beside that one's stores: a
 * load waits for an earlier store whose address has the same twelve low bits, and of a loop that
 * writes as fast as memory takes it some store has at any time. */
#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"

typedef struct Fields {
  Cg *cg;
  LLVMValueRef entry, launch;
  LLVMBasicBlockRef first;
  LLVMValueRef front; /* what moves goes in front of it */
} Fields;

/* The pointer to which a field's address adds a constant; the address itself if it adds none. */
static LLVMValueRef base_of(LLVMValueRef address) {
  bool adds = LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2 &&
              LLVMIsAConstantInt(LLVMGetOperand(address, 1));
  return adds ? LLVMGetOperand(address, 0) : address;
}

/* Fields that do not change while the entry runs are marked as that. */
static bool is_constant(const Fields *s, LLVMValueRef v) {
  unsigned kind = LLVMGetMDKindIDInContext(s->cg->context, "invariant.load", 14);
  return LLVMIsALoadInst(v) && LLVMGetMetadata(v, kind) && cg_is_field_load(s->cg, s->entry, v);
}

static bool is_of_launch(const Fields *s, LLVMValueRef v) {
  return is_constant(s, v) && base_of(LLVMGetOperand(v, 0)) == s->launch;
}

/* Of the launch, or of the parameter block that a field of the launch points to. */
static bool is_field(const Fields *s, LLVMValueRef v) {
  return is_of_launch(s, v) ||
         (is_constant(s, v) && is_of_launch(s, base_of(LLVMGetOperand(v, 0))));
}

static void move(const Fields *s, LLVMValueRef v) {
  if (LLVMGetInstructionParent(v) == s->first)
    return;
  LLVMValueRef address = LLVMGetOperand(v, 0), base = base_of(address);
  if (base != s->launch)
    move(s, base);
  if (address != base && LLVMGetInstructionParent(address) != s->first) {
    /* another load may have the same address */
    LLVMInstructionRemoveFromParent(address);
    LLVMPositionBuilderBefore(s->cg->builder, s->front);
    l_insert(s->cg->builder, address);
  }
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(s->cg->builder, s->front);
  l_insert(s->cg->builder, v);
}

void cg_host_load_fields_once(Cg *cg) {
  if (!cg->kernel)
    return;
  cg_run_passes(cg, "function(sroa),always-inline");
  Fields s = {.cg = cg, .entry = cg->kernel, .launch = LLVMGetParam(cg->kernel, 0)};
  s.first = LLVMGetEntryBasicBlock(s.entry);
  s.front = LLVMGetBasicBlockTerminator(s.first);
  for (LLVMBasicBlockRef b = LLVMGetNextBasicBlock(s.first); b; b = LLVMGetNextBasicBlock(b)) {
    bool rare = LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(b));
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i && !rare; i = next) {
      next = LLVMGetNextInstruction(i);
      if (is_field(&s, i))
        move(&s, i);
    }
  }
}
