/* Source: types of other libraries whose arrays are read without a Python object in between, so
 * that a launch costs what it must.
 *
 * A type is looked at once. Types with a DLPack exchange table (PyTorch 2.10 and later, cuda.core,
 * TVM) are read through it, CuPy's ndarray through its attributes. The table of types is filled
 * only: a slot, once written, is read without a lock. */
#include <stdatomic.h>
#include <string.h>

#include "pyext/array/dlpack.h"
#include "pyext/array/foreign.h"
#include "pyext/array/foreign_types.h"
#include "pyext/compile/record.h"

/* --- the table --- */

static size_t slot_of(const PyTypeObject *type) {
  return ((uintptr_t)type >> 5) * 0x9e3779b1u % PX_SOURCES;
}

const PxSource *px_source_find(PxState *st, PyTypeObject *type) {
  for (size_t i = slot_of(type), n = 0; n < PX_SOURCES; i = (i + 1) % PX_SOURCES, n++) {
    const PxSource *s = atomic_load_explicit(&st->sources[i], memory_order_acquire);
    if (!s || s->type == type)
      return s;
  }
  return NULL;
}

static void source_free(PxSource *s) {
  Py_XDECREF((PyObject *)s->type);
  Py_XDECREF(s->current_stream);
  Py_XDECREF(s->descriptor);
  PyMem_Free(s);
}

/* What is in the table stays: two threads may look at one type together. The table is never full:
 * it would end the search. */
static const PxSource *insert(PxState *st, PxSource *fresh) {
  const PxSource *found = NULL;
  size_t used = 0;
  PX_BEGIN_LOCKED(st->module)
  for (size_t i = 0; i < PX_SOURCES; i++)
    used += atomic_load_explicit(&st->sources[i], memory_order_relaxed) != NULL;
  if (used < PX_SOURCES / 2) {
    size_t i = slot_of(fresh->type);
    PxSource *s;
    while ((s = atomic_load_explicit(&st->sources[i], memory_order_relaxed)) &&
           s->type != fresh->type)
      i = (i + 1) % PX_SOURCES;
    if (!s)
      atomic_store_explicit(&st->sources[i], fresh, memory_order_release);
    found = s ? s : fresh;
  }
  PX_END_LOCKED()
  if (found != fresh)
    source_free(fresh);
  return found;
}

void px_sources_free(PxState *st) {
  for (size_t i = 0; i < PX_SOURCES; i++) {
    PxSource *s = atomic_exchange(&st->sources[i], NULL);
    if (s)
      source_free(s);
  }
}

static bool is_cupy(PxState *st, PyTypeObject *type) {
  if (strcmp(type->tp_name, "ndarray") != 0 && strcmp(type->tp_name, "cupy.ndarray") != 0)
    return false;
  PyObject *module = px_getattr_optional((PyObject *)type, st->name.__module__);
  bool is = module && PyUnicode_Check(module) &&
            PyUnicode_CompareWithASCIIString(module, "cupy") == 0;
  Py_XDECREF(module);
  return is;
}

static PyObject *cupy_stream_function(void) {
  PyObject *cuda = PyImport_ImportModule("cupy.cuda");
  PyObject *function = cuda ? PyObject_GetAttrString(cuda, "get_current_stream") : NULL;
  Py_XDECREF(cuda);
  PyErr_Clear(); /* then it is read through the array interface */
  return function;
}

/* As instances find it: a getter in C, and attribute access as object has it. */
static PyObject *getter_of(PyTypeObject *type, PyObject *name) {
  PyObject *found = type->tp_getattro == PyObject_GenericGetAttr
                        ? px_getattr_optional((PyObject *)type, name)
                        : NULL;
  if (found &&
      (!Py_IS_TYPE(found, &PyGetSetDescr_Type) || !PyType_IsSubtype(type, PyDescr_TYPE(found)) ||
       !((PyGetSetDescrObject *)found)->d_getset->get))
    Py_CLEAR(found);
  PyErr_Clear();
  return found;
}

const PxSource *px_source_of(PxState *st, PyTypeObject *type) {
  const PxSource *known = px_source_find(st, type);
  if (known)
    return known;
  const DlExchange *exchange = px_dlpack_exchange(st, type);
  PyObject *stream = !exchange && is_cupy(st, type) ? cupy_stream_function() : NULL;
  PxSource *s = exchange || stream ? PyMem_Calloc(1, sizeof *s) : NULL;
  if (!s) {
    Py_XDECREF(stream);
    return NULL;
  }
  s->type = (PyTypeObject *)Py_NewRef((PyObject *)type);
  s->exchange = exchange;
  s->tensor_of = exchange ? exchange->tensor_of : NULL;
  s->stream_of = exchange ? exchange->current_stream : NULL;
  s->current_stream = stream;
  s->autograd = PyObject_HasAttrString((PyObject *)type, "requires_grad") &&
                PyObject_HasAttrString((PyObject *)type, "is_neg");
  s->descriptor = s->autograd ? getter_of(type, st->name.requires_grad) : NULL;
  if (s->descriptor) {
    const PyGetSetDef *def = ((PyGetSetDescrObject *)s->descriptor)->d_getset;
    s->requires_grad = def->get;
    s->closure = def->closure;
  }
  return insert(st, s);
}

/* --- the exchange API --- */

static int is_set(PyObject *obj, const char *method) {
  PyObject *answer = PyObject_CallMethod(obj, method, NULL);
  int is = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return is;
}

/* Is the tensor possibly a view that PyTorch negates when it is read: the imaginary part of a
 * conjugated one? Its strides then skip the real parts, unless it has but one element. */
