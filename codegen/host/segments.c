/* Host segments: control flow between the segments of a block with barriers.
 *
 * Each segment (fission/fission.h) has a loop nest over the block's threads. While all threads stop
 * at the same barrier, the nest of the segment after it follows. Once they have diverged, the block
 * runs thread by thread: in each round every thread that has not ended runs its own next segment,
 * up to its next barrier, until all have ended. It never reconverges.
 *
 * In a kernel with other meetings (warp operations, the grid's barrier, loops that wait for other
 * threads), the runtime decides after each stop which threads continue (runtime/host/meet.h). There
 * a block may reconverge. It may also leave the entry in the middle, to be resumed when all blocks
 * have reached the grid's barrier, or when other blocks have run. */
#include <assert.h>
#include <string.h>

#include "codegen/host/entry.h"

bool hl_has_meeting(const Fission *f, RtMeetKind kind) {
  for (uint32_t k = 1; k < f->nsegments; k++)
    if (f->segments[k].point.kind == kind)
      return true;
  return false;
}

static void combine(const Loops *l, LLVMOpcode op, LLVMValueRef variable, LLVMValueRef v) {
  hl_set(l, variable, l_binop(l->b, op, hl_get(l, variable), v));
}

void hl_add_to(const Loops *l, LLVMValueRef variable, LLVMValueRef v) {
  combine(l, LLVMAdd, variable, v);
}

/* --- barriers: a thread's next segment is in its frame --- */

static LLVMValueRef next_of_thread(const Loops *l) {
  LLVMValueRef number = l_zext(l->b, l->args[HOST_THREAD], l->t->i64);
  LLVMSetNNeg(number, 1);
  return LLVMBuildInBoundsGEP2(l->b, l->t->i32, l->frame, &number, 1, "next");
}

static LLVMValueRef call_segment(Loops *l, uint32_t number, LLVMValueRef ayes, LLVMValueRef voters,
                                 const char *attribute) {
  Cg *cg = l->cg;
  LLVMValueRef args[HOST_NARGS + SEGMENT_ARGS], fn = l->fission.segments[number].fn;
  memcpy(args, l->args, sizeof l->args);
  args[HOST_NARGS] = l->frame, args[HOST_NARGS + 1] = l->stride, args[HOST_NARGS + 2] = ayes,
  args[HOST_NARGS + 3] = voters;
  LLVMValueRef call = l_call(l->b, fn, args, HOST_NARGS + SEGMENT_ARGS);
  cg_call_attribute(cg, call, attribute);
  return call;
}

static void count_votes(const Loops *l, LLVMValueRef result) {
  combine(l, LLVMAdd, l->new_ayes, l_and(l->b, result, hl_i32(l, SEGMENT_AYE)));
  LLVMValueRef voter = l_and(l->b, result, hl_i32(l, SEGMENT_VOTER));
  combine(l, LLVMAdd, l->new_voters, l_lshr(l->b, voter, hl_i32(l, 1)));
}

static void open_votes(Loops *l, LLVMValueRef *ayes, LLVMValueRef *voters) {
  *ayes = hl_get(l, l->ayes);
  *voters = hl_get(l, l->voters);
  hl_set(l, l->new_ayes, hl_i32(l, 0));
  hl_set(l, l->new_voters, hl_i32(l, 0));
}

static void close_votes(Loops *l) {
  hl_set(l, l->ayes, hl_get(l, l->new_ayes));
  hl_set(l, l->voters, hl_get(l, l->new_voters));
}

/* Does the runtime decide how a block goes on whose threads are all in front of a segment? Where
 * they wait for more than a barrier; and always where it follows each block. */
static bool asks_runtime(const Loops *l, uint32_t segment) {
  return l->fission.segments[segment].point.kind != RT_MEET_BLOCK || l->followed;
}

/* The target for a block whose threads are all in front of a segment. */
static LLVMBasicBlockRef place_of(const Loops *l, uint32_t segment) {
  assert(segment < l->fission.nsegments);
  if (!segment)
    return l->end;
  return asks_runtime(l, segment) ? l->meets[segment] : l->nests[segment];
}

/* Leaves segment s, which all threads have run: by its only exit, by the exit that all have taken,
 * or to the code for diverged threads. */
