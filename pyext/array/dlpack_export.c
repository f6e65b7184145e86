/* DLPack, out: device arrays as tensors for other libraries, as capsules and through the C exchange
 * API.
 *
 * A managed tensor holds a reference to its array, which it gives back when its deleter is called:
 * by the consumer, from any thread, with or without the GIL, or by the capsule that nobody took.
 * After the interpreter's end it is left alone. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/dlpack.h"
#include "pyext/array/dlpack_export.h"
#include "pyext/array/foreign.h"
#include "pyext/array/make.h"
#include "pyext/array/memory.h"
#include "pyext/compile/type.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/memory/unset.h"

/* --- tensors --- */

typedef struct Export {
  union {
    DlManaged old;
    DlVersioned versioned;
  } managed;
  PyObject *array;
} Export;

/* Borrowed from the array. 0, or -1 with BufferError. */
static int describe(PxArray *a, DlTensor *t) {
  uint8_t code, bits;
  if (!px_dlpack_dtype(a->elem, &code, &bits)) {
    PyErr_Format(PyExc_BufferError, "DLPack has no type for elements %S", a->dtype);
    return -1;
  }
  if (!px_element_strides(a)) {
    PyErr_Format(PyExc_BufferError,
                 "DLPack counts strides in elements: these bytes are no multiple of %zu",
                 a->itemsize);
    return -1;
  }
  if (px_array_check(a, NULL) < 0)
    return -1;
  bool host = rt_device_is_host(a->device);
  t->data = (void *)(uintptr_t)(a->size ? a->address : 0);
  t->device.type = host ? DL_CPU : DL_CUDA;
  t->device.id = host ? 0 : rt_device_ordinal(a->device);
  t->ndim = (int32_t)a->ndim;
  t->dtype.code = code;
  t->dtype.bits = bits;
  t->dtype.lanes = 1;
  t->shape = (int64_t *)px_shape(a);
  t->strides = (int64_t *)px_element_strides(a);
  t->byte_offset = 0;
  return 0;
}

static void give_back(Export *e) {
  /* the process frees the memory; no Python code may run any more */
  if (!Py_IsInitialized() || px_is_finalizing())
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(e->array);
  PyMem_RawFree(e);
  PyGILState_Release(state);
}

static void delete_old(DlManaged *self) { give_back((Export *)self); }
static void delete_versioned(DlVersioned *self) { give_back((Export *)self); }

static Export *export_of(PxArray *a, bool versioned, uint64_t flags) {
  Export *e = PyMem_RawCalloc(1, sizeof *e);
  if (!e) {
    PyErr_NoMemory();
    return NULL;
  }
  if (versioned)
    e->managed.versioned = (DlVersioned){.version = {DL_MAJOR, DL_MINOR},
                                         .deleter = delete_versioned,
                                         .flags = flags | (a->readonly ? DL_READ_ONLY : 0)};
  else
    e->managed.old.deleter = delete_old;
  if (describe(a, versioned ? &e->managed.versioned.tensor : &e->managed.old.tensor) < 0) {
    PyMem_RawFree(e);
    return NULL;
  }
  e->array = Py_NewRef((PyObject *)a);
  return e;
}

/* --- capsules --- */

static void free_old_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) /* else a consumer has it */
    delete_old(PyCapsule_GetPointer(capsule, "dltensor"));
}

static void free_versioned_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static PyObject *capsule_of(PxArray *a, bool versioned, uint64_t flags) {
  if (!versioned && a->readonly)
    return PyErr_Format(
        PyExc_BufferError,
        "the array is read-only, which only DLPack 1.0 and later can say: pass max_version=(1, 0)");
  const PxMemory *memory = (const PxMemory *)a->memory;
  rt_unset_written(memory->address, memory->bytes); /* others may write to it */
  Export *e = export_of(a, versioned, flags);
  PyObject *capsule = !e          ? NULL
                      : versioned ? PyCapsule_New(e, "dltensor_versioned", free_versioned_capsule)
                                  : PyCapsule_New(e, "dltensor", free_old_capsule);
  if (e && !capsule)
    give_back(e);
  return capsule;
}

/* --- __dlpack__ --- */

