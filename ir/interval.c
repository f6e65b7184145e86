/* Intervals: see interval.h. An abstract interpretation with the interval domain (Cousot and Cousot
 * 1977).
 *
 * Intervals grow sweep by sweep. A phi whose bound has moved GROW_LIMIT times is widened at that
 * end: to the next number that the function compares with, or a neighbour of that; then to the end
 * of 32 bits, where what bounds it in its loop most likely is; then as far as it can drift, or else
 * to the end of its type. At last a few sweeps shrink what was widened too far. A comparison bounds
 * its operands in the blocks that only one of its outcomes reaches, and in the selection that it
 * makes. Three things bound what goes around loops:
 *   a counter      ends at most one step beyond its stop, and inside of its loop's body is on the
 *   near side of that;
 *   trips          a loop with a counter runs no more often than that takes from its start to its
 *                  stop, and a value that moves by small steps takes so many
 *   time           no thread lives to execute 2**46 additions, so in steps of up to 2**16 a value
 *                  stays within 2**62 of its start.
 * What is loaded from a shared array of a narrow kernel is among what is stored there.
 * What a transfer function says must hold whenever its operands are in their intervals, which
 * tests/unit/test_ir_interval.c compares with what random functions compute. */
#include "ir/interval.h"

#include "ir/cfg.h"
#include "ir/interval_arithmetic.h"
#include "ir/interval_private.h"
#include "ir/place.h"
#include "ir/registers.h"

enum { GROW_LIMIT = 4, SHRINK_LIMIT = 3, MAX_EXTENTS = 32 };

#define LARGEST_INT32 ((IrWide)INT32_MAX)

static Interval special_register(const Intervals *v, const Ins *i) {
  int64_t least, most;
  if (!ir_register_bounds(i->aux.intrinsic, &least, &most))
    return ir_everything;
  if (v->small_grid && i->aux.intrinsic == INTR_CTAID_X)
    most = TY_BLOCKS - 1;
  if (v->small_grid && i->aux.intrinsic == INTR_NCTAID_X)
    most = TY_BLOCKS;
  return (Interval){least, most};
}

static const Interval small = {-(IrWide)TY_SMALL - 1, TY_SMALL};

/* A parameter, or a part of one. */
static Interval passed(const Intervals *v, const Ins *i, Interval room) {
  return ir_is_passed(v, i) && ty_may_be_small(i->type) ? ir_interval_common(room, small) : room;
}

static Interval extent(const Intervals *v, const Ins *i) {
  const Ins *array = i->args[0];
  return (Interval){0, ir_is_passed(v, array) ? (IrWide)TY_SMALL
                       : array->type->wide    ? (IrWide)1 << 48
                                              : LARGEST_INT32};
}

/* --- counters --- */

/* Where the loop goes on, of the counter's values. */
static Interval continuing(const Intervals *v, const Counter *c) {
  Interval stop = ir_interval_at(v, c->stop, c->before);
  return c->down ? (Interval){stop.lo + !c->closed, HUGE} : (Interval){-HUGE, stop.hi - !c->closed};
}

/* The value of i where block b reads it. */
Interval ir_interval_at(const Intervals *v, const Ins *i, const Block *b) {
  const Counter *c = v->counter[i->id];
  Interval r = v->of[i->id];
  r = ir_guarded(v, i, b, r);
  return c && ir_dominates(c->body, b) ? ir_interval_common(r, continuing(v, c)) : r;
}

/* A counter and its next value are bounded alike, so that code which narrows them extends both in
 * one way: the step reads the counter without what its test says. (Not where a step may be long:
 * the sum without the test would be a number that int32, or uint32, does not hold.) */
static Interval operand(const Intervals *v, const Ins *user, uint32_t k) {
  const Ins *a = user->args[k];
  const Counter *c = v->counter[a->id];
  Interval r = v->of[a->id];
  IrWide room = LARGEST_INT32 - (v->narrow ? TY_SMALL / 2 : 0);
  bool apart = r.lo >= 0 && r.hi > room && r.hi <= UINT32_MAX;
  return c && c->next == user && !apart ? r : ir_interval_at(v, a, user->block);
}

/* What the loop makes of the last value with which it goes on, and whether each step leads there.
 * */
