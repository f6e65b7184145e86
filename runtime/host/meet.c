/* Meet: in, the frame of a block whose threads wait; out, results of warp operations, and which
 * threads go on.
 *
 * A warp operation is done for the lanes that wait at one of the same kind with the same mask, once
 * all lanes which the mask names and which have not ended are among them; it need not be the same
 * call in the source. Lanes that have ended, or that the last warp of a block does not have, take
 * no part. Semantics of the operations: PTX ISA, shfl.sync, vote.sync, match.sync and
 * bar.warp.sync; what is undefined there is defined here: a shuffle from a lane that takes no part
 * gives the thread's own value. */
#include "runtime/host/meet.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/host/check.h"
#include "runtime/host/host.h"
#include "runtime/host/matrices.h"
#include "runtime/host/waits.h"

enum { WARP = 32 };

typedef struct Frame { /* of a block: the slots as arrays over its threads */
  uint32_t *next, *mask, *lane;
  uint64_t *value, *result;
  uint32_t n; /* threads */
} Frame;

static Frame frame_of(const RtHostLaunch *view) {
  uint32_t n = view->block[0] * view->block[1] * view->block[2];
  size_t stride = (n + RT_FRAME_THREADS - 1) / RT_FRAME_THREADS * RT_FRAME_THREADS;
  char *at = view->frame;
  return (Frame){.next = (uint32_t *)(at + RT_SLOT_NEXT * stride),
                 .mask = (uint32_t *)(at + RT_SLOT_MASK * stride),
                 .value = (uint64_t *)(at + RT_SLOT_VALUE * stride),
                 .result = (uint64_t *)(at + RT_SLOT_RESULT * stride),
                 .lane = (uint32_t *)(at + RT_SLOT_LANE * stride),
                 .n = n};
}

/* The warp that begins at a thread. */
static Frame warp_of(const Frame *f, uint32_t first) {
  assert(first < f->n && first % WARP == 0);
  uint32_t left = f->n - first;
  return (Frame){f->next + first,  f->mask + first,   f->lane + first,
                 f->value + first, f->result + first, left < WARP ? left : WARP};
}

static uint32_t lowest(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }
static uint32_t all_lanes(uint32_t n) { return n < WARP ? (1u << n) - 1 : UINT32_MAX; }

/* --- the operations, for the lanes in `who` --- */

/* Where lane gets its value from; 32 and more, or a lane that is not in `who`: from itself. */
static uint32_t source_lane(uint32_t kind, uint32_t lane, uint32_t by) {
  switch (kind) {
  case RT_MEET_SHFL_UP: return lane - (by & 31);
  case RT_MEET_SHFL_DOWN: return lane + (by & 31);
  case RT_MEET_SHFL_XOR: return lane ^ (by & 31);
  default: return by & 31;
  }
}

static inline void shuffle_whole(const Frame *w, uint32_t kind) {
  for (uint32_t lane = 0; lane < WARP; lane++) {
    uint32_t from = source_lane(kind, lane, w->lane[lane]);
    w->result[lane] = w->value[from < WARP ? from : lane];
  }
}

/* A whole warp: a loop for each kind, without the question which. */
static void shuffle_all(const Frame *w, uint32_t kind) {
  switch (kind) {
  case RT_MEET_SHFL_UP: shuffle_whole(w, RT_MEET_SHFL_UP); break;
  case RT_MEET_SHFL_DOWN: shuffle_whole(w, RT_MEET_SHFL_DOWN); break;
  case RT_MEET_SHFL_XOR: shuffle_whole(w, RT_MEET_SHFL_XOR); break;
  default: shuffle_whole(w, RT_MEET_SHFL_IDX);
  }
}

static void shuffle(const Frame *w, uint32_t kind, uint32_t who) {
  for (uint32_t rest = who; rest; rest &= rest - 1) {
    uint32_t lane = lowest(rest), from = source_lane(kind, lane, w->lane[lane]);
    w->result[lane] = w->value[from < WARP && (who >> from & 1) ? from : lane];
  }
}

static uint64_t vote(const Frame *w, uint32_t kind, uint32_t who) {
  uint32_t ayes = 0;
  for (uint32_t rest = who; rest; rest &= rest - 1)
    ayes |= (uint32_t)(w->value[lowest(rest)] & 1) << lowest(rest);
  switch (kind) {
  case RT_MEET_ALL: return ayes == who;
  case RT_MEET_ANY: return ayes != 0;
  case RT_MEET_EQ: return ayes == who || !ayes;
  default: return ayes;
  }
}

