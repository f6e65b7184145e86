/* Workers: one OS thread's own part of a launch, with the memory that its blocks use. Made at the
 * thread's first launch, freed when it ends. A launch by a signal's handler, in the middle of
 * another one of the thread, has a worker for itself. */
#ifndef PYPTX_RUNTIME_HOST_WORKERS_H
#define PYPTX_RUNTIME_HOST_WORKERS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi.h"
#include "runtime/host/block_places.h"
#include "runtime/host/shares.h"

enum {
  /* of a thread's stack, beside the frames of compiled code: for what that calls, and handlers of
   * signals */
  RT_STACK_REST = 64 << 10,
};

typedef struct RtBuffer {
  void *at;
  size_t size;
} RtBuffer;

struct Launch; /* host.c's */

typedef struct RtWorker {
  RtHostLaunch view;
  struct Launch *launch;  /* that it works for, NULL between launches */
  struct RtWorker *outer; /* of a launch in the middle of another one: that one's; else NULL */
  RtPlace *place;         /* that it is in, NULL without */
  RtTaker taker;
  jmp_buf out;
  RtBuffer shared, frame, sums;    /* sums: sums.h */
  uint64_t gave;                   /* when it last gave those away */
  uintptr_t stack_low, stack_high; /* 0: the system does not say */
} RtWorker;

/* The calling thread's, with so much memory, which is zero where it is new; its launch is the
 * caller's to set. NULL: there is no memory, or *is_short: the thread's stack is too short for
 * stack_bytes of frames. */
RtWorker *rt_worker_enter(size_t stack_bytes, size_t shared, size_t frame, bool *is_short);
/* More of its memory; NULL: there is none. */
void *rt_worker_reserve(RtBuffer *b, size_t size);
void rt_worker_leave(RtWorker *w);
/* The calling thread's, inside a launch. */
RtWorker *rt_worker_here(void);
/* Compiled code whose frames are not on the stack yet stays above this address; 0: not known. */
uintptr_t rt_worker_stack_end(const RtWorker *w, size_t stack_bytes);

#endif
