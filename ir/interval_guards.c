/* Intervals, guards: what comparisons and indices say of values in the blocks that only one of their
 * outcomes reaches.
 *
 *   if x + 3 < n: …             x is less than n - 3
 *   while d * d <= n: …         d is at most a root of n
 *   a[x] = …                    x is within the reach of an index, which nothing checks
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

bool ir_keeps_number(const Ins *cast) {
  return cast->op == OP_CAST && ty_is_integral(cast->type) && ty_is_integral(cast->args[0]->type) &&
         ir_interval_lies_within(ir_interval_of_type(cast->args[0]->type),
                                 ir_interval_of_type(cast->type));
}

const Ins *ir_uncast(const Ins *i) {
  while (ir_keeps_number(i))
    i = i->args[0];
  return i;
}

const Ins *ir_first_of(const Intervals *v, const Ins *i) {
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

/* What is left of r, of a value of which the guard speaks. */
static Interval guarded(const Intervals *v, const Guard *g, Interval r) {
  if (g->reach)
    return ir_interval_common(r, (Interval){g->by - g->reach, g->by + g->reach});
  Interval other = ir_interval_sum(v->of[g->other->id], (Interval){g->by, g->by});
  return g->square ? rooted(r, g->op, other) : ir_interval_where(r, g->op, other);
}

Interval ir_guarded(const Intervals *v, const Ins *i, const Block *b, Interval r) {
  for (const Guard *g = v->guards[ir_first_of(v, i)->id]; g; g = g->next)
    if (ir_dominates(g->region, b) && !(g->moved && is_whole(v, g->moved)))
      r = guarded(v, g, r);
  return r;
}

/* --- which there are --- */

static void add_guard(Cx *cx, Intervals *v, Guard g, const Ins *value) {
  if (ir_keeps_number(value))
    add_guard(cx, v, g, value->args[0]);
  if ((value->op == OP_ADD || value->op == OP_SUB) && !g.moved && value->args[1]->op == OP_CONST &&
      ty_is_integral(value->type)) {
    Interval n = ir_constant(value->args[1]);
    Guard base = g;
    base.moved = value;
    base.by = value->op == OP_SUB ? n.lo : -n.lo;
    if (n.lo == n.hi)
      add_guard(cx, v, base, value->args[0]);
  }
  if (value->op == OP_MUL && value->args[0] == value->args[1] && !g.moved && !g.reach &&
      (g.op == OP_LT || g.op == OP_LE)) {
    Guard root = g;
    root.moved = value;
    root.square = true;
    add_guard(cx, v, root, value->args[0]);
  }
  value = ir_first_of(v, value);
  g.next = v->guards[value->id];
  g.number = g.next ? g.next->number + 1 : 1;
  if (g.number > MAX_GUARDS || value->op == OP_CONST ||
      (g.op == OP_NE && (g.moved || g.other->op != OP_CONST)) ||
      (g.reach && g.next && g.next->reach && ir_dominates(g.next->region, g.region)))
    return;
  Guard *kept = CX_NEW(cx, Guard);
  *kept = g;
  v->guards[value->id] = kept;
}

static void find_comparisons(Cx *cx, Intervals *v, const Fn *fn) {
  FOR_BLOCKS (fn, b) {
    const Ins *c = b->last->op == OP_CONDBR ? b->last->args[0] : NULL;
    if (!c || !ir_compares_integers(c) || b->succ[0] == b->succ[1])
      continue;
    for (int side = 0; side < 2; side++) {
      Op op = side ? ir_inverse((Op)c->op) : (Op)c->op;
      if (b->succ[side]->preds.len != 1)
        continue;
      Guard first = {.region = b->succ[side], .other = c->args[1], .op = op},
            second = {.region = b->succ[side], .other = c->args[0], .op = ir_swapped(op)};
      add_guard(cx, v, first, c->args[0]);
      add_guard(cx, v, second, c->args[1]);
    }
  }
}

/* How far from 0 an index of this array can be, of a narrow signature; 0: that is not known. */
static IrWide reach_of(const Intervals *v, const Ins *array) {
  const Type *type = array->type;
  bool own = type->space == SPACE_LOCAL || type->space == SPACE_SHARED;
  return !v->narrow || type->wide ? 0 : ir_is_passed(v, array) || own ? TY_SMALL : LARGEST_INT32;
}

static const Ins *without_constants(const Ins *i) {
  while (ir_keeps_number(i) || ((i->op == OP_ADD || i->op == OP_SUB) && i->args[1]->op == OP_CONST))
    i = i->args[0];
  return i;
}

static bool is_from_memory(const Ins *i, int depth) {
  i = without_constants(i);
  bool any = i->op == OP_LOAD;
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
 * could not of 32 bits (lower/values.c), and positions from memory are compared with what has 64
 * bits (codegen/nvptx/short_indices.c clamps it in front of the loop). */
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
  find_comparisons(cx, v, fn);
  find_indices(cx, v, fn);
}
