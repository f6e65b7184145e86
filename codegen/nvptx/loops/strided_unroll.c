/* NVPTX strided unrolling: loops whose step is known at run time, without their trip count.
 *
 * LLVM unrolls a loop by its trip count, which takes a quotient where the step is the size of a
 * block or a grid: a quarter of the time of a kernel with one iteration a thread. A round of four
 * iterations needs to know only that there is a fourth:
 *
 *   for k in range(start, end, step):
 *     acc += x[k]
 *
 * becomes
 *
 *   bound = end - 3 * step
 *   while k < bound:
 *     acc += x[k]; acc += x[k + step]; …; k += 4 * step
 *   while k < end:  # three times at most; masked_unroll.c makes masks of it
 *     acc += x[k]; k += step
 *
 * (loops are rotated here: the conditions are at their ends, and in front of them). The order of
 * the iterations stays. Both paths meet where the second condition is asked, so that the threads of
 * a warp do, too.
 *
 * What is asked in front of the rounds, where rows may be short, is in short_rows.c.
 *
 * Lanes that begin within the first step differ by one iteration at most. LLVM would count each
 * lane's own: of rows of 255 a warp's last lane has seven, which are left over, and the others have
 * eight, a round, so that it waits for them, and they for it, and what it has loaded of the row is
 * loaded once more. So a round is one if all lanes have it, which they answer alike:
 *
 *   while k - start + 8 * step <= end:  # k < end - (8 * step - 1) + start
 *     acc += x[k]; …; acc += x[k + 7 * step]; k += 8 * step
 *   if k - start + 4 * step < end:
 *     while k < end: acc += x[k]; k += step  # four to eight times
 *   else:
 *     while k < end: acc += x[k]; k += step  # four times at most
 *
 * A few iterations behind a round wait for its loads, and theirs are alone in flight: of rows of
 * 287, one for all lanes but the last. Where an iteration loads a word, a round and half of one are
 * in flight together. Up to four iterations are set apart, so the others are never too few:
 *
 *   while k - start + 12 * step < end:
 *     acc += x[k]; …; acc += x[k + 7 * step]; k += 8 * step
 *   if k - start + 8 * step < end:
 *     while k < end: acc += x[k]; k += step  # eight to twelve times
 *   else:
 *     while k < end: acc += x[k]; k += step  # four to eight times
 *
 * In: loops of one block that lower/unroll_hints.c has marked, before LLVM's unrolling. The step
 * must be positive, the counter must not wrap around, which the addition's flags say, and the loop
 * must go on while the next number is less than an end that it does not change. Loops of other
 * forms stay as they are, and LLVM unrolls them. Out: both loops, with the marks that LLVM gives to
 * what it unrolls. */
#include "codegen/nvptx/loops/strided_unroll.h"

#include <assert.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/facts.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/loops/short_rows.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* FACTOR: that of lower/unroll_hints.c for such loops */
enum { FACTOR = 4 };

/* --- the form of the loop --- */

static bool is_inside(LLVMBasicBlockRef block, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == block;
}

/* The comparison that holds where this one does not. */
static LLVMIntPredicate negated(LLVMIntPredicate p) {
  return p == LLVMIntSGE   ? LLVMIntSLT
         : p == LLVMIntUGE ? LLVMIntULT
         : p == LLVMIntSLE ? LLVMIntSGT
         : p == LLVMIntULE ? LLVMIntUGT
                           : LLVMIntEQ; /* no loop of this kind */
}

/* low < high */
typedef struct Less {
  LLVMValueRef low, high;
  bool is_signed, both_ways; /* both_ways: without a sign, too */
} Less;

/* Reads a comparison, or its opposite, as one. */
static bool read_less(LLVMValueRef compare, bool holds, Less *l) {
  if (!cg_is_op(compare, LLVMICmp))
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(compare);
  if (!holds)
    p = negated(p);
  bool swapped = p == LLVMIntSGT || p == LLVMIntUGT;
  l->both_ways = LLVMGetICmpSameSign(compare);
  l->is_signed = p == LLVMIntSLT || p == LLVMIntSGT || l->both_ways;
  l->low = LLVMGetOperand(compare, swapped);
  l->high = LLVMGetOperand(compare, !swapped);
  return swapped || p == LLVMIntSLT || p == LLVMIntULT;
}

