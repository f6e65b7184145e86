/* Array copies: between device arrays and NumPy arrays, any strides on both sides.
 *
 * Contiguous arrays are one copy. Of strided ones the driver copies rows and planes, where they lie
 * so (runtime/memory/strided_copies.c). Any other strided device array is reached through its
 * window, the bytes from its lowest to its highest element: the window is copied to the host, NumPy
 * does the rest there, and after a write the window is copied back. The host device's window is
 * memory that NumPy reaches where it is. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/make.h"
#include "pyext/compile/signature.h"
#include "pyext/compile/type.h"
#include "pyext/launch/timeouts.h"
#include "pyext/launch/traps.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/objects/progress.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

enum { TO_HOST, TO_DEVICE };

/* --- bytes --- */

/* The bytes of a contiguous NumPy array, also of dtypes that do not export a buffer (datetime64,
 * bfloat16). */
static int get_buffer(PyObject *array, Py_buffer *view, bool writable) {
  int flags = PyBUF_ANY_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array, view, flags) == 0)
    return 0;
  if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError))
    return -1;
  PyErr_Clear();
  PyObject *flat = PyObject_CallMethod(array, "ravel", "s", "K"); /* as it lies: no copy */
  PyObject *bytes = flat ? PyObject_CallMethod(flat, "view", "s", "u1") : NULL;
  int failed = bytes ? PyObject_GetBuffer(bytes, view, flags) : -1; /* the view keeps the array */
  Py_XDECREF(bytes);
  Py_XDECREF(flat);
  return failed;
}

/* The same, of `size` bytes: a subclass may say anything of its shape. */
static int get_bytes(PyObject *array, Py_buffer *view, bool writable, int64_t size) {
  if (get_buffer(array, view, writable) < 0)
    return -1;
  if (view->len == size)
    return 0;
  PyErr_Format(
      PyExc_ValueError,
      "%.100s has %zd bytes, not the %lld that its shape and dtype say: pass np.asarray(x)",
      Py_TYPE(array)->tp_name, view->len, (long long)size);
  PyBuffer_Release(view);
  return -1;
}

static int64_t bytes_of(const PxArray *a) { return a->size * (int64_t)a->itemsize; }

static PyObject *copying(int way, size_t bytes) {
  if (bytes < PX_PROGRESS_BYTES)
    return NULL;
  return px_progress_begin("copying %zu MB to the %s", bytes / 1000000,
                           way == TO_HOST ? "host" : "device");
}

/* Copies bytes between host memory and the device without the GIL. wait: until it is done. host is
 * memory of `owner`. */
static int transfer(PxState *st, PxArray *a, int way, uint64_t address, void *host, size_t bytes,
                    PyObject *owner, PyObject *stream, bool wait) {
  RtStream *s = px_stream_of(stream);
  RtStatus status = RT_OK;
  if (px_array_check(a, NULL) < 0)
    return -1;
  PxAwaited awaited = px_awaits(st, a->device, s);
  if ((wait || !s) && px_await_timed(st, a->device, s) < 0)
    return -1;
  PyObject *progress = copying(way, bytes);
  Py_BEGIN_ALLOW_THREADS
  if (bytes)
    status = way == TO_HOST ? rt_copy_to_host(a->device, host, address, bytes, s)
                            : rt_copy_to_device(a->device, address, host, bytes, s);
  if (status == RT_OK && s && wait)
    status = rt_stream_synchronize(a->device, s);
  Py_END_ALLOW_THREADS
  px_progress_end(progress);
  if (status == RT_CAPTURED)
    return way == TO_HOST ? px_captured_copy(owner, (PyObject *)a)
                          : px_captured_copy((PyObject *)a, owner);
  PX_TRY_STATUS(st, status, return -1);
  if (s)
    px_array_used(a, stream);
  return way == TO_HOST && (wait || !s) ? px_check_traps(st, &awaited) : 0;
}

/* --- straight ways --- */

typedef enum Way { WAY_NONE, WAY_BYTES, WAY_STRIDED, WAY_FAILED } Way;

/* Can the NumPy array be copied as it lies? WAY_BYTES: both sides are laid out alike and
 * contiguous; WAY_STRIDED: only the device's side is. view is then filled, to be released by the
 * caller. WAY_NONE for whatever is not the plain case, errors among it. */
