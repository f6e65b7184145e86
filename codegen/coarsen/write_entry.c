/* Coarsening: writes the second entry.
 *
 *   entry      where there are not `factor` blocks of the launch any more, the last blocks of the
 *              grid have one each, or the last one has all of them: if so, to the loop
 *   guards     each branch before the first write: the conjunction of all copies' conditions; if it
 *              is false, to the loop, which starts from the beginning
 *   body       the common path: each instruction for all copies in turn; where copies diverge, the
 *              region up to the join for one copy after the other
 *   checks     a branch to a trap is one branch for all copies, behind which each copy's condition
 *              is asked by itself; the trap is told the copy's block and thread
 *   loop       the kernel as it was, for one block of the launch after the other
 *
 * In: a shape for which co_common_path has accepted the plan. Out: the function. The kernel itself
 * is only read.
 *
 * Copies are numbered; number `factor` is the one in the loop. What is the same in all copies is
 * written once. Phis get their operands at the end, when those of back edges exist too. */
#include <assert.h>
#include <stdio.h>

#include "codegen/coarsen/writer.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST_HELD = 32, LONG_CODE = 96 }; /* LONG_CODE: instructions of a kernel */

static LLVMValueRef number(const CoWriter *w, uint64_t n) { return l_int(w->t->i32, n); }
LLVMBasicBlockRef co_new_block(CoWriter *w, const char *name) {
  return LLVMAppendBasicBlockInContext(w->s->cg->context, w->fn, name);
}

/* The register of the plan's axis. */
static LLVMValueRef read_sreg(CoWriter *w, SpecialReg of_x) {
  return w->s->cg->target->read_register(w->s->cg, w->b, ir_register_at(of_x, w->plan->axis));
}

/* Arithmetic on indices of a grid, which does not exceed 2^31 - 1, or is not used where it does. */
static LLVMValueRef no_wrap(LLVMValueRef v) {
  if (LLVMIsAInstruction(v)) {
    LLVMSetNUW(v, 1);
    LLVMSetNSW(v, 1);
  }
  return v;
}

/* --- values --- */

/* A copy's own array, or the common one. The copy in the loop uses the first. */
static LLVMValueRef resolve_shared(const CoWriter *w, unsigned c, const CoShared *a) {
  bool own = a->varies && c && c < w->plan->factor;
  LLVMValueRef at = l_int(w->t->i64, c * a->stride);
  return own ? LLVMConstGEP2(w->t->i8, a->now, &at, 1) : a->now;
}

static LLVMValueRef resolve_constant(const CoWriter *w, unsigned c, LLVMValueRef old) {
  const CoShared *a = w->s->shared.len ? co_shared(w->s, old) : NULL;
  if (!a)
    return old;
  if (LLVMIsAGlobalVariable(old))
    return resolve_shared(w, c, a);
  unsigned n = (unsigned)LLVMGetNumOperands(old);
  LLVMValueRef *at = CX_ARRAY(w->cx, LLVMValueRef, n);
  for (unsigned k = 1; k < n; k++)
    at[k - 1] = LLVMGetOperand(old, k);
  LLVMValueRef base = resolve_constant(w, c, LLVMGetOperand(old, 0));
  return LLVMConstGEP2(LLVMGetGEPSourceElementType(old), base, at, n - 1);
}

LLVMValueRef co_resolve(const CoWriter *w, unsigned c, LLVMValueRef old) {
  const CoIns *i = co_ins(w->s, old);
  if (i) {
    CX_ASSERT(w->cx, i->now[c]);
    return i->now[c];
  }
  if (LLVMIsAArgument(old))
    for (unsigned k = 0; k < w->s->nparams; k++)
      if (LLVMGetParam(w->s->f, k) == old)
        return LLVMGetParam(w->fn, k);
  return LLVMIsAConstant(old) ? resolve_constant(w, c, old) : old;
}

