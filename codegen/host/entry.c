/* Host loops: the entry that the runtime calls, with loops around the function of one thread; and
 * the passes that lead to it.
 *
 * In: a verified module with SYMBOL.thread. Out: `void SYMBOL(launch, first, last)`, which runs the
 * blocks first <= n < last, and the sizes in cg->out->host.
 *
 * Work-item loops: without barriers a block is a loop nest over its threads, x innermost, and the
 * loop over x is vectorised by hand (thread_rows.c). Blocks without shared memory that are
 * neighbours along x run together, row by row, or as one long row (joined_blocks.c). Kernels with
 * barriers are cut into segments first (fission/), each with a nest of its own; segments.c and
 * whole_vectors.c connect these. LLVM's vectoriser has no part in this: it cannot vectorise loops
 * with checks. */
#include "codegen/host/entry.h"

#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/lanes/lanes.h"
#include "codegen/llvm/bit_loops.h"
#include "codegen/llvm/graph.h"

/* --- variables and loops --- */

LLVMValueRef hl_new_variable(const Loops *l, LLVMTypeRef type, const char *name) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  assert(LLVMGetFirstInstruction(l->first));
  LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->first));
  LLVMValueRef v = LLVMBuildAlloca(l->b, type, name);
  hl_at(l, here);
  return v;
}

Loop hl_loop_begin(const Loops *l, LLVMValueRef from, LLVMValueRef to, const char *name) {
  Loop loop = {hl_new_block(l, name), NULL, to};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l->b);
  l_br(l->b, loop.head);
  hl_at(l, loop.head);
  loop.counter = LLVMBuildPhi(l->b, LLVMTypeOf(from), name);
  LLVMAddIncoming(loop.counter, &from, &before, 1);
  return loop;
}

/* The back edge, taken if `more`, with the next value of the counter. Loops over threads are not
 * unrolled: their bodies are long enough, and it would double compile time. */
static void loop_end_if(const Loops *l, Loop *loop, LLVMValueRef next, LLVMValueRef more) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), done = hl_new_block(l, "");
  LLVMAddIncoming(loop->counter, &next, &here, 1);
  cg_leave_rolled(l->cg, l_condbr(l->b, more, loop->head, done));
  hl_at(l, done);
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

/* The outer of two loops, over the rows of threads; y and z are found by division, if the kernel
 * uses them. The inner one is over x. Returns the number of the row's first thread. */
static LLVMValueRef rows_begin(Loops *l) {
  l->nest[0] = hl_loop_begin(l, hl_i32(l, 0), l->rows, "row");
  LLVMValueRef row = l->nest[0].counter;
  /* frozen as in place_block */
  l->args[HOST_TY] = LLVMBuildFreeze(l->b, l_urem(l->b, row, l->sizes[1]), "ty");
  l->args[HOST_TZ] = LLVMBuildFreeze(l->b, l_udiv(l->b, row, l->sizes[1]), "tz");
  return l_mul_nuw(l->b, row, l->sizes[0]);
}

void hl_nest_begin(Loops *l, unsigned by) {
  assert(by > 0);
  LLVMValueRef first = rows_begin(l);
  l->nest_by = by;
  l->nest[1] = hl_loop_begin(l, hl_i32(l, 0), l->sizes[0], "tx");
  l->args[HOST_TX] = l->nest[1].counter;
  LLVMValueRef number = LLVMBuildNUWAdd(l->b, first, l->nest[1].counter, "t");
  LLVMSetNSW(number, 1);
  l->args[HOST_THREAD] = number;
}

void hl_nest_end(Loops *l) {
  loop_end_by(l, &l->nest[1], hl_i32(l, l->nest_by));
  hl_loop_end(l, &l->nest[0]);
}

/* Calls a function of thread_rows.c for `count` threads from tx on. */
static void call_row(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                     LLVMValueRef totals, LLVMValueRef tx, LLVMValueRef first, LLVMValueRef count) {
  LLVMValueRef args[HOST_NARGS + SEGMENT_ARGS + 2];
  assert(row && nmore <= SEGMENT_ARGS);
  memcpy(args, l->args, sizeof l->args);
  args[HOST_TX] = tx, args[HOST_THREAD] = first;
  for (unsigned k = 0; k < nmore; k++)
    args[HOST_NARGS + k] = more[k];
  args[HOST_NARGS + nmore] = totals, args[HOST_NARGS + nmore + 1] = count;
  LLVMValueRef call = l_call(l->b, row, args, HOST_NARGS + nmore + 2);
  cg_call_attribute(l->cg, call, l->points ? "noinline" : "alwaysinline");
}

