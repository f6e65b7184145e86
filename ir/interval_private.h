/* Intervals, the parts: what is known while they grow, and how far a value drifts in loops. */
#ifndef PYPTX_IR_INTERVAL_PRIVATE_H
#define PYPTX_IR_INTERVAL_PRIVATE_H

#include "ir/interval.h"

enum { MAX_MARKS = 32 };

#define IR_SMALL_STEP ((IrWide)1 << 16)
#define IR_LONG_STEP  ((IrWide)1 << 48)

/* `value op other` holds in what `region` dominates; or `value op other + by`, where the comparison
 * was of `moved`, value - by, unless that can wrap around. Or value - by is an index there, and so
 * at most `reach` away from 0. Or `value * value op other`, or `value * times op other`, where the
 * comparison was of `moved`. With `ahead` it was of a number that the value is, or else this sum of
 * it and operand `step`. */
typedef struct Guard {
  const struct Guard *next;
  const Block *region;
  const Ins *other, *moved, *ahead;
  IrWide by, reach, times;
  Op op;
  bool square;
  unsigned step;
  uint32_t number; /* of those of the value that stand behind it */
} Guard;

typedef struct Meter Meter;

struct Intervals {
  bool narrow;             /* Program.narrow, of a kernel */
  bool small_grid;         /* Program.narrow */
  const Guard **guards;    /* by Ins id */
  const Ins **same;        /* by Ins id: the first reading of an extent, where there are many */
  const Ins **later;       /* by Ins id: a phi or selection of it and a sum with it */
  Interval *of;            /* by Ins id */
  const Counter **counter; /* by Ins id; NULL: it is none */
  const Meter **meters;    /* by Ins id; NULL: there are none */
  const uint8_t *bits;     /* by Ins id: taken to have so many and a sign; 0, NULL: no such */
  uint8_t *grown;
  VEC(const Ins *) arrays; /* in shared memory; `of` is what those hold that are known */
  bool *known;             /* by Ins id */
  Interval *stored;        /* by Ins id; of arrays: in this sweep */
  IrWide marks[MAX_MARKS]; /* constants of comparisons */
  uint32_t nmarks;
};

/* Of the operands as they are known now. */
Interval ir_interval_computed(const Intervals *v, const Ins *i);

/* --- interval_guards.c --- */

bool ir_compares_integers(const Ins *i);
Interval ir_constant(const Ins *i);
/* Is i what a launch passes: a parameter of the kernel, or a part of one that is a tuple? */
bool ir_is_passed(const Intervals *v, const Ins *i);
/* i without casts to types that hold all numbers of its own. */
const Ins *ir_uncast(const Ins *i);
/* What is left of r, the value on the left of a comparison that holds. */
Interval ir_interval_where(Interval r, Op compare, Interval other);
/* What is left of r, what i is anywhere, where block b reads it. */
Interval ir_guarded(const Intervals *v, const Ins *i, const Block *b, Interval r);
/* What guards that b is behind say of left - right. */
Interval ir_guarded_difference(const Intervals *v, const Ins *left, const Ins *right,
                               const Block *b);
void ir_find_guards(Cx *cx, Intervals *v, const Fn *fn);

/* --- interval_drift.c --- */

/* Does a loop begin with it? */
bool ir_is_header(const Block *b);
/* Of a value of its own type. */
bool ir_is_shuffle(const Ins *i);
/* No value in particular. */
bool ir_is_any(const Ins *i);
/* What enters the loops of a phi from elsewhere, and as many steps from there as they take, or as
 * there is time for. */
Interval ir_drifted(const Intervals *v, const Ins *phi);
/* The additions of what drifts, such as `count + 1` of `count`, have its range, too. */
void ir_bound_sums(Intervals *v, const Ins *phi);

/* --- interval_meters.c --- */

/* The variables of a loop without whose steps nothing is made of one of its phis; NULL: none. */
const Meter *ir_meters(Cx *cx, const Ins *phi);
/* Those of them that have none themselves. */
const Meter *ir_sound_meters(const Intervals *v, const Meter *all);
/* What the loop makes of the phi in as many steps as these have. */
Interval ir_metered(Intervals *v, const Meter *all);

#endif