static void write_exit(Loops *l, const Segment *s) {
  if (s->nexits <= 1) {
    l_br(l->b, s->nexits ? place_of(l, s->exits[0]) : l->end);
    return;
  }
  LLVMBasicBlockRef together = hl_new_block(l, "together"), impossible = hl_new_block(l, "");
  assert(l->points ? l->release : l->apart);
  LLVMValueRef next = hl_get(l, l->all_or);
  l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, next, hl_get(l, l->all_and)), together,
           l->points ? l->release : l->apart);
  hl_at(l, together);
  LLVMValueRef choose = l_switch(l->b, next, impossible, s->nexits);
  for (uint32_t k = 0; k < s->nexits; k++)
    LLVMAddCase(choose, hl_i32(l, s->exits[k]), place_of(l, s->exits[k]));
  hl_at(l, impossible);
  l_unreachable(l->b);
}

static void segment_nest(Loops *l, uint32_t number) {
  const Segment *s = &l->fission.segments[number];
  LLVMValueRef ayes, voters;
  hl_at(l, l->nests[number]);
  open_votes(l, &ayes, &voters);
  hl_set(l, l->all_or, hl_i32(l, 0));
  hl_set(l, l->all_and, hl_i32(l, UINT32_MAX));
  if (l->rows_of[number]) {
    LLVMValueRef more[] = {l->frame, l->stride, ayes, voters};
    hl_rows_nest(l, l->rows_of[number], more, 4, l->totals);
    close_votes(l);
    write_exit(l, s);
    return;
  }
  hl_nest_begin(l, 1);
  LLVMValueRef result = call_segment(l, number, ayes, voters,
                                     l->rare ? "noinline" : cg_host_inlining(s->fn, 1));
  count_votes(l, result);
  if (s->nexits > 1) {
    LLVMValueRef next = l_lshr(l->b, result, hl_i32(l, SEGMENT_NEXT_SHIFT));
    l_store(l->b, next, next_of_thread(l));
    combine(l, LLVMOr, l->all_or, next);
    combine(l, LLVMAnd, l->all_and, next);
  }
  hl_nest_end(l);
  close_votes(l);
  write_exit(l, s);
}

/* The code for diverged threads: each that has not ended runs its next segment; repeated until all
 * have ended. */
static void run_apart(Loops *l) {
  LLVMValueRef ayes, voters;
  hl_at(l, l->apart);
  open_votes(l, &ayes, &voters);
  hl_set(l, l->all_or, hl_i32(l, 0));
  hl_nest_begin(l, 1);
  LLVMBasicBlockRef skip = hl_new_block(l, "skip");
  LLVMValueRef place = next_of_thread(l);
  LLVMValueRef choose = l_switch(l->b, l_load(l->b, l->t->i32, place), skip, l->fission.nsegments);
  for (uint32_t k = 1; k < l->fission.nsegments; k++) {
    LLVMBasicBlockRef run = hl_new_block(l, "");
    cg_attribute(l->cg, l->fission.segments[k].fn, L_FUNCTION, "minsize", 0);
    cg_attribute(l->cg, l->fission.segments[k].fn, L_FUNCTION, "optsize", 0);
    LLVMAddCase(choose, hl_i32(l, k), run);
    hl_at(l, run);
    LLVMValueRef result = call_segment(l, k, ayes, voters, "noinline");
    LLVMValueRef next = l_lshr(l->b, result, hl_i32(l, SEGMENT_NEXT_SHIFT));
    count_votes(l, result);
    l_store(l->b, next, place);
    combine(l, LLVMOr, l->all_or, next);
    l_br(l->b, skip);
  }
  hl_at(l, skip);
  hl_nest_end(l);
  close_votes(l);
  l_condbr(l->b, l_icmp(l->b, LLVMIntNE, hl_get(l, l->all_or), hl_i32(l, 0)), l->apart, l->end);
}

/* --- other meetings: the runtime decides which threads continue --- */

static LLVMValueRef call_runtime(const Loops *l, const char *name, LLVMValueRef const *args,
                                 unsigned n) {
  LLVMModuleRef m = l->cg->module;
  LLVMTypeRef types[5];
  LLVMValueRef copy[5], fn = LLVMGetNamedFunction(m, name);
  for (unsigned k = 0; k < n; k++)
    copy[k] = args[k], types[k] = LLVMTypeOf(args[k]);
  if (!fn)
    fn = LLVMAddFunction(m, name, LLVMFunctionType(l->t->i32, types, n, 0));
  return l_call(l->b, fn, copy, n);
}

