/* Unroll hints: which loops LLVM is to unroll, and by what factor (GPU).
 *
 * A loop that loads and adds has one load in flight; unrolled four times it has four, and a quarter
 * of the loop overhead. LLVM does not unroll a loop whose trip count takes a division to compute (a
 * grid-stride loop), and decides about others by code size alone. So innermost counting loops with
 * a small body, one exit and no calls, checks or barriers get a factor here. Loops whose bounds
 * were loaded from memory have few iterations, which a remainder loop would take one by one; if
 * such a loop only reads, it is left to masked_unroll.c, and if it writes, it stays a loop.
 * docs/performance.md has the measurements behind the limits below. */
#include "codegen/lower/unroll_hints.h"

#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/ssa/small_loop.h"
#include "ir/interval.h"

enum {
  MAX_SIZE = 60,    /* operations of a loop that is unrolled */
  MAX_SMALL = 14,   /* … by eight */
  MAX_READING = 24, /* … if it does little but load */
  /* operations of all iterations together of a loop that is left to LLVM, which unrolls it fully or
   * in part */
  MAX_WHOLE = 600,
  MIN_TRIPS = 16,       /* loops with a smaller constant trip count are left to LLVM */
  MOST_OPERATIONS = 16, /* of matrices, in one loop */
  LONG_TUPLE = 8,
  MAX_SEARCH = 1 << 15,   /* elements that the iterations of a loop over a long tuple look at */
  MAX_TERMS = 4,          /* of the sum that is a bound */
  MAX_WINDOW = 7,         /* places of a window that has few */
  MAX_SHORT_LOCAL = 15,   /* elements of a local array: less than two rounds of eight iterations */
  MAX_DEPTH_OF_INDEX = 8, /* operations between a counter and an index, one after the other */
  STRAIGHT = 2,           /* blocks of a loop without branches: its header and its body */
};

/* --- sizes: operations, or LEAVE for what must not be unrolled --- */

enum { LEAVE = -1, MAX_DEPTH = 3, LIBRARY_SIZE = 20 };

/* How sizes are counted: in which call, how deep in calls, and functions of libraries as what they
 * are, or as two operations each. */
typedef struct Sizes {
  const Ins *call; /* NULL: in the loop itself */
  int depth;
  bool long_libraries;
} Sizes;

static int call_size(const Ins *call, const Sizes *of);

/* Is it computed when compiling: of constants, and of parameters that are constants in this call? A
 * rotation, x >> n | x << (32 - n), is three operations where its n is one. */
static bool is_folded(const Ins *i, const Sizes *of, int depth) {
  if (i->op == OP_PARAM && of->call)
    return of->call->args[i->aux.i]->op == OP_CONST;
  bool folded = i->op == OP_CAST || i->op == OP_ADD || i->op == OP_SUB;
  for (unsigned k = 0; k < i->nargs && folded; k++)
    folded = depth < MAX_DEPTH && is_folded(i->args[k], of, depth + 1);
  return folded || i->op == OP_CONST;
}

/* A function of a library, as sin: it is inlined. */
static bool is_library(const Ins *i) {
  if (i->op == OP_POW)
    return true;
  if (i->op != OP_INTRINSIC)
    return false;
  LoweringKind kind = ir_intrinsics[i->aux.intrinsic].nvptx.kind;
  return kind == LOWER_LIB || kind == LOWER_LIBDEVICE;
}

static int size_of(const Ins *i, const Sizes *of) {
  if (of->long_libraries && is_library(i))
    return LIBRARY_SIZE;
  if (is_folded(i, of, 0))
    return 0;
  switch ((Op)i->op) {
  case OP_PHI:
  case OP_PARAM:
  case OP_TUPLE_GET:
  case OP_EXTENT:
  case OP_RET:
  case OP_BR: return 0;
  case OP_CALL_FN: return of->depth < MAX_DEPTH ? call_size(i, of) : LEAVE;
  case OP_CALL_C:
  case OP_PRINT:
  case OP_RAISE:
  case OP_CHECK:
  case OP_CHECK_INDEX: return LEAVE;
  case OP_INTRINSIC: return ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC ? LEAVE : 2;
  default: return 1;
  }
}

static int block_size(const Block *b, const Sizes *of) {
  int size = 0;
  FOR_INS (b, i) {
    int n = size_of(i, of);
    if (n < 0)
      return LEAVE;
    size += n;
  }
  return size;
}

