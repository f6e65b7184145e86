/* Coarsening: what a kernel is made of, whether its blocks may be interleaved, and the way on which its copies go together. */
#include <string.h>

#include "codegen/coarsen.h"
#include "codegen/flow.h"

/* --- instructions --- */

static int sreg_of(LLVMValueRef call) {
  static const char prefix[] = "llvm.nvvm.read.ptx.sreg.";
  static const char *const names[] = {"tid.x",    "tid.y",    "tid.z",    "ctaid.x", "ctaid.y",
                                      "ctaid.z",  "ntid.x",   "ntid.y",   "ntid.z",  "nctaid.x",
                                      "nctaid.y", "nctaid.z", "laneid"};
  size_t n;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &n);
  if (strncmp(name, prefix, sizeof prefix - 1))
    return CO_NO_SREG;
  for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
    if (strcmp(name + sizeof prefix - 1, names[k]) == 0)
      return k;
  return CO_NO_SREG;
}

static LLVMAttributeRef attribute_of(LLVMValueRef fn, const char *name) {
  return LLVMGetEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* Only what computes a value from its operands, in each thread for itself. */
static const char *call_fault(CoShape *s, LLVMValueRef call) {
  LLVMValueRef fn = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(fn))
    return LLVMGetInlineAsmHasSideEffects(fn) ? "it has inline assembly with effects, or cache hints"
                                              : NULL;
  if (!LLVMIsAFunction(fn))
    return "it calls through a pointer";
  LLVMAttributeRef memory = attribute_of(fn, "memory");
  if (LLVMGetIntrinsicID(fn) && memory && LLVMGetEnumAttributeValue(memory) == 0 &&
      !attribute_of(fn, "convergent"))
    return NULL;
  size_t n;
  return arena_printf(&s->cg->cx->arena, "it calls %s", LLVMGetValueName2(fn, &n));
}

static bool is_relaxed(LLVMValueRef i) {
  if (LLVMGetVolatile(i))
    return false;
  return LLVMIsAAtomicRMWInst(i) ? LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic
                                 : LLVMGetCmpXchgSuccessOrdering(i) == LLVMAtomicOrderingMonotonic &&
                                       LLVMGetCmpXchgFailureOrdering(i) == LLVMAtomicOrderingMonotonic;
}

static const char ordered[] = "it has volatile or ordered accesses";

static const char *instruction_fault(CoShape *s, CoIns *i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i->old);
  switch (op) {
  case LLVMCall:
    i->sreg = sreg_of(i->old);
    return i->sreg == CO_NO_SREG ? call_fault(s, i->old) : NULL;
  case LLVMLoad: i->reads = true; return cg_is_plain_access(i->old) ? NULL : ordered;
  case LLVMStore: i->effects = true; return cg_is_plain_access(i->old) ? NULL : ordered;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg: i->effects = true; return is_relaxed(i->old) ? NULL : ordered;
  case LLVMAlloca: return "it has local memory";
  case LLVMUnreachable: return "a thread can stop inside";
  case LLVMRet:
  case LLVMBr:
  case LLVMSwitch:
  case LLVMPHI:
  case LLVMSelect:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMGetElementPtr:
  case LLVMExtractElement:
  case LLVMInsertElement:
  case LLVMShuffleVector:
  case LLVMExtractValue:
  case LLVMInsertValue:
  case LLVMFreeze:
  case LLVMFNeg: return NULL;
  default: break;
  }
  if (LLVMIsABinaryOperator(i->old) || LLVMIsACastInst(i->old))
    return NULL;
  return "it has an instruction that coarsening does not know";
}

/* --- sums: blockIdx * blockDim + threadIdx --- */

