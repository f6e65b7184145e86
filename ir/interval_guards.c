/* Intervals, guards: what comparisons and indices say of values in the blocks that only one of
 * their outcomes reaches.
 *
 *   if x + 3 < n: …             x is less than n - 3
 *   while d * d <= n: …         d is at most a root of n
 *   if 2 * error <= dx: …       error is at most dx // 2
 *   if x >= reach: …            x - reach is not negative
 *   a[x] = …                    x is within the reach of an index, which nothing checks
 *
 * What some turns add to a value, away from the bound, leaves it there:
 *
 *   if 2 * error >= dy: error += dy       # dy <= 0
 *   if 2 * error <= dx: error += dx       # this error, too, is at most dx // 2 before it moves
 */
#include "ir/cfg.h"
#include "ir/interval_arithmetic.h"
#include "ir/interval_private.h"

enum { MAX_GUARDS = 16, MAX_DEPTH = 4 };

#define LARGEST_INT32 ((IrWide)INT32_MAX)

bool ir_compares_integers(const Ins *i) {
  return ir_is_compare(i) && ty_is_integral(i->args[0]->type) && ty_is_integral(i->args[1]->type);
}

Interval ir_constant(const Ins *i) {
  const Frozen *f = i->aux.frozen;
  if ((f->kind != FZ_BOOL && f->kind != FZ_INT) || (f->wide && ty_kind(i->type) != KIND_UINT))
    return ir_everything;
  IrWide n = f->wide ? (IrWide)(uint64_t)f->i : f->i;
  return (Interval){n, n};
}

bool ir_is_passed(const Intervals *v, const Ins *i) {
  while (i->op == OP_TUPLE_GET)
    i = i->args[0];
  return v->narrow && i->op == OP_PARAM;
}

/* Is it a cast of an integer to a type that holds all numbers of its own? */
static bool keeps_number(const Ins *cast) {
  return cast->op == OP_CAST && ty_is_integral(cast->type) && ty_is_integral(cast->args[0]->type) &&
         ir_interval_lies_within(ir_interval_of_type(cast->args[0]->type),
                                 ir_interval_of_type(cast->type));
}

const Ins *ir_uncast(const Ins *i) {
  while (keeps_number(i))
    i = i->args[0];
  return i;
}

/* The first reading of an extent; any other value itself. */
static const Ins *first_of(const Intervals *v, const Ins *i) {
  return i->op == OP_EXTENT && v->same[i->id] ? v->same[i->id] : i;
}

/* --- what they say --- */

Interval ir_interval_where(Interval r, Op compare, Interval other) {
  switch (compare) {
  case OP_LT: return ir_interval_common(r, (Interval){-HUGE, other.hi - 1});
  case OP_LE: return ir_interval_common(r, (Interval){-HUGE, other.hi});
  case OP_GT: return ir_interval_common(r, (Interval){other.lo + 1, HUGE});
  case OP_GE: return ir_interval_common(r, (Interval){other.lo, HUGE});
  case OP_EQ: return ir_interval_common(r, other);
  case OP_NE: /* one number, which may be at an end */
    return other.lo == other.hi ? (Interval){r.lo + (r.lo == other.lo), r.hi - (r.hi == other.hi)}
                                : r;
  default: return r;
  }
}

/* May a sum have wrapped around? Then it has all numbers of its type. */
static bool is_whole(const Intervals *v, const Ins *i) {
  Interval r = v->of[i->id], room = ir_interval_of_type(i->type);
  return r.lo <= room.lo && r.hi >= room.hi;
}

/* The largest number whose square is at most n, of 0 to 2**64. */
static IrWide root_of(IrWide n) {
  IrWide root = 0;
  for (IrWide bit = (IrWide)1 << 32; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= n)
      root += bit;
  return root;
}

/* Where value * value is less than `other`, or at most that. */
static Interval rooted(Interval r, Op compare, Interval other) {
  IrWide most = other.hi - (compare == OP_LT);
  IrWide root = most < 0 || most > (IrWide)1 << 64 ? HUGE : root_of(most);
  return ir_interval_common(r, (Interval){-root, root});
}

static IrWide floor_of(IrWide a, IrWide by) { return a / by - (a % by < 0); }

