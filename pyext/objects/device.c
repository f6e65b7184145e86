/* Device: devices as objects, the current one of each thread, and the functions of pyptx.cuda that
 * concern them.
 *
 * The current device is a property of the thread, as in CUDA: what select_device or `with gpus[i]`
 * chose there, else the default, which PYPTX_DEVICE decides once: gpu, host, or auto (a GPU if a
 * driver answers).
 *
 * A GPU that is chosen is current in the driver too, as for PyTorch's and CuPy's own functions that
 * choose; the end of the block puts back what was current before: `with select_device(i):` too,
 * before the call. On a machine with several GPUs a thread that has chosen none works on the one
 * that is current in the driver, whoever made it so, and makes the default current where none is.
 * With one GPU there is nothing to ask. */
#include "pyext/objects/device.h"

#include <stdlib.h>
#include <string.h>

#include "pyext/launch/checking.h"
#include "pyext/launch/timeouts.h"
#include "pyext/launch/traps.h"
#include "pyext/objects/stream.h"
#include "pyext/objects/wait.h"
#include "pyext/raise.h"

enum { STACK = 32 };
static _Thread_local RtDevice *selected;
static _Thread_local RtContext before; /* the first select_device: what close() puts back */
/* the last GPU that was selected since, also where the host device was afterwards */
static _Thread_local RtDevice *made_current;
/* What the last select_device displaced, as long as nothing else was selected and no other Device
 * asked for: `with select_device(…):` puts that back, and `with gpus[i]:` what was selected. */
static _Thread_local struct {
  RtDevice *device; /* that it selected; NULL: none, entered since, or as said */
  RtDevice *selected, *made_current;
  RtContext context, before;
} chosen;
/* `with device:` */
static _Thread_local struct {
  struct {
    RtDevice *selected;
    RtContext context;
  } was[STACK];
  int depth;
} entered;

/* PYPTX_DEVICE: "gpu", "host", "python" (the host, and kernels run as Python) or "auto". */
static const char *device_choice(void) {
  const char *choice = getenv("PYPTX_DEVICE");
  return choice && *choice ? choice : "auto";
}

void px_select_device(RtDevice *d) { selected = d; }
RtDevice *px_selected_device(void) { return selected; }

static RtDevice *open_device(PxState *st, int ordinal) {
  RtDevice *d = NULL;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_device_open(ordinal, &d);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return NULL);
  return d;
}

/* GPUs that a driver answers for. -1 with an exception where there is no telling: in a child of
 * fork, at exit, if the driver fails. */
static int gpu_count(PxState *st) {
  int count = 0;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_gpu_count(&count);
  Py_END_ALLOW_THREADS
  if (status != RT_OK &&
      (rt_driver_is_over() || (status != RT_NO_DRIVER && status != RT_NO_DEVICE)))
    PX_TRY_STATUS(st, status, return -1);
  return status == RT_OK ? count : 0;
}

/* Kept for the first launch, px_advise_host. A list of visible devices that is empty says that none
 * is wanted. */
static void note_fallback(PxState *st) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (st->why_host || (visible && (!*visible || !strcmp(visible, "-1"))))
    return;
  const RtError *error = rt_error();
  bool known = error && (error->status == RT_NO_DRIVER || error->status == RT_NO_DEVICE);
  st->why_host = px_copy_text(known ? error->text : "the driver has no device");
}

static RtDevice *default_device(PxState *st) {
  const char *choice = device_choice();
  if (!strcmp(choice, "python"))
    px_step_in_python();
  if (!strcmp(choice, "host") || !strcmp(choice, "python"))
    return open_device(st, RT_HOST);
  if (!strcmp(choice, "gpu"))
    return open_device(st, 0);
  if (!strcmp(choice, "auto")) {
    int count = gpu_count(st);
    if (count == 0)
      note_fallback(st);
    return count < 0 ? NULL : open_device(st, count > 0 ? 0 : RT_HOST);
  }
  PyErr_Format(PyExc_ValueError, "PYPTX_DEVICE is '%s': it must be gpu, host, python or auto",
               choice);
  return NULL;
}

/* The default device, of a thread that has no context of its own. */
static RtDevice *find_default(PxState *st) {
  RtDevice *known = PX_PUBLISHED(st->default_device),
           *d = known ? known : PX_PUBLISHED(st->first_gpu);
  if (d || !(d = default_device(st)))
    return d;
  int count = rt_device_is_host(d) ? 0 : gpu_count(st);
  if (count < 0)
    return NULL;
  if (count > 1) /* two threads find the same one */
    PX_PUBLISH(st->first_gpu, d);
  else
    PX_PUBLISH(st->default_device, d);
  return d;
}

