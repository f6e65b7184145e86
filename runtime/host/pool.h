/* Pool: OS threads that help with a job. One pool a process, started at the first job that asks for
 * help.
 *
 * A job is a function that any number of threads may run at the same time and that returns when
 * nothing is left to do. The thread that has the job calls rt_pool_offer, runs the function itself,
 * and then rt_pool_close, which waits for the helpers that are still in it. A job lives on its
 * owner's stack. Helpers are never needed: where no thread can be started, the owner does
 * everything. After fork, the child has an empty pool that starts again at need; the jobs of other
 * threads stay with the parent. */
#ifndef PYPTX_RUNTIME_HOST_POOL_H
#define PYPTX_RUNTIME_HOST_POOL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct RtPoolJob RtPoolJob;
struct RtPoolJob {
  /* helper: its number in the pool, from 1 on; the owner calls it with 0 */
  void (*work)(RtPoolJob *job, unsigned helper);
  /* the pool's own from here on */
  RtPoolJob *next;
  unsigned wanted;         /* helpers that may still join */
  _Atomic unsigned inside; /* helpers that run work() now; written with the pool's lock */
};

/* RT_BAD_ARGUMENT where PYPTX_HOST_THREADS is no number of threads: asked when a device is
 * opened. */
RtStatus rt_pool_check(void);
/* CPUs this process may use (affinity, cgroup quota), at least 1; PYPTX_HOST_THREADS overrides,
 * then OMP_NUM_THREADS. Found out once. */
unsigned rt_pool_threads(void);
/* Lets up to `helpers` threads of the pool join. Once a job. */
void rt_pool_offer(RtPoolJob *job, unsigned helpers);
/* No more helpers may join; true when none is inside, false if that lasts longer than so many ns:
 * then again. Only after rt_pool_offer. */
bool rt_pool_close(RtPoolJob *job, uint64_t ns);
/* A detached thread beside the pool's, which signals do not reach; false if it cannot be
 * started. */
bool rt_pool_thread(void *(*run)(void *), void *argument);
/* For a thread of ours that is made next: it inherits the mask. */
void rt_pool_block_signals(sigset_t *old);

#endif