/* Reads the condition under which the loop goes on as `next < end`. */
static bool read_condition(LLVMBasicBlockRef block, Stride *s) {
  Fork fork;
  Less l;
  if (!graph_fork(LLVMGetBasicBlockTerminator(block), &fork) ||
      (fork.yes == block) == (fork.no == block) || !is_inside(block, fork.condition) ||
      !read_less(fork.condition, fork.yes == block, &l))
    return false;
  s->compare = fork.condition;
  s->next = l.low;
  s->end = l.high;
  s->is_signed = l.is_signed;
  return !is_inside(block, s->end);
}

/* Reads `next = counter + step`, in either order. */
static bool read_step(LLVMBasicBlockRef block, Stride *s) {
  if (!is_inside(block, s->next) || !cg_is_op(s->next, LLVMAdd))
    return false;
  bool second = is_inside(block, LLVMGetOperand(s->next, 1));
  s->counter = LLVMGetOperand(s->next, second);
  s->step = LLVMGetOperand(s->next, !second);
  return is_inside(block, s->counter) && LLVMIsAPHINode(s->counter) &&
         graph_incoming(s->counter, block) == s->next && !is_inside(block, s->step);
}

bool cg_read_stride(LLVMBasicBlockRef block, Stride *s) {
  return read_condition(block, s) && read_step(block, s) &&
         (s->is_signed ? LLVMGetNSW(s->next) : LLVMGetNUW(s->next));
}

LLVMValueRef cg_stride_goes_on(const Cg *cg, const Stride *s, LLVMValueRef next) {
  return l_icmp(cg->builder, s->is_signed ? LLVMIntSLT : LLVMIntULT, next, s->end);
}

/* --- bounds --- */

/* How end - n * step is computed, the number below which the counter has n iterations behind it. It
 * must not wrap around; IN_64_BITS, what is below the least number of 32 bits becomes that number,
 * below which no counter is. BY_NEXT: not at all, since the counter's next number tells. */
typedef enum How { NOT_KNOWN, BY_NEXT, DIRECTLY, IN_64_BITS } How;

static How how_to_bound(const Stride *s, unsigned n) {
  unsigned bits = cg_int_width(s->end);
  Interval step = cg_nvptx_range(s->step), end = cg_nvptx_range(s->end);
  if ((bits != 32 && bits != 64) || step.lo < 1)
    return NOT_KNOWN;
  Interval room = cg_nvptx_numbers(bits);
  IrWide far = step.hi * n;
  if (s->is_signed && far <= room.hi && end.lo - far >= room.lo)
    return DIRECTLY;
  return bits == 32 ? IN_64_BITS : NOT_KNOWN;
}

static LLVMValueRef larger(Cg *cg, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef of[] = {x, y};
  return l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.smax", &type, 1), of, 2);
}

static LLVMValueRef bound_of(Cg *cg, const Stride *s, How how, unsigned n) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef end = s->end, step = s->step;
  LLVMTypeRef type = LLVMTypeOf(end), wide = cg->t.i64;
  if (how == IN_64_BITS) { /* numbers of 34 bits */
    end = l_int_cast(b, end, wide, s->is_signed);
    step = l_zext(b, step, wide);
  }
  LLVMValueRef far = n > 1 ? l_mul_nsw(b, step, l_int(LLVMTypeOf(step), n)) : step;
  LLVMValueRef bound = l_sub(b, end, far);
  if (LLVMIsAInstruction(bound))
    LLVMSetNSW(bound, true);
  if (how == DIRECTLY)
    return bound;
  LLVMValueRef least = l_int(wide, s->is_signed ? (uint64_t)(int64_t)INT32_MIN : 0);
  return l_trunc(b, larger(cg, bound, least), type);
}

LLVMValueRef cg_stride_has(Cg *cg, const Stride *s, LLVMValueRef counter, unsigned behind,
                           LLVMValueRef before) {
  LLVMBuilderRef b = cg->builder;
  Stride to = *s;
  if (how_to_bound(s, behind) == DIRECTLY) {
    to.end = bound_of(cg, s, DIRECTLY, behind);
    return cg_stride_goes_on(cg, &to, counter);
  }
  for (unsigned k = 0; k < behind; k++)
    counter = copy_ins(b, s->next, (LLVMValueRef[]){counter, s->step});
  LLVMValueRef more = cg_stride_goes_on(cg, s, counter);
  return before ? l_select(b, before, more, l_int(cg->t.i1, 0)) : more;
}

