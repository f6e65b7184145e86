/* Check cells: who touched which memory last.
 *
 * In: an access and its thread, whose segment, tick and lane make a record (check_state.h). Out: 0,
 * or a race with an earlier access that is not ordered before it.
 *
 * Memory is in pieces, with cells as fine as the finest access so far. A cell holds one record, or
 * the index of a Full. Sixteen cells are a line, which has a word of its own: the record of the
 * first cell, if those of the others follow from it (each lane's own element), so that a vector of
 * threads is noted by one word. A line is opened, and marked FULL, when its cells come to differ;
 * those of a line of an earlier launch mean nothing.
 *
 * Where threads run one by one and touch neighbouring elements, the first of a warp notes it for
 * all behind it (RtRun); what did not happen is taken back before anybody looks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/check_state.h"
#include "runtime/host/host.h"

#ifdef __clang__
#define VECTORS
#else
#define VECTORS __attribute__((optimize("O3")))
#endif

static size_t ncells(uint32_t shift) { return (size_t)1 << (PIECE_BITS - shift); }
static size_t nlines(uint32_t shift) { return ncells(shift) / LINE + 1; }

/* The lines are behind the cells. */
static size_t cells_bytes(uint32_t shift) {
  return (ncells(shift) + nlines(shift)) * sizeof(uint64_t);
}

