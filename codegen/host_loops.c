/* Host loops: the entry that the runtime calls, around the function of one thread.
 *
 * In: a verified module with SYMBOL.thread. Out: `void SYMBOL(launch, first, last)`, which runs the blocks first <= n < last, and the
 * sizes in cg->out->host.
 *
 * Without barriers a block is a nest of loops over its threads, x innermost, around the thread's function. With barriers there is
 * such a nest for each segment (fission.h), and control goes from nest to nest: as long as all threads of a block stop at one
 * barrier, the nest of the segment behind it runs next. When they part, the block goes on thread by thread: every thread that has not
 * ended runs its own segment up to its next barrier, until all have ended.
 *
 * In a kernel whose threads meet in other ways too (in warps, as a grid) the runtime says after each stop who goes on (runtime/meet.h):
 * the block may come together again, and may leave the entry in the middle, to be called again when the grid has met. */
#include "codegen/host.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/fission.h"
#include "codegen/lanes.h"

typedef struct Loop {
  LLVMBasicBlockRef head;
  LLVMValueRef counter, to;
} Loop;

typedef struct Loops {
  Cg *cg;
  LLVMBuilderRef b;
  const CgTypes *t;
  LLVMValueRef entry, launch; /* the function, its argument */
  LLVMBasicBlockRef first;    /* allocas go to its beginning */
  LLVMValueRef sizes[3];      /* of a block, i32 */
  LLVMValueRef args[HOST_NARGS];
  LLVMValueRef rows; /* threads of a block along y and z, i32 */
  Loop nest[2];      /* rows, x */
  unsigned width;    /* lanes that run at a time, 0: threads run one by one */
  /* with barriers */
  Fission fission;
  LLVMValueRef frame, stride;
  LLVMValueRef ayes, voters;         /* allocas: of the barrier in front */
  LLVMValueRef new_ayes, new_voters; /* of the one that is being arrived at */
  LLVMValueRef all_or, all_and;      /* of what the segments return */
  LLVMValueRef totals; /* alloca: the last four in one piece */
  LLVMValueRef *rows_of; /* one a segment: a function for rows, NULL if there is none */
  LLVMBasicBlockRef *nests,
      *meets;                   /* one a segment; meets: where its threads meet before, or NULL */
  LLVMBasicBlockRef apart, end; /* threads at different barriers; the block is done */
  /* with other meetings */
  LLVMValueRef points;    /* RtMeetPoint[nsegments], NULL without */
  LLVMValueRef go, state; /* allocas: what the runtime said; an RtMeetState */
  LLVMBasicBlockRef release, dispatch; /* asks the runtime; goes where it says */
} Loops;

static bool meets_grid(const Fission *f) {
  for (uint32_t k = 0; k < f->nsegments; k++)
    if (f->segments[k].point.kind == RT_MEET_GRID)
      return true;
  return false;
}

/* --- small builders --- */

static LLVMValueRef i32(const Loops *l, uint32_t v) { return LLVMConstInt(l->t->i32, v, 0); }
static LLVMValueRef i64(const Loops *l, uint64_t v) { return LLVMConstInt(l->t->i64, v, 0); }
static LLVMBasicBlockRef new_block(const Loops *l, const char *name) {
  return LLVMAppendBasicBlockInContext(l->cg->context, l->entry, name);
}
static void at(const Loops *l, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(l->b, block); }

static LLVMValueRef new_variable(const Loops *l, LLVMTypeRef type, const char *name) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->first));
  LLVMValueRef v = LLVMBuildAlloca(l->b, type, name);
  at(l, here);
  return v;
}

static LLVMValueRef get(const Loops *l, LLVMValueRef variable) {
  return LLVMBuildLoad2(l->b, l->t->i32, variable, "");
}
static void set(const Loops *l, LLVMValueRef variable, LLVMValueRef v) {
  LLVMBuildStore(l->b, v, variable);
}
static void combine(const Loops *l, LLVMOpcode op, LLVMValueRef variable, LLVMValueRef v) {
  set(l, variable, LLVMBuildBinOp(l->b, op, get(l, variable), v, ""));
}

static LLVMValueRef launch_field(const Loops *l, LLVMTypeRef type, size_t offset, uint32_t limit) {
  return cg_host_launch_field(l->cg, l->launch, type, offset, limit);
}

/* counter from `from` while below `to`, at least once; the builder is left in the body. */
static Loop loop_begin(const Loops *l, LLVMValueRef from, LLVMValueRef to, const char *name) {
  Loop loop = {new_block(l, name), NULL, to};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l->b);
  LLVMBuildBr(l->b, loop.head);
  at(l, loop.head);
  loop.counter = LLVMBuildPhi(l->b, LLVMTypeOf(from), name);
  LLVMAddIncoming(loop.counter, &from, &before, 1);
  return loop;
}

