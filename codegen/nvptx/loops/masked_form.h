/* What masked_unroll.c and masked_form.c share: a loop that is to become masked copies. Private to
 * them. */
#ifndef PYPTX_CODEGEN_NVPTX_LOOPS_MASKED_FORM_H
#define PYPTX_CODEGEN_NVPTX_LOOPS_MASKED_FORM_H

#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/loops/strided_unroll.h"

enum {
  COPIES = MASKED_COPIES * 3 / 2, /* those of a round, and of half of one behind it */
  MAX_BODY = 48,
  MAX_PHIS = 8,
  MAX_LEVEL = 4,
};

/* An instruction of the body. */
typedef struct MaskedStep {
  LLVMValueRef ins;
  int level; /* the length of the longest chain of loads that it depends on */
  bool load;
  bool early;                /* addresses of loads depend on it */
  bool zero;                 /* a load that gives 0 to threads that have no such iteration */
  LLVMValueRef last[COPIES]; /* what the round before has loaded, if that is kept */
  LLVMOpcode extended_by;    /* of a load: see find_extensions; else 0 */
  unsigned behind;           /* of a load, if not 0: it reads, so many iterations later, … */
  unsigned before;           /* … what this step has read */
  LLVMValueRef copy[COPIES];
} MaskedStep;

/* A loop-carried variable. */
typedef struct MaskedCarried {
  LLVMValueRef phi, next;
  int level;
  bool read_outside;           /* `next` is used after the loop */
  bool early;                  /* addresses of loads depend on it */
  bool sum;                    /* `next` is the same number where loads give 0 */
  LLVMValueRef at[COPIES + 1]; /* its value in each copy, and after the last */
  LLVMValueRef out;            /* and after the last that there is */
} MaskedCarried;

typedef struct MaskedLoop {
  Cg *cg;
  unsigned copies;
  unsigned least;  /* so many iterations are there where the loop is entered; of others, one */
  bool rest;       /* of a loop that LLVM has unrolled */
  bool once;       /* the copies are all iterations that there are */
  bool one_by_one; /* what is behind the loads is branched around */
  bool light;      /* of what is left over: that is little, and may be speculated */
  uint64_t stored; /* address spaces, as bits */
  bool passed;     /* global memory is stored to, by what loads with CG_AHEAD may pass */
  bool defined;    /* registers of what is not loaded have a value, from the entry on */
  LLVMValueRef function;
  LLVMBasicBlockRef block, entry, header;
  LLVMValueRef end, compare, counter; /* compare: of the counter's next value with end */
  bool strided;                       /* a loop of strided_unroll.c */
  Stride stride;
  MaskedStep steps[MAX_BODY];
  MaskedCarried carried[MAX_PHIS];
  unsigned nsteps, ncarried;
  ValueMap place; /* instruction -> number of its step; phi -> MAX_BODY + its number in carried */
  LLVMValueRef left, has[COPIES + 1]; /* iterations left; is there one for this copy? */
} MaskedLoop;

static inline bool cg_masked_is_inside(const MaskedLoop *l, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == l->block;
}

/* Reads the loop whose block, and what it is, are given; false: it has another form. */
bool cg_masked_read(MaskedLoop *l);
/* Which sums need no selections. */
void cg_masked_find_sums(MaskedLoop *l);
/* May it run, in threads that have such an iteration, while later iterations' loads are in flight
 * or done? Stores to the memory of a block or of a thread may, since arrays are elsewhere, and so
 * may stores to arrays that were found to lie apart. */
bool cg_masked_may_follow_loads(MaskedLoop *l, LLVMValueRef i);

#endif
