/* Pool: see pool.h.
 *
 * One mutex guards the list of open jobs; it is never held while a job runs. A helper that joins
 * wakes up to two others, so a wake-up costs the owner two signals and reaches n threads in log n
 * steps. Whoever has left a job stays awake for SPIN_NS, in which the next one often comes. */
#include "runtime/host/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/clock.h"
#include "runtime/host/cpus.h"
#include "runtime/internal.h"

enum {
  MAX_THREADS = 1024,
  STACK_BYTES = 8 << 20,
  WAKE = 2,
  SPIN_NS = 50000, /* about what it costs to wake a thread whose CPU sleeps, too */
  SPINS = 64,      /* from one look at the clock to the next */
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t offered;        /* a job wants helpers */
  pthread_cond_t left;           /* a helper left a job */
  RtPoolJob *jobs;               /* those with wanted > 0, in order of arrival */
  _Atomic bool open;             /* there are some: read without the lock */
  unsigned started, idle, limit; /* limit: rt_pool_threads, 0 before it is known */
  bool spins;                    /* each thread may have a CPU to itself */
  bool cannot_start;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .offered = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

/* --- fork --- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&pool.lock); }

/* The child has one thread: the helpers and every other thread's jobs are gone, and conditions may
 * count waiters that are. */
static void after_fork_child(void) {
  pthread_cond_init(&pool.offered, NULL);
  pthread_cond_init(&pool.left, NULL);
  pool.jobs = NULL;
  pool.open = false;
  pool.started = pool.idle = pool.limit = 0;
  pool.cannot_start = false;
  pthread_mutex_unlock(&pool.lock);
}

static void watch_fork(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

static void lock_pool(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_fork);
  pthread_mutex_lock(&pool.lock);
}

/* --- size --- */

/* PYPTX_HOST_THREADS: 1 to MAX_THREADS; 0: not set; -1: anything else. */
static int threads_given(void) {
  const char *text = getenv("PYPTX_HOST_THREADS");
  int n = 0;
  if (!text || !*text)
    return 0;
  for (; *text >= '0' && *text <= '9' && n <= MAX_THREADS; text++)
    n = 10 * n + (*text - '0');
  return !*text && n >= 1 && n <= MAX_THREADS ? n : -1;
}

RtStatus rt_pool_check(void) {
  if (threads_given() >= 0)
    return RT_OK;
  return rt_fail(RT_BAD_ARGUMENT, "unset it for as many threads as there are CPUs",
                 "PYPTX_HOST_THREADS is '%.40s': it must be a whole number from 1 to %d",
                 getenv("PYPTX_HOST_THREADS"), MAX_THREADS);
}

/* The first number of OMP_NUM_THREADS, a list by levels of nesting; 0: there is none. What OpenMP
 * would refuse is ignored, as the variable is not ours. */
static unsigned threads_of_openmp(void) {
  const char *text = getenv("OMP_NUM_THREADS");
  unsigned n = 0;
  if (!text)
    return 0;
  text += strspn(text, " \t");
  for (; *text >= '0' && *text <= '9'; text++)
    n = n > MAX_THREADS ? n : 10 * n + (unsigned)(*text - '0');
  text += strspn(text, " \t");
  bool ends = !*text || *text == ',';
  return !ends ? 0 : n > MAX_THREADS ? MAX_THREADS : n;
}

static unsigned threads_wanted(void) {
  int given = threads_given();
  if (given > 0)
    return (unsigned)given;
  unsigned of_openmp = threads_of_openmp();
  if (of_openmp)
    return of_openmp;
  unsigned n = rt_cpus_usable();
  return n > MAX_THREADS ? MAX_THREADS : n;
}

static unsigned limit_locked(void) {
  if (!pool.limit) {
    pool.limit = threads_wanted();
    pool.spins = pool.limit <= rt_cpus_usable();
  }
  return pool.limit;
}

unsigned rt_pool_threads(void) {
  lock_pool();
  unsigned n = limit_locked();
  pthread_mutex_unlock(&pool.lock);
  return n;
}

/* --- helpers --- */

static void wake_locked(const RtPoolJob *job) {
  unsigned n = job->wanted < pool.idle ? job->wanted : pool.idle;
  for (unsigned i = 0; i < n && i < WAKE; i++)
    pthread_cond_signal(&pool.offered);
}

static void unlist_locked(RtPoolJob *job) {
  for (RtPoolJob **at = &pool.jobs; *at; at = &(*at)->next) {
    if (*at == job) {
      *at = job->next;
      atomic_store_explicit(&pool.open, pool.jobs != NULL, memory_order_relaxed);
      return;
    }
  }
}

static void relax(void) {
#if defined __x86_64__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static bool has_job(RtPoolJob *unused) {
  (void)unused;
  return atomic_load_explicit(&pool.open, memory_order_relaxed);
}

static bool is_left(RtPoolJob *job) {
  return !atomic_load_explicit(&job->inside, memory_order_relaxed);
}

/* Waits for a change for a while, awake and without the lock. Launches often follow each other
 * sooner than a thread that sleeps would begin its part. Threads that take the lock awake do not
 * put each other to sleep. */
static void watch_locked(bool (*is_ready)(RtPoolJob *), RtPoolJob *job) {
  if (!pool.spins)
    return;
  pthread_mutex_unlock(&pool.lock);
  int64_t end = rt_clock_ns() + SPIN_NS;
  do {
    for (int i = 0; i < SPINS && !is_ready(job); i++)
      relax();
    if (is_ready(job) && pthread_mutex_trylock(&pool.lock) == 0)
      return;
  } while (rt_clock_ns() < end);
  pthread_mutex_lock(&pool.lock);
}

static void join_locked(RtPoolJob *job, unsigned number) {
  assert(job->wanted); /* else it is not in the list */
  job->inside++;
  if (--job->wanted)
    wake_locked(job);
  else
    unlist_locked(job);
  pthread_mutex_unlock(&pool.lock);
  job->work(job, number);
  pthread_mutex_lock(&pool.lock);
  assert(job->inside);
  if (--job->inside == 0)
    pthread_cond_broadcast(&pool.left);
}

static void *helper(void *number) {
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    if (!pool.jobs)
      watch_locked(has_job, NULL);
    if (pool.jobs) {
      join_locked(pool.jobs, (unsigned)(uintptr_t)number);
      continue;
    }
    pool.idle++;
    pthread_cond_wait(&pool.offered, &pool.lock);
    assert(pool.idle && pool.idle <= pool.started + 1); /* this one may not be counted yet */
    pool.idle--;
  }
  return NULL;
}

