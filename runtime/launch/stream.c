/* Stream and event: in, a device; out, handles that know their device and its epoch, so that one
 * that outlives a reset is an error and not a call into the driver with a dead handle. The host
 * device does everything at once: its streams are always idle.
 *
 * A reset destroys the context and with it all handles, without asking their owners. So each
 * handle keeps the epoch of its device that it was made in, and is compared before each use; one
 * of another epoch is neither used nor destroyed, since the driver may have given its value to a
 * new one. A stream of its own is also in its device's list, for the names of the kernels launched
 * last. */
#include <stdlib.h>
#include <string.h>

#include "runtime/clock.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/block_cache.h"

struct RtEvent {
  RtDevice *device;
  CUevent handle;
  uint32_t epoch;
  uint8_t timing;
  _Atomic uint8_t recorded;
  uint64_t capture; /* recorded in one: where it stands there (graph.c) */
  int32_t mark;
  _Atomic int64_t ns; /* host device: when it was recorded */
};

static RtStatus gone(const char *what) {
  return rt_fail(RT_CONTEXT_LOST, "make it again after device.reset()",
                 "the device was reset after this %s was made", what);
}

RtStatus rt_stream_check(RtDevice *d, const RtStream *s) {
  if (!s)
    return RT_OK;
  if (UNLIKELY(s->device != d))
    return rt_fail(RT_BAD_ARGUMENT, "use a stream of the device that holds the data",
                   "the stream belongs to %s, not to %s", s->device->label, d->label);
  return LIKELY(s->epoch == rt_epoch(d)) ? RT_OK : gone("stream");
}

static RtStatus no_memory(const char *what) {
  return rt_fail(RT_NO_MEMORY, "", "no host memory for a %s", what);
}

/* --- streams --- */

/* NULL where there is no memory for it. */
static RtStream *stream_of(RtDevice *d, CUstream handle, int owned) {
  RtOwnStream *s = calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->stream = (RtStream){.device = d,
                         .handle = handle,
                         .epoch = rt_epoch(d),
                         .owned = (uint8_t)owned,
                         .apart = !owned && handle, /* who knows how it was made */
                         .last = &s->last};
  rt_last_of_stream(s, 1);
  return &s->stream;
}

static void stream_free(RtStream *s) {
  rt_last_of_stream((RtOwnStream *)s, 0);
  free(s);
}

/* Streams wait for the legacy default stream and it for them, as CUDA C++ has it without flags. */
static RtStatus stream_new(RtDevice *d, unsigned flags, RtStream **out) {
  *out = stream_of(d, NULL, 1);
  if (!*out)
    return no_memory("stream");
  (*out)->apart = flags != 0;
  if (rt_is_host(d))
    return RT_OK;
  RtContext was SCOPED = {0};
  RtStatus status = rt_enter(&was, d);
  if (status == RT_OK)
    status = CU(cuStreamCreate, (&(*out)->handle, flags));
  if (status != RT_OK) {
    stream_free(*out);
    *out = NULL;
  }
  return status;
}

RtStatus rt_stream_new(RtDevice *d, RtStream **out) { return stream_new(d, 0, out); }
RtStatus rt_stream_new_apart(RtDevice *d, RtStream **out) {
  return stream_new(d, CU_STREAM_NON_BLOCKING, out);
}

RtStatus rt_stream_wrap(RtDevice *d, uint64_t handle, RtStream **out) {
  *out = stream_of(d, (CUstream)(uintptr_t)(handle == CU_STREAM_LEGACY_HANDLE ? 0 : handle), 0);
  return *out ? RT_OK : no_memory("stream");
}

_Static_assert(sizeof(RtStream) <= sizeof(RtStreamRoom), "RtStreamRoom is too small");

RtStream *rt_stream_in(RtStreamRoom *room, RtDevice *d, uint64_t handle) {
  RtStream s = {
      .device = d, .handle = (CUstream)(uintptr_t)handle, .epoch = rt_epoch(d), .last = &d->last};
  if (handle <= CU_STREAM_LEGACY_HANDLE)
    return NULL;
  return memcpy(room, &s, sizeof s);
}

