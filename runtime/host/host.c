/* Host: runs the blocks of a launch on this process's CPUs.
 *
 * In: compiled code, a checked configuration, the parameter block. Out: all blocks have run, or
 * RT_TRAPPED and the first trap.
 *
 * Blocks are handed out in pieces (shares.h), sized by the time that they take, with single blocks
 * at the end. The calling thread takes part, and begins alone: a launch that is done within
 * CALLER_ALONE_NS never wakes another thread. Where the kernel's last launch says that this one
 * takes longer, the others are asked at once.
 *
 * Blocks that may leave compiled code to wait for others have places (block_places.h). With the
 * grid's barrier they run in phases, from one barrier to the next: a phase is over when every block
 * has come to the barrier or to its end.
 *
 * A launch is stopped by a trap, or where one of Python's signal handlers raises. The calling
 * thread asks for that now and then: between blocks, while it waits for helpers, and at the
 * safepoints of compiled code (safepoint.h).
 *
 * Nothing here holds a lock while compiled code runs, so a trap may leave it by longjmp. The
 * floating-point environment is left as it is. */
#include "runtime/host/host.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/host/block_places.h"
#include "runtime/host/check.h"
#include "runtime/host/copies.h"
#include "runtime/host/meet.h"
#include "runtime/host/parts.h"
#include "runtime/host/pool.h"
#include "runtime/host/safepoint.h"
#include "runtime/host/shares.h"
#include "runtime/host/sums.h"
#include "runtime/host/waits.h"
#include "runtime/host/workers.h"
#include "runtime/memory/unset.h"

enum {
  CALLER_ALONE_NS = 15000, /* about what waking a thread costs */
  SURELY_ALONE_NS = 30000, /* a launch that should take no longer asks nobody */
  /* of a kernel that has not run before: a launch of more logical threads asks for help at once */
  CALLER_ALONE_THREADS = 8192,
  ASK_NS = 50000000, /* from one rt_host_ask to the next */
  /* what a thread takes at once should not last much longer */
  BATCH_NS = 10000000,
  GRID_BYTES = 1 << 30, /* memory of all blocks of a launch with the grid's barrier */
  /* blocks that all wait for what none of them does: so many turns without a pause, the pause
   * then */
  IDLE_TURNS = 256,
  IDLE_NS = 50000,
  UNPLACED_NS = 250000000, /* from the end of a timeout until a stop need not name a line */
  STACK_BYTES = 8 << 20,   /* of a thread made for one launch, at least */
};

typedef struct Launch {
  RtPoolJob job; /* first: the pool's view */
  const RtHostCode *code;
  RtHostLaunch view; /* what every worker's own view starts from */
  RtTrap *trap;
  size_t shared_bytes, frame_bytes; /* a worker */
  RtSums sums;                      /* arrays that are each worker's own */
  uint64_t total;
  uint32_t parts;   /* so many of these blocks are one of those that were asked for (parts.h) */
  RtShares *shares; /* of the blocks */
  unsigned workers;
  uint64_t block_ns;    /* what a block took in the kernel's last launch; 0: not known */
  uint64_t began, took; /* took: what the calling thread's blocks have, so far as it looked */
  uint64_t ran;         /* so many blocks */
  RtPlaces *places;     /* where blocks may leave compiled code to wait, else NULL */
  size_t arrivals_at;   /* in a frame: RtPlace.arrived_in */
  RtCheckBlock
      *checked[RT_CHECK_TURNS]; /* of a checked launch without places: the block that runs */
  _Atomic bool stop;            /* set once */
  RtDeadline deadline;          /* of a launch with a timeout, of so many ns */
  uint64_t timeout;
  const RtWorker *caller;
  uint64_t asked;      /* when the calling thread last did */
  bool interrupted;    /* … and was told to stop */
  bool no_memory;      /* for what a checked launch notes */
  bool short_of_notes; /* … in its middle */
  bool away; /* runs on a thread of its own, for which the calling one waits, and asks meanwhile */
} Launch;

