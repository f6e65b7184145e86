/* Capture: the calls that become nodes of a graph instead of being done (graph.c). */
#ifndef PYPTX_RUNTIME_LAUNCH_CAPTURE_H
#define PYPTX_RUNTIME_LAUNCH_CAPTURE_H

#include <stdatomic.h>

#include "runtime/launch/graph.h"

/* What this thread captures. A function that queues work, waits or allocates asks it first, and if
 * it is not NULL hands the call on to one of these. While it is set rt_current is NULL: a launch
 * asks only then. */
extern _Thread_local struct RtGraph *rt_capture;
/* while such a call is passed on, rt_capture is NULL and this is set */
extern _Thread_local struct RtGraph *rt_passing;
/* of all threads: what is freed while there are any waits for their end */
extern _Atomic unsigned rt_captures;

typedef struct RtCopy {
  enum { RT_COPY_TO_DEVICE, RT_COPY_TO_HOST, RT_COPY_ON_DEVICE, RT_COPY_FILL } way;
  uint8_t byte;
  uint64_t to, from;
  size_t bytes;
} RtCopy;

RtStatus rt_capture_launch(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap);
RtStatus rt_capture_copy(RtDevice *d, RtStream *s, RtCopy copy);
RtStatus rt_capture_alloc(RtDevice *d, size_t bytes, uint64_t *address);
int rt_capture_defer(RtDevice *d, uint64_t address, size_t bytes); /* 0: free it now */
RtStatus rt_capture_wait(RtDevice *d, RtStream *s); /* refuses to wait for what is captured */
/* An event of the capture: where it stands in the order. *capture 0: it is not one. */
RtStatus rt_capture_record(RtDevice *d, RtStream *s, uint64_t *capture, int32_t *mark);
RtStatus rt_capture_join(RtDevice *d, RtStream *s, uint64_t capture, int32_t mark);
/* The stream that s stands for: the captured one for NULL while this thread captures, else s. */
RtStream *rt_stream_now(RtDevice *d, RtStream *s);
/* Memory that lives as long as the graph that a launch is passed on for. */
RtStatus rt_passing_alloc(RtDevice *d, size_t bytes, uint64_t *address);

#endif
