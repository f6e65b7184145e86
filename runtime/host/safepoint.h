/* Attention: how code that runs on the host is made to look up.
 *
 * Compiled code reads rt_host_attention where it goes back in a loop or into recursion
 * (codegen/host/safepoints.c), and calls rt_host_attend (host.c) if it is not 0. That is so while
 * any launch is to stop, and once in TICK_NS for as long as the same launch of the main thread
 * runs: there Python's handlers of signals are to have their turn. A thread of its own keeps that
 * clock. It is started at the main thread's first launch and sleeps without a clock where there has
 * been none for a while. */
#ifndef PYPTX_RUNTIME_HOST_SAFEPOINT_H
#define PYPTX_RUNTIME_HOST_SAFEPOINT_H

#include <stdbool.h>
#include <stdint.h>

/* One number, as an array so that its name is its address. */
extern uint32_t rt_host_attention[1];

/* A launch of the calling thread begins; the result is for rt_attention_end. Other threads than the
 * main one are not disturbed. */
uint64_t rt_attention_begin(void);
void rt_attention_end(uint64_t outer);
/* The main thread has looked up. */
void rt_attention_given(void);
/* A launch has begun to stop (+1), or is over (-1). */
void rt_attention_stop(int by);

#endif