static Interval stepped(const Counter *c, Interval last, Interval step, bool *nearer) {
  switch ((Op)c->next->op) {
  case OP_MUL:
    *nearer = !c->down && last.lo >= 0 && step.lo >= 1;
    return ir_interval_product(last, step);
  case OP_LSHIFT:
    *nearer = !c->down && last.lo >= 0 && step.lo >= 0 && step.hi < ty_bits(c->next->type);
    return *nearer ? ir_interval_shifted_left(last, step, c->next->type) : ir_everything;
  default: {
    Interval by = c->next->op == OP_ADD ? step : ir_interval_negated(step);
    *nearer = c->down ? by.hi <= 0 : by.lo >= 0;
    return ir_interval_sum(last, by);
  }
  }
}

/* The counter that ends the loop counts too: it is at most a step beyond the last one with which it
 * goes on. */
static Interval counted(const Intervals *v, const Counter *c) {
  Interval room = ir_interval_of_type(c->next->type),
           start = ir_interval_at(v, c->start, c->before),
           step = ir_interval_at(v, c->step, c->next->block);
  if (ir_interval_is_empty(start) || ir_interval_is_empty(step) ||
      ir_interval_is_empty(ir_interval_at(v, c->stop, c->before)))
    return start;
  Interval last = ir_interval_common(continuing(v, c), room);
  if (ir_interval_is_empty(last)) /* it never goes on */
    return start;
  if (!c->down && (c->next->op == OP_MUL || c->next->op == OP_LSHIFT))
    last = (Interval){start.lo, ir_interval_larger(start.lo, last.hi)};
  bool nearer;
  Interval end = stepped(c, last, step, &nearer);
  bool exact = c->next->flags & INS_NO_WRAP;
  if (!nearer || (!exact && (c->down ? end.lo < room.lo : end.hi > room.hi)))
    return room;
  return c->down ? (Interval){ir_interval_smaller(start.lo, ir_interval_larger(end.lo, room.lo)),
                              start.hi}
                 : (Interval){start.lo,
                              ir_interval_larger(start.hi, ir_interval_smaller(end.hi, room.hi))};
}

/* What the outcome `op` of a comparison says of a value that is taken for it. Of `min(n, x + 2)`,
 * where n has another type, one cast of the sum is compared and another one is taken. */
static Interval chosen(const Intervals *v, const Ins *compare, Op op, const Ins *value,
                       const Block *b) {
  Interval r = ir_interval_at(v, value, b);
  if (ir_uncast(compare->args[0]) == ir_uncast(value))
    r = ir_interval_where(r, op, ir_interval_at(v, compare->args[1], b));
  if (ir_uncast(compare->args[1]) == ir_uncast(value))
    r = ir_interval_where(r, ir_swapped(op), ir_interval_at(v, compare->args[0], b));
  return r;
}

/* Operand k of a phi where its edge comes from a comparison that has led there. */
static Interval along(const Intervals *v, const Ins *phi, uint32_t k) {
  const Block *from = phi->block->preds.data[k];
  const Ins *c = from->last->op == OP_CONDBR ? from->last->args[0] : NULL;
  if (!c || !ir_compares_integers(c) || from->succ[0] == from->succ[1])
    return ir_interval_at(v, phi->args[k], from);
  Op op = from->succ[0] == phi->block ? (Op)c->op : ir_inverse((Op)c->op);
  return chosen(v, c, op, phi->args[k], from);
}

static Interval merged(const Intervals *v, const Ins *phi) {
  const Interval reach = {-IR_SMALL_STEP * IR_MOST_STEPS, IR_SMALL_STEP * IR_MOST_STEPS};
  const Counter *c = v->counter[phi->id];
  Interval r = c ? counted(v, c) : ir_nothing;
  for (uint32_t k = 0; !c && k < phi->nargs; k++) {
    const Ins *a = phi->args[k];
    if (a != phi && !ir_is_any(a))
      r = ir_interval_both(r, along(v, phi, k));
  }
  bool near = v->grown[phi->id] < GROW_LIMIT && ir_interval_lies_within(r, reach);
  return ir_interval_is_empty(r) || near ? r : ir_interval_common(r, ir_drifted(v, phi));
}

/* --- parts ---
 *
 * t & x, t % x, t // x and t >> x are at most t where t is not negative, so what is taken from t,
 * or from a multiple, leaves no less than 0. */

static bool is_part_of(const Intervals *v, const Ins *part, const Ins *whole) {
  switch ((Op)part->op) {
  case OP_AND: return part->args[0] == whole || part->args[1] == whole;
  case OP_MOD:
  case OP_FLOORDIV: return part->args[0] == whole && v->of[part->args[1]->id].lo >= 1;
  case OP_RSHIFT: return part->args[0] == whole;
  default: return false;
  }
}

