/* Host rows: threads that are neighbours along x, in vectors (lanes/lanes.h), with an epilogue of
 * single threads.
 *
 * In: the function of a thread, or a segment (fission/fission.h), and the function of W lanes made
 * of it. Out:
 *
 *   void f.row(arguments of the first thread…, ptr totals, i32 count)
 *
 * Where a vector's guards are not uniform, which its function says by returning 1, its threads run
 * by the masked version, if there is one, or one by one. Where threads beyond the end of the row do
 * nothing, so do the last ones of a row. For a segment, f.row stores what HostRow
 * asks for: the next segments of the threads into the frame; and in totals, i32[4], it adds the
 * votes and the number of voters, and combines the or and the and of the next segments. */
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"

enum { TOTAL_AYES, TOTAL_VOTERS, TOTAL_OR, TOTAL_AND };

/* Every check is an exit of the loops around it, and LLVM's loop passes take the square of the
 * number of exits. A thread's function with many blocks is therefore not inlined; the call costs
 * little in comparison. */
const char *cg_host_inlining(LLVMValueRef fn, unsigned times) {
  enum { MAX_INLINED_BLOCKS = 64 };
  return LLVMCountBasicBlocks(fn) > MAX_INLINED_BLOCKS * times ? "noinline" : "alwaysinline";
}

typedef struct Row {
  Cg *cg;
  LLVMBuilderRef b;
  const HostRow *how;
  LLVMValueRef thread, fn, totals, count, some, masked;
  InnerSpans spans;      /* with how->inner */
  LLVMValueRef whole;    /* so many threads are whole vectors */
  LLVMBasicBlockRef few; /* where the others run one by one */
  unsigned nargs;        /* of a thread */
  LLVMValueRef *args;
} Row;

static LLVMValueRef i32(const Row *r, uint64_t v) { return l_int(r->cg->t.i32, v); }
static LLVMBasicBlockRef new_block(const Row *r, const char *name) {
  return LLVMAppendBasicBlockInContext(r->cg->context, r->fn, name);
}
static void at(const Row *r, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(r->b, block); }

void cg_call_attribute(Cg *cg, LLVMValueRef call, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddCallSiteAttribute(call, L_FUNCTION, LLVMCreateEnumAttribute(cg->context, kind, 0));
}

void cg_host_make_small(Cg *cg, LLVMValueRef fn) {
  static const char *const attributes[] = {"noinline", "optsize", "minsize"};
  for (int k = 0; k < 3; k++)
    cg_attribute(cg, fn, L_FUNCTION, attributes[k], 0);
}

