/* Apart versions: loops that load from some arrays and store to others, written twice.
 *
 *   for k in range(1, x.shape[0] - 1):
 *     out[k, i] = x[k - 1, i] + x[k, i] + x[k + 1, i]
 *
 * `out` may overlap `x`, so that the loads of an iteration stay behind the store of the one before,
 * and unrolling puts none of them in flight together. Most arrays lie apart, which a test in front
 * of the loop asks:
 *
 *   if end of x <= begin of out or end of out <= begin of x:
 *     while k < stop: …      # its loads and stores are INS_AHEAD
 *   else:
 *     while k < stop: …      # rolled: what it loads may be what it has just stored
 *
 * Where launches find out that arrays lie apart (nvptx's apart.c), in narrow versions, neither the
 * test nor the second version is written for most of them: the loop is marked as it is.
 *
 * A step known at run time is asked first: a thread that has one or two iterations takes the second
 * version, since the test is some 45 instructions.
 *
 * INS_AHEAD says that such a load may go in front of all such stores of its loop that it is behind,
 * in this iteration and in earlier ones; loads_ahead.c moves it. A load from an array that
 * the loop stores to is one only if its place moves on with the counter and is never behind:
 *
 *   for j in range(1, n + 1):
 *     up = row[j, i]
 *     row[j, i] = f(up, letters[j, i])
 *
 * In: a strict Fn with dominators, of which the loops that LLVM is to unroll are marked. Out: two
 * versions of those of them that store to an array and load from another, a few words an iteration:
 * of more, those of one iteration are in flight together anyway, and two have no registers. A loop
 * with fences or calls stays as it is, and so does one of which an array was made in the loop, or
 * has strides: where such an array ends takes more to find out. Atomic sums, as the counts of a
 * histogram, are stores here, but others are refused. */
#include "codegen/ssa/range_private.h"
#include "codegen/ssa/range_versions.h"
#include "ir/cfg.h"
#include "ir/interval.h"

enum {
  MAX_SIZE = 100,
  MAX_DEPTH = 8,
  FEW = 2,      /* iterations of a thread, for which it is not asked whether arrays are apart */
  MAX_WORDS = 4 /* of 32 bits that an iteration loads ahead: those of two have registers */
};

/* --- places --- */

/* A number as another and a constant: of `k - 1` the counter and -1. */
typedef struct Place {
  const Ins *of; /* NULL: the constant alone */
  int64_t more;
} Place;

static Place place_of(const Ins *i) {
  Place p = {i, 0};
  int64_t n;
  for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
    const Ins *at = p.of;
    bool sum = at->op == OP_ADD || at->op == OP_SUB;
    if (at->op == OP_CAST && ty_kind(at->args[0]->type) == KIND_INT &&
        ty_bits(at->args[0]->type) == ty_bits(at->type)) {
      p.of = at->args[0];
    } else if (sum && at->args[1]->op == OP_CONST && fz_get_int(at->args[1]->aux.frozen, &n) &&
               n >= -TY_REACH && n <= TY_REACH) {
      p.of = at->args[0];
      p.more += at->op == OP_ADD ? n : -n;
    } else {
      break;
    }
  }
  if (p.of->op == OP_CONST && fz_get_int(p.of->aux.frozen, &n))
    p = (Place){NULL, p.more + n};
  return p;
}

/* Does a load, in an array that the loop stores to, move on with the counter and stay in front of
 * the store of each earlier iteration; and of this one's, if that comes first? The elements are
 * others if their places are, since indices are in range and not wrapped. */
static bool is_in_front(const Range *r, const Ins *load, const Ins *store, bool behind) {
  bool moves = false;
  for (unsigned axis = 0; axis < load->args[0]->type->ndim; axis++) {
    Place a = place_of(load->args[1 + axis]), b = place_of(store->args[1 + axis]);
    if (a.of != b.of || (a.of && a.of != r->counter && ssa_in_loop(&r->loop, a.of->block)))
      return false;
    moves |= a.of == r->counter && (behind ? a.more > b.more : a.more >= b.more);
  }
  return moves;
}

