/* Array indexing on the host: ints, slices, Ellipsis and None give views; one element is a NumPy
 * scalar. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/field.h"
#include "pyext/array/index.h"
#include "pyext/array/make.h"
#include "pyext/objects/stream.h"

/* A view being built: the axes made so far, and how far its first element is from the array's. */
typedef struct View {
  unsigned ndim;
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM];
  int64_t offset;
} View;

static PyObject *make_view(PyObject *self, const View *v) {
  return px_array_view_of(self, v->offset, ((PxArray *)self)->dtype, v->ndim, v->shape, v->strides);
}

static int add_axis(View *v, int64_t extent, int64_t stride) {
  if (v->ndim == TY_MAX_NDIM) {
    PyErr_Format(PyExc_IndexError, "an array has at most %d axes", TY_MAX_NDIM);
    return -1;
  }
  v->shape[v->ndim] = extent;
  v->strides[v->ndim++] = stride;
  return 0;
}

static int no_index(PyObject *item) {
  PyErr_Format(
      PyExc_TypeError,
      "on the host a device array is indexed with ints, slices, ... and None, not %.100s; copy_to_host() "
      "gives a NumPy array",
      Py_TYPE(item)->tp_name);
  return -1;
}

static int apply_index(View *v, PyObject *item, unsigned axis, int64_t extent, int64_t stride) {
  Py_ssize_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) /* an array has __index__, and few can be one */
    return PySequence_Check(item) && PyErr_ExceptionMatches(PyExc_TypeError) ? no_index(item) : -1;
  if (i < -extent || i >= extent) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %u with size %lld", i, axis,
                 (long long)extent);
    return -1;
  }
  v->offset += (i < 0 ? i + extent : i) * stride;
  return 0;
}

/* Of an axis without a second element it may be anything. */
static int64_t times(int64_t stride, int64_t n) {
  return (int64_t)((uint64_t)stride * (uint64_t)n);
}

static int apply_slice(View *v, PyObject *item, int64_t extent, int64_t stride) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item, &start, &stop, &step) < 0)
    return -1;
  Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)extent, &start, &stop, step);
  if (count > 0)
    v->offset += start * stride;
  return add_axis(v, count, times(stride, step));
}

/* Axes that the key's items take: all but None and Ellipsis. -1 for an item that is no index. */
static int axes_taken(PyObject *key, unsigned ndim) {
  Py_ssize_t taken = 0, ellipses = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
    PyObject *item = PyTuple_GET_ITEM(key, i);
    if (item == Py_Ellipsis)
      ellipses++;
    else if (item != Py_None)
      taken++;
    if (item != Py_Ellipsis && item != Py_None &&
        (PyBool_Check(item) || (!PySlice_Check(item) && !PyIndex_Check(item))))
      return no_index(item);
  }
  if (ellipses > 1)
    PyErr_SetString(PyExc_IndexError, "an index can only have a single ellipsis ('...')");
  else if (taken > (Py_ssize_t)ndim)
    PyErr_Format(PyExc_IndexError, "too many indices: the array has %u axes, but %zd were indexed",
                 ndim, taken);
  else
    return (int)taken;
  return -1;
}

/* whole: the key was ints for every axis and nothing else, so it names one element. */
static int apply_key(PxArray *a, PyObject *key, View *v, bool *whole) {
  PyObject *tuple = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
  int taken = tuple ? axes_taken(tuple, a->ndim) : -1;
  if (taken < 0) {
    Py_XDECREF(tuple);
    return -1;
  }
  *v = (View){0};
  *whole = (unsigned)taken == a->ndim;
  unsigned axis = 0;
  int failed = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple) && !failed; i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    *whole &= PyIndex_Check(item);
    if (item == Py_None) {
      failed = add_axis(v, 1, 0);
    } else if (item == Py_Ellipsis) {
      for (int k = (int)a->ndim - taken; k > 0 && !failed; k--, axis++)
        failed = add_axis(v, px_shape(a)[axis], px_strides(a)[axis]);
    } else if (PySlice_Check(item)) {
      failed = apply_slice(v, item, px_shape(a)[axis], px_strides(a)[axis]);
      axis++;
    } else {
      failed = apply_index(v, item, axis, px_shape(a)[axis], px_strides(a)[axis]);
      axis++;
    }
  }
  for (; axis < a->ndim && !failed; axis++)
    failed = add_axis(v, px_shape(a)[axis], px_strides(a)[axis]);
  Py_DECREF(tuple);
  return failed;
}

