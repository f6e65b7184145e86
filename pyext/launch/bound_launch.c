/* Bound: a launch with its arguments, checked and converted once. What is left to a call is to copy
 * the parameter block and launch.
 *
 * The streams of other libraries are asked for at each call, since that is what changes between
 * calls. */
#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/launch/bound_launch.h"
#include "pyext/launch/checking.h"
#include "pyext/launch/launcher.h"
#include "pyext/launch/plan.h"
#include "pyext/launch/stream_order.h"
#include "pyext/launch/typeof.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/raise.h"

typedef struct PxBound {
  PyObject_HEAD vectorcallfunc call;
  PxLauncher *launcher;
  PxOverload *overload;
  PyObject *arguments; /* a tuple: they live as long as this */
  PyObject *names;     /* of the last ones, or NULL */
  RtConfig config;
  uint64_t epoch; /* its arrays' */
  PxArgs args;    /* its follow and held parts; never moves */
  char *block;
  PyObject *weakrefs;
} PxBound;

static PyObject *name_of(PxLauncher *l) {
  return ((PyFunctionObject *)l->dispatcher->function)->func_qualname;
}

static PyObject *was_reset(const PxBound *b) {
  px_raise_lost(
      b->args.st,
      "%s was reset after the launch of %U was bound\n  help: bind it again, to new arrays",
      rt_device_label(b->args.device), name_of(b->launcher));
  return NULL;
}

static PyObject *bound_call(PyObject *op, PyObject *const *Py_UNUSED(argv), size_t nargsf,
                            PyObject *kwnames) {
  PxBound *b = (PxBound *)op;
  if (PyVectorcall_NARGS(nargsf) || (kwnames && PyTuple_GET_SIZE(kwnames)))
    return PyErr_Format(PyExc_TypeError,
                        "a bound launch of %U takes no arguments: bind others for a new one",
                        name_of(b->launcher));
  if (b->launcher->forall && !b->launcher->ntasks)
    Py_RETURN_NONE;
  if (PX_UNLIKELY(b->epoch != px_epoch_now(b->args.device)))
    return was_reset(b);
  _Alignas(16) char small[PX_BLOCK_ON_STACK];
  uint32_t bytes = b->overload->code->params.bytes;
  char *block = bytes <= PX_BLOCK_ON_STACK ? small : PyMem_Malloc(bytes);
  if (!block)
    return PyErr_NoMemory();
  memcpy(block, b->block, bytes); /* the launch writes to it */
  RtConfig config = b->config;
  PxFollow follow = b->args.follow; /* the libraries' streams of now */
  int failed = px_launch_followed(b->overload, &config, &follow, block);
  if (block != small)
    PyMem_Free(block);
  if (failed == PX_CAPTURED)
    failed = px_captured_launch(
        b->launcher, b->overload, PySequence_Fast_ITEMS(b->arguments),
        PyTuple_GET_SIZE(b->arguments) - (b->names ? PyTuple_GET_SIZE(b->names) : 0), b->names);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static int refuse_copies(PxLauncher *l, const PxArgs *a) {
  for (PxHeld *h = a->held; h; h = h->next)
    if (h->array) {
      char who[PX_ARGUMENT_NAME];
      PyErr_Format(
          PyExc_TypeError,
          "%U(): %s is a host array, which would be copied at each launch: bind device arrays",
          name_of(l), px_argument_name(a, h->arg, who));
      return -1;
    }
  return 0;
}

/* All that a launch does, but the launch. */
static int bind(PxBound *b, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames) {
  PxLauncher *l = b->launcher;
  PxDispatcher *d = l->dispatcher;
  Py_ssize_t all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  if (!(b->arguments = PyTuple_New(all)))
    return -1;
  for (Py_ssize_t i = 0; i < all; i++)
    PyTuple_SET_ITEM(b->arguments, i, Py_NewRef(argv[i]));
  if (px_bind(d, &b->args, argv, n, kwnames) < 0 || refuse_copies(l, &b->args) < 0 ||
      !(b->overload = px_dispatch_fresh(d, &b->args)) || px_launch_advise(d, &b->args) < 0 ||
      px_launch_prepare(l, b->overload, &b->args, &b->config) < 0)
    return -1;
  const RtParams *params = &b->overload->code->params;
  if (!(b->block = PyMem_Malloc(params->bytes + 1)))
    return PyErr_NoMemory(), -1;
  if (px_pack(b->args.st, params, b->args.leaves, b->block) < 0)
    return -1;
  if (l->config.stream)
    px_launch_mark(l, b->overload, argv, all);
  return 0;
}

PyObject *px_launcher_bind(PyObject *op, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames) {
  PxState *st = px_state_of(op);
  PxLauncher *l = (PxLauncher *)op;
  RtDevice *device = px_current_device(st);
  if (l->dispatcher->extensions)
    return PyErr_Format(
        PyExc_TypeError,
        "the arguments of %U pass through its extensions= at each launch: they cannot be bound",
        name_of(l));
  if (device && px_is_checking())
    return px_bind_checked(op, argv, n, kwnames);
  PxBound *b = device ? PyObject_GC_New(PxBound, st->bound_type) : NULL;
  if (!b)
    return NULL;
  b->call = bound_call;
  b->launcher = (PxLauncher *)Py_NewRef(op);
  b->overload = NULL;
  b->arguments = NULL;
  b->names = Py_XNewRef(kwnames);
  b->block = NULL;
  b->weakrefs = NULL;
  b->epoch = px_epoch_now(device);
  px_args_init(&b->args, st, device, l->config.stream, l->dispatcher->options.numba_typing);
  b->args.wide = l->far;
  int failed = bind(b, argv, n, kwnames);
  PyObject_GC_Track(b);
  if (failed)
    Py_CLEAR(b);
  return (PyObject *)b;
}

static void bound_dealloc(PyObject *op) {
  PxBound *b = (PxBound *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, b->weakrefs);
  px_args_clear(&b->args);
  PyMem_Free(b->block);
  Py_XDECREF(b->arguments);
  Py_XDECREF(b->names);
  Py_XDECREF((PyObject *)b->overload);
  Py_XDECREF((PyObject *)b->launcher);
  type->tp_free(op);
  Py_DECREF(type);
}

static int bound_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxBound *)op)->launcher);
  Py_VISIT(((PxBound *)op)->arguments);
  return 0;
}

static PyObject *bound_repr(PyObject *op) {
  return PyUnicode_FromFormat("<bound %R>", ((PxBound *)op)->launcher);
}

static PyMethodDef bound_methods[] = {
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {0},
};

static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PxBound, call), READONLY, NULL},
    PX_WEAKREFS(PxBound),
    {"arguments", T_OBJECT_EX, offsetof(PxBound, arguments), READONLY, "The bound arguments."},
    {0},
};

static PyType_Slot bound_slots[] = {
    {Py_tp_doc,
     "A kernel with configuration and arguments; calling it, without arguments, launches."},
    {Py_tp_dealloc, bound_dealloc},
    {Py_tp_traverse, bound_traverse},
    {Py_tp_repr, bound_repr},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_methods, bound_methods},
    {Py_tp_members, bound_members},
    {0, NULL},
};

PyType_Spec px_bound_spec = {
    .name = "pyptx._pyptx.BoundLaunch",
    .basicsize = sizeof(PxBound),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = bound_slots,
};