/* --- the guard --- */

/* Does `first < end`, as the loop compares, follow from it? */
static bool implies(const Stride *s, Fact fact, LLVMValueRef first) {
  Less l;
  if (!read_less(fact.condition, fact.holds, &l) || l.low != first || l.high != s->end)
    return false;
  bool no_sign = s->is_signed && cg_nvptx_range(s->end).lo >= 0;
  return l.is_signed == s->is_signed || l.both_ways || no_sign;
}

/* Is the counter's first value less than the end wherever the loop is entered? Where LLVM has seen
 * that it is, or the loop asks at its end alone, there is no such condition. */
static bool is_guarded(const Unroll *u) {
  LLVMValueRef first = graph_incoming(u->s.counter, u->entry);
  FnGraph g = graph_of(&u->cg->cx->arena, LLVMGetBasicBlockParent(u->block), NULL);
  Facts facts = {.n = 0};
  graph_loops(&g);
  cg_add_facts_of_edge(&facts, LLVMGetBasicBlockTerminator(u->entry), u->block);
  cg_add_facts_at(&facts, &g, graph_number(&g, u->entry));
  for (unsigned k = 0; k < facts.n; k++)
    if (implies(&u->s, facts.list[k], first))
      return true;
  return false;
}

/* --- writing --- */

static LLVMValueRef now(const Unroll *u, LLVMValueRef v) {
  uint32_t at = valuemap_get(&u->place, v);
  return at == VALUEMAP_NONE ? v : u->now[at];
}

static LLVMValueRef next_of(const Unroll *u, unsigned phi) {
  return now(u, graph_incoming(u->old[phi], u->block));
}

static void step_phis(Unroll *u) {
  LLVMValueRef *next = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis);
  for (unsigned k = 0; k < u->nphis; k++)
    next[k] = next_of(u, k);
  for (unsigned k = 0; k < u->nphis; k++)
    u->now[k] = next[k];
}

/* So many copies of the body, one behind the other. Where they end u->now is of the last one. */
static void write_copies(Unroll *u, unsigned copies) {
  LLVMValueRef *operands = NULL;
  int room = 0;
  for (unsigned c = 0; c < copies; c++) {
    if (c)
      step_phis(u);
    for (unsigned k = u->nphis; k < u->n; k++) {
      int n = LLVMGetNumOperands(u->old[k]);
      if (n > room)
        operands = CX_ARRAY(u->cg->cx, LLVMValueRef, (size_t)(room = n));
      for (int o = 0; o < n; o++)
        operands[o] = now(u, LLVMGetOperand(u->old[k], (unsigned)o));
      u->now[k] = copy_ins(u->cg->builder, u->old[k], operands);
    }
  }
}

LLVMBasicBlockRef cg_unroll_block(const Unroll *u) {
  return LLVMInsertBasicBlockInContext(u->cg->context, u->block, "");
}

/* Phis of what `first` has when control comes from there, and `next` when it comes from the other
 * block, where that is known already. They become what stands for the old ones. */
static void write_phis(Unroll *u, LLVMBasicBlockRef from, const LLVMValueRef *first,
                       LLVMBasicBlockRef other, const LLVMValueRef *next) {
  for (unsigned k = 0; k < u->nphis; k++) {
    LLVMValueRef phi = l_phi(u->cg->builder, LLVMTypeOf(u->old[k])), of[] = {first[k], NULL};
    of[1] = next ? next[k] : NULL;
    LLVMAddIncoming(phi, of, (LLVMBasicBlockRef[]){from, other}, next ? 2 : 1);
    u->now[k] = phi;
  }
}

LLVMValueRef cg_unroll_loop(Unroll *u, LLVMBasicBlockRef from, const LLVMValueRef *first,
                            unsigned copies, LLVMValueRef bound, LLVMBasicBlockRef out) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMBasicBlockRef loop = LLVMGetInsertBlock(b);
  LLVMValueRef *phis = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis);
  if (bound)
    write_phis(u, from, first, NULL, NULL);
  for (unsigned k = 0; k < u->nphis; k++)
    phis[k] = bound ? u->now[k] : (u->now[k] = first[k]);
  write_copies(u, copies);
  if (!bound) {
    l_br(b, out);
    return NULL;
  }
  for (unsigned k = 0; k < u->nphis; k++) {
    LLVMValueRef next = next_of(u, k);
    LLVMAddIncoming(phis[k], &next, &loop, 1);
  }
  Stride s = u->s;
  s.end = bound;
  return l_condbr(b, cg_stride_goes_on(u->cg, &s, now(u, s.next)), loop, out);
}