static int (*_Atomic ask_first)(void);
void rt_host_ask(int (*ask)(void)) { ask_first = ask; }

/* --- traps --- */

static void record(const Launch *l, const RtHostLaunch *view, uint32_t site, uint64_t block,
                   uint32_t thread, const int64_t *values) {
  RtTrap *t = l->trap;
  uint32_t part = (uint32_t)(block % view->grid[0]);
  t->site = site;
  t->block[0] = part / l->parts;
  t->block[1] = (uint32_t)(block / view->grid[0] % view->grid[1]);
  t->block[2] = (uint32_t)(block / view->grid[0] / view->grid[1]);
  t->thread[0] = part % l->parts * view->block[0] + thread % view->block[0];
  t->thread[1] = thread / view->block[0] % view->block[1];
  t->thread[2] = thread / view->block[0] / view->block[1];
  memcpy(t->values, values, sizeof t->values);
  t->finding = RT_FOUND_NONE;
  if (view->check)
    rt_check_fill(view->check, t, view, thread);
}

/* --- blocks --- */

/* A worker of the calling thread, ready for the launch; NULL if there is no memory, or the thread's
 * stack is too short. */
static RtWorker *enter(Launch *l, unsigned number, bool *is_short) {
  RtWorker *w = rt_worker_enter(l->code->stack_bytes, l->shared_bytes, l->frame_bytes, is_short);
  if (!w)
    return NULL;
  w->launch = l;
  w->place = NULL;
  w->taker = (RtTaker){.share = number};
  w->view = l->view;
  w->view.shared = w->shared.at;
  w->view.frame = w->frame.at;
  w->view.worker = w;
  w->view.stack_end = rt_worker_stack_end(w, l->code->stack_bytes);
  void *sums = l->sums.bytes ? rt_worker_reserve(&w->sums, l->sums.bytes) : NULL;
  if (sums) {
    w->view.params = rt_sums_begin(&l->sums, sums);
    w->view.own_sums = 1;
    w->gave = l->asked;
  }
  return w;
}

/* The view of checked code has row_threads in that place. */
static bool has_sums(const Launch *l, const RtWorker *w) {
  return l->sums.bytes && w->view.own_sums;
}

/* The launch's arrays get what this worker has added to its own. */
static void give_sums(const Launch *l, RtWorker *w, uint64_t time) {
  if (has_sums(l, w))
    rt_sums_give(&l->sums, w->sums.at, w->taker.share);
  w->gave = time;
}

static void leave(const Launch *l, RtWorker *w) {
  give_sums(l, w, 0);
  rt_worker_leave(w);
}

static void stop(Launch *l) {
  if (!atomic_exchange_explicit(&l->stop, true, memory_order_acq_rel))
    rt_safepoint_stop(1);
}

static bool is_stopping(Launch *l) { return atomic_load_explicit(&l->stop, memory_order_acquire); }

static bool is_late(Launch *l) {
  return atomic_load_explicit(&l->deadline.passed, memory_order_relaxed);
}

static uint64_t now(void) { return (uint64_t)rt_clock_ns(); }

