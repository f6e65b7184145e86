/* Foreign: arrays of other libraries by the protocols that go through Python objects. Read with
 * care: it is any object's word. */
#include "pyext/array/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "pyext/array/dlpack.h"
#include "pyext/compile/record.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

void px_foreign_clear(PxForeign *f) {
  Py_CLEAR(f->dtype);
  Py_CLEAR(f->keeper);
}

/* --- the CUDA array interface --- */

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

static int read_extents(PyObject *shape, PxForeign *out) {
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
  return 0;
}

/* Those given, or None: C order. No element is further from the first one than an address can
 * be. */
static int read_strides(PyObject *strides, PxForeign *out) {
  bool given = strides && strides != Py_None;
  int64_t expect = (int64_t)out->itemsize, reach = expect;
  if (given && (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != out->ndim))
    return bad("strides must be None or a tuple as long as shape");
  if (PyErr_Occurred() || (given && read_dims(strides, out->ndim, out->strides) < 0))
    return -1;
  for (unsigned i = out->ndim; i-- > 0;) {
    if (!given)
      out->strides[i] = expect;
    if (!px_add_reach(out->strides[i], out->shape[i], &reach) ||
        __builtin_mul_overflow(expect, out->shape[i] ? out->shape[i] : 1, &expect))
      return bad("extents and strides beyond 63 bits");
  }
  return 0;
}

/* The dict's tuples are kept: reading their items may run code. */
static int read_shape(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *shape = px_dict_get(interface, st->name.shape), *strides = NULL;
  int failed = read_extents(shape, out);
  if (!failed) {
    strides = px_dict_get(interface, st->name.strides);
    failed = read_strides(strides, out);
  }
  Py_XDECREF(strides);
  Py_XDECREF(shape);
  return failed;
}

static int read_data(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *data = px_dict_get(interface, st->name.data); /* kept, as above */
  if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
    Py_XDECREF(data);
    return PyErr_Occurred() ? -1 : bad("data must be (address, readonly)");
  }
  out->address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(data, 0));
  int readonly = PyErr_Occurred() ? -1 : PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
  Py_DECREF(data);
  out->readonly = readonly > 0;
  bool empty = false;
  for (unsigned i = 0; i < out->ndim; i++)
    empty |= !out->shape[i];
  if (readonly >= 0 && !out->address && !empty)
    return bad("it has elements, but the address 0");
  return readonly < 0 ? -1 : 0;
}

/* The fields of a structured dtype, whose typestr says no more than its size. */
static int read_fields(PxState *st, PyObject *interface, PyObject *typestr, PxForeign *out) {
  const char *text = PyUnicode_AsUTF8(typestr);
  PyObject *descr = text && strchr(text, 'V') ? px_dict_get(interface, st->name.descr) : NULL;
  if (!descr || !PyList_Check(descr)) {
    Py_XDECREF(descr);
    return PyErr_Occurred() ? -1 : 0;
  }
  PyObject *format = PyImport_ImportModule("numpy.lib.format");
  PyObject *dtype = format ? px_call_method(format, "descr_to_dtype", descr) : NULL;
  PyObject *size = dtype ? PyObject_GetAttr(dtype, st->name.itemsize) : NULL;
  bool same = size && PyLong_AsSize_t(size) == out->itemsize;
  if (same)
    Py_SETREF(out->dtype, Py_NewRef(dtype));
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "bad __cuda_array_interface__: descr and typestr differ");
  Py_XDECREF(size);
  Py_XDECREF(dtype);
  Py_XDECREF(format);
  Py_DECREF(descr);
  return same ? 0 : -1;
}

static int read_typestr(PxState *st, PyObject *interface, PyObject *typestr, PxForeign *out) {
  if (px_need_numpy(st) < 0 || !(out->dtype = PyObject_CallOneArg(st->np_dtype, typestr)))
    return -1;
  PyObject *size = PyObject_GetAttr(out->dtype, st->name.itemsize);
  out->itemsize = size ? PyLong_AsSize_t(size) : 0;
  Py_XDECREF(size);
  return PyErr_Occurred() ? -1 : read_fields(st, interface, typestr, out);
}

/* Pointers to objects that nobody holds. */
static int check_objects(PyObject *dtype) {
  PyObject *objects = PyObject_GetAttrString(dtype, "hasobject");
  Py_XDECREF(objects);
  return objects == Py_False ? 0 : objects ? bad("its elements are Python objects") : -1;
}

static int read_dtype(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *typestr = px_dict_get(interface, st->name.typestr); /* kept, as below */
  int failed = -1;
  if (typestr && PyUnicode_Check(typestr))
    failed = read_typestr(st, interface, typestr, out) < 0 ? -1 : check_objects(out->dtype);
  else if (!PyErr_Occurred())
    bad("typestr must be a str");
  Py_XDECREF(typestr);
  return failed;
}

