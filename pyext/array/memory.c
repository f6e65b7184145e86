/* Memory: the object that owns the bytes of device arrays, where new ones come from, and what the
 * module says about memory.
 *
 * New memory comes from the runtime's pool; inside `with cuda.shareable()` from allocations that
 * other processes can open; with an allocator plug-in from that. A release is ordered behind the
 * stream that used the memory last, and waits for the device where several did. */
#include "pyext/array/memory.h"

#include "pyext/array/device_array.h"
#include "pyext/array/make.h"
#include "pyext/objects/device.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

static _Thread_local int shareable; /* depth of `with cuda.shareable()` in this thread */

static PyObject *memory_make(PxState *st, RtDevice *d, uint64_t address, size_t bytes,
                             PxMemoryKind kind, PyObject *owner) {
  PxMemory *self = PyObject_GC_New(PxMemory, st->memory_type);
  if (!self)
    return NULL;
  self->device = d;
  self->address = address;
  self->bytes = bytes;
  self->epoch = rt_device_epoch(d);
  self->kind = (uint8_t)kind;
  self->stream = NULL;
  self->mixed = false;
  self->owner = Py_XNewRef(owner);
  self->weakrefs = NULL;
  if (owner) /* which may lead back to the arrays in it */
    PyObject_GC_Track(self);
  return (PyObject *)self;
}

static int memory_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxMemory *)op)->stream);
  Py_VISIT(((PxMemory *)op)->owner);
  return 0;
}

/* The owner frees it without knowing of our streams. */
static void wait_for_users(const PxMemory *m) {
  RtStream *stream = px_stream_of(m->stream);
  Py_BEGIN_ALLOW_THREADS
  if (m->mixed)
    rt_device_synchronize(m->device);
  else
    rt_stream_synchronize(m->device, stream);
  Py_END_ALLOW_THREADS
}

static void release(PxMemory *m) {
  switch ((PxMemoryKind)m->kind) {
  case PX_MEMORY_FOREIGN: return;
  case PX_MEMORY_PLUGIN:
    if (m->stream)
      wait_for_users(m);
    return;
  case PX_MEMORY_SHARED: {
    Py_BEGIN_ALLOW_THREADS
    rt_shared_free(m->device, m->epoch, m->address);
    Py_END_ALLOW_THREADS
    return;
  }
  case PX_MEMORY_POOL: break;
  }
  if (m->epoch != rt_device_epoch(m->device))
    return; /* the address may be another array's by now */
  if (!m->mixed) {
    rt_free(m->device, m->address, m->bytes, px_stream_of(m->stream));
    return;
  }
  Py_BEGIN_ALLOW_THREADS
  rt_free_idle(m->device, m->address, m->bytes);
  Py_END_ALLOW_THREADS
}

static void memory_dealloc(PyObject *op) {
  PxMemory *self = (PxMemory *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, self->weakrefs);
  release(self);
  Py_XDECREF(self->stream);
  Py_XDECREF(self->owner);
  type->tp_free(op);
  Py_DECREF(type);
}

static void track(PyObject *op) {
  if (!PyObject_GC_IsTracked(op))
    PyObject_GC_Track(op);
}

void px_memory_used(PyObject *memory, PyObject *array, PyObject *stream) {
  PxMemory *m = (PxMemory *)memory;
  assert(((PxArray *)array)->memory == memory);
  PyObject *s = stream == Py_None ? NULL : stream;
  if (PX_PUBLISHED(m->stream) == s || m->kind == PX_MEMORY_FOREIGN)
    return;
  PX_BEGIN_LOCKED(memory)
  if (m->stream && s && m->stream != s)
    m->mixed = true;
  else if (s && !m->stream) {
    PX_PUBLISH(m->stream, Py_NewRef(s));
    if (((PxStream *)s)->owner) { /* which may lead back to the array */
      track(memory);
      track(array);
    }
  }
  PX_END_LOCKED()
}

/* --- new memory --- */

PyObject *px_memory_foreign(PxState *st, RtDevice *d, uint64_t address, size_t bytes,
                            PyObject *owner) {
  return memory_make(st, d, address, bytes, PX_MEMORY_FOREIGN, owner);
}

/* A new reference to the plug-in, or NULL if there is none; another thread may replace it
 * meanwhile. */
static PyObject *plugin_of(PxState *st) {
  PyObject *allocator = NULL;
  if (PX_PUBLISHED(st->allocator)) {
    PX_BEGIN_LOCKED(st->module)
    allocator = Py_XNewRef(st->allocator);
    PX_END_LOCKED()
  }
  return allocator;
}