PyObject *px_array_scalar(PyObject *view) {
  PyObject *stream = px_array_stream((PxArray *)view, NULL), *nothing = PyTuple_New(0);
  PyObject *host = stream ? px_array_to_numpy((PxArray *)view, stream) : NULL;
  PyObject *scalar = host && nothing ? PyObject_GetItem(host, nothing) : NULL;
  Py_XDECREF(host);
  Py_XDECREF(stream);
  Py_XDECREF(nothing);
  return scalar;
}

/* An element is copied to the host; a record of an array stays where it is, and r[()] copies it. */
PyObject *px_array_subscript(PyObject *self, PyObject *key) {
  View v;
  bool whole;
  if (px_is_field_key(key))
    return px_array_get_field(self, key);
  if (apply_key((PxArray *)self, key, &v, &whole) < 0)
    return NULL;
  PyObject *view = make_view(self, &v);
  if (!view || !whole || (((PxArray *)self)->ndim && px_array_has_fields(view)))
    return view;
  PyObject *scalar = px_array_scalar(view);
  Py_DECREF(view);
  return scalar;
}

int px_array_ass_subscript(PyObject *self, PyObject *key, PyObject *value) {
  View v;
  bool whole;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "elements of a device array cannot be deleted");
    return -1;
  }
  if (px_is_field_key(key))
    return px_array_set_field(self, key, value);
  if (apply_key((PxArray *)self, key, &v, &whole) < 0)
    return -1;
  PyObject *view = make_view(self, &v);
  PyObject *stream = view ? px_array_stream((PxArray *)view, NULL) : NULL;
  int failed = stream ? px_array_assign((PxArray *)view, value, stream) : -1;
  Py_XDECREF(stream);
  Py_XDECREF(view);
  return failed;
}

/* The sequence protocol, which iteration uses. */
PyObject *px_array_item(PyObject *self, Py_ssize_t i) {
  PxArray *a = (PxArray *)self;
  if (!a->ndim)
    return PyErr_Format(PyExc_TypeError, "an array without axes cannot be iterated over");
  if (i < 0 || i >= px_shape(a)[0])
    return PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %lld", i,
                        (long long)px_shape(a)[0]);
  PyObject *key = PyLong_FromSsize_t(i);
  PyObject *item = key ? px_array_subscript(self, key) : NULL;
  Py_XDECREF(key);
  return item;
}

/* --- shapes --- */

/* shape as one tuple or as separate ints. */
static int shape_from(PyObject *args, int64_t *shape) {
  bool one = PyTuple_GET_SIZE(args) == 1 && !PyIndex_Check(PyTuple_GET_ITEM(args, 0));
  PyObject *tuple = one ? PySequence_Tuple(PyTuple_GET_ITEM(args, 0)) : Py_NewRef(args);
  if (!tuple)
    return -1;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  if (n > TY_MAX_NDIM)
    PyErr_Format(PyExc_ValueError, "an array has at most %d axes", TY_MAX_NDIM);
  for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
    shape[i] = (int64_t)PyNumber_AsSsize_t(PyTuple_GET_ITEM(tuple, i), PyExc_OverflowError);
  Py_DECREF(tuple);
  return PyErr_Occurred() ? -1 : (int)n;
}

