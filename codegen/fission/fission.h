/* Fission: a thread's function with barriers becomes functions without. Private to this room; used
 * by host/target.c.
 *
 * In: an LLVM function `void f(args…)` that runs one thread from begin to end, and in which a
 * barrier is a call of `i32 pyptx.barrier(i32 kind, i1 vote)`, and any other meeting of threads
 * (RtMeetKind) one of `i64 pyptx.meet(i32 kind, i32 site, i32 mask, i64 value, i32 lane)`. Out: its
 * segments. Segment 0 runs from the entry, segment j from just behind barrier j, each up to
 * whichever barrier or end it comes to. A segment is a function
 *
 *   i32 f.segment.j(args…, ptr frame, i64 stride, i32 ayes, i32 voters[, ptr shared])
 *
 * with the result next << 2 | voter << 1 | aye: next is the segment that follows, 0 if the thread
 * has ended; voter is set when the barrier is one of the voting ones, aye is the vote. ayes and
 * voters are their sums over all threads that arrived at the barrier in front of segment j. Any
 * number of threads may be at different barriers when they are released: the segments do not depend
 * on it.
 *
 * A meeting is cut like a barrier, which the rest of this room calls it, too. What the thread
 * brings is left in its slots of the frame (RT_SLOT_…, abi.h), and what it gets is read from there.
 *
 * What a thread knows on both sides of a barrier is computed again if it hangs on the arguments
 * alone, and kept in the frame if not: the value at offset k of thread t is at frame + k * stride +
 * t * size, stride being the number of threads rounded up to RT_FRAME_THREADS, so that neighbouring
 * threads' values are neighbours. Arrays of a thread (allocas) are in the frame too. Source:
 * work-item loop fission as in pocl (Jääskeläinen et al., 2015), with explicit next-segment numbers
 * so that divergent barriers need no case of their own. */
#ifndef PYPTX_CODEGEN_FISSION_FISSION_H
#define PYPTX_CODEGEN_FISSION_FISSION_H

#include "codegen/llvm/match.h"

#define CG_BARRIER_NAME "pyptx.barrier"
#define CG_MEET_NAME    "pyptx.meet"
/* Metadata on a load whose value is the same whenever the same arguments are given, and that may
 * run anywhere. Where LLVM has lost it, loads from the first argument and from what its first word
 * points to are known to be such. */
#define CG_FIELD_METADATA "pyptx.field"

enum { BARRIER_PLAIN, BARRIER_AND, BARRIER_OR, BARRIER_COUNT }; /* kind of a barrier call */
/* of a segment behind f's own; the second with FissionHow.block */
enum { SEGMENT_ARGS = 4, SEGMENT_BLOCK_ARGS = 5 };
enum { SEGMENT_NEXT_SHIFT = 2, SEGMENT_VOTER = 2, SEGMENT_AYE = 1 };

/* What all threads of the block keep alike, at `offset` of what the segment's last argument points
 * to; what it leaves for the next one is `shared_bytes` behind, since other threads are still to
 * run it. */
typedef struct SharedValue {
  uint32_t offset;
  LLVMTypeRef type;
} SharedValue;

typedef struct Segment {
  LLVMValueRef fn;
  uint32_t *exits; /* segments that may follow, 0 for the end, each once */
  uint32_t nexits;
  RtMeetPoint point;   /* behind which it begins */
  bool votes;          /* it may end at a barrier that votes */
  SharedValue *shared; /* that it leaves, each once */
  uint32_t nshared;
} Segment;

typedef struct Fission {
  Segment *segments; /* arena */
  uint32_t nsegments;
  uint32_t frame_bytes;  /* a thread, beginning at the given first offset */
  uint32_t shared_bytes; /* a multiple of 8; twice as much is pointed to */
} Fission;

/* thread_arg: which argument of f is the thread's number in its block (i32). first_offset: bytes of
 * the frame that are taken. f itself stays, without uses. All calls of functions with barriers must
 * have been inlined. */
struct Lanes;
typedef struct FissionHow {
  unsigned thread_arg;
  uint32_t first_offset;
  /* what is known of f's values, NULL if nothing; then loads of what is the same for all threads
   * are marked (lanes/lanes.h) */
  const struct Lanes *lanes;
  const struct Lanes *
      block; /* the same where lanes are any threads of the block: what they share is kept once, and segments have a last argument that
                              * points to it (SharedValue); NULL: all is kept for each thread */
  bool warps; /* operations of a warp are no cuts */
} FissionHow;
Fission cg_fission(Cg *cg, LLVMValueRef f, const FissionHow *how);
bool cg_is_block_barrier(LLVMValueRef instruction);
bool cg_is_meeting(LLVMValueRef instruction);
/* May it be computed where its block is not reached? Of arithmetic: it does not divide by what is 0
 * there. */
bool cg_divides_safely(LLVMValueRef instruction);
/* Of a load in the function of a thread: CG_FIELD_METADATA. */
bool cg_is_field_load(Cg *cg, LLVMValueRef f, LLVMValueRef load);

#endif