/* Volatile, or LLVM unswitches all loops, for rows with and without an epilogue. With inner threads
 * rows tell that themselves, and most of what they ask is the same for all of a block. */
static LLVMValueRef threads_of_row(Loops *l, LLVMValueRef variable) {
  LLVMValueRef now = hl_get(l, variable);
  LLVMSetVolatile(now, !l->inner);
  return now;
}

void hl_rows_nest(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                  LLVMValueRef totals) {
  LLVMValueRef count = hl_new_variable(l, l->t->i32, "count");
  hl_set(l, count, l->sizes[0]);
  LLVMValueRef first = rows_begin(l);
  call_row(l, row, more, nmore, totals, hl_i32(l, 0), first, threads_of_row(l, count));
  hl_loop_end(l, &l->nest[0]);
}

/* --- rows --- */

/* By how much the arguments of a thread or segment grow from one thread to the next. */
static const int lane_steps[HOST_NARGS + SEGMENT_ARGS] = {[HOST_TX] = 1, [HOST_THREAD] = 1};

/* Moves the allocas of a function to the end of another block. */
static void move_allocas(Loops *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  hl_at(l, to);
  for (LLVMValueRef i = LLVMGetFirstInstruction(from), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!LLVMIsAAllocaInst(i))
      continue;
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(l->b, i);
  }
}

LLVMBasicBlockRef hl_rest_begin(Loops *l, LLVMValueRef thread) {
  LLVMBasicBlockRef old = LLVMGetEntryBasicBlock(thread),
                    first = LLVMInsertBasicBlockInContext(l->cg->context, old, "row");
  move_allocas(l, old, first);
  return old;
}

void hl_rest_end(Loops *l, LLVMValueRef thread, LLVMValueRef runs, LLVMBasicBlockRef old) {
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(thread));
  LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(thread),
                    end = LLVMAppendBasicBlockInContext(l->cg->context, thread, "beyond");
  LLVMValueRef result = NULL;
  l_condbr(l->b, runs, old, end);
  hl_at(l, end);
  if (type != l->t->none) {
    LLVMValueRef nothing = LLVMConstNull(type);
    result = l_phi(l->b, type);
    LLVMAddIncoming(result, &nothing, &first, 1);
    l_ret(l->b, result);
  } else {
    l_ret_void(l->b);
  }
  for (LLVMBasicBlockRef b = old; b && b != end; b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
    if (!LLVMIsAReturnInst(last))
      continue;
    LLVMValueRef value = result ? LLVMGetOperand(last, 0) : NULL;
    LLVMInstructionEraseFromParent(last);
    hl_at(l, b);
    l_br(l->b, end);
    if (result)
      LLVMAddIncoming(result, &value, &b, 1);
  }
}

void hl_guard_row(Loops *l, LLVMValueRef thread, unsigned columns) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), old = hl_rest_begin(l, thread);
  LLVMValueRef launch = LLVMGetParam(thread, HOST_LAUNCH), width;
  if (columns)
    width = hl_i32(l, columns);
  else if (l->joined)
    width = cg_host_launch_field(l->cg, launch, l->t->i32, offsetof(RtHostLaunch, row_threads));
  else
    width = cg_host_size(l->cg, launch, SREG_NTID_X);
  hl_rest_end(l, thread, l_icmp(l->b, LLVMIntULT, LLVMGetParam(thread, HOST_TX), width), old);
  if (here)
    hl_at(l, here);
}

/* `by` vectors at once; at the edges of the grid and at the end of a row, by `row`. */
static LLVMValueRef make_wide_row(Loops *l, LLVMValueRef thread, LLVMValueRef row, HostRow how,
                                  LanesHow rules, unsigned by) {
  how.width = rules.width *= by;
  rules.alone = true;
  Lanes *lanes = cg_lanes_analyse(l->cg, thread, &rules);
  LLVMValueRef wide = lanes ? cg_lanes_write(lanes) : NULL;
  return wide ? cg_host_wide_row(l->cg, thread, wide, row, &how) : row;
}

