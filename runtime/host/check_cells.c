/* Check cells: who touched which memory last.
 *
 * In: an access and its thread, whose segment, tick and lane make a record (check_state.h). Out: 0,
 * or a race with an earlier access that is not ordered before it.
 *
 * Memory is in pieces, with cells as fine as the finest access so far. Up to 32 cells are
 * a line, as blocks are wide. A line has entries: a record, the cells that it is of, and how the
 * lanes follow from the cell, so that what a vector of threads does is one entry, and so is what a
 * thread does that goes along a row (check_entries.c). A line is opened when entries do not tell
 * what happened: atomic operations, accesses that may be a race, threads that do not touch
 * neighbouring cells. Then each cell has a record, or the index of a Full. What is of an earlier
 * launch means nothing. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/check_kept.h"
#include "runtime/host/check_lines.h"
#include "runtime/host/check_touch.h"
#include "runtime/host/host.h"

static size_t nlines(uint32_t shift, uint32_t line_bits) {
  return (rt_check_ncells(shift) >> line_bits) + 1;
}

/* The lines are behind the cells. */
static size_t cells_bytes(uint32_t shift, uint32_t line_bits) {
  return rt_check_ncells(shift) * sizeof(uint64_t) + nlines(shift, line_bits) * sizeof(Line);
}

void rt_check_forget_cells(RtCheck *c) {
  for (size_t k = 0; k < ROWS; k++)
    for (Piece *p = c->rows[k], *next; p; p = next) {
      next = p->next;
      munmap(p->cells, cells_bytes(p->least, p->line_bits));
      free(p);
    }
  memset(c->rows, 0, sizeof c->rows);
  c->cell_bytes = 0;
}

/* --- cells --- */

/* The first test is for the usual case: memory that nobody else has touched in this launch, or
 * nobody at all. */
static inline uint32_t touch(RtCheck *c, uintptr_t at, uint64_t *cell, uint64_t me) {
  uint64_t old = *cell;
  if (rt_check_is_stale(c, old)) {
    *cell = me;
    return 0;
  }
  if (!((old ^ me) & WHO) && rt_check_kind_of(old) != FULL && rt_check_says_as_much(old, me))
    return 0;
  return rt_check_touch_slowly(c, at, cell, me);
}

static void open_lines(RtCheck *c, const Piece *p, size_t cell, size_t n) {
  for (size_t k = cell; k < cell + n; k++)
    if (!rt_check_is_open(c, rt_check_line_of(c, p, k)))
      rt_check_open_line(c, p, k);
}

