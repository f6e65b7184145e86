/* Reduce: see reduce.h. An element is read, combined, and put back unless another thread has
 * changed it in between, as the atomic operations of kernels do. Floats are added in double and
 * rounded once to their own type. */
#include "runtime/host/reduce.h"

#include <math.h>
#include <string.h>

#include "runtime/host/halves.h"

static int64_t whole(int64_t op, int64_t a, int64_t b, int less) {
  switch ((RtReduceOp)op) {
  case RT_REDUCE_NOT: break;
  case RT_REDUCE_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
  case RT_REDUCE_MIN: return less ? a : b;
  case RT_REDUCE_MAX: return less ? b : a;
  case RT_REDUCE_AND: return a & b;
  case RT_REDUCE_OR: return a | b;
  case RT_REDUCE_XOR: return a ^ b;
  }
  return b;
}

static double real(int64_t op, double a, double b) {
  return op == RT_REDUCE_ADD ? a + b : op == RT_REDUCE_MIN ? fmin(a, b) : fmax(a, b);
}

static uint16_t combine16(const RtReduce *r, uint16_t a, uint16_t b) {
  return r->type == RT_REDUCED_F16
             ? rt_double_to_half(real(r->op, rt_half_to_double(a), rt_half_to_double(b)))
             : rt_double_to_bfloat(real(r->op, rt_bfloat_to_double(a), rt_bfloat_to_double(b)));
}

static uint32_t combine32(const RtReduce *r, uint32_t a, uint32_t b) {
  if (r->type == RT_REDUCED_F32) {
    float x, y;
    memcpy(&x, &a, 4), memcpy(&y, &b, 4);
    x = (float)real(r->op, x, y);
    memcpy(&a, &x, 4);
    return a;
  }
  int less = r->type == RT_REDUCED_I32 ? (int32_t)a < (int32_t)b : a < b;
  return (uint32_t)whole(r->op, (int64_t)a, (int64_t)b, less);
}

static uint64_t combine64(const RtReduce *r, uint64_t a, uint64_t b) {
  if (r->type == RT_REDUCED_F64) {
    double x, y;
    memcpy(&x, &a, 8), memcpy(&y, &b, 8);
    x = real(r->op, x, y);
    memcpy(&a, &x, 8);
    return a;
  }
  int less = r->type == RT_REDUCED_I64 ? (int64_t)a < (int64_t)b : a < b;
  return (uint64_t)whole(r->op, (int64_t)a, (int64_t)b, less);
}

#define UPDATE(T, combine)                                                                         \
  do {                                                                                             \
    T there = __atomic_load_n((T *)(void *)to, __ATOMIC_RELAXED), new, now;                        \
    memcpy(&now, from, sizeof now);                                                                \
    do                                                                                             \
      new = combine(r, there, now);                                                                \
    while (!__atomic_compare_exchange_n((T *)(void *)to, &there, new, 0, __ATOMIC_RELAXED,         \
                                        __ATOMIC_RELAXED));                                        \
  } while (0)

static uint32_t bytes_of(RtReduced type) {
  switch (type) {
  case RT_REDUCED_F16:
  case RT_REDUCED_BF16: return 2;
  case RT_REDUCED_I32:
  case RT_REDUCED_U32:
  case RT_REDUCED_F32: return 4;
  case RT_REDUCED_I64:
  case RT_REDUCED_U64:
  case RT_REDUCED_F64: break;
  }
  return 8;
}

void rt_reduce_store(const RtReduce *r, char *to, const char *from, uint32_t bytes) {
  uint32_t size = bytes_of((RtReduced)r->type);
  if (!r->op) {
    memcpy(to, from, bytes);
    return;
  }
  for (uint32_t k = 0; k < bytes; k += size, to += size, from += size)
    if (size == 2)
      UPDATE(uint16_t, combine16);
    else if (size == 4)
      UPDATE(uint32_t, combine32);
    else
      UPDATE(uint64_t, combine64);
}
