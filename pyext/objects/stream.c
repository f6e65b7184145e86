/* Stream and Event: the order of work on a device, as Python objects over
 * runtime/launch/stream.c. A stream knows the epoch of its device: after a reset it is an
 * error, and never reaches the driver. Waiting goes by wait.c, and what kernels raised is
 * raised behind each wait (launch/traps.c). The host device does everything at once, so waiting
 * there costs nothing. */
#include "pyext/objects/stream.h"

#include "pyext/launch/timeouts.h"
#include "pyext/launch/traps.h"
#include "pyext/objects/device.h"
#include "pyext/objects/wait.h"
#include "pyext/raise.h"

static PyObject *event_make(PxState *st, RtDevice *d, int timing);

static PyObject *stream_make(PxState *st, RtDevice *d, RtStream *s, PyObject *owner) {
  PxStream *self = PyObject_GC_New(PxStream, st->stream_type);
  if (!self) {
    if (s)
      rt_stream_release(s);
    return NULL;
  }
  self->device = d;
  self->stream = s;
  self->owner = Py_XNewRef(owner);
  self->weakrefs = NULL;
  if (owner) /* which may hold what uses the stream */
    PyObject_GC_Track(self);
  return (PyObject *)self;
}

static int stream_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxStream *)op)->owner);
  return 0;
}

static void stream_dealloc(PyObject *op) {
  PxStream *self = (PxStream *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, self->weakrefs);
  if (self->stream)
    rt_stream_release(self->stream);
  Py_CLEAR(self->owner);
  type->tp_free(op);
  Py_DECREF(type);
}

static PyObject *wrap_handle(PxState *st, uint64_t handle, PyObject *owner) {
  RtDevice *d = px_current_device(st);
  RtStream *s = NULL;
  if (!d)
    return NULL;
  if (handle)
    PX_TRY_STATUS(st, rt_stream_wrap(d, handle, &s), return NULL);
  return stream_make(st, d, s, owner);
}

/* obj.__cuda_stream__ is (version, handle) or a method that returns it. */
static PyObject *foreign_stream(PxState *st, PyObject *arg) {
  PyObject *protocol = px_getattr_optional(arg, st->name.__cuda_stream__);
  if (!protocol) {
    if (!PyErr_Occurred())
      PyErr_Format(
          PyExc_TypeError,
          "a stream must be a cuda.stream(), 0, or an object with __cuda_stream__, not %.100s",
          Py_TYPE(arg)->tp_name);
    return NULL;
  }
  PyObject *pair = PyCallable_Check(protocol) ? PyObject_CallNoArgs(protocol) : Py_NewRef(protocol);
  Py_DECREF(protocol);
  PyObject *tuple = !pair                                       ? NULL
                    : PyTuple_Check(pair) || PyList_Check(pair) ? PySequence_Tuple(pair)
                                                                : PyTuple_New(0);
  PyObject *stream = NULL;
  if (tuple && PyTuple_GET_SIZE(tuple) == 2 && PyLong_Check(PyTuple_GET_ITEM(tuple, 1))) {
    unsigned long long handle = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(tuple, 1));
    stream = PyErr_Occurred() ? NULL : wrap_handle(st, handle, arg);
  } else if (tuple) {
    PyErr_Format(PyExc_TypeError, "__cuda_stream__ of %.100s must give (version, handle), not %R",
                 Py_TYPE(arg)->tp_name, pair);
  }
  Py_XDECREF(tuple);
  Py_XDECREF(pair);
  return stream;
}

PyObject *px_stream_argument(PxState *st, PyObject *arg) {
  if (!arg || arg == Py_None)
    return Py_NewRef(Py_None);
  if (Py_IS_TYPE(arg, st->stream_type))
    return Py_NewRef(((PxStream *)arg)->stream ? arg : Py_None);
  if (PyLong_Check(arg)) {
    int overflow;
    if (PyLong_AsLongLongAndOverflow(arg, &overflow) == 0 && !overflow)
      return Py_NewRef(Py_None);
    PyErr_Format(PyExc_TypeError, "a stream handle must be wrapped: cuda.external_stream(%R)", arg);
    return NULL;
  }
  return foreign_stream(st, arg);
}

typedef struct StreamWork {
  RtDevice *device;
  RtStream *stream;
} StreamWork;

static RtStatus query_stream(void *work, int *done) {
  StreamWork *w = work;
  return rt_stream_query(w->device, w->stream, done);
}

static RtStatus query_event(void *event, int *done) { return rt_event_query(event, done); }