/* The loops over threads are not unrolled: they are long enough, and their bodies too; it would double the time to compile. */
static void loop_end(const Loops *l, Loop *loop) {
  LLVMValueRef next = LLVMBuildNUWAdd(l->b, loop->counter,
                                      LLVMConstInt(LLVMTypeOf(loop->counter), 1, 0), "");
  if (LLVMTypeOf(next) == l->t->i32)
    LLVMSetNSW(next, 1);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMAddIncoming(loop->counter, &next, &here, 1);
  LLVMBasicBlockRef done = new_block(l, "");
  cg_leave_rolled(l->cg, LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntULT, next, loop->to, ""),
                                  loop->head, done));
  at(l, done);
}

/* --- the threads of a block --- */

/* Two loops: over x, and over the rows of threads, of which y and z are found by division where the kernel asks for them. */
static LLVMValueRef rows_begin(Loops *l) {
  l->nest[0] = loop_begin(l, i32(l, 0), l->rows, "row");
  LLVMValueRef row = l->nest[0].counter;
  l->args[HOST_TY] = LLVMBuildFreeze(l->b, LLVMBuildURem(l->b, row, l->sizes[1], ""),
                                     "ty"); /* frozen as in place_block */
  l->args[HOST_TZ] = LLVMBuildFreeze(l->b, LLVMBuildUDiv(l->b, row, l->sizes[1], ""), "tz");
  return LLVMBuildNUWMul(l->b, row, l->sizes[0], "");
}

static void nest_begin(Loops *l) {
  LLVMValueRef first = rows_begin(l);
  l->nest[1] = loop_begin(l, i32(l, 0), l->sizes[0], "tx");
  l->args[HOST_TX] = l->nest[1].counter;
  LLVMValueRef number = LLVMBuildNUWAdd(l->b, first, l->nest[1].counter, "t");
  LLVMSetNSW(number, 1);
  l->args[HOST_THREAD] = number;
}

static void nest_end(Loops *l) {
  loop_end(l, &l->nest[1]);
  loop_end(l, &l->nest[0]);
}

/* The same with whole rows: `row` is a function of host_rows.c. */
static void call_row(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                     LLVMValueRef totals, LLVMValueRef first, LLVMValueRef count) {
  LLVMValueRef args[HOST_NARGS + 6];
  memcpy(args, l->args, sizeof l->args);
  args[HOST_TX] = i32(l, 0), args[HOST_THREAD] = first;
  for (unsigned k = 0; k < nmore; k++)
    args[HOST_NARGS + k] = more[k];
  args[HOST_NARGS + nmore] = totals, args[HOST_NARGS + nmore + 1] = count;
  LLVMValueRef call = LLVMBuildCall2(l->b, LLVMGlobalGetValueType(row), row, args,
                                     HOST_NARGS + nmore + 2, "");
  cg_call_attribute(l->cg, call, l->points ? "noinline" : "alwaysinline");
}

/* Volatile, or LLVM makes copies of all loops, for rows with and without threads that are left over. */
static LLVMValueRef threads_of_row(Loops *l, LLVMValueRef variable) {
  LLVMValueRef now = get(l, variable);
  LLVMSetVolatile(now, 1);
  return now;
}

static void rows_nest(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                      LLVMValueRef totals) {
  LLVMValueRef count = new_variable(l, l->t->i32, "count");
  set(l, count, l->sizes[0]);
  LLVMValueRef first = rows_begin(l);
  call_row(l, row, more, nmore, totals, first, threads_of_row(l, count));
  loop_end(l, &l->nest[0]);
}

/* --- rows --- */

/* How much the arguments of a thread or segment grow from one thread to the next. */
static const int lane_steps[HOST_NARGS + 4] = {[HOST_TX] = 1, [HOST_THREAD] = 1};

static LLVMValueRef make_row(Loops *l, LLVMValueRef thread, HostRow how) {
  how.width = l->width;
  Lanes *lanes = l->width ? cg_lanes_analyse(l->cg, thread, lane_steps, l->width, true) : NULL;
  LLVMValueRef wide = lanes ? cg_lanes_write(lanes) : NULL, masked = NULL;
  if (!wide)
    return NULL;
  how.one_result = cg_lanes_one_result(lanes);
  if (cg_lanes_agree(lanes) && !how.votes && !how.next &&
      (lanes = cg_lanes_analyse(l->cg, thread, lane_steps, l->width, false)))
    masked = cg_lanes_write(lanes);
  return cg_host_row(l->cg, thread, wide, masked, &how);
}

/* Every check is an exit of the loops around it, and LLVM's loop passes take time with the square of a loop's exits: the code of a
 * thread with many blocks stays a function, where the call costs nothing in comparison. */
enum { MAX_INLINED_BLOCKS = 64 };

static const char *inlining(LLVMValueRef thread) {
  return LLVMCountBasicBlocks(thread) > MAX_INLINED_BLOCKS ? "noinline" : "alwaysinline";
}

/* --- with barriers: a thread's next segment is in its frame --- */

static LLVMValueRef next_of_thread(const Loops *l) {
  LLVMValueRef number = LLVMBuildZExt(l->b, l->args[HOST_THREAD], l->t->i64, "");
  LLVMSetNNeg(number, 1);
  return LLVMBuildInBoundsGEP2(l->b, l->t->i32, l->frame, &number, 1, "next");
}