/* Is i `whole`, or that times 1 or more? */
static bool is_multiple(const Intervals *v, const Ins *i, const Ins *whole) {
  if (i == whole)
    return true;
  if (i->op == OP_ADD)
    return i->args[0] == whole && i->args[1] == whole;
  if (i->op == OP_LSHIFT)
    return i->args[0] == whole;
  return i->op == OP_MUL && ((i->args[0] == whole && v->of[i->args[1]->id].lo >= 1) ||
                             (i->args[1] == whole && v->of[i->args[0]->id].lo >= 1));
}

static bool leaves_positive(const Intervals *v, const Ins *all, const Ins *part) {
  for (uint32_t k = 0; k < part->nargs && k < 2; k++) {
    const Ins *whole = part->args[k];
    if (v->of[whole->id].lo >= 0 && is_part_of(v, part, whole) && is_multiple(v, all, whole))
      return v->of[all->id].lo >= 0; /* a multiple may have wrapped around */
  }
  return false;
}

static Interval difference(const Intervals *v, const Ins *i, Interval a, Interval b) {
  Interval r = ir_interval_common(ir_interval_sum(a, ir_interval_negated(b)),
                                  ir_guarded_difference(v, i->args[0], i->args[1], i->block));
  return r.lo < 0 && leaves_positive(v, i->args[0], i->args[1]) ? (Interval){0, a.hi} : r;
}

/* --- instructions --- */

/* min and max are written as select(a < b, a, b) and select(a > b, a, b). */
static Interval selected(const Intervals *v, const Ins *i) {
  const Ins *c = i->args[0], *yes = i->args[1], *no = i->args[2];
  c = c->op == OP_TRUTH ? c->args[0] : c;
  if (!ir_compares_integers(c))
    return ir_interval_both(ir_interval_at(v, yes, i->block), ir_interval_at(v, no, i->block));
  return ir_interval_both(chosen(v, c, (Op)c->op, yes, i->block),
                          chosen(v, c, ir_inverse((Op)c->op), no, i->block));
}

/* A part of a tuple that is written out, or of any of its elements: of `(1, 0, -1)[k]`, and of `dy`
 * where `dy, dx = ((0, 1), (1, 0))[k]`. */
static Interval part_of_tuple(const Intervals *v, const Ins *i, Interval room) {
  const Ins *of = i->args[0], *tuple = of->op == OP_TUPLE_INDEX ? of->args[0] : of;
  if (tuple->op != OP_MAKE_TUPLE)
    return i->op == OP_TUPLE_GET ? passed(v, i, room) : room;
  if (i->op == OP_TUPLE_GET && of == tuple)
    return ir_interval_at(v, tuple->args[i->aux.i], i->block);
  Interval all = ir_nothing;
  for (uint32_t k = 0; k < tuple->nargs; k++) {
    const Ins *element = tuple->args[k];
    if (i->op == OP_TUPLE_GET && element->op != OP_MAKE_TUPLE)
      return room;
    all = ir_interval_both(
        all,
        ir_interval_at(v, i->op == OP_TUPLE_GET ? element->args[i->aux.i] : element, i->block));
  }
  return all;
}

static Interval squared(Interval a) {
  Interval r = ir_interval_product(a, a);
  return (Interval){ir_interval_larger(r.lo, 0), r.hi};
}

/* Of one or two numbers. */
static Interval operated(const Intervals *v, const Ins *i, Interval room) {
  const Ins *first = i->args[0], *second = i->args[i->nargs - 1];
  if (!ty_is_integral(first->type) || !ty_is_integral(second->type))
    return room;
  Interval a = operand(v, i, 0), b = operand(v, i, i->nargs - 1);
  if (ir_interval_is_empty(a) || ir_interval_is_empty(b))
    return ir_nothing;
  switch ((Op)i->op) {
  case OP_ADD: return ir_interval_sum(a, b);
  case OP_SUB: return difference(v, i, a, b);
  case OP_MUL: return first == second ? squared(a) : ir_interval_product(a, b);
  case OP_NEG: return ir_interval_negated(a);
  case OP_INVERT: return ty_is_signed(i->type) ? (Interval){-1 - a.hi, -1 - a.lo} : room;
  case OP_MOD: return ir_interval_remainder_of(a, b);
  case OP_FLOORDIV: return ir_interval_quotient(a, b);
  case OP_LSHIFT: return ir_interval_shifted_left(a, b, i->type);
  case OP_RSHIFT: return ir_interval_shifted_right(a, b);
  case OP_AND: return ir_interval_masked(a, b);
  case OP_OR:
  case OP_XOR: return ir_interval_of_bits(a, b);
  case OP_CHECK_INDEX: return ir_interval_common(a, (Interval){0, b.hi - 1});
  case OP_WRAP_INDEX: return a.lo >= 0 ? a : room;
  default: return a; /* CAST */
  }
}

