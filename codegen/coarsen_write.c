/* Coarsening: writes the second entry.
 *
 *   entry      a block whose blocks all are in the launch's grid goes on, the last one may go to the loop
 *   guards     for each branch before anything is written: all copies' conditions at once; not all true: to the loop, from the beginning
 *   body       instruction by instruction, its copies one behind another; where ways part and meet again, copy by copy
 *   loop       the kernel as it was, block by block
 *
 * Copies are numbered; number `factor` is the one in the loop. What is the same in all copies is written once. */
#include <stdio.h>

#include "codegen/coarsen.h"
#include "codegen/llvm_compat.h"

typedef struct Writer {
  CoShape *s;
  const CoPlan *plan;
  const CgTypes *t;
  Cx *cx;
  LLVMBuilderRef b;
  LLVMValueRef fn, logical; /* blocks of the launch on the axis */
  LLVMValueRef block[CO_MAX_FACTOR + 1], thread[CO_MAX_FACTOR + 1]; /* blockIdx, threadIdx on the axis */
  LLVMValueRef width; /* blockDim on the axis, NULL until needed */
  LLVMBasicBlockRef loop, latch;
} Writer;

static LLVMValueRef number(const Writer *w, uint64_t n) { return LLVMConstInt(w->t->i32, n, 0); }
static LLVMBasicBlockRef new_block(Writer *w, const char *name) {
  return LLVMAppendBasicBlockInContext(w->s->cg->context, w->fn, name);
}

static LLVMValueRef read_sreg(Writer *w, const char *what) {
  const char *name = arena_printf(&w->cx->arena, "llvm.nvvm.read.ptx.sreg.%s.%c", what,
                                  "xyz"[w->plan->axis]);
  LLVMValueRef fn = cg_intrinsic_fn(w->s->cg, name, NULL, 0);
  return LLVMBuildCall2(w->b, LLVMGlobalGetValueType(fn), fn, NULL, 0, "");
}

/* Additions of numbers that a grid can have: none of them is beyond 2^31 - 1 but where the check for that follows. */
static LLVMValueRef exact(LLVMValueRef v) {
  if (LLVMIsAInstruction(v)) {
    LLVMSetNUW(v, 1);
    LLVMSetNSW(v, 1);
  }
  return v;
}

/* --- values --- */

static LLVMValueRef resolve(const Writer *w, unsigned c, LLVMValueRef old) {
  const CoIns *i = co_ins(w->s, old);
  if (i) {
    CX_ASSERT(w->cx, i->now[c]);
    return i->now[c];
  }
  if (LLVMIsAArgument(old))
    for (unsigned k = 0; k < w->s->nparams; k++)
      if (LLVMGetParam(w->s->f, k) == old)
        return LLVMGetParam(w->fn, k);
  return old;
}

/* The same line, in this function: locations name theirs, those of inlined code the place of the call. */
static LLVMMetadataRef line_here(Writer *w, LLVMMetadataRef old) {
  const Cg *cg = w->s->cg;
  if (!old || !cg->coarse_scope)
    return NULL;
  LLVMMetadataRef at = LLVMDILocationGetInlinedAt(old);
  return LLVMDIBuilderCreateDebugLocation(
      cg->context, LLVMDILocationGetLine(old), LLVMDILocationGetColumn(old),
      at ? LLVMDILocationGetScope(old) : cg->coarse_scope, line_here(w, at));
}

static LLVMValueRef cloned(Writer *w, unsigned c, const CoIns *i) {
  LLVMValueRef copy = LLVMInstructionClone(i->old);
  LLVMInsertIntoBuilder(w->b, copy);
  LLVMInstructionSetDebugLoc(copy, line_here(w, LLVMInstructionGetDebugLoc(i->old)));
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i->old); k < n; k++)
    LLVMSetOperand(copy, k, resolve(w, c, LLVMGetOperand(i->old, k)));
  return copy;
}

static LLVMValueRef copied(Writer *w, unsigned c, const CoIns *i) {
  unsigned axis = w->plan->axis;
  if (i->sreg == (int)(SREG_CTAID + axis))
    return w->block[c];
  if (i->sreg == (int)(SREG_TID + axis))
    return w->thread[c];
  if (i->sreg == (int)(SREG_NCTAID + axis))
    return w->logical;
  return cloned(w, c, i);
}