static LLVMValueRef call_segment(Loops *l, uint32_t number, LLVMValueRef ayes, LLVMValueRef voters,
                                 const char *attribute) {
  Cg *cg = l->cg;
  LLVMValueRef args[HOST_NARGS + 4], fn = l->fission.segments[number].fn;
  memcpy(args, l->args, sizeof l->args);
  args[HOST_NARGS] = l->frame, args[HOST_NARGS + 1] = l->stride, args[HOST_NARGS + 2] = ayes,
  args[HOST_NARGS + 3] = voters;
  LLVMValueRef call = LLVMBuildCall2(l->b, LLVMGlobalGetValueType(fn), fn, args, HOST_NARGS + 4,
                                     "");
  cg_call_attribute(cg, call, attribute);
  return call;
}

static void count_votes(const Loops *l, LLVMValueRef result) {
  combine(l, LLVMAdd, l->new_ayes, LLVMBuildAnd(l->b, result, i32(l, SEGMENT_AYE), ""));
  LLVMValueRef voter = LLVMBuildAnd(l->b, result, i32(l, SEGMENT_VOTER), "");
  combine(l, LLVMAdd, l->new_voters, LLVMBuildLShr(l->b, voter, i32(l, 1), ""));
}

static void open_votes(Loops *l, LLVMValueRef *ayes, LLVMValueRef *voters) {
  *ayes = get(l, l->ayes);
  *voters = get(l, l->voters);
  set(l, l->new_ayes, i32(l, 0));
  set(l, l->new_voters, i32(l, 0));
}

static void close_votes(Loops *l) {
  set(l, l->ayes, get(l, l->new_ayes));
  set(l, l->voters, get(l, l->new_voters));
}

/* Where a block goes whose threads all stand in front of a segment: to its nest, or to the runtime if they wait for more than a barrier. */
static LLVMBasicBlockRef place_of(const Loops *l, uint32_t segment) {
  if (!segment)
    return l->end;
  return l->fission.segments[segment].point.kind == RT_MEET_BLOCK ? l->nests[segment]
                                                                  : l->meets[segment];
}

/* All threads have run segment s: where does the block go on? */
static void go_on(Loops *l, const Segment *s) {
  if (s->nexits <= 1) {
    LLVMBuildBr(l->b, s->nexits ? place_of(l, s->exits[0]) : l->end);
    return;
  }
  LLVMBasicBlockRef together = new_block(l, "together"), impossible = new_block(l, "");
  LLVMValueRef next = get(l, l->all_or);
  LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntEQ, next, get(l, l->all_and), ""), together,
                  l->points ? l->release : l->apart);
  at(l, together);
  LLVMValueRef choose = LLVMBuildSwitch(l->b, next, impossible, s->nexits);
  for (uint32_t k = 0; k < s->nexits; k++)
    LLVMAddCase(choose, i32(l, s->exits[k]), place_of(l, s->exits[k]));
  at(l, impossible);
  LLVMBuildUnreachable(l->b);
}

static void segment_nest(Loops *l, uint32_t number) {
  const Segment *s = &l->fission.segments[number];
  LLVMValueRef ayes, voters;
  at(l, l->nests[number]);
  open_votes(l, &ayes, &voters);
  set(l, l->all_or, i32(l, 0));
  set(l, l->all_and, i32(l, UINT32_MAX));
  if (l->rows_of[number]) {
    LLVMValueRef more[] = {l->frame, l->stride, ayes, voters};
    rows_nest(l, l->rows_of[number], more, 4, l->totals);
    close_votes(l);
    go_on(l, s);
    return;
  }
  nest_begin(l);
  LLVMValueRef result = call_segment(l, number, ayes, voters, inlining(s->fn));
  count_votes(l, result);
  if (s->nexits > 1) {
    LLVMValueRef next = LLVMBuildLShr(l->b, result, i32(l, SEGMENT_NEXT_SHIFT), "");
    LLVMBuildStore(l->b, next, next_of_thread(l));
    combine(l, LLVMOr, l->all_or, next);
    combine(l, LLVMAnd, l->all_and, next);
  }
  nest_end(l);
  close_votes(l);
  go_on(l, s);
}

