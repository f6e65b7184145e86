/* Check rows: what the lanes of a vector touch, by one call of compiled code.
 *
 * In: the first lane's address and thread, the step from lane to lane, and a mask. Out: what
 * rt_check_access finds, by lane. Neighbouring elements are an entry of each line that nobody has
 * touched in this launch; lanes at another step have a cell each. */
#include "runtime/host/check_rows.h"

#include <string.h>

#include "runtime/host/check_kept.h"
#include "runtime/host/check_lines.h"

#ifdef __clang__
#define VECTORS
#else
#define VECTORS __attribute__((optimize("O3")))
#endif

enum { MOST_STEPS = 2 }; /* vectors at a step of up to so many powers of two are entries */
static const uint8_t nothing[WARP] __attribute__((aligned(WARP)));

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
  return first + rt_check_line_cells(c) <= rt_check_ncells(p->shift) &&
         are_before(&p->cells[first], rt_check_line_cells(c), behind);
}

/* Neighbouring cells of an open line, which nobody else has touched, or nobody that is not
 * ordered. me: of the first one. */
static bool note_cells(const RtCheck *c, const Piece *p, size_t k, uint32_t n, uint64_t me,
                       uint32_t behind) {
  uint64_t *cells = &p->cells[k];
  bool writes = rt_check_kind_of(me) == RT_ACCESS_WRITE;
  if (are_before(cells, n, behind)) {
    uint32_t first = rt_check_place_in_line(c, p, k), length = rt_check_line_cells(c);
    if (n * 2 >= length && (n == length || (rt_check_line_of(c, p, k)->mask != APART &&
                                            is_all_before(c, p, k - first, behind))))
      *rt_check_line_of(c, p, k) = rt_check_entry(me & ~rt_check_lanes(WARP - 1),
                                                  rt_check_lane_of(me) - first,
                                                  rt_check_low_bits(n) << first, EACH);
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
  if (!rt_check_is_open(c, rt_check_line_of(c, p, k)))
    rt_check_open_line(c, p, k);
  return !(rest & (rest + 1)) && note_cells(c, p, k, (uint32_t)__builtin_popcount(rest),
                                            record | rt_check_lanes(lane), behind);
}

/* The lanes of `mask` at neighbouring elements. Returns those that are to be noted one by one. */
static inline uint32_t note_row(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record,
                                uint32_t lane, uint32_t bytes) {
  const Piece *p = rt_check_piece_for(c, at, bytes);
  if (!p)
    return mask;
  size_t k = rt_check_cell_in(p, at);
  if (__builtin_expect(k + WARP > rt_check_ncells(p->shift), 0) &&
      k + WARP - (uint32_t)__builtin_clz(mask) > rt_check_ncells(p->shift))
    return mask;
  uint32_t cell = rt_check_place_in_line(c, p, k), left = 0, behind = rt_check_behind_at(c, at),
           length = rt_check_line_cells(c), all = rt_check_all_cells(c);
  Line *l = rt_check_line_of(c, p, k);
  uint64_t wide = (uint64_t)mask << cell;
  for (uint32_t step = 0; wide; step += length, wide >>= length, l++) {
    Line me = rt_check_entry(record, lane + step - cell, (uint32_t)wide & all, EACH);
    if (!me.mask || (!rt_check_is_open(c, l) && rt_check_note_entry(c, l, me, behind)))
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
  const Piece *p = rt_check_piece_for(c, at, bytes);
  if (!p)
    return false;
  size_t k = rt_check_cell_in(p, at);
  uint32_t cell = rt_check_place_in_line(c, p, k), behind = rt_check_behind_at(c, at);
  Line *l = rt_check_line_of(c, p, k);
  Line first = rt_check_entry(record, lane + (uint32_t)__builtin_ctz(mask), 1u << cell, ONE),
       last = rt_check_entry(record, lane + WARP - 1 - (uint32_t)__builtin_clz(mask), 1u << cell,
                             ONE);
  return rt_check_note_entry(c, l, first, behind) && rt_check_note_entry(c, l, last, behind);
}

/* Where the same threads will be the next time, if they go on as they did: a loop by the grid's
 * stride comes to other pages each time, which the processor does not foresee. */
static __attribute__((noinline)) void look_ahead(const RtCheck *c, RtNext *r, uintptr_t at,
                                                 uint32_t number) {
  int64_t least = c->block->nearest;
  if (!number) {
    r->step = (int64_t)(at - r->row);
    r->row = at;
    bool goes_on = c->joined && r->step == (int64_t)((uint64_t)c->row_segments * WARP << r->shift);
    r->is_far = (r->step >= least || r->step <= -least) && !goes_on;
  }
  if (!r->is_far)
    return;
  uintptr_t next = at + (uintptr_t)r->step, in_piece = next - r->begin;
  __builtin_prefetch((const void *)next);
  if (in_piece < r->size)
    __builtin_prefetch(&r->lines[((in_piece >> r->shift) + r->first) >> c->line_bits], 1);
}

static const uint8_t *note_each(const RtHostLaunch *view, uintptr_t at, uint32_t thread,
                                uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  uint32_t any = 0;
  memset(c->found, 0, sizeof c->found);
  c->row = step == bytes ? at : 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(rest);
    const char *p = (const char *)at + (int64_t)k * step;
    any |= c->found[k] = rt_check_access_now(view, p, thread + k, what, bytes);
  }
  c->row = 0;
  return any ? c->found : nothing;
}

/* The next time the site will know its piece. */
static void find_lines(const RtCheck *c, RtNext *s, uintptr_t at, uint32_t bytes) {
  const Piece *p = rt_check_piece_for(c, at, bytes);
  if (!p)
    return;
  s->generation = c->generation;
  s->begin = p->number << PIECE_BITS;
  s->size = ((uintptr_t)1 << PIECE_BITS) - WARP * bytes;
  s->lines = p->lines, s->shift = p->shift, s->first = rt_check_line_cells(c) - p->phase;
}

/* The last lane's element, where each one's is before that of the lane before. */
static inline uintptr_t last_at(uintptr_t at, uint32_t bytes) {
  return at - (WARP - 1) * (uintptr_t)bytes;
}

/* Lanes of one warp at some step: each has its own cell, of lines that are opened. Returns those
 * that are to be noted one by one. */
static uint32_t note_cells_apart(RtCheck *c, uintptr_t at, uint32_t number, uint32_t what,
                                 uint32_t bytes, int64_t step, uint32_t mask) {
  uint32_t first = (uint32_t)__builtin_ctz(mask), last = WARP - 1 - (uint32_t)__builtin_clz(mask);
  uintptr_t begin = at + (uintptr_t)(first * step), end = at + (uintptr_t)(last * step);
  const Piece *p = rt_check_piece_for(c, begin, bytes);
  if (!p || step & (bytes - 1) || (begin ^ end) >> PIECE_BITS)
    return mask;
  const uint64_t open = (uint64_t)c->base << SEGMENT_AT, apart = (uint64_t)OPEN << FORM_AT | APART;
  uint64_t *cells = p->cells,
           me = rt_check_stamp(c, number) | what | rt_check_lanes(number % WARP + first);
  int64_t n = (int64_t)rt_check_cell_in(p, begin), by = step / (int64_t)bytes;
  uint32_t left = 0, behind = rt_check_behind_at(c, at), bits = c->line_bits,
           before = (1u << bits) - p->phase;
  for (uint32_t k = first; k <= last; k++, n += by, me += rt_check_lanes(1)) {
    const Line *l = &p->lines[(n + before) >> bits];
    if (mask != UINT32_MAX && !(mask >> k & 1))
      continue;
    if (l->record == open && l->rest == apart && rt_check_is_older(c, cells[n], behind))
      cells[n] = me; /* the usual case */
    else if (!rt_check_note_cell(c, p, (size_t)n, me, behind))
      left |= 1u << k;
  }
  return left;
}

/* The same where each lane's element is the one before: the last lane's comes first. */
static uint32_t note_row_back(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record,
                              uint32_t lane, uint32_t bytes) {
  const Piece *p = rt_check_piece_for(c, at, bytes);
  size_t k = rt_check_cell_in(p ? p : &(Piece){0}, at);
  if (!p || k + WARP > rt_check_ncells(p->shift))
    return mask;
  uint32_t cell = rt_check_place_in_line(c, p, k), left = 0, behind = rt_check_behind_at(c, at),
           length = rt_check_line_cells(c), all = rt_check_all_cells(c);
  Line *l = rt_check_line_of(c, p, k);
  uint64_t wide = (uint64_t)mask << cell;
  for (uint32_t step = 0; wide; step += length, wide >>= length, l++) {
    Line me = rt_check_entry(record, lane + cell - step, (uint32_t)wide & all, BACK);
    if (me.mask && !rt_check_note_entry(c, l, me, behind))
      left |= (uint32_t)((uint64_t)me.mask << step >> cell);
  }
  return left;
}

/* The same where each lane's element is 1 << by further than the one before. */
static uint32_t note_row_every(RtCheck *c, uintptr_t at, uint32_t mask, uint64_t record,
                               uint32_t lane, uint32_t bytes, uint32_t by) {
  const Piece *p = rt_check_piece_for(c, at, bytes);
  size_t k = rt_check_cell_in(p ? p : &(Piece){0}, at);
  if (!p || k + ((size_t)WARP << by) > rt_check_ncells(p->shift) || rt_check_line_cells(c) < WARP)
    return mask;
  uint32_t left = 0, behind = rt_check_behind_at(c, at), cell = rt_check_place_in_line(c, p, k);
  Line *l = rt_check_line_of(c, p, k);
  for (uint32_t first = 0, n; first < WARP && mask >> first; first += n, l++, cell &= WARP - 1) {
    n = ((WARP - 1 - cell) >> by) + 1;
    uint32_t here = mask >> first & rt_check_low_bits(n), cells = 0;
    Line me = rt_check_entry(record, lane + first - (cell >> by), 0, EVERY + by);
    for (uint32_t rest = here; rest; rest &= rest - 1)
      cells |= 1u << (cell + ((uint32_t)__builtin_ctz(rest) << by));
    me.mask = cells;
    if (cells && !rt_check_note_entry(c, l, me, behind))
      left |= here << first;
    cell += n << by;
  }
  return left;
}

/* The last bit first. */
static uint32_t reversed(uint32_t mask) {
  mask = (mask & 0x55555555) << 1 | (mask >> 1 & 0x55555555);
  mask = (mask & 0x33333333) << 2 | (mask >> 2 & 0x33333333);
  mask = (mask & 0x0f0f0f0f) << 4 | (mask >> 4 & 0x0f0f0f0f);
  return __builtin_bswap32(mask);
}

/* Its lines begin where rows of vectors do. */
static void make_piece_of_row(RtCheck *c, uintptr_t at, uint32_t bytes) {
  bool is_new = !rt_check_piece_for(c, at, bytes) && !(at & (bytes - 1));
  c->row = at;
  if (is_new && !rt_check_find_piece(c, at, bytes))
    c->no_memory = true;
  c->row = 0;
}

/* The lanes of `mask` are of one warp; number: of the first one. Returns those
 * that are to be noted one by one. */
static uint32_t note_part(RtCheck *c, uintptr_t at, uint32_t number, uint32_t what, uint32_t bytes,
                          int64_t step, uint32_t mask) {
  uint64_t record = rt_check_stamp(c, number) | what;
  if (!mask)
    return 0;
  if (step == bytes) {
    make_piece_of_row(c, at, bytes);
    return note_row(c, at, mask, record, number % WARP, bytes);
  }
  bool one = !step && (what & KIND_BITS) == RT_ACCESS_READ &&
             note_one(c, at, mask, record, number % WARP, bytes);
  if (one || !step)
    return one ? 0 : mask;
  if (step == -(int64_t)bytes) {
    uint32_t last = WARP - 1 - (uint32_t)__builtin_clz(mask), by = WARP - 1 - last;
    uintptr_t low = at - last * (uintptr_t)bytes;
    make_piece_of_row(c, low, bytes);
    uint32_t left = note_row_back(c, low, reversed(mask) >> by, record, (number + last) % WARP,
                                  bytes);
    mask = reversed(left) >> by;
  }
  for (uint32_t by = 1; by <= MOST_STEPS; by++)
    if (step == (int64_t)bytes << by)
      mask = note_row_every(c, at, mask, record, number % WARP, bytes, by);
  return mask ? note_cells_apart(c, at, number, what, bytes, step, mask) : 0;
}

const uint8_t *rt_check_row_slowly(const RtHostLaunch *view, uintptr_t at, uint32_t thread,
                                   uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  uint32_t number = thread - c->begin, lane = number % WARP;
  if (!mask)
    return nothing;
  if (!rt_check_is_plain(what))
    return note_each(view, at, thread, what, bytes, step, mask);
  if (step == bytes || step == -(int64_t)bytes)
    find_lines(c, &c->next[what >> RT_ACCESS_SITE], step < 0 ? last_at(at, bytes) : at, bytes);
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
  uint32_t behind = rt_check_behind_at(c, at), length = rt_check_line_cells(c),
           all = rt_check_all_cells(c), number = thread - c->begin;
  uint64_t record = rt_check_stamp(c, number) | what, wide = (uint64_t)mask << cell;
  for (uint32_t first = number % WARP - cell; wide; wide >>= length, first += length, l++) {
    Line me = rt_check_entry(record, first, (uint32_t)wide & all, EACH);
    if (me.mask && !rt_check_note_entry(c, l, me, behind))
      return rt_check_row_slowly(view, at, thread, what, bytes, bytes, mask);
  }
  return nothing;
}

static inline bool is_same_thread(const Line *e, uint64_t record) {
  return !((e->record ^ record) & WHO);
}

/* A read of a line that is read only, or false: row_in_lines knows more. */
static __attribute__((noinline)) bool add_joined_read(RtCheck *c, Line *l, uint64_t record,
                                                      uint32_t mask) {
  Log *log = l->more ? &c->logs[l->more - 1] : NULL;
  if (l->form != EACH || (log && log->written))
    return false;
  Line *mine = l->record == record ? l : NULL;
  uint32_t more = mask & ~(is_same_thread(l, record) ? l->mask : 0);
  for (uint32_t k = 0; log && k < log->n; k++) {
    Line *e = &log->entries[k];
    if (!is_same_thread(e, record) || e->form != EACH)
      continue;
    mine = e->record == record ? e : mine;
    more &= ~e->mask;
  }
  if (!more)
    return true;
  if (!mine && !log) {
    if (c->free_log || c->nlogs == c->most_logs)
      return false;
    log = &c->logs[c->nlogs++];
    l->rest |= (uint64_t)c->nlogs << MORE_AT;
    log->n = 0, log->written = false, log->once = l->mask, log->twice = 0;
  }
  if (mine)
    mine->mask |= more;
  else if (log->n < LOG)
    log->entries[log->n++] = (Line){.record = record, .rest = more};
  else
    return false;
  if (!log)
    return true;
  uint32_t once = log->once, twice = log->twice | (once & more);
  log->once = once | more, log->twice = twice;
  l->twice = twice == UINT32_MAX;
  return true;
}

/* Of joined blocks: two threads read each cell, who stand for all others. */
static inline bool is_read_twice(const RtCheck *c, const Line *l) {
  return l->rest >> TWICE_AT & 1 && !rt_check_is_stale(c, l->record);
}

/* A read by joined blocks, as stencils do it: of a line that nobody has touched, or that is read
 * only, by two threads at the best, who stand for all others. record: of cell 0. */
static inline bool note_joined_read(RtCheck *c, Line *l, uint64_t record, uint32_t mask) {
  uint64_t old = l->record, more = l->rest >> MORE_AT;
  if (!mask)
    return true;
  if (rt_check_is_stale(c, old)) {
    rt_check_put(l, (Line){.record = record, .rest = mask});
    return true;
  }
  if (is_read_twice(c, l))
    return true;
  if (rt_check_kind_of(old) != RT_ACCESS_READ)
    return false;
  if (more && !(mask & ~c->logs[more - 1].twice) && !c->logs[more - 1].written)
    return true;
  return add_joined_read(c, l, record, mask);
}

/* The site's last vector was in this piece, and what comes is as regular. */
static inline bool is_known(const RtCheck *c, const RtNext *s, uintptr_t at, uint32_t bytes) {
  return s->generation == c->generation && at - s->begin < s->size && !(at & (bytes - 1));
}

/* Its cell, from that of the site's first line on. */
static inline uint32_t cell_from(const RtNext *s, uintptr_t at) {
  return (uint32_t)((at - s->begin) >> s->shift) + s->first;
}

/* Lanes of one warp, of joined blocks, whose lines have 32 cells. */
static __attribute__((noinline)) const uint8_t *row_of_joined(const RtHostLaunch *view,
                                                              const void *address, uint32_t thread,
                                                              uint32_t what, uint32_t bytes,
                                                              int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  RtNext *s = &c->next[what >> RT_ACCESS_SITE];
  uintptr_t at = (uintptr_t)address;
  uint32_t number = thread - c->begin, k = cell_from(s, at), cell = k % WARP;
  if ((uint64_t)mask << number % WARP >> WARP)
    return rt_check_row_slowly(view, at, thread, what, bytes, step, mask);
  if (!number || s->is_far)
    look_ahead(c, s, at, number);
  Line *l = &s->lines[k / WARP];
  uint64_t wide = (uint64_t)mask << cell,
           me = (c->row_stamp + ((uint64_t)(number / WARP) << SEGMENT_AT)) | what |
                rt_check_lanes((number - cell) % WARP);
  uint32_t here = (uint32_t)wide, there = (uint32_t)(wide >> WARP);
  if ((what & KIND_BITS) == RT_ACCESS_READ) {
    if (note_joined_read(c, l, me, here) && note_joined_read(c, l + 1, me, there))
      return nothing;
  } else if (rt_check_is_stale(c, l->record) && (!there || rt_check_is_stale(c, l[1].record))) {
    if (here)
      rt_check_put(l, (Line){.record = me, .rest = here});
    if (there)
      rt_check_put(l + 1, (Line){.record = me, .rest = there});
    return nothing;
  }
  return row_in_lines(view, at, thread, what, bytes, mask, l, cell);
}

/* The same where each lane's element is before that of the lane before, or at another step. */
static __attribute__((noinline)) const uint8_t *
row_back_of_joined(const RtHostLaunch *view, const void *address, uint32_t thread, uint32_t what,
                   uint32_t bytes, int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  const RtNext *s = &c->next[what >> RT_ACCESS_SITE];
  uintptr_t at = (uintptr_t)address, low = last_at(at, bytes);
  uint32_t number = thread - c->begin;
  if (step != -(int64_t)bytes || mask != UINT32_MAX || number % WARP || !rt_check_is_plain(what) ||
      !is_known(c, s, low, bytes))
    return rt_check_row_slowly(view, at, thread, what, bytes, step, mask);
  uint32_t k = cell_from(s, low), cell = k % WARP;
  Line *l = &s->lines[k / WARP],
       me = rt_check_entry(rt_check_stamp(c, number) | what, cell - 1, UINT32_MAX << cell, BACK);
  bool noted = rt_check_note_entry(c, l, me, c->base);
  me.mask = rt_check_low_bits(cell);
  if (noted && (!cell || rt_check_note_entry(c, l + 1, me, c->base)))
    return nothing;
  return rt_check_row_slowly(view, at, thread, what, bytes, step, mask);
}

/* Of other blocks. Here: the usual case, a line or two that nobody has touched in this launch. */
static __attribute__((noinline)) const uint8_t *row_of_block(const RtHostLaunch *view,
                                                             const void *address, uint32_t thread,
                                                             uint32_t what, uint32_t bytes,
                                                             int64_t step, uint32_t mask) {
  RtCheck *c = view->check;
  RtNext *s = &c->next[what >> RT_ACCESS_SITE];
  uintptr_t at = (uintptr_t)address;
  uint32_t lane = thread % WARP, none = mask ? (uint32_t)__builtin_ctz(mask) : 0;
  bool shared = rt_check_is_shared(c, at + (uintptr_t)(none * step));
  if (shared && rt_check_keep(c, (Kept){at, step, thread, what, bytes, mask}))
    return nothing;
  if (shared || step != bytes || !is_known(c, s, at, bytes) || (uint64_t)mask << lane >> WARP)
    return rt_check_row_slowly(view, at, thread, what, bytes, step, mask);
  if (!thread || s->is_far)
    look_ahead(c, s, at, thread);
  uint32_t k = cell_from(s, at), length = rt_check_line_cells(c), cell = k & (length - 1);
  Line *l = &s->lines[k >> c->line_bits];
  uint64_t wide = (uint64_t)mask << cell;
  uint32_t now = (uint32_t)wide & rt_check_all_cells(c);
  uint64_t more = wide >> length;
  if (!rt_check_is_stale(c, l->record) || more >> length ||
      (more && !rt_check_is_stale(c, l[1].record)))
    return row_in_lines(view, at, thread, what, bytes, mask, l, cell);
  uint64_t record = rt_check_stamp(c, thread) | what;
  if (now)
    rt_check_put(l, rt_check_entry(record, lane - cell, now, EACH));
  if (more)
    rt_check_put(l + 1, rt_check_entry(record, lane + length - cell, (uint32_t)more, EACH));
  return nothing;
}

/* To the block's shared memory. */
static __attribute__((noinline)) const uint8_t *row_of_tile(const RtHostLaunch *view,
                                                            const void *address, uint32_t thread,
                                                            uint32_t what, uint32_t bytes,
                                                            int64_t step, uint32_t mask) {
  return rt_check_keep_beside(view->check->block,
                              (Kept){(uintptr_t)address, step, thread, what, bytes, mask})
             ? nothing
             : row_of_block(view, address, thread, what, bytes, step, mask);
}

/* Of joined blocks. Here: what stencils mostly read. */
static __attribute__((noinline)) const uint8_t *row_along(const RtHostLaunch *view,
                                                          const void *address, uint32_t thread,
                                                          uint32_t what, uint32_t bytes,
                                                          int64_t step, uint32_t mask) {
  const RtCheck *c = view->check;
  const RtNext *s = &c->next[what >> RT_ACCESS_SITE];
  uintptr_t at = (uintptr_t)address;
  if (step != bytes)
    return row_back_of_joined(view, address, thread, what, bytes, step, mask);
  if (!is_known(c, s, at, bytes))
    return rt_check_row_slowly(view, at, thread, what, bytes, step, mask);
  uint32_t k = cell_from(s, at);
  const Line *l = &s->lines[k / WARP];
  bool reads = (what & KIND_BITS) == RT_ACCESS_READ && thread != c->begin;
  if (reads && is_read_twice(c, l) &&
      (!((uint64_t)mask << k % WARP >> WARP) || is_read_twice(c, l + 1)))
    return nothing;
  return row_of_joined(view, address, thread, what, bytes, step, mask);
}

const uint8_t *rt_check_row(const RtHostLaunch *view, const void *address, uint32_t thread,
                            uint32_t what, uint32_t bytes, int64_t step, uint32_t mask) {
  const RtCheck *c = view->check;
  if (c->joined)
    return row_along(view, address, thread, what, bytes, step, mask);
  return rt_check_is_shared(c, (uintptr_t)address)
             ? row_of_tile(view, address, thread, what, bytes, step, mask)
             : row_of_block(view, address, thread, what, bytes, step, mask);
}
