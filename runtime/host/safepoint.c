/* Safepoint: see safepoint.h. */
#include "runtime/host/safepoint.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/pool.h"

enum { TICK_NS = 50000000, TICKS_AWAKE = 40 };

uint32_t rt_host_safepoint[1]; /* read by compiled code: atomics by builtin */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;               /* under the lock */
  _Atomic bool asleep, asked; /* asked: the clock has added 1 to rt_host_safepoint */
  _Atomic uint64_t running;   /* number of the main thread's launch, 0 between two */
  uint64_t count;             /* the main thread's own */
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

/* Until the main thread launches again. */
static void sleep_on(void) {
  pthread_mutex_lock(&clock_.lock);
  atomic_store(&clock_.asleep, true);
  while (!atomic_load(&clock_.running))
    pthread_cond_wait(&clock_.wake, &clock_.lock);
  atomic_store(&clock_.asleep, false);
  pthread_mutex_unlock(&clock_.lock);
}

static void *keep_clock(void *unused) {
  (void)unused;
  uint64_t last = 0;
  for (unsigned quiet = 0;;) {
    nanosleep(&(struct timespec){0, TICK_NS}, NULL);
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

static void wake_clock(void) {
  pthread_mutex_lock(&clock_.lock);
  if (!clock_.started)
    clock_.started = rt_pool_thread(keep_clock);
  pthread_cond_signal(&clock_.wake);
  pthread_mutex_unlock(&clock_.lock);
}

/* --- fork --- */

static void before_fork(void) { pthread_mutex_lock(&clock_.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&clock_.lock); }

static void after_fork_child(void) {
  pthread_cond_init(&clock_.wake, NULL);
  clock_.started = false;
  atomic_store(&clock_.asleep, true);
  atomic_fetch_add(&process, 1);
  pthread_mutex_unlock(&clock_.lock);
}

static void watch_fork(void) {
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
  atomic_store(&clock_.asleep, true);
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
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!is_main_thread())
    return 0;
  pthread_once(&once, watch_fork);
  uint64_t outer = atomic_load_explicit(&clock_.running, memory_order_relaxed);
  atomic_store(&clock_.running, ++clock_.count);
  if (atomic_load(&clock_.asleep))
    wake_clock();
  return outer;
}

void rt_safepoint_end(uint64_t outer) {
  if (!is_main_thread())
    return;
  atomic_store(&clock_.running, outer);
  rt_safepoint_passed();
}