/* Each thread that has not ended runs the segment that is next for it; again, until all have ended. */
static void run_apart(Loops *l) {
  LLVMValueRef ayes, voters;
  at(l, l->apart);
  open_votes(l, &ayes, &voters);
  set(l, l->all_or, i32(l, 0));
  nest_begin(l);
  LLVMBasicBlockRef skip = new_block(l, "skip");
  LLVMValueRef place = next_of_thread(l);
  LLVMValueRef choose = LLVMBuildSwitch(l->b, LLVMBuildLoad2(l->b, l->t->i32, place, ""), skip,
                                        l->fission.nsegments);
  for (uint32_t k = 1; k < l->fission.nsegments; k++) {
    LLVMBasicBlockRef run = new_block(l, "");
    cg_attribute(l->cg, l->fission.segments[k].fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                 "minsize", 0);
    cg_attribute(l->cg, l->fission.segments[k].fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                 "optsize", 0);
    LLVMAddCase(choose, i32(l, k), run);
    at(l, run);
    LLVMValueRef result = call_segment(l, k, ayes, voters, "noinline");
    LLVMValueRef next = LLVMBuildLShr(l->b, result, i32(l, SEGMENT_NEXT_SHIFT), "");
    count_votes(l, result);
    LLVMBuildStore(l->b, next, place);
    combine(l, LLVMOr, l->all_or, next);
    LLVMBuildBr(l->b, skip);
  }
  at(l, skip);
  nest_end(l);
  close_votes(l);
  LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntNE, get(l, l->all_or), i32(l, 0), ""), l->apart,
                  l->end);
}

/* --- with meetings: the runtime says who goes on --- */

static LLVMValueRef call_runtime(const Loops *l, const char *name, LLVMValueRef const *args,
                                 unsigned n) {
  LLVMModuleRef m = l->cg->module;
  LLVMTypeRef types[5];
  LLVMValueRef copy[5], fn = LLVMGetNamedFunction(m, name);
  for (unsigned k = 0; k < n; k++)
    copy[k] = args[k], types[k] = LLVMTypeOf(args[k]);
  if (!fn)
    fn = LLVMAddFunction(m, name, LLVMFunctionType(l->t->i32, types, n, 0));
  return LLVMBuildCall2(l->b, LLVMGlobalGetValueType(fn), fn, copy, n, "");
}

static LLVMValueRef in_state(const Loops *l, size_t offset) {
  LLVMValueRef at_byte = i64(l, offset);
  return LLVMBuildInBoundsGEP2(l->b, l->t->i8, l->state, &at_byte, 1, "");
}

static LLVMValueRef get_state(const Loops *l, size_t offset, const char *name) {
  return LLVMBuildLoad2(l->b, l->t->i32, in_state(l, offset), name);
}

/* The votes are the runtime's only for the call: in between they are variables that can be registers. */
static void release(Loops *l) {
  LLVMValueRef mine[] = {l->ayes, l->voters, l->new_ayes, l->new_voters};
  at(l, l->release);
  for (unsigned k = 0; k < 4; k++)
    LLVMBuildStore(l->b, get(l, mine[k]), in_state(l, offsetof(RtMeetState, votes) + 4 * k));
  set(l, l->go,
      call_runtime(l, "rt_host_release",
                   (LLVMValueRef[]){l->launch, l->points, l->args[HOST_BLOCK], l->state}, 4));
  for (unsigned k = 0; k < 4; k++)
    set(l, mine[k], get_state(l, offsetof(RtMeetState, votes) + 4 * k, ""));
  LLVMBuildBr(l->b, l->dispatch);
}

static void dispatch(Loops *l) {
  at(l, l->dispatch);
  LLVMValueRef choose = LLVMBuildSwitch(l->b, get(l, l->go), l->end, l->fission.nsegments);
  LLVMAddCase(choose, i32(l, RT_GO_APART), l->apart);
  for (uint32_t k = 1; k < l->fission.nsegments; k++)
    LLVMAddCase(choose, i32(l, k), l->nests[k]);
}

/* All threads stand in front of segment `number`: mostly they go on together. */
static void meet(Loops *l, uint32_t number) {
  at(l, l->meets[number]);
  LLVMValueRef args[] = {l->launch, l->points, l->args[HOST_BLOCK], i32(l, number), l->state};
  LLVMValueRef go = call_runtime(l, "rt_host_meet", args, 5);
  set(l, l->go, go);
  LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntEQ, go, i32(l, number), ""), l->nests[number],
                  l->dispatch);
}

static void run_threads(Loops *l, uint32_t number, LLVMValueRef const rest[5]) {
  Loop loop = loop_begin(l, i32(l, 0), rest[4], "k");
  for (unsigned k = 0; k < HOST_NARGS; k++) {
    l->args[k] = LLVMGetParam(l->entry, k);
    if (k == HOST_TX || k == HOST_THREAD) {
      l->args[k] = LLVMBuildNUWAdd(l->b, l->args[k], loop.counter, "");
      LLVMSetNSW(l->args[k], 1);
    }
  }
  LLVMValueRef result = call_segment(l, number, rest[2], rest[3], inlining(l->fission.segments[number].fn));
  count_votes(l, result);
  LLVMBuildStore(l->b, LLVMBuildLShr(l->b, result, i32(l, SEGMENT_NEXT_SHIFT), ""),
                 next_of_thread(l));
  loop_end(l, &loop);
}