void rt_check_forget_cells(RtCheck *c) {
  for (size_t k = 0; k < ROWS; k++)
    for (Piece *p = c->rows[k], *next; p; p = next) {
      next = p->next;
      munmap(p->cells, cells_bytes(p->least));
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
  c->conflicts[rt_check_lane_of(me)] =
      (Conflict){mine | theirs << 2 | (uint32_t)shared << 4, rt_check_site_of(other),
                 s->warp * WARP + rt_check_lane_of(other), s->block};
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

static void expand(RtCheck *c, uint64_t *cell, uint64_t write, uint64_t read0, uint64_t read1) {
  size_t k = new_full(c);
  if (k == SIZE_MAX)
    return;
  c->full[k] = (Full){write, {read0, read1}};
  *cell = (uint64_t)c->base << SEGMENT_AT | (uint64_t)k << RT_ACCESS_SITE | FULL;
}

static size_t full_of(uint64_t cell) { return (uint32_t)cell >> RT_ACCESS_SITE; }

/* Is every thread that may still come behind this record? */
static bool is_older(const RtCheck *c, uint64_t record, bool shared) {
  return shared && rt_check_segment_of(record) < c->block->begun;
}

/* The cell has a write and reads. */
static uint32_t touch_full(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  size_t number = full_of(*cell);
  Full *f = &c->full[number];
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
    c->free_full = (uint32_t)number + 1;
    *cell = me;
    return found;
  }
  if (is_older(c, f->write, shared) && is_older(c, f->read[0], shared) &&
      is_older(c, f->read[1], shared)) {
    *cell = me;
    f->write = c->free_full;
    c->free_full = (uint32_t)number + 1;
    return 0;
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
    if (writes || (before && is_older(c, old, shared)))
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

static bool is_shared(const RtCheck *c, uintptr_t at) {
  return at >= c->block->shared && at < c->block->shared_end;
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
  bool shared = is_shared(c, at);
  if (rt_check_kind_of(*cell) == FULL) {
    if (rt_check_segment_of(*cell) == c->base)
      return touch_full(c, cell, me, shared);
    *cell = me;
    return 0;
  }
  return touch_single(c, cell, me, shared);
}

/* The first test is for the usual case: memory that nobody else has touched in this launch, or
 * nobody at all. */
static inline uint32_t touch(const RtHostLaunch *view, uintptr_t at, uint64_t *cell, uint64_t me) {
  uint64_t old = *cell, differs = (old ^ me) & WHO;
  if (!differs && rt_check_kind_of(old) != FULL) { /* its own: a write says more than a read */
    if (rt_check_kind_of(me) == RT_ACCESS_WRITE)
      *cell = me;
    return 0;
  }
  if (rt_check_segment_of(old) < view->check->base) { /* FULL: never */
    *cell = me;
    return 0;
  }
  return touch_slowly(view, at, cell, me);
}

/* --- lines --- */

static uint64_t *line_of(const Piece *p, size_t cell) {
  return &p->lines[(cell + LINE - p->phase) >> LINE_BITS];
}

static bool is_open(const RtCheck *c, uint64_t line) {
  return rt_check_kind_of(line) == FULL && rt_check_segment_of(line) == c->base;
}

/* The cells of this one's line get what its word says. */
static __attribute__((noinline)) void open_line(const RtCheck *c, const Piece *p, size_t cell) {
  uint64_t *line = line_of(p, cell), old = *line;
  bool stale = rt_check_is_stale(c, old);
  size_t begin = ((cell + LINE - p->phase) & ~(size_t)(LINE - 1)), n = ncells(p->shift);
  for (size_t k = 0; k < LINE; k++) {
    size_t at = begin + k + p->phase - LINE; /* of the first line some, of the last one too */
    if (at < n)
      p->cells[at] = stale ? 0 : old + rt_check_lanes((uint32_t)k);
  }
  *line = (uint64_t)c->base << SEGMENT_AT | FULL;
}

static void open_lines(const RtCheck *c, const Piece *p, size_t cell, size_t n) {
  for (size_t k = cell; k < cell + n; k++)
    if (!is_open(c, *line_of(p, k)))
      open_line(c, p, k);
}

static inline uint64_t *cell_of(const RtCheck *c, const Piece *p, uintptr_t at) {
  size_t k = (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
  if (!is_open(c, *line_of(p, k)))
    open_line(c, p, k);
  return &p->cells[k];
}

/* --- pieces --- */

/* Nothing in its memory is of this launch: all of it is stale, whatever it was before. */
static void lay_out(RtCheck *c, Piece *p, uintptr_t at, uint32_t shift) {
  p->base = c->base;
  p->shift = shift;
  p->phase = (uint32_t)((c->row ? c->row : at) >> shift) & (LINE - 1);
  p->lines = p->cells + ncells(shift);
}

static bool map_cells(RtCheck *c, Piece *p, uint32_t shift) {
  uint64_t *cells = rt_check_map(cells_bytes(shift));
  if (!cells) {
    c->no_memory = true;
    return false;
  }
  if (p->cells) {
    munmap(p->cells, cells_bytes(p->least));
    c->cell_bytes -= cells_bytes(p->least);
  }
  c->cell_bytes += cells_bytes(shift);
  p->cells = cells, p->least = shift;
  return true;
}

static Piece *make_piece(RtCheck *c, uintptr_t at, uint32_t shift) {
  uintptr_t number = at >> PIECE_BITS;
  Piece *p = calloc(1, sizeof *p);
  if (!p || !map_cells(c, p, shift)) {
    c->no_memory = true;
    free(p);
    return NULL;
  }
  lay_out(c, p, at, shift);
  p->number = number, p->next = c->rows[number % ROWS];
  return c->rows[number % ROWS] = p;
}

/* Cells for fewer bytes each: what is known of many bytes is known of each. */
static bool refine(RtCheck *c, Piece *p, uint32_t shift) {
  rt_check_end_runs(c);
  size_t n = (size_t)1 << (PIECE_BITS - p->shift), by = (size_t)1 << (p->shift - shift);
  Piece old = *p;
  open_lines(c, p, 0, n);
  p->cells = NULL;
  if (!map_cells(c, p, shift)) {
    *p = old;
    return false;
  }
  lay_out(c, p, 0, shift);
  for (size_t k = 0; k < nlines(shift); k++)
    p->lines[k] = (uint64_t)c->base << SEGMENT_AT | FULL;
  for (size_t k = 0; k < n; k++) {
    uint64_t record = old.cells[k];
    if (rt_check_is_stale(c, record))
      continue;
    for (size_t j = 0; j < by; j++) {
      uint64_t *cell = &p->cells[k * by + j];
      *cell = record;
      if (rt_check_kind_of(record) == FULL && j) {
        Full f = c->full[full_of(record)];
        *cell = 0;
        expand(c, cell, f.write, f.read[0], f.read[1]);
      }
    }
  }
  munmap(old.cells, cells_bytes(old.least));
  c->cell_bytes -= cells_bytes(old.least);
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
    return make_piece(c, at, shift);
  if (p->base != c->base && (shift >= p->least || map_cells(c, p, shift)))
    lay_out(c, p, at, shift);
  return p->shift <= shift || refine(c, p, shift) ? p : NULL;
}

static uint32_t touch_all(const RtHostLaunch *view, uintptr_t at, uint32_t bytes, uint64_t me) {
  uint32_t found = 0;
  for (uintptr_t end = at + bytes; at < end && found != 1;) {
    const Piece *p = find_piece(view->check, at, (uint32_t)(end - at));
    if (!p)
      rt_host_stop_short(view);
    uint32_t one = touch(view, at, cell_of(view->check, p, at), me);
    found = one ? one : found;
    at += (uintptr_t)1 << p->shift;
  }
  return found;
}

/* The piece of an element, if its cells are as large as that; NULL: find_piece knows more. */
static inline const Piece *piece_for(const RtCheck *c, uintptr_t at, uint32_t bytes) {
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  return p && p->number == at >> PIECE_BITS && p->base == c->base && bytes == 1u << p->shift &&
                 !(at & (bytes - 1))
             ? p
             : NULL;
}

static inline uint32_t access_at(const RtHostLaunch *view, uintptr_t at, uint32_t thread,
                                 uint32_t what, uint32_t bytes) {
  const RtCheck *c = view->check;
  uint64_t me = c->block->warps[thread / WARP].stamp | rt_check_lanes(thread % WARP) | what;
  const Piece *p = piece_for(c, at, bytes);
  if (__builtin_expect(p != NULL, 1))
    return touch(view, at, cell_of(c, p, at), me);
  return touch_all(view, at, bytes, me);
}

uint32_t rt_check_access(const RtHostLaunch *view, const void *address, uint32_t thread,
                         uint32_t what, uint32_t bytes) {
  if (__builtin_expect((what & KIND_BITS) == RT_ACCESS_ATOMIC, 0))
    rt_check_order_by_atomic(view->check, thread);
  return access_at(view, (uintptr_t)address, thread, what, bytes);
}

/* Do these n cells have this record of the first, and of the others what their lanes make of it? */
VECTORS static bool are_alike(const uint64_t *cells, uint32_t n, uint64_t record) {
  uint64_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= cells[k] ^ (record + rt_check_lanes(k));
  return !differ;
}

/* Has each of them a record of the lane's own, and one only? */
VECTORS static bool are_own(const uint64_t *cells, uint32_t n, uint64_t record) {
  uint64_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= ((cells[k] ^ (record + rt_check_lanes(k))) & WHO) | (cells[k] & cells[k] >> 1 & 1);
  return !differ;
}

/* Are all of them of segments before this one, and no index? */
VECTORS static bool are_before(const uint64_t *cells, uint32_t n, uint32_t segment) {
  uint32_t fresh = 0;
  for (uint32_t k = 0; k < n; k++)
    fresh |= (uint32_t)((uint32_t)(cells[k] >> SEGMENT_AT) >= segment);
  return !fresh;
}

VECTORS static bool have_full(const uint64_t *cells, uint32_t n) {
  uint64_t full = 0;
  for (uint32_t k = 0; k < n; k++)
    full |= cells[k] & cells[k] >> 1;
  return full & 1;
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
  const Piece *p = piece_for(c, at, bytes);
  n = n < left ? n : left;
  n = n < (end - first) / bytes ? n : (uint32_t)((end - first) / bytes);
  if (!n || !p)
    return false;
  size_t begin = (first & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
  uint64_t *cells = &p->cells[begin];
  open_lines(c, p, begin, n);
  bool stale = are_before(cells, n, c->base);
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
  if (thread == r->next && thread % WARP &&
      (uintptr_t)address == r->key + (uint64_t)thread * bytes) {
    r->next++;
    return 0;
  }
  if (!r->cells && r->vain >= VAIN && ++r->vain % AGAIN)
    return access_at(view, (uintptr_t)address, thread, what, bytes);
  if (r->cells && r->next < r->end)
    rt_check_end_runs(c);
  else
    end_run(r);
  uint32_t found = access_at(view, (uintptr_t)address, thread, what, bytes);
  if (found)
    return found;
  uint64_t me = c->block->warps[thread / WARP].stamp | rt_check_lanes(thread % WARP) | what;
  if (r->vain >= VAIN && r->vain % AGAIN)
    return 0;
  if (!begin_run(c, r, (uintptr_t)address, thread, me, bytes))
    r->vain++;
  return 0;
}

/* --- rows: lanes of a vector --- */

/* Neighbouring lanes at neighbouring elements that nobody else has touched, or nobody that is not
 * ordered: at once. */
static bool note_row(RtCheck *c, uintptr_t at, uint32_t n, uint64_t me, uint32_t bytes) {
  size_t in_piece = at & (((uintptr_t)1 << PIECE_BITS) - 1);
  const Piece *p = piece_for(c, at, bytes);
  if (!p || in_piece + (size_t)n * bytes > (size_t)1 << PIECE_BITS)
    return false;
  size_t k = in_piece >> p->shift;
  bool writes = rt_check_kind_of(me) == RT_ACCESS_WRITE,
       whole = n == LINE && !((k - p->phase) & (LINE - 1));
  uint32_t behind = is_shared(c, at) ? c->block->begun : c->base;
  uint64_t *line = line_of(p, k);
  if (whole && !is_open(c, *line)) {
    bool own = !((*line ^ me) & WHO);
    if (rt_check_segment_of(*line) < behind || (own && writes))
      *line = me;
    if (own || *line == me)
      return true;
  }
  open_lines(c, p, k, n);
  uint64_t *cells = &p->cells[k];
  if (are_own(cells, n, me)) {
    if (writes)
      note_lanes(cells, n, me);
    return true;
  }
  if (!are_before(cells, n, behind) || (behind != c->base && have_full(cells, n)))
    return false;
  if (whole)
    *line = me;
  else
    note_lanes(cells, n, me);
  return true;
}

static bool note_rows(RtCheck *c, uintptr_t at, uint32_t n, uint64_t me, uint32_t bytes) {
  for (; n > LINE; n -= LINE, at += (uintptr_t)LINE * bytes, me += rt_check_lanes(LINE))
    if (!note_row(c, at, LINE, me, bytes))
      return false;
  return note_row(c, at, n, me, bytes);
}

/* All lanes read one element: two of them stand for all. */
static bool note_one(RtCheck *c, uintptr_t at, uint64_t me, uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  if (!p)
    return false;
  uint64_t cell = *cell_of(c, p, at);
  if (rt_check_kind_of(cell) != FULL || rt_check_segment_of(cell) != c->base)
    return false;
  const Full *f = &c->full[full_of(cell)];
  uint64_t who = WHO ^ rt_check_lanes(WARP - 1);
  return f->read[0] && f->read[1] && !((f->read[0] ^ me) & who) && !((f->read[1] ^ me) & who) &&
         rt_check_lane_of(f->read[0]) != rt_check_lane_of(f->read[1]);
}

/* The usual case of note_row: a line that nobody else has touched in this launch, or nobody at
 * all. */
static inline bool note_line(RtCheck *c, uintptr_t at, uint64_t me, uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  if (!p)
    return false;
  size_t k = (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
  if (((k - p->phase) & (LINE - 1)) || k + LINE > ncells(p->shift))
    return false;
  uint64_t *line = line_of(p, k), old = *line;
  if (rt_check_segment_of(old) < c->base) {
    *line = me;
    return true;
  }
  if (((old ^ me) & WHO) || rt_check_kind_of(old) == FULL)
    return false;
  if (rt_check_kind_of(me) == RT_ACCESS_WRITE)
    *line = me;
  return true;
}

/* Where the same threads will be the next time, if they go on as they did: a loop by the grid's
 * stride comes to other pages each time, which the processor does not foresee. */
static inline void look_ahead(const RtCheck *c, RtRun *r, uintptr_t at, uint32_t thread) {
  enum { PAGE = 4096 };
  if (!thread) {
    r->step = (int64_t)(at - r->row);
    r->row = at;
  }
  if (r->step < PAGE && r->step > -PAGE)
    return;
  uintptr_t next = at + (uintptr_t)r->step;
  const Piece *p = c->rows[(next >> PIECE_BITS) % ROWS];
  __builtin_prefetch((const void *)next);
  if (p && p->number == next >> PIECE_BITS)
    __builtin_prefetch(line_of(p, (next & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift), 1);
}

const uint32_t *rt_check_row(const RtHostLaunch *view, const void *address, uint32_t thread,
                             uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  static const uint32_t nothing[WARP];
  RtCheck *c = view->check;
  uint32_t n = mask ? 32 - (uint32_t)__builtin_clz(mask) : 0, lane = thread % WARP, any = 0;
  uint64_t me = c->block->warps[thread / WARP].stamp | rt_check_lanes(lane) | what;
  look_ahead(c, &c->runs[what >> RT_ACCESS_SITE], (uintptr_t)address, thread);
  if (mask == (1u << LINE) - 1 && step == bytes && lane <= WARP - LINE &&
      note_line(c, (uintptr_t)address, me, bytes))
    return nothing;
  if (step == bytes && !(mask & (mask + 1)) && lane + n <= WARP &&
      note_rows(c, (uintptr_t)address, n, me, bytes))
    return nothing;
  if (!step && (what & KIND_BITS) == RT_ACCESS_READ && lane + n <= WARP &&
      note_one(c, (uintptr_t)address, me, bytes))
    return nothing;
  memset(c->found, 0, sizeof c->found);
  c->row = step == bytes ? (uintptr_t)address : 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(rest);
    const char *p = (const char *)address + (int64_t)k * step;
    any |= c->found[k] = rt_check_access(view, p, thread + k, what, bytes);
  }
  c->row = 0;
  return any ? c->found : nothing;
}