static Way straight_way(PxState *st, PxArray *a, PyObject *ary, bool writable, Py_buffer *view) {
  if (!Py_IS_TYPE(ary, (PyTypeObject *)st->np_ndarray))
    return WAY_NONE;
  PyObject *dtype = PyObject_GetAttr(ary, st->name.dtype);
  int same = !dtype ? -1 : dtype == a->dtype ? 1 : PyObject_RichCompareBool(dtype, a->dtype, Py_EQ);
  Py_XDECREF(dtype);
  if (same <= 0)
    return same < 0 ? WAY_FAILED : WAY_NONE;
  bool contiguous = px_is_contiguous(a, LAYOUT_C);
  if (!contiguous && !px_is_contiguous(a, LAYOUT_F))
    return WAY_NONE;
  if (PyObject_GetBuffer(ary, view, PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0)) < 0) {
    PyErr_Clear();
    return WAY_NONE;
  }
  bool shape = view->ndim == (int)a->ndim, strides = shape;
  for (int i = 0; shape && i < view->ndim; i++) {
    shape = view->shape[i] == px_shape(a)[i];
    strides &= shape && (view->shape[i] == 1 || view->strides[i] == px_strides(a)[i]);
  }
  if (shape && (strides || !a->size))
    return WAY_BYTES;
  if (shape)
    return WAY_STRIDED;
  PyBuffer_Release(view);
  return WAY_NONE;
}

/* Between a strided NumPy array and a contiguous device array: packed or unpacked on the way. */
static int transfer_strided(PxState *st, PxArray *a, int way, const Py_buffer *view,
                            PyObject *stream) {
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM];
  bool c = px_is_contiguous(a, LAYOUT_C);
  for (unsigned i = 0; i < a->ndim; i++) { /* the axes in the order of the device's memory */
    unsigned from = c ? i : a->ndim - 1 - i;
    shape[i] = px_shape(a)[from];
    strides[i] = view->strides[from];
  }
  RtStrided host = {view->buf, a->itemsize, a->ndim, shape, strides};
  RtStatus status;
  if (px_array_check(a, NULL) < 0)
    return -1;
  PxAwaited awaited = px_awaits(st, a->device, px_stream_of(stream));
  if (px_await_timed(st, a->device, px_stream_of(stream)) < 0)
    return -1;
  PyObject *progress = copying(way, (size_t)bytes_of(a));
  Py_BEGIN_ALLOW_THREADS
  status = rt_copy_strided(a->device, a->address, &host, way == TO_HOST, px_stream_of(stream));
  Py_END_ALLOW_THREADS
  px_progress_end(progress);
  PX_TRY_STATUS(st, status, return -1);
  if (px_stream_of(stream))
    px_array_used(a, stream);
  return way == TO_HOST ? px_check_traps(st, &awaited) : 0;
}

/* 1 copied, 0 not a straight case, -1 failed. wait: a copy on a stream too. */
static int copy_straight(PxState *st, PxArray *a, int way, PyObject *ary, PyObject *stream,
                         bool wait) {
  Py_buffer view;
  Way found = straight_way(st, a, ary, way == TO_HOST, &view);
  if (found == WAY_NONE || found == WAY_FAILED)
    return found == WAY_NONE ? 0 : -1;
  int failed = found == WAY_STRIDED ? transfer_strided(st, a, way, &view, stream)
                                    : transfer(st, a, way, a->address, view.buf,
                                               (size_t)a->size * a->itemsize, ary, stream, wait);
  PyBuffer_Release(&view);
  return failed ? -1 : 1;
}

/* --- rows and planes --- */

/* 1 copied, 0 the driver cannot, -1 failed. ary: a NumPy array of the device array's shape and
 * dtype. wait: a copy on a stream too. */
