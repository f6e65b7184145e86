/* Range versions: loops over ranges of which too little is known, written twice.
 *
 * A step known at run time only:
 *
 *   for k in range(start, stop, step):
 *
 * goes on while k < stop if the step is positive, and while k > stop if it is negative: two
 * comparisons and a selection in each iteration, and a counter of which nothing is known. Nearly
 * always the step is positive and the start is not negative. So the loop is written twice, with a
 * test in front:
 *
 *   if step > 0 and start >= 0:
 *     while k < stop: …      # a counter like others: the analyses behind narrow and unroll it
 *   else:
 *     while k < stop if step > 0 else k > stop: …
 *
 * A start that may be negative, of a counter that is an index: one that was read (a row of a sparse
 * matrix, a node's neighbours), or computed (a thread's part of an array):
 *
 *   for k in range(starts[row], starts[row + 1]):
 *     s += x[k]
 *   for k in range(i * chunk, min((i + 1) * chunk, x.size)):
 *     s += x[k]
 *
 * Each index may be negative, and is wrapped in an iteration of its own, so that the loads of
 * neighbouring iterations have an address each. With a test in front none is:
 *
 *   if start >= 0 and stop < 2**31:   # of 32-bit numbers the first alone
 *     while k < stop: …      # no index is wrapped
 *   else:
 *     while k < stop: …      # INS_ROLLED: it hardly ever runs, and is not unrolled
 *
 * Rows of constant columns:
 *
 *   for k in range(points.shape[0]):
 *     s += points[k, 0] * points[k, 1]
 *
 * In CUDA C++ such a row has a constant width; here it is an extent, and each row has an address of
 * its own in place of a distance from the one before. Rows of which all columns up to some are read
 * most likely have no others:
 *
 *   if points.shape[1] == 2:
 *     while k < stop: …      # of points.reshape(points.shape[0], 2)
 *   else:
 *     while k < stop: …
 *
 * Indices that are checked (debug=True, boundscheck=True):
 *
 *   for k in range(0, 32, 8):
 *     tile[y + k, x] = …
 *
 * Each check may end the thread, so that no load goes before it, and none is in flight with that of
 * the next iteration. An index that grows with the counter is in range in all iterations if it is
 * in the first and in the last, and those are compared in front:
 *
 *   if 0 <= y + 0 <= y + 24 < 32 and 0 <= x < 33:
 *     while k < stop: …      # without these checks
 *   else:
 *     while k < stop: …      # rolled: it ends at the index that is out of range, as ever
 *
 * Products that may not fit 32 bits:
 *
 *   for j in range(-radius, radius + 1):
 *     near += i * i + j * j <= radius * radius
 *
 * Those of numbers of at most 15 bits do, and a filter's place in its window has no more:
 *
 *   if -32767 <= -radius and radius + 1 <= 32768 and -32767 <= i <= 32767:
 *     while k < stop: …      # the products, their sum and the comparison in 32 bits
 *   else:
 *     while k < stop: …      # rolled
 *
 * So do distances from a place, (j - x) * (j - x), which are compared at both ends of the range.
 *
 * In: a strict Fn in order, with one back edge a loop and dominators. Out: the same, with two
 * versions of each small loop of these kinds. A loop that synchronises threads, calls long
 * functions or may stop other than at an index stays as it is. */
#include "codegen/ssa/range_versions.h"

#include <assert.h>

#include "codegen/ssa/range_private.h"
#include "ir/cfg.h"

#define LARGEST INT64_C(0x7fffffff)

enum {
  MAX_SIZE = 100,  /* operations of a loop that is written twice */
  MAX_RANGES = 64, /* of a function, over all of which each goes */
  MAX_ROWS = 160,  /* as MAX_SIZE, of a loop over rows of constant columns */
  MAX_WIDTH = 32,
  MAX_CHECKED = 200, /* as MAX_SIZE, of a loop that is written without them */
  MAX_DEPTH = 6,     /* of the expression of an index */
  MAX_OPERANDS = 3,  /* of an operation of it */
  MAX_CALLS = 2,     /* one in another, of functions that have the counter as an index */
};

/* --- the form of the loop --- */

static bool is_zero(const Ins *i) {
  int64_t n;
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, &n) && n == 0;
}

