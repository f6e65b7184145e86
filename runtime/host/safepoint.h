/* Safepoint: where code on the host can be stopped, and lets Python's signal handlers run.
 *
 * Compiled code reads rt_host_safepoint on the back edges of loops and at the entries of recursion
 * (codegen/host/safepoints.c), and calls rt_host_at_safepoint (host.c) if it is not 0. It is not 0
 * while any launch is to stop, and once in TICK_NS for as long as one launch of the main thread
 * lasts: then Python's signal handlers get to run there. A thread of its own keeps that clock. It
 * is started at the main thread's first launch, and sleeps without a timeout when there has been no
 * launch for a while. */
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

#endif