static Interval magnitude(Interval of) {
  Interval minus = ir_interval_negated(of);
  IrWide farthest = ir_interval_larger(of.hi, minus.hi);
  return (Interval){ir_interval_larger(0, ir_interval_larger(of.lo, minus.lo)), farthest};
}

/* A shuffle gives what the value is in some lane that has come to it, this one's where there is no
 * such lane. */
static Interval given(const Intervals *v, const Ins *i, Interval room) {
  if (ir_is_shuffle(i))
    return v->of[i->args[1]->id];
  switch (i->aux.intrinsic) {
  case INTR_PY_ABS: {
    Interval of = ir_interval_at(v, i->args[0], i->block);
    return ir_interval_is_empty(of) ? ir_nothing : magnitude(of);
  }
  case INTR_CUDA_POPC:
  case INTR_CUDA_CLZ:
  case INTR_CUDA_FFS: return (Interval){0, ty_bits(i->args[0]->type)};
  default: return i->nargs ? room : ir_interval_common(special_register(v, i), room);
  }
}

static Interval compute(const Intervals *v, const Ins *i, Interval room) {
  switch ((Op)i->op) {
  case OP_LOAD: return v->known[i->args[0]->id] ? v->of[i->args[0]->id] : room;
  case OP_CONST: return ir_constant(i);
  case OP_UNSET: return i->aux2 ? (Interval){0, 0} : room;
  case OP_PARAM: return passed(v, i, room);
  case OP_EXTENT: return extent(v, i);
  case OP_INTRINSIC: return given(v, i, room);
  case OP_PHI: return merged(v, i);
  case OP_SELECT: return selected(v, i);
  case OP_TUPLE_GET:
  case OP_TUPLE_INDEX: return part_of_tuple(v, i, room);
  case OP_CAST:
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_NEG:
  case OP_INVERT:
  case OP_MOD:
  case OP_FLOORDIV:
  case OP_LSHIFT:
  case OP_RSHIFT:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_CHECK_INDEX:
  case OP_WRAP_INDEX: return operated(v, i, room);
  default: return room;
  }
}

/* Arithmetic beyond the type's room wraps around, and may be anything in it. */
Interval ir_interval_computed(const Intervals *v, const Ins *i) {
  Interval room = ir_interval_of_type(i->type), r = compute(v, i, room);
  if (!ir_interval_is_empty(r) && !ir_interval_lies_within(r, room))
    r = i->flags & INS_NO_WRAP ? ir_interval_common(r, room) : room;
  if (v->small_grid && ir_is_place(i))
    r = ir_interval_common(r, (Interval){0, TY_SMALL});
  if (v->bits && v->bits[i->id]) {
    IrWide end = (IrWide)1 << (v->bits[i->id] & ~IR_NO_SIGN);
    r = ir_interval_common(r, (Interval){v->bits[i->id] & IR_NO_SIGN ? 0 : -end, end - 1});
  }
  for (const Guard *g = v->guards[i->id]; g; g = g->next)
    if (i->op == OP_PHI && g->reach && !g->moved && g->region == i->block)
      r = ir_interval_common(r, (Interval){-g->reach, g->reach});
  if ((i->op == OP_ADD || i->op == OP_SUB) && i->flags & INS_FACTOR)
    r = ir_interval_common(r, (Interval){-INS_FACTOR_MOST, INS_FACTOR_MOST});
  return i->flags & INS_NONNEGATIVE ? ir_interval_common(r, (Interval){0, HUGE}) : r;
}

/* The next marks, or numbers beside them; in a ring (`s += 1; if s == n: s = 0`) values end
 * there. */
static Interval marked(const Intervals *v, Interval now, Interval far) {
  for (uint32_t k = 0; k < v->nmarks; k++)
    for (IrWide m = v->marks[k] - 1; m <= v->marks[k] + 1; m++) {
      far.lo = m <= now.lo ? ir_interval_larger(far.lo, m) : far.lo;
      far.hi = m >= now.hi ? ir_interval_smaller(far.hi, m) : far.hi;
    }
  return far;
}

