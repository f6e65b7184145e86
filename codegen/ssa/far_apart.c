/* Far apart: accesses to global memory in which neighbouring threads are far apart, where another
 * order of the same indices would not be.
 *
 * A warp's threads differ in threadIdx.x first, so an access is one memory transaction where x runs
 * along the memory. Three cases are advised of, in arrays whose layout is known:
 *   exchanged   x steps over whole rows, and y or z along them: exchanging the two is better,
 *               unless the kernel also has accesses that it would spoil (a transposition)
 *   a row each  x steps over rows, and a loop of many turns runs along them in each thread
 *   Fortran     either of these, in an array in Fortran order whose last index x steps along: the
 *               kernel is right, and the array lies in memory the other way round
 * What is unknown is not mentioned: indices that come from data or from a division, arrays of any
 * stride, axes that may have a few elements only (the channels of an image, the coordinates of a
 * point). */
#include "codegen/ssa/far_apart.h"

#include "codegen/ssa/thread_steps.h"
#include "ir/cfg.h"
#include "ir/interval.h"

enum { FAR_ELEMENTS = 32, NEAR_ELEMENTS = 4, MAX_VIEWS = 8, MAX_TERMS = 8, MAX_DEPTH = 24 };

/* An element of an array, with the axes in the order of the memory: the last is contiguous. */
typedef struct Access {
  const Ins *ins, *array;
  uint32_t fn, n;
  ThreadStep at[TY_MAX_NDIM];
  const Ins *index[TY_MAX_NDIM]; /* NULL: a view's own, more than one, or none */
} Access;

typedef enum Finding {
  FOUND_NOTHING,
  FOUND_GOOD,
  FOUND_EXCHANGED,
  FOUND_ROW_A_THREAD,
  FOUND_FORTRAN_ORDER
} Finding;

typedef struct Search {
  Cx *cx;
  Program *program;
  const ThreadSteps *steps;
  Intervals *intervals; /* of function number `of`, with its dominators */
  uint32_t of;
  VEC(Access) exchanged, rows, fortran;
  bool good; /* an access that an exchange of x and another would spoil */
} Search;

/* --- where an access lies --- */

static ThreadStep step_of(const Search *s, const Access *a, const Ins *i) {
  return cg_thread_step(s->steps, a->fn, i);
}

/* From the indices of a view to those of the array that it is a view of. */
static bool through_view(const Search *s, Access *a) {
  const Ins *view = a->array, *from = view->args[0];
  const IrView *v = view->aux.view;
  Access b = *a;
  uint32_t axis = 0, own = 0, operand = 1;
  for (uint32_t k = 0; k < v->n; k++, axis++) {
    if (axis >= from->type->ndim || (v->kind[k] != VIEW_INDEX && own >= a->n))
      return false;
    switch ((ViewKind)v->kind[k]) {
    case VIEW_FULL:
      b.index[axis] = a->index[own];
      b.at[axis] = a->at[own++];
      break;
    case VIEW_INDEX:
      b.index[axis] = view->args[operand];
      b.at[axis] = step_of(s, a, view->args[operand++]);
      break;
    case VIEW_SLICE: {
      const Ins *step = view->args[operand + 2];
      ThreadStep moved = cg_multiple_of_step(a->at[own++], step_of(s, a, step), step);
      b.index[axis] = a->index[own - 1];
      b.at[axis] = cg_sum_of_steps(step_of(s, a, view->args[operand]), moved, 1);
      operand += 3;
      break;
    }
    case VIEW_PERMUTE:
      for (uint32_t n = 0; n < a->n; n++) {
        b.index[v->axes[n]] = a->index[n];
        b.at[v->axes[n]] = a->at[n];
      }
      b.array = from;
      *a = b;
      return true;
    default: return false;
    }
  }
  b.array = from;
  b.n = from->type->ndim;
  *a = b;
  return axis == b.n && own <= TY_MAX_NDIM;
}

static bool find_place(const Search *s, Access *a) {
  a->array = a->ins->args[0];
  a->n = a->array->type->ndim;
  for (uint32_t k = 0; k < a->n; k++) {
    a->index[k] = a->ins->args[1 + k];
    a->at[k] = step_of(s, a, a->index[k]);
  }
  for (uint32_t depth = 0; a->array->op == OP_VIEW; depth++)
    if (depth == MAX_VIEWS || !through_view(s, a))
      return false;
  const Type *t = a->array->type;
  if (t->space != SPACE_GLOBAL || !a->n || t->layout == LAYOUT_A || t->elem->id == TY_RECORD)
    return false;
  for (uint32_t k = 0; t->layout == LAYOUT_F && k < a->n / 2; k++) {
    Access b = *a;
    a->at[k] = b.at[a->n - 1 - k], a->index[k] = b.index[a->n - 1 - k];
    a->at[a->n - 1 - k] = b.at[k], a->index[a->n - 1 - k] = b.index[k];
  }
  for (uint32_t k = 0; k < a->n; k++)
    if (a->at[k].state != STEP_KNOWN)
      return false;
  return true;
}

/* --- what it is --- */