/* Fills in the extent that is -1 and checks the number of elements. */
static int complete_shape(int64_t size, int n, int64_t *shape) {
  int64_t known = 1;
  int open = -1;
  bool fits = true;
  for (int i = 0; i < n; i++) {
    if (shape[i] == -1 && open < 0)
      open = i;
    else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
      fits = false;
  }
  if (fits && open >= 0 && known > 0 && size % known == 0)
    shape[open] = size / known;
  else if (!fits || open >= 0 || known != size) {
    PyErr_Format(PyExc_ValueError, "an array of %lld elements cannot have that shape",
                 (long long)size);
    return -1;
  }
  return 0;
}

/* "A": the order that the array is in. */
static int order_from(PyObject *self, PyObject *kwargs, Layout *layout) {
  PyObject *order = kwargs ? PyDict_GetItemString(kwargs, "order") : NULL;
  if (kwargs && PyDict_GET_SIZE(kwargs) != (order ? 1 : 0)) {
    PyErr_SetString(PyExc_TypeError, "the only keyword is order");
    return -1;
  }
  *layout = LAYOUT_C;
  if (!order || (PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "C") == 0))
    return 0;
  bool own = PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "A") == 0;
  if (own && px_is_contiguous((PxArray *)self, LAYOUT_C))
    return 0;
  *layout = LAYOUT_F;
  if (own || (PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "F") == 0))
    return 0;
  PyErr_Format(PyExc_ValueError, "order must be 'C', 'F' or 'A', not %R", order);
  return -1;
}

/* The k-th axis from the fastest of an order. */
static unsigned axis_of(Layout layout, unsigned ndim, unsigned k) {
  return layout == LAYOUT_C ? ndim - 1 - k : k;
}

typedef struct Run { /* elements at equal distances, in the order of `layout` */
  const PxArray *array;
  Layout layout;
  unsigned next; /* axes from the fastest that earlier runs and this one have */
  int64_t left, step;
} Run;

/* The longest run from the next axis on; axes of extent 1 are in every run. */
static void next_run(Run *r) {
  const PxArray *a = r->array;
  for (r->left = 1; r->next < a->ndim; r->next++) {
    unsigned axis = axis_of(r->layout, a->ndim, r->next);
    int64_t extent = px_shape(a)[axis], stride = px_strides(a)[axis];
    if (extent == 1)
      continue;
    if (r->left == 1)
      r->step = stride;
    else if (stride != times(r->step, r->left))
      return;
    r->left = times(r->left, extent);
  }
}

/* Each new axis takes a part of one run. False: an axis would need two, so there is no such
 * view. */
static bool lay_out(const PxArray *a, Layout layout, View *v) {
  Run r = {.array = a, .layout = layout, .left = 1, .step = (int64_t)a->itemsize};
  for (unsigned k = 0; k < v->ndim; k++) {
    unsigned axis = axis_of(layout, v->ndim, k);
    int64_t extent = a->size ? v->shape[axis] : 1;
    if (r.left == 1 && extent != 1)
      next_run(&r);
    if (r.left % extent)
      return false;
    v->strides[axis] = r.step;
    r.step = times(r.step, extent);
    r.left /= extent;
  }
  return true;
}

static PyObject *needs_copy(Layout layout) {
  return PyErr_Format(
      PyExc_NotImplementedError,
      "operation requires copying: the elements of the device array do not lie so that they have this "
      "shape in %s order; use cuda.to_device(a.copy_to_host())",
      layout == LAYOUT_C ? "C" : "Fortran");
}

static PyObject *reshaped(PyObject *self, int n, const int64_t *shape, Layout layout) {
  View v = {.ndim = (unsigned)n};
  memcpy(v.shape, shape, sizeof *shape * (size_t)n);
  if (!lay_out((PxArray *)self, layout, &v))
    return needs_copy(layout);
  return make_view(self, &v);
}

PyObject *px_array_reshape(PyObject *self, PyObject *args, PyObject *kwargs) {
  int64_t shape[TY_MAX_NDIM];
  Layout layout;
  int n = shape_from(args, shape);
  if (n < 0 || order_from(self, kwargs, &layout) < 0 ||
      complete_shape(((PxArray *)self)->size, n, shape) < 0)
    return NULL;
  return reshaped(self, n, shape, layout);
}