static LLVMValueRef peel(LLVMValueRef v) {
  while (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

static int peeled_sreg(const CoShape *s, LLVMValueRef v) {
  const CoIns *i = co_ins(s, peel(v));
  return i ? i->sreg : CO_NO_SREG;
}

static bool is_op(LLVMValueRef v, LLVMOpcode op) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}

/* 1 + axis of a product of blockIdx and blockDim, else 0. */
static unsigned product_axis(const CoShape *s, LLVMValueRef v) {
  v = peel(v);
  if (!is_op(v, LLVMMul))
    return 0;
  for (unsigned k = 0; k < 2; k++) {
    int a = peeled_sreg(s, LLVMGetOperand(v, k)), b = peeled_sreg(s, LLVMGetOperand(v, 1 - k));
    if (a >= SREG_CTAID && a <= SREG_CTAID_Z && b == a - SREG_CTAID + SREG_NTID)
      return (unsigned)(a - SREG_CTAID) + 1;
  }
  return 0;
}

/* As above of the sum, whose additions must be marked as exact: then it can be widened term by term. */
static unsigned sum_axis(const CoShape *s, LLVMValueRef v) {
  if (!is_op(v, LLVMAdd) || !LLVMGetNUW(v) || !LLVMGetNSW(v))
    return 0;
  for (unsigned k = 0; k < 2; k++) {
    unsigned axis = product_axis(s, LLVMGetOperand(v, k));
    if (axis && peeled_sreg(s, LLVMGetOperand(v, 1 - k)) == (int)axis - 1 + SREG_TID)
      return axis;
  }
  return 0;
}

static bool only_in_sums(const CoShape *s, LLVMValueRef v, unsigned axis) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    const CoIns *i = co_ins(s, by);
    if (i && i->axis == axis + 1)
      continue;
    bool passes = LLVMIsAZExtInst(by) || LLVMIsASExtInst(by) || product_axis(s, by) == axis + 1;
    if (!passes || !only_in_sums(s, by, axis))
      return false;
  }
  return true;
}

static bool all_in_sums(const CoShape *s, int sreg, unsigned axis) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].sreg == sreg && !only_in_sums(s, s->ins.data[k].old, axis))
      return false;
  return true;
}

bool co_reads_axis(const CoShape *s, unsigned axis) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].sreg == (int)(SREG_CTAID + axis))
      return true;
  return false;
}

bool co_is_linear(const CoShape *s, unsigned axis) {
  return all_in_sums(s, (int)(SREG_CTAID + axis), axis);
}

bool co_reads_thread(const CoShape *s, unsigned axis) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].sreg == SREG_LANEID)
      return true;
  return !all_in_sums(s, (int)(SREG_TID + axis), axis);
}

/* --- blocks --- */

/* Depth first: a block is put in front of all that follow it. false: a loop. */
static bool order(CoShape *s, LLVMBasicBlockRef b, ValueMap *state, CoBlock *all, uint32_t *room) {
  enum { OPEN, DONE };
  uint32_t now = valuemap_get(state, b);
  if (now != VALUEMAP_NONE)
    return now == DONE;
  valuemap_set(state, b, OPEN);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  for (unsigned k = LLVMGetNumSuccessors(end); k-- > 0;)
    if (!order(s, LLVMGetSuccessor(end, k), state, all, room))
      return false;
  valuemap_set(state, b, DONE);
  all[--*room].old = b;
  return true;
}

static const char *read_blocks(CoShape *s) {
  Cx *cx = s->cg->cx;
  uint32_t n = LLVMCountBasicBlocks(s->f), room = n;
  if (n > CO_MAX_BLOCKS)
    return "it has too many branches";
  CoBlock *all = CX_ARRAY(cx, CoBlock, n);
  ValueMap state = {.arena = &cx->arena};
  if (!order(s, LLVMGetEntryBasicBlock(s->f), &state, all, &room))
    return "it has a loop";
  s->blocks = all + room;
  s->nblocks = n - room;
  for (uint32_t k = 0; k < s->nblocks; k++)
    valuemap_set(&s->block_of, s->blocks[k].old, k);
  return NULL;
}

static const char *read_instructions(CoShape *s, uint32_t block) {
  CoBlock *b = &s->blocks[block];
  Arena *arena = &s->cg->cx->arena;
  b->first = s->ins.len;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b->old); i; i = LLVMGetNextInstruction(i)) {
    CoIns ins = {.old = i, .block = block, .sreg = CO_NO_SREG};
    const char *fault = instruction_fault(s, &ins);
    if (fault)
      return fault;
    if (s->ins.len == CO_MAX_INS)
      return "it is long";
    b->effects |= ins.effects;
    valuemap_set(&s->ins_of, i, s->ins.len);
    VEC_PUSH(arena, &s->ins, ins);
  }
  b->last = s->ins.len;
  return NULL;
}

