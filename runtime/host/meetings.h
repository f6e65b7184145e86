/* Meetings: which threads of a block know, behind barriers, what others did.
 *
 * A log of the last so many steps: threads arrive at a barrier, all that it waits for have come,
 * threads go on behind it. What a thread knew when it arrived is known to those that go on, and to
 * nobody else. What threads of other blocks know is one mark: who arrives elsewhere tells all of
 * them. Where the log has forgotten, all know all. */
#ifndef PYPTX_RUNTIME_HOST_MEETINGS_H
#define PYPTX_RUNTIME_HOST_MEETINGS_H

#include "runtime/host/block_places.h"

/* Barriers of a block, as numbers: named ones, its cluster's, then its mbarriers. */
enum { RT_AT_CLUSTER = RT_NAMED_BARRIERS, RT_AT_MBARRIERS };

/* A thread arrives at a barrier of its block; of another block; one of another block arrives. */
void rt_meeting_arrives(RtPlace *p, uint32_t at, uint32_t thread);
void rt_meeting_arrives_elsewhere(RtPlace *p, uint32_t thread);
void rt_meeting_other_arrives(RtPlace *p, uint32_t at);
/* All that it waits for have come. */
void rt_meeting_is_over(RtPlace *p, uint32_t at);
/* A thread goes on behind it; more than one does. */
void rt_meeting_lets_go(RtPlace *p, uint32_t at, uint32_t thread);
void rt_meeting_lets_all_go(RtPlace *p, uint32_t at, const RtThreads *threads);

/* The time of what a thread does now: behind all that it has come to, in front of what it comes to
 * next. */
uint32_t rt_meeting_now(RtPlace *p, uint32_t thread);

/* May the thread know what thread `other` of its block did at that time? */
bool rt_meeting_tells(const RtPlace *p, uint32_t thread, uint32_t other, uint32_t time);
/* Who may know what `count` threads from `first` on did at that time; what has come to a barrier
 * then. True: threads of other blocks may, too. */
bool rt_meeting_told(const RtPlace *p, uint32_t first, uint32_t count, uint32_t time,
                     RtThreads *out);
bool rt_meeting_told_at(const RtPlace *p, uint32_t at, uint32_t time, RtThreads *out);

/* Since when threads of other blocks may know what a thread did, or what has come to a barrier, at
 * that time: since a thread that knows arrived there, or the cluster met. 0: they do not. */
uint32_t rt_meeting_told_others(const RtPlace *p, bool barrier, uint32_t what, uint32_t time);

void rt_threads_put(RtThreads *s, uint32_t thread);
bool rt_threads_have(const RtThreads *s, uint32_t thread);

#endif