static bool is_used_outside(const Unroll *u, LLVMValueRef v) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
    if (LLVMGetInstructionParent(LLVMGetUser(use)) != u->block)
      return true;
  return false;
}

/* Of what is used behind the loop: its value where the rounds end, and no iteration is left. */
static LLVMValueRef at_the_end(const Unroll *u, unsigned old, LLVMBasicBlockRef front,
                               LLVMBasicBlockRef asked, LLVMValueRef v) {
  for (unsigned k = 0; k < u->nphis; k++)
    if (graph_incoming(u->old[k], u->block) == u->old[old])
      return u->now[k];
  LLVMTypeRef type = LLVMTypeOf(u->old[old]);
  LLVMValueRef phi = l_phi(u->cg->builder, type), of[] = {LLVMGetPoison(type), v};
  LLVMAddIncoming(phi, of, (LLVMBasicBlockRef[]){front, asked}, 2);
  return phi;
}

void cg_unroll_way(Unroll *u, LLVMBasicBlockRef from, const LLVMValueRef *values) {
  assert(u->nways < MAX_WAYS);
  UnrollWay *way = &u->ways[u->nways++];
  way->from = from;
  way->values = CX_ARRAY(u->cg->cx, LLVMValueRef, u->n);
  for (unsigned k = 0; k < u->n; k++)
    way->values[k] = values[k];
}

/* The old block becomes where all ways end, so that phis behind it keep their predecessor. What is
 * used there is from one of them. */
static void write_exit(Unroll *u) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(u->block);
  Fork fork = {0};
  graph_fork(branch, &fork);
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(u->block));
  for (unsigned k = 0; k < u->n; k++) {
    if (!is_used_outside(u, u->old[k]))
      continue;
    LLVMValueRef phi = l_phi(b, LLVMTypeOf(u->old[k]));
    for (unsigned w = 0; w < u->nways; w++)
      LLVMAddIncoming(phi, &u->ways[w].values[k], &u->ways[w].from, 1);
    LLVMReplaceAllUsesWith(u->old[k], phi);
  }
  LLVMInstructionEraseFromParent(branch);
  for (unsigned k = u->n; k-- > 0;) {
    LLVMReplaceAllUsesWith(u->old[k], LLVMGetPoison(LLVMTypeOf(u->old[k])));
    LLVMInstructionEraseFromParent(u->old[k]);
  }
  l_at_end(b, u->block, NULL);
  l_br(b, fork.yes == u->block ? fork.no : fork.yes);
}

/* The number below which the counter has a round behind it that all threads have: end - (count *
 * step - 1) is that of the thread that began at 0, and each is as far ahead of it as it began. */
static LLVMValueRef whole_bound(const Unroll *u) {
  LLVMBuilderRef b = u->cg->builder;
  uint64_t step = LLVMConstIntGetZExtValue(u->s.step),
           far = u->extra ? (u->count + u->extra) * step : u->count * step - 1;
  LLVMValueRef bound = l_sub(b, u->s.end, l_int(LLVMTypeOf(u->s.end), far));
  if (LLVMIsAInstruction(bound))
    LLVMSetNSW(bound, true);
  return l_add_nsw(b, bound, u->began);
}

/* Asks whether there is a round. Returns the bound of all rounds; NULL: there is one at most. */
static LLVMValueRef write_front(const Unroll *u, How how, LLVMBasicBlockRef main,
                                LLVMBasicBlockRef behind) {
  LLVMValueRef first = graph_incoming(u->s.counter, u->entry), bound = NULL, any;
  if (how == BY_NEXT)
    any = cg_stride_has(u->cg, &u->s, first, 1, NULL);
  else {
    Stride s = u->s;
    s.end = bound = u->began ? whole_bound(u) : bound_of(u->cg, &s, how, u->count - 1);
    any = cg_stride_goes_on(u->cg, &s, first);
  }
  l_condbr(u->cg->builder, any, main, behind);
  return u->once ? NULL : bound;
}

