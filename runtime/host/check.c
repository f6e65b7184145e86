/* Check: the order between accesses, and what was found.
 *
 * Every piece of memory that checked code has touched has a cell, which says who touched it last: a
 * read, a write, or, behind an index, a write and two reads that are not ordered. A record names
 * the warp's segment (the time from one barrier of a block to the next, for one warp), the lane,
 * the warp's tick in it (warp operations so far) and the site. Two accesses are ordered if
 *   - one thread makes both, or a barrier of their block lies between them;
 *   - they are of one warp, and a warp operation that both lanes took part in lies between them;
 *   - the grid's barrier lies between them;
 *   - a thread that was ordered behind the first one passed a fence and then did an atomic
 *     operation, and a thread of the second one's warp, or a barrier before it, came after a later
 *     atomic operation on the same element, or a chain of such. (Taken for one is whatever was
 *     released elsewhere before. What the first one's warp does behind its fence is not part of it,
 *     but for writes between the fence and a barrier before the operation.);
 *   - they are of one warp, the first lane passed a fence and then did an atomic operation on an
 *     element, and the second lane came after a later one on the same element, or a chain of such.
 * That is FastTrack (Flanagan and Freund, 2009) with the clocks of GPUs, as in BARRACUDA (Eizenberg
 * et al., 2017) and CURD (Peng et al., 2018): the barrier's epochs stand for vectors of clocks.
 *
 * Cells outlive a launch. Segments are numbered on from launch to launch, so that older records
 * are told by their numbers and nothing is cleared. */
#include "runtime/host/check_state.h"

#include "runtime/host/check_entries.h"
#include "runtime/host/check_kept.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/host.h"
#include "runtime/memory/unset.h"

static RtCheck *idle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- memory --- */

bool rt_check_grow(void **array, size_t *most, size_t n, size_t size) {
  if (n < *most)
    return true;
  size_t more = *most ? *most * 2 : 1024;
  void *p = realloc(*array, more * size);
  if (p)
    *array = p, *most = more;
  return p != NULL;
}

