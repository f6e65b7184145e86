/* Lanes: warp operations, where the 32 threads of a warp are the lanes. See lanes.h.
 *
 * A warp operation (a meeting: fission/fission.h) in uniform control flow, with a uniform mask of
 * lanes, is an operation on the vector of their operands: a shuffle is a permutation, a vote is the
 * bits of an i1 vector, and no thread waits. Since all 32 lanes arrive, a mask that does not name
 * all of them is an error of the first thread that it leaves out, as in runtime/host/meet.c.
 * Operations in divergent code are not written here: fission.c cuts the kernel at them, and the
 * threads meet in the runtime. */
#include <assert.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { WARP = 32 };

static RtMeetKind kind_of(LLVMValueRef meeting) {
  return (RtMeetKind)LLVMConstIntGetZExtValue(LLVMGetOperand(meeting, MEET_KIND));
}

static bool is_shuffle(RtMeetKind kind) {
  return kind >= RT_MEET_SHFL_IDX && kind <= RT_MEET_SHFL_XOR;
}

/* --- legality --- */

static bool is_full(LLVMValueRef mask) {
  return LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
}

/* In checked code the runtime says what is wrong with a mask. */
bool cg_lanes_meet(Lanes *l, LLVMValueRef meeting) {
  RtMeetKind kind = kind_of(meeting);
  if (l->cg->options.check && kind != RT_MEET_ACTIVE &&
      !is_full(LLVMGetOperand(meeting, MEET_MASK)))
    return false;
  return l->how.whole && l->width == WARP && kind >= RT_MEET_SYNC && kind < RT_MEET_WAIT &&
         cg_lanes_together(l, meeting) &&
         (kind == RT_MEET_ACTIVE || ln_is_uniform(ln_shape(l, LLVMGetOperand(meeting, MEET_MASK))));
}

/* A vote is uniform, and so is a shuffle in which all lanes read the same lane. */
Shape ln_meeting_shape(Lanes *l, LLVMValueRef meeting) {
  static const Shape alike = {SHAPE_STEP, 0, 0}, vector = {SHAPE_VECTOR, 0, 0};
  RtMeetKind kind = kind_of(meeting);
  if (!l->how.whole || l->how.strict)
    return vector;
  if (kind == RT_MEET_SHFL_IDX)
    return ln_is_uniform(ln_shape(l, LLVMGetOperand(meeting, MEET_LANE))) ? alike : vector;
  return is_shuffle(kind) || kind == RT_MEET_MATCH_ANY ? vector : alike;
}

/* --- totals of a warp --- */

static bool is_cast(LLVMValueRef v, LLVMOpcode of_width) {
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(v));
  return (cg_is_op(v, of_width) || cg_is_op(v, LLVMBitCast)) && kind != LLVMVectorTypeKind;
}

/* By how many lanes v has been exchanged, if it is x of the lane whose number differs from the own
 * one's in that bit; else 0. */
static unsigned exchange_of(LLVMValueRef v, LLVMValueRef x) {
  while (is_cast(v, LLVMTrunc))
    v = LLVMGetOperand(v, 0);
  if (!cg_is_meeting(v) || kind_of(v) != RT_MEET_SHFL_XOR ||
      !LLVMIsAConstantInt(LLVMGetOperand(v, MEET_LANE)))
    return 0;
  uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(v, MEET_LANE));
  LLVMValueRef value = LLVMGetOperand(v, MEET_VALUE);
  while (value != x && is_cast(value, LLVMZExt))
    value = LLVMGetOperand(value, 0);
  return value == x && by < WARP && (by & (by - 1)) == 0 ? (unsigned)by : 0;
}

static bool is_commutative(LLVMValueRef v) {
  static const LLVMOpcode ops[] = {LLVMAdd, LLVMMul, LLVMAnd, LLVMOr, LLVMXor, LLVMFAdd, LLVMFMul};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (cg_is_op(v, ops[k]))
      return true;
  return ln_extreme(v) != 0;
}

/* The bits of a lane's number on which v does not depend: x and its exchange, combined in either
 * order, are the same in both lanes. */
static unsigned bits_without_effect(LLVMValueRef v, int depth) {
  enum { STEPS = 5 };
  if (depth == STEPS || !is_commutative(v))
    return 0;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef x = LLVMGetOperand(v, k);
    unsigned by = exchange_of(LLVMGetOperand(v, 1 - k), x);
    if (by)
      return by | bits_without_effect(x, depth + 1);
  }
  return 0;
}