static int read_stream(PxState *st, PyObject *interface, PxForeign *out) {
  PyObject *stream = px_dict_get(interface, st->name.stream);
  const char *off = stream && stream != Py_None ? getenv("PYPTX_CAI_SYNC") : NULL;
  bool named = stream && stream != Py_None && !(off && !strcmp(off, "0"));
  out->stream = named && PyLong_Check(stream) ? PyLong_AsUnsignedLongLong(stream) : 0;
  Py_XDECREF(stream);
  if (!stream && PyErr_Occurred())
    return -1;
  bool wrong = named && (PyErr_Occurred() || !out->stream);
  PyErr_Clear();
  if (wrong)
    return bad("stream must be None, 1 (the legacy default stream), 2 (the per-thread one) or the "
               "handle of a stream, and 0 is not allowed");
  out->has_stream = named;
  return 0;
}

int px_foreign_read(PxState *st, PyObject *interface, PxForeign *out) {
  *out = (PxForeign){.elem = PX_NO_ELEM, .device = PX_UNKNOWN_GPU};
  if (!PyDict_Check(interface))
    return bad("not a dict");
  PyObject *mask = PyDict_GetItemString(interface, "mask");
  if (mask && mask != Py_None)
    return PyErr_SetString(PyExc_NotImplementedError, "Masked arrays are not supported"), -1;
  if (read_dtype(st, interface, out) < 0 || read_shape(st, interface, out) < 0 ||
      read_data(st, interface, out) < 0 || read_stream(st, interface, out) < 0) {
    Py_CLEAR(out->dtype);
    return -1;
  }
  out->elem = px_elem_of_dtype(st, out->dtype);
  return 0;
}

int px_foreign_wait(PxState *st, const PxForeign *f, RtDevice *d, RtStream *stream) {
  if (px_capturing()) /* work that is not captured is before the capture, not in it */
    return 0;
  if (!f->has_stream || rt_device_is_host(d) ||
      (stream ? rt_stream_handle(stream) : 1) == (f->stream ? f->stream : 1))
    return 0;
  RtStreamRoom room;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_stream_order(d, rt_stream_in(&room, d, f->stream), stream);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}

/* --- any object --- */

/* An object with both is asked for DLPack: it names its device, and has types that the interface
 * lacks. */
static int of_dlpack(PxState *st, PyObject *obj, uint64_t stream, PxForeign *out) {
  int id = -1, type = px_dlpack_device(st, obj, &id);
  if (type <= 0)
    return type;
  return px_dlpack_import(st, obj, type, stream, out) < 0 ? -1 : 1;
}

static int of_interface(PxState *st, PyObject *obj, PxForeign *out) {
  PyObject *interface = px_getattr_optional(obj, st->name.__cuda_array_interface__);
  if (!interface)
    return PyErr_Occurred() ? -1 : 0;
  int failed = px_foreign_read(st, interface, out);
  Py_DECREF(interface);
  return failed < 0 ? -1 : 1;
}

int px_foreign_of(PxState *st, PyObject *obj, uint64_t stream, PxForeign *out) {
  if (PyType_Check(obj))
    return 0;
  int found = of_dlpack(st, obj, stream, out);
  if (found < 0 && PyErr_ExceptionMatches(PyExc_BufferError)) { /* records, say */
    PyObject *reason = px_raised();
    found = of_interface(st, obj, out);
    if (found)
      Py_DECREF(reason);
    else
      px_reraise(reason);
    return found ? found : -1;
  }
  return found ? found : of_interface(st, obj, out);
}

/* Which GPU an address of the CUDA array interface belongs to. Memory that CUDA does not know stays
 * unknown: a GPU may reach it. */
static int gpu_of(const PxForeign *f) {
  int ordinal = f->device;
  if (f->device == PX_UNKNOWN_GPU && f->address && !rt_pointer_is_known(f->address, &ordinal))
    return PX_UNKNOWN_GPU;
  return ordinal;
}

int px_foreign_check(const PxForeign *f, RtDevice *d, PyObject *obj, const char *what) {
  const char *type = Py_TYPE(obj)->tp_name;
  if (f->device == PX_ANYWHERE)
    return 0;
  if (rt_device_is_host(d)) {
    if (f->device == RT_HOST)
      return 0;
    PyErr_Format(
        PyExc_TypeError,
        "%s (%.100s) lives on a GPU, but the current device is the host: copy it to a NumPy array",
        what, type);
    return -1;
  }
  if (f->device == RT_HOST) {
    PyErr_Format(
        PyExc_TypeError,
        "%s (%.100s) lives in host memory, but the current device is a GPU: move it to the GPU, or pass "
        "np.asarray(x), which is copied there and back",
        what, type);
    return -1;
  }
  int gpu = gpu_of(f);
  if (gpu == PX_UNKNOWN_GPU || gpu == rt_device_ordinal(d))
    return 0;
  PyErr_Format(
      PyExc_ValueError,
      "%s (%.100s) lives on GPU %d, but the %s device is GPU %d; copy it there, or launch in `with cuda.gpus[%d]:`",
      what, type, gpu, px_selected_device() == d ? "selected" : "current", rt_device_ordinal(d),
      gpu);
  return -1;
}