/* As far as a phi goes that still grows, or what an array holds. */
static Interval widened(const Intervals *v, const Ins *i, Interval old, Interval now) {
  const Interval short_ones = {INT32_MIN, INT32_MAX};
  uint8_t grown = v->grown[i->id];
  if (grown < GROW_LIMIT || ir_interval_lies_within(now, old))
    return now;
  bool drifts = i->op == OP_PHI && grown < 4 * GROW_LIMIT;
  const Type *type = i->op == OP_PHI ? i->type : i->type->elem;
  Interval far = drifts ? ir_drifted(v, i) : ir_interval_of_type(type);
  if (grown < 2 * GROW_LIMIT)
    far = marked(v, now, far);
  if (grown < 3 * GROW_LIMIT && ir_interval_lies_within(now, short_ones))
    far = ir_interval_common(far, short_ones);
  return (Interval){now.lo < old.lo ? far.lo : now.lo, now.hi > old.hi ? far.hi : now.hi};
}

/* --- shared arrays ---
 *
 * All threads store what this function computes. So an array of which elements are only loaded and
 * stored holds nothing else; and 0, which stands for what no thread has stored. */

static bool may_be_known(const Ins *array) {
  return array->op == OP_ALLOC && array->type->space == SPACE_SHARED &&
         !array->aux.alloc->dynamic && ty_is_integral(array->type->elem);
}

static const Ins *stored_value(const Ins *store) { return store->args[store->nargs - 1]; }

/* Is operand k of user an array of which it loads or stores one element? */
static bool is_element_access(const Ins *user, uint32_t k) {
  const Type *element = user->op == OP_LOAD    ? user->type
                        : user->op == OP_STORE ? stored_value(user)->type
                                               : NULL;
  return k == 0 && (user->op == OP_EXTENT || user->args[0]->type->elem == element);
}

static void find_arrays(Cx *cx, Intervals *v, const Fn *fn) {
  v->known = CX_ARRAY(cx, bool, fn->next_id);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      if (v->narrow && may_be_known(i)) {
        v->known[i->id] = true;
        VEC_PUSH(&cx->arena, &v->arrays, i);
      }
  if (!v->arrays.len)
    return;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++)
        if (v->known[i->args[k]->id])
          v->known[i->args[k]->id] = is_element_access(i, k);
  v->stored = CX_ARRAY(cx, Interval, fn->next_id);
}

/* What is stored in each array, by what is known of the values; `widen`: they grow. */
static bool store_all(Intervals *v, const Fn *fn, bool widen) {
  bool changed = false;
  for (uint32_t k = 0; k < v->arrays.len; k++)
    v->stored[v->arrays.data[k]->id] = (Interval){0, 0};
  for (const Block *b = v->arrays.len ? fn->entry : NULL; b; b = b->next)
    for (const Ins *i = b->first; i; i = i->next)
      if (i->op == OP_STORE && v->known[i->args[0]->id]) {
        Interval *all = &v->stored[i->args[0]->id];
        *all = ir_interval_both(*all, ir_interval_at(v, stored_value(i), b));
      }
  for (uint32_t k = 0; k < v->arrays.len; k++) {
    const Ins *array = v->arrays.data[k];
    Interval old = v->of[array->id], now = v->stored[array->id];
    now = widen ? ir_interval_both(old, widened(v, array, old, now)) : ir_interval_common(old, now);
    if (now.lo == old.lo && now.hi == old.hi)
      continue;
    v->grown[array->id] += v->grown[array->id] < UINT8_MAX;
    v->of[array->id] = now;
    changed = true;
  }
  return changed;
}

/* Not of what grows on and on: there the steps of a meter may grow with it. */
static Interval limited(Intervals *v, const Ins *i, Interval r) {
  const Meter *m = v->grown[i->id] < 4 * GROW_LIMIT ? v->meters[i->id] : NULL;
  return m ? ir_interval_common(r, ir_metered(v, m)) : r;
}

static bool grow(Intervals *v, const Fn *fn) {
  bool changed = false;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (!ty_is_integral(i->type) ||
          ir_interval_lies_within(ir_interval_of_type(i->type), v->of[i->id]))
        continue;
      Interval old = v->of[i->id], now = limited(v, i, ir_interval_computed(v, i));
      now = i->op == OP_PHI ? limited(v, i, widened(v, i, old, now)) : now;
      now = ir_interval_both(old, now);
      if (now.lo == old.lo && now.hi == old.hi)
        continue;
      v->grown[i->id] += i->op == OP_PHI && v->grown[i->id] < UINT8_MAX;
      v->of[i->id] = now;
      changed = true;
    }
  return store_all(v, fn, true) || changed;
}