int px_stream_wait(PxState *st, RtDevice *d, RtStream *s) {
  RtStatus status;
  PxAwaited awaited = px_awaits(st, d, s);
  if (!rt_device_is_host(d) && px_wait_timed(st, d, query_stream, &(StreamWork){d, s}) < 0)
    return -1;
  Py_BEGIN_ALLOW_THREADS
  status = rt_stream_synchronize(d, s);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  return px_check_traps(st, &awaited);
}

PyObject *px_callbacks_wait(PxState *st, PyObject *of) {
  if (!st->calls_back)
    Py_RETURN_NONE;
  PyObject *callbacks = PyImport_ImportModule("pyptx._callbacks");
  PyObject *done = callbacks ? px_call_method(callbacks, "wait", of) : NULL;
  Py_XDECREF(callbacks);
  return done;
}

static PyObject *stream_synchronize(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxStream *self = (PxStream *)op;
  PxState *st = px_state_of(op);
  if (px_stream_wait(st, self->device, self->stream) < 0)
    return NULL;
  return px_callbacks_wait(st, op);
}

static PyObject *stream_query(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxStream *self = (PxStream *)op;
  int done = 0;
  PX_TRY_STATUS(px_state_of(op), rt_stream_query(self->device, self->stream, &done), return NULL);
  return PyBool_FromLong(done);
}

/* _callbacks.NAME(stream, event, *args), where event marks the work that is on the stream now. */
static PyObject *after_work(PyObject *op, const char *name, PyObject *args) {
  PxState *st = px_state_of(op);
  PxStream *self = (PxStream *)op;
  PyObject *event = event_make(st, self->device, 0);
  if (!event)
    return NULL;
  PyObject *result = NULL;
  RtStatus status = rt_event_record(((PxEvent *)event)->event, self->stream);
  if (status == RT_OK) {
    PyObject *callbacks = PyImport_ImportModule("pyptx._callbacks");
    PyObject *function = callbacks ? PyObject_GetAttrString(callbacks, name) : NULL;
    PyObject *head = function ? PyTuple_Pack(2, op, event) : NULL;
    PyObject *all = head ? PySequence_Concat(head, args) : NULL;
    result = all ? PyObject_Call(function, all, NULL) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(head);
    Py_XDECREF(function);
    Py_XDECREF(callbacks);
  } else {
    px_raise_status(st, status);
  }
  Py_DECREF(event);
  return result;
}

static PyObject *stream_add_callback(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"callback", "arg", NULL};
  PyObject *callback, *arg = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:add_callback", names, &callback, &arg))
    return NULL;
  if (!PyCallable_Check(callback))
    return PyErr_Format(PyExc_TypeError, "the callback is not callable: %R", callback);
  px_state_of(op)->calls_back = true;
  PyObject *rest = PyTuple_Pack(2, callback, arg);
  PyObject *result = rest ? after_work(op, "call", rest) : NULL;
  Py_XDECREF(rest);
  return result;
}

static PyObject *stream_async_done(PyObject *op, PyObject *Py_UNUSED(args)) {
  PyObject *none = PyTuple_New(0);
  PyObject *result = none ? after_work(op, "future", none) : NULL;
  Py_XDECREF(none);
  return result;
}

static PyObject *stream_enter(PyObject *op, PyObject *Py_UNUSED(args)) { return Py_NewRef(op); }

static PyObject *stream_exit(PyObject *op, PyObject *Py_UNUSED(args)) {
  return stream_synchronize(op, NULL);
}

static PyObject *get_handle(PyObject *op, void *Py_UNUSED(c)) {
  PxStream *self = (PxStream *)op;
  return PyLong_FromUnsignedLongLong(self->stream ? rt_stream_handle(self->stream) : 0);
}

/* Of _callbacks.py: the same for all objects of one stream. The host's have no handles. */
static PyObject *get_key(PyObject *op, void *Py_UNUSED(c)) {
  PxStream *self = (PxStream *)op;
  uint64_t handle = self->stream ? rt_stream_handle(self->stream) : 0;
  return handle ? PyLong_FromUnsignedLongLong(handle) : PyLong_FromVoidPtr(self->stream);
}

static PyObject *stream_int(PyObject *op) { return get_handle(op, NULL); }

static PyObject *stream_protocol(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxStream *self = (PxStream *)op;
  return Py_BuildValue("(iK)", 0,
                       (unsigned long long)(self->stream ? rt_stream_handle(self->stream) : 0));
}