static int copy_boxes(PxState *st, PxArray *a, int way, PyObject *ary, PyObject *stream,
                      bool wait) {
  Py_buffer view;
  if (px_array_check(a, NULL) < 0)
    return -1;
  if (PyObject_GetBuffer(ary, &view, PyBUF_STRIDES | (way == TO_HOST ? PyBUF_WRITABLE : 0)) < 0) {
    PyErr_Clear(); /* a dtype without buffers: the long way says what is wrong */
    return 0;
  }
  int64_t theirs[TY_MAX_NDIM];
  for (int i = 0; i < view.ndim && i < TY_MAX_NDIM; i++)
    theirs[i] = view.strides[i];
  RtBoxes x = {.way = way == TO_HOST ? RT_BOX_TO_HOST : RT_BOX_TO_DEVICE,
               .to = way == TO_HOST ? (uintptr_t)view.buf : a->address,
               .from = way == TO_HOST ? a->address : (uintptr_t)view.buf,
               .itemsize = a->itemsize,
               .ndim = a->ndim,
               .shape = px_shape(a),
               .to_strides = way == TO_HOST ? theirs : px_strides(a),
               .from_strides = way == TO_HOST ? px_strides(a) : theirs};
  RtStream *s = px_stream_of(stream);
  PxAwaited awaited = px_awaits(st, a->device, s);
  int done = 0;
  RtStatus status = RT_OK;
  if ((wait || !s) && px_await_timed(st, a->device, s) < 0) {
    PyBuffer_Release(&view);
    return -1;
  }
  Py_BEGIN_ALLOW_THREADS
  if (a->size && view.ndim == (int)a->ndim)
    status = rt_copy_boxes(a->device, &x, s, &done);
  if (status == RT_OK && done && s && wait)
    status = rt_stream_synchronize(a->device, s);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&view);
  PX_TRY_STATUS(st, status, return -1);
  if (done && s)
    px_array_used(a, stream);
  bool waited = done && way == TO_HOST && (wait || !s);
  return waited && px_check_traps(st, &awaited) < 0 ? -1 : done;
}

/* --- windows --- */

typedef struct Window {
  int64_t low; /* bytes from the address of element 0 down to the first byte, <= 0 */
  int64_t bytes;
} Window;

static Window window_of(const PxArray *a) {
  Window w = {0, a->size ? (int64_t)a->itemsize : 0};
  for (unsigned i = 0; i < a->ndim && a->size; i++) {
    int64_t reach = (px_shape(a)[i] - 1) * px_strides(a)[i];
    w.low += reach < 0 ? reach : 0;
    w.bytes += reach < 0 ? -reach : reach;
  }
  return w;
}

static PyObject *empty(PxState *st, PyObject *shape, PyObject *dtype,
                       const char *order) { /* np.empty(shape, dtype, order) */
  return px_need_numpy(st) < 0
             ? NULL
             : PyObject_CallMethod(st->numpy, "empty", "OOs", shape, dtype, order);
}

static PyObject *empty_bytes(PxState *st, int64_t n) {
  PyObject *u1 = px_dtype_of_type(st, TY_U8), *length = PyLong_FromLongLong(n);
  PyObject *raw = u1 && length ? empty(st, length, u1, "C") : NULL;
  Py_XDECREF(u1);
  Py_XDECREF(length);
  return raw;
}

/* The device array's elements as a strided NumPy view of its window's bytes. */
static PyObject *window_view(PxState *st, PxArray *a, PyObject *raw, Window w) {
  PyObject *shape = px_dims_tuple(px_shape(a), a->ndim),
           *strides = px_dims_tuple(px_strides(a), a->ndim);
  PyObject *view = NULL;
  if (shape && strides)
    view = PyObject_CallFunction(st->np_ndarray, "OOOLO", shape, a->dtype, raw, (long long)-w.low,
                                 strides);
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  return view;
}

/* The window of an array of the host device, whose work is done then. */
static PyObject *window_in_place(PxState *st, PxArray *a, Window w, PyObject *stream) {
  RtStream *s = px_stream_of(stream);
  if (px_array_check(a, NULL) < 0)
    return NULL;
  PxAwaited awaited = px_awaits(st, a->device, s);
  if (px_await_timed(st, a->device, s) < 0 || px_check_traps(st, &awaited) < 0)
    return NULL;
  char *bytes = (char *)(uintptr_t)(a->address + (uint64_t)w.low);
  return PyMemoryView_FromMemory(bytes, (Py_ssize_t)w.bytes, PyBUF_WRITE);
}

static int move_window(PxState *st, PxArray *a, int way, PyObject *raw, Window w,
                       PyObject *stream) {
  Py_buffer view;
  if (get_bytes(raw, &view, way == TO_HOST, w.bytes) < 0)
    return -1;
  int failed = transfer(st, a, way, a->address + (uint64_t)w.low, view.buf, (size_t)w.bytes, raw,
                        stream, true);
  PyBuffer_Release(&view);
  return failed;
}