/* The same debug location with this function's scope, at the end of the chain of inlined calls. */
static LLVMMetadataRef line_here(CoWriter *w, LLVMMetadataRef old) {
  const Cg *cg = w->s->cg;
  if (!old || !cg->coarse_scope)
    return NULL;
  LLVMMetadataRef at = LLVMDILocationGetInlinedAt(old);
  return LLVMDIBuilderCreateDebugLocation(
      cg->context, LLVMDILocationGetLine(old), LLVMDILocationGetColumn(old),
      at ? LLVMDILocationGetScope(old) : cg->coarse_scope, line_here(w, at));
}

static void mark_copy(const CoWriter *w, unsigned c, LLVMValueRef store) {
  LLVMContextRef context = w->s->cg->context;
  LLVMMetadataRef number = LLVMValueAsMetadata(l_int(w->s->cg->t.i32, c));
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(context, CG_COPY, sizeof CG_COPY - 1),
                  LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &number, 1)));
}

LLVMValueRef co_cloned(CoWriter *w, unsigned c, const CoIns *i) {
  unsigned n = (unsigned)LLVMGetNumOperands(i->old);
  LLVMValueRef *operands = CX_ARRAY(w->cx, LLVMValueRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    operands[k] = co_resolve(w, c, LLVMGetOperand(i->old, k));
  LLVMValueRef copy = copy_ins(w->b, i->old, operands);
  LLVMInstructionSetDebugLoc(copy, line_here(w, LLVMInstructionGetDebugLoc(i->old)));
  if (cg_is_op(copy, LLVMStore))
    mark_copy(w, c, copy);
  return copy;
}

/* --- sums blockIdx * blockDim + threadIdx of a linear plan ---
 *
 * All copies on the common path have the first one's blockIdx and threadIdx; only their sums
 * differ. */

static bool is_sum(const CoWriter *w, const CoIns *i) {
  return w->plan->linear && i->axis == w->plan->axis + 1;
}

/* By how much a copy's sum exceeds the previous copy's. */
static LLVMValueRef sum_step(CoWriter *w, LLVMTypeRef type) {
  if (w->plan->threads)
    return l_int(type, 1);
  LLVMValueRef width = read_sreg(w, SREG_NTID);
  if (LLVMTypeOf(width) == type)
    return width;
  LLVMValueRef wide = l_zext(w->b, width, type);
  LLVMSetNNeg(wide, 1);
  return wide;
}

/* The first copy's sum; each other one is the previous plus a step, from which LLVM sees what the
 * copies' addresses have in common. */
static void write_sum(CoWriter *w, CoIns *i) {
  LLVMValueRef step = sum_step(w, LLVMTypeOf(i->old));
  i->now[0] = co_cloned(w, 0, i);
  for (unsigned c = 1; c < w->plan->factor; c++)
    i->now[c] = no_wrap(l_add(w->b, i->now[c - 1], step));
}

/* The sum of one copy in its arms. */
static LLVMValueRef copied_sum(CoWriter *w, unsigned c, const CoIns *i) {
  LLVMValueRef sum = co_cloned(w, c, i);
  if (!c || c == w->plan->factor)
    return sum;
  LLVMValueRef step = sum_step(w, LLVMTypeOf(sum));
  for (unsigned k = 0; k < c; k++)
    sum = no_wrap(l_add(w->b, sum, step));
  return sum;
}

/* --- straight code --- */

LLVMValueRef co_copied(CoWriter *w, unsigned c, const CoIns *i) {
  unsigned axis = w->plan->axis;
  if (i->sreg == ir_register_at(SREG_CTAID, axis))
    return w->block[c];
  if (i->sreg == ir_register_at(SREG_TID, axis))
    return w->thread[c];
  if (i->sreg == ir_register_at(SREG_NCTAID, axis))
    return w->logical;
  return is_sum(w, i) ? copied_sum(w, c, i) : co_cloned(w, c, i);
}

/* The array of an address whose offset in the array is the same for all copies, else NULL. */
static const CoShared *same_offset(const CoWriter *w, const CoIns *i) {
  const CoShared *a = LLVMIsAGetElementPtrInst(i->old) ? co_shared(w->s, i->old) : NULL;
  if (!a || !a->varies)
    return NULL;
  for (unsigned k = 1, n = (unsigned)LLVMGetNumOperands(i->old); k < n; k++) {
    const CoIns *of = co_ins(w->s, LLVMGetOperand(i->old, k));
    if (of && of->varies)
      return NULL;
  }
  const CoIns *base = co_ins(w->s, LLVMGetOperand(i->old, 0));
  return base && !same_offset(w, base) ? NULL : a;
}

/* Each copy's address is a constant distance from the first, which becomes the access's offset. */
static void write_addresses(CoWriter *w, CoIns *i, const CoShared *a) {
  i->now[0] = co_cloned(w, 0, i);
  for (unsigned c = 1; c < w->plan->factor; c++) {
    LLVMValueRef at = l_int(w->t->i64, c * a->stride);
    i->now[c] = l_gep_inbounds(w->b, w->t->i8, i->now[0], &at, 1);
  }
}

static void write_common(CoWriter *w, CoIns *i) {
  unsigned factor = w->plan->factor;
  const CoShared *a = same_offset(w, i);
  if (a) {
    write_addresses(w, i, a);
    return;
  }
  if (is_sum(w, i)) {
    write_sum(w, i);
    return;
  }
  for (unsigned c = 0; c < factor; c++)
    i->now[c] = c && i->once ? i->now[0] : co_copied(w, c, i);
}

/* A phi of the common path; fill_edge adds its operands. */
static void open_common_phi(CoWriter *w, CoIns *i) {
  for (unsigned c = 0; c < w->plan->factor; c++)
    i->now[c] = c && i->once ? i->now[0] : l_phi(w->b, LLVMTypeOf(i->old));
}

/* May stores that come before it be written behind it? */
static bool lets_wait(LLVMValueRef i) { return LLVMIsAPHINode(i) || cg_is_speculatable(i); }

/* What one thread stores side by side, as a row of four numbers, becomes one access of the cache
 * if it comes at once; other copies' stores in between, which are far away, would make it four. */
static void write_held(CoWriter *w, uint32_t *held, unsigned *n) {
  for (unsigned c = 0; c < w->plan->factor; c++)
    for (unsigned k = 0; k < *n; k++) {
      CoIns *i = &w->s->ins.data[held[k]];
      i->now[c] = c && i->once ? i->now[0] : co_copied(w, c, i);
    }
  *n = 0;
}

static void write_common_block(CoWriter *w, const CoBlock *b) {
  uint32_t held[MOST_HELD];
  unsigned n = 0;
  for (uint32_t k = b->first; k + 1 < b->last; k++) {
    CoIns *i = &w->s->ins.data[k];
    bool store = LLVMIsAStoreInst(i->old) && cg_is_plain_access(i->old) && !w->plan->threads;
    if (n == MOST_HELD || (n && !store && !lets_wait(i->old)))
      write_held(w, held, &n);
    if (store)
      held[n++] = k;
    else if (LLVMIsAPHINode(i->old))
      open_common_phi(w, i);
    else
      write_common(w, i);
  }
  write_held(w, held, &n);
}

/* --- checks --- */

/* The copy's threadIdx and blockIdx on the axis, for a message. */
static void place_of(CoWriter *w, unsigned c, LLVMValueRef *block, LLVMValueRef *thread) {
  bool in_sums = c < w->plan->factor && w->plan->linear;
  *block = w->block[c];
  *thread = w->thread[c];
  if (in_sums && !w->plan->threads)
    *block = l_add(w->b, *block, number(w, c));
  if (!w->plan->threads)
    return;
  LLVMValueRef width = read_sreg(w, SREG_NTID);
  if (in_sums)
    *thread = l_add(w->b, *thread, number(w, c));
  *block = l_add(w->b, *block, l_udiv(w->b, *thread, width));
  *thread = l_urem(w->b, *thread, width);
}

/* An instruction on the way to a trap, and its copy. */
typedef struct Cold {
  LLVMValueRef old, now;
} Cold;
typedef VEC(Cold) ColdCopies;

static LLVMValueRef resolve_cold(const CoWriter *w, unsigned c, const ColdCopies *copies,
                                 LLVMValueRef old) {
  for (uint32_t k = 0; k < copies->len; k++)
    if (copies->data[k].old == old)
      return copies->data[k].now;
  return co_resolve(w, c, old);
}

/* The trap of copy c is told where the copy is. */
static LLVMValueRef copied_cold(CoWriter *w, unsigned c, const ColdCopies *copies, LLVMValueRef old,
                                LLVMBasicBlockRef from) {
  if (LLVMIsAPHINode(old))
    return resolve_cold(w, c, copies, graph_incoming(old, from));
  unsigned n = (unsigned)LLVMGetNumOperands(old);
  LLVMValueRef *operands = CX_ARRAY(w->cx, LLVMValueRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    operands[k] = resolve_cold(w, c, copies, LLVMGetOperand(old, k));
  if (cg_is_call_of(old, NVPTX_TRAP_NAME)) {
    operands[NVPTX_TRAP_AXIS] = number(w, w->plan->axis);
    place_of(w, c, &operands[NVPTX_TRAP_BLOCK], &operands[NVPTX_TRAP_THREAD]);
  }
  LLVMValueRef copy = copy_ins(w->b, old, operands);
  LLVMInstructionSetDebugLoc(copy, line_here(w, LLVMInstructionGetDebugLoc(old)));
  return copy;
}

/* The block in which copy c of a check stops. */
static LLVMBasicBlockRef write_stop(CoWriter *w, unsigned c, const CoBlock *b) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(w->b), stop = co_new_block(w, "stop");
  LLVMBasicBlockRef from = b->in->block;
  ColdCopies copies = {0};
  LLVMPositionBuilderAtEnd(w->b, stop);
  for (LLVMBasicBlockRef at = b->in->trap; at; from = at, at = graph_next(at))
    for (LLVMValueRef i = LLVMGetFirstInstruction(at); !LLVMIsATerminatorInst(i);
         i = LLVMGetNextInstruction(i)) {
      Cold copy = {i, copied_cold(w, c, &copies, i, from)};
      VEC_PUSH(&w->cx->arena, &copies, copy);
    }
  l_unreachable(w->b);
  LLVMPositionBuilderAtEnd(w->b, here);
  return stop;
}

static bool stops_if_true(const CoBlock *b) {
  Fork fork;
  return graph_fork(b->in->last, &fork) && fork.yes == b->in->trap;
}

/* A branch that is hardly ever taken to `cold`: where a check fails. */
static void write_check(CoWriter *w, const CoBlock *b, LLVMValueRef condition,
                        LLVMBasicBlockRef next, LLVMBasicBlockRef cold) {
  bool first = stops_if_true(b);
  unsigned kind = LLVMGetMDKindIDInContext(w->s->cg->context, "prof", 4);
  LLVMValueRef weights = LLVMGetMetadata(b->in->last, kind);
  LLVMValueRef branch = l_condbr(w->b, condition, first ? cold : next, first ? next : cold);
  if (weights)
    LLVMSetMetadata(branch, kind, weights);
}

/* --- one copy by itself --- */

static void fill_phi(CoWriter *w, LLVMValueRef phi, const CoIns *i, unsigned c, CoSet from) {
  for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++) {
    uint32_t pred = graph_number(&w->s->g, LLVMGetIncomingBlock(i->old, n));
    if (!co_has(from, pred))
      continue;
    LLVMValueRef value = co_resolve(w, c, LLVMGetIncomingValue(i->old, n));
    LLVMAddIncoming(phi, &value, &w->s->blocks[pred].now[c], 1);
  }
}

