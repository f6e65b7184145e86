/* Host whole vectors: blocks whose threads reach every barrier uniformly.
 *
 * If control flow at all barriers of a kernel is uniform over the block, and its warp operations
 * can be operations on lanes (lanes/warp.c), then all threads of a block are always in front of the
 * same segment. A block whose rows are whole vectors runs one segment after the other, each as a
 * loop over vectors of threads, without code for single threads or for diverged ones. Uniformity
 * over the block is proved by an analysis of lanes whose thread indices may be anything and in
 * which memory that other threads may write is varying (`block` below). Kernels whose tiles have
 * rows of half a vector get a second set of segments, for blocks with such rows.
 *
 * In: the kernel's function in regular form, which is changed (loops with barriers are unrolled).
 * Out: l->whole and l->narrow, without segments if the kernel is not of this kind. Blocks of other
 * widths run by segments.c, in a function that is compiled for size. */
#include <assert.h>
#include <string.h>

#include "codegen/host/entry.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/match.h"
#include "codegen/passes.h"

enum { WARP = 32, WIDE = 4 /* registers */ };

static const int block_steps[HOST_NARGS + SEGMENT_BLOCK_ARGS] = {
    [HOST_TX] = LANES_ANY, [HOST_TY] = LANES_ANY, [HOST_TZ] = LANES_ANY, [HOST_THREAD] = LANES_ANY};
static const int lane_steps[HOST_NARGS + SEGMENT_BLOCK_ARGS] = {[HOST_TX] = 1, [HOST_THREAD] = 1};

typedef bool (*CallTest)(void *user, LLVMValueRef call);

static bool all_calls(LLVMValueRef marker, CallTest test, void *user) {
  for (LLVMUseRef use = marker ? LLVMGetFirstUse(marker) : NULL; use; use = LLVMGetNextUse(use))
    if (!test(user, LLVMGetUser(use)))
      return false;
  return true;
}

static bool is_of_warp(void *user, LLVMValueRef meeting) {
  (void)user;
  uint64_t kind = LLVMConstIntGetZExtValue(LLVMGetOperand(meeting, 0));
  return kind >= RT_MEET_SYNC && kind < RT_MEET_WAIT;
}
static bool is_uniform(void *lanes, LLVMValueRef barrier) {
  return cg_lanes_together(lanes, barrier);
}
static bool can_meet(void *lanes, LLVMValueRef meeting) { return cg_lanes_meet(lanes, meeting); }

/* --- segments as lanes --- */

static LanesHow lanes_of(const Whole *w, unsigned width,
                         unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS]) {
  assert(width && (width & (width - 1)) == 0);
  memset(zeros, 0, HOST_NARGS + SEGMENT_BLOCK_ARGS);
  zeros[HOST_TX] = (unsigned char)__builtin_ctz(width);
  zeros[HOST_THREAD] = w->columns ? 0 : zeros[HOST_TX];
  return (LanesHow){.steps = lane_steps, .zeros = zeros, .width = width, .whole = true};
}

/* Vectors at a time, in blocks whose rows allow it. The runtime notes 32 threads at most. Sums of
 * more than WIDE registers would not stay in them on a CPU that has 16. A mask of more lanes than a
 * register has bytes (with AVX-512 a mask has bits) LLVM 22 takes apart, between blocks, into one
 * number for each lane. */
static unsigned wide_by(const Loops *l) {
  unsigned part = (unsigned)cg_lanes_part(l->cg), most = 4 * part, width = l->whole.width;
  if (l->checks)
    most = WARP;
  else if (most > WIDE * part / cg_lanes_width(l->cg) * width)
    most = WIDE * part / cg_lanes_width(l->cg) * width;
  return most > width ? most / width : 1;
}

static bool has_meeting(LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_meeting(i))
        return true;
  return false;
}

/* Of a segment: one that runs once for each block says what the next block reads and writes. */
static LanesHow lanes_of_segment(const Whole *w, uint32_t number, unsigned width,
                                 unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS]) {
  const Segment *s = &w->fission.segments[number];
  LanesHow how = lanes_of(w, width, zeros);
  bool last = s->nexits == 1 && !s->exits[0];
  how.next = !number || last ? HOST_BX : 0;
  return how;
}