/* The bytes of the window as they are now: a copy, or on the host device they themselves. */
static PyObject *read_window(PxState *st, PxArray *a, Window w, PyObject *stream) {
  if (rt_device_is_host(a->device))
    return window_in_place(st, a, w, stream);
  PyObject *raw = empty_bytes(st, w.bytes);
  if (raw && move_window(st, a, TO_HOST, raw, w, stream) < 0)
    Py_CLEAR(raw);
  return raw;
}

static int write_window(PxState *st, PxArray *a, PyObject *raw, Window w, PyObject *stream) {
  if (!rt_device_is_host(a->device))
    return move_window(st, a, TO_DEVICE, raw, w, stream);
  rt_note_written(a->address + (uint64_t)w.low, w.bytes);
  return 0;
}

/* --- device to host --- */

static PyObject *gather(PxState *st, PxArray *a, PyObject *stream) {
  PyObject *shape = px_dims_tuple(px_shape(a), a->ndim);
  PyObject *values = shape ? empty(st, shape, a->dtype, "C") : NULL;
  Py_XDECREF(shape);
  int copied = values ? copy_boxes(st, a, TO_HOST, values, stream, true) : -1;
  if (copied > 0)
    return values;
  Py_XDECREF(values);
  if (copied < 0)
    return NULL;
  Window w = window_of(a);
  PyObject *raw = read_window(st, a, w, stream);
  PyObject *result = NULL;
  if (raw) {
    PyObject *view = window_view(st, a, raw, w);
    result = view ? PyObject_CallMethod(view, "copy", NULL) : NULL;
    Py_XDECREF(view);
  }
  Py_XDECREF(raw);
  return result;
}

static int fill_contiguous(PxState *st, PxArray *a, PyObject *array, PyObject *stream, bool wait) {
  Py_buffer view;
  if (get_bytes(array, &view, true, bytes_of(a)) < 0)
    return -1;
  int failed = transfer(st, a, TO_HOST, a->address, view.buf, (size_t)view.len, array, stream,
                        wait);
  PyBuffer_Release(&view);
  return failed;
}

PyObject *px_array_to_numpy(PxArray *a, PyObject *stream) {
  PxState *st = px_state_of((PyObject *)a);
  bool c = px_is_contiguous(a, LAYOUT_C);
  if (px_need_numpy(st) < 0 ||
      px_not_captured(
          "a device array's values cannot be read",
          "read them after g.launch(), or copy_to_host(ary) into an array that was made before") <
          0)
    return NULL;
  if (!c && !px_is_contiguous(a, LAYOUT_F))
    return gather(st, a, stream);
  PyObject *shape = px_dims_tuple(px_shape(a), a->ndim);
  PyObject *result = shape ? empty(st, shape, a->dtype, c ? "C" : "F") : NULL;
  Py_XDECREF(shape);
  if (result && fill_contiguous(st, a, result, stream, true) < 0)
    Py_CLEAR(result);
  return result;
}

/* Is the NumPy array laid out as the device array is, so that one copy of bytes will do? */
static int same_layout(PxState *st, PxArray *a, PyObject *ary) {
  PyObject *dtype = PyObject_GetAttr(ary, st->name.dtype);
  int same = dtype ? PyObject_RichCompareBool(dtype, a->dtype, Py_EQ) : -1;
  Py_XDECREF(dtype);
  PyObject *flags = same > 0 ? PyObject_GetAttrString(ary, "flags") : NULL;
  if (same <= 0)
    return same;
  PyObject *c = flags ? PyObject_GetAttrString(flags, "c_contiguous") : NULL;
  PyObject *f = flags ? PyObject_GetAttrString(flags, "f_contiguous") : NULL;
  same = !c || !f ? -1
                  : (c == Py_True && px_is_contiguous(a, LAYOUT_C)) ||
                        (f == Py_True && px_is_contiguous(a, LAYOUT_F));
  Py_XDECREF(c);
  Py_XDECREF(f);
  Py_XDECREF(flags);
  return same;
}

/* By the class alone: numpy.ma is not imported for it. */
bool px_is_masked(PyObject *array) {
  return PyObject_HasAttrString((PyObject *)Py_TYPE(array), "harden_mask");
}

static int refuse_masked(PyObject *array) {
  if (!px_is_masked(array))
    return 0;
  PyErr_SetString(
      PyExc_TypeError,
      "a masked array's mask would be lost: copy x.filled(value), or x.data and x.mask");
  return -1;
}