/* Orders the consumer's stream after the work on the array. */
static int order_consumer(PxState *st, PxArray *a, PyObject *arg) {
  bool host = rt_device_is_host(a->device);
  long long handle = 1;
  if (arg != Py_None)
    handle = PyLong_AsLongLong(arg);
  if (PyErr_Occurred())
    return -1;
  if (host && arg != Py_None && handle != -1) {
    PyErr_SetString(PyExc_ValueError, "an array in host memory has no stream: stream must be None");
    return -1;
  }
  if (handle == 0 || handle < -1) {
    PyErr_Format(
        PyExc_ValueError,
        "stream %lld is not allowed: 1 is the legacy default stream, 2 the per-thread one, "
        "-1 means no synchronisation",
        handle);
    return -1;
  }
  if (host || handle == -1)
    return 0;
  RtStreamRoom room;
  RtStatus status;
  PxMemory *m = (PxMemory *)a->memory;
  RtStream *ours = px_stream_of(m->stream);
  bool mixed = m->mixed;
  Py_BEGIN_ALLOW_THREADS
  status = mixed
               ? rt_device_synchronize(a->device)
               : rt_stream_order(a->device, ours, rt_stream_in(&room, a->device, (uint64_t)handle));
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}

/* The consumer's newest version; before 1.0 there was none to say. */
static int read_version(PyObject *arg, bool *versioned) {
  int major = 0, minor = 0;
  *versioned = false;
  if (arg == Py_None)
    return 0;
  if (!PyTuple_Check(arg) || !PyArg_ParseTuple(arg, "ii", &major, &minor)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "max_version must be (major, minor), not %R", arg);
    return -1;
  }
  *versioned = major >= DL_MAJOR;
  return 0;
}

enum { HERE, ON_HOST };

/* Whether the consumer wants the array where it is, or on the host. -1 with an exception. */
static int read_wanted(PxArray *a, PyObject *arg) {
  int type, id;
  if (arg == Py_None)
    return HERE;
  if (!PyTuple_Check(arg) || !PyArg_ParseTuple(arg, "ii", &type, &id)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "dl_device must be (type, number), not %R", arg);
    return -1;
  }
  bool host = rt_device_is_host(a->device);
  if (host ? type == DL_CPU : type == DL_CUDA && id == rt_device_ordinal(a->device))
    return HERE;
  if (type == DL_CPU)
    return ON_HOST;
  PyErr_Format(
      PyExc_BufferError,
      "the array is on device '%s' and is not exported to device (%d, %d): copy it there first",
      rt_device_name(a->device), type, id);
  return -1;
}

/* A copy on the host, which NumPy exports. */
static PyObject *export_on_host(PxArray *a, PyObject *copy, PyObject *max_version) {
  if (copy == Py_False)
    return PyErr_Format(PyExc_ValueError,
                        "an array on a GPU cannot be exported to the host without a copy");
  PyObject *values = px_array_to_numpy(a, Py_None);
  PyObject *method = values ? PyObject_GetAttrString(values, "__dlpack__") : NULL;
  PyObject *none = method ? PyTuple_New(0) : NULL;
  PyObject *kwargs =
      none && max_version != Py_None ? Py_BuildValue("{s:O}", "max_version", max_version) : NULL;
  PyObject *capsule = none && !PyErr_Occurred() ? PyObject_Call(method, none, kwargs) : NULL;
  Py_XDECREF(kwargs);
  Py_XDECREF(none);
  Py_XDECREF(method);
  Py_XDECREF(values);
  return capsule;
}

static PyObject *export_copy(PxState *st, PxArray *a, bool versioned) {
  PyObject *copy = px_array_empty_on(st, a->device, a->dtype, a->ndim, px_shape(a), LAYOUT_C,
                                     Py_None);
  PyObject *capsule = NULL;
  if (copy && px_array_assign((PxArray *)copy, (PyObject *)a, Py_None) == 0)
    capsule = capsule_of((PxArray *)copy, versioned, DL_IS_COPIED);
  Py_XDECREF(copy);
  return capsule;
}

PyObject *px_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = Py_None, *max_version = Py_None, *dl_device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &max_version,
                                   &dl_device, &copy))
    return NULL;
  PxArray *a = (PxArray *)self;
  PxState *st = px_state_of(self);
  bool versioned;
  int wanted = read_version(max_version, &versioned) < 0 ? -1 : read_wanted(a, dl_device);
  int copied = wanted < 0 ? -1 : copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (copied < 0)
    return NULL;
  if (wanted == ON_HOST)
    return export_on_host(a, copy, max_version);
  PyObject *capsule = copied ? export_copy(st, a, versioned) : capsule_of(a, versioned, 0);
  if (capsule && order_consumer(st, a, stream) < 0)
    Py_CLEAR(capsule);
  return capsule;
}

