/* Numbers: whether the sums, the narrow and the float64 operations that typing has remarked on
 * (typeinfer/engine/remarks.c) are worth advice.
 *
 * A sum of 8 or 16 bits always is: nobody starts with a Python 0 to wrap around. A sum of n floats
 * with p bits is off by up to n * 2**-p of the sum of their magnitudes, so that of floats of 8 and
 * 16 bits always is, and that of float32 from LONG_SUM additions on, where the bound is 2**-14; but
 * not where the threads share a loop between them, which adds few in each.
 *
 * A Python number that becomes one of 8 or 16 bits is cut if it may be greater, and somebody sees
 * the bits that are missing: not a store into an array of that width.
 *
 * float64 arithmetic is what the user wants if its result is kept as float64, in an array or by
 * somebody unknown. Otherwise it has been paid for in vain. */
#include "codegen/ssa/numbers.h"

#include <string.h>

#include "codegen/ssa/thread_steps.h"
#include "ir/cfg.h"
#include "ir/interval.h"
#include "ir/interval_arithmetic.h"

enum { LONG_SUM = 1024, MAX_CHAIN = 32, MAX_SWEEPS = 32 };

/* The number of the function that the block is in; how many there are, of a block that is gone. */
static uint32_t function_of(const Program *p, const Block *block) {
  for (uint32_t k = 0; k < p->fns.len; k++)
    FOR_BLOCKS (p->fns.data[k], b)
      if (b == block)
        return k;
  return p->fns.len;
}

/* --- sums --- */

typedef struct Trips { /* of the loops around an addition */
  Cx *cx;
  const ThreadSteps *steps;
  const Intervals *v;
  uint32_t fn;
  const Ins *seen[MAX_CHAIN];
  uint32_t n;
  bool shared; /* a loop whose turns the threads of a block or grid share */
  IrWide most;
} Trips;

static bool reads_size(const Ins *i, uint32_t depth) {
  if (i->op == OP_INTRINSIC)
    return i->aux.intrinsic >= INTR_NTID_X && i->aux.intrinsic <= INTR_NCTAID_Z;
  for (uint32_t k = 0; k < i->nargs && i->nargs <= 2 && depth < 6; k++)
    if (i->op != OP_PHI && reads_size(i->args[k], depth + 1))
      return true;
  return false;
}

static void count_turns(Trips *t, const Block *header) {
  Counter c;
  IrWide turns = INT32_MAX;
  for (const Ins *i = header->first; i && i->op == OP_PHI; i = i->next) {
    if (!ty_is_integral(i->type) || !ir_counter(i, &c))
      continue;
    ThreadStep start = cg_thread_step(t->steps, t->fn, c.start);
    t->shared |= start.state != STEP_KNOWN || start.by[0] || start.by[1] || start.by[2] ||
                 reads_size(c.step, 0);
    Interval from = ir_interval(t->v, c.start), to = ir_interval(t->v, c.stop),
             by = ir_interval(t->v, c.step);
    IrWide length = c.down ? from.hi - to.lo : to.hi - from.lo, step = c.next->op == OP_SUB ? by.lo
                                                                       : c.down             ? -by.hi
                                                                                            : by.lo;
    if (length >= 0 && step > 0 && (c.next->op == OP_ADD || c.next->op == OP_SUB))
      turns = length / step + 1 < turns ? length / step + 1 : turns;
    else if (c.next->op != OP_ADD && c.next->op != OP_SUB)
      turns = 64; /* the counter doubles */
  }
  t->most = t->most * turns > INT32_MAX ? INT32_MAX : t->most * turns;
}

static bool is_header(const Ins *phi) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (ir_dominates(phi->block, phi->block->preds.data[k]))
      return true;
  return false;
}

/* All loops that the sum goes round in. */
static void follow(Trips *t, const Ins *i, const Ins *variable) {
  for (uint32_t k = 0; k < t->n; k++)
    if (t->seen[k] == i)
      return;
  if ((i->op != OP_PHI && i->op != OP_ADD && i->op != OP_SUB) || t->n == MAX_CHAIN ||
      !ir_dominates(variable->block, i->block))
    return;
  t->seen[t->n++] = i;
  if (i->op == OP_PHI && is_header(i))
    count_turns(t, i->block);
  for (uint32_t k = 0; k < i->nargs; k++)
    follow(t, i->args[k], variable);
}

