/* Latches: loops over ranges that are left both where they begin and where they go back step in a
 * block of their own.
 *
 *   for k in range(n):
 *       if a[i + k] != b[j + k]:
 *           break
 *
 * LLVM's loop-rotate asks a loop's condition behind its body, and once in front of the loop. But a
 * loop that is left at its branch back it takes for rotated. Each iteration then has two questions
 * one after the other in front of its loads, and ptxas a BREAK. C's `for` has its step in a block
 * behind the body, so that the branch back leaves nothing; so have short loops here, of one block
 * without divisions and calls. In others a question is little, and registers are more.
 *
 * In: a typed Fn in order, with dominators, and the marks of loops on their branches back. Out: the
 * step of such a counter, of which nothing else is read, and the marks in a block between the two.
 */
#include "codegen/ssa/latches.h"

#include "codegen/ssa/range_private.h"
#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/interval.h"

#define MARKS (INS_UNROLL_4 | INS_UNROLL_8 | INS_MASKED | INS_UNROLL_ALL | INS_ROLLED)

enum { MOST_OPERATIONS = 24 };

static bool is_slow(const Ins *i) {
  switch ((Op)i->op) {
  case OP_TRUEDIV:
  case OP_FLOORDIV:
  case OP_MOD:
  case OP_POW:
  case OP_CALL_FN:
  case OP_CALL_C:
  case OP_INTRINSIC: return true;
  default: return false;
  }
}

static bool is_short(const Block *body) {
  uint32_t n = 0;
  FOR_INS (body, i) {
    n += i->op != OP_CONST && i->op != OP_EXTENT && i->op != OP_WRAP_INDEX;
    if (is_slow(i))
      return false;
  }
  return n <= MOST_OPERATIONS;
}

static bool has_other_use(const Fn *fn, const Ins *i, const Ins *phi) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, user)
      for (uint32_t k = 0; k < user->nargs; k++)
        if (user->args[k] == i && user != phi)
          return true;
  return false;
}

/* The step of the only counter of a loop with this branch back; NULL: it has no such. */
static Ins *step_of(const Fn *fn, const Block *header, const Block *latch) {
  Ins *step = NULL;
  Counter c;
  for (const Ins *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next) {
    if (!ir_counter(phi, &c))
      continue;
    if (step || c.body != latch || has_other_use(fn, c.next, phi))
      return NULL;
    step = (Ins *)c.next;
  }
  return step;
}

static void part(Cx *cx, Fn *fn, Block *latch, Block *header, Ins *step) {
  Ins *back = latch->last;
  Block *apart = ssa_split_edge(cx, fn, latch, header);
  apart->last->flags |= back->flags & MARKS;
  back->flags &= (uint16_t)~MARKS;
  ir_remove(step);
  ir_insert_before(apart->last, step);
}

void cg_part_latches(Cx *cx, Fn *fn) {
  bool any = false;
  Block *last = fn->last_block;
  for (Block *latch = fn->entry;; latch = latch->next) {
    for (int s = 0; s < 2 && latch->last->op == OP_CONDBR; s++) {
      Block *header = latch->succ[s];
      bool back = latch->succ[0] != latch->succ[1] && ir_dominates(header, latch) &&
                  is_short(latch) && !(latch->last->flags & INS_YIELDS);
      Ins *step = back ? step_of(fn, header, latch) : NULL;
      if (step) {
        part(cx, fn, latch, header, step);
        any = true;
        break;
      }
    }
    if (latch == last)
      break;
  }
  if (!any)
    return;
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}
