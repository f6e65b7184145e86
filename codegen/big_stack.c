/* Big stack: see big_stack.h.
 *
 * LLVM and typing recurse as deeply as the code that they compile is nested, and a thread of the
 * user's may have a stack of 32 KB. Nor can the main thread's stack be relied on where the address
 * space is limited (RLIMIT_AS): a stack that cannot grow is a SIGSEGV, whereas a thread that cannot
 * be created is an error that we can report. */
#include "codegen/big_stack.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

enum {
  /* Typing takes up to 4 KB for each of TY_MAX_CALLS nested calls. */
  ENOUGH = 4 << 20,
  OWN = 16 << 20,
};

/* The lowest address of this thread's stack; UINTPTR_MAX where the system does not tell. */
static uintptr_t find_low(void) {
  pthread_attr_t own;
  void *low;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &own) != 0)
    return UINTPTR_MAX;
  bool known = pthread_attr_getstack(&own, &low, &size) == 0;
  pthread_attr_destroy(&own);
  return known ? (uintptr_t)low : UINTPTR_MAX;
}

static bool is_enough_here(void) {
  static _Thread_local uintptr_t low;
  struct rlimit memory;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY)
    return false;
  if (!low)
    low = find_low();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > low && here - low >= ENOUGH;
}

typedef struct Work {
  void (*body)(void *);
  void *arg;
} Work;

static void *run(void *p) {
  const Work *w = p;
  w->body(w->arg);
  return NULL;
}

/* Signals sent to the process are left to the threads that Python knows; a fault is delivered to
 * the thread that causes it. */
static void block_signals(sigset_t *old) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
    sigdelset(&blocked, faults[k]);
  pthread_sigmask(SIG_SETMASK, &blocked, old);
}

static bool run_on_thread(Work *work) {
  pthread_attr_t how;
  pthread_t thread;
  sigset_t old;
  if (pthread_attr_init(&how) != 0)
    return false;
  pthread_attr_setstacksize(&how, OWN);
  block_signals(&old);
  bool made = pthread_create(&thread, &how, run, work) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&how);
  return made && pthread_join(thread, NULL) == 0;
}

bool cg_on_stack(void (*body)(void *), void *arg) {
  assert(body);
  if (!is_enough_here())
    return run_on_thread(&(Work){body, arg});
  body(arg);
  return true;
}
