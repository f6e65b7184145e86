/* Last steps: ranges that end within a step of 64 bits.
 *
 * `for i in range(a, b, s)` goes on while i < b. Where b is less than s below 2**63, the step
 * behind the last item wraps, and i < b holds again. So a loop of which the intervals do not
 * exclude that is asked in front of the step: it goes on while i < b - s, which is computed once,
 * in front of the loop, and stays within 64 bits since all items are. The test in the header
 * becomes a phi of the two questions, a < b from outside and i < b - s from the latch, out of which
 * LLVM's loop rotation makes the loop that it makes of others, with one comparison.
 *
 * The other passes see the loop as it was written, whose counter does not wrap: this is the last
 * one. The host's passes over LLVM IR know a thread's loop by the launch's stride by its test
 * (host/joined_blocks.c, lanes), and so that stays: such a range is an error there. */
#include "codegen/ssa/last_steps.h"

#include <assert.h>

#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/interval.h"

typedef struct Range {
  Ins *phi, *test, *next, *stop, *step;
  Block *before, *latch;
  uint32_t entry; /* the operand of phi from `before` */
} Range;

static bool is_long(const Ins *i) { return ty_kind(i->type) == KIND_INT && ty_bits(i->type) == 64; }

/* The range of a generator expression is a tuple, whose parts are taken where they are read. */
static bool is_same(const Ins *a, const Ins *b) {
  return a == b || (a->op == OP_TUPLE_GET && b->op == OP_TUPLE_GET && a->args[0] == b->args[0] &&
                    a->aux.i == b->aux.i);
}

/* phi < stop, or phi > stop. */
static bool compares(const Ins *test, const Ins *phi, const Ins *stop) {
  return (test->op == OP_LT || test->op == OP_GT) && test->args[0] == phi &&
         (!stop || is_same(test->args[1], stop));
}

static bool is_upward(const Ins *i, const Ins *step) {
  return i->op == OP_GT && is_same(i->args[0], step) && i->args[1]->op == OP_CONST &&
         i->args[1]->aux.frozen->kind == FZ_INT && i->args[1]->aux.frozen->i == 0;
}

/* Where the sign is not known: s > 0 ? phi < stop : phi > stop. */
static bool is_test(const Ins *test, const Ins *phi, const Ins *step, Ins **stop) {
  const Ins *first = test->op == OP_SELECT ? test->args[1] : test;
  if (!compares(first, phi, NULL))
    return false;
  *stop = first->args[1];
  return test->op != OP_SELECT ||
         (is_upward(test->args[0], step) && compares(test->args[2], phi, *stop));
}

static bool is_before(const Ins *i, const Block *b) {
  return i->op == OP_CONST || ir_dominates(i->block, b) ||
         (i->op == OP_TUPLE_GET && is_before(i->args[0], b));
}

static bool read_range(Ins *phi, Range *r) {
  Block *h = phi->block;
  if (!is_long(phi) || phi->nargs != 2 || h->last->op != OP_CONDBR)
    return false;
  r->entry = ir_dominates(h, h->preds.data[0]);
  r->phi = phi;
  r->test = h->last->args[0];
  r->next = phi->args[!r->entry];
  r->before = h->preds.data[r->entry];
  r->latch = h->preds.data[!r->entry];
  if (!ir_dominates(h, r->latch) || r->next->op != OP_ADD || !(r->next->flags & INS_NO_WRAP) ||
      r->next->args[0] != phi || !is_test(r->test, phi, r->next->args[1], &r->stop))
    return false;
  r->step = r->next->args[1];
  return r->stop->type == phi->type && r->step->type == phi->type &&
         is_before(r->stop, r->before) && is_before(r->step, r->before);
}

static bool is_by_one(const Ins *step) {
  const Frozen *k = step->op == OP_CONST ? step->aux.frozen : NULL;
  return k && k->kind == FZ_INT && (k->i == 1 || k->i == -1);
}

/* May the step behind the last item leave 64 bits? */
static bool may_wrap(const Intervals *v, const Range *r) {
  Interval stop = ir_interval_at(v, r->stop, r->before),
           step = ir_interval_at(v, r->step, r->before);
  bool both = r->test->op == OP_SELECT, up = both || r->test->op == OP_LT,
       down = both || r->test->op == OP_GT;
  return (up && step.hi > 1 && stop.hi + step.hi - 1 > INT64_MAX) ||
         (down && step.lo < -1 && stop.lo + step.lo + 1 < INT64_MIN);
}

static Ins *put(Cx *cx, Fn *fn, Ins *at, Op op, const Type *type, Ins *const *args, uint32_t n) {
  Ins *i = ir_ins(cx, fn, op, type, at->loc, args, n);
  ir_insert_before(at, i);
  return i;
}

static Ins *number(Cx *cx, Fn *fn, Ins *at, const Type *type, const Frozen *n) {
  Ins *i = ir_const(cx, fn, n, type, at->loc);
  ir_insert_before(at, i);
  return i;
}

/* A constant, and a part of a tuple, may stand behind `at`. */
static Ins *at_hand(Cx *cx, Fn *fn, Ins *at, Ins *i) {
  if (i->op == OP_CONST)
    return number(cx, fn, at, i->type, i->aux.frozen);
  if (i->op != OP_TUPLE_GET || ir_dominates(i->block, at->block))
    return i;
  Ins *part = put(cx, fn, at, OP_TUPLE_GET, i->type, i->args, 1);
  part->aux = i->aux;
  return part;
}