void *rt_check_map(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void free_block(RtCheckBlock *b) {
  for (uint32_t k = 0; b && k < b->nwarps; k++) {
    free(b->warps[k].seen);
    free(b->warps[k].fenced);
  }
  if (b)
    free(b->left), rt_check_free_kept(b);
  free(b);
}

/* --- a launch --- */

static RtCheck *new_check(void) {
  RtCheck *c = calloc(1, sizeof *c);
  if (c && !(c->next = rt_check_map(RT_ACCESS_SITES * sizeof(RtNext)))) {
    free(c);
    return NULL;
  }
  if (c)
    c->base = 1;
  return c;
}

/* What neighbours along x of one block touch is to be few lines, each of one block. */
static uint32_t line_bits_for(uint32_t width) {
  enum { WIDE = 64, BITS = 4, HALF = 3 };
  uint32_t bits = (uint32_t)__builtin_ctz(width);
  uint32_t least = width > WIDE ? BITS : width > WARP ? HALF : 0;
  bits = bits < least ? least : bits;
  return bits < MOST_LINE_BITS ? bits : MOST_LINE_BITS;
}

RtCheck *rt_check_open(uint32_t checks, uint32_t width, bool joined) {
  pthread_mutex_lock(&idle_lock);
  RtCheck *c = idle;
  if (c)
    idle = c->idle;
  pthread_mutex_unlock(&idle_lock);
  if (!c)
    c = new_check();
  if (!c)
    return NULL;
  c->checks = checks;
  c->finding = RT_FOUND_NONE;
  c->row = 0;
  c->joined = joined;
  c->line_bits = joined ? MOST_LINE_BITS : line_bits_for(width);
  c->begin = c->lane = 0;
  c->turns = NULL;
  memset(c->conflicts, 0, sizeof c->conflicts);
  c->unset.found = c->no_memory = false;
  c->grid = c->ended_at = 0;
  if (c->nreleases)
    memset(c->chains, 0, sizeof c->chains);
  c->nsegments = c->nfull = c->nlogs = c->nreleases = 0;
  c->free_full = c->free_log = 0;
  c->generation++;
  memset(c->locals, 0, sizeof c->locals);
  return c;
}

void rt_check_close(RtCheck *c) {
  for (int k = 0; k < LOCALS; k++)
    rt_unset_clear(c->locals[k].at, c->locals[k].end - c->locals[k].at);
  for (RtCheckBlock *b = c->blocks, *next; b; b = next) {
    next = b->next;
    if (b->shared_end > b->shared && (c->checks & RT_CHECK_INIT))
      rt_unset_clear(b->shared, b->shared_end - b->shared);
    free_block(b);
  }
  c->blocks = c->block = NULL;
  uint64_t next = (uint64_t)c->base + c->nsegments + 1;
  c->base = (uint32_t)next;
  if (next > UINT32_MAX / 2 || c->cell_bytes > KEEP_BYTES) {
    rt_check_forget_cells(c);
    if (c->locks)
      munmap(c->locks, LOCKS * sizeof(Lock));
    if (c->flags)
      munmap(c->flags, FLAGS * sizeof(Flag));
    c->locks = NULL, c->flags = NULL;
    c->base = 1;
  }
  if (c->most_segments > (size_t)1 << 20)
    free(c->segments), c->segments = NULL, c->most_segments = 0;
  if (c->most_full > (size_t)1 << 20)
    free(c->full), c->full = NULL, c->most_full = 0;
  if (c->most_logs > (size_t)1 << 20)
    rt_check_free_logs(c);
  pthread_mutex_lock(&idle_lock);
  c->idle = idle;
  idle = c;
  pthread_mutex_unlock(&idle_lock);
}

/* --- segments --- */

static bool has_room(RtCheck *c, size_t n) {
  void *segments = c->segments;
  bool room = c->nsegments < UINT32_MAX / 2;
  while (room && c->nsegments + n > c->most_segments)
    room = rt_check_grow(&segments, &c->most_segments, c->most_segments, sizeof(Segment));
  c->segments = segments;
  return room;
}

/* Of so many warps from this one on. Without memory they go on in their segments. */
static void begin_segments_of(RtCheck *c, RtCheckBlock *b, uint32_t first, uint32_t n) {
  if (!(c->checks & RT_CHECK_RACE))
    return;
  if (!has_room(c, n)) {
    c->no_memory = true;
    return;
  }
  Segment s = {(uint32_t)b->number, b->epoch, c->grid, first};
  uint64_t stamp = (uint64_t)(c->base + c->nsegments) << SEGMENT_AT;
  for (Warp *w = &b->warps[first], *end = w + n; w < end; w++, s.warp++) {
    c->segments[c->nsegments++] = s;
    w->stamp = stamp;
    stamp += (uint64_t)1 << SEGMENT_AT;
    w->all = 0;
    w->locks = false;
    if (w->seen || w->fenced) {
      free(w->seen);
      free(w->fenced);
      w->seen = NULL, w->fenced = NULL;
    }
  }
}

static void begin_segments(RtCheck *c, RtCheckBlock *b) {
  b->begun = (uint32_t)(c->base + c->nsegments);
  rt_check_forget_kept(b);
  uint64_t acquired = 0;
  for (uint32_t k = 0; c->nreleases && k < b->nwarps; k++)
    if (b->warps[k].acquired > acquired)
      acquired = b->warps[k].acquired;
  for (uint32_t k = 0; acquired && k < b->nwarps; k++)
    b->warps[k].acquired = acquired;
  begin_segments_of(c, b, 0, b->nwarps);
}

static RtCheckBlock *new_block(uint32_t nthreads) {
  uint32_t nwarps = (nthreads + WARP - 1) / WARP;
  RtCheckBlock *b = calloc(1, sizeof *b + nwarps * sizeof(Warp));
  if (b && !(b->left = malloc(nthreads * sizeof *b->left))) {
    free(b);
    b = NULL;
  }
  if (b)
    b->nthreads = nthreads, b->nwarps = nwarps;
  return b;
}

/* 1 more than the site at which a block's first thread ended; 0: some thread has not ended. */
static uint32_t end_of(const RtCheckBlock *b) {
  for (uint32_t t = 0; t < b->nthreads; t++)
    if (!b->left[t])
      return 0;
  return b->left[0];
}

bool rt_check_begin(RtCheck *c, RtCheckBlock **place, uint64_t number, const RtHostLaunch *view,
                    size_t shared_bytes) {
  RtCheckBlock *b = *place;
  if (!b) {
    b = *place = new_block(view->block[0] * view->block[1] * view->block[2]);
    if (!b)
      return false;
    memset(b->left, 0, b->nthreads * sizeof *b->left);
    b->next = c->blocks;
    c->blocks = b;
  } else if (!c->ended_at && (c->ended_at = end_of(b))) {
    c->ended = b->number;
  }
  c->block = b;
  enum { CACHE_LINE = 64, PAGE = 4096 };
  b->number = number;
  b->nearest = view->block[1] * view->block[2] > 1 ? CACHE_LINE : PAGE;
  b->epoch = 0;
  b->grid = c->grid;
  b->shared = (uintptr_t)view->shared;
  b->shared_end = b->shared + shared_bytes;
  rt_check_keep_from(b, view);
  memset(b->fences, 0, sizeof b->fences);
  if (c->checks & RT_CHECK_SYNC) /* else nobody says that a thread has ended */
    memset(b->left, 0, b->nthreads * sizeof *b->left);
  for (uint32_t k = 0; c->nreleases && k < b->nwarps; k++)
    b->warps[k].acquired = 0;
  begin_segments(c, b);
  b->first = b->begun;
  if (c->checks & RT_CHECK_INIT)
    rt_unset_mark(b->shared, shared_bytes);
  return true;
}

bool rt_check_join(RtCheck *c, const RtHostLaunch *view) {
  uint32_t rows = view->block[1] * view->block[2], n = (view->row_threads + WARP - 1) / WARP;
  c->row_width = view->block[0];
  c->row_segments = n;
  c->first_segment = (uint32_t)(c->base + c->nsegments);
  if (!(c->checks & RT_CHECK_RACE))
    return true;
  bool room = has_room(c, (size_t)rows * n);
  for (uint32_t row = 0; room && row < rows; row++) {
    Segment s = {(uint32_t)c->block->number, row * c->row_width, c->grid, 0},
            *all = c->segments + c->nsegments;
    for (uint32_t k = 0; k < n; k++, s.warp += WARP)
      all[k] = s;
    c->nsegments += n;
  }
  return room;
}

void rt_check_along(const RtHostLaunch *view, uint32_t first) {
  RtCheck *c = view->check;
  uint32_t row = first / c->row_width;
  c->begin = first;
  c->row_stamp = (uint64_t)(c->first_segment + row * c->row_segments) << SEGMENT_AT;
}

uint64_t rt_check_whose(const RtCheck *c, uint64_t record, uint32_t *thread) {
  const Segment *s = &c->segments[rt_check_segment_of(record) - c->base];
  uint32_t at = s->warp + rt_check_lane_of(record);
  if (c->joined) {
    *thread = s->epoch + at % c->row_width;
    return (uint64_t)s->block + at / c->row_width;
  }
  *thread = s->warp * WARP + rt_check_lane_of(record);
  return s->block;
}

void rt_check_take_turns(RtCheck *c, RtCheckBlock *const *places, uint64_t first) {
  c->turns = places, c->first_turn = first;
  c->block = places[0];
}

void rt_check_turn(const RtHostLaunch *view, uint64_t block) {
  RtCheck *c = view->check;
  if (c->turns)
    c->block = c->turns[block - c->first_turn];
}

void rt_check_resume(RtCheck *c, RtCheckBlock *b) {
  c->block = b;
  if (b->grid == c->grid)
    return;
  b->grid = c->grid;
  b->epoch++;
  begin_segments(c, b);
}

void rt_check_grid(RtCheck *c) { c->grid++; }

static _Noreturn void trap_for_unset(const RtHostLaunch *view) {
  const Unset *u = &view->check->unset;
  view->check->finding = RT_FOUND_UNSET;
  rt_host_trap(view, u->site, u->block, u->thread, u->values[0], u->values[1], u->values[2],
               u->values[3]);
}

void rt_check_barrier(const RtHostLaunch *view) {
  RtCheck *c = view->check;
  if (c->unset.found)
    trap_for_unset(view);
  c->block->epoch++;
  begin_segments(c, c->block);
}

static bool has_seen(RtCheck *c, Warp *w) {
  if (!w->seen && !(w->seen = calloc(WARP, sizeof *w->seen)))
    c->no_memory = true;
  return w->seen != NULL;
}

/* What one of them is behind, all are behind; and of each other's past. */
static void join(RtCheck *c, Warp *w, uint32_t who, uint32_t tick) {
  if (!has_seen(c, w))
    return;
  uint16_t most[WARP] = {0};
  for (uint32_t rest = who; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest);
    for (uint32_t k = 0; k < WARP; k++)
      most[k] = w->seen[lane][k] > most[k] ? w->seen[lane][k] : most[k];
  }
  for (uint32_t k = 0; k < WARP; k++)
    if (who >> k & 1)
      most[k] = (uint16_t)tick;
  for (uint32_t rest = who; rest; rest &= rest - 1)
    memcpy(w->seen[__builtin_ctz(rest)], most, sizeof most);
}

