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
 *     operation, and a thread of the second one's warp, or a barrier before it, came after an
 *     atomic operation that was done later. Which element these were on is not looked at.
 * That is FastTrack (Flanagan and Freund, 2009) with the clocks of GPUs, as in BARRACUDA (Eizenberg
 * et al., 2017) and CURD (Peng et al., 2018): the barrier's epochs stand for vectors of clocks.
 *
 * Cells outlive a launch. Segments are numbered on from launch to launch, so that older records
 * are told by their numbers and nothing is cleared. */
#include "runtime/host/check.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/host/host.h"
#include "runtime/host/unset.h"

/* A record: segment 32 | tick 10 | lane 5 | site 15 | kind 2. Of FULL the segment is the launch's
 * first, and what is between it and the kind an index. */
enum { KIND_BITS = 3, FULL = 3, SITE_BITS = 15, LANE_AT = 17, TICK_AT = 22, SEGMENT_AT = 32 };
enum { MOST_TICKS = 1023, TICKS = 512, WARP = 32 };
enum {
  PIECE_BITS = 20, /* bytes of memory that one array of cells is for */
  ROWS = 1 << 14,
  KEEP_BYTES = 1 << 30, /* of cells, from launch to launch */
  MOST_FULL = 1 << 27,
  LOCALS = 8,
  NEAR = 1 << 20, /* local arrays no further apart are in one stretch of memory */
};
#define WHO ((uint64_t)-1 << LANE_AT)
#ifdef __clang__
#define VECTORS
#else
#define VECTORS __attribute__((optimize("O3")))
#endif

typedef struct Segment {
  uint32_t block, epoch, grid, warp;
} Segment;

typedef struct Full {
  uint64_t write, read[2]; /* 0: none */
} Full;

typedef struct Piece {
  uintptr_t number;
  uint32_t shift; /* a cell is for 1 << shift bytes */
  uint64_t *cells;
  struct Piece *next;
} Piece;

typedef struct Warp {
  uint64_t stamp;    /* the upper part of the records of its lanes, without the lane */
  uint32_t all;      /* each lane is behind what any lane did at lower ticks */
  uint64_t acquired; /* the time of its last atomic operation */
  uint16_t (*seen)[WARP]; /* the same for single lanes: [of the one that is behind][of the other] */
} Warp;

/* The last fence of a block's threads, and the one at an earlier epoch. */
typedef struct Fence {
  uint32_t epoch, warps, old_epoch, old_warps; /* no warps: there was none */
} Fence;

struct RtCheckBlock {
  uint64_t number;
  uint32_t epoch, grid, nthreads, nwarps;
  uintptr_t shared, shared_end;
  Fence fences[2]; /* of the block's level, of the device's */
  uint16_t *left;  /* by thread: the site at which it ended, 0: it has not */
  struct RtCheckBlock *next;
  Warp warps[];
};

/* What a block did up to this epoch, and some warps in it, is seen by whoever comes later. */
typedef struct Release {
  uint32_t block, epoch, warps, device;
  uint64_t time;
} Release;

/* The first read of memory that was not written. */
typedef struct Unset {
  bool found;
  uint32_t site, thread;
  uint64_t block;
  int64_t values[RT_TRAP_VALUES];
} Unset;

struct RtCheck {
  RtRun *runs; /* by site; first: compiled code reads it */
  RtRun *active;
  uint32_t checks, base, grid;
  RtCheckBlock *block, *blocks, *spare; /* blocks: of places */
  Segment *segments;
  size_t nsegments, most_segments; /* numbers from base on */
  Full *full;
  size_t nfull, most_full;
  uint32_t free_full; /* index + 1 */
  Release *releases;
  size_t nreleases, most_releases;
  uint64_t time;
  struct {
    uintptr_t at, end;
  } locals[LOCALS]; /* where local arrays were */
  size_t cell_bytes;
  Unset unset;
  RtFinding finding;
  uint32_t detail, other_site, other_thread;
  uint64_t other_block;
  Piece *rows[ROWS];
  RtCheck *idle;
};

static RtCheck *idle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- memory --- */