/* The size of a call of a short function without loops, which LLVM will inline. */
static int call_size(const Ins *call, const Sizes *of) {
  const Fn *fn = call->aux.fn;
  Sizes inside = {call, of->depth + 1, of->long_libraries};
  int size = 0;
  if (fn->nblocks > SMALL_LOOP_BLOCKS)
    return LEAVE;
  FOR_BLOCKS (fn, b) {
    int n = block_size(b, &inside);
    for (int s = 0; s < 2; s++)
      if (b->succ[s] && b->succ[s]->rpo <= b->rpo)
        return LEAVE;
    if (n < 0)
      return LEAVE;
    size += n;
  }
  return size;
}

static bool loads(const SmallLoop *body, const Block *latch, bool each);
static bool loads_from_far(const SmallLoop *body);

/* The functions of libraries that it calls count as two operations each where it loads, since loads
 * in flight are worth their code, else as what they are: copies would gain nothing. Nor do they of
 * functions behind a condition, which come one after the other, where what is loaded is near: of
 * four copies the code is more than a multiprocessor's caches hold. */
static int body_size(const SmallLoop *body, const Block *latch) {
  bool any = loads(body, latch, false), far = loads_from_far(body);
  int size = 0;
  for (unsigned k = 0; k < body->n; k++) {
    const Block *b = body->blocks[k];
    bool apart = !far && !ir_dominates(b, latch);
    int n = block_size(b, &(Sizes){NULL, 0, !any || apart});
    if (n < 0)
      return LEAVE;
    size += n;
  }
  return size;
}

/* --- factors --- */

static bool is_constant(const Ins *i, int64_t *v) {
  bool known = i->op == OP_CONST && i->aux.frozen->kind == FZ_INT && !i->aux.frozen->wide;
  *v = known ? i->aux.frozen->i : 0;
  return known;
}

/* Was it loaded, and clamped to 32 bits by ssa/narrow.c? */
static bool is_clamped_load(const Ins *bound) {
  return bound->op == OP_SELECT && (ssa_loaded(bound->args[1]) || ssa_loaded(bound->args[2]));
}

/* Loops between bounds that were read from memory are short. */
static bool has_loaded_bound(const Counter *c) {
  return ssa_loaded(c->start) || ssa_loaded(c->stop) || is_clamped_load(c->start);
}

/* The trip count; -1 if it is not known. */
static double trips_of(const Ins *start, const Ins *stop, int64_t step) {
  int64_t from, to;
  bool known = is_constant(start, &from) && is_constant(stop, &to) && step;
  return known ? ((double)to - (double)from) / (double)step : -1;
}

/* The phi that counts up or down by addition until it reaches a bound, where the loop ends; NULL if
 * there is none. */
static const Ins *counter_of(const Block *header, Counter *c) {
  for (const Ins *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next)
    if (ir_counter(phi, c))
      return c->next->op == OP_ADD && !c->closed ? phi : NULL;
  return NULL;
}

/* Does i, a sum, have this term with this sign? Casts between integers are looked through. */
static bool has_term(const Ins *i, const Ins *term, bool negative, int depth) {
  while (i->op == OP_CAST)
    i = i->args[0];
  if (i == term)
    return !negative;
  if ((i->op != OP_ADD && i->op != OP_SUB) || depth == MAX_TERMS)
    return false;
  return has_term(i->args[0], term, negative, depth + 1) ||
         has_term(i->args[1], term, negative != (i->op == OP_SUB), depth + 1);
}

static const Ins *uncast(const Ins *i) {
  while (i->op == OP_CAST)
    i = i->args[0];
  return i;
}

/* What a bound is where it is not clamped, of two that it may be the first or the second. */
static const Ins *side_of(const Ins *bound, unsigned k) {
  bound = uncast(bound);
  return bound->op == OP_SELECT ? uncast(bound->args[1 + k]) : bound;
}

static bool has_place(const Ins *stop, const Ins *place) {
  return place->op != OP_CONST && (has_term(side_of(stop, 0), place, false, 0) ||
                                   has_term(side_of(stop, 1), place, false, 0));
}

/* Does a loop around it move it on by one place each time? */
static bool steps_by_one(const Ins *place) {
  Counter c;
  int64_t step;
  return place->op == OP_PHI && ir_counter(place, &c) && is_constant(c.step, &step) &&
         (step == 1 || step == -1);
}

