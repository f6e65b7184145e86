/* Check kept: accesses to shared memory that are noted only if they matter.
 *
 * In shared memory, whatever is older than the block's last barrier is ordered. So accesses between
 * two barriers are at odds only with one another, and mostly no element that is written there is
 * touched twice. Such accesses are kept in a list, whatever their step, with a bit for each byte
 * that one of them has written. In: accesses to shared memory. Out: at the next barrier the list is
 * forgotten. Before the first access that may be at odds with one of it, and before whatever orders
 * threads, the list is noted in its order; from the first such access on all are noted at once. */
#include "runtime/host/check_kept.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/check_lines.h"
#include "runtime/host/check_rows.h"

enum { MOST_KEPT = 1 << 13, BITS = 64 };

static size_t words_for(size_t bytes) { return (bytes + BITS - 1) / BITS; }

void rt_check_forget_kept(RtCheckBlock *b) {
  b->nkept = 0;
  b->keeps = b->written != NULL;
  if (b->writes.end)
    memset(b->written + b->writes.begin / BITS, 0,
           (words_for(b->writes.end) - b->writes.begin / BITS) * sizeof *b->written);
  b->writes = b->reads = (Span){0};
}

void rt_check_free_kept(RtCheckBlock *b) {
  free(b->kept);
  free(b->written);
}

void rt_check_keep_from(RtCheckBlock *b) {
  size_t words = words_for(b->shared_end - b->shared);
  if (b->written_words < words) {
    free(b->written);
    b->written = calloc(words, sizeof *b->written);
    b->written_words = b->written ? words : 0;
    b->writes = (Span){0};
  }
  rt_check_forget_kept(b);
}

void rt_check_note_kept(const RtCheck *c) {
  RtCheckBlock *b = c->block;
  uint32_t n = b->nkept;
  b->nkept = 0;
  for (uint32_t k = 0; k < n; k++) {
    const Kept *r = &b->kept[k];
    rt_check_row_slowly(b->kept_view, r->at, r->thread, r->what, r->bytes, r->step, r->mask);
  }
}

/* --- bytes of shared memory --- */

static bool meet(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

static void widen(Span *a, Span by) {
  a->begin = !a->end || by.begin < a->begin ? by.begin : a->begin;
  a->end = by.end > a->end ? by.end : a->end;
}

/* The bits of this word that are from begin on and before end. */
static inline uint64_t bits_in(size_t begin, size_t end, size_t word) {
  uint64_t from = begin > word * BITS ? UINT64_MAX << begin % BITS : UINT64_MAX;
  return end < (word + 1) * BITS ? from & (((uint64_t)1 << end % BITS) - 1) : from;
}

/* Is some byte written? writes: all are, from now on. */
static inline bool is_any_written(RtCheckBlock *b, Span s, bool writes) {
  uint64_t any = 0;
  for (size_t k = s.begin / BITS; k * BITS < s.end; k++) {
    uint64_t bits = bits_in(s.begin, s.end, k);
    any |= b->written[k] & bits;
    if (writes)
      b->written[k] |= bits;
  }
  return any != 0;
}

/* The same of lanes with a place each, which no word's end cuts. */
static bool is_any_lane_written(RtCheckBlock *b, size_t first, const Kept *a, bool writes) {
  uint64_t any = 0, bits = a->bytes < BITS ? ((uint64_t)1 << a->bytes) - 1 : UINT64_MAX;
  for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
    size_t at = first + (size_t)((int64_t)__builtin_ctz(rest) * a->step);
    uint64_t *word = &b->written[at / BITS], mine = bits << at % BITS;
    any |= *word & mine;
    if (writes)
      *word |= mine;
  }
  return any != 0;
}

/* --- accesses --- */

/* Is it none that may be at odds with one before? */
static bool is_apart(RtCheckBlock *b, const Kept *a) {
  uint32_t last = WARP - 1 - (uint32_t)__builtin_clz(a->mask),
           first = (uint32_t)__builtin_ctz(a->mask);
  bool dense = a->step == a->bytes && !(a->mask & (a->mask + 1)),
       writes = rt_check_kind_of(a->what) == RT_ACCESS_WRITE;
  int64_t by = a->step < 0 ? -a->step : a->step, size = (int64_t)(b->shared_end - b->shared),
          at = (int64_t)(a->at - b->shared);
  if (!rt_check_is_plain(a->what) || by > size || a->bytes > BITS || (a->bytes & (a->bytes - 1)) ||
      ((at | by) & (a->bytes - 1)))
    return false;
  int64_t low = at + (a->step < 0 ? last : first) * a->step,
          high = at + (a->step < 0 ? first : last) * a->step + a->bytes;
  if (low < 0 || high > size)
    return false;
  Span all = {(size_t)low, (size_t)high};
  if (!writes) {
    widen(&b->reads, all);
    return !meet(all, b->writes) ||
           !(dense ? is_any_written(b, all, false) : is_any_lane_written(b, (size_t)at, a, false));
  }
  if (meet(all, b->reads) || (by < a->bytes && last != first))
    return false;
  widen(&b->writes, all);
  return !(dense ? is_any_written(b, all, true) : is_any_lane_written(b, (size_t)at, a, true));
}

/* Is there room for one more? */
static bool has_room(RtCheckBlock *b) {
  void *kept = b->kept;
  bool has = b->nkept < MOST_KEPT && rt_check_grow(&kept, &b->most_kept, b->nkept, sizeof(Kept));
  b->kept = kept;
  return has;
}

bool rt_check_keep(const RtHostLaunch *view, uintptr_t at, uint32_t thread, uint32_t what,
                   uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheckBlock *b = view->check->block;
  if (!mask || !b->keeps)
    return !mask;
  const Kept mine = {at, step, thread, what, bytes, mask};
  if (is_apart(b, &mine) && (b->nkept < b->most_kept || has_room(b))) {
    b->kept_view = view;
    b->kept[b->nkept++] = mine;
    return true;
  }
  b->keeps = false;
  rt_check_note_kept(view->check);
  return false;
}
