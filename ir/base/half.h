/* Half: float16 (IEEE binary16), bfloat16 (the upper half of a float32), float8_e4m3fn, float8_e5m2
 * and float8_e8m0fnu as bits and as the doubles that they stand for. The one place that knows the
 * formats outside of LLVM. Rounding is to nearest, ties to even, straight from the value given.
 *
 * float8_e8m0fnu has powers of two alone: an exponent, no sign, no zero, no infinity. What lies in
 * the middle becomes the larger one, and so does all between the two smallest ones (as ml_dtypes
 * has it). What is below the smallest one becomes that, what is not above 0 or too large nan. */
#ifndef PYPTX_IR_BASE_HALF_H
#define PYPTX_IR_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HalfFormat {
  int fraction; /* stored bits of the significand */
  int bias;     /* of the exponent */
  int sign;     /* the sign's bit */
  /* no infinities: the largest exponent is one of numbers, but with all bits set a nan */
  bool finite;
  bool powers; /* float8_e8m0fnu */
} HalfFormat;

extern const HalfFormat half_float16, half_bfloat16, half_e4m3, half_e5m2, half_e8m0;

double half_max(const HalfFormat *f); /* the largest finite value */
double half_value(const HalfFormat *f, uint16_t bits);
uint16_t half_bits(const HalfFormat *f, double v);
double half_round(const HalfFormat *f, double v); /* the nearest value of the format */
/* A double that rounds to what the integer itself rounds to: exact, or with its last bit set in
 * place of what it cannot hold. */
double half_sticky(bool negative, uint64_t magnitude);

#endif
