/* Check touch: one cell, which has one record or the index of a Full (a write, and two others that
 * are not ordered). In: the cell and an access. Out: the cell as it is then, and 0 or a race. */
#include "runtime/host/check_touch.h"

static uint32_t conflict(RtCheck *c, uint64_t other, uint64_t me, bool shared) {
  uint32_t mine = rt_check_kind_of(me), theirs = rt_check_kind_of(other);
  Conflict *x = &c->conflicts[c->lane];
  x->time = ++c->nconflicts;
  x->detail = mine | theirs << 4 | (uint32_t)shared << 8;
  x->block = rt_check_whose(c, me, &x->thread);
  x->other_site = rt_check_site_of(other);
  x->other_block = rt_check_whose(c, other, &x->other_thread);
  return mine == RT_ACCESS_WRITE && theirs == RT_ACCESS_WRITE ? 2 : 1;
}

/* SIZE_MAX: there is no memory. What was not noted would be taken for what did not happen, so that
 * such a launch is an error (rt_check_is_short). */
static size_t new_full(RtCheck *c) {
  if (c->free_full) {
    size_t k = c->free_full - 1;
    c->free_full = (uint32_t)c->full[k].write;
    return k;
  }
  void *full = c->full;
  bool room = c->nfull < MOST_FULL && rt_check_grow(&full, &c->most_full, c->nfull, sizeof(Full));
  c->full = full;
  c->no_memory |= !room;
  return room ? c->nfull++ : SIZE_MAX;
}

void rt_check_expand(RtCheck *c, uint64_t *cell, uint64_t write, uint64_t read0, uint64_t read1) {
  size_t k = new_full(c);
  if (k == SIZE_MAX)
    return;
  c->full[k] = (Full){write, {read0, read1}};
  *cell = (uint64_t)c->base << SEGMENT_AT | (uint64_t)k << RT_ACCESS_SITE | FULL;
}

/* Is every thread that may still come behind this record? */
static bool is_older(const RtCheck *c, uint64_t record, bool shared) {
  return shared && rt_check_segment_of(record) < c->block->begun;
}

/* Are two accesses that nothing orders a race? */
static bool are_at_odds(uint32_t a, uint32_t b) {
  return a == RT_ACCESS_WRITE || b == RT_ACCESS_WRITE ||
         (a == RT_ACCESS_READ && b == RT_ACCESS_ATOMIC) ||
         (a == RT_ACCESS_ATOMIC && b == RT_ACCESS_READ);
}

bool rt_check_are_of_one_warp(const RtCheck *c, uint64_t a, uint64_t b) {
  const Segment *first = &c->segments[rt_check_segment_of(a) - c->base],
                *second = &c->segments[rt_check_segment_of(b) - c->base];
  return first->warp == second->warp && first->block == second->block;
}

static void free_full(RtCheck *c, size_t number) {
  c->full[number].write = c->free_full;
  c->free_full = (uint32_t)number + 1;
}

/* Of the two that are no writes: which one gives way to one more; 2: none does. */
static uint32_t slot_for(const RtCheck *c, const Full *f, const bool before[2], uint64_t me) {
  for (uint32_t k = 0; k < 2; k++)
    if (!f->read[k] || (before[k] && rt_check_is_alike(f->read[k], me)))
      return k;
  if (!rt_check_is_alike(f->read[0], me) && !rt_check_is_alike(f->read[1], me))
    return 1;
  return rt_check_is_alike(f->read[0], f->read[1]) &&
                 rt_check_are_of_one_warp(c, f->read[0], f->read[1])
             ? 1
             : 2;
}

/* The cell has a write and others. */
static uint32_t touch_full(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  size_t number = rt_check_full_of(*cell);
  Full *f = &c->full[number];
  uint32_t found = f->write && !rt_check_is_before(c, f->write, me, shared)
                       ? conflict(c, f->write, me, shared)
                       : 0;
  bool before[2];
  for (int k = 0; k < 2; k++) {
    before[k] = f->read[k] && rt_check_is_before(c, f->read[k], me, shared);
    if (found != 1 && f->read[k] && !before[k] && /* of two writes the values may be the same */
        are_at_odds(rt_check_kind_of(f->read[k]), rt_check_kind_of(me)))
      found = conflict(c, f->read[k], me, shared);
  }
  if (rt_check_kind_of(me) == RT_ACCESS_WRITE ||
      (is_older(c, f->write, shared) && is_older(c, f->read[0], shared) &&
       is_older(c, f->read[1], shared))) {
    free_full(c, number);
    *cell = me;
    return found;
  }
  uint32_t slot = slot_for(c, f, before, me);
  if (slot < 2)
    f->read[slot] = me;
  if (slot == 0 && before[1] && rt_check_is_alike(f->read[1], me))
    f->read[1] = 0;
  return found;
}

/* The cell has one record, of another thread or time. */
static uint32_t touch_single(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  uint64_t old = *cell;
  bool before = rt_check_is_before(c, old, me, shared);
  uint32_t found = !before && are_at_odds(rt_check_kind_of(old), rt_check_kind_of(me))
                       ? conflict(c, old, me, shared)
                       : 0;
  if (rt_check_kind_of(me) == RT_ACCESS_WRITE || is_older(c, old, shared) ||
      (before && rt_check_is_alike(old, me)))
    *cell = me;
  else if (rt_check_kind_of(old) == RT_ACCESS_WRITE)
    rt_check_expand(c, cell, old, me, 0);
  else
    rt_check_expand(c, cell, 0, old, me);
  return found;
}

uint32_t rt_check_touch_slowly(RtCheck *c, uintptr_t at, uint64_t *cell, uint64_t me) {
  bool shared = rt_check_is_shared(c, at);
  if (rt_check_kind_of(*cell) == FULL)
    return touch_full(c, cell, me, shared);
  return touch_single(c, cell, me, shared);
}