bool ln_is_total(const Lanes *l, LLVMValueRef v) {
  return l->how.whole && !l->how.strict && l->width == WARP &&
         bits_without_effect(v, 0) == WARP - 1;
}

/* --- the mask --- */

static LLVMValueRef i32(Lanes *l, uint64_t v) { return l_int(l->cg->t.i32, v); }
static LLVMValueRef i64(Lanes *l, uint64_t v) { return l_int(l->cg->t.i64, v); }

static LLVMValueRef trap_function(Lanes *l) {
  const CgTypes *t = &l->cg->t;
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, "rt_host_trap");
  LLVMTypeRef types[] = {t->ptr, t->i32, t->i64, t->i32, t->i64, t->i64, t->i64, t->i64};
  if (fn)
    return fn;
  fn = LLVMAddFunction(l->cg->module, "rt_host_trap", LLVMFunctionType(t->none, types, 8, 0));
  cg_attribute(l->cg, fn, L_FUNCTION, "noreturn", 0);
  cg_attribute(l->cg, fn, L_FUNCTION, "cold", 0);
  return fn;
}

static void trap_outside(Lanes *l, LLVMValueRef meeting, LLVMValueRef mask) {
  const CgTypes *t = &l->cg->t;
  uint64_t site = LLVMConstIntGetZExtValue(LLVMGetOperand(meeting, MEET_SITE)) + 1;
  LLVMValueRef thread = LLVMGetParam(l->fn, HOST_THREAD), fn = trap_function(l), all[2],
               count = cg_intrinsic_fn(l->cg, "llvm.cttz", &t->i32, 1);
  all[0] = l_not(l->b, mask), all[1] = l_int(t->i1, 0);
  LLVMValueRef lane = l_call(l->b, count, all, 2);
  LLVMValueRef args[] = {LLVMGetParam(l->fn, HOST_LAUNCH),
                         i32(l, site),
                         LLVMGetParam(l->fn, HOST_BLOCK),
                         l_add(l->b, thread, lane),
                         l_zext(l->b, lane, t->i64),
                         l_zext(l->b, mask, t->i64),
                         i64(l, 0),
                         l_zext(l->b, l_lshr(l->b, thread, i32(l, 5)), t->i64)};
  l_call(l->b, fn, args, 8);
  l_unreachable(l->b);
}

static void check_mask(Lanes *l, LLVMValueRef meeting) {
  LLVMValueRef mask = ln_scalar(l, LLVMGetOperand(meeting, MEET_MASK));
  if (is_full(mask))
    return;
  LLVMBasicBlockRef go = ln_new_block(l, "named"), stop = ln_new_block(l, "outside");
  l_condbr(l->b, l_icmp(l->b, LLVMIntEQ, mask, i32(l, UINT32_MAX)), go, stop);
  LLVMPositionBuilderAtEnd(l->b, stop);
  trap_outside(l, meeting, mask);
  LLVMPositionBuilderAtEnd(l->b, go);
}

/* --- votes --- */

static LLVMValueRef bits_of(Lanes *l, LLVMValueRef bools) {
  return l_bitcast(l->b, bools, l->cg->t.i32);
}

static LLVMValueRef ballot(Lanes *l, LLVMValueRef value) {
  return bits_of(l, l_trunc(l->b, ln_vector(l, value), l->mask_type));
}

static LLVMValueRef like(Lanes *l, LLVMValueRef vector, LLVMValueRef one) {
  return bits_of(l, l_icmp(l->b, LLVMIntEQ, vector, ln_splat(l, one)));
}

static LLVMValueRef is(Lanes *l, LLVMValueRef bits, uint64_t v) {
  return l_icmp(l->b, LLVMIntEQ, bits, i32(l, v));
}