/* Signals of the process go to the threads that Python knows; faults must come to the thread that
 * makes them. */
void rt_pool_block_signals(sigset_t *old) {
  sigset_t blocked;
  sigfillset(&blocked);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, old);
}

bool rt_pool_thread(void *(*run)(void *), void *argument) {
  sigset_t old;
  rt_pool_block_signals(&old);
  pthread_attr_t how;
  pthread_attr_init(&how);
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&how, STACK_BYTES);
  pthread_t thread;
  bool started = pthread_create(&thread, &how, run, argument) == 0;
  pthread_attr_destroy(&how);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return started;
}

static void start_locked(unsigned helpers) {
  unsigned most = limit_locked() - 1;
  if (helpers > most)
    helpers = most;
  while (pool.started < helpers && !pool.cannot_start) {
    if (rt_pool_thread(helper, (void *)(uintptr_t)(pool.started + 1)))
      pool.started++;
    else
      pool.cannot_start = true;
  }
}

/* --- jobs --- */

void rt_pool_offer(RtPoolJob *job, unsigned helpers) {
  lock_pool();
  start_locked(helpers);
  job->next = NULL;
  job->inside = 0;
  job->wanted = helpers < pool.started ? helpers : pool.started;
  assert(job->work && pool.started < pool.limit);
  if (job->wanted) {
    RtPoolJob **end = &pool.jobs;
    while (*end)
      end = &(*end)->next;
    *end = job;
    atomic_store_explicit(&pool.open, true, memory_order_relaxed);
    wake_locked(job);
  }
  pthread_mutex_unlock(&pool.lock);
}

bool rt_pool_close(RtPoolJob *job, uint64_t ns) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  ns += (uint64_t)end.tv_nsec;
  end.tv_sec += (time_t)(ns / 1000000000), end.tv_nsec = (long)(ns % 1000000000);
  lock_pool();
  if (job->wanted)
    unlist_locked(job);
  job->wanted = 0;
  if (job->inside)
    watch_locked(is_left, job);
  while (job->inside && pthread_cond_timedwait(&pool.left, &pool.lock, &end) == 0) {
  }
  bool done = !job->inside;
  pthread_mutex_unlock(&pool.lock);
  return done;
}
