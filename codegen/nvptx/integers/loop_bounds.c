/* NVPTX loop bounds: numbers of 32 bits that a loop compares with one of 64 bits, in 32.
 *
 *   threshold = (weight << 24) // total
 *   for _ in range(size):
 *     …
 *     if state >> 8 < threshold: drawn += 1
 *
 * Of a bound that the loop does not change, no more matters than whether it is beyond what the
 * number can be: so it is clamped to that in front of the loop. Where the comparison must hold
 * together with a condition that the loop does not change either, a bound that nothing meets takes
 * the place of that.
 *
 * In: a module that only the code generator is still to see, with such comparisons of numbers that
 * were extended. Out: comparisons of 32 bits, and the bounds. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/guarded.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { HALF = 32 };

typedef struct Comparison {
  LLVMIntPredicate how; /* of the number with the bound, and `more` added to that */
  LLVMValueRef number, bound;
  Interval ends; /* what the bound is clamped to first: at one end none of the numbers is met */
  int64_t more;
} Comparison;

/* Is a bound beyond what the number can be, or next to it, the same as one next to it, in 32 bits?
 * x < n + 1 is x <= n. */
static bool has_ends(Comparison *c) {
  Interval n = cg_nvptx_range(c->number), room = cg_nvptx_numbers(HALF);
  bool below = c->how == LLVMIntSLT || c->how == LLVMIntSGE;
  if (!below && c->how != LLVMIntSGT && c->how != LLVMIntSLE)
    return false;
  c->ends = below ? (Interval){n.lo, n.hi + 1} : (Interval){n.lo - 1, n.hi};
  c->more = 0;
  if (ir_interval_lies_within(c->ends, room))
    return true;
  switch (c->how) {
  case LLVMIntSLT: c->how = LLVMIntSLE; break;
  case LLVMIntSGE: c->how = LLVMIntSGT; break;
  case LLVMIntSGT: c->how = LLVMIntSGE; break;
  default: c->how = LLVMIntSLT; break;
  }
  c->more = below ? -1 : 1;
  return c->ends.lo + c->more >= room.lo && c->ends.hi + c->more <= room.hi;
}

/* The bound, in 32 bits, that no number meets. */
static int64_t never(const Comparison *c) {
  bool less = c->how == LLVMIntSLT || c->how == LLVMIntSLE;
  return (less ? c->ends.lo : c->ends.hi) + c->more;
}

/* Does the loop end by it? Of few iterations the clamp takes longer, and ptxas would unroll it. */
static bool is_end(const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
    Fork fork;
    if (LLVMIsATerminatorInst(LLVMGetUser(u)) && graph_fork(LLVMGetUser(u), &fork) &&
        !(graph_in_loop(g, loop, LLVMGetBasicBlockTerminator(fork.yes)) &&
          graph_in_loop(g, loop, LLVMGetBasicBlockTerminator(fork.no))))
      return true;
  }
  return false;
}

static bool read_comparison(const Cg *cg, const FnGraph *g, uint32_t loop, LLVMValueRef i,
                            Comparison *c) {
  if (LLVMTypeOf(LLVMGetOperand(i, 0)) != cg->t.i64 || is_end(g, loop, i))
    return false;
  for (unsigned side = 0; side < 2; side++) {
    LLVMIntPredicate how = LLVMGetICmpPredicate(i);
    *c = (Comparison){.how = side ? cg_swapped(how) : how,
                      .number = LLVMGetOperand(i, side),
                      .bound = LLVMGetOperand(i, !side)};
    if (cg_is_extension(c->number) && cg_int_width(LLVMGetOperand(c->number, 0)) == HALF &&
        graph_in_loop(g, loop, c->number) && !LLVMIsAConstant(c->bound) &&
        !graph_in_loop(g, loop, c->bound) && !cg_nvptx_fits(c->bound, HALF) && has_ends(c))
      return true;
  }
  return false;
}

/* The only use of i, if that asks another condition too, which the loop does not change, and that
 * comes in front of the bound's place; else NULL. */
static LLVMValueRef joined(const FnGraph *g, uint32_t loop, LLVMValueRef i, LLVMValueRef *with) {
  LLVMValueRef both = cg_has_one_use(i) ? LLVMGetUser(LLVMGetFirstUse(i)) : NULL;
  if (!both || !cg_is_both(both))
    return NULL;
  *with = LLVMGetOperand(both, LLVMGetOperand(both, 0) == i);
  return !LLVMIsAConstant(*with) && !graph_in_loop(g, loop, *with) ? both : NULL;
}

static LLVMValueRef clamped(Cg *cg, const Comparison *c) {
  LLVMTypeRef t = cg->t.i64;
  LLVMValueRef v[] = {c->bound, l_int(t, (uint64_t)c->ends.lo)};
  LLVMValueRef from[] = {l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.smax", &t, 1), v, 2),
                         l_int(t, (uint64_t)c->ends.hi)};
  LLVMValueRef within = l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.smin", &t, 1), from, 2);
  if (c->more)
    within = l_add(cg->builder, within, l_int(t, (uint64_t)c->more));
  return l_trunc(cg->builder, within, cg->t.i32);
}

/* Behind which of its loops the bound, and the condition, are known. */
static uint32_t outermost(const FnGraph *g, uint32_t loop, const Comparison *c, LLVMValueRef with) {
  uint32_t up = g->loops.data[loop].parent;
  while (up != GRAPH_NONE && graph_front(g, up) && !graph_in_loop(g, up, c->bound) &&
         !(with && graph_in_loop(g, up, with))) {
    loop = up;
    up = g->loops.data[up].parent;
  }
  return loop;
}

static void rewrite(Cg *cg, const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  Comparison c;
  LLVMValueRef with = NULL;
  if (!read_comparison(cg, g, loop, i, &c))
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef both = joined(g, loop, i, &with);
  LLVMValueRef front = graph_front(g, outermost(g, loop, &c, both ? with : NULL));
  if (!front)
    return;
  LLVMPositionBuilderBefore(b, front);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(front));
  LLVMValueRef bound = clamped(cg, &c);
  if (both)
    bound = l_select(b, with, bound, l_int(cg->t.i32, (uint64_t)never(&c)));
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef is = l_icmp(b, c.how, LLVMGetOperand(c.number, 0), bound);
  LLVMReplaceAllUsesWith(both ? both : i, is);
  if (both)
    LLVMInstructionEraseFromParent(both);
  LLVMInstructionEraseFromParent(i);
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t loop) {
  const GraphLoop *l = &g->loops.data[loop];
  VEC(LLVMValueRef) found = {0};
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (LLVMValueRef i = n->loop == loop ? n->first : NULL; i; i = LLVMGetNextInstruction(i))
      if (LLVMIsAICmpInst(i))
        VEC_PUSH(&cg->cx->arena, &found, i);
  }
  for (uint32_t k = 0; k < found.len; k++)
    rewrite(cg, g, loop, found.data[k]);
}

void cg_nvptx_loop_bounds(Cg *cg) { graph_each_loop(cg, look_at); }