/* The allocator is called with the size and the stream's handle, and gives (address, owner). */
static PyObject *from_plugin(PxState *st, PyObject *allocator, RtDevice *d, size_t bytes,
                             PyObject *stream) {
  RtStream *s = px_stream_of(stream);
  PyObject *owner, *memory = NULL;
  PyObject *pair = PyObject_CallFunction(allocator, "KK", (unsigned long long)bytes,
                                         (unsigned long long)(s ? rt_stream_handle(s) : 0));
  unsigned long long address;
  if (pair &&
      PyArg_ParseTuple(pair, "KO;an allocator must give (address, owner)", &address, &owner))
    memory = memory_make(st, d, address, bytes, PX_MEMORY_PLUGIN, owner);
  Py_XDECREF(pair);
  return memory;
}

static RtStatus allocate(RtDevice *d, size_t bytes, RtStream *stream, bool share,
                         uint64_t *address) {
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = share ? rt_shared_alloc(d, bytes, address) : rt_alloc(d, bytes, stream, address);
  Py_END_ALLOW_THREADS
  return status;
}

PyObject *px_memory_new(PxState *st, RtDevice *d, size_t bytes, PyObject *stream) {
  RtStream *s = px_stream_of(stream);
  bool share = shareable > 0;
  uint64_t address = 0;
  PyObject *allocator = share || rt_device_is_host(d) ? NULL : plugin_of(st);
  if (allocator) {
    PyObject *memory = from_plugin(st, allocator, d, bytes, stream);
    Py_DECREF(allocator);
    return memory;
  }
  RtStatus status = !share && rt_alloc_again(d, bytes, s, &address)
                        ? RT_OK
                        : allocate(d, bytes, s, share, &address);
  if (status == RT_NO_MEMORY && PyGC_Collect() > 0) /* cycles (tracebacks!) may hold arrays */
    status = allocate(d, bytes, s, share, &address);
  PX_TRY_STATUS(st, status, return NULL);
  PyObject *memory = memory_make(st, d, address, bytes, share ? PX_MEMORY_SHARED : PX_MEMORY_POOL,
                                 NULL);
  if (!memory && share)
    rt_shared_free(d, rt_device_epoch(d), address);
  else if (!memory)
    rt_free(d, address, bytes, NULL);
  return memory;
}

/* --- the object --- */

static PyObject *memory_repr(PyObject *op) {
  PxMemory *self = (PxMemory *)op;
  return PyUnicode_FromFormat("<pyptx memory, %zu bytes at %p>", self->bytes,
                              (void *)(uintptr_t)self->address);
}

static PyObject *memory_address(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromUnsignedLongLong(((PxMemory *)op)->address);
}

static PyObject *memory_size(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromSize_t(((PxMemory *)op)->bytes);
}

static PyObject *memory_owner(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *owner = ((PxMemory *)op)->owner;
  return Py_NewRef(owner ? owner : Py_None);
}

static PyGetSetDef memory_getset[] = {
    {"device_pointer", memory_address, NULL, "Address of the first byte.", NULL},
    {"size", memory_size, NULL, "Bytes.", NULL},
    {"owner", memory_owner, NULL, "Who the memory belongs to; None: pyptx.", NULL},
    {0},
};

static PyMethodDef memory_methods[] = {
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {0},
};

static PyMemberDef memory_members[] = {PX_WEAKREFS(PxMemory), {0}};

static PyType_Slot memory_slots[] = {
    {Py_tp_members, memory_members},
    {Py_tp_doc, "Memory of a device; freed when the last array in it is gone."},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_traverse, memory_traverse},
    {Py_tp_repr, memory_repr},
    {Py_tp_getset, memory_getset},
    {Py_tp_methods, memory_methods},
    {0, NULL},
};

