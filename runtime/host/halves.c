/* Halves: see halves.h. */
#include "runtime/host/halves.h"

#include <math.h>
#include <string.h>

double rt_half_to_double(uint16_t h) {
  int e = h >> 10 & 31;
  double f = h & 1023, v = !e       ? ldexp(f, -24)
                           : e < 31 ? ldexp(1024 + f, e - 25)
                           : f != 0 ? (double)NAN
                                    : (double)INFINITY;
  return h >> 15 ? -v : v;
}

uint16_t rt_double_to_half(double v) {
  uint16_t sign = signbit(v) ? 0x8000 : 0;
  double a = fabs(v);
  if (isnan(v))
    return 0x7fff;
  if (a >= 65520)
    return sign | 0x7c00;
  if (a < 0x1p-14)
    return sign | (uint16_t)nearbyint(a * 0x1p24);
  int e;
  double f = frexp(a, &e); /* a carry of the rounding goes to the exponent by itself */
  return sign | (uint16_t)(((e + 13) << 10) + (int)nearbyint(ldexp(f, 11)));
}

double rt_bfloat_to_double(uint16_t bfloat) {
  uint32_t bits = (uint32_t)bfloat << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* Through a float whose last bit says whether it is exact, so that it is rounded once. */
uint16_t rt_double_to_bfloat(double v) {
  float f = (float)v;
  uint32_t bits;
  if (isnan(v))
    return 0x7fff;
  if (isfinite(f) && (double)f != v) {
    if (fabs((double)f) > fabs(v))
      f = nextafterf(f, 0);
    memcpy(&bits, &f, sizeof bits);
    bits |= 1;
  } else if (isinf(f) && isfinite(v)) {
    return signbit(v) ? 0xff80 : 0x7f80;
  } else {
    memcpy(&bits, &f, sizeof bits);
  }
  if ((bits & 0x7fffffff) < 0x7f800000)
    bits += 0x7fff + (bits >> 16 & 1);
  return (uint16_t)(bits >> 16);
}

/* As a float16, whose exponent has another bias; only all bits set is a nan. */
double rt_e4m3_to_double(uint8_t v) {
  uint16_t half = (uint16_t)((v & 0x80) << 8 | (v & 0x7f) << 7);
  return (v & 0x7f) == 0x7f ? (double)NAN : 0x1p8 * rt_half_to_double(half);
}

double rt_e5m2_to_double(uint8_t v) { return rt_half_to_double((uint16_t)(v << 8)); }