static bool make_current(PxState *st, RtDevice *d) {
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_device_make_current(d);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return false);
  return true;
}

static __attribute__((noinline)) RtDevice *follow(PxState *st) {
  int ordinal;
  RtDevice *d = find_default(st), *now;
  if (!d || d != PX_PUBLISHED(st->first_gpu) || rt_driver_is_over())
    return d;
  if (PX_LIKELY((now = rt_context_device(&ordinal)) != NULL))
    return now;
  if (ordinal >= 0)
    return open_device(st, ordinal);
  return make_current(st, d) ? d : NULL;
}

PX_HOT RtDevice *px_current_device(PxState *st) {
  RtDevice *d = selected ? selected : PX_PUBLISHED(st->default_device);
  return d ? d : follow(st);
}

/* dict.setdefault: of two threads that make a device's object at once, one's stays. */
PyObject *px_device_object(PxState *st, RtDevice *d) {
  chosen.device = NULL; /* `with` may be for this one, not for what select_device gave */
  PyObject *key = PyLong_FromLong(rt_device_ordinal(d));
  if (!key)
    return NULL;
  PyObject *found = px_dict_get(st->devices, key);
  if (!found && !PyErr_Occurred()) {
    PxDevice *made = PyObject_New(PxDevice, st->device_type);
    if (made) {
      made->device = d;
      made->weakrefs = NULL;
      /* borrowed of a dict that only grows */
      found = Py_XNewRef(PyDict_SetDefault(st->devices, key, (PyObject *)made));
      Py_DECREF(made);
    }
  }
  Py_DECREF(key);
  return found;
}

/* --- the object --- */

static RtDevice *device_of(PyObject *self) { return ((PxDevice *)self)->device; }

static void device_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  px_clear_weakrefs(self, ((PxDevice *)self)->weakrefs);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *device_repr(PyObject *self) {
  RtDevice *d = device_of(self);
  if (rt_device_is_host(d))
    return PyUnicode_FromFormat("<pyptx device host '%s'>", rt_device_name(d));
  return PyUnicode_FromFormat("<pyptx device %d '%s'>", rt_device_ordinal(d), rt_device_name(d));
}

static PyObject *get_name(PyObject *self, void *Py_UNUSED(c)) {
  const char *name = rt_device_name(device_of(self));
  return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
}

static PyObject *get_id(PyObject *self, void *Py_UNUSED(c)) {
  return PyLong_FromLong(rt_device_ordinal(device_of(self)));
}

static PyObject *get_is_host(PyObject *self, void *Py_UNUSED(c)) {
  return PyBool_FromLong(rt_device_is_host(device_of(self)));
}

static PyObject *get_capability(PyObject *self, void *Py_UNUSED(c)) {
  int sm = rt_device_capability(device_of(self));
  return Py_BuildValue("(ii)", sm / 10, sm % 10);
}

