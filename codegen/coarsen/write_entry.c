/* Coarsening: writes the second entry.
 *
 *   entry      a block whose blocks all are in the launch's grid goes on, the last one may go to
 *              the loop
 *   guards     for each branch before anything is written: all copies' conditions at once; not all
 *              true: to the loop, from the beginning
 *   body       instruction by instruction, its copies one behind another; where ways part and meet
 *              again, copy by copy
 *   loop       the kernel as it was, block by block
 *
 * Copies are numbered; number `factor` is the one in the loop. What is the same in all copies is
 * written once. Phis get their values at the end, when those of loops are there too. */
#include <stdio.h>

#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/nvptx/nvptx.h"

/* A way to a block of the way. Its phis get what they had from the old block, or the values that
 * met in front of it. */
typedef struct Edge {
  const CoBlock *to;
  uint32_t old;
  LLVMBasicBlockRef from;
  LLVMValueRef *met; /* phi by phi, copy by copy; NULL: what the old block gives */
} Edge;

typedef struct Open { /* a phi without its values */
  const CoIns *i;
  unsigned copy;
  CoSet from;
} Open;

typedef struct Writer {
  CoShape *s;
  const CoPlan *plan;
  const CgTypes *t;
  Cx *cx;
  LLVMBuilderRef b;
  LLVMValueRef fn, logical; /* blocks of the launch on the axis */
  /* blockIdx, threadIdx on the axis */
  LLVMValueRef block[CO_MAX_FACTOR + 1], thread[CO_MAX_FACTOR + 1];
  LLVMBasicBlockRef loop, latch;
  VEC(Edge) edges; /* of the way */
  VEC(Open) open;  /* phis of single copies */
} Writer;

static LLVMValueRef number(const Writer *w, uint64_t n) { return l_int(w->t->i32, n); }
static LLVMBasicBlockRef new_block(Writer *w, const char *name) {
  return LLVMAppendBasicBlockInContext(w->s->cg->context, w->fn, name);
}

/* The register of the plan's axis. */
static LLVMValueRef read_sreg(Writer *w, SpecialReg of_x) {
  return w->s->cg->target->read_register(w->s->cg, w->b, ir_register_at(of_x, w->plan->axis));
}

/* Additions of numbers that a grid can have: none of them is beyond 2^31 - 1 but where the check
 * for that follows. */
static LLVMValueRef exact(LLVMValueRef v) {
  if (LLVMIsAInstruction(v)) {
    LLVMSetNUW(v, 1);
    LLVMSetNSW(v, 1);
  }
  return v;
}

/* --- values --- */

/* A copy's own array, or the one of all; a copy in the loop takes the first. */
static LLVMValueRef resolve_shared(const Writer *w, unsigned c, const CoShared *a) {
  bool own = a->varies && c && c < w->plan->factor;
  LLVMValueRef at = l_int(w->t->i64, c * a->stride);
  return own ? LLVMConstGEP2(w->t->i8, a->now, &at, 1) : a->now;
}

static LLVMValueRef resolve_constant(const Writer *w, unsigned c, LLVMValueRef old) {
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
  return LLVMIsAConstant(old) ? resolve_constant(w, c, old) : old;
}

/* The same line, in this function: locations name theirs, those of inlined code the place of the
 * call. */
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
  unsigned n = (unsigned)LLVMGetNumOperands(i->old);
  LLVMValueRef *operands = CX_ARRAY(w->cx, LLVMValueRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    operands[k] = resolve(w, c, LLVMGetOperand(i->old, k));
  LLVMValueRef copy = copy_ins(w->b, i->old, operands);
  LLVMInstructionSetDebugLoc(copy, line_here(w, LLVMInstructionGetDebugLoc(i->old)));
  return copy;
}

/* --- sums of a linear plan: all copies of its blockIdx and threadIdx are the first one's, but for
 * the loop's --- */

static bool is_sum(const Writer *w, const CoIns *i) {
  return w->plan->linear && i->axis == w->plan->axis + 1;
}

/* How far a copy's sum is from the one before. */
static LLVMValueRef sum_step(Writer *w, LLVMTypeRef type) {
  if (w->plan->threads)
    return l_int(type, 1);
  LLVMValueRef width = read_sreg(w, SREG_NTID);
  if (LLVMTypeOf(width) == type)
    return width;
  LLVMValueRef wide = l_zext(w->b, width, type);
  LLVMSetNNeg(wide, 1);
  return wide;
}