void rt_stream_release(RtStream *s) {
  if (!s)
    return;
  RtContext was SCOPED = {0};
  if (s->owned && !rt_is_host(s->device) && s->handle &&
      rt_enter_alive(&was, s->device, s->epoch)) {
    rt_cache_flush(s->device, s->handle, 0);
    rt_cu.cuStreamDestroy(s->handle);
  }
  stream_free(s);
}

uint64_t rt_stream_handle(const RtStream *s) { return (uintptr_t)rt_handle(s); }
RtDevice *rt_stream_device(const RtStream *s) { return s->device; }

RtStatus rt_stream_synchronize(RtDevice *d, RtStream *s) {
  if (UNLIKELY(rt_capture != NULL))
    TRY(rt_capture_wait(d, s));
  if (rt_is_host(d))
    return RT_OK;
  ENTER(d);
  TRY(rt_stream_check(d, s));
  return CU(cuStreamSynchronize, (rt_handle(s)));
}

static RtStatus answer(int result, const char *call, int *done) {
  *done = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? RT_OK : rt_driver_check(result, call);
}

RtStatus rt_stream_query(RtDevice *d, RtStream *s, int *done) {
  *done = 1;
  if (UNLIKELY(rt_capture != NULL))
    TRY(rt_capture_wait(d, s));
  if (rt_is_host(d))
    return RT_OK;
  ENTER(d);
  TRY(rt_stream_check(d, s));
  return answer(rt_cu.cuStreamQuery(rt_handle(s)), "cuStreamQuery", done);
}

/* --- events --- */

static RtStatus event_enter(RtContext *was, RtEvent *e) {
  TRY(rt_enter(was, e->device));
  return e->epoch == rt_epoch(e->device) ? RT_OK : gone("event");
}

RtStatus rt_stream_wait_event(RtStream *s, RtEvent *e) {
  RtDevice *d = s ? s->device : e->device;
  if (UNLIKELY(rt_capture != NULL) || e->capture)
    TRY(rt_capture_join(d, s, e->capture, e->mark));
  s = rt_stream_now(d, s);
  if (rt_is_host(e->device))
    return RT_OK;
  if (rt_is_host(d)) /* the host's work starts when it is asked for, so the wait is now */
    return rt_event_synchronize(e);
  RtContext was SCOPED = {0}, then SCOPED = {0};
  TRY(event_enter(&was, e));
  TRY(rt_enter(&then, d));
  TRY(rt_stream_check(d, s));
  return CU(cuStreamWaitEvent, (rt_handle(s), e->handle, 0));
}

RtStatus rt_event_new(RtDevice *d, int timing, RtEvent **out) {
  RtEvent *e = *out = calloc(1, sizeof *e);
  if (!e)
    return no_memory("event");
  e->device = d;
  e->epoch = rt_epoch(d);
  e->timing = timing != 0;
  if (rt_is_host(d))
    return RT_OK;
  RtContext was SCOPED = {0};
  RtStatus status = rt_enter(&was, d);
  if (status == RT_OK)
    status = CU(cuEventCreate, (&e->handle, timing ? 0 : CU_EVENT_NO_TIMING));
  if (status != RT_OK) {
    free(e);
    *out = NULL;
  }
  return status;
}

void rt_event_release(RtEvent *e) {
  if (!e)
    return;
  RtContext was SCOPED = {0};
  if (!rt_is_host(e->device) && rt_enter_alive(&was, e->device, e->epoch))
    rt_cu.cuEventDestroy(e->handle);
  free(e);
}

RtStatus rt_event_record(RtEvent *e, RtStream *s) {
  RtDevice *d = e->device;
  RtContext was SCOPED = {0};
  TRY(rt_capture_record(d, s, &e->capture, &e->mark));
  s = rt_stream_now(d, s);
  if (rt_is_host(d)) {
    TRY(rt_stream_check(d, s));
    e->ns = rt_clock_ns();
  } else {
    TRY(event_enter(&was, e));
    TRY(rt_stream_check(d, s));
    TRY(CU(cuEventRecord, (e->handle, rt_handle(s))));
  }
  e->recorded = !e->capture; /* it marks a place in the graph, and no time */
  return RT_OK;
}

/* --- order --- */