/* --- straight code --- */

/* How far a copy's sum is from the one before. */
static LLVMValueRef sum_step(Writer *w, LLVMTypeRef type) {
  if (w->plan->threads)
    return LLVMConstInt(type, 1, 0);
  if (!w->width)
    w->width = read_sreg(w, "ntid");
  if (LLVMTypeOf(w->width) == type)
    return w->width;
  LLVMValueRef wide = LLVMBuildZExt(w->b, w->width, type, "");
  LLVMSetNNeg(wide, 1);
  return wide;
}

/* A sum of copy 0, from which the others follow by additions: so what they have in common is easily seen. */
static void write_sum(Writer *w, CoIns *i) {
  LLVMValueRef step = sum_step(w, LLVMTypeOf(i->old));
  i->now[0] = cloned(w, 0, i);
  for (unsigned c = 1; c < w->plan->factor; c++)
    i->now[c] = exact(LLVMBuildAdd(w->b, i->now[c - 1], step, ""));
}

static bool operands_differ(const Writer *w, unsigned c, LLVMValueRef old) {
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(old); k < n; k++) {
    const CoIns *i = co_ins(w->s, LLVMGetOperand(old, k));
    if (i && i->now[c] != i->now[0])
      return true;
  }
  return false;
}

static void write_together(Writer *w, CoIns *i) {
  if (w->plan->linear && i->axis == w->plan->axis + 1) {
    write_sum(w, i);
    return;
  }
  bool own = i->sreg == (int)(SREG_CTAID + w->plan->axis);
  for (unsigned c = 0; c < w->plan->factor; c++)
    i->now[c] = c && !own && !i->effects && !operands_differ(w, c, i->old) ? i->now[0]
                                                                           : copied(w, c, i);
}

static void write_block_together(Writer *w, const CoBlock *b) {
  for (uint32_t k = b->first; k + 1 < b->last; k++)
    if (!LLVMIsAPHINode(w->s->ins.data[k].old))
      write_together(w, &w->s->ins.data[k]);
}

/* --- copies block by block --- */

/* Phis of a copy's block. from: blocks whose ends lead here in this copy. */
static void write_phis(Writer *w, unsigned c, const CoBlock *b, uint64_t from) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    CoIns *i = &w->s->ins.data[k];
    i->now[c] = LLVMBuildPhi(w->b, LLVMTypeOf(i->old), "");
    for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++) {
      uint32_t pred = co_block(w->s, LLVMGetIncomingBlock(i->old, n));
      if (!(from >> pred & 1))
        continue;
      LLVMValueRef value = resolve(w, c, LLVMGetIncomingValue(i->old, n));
      LLVMAddIncoming(i->now[c], &value, &w->s->blocks[pred].now[c], 1);
    }
  }
}

static void write_end(Writer *w, unsigned c, const CoBlock *b) {
  LLVMValueRef end = w->s->ins.data[b->last - 1].old;
  LLVMBasicBlockRef to[2] = {w->latch, NULL};
  for (unsigned k = 0; k < b->nsucc && k < 2; k++)
    to[k] = w->s->blocks[b->succ[k]].now[c];
  if (LLVMIsASwitchInst(end)) {
    LLVMValueRef s = LLVMBuildSwitch(w->b, resolve(w, c, LLVMGetOperand(end, 0)), to[0], b->nsucc);
    for (unsigned k = 1; k < b->nsucc; k++)
      LLVMAddCase(s, LLVMGetSwitchCaseValue(end, k), w->s->blocks[b->succ[k]].now[c]);
  } else if (b->nsucc == 2) {
    LLVMBuildCondBr(w->b, resolve(w, c, LLVMGetCondition(end)), to[0], to[1]);
  } else {
    LLVMBuildBr(w->b, to[0]);
  }
}

static void write_block(Writer *w, unsigned c, const CoBlock *b, uint64_t from) {
  LLVMPositionBuilderAtEnd(w->b, b->now[c]);
  write_phis(w, c, b, from);
  for (uint32_t k = b->first; k + 1 < b->last; k++)
    if (!LLVMIsAPHINode(w->s->ins.data[k].old))
      w->s->ins.data[k].now[c] = copied(w, c, &w->s->ins.data[k]);
  write_end(w, c, b);
}

