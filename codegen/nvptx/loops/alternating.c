/* NVPTX alternating: loops in which something comes back to what it was after a few iterations.
 *
 *   for k in range(n):
 *     if across: …                  # `across` is True, False, True, …
 *     else: …
 *     across = not across
 *
 * Unrolled by two, each copy has one side, without a branch; LLVM's sccp, which then runs once
 * more, finds the constants. So it does with `turn = 1 - turn`, `state = (state + 1) % 3` and, by
 * the counter's low bits, `k % 2`; and with arrays that change places, `last, now = now, last`,
 * each copy has the arrays themselves as its addresses.
 *
 * A phi of the loop's header comes back if it starts as a constant, and is computed of itself and
 * constants alone: it is run as the kernel would run it. Or if such phis hand on what they are in
 * a circle. It decides something if a branch or a selection depends on it and on constants alone,
 * or if it is an address; of other loops LLVM decides by their size.
 *
 * In: innermost loops in front of LLVM's unrolling. Out: marks. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_TURN = 4,
  MOST_CODE = 600, /* instructions of all copies together */
  LLVM_CODE = 75,  /* up to which LLVM unrolls a loop by itself, at most LLVM_COPIES times */
  LLVM_COPIES = 8,
  MAX_DEPTH = 8, /* operations from the phi to what it decides */
};

typedef struct Turning {
  const FnGraph *g;
  uint32_t loop;
  LLVMBasicBlockRef header, latch, front;
  unsigned turn;           /* iterations */
  bool clash;              /* things have turns of which none is a multiple of the other */
  VEC(LLVMValueRef) rests; /* of counters, which decide something */
} Turning;

static bool is_of_header(const Turning *t, LLVMValueRef v) {
  return LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == t->header;
}

/* --- after how many iterations is the phi what it was? 0: not known, or many --- */

/* Phis that hand on what they are. */
static unsigned turn_of_circle(const Turning *t, LLVMValueRef phi) {
  LLVMValueRef at = phi;
  for (unsigned n = 1; n <= MOST_TURN; n++) {
    at = graph_incoming(at, t->latch);
    if (at == phi)
      return n;
    if (!is_of_header(t, at))
      return 0;
  }
  return 0;
}

static unsigned turn_of_number(const Turning *t, LLVMValueRef phi) {
  LLVMValueRef start = graph_incoming(phi, t->front), next = graph_incoming(phi, t->latch);
  if (!cg_int_width(phi) || cg_int_width(phi) > 64 || !LLVMIsAConstantInt(start))
    return 0;
  int64_t first = cg_int_value(start), now = first;
  for (unsigned n = 1; n <= MOST_TURN && cg_value_at(next, phi, now, &now); n++)
    if (now == first)
      return n;
  return 0;
}

/* --- low bits and rests of counters: k & 1, k % 3 --- */

/* What the counter is divided by, of which it is the rest; 0: it is no such operation. */
static uint64_t divisor_of(LLVMValueRef v) {
  if (!cg_int_width(v) || cg_int_width(v) > 64)
    return 0;
  if (cg_is_op(v, LLVMTrunc) && cg_int_width(v) == 1)
    return 2;
  bool masks = cg_is_op(v, LLVMAnd);
  LLVMValueRef by = masks || cg_is_op(v, LLVMURem) ? LLVMGetOperand(v, 1) : NULL;
  uint64_t n = by && LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : 0;
  return n > MOST_TURN || (masks && n != 1 && n != 3) ? 0 : n + masks;
}

/* What a phi adds in each iteration, where it counts from a constant on; 0: it does not. */
static uint64_t step_of(const Turning *t, LLVMValueRef phi, bool exact) {
  LLVMValueRef next = graph_incoming(phi, t->latch);
  bool counts = cg_int_width(phi) && cg_int_width(phi) <= 64 && cg_is_op(next, LLVMAdd) &&
                LLVMGetOperand(next, 0) == phi && LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
                LLVMIsAConstantInt(graph_incoming(phi, t->front));
  return counts && (LLVMGetNUW(next) || !exact) ? LLVMConstIntGetZExtValue(LLVMGetOperand(next, 1))
                                                : 0;
}