/* A sum of copy 0, from which the others follow by additions: so what they have in common is easily
 * seen. */
static void write_sum(Writer *w, CoIns *i) {
  LLVMValueRef step = sum_step(w, LLVMTypeOf(i->old));
  i->now[0] = cloned(w, 0, i);
  for (unsigned c = 1; c < w->plan->factor; c++)
    i->now[c] = exact(l_add(w->b, i->now[c - 1], step));
}

/* The sum of one copy, where it goes a way of its own. */
static LLVMValueRef copied_sum(Writer *w, unsigned c, const CoIns *i) {
  LLVMValueRef sum = cloned(w, c, i);
  if (!c || c == w->plan->factor)
    return sum;
  LLVMValueRef step = sum_step(w, LLVMTypeOf(sum));
  for (unsigned k = 0; k < c; k++)
    sum = exact(l_add(w->b, sum, step));
  return sum;
}

/* --- straight code --- */

static LLVMValueRef copied(Writer *w, unsigned c, const CoIns *i) {
  unsigned axis = w->plan->axis;
  if (i->sreg == ir_register_at(SREG_CTAID, axis))
    return w->block[c];
  if (i->sreg == ir_register_at(SREG_TID, axis))
    return w->thread[c];
  if (i->sreg == ir_register_at(SREG_NCTAID, axis))
    return w->logical;
  return is_sum(w, i) ? copied_sum(w, c, i) : cloned(w, c, i);
}

/* The array of an address that is the same in the arrays of all copies, else NULL. */
static const CoShared *same_place(const Writer *w, const CoIns *i) {
  const CoShared *a = LLVMIsAGetElementPtrInst(i->old) ? co_shared(w->s, i->old) : NULL;
  if (!a || !a->varies)
    return NULL;
  for (unsigned k = 1, n = (unsigned)LLVMGetNumOperands(i->old); k < n; k++) {
    const CoIns *of = co_ins(w->s, LLVMGetOperand(i->old, k));
    if (of && of->varies)
      return NULL;
  }
  const CoIns *base = co_ins(w->s, LLVMGetOperand(i->old, 0));
  return base && !same_place(w, base) ? NULL : a;
}

/* The copies' addresses, each a constant behind the first: so they cost an access's offset. */
static void write_place(Writer *w, CoIns *i, const CoShared *a) {
  i->now[0] = cloned(w, 0, i);
  for (unsigned c = 1; c < w->plan->factor; c++) {
    LLVMValueRef at = l_int(w->t->i64, c * a->stride);
    i->now[c] = l_gep_inbounds(w->b, w->t->i8, i->now[0], &at, 1);
  }
}

static void write_together(Writer *w, CoIns *i) {
  unsigned factor = w->plan->factor;
  const CoShared *a = same_place(w, i);
  if (a) {
    write_place(w, i, a);
    return;
  }
  if (is_sum(w, i)) {
    write_sum(w, i);
    return;
  }
  for (unsigned c = 0; c < factor; c++)
    i->now[c] = c && i->once ? i->now[0] : copied(w, c, i);
}

/* A phi of the way, without values. */
static void open_together(Writer *w, CoIns *i) {
  for (unsigned c = 0; c < w->plan->factor; c++)
    i->now[c] = c && i->once ? i->now[0] : l_phi(w->b, LLVMTypeOf(i->old));
}

static void write_block_together(Writer *w, const CoBlock *b) {
  for (uint32_t k = b->first; k + 1 < b->last; k++) {
    CoIns *i = &w->s->ins.data[k];
    if (LLVMIsAPHINode(i->old))
      open_together(w, i);
    else
      write_together(w, i);
  }
}

/* --- copies block by block --- */

static void fill_phi(Writer *w, LLVMValueRef phi, const CoIns *i, unsigned c, CoSet from) {
  for (unsigned n = 0, all = LLVMCountIncoming(i->old); n < all; n++) {
    uint32_t pred = graph_number(&w->s->g, LLVMGetIncomingBlock(i->old, n));
    if (!co_has(from, pred))
      continue;
    LLVMValueRef value = resolve(w, c, LLVMGetIncomingValue(i->old, n));
    LLVMAddIncoming(phi, &value, &w->s->blocks[pred].now[c], 1);
  }
}

