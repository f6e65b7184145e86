/* Check cells: who touched which memory last.
 *
 * In: an access and its thread, whose segment, tick and lane make a record (check_state.h). Out: 0,
 * or a race with an earlier access that is not ordered before it.
 *
 * Memory is in pieces, with cells as fine as the finest access so far. A cell holds one record, or
 * the index of a Full. Where neighbouring threads touch neighbouring elements, the first of a warp
 * notes it for all behind it (RtRun); what did not happen is taken back before anybody looks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/check_state.h"

#ifdef __clang__
#define VECTORS
#else
#define VECTORS __attribute__((optimize("O3")))
#endif

static size_t cells_bytes(uint32_t shift) {
  return ((size_t)1 << (PIECE_BITS - shift)) * sizeof(uint64_t);
}

void rt_check_forget_cells(RtCheck *c) {
  for (size_t k = 0; k < ROWS; k++)
    for (Piece *p = c->rows[k], *next; p; p = next) {
      next = p->next;
      munmap(p->cells, cells_bytes(p->shift));
      free(p);
    }
  memset(c->rows, 0, sizeof c->rows);
  c->cell_bytes = 0;
}

/* --- runs --- */

/* What was noted and has not happened is taken back. */
static void end_run(RtRun *r) {
  if (!r->cells)
    return;
  for (uint32_t k = r->next - r->first; k < r->end - r->first; k++)
    if (r->cells[k] == r->record + rt_check_lanes(k))
      r->cells[k] = r->old ? r->old + rt_check_lanes(k) : 0;
  r->vain = r->next == r->first ? r->vain + 1 : 0;
  r->next = UINT32_MAX;
  r->cells = NULL;
}

/* The last one first: it may have noted over what an earlier one noted. */
void rt_check_end_runs(RtCheck *c) {
  for (RtRun *r = c->active, *next; r; r = next) {
    next = r->active;
    r->active = NULL, r->listed = 0;
    end_run(r);
  }
  c->active = NULL;
}

/* --- cells --- */

static uint32_t conflict(RtCheck *c, uint64_t other, uint64_t me, bool shared) {
  const Segment *s = &c->segments[rt_check_segment_of(other) - c->base];
  uint32_t mine = rt_check_kind_of(me), theirs = rt_check_kind_of(other);
  c->finding = RT_FOUND_RACE;
  c->detail = mine | theirs << 2 | (uint32_t)shared << 4;
  c->other_site = (uint32_t)(other >> RT_ACCESS_SITE) & (RT_ACCESS_SITES - 1);
  c->other_block = s->block;
  c->other_thread = s->warp * WARP + rt_check_lane_of(other);
  return mine == RT_ACCESS_WRITE && theirs == RT_ACCESS_WRITE ? 2 : 1;
}

/* SIZE_MAX: there is no memory. */
static size_t new_full(RtCheck *c) {
  if (c->free_full) {
    size_t k = c->free_full - 1;
    c->free_full = (uint32_t)c->full[k].write;
    return k;
  }
  void *full = c->full;
  bool room = c->nfull < MOST_FULL && rt_check_grow(&full, &c->most_full, c->nfull, sizeof(Full));
  c->full = full;
  return room ? c->nfull++ : SIZE_MAX;
}

static void expand(RtCheck *c, uint64_t *cell, uint64_t write, uint64_t read0, uint64_t read1) {
  size_t k = new_full(c);
  if (k == SIZE_MAX) /* less is found */
    return;
  c->full[k] = (Full){write, {read0, read1}};
  *cell = (uint64_t)c->base << SEGMENT_AT | (uint64_t)k << RT_ACCESS_SITE | FULL;
}

static size_t full_of(uint64_t cell) { return (uint32_t)cell >> RT_ACCESS_SITE; }

/* The cell has a write and reads. */
static uint32_t touch_full(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  Full *f = &c->full[full_of(*cell)];
  uint32_t found = f->write && !rt_check_is_before(c, f->write, me, shared)
                       ? conflict(c, f->write, me, shared)
                       : 0;
  bool before[2];
  for (int k = 0; k < 2; k++)
    before[k] = !f->read[k] || rt_check_is_before(c, f->read[k], me, shared);
  if (rt_check_kind_of(me) == RT_ACCESS_WRITE) {
    for (int k = 0; k < 2 && found != 1; k++)
      if (!before[k])
        found = conflict(c, f->read[k], me, shared);
    f->write = c->free_full;
    c->free_full = (uint32_t)full_of(*cell) + 1;
    *cell = me;
    return found;
  }
  if (before[0] || before[1]) {
    f->read[before[0] ? 0 : 1] = me;
    if (before[0] && before[1])
      f->read[1] = 0;
  } else {
    const Segment *first = &c->segments[rt_check_segment_of(f->read[0]) - c->base],
                  *second = &c->segments[rt_check_segment_of(f->read[1]) - c->base];
    if (first->warp == second->warp && first->block == second->block)
      f->read[1] = me;
  }
  return found;
}