/* Lanes of the version for inner threads. */
static void write_inner(Loops *l, LLVMValueRef thread, HostRow *how, LanesHow rules) {
  if (!l->inner || thread != ((const HostState *)l->cg->target_state)->thread)
    return;
  rules.alone = true;
  how->bounded = l->inner->bounded;
  if (how->bounded)
    rules.zeros = NULL;
  Lanes *lanes = cg_lanes_analyse(l->cg, l->inner->thread, &rules);
  how->inner = lanes && !cg_lanes_agree(lanes) ? cg_lanes_write(lanes) : NULL;
  if (!how->inner)
    return;
  how->inner_row = l->inner;
  rules.alone = false;
  lanes = cg_lanes_analyse(l->cg, l->inner->ends, &rules);
  how->ends = lanes ? cg_lanes_write(lanes) : NULL;
}

/* Rows begin at thread 0 and advance by whole vectors, so tx is aligned; the runs of threads that
 * the runtime finds ready (points) begin anywhere. */
LLVMValueRef hl_make_row(Loops *l, LLVMValueRef thread, HostRow how) {
  how.width = l->row_width;
  assert((how.width & (how.width - 1)) == 0);
  const unsigned char zeros[HOST_NARGS + SEGMENT_ARGS] = {
      [HOST_TX] = how.width ? (unsigned char)__builtin_ctz(how.width) : 0};
  LanesHow rules = {
      .steps = lane_steps, .zeros = l->points ? NULL : zeros, .width = how.width, .alone = true};
  Lanes *lanes = how.width ? cg_lanes_analyse_doubled(l->cg, thread, &rules) : NULL;
  LLVMValueRef wide = lanes ? cg_lanes_write(lanes) : NULL, masked = NULL;
  if (!wide)
    return NULL;
  how.one_result = cg_lanes_one_result(lanes);
  how.guarded = l->checks && !how.segment;
  unsigned by = l->checks || how.segment ? 1 : cg_lanes_at_once(lanes);
  rules.alone = false;
  if (how.guarded)
    hl_guard_row(l, thread, 0);
  if ((how.guarded || cg_lanes_agree(lanes)) && !how.votes && !how.next &&
      (lanes = cg_lanes_analyse(l->cg, thread, &rules)))
    masked = cg_lanes_write(lanes);
  write_inner(l, thread, &how, rules);
  LLVMValueRef row = cg_host_row(l->cg, thread, wide, masked, &how);
  return by > 1 && !how.inner ? make_wide_row(l, thread, row, how, rules, by) : row;
}

/* --- blocks --- */

/* Shared memory is filled with bytes of 255 (nan, and -1), so that a read of what was never written
 * shows, and is deterministic. */
