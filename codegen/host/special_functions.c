/* Special functions for the host device.
 *
 * They are computed in long double and rounded once at the end. long double has 11 more bits than
 * double on x86-64, 60 more on AArch64, and far more range, so plain formulas suffice. Where long
 * double is double, they lose a few ulps. */
#include <math.h>
#include <stdbool.h>

#include "codegen/host/libdevice.h"

#define PI      3.14159265358979323846264338327950288L
#define ROOT_PI 1.77245385090551602729816748334114518L
#define ROOT_2  1.41421356237309504880168872420969808L

/* --- sine, cosine and tangent ---
 *
 * glibc's double functions are within 1 ulp up to 10**8. For larger angles their argument reduction
 * has too few bits of pi: near its multiples they are off by up to 143,270 ulps. The reduction of
 * the long double functions suffices for every angle. */
static bool is_small(double angle) { return fabs(angle) <= 0x1p26; }

double cg_sin(double x) { return is_small(x) ? sin(x) : (double)sinl(x); }
double cg_cos(double x) { return is_small(x) ? cos(x) : (double)cosl(x); }
double cg_tan(double x) { return is_small(x) ? tan(x) : (double)tanl(x); }

/* --- sine and cosine of multiples of pi --- */

/* Splits x = n / 2 + f exactly, with |f| <= 1/4, so that pi * x is n quarter turns plus pi * f.
 * Returns n mod 4. */
static int quarter_turns(double x, long double *f) {
  double r = fmod(x, 2); /* exact */
  double n = rint(2 * r);
  *f = r - n / 2;
  return (int)n & 3;
}

static double sine_of_turns(int quarter, long double f) {
  switch (quarter) {
  case 0: return (double)sinl(PI * f);
  case 1: return (double)cosl(PI * f);
  case 2: return (double)-sinl(PI * f);
  default: return (double)-cosl(PI * f);
  }
}

/* Zeros have x's sign. */
double cg_sinpi(double x) {
  long double f;
  if (!isfinite(x))
    return x - x;
  int quarter = quarter_turns(x, &f);
  return f == 0 && !(quarter & 1) ? copysign(0.0, x) : sine_of_turns(quarter, f);
}

/* Zeros are positive. */
double cg_cospi(double x) {
  long double f;
  if (!isfinite(x))
    return x - x;
  int quarter = quarter_turns(x, &f);
  return f == 0 && quarter & 1 ? 0.0 : sine_of_turns((quarter + 1) & 3, f);
}

long double cg_norm(double x, double y, double z, double w) {
  if (isinf(x) || isinf(y) || isinf(z) || isinf(w))
    return INFINITY;
  return sqrtl((long double)x * x + (long double)y * y + (long double)z * z + (long double)w * w);
}

/* --- the error function's relatives --- */

/* exp(x*x) erfc(x): by its definition while erfc does not underflow, then by the asymptotic series
 * 1/(x sqrt(pi)) (1 - 1/(2x^2) + 1*3/(2x^2)^2 - …), whose 9th term is below 2^-70 there. Abramowitz
 * and Stegun, 7.1.23. */
double cg_erfcx(double x) {
  long double t = x;
  if (!(x > 26))
    return (double)(expl(t * t) * erfcl(t));
  long double q = 1 / (2 * t * t), sum = 0;
  for (int k = 9; k > 0; k--)
    sum = -(2 * k - 1) * q * (1 + sum);
  return (double)((1 + sum) / (t * ROOT_PI));
}

double cg_normcdf(double x) { return (double)(erfcl(-x / ROOT_2) / 2); }

/* y > 0 with erfc(y) = q, for q <= 1/2: a rational approximation within 5e-4 (Abramowitz and
 * Stegun, 26.2.23), then Newton's method, which converges within four steps. */
static long double inverse_tail(long double q) {
  long double t = sqrtl(-2 * logl(q / 2));
  long double y = t - (2.515517L + t * (0.802853L + t * 0.010328L)) /
                          (1 + t * (1.432788L + t * (0.189269L + t * 0.001308L)));
  y /= ROOT_2;
  for (int k = 0; k < 5; k++)
    y += (erfcl(y) - q) / (2 / ROOT_PI * expl(-y * y));
  return y;
}

/* y with erf(y) = x, for |x| <= 1/2: Newton's method from the first terms of its series. */
static long double inverse_middle(long double x) {
  long double y = x * ROOT_PI / 2 * (1 + PI / 12 * x * x);
  for (int k = 0; k < 5; k++)
    y -= (erfl(y) - x) / (2 / ROOT_PI * expl(-y * y));
  return y;
}

/* 1 - |x| is exact where it is used, and so is 1 - q below. */
double cg_erfinv(double x) {
  double size = fabs(x);
  if (!(size < 1))
    return size == 1 ? copysign(INFINITY, x) : NAN;
  if (size <= 0.5)
    return x == 0 ? x : (double)inverse_middle(x);
  return (double)copysignl(inverse_tail(1 - (long double)size), x);
}

static long double inverse_erfc(long double q) {
  if (!(q > 0 && q < 2))
    return q == 0 ? INFINITY : q == 2 ? -INFINITY : NAN;
  if (q < 0.5L)
    return inverse_tail(q);
  return q > 1.5L ? -inverse_tail(2 - q) : inverse_middle(1 - q);
}

double cg_erfcinv(double x) { return (double)inverse_erfc(x); }
double cg_normcdfinv(double x) { return (double)(-ROOT_2 * inverse_erfc(2 * (long double)x)); }

/* --- modified Bessel functions of the first kind --- */

/* The sum of (x/2)^(2k + n) / (k! (k + n)!): no cancellation, since all terms have the same
 * sign. */
static long double bessel_series(int n, long double x) {
  long double term = n ? x / 2 : 1, sum = term, q = x * x / 4;
  for (int k = 1; term > sum * 1e-22L; k++)
    sum += term *= q / ((long double)k * (k + n));
  return sum;
}

/* Abramowitz and Stegun, 9.7.1: the terms decrease to e^(-2x) before they grow again. */
static long double bessel_asymptotic(int n, long double x) {
  long double term = 1, sum = 1;
  for (int k = 1; k < 2 * x && fabsl(term) > 1e-22L; k++) {
    long double odd = 2 * k - 1;
    sum += term *= -(4.0L * n * n - odd * odd) / (8 * x * k);
  }
  return expl(x - logl(2 * PI * x) / 2) * sum;
}

double cg_bessel_i(int order, double x) {
  long double size = fabsl((long double)x);
  if (isnan(x) || isinf(x) || x == 0)
    return order ? x : isnan(x) ? x : x == 0 ? 1.0 : INFINITY;
  long double v = size < 30 ? bessel_series(order, size) : bessel_asymptotic(order, size);
  return (double)(order && x < 0 ? -v : v);
}