/* The phis of a copy's block. from: the predecessors that this copy has. */
static void open_phis(CoWriter *w, unsigned c, const CoBlock *b, CoSet from) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    CoIns *i = &w->s->ins.data[k];
    i->now[c] = l_phi(w->b, LLVMTypeOf(i->old));
    CoOpen o = {i, c, from};
    VEC_PUSH(&w->cx->arena, &w->open, o);
  }
}

void co_write_joined(CoWriter *w, unsigned c, const CoBlock *b, CoSet from, LLVMValueRef *joined) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    const CoIns *i = &w->s->ins.data[k];
    LLVMValueRef phi = l_phi(w->b, LLVMTypeOf(i->old));
    fill_phi(w, phi, i, c, from);
    joined[(k - b->first) * w->plan->factor + c] = phi;
  }
}

void co_write_end(CoWriter *w, unsigned c, const CoBlock *b) {
  LLVMValueRef end = w->s->ins.data[b->last - 1].old;
  LLVMBasicBlockRef to[2] = {w->latch, NULL};
  for (unsigned k = 0; k < b->in->nsucc && k < 2; k++)
    to[k] = w->s->blocks[b->in->succ[k]].now[c];
  if (LLVMIsASwitchInst(end)) {
    LLVMValueRef s = l_switch(w->b, co_resolve(w, c, LLVMGetOperand(end, 0)), to[0], b->in->nsucc);
    for (unsigned k = 1; k < b->in->nsucc; k++)
      LLVMAddCase(s, LLVMGetSwitchCaseValue(end, k), w->s->blocks[b->in->succ[k]].now[c]);
  } else if (b->in->nsucc == 2) {
    l_condbr(w->b, co_resolve(w, c, LLVMGetCondition(end)), to[0], to[1]);
  } else if (co_checks(b)) {
    write_check(w, b, co_resolve(w, c, LLVMGetCondition(end)), to[0], write_stop(w, c, b));
  } else {
    l_br(w->b, to[0]);
  }
}