static uint32_t like(const Frame *w, uint32_t who, uint64_t value) {
  uint32_t lanes = 0;
  for (uint32_t rest = who; rest; rest &= rest - 1)
    lanes |= (uint32_t)(w->value[lowest(rest)] == value) << lowest(rest);
  return lanes;
}

static void match_any(const Frame *w, uint32_t who) {
  for (uint32_t rest = who; rest;) {
    uint32_t group = like(w, rest, w->value[lowest(rest)]);
    for (uint32_t lanes = group; lanes; lanes &= lanes - 1)
      w->result[lowest(lanes)] = group;
    rest &= ~group;
  }
}

static void give(const Frame *w, uint32_t who, uint64_t result) {
  for (uint32_t rest = who; rest; rest &= rest - 1)
    w->result[lowest(rest)] = result;
}

static void operate(const Frame *w, uint32_t kind, uint32_t who) {
  switch ((RtMeetKind)kind) {
  case RT_MEET_BLOCK:
  case RT_MEET_GRID:
  case RT_MEET_YIELD:
  case RT_MEET_WAIT:
  case RT_MEET_SYNC: break;
  case RT_MEET_SHFL_IDX:
  case RT_MEET_SHFL_UP:
  case RT_MEET_SHFL_DOWN:
  case RT_MEET_SHFL_XOR:
    if (who == UINT32_MAX)
      shuffle_all(w, kind);
    else
      shuffle(w, kind, who);
    break;
  case RT_MEET_ALL:
  case RT_MEET_ANY:
  case RT_MEET_EQ:
  case RT_MEET_BALLOT: give(w, who, vote(w, kind, who)); break;
  case RT_MEET_MATCH_ANY: match_any(w, who); break;
  case RT_MEET_MATCH_ALL: give(w, who, like(w, who, w->value[lowest(who)]) == who ? who : 0); break;
  case RT_MEET_ACTIVE: give(w, who, who); break;
  case RT_MEET_MATRIX: rt_matrix_operate(w->lane[0], w->value); break;
  }
}

/* --- one warp --- */

typedef struct Block {
  const RtHostLaunch *view;
  const RtMeetPoint *points;
  uint64_t number;
  Frame f;
} Block;

typedef struct Standing { /* how many threads of a block … */
  uint32_t ended, ready, at_block, at_grid, yielding, waiting;
} Standing;

static Block block_of(const RtHostLaunch *view, const RtMeetPoint *points, uint64_t number) {
  return (Block){view, points, number, frame_of(view)};
}

static bool is_warp_kind(uint32_t kind) { return kind >= RT_MEET_SYNC && kind != RT_MEET_WAIT; }

static inline bool all_are(const uint32_t *v, uint32_t n, uint32_t like) {
  uint32_t differ = 0;
  for (uint32_t k = 0; k < n; k++)
    differ |= v[k] ^ like;
  return !differ;
}

/* Of a warp's lanes; of a whole warp without a loop. */
static bool all_lanes_are(const Frame *w, const uint32_t *v, uint32_t like) {
  return w->n == WARP ? all_are(v, WARP, like) : all_are(v, w->n, like);
}

/* Does every lane name all there are, with one mask? Then they are one group. */
static bool names_all(const Frame *w) {
  return !(all_lanes(w->n) & ~w->mask[0]) && all_lanes_are(w, w->mask, w->mask[0]);
}

/* The lanes in `waiting` that are at an operation like lane's. */
static uint32_t group_of(const Block *b, const Frame *w, uint32_t waiting, uint32_t lane) {
  uint32_t group = 0, at = w->next[lane], kind = b->points[at].kind;
  for (uint32_t rest = waiting; rest; rest &= rest - 1) {
    uint32_t k = lowest(rest);
    bool same = kind == RT_MEET_ACTIVE || kind == RT_MEET_MATRIX
                    ? w->next[k] == at
                    : b->points[w->next[k]].kind == kind && w->mask[k] == w->mask[lane];
    group |= (uint32_t)same << k;
  }
  return group;
}

