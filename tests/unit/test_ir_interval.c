/* Intervals: random functions of integers, in every type, with loops and branches; what they
 * compute is run here, and no value may be outside of its interval. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/interval.h"
#include "ir/print.h"
#include "ir/verify.h"

enum { FUNCTIONS = 1500, RUNS = 12, MOST_VALUES = 96, MOST_STEPS = 4000 };

__extension__ typedef unsigned __int128 UWide;

static int failures;
#define CHECK(c)                                                                                   \
  ((c) ? (void)0 : (failures++, (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #c)))

static uint64_t state;

static uint32_t below(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

/* --- making --- */

static const TypeId types[] = {TY_PYINT, TY_PYINT, TY_PYINT, TY_I64, TY_I32, TY_U8,
                               TY_I16,   TY_U32,   TY_U64,   TY_I8,  TY_BOOL};
enum { NTYPES = sizeof types / sizeof *types };

typedef struct Making {
  Cx *cx;
  Fn *fn;
  Block *b;
  Ins *values[MOST_VALUES]; /* that block b can read */
  unsigned n;
} Making;

static const Type *some_type(const Making *m) { return ty_scalar(m->cx, types[below(NTYPES)]); }

static Ins *add_value(Making *m, Ins *i) {
  if (m->n < MOST_VALUES)
    m->values[m->n++] = i;
  return i;
}

static Ins *emit(Making *m, Op op, const Type *t, Ins *const *args, uint32_t n) {
  Ins *i = ir_ins(m->cx, m->fn, op, t, (Loc){0}, args, n);
  ir_append(m->b, i);
  return i;
}

static int64_t some_number(void) {
  static const int64_t far[] = {INT32_MAX,        INT64_MAX, INT64_MIN,       UINT32_MAX,
                                INT64_C(1) << 40, -1,        INT64_C(1) << 61};
  int64_t near = (int64_t)below(5) - 2 * below(2);
  return below(3) ? (int64_t)below(20) - 4 : (int64_t)((uint64_t)far[below(7)] + (uint64_t)near);
}

static Ins *constant(Making *m, const Type *t, int64_t v) {
  unsigned bits = ty_bits(t);
  uint64_t u = bits < 64 ? (uint64_t)v & ((UINT64_C(1) << bits) - 1) : (uint64_t)v;
  bool negative = ty_is_signed(t) && u >> (bits - 1);
  const Frozen *f = negative && bits < 64 ? fz_int(m->cx, (int64_t)(u | ~UINT64_C(0) << bits))
                    : ty_is_signed(t)     ? fz_int(m->cx, (int64_t)u)
                                          : fz_uint(m->cx, u);
  Ins *i = ir_const(m->cx, m->fn, ty_kind(t) == KIND_BOOL ? fz_bool(m->cx, u) : f, t, (Loc){0});
  ir_append(m->b, i);
  return i;
}

/* A value of the type that is there, or a constant. */
static Ins *some(Making *m, const Type *t) {
  for (int tries = 0; tries < 12 && m->n; tries++) {
    Ins *i = m->values[below(m->n)];
    if (i->type == t)
      return i;
  }
  if (!below(3) || !m->n)
    return constant(m, t, some_number());
  return emit(m, OP_CAST, t, &m->values[below(m->n)], 1);
}

static Ins *compare(Making *m) {
  const Type *t = some_type(m);
  Ins *args[] = {some(m, t), some(m, t)};
  return emit(m, (Op)(OP_LT + below(6)), ty_scalar(m->cx, TY_BOOL), args, 2);
}

