/* Device array: how one is made, of nothing or on the memory of another library. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/dlpack.h"
#include "pyext/array/foreign.h"
#include "pyext/array/labelled.h"
#include "pyext/array/make.h"
#include "pyext/array/memory.h"
#include "pyext/compile/numba.h"
#include "pyext/compile/record.h"
#include "pyext/compile/signature.h"
#include "pyext/compile/type.h"
#include "pyext/launch/arguments.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

/* --- making --- */

bool px_is_contiguous(const PxArray *a, Layout layout) {
  int64_t expect = (int64_t)a->itemsize;
  if (!a->size)
    return true;
  for (unsigned k = 0; k < a->ndim; k++) {
    unsigned i = layout == LAYOUT_C ? a->ndim - 1 - k : k;
    if (px_shape(a)[i] != 1 && px_strides(a)[i] != expect)
      return false;
    expect *= px_shape(a)[i];
  }
  return true;
}

static void contiguous_strides(unsigned ndim, const int64_t *shape, size_t itemsize, Layout layout,
                               int64_t *out) {
  uint64_t stride = itemsize; /* it wraps where the size is yet to be refused */
  for (unsigned k = 0; k < ndim; k++) {
    unsigned i = layout == LAYOUT_C ? ndim - 1 - k : k;
    out[i] = (int64_t)stride;
    stride *= shape[i] ? (uint64_t)shape[i] : 1;
  }
}

typedef struct Elem { /* what kernels call a dtype, and its bytes */
  PxElem id;
  size_t size;
} Elem;

static int elem_of(PxState *st, PyObject *dtype, Elem *out) {
  out->id = px_elem_of_dtype(st, dtype);
  if (out->id < TY_SCALARS) {
    out->size = ty_scalar_info[out->id].bits / 8u;
    return 0;
  }
  PyObject *size = PyObject_GetAttr(dtype, st->name.itemsize);
  out->size = size ? PyLong_AsSize_t(size) : 0;
  Py_XDECREF(size);
  return PyErr_Occurred() ? -1 : 0;
}

/* Axes of extent 0 and 1 are never stepped along: any stride will do. */
static void set_element_strides(PxArray *a) {
  int64_t *out = a->dims + 2 * (size_t)a->ndim, item = a->itemsize ? (int64_t)a->itemsize : 1;
  a->whole = true;
  for (unsigned i = 0; i < a->ndim; i++) {
    out[i] = px_strides(a)[i] / item;
    a->whole &= px_strides(a)[i] % item == 0 || px_shape(a)[i] <= 1;
  }
}

/* -1 with ValueError where the bytes of so many, or of the axes that are not empty, do not fit an
 * address. */
static int count_elements(unsigned ndim, const int64_t *shape, size_t itemsize, int64_t *size) {
  int64_t whole = itemsize ? (int64_t)itemsize : 1;
  *size = 1;
  for (unsigned i = 0; i < ndim; i++) {
    if (__builtin_mul_overflow(whole, shape[i] ? shape[i] : 1, &whole)) {
      PyErr_SetString(PyExc_ValueError,
                      "the array is too large: its size in bytes does not fit 63 bits");
      return -1;
    }
    *size *= shape[i];
  }
  return 0;
}

static PyObject *view(PxState *st, PyObject *memory, uint64_t address, PyObject *dtype, Elem elem,
                      unsigned ndim, const int64_t *shape, const int64_t *strides) {
  size_t itemsize = elem.size;
  int64_t size;
  if (count_elements(ndim, shape, itemsize, &size) < 0)
    return NULL;
  PxArray *self = PyObject_GC_NewVar(PxArray, st->array_type, (Py_ssize_t)(3 * ndim));
  if (!self)
    return NULL;
  self->memory = Py_NewRef(memory);
  self->dtype = Py_NewRef(dtype);
  self->stream = NULL;
  self->weakrefs = NULL;
  self->device = ((PxMemory *)memory)->device;
  self->epoch = px_epoch_of(self->device, ((PxMemory *)memory)->epoch);
  self->address = address;
  self->readonly = false;
  self->ndim = ndim;
  self->itemsize = itemsize;
  self->size = size;
  memcpy(self->dims, shape, sizeof *shape * ndim);
  if (strides)
    memcpy(self->dims + ndim, strides, sizeof *strides * ndim);
  else
    contiguous_strides(ndim, shape, itemsize, LAYOUT_C, self->dims + ndim);
  set_element_strides(self);
  self->elem = elem.id;
  self->token = self->elem != PX_NO_ELEM
                    ? px_token_of(st, self->elem,
                                  &(PxPlace){address, ndim, itemsize, px_shape(self),
                                             px_strides(self), rt_device_is_host(self->device)})
                    : 0;
  if (PyObject_GC_IsTracked(memory)) /* others lead nowhere, but for a stream's owner */
    PyObject_GC_Track(self);
  return (PyObject *)self;
}