static unsigned turn_of_rest(const Turning *t, LLVMValueRef phi, LLVMValueRef user) {
  uint64_t by = divisor_of(user), step = by > 1 ? step_of(t, phi, by == 3) : 0;
  for (unsigned n = 1; n <= MOST_TURN && step; n++)
    if (step % by * n % by == 0)
      return n;
  return 0;
}

/* LLVM knows the low bits that a counter's start does not have. */
static bool is_known_when_unrolled(const Turning *t, LLVMValueRef phi, LLVMValueRef user) {
  uint64_t by = divisor_of(user);
  return by != 3 && LLVMConstIntGetZExtValue(graph_incoming(phi, t->front)) % by == 0;
}

/* The rest becomes a phi of its own, of which sccp knows all values. */
static void write_rest(Cg *cg, const Turning *t, LLVMValueRef phi, LLVMValueRef rest) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef type = LLVMTypeOf(rest);
  uint64_t by = divisor_of(rest), step = step_of(t, phi, false) % by,
           first = LLVMConstIntGetZExtValue(graph_incoming(phi, t->front)) % by;
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(t->header));
  LLVMValueRef low = l_phi(b, type);
  LLVMReplaceAllUsesWith(rest, low);
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(t->latch));
  LLVMValueRef next = l_add(b, low, l_int(type, step));
  if (!LLVMIsATruncInst(rest)) {
    LLVMValueRef around = l_int(type, step - by);
    next = l_select(b, l_icmp(b, LLVMIntULT, low, l_int(type, by - step)), next,
                    l_add(b, low, around));
  }
  LLVMAddIncoming(low, (LLVMValueRef[]){l_int(type, first), next},
                  (LLVMBasicBlockRef[]){t->front, t->latch}, 2);
  copy_erase_unused(rest);
}

/* --- does it decide anything? --- */

static bool decides(const Turning *t, LLVMValueRef v, unsigned depth);

static bool is_decided(const Turning *t, LLVMValueRef user, LLVMValueRef by, unsigned depth) {
  if (!graph_in_loop(t->g, t->loop, user) || LLVMIsAPHINode(user))
    return false;
  if (LLVMIsABranchInst(user) || LLVMIsASwitchInst(user))
    return true;
  if (LLVMIsASelectInst(user))
    return LLVMGetOperand(user, 0) == by;
  if (LLVMIsAGetElementPtrInst(user) || cg_is_op(user, LLVMLoad) || cg_is_op(user, LLVMStore))
    return LLVMGetTypeKind(LLVMTypeOf(by)) == LLVMPointerTypeKind;
  bool computes = LLVMIsABinaryOperator(user) || LLVMIsACastInst(user) || LLVMIsAICmpInst(user);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user) && computes; k++) {
    LLVMValueRef of = LLVMGetOperand(user, k);
    computes = of == by || LLVMIsAConstant(of) || (is_of_header(t, of) && turn_of_circle(t, of));
  }
  return computes && depth < MAX_DEPTH && decides(t, user, depth + 1);
}

static bool decides(const Turning *t, LLVMValueRef v, unsigned depth) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
    if (is_decided(t, LLVMGetUser(use), v, depth))
      return true;
  return false;
}

/* --- loops --- */

static void meet(Turning *t, unsigned turn) {
  if (turn < 2)
    return;
  t->clash |= t->turn && turn % t->turn && t->turn % turn;
  t->turn = turn > t->turn ? turn : t->turn;
}

static void look_at_phi(Turning *t, LLVMValueRef phi) {
  unsigned turn = turn_of_circle(t, phi);
  turn = turn ? turn : turn_of_number(t, phi);
  if (turn) {
    meet(t, decides(t, phi, 0) ? turn : 0);
    return;
  }
  for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    turn = turn_of_rest(t, phi, user);
    if (turn < 2 || !is_decided(t, user, phi, 0))
      continue;
    meet(t, turn);
    if (!is_known_when_unrolled(t, phi, user))
      VEC_PUSH(t->g->arena, &t->rests, user);
  }
}