/* The launch ends, because of its timeout, with a thread at this site: the first that says so. */
static void stop_late(Launch *l, uint32_t site, uint64_t block, uint32_t thread) {
  RtTrap *t = l->trap;
  uint32_t none = 0;
  if (__atomic_compare_exchange_n(&t->state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    const int64_t values[RT_TRAP_VALUES] = {(int64_t)l->timeout};
    record(l, &l->view, site, block, thread == RT_NO_THREAD ? 0 : thread, values);
    if (thread == RT_NO_THREAD)
      t->thread[0] = RT_NO_THREAD;
    t->finding = RT_FOUND_LATE;
    __atomic_store_n(&t->state, 2, __ATOMIC_RELEASE);
  }
  stop(l);
}

/* … if its timeout has passed. Who does not know a site lets those who might go first. */
static void look_late(Launch *l, uint32_t site, uint64_t block, uint32_t thread) {
  if (is_late(l) && !is_stopping(l) &&
      (site != RT_NO_SITE || now() - l->deadline.at >= UNPLACED_NS))
    stop_late(l, site, block, thread);
}

/* Asked wherever a worker is not in compiled code. */
static bool stopped(Launch *l) {
  look_late(l, RT_NO_SITE, 0, RT_NO_THREAD);
  return is_stopping(l);
}

/* A worker takes all its blocks at once. */
static bool takes_all(const Launch *l) { return l->code->strides && !l->code->checks; }

static bool no_memory(Launch *l) {
  l->no_memory = true;
  stop(l);
  return false;
}

/* A checked launch notes which block runs; false: there is no memory. */
static bool enter_checked(Launch *l, RtWorker *w, RtCheckBlock **at, uint64_t block, bool begins) {
  if (!w->view.check)
    return true;
  size_t shared = (size_t)l->code->static_shared + w->view.dynamic_shared;
  if (begins && !rt_check_begin(w->view.check, at, block, &w->view, shared))
    return no_memory(l);
  if (!begins)
    rt_check_resume(w->view.check, *at);
  return true;
}

/* A block, up to its end or to where it waits; false: there is no memory. */
static bool run_block(Launch *l, RtWorker *w, RtPlace *p) {
  assert(p->block < l->total);
  w->place = p;
  p->waited = p->state == RT_PLACE_WAITS;
  p->state = RT_PLACE_ENDED;
  p->moved = false;
  w->view.phase = p->times;
  w->view.shared = p->shared;
  w->view.frame = p->frame;
  if (!enter_checked(l, w, &p->check, p->block, p->times == 0))
    return false;
  l->code->entry(&w->view, p->block, p->block + 1);
  if (p->state == RT_PLACE_ENDED && l->code->waits) {
    rt_copies_end(&w->view, p);
    rt_wait_end(&w->view, p);
  } else if (p->state != RT_PLACE_WAITS) {
    p->mapped.in = 0; /* at the grid's barrier, or for what others store */
  }
  return true;
}

/* --- clusters --- */

static uint64_t product(const uint32_t n[3]) { return (uint64_t)n[0] * n[1] * n[2]; }

/* One turn of each block of a cluster that has not ended; has any got further? Some that wait for
 * others of the cluster, and some that yield. */
static bool run_turn(Launch *l, RtWorker *w, RtPlace *p, RtPlace **waits, RtPlace **yields) {
  bool moved = false;
  *waits = *yields = NULL;
  for (uint32_t k = 0; k < l->places->members && !stopped(l); k++) {
    RtPlace *m = rt_place_member(l->places, p, k);
    if (m->times && m->state == RT_PLACE_ENDED)
      continue;
    uint32_t phase = p->own.phase, arrived = p->own.arrived;
    uint64_t events = p->own.events;
    if (!run_block(l, w, m))
      return false;
    moved |= !m->times++ || m->moved || m->state == RT_PLACE_ENDED || phase != p->own.phase ||
             arrived != p->own.arrived || events != p->own.events;
    if (m->state == RT_PLACE_ENDED)
      rt_wait_exited(m, NULL);
    *waits = !*waits && m->state == RT_PLACE_WAITS ? m : *waits;
    *yields = m->state == RT_PLACE_YIELDS ? m : *yields;
  }
  return moved;
}

/* The blocks of a cluster in turns, until all have ended or none gets further. */
static void run_cluster(Launch *l, RtWorker *w, RtPlace *p) {
  RtPlace *waits, *yields;
  p->moved = false;
  do {
    while (run_turn(l, w, p, &waits, &yields))
      p->moved = true;
  } while (waits && !yields && !stopped(l) && rt_wait_gives_up(&p->own));
  if (waits && !yields && !stopped(l)) {
    int64_t v[RT_TRAP_VALUES];
    uint32_t which = rt_wait_values(waits, waits->thread, waits->what, waits->operand, v);
    rt_host_trap(&w->view, waits->site + which, waits->block, waits->thread, v[0], v[1], v[2],
                 v[3]);
  }
  p->state = yields || waits ? RT_PLACE_YIELDS : RT_PLACE_ENDED;
}

/* One block, or cluster, up to its end or to where it waits; false: there is none for this
 * thread. */
static bool run_place(Launch *l, RtWorker *w) {
  unsigned idle;
  RtPlace *p = rt_places_take(l->places, &idle);
  if (!p)
    return false;
  if (idle >
      IDLE_TURNS) /* another launch may do what they wait for, or the program's own threads */
    nanosleep(&(struct timespec){0, IDLE_NS}, NULL);
  if (l->code->waits && !p->times)
    rt_wait_begin_place(l->places, &l->view, l->arrivals_at, p);
  if (l->places->members > 1)
    run_cluster(l, w, p);
  else if (!run_block(l, w, p))
    return false;
  rt_places_put(l->places, p);
  return true;
}

static void ask_at(Launch *l, uint64_t time) {
  int (*ask)(void) = ask_first;
  l->asked = time;
  if (l->away)
    return;
  rt_safepoint_passed();
  if (!ask || !ask())
    return;
  l->interrupted = true;
  stop(l);
}

/* So many joined blocks are whole vectors. */
static uint64_t whole_vectors(uint32_t width) {
  enum { VECTOR = 32 };
  uint32_t part = width & -width;
  return part < VECTOR ? VECTOR / part : 1;
}

/* Blocks of a checked launch: neighbours along x that run row by row, so that rows of an array are
 * read in long pieces, or one. false: there is no memory. */
static bool run_checked(Launch *l, RtWorker *w, uint64_t first, uint64_t most, uint64_t *group) {
  enum { ROW = 1024, LONG_ROW = 1 << 14 }; /* threads */
  uint32_t width = l->view.block[0];
  bool joined = l->code->turns == RT_TURNS_JOINED,
       is_long = joined && (l->code->strides || l->view.block[1] * l->view.block[2] == 1);
  uint64_t left = l->view.grid[0] - first % l->view.grid[0], n = (is_long ? LONG_ROW : ROW) / width;
  n = n < most ? n : most;
  n = n < left ? n : left;
  n = n < RT_CHECK_TURNS || joined ? n : RT_CHECK_TURNS;
  if (joined && n > whole_vectors(width))
    n -= n % whole_vectors(width);
  bool rows = l->view.block[1] * l->view.block[2] > 1 || l->code->strides || joined;
  *group = n = n && rows && l->code->turns ? n : 1;
  if (joined) {
    w->view.row_threads = (uint32_t)n * width;
    if (!enter_checked(l, w, &l->checked[0], first, true))
      return false;
    if (!rt_check_join(w->view.check, &w->view))
      return no_memory(l);
    l->code->entry(&w->view, first, first + n);
    return true;
  }
  for (uint64_t k = 0; k < n; k++)
    if (!enter_checked(l, w, &l->checked[k], first + k, true))
      return false;
  rt_check_take_turns(w->view.check, l->checked, first);
  l->code->entry(&w->view, first, first + n);
  return true;
}

/* Up to `most` blocks; false: there are none left, or none for this thread. */
static bool run_batch(Launch *l, RtWorker *w, uint64_t most) {
  uint64_t first, n;
  if (l->places)
    return run_place(l, w);
  if (l->code->turns == RT_TURNS_JOINED) {
    uint64_t by = whole_vectors(l->view.block[0]);
    most = (most + by - 1) / by * by;
  }
  n = rt_shares_take(l->shares, &w->taker, takes_all(l) ? UINT64_MAX : most, &first);
  if (n && !w->view.check)
    l->code->entry(&w->view, first, first + n);
  for (uint64_t k = first, group; n && w->view.check && k < first + n && !stopped(l); k += group)
    if (!run_checked(l, w, k, first + n - k, &group))
      return false;
  return n != 0;
}

static bool all_taken(Launch *l) {
  return !l->places && l->shares->count == 1 && !rt_shares_left(l->shares);
}

/* Long pieces are faster than short ones: as fast as it may, a batch grows to what lasts BATCH_NS.
 * Compiled code looks seldom whether it is to stop. */
static uint64_t next_batch(uint64_t most, uint64_t took, uint64_t total) {
  if (took >= BATCH_NS)
    return most > 1 ? most / 2 : 1;
  uint64_t by = took < BATCH_NS / 8 ? 8 : 2;
  return most < total ? most * by : most;
}

/* Who looks at the arrays of a long launch sees them grow. */
static void give_now_and_then(const Launch *l, RtWorker *w, uint64_t time) {
  if (has_sums(l, w) && time - w->gave >= BATCH_NS)
    give_sums(l, w, time);
}

/* A helper: until none is left or a thread traps. */
static void run_rest(Launch *l, RtWorker *w) {
  if (_setjmp(w->out))
    return; /* a trap of this worker: stop is set */
  uint64_t begin = now();
  for (uint64_t most = 1; !stopped(l) && run_batch(l, w, most);) {
    uint64_t time = now();
    give_now_and_then(l, w, time);
    most = next_batch(most, time - begin, l->total);
    begin = time;
  }
}

/* The calling thread: the same. False once the clock passes `until` (0: no limit): blocks may be
 * left. */
static bool run_blocks(Launch *l, RtWorker *w, uint64_t until) {
  if (_setjmp(w->out))
    return true;
  uint64_t begin = l->asked;
  for (uint64_t most = 1; !stopped(l) && run_batch(l, w, most);) {
    if (all_taken(l))
      break;
    uint64_t time = now();
    l->took = time - l->began;
    l->ran = w->taker.taken;
    give_now_and_then(l, w, time);
    if (until && time >= until)
      return false;
    if (time - l->asked >= ASK_NS)
      ask_at(l, time);
    most = next_batch(most, time - begin, l->total);
    begin = time;
  }
  return true;
}

static void help(RtPoolJob *job, unsigned number) {
  Launch *l = (Launch *)job;
  bool is_short;
  RtWorker *w = enter(l, number, &is_short); /* without memory the others do it */
  if (!w)
    return;
  run_rest(l, w);
  leave(l, w);
}

static bool run_alone(Launch *l, RtWorker *w, uint64_t threads) {
  if (l->workers == 1 || l->total == 1)
    return run_blocks(l, w, 0);
  bool is_known = l->block_ns && !l->places;
  bool is_long = is_known ? l->block_ns > SURELY_ALONE_NS / l->total
                          : threads > CALLER_ALONE_THREADS;
  if (is_long)
    return false;
  return run_blocks(l, w, l->asked + (is_known ? SURELY_ALONE_NS : CALLER_ALONE_NS));
}

static void run_all(Launch *l, RtWorker *w, uint64_t threads) {
  if (run_alone(l, w, threads))
    return;
  uint64_t left = l->places ? rt_places_ready(l->places) : rt_shares_left(l->shares);
  if (!left)
    return;
  unsigned helpers = l->workers - 1;
  if (!l->places)
    rt_shares_split(l->shares, l->workers, takes_all(l));
  rt_pool_offer(&l->job, left < helpers ? (unsigned)left : helpers);
  run_blocks(l, w, 0);
  while (!rt_pool_close(&l->job, ASK_NS))
    ask_at(l, now());
}

static uint64_t frame_bytes(const RtHostCode *code, uint64_t threads) {
  return code->frame_bytes *
         ((threads + RT_FRAME_THREADS - 1) / RT_FRAME_THREADS * RT_FRAME_THREADS);
}

/* --- blocks that wait for one another --- */

uint32_t rt_host_grid_blocks(const RtHostCode *code, uint64_t threads, uint32_t dynamic_shared) {
  size_t shared = (size_t)code->static_shared + dynamic_shared;
  uint64_t n = GRID_BYTES / rt_place_bytes(shared, (size_t)frame_bytes(code, threads));
  return n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

/* Some blocks wait and others have ended: as the first that waits would have it. */
static void trap_in_vain(Launch *l, const RtPlace *first) {
  bool says_who = l->view.check && rt_check_note_ended(l->view.check);
  record(l, &l->view, first->site + !says_who, first->block, first->thread,
         (const int64_t[RT_TRAP_VALUES]){(int64_t)l->places->ended, (int64_t)l->total});
  l->trap->state = 2;
  stop(l);
}

static void run_phases(Launch *l, RtWorker *w, uint64_t threads) {
  for (uint64_t waiting = 1; waiting && !stopped(l);) {
    const RtPlace *first = NULL;
    l->job = (RtPoolJob){.work = help};
    run_all(l, w, threads);
    waiting = stopped(l) ? 0 : rt_places_meet(l->places, &first);
    if (l->view.check)
      rt_check_grid(l->view.check);
    if (first)
      trap_in_vain(l, first);
  }
}

/* --- a launch --- */

/* All of it on this thread, with helpers. False: there is no memory, or *is_short. */
static bool run_here(Launch *l, bool *is_short) {
  uint64_t threads = product(l->view.block);
  RtWorker *w = enter(l, 0, is_short);
  if (!w)
    return false;
  l->caller = w;
  uint64_t outer = rt_safepoint_begin();
  threads = threads > UINT64_MAX / l->total ? UINT64_MAX : threads * l->total;
  if (l->places)
    run_phases(l, w, threads);
  else
    run_all(l, w, threads);
  rt_safepoint_end(outer);
  leave(l, w);
  return true;
}

/* --- on a thread of its own --- */

typedef struct Away {
  Launch *launch;
  bool ran;
} Away;

static void *run_there(void *p) {
  Away *a = p;
  bool is_short;
  a->ran = run_here(a->launch, &is_short);
  return NULL;
}

static struct timespec soon(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ASK_NS;
  if (t.tv_nsec >= 1000000000)
    t.tv_sec++, t.tv_nsec -= 1000000000;
  return t;
}

/* The calling thread asks for the handlers of signals, as it does where it takes part. */
static void wait_for(pthread_t thread, Launch *l) {
  int (*ask)(void) = ask_first;
  struct timespec until = soon();
  while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT) {
    if (!l->interrupted && ask && ask()) {
      l->interrupted = true;
      stop(l);
    }
    until = soon();
  }
}

static bool run_away(Launch *l) {
  Away a = {l, false};
  pthread_attr_t how;
  pthread_t thread;
  size_t need = (size_t)l->code->stack_bytes + 2 * RT_STACK_REST;
  if (pthread_attr_init(&how) != 0)
    return false;
  l->away = true;
  pthread_attr_setstacksize(&how, need > STACK_BYTES ? (need + 4095) / 4096 * 4096 : STACK_BYTES);
  sigset_t old;
  rt_pool_block_signals(&old);
  bool made = pthread_create(&thread, &how, run_there, &a) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&how);
  if (made)
    wait_for(thread, l);
  return a.ran;
}

