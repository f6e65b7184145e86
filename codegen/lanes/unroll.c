/* Lanes: loops in which threads meet, and whose number of turns is known, are written out. See
 * lanes.h.
 *
 * A reduction's or a scan's `while half > 0` then has a constant in each turn: which threads take
 * part is known for whole vectors, what is read lies side by side, and nothing about the loop is
 * kept across its barriers. */

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"

enum {
  MOST_TURNS = 12,
  MOST_MEETINGS = 16,      /* of the loop written out */
  MOST_INSTRUCTIONS = 900, /* of it */
  DEEPEST = 12
};

/* --- numbers --- */

/* Header phis of integers, with what they hold in the turn that is looked at. */
typedef struct Turn {
  Lanes *l;
  const LaneLoop *loop;
  VEC(LLVMValueRef) phis;
  VEC(uint64_t) now, next;
  VEC(bool) known;
} Turn;

static unsigned bits_of(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  unsigned n = LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
  return n <= 64 ? n : 0;
}

static uint64_t cut(uint64_t v, unsigned bits) {
  return bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v;
}
static int64_t extended(uint64_t v, unsigned bits) {
  return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static bool compare(LLVMIntPredicate p, uint64_t x, uint64_t y, unsigned bits) {
  int64_t a = extended(x, bits), b = extended(y, bits);
  switch (p) {
  case LLVMIntEQ: return x == y;
  case LLVMIntNE: return x != y;
  case LLVMIntUGT: return x > y;
  case LLVMIntUGE: return x >= y;
  case LLVMIntULT: return x < y;
  case LLVMIntULE: return x <= y;
  case LLVMIntSGT: return a > b;
  case LLVMIntSGE: return a >= b;
  case LLVMIntSLT: return a < b;
  default: return a <= b;
  }
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

/* What v is in this turn; false if that is not known. */
static bool evaluate(Turn *t, LLVMValueRef v, int depth, uint64_t *result) {
  unsigned bits = bits_of(v);
  if (!bits || depth > DEEPEST)
    return false;
  if (LLVMIsAConstantInt(v)) {
    *result = LLVMConstIntGetZExtValue(v);
    return true;
  }
  for (uint32_t k = 0; k < t->phis.len; k++)
    if (t->phis.data[k] == v) {
      *result = t->now.data[k];
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
    *result = cut(LLVMIsASExtInst(v) ? (uint64_t)extended(x, from) : x, bits);
    return true;
  }
  if (LLVMGetNumOperands(v) != 2 || !evaluate(t, LLVMGetOperand(v, 1), depth + 1, &y))
    return false;
  if (LLVMIsAICmpInst(v)) {
    *result = compare(LLVMGetICmpPredicate(v), x, y, from);
    return true;
  }
  if (!binary(LLVMGetInstructionOpcode(v), x, y, bits, &z))
    return false;
  *result = cut(z, bits);
  return true;
}

/* --- turns --- */

/* The phis that begin with a number. */
static void begin_turns(Turn *t) {
  Lanes *l = t->l;
  LLVMBasicBlockRef latch = l->blocks[t->loop->latch].in->block;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[t->loop->in->header].in->block);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef first = LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == latch);
    if (!bits_of(phi) || !first || !LLVMIsAConstantInt(first))
      continue;
    VEC_PUSH(l->arena, &t->phis, phi);
    VEC_PUSH(l->arena, &t->now, LLVMConstIntGetZExtValue(first));
    VEC_PUSH(l->arena, &t->next, 0);
    VEC_PUSH(l->arena, &t->known, true);
  }
}

/* Phis of which nothing is known in the next turn are forgotten. */
static void next_turn(Turn *t) {
  LLVMBasicBlockRef latch = t->l->blocks[t->loop->latch].in->block;
  uint32_t known = 0;
  for (uint32_t k = 0; k < t->phis.len; k++)
    t->known.data[k] = evaluate(t, graph_incoming(t->phis.data[k], latch), 0, &t->next.data[k]);
  for (uint32_t k = 0; k < t->phis.len; k++)
    if (t->known.data[k]) {
      t->phis.data[known] = t->phis.data[k];
      t->now.data[known++] = t->next.data[k];
    }
  t->phis.len = known;
}

/* The block with the loop's only way out, checks apart; GRAPH_NONE: there is none, or it is neither
 * the first nor the last. */
static uint32_t find_exit(const Lanes *l, const LaneLoop *loop) {
  uint32_t found = GRAPH_NONE;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (uint32_t s = 0; in_set(&loop->blocks, k) && s < l->blocks[k].in->nsucc; s++)
      if (!in_set(&loop->blocks, l->blocks[k].in->succ[s])) {
        if (found != GRAPH_NONE)
          return GRAPH_NONE;
        found = k;
      }
  return found == loop->in->header || found == loop->latch ? found : GRAPH_NONE;
}

/* How often the way out is asked; 0 if that is not known, or too often. */
static unsigned count_turns(Lanes *l, const LaneLoop *loop) {
  uint32_t exit = find_exit(l, loop);
  if (exit == GRAPH_NONE || l->blocks[exit].in->nsucc != 2)
    return 0;
  LLVMValueRef condition = LLVMGetCondition(l->blocks[exit].in->last);
  bool leaves_if = !in_set(&loop->blocks, l->blocks[exit].in->succ[0]);
  Turn t = {.l = l, .loop = loop};
  begin_turns(&t);
  for (unsigned n = 1; n <= MOST_TURNS + 1; n++) {
    uint64_t holds;
    if (!evaluate(&t, condition, 0, &holds))
      return 0;
    if ((holds != 0) == leaves_if)
      return n;
    next_turn(&t);
  }
  return 0;
}

/* --- loops --- */

static bool is_chosen(Lanes *l, const LaneLoop *loop) {
  unsigned meetings = 0, inner = 0, instructions = 0;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block);
         in_set(&loop->blocks, k) && i; i = LLVMGetNextInstruction(i)) {
      bool meets = cg_is_block_barrier(i) || cg_is_meeting(i);
      instructions++;
      meetings += meets;
      inner += meets && &l->loops.data[l->blocks[k].in->loop] != loop;
    }
  if (!meetings || inner)
    return false;
  unsigned turns = count_turns(l, loop);
  return turns && meetings * turns <= MOST_MEETINGS && instructions * turns <= MOST_INSTRUCTIONS;
}

bool cg_lanes_unroll(Cg *cg, LLVMValueRef f) {
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
        "full-unroll-max=1>,early-cse,correlated-propagation,instcombine<no-verify-fixpoint>,simplifycfg,lower-switch");
  return any;
}
