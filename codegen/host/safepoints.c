/* Host attention: places in compiled code where a thread looks up, so that what never ends can be ended (runtime/host/safepoint.h).
 *
 * In: the module behind LLVM's passes. Out: each loop asks on its way back whether there is something to attend to: one load and a branch
 * that is never taken. Innermost loops that count towards a bound are left alone: they end, and are what vectors are made of. Functions
 * that call themselves ask at their beginning (lowering). */
#include "codegen/host/host.h"
#include "codegen/llvm/block_order.h"
#include "codegen/llvm/valuemap.h"

#define FLAG "rt_host_safepoint"
#define CALL "rt_host_at_safepoint"

typedef struct Ways { /* of a function: its blocks by number, and the loop that is looked at */
  Cg *cg;
  LLVMBuilderRef b;
  LLVMValueRef f;
  Blocks blocks; /* in reverse post-order: a way to a lower or the same number leads back */
  ValueMap number;
  uint32_t *mark; /* the header's number + 1 in its loop's blocks */
  uint32_t header;
  VEC(uint32_t) latches;
} Ways;

/* --- asking --- */

static LLVMValueRef flag_of(Cg *cg) {
  LLVMValueRef flag = LLVMGetNamedGlobal(cg->module, FLAG);
  return flag ? flag : LLVMAddGlobal(cg->module, cg->t.i32, FLAG);
}

static LLVMValueRef function_of(Cg *cg, LLVMTypeRef type) {
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CALL);
  if (fn)
    return fn;
  fn = LLVMAddFunction(cg->module, CALL, type);
  cg_attribute(cg, fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "cold", 0);
#ifdef __x86_64__
  cg_attribute_text(cg, fn, "no_caller_saved_registers",
                    ""); /* runtime/host/host.c keeps them all */
#endif
  return fn;
}

void cg_host_look_up(Cg *cg) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
  LLVMBasicBlockRef attend = LLVMAppendBasicBlockInContext(cg->context, f, "attend"),
                    go = LLVMAppendBasicBlockInContext(cg->context, f, "");
  LLVMValueRef wanted = LLVMBuildLoad2(b, cg->t.i32, flag_of(cg), "");
  LLVMSetOrdering(wanted, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(wanted, 4);
  LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, wanted, LLVMConstNull(cg->t.i32), "");
  LLVMValueRef branch = LLVMBuildCondBr(b, none, go, attend);
  LLVMMetadataRef weights[] = {
      LLVMMDStringInContext2(cg->context, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(cg->t.i32, 1u << 20, 0)),
      LLVMValueAsMetadata(LLVMConstInt(cg->t.i32, 1, 0)),
  };
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(cg->context, "prof", 4),
                  LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, weights, 3)));
  LLVMPositionBuilderAtEnd(b, attend);
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, NULL, 0, 0);
  LLVMBuildCall2(b, type, function_of(cg, type), NULL, 0, "");
  LLVMBuildBr(b, go);
  LLVMPositionBuilderAtEnd(b, go);
}

/* --- loops --- */

static uint32_t number_of(const Ways *w, LLVMBasicBlockRef b) {
  return valuemap_get(&w->number, b);
}

static bool in_loop(const Ways *w, LLVMBasicBlockRef b) {
  uint32_t n = number_of(w, b);
  return n != VALUEMAP_NONE && w->mark[n] == w->header + 1;
}

static LLVMValueRef end_of(const Ways *w, uint32_t block) {
  return LLVMGetBasicBlockTerminator(w->blocks.data[block]);
}

static void find_latches(Ways *w, uint32_t header) {
  w->header = header;
  w->latches.len = 0;
  LLVMValueRef h = LLVMBasicBlockAsValue(w->blocks.data[header]);
  for (LLVMUseRef u = LLVMGetFirstUse(h); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    uint32_t n = LLVMIsATerminatorInst(user) ? number_of(w, LLVMGetInstructionParent(user))
                                             : VALUEMAP_NONE;
    bool known = n == VALUEMAP_NONE || n < header;
    for (uint32_t k = 0; k < w->latches.len && !known; k++)
      known = w->latches.data[k] == n;
    if (!known)
      VEC_PUSH(&w->cg->cx->arena, &w->latches, n);
  }
}

static void mark_loop(Ways *w) {
  Arena *a = &w->cg->cx->arena;
  VEC(uint32_t) todo = {0};
  w->mark[w->header] = w->header + 1;
  for (uint32_t k = 0; k < w->latches.len; k++)
    VEC_PUSH(a, &todo, w->latches.data[k]);
  while (todo.len) {
    uint32_t n = VEC_POP(&todo);
    if (w->mark[n] == w->header + 1)
      continue;
    w->mark[n] = w->header + 1;
    LLVMValueRef block = LLVMBasicBlockAsValue(w->blocks.data[n]);
    for (LLVMUseRef u = LLVMGetFirstUse(block); u; u = LLVMGetNextUse(u)) {
      LLVMValueRef user = LLVMGetUser(u);
      uint32_t from = LLVMIsATerminatorInst(user) ? number_of(w, LLVMGetInstructionParent(user))
                                                  : VALUEMAP_NONE;
      if (from != VALUEMAP_NONE)
        VEC_PUSH(a, &todo, from);
    }
  }
}