/* Are the bounds a place less, and the same place plus, some distance? Such windows are small:
 * `range(row - radius, row + radius + 1)`. So are those that a loop around moves row by row, and
 * that a border clamps: `range(max(row - width, 0), row)`, `range(row, min(row + width, rows))`. */
static bool is_window_of(const Ins *start, const Ins *stop) {
  int64_t n;
  start = uncast(start), stop = uncast(stop);
  if (start->op == OP_SUB)
    return has_place(stop, uncast(start->args[0]));
  for (unsigned k = 0; start->op == OP_SELECT && k < 2; k++) {
    const Ins *side = side_of(start, k), *place = side->op == OP_SUB ? uncast(side->args[0]) : side;
    if (place != side && steps_by_one(place) && has_place(stop, place))
      return true;
  }
  if (start->op == OP_ADD && is_constant(start->args[1], &n))
    start = uncast(start->args[0]);
  return stop->op == OP_SELECT && steps_by_one(start) && has_place(stop, start);
}

/* Or a part of a window, from its beginning to where a loop around is? */
static bool is_window(const Counter *c) {
  Counter around;
  const Ins *stop = uncast(c->stop);
  return is_window_of(c->start, stop) ||
         (stop->op == OP_PHI && ir_counter(stop, &around) &&
          uncast(around.start) == uncast(c->start) && is_window_of(around.start, around.stop));
}

/* A load, or a call of a function with one. */
static bool is_load(const Ins *i, int depth) {
  if (i->op != OP_CALL_FN || depth == MAX_DEPTH)
    return i->op == OP_LOAD || i->op == OP_CALL_FN;
  FOR_BLOCKS (i->aux.fn, b)
    FOR_INS (b, inner)
      if (is_load(inner, depth + 1))
        return true;
  return false;
}

/* The place that a bound is a constant away from, and by how much. Of max(place - 1, 0), which is
 * clamped to an image, the part that is no constant. */
static const Ins *place_of(const Ins *bound, int64_t *by) {
  int64_t n;
  for (*by = 0;;) {
    if (bound->op == OP_SELECT)
      bound = bound->args[bound->args[1]->op == OP_CONST ? 2 : 1];
    else if (bound->op == OP_CAST)
      bound = bound->args[0];
    else if ((bound->op == OP_ADD || bound->op == OP_SUB) && is_constant(bound->args[1], &n) &&
             n >= -MAX_WINDOW && n <= MAX_WINDOW) {
      *by += bound->op == OP_ADD ? n : -n;
      bound = bound->args[0];
    } else
      return bound;
  }
}

/* Does it run over the constantly few neighbours of a place: `range(max(x - 1, 0), min(x + 2, n))`?
 * Of the minimum either side may be that with the place. */
static bool is_small_window(const Counter *c) {
  int64_t from, to;
  const Ins *place = place_of(c->start, &from), *stop = c->stop;
  while (stop->op == OP_CAST)
    stop = stop->args[0];
  for (unsigned k = 1; k < 3 && place->op != OP_CONST; k++) {
    const Ins *end = place_of(stop->op == OP_SELECT ? stop->args[k] : stop, &to);
    if (end == place && to > from && to - from <= MAX_WINDOW)
      return true;
  }
  return false;
}

/* Does each iteration load, or does any? */
static bool loads(const SmallLoop *body, const Block *latch, bool each) {
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i)
      if (is_load(i, 0) && (!each || ir_dominates(body->blocks[k], latch)))
        return true;
  return false;
}

/* Does it read memory that is far: more than arrays of the block or the thread? */
static bool loads_from_far(const SmallLoop *body) {
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i)
      if (is_load(i, 0) && (i->op != OP_LOAD || (i->args[0]->type->space != SPACE_SHARED &&
                                                 i->args[0]->type->space != SPACE_LOCAL)))
        return true;
  return false;
}

static bool depends_on(const Ins *i, const Ins *counter, int depth);

/* Does each iteration access a short local array at a place made of the counter? There are no more
 * iterations than elements, and what is left over of eight at once is taken one by one. */
static bool walks_short_local(const SmallLoop *body, const Block *latch, const Ins *counter) {
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i) {
      bool access = i->op == OP_LOAD || i->op == OP_STORE;
      if (!access || i->args[0]->op != OP_ALLOC || i->args[0]->type->space != SPACE_LOCAL ||
          !ir_dominates(body->blocks[k], latch))
        continue;
      for (int axis = 0; axis < i->args[0]->type->ndim; axis++)
        if (i->args[0]->aux.alloc->extents[axis] <= MAX_SHORT_LOCAL &&
            depends_on(i->args[1 + axis], counter, 0))
          return true;
    }
  return false;
}