/* --- the form of the loop --- */

/* The phi that counts by addition until the loop ends. */
static bool read_counter(Range *r) {
  Counter c;
  for (Ins *phi = r->loop.blocks[0]->first; phi->op == OP_PHI; phi = phi->next)
    if (ir_counter(phi, &c) && c.next->op == OP_ADD && !c.down) {
      r->counter = phi;
      r->start = (Ins *)c.start;
      r->step = (Ins *)c.step;
      return true;
    }
  return false;
}

/* One whose ends can be computed in front of the loop. A pointer has none. */
static bool has_ends(const Range *r, const Ins *array) {
  const Type *t = array->type;
  return t->id == TY_ARRAY && t->layout != LAYOUT_A && t->elem->id != TY_RECORD && !t->pointer &&
         !ssa_in_loop(&r->loop, array->block);
}

static bool is_far(const Ins *access) {
  Space space = (Space)access->args[0]->type->space;
  return space != SPACE_SHARED && space != SPACE_LOCAL && space != SPACE_CLUSTER;
}

/* An atomic operation that is one instruction, of whose result the loop makes nothing: what it says
 * of other memory is nothing, so loads from there may come before it. Of one whose result is read a
 * kernel may make a lock. */
static bool is_plain_sum(const Range *r, const Ins *i) {
  if (i->op != OP_ATOMIC)
    return false;
  const Type *elem = i->args[0]->type->elem;
  AtomicOp op = (AtomicOp)i->aux.i;
  bool whole = ty_is_integral(elem) && (ty_size(elem) == 4 || ty_size(elem) == 8),
       real = elem->id == TY_F32 || elem->id == TY_F64, sum = op == ATOMIC_ADD || op == ATOMIC_SUB,
       other = op == ATOMIC_MAX || op == ATOMIC_MIN || op == ATOMIC_AND || op == ATOMIC_OR ||
               op == ATOMIC_XOR;
  if (!(whole && (sum || other)) && !(real && sum))
    return false;
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], user)
      for (uint32_t o = 0; o < user->nargs; o++)
        if (user->args[o] == i)
          return false;
  return true;
}

/* Notes what the loop stores to memory that arrays share; false: it may write elsewhere. */
static bool read_stores(Range *r) {
  for (unsigned k = 0; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i) {
      Effect e = i->op == OP_INTRINSIC ? (Effect)ir_intrinsics[i->aux.intrinsic].effect
                                       : (Effect)ir_op_info[i->op].effect;
      if (e == EFFECT_PURE || e == EFFECT_READ || e == EFFECT_PHI || e == EFFECT_TERM)
        continue;
      if (i->op != OP_STORE && !is_plain_sum(r, i))
        return false;
      if (!is_far(i))
        continue;
      if (r->nstores == MAX_STORES || !has_ends(r, i->args[0]) ||
          (i->op == OP_STORE && i->aux.i != HINT_NONE))
        return false;
      r->stores[r->nstores++] = i;
    }
  return r->nstores > 0;
}

static const Ins *parameter_of(const Ins *array) {
  while (array->op == OP_VIEW)
    array = array->args[0];
  return array->op == OP_PARAM ? array : NULL;
}

/* Does it load from an array that it stores to? */
static bool is_in_place(const Range *r) {
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      for (unsigned n = 0; n < r->nstores && i->op == OP_LOAD; n++)
        if (i->args[0] == r->stores[n]->args[0])
          return true;
  return false;
}

/* May it be asked whether a thread has more than FEW iterations, since the step is known at run
 * time only? A row that is not longer than the block has one for each thread, and many rows are:
 * they are read behind each other as fast. */
static bool asks_few(const Range *r) {
  const Ins *less = r->less;
  return less->op == OP_LT && less->args[0] == r->counter && r->step->op != OP_CONST &&
         !ssa_in_loop(&r->loop, r->step->block) && !ssa_in_loop(&r->loop, less->args[1]->block) &&
         r->start->flags & INS_NONNEGATIVE;
}