void co_write_block(CoWriter *w, unsigned c, const CoBlock *b, CoSet from) {
  LLVMPositionBuilderAtEnd(w->b, b->now[c]);
  open_phis(w, c, b, from);
  for (uint32_t k = b->first; k + 1 < b->last; k++)
    if (!LLVMIsAPHINode(w->s->ins.data[k].old))
      w->s->ins.data[k].now[c] = co_copied(w, c, &w->s->ins.data[k]);
  co_write_end(w, c, b);
}

/* --- the common path --- */

void co_add_edge(CoWriter *w, uint32_t from, uint32_t to, LLVMValueRef *joined) {
  CoEdge e = {&w->s->blocks[to], from, LLVMGetInsertBlock(w->b), joined};
  VEC_PUSH(&w->cx->arena, &w->edges, e);
}

/* Where some threads of a warp have all copies and others only the first ones, the warp would go
 * through both: in the time of a loop for the common path, and in one for each copy of the others.
 * So it decides as one where that is long, and takes these copies one by one: where there are
 * loops, or the code is. (The edge of a row is in one of few warps, and short code would pay for
 * the vote in all others.) Threads that have none wait in any case. Those of a slanted guard, which
 * differ in any number of copies, do not ask. */
static bool decides_as_one(const CoWriter *w, const CoBlock *b) {
  return (w->s->loops || w->s->ins.len >= LONG_CODE) && !w->s->meets && !b->slanted;
}