void rt_check_warp(RtCheck *c, uint32_t first, uint32_t who) {
  RtCheckBlock *b = c->block;
  rt_check_note_kept(c);
  Warp *w = &b->warps[first / WARP];
  uint32_t n = b->nthreads - first, tick = rt_check_tick_of(w->stamp);
  if (tick < MOST_TICKS)
    w->stamp += (uint64_t)1 << TICK_AT, tick++;
  if ((n < WARP ? (1u << n) - 1 : UINT32_MAX) & ~who)
    join(c, w, who, tick);
  else if (tick >= TICKS)
    begin_segments_of(c, b, first / WARP, 1);
  else
    w->all = tick;
}

void rt_check_met(const RtHostLaunch *view, uint32_t first) {
  rt_check_warp(view->check, first, UINT32_MAX);
}

/* --- fences and atomics: order between blocks, and between warps --- */

/* Segment and tick. */
static uint64_t time_of(uint64_t record) { return record >> TICK_AT; }

void rt_check_fence(const RtHostLaunch *view, uint32_t thread, uint32_t device) {
  RtCheck *c = view->check;
  RtCheckBlock *b = c->block;
  rt_check_note_kept(c);
  Warp *w = &b->warps[thread / WARP];
  if (!w->fenced && !(w->fenced = calloc(WARP, sizeof *w->fenced)))
    c->no_memory = true;
  else
    w->fenced[thread % WARP] = (uint16_t)(rt_check_tick_of(w->stamp) + 1);
  for (uint32_t level = 0; level <= (device != 0); level++) {
    Fence *f = &b->fences[level];
    if (f->epoch != b->epoch && f->warps)
      f->old_epoch = f->epoch, f->old_warps = f->warps, f->warps = 0;
    f->epoch = b->epoch;
    f->warps |= 1u << thread / WARP % WARP;
    w->fences[level] = time_of(w->stamp);
  }
  if (rt_check_tick_of(w->stamp) < FENCE_TICKS) /* what follows it is behind it */
    w->stamp += (uint64_t)1 << TICK_AT;
}

