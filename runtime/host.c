/* Host: runs the blocks of a launch on this process's CPUs.
 *
 * In: compiled code, a checked configuration, the parameter block. Out: all blocks have run, or RT_TRAPPED and the first trap.
 * Blocks are handed out in chunks by an atomic counter: by the time that they take, single blocks at the end. The calling thread takes part, and
 * begins alone: a launch that is done within CALLER_ALONE_NS never wakes another thread.
 * Blocks of a kernel with the grid's barrier have memory of their own and run in phases, from one barrier to the next: a phase is over
 * when every block has come to the barrier or to its end.
 * Nothing here holds a lock while compiled code runs, so a trap may leave it by longjmp. The floating-point environment is left as is. */
#include "runtime/host.h"

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

#include "runtime/meet.h"
#include "runtime/pool.h"

enum {
  CALLER_ALONE_NS = 15000,     /* about what waking a thread costs */
  CALLER_ALONE_THREADS = 8192, /* a launch of more logical threads asks for help at once */
  ASK_NS = 50000000,           /* from one rt_host_ask to the next */
  /* what a thread takes at once should not last much longer */
  BATCH_NS = 10000000,
  TURNS_NS = 1000000,    /* from one rt_host_turns to the next */
  SHARES = 4,            /* a worker takes 1 / (SHARES * workers) of what is left */
  KEEP_BYTES = 16 << 20, /* a thread keeps up to this much memory from launch to launch */
  MOST_GIB =
      64, /* of one worker's memory: more is a mistake, and would only be found out by swapping */
  GRID_BYTES = 1 << 30, /* memory of all blocks of a launch with the grid's barrier */
  ALIGN = 256,          /* at least what an array may ask for */
  /* of a thread's stack, beside the frames of compiled code: for what that calls, and handlers of signals */
  STACK_REST = 64 << 10,
  STACK_BYTES = 8 << 20, /* of a thread made for one launch, at least */
};

typedef struct Launch {
  RtPoolJob job; /* first: the pool's view */
  const RtHostCode *code;
  RtHostLaunch view; /* what every worker's own view starts from */
  RtTrap *trap;
  size_t shared_bytes, frame_bytes; /* a worker */
  uint64_t total;
  _Atomic uint64_t next; /* first block that nobody has taken */
  unsigned workers;
  struct Grid *grid; /* with the grid's barrier, else NULL */
  uint32_t stop;     /* written once by the first trap, read by compiled code: atomics by builtin */
  const struct Worker *caller;
  uint64_t asked;   /* when the calling thread last did */
  bool interrupted; /* … and was told to stop */
  bool away; /* runs on a thread of its own, for which the calling one waits, and asks meanwhile */
} Launch;

static int (*_Atomic ask_first)(void);
void rt_host_ask(int (*ask)(void)) { ask_first = ask; }

typedef struct GridBlock {
  uint32_t waits, site, thread; /* at the grid's barrier: a thread of it, and where */
} GridBlock;

typedef struct Grid {
  uint32_t phase;
  char *memory; /* blocks times (shared, frame) */
  size_t shared_bytes, block_bytes;
  GridBlock *blocks;
} Grid;

typedef struct Buffer {
  void *at;
  size_t size;
} Buffer;

/* One OS thread's own: made at its first launch, freed when it ends. A launch by a signal's handler, in the middle of another one of the
 * thread (ask_at), has one for itself. */
typedef struct Worker {
  RtHostLaunch view;
  Launch *launch; /* that it works for, NULL between launches */
  bool nested;
  uint32_t turns;  /* rt_host_turns' last answer */
  uint64_t turned; /* when it was given, 0: not yet */
  jmp_buf out;
  Buffer shared, frame;
  uintptr_t stack_low, stack_high; /* 0: the system does not say */
} Worker;

/* --- traps --- */

