/* Host inner rows: the threads of a row whose guards and checks hold all along.
 *
 *   if 0 < i < rows - 1 and 0 < j < columns - 1:
 *     out[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
 *
 * Lanes look at the two ends of each vector, for each guard and each check of an index, which is as
 * long as the rest of such a kernel. But along a row i stays as it is and j counts, so that where
 * j - 1 < columns holds is known for all of the row at once. So the function of a thread is copied,
 * and in the copy its comparisons of what counts and of what is the same in the row come out as
 * they do for inner threads: those that pass all checks and do not return at once. The row
 * (thread_rows.c) asks once for which threads they do. These run by the copy, without guards and
 * checks. Vectors at their ends run by the copy, too, with a mask, where the other threads have
 * nothing to do: they fail a guard. All others run by the function as it is, and threads in front
 * of the first one that passes the guards, or behind the last one, do not run at all.
 *
 * In: the function of a thread of joined blocks (joined_blocks.c), in regular form; its loops, if
 * any, are short enough to be unrolled first.
 * Out: the same, and perhaps both copies, and what is to be asked (InnerRow). Positions count by
 * one, modulo 2**64, from thread to thread, so that a comparison holds for a run of them, whose
 * ends are computed whatever wraps around. */
#include <assert.h>

#include "codegen/host/entry.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum { MOST_OPERATIONS = 24 }; /* of one side of a comparison */

typedef struct Search {
  Cg *cg;
  LLVMValueRef thread;
  InnerRow *row;
} Search;

/* --- what is known of a row --- */

static bool is_along(LLVMValueRef f, LLVMValueRef v) {
  return v == LLVMGetParam(f, HOST_TX) || v == LLVMGetParam(f, HOST_THREAD);
}

/* May it be computed where the kernel would not do so? Without its flags it is defined then. */
static bool is_defined(const Search *s, LLVMValueRef v) {
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMLoad: return cg_is_field_load(s->cg, s->thread, v);
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr: return LLVMIsAConstantInt(LLVMGetOperand(v, 1));
  case LLVMCall:
    return cg_is_call_of_any(v, "llvm.smin.") || cg_is_call_of_any(v, "llvm.smax.") ||
           cg_is_call_of_any(v, "llvm.umin.") || cg_is_call_of_any(v, "llvm.umax.");
  default: return cg_is_speculatable(v);
  }
}

/* Is it the same in all threads of the row, and may it be computed in front of them? */
static bool is_same(const Search *s, LLVMValueRef v, unsigned *left) {
  if (LLVMIsAConstant(v) || LLVMIsAArgument(v))
    return !is_along(s->thread, v);
  bool known = cg_int_width(v) || LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
  if (!*left || !known || !LLVMIsAInstruction(v) || !is_defined(s, v))
    return false;
  --*left;
  unsigned operands = (unsigned)LLVMGetNumOperands(v) - (LLVMIsACallInst(v) ? 1 : 0);
  for (unsigned k = 0; k < operands; k++)
    if (!is_same(s, LLVMGetOperand(v, k), left))
      return false;
  return true;
}

/* Does it grow by one from thread to thread, modulo 2**64? */
static bool counts(const Search *s, LLVMValueRef v, unsigned *left) {
  if (LLVMIsAZExtInst(v))
    return LLVMGetOperand(v, 0) == LLVMGetParam(s->thread, HOST_TX);
  if (!*left || (!cg_is_op(v, LLVMAdd) && !cg_is_op(v, LLVMSub)))
    return false;
  --*left;
  LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
  unsigned before = *left;
  if (counts(s, x, left))
    return is_same(s, y, left);
  *left = before;
  return cg_is_op(v, LLVMAdd) && is_same(s, x, left) && counts(s, y, left);
}

static bool is_same_now(const Search *s, LLVMValueRef v) {
  unsigned left = MOST_OPERATIONS;
  return is_same(s, v, &left);
}