static void add_release(RtCheck *c, uint32_t level, uint32_t epoch, uint32_t warps,
                        uint64_t until) {
  uint32_t block = (uint32_t)c->block->number;
  size_t *chain = &c->chains[block % CHAINS];
  for (size_t k = *chain, near = 0; k && near < 8; k = c->releases[k - 1].before, near++) {
    const Release *r = &c->releases[k - 1];
    if (r->block == block && r->device == level && r->epoch == epoch && !(warps & ~r->warps) &&
        r->until == until)
      return;
  }
  void *releases = c->releases;
  if (rt_check_grow(&releases, &c->most_releases, c->nreleases, sizeof(Release))) {
    c->releases = releases;
    c->releases[c->nreleases++] = (Release){block, epoch, warps, level, ++c->time, until, *chain};
    *chain = c->nreleases;
  } else {
    c->no_memory = true;
  }
  c->releases = releases;
}

/* Where what was released on this element by lanes of this segment is noted; NULL: nowhere. makes:
 * one that is older gives way. */
static Lock *lock_at(RtCheck *c, uintptr_t at, uint32_t segment, bool makes) {
  if (!c->locks && !(c->locks = rt_check_map(LOCKS * sizeof(Lock)))) {
    c->no_memory = true;
    return NULL;
  }
  uint64_t hash = (at ^ (uint64_t)segment << 40) * 0x9E3779B97F4A7C15u;
  Lock *first = &c->locks[(hash >> 32) % (LOCKS - NEAR_LOCKS)], *oldest = first;
  for (uint32_t k = 0; k < NEAR_LOCKS; k++) {
    if (first[k].at == at && first[k].segment == segment)
      return &first[k];
    if (first[k].segment < oldest->segment)
      oldest = &first[k];
  }
  if (!makes)
    return NULL;
  *oldest = (Lock){.at = at, .segment = segment};
  return oldest;
}