/* An event of the device for one use, from those that rest. */
static RtStatus take_event(RtDevice *d, CUevent *out) {
  pthread_mutex_lock(&d->lock);
  if (d->spare_epoch != rt_epoch(d)) /* they went with the context */
    d->spares = 0;
  d->spare_epoch = rt_epoch(d);
  *out = d->spares ? d->spare[--d->spares] : NULL;
  pthread_mutex_unlock(&d->lock);
  return *out ? RT_OK : CU(cuEventCreate, (out, CU_EVENT_NO_TIMING));
}

static void give_event(RtDevice *d, CUevent e, uint32_t epoch) {
  pthread_mutex_lock(&d->lock);
  int current = epoch == rt_epoch(d) && epoch == d->spare_epoch;
  int keep = current && d->spares < RT_SPARE_EVENTS;
  if (keep)
    d->spare[d->spares++] = e;
  pthread_mutex_unlock(&d->lock);
  if (current && !keep)
    rt_cu.cuEventDestroy(e);
}

/* An error (the legacy stream while another thread captures) is an answer too: no wait can be put
 * there. */
static int capturing(CUstream s) {
  int state = 0;
  return rt_cu.cuStreamIsCapturing(s, &state) != CUDA_SUCCESS || state;
}

int rt_stream_captured(RtDevice *d, RtStream *s) {
  RtContext was SCOPED = {0};
  return !rt_is_host(d) && (rt_enter(&was, d) != RT_OK || capturing(rt_handle(s)));
}

RtStatus rt_stream_order(RtDevice *d, RtStream *first, RtStream *then) {
  CUevent event;
  if (rt_is_host(d) || rt_capture || rt_handle(first) == rt_handle(then))
    return RT_OK;
  ENTER(d);
  TRY(rt_stream_check(d, first));
  TRY(rt_stream_check(d, then));
  if (capturing(rt_handle(first)) || capturing(rt_handle(then)))
    return RT_OK;
  uint32_t epoch = rt_epoch(d);
  TRY(take_event(d, &event));
  RtStatus status = CU(cuEventRecord, (event, rt_handle(first)));
  if (status == RT_OK)
    status = CU(cuStreamWaitEvent, (rt_handle(then), event, 0));
  give_event(d, event, epoch);
  return status;
}

static RtStatus check_time(const RtEvent *e) {
  return !e->capture ? RT_OK : rt_driver_status(CUDA_ERROR_CAPTURED_EVENT, "event");
}

RtStatus rt_event_synchronize(RtEvent *e) {
  TRY(check_time(e));
  if (rt_is_host(e->device))
    return RT_OK;
  RtContext was SCOPED = {0};
  TRY(event_enter(&was, e));
  return CU(cuEventSynchronize, (e->handle));
}

RtStatus rt_event_query(RtEvent *e, int *done) {
  *done = 1;
  TRY(check_time(e));
  if (rt_is_host(e->device))
    return RT_OK;
  RtContext was SCOPED = {0};
  TRY(event_enter(&was, e));
  return answer(rt_cu.cuEventQuery(e->handle), "cuEventQuery", done);
}

static RtStatus check_elapsed(const RtEvent *start, const RtEvent *end) {
  if (start->device != end->device)
    return rt_fail(RT_BAD_ARGUMENT, "record both events on one device",
                   "the events belong to two devices, %s and %s", start->device->name,
                   end->device->name);
  if (!start->timing || !end->timing)
    return rt_fail(RT_BAD_ARGUMENT, "make both with cuda.event(timing=True)",
                   "the %s event was made with timing=False", start->timing ? "end" : "start");
  if (!start->recorded || !end->recorded)
    return rt_fail(RT_BAD_ARGUMENT, "call event.record() before and after the work",
                   "the %s event was never recorded", start->recorded ? "end" : "start");
  return RT_OK;
}

RtStatus rt_event_elapsed(RtEvent *start, RtEvent *end, float *ms) {
  *ms = 0;
  TRY(check_elapsed(start, end));
  if (rt_is_host(start->device)) {
    *ms = (float)((double)(end->ns - start->ns) * 1e-6);
    return RT_OK;
  }
  RtContext was SCOPED = {0};
  TRY(event_enter(&was, start));
  TRY(event_enter(&was, end)); /* of the same device */
  return CU(cuEventElapsedTime, (ms, start->handle, end->handle));
}

uint64_t rt_event_handle(const RtEvent *e) { return (uintptr_t)e->handle; }