static void add_operation(Making *m) {
  static const Op ops[] = {OP_ADD,    OP_ADD,    OP_SUB, OP_SUB,  OP_MUL,    OP_FLOORDIV,
                           OP_MOD,    OP_LSHIFT, OP_AND, OP_OR,   OP_XOR,    OP_RSHIFT,
                           OP_SELECT, OP_SELECT, OP_NEG, OP_CAST, OP_INVERT, OP_WRAP_INDEX};
  Op op = ops[below(sizeof ops / sizeof *ops)];
  const Type *t = op == OP_WRAP_INDEX ? ty_scalar(m->cx, TY_PYINT) : some_type(m);
  bool logic = op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_SELECT || op == OP_CAST;
  if (ty_kind(t) == KIND_BOOL && !logic)
    return;
  Ins *args[] = {some(m, t), some(m, t), NULL};
  uint32_t n = op == OP_NEG || op == OP_INVERT || op == OP_CAST ? 1 : 2;
  if (op == OP_CAST)
    args[0] = some(m, some_type(m));
  if (op == OP_SELECT) {
    args[2] = args[1], args[1] = args[0], n = 3;
    args[0] = below(2) ? emit(m, (Op)(OP_LT + below(6)), ty_scalar(m->cx, TY_BOOL), args + 1, 2)
                       : compare(m);
  }
  if (op == OP_SUB && !below(3)) { /* a part from the whole */
    static const Op parts[] = {OP_AND, OP_MOD, OP_FLOORDIV, OP_RSHIFT};
    args[1] = add_value(m, emit(m, parts[below(4)], t, args, 2));
  }
  Ins *i = add_value(m, emit(m, op, t, args, n));
  if ((op == OP_ADD || op == OP_SUB || op == OP_MUL) && ty_is_signed(t) && !below(4))
    i->flags |= INS_NO_WRAP; /* a run in which it would ends there */
}

static void add_statements(Making *m, unsigned depth);

static void add_branch(Making *m, unsigned depth) {
  unsigned n = m->n;
  Block *yes = ir_block(m->cx, m->fn), *no = ir_block(m->cx, m->fn), *out = ir_block(m->cx, m->fn);
  const Type *t = some_type(m);
  Ins *results[2], *test = compare(m);
  ir_condbr(m->cx, m->fn, m->b, test, yes, no, (Loc){0});
  for (int k = 0; k < 2; k++) {
    m->b = k ? no : yes;
    add_statements(m, depth);
    results[k] = some(m, t);
    ir_br(m->cx, m->fn, m->b, out, (Loc){0});
    m->n = n;
  }
  m->b = out;
  Ins *phi = ir_ins(m->cx, m->fn, OP_PHI, t, (Loc){0}, results, 2);
  ir_insert_phi(out, phi);
  add_value(m, phi);
}

/* A number of matches, and one that may go down as well. */
static Ins *counted(Making *m, Ins *phi) {
  const Type *t = phi->type;
  Ins *more = emit(m, OP_ADD, t, (Ins *[]){phi, constant(m, t, below(3))}, 2);
  if (below(2))
    return more;
  Ins *less = below(2) ? phi : emit(m, OP_SUB, t, (Ins *[]){phi, constant(m, t, below(3))}, 2);
  return emit(m, OP_SELECT, t, (Ins *[]){compare(m), more, less}, 3);
}

/* while phi ? stop, the test either way round and to either side; what the body makes of two
 * variables. */