void cg_mark_loop(Cg *cg, LLVMValueRef branch, const char *text_of_option) {
  LLVMContextRef c = cg->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, text_of_option, strlen(text_of_option)),
                  option = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0),
                  parts[] = {self, option}; /* the first operand is the node itself: distinct */
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, 2);
  LLVMMetadataReplaceAllUsesWith(self, id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

void cg_leave_rolled(Cg *cg, LLVMValueRef branch) {
  cg_mark_loop(cg, branch, "llvm.loop.unroll.disable");
}

/* --- the functions --- */

static void make_function(Row *r, LLVMValueRef thread, const char *suffix) {
  Cg *cg = r->cg;
  r->nargs = LLVMCountParams(thread);
  LLVMTypeRef *types = CX_ARRAY(cg->cx, LLVMTypeRef, r->nargs + 2);
  LLVMGetParamTypes(LLVMGlobalGetValueType(thread), types);
  types[r->nargs] = cg->t.ptr, types[r->nargs + 1] = cg->t.i32;
  const char *name = arena_printf(&cg->cx->arena, "%s.%s", LLVMGetValueName(thread), suffix);
  r->fn = LLVMAddFunction(cg->module, name, LLVMFunctionType(cg->t.none, types, r->nargs + 2, 0));
  LLVMSetLinkage(r->fn, LLVMInternalLinkage);
  cg_attribute(cg, r->fn, L_FUNCTION, "nounwind", 0);
  cg_attribute(cg, r->fn, 1, "nonnull", 0);
  cg_attribute(cg, r->fn, 1, "align", 8);
  cg_attribute(cg, r->fn, 1, "dereferenceable", sizeof(RtHostLaunch));
  r->totals = LLVMGetParam(r->fn, r->nargs);
  r->count = LLVMGetParam(r->fn, r->nargs + 1);
  r->args = CX_ARRAY(cg->cx, LLVMValueRef, r->nargs + 3);
  at(r, new_block(r, "begin"));
}

/* Sets the arguments to those of the first thread, plus `by` along x. */
static void set_args(Row *r, LLVMValueRef by) {
  for (unsigned k = 0; k < r->nargs; k++) {
    r->args[k] = LLVMGetParam(r->fn, k);
    if (k == HOST_TX || k == HOST_THREAD) {
      r->args[k] = l_add_nuw(r->b, r->args[k], by);
      LLVMSetNSW(r->args[k], 1);
    }
  }
}

static LLVMValueRef call(Row *r, LLVMValueRef fn, unsigned extra) {
  return l_call(r->b, fn, r->args, r->nargs + extra);
}

static void add_total(Row *r, int which, LLVMOpcode op, LLVMValueRef v) {
  LLVMValueRef index = i32(r, (uint64_t)which);
  LLVMValueRef p = l_gep_inbounds(r->b, r->cg->t.i32, r->totals, &index, 1);
  LLVMValueRef old = l_load(r->b, r->cg->t.i32, p);
  l_store(r->b, l_binop(r->b, op, old, v), p);
}

static LLVMValueRef reduce(Row *r, const char *name, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
    return v;
  LLVMValueRef fn = cg_intrinsic_fn(r->cg, name, &t, 1);
  return l_call(r->b, fn, &v, 1);
}

/* The constant n, as an i32 or a vector of them, as v is. */
static LLVMValueRef constant_like(Row *r, LLVMValueRef v, uint64_t n) {
  if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind)
    return i32(r, n);
  unsigned width = LLVMGetVectorSize(LLVMTypeOf(v));
  LLVMValueRef *all = CX_ARRAY(r->cg->cx, LLVMValueRef, width);
  for (unsigned k = 0; k < width; k++)
    all[k] = i32(r, n);
  return LLVMConstVector(all, width);
}

static LLVMValueRef spread(Row *r, LLVMValueRef v, unsigned lanes) {
  LLVMTypeRef t = LLVMVectorType(r->cg->t.i32, lanes);
  LLVMValueRef one = l_insert_element(r->b, LLVMGetPoison(t), v, i32(r, 0));
  return l_shuffle(r->b, one, LLVMGetPoison(t), LLVMConstNull(t));
}

/* Collects a segment's results. result: of one thread, of each lane, or one for `lanes` of them. */
static void collect(Row *r, LLVMValueRef result, unsigned lanes) {
  const HostRow *how = r->how;
  assert(how->segment);
  if (how->votes) {
    LLVMValueRef one = constant_like(r, result, SEGMENT_AYE), shift = constant_like(r, result, 1);
    LLVMValueRef sums[] = {l_and(r->b, result, one), l_and(r->b, l_lshr(r->b, result, shift), one)};
    for (int k = 0; k < 2; k++) {
      LLVMValueRef sum = reduce(r, "llvm.vector.reduce.add", sums[k]);
      add_total(r, k ? TOTAL_VOTERS : TOTAL_AYES, LLVMAdd, l_mul(r->b, sum, i32(r, lanes)));
    }
  }
  if (!how->next)
    return;
  LLVMValueRef next = l_lshr(r->b, result, constant_like(r, result, SEGMENT_NEXT_SHIFT));
  LLVMValueRef number = l_zext(r->b, r->args[HOST_THREAD], r->cg->t.i64);
  LLVMSetNNeg(number, 1);
  LLVMValueRef slot = LLVMBuildInBoundsGEP2(r->b, r->cg->t.i32, r->args[HOST_NARGS], &number, 1,
                                            "next");
  add_total(r, TOTAL_OR, LLVMOr, reduce(r, "llvm.vector.reduce.or", next));
  add_total(r, TOTAL_AND, LLVMAnd, reduce(r, "llvm.vector.reduce.and", next));
  LLVMSetAlignment(l_store(r->b, lanes > 1 ? spread(r, next, lanes) : next, slot), 4);
}

/* A loop of at least one iteration. begin_loop leaves the builder in the body, end_loop after
 * it. */
typedef struct RowLoop {
  LLVMBasicBlockRef head;
  LLVMValueRef counter;
} RowLoop;

static RowLoop begin_loop(Row *r, const char *name, LLVMValueRef from) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(r->b);
  RowLoop t = {new_block(r, name), NULL};
  l_br(r->b, t.head);
  at(r, t.head);
  t.counter = LLVMBuildPhi(r->b, r->cg->t.i32, name);
  LLVMAddIncoming(t.counter, &from, &before, 1);
  return t;
}