PyObject *px_array_view(PxState *st, PyObject *memory, uint64_t address, PyObject *dtype,
                        unsigned ndim, const int64_t *shape, const int64_t *strides) {
  Elem elem;
  assert(Py_IS_TYPE(memory, st->memory_type) && ndim <= TY_MAX_NDIM);
  return elem_of(st, dtype, &elem) < 0
             ? NULL
             : view(st, memory, address, dtype, elem, ndim, shape, strides);
}

void px_array_set_stream(PyObject *fresh, PyObject *stream) {
  Py_XSETREF(((PxArray *)fresh)->stream, stream == Py_None ? NULL : Py_NewRef(stream));
  if (stream != Py_None && !PyObject_GC_IsTracked(fresh))
    PyObject_GC_Track(fresh);
}

PyObject *px_array_view_of(PyObject *array, int64_t offset, PyObject *dtype, unsigned ndim,
                           const int64_t *shape, const int64_t *strides) {
  PxArray *a = (PxArray *)array;
  PyObject *view = px_array_view(px_state_of(array), a->memory, a->address + (uint64_t)offset,
                                 dtype, ndim, shape, strides);
  if (view) {
    ((PxArray *)view)->readonly = a->readonly;
    if (a->stream)
      px_array_set_stream(view, a->stream);
  }
  return view;
}

PyObject *px_array_stream(PxArray *a, PyObject *arg) {
  PyObject *stream = px_stream_argument(px_state_of((PyObject *)a), arg);
  if (stream == Py_None && a->stream)
    Py_SETREF(stream, Py_NewRef(a->stream));
  return stream;
}

static PyObject *empty(PxState *st, RtDevice *d, PyObject *dtype, Elem elem, unsigned ndim,
                       const int64_t *shape, Layout layout, PyObject *stream) {
  int64_t size, strides[TY_MAX_NDIM];
  if (count_elements(ndim, shape, elem.size, &size) < 0)
    return NULL;
  PyObject *memory = px_memory_new(st, d, (size_t)size * elem.size, stream);
  if (!memory)
    return NULL;
  contiguous_strides(ndim, shape, elem.size, layout, strides);
  PyObject *array = view(st, memory, ((PxMemory *)memory)->address, dtype, elem, ndim, shape,
                         strides);
  Py_DECREF(memory);
  if (array && stream && stream != Py_None)
    px_array_used((PxArray *)array, stream);
  if (array && px_captured_keep(array) < 0)
    Py_CLEAR(array);
  return array;
}

PyObject *px_array_empty_on(PxState *st, RtDevice *d, PyObject *dtype, unsigned ndim,
                            const int64_t *shape, Layout layout, PyObject *stream) {
  Elem elem;
  return elem_of(st, dtype, &elem) < 0 ? NULL
                                       : empty(st, d, dtype, elem, ndim, shape, layout, stream);
}

PyObject *px_array_empty(PxState *st, PyObject *dtype, unsigned ndim, const int64_t *shape,
                         Layout layout, PyObject *stream) {
  RtDevice *d = px_current_device(st);
  return d ? px_array_empty_on(st, d, dtype, ndim, shape, layout, stream) : NULL;
}