static void record(RtTrap *t, const RtHostLaunch *view, uint32_t site, uint64_t block,
                   uint32_t thread, const int64_t *values) {
  t->site = site;
  t->block[0] = (uint32_t)(block % view->grid[0]);
  t->block[1] = (uint32_t)(block / view->grid[0] % view->grid[1]);
  t->block[2] = (uint32_t)(block / view->grid[0] / view->grid[1]);
  t->thread[0] = thread % view->block[0];
  t->thread[1] = thread / view->block[0] % view->block[1];
  t->thread[2] = thread / view->block[0] / view->block[1];
  memcpy(t->values, values, sizeof t->values);
}

/* --- a thread's memory --- */

static pthread_key_t worker_key;
static bool have_worker_key;

static void free_worker(void *p) {
  Worker *w = p;
  free(w->shared.at);
  free(w->frame.at);
  free(w);
}

static void make_worker_key(void) {
  have_worker_key = pthread_key_create(&worker_key, free_worker) == 0;
}

static void find_stack(Worker *w) {
  pthread_attr_t own;
  void *low;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &own) != 0)
    return;
  if (pthread_attr_getstack(&own, &low, &size) == 0)
    w->stack_low = (uintptr_t)low, w->stack_high = (uintptr_t)low + size;
  pthread_attr_destroy(&own);
}

/* Compiled code whose frames are not on the stack yet stays above this address. */
static uintptr_t stack_end(const Launch *l, const Worker *w) {
  return w->stack_low ? w->stack_low + l->code->stack_bytes + STACK_REST : 0;
}

/* Where the thread runs on a stack of somebody's making (a coroutine's), nothing is known of that. */
static bool has_stack(const Launch *l, const Worker *w) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return !w->stack_low || (here > stack_end(l, w) && here < w->stack_high);
}

static Worker *own_worker(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_worker_key);
  if (!have_worker_key)
    return NULL;
  Worker *w = pthread_getspecific(worker_key);
  if (w)
    return w;
  w = calloc(1, sizeof *w);
  if (w)
    find_stack(w);
  if (w && pthread_setspecific(worker_key, w) != 0) {
    free(w);
    w = NULL;
  }
  return w;
}

static bool reserve(Buffer *b, size_t size) {
  if (size <= b->size)
    return true;
  if (size >> 30 >= MOST_GIB)
    return false;
  free(b->at);
  size = (size + ALIGN - 1) / ALIGN * ALIGN;
  b->at = aligned_alloc(ALIGN, size);
  b->size = b->at ? size : 0;
  if (b->at)
    memset(b->at, 0, size);
  return b->at != NULL;
}

static void trim(Buffer *b) {
  if (b->size > KEEP_BYTES) {
    free(b->at);
    *b = (Buffer){0};
  }
}

static Worker *idle_worker(void) {
  Worker *w = own_worker();
  if (!w || !w->launch)
    return w;
  Worker *nested = calloc(1, sizeof *nested);
  if (nested)
    nested->nested = true, nested->stack_low = w->stack_low, nested->stack_high = w->stack_high;
  return nested;
}

/* A worker of the calling thread, ready for the launch; NULL if there is no memory, or the thread's stack is too short. */
static Worker *enter(Launch *l, bool *is_short) {
  Worker *w = idle_worker();
  if (!w)
    return NULL;
  *is_short = !has_stack(l, w);
  if (*is_short || !reserve(&w->shared, l->shared_bytes) || !reserve(&w->frame, l->frame_bytes)) {
    if (w->nested)
      free_worker(w);
    return NULL;
  }
  w->launch = l;
  w->turns = RT_FIRST_TURNS, w->turned = 0;
  w->view = l->view;
  w->view.shared = w->shared.at;
  w->view.frame = w->frame.at;
  w->view.worker = w;
  w->view.stack_end = stack_end(l, w);
  return w;
}

static void leave(Worker *w) {
  if (w->nested) {
    free_worker(w);
    return;
  }
  w->launch = NULL;
  trim(&w->shared);
  trim(&w->frame);
}

/* --- blocks --- */

static bool stopped(Launch *l) { return __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) != 0; }