static bool counts_now(const Search *s, LLVMValueRef v) {
  unsigned left = MOST_OPERATIONS;
  return cg_int_width(v) == 64 && counts(s, v, &left);
}

/* --- what inner threads have in common --- */

static void add_test(const Search *s, InnerTest t) {
  InnerRow *r = s->row;
  for (unsigned k = 0; k < r->n; k++)
    if (r->tests[k].condition == t.condition)
      return;
  if (r->n < MOST_INNER)
    r->tests[r->n++] = t;
}

/* x against n, where x counts: false if it is not of that form, or holds of one thread at most. */
static bool find_counting(const Search *s, InnerTest *t) {
  LLVMValueRef c = t->condition;
  if (!LLVMIsAICmpInst(c))
    return false;
  t->x = LLVMGetOperand(c, 0), t->n = LLVMGetOperand(c, 1), t->how = LLVMGetICmpPredicate(c);
  if (!counts_now(s, t->x)) {
    LLVMValueRef x = t->x;
    t->x = t->n, t->n = x, t->how = cg_swapped(t->how);
  }
  if (!t->holds)
    t->how = cg_negated(t->how);
  return t->how != LLVMIntEQ && counts_now(s, t->x) && is_same_now(s, t->n);
}

/* Notes what is known of the condition's parts where it comes out so. */
static void expect(const Search *s, LLVMValueRef c, bool holds, bool guards) {
  InnerTest t = {.condition = c, .holds = holds, .guards = guards};
  if (!LLVMIsAInstruction(c))
    return;
  if (cg_is_op(c, LLVMXor) && cg_is_number(LLVMGetOperand(c, 1), 1)) {
    expect(s, LLVMGetOperand(c, 0), !holds, guards);
  } else if (holds ? cg_is_both(c) : cg_is_either(c)) {
    expect(s, LLVMGetOperand(c, 0), holds, guards);
    expect(s, cg_second_condition(c), holds, guards);
  } else if (is_same_now(s, c)) {
    add_test(s, t);
  } else if (find_counting(s, &t)) {
    s->row->counting++;
    s->row->bounded |= guards;
    add_test(s, t);
  }
}

static bool is_trap(LLVMBasicBlockRef b) {
  return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(b));
}

/* Does a thread that comes there do nothing more? */
static bool returns(LLVMBasicBlockRef b) {
  while (b && LLVMGetFirstInstruction(b) == LLVMGetBasicBlockTerminator(b) && graph_next(b))
    b = graph_next(b);
  return b && LLVMIsAReturnInst(LLVMGetFirstInstruction(b));
}

static bool has_effects(LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
    if (cg_lanes_writes(i))
      return true;
  return false;
}

/* The guards that all threads come to first, of which a thread that fails one has done nothing. */
static void expect_guards(const Search *s) {
  LLVMBasicBlockRef b = LLVMGetEntryBasicBlock(s->thread);
  Fork fork;
  while (b && !has_effects(b) && graph_fork(LLVMGetBasicBlockTerminator(b), &fork) &&
         returns(fork.yes) != returns(fork.no)) {
    bool holds = returns(fork.no);
    expect(s, fork.condition, holds, true);
    b = holds ? fork.yes : fork.no;
    b = graph_before(b) ? b : NULL;
  }
}

static void expect_all(const Search *s) {
  expect_guards(s);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->thread); b; b = LLVMGetNextBasicBlock(b)) {
    Fork fork;
    if (!graph_fork(LLVMGetBasicBlockTerminator(b), &fork))
      continue;
    bool yes = is_trap(fork.yes) || returns(fork.yes), no = is_trap(fork.no) || returns(fork.no);
    if (yes != no)
      expect(s, fork.condition, no, false);
  }
}

/* --- the copy --- */

static unsigned length_of(LLVMValueRef f) {
  unsigned n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      n++;
  return n;
}