/* Where value * times is less than `other`, and so on. */
static Interval parted(Interval r, Op compare, Interval other, IrWide times) {
  other.hi -= compare == OP_LT;
  other.lo += compare == OP_GT;
  Op op = compare == OP_LT ? OP_LE : compare == OP_GT ? OP_GE : compare;
  Interval part = {-floor_of(-other.lo, times), floor_of(other.hi, times)};
  return ir_interval_where(r, op, part);
}

/* What is left of r, of a value of which the guard speaks. */
static Interval guarded(const Intervals *v, const Guard *g, Interval r) {
  if (g->reach)
    return ir_interval_common(r, (Interval){g->by - g->reach, g->by + g->reach});
  Interval other = ir_interval_sum(v->of[g->other->id], (Interval){g->by, g->by});
  return g->square  ? rooted(r, g->op, other)
         : g->times ? parted(r, g->op, other, g->times)
                    : ir_interval_where(r, g->op, other);
}

/* Does the sum only move away from the bound? */
static bool moves_away(const Intervals *v, const Guard *g) {
  Interval step = v->of[g->ahead->args[g->step]->id];
  if (g->ahead->op == OP_SUB)
    step = ir_interval_negated(step);
  bool below = g->op == OP_LT || g->op == OP_LE, above = g->op == OP_GT || g->op == OP_GE;
  return !is_whole(v, g->ahead) && ((below && step.hi <= 0) || (above && step.lo >= 0));
}

static bool holds(const Intervals *v, const Guard *g, const Block *b) {
  return ir_dominates(g->region, b) && !(g->moved && is_whole(v, g->moved)) &&
         !(g->ahead && !moves_away(v, g));
}

Interval ir_guarded(const Intervals *v, const Ins *i, const Block *b, Interval r) {
  for (const Guard *g = v->guards[first_of(v, i)->id]; g; g = g->next)
    if (holds(v, g, b))
      r = guarded(v, g, r);
  return r;
}

Interval ir_guarded_difference(const Intervals *v, const Ins *left, const Ins *right,
                               const Block *b) {
  Interval r = ir_everything;
  right = first_of(v, ir_uncast(right));
  for (const Guard *g = v->guards[first_of(v, left)->id]; g; g = g->next)
    if (!g->reach && !g->square && !g->times && !g->ahead &&
        first_of(v, ir_uncast(g->other)) == right && holds(v, g, b))
      r = ir_interval_where(r, g->op, (Interval){g->by, g->by});
  return r;
}

/* --- which there are --- */

/* Of `x * n`, `n * x` and `x << k` n, or 2**k; 0 of others. *x: its operand. */
static IrWide times_of(const Ins *i, unsigned *x) {
  if ((i->op != OP_MUL && i->op != OP_LSHIFT) || !ty_is_integral(i->type))
    return 0;
  *x = i->op == OP_MUL && i->args[0]->op == OP_CONST;
  if (i->args[!*x]->op != OP_CONST)
    return 0;
  Interval n = ir_constant(i->args[!*x]);
  if (n.lo != n.hi || n.lo < 1)
    return 0;
  return i->op == OP_MUL ? n.lo : n.lo < ty_bits(i->type) ? (IrWide)1 << n.lo : 0;
}

static void add_guard(Cx *cx, Intervals *v, Guard g, const Ins *value);

/* Of what the value, a sum or a product, was made of. */
static void add_to_parts(Cx *cx, Intervals *v, Guard g, const Ins *value) {
  unsigned x = 0;
  g.moved = value;
  if ((value->op == OP_ADD || value->op == OP_SUB) && value->args[1]->op == OP_CONST &&
      ty_is_integral(value->type)) {
    Interval n = ir_constant(value->args[1]);
    g.by = value->op == OP_SUB ? n.lo : -n.lo;
    if (n.lo == n.hi)
      add_guard(cx, v, g, value->args[0]);
    return;
  }
  g.square = value->op == OP_MUL && value->args[0] == value->args[1];
  g.times = times_of(value, &x);
  if (!g.reach && (g.square ? g.op == OP_LT || g.op == OP_LE : g.times && g.op != OP_NE))
    add_guard(cx, v, g, value->args[x]);
}

/* The other operand of a sum with it; 2: it is no sum with it. */
static unsigned step_of(const Ins *sum, const Ins *value) {
  bool first = sum->nargs == 2 && sum->args[0] == value;
  bool second = sum->nargs == 2 && sum->args[1] == value;
  bool is = (sum->op == OP_ADD && first != second) || (sum->op == OP_SUB && first && !second);
  return is ? first : 2;
}