static void add_loop(Making *m, unsigned depth) {
  static const Op steps[] = {OP_ADD, OP_ADD, OP_ADD, OP_SUB, OP_MUL, OP_LSHIFT};
  Block *head = ir_block(m->cx, m->fn), *body = ir_block(m->cx, m->fn),
        *out = ir_block(m->cx, m->fn);
  const Type *t = ty_scalar(m->cx, types[below(NTYPES - 1)]);
  Ins *phis[2], *stop = some(m, t), *step = some(m, t);
  for (int k = 0; k < 2; k++) {
    Ins *start = some(m, t);
    phis[k] = ir_ins(m->cx, m->fn, OP_PHI, t, (Loc){0}, &start, 1);
  }
  ir_br(m->cx, m->fn, m->b, head, (Loc){0});
  m->b = head;
  bool turned = below(2), exits = below(2);
  for (int k = 0; k < 2; k++)
    ir_insert_phi(head, add_value(m, phis[k]));
  Ins *args[] = {turned ? stop : phis[0], turned ? phis[0] : stop};
  Ins *test = emit(m, (Op)(OP_LT + below(6)), ty_scalar(m->cx, TY_BOOL), args, 2);
  ir_condbr(m->cx, m->fn, head, test, exits ? out : body, exits ? body : out, (Loc){0});
  unsigned n = m->n;
  m->b = body;
  add_statements(m, depth);
  Op op = steps[below(6)];
  bool first = op == OP_SUB || op == OP_LSHIFT || below(2);
  Ins *next = emit(m, op, t, (Ins *[]){first ? phis[0] : step, first ? step : phis[0]}, 2);
  if (ty_is_signed(t) && (op == OP_ADD || op == OP_SUB) && !below(3))
    next->flags |= INS_NO_WRAP;
  ir_add_arg(m->cx, phis[0], next);
  ir_add_arg(m->cx, phis[1], below(2) ? some(m, t) : counted(m, phis[1]));
  ir_br(m->cx, m->fn, m->b, head, (Loc){0});
  m->n = n;
  m->b = out;
}

/* `if c: x += step`, as a branch or as a selection: what x is then. */
static Ins *moved(Making *m, Ins *x, Ins *step) {
  bool chosen = below(2);
  Block *yes = chosen ? m->b : ir_block(m->cx, m->fn),
        *out = chosen ? NULL : ir_block(m->cx, m->fn);
  Ins *test = compare(m);
  Op op = below(3) ? OP_ADD : OP_SUB;
  bool first = op == OP_SUB || below(2);
  if (!chosen)
    ir_condbr(m->cx, m->fn, m->b, test, yes, out, (Loc){0});
  m->b = yes;
  Ins *sum = emit(m, op, x->type, (Ins *[]){first ? x : step, first ? step : x}, 2);
  if (chosen)
    return add_value(m, emit(m, OP_SELECT, x->type, (Ins *[]){test, sum, x}, 3));
  ir_br(m->cx, m->fn, yes, out, (Loc){0});
  m->b = out;
  Ins *phi = ir_ins(m->cx, m->fn, OP_PHI, x->type, (Loc){0}, (Ins *[]){x, sum}, 2);
  ir_insert_phi(out, phi);
  return add_value(m, phi);
}

/* `if n * x < y:` with x - y in it, and what x has become before that. */
static void add_guarded(Making *m, unsigned depth) {
  const Type *t = ty_scalar(m->cx, types[below(NTYPES - 1)]);
  Block *yes = ir_block(m->cx, m->fn), *out = ir_block(m->cx, m->fn);
  Ins *x = some(m, t), *y = some(m, t), *left = x;
  switch (below(4)) {
  case 0: left = emit(m, OP_MUL, t, (Ins *[]){x, constant(m, t, 1 + below(5))}, 2); break;
  case 1: left = emit(m, OP_MUL, t, (Ins *[]){constant(m, t, 1 + below(5)), x}, 2); break;
  case 2: left = emit(m, OP_LSHIFT, t, (Ins *[]){x, constant(m, t, below(4))}, 2); break;
  default: break;
  }
  bool turned = below(2);
  Ins *args[] = {turned ? y : left, turned ? left : y};
  Ins *test = emit(m, (Op)(OP_LT + below(6)), ty_scalar(m->cx, TY_BOOL), args, 2);
  Ins *later = x->op == OP_CONST ? x : moved(m, x, some(m, t));
  ir_condbr(m->cx, m->fn, m->b, test, yes, out, (Loc){0});
  unsigned n = m->n;
  m->b = yes;
  add_value(m, emit(m, OP_SUB, t, (Ins *[]){turned ? y : x, turned ? x : y}, 2));
  add_value(m, emit(m, OP_ADD, t, (Ins *[]){later, some(m, t)}, 2));
  add_statements(m, depth);
  ir_br(m->cx, m->fn, m->b, out, (Loc){0});
  m->n = n;
  m->b = out;
}