PyObject *px_array_dlpack_device(PyObject *self, PyObject *Py_UNUSED(args)) {
  RtDevice *d = ((PxArray *)self)->device;
  bool host = rt_device_is_host(d);
  return Py_BuildValue("(ii)", host ? DL_CPU : DL_CUDA, host ? 0 : rt_device_ordinal(d));
}

/* --- the C exchange API --- */

/* Its functions get no module: the one that is imported. NULL with an exception. */
static PxState *imported_state(void) {
  PyObject *module = PyImport_ImportModule("pyptx._pyptx");
  Py_XDECREF(module); /* sys.modules keeps it */
  return module ? px_state_of_module(module) : NULL;
}

static int managed_of(void *object, DlVersioned **out) {
  Export *e = export_of(object, true, 0);
  *out = e ? &e->managed.versioned : NULL;
  return e ? 0 : -1;
}

static int tensor_of(void *object, DlTensor *out) { return describe(object, out); }

/* Takes managed only if it succeeds. */
static int object_of(DlVersioned *managed, void **out) {
  PxState *st = imported_state();
  PxForeign f;
  *out = NULL;
  if (!st || px_dlpack_take(managed, &f) < 0)
    return -1;
  *out = px_array_from_foreign(st, &f, NULL);
  if (!*out)
    px_dlpack_leave(f.keeper);
  px_foreign_clear(&f);
  return *out ? 0 : -1;
}

static RtDevice *device_of(const DlTensor *t) {
  RtDevice *d = NULL;
  bool host = t->device.type == DL_CPU;
  if (!host && t->device.type != DL_CUDA)
    PyErr_Format(PyExc_BufferError, "no memory is allocated on devices of type %d",
                 (int)t->device.type);
  else if (rt_device_open(host ? RT_HOST : t->device.id, &d) != RT_OK)
    PyErr_SetString(PyExc_BufferError, rt_error()->text);
  return d;
}

/* Errors leave through `fail`, not as exceptions. */
static int allocate(DlTensor *prototype, DlVersioned **out, void *context,
                    void (*fail)(void *context, const char *kind, const char *message)) {
  PyGILState_STATE state = PyGILState_Ensure();
  PxState *st = imported_state();
  PxForeign f;
  DlTensor t = *prototype;
  t.data = &t; /* only dtype, device and extents count */
  t.strides = NULL;
  t.byte_offset = 0;
  *out = NULL;
  RtDevice *d = st && px_dlpack_read(&t, &f) == 0 ? device_of(&t) : NULL;
  PyObject *dtype = d ? px_dtype_of_type(st, (TypeId)f.elem) : NULL;
  PyObject *array = dtype ? px_array_empty_on(st, d, dtype, f.ndim, f.shape, LAYOUT_C, Py_None)
                          : NULL;
  if (array)
    managed_of(array, out);
  Py_XDECREF(array);
  Py_XDECREF(dtype);
  if (!*out) {
    PyObject *raised = px_raised(), *text = raised ? PyObject_Str(raised) : NULL;
    const char *message = text ? PyUnicode_AsUTF8(text) : NULL;
    fail(context,
         raised && PyErr_GivenExceptionMatches(raised, PyExc_MemoryError) ? "MemoryError"
                                                                          : "BufferError",
         message ? message : "no array could be made");
    Py_XDECREF(text);
    Py_XDECREF(raised);
    PyErr_Clear();
  }
  PyGILState_Release(state);
  return *out ? 0 : -1;
}

/* Launches and copies without a stream go to the legacy default stream. */
static int current_stream(int32_t Py_UNUSED(device_type), int32_t Py_UNUSED(device), void **out) {
  *out = NULL;
  return 0;
}

static const DlExchange exchange = {
    .version = {DL_MAJOR, DL_MINOR},
    .allocate = allocate,
    .managed_of = managed_of,
    .object_of = object_of,
    .tensor_of = tensor_of,
    .current_stream = current_stream,
};

int px_add_exchange(PyTypeObject *type) {
  PyObject *capsule = PyCapsule_New((void *)&exchange, DL_EXCHANGE_NAME, NULL);
  int failed = capsule ? PyDict_SetItemString(type->tp_dict, "__dlpack_c_exchange_api__", capsule)
                       : -1;
  Py_XDECREF(capsule);
  PyType_Modified(type); /* the type is immutable only after this */
  return failed;
}
