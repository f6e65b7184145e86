/* Shares: see shares.h.
 *
 * A share's blocks are taken from its front by an atomic counter, large pieces first and single
 * blocks at the end. Who helps with another one takes small pieces: its blocks may be those that
 * last long. */
#include "runtime/host/shares.h"

#include <assert.h>

enum { PARTS = 4 };

void rt_shares_open(RtShares *s, uint64_t blocks, uint64_t row, unsigned workers, bool in_one) {
  s->row = row;
  s->parts = workers == 1 ? 1 : in_one ? workers : PARTS * (uint64_t)workers;
  s->count = 1;
  atomic_init(&s->of[0].next, 0);
  s->of[0].end = blocks;
}

void rt_shares_split(RtShares *s, unsigned workers, bool in_one) {
  uint64_t at = atomic_load_explicit(&s->of[0].next, memory_order_relaxed), end = s->of[0].end;
  assert(s->count == 1 && at <= end);
  unsigned n = workers < RT_MOST_SHARES ? workers : RT_MOST_SHARES;
  uint64_t each = (end - at) / n, more = (end - at) % n;
  s->parts = in_one ? 1 : PARTS;
  s->count = n;
  for (unsigned k = 0; k < n; k++) {
    uint64_t to = at + each + (k < more);
    if (each >= s->row) /* the last row as a whole */
      to += (s->row - to % s->row) % s->row;
    to = k + 1 == n || to > end ? end : to;
    atomic_init(&s->of[k].next, at);
    s->of[k].end = at = to;
  }
}

static uint64_t take_of(const RtShares *s, RtShare *share, uint64_t parts, uint64_t most,
                        uint64_t *first) {
  uint64_t at = atomic_load_explicit(&share->next, memory_order_relaxed), n;
  do {
    if (at >= share->end)
      return 0;
    n = (share->end - at) / parts;
    n = n < 1 ? 1 : n > most ? most : n;
    if (n > s->row)
      n -= (at + n) % s->row;
  } while (!atomic_compare_exchange_weak_explicit(&share->next, &at, at + n, memory_order_relaxed,
                                                  memory_order_relaxed));
  assert(n && at + n <= share->end);
  *first = at;
  return n;
}

uint64_t rt_shares_take(RtShares *s, RtTaker *t, uint64_t most, uint64_t *first) {
  for (; t->passed < s->count; t->passed++) {
    uint64_t parts = t->passed ? PARTS * (uint64_t)s->count : s->parts;
    uint64_t n = take_of(s, &s->of[(t->share + t->passed) % s->count], parts, most, first);
    t->taken += n;
    if (n)
      return n;
  }
  return 0;
}