/* Takes up to `most` blocks: *first and how many. More than a row of the grid end with a row, which compiled code runs in one piece. */
static uint64_t take(Launch *l, uint64_t most, uint64_t *first) {
  uint64_t at = atomic_load_explicit(&l->next, memory_order_relaxed), n, row = l->view.grid[0];
  uint64_t share = l->workers == 1 ? 1 : SHARES * l->workers;
  if (l->code->strides)
    most = (l->total + l->workers - 1) / l->workers, share = 1;
  do {
    if (at >= l->total)
      return 0;
    n = (l->total - at) / share;
    n = n < 1 ? 1 : n > most ? most : n;
    if (n > row)
      n -= (at + n) % row;
  } while (!atomic_compare_exchange_weak_explicit(&l->next, &at, at + n, memory_order_relaxed,
                                                  memory_order_relaxed));
  *first = at;
  return n;
}

static void run_in_phase(Launch *l, Worker *w, uint64_t first, uint64_t n) {
  Grid *g = l->grid;
  for (uint64_t b = first; b < first + n; b++) {
    if (g->phase && !g->blocks[b].waits)
      continue;
    g->blocks[b].waits = 0;
    w->view.phase = g->phase;
    w->view.shared = g->memory + b * g->block_bytes;
    w->view.frame = g->memory + b * g->block_bytes + g->shared_bytes;
    l->code->entry(&w->view, b, b + 1);
  }
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void ask_at(Launch *l, uint64_t time) {
  int (*ask)(void) = ask_first;
  l->asked = time;
  if (l->away || !ask || !ask())
    return;
  l->interrupted = true;
  __atomic_store_n(&l->stop, 1, __ATOMIC_RELEASE);
}

static void run_batch(Launch *l, Worker *w, uint64_t first, uint64_t n) {
  if (l->grid)
    run_in_phase(l, w, first, n);
  else
    l->code->entry(&w->view, first, first + n);
}

/* Long pieces are faster than short ones: as fast as it may, a batch grows to what lasts BATCH_NS. Compiled code looks seldom whether it is to stop. */
static uint64_t next_batch(uint64_t most, uint64_t took, uint64_t total) {
  if (took >= BATCH_NS)
    return most > 1 ? most / 2 : 1;
  uint64_t by = took < BATCH_NS / 8 ? 8 : 2;
  return most < total ? most * by : most;
}

/* A helper: until none is left or a thread traps. */
static void run_rest(Launch *l, Worker *w) {
  if (_setjmp(w->out))
    return; /* a trap of this worker: stop is set */
  uint64_t first, n, begin = now();
  for (uint64_t most = 1; !stopped(l) && (n = take(l, most, &first));) {
    run_batch(l, w, first, n);
    uint64_t time = now();
    most = next_batch(most, time - begin, l->total);
    begin = time;
  }
}

/* The calling thread: the same. False once the clock passes `until` (0: no limit): blocks may be left. */
static bool run_blocks(Launch *l, Worker *w, uint64_t until) {
  if (_setjmp(w->out))
    return true;
  uint64_t first, n, begin = l->asked;
  for (uint64_t most = 1; !stopped(l) && (n = take(l, most, &first));) {
    run_batch(l, w, first, n);
    if (atomic_load_explicit(&l->next, memory_order_relaxed) >= l->total)
      break;
    uint64_t time = now();
    if (until && time >= until)
      return false;
    if (time - l->asked >= ASK_NS)
      ask_at(l, time);
    most = next_batch(most, time - begin, l->total);
    begin = time;
  }
  return true;
}

static void help(RtPoolJob *job) {
  Launch *l = (Launch *)job;
  bool is_short;
  Worker *w = enter(l, &is_short); /* without memory the others do it */
  if (!w)
    return;
  run_rest(l, w);
  leave(w);
}

static bool run_alone(Launch *l, Worker *w, uint64_t threads) {
  if (l->workers == 1 || l->total == 1)
    return run_blocks(l, w, 0);
  if (threads > CALLER_ALONE_THREADS)
    return false;
  return run_blocks(l, w, l->asked + CALLER_ALONE_NS);
}

static void run_all(Launch *l, Worker *w, uint64_t threads) {
  if (run_alone(l, w, threads))
    return;
  uint64_t left = l->total - atomic_load_explicit(&l->next, memory_order_relaxed);
  if (!left)
    return;
  unsigned helpers = l->workers - 1;
  rt_pool_offer(&l->job, left < helpers ? (unsigned)left : helpers);
  run_blocks(l, w, 0);
  rt_pool_close(&l->job);
}

static uint64_t product(const uint32_t n[3]) { return (uint64_t)n[0] * n[1] * n[2]; }

static uint64_t frame_bytes(const RtHostCode *code, uint64_t threads) {
  return code->frame_bytes *
         ((threads + RT_FRAME_THREADS - 1) / RT_FRAME_THREADS * RT_FRAME_THREADS);
}

/* --- a launch with the grid's barrier --- */

static size_t aligned(uint64_t bytes) { return (size_t)((bytes + ALIGN - 1) / ALIGN * ALIGN); }

static size_t grid_block_bytes(const RtHostCode *code, uint64_t threads, uint32_t dynamic_shared) {
  return aligned((uint64_t)code->static_shared + dynamic_shared) +
         aligned(frame_bytes(code, threads));
}

uint32_t rt_host_grid_blocks(const RtHostCode *code, uint64_t threads, uint32_t dynamic_shared) {
  uint64_t n = GRID_BYTES / (grid_block_bytes(code, threads, dynamic_shared) + sizeof(GridBlock));
  return n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

static bool grid_open(Grid *g, const Launch *l, uint64_t threads) {
  size_t shared = (size_t)l->code->static_shared + l->view.dynamic_shared;
  *g = (Grid){.shared_bytes = aligned(shared),
              .block_bytes = grid_block_bytes(l->code, threads, l->view.dynamic_shared)};
  g->blocks = calloc(l->total, sizeof *g->blocks);
  g->memory = aligned_alloc(ALIGN, l->total * g->block_bytes);
  for (uint64_t b = 0; g->memory && b < l->total; b++)
    memset(g->memory + b * g->block_bytes, 255, shared);
  return g->blocks && g->memory;
}

static void grid_close(Grid *g) {
  free(g->blocks);
  free(g->memory);
}

/* Some blocks wait and others have ended: as the first that waits would have it. */
static void trap_in_vain(Launch *l, uint64_t ended) {
  const GridBlock *b = l->grid->blocks;
  while (!b->waits)
    b++;
  record(l->trap, &l->view, b->site + 1, (uint64_t)(b - l->grid->blocks), b->thread,
         (const int64_t[RT_TRAP_VALUES]){(int64_t)ended, (int64_t)l->total});
  l->trap->state = 2;
  l->stop = 1;
}

static void run_phases(Launch *l, Worker *w, uint64_t threads) {
  for (uint64_t waiting = 1; waiting && !stopped(l); l->grid->phase++) {
    l->job = (RtPoolJob){.work = help};
    atomic_store_explicit(&l->next, 0, memory_order_relaxed);
    run_all(l, w, threads);
    waiting = 0;
    for (uint64_t b = 0; b < l->total && !stopped(l); b++)
      waiting += l->grid->blocks[b].waits;
    if (waiting && waiting < l->total)
      trap_in_vain(l, l->total - waiting);
  }
}

/* All of it on this thread, with helpers. False: there is no memory, or *is_short. */
static bool run_here(Launch *l, bool *is_short) {
  uint64_t threads = product(l->view.block);
  Grid grid = {0};
  bool ready = true;
  *is_short = false;
  if (l->code->meets_grid) {
    ready = grid_open(&grid, l, threads);
    l->grid = &grid;
    l->shared_bytes = l->frame_bytes = 0;
  }
  Worker *w = ready ? enter(l, is_short) : NULL;
  if (w) {
    l->caller = w;
    threads = threads > UINT64_MAX / l->total ? UINT64_MAX : threads * l->total;
    if (l->code->meets_grid)
      run_phases(l, w, threads);
    else
      run_all(l, w, threads);
    leave(w);
  }
  grid_close(&grid);
  return w != NULL;
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
      __atomic_store_n(&l->stop, 1, __ATOMIC_RELEASE);
    }
    until = soon();
  }
}

