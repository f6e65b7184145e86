/* Arithmetic of intervals: what lies in both, sums, products, quotients, bits. Numbers beyond HUGE
 * do not come up; a product that does not fit is any number. */
#ifndef PYPTX_IR_INTERVAL_ARITHMETIC_H
#define PYPTX_IR_INTERVAL_ARITHMETIC_H

#include "ir/interval.h"

#define HUGE ((IrWide)1 << 100)

static const Interval ir_nothing = {HUGE, -HUGE}, ir_everything = {-HUGE, HUGE};

static inline bool ir_interval_is_empty(Interval a) { return a.lo > a.hi; }
static inline IrWide ir_interval_smaller(IrWide a, IrWide b) { return a < b ? a : b; }
static inline IrWide ir_interval_larger(IrWide a, IrWide b) { return a > b ? a : b; }
static inline bool ir_interval_lies_within(Interval a, Interval room) {
  return a.lo >= room.lo && a.hi <= room.hi;
}

static inline Interval ir_interval_both(Interval a, Interval b) {
  return (Interval){ir_interval_smaller(a.lo, b.lo), ir_interval_larger(a.hi, b.hi)};
}

static inline Interval ir_interval_common(Interval a, Interval b) {
  return (Interval){ir_interval_larger(a.lo, b.lo), ir_interval_smaller(a.hi, b.hi)};
}

static inline Interval ir_interval_of_type(const Type *t) {
  unsigned bits = ty_bits(t);
  switch (ty_kind(t)) {
  case KIND_BOOL: return (Interval){0, 1};
  case KIND_UINT: return (Interval){0, ((IrWide)1 << bits) - 1};
  case KIND_INT: return (Interval){-((IrWide)1 << (bits - 1)), ((IrWide)1 << (bits - 1)) - 1};
  default: return ir_everything;
  }
}

/* --- operations on intervals that are not empty --- */

static inline Interval ir_interval_sum(Interval a, Interval b) {
  return (Interval){a.lo + b.lo, a.hi + b.hi};
}
static inline Interval ir_interval_negated(Interval a) { return (Interval){-a.hi, -a.lo}; }

static inline Interval ir_interval_product(Interval a, Interval b) {
  IrWide p;
  Interval r = ir_nothing;
  for (int k = 0; k < 4; k++) {
    if (__builtin_mul_overflow(k & 1 ? a.hi : a.lo, k & 2 ? b.hi : b.lo, &p))
      return ir_everything;
    r = ir_interval_both(r, (Interval){p, p});
  }
  return r;
}

/* The remainder has the divisor's sign; by zero it is 0. */
static inline Interval ir_interval_remainder_of(Interval a, Interval b) {
  IrWide least = ir_interval_smaller(b.lo + 1, 0), most = ir_interval_larger(b.hi - 1, 0);
  return (Interval){least, a.lo >= 0 && b.lo >= 0 ? ir_interval_smaller(a.hi, most) : most};
}

/* Rounded down; by zero it is 0. */
static inline Interval ir_interval_quotient(Interval a, Interval b) {
  IrWide far = ir_interval_larger(ir_interval_larger(a.hi, -a.lo), 0),
         by = ir_interval_larger(b.lo, 1);
  if (b.lo < 0)
    return (Interval){-far, far};
  return (Interval){a.lo < 0 ? -((-a.lo + by - 1) / by) : 0, a.hi > 0 ? a.hi / by : 0};
}

static inline Interval ir_interval_shifted_left(Interval a, Interval count, const Type *t) {
  if (count.lo < 0 || count.hi >= ty_bits(t)) /* 0, or what it is */
    return ir_interval_of_type(t);
  return ir_interval_product(a, (Interval){(IrWide)1 << (int)count.lo, (IrWide)1 << (int)count.hi});
}

/* By more than the type has bits, or less than none, it is 0 or -1. */
static inline Interval ir_interval_shifted_right(Interval a, Interval count) {
  int least = (int)ir_interval_smaller(ir_interval_larger(count.lo, 0), 64);
  return (Interval){ir_interval_smaller(a.lo >> least, 0),
                    ir_interval_larger(a.hi >> least, a.lo < 0 ? -1 : 0)};
}

/* Of so many bits and the sign that both have no more. */
static inline Interval ir_interval_of_bits(Interval a, Interval b) {
  IrWide end = 1;
  while (end <= a.hi || end <= b.hi || -end > a.lo || -end > b.lo)
    end *= 2;
  return (Interval){a.lo < 0 || b.lo < 0 ? -end : 0, end - 1};
}

static inline Interval ir_interval_masked(Interval a, Interval b) {
  if (a.lo < 0 && b.lo < 0)
    return ir_interval_of_bits(a, b);
  return (Interval){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : ir_interval_smaller(a.hi, b.hi)};
}

#endif