/* The lanes that a group still waits for. */
static uint32_t absent(const Block *b, const Frame *w, uint32_t group, uint32_t live) {
  uint32_t lane = lowest(group);
  return b->points[w->next[lane]].kind == RT_MEET_ACTIVE ? 0 : w->mask[lane] & live & ~group;
}

/* The lanes that have not ended, and of them those that wait at an operation of the warp. */
static uint32_t look(const Block *b, const Frame *w, Standing *s, uint32_t *waiting) {
  uint32_t live = 0;
  *waiting = 0;
  for (uint32_t k = 0; k < w->n; k++) {
    uint32_t next = w->next[k], kind = b->points[next].kind;
    if (!next) {
      s->ended++;
      continue;
    }
    live |= 1u << k;
    if (is_warp_kind(kind))
      *waiting |= 1u << k;
    else
      *(kind == RT_MEET_GRID    ? &s->at_grid
        : kind == RT_MEET_YIELD ? &s->yielding
        : kind == RT_MEET_WAIT  ? &s->waiting
                                : &s->at_block) += 1;
  }
  return live;
}

/* --- checked code --- */

static bool checks_sync(const Block *b) {
  return b->view->check && rt_check_kinds(b->view->check) & RT_CHECK_SYNC;
}

_Noreturn static void found(const Block *b, RtFinding finding, uint32_t site, uint32_t thread,
                            uint32_t other_site, uint32_t other) {
  rt_check_note(b->view->check, finding, 0, other_site, b->number, other);
  rt_host_trap(b->view, site, b->number, thread, thread % WARP, other % WARP, 0, thread / WARP);
}

static bool is_shuffle(uint32_t kind) {
  return kind >= RT_MEET_SHFL_IDX && kind <= RT_MEET_SHFL_XOR;
}

/* The value that a shuffle takes from a lane which takes no part is undefined. Where the mask does
 * not name the lane either, that is a mistake of a shuffle from a lane by its number: by a distance
 * such values are read where sums of part of a warp are made, and not used. */
static void check_sources(const Block *b, const Frame *w, uint32_t first, uint32_t at,
                          uint32_t who) {
  uint32_t kind = b->points[at].kind;
  if (!is_shuffle(kind) || !checks_sync(b))
    return;
  for (uint32_t rest = who; rest; rest &= rest - 1) {
    uint32_t lane = lowest(rest), from = source_lane(kind, lane, w->lane[lane]);
    bool named = from < WARP && w->mask[lane] >> from & 1;
    if (from >= WARP || (who >> from & 1) || !(named || kind == RT_MEET_SHFL_IDX))
      continue;
    if (!named)
      found(b, RT_FOUND_UNNAMED, b->points[at].site, first + lane, 0, first + from);
    uint32_t left = from < w->n ? rt_check_left(b->view->check, first + from) : 0;
    if (left || from >= w->n)
      found(b, left ? RT_FOUND_GONE : RT_FOUND_NO_LANE, b->points[at].site, first + lane,
            left ? left - 1 : 0, first + from);
  }
}

static void note_warp(const Block *b, uint32_t first, uint32_t who) {
  rt_wait_warp_met(rt_host_place(b->view), first);
  if (b->view->check)
    rt_check_warp(b->view->check, first, who);
}

/* All threads that have not ended are at barriers of the block or of the grid. */
static void check_barrier(const Block *b) {
  uint32_t waits = b->f.n, n = b->f.n;
  if (!checks_sync(b))
    return;
  for (uint32_t t = n; t-- > 0;)
    waits = b->f.next[t] ? t : waits;
  uint32_t site = b->points[b->f.next[waits]].site;
  for (uint32_t t = 0; t < n; t++) {
    uint32_t left = b->f.next[t] ? 0 : rt_check_left(b->view->check, t);
    if (left)
      found(b, RT_FOUND_LEFT, site, waits, left - 1, t);
    if (b->f.next[t] && b->points[b->f.next[t]].site != site)
      found(b, RT_FOUND_APART, site, waits, b->points[b->f.next[t]].site, t);
  }
}

