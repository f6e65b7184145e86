/* Intervals, drift: how far a value goes that loops carry around, by what they add to it.
 *
 * The phis and selections that make up such a value are its web. Each way around goes through the
 * header of a loop. A loop runs as often as its counter steps from start to stop, and adds each
 * step, or those of one way through its body, at most so often; and no thread lives to execute
 * 2**46 additions, which bounds small steps. A sum over the lanes of a warp, `n += shfl_xor(n, k)`,
 * doubles at most.
 */
#include "ir/cfg.h"
#include "ir/interval_arithmetic.h"
#include "ir/interval_private.h"

enum { MAX_WEB = 16, MAX_EDGES = 40, MAX_SUMS = 16, MOST_DOUBLINGS = 32, MAX_BLOCKS = 32 };

static bool is_small(const Intervals *v, const Ins *i) {
  return ir_interval_lies_within(v->of[i->id], (Interval){-IR_SMALL_STEP, IR_SMALL_STEP});
}

/* So small that a counter's few turns add up to less than 64 bits. */
static bool is_step(const Intervals *v, const Ins *i) {
  return ir_interval_lies_within(v->of[i->id], (Interval){-IR_LONG_STEP, IR_LONG_STEP});
}

typedef struct Edge { /* of a web: operand of a phi or selection */
  uint32_t to;
  const Ins *from; /* of the web, or what enters it */
  Interval sum;    /* of the steps in between */
} Edge;

typedef struct Web { /* the phis and selections that make up a value that drifts */
  const Ins *of[MAX_WEB];
  uint32_t n;
  Edge edges[MAX_EDGES];
  uint32_t nedges;           /* more than MAX_EDGES: these are not all */
  Interval step, steps;      /* what an addition between them adds, or none; all of them together */
  const Ins *sums[MAX_SUMS]; /* the additions between them, or some of many */
  uint32_t nsums;
  const Ins *doubling; /* an addition of the value and the same of another lane */
  bool in_headers;     /* one of these is in a loop's header, which runs once more than the body */
} Web;

/* w->n: it is none of the web. */
static uint32_t number_of(const Web *w, const Ins *i) {
  uint32_t k = 0;
  while (k < w->n && w->of[k] != i)
    k++;
  return k;
}

static bool has(const Web *w, const Ins *i) { return number_of(w, i) < w->n; }

bool ir_is_header(const Block *b) {
  for (uint32_t k = 0; k < b->preds.len; k++)
    if (ir_dominates(b, b->preds.data[k]))
      return true;
  return false;
}

bool ir_is_shuffle(const Ins *i) {
  return i->op == OP_INTRINSIC && i->nargs > 1 && i->args[1]->type == i->type &&
         (i->aux.intrinsic == INTR_SHFL_SYNC || i->aux.intrinsic == INTR_SHFL_UP ||
          i->aux.intrinsic == INTR_SHFL_DOWN || i->aux.intrinsic == INTR_SHFL_XOR);
}

/* Of `x + shfl(x)`, x; NULL of others. */
static const Ins *before_doubling(const Ins *i) {
  for (unsigned k = 0; k < 2 && i->op == OP_ADD; k++)
    if (ir_is_shuffle(i->args[k]) && i->args[k]->args[1] == i->args[!k])
      return i->args[!k];
  return NULL;
}

/* Is the first operand of a sum the step, and the other one what that is added to? */
static bool is_exchanged(const Intervals *v, const Web *w, const Ins *i) {
  if (i->op != OP_ADD || has(w, i->args[1]) || has(w, i->args[0]))
    return i->op == OP_ADD && has(w, i->args[1]);
  return !is_small(v, i->args[1]) && (is_small(v, i->args[0]) || !is_step(v, i->args[1]));
}

static bool is_merge(const Ins *i) { return i->op == OP_PHI || i->op == OP_SELECT; }

/* Takes steps, and what doubles it, off i: what they are added to. *sum: of any of these steps.
 * Long ones only where they are added to a phi or a selection: of other sums more is known. */