static bool run_away(Launch *l) {
  Away a = {l, false};
  pthread_attr_t how;
  pthread_t thread;
  size_t need = (size_t)l->code->stack_bytes + 2 * STACK_REST;
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

RtStatus rt_host_run(const RtHostCode *code, const RtConfig *config, const void *params,
                     RtTrap *trap) {
  RtTrap own;
  if (!trap)
    trap = &own;
  trap->state = 0;
  uint64_t threads = product(config->block);
  Launch l = {.job.work = help,
              .code = code,
              .trap = trap,
              .total = product(config->grid),
              .workers = rt_pool_threads()};
  l.shared_bytes = (size_t)code->static_shared + config->dynamic_shared;
  l.frame_bytes = (size_t)frame_bytes(code, threads);
  l.asked = l.total > 1 ? now() : 0;
  l.view =
      (RtHostLaunch){.params = params, .dynamic_shared = config->dynamic_shared, .stop = &l.stop};
  memcpy(l.view.grid, config->grid, sizeof l.view.grid);
  memcpy(l.view.block, config->block, sizeof l.view.block);
  if (!l.total || !threads)
    return RT_OK;
  bool is_short;
  if (!run_here(&l, &is_short) && !(is_short && run_away(&l)))
    return rt_fail(
        RT_NO_MEMORY, "use smaller blocks, smaller local arrays, or less shared memory",
        "no memory for a block of %llu threads: %zu bytes of shared memory, %zu bytes for threads that wait at a barrier, %zu bytes of stack",
        (unsigned long long)threads, (size_t)code->static_shared + config->dynamic_shared,
        (size_t)frame_bytes(code, threads), (size_t)code->stack_bytes);
  return l.interrupted ? RT_INTERRUPTED : stopped(&l) ? RT_TRAPPED : RT_OK;
}

unsigned rt_host_threads(void) { return rt_pool_threads(); }

/* --- what compiled code calls --- */

void rt_host_wait_for_grid(const RtHostLaunch *view, uint32_t site, uint64_t block,
                           uint32_t thread) {
  const Worker *w = view->worker;
  w->launch->grid->blocks[block] = (GridBlock){1, site, thread};
}

uint32_t rt_host_turns(const RtHostLaunch *view) {
  Worker *w = view->worker;
  Launch *l = w->launch;
  uint64_t time = now(), took = w->turned ? time - w->turned : 0;
  w->turns = took < TURNS_NS / 8 ? w->turns * 8 : took < TURNS_NS ? w->turns * 2 : w->turns / 2;
  w->turns = w->turns < RT_FIRST_TURNS  ? RT_FIRST_TURNS
             : w->turns > RT_MOST_TURNS ? RT_MOST_TURNS
                                        : w->turns;
  w->turned = time;
  if (w == l->caller && time - l->asked >= ASK_NS)
    ask_at(l, time);
  return w->turns;
}

_Noreturn void rt_host_trap(const RtHostLaunch *view, uint32_t site, uint64_t block,
                            uint32_t thread, int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  Worker *w = view->worker;
  RtTrap *trap = w->launch->trap;
  uint32_t none = 0;
  if (__atomic_compare_exchange_n(&trap->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    record(trap, view, site, block, thread, (const int64_t[]){v0, v1, v2, v3});
    __atomic_store_n(&trap->state, 2, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&w->launch->stop, 1, __ATOMIC_RELEASE);
  _longjmp(w->out, 1);
}

_Noreturn void rt_host_trap_in_line(const RtHostLaunch *view, uint32_t site, uint32_t bx,
                                    uint32_t by, uint32_t bz, uint32_t tx, uint32_t thread,
                                    int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  uint32_t blocks = tx / view->block[0];
  uint64_t row = (uint64_t)bz * view->grid[1] + by;
  rt_host_trap(view, site, row * view->grid[0] + bx + blocks, thread - blocks * view->block[0], v0,
               v1, v2, v3);
}
