/* Intervals, meters: what a loop makes of a value only where it moves a counter on, which is
 * bounded, so that it does so no more than a few times:
 *
 *   if ord("0") <= c <= ord("9") and digits < 3:
 *     part = 10 * part + c - ord("0")     # at most 999
 *     digits += 1
 *   elif c == ord("."):
 *     part = digits = 0
 *
 * A way around the loop leaves both as they are, moves both on, or sets the value anew. From there
 * it has been moved on as often as the meter's range has room for steps.
 */
#include "ir/cfg.h"
#include "ir/interval_arithmetic.h"
#include "ir/interval_private.h"

enum {
  MAX_VALUES = 8,  /* that the value is set to, or moved on to */
  MAX_CHAIN = 16,  /* operations that move it on */
  MAX_DEPTH = 6,   /* of these, one in another */
  MAX_WAYS = 32,   /* around a loop */
  MAX_PHIS = 16,   /* of a loop, one of which is the meter of another */
  MOST_STEPS = 32, /* of a meter */
};

struct Meter {
  const Meter *next; /* of the same value */
  const Ins *phi, *counter;
  IrWide step; /* of the counter, the least, where the value moves on */
  IrWide most; /* of all its steps */
  const Ins *set[MAX_VALUES], *moved[MAX_VALUES], *chain[MAX_CHAIN];
  unsigned nset, nmoved, nchain, nways;
  bool up, down; /* where the counter goes */
  bool makes;    /* the value does not only move by constants */
};

static bool add(const Ins **to, unsigned *n, const Ins *i) {
  bool room = *n < MAX_VALUES;
  if (room)
    to[(*n)++] = i;
  return room;
}

/* Not what comes from another lane, which may have moved its own value more often. */
static bool is_arithmetic(const Ins *i) {
  switch ((Op)i->op) {
  case OP_SELECT:
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
  case OP_XOR: return ty_is_integral(i->type);
  default: return false;
  }
}

/* Is it made of the value, by operations of the loop? These go into the chain, in order. What is
 * too deep counts as it is: what is known of it is true however often it is computed. */
static bool depends(Meter *m, const Ins *i, unsigned depth) {
  bool any = false;
  if (i == m->phi)
    return true;
  for (unsigned k = 0; k < m->nchain; k++)
    if (m->chain[k] == i)
      return true;
  if (!depth || !is_arithmetic(i))
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    any |= depends(m, i->args[k], depth - 1);
  if (!any || m->nchain == MAX_CHAIN)
    return false;
  m->chain[m->nchain++] = i;
  return true;
}

/* By how much a way moves a variable of the loop; false: it does not, or not by a constant. */
static bool read_step(const Ins *phi, const Ins *i, int64_t *by) {
  const Ins *step = i->op == OP_ADD || i->op == OP_SUB ? i->args[i->args[0] == phi] : NULL;
  *by = 0;
  if (i == phi)
    return true;
  if (!step || step->op != OP_CONST || !fz_get_int(step->aux.frozen, by) || *by > IR_SMALL_STEP ||
      *by < -IR_SMALL_STEP)
    return false;
  bool down = i->op == OP_SUB;
  *by = down ? -*by : *by;
  return i->args[0] == phi || (!down && i->args[1] == phi);
}

static bool read_end(Meter *m, const Ins *value, const Ins *counter) {
  int64_t by, own;
  bool counts = read_step(m->counter, counter, &by), made = depends(m, value, MAX_DEPTH);
  if (!made)
    return add(m->set, &m->nset, value);
  m->up |= counts && by > 0;
  m->down |= counts && by < 0;
  if (!counts || (m->up && m->down) || (!by && value != m->phi))
    return false;
  IrWide step = by < 0 ? -by : by;
  m->most = ir_interval_larger(m->most, step);
  if (value == m->phi)
    return true;
  m->step = m->nmoved ? ir_interval_smaller(m->step, step) : step;
  m->makes |= !read_step(m->phi, value, &own);
  return add(m->moved, &m->nmoved, value);
}

