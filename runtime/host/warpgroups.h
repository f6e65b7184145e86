/* Warpgroups: cuda.wgmma on the host. The 128 threads of a warpgroup come to each operation with an
 * RtWarpgroupOp; the last one does it for all.
 *
 * An mma is computed when it is issued. Its result is what wait gives; until then the threads hold
 * words that only name the accumulators, by which they are found again: those that another mma
 * continues, that are given away twice, or that wait asks for while they are in flight. Tiles are
 * looked at again when their group ends, which it does late: all other threads of the block go on
 * before a wait is over, as far as they can, and one warpgroup goes on at a time. What has been
 * read is kept, so that who writes there later must know of the wait (meetings.h). */
#ifndef PYPTX_RUNTIME_HOST_WARPGROUPS_H
#define PYPTX_RUNTIME_HOST_WARPGROUPS_H

#include "runtime/host/waits.h"

/* A thread comes. *operand: its RtWarpgroupOp; what it waits for. */
RtMisuse rt_warpgroup_come(RtPlace *p, uint32_t thread, uint64_t *operand);
bool rt_warpgroup_is_past(const RtPlace *p, uint64_t operand);
uint32_t rt_warpgroup_arrived(const RtPlace *p, uint64_t operand); /* threads */
/* Nobody else gets further: the wait of one warpgroup is over, of another one each time. */
RtMisuse rt_warpgroups_go_on(RtPlace *p);
/* The line of an operation in flight that may read some of these bytes; 0: there is none. */
uint32_t rt_warpgroups_read(const RtPlace *p, const char *at, size_t bytes);
/* An operation that has ended, and has read a piece of shared memory. */
typedef struct RtEndedReading {
  uint32_t when; /* its warpgroup had waited for it (RtCluster.clock); 0: none has read */
  uint32_t site, line;
  uint8_t which; /* 0: tile A, 1: tile B */
} RtEndedReading;
/* One of those that read some of these bytes, of which the thread may not know that it has ended;
 * NULL: there is none. RT_NO_THREAD: one of another block. */
const RtEndedReading *rt_warpgroups_untold(RtPlace *p, uint32_t thread, const char *at,
                                           size_t bytes);
/* The block ends: operations in flight that nobody has waited for? */
RtMisuse rt_warpgroups_left(const RtPlace *p);
/* The block has ended. */
void rt_warpgroups_end(RtPlace *p);

#endif