static void fill_shared(Loops *l) {
  Cg *cg = l->cg;
  if (!cg->static_shared && !cg->uses_dynamic_shared)
    return;
  LLVMValueRef shared = hl_launch_field(l, l->t->ptr, offsetof(RtHostLaunch, shared)),
               bytes = hl_i64(l, cg->static_shared);
  if (cg->uses_dynamic_shared) {
    LLVMValueRef dynamic = hl_launch_field(l, l->t->i32, offsetof(RtHostLaunch, dynamic_shared));
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
  /* frozen: else LLVM would divide again for every thread, to compute an address from it */
  for (int k = 0; k < 3; k++)
    l->args[HOST_BX + k] = LLVMBuildFreeze(l->b, l_trunc(l->b, axes[k], l->t->i32), names[k]);
  l->args[HOST_BLOCK] = number;
  l->args[HOST_LAUNCH] = l->launch;
}

void hl_find_sizes(Loops *l) {
  for (unsigned k = 0; k < 3; k++)
    l->sizes[k] = launch_size(l, ir_register_at(SREG_NTID, k));
  l->rows = LLVMBuildNUWMul(l->b, l->sizes[1], l->sizes[2], "rows");
}

static void make_entry(Loops *l) {
  Cg *cg = l->cg;
  LLVMTypeRef types[] = {l->t->ptr, l->t->i64, l->t->i64};
  assert(!l->entry);
  l->entry = LLVMAddFunction(cg->module, cg->symbol, LLVMFunctionType(l->t->none, types, 3, 0));
  cg_attribute(cg, l->entry, 1, "nonnull", 0);
  cg_attribute(cg, l->entry, 1, "align", 8);
  cg_attribute(cg, l->entry, 1, "dereferenceable", sizeof(RtHostLaunch));
  l->launch = LLVMGetParam(l->entry, 0);
  l->first = hl_new_block(l, "begin");
  hl_at(l, l->first);
  hl_find_sizes(l);
}

/* The number of blocks from this one on that are neighbours along x, at most MAX_GROUP; i64. */
static LLVMValueRef size_of_group(Loops *l, LLVMValueRef number) {
  enum { MAX_GROUP = 1024 };
  LLVMValueRef gx = launch_size(l, SREG_NCTAID_X);
  LLVMValueRef left = l_sub(l->b, gx, l->args[HOST_BX]);
  LLVMValueRef sizes[] = {l_zext(l->b, left, l->t->i64),
                          l_sub(l->b, LLVMGetParam(l->entry, 2), number), hl_i64(l, MAX_GROUP)};
  for (int k = 1; k < 3; k++)
    sizes[0] = LLVMBuildSelect(l->b, l_icmp(l->b, LLVMIntULT, sizes[0], sizes[k]), sizes[0],
                               sizes[k], "group");
  return sizes[0];
}

/* Runs `count` threads of a row from tx on, by `row` if there is one, else one by one. first: the
 * number in the block of the first of them. */
static void run_threads(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef tx,
                        LLVMValueRef first, LLVMValueRef count) {
  if (row) {
    call_row(l, row, NULL, 0, LLVMConstNull(l->t->ptr), tx, first, count);
    return;
  }
  Loop x = hl_loop_begin(l, hl_i32(l, 0), count, "x");
  l->args[HOST_TX] = LLVMBuildNUWAdd(l->b, tx, x.counter, "tx");
  l->args[HOST_THREAD] = LLVMBuildNUWAdd(l->b, first, x.counter, "t");
  l_call(l->b, thread, l->args, HOST_NARGS);
  hl_loop_end(l, &x);
}

/* Checked code: what follows is done by block `number` + `by`. */
static void take_turn(Loops *l, LLVMValueRef number, LLVMValueRef by) {
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, "rt_check_turn"),
               args[] = {l->launch, l_add_nuw(l->b, number, by)};
  LLVMTypeRef types[] = {l->t->ptr, l->t->i64};
  if (!fn)
    fn = LLVMAddFunction(l->cg->module, "rt_check_turn", LLVMFunctionType(l->t->none, types, 2, 0));
  l_call(l->b, fn, args, 2);
}

/* Checked code: a row of joined blocks follows, from thread `first` of each on. */
static void begin_row(Loops *l, LLVMValueRef first) {
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, "rt_check_along"),
               args[] = {l->launch, first};
  LLVMTypeRef types[] = {l->t->ptr, l->t->i32};
  if (!fn)
    fn = LLVMAddFunction(l->cg->module, "rt_check_along",
                         LLVMFunctionType(l->t->none, types, 2, 0));
  l_call(l->b, fn, args, 2);
}

static void go_along(Loops *l, LLVMValueRef bx, LLVMValueRef by) {
  l->args[HOST_BX] = l_add_nuw(l->b, bx, l_trunc(l->b, by, l->t->i32));
  LLVMSetNSW(l->args[HOST_BX], 1);
}

/* Runs a group of neighbouring blocks row by row, so that rows of an array are read to their
 * end. */
static void run_group(Loops *l, LLVMValueRef row, LLVMValueRef group) {
  LLVMValueRef bx = l->args[HOST_BX], number = l->args[HOST_BLOCK], threads = l->sizes[0];
  LLVMValueRef count = hl_new_variable(l, l->t->i32, "count");
  if (l->joined)
    threads = l_mul_nuw(l->b, threads, l_trunc(l->b, group, l->t->i32));
  hl_set(l, count, threads);
  LLVMValueRef first = rows_begin(l);
  Loop blocks = {0};
  if (l->joined && l->checks)
    begin_row(l, first);
  if (!l->joined) {
    blocks = hl_loop_begin(l, hl_i64(l, 0), group, "along");
    l->args[HOST_BLOCK] = l_add_nuw(l->b, number, blocks.counter);
    go_along(l, bx, blocks.counter);
    if (l->checks)
      take_turn(l, number, blocks.counter);
  }
  call_row(l, row, NULL, 0, LLVMConstNull(l->t->ptr), hl_i32(l, 0), first,
           threads_of_row(l, count));
  if (!l->joined)
    hl_loop_end(l, &blocks);
  hl_loop_end(l, &l->nest[0]);
}

