/* Fission: what its three files share. fission.c cuts the function and decides where values are
 * kept; segment.c writes the segments. */
#ifndef PYPTX_CODEGEN_FISSION_PRIVATE_H
#define PYPTX_CODEGEN_FISSION_PRIVATE_H

#include "codegen/fission/fission.h"
#include "codegen/llvm/graph.h"

enum { NO_SLOT = UINT32_MAX, TOO_DEAR = UINT32_MAX };

/* How a value gets into the segments that use it. */
typedef enum Home {
  HOME_INSIDE,  /* it is not live across a barrier */
  HOME_AGAIN,   /* it is recomputed (rematerialised) at the beginning of a segment */
  HOME_FRAME,   /* it is kept in the frame */
  HOME_FOLLOWS, /* it is recomputed from arguments and from shared values that are kept */
  HOME_ARRAY,   /* an alloca: its memory is in the frame */
  HOME_OWN,     /* an alloca that no contents survive a barrier in: each segment has its own */
} Home;

/* An instruction of the function that has a value, by number. */
typedef struct Value {
  LLVMValueRef old;
  uint32_t node; /* where it is computed; of a barrier: the node after it */
  Home home;
  uint32_t bit; /* in live sets; NO_SLOT if only its own node uses it */
  /* instructions that recompute it from arguments; TOO_DEAR: it cannot be, or they are too many */
  uint32_t cost;
  /* the same, if shared values that are kept may be used too */
  uint32_t cost_of_shared;
  uint32_t offset; /* FRAME, ARRAY: in the frame, or of a shared value in the shared memory */
  uint32_t size, align;
  bool uniform; /* FRAME: all threads of the block keep the same value */
  bool shared;  /* FRAME: it is kept once for the block */
  bool own;     /* an alloca whose contents are never used behind a barrier */

  /* in the segment that is being written */
  LLVMValueRef now;   /* its copy; NULL where there is none */
  LLVMValueRef again; /* AGAIN, ARRAY, OWN: the copy at the beginning */
  LLVMValueRef start; /* FRAME: what was kept */
  LLVMValueRef box; /* FRAME, FOLLOWS: the alloca that holds it, if the segment also computes it */
} Value;

typedef struct Fissioner {
  Cg *cg;
  Arena *arena;
  LLVMValueRef f;
  LLVMBuilderRef b;
  unsigned nargs, thread_arg;
  bool warps; /* warp operations are no cuts */
  FnGraph g;  /* blocks are cut after barriers */
  LiveSets *live;
  uint32_t *segment_of;   /* node that begins one -> number */
  LLVMBasicBlockRef *now; /* nodes in the segment being written, NULL where there is none */
  VEC(Value) values;
  VEC(uint32_t) starts; /* first node of each segment */
  ValueMap value_of;    /* instruction -> values */
  uint32_t nbits;
  uint32_t frame_bytes, shared_bytes;
  bool shares;           /* segments have an argument for shared values */
  unsigned uniform_kind; /* metadata */
} Fissioner;

/* The value of an operand, NULL for constants, arguments, functions and blocks. */
static inline Value *fs_value(Fissioner *x, LLVMValueRef operand) {
  uint32_t n = valuemap_get(&x->value_of, operand);
  return n == VALUEMAP_NONE ? NULL : &x->values.data[n];
}
/* The barrier that ends a node, and the one after which it begins; NULL if none. */
static inline LLVMValueRef fs_barrier(const Fissioner *x, uint32_t node) {
  LLVMValueRef last = x->g.nodes[node].last;
  return LLVMIsATerminatorInst(last) ? NULL : last;
}
static inline LLVMValueRef fs_barrier_before(const Fissioner *x, uint32_t node) {
  return node ? fs_barrier(x, node - 1) : NULL;
}
static inline bool fs_live_at(const Fissioner *x, uint32_t node, const Value *v) {
  return v->bit != NO_SLOT && set_has(x->live[node].in, v->bit);
}

/* own_arrays.c: sets `own` of the allocas that may be HOME_OWN; after costs are known. */
void fs_find_own_arrays(Fissioner *x);
bool fs_crosses(const Fissioner *x, const Value *v); /* is it live at the beginning of a segment? */
bool fs_is_lifetime(LLVMValueRef instruction);
void fs_write_segment(Fissioner *x, uint32_t number, Segment *out);

#endif