static LLVMValueRef in_state(const Loops *l, size_t offset) {
  LLVMValueRef at_byte = hl_i64(l, offset);
  return l_gep_inbounds(l->b, l->t->i8, l->state, &at_byte, 1);
}

static LLVMValueRef get_state(const Loops *l, size_t offset, const char *name) {
  return LLVMBuildLoad2(l->b, l->t->i32, in_state(l, offset), name);
}

static void take_votes(Loops *l) {
  LLVMValueRef mine[] = {l->ayes, l->voters, l->new_ayes, l->new_voters};
  for (unsigned k = 0; k < 4; k++)
    hl_set(l, mine[k], get_state(l, offsetof(RtMeetState, votes) + 4 * k, ""));
}

/* Asks the runtime which threads continue. The votes are copied into its state for the call only,
 * so that they can be in registers otherwise. */
static void release(Loops *l) {
  LLVMValueRef mine[] = {l->ayes, l->voters, l->new_ayes, l->new_voters};
  hl_at(l, l->release);
  for (unsigned k = 0; k < 4; k++)
    l_store(l->b, hl_get(l, mine[k]), in_state(l, offsetof(RtMeetState, votes) + 4 * k));
  hl_set(l, l->go,
         call_runtime(l, "rt_host_release",
                      (LLVMValueRef[]){l->launch, l->points, l->args[HOST_BLOCK], l->state}, 4));
  take_votes(l);
  l_br(l->b, l->dispatch);
}

/* Branches on the runtime's answer. */
static void dispatch(Loops *l) {
  hl_at(l, l->dispatch);
  LLVMValueRef choose = l_switch(l->b, hl_get(l, l->go), l->end, l->fission.nsegments);
  LLVMAddCase(choose, hl_i32(l, RT_GO_APART), l->apart);
  for (uint32_t k = 1; k < l->fission.nsegments; k++)
    LLVMAddCase(choose, hl_i32(l, k), l->nests[k]);
}

/* All threads have reached the meeting in front of segment `number`; mostly all of them
 * continue. */
static void meet(Loops *l, uint32_t number) {
  hl_at(l, l->meets[number]);
  LLVMValueRef args[] = {l->launch, l->points, l->args[HOST_BLOCK], hl_i32(l, number), l->state};
  LLVMValueRef go = call_runtime(l, "rt_host_meet", args, 5);
  hl_set(l, l->go, go);
  l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, go, hl_i32(l, number)), l->nests[number], l->dispatch);
}

static void run_threads(Loops *l, uint32_t number, LLVMValueRef const rest[5]) {
  Loop loop = hl_loop_begin(l, hl_i32(l, 0), rest[4], "k");
  for (unsigned k = 0; k < HOST_NARGS; k++) {
    l->args[k] = LLVMGetParam(l->entry, k);
    if (k == HOST_TX || k == HOST_THREAD) {
      l->args[k] = l_add_nuw(l->b, l->args[k], loop.counter);
      LLVMSetNSW(l->args[k], 1);
    }
  }
  LLVMValueRef result = call_segment(l, number, rest[2], rest[3],
                                     cg_host_inlining(l->fission.segments[number].fn, 1));
  count_votes(l, result);
  l_store(l->b, l_lshr(l->b, result, hl_i32(l, SEGMENT_NEXT_SHIFT)), next_of_thread(l));
  hl_loop_end(l, &loop);
}

static void run_row(Loops *l, uint32_t number, LLVMValueRef const rest[5]) {
  LLVMValueRef args[HOST_NARGS + 6], row = l->rows_of[number];
  for (unsigned k = 0; k < HOST_NARGS; k++)
    args[k] = LLVMGetParam(l->entry, k);
  memcpy(args + HOST_NARGS, rest, 4 * sizeof *rest);
  args[HOST_NARGS + 4] = l->totals, args[HOST_NARGS + 5] = rest[4];
  l_call(l->b, row, args, HOST_NARGS + 6);
}

/* `i32 SYMBOL.run.K(arguments of segment K, i32 count)`: runs segment K for `count` threads along
 * x, beginning with the one that the arguments describe, and stores the next segment of each.
 * Returns ayes | voters << 16. One function serves whole rows, warps and single threads. */