/* A version that is without masks where guards are uniform over a vector, as they are in most
 * vectors of a block: a bound divides one of them in each row. It tests that before it does
 * anything, and returns 1 where they are not. A loop takes longer than the masks in front of it. */
static void write_alike(Loops *l, uint32_t number) {
  Whole *w = &l->whole;
  const Segment *s = &w->fission.segments[number];
  unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LanesHow how = lanes_of_segment(w, number, w->width, zeros);
  how.alone = how.places = true;
  Lanes *lanes = !l->checks && !w->wide[number] && !s->votes && !has_meeting(s->fn)
                     ? cg_lanes_analyse(l->cg, s->fn, &how)
                     : NULL;
  if (!lanes || cg_lanes_have_loops(lanes) || !cg_lanes_agree(lanes))
    return;
  w->alike[number] = (Alike){cg_lanes_write(lanes), cg_lanes_one_result(lanes)};
}

/* Copies that have no vector form run as the segment itself does. */
static void write_versions(Loops *l, uint32_t number) {
  MaskVersions *v = &l->whole.versions[number];
  unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LanesHow how = lanes_of(&l->whole, l->whole.width, zeros);
  for (unsigned k = 0; k < v->n; k++) {
    LLVMValueRef fn = v->fns[k];
    Lanes *lanes = cg_lanes_analyse_doubled(l->cg, fn, &how);
    v->fns[k] = lanes ? cg_lanes_write(lanes) : NULL;
    v->one_result[k] = v->fns[k] && cg_lanes_one_result(lanes);
    LLVMDeleteFunction(fn);
  }
}

/* A segment that has no vector form, or would not gain by it, runs thread by thread. One with warp
 * operations cannot: false. */
static bool write_segment(Loops *l, uint32_t number) {
  unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LanesHow how = lanes_of_segment(&l->whole, number, l->whole.width, zeros);
  LLVMValueRef fn = l->whole.fission.segments[number].fn;
  Lanes *lanes = cg_lanes_analyse_doubled(l->cg, fn, &how);
  l->whole.lanes[number] = lanes ? cg_lanes_write(lanes) : NULL;
  l->whole.one_result[number] = lanes && cg_lanes_one_result(lanes);
  if (wide_by(l) > 1 && l->whole.width >= l->width && !l->whole.columns && l->whole.lanes[number] &&
      (l->checks || cg_lanes_stride(lanes)) && !l->whole.fission.segments[number].votes &&
      !has_meeting(fn)) {
    how = lanes_of_segment(&l->whole, number, wide_by(l) * l->whole.width, zeros);
    lanes = cg_lanes_analyse(l->cg, fn, &how);
    LLVMValueRef wide = l->whole.one_result[number] && lanes ? cg_lanes_write(lanes) : NULL;
    if (wide && !cg_lanes_one_result(lanes)) {
      LLVMDeleteFunction(wide);
      wide = NULL;
    }
    l->whole.wide[number] = wide;
  }
  if (l->whole.lanes[number] && !l->whole.columns)
    write_alike(l, number);
  write_versions(l, number);
  return l->whole.lanes[number] || !has_meeting(fn);
}

static void forget(Loops *l) {
  Whole *w = &l->whole;
  for (uint32_t k = 0; k < w->fission.nsegments; k++) {
    if (w->lanes[k])
      LLVMDeleteFunction(w->lanes[k]);
    if (w->wide[k])
      LLVMDeleteFunction(w->wide[k]);
    if (w->alike[k].fn)
      LLVMDeleteFunction(w->alike[k].fn);
    for (unsigned n = 0; n < w->versions[k].n; n++)
      if (w->versions[k].fns[n])
        LLVMDeleteFunction(w->versions[k].fns[n]);
    if (w->versions[k].n)
      LLVMDeleteFunction(w->versions[k].choice);
    LLVMDeleteFunction(w->fission.segments[k].fn);
  }
  *w = (Whole){0};
}