static bool grow(void **array, size_t *most, size_t n, size_t size) {
  if (n < *most)
    return true;
  size_t more = *most ? *most * 2 : 1024;
  void *p = realloc(*array, more * size);
  if (p)
    *array = p, *most = more;
  return p != NULL;
}

static void *map(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static size_t cells_bytes(uint32_t shift) {
  return ((size_t)1 << (PIECE_BITS - shift)) * sizeof(uint64_t);
}

static void forget_cells(RtCheck *c) {
  for (size_t k = 0; k < ROWS; k++)
    for (Piece *p = c->rows[k], *next; p; p = next) {
      next = p->next;
      munmap(p->cells, cells_bytes(p->shift));
      free(p);
    }
  memset(c->rows, 0, sizeof c->rows);
  c->cell_bytes = 0;
}

static void free_block(RtCheckBlock *b) {
  for (uint32_t k = 0; b && k < b->nwarps; k++)
    free(b->warps[k].seen);
  if (b)
    free(b->left);
  free(b);
}

/* --- runs --- */

static uint64_t lanes(uint32_t n) { return (uint64_t)n << LANE_AT; }

/* What was noted and has not happened is taken back. */
static void end_run(RtRun *r) {
  if (!r->cells)
    return;
  for (uint32_t k = r->next - r->first; k < r->end - r->first; k++)
    if (r->cells[k] == r->record + lanes(k))
      r->cells[k] = r->old ? r->old + lanes(k) : 0;
  r->vain = r->next == r->first ? r->vain + 1 : 0;
  r->next = UINT32_MAX;
  r->cells = NULL;
}

/* The last one first: it may have noted over what an earlier one noted. */
static void end_runs(RtCheck *c) {
  for (RtRun *r = c->active, *next; r; r = next) {
    next = r->active;
    r->active = NULL, r->listed = 0;
    end_run(r);
  }
  c->active = NULL;
}

/* --- a launch --- */

static RtCheck *new_check(void) {
  RtCheck *c = calloc(1, sizeof *c);
  if (c && !(c->runs = map(RT_ACCESS_SITES * sizeof(RtRun)))) {
    free(c);
    return NULL;
  }
  if (c)
    c->base = 1;
  return c;
}

RtCheck *rt_check_open(uint32_t checks) {
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
  c->unset.found = false;
  c->grid = 0;
  c->nsegments = c->nfull = c->nreleases = 0;
  c->free_full = 0;
  c->time = 1;
  memset(c->locals, 0, sizeof c->locals);
  return c;
}

void rt_check_close(RtCheck *c) {
  end_runs(c);
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
    forget_cells(c);
    c->base = 1;
  }
  if (c->most_segments > (size_t)1 << 20)
    free(c->segments), c->segments = NULL, c->most_segments = 0;
  if (c->most_full > (size_t)1 << 20)
    free(c->full), c->full = NULL, c->most_full = 0;
  pthread_mutex_lock(&idle_lock);
  c->idle = idle;
  idle = c;
  pthread_mutex_unlock(&idle_lock);
}

/* --- segments --- */

/* Without memory a warp goes on in its segment, and less is found. */
static void begin_segment(RtCheck *c, RtCheckBlock *b, uint32_t warp) {
  Warp *w = &b->warps[warp];
  void *segments = c->segments;
  bool room = c->nsegments < UINT32_MAX / 2 &&
              grow(&segments, &c->most_segments, c->nsegments, sizeof(Segment));
  c->segments = segments;
  if (!room)
    return;
  c->segments[c->nsegments] = (Segment){(uint32_t)b->number, b->epoch, c->grid, warp};
  w->stamp = (uint64_t)(c->base + c->nsegments++) << SEGMENT_AT;
  w->all = 0;
  free(w->seen);
  w->seen = NULL;
}