static LLVMValueRef make_run(const Loops *outer, uint32_t number) {
  Loops l = *outer;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
  LLVMValueRef segment = l.fission.segments[number].fn;
  LLVMTypeRef types[HOST_NARGS + 5];
  assert(LLVMCountParams(segment) == HOST_NARGS + SEGMENT_ARGS);
  LLVMGetParamTypes(LLVMGlobalGetValueType(segment), types);
  types[HOST_NARGS + 4] = l.t->i32;
  const char *name = arena_printf(&l.cg->cx->arena, "%s.run.%u", l.cg->symbol, number);
  l.entry = LLVMAddFunction(l.cg->module, name,
                            LLVMFunctionType(l.t->i32, types, HOST_NARGS + 5, 0));
  LLVMSetLinkage(l.entry, LLVMInternalLinkage);
  cg_attribute(l.cg, l.entry, L_FUNCTION, "noinline", 0);
  l.first = hl_new_block(&l, "begin");
  hl_at(&l, l.first);
  LLVMValueRef rest[5];
  for (unsigned k = 0; k < 5; k++)
    rest[k] = LLVMGetParam(l.entry, HOST_NARGS + k);
  l.frame = rest[0], l.stride = rest[1];
  l.totals = LLVMBuildAlloca(l.b, LLVMArrayType2(l.t->i32, 4), "totals");
  l_store(l.b, LLVMConstNull(LLVMArrayType2(l.t->i32, 4)), l.totals);
  LLVMValueRef second = hl_i32(&l, 1);
  l.new_ayes = l.totals;
  l.new_voters = l_gep_inbounds(l.b, l.t->i32, l.totals, &second, 1);
  if (l.rows_of[number])
    run_row(&l, number, rest);
  else
    run_threads(&l, number, rest);
  LLVMValueRef voters = l_shl(l.b, hl_get(&l, l.new_voters), hl_i32(&l, 16));
  l_ret(l.b, l_or(l.b, hl_get(&l, l.new_ayes), voters));
  hl_at(outer, here);
  return l.entry;
}