/* The cell has one record, of another thread or time. */
static uint32_t touch_single(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  uint64_t old = *cell;
  bool before = rt_check_is_before(c, old, me, shared),
       writes = rt_check_kind_of(me) == RT_ACCESS_WRITE;
  if (writes || rt_check_kind_of(old) == RT_ACCESS_WRITE) {
    uint32_t found = before ? 0 : conflict(c, old, me, shared);
    if (writes)
      *cell = me;
    else
      expand(c, cell, old, me, 0);
    return found;
  }
  if (before)
    *cell = me;
  else
    expand(c, cell, 0, old, me);
  return 0;
}

static __attribute__((noinline)) uint32_t touch_slowly(const RtHostLaunch *view, uintptr_t at,
                                                       uint64_t *cell, uint64_t me) {
  RtCheck *c = view->check;
  rt_check_end_runs(c);
  uint64_t old = *cell;
  if (rt_check_is_stale(c, old) || (!((old ^ me) & WHO) && rt_check_kind_of(old) != FULL)) {
    if (rt_check_is_stale(c, old) || rt_check_kind_of(me) == RT_ACCESS_WRITE)
      *cell = me;
    return 0;
  }
  bool shared = at >= c->block->shared && at < c->block->shared_end;
  if (rt_check_kind_of(*cell) == FULL) {
    if (rt_check_segment_of(*cell) == c->base)
      return touch_full(c, cell, me, shared);
    *cell = me;
    return 0;
  }
  return touch_single(c, cell, me, shared);
}

/* The first loop is for the usual case: memory that nobody else has touched in this launch, or
 * nobody at all. */
static inline uint32_t touch(const RtHostLaunch *view, uintptr_t at, uint64_t *cell, uint64_t me) {
  uint64_t old = *cell, differs = (old ^ me) & WHO;
  if (!differs && rt_check_kind_of(old) != FULL) { /* its own: a write says more than a read */
    if (rt_check_kind_of(me) == RT_ACCESS_WRITE)
      *cell = me;
    return 0;
  }
  if (rt_check_segment_of(old) < view->check->base) {
    *cell = me;
    return 0;
  }
  return touch_slowly(view, at, cell, me);
}

/* --- pieces --- */

static Piece *make_piece(RtCheck *c, uintptr_t number, uint32_t shift) {
  Piece *p = malloc(sizeof *p);
  uint64_t *cells = p ? rt_check_map(cells_bytes(shift)) : NULL;
  if (!cells) {
    free(p);
    return NULL;
  }
  *p = (Piece){number, shift, cells, c->rows[number % ROWS]};
  c->cell_bytes += cells_bytes(shift);
  return c->rows[number % ROWS] = p;
}

/* Cells for fewer bytes each: what is known of many bytes is known of each. */
static bool refine(RtCheck *c, Piece *p, uint32_t shift) {
  rt_check_end_runs(c);
  size_t n = (size_t)1 << (PIECE_BITS - p->shift), by = (size_t)1 << (p->shift - shift);
  uint64_t *cells = rt_check_map(cells_bytes(shift));
  if (!cells)
    return false;
  for (size_t k = 0; k < n; k++) {
    uint64_t old = p->cells[k];
    if (rt_check_is_stale(c, old))
      continue;
    for (size_t j = 0; j < by; j++) {
      uint64_t *cell = &cells[k * by + j];
      *cell = old;
      if (rt_check_kind_of(old) == FULL && j) {
        Full f = c->full[full_of(old)];
        *cell = 0;
        expand(c, cell, f.write, f.read[0], f.read[1]);
      }
    }
  }
  munmap(p->cells, cells_bytes(p->shift));
  c->cell_bytes += cells_bytes(shift) - cells_bytes(p->shift);
  p->cells = cells, p->shift = shift;
  return true;
}

static uint32_t shift_for(uintptr_t at, uint32_t bytes) {
  uint32_t shift = bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
  while (shift && (at & ((1u << shift) - 1)))
    shift--;
  return shift;
}

/* The piece of an access, fine enough for it. */
static __attribute__((noinline)) Piece *find_piece(RtCheck *c, uintptr_t at, uint32_t bytes) {
  uintptr_t number = at >> PIECE_BITS;
  uint32_t shift = shift_for(at, bytes);
  Piece *p = c->rows[number % ROWS];
  while (p && p->number != number)
    p = p->next;
  if (!p)
    return make_piece(c, number, shift);
  return p->shift <= shift || refine(c, p, shift) ? p : NULL;
}

