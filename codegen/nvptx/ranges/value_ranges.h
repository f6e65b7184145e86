/* NVPTX value ranges: what an LLVM integer can be, for passes that write it in fewer bits, drop a
 * test or multiply a bound.
 *
 * In: a value of a module in any form; nothing is analysed before. Out: bounds by what the value is
 * made of, a few operations deep: constants, special registers, extents, extensions, sums,
 * products, minima, counts of bits, selections, phis, counters; what is not known is any number of
 * its width. What must hold: flags such as nsw are taken at their word, so a pass that computes a
 * value where its flags might not hold takes them off. Typed SSA has ranges of its own
 * (ir/interval.h), which know loops and conditions; these know what LLVM's passes have made of the
 * code. */
#ifndef PYPTX_CODEGEN_NVPTX_RANGES_VALUE_RANGES_H
#define PYPTX_CODEGEN_NVPTX_RANGES_VALUE_RANGES_H

#include "codegen/llvm/cg.h"
#include "ir/interval_arithmetic.h"

/* The numbers of so many bits, with a sign. */
Interval cg_nvptx_numbers(unsigned bits);
/* The numbers that v can be, read with a sign. If v is no integer of at most 64 bits: all. */
Interval cg_nvptx_range(LLVMValueRef v);
/* Is each of them a number of so many bits, with a sign? */
bool cg_nvptx_fits(LLVMValueRef v, unsigned bits);

#endif