static void see(uint16_t *seen, const uint16_t *more) {
  for (uint32_t k = 0; k < WARP; k++)
    seen[k] = more[k] > seen[k] ? more[k] : seen[k];
}

/* Lanes of one warp, by atomic operations on one element: a lock, a ticket, a flag. */
static void order_lanes(RtCheck *c, Warp *w, uint32_t lane, uintptr_t at, bool writes) {
  uint32_t segment = rt_check_segment_of(w->stamp), tick = rt_check_tick_of(w->stamp);
  bool releases = writes && w->fenced && w->fenced[lane];
  if ((!w->locks && !releases) || !has_seen(c, w))
    return;
  Lock *lock = lock_at(c, at, segment, releases);
  if (!lock)
    return;
  see(w->seen[lane], lock->seen);
  if (!releases)
    return;
  w->locks = true;
  see(lock->seen, w->seen[lane]);
  if (w->fenced[lane] > lock->seen[lane])
    lock->seen[lane] = w->fenced[lane];
  if (w->fenced[lane] == tick + 1 && tick < MOST_TICKS)
    w->stamp += (uint64_t)1 << TICK_AT;
}

/* What the warp does from now on is not released with it. */
static void release_warp(RtCheck *c, uint32_t level, uint32_t warp) {
  Warp *w = &c->block->warps[warp];
  add_release(c, level, c->block->epoch, 1u << warp % WARP, w->fences[level] + 1);
  if (w->fences[level] == time_of(w->stamp) && rt_check_tick_of(w->stamp) < MOST_TICKS)
    w->stamp += (uint64_t)1 << TICK_AT;
}

/* makes: the oldest one gives way if there is no room. */
static Flag *flag_at(RtCheck *c, uintptr_t at, bool makes) {
  if (!c->flags && !(c->flags = rt_check_map(FLAGS * sizeof(Flag)))) {
    c->no_memory = true;
    return NULL;
  }
  at /= FLAG_BYTES;
  Flag *first = &c->flags[((uint64_t)at * 0x9E3779B97F4A7C15u >> 32) % (FLAGS - NEAR_LOCKS)],
       *oldest = first;
  for (uint32_t k = 0; k < NEAR_LOCKS; k++) {
    if (first[k].at == at)
      return &first[k];
    if (first[k].time < oldest->time)
      oldest = &first[k];
  }
  if (!makes)
    return NULL;
  if (oldest->time > c->lost)
    c->lost = oldest->time;
  *oldest = (Flag){.at = at};
  return oldest;
}

