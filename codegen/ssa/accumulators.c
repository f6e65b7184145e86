/* Accumulators: in, a program after typing; out, the same, or the error that accumulators are read
 * while a matrix operation may still change them.
 *
 * What cuda.wgmma.mma gives is in flight. It may go through phis, selections, tuples, calls and
 * wgmma.fence, where that part of the result is in flight too, to another mma as its c, and to
 * wgmma.wait, which gives it back to be read. Every other use is an error, also one that is not
 * known here. */
#include "codegen/ssa/accumulators.h"

#include <assert.h>

#include "codegen/ssa/leaves.h"

enum { SUMS = 4 }; /* operand of mma */

/* Ins.note: of each leaf, the mma that it comes from; NULL: none is in flight. */
typedef const Ins **Origins;

static uint32_t leaves_of(const Ins *i) { return i->type ? cg_leaf_count(i->type) : 0; }

/* Of n leaves, from[0] on, which become those of i from `at` on. Has anything become so? */
static bool fly(Cx *cx, Ins *i, uint32_t at, const Ins *const *from, uint32_t n) {
  bool fresh = false;
  for (uint32_t k = 0; k < n; k++) {
    if (!from[k])
      continue;
    if (!i->note)
      i->note = CX_ARRAY(cx, const Ins *, leaves_of(i) + 1);
    Origins to = i->note;
    fresh |= !to[at + k];
    to[at + k] = to[at + k] ? to[at + k] : from[k];
  }
  return fresh;
}

static bool fly_calls(Cx *cx, const Program *p, const Fn *fn, const Ins *const *from, uint32_t n) {
  bool fresh = false;
  for (uint32_t k = 0; k < p->fns.len; k++)
    FOR_BLOCKS (p->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_CALL_FN && i->aux.fn == fn)
          fresh |= fly(cx, i, 0, from, n);
  return fresh;
}

_Noreturn static void is_read(Cx *cx, const Ins *i, const Ins *const *from) {
  while (!*from)
    from++;
  note(cx, (*from)->loc, "in flight since the operation here");
  fail(cx, i->loc, ERR_IN_FLIGHT);
}

/* What is taken out of a tuple: an accumulator, which is in flight like this, or a number. */
static bool get(Cx *cx, Ins *i, const Ins *const *from) {
  from += cg_tuple_offset(i->args[0]->type, (uint32_t)i->aux.i);
  if (i->type->id != TY_TUPLE && leaves_of(i) && from[0])
    is_read(cx, i, from);
  return fly(cx, i, 0, from, leaves_of(i));
}

/* The use of operand k, of which something is in flight. Has anything become so? */
static bool use(Cx *cx, const Program *p, const Fn *fn, Ins *i, uint32_t k) {
  const Ins *const *from = i->args[k]->note;
  uint32_t n = leaves_of(i->args[k]), at = 0;
  bool known = false;
  switch ((Op)i->op) {
  case OP_PHI: known = true; break;
  case OP_MAKE_TUPLE: known = true, at = cg_tuple_offset(i->type, k); break;
  case OP_SELECT: known = k > 0; break;
  case OP_TUPLE_GET: return get(cx, i, from);
  case OP_CALL_FN: return fly(cx, i->aux.fn->params[k], 0, from, n);
  case OP_RET: return fly_calls(cx, p, fn, from, n);
  case OP_INTRINSIC:
    if (i->aux.intrinsic == INTR_WGMMA_WAIT || (i->aux.intrinsic == INTR_WGMMA_MMA && k == SUMS))
      return false;
    known = i->aux.intrinsic == INTR_WGMMA_FENCE;
    at = known && i->nargs > 1 ? cg_tuple_offset(i->type, k) : 0;
    break;
  default: break;
  }
  if (!known)
    is_read(cx, i, from);
  return fly(cx, i, at, from, n);
}

/* All that the mma gives is in flight. */
static bool begin(Cx *cx, Ins *mma) {
  uint32_t n = leaves_of(mma);
  Origins all = CX_ARRAY(cx, const Ins *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    all[k] = mma;
  return !mma->note && fly(cx, mma, 0, all, n);
}

static bool step(Cx *cx, const Program *p) {
  bool fresh = false;
  for (uint32_t n = 0; n < p->fns.len; n++)
    FOR_BLOCKS (p->fns.data[n], b)
      FOR_INS (b, i) {
        if (i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_WGMMA_MMA && !i->note)
          fresh |= begin(cx, i);
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
