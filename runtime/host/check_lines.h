/* Check lines: cells in lines, and what their entries say (check_state.h), for the files that note
 * accesses. What vectors need is inline. Private to check. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_LINES_H
#define PYPTX_RUNTIME_HOST_CHECK_LINES_H

#include "runtime/host/check_entries.h"
#include "runtime/host/check_state.h"

/* The mask of an open line of which cells have been noted by themselves. */
enum { APART = 1 };

/* --- lines --- */

static inline size_t rt_check_ncells(uint32_t shift) { return (size_t)1 << (PIECE_BITS - shift); }
static inline uint32_t rt_check_line_cells(const RtCheck *c) { return 1u << c->line_bits; }

/* A line's mask of all its cells. */
static inline uint32_t rt_check_all_cells(const RtCheck *c) {
  return UINT32_MAX >> (WARP - rt_check_line_cells(c));
}

static inline uint32_t rt_check_low_bits(uint32_t n) {
  return n < WARP ? (1u << n) - 1 : UINT32_MAX;
}

/* The place in its line of a cell. */
static inline uint32_t rt_check_place_in_line(const RtCheck *c, const Piece *p, size_t cell) {
  return (uint32_t)(cell - p->phase) & (rt_check_line_cells(c) - 1);
}

static inline Line *rt_check_line_of(const RtCheck *c, const Piece *p, size_t cell) {
  return &p->lines[(cell + rt_check_line_cells(c) - p->phase) >> c->line_bits];
}

static inline bool rt_check_is_open(const RtCheck *c, const Line *line) {
  return line->form == OPEN && rt_check_segment_of(line->record) == c->base;
}

/* The record of one cell of an entry. */
static inline uint64_t rt_check_record_in(const Line *e, uint32_t cell) {
  uint32_t by = e->form == EACH   ? cell
                : e->form == BACK ? -cell
                : e->form > EVERY ? cell >> (e->form - EVERY)
                                  : 0;
  uint32_t lane = rt_check_lane_of(e->record) + by;
  return (e->record & ~rt_check_lanes(WARP - 1)) | rt_check_lanes(lane & (WARP - 1));
}

static inline Line rt_check_entry(uint64_t record, uint32_t lane, uint32_t mask, uint32_t form) {
  return (Line){.record = record | rt_check_lanes(lane & (WARP - 1)),
                .rest = mask | (uint64_t)form << FORM_AT};
}

/* As two words: one of 16 bytes would be read before they are written. */
static inline void rt_check_put(Line *l, Line e) {
  __atomic_store_n(&l->record, e.record, __ATOMIC_RELAXED);
  __atomic_store_n(&l->rest, e.rest, __ATOMIC_RELAXED);
}

/* Takes the entry in. false: the line is to be opened. */
static inline bool rt_check_note_entry(RtCheck *c, Line *l, Line me, uint32_t behind) {
  uint32_t segment = rt_check_segment_of(l->record);
  uint64_t rest = l->rest, differs = (l->record ^ me.record) & (WHO | KIND_BITS);
  if (segment < c->base || (segment < behind && !(rest >> MORE_AT) && rest >> FORM_AT != OPEN)) {
    rt_check_put(l, me);
    return true;
  }
  if (!((rest ^ me.rest) >> FORM_AT & FORMS) && !(differs & WHO)) {
    uint64_t more = me.rest & ~rest & UINT32_MAX;
    if (!differs || rt_check_kind_of(l->record) == RT_ACCESS_WRITE) {
      if (!more)
        return true;
      if (l->record == me.record && !(rest >> MORE_AT)) { /* of one site, too */
        l->rest = rest | more;
        return true;
      }
    } else if (!(rest >> MORE_AT) && !(rest & ~me.rest & UINT32_MAX)) {
      rt_check_put(l, me);
      return true;
    }
  }
  if ((rest >> FORM_AT & FORMS) != OPEN && rt_check_note_logged(c, l, me.record, me.rest, behind))
    return true;
  return rt_check_note_beside(c, l, me.record, me.rest, behind != c->base);
}

/* The piece of an element, if its cells are as large as that; NULL: find_piece knows more. */
static inline const Piece *rt_check_piece_for(const RtCheck *c, uintptr_t at, uint32_t bytes) {
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  return p && p->number == at >> PIECE_BITS && p->base == c->base && bytes == 1u << p->shift &&
                 !(at & (bytes - 1))
             ? p
             : NULL;
}

static inline size_t rt_check_cell_in(const Piece *p, uintptr_t at) {
  return (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
}

/* Is what this cell of an open line says ordered, whoever comes now? */
static inline bool rt_check_is_older(const RtCheck *c, uint64_t cell, uint32_t behind) {
  uint32_t segment = rt_check_segment_of(cell);
  return segment < c->base || (segment < behind && rt_check_kind_of(cell) != FULL);
}

static inline bool rt_check_is_plain(uint32_t what) {
  return (what & KIND_BITS) == RT_ACCESS_READ || (what & KIND_BITS) == RT_ACCESS_WRITE;
}

static inline uint32_t rt_check_behind_at(const RtCheck *c, uintptr_t at) {
  return rt_check_is_shared(c, at) ? c->block->begun : c->base;
}

/* One thread does both: does the first say what the second would? */
static inline bool rt_check_says_as_much(uint64_t first, uint64_t second) {
  return rt_check_is_alike(first, second) || rt_check_kind_of(first) == RT_ACCESS_WRITE;
}

#endif