static const Block *merge_of(const Meter *m, const Ins *i) {
  return i->op == OP_PHI && i != m->phi && i->block != m->phi->block && !ir_is_header(i->block)
             ? i->block
             : NULL;
}

/* Takes the merges off both values of a way around the loop, the last one first. */
static bool read_ways(Meter *m, const Ins *value, const Ins *counter) {
  const Block *a = merge_of(m, value), *b = merge_of(m, counter);
  if (m->nways++ == MAX_WAYS)
    return false;
  if (!a && !b)
    return read_end(m, value, counter);
  const Block *last = !a || (b && b->rpo > a->rpo) ? b : a;
  bool all = true;
  for (uint32_t k = 0; k < last->preds.len && all; k++)
    all = read_ways(m, a == last ? value->args[k] : value, b == last ? counter->args[k] : counter);
  return all;
}

static bool read_meter(Meter *m) {
  const Block *header = m->phi->block;
  bool all = true;
  for (uint32_t k = 0; k < header->preds.len && all; k++)
    all = ir_dominates(header, header->preds.data[k])
              ? read_ways(m, m->phi->args[k], m->counter->args[k])
              : add(m->set, &m->nset, m->phi->args[k]);
  return all && m->makes;
}

const Meter *ir_meters(Cx *cx, const Ins *phi) {
  const Meter *all = NULL;
  unsigned n = 0;
  for (const Ins *i = phi->block->first; i && i->op == OP_PHI && n++ < MAX_PHIS; i = i->next) {
    Meter m = {.phi = phi, .counter = i, .next = all};
    if (i == phi || !ty_is_integral(i->type) || !read_meter(&m))
      continue;
    Meter *kept = CX_NEW(cx, Meter);
    *kept = m;
    all = kept;
  }
  return all;
}

/* A counter that has meters itself is none: two variables that move together must not bound each
 * other. */
const Meter *ir_sound_meters(const Intervals *v, const Meter *all) {
  const Meter *kept = NULL, *next;
  for (Meter *m = (Meter *)all; m; m = (Meter *)next) {
    next = m->next;
    if (v->meters[m->counter->id])
      continue;
    m->next = kept;
    kept = m;
  }
  return kept;
}

/* What the value is moved on to from r. */
static Interval moved(Intervals *v, const Meter *m, Interval r) {
  Interval saved[MAX_CHAIN], before = v->of[m->phi->id], to = ir_nothing;
  v->of[m->phi->id] = r;
  for (unsigned k = 0; k < m->nchain; k++) {
    saved[k] = v->of[m->chain[k]->id];
    v->of[m->chain[k]->id] = ir_interval_computed(v, m->chain[k]);
  }
  for (unsigned k = 0; k < m->nmoved; k++)
    to = ir_interval_both(to, v->of[m->moved[k]->id]);
  for (unsigned k = 0; k < m->nchain; k++)
    v->of[m->chain[k]->id] = saved[k];
  v->of[m->phi->id] = before;
  return to;
}

/* Has a step that wraps around no place in the counter's range? */
static bool never_wraps(const Meter *m, Interval range) {
  Interval room = ir_interval_of_type(m->counter->type);
  return range.hi - range.lo + m->most <= room.hi - room.lo;
}

static Interval metered(Intervals *v, const Meter *m) {
  Interval range = v->of[m->counter->id], r = ir_nothing;
  IrWide steps = ir_interval_is_empty(range) ? 0 : (range.hi - range.lo) / m->step;
  if (steps > MOST_STEPS || (steps && !never_wraps(m, range)))
    return ir_everything;
  for (unsigned k = 0; k < m->nset; k++)
    r = ir_interval_both(r, v->of[m->set[k]->id]);
  for (IrWide k = 0; k < steps && !ir_interval_is_empty(r); k++) {
    Interval next = ir_interval_both(r, moved(v, m, r));
    if (ir_interval_lies_within(next, r))
      break;
    r = next;
  }
  return r;
}

Interval ir_metered(Intervals *v, const Meter *all) {
  Interval r = ir_everything;
  for (const Meter *m = all; m; m = m->next)
    r = ir_interval_common(r, metered(v, m));
  return r;
}