/* Phis of a copy's block. from: blocks whose ends lead here in this copy. */
static void open_phis(Writer *w, unsigned c, const CoBlock *b, CoSet from) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    CoIns *i = &w->s->ins.data[k];
    i->now[c] = l_phi(w->b, LLVMTypeOf(i->old));
    Open o = {i, c, from};
    VEC_PUSH(&w->cx->arena, &w->open, o);
  }
}

/* Phis of the block where a copy's ways meet: of nothing but them. */
static void write_met(Writer *w, unsigned c, const CoBlock *b, CoSet from, LLVMValueRef *met) {
  for (uint32_t k = b->first; k < b->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    const CoIns *i = &w->s->ins.data[k];
    LLVMValueRef phi = l_phi(w->b, LLVMTypeOf(i->old));
    fill_phi(w, phi, i, c, from);
    met[(k - b->first) * w->plan->factor + c] = phi;
  }
}

static void write_end(Writer *w, unsigned c, const CoBlock *b) {
  LLVMValueRef end = w->s->ins.data[b->last - 1].old;
  LLVMBasicBlockRef to[2] = {w->latch, NULL};
  for (unsigned k = 0; k < b->in->nsucc && k < 2; k++)
    to[k] = w->s->blocks[b->in->succ[k]].now[c];
  if (LLVMIsASwitchInst(end)) {
    LLVMValueRef s = l_switch(w->b, resolve(w, c, LLVMGetOperand(end, 0)), to[0], b->in->nsucc);
    for (unsigned k = 1; k < b->in->nsucc; k++)
      LLVMAddCase(s, LLVMGetSwitchCaseValue(end, k), w->s->blocks[b->in->succ[k]].now[c]);
  } else if (b->in->nsucc == 2) {
    l_condbr(w->b, resolve(w, c, LLVMGetCondition(end)), to[0], to[1]);
  } else {
    l_br(w->b, to[0]);
  }
}

static void write_block(Writer *w, unsigned c, const CoBlock *b, CoSet from) {
  LLVMPositionBuilderAtEnd(w->b, b->now[c]);
  open_phis(w, c, b, from);
  for (uint32_t k = b->first; k + 1 < b->last; k++)
    if (!LLVMIsAPHINode(w->s->ins.data[k].old))
      w->s->ins.data[k].now[c] = copied(w, c, &w->s->ins.data[k]);
  write_end(w, c, b);
}

/* --- the way --- */

static void add_edge(Writer *w, uint32_t from, uint32_t to, LLVMValueRef *met) {
  Edge e = {&w->s->blocks[to], from, LLVMGetInsertBlock(w->b), met};
  VEC_PUSH(&w->cx->arena, &w->edges, e);
}

static void write_guard(Writer *w, uint32_t at) {
  const CoBlock *b = &w->s->blocks[at];
  LLVMValueRef end = w->s->ins.data[b->last - 1].old, all = NULL;
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMValueRef own = resolve(w, c, LLVMGetCondition(end));
    if (b->taken)
      own = l_not(w->b, own);
    all = all ? l_and(w->b, all, own) : own;
  }
  uint32_t next = b->in->succ[b->taken];
  add_edge(w, at, next, NULL);
  l_condbr(w->b, all, w->s->blocks[next].together, w->loop);
}

static void write_arms(Writer *w, uint32_t at) {
  CoShape *s = w->s;
  CoBlock *b = &s->blocks[at], *meet = &s->blocks[b->meet];
  CoSet from = b->arms | co_one(at); /* guards before the step have ruled the others out */
  LLVMValueRef *met = CX_ARRAY(w->cx, LLVMValueRef,
                               (size_t)(meet->last - meet->first) * w->plan->factor);
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMBasicBlockRef end = new_block(w, "met");
    b->now[c] = LLVMGetInsertBlock(w->b);
    meet->now[c] = end;
    for (uint32_t k = 0; k < s->nblocks; k++)
      if (co_has(b->arms, k))
        s->blocks[k].now[c] = new_block(w, "arm");
    write_end(w, c, b);
    for (uint32_t k = 0; k < s->nblocks; k++)
      if (co_has(b->arms, k))
        write_block(w, c, &s->blocks[k], from);
    LLVMPositionBuilderAtEnd(w->b, end);
    write_met(w, c, meet, from, met);
  }
  add_edge(w, at, b->meet, met);
  l_br(w->b, meet->together);
}

