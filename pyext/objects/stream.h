/* Stream: streams and events as Python objects. */
#ifndef PYPTX_PYEXT_OBJECTS_STREAM_H
#define PYPTX_PYEXT_OBJECTS_STREAM_H

#include "pyext/state.h"

typedef struct PxStream {
  PyObject_HEAD RtDevice *device;
  RtStream *stream; /* NULL: the default stream */
  PyObject *owner;  /* of a foreign handle */
  PyObject *weakrefs;
} PxStream;

typedef struct PxEvent {
  PyObject_HEAD RtEvent *event;
  PyObject *weakrefs;
} PxEvent;

/* What users pass as a stream: a Stream, 0 or None (the default stream), an object with
 * __cuda_stream__. A new reference to a Stream, or to None for the default stream; NULL with
 * TypeError. */
PyObject *px_stream_argument(PxState *st, PyObject *arg);
/* The RtStream of what px_stream_argument gave. */
static inline RtStream *px_stream_of(PyObject *stream) {
  return stream && stream != Py_None ? ((PxStream *)stream)->stream : NULL;
}
/* A new stream of the device that does not wait for the legacy default stream. */
PyObject *px_stream_apart(PxState *st, RtDevice *d);

/* Waits for the stream (NULL: the default one) without the GIL, then raises what kernels raised. 0
 * or -1. */
int px_stream_wait(PxState *st, RtDevice *d, RtStream *s);
/* Waits for callbacks of a Stream, or of all those of a Device, that were added before: None, or
 * NULL with an exception. */
PyObject *px_callbacks_wait(PxState *st, PyObject *of);

#endif
