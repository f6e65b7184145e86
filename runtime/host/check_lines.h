/* Check lines: cells in lines, and what their entries say (check_state.h), for the files that note
 * accesses. What vectors need is inline. Private to check. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_LINES_H
#define PYPTX_RUNTIME_HOST_CHECK_LINES_H

#include "runtime/host/check_state.h"

/* The mask of an open line of which cells have been noted by themselves. */
enum { APART = 1 };

/* check_entries.c: the line gets one more entry. false: it is to be opened, or note_beside knows
 * more. */
bool rt_check_note_beside(RtCheck *c, Line *l, uint64_t record, uint64_t rest, bool shared);
bool rt_check_note_logged(RtCheck *c, Line *l, uint64_t record, uint64_t rest, uint32_t behind);
/* The cells of this one's line get what its entries say. */
void rt_check_open_line(RtCheck *c, const Piece *p, size_t cell);

/* check_cells.c: the piece of an access, fine enough for it. NULL: there is no memory. */
Piece *rt_check_find_piece(RtCheck *c, uintptr_t at, uint32_t bytes);
/* The cell of a line that is opened, if nobody else has touched it, or nobody who is not ordered;
 * false: touch knows more. What is in cells of a line that was not open is older than its entry. */
bool rt_check_note_cell(RtCheck *c, const Piece *p, size_t k, uint64_t me, uint32_t behind);

/* --- lines --- */

static inline size_t ncells(uint32_t shift) { return (size_t)1 << (PIECE_BITS - shift); }
static inline uint32_t line_cells(const RtCheck *c) { return 1u << c->line_bits; }

/* A line's mask of all its cells. */
static inline uint32_t all_cells(const RtCheck *c) { return UINT32_MAX >> (WARP - line_cells(c)); }

static inline uint32_t low_bits(uint32_t n) { return n < WARP ? (1u << n) - 1 : UINT32_MAX; }

/* The place in its line of a cell. */
static inline uint32_t place_in_line(const RtCheck *c, const Piece *p, size_t cell) {
  return (uint32_t)(cell - p->phase) & (line_cells(c) - 1);
}

static inline Line *line_of(const RtCheck *c, const Piece *p, size_t cell) {
  return &p->lines[(cell + line_cells(c) - p->phase) >> c->line_bits];
}

static inline bool is_open(const RtCheck *c, const Line *line) {
  return line->form == OPEN && rt_check_segment_of(line->record) == c->base;
}

/* The record of one cell of an entry. */
static inline uint64_t record_in(const Line *e, uint32_t cell) {
  uint32_t by = e->form == EACH   ? cell
                : e->form == BACK ? -cell
                : e->form > EVERY ? cell >> (e->form - EVERY)
                                  : 0;
  uint32_t lane = rt_check_lane_of(e->record) + by;
  return (e->record & ~rt_check_lanes(WARP - 1)) | rt_check_lanes(lane & (WARP - 1));
}

static inline Line entry(uint64_t record, uint32_t lane, uint32_t mask, uint32_t form) {
  return (Line){.record = record | rt_check_lanes(lane & (WARP - 1)),
                .rest = mask | (uint64_t)form << FORM_AT};
}

/* As two words: one of 16 bytes would be read before they are written. */
static inline void put(Line *l, Line e) {
  __atomic_store_n(&l->record, e.record, __ATOMIC_RELAXED);
  __atomic_store_n(&l->rest, e.rest, __ATOMIC_RELAXED);
}

/* Takes the entry in. false: the line is to be opened. */
static inline __attribute__((always_inline)) bool note(RtCheck *c, Line *l, Line me,
                                                       uint32_t behind) {
  uint32_t segment = rt_check_segment_of(l->record);
  uint64_t rest = l->rest, differs = (l->record ^ me.record) & (WHO | KIND_BITS);
  if (segment < c->base || (segment < behind && !(rest >> MORE_AT) && rest >> FORM_AT != OPEN)) {
    put(l, me);
    return true;
  }
  if (!((rest ^ me.rest) >> FORM_AT & FORMS) && !(differs & WHO)) {
    uint64_t more = me.rest & ~rest & UINT32_MAX;
    if (!differs || rt_check_kind_of(l->record) == RT_ACCESS_WRITE) {
      if (!more)
        return true;
      if (!differs && !(rest >> MORE_AT)) {
        l->rest = rest | more;
        return true;
      }
    } else if (!(rest >> MORE_AT) && !(rest & ~me.rest & UINT32_MAX)) {
      put(l, me);
      return true;
    }
  }
  if ((rest >> FORM_AT & FORMS) != OPEN && rt_check_note_logged(c, l, me.record, me.rest, behind))
    return true;
  return rt_check_note_beside(c, l, me.record, me.rest, behind != c->base);
}

/* The piece of an element, if its cells are as large as that; NULL: find_piece knows more. */
static inline const Piece *piece_for(const RtCheck *c, uintptr_t at, uint32_t bytes) {
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  return p && p->number == at >> PIECE_BITS && p->base == c->base && bytes == 1u << p->shift &&
                 !(at & (bytes - 1))
             ? p
             : NULL;
}

static inline size_t cell_in(const Piece *p, uintptr_t at) {
  return (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
}

/* Is what this cell of an open line says ordered, whoever comes now? */
static inline bool is_older(const RtCheck *c, uint64_t cell, uint32_t behind) {
  uint32_t segment = rt_check_segment_of(cell);
  return segment < c->base || (segment < behind && rt_check_kind_of(cell) != FULL);
}

static inline bool is_plain(uint32_t what) {
  return (what & KIND_BITS) == RT_ACCESS_READ || (what & KIND_BITS) == RT_ACCESS_WRITE;
}

static inline uint32_t behind_at(const RtCheck *c, uintptr_t at) {
  return rt_check_is_shared(c, at) ? c->block->begun : c->base;
}

/* One thread does both: does the first say what the second would? */
static inline bool says_as_much(uint64_t first, uint64_t second) {
  return rt_check_is_alike(first, second) || rt_check_kind_of(first) == RT_ACCESS_WRITE;
}

#endif