/* Does the loop end by a comparison with a number so small that it may be unrolled? */
static bool is_short_loop(const FnGraph *g, const GraphLoop *loop) {
  enum { MOST_TURNS = 8 };
  Fork fork;
  if (!graph_fork(g->nodes[loop->header].last, &fork) || !LLVMIsAICmpInst(fork.condition))
    return false;
  LLVMValueRef n = LLVMGetOperand(fork.condition, 1);
  return LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) <= MOST_TURNS;
}

/* How many loops there are; *unroll: they are short, and so is the function. */
static uint32_t count_loops(Cg *cg, LLVMValueRef f, bool *unroll) {
  enum { LONGEST = 256, MOST_LOOPS = 2 };
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  *unroll = !g.irreducible && g.loops.len <= MOST_LOOPS && length_of(f) <= LONGEST;
  for (uint32_t k = 0; k < g.loops.len && *unroll; k++)
    *unroll = is_short_loop(&g, &g.loops.data[k]);
  return g.irreducible ? UINT32_MAX : g.loops.len;
}

/* The function itself if it has no loops, or a copy in which they have been unrolled; NULL: they
 * cannot be. */
static LLVMValueRef without_loops(Cg *cg, LLVMValueRef f) {
  bool unroll;
  if (!count_loops(cg, f, &unroll))
    return f;
  if (!unroll)
    return NULL;
  RegionCopy copy;
  f = copy_function(cg, f, arena_printf(&cg->cx->arena, "%s.unrolled", cg->symbol), &copy);
  cg_run_function_passes(cg, f,
                         "loop-simplify,lcssa,loop-unroll<O3;no-partial;no-runtime;no-peeling;"
                         "no-upperbound;full-unroll-max=8>,early-cse");
  cg_lanes_regulate_one(cg, f);
  if (!count_loops(cg, f, &unroll))
    return f;
  LLVMDeleteFunction(f);
  return NULL;
}

/* In a kernel that computes much, or has a guard and little more, tests are a small part, and two
 * versions take long to compile. */
static bool is_worth_it(const InnerRow *r) {
  enum { FEWEST = 6, MOST_FOR_EACH = 16 };
  return r->counting && r->n >= FEWEST && length_of(r->of) <= MOST_FOR_EACH * r->n;
}

static void write_copy(Cg *cg, InnerRow *r) {
  RegionCopy copy;
  r->thread = copy_function(cg, r->of, arena_printf(&cg->cx->arena, "%s.inner", cg->symbol), &copy);
  for (unsigned k = 0; k < r->n; k++)
    LLVMReplaceAllUsesWith(copy_of(&copy, r->tests[k].condition),
                           l_int(cg->t.i1, r->tests[k].holds));
  cg_lanes_regulate_one(cg, r->thread);
}

/* The copy once more, for the vectors at the ends: threads before the first that has anything to do
 * and behind the last one, by their numbers along the row, rest. */
static void write_ends(Loops *l, InnerRow *r) {
  enum { FIRST = HOST_NARGS, END, NARGS };
  Cg *cg = l->cg;
  LLVMTypeRef types[NARGS];
  RegionCopy copy;
  cg_host_arg_types(cg, types);
  types[FIRST] = types[END] = cg->t.i64;
  r->ends = copy_function_as(cg, r->thread, LLVMFunctionType(cg->t.none, types, NARGS, 0),
                             arena_printf(&cg->cx->arena, "%s.ends", cg->symbol), &copy);
  LLVMBasicBlockRef old = hl_rest_begin(l, r->ends);
  LLVMValueRef x = l_zext(l->b, LLVMGetParam(r->ends, HOST_TX), cg->t.i64),
               begun = l_icmp(l->b, LLVMIntSGE, x, LLVMGetParam(r->ends, FIRST)),
               before = l_icmp(l->b, LLVMIntSLT, x, LLVMGetParam(r->ends, END));
  hl_rest_end(l, r->ends, l_and(l->b, begun, before), old);
  cg_lanes_regulate_one(cg, r->ends);
}