static void end_loop(Row *r, RowLoop *t, LLVMValueRef now, uint64_t by, LLVMValueRef to,
                     LLVMBasicBlockRef done) {
  LLVMValueRef next = l_add_nuw(r->b, now, i32(r, by));
  LLVMSetNSW(next, 1);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
  done = done ? done : new_block(r, "");
  LLVMAddIncoming(t->counter, &next, &here, 1);
  cg_leave_rolled(r->cg, l_condbr(r->b, l_icmp(r->b, LLVMIntULT, next, to), t->head, done));
  at(r, done);
}

/* Threads one by one, in a function of its own, since this code rarely runs. */
static LLVMValueRef make_some(const Row *outer, LLVMValueRef thread) {
  Row r = *outer;
  make_function(&r, thread, "some");
  cg_attribute(r.cg, r.fn, L_FUNCTION, "noinline", 0);
  cg_attribute(r.cg, r.fn, L_FUNCTION, "optsize", 0);
  RowLoop loop = begin_loop(&r, "k", i32(&r, 0));
  set_args(&r, loop.counter);
  LLVMValueRef result = call(&r, thread, 0);
  cg_call_attribute(r.cg, result, cg_host_inlining(thread, 1));
  if (r.how->segment)
    collect(&r, result, 1);
  end_loop(&r, &loop, loop.counter, 1, r.count, NULL);
  l_ret_void(r.b);
  return r.fn;
}

static void call_some(Row *r, LLVMValueRef from, LLVMValueRef count) {
  set_args(r, from);
  r->args[r->nargs] = r->totals;
  r->args[r->nargs + 1] = count;
  call(r, r->some, 2);
}

/* Calls are of traps, which report all of a thread's place. */
static bool computes_with(LLVMValueRef v) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
    if (!LLVMIsACallInst(LLVMGetUser(use)))
      return true;
  return false;
}

bool cg_host_has_rows(LLVMValueRef thread) {
  return computes_with(LLVMGetParam(thread, HOST_BY)) ||
         computes_with(LLVMGetParam(thread, HOST_BZ));
}

/* Edges in each row take a part of the time where rows are short, and a function that is called
 * there would compute again what all vectors of the row share. */
static const char *masked_inlining(const Row *r) {
  return cg_host_has_rows(r->thread) && !r->how->guarded && !r->how->ends
             ? cg_host_inlining(r->masked, 2)
             : "noinline";
}

/* At the edge of the grid or at the end of a row: the masked version. */
static void try_masked(Row *r, const char *inlining, LLVMBasicBlockRef next) {
  LLVMBasicBlockRef single = new_block(r, "single");
  LLVMValueRef alone = call(r, r->masked, 1);
  cg_call_attribute(r->cg, alone, inlining);
  l_condbr(r->b, l_icmp(r->b, LLVMIntEQ, alone, i32(r, 0)), next, single);
  at(r, single);
}

/* Where rows are mostly run_all_inner's. */
static const char *inner_inlining(const Row *r, LLVMValueRef fn) {
  return r->how->bounded && r->how->ends ? "noinline" : cg_host_inlining(fn, 4);
}

/* `count` threads from `now` on by the lanes `fn`; where these have done nothing, one by one. */
static void run_or_some(Row *r, LLVMValueRef fn, LLVMValueRef now, unsigned extra,
                        LLVMValueRef count, LLVMBasicBlockRef next) {
  LLVMBasicBlockRef fails = new_block(r, "fails");
  LLVMValueRef alone = call(r, fn, extra);
  cg_call_attribute(r->cg, alone, cg_host_inlining(fn, 4));
  cg_branch_weights(r->cg, l_condbr(r->b, l_icmp(r->b, LLVMIntEQ, alone, i32(r, 0)), next, fails),
                    CG_OFTEN, 1);
  at(r, fails);
  call_some(r, now, count);
  l_br(r->b, next);
}

/* A row of which only inner threads have anything to do: vectors from the first of them on, and one
 * with a mask behind them. */