static void run_row(Loops *l, uint32_t number, LLVMValueRef const rest[5]) {
  LLVMValueRef args[HOST_NARGS + 6], row = l->rows_of[number];
  for (unsigned k = 0; k < HOST_NARGS; k++)
    args[k] = LLVMGetParam(l->entry, k);
  memcpy(args + HOST_NARGS, rest, 4 * sizeof *rest);
  args[HOST_NARGS + 4] = l->totals, args[HOST_NARGS + 5] = rest[4];
  LLVMBuildCall2(l->b, LLVMGlobalGetValueType(row), row, args, HOST_NARGS + 6, "");
}

/* `i32 SYMBOL.run.K(arguments of segment K, i32 count)`: so many threads along x, beginning with the one that the arguments are, run the
 * segment; their next is stored. Returns ayes | voters << 16. A function, which serves whole rows, warps and single threads. */
static LLVMValueRef make_run(const Loops *outer, uint32_t number) {
  Loops l = *outer;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
  LLVMValueRef segment = l.fission.segments[number].fn;
  LLVMTypeRef types[HOST_NARGS + 5];
  LLVMGetParamTypes(LLVMGlobalGetValueType(segment), types);
  types[HOST_NARGS + 4] = l.t->i32;
  const char *name = arena_printf(&l.cg->cx->arena, "%s.run.%u", l.cg->symbol, number);
  l.entry = LLVMAddFunction(l.cg->module, name,
                            LLVMFunctionType(l.t->i32, types, HOST_NARGS + 5, 0));
  LLVMSetLinkage(l.entry, LLVMInternalLinkage);
  cg_attribute(l.cg, l.entry, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "noinline", 0);
  l.first = new_block(&l, "begin");
  at(&l, l.first);
  LLVMValueRef rest[5];
  for (unsigned k = 0; k < 5; k++)
    rest[k] = LLVMGetParam(l.entry, HOST_NARGS + k);
  l.frame = rest[0], l.stride = rest[1];
  l.totals = LLVMBuildAlloca(l.b, LLVMArrayType2(l.t->i32, 4), "totals");
  LLVMBuildStore(l.b, LLVMConstNull(LLVMArrayType2(l.t->i32, 4)), l.totals);
  LLVMValueRef second = i32(&l, 1);
  l.new_ayes = l.totals;
  l.new_voters = LLVMBuildInBoundsGEP2(l.b, l.t->i32, l.totals, &second, 1, "");
  if (l.rows_of[number])
    run_row(&l, number, rest);
  else
    run_threads(&l, number, rest);
  LLVMValueRef voters = LLVMBuildShl(l.b, get(&l, l.new_voters), i32(&l, 16), "");
  LLVMBuildRet(l.b, LLVMBuildOr(l.b, get(&l, l.new_ayes), voters, ""));
  at(outer, here);
  return l.entry;
}

/* The threads that are ready, run by run. */
static void run_runs(Loops *l) {
  at(l, l->apart);
  LLVMValueRef args[HOST_NARGS + 5], at_segment;
  at_segment = call_runtime(l, "rt_host_run_of_threads", (LLVMValueRef[]){l->launch, l->state}, 2);
  memcpy(args, l->args, sizeof l->args);
  for (unsigned k = 0; k < 3; k++)
    args[HOST_TX + k] = get_state(l, offsetof(RtMeetState, at) + 4 * k, "");
  args[HOST_THREAD] = get_state(l, offsetof(RtMeetState, first), "");
  LLVMValueRef rest[] = {l->frame, l->stride, get(l, l->ayes), get(l, l->voters),
                         get_state(l, offsetof(RtMeetState, count), "count")};
  memcpy(args + HOST_NARGS, rest, sizeof rest);
  LLVMValueRef choose = LLVMBuildSwitch(l->b, at_segment, l->release, l->fission.nsegments);
  for (uint32_t k = 1; k < l->fission.nsegments; k++) {
    LLVMBasicBlockRef run = new_block(l, "");
    LLVMAddCase(choose, i32(l, k), run);
    at(l, run);
    LLVMValueRef fn = make_run(l, k);
    LLVMValueRef votes = LLVMBuildCall2(l->b, LLVMGlobalGetValueType(fn), fn, args, HOST_NARGS + 5,
                                        "");
    combine(l, LLVMAdd, l->new_ayes, LLVMBuildAnd(l->b, votes, i32(l, UINT16_MAX), ""));
    combine(l, LLVMAdd, l->new_voters, LLVMBuildLShr(l->b, votes, i32(l, 16), ""));
    LLVMBuildBr(l->b, l->apart);
  }
}

static void run_meetings(Loops *l) {
  for (uint32_t k = 1; k < l->fission.nsegments; k++)
    if (l->meets[k])
      meet(l, k);
  run_runs(l);
  release(l);
  dispatch(l);
}

static LLVMValueRef make_points(Loops *l) {
  Cg *cg = l->cg;
  const Fission *f = &l->fission;
  LLVMValueRef *words = CX_ARRAY(cg->cx, LLVMValueRef, 2 * f->nsegments);
  bool any = false;
  for (uint32_t k = 0; k < f->nsegments; k++) {
    any |= f->segments[k].point.kind != RT_MEET_BLOCK;
    words[2 * k] = i32(l, f->segments[k].point.kind);
    words[2 * k + 1] = i32(l, f->segments[k].point.site);
  }
  if (!any)
    return NULL;
  LLVMValueRef init = LLVMConstArray2(l->t->i32, words, 2 * (uint64_t)f->nsegments);
  LLVMValueRef g = LLVMAddGlobal(cg->module, LLVMTypeOf(init), "points$");
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  return g;
}