/* Of a phi or a selection of the value and a sum with it, which comes behind it each time. */
static void add_to_later(Cx *cx, Intervals *v, Guard g, const Ins *value) {
  const Ins *later = v->later[value->id];
  if (!later || g.ahead || g.reach || g.square || !ir_dominates(later->block, g.region))
    return;
  uint32_t first = later->op == OP_SELECT;
  g.ahead = later->args[first + (later->args[first] == value)];
  g.step = step_of(g.ahead, value);
  add_guard(cx, v, g, later);
}

static void find_later(Cx *cx, Intervals *v, const Fn *fn) {
  v->later = CX_ARRAY(cx, const Ins *, fn->next_id);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      uint32_t first = i->op == OP_SELECT;
      if ((!first && i->op != OP_PHI) || i->nargs != first + 2 || !ty_is_integral(i->type))
        continue;
      for (unsigned k = 0; k < 2; k++) {
        const Ins *value = i->args[first + k], *sum = i->args[first + !k];
        if (step_of(sum, value) < 2 && value->block && value->op != OP_CONST &&
            ir_dominates(value->block, b) && (first || value->block != b) && sum->block)
          v->later[value->id] = i;
      }
    }
}

static void add_guard(Cx *cx, Intervals *v, Guard g, const Ins *value) {
  if (keeps_number(value))
    add_guard(cx, v, g, value->args[0]);
  if (!g.moved)
    add_to_parts(cx, v, g, value);
  value = first_of(v, value);
  g.next = v->guards[value->id];
  g.number = g.next ? g.next->number + 1 : 1;
  if (g.number > MAX_GUARDS || value->op == OP_CONST ||
      (g.op == OP_NE && (g.moved || g.other->op != OP_CONST)) ||
      (g.reach && g.next && g.next->reach && ir_dominates(g.next->region, g.region)))
    return;
  Guard *kept = CX_NEW(cx, Guard);
  *kept = g;
  v->guards[value->id] = kept;
  add_to_later(cx, v, g, value);
}

static void add_condition(Cx *cx, Intervals *v, const Block *region, const Ins *c, bool truth,
                          int depth);

/* What is known of the condition on which the only edge to the block depends; NULL: nothing. */
static const Ins *condition_of(const Block *b, bool *truth) {
  const Block *from = b->preds.len == 1 ? b->preds.data[0] : NULL;
  if (!from || from->last->op != OP_CONDBR || from->succ[0] == from->succ[1])
    return NULL;
  *truth = from->succ[0] == b;
  return from->last->args[0];
}

/* Is operand k of a phi of conditions the other outcome, a constant or what the edge depends on? */
static bool is_other(const Ins *phi, uint32_t k, bool truth) {
  const Ins *a = phi->args[k], *end = phi->block->preds.data[k]->last;
  if (a->op == OP_CONST)
    return ir_constant(a).lo == !truth && ir_constant(a).hi == !truth;
  return end->op == OP_CONDBR && end->args[0] == a && end->block->succ[0] != end->block->succ[1] &&
         end->block->succ[truth] == phi->block;
}

/* `ok = a < n and f(b)`: where it holds, so does what led to the only edges by which it can. */
static void add_joined(Cx *cx, Intervals *v, const Block *region, const Ins *phi, bool truth,
                       int depth) {
  const Block *last = NULL, *from;
  uint32_t n = 0, only = 0;
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (!is_other(phi, k, truth)) {
      from = phi->block->preds.data[k];
      if (ir_dominates(phi->block, from)) /* of an earlier turn */
        return;
      for (last = last ? last : from; !ir_dominates(last, from);)
        last = last->idom;
      only = k;
      n++;
    }
  if (n == 1)
    add_condition(cx, v, region, phi->args[only], truth, depth);
  for (from = last; from && !ir_dominates(from, phi->block); from = from->idom) {
    bool holds;
    const Ins *c = condition_of(from, &holds);
    if (c)
      add_condition(cx, v, region, c, holds, depth);
  }
}

/* The condition holds in what the region dominates, or does not. */
static void add_condition(Cx *cx, Intervals *v, const Block *region, const Ins *c, bool truth,
                          int depth) {
  if (c->op == OP_PHI && depth < MAX_DEPTH) {
    add_joined(cx, v, region, c, truth, depth + 1);
    return;
  }
  if (!ir_compares_integers(c))
    return;
  Op op = truth ? (Op)c->op : ir_inverse((Op)c->op);
  Guard first = {.region = region, .other = c->args[1], .op = op},
        second = {.region = region, .other = c->args[0], .op = ir_swapped(op)};
  add_guard(cx, v, first, c->args[0]);
  add_guard(cx, v, second, c->args[1]);
}

