/* Foreign: the CUDA array interface, read with care: it is any object's word. */
#include "pyext/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "pyext/raise.h"

static int bad(const char *what) {
  PyErr_Format(PyExc_TypeError, "bad __cuda_array_interface__: %s", what);
  return -1;
}

/* A tuple of n int64. */
static int read_dims(PyObject *tuple, unsigned n, int64_t *out) {
  for (unsigned i = 0; i < n; i++) {
    out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    if (out[i] == -1 && PyErr_Occurred())
      return -1;
  }
  return 0;
}

static int read_shape(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *shape = PyDict_GetItemWithError(interface, st->name.shape);
  if (!shape || !PyTuple_Check(shape))
    return PyErr_Occurred() ? -1 : bad("shape must be a tuple");
  if (PyTuple_GET_SIZE(shape) > TY_MAX_NDIM)
    return bad("too many axes");
  out->ndim = (unsigned)PyTuple_GET_SIZE(shape);
  if (read_dims(shape, out->ndim, out->shape) < 0)
    return -1;
  for (unsigned i = 0; i < out->ndim; i++)
    if (out->shape[i] < 0)
      return bad("negative extent");
  PyObject *strides = PyDict_GetItemWithError(interface, st->name.strides);
  if (strides && strides != Py_None) {
    if (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(shape))
      return bad("strides must be None or a tuple as long as shape");
    return read_dims(strides, out->ndim, out->strides);
  }
  int64_t stride = (int64_t)out->itemsize;
  for (unsigned i = out->ndim; i-- > 0; stride *= out->shape[i])
    out->strides[i] = stride;
  return PyErr_Occurred() ? -1 : 0;
}

static int read_data(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *data = PyDict_GetItemWithError(interface, st->name.data);
  if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2)
    return PyErr_Occurred() ? -1 : bad("data must be (address, readonly)");
  out->address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(data, 0));
  if (PyErr_Occurred())
    return -1;
  int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
  out->readonly = readonly > 0;
  return readonly < 0 ? -1 : 0;
}

/* The fields of a structured dtype, whose typestr says no more than its size. */
static int read_fields(PxState *st, PyObject *interface, PyObject *typestr, PxForeign *out) {
  PyObject *descr = PyDict_GetItemString(interface, "descr");
  const char *text = PyUnicode_AsUTF8(typestr);
  if (!descr || !PyList_Check(descr) || !text || !strchr(text, 'V'))
    return text ? 0 : -1;
  PyObject *format = PyImport_ImportModule("numpy.lib.format");
  PyObject *dtype = format ? PyObject_CallMethod(format, "descr_to_dtype", "O", descr) : NULL;
  PyObject *size = dtype ? PyObject_GetAttr(dtype, st->name.itemsize) : NULL;
  bool same = size && PyLong_AsSize_t(size) == out->itemsize;
  if (same)
    Py_SETREF(out->dtype, Py_NewRef(dtype));
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "bad __cuda_array_interface__: descr and typestr differ");
  Py_XDECREF(size);
  Py_XDECREF(dtype);
  Py_XDECREF(format);
  return same ? 0 : -1;
}

static int read_dtype(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *typestr = PyDict_GetItemWithError(interface, st->name.typestr);
  if (!typestr || !PyUnicode_Check(typestr))
    return PyErr_Occurred() ? -1 : bad("typestr must be a str");
  if (px_need_numpy(st) < 0 || !(out->dtype = PyObject_CallOneArg(st->np_dtype, typestr)))
    return -1;
  PyObject *size = PyObject_GetAttr(out->dtype, st->name.itemsize);
  out->itemsize = size ? PyLong_AsSize_t(size) : 0;
  Py_XDECREF(size);
  return PyErr_Occurred() ? -1 : read_fields(st, interface, typestr, out);
}

static int read_stream(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *stream = PyDict_GetItemWithError(interface, st->name.stream);
  if (!stream || stream == Py_None)
    return PyErr_Occurred() ? -1 : 0;
  out->stream = PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred())
    return -1;
  if (!out->stream)
    return bad("stream 0 is not allowed: 1 is the legacy default stream, 2 the per-thread one");
  out->has_stream = true;
  return 0;
}

int px_foreign_read(PxState *st, PyObject *interface, PxForeign *out) {
  *out = (PxForeign){0};
  if (!PyDict_Check(interface))
    return bad("not a dict");
  PyObject *mask = PyDict_GetItemString(interface, "mask");
  if (mask && mask != Py_None)
    return bad("masked arrays are not supported");
  if (read_dtype(st, interface, out) < 0 || read_shape(st, interface, out) < 0 ||
      read_data(st, interface, out) < 0 || read_stream(st, interface, out) < 0) {
    Py_CLEAR(out->dtype);
    return -1;
  }
  return 0;
}

int px_foreign_wait(PxState *st, const PxForeign *f, RtDevice *d, RtStream *stream) {
  const char *off = getenv("PYPTX_CAI_SYNC");
  if (!f->has_stream || (off && !strcmp(off, "0")) ||
      (stream && rt_stream_handle(stream) == f->stream))
    return 0;
  if (f->stream == 1 && !stream) /* both are the legacy default stream */
    return 0;
  RtStream *producer = NULL;
  RtEvent *event = NULL;
  RtStatus status = rt_stream_wrap(d, f->stream, &producer);
  if (status == RT_OK)
    status = rt_event_new(d, 0, &event);
  if (status == RT_OK)
    status = rt_event_record(event, producer);
  if (status == RT_OK)
    status = rt_stream_wait_event(stream, event);
  if (event)
    rt_event_release(event);
  if (producer)
    rt_stream_release(producer);
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}