static void acquire(RtCheck *c, Warp *w, uintptr_t at) {
  const Flag *f = c->nreleases ? flag_at(c, at, false) : NULL;
  uint64_t time = f && f->time > c->lost ? f->time : c->lost;
  if (time > w->acquired)
    w->acquired = time;
}

void rt_check_order_by_atomic(RtCheck *c, uint32_t thread, uintptr_t at, bool writes) {
  RtCheckBlock *b = c->block;
  uint32_t warp = thread / WARP;
  if (c->joined) /* there are no fences */
    return;
  rt_check_note_kept(c);
  acquire(c, &b->warps[warp], at);
  order_lanes(c, &b->warps[warp], thread % WARP, at, writes);
  bool releases = false;
  for (uint32_t level = 0; writes && level < 2; level++) {
    const Fence *f = &b->fences[level];
    bool now = f->warps && f->epoch == b->epoch;
    if (now && (f->warps >> warp % WARP & 1))
      release_warp(c, level, warp);
    else if (f->warps && !now)
      add_release(c, level, f->epoch, f->warps, 0);
    else if (now && f->old_warps)
      add_release(c, level, f->old_epoch, f->old_warps, 0);
    releases |= f->warps && (!now || f->old_warps || f->warps >> warp % WARP & 1);
  }
  Flag *f = releases ? flag_at(c, at, true) : NULL;
  if (f)
    f->time = c->time;
}

/* Has the warp's last atomic operation come after one that published this access? In a chain the
 * last release comes first. */
static bool is_published(const RtCheck *c, uint64_t record, uint64_t acquired, bool device) {
  const Segment *s = &c->segments[rt_check_segment_of(record) - c->base];
  uint32_t warp = 1u << s->warp % WARP;
  bool whole = rt_check_kind_of(record) == RT_ACCESS_ATOMIC; /* the operation may be the release */
  for (size_t k = c->chains[s->block % CHAINS]; k; k = c->releases[k - 1].before) {
    const Release *r = &c->releases[k - 1];
    if (r->block != s->block || r->device < device || r->time > acquired)
      continue;
    if (s->epoch < r->epoch || (s->epoch == r->epoch && (r->warps & warp) &&
                                (whole || !r->until || time_of(record) < r->until)))
      return true;
    if (s->epoch == r->epoch && r->warps == warp && r->until && r->device == device)
      return false; /* those before it end earlier */
  }
  return false;
}

/* --- order --- */

static bool in_warp(const Warp *w, uint64_t record, uint64_t me) {
  if (rt_check_segment_of(record) != rt_check_segment_of(me) ||
      rt_check_lane_of(record) == rt_check_lane_of(me))
    return true;
  uint32_t tick = rt_check_tick_of(record);
  return tick < w->all ||
         (w->seen && tick < w->seen[rt_check_lane_of(me)][rt_check_lane_of(record)]) ||
         tick == MOST_TICKS;
}

/* Does the access of this record come before what `me` does now? */
bool rt_check_is_before(const RtCheck *c, uint64_t record, uint64_t me, bool shared) {
  if (rt_check_is_stale(c, record))
    return true;
  if (c->joined)
    return !((record ^ me) & WHO);
  const Segment *s = &c->segments[rt_check_segment_of(record) - c->base],
                *now = &c->segments[rt_check_segment_of(me) - c->base];
  const RtCheckBlock *b = c->block;
  const Warp *w = &b->warps[now->warp];
  if (s->block != now->block)
    return shared || s->grid < now->grid || is_published(c, record, w->acquired, true);
  if (s->epoch < now->epoch)
    return true;
  return s->warp == now->warp ? in_warp(w, record, me)
                              : is_published(c, record, w->acquired, false);
}

