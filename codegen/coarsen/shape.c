/* Coarsening: legality. What a kernel consists of, and whether its blocks may be interleaved at
 * all.
 *
 * In: the kernel after LLVM's passes. Out: a CoShape, with a reason if the kernel is refused.
 *
 * Blocks of a launch are independent, so a kernel's instructions and those of its neighbours may
 * alternate in any way that keeps each block's own order; no alias analysis is needed. What is
 * refused is whatever this argument does not cover. Each instruction must be known: arithmetic on
 * its operands, plain or relaxed accesses, branches, barriers of the block and warp operations.
 * Fences, ordered or volatile accesses and printing fix an order with the outside; an instruction
 * that is not listed is refused too. What a thread does when it stops with an exception is no part
 * of the shape: a branch to it is a check, and no branch (CoBlock.in->trap). Arrays in
 * shared memory must be named in every access, since each copy gets its own: an address that is
 * computed, selected or passed on hides which array it belongs to. Loops must be reducible.
 *
 * Sums blockIdx * blockDim + threadIdx are recognised here (llvm/match.c), and blocks weighed. What
 * depends on a plan (which values vary from copy to copy, whether a branch diverges) is not decided
 * here but in common_path.c; whether coarsening pays, in cost.c. */
#include <assert.h>
#include <string.h>

#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* --- instructions --- */

static LLVMAttributeRef attribute_of(LLVMValueRef fn, const char *name) {
  return LLVMGetEnumAttributeAtIndex(fn, L_FUNCTION,
                                     LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* Do threads of a block synchronise in it, with an effect on no memory but the block's own? */
static bool is_meeting(const char *name, bool *barrier) {
  static const char *const prefixes[] = {"llvm.nvvm.shfl.sync.", "llvm.nvvm.vote.",
                                         "llvm.nvvm.match.", "llvm.nvvm.redux.sync.",
                                         "llvm.nvvm.bar.warp.sync"};
  static const char *const barriers[] = {cg_llvm_barrier, cg_llvm_barrier_red_and,
                                         cg_llvm_barrier_red_or, cg_llvm_barrier_red_popc};
  for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
    if (strncmp(name, prefixes[k], strlen(prefixes[k])) == 0)
      return true;
  for (size_t k = 0; k < sizeof barriers / sizeof *barriers; k++)
    if (strcmp(name, barriers[k]) == 0)
      return *barrier = true;
  return false;
}

/* Allowed are calls that compute a value from their operands, in each thread by itself, barriers of
 * the block and warp operations. */
static const char *call_fault(CoShape *s, CoIns *i) {
  LLVMValueRef call = i->old, fn = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(fn))
    return LLVMGetInlineAsmHasSideEffects(fn)
               ? "it has inline assembly with effects, or cache hints"
               : NULL;
  if (!LLVMIsAFunction(fn))
    return "it calls through a pointer";
  LLVMAttributeRef memory = attribute_of(fn, "memory");
  if (LLVMGetIntrinsicID(fn) && memory && LLVMGetEnumAttributeValue(memory) == 0 &&
      !attribute_of(fn, "convergent"))
    return NULL;
  size_t n;
  const char *name = LLVMGetValueName2(fn, &n);
  i->meets = is_meeting(name, &i->barrier);
  return i->meets ? NULL : arena_printf(&s->cg->cx->arena, "it calls %s", name);
}

static bool is_relaxed(LLVMValueRef i) {
  if (LLVMGetVolatile(i))
    return false;
  return LLVMIsAAtomicRMWInst(i)
             ? LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic
             : LLVMGetCmpXchgSuccessOrdering(i) == LLVMAtomicOrderingMonotonic &&
                   LLVMGetCmpXchgFailureOrdering(i) == LLVMAtomicOrderingMonotonic;
}

static const char ordered[] = "it has volatile or ordered accesses";

static const char *instruction_fault(CoShape *s, CoIns *i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i->old);
  switch (op) {
  case LLVMCall:
    i->sreg = s->cg->target->register_of(i->old);
    return i->sreg == SREG_NONE ? call_fault(s, i) : NULL;
  case LLVMLoad: i->reads = true; return cg_is_plain_access(i->old) ? NULL : ordered;
  case LLVMStore: i->effects = true; return cg_is_plain_access(i->old) ? NULL : ordered;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg: i->effects = true; return is_relaxed(i->old) ? NULL : ordered;
  case LLVMAlloca: return "it has local memory";
  case LLVMRet:
  CG_CASE_BRANCH:
  case LLVMSwitch:
  case LLVMUnreachable: return NULL; /* end_fault has looked at them */
  default:
    return cg_only_computes(i->old) ? NULL : "it has an instruction that coarsening does not know";
  }
}

/* --- shared memory --- */

