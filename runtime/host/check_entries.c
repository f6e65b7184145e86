/* Check entries: what a line of cells is known by, while entries tell what happened.
 *
 * In: a line and an entry, of neighbouring threads or of one. Out: the line with it, or the
 * refusal: then the line is opened, and its cells have records of their own. The first entry is in
 * the line, others are in a log (stencils, whose elements several threads read). An entry is of one
 * site; those of the same threads and form have no cell in common, so that each thread counts as
 * one. */
#include "runtime/host/check_entries.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/host/check_lines.h"
#include "runtime/host/check_touch.h"

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
    uint64_t record = rt_check_record_in(e, k);
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

void rt_check_open_line(RtCheck *c, const Piece *p, size_t cell) {
  Line *line = rt_check_line_of(c, p, cell);
  bool stale = rt_check_is_stale(c, line->record);
  size_t length = rt_check_line_cells(c), begin = ((cell + length - p->phase) & ~(length - 1)),
         n = rt_check_ncells(p->shift);
  for (uint32_t k = 0; k < length; k++) {
    size_t at = begin + k + p->phase - length; /* of the first line some, of the last one too */
    if (at >= n)
      continue;
    if (stale || (!line->more && !(line->mask >> k & 1)))
      p->cells[at] = 0;
    else if (!line->more)
      p->cells[at] = rt_check_record_in(line, k);
    else
      open_cell(c, line, k, &p->cells[at]);
  }
  if (!stale && line->more)
    c->logs[line->more - 1].n = c->free_log, c->free_log = line->more;
  *line = (Line){.record = (uint64_t)c->base << SEGMENT_AT, .form = OPEN};
}

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

void rt_check_free_logs(RtCheck *c) {
  if (c->logs)
    munmap(c->logs, c->most_logs * sizeof(Log));
  c->logs = NULL, c->most_logs = 0;
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
  l->twice = 0;
  return true;
}

static inline bool is_same(const Line *e, const Line *me) {
  return !((e->record ^ me->record) & WHO) && e->form == me->form;
}

/* Have both one cell in common, which one thread touches? */
static bool is_own(const Line *e, const Line *me, uint32_t both) {
  uint32_t k = (uint32_t)__builtin_ctz(both);
  return !(both & (both - 1)) && !((rt_check_record_in(e, k) ^ rt_check_record_in(me, k)) & WHO);
}

/* A read beside others: the usual case of note_beside, where nobody writes. *none: nobody does.
 * Two threads that read a cell stand for all others: of this warp, or of this one and another. */
static bool note_read(RtCheck *c, Line *l, Line me, bool *none) {
  const RtCheckBlock *b = c->block;
  Log *log = l->more ? &c->logs[l->more - 1] : NULL;
  uint32_t n = log ? log->n : 0, mask = me.mask, own = 0, segment = 0, once[FORMS + 1] = {0},
           twice = 0, there = 0, elsewhere = 0,
           others = !c->nreleases && !c->grid ? b->first : 0; /* segments that nothing orders */
  Line *e = l, *mine = NULL;
  for (uint32_t k = 0;; e = &log->entries[k++]) {
    uint64_t differs = (e->record ^ me.record) & (WHO | KIND_BITS);
    uint32_t at = rt_check_segment_of(e->record);
    if (!(differs & WHO) && e->form == me.form) {
      if (!(mask & ~(uint32_t)e->mask))
        return true;
      if (e->record == me.record)
        mine = e;
      else
        own |= e->mask;
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
  me.mask &= ~own;
  if (!(mask & ~(twice | own | (there & elsewhere))))
    return true;
  if (mine) {
    mine->mask |= me.mask;
    return true;
  }
  return n < LOG && add_entry(c, l, &me);
}

/* Takes the entry in, beside others. false: the line is to be opened. */
bool rt_check_note_beside(RtCheck *c, Line *l, uint64_t record, uint64_t rest, bool shared) {
  Line entry = {.record = record, .rest = rest}, *me = &entry;
  if (l->form == OPEN)
    return false;
  bool writes = rt_check_kind_of(me->record) == RT_ACCESS_WRITE, none = !writes;
  if (none && note_read(c, l, entry, &none))
    return true;
  uint32_t n = entries_of(c, l), behind = shared ? c->block->begun : c->base;
  Line *mine = NULL;
  for (uint32_t k = 0; k < n; k++) {
    Line *e = entry_of(c, l, k);
    bool same = is_same(e, me), e_writes = rt_check_kind_of(e->record) == RT_ACCESS_WRITE;
    if (!same || (writes && !e_writes))
      continue;
    if (!(me->mask & ~e->mask))
      return true;
    if (e->record == me->record)
      mine = e;
    else
      me->mask &= ~e->mask;
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
bool rt_check_note_logged(RtCheck *c, Line *l, uint64_t record, uint64_t rest, uint32_t behind) {
  enum { FEW = 3 };
  uint32_t more = l->more, mask = (uint32_t)rest, taken = 0, fresh = 0, own = 0;
  Log *log = more ? &c->logs[more - 1] : NULL;
  uint32_t n = log ? log->n : 0;
  bool writes = rt_check_kind_of(record) == RT_ACCESS_WRITE,
       reads = !writes && rt_check_kind_of(l->record) == RT_ACCESS_READ && !(log && log->written);
  Line *mine = NULL;
  for (uint32_t k = 0; k <= n; k++) {
    Line *e = k ? &log->entries[k - 1] : l;
    bool same = !((e->record ^ record) & WHO) && !((e->rest ^ rest) >> FORM_AT & FORMS);
    if (same && e->record == record)
      mine = e;
    else if (same && (!writes || rt_check_kind_of(e->record) == RT_ACCESS_WRITE))
      own |= e->mask;
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
  mask &= ~own;
  if (!mask)
    return true;
  if (!reads && taken & mask)
    return false;
  uint32_t now = rest >> FORM_AT == EACH ? mask & ~(mine ? mine->mask : 0) : 0;
  if (mine)
    mine->mask |= mask;
  else if (n >= (reads && taken & mask && !c->joined ? FEW : LOG) || (!more && !new_log(c, l)))
    return false;
  if (!mine) {
    log = &c->logs[l->more - 1];
    log->entries[n] = (Line){.record = record, .rest = rest};
    log->entries[n].mask = mask;
    log->n = n + 1;
    log->written |= writes;
    l->twice = 0;
  }
  if (log)
    log->twice |= log->once & now, log->once |= now;
  return true;
}
