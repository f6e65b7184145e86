/* Host loops: the entry that the runtime calls, around the function of one thread.
 *
 * In: a verified module with SYMBOL.thread. Out: `void SYMBOL(launch, first, last)`, which runs the
 * blocks first <= n < last, and the sizes in cg->out->host.
 *
 * Without barriers a block is a nest of loops over its threads, x innermost, around the thread's
 * function. Kernels with barriers are cut into segments first, which segments.c runs. */
#include "codegen/host/entry.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/lanes/lanes.h"

/* --- variables and loops --- */

LLVMValueRef hl_new_variable(const Loops *l, LLVMTypeRef type, const char *name) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->first));
  LLVMValueRef v = LLVMBuildAlloca(l->b, type, name);
  at(l, here);
  return v;
}

Loop hl_loop_begin(const Loops *l, LLVMValueRef from, LLVMValueRef to, const char *name) {
  Loop loop = {new_block(l, name), NULL, to};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l->b);
  l_br(l->b, loop.head);
  at(l, loop.head);
  loop.counter = LLVMBuildPhi(l->b, LLVMTypeOf(from), name);
  LLVMAddIncoming(loop.counter, &from, &before, 1);
  return loop;
}

/* The next round, with that counter, if `more`. The loops over threads are not unrolled: they are
 * long enough, and their bodies too; it would double the time to compile. */
static void loop_end_if(const Loops *l, Loop *loop, LLVMValueRef next, LLVMValueRef more) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), done = new_block(l, "");
  LLVMAddIncoming(loop->counter, &next, &here, 1);
  cg_leave_rolled(l->cg, l_condbr(l->b, more, loop->head, done));
  at(l, done);
}

static void loop_end_by(const Loops *l, Loop *loop, LLVMValueRef by) {
  LLVMValueRef next = l_add_nuw(l->b, loop->counter, by);
  if (LLVMTypeOf(next) == l->t->i32)
    LLVMSetNSW(next, 1);
  loop_end_if(l, loop, next, l_icmp(l->b, LLVMIntULT, next, loop->to));
}

void hl_loop_end(const Loops *l, Loop *loop) {
  loop_end_by(l, loop, l_int(LLVMTypeOf(loop->counter), 1));
}

/* --- the threads of a block --- */

/* Two loops: over x, and over the rows of threads, of which y and z are found by division where the
 * kernel asks for them. */
static LLVMValueRef rows_begin(Loops *l) {
  l->nest[0] = hl_loop_begin(l, i32(l, 0), l->rows, "row");
  LLVMValueRef row = l->nest[0].counter;
  l->args[HOST_TY] = LLVMBuildFreeze(l->b, l_urem(l->b, row, l->sizes[1]),
                                     "ty"); /* frozen as in place_block */
  l->args[HOST_TZ] = LLVMBuildFreeze(l->b, l_udiv(l->b, row, l->sizes[1]), "tz");
  return l_mul_nuw(l->b, row, l->sizes[0]);
}

void hl_nest_begin(Loops *l, unsigned by) {
  LLVMValueRef first = rows_begin(l);
  l->nest_by = by;
  l->nest[1] = hl_loop_begin(l, i32(l, 0), l->sizes[0], "tx");
  l->args[HOST_TX] = l->nest[1].counter;
  LLVMValueRef number = LLVMBuildNUWAdd(l->b, first, l->nest[1].counter, "t");
  LLVMSetNSW(number, 1);
  l->args[HOST_THREAD] = number;
}

void hl_nest_end(Loops *l) {
  loop_end_by(l, &l->nest[1], i32(l, l->nest_by));
  hl_loop_end(l, &l->nest[0]);
}

/* A row of threads from tx on, by a function of thread_rows.c. */
static void call_row(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                     LLVMValueRef totals, LLVMValueRef tx, LLVMValueRef first, LLVMValueRef count) {
  LLVMValueRef args[HOST_NARGS + SEGMENT_ARGS + 2];
  memcpy(args, l->args, sizeof l->args);
  args[HOST_TX] = tx, args[HOST_THREAD] = first;
  for (unsigned k = 0; k < nmore; k++)
    args[HOST_NARGS + k] = more[k];
  args[HOST_NARGS + nmore] = totals, args[HOST_NARGS + nmore + 1] = count;
  LLVMValueRef call = l_call(l->b, row, args, HOST_NARGS + nmore + 2);
  cg_call_attribute(l->cg, call, l->points ? "noinline" : "alwaysinline");
}