/* Of a kernel's first segments that have masks: each has some five copies. */
static void find_versions(Loops *l) {
  enum { MOST_SEGMENTS = 8 };
  Whole *w = &l->whole;
  unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LanesHow how = lanes_of(w, w->width, zeros);
  unsigned found = 0;
  for (uint32_t k = 0; k < w->fission.nsegments && !l->checks && found < MOST_SEGMENTS; k++) {
    if (w->fission.segments[k].votes)
      continue;
    w->versions[k] = cg_lanes_mask_versions(l->cg, w->fission.segments[k].fn, &how);
    found += w->versions[k].n > 0;
  }
  if (!found)
    return;
  cg_lanes_regulate(l->cg);
  cg_dump_step(l->cg, "copies for small masks");
}

/* Do all threads of the block come to each barrier? Inputs are taken to last only where that needs
 * it, since the entry has to test it. */
static Lanes *find_uniform(Whole *w, Cg *cg, LLVMValueRef kernel, LLVMValueRef barriers) {
  LanesHow how = {.steps = block_steps, .width = w->width, .strict = true};
  Lanes *block = cg_lanes_analyse(cg, kernel, &how);
  if (!block || all_calls(barriers, is_uniform, block))
    return block;
  how.lasts = hl_lasts;
  block = cg_lanes_analyse(cg, kernel, &how);
  w->inputs = hl_lasting_inputs(cg, kernel, block);
  return all_calls(barriers, is_uniform, block) ? block : NULL;
}

static void make_whole(Loops *l, LLVMValueRef kernel, LLVMValueRef const markers[2], unsigned width,
                       unsigned columns) {
  Cg *cg = l->cg;
  Whole *w = &l->whole;
  w->width = width, w->columns = columns;
  if (cg_lanes_unroll(cg, kernel))
    cg_lanes_regulate(cg);
  cg_dump_step(cg, "loops unrolled");
  Lanes *block = find_uniform(w, cg, kernel, markers[0]);
  unsigned char zeros[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LanesHow how = lanes_of(w, w->width, zeros);
  Lanes *lanes = cg_lanes_analyse(cg, kernel, &how);
  if (!block || !lanes || !all_calls(markers[1], can_meet, lanes))
    return;
  FissionHow cuts = {.thread_arg = HOST_THREAD, .lanes = lanes, .block = block, .warps = true};
  w->fission = cg_fission(cg, kernel, &cuts);
  w->lanes = CX_ARRAY(cg->cx, LLVMValueRef, w->fission.nsegments);
  w->wide = CX_ARRAY(cg->cx, LLVMValueRef, w->fission.nsegments);
  w->alike = CX_ARRAY(cg->cx, Alike, w->fission.nsegments);
  w->one_result = CX_ARRAY(cg->cx, bool, w->fission.nsegments);
  w->versions = CX_ARRAY(cg->cx, MaskVersions, w->fission.nsegments);
  for (uint32_t k = 0; columns && k < w->fission.nsegments; k++)
    hl_guard_row(l, w->fission.segments[k].fn, columns);
  cg_lanes_regulate(cg);
  cg_dump_step(cg, "cut into segments");
  if (!columns)
    find_versions(l);
  bool all = true;
  for (uint32_t k = 0; all && k < w->fission.nsegments; k++)
    all = write_segment(l, k);
  if (!all) {
    forget(l);
    return;
  }
  for (uint32_t k = 0; k < w->fission.nsegments; k++)
    if (w->lanes[k]) {
      LLVMDeleteFunction(w->fission.segments[k].fn);
      w->fission.segments[k].fn = NULL;
    } else { /* hl_pass_wraps and others change it */
      cg_lanes_forget_doubles(cg, w->fission.segments[k].fn);
      cg_run_function_passes(cg, w->fission.segments[k].fn, "sccp");
    }
}

/* Is v, extended or not, multiplied by one of these constants? */
static bool is_scaled_by(LLVMValueRef v, uint64_t least, uint64_t most) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef i = LLVMGetUser(use);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (LLVMIsACastInst(i) || LLVMIsAFreezeInst(i)) {
      if (is_scaled_by(i, least, most))
        return true;
      continue;
    }
    if ((op != LLVMMul && op != LLVMShl) || !LLVMIsAConstantInt(LLVMGetOperand(i, 1)))
      continue;
    uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
    if (op == LLVMShl)
      by = by < 32 ? UINT64_C(1) << by : 0;
    if (by >= least && by <= most)
      return true;
  }
  return false;
}

