/* Stream state: what the files of this room know of a stream; other rooms know stream.h. */
#ifndef PYPTX_RUNTIME_LAUNCH_STREAM_STATE_H
#define PYPTX_RUNTIME_LAUNCH_STREAM_STATE_H

#include <stdatomic.h>

#include "runtime/driver/device_state.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/stream.h"

struct RtStream {
  RtDevice *device;
  CUstream handle;
  uint32_t epoch;
  uint8_t owned;
  uint8_t apart;    /* it may not wait for the legacy default stream, nor that for it */
  uint64_t capture; /* the capture that it takes part in (launch/graph.c), 0: none */
  /* where to note what is launched on it: its own, or the device's if it is but a view of a
   * stream */
  RtKernel *_Atomic *last;
  int32_t mark;
};

typedef struct RtOwnStream { /* of rt_stream_new and rt_stream_wrap */
  RtStream stream;
  RtKernel *_Atomic last;
  struct RtOwnStream *next, **link;
} RtOwnStream;

static inline void rt_note_last(RtDevice *d, const RtStream *s, RtKernel *k) {
  RtKernel *_Atomic *last = s ? s->last : &d->last;
  if (atomic_load_explicit(last, memory_order_relaxed) != k)
    atomic_store_explicit(last, k, memory_order_relaxed);
}

RtStatus rt_stream_check(RtDevice *d,
                         const RtStream *s); /* s is d's, or NULL, and no older than its context */

static inline CUstream rt_handle(const RtStream *s) { return s ? s->handle : NULL; }

#endif