/* The same of lanes of the two, whichever they are: of one segment, no warp operation tells. */
bool rt_check_is_row_before(const RtCheck *c, uint64_t record, uint64_t me, bool shared) {
  if (c->joined)
    return rt_check_is_stale(c, record);
  if (rt_check_segment_of(record) != rt_check_segment_of(me))
    return rt_check_is_before(c, record, me, shared);
  const Warp *w = &c->block->warps[c->segments[rt_check_segment_of(me) - c->base].warp];
  return rt_check_tick_of(record) < w->all;
}

/* --- threads that end --- */

void rt_check_leave(const RtHostLaunch *view, uint32_t thread, uint32_t site) {
  view->check->block->left[thread] = (uint16_t)(site < UINT16_MAX ? site : UINT16_MAX);
}

uint32_t rt_check_left(const RtCheck *c, uint32_t thread) { return c->block->left[thread]; }
bool rt_check_is_short(const RtCheck *c) { return c->no_memory; }
uint32_t rt_check_kinds(const RtCheck *c) { return c->checks; }

/* --- findings --- */

void rt_check_note(RtCheck *c, RtFinding finding, uint32_t detail, uint32_t site, uint64_t block,
                   uint32_t thread) {
  c->finding = finding;
  c->detail = detail;
  c->other_site = site, c->other_block = block, c->other_thread = thread;
}

bool rt_check_note_ended(RtCheck *c) {
  for (const RtCheckBlock *b = c->blocks; b && !c->ended_at; b = b->next)
    if ((c->ended_at = end_of(b)))
      c->ended = b->number;
  if (!c->ended_at || !(c->checks & RT_CHECK_SYNC))
    return false;
  rt_check_note(c, RT_FOUND_LEFT, 0, c->ended_at - 1, c->ended, 0);
  return true;
}

void rt_check_found(const RtHostLaunch *view, uint32_t finding) {
  if (view->check)
    view->check->finding = (RtFinding)finding;
}

static void place(uint64_t block, uint32_t thread, const RtHostLaunch *view, uint32_t blocks[3],
                  uint32_t threads[3]) {
  const uint32_t *g = view->grid, *n = view->block;
  blocks[0] = (uint32_t)(block % g[0]);
  blocks[1] = (uint32_t)(block / g[0] % g[1]);
  blocks[2] = (uint32_t)(block / g[0] / g[1]);
  threads[0] = thread % n[0];
  threads[1] = thread / n[0] % n[1];
  threads[2] = thread / n[0] / n[1];
}

void rt_check_fill(RtCheck *c, RtTrap *trap, const RtHostLaunch *view, uint32_t thread) {
  const uint32_t *g = trap->block;
  uint64_t block = g[0] + (uint64_t)view->grid[0] * (g[1] + (uint64_t)view->grid[1] * g[2]);
  const Conflict *x = &c->conflicts[0];
  for (uint32_t k = 1; k < WARP; k++) { /* the latest one of this thread */
    const Conflict *y = &c->conflicts[k];
    bool mine = x->block == block && x->thread == thread && x->time;
    if (y->time && y->block == block && y->thread == thread && (!mine || y->time > x->time))
      x = y;
  }
  if (c->finding == RT_FOUND_RACE)
    rt_check_note(c, RT_FOUND_RACE, x->detail, x->other_site, x->other_block, x->other_thread);
  trap->finding = c->finding;
  trap->detail = c->detail;
  trap->other_site = c->other_site;
  place(c->other_block, c->other_thread, view, trap->other_block, trap->other_thread);
}

/* --- memory that was not written --- */

uint32_t rt_check_unset(const RtHostLaunch *view, const void *p, uint32_t bytes) {
  (void)view;
  if (!rt_unset_any((uintptr_t)p, bytes))
    return 0;
  rt_unset_clear((uintptr_t)p, bytes);
  return 1;
}

