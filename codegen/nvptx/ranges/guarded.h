/* NVPTX guarded: what comparisons in front of a block say of an integer there. */
#ifndef PYPTX_CODEGEN_NVPTX_RANGES_GUARDED_H
#define PYPTX_CODEGEN_NVPTX_RANGES_GUARDED_H

#include "codegen/llvm/graph.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* A comparison of a number with what has 32 bits. */
typedef struct Compared {
  LLVMIntPredicate how;
  LLVMValueRef bound, narrow; /* narrow: NULL, there is none of 32 bits */
  Interval range;             /* of the bound */
} Compared;

/* What is the same as v in 32 bits; NULL if it is not known to fit. */
LLVMValueRef cg_nvptx_narrow_bound(Cg *cg, LLVMValueRef v);
/* The comparison `by` of v, as if v were on the left; without `narrow` if it is none. */
Compared cg_nvptx_compared(Cg *cg, LLVMValueRef v, LLVMValueRef by);
enum { GUARD_FROM_0 = 1, GUARD_SMALL = 2, GUARD_WHOLE = 3, GUARD_LESS = 4 };
/* What is known of v wherever the block runs, from which an edge leads to `to` (NULL: anywhere):
 * FROM_0: it is not negative, SMALL: it is less than 2^31, WHOLE: both, LESS: less than
 * 2^31 - 1. Of an extended number, which has FROM_0, it holds of both. */
unsigned cg_nvptx_guards(Cg *cg, const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block,
                         LLVMBasicBlockRef to);
/* Is it at least that, by a comparison, where the edge from the block to `to` is taken? */
bool cg_nvptx_is_at_least(Cg *cg, const FnGraph *g, LLVMValueRef v, int64_t least,
                          LLVMBasicBlockRef block, LLVMBasicBlockRef to);
/* Is it WHOLE? */
bool cg_nvptx_is_guarded(Cg *cg, const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block,
                         LLVMBasicBlockRef to);

#endif
