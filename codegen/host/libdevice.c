/* libdevice's functions for host code: a C function for each row of ir/libdevice.def, generated
 * from the row's host expression.
 *
 * For directed rounding the processor's rounding mode is set around one operation, whose operands
 * and result are volatile, so that the compiler does not move it. */
#include "codegen/host/libdevice.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

/* --- directed rounding --- */

#define IN_MODE(mode, T, operation)                                                                \
  __extension__({                                                                                  \
    volatile T result_;                                                                            \
    int before_ = fegetround();                                                                    \
    fesetround(mode);                                                                              \
    result_ = (operation);                                                                         \
    fesetround(before_);                                                                           \
    (T) result_;                                                                                   \
  })
#define HELD(x)                        (*(volatile __typeof__(x) *)&(__typeof__(x)){x})
#define DIRECTED2(mode, x, op, y)      IN_MODE(mode, __typeof__((x)op(y)), HELD(x) op HELD(y))
#define DIRECTED_SQRT(mode, f, x)      IN_MODE(mode, __typeof__(x), f(HELD(x)))
#define DIRECTED_FMA(mode, f, x, y, z) IN_MODE(mode, __typeof__(x), f(HELD(x), HELD(y), HELD(z)))
#define DIRECTED_CAST(mode, T, x)      IN_MODE(mode, T, (T)HELD(x))

/* --- floats to integers ---
 *
 * Saturating. A nan gives what PTX's cvt gives: 0 if both types have 32 bits, else only the upper
 * bit set. */

static int32_t to_i32(double x, bool wide) {
  if (isnan(x))
    return wide ? INT32_MIN : 0;
  return x < -0x1p31 ? INT32_MIN : x >= 0x1p31 ? INT32_MAX : (int32_t)x;
}

static uint32_t to_u32(double x, bool wide) {
  if (isnan(x))
    return wide ? UINT32_C(1) << 31 : 0;
  return x < 0 ? 0 : x >= 0x1p32 ? UINT32_MAX : (uint32_t)x;
}

static int64_t to_i64(double x) {
  if (isnan(x))
    return INT64_MIN;
  return x < -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

static uint64_t to_u64(double x) {
  if (isnan(x))
    return UINT64_C(1) << 63;
  return x < 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}

#define TO_I32(x) to_i32(x, sizeof(x) == sizeof(double))
#define TO_U32(x) to_u32(x, sizeof(x) == sizeof(double))
#define TO_I64(x) to_i64(x)
#define TO_U64(x) to_u64(x)

/* --- bits --- */

static uint64_t bits64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint32_t bits32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double float64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float float32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The bits of h above 15 are undefined. */
static float half_to_float(uint32_t h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  uint32_t sign = (h & 0x8000) << 16;
  if (exponent == 31)
    return float32(sign | 0x7f800000 | (uint32_t)fraction << 13);
  float size = exponent ? ldexpf((float)(1024 + fraction), exponent - 25)
                        : ldexpf((float)fraction, -24);
  return float32(sign | bits32(size));
}

static uint16_t float_to_half(float x) {
  uint32_t bits = bits32(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000)
    return 0x7fff;
  if (size >= 0x477ff000) /* halfway between the largest half and 2**16, or more */
    return (uint16_t)(sign | 0x7c00);
  if (size < 0x38800000) /* below 2**-14: a multiple of 2**-24 */
    return (uint16_t)(sign | (uint32_t)rintf(ldexpf(float32(size), 24)));
  uint32_t odd = size >> 13 & 1;
  return (uint16_t)(sign | ((size - 0x38000000 + 0xfff + odd) >> 13));
}

static uint32_t reverse32(uint32_t x) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k++)
    r |= (x >> k & 1) << (31 - k);
  return r;
}

static uint64_t reverse64(uint64_t x) {
  return (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32));
}

static uint32_t byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
  uint64_t bytes = (uint64_t)y << 32 | x;
  uint32_t r = 0;
  for (int k = 0; k < 4; k++)
    r |= (uint32_t)(bytes >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
  return r;
}

static int32_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }

/* --- parts of floats --- */

static double frexp_of(double x, int32_t *e) {
  int exponent = 0;
  double m = isfinite(x) ? frexp(x, &exponent) : x;
  *e = exponent;
  return m;
}

static double remquo_of(double x, double y, int32_t *quotient) {
  int q = 0;
  double r = remquo(x, y, &q);
  *quotient = q;
  return r;
}

static int32_t exponent_of(double x) {
  if (isnan(x) || x == 0)
    return INT32_MIN;
  return isinf(x) ? INT32_MAX : ilogb(x);
}

static double lgamma_of(double x) {
  int sign; /* lgamma() itself writes a global */
  return lgamma_r(x, &sign);
}

/* --- the functions --- */

#define C_I32      int32_t
#define C_U32      uint32_t
#define C_I64      int64_t
#define C_U64      uint64_t
#define C_F32      float
#define C_F64      double
#define C_H16      uint32_t
#define C_VOID     void
#define RETURN_I32 return
#define RETURN_U32 return
#define RETURN_I64 return
#define RETURN_U64 return
#define RETURN_F32 return
#define RETURN_F64 return
#define RETURN_H16 return
#define RETURN_VOID
#define P1(t, a)                   C_##t a
#define P2(t, a, u, b)             C_##t a, C_##u b
#define P3(t, a, u, b, v, c)       C_##t a, C_##u b, C_##v c
#define P4(t, a, u, b, v, c, w, d) C_##t a, C_##u b, C_##v c, C_##w d
#define O0
#define O1(t, a)       , C_##t *a
#define O2(t, a, u, b) , C_##t *a, C_##u *b
#define L(name, result, params, outputs, host, doc)                                                \
  static C_##result nv_##name(params outputs) { RETURN_##result host; }
#include "ir/libdevice.def"
#undef L

typedef struct Function {
  const char *symbol;
  void *address;
} Function;

static const Function functions[] = {
#define L(name, result, params, outputs, host, doc) {"__nv_" #name, (void *)(uintptr_t)nv_##name},
#include "ir/libdevice.def"
#undef L
};

void *cg_host_libdevice(const char *symbol) {
  if (strncmp(symbol, "__nv_", 5) != 0)
    return NULL;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (strcmp(functions[k].symbol, symbol) == 0)
      return functions[k].address;
  return NULL;
}