/* Is something left over behind the rounds? Where there was no round the first iteration is there:
 * with a guard, the counter says so, too; without one, a phi of `more` does. (LLVM makes jumps of
 * that phi, over which ptxas lets a warp's threads come together later.) */
static LLVMValueRef is_left(const Unroll *u, LLVMBasicBlockRef front, LLVMBasicBlockRef asked,
                            LLVMValueRef more) {
  if (!more)
    return cg_stride_goes_on(u->cg, &u->s, now(u, u->s.counter));
  LLVMValueRef left = l_phi(u->cg->builder, u->cg->t.i1), of[] = {l_int(u->cg->t.i1, 1), more};
  LLVMAddIncoming(left, of, (LLVMBasicBlockRef[]){front, asked}, 2);
  return left;
}

/* Of threads that began side by side, what is left over, by the number of iterations of the one
 * that began at 0, which the others have, too, or one less: more than half a round, or not; more
 * than a round, or not. */
static void write_left(Unroll *u, const LLVMValueRef *next, LLVMValueRef bound) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMBasicBlockRef ask = LLVMGetInsertBlock(b), more = cg_unroll_block(u),
                    less = cg_unroll_block(u);
  unsigned half = u->extra ? u->count : u->count / 2, most = u->count + u->extra;
  Stride s = u->s;
  uint64_t nearer = (most - half) * LLVMConstIntGetZExtValue(s.step) - !u->extra;
  LLVMValueRef back = l_sub(b, now(u, s.counter), l_int(LLVMTypeOf(bound), nearer));
  if (LLVMIsAInstruction(back)) /* the counter is not negative */
    LLVMSetNSW(back, true);
  s.end = bound; /* another one would take a register in the rounds */
  l_condbr(b, cg_stride_goes_on(u->cg, &s, back), more, less);
  l_at_end(b, more, NULL);
  LLVMValueRef branch = cg_unroll_loop(u, ask, next, 1, u->s.end, u->block);
  cg_mark_left(u->cg->context, branch, most, half);
  cg_unroll_way(u, more, u->now);
  l_at_end(b, less, NULL);
  branch = cg_unroll_loop(u, ask, next, 1, u->s.end, u->block);
  cg_mark_left(u->cg->context, branch, half, u->extra);
  cg_unroll_way(u, less, u->now);
}

static void write(Unroll *u, How how) {
  LLVMBuilderRef b = u->cg->builder;
  bool guarded = is_guarded(u);
  bool asks = !guarded && !u->extra; /* whether an iteration is left over: it is, if extra */
  LLVMBasicBlockRef front = cg_unroll_block(u), main = cg_unroll_block(u),
                    asked = asks ? cg_unroll_block(u) : main, behind = cg_unroll_block(u),
                    rest = u->extra ? NULL : cg_unroll_block(u);
  LLVMValueRef *first = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis),
               *next = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis),
               *end = CX_ARRAY(u->cg->cx, LLVMValueRef, u->n), more = NULL;
  for (unsigned k = 0; k < u->nphis; k++)
    first[k] = graph_incoming(u->old[k], u->entry);
  graph_redirect(LLVMGetBasicBlockTerminator(u->entry), u->block, front);
  LLVMBasicBlockRef alone = u->alone ? cg_rows_write_alone(u, first, front) : NULL,
                    few = alone ? cg_rows_write_counted(u, first, alone) : NULL;

  l_at_end(b, front, NULL);
  LLVMValueRef bound = write_front(u, how, main, few ? few : behind);
  l_at_end(b, main, NULL);
  LLVMValueRef unrolled = cg_unroll_loop(u, front, first, u->count, bound, asks ? asked : behind);
  for (unsigned k = 0; k < u->nphis; k++)
    next[k] = next_of(u, k);
  for (unsigned k = 0; k < u->n; k++)
    end[k] = u->now[k];
  if (asks) {
    l_at_end(b, asked, NULL);
    more = cg_stride_goes_on(u->cg, &u->s, now(u, u->s.next));
    l_br(b, behind);
  }

  l_at_end(b, behind, NULL);
  if (few)
    step_phis(u);
  else {
    write_phis(u, front, first, asked, next);
    for (unsigned k = 0; k < u->n && !u->extra; k++)
      end[k] = is_used_outside(u, u->old[k]) ? at_the_end(u, k, front, asked, end[k]) : NULL;
  }
  for (unsigned k = 0; k < u->nphis; k++)
    next[k] = u->now[k];
  LLVMValueRef left = NULL;
  if (!u->extra) { /* else there is something left over */
    cg_unroll_way(u, behind, end);
    l_condbr(b, few && more ? more : is_left(u, front, asked, more), rest, u->block);
    l_at_end(b, rest, NULL);
  }
  if (u->began)
    write_left(u, next, bound);
  else {
    left = cg_unroll_loop(u, behind, next, 1, u->count > 2 ? u->s.end : NULL, u->block);
    cg_unroll_way(u, rest, u->now);
  }
  cg_mark_made(u->cg->context, unrolled, left, u->count);
  write_exit(u);
}