/* An array that someone names as source or target has the device array's dtype; the byte order may
 * be another. */
static int check_dtype(PxState *st, PxArray *a, PyObject *ary) {
  int is = Py_IS_TYPE(ary, st->array_type) ? 1 : PyObject_IsInstance(ary, st->np_ndarray);
  PyObject *dtype = is > 0 ? PyObject_GetAttr(ary, st->name.dtype) : NULL;
  int same = dtype ? PyObject_RichCompareBool(dtype, a->dtype, Py_EQ) : is ? -1 : 1;
  if (same == 0) {
    PyObject *can = PyObject_CallMethod(st->numpy, "can_cast", "OOs", dtype, a->dtype, "equiv");
    same = can ? PyObject_IsTrue(can) : -1;
    Py_XDECREF(can);
  }
  if (same == 0)
    PyErr_Format(PyExc_TypeError,
                 "the dtypes differ: %S on the device, %S given; convert with astype() on the host",
                 a->dtype, dtype);
  Py_XDECREF(dtype);
  return same > 0 ? 0 : -1;
}

static int check_shape(PxState *st, PxArray *a, PyObject *ary) {
  PyObject *theirs = PyObject_GetAttr(ary, st->name.shape),
           *ours = px_dims_tuple(px_shape(a), a->ndim);
  int same = theirs && ours ? PyObject_RichCompareBool(theirs, ours, Py_EQ) : -1;
  if (same == 0)
    PyErr_Format(PyExc_ValueError, "the shapes differ: %R on the device, %R given", ours, theirs);
  Py_XDECREF(theirs);
  Py_XDECREF(ours);
  return same > 0 ? 0 : -1;
}

static int copy_into(PxState *st, PxArray *a, PyObject *ary, PyObject *stream) {
  int is = px_need_numpy(st) < 0 ? -1 : PyObject_IsInstance(ary, st->np_ndarray);
  if (is <= 0) {
    if (is == 0)
      PyErr_Format(PyExc_TypeError, "copy_to_host fills a NumPy array, not %.100s",
                   Py_TYPE(ary)->tp_name);
    return -1;
  }
  int copied = copy_straight(st, a, TO_HOST, ary, stream, stream == Py_None);
  if (copied)
    return copied < 0 ? -1 : 0;
  if (check_shape(st, a, ary) < 0 || check_dtype(st, a, ary) < 0 || refuse_masked(ary) < 0)
    return -1;
  int same = same_layout(st, a, ary);
  if (same != 0)
    return same < 0 ? -1 : fill_contiguous(st, a, ary, stream, stream == Py_None);
  PyObject *values = px_array_to_numpy(a, stream);
  int failed = values ? PyObject_SetItem(ary, Py_Ellipsis, values) : -1;
  Py_XDECREF(values);
  return failed;
}

PyObject *px_array_copy_to_host(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"ary", "stream", NULL};
  PyObject *ary = Py_None, *stream_arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:copy_to_host", names, &ary, &stream_arg))
    return NULL;
  PxState *st = px_state_of(self);
  PyObject *stream = px_array_stream((PxArray *)self, stream_arg);
  if (!stream)
    return NULL;
  PyObject *result = NULL;
  if (ary == Py_None)
    result = px_array_to_numpy((PxArray *)self, stream);
  else if (copy_into(st, (PxArray *)self, ary, stream) == 0)
    result = Py_NewRef(ary);
  Py_DECREF(stream);
  return result;
}

/* NumPy's protocol: a device array converts by a copy, so copy=False cannot be met. */
PyObject *px_array_array(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"dtype", "copy", NULL};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy))
    return NULL;
  if (copy == Py_False)
    return PyErr_Format(PyExc_ValueError,
                        "`copy=False` is not possible: a device array becomes a NumPy array "
                        "by a copy");
  PyObject *stream = px_array_stream((PxArray *)self, NULL);
  PyObject *values = stream ? px_array_to_numpy((PxArray *)self, stream) : NULL;
  Py_XDECREF(stream);
  if (!values || dtype == Py_None)
    return values;
  PyObject *cast = px_call_method(values, "astype", dtype);
  Py_DECREF(values);
  return cast;
}

/* --- host to device --- */

