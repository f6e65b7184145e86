/* Fission: work-item loop fission. A thread's function with barriers becomes several without, for
 * loops over the threads of a block. Used by host/ only.
 *
 * In: an LLVM function `void f(args…)` that runs one thread from beginning to end, in which a
 * barrier is a call of `i32 pyptx.barrier(i32 kind, i1 vote)`, and any other meeting of threads
 * (RtMeetKind) one of `i64 pyptx.meet(i32 kind, i32 site, i32 mask, i64 value, i32 lane)`. Out: its
 * segments. Segment 0 runs from the entry, segment j from just after barrier j, each up to the next
 * barrier or return on its path. A segment is a function
 *
 *   i32 f.segment.j(args…, ptr frame, i64 stride, i32 ayes, i32 voters[, ptr shared])
 *
 * with the result next << 2 | voter << 1 | aye: next is the segment that follows, 0 if the thread
 * has ended; voter is set if the barrier is a voting one, aye is the vote. ayes and voters are
 * their sums over all threads that arrived at the barrier in front of segment j. Threads may be at
 * different barriers when they are released: the segments do not depend on it.
 *
 * A meeting is cut like a barrier, and is called one in the rest of this folder. The thread's
 * operands are stored in slots of its frame (RT_SLOT_…, abi.h), and the result is loaded from
 * there.
 *
 * A value that is live across a barrier is recomputed in each segment if it depends on the
 * arguments alone and is cheap; otherwise it is kept in the frame. The value at offset k of thread
 * t is at frame + k * stride + t * size, where stride is the number of threads rounded up to
 * RT_FRAME_THREADS: values of neighbouring threads are contiguous. A thread's arrays (allocas) are
 * in the frame too, or in the segments that use them (own_arrays.c). Source: work-item loop fission
 * as in pocl (Jääskeläinen et al., 2015), with explicit next-segment numbers, so that divergent
 * barriers need no case of their own. */
#ifndef PYPTX_CODEGEN_FISSION_FISSION_H
#define PYPTX_CODEGEN_FISSION_FISSION_H

#include "codegen/llvm/match.h"

#define CG_BARRIER_NAME "pyptx.barrier"
#define CG_MEET_NAME    "pyptx.meet"
/* Metadata on a load whose value depends on the arguments alone, and which may be executed
 * anywhere. Where LLVM has dropped it, loads from the first argument and from the memory that its
 * first word points to are recognised as such. */
#define CG_FIELD_METADATA "pyptx.field"

/* operands of a meeting's call */
enum { MEET_KIND, MEET_SITE, MEET_MASK, MEET_VALUE, MEET_LANE };
enum { BARRIER_PLAIN, BARRIER_AND, BARRIER_OR, BARRIER_COUNT }; /* kind of a barrier call */
/* arguments of a segment that follow f's own; the second with FissionHow.block */
enum { SEGMENT_ARGS = 4, SEGMENT_BLOCK_ARGS = 5 };
enum { SEGMENT_NEXT_SHIFT = 2, SEGMENT_VOTER = 2, SEGMENT_AYE = 1 };

/* A value that is live across a barrier and uniform over the block, at `offset` from the segment's
 * last argument. A segment stores it `shared_bytes` further on, for the next segment, since other
 * threads have yet to load the old value. */
typedef struct SharedValue {
  uint32_t offset;
  LLVMTypeRef type;
} SharedValue;

typedef struct Segment {
  LLVMValueRef fn;
  uint32_t *exits; /* segments that may follow, 0 for the end, each once */
  uint32_t nexits;
  RtMeetPoint point;   /* the meeting after which it begins */
  bool votes;          /* it may end at a voting barrier */
  SharedValue *shared; /* values that it stores, each once */
  uint32_t nshared;
} Segment;

typedef struct Fission {
  Segment *segments; /* arena */
  uint32_t nsegments;
  uint32_t frame_bytes;  /* for each thread, first_offset included */
  uint32_t shared_bytes; /* a multiple of 8; the caller provides twice as much */
} Fission;

struct Lanes;
typedef struct FissionHow {
  /* which argument of f is the thread's number in its block (i32) */
  unsigned thread_arg;
  /* bytes at the beginning of the frame that are in use already */
  uint32_t first_offset;
  /* the analysis of f for lanes that are neighbours, NULL if there is none: loads of values that
   * are uniform by it are marked (CG_UNIFORM_METADATA) */
  const struct Lanes *lanes;
  /* the analysis of f for lanes that are any threads of the block: values that are uniform by both
   * are kept once, and segments have a last argument that points to them (SharedValue). NULL: each
   * thread keeps its own. Needs `lanes`. */
  const struct Lanes *block;
  /* warp operations are no cuts */
  bool warps;
} FissionHow;

/* All calls of functions with barriers must have been inlined. f itself stays, without uses. */
Fission cg_fission(Cg *cg, LLVMValueRef f, const FissionHow *how);
bool cg_is_block_barrier(LLVMValueRef instruction);
bool cg_is_meeting(LLVMValueRef instruction);
/* May this arithmetic be speculated, that is, does it never divide by 0? */
bool cg_divides_safely(LLVMValueRef instruction);
/* Is this load in f one that CG_FIELD_METADATA describes? */
bool cg_is_field_load(Cg *cg, LLVMValueRef f, LLVMValueRef load);

#endif