static bool shrink(Intervals *v, const Fn *fn) {
  bool changed = store_all(v, fn, false);
  FOR_BLOCKS (fn, b)
    for (const Ins *i = b->first; i && i->op == OP_PHI && ir_is_header(b); i = i->next)
      if (ty_is_integral(i->type) && !v->counter[i->id])
        ir_bound_sums(v, i);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (!ty_is_integral(i->type))
        continue;
      Interval old = v->of[i->id];
      Interval now = ir_interval_common(old, limited(v, i, ir_interval_computed(v, i)));
      changed |= now.lo != old.lo || now.hi != old.hi;
      v->of[i->id] = now;
    }
  return changed;
}

/* Each reading of an array's extent gives the same. */
static void find_same(Intervals *v, const Fn *fn) {
  const Ins *seen[MAX_EXTENTS];
  uint32_t n = 0, k;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (i->op != OP_EXTENT)
        continue;
      for (k = 0; k < n && (seen[k]->args[0] != i->args[0] || seen[k]->aux.i != i->aux.i); k++)
        ;
      if (k < n)
        v->same[i->id] = seen[k];
      else if (n < MAX_EXTENTS)
        seen[n++] = i;
    }
}

static void find_marks(Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < 2 && ir_compares_integers(i); k++)
        if (i->args[k]->op == OP_CONST && v->nmarks < MAX_MARKS) {
          Interval n = ir_constant(i->args[k]);
          v->marks[v->nmarks] = n.lo;
          v->nmarks += n.lo == n.hi;
        }
}

static void find_counters(Cx *cx, Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b)
    for (const Ins *i = b->first; i && i->op == OP_PHI; i = i->next) {
      Counter c, *kept;
      if (!ty_is_integral(i->type))
        continue;
      if (!ir_counter(i, &c)) {
        v->meters[i->id] = ir_is_header(b) ? ir_meters(cx, i) : NULL;
        continue;
      }
      kept = CX_NEW(cx, Counter);
      *kept = c;
      v->counter[i->id] = kept;
    }
}

static void choose_meters(Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b)
    for (const Ins *i = b->first; i && i->op == OP_PHI; i = i->next)
      v->meters[i->id] = ir_sound_meters(v, v->meters[i->id]);
}

Intervals *ir_intervals(Cx *cx, const Fn *fn) { return ir_intervals_if(cx, fn, NULL); }

Intervals *ir_intervals_if(Cx *cx, const Fn *fn, const uint8_t *bits) {
  Intervals *v = CX_NEW(cx, Intervals);
  v->bits = bits;
  v->small_grid = fn->program && fn->program->narrow;
  v->narrow = v->small_grid && fn->is_kernel && !fn->recursive;
  v->of = CX_ARRAY(cx, Interval, fn->next_id);
  v->counter = CX_ARRAY(cx, const Counter *, fn->next_id);
  v->meters = CX_ARRAY(cx, const Meter *, fn->next_id);
  v->grown = CX_ARRAY(cx, uint8_t, fn->next_id);
  for (uint32_t k = 0; k < fn->next_id; k++)
    v->of[k] = ir_nothing;
  v->same = CX_ARRAY(cx, const Ins *, fn->next_id);
  find_counters(cx, v, fn);
  choose_meters(v, fn);
  find_same(v, fn);
  ir_find_guards(cx, v, fn);
  find_arrays(cx, v, fn);
  find_marks(v, fn);
  while (grow(v, fn))
    ;
  for (int k = 0; k < SHRINK_LIMIT && shrink(v, fn); k++)
    ;
  return v;
}

Interval ir_interval(const Intervals *v, const Ins *i) { return v->of[i->id]; }

bool ir_reads_within(const Intervals *v, const Ins *user, Interval room) {
  bool all = user->nargs;
  for (uint32_t k = 0; all && k < user->nargs; k++) {
    Interval r = operand(v, user, k);
    all = !ir_interval_is_empty(r) && ir_interval_lies_within(r, room);
  }
  return all;
}

bool ir_is_within(const Intervals *v, const Ins *i, Interval room) {
  return !ir_interval_is_empty(v->of[i->id]) && ir_interval_lies_within(v->of[i->id], room);
}
