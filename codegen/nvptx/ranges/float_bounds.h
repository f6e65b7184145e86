/* NVPTX float bounds: between which numbers a float is, unless it is nan. */
#ifndef PYPTX_CODEGEN_NVPTX_RANGES_FLOAT_BOUNDS_H
#define PYPTX_CODEGEN_NVPTX_RANGES_FLOAT_BOUNDS_H

#include "codegen/llvm/graph.h"

typedef struct FloatBounds {
  double lo, hi; /* may be infinite */
  bool number;   /* it is never nan */
} FloatBounds;

FloatBounds cg_nvptx_float_bounds(LLVMValueRef v);
/* What is known where the block runs, by branches that alone lead to it, too. */
FloatBounds cg_nvptx_float_bounds_in(const FnGraph *g, LLVMValueRef v, LLVMBasicBlockRef block);
/* The same of a conversion of an integer to float32 or float64. */
FloatBounds cg_nvptx_bounds_of_integer(LLVMValueRef v);

#endif