static LLVMValueRef base_of(LLVMValueRef p) {
  while (LLVMIsAGetElementPtrInst(p) ||
         (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr))
    p = LLVMGetOperand(p, 0);
  return p;
}

CoShared *co_shared(const CoShape *s, LLVMValueRef address) {
  uint32_t n = valuemap_get(&s->shared_of, base_of(address));
  return n == VALUEMAP_NONE ? NULL : &s->shared.data[n];
}

static bool is_shared_pointer(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(t) == NVPTX_SHARED;
}

/* Is a shared array's address part of a constant expression that is no element of the array? */
static bool hides_shared(LLVMValueRef v) {
  if (!LLVMIsAConstantExpr(v))
    return false;
  bool element = LLVMGetConstOpcode(v) == LLVMGetElementPtr;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++) {
    LLVMValueRef of = LLVMGetOperand(v, k);
    if (hides_shared(of) || (is_shared_pointer(of) && !(element && k == 0)))
      return true;
  }
  return false;
}

static unsigned address_operand(LLVMValueRef i) { return LLVMIsAStoreInst(i) ? 1 : 0; }

static bool is_access(LLVMValueRef i) {
  return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
         LLVMIsAAtomicCmpXchgInst(i);
}

static uint32_t shared_number(CoShape *s, LLVMValueRef array) {
  uint32_t n = valuemap_get(&s->shared_of, array);
  if (n != VALUEMAP_NONE)
    return n;
  CoShared a = {.old = array,
                .bytes = LLVMABISizeOfType(s->cg->layout, LLVMGlobalGetValueType(array))};
  valuemap_set(&s->shared_of, array, s->shared.len);
  VEC_PUSH(&s->cg->cx->arena, &s->shared, a);
  return s->shared.len - 1;
}

/* The array of each access must be known: no address in shared memory is computed with, selected,
 * stored or passed on. */
static const char *shared_fault(CoShape *s, CoIns *i) {
  static const char text[] = "it computes with addresses of shared memory";
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i->old); k < n; k++) {
    LLVMValueRef v = LLVMGetOperand(i->old, k);
    if (hides_shared(v))
      return text;
    if (!is_shared_pointer(v))
      continue;
    bool accesses = is_access(i->old);
    if (accesses ? k != address_operand(i->old) : !LLVMIsAGetElementPtrInst(i->old) || k)
      return text;
    LLVMValueRef base = base_of(v);
    if (!LLVMIsAGlobalVariable(base))
      return text;
    uint32_t number = shared_number(s, base);
    i->shared = accesses ? number + 1 : 0;
  }
  return NULL;
}

/* --- sums: blockIdx * blockDim + threadIdx --- */

static int register_of(const void *shape, LLVMValueRef v) {
  const CoIns *i = co_ins(shape, v);
  return i ? (int)i->sreg : (int)SREG_NONE;
}

static Registers registers_of(const CoShape *s) { return (Registers){register_of, s, true}; }

static bool all_in_sums(const CoShape *s, SpecialReg sreg, unsigned axis) {
  Registers r = registers_of(s);
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].sreg == sreg && !match_only_in_sums(&r, s->ins.data[k].old, axis))
      return false;
  return true;
}

bool co_reads_axis(const CoShape *s, unsigned axis) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].sreg == ir_register_at(SREG_CTAID, axis))
      return true;
  return false;
}

bool co_is_linear(const CoShape *s, unsigned axis) {
  return all_in_sums(s, ir_register_at(SREG_CTAID, axis), axis);
}

bool co_reads_thread(const CoShape *s, unsigned axis) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (co_differs_in(&s->ins.data[k], SCOPE_LANE))
      return true;
  return !all_in_sums(s, ir_register_at(SREG_TID, axis), axis);
}

/* --- blocks --- */

static const char stops[] = "a thread can stop inside";

/* Is this all that the way to a trap consists of: the call, and what its arguments are computed
 * with? */
static bool is_plain_stop(LLVMBasicBlockRef block) {
  while (block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
      if (!LLVMIsATerminatorInst(i) && !LLVMIsAPHINode(i) && !cg_only_computes(i) &&
          !cg_is_call_of(i, NVPTX_TRAP_NAME))
        return false;
    block = graph_next(block);
  }
  return true;
}

/* A block's end: a thread may stop only by a branch with one other side. */
static const char *end_fault(const CoBlock *b) {
  LLVMValueRef end = b->in->last;
  bool check = cg_llvm_is_branch(end) && b->in->nsucc == 1 && co_checks(b);
  if (co_checks(b))
    return check && is_plain_stop(b->in->trap) ? NULL : stops;
  return LLVMIsAUnreachableInst(end) ? stops : NULL;
}