static void open_meetings(Loops *l) {
  const Fission *f = &l->fission;
  l->points = make_points(l);
  if (!l->points)
    return;
  l->go = new_variable(l, l->t->i32, "go");
  l->state = new_variable(l, LLVMArrayType2(l->t->i32, sizeof(RtMeetState) / 4), "state");
  l->release = new_block(l, "release"), l->dispatch = new_block(l, "dispatch");
  for (uint32_t k = 1; k < f->nsegments; k++)
    if (f->segments[k].point.kind != RT_MEET_BLOCK)
      l->meets[k] = new_block(l, arena_printf(&l->cg->cx->arena, "meet%u", k));
}

static LLVMValueRef is_first_phase(const Loops *l) {
  LLVMValueRef phase = launch_field(l, l->t->i32, offsetof(RtHostLaunch, phase), 0);
  return LLVMBuildICmp(l->b, LLVMIntEQ, phase, i32(l, 0), "");
}

/* A block that waited for the grid is entered again, and goes on from its frame. */
static void begin_or_resume(Loops *l) {
  LLVMBasicBlockRef begin = new_block(l, "begin"), resume = new_block(l, "resume");
  LLVMBuildCondBr(l->b, is_first_phase(l), begin, resume);
  at(l, begin);
  LLVMBuildBr(l->b, l->nests[0]);
  at(l, resume);
  set(l, l->go, call_runtime(l, "rt_host_resume", (LLVMValueRef[]){l->launch, l->state}, 2));
  LLVMBuildBr(l->b, l->dispatch);
}

/* --- segments --- */

static bool threads_can_part(const Fission *f) {
  for (uint32_t k = 0; k < f->nsegments; k++)
    if (f->segments[k].nexits > 1)
      return true;
  return false;
}

static void make_variables(Loops *l) {
  LLVMTypeRef t = l->t->i32;
  l->ayes = new_variable(l, t, "ayes"), l->voters = new_variable(l, t, "voters");
  l->totals = new_variable(l, LLVMArrayType2(t, 4), "totals");
  LLVMValueRef *totals[] = {&l->new_ayes, &l->new_voters, &l->all_or, &l->all_and};
  for (unsigned k = 0; k < 4; k++) {
    LLVMValueRef index = i32(l, k);
    *totals[k] = LLVMBuildInBoundsGEP2(l->b, t, l->totals, &index, 1, "");
  }
  LLVMValueRef votes[] = {l->ayes, l->voters, l->new_ayes, l->new_voters};
  for (unsigned k = 0; k < 4; k++)
    set(l, votes[k], i32(l, 0));
}

static void run_segments(Loops *l) {
  uint32_t n = l->fission.nsegments;
  make_variables(l);
  l->nests = CX_ARRAY(l->cg->cx, LLVMBasicBlockRef, n);
  l->meets = CX_ARRAY(l->cg->cx, LLVMBasicBlockRef, n);
  open_meetings(l);
  l->rows_of = CX_ARRAY(l->cg->cx, LLVMValueRef, n);
  for (uint32_t k = 0; k < n; k++) {
    const Segment *s = &l->fission.segments[k];
    bool next = s->nexits > 1 || l->points;
    l->rows_of[k] = make_row(l, s->fn, (HostRow){.segment = true, .votes = s->votes, .next = next});
  }
  for (uint32_t k = 0; k < n; k++)
    l->nests[k] = new_block(l, arena_printf(&l->cg->cx->arena, "segment%u", k));
  bool parting = l->points || threads_can_part(&l->fission);
  l->apart = parting ? new_block(l, "apart") : NULL;
  l->end = new_block(l, "end");
  if (meets_grid(&l->fission))
    begin_or_resume(l);
  else
    LLVMBuildBr(l->b, l->nests[0]);
  for (uint32_t k = 0; k < n; k++)
    segment_nest(l, k);
  if (l->points)
    run_meetings(l);
  else if (parting)
    run_apart(l);
  at(l, l->end);
}

/* --- blocks --- */

/* Shared memory begins as bytes of 255, nan and -1: what is read without having been written shows, and always shows alike. */
static void fill_shared(Loops *l) {
  Cg *cg = l->cg;
  if (!cg->static_shared && !cg->uses_dynamic_shared)
    return;
  LLVMValueRef shared = launch_field(l, l->t->ptr, offsetof(RtHostLaunch, shared), 0),
               bytes = i64(l, cg->static_shared);
  if (cg->uses_dynamic_shared) {
    LLVMValueRef dynamic = launch_field(l, l->t->i32, offsetof(RtHostLaunch, dynamic_shared), 0);
    bytes = LLVMBuildAdd(l->b, bytes, LLVMBuildZExt(l->b, dynamic, l->t->i64, ""), "");
  }
  LLVMBuildMemSet(l->b, shared, LLVMConstInt(l->t->i8, 255, 0), bytes, HOST_SHARED_ALIGN);
}