/* site + 1: a lane that does not name itself. */
static void check_own(const Block *b, const Frame *w, uint32_t first, uint32_t group) {
  uint32_t lane = lowest(group), mask = w->mask[lane], kind = b->points[w->next[lane]].kind;
  uint32_t outside = kind == RT_MEET_ACTIVE ? 0 : group & ~mask;
  if (!outside)
    return;
  lane = lowest(outside);
  if (checks_sync(b))
    found(b, RT_FOUND_OUTSIDE, b->points[w->next[lane]].site, first + lane,
          b->points[w->next[lane]].site, first + lane);
  rt_host_trap(b->view, b->points[w->next[lane]].site + 1, b->number, first + lane, lane, mask, 0,
               first / WARP);
}

/* site + 1: fragments of matrices are those of 32 lanes. */
static void perform(const Block *b, const Frame *w, uint32_t first, uint32_t who) {
  uint32_t at = w->next[lowest(who)], kind = b->points[at].kind;
  if (kind == RT_MEET_MATRIX && who != UINT32_MAX)
    rt_host_trap(b->view, b->points[at].site + 1, b->number, first + lowest(who), lowest(who),
                 __builtin_popcount(who), 0, first / WARP);
  check_sources(b, w, first, at, who);
  operate(w, kind, who);
  note_warp(b, first, who);
}

/* All lanes there are at one operation, under one mask that names them all: the usual case, without
 * a look at each. */
static bool release_whole(const Block *b, const Frame *w, uint32_t first, Standing *s) {
  uint32_t at = w->next[0], kind = b->points[at].kind;
  if (!at || !is_warp_kind(kind) || !all_lanes_are(w, w->next, at) ||
      (kind != RT_MEET_ACTIVE && !names_all(w)))
    return false;
  perform(b, w, first, all_lanes(w->n));
  for (uint32_t k = 0; k < w->n; k++)
    w->next[k] |= RT_NEXT_READY;
  s->ready += w->n;
  return true;
}

static void release_warp(const Block *b, uint32_t first, Standing *s) {
  Frame w = warp_of(&b->f, first);
  if (release_whole(b, &w, first, s))
    return;
  uint32_t waiting, live = look(b, &w, s, &waiting);
  while (waiting) {
    uint32_t lane = lowest(waiting), group = group_of(b, &w, waiting, lane);
    check_own(b, &w, first, group);
    waiting &= ~group;
    if (absent(b, &w, group, live))
      continue;
    perform(b, &w, first, group);
    s->ready += (uint32_t)__builtin_popcount(group);
    for (uint32_t rest = group; rest; rest &= rest - 1)
      w.next[lowest(rest)] |= RT_NEXT_READY;
  }
}

/* --- a block --- */

static void report_warp(const Block *b, uint32_t first) {
  Frame w = warp_of(&b->f, first);
  Standing s = {0};
  uint32_t waiting, live = look(b, &w, &s, &waiting);
  if (!waiting)
    return;
  uint32_t lane = lowest(waiting), group = group_of(b, &w, waiting, lane),
           other = first + lowest(absent(b, &w, group, live));
  if (checks_sync(b))
    found(b, RT_FOUND_LANE, b->points[w.next[lane]].site, first + lane,
          b->points[b->f.next[other]].site, other);
  rt_host_trap(b->view, b->points[w.next[lane]].site, b->number, first + lane, lane, w.mask[lane],
               other - first, first / WARP);
}

/* --- waits --- */

static bool waits(const Block *b, uint32_t thread) {
  uint32_t next = b->f.next[thread];
  return !(next & RT_NEXT_READY) && b->points[next].kind == RT_MEET_WAIT;
}

/* Arrivals are counted before anybody goes on, whatever the order of the threads. */
static void begin_waits(const Block *b, RtPlace *p) {
  for (uint32_t t = 0; t < b->f.n; t++) {
    if (!waits(b, t))
      continue;
    RtMisuse m = rt_wait_begin(p, t, &b->f.mask[t], &b->f.value[t]);
    rt_wait_report(b->view, &m, b->points[b->f.next[t]].site, b->number, t);
  }
  RtMisuse m = rt_wait_begun(p);
  rt_wait_report(b->view, &m, 0, b->number, 0);
}

static void let_go(const Block *b, RtPlace *p, Standing *s) {
  for (uint32_t t = 0; s->waiting && t < b->f.n; t++)
    if (waits(b, t) && rt_wait_is_over(p, t, b->f.mask[t], b->f.value[t])) {
      b->f.next[t] |= RT_NEXT_READY;
      s->ready++;
      s->waiting--;
    }
}

