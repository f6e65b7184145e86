/* Fork lock: see fork_lock.h. A read-write lock that prefers writers: compilations hold it shared,
 * a fork and the end of the process take it exclusively. */
#include "codegen/fork_lock.h"

#include <pthread.h>

#include "codegen/compile.h"

static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void) { pthread_rwlock_wrlock(&gate); }
static void after_fork_parent(void) { pthread_rwlock_unlock(&gate); }

/* The child has none of the threads that held or waited for the lock, so it gets a fresh one. */
static void after_fork_child(void) {
  gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

void cg_enter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_rwlock_rdlock(&gate);
}

void cg_leave(void) { pthread_rwlock_unlock(&gate); }

void cg_shut(void) { pthread_rwlock_wrlock(&gate); }