/* select(step > 0, k < stop, k > stop) */
static bool read_selection(Range *r, Ins **of) {
  Ins *up = of[0], *less = of[1], *more = of[2];
  r->less = less;
  r->step = up->args[0];
  return up->op == OP_GT && is_zero(up->args[1]) && less->op == OP_LT && more->op == OP_GT &&
         less->args[0] == more->args[0] && less->args[1] == more->args[1] &&
         !ssa_in_loop(&r->loop, r->step->block);
}

/* That selection, or k < stop. */
static bool read_condition(Range *r) {
  Block *header = r->loop.blocks[0];
  Ins *end = header->last;
  if (end->op != OP_CONDBR || !ssa_in_loop(&r->loop, header->succ[0]) ||
      ssa_in_loop(&r->loop, header->succ[1]))
    return false;
  Ins *condition = end->args[0];
  r->less = condition;
  r->known = condition->op == OP_LT;
  if (!r->known && (condition->op != OP_SELECT || !read_selection(r, condition->args)))
    return false;
  r->outside = header->succ[1];
  r->counter = r->less->args[0];
  r->stop = r->less->args[1];
  return r->counter->op == OP_PHI && r->counter->block == header;
}

/* The counter starts outside and goes on by the step. */
static bool read_counter(Range *r) {
  if (r->counter->nargs != 2 || r->counter->block->preds.len != 2)
    return false;
  bool second = r->counter->block->preds.data[1] == r->latch;
  const Ins *next = r->counter->args[second];
  r->start = r->counter->args[!second];
  if (r->counter->block->preds.data[second] != r->latch || next->op != OP_ADD)
    return false;
  int64_t n;
  Ins *by = next->args[next->args[0] == r->counter];
  if (r->known) {
    r->step = by;
    if (by->op != OP_CONST || !fz_get_int(by->aux.frozen, &n) || n <= 0)
      return false;
  }
  return by == r->step && (next->args[0] == r->counter || next->args[1] == r->counter);
}

bool ssa_is_int64(const Type *t) {
  return ty_kind(t) == KIND_INT && ty_is_signed(t) && ty_bits(t) == 64;
}

/* --- counters that are indices --- */

Intervals *ssa_intervals_of(Versions *of) {
  of->intervals = of->intervals ? of->intervals : ir_intervals(of->cx, of->fn);
  return of->intervals;
}

bool ssa_may_be_negative(Range *r, const Ins *i, const Block *b) {
  return !(i->flags & INS_NONNEGATIVE) && ir_interval_at(ssa_intervals_of(r->of), i, b).lo < 0;
}

static bool is_or_adds(const Ins *i, const Ins *counter) {
  while (i != counter && i->op == OP_CAST && ssa_is_int64(i->args[0]->type))
    i = i->args[0];
  return i == counter || (i->op == OP_ADD && (i->args[0] == counter || i->args[1] == counter));
}

/* Does the operation wrap operand k as an index, or a function that it calls? */
static bool wraps_operand(const Ins *i, uint32_t k, unsigned calls) {
  if (i->op == OP_WRAP_INDEX)
    return k == 0;
  if (i->op != OP_CALL_FN || !calls || i->aux.fn->recursive)
    return false;
  const Ins *param = i->aux.fn->params[k];
  FOR_BLOCKS (i->aux.fn, b)
    FOR_INS (b, user)
      for (uint32_t n = 0; n < user->nargs; n++)
        if (is_or_adds(user->args[n], param) && wraps_operand(user, n, calls - 1))
          return true;
  return false;
}

static bool is_index(Range *r) {
  for (unsigned b = 0; b < r->loop.n; b++)
    FOR_INS (r->loop.blocks[b], i)
      for (uint32_t k = 0; k < i->nargs; k++)
        if (is_or_adds(i->args[k], r->counter) && wraps_operand(i, k, MAX_CALLS) &&
            ssa_may_be_negative(r, i->args[k], i->block))
          return true;
  return false;
}

static bool has_any_start(Range *r) {
  const Type *t = r->counter->type;
  return ty_kind(t) == KIND_INT && ty_is_signed(t) && ty_bits(t) == 64 && r->stop->type == t &&
         !ssa_in_loop(&r->loop, r->stop->block) && is_index(r) &&
         ssa_may_be_negative(r, r->start, r->counter->block);
}