int px_shape_argument(PyObject *arg, int64_t shape[TY_MAX_NDIM]) {
  long long one;
  if (PyLong_CheckExact(arg) && px_small_int(arg, &one) && one >= 0) {
    *shape = one;
    return 1;
  }
  bool sequence = PySequence_Check(arg) || Py_TYPE(arg)->tp_iter;
  if (!PyIndex_Check(arg) && !sequence) {
    PyErr_Format(PyExc_TypeError,
                 "a shape is an int or a tuple of ints, not %.100s: divide with //",
                 Py_TYPE(arg)->tp_name);
    return -1;
  }
  PyObject *one_int = PyIndex_Check(arg) ? PyNumber_Index(arg) : NULL;
  if (!one_int && PyErr_Occurred()) { /* an array has __index__, and few can be one */
    if (!sequence || !PyErr_ExceptionMatches(PyExc_TypeError))
      return -1;
    PyErr_Clear();
  }
  PyObject *tuple = one_int ? PyTuple_Pack(1, one_int) : PySequence_Tuple(arg);
  Py_XDECREF(one_int);
  if (!tuple)
    return -1;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  if (n > TY_MAX_NDIM)
    PyErr_Format(PyExc_ValueError, "an array has at most %d axes", TY_MAX_NDIM);
  for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++) {
    PyObject *item = PyNumber_Index(PyTuple_GET_ITEM(tuple, i));
    shape[i] = item ? PyLong_AsLongLong(item) : -1;
    Py_XDECREF(item);
    if (!PyErr_Occurred() && shape[i] < 0)
      PyErr_SetString(PyExc_ValueError, "negative extents are not allowed");
  }
  Py_DECREF(tuple);
  return PyErr_Occurred() ? -1 : (int)n;
}

/* The dtype of a NumPy class that was asked for before, or the argument if it is the dtype of a
 * known element; a new reference. NULL without an exception: np.dtype must say. */
static PyObject *known_dtype(PxState *st, PyObject *arg) {
  PyObject *known = NULL;
  if (PyType_Check(arg))
    known = px_dict_get(st->class_dtypes, arg);
  else if (PyObject_TypeCheck(arg, (PyTypeObject *)st->np_dtype) &&
           (known = px_dict_get(st->scalar_ids, arg)))
    Py_SETREF(known, Py_NewRef(arg));
  PyErr_Clear();
  return known;
}

PyObject *px_dtype_argument(PxState *st, PyObject *arg) {
  if (px_need_numpy(st) < 0)
    return NULL;
  PyObject *known = known_dtype(st, arg);
  if (known)
    return known;
  PyObject *own = px_own(st, arg);
  PyObject *dtype = own ? PyObject_CallOneArg(st->np_dtype, own) : NULL;
  Py_XDECREF(own);
  PyObject *objects = dtype ? PyObject_GetAttrString(dtype, "hasobject") : NULL;
  if (!objects)
    Py_CLEAR(dtype);
  if (objects == Py_True) {
    PyErr_Format(PyExc_TypeError,
                 "an array of dtype %S holds Python objects: it cannot live on a device", dtype);
    Py_CLEAR(dtype);
  }
  Py_XDECREF(objects);
  if (dtype && PyType_Check(arg) &&
      PyType_IsSubtype((PyTypeObject *)arg, (PyTypeObject *)st->np_generic) &&
      px_type_of_dtype(st, dtype) < TY_SCALARS && PyDict_SetItem(st->class_dtypes, arg, dtype) < 0)
    Py_CLEAR(dtype);
  return dtype;
}

PyObject *px_dims_tuple(const int64_t *dims, unsigned n) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)n);
  for (unsigned i = 0; tuple && i < n; i++) {
    PyObject *v = PyLong_FromLongLong(dims[i]);
    if (!v)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, v);
  }
  return tuple;
}

/* --- module functions --- */

static int order_argument(PyObject *arg, Layout *out) {
  const char *text = arg && PyUnicode_Check(arg) ? px_c_text(arg) : arg ? NULL : "C";
  if (text && (!strcmp(text, "C") || !strcmp(text, "F"))) {
    *out = *text == 'C' ? LAYOUT_C : LAYOUT_F;
    return 0;
  }
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_ValueError, "order must be 'C' or 'F', not %R", arg);
  return -1;
}

/* Strides given by the caller: only those that the shape has in one of the two orders can be
 * allocated. */