PyType_Spec px_memory_spec = {
    .name = "pyptx._pyptx.Memory",
    .basicsize = sizeof(PxMemory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = memory_slots,
};

/* --- host memory that a GPU reaches --- */

typedef enum HostKind { PINNED, MANAGED, REGISTERED, OPENED } HostKind;

/* A Python object with a buffer, which NumPy arrays keep as their base. Copies and kernels that
 * still use it are waited for when it goes. OPENED: memory of another process on the device,
 * without a buffer. */
typedef struct PxHostMemory {
  PyObject_HEAD RtDevice *device;
  char *p;
  uint64_t device_address; /* 0: not asked for yet */
  size_t bytes;
  uint32_t epoch;
  uint8_t kind, closed;
  Py_buffer owner; /* REGISTERED */
  PyObject *weakrefs;
} PxHostMemory;

static PxHostMemory *host_memory_make(PxState *st, RtDevice *d, HostKind kind) {
  PxHostMemory *self = PyObject_New(PxHostMemory, st->host_memory_type);
  if (!self)
    return NULL;
  self->device = d;
  self->p = NULL;
  self->device_address = 0;
  self->bytes = 0;
  self->epoch = rt_device_epoch(d);
  self->kind = (uint8_t)kind;
  self->closed = 1; /* until it has something to release */
  self->weakrefs = NULL;
  return self;
}

static void host_memory_release(PxHostMemory *self) {
  bool done;
  PX_BEGIN_LOCKED(self)
  done = self->closed;
  self->closed = 1;
  PX_END_LOCKED()
  if (done)
    return;
  RtDevice *d = self->device;
  Py_BEGIN_ALLOW_THREADS
  switch ((HostKind)self->kind) {
  case PINNED:
    if (self->epoch == rt_device_epoch(d))
      rt_device_synchronize(d);
    rt_pinned_free(self->p);
    break;
  case MANAGED: rt_managed_free(d, self->epoch, self->p); break;
  case REGISTERED: rt_host_unregister(d, self->epoch, self->p, self->bytes); break;
  case OPENED: rt_ipc_close(d, self->epoch, self->device_address); break;
  }
  Py_END_ALLOW_THREADS
  if (self->kind == REGISTERED)
    PyBuffer_Release(&self->owner);
}

static void host_memory_dealloc(PyObject *op) {
  PyTypeObject *type = Py_TYPE(op);
  px_clear_weakrefs(op, ((PxHostMemory *)op)->weakrefs);
  host_memory_release((PxHostMemory *)op);
  type->tp_free(op);
  Py_DECREF(type);
}

static int host_memory_buffer(PyObject *op, Py_buffer *view, int flags) {
  PxHostMemory *self = (PxHostMemory *)op;
  if (self->kind > MANAGED || self->closed) {
    PyErr_SetString(PyExc_BufferError, "this memory is not Python's to see");
    view->obj = NULL;
    return -1;
  }
  return PyBuffer_FillInfo(view, op, self->p, (Py_ssize_t)self->bytes, 0, flags);
}

static PyObject *host_memory_close(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxHostMemory *self = (PxHostMemory *)op;
  if (self->kind < REGISTERED)
    return PyErr_Format(PyExc_TypeError, "the memory of a NumPy array is released with the array");
  host_memory_release(self);
  Py_RETURN_NONE;
}

static PyObject *host_device_pointer(PyObject *op, void *Py_UNUSED(c)) {
  PxHostMemory *self = (PxHostMemory *)op;
  if (!self->device_address && self->kind == MANAGED)
    self->device_address = (uintptr_t)self->p;
  if (!self->device_address && self->bytes)
    PX_TRY_STATUS(px_state_of(op),
                  rt_host_device_address(self->device, self->p, &self->device_address),
                  return NULL);
  return PyLong_FromUnsignedLongLong(self->device_address);
}

static PyObject *host_pointer(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromVoidPtr(((PxHostMemory *)op)->p);
}

static PyObject *host_size(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromSize_t(((PxHostMemory *)op)->bytes);
}

static PyGetSetDef host_memory_getset[] = {
    {"device_pointer", host_device_pointer, NULL, "Address of the first byte as kernels see it.",
     NULL},
    {"host_pointer", host_pointer, NULL, "Address of the first byte as the host sees it.", NULL},
    {"size", host_size, NULL, "Bytes.", NULL},
    {0},
};

static PyMethodDef host_memory_methods[] = {
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"close", host_memory_close, METH_NOARGS,
     "close($self, /)\n--\n\n"
     "Unpins memory of the caller, or closes memory of another process."},
    {0},
};

static PyMemberDef host_memory_members[] = {PX_WEAKREFS(PxHostMemory), {0}};

static PyType_Slot host_memory_slots[] = {
    {Py_tp_members, host_memory_members},
    {Py_tp_doc, "Memory that both the host and a GPU reach."},
    {Py_tp_dealloc, host_memory_dealloc},
    {Py_tp_getset, host_memory_getset},
    {Py_tp_methods, host_memory_methods},
    {Py_bf_getbuffer, host_memory_buffer},
    {0, NULL},
};