/* May the counter reach numbers that do not fit int32? */
static bool is_far(const Range *r) {
  const Ins *i = r->stop;
  while (i->op == OP_CAST)
    i = i->args[0];
  const Type *stop = i->type;
  return ty_kind(stop) != KIND_INT || ty_bits(stop) > (ty_is_signed(stop) ? 32 : 16);
}

static bool read_range(Range *r, Block *header, Block *latch) {
  r->latch = latch;
  return ssa_small_loop(&r->loop, header, latch) && ssa_is_short(&r->loop, MAX_SIZE) &&
         read_condition(r) && read_counter(r) && (!r->known || has_any_start(r));
}

/* --- rows of constant columns --- */

static Rows *rows_of(Range *r, Ins *array) {
  for (unsigned k = 0; k < r->nrows; k++)
    if (r->rows[k].array == array)
      return &r->rows[k];
  if (r->nrows == MAX_ARRAYS)
    return NULL;
  r->rows[r->nrows] = (Rows){.array = array};
  return &r->rows[r->nrows++];
}

static bool is_of_rows(const Ins *array) {
  const Type *t = array->type;
  return array->op == OP_PARAM && t->id == TY_ARRAY && t->ndim > 1 && t->layout == LAYOUT_C &&
         !t->wide && t->elem->id != TY_RECORD;
}

static void read_columns(const SmallLoop *loop, Rows *rows, const Ins *load) {
  for (unsigned axis = 1; axis < load->args[0]->type->ndim; axis++) {
    const Ins *at = load->args[1 + axis];
    int64_t n;
    bool known = at->op == OP_CONST && fz_get_int(at->aux.frozen, &n) && n >= 0 && n < MAX_WIDTH;
    rows->columns[axis] |= known ? (uint32_t)1 << n : 0;
    rows->other |= !known || load->type->id == TY_TUPLE;
  }
  rows->varies |= ssa_in_loop(loop, load->args[1]->block);
}

/* How wide the rows are if they have no columns but those that are read: 0, 1, …; 0: some are not
 * read. */
static unsigned width_of(const Rows *rows, unsigned axis) {
  uint32_t all = rows->columns[axis];
  return all & (all + 1) ? 0 : (unsigned)__builtin_popcount(all);
}

static bool is_dense(const Rows *rows) {
  bool dense = rows->varies && !rows->other;
  unsigned all = 1;
  for (unsigned axis = 1; dense && axis < rows->array->type->ndim; axis++) {
    all *= width_of(rows, axis);
    dense = all > 0;
  }
  return dense && all > 1;
}

/* Finds the arrays of which the loop reads such rows, and which it does not use otherwise. */
static bool read_rows(Range *r) {
  unsigned kept = 0;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t a = 0; a < i->nargs; a++) {
        Rows *rows = i->op != OP_EXTENT && is_of_rows(i->args[a]) ? rows_of(r, i->args[a]) : NULL;
        if (rows && i->op == OP_LOAD)
          read_columns(&r->loop, rows, i);
        else if (rows)
          rows->other = true;
      }
  for (unsigned k = 0; k < r->nrows; k++)
    if (is_dense(&r->rows[k]))
      r->rows[kept++] = r->rows[k];
  r->nrows = kept;
  return kept > 0;
}

/* Is it a loop over such rows, left from its header? */
static bool read_loop_of_rows(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .latch = latch};
  if (!ssa_small_loop(&r->loop, header, latch) || !ssa_is_short(&r->loop, MAX_ROWS) ||
      header->preds.len != 2 || header->last->op != OP_CONDBR ||
      !ssa_in_loop(&r->loop, header->succ[0]) || ssa_in_loop(&r->loop, header->succ[1]))
    return false;
  r->less = header->last->args[0];
  r->outside = header->succ[1];
  return read_rows(r);
}

/* --- indices that are checked --- */

/* Is it a number that is known before the loop, or can be computed there? */
static bool is_known_before(const Range *r, const Ins *i, unsigned depth) {
  if (!ssa_in_loop(&r->loop, i->block))
    return true;
  bool pure = i->op == OP_INTRINSIC ? ir_intrinsics[i->aux.intrinsic].effect == EFFECT_PURE
                                    : ir_op_info[i->op].effect == EFFECT_PURE;
  if (!depth || !pure || i->nargs > MAX_OPERANDS || ty_kind(i->type) != KIND_INT)
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (!is_known_before(r, i->args[k], depth - 1))
      return false;
  return true;
}