static uint32_t touch_all(const RtHostLaunch *view, uintptr_t at, uint32_t bytes, uint64_t me) {
  uint32_t found = 0;
  for (uintptr_t end = at + bytes; at < end && found != 1;) {
    Piece *p = find_piece(view->check, at, (uint32_t)(end - at));
    if (!p)
      return found;
    size_t k = (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
    uint32_t one = touch(view, at, &p->cells[k], me);
    found = one ? one : found;
    at += (uintptr_t)1 << p->shift;
  }
  return found;
}

uint32_t rt_check_access(const RtHostLaunch *view, const void *address, uint32_t thread,
                         uint32_t what, uint32_t bytes) {
  RtCheck *c = view->check;
  uintptr_t at = (uintptr_t)address;
  if (__builtin_expect((what & KIND_BITS) == RT_ACCESS_ATOMIC, 0))
    rt_check_order_by_atomic(c, thread);
  uint64_t me = c->block->warps[thread / WARP].stamp | (uint64_t)(thread % WARP) << LANE_AT | what;
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  if (__builtin_expect(
          p && p->number == at >> PIECE_BITS && bytes == 1u << p->shift && !(at & (bytes - 1)), 1))
    return touch(view, at, &p->cells[(at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift], me);
  return touch_all(view, at, bytes, me);
}

/* Do these n cells have this record of the first, and of the others what their lanes make of it? */
VECTORS static bool are_alike(const uint64_t *cells, uint32_t n, uint64_t record) {
  uint64_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= cells[k] ^ (record + rt_check_lanes(k));
  return !differ;
}

VECTORS static bool are_stale(const RtCheck *c, const uint64_t *cells, uint32_t n) {
  uint64_t least = (uint64_t)c->base << SEGMENT_AT;
  uint32_t fresh = 0;
  for (uint32_t k = 0; k < n; k++)
    fresh |= cells[k] >= least;
  return !fresh;
}

VECTORS static void note_lanes(uint64_t *cells, uint32_t n, uint64_t record) {
  for (uint32_t k = 0; k < n; k++)
    cells[k] = record + rt_check_lanes(k);
}

static void unlist(RtCheck *c, RtRun *r) {
  RtRun **at = &c->active;
  while (r->listed && *at != r)
    at = &(*at)->active;
  if (r->listed)
    *at = r->active;
}

/* Notes the accesses of the lanes behind this one, if their elements are of this launch untouched,
 * or each lane's own. */
static bool begin_run(RtCheck *c, RtRun *r, uintptr_t at, uint32_t thread, uint64_t me,
                      uint32_t bytes) {
  uint32_t n = WARP - 1 - thread % WARP, left = c->block->nthreads - 1 - thread;
  uintptr_t first = at + bytes, end = ((at >> PIECE_BITS) + 1) << PIECE_BITS;
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  n = n < left ? n : left;
  n = n < (end - first) / bytes ? n : (uint32_t)((end - first) / bytes);
  if (!n || !p || p->number != at >> PIECE_BITS || bytes != 1u << p->shift || (at & (bytes - 1)))
    return false;
  uint64_t *cells = &p->cells[(first & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift];
  bool stale = are_stale(c, cells, n);
  uint64_t record = me + rt_check_lanes(1), old = stale ? 0 : cells[0];
  if (!stale &&
      (((old ^ record) & WHO) || rt_check_kind_of(old) == FULL || !are_alike(cells, n, old)))
    return false;
  if (!stale && rt_check_kind_of(me) == RT_ACCESS_READ)
    record = old;
  note_lanes(cells, n, record);
  unlist(c, r);
  *r = (RtRun){.key = at - (uint64_t)thread * bytes,
               .next = thread + 1,
               .first = thread + 1,
               .end = thread + 1 + n,
               .vain = r->vain,
               .cells = cells,
               .record = record,
               .old = old,
               .active = c->active,
               .listed = 1};
  c->active = r;
  return true;
}

uint32_t rt_check_run(const RtHostLaunch *view, const void *address, uint32_t thread, uint32_t what,
                      uint32_t bytes) {
  enum { VAIN = 4, AGAIN = 64 };
  RtCheck *c = view->check;
  RtRun *r = &c->runs[what >> RT_ACCESS_SITE];
  if (r->cells && r->next < r->end)
    rt_check_end_runs(c);
  else
    end_run(r);
  uint32_t found = rt_check_access(view, address, thread, what, bytes);
  if (found)
    return found;
  uint64_t me = c->block->warps[thread / WARP].stamp | rt_check_lanes(thread % WARP) | what;
  bool tries = r->vain < VAIN || r->vain % AGAIN == 0;
  if (!tries || !begin_run(c, r, (uintptr_t)address, thread, me, bytes))
    r->vain++;
  return 0;
}