PyType_Spec px_host_memory_spec = {
    .name = "pyptx._pyptx.HostMemory",
    .basicsize = sizeof(PxHostMemory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = host_memory_slots,
};

static PyObject *module_host_memory(PyObject *module, PyObject *args) {
  Py_ssize_t bytes;
  int managed;
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  if (!d || !PyArg_ParseTuple(args, "np", &bytes, &managed))
    return NULL;
  if (bytes < 0)
    return PyErr_Format(PyExc_ValueError, "memory of %zd bytes", bytes);
  PxHostMemory *self = host_memory_make(st, d, managed ? MANAGED : PINNED);
  if (!self)
    return NULL;
  void *p = NULL;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = managed ? rt_managed_alloc(d, (size_t)bytes, &p) : rt_pinned_alloc(d, (size_t)bytes, &p);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, {
    Py_DECREF(self);
    return NULL;
  });
  self->p = p;
  self->bytes = (size_t)bytes;
  self->closed = 0;
  return (PyObject *)self;
}

/* Of a contiguous object with a buffer, which stays exported until close(). */
static PyObject *module_register(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  PxHostMemory *self = d ? host_memory_make(st, d, REGISTERED) : NULL;
  if (!self)
    return NULL;
  if (PyObject_GetBuffer(arg, &self->owner, PyBUF_ANY_CONTIGUOUS) < 0) {
    Py_DECREF(self);
    return NULL;
  }
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_host_register(d, self->owner.buf, (size_t)self->owner.len);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, {
    PyBuffer_Release(&self->owner);
    Py_DECREF(self);
    return NULL;
  });
  self->p = self->owner.buf;
  self->bytes = (size_t)self->owner.len;
  self->closed = 0;
  return (PyObject *)self;
}

/* --- other processes --- */

static PyObject *module_ipc_handle(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  uint8_t handle[64];
  uint64_t offset = 0;
  if (!Py_IS_TYPE(arg, st->array_type))
    return PyErr_Format(PyExc_TypeError, "a device array is needed, not %.100s",
                        Py_TYPE(arg)->tp_name);
  PxArray *a = (PxArray *)arg;
  if (px_array_check(a, NULL) < 0)
    return NULL;
  PX_TRY_STATUS(st, rt_ipc_export(a->device, a->address, handle, &offset), return NULL);
  return Py_BuildValue("y#K", handle, (Py_ssize_t)sizeof handle, (unsigned long long)offset);
}

static PyObject *module_ipc_open(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  char *handle;
  Py_ssize_t n;
  uint64_t address = 0;
  if (!d || PyBytes_AsStringAndSize(arg, &handle, &n) < 0)
    return NULL;
  if (n != 64)
    return PyErr_Format(PyExc_ValueError, "an IPC handle has 64 bytes, not %zd", n);
  PxHostMemory *self = host_memory_make(st, d, OPENED);
  if (!self)
    return NULL;
  PX_TRY_STATUS(st, rt_ipc_open(d, (const uint8_t *)handle, &address), {
    Py_DECREF(self);
    return NULL;
  });
  self->device_address = address;
  self->closed = 0;
  return (PyObject *)self;
}

static PyObject *module_shareable(PyObject *Py_UNUSED(module), PyObject *arg) {
  shareable += PyObject_IsTrue(arg) > 0 ? 1 : -1;
  Py_RETURN_NONE;
}

/* --- numbers and switches; device: a Device or None for the current one --- */

static RtDevice *device_of(PxState *st, PyObject *arg) {
  if (arg == Py_None)
    return px_current_device(st);
  if (Py_IS_TYPE(arg, st->device_type))
    return ((PxDevice *)arg)->device;
  PyErr_Format(PyExc_TypeError, "a device is needed, not %.100s", Py_TYPE(arg)->tp_name);
  return NULL;
}

static PyObject *module_stats(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = device_of(st, arg);
  RtMemoryStats s;
  size_t available = 0, total = 0;
  uint64_t limit = 0;
  if (!d)
    return NULL;
  PX_TRY_STATUS(st, rt_device_memory(d, &available, &total), return NULL);
  PX_TRY_STATUS(st, rt_memory_limit(d, &limit, 0), return NULL);
  rt_memory_stats(d, &s);
  return Py_BuildValue("(KKKKKKKK)", (unsigned long long)available, (unsigned long long)total,
                       (unsigned long long)s.live_bytes, (unsigned long long)s.live_blocks,
                       (unsigned long long)s.peak_bytes, (unsigned long long)s.cached_bytes,
                       (unsigned long long)s.allocations, (unsigned long long)limit);
}

static PyObject *module_trim(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  unsigned long long keep;
  PyObject *device;
  RtDevice *d = PyArg_ParseTuple(args, "KO", &keep, &device) ? device_of(st, device) : NULL;
  if (!d)
    return NULL;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_memory_trim(d, (size_t)keep);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return NULL);
  Py_RETURN_NONE;
}