static const Along *along_of(const Range *r, const Ins *i) {
  for (unsigned k = 0; k < r->nalong; k++)
    if (r->along[k].phi == i)
      return &r->along[k];
  return NULL;
}

static Course turned(Course c) { return c == RISES ? FALLS : c == FALLS ? RISES : c; }

Course ssa_course_of(const Range *r, const Ins *i, unsigned depth) {
  if (i == r->counter || along_of(r, i))
    return RISES;
  if (is_known_before(r, i, depth))
    return STAYS;
  bool sum = i->op == OP_ADD || i->op == OP_SUB;
  if (!depth || !ssa_is_int64(i->type) || !(sum || i->op == OP_MUL || i->op == OP_CAST))
    return ANY;
  Course a = ssa_is_int64(i->args[0]->type) ? ssa_course_of(r, i->args[0], depth - 1) : ANY;
  if (i->op == OP_CAST)
    return a;
  Course b = ssa_course_of(r, i->args[1], depth - 1), moves = a == STAYS ? b : b == STAYS ? a : ANY;
  if (i->op == OP_SUB && moves == b)
    return turned(b);
  return sum || moves == ANY ? moves : MOVES;
}

/* Those of the header, the first block, are made once more where the loop ends. */
static void read_checks(Range *r) {
  r->nchecks = 0;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      Course c = i->op == OP_CHECK_INDEX && r->nchecks < MAX_CHECKS &&
                         is_known_before(r, i->args[1], MAX_DEPTH)
                     ? ssa_course_of(r, ssa_unwrapped(i->args[0]), MAX_DEPTH)
                     : ANY;
      if (c != ANY && c != MOVES)
        r->checks[r->nchecks++] = i;
    }
}

/* A range upward of int64. */
bool ssa_read_upward(Range *r, Block *header, Block *latch, unsigned most) {
  int64_t step;
  r->latch = latch;
  return ssa_small_loop(&r->loop, header, latch) && ssa_is_short(&r->loop, most) &&
         read_condition(r) && r->known && read_counter(r) && ssa_is_int64(r->counter->type) &&
         r->stop->type == r->counter->type && is_known_before(r, r->stop, MAX_DEPTH) &&
         fz_get_int(r->step->aux.frozen, &step) && step <= LARGEST;
}

/* Is it one with such checks? */
static bool read_checked(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of};
  if (!ssa_read_upward(r, header, latch, MAX_CHECKED))
    return false;
  read_checks(r);
  return r->nchecks > 0;
}

/* --- products that may not fit 32 bits --- */

Ins *ssa_uncast(Ins *i) {
  while (i->op == OP_CAST && ssa_is_int64(i->args[0]->type))
    i = i->args[0];
  return i;
}

/* The counter, what the loop does not change, or a sum or difference that moves with the counter.
 * In the header it would be computed once more than there are iterations. */
static bool can_be_factor(const Range *r, const Ins *i) {
  if (i == r->counter || !i->block || !ssa_in_loop(&r->loop, i->block))
    return true;
  Course c = ssa_course_of(r, i, MAX_DEPTH);
  return (i->op == OP_ADD || i->op == OP_SUB) && i->block != r->loop.blocks[0] && c != ANY &&
         c != MOVES;
}

static bool add_factor(Range *r, Ins *i, int64_t most) {
  for (unsigned k = 0; k < r->nfactors; k++)
    if (r->factors[k].ins == i && r->factors[k].most <= most)
      return true;
  bool can = r->nfactors < MAX_FACTORS && ssa_is_int64(i->type) && can_be_factor(r, i);
  if (can)
    r->factors[r->nfactors++] = (Factor){i, most, NULL};
  return can;
}

/* Notes the factors of the products of which v is the sum, and terms that were computed in front,
 * but for those that fit. */