static void read_successors(CoShape *s, CoBlock *b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b->old);
  b->nsucc = LLVMGetNumSuccessors(end);
  b->succ = CX_ARRAY(s->cg->cx, uint32_t, b->nsucc);
  b->post = b->nsucc ? UINT64_MAX : 0;
  unsigned rest = 0;
  for (uint32_t k = 0; k < b->nsucc; k++) {
    b->succ[k] = co_block(s, LLVMGetSuccessor(end, k));
    const CoBlock *next = &s->blocks[b->succ[k]];
    b->post &= next->post;
    rest = next->weight > rest ? next->weight : rest;
  }
  b->weight = b->last - b->first + rest;
  b->post |= (uint64_t)1 << (b - s->blocks);
}

/* --- the way --- */

/* The first block that every way from b passes behind it; b itself if there is none. */
static uint32_t meeting(const CoShape *s, uint32_t b) {
  uint64_t behind = s->blocks[b].post & ~((uint64_t)1 << b);
  for (uint32_t k = b + 1; k < s->nblocks; k++)
    if (behind >> k & 1)
      return k;
  return b;
}

/* Nothing but the end of the kernel. */
static bool is_end(const CoShape *s, uint32_t b) {
  const CoBlock *block = &s->blocks[b];
  LLVMValueRef i = block->nsucc ? NULL : s->ins.data[block->first].old;
  return i && LLVMIsAReturnInst(i);
}

/* Of a branch before anything was written: the way that most of the work is on. */
static unsigned heavier(const CoShape *s, const CoBlock *b) {
  unsigned best = 0;
  for (unsigned k = 1; k < b->nsucc; k++)
    if (s->blocks[b->succ[k]].weight > s->blocks[b->succ[best]].weight)
      best = k;
  return best;
}

/* Blocks that can be reached from one without passing the other. */
static uint64_t between(const CoShape *s, uint32_t from, uint32_t to) {
  uint64_t reached = (uint64_t)1 << from;
  for (uint32_t k = from; k < to; k++)
    for (uint32_t n = 0; reached >> k & 1 && n < s->blocks[k].nsucc; n++)
      reached |= (uint64_t)1 << s->blocks[k].succ[n];
  return reached & ~((uint64_t)1 << from | (uint64_t)1 << to);
}

static bool writes(const CoShape *s, uint64_t blocks) {
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (blocks >> k & 1 && s->blocks[k].effects)
      return true;
  return false;
}

static CoStep step_from(const CoShape *s, uint32_t at, bool written, uint32_t *next) {
  const CoBlock *b = &s->blocks[at];
  CoStep step = {.block = at, .kind = b->nsucc ? CO_JUMP : CO_END};
  *next = b->nsucc ? b->succ[0] : at;
  if (b->nsucc < 2)
    return step;
  uint32_t meet = meeting(s, at);
  step.kind = !written && is_end(s, meet) && b->nsucc == 2 ? CO_GUARD : CO_ARMS;
  step.taken = heavier(s, b);
  step.arms = step.kind == CO_ARMS ? between(s, at, meet) : 0;
  *next = step.kind == CO_GUARD ? b->succ[step.taken] : meet;
  return step;
}

static const char *find_way(CoShape *s) {
  bool written = false;
  for (uint32_t at = 0, next;; at = next) {
    written |= s->blocks[at].effects;
    CoStep step = step_from(s, at, written, &next);
    if (step.kind != CO_END && next == at)
      return "it ends in several places";
    written |= writes(s, step.arms);
    VEC_PUSH(&s->cg->cx->arena, &s->steps, step);
    if (step.kind == CO_END)
      return NULL;
  }
}

static const char *read_all(CoShape *s) {
  const Cg *cg = s->cg;
  if (cg->has_barrier || cg->meets_grid)
    return "its threads meet at barriers or in operations of a warp";
  if (cg->static_shared || cg->uses_dynamic_shared)
    return "it has shared memory";
  if (cg->has_trap)
    return "it has checks that can stop a thread";
  const char *fault = read_blocks(s);
  for (uint32_t k = 0; k < s->nblocks && !fault; k++)
    fault = read_instructions(s, k);
  if (fault)
    return fault;
  for (uint32_t k = s->nblocks; k-- > 0;)
    read_successors(s, &s->blocks[k]);
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].axis = sum_axis(s, s->ins.data[k].old);
  return find_way(s);
}

CoShape *co_shape(Cg *cg) {
  CoShape *s = CX_NEW(cg->cx, CoShape);
  s->cg = cg;
  s->f = cg->kernel;
  s->nparams = LLVMCountParams(s->f);
  s->ins_of.arena = s->block_of.arena = &cg->cx->arena;
  s->reason = read_all(s);
  return s;
}
