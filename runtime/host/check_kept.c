/* Check kept: accesses to shared memory that are noted only if they matter.
 *
 * In shared memory, whatever is older than the block's last barrier is ordered. So accesses between
 * two barriers are at odds only with one another, and mostly no element that is written there is
 * touched twice. Such accesses are kept in a list, whatever their step. Mostly a span lies beside
 * all that was written, or nothing was (rt_check_keep_beside); where spans do not tell, there is a
 * bit for each byte that one of them has written. In: accesses to shared memory. Out: at the next
 * barrier the list is forgotten. Before the first access that may be at odds with one of it, and
 * before whatever orders threads, the list is noted in its order; from the first such access on all
 * are noted at once. */
#include "runtime/host/check_kept.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/check_lines.h"
#include "runtime/host/check_rows.h"

enum { MOST_KEPT = 1 << 13, BITS = 64 };
static const Span no_span = {SIZE_MAX, 0};

static size_t words_for(size_t bytes) { return (bytes + BITS - 1) / BITS; }

void rt_check_forget_kept(RtCheckBlock *b) {
  b->nkept = b->marked = 0;
  b->keeps = b->written != NULL;
  b->room = b->keeps ? (uint32_t)b->most_kept : 0;
  if (b->has_bits)
    memset(b->written + b->writes.begin / BITS, 0,
           (words_for(b->writes.end) - b->writes.begin / BITS) * sizeof *b->written);
  b->has_bits = false;
  b->writes = b->reads = no_span;
}

void rt_check_free_kept(RtCheckBlock *b) {
  free(b->kept);
  free(b->written);
}

void rt_check_keep_from(RtCheckBlock *b, const RtHostLaunch *view) {
  size_t words = words_for(b->shared_end - b->shared);
  b->view = view;
  if (b->written_words < words) {
    free(b->written);
    b->written = calloc(words, sizeof *b->written);
    b->written_words = b->written ? words : 0;
    b->has_bits = false;
  }
  rt_check_forget_kept(b);
}

/* --- bytes of shared memory --- */

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

/* The same of the lanes of an access, whose span is `all`. */
static bool is_any_lane_written(RtCheckBlock *b, const Kept *a, Span all, bool writes) {
  uint32_t run = a->mask >> __builtin_ctz(a->mask);
  if ((a->step == a->bytes || a->step == -(int64_t)a->bytes) && !(run & (run + 1)))
    return is_any_written(b, all, writes);
  uint64_t any = 0, one = a->bytes < BITS ? ((uint64_t)1 << a->bytes) - 1 : UINT64_MAX;
  size_t first = a->at - b->shared, odd = a->bytes - 1;
  bool in_words = a->bytes <= BITS && !((a->bytes | first | (size_t)a->step) & odd);
  for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
    size_t at = first + (size_t)(__builtin_ctz(rest) * a->step);
    if (!in_words) {
      any |= is_any_written(b, (Span){at, at + a->bytes}, writes);
      continue;
    }
    uint64_t *word = &b->written[at / BITS], mine = one << at % BITS; /* no word's end cuts it */
    any |= *word & mine;
    if (writes)
      *word |= mine;
  }
  return any != 0;
}

/* Gives bits to those writes that have none yet. */
static void mark(RtCheckBlock *b) {
  for (; b->marked < b->nkept; b->marked++) {
    const Kept *a = &b->kept[b->marked];
    Span all;
    if (rt_check_kind_of(a->what) == RT_ACCESS_WRITE && rt_check_span_of(b, *a, &all))
      b->has_bits = true, is_any_lane_written(b, a, all, true);
  }
}

void rt_check_note_kept(const RtCheck *c) {
  RtCheckBlock *b = c->block;
  mark(b);
  uint32_t n = b->nkept;
  b->nkept = b->marked = 0;
  for (uint32_t k = 0; k < n; k++) {
    const Kept *r = &b->kept[k];
    rt_check_row_slowly(b->view, r->at, r->thread, r->what, r->bytes, r->step, r->mask);
  }
}

/* --- accesses --- */

/* Is it none that may be at odds with one before? */
static bool is_apart(RtCheckBlock *b, const Kept *a) {
  bool writes = rt_check_kind_of(a->what) == RT_ACCESS_WRITE,
       steps = a->step >= (int64_t)a->bytes || a->step <= -(int64_t)a->bytes;
  Span all;
  if (!rt_check_is_plain(a->what) || !rt_check_span_of(b, *a, &all))
    return false;
  mark(b);
  if (!writes) {
    rt_check_widen(&b->reads, all);
    return !rt_check_spans_meet(all, b->writes) || !is_any_lane_written(b, a, all, false);
  }
  if (rt_check_spans_meet(all, b->reads) || (!steps && a->mask & (a->mask - 1)))
    return false;
  rt_check_widen(&b->writes, all);
  b->has_bits = true;
  return !is_any_lane_written(b, a, all, true);
}

/* Is there room for one more? */
static bool has_room(RtCheckBlock *b) {
  void *kept = b->kept;
  bool has = b->nkept < MOST_KEPT && rt_check_grow(&kept, &b->most_kept, b->nkept, sizeof(Kept));
  b->kept = kept;
  b->room = (uint32_t)b->most_kept;
  return has;
}

bool rt_check_keep(RtCheck *c, Kept a) {
  RtCheckBlock *b = c->block;
  if (!a.mask || !b->keeps)
    return !a.mask;
  if (is_apart(b, &a) && (b->nkept < b->room || has_room(b))) {
    b->kept[b->nkept++] = a;
    b->marked = b->nkept;
    return true;
  }
  b->keeps = false, b->room = 0;
  rt_check_note_kept(c);
  return false;
}
