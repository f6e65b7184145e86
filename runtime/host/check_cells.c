/* Check cells: who touched which memory last.
 *
 * In: an access and its thread, whose segment, tick and lane make a record (check_state.h). Out: 0,
 * or a race with an earlier access that is not ordered before it.
 *
 * Memory is in pieces, with cells as fine as the finest access so far. Sixteen cells are a line. A
 * line has entries: a record, the cells that it is of, and how the lanes follow from the cell (each
 * cell the next lane, or one lane for all), so that what a vector of threads does is one entry, and
 * so is what a thread does that goes along a row. The first entry is in the line, others are in a
 * log (stencils, whose elements several threads read). A line is opened when entries do not tell
 * what happened: atomic operations, accesses that may be a race, more entries than a log has. Then
 * each cell has a record, or the index of a Full. What is of an earlier launch means nothing. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/check_state.h"
#include "runtime/host/check_touch.h"
#include "runtime/host/host.h"

#ifdef __clang__
#define VECTORS
#else
#define VECTORS __attribute__((optimize("O3")))
#endif

static size_t ncells(uint32_t shift) { return (size_t)1 << (PIECE_BITS - shift); }
static size_t nlines(uint32_t shift, uint32_t line_bits) {
  return (ncells(shift) >> line_bits) + 1;
}

/* The lines are behind the cells. */
static size_t cells_bytes(uint32_t shift, uint32_t line_bits) {
  return ncells(shift) * sizeof(uint64_t) + nlines(shift, line_bits) * sizeof(Line);
}

static inline uint32_t line_cells(const RtCheck *c) { return 1u << c->line_bits; }
/* A line's mask of all its cells. */
static inline uint32_t all_cells(const RtCheck *c) { return UINT32_MAX >> (WARP - line_cells(c)); }

static inline uint32_t low_bits(uint32_t n) { return n < WARP ? (1u << n) - 1 : UINT32_MAX; }

