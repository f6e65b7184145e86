/* Coarsening: what the two files share that write the second entry, write_entry.c and write_arms.c.
 * Private to them. */
#ifndef PYPTX_CODEGEN_COARSEN_WRITER_H
#define PYPTX_CODEGEN_COARSEN_WRITER_H

#include "codegen/coarsen/coarsen.h"

/* An edge to a block of the common path. */
typedef struct CoEdge {
  const CoBlock *to;
  uint32_t old; /* the block of the kernel from which it comes */
  LLVMBasicBlockRef from;
  /* after arms: the phis' values, phi by phi and copy by copy; NULL: those of the old edge */
  LLVMValueRef *joined;
} CoEdge;

/* A phi of a single copy whose operands are still missing. */
typedef struct CoOpen {
  const CoIns *i;
  unsigned copy;
  CoSet from;
} CoOpen;

typedef struct CoWriter {
  CoShape *s;
  const CoPlan *plan;
  const CgTypes *t;
  Cx *cx;
  LLVMBuilderRef b;
  LLVMValueRef fn, logical; /* blocks of the launch on the axis */
  /* blockIdx, threadIdx on the axis */
  LLVMValueRef block[CO_MAX_FACTOR + 1], thread[CO_MAX_FACTOR + 1];
  LLVMBasicBlockRef loop, latch;
  /* what each copy has loaded last under a bound, which is known in this block; NULL: nothing */
  LLVMValueRef loaded[CO_MAX_FACTOR];
  uint32_t loaded_at;
  CoSet bounded;     /* co_bounded_arms */
  VEC(CoEdge) edges; /* of the common path */
  VEC(CoOpen) open;
} CoWriter;

LLVMBasicBlockRef co_new_block(CoWriter *w, const char *name);
/* What a value of the kernel is in copy c. */
LLVMValueRef co_resolve(const CoWriter *w, unsigned c, LLVMValueRef old);
/* The same instruction of copy c's operands; a register, or a sum, as the copy has it, too. */
LLVMValueRef co_cloned(CoWriter *w, unsigned c, const CoIns *i);
LLVMValueRef co_copied(CoWriter *w, unsigned c, const CoIns *i);
/* A block of one copy, and how it ends. from: the predecessors that the copy has. */
void co_write_block(CoWriter *w, unsigned c, const CoBlock *b, CoSet from);
void co_write_end(CoWriter *w, unsigned c, const CoBlock *b);
/* The phis of the block at which a copy's arms join, for this copy alone. */
void co_write_joined(CoWriter *w, unsigned c, const CoBlock *b, CoSet from, LLVMValueRef *joined);
void co_add_edge(CoWriter *w, uint32_t from, uint32_t to, LLVMValueRef *joined);
/* The arms of a block of the common path, for all copies. */
void co_write_arms(CoWriter *w, uint32_t at);

#endif
