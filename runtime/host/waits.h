/* Waits: what the threads of a block on the host wait for at RT_MEET_WAIT: named barriers of the
 * block, the barrier of its cluster, the other threads of a warpgroup.
 *
 * A thread brings a request (RtWait) with its operand. Its arrival counts once, when the block is
 * looked at; from then on its slots say what it waits for. */
#ifndef PYPTX_RUNTIME_HOST_WAITS_H
#define PYPTX_RUNTIME_HOST_WAITS_H

#include <stdbool.h>

#include "runtime/host/block_places.h"

/* A wrong use, which the site so many numbers behind that of the wait reports with these values; 0:
 * there is none. */
typedef struct RtMisuse {
  uint32_t wrong;
  int64_t values[RT_TRAP_VALUES];
} RtMisuse;

/* The request of a thread that has just come: counts its arrival, and makes of it what the thread
 * waits for. */
RtMisuse rt_wait_begin(RtPlace *p, uint32_t thread, uint32_t *what, uint64_t *operand);
/* All that had come by then have been counted. */
void rt_wait_begun(RtPlace *p);
/* Is what it waits for there? */
bool rt_wait_is_over(RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand);
/* So many threads of the block have ended. */
void rt_wait_exited(RtPlace *p, uint32_t threads);
/* The block has ended: traps if another one may still use its memory. */
void rt_wait_end(const RtHostLaunch *view, const RtPlace *p);
/* Nobody gets further: threads at a try_wait go on without what they wait for. False: there are
 * none, or it has happened in vain too often. */
bool rt_wait_gives_up(RtCluster *c);
/* May it be another block that lets the thread go on? */
bool rt_wait_is_outside(const RtPlace *p, uint32_t what);
/* The values of the message of a thread that waits in vain. */
void rt_wait_values(const RtPlace *p, uint32_t what, uint64_t operand, int64_t out[RT_TRAP_VALUES]);
/* The blocks of a place begin: a cluster's, or one. arrivals_at: of RtPlace.arrived_in, in a
 * frame. */
void rt_wait_begin_place(const RtPlaces *places, const RtHostLaunch *view, size_t arrivals_at,
                         RtPlace *p);

#endif