/* --- the way --- */

static void write_guard(Writer *w, const CoBlock *b, unsigned taken) {
  LLVMValueRef end = w->s->ins.data[b->last - 1].old, all = NULL;
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMValueRef own = resolve(w, c, LLVMGetCondition(end));
    if (taken)
      own = LLVMBuildNot(w->b, own, "");
    all = all ? LLVMBuildAnd(w->b, all, own, "") : own;
  }
  LLVMBasicBlockRef next = new_block(w, "together");
  LLVMBuildCondBr(w->b, all, next, w->loop);
  LLVMPositionBuilderAtEnd(w->b, next);
}

static void write_arms(Writer *w, const CoStep *step, uint32_t meet) {
  CoShape *s = w->s;
  uint64_t from = step->arms | (uint64_t)1 << step->block;
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMBasicBlockRef met = new_block(w, "met");
    s->blocks[step->block].now[c] = LLVMGetInsertBlock(w->b);
    s->blocks[meet].now[c] = met;
    for (uint32_t k = 0; k < s->nblocks; k++)
      if (step->arms >> k & 1)
        s->blocks[k].now[c] = new_block(w, "arm");
    write_end(w, c, &s->blocks[step->block]);
    for (uint32_t k = 0; k < s->nblocks; k++)
      if (step->arms >> k & 1)
        write_block(w, c, &s->blocks[k], from); /* guards before the step have ruled the others out */
    LLVMPositionBuilderAtEnd(w->b, met);
    write_phis(w, c, &s->blocks[meet], from);
  }
}

/* The values of phis on the only way that leads to them here. */
static void pass_phis(Writer *w, const CoBlock *b, LLVMBasicBlockRef from) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    CoIns *i = &w->s->ins.data[k];
    for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++)
      for (unsigned c = 0; LLVMGetIncomingBlock(i->old, n) == from && c < w->plan->factor; c++)
        i->now[c] = resolve(w, c, LLVMGetIncomingValue(i->old, n));
  }
}

static void write_way(Writer *w) {
  CoShape *s = w->s;
  for (uint32_t k = 0; k < s->steps.len; k++) {
    const CoStep *step = &s->steps.data[k];
    const CoBlock *b = &s->blocks[step->block];
    write_block_together(w, b);
    if (step->kind == CO_END)
      break;
    uint32_t next = s->steps.data[k + 1].block;
    if (step->kind == CO_GUARD)
      write_guard(w, b, step->taken);
    if (step->kind == CO_ARMS)
      write_arms(w, step, next);
    else
      pass_phis(w, &s->blocks[next], b->old);
  }
  LLVMBuildRetVoid(w->b);
}

/* --- the loop --- */

/* Else ptxas unrolls it, and with it the register count is that of the copies taken in any order. */
static void never_unrolled(Writer *w, LLVMValueRef branch) {
  LLVMContextRef c = w->s->cg->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, "llvm.loop.unroll.disable", 24);
  LLVMMetadataRef tag = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef placeholder = LLVMTemporaryMDNode(c, NULL, 0), parts[] = {placeholder, tag};
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2);
  LLVMMetadataReplaceAllUsesWith(placeholder, id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

/* count: how many blocks this one has; apart: not all of the factor's are there. */
static void write_loop(Writer *w, LLVMValueRef base, LLVMValueRef apart, LLVMValueRef count) {
  unsigned c = w->plan->factor;
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(w->b), done = new_block(w, "done");
  LLVMBasicBlockRef head = new_block(w, "block");
  LLVMBuildBr(w->b, head);
  LLVMPositionBuilderAtEnd(w->b, head);
  LLVMValueRef j = LLVMBuildPhi(w->b, w->t->i32, ""), zero = number(w, 0);
  LLVMAddIncoming(j, &zero, &entry, 1);
  w->block[c] = exact(LLVMBuildAdd(w->b, base, j, ""));
  LLVMValueRef own = read_sreg(w, "tid");
  w->thread[c] = own;
  if (w->plan->threads) {
    LLVMValueRef near = exact(LLVMBuildAdd(w->b, exact(LLVMBuildMul(w->b, own, number(w, c), "")), j, ""));
    w->block[c] = LLVMBuildSelect(w->b, apart, w->block[c], base, "");
    w->thread[c] = LLVMBuildSelect(w->b, apart, own, near, "");
  }
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    w->s->blocks[k].now[c] = new_block(w, "apart");
  LLVMBuildBr(w->b, w->s->blocks[0].now[c]);
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    write_block(w, c, &w->s->blocks[k], UINT64_MAX);
  LLVMPositionBuilderAtEnd(w->b, w->latch);
  LLVMValueRef next = exact(LLVMBuildAdd(w->b, j, number(w, 1), ""));
  LLVMAddIncoming(j, &next, &w->latch, 1);
  never_unrolled(w, LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, next, count, ""), head, done));
  LLVMPositionBuilderAtEnd(w->b, done);
  LLVMBuildRetVoid(w->b);
}

