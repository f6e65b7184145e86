/* What strided_unroll.c and short_rows.c share: a loop that is being unrolled. Private to them. */
#ifndef PYPTX_CODEGEN_NVPTX_LOOPS_SHORT_ROWS_H
#define PYPTX_CODEGEN_NVPTX_LOOPS_SHORT_ROWS_H

#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loops/strided_unroll.h"

/* ROWS_FEW: iterations of short rows that lanes take at once; MAX_WAYS: of those of a loop: one
 * iteration, two, three, and the rounds, with and without what is left over */
enum { ROWS_FEW = 4, MAX_WAYS = 5 };

/* A way through the loop: the block that ends it, and what stands for the old values there. */
typedef struct UnrollWay {
  LLVMBasicBlockRef from;
  LLVMValueRef *values;
} UnrollWay;

typedef struct Unroll {
  Cg *cg;
  LLVMBasicBlockRef block, entry;
  unsigned count;
  bool once;          /* there is one round at most */
  bool alone;         /* it is asked whether there is one iteration */
  LLVMValueRef began; /* rounds are those that all threads have, which began at these places */
  unsigned extra;     /* so many behind the rounds, and up to a round more, are taken at once */
  Stride s;
  LLVMValueRef *old; /* phis, then all but the branch */
  unsigned nphis, n;
  ValueMap place;    /* of old */
  LLVMValueRef *now; /* what stands for each in the block that is being written */
  UnrollWay ways[MAX_WAYS];
  unsigned nways;
} Unroll;

/* strided_unroll.c: does the loop go on with this as its next number? */
LLVMValueRef cg_stride_goes_on(const Cg *cg, const Stride *s, LLVMValueRef next);
LLVMBasicBlockRef cg_unroll_block(const Unroll *u);
/* A loop of copies, in the block where the builder stands, that goes on while the counter is less
 * than the bound, and then to `out`; its branch. NULL: the copies run once. */
LLVMValueRef cg_unroll_loop(Unroll *u, LLVMBasicBlockRef from, const LLVMValueRef *first,
                            unsigned copies, LLVMValueRef bound, LLVMBasicBlockRef out);
/* One more way, that ends in this block and goes to the old one. */
void cg_unroll_way(Unroll *u, LLVMBasicBlockRef from, const LLVMValueRef *values);

/* Do all threads begin at their places, which are not negative and not the same, and have one end?
 */
bool cg_rows_are_of_lanes(const Unroll *u);
/* Of such a loop with a constant step: does each begin within the first step, as the lanes of a
 * warp do? Then there are no more iterations than the end has steps. */
bool cg_rows_begin_side_by_side(const Unroll *u);
/* May it be asked whether there is one iteration, or a few? */
bool cg_rows_may_be_alone(const Unroll *u);
bool cg_rows_may_be_few(const Unroll *u);
/* Asks between the entry and `front` whether there is one iteration; its block. */
LLVMBasicBlockRef cg_rows_write_alone(Unroll *u, const LLVMValueRef *first,
                                      LLVMBasicBlockRef front);
/* Of the threads of a block: the ways of those that have no round. One iteration goes to `alone`.
 * The block where that is asked; NULL: the loop is none of theirs. */
LLVMBasicBlockRef cg_rows_write_counted(Unroll *u, const LLVMValueRef *first,
                                        LLVMBasicBlockRef alone);
/* Of the lanes of a warp: what is asked between the entry and `front`. */
void cg_rows_write_lanes(Unroll *u, const LLVMValueRef *first, LLVMBasicBlockRef front, bool few);

#endif