/* Volatile, or LLVM makes copies of all loops, for rows with and without threads that are left
 * over. */
static LLVMValueRef threads_of_row(Loops *l, LLVMValueRef variable) {
  LLVMValueRef now = get(l, variable);
  LLVMSetVolatile(now, 1);
  return now;
}

void hl_rows_nest(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                  LLVMValueRef totals) {
  LLVMValueRef count = hl_new_variable(l, l->t->i32, "count");
  set(l, count, l->sizes[0]);
  LLVMValueRef first = rows_begin(l);
  call_row(l, row, more, nmore, totals, i32(l, 0), first, threads_of_row(l, count));
  hl_loop_end(l, &l->nest[0]);
}

/* --- rows --- */

/* How much the arguments of a thread or segment grow from one thread to the next. */
static const int lane_steps[HOST_NARGS + SEGMENT_ARGS] = {[HOST_TX] = 1, [HOST_THREAD] = 1};

/* Rows begin at 0 and go by whole vectors; what the runtime finds ready (points) begins
 * anywhere. */
LLVMValueRef hl_make_row(Loops *l, LLVMValueRef thread, HostRow how) {
  how.width = l->row_width;
  const unsigned char zeros[HOST_NARGS + SEGMENT_ARGS] = {
      [HOST_TX] = how.width ? (unsigned char)__builtin_ctz(how.width) : 0};
  LanesHow rules = {
      .steps = lane_steps, .zeros = l->points ? NULL : zeros, .width = how.width, .alone = true};
  Lanes *lanes = how.width ? cg_lanes_analyse_doubled(l->cg, thread, &rules) : NULL;
  LLVMValueRef wide = lanes ? cg_lanes_write(lanes) : NULL, masked = NULL;
  if (!wide)
    return NULL;
  how.one_result = cg_lanes_one_result(lanes);
  rules.alone = false;
  if (cg_lanes_agree(lanes) && !how.votes && !how.next &&
      (lanes = cg_lanes_analyse(l->cg, thread, &rules)))
    masked = cg_lanes_write(lanes);
  return cg_host_row(l->cg, thread, wide, masked, &how);
}

/* --- blocks --- */

/* Shared memory begins as bytes of 255, nan and -1: what is read without having been written shows,
 * and always shows alike. */
static void fill_shared(Loops *l) {
  Cg *cg = l->cg;
  if (!cg->static_shared && !cg->uses_dynamic_shared)
    return;
  LLVMValueRef shared = launch_field(l, l->t->ptr, offsetof(RtHostLaunch, shared)),
               bytes = i64(l, cg->static_shared);
  if (cg->uses_dynamic_shared) {
    LLVMValueRef dynamic = launch_field(l, l->t->i32, offsetof(RtHostLaunch, dynamic_shared));
    bytes = l_add(l->b, bytes, l_zext(l->b, dynamic, l->t->i64));
  }
  LLVMBuildMemSet(l->b, shared, l_int(l->t->i8, 255), bytes, HOST_SHARED_ALIGN);
}

static LLVMValueRef launch_size(const Loops *l, SpecialReg r) {
  return cg_host_size(l->cg, l->launch, r);
}

static void place_block(Loops *l, LLVMValueRef number) {
  LLVMValueRef gx = launch_size(l, SREG_NCTAID_X);
  LLVMValueRef gy = launch_size(l, SREG_NCTAID_Y);
  gx = l_zext(l->b, gx, l->t->i64);
  gy = l_zext(l->b, gy, l->t->i64);
  LLVMValueRef rows = l_udiv(l->b, number, gx);
  LLVMValueRef axes[] = {l_urem(l->b, number, gx), l_urem(l->b, rows, gy), l_udiv(l->b, rows, gy)};
  static const char *const names[] = {"bx", "by", "bz"};
  for (int k = 0; k < 3;
       k++) /* frozen: LLVM would divide again for every thread, to make an address of it */
    l->args[HOST_BX + k] = LLVMBuildFreeze(l->b, l_trunc(l->b, axes[k], l->t->i32), names[k]);
  l->args[HOST_BLOCK] = number;
  l->args[HOST_LAUNCH] = l->launch;
}