static inline uint64_t *cell_of(RtCheck *c, const Piece *p, uintptr_t at) {
  size_t k = (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
  if (!rt_check_is_open(c, rt_check_line_of(c, p, k)))
    rt_check_open_line(c, p, k);
  return &p->cells[k];
}

/* --- single threads --- */

/* Is this one thread at one cell the next one of an entry? An entry of one cell may still become
 * one of neighbouring threads. */
static inline bool fits(Line *e, Line *me, uint32_t cell) {
  uint64_t differs = (e->record ^ me->record) & WHO;
  if (differs & ~rt_check_lanes(WARP - 1) || e->form > OPEN)
    return false;
  if (e->form == ONE && !differs)
    return true;
  uint32_t at = e->form == ONE && !(e->mask & (e->mask - 1)) ? (uint32_t)__builtin_ctz(e->mask) : 0,
           first = (rt_check_lane_of(e->record) - at) & (WARP - 1);
  if ((e->form != EACH && (e->mask & (e->mask - 1))) ||
      first != ((rt_check_lane_of(me->record) - cell) & (WARP - 1)))
    return false;
  e->record = (e->record & ~rt_check_lanes(WARP - 1)) | rt_check_lanes(first);
  me->record = (me->record & ~rt_check_lanes(WARP - 1)) | rt_check_lanes(first);
  e->form = me->form = EACH;
  return true;
}

/* Has the warp been in the line since it last met, otherwise than this thread, or by a thread whose
 * neighbour this one is not? Then entries would be of a cell each. */
static inline bool is_out_of_order(const Line *l, uint64_t record, uint32_t lane, uint32_t cell) {
  if ((l->record ^ record) >> TICK_AT || l->more)
    return false;
  if (!rt_check_is_alike(l->record, record))
    return true;
  Line e = *l, me = rt_check_entry(record, lane, 1u << cell, ONE);
  return !fits(&e, &me, cell);
}

static inline bool note_single(RtCheck *c, Line *l, uint64_t record, uint32_t lane, uint32_t cell,
                               uint32_t behind) {
  Line me = rt_check_entry(record, lane, 1u << cell, ONE);
  if (rt_check_segment_of(l->record) >= c->base && l->form != OPEN && !fits(l, &me, cell) &&
      l->more && c->logs[l->more - 1].n) {
    Log *log = &c->logs[l->more - 1];
    fits(&log->entries[log->n - 1], &me, cell);
  }
  return rt_check_note_entry(c, l, me, behind);
}

/* --- pieces --- */

/* Nothing in its memory is of this launch: all of it is stale, whatever it was before. */
static void lay_out(RtCheck *c, Piece *p, uintptr_t at, uint32_t shift) {
  c->generation++;
  p->base = c->base;
  p->shift = shift;
  p->phase = (uint32_t)((c->row ? c->row : at) >> shift) & (rt_check_line_cells(c) - 1);
}

static bool map_cells(RtCheck *c, Piece *p, uint32_t shift) {
  uint64_t *cells = rt_check_map(cells_bytes(shift, c->line_bits));
  if (!cells) {
    c->no_memory = true;
    return false;
  }
  if (p->cells) {
    munmap(p->cells, cells_bytes(p->least, p->line_bits));
    c->cell_bytes -= cells_bytes(p->least, p->line_bits);
  }
  c->cell_bytes += cells_bytes(shift, c->line_bits);
  p->cells = cells, p->least = shift, p->line_bits = c->line_bits;
  p->lines = (Line *)(cells + rt_check_ncells(shift)); /* nothing else is ever in their place */
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
  size_t n = (size_t)1 << (PIECE_BITS - p->shift), by = (size_t)1 << (p->shift - shift);
  Piece old = *p;
  open_lines(c, p, 0, n);
  p->cells = NULL;
  if (!map_cells(c, p, shift)) {
    *p = old;
    return false;
  }
  lay_out(c, p, 0, shift);
  for (size_t k = 0; k < nlines(shift, c->line_bits); k++)
    p->lines[k] = (Line){.record = (uint64_t)c->base << SEGMENT_AT, .form = OPEN};
  for (size_t k = 0; k < n; k++) {
    uint64_t record = old.cells[k];
    if (rt_check_is_stale(c, record))
      continue;
    for (size_t j = 0; j < by; j++) {
      uint64_t *cell = &p->cells[k * by + j];
      *cell = record;
      if (rt_check_kind_of(record) == FULL && j) {
        Full f = c->full[rt_check_full_of(record)];
        *cell = 0;
        rt_check_expand(c, cell, f.write, f.read[0], f.read[1]);
      }
    }
  }
  munmap(old.cells, cells_bytes(old.least, old.line_bits));
  c->cell_bytes -= cells_bytes(old.least, old.line_bits);
  return true;
}

static uint32_t shift_for(uintptr_t at, uint32_t bytes) {
  uint32_t shift = bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
  while (shift && (at & ((1u << shift) - 1)))
    shift--;
  return shift;
}

Piece *rt_check_find_piece(RtCheck *c, uintptr_t at, uint32_t bytes) {
  uintptr_t number = at >> PIECE_BITS;
  uint32_t shift = shift_for(at, bytes);
  Piece *p = c->rows[number % ROWS];
  while (p && p->number != number)
    p = p->next;
  if (!p)
    return make_piece(c, at, shift);
  if (p->base != c->base &&
      ((shift >= p->least && c->line_bits >= p->line_bits) || map_cells(c, p, shift)))
    lay_out(c, p, at, shift);
  return p->shift <= shift || refine(c, p, shift) ? p : NULL;
}

static uint32_t touch_all(const RtHostLaunch *view, uintptr_t at, uint32_t bytes, uint64_t me) {
  uint32_t found = 0;
  for (uintptr_t end = at + bytes; at < end && found != 1;) {
    const Piece *p = rt_check_find_piece(view->check, at, (uint32_t)(end - at));
    if (!p)
      rt_host_stop_short(view);
    uint32_t one = touch(view->check, at, cell_of(view->check, p, at), me);
    found = one ? one : found;
    at += (uintptr_t)1 << p->shift;
  }
  return found;
}

bool rt_check_note_cell(RtCheck *c, const Piece *p, size_t k, uint64_t me, uint32_t behind) {
  Line *l = rt_check_line_of(c, p, k);
  uint32_t segment = rt_check_segment_of(l->record);
  if (segment < c->base || (segment < behind && !l->more && l->form != OPEN))
    *l = (Line){.record = (uint64_t)c->base << SEGMENT_AT, .form = OPEN};
  else if (l->form != OPEN)
    rt_check_open_line(c, p, k);
  l->mask = APART;
  uint64_t old = p->cells[k];
  if (rt_check_is_older(c, old, behind)) {
    p->cells[k] = me;
    return true;
  }
  if (rt_check_kind_of(old) == FULL)
    return false;
  if (!((old ^ me) & WHO) && rt_check_kind_of(old) == RT_ACCESS_READ) {
    p->cells[k] = me;
    return true;
  }
  if (!((old ^ me) & WHO))
    return rt_check_says_as_much(old, me);
  if (!c->joined || (old | me) & KIND_BITS)
    return false;
  rt_check_expand(c, &p->cells[k], 0, old, me); /* two that read */
  return true;
}

/* record: of the thread, without its lane. */
static inline uint8_t access_at(const RtHostLaunch *view, uintptr_t at, uint64_t record,
                                uint32_t lane, uint32_t bytes) {
  RtCheck *c = view->check;
  const Piece *p = rt_check_piece_for(c, at, bytes);
  uint64_t me = record | rt_check_lanes(lane);
  if (__builtin_expect(!p, 0))
    return (uint8_t)touch_all(view, at, bytes, me);
  size_t k = rt_check_cell_in(p, at);
  Line *l = rt_check_line_of(c, p, k);
  uint32_t place = rt_check_place_in_line(c, p, k), behind = rt_check_behind_at(c, at);
  if (rt_check_is_plain((uint32_t)record) &&
      (rt_check_is_open(c, l) || is_out_of_order(l, record, lane, place)
           ? rt_check_note_cell(c, p, k, me, behind)
           : note_single(c, l, record, lane, place, behind)))
    return 0;
  return (uint8_t)touch(c, at, cell_of(c, p, at), me);
}

uint8_t rt_check_access(const RtHostLaunch *view, const void *address, uint32_t thread,
                        uint32_t what, uint32_t bytes) {
  RtCheck *c = view->check;
  const Kept mine = {(uintptr_t)address, 0, thread, what, bytes, 1};
  bool kept = rt_check_is_shared(c, mine.at) &&
              (rt_check_keep_beside(c->block, mine) || rt_check_keep(c, mine));
  return kept ? 0 : rt_check_access_now(view, address, thread, what, bytes);
}

uint8_t rt_check_access_now(const RtHostLaunch *view, const void *address, uint32_t thread,
                            uint32_t what, uint32_t bytes) {
  RtCheck *c = view->check;
  c->lane = thread % WARP;
  thread -= c->begin;
  if (__builtin_expect(!rt_check_is_plain(what), 0))
    rt_check_order_by_atomic(c, thread, (uintptr_t)address, (what & KIND_BITS) == RT_ACCESS_ATOMIC);
  return access_at(view, (uintptr_t)address, rt_check_stamp(c, thread) | what, thread % WARP,
                   bytes);
}