static PyObject *stream_repr(PyObject *op) {
  PxStream *self = (PxStream *)op;
  if (!self->stream)
    return PyUnicode_FromString("<pyptx default stream>");
  return PyUnicode_FromFormat("<pyptx %sstream %p>", self->owner ? "external " : "",
                              (void *)(uintptr_t)rt_stream_handle(self->stream));
}

static int stream_bool(PyObject *op) { return ((PxStream *)op)->stream != NULL; }

static PyObject *get_device(PyObject *op, void *Py_UNUSED(c)) {
  return px_device_object(px_state_of(op), ((PxStream *)op)->device);
}

static PyGetSetDef stream_getset[] = {
    {"_key", get_key, NULL, NULL, NULL},
    {"device", get_device, NULL, "The device that the stream belongs to.", NULL},
    {"handle", get_handle, NULL,
     "The CUstream as an int; 0 for the default stream and on the host device.", NULL},
    {0},
};

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Wait until all work on the stream is done, and its callbacks have returned (but not from\n"
     "within a callback). Raises what its kernels raised.\n\n"
     "Example:\n\n"
     "    s.synchronize()"},
    {"query", stream_query, METH_NOARGS,
     "query($self, /)\n--\n\n"
     "Is all work on the stream done.\n\n"
     "Example:\n\n"
     "    print(s.query())                         # True"},
    {"add_callback", PX_KEYWORDS(stream_add_callback), METH_VARARGS | METH_KEYWORDS,
     "add_callback($self, /, callback, arg=None)\n--\n\n"
     "Call callback(stream, status, arg) from another thread once the work that is on the\n"
     "stream now is done. status is 0, or the exception that the work ended with. Work added\n"
     "later does not wait for the callback.\n\n"
     "Example:\n\n"
     "    done = []\n"
     "    s.add_callback(lambda stream, status, arg: done.append((status, arg)), 42)"},
    {"async_done", stream_async_done, METH_NOARGS,
     "async_done($self, /)\n--\n\n"
     "An awaitable of the running event loop: done when the work that is on the stream now is.\n\n"
     "Example:\n\n"
     "    async def run():\n"
     "        add[1, 256, s](d, d, e)\n"
     "        await s.async_done()"},
    {"auto_synchronize", stream_enter, METH_NOARGS,
     "auto_synchronize($self, /)\n--\n\n"
     "with stream.auto_synchronize(): synchronises at the end of the block.\n\n"
     "Example:\n\n"
     "    with s.auto_synchronize():\n"
     "        add[1, 256, s](d, d, e)"},
    {"__cuda_stream__", stream_protocol, METH_NOARGS,
     "__cuda_stream__($self, /)\n--\n\n"
     "(version, handle): the CUDA stream protocol."},
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"__enter__", stream_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\n"
     "The stream; __exit__ waits for it."},
    {"__exit__", stream_exit, METH_VARARGS,
     "__exit__($self, /, *exception)\n--\n\n"
     "Wait until all work on the stream is done."},
    {0},
};

static PyMemberDef stream_members[] = {PX_WEAKREFS(PxStream), {0}};

static PyType_Slot stream_slots[] = {
    {Py_tp_members, stream_members},
    {Py_tp_doc, "Work on a stream runs in order; streams run beside each other."},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_traverse, stream_traverse},
    {Py_tp_repr, stream_repr},
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_getset},
    {Py_nb_bool, stream_bool},
    {Py_nb_int, stream_int},
    {0, NULL},
};

