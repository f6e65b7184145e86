/* Shares: which thread runs which blocks of a launch.
 *
 * One share of all blocks while the calling thread is alone; then one for each worker, of
 * neighbouring blocks. A worker begins with the share of its number in the pool: launch after
 * launch it has the same part of the arrays, which its processor's caches may still hold, and not
 * the lines that its neighbour writes. Whoever has finished a share helps with the next ones. A
 * launch with one worker, checked ones among them, runs its blocks in order. */
#ifndef PYPTX_RUNTIME_HOST_SHARES_H
#define PYPTX_RUNTIME_HOST_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RT_MOST_SHARES = 64, RT_SHARE_ALIGN = 64 };

typedef struct RtShare {
  _Alignas(RT_SHARE_ALIGN) _Atomic uint64_t next; /* the first block that nobody has taken */
  uint64_t end;
} RtShare;

typedef struct RtShares {
  uint64_t row; /* blocks of a row of the grid, which compiled code runs in one piece */
  /* a worker takes 1 / parts of what its share has left */
  uint64_t parts;
  unsigned count;
  RtShare of[RT_MOST_SHARES];
} RtShares;

/* Where a worker takes blocks from. */
typedef struct RtTaker {
  unsigned share, passed; /* passed: shares that it has seen empty */
  uint64_t taken;         /* blocks, so far */
} RtTaker;

/* One share of so many blocks, for so many workers. in_one: a worker takes all its blocks at once,
 * so that the turns of a loop by the grid's stride are done together. */
void rt_shares_open(RtShares *s, uint64_t blocks, uint64_t row, unsigned workers, bool in_one);
/* What is left, for so many workers. By the one thread that takes from it, before others do. */
void rt_shares_split(RtShares *s, unsigned workers, bool in_one);
/* Up to `most` blocks: *first and how many; 0: all are taken. More than a row of the grid end with
 * a row. */
uint64_t rt_shares_take(RtShares *s, RtTaker *t, uint64_t most, uint64_t *first);
/* Of the first share. */
static inline uint64_t rt_shares_left(RtShares *s) {
  uint64_t at = atomic_load_explicit(&s->of[0].next, memory_order_relaxed);
  return s->of[0].end > at ? s->of[0].end - at : 0;
}

#endif