/* stop - step, or the end of int64 that this is beyond; in front of the loop. Of an unknown sign
 * there are two, of which one may wrap, which is not the one that is asked for. */
static Ins *bound(Cx *cx, Fn *fn, const Range *r, Op compare) {
  Ins *at = r->before->last;
  const Type *type = r->phi->type, *truth = r->phi->block->last->args[0]->type;
  Ins *step = at_hand(cx, fn, at, r->step), *stop = at_hand(cx, fn, at, r->stop);
  Ins *end = number(cx, fn, at, type, fz_int(cx, compare == OP_LT ? INT64_MIN : INT64_MAX)),
      *least = put(cx, fn, at, OP_ADD, type, (Ins *[]){end, step}, 2),
      *beyond = put(cx, fn, at, compare, truth, (Ins *[]){stop, least}, 2),
      *from = put(cx, fn, at, OP_SELECT, type, (Ins *[]){beyond, least, stop}, 3);
  Ins *less = put(cx, fn, at, OP_SUB, type, (Ins *[]){from, step}, 2);
  least->flags |= INS_NO_WRAP;
  less->flags |= INS_NO_WRAP;
  return less;
}

/* The test `t` in front of `at`, of another value than the counter; `last`: and of the bound. */
static Ins *ask(Cx *cx, Fn *fn, const Range *r, const Ins *t, Ins *at, Ins *value, bool last) {
  if (t->op == OP_SELECT) {
    Ins *zero = number(cx, fn, at, r->step->type, fz_int(cx, 0)),
        *upward = put(cx, fn, at, OP_GT, t->type, (Ins *[]){at_hand(cx, fn, at, r->step), zero}, 2),
        *up = ask(cx, fn, r, t->args[1], at, value, last),
        *down = ask(cx, fn, r, t->args[2], at, value, last);
    return put(cx, fn, at, OP_SELECT, t->type, (Ins *[]){upward, up, down}, 3);
  }
  Ins *stop = last ? bound(cx, fn, r, t->op) : at_hand(cx, fn, at, r->stop);
  return put(cx, fn, at, t->op, t->type, (Ins *[]){value, stop}, 2);
}

static void leave_before(Cx *cx, Fn *fn, const Range *r) {
  Block *h = r->phi->block;
  Ins *goes_on[2];
  goes_on[r->entry] = ask(cx, fn, r, r->test, r->before->last, r->phi->args[r->entry], false);
  goes_on[!r->entry] = ask(cx, fn, r, r->test, r->latch->last, r->phi, true);
  Ins *phi = ir_ins(cx, fn, OP_PHI, r->test->type, r->test->loc, goes_on, 2);
  ir_insert_phi(h, phi);
  h->last->args[0] = phi;
}

/* Is it the loop of a thread by a stride of the launch? The host's passes know that by its test. */
static bool is_stride(const Range *r) {
  return r->test->op != OP_SELECT && r->step->op != OP_CONST;
}

/* An error in front of the loop if stop - 1 + step > 2**63 - 1. Where it begins, which differs from
 * thread to thread, is not asked. */
static void refuse(Cx *cx, Program *program, Fn *fn, const Range *r) {
  Ins *at = r->before->last;
  const Type *type = r->phi->type, *truth = r->test->type;
  Ins *one = number(cx, fn, at, type, fz_int(cx, 1)),
      *most = number(cx, fn, at, type, fz_int(cx, INT64_MAX)),
      *less = put(cx, fn, at, OP_SUB, type, (Ins *[]){r->step, one}, 2),
      *limit = put(cx, fn, at, OP_SUB, type, (Ins *[]){most, less}, 2),
      *stop = at_hand(cx, fn, at, r->stop);
  less->flags |= INS_NO_WRAP;
  limit->flags |= INS_NO_WRAP;
  Ins *fine = put(cx, fn, at, OP_LE, truth, (Ins *[]){stop, limit}, 2),
      *check = put(cx, fn, at, OP_CHECK, ty_scalar(cx, TY_VOID), (Ins *[]){fine, stop, r->step}, 3);
  check->loc = r->test->loc;
  check->aux.site = ir_site(cx, program, "OverflowError",
                            "a range ends at {0}, within its step of {1} from 2**63", check->loc);
}

void cg_leave_before_last_steps(Cx *cx, Program *host, Fn *fn) {
  assert(fn->typed && fn->entry->rpo == 0 && !fn->entry->idom);
  Intervals *v = NULL;
  VEC(Range) all = {0};
  FOR_BLOCKS (fn, b)
    for (Ins *i = b->first; i && i->op == OP_PHI; i = i->next) {
      Range r;
      if (i->flags & (INS_I32 | INS_U32) || !read_range(i, &r) || is_by_one(r.step))
        continue;
      v = v ? v : ir_intervals(cx, fn);
      if (may_wrap(v, &r))
        VEC_PUSH(&cx->arena, &all, r);
    }
  for (uint32_t k = 0; k < all.len; k++)
    if (!host || !is_stride(&all.data[k]))
      leave_before(cx, fn, &all.data[k]);
    else if (cx->checked)
      refuse(cx, host, fn, &all.data[k]);
}