static void add_statements(Making *m, unsigned depth) {
  for (unsigned k = 1 + below(5); k; k--)
    switch (depth ? below(7) : 6) {
    case 0: add_branch(m, depth - 1); break;
    case 3: add_guarded(m, depth - 1); break;
    case 1:
    case 2: add_loop(m, depth - 1); break;
    default: add_operation(m);
    }
}

static Fn *random_function(Cx *cx) {
  const char *names[] = {"p", "q", "r"};
  Making m = {.cx = cx, .fn = ir_fn(cx, "random", 3, names)};
  m.b = m.fn->entry;
  for (uint32_t k = 0; k < m.fn->nparams; k++) {
    m.fn->params[k]->type = some_type(&m);
    add_value(&m, m.fn->params[k]);
  }
  static const IntrinsicId registers[] = {INTR_TID_X, INTR_NTID_X, INTR_CTAID_X, INTR_NCTAID_Y,
                                          INTR_LANEID};
  for (int k = 0; k < 2; k++) {
    Ins *i = add_value(&m, emit(&m, OP_INTRINSIC, ty_scalar(cx, TY_PYINT), NULL, 0));
    i->aux.intrinsic = registers[below(5)];
  }
  m.fn->typed = true;
  add_statements(&m, 3);
  const Frozen *none = fz_none(cx);
  Ins *result = ir_const(cx, m.fn, none, ty_scalar(cx, TY_NONE), (Loc){0});
  ir_append(m.b, result);
  ir_ret(cx, m.fn, m.b, result, (Loc){0});
  FOR_BLOCKS (m.fn, b)
    b->last->type = ty_scalar(cx, TY_VOID);
  ir_order(cx, m.fn);
  ir_join_latches(cx, m.fn);
  ir_dominators(cx, m.fn);
  return m.fn;
}

/* --- running: by the definitions of ops.def --- */

static IrWide wrapped(const Type *t, IrWide v) {
  if (ty_kind(t) == KIND_BOOL)
    return v != 0;
  uint64_t u = (uint64_t)v;
  unsigned bits = ty_bits(t);
  if (bits < 64)
    u &= (UINT64_C(1) << bits) - 1;
  return ty_is_signed(t) && u >> (bits - 1) ? (IrWide)u - ((IrWide)1 << bits) : (IrWide)u;
}

static IrWide floored(IrWide a, IrWide b) { return b ? a / b - (a % b && (a < 0) != (b < 0)) : 0; }

static IrWide at_random(const Ins *i) {
  if (i->op != OP_INTRINSIC)
    return wrapped(i->type, some_number());
  switch (i->aux.intrinsic) {
  case INTR_TID_X: return below(1024);
  case INTR_NTID_X: return 1 + below(1024);
  case INTR_CTAID_X: return below(2) ? below(9) : INT32_MAX - 1 - below(2);
  case INTR_NCTAID_Y: return 1 + below(65535);
  default: return below(32);
  }
}

static bool compared(Op op, IrWide a, IrWide b) {
  switch (op) {
  case OP_LT: return a < b;
  case OP_LE: return a <= b;
  case OP_EQ: return a == b;
  case OP_NE: return a != b;
  case OP_GT: return a > b;
  default: return a >= b;
  }
}

/* Before it wraps around. */
static IrWide computed(const Ins *i, IrWide a, IrWide b, IrWide c) {
  int bits = (int)ty_bits(i->type);
  bool in_range = b >= 0 && b < bits;
  switch ((Op)i->op) {
  case OP_ADD: return a + b;
  case OP_SUB: return a - b;
  case OP_MUL: return (IrWide)((UWide)a * (UWide)b);
  case OP_FLOORDIV: return floored(a, b);
  case OP_MOD: return b ? a - floored(a, b) * b : 0;
  case OP_LSHIFT: return in_range ? (IrWide)((UWide)a << (int)b) : 0;
  case OP_RSHIFT: return in_range ? a >> (int)b : a < 0 ? -1 : 0;
  case OP_AND: return a & b;
  case OP_OR: return a | b;
  case OP_XOR: return a ^ b;
  case OP_NEG: return -a;
  case OP_INVERT: return ~a;
  case OP_CAST: return a;
  case OP_SELECT: return a ? b : c;
  case OP_WRAP_INDEX: return a < 0 ? a + b : a;
  default: return compared((Op)i->op, a, b);
  }
}