static const char *read_blocks(CoShape *s) {
  Cx *cx = s->cg->cx;
  enum { LONG_ENOUGH = 300 };
  static const char branchy[] = "it has too many branches";
  if (s->cg->whole_code > LONG_ENOUGH)
    return "its loops over local arrays are unrolled, and one copy is long enough";
  bool checks = LLVMGetNamedFunction(s->cg->module, NVPTX_TRAP_NAME) != NULL;
  if (LLVMCountBasicBlocks(s->f) > CO_MAX_BLOCKS * (checks ? 2 : 1))
    return branchy;
  s->g = graph_of(&cx->arena, s->f, &(GraphHow){.near_first = true, .checks = checks});
  s->nblocks = s->g.len;
  s->blocks = CX_ARRAY(cx, CoBlock, s->nblocks);
  if (!s->nblocks || s->nblocks > CO_MAX_BLOCKS) /* a CoSet has a bit for each */
    return s->nblocks ? branchy : stops;
  const char *fault = NULL;
  for (uint32_t k = 0; k < s->nblocks && !fault; k++) {
    s->blocks[k].in = &s->g.nodes[k];
    fault = end_fault(&s->blocks[k]);
  }
  return fault;
}

static bool is_assumption(LLVMValueRef i) {
  size_t n;
  return LLVMIsACallInst(i) &&
         strcmp(LLVMGetValueName2(LLVMGetCalledValue(i), &n), "llvm.assume") == 0;
}

static const char *read_instructions(CoShape *s, uint32_t block, uint32_t most) {
  CoBlock *b = &s->blocks[block];
  Arena *arena = &s->cg->cx->arena;
  b->first = s->ins.len;
  for (LLVMValueRef i = b->in->first; i; i = LLVMGetNextInstruction(i)) {
    CoIns ins = {.old = i, .block = block, .sreg = SREG_NONE};
    if (is_assumption(i)) /* LLVM has made use of it */
      continue;
    const char *fault = instruction_fault(s, &ins);
    if (!fault)
      fault = shared_fault(s, &ins);
    if (fault)
      return fault;
    if (s->ins.len == most)
      return "it is long";
    b->effects |= ins.effects;
    b->meets |= ins.meets;
    b->barrier |= ins.barrier;
    valuemap_set(&s->ins_of, i, s->ins.len);
    VEC_PUSH(arena, &s->ins, ins);
  }
  b->last = s->ins.len;
  s->meets |= b->meets;
  return NULL;
}

/* --- loops --- */

static const char *find_loops(CoShape *s) {
  graph_loops(&s->g);
  graph_post_dominators(&s->g);
  if (s->g.irreducible)
    return "it has a loop with several entries";
  s->loops = s->g.loops.len > 0;
  for (uint32_t k = 0; k < s->g.loops.len; k++) {
    const GraphLoop *l = &s->g.loops.data[k];
    for (uint32_t n = 0; n < l->nnodes; n++)
      s->blocks[l->header].loop |= co_one(l->nodes[n]);
  }
  return NULL;
}

/* An iteration of a loop counts eight times. */
static void weigh(CoShape *s) {
  enum { ROUNDS_SHIFT = 3, MOST_DEPTH = 4 };
  for (uint32_t k = s->nblocks; k-- > 0;) {
    CoBlock *b = &s->blocks[k];
    unsigned rest = 0, depth = b->in->depth < MOST_DEPTH ? b->in->depth : MOST_DEPTH;
    for (uint32_t e = 0; e < b->in->nsucc; e++) {
      const CoBlock *next = &s->blocks[b->in->succ[e]];
      rest = b->in->succ[e] > k && next->weight > rest ? next->weight : rest;
    }
    b->weight = ((b->last - b->first) << (ROUNDS_SHIFT * depth)) + rest;
  }
}

static const char *read_all(CoShape *s, uint32_t most) {
  const Cg *cg = s->cg;
  if (cg->meets_grid)
    return "its threads synchronise at barriers or in warp operations";
  if (cg->uses_dynamic_shared)
    return "it has shared memory";
  const char *fault = read_blocks(s);
  for (uint32_t k = 0; k < s->nblocks && !fault; k++)
    fault = read_instructions(s, k, most);
  if (fault)
    return fault;
  fault = find_loops(s);
  if (fault)
    return fault;
  weigh(s);
  Registers r = registers_of(s);
  for (uint32_t k = 0; k < s->ins.len; k++)
    s->ins.data[k].axis = match_global_index(&r, s->ins.data[k].old);
  return s->meets ? co_threads(s) : NULL;
}

CoShape *co_shape(Cg *cg, uint32_t most) {
  CoShape *s = CX_NEW(cg->cx, CoShape);
  assert(cg->kernel && !LLVMIsDeclaration(cg->kernel));
  s->cg = cg;
  s->f = cg->kernel;
  s->nparams = LLVMCountParams(s->f);
  s->ins_of.arena = s->shared_of.arena = &cg->cx->arena;
  s->reason = read_all(s, most);
  return s;
}