static const Ins *before_steps(const Intervals *v, Web *w, const Ins *i, Interval *sum) {
  const Ins *whole = NULL; /* with the first long step */
  Interval step = w->step;
  Interval short_sum = *sum = (Interval){0, 0};
  uint32_t nsums = 0; /* before it */
  while (i->op == OP_ADD || i->op == OP_SUB) {
    const Ins *half = before_doubling(i);
    if (half && (!w->doubling || w->doubling == i)) {
      w->doubling = i;
      w->in_headers |= ir_is_header(i->block);
      i = half;
      continue;
    }
    bool exchanged = is_exchanged(v, w, i);
    const Ins *by = i->args[!exchanged];
    Interval s = v->of[by->id];
    if (!is_step(v, by))
      break;
    if (!whole && !is_small(v, by)) {
      whole = i;
      short_sum = *sum;
      step = w->step;
      nsums = w->nsums;
    }
    if (w->nsums < MAX_SUMS)
      w->sums[w->nsums++] = i;
    if (!ir_interval_is_empty(s)) {
      s = ir_interval_both((Interval){0, 0}, i->op == OP_ADD ? s : ir_interval_negated(s));
      w->step = ir_interval_both(w->step, s);
      *sum = ir_interval_sum(*sum, s);
    }
    w->in_headers |= ir_is_header(i->block);
    i = i->args[exchanged];
  }
  if (!whole || is_merge(i))
    return i;
  *sum = short_sum;
  w->step = step;
  w->nsums = nsums;
  return whole;
}

bool ir_is_any(const Ins *i) { return i->op == OP_UNSET && !i->aux2; }

/* How often a loop's body runs each time that the loop is entered, by this counter. */
static IrWide counted_trips(const Intervals *v, const Counter *c) {
  Interval start = ir_interval_at(v, c->start, c->before), step = v->of[c->step->id],
           stop = ir_interval_at(v, c->stop, c->before), room = ir_interval_of_type(c->next->type);
  if (ir_interval_is_empty(start) || ir_interval_is_empty(stop) || ir_interval_is_empty(step))
    return 0;
  if (c->next->op != OP_ADD && c->next->op != OP_SUB)
    return IR_MOST_STEPS;
  if (c->next->op == OP_SUB)
    step = ir_interval_negated(step);
  if (c->down) { /* as from -start up to -stop */
    start = ir_interval_negated(start), stop = ir_interval_negated(stop);
    step = ir_interval_negated(step), room = ir_interval_negated(room);
  }
  if (step.lo < 1 || stop.hi + step.hi > room.hi) /* it may wrap around */
    return IR_MOST_STEPS;
  IrWide length = stop.hi + c->closed - start.lo;
  return length <= 0 ? 0 : (length - 1) / step.lo + 1;
}

/* By all counters of the loop that begins with this block; of others 1. */
IrWide ir_trips(const Intervals *v, const Block *b) {
  IrWide least = IR_MOST_STEPS;
  if (!ir_is_header(b)) {
    for (uint32_t k = 0; k < b->preds.len; k++)
      if (b->preds.data[k]->rpo >= b->rpo) /* a loop with several entries */
        return IR_MOST_STEPS;
    return 1;
  }
  for (const Ins *i = b->first; i && i->op == OP_PHI; i = i->next)
    if (v->counter[i->id])
      least = ir_interval_smaller(least, counted_trips(v, v->counter[i->id]));
  return least;
}

/* How often a web goes around: each way goes through the header of a loop. */
static IrWide turns(const Intervals *v, const Web *w) {
  IrWide n = 1;
  for (uint32_t k = 0; k < w->n; k++)
    if (w->of[k]->op == OP_PHI && n < IR_MOST_STEPS)
      n *= ir_interval_larger(ir_trips(v, w->of[k]->block) + w->in_headers, 1);
  return n;
}

static bool is_among(const Block *b, const Block *const *all, unsigned n) {
  unsigned k = 0;
  while (k < n && all[k] != b)
    k++;
  return k < n;
}

static bool is_one_number(Interval r) { return r.lo == r.hi; }

/* Is the loop of this header left from there alone? False if it is too large to tell. */
static bool ends_in_header(const Block *header) {
  const Block *all[MAX_BLOCKS] = {header};
  unsigned n = 1;
  for (unsigned at = 0; at < n; at++)
    for (uint32_t k = 0; k < all[at]->preds.len; k++) {
      const Block *from = all[at]->preds.data[k];
      if ((at == 0 && !ir_dominates(header, from)) || is_among(from, all, n))
        continue;
      if (n == MAX_BLOCKS)
        return false;
      all[n++] = from;
    }
  for (unsigned at = 1; at < n; at++)
    for (int s = 0; s < 2; s++)
      if (all[at]->succ[s] && !is_among(all[at]->succ[s], all, n))
        return false;
  return true;
}

