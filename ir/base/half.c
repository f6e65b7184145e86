#include "ir/base/half.h"

#include <math.h>

const HalfFormat half_float16 = {.fraction = 10, .bias = 15, .sign = 15};
const HalfFormat half_bfloat16 = {.fraction = 7, .bias = 127, .sign = 15};
const HalfFormat half_e4m3 = {.fraction = 3, .bias = 7, .sign = 7, .finite = true};
const HalfFormat half_e5m2 = {.fraction = 2, .bias = 15, .sign = 7};
const HalfFormat half_e8m0 = {.bias = 127, .sign = 8, .finite = true, .powers = true};

static unsigned magnitude(const HalfFormat *f) { return (1u << f->sign) - 1; }

/* What the values beyond the largest one become: infinity, or the only nan. */
static unsigned beyond(const HalfFormat *f) {
  return f->finite ? magnitude(f) : magnitude(f) >> f->fraction << f->fraction;
}

/* Of a finite one's bits. */
static double finite_value(const HalfFormat *f, unsigned bits) {
  if (f->powers)
    return ldexp(1, (int)bits - f->bias);
  int fraction = (int)bits & ((1 << f->fraction) - 1), exponent = (int)(bits >> f->fraction);
  return exponent ? ldexp((1 << f->fraction) + fraction, exponent - f->bias - f->fraction)
                  : ldexp(fraction, 1 - f->bias - f->fraction);
}

double half_max(const HalfFormat *f) { return finite_value(f, beyond(f) - 1); }

double half_value(const HalfFormat *f, uint16_t bits) {
  unsigned size = bits & magnitude(f);
  double v = size < beyond(f)                 ? finite_value(f, size)
             : f->finite || size != beyond(f) ? (double)NAN
                                              : (double)INFINITY;
  return bits >> f->sign & 1 ? -v : v;
}

static uint16_t power_bits(const HalfFormat *f, double v) {
  int exponent;
  if (!(v > 0) || isinf(v))
    return (uint16_t)beyond(f);
  double part = frexp(v, &exponent); /* v = part * 2**exponent, 0.5 <= part < 1 */
  exponent += f->bias - (part < 0.75);
  if (exponent <= 0)
    return v > ldexp(1, -f->bias);
  return (uint16_t)(exponent < (int)beyond(f) ? exponent : (int)beyond(f));
}

/* In units of the format's last place at the value's own size; a carry out of the fraction goes
 * into the exponent, up to what is beyond. */
uint16_t half_bits(const HalfFormat *f, double v) {
  if (f->powers)
    return power_bits(f, v);
  unsigned sign = signbit(v) ? 1u << f->sign : 0;
  if (isnan(v))
    return (uint16_t)(sign | beyond(f) | 1u << (f->fraction - 1));
  if (v == 0)
    return (uint16_t)sign;
  int exponent;
  (void)frexp(v, &exponent); /* |v| = m * 2**exponent, 0.5 <= m < 1 */
  exponent += f->bias - 1;   /* as stored */
  if (isinf(v) || exponent > (int)(beyond(f) >> f->fraction))
    return (uint16_t)(sign | beyond(f));
  int stored = exponent < 1 ? 1 : exponent;
  unsigned units = (unsigned)rint(ldexp(fabs(v), f->bias + f->fraction - stored));
  unsigned bits = ((unsigned)(stored - 1) << f->fraction) + units;
  return (uint16_t)(sign | (bits < beyond(f) ? bits : beyond(f)));
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