/* --- the function --- */

static void copy_attributes(Writer *w) {
  for (unsigned k = 0; k <= w->s->nparams; k++) {
    LLVMAttributeIndex at = k < w->s->nparams ? k + 1 : (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned n = LLVMGetAttributeCountAtIndex(w->s->f, at);
    LLVMAttributeRef *all = CX_ARRAY(w->cx, LLVMAttributeRef, n);
    LLVMGetAttributesAtIndex(w->s->f, at, all);
    for (unsigned a = 0; a < n; a++)
      LLVMAddAttributeAtIndex(w->fn, at, all[a]);
  }
  uint64_t low = 1, high = 1ull << 31;
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddAttributeAtIndex(w->fn, w->s->nparams + 1,
                          LLVMCreateConstantRangeAttribute(w->s->cg->context, kind, 32, &low, &high));
}

static void begin_function(Writer *w, const char *symbol) {
  unsigned n = w->s->nparams;
  LLVMTypeRef *types = CX_ARRAY(w->cx, LLVMTypeRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(LLVMGetParam(w->s->f, k));
  types[n] = w->t->i32;
  w->fn = LLVMAddFunction(w->s->cg->module, symbol, LLVMFunctionType(w->t->none, types, n + 1, 0));
  LLVMSetFunctionCallConv(w->fn, CG_LLVM_PTX_KERNEL);
  copy_attributes(w);
  if (w->s->cg->coarse_scope)
    LLVMSetSubprogram(w->fn, w->s->cg->coarse_scope);
  w->logical = LLVMGetParam(w->fn, n);
}

void co_write(CoShape *s, const CoPlan *plan, const char *symbol) {
  Writer w = {.s = s, .plan = plan, .t = &s->cg->t, .cx = s->cg->cx};
  unsigned factor = plan->factor;
  w.b = LLVMCreateBuilderInContext(s->cg->context);
  begin_function(&w, symbol);
  LLVMBasicBlockRef entry = new_block(&w, "entry"), all = new_block(&w, "all");
  w.loop = new_block(&w, "loop");
  w.latch = new_block(&w, "next");
  LLVMPositionBuilderAtEnd(w.b, entry);
  LLVMValueRef base = exact(LLVMBuildMul(w.b, read_sreg(&w, "ctaid"), number(&w, factor), ""));
  LLVMValueRef left = exact(LLVMBuildSub(w.b, w.logical, base, ""));
  LLVMValueRef apart = LLVMBuildICmp(w.b, LLVMIntULT, left, number(&w, factor), "");
  LLVMBuildCondBr(w.b, apart, w.loop, all);
  LLVMPositionBuilderAtEnd(w.b, all);
  LLVMValueRef thread = read_sreg(&w, "tid");
  if (plan->threads)
    thread = exact(LLVMBuildMul(w.b, thread, number(&w, factor), ""));
  for (unsigned c = 0; c < factor; c++) {
    w.thread[c] = thread;
    w.block[c] = plan->linear || !c ? base : exact(LLVMBuildAdd(w.b, base, number(&w, c), ""));
  }
  write_way(&w);
  LLVMPositionBuilderAtEnd(w.b, w.loop);
  LLVMValueRef count = LLVMBuildSelect(w.b, apart, left, number(&w, factor), "");
  write_loop(&w, base, apart, count);
  LLVMDisposeBuilder(w.b);
}
