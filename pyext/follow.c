/* Follow: in, the streams that other libraries say their arrays are used on; out, the stream of a launch, in the order of the program.
 *
 * A launch that names a stream runs there, after the work on its arguments. One that names none runs on the stream of the first
 * library, after the work of all, and all of them, and the default stream where arrays of ours or copies of NumPy's are arguments,
 * go on after it. Order is by events: nobody waits. */
#include "pyext/graph.h"
#include "pyext/raise.h"
#include "pyext/typeof.h"

int px_follow_source(PxArgs *a, const PxSource *source) {
  PxFollow *f = &a->follow;
  for (unsigned i = 0; i < f->nsources; i++)
    if (f->sources[i] == source)
      return 0;
  if (f->nsources < PX_FOLLOWED) {
    f->sources[f->nsources++] = source;
    return 0;
  }
  uint64_t handle;
  return px_source_stream(a->st, source, rt_device_ordinal(a->device), &handle) < 0
             ? -1
             : px_follow_handle(a, handle);
}

static int order(PxArgs *a, RtStream *first, RtStream *then) {
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_stream_order(a->device, first, then);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(a->st, status, return -1);
  return 0;
}

static int order_handle(PxArgs *a, uint64_t first, RtStream *then) {
  RtStreamRoom room;
  return order(a, rt_stream_in(&room, a->device, first), then);
}

int px_follow_handle(PxArgs *a, uint64_t handle) {
  PxFollow *f = &a->follow;
  if (handle <= 1) {
    f->on_default = true;
    return 0;
  }
  for (unsigned i = 0; i < f->nhandles; i++)
    if (f->handles[i] == handle)
      return 0;
  if (f->nhandles < PX_FOLLOWED) {
    f->handles[f->nhandles++] = handle;
    return 0;
  }
  PyErr_Format(PyExc_ValueError,
               "the arguments of the launch are in use on more than %d streams of other libraries: synchronise some first", PX_FOLLOWED);
  return -1;
}

int px_follow_before(PxArgs *a) {
  PxFollow *f = &a->follow;
  if (px_capturing()) /* the launch belongs to the captured stream, and work before the capture is not part of it */
    return 0;
  for (unsigned i = 0; i < f->nsources; i++) {
    uint64_t handle;
    if (px_source_stream(a->st, f->sources[i], rt_device_ordinal(a->device), &handle) < 0 ||
        px_follow_handle(a, handle) < 0)
      return -1;
  }
  if (!a->stream && f->nhandles)
    a->launch = rt_stream_in(&a->room, a->device, f->handles[0]);
  for (unsigned i = 0; i < f->nhandles; i++)
    if (order_handle(a, f->handles[i], a->launch) < 0)
      return -1;
  return f->on_default && a->launch ? order(a, NULL, a->launch) : 0;
}

int px_follow_after(PxArgs *a) {
  PxFollow *f = &a->follow;
  if (a->stream || !a->launch) /* the caller's stream is the caller's to wait for */
    return 0;
  for (unsigned i = 1; i < f->nhandles; i++) {
    RtStreamRoom room;
    if (order(a, a->launch, rt_stream_in(&room, a->device, f->handles[i])) < 0)
      return -1;
  }
  return f->on_default ? order(a, a->launch, NULL) : 0;
}
