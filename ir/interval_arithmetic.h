/* Arithmetic of intervals: what lies in both, sums, products, quotients, bits. Numbers beyond HUGE
 * do not come up; a product that does not fit is any number. */
#ifndef PYPTX_IR_INTERVAL_ARITHMETIC_H
#define PYPTX_IR_INTERVAL_ARITHMETIC_H

#include "ir/interval.h"

#define HUGE ((IrWide)1 << 100)

static const Interval nothing = {HUGE, -HUGE}, everything = {-HUGE, HUGE};

static inline bool is_empty(Interval a) { return a.lo > a.hi; }
static inline IrWide smaller(IrWide a, IrWide b) { return a < b ? a : b; }
static inline IrWide larger(IrWide a, IrWide b) { return a > b ? a : b; }
static inline bool is_within(Interval a, Interval room) {
  return a.lo >= room.lo && a.hi <= room.hi;
}

static inline Interval both(Interval a, Interval b) {
  return (Interval){smaller(a.lo, b.lo), larger(a.hi, b.hi)};
}

static inline Interval common(Interval a, Interval b) {
  return (Interval){larger(a.lo, b.lo), smaller(a.hi, b.hi)};
}

static inline Interval of_type(const Type *t) {
  unsigned bits = ty_bits(t);
  switch (ty_kind(t)) {
  case KIND_BOOL: return (Interval){0, 1};
  case KIND_UINT: return (Interval){0, ((IrWide)1 << bits) - 1};
  case KIND_INT: return (Interval){-((IrWide)1 << (bits - 1)), ((IrWide)1 << (bits - 1)) - 1};
  default: return everything;
  }
}

/* --- operations on intervals that are not empty --- */

static inline Interval sum(Interval a, Interval b) { return (Interval){a.lo + b.lo, a.hi + b.hi}; }
static inline Interval negated(Interval a) { return (Interval){-a.hi, -a.lo}; }

static inline Interval product(Interval a, Interval b) {
  IrWide p;
  Interval r = nothing;
  for (int k = 0; k < 4; k++) {
    if (__builtin_mul_overflow(k & 1 ? a.hi : a.lo, k & 2 ? b.hi : b.lo, &p))
      return everything;
    r = both(r, (Interval){p, p});
  }
  return r;
}

/* The remainder has the divisor's sign; by zero it is 0. */
static inline Interval remainder_of(Interval a, Interval b) {
  IrWide least = smaller(b.lo + 1, 0), most = larger(b.hi - 1, 0);
  return (Interval){least, a.lo >= 0 && b.lo >= 0 ? smaller(a.hi, most) : most};
}

/* Rounded down; by zero it is 0. */
static inline Interval quotient(Interval a, Interval b) {
  IrWide far = larger(larger(a.hi, -a.lo), 0), by = larger(b.lo, 1);
  if (b.lo < 0)
    return (Interval){-far, far};
  return (Interval){a.lo < 0 ? -((-a.lo + by - 1) / by) : 0, a.hi > 0 ? a.hi / by : 0};
}

static inline Interval shifted_left(Interval a, Interval count, const Type *t) {
  if (count.lo < 0 || count.hi >= ty_bits(t)) /* 0, or what it is */
    return of_type(t);
  return product(a, (Interval){(IrWide)1 << (int)count.lo, (IrWide)1 << (int)count.hi});
}

/* By more than the type has bits, or less than none, it is 0 or -1. */
static inline Interval shifted_right(Interval a, Interval count) {
  int least = (int)smaller(larger(count.lo, 0), 64);
  return (Interval){smaller(a.lo >> least, 0), larger(a.hi >> least, a.lo < 0 ? -1 : 0)};
}

/* Of so many bits and the sign that both have no more. */
static inline Interval of_bits(Interval a, Interval b) {
  IrWide end = 1;
  while (end <= a.hi || end <= b.hi || -end > a.lo || -end > b.lo)
    end *= 2;
  return (Interval){a.lo < 0 || b.lo < 0 ? -end : 0, end - 1};
}

static inline Interval masked(Interval a, Interval b) {
  if (a.lo < 0 && b.lo < 0)
    return of_bits(a, b);
  return (Interval){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : smaller(a.hi, b.hi)};
}

#endif
