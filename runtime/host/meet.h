/* Meet: threads of a block on the host that wait for each other in warps, at barriers and at the
 * grid's barrier.
 *
 * Compiled code calls these between the segments of a kernel (codegen/fission/fission.h) whose
 * threads meet in other ways than plain barriers alone. Each says how the block goes on (abi.h). A
 * thread that waits for one that cannot come stops the launch: these functions then do not return.
 * points: one a segment. block: the block's number. */
#ifndef PYPTX_RUNTIME_HOST_MEET_H
#define PYPTX_RUNTIME_HOST_MEET_H

#include <stdbool.h>

#include "runtime/abi.h"

/* All threads of the block stand in front of segment `at`, and their next need not be written. */
uint32_t rt_host_meet(const RtHostLaunch *view, const RtMeetPoint *points, uint64_t block,
                      uint32_t at, RtMeetState *state);
/* Every thread stands in front of the segment that its next names. */
uint32_t rt_host_release(const RtHostLaunch *view, const RtMeetPoint *points, uint64_t block,
                         RtMeetState *state);
/* The block had left to wait: the threads that yield go on, or if the grid has met all that have
 * not ended. */
uint32_t rt_host_resume(const RtHostLaunch *view, const RtMeetPoint *points, RtMeetState *state);
/* After APART: the next threads that are ready for one segment, whose number is returned; 0: there
 * are no more. */
uint32_t rt_host_run_of_threads(const RtHostLaunch *view, RtMeetState *state);

/* host.c: the block waits for the grid, at this point. */
void rt_host_wait_for_grid(const RtHostLaunch *view, uint32_t site, uint64_t block,
                           uint32_t thread);
/* host.c: all threads that could go on yield, and `standing` says where all of them stand. Is that
 * where they stood the last time? Then the block is to leave: what it waits for is not done by its
 * own threads. */
bool rt_host_yields(const RtHostLaunch *view, uint64_t standing, const uint32_t votes[4]);
/* host.c: threads of the block wait for others of its cluster, the first of them at this site; and
 * did they, when it was left? Then its number too. */
void rt_host_waits(const RtHostLaunch *view, uint32_t site, uint32_t thread, uint32_t what,
                   uint64_t operand, const uint32_t votes[4]);
bool rt_host_waited(const RtHostLaunch *view, uint64_t *block);
/* host.c: the place of the block that runs; NULL if it has none. */
struct RtPlace *rt_host_place(const RtHostLaunch *view);
/* host.c: has the launch's timeout passed? Then it ends, with that thread at that site; where they
 * are RT_NO_SITE and RT_NO_THREAD perhaps a little later. */
bool rt_host_is_late(const RtHostLaunch *view);
void rt_host_look_late(const RtHostLaunch *view, uint32_t site, uint64_t block, uint32_t thread);
/* host.c: the votes that were in the block's state when it left. */
void rt_host_votes(const RtHostLaunch *view, uint32_t votes[4]);

#endif