/* One iteration of a grid-stride loop, for all threads of the group, which begins with block
 * `number`. */
static void run_iteration(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef group,
                          LLVMValueRef number) {
  LLVMValueRef threads = l->sizes[0], bx = l->args[HOST_BX];
  if (l->joined)
    threads = l_mul_nuw(l->b, threads, l_trunc(l->b, group, l->t->i32));
  LLVMValueRef first = rows_begin(l);
  Loop blocks = {0};
  if (l->joined && l->checks)
    begin_row(l, first);
  if (!l->joined) {
    blocks = hl_loop_begin(l, hl_i64(l, 0), group, "along");
    go_along(l, bx, blocks.counter);
    take_turn(l, number, blocks.counter);
  }
  run_threads(l, row, thread, hl_i32(l, 0), first, threads);
  if (!l->joined)
    hl_loop_end(l, &blocks);
  hl_loop_end(l, &l->nest[0]);
  l->args[HOST_BX] = bx;
}

/* The iterations of a grid-stride loop, each for the whole group. */
static void run_iterations(Loops *l, LLVMValueRef row, LLVMValueRef thread, LLVMValueRef group) {
  assert(l->bound && (l->joined || l->checks));
  LLVMValueRef gx = launch_size(l, SREG_NCTAID_X), wide[] = {gx, l->args[HOST_BX], l->sizes[0]},
               bound = cg_host_compute(l->cg, thread, l->bound, l->launch);
  for (int k = 0; k < 3; k++)
    wide[k] = l_zext(l->b, wide[k], l->t->i64);
  LLVMValueRef stride = LLVMBuildNUWMul(l->b, wide[0], wide[2], "stride"),
               begin = l_mul_nuw(l->b, wide[1], wide[2]);
  LLVMValueRef number = l->args[HOST_BLOCK];
  Loop turns = hl_loop_begin(l, hl_i64(l, 0), bound, "turn");
  l->args[HOST_BLOCK] = turns.counter;
  run_iteration(l, row, thread, group, number);
  LLVMValueRef next = l_add_nuw(l->b, turns.counter, stride), place = l_add_nuw(l->b, begin, next);
  loop_end_if(l, &turns, next, l_icmp(l->b, LLVMIntSLT, place, turns.to));
}

static void run_groups(Loops *l, LLVMValueRef row, LLVMValueRef thread) {
  Loop groups = hl_loop_begin(l, LLVMGetParam(l->entry, 1), LLVMGetParam(l->entry, 2), "block");
  place_block(l, groups.counter);
  LLVMValueRef group = size_of_group(l, groups.counter);
  if (l->bound)
    run_iterations(l, row, thread, group);
  else
    run_group(l, row, group);
  loop_end_by(l, &groups, group);
  l_ret_void(l->b);
}

/* A function that runs one block thread by thread: `void SYMBOL.block(launch, block, bx, by,
 * bz)`. */
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
  l.first = hl_new_block(&l, "begin");
  hl_at(&l, l.first);
  hl_find_sizes(&l);
  hl_find_frame(&l);
  hl_run_segments(&l);
  l_ret_void(l.b);
  hl_at(outer, here);
  return l.entry;
}

/* Runs the block as whole vectors of `w` if its width and the arrays allow it, and goes to `done`;
 * the builder is left where it is to run otherwise. */
static void run_if_whole(Loops *l, const Whole *w, LLVMBasicBlockRef done) {
  LLVMBasicBlockRef whole = hl_new_block(l, "whole"), other = hl_new_block(l, "other");
  LLVMValueRef is = l->sizes[0];
  if (!w->columns)
    is = LLVMBuildAnd(l->b, is, hl_i32(l, w->width - 1), "odd");
  LLVMValueRef fits = l_icmp(l->b, LLVMIntEQ, is, hl_i32(l, w->columns)),
               last = w->inputs ? hl_inputs_last(l, w->inputs) : NULL;
  l_condbr(l->b, last ? l_and(l->b, fits, last) : fits, whole, other);
  hl_at(l, whole);
  hl_run_whole(l, w);
  l_br(l->b, done);
  hl_at(l, other);
}