/* The one iteration, and a few of them, where there may be; and the loop as it was, whose block is
 * returned. */
static LLVMBasicBlockRef write_apart(Unroll *u, bool few) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMBasicBlockRef front = cg_unroll_block(u), loop = cg_unroll_block(u);
  LLVMValueRef *first = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis);
  for (unsigned k = 0; k < u->nphis; k++)
    first[k] = graph_incoming(u->old[k], u->entry);
  graph_redirect(LLVMGetBasicBlockTerminator(u->entry), u->block, front);
  cg_rows_write_lanes(u, first, front, few);
  l_at_end(b, front, NULL);
  l_br(b, loop);
  l_at_end(b, loop, NULL);
  LLVMValueRef branch = cg_unroll_loop(u, front, first, 1, u->s.end, u->block);
  cg_mark_unrolled(u->cg->context, branch, u->count);
  cg_unroll_way(u, loop, u->now);
  write_exit(u);
  return loop;
}

static bool read_block(Unroll *u) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(u->block), i;
  for (i = LLVMGetFirstInstruction(u->block); i != end; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i) ? LLVMCountIncoming(i) != 2 : LLVMIsAAllocaInst(i) != NULL)
      return false;
    u->nphis += LLVMIsAPHINode(i) != NULL;
    u->n++;
  }
  u->old = CX_ARRAY(u->cg->cx, LLVMValueRef, u->n);
  u->now = CX_ARRAY(u->cg->cx, LLVMValueRef, u->n);
  unsigned k = 0;
  for (i = LLVMGetFirstInstruction(u->block); i != end; i = LLVMGetNextInstruction(i)) {
    valuemap_set(&u->place, i, k);
    u->old[k++] = i;
  }
  bool second = LLVMGetIncomingBlock(u->s.counter, 0) == u->block;
  u->entry = LLVMGetIncomingBlock(u->s.counter, second);
  return true;
}

bool cg_nvptx_unroll_stride(Cg *cg, LLVMBasicBlockRef block, unsigned count, unsigned most) {
  Unroll u = {.cg = cg,
              .block = block,
              .count = count,
              .once = most && most < 2 * count,
              .place = {.arena = &cg->cx->arena}};
  assert(count > 1);
  if (!cg_read_stride(block, &u.s) || !read_block(&u))
    return false;
  How how = u.once && count == 2 ? BY_NEXT : how_to_bound(&u.s, count - 1);
  if (how == NOT_KNOWN)
    return false;
  u.alone = !u.once && cg_rows_may_be_alone(&u);
  write(&u, how);
  return true;
}

/* --- loops --- */

bool cg_nvptx_has_loops_to_unroll(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (cg_mark_of(cg, b, MARK_COUNT))
        return true;
  return false;
}

/* A counter of 64 bits that is one of 32 bits extended, as LLVM makes it where it is also stored as
 * an int64, becomes that one: `next` is its number and a step. */