static void find_factors(Range *r, Ins *v, unsigned depth) {
  enum { MOST = INS_FACTOR_MOST };
  if (!depth || !ssa_is_int64(v->type) || v == r->counter)
    return;
  if (!v->block || !ssa_in_loop(&r->loop, v->block)) {
    if (depth < MAX_DEPTH && ssa_is_computed(v, MAX_DEPTH) &&
        !ir_is_within(ssa_intervals_of(r->of), v, (Interval){-MOST * MOST, MOST * MOST}))
      add_factor(r, v, MOST * MOST);
  } else if (v->op == OP_ADD || v->op == OP_SUB) {
    find_factors(r, v->args[0], depth - 1);
    find_factors(r, v->args[1], depth - 1);
  } else if (v->op == OP_CAST || v->op == OP_NEG) {
    find_factors(r, v->args[0], depth - 1);
  } else if (v->op == OP_MUL &&
             !ir_is_within(ssa_intervals_of(r->of), v, (Interval){INT32_MIN, INT32_MAX})) {
    if (add_factor(r, ssa_uncast(v->args[0]), MOST))
      add_factor(r, ssa_uncast(v->args[1]), MOST);
  }
}

/* Is all of its operands read: does it compare them, or make a float of one? */
static bool reads_numbers(const Ins *i) {
  return (i->op == OP_CAST && ty_kind(i->type) == KIND_FLOAT) || (i->op >= OP_LT && i->op <= OP_GE);
}

static bool read_factors(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of};
  if (!ssa_read_upward(r, header, latch, MAX_SIZE))
    return false;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (uint32_t n = 0; n < i->nargs && reads_numbers(i); n++)
        find_factors(r, i->args[n], MAX_DEPTH);
  bool moves = false;
  for (unsigned k = 0; k < r->nfactors; k++) {
    Factor *f = &r->factors[k];
    bool stays = ssa_course_of(r, f->ins, MAX_DEPTH) == STAYS;
    f->outer = stays ? ssa_outer_counter(r, f->ins) : NULL;
    moves |= !stays;
  }
  return moves;
}

/* --- around the loops --- */

Ins *ssa_append(Cx *cx, Fn *fn, const Range *r, Block *at, Op op, const Type *type, Ins *a,
                Ins *b) {
  Ins *i = ir_ins(cx, fn, op, type, r->less->loc, (Ins *[]){a, b}, 2);
  ir_append(at, i);
  return i;
}

static Ins *number(Cx *cx, Fn *fn, const Range *r, Block *at, int64_t n) {
  Ins *i = ir_const(cx, fn, fz_int(cx, n), r->counter->type, r->less->loc);
  ir_append(at, i);
  return i;
}

/* From `from` to `yes` if the comparison of v with n holds, else to `no`. */
void ssa_choose(Cx *cx, Fn *fn, const Range *r, Block *from, Ins *v, Op op, int64_t n, Block *yes,
                Block *no) {
  Loc loc = r->less->loc;
  Ins *limit = ir_const(cx, fn, fz_int(cx, n), v->type, loc);
  Ins *holds = ir_ins(cx, fn, op, r->less->type, loc, (Ins *[]){v, limit}, 2);
  ir_append(from, limit);
  ir_append(from, holds);
  ir_condbr(cx, fn, from, holds, yes, no, loc)->type = r->loop.blocks[0]->last->type;
}

Ins *ssa_extent_of(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *array, unsigned axis) {
  Ins *n = ir_ins(cx, fn, OP_EXTENT, ty_scalar(cx, TY_PYINT), r->less->loc, &array, 1);
  n->aux.i = axis;
  n->flags |= INS_NONNEGATIVE;
  ir_append(at, n);
  return n;
}

/* Goes on in the block that is returned if the rows are as wide as what is read of them. */
static Block *choose_by_width(Cx *cx, Fn *fn, const Range *r, Block *at, Block *general) {
  for (unsigned k = 0; k < r->nrows; k++)
    for (unsigned axis = 1; axis < r->rows[k].array->type->ndim; axis++) {
      Ins *n = ssa_extent_of(cx, fn, r, at, r->rows[k].array, axis);
      Block *next = ir_block(cx, fn);
      ssa_choose(cx, fn, r, at, n, OP_EQ, width_of(&r->rows[k], axis), next, general);
      at = next;
    }
  return at;
}