/* The place in its line of a cell. */
static inline uint32_t place_in_line(const RtCheck *c, const Piece *p, size_t cell) {
  return (uint32_t)(cell - p->phase) & (line_cells(c) - 1);
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

void rt_check_free_logs(RtCheck *c) {
  if (c->logs)
    munmap(c->logs, c->most_logs * sizeof(Log));
  c->logs = NULL, c->most_logs = 0;
}

/* --- cells --- */

/* One thread does both: does the first say what the second would? */
static bool says_as_much(uint64_t first, uint64_t second) {
  return rt_check_is_alike(first, second) || rt_check_kind_of(first) == RT_ACCESS_WRITE;
}

/* The first test is for the usual case: memory that nobody else has touched in this launch, or
 * nobody at all. */
static inline uint32_t touch(RtCheck *c, uintptr_t at, uint64_t *cell, uint64_t me) {
  uint64_t old = *cell;
  if (rt_check_is_stale(c, old)) {
    *cell = me;
    return 0;
  }
  if (!((old ^ me) & WHO) && rt_check_kind_of(old) != FULL && says_as_much(old, me))
    return 0;
  return rt_check_touch_slowly(c, at, cell, me);
}

/* --- lines --- */

static Line *line_of(const RtCheck *c, const Piece *p, size_t cell) {
  return &p->lines[(cell + line_cells(c) - p->phase) >> c->line_bits];
}

static bool is_open(const RtCheck *c, const Line *line) {
  return line->form == OPEN && rt_check_segment_of(line->record) == c->base;
}

/* The record of one cell of an entry. */
static inline uint64_t record_in(const Line *e, uint32_t cell) {
  uint32_t lane = rt_check_lane_of(e->record) + (e->form == EACH   ? cell
                                                 : e->form == BACK ? -cell
                                                                   : 0);
  return (e->record & ~rt_check_lanes(WARP - 1)) | rt_check_lanes(lane & (WARP - 1));
}

/* The entries of a line: its own is the first one. */
static inline uint32_t entries_of(const RtCheck *c, const Line *l) {
  return 1 + (l->more ? c->logs[l->more - 1].n : 0);
}

static inline Line *entry_of(const RtCheck *c, Line *l, uint32_t k) {
  return k ? &c->logs[l->more - 1].entries[k - 1] : l;
}

/* What the entries say of one cell. */
static void open_cell(RtCheck *c, Line *l, uint32_t k, uint64_t *cell) {
  uint64_t write = 0, read[2] = {0};
  for (uint32_t j = 0, n = entries_of(c, l); j < n; j++) {
    const Line *e = entry_of(c, l, j);
    if (!(e->mask >> k & 1))
      continue;
    uint64_t record = record_in(e, k);
    if (rt_check_kind_of(record) == RT_ACCESS_WRITE)
      write = record;
    else if (!read[0])
      read[0] = record;
    else if (!read[1] || rt_check_are_of_one_warp(c, read[0], read[1]))
      read[1] = record;
  }
  bool one = !read[1] && !(write && read[0]);
  *cell = one ? write | read[0] : 0;
  if (!one)
    rt_check_expand(c, cell, write, read[0], read[1]);
}

/* The cells of this one's line get what its entries say. */
static __attribute__((noinline)) void open_line(RtCheck *c, const Piece *p, size_t cell) {
  Line *line = line_of(c, p, cell);
  bool stale = rt_check_is_stale(c, line->record);
  size_t length = line_cells(c), begin = ((cell + length - p->phase) & ~(length - 1)),
         n = ncells(p->shift);
  for (uint32_t k = 0; k < length; k++) {
    size_t at = begin + k + p->phase - length; /* of the first line some, of the last one too */
    if (at >= n)
      continue;
    if (stale || (!line->more && !(line->mask >> k & 1)))
      p->cells[at] = 0;
    else if (!line->more)
      p->cells[at] = record_in(line, k);
    else
      open_cell(c, line, k, &p->cells[at]);
  }
  if (!stale && line->more)
    c->logs[line->more - 1].n = c->free_log, c->free_log = line->more;
  *line = (Line){.record = (uint64_t)c->base << SEGMENT_AT, .form = OPEN};
}

static void open_lines(RtCheck *c, const Piece *p, size_t cell, size_t n) {
  for (size_t k = cell; k < cell + n; k++)
    if (!is_open(c, line_of(c, p, k)))
      open_line(c, p, k);
}

static inline uint64_t *cell_of(RtCheck *c, const Piece *p, uintptr_t at) {
  size_t k = (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
  if (!is_open(c, line_of(c, p, k)))
    open_line(c, p, k);
  return &p->cells[k];
}

/* --- entries --- */

/* Each in two lines of the processor's cache, the usual part in one. */
static bool grow_logs(RtCheck *c) {
  enum { FEW = 1024 };
  size_t n = c->most_logs ? 2 * c->most_logs : FEW;
  Log *logs = rt_check_map(n * sizeof(Log));
  if (!logs)
    return false;
  memcpy(logs, c->logs ? c->logs : logs, c->most_logs * sizeof(Log));
  rt_check_free_logs(c);
  c->logs = logs, c->most_logs = n;
  return true;
}

static bool new_log(RtCheck *c, Line *l) {
  if (c->free_log) {
    l->more = c->free_log;
    c->free_log = c->logs[l->more - 1].n;
  } else {
    if (c->nlogs == c->most_logs) {
      bool room = c->nlogs < MOST_LOGS && grow_logs(c);
      if (!room)
        return false;
    }
    l->more = (uint32_t)++c->nlogs;
  }
  Log *log = &c->logs[l->more - 1];
  log->n = 0;
  log->written = false;
  log->once = l->form == EACH ? l->mask : 0, log->twice = 0;
  return true;
}

/* Entries of no cell are gone. */
static void sweep(RtCheck *c, Line *l) {
  Log *log = l->more ? &c->logs[l->more - 1] : NULL;
  uint32_t n = 0;
  for (uint32_t k = 0; log && k < log->n; k++)
    if (log->entries[k].mask)
      log->entries[n++] = log->entries[k];
  if (log)
    log->n = n;
  if (!l->mask && n) {
    const Line *last = &log->entries[--log->n];
    l->record = last->record, l->mask = last->mask, l->form = last->form;
  }
}

static bool add_entry(RtCheck *c, Line *l, const Line *e) {
  if (!l->mask) {
    l->record = e->record, l->mask = e->mask, l->form = e->form;
    return true;
  }
  if (!l->more && !new_log(c, l))
    return false;
  Log *log = &c->logs[l->more - 1];
  if (log->n == LOG)
    return false;
  log->entries[log->n++] = *e;
  log->written |= rt_check_kind_of(e->record) == RT_ACCESS_WRITE;
  return true;
}

static inline bool is_same(const Line *e, const Line *me) {
  return !((e->record ^ me->record) & WHO) && e->form == me->form;
}

/* Have both one cell in common, which one thread touches? */
static bool is_own(const Line *e, const Line *me, uint32_t both) {
  uint32_t k = (uint32_t)__builtin_ctz(both);
  return !(both & (both - 1)) && !((record_in(e, k) ^ record_in(me, k)) & WHO);
}

/* A read beside others: the usual case of note_beside, where nobody writes. *none: nobody does.
 * Two threads that read a cell stand for all others: of this warp, or of this one and another. */
static bool note_read(RtCheck *c, Line *l, const Line *me, bool *none) {
  const RtCheckBlock *b = c->block;
  Log *log = l->more ? &c->logs[l->more - 1] : NULL;
  uint32_t n = log ? log->n : 0, mask = me->mask, segment = 0, once[FORMS + 1] = {0}, twice = 0,
           there = 0, elsewhere = 0,
           others = !c->nreleases && !c->grid ? b->first : 0; /* segments that nothing orders */
  Line *e = l, *mine = NULL;
  for (uint32_t k = 0;; e = &log->entries[k++]) {
    uint64_t differs = (e->record ^ me->record) & (WHO | KIND_BITS);
    uint32_t at = rt_check_segment_of(e->record);
    if (!(differs & WHO) && e->form == me->form) {
      if (!(mask & ~(uint32_t)e->mask))
        return true;
      mine = differs ? mine : e;
    }
    if (rt_check_kind_of(e->record) == RT_ACCESS_WRITE) {
      *none = false;
      return false;
    }
    if (!(differs >> TICK_AT)) /* those of another form may be the same threads */
      twice |= once[e->form] & e->mask, once[e->form] |= e->mask;
    if (at >= b->begun || at < others) {
      segment = segment ? segment : at;
      if (segment == at)
        there |= e->mask;
      else
        elsewhere |= e->mask;
    }
    if (k == n)
      break;
  }
  if (!(mask & ~(twice | (there & elsewhere))))
    return true;
  if (mine) {
    mine->mask |= me->mask;
    return true;
  }
  return n < LOG && add_entry(c, l, me);
}

/* Takes the entry in, beside others. false: the line is to be opened. */
static __attribute__((noinline)) bool note_beside(RtCheck *c, Line *l, uint64_t record,
                                                  uint64_t rest, bool shared) {
  const Line entry = {.record = record, .rest = rest}, *me = &entry;
  if (l->form == OPEN)
    return false;
  bool writes = rt_check_kind_of(me->record) == RT_ACCESS_WRITE, none = !writes;
  if (none && note_read(c, l, me, &none))
    return true;
  uint32_t n = entries_of(c, l), behind = shared ? c->block->begun : c->base;
  Line *mine = NULL;
  for (uint32_t k = 0; k < n; k++) {
    Line *e = entry_of(c, l, k);
    bool same = is_same(e, me), e_writes = rt_check_kind_of(e->record) == RT_ACCESS_WRITE;
    if (same && (e_writes || !writes) && !(me->mask & ~e->mask))
      return true;
    if (same && e_writes == writes)
      mine = e;
  }
  uint32_t once[FORMS + 1] = {0}, once_here[FORMS + 1] = {0}, twice = 0, twice_here = 0, gone = 0;
  for (uint32_t k = 0; k < n; k++) {
    Line *e = entry_of(c, l, k);
    uint32_t both = e->mask & me->mask;
    bool e_writes = rt_check_kind_of(e->record) == RT_ACCESS_WRITE, drop = writes;
    if (!both || e == mine)
      continue;
    if (!is_same(e, me) && !is_own(e, me, both)) {
      bool older = rt_check_segment_of(e->record) < behind,
           before = older || rt_check_is_row_before(c, e->record, me->record, shared);
      if (!before && (writes || e_writes))
        return false;
      drop |= older || (before && !e_writes);
      if (!before) {
        twice |= once[e->form] & both, once[e->form] |= both;
        if (rt_check_segment_of(e->record) == rt_check_segment_of(me->record))
          twice_here |= once_here[e->form] & both, once_here[e->form] |= both;
      }
    }
    if (drop) {
      e->mask &= ~both;
      gone += !e->mask;
    }
  }
  if (mine) {
    mine->mask |= me->mask;
    if (gone)
      sweep(c, l);
    return true;
  }
  if (gone)
    sweep(c, l);
  /* two threads that read stand for all others */
  if (!writes && !(me->mask & ~twice_here))
    return true;
  return add_entry(c, l, me) || (!writes && !(me->mask & ~twice));
}

/* A read of a line that nobody has written, as stencils do it, and what touches cells that no other
 * entry has, where blocks or warps have neighbours within a line. false: note_beside knows more. */
static __attribute__((noinline)) bool note_logged(RtCheck *c, Line *l, uint64_t record,
                                                  uint64_t rest, uint32_t behind) {
  enum { FEW = 3 };
  uint32_t more = l->more, mask = (uint32_t)rest, taken = 0, fresh = 0;
  Log *log = more ? &c->logs[more - 1] : NULL;
  uint32_t n = log ? log->n : 0;
  bool writes = rt_check_kind_of(record) == RT_ACCESS_WRITE,
       reads = !writes && rt_check_kind_of(l->record) == RT_ACCESS_READ && !(log && log->written);
  Line *mine = NULL;
  for (uint32_t k = 0; k <= n; k++) {
    Line *e = k ? &log->entries[k - 1] : l;
    if (!((e->record ^ record) & (WHO | KIND_BITS)) && !((e->rest ^ rest) >> FORM_AT & FORMS))
      mine = e;
    else
      taken |= e->mask;
    fresh |= rt_check_segment_of(e->record) >= behind;
  }
  if (!fresh) { /* all of it is ordered */
    if (more)
      log->n = c->free_log, c->free_log = more;
    l->record = record, l->rest = rest;
    return true;
  }
  if (!reads && taken & mask)
    return false;
  uint32_t now = rest >> FORM_AT == EACH ? mask & ~(mine ? mine->mask : 0) : 0;
  if (mine)
    mine->mask |= mask;
  else if (n >= (reads && taken & mask && !c->joined ? FEW : LOG) || (!more && !new_log(c, l)))
    return false;
  if (!mine) {
    log = &c->logs[l->more - 1];
    log->entries[n].record = record, log->entries[n].rest = rest;
    log->n = n + 1;
    log->written |= writes;
  }
  if (log)
    log->twice |= log->once & now, log->once |= now;
  return true;
}

/* As two words: one of 16 bytes would be read before they are written. */
static inline void put(Line *l, Line e) {
  __atomic_store_n(&l->record, e.record, __ATOMIC_RELAXED);
  __atomic_store_n(&l->rest, e.rest, __ATOMIC_RELAXED);
}

/* Is it a read of cells that two threads read already, who stand for all others? */
static inline bool is_read_enough(const RtCheck *c, const Line *l, const Line *me) {
  if (!c->joined || !l->more || (l->record | me->record) & KIND_BITS)
    return false;
  const Log *log = &c->logs[l->more - 1];
  return !log->written && !(me->mask & ~log->twice) && rt_check_segment_of(l->record) >= c->base;
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
  if ((rest >> FORM_AT & FORMS) != OPEN && note_logged(c, l, me.record, me.rest, behind))
    return true;
  return note_beside(c, l, me.record, me.rest, behind != c->base);
}

static inline Line entry(uint64_t record, uint32_t lane, uint32_t mask, uint32_t form) {
  return (Line){.record = record | rt_check_lanes(lane & (WARP - 1)),
                .rest = mask | (uint64_t)form << FORM_AT};
}

/* Is this one thread at one cell the next one of an entry? An entry of one cell may still become
 * one of neighbouring threads. */
static inline bool fits(Line *e, Line *me, uint32_t cell) {
  uint64_t differs = (e->record ^ me->record) & WHO;
  if (differs & ~rt_check_lanes(WARP - 1) || e->form == BACK)
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
  Line e = *l, me = entry(record, lane, 1u << cell, ONE);
  return !fits(&e, &me, cell);
}

static inline bool note_single(RtCheck *c, Line *l, uint64_t record, uint32_t lane, uint32_t cell,
                               uint32_t behind) {
  Line me = entry(record, lane, 1u << cell, ONE);
  if (rt_check_segment_of(l->record) >= c->base && l->form != OPEN && !fits(l, &me, cell) &&
      l->more && c->logs[l->more - 1].n) {
    Log *log = &c->logs[l->more - 1];
    fits(&log->entries[log->n - 1], &me, cell);
  }
  return note(c, l, me, behind);
}

/* --- pieces --- */

/* Nothing in its memory is of this launch: all of it is stale, whatever it was before. */
static void lay_out(RtCheck *c, Piece *p, uintptr_t at, uint32_t shift) {
  c->generation++;
  p->base = c->base;
  p->shift = shift;
  p->phase = (uint32_t)((c->row ? c->row : at) >> shift) & (line_cells(c) - 1);
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
  p->lines = (Line *)(cells + ncells(shift)); /* nothing else is ever in their place */
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

/* The piece of an access, fine enough for it. */
static __attribute__((noinline)) Piece *find_piece(RtCheck *c, uintptr_t at, uint32_t bytes) {
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
    const Piece *p = find_piece(view->check, at, (uint32_t)(end - at));
    if (!p)
      rt_host_stop_short(view);
    uint32_t one = touch(view->check, at, cell_of(view->check, p, at), me);
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

static inline size_t cell_in(const Piece *p, uintptr_t at) {
  return (at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift;
}

/* The mask of an open line of which cells have been noted by themselves. */
enum { APART = 1 };

/* Is what this cell of an open line says ordered, whoever comes now? */
static inline bool is_older(const RtCheck *c, uint64_t cell, uint32_t behind) {
  uint32_t segment = rt_check_segment_of(cell);
  return segment < c->base || (segment < behind && rt_check_kind_of(cell) != FULL);
}

/* The cell of a line that is opened, if nobody else has touched it, or nobody who is not ordered;
 * false: touch knows more. What is in cells of a line that was not open is older than its entry. */
static inline bool note_cell(RtCheck *c, const Piece *p, size_t k, uint64_t me, uint32_t behind) {
  Line *l = line_of(c, p, k);
  uint32_t segment = rt_check_segment_of(l->record);
  if (segment < c->base || (segment < behind && !l->more && l->form != OPEN))
    *l = (Line){.record = (uint64_t)c->base << SEGMENT_AT, .form = OPEN};
  else if (l->form != OPEN)
    open_line(c, p, k);
  l->mask = APART;
  uint64_t old = p->cells[k];
  if (is_older(c, old, behind)) {
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
    return says_as_much(old, me);
  if (!c->joined || (old | me) & KIND_BITS)
    return false;
  rt_check_expand(c, &p->cells[k], 0, old, me); /* two that read */
  return true;
}

static inline bool is_plain(uint32_t what) {
  return (what & KIND_BITS) == RT_ACCESS_READ || (what & KIND_BITS) == RT_ACCESS_WRITE;
}

static inline uint32_t behind_at(const RtCheck *c, uintptr_t at) {
  return rt_check_is_shared(c, at) ? c->block->begun : c->base;
}

/* record: of the thread, without its lane. */
static inline uint8_t access_at(const RtHostLaunch *view, uintptr_t at, uint64_t record,
                                uint32_t lane, uint32_t bytes) {
  RtCheck *c = view->check;
  const Piece *p = piece_for(c, at, bytes);
  uint64_t me = record | rt_check_lanes(lane);
  if (__builtin_expect(!p, 0))
    return (uint8_t)touch_all(view, at, bytes, me);
  size_t k = cell_in(p, at);
  Line *l = line_of(c, p, k);
  uint32_t place = place_in_line(c, p, k), behind = behind_at(c, at);
  if (is_plain((uint32_t)record) && (is_open(c, l) || is_out_of_order(l, record, lane, place)
                                         ? note_cell(c, p, k, me, behind)
                                         : note_single(c, l, record, lane, place, behind)))
    return 0;
  return (uint8_t)touch(c, at, cell_of(c, p, at), me);
}

uint8_t rt_check_access(const RtHostLaunch *view, const void *address, uint32_t thread,
                        uint32_t what, uint32_t bytes) {
  RtCheck *c = view->check;
  c->lane = thread % WARP;
  thread -= c->begin;
  if (__builtin_expect(!is_plain(what), 0))
    rt_check_order_by_atomic(c, thread, (uintptr_t)address, (what & KIND_BITS) == RT_ACCESS_ATOMIC);
  return access_at(view, (uintptr_t)address, rt_check_stamp(c, thread) | what, thread % WARP,
                   bytes);
}

/* --- rows: lanes of a vector --- */

/* Has each of them a record of the lane's own, of a plain access, and one only? */
VECTORS static bool are_own(const uint64_t *cells, uint32_t n, uint64_t record) {
  uint64_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= ((cells[k] ^ (record + rt_check_lanes(k))) & WHO) |
              (cells[k] & (KIND_BITS - RT_ACCESS_WRITE));
  return !differ;
}

/* Are all of them of segments before this one, and no index? */
VECTORS static bool are_before(const uint64_t *cells, uint32_t n, uint32_t segment) {
  uint32_t fresh = 0;
  uint64_t full = 0;
  for (uint32_t k = 0; k < n; k++) {
    fresh |= (uint32_t)((uint32_t)(cells[k] >> SEGMENT_AT) >= segment);
    full |= cells[k] & cells[k] >> 1;
  }
  return !fresh && !(full & 1);
}

VECTORS static void note_lanes(uint64_t *cells, uint32_t n, uint64_t record) {
  for (uint32_t k = 0; k < n; k++)
    cells[k] = record + rt_check_lanes(k);
}

/* Is all that is known of a line older? */
static bool is_all_before(const RtCheck *c, const Piece *p, size_t first, uint32_t behind) {
  return first + line_cells(c) <= ncells(p->shift) &&
         are_before(&p->cells[first], line_cells(c), behind);
}

/* Neighbouring cells of an open line, which nobody else has touched, or nobody that is not
 * ordered. me: of the first one. */
static bool note_cells(const RtCheck *c, const Piece *p, size_t k, uint32_t n, uint64_t me,
                       uint32_t behind) {
  uint64_t *cells = &p->cells[k];
  bool writes = rt_check_kind_of(me) == RT_ACCESS_WRITE;
  if (are_before(cells, n, behind)) {
    uint32_t first = place_in_line(c, p, k), length = line_cells(c);
    if (n * 2 >= length && (n == length || (line_of(c, p, k)->mask != APART &&
                                            is_all_before(c, p, k - first, behind))))
      *line_of(c, p, k) = entry(me & ~rt_check_lanes(WARP - 1), rt_check_lane_of(me) - first,
                                low_bits(n) << first, EACH);
    else
      note_lanes(cells, n, me);
    return true;
  }
  if (!are_own(cells, n, me))
    return false;
  if (writes)
    note_lanes(cells, n, me);
  return true;
}

/* The lanes of `mask`, whose cells are in one line. */
static bool note_slowly(RtCheck *c, const Piece *p, size_t k, uint32_t mask, uint64_t record,
                        uint32_t lane, uint32_t behind) {
  uint32_t first = (uint32_t)__builtin_ctz(mask), rest = mask >> first;
  k += first, lane += first;
  if (!is_open(c, line_of(c, p, k)))
    open_line(c, p, k);
  return !(rest & (rest + 1)) && note_cells(c, p, k, (uint32_t)__builtin_popcount(rest),
                                            record | rt_check_lanes(lane), behind);
}

/* The lanes of `mask` at neighbouring elements. Returns those that are to be noted one by one. */
static inline uint32_t note_row(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record,
                                uint32_t lane, uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  if (!p)
    return mask;
  size_t k = cell_in(p, at);
  if (__builtin_expect(k + WARP > ncells(p->shift), 0) &&
      k + WARP - (uint32_t)__builtin_clz(mask) > ncells(p->shift))
    return mask;
  uint32_t cell = place_in_line(c, p, k), left = 0, behind = behind_at(c, at),
           length = line_cells(c), all = all_cells(c);
  Line *l = line_of(c, p, k);
  uint64_t wide = (uint64_t)mask << cell;
  for (uint32_t step = 0; wide; step += length, wide >>= length, l++) {
    Line me = entry(record, lane + step - cell, (uint32_t)wide & all, EACH);
    if (!me.mask || (!is_open(c, l) && note(c, l, me, behind)))
      continue;
    uint32_t here = (uint32_t)((uint64_t)me.mask << step >> cell);
    if (!note_slowly(c, p, k, here, record, lane, behind))
      left |= here;
  }
  return left;
}

/* All lanes read one element: two of them stand for all. */
static bool note_one(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record, uint32_t lane,
                     uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  if (!p)
    return false;
  size_t k = cell_in(p, at);
  uint32_t cell = place_in_line(c, p, k), behind = behind_at(c, at);
  Line *l = line_of(c, p, k);
  Line first = entry(record, lane + (uint32_t)__builtin_ctz(mask), 1u << cell, ONE),
       last = entry(record, lane + WARP - 1 - (uint32_t)__builtin_clz(mask), 1u << cell, ONE);
  return note(c, l, first, behind) && note(c, l, last, behind);
}

/* Where the same threads will be the next time, if they go on as they did: a loop by the grid's
 * stride comes to other pages each time, which the processor does not foresee. */
static __attribute__((noinline)) void look_ahead(const RtCheck *c, RtNext *r, uintptr_t at,
                                                 uint32_t number) {
  int64_t least = c->block->nearest;
  if (!number) {
    r->step = (int64_t)(at - r->row);
    r->row = at;
    bool goes_on = c->joined && r->step == (int64_t)((uint64_t)c->row_threads << r->shift);
    r->is_far = (r->step >= least || r->step <= -least) && !goes_on;
  }
  if (!r->is_far)
    return;
  uintptr_t next = at + (uintptr_t)r->step, in_piece = next - r->begin;
  __builtin_prefetch((const void *)next);
  if (in_piece < r->size)
    __builtin_prefetch(&r->lines[((in_piece >> r->shift) + r->first) >> c->line_bits], 1);
}

static const uint8_t nothing[WARP];

static const uint8_t *note_each(const RtHostLaunch *view, uintptr_t at, uint32_t thread,
                                uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  uint32_t any = 0;
  memset(c->found, 0, sizeof c->found);
  c->row = step == bytes ? at : 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(rest);
    const char *p = (const char *)at + (int64_t)k * step;
    any |= c->found[k] = rt_check_access(view, p, thread + k, what, bytes);
  }
  c->row = 0;
  return any ? c->found : nothing;
}

/* The next time the site will know its piece. */
static void find_lines(const RtCheck *c, RtNext *s, uintptr_t at, uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  if (!p)
    return;
  s->generation = c->generation;
  s->begin = p->number << PIECE_BITS;
  s->size = ((uintptr_t)1 << PIECE_BITS) - WARP * bytes;
  s->lines = p->lines, s->shift = p->shift, s->first = line_cells(c) - p->phase;
}

/* Lanes of one warp at some step: each has its own cell, of lines that are opened. Returns those
 * that are to be noted one by one. */
static uint32_t note_cells_apart(RtCheck *c, uintptr_t at, uint32_t number, uint32_t what,
                                 uint32_t bytes, int64_t step, uint32_t mask) {
  uint32_t first = (uint32_t)__builtin_ctz(mask), last = WARP - 1 - (uint32_t)__builtin_clz(mask);
  uintptr_t begin = at + (uintptr_t)(first * step), end = at + (uintptr_t)(last * step);
  const Piece *p = piece_for(c, begin, bytes);
  if (!p || step & (bytes - 1) || (begin ^ end) >> PIECE_BITS)
    return mask;
  uint64_t *cells = p->cells, open = (uint64_t)c->base << SEGMENT_AT,
           me = rt_check_stamp(c, number) | what | rt_check_lanes(number % WARP + first);
  int64_t n = (int64_t)cell_in(p, begin), by = step / (int64_t)bytes;
  uint32_t left = 0, behind = behind_at(c, at), bits = c->line_bits,
           before = (1u << bits) - p->phase;
  for (uint32_t k = first; k <= last; k++, n += by, me += rt_check_lanes(1)) {
    const Line *l = &p->lines[(n + before) >> bits];
    if (!(mask >> k & 1))
      continue;
    if (l->record == open && l->form == OPEN && is_older(c, cells[n], behind))
      cells[n] = me; /* the usual case */
    else if (!note_cell(c, p, (size_t)n, me, behind))
      left |= 1u << k;
  }
  return left;
}

/* The same where each lane's element is the one before: the last lane's comes first. */
static uint32_t note_row_back(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record,
                              uint32_t lane, uint32_t bytes) {
  const Piece *p = piece_for(c, at, bytes);
  size_t k = cell_in(p ? p : &(Piece){0}, at);
  if (!p || k + WARP > ncells(p->shift))
    return mask;
  uint32_t cell = place_in_line(c, p, k), left = 0, behind = behind_at(c, at),
           length = line_cells(c), all = all_cells(c);
  Line *l = line_of(c, p, k);
  uint64_t wide = (uint64_t)mask << cell;
  for (uint32_t step = 0; wide; step += length, wide >>= length, l++) {
    Line me = entry(record, lane + cell - step, (uint32_t)wide & all, BACK);
    if (me.mask && !note(c, l, me, behind))
      left |= (uint32_t)((uint64_t)me.mask << step >> cell);
  }
  return left;
}

static uint32_t reversed(uint32_t mask) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < WARP; k++)
    r |= (mask >> k & 1) << (WARP - 1 - k);
  return r;
}

/* The lanes of `mask` are of one warp; number: of the first one. Returns those
 * that are to be noted one by one. */
static uint32_t note_part(RtCheck *c, uintptr_t at, uint32_t number, uint32_t what, uint32_t bytes,
                          int64_t step, uint32_t mask) {
  uint64_t record = rt_check_stamp(c, number) | what;
  if (!mask)
    return 0;
  if (step == bytes) {
    c->row = at;
    bool is_new = !piece_for(c, at, bytes) && !(at & (bytes - 1));
    if (is_new && !find_piece(c, at, bytes))
      c->no_memory = true;
    c->row = 0;
    return note_row(c, at, mask, record, number % WARP, bytes);
  }
  bool one = !step && (what & KIND_BITS) == RT_ACCESS_READ &&
             note_one(c, at, mask, record, number % WARP, bytes);
  if (one || !step)
    return one ? 0 : mask;
  if (step == -(int64_t)bytes) {
    uint32_t last = WARP - 1 - (uint32_t)__builtin_clz(mask), by = WARP - 1 - last;
    uint32_t left = note_row_back(c, at - last * (uintptr_t)bytes, reversed(mask) >> by, record,
                                  (number + last) % WARP, bytes);
    mask = reversed(left) >> by;
  }
  return mask ? note_cells_apart(c, at, number, what, bytes, step, mask) : 0;
}

static __attribute__((noinline)) const uint8_t *row_slowly(const RtHostLaunch *view, uintptr_t at,
                                                           uint32_t thread, uint32_t what,
                                                           uint32_t bytes, int64_t step,
                                                           uint32_t mask) {
  RtCheck *c = view->check;
  uint32_t number = thread - c->begin, lane = number % WARP;
  if (!mask)
    return nothing;
  if (!is_plain(what))
    return note_each(view, at, thread, what, bytes, step, mask);
  if (step == bytes)
    find_lines(c, &c->next[what >> RT_ACCESS_SITE], at, bytes);
  uint32_t here = mask & UINT32_MAX >> lane, there = mask & ~here,
           left = note_part(c, at, number, what, bytes, step, here);
  if (there) /* of the next warp */
    left |= note_part(c, at + (WARP - lane) * (uintptr_t)step, number + WARP - lane, what, bytes,
                      step, there >> (WARP - lane))
            << (WARP - lane);
  return left ? note_each(view, at, thread, what, bytes, step, left) : nothing;
}

/* Lanes of one warp at neighbouring elements, from this cell of l on. */
static __attribute__((noinline)) const uint8_t *row_in_lines(const RtHostLaunch *view, uintptr_t at,
                                                             uint32_t thread, uint32_t what,
                                                             uint32_t bytes, uint32_t mask, Line *l,
                                                             uint32_t cell) {
  RtCheck *c = view->check;
  uint32_t behind = behind_at(c, at), length = line_cells(c), all = all_cells(c),
           number = thread - c->begin;
  uint64_t record = rt_check_stamp(c, number) | what, wide = (uint64_t)mask << cell;
  for (uint32_t first = number % WARP - cell; wide; wide >>= length, first += length, l++) {
    Line me = entry(record, first, (uint32_t)wide & all, EACH);
    if (is_read_enough(c, l, &me))
      continue;
    if (me.mask && !note(c, l, me, behind))
      return row_slowly(view, at, thread, what, bytes, bytes, mask);
  }
  return nothing;
}

/* Here: the usual case, a line or two that nobody has touched in this launch. */
const uint8_t *rt_check_row(const RtHostLaunch *view, const void *address, uint32_t thread,
                            uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  RtNext *s = &c->next[what >> RT_ACCESS_SITE];
  uintptr_t at = (uintptr_t)address, in_piece = at - s->begin;
  uint32_t number = thread - c->begin, lane = number % WARP;
  if (s->generation != c->generation || in_piece >= s->size || step != bytes ||
      (at & (bytes - 1)) || (uint64_t)mask << lane >> WARP)
    return row_slowly(view, at, thread, what, bytes, step, mask);
  if (!number || s->is_far)
    look_ahead(c, s, at, number);
  uint32_t bits = c->line_bits, length = line_cells(c),
           k = (uint32_t)(in_piece >> s->shift) + s->first, cell = k & (length - 1);
  Line *l = &s->lines[k >> bits];
  uint64_t wide = (uint64_t)mask << cell;
  uint32_t now = (uint32_t)wide & all_cells(c);
  uint64_t more = wide >> length;
  if (!rt_check_is_stale(c, l->record) || more >> length ||
      (more && !rt_check_is_stale(c, l[1].record)))
    return row_in_lines(view, at, thread, what, bytes, mask, l, cell);
  uint64_t record = rt_check_stamp(c, number) | what;
  if (now)
    put(l, entry(record, lane - cell, now, EACH));
  if (more)
    put(l + 1, entry(record, lane + length - cell, (uint32_t)more, EACH));
  return nothing;
}