/* i32 */
static LLVMValueRef vote(Lanes *l, RtMeetKind kind, LLVMValueRef value) {
  LLVMTypeRef t = l->cg->t.i32;
  if (kind == RT_MEET_ACTIVE)
    return i32(l, UINT32_MAX);
  if (kind == RT_MEET_MATCH_ALL) {
    LLVMValueRef all = ln_vector(l, value), first = l_extract_element(l->b, all, i32(l, 0));
    return l_sext(l->b, is(l, like(l, all, first), UINT32_MAX), t);
  }
  LLVMValueRef ayes = ballot(l, value);
  if (kind == RT_MEET_BALLOT)
    return ayes;
  LLVMValueRef all = is(l, ayes, UINT32_MAX), none = is(l, ayes, 0);
  LLVMValueRef holds = kind == RT_MEET_ALL   ? all
                       : kind == RT_MEET_ANY ? l_not(l->b, none)
                                             : l_or(l->b, all, none);
  return l_zext(l->b, holds, t);
}

/* For each lane the set of lanes with the same value: <32 x i32>. */
static LLVMValueRef match_any(Lanes *l, LLVMValueRef value) {
  LLVMValueRef all = ln_vector(l, value),
               result = LLVMGetPoison(LLVMVectorType(l->cg->t.i32, WARP));
  for (unsigned k = 0; k < WARP; k++) {
    LLVMValueRef one = l_extract_element(l->b, all, i32(l, k));
    result = l_insert_element(l->b, result, like(l, all, one), i32(l, k));
  }
  return result;
}

/* --- shuffles --- */

static unsigned source_of(RtMeetKind kind, unsigned lane, unsigned by) {
  unsigned from = kind == RT_MEET_SHFL_UP     ? lane - by
                  : kind == RT_MEET_SHFL_DOWN ? lane + by
                  : kind == RT_MEET_SHFL_XOR  ? lane ^ by
                                              : by;
  return from < WARP ? from : lane;
}

static LLVMValueRef shuffle_by_constant(Lanes *l, RtMeetKind kind, LLVMValueRef all, unsigned by) {
  LLVMValueRef from[WARP];
  for (unsigned k = 0; k < WARP; k++)
    from[k] = i32(l, source_of(kind, k, by & (WARP - 1)));
  return l_shuffle(l->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(from, WARP));
}

static LLVMValueRef lane_numbers(Lanes *l) {
  LLVMValueRef all[WARP];
  for (unsigned k = 0; k < WARP; k++)
    all[k] = i32(l, k);
  return LLVMConstVector(all, WARP);
}

/* <32 x i32>: the lane from which each lane reads. */
static LLVMValueRef sources(Lanes *l, RtMeetKind kind, LLVMValueRef lane) {
  LLVMValueRef own = lane_numbers(l), most = ln_splat(l, i32(l, WARP - 1)),
               by = l_and(l->b, ln_vector(l, lane), most);
  LLVMBuilderRef b = l->b;
  switch (kind) {
  case RT_MEET_SHFL_IDX: return by;
  case RT_MEET_SHFL_XOR: return l_xor(b, own, by);
  default: break;
  }
  LLVMValueRef from = kind == RT_MEET_SHFL_UP ? l_sub(b, own, by) : l_add(b, own, by);
  return l_select(b, l_icmp(b, LLVMIntULE, from, most), from, own);
}

/* Through memory: each lane loads its source's element. */
static LLVMValueRef shuffle_by_vector(Lanes *l, LLVMValueRef all, LLVMValueRef from) {
  LLVMTypeRef t = LLVMTypeOf(all), element = LLVMGetElementType(t);
  LLVMValueRef memory = ln_in_memory(l, all);
  LLVMTypeRef wide = LLVMVectorType(l->cg->t.i64, WARP);
  LLVMValueRef index = l_zext(l->b, from, wide);
  LLVMValueRef places = l_gep_inbounds(l->b, element, memory, &index, 1);
  return ln_gather(l, t, places, LLVMABIAlignmentOfType(l->cg->layout, element));
}

/* Through memory twice as long: what is read at a distance that is the same for all lanes is one
 * load. Where that is beside the lanes' elements, nothing has been stored, and each lane keeps its
 * own. */