/* The same array with extents that are constants, for the loads of the first version. */
static void read_known_rows(Cx *cx, Fn *fn, const Range *r, Block *fast) {
  for (unsigned k = 0; k < r->nrows; k++) {
    Ins *array = r->rows[k].array, *of[1 + TY_MAX_NDIM] = {array};
    IrView *how = CX_NEW(cx, IrView);
    *how = (IrView){.n = 1, .kind = {VIEW_RESHAPE}};
    of[1] = ssa_extent_of(cx, fn, r, fast, array, 0);
    for (unsigned axis = 1; axis < array->type->ndim; axis++) {
      of[1 + axis] = ir_const(cx, fn, fz_int(cx, width_of(&r->rows[k], axis)), of[1]->type,
                              r->less->loc);
      ir_append(fast, of[1 + axis]);
    }
    Ins *view = ir_ins(cx, fn, OP_VIEW, array->type, r->less->loc, of, 1u + array->type->ndim);
    view->aux.view = how;
    ir_append(fast, view);
    for (unsigned b = 0; b < r->loop.n; b++)
      FOR_INS (ssa_copy_of_block(r->loop.blocks[b]), i)
        if (i->op == OP_LOAD && i->args[0] == array)
          i->args[0] = view;
  }
}

static void choose_by_range(Cx *cx, Fn *fn, const Range *r, Block *entry, Block *fast,
                            Block *general) {
  bool two = !r->known || is_far(r);
  Block *second = two ? ir_block(cx, fn) : entry;
  if (!r->known)
    ssa_choose(cx, fn, r, entry, r->step, OP_GT, 0, second, general);
  else if (two)
    ssa_choose(cx, fn, r, entry, r->stop, OP_LE, LARGEST, second, general);
  ssa_choose(cx, fn, r, second, r->start, OP_GE, 0, fast, general);
}

/* An index or extent where the counter is `counter`, in front of the loop. What was known of it in
 * an iteration need not hold where there is none. */
Ins *ssa_in_front(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *i, Ins *counter) {
  Ins *args[MAX_OPERANDS];
  if (i == r->counter || !ssa_in_loop(&r->loop, i->block))
    return i == r->counter ? counter : i;
  const Along *along = along_of(r, i);
  if (along)
    return counter == r->start
               ? along->start
               : ssa_append(cx, fn, r, at, OP_ADD, i->type, along->start,
                            ssa_append(cx, fn, r, at, OP_SUB, i->type, counter, r->start));
  bool own = i->op == OP_EXTENT || i->op == OP_CONST || i->op == OP_INTRINSIC;
  CX_ASSERT(cx, i->nargs <= MAX_OPERANDS);
  for (uint32_t k = 0; k < i->nargs; k++)
    args[k] = ssa_in_front(cx, fn, r, at, i->args[k], counter);
  Ins *c = ir_ins(cx, fn, (Op)i->op, i->type, i->loc, args, i->nargs);
  c->aux = i->aux;
  c->aux2 = i->aux2;
  c->name = i->name;
  c->flags = own ? i->flags : 0;
  ir_append(at, c);
  return c;
}

/* The last number of the range, or a larger one, stop - 1. */
static Ins *last_of(Cx *cx, Fn *fn, const Range *r, Block *at) {
  int64_t start, stop, step, n;
  bool known = r->start->op == OP_CONST && fz_get_int(r->start->aux.frozen, &start) &&
               r->stop->op == OP_CONST && fz_get_int(r->stop->aux.frozen, &stop) &&
               fz_get_int(r->step->aux.frozen, &step);
  if (known && start < stop && !__builtin_sub_overflow(stop - 1, start, &n))
    return number(cx, fn, r, at, start + n / step * step);
  Ins *end = ssa_in_front(cx, fn, r, at, r->stop, r->start), *one = number(cx, fn, r, at, 1);
  return ssa_append(cx, fn, r, at, OP_SUB, r->counter->type, end, one);
}

/* 0 <= first <= last < extent: then no sum between has left 64 bits either. A sign needs no more
 * than 0 <= first and 0 <= last. */