static void write_guard(CoWriter *w, uint32_t at) {
  const CoBlock *b = &w->s->blocks[at];
  assert(b->in->nsucc == 2 && b->taken < 2 && !b->written);
  LLVMValueRef end = w->s->ins.data[b->last - 1].old, all = NULL, none = NULL;
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMValueRef own = co_resolve(w, c, LLVMGetCondition(end));
    if (b->taken)
      own = l_not(w->b, own);
    all = all ? l_and(w->b, all, own) : own;
    if (decides_as_one(w, b))
      none = none ? l_and(w->b, none, l_not(w->b, own)) : l_not(w->b, own);
  }
  if (none)
    all = l_and(w->b, all, cg_nvptx_in_all(w->s->cg, w->b, l_or(w->b, all, none)));
  uint32_t next = b->in->succ[b->taken];
  co_add_edge(w, at, next, NULL);
  l_condbr(w->b, all, w->s->blocks[next].common, w->loop);
}

/* One branch for all copies; behind it the first copy whose condition fails stops. */
static void write_checks(CoWriter *w, uint32_t at) {
  const CoBlock *b = &w->s->blocks[at];
  LLVMValueRef condition = LLVMGetCondition(b->in->last), together = co_resolve(w, 0, condition);
  const CoIns *i = co_ins(w->s, condition);
  unsigned last = i && !i->once ? w->plan->factor - 1 : 0;
  LLVMBasicBlockRef next = w->s->blocks[b->in->succ[0]].common;
  for (unsigned c = 1; c <= last; c++)
    together = (stops_if_true(b) ? l_or : l_and)(w->b, together, co_resolve(w, c, condition));
  co_add_edge(w, at, b->in->succ[0], NULL);
  LLVMBasicBlockRef cold = last ? co_new_block(w, "failed") : write_stop(w, 0, b);
  write_check(w, b, together, next, cold);
  for (unsigned c = 0; c < last; c++) {
    LLVMPositionBuilderAtEnd(w->b, cold);
    LLVMBasicBlockRef stop = write_stop(w, c, b);
    cold = c + 1 < last ? co_new_block(w, "failed") : write_stop(w, last, b);
    bool first = stops_if_true(b);
    l_condbr(w->b, co_resolve(w, c, condition), first ? stop : cold, first ? cold : stop);
  }
}

