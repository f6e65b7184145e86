/* Device array: the object and its attributes. make.c makes them, copies are in copy.c, indexing in
 * index.c. */
#include "pyext/array/device_array.h"

#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/dlpack_export.h"
#include "pyext/array/field.h"
#include "pyext/array/index.h"
#include "pyext/array/make.h"
#include "pyext/array/memory.h"
#include "pyext/array/operators.h"
#include "pyext/objects/device.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"

/* Arrays do not change, so none is cleared: a cycle has an owner in it that is. */
static int array_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxArray *)op)->memory);
  Py_VISIT(((PxArray *)op)->stream);
  return 0;
}

static void array_dealloc(PyObject *op) {
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, ((PxArray *)op)->weakrefs);
  Py_CLEAR(((PxArray *)op)->memory);
  Py_CLEAR(((PxArray *)op)->dtype);
  Py_CLEAR(((PxArray *)op)->stream);
  type->tp_free(op);
  Py_DECREF(type);
}

int px_array_check(const PxArray *a, const char *who) {
  if (PX_LIKELY(a->epoch == px_epoch_now(a->device)))
    return 0;
  px_raise_lost(
      px_state_of((PyObject *)a),
      "%s was made before %s was reset, which took its memory away\n  help: make it again",
      who ? who : "the device array", rt_device_label(a->device));
  return -1;
}

/* What it is, without its values. */
static PyObject *plain_repr(PyObject *op) {
  PxArray *a = (PxArray *)op;
  PyObject *shape = px_dims_tuple(px_shape(a), a->ndim);
  bool record = !a->ndim && px_array_has_fields(op);
  bool named = a->elem < TY_SCALARS && ty_is_ml_dtype((TypeId)a->elem);
  PyObject *elem = named ? PyUnicode_FromString(ty_scalar_info[a->elem].name) : Py_NewRef(a->dtype);
  PyObject *text = !shape || !elem ? NULL
                   : record ? PyUnicode_FromFormat("<pyptx device record, %S, on '%s'>", a->dtype,
                                                   rt_device_name(a->device))
                            : PyUnicode_FromFormat("<pyptx device array, shape %R, %S, on '%s'>",
                                                   shape, elem, rt_device_name(a->device));
  Py_XDECREF(elem);
  Py_XDECREF(shape);
  return text;
}

static PyObject *array_repr(PyObject *op) {
  PyObject *text = px_array_text(op);
  if (text || !PyErr_ExceptionMatches(PyExc_Exception)) /* Ctrl-C is none */
    return text;
  PyErr_Clear();
  return plain_repr(op);
}

static Py_ssize_t array_length(PyObject *op) {
  PxArray *a = (PxArray *)op;
  if (!a->ndim) {
    PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
    return -1;
  }
  return (Py_ssize_t)px_shape(a)[0];
}

static PyObject *get_shape(PyObject *op, void *Py_UNUSED(c)) {
  return px_dims_tuple(px_shape((PxArray *)op), ((PxArray *)op)->ndim);
}
static PyObject *get_strides(PyObject *op, void *Py_UNUSED(c)) {
  return px_dims_tuple(px_strides((PxArray *)op), ((PxArray *)op)->ndim);
}
static PyObject *get_dtype(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxArray *)op)->dtype);
}
static PyObject *get_ndim(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromUnsignedLong(((PxArray *)op)->ndim);
}
static PyObject *get_size(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromLongLong(((PxArray *)op)->size);
}
static PyObject *get_itemsize(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromSize_t(((PxArray *)op)->itemsize);
}
static PyObject *get_memory(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxArray *)op)->memory);
}
static PyObject *get_alloc_size(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromSize_t(((PxMemory *)((PxArray *)op)->memory)->bytes);
}
static PyObject *get_transposed(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *none = PyTuple_New(0);
  PyObject *t = none ? px_array_transpose(op, none) : NULL;
  Py_XDECREF(none);
  return t;
}

static PyObject *get_stream(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *stream = ((PxArray *)op)->stream;
  return stream ? Py_NewRef(stream) : PyLong_FromLong(0); /* the default one, as in Numba */
}

/* Above those of pandas, whose operators leave the work to a higher one. */
static PyObject *get_pandas_priority(PyObject *Py_UNUSED(op), void *Py_UNUSED(c)) {
  return PyLong_FromLong(5000);
}

static PyObject *get_nbytes(PyObject *op, void *Py_UNUSED(c)) {
  PxArray *a = (PxArray *)op;
  return PyLong_FromLongLong(a->size * (int64_t)a->itemsize);
}

static PyObject *get_device(PyObject *op, void *Py_UNUSED(c)) {
  return px_device_object(px_state_of(op), ((PxArray *)op)->device);
}