/* A block as whole vectors if its width allows it, else by SYMBOL.block. */
static void run_whole_or_not(Loops *l) {
  LLVMBasicBlockRef done = hl_new_block(l, "");
  LLVMValueRef block = make_block(l);
  run_if_whole(l, &l->whole, done);
  if (l->narrow.fission.nsegments)
    run_if_whole(l, &l->narrow, done);
  l_call(l->b, block, l->args, HOST_TX);
  l_br(l->b, done);
  hl_at(l, done);
}

/* Do blocks share no memory but the arrays among their arguments, and have no barriers? */
static bool are_blocks_alone(const Loops *l) {
  return !l->cg->static_shared && !l->cg->uses_dynamic_shared && !l->fission.nsegments;
}

static bool runs_groups(const Loops *l, LLVMValueRef row) {
  return are_blocks_alone(l) && (row || l->bound);
}

/* All blocks of the entry, and its return. */
static void run_blocks(Loops *l, LLVMValueRef row, LLVMValueRef thread) {
  if (runs_groups(l, row)) {
    run_groups(l, row, thread);
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
  } else if (row) {
    hl_rows_nest(l, row, NULL, 0, LLVMConstNull(l->t->ptr));
  } else {
    hl_nest_begin(l, 1);
    l_call(l->b, thread, l->args, HOST_NARGS);
    hl_nest_end(l);
  }
  hl_loop_end(l, &blocks);
  l_ret_void(l->b);
}

static void write_entry(Loops *l, LLVMValueRef thread) {
  make_entry(l);
  if (l->exact.thread) {
    LLVMBasicBlockRef exact = hl_new_block(l, "exact"), other = hl_new_block(l, "other");
    l_condbr(l->b, hl_are_exact(l), exact, other);
    hl_at(l, exact);
    run_blocks(l, l->exact.row, l->exact.thread);
    hl_at(l, other);
  }
  run_blocks(l, l->row, thread);
}

/* --- the passes --- */

static LLVMValueRef thread_of(const Loops *l) {
  return ((const HostState *)l->cg->target_state)->thread;
}

static bool has_barriers(const Loops *l) { return l->markers[0] || l->markers[1]; }

/* The runtime notes so many threads by one word. Blocks have widths; joined ones are as wide as
 * need be. */
enum { CHECKED_LANES = 16, JOINED_LANES = 32 };

Loops *hl_loops(Cg *cg) {
  HostState *s = cg->target_state;
  if (s->loops || !s->thread)
    return s->loops;
  assert(LLVMCountParams(s->thread) == HOST_NARGS);
  Loops *l = s->loops = CX_NEW(cg->cx, Loops);
  *l = (Loops){.cg = cg,
               .b = cg->builder,
               .t = &cg->t,
               .markers = {cg_host_marker(cg, CG_BARRIER_NAME), cg_host_marker(cg, CG_MEET_NAME)}};
  LLVMSetCurrentDebugLocation2(l->b, NULL);
  l->checks = cg->options.check & RT_CHECK_BLOCKS;
  l->followed = l->checks || cg->meets_apart;
  bool wide = !(cg->options.check & ~RT_CHECK_BLOCKS); /* other checks are branches in each lane */
  l->width = cg->options.opt >= 2 && !cg->debug && wide ? cg_lanes_width(cg) : 0;
  if (l->width && l->checks)
    l->width = CHECKED_LANES;
  return l;
}

void hl_pass_math(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && l->width)
    cg_host_math(cg);
}

void hl_pass_inline_barriers(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && has_barriers(l))
    cg_host_inline_barriers(cg, l->markers, thread_of(l));
}

void hl_pass_regular(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (l && l->width) {
    LLVMSetLinkage(thread_of(l), LLVMExternalLinkage); /* it has no callers yet */
    cg_lanes_prepare(cg);
    LLVMSetLinkage(thread_of(l), LLVMInternalLinkage);
  }
  if (l && !has_barriers(l))
    cg_attribute(cg, thread_of(l), L_FUNCTION, cg_host_inlining(thread_of(l), 1), 0);
}

