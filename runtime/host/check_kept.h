/* Check kept: accesses to shared memory that are noted only if they matter. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_KEPT_H
#define PYPTX_RUNTIME_HOST_CHECK_KEPT_H

#include "runtime/host/check_state.h"

static inline bool rt_check_spans_meet(Span a, Span b) {
  return a.begin < b.end && b.begin < a.end;
}

static inline void rt_check_widen(Span *a, Span by) {
  a->begin = by.begin < a->begin ? by.begin : a->begin;
  a->end = by.end > a->end ? by.end : a->end;
}

/* The bytes from the first to the last that the lanes touch. false: they are not all of the block's
 * shared memory. */
static inline bool rt_check_span_of(const RtCheckBlock *b, Kept a, Span *all) {
  size_t size = b->shared_end - b->shared, at = a.at - b->shared;
  int64_t first = (int64_t)__builtin_ctz(a.mask) * a.step,
          last = (int64_t)(WARP - 1 - (uint32_t)__builtin_clz(a.mask)) * a.step;
  uint64_t by = a.step < 0 ? -(uint64_t)a.step : (uint64_t)a.step;
  *all = (Span){at + (size_t)(a.step < 0 ? last : first),
                at + (size_t)(a.step < 0 ? first : last) + a.bytes};
  return by <= size && all->begin < all->end && all->end <= size;
}

/* The usual case of rt_check_keep: what is written lies beside all that was written or read since
 * the last barrier, what is read beside all that was written. */
static inline bool rt_check_keep_beside(RtCheckBlock *b, Kept a) {
  uint32_t kind = a.what & KIND_BITS;
  Span all;
  if (b->nkept >= b->room || !a.mask || kind > RT_ACCESS_WRITE || !rt_check_span_of(b, a, &all) ||
      rt_check_spans_meet(all, b->writes))
    return false;
  if (kind == RT_ACCESS_READ) {
    rt_check_widen(&b->reads, all);
  } else {
    bool apart = a.step >= (int64_t)a.bytes || a.step <= -(int64_t)a.bytes;
    if (rt_check_spans_meet(all, b->reads) || (!apart && a.mask & (a.mask - 1)))
      return false;
    rt_check_widen(&b->writes, all);
  }
  b->kept[b->nkept++] = a;
  return true;
}

/* An access to the block's shared memory, as rt_check_row has it. true: it is kept, and no race.
 * false: it is to be noted now; what was kept has been. */
bool rt_check_keep(RtCheck *c, Kept a);
/* What orders accesses comes: those that are kept are noted, as they were. */
void rt_check_note_kept(const RtCheck *c);
/* The block begins. Without memory nothing is kept. */
void rt_check_keep_from(RtCheckBlock *b, const RtHostLaunch *view);
/* All of it is ordered. */
void rt_check_forget_kept(RtCheckBlock *b);
void rt_check_free_kept(RtCheckBlock *b);

#endif