static PyObject *get_pointer(PyObject *op, void *Py_UNUSED(c)) {
  if (px_array_check((PxArray *)op, NULL) < 0)
    return NULL;
  PyObject *ctypes = PyImport_ImportModule("ctypes");
  PyObject *p = ctypes ? PyObject_CallMethod(ctypes, "c_void_p", "K",
                                             (unsigned long long)((PxArray *)op)->address)
                       : NULL;
  Py_XDECREF(ctypes);
  return p;
}

static PyObject *get_flags(PyObject *op, void *Py_UNUSED(c)) {
  PxArray *a = (PxArray *)op;
  return Py_BuildValue("{s:N,s:N,s:N}", "C_CONTIGUOUS",
                       PyBool_FromLong(px_is_contiguous(a, LAYOUT_C)), "F_CONTIGUOUS",
                       PyBool_FromLong(px_is_contiguous(a, LAYOUT_F)), "WRITEABLE",
                       PyBool_FromLong(!a->readonly));
}

static PyObject *is_c_contiguous(PyObject *op, PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(px_is_contiguous((PxArray *)op, LAYOUT_C));
}
static PyObject *is_f_contiguous(PyObject *op, PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(px_is_contiguous((PxArray *)op, LAYOUT_F));
}

/* The fields, where NumPy can list them: it cannot if they overlap or lie out of order. */
static int add_description(PyObject *interface, PyObject *dtype) {
  PyObject *descr = PyObject_GetAttrString(dtype, "descr");
  if (!descr && !PyErr_ExceptionMatches(PyExc_ValueError))
    return -1;
  PyErr_Clear();
  int failed = descr ? PyDict_SetItemString(interface, "descr", descr) : 0;
  Py_XDECREF(descr);
  return failed;
}

/* Version 3. Work of this array is on the legacy default stream (1) unless a launch named another
 * one. */
static PyObject *get_interface(PyObject *op, void *Py_UNUSED(c)) {
  PxArray *a = (PxArray *)op;
  PxState *st = px_state_of(op);
  if (rt_device_is_host(a->device))
    return PyErr_Format(
        PyExc_AttributeError,
        "this array is in host memory (device '%s'): it has no __cuda_array_interface__; use copy_to_host()",
        rt_device_name(a->device));
  if (px_array_check(a, NULL) < 0)
    return NULL;
  RtStream *s = px_stream_of(((PxMemory *)a->memory)->stream);
  unsigned long long stream = s ? rt_stream_handle(s) : 1;
  PyObject *strides = px_is_contiguous(a, LAYOUT_C) ? Py_NewRef(Py_None) : get_strides(op, NULL);
  PyObject *typestr = PyObject_GetAttr(a->dtype, st->name.str);
  if (!strides || !typestr) {
    Py_XDECREF(strides);
    Py_XDECREF(typestr);
    return NULL;
  }
  PyObject *interface = Py_BuildValue(
      "{s:N,s:N,s:(KN),s:N,s:K,s:i}", "shape", get_shape(op, NULL), "strides", strides, "data",
      (unsigned long long)(a->size ? a->address : 0), PyBool_FromLong(a->readonly), "typestr",
      typestr, "stream", stream, "version", 3);
  if (interface && px_array_has_fields(op) && add_description(interface, a->dtype) < 0)
    Py_CLEAR(interface);
  return interface;
}

static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, "Extents of the axes.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next along each axis.", NULL},
    {"dtype", get_dtype, NULL, "NumPy dtype of the elements.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"alloc_size", get_alloc_size, NULL, "Bytes of the allocation that the array lies in.", NULL},
    {"T", get_transposed, NULL, "A view with the axes reversed.", NULL},
    {"real", px_array_part, NULL, "The real parts, as a view; of real elements the array itself.",
     NULL},
    {"imag", px_array_part, NULL, "The imaginary parts of complex elements, as a view.", (void *)1},
    {"stream", get_stream, NULL, "The stream that bind() gave, or 0.", NULL},
    {"flags", get_flags, NULL, "A dict: C_CONTIGUOUS, F_CONTIGUOUS, WRITEABLE.", NULL},
    {"device", get_device, NULL, "The device whose memory this is.", NULL},
    {"gpu_data", get_memory, NULL, "The memory that the array lies in.", NULL},
    {"device_ctypes_pointer", get_pointer, NULL,
     "Address of the first element as a ctypes.c_void_p.", NULL},
    {"__pandas_priority__", get_pandas_priority, NULL, NULL, NULL},
    {"__cuda_array_interface__", get_interface, NULL, NULL, NULL},
    {0},
};

static PyObject *array_reduce(PyObject *op, PyObject *Py_UNUSED(args)) {
  return px_call_pickle("reduce_array", op);
}