/* Does the thread's y choose a row of an array that has as many elements as half a vector, or a few
 * more? Such a tile is of blocks as wide: their rows are vectors of half as many lanes, and the
 * code for these is worth its compile time. This is a guess at the launch, which may be any: the
 * code is right for all blocks whose rows it divides. */
static bool has_short_rows(LLVMValueRef kernel, unsigned width) {
  enum { LEAST = 8 };
  return width >= 2 * LEAST && is_scaled_by(LLVMGetParam(kernel, HOST_TY), width / 2, width - 1);
}

/* The least bound of v that a comparison with a constant gives, v + by < n; else UINT64_MAX. */
static uint64_t least_bound(LLVMValueRef v, uint64_t by) {
  uint64_t least = UINT64_MAX, n = UINT64_MAX;
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef i = LLVMGetUser(use);
    bool with_number = LLVMGetNumOperands(i) == 2 && LLVMIsAConstantInt(LLVMGetOperand(i, 1));
    uint64_t number = with_number ? LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) : 0;
    if (LLVMIsACastInst(i) || LLVMIsAFreezeInst(i))
      n = least_bound(i, by);
    else if (!by && with_number && cg_is_op(i, LLVMAdd))
      n = least_bound(i, number);
    else if (with_number && LLVMIsAICmpInst(i) && LLVMGetICmpPredicate(i) == LLVMIntULT)
      n = number - by;
    else if (with_number && LLVMIsAICmpInst(i) && LLVMGetICmpPredicate(i) == LLVMIntUGT)
      n = number + 1 - by;
    least = n < least ? n : least;
  }
  return least;
}

/* Is it, or a sum with it, multiplied by n or by as many bytes as n elements have? */
static bool chooses_row(LLVMValueRef v, uint64_t n, int depth) {
  enum { LARGEST = 16, DEEPEST = 3 };
  for (uint64_t size = 1; size <= LARGEST; size *= 2)
    if (is_scaled_by(v, n * size, n * size))
      return true;
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef i = LLVMGetUser(use);
    bool passes = LLVMIsACastInst(i) || LLVMIsAFreezeInst(i) || cg_is_op(i, LLVMAdd);
    if (passes && depth < DEEPEST && chooses_row(i, n, depth + 1))
      return true;
  }
  return false;
}

/* The columns of a tile `t[y, x]`, if its checks let x be any of these, no more, and they are no
 * multiple of half a vector, nor one more (a column that no thread has keeps banks apart). Blocks
 * for such a tile have so many threads along x, mostly. 0: there is none. */
static unsigned ragged_columns(LLVMValueRef kernel, unsigned width) {
  enum { LEAST_WIDTH = 16, LEAST = 5, MOST = 64 };
  uint64_t n = least_bound(LLVMGetParam(kernel, HOST_TX), 0);
  bool is = width >= LEAST_WIDTH && n >= LEAST && n <= MOST && n % (width / 2) > 1 &&
            chooses_row(LLVMGetParam(kernel, HOST_TY), n, 0);
  return is ? (unsigned)n : 0;
}