void hl_pass_bits(Cg *cg) {
  const Loops *l = hl_loops(cg);
  bool found = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); l && l->width && f;
       f = LLVMGetNextFunction(f))
    found |= !LLVMIsDeclaration(f) && cg_count_bits(cg, f);
  if (found)
    cg_lanes_regulate(cg);
}

void hl_pass_fission(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !has_barriers(l))
    return;
  LanesHow how = {.steps = lane_steps, .width = l->width};
  /* without meetings: RT_SLOT_NEXT alone */
  uint32_t taken = l->markers[1] || l->followed ? RT_SLOT_BYTES : sizeof(uint32_t);
  l->fission = cg_fission(
      cg, thread_of(l),
      &(FissionHow){.thread_arg = HOST_THREAD,
                    .first_offset = taken,
                    .lanes = l->width ? cg_lanes_analyse(cg, thread_of(l), &how) : NULL});
  assert(l->fission.nsegments && l->fission.frame_bytes >= taken);
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

/* The block's number is computed from its place: HOST_BLOCK may become something else. */
static void name_block(const Loops *l, LLVMValueRef thread) {
  static const SpecialReg sizes[] = {SREG_NCTAID_X, SREG_NCTAID_Y};
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(thread));
  while (LLVMIsAAllocaInst(i))
    i = LLVMGetNextInstruction(i);
  LLVMPositionBuilderBefore(l->b, i);
  LLVMValueRef launch = LLVMGetParam(thread, HOST_LAUNCH), number = NULL;
  for (int k = 2; k >= 0; k--) {
    LLVMValueRef at = l_zext(l->b, LLVMGetParam(thread, HOST_BX + (unsigned)k), l->t->i64);
    if (number) {
      LLVMValueRef n = l_zext(l->b, cg_host_size(l->cg, launch, sizes[k]), l->t->i64);
      at = l_add_nuw(l->b, at, l_mul_nuw(l->b, n, number));
    }
    number = at;
  }
  LLVMReplaceAllUsesWith(LLVMGetParam(thread, HOST_BLOCK), number);
  if (here)
    hl_at(l, here);
}

void hl_pass_join(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l || !are_blocks_alone(l) || !l->width)
    return;
  l->joined = cg_host_join_blocks(cg, thread_of(l));
  l->parts = l->joined && cg_host_has_parts(cg, thread_of(l));
  if (l->checks && !l->joined)
    name_block(l, thread_of(l));
  l->bound = l->joined || l->checks ? cg_host_cut_stride(cg, thread_of(l)) : NULL;
}

void hl_pass_lanes(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l)
    return;
  if (l->width && !l->fission.nsegments && (cg->options.check & RT_CHECK_RACE))
    cg_host_ask_signs_early(cg, thread_of(l));
  l->row_width = l->width;      /* for segments too, whose rows are written by hl_pass_entry */
  if (l->joined && l->checks) { /* their vectors go across the boundaries of blocks */
    l->row_width = JOINED_LANES;
    l->row = hl_make_row(l, thread_of(l), (HostRow){0});
    l->row_width = l->width;
  }
  if (!l->fission.nsegments && !l->row)
    l->row = hl_make_row(l, thread_of(l), (HostRow){0});
  if (l->exact.thread)
    l->exact.row = hl_make_row(l, l->exact.thread, (HostRow){0});
  hl_drop_exact(l);
}

/* Segments of blocks of whole vectors that have no lanes. */
static void change_lone_segments(const Loops *l, void (*pass)(Cg *cg, LLVMValueRef thread)) {
  const Whole *wholes[] = {&l->whole, &l->narrow};
  for (int w = 0; w < 2; w++)
    for (uint32_t k = 0; k < wholes[w]->fission.nsegments; k++)
      if (wholes[w]->fission.segments[k].fn)
        pass(l->cg, wholes[w]->fission.segments[k].fn);
}

/* Runs `pass` on each function that runs thread by thread, and is in the form that lanes assume. */
static void change_lone_threads(const Loops *l, void (*pass)(Cg *cg, LLVMValueRef thread)) {
  if (!l || !l->width)
    return;
  change_lone_segments(l, pass);
  if (l->fission.nsegments)
    return;
  if (!l->row)
    pass(l->cg, thread_of(l));
  if (l->exact.thread && !l->exact.row)
    pass(l->cg, l->exact.thread);
}

