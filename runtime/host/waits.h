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
 * there is none. Or one of another thread, at another site. */
typedef struct RtMisuse {
  uint32_t wrong;
  int64_t values[RT_TRAP_VALUES];
  bool elsewhere;
  uint32_t site, thread;
  uint64_t block;
} RtMisuse;
/* Ends the launch with it, if there is one. site, block, thread: of the wait. */
void rt_wait_report(const RtHostLaunch *view, const RtMisuse *m, uint32_t site, uint64_t block,
                    uint32_t thread);

/* The request of a thread that has just come: counts its arrival, and makes of it what the thread
 * waits for. */
RtMisuse rt_wait_begin(RtPlace *p, uint32_t thread, uint32_t *what, uint64_t *operand);
/* All that had come by then have been counted. */
RtMisuse rt_wait_begun(RtPlace *p);
/* Nobody else in the block gets further: those go on that let others have a turn before. */
RtMisuse rt_wait_quiet(RtPlace *p);
/* Is what it waits for there? */
bool rt_wait_is_over(RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand);
/* Threads of the block have ended: those whose `next` is 0; NULL: all. */
void rt_wait_exited(RtPlace *p, const uint32_t *next);
/* The block has ended: traps if another one may still use its memory. */
void rt_wait_end(const RtHostLaunch *view, const RtPlace *p);
/* Nobody gets further: threads at a try_wait go on without what they wait for. False: there are
 * none, or it has happened in vain too often. */
bool rt_wait_gives_up(RtCluster *c);
/* May it be another block that lets the thread go on? */
bool rt_wait_is_outside(const RtPlace *p, uint32_t what);
/* The values of the message of a thread that waits in vain; returns how many numbers behind that of
 * the wait its site is. */
uint32_t rt_wait_values(const RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand,
                        int64_t out[RT_TRAP_VALUES]);
/* All threads of the block have met; the lanes of the warp that begins with a thread; or a thread
 * has met, or waited for, some others. */
void rt_wait_all_met(RtPlace *p);
void rt_wait_warp_met(RtPlace *p, uint32_t first);
void rt_wait_met(RtPlace *p, uint32_t thread);
/* Now, by the clock of such meetings. */
uint32_t rt_wait_time(RtPlace *p);
/* May the thread know what thread `other` of block q did at that time? */
bool rt_wait_has_met(const RtPlace *p, uint32_t thread, const RtPlace *q, uint32_t other,
                     uint32_t time);
/* The blocks of a place begin: a cluster's, or one. arrivals_at: of RtPlace.arrived_in, in a frame,
 * which has RT_WAIT_WORDS for each thread there. */
enum { RT_WAIT_WORDS = 4 };
void rt_wait_begin_place(const RtPlaces *places, const RtHostLaunch *view, size_t arrivals_at,
                         RtPlace *p);

#endif