/* The same branch as before; a loop's keeps its metadata. */
static void write_split(CoWriter *w, uint32_t at) {
  CoBlock *b = &w->s->blocks[at];
  LLVMValueRef end = w->s->ins.data[b->last - 1].old;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(w->b);
  for (uint32_t k = 0; k < b->in->nsucc; k++) {
    w->s->blocks[b->in->succ[k]].now[0] = w->s->blocks[b->in->succ[k]].common;
    co_add_edge(w, at, b->in->succ[k], NULL);
  }
  co_write_end(w, 0, b);
  unsigned kind = LLVMGetMDKindIDInContext(w->s->cg->context, "llvm.loop", 9);
  LLVMValueRef note = LLVMGetMetadata(end, kind);
  if (note)
    LLVMSetMetadata(LLVMGetBasicBlockTerminator(here), kind, note);
}

static void write_step(CoWriter *w, uint32_t at) {
  CoBlock *b = &w->s->blocks[at];
  LLVMPositionBuilderAtEnd(w->b, b->common);
  write_common_block(w, b);
  switch (b->kind) {
  case CO_GUARD: write_guard(w, at); break;
  case CO_ARMS: co_write_arms(w, at); break;
  case CO_CHECK: write_checks(w, at); break;
  case CO_END: l_ret_void(w->b); break;
  default: write_split(w, at); break;
  }
}

static void fill_edge(CoWriter *w, const CoEdge *e) {
  for (uint32_t k = e->to->first; k < e->to->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    const CoIns *i = &w->s->ins.data[k];
    for (unsigned c = 0; c < (i->once ? 1 : w->plan->factor); c++) {
      LLVMValueRef value = e->joined ? e->joined[(k - e->to->first) * w->plan->factor + c] : NULL;
      for (unsigned n = 0, all = LLVMCountIncoming(i->old); !value && n < all; n++)
        if (graph_number(&w->s->g, LLVMGetIncomingBlock(i->old, n)) == e->old)
          value = co_resolve(w, c, LLVMGetIncomingValue(i->old, n));
      LLVMBasicBlockRef from = e->from;
      assert(value);
      LLVMAddIncoming(i->now[c], &value, &from, 1);
    }
  }
}

static void write_path(CoWriter *w) {
  CoShape *s = w->s;
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind != CO_OFF_PATH)
      s->blocks[k].common = co_new_block(w, "together");
  l_br(w->b, s->blocks[0].common);
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind != CO_OFF_PATH)
      write_step(w, k);
  for (uint32_t k = 0; k < w->edges.len; k++)
    fill_edge(w, &w->edges.data[k]);
}

/* --- the loop --- */

