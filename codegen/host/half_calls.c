/* Conversions of float16 and bfloat16 for host code: the functions that LLVM calls by these names
 * where the CPU has no instruction.
 *
 * On x86-64 and AArch64 both types are passed in the low 16 bits of a vector register, as a float
 * is in the low 32. So a float with these low bits stands for them here, and no compiler extension
 * is needed. */
#include "codegen/host/half_calls.h"

#include <string.h>

#include "ir/base/half.h"

static float in_register(uint16_t bits) {
  uint32_t word = bits;
  float f;
  memcpy(&f, &word, sizeof f);
  return f;
}

static uint16_t from_register(float f) {
  uint32_t word;
  memcpy(&word, &f, sizeof word);
  return (uint16_t)word;
}

float cg_extendhfsf2(float half) { return (float)half_value(&half_float16, from_register(half)); }
double cg_extendhfdf2(float half) { return half_value(&half_float16, from_register(half)); }
float cg_truncsfhf2(float v) { return in_register(half_bits(&half_float16, (double)v)); }
float cg_truncdfhf2(double v) { return in_register(half_bits(&half_float16, v)); }
float cg_truncsfbf2(float v) { return in_register(half_bits(&half_bfloat16, (double)v)); }
float cg_truncdfbf2(double v) { return in_register(half_bits(&half_bfloat16, v)); }