static Ins *is_in_range(Cx *cx, Fn *fn, const Range *r, Block *at, const Ins *check, Ins *last) {
  const Type *truth = r->less->type;
  Ins *index = ssa_unwrapped(check->args[0]);
  bool falls = ssa_course_of(r, index, MAX_DEPTH) == FALLS;
  Ins *low = ssa_in_front(cx, fn, r, at, index, falls ? last : r->start);
  Ins *high = ssa_in_front(cx, fn, r, at, index, falls ? r->start : last);
  Ins *zero = ir_const(cx, fn, fz_int(cx, 0), index->type, r->less->loc);
  ir_append(at, zero);
  Ins *above = ssa_append(cx, fn, r, at, OP_LE, truth, zero, low);
  Ins *below = r->signs ? ssa_append(cx, fn, r, at, OP_LE, truth, zero, high)
                        : ssa_append(cx, fn, r, at, OP_LT, truth, high,
                                     ssa_in_front(cx, fn, r, at, check->args[1], last));
  Ins *both = ssa_append(cx, fn, r, at, OP_AND, truth, above, below);
  if (low == high || r->signs)
    return both;
  Ins *up = ssa_append(cx, fn, r, at, OP_LE, truth, low, high);
  return ssa_append(cx, fn, r, at, OP_AND, truth, both, up);
}

static void choose_by_checks(Cx *cx, Fn *fn, const Range *r, Block *entry, Block *fast,
                             Block *general) {
  if (r->far) {
    Block *bounded = ir_block(cx, fn);
    ssa_choose(cx, fn, r, entry, r->stop, OP_LE, LARGEST, bounded, general);
    entry = bounded;
  }
  Ins *last = last_of(cx, fn, r, entry), *all = NULL;
  for (unsigned k = 0; k < r->nchecks; k++) {
    Ins *one = is_in_range(cx, fn, r, entry, r->checks[k], last);
    all = all ? ssa_append(cx, fn, r, entry, OP_AND, r->less->type, all, one) : one;
  }
  ir_condbr(cx, fn, entry, all, fast, general, r->less->loc)->type = r->loop.blocks[0]->last->type;
}

/* -most <= first, last <= most, and the one is not beyond the other: then no difference between
 * has left 64 bits either. Of the counter and of what does not change the first two will do. */
static void choose_by_factors(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast,
                              Block *general) {
  Ins *end = NULL;
  for (unsigned k = 0; k < r->nfactors; k++) {
    const Factor *f = &r->factors[k];
    Course course = ssa_course_of(r, f->ins, MAX_DEPTH);
    bool counts = f->ins == r->counter, falls = course == FALLS;
    end = end || counts || course == STAYS ? end : last_of(cx, fn, r, at);
    Ins *low = ssa_in_front(cx, fn, r, at, f->ins, falls ? end : r->start);
    Ins *high = counts ? ssa_in_front(cx, fn, r, at, r->stop, r->start)
                       : ssa_in_front(cx, fn, r, at, f->ins, falls ? r->start : end);
    if (f->outer)
      ssa_outer_ends(cx, fn, r, at, f->ins, f->outer, &low, &high);
    Block *above = ir_block(cx, fn), *next = k + 1 == r->nfactors ? fast : ir_block(cx, fn);
    Block *below = low == high || counts ? next : ir_block(cx, fn);
    ssa_choose(cx, fn, r, at, low, OP_GE, -f->most, above, general);
    ssa_choose(cx, fn, r, above, high, OP_LE, f->most + counts, below, general);
    if (below != next) {
      Ins *up = ssa_append(cx, fn, r, below, OP_LE, r->less->type, low, high);
      ir_condbr(cx, fn, below, up, next, general, r->less->loc)->type =
          r->loop.blocks[0]->last->type;
    }
    at = next;
  }
}

/* The blocks that choose: from `entry`, which goes to the header, also to `fast`. The general loop
 * is entered from the block that is returned. */