static void find_comparisons(Cx *cx, Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b) {
    if (b->last->op != OP_CONDBR || b->succ[0] == b->succ[1])
      continue;
    for (int side = 0; side < 2; side++)
      if (b->succ[side]->preds.len == 1)
        add_condition(cx, v, b->succ[side], b->last->args[0], !side, 0);
  }
}

/* How far from 0 an index of this array can be, of a narrow signature; 0: that is not known. */
static IrWide reach_of(const Intervals *v, const Ins *array) {
  const Type *type = array->type;
  bool own = type->space == SPACE_LOCAL || type->space == SPACE_SHARED;
  return !v->narrow || type->wide ? 0 : ir_is_passed(v, array) || own ? TY_SMALL : LARGEST_INT32;
}

static const Ins *without_constants(const Ins *i) {
  while (keeps_number(i) || ((i->op == OP_ADD || i->op == OP_SUB) && i->args[1]->op == OP_CONST))
    i = i->args[0];
  return i;
}

static bool is_from_memory(const Ins *i, int depth) {
  i = without_constants(i);
  bool any = i->op == OP_LOAD && ty_bits(i->type) > 16;
  for (uint32_t k = 0; i->op == OP_PHI && depth < MAX_DEPTH && k < i->nargs && !any; k++)
    any = is_from_memory(i->args[k], depth + 1);
  return any;
}

static void add_index(Cx *cx, Intervals *v, const Block *b, const Ins *index, IrWide reach) {
  const Guard g = {.region = b, .op = OP_LE, .reach = reach};
  if (reach && ty_is_integral(index->type) && without_constants(index)->op == OP_PHI &&
      !is_from_memory(index, 0))
    add_guard(cx, v, g, index);
}

static const Ins *unwrapped(const Ins *i) { return i->op == OP_WRAP_INDEX ? i->args[0] : i; }

static bool is_access(const Ins *i) { return i->op == OP_LOAD || i->op == OP_STORE; }

/* Does what comes behind it in its block come for certain, with the memory as it was? */
static bool goes_on(const Ins *i) {
  Effect effect = ir_op_info[i->op].effect;
  return effect == EFFECT_PURE || effect == EFFECT_READ || effect == EFFECT_PHI;
}

/* The first block of a function runs where it is called. */
static void find_passed_indices(Cx *cx, Intervals *v, const Ins *call) {
  for (const Ins *i = call->aux.fn->entry->first; i; i = goes_on(i) ? i->next : NULL) {
    if (!is_access(i) || i->args[0]->op != OP_PARAM)
      continue;
    IrWide reach = reach_of(v, call->args[i->args[0]->aux.i]);
    for (uint32_t k = 1; k <= i->args[0]->type->ndim; k++) {
      const Ins *index = ir_uncast(unwrapped(i->args[k]));
      if (index->op == OP_PARAM)
        add_index(cx, v, call->block, call->args[index->aux.i], reach);
    }
  }
}

/* An index that nothing checks is in range, or the kernel is undefined, where the access is reached
 * for certain: in all of its block, if nothing in front of it there writes or stops, and in what
 * that dominates. That bounds what loops and branches lead to, such as the top of a stack: phis,
 * and these but for constants. Of others LLVM often finds that they are not negative, which it
 * could not of 32 bits (lower/values.c), and positions from memory, of more than 16 bits, are
 * compared with what has 64 (nvptx's short_indices.c clamps it in front of the loop). */
static void find_indices(Cx *cx, Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b)
    for (const Ins *i = b->first; i; i = goes_on(i) ? i->next : NULL) {
      if (i->op == OP_CALL_FN)
        find_passed_indices(cx, v, i);
      for (uint32_t k = 1; is_access(i) && k <= i->args[0]->type->ndim; k++)
        add_index(cx, v, b, unwrapped(i->args[k]), reach_of(v, i->args[0]));
    }
}

void ir_find_guards(Cx *cx, Intervals *v, const Fn *fn) {
  v->guards = CX_ARRAY(cx, const Guard *, fn->next_id);
  find_later(cx, v, fn);
  find_comparisons(cx, v, fn);
  find_indices(cx, v, fn);
}
