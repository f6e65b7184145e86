/* NVPTX float bounds: between which numbers a float is, unless it is nan. */
#ifndef PYPTX_CODEGEN_NVPTX_FLOAT_BOUNDS_H
#define PYPTX_CODEGEN_NVPTX_FLOAT_BOUNDS_H

#include "codegen/llvm/cg.h"

typedef struct FloatBounds {
  double lo, hi; /* may be infinite */
  bool number;   /* it is never nan */
} FloatBounds;

FloatBounds cg_nvptx_float_bounds(LLVMValueRef v);
/* The same of a conversion of an integer to float32 or float64. */
FloatBounds cg_nvptx_bounds_of_integer(LLVMValueRef v);

#endif
