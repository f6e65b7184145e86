/* Accumulators: in, a program after typing; out, the same, or the error that accumulators are read
 * while a matrix operation may still change them.
 *
 * What cuda.wgmma.mma gives is in flight. It may go through phis, selections, tuples, calls and
 * wgmma.fence, where the result is in flight too, to another mma as its c, and to wgmma.wait, which
 * gives it back to be read. Every other use is an error, also one that is not known here. */
#include "codegen/ssa/accumulators.h"

#include <assert.h>

enum { SUMS = 4 }; /* operand of mma */

/* Ins.note: the mma that it comes from. */
static bool fly(Ins *i, void *origin) {
  bool fresh = !i->note;
  if (fresh)
    i->note = origin;
  return fresh;
}

static bool fly_calls(const Program *p, const Fn *fn, void *origin) {
  bool fresh = false;
  for (uint32_t k = 0; k < p->fns.len; k++)
    FOR_BLOCKS (p->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_CALL_FN && i->aux.fn == fn)
          fresh |= fly(i, origin);
  return fresh;
}

_Noreturn static void is_read(Cx *cx, const Ins *i, const Ins *origin) {
  note(cx, origin->loc, "in flight since the operation here");
  fail(cx, i->loc, ERR_IN_FLIGHT);
}

/* The use of operand k, which is in flight. Has anything become so? */
static bool use(Cx *cx, const Program *p, const Fn *fn, Ins *i, uint32_t k) {
  void *origin = i->args[k]->note;
  bool known = false;
  switch ((Op)i->op) {
  case OP_PHI:
  case OP_MAKE_TUPLE: return fly(i, origin);
  case OP_SELECT: known = k > 0; break;
  case OP_TUPLE_GET: known = i->type->id == TY_TUPLE; break;
  case OP_CALL_FN: return fly(i->aux.fn->params[k], origin);
  case OP_RET: return fly_calls(p, fn, origin);
  case OP_INTRINSIC:
    if (i->aux.intrinsic == INTR_WGMMA_WAIT || (i->aux.intrinsic == INTR_WGMMA_MMA && k == SUMS))
      return false;
    known = i->aux.intrinsic == INTR_WGMMA_FENCE;
    break;
  default: break;
  }
  if (!known)
    is_read(cx, i, origin);
  return fly(i, origin);
}

static bool step(Cx *cx, const Program *p) {
  bool fresh = false;
  for (uint32_t n = 0; n < p->fns.len; n++)
    FOR_BLOCKS (p->fns.data[n], b)
      FOR_INS (b, i) {
        if (i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_WGMMA_MMA)
          fresh |= fly(i, i);
        for (uint32_t k = 0; k < i->nargs; k++)
          if (i->args[k]->note)
            fresh |= use(cx, p, p->fns.data[n], i, k);
      }
  return fresh;
}

void cg_check_accumulators(Cx *cx, Program *p) {
  for (uint32_t n = 0; n < p->fns.len; n++)
    FOR_BLOCKS (p->fns.data[n], b)
      FOR_INS (b, i)
        i->note = NULL;
  while (step(cx, p))
    continue;
}