static PyObject *get_uuid(PyObject *self, void *Py_UNUSED(c)) {
  uint8_t u[16];
  char text[48];
  rt_device_uuid(device_of(self), u);
  int at = snprintf(text, sizeof text, "GPU-");
  for (int i = 0; i < 16; i++)
    at += snprintf(text + at, sizeof text - (size_t)at,
                   i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
  return PyUnicode_FromString(text);
}

static PyObject *device_reset(PyObject *self, PyObject *Py_UNUSED(args)) {
  RtDevice *d = device_of(self);
  RtStatus status;
  px_report_traps(px_state_of(self), d);
  Py_BEGIN_ALLOW_THREADS
  status = rt_device_reset(d);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(px_state_of(self), status, return NULL);
  Py_RETURN_NONE;
}

static RtStatus query_default_stream(void *device, int *done) {
  return rt_stream_query(device, NULL, done);
}

int px_device_wait(PxState *st, RtDevice *d) {
  RtStatus status;
  PxAwaited awaited = px_awaits_all(st, d);
  if (!rt_device_is_host(d) && px_wait_timed(st, d, query_default_stream, d) < 0)
    return -1;
  Py_BEGIN_ALLOW_THREADS
  status = rt_device_synchronize(d);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  return px_check_traps(st, &awaited);
}

static PyObject *device_synchronize(PyObject *self, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of(self);
  return px_device_wait(st, device_of(self)) < 0 ? NULL : px_callbacks_wait(st, self);
}

static PyObject *device_memory(PyObject *self, PyObject *Py_UNUSED(args)) {
  size_t available = 0, total = 0;
  PX_TRY_STATUS(px_state_of(self), rt_device_memory(device_of(self), &available, &total),
                return NULL);
  return Py_BuildValue("(nn)", (Py_ssize_t)available, (Py_ssize_t)total);
}

static PyObject *device_enter(PyObject *self, PyObject *Py_UNUSED(args)) {
  if (entered.depth == STACK)
    return PyErr_Format(PyExc_RuntimeError, "'with device' is nested more than %d deep", STACK);
  RtDevice *d = device_of(self);
  RtContext context = rt_context_now();
  if (!make_current(px_state_of(self), d))
    return NULL;
  if (chosen.device && chosen.device == d && selected == d) {
    context = chosen.context;
    selected = chosen.selected;
    before = chosen.before;
    made_current = chosen.made_current;
  }
  chosen.device = NULL;
  entered.was[entered.depth].selected = selected;
  entered.was[entered.depth++].context = context;
  selected = d;
  return Py_NewRef(self);
}

/* The host device has no context to leave, but a GPU may have been selected in its block. */
static PyObject *device_exit(PyObject *self, PyObject *Py_UNUSED(args)) {
  if (entered.depth == 0)
    Py_RETURN_NONE;
  bool gpu = !rt_device_is_host(device_of(self)) || (selected && !rt_device_is_host(selected));
  selected = entered.was[--entered.depth].selected;
  if (gpu)
    rt_context_put_back(entered.was[entered.depth].context);
  Py_RETURN_NONE;
}

static const struct {
  int number;
  const char *name;
} attributes[] = {
#define A(number, name) {number, #name},
#include "pyext/attributes.def"
#undef A
};

/* CU_DEVICE_ATTRIBUTE_X or X. */
static int attribute_number(const char *name) {
  static const char prefix[] = "CU_DEVICE_ATTRIBUTE_";
  if (!strncmp(name, prefix, sizeof prefix - 1))
    name += sizeof prefix - 1;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (!strcmp(attributes[i].name, name))
      return attributes[i].number;
  return 0;
}

static PyObject *device_getattro(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyObject *raised = px_raised();
  const char *text = PyUnicode_AsUTF8(name);
  int number = text ? attribute_number(text) : 0, result = 0;
  if (!number) {
    px_reraise(raised);
    return NULL;
  }
  Py_DECREF(raised);
  RtDevice *d = device_of(self);
  RtStatus status = rt_device_attribute(d, number, &result);
  if (status == RT_BAD_ARGUMENT && rt_device_is_host(d)) /* for hasattr, and getattr's default */
    return PyErr_Format(PyExc_AttributeError, "the host device has no attribute '%U'\n  help: %s",
                        name, rt_error()->remedy);
  PX_TRY_STATUS(px_state_of(self), status, return NULL);
  return PyLong_FromLong(result);
}

static PyObject *device_dir(PyObject *self, PyObject *Py_UNUSED(args)) {
  PyObject *base = px_call_method((PyObject *)&PyBaseObject_Type, "__dir__", self);
  PyObject *list = base ? PySequence_List(base) : NULL;
  Py_XDECREF(base);
  for (size_t i = 0; list && i < sizeof attributes / sizeof *attributes; i++) {
    PyObject *name = PyUnicode_FromString(attributes[i].name);
    if (!name || PyList_Append(list, name) < 0)
      Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

/* Equality and hash are the identity's: there is one object a device. */
static PyObject *device_reduce(PyObject *self, PyObject *Py_UNUSED(args)) {
  PyObject *find = PyObject_GetAttrString(px_state_of(self)->module, "_device");
  return find ? Py_BuildValue("N(i)", find, rt_device_ordinal(device_of(self))) : NULL;
}

static PyObject *get_supports_float16(PyObject *Py_UNUSED(self), void *Py_UNUSED(closure)) {
  Py_RETURN_TRUE;
}

static PyGetSetDef device_getset[] = {
    {"name", get_name, NULL, "Name of the device.", NULL},
    {"id", get_id, NULL, "Number of the GPU; -1 for the host device.", NULL},
    {"is_host", get_is_host, NULL, "Is this the host device.", NULL},
    {"compute_capability", get_capability, NULL, "(major, minor); (0, 0) for the host device.",
     NULL},
    {"supports_float16", get_supports_float16, NULL, "True: all devices that pyptx has do.", NULL},
    {"uuid", get_uuid, NULL, "UUID of the GPU as text.", NULL},
    {0},
};

static PyMethodDef device_methods[] = {
    {"reset", device_reset, METH_NOARGS,
     "reset($self, /)\n--\n\n"
     "Release all memory and modules of the device, also after a fault. Its arrays, streams,\n"
     "events, graphs and bound launches are of no use any more, and say so with\n"
     "ContextLostError; kernels are loaded again when a launch wants them.\n\n"
     "Example:\n\n"
     "    cuda.get_current_device().reset()"},
    {"synchronize", device_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Wait until the device is idle; raises what its kernels raised.\n\n"
     "Example:\n\n"
     "    cuda.get_current_device().synchronize()"},
    {"memory_info", device_memory, METH_NOARGS,
     "memory_info($self, /)\n--\n\n"
     "(free, total) bytes of memory.\n\n"
     "Example:\n\n"
     "    free, total = cuda.get_current_device().memory_info()"},
    {"__enter__", device_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\n"
     "Make the device the current one of this thread."},
    {"__exit__", device_exit, METH_VARARGS,
     "__exit__($self, /, *exception)\n--\n\n"
     "Make the device current again that was so before."},
    {"__dir__", device_dir, METH_NOARGS,
     "__dir__($self, /)\n--\n\n"
     "The attributes, those of the driver too."},
    {"_repr_html_", px_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nWhat a notebook shows."},
    {"__reduce__", device_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nWhat pickle keeps: the device's number."},
    {0},
};

static PyMemberDef device_members[] = {PX_WEAKREFS(PxDevice), {0}};

static PyType_Slot device_slots[] = {
    {Py_tp_members, device_members},
    {Py_tp_doc,
     "A device. `with device:` makes it the current one of this thread. The driver's attributes are attributes: device.WARP_SIZE."},
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_repr, device_repr},
    {Py_tp_getattro, device_getattro},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {0, NULL},
};

PyType_Spec px_device_spec = {
    .name = "pyptx._pyptx.Device",
    .basicsize = sizeof(PxDevice),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = device_slots,
};

/* --- module functions --- */

/* An int, "host", "gpu", or a Device. */
static RtDevice *device_from(PxState *st, PyObject *arg) {
  if (Py_IS_TYPE(arg, st->device_type))
    return device_of(arg);
  if (PyUnicode_Check(arg)) {
    if (PyUnicode_CompareWithASCIIString(arg, "host") == 0) {
      st->said_host = true;
      return open_device(st, RT_HOST);
    }
    if (PyUnicode_CompareWithASCIIString(arg, "gpu") == 0)
      return open_device(st, 0);
    PyErr_Format(PyExc_ValueError, "%R is not a device: pass a number, 'gpu' or 'host'", arg);
    return NULL;
  }
  if (!PyIndex_Check(arg) || PyBool_Check(arg)) {
    PyErr_Format(PyExc_TypeError, "%R is not a device: pass a number, 'gpu' or 'host'", arg);
    return NULL;
  }
  Py_ssize_t ordinal = PyNumber_AsSsize_t(arg, NULL); /* huge ones clip */
  if (ordinal == -1 && PyErr_Occurred())
    return NULL;
  if (ordinal < RT_HOST || ordinal > 1 << 16) {
    PyErr_Format(PyExc_ValueError,
                 "there is no device %S: cuda.list_devices() shows those that are there", arg);
    return NULL;
  }
  st->said_host |= ordinal == RT_HOST;
  /* A program for one GPU, run where there is none or where PYPTX_DEVICE says host: device 0 is the
   * default device. */
  if (ordinal == 0) {
    RtDevice *d = selected ? selected : find_default(st);
    if (!d || rt_device_is_host(d))
      return d;
  }
  return open_device(st, (int)ordinal);
}

static PyObject *module_device(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = device_from(st, arg);
  return d ? px_device_object(st, d) : NULL;
}

static PyObject *module_current(PyObject *module, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  return d ? px_device_object(st, d) : NULL;
}

static PyObject *module_select(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = device_from(st, arg);
  RtContext context = rt_context_now();
  if (!d || !make_current(st, d))
    return NULL;
  PyObject *object = px_device_object(st, d);
  chosen.device = d;
  chosen.selected = selected;
  chosen.made_current = made_current;
  chosen.context = context;
  chosen.before = before;
  if (!selected)
    before = context;
  selected = d;
  if (!rt_device_is_host(d))
    made_current = d;
  return object;
}

static PyObject *module_close(PyObject *module, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of_module(module);
  RtDevice *now = rt_context_now().device;
  if (now && (now == selected || now == made_current))
    rt_context_put_back(before); /* no other library has changed it since */
  before = (RtContext){0};
  made_current = chosen.device = NULL;
  selected = NULL;
  PX_PUBLISH(st->default_device, (RtDevice *)NULL);
  PX_PUBLISH(st->first_gpu, (RtDevice *)NULL);
  Py_RETURN_NONE;
}

/* As _device for a number, whatever PYPTX_DEVICE says: for listing. */
static PyObject *module_gpu(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  long ordinal = PyLong_AsLong(arg);
  if (ordinal == -1 && PyErr_Occurred())
    return NULL;
  RtDevice *d = open_device(st, ordinal < 0 || ordinal > 1 << 16 ? 1 << 16 : (int)ordinal);
  return d ? px_device_object(st, d) : NULL;
}

static PyObject *module_gpu_count(PyObject *module, PyObject *Py_UNUSED(args)) {
  int count = gpu_count(px_state_of_module(module));
  return count < 0 ? NULL : PyLong_FromLong(count);
}

static PyObject *module_synchronize(PyObject *module, PyObject *Py_UNUSED(args)) {
  PyObject *device = module_current(module, NULL);
  PyObject *result = device ? device_synchronize(device, NULL) : NULL;
  Py_XDECREF(device);
  return result;
}

static PyObject *profile(PyObject *module, int on) {
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  if (!d)
    return NULL;
  PX_TRY_STATUS(st, rt_device_profile(d, on), return NULL);
  Py_RETURN_NONE;
}

static PyObject *module_profile_start(PyObject *module, PyObject *Py_UNUSED(args)) {
  return profile(module, 1);
}
static PyObject *module_profile_stop(PyObject *module, PyObject *Py_UNUSED(args)) {
  return profile(module, 0);
}

static PyObject *module_cuda_error(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  int count = 0;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_gpu_count(&count);
  Py_END_ALLOW_THREADS
  if (status == RT_OK && count > 0)
    Py_RETURN_NONE;
  return PyUnicode_FromString(status == RT_OK ? "there is no GPU that CUDA can use"
                                              : rt_error()->text);
}

PyMethodDef px_device_functions[] = {
    {"profile_start", module_profile_start, METH_NOARGS,
     "profile_start($module, /)\n--\n\n"
     "Tell a profiler that waits for it (nsys --capture-range=cudaProfilerApi) to record from\n"
     "here on. Nothing on the host device.\n\n"
     "Example:\n\n"
     "    cuda.profile_start()"},
    {"profile_stop", module_profile_stop, METH_NOARGS,
     "profile_stop($module, /)\n--\n\n"
     "Tell the profiler to stop recording.\n\n"
     "Example:\n\n"
     "    cuda.profile_stop()"},
    {"cuda_error", module_cuda_error, METH_NOARGS,
     "cuda_error($module, /)\n--\n\n"
     "Why no GPU can be used, as a text; None if one can.\n\n"
     "Example:\n\n"
     "    if not cuda.is_available():\n"
     "        reason = cuda.cuda_error()"},
    {"_device", module_device, METH_O,
     "_device(ordinal): the Device; -1 or 'host' is the host device."},
    {"get_current_device", module_current, METH_NOARGS,
     "get_current_device($module, /)\n--\n\n"
     "The device that this thread's launches and allocations use: the selected one, else the\n"
     "GPU that another library made current, else the default.\n\n"
     "Example:\n\n"
     "    name = cuda.get_current_device().name"},
    {"select_device", module_select, METH_O,
     "select_device($module, device, /)\n--\n\n"
     "Make a device the current one of this thread, for other libraries too: a GPU's number,\n"
     "'gpu' for the first, or 'host'. It stays until another is selected, or until close();\n"
     "`with select_device(device):` is for the block: after it the device that was current\n"
     "before is so again. Returns the Device. NoDeviceError where there is no such device.\n\n"
     "Example:\n\n"
     "    with cuda.select_device(\"host\"):\n"
     "        add[1, 256](a, a, np.empty_like(a))"},
    {"close", module_close, METH_NOARGS,
     "close($module, /)\n--\n\n"
     "Forget the device that this thread selected: what was current before is so again. The\n"
     "next use chooses the default again.\n\n"
     "Example:\n\n"
     "    cuda.select_device(\"host\")\n"
     "    cuda.close()"},
    {"_gpu", module_gpu, METH_O,
     "_gpu(ordinal): the Device of a GPU, also where PYPTX_DEVICE=host."},
    {"gpu_count", module_gpu_count, METH_NOARGS,
     "gpu_count($module, /)\n--\n\n"
     "Number of GPUs that a driver answers for; 0 without a driver."},
    {"synchronize", module_synchronize, METH_NOARGS,
     "synchronize($module, /)\n--\n\n"
     "Wait until the current device is idle. Raises what its kernels raised.\n\n"
     "Example:\n\n"
     "    add[1, 256](d, d, e)\n"
     "    cuda.synchronize()"},
    {0},
};