static int write_contiguous(PxState *st, PxArray *a, PyObject *values, PyObject *stream) {
  Py_buffer view;
  if (get_bytes(values, &view, false, bytes_of(a)) < 0)
    return -1;
  int failed = transfer(st, a, TO_DEVICE, a->address, view.buf, (size_t)view.len, values, stream,
                        false);
  PyBuffer_Release(&view);
  return failed;
}

/* The values in the device array's shape, dtype and contiguous order, as a new NumPy array. */
static PyObject *cast_values(PxState *st, PxArray *a, PyObject *value, bool c) {
  if (px_not_captured("values cannot be converted on their way to the device",
                      "copy from an array of the device array's dtype, shape and layout") < 0)
    return NULL;
  PyObject *shape = px_dims_tuple(px_shape(a), a->ndim);
  PyObject *values = shape ? empty(st, shape, a->dtype, c ? "C" : "F") : NULL;
  Py_XDECREF(shape);
  if (values && PyObject_SetItem(values, Py_Ellipsis, value) < 0)
    Py_CLEAR(values);
  return values;
}

/* The values as a NumPy array of the device array's shape and dtype: themselves, or a copy. */
static PyObject *fitting(PxState *st, PxArray *a, PyObject *value) {
  PyObject *dtype = Py_IS_TYPE(value, (PyTypeObject *)st->np_ndarray)
                        ? PyObject_GetAttr(value, st->name.dtype)
                        : NULL;
  PyObject *shape = dtype ? PyObject_GetAttr(value, st->name.shape) : NULL,
           *ours = px_dims_tuple(px_shape(a), a->ndim);
  int same = shape && ours && PyObject_RichCompareBool(dtype, a->dtype, Py_EQ) > 0 &&
             PyObject_RichCompareBool(shape, ours, Py_EQ) > 0;
  Py_XDECREF(dtype);
  Py_XDECREF(shape);
  Py_XDECREF(ours);
  return PyErr_Occurred() ? NULL : same ? Py_NewRef(value) : cast_values(st, a, value, true);
}

static int scatter(PxState *st, PxArray *a, PyObject *value, PyObject *stream) {
  if (px_not_captured("a strided device array cannot be assigned to from the host",
                      "copy to a contiguous array, and let a kernel do the rest") < 0)
    return -1;
  PyObject *values = fitting(st, a, value);
  int copied = values ? copy_boxes(st, a, TO_DEVICE, values, stream, values != value) : -1;
  Py_XDECREF(values);
  if (copied)
    return copied < 0 ? -1 : 0;
  Window w = window_of(a);
  PyObject *raw = read_window(st, a, w, stream);
  PyObject *view = raw ? window_view(st, a, raw, w) : NULL;
  int failed = view ? PyObject_SetItem(view, Py_Ellipsis, value) : -1;
  if (!failed)
    failed = write_window(st, a, raw, w, stream);
  Py_XDECREF(view);
  Py_XDECREF(raw);
  return failed;
}

static int assign_host(PxState *st, PxArray *a, PyObject *value, PyObject *stream) {
  if (!Py_IS_TYPE(value, (PyTypeObject *)st->np_ndarray) && refuse_masked(value) < 0)
    return -1;
  int copied = copy_straight(st, a, TO_DEVICE, value, stream, false);
  if (copied)
    return copied < 0 ? -1 : 0;
  bool c = px_is_contiguous(a, LAYOUT_C);
  if (!c && !px_is_contiguous(a, LAYOUT_F))
    return scatter(st, a, value, stream);
  int is = PyObject_IsInstance(value, st->np_ndarray);
  PyObject *ours = is > 0 ? px_dims_tuple(px_shape(a), a->ndim) : NULL;
  PyObject *theirs = ours ? PyObject_GetAttr(value, st->name.shape) : NULL;
  int direct = theirs ? PyObject_RichCompareBool(ours, theirs, Py_EQ) : is > 0 ? -1 : is;
  Py_XDECREF(ours);
  Py_XDECREF(theirs);
  if (direct > 0)
    direct = same_layout(st, a, value);
  if (direct < 0)
    return -1;
  if (direct)
    return write_contiguous(st, a, value, stream);
  PyObject *values = cast_values(st, a, value, c);
  int failed = values ? write_contiguous(st, a, values, stream) : -1;
  Py_XDECREF(values);
  return failed;
}

static bool both_are(const PxArray *a, const PxArray *b, Layout layout) {
  return px_is_contiguous(a, layout) && px_is_contiguous(b, layout);
}