static bool is_near(int64_t step) {
  return step && step >= -NEAR_ELEMENTS && step <= NEAR_ELEMENTS;
}

static const Intervals *intervals_of(Search *s, uint32_t fn) {
  if (!s->intervals || s->of != fn) {
    ir_dominators(s->cx, s->program->fns.data[fn]);
    s->intervals = ir_intervals(s->cx, s->program->fns.data[fn]);
    s->of = fn;
  }
  return s->intervals;
}

/* Is a loop's header within another loop? */
static bool is_nested(const Block *header) {
  for (const Block *d = header->idom, *last = header; d && d != last; last = d, d = d->idom)
    for (uint32_t k = 0; k < d->preds.len; k++)
      for (int n = 0; n < 2; n++)
        if (d->succ[n] && ir_dominates(d, d->preds.data[k]) &&
            ir_dominates(d->succ[n], d->preds.data[k]) && ir_dominates(d->succ[n], header))
          return true;
  return false;
}

/* Does a loop of more than a few turns count it, beside what stays the same in the loop? Not within
 * another loop: what is walked along many times is short, and stays in the cache. */
static bool is_counted_far(Search *s, uint32_t fn, const Ins *i, uint32_t depth) {
  Counter c;
  if (!i || depth == MAX_TERMS)
    return false;
  switch ((Op)i->op) {
  case OP_PHI: {
    const Intervals *v = intervals_of(s, fn);
    return ir_counter(i, &c) && !is_nested(i->block) &&
           ir_interval(v, i).hi - ir_interval(v, i).lo > FAR_ELEMENTS;
  }
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
    return is_counted_far(s, fn, i->args[0], depth + 1) ||
           is_counted_far(s, fn, i->args[1], depth + 1);
  case OP_CAST:
  case OP_WRAP_INDEX:
  case OP_CHECK_INDEX: return is_counted_far(s, fn, i->args[0], depth + 1);
  default: return false;
  }
}

/* Does a branch say that it is one of a few where block b is: if c < 3? */
static bool is_one_of_few(Search *s, uint32_t fn, const Ins *i, const Block *b) {
  while (i && (i->op == OP_CHECK_INDEX || i->op == OP_WRAP_INDEX || i->op == OP_CAST))
    i = i->args[0];
  if (!i)
    return false;
  const Intervals *v = intervals_of(s, fn);
  for (const Block *d = b->idom, *last = b; d && d != last; last = d, d = d->idom) {
    const Ins *test = d->last->op == OP_CONDBR ? d->last->args[0] : NULL;
    for (int n = 0; test && ty_is_integral(test->type) && test->nargs == 2 && n < 2; n++) {
      bool less = n ? ir_swapped((Op)test->op) == OP_LT || ir_swapped((Op)test->op) == OP_LE
                    : test->op == OP_LT || test->op == OP_LE;
      bool is_compare = test->op >= OP_LT && test->op <= OP_GE;
      if (is_compare && less && test->args[n] == i && d->succ[0] != d->succ[1] &&
          d->succ[0]->preds.len == 1 && ir_dominates(d->succ[0], b) &&
          ir_interval(v, test->args[1 - n]).hi <= FAR_ELEMENTS)
        return true;
    }
  }
  return false;
}

/* x steps along the last axis, by more than one element. */
static Finding along_the_memory(Search *s, const Access *a, int64_t x) {
  const ThreadStep *at = &a->at[a->n - 1];
  bool others_near = is_near(at->by[1]) || is_near(at->by[2]);
  if (x != STEP_OF_LAUNCH && x < FAR_ELEMENTS && x > -FAR_ELEMENTS)
    return FOUND_GOOD;
  if (others_near)
    return FOUND_EXCHANGED;
  return x != STEP_OF_LAUNCH && is_counted_far(s, a->fn, a->index[a->n - 1], 0) ? FOUND_ROW_A_THREAD
                                                                                : FOUND_NOTHING;
}

/* x and another of the grid's axes count all but the last axis: the pixels of an image, whose
 * channels are few. */
static bool is_pixels(const Access *a, uint32_t axis_of_x) {
  bool others = false;
  for (uint32_t k = 0; k < axis_of_x; k++)
    others |= a->at[k].by[1] || a->at[k].by[2];
  return others && axis_of_x + 2 == a->n;
}

static Finding find_in_memory(Search *s, const Access *a) {
  uint32_t axis = a->n;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->at[k].by[0] && axis < a->n)
      return FOUND_NOTHING; /* a diagonal */
    else if (a->at[k].by[0])
      axis = k;
  if (axis == a->n)
    return FOUND_NOTHING;
  if (axis + 1 == a->n)
    return along_the_memory(s, a, a->at[axis].by[0]);
  if (is_pixels(a, axis))
    return FOUND_NOTHING;
  bool row = true;
  for (uint32_t k = axis + 1; k < a->n; k++) {
    const int64_t *by = a->at[k].by;
    if (by[1] || by[2])
      return is_one_of_few(s, a->fn, a->index[k], a->ins->block) ? FOUND_NOTHING : FOUND_EXCHANGED;
    row &= is_counted_far(s, a->fn, a->index[k], 0);
  }
  return row ? FOUND_ROW_A_THREAD : FOUND_NOTHING;
}