/* Do launches find out that they are apart? Of a narrow version's arrays they compare all. Rows
 * that a block shares, and such as are changed in place, have two versions all the same: with one,
 * some took 1.03 to 1.13 of their time. */
static bool launches_ask(const Range *r, const Ins *stored, const Ins *loaded) {
  const Ins *a = parameter_of(stored), *b = parameter_of(loaded);
  return r->of->fn->is_kernel && r->of->fn->program->narrow && a && b && a != b && !asks_few(r) &&
         !is_in_place(r);
}

static bool add_pair(Range *r, Ins *stored, Ins *loaded) {
  if (launches_ask(r, stored, loaded)) {
    r->by_launches = true;
    return true;
  }
  for (unsigned k = 0; k < r->npairs; k++)
    if (r->pairs[k].stored == stored && r->pairs[k].loaded == loaded)
      return true;
  bool can = r->npairs < MAX_PAIRS;
  if (can)
    r->pairs[r->npairs++] = (ArrayPair){stored, loaded};
  return can;
}

static bool comes_before(const Ins *a, const Ins *b) {
  if (a->block != b->block)
    return !ir_dominates(b->block, a->block);
  while (a && a != b)
    a = a->next;
  return a;
}

/* Asked where it matters only, since the intervals of a function cost time. */
static bool rises(const Range *r) {
  return ir_interval_at(ssa_intervals_of(r->of), r->step, r->loop.blocks[0]).lo > 0;
}

/* May it go in front of the stores, if the arrays are apart? Notes which. */
static bool goes_ahead(Range *r, const Ins *load) {
  unsigned had = r->npairs;
  if (load->op != OP_LOAD || load->aux.i != HINT_NONE || load->type->id == TY_TUPLE ||
      load->args[0]->type->space != SPACE_GLOBAL || !has_ends(r, load->args[0]))
    return false;
  for (unsigned k = 0; k < r->nstores; k++) {
    Ins *store = r->stores[k];
    bool may = store->args[0] == load->args[0]
                   ? store->op == OP_STORE &&
                         is_in_front(r, load, store, comes_before(store, load)) && rises(r)
                   : add_pair(r, store->args[0], load->args[0]);
    if (!may) {
      r->npairs = had;
      return false;
    }
  }
  return true;
}

/* Is it known by the counter alone, or by what was loaded ahead? */
static bool is_known(const Range *r, const Ins *i, unsigned depth) {
  if (i == r->counter || !i->block || !ssa_in_loop(&r->loop, i->block))
    return true;
  bool known = depth && (ir_op_info[i->op].effect == EFFECT_PURE || i->op == OP_LOAD);
  for (uint32_t k = 0; k < i->nargs && known; k++)
    known = is_known(r, i->args[k], depth - 1);
  return known;
}

/* Is it a loop whose loads may go ahead? Some of its arrays, or all, launches find apart. */
static bool read_loop(Range *r, Block *header, Block *latch) {
  *r = (Range){.of = r->of, .latch = latch, .known = true};
  if (!(latch->last->flags & (INS_UNROLL_4 | INS_UNROLL_8)) ||
      !ssa_small_loop(&r->loop, header, latch) || !ssa_is_short(&r->loop, MAX_SIZE) ||
      header->preds.len != 2 || header->last->op != OP_CONDBR ||
      !ssa_in_loop(&r->loop, header->succ[0]) || ssa_in_loop(&r->loop, header->succ[1]) ||
      !read_counter(r) || !read_stores(r))
    return false;
  r->less = header->last->args[0];
  r->outside = header->succ[1];
  unsigned words = 0;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (goes_ahead(r, i) && is_known(r, i, MAX_DEPTH))
        words += ((unsigned)ty_size(i->type) + 3) / 4;
  return (r->npairs || r->by_launches) && words && words <= MAX_WORDS;
}

bool ssa_read_apart(Range *r, Block *header, Block *latch) {
  return read_loop(r, header, latch) && r->npairs;
}

/* --- the test in front --- */

