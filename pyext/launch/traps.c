/* Traps: kernels that can raise and were launched on a GPU, until somebody has waited for them and
 * looked.
 *
 * A launch returns before its kernel has run, so the list st->pending keeps each such overload,
 * once, by a reference of its own. Its order is that of the launches; it changes under the module's
 * lock, and whether it is empty is read without. Every wait looks at all kernels of its device, and
 * takes off the list those whose launches have ended for certain: all were made before the wait
 * began, on the stream that it waited for. A stream that is destroyed keeps its handle until its
 * work is done, so that a handle names one stream as long as that matters. */
#include "pyext/launch/traps.h"

#include "pyext/compile/overload.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"

/* Each thread has its own stream of this handle. */
enum { PER_THREAD = 2 };

static _Thread_local bool is_quiet;

bool px_quiet_traps(bool quiet) {
  bool before = is_quiet;
  is_quiet = quiet;
  return before;
}

/* What a wait for one stream says nothing of is on PX_ALL_STREAMS. */
static uint64_t handle_of(RtStream *stream) {
  uint64_t handle = stream ? rt_stream_handle(stream) : 0;
  return handle == PER_THREAD ? PX_ALL_STREAMS : handle;
}

static int report_at_exit(PxState *st);

void px_note_launch(PxState *st, PxOverload *o, RtStream *stream) {
  assert(o->code->has_trap && !rt_device_is_host(o->device));
  uint64_t handle = handle_of(stream);
  bool first;
  PX_BEGIN_LOCKED(st->module)
  first = !st->launches++;
  o->launch = st->launches;
  if (!o->pending) {
    PxOverload **end = &st->pending;
    while (*end)
      end = &(*end)->next_pending;
    o->pending = true;
    o->launched_on = handle;
    o->next_pending = NULL;
    PX_PUBLISH(*end, (PxOverload *)Py_NewRef(o));
  } else if (o->launched_on != handle) {
    o->launched_on = PX_ALL_STREAMS;
  }
  PX_END_LOCKED()
  if (PX_UNLIKELY(first) && report_at_exit(st) < 0)
    PyErr_Clear(); /* the program is ending already */
}

PxAwaited px_awaits_all(PxState *st, RtDevice *device) {
  PxAwaited w = {.device = device, .stream = PX_ALL_STREAMS};
  if (PX_PUBLISHED(st->pending)) {
    PX_BEGIN_LOCKED(st->module)
    w.launches = st->launches;
    PX_END_LOCKED()
  }
  return w;
}

PxAwaited px_awaits(PxState *st, RtDevice *device, RtStream *stream) {
  PxAwaited w = px_awaits_all(st, device);
  w.stream = handle_of(stream);
  if (w.stream == PX_ALL_STREAMS)
    w.launches = 0;
  return w;
}

static bool is_of(const PxOverload *o, const RtDevice *device) {
  return !device || o->device == device;
}

static uint32_t count_pending(PxState *st, const RtDevice *device) {
  uint32_t n = 0;
  PX_BEGIN_LOCKED(st->module)
  for (PxOverload *o = st->pending; o; o = o->next_pending)
    n += is_of(o, device);
  PX_END_LOCKED()
  return n;
}

/* The first kernel of the device that has a trap, which is taken: a new reference. */
static PxOverload *take_trapped(PxState *st, const RtDevice *device, RtTrap *trap) {
  PxOverload *found = NULL;
  PX_BEGIN_LOCKED(st->module)
  for (PxOverload *o = st->pending; o && !found; o = o->next_pending)
    if (is_of(o, device) && rt_kernel_trap(o->kernel, trap) == RT_TRAPPED)
      found = (PxOverload *)Py_NewRef(o);
  PX_END_LOCKED()
  return found;
}

static bool has_ended(const PxOverload *o, const PxAwaited *w) {
  return is_of(o, w->device) && o->launch <= w->launches &&
         (w->stream == PX_ALL_STREAMS || o->launched_on == w->stream);
}

