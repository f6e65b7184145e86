/* Forks: see forks.h. A lock that compilations share and a fork takes alone, and first. */
#include "codegen/forks.h"

#include <pthread.h>

static pthread_rwlock_t compiling = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void) { pthread_rwlock_wrlock(&compiling); }
static void after_fork_parent(void) { pthread_rwlock_unlock(&compiling); }

/* Threads that waited for the lock are not in the child: a lock as new. */
static void after_fork_child(void) {
  compiling = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

void cg_hold_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_rwlock_rdlock(&compiling);
}

void cg_allow_forks(void) { pthread_rwlock_unlock(&compiling); }