/* Runs the threads that the runtime has found ready, one contiguous run of them after another. */
static void run_runs(Loops *l) {
  hl_at(l, l->apart);
  LLVMValueRef args[HOST_NARGS + 5], at_segment;
  at_segment = call_runtime(l, "rt_host_run_of_threads", (LLVMValueRef[]){l->launch, l->state}, 2);
  memcpy(args, l->args, sizeof l->args);
  for (unsigned k = 0; k < 3; k++)
    args[HOST_TX + k] = get_state(l, offsetof(RtMeetState, at) + 4 * k, "");
  args[HOST_THREAD] = get_state(l, offsetof(RtMeetState, first), "");
  LLVMValueRef rest[] = {l->frame, l->stride, hl_get(l, l->ayes), hl_get(l, l->voters),
                         get_state(l, offsetof(RtMeetState, count), "count")};
  memcpy(args + HOST_NARGS, rest, sizeof rest);
  LLVMValueRef choose = l_switch(l->b, at_segment, l->release, l->fission.nsegments);
  for (uint32_t k = 1; k < l->fission.nsegments; k++) {
    LLVMBasicBlockRef run = hl_new_block(l, "");
    LLVMAddCase(choose, hl_i32(l, k), run);
    hl_at(l, run);
    LLVMValueRef fn = make_run(l, k);
    LLVMValueRef votes = l_call(l->b, fn, args, HOST_NARGS + 5);
    combine(l, LLVMAdd, l->new_ayes, l_and(l->b, votes, hl_i32(l, UINT16_MAX)));
    combine(l, LLVMAdd, l->new_voters, l_lshr(l->b, votes, hl_i32(l, 16)));
    l_br(l->b, l->apart);
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
    any |= k && asks_runtime(l, k);
    words[2 * k] = hl_i32(l, f->segments[k].point.kind);
    words[2 * k + 1] = hl_i32(l, f->segments[k].point.site);
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
  l->followed |= hl_has_meeting(f, RT_MEET_WAIT);
  l->points = make_points(l);
  if (!l->points)
    return;
  l->go = hl_new_variable(l, l->t->i32, "go");
  l->state = hl_new_variable(l, LLVMArrayType2(l->t->i32, sizeof(RtMeetState) / 4), "state");
  l->release = hl_new_block(l, "release"), l->dispatch = hl_new_block(l, "dispatch");
  for (uint32_t k = 1; k < f->nsegments; k++)
    if (asks_runtime(l, k))
      l->meets[k] = hl_new_block(l, arena_printf(&l->cg->cx->arena, "meet%u", k));
}

static LLVMValueRef is_first_phase(const Loops *l) {
  LLVMValueRef phase = hl_launch_field(l, l->t->i32, offsetof(RtHostLaunch, phase));
  return l_icmp(l->b, LLVMIntEQ, phase, hl_i32(l, 0));
}

/* In the first phase of the launch blocks begin; later they resume from their frames. */
static void begin_or_resume(Loops *l) {
  LLVMBasicBlockRef begin = hl_new_block(l, "begin"), resume = hl_new_block(l, "resume");
  l_condbr(l->b, is_first_phase(l), begin, resume);
  hl_at(l, begin);
  l_br(l->b, l->nests[0]);
  hl_at(l, resume);
  hl_set(l, l->go,
         call_runtime(l, "rt_host_resume", (LLVMValueRef[]){l->launch, l->points, l->state}, 3));
  take_votes(l);
  l_br(l->b, l->dispatch);
}

/* --- all segments --- */

void hl_find_frame(Loops *l) {
  l->frame = hl_launch_field(l, l->t->ptr, offsetof(RtHostLaunch, frame));
  LLVMValueRef n = l_mul_nuw(l->b, l->sizes[0], l->rows);
  n = l_add(l->b, n, hl_i32(l, RT_FRAME_THREADS - 1));
  n = l_and(l->b, n, hl_i32(l, ~(uint32_t)(RT_FRAME_THREADS - 1)));
  l->stride = LLVMBuildZExt(l->b, n, l->t->i64, "stride");
}

static bool can_diverge(const Fission *f) {
  for (uint32_t k = 0; k < f->nsegments; k++)
    if (f->segments[k].nexits > 1)
      return true;
  return false;
}

static void make_variables(Loops *l) {
  LLVMTypeRef t = l->t->i32;
  l->ayes = hl_new_variable(l, t, "ayes"), l->voters = hl_new_variable(l, t, "voters");
  l->totals = hl_new_variable(l, LLVMArrayType2(t, 4), "totals");
  LLVMValueRef *totals[] = {&l->new_ayes, &l->new_voters, &l->all_or, &l->all_and};
  for (unsigned k = 0; k < 4; k++) {
    LLVMValueRef index = hl_i32(l, k);
    *totals[k] = l_gep_inbounds(l->b, t, l->totals, &index, 1);
  }
  LLVMValueRef votes[] = {l->ayes, l->voters, l->new_ayes, l->new_voters};
  for (unsigned k = 0; k < 4; k++)
    hl_set(l, votes[k], hl_i32(l, 0));
}

void hl_run_segments(Loops *l) {
  uint32_t n = l->fission.nsegments;
  assert(n && l->frame && l->stride);
  make_variables(l);
  l->nests = CX_ARRAY(l->cg->cx, LLVMBasicBlockRef, n);
  l->meets = CX_ARRAY(l->cg->cx, LLVMBasicBlockRef, n);
  open_meetings(l);
  l->rows_of = CX_ARRAY(l->cg->cx, LLVMValueRef, n);
  for (uint32_t k = 0; k < n; k++) {
    const Segment *s = &l->fission.segments[k];
    bool next = s->nexits > 1 || l->points;
    l->rows_of[k] = hl_make_row(l, s->fn,
                                (HostRow){.segment = true, .votes = s->votes, .next = next});
  }
  for (uint32_t k = 0; k < n; k++)
    l->nests[k] = hl_new_block(l, arena_printf(&l->cg->cx->arena, "segment%u", k));
  bool diverges = l->points || can_diverge(&l->fission);
  l->apart = diverges ? hl_new_block(l, "apart") : NULL;
  l->end = hl_new_block(l, "end");
  if (hl_can_leave(&l->fission))
    begin_or_resume(l);
  else
    l_br(l->b, l->nests[0]);
  for (uint32_t k = 0; k < n; k++)
    segment_nest(l, k);
  if (l->points)
    run_meetings(l);
  else if (diverges)
    run_apart(l);
  hl_at(l, l->end);
}