/* The number of iterations after which all that comes back is what it was; 0: nothing does. */
static unsigned turn_of(Turning *t) {
  LLVMValueRef behind = graph_behind_phis(t->header);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(t->header); phi != behind;
       phi = LLVMGetNextInstruction(phi))
    look_at_phi(t, phi);
  return t->clash ? 0 : t->turn;
}

static unsigned size_of(const FnGraph *g, const GraphLoop *loop) {
  unsigned size = 0;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = g->nodes[loop->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      size++;
  return size;
}

/* How many times a loop is unrolled that comes back after `turn` iterations; 0: it is too large.
 * hint: as many as it is to be anyway, or 0. */
static unsigned copies_of(unsigned turn, unsigned hint, unsigned size) {
  if (hint)
    return hint % turn == 0 ? hint : hint > turn ? hint / turn * turn : turn;
  if (turn * size > MOST_CODE)
    return 0;
  while (2 * turn <= LLVM_COPIES && 2 * turn * size <= LLVM_CODE)
    turn *= 2;
  return turn;
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t n) {
  const GraphLoop *loop = &g->loops.data[n];
  LLVMValueRef front = graph_front(g, n);
  if (!loop->innermost || loop->nlatches != 1 || !front)
    return;
  Turning t = {.g = g,
               .loop = n,
               .header = g->nodes[loop->header].block,
               .latch = g->nodes[loop->latches[0]].block,
               .front = LLVMGetInstructionParent(front)};
  LLVMValueRef end = LLVMGetBasicBlockTerminator(t.latch);
  unsigned hint = cg_mark_of(cg, t.latch, MARK_COUNT),
           turn = hint || !cg_is_marked(cg, end) ? turn_of(&t) : 0,
           copies = turn ? copies_of(turn, hint, size_of(g, loop)) : 0;
  if (!copies)
    return;
  for (uint32_t k = 0; k < t.rests.len; k++)
    write_rest(cg, &t, LLVMGetOperand(t.rests.data[k], 0), t.rests.data[k]);
  if (copies != hint)
    cg_mark_unrolled(cg->context, end, copies);
  cg->alternates = true;
}

void cg_nvptx_alternating(Cg *cg) { graph_each_loop(cg, look_at); }

/* --- in front of LLVM's passes: is it worth to stop before unrolling? --- */

/* Is it an operation that takes a number to one of two, or of few: 1 - x, x ^ 1, x % 3, not x? */
static bool turns(LLVMValueRef user, LLVMValueRef v) {
  LLVMValueRef by = LLVMIsABinaryOperator(user) ? LLVMGetOperand(user, 1) : NULL;
  bool small = by && LLVMIsAConstantInt(by) && cg_int_width(by) <= 64 &&
               LLVMConstIntGetZExtValue(by) <= MOST_TURN;
  switch (LLVMGetInstructionOpcode(user)) {
  case LLVMXor: return by != v && LLVMIsAConstantInt(by);
  case LLVMSub: return by == v && LLVMIsAConstantInt(LLVMGetOperand(user, 0));
  case LLVMAnd:
  case LLVMURem:
  case LLVMSRem: return small;
  case LLVMPHI: return LLVMGetInstructionParent(user) == LLVMGetInstructionParent(v);
  default: return false;
  }
}

static bool is_turned(LLVMValueRef v, unsigned depth) {
  enum { STEPS = 3 };
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (turns(user, v) || (depth < STEPS && (LLVMIsACastInst(user) || cg_is_op(user, LLVMAdd)) &&
                           is_turned(user, depth + 1)))
      return true;
  }
  return false;
}

bool cg_nvptx_may_alternate(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && LLVMIsAPHINode(i);
           i = LLVMGetNextInstruction(i))
        if (is_turned(i, 0))
          return true;
  return false;
}
