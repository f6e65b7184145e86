/* Intervals: bounds of the integers that a typed function computes, and the counters of its loops.
 *
 * In: a strict Fn in order, with dominators. Out: for each integer value the least and the greatest
 * number that it can be, found by growing intervals from nothing until no operation adds to them.
 * What an operation is not known to do is bounded by its type. */
#ifndef PYPTX_IR_INTERVAL_H
#define PYPTX_IR_INTERVAL_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Holds sums and differences of 64-bit integers, signed and unsigned. */
__extension__ typedef __int128 IrWide;

typedef struct Interval {
  IrWide lo, hi; /* lo > hi: no value ever */
} Interval;

typedef struct Intervals Intervals;

Intervals *ir_intervals(Cx *cx, const Fn *fn);
/* What they would be if the values of these ids had so many bits and, but for IR_NO_SIGN, a sign;
 * 0: as they are. */
#define IR_NO_SIGN 0x80
Intervals *ir_intervals_if(Cx *cx, const Fn *fn, const uint8_t *bits);
Interval ir_interval(const Intervals *v, const Ins *i);
Interval ir_interval_at(const Intervals *v, const Ins *i, const Block *b); /* where b reads it */
/* Has i a value, and only such as are in `room`? */
bool ir_is_within(const Intervals *v, const Ins *i, Interval room);

/* Are all operands of `user`, which are integers, in `room` where it reads them? */
bool ir_reads_within(const Intervals *v, const Ins *user, Interval room);

/* How often the body of the loop that begins with this block runs at most, each time that the loop
 * is entered: IR_MOST_STEPS if nothing says that; of a block that begins none 1. */
#define IR_MOST_STEPS ((IrWide)1 << 46)
IrWide ir_trips(const Intervals *v, const Block *header);

/* phi (start, next, …) in a loop's header, where next is phi + step, phi - step, phi * step or
 * phi << step, and the loop goes on while phi < stop; or while it is > stop (down), <= or >=
 * (closed). */
typedef struct Counter {
  const Ins *start, *next, *step, *stop;
  const Block *before, *body; /* where it starts; where it goes on: all that this block dominates */
  bool down, closed;
} Counter;
bool ir_counter(const Ins *phi, Counter *c);

bool ir_is_compare(const Ins *i);
/* Of a comparison: the one that holds where it does not; the one of exchanged operands. */
Op ir_inverse(Op compare);
Op ir_swapped(Op compare);

#endif
