/* Thread steps: see thread_steps.h.
 *
 * An abstract interpretation over none < a step for each of x, y and z < unknown, by sweeps until
 * nothing changes: optimistic, so that a counter of a loop has the step of its start. It sees what
 * the user wrote, indices of arrays of several axes; the shapes of codegen/lanes and of
 * codegen/coarsen are those of addresses in LLVM's code, for one target each, and come too late to
 * name an index. Functions that the kernel calls have the steps that all their calls agree on.
 * Wrapping around is not considered: what is said about steps is advice. */
#include "codegen/ssa/thread_steps.h"

#include "ir/intrinsics.h"

enum { MAX_FNS = 64, MAX_SWEEPS = 12 };
#define LARGEST_STEP ((int64_t)1 << 40)

struct ThreadSteps {
  Cx *cx;
  const Program *program;
  ThreadStep *of[MAX_FNS];     /* by id of instruction */
  ThreadStep *params[MAX_FNS]; /* what the calls pass */
  ThreadStep result[MAX_FNS];
  bool changed;
};

static const ThreadStep none = {STEP_NONE, {0}}, same = {STEP_KNOWN, {0}},
                        unknown = {STEP_UNKNOWN, {0}};

static bool is_same_everywhere(ThreadStep a) {
  return a.state == STEP_KNOWN && !a.by[0] && !a.by[1] && !a.by[2];
}

static ThreadStep either(ThreadStep a, ThreadStep b) {
  if (a.state == STEP_NONE || b.state == STEP_UNKNOWN)
    return b;
  if (b.state == STEP_NONE || a.state == STEP_UNKNOWN)
    return a;
  for (int d = 0; d < 3; d++)
    if (a.by[d] != b.by[d])
      return unknown;
  return a;
}

ThreadStep cg_sum_of_steps(ThreadStep a, ThreadStep b, int64_t sign) {
  if (a.state != STEP_KNOWN || b.state != STEP_KNOWN)
    return a.state == STEP_UNKNOWN || b.state == STEP_UNKNOWN ? unknown : none;
  for (int d = 0; d < 3; d++) {
    bool of_launch = a.by[d] == STEP_OF_LAUNCH || b.by[d] == STEP_OF_LAUNCH;
    a.by[d] = of_launch ? STEP_OF_LAUNCH : a.by[d] + sign * b.by[d];
    if (!of_launch && (a.by[d] > LARGEST_STEP || a.by[d] < -LARGEST_STEP))
      return unknown;
  }
  return a;
}

static bool is_int_const(const Ins *i, int64_t *value) {
  return i && i->op == OP_CONST && fz_get_int(i->aux.frozen, value);
}

static ThreadStep scaled(ThreadStep a, bool known, int64_t factor) {
  for (int d = 0; d < 3; d++) {
    bool small = known && a.by[d] != STEP_OF_LAUNCH && factor < (1 << 20) && factor > -(1 << 20);
    if (a.by[d] && !(known && !factor))
      a.by[d] = small ? a.by[d] * factor : STEP_OF_LAUNCH;
    else
      a.by[d] = 0;
    if (small && (a.by[d] > LARGEST_STEP || a.by[d] < -LARGEST_STEP))
      return unknown;
  }
  return a;
}

ThreadStep cg_multiple_of_step(ThreadStep a, ThreadStep b, const Ins *by) {
  int64_t factor = 0;
  if (a.state != STEP_KNOWN || b.state != STEP_KNOWN)
    return a.state == STEP_UNKNOWN || b.state == STEP_UNKNOWN ? unknown : none;
  bool known = is_int_const(by, &factor);
  return is_same_everywhere(b) ? scaled(a, known, factor) : unknown;
}

static ThreadStep product(const Ins *i, ThreadStep a, ThreadStep b) {
  return is_same_everywhere(a) ? cg_multiple_of_step(b, a, i->args[0])
                               : cg_multiple_of_step(a, b, i->args[1]);
}

static ThreadStep shifted(const Ins *i, ThreadStep a, ThreadStep b) {
  int64_t count;
  if (a.state != STEP_KNOWN || b.state != STEP_KNOWN || is_same_everywhere(a) ||
      !is_int_const(i->args[1], &count) || count < 0 || count > 20)
    return a.state == STEP_NONE || b.state == STEP_NONE     ? none
           : is_same_everywhere(a) && is_same_everywhere(b) ? same
                                                            : unknown;
  return scaled(a, true, (int64_t)1 << count);
}

static uint32_t number_of(const ThreadSteps *s, const Fn *fn) {
  for (uint32_t k = 0; k < s->program->fns.len; k++)
    if (s->program->fns.data[k] == fn)
      return k;
  return 0;
}

ThreadStep cg_thread_step(const ThreadSteps *s, uint32_t fn, const Ins *i) {
  return s->of[fn][i->id];
}

/* Of what depends on its operands alone: the same if they all are. */
static ThreadStep computed(const ThreadSteps *s, uint32_t fn, const Ins *i) {
  for (uint32_t k = 0; k < i->nargs; k++) {
    ThreadStep a = cg_thread_step(s, fn, i->args[k]);
    if (!is_same_everywhere(a))
      return a.state == STEP_NONE ? none : unknown;
  }
  return same;
}

/* min and max, and others that choose, between a number of all threads and one that differs: it is
 * that one's for most threads. */