static void find_sizes(Loops *l) {
  for (unsigned k = 0; k < 3; k++)
    l->sizes[k] = launch_size(l, ir_register_at(SREG_NTID, k));
  l->rows = LLVMBuildNUWMul(l->b, l->sizes[1], l->sizes[2], "rows");
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
  find_sizes(l);
}

/* How many blocks from this one on are neighbours along x, up to MAX_GROUP; i64. */
static LLVMValueRef size_of_group(Loops *l, LLVMValueRef number) {
  enum { MAX_GROUP = 1024 };
  LLVMValueRef gx = launch_size(l, SREG_NCTAID_X);
  LLVMValueRef left = l_sub(l->b, gx, l->args[HOST_BX]);
  LLVMValueRef sizes[] = {l_zext(l->b, left, l->t->i64),
                          l_sub(l->b, LLVMGetParam(l->entry, 2), number), i64(l, MAX_GROUP)};
  for (int k = 1; k < 3; k++)
    sizes[0] = LLVMBuildSelect(l->b, l_icmp(l->b, LLVMIntULT, sizes[0], sizes[k]), sizes[0],
                               sizes[k], "group");
  return sizes[0];
}

/* So many threads of a row from tx on, the first of them with that number, by `row` or, without it,
 * one by one. */
static void run_threads(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef tx,
                        LLVMValueRef first, LLVMValueRef count) {
  if (row) {
    call_row(l, row, NULL, 0, LLVMConstNull(l->t->ptr), tx, first, count);
    return;
  }
  Loop x = hl_loop_begin(l, i32(l, 0), count, "x");
  l->args[HOST_TX] = LLVMBuildNUWAdd(l->b, tx, x.counter, "tx");
  l->args[HOST_THREAD] = LLVMBuildNUWAdd(l->b, first, x.counter, "t");
  l_call(l->b, thread, l->args, HOST_NARGS);
  hl_loop_end(l, &x);
}

/* Such blocks row by row: so rows of an array are read to their end. */
static void run_group(Loops *l, LLVMValueRef row, LLVMValueRef group) {
  LLVMValueRef bx = l->args[HOST_BX], number = l->args[HOST_BLOCK], threads = l->sizes[0];
  LLVMValueRef count = hl_new_variable(l, l->t->i32, "count");
  if (l->line)
    threads = l_mul_nuw(l->b, threads, l_trunc(l->b, group, l->t->i32));
  set(l, count, threads);
  LLVMValueRef first = rows_begin(l);
  Loop blocks = {0};
  if (!l->line) {
    blocks = hl_loop_begin(l, i64(l, 0), group, "along");
    l->args[HOST_BLOCK] = l_add_nuw(l->b, number, blocks.counter);
    LLVMValueRef by = l_trunc(l->b, blocks.counter, l->t->i32);
    l->args[HOST_BX] = l_add_nuw(l->b, bx, by);
    LLVMSetNSW(l->args[HOST_BX], 1);
  }
  call_row(l, row, NULL, 0, LLVMConstNull(l->t->ptr), i32(l, 0), first, threads_of_row(l, count));
  if (!l->line)
    hl_loop_end(l, &blocks);
  hl_loop_end(l, &l->nest[0]);
}

/* A turn of all threads of the group. */
static void run_turn(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef group) {
  LLVMValueRef threads = l_mul_nuw(l->b, l->sizes[0], l_trunc(l->b, group, l->t->i32));
  LLVMValueRef first = rows_begin(l);
  run_threads(l, row, thread, i32(l, 0), first, threads);
  hl_loop_end(l, &l->nest[0]);
}