static void narrow_counter(Cg *cg, LLVMBasicBlockRef block) {
  Stride s;
  if (!read_condition(block, &s) || !is_inside(block, s.next) || !cg_is_op(s.next, LLVMAdd))
    return;
  LLVMValueRef wide = NULL;
  for (unsigned o = 0; o < 2; o++)
    if (LLVMIsATruncInst(LLVMGetOperand(s.next, o)))
      wide = LLVMGetOperand(LLVMGetOperand(s.next, o), 0);
  if (!wide || !is_inside(block, wide) || !LLVMIsAPHINode(wide) || LLVMCountIncoming(wide) != 2)
    return;
  bool second = LLVMGetIncomingBlock(wide, 0) == block;
  LLVMValueRef again = LLVMGetIncomingValue(wide, !second),
               first = LLVMGetIncomingValue(wide, second);
  LLVMTypeRef type = LLVMTypeOf(s.next);
  if (!LLVMIsAZExtInst(again) || LLVMGetOperand(again, 0) != s.next || !LLVMIsAZExtInst(first) ||
      LLVMTypeOf(LLVMGetOperand(first, 0)) != type)
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, wide);
  LLVMValueRef phi = l_phi(b, type), of[] = {LLVMGetOperand(first, 0), s.next};
  LLVMAddIncoming(phi, of, (LLVMBasicBlockRef[]){LLVMGetIncomingBlock(wide, second), block}, 2);
  for (LLVMUseRef use = LLVMGetFirstUse(wide), then; use; use = then) {
    then = LLVMGetNextUse(use);
    if (LLVMIsATruncInst(LLVMGetUser(use)) && LLVMTypeOf(LLVMGetUser(use)) == type)
      LLVMReplaceAllUsesWith(LLVMGetUser(use), phi);
  }
  LLVMPositionBuilderBefore(b, graph_behind_phis(block));
  LLVMValueRef extended = l_zext(b, phi, LLVMTypeOf(wide));
  LLVMSetNNeg(extended, LLVMGetNNeg(again) && LLVMGetNNeg(first));
  LLVMReplaceAllUsesWith(wide, extended);
  LLVMInstructionEraseFromParent(wide);
  copy_erase_unused(again);
}

static bool steps_by_constant(LLVMBasicBlockRef b) {
  Stride s;
  return cg_read_stride(b, &s) && LLVMIsAConstantInt(s.step);
}

/* Over a store, and a quotient, ptxas moves no load. Then both kinds of what is left over, beside
 * the rounds, take more registers than they save time (warp_softmax: 32 -> 38). */
static bool holds_loads(const Unroll *u) {
  for (unsigned k = u->nphis; k < u->n; k++)
    if (cg_is_op(u->old[k], LLVMStore) || cg_is_slow(u->cg, u->old[k]))
      return true;
  return false;
}

/* Does an iteration load a word at most? Then a round and half of one are in registers at once. */
static bool loads_one_word(const Unroll *u) {
  unsigned words = 0;
  for (unsigned k = u->nphis; k < u->n; k++)
    words += cg_is_op(u->old[k], LLVMLoad) ? cg_nvptx_words_of(u->cg, u->old[k]) : 0;
  return words == 1;
}

/* Unrolls one whose threads begin side by side, so that all have the same rounds. few: no more than
 * FEW iterations do not come here. */
static void unroll_together(Cg *cg, LLVMBasicBlockRef block, unsigned count, bool few) {
  Unroll u = {.cg = cg, .block = block, .count = count, .place = {.arena = &cg->cx->arena}};
  if (count < FACTOR || !cg_read_stride(block, &u.s) || !read_block(&u) || holds_loads(&u))
    return;
  u.extra = few && count == 2 * ROWS_FEW && loads_one_word(&u) ? ROWS_FEW : 0;
  if (how_to_bound(&u.s, count + u.extra) != DIRECTLY)
    return;
  u.began = graph_incoming(u.s.counter, u.entry);
  write(&u, DIRECTLY);
}

/* Of a loop whose step is a constant (a warp's lanes share a row): what there is of short rows in
 * front of it, and the rounds that all threads have. LLVM unrolls others. */
static void unroll_lanes(Cg *cg, LLVMBasicBlockRef block, unsigned count) {
  Unroll u = {.cg = cg, .block = block, .count = count, .place = {.arena = &cg->cx->arena}};
  if (!cg_read_stride(block, &u.s) || !read_block(&u) || !cg_rows_are_of_lanes(&u))
    return;
  bool together = cg_rows_begin_side_by_side(&u), few = together && cg_rows_may_be_few(&u);
  if (few || cg_rows_may_be_alone(&u))
    block = write_apart(&u, few);
  if (together)
    unroll_together(cg, block, count, few);
}

void cg_nvptx_unroll_strides(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      unsigned count = cg_mark_of(cg, b, MARK_COUNT);
      if (!count || cg_mark_of(cg, b, MARK_WHOLE))
        continue;
      narrow_counter(cg, b);
      if (steps_by_constant(b))
        unroll_lanes(cg, b, count);
      else if (count == FACTOR)
        cg_nvptx_unroll_stride(cg, b, FACTOR, 0);
    }
}
