/* Coarsening: is a condition a bound?
 *
 * A guard is taken by all copies at once, or the thread runs them one after another from the
 * beginning. That is right for bounds, which split the copies of few threads only: the indices of
 * one axis are compared with what is the same in the whole launch. `i <= j` splits those of all
 * warps along the diagonal, and a condition on data may split any.
 *
 * What a number depends on is a set of axes, whose indices it contains as they are, or times a
 * constant. An index times a number that is known at run time only is that of a row in a flat
 * array, which is compared with the array's end. What is not known here is taken for data. */
#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/match.h"

enum { AXES = 7, FLAT = 8, DATA = 16, NOT_KNOWN = 255 };

typedef struct Bounds {
  const CoShape *s;
  bool of_copies; /* what is the same in all copies counts as the same everywhere */
  uint8_t *of;    /* by instruction */
} Bounds;

static unsigned depends_on(Bounds *b, LLVMValueRef v);

static unsigned of_operands(Bounds *b, LLVMValueRef v) {
  unsigned all = 0;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    all |= depends_on(b, LLVMGetOperand(v, k));
  return all;
}

static unsigned of_register(const CoIns *i) {
  if (!co_differs_in(i, SCOPE_BLOCK))
    return 0;
  for (unsigned axis = 0; axis < 3; axis++)
    if (i->sreg == ir_register_at(SREG_TID, axis) || i->sreg == ir_register_at(SREG_CTAID, axis))
      return 1u << axis;
  return DATA;
}

/* Of neighbouring numbers it differs in many: the remainder by a small constant, some bits. */
static bool is_periodic(LLVMValueRef v) {
  enum { LONG = 256 };
  LLVMValueRef y = LLVMGetNumOperands(v) == 2 ? LLVMGetOperand(v, 1) : NULL;
  if (!y || !LLVMIsAConstantInt(y))
    return false;
  bool rest = cg_is_op(v, LLVMURem) || cg_is_op(v, LLVMSRem) || cg_is_op(v, LLVMAnd);
  return rest && LLVMConstIntGetZExtValue(y) < LONG;
}

static unsigned of_product(Bounds *b, LLVMValueRef v) {
  unsigned x = depends_on(b, LLVMGetOperand(v, 0)), y = depends_on(b, LLVMGetOperand(v, 1));
  bool constant = LLVMIsAConstant(LLVMGetOperand(v, 0)) || LLVMIsAConstant(LLVMGetOperand(v, 1));
  return constant || !(x | y) ? x | y : ((x | y) & DATA) | FLAT;
}

static unsigned of_instruction(Bounds *b, const CoIns *i) {
  if (i->sreg != SREG_NONE)
    return of_register(i);
  if (i->axis)
    return 1u << (i->axis - 1);
  if (i->reads)
    return i->shared || of_operands(b, i->old) ? DATA : 0;
  if (i->effects || i->meets || (LLVMIsAPHINode(i->old) && b->s->blocks[i->block].loop))
    return DATA;
  if (cg_is_op(i->old, LLVMMul))
    return of_product(b, i->old);
  if (LLVMIsACallInst(i->old))
    return of_operands(b, i->old);
  if (!cg_only_computes(i->old))
    return DATA;
  unsigned all = of_operands(b, i->old);
  return all && is_periodic(i->old) ? all | DATA : all;
}

static unsigned depends_on(Bounds *b, LLVMValueRef v) {
  const CoIns *i = co_ins(b->s, v);
  if (!i || (b->of_copies && !i->varies))
    return 0;
  uint8_t *known = &b->of[i - b->s->ins.data];
  if (*known == NOT_KNOWN) {
    *known = DATA; /* where it depends on itself */
    *known = (uint8_t)of_instruction(b, i);
  }
  return *known;
}

static CoBound worse(CoBound a, CoBound b) { return a > b ? a : b; }

static CoBound kind_of(Bounds *b, const CoPlan *p, LLVMValueRef v) {
  const CoIns *i = co_ins(b->s, v);
  if (!i || !i->varies)
    return CO_BOUND;
  if (LLVMIsAICmpInst(v)) {
    unsigned all = of_operands(b, v);
    bool slants = !(all & FLAT) && all & AXES & ~(1u << p->axis);
    return all & DATA ? CO_NO_BOUND : slants ? CO_SLANTED : CO_BOUND;
  }
  if (LLVMTypeOf(v) != b->s->cg->t.i1 || LLVMIsAPHINode(v) || !cg_only_computes(v))
    return CO_NO_BOUND;
  CoBound worst = CO_BOUND;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    worst = worse(worst, kind_of(b, p, LLVMGetOperand(v, k)));
  return worst;
}

static Bounds bounds_of(const CoShape *s, bool of_copies) {
  Bounds b = {s, of_copies, CX_ARRAY(s->cg->cx, uint8_t, s->ins.len)};
  for (uint32_t k = 0; k < s->ins.len; k++)
    b.of[k] = NOT_KNOWN;
  return b;
}

CoBound co_bound(const CoShape *s, const CoPlan *p, LLVMValueRef condition) {
  Bounds b = bounds_of(s, false);
  return kind_of(&b, p, condition);
}

/* Is the block's branch, if it has one, a bound? */
static bool branches_by_bound(Bounds *b, const CoPlan *p, uint32_t block) {
  Fork fork;
  return b->s->g.nodes[block].nsucc < 2 || (graph_fork(b->s->g.nodes[block].last, &fork) &&
                                            kind_of(b, p, fork.condition) != CO_NO_BOUND);
}

CoSet co_bounded_arms(const CoShape *s, const CoPlan *p) {
  Bounds b = bounds_of(s, true);
  CoSet all = 0;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    bool few = s->blocks[k].kind == CO_ARMS && branches_by_bound(&b, p, k);
    for (uint32_t n = 0; n < s->nblocks && few; n++)
      few = !co_has(s->blocks[k].arms, n) || branches_by_bound(&b, p, n);
    all |= few ? s->blocks[k].arms : 0;
  }
  return all;
}