static RtStatus run(Launch *l) {
  bool is_short;
  if (l->timeout && !rt_deadline_set(&l->deadline, l->timeout))
    return rt_fail(RT_BAD_LAUNCH, "launch without timeout=, or let the process have more threads",
                   "no thread could be started for the clock of the launch's timeout");
  bool ran = run_here(l, &is_short) || (is_short && run_away(l));
  if (l->timeout) {
    if (is_late(l) && !is_stopping(l))
      stop_late(l, RT_NO_SITE, 0, RT_NO_THREAD);
    rt_deadline_clear(&l->deadline);
  }
  if (is_stopping(l)) /* whoever stopped it: nobody is in it any more */
    rt_safepoint_stop(-1);
  return !ran || l->no_memory ? RT_NO_MEMORY
         : l->interrupted     ? RT_INTERRUPTED
         : is_stopping(l)     ? RT_TRAPPED
                              : RT_OK;
}

static void split_blocks(Launch *l) {
  l->parts = rt_parts_of(l->code, l->total, l->view.block[0], l->workers, l->block_ns);
  l->total *= l->parts, l->view.grid[0] *= l->parts;
  l->view.block[0] /= l->parts, l->block_ns /= l->parts;
}

/* One thread runs all blocks of checked code. What other code writes is not known: it counts as
 * written. */