/* The turns of a loop by the grid's stride, each of the whole group. */
static void run_turns(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef group) {
  LLVMValueRef gx = launch_size(l, SREG_NCTAID_X), wide[] = {gx, l->args[HOST_BX], l->sizes[0]},
               bound = cg_host_compute(l->cg, thread, l->bound, l->launch);
  for (int k = 0; k < 3; k++)
    wide[k] = l_zext(l->b, wide[k], l->t->i64);
  LLVMValueRef stride = LLVMBuildNUWMul(l->b, wide[0], wide[2], "stride"),
               begin = l_mul_nuw(l->b, wide[1], wide[2]);
  Loop turns = hl_loop_begin(l, i64(l, 0), bound, "turn");
  l->args[HOST_BLOCK] = turns.counter;
  run_turn(l, row, thread, group);
  LLVMValueRef next = l_add_nuw(l->b, turns.counter, stride), place = l_add_nuw(l->b, begin, next);
  loop_end_if(l, &turns, next, l_icmp(l->b, LLVMIntSLT, place, turns.to));
}

static void run_groups(Loops *l, LLVMValueRef row, LLVMValueRef thread) {
  Loop groups = hl_loop_begin(l, LLVMGetParam(l->entry, 1), LLVMGetParam(l->entry, 2), "block");
  place_block(l, groups.counter);
  LLVMValueRef group = size_of_group(l, groups.counter);
  if (l->bound)
    run_turns(l, row, thread, group);
  else
    run_group(l, row, group);
  loop_end_by(l, &groups, group);
  l_ret_void(l->b);
}

/* The block, as a function: `void SYMBOL.block(launch, block, bx, by, bz)`. */
static LLVMValueRef make_block(const Loops *outer) {
  Loops l = *outer;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
  LLVMTypeRef types[HOST_NARGS];
  cg_host_arg_types(l.cg, types);
  l.rare = true, l.width = l.row_width = 0;
  l.entry = LLVMAddFunction(l.cg->module, arena_printf(&l.cg->cx->arena, "%s.block", l.cg->symbol),
                            LLVMFunctionType(l.t->none, types, HOST_TX, 0));
  LLVMSetLinkage(l.entry, LLVMInternalLinkage);
  cg_host_make_small(l.cg, l.entry);
  for (uint32_t k = 0; k < l.fission.nsegments; k++)
    cg_host_make_small(l.cg, l.fission.segments[k].fn);
  for (unsigned k = 0; k < HOST_TX; k++)
    l.args[k] = LLVMGetParam(l.entry, k);
  l.launch = l.args[HOST_LAUNCH];
  l.first = new_block(&l, "begin");
  at(&l, l.first);
  find_sizes(&l);
  hl_find_frame(&l);
  hl_run_segments(&l);
  l_ret_void(l.b);
  at(outer, here);
  return l.entry;
}

/* Volatile, or LLVM would ask it outside of the loop over blocks, and make a copy of that. */
static void run_whole_or_not(Loops *l) {
  LLVMBasicBlockRef whole = new_block(l, "whole"), other = new_block(l, "other"),
                    done = new_block(l, "");
  LLVMValueRef odd = LLVMBuildAnd(l->b, l->sizes[0], i32(l, l->whole.width - 1), "odd");
  LLVMValueRef block = make_block(l);
  l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, odd, i32(l, 0)), whole, other);
  at(l, other);
  l_call(l->b, block, l->args, HOST_TX);
  l_br(l->b, done);
  at(l, whole);
  hl_run_whole(l);
  l_br(l->b, done);
  at(l, done);
}

/* Nothing but its parameters ties the blocks of the kernel together. */
static bool are_blocks_alone(const Loops *l) {
  return !l->cg->static_shared && !l->cg->uses_dynamic_shared && !l->fission.nsegments;
}

static void run_blocks(Loops *l, LLVMValueRef thread) {
  make_entry(l);
  if (are_blocks_alone(l) && (l->row || l->bound)) {
    run_groups(l, l->row, thread);
    return;
  }
  if (l->fission.nsegments)
    hl_find_frame(l);
  Loop blocks = hl_loop_begin(l, LLVMGetParam(l->entry, 1), LLVMGetParam(l->entry, 2), "block");
  place_block(l, blocks.counter);
  if (!hl_can_leave(&l->fission))
    fill_shared(l);
  if (l->whole.fission.nsegments) {
    run_whole_or_not(l);
  } else if (l->fission.nsegments) {
    hl_run_segments(l);
  } else if (l->row) {
    hl_rows_nest(l, l->row, NULL, 0, LLVMConstNull(l->t->ptr));
  } else {
    hl_nest_begin(l, 1);
    l_call(l->b, thread, l->args, HOST_NARGS);
    hl_nest_end(l);
  }
  hl_loop_end(l, &blocks);
  l_ret_void(l->b);
}