/* The same branch as before, and as a loop's with what LLVM knows of it. */
static void write_split(Writer *w, uint32_t at) {
  CoBlock *b = &w->s->blocks[at];
  LLVMValueRef end = w->s->ins.data[b->last - 1].old;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(w->b);
  for (uint32_t k = 0; k < b->in->nsucc; k++) {
    w->s->blocks[b->in->succ[k]].now[0] = w->s->blocks[b->in->succ[k]].together;
    add_edge(w, at, b->in->succ[k], NULL);
  }
  write_end(w, 0, b);
  unsigned kind = LLVMGetMDKindIDInContext(w->s->cg->context, "llvm.loop", 9);
  LLVMValueRef note = LLVMGetMetadata(end, kind);
  if (note)
    LLVMSetMetadata(LLVMGetBasicBlockTerminator(here), kind, note);
}

static void write_step(Writer *w, uint32_t at) {
  CoBlock *b = &w->s->blocks[at];
  LLVMPositionBuilderAtEnd(w->b, b->together);
  write_block_together(w, b);
  switch (b->kind) {
  case CO_GUARD: write_guard(w, at); break;
  case CO_ARMS: write_arms(w, at); break;
  case CO_END: l_ret_void(w->b); break;
  default: write_split(w, at); break;
  }
}

static void fill_edge(Writer *w, const Edge *e) {
  for (uint32_t k = e->to->first; k < e->to->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++) {
    const CoIns *i = &w->s->ins.data[k];
    for (unsigned c = 0; c < (i->once ? 1 : w->plan->factor); c++) {
      LLVMValueRef value = e->met ? e->met[(k - e->to->first) * w->plan->factor + c] : NULL;
      for (unsigned n = 0, all = LLVMCountIncoming(i->old); !value && n < all; n++)
        if (graph_number(&w->s->g, LLVMGetIncomingBlock(i->old, n)) == e->old)
          value = resolve(w, c, LLVMGetIncomingValue(i->old, n));
      LLVMBasicBlockRef from = e->from;
      LLVMAddIncoming(i->now[c], &value, &from, 1);
    }
  }
}

static void write_way(Writer *w) {
  CoShape *s = w->s;
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind != CO_APART)
      s->blocks[k].together = new_block(w, "together");
  l_br(w->b, s->blocks[0].together);
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind != CO_APART)
      write_step(w, k);
  for (uint32_t k = 0; k < w->edges.len; k++)
    fill_edge(w, &w->edges.data[k]);
}

/* --- the loop --- */

/* Else ptxas unrolls it, and with it the register count is that of the copies taken in any
 * order. */