static bool open_checked(Launch *l) {
  uint32_t checks = l->code->checks;
  if (!(checks & RT_CHECK_INIT) && rt_unset_is_watched())
    rt_unset_forget();
  if (!checks)
    return true;
  l->workers = 1;
  l->view.check = rt_check_open(checks, l->view.block[0], l->code->turns == RT_TURNS_JOINED);
  return l->view.check != NULL;
}

static RtStatus fail_short(void) {
  return rt_fail(RT_NO_MEMORY, "check it with smaller arrays, or launch without check=",
                 "no memory for what a checked launch notes");
}

/* What a block of this launch took, for the next one. */
static void keep_pace(const Launch *l, _Atomic uint32_t *block_ns) {
  if (!l->ran || l->places)
    return;
  uint64_t each = l->took * l->parts / l->ran;
  atomic_store_explicit(block_ns,
                        each > UINT32_MAX ? UINT32_MAX
                        : each            ? (uint32_t)each
                                          : 1,
                        memory_order_relaxed);
}

RtStatus rt_host_run(const RtHostCode *code, _Atomic uint32_t *block_ns, const RtConfig *config,
                     const void *params, RtTrap *trap) {
  RtTrap own;
  if (!trap)
    trap = &own;
  trap->state = 0;
  uint64_t threads = product(config->block);
  Launch l = {.job.work = help,
              .code = code,
              .trap = trap,
              .total = product(config->grid),
              .parts = 1,
              .workers = rt_pool_threads(),
              .block_ns = atomic_load_explicit(block_ns, memory_order_relaxed),
              .timeout = config->timeout};
  l.shared_bytes = (size_t)code->static_shared + config->dynamic_shared;
  l.frame_bytes = (size_t)frame_bytes(code, threads);
  l.began = l.asked = l.total > 1 ? now() : 0;
  l.view = (RtHostLaunch){.params = params, .dynamic_shared = config->dynamic_shared};
  memcpy(l.view.grid, config->grid, sizeof l.view.grid);
  memcpy(l.view.block, config->block, sizeof l.view.block);
  if (!l.total || !threads)
    return RT_OK;
  if (code->waits && code->checks & RT_CHECK_BLOCKS)
    return rt_fail(RT_BAD_ARGUMENT, "launch this kernel without check=, or with check=\"nan\"",
                   "check= does not follow named barriers, clusters and asynchronous copies");
  if (!open_checked(&l))
    return fail_short();
  RtStatus status = RT_NO_MEMORY;
  for (int k = 0; k < 3; k++)
    l.view.cluster[k] = config->cluster[k] ? config->cluster[k] : 1;
  if (!code->meets_grid && !code->yields && !code->waits) {
    split_blocks(&l);
    uint64_t workers = l.workers < l.total ? l.workers : l.total;
    RtShares shares;
    l.shares = &shares;
    rt_shares_open(&shares, l.total, l.view.grid[0], l.workers, takes_all(&l));
    if (code->narrays)
      l.sums = rt_sums_of(code, params, threads / l.parts * l.total, workers);
    status = run(&l);
    keep_pace(&l, block_ns);
  } else {
    RtPlaces places;
    l.places = &places;
    uint32_t members = code->waits ? (uint32_t)product(l.view.cluster) : 1;
    l.arrivals_at = l.frame_bytes;
    l.frame_bytes += code->waits ? threads * RT_WAIT_WORDS * sizeof(uint32_t) : 0;
    bool ready = rt_places_open(&places, l.shared_bytes, l.frame_bytes, l.total / members,
                                code->meets_grid, members);
    l.shared_bytes = l.frame_bytes = 0;
    if (ready)
      status = run(&l);
    rt_places_close(&places);
  }
  if (l.view.check && status == RT_OK && rt_check_ends(l.view.check, trap, &l.view))
    status = RT_TRAPPED;
  bool is_short = l.view.check && rt_check_is_short(l.view.check) && status == RT_OK;
  if (l.view.check)
    rt_check_close(l.view.check);
  if (is_short || (status == RT_NO_MEMORY && l.short_of_notes))
    return fail_short();
  if (status != RT_NO_MEMORY)
    return status;
  return rt_fail(
      RT_NO_MEMORY, "use smaller blocks, smaller local arrays, or less shared memory",
      "no memory for a block of %llu threads: %zu bytes of shared memory, %zu bytes for threads that wait at a barrier, %zu bytes of stack",
      (unsigned long long)threads, (size_t)code->static_shared + config->dynamic_shared,
      (size_t)frame_bytes(code, threads), (size_t)code->stack_bytes);
}

