/* Fission, between its files: fission.c cuts and decides, segment.c writes the segments. */
#ifndef PYPTX_CODEGEN_FISSION_PRIVATE_H
#define PYPTX_CODEGEN_FISSION_PRIVATE_H

#include "codegen/fission/fission.h"
#include "codegen/llvm/valuemap.h"

enum { NO_PIECE = UINT32_MAX, NO_SLOT = UINT32_MAX };

/* How a value gets into the segments that use it. */
typedef enum Home {
  HOME_INSIDE, /* no barrier lies between it and its uses */
  HOME_AGAIN,  /* computed again at the beginning of a segment */
  HOME_FRAME,  /* kept in the frame */
  HOME_ARRAY,  /* an alloca: its memory is in the frame */
} Home;

/* An instruction of the function that has a value, by number. */
typedef struct Value {
  LLVMValueRef old;
  uint32_t piece; /* where it is computed; of a barrier: the piece behind it */
  Home home;
  uint32_t bit; /* in live sets; NO_SLOT if only its own piece uses it */
  uint32_t
      cost; /* instructions to compute it again, with all it needs; 0: not asked yet, TOO_DEAR: cannot be */
  uint32_t offset; /* FRAME, ARRAY: in the frame */
  uint32_t size, align;
  bool uniform; /* FRAME: all threads of the block keep the same */
  bool shared;  /* FRAME: once for the block; offset is there */
  /* of the segment being written */
  LLVMValueRef now;   /* its copy, NULL where there is none */
  LLVMValueRef again; /* AGAIN, ARRAY: the copy at the beginning */
  LLVMValueRef box;   /* FRAME: the alloca that holds it */
} Value;

/* A stretch of code without a barrier inside: from the beginning of a block or the instruction behind a barrier, up to the block's
 * end or a barrier. */
typedef struct Piece {
  LLVMBasicBlockRef block;
  LLVMValueRef first;   /* instruction */
  LLVMValueRef barrier; /* the call that ends it, NULL if it is a terminator */
  LLVMValueRef behind;  /* the barrier that it begins behind, NULL at the beginning of a block */
  uint32_t segment;     /* the one that it begins, NO_PIECE if none */
  uint32_t *succ;       /* pieces; behind a barrier: one, the piece after it */
  uint32_t nsucc;
  uint64_t *in, *out, *use, *def; /* live sets */
  LLVMBasicBlockRef now;          /* copy in the segment being written, NULL where there is none */
} Piece;

typedef struct Fissioner {
  Cg *cg;
  Arena *arena;
  LLVMValueRef f;
  LLVMBuilderRef b;
  unsigned nargs, thread_arg;
  bool warps; /* operations of a warp are no cuts */
  VEC(Piece) pieces;
  VEC(Value) values;
  VEC(uint32_t) starts; /* first piece of each segment */
  ValueMap value_of;    /* instruction -> values */
  ValueMap first_piece; /* block -> piece */
  ValueMap last_piece;
  uint32_t nbits, words;
  uint32_t frame_bytes, shared_bytes;
  bool shares;           /* segments have an argument for what is shared */
  unsigned uniform_kind; /* metadata */
} Fissioner;

static inline bool bit_get(const uint64_t *set, uint32_t k) { return set[k / 64] >> (k % 64) & 1; }
static inline void bit_set(uint64_t *set, uint32_t k) { set[k / 64] |= (uint64_t)1 << (k % 64); }

/* The value of an operand, NULL for constants, arguments, functions and blocks. */
static inline Value *fs_value(Fissioner *x, LLVMValueRef operand) {
  uint32_t n = valuemap_get(&x->value_of, operand);
  return n == VALUEMAP_NONE ? NULL : &x->values.data[n];
}
static inline bool fs_live_at_start(const Fissioner *x, const Piece *start, const Value *v) {
  (void)x;
  return v->bit != NO_SLOT && bit_get(start->in, v->bit);
}

void fs_write_segment(Fissioner *x, uint32_t number, Segment *out);

#endif