/* If ptxas unrolled the loop, its iterations would need as many registers as the copies. */
static void forbid_unrolling(CoWriter *w, LLVMValueRef branch) {
  LLVMContextRef c = w->s->cg->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, "llvm.loop.unroll.disable", 24);
  LLVMMetadataRef tag = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef placeholder = LLVMTemporaryMDNode(c, NULL, 0), parts[] = {placeholder, tag};
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2);
  LLVMMetadataReplaceAllUsesWith(placeholder, id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

/* A barrier between two blocks: the next one reuses shared arrays that threads may still be
 * reading. */
static void write_barrier(CoWriter *w) {
  if (!w->s->shared.len || !w->s->meets)
    return;
  LLVMValueRef fn = cg_intrinsic_fn(w->s->cg, cg_llvm_barrier, NULL, 0), zero = number(w, 0);
  l_call(w->b, fn, &zero, 1);
}

/* blockIdx and threadIdx in iteration j. */
static void number_iteration(CoWriter *w, LLVMValueRef base, LLVMValueRef left, LLVMValueRef j) {
  unsigned c = w->plan->factor;
  w->block[c] = no_wrap(l_add(w->b, base, j));
  LLVMValueRef own = read_sreg(w, SREG_TID);
  w->thread[c] = own;
  if (!w->plan->threads)
    return;
  LLVMValueRef near = no_wrap(l_mul(w->b, own, number(w, c)));
  near = no_wrap(l_add(w->b, near, j));
  w->block[c] = l_select(w->b, left, w->block[c], base);
  w->thread[c] = l_select(w->b, left, own, near);
}

/* How many blocks of the launch this block runs, from *base on. Of what is left, each has one; of
 * straight code, it may be one that has all of it. */
static LLVMValueRef count_blocks(CoWriter *w, LLVMValueRef left, LLVMValueRef whole,
                                 LLVMValueRef *base) {
  LLVMValueRef blocks = read_sreg(w, SREG_NCTAID), one = number(w, 1), alone = left, rest = one;
  if (w->plan->in_row) {
    LLVMValueRef several = l_icmp(w->b, LLVMIntUGT, l_sub(w->b, blocks, whole), one);
    alone = l_and(w->b, left, several);
    rest = l_select(w->b, several, one, l_sub(w->b, w->logical, *base));
  }
  LLVMValueRef beyond = l_sub(w->b, w->logical, blocks), block = read_sreg(w, SREG_CTAID);
  *base = l_select(w->b, alone, l_add(w->b, block, beyond), *base);
  return l_select(w->b, left, rest, number(w, w->plan->factor));
}

/* base: the first of the launch's blocks that this block runs; left: these are of what is left, and
 * are run as blocks even if copies are neighbouring threads. */
static void write_loop(CoWriter *w, LLVMValueRef base, LLVMValueRef left, LLVMValueRef count) {
  unsigned c = w->plan->factor;
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(w->b), done = co_new_block(w, "done");
  LLVMBasicBlockRef head = co_new_block(w, "block");
  l_br(w->b, head);
  LLVMPositionBuilderAtEnd(w->b, head);
  LLVMValueRef j = l_phi(w->b, w->t->i32), zero = number(w, 0);
  LLVMAddIncoming(j, &zero, &entry, 1);
  number_iteration(w, base, left, j);
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    w->s->blocks[k].now[c] = co_new_block(w, "apart");
  l_br(w->b, w->s->blocks[0].now[c]);
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    co_write_block(w, c, &w->s->blocks[k], UINT64_MAX);
  LLVMPositionBuilderAtEnd(w->b, w->latch);
  write_barrier(w);
  LLVMValueRef next = no_wrap(l_add(w->b, j, number(w, 1)));
  LLVMAddIncoming(j, &next, &w->latch, 1);
  forbid_unrolling(w, l_condbr(w->b, l_icmp(w->b, LLVMIntULT, next, count), head, done));
  LLVMPositionBuilderAtEnd(w->b, done);
  l_ret_void(w->b);
}

/* --- the function --- */

static void add_attributes(CoWriter *w) {
  copy_attributes(&w->cx->arena, w->s->f, w->fn);
  uint64_t low = 1, high = 1ull << 31;
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddAttributeAtIndex(
      w->fn, w->s->nparams + 1,
      LLVMCreateConstantRangeAttribute(w->s->cg->context, kind, 32, &low, &high));
}

static void begin_function(CoWriter *w, const char *symbol) {
  unsigned n = w->s->nparams;
  LLVMTypeRef *types = CX_ARRAY(w->cx, LLVMTypeRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(LLVMGetParam(w->s->f, k));
  types[n] = w->t->i32;
  w->fn = LLVMAddFunction(w->s->cg->module, symbol, LLVMFunctionType(w->t->none, types, n + 1, 0));
  LLVMSetFunctionCallConv(w->fn, CG_LLVM_PTX_KERNEL);
  add_attributes(w);
  if (w->s->cg->coarse_scope)
    LLVMSetSubprogram(w->fn, w->s->cg->coarse_scope);
  w->logical = LLVMGetParam(w->fn, n);
}

/* The entry's own arrays: ptxas allocates an array with the functions that name it. */
static void add_arrays(CoWriter *w) {
  enum { ALIGN = 16 };
  for (uint32_t k = 0; k < w->s->shared.len; k++) {
    CoShared *a = &w->s->shared.data[k];
    unsigned align = LLVMGetAlignment(a->old);
    align = align > ALIGN ? align : ALIGN;
    a->stride = (a->bytes + align - 1) / align * align;
    size_t n;
    const char *name = LLVMGetValueName2(a->old, &n);
    name = arena_printf(&w->cx->arena, "%.*s" RT_COARSE_SUFFIX, (int)n, name);
    LLVMTypeRef type = LLVMArrayType2(w->t->i8, a->stride * (a->varies ? w->plan->factor : 1));
    a->now = LLVMAddGlobalInAddressSpace(w->s->cg->module, type, name, NVPTX_SHARED);
    LLVMSetInitializer(a->now, LLVMGetPoison(type));
    LLVMSetLinkage(a->now, LLVMInternalLinkage);
    LLVMSetAlignment(a->now, align);
  }
}

static void number_copies(CoWriter *w, LLVMValueRef base) {
  unsigned factor = w->plan->factor;
  LLVMValueRef thread = read_sreg(w, SREG_TID);
  if (w->plan->threads)
    thread = no_wrap(l_mul(w->b, thread, number(w, factor)));
  for (unsigned c = 0; c < factor; c++) {
    w->thread[c] = thread;
    w->block[c] = w->plan->linear || !c ? base : no_wrap(l_add(w->b, base, number(w, c)));
  }
}

static void close_phis(CoWriter *w) {
  for (uint32_t k = 0; k < w->open.len; k++) {
    const CoOpen *o = &w->open.data[k];
    fill_phi(w, o->i->now[o->copy], o->i, o->copy, o->from);
  }
}

void co_write(CoShape *s, const CoPlan *plan, const char *symbol) {
  CoWriter w = {.s = s, .plan = plan, .t = &s->cg->t, .cx = s->cg->cx};
  unsigned factor = plan->factor;
  w.bounded = co_bounded_arms(s, plan);
  assert(!s->reason && factor > 1 && factor <= CO_MAX_FACTOR && plan->axis < 3);
  w.b = LLVMCreateBuilderInContext(s->cg->context);
  unsigned registers = co_registers(s, plan);
  begin_function(&w, symbol);
  if (registers)
    cg_attribute_text(s->cg, w.fn, "nvvm.maxnreg", arena_printf(&w.cx->arena, "%u", registers));
  add_arrays(&w);
  LLVMBasicBlockRef entry = co_new_block(&w, "entry"), all = co_new_block(&w, "all");
  w.loop = co_new_block(&w, "loop");
  w.latch = co_new_block(&w, "next");
  LLVMPositionBuilderAtEnd(w.b, entry);
  LLVMValueRef block = read_sreg(&w, SREG_CTAID);
  LLVMValueRef base = no_wrap(l_mul(w.b, block, number(&w, factor)));
  LLVMValueRef whole = l_udiv(w.b, w.logical, number(&w, factor));
  LLVMValueRef left = l_icmp(w.b, LLVMIntUGE, block, whole);
  l_condbr(w.b, left, w.loop, all);
  LLVMPositionBuilderAtEnd(w.b, all);
  number_copies(&w, base);
  write_path(&w);
  LLVMPositionBuilderAtEnd(w.b, w.loop);
  LLVMValueRef count = count_blocks(&w, left, whole, &base);
  write_loop(&w, base, left, count);
  close_phis(&w);
  LLVMDisposeBuilder(w.b);
}