unsigned rt_host_threads(void) { return rt_pool_threads(); }

/* --- what compiled code calls --- */

void rt_host_wait_for_grid(const RtHostLaunch *view, uint32_t site, uint64_t block,
                           uint32_t thread) {
  RtPlace *p = ((const RtWorker *)view->worker)->place;
  (void)block;
  p->state = RT_PLACE_AT_GRID;
  p->site = site, p->thread = thread;
}

bool rt_host_yields(const RtHostLaunch *view, uint64_t standing, const uint32_t votes[4]) {
  RtPlace *p = ((const RtWorker *)view->worker)->place;
  if (p->standing != standing) {
    p->standing = standing;
    p->moved = true;
    return false;
  }
  p->state = RT_PLACE_YIELDS;
  memcpy(p->votes, votes, sizeof p->votes);
  return true;
}

void rt_host_waits(const RtHostLaunch *view, uint32_t site, uint32_t thread, uint32_t what,
                   uint64_t operand, const uint32_t votes[4]) {
  RtPlace *p = rt_host_place(view);
  p->state = RT_PLACE_WAITS;
  p->what = what, p->operand = operand;
  p->site = site, p->thread = thread;
  memcpy(p->votes, votes, sizeof p->votes);
}

bool rt_host_waited(const RtHostLaunch *view, uint64_t *block) {
  const RtPlace *p = rt_host_place(view);
  *block = p->block;
  return p->waited;
}

