/* Range versions, the parts: what is known of a loop that is written twice, and its second version.
 */
#ifndef PYPTX_CODEGEN_SSA_RANGE_PRIVATE_H
#define PYPTX_CODEGEN_SSA_RANGE_PRIVATE_H

#include "codegen/ssa/small_loop.h"
#include "ir/build.h"
#include "ir/interval.h"

enum {
  MAX_ARRAYS = 4,  /* of rows of constant columns, in a loop */
  MAX_CHECKS = 24, /* of indices, in a loop */
  MAX_FACTORS = 4, /* of products, in a loop */
  MAX_ALONG = 4,   /* variables that go along with the counter */
  MAX_SUMS = 4,    /* in a loop */
  MAX_NUMBERS = 6, /* from in front of a loop */
  MAX_STORES = 4,  /* of a loop whose loads go ahead of them */
  MAX_PAIRS = 8,   /* of an array that it stores to and one that it loads from */
};

/* An array of rows, and the columns that the loop reads, as bits, of all axes but the first. */
typedef struct Rows {
  Ins *array;
  uint32_t columns[TY_MAX_NDIM];
  bool other;  /* it is used in other ways too */
  bool varies; /* different iterations read different rows */
} Rows;

typedef struct Factor {
  Ins *ins;
  int64_t most; /* it is at most so far from 0 */
  Ins *outer;   /* of what the loop does not change: an outer loop's counter, with which it moves */
} Factor;

typedef struct Along { /* a variable of the loop that moves by the counter's step */
  const Ins *phi;
  Ins *start;
} Along;

typedef struct ArrayPair {
  Ins *stored, *loaded;
} ArrayPair;

enum { SHORT_BITS = 15 }; /* of what a product is made of */
typedef struct Short {    /* it fits few bits if `asked`, itself or a counter's stop, does */
  Ins *ins, *asked;
} Short;

typedef struct Versions { /* of a function */
  Cx *cx;
  Fn *fn;
  Intervals *intervals; /* NULL: nobody has asked yet */
  unsigned tries;       /* intervals that were computed beside these */
} Versions;

typedef struct Range {
  Versions *of;
  SmallLoop loop;
  Block *latch, *outside; /* where the loop goes when it ends */
  Ins *counter, *start, *step, *stop;
  Ins *less;  /* the condition, where the step is positive */
  bool known; /* the step is a positive constant */
  Rows rows[MAX_ARRAYS];
  unsigned nrows;          /* 0: a range of the other kinds */
  Ins *checks[MAX_CHECKS]; /* those that are made in front: of indices, or of signs alone */
  unsigned nchecks;        /* 0: of the other kinds */
  bool signs;              /* no check of an index is among them */
  bool far;                /* of signs: its stop may not fit int32, and is asked for that */
  Along along[MAX_ALONG];
  unsigned nalong;
  Factor factors[MAX_FACTORS]; /* that are bounded in front */
  unsigned nfactors;
  Ins *sums[MAX_SUMS]; /* the phis of those that are bounded in front, with their trips */
  unsigned nsums;
  int64_t trips;             /* most of which the sums fit */
  Ins *numbers[MAX_NUMBERS]; /* from in front of the loop, of which a test asks whether they fit */
  unsigned nnumbers;
  bool nest;                 /* a loop around others */
  Short shorts[MAX_FACTORS]; /* of a nest: what its products are made of */
  unsigned nshorts;
  uint32_t end_id;             /* all that it is made of has smaller ids */
  Ins *thin_start, *thin_stop; /* of its inner loop, over a window; NULL: of the other kinds */
  int64_t thin_few;            /* places of the window that are few */
  Ins *stores[MAX_STORES];
  unsigned nstores;
  ArrayPair pairs[MAX_PAIRS]; /* that must be apart for the loads to go ahead of the stores */
  unsigned npairs;            /* 0: of the other kinds */
  bool by_launches;           /* launches find out of more pairs */
  Ins *table; /* an element of the table to which the checks add; NULL: of the other kinds */
} Range;

/* --- range_versions.c --- */

Intervals *ssa_intervals_of(Versions *of);
bool ssa_is_int64(const Type *t);
/* What it was before casts of int64. */
Ins *ssa_uncast(Ins *i);
/* Of an index, where b reads it. The flags are asked first, since intervals cost time. */
bool ssa_may_be_negative(Range *r, const Ins *i, const Block *b);
/* How a number goes with the counter: a sum of it and of what is known before, or a product. MOVES:
 * it rises or it falls. */
typedef enum Course { ANY, STAYS, RISES, FALLS, MOVES } Course;
Course ssa_course_of(const Range *r, const Ins *i, unsigned depth);
/* A range upward of int64, of at most so many operations. */
bool ssa_read_upward(Range *r, Block *header, Block *latch, unsigned most);
/* From `from` to `yes` if the comparison of v with n holds, else to `no`. */
void ssa_choose(Cx *cx, Fn *fn, const Range *r, Block *from, Ins *v, Op op, int64_t n, Block *yes,
                Block *no);