static Finding find(Search *s, const Access *a) {
  Finding found = find_in_memory(s, a);
  bool in_order = a->array->type->layout == LAYOUT_F && a->n > 1 && is_near(a->at[0].by[0]);
  return found > FOUND_GOOD && in_order ? FOUND_FORTRAN_ORDER : found;
}

/* Would it be worse with x and another exchanged? */
static bool is_spoilt(const Access *a) {
  for (uint32_t k = 0; k < a->n; k++) {
    int64_t y = a->at[k].by[1], z = a->at[k].by[2];
    bool last = k + 1 == a->n;
    if (last ? (y && !is_near(y)) || (z && !is_near(z)) : y || z)
      return true;
  }
  return false;
}

/* Is an array in Fortran order among those found? */
static bool is_told(const Search *s, const Ins *array) {
  for (uint32_t k = 0; k < s->fortran.len; k++)
    if (s->fortran.data[k].array == array)
      return true;
  return false;
}

static void visit(Search *s, uint32_t fn, const Ins *i) {
  bool is_access = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
  Access a = {.ins = i, .fn = fn};
  if (!is_access || !i->loc.line || !find_place(s, &a))
    return;
  switch (find(s, &a)) {
  case FOUND_NOTHING: break;
  case FOUND_GOOD: s->good |= is_spoilt(&a); break;
  case FOUND_EXCHANGED: VEC_PUSH(&s->cx->arena, &s->exchanged, a); break;
  case FOUND_ROW_A_THREAD: VEC_PUSH(&s->cx->arena, &s->rows, a); break;
  case FOUND_FORTRAN_ORDER:
    if (!is_told(s, a.array))
      VEC_PUSH(&s->cx->arena, &s->fortran, a);
    break;
  }
}

/* --- what is said --- */

static const Ins *source_of_x(const Search *s, uint32_t fn, const Ins *i, uint32_t depth);

/* A parameter's: from the first call that passes one. */
static const Ins *source_of_argument(const Search *s, const Ins *param, uint32_t fn,
                                     uint32_t depth) {
  for (uint32_t k = 0; k < s->program->fns.len; k++)
    FOR_BLOCKS (s->program->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_CALL_FN && i->aux.fn == s->program->fns.data[fn])
          return source_of_x(s, k, i->args[param->aux.i], depth + 1);
  return NULL;
}

/* Where a value's x comes from: the position in the grid, or threadIdx.x. */
static const Ins *source_of_x(const Search *s, uint32_t fn, const Ins *i, uint32_t depth) {
  if (i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_TID_X)
    return i;
  if (depth == MAX_DEPTH)
    return NULL;
  if (i->op == OP_PARAM)
    return source_of_argument(s, i, fn, depth);
  for (uint32_t k = 0; k < (i->op == OP_PHI ? 1 : i->nargs); k++) /* where a loop is entered */
    if (cg_thread_step(s->steps, fn, i->args[k]).by[0])
      return source_of_x(s, fn, i->args[k], depth + 1);
  return NULL;
}

static void note_x(const Search *s, const Access *a) {
  for (uint32_t k = 0; k < a->n; k++) {
    const Ins *from = a->at[k].by[0] && a->index[k] ? source_of_x(s, a->fn, a->index[k], 0) : NULL;
    if (from && from->loc.line) {
      note(s->cx, from->loc, "the thread's number along x comes from here");
      return;
    }
  }
}

static const char *distance(const Search *s, const Access *a) {
  const int64_t x = a->at[a->n - 1].by[0];
  if (x && x != STEP_OF_LAUNCH)
    return arena_printf(&s->cx->arena, "%lld elements", (long long)(x < 0 ? -x : x));
  return a->array->type->layout == LAYOUT_F ? "a column" : "a row";
}

void cg_find_far_apart(Cx *cx, Program *program) {
  Search s = {.cx = cx, .program = program};
  s.steps = cg_thread_steps(cx, program);
  for (uint32_t k = 0; s.steps && k < program->fns.len; k++)
    if (!fz_is_ours(program->fns.data[k]->source))
      FOR_BLOCKS (program->fns.data[k], b)
        FOR_INS (b, i)
          visit(&s, k, i);
  for (uint32_t k = 0; k < s.fortran.len; k++) {
    const Access *a = &s.fortran.data[k];
    note_x(&s, a);
    cx_advice(cx, a->ins->loc, ERR_FORTRAN_ORDER, a->array->name ? a->array->name : "?");
  }
  if (!s.good && s.exchanged.len) { /* they have one cause */
    const Access *a = &s.exchanged.data[0];
    note_x(&s, a);
    cx_advice(cx, a->ins->loc, ERR_SWAP_INDICES, distance(&s, a));
  }
  for (uint32_t k = 0; !s.exchanged.len && k < s.rows.len; k++) {
    const Access *a = &s.rows.data[k];
    note_x(&s, a);
    cx_advice(cx, a->ins->loc, ERR_ROW_A_THREAD, a->array->name ? a->array->name : "?",
              distance(&s, a));
  }
}