void hl_pass_inner(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !l->width || !l->joined || l->checks || l->exact.thread)
    return;
  LLVMValueRef thread = ((const HostState *)cg->target_state)->thread;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  LLVMValueRef flat = LLVMGetSubprogram(thread) ? NULL : without_loops(cg, thread);
  InnerRow *r = CX_NEW(cg->cx, InnerRow);
  *r = (InnerRow){.of = flat};
  if (flat)
    expect_all(&(Search){.cg = cg, .thread = flat, .row = r});
  if (flat && is_worth_it(r)) {
    write_copy(cg, r);
    write_ends(l, r);
    l->inner = r;
  } else if (flat && flat != thread) {
    LLVMDeleteFunction(flat);
  }
  if (here)
    hl_at(l, here);
}

/* --- which threads of a row --- */

typedef struct Asked {
  Cg *cg;
  LLVMBuilderRef b;
  const InnerRow *row;
  LLVMValueRef const *args; /* of the row's first thread */
  LLVMValueRef count;       /* i64 */
  ValueMap number;          /* of instructions of the thread's function: in `now` */
  VEC(LLVMValueRef) now;
} Asked;

/* The value in the row's first thread. It is computed whether that one comes there or not. */
static LLVMValueRef in_first(Asked *a, LLVMValueRef v) {
  if (LLVMIsAArgument(v))
    for (unsigned k = 0; k < HOST_NARGS; k++)
      if (v == LLVMGetParam(a->row->of, k))
        return a->args[k];
  if (!LLVMIsAInstruction(v))
    return v;
  uint32_t at = valuemap_get(&a->number, v);
  if (at != VALUEMAP_NONE)
    return a->now.data[at];
  unsigned n = (unsigned)LLVMGetNumOperands(v);
  LLVMValueRef *operands = CX_ARRAY(a->cg->cx, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    operands[k] = in_first(a, LLVMGetOperand(v, k));
  LLVMValueRef copy = copy_ins(a->b, v, operands);
  copy_forget_flags(copy);
  valuemap_set(&a->number, v, a->now.len);
  VEC_PUSH(&a->cg->cx->arena, &a->now, copy);
  return copy;
}

static LLVMValueRef i64(const Asked *a, uint64_t n) { return l_int(a->cg->t.i64, n); }

static LLVMValueRef least_or_most(const Asked *a, const char *name, LLVMValueRef x,
                                  LLVMValueRef y) {
  LLVMTypeRef t = a->cg->t.i64;
  LLVMValueRef args[] = {x, y};
  return l_call(a->b, cg_intrinsic_fn(a->cg, name, &t, 1), args, 2);
}

/* Threads first <= k < end, without a sign. */
typedef struct Span {
  LLVMValueRef first, end;
} Span;

/* Where x + k != n: in front of that thread, or behind it if it is one of the first. */
static Span apart_from(const Asked *a, LLVMValueRef x, LLVMValueRef n) {
  enum { FEW = 64 };
  LLVMValueRef at = l_sub(a->b, n, x), early = l_icmp(a->b, LLVMIntULT, at, i64(a, FEW));
  return (Span){l_select(a->b, early, l_add(a->b, at, i64(a, 1)), i64(a, 0)),
                l_select(a->b, early, i64(a, UINT64_MAX), at)};
}

static bool is_signed(LLVMIntPredicate how) {
  return how == LLVMIntSLT || how == LLVMIntSLE || how == LLVMIntSGT || how == LLVMIntSGE;
}

/* After how many threads it wraps around as such a number, but for the last one. */
static LLVMValueRef wraps_after(const Asked *a, LLVMIntPredicate how, LLVMValueRef x) {
  return l_sub(a->b, i64(a, is_signed(how) ? (uint64_t)INT64_MAX : UINT64_MAX), x);
}

/* Where the test holds: of numbers with a sign before they wrap around, of others also behind
 * that, so that j - 1 < n begins with j = 1. */
static Span holds_in(const Asked *a, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef n) {
  if (how == LLVMIntNE)
    return apart_from(a, x, n);
  bool below = how == LLVMIntSLT || how == LLVMIntSLE || how == LLVMIntULT || how == LLVMIntULE;
  bool with_n = how == LLVMIntSLE || how == LLVMIntULE || how == LLVMIntSGE || how == LLVMIntUGE;
  LLVMValueRef at_once = l_icmp(a->b, how, x, n), to_n = l_sub(a->b, n, x), behind = to_n;
  if (below == with_n)
    behind = least_or_most(a, "llvm.umax", to_n, l_add(a->b, to_n, i64(a, 1)));
  if (!below)
    return (Span){l_select(a->b, at_once, i64(a, 0), behind), wraps_after(a, how, x)};
  LLVMValueRef later = is_signed(how) ? i64(a, UINT64_MAX) : l_neg(a->b, x);
  return (Span){l_select(a->b, at_once, i64(a, 0), later), behind};
}

/* A run of threads outside of which it does not hold. */
static Span may_hold_in(const Asked *a, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef n) {
  if (how == LLVMIntNE) {
    LLVMValueRef first = l_icmp(a->b, LLVMIntEQ, x, n);
    return (Span){l_zext(a->b, first, a->cg->t.i64), i64(a, UINT64_MAX)};
  }
  Span s = holds_in(a, how, x, n);
  LLVMValueRef whole = l_icmp(a->b, LLVMIntUGE, wraps_after(a, how, x), i64(a, UINT32_MAX));
  return (Span){l_select(a->b, whole, s.first, i64(a, 0)),
                l_select(a->b, whole, s.end, i64(a, UINT64_MAX))};
}

static void narrow(const Asked *a, Span *s, Span by) {
  s->first = least_or_most(a, "llvm.umax", s->first, by.first);
  s->end = least_or_most(a, "llvm.umin", s->end, by.end);
}

/* The threads for which the tests of what counts hold, of all or of guards alone. With the sizes of
 * the launch alone they are the same in all rows of a block. */
static Span ask_counting(Asked *a, bool guards) {
  Span s = {i64(a, 0), i64(a, UINT64_MAX)};
  for (unsigned k = 0; k < a->row->n; k++) {
    const InnerTest *t = &a->row->tests[k];
    if ((guards && !t->guards) || !t->x)
      continue;
    LLVMValueRef x = in_first(a, t->x), n = in_first(a, t->n);
    narrow(a, &s, guards ? may_hold_in(a, t->how, x, n) : holds_in(a, t->how, x, n));
  }
  narrow(a, &s, (Span){i64(a, 0), a->count});
  s.first = least_or_most(a, "llvm.umin", s.first, a->count);
  return s;
}

/* Do the tests hold that are the same in all of the row? */
static LLVMValueRef ask_same(Asked *a, bool guards) {
  LLVMValueRef all = l_int(a->cg->t.i1, 1);
  for (unsigned k = 0; k < a->row->n; k++) {
    const InnerTest *t = &a->row->tests[k];
    if ((guards && !t->guards) || t->x)
      continue;
    LLVMValueRef is = in_first(a, t->condition);
    all = l_and(a->b, all, t->holds ? is : l_not(a->b, is));
  }
  return all;
}

/* Vectors all of whose threads are inner ones, or have nothing to do. */
static Span sure_vectors(const Asked *a, Span busy, Span inner, Span vectors) {
  LLVMBuilderRef b = a->b;
  LLVMValueRef from_begin = l_icmp(b, LLVMIntULE, inner.first, busy.first),
               to_end = l_icmp(b, LLVMIntUGE, inner.end, busy.end),
               any = l_icmp(b, LLVMIntULT, inner.first, inner.end);
  Span s = {l_select(b, from_begin, i64(a, 0), vectors.first),
            l_select(b, to_end, i64(a, UINT32_MAX), vectors.end)};
  s.end = l_select(b, any, s.end, i64(a, 0));
  s.end = least_or_most(a, "llvm.umax", s.first, s.end);
  return s;
}

static InnerSpans spans_of(const Asked *a, Span busy, Span inner, unsigned width) {
  LLVMTypeRef i32 = a->cg->t.i32;
  LLVMBuilderRef b = a->b;
  LLVMValueRef down = i64(a, ~(uint64_t)(width - 1)), more = i64(a, width - 1),
               any = l_icmp(b, LLVMIntULT, busy.first, busy.end);
  busy.end = l_select(b, any, busy.end, i64(a, 0));
  Span vectors = {l_and(b, l_add(b, inner.first, more), down), l_and(b, inner.end, down)},
       sure = sure_vectors(a, busy, inner, vectors);
  vectors.first = least_or_most(a, "llvm.umin", vectors.first, vectors.end);
  LLVMValueRef x = l_zext(b, a->args[HOST_TX], a->cg->t.i64);
  LLVMValueRef begins = l_icmp(b, LLVMIntULE, inner.first, busy.first),
               stops = l_icmp(b, LLVMIntUGE, inner.end, busy.end);
  return (InnerSpans){
      .all = l_and(b, begins, stops),
      .begin = l_trunc(b, inner.first, i32),
      .stop = l_trunc(b, least_or_most(a, "llvm.umax", inner.first, busy.end), i32),
      .first = l_trunc(b, l_and(b, busy.first, down), i32),
      .end = l_trunc(b, busy.end, i32),
      .inner_first = l_trunc(b, vectors.first, i32),
      .inner_end = l_trunc(b, vectors.end, i32),
      .sure_first = l_trunc(b, sure.first, i32),
      .sure_end = l_trunc(b, sure.end, i32),
      .busy = {l_add(b, x, busy.first), l_add(b, x, busy.end)},
  };
}

/* `s` where c holds, else what it was. */
static void take_where(const Asked *a, LLVMValueRef c, InnerSpans *to, InnerSpans s) {
  LLVMValueRef *all[] = {&to->first,      &to->end,      &to->inner_first, &to->inner_end,
                         &to->sure_first, &to->sure_end, &to->busy[0],     &to->busy[1],
                         &to->all,        &to->begin,    &to->stop},
               now[] = {s.first,   s.end,     s.inner_first, s.inner_end, s.sure_first, s.sure_end,
                        s.busy[0], s.busy[1], s.all,         s.begin,     s.stop};
  for (unsigned k = 0; k < sizeof now / sizeof *now; k++)
    *all[k] = l_select(a->b, c, now[k], *all[k]);
}

/* A row passes all tests that are the same in it, or the guards alone, or is idle. What follows
 * from each is computed before it is known which: it is mostly the same in all rows of a block. */
InnerSpans cg_host_inner_spans(Cg *cg, const InnerRow *row, LLVMValueRef const *args,
                               LLVMValueRef count, unsigned width) {
  Asked a = {.cg = cg, .b = cg->builder, .row = row, .args = args};
  a.count = l_zext(cg->builder, count, cg->t.i64);
  a.number.arena = &cg->cx->arena;
  Span busy = ask_counting(&a, true), inner = ask_counting(&a, false);
  Span idle = {busy.first, i64(&a, 0)}, none = {inner.first, i64(&a, 0)};
  InnerSpans s = spans_of(&a, idle, none, width);
  take_where(&a, ask_same(&a, true), &s, spans_of(&a, busy, none, width));
  take_where(&a, ask_same(&a, false), &s, spans_of(&a, busy, inner, width));
  return s;
}