void hl_pass_whole(Cg *cg) {
  Loops *l = hl_loops(cg);
  bool followed = cg->meets_apart; /* the runtime is told of each meeting */
  if (!l || followed || !l->width || (!l->markers[0] && !l->markers[1]) ||
      !all_calls(l->markers[1], is_of_warp, NULL))
    return;
  LLVMValueRef kernel = ((const HostState *)cg->target_state)->thread;
  bool warps = l->markers[1] != NULL;
  unsigned columns = ragged_columns(kernel, l->width);
  unsigned narrow = columns > l->width / 2 ? l->width : l->width / 2;
  make_whole(l, kernel, l->markers, warps ? WARP : l->width, 0);
  if (!l->whole.fission.nsegments || warps || l->checks ||
      (!columns && !has_short_rows(kernel, l->width)))
    return;
  Whole first = l->whole;
  l->whole = (Whole){0};
  make_whole(l, kernel, l->markers, narrow, columns);
  l->narrow = l->whole;
  l->whole = first;
}

/* --- the block --- */

static LLVMValueRef reduce_add(Loops *l, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, "llvm.vector.reduce.add", &t, 1);
  return l_call(l->b, fn, &v, 1);
}

static LLVMValueRef spread(Loops *l, uint64_t v) {
  LLVMValueRef *all = CX_ARRAY(l->cg->cx, LLVMValueRef, l->whole.width);
  for (unsigned k = 0; k < l->whole.width; k++)
    all[k] = hl_i32(l, (uint32_t)v);
  return LLVMConstVector(all, l->whole.width);
}

/* The sum of a bit over the threads. results: a vector, or one for all `threads`. */
static LLVMValueRef count_bit(Loops *l, LLVMValueRef results, unsigned bit, unsigned threads) {
  LLVMBuilderRef b = l->b;
  if (LLVMGetTypeKind(LLVMTypeOf(results)) != LLVMVectorTypeKind) {
    LLVMValueRef one = l_and(b, l_lshr(b, results, hl_i32(l, bit)), hl_i32(l, 1));
    return l_mul(b, one, hl_i32(l, threads));
  }
  return reduce_add(l, l_and(b, l_lshr(b, results, spread(l, bit)), spread(l, 1)));
}

/* Adds up the votes. The next segment is uniform over the block, so the first thread's is taken. */
static void take_results(Loops *l, const Segment *s, LLVMValueRef results, unsigned threads) {
  if (s->votes) {
    hl_add_to(l, l->new_ayes, count_bit(l, results, 0, threads));
    hl_add_to(l, l->new_voters, count_bit(l, results, 1, threads));
  }
  if (s->nexits <= 1)
    return;
  bool one = LLVMGetTypeKind(LLVMTypeOf(results)) != LLVMVectorTypeKind;
  LLVMValueRef first = one ? results : l_extract_element(l->b, results, hl_i32(l, 0));
  hl_set(l, l->all_or, l_lshr(l->b, first, hl_i32(l, SEGMENT_NEXT_SHIFT)));
}

static LLVMValueRef call_lanes(Loops *l, LLVMValueRef fn, LLVMValueRef results,
                               LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  LLVMValueRef args[HOST_NARGS + SEGMENT_BLOCK_ARGS + 1];
  memcpy(args, l->args, sizeof l->args);
  memcpy(args + HOST_NARGS, more, SEGMENT_BLOCK_ARGS * sizeof *more);
  args[HOST_NARGS + SEGMENT_BLOCK_ARGS] = results;
  LLVMValueRef call = l_call(l->b, fn, args, HOST_NARGS + SEGMENT_BLOCK_ARGS + 1);
  cg_call_attribute(l->cg, call, cg_host_inlining(fn, 4));
  return call;
}

static LLVMTypeRef type_of_results(const Loops *l, bool one) {
  return one ? l->t->i32 : LLVMVectorType(l->t->i32, l->whole.width);
}

static void take_lanes(Loops *l, const Segment *s, LLVMValueRef results, bool one) {
  if (s->votes || s->nexits > 1)
    take_results(l, s, l_load(l->b, type_of_results(l, one), results), one ? l->whole.width : 1);
}