PyType_Spec px_stream_spec = {
    .name = "pyptx._pyptx.Stream",
    .basicsize = sizeof(PxStream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = stream_slots,
};

/* --- events --- */

static PyObject *event_make(PxState *st, RtDevice *d, int timing) {
  RtEvent *e = NULL;
  PX_TRY_STATUS(st, rt_event_new(d, timing, &e), return NULL);
  PxEvent *self = PyObject_New(PxEvent, st->event_type);
  if (!self) {
    rt_event_release(e);
    return NULL;
  }
  self->event = e;
  self->weakrefs = NULL;
  return (PyObject *)self;
}

static void event_dealloc(PyObject *op) {
  PyTypeObject *type = Py_TYPE(op);
  px_clear_weakrefs(op, ((PxEvent *)op)->weakrefs);
  if (((PxEvent *)op)->event)
    rt_event_release(((PxEvent *)op)->event);
  type->tp_free(op);
  Py_DECREF(type);
}

static PyObject *event_record(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", NULL};
  PyObject *arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:record", names, &arg))
    return NULL;
  PxState *st = px_state_of(op);
  PyObject *stream = px_stream_argument(st, arg);
  if (!stream)
    return NULL;
  RtStatus status = rt_event_record(((PxEvent *)op)->event, px_stream_of(stream));
  Py_DECREF(stream);
  PX_TRY_STATUS(st, status, return NULL);
  Py_RETURN_NONE;
}

static int event_await(PxState *st, PxEvent *self) {
  RtStatus status;
  if (px_wait_timed(st, NULL, query_event, self->event) < 0)
    return -1;
  Py_BEGIN_ALLOW_THREADS
  status = rt_event_synchronize(self->event);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}

static PyObject *event_synchronize(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of(op);
  if (event_await(st, (PxEvent *)op) < 0 || px_check_traps(st, &(PxAwaited){0}) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* What kernels raised is left to later waits. */
static PyObject *event_pass(PyObject *op, PyObject *Py_UNUSED(args)) {
  if (event_await(px_state_of(op), (PxEvent *)op) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *event_query(PyObject *op, PyObject *Py_UNUSED(args)) {
  int done = 0;
  PX_TRY_STATUS(px_state_of(op), rt_event_query(((PxEvent *)op)->event, &done), return NULL);
  return PyBool_FromLong(done);
}

static PyObject *event_wait(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", NULL};
  PyObject *arg = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:wait", names, &arg))
    return NULL;
  PxState *st = px_state_of(op);
  PyObject *stream = px_stream_argument(st, arg);
  if (!stream)
    return NULL;
  RtStatus status = rt_stream_wait_event(px_stream_of(stream), ((PxEvent *)op)->event);
  Py_DECREF(stream);
  PX_TRY_STATUS(st, status, return NULL);
  Py_RETURN_NONE;
}

static PyObject *elapsed(PxState *st, PyObject *start, PyObject *end) {
  if (!Py_IS_TYPE(end, st->event_type) || !Py_IS_TYPE(start, st->event_type))
    return PyErr_Format(PyExc_TypeError, "elapsed time is between two cuda.event()s");
  float ms = 0;
  PX_TRY_STATUS(st, rt_event_elapsed(((PxEvent *)start)->event, ((PxEvent *)end)->event, &ms),
                return NULL);
  return PyFloat_FromDouble((double)ms);
}

static PyObject *event_elapsed(PyObject *op, PyObject *end) {
  return elapsed(px_state_of(op), op, end);
}

static PyObject *event_handle(PyObject *op, void *Py_UNUSED(c)) {
  return PyLong_FromUnsignedLongLong(rt_event_handle(((PxEvent *)op)->event));
}

static PyGetSetDef event_getset[] = {
    {"handle", event_handle, NULL, "The CUevent as an int; 0 on the host device.", NULL},
    {0},
};

static PyMethodDef event_methods[] = {
    {"record", PX_KEYWORDS(event_record), METH_VARARGS | METH_KEYWORDS,
     "record($self, /, stream=0)\n--\n\n"
     "Mark the end of the work that is on the stream now.\n\n"
     "Example:\n\n"
     "    start = cuda.event()\n"
     "    start.record()"},
    {"synchronize", event_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Wait until the recorded work is done. Raises what kernels raised.\n\n"
     "Example:\n\n"
     "    start.synchronize()"},
    {"_pass", event_pass, METH_NOARGS, NULL},
    {"query", event_query, METH_NOARGS,
     "query($self, /)\n--\n\n"
     "Is the recorded work done.\n\n"
     "Example:\n\n"
     "    print(start.query())                     # True"},
    {"wait", PX_KEYWORDS(event_wait), METH_VARARGS | METH_KEYWORDS,
     "wait($self, /, stream=0)\n--\n\n"
     "Make later work on the stream wait for this event.\n\n"
     "Example:\n\n"
     "    start.wait(s)                            # s goes on after the event"},
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"elapsed_time", event_elapsed, METH_O,
     "elapsed_time($self, end, /)\n--\n\n"
     "Milliseconds from this event to another that was recorded later.\n\n"
     "Example:\n\n"
     "    end = cuda.event()\n"
     "    end.record()\n"
     "    end.synchronize()\n"
     "    milliseconds = start.elapsed_time(end)"},
    {0},
};

static PyObject *event_repr(PyObject *op) {
  return PyUnicode_FromFormat("<pyptx event %p>",
                              (void *)(uintptr_t)rt_event_handle(((PxEvent *)op)->event));
}

static PyMemberDef event_members[] = {PX_WEAKREFS(PxEvent), {0}};

static PyType_Slot event_slots[] = {
    {Py_tp_members, event_members},
    {Py_tp_doc, "A mark in a stream."},
    {Py_tp_repr, event_repr},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_methods, event_methods},
    {Py_tp_getset, event_getset},
    {0, NULL},
};

PyType_Spec px_event_spec = {
    .name = "pyptx._pyptx.Event",
    .basicsize = sizeof(PxEvent),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = event_slots,
};

/* --- module functions --- */

static PyObject *module_stream(PyObject *module, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  RtStream *s = NULL;
  if (!d)
    return NULL;
  PX_TRY_STATUS(st, rt_stream_new(d, &s), return NULL);
  return stream_make(st, d, s, NULL);
}

PyObject *px_stream_apart(PxState *st, RtDevice *d) {
  RtStream *s = NULL;
  PX_TRY_STATUS(st, rt_stream_new_apart(d, &s), return NULL);
  return stream_make(st, d, s, NULL);
}

static PyObject *module_default_stream(PyObject *module, PyObject *Py_UNUSED(args)) {
  return wrap_handle(px_state_of_module(module), 0, NULL);
}

static PyObject *module_legacy_stream(PyObject *module, PyObject *Py_UNUSED(args)) {
  return wrap_handle(px_state_of_module(module), 1, NULL);
}

static PyObject *module_thread_stream(PyObject *module, PyObject *Py_UNUSED(args)) {
  return wrap_handle(px_state_of_module(module), 2, NULL);
}

static PyObject *module_external_stream(PyObject *module, PyObject *arg) {
  unsigned long long handle = PyLong_AsUnsignedLongLong(arg);
  if (PyErr_Occurred())
    return NULL;
  return wrap_handle(px_state_of_module(module), handle, arg);
}

static PyObject *module_event(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"timing", NULL};
  int timing = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:event", names, &timing))
    return NULL;
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  return d ? event_make(st, d, timing) : NULL;
}

static PyObject *module_elapsed(PyObject *module, PyObject *args) {
  PyObject *start, *end;
  if (!PyArg_ParseTuple(args, "OO:event_elapsed_time", &start, &end))
    return NULL;
  return elapsed(px_state_of_module(module), start, end);
}

PyMethodDef px_stream_functions[] = {
    {"stream", module_stream, METH_NOARGS,
     "stream($module, /)\n--\n\n"
     "A new stream on the current device.\n\n"
     "Example:\n\n"
     "    s = cuda.stream()\n"
     "    add[1, 256, s](d, d, e)                  # returns at once on a GPU\n"
     "    s.synchronize()"},
    {"default_stream", module_default_stream, METH_NOARGS,
     "default_stream($module, /)\n--\n\n"
     "The stream that is used where none is given.\n\n"
     "Example:\n\n"
     "    cuda.default_stream().synchronize()"},
    {"legacy_default_stream", module_legacy_stream, METH_NOARGS,
     "legacy_default_stream($module, /)\n--\n\n"
     "CUDA's legacy default stream.\n\n"
     "Example:\n\n"
     "    legacy = cuda.legacy_default_stream()"},
    {"per_thread_default_stream", module_thread_stream, METH_NOARGS,
     "per_thread_default_stream($module, /)\n--\n\n"
     "CUDA's default stream of this thread.\n\n"
     "Example:\n\n"
     "    own = cuda.per_thread_default_stream()"},
    {"external_stream", module_external_stream, METH_O,
     "external_stream($module, ptr, /)\n--\n\n"
     "A stream made elsewhere: ptr is its CUstream as an int. It must outlive its uses and is\n"
     "not destroyed.\n\n"
     "Example:\n\n"
     "    theirs = cuda.external_stream(s.handle)  # or torch.cuda.current_stream().cuda_stream"},
    {"event", PX_KEYWORDS(module_event), METH_VARARGS | METH_KEYWORDS,
     "event($module, /, timing=True)\n--\n\n"
     "A new event on the current device. With timing=False it cannot be used for elapsed_time,\n"
     "and costs less.\n\n"
     "Example:\n\n"
     "    start, end = cuda.event(), cuda.event()"},
    {"event_elapsed_time", module_elapsed, METH_VARARGS,
     "event_elapsed_time($module, start, end, /)\n--\n\n"
     "Milliseconds between two recorded events.\n\n"
     "Example:\n\n"
     "    start.record()\n"
     "    add[1, 256](d, d, e)\n"
     "    end.record()\n"
     "    end.synchronize()\n"
     "    milliseconds = cuda.event_elapsed_time(start, end)"},
    {0},
};
