/* Follow: in, the streams that other libraries say their arrays are used on; out, the stream of a
 * launch, in the order of the program.
 *
 * A launch that names a stream runs there, after the work on its arguments. One that names none
 * runs on the stream of the first library, after the work of all, and all of them, and the default
 * stream where arrays of ours or copies of NumPy's are arguments, go on after it. Order is by
 * events: nobody waits. */
#include "pyext/launch/stream_order.h"

#include "pyext/array/foreign_types.h"
#include "pyext/objects/graph.h"
#include "pyext/raise.h"

int px_follow_source(PxFollow *f, const PxSource *source) {
  for (unsigned i = 0; i < f->nsources; i++)
    if (f->sources[i] == source)
      return 0;
  if (f->nsources < PX_FOLLOWED) {
    f->sources[f->nsources++] = source;
    return 0;
  }
  uint64_t handle;
  return px_source_stream(f->st, source, rt_device_ordinal(f->device), &handle) < 0
             ? -1
             : px_follow_handle(f, handle);
}

static int order(PxFollow *f, RtStream *first, RtStream *then) {
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_stream_order(f->device, first, then);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(f->st, status, return -1);
  return 0;
}

static int order_handle(PxFollow *f, uint64_t first, RtStream *then) {
  RtStreamRoom room;
  return order(f, rt_stream_in(&room, f->device, first), then);
}

int px_follow_handle(PxFollow *f, uint64_t handle) {
  if (handle <= 1) {
    f->theirs_default = true;
    return 0;
  }
  for (unsigned i = 0; i < f->nhandles; i++)
    if (f->handles[i] == handle)
      return 0;
  if (f->nhandles < PX_FOLLOWED) {
    f->handles[f->nhandles++] = handle;
    return 0;
  }
  PyErr_Format(
      PyExc_ValueError,
      "the arguments of the launch are in use on more than %d streams of other libraries: synchronise some first",
      PX_FOLLOWED);
  return -1;
}

int px_follow_before(PxFollow *f) {
  assert(f->nsources <= PX_FOLLOWED && f->nhandles <= PX_FOLLOWED && f->launch == f->named);
  /* the launch belongs to the captured stream, and work before the capture is not part of it */
  if (px_capturing())
    return 0;
  for (unsigned i = 0; i < f->nsources; i++) {
    uint64_t handle;
    if (px_source_stream(f->st, f->sources[i], rt_device_ordinal(f->device), &handle) < 0 ||
        px_follow_handle(f, handle) < 0)
      return -1;
  }
  if (!f->named && f->nhandles)
    f->launch = rt_stream_in(&f->room, f->device, f->handles[0]);
  for (unsigned i = f->named ? 0 : 1; i < f->nhandles; i++)
    if (order_handle(f, f->handles[i], f->launch) < 0)
      return -1;
  /* our own arrays on it are the caller's to order */
  bool waits = f->theirs_default || (f->on_default && !f->named);
  return waits && f->launch ? order(f, NULL, f->launch) : 0;
}

int px_follow_after(PxFollow *f) {
  if (f->named || !f->launch) /* the caller's stream is the caller's to wait for */
    return 0;
  for (unsigned i = 1; i < f->nhandles; i++) {
    RtStreamRoom room;
    if (order(f, f->launch, rt_stream_in(&room, f->device, f->handles[i])) < 0)
      return -1;
  }
  return f->on_default || f->theirs_default ? order(f, f->launch, NULL) : 0;
}