/* Leaves the builder where guards differ, and nothing has been done. */
static void try_alike(Loops *l, uint32_t number, LLVMBasicBlockRef done,
                      LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  const Alike *a = &l->whole.alike[number];
  LLVMBasicBlockRef held = hl_new_block(l, "alike"), masks = hl_new_block(l, "masks");
  LLVMValueRef results = hl_new_variable(l, type_of_results(l, a->one_result), "results"),
               alone = call_lanes(l, a->fn, results, more);
  LLVMValueRef end = l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, alone, hl_i32(l, 0)), held, masks);
  cg_branch_weights(l->cg, end, CG_OFTEN, 1);
  hl_at(l, held);
  take_lanes(l, &l->whole.fission.segments[number], results, a->one_result);
  l_br(l->b, done);
  hl_at(l, masks);
}

static void run_lanes(Loops *l, uint32_t number, LLVMValueRef fn,
                      LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  const Whole *w = &l->whole;
  LLVMBasicBlockRef done = w->alike[number].fn ? hl_new_block(l, "") : NULL;
  if (done)
    try_alike(l, number, done, more);
  LLVMValueRef results = hl_new_variable(l, type_of_results(l, w->one_result[number]), "results");
  call_lanes(l, fn, results, more);
  take_lanes(l, &w->fission.segments[number], results, w->one_result[number]);
  if (done) {
    l_br(l->b, done);
    hl_at(l, done);
  }
}