/* Is it in another loop: does control come back to the header when it has left? */
static bool is_nested(Cx *cx, const Fn *fn, const SmallLoop *body) {
  const Block *header = body->blocks[0];
  bool *seen = CX_ARRAY(cx, bool, fn->nblocks);
  const Block **todo = CX_ARRAY(cx, const Block *, fn->nblocks);
  uint32_t n = 0;
  todo[n++] = header;
  while (n) {
    const Block *b = todo[--n];
    for (int s = 0; s < 2; s++) {
      const Block *to = b->succ[s];
      if (!to || (b == header && ssa_in_loop(body, to)) || seen[to->rpo])
        continue;
      seen[to->rpo] = true;
      todo[n++] = to;
    }
  }
  return seen[header->rpo];
}

/* Does each iteration load, and does the body do little else: no stores, divisions or functions of
 * libraries? */
static bool reads_simply(const SmallLoop *body, const Block *latch) {
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i) {
      Effect e = i->op == OP_INTRINSIC ? (Effect)ir_intrinsics[i->aux.intrinsic].effect
                                       : ir_op_info[i->op].effect;
      bool simple = e == EFFECT_PURE || e == EFFECT_READ || e == EFFECT_PHI || e == EFFECT_TERM;
      if (!simple || is_library(i) || i->op == OP_TRUEDIV || i->op == OP_FLOORDIV ||
          i->op == OP_MOD)
        return false;
    }
  return loads(body, latch, true);
}

/* The unroll factor; 0: LLVM decides. With a step known at run time only it is four, on which
 * strided_unroll.c relies. Where that pass does not fit a division finds the trip count, each
 * time when the loop is entered: a loop inside another one has to gain from that by loads in
 * flight, which those behind conditions are not, and those of shared memory need not be. Where
 * nothing is loaded, eight bodies rather lack registers for their constants than that they save
 * more of the loop's own instructions. */
static unsigned times(Cx *cx, const Fn *fn, const SmallLoop *body, const Block *latch,
                      const Ins *counter, const Counter *c) {
  int size = body_size(body, latch);
  int64_t step;
  if (size < 0 || size > MAX_SIZE)
    return 0;
  if (!is_constant(c->step, &step)) {
    bool gains = loads_from_far(body) && (body->n <= STRAIGHT || loads(body, latch, true));
    return gains || !is_nested(cx, fn, body) ? 4 : 0;
  }
  double trips = trips_of(c->start, c->stop, step);
  bool known = trips >= 0;
  if (known && (trips < MIN_TRIPS || trips * size <= MAX_WHOLE))
    return 0;
  int most = reads_simply(body, latch) ? MAX_READING : MAX_SMALL;
  bool few = size > most || has_loaded_bound(c) || is_clamped_load(c->stop) || is_window(c) ||
             is_small_window(c) || walks_short_local(body, latch, counter) ||
             !loads(body, latch, false);
  return known || !few ? 8 : 4;
}

/* --- the hints --- */

static bool block_reads(const Block *b, int depth);

/* Does the function that is called, which is short, only load and compute? */
static bool call_reads(const Ins *call, int depth) {
  FOR_BLOCKS (call->aux.fn, b)
    if (depth == MAX_DEPTH || !block_reads(b, depth + 1))
      return false;
  return true;
}

static bool block_reads(const Block *b, int depth) {
  FOR_INS (b, i) {
    Effect e = ir_op_info[i->op].effect;
    bool reads = e == EFFECT_PURE || e == EFFECT_READ || e == EFFECT_PHI || e == EFFECT_TERM;
    if (i->op == OP_CALL_FN ? !call_reads(i, depth) : !reads || i->op == OP_INTRINSIC)
      return false;
  }
  return true;
}

/* Does the body only load and compute? */
static bool only_reads(const SmallLoop *body) {
  for (unsigned k = 0; k < body->n; k++)
    if (!block_reads(body->blocks[k], 0))
      return false;
  return true;
}

/* Does it write to arrays? The loads of the next iteration wait for that, and with a loop for what
 * is left over a warp's threads, whose rows differ in length, wait for one another twice. */