static Block *write_choice(Cx *cx, Fn *fn, Range *r, Block *entry, Block *fast) {
  Block *header = r->loop.blocks[0], *general = ir_block(cx, fn);
  VEC(Ins *) values = {0};
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next)
    VEC_PUSH(&cx->arena, &values, ssa_from_edge(phi, entry));
  ir_remove(entry->last);
  ir_unlink(entry, header);
  if (r->nrows)
    ir_br(cx, fn, choose_by_width(cx, fn, r, entry, general), fast, r->less->loc)->type =
        header->last->type;
  else if (r->table)
    ssa_choose_by_table(cx, fn, r, entry, fast, general);
  else if (r->nchecks)
    choose_by_checks(cx, fn, r, entry, fast, general);
  else if (r->nfactors)
    choose_by_factors(cx, fn, r, entry, fast, general);
  else if (r->nsums)
    ssa_choose_by_sums(cx, fn, r, entry, fast, general);
  else if (r->thin_stop)
    ssa_choose_by_thin(cx, fn, r, entry, fast, general);
  else if (r->nest)
    ssa_choose_by_nest(cx, fn, r, entry, fast, general);
  else if (r->nnumbers)
    ssa_choose_by_numbers(cx, fn, r, entry, fast, general);
  else if (r->npairs)
    ssa_choose_by_apart(cx, fn, r, entry, fast, general);
  else
    choose_by_range(cx, fn, r, entry, fast, general);
  ir_br(cx, fn, general, header, r->less->loc)->type = header->last->type;
  uint32_t n = 0;
  for (Ins *phi = header->first; phi->op == OP_PHI; phi = phi->next)
    ir_add_arg(cx, phi, values.data[n++]);
  return general;
}

static void mark_factors(const Range *r) {
  for (unsigned k = 0; k < r->nfactors; k++) {
    const Ins *i = r->factors[k].ins;
    if (i != r->counter && i->block && ssa_in_loop(&r->loop, i->block))
      ((Ins *)i->note)->flags |= INS_FACTOR;
  }
}

static void write_versions(Cx *cx, Fn *fn, Range *r) {
  Block *header = r->loop.blocks[0];
  bool same = r->nrows                  ? read_loop_of_rows(r, header, r->latch)
              : r->nchecks && !r->signs ? read_checked(r, header, r->latch)
              : r->npairs               ? ssa_read_apart(r, header, r->latch)
              : r->table                ? ssa_read_header(r, header)
              : r->nest                 ? ssa_is_still_nest(r, header)
              : r->nnumbers             ? ssa_is_still_short(r, header)
                                        : read_condition(r) && read_counter(r);
  if (same && r->signs)
    ssa_read_along(r);
  if (!same) /* other loops have been written since */
    return;
  Block *exit = ssa_split_edge(cx, fn, header, r->outside);
  Block *before = header->preds.data[header->preds.data[0] == r->latch];
  Block *entry = ssa_split_edge(cx, fn, before, header), *fast = ir_block(cx, fn);
  ssa_copy_blocks(cx, fn, r);
  mark_factors(r);
  entry = write_choice(cx, fn, r, entry, fast);
  read_known_rows(cx, fn, r, fast);
  ir_br(cx, fn, fast, ssa_copy_of_block(header), r->less->loc)->type = header->last->type;
  ssa_copy_branches(cx, fn, r);
  ssa_copy_phis(r, entry, fast);
  ssa_merge_exits(cx, fn, r, exit);
  if (r->nest)
    ssa_roll_nest(r);
  uint16_t *flags = &r->latch->last->flags;
  if (r->known && (!r->signs || r->far)) /* the general loop hardly ever runs */
    *flags = (uint16_t)((*flags & ~(INS_UNROLL_4 | INS_UNROLL_8)) | INS_ROLLED);
}

void ssa_version(Cx *cx, Fn *fn, bool (*reads)(Range *, Block *, Block *)) {
  VEC(Range) all = {0};
  Versions of = {.cx = cx, .fn = fn};
  assert(fn->typed && fn->entry->rpo == 0 && !fn->entry->idom);
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Range r = {.of = &of};
      if (all.len < MAX_RANGES && latch->succ[s] && !(latch->last->flags & INS_ROLLED) &&
          reads(&r, latch->succ[s], latch))
        VEC_PUSH(&cx->arena, &all, r);
    }
  if (!all.len)
    return;
  for (uint32_t k = 0; k < all.len; k++)
    write_versions(cx, fn, &all.data[k]);
  ir_drop_dead(cx, fn); /* the conditions of the general loop, in the other */
  ir_order(cx, fn);
  ir_dominators(cx, fn);
}

void cg_version_ranges(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_range); }

void cg_version_rows(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_loop_of_rows); }

void cg_version_factors(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_factors); }

void cg_version_checks(Cx *cx, Fn *fn) { ssa_version(cx, fn, read_checked); }