/* An operation of two numbers, and the extent of an array, in front of the loop. */
Ins *ssa_append(Cx *cx, Fn *fn, const Range *r, Block *at, Op op, const Type *type, Ins *a, Ins *b);
Ins *ssa_extent_of(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *array, unsigned axis);
/* An index, extent or stop where the counter is `counter`, in front of the loop. What was known of
 * it in an iteration need not hold where there is none. */
Ins *ssa_in_front(Cx *cx, Fn *fn, const Range *r, Block *at, Ins *i, Ins *counter);
/* Writes each loop twice of which `reads` says so. */
void ssa_version(Cx *cx, Fn *fn, bool (*reads)(Range *, Block *, Block *));

/* --- outer_counters.c --- */

/* The counter of a loop around, if i is a sum or difference of it and of what that loop does not
 * change; else NULL. Needs dominators. */
Ins *ssa_outer_counter(const Range *r, const Ins *i);
/* What i, which has that counter, is at the ends of its range, or beyond them. */
void ssa_outer_ends(Cx *cx, Fn *fn, const Range *r, Block *at, const Ins *i, Ins *counter,
                    Ins **low, Ins **high);

/* --- sign_versions.c --- */

/* Notes the variables that each iteration moves by the counter's step, which is a constant. */
void ssa_read_along(Range *r);

/* --- sum_versions.c --- */

/* By how much an iteration has moved `sum`, a phi of the header, where v is computed; false: v is
 * something else. */
bool ssa_moved(const Range *r, const Ins *sum, const Ins *v, Interval *by, unsigned depth);
bool ssa_is_power_of_two(const Ins *i); /* a constant */
void ssa_choose_by_sums(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general);

/* --- short_versions.c --- */

/* Is it a power, a product or what was a float, or made of one? */
bool ssa_is_computed(const Ins *i, unsigned depth);
/* Is it left from its header, where its condition does not hold? Notes that. */
bool ssa_read_header(Range *r, const Block *header);
bool ssa_add_number(Range *r, Ins *i); /* to Range.numbers, once; false: there is no room */
/* Does it take longer with 64 bits than with 32, and read all bits? */
bool ssa_is_slow(const Ins *i);
/* Has it, or a loop in it, more than a few iterations, or a number of them that is not known? */
bool ssa_is_long(const Range *r);
/* Operations of the loop that take longer with 64 bits than with 32, and have such numbers. */
unsigned ssa_slow_ones(const Range *r, const Intervals *v);
/* Do some operations of the loop fit 32 bits, and do not now, if its numbers fit as many as the
 * test asks, and its shorts SHORT_BITS? Counts as a try. */
bool ssa_gains_by_numbers(const Range *r);
/* Does the loop still read the numbers that have been found? */
bool ssa_is_still_short(Range *r, const Block *header);
void ssa_choose_by_numbers(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general);

/* --- drift_versions.c --- */

bool ssa_has_local_array(const Range *r);

/* --- nest_versions.c --- */

/* Is the nest made of what it was when it was found? */
bool ssa_is_still_nest(Range *r, const Block *header);
void ssa_choose_by_nest(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general);
/* Its loops stay as they are. */
void ssa_roll_nest(const Range *r);

/* --- thin_versions.c --- */

void ssa_choose_by_thin(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general);

/* --- table_versions.c --- */

void ssa_choose_by_table(Cx *cx, Fn *fn, const Range *r, Block *at, Block *fast, Block *general);

/* --- apart_versions.c --- */

bool ssa_read_apart(Range *r, Block *header, Block *latch);
/* Marks the copies of the loads and stores, too. */
void ssa_choose_by_apart(Cx *cx, Fn *fn, Range *r, Block *at, Block *fast, Block *general);

/* --- range_copies.c --- */

/* The index that a check or a wrap gives where it is in range and not negative. */
Ins *ssa_unwrapped(Ins *i);

/* The second version: the blocks, which keep notes of what is what, then their branches, then the
 * operands of their phis. `entry` and `fast` are the blocks from which the two versions are
 * entered. */
void ssa_copy_blocks(Cx *cx, Fn *fn, const Range *r);
void ssa_copy_branches(Cx *cx, Fn *fn, const Range *r);
void ssa_copy_phis(const Range *r, const Block *entry, const Block *fast);
/* From `leave` on the loop itself goes on, rolled, with what the copies of its phis are there; the
 * first `in_front` of its edges come from in front of the copy. */
void ssa_lead_back(Cx *cx, Fn *fn, const Range *r, const Block *fast, Block *leave,
                   uint32_t in_front);
/* Values of the loop that are read behind it come from either version. */
void ssa_merge_exits(Cx *cx, Fn *fn, const Range *r, Block *exit);
/* What a block of the loop is in the second version. */
Block *ssa_copy_of_block(const Block *b);
/* The operand of a phi for an edge. */
Ins *ssa_from_edge(const Ins *phi, const Block *from);
/* A block of its own on one edge. */
Block *ssa_split_edge(Cx *cx, Fn *fn, Block *from, Block *to);

#endif
