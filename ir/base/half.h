/* Half: float16 (IEEE binary16) and bfloat16 (the upper half of a float32) as bits and as the
 * doubles that they stand for. The one place that knows the two formats outside of LLVM. Rounding
 * is to nearest, ties to even, straight from the value given. */
#ifndef PYPTX_IR_BASE_HALF_H
#define PYPTX_IR_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HalfFormat {
  int fraction; /* stored bits of the significand */
  int bias;     /* of the exponent */
} HalfFormat;

extern const HalfFormat half_float16, half_bfloat16;

double half_value(const HalfFormat *f, uint16_t bits);
uint16_t half_bits(const HalfFormat *f, double v);
double half_round(const HalfFormat *f, double v); /* the nearest value of the format */
/* A double that rounds to what the integer itself rounds to: exact, or with its last bit set in
 * place of what it cannot hold. */
double half_sticky(bool negative, uint64_t magnitude);

#endif