static int strides_argument(PyObject *arg, unsigned ndim, const int64_t *shape, size_t itemsize,
                            Layout *layout) {
  int64_t given[TY_MAX_NDIM], want[TY_MAX_NDIM];
  if (!arg || arg == Py_None)
    return 0;
  int n = px_shape_argument(arg, given);
  if (n < 0 && !PyErr_ExceptionMatches(PyExc_ValueError)) /* negative, or too many: as below */
    return -1;
  PyErr_Clear();
  for (Layout l = LAYOUT_C; l <= LAYOUT_F && (unsigned)n == ndim; l++) {
    contiguous_strides(ndim, shape, itemsize, l, want);
    if (!memcmp(given, want, sizeof *given * ndim)) {
      *layout = l;
      return 0;
    }
  }
  PyErr_SetString(
      PyExc_ValueError,
      "device_array allocates contiguous arrays: strides must be those of C or Fortran order");
  return -1;
}

static PyObject *device_array(PyObject *module, PyObject *const *argv, Py_ssize_t n,
                              PyObject *kwnames) {
  enum { SHAPE, DTYPE, STRIDES, ORDER, STREAM, ALL };
  static const char *const names[] = {"shape", "dtype", "strides", "order", "stream"};
  PyObject *given[ALL];
  if (px_arguments(&(PxSpec){"device_array", names, 1, ALL}, argv, n, kwnames, given) < 0)
    return NULL;
  PxState *st = px_state_of_module(module);
  int64_t shape[TY_MAX_NDIM];
  Elem elem;
  Layout layout;
  int ndim = px_shape_argument(given[SHAPE], shape);
  if (ndim < 0 || order_argument(given[ORDER], &layout) < 0)
    return NULL;
  PyObject *dtype = given[DTYPE] ? px_dtype_argument(st, given[DTYPE])
                                 : px_dtype_of_type(st, TY_F64);
  PyObject *stream = dtype ? px_stream_argument(st, given[STREAM]) : NULL, *array = NULL;
  RtDevice *d = stream ? px_current_device(st) : NULL;
  if (d && elem_of(st, dtype, &elem) == 0 &&
      strides_argument(given[STRIDES], (unsigned)ndim, shape, elem.size, &layout) == 0)
    array = empty(st, d, dtype, elem, (unsigned)ndim, shape, layout, stream);
  Py_XDECREF(stream);
  Py_XDECREF(dtype);
  return array;
}

/* Of an array that is not contiguous: Fortran's if its first axis is the fastest and its last the
 * slowest. */
static Layout order_of_strides(int ndim, const int64_t *shape, const int64_t *strides) {
  int64_t last = 0;
  bool rises = false, falls = false;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] <= 1)
      continue;
    int64_t step = strides[i] < 0 ? -strides[i] : strides[i];
    rises |= last && step > last;
    falls |= last && step < last;
    last = step;
  }
  return rises && !falls ? LAYOUT_F : LAYOUT_C;
}

/* Shape, dtype and order of a device array, a NumPy array or anything with shape and dtype. */
static PyObject *device_array_like(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"ary", "stream", NULL};
  PyObject *ary, *stream_arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device_array_like", names, &ary, &stream_arg))
    return NULL;
  PxState *st = px_state_of_module(module);
  PyObject *stream = px_stream_argument(st, stream_arg), *array = NULL;
  PyObject *shape_attr = stream ? PyObject_GetAttr(ary, st->name.shape) : NULL;
  PyObject *dtype_attr = shape_attr ? PyObject_GetAttr(ary, st->name.dtype) : NULL;
  PyObject *dtype = dtype_attr ? px_dtype_argument(st, dtype_attr) : NULL;
  PyObject *strides = dtype ? px_getattr_optional(ary, st->name.strides) : NULL;
  int64_t shape[TY_MAX_NDIM], given[TY_MAX_NDIM];
  int ndim = dtype && !PyErr_Occurred() ? px_shape_argument(shape_attr, shape) : -1;
  if (ndim >= 0) {
    Layout layout = LAYOUT_C;
    Elem elem = {0};
    bool same = strides && PyTuple_Check(strides) && PyTuple_GET_SIZE(strides) == ndim &&
                elem_of(st, dtype, &elem) == 0;
    for (int i = 0; same && i < ndim; i++)
      given[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i));
    PyErr_Clear(); /* torch's strides are a method: then C order */
    if (same)
      layout = px_layout_of(&(PxPlace){0, (unsigned)ndim, elem.size, shape, given, true});
    if (layout == LAYOUT_A)
      layout = order_of_strides(ndim, shape, given);
    array = px_array_empty(st, dtype, (unsigned)ndim, shape, layout, stream);
  }
  Py_XDECREF(strides);
  Py_XDECREF(dtype);
  Py_XDECREF(dtype_attr);
  Py_XDECREF(shape_attr);
  Py_XDECREF(stream);
  return array;
}