static PyObject *module_limit(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  unsigned long long bytes;
  PyObject *device;
  RtDevice *d = PyArg_ParseTuple(args, "KO", &bytes, &device) ? device_of(st, device) : NULL;
  if (!d)
    return NULL;
  uint64_t limit = bytes;
  PX_TRY_STATUS(st, rt_memory_limit(d, &limit, 1), return NULL);
  Py_RETURN_NONE;
}

static PyObject *module_defer(PyObject *module, PyObject *args) {
  int begin;
  PyObject *device;
  PxState *st = px_state_of_module(module);
  RtDevice *d = PyArg_ParseTuple(args, "pO", &begin, &device) ? device_of(st, device) : NULL;
  if (!d)
    return NULL;
  Py_BEGIN_ALLOW_THREADS
  if (begin)
    rt_defer_begin(d);
  else
    rt_defer_end(d);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyObject *module_set_allocator(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  PyObject *old;
  if (arg != Py_None && !PyCallable_Check(arg))
    return PyErr_Format(PyExc_TypeError, "an allocator must be callable, not %.100s",
                        Py_TYPE(arg)->tp_name);
  PX_BEGIN_LOCKED(module)
  old = st->allocator;
  PX_PUBLISH(st->allocator, arg == Py_None ? NULL : Py_NewRef(arg));
  PX_END_LOCKED()
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

/* A device array on memory that `owner` keeps. */
static PyObject *module_array_at(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  unsigned long long address, bytes;
  PyObject *dtype_arg, *shape_arg, *strides_arg, *owner;
  int readonly;
  if (!PyArg_ParseTuple(args, "KKOOOOp", &address, &bytes, &dtype_arg, &shape_arg, &strides_arg,
                        &owner, &readonly))
    return NULL;
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM] = {0};
  RtDevice *d = px_current_device(st);
  int ndim = d ? px_shape_argument(shape_arg, shape) : -1;
  PyObject *dtype = ndim >= 0 ? px_dtype_argument(st, dtype_arg) : NULL, *array = NULL;
  PyObject *given = dtype && strides_arg != Py_None ? PySequence_Tuple(strides_arg) : NULL;
  if (given && PyTuple_GET_SIZE(given) != ndim)
    PyErr_SetString(PyExc_ValueError, "strides must be as many as the axes");
  for (int i = 0; given && i < ndim && !PyErr_Occurred(); i++)
    strides[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(given, i));
  PyObject *memory =
      dtype && !PyErr_Occurred() ? px_memory_foreign(st, d, address, (size_t)bytes, owner) : NULL;
  if (memory)
    array = px_array_view(st, memory, address, dtype, (unsigned)ndim, shape,
                          given ? strides : NULL);
  if (array)
    ((PxArray *)array)->readonly = readonly != 0;
  Py_XDECREF(memory);
  Py_XDECREF(given);
  Py_XDECREF(dtype);
  return array;
}

PyMethodDef px_memory_functions[] = {
    {"_host_memory", module_host_memory, METH_VARARGS,
     "_host_memory(bytes, managed): new pinned or managed HostMemory."},
    {"_register", module_register, METH_O,
     "_register(buffer): pins the memory of a contiguous buffer until close()."},
    {"_array_at", module_array_at, METH_VARARGS,
     "_array_at(address, bytes, dtype, shape, strides, owner, readonly): a device array on memory of somebody else."},
    {"_ipc_handle", module_ipc_handle, METH_O,
     "_ipc_handle(array): (handle of its allocation, offset in it)."},
    {"_ipc_open", module_ipc_open, METH_O,
     "_ipc_open(handle): memory of another process, until close()."},
    {"_shareable", module_shareable, METH_O,
     "_shareable(begin): allocations of this thread that other processes can open."},
    {"_memory_stats", module_stats, METH_O,
     "_memory_stats(device): (free, total, live bytes, arrays, peak bytes, bytes kept, allocations, limit of the pool)."},
    {"_memory_trim", module_trim, METH_VARARGS, "_memory_trim(keep, device)"},
    {"_memory_limit", module_limit, METH_VARARGS, "_memory_limit(bytes, device)"},
    {"_defer_frees", module_defer, METH_VARARGS, "_defer_frees(begin, device)"},
    {"_set_allocator", module_set_allocator, METH_O,
     "_set_allocator(f): f(bytes, stream) gives (address, owner); None: the pool."},
    {0},
};