/* Only constants are folded: the form that lanes assume stays. */
static void fold_branches(Cg *cg, LLVMValueRef thread) {
  cg_run_function_passes(cg, thread, "sccp");
}

void hl_pass_ranges(Cg *cg) {
  const Loops *l = hl_loops(cg);
  if (!l || l->checks)
    return;
  bool only_lone = !l->row && !l->exact.row && !l->fission.nsegments;
  if (only_lone && LLVMGetNamedFunction(cg->module, CG_ALL_NAME)) {
    cg_lanes_forget_doubles(cg,
                            NULL); /* the versions for lanes, which stand in front of the loops */
    change_lone_threads(l, fold_branches);
  }
  change_lone_threads(l, cg_host_version_ranges);
}

void hl_pass_wraps(Cg *cg) { change_lone_threads(hl_loops(cg), cg_host_split_wraps); }

/* Does it call what looks at a block's place? */
static bool has_places(const Cg *cg) {
  static const char *const names[] = {
      "rt_host_map_shared",  "rt_host_mbarrier",        "rt_host_copy",      "rt_host_copy_groups",
      "rt_host_tensor_load", "rt_host_tensor_store",    "rt_host_bulk_load", "rt_host_bulk_store",
      "rt_host_store_async", "rt_host_barriers_fenced", "rt_host_wrote",     "rt_host_reads"};
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
    if (LLVMGetNamedFunction(cg->module, names[k]))
      return true;
  return false;
}

void hl_pass_entry(Cg *cg) {
  Loops *l = hl_loops(cg);
  if (!l)
    return;
  write_entry(l, thread_of(l));
  cg_lanes_forget_doubles(cg, NULL);
  RtHostCode *host = &cg->out->host;
  uint32_t frame = l->fission.frame_bytes;
  const Whole *wholes[] = {&l->whole, &l->narrow};
  for (int k = 0; k < 2; k++)
    if (wholes[k]->fission.frame_bytes > frame)
      frame = wholes[k]->fission.frame_bytes;
  cg->kernel = l->entry;
  host->static_shared = cg->static_shared;
  host->constant = cg->constant_bytes;
  host->frame_bytes = frame;
  host->meets_grid = hl_has_meeting(&l->fission, RT_MEET_GRID);
  host->yields = hl_has_meeting(&l->fission, RT_MEET_YIELD);
  host->waits = hl_has_meeting(&l->fission, RT_MEET_WAIT) || has_places(cg);
  host->strides = l->bound != NULL;
  host->parts = l->parts;
  host->checks = (uint32_t)cg->options.check;
  host->turns = !l->checks || !runs_groups(l, l->row) ? RT_TURNS_NONE
                : l->joined                           ? RT_TURNS_JOINED
                                                      : RT_TURNS_TAKEN;
  if (!host->meets_grid && !host->yields && !host->waits)
    cg_host_describe_sums(cg);
  cg_verify_module(cg);
}

/* In a longer loop no load waits long for stores, and values need the registers; so they do in code
 * for single threads. */
static bool is_short(LLVMValueRef thread, unsigned most) {
  unsigned n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      n++;
  return n <= most;
}

void hl_pass_fields(Cg *cg) {
  enum { MOST = 96 };
  const Loops *l = hl_loops(cg);
  if (l && l->row && is_short(thread_of(l), MOST))
    cg_host_load_fields_once(cg);
}

static bool has_loops(Cg *cg, LLVMValueRef thread) {
  FnGraph g = graph_of(&cg->cx->arena, thread, NULL);
  graph_loops(&g);
  return g.loops.len != 0;
}

/* Of a thread with loops the rest is a small part. */
void hl_pass_rows(Cg *cg) {
  enum { MOST = 256 };
  const Loops *l = hl_loops(cg);
  if (!l || !l->width || l->checks || l->row || l->exact.thread || l->fission.nsegments ||
      !is_short(thread_of(l), MOST) || has_loops(cg, thread_of(l)))
    return;
  cg_host_load_fields_once(cg);
  cg_host_version_rows(cg);
}