/* Does each thread that comes to the loop of this header go through i as often as all others: as
 * often as its counter says, which is the same for all? */
static bool is_even(const Intervals *v, const Ins *i, const Block *header) {
  bool even = false, whole = ends_in_header(header);
  for (const Ins *phi = header->first; phi && phi->op == OP_PHI && whole && !even;
       phi = phi->next) {
    const Counter *c = v->counter[phi->id];
    even = c && is_one_number(v->of[c->start->id]) && is_one_number(v->of[c->step->id]) &&
           is_one_number(v->of[c->stop->id]);
  }
  for (uint32_t k = 0; k < header->preds.len && even; k++)
    even = !ir_dominates(header, header->preds.data[k]) ||
           ir_dominates(i->block, header->preds.data[k]);
  return even;
}

/* What is so large at first and doubles each time around. Lanes that exchange it are in the same
 * turn, so that none doubles what another has doubled more often; everything if they may not be. */
static Interval doubled(const Intervals *v, const Web *w, Interval r) {
  IrWide times = turns(v, w);
  bool even = !w->steps.lo && !w->steps.hi && times <= MOST_DOUBLINGS;
  for (uint32_t k = 0; k < w->n && even; k++)
    even = !ir_is_header(w->of[k]->block) || is_even(v, w->doubling, w->of[k]->block);
  return even ? ir_interval_product(r, (Interval){1, (IrWide)1 << times}) : ir_everything;
}

/* --- ways ---
 *
 * Of additions on ways that exclude one another, as in
 *
 *   if c == quote: length += 1
 *   elif c == comma: length = 0
 *   else: length += 1
 *
 * each turn makes those of one way. */

typedef struct Ways {
  const Web *w;
  uint32_t header; /* its number in the web: the only one */
  enum { WAY_NEW, WAY_BEGUN, WAY_DONE } state[MAX_WEB];
  Interval to[MAX_WEB]; /* what is added on any way to it, from the header or from an entry */
  Interval entered;     /* what is added where the web is entered */
  bool around;          /* a way comes back without the header */
} Ways;

static Interval ways_to(Ways *s, uint32_t k) {
  if (s->state[k] != WAY_NEW) {
    s->around |= s->state[k] == WAY_BEGUN;
    return s->to[k];
  }
  Interval most = {0, 0};
  s->state[k] = WAY_BEGUN;
  for (const Edge *e = s->w->edges; e < s->w->edges + s->w->nedges; e++) {
    if (e->to != k)
      continue;
    uint32_t from = number_of(s->w, e->from);
    Interval before = from == s->header || from == s->w->n ? (Interval){0, 0} : ways_to(s, from);
    if (from == s->w->n)
      s->entered = ir_interval_both(s->entered, e->sum);
    else
      most = ir_interval_both(most, ir_interval_sum(before, e->sum));
  }
  s->state[k] = WAY_DONE;
  return s->to[k] = most;
}

/* Any of the counters of the loop that begins with this block. */
static const Counter *counter_in(const Intervals *v, const Block *header) {
  for (const Ins *i = header->first; i && i->op == OP_PHI; i = i->next)
    if (v->counter[i->id])
      return v->counter[i->id];
  return NULL;
}

/* What n turns of a web add at most, by the longest way around the one loop that all of it is in;
 * of another web, all its steps, n times. A thread that leaves the loop out of its body has not
 * ended its last turn, so that what it adds on the way is of that turn. */
static Interval turned(const Intervals *v, const Web *w, IrWide n) {
  Interval all = ir_interval_product(w->steps, (Interval){0, n});
  Ways s = {.w = w, .header = MAX_WEB};
  for (uint32_t k = 0; k < w->n; k++)
    if (w->of[k]->op == OP_PHI && ir_is_header(w->of[k]->block)) {
      if (s.header < MAX_WEB)
        return all;
      s.header = k;
    }
  const Counter *c = s.header < MAX_WEB ? counter_in(v, w->of[s.header]->block) : NULL;
  if (!c || w->nedges > MAX_EDGES)
    return all;
  for (uint32_t k = 0; k < w->n; k++)
    if (k != s.header && !ir_dominates(c->body, w->of[k]->block))
      return all;
  Interval most = {0, 0};
  for (uint32_t k = 0; k < w->n; k++)
    most = ir_interval_both(most, ways_to(&s, k));
  return s.around
             ? all
             : ir_interval_common(
                   all, ir_interval_sum(s.entered, ir_interval_product(most, (Interval){0, n})));
}