static void run_thread(Loops *l, uint32_t number, LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  const Segment *s = &l->whole.fission.segments[number];
  LLVMValueRef args[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  memcpy(args, l->args, sizeof l->args);
  memcpy(args + HOST_NARGS, more, SEGMENT_BLOCK_ARGS * sizeof *more);
  LLVMValueRef result = l_call(l->b, s->fn, args, HOST_NARGS + SEGMENT_BLOCK_ARGS);
  cg_call_attribute(l->cg, result, cg_host_inlining(s->fn, 1));
  take_results(l, s, result, 1);
}

static void run_vectors(Loops *l, uint32_t number, LLVMValueRef fn, unsigned width,
                        LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  hl_nest_begin(l, width);
  run_lanes(l, number, fn, more);
  hl_nest_end(l);
}

/* A function `i32 SYMBOL.NAME(launch, block, bx, by, bz, frame, stride, ayes, voters, shared)` that
 * runs the lanes for all threads of the block, and returns the segment that follows. What few
 * blocks run is apart from the entry, or that would be too long to be optimised well. */
static LLVMValueRef make_apart(const Loops *outer, uint32_t number, const char *name,
                               LLVMValueRef lanes, bool one_result) {
  Loops l = *outer;
  Cg *cg = l.cg;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
  LLVMTypeRef types[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  LLVMValueRef more[SEGMENT_BLOCK_ARGS];
  cg_host_arg_types(cg, types);
  memcpy(types + HOST_TX, (LLVMTypeRef[]){l.t->ptr, l.t->i64, l.t->i32, l.t->i32, l.t->ptr},
         SEGMENT_BLOCK_ARGS * sizeof *types);
  l.entry = LLVMAddFunction(cg->module, arena_printf(&cg->cx->arena, "%s.%s", cg->symbol, name),
                            LLVMFunctionType(l.t->i32, types, HOST_TX + SEGMENT_BLOCK_ARGS, 0));
  LLVMSetLinkage(l.entry, LLVMInternalLinkage);
  cg_attribute(cg, l.entry, L_FUNCTION, "noinline", 0);
  cg_attribute(cg, l.entry, L_FUNCTION, "nounwind", 0);
  cg_attribute(cg, l.entry, HOST_TX + 1, "noalias", 0);
  cg_attribute(cg, l.entry, HOST_TX + SEGMENT_BLOCK_ARGS, "noalias", 0);
  for (unsigned k = 0; k < HOST_TX; k++)
    l.args[k] = LLVMGetParam(l.entry, k);
  for (unsigned k = 0; k < SEGMENT_BLOCK_ARGS; k++)
    more[k] = LLVMGetParam(l.entry, HOST_TX + k);
  l.launch = l.args[HOST_LAUNCH];
  l.first = hl_new_block(&l, "begin");
  hl_at(&l, l.first);
  hl_find_sizes(&l);
  l.all_or = hl_new_variable(&l, l.t->i32, "next");
  hl_nest_begin(&l, l.whole.width);
  LLVMValueRef results = hl_new_variable(&l, type_of_results(&l, one_result), "results");
  call_lanes(&l, lanes, results, more);
  take_lanes(&l, &l.whole.fission.segments[number], results, one_result);
  hl_nest_end(&l);
  l_ret(l.b, hl_get(&l, l.all_or));
  hl_at(outer, here);
  return l.entry;
}

static void run_apart(Loops *l, LLVMValueRef fn, LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  LLVMValueRef args[HOST_TX + SEGMENT_BLOCK_ARGS];
  memcpy(args, l->args, HOST_TX * sizeof *args);
  memcpy(args + HOST_TX, more, SEGMENT_BLOCK_ARGS * sizeof *more);
  hl_set(l, l->all_or, l_call(l->b, fn, args, HOST_TX + SEGMENT_BLOCK_ARGS));
}

/* Leaves the builder where the segment itself is to run. */
static void run_version(Loops *l, uint32_t number, LLVMBasicBlockRef done,
                        LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  const MaskVersions *v = &l->whole.versions[number];
  LLVMValueRef args[HOST_NARGS + SEGMENT_BLOCK_ARGS];
  memcpy(args, l->args, sizeof l->args);
  memcpy(args + HOST_NARGS, more, SEGMENT_BLOCK_ARGS * sizeof *more);
  for (unsigned k = HOST_TX; k <= HOST_THREAD; k++) /* the choice does not depend on them */
    args[k] = LLVMGetPoison(l->t->i32);
  LLVMValueRef choice = l_call(l->b, v->choice, args, HOST_NARGS + SEGMENT_BLOCK_ARGS);
  cg_call_attribute(l->cg, choice, "alwaysinline");
  LLVMBasicBlockRef itself = hl_new_block(l, "itself");
  LLVMValueRef choose = l_switch(l->b, choice, itself, v->n);
  for (unsigned k = 0; k < v->n; k++) {
    if (!v->fns[k])
      continue;
    LLVMBasicBlockRef run = hl_new_block(l, "version");
    LLVMAddCase(choose, hl_i32(l, k + 1), run);
    hl_at(l, run);
    run_apart(l, make_apart(l, number, "masked", v->fns[k], v->one_result[k]), more);
    l_br(l->b, done);
  }
  hl_at(l, itself);
}

static void run_threads(Loops *l, uint32_t number, LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  hl_nest_begin(l, 1);
  run_thread(l, number, more);
  hl_nest_end(l);
}

/* By several vectors of threads at a time, if the rows are multiples of that, as most are. */
static void run_wide_or_not(Loops *l, uint32_t number,
                            LLVMValueRef const more[SEGMENT_BLOCK_ARGS]) {
  unsigned all = wide_by(l) * l->whole.width;
  LLVMBasicBlockRef wide = hl_new_block(l, "wide"), other = hl_new_block(l, "narrow"),
                    done = hl_new_block(l, "");
  LLVMValueRef odd = l_and(l->b, l->sizes[0], hl_i32(l, all - 1));
  l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, odd, hl_i32(l, 0)), wide, other);
  hl_at(l, wide);
  run_vectors(l, number, l->whole.wide[number], all, more);
  l_br(l->b, done);
  hl_at(l, other);
  run_apart(l, make_apart(l, number, "narrow", l->whole.lanes[number], l->whole.one_result[number]),
            more);
  l_br(l->b, done);
  hl_at(l, done);
}

static LLVMValueRef shared_at(Loops *l, uint32_t offset) {
  LLVMValueRef byte = hl_i64(l, offset);
  return l_gep_inbounds(l->b, l->t->i8, l->shared, &byte, 1);
}

/* Copies the values that the segment has stored for the next one to where that loads them. */
static void pass_shared(Loops *l, const Segment *s) {
  for (uint32_t k = 0; k < s->nshared; k++) {
    const SharedValue *v = &s->shared[k];
    LLVMValueRef left = shared_at(l, v->offset + l->whole.fission.shared_bytes);
    l_store(l->b, l_load(l->b, v->type, left), shared_at(l, v->offset));
  }
}

