/* Safepoint: see safepoint.h. */
#include "runtime/host/safepoint.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"
#include "runtime/host/pool.h"

enum { TICK_NS = 50000000, TICKS_AWAKE = 40, SHORTEST_NS = 100000 };

uint32_t rt_host_safepoint[1]; /* read by compiled code: atomics by builtin */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;               /* under the lock */
  _Atomic bool asleep, asked; /* asked: the clock has added 1 to rt_host_safepoint */
  _Atomic uint64_t running;   /* number of the main thread's launch, 0 between two */
  uint64_t count;             /* the main thread's own */
  RtDeadline *deadlines;      /* under the lock */
} clock_ = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* which child of a fork, since fork gives its thread another number */
static _Atomic uint32_t process;

void rt_safepoint_stop(int by) {
  __atomic_fetch_add(rt_host_safepoint, (uint32_t)by, __ATOMIC_RELEASE);
}

void rt_safepoint_passed(void) {
  if (atomic_load(&clock_.asked) && atomic_exchange(&clock_.asked, false))
    rt_safepoint_stop(-1);
}

/* --- the clock --- */

static void ask(void) {
  if (!atomic_exchange(&clock_.asked, true))
    rt_safepoint_stop(1);
}

/* Marks the deadlines that have passed. Returns how long to sleep: to the next one, a tick at
 * most. */
static uint64_t look_at_deadlines(void) {
  uint64_t sleep = TICK_NS;
  pthread_mutex_lock(&clock_.lock);
  uint64_t now = clock_.deadlines ? (uint64_t)rt_clock_ns() : 0;
  for (RtDeadline *d = clock_.deadlines; d; d = d->next) {
    if (atomic_load_explicit(&d->passed, memory_order_relaxed))
      continue;
    if (d->at <= now) {
      atomic_store(&d->passed, true);
      rt_safepoint_stop(1);
    } else if (d->at - now < sleep) {
      sleep = d->at - now < SHORTEST_NS ? SHORTEST_NS : d->at - now;
    }
  }
  pthread_mutex_unlock(&clock_.lock);
  return sleep;
}

/* Until the main thread launches again, or there is a deadline. */
static void sleep_on(void) {
  pthread_mutex_lock(&clock_.lock);
  atomic_store(&clock_.asleep, true);
  while (!atomic_load(&clock_.running) && !clock_.deadlines)
    pthread_cond_wait(&clock_.wake, &clock_.lock);
  atomic_store(&clock_.asleep, false);
  pthread_mutex_unlock(&clock_.lock);
}

static void *keep_clock(void *unused) {
  (void)unused;
  uint64_t last = 0;
  for (unsigned quiet = 0;;) {
    nanosleep(&(struct timespec){0, (long)look_at_deadlines()}, NULL);
    uint64_t now = atomic_load(&clock_.running);
    if (now && now == last)
      ask();
    quiet = now || last ? 0 : quiet + 1;
    last = now;
    if (quiet < TICKS_AWAKE)
      continue;
    sleep_on();
    quiet = 0;
  }
  return NULL;
}

/* Under the lock. */
static bool wake_clock(void) {
  if (!clock_.started)
    clock_.started = rt_pool_thread(keep_clock, NULL);
  pthread_cond_signal(&clock_.wake);
  return clock_.started;
}

/* --- fork --- */

static void before_fork(void) { pthread_mutex_lock(&clock_.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&clock_.lock); }

/* The child has only the forking thread, and no clock: a launch in the middle of which it forks is
 * not stopped there. */
static void forget_deadlines(void) {
  for (RtDeadline *d = clock_.deadlines; d; d = d->next) {
    if (atomic_load(&d->passed))
      rt_safepoint_stop(-1);
    d->watched = false;
  }
  clock_.deadlines = NULL;
}

static void after_fork_child(void) {
  pthread_cond_init(&clock_.wake, NULL);
  clock_.started = false;
  forget_deadlines();
  atomic_store(&clock_.asleep, true);
  atomic_fetch_add(&process, 1);
  pthread_mutex_unlock(&clock_.lock);
}

static void start_watching_fork(void) {
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
  atomic_store(&clock_.asleep, true);
}

static void watch_fork(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_watching_fork);
}

/* --- launches --- */

static bool is_main_thread(void) {
  static _Thread_local struct {
    uint32_t process;
    bool known, main;
  } own;
  uint32_t now = atomic_load_explicit(&process, memory_order_relaxed);
  if (!own.known || own.process != now) {
    own.main = syscall(SYS_gettid) == getpid();
    own.process = now, own.known = true;
  }
  return own.main;
}

uint64_t rt_safepoint_begin(void) {
  if (!is_main_thread())
    return 0;
  watch_fork();
  uint64_t outer = atomic_load_explicit(&clock_.running, memory_order_relaxed);
  atomic_store(&clock_.running, ++clock_.count);
  if (atomic_load(&clock_.asleep)) {
    pthread_mutex_lock(&clock_.lock);
    wake_clock();
    pthread_mutex_unlock(&clock_.lock);
  }
  return outer;
}

void rt_safepoint_end(uint64_t outer) {
  if (!is_main_thread())
    return;
  atomic_store(&clock_.running, outer);
  rt_safepoint_passed();
}

/* --- deadlines --- */

bool rt_deadline_set(RtDeadline *d, uint64_t ns) {
  watch_fork();
  uint64_t now = (uint64_t)rt_clock_ns();
  d->at = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
  atomic_store(&d->passed, false);
  pthread_mutex_lock(&clock_.lock);
  d->watched = wake_clock();
  if (d->watched) {
    d->next = clock_.deadlines;
    clock_.deadlines = d;
  }
  pthread_mutex_unlock(&clock_.lock);
  return d->watched;
}

void rt_deadline_clear(RtDeadline *d) {
  if (!d->watched)
    return;
  pthread_mutex_lock(&clock_.lock);
  RtDeadline **at = &clock_.deadlines;
  while (*at && *at != d)
    at = &(*at)->next;
  if (*at)
    *at = d->next;
  pthread_mutex_unlock(&clock_.lock);
  d->watched = false;
  if (atomic_load(&d->passed))
    rt_safepoint_stop(-1);
}