static bool may_be_negated(const PxForeign *f) {
  int64_t expect = (int64_t)f->itemsize, size = 1;
  bool packed = true;
  for (unsigned i = f->ndim; i-- > 0; expect *= f->shape[i]) {
    packed &= f->shape[i] == 1 || f->strides[i] == expect;
    size *= f->shape[i];
  }
  return size == 1 || (size && !packed);
}

static int refuse(const char *what, const char *remedy) {
  PyErr_Format(PyExc_TypeError, "a tensor %s cannot be passed to a kernel: pass %s", what, remedy);
  return -1;
}

/* What its own __dlpack__ would have refused. */
static int check_tensor(PxState *st, PyObject *obj, PxForeign *f) {
  PyObject *grad = PyObject_GetAttr(obj, st->name.requires_grad);
  if (!grad)
    return -1;
  f->readonly = grad == Py_False ? PX_WRITABLE : PX_TRACKED;
  Py_DECREF(grad);
  TypeKind kind = (TypeKind)ty_scalar_info[f->elem].kind;
  int is = kind == KIND_COMPLEX ? is_set(obj, "is_conj") : 0;
  if (is)
    return is < 0 ? -1 : refuse("whose conjugation is still to be done", "x.resolve_conj()");
  is = (kind == KIND_FLOAT || kind == KIND_COMPLEX) && may_be_negated(f) ? is_set(obj, "is_neg")
                                                                         : 0;
  return is <= 0 ? is : refuse("whose negation is still to be done", "x.resolve_neg()");
}

static int no_tensor(PyObject *obj) {
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_BufferError, "%.100s gives no DLPack tensor", Py_TYPE(obj)->tp_name);
  return -1;
}

/* Where there is none to borrow, an owned one. */
static int read_managed(const PxSource *s, PyObject *obj, PxForeign *out) {
  DlVersioned *managed = NULL;
  if (s->exchange->managed_of(obj, &managed) != 0 || !managed)
    return no_tensor(obj);
  return px_dlpack_own(managed, out);
}

static int read_exchange(PxState *st, const PxSource *s, PyObject *obj, PxForeign *out) {
  DlTensor t;
  if (!s->tensor_of)
    return read_managed(s, obj, out);
  if (s->tensor_of(obj, &t) != 0)
    return no_tensor(obj);
  if (px_dlpack_read(&t, out) < 0)
    return -1;
  return s->autograd ? check_tensor(st, obj, out) : 0;
}

/* --- CuPy --- */

static int read_number(PyObject *obj, PyObject *name, unsigned long long *out) {
  PyObject *v = PyObject_GetAttr(obj, name);
  *out = v ? PyLong_AsUnsignedLongLong(v) : 0;
  Py_XDECREF(v);
  return PyErr_Occurred() ? -1 : 0;
}

static int read_dims(PyObject *obj, PyObject *name, unsigned *n, int64_t *out) {
  PyObject *tuple = PyObject_GetAttr(obj, name);
  if (tuple && (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > TY_MAX_NDIM))
    PyErr_Format(PyExc_TypeError, "%.100s has bad extents or more than %d axes",
                 Py_TYPE(obj)->tp_name, TY_MAX_NDIM);
  *n = tuple && !PyErr_Occurred() ? (unsigned)PyTuple_GET_SIZE(tuple) : 0;
  for (unsigned i = 0; i < *n; i++)
    out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
  Py_XDECREF(tuple);
  return PyErr_Occurred() ? -1 : 0;
}

static int read_cupy(PxState *st, PyObject *obj, PxForeign *out) {
  unsigned nstrides;
  unsigned long long address = 0, device = 0, itemsize = 0;
  out->dtype = out->keeper = NULL;
  out->readonly = out->has_stream = false;
  PyObject *data = PyObject_GetAttr(obj, st->name.data);
  int failed = !data || read_number(data, st->name.ptr, &address) < 0 ||
               read_number(data, st->name.device_id, &device) < 0;
  Py_XDECREF(data);
  if (failed || read_dims(obj, st->name.shape, &out->ndim, out->shape) < 0 ||
      read_dims(obj, st->name.strides, &nstrides, out->strides) < 0)
    return -1;
  if (nstrides != out->ndim) {
    PyErr_Format(PyExc_TypeError, "%.100s has %u extents and %u strides", Py_TYPE(obj)->tp_name,
                 out->ndim, nstrides);
    return -1;
  }
  PyObject *dtype = PyObject_GetAttr(obj, st->name.dtype);
  if (!dtype || px_need_numpy(st) < 0) {
    Py_XDECREF(dtype);
    return -1;
  }
  out->elem = px_elem_of_dtype(st, dtype);
  if (out->elem < TY_SCALARS)
    itemsize = ty_scalar_info[out->elem].bits / 8u;
  else if (read_number(dtype, st->name.itemsize, &itemsize) < 0) {
    Py_DECREF(dtype);
    return -1;
  }
  out->dtype = dtype;
  out->address = address;
  out->device = (int)device;
  out->itemsize = (size_t)itemsize;
  return 0;
}

int px_source_read(PxState *st, const PxSource *s, PyObject *obj, PxForeign *out) {
  return s->exchange ? read_exchange(st, s, obj, out) : read_cupy(st, obj, out);
}

PX_HOT int px_source_stream(PxState *st, const PxSource *s, int device, uint64_t *stream) {
  *stream = 0;
  if (s->exchange) {
    void *handle = NULL;
    if (s->stream_of(DL_CUDA, device, &handle) != 0) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError, "%.100s names no current stream", s->type->tp_name);
      return -1;
    }
    *stream = (uint64_t)(uintptr_t)handle;
    return 0;
  }
  unsigned long long handle = 0;
  PyObject *current = PyObject_CallNoArgs(s->current_stream);
  int failed = current ? read_number(current, st->name.ptr, &handle) : -1;
  Py_XDECREF(current);
  *stream = handle;
  return failed;
}