static void end_waits(const Block *b, Standing *s) {
  if (!s->waiting)
    return;
  RtPlace *p = rt_host_place(b->view);
  if (s->ended)
    rt_wait_exited(p, b->f.next);
  begin_waits(b, p);
  let_go(b, p, s);
  if (!s->ready && s->waiting) {
    RtMisuse m = rt_wait_quiet(p);
    rt_wait_report(b->view, &m, 0, b->number, 0);
    let_go(b, p, s);
  }
  p->gives_up = p->quiet = false;
}

/* Does a thread wait for another block of the cluster? Then the block leaves. */
static bool leaves_to_wait(const Block *b, const RtMeetState *state) {
  const RtPlace *p = rt_host_place(b->view);
  for (uint32_t t = 0; t < b->f.n; t++)
    if (waits(b, t) && rt_wait_is_outside(p, b->f.mask[t])) {
      rt_host_waits(b->view, b->points[b->f.next[t]].site, t, b->f.mask[t], b->f.value[t],
                    state->votes);
      return true;
    }
  return false;
}

/* Nobody in the block can go on but threads that only try to wait. */
static bool gives_up(const Block *b, Standing *s) {
  if (!rt_wait_gives_up(rt_host_place(b->view)->cluster))
    return false;
  end_waits(b, s);
  return s->ready;
}

static void report_wait(const Block *b) {
  int64_t v[RT_TRAP_VALUES];
  for (uint32_t t = 0; t < b->f.n; t++)
    if (waits(b, t)) {
      const RtPlace *p = rt_host_place(b->view);
      uint32_t which = rt_wait_values(p, t, b->f.mask[t], b->f.value[t], v);
      rt_host_trap(b->view, b->points[b->f.next[t]].site + which, b->number, t, v[0], v[1], v[2],
                   v[3]);
    }
}

/* Nobody can go on: says who waits for whom. */
static void report(const Block *b) {
  for (uint32_t first = 0; first < b->f.n; first += WARP)
    report_warp(b, first);
  report_wait(b);
  for (uint32_t t = 0; t < b->f.n; t++)
    if (b->points[b->f.next[t]].kind == RT_MEET_GRID)
      rt_host_trap(b->view, b->points[b->f.next[t]].site, b->number, t, 0, 0, 0, 0);
}

/* Where all threads stand, as one number. */
static uint64_t standing_of(const Frame *f) {
  uint64_t h = 0x9E3779B97F4A7C15u;
  for (uint32_t t = 0; t < f->n; t++)
    h = (h ^ f->next[t]) * 0x9E3779B97F4A7C15u;
  return h;
}

static uint32_t yielders_go_on(const Block *b) {
  RtPlace *p = rt_host_place(b->view);
  uint32_t n = 0;
  for (uint32_t t = 0; t < b->f.n; t++)
    if (b->points[b->f.next[t] & ~(uint32_t)RT_NEXT_READY].kind == RT_MEET_YIELD) {
      if (p)
        rt_wait_met(p, t);
      b->f.next[t] |= RT_NEXT_READY;
      n++;
    }
  return n;
}

static uint32_t make_ready(const Frame *f) {
  uint32_t n = 0;
  for (uint32_t t = 0; t < f->n; t++) {
    n += f->next[t] != 0;
    f->next[t] |= f->next[t] ? RT_NEXT_READY : 0;
  }
  return n;
}

/* So many threads are ready: all, and for one segment? */
static uint32_t go_on(const Frame *f, uint32_t ready, RtMeetState *state) {
  state->cursor = 0;
  if (ready != f->n)
    return RT_GO_APART;
  return all_are(f->next, f->n, f->next[0]) ? f->next[0] & ~(uint32_t)RT_NEXT_READY : RT_GO_APART;
}

uint32_t rt_host_run_of_threads(const RtHostLaunch *view, RtMeetState *state) {
  Frame f = frame_of(view);
  uint32_t t = state->cursor, width = view->block[0];
  while (t < f.n && !(f.next[t] & RT_NEXT_READY))
    t++;
  if (t == f.n)
    return 0;
  uint32_t row = t / width, x = t - row * width, next = f.next[t], end = t + 1;
  while (end < t - x + width && f.next[end] == next)
    end++;
  state->cursor = end;
  state->first = t;
  state->count = end - t;
  state->at[0] = x, state->at[1] = row % view->block[1], state->at[2] = row / view->block[1];
  return next & ~(uint32_t)RT_NEXT_READY;
}