/* The device whose memory it is; d for what every device reaches. */
static RtDevice *foreign_device(PxState *st, const PxForeign *f, RtDevice *d) {
  if (f->device < 0 ? f->device != RT_HOST || rt_device_is_host(d)
                    : f->device == rt_device_ordinal(d))
    return d;
  PX_TRY_STATUS(st, rt_device_open(f->device, &d), return NULL);
  return d;
}

PyObject *px_array_from_foreign(PxState *st, const PxForeign *f, PyObject *owner) {
  RtDevice *d = px_current_device(st);
  PyObject *dtype = f->dtype ? Py_NewRef(f->dtype) : px_dtype_of_type(st, (TypeId)f->elem);
  PyObject *kept = f->keeper ? f->keeper : owner ? owner : Py_None, *memory = NULL, *array = NULL;
  if (d && dtype && (d = foreign_device(st, f, d)))
    memory = px_memory_foreign(st, d, f->address, 0, kept);
  if (memory)
    array = px_array_view(st, memory, f->address, dtype, f->ndim, f->shape, f->strides);
  if (array)
    ((PxArray *)array)->readonly = f->readonly;
  Py_XDECREF(memory);
  Py_XDECREF(dtype);
  return array;
}

/* Checks, waits for the producer, makes the array and clears f. */
static PyObject *take_foreign(PxState *st, PxForeign *f, PyObject *owner, bool sync) {
  RtDevice *d = px_current_device(st);
  PyObject *array = NULL;
  if (d && px_foreign_check(f, d, owner, "the array") == 0 &&
      (!sync || px_foreign_wait(st, f, d, NULL) == 0))
    array = px_array_from_foreign(st, f, owner);
  px_foreign_clear(f);
  return array;
}

PyObject *px_array_from_interface(PxState *st, PyObject *interface, PyObject *owner, bool sync) {
  PxForeign f;
  return px_foreign_read(st, interface, &f) < 0 ? NULL : take_foreign(st, &f, owner, sync);
}

static PyObject *from_cuda_array_interface(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"desc", "owner", "sync", NULL};
  PyObject *desc, *owner = Py_None;
  int sync = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:from_cuda_array_interface", names, &desc,
                                   &owner, &sync))
    return NULL;
  return px_array_from_interface(px_state_of_module(module), desc, owner, sync);
}

static PyObject *as_cuda_array(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"obj", "sync", NULL};
  PyObject *obj;
  int sync = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:as_cuda_array", names, &obj, &sync))
    return NULL;
  PxState *st = px_state_of_module(module);
  if (Py_IS_TYPE(obj, st->array_type))
    return Py_NewRef(obj);
  PxForeign f;
  int is_numpy = px_have_numpy(st) ? PyObject_IsInstance(obj, st->np_ndarray) : 0;
  int found = is_numpy ? -(is_numpy < 0) : px_foreign_of(st, obj, 0, &f);
  if (found > 0)
    return take_foreign(st, &f, obj, sync);
  if (!found && px_is_tracer(obj))
    PyErr_Format(PyExc_TypeError, "%.100s is no array of a device: " PX_TRACER_HELP,
                 Py_TYPE(obj)->tp_name);
  else if (!found)
    PyErr_Format(
        PyExc_TypeError,
        "%.100s is no array of a device: it has neither __dlpack__ nor __cuda_array_interface__; "
        "cuda.to_device copies host arrays",
        Py_TYPE(obj)->tp_name);
  return NULL;
}

static PyObject *from_dlpack(PyObject *module, PyObject *obj) {
  PxState *st = px_state_of_module(module);
  PxForeign f;
  int id = -1, type = PyType_Check(obj) ? 0 : px_dlpack_device(st, obj, &id);
  if (!type)
    PyErr_Format(PyExc_TypeError, "%.100s has no __dlpack__", Py_TYPE(obj)->tp_name);
  if (type <= 0 || px_dlpack_import(st, obj, type, 0, &f) < 0)
    return NULL;
  return take_foreign(st, &f, obj, true);
}

