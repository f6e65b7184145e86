/* NVPTX pair places: the lower place of a pair, as networks and transforms choose it, is not
 * negative, so its index is not wrapped.
 *
 *   at = 2 * t - (t & (stride - 1))     # at least t
 *   if (t & (size - 1)) >= stride:      # so t is at least stride
 *       a = tile[at - stride]
 *
 * The index would be the minimum of at - stride and at - stride + 1024, without signs: two numbers
 * for each stride, which stay in registers between stages.
 *
 * In: functions as low_halves.c leaves them. Out: such minimums are their first operand, where a
 * branch that all ways to the block take says that t, or what is left of it under a mask, is at
 * least the distance, and t is small enough for twice as much to have a sign. */
#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* x - distance */
typedef struct Place {
  LLVMValueRef x, distance; /* distance: NULL, it is the constant */
  uint64_t constant;
} Place;

static bool read_place(const Cg *cg, LLVMValueRef v, Place *p) {
  bool sum = cg_is_op(v, LLVMAdd);
  if (LLVMTypeOf(v) != cg->t.i32 || (!sum && !cg_is_op(v, LLVMSub)))
    return false;
  LLVMValueRef by = LLVMGetOperand(v, 1);
  *p = (Place){.x = LLVMGetOperand(v, 0), .distance = by};
  if (!sum)
    return !LLVMIsAConstantInt(by);
  int64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetSExtValue(by) : 0;
  p->distance = NULL;
  p->constant = (uint64_t)-n;
  return n < 0;
}

static bool is_part(LLVMValueRef part, LLVMValueRef t) {
  return part == t || (cg_is_op(part, LLVMAnd) &&
                       (LLVMGetOperand(part, 0) == t || LLVMGetOperand(part, 1) == t));
}

/* The t of 2 * t - (t & mask), if twice as much has no sign; else NULL. */
static LLVMValueRef half_of(LLVMValueRef x) {
  LLVMValueRef twice = cg_is_op(x, LLVMSub) ? LLVMGetOperand(x, 0) : NULL;
  if (!twice || !cg_is_op(twice, LLVMShl) || !cg_is_number(LLVMGetOperand(twice, 1), 1))
    return NULL;
  LLVMValueRef t = LLVMGetOperand(twice, 0), rest = LLVMGetOperand(x, 1);
  Interval range = cg_nvptx_range(t);
  return rest != t && is_part(rest, t) && range.lo >= 0 && range.hi < 1 << 30 ? t : NULL;
}

/* Is the number that is compared with `bound` at least the distance where the comparison holds, or
 * where it does not? */
static bool says_enough(LLVMIntPredicate how, bool holds, LLVMValueRef bound, const Place *p) {
  bool from = how == (holds ? LLVMIntUGE : LLVMIntULT),
       above = how == (holds ? LLVMIntUGT : LLVMIntULE),
       differs = how == (holds ? LLVMIntNE : LLVMIntEQ);
  if (p->distance)
    return (from || above) && bound == p->distance;
  if (!LLVMIsAConstantInt(bound))
    return false;
  uint64_t n = LLVMConstIntGetZExtValue(bound);
  return (from && n >= p->constant) || (above && n + 1 >= p->constant) ||
         (differs && !n && p->constant == 1);
}

/* Do all ways to the node show that t is at least the distance? */
static bool is_guarded(const FnGraph *g, uint32_t at, LLVMValueRef t, const Place *p) {
  Facts facts = {.n = 0};
  cg_add_facts_at(&facts, g, at);
  for (unsigned k = 0; k < facts.n; k++) {
    LLVMValueRef c = facts.list[k].condition;
    if (!LLVMIsAICmpInst(c))
      continue;
    LLVMValueRef a = LLVMGetOperand(c, 0), b = LLVMGetOperand(c, 1);
    LLVMIntPredicate how = LLVMGetICmpPredicate(c);
    bool holds = facts.list[k].holds;
    if ((is_part(a, t) && says_enough(how, holds, b, p)) ||
        (is_part(b, t) && says_enough(cg_swapped(how), holds, a, p)))
      return true;
  }
  return false;
}

/* Is `other` v, which is x - distance, and an array's length? It is written as the one or the
 * other's sum with a constant. */
static bool is_further(LLVMValueRef other, LLVMValueRef v, const Place *p) {
  LLVMValueRef by = cg_is_op(other, LLVMAdd) ? LLVMGetOperand(other, 1) : NULL;
  if (!by || !LLVMIsAConstantInt(by) || LLVMConstIntGetSExtValue(by) <= 0)
    return false;
  return LLVMGetOperand(other, 0) == v || (!p->distance && LLVMGetOperand(other, 0) == p->x);
}

static void visit(const Cg *cg, const FnGraph *g, LLVMValueRef i, uint32_t at) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    Place p;
    LLVMValueRef t = read_place(cg, v, &p) ? half_of(p.x) : NULL;
    if (t && is_further(LLVMGetOperand(i, !k), v, &p) && is_guarded(g, at, t, &p)) {
      LLVMReplaceAllUsesWith(i, v);
      LLVMInstructionEraseFromParent(i);
      return;
    }
  }
}

void cg_nvptx_pair_places(Cg *cg) {
  if (!LLVMGetNamedFunction(cg->module, "llvm.umin.i32"))
    return;
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);)
    for (uint32_t k = 0; k < g.len; k++)
      for (LLVMValueRef i = LLVMGetFirstInstruction(g.nodes[k].block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (cg_is_call_of_any(i, "llvm.umin.i32"))
          visit(cg, &g, i, k);
      }
}