static void never_unrolled(Writer *w, LLVMValueRef branch) {
  LLVMContextRef c = w->s->cg->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, "llvm.loop.unroll.disable", 24);
  LLVMMetadataRef tag = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef placeholder = LLVMTemporaryMDNode(c, NULL, 0), parts[] = {placeholder, tag};
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2);
  LLVMMetadataReplaceAllUsesWith(placeholder, id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

/* The next block begins with the arrays that threads of this one may still read. */
static void write_pause(Writer *w) {
  if (!w->s->shared.len || !w->s->meets)
    return;
  LLVMValueRef fn = cg_intrinsic_fn(w->s->cg, cg_llvm_barrier, NULL, 0), zero = number(w, 0);
  l_call(w->b, fn, &zero, 1);
}

/* j: number of the round. */
static void number_round(Writer *w, LLVMValueRef base, LLVMValueRef apart, LLVMValueRef j) {
  unsigned c = w->plan->factor;
  w->block[c] = exact(l_add(w->b, base, j));
  LLVMValueRef own = read_sreg(w, SREG_TID);
  w->thread[c] = own;
  if (!w->plan->threads)
    return;
  LLVMValueRef near = exact(l_mul(w->b, own, number(w, c)));
  near = exact(l_add(w->b, near, j));
  w->block[c] = l_select(w->b, apart, w->block[c], base);
  w->thread[c] = l_select(w->b, apart, own, near);
}

/* count: how many blocks this one has; apart: not all of the factor's are there. */
static void write_loop(Writer *w, LLVMValueRef base, LLVMValueRef apart, LLVMValueRef count) {
  unsigned c = w->plan->factor;
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(w->b), done = new_block(w, "done");
  LLVMBasicBlockRef head = new_block(w, "block");
  l_br(w->b, head);
  LLVMPositionBuilderAtEnd(w->b, head);
  LLVMValueRef j = l_phi(w->b, w->t->i32), zero = number(w, 0);
  LLVMAddIncoming(j, &zero, &entry, 1);
  number_round(w, base, apart, j);
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    w->s->blocks[k].now[c] = new_block(w, "apart");
  l_br(w->b, w->s->blocks[0].now[c]);
  for (uint32_t k = 0; k < w->s->nblocks; k++)
    write_block(w, c, &w->s->blocks[k], UINT64_MAX);
  LLVMPositionBuilderAtEnd(w->b, w->latch);
  write_pause(w);
  LLVMValueRef next = exact(l_add(w->b, j, number(w, 1)));
  LLVMAddIncoming(j, &next, &w->latch, 1);
  never_unrolled(w, l_condbr(w->b, l_icmp(w->b, LLVMIntULT, next, count), head, done));
  LLVMPositionBuilderAtEnd(w->b, done);
  l_ret_void(w->b);
}

/* --- the function --- */

static void copy_attributes(Writer *w) {
  for (unsigned k = 0; k <= w->s->nparams; k++) {
    LLVMAttributeIndex at = k < w->s->nparams ? k + 1 : L_FUNCTION;
    unsigned n = LLVMGetAttributeCountAtIndex(w->s->f, at);
    LLVMAttributeRef *all = CX_ARRAY(w->cx, LLVMAttributeRef, n);
    LLVMGetAttributesAtIndex(w->s->f, at, all);
    for (unsigned a = 0; a < n; a++)
      LLVMAddAttributeAtIndex(w->fn, at, all[a]);
  }
  uint64_t low = 1, high = 1ull << 31;
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddAttributeAtIndex(
      w->fn, w->s->nparams + 1,
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

/* Arrays of this entry's own: what only one function names is laid out with it. */
static void add_arrays(Writer *w) {
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

static void number_copies(Writer *w, LLVMValueRef base) {
  unsigned factor = w->plan->factor;
  LLVMValueRef thread = read_sreg(w, SREG_TID);
  if (w->plan->threads)
    thread = exact(l_mul(w->b, thread, number(w, factor)));
  for (unsigned c = 0; c < factor; c++) {
    w->thread[c] = thread;
    w->block[c] = w->plan->linear || !c ? base : exact(l_add(w->b, base, number(w, c)));
  }
}

static void close_phis(Writer *w) {
  for (uint32_t k = 0; k < w->open.len; k++) {
    const Open *o = &w->open.data[k];
    fill_phi(w, o->i->now[o->copy], o->i, o->copy, o->from);
  }
}

void co_write(CoShape *s, const CoPlan *plan, const char *symbol) {
  Writer w = {.s = s, .plan = plan, .t = &s->cg->t, .cx = s->cg->cx};
  unsigned factor = plan->factor;
  w.b = LLVMCreateBuilderInContext(s->cg->context);
  begin_function(&w, symbol);
  add_arrays(&w);
  LLVMBasicBlockRef entry = new_block(&w, "entry"), all = new_block(&w, "all");
  w.loop = new_block(&w, "loop");
  w.latch = new_block(&w, "next");
  LLVMPositionBuilderAtEnd(w.b, entry);
  LLVMValueRef base = exact(l_mul(w.b, read_sreg(&w, SREG_CTAID), number(&w, factor)));
  LLVMValueRef left = exact(l_sub(w.b, w.logical, base));
  LLVMValueRef apart = l_icmp(w.b, LLVMIntULT, left, number(&w, factor));
  l_condbr(w.b, apart, w.loop, all);
  LLVMPositionBuilderAtEnd(w.b, all);
  number_copies(&w, base);
  write_way(&w);
  LLVMPositionBuilderAtEnd(w.b, w.loop);
  LLVMValueRef count = l_select(w.b, apart, left, number(&w, factor));
  write_loop(&w, base, apart, count);
  close_phis(&w);
  LLVMDisposeBuilder(w.b);
}