static LLVMValueRef shuffle_by_uniform(Lanes *l, RtMeetKind kind, LLVMValueRef all,
                                       LLVMValueRef lane) {
  LLVMTypeRef t = LLVMTypeOf(all), element = LLVMGetElementType(t);
  LLVMValueRef memory = ln_new_slot(l, LLVMVectorType(element, 2 * WARP)),
               by = l_and(l->b, ln_scalar(l, lane), i32(l, WARP - 1)), own = lane_numbers(l),
               number = ln_splat(l, by), begin = i32(l, 0), from = by;
  bool up = kind == RT_MEET_SHFL_UP;
  if (up)
    begin = i32(l, WARP), from = l_sub(l->b, begin, by);
  LLVMSetAlignment(l_store(l->b, all, l_gep_inbounds(l->b, element, memory, &begin, 1)),
                   LLVMABIAlignmentOfType(l->cg->layout, element));
  LLVMValueRef got = l_load(l->b, t, l_gep_inbounds(l->b, element, memory, &from, 1)),
               there = up ? l_icmp(l->b, LLVMIntUGE, own, number)
                          : l_icmp(l->b, LLVMIntULT, l_add(l->b, own, number),
                                   ln_splat(l, i32(l, WARP)));
  LLVMSetAlignment(got, LLVMABIAlignmentOfType(l->cg->layout, element));
  return l_select(l->b, there, got, all);
}

/* An i64 that is the extension of an i32, as most are: only the 32 bits are permuted. */
static LLVMValueRef narrowed(Lanes *l, LLVMValueRef value, LLVMValueRef all) {
  bool narrow = LLVMIsAZExtInst(value) && LLVMTypeOf(LLVMGetOperand(value, 0)) == l->cg->t.i32;
  return narrow ? l_trunc(l->b, all, LLVMVectorType(l->cg->t.i32, WARP)) : all;
}

static LLVMValueRef shuffle(Lanes *l, LLVMValueRef meeting, RtMeetKind kind) {
  LLVMValueRef value = LLVMGetOperand(meeting, MEET_VALUE),
               lane = LLVMGetOperand(meeting, MEET_LANE),
               all = narrowed(l, value, ln_vector(l, value));
  if (kind == RT_MEET_SHFL_IDX && ln_is_uniform(ln_shape(l, lane))) {
    LLVMValueRef from = l_and(l->b, ln_scalar(l, lane), i32(l, WARP - 1));
    return l_extract_element(l->b, all, from);
  }
  if (LLVMIsAConstantInt(lane))
    return shuffle_by_constant(l, kind, all, (unsigned)LLVMConstIntGetZExtValue(lane));
  if (ln_is_uniform(ln_shape(l, lane)) && kind != RT_MEET_SHFL_XOR)
    return shuffle_by_uniform(l, kind, all, lane);
  return shuffle_by_vector(l, all, sources(l, kind, lane));
}

/* --- entry point --- */

/* Checked code: the lanes have met. */
static void note_meeting(Lanes *l) {
  enum { ITS_OWN_MEMORY = 12 /* inaccessiblemem: readwrite */ };
  LLVMTypeRef types[] = {l->cg->t.ptr, l->cg->t.i32};
  LLVMValueRef args[] = {LLVMGetParam(l->fn, HOST_LAUNCH), LLVMGetParam(l->fn, HOST_THREAD)},
               fn = LLVMGetNamedFunction(l->cg->module, "rt_check_met");
  if (!fn) {
    fn = LLVMAddFunction(l->cg->module, "rt_check_met",
                         LLVMFunctionType(l->cg->t.none, types, 2, 0));
    cg_attribute(l->cg, fn, L_FUNCTION, "nounwind", 0);
    cg_attribute(l->cg, fn, L_FUNCTION, "memory", ITS_OWN_MEMORY);
  }
  l_call(l->b, fn, args, 2);
}

LLVMValueRef ln_write_meeting(Lanes *l, LLVMValueRef meeting) {
  RtMeetKind kind = kind_of(meeting);
  LLVMTypeRef t = l->cg->t.i64;
  assert(l->width == WARP && l->how.whole && !l->mask_now);
  if (kind != RT_MEET_ACTIVE)
    check_mask(l, meeting);
  if (l->cg->options.check & RT_CHECK_BLOCKS)
    note_meeting(l);
  if (kind == RT_MEET_SYNC)
    return i64(l, 0);
  LLVMValueRef value = LLVMGetOperand(meeting, MEET_VALUE), got;
  if (is_shuffle(kind))
    got = shuffle(l, meeting, kind);
  else if (kind == RT_MEET_MATCH_ANY)
    got = match_any(l, value);
  else
    got = vote(l, kind, value);
  bool vector = LLVMGetTypeKind(LLVMTypeOf(got)) == LLVMVectorTypeKind;
  return l_zext_or_same(l->b, got, vector ? LLVMVectorType(t, WARP) : t);
}
