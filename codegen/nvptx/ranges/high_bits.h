/* NVPTX high bits: how many bits a number has at most, read without a sign.
 *
 * In: a function in any form. Out: of each integer of at most 64 bits a bound, by what the whole
 * function makes of it: through phis of loops, and through any number of branches, each of which
 * may set a bit (mask |= 1 << k). value_ranges.h looks a few operations deep, but knows signs. */
#ifndef PYPTX_CODEGEN_NVPTX_RANGES_HIGH_BITS_H
#define PYPTX_CODEGEN_NVPTX_RANGES_HIGH_BITS_H

#include "codegen/llvm/cg.h"
#include "codegen/llvm/valuemap.h"
#include "ir/base/vec.h"

typedef struct HighBits {
  ValueMap number; /* of an instruction in `bits` */
  VEC(uint8_t) bits;
} HighBits;

HighBits cg_nvptx_high_bits(Cg *cg, LLVMValueRef function);
/* It is less than 1 << this; the width of its type where nothing is known. */
unsigned cg_nvptx_bits_of(const HighBits *h, LLVMValueRef v);

#endif