static ThreadStep chosen(const ThreadSteps *s, uint32_t fn, const Ins *i) {
  ThreadStep a = cg_thread_step(s, fn, i->args[1]), b = cg_thread_step(s, fn, i->args[2]);
  if (is_same_everywhere(a) && b.state == STEP_KNOWN)
    return b;
  return is_same_everywhere(b) && a.state == STEP_KNOWN ? a : either(a, b);
}

static ThreadStep intrinsic_step(const ThreadSteps *s, uint32_t fn, const Ins *i) {
  ThreadStep r = same;
  switch (i->aux.intrinsic) {
  case INTR_TID_X: r.by[0] = 1; return r;
  case INTR_TID_Y: r.by[1] = 1; return r;
  case INTR_TID_Z: r.by[2] = 1; return r;
  case INTR_CTAID_X:
  case INTR_CTAID_Y:
  case INTR_CTAID_Z:
  case INTR_NTID_X:
  case INTR_NTID_Y:
  case INTR_NTID_Z:
  case INTR_NCTAID_X:
  case INTR_NCTAID_Y:
  case INTR_NCTAID_Z: return r;
  default: break;
  }
  bool pure = ir_intrinsics[i->aux.intrinsic].effect == EFFECT_PURE && i->nargs;
  return pure ? computed(s, fn, i) : unknown;
}

static ThreadStep of_item(const ThreadSteps *s, uint32_t fn, const Ins *i) {
  const Ins *tuple = i->args[0];
  return tuple->op == OP_MAKE_TUPLE ? cg_thread_step(s, fn, tuple->args[i->aux.i])
                                    : computed(s, fn, i);
}

static ThreadStep met(const ThreadSteps *s, uint32_t fn, const Ins *phi) {
  ThreadStep r = none;
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->args[k]->op != OP_UNSET)
      r = either(r, cg_thread_step(s, fn, phi->args[k]));
  return r;
}

static void put(ThreadSteps *s, ThreadStep *old, ThreadStep new) {
  ThreadStep r = either(*old, new);
  for (int d = 0; d < 3; d++)
    s->changed |= r.state != old->state || r.by[d] != old->by[d];
  *old = r;
}

static ThreadStep call_step(ThreadSteps *s, uint32_t fn, const Ins *i) {
  uint32_t callee = number_of(s, i->aux.fn);
  for (uint32_t k = 0; k < i->nargs; k++)
    put(s, &s->params[callee][k], cg_thread_step(s, fn, i->args[k]));
  return s->result[callee];
}

static ThreadStep eval(ThreadSteps *s, uint32_t fn, const Ins *i) {
  ThreadStep a = i->nargs ? cg_thread_step(s, fn, i->args[0]) : same,
             b = i->nargs > 1 ? cg_thread_step(s, fn, i->args[1]) : same;
  switch ((Op)i->op) {
  case OP_CONST:
  case OP_UNSET:
  case OP_ALLOC:
  case OP_CONST_ARRAY:
  case OP_EXTENT:
  case OP_STRIDE: return same;
  case OP_PARAM: return fn ? s->params[fn][i->aux.i] : same;
  case OP_INTRINSIC: return intrinsic_step(s, fn, i);
  case OP_CALL_FN: return call_step(s, fn, i);
  case OP_PHI: return met(s, fn, i);
  case OP_SELECT: return chosen(s, fn, i);
  case OP_TUPLE_GET: return of_item(s, fn, i);
  case OP_CAST: return ty_is_integral(i->type) ? a : computed(s, fn, i);
  case OP_WRAP_INDEX:
  case OP_CHECK_INDEX: return a;
  case OP_ADD:
  case OP_SUB:
    return ty_is_integral(i->type) ? cg_sum_of_steps(a, b, i->op == OP_ADD ? 1 : -1)
                                   : computed(s, fn, i);
  case OP_NEG: return ty_is_integral(i->type) ? cg_sum_of_steps(same, a, -1) : computed(s, fn, i);
  case OP_MUL: return ty_is_integral(i->type) ? product(i, a, b) : computed(s, fn, i);
  case OP_LSHIFT: return shifted(i, a, b);
  case OP_ATOMIC:
  case OP_CALL_C: return unknown;
  case OP_LOAD: /* local memory differs between threads */
    return i->args[0]->type->space == SPACE_LOCAL ? unknown : computed(s, fn, i);
  default: return computed(s, fn, i);
  }
}

static void sweep(ThreadSteps *s, uint32_t fn) {
  FOR_BLOCKS (s->program->fns.data[fn], b)
    FOR_INS (b, i) {
      put(s, &s->of[fn][i->id], eval(s, fn, i));
      if (i->op == OP_RET)
        put(s, &s->result[fn], cg_thread_step(s, fn, i->args[0]));
    }
}

ThreadSteps *cg_thread_steps(Cx *cx, const Program *program) {
  ThreadSteps *s = CX_NEW(cx, ThreadSteps);
  *s = (ThreadSteps){.cx = cx, .program = program, .changed = true};
  if (program->fns.len > MAX_FNS)
    return NULL;
  for (uint32_t k = 0; k < program->fns.len; k++) {
    const Fn *fn = program->fns.data[k];
    s->of[k] = CX_ARRAY(cx, ThreadStep, fn->next_id + 1);
    s->params[k] = CX_ARRAY(cx, ThreadStep, fn->nparams + 1);
  }
  for (uint32_t sweeps = 0; s->changed; sweeps++) {
    s->changed = false;
    if (sweeps == MAX_SWEEPS)
      return NULL;
    for (uint32_t k = 0; k < program->fns.len; k++)
      sweep(s, k);
  }
  return s;
}