static void leave_if_stopped(Loops *l) {
  LLVMBasicBlockRef leave = new_block(l, "stopped"), stay = new_block(l, "");
  LLVMValueRef stop = LLVMBuildLoad2(
      l->b, l->t->i32, launch_field(l, l->t->ptr, offsetof(RtHostLaunch, stop), 0), "");
  LLVMSetOrdering(stop, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(stop, 4);
  LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntNE, stop, i32(l, 0), ""), leave, stay);
  at(l, leave);
  LLVMBuildRetVoid(l->b);
  at(l, stay);
}

static void place_block(Loops *l, LLVMValueRef number) {
  LLVMValueRef gx = launch_field(l, l->t->i32, offsetof(RtHostLaunch, grid), INT32_MAX);
  LLVMValueRef gy = launch_field(l, l->t->i32, offsetof(RtHostLaunch, grid) + 4, INT32_MAX);
  gx = LLVMBuildZExt(l->b, gx, l->t->i64, "");
  gy = LLVMBuildZExt(l->b, gy, l->t->i64, "");
  LLVMValueRef rows = LLVMBuildUDiv(l->b, number, gx, "");
  LLVMValueRef axes[] = {LLVMBuildURem(l->b, number, gx, ""), LLVMBuildURem(l->b, rows, gy, ""),
                         LLVMBuildUDiv(l->b, rows, gy, "")};
  static const char *const names[] = {"bx", "by", "bz"};
  for (int k = 0; k < 3;
       k++) /* frozen: LLVM would divide again for every thread, to make an address of it */
    l->args[HOST_BX + k] = LLVMBuildFreeze(l->b, LLVMBuildTrunc(l->b, axes[k], l->t->i32, ""),
                                           names[k]);
  l->args[HOST_BLOCK] = number;
  l->args[HOST_LAUNCH] = l->launch;
}

static void make_entry(Loops *l) {
  Cg *cg = l->cg;
  LLVMTypeRef types[] = {l->t->ptr, l->t->i64, l->t->i64};
  l->entry = LLVMAddFunction(cg->module, cg->symbol, LLVMFunctionType(l->t->none, types, 3, 0));
  cg_attribute(cg, l->entry, 1, "nonnull", 0);
  cg_attribute(cg, l->entry, 1, "align", 8);
  cg_attribute(cg, l->entry, 1, "dereferenceable", sizeof(RtHostLaunch));
  l->launch = LLVMGetParam(l->entry, 0);
  l->first = new_block(l, "begin");
  at(l, l->first);
  static const uint32_t limits[] = {1024, 1024, 64};
  for (int k = 0; k < 3; k++)
    l->sizes[k] = launch_field(l, l->t->i32, offsetof(RtHostLaunch, block) + 4u * (unsigned)k,
                               limits[k]);
  l->rows = LLVMBuildNUWMul(l->b, l->sizes[1], l->sizes[2], "rows");
}

static void find_frame(Loops *l) {
  l->frame = launch_field(l, l->t->ptr, offsetof(RtHostLaunch, frame), 0);
  LLVMValueRef n = LLVMBuildNUWMul(l->b, l->sizes[0], l->rows, "");
  n = LLVMBuildAdd(l->b, n, i32(l, RT_FRAME_THREADS - 1), "");
  n = LLVMBuildAnd(l->b, n, i32(l, ~(uint32_t)(RT_FRAME_THREADS - 1)), "");
  l->stride = LLVMBuildZExt(l->b, n, l->t->i64, "stride");
}

/* Blocks that are neighbours along x, up to MAX_GROUP of them, row by row: so rows of an array are read to their end. */
static LLVMValueRef run_group(Loops *l, LLVMValueRef row, LLVMValueRef number) {
  enum { MAX_GROUP = 64 };
  LLVMValueRef gx = launch_field(l, l->t->i32, offsetof(RtHostLaunch, grid), INT32_MAX),
               bx = l->args[HOST_BX], count = new_variable(l, l->t->i32, "count");
  set(l, count, l->sizes[0]);
  LLVMValueRef sizes[] = {LLVMBuildZExt(l->b, LLVMBuildSub(l->b, gx, bx, ""), l->t->i64, ""),
                          LLVMBuildSub(l->b, LLVMGetParam(l->entry, 2), number, ""),
                          i64(l, MAX_GROUP)};
  for (int k = 1; k < 3; k++)
    sizes[0] = LLVMBuildSelect(l->b, LLVMBuildICmp(l->b, LLVMIntULT, sizes[0], sizes[k], ""),
                               sizes[0], sizes[k], "group");
  LLVMValueRef first = rows_begin(l);
  Loop blocks = loop_begin(l, i64(l, 0), sizes[0], "along");
  l->args[HOST_BLOCK] = LLVMBuildNUWAdd(l->b, number, blocks.counter, "");
  LLVMValueRef by = LLVMBuildTrunc(l->b, blocks.counter, l->t->i32, "");
  l->args[HOST_BX] = LLVMBuildNUWAdd(l->b, bx, by, "");
  LLVMSetNSW(l->args[HOST_BX], 1);
  call_row(l, row, NULL, 0, LLVMConstNull(l->t->ptr), first, threads_of_row(l, count));
  loop_end(l, &blocks);
  loop_end(l, &l->nest[0]);
  return sizes[0];
}

