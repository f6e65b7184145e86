/* NVPTX guarded: see guarded.h. A number is guarded by comparisons of it, or of the 32 bits that it
 * extends, on branches that all ways to the block take. */
#include "codegen/nvptx/ranges/guarded.h"

#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

LLVMValueRef cg_nvptx_narrow_bound(Cg *cg, LLVMValueRef v) {
  if (!cg_nvptx_fits(v, 32))
    return NULL;
  if (LLVMTypeOf(v) == cg->t.i32)
    return v;
  if (LLVMIsAConstantInt(v))
    return l_trunc(cg->builder, v, cg->t.i32);
  v = cg_is_extension(v) ? LLVMGetOperand(v, 0) : v;
  return LLVMTypeOf(v) == cg->t.i32 ? v : NULL;
}

Compared cg_nvptx_compared(Cg *cg, LLVMValueRef v, LLVMValueRef by) {
  Compared c = {.narrow = NULL};
  if (!LLVMIsAICmpInst(by))
    return c;
  bool second = LLVMGetOperand(by, 1) == v;
  if (!second && LLVMGetOperand(by, 0) != v)
    return c;
  c.how = LLVMGetICmpPredicate(by);
  c.how = second ? cg_swapped(c.how) : c.how;
  c.bound = LLVMGetOperand(by, !second);
  c.narrow = cg_nvptx_narrow_bound(cg, c.bound);
  c.range = cg_nvptx_range(c.bound);
  return c;
}

static unsigned known_by(Cg *cg, LLVMValueRef v, Fact fact) {
  Compared c = cg_nvptx_compared(cg, v, fact.condition);
  bool truth = fact.holds;
  if (!c.narrow)
    return 0;
  if (c.how == (truth ? LLVMIntULT : LLVMIntUGE) && c.range.lo >= 0)
    return GUARD_WHOLE | GUARD_LESS;
  bool from = c.how == (truth ? LLVMIntSGE : LLVMIntSLT),
       above = c.how == (truth ? LLVMIntSGT : LLVMIntSLE);
  bool below = c.how == (truth ? LLVMIntSLT : LLVMIntSGE),
       until = c.how == (truth ? LLVMIntSLE : LLVMIntSGT);
  return ((from && c.range.lo >= 0) || (above && c.range.lo >= -1) ? GUARD_FROM_0 : 0) |
         (below || until ? GUARD_SMALL : 0) | (below ? GUARD_LESS : 0);
}

static unsigned guards_of(Cg *cg, const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block,
                          LLVMBasicBlockRef to) {
  Facts facts = {.n = 0};
  unsigned known = 0;
  if (to)
    cg_add_facts_of_edge(&facts, LLVMGetBasicBlockTerminator(block), to);
  cg_add_facts_at(&facts, g, graph_number(g, block));
  for (unsigned k = 0; k < facts.n; k++)
    known |= known_by(cg, v, facts.list[k]);
  return known;
}

unsigned cg_nvptx_guards(Cg *cg, const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block,
                         LLVMBasicBlockRef to) {
  bool extends = cg_is_extension(v) && LLVMTypeOf(LLVMGetOperand(v, 0)) == cg->t.i32;
  return guards_of(cg, g, v, block, to) |
         (extends ? guards_of(cg, g, LLVMGetOperand(v, 0), block, to) : 0);
}

bool cg_nvptx_is_at_least(Cg *cg, const FnGraph *g, LLVMValueRef v, int64_t least,
                          LLVMBasicBlockRef block, LLVMBasicBlockRef to) {
  Facts facts = {.n = 0};
  cg_add_facts_of_edge(&facts, LLVMGetBasicBlockTerminator(block), to);
  cg_add_facts_at(&facts, g, graph_number(g, block));
  for (unsigned k = 0; k < facts.n; k++) {
    Compared c = cg_nvptx_compared(cg, v, facts.list[k].condition);
    bool truth = facts.list[k].holds;
    bool from = c.how == (truth ? LLVMIntSGE : LLVMIntSLT),
         above = c.how == (truth ? LLVMIntSGT : LLVMIntSLE);
    bool not_0 = c.how == (truth ? LLVMIntNE : LLVMIntEQ) && cg_is_number(c.bound, 0);
    if (c.narrow && ((from && c.range.lo >= least) || (above && c.range.lo >= least - 1) ||
                     (not_0 && least <= 1 && cg_nvptx_range(v).lo >= 0)))
      return true;
  }
  return false;
}

bool cg_nvptx_is_guarded(Cg *cg, const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block,
                         LLVMBasicBlockRef to) {
  return (cg_nvptx_guards(cg, g, v, block, to) & GUARD_WHOLE) == GUARD_WHOLE;
}