/* What the additions of a web add up to. */
static Interval added(const Intervals *v, const Web *w) {
  IrWide n = turns(v, w);
  Interval timed = ir_interval_product(w->step, (Interval){0, IR_MOST_STEPS});
  return n < IR_MOST_STEPS ? ir_interval_common(timed, turned(v, w, n)) : timed;
}

/* A counter whose stop bounds it better than its steps would. */
static bool is_short_counter(const Intervals *v, const Ins *i) {
  return v->counter[i->id] &&
         ir_interval_lies_within(v->of[i->id], (Interval){INT32_MIN, INT32_MAX});
}

/* A phi of a loop that is over when `b` is come to, and bounded. */
static bool is_of_earlier_loop(const Intervals *v, const Ins *a, const Block *b) {
  const Block *header = a->block;
  bool earlier = a->op == OP_PHI && ir_is_header(header) &&
                 ir_interval_lies_within(v->of[a->id], (Interval){INT32_MIN, INT32_MAX});
  for (uint32_t k = 0; k < header->preds.len && earlier; k++)
    earlier = header->preds.data[k]->rpo < b->rpo;
  return earlier;
}

/* Does a guard on the way to a phi bound operand k, and to 32 bits? That is a better entry into a
 * web than what is behind it. */
static bool is_guarded(const Intervals *v, const Ins *merge, uint32_t k, Interval *is) {
  const Ins *a = merge->args[k];
  if (merge->op != OP_PHI)
    return false;
  *is = ir_interval_at(v, a, merge->block->preds.data[k]);
  return ir_interval_lies_within(*is, (Interval){INT32_MIN, INT32_MAX}) &&
         !ir_interval_lies_within(v->of[a->id], *is);
}

/* What enters the web of phi from elsewhere, and as many steps from there as its loops take, or as
 * there is time for. */
static Interval drifted(const Intervals *v, const Ins *phi, Web *web) {
  Web w = {.of = {phi}, .n = 1};
  Interval r = ir_nothing, room = ir_interval_of_type(phi->type);
  for (uint32_t k = 0; k < w.n; k++)
    for (uint32_t j = w.of[k]->op == OP_SELECT; j < w.of[k]->nargs; j++) {
      Interval guarded;
      if (is_guarded(v, w.of[k], j, &guarded)) {
        r = ir_interval_both(r, guarded);
        continue;
      }
      Interval sum;
      const Ins *a = before_steps(v, &w, w.of[k]->args[j], &sum);
      w.steps = ir_interval_sum(w.steps, sum);
      if (w.nedges < MAX_EDGES)
        w.edges[w.nedges] = (Edge){k, a, sum};
      w.nedges++;
      if (has(&w, a) || ir_is_any(a))
        continue;
      if (!is_merge(a) || is_short_counter(v, a) || is_of_earlier_loop(v, a, phi->block))
        r = ir_interval_both(r, v->of[a->id]);
      else if (w.n < MAX_WEB)
        w.of[w.n++] = a;
      else
        return room;
    }
  if (ir_interval_is_empty(r))
    return r;
  r = w.doubling ? doubled(v, &w, r) : ir_interval_sum(r, added(v, &w));
  *web = w;
  return ir_interval_lies_within(r, room) ? r : room;
}

Interval ir_drifted(const Intervals *v, const Ins *phi) {
  Web w;
  return drifted(v, phi, &w);
}

/* An addition is one of the steps itself: what it gives is no more than all of them add up to. */
void ir_bound_sums(Intervals *v, const Ins *phi) {
  Web w = {0};
  Interval r = drifted(v, phi, &w);
  for (uint32_t k = 0; k < w.nsums && !w.doubling; k++)
    v->of[w.sums[k]->id] = ir_interval_common(v->of[w.sums[k]->id], r);
}