static bool writes(const SmallLoop *body) {
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i)
      if (i->op == OP_STORE || i->op == OP_ATOMIC)
        return true;
  return false;
}

/* Is it computed from the counter, by operations that are no phis? */
static bool depends_on(const Ins *i, const Ins *counter, int depth) {
  if (i == counter)
    return true;
  if (i->op == OP_PHI || depth == MAX_DEPTH_OF_INDEX || ir_op_info[i->op].effect != EFFECT_PURE)
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (depends_on(i->args[k], counter, depth + 1))
      return true;
  return false;
}

/* Does the loop, which may contain others, run through a long tuple, as accumulators are? With a
 * constant index an element is a register, else it is looked for among all. */
static bool walks_tuples(const Fn *fn, const Block *header) {
  Counter c;
  const Ins *counter = counter_of(header, &c);
  int64_t step;
  double work = 0,
         trips = counter && is_constant(c.step, &step) ? trips_of(c.start, c.stop, step) : -1;
  if (trips <= 0)
    return false;
  FOR_BLOCKS (fn, b) {
    if (!ir_dominates(c.body, b))
      continue;
    FOR_INS (b, i) {
      uint32_t leaves = i->op == OP_TUPLE_INDEX ? cg_leaf_count(i->args[0]->type) : 0;
      work += leaves >= LONG_TUPLE && depends_on(i->args[1], counter, 0) ? leaves : 0;
    }
  }
  return work > 0 && trips * work <= MAX_SEARCH;
}

/* The few operations on the tiles of a stage: unrolled, the tiles lie constants apart. LLVM does
 * that where a register is one accumulator; of several it sees long code. */
static bool multiplies(const SmallLoop *body) {
  Counter c;
  const Ins *counter = counter_of(body->blocks[0], &c);
  int64_t step;
  double trips = counter && is_constant(c.step, &step) ? trips_of(c.start, c.stop, step) : -1;
  bool any = false;
  for (unsigned k = 0; k < body->n; k++)
    FOR_INS (body->blocks[k], i)
      any |= i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_WGMMA_MMA;
  return any && trips > 0 && trips <= MOST_OPERATIONS;
}

static int hint_of(Cx *cx, const Fn *fn, const SmallLoop *body, const Block *latch) {
  Counter c;
  const Ins *counter = counter_of(body->blocks[0], &c);
  unsigned n = counter ? times(cx, fn, body, latch, counter, &c) : 0;
  if (n == 4 && has_loaded_bound(&c))
    return only_reads(body) ? INS_MASKED : writes(body) ? INS_ROLLED : INS_UNROLL_4;
  return n == 8 ? INS_UNROLL_8 : n == 4 ? INS_UNROLL_4 : 0;
}

void cg_hint_loops(Cx *cx, Fn *fn) {
  assert(fn->entry->rpo == 0 && !fn->entry->idom); /* ordered, with dominators */
  FOR_BLOCKS (fn, latch)
    for (int s = 0; s < 2; s++) {
      Block *header = latch->succ[s];
      SmallLoop body;
      if (!header || latch->last->flags & INS_ROLLED || header->rpo > latch->rpo ||
          !ir_dominates(header, latch))
        continue;
      bool small = ssa_small_loop(&body, header, latch);
      if (walks_tuples(fn, header) || (small && multiplies(&body)))
        latch->last->flags |= INS_UNROLL_ALL;
      else if (small)
        latch->last->flags |= (uint16_t)hint_of(cx, fn, &body, latch);
    }
}

/* --- for LLVM --- */

void lw_mark_loops(Lower *lw) {
  FOR_BLOCKS (lw->fn, latch) {
    int hint = latch->last->flags &
               (INS_MASKED | INS_UNROLL_4 | INS_UNROLL_8 | INS_UNROLL_ALL | INS_ROLLED);
    if (!hint)
      continue;
    assert(((BlockNote *)latch->note)->end && !(hint & (hint - 1))); /* one hint a loop */
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(((BlockNote *)latch->note)->end);
    if (hint == INS_ROLLED)
      cg_mark_rolled(lw->cg->context, branch);
    else if (hint == INS_MASKED)
      cg_mark_masked(lw->cg->context, branch);
    else if (hint == INS_UNROLL_ALL)
      cg_mark_whole(lw->cg->context, branch, 0);
    else
      cg_mark_unrolled(lw->cg->context, branch, hint == INS_UNROLL_8 ? 8 : 4);
  }
}