static void run_all_inner(Row *r, LLVMValueRef results, LLVMBasicBlockRef done) {
  const InnerSpans *s = &r->spans;
  LLVMBasicBlockRef wide = new_block(r, "vectors"), next = new_block(r, ""),
                    rest = new_block(r, "last"), some = new_block(r, "ends");
  LLVMValueRef down = i32(r, ~(uint32_t)(r->how->width - 1)),
               whole = l_and(r->b, l_sub(r->b, s->stop, s->begin), down),
               last = l_add(r->b, s->begin, whole);
  l_condbr(r->b, l_icmp(r->b, LLVMIntNE, whole, i32(r, 0)), wide, rest);
  at(r, wide);
  RowLoop loop = begin_loop(r, "i", s->begin);
  set_args(r, loop.counter);
  r->args[r->nargs] = results;
  run_or_some(r, r->how->inner, loop.counter, 1, i32(r, r->how->width), next);
  at(r, next);
  end_loop(r, &loop, loop.counter, r->how->width, last, rest);
  l_condbr(r->b, l_icmp(r->b, LLVMIntULT, last, s->stop), some, done);
  at(r, some);
  set_args(r, last);
  memcpy(r->args + r->nargs, s->busy, sizeof s->busy);
  r->args[r->nargs + 2] = results;
  run_or_some(r, r->how->ends, last, 3, l_sub(r->b, s->stop, last), done);
}

/* Where `now` is a vector of inner threads, these run by their version, as long as it takes them.
 * Returns the vector with which the row goes on; `done`: it ends there. */
static LLVMValueRef run_inner(Row *r, LLVMValueRef results, LLVMValueRef now, LLVMValueRef whole,
                              LLVMBasicBlockRef done) {
  const InnerSpans *s = &r->spans;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b), inner = new_block(r, "inner"),
                    end = new_block(r, "outer"), general = new_block(r, "general");
  LLVMValueRef is = l_icmp(r->b, LLVMIntULT, l_sub(r->b, now, s->inner_first),
                           l_sub(r->b, s->inner_end, s->inner_first));
  l_condbr(r->b, is, inner, general);
  at(r, inner);
  RowLoop loop = begin_loop(r, "i", now);
  set_args(r, loop.counter);
  r->args[r->nargs] = results;
  LLVMValueRef alone = call(r, r->how->inner, 1);
  cg_call_attribute(r->cg, alone, inner_inlining(r, r->how->inner));
  LLVMBasicBlockRef next = new_block(r, ""), stops = LLVMGetInsertBlock(r->b);
  cg_branch_weights(r->cg, l_condbr(r->b, l_icmp(r->b, LLVMIntEQ, alone, i32(r, 0)), next, general),
                    CG_OFTEN, 1);
  at(r, next);
  end_loop(r, &loop, loop.counter, r->how->width, s->inner_end, end);
  l_condbr(r->b, l_icmp(r->b, LLVMIntULT, s->inner_end, whole), general, done);
  at(r, general);
  LLVMValueRef go_on = l_phi(r->b, r->cg->t.i32), from[] = {now, loop.counter, s->inner_end};
  LLVMBasicBlockRef edges[] = {here, stops, end};
  LLVMAddIncoming(go_on, from, edges, 3);
  return go_on;
}

/* A vector at an end of the inner ones, if all of its other threads have nothing to do. Leaves the
 * builder where it has to run otherwise. */
static void run_ends(Row *r, LLVMValueRef results, LLVMValueRef now, LLVMBasicBlockRef next) {
  const InnerSpans *s = &r->spans;
  LLVMBasicBlockRef ends = new_block(r, "ends"), fails = new_block(r, "fails"),
                    plain = new_block(r, "plain");
  LLVMValueRef sure = l_icmp(r->b, LLVMIntULT, l_sub(r->b, now, s->sure_first),
                             l_sub(r->b, s->sure_end, s->sure_first));
  cg_branch_weights(r->cg, l_condbr(r->b, sure, ends, plain), CG_OFTEN, 1);
  at(r, ends);
  set_args(r, now);
  memcpy(r->args + r->nargs, s->busy, sizeof s->busy);
  r->args[r->nargs + 2] = results;
  LLVMValueRef alone = call(r, r->how->ends, 3);
  cg_call_attribute(r->cg, alone, inner_inlining(r, r->how->ends));
  cg_branch_weights(r->cg, l_condbr(r->b, l_icmp(r->b, LLVMIntEQ, alone, i32(r, 0)), next, fails),
                    CG_OFTEN, 1);
  at(r, fails);
  l_condbr(r->b, l_icmp(r->b, LLVMIntULT, now, r->whole), plain, r->few);
  at(r, plain);
}

