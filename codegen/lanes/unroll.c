/* Lanes: full unrolling of loops with meetings whose trip count is a small constant. See lanes.h.
 *
 * In a reduction's or a scan's `while half > 0`, `half` is then a constant in each segment. So
 * whether a thread takes part is decided for whole vectors, accesses at a distance of `half` are
 * contiguous, and no variable of the loop lives across its barriers, in frames.
 *
 * The trip count is found by evaluation: the header's integer phis start with constants, and their
 * values are computed iteration by iteration until the exit is taken, which finds what scalar
 * evolution does not (half //= 2). So are those of inner loops, which may depend on the outer one's
 * (the steps of a bitonic network): after a nest's outer loop its inner loops are unrolled. Loops
 * that are too long stay as they are. The unrolling itself is LLVM's. */

#include <assert.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"

enum {
  MOST_TRIPS = 12,
  MOST_BARRIERS = 16,      /* of the unrolled loop, each of which ends a segment */
  WARPS_IN_BARRIER = 2,    /* warp operations, which mostly are lanes', that count as one */
  MOST_INSTRUCTIONS = 900, /* of the unrolled loop */
  DEEPEST = 12             /* operands of operands that are evaluated */
};

/* --- evaluation --- */

/* The header's integer phis whose values are known, and these values in one iteration. */
typedef struct Iteration {
  Lanes *l;
  struct Iteration *around; /* of the loop around it that is unrolled, too; NULL: of none */
  const LaneLoop *loop;
  VEC(LLVMValueRef) phis;
  VEC(uint64_t) now, next;
  VEC(bool) known;
} Iteration;

static unsigned bits_of(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  unsigned n = LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
  return n <= 64 ? n : 0;
}

static uint64_t truncated(uint64_t v, unsigned bits) {
  return bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v;
}
static int64_t extended(uint64_t v, unsigned bits) {
  return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static bool binary(LLVMOpcode op, uint64_t x, uint64_t y, unsigned bits, uint64_t *v) {
  bool shift = op == LLVMShl || op == LLVMLShr || op == LLVMAShr;
  if (shift && y >= bits)
    return false;
  switch (op) {
  case LLVMAdd: *v = x + y; return true;
  case LLVMSub: *v = x - y; return true;
  case LLVMMul: *v = x * y; return true;
  case LLVMAnd: *v = x & y; return true;
  case LLVMOr: *v = x | y; return true;
  case LLVMXor: *v = x ^ y; return true;
  case LLVMShl: *v = x << y; return true;
  case LLVMLShr: *v = x >> y; return true;
  case LLVMAShr: *v = (uint64_t)(extended(x, bits) >> y); return true;
  case LLVMUDiv: *v = y ? x / y : 0; return y != 0;
  case LLVMURem: *v = y ? x % y : 0; return y != 0;
  default: return false;
  }
}

/* The value of v in this iteration; false if it is not known. */
static bool evaluate(Iteration *t, LLVMValueRef v, int depth, uint64_t *result) {
  unsigned bits = bits_of(v);
  if (!bits || depth > DEEPEST)
    return false;
  if (LLVMIsAConstantInt(v)) {
    *result = LLVMConstIntGetZExtValue(v);
    return true;
  }
  for (Iteration *of = t; of; of = of->around)
    for (uint32_t k = 0; k < of->phis.len; k++)
      if (of->phis.data[k] == v) {
        *result = of->now.data[k];
        return true;
      }
  if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || LLVMGetNumOperands(v) == 0)
    return false;
  uint64_t x, y, z;
  if (LLVMIsASelectInst(v))
    return evaluate(t, LLVMGetOperand(v, 0), depth + 1, &x) &&
           evaluate(t, LLVMGetOperand(v, x ? 1 : 2), depth + 1, result);
  if (!evaluate(t, LLVMGetOperand(v, 0), depth + 1, &x))
    return false;
  unsigned from = bits_of(LLVMGetOperand(v, 0));
  if (LLVMIsAZExtInst(v) || LLVMIsATruncInst(v) || LLVMIsASExtInst(v)) {
    *result = truncated(LLVMIsASExtInst(v) ? (uint64_t)extended(x, from) : x, bits);
    return true;
  }
  if (LLVMGetNumOperands(v) != 2 || !evaluate(t, LLVMGetOperand(v, 1), depth + 1, &y))
    return false;
  if (LLVMIsAICmpInst(v)) {
    *result = cg_compares(LLVMGetICmpPredicate(v), extended(x, from), extended(y, from));
    return true;
  }
  if (!binary(LLVMGetInstructionOpcode(v), x, y, bits, &z))
    return false;
  *result = truncated(z, bits);
  return true;
}

/* --- the trip count --- */

/* The phis that begin with a constant, or what is one in this iteration of the loop around. */
static void begin_iterations(Iteration *t) {
  Lanes *l = t->l;
  LLVMBasicBlockRef latch = l->blocks[t->loop->latch].in->block;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[t->loop->in->header].in->block);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef first = LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == latch);
    uint64_t value;
    if (!bits_of(phi) || !first || !evaluate(t, first, 0, &value))
      continue;
    VEC_PUSH(l->arena, &t->phis, phi);
    VEC_PUSH(l->arena, &t->now, value);
    VEC_PUSH(l->arena, &t->next, 0);
    VEC_PUSH(l->arena, &t->known, true);
  }
}