static void begin_segments(RtCheck *c, RtCheckBlock *b) {
  uint64_t acquired = 0;
  for (uint32_t k = 0; k < b->nwarps; k++) {
    begin_segment(c, b, k);
    if (b->warps[k].acquired > acquired)
      acquired = b->warps[k].acquired;
  }
  for (uint32_t k = 0; k < b->nwarps; k++)
    b->warps[k].acquired = acquired;
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

bool rt_check_begin(RtCheck *c, RtCheckBlock **place, uint64_t number, const RtHostLaunch *view,
                    size_t shared_bytes) {
  end_runs(c);
  RtCheckBlock *b = *place;
  if (!b) {
    b = *place = new_block(view->block[0] * view->block[1] * view->block[2]);
    if (!b)
      return false;
    b->next = c->blocks;
    c->blocks = b;
  }
  c->block = b;
  b->number = number;
  b->epoch = 0;
  b->grid = c->grid;
  b->shared = (uintptr_t)view->shared;
  b->shared_end = b->shared + shared_bytes;
  memset(b->fences, 0, sizeof b->fences);
  memset(b->left, 0, b->nthreads * sizeof *b->left);
  for (uint32_t k = 0; k < b->nwarps; k++)
    b->warps[k].acquired = 0;
  begin_segments(c, b);
  if (c->checks & RT_CHECK_INIT)
    rt_unset_mark(b->shared, shared_bytes);
  return true;
}

void rt_check_resume(RtCheck *c, RtCheckBlock *b) {
  end_runs(c);
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
  end_runs(c);
  if (c->unset.found)
    trap_for_unset(view);
  c->block->epoch++;
  begin_segments(c, c->block);
}

static uint32_t tick_of(uint64_t record) { return (uint32_t)(record >> TICK_AT) & MOST_TICKS; }
static uint32_t lane_of(uint64_t record) { return (uint32_t)(record >> LANE_AT) & (WARP - 1); }
static uint32_t segment_of(uint64_t record) { return (uint32_t)(record >> SEGMENT_AT); }

/* What one of them is behind, all are behind; and of each other's past. */
static void join(Warp *w, uint32_t who, uint32_t tick) {
  if (!w->seen && !(w->seen = calloc(WARP, sizeof *w->seen)))
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
  end_runs(c);
  RtCheckBlock *b = c->block;
  Warp *w = &b->warps[first / WARP];
  uint32_t n = b->nthreads - first, tick = tick_of(w->stamp);
  if (tick < MOST_TICKS)
    w->stamp += (uint64_t)1 << TICK_AT, tick++;
  if ((n < WARP ? (1u << n) - 1 : UINT32_MAX) & ~who)
    join(w, who, tick);
  else if (tick >= TICKS)
    begin_segment(c, b, first / WARP);
  else
    w->all = tick;
}

/* --- fences and atomics: order between blocks, and between warps --- */

void rt_check_fence(const RtHostLaunch *view, uint32_t thread, uint32_t device) {
  RtCheckBlock *b = view->check->block;
  for (uint32_t level = 0; level <= (device != 0); level++) {
    Fence *f = &b->fences[level];
    if (f->epoch != b->epoch && f->warps)
      f->old_epoch = f->epoch, f->old_warps = f->warps, f->warps = 0;
    f->epoch = b->epoch;
    f->warps |= 1u << thread / WARP % WARP;
  }
}

static void add_release(RtCheck *c, uint32_t level, uint32_t epoch, uint32_t warps) {
  uint32_t block = (uint32_t)c->block->number;
  for (size_t k = c->nreleases; k-- > 0 && k + 8 > c->nreleases;) {
    const Release *r = &c->releases[k];
    if (r->block == block && r->device == level && r->epoch == epoch && !(warps & ~r->warps))
      return;
  }
  void *releases = c->releases;
  if (grow(&releases, &c->most_releases, c->nreleases, sizeof(Release))) {
    c->releases = releases;
    c->releases[c->nreleases++] = (Release){block, epoch, warps, level, ++c->time};
  }
  c->releases = releases;
}

static void order_by_atomic(RtCheck *c, uint32_t thread) {
  RtCheckBlock *b = c->block;
  uint32_t warp = thread / WARP;
  b->warps[warp].acquired = c->time;
  for (uint32_t level = 0; level < 2; level++) {
    const Fence *f = &b->fences[level];
    bool now = f->warps && f->epoch == b->epoch;
    if (now && (f->warps >> warp % WARP & 1))
      add_release(c, level, f->epoch, 1u << warp % WARP);
    else if (f->warps && !now)
      add_release(c, level, f->epoch, f->warps);
    else if (now && f->old_warps)
      add_release(c, level, f->old_epoch, f->old_warps);
  }
}

/* Has the warp's last atomic operation come after one that published what this segment did? The
 * releases are in the order of time. */
static bool is_published(const RtCheck *c, const Segment *s, uint64_t acquired, bool device) {
  for (size_t k = 0; k < c->nreleases && c->releases[k].time <= acquired; k++) {
    const Release *r = &c->releases[k];
    if (r->block == s->block && r->device >= device &&
        (s->epoch < r->epoch || (s->epoch == r->epoch && (r->warps >> s->warp % WARP & 1))))
      return true;
  }
  return false;
}

/* --- order --- */

static bool is_stale(const RtCheck *c, uint64_t record) { return segment_of(record) < c->base; }

static bool in_warp(const Warp *w, uint64_t record, uint64_t me) {
  if (segment_of(record) != segment_of(me) || lane_of(record) == lane_of(me))
    return true;
  uint32_t tick = tick_of(record);
  return tick < w->all || (w->seen && tick < w->seen[lane_of(me)][lane_of(record)]) ||
         tick == MOST_TICKS;
}

/* Does the access of this record come before what `me` does now? */
static bool is_before(const RtCheck *c, uint64_t record, uint64_t me, bool shared) {
  if (is_stale(c, record))
    return true;
  const Segment *s = &c->segments[segment_of(record) - c->base],
                *now = &c->segments[segment_of(me) - c->base];
  const RtCheckBlock *b = c->block;
  const Warp *w = &b->warps[now->warp];
  if (s->block != now->block)
    return shared || s->grid < now->grid || is_published(c, s, w->acquired, true);
  if (s->epoch < now->epoch)
    return true;
  return s->warp == now->warp ? in_warp(w, record, me) : is_published(c, s, w->acquired, false);
}

/* --- cells --- */

static uint32_t kind_of(uint64_t record) { return (uint32_t)record & KIND_BITS; }

static uint32_t conflict(RtCheck *c, uint64_t other, uint64_t me, bool shared) {
  const Segment *s = &c->segments[segment_of(other) - c->base];
  uint32_t mine = kind_of(me), theirs = kind_of(other);
  c->finding = RT_FOUND_RACE;
  c->detail = mine | theirs << 2 | (uint32_t)shared << 4;
  c->other_site = (uint32_t)(other >> RT_ACCESS_SITE) & (RT_ACCESS_SITES - 1);
  c->other_block = s->block;
  c->other_thread = s->warp * WARP + lane_of(other);
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
  bool room = c->nfull < MOST_FULL && grow(&full, &c->most_full, c->nfull, sizeof(Full));
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
  uint32_t found = f->write && !is_before(c, f->write, me, shared)
                       ? conflict(c, f->write, me, shared)
                       : 0;
  bool before[2];
  for (int k = 0; k < 2; k++)
    before[k] = !f->read[k] || is_before(c, f->read[k], me, shared);
  if (kind_of(me) == RT_ACCESS_WRITE) {
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
    const Segment *first = &c->segments[segment_of(f->read[0]) - c->base],
                  *second = &c->segments[segment_of(f->read[1]) - c->base];
    if (first->warp == second->warp && first->block == second->block)
      f->read[1] = me;
  }
  return found;
}

/* The cell has one record, of another thread or time. */
static uint32_t touch_single(RtCheck *c, uint64_t *cell, uint64_t me, bool shared) {
  uint64_t old = *cell;
  bool before = is_before(c, old, me, shared), writes = kind_of(me) == RT_ACCESS_WRITE;
  if (writes || kind_of(old) == RT_ACCESS_WRITE) {
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
  end_runs(c);
  uint64_t old = *cell;
  if (is_stale(c, old) || (!((old ^ me) & WHO) && kind_of(old) != FULL)) {
    if (is_stale(c, old) || kind_of(me) == RT_ACCESS_WRITE)
      *cell = me;
    return 0;
  }
  bool shared = at >= c->block->shared && at < c->block->shared_end;
  if (kind_of(*cell) == FULL) {
    if (segment_of(*cell) == c->base)
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
  if (!differs && kind_of(old) != FULL) { /* its own: a write says more than a read */
    if (kind_of(me) == RT_ACCESS_WRITE)
      *cell = me;
    return 0;
  }
  if (segment_of(old) < view->check->base) {
    *cell = me;
    return 0;
  }
  return touch_slowly(view, at, cell, me);
}

/* --- pieces --- */

static Piece *make_piece(RtCheck *c, uintptr_t number, uint32_t shift) {
  Piece *p = malloc(sizeof *p);
  uint64_t *cells = p ? map(cells_bytes(shift)) : NULL;
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
  end_runs(c);
  size_t n = (size_t)1 << (PIECE_BITS - p->shift), by = (size_t)1 << (p->shift - shift);
  uint64_t *cells = map(cells_bytes(shift));
  if (!cells)
    return false;
  for (size_t k = 0; k < n; k++) {
    uint64_t old = p->cells[k];
    if (is_stale(c, old))
      continue;
    for (size_t j = 0; j < by; j++) {
      uint64_t *cell = &cells[k * by + j];
      *cell = old;
      if (kind_of(old) == FULL && j) {
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
    order_by_atomic(c, thread);
  uint64_t me = c->block->warps[thread / WARP].stamp | (uint64_t)(thread % WARP) << LANE_AT | what;
  const Piece *p = c->rows[(at >> PIECE_BITS) % ROWS];
  if (__builtin_expect(p && p->number == at >> PIECE_BITS && bytes == 1u << p->shift &&
                           !(at & (bytes - 1)),
                       1))
    return touch(view, at, &p->cells[(at & (((uintptr_t)1 << PIECE_BITS) - 1)) >> p->shift], me);
  return touch_all(view, at, bytes, me);
}

/* Do these n cells have this record of the first, and of the others what their lanes make of it? */
VECTORS static bool are_alike(const uint64_t *cells, uint32_t n, uint64_t record) {
  uint64_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= cells[k] ^ (record + lanes(k));
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
    cells[k] = record + lanes(k);
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
  uint64_t record = me + lanes(1), old = stale ? 0 : cells[0];
  if (!stale && (((old ^ record) & WHO) || kind_of(old) == FULL || !are_alike(cells, n, old)))
    return false;
  if (!stale && kind_of(me) == RT_ACCESS_READ)
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
    end_runs(c);
  else
    end_run(r);
  uint32_t found = rt_check_access(view, address, thread, what, bytes);
  if (found)
    return found;
  uint64_t me = c->block->warps[thread / WARP].stamp | lanes(thread % WARP) | what;
  bool tries = r->vain < VAIN || r->vain % AGAIN == 0;
  if (!tries || !begin_run(c, r, (uintptr_t)address, thread, me, bytes))
    r->vain++;
  return 0;
}

/* --- threads that end --- */

void rt_check_leave(const RtHostLaunch *view, uint32_t thread, uint32_t site) {
  view->check->block->left[thread] = (uint16_t)(site < UINT16_MAX ? site : UINT16_MAX);
}

uint32_t rt_check_left(const RtCheck *c, uint32_t thread) { return c->block->left[thread]; }
uint32_t rt_check_kinds(const RtCheck *c) { return c->checks; }

/* --- findings --- */

void rt_check_note(RtCheck *c, RtFinding finding, uint32_t detail, uint32_t site, uint64_t block,
                   uint32_t thread) {
  c->finding = finding;
  c->detail = detail;
  c->other_site = site, c->other_block = block, c->other_thread = thread;
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

void rt_check_fill(RtCheck *c, RtTrap *trap, const RtHostLaunch *view) {
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

/* Another thread may yet write what was read too early: then the race says more. So where races are
 * looked for it is only kept, for the next barrier or the end. */
void rt_check_unset_at(const RtHostLaunch *view, uint32_t site, uint64_t block, uint32_t thread,
                       int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  RtCheck *c = view->check;
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
