#include "ir/base/half.h"

#include <math.h>

const HalfFormat half_float16 = {.fraction = 10, .bias = 15};
const HalfFormat half_bfloat16 = {.fraction = 7, .bias = 127};

/* of infinities and nans */
static int top_exponent(const HalfFormat *f) { return 2 * f->bias + 1; }

double half_value(const HalfFormat *f, uint16_t bits) {
  int fraction = bits & ((1 << f->fraction) - 1), exponent = bits >> f->fraction & top_exponent(f);
  double v = exponent == top_exponent(f) ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent ? ldexp((1 << f->fraction) + fraction, exponent - f->bias - f->fraction)
                        : ldexp(fraction, 1 - f->bias - f->fraction);
  return bits >> 15 ? -v : v;
}

/* In units of the format's last place at the value's own size; a carry out of the fraction goes
 * into the exponent, up to infinity. */
uint16_t half_bits(const HalfFormat *f, double v) {
  unsigned sign = signbit(v) ? 0x8000u : 0, top = (unsigned)top_exponent(f) << f->fraction;
  if (isnan(v))
    return (uint16_t)(sign | top | 1u << (f->fraction - 1));
  if (v == 0)
    return (uint16_t)sign;
  int exponent;
  (void)frexp(v, &exponent); /* |v| = m * 2**exponent, 0.5 <= m < 1 */
  exponent += f->bias - 1;   /* as stored */
  if (isinf(v) || exponent >= top_exponent(f))
    return (uint16_t)(sign | top);
  int stored = exponent < 1 ? 1 : exponent;
  unsigned units = (unsigned)rint(ldexp(fabs(v), f->bias + f->fraction - stored));
  return (uint16_t)(sign | (((unsigned)(stored - 1) << f->fraction) + units));
}

double half_round(const HalfFormat *f, double v) {
  return isnan(v) ? v : half_value(f, half_bits(f, v));
}

double half_sticky(bool negative, uint64_t magnitude) {
  enum { KEPT = 53 };
  int shift = magnitude >> KEPT ? 64 - KEPT - __builtin_clzll(magnitude) : 0;
  uint64_t kept = magnitude >> shift;
  kept |= (kept << shift) != magnitude;
  double v = ldexp((double)kept, shift);
  return negative ? -v : v;
}
