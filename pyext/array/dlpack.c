/* DLPack, in: tensors of other libraries as PxForeign. A tensor is any object's word, so all of it
 * is checked. */
#include "pyext/array/dlpack.h"
#include "pyext/array/foreign.h"
#include "pyext/compile/record.h"

#include <string.h>

#define CAPSULE           "dltensor"
#define CAPSULE_VERSIONED "dltensor_versioned"
#define KEEPER            "pyptx_dltensor" /* a capsule that owns what came in */
#define KEEPER_VERSIONED  "pyptx_dltensor_versioned"

/* --- element types --- */

enum { NO_TYPE = 0, BITS = 8 }; /* by binary logarithm of the bits; one more than the TypeId */
static const uint8_t type_ids[DL_CODES][BITS] = {
    [DL_INT] = {[3] = TY_I8 + 1, TY_I16 + 1, TY_I32 + 1, TY_I64 + 1},
    [DL_UINT] = {[3] = TY_U8 + 1, TY_U16 + 1, TY_U32 + 1, TY_U64 + 1},
    [DL_FLOAT] = {[4] = TY_F16 + 1, TY_F32 + 1, TY_F64 + 1},
    [DL_BFLOAT] = {[4] = TY_BF16 + 1},
    [DL_COMPLEX] = {[6] = TY_C64 + 1, TY_C128 + 1},
    [DL_BOOL] = {[3] = TY_BOOL + 1},
    [DL_FLOAT8_E4M3FN] = {[3] = TY_E4M3 + 1},
    [DL_FLOAT8_E5M2] = {[3] = TY_E5M2 + 1},
    [DL_FLOAT8_E8M0FNU] = {[3] = TY_E8M0 + 1},
};

bool px_dlpack_dtype(PxElem elem, uint8_t *code, uint8_t *bits) {
  for (unsigned c = 0; c < DL_CODES; c++)
    for (unsigned b = 0; b < BITS; b++)
      if (elem < TY_SCALARS && type_ids[c][b] == elem + 1) {
        *code = (uint8_t)c;
        *bits = (uint8_t)(1u << b);
        return true;
      }
  return false;
}

static const char *const code_names[] = {
    "int",
    "uint",
    "float",
    "opaque",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
};

static int bad_dtype(const DlTensor *t) {
  unsigned code = t->dtype.code;
  const char *name = code < sizeof code_names / sizeof *code_names ? code_names[code] : "unknown";
  PyErr_Format(
      PyExc_TypeError,
      "a DLPack tensor of elements %s (code %u, %u bits, %u lanes): kernels have no such type",
      name, code, t->dtype.bits, t->dtype.lanes);
  return -1;
}

static TypeId type_of(const DlTensor *t) {
  unsigned code = t->dtype.code, bits = t->dtype.bits;
  if (code >= DL_CODES || !bits || bits & (bits - 1) || t->dtype.lanes != 1)
    return TY_SCALARS;
  uint8_t id = type_ids[code][__builtin_ctz(bits)];
  return id == NO_TYPE ? TY_SCALARS : (TypeId)(id - 1);
}

/* --- reading --- */

static int bad(const char *what) {
  PyErr_Format(PyExc_BufferError, "bad DLPack tensor: %s", what);
  return -1;
}

static int read_device(const DlTensor *t, PxForeign *out) {
  switch (t->device.type) {
  case DL_CPU: out->device = RT_HOST; return 0;
  case DL_CUDA: out->device = t->device.id < 0 ? PX_UNKNOWN_GPU : t->device.id; return 0;
  case DL_CUDA_HOST:
  case DL_CUDA_MANAGED: out->device = PX_ANYWHERE; return 0;
  default:
    PyErr_Format(PyExc_BufferError,
                 "the DLPack tensor is on a device of type %d, neither a CPU nor CUDA",
                 (int)t->device.type);
    return -1;
  }
}

/* Byte strides, and a check that no element is further from the first one than an address can
 * be. */