static bool overflows(const Ins *i, IrWide v) {
  return i->flags & INS_NO_WRAP && v != wrapped(i->type, v);
}

/* Runs a block and checks what it computes. The next one; NULL at the end. */
static const Block *run_block(const Intervals *v, const Block *b, const Block *from, IrWide *of) {
  IrWide phis[MOST_VALUES];
  uint32_t n = 0, edge = 0;
  while (from && b->preds.data[edge] != from)
    edge++;
  FOR_INS (b, i)
    if (i->op == OP_PHI)
      phis[n++] = of[i->args[edge]->id];
  n = 0;
  FOR_INS (b, i) {
    const Ins *const none = NULL, *args[3] = {none};
    IrWide x[3] = {0};
    for (uint32_t k = 0; k < i->nargs && k < 3 && i->op != OP_PHI; k++)
      args[k] = i->args[k], x[k] = of[args[k]->id];
    switch ((Op)i->op) {
    case OP_BR: return b->succ[0];
    case OP_CONDBR: return b->succ[x[0] == 0];
    case OP_RET: return NULL;
    case OP_PARAM:
    case OP_INTRINSIC:
      if (!from)
        of[i->id] = at_random(i);
      break;
    case OP_CONST:
      of[i->id] = i->aux.frozen->wide ? (IrWide)(uint64_t)i->aux.frozen->i : i->aux.frozen->i;
      break;
    case OP_PHI: of[i->id] = phis[n++]; break;
    default: {
      IrWide r = computed(i, x[0], x[1], x[2]);
      if (overflows(i, r))
        return NULL;
      of[i->id] = wrapped(i->type, r);
    }
    }
    Interval bound = ir_interval(v, i);
    if (ty_is_integral(i->type) && (of[i->id] < bound.lo || of[i->id] > bound.hi)) {
      fprintf(stderr, "%%%u is %lld, not in %lld … %lld\n", i->id, (long long)of[i->id],
              (long long)bound.lo, (long long)bound.hi);
      failures++;
      return NULL;
    }
  }
  return NULL;
}

static unsigned found, counters;

static void test_function(Cx *cx) {
  Fn *fn = random_function(cx);
  ir_verify(cx, fn, "test");
  Intervals *v = ir_intervals(cx, fn);
  IrWide *of = CX_ARRAY(cx, IrWide, fn->next_id);
  int before = failures;
  for (int run = 0; run < RUNS; run++) {
    const Block *from = NULL, *b = fn->entry;
    for (unsigned k = 0; b && k < MOST_STEPS; k++) {
      const Block *next = run_block(v, b, from, of);
      from = b;
      b = next;
    }
  }
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      Counter c;
      counters += ir_counter(i, &c);
      found += ty_is_signed(i->type) && i->op != OP_CONST && ir_interval(v, i).lo >= 0;
    }
  if (failures == before)
    return;
  Buf out;
  buf_init(&out, &cx->arena);
  ir_print_fn(cx, &out, fn, false);
  fputs(out.text, stderr);
}

static void test_seed(uint64_t seed) {
  Cx *cx = cx_new();
  state = seed * 77;
  if (CX_TRY(cx)) {
    test_function(cx);
  } else {
    fprintf(stderr, "%s\n", cx->diag.message);
    failures++;
  }
  cx_free(cx);
}

static void test_random_functions(void) {
  for (int seed = 1; seed <= FUNCTIONS && !failures; seed++)
    test_seed((uint64_t)seed);
  printf("%u values that cannot be negative, %u counters\n", found, counters);
  CHECK(found > 5 * FUNCTIONS);
  CHECK(counters > FUNCTIONS / 2);
}

int main(void) {
  test_random_functions();
  return failures != 0;
}