static bool is_innermost(const Ways *w) {
  for (uint32_t n = w->header + 1; n < w->blocks.len; n++)
    for (unsigned s = 0; w->mark[n] == w->header + 1 && s < LLVMGetNumSuccessors(end_of(w, n));
         s++) {
      uint32_t to = number_of(w, LLVMGetSuccessor(end_of(w, n), s));
      if (to <= n && to > w->header && w->mark[to] == w->header + 1)
        return false;
    }
  return true;
}

static bool is_fixed(const Ways *w, LLVMValueRef v) {
  return !LLVMIsAInstruction(v) || !in_loop(w, LLVMGetInstructionParent(v));
}

/* phi plus what is the same in every round */
static bool is_step_of(const Ways *w, LLVMValueRef v, LLVMValueRef phi) {
  if (!LLVMIsAInstruction(v))
    return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  if (op == LLVMGetElementPtr)
    return LLVMGetNumOperands(v) == 2 && LLVMGetOperand(v, 0) == phi &&
           is_fixed(w, LLVMGetOperand(v, 1));
  return ((op == LLVMAdd || op == LLVMSub) && LLVMGetOperand(v, 0) == phi &&
          is_fixed(w, LLVMGetOperand(v, 1))) ||
         (op == LLVMAdd && LLVMGetOperand(v, 1) == phi && is_fixed(w, LLVMGetOperand(v, 0)));
}

static bool is_counter(const Ways *w, LLVMValueRef phi) {
  if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != w->blocks.data[w->header])
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (in_loop(w, LLVMGetIncomingBlock(phi, k)) &&
        !is_step_of(w, LLVMGetIncomingValue(phi, k), phi))
      return false;
  return true;
}

/* The counter, or the next value of it. */
static bool counts(const Ways *w, LLVMValueRef v) {
  if (is_counter(w, v))
    return true;
  for (int k = 0; LLVMIsAInstruction(v) && k < LLVMGetNumOperands(v) && k < 2; k++)
    if (is_counter(w, LLVMGetOperand(v, (unsigned)k)) &&
        is_step_of(w, v, LLVMGetOperand(v, (unsigned)k)))
      return true;
  return false;
}

/* Does it count towards a bound? The counter is to be compared in every round, in the header or on the way back. */
static bool is_counted(const Ways *w) {
  uint32_t ends[] = {w->header, w->latches.data[0]};
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef end = end_of(w, ends[k]), c = NULL;
    if (LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
        (!in_loop(w, LLVMGetSuccessor(end, 0)) || !in_loop(w, LLVMGetSuccessor(end, 1))))
      c = LLVMGetCondition(end);
    for (unsigned n = 0; c && LLVMIsAICmpInst(c) && n < 2; n++) {
      if (counts(w, LLVMGetOperand(c, n)) && is_fixed(w, LLVMGetOperand(c, 1 - n)))
        return w->latches.len == 1;
    }
  }
  return false;
}

/* --- the way back --- */

/* phi: split into one for the ways back, in front of `first`, and a new one of the header. */
static void split_phi(Ways *w, LLVMValueRef phi, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMTypeRef t = LLVMTypeOf(phi);
  LLVMPositionBuilderBefore(w->b, phi);
  LLVMValueRef outer = LLVMBuildPhi(w->b, t, "");
  LLVMPositionBuilderBefore(w->b, first);
  LLVMValueRef inner = LLVMBuildPhi(w->b, t, "");
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef v = LLVMGetIncomingValue(phi, k);
    LLVMAddIncoming(number_of(w, block) >= w->header ? inner : outer, &v, &block, 1);
  }
  LLVMAddIncoming(outer, &inner, &from, 1);
  LLVMReplaceAllUsesWith(phi, outer);
  LLVMInstructionEraseFromParent(phi);
}

static void look_up_on_the_way_back(Ways *w) {
  LLVMBasicBlockRef header = w->blocks.data[w->header],
                    back = LLVMAppendBasicBlockInContext(w->cg->context, w->f, "back");
  LLVMPositionBuilderAtEnd(w->b, back);
  cg_host_look_up(w->cg); /* in `back`: its phis come in front */
  LLVMBasicBlockRef from = LLVMGetInsertBlock(w->b);
  LLVMBuildBr(w->b, header);
  LLVMValueRef first = LLVMGetFirstInstruction(back);
  for (LLVMValueRef i = LLVMGetFirstInstruction(header), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    split_phi(w, i, first, from);
  }
  for (uint32_t k = 0; k < w->latches.len; k++)
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end_of(w, w->latches.data[k])); s++)
      if (LLVMGetSuccessor(end_of(w, w->latches.data[k]), s) == header)
        LLVMSetSuccessor(end_of(w, w->latches.data[k]), s, back);
}

static void look_up_in(Cg *cg, LLVMValueRef f) {
  Arena *a = &cg->cx->arena;
  Ways w = {
      .cg = cg, .b = cg->builder, .f = f, .blocks = cg_blocks_in_order(a, f), .number.arena = a};
  w.mark = ARENA_ARRAY(a, uint32_t, w.blocks.len + 1);
  for (uint32_t k = 0; k < w.blocks.len; k++)
    valuemap_set(&w.number, w.blocks.data[k], k);
  for (uint32_t k = 0; k < w.blocks.len; k++) {
    find_latches(&w, k);
    if (!w.latches.len)
      continue;
    mark_loop(&w);
    if (!is_innermost(&w) || !is_counted(&w))
      look_up_on_the_way_back(&w);
  }
}

void cg_host_look_up_in_loops(Cg *cg) {
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      look_up_in(cg, f);
}