typedef struct Bounds {
  Ins *begin, *end;
} Bounds;

static Bounds bounds_of(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *array) {
  const Type *t = array->type, *pyint = ty_scalar(cx, TY_PYINT);
  Ins *begin = ir_ins(cx, fn, OP_ADDRESS, pyint, r->less->loc, &array, 1),
      *bytes = ir_const(cx, fn, fz_int(cx, (int64_t)ty_size(t->elem)), pyint, r->less->loc);
  ir_append(at, begin);
  ir_append(at, bytes);
  for (unsigned axis = 0; axis < t->ndim; axis++)
    bytes = ssa_append(cx, fn, r, at, OP_MUL, pyint, bytes,
                       ssa_extent_of(cx, fn, r, at, array, axis));
  return (Bounds){begin, ssa_append(cx, fn, r, at, OP_ADD, pyint, begin, bytes)};
}

static void mark(Ins *i, bool copy) { (copy ? (Ins *)i->note : i)->flags |= INS_AHEAD; }

/* Marks the loads and stores of the loop, or those of its copy. */
static void mark_loop(Range *r, bool copy) {
  unsigned tested = r->npairs;
  for (unsigned k = 1; k < r->loop.n; k++)
    FOR_INS (r->loop.blocks[k], i)
      if (goes_ahead(r, i))
        mark(i, copy);
  CX_ASSERT(r->of->cx, r->npairs == tested);
  for (unsigned k = 0; k < r->nstores; k++)
    mark(r->stores[k], copy);
  r->of->fn->program->needs_apart |= r->by_launches;
}

/* The condition that no thread has more than FEW iterations; NULL: it cannot be asked. */
static Ins *few_of(Cx *cx, Fn *fn, Range *r, Block *at) {
  if (!asks_few(r))
    return NULL;
  Ins *far = r->step;
  for (unsigned k = 1; k < FEW; k++)
    far = ssa_append(cx, fn, r, at, OP_ADD, r->counter->type, far, r->step);
  return ssa_append(cx, fn, r, at, OP_GE, ty_scalar(cx, TY_PYBOOL), far, r->less->args[1]);
}

void ssa_choose_by_apart(Cx *cx, Fn *fn, Range *r, Block *at, Block *fast, Block *general) {
  const Type *truth = ty_scalar(cx, TY_PYBOOL);
  Ins *all = NULL, *few = few_of(cx, fn, r, at);
  if (few) {
    Block *ask = ir_block(cx, fn);
    Ins *end = ir_condbr(cx, fn, at, few, general, ask, r->less->loc);
    end->type = r->loop.blocks[0]->last->type;
    end->flags |= INS_OFTEN;
    at = ask;
  }
  for (unsigned k = 0; k < r->npairs; k++) {
    Bounds a = bounds_of(cx, fn, r, at, r->pairs[k].stored),
           b = bounds_of(cx, fn, r, at, r->pairs[k].loaded);
    Ins *below = ssa_append(cx, fn, r, at, OP_LE, truth, a.end, b.begin),
        *above = ssa_append(cx, fn, r, at, OP_LE, truth, b.end, a.begin),
        *apart = ssa_append(cx, fn, r, at, OP_OR, truth, below, above);
    all = all ? ssa_append(cx, fn, r, at, OP_AND, truth, all, apart) : apart;
  }
  ir_condbr(cx, fn, at, all, fast, general, r->less->loc)->type = r->loop.blocks[0]->last->type;
  mark_loop(r, true);
}

/* Those of which launches find out everything. */
static void mark_loops(Cx *cx, Fn *fn) {
  Versions of = {.cx = cx, .fn = fn};
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Range r = {.of = &of};
      if (latch->succ[s] && read_loop(&r, latch->succ[s], latch) && !r.npairs)
        mark_loop(&r, false);
    }
}

void cg_version_apart(Cx *cx, Fn *fn) {
  if (fn->is_kernel && fn->program->narrow)
    mark_loops(cx, fn);
  ssa_version(cx, fn, ssa_read_apart);
}