static bool is_long(Cx *cx, Program *program, const ThreadSteps *steps, const Ins *variable) {
  Trips t = {.cx = cx, .steps = steps, .most = 1, .fn = function_of(program, variable->block)};
  ir_dominators(cx, program->fns.data[t.fn]);
  t.v = ir_intervals(cx, program->fns.data[t.fn]);
  follow(&t, variable, variable);
  return !t.shared && t.most >= LONG_SUM;
}

static void judge_sum(Cx *cx, Program *program, const ThreadSteps *steps, const IrSum *s) {
  const Type *t = s->variable->type;
  const char *name = s->variable->name ? arena_printf(&cx->arena, "the sum '%s'", s->variable->name)
                                       : "the sum";
  bool whole = ty_is_integral(t);
  if (function_of(program, s->variable->block) == program->fns.len ||
      (!whole && ty_bits(t) == 32 && (!steps || !is_long(cx, program, steps, s->variable))))
    return;
  if (s->start.line)
    note(cx, s->start, "it starts here");
  if (!whole)
    cx_advice(cx, s->added->loc, ERR_ROUNDED_SUM, name, ty_pretty(cx, t));
  else
    cx_advice(cx, s->added->loc, ERR_WRAPPED_SUM, name, ty_pretty(cx, t),
              arena_printf(&cx->arena, "%u", (1u << (ty_bits(t) - ty_is_signed(t))) - 1));
}

/* --- Python numbers in narrow types --- */

/* Has what it makes the low bits that it would have of wider operands? */
static bool keeps_low_bits(const Ins *i, uint32_t bits) {
  if (!ty_is_integral(i->type) || ty_bits(i->type) > bits)
    return false;
  switch ((Op)i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_LSHIFT:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_NEG:
  case OP_INVERT:
  case OP_PHI:
  case OP_SELECT:
  case OP_CAST: return true;
  default: return false;
  }
}

typedef struct Seen {
  const Fn *fn;
  const Ins *what[MAX_CHAIN];
  uint32_t n;
} Seen;

static bool is_seen(Seen *s, const Ins *made);

/* Does i see more of its operand k, a number of some bits, than these? */
static bool sees(Seen *s, const Ins *i, uint32_t k) {
  const Type *t = i->args[k]->type;
  if (i->op == OP_STORE && k + 1 == i->nargs) /* into an array of that type */
    return false;
  if (i->op == OP_AND && !ty_is_signed(t)) /* the other operand has no more either */
    return false;
  bool other = (i->op == OP_LSHIFT && k) || (i->op == OP_SELECT && !k);
  return other || !keeps_low_bits(i, ty_bits(t)) || is_seen(s, i);
}

/* Yes, if that is too long to say. */
static bool is_seen(Seen *s, const Ins *made) {
  for (uint32_t k = 0; k < s->n; k++)
    if (s->what[k] == made)
      return false;
  if (s->n == MAX_CHAIN)
    return true;
  s->what[s->n++] = made;
  FOR_BLOCKS (s->fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++)
        if (i->args[k] == made && sees(s, i, k))
          return true;
  return false;
}

static void judge_cut(Cx *cx, Program *program, const IrCut *cut) {
  const Ins *made = cut->made;
  bool shift = made->op == OP_LSHIFT;
  uint32_t fn = function_of(program, made->block), bits = ty_bits(made->type);
  int64_t room = (int64_t)1 << (bits - ty_is_signed(made->type));
  if (fn == program->fns.len)
    return;
  const Intervals *v = ir_intervals(cx, program->fns.data[fn]);
  Interval is = ir_interval_at(v, made->args[shift], made->block),
           fits = {ty_is_signed(made->type) ? -room : 0, room - 1}, counts = {0, bits - 1};
  Seen s = {.fn = program->fns.data[fn]};
  if (!ir_interval_lies_within(is, shift ? counts : fits) && is_seen(&s, made))
    cx_advice(cx, cut->loc, ERR_CUT_NUMBER, ty_pretty(cx, made->type),
              arena_printf(&cx->arena, "%d", (int)room - 1));
}

/* --- float64 among float32 --- */

/* The values whose float64 somebody keeps, by function and id of instruction. */
typedef struct Kept {
  Program *program;
  bool **of, **params, *result;
  bool changed;
} Kept;

