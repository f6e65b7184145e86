/* Stream and event. The host device runs everything at once, so its streams are always idle; its
 * events carry host times. */
#ifndef PYPTX_RUNTIME_LAUNCH_STREAM_H
#define PYPTX_RUNTIME_LAUNCH_STREAM_H

#include "runtime/driver/device.h"

typedef struct RtStream RtStream; /* NULL: the device's default stream (legacy) */
typedef struct RtEvent RtEvent;

RtStatus rt_stream_new(RtDevice *d, RtStream **out);
/* does not wait for the legacy default stream, nor it for this one */
RtStatus rt_stream_new_apart(RtDevice *d, RtStream **out);
/* a foreign CUstream; not destroyed. 1 legacy, 2 per-thread */
RtStatus rt_stream_wrap(RtDevice *d, uint64_t handle, RtStream **out);
void rt_stream_release(RtStream *s);
uint64_t rt_stream_handle(const RtStream *s);
RtDevice *rt_stream_device(const RtStream *s);
RtStatus rt_stream_synchronize(RtDevice *d, RtStream *s);
RtStatus rt_stream_query(RtDevice *d, RtStream *s, int *done);
RtStatus rt_stream_wait_event(RtStream *s, RtEvent *e);

typedef struct RtStreamRoom {
  uint64_t room[6];
} RtStreamRoom;
/* As rt_stream_wrap in the caller's memory, not to be released; NULL for handles 0 and 1, the
 * default stream. */
RtStream *rt_stream_in(RtStreamRoom *room, RtDevice *d, uint64_t handle);
/* What is put on `then` from now on runs after what is on `first` now. Waits for nothing, and makes
 * no event in steady state. Does nothing while one of them is being captured into a graph: the
 * order there is the capturer's. */
RtStatus rt_stream_order(RtDevice *d, RtStream *first, RtStream *then);
/* Not 0: it is being captured, by whichever library, or cannot be asked. It must not be waited
 * for. */
int rt_stream_captured(RtDevice *d, RtStream *s);

RtStatus rt_event_new(RtDevice *d, int timing, RtEvent **out);
void rt_event_release(RtEvent *e);
RtStatus rt_event_record(RtEvent *e, RtStream *s);
RtStatus rt_event_synchronize(RtEvent *e);
RtStatus rt_event_query(RtEvent *e, int *done);
RtStatus rt_event_elapsed(RtEvent *start, RtEvent *end, float *ms);
uint64_t rt_event_handle(const RtEvent *e);

#endif