static void run_groups(Loops *l, LLVMValueRef row) {
  LLVMValueRef first = LLVMGetParam(l->entry, 1);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l->b), head = new_block(l, "blocks"),
                    done = new_block(l, "");
  LLVMBuildBr(l->b, head);
  at(l, head);
  LLVMValueRef number = LLVMBuildPhi(l->b, l->t->i64, "block");
  LLVMAddIncoming(number, &first, &before, 1);
  leave_if_stopped(l);
  place_block(l, number);
  LLVMValueRef next = LLVMBuildNUWAdd(l->b, number, run_group(l, row, number), "");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMAddIncoming(number, &next, &here, 1);
  LLVMValueRef more = LLVMBuildICmp(l->b, LLVMIntULT, next, LLVMGetParam(l->entry, 2), "");
  cg_leave_rolled(l->cg, LLVMBuildCondBr(l->b, more, head, done));
  at(l, done);
  LLVMBuildRetVoid(l->b);
}

static void run_blocks(Loops *l, LLVMValueRef thread) {
  LLVMValueRef row = l->fission.nsegments ? NULL : make_row(l, thread, (HostRow){0});
  make_entry(l);
  if (row && !l->cg->static_shared && !l->cg->uses_dynamic_shared) {
    run_groups(l, row);
    return;
  }
  if (l->fission.nsegments)
    find_frame(l);
  Loop blocks = loop_begin(l, LLVMGetParam(l->entry, 1), LLVMGetParam(l->entry, 2), "block");
  leave_if_stopped(l);
  place_block(l, blocks.counter);
  if (!meets_grid(&l->fission)) /* else memory is a block's own, and the runtime has filled it */
    fill_shared(l);
  if (l->fission.nsegments) {
    run_segments(l);
  } else if (row) {
    rows_nest(l, row, NULL, 0, LLVMConstNull(l->t->ptr));
  } else {
    nest_begin(l);
    LLVMBuildCall2(l->b, LLVMGlobalGetValueType(thread), thread, l->args, HOST_NARGS, "");
    nest_end(l);
  }
  loop_end(l, &blocks);
  LLVMBuildRetVoid(l->b);
}

/* --- the pass --- */

static void split(Loops *l, LLVMValueRef kernel) {
  Cg *cg = l->cg;
  LLVMValueRef markers[] = {cg_host_marker(cg, CG_BARRIER_NAME), cg_host_marker(cg, CG_MEET_NAME)};
  cg_host_gather(cg, markers, kernel);
  Lanes *lanes = NULL;
  if (l->width) {
    LLVMSetLinkage(kernel, LLVMExternalLinkage);
    cg_lanes_prepare(cg);
    LLVMSetLinkage(kernel, LLVMInternalLinkage);
    lanes = cg_lanes_analyse(cg, kernel, lane_steps, l->width, false);
  }
  l->fission = cg_fission(cg, kernel, HOST_THREAD,
                          markers[1] ? RT_SLOT_BYTES : sizeof(uint32_t) /* RT_SLOT_NEXT alone */,
                          lanes);
  if (l->width)
    cg_lanes_regulate(cg);
  LLVMDeleteFunction(kernel);
  for (int k = 0; k < 2; k++)
    if (markers[k])
      LLVMDeleteFunction(markers[k]);
}

void cg_host_loops(Cg *cg) {
  const HostState *s = cg->target_state;
  if (!s->thread)
    return;
  Loops l = {.cg = cg, .b = cg->builder, .t = &cg->t};
  LLVMSetCurrentDebugLocation2(l.b, NULL);
  l.width = cg->options.opt >= 2 && !cg->debug ? cg_lanes_width(cg) : 0;
  if (cg_host_marker(cg, CG_BARRIER_NAME) || cg_host_marker(cg, CG_MEET_NAME)) {
    split(&l, s->thread);
  } else {
    if (l.width) {
      LLVMSetLinkage(s->thread, LLVMExternalLinkage); /* nobody calls it yet */
      cg_lanes_prepare(cg);
      LLVMSetLinkage(s->thread, LLVMInternalLinkage);
    }
    cg_attribute(cg, s->thread, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, inlining(s->thread),
                 0);
  }
  run_blocks(&l, s->thread);
  cg->kernel = l.entry;
  cg->out->host.static_shared = cg->static_shared;
  cg->out->host.frame_bytes = l.fission.frame_bytes;
  cg->out->host.meets_grid = meets_grid(&l.fission);
  cg_verify_module(cg);
}