static bool is_double(const Type *t) {
  return t->id == TY_F64 || t->id == TY_C128 || t->id == TY_PYFLOAT || t->id == TY_PYCOMPLEX;
}

static void keep(Kept *k, bool *what) {
  k->changed |= !*what;
  *what = true;
}

static uint32_t number_of(const Program *p, const Fn *fn) {
  uint32_t k = 0;
  while (p->fns.data[k] != fn)
    k++;
  return k;
}

/* Does an instruction keep its operand, or is what it makes of it kept? A number that becomes a
 * narrower or an integer one, a comparison and a printed text keep nothing. */
static bool keeps(const Kept *k, uint32_t fn, const Ins *i, uint32_t operand) {
  switch ((Op)i->op) {
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE:
  case OP_TRUTH:
  case OP_PRINT:
  case OP_CHECK:
  case OP_CONDBR: return false;
  case OP_CALL_FN: return k->params[number_of(k->program, i->aux.fn)][operand];
  case OP_RET: return fn == 0 || k->result[fn];
  case OP_STORE:
  case OP_ATOMIC:
  case OP_CALL_C:
  case OP_RAISE: return true;
  case OP_CAST: return is_double(i->type) && k->of[fn][i->id];
  default: return k->of[fn][i->id];
  }
}

static void sweep(Kept *k, uint32_t fn) {
  FOR_BLOCKS (k->program->fns.data[fn], b)
    for (const Ins *i = b->last; i; i = i->prev)
      for (uint32_t n = 0; n < i->nargs; n++)
        if (i->args[n]->op != OP_CONST && keeps(k, fn, i, n)) {
          const Ins *a = i->args[n];
          keep(k, &k->of[fn][a->id]);
          if (a->op == OP_PARAM)
            keep(k, &k->params[fn][a->aux.i]);
          if (a->op == OP_CALL_FN)
            keep(k, &k->result[number_of(k->program, a->aux.fn)]);
        }
}

/* One origin is advised of once. The text names it, but for what has only a place. */
static bool was_said(const Program *p, uint32_t w) {
  const IrWidening *a = &p->widenings.data[w];
  for (uint32_t k = 0; k < w; k++) {
    const IrWidening *b = &p->widenings.data[k];
    if (!strcmp(a->what, b->what) &&
        (a->named || (a->origin.line == b->origin.line && a->origin.col == b->origin.col)))
      return true;
  }
  return false;
}

static void say_widening(Cx *cx, const IrWidening *w) {
  if (w->origin.line)
    note(cx, w->origin, "it comes from here");
  cx_advice(cx, w->loc, ERR_WIDE_AMONG_NARROW, ty_pretty(cx, w->type), ty_pretty(cx, w->data),
            w->what);
}

static void judge_widenings(Cx *cx, Program *p) {
  Kept k = {.program = p, .changed = true};
  uint32_t n = p->fns.len;
  k.of = CX_ARRAY(cx, bool *, n);
  k.params = CX_ARRAY(cx, bool *, n);
  k.result = CX_ARRAY(cx, bool, n);
  for (uint32_t fn = 0; fn < n; fn++) {
    k.of[fn] = CX_ARRAY(cx, bool, p->fns.data[fn]->next_id + 1);
    k.params[fn] = CX_ARRAY(cx, bool, p->fns.data[fn]->nparams + 1);
  }
  for (uint32_t sweeps = 0; k.changed; sweeps++) {
    k.changed = false;
    if (sweeps == MAX_SWEEPS) /* too many blocks to say */
      return;
    for (uint32_t fn = n; fn--;)
      sweep(&k, fn);
  }
  for (uint32_t w = 0; w < p->widenings.len; w++) {
    const IrWidening *wide = &p->widenings.data[w];
    uint32_t fn = function_of(p, wide->made->block);
    if (fn < n && !k.of[fn][wide->made->id] && !was_said(p, w))
      say_widening(cx, wide);
  }
}

void cg_judge_numbers(Cx *cx, Program *program) {
  const ThreadSteps *steps = program->sums.len ? cg_thread_steps(cx, program) : NULL;
  for (uint32_t k = 0; k < program->sums.len; k++)
    judge_sum(cx, program, steps, &program->sums.data[k]);
  for (uint32_t k = 0; k < program->cuts.len; k++)
    judge_cut(cx, program, &program->cuts.data[k]);
  if (program->widenings.len)
    judge_widenings(cx, program);
}