static void run_lanes(Row *r, LLVMValueRef lanes, LLVMValueRef results, LLVMValueRef first,
                      LLVMValueRef whole) {
  RowLoop loop = begin_loop(r, "x", first);
  LLVMValueRef now = loop.counter;
  LLVMBasicBlockRef next = r->how->ends ? new_block(r, "") : NULL, end = NULL;
  if (r->how->inner)
    now = run_inner(r, results, now, whole, end = new_block(r, ""));
  if (r->how->ends)
    run_ends(r, results, now, next);
  set_args(r, now);
  r->args[r->nargs] = results;
  LLVMValueRef alone = call(r, lanes, 1);
  cg_call_attribute(r->cg, alone, r->how->ends ? "noinline" : cg_host_inlining(lanes, 4));
  LLVMBasicBlockRef one_by_one = new_block(r, "alone"), done = new_block(r, "together");
  next = next ? next : new_block(r, "");
  cg_branch_weights(r->cg,
                    l_condbr(r->b, l_icmp(r->b, LLVMIntEQ, alone, i32(r, 0)), done, one_by_one),
                    CG_OFTEN, 1);
  at(r, one_by_one);
  if (r->masked)
    try_masked(r, masked_inlining(r), next);
  call_some(r, now, i32(r, r->how->width));
  l_br(r->b, next);
  at(r, done);
  if (r->how->segment && (r->how->votes || r->how->next)) {
    set_args(r, now);
    bool one = r->how->one_result;
    LLVMTypeRef i = r->cg->t.i32, t = one ? i : LLVMVectorType(i, r->how->width);
    collect(r, l_load(r->b, t, results), one ? r->how->width : 1);
  }
  l_br(r->b, next);
  at(r, next);
  end_loop(r, &loop, now, r->how->width, whole, end);
}

/* Where the vectors of a row begin and end, whether there are any, the number of threads behind
 * them and whether that is not 0. */
typedef struct RowEnds {
  LLVMValueRef first, last, wide, left, few;
} RowEnds;

/* Leaves the builder where other threads than inner ones have something to do. */
static void try_all_inner(Row *r, LLVMValueRef results, LLVMBasicBlockRef done) {
  LLVMBasicBlockRef all = new_block(r, "all"), mixed = new_block(r, "mixed");
  set_args(r, i32(r, 0));
  r->spans = cg_host_inner_spans(r->cg, r->how->inner_row, r->args, r->count, r->how->width);
  cg_branch_weights(r->cg, l_condbr(r->b, r->spans.all, all, mixed), CG_OFTEN, 1);
  at(r, all);
  run_all_inner(r, results, done);
  at(r, mixed);
}

/* With inner threads: where the last vector is theirs, threads beyond the row's end rest in it. */
static RowEnds find_inner_ends(Row *r) {
  unsigned more = r->how->width - 1;
  set_args(r, i32(r, 0));
  InnerSpans s = cg_host_inner_spans(r->cg, r->how->inner_row, r->args, r->count, r->how->width);
  LLVMValueRef up = l_and(r->b, l_add(r->b, s.end, i32(r, more)), i32(r, ~(uint32_t)more)),
               all = l_icmp(r->b, LLVMIntULT, up, r->whole);
  if (r->how->ends) {
    LLVMValueRef begun = l_icmp(r->b, LLVMIntULE, s.sure_first, r->whole),
                 to_end = l_icmp(r->b, LLVMIntEQ, s.sure_end, i32(r, UINT32_MAX));
    all = l_or(r->b, all, l_and(r->b, begun, to_end));
  }
  LLVMValueRef last = l_select(r->b, all, up, r->whole);
  r->spans = s;
  return (RowEnds){s.first, last, l_icmp(r->b, LLVMIntULT, s.first, last),
                   l_sub(r->b, s.end, r->whole), l_icmp(r->b, LLVMIntUGT, s.end, last)};
}

/* The epilogue, in r->few: `left` threads behind whole vectors. */
static void write_few(Row *r, LLVMValueRef left, LLVMValueRef results, LLVMBasicBlockRef end) {
  at(r, r->few);
  if (r->masked && r->how->guarded) {
    set_args(r, r->whole);
    r->args[r->nargs] = results;
    try_masked(r, "noinline", end);
  }
  call_some(r, r->whole, left);
  l_br(r->b, end);
}