static uint32_t wait_for_grid(const Block *b) {
  uint32_t t = 0;
  while (!b->f.next[t])
    t++;
  rt_host_wait_for_grid(b->view, b->points[b->f.next[t]].site, b->number, t);
  return 0;
}

/* A thread that has not ended: one that goes round waiting, if there is one. */
static void look_late(const Block *b) {
  uint32_t found = RT_NO_THREAD, site = RT_NO_SITE;
  for (uint32_t t = 0; t < b->f.n; t++) {
    const RtMeetPoint *p = &b->points[b->f.next[t] & ~(uint32_t)RT_NEXT_READY];
    if (!p->kind && !p->site)
      continue; /* it has ended, or waits at a barrier, which has no site */
    if (found == RT_NO_THREAD || p->kind == RT_MEET_YIELD)
      found = t, site = p->site;
    if (p->kind == RT_MEET_YIELD)
      break;
  }
  rt_host_look_late(b->view, site, b->number, found);
}

uint32_t rt_host_release(const RtHostLaunch *view, const RtMeetPoint *points, uint64_t block,
                         RtMeetState *state) {
  Block b = block_of(view, points, block);
  Standing s = {0};
  if (rt_host_is_late(view))
    look_late(&b);
  for (uint32_t first = 0; first < b.f.n; first += WARP)
    release_warp(&b, first, &s);
  end_waits(&b, &s);
  if (s.yielding && !s.ready && rt_host_yields(view, standing_of(&b.f), state->votes))
    return 0;
  if (s.yielding)
    s.ready += yielders_go_on(&b);
  if (s.ready)
    return go_on(&b.f, s.ready, state);
  uint32_t live = b.f.n - s.ended;
  if (!live)
    return 0;
  if (s.at_grid + s.at_block == live)
    check_barrier(&b);
  if (s.at_grid == live)
    return wait_for_grid(&b);
  if (s.waiting && leaves_to_wait(&b, state))
    return 0;
  if (s.waiting && gives_up(&b, &s))
    return go_on(&b.f, s.ready, state);
  if (s.at_block != live)
    report(&b);
  if (view->check)
    rt_check_barrier(view);
  rt_wait_all_met(rt_host_place(view));
  uint32_t *votes = state->votes;
  votes[0] = votes[2], votes[1] = votes[3];
  votes[2] = votes[3] = 0;
  return go_on(&b.f, make_ready(&b.f), state);
}

uint32_t rt_host_resume(const RtHostLaunch *view, const RtMeetPoint *points, RtMeetState *state) {
  uint64_t number = 0;
  Block b = block_of(view, points, 0);
  rt_host_votes(view, state->votes);
  if (rt_host_waited(view, &number))
    return rt_host_release(view, points, number, state);
  uint32_t yielders = yielders_go_on(&b);
  if (!yielders)
    rt_wait_all_met(rt_host_place(view));
  return go_on(&b.f, yielders ? yielders : make_ready(&b.f), state);
}

uint32_t rt_host_meet(const RtHostLaunch *view, const RtMeetPoint *points, uint64_t block,
                      uint32_t at, RtMeetState *state) {
  Frame f = frame_of(view);
  uint32_t kind = points[at].kind;
  Block b = block_of(view, points, block);
  bool together = is_warp_kind(kind) && (kind != RT_MEET_MATRIX || f.n % WARP == 0);
  if (kind == RT_MEET_BLOCK) { /* all threads of the block are here */
    if (view->check)
      rt_check_barrier(view);
    rt_wait_all_met(rt_host_place(view));
    return at;
  }
  for (uint32_t first = 0; together && first < f.n; first += WARP) {
    Frame w = warp_of(&f, first);
    together = kind == RT_MEET_ACTIVE || names_all(&w);
  }
  if (!together) {
    for (uint32_t t = 0; t < f.n; t++)
      f.next[t] = at;
    return rt_host_release(view, points, block, state);
  }
  for (uint32_t first = 0; first < f.n; first += WARP) {
    Frame w = warp_of(&f, first);
    check_sources(&b, &w, first, at, all_lanes(w.n));
    operate(&w, kind, all_lanes(w.n));
    note_warp(&b, first, all_lanes(w.n));
  }
  return at;
}