static void write_exit(Loops *l, const Segment *s, LLVMBasicBlockRef const *nests) {
  if (s->nexits <= 1) {
    l_br(l->b, s->nexits && s->exits[0] ? nests[s->exits[0]] : l->end);
    return;
  }
  LLVMBasicBlockRef impossible = hl_new_block(l, "");
  LLVMValueRef choose = l_switch(l->b, hl_get(l, l->all_or), impossible, s->nexits);
  for (uint32_t k = 0; k < s->nexits; k++)
    LLVMAddCase(choose, hl_i32(l, s->exits[k]), s->exits[k] ? nests[s->exits[k]] : l->end);
  hl_at(l, impossible);
  l_unreachable(l->b);
}

/* All threads have passed a barrier. */
static void note_barrier(Loops *l) {
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, "rt_check_barrier"), launch = l->launch;
  LLVMTypeRef type = l->t->ptr;
  if (!fn)
    fn = LLVMAddFunction(l->cg->module, "rt_check_barrier",
                         LLVMFunctionType(l->t->none, &type, 1, 0));
  l_call(l->b, fn, &launch, 1);
}

static void run_segment(Loops *l, uint32_t number, LLVMBasicBlockRef const *nests) {
  const Segment *s = &l->whole.fission.segments[number];
  bool lanes = l->whole.lanes[number] != NULL;
  assert(lanes || (s->fn && !l->whole.wide[number]));
  hl_at(l, nests[number]);
  if (number && l->checks)
    note_barrier(l);
  LLVMValueRef more[] = {l->frame, l->stride, hl_get(l, l->ayes), hl_get(l, l->voters), l->shared};
  if (s->votes) {
    hl_set(l, l->new_ayes, hl_i32(l, 0));
    hl_set(l, l->new_voters, hl_i32(l, 0));
  }
  LLVMBasicBlockRef done = l->whole.versions[number].n ? hl_new_block(l, "") : NULL;
  if (done)
    run_version(l, number, done, more);
  if (l->whole.wide[number])
    run_wide_or_not(l, number, more);
  else if (lanes)
    run_vectors(l, number, l->whole.lanes[number], l->whole.width, more);
  else
    run_threads(l, number, more);
  if (done) {
    l_br(l->b, done);
    hl_at(l, done);
  }
  pass_shared(l, s);
  if (s->votes) {
    hl_set(l, l->ayes, hl_get(l, l->new_ayes));
    hl_set(l, l->voters, hl_get(l, l->new_voters));
  }
  write_exit(l, s, nests);
}

void hl_run_whole(Loops *l, const Whole *w) {
  const Whole first = l->whole;
  LLVMValueRef width = l->sizes[0];
  l->whole = *w;
  if (w->columns)
    l->sizes[0] = hl_i32(l, w->columns);
  uint32_t n = l->whole.fission.nsegments;
  assert(n && l->frame && l->stride);
  LLVMBasicBlockRef *nests = CX_ARRAY(l->cg->cx, LLVMBasicBlockRef, n);
  LLVMValueRef *variables[] = {&l->ayes, &l->voters, &l->new_ayes, &l->new_voters, &l->all_or};
  for (unsigned k = 0; k < sizeof variables / sizeof *variables; k++) {
    *variables[k] = hl_new_variable(l, l->t->i32, "");
    hl_set(l, *variables[k], hl_i32(l, 0));
  }
  LLVMTypeRef area = LLVMArrayType2(l->t->i8, 2ull * l->whole.fission.shared_bytes);
  l->shared = hl_new_variable(l, area, "shared");
  LLVMSetAlignment(l->shared, RT_FRAME_THREADS);
  for (uint32_t k = 0; k < n; k++)
    nests[k] = hl_new_block(l, arena_printf(&l->cg->cx->arena, "whole%u", k));
  l->end = hl_new_block(l, "end");
  l_br(l->b, nests[0]);
  for (uint32_t k = 0; k < n; k++)
    run_segment(l, k, nests);
  hl_at(l, l->end);
  l->whole = first, l->sizes[0] = width;
}
