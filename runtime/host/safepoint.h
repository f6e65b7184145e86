/* Safepoint: where code on the host can be stopped, and lets Python's signal handlers run.
 *
 * Compiled code reads rt_host_safepoint on the back edges of loops and at the entries of recursion
 * (codegen/host/safepoints.c), and calls rt_host_at_safepoint (calls.h) if it is not 0. It is not 0
 * while any launch is to stop, and once in TICK_NS for as long as one launch of the main thread
 * lasts: then Python's signal handlers get to run there; and from the deadline of a launch until it
 * is over. A thread of its own keeps that clock. It is started at the main thread's first launch,
 * or the first with a deadline, and sleeps without a timeout when there has been none for a
 * while. */
#ifndef PYPTX_RUNTIME_HOST_SAFEPOINT_H
#define PYPTX_RUNTIME_HOST_SAFEPOINT_H

#include <stdbool.h>
#include <stdint.h>

/* One number, as an array so that its name is its address. */
extern uint32_t rt_host_safepoint[1];

/* A launch of the calling thread begins; the result is for rt_safepoint_end. Other threads than the
 * main one are not disturbed. */
uint64_t rt_safepoint_begin(void);
void rt_safepoint_end(uint64_t outer);
/* The main thread has come to a safepoint. */
void rt_safepoint_passed(void);
/* A launch has begun to stop (+1), or is over (-1). */
void rt_safepoint_stop(int by);

/* A launch that must end: its owner's, from rt_deadline_set to rt_deadline_clear. */
typedef struct RtDeadline {
  uint64_t at;         /* CLOCK_MONOTONIC, in ns */
  _Atomic bool passed; /* set by the clock, some ms late at most while the process gets time */
  bool watched;        /* the module's own, and the rest */
  struct RtDeadline *next;
} RtDeadline;
/* False: there is no thread for the clock, and it never passes. */
bool rt_deadline_set(RtDeadline *d, uint64_t ns);
void rt_deadline_clear(RtDeadline *d);

#endif