static int read_strides(const DlTensor *t, PxForeign *out) {
  int64_t expect = 1, item = (int64_t)out->itemsize, reach = item;
  for (unsigned i = out->ndim; i-- > 0;) {
    int64_t stride = t->strides ? t->strides[i] : expect, extent = t->shape[i];
    if (extent < 0)
      return bad("negative extent");
    if (__builtin_mul_overflow(stride, item, &out->strides[i]) ||
        !px_add_reach(out->strides[i], extent, &reach) ||
        __builtin_mul_overflow(expect, extent ? extent : 1, &expect))
      return bad("extents and strides beyond 63 bits");
    out->shape[i] = extent;
  }
  return 0;
}

int px_dlpack_read(const DlTensor *t, PxForeign *out) {
  TypeId id = type_of(t);
  out->dtype = out->keeper = NULL;
  out->readonly = out->has_stream = false;
  if (t->ndim < 0 || t->ndim > TY_MAX_NDIM)
    return bad("it has too many axes");
  if (id >= TY_SCALARS)
    return bad_dtype(t);
  if (t->ndim && !t->shape)
    return bad("it has no shape");
  out->elem = (PxElem)id;
  out->itemsize = t->dtype.bits / 8u;
  out->ndim = (unsigned)t->ndim;
  if (read_device(t, out) < 0 || read_strides(t, out) < 0)
    return -1;
  bool empty = false;
  for (unsigned i = 0; i < out->ndim; i++)
    empty |= !out->shape[i];
  if (!t->data && !empty)
    return bad("it has elements but no memory");
  out->address = (uint64_t)(uintptr_t)t->data + t->byte_offset;
  return 0;
}

/* --- owned tensors --- */

/* Deleters may run Python code, which must not see or lose an exception that is on its way. */
static void release(DlManaged *old, DlVersioned *managed) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (old && old->deleter)
    old->deleter(old);
  if (managed && managed->deleter)
    managed->deleter(managed);
  PyErr_Restore(type, value, trace);
}

static void keeper_free(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, KEEPER))
    release(PyCapsule_GetPointer(capsule, KEEPER), NULL);
  else
    release(NULL, PyCapsule_GetPointer(capsule, KEEPER_VERSIONED));
}

int px_dlpack_take(DlVersioned *managed, PxForeign *out) {
  if (managed->version.major != DL_MAJOR) {
    PyErr_Format(PyExc_BufferError, "a DLPack tensor of version %u.%u: %d.x is understood",
                 managed->version.major, managed->version.minor, DL_MAJOR);
  } else if (px_dlpack_read(&managed->tensor, out) == 0) {
    out->readonly = managed->flags & DL_READ_ONLY;
    out->keeper = PyCapsule_New(managed, KEEPER_VERSIONED, keeper_free);
    return out->keeper ? 0 : -1;
  }
  return -1;
}

int px_dlpack_own(DlVersioned *managed, PxForeign *out) {
  int failed = px_dlpack_take(managed, out);
  if (failed)
    release(NULL, managed);
  return failed;
}

void px_dlpack_leave(PyObject *keeper) { PyCapsule_SetDestructor(keeper, NULL); }

static int take_old(DlManaged *managed, PxForeign *out) {
  if (px_dlpack_read(&managed->tensor, out) == 0 &&
      (out->keeper = PyCapsule_New(managed, KEEPER, keeper_free)))
    return 0;
  release(managed, NULL);
  return -1;
}

/* Whoever renames a capsule owns what it holds. */
static int take_capsule(PyObject *capsule, PxForeign *out) {
  if (PyCapsule_IsValid(capsule, CAPSULE_VERSIONED)) {
    DlVersioned *managed = PyCapsule_GetPointer(capsule, CAPSULE_VERSIONED);
    if (PyCapsule_SetName(capsule, "used_" CAPSULE_VERSIONED) < 0)
      return -1;
    return px_dlpack_own(managed, out);
  }
  if (PyCapsule_IsValid(capsule, CAPSULE)) {
    DlManaged *managed = PyCapsule_GetPointer(capsule, CAPSULE);
    return PyCapsule_SetName(capsule, "used_" CAPSULE) < 0 ? -1 : take_old(managed, out);
  }
  PyErr_Format(PyExc_TypeError,
               "__dlpack__() must return a new DLPack capsule; this is %.100s, or was used before",
               Py_TYPE(capsule)->tp_name);
  return -1;
}