PyObject *px_array_ravel(PyObject *self, PyObject *args, PyObject *kwargs) {
  Layout layout;
  if (PyTuple_GET_SIZE(args) > 0)
    return PyErr_Format(PyExc_TypeError, "ravel takes order as a keyword");
  if (order_from(self, kwargs, &layout) < 0)
    return NULL;
  if (!px_is_contiguous((PxArray *)self, layout)) /* its result would not be, as NumPy's is */
    return needs_copy(layout);
  return reshaped(self, 1, &((PxArray *)self)->size, layout);
}

static PyObject *bad_axes(PyObject *args) {
  PyObject *axes = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : args;
  return PyErr_Format(PyExc_ValueError, "invalid axes list %R", axes);
}

PyObject *px_array_transpose(PyObject *self, PyObject *args) {
  PxArray *a = (PxArray *)self;
  int64_t axes[TY_MAX_NDIM];
  bool none = PyTuple_GET_SIZE(args) == 0 ||
              (PyTuple_GET_SIZE(args) == 1 && PyTuple_GET_ITEM(args, 0) == Py_None);
  int n = none ? (int)a->ndim : shape_from(args, axes);
  if (n < 0)
    return NULL;
  View v = {.ndim = a->ndim};
  unsigned seen = 0;
  for (int i = 0; i < n; i++) {
    int64_t axis = none ? (int64_t)a->ndim - 1 - i : axes[i] < 0 ? axes[i] + a->ndim : axes[i];
    if (axis < 0 || axis >= a->ndim || n != (int)a->ndim || seen >> axis & 1)
      return bad_axes(args);
    seen |= 1u << axis;
    v.shape[i] = px_shape(a)[axis];
    v.strides[i] = px_strides(a)[axis];
  }
  if (n != (int)a->ndim)
    return bad_axes(args);
  return make_view(self, &v);
}

PyObject *px_array_squeeze(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"axis", NULL};
  PyObject *axis = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:squeeze", names, &axis))
    return NULL;
  PxArray *a = (PxArray *)self;
  int64_t drop[TY_MAX_NDIM];
  unsigned dropped = 0;
  PyObject *tuple = axis == Py_None ? PyTuple_New(0) : PyTuple_Pack(1, axis);
  int n = tuple ? shape_from(tuple, drop) : -1;
  Py_XDECREF(tuple);
  if (n < 0)
    return NULL;
  for (int i = 0; i < n; i++) {
    int64_t k = drop[i] < 0 ? drop[i] + a->ndim : drop[i];
    if (k < 0 || k >= a->ndim || px_shape(a)[k] != 1)
      return PyErr_Format(PyExc_ValueError, "axis %lld does not have extent 1", (long long)drop[i]);
    dropped |= 1u << k;
  }
  View v = {0};
  for (unsigned i = 0; i < a->ndim; i++)
    if (!(axis == Py_None ? px_shape(a)[i] == 1 : dropped >> i & 1) &&
        add_axis(&v, px_shape(a)[i], px_strides(a)[i]) < 0)
      return NULL;
  return make_view(self, &v);
}