static bool overlap(const PxArray *a, const PxArray *b) {
  Window v = window_of(a), w = window_of(b);
  uint64_t from = a->address + (uint64_t)v.low, other = b->address + (uint64_t)w.low;
  return from < other + (uint64_t)w.bytes && other < from + (uint64_t)v.bytes;
}

/* Without the host: bytes where both sides are laid out alike, else rows and planes. *done 0: there
 * is no such copy. */
static RtStatus copy_between(PxArray *a, PxArray *from, RtStream *s, int *done) {
  size_t bytes = (size_t)a->size * a->itemsize;
  bool alike = both_are(a, from, LAYOUT_C) || both_are(a, from, LAYOUT_F);
  *done = alike;
  if (a->device != from->device)
    return alike ? rt_copy_peer(a->device, a->address, from->device, from->address, bytes, s)
                 : RT_OK;
  if (alike)
    return rt_copy_on_device(a->device, a->address, from->address, bytes, s);
  RtBoxes x = {.way = RT_BOX_ON_DEVICE,
               .to = a->address,
               .from = from->address,
               .itemsize = a->itemsize,
               .ndim = a->ndim,
               .shape = px_shape(a),
               .to_strides = px_strides(a),
               .from_strides = px_strides(from)};
  return a->size ? rt_copy_boxes(a->device, &x, s, done) : RT_OK;
}

/* One copy on the device, of equal shapes and dtypes. 1 done, 0 not possible, -1 failed. */
static int assign_on_device(PxState *st, PxArray *a, PxArray *from, PyObject *stream) {
  bool peers = a->device != from->device;
  if (peers && (rt_device_is_host(a->device) || rt_device_is_host(from->device)))
    return 0;
  bool same = a->ndim == from->ndim &&
              !memcmp(px_shape(a), px_shape(from), sizeof(int64_t) * a->ndim);
  int equal = same ? PyObject_RichCompareBool(a->dtype, from->dtype, Py_EQ) : 0, done;
  if (equal > 0 && a->device == from->device && a->address == from->address &&
      !memcmp(px_strides(a), px_strides(from), sizeof(int64_t) * a->ndim))
    return 1; /* itself: what a[1:] += x assigns in the end */
  if (equal <= 0 || (!peers && overlap(a, from)))
    return equal < 0 ? -1 : 0;
  if (px_array_check(a, NULL) < 0 || px_array_check(from, NULL) < 0)
    return -1;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = copy_between(a, from, px_stream_of(stream), &done);
  Py_END_ALLOW_THREADS
  if (status == RT_CAPTURED)
    return px_captured_copy((PyObject *)a, (PyObject *)from) < 0 ? -1 : 1;
  PX_TRY_STATUS(st, status, return -1);
  if (!done)
    return 0;
  px_array_used(a, stream);
  px_array_used(from, stream);
  return 1;
}

int px_array_assign(PxArray *a, PyObject *value, PyObject *stream) {
  PxState *st = px_state_of((PyObject *)a);
  if (a->readonly) {
    PyErr_SetString(PyExc_ValueError, "the device array is read-only");
    return -1;
  }
  if (px_need_numpy(st) < 0)
    return -1;
  if (!Py_IS_TYPE(value, st->array_type))
    return assign_host(st, a, value, stream);
  int done = assign_on_device(st, a, (PxArray *)value, stream);
  if (done != 0)
    return done < 0 ? -1 : 0;
  PyObject *values = px_array_to_numpy((PxArray *)value, stream);
  int failed = values ? assign_host(st, a, values, stream) : -1;
  Py_XDECREF(values);
  return failed;
}

PyObject *px_array_copy_to_device(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"ary", "stream", NULL};
  PyObject *ary, *stream_arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:copy_to_device", names, &ary, &stream_arg))
    return NULL;
  PxState *st = px_state_of(self);
  PyObject *stream = px_need_numpy(st) < 0 ? NULL : px_array_stream((PxArray *)self, stream_arg);
  if (!stream)
    return NULL;
  int copied = ((PxArray *)self)->readonly
                   ? 0
                   : copy_straight(st, (PxArray *)self, TO_DEVICE, ary, stream, false);
  if (copied) {
    Py_DECREF(stream);
    return copied < 0 ? NULL : Py_NewRef(Py_None);
  }
  PyObject *values = Py_IS_TYPE(ary, st->array_type) ? Py_NewRef(ary)
                     : refuse_masked(ary) < 0        ? NULL
                                                     : px_call_method(st->numpy, "asarray", ary);
  int failed = values ? check_shape(st, (PxArray *)self, values) : -1;
  if (!failed)
    failed = check_dtype(st, (PxArray *)self, ary);
  if (!failed)
    failed = px_array_assign((PxArray *)self, values, stream);
  Py_XDECREF(values);
  Py_DECREF(stream);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