/* --- the passes --- */

static LLVMValueRef thread_of(const Loops *l) {
  return ((const HostState *)l->cg->target_state)->thread;
}

static bool has_barriers(const Loops *l) { return l->markers[0] || l->markers[1]; }

Loops *hl_loops(Cg *cg) {
  HostState *s = cg->target_state;
  if (s->loops || !s->thread)
    return s->loops;
  Loops *l = s->loops = CX_NEW(cg->cx, Loops);
  *l = (Loops){.cg = cg,
               .b = cg->builder,
               .t = &cg->t,
               .markers = {cg_host_marker(cg, CG_BARRIER_NAME), cg_host_marker(cg, CG_MEET_NAME)}};
  LLVMSetCurrentDebugLocation2(l->b, NULL);
  l->width = cg->options.opt >= 2 && !cg->debug ? cg_lanes_width(cg) : 0;
  return l;
}

void hl_pass_math(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && l->width)
    cg_host_math(cg);
}

void hl_pass_gather(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && has_barriers(l))
    cg_host_gather(cg, l->markers, thread_of(l));
}

void hl_pass_regular(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && l->width) {
    LLVMSetLinkage(thread_of(l), LLVMExternalLinkage); /* nobody calls it yet */
    cg_lanes_prepare(cg);
    LLVMSetLinkage(thread_of(l), LLVMInternalLinkage);
  }
  if (l && !has_barriers(l))
    cg_attribute(cg, thread_of(l), L_FUNCTION, cg_host_inlining(thread_of(l), 1), 0);
}

void hl_pass_fission(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !has_barriers(l))
    return;
  LanesHow how = {.steps = lane_steps, .width = l->width};
  uint32_t taken = l->markers[1] ? RT_SLOT_BYTES : sizeof(uint32_t) /* RT_SLOT_NEXT alone */;
  l->fission = cg_fission(
      cg, thread_of(l),
      &(FissionHow){.thread_arg = HOST_THREAD,
                    .first_offset = taken,
                    .lanes = l->width ? cg_lanes_analyse(cg, thread_of(l), &how) : NULL});
}

void hl_pass_segments(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !has_barriers(l))
    return;
  if (l->width && !l->whole.fission.nsegments)
    cg_lanes_regulate(cg);
  LLVMDeleteFunction(thread_of(l));
  for (int k = 0; k < 2; k++)
    if (l->markers[k])
      LLVMDeleteFunction(l->markers[k]);
}

void hl_pass_join(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !are_blocks_alone(l) || !l->width)
    return;
  l->line = cg_host_make_line(cg, thread_of(l));
  l->bound = l->line ? cg_host_cut_stride(cg, thread_of(l)) : NULL;
}

void hl_pass_lanes(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l)
    return;
  l->row_width = l->width; /* of segments too, whose rows are made with the loops over them */
  if (!l->fission.nsegments)
    l->row = hl_make_row(l, thread_of(l), (HostRow){0});
}

void hl_pass_wraps(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && l->width && !l->row && !l->fission.nsegments)
    cg_host_split_wraps(cg, thread_of(l));
}

void hl_pass_entry(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l)
    return;
  run_blocks(l, thread_of(l));
  cg_lanes_forget_doubles(cg);
  RtHostCode *host = &cg->out->host;
  uint32_t frame = l->fission.frame_bytes, whole = l->whole.fission.frame_bytes;
  cg->kernel = l->entry;
  host->static_shared = cg->static_shared;
  host->constant = cg->constant_bytes;
  host->frame_bytes = frame > whole ? frame : whole;
  host->meets_grid = hl_has_meeting(&l->fission, RT_MEET_GRID);
  host->yields = hl_has_meeting(&l->fission, RT_MEET_YIELD);
  host->strides = l->bound != NULL;
  cg_verify_module(cg);
}