PyObject *px_array_retype(PyObject *self, PyObject *arg) {
  PxArray *a = (PxArray *)self;
  PxState *st = px_state_of(self);
  PyObject *dtype = px_dtype_argument(st, arg);
  PyObject *size = dtype ? PyObject_GetAttr(dtype, st->name.itemsize) : NULL;
  int64_t itemsize = size ? PyLong_AsLongLong(size) : -1;
  Py_XDECREF(size);
  PyObject *view = NULL;
  int64_t shape[TY_MAX_NDIM];
  if (itemsize == 0)
    PyErr_Format(PyExc_ValueError, "elements of %S have no bytes", dtype);
  if (itemsize > 0) {
    memcpy(shape, px_shape(a), sizeof *shape * a->ndim);
    int64_t last = a->ndim ? shape[a->ndim - 1] * (int64_t)a->itemsize : (int64_t)a->itemsize;
    bool same = (size_t)itemsize == a->itemsize;
    if (!same && (!a->ndim || !px_is_contiguous(a, LAYOUT_C))) /* NumPy's words, here and below */
      PyErr_SetString(PyExc_ValueError,
                      "To change to a dtype of a different size, the array must be C-contiguous");
    else if (last % itemsize)
      PyErr_SetString(
          PyExc_ValueError,
          "When changing to a larger dtype, its size must be a divisor of the total size "
          "in bytes of the last axis of the array.");
    else {
      if (!same)
        shape[a->ndim - 1] = last / itemsize;
      view = px_array_view_of(self, 0, dtype, a->ndim, shape, same ? px_strides(a) : NULL);
    }
  }
  Py_XDECREF(dtype);
  return view;
}

/* --- parts --- */

PyObject *px_array_split(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"section", "stream", NULL};
  PxArray *a = (PxArray *)self;
  Py_ssize_t section;
  PyObject *stream_arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|O:split", names, &section, &stream_arg))
    return NULL;
  if (a->ndim != 1 || section < 1)
    return PyErr_Format(PyExc_ValueError,
                        a->ndim == 1
                            ? "section must be at least 1"
                            : "only an array with one axis can be split: use ravel() first");
  PyObject *stream = px_array_stream(a, stream_arg), *list = stream ? PyList_New(0) : NULL;
  for (int64_t at = 0; list && at < a->size; at += section) {
    int64_t n = a->size - at < section ? a->size - at : section;
    PyObject *view = px_array_view_of(self, at * px_strides(a)[0], a->dtype, 1, &n, px_strides(a));
    if (view && stream != Py_None)
      px_array_set_stream(view, stream);
    if (!view || PyList_Append(list, view) < 0)
      Py_CLEAR(list);
    Py_XDECREF(view);
    if (n < section)
      break;
  }
  PyObject *parts = list ? PyObject_GetIter(list) : NULL;
  Py_XDECREF(list);
  Py_XDECREF(stream);
  return parts;
}

PyObject *px_array_bind(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", NULL};
  PxArray *a = (PxArray *)self;
  PyObject *stream_arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:bind", names, &stream_arg))
    return NULL;
  PyObject *stream = px_stream_argument(px_state_of(self), stream_arg);
  PyObject *view = stream ? px_array_view_of(self, 0, a->dtype, a->ndim, px_shape(a), px_strides(a))
                          : NULL;
  if (view)
    px_array_set_stream(view, stream);
  Py_XDECREF(stream);
  return view;
}

PyObject *px_array_part(PyObject *self, void *imag) {
  PxArray *a = (PxArray *)self;
  PyObject *kind = PyObject_GetAttrString(a->dtype, "kind"), *view = NULL;
  if (!kind)
    return NULL;
  bool complex = PyUnicode_CompareWithASCIIString(kind, "c") == 0;
  Py_DECREF(kind);
  if (!complex && imag)
    return PyErr_Format(PyExc_TypeError, "elements of %S have no imaginary part", a->dtype);
  if (!complex)
    return Py_NewRef(self);
  PxState *st = px_state_of(self);
  PyObject *order = PyObject_GetAttrString(a->dtype, "byteorder");
  PyObject *name = order ? PyUnicode_FromFormat("%Uf%zu", order, a->itemsize / 2) : NULL;
  PyObject *dtype = name ? PyObject_CallOneArg(st->np_dtype, name) : NULL;
  if (dtype)
    view = px_array_view_of(self, imag ? (int64_t)a->itemsize / 2 : 0, dtype, a->ndim, px_shape(a),
                            px_strides(a));
  Py_XDECREF(dtype);
  Py_XDECREF(name);
  Py_XDECREF(order);
  return view;
}