/* --- to_device --- */

static PyObject *fresh_like(PxState *st, PyObject *values, PyObject *stream) {
  PyObject *dtype_attr = PyObject_GetAttr(values, st->name.dtype);
  PyObject *shape_attr = dtype_attr ? PyObject_GetAttr(values, st->name.shape) : NULL;
  PyObject *strides_attr = shape_attr ? PyObject_GetAttr(values, st->name.strides) : NULL;
  PyObject *dtype = strides_attr ? px_dtype_argument(st, dtype_attr) : NULL, *fresh = NULL;
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM] = {0};
  int ndim = dtype ? px_shape_argument(shape_attr, shape) : -1;
  PyObject *itemsize = ndim >= 0 ? PyObject_GetAttr(dtype, st->name.itemsize) : NULL;
  if (itemsize) {
    for (int i = 0; i < ndim; i++)
      strides[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides_attr, i));
    PxPlace place = {0, (unsigned)ndim, PyLong_AsSize_t(itemsize), shape, strides, true};
    if (!PyErr_Occurred())
      fresh = px_array_empty(st, dtype, (unsigned)ndim, shape,
                             px_layout_of(&place) == LAYOUT_F ? LAYOUT_F : LAYOUT_C, stream);
  }
  Py_XDECREF(itemsize);
  Py_XDECREF(dtype);
  Py_XDECREF(strides_attr);
  Py_XDECREF(shape_attr);
  Py_XDECREF(dtype_attr);
  return fresh;
}

PyObject *px_to_device(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"obj", "stream", "copy", "to", NULL};
  PyObject *obj, *stream_arg = NULL, *to = Py_None;
  int copy = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpO:to_device", names, &obj, &stream_arg, &copy,
                                   &to))
    return NULL;
  PxState *st = px_state_of_module(module);
  if (to != Py_None && !Py_IS_TYPE(to, st->array_type))
    return PyErr_Format(PyExc_TypeError, "to must be a device array, not %.100s",
                        Py_TYPE(to)->tp_name);
  if (PyUnicode_CheckExact(obj) || PyBytes_CheckExact(obj))
    return PyErr_Format(PyExc_TypeError,
                        "to_device() copies arrays and numbers, not a %.100s: pass np.array(x) of "
                        "numbers, or np.frombuffer(x, np.uint8) of bytes",
                        Py_TYPE(obj)->tp_name);
  PyObject *stream = px_need_numpy(st) < 0 ? NULL : px_stream_argument(st, stream_arg);
  if (!stream)
    return NULL;
  PyObject *values = Py_IS_TYPE(obj, st->array_type) ? Py_NewRef(obj)
                     : refuse_masked(obj) < 0        ? NULL
                                                     : px_call_method(st->numpy, "asarray", obj);
  PyObject *result = NULL;
  if (values && to == Py_None)
    result = fresh_like(st, values, stream);
  else if (values && check_shape(st, (PxArray *)to, values) == 0 &&
           check_dtype(st, (PxArray *)to, obj) == 0)
    result = Py_NewRef(to);
  if (result && copy && px_array_assign((PxArray *)result, values, stream) < 0)
    Py_CLEAR(result);
  Py_XDECREF(values);
  Py_DECREF(stream);
  return result;
}

/* copy.copy and copy.deepcopy: new memory of the same device. */
PyObject *px_array_duplicate(PyObject *self, PyObject *Py_UNUSED(memo)) {
  PxState *st = px_state_of(self);
  RtDevice *selected = px_selected_device();
  px_select_device(((PxArray *)self)->device);
  PyObject *copy = px_need_numpy(st) < 0 ? NULL : fresh_like(st, self, Py_None);
  if (copy && px_array_assign((PxArray *)copy, self, Py_None) < 0)
    Py_CLEAR(copy);
  px_select_device(selected);
  return copy;
}