RtPlace *rt_host_place(const RtHostLaunch *view) { return ((const RtWorker *)view->worker)->place; }

void rt_host_votes(const RtHostLaunch *view, uint32_t votes[4]) {
  memcpy(votes, ((const RtWorker *)view->worker)->place->votes, 4 * sizeof *votes);
}

bool rt_host_is_late(const RtHostLaunch *view) {
  return is_late(((const RtWorker *)view->worker)->launch);
}

void rt_host_look_late(const RtHostLaunch *view, uint32_t site, uint64_t block, uint32_t thread) {
  RtWorker *w = view->worker;
  look_late(w->launch, site, block, thread);
  if (is_stopping(w->launch))
    _longjmp(w->out, 1);
}

void rt_host_at_safepoint_now(uint32_t site) {
  RtWorker *w = rt_worker_here();
  Launch *l = w->launch;
  uint64_t time = w == l->caller ? now() : 0;
  if (time && time - l->asked >= ASK_NS / 2)
    ask_at(l, time);
  look_late(l, site, 0, RT_NO_THREAD);
  if (is_stopping(l))
    _longjmp(w->out, 1);
}

_Noreturn void rt_host_stop_short(const RtHostLaunch *view) {
  RtWorker *w = view->worker;
  w->launch->short_of_notes = true;
  no_memory(w->launch);
  _longjmp(w->out, 1);
}

_Noreturn void rt_host_trap(const RtHostLaunch *view, uint32_t site, uint64_t block,
                            uint32_t thread, int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  RtWorker *w = view->worker;
  RtTrap *trap = w->launch->trap;
  uint32_t none = 0;
  if (__atomic_compare_exchange_n(&trap->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    record(w->launch, view, site, block, thread, (const int64_t[]){v0, v1, v2, v3});
    __atomic_store_n(&trap->state, 2, __ATOMIC_RELEASE);
  }
  stop(w->launch);
  _longjmp(w->out, 1);
}