/* --- the Python protocol --- */

int px_dlpack_device(PxState *st, PyObject *obj, int *id) {
  PyObject *method = px_getattr_optional(obj, st->name.__dlpack_device__);
  if (!method)
    return PyErr_Occurred() ? -1 : 0;
  PyObject *pair = PyObject_CallNoArgs(method);
  Py_DECREF(method);
  int type = 0;
  bool is_pair = pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2;
  if (is_pair) {
    type = (int)PyLong_AsLong(PyTuple_GET_ITEM(pair, 0)); /* often an IntEnum */
    *id = (int)PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
  } else if (pair) {
    PyErr_SetString(PyExc_TypeError, "__dlpack_device__() must return (type, number)");
  }
  Py_XDECREF(pair);
  if (PyErr_Occurred())
    return -1;
  if (type <= 0)
    PyErr_Format(PyExc_TypeError,
                 "__dlpack_device__() of %.100s names a device of type %d: 1 is a CPU, 2 CUDA",
                 Py_TYPE(obj)->tp_name, type);
  return type <= 0 ? -1 : type;
}

/* Producers from before DLPack 1.0 know no max_version. */
static PyObject *call_export(PyObject *method, PyObject *stream) {
  PyObject *none = PyTuple_New(0), *capsule = NULL;
  PyObject *kwargs = stream ? Py_BuildValue("{s:(ii),s:O}", "max_version", DL_MAJOR, DL_MINOR,
                                            "stream", stream)
                            : Py_BuildValue("{s:(ii)}", "max_version", DL_MAJOR, DL_MINOR);
  if (none && kwargs)
    capsule = PyObject_Call(method, none, kwargs);
  if (!capsule && kwargs && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    if (PyDict_DelItemString(kwargs, "max_version") == 0)
      capsule = PyObject_Call(method, none, kwargs);
  }
  Py_XDECREF(kwargs);
  Py_XDECREF(none);
  return capsule;
}

int px_dlpack_import(PxState *st, PyObject *obj, int device_type, uint64_t stream, PxForeign *out) {
  bool gpu = device_type == DL_CUDA || device_type == DL_CUDA_MANAGED;
  PyObject *handle = gpu ? PyLong_FromUnsignedLongLong(stream ? stream : 1) : NULL;
  PyObject *method = gpu && !handle ? NULL : PyObject_GetAttr(obj, st->name.__dlpack__);
  PyObject *capsule = method ? call_export(method, handle) : NULL;
  int failed = capsule ? take_capsule(capsule, out) : -1;
  Py_XDECREF(capsule);
  Py_XDECREF(method);
  Py_XDECREF(handle);
  return failed;
}

/* --- the C exchange API --- */

static const DlExchange *table_of(PyObject *capsule) {
  const DlExchange *e = PyCapsule_IsValid(capsule, DL_EXCHANGE_NAME)
                            ? PyCapsule_GetPointer(capsule, DL_EXCHANGE_NAME)
                            : NULL;
  while (e && e->version.major != DL_MAJOR)
    e = e->older;
  return e && (e->tensor_of || e->managed_of) && e->current_stream ? e : NULL;
}

const DlExchange *px_dlpack_exchange(PxState *st, PyTypeObject *type) {
  PyObject *names[] = {st->name.__dlpack_c_exchange_api__, st->name.__c_dlpack_exchange_api__};
  const DlExchange *found = NULL;
  for (int i = 0; i < 2 && !found; i++) { /* the second name is that of drafts */
    PyObject *capsule = px_getattr_optional((PyObject *)type, names[i]);
    found = capsule ? table_of(capsule) : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
  }
  return found;
}
