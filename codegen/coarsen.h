/* Coarsening, between its files: a second entry of a kernel's module, in which one block runs several neighbouring blocks of the
 * launch. docs/COARSENING.md has the theory; coarsen_shape.c says what a kernel is and whether it may be coarsened, coarsen_cost.c how,
 * coarsen_write.c writes it. Private to this room. */
#ifndef PYPTX_CODEGEN_COARSEN_H
#define PYPTX_CODEGEN_COARSEN_H

#include "codegen/cg.h"
#include "codegen/target.h"
#include "codegen/valuemap.h"

enum { CO_MAX_FACTOR = 8, CO_MAX_BLOCKS = 48, CO_MAX_INS = 600, CO_NO_SREG = -1 };

typedef struct CoIns {
  LLVMValueRef old;
  uint32_t block;
  int sreg;         /* SpecialReg of a read of one, else CO_NO_SREG */
  unsigned axis;    /* 1 + axis of a sum blockIdx * blockDim + threadIdx, else 0 */
  bool effects;     /* writes memory */
  bool reads;       /* a plain load */
  bool varies;      /* cost: not the same in all copies */
  /* The copies: one for each of the factor's blocks, and behind them the one in the loop. */
  LLVMValueRef now[CO_MAX_FACTOR + 1];
} CoIns;

typedef struct CoBlock {
  LLVMBasicBlockRef old;
  uint32_t first, last; /* instructions, last exclusive and past the terminator */
  uint32_t *succ, nsucc;
  uint64_t post;   /* bit set: blocks on every way from here to the end, itself included */
  bool effects;    /* has an instruction that writes memory */
  unsigned weight; /* instructions here and in all that can follow */
  LLVMBasicBlockRef now[CO_MAX_FACTOR + 1];
} CoBlock;

/* The way through the kernel on which its copies go together. */
typedef enum CoStepKind {
  CO_JUMP,  /* on to the next step's block */
  CO_GUARD, /* a branch before anything is written: all copies take the way to the next step's block, or the loop runs instead */
  CO_ARMS,  /* a branch whose ways meet in the next step's block: copy by copy */
  CO_END,
} CoStepKind;

typedef struct CoStep {
  uint32_t block;
  CoStepKind kind;
  unsigned taken; /* GUARD: number of the successor */
  uint64_t arms;  /* ARMS: blocks between */
} CoStep;

typedef struct CoShape {
  Cg *cg;
  LLVMValueRef f;
  unsigned nparams;
  VEC(CoIns) ins;
  CoBlock *blocks; /* in an order in which each comes behind those that lead to it */
  uint32_t nblocks;
  ValueMap ins_of, block_of;
  VEC(CoStep) steps;
  const char *reason; /* why it may not be coarsened, NULL if it may */
} CoShape;

typedef struct CoPlan {
  unsigned factor, axis; /* factor 1: not coarsened */
  unsigned fill;         /* as in RtCoarse */
  bool linear;   /* blockIdx on the axis is used in sums blockIdx * blockDim + threadIdx only */
  bool threads;  /* copies are neighbouring threads of the launch; else threads of neighbouring blocks */
  const char *reason; /* of factor 1 */
} CoPlan;

/* Reads cg->kernel. */
CoShape *co_shape(Cg *cg);
CoPlan co_plan(CoShape *s);
/* Settles the kernel's contractions, before co_shape. */
void co_contract(Cg *cg);
/* Writes the second entry. */
void co_write(CoShape *s, const CoPlan *plan, const char *symbol);

/* The instruction's entry; NULL for arguments, constants and blocks. */
static inline CoIns *co_ins(const CoShape *s, LLVMValueRef v) {
  uint32_t n = valuemap_get(&s->ins_of, v);
  return n == VALUEMAP_NONE ? NULL : &s->ins.data[n];
}
static inline uint32_t co_block(const CoShape *s, LLVMBasicBlockRef b) {
  return valuemap_get(&s->block_of, b);
}
/* Is blockIdx on this axis read; and is it, with threadIdx, used in sums only? */
bool co_reads_axis(const CoShape *s, unsigned axis);
bool co_is_linear(const CoShape *s, unsigned axis);
bool co_reads_thread(const CoShape *s, unsigned axis); /* threadIdx outside of sums, or laneid */

#endif