static void drop_ended(PxState *st, const PxAwaited *w) {
  PxOverload *ended = NULL;
  PX_BEGIN_LOCKED(st->module)
  for (PxOverload **at = &st->pending; *at;) {
    PxOverload *o = *at;
    if (!has_ended(o, w)) {
      at = &o->next_pending;
      continue;
    }
    assert(o->pending && Py_REFCNT((PyObject *)o) > 0);
    PX_PUBLISH(*at, o->next_pending);
    o->pending = false;
    o->next_ended = ended;
    ended = o;
  }
  PX_END_LOCKED()
  for (PxOverload *next; ended; ended = next) {
    next = ended->next_ended;
    Py_DECREF(ended);
  }
}

void px_forget_pending(PxState *st) {
  drop_ended(st, &(PxAwaited){.launches = UINT64_MAX, .stream = PX_ALL_STREAMS});
}

/* A note of the first exception says what the others are. */
static void tell_later(PyObject *first, PyObject *later, const char *kernel) {
  PyObject *note = PyUnicode_FromFormat("kernel '%s' has stopped too:\n%s: %S", kernel,
                                        Py_TYPE(later)->tp_name, later);
  PyObject *done = note ? px_call_method(first, "add_note", note) : NULL;
  if (!done)
    PyErr_WriteUnraisable(later);
  Py_XDECREF(done);
  Py_XDECREF(note);
}

int px_check_traps(PxState *st, const PxAwaited *awaited) {
  PX_HOLDS_GIL();
  if (!PX_PUBLISHED(st->pending) || is_quiet)
    return 0;
  PyObject *first = NULL;
  for (uint32_t n = count_pending(st, awaited->device); n; n--) {
    RtTrap trap = {0};
    PxOverload *o = take_trapped(st, awaited->device, &trap);
    if (!o)
      break;
    px_raise_trap(st, o->code, rt_kernel_name(o->kernel), &trap, o->exceptions, o->scope);
    PyObject *raised = px_raised();
    if (first)
      tell_later(first, raised, rt_kernel_name(o->kernel));
    else
      first = Py_NewRef(raised);
    Py_XDECREF(raised);
    Py_DECREF(o);
  }
  drop_ended(st, awaited);
  if (!first)
    return 0;
  px_reraise(first);
  return -1;
}

/* --- without a wait --- */

void px_report_traps(PxState *st, RtDevice *device) {
  if (px_check_traps(st, &(PxAwaited){.device = device}) < 0) {
    PyObject *where = PyUnicode_FromFormat("a kernel on %s", rt_device_label(device));
    PyErr_WriteUnraisable(where);
    Py_XDECREF(where);
  }
}

static RtDevice *first_device(PxState *st) {
  RtDevice *d;
  PX_BEGIN_LOCKED(st->module)
  d = st->pending ? st->pending->device : NULL;
  PX_END_LOCKED()
  return d;
}

/* The end of the program is the last wait, unless one has been given up. A device that cannot be
 * waited for has said so before. */
static PyObject *look_at_exit(PyObject *module, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of_module(module);
  for (RtDevice *d; (d = first_device(st));) {
    if (!st->gave_up && px_device_wait(st, d) < 0)
      PyErr_WriteUnraisable(module);
    px_report_traps(st, d);
    drop_ended(st, &(PxAwaited){d, UINT64_MAX, PX_ALL_STREAMS});
  }
  Py_RETURN_NONE;
}

static PyMethodDef at_exit = {"_look_at_exit", look_at_exit, METH_NOARGS, NULL};

static int report_at_exit(PxState *st) {
  PyObject *function = PyCFunction_New(&at_exit, st->module),
           *module = function ? PyImport_ImportModule("atexit") : NULL,
           *done = module ? px_call_method(module, "register", function) : NULL;
  Py_XDECREF(done);
  Py_XDECREF(module);
  Py_XDECREF(function);
  return done ? 0 : -1;
}