/* Drops the phis whose value in the next iteration is not known. */
static void next_iteration(Iteration *t) {
  LLVMBasicBlockRef latch = t->l->blocks[t->loop->latch].in->block;
  uint32_t known = 0;
  assert(t->phis.len <= t->now.len);
  for (uint32_t k = 0; k < t->phis.len; k++)
    t->known.data[k] = evaluate(t, graph_incoming(t->phis.data[k], latch), 0, &t->next.data[k]);
  for (uint32_t k = 0; k < t->phis.len; k++)
    if (t->known.data[k]) {
      t->phis.data[known] = t->phis.data[k];
      t->now.data[known++] = t->next.data[k];
    }
  t->phis.len = known;
}

/* The block with the loop's only exit, checks not counted; GRAPH_NONE: there are none or several,
 * or it is neither the header nor the latch. */
static uint32_t find_exit(const Lanes *l, const LaneLoop *loop) {
  uint32_t found = GRAPH_NONE;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (uint32_t s = 0; ln_in_set(&loop->blocks, k) && s < l->blocks[k].in->nsucc; s++)
      if (!ln_in_set(&loop->blocks, l->blocks[k].in->succ[s])) {
        if (found != GRAPH_NONE)
          return GRAPH_NONE;
        found = k;
      }
  return found == loop->in->header || found == loop->latch ? found : GRAPH_NONE;
}

/* --- loops --- */

/* What an unrolled loop is made of: meetings of warps, of which a barrier counts as two. */
typedef struct Length {
  unsigned meetings, instructions;
} Length;

static bool is_longest(const Length *n) {
  return n->meetings > WARPS_IN_BARRIER * MOST_BARRIERS || n->instructions > MOST_INSTRUCTIONS;
}

/* Of one iteration, without inner loops that have meetings. */
static Length length_of_body(Lanes *l, const LaneLoop *loop) {
  Length n = {0};
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block);
         ln_in_set(&loop->blocks, k) && i; i = LLVMGetNextInstruction(i)) {
      bool own = &l->loops.data[l->blocks[k].in->loop] == loop;
      n.instructions++;
      if (own && (cg_is_block_barrier(i) || cg_is_meeting(i)))
        n.meetings += cg_is_block_barrier(i) ? WARPS_IN_BARRIER : 1;
    }
  return n;
}

static bool meets(Lanes *l, const LaneLoop *loop) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block);
         ln_in_set(&loop->blocks, k) && i; i = LLVMGetNextInstruction(i))
      if (cg_is_block_barrier(i) || cg_is_meeting(i))
        return true;
  return false;
}

static bool add_iterations(Lanes *l, const LaneLoop *loop, Iteration *around, Length *n);

static bool add_inner(Lanes *l, const LaneLoop *loop, Iteration *t, Length *n) {
  for (uint32_t k = 0; k < l->loops.len; k++) {
    const LaneLoop *inner = &l->loops.data[k];
    if (inner->in->parent != GRAPH_NONE && &l->loops.data[inner->in->parent] == loop &&
        meets(l, inner) && !add_iterations(l, inner, t, n))
      return false;
  }
  return true;
}

/* Adds all iterations to *n; false: how many there are is not known, or they are too long. */
static bool add_iterations(Lanes *l, const LaneLoop *loop, Iteration *around, Length *n) {
  uint32_t exit = find_exit(l, loop);
  if (exit == GRAPH_NONE || l->blocks[exit].in->nsucc != 2)
    return false;
  LLVMValueRef condition = LLVMGetCondition(l->blocks[exit].in->last);
  assert(!l->blocks[exit].in->trap);
  bool leaves_if = !ln_in_set(&loop->blocks, l->blocks[exit].in->succ[0]);
  Length body = length_of_body(l, loop);
  Iteration t = {.l = l, .loop = loop, .around = around};
  begin_iterations(&t);
  for (unsigned trips = 0; trips <= MOST_TRIPS; trips++) {
    uint64_t holds;
    if (!evaluate(&t, condition, 0, &holds))
      return false;
    bool leaves = (holds != 0) == leaves_if;
    n->instructions += body.instructions;
    if (leaves && trips && exit == loop->in->header)
      return !is_longest(n);
    n->meetings += body.meetings;
    if (is_longest(n) || !add_inner(l, loop, &t, n))
      return false;
    if (leaves)
      return true;
    next_iteration(&t);
  }
  return false;
}

static bool is_chosen(Lanes *l, const LaneLoop *loop) {
  Length n = {0};
  return meets(l, loop) && add_iterations(l, loop, NULL, &n);
}

static bool unroll_chosen(Cg *cg, LLVMValueRef f) {
  Arena *a = &cg->cx->arena;
  Lanes l = {.cg = cg, .arena = a, .f = f, .b = cg->builder};
  bool any = false;
  if (!ln_find_flow(&l))
    return false;
  for (uint32_t k = 0; k < l.loops.len; k++)
    if (is_chosen(&l, &l.loops.data[k])) {
      cg_mark_loop(cg, LLVMGetBasicBlockTerminator(l.blocks[l.loops.data[k].latch].in->block),
                   "llvm.loop.unroll.full");
      any = true;
    }
  if (any)
    cg_run_function_passes(
        cg, f,
        "loop-simplify,lcssa,loop-unroll<O3;no-partial;no-runtime;no-peeling;no-upperbound;"
        "full-unroll-max=1>,early-cse,correlated-propagation,instcombine<no-verify-fixpoint>,"
        "simplifycfg,lower-switch");
  return any;
}

bool cg_lanes_unroll(Cg *cg, LLVMValueRef f) {
  enum { DEEPEST_NEST = 3 };
  unsigned times = 0;
  while (times < DEEPEST_NEST && unroll_chosen(cg, f))
    times++;
  return times;
}