/* Are the lanes of the mask the first ones, at neighbouring elements? Then *n is how many. */
static bool is_dense(uint32_t bytes, int64_t step, uint32_t mask, uint32_t *n) {
  *n = mask ? 32 - (uint32_t)__builtin_clz(mask) : 0;
  return step == bytes && !(mask & (mask + 1));
}

const uint32_t *rt_check_unset_row(const RtHostLaunch *view, const void *p, uint32_t bytes,
                                   int64_t step, uint32_t mask) {
  static const uint32_t none[WARP];
  RtCheck *c = view->check;
  uint32_t n;
  if (is_dense(bytes, step, mask, &n) && !rt_unset_any((uintptr_t)p, (size_t)n * bytes))
    return none;
  memset(c->unset_of, 0, sizeof c->unset_of);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(rest);
    c->unset_of[k] = rt_check_unset(view, (const char *)p + (int64_t)k * step, bytes);
  }
  return c->unset_of;
}

void rt_check_set_row(const RtHostLaunch *view, const void *p, uint32_t bytes, int64_t step,
                      uint32_t mask) {
  uint32_t n;
  if (is_dense(bytes, step, mask, &n))
    rt_check_set(view, p, n * bytes);
  else
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      rt_check_set(view, (const char *)p + (int64_t)__builtin_ctz(rest) * step, bytes);
}

/* Another thread may yet write what was read too early: then the race says more. So where races are
 * looked for it is only kept, for the next barrier or the end. */
void rt_check_unset_at(const RtHostLaunch *view, uint32_t site, uint64_t block, uint32_t thread,
                       int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  RtCheck *c = view->check;
  if (c->joined) {
    uint32_t at = thread - c->begin;
    block = c->block->number + at / c->row_width;
    thread = c->begin + at % c->row_width;
  }
  if (!c->unset.found)
    c->unset = (Unset){true, site, thread, block, {v0, v1, v2, v3}};
  if (!(c->checks & RT_CHECK_RACE))
    trap_for_unset(view);
}

bool rt_check_ends(RtCheck *c, RtTrap *trap, const RtHostLaunch *view) {
  const Unset *u = &c->unset;
  if (!u->found)
    return false;
  *trap = (RtTrap){.state = 2, .site = u->site, .finding = RT_FOUND_UNSET};
  memcpy(trap->values, u->values, sizeof trap->values);
  place(u->block, u->thread, view, trap->block, trap->thread);
  return true;
}

void rt_check_set(const RtHostLaunch *view, const void *p, uint32_t bytes) {
  (void)view;
  rt_unset_clear((uintptr_t)p, bytes);
}

/* Marks of a launch's own memory end with it. Of other memory nobody would take them back. */
static bool is_own_memory(const RtCheck *c, uintptr_t at) {
  bool is = at >= c->block->shared && at < c->block->shared_end;
  for (int k = 0; k < LOCALS && !is; k++)
    is = at >= c->locals[k].at && at < c->locals[k].end;
  return is;
}

void rt_check_copy(const RtHostLaunch *view, const void *p, uint32_t bytes, const void *from) {
  bool own = is_own_memory(view->check, (uintptr_t)p);
  for (uint32_t k = 0; k < bytes; k++)
    if (own && rt_unset_any((uintptr_t)from + k, 1))
      rt_unset_mark((uintptr_t)p + k, 1);
    else
      rt_unset_clear((uintptr_t)p + k, 1);
}

/* Marks must not outlive the array: its memory may be another's next. */
void rt_check_local(const RtHostLaunch *view, const void *p, uint32_t bytes) {
  RtCheck *c = view->check;
  uintptr_t at = (uintptr_t)p, end = at + bytes;
  int k = 0;
  while (k < LOCALS && c->locals[k].end &&
         (at + NEAR < c->locals[k].at || at > c->locals[k].end + NEAR))
    k++;
  if (k == LOCALS) /* less is found */
    return;
  if (!c->locals[k].end || at < c->locals[k].at)
    c->locals[k].at = at;
  if (end > c->locals[k].end)
    c->locals[k].end = end;
  rt_unset_mark(at, bytes);
}