LLVMValueRef cg_host_row(Cg *cg, LLVMValueRef thread, LLVMValueRef lanes, LLVMValueRef masked,
                         const HostRow *how) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Row r = {.cg = cg, .b = cg->builder, .how = how, .thread = thread, .masked = masked};
  assert(lanes && how->width > 1 && (how->width & (how->width - 1)) == 0);
  assert(how->segment || (!how->votes && !how->next));
  r.some = make_some(&r, thread);
  make_function(&r, thread, "row");
  LLVMTypeRef t = LLVMVectorType(cg->t.i32, how->width);
  LLVMValueRef results = LLVMBuildAlloca(r.b, t, "results"),
               whole = LLVMBuildAnd(r.b, r.count, i32(&r, ~(uint32_t)(how->width - 1)), "whole");
  r.whole = whole;
  RowEnds e = {.first = i32(&r, 0), .last = whole};
  LLVMBasicBlockRef wide = new_block(&r, "wide"), rest = new_block(&r, "rest"),
                    few = new_block(&r, "few"), end = new_block(&r, "end");
  r.few = few;
  if (how->inner && how->ends && how->bounded)
    try_all_inner(&r, results, end);
  if (how->inner)
    e = find_inner_ends(&r);
  else
    e.wide = l_icmp(r.b, LLVMIntNE, whole, i32(&r, 0));
  l_condbr(r.b, e.wide, wide, rest);
  at(&r, wide);
  run_lanes(&r, lanes, results, e.first, e.last);
  l_br(r.b, rest);
  at(&r, rest);
  if (!how->inner) {
    e.left = LLVMBuildSub(r.b, r.count, whole, "left");
    e.few = l_icmp(r.b, LLVMIntNE, e.left, i32(&r, 0));
  }
  l_condbr(r.b, e.few, few, end);
  write_few(&r, e.left, results, end);
  at(&r, end);
  l_ret_void(r.b);
  if (here)
    at(&r, here);
  return r.fn;
}

/* Rows of `row`, where the edges are. */
static void call_narrow(Row *r, LLVMValueRef row, LLVMValueRef from, LLVMValueRef count) {
  set_args(r, from);
  r->args[r->nargs] = r->totals;
  r->args[r->nargs + 1] = count;
  cg_call_attribute(r->cg, call(r, row, 2), "noinline");
}

LLVMValueRef cg_host_wide_row(Cg *cg, LLVMValueRef thread, LLVMValueRef wide, LLVMValueRef row,
                              const HostRow *how) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Row r = {.cg = cg, .b = cg->builder, .how = how, .thread = thread};
  assert(!how->segment && how->width > 1 && (how->width & (how->width - 1)) == 0);
  make_function(&r, thread, "wide");
  LLVMValueRef whole = LLVMBuildAnd(r.b, r.count, i32(&r, ~(how->width - 1)), "whole");
  LLVMBasicBlockRef some = new_block(&r, "some"), rest = new_block(&r, "rest"),
                    few = new_block(&r, "few"), end = new_block(&r, "end");
  l_condbr(r.b, l_icmp(r.b, LLVMIntNE, whole, i32(&r, 0)), some, rest);
  at(&r, some);
  RowLoop loop = begin_loop(&r, "x", i32(&r, 0));
  set_args(&r, loop.counter);
  r.args[r.nargs] = LLVMConstNull(cg->t.ptr); /* threads return nothing */
  LLVMValueRef alone = call(&r, wide, 1);
  cg_call_attribute(cg, alone, cg_host_inlining(wide, 4));
  LLVMBasicBlockRef narrow = new_block(&r, "narrow"), next = new_block(&r, "");
  LLVMValueRef done = l_icmp(r.b, LLVMIntEQ, alone, i32(&r, 0));
  cg_branch_weights(cg, l_condbr(r.b, done, next, narrow), CG_OFTEN, 1);
  at(&r, narrow);
  call_narrow(&r, row, loop.counter, i32(&r, how->width));
  l_br(r.b, next);
  at(&r, next);
  end_loop(&r, &loop, loop.counter, how->width, whole, NULL);
  l_br(r.b, rest);
  at(&r, rest);
  LLVMValueRef left = LLVMBuildSub(r.b, r.count, whole, "left");
  l_condbr(r.b, l_icmp(r.b, LLVMIntNE, left, i32(&r, 0)), few, end);
  at(&r, few);
  call_narrow(&r, row, whole, left);
  l_br(r.b, end);
  at(&r, end);
  l_ret_void(r.b);
  if (here)
    at(&r, here);
  return r.fn;
}