static PyObject *get_ipc_handle(PyObject *op, PyObject *Py_UNUSED(args)) {
  PyObject *memory = PyImport_ImportModule("pyptx.cuda._memory");
  PyObject *handle = memory ? px_call_method(memory, "_ipc_handle_of", op) : NULL;
  Py_XDECREF(memory);
  return handle;
}

/* The array itself, or on a stream if one is given. */
static PyObject *bound_to(PyObject *op, PyObject *stream) {
  return stream ? px_call_method(op, "bind", stream) : Py_NewRef(op);
}

static PyObject *array_getitem(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"item", "stream", NULL};
  PyObject *item, *stream = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:getitem", names, &item, &stream))
    return NULL;
  PyObject *array = bound_to(op, stream), *found = array ? PyObject_GetItem(array, item) : NULL;
  Py_XDECREF(array);
  return found;
}

static PyObject *array_setitem(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"key", "value", "stream", NULL};
  PyObject *key, *value, *stream = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:setitem", names, &key, &value, &stream))
    return NULL;
  PyObject *array = bound_to(op, stream);
  int failed = array ? PyObject_SetItem(array, key, value) : -1;
  Py_XDECREF(array);
  return failed ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef array_methods[] = {
    {"getitem", PX_KEYWORDS(array_getitem), METH_VARARGS | METH_KEYWORDS,
     "getitem($self, /, item, stream=0)\n--\n\n"
     "The same as a[item], on a stream.\n\n"
     "Example:\n\n"
     "    first = d.getitem(0, stream=s)"},
    {"setitem", PX_KEYWORDS(array_setitem), METH_VARARGS | METH_KEYWORDS,
     "setitem($self, /, key, value, stream=0)\n--\n\n"
     "The same as a[key] = value, on a stream.\n\n"
     "Example:\n\n"
     "    d.setitem(0, 1.0, stream=s)"},
    {"copy_to_host", PX_KEYWORDS(px_array_copy_to_host), METH_VARARGS | METH_KEYWORDS,
     "copy_to_host($self, /, ary=None, stream=0)\n--\n\n"
     "The elements as a NumPy array, in ary if one is given (same shape and dtype). With ary\n"
     "and a stream the copy may still run on return: synchronise the stream.\n\n"
     "Example:\n\n"
     "    print(cuda.to_device(np.arange(3)).copy_to_host())     # [0 1 2]"},
    {"copy_to_device", PX_KEYWORDS(px_array_copy_to_device), METH_VARARGS | METH_KEYWORDS,
     "copy_to_device($self, /, ary, stream=0)\n--\n\n"
     "Copy the elements of a host or device array of the same shape and dtype into this one\n"
     "(d[...] = ary converts). TypeError for other dtypes and for masked arrays.\n\n"
     "Example:\n\n"
     "    d.copy_to_device(np.zeros(d.shape, d.dtype))"},
    {"reshape", PX_KEYWORDS(px_array_reshape), METH_VARARGS | METH_KEYWORDS,
     "reshape($self, /, *shape, order='C')\n--\n\n"
     "A view with another shape; one extent may be -1. NotImplementedError where it would need\n"
     "a copy.\n\n"
     "Example:\n\n"
     "    print(d.reshape(2, -1).shape)            # (2, 4)"},
    {"ravel", PX_KEYWORDS(px_array_ravel), METH_VARARGS | METH_KEYWORDS,
     "ravel($self, /, *, order='C')\n--\n\n"
     "A view with one axis, contiguous. NotImplementedError where it would need a copy.\n\n"
     "Example:\n\n"
     "    print(d.reshape(2, 4).ravel().shape)     # (8,)"},
    {"transpose", px_array_transpose, METH_VARARGS,
     "transpose($self, /, *axes)\n--\n\n"
     "A view with the axes permuted; reversed if none are given.\n\n"
     "Example:\n\n"
     "    print(d.reshape(2, 4).transpose().shape)  # (4, 2)"},
    {"squeeze", PX_KEYWORDS(px_array_squeeze), METH_VARARGS | METH_KEYWORDS,
     "squeeze($self, /, axis=None)\n--\n\n"
     "A view without the axes of extent 1, or without the one or those of `axis`; ValueError\n"
     "where one has another extent.\n\n"
     "Example:\n\n"
     "    print(d.reshape(1, 8).squeeze().shape)   # (8,)"},
    {"view", px_array_retype, METH_O,
     "view($self, dtype, /)\n--\n\n"
     "The same bytes as elements of another dtype.\n\n"
     "Example:\n\n"
     "    bits = d.view(np.uint32)                 # of float32"},
    {"split", PX_KEYWORDS(px_array_split), METH_VARARGS | METH_KEYWORDS,
     "split($self, /, section, stream=0)\n--\n\n"
     "An iterator of views of `section` elements each of an array with one axis; the last may\n"
     "have fewer.\n\n"
     "Example:\n\n"
     "    print([part.size for part in d.split(3)])              # [3, 3, 2]"},
    {"bind", PX_KEYWORDS(px_array_bind), METH_VARARGS | METH_KEYWORDS,
     "bind($self, /, stream=0)\n--\n\n"
     "The same array, whose copies run on that stream where they name none; its views too.\n\n"
     "Example:\n\n"
     "    on_s = d.bind(s)"},
    {"get_ipc_handle", get_ipc_handle, METH_NOARGS,
     "get_ipc_handle($self, /)\n--\n\n"
     "What another process opens the array with (cuda.IpcArrayHandle); of arrays made inside\n"
     "`with cuda.shareable()`. Needs a GPU.\n\n"
     "Example:\n\n"
     "    with cuda.shareable():\n"
     "        shared = cuda.device_array(1000)\n"
     "    handle = shared.get_ipc_handle()       # send it to the other process"},
    {"is_c_contiguous", is_c_contiguous, METH_NOARGS,
     "is_c_contiguous($self, /)\n--\n\n"
     "Are the elements contiguous in C order.\n\n"
     "Example:\n\n"
     "    print(d.is_c_contiguous())               # True"},
    {"is_f_contiguous", is_f_contiguous, METH_NOARGS,
     "is_f_contiguous($self, /)\n--\n\n"
     "Are the elements contiguous in Fortran order.\n\n"
     "Example:\n\n"
     "    print(d.reshape(2, 4).T.is_f_contiguous())             # True"},
#define METHOD(name, doc)                                                                          \
  {#name, PX_KEYWORDS(px_array_method_##name), METH_VARARGS | METH_KEYWORDS, doc},
#include "pyext/array/operators.def"
    {"_repr_html_", px_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nWhat a notebook shows."},
    {"__array__", PX_KEYWORDS(px_array_array), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\n"
     "np.asarray(d): a copy of the elements on the host. ValueError for copy=False."},
    {"__reduce__", array_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\n"
     "The elements are pickled; they are copied to the current device again."},
    {"__copy__", px_array_duplicate, METH_NOARGS,
     "__copy__($self, /)\n--\n\n"
     "A new device array with the same elements."},
    {"__deepcopy__", px_array_duplicate, METH_O,
     "__deepcopy__($self, memo, /)\n--\n\n"
     "A new device array with the same elements."},
    {"__dlpack__", PX_KEYWORDS(px_array_dlpack), METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule of this array; it keeps the memory alive. Work on the stream (1 legacy,\n"
     "2 per-thread, else a handle; -1: no waiting) is ordered after work on the array."},
    {"__dlpack_device__", px_array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n"
     "(type, number): (2, n) for GPU n, (1, 0) for the host device."},
    {0},
};

static PyMemberDef array_members[] = {PX_WEAKREFS(PxArray), {0}};

static PyType_Slot array_slots[] = {
    {Py_tp_members, array_members},
    {Py_tp_doc,
     "An array in the memory of a device. Made by to_device, device_array, zeros, ones, full, arange and their like. Operators, comparisons and "
     "NumPy's ufuncs work on its elements on the device."},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_traverse, array_traverse},
    {Py_tp_repr, array_repr},
    {Py_tp_getattro, px_array_getattr},
    {Py_tp_setattro, px_array_setattr},
    {Py_tp_getset, array_getset},
    {Py_tp_methods, array_methods},
    {Py_mp_length, array_length},
    {Py_sq_length, array_length},
    {Py_sq_item, px_array_item},
    {Py_mp_subscript, px_array_subscript},
    {Py_mp_ass_subscript, px_array_ass_subscript},
#define UNARY(name, slot)   {Py_##slot, px_array_##slot},
#define BINARY(name, slot)  {Py_##slot, px_array_##slot},
#define INPLACE(name, slot) {Py_##slot, px_array_##slot},
#include "pyext/array/operators.def"
    {Py_nb_power, px_array_power},
    {Py_nb_inplace_power, px_array_inplace_power},
    {Py_nb_bool, px_array_truth},
    {Py_sq_contains, px_array_contains},
    {Py_tp_richcompare, px_array_compare},
    {Py_tp_hash, px_array_hash},
    {0, NULL},
};

PyType_Spec px_array_spec = {
    .name = "pyptx._pyptx.DeviceArray",
    .basicsize = offsetof(PxArray, dims),
    .itemsize = sizeof(int64_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = array_slots,
};