/* Is obj an array in the memory of a GPU, or one of ours? */
static PyObject *is_cuda_array(PyObject *module, PyObject *obj) {
  PxState *st = px_state_of_module(module);
  if (Py_IS_TYPE(obj, st->array_type))
    Py_RETURN_TRUE;
  if (PyType_Check(obj))
    Py_RETURN_FALSE;
  PyObject *interface = px_getattr_optional(obj, st->name.__cuda_array_interface__);
  Py_XDECREF(interface);
  int id, type = interface ? DL_CUDA : PyErr_Occurred() ? -1 : px_dlpack_device(st, obj, &id);
  return type < 0 ? NULL : PyBool_FromLong(type == DL_CUDA || type == DL_CUDA_MANAGED);
}

PyMethodDef px_array_functions[] = {
    {"to_device", PX_KEYWORDS(px_to_device), METH_VARARGS | METH_KEYWORDS,
     "to_device($module, /, obj, stream=0, copy=True, to=None)\n--\n\n"
     "A device array with the elements of obj (anything np.asarray takes), or `to`, filled\n"
     "with them. With copy=False the elements are left undefined. TypeError for elements that\n"
     "kernels cannot have, ValueError where the shapes differ from those of `to`.\n\n"
     "Example:\n\n"
     "    x = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))\n"
     "    print(x.shape, x.dtype)                  # (2, 3) float32"},
    {"device_array", PX_KEYWORDS(device_array), METH_FASTCALL | METH_KEYWORDS,
     "device_array($module, /, shape, dtype='float64', strides=None, order='C', stream=0)\n--\n\n"
     "A new device array with undefined elements: shape is an int or a tuple of ints, dtype\n"
     "what np.dtype takes or a type of pyptx.types, strides are in bytes. OutOfMemoryError\n"
     "where the device has no room.\n\n"
     "Example:\n\n"
     "    x = cuda.device_array((4, 8), np.float32)\n"
     "    print(x.nbytes)                          # 128"},
    {"device_array_like", PX_KEYWORDS(device_array_like), METH_VARARGS | METH_KEYWORDS,
     "device_array_like($module, /, ary, stream=0)\n--\n\n"
     "A new device array with the shape, dtype and order of ary (a NumPy or device array), and\n"
     "undefined elements.\n\n"
     "Example:\n\n"
     "    out = cuda.device_array_like(d)"},
    {"as_cuda_array", PX_KEYWORDS(as_cuda_array), METH_VARARGS | METH_KEYWORDS,
     "as_cuda_array($module, /, obj, sync=True)\n--\n\n"
     "A device array on the memory of an array of another library, by its __dlpack__ or\n"
     "__cuda_array_interface__; nothing is copied. Work on it is ordered after the producer's,\n"
     "unless sync is false. TypeError where obj has neither.\n\n"
     "Example:\n\n"
     "    view = cuda.as_cuda_array(d)             # a CuPy array, a CUDA tensor of PyTorch …"},
    {"from_dlpack", from_dlpack, METH_O,
     "from_dlpack($module, obj, /)\n--\n\n"
     "A device array on the memory of any object with __dlpack__, on its device; on the host\n"
     "device NumPy arrays and CPU tensors too. Nothing is copied. BufferError where DLPack\n"
     "cannot tell, TypeError for elements that kernels cannot have.\n\n"
     "Example:\n\n"
     "    view = cuda.from_dlpack(d)               # a tensor of PyTorch, JAX, CuPy …"},
    {"from_cuda_array_interface", PX_KEYWORDS(from_cuda_array_interface),
     METH_VARARGS | METH_KEYWORDS,
     "from_cuda_array_interface($module, /, desc, owner=None, sync=True)\n--\n\n"
     "A device array from a dict of the CUDA array interface; owner is kept alive. Work on it\n"
     "is ordered after the producer's, unless sync is false.\n\n"
     "Example:\n\n"
     "    view = cuda.from_cuda_array_interface(d.__cuda_array_interface__, owner=d)"},
    {"is_cuda_array", is_cuda_array, METH_O,
     "is_cuda_array($module, obj, /)\n--\n\n"
     "Is obj a device array, or an array of another library in the memory of a GPU.\n\n"
     "Example:\n\n"
     "    print(cuda.is_cuda_array(d), cuda.is_cuda_array(np.zeros(3)))   # True False"},
    {0},
};
