/* Launcher: from a call in Python to rt_launch. The way of a launch in a loop: px_plan_fill →
 * rt_launch without the GIL. The way of a first one, and of arguments that plans do not serve:
 * px_bind → px_args_add for each argument → px_dispatch → pack → rt_launch. */
#include "pyext/launch/launcher.h"

#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/array/foreign.h"
#include "pyext/compile/coverage.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/advice.h"
#include "pyext/launch/bound_launch.h"
#include "pyext/launch/checking.h"
#include "pyext/launch/dims.h"
#include "pyext/launch/entry_loading.h"
#include "pyext/launch/overlap.h"
#include "pyext/launch/plan.h"
#include "pyext/launch/prints.h"
#include "pyext/launch/stale.h"
#include "pyext/launch/stream_order.h"
#include "pyext/launch/timeouts.h"
#include "pyext/launch/together.h"
#include "pyext/launch/traps.h"
#include "pyext/launch/warnings.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/launch/tensor_map.h"
#include "runtime/memory/memory.h"

/* --- arguments --- */

static PyObject *function_name(PxDispatcher *d) {
  return ((PyFunctionObject *)d->function)->func_qualname;
}

static Py_ssize_t count_defaults(PxDispatcher *d) {
  PyObject *defaults = PyFunction_GetDefaults(d->function);
  return defaults && PyTuple_Check(defaults) ? PyTuple_GET_SIZE(defaults) : 0;
}

static PyObject *default_of(PxDispatcher *d, uint32_t i) { /* borrowed; NULL if there is none */
  if (i < d->nargs) {
    Py_ssize_t n = count_defaults(d), k = (Py_ssize_t)i - ((Py_ssize_t)d->nargs - n);
    return k >= 0 ? PyTuple_GET_ITEM(PyFunction_GetDefaults(d->function), k) : NULL;
  }
  PyObject *kwdefaults = PyFunction_GetKwDefaults(d->function);
  return kwdefaults && PyDict_Check(kwdefaults)
             ? PyDict_GetItemString(kwdefaults, px_parameter_name(d, i))
             : NULL;
}

static int missing(PxDispatcher *d, uint32_t i) {
  PyErr_Format(PyExc_TypeError, "%U() is missing the argument '%s'", function_name(d),
               px_parameter_name(d, i));
  return -1;
}

static int too_many(PxDispatcher *d, Py_ssize_t n) {
  PyErr_Format(PyExc_TypeError, "%U() takes %u argument%s, but %zd were given", function_name(d),
               d->nargs, d->nargs == 1 ? "" : "s", n);
  return -1;
}

/* The parameter of that name; UINT32_MAX with TypeError. */
static uint32_t parameter(PxDispatcher *d, PyObject *name) {
  for (uint32_t i = d->nposonly; i < d->nargs + d->nkwonly; i++)
    if (px_parameter_is(d, i, name))
      return i;
  PyErr_Format(PyExc_TypeError, "%U() has no parameter '%U'", function_name(d), name);
  return UINT32_MAX;
}

/* Trailing parameters that are not given keep their defaults as constants of the compiled kernel:
 * they are not passed. */
static int check_rest(PxDispatcher *d, uint32_t from) {
  for (uint32_t i = from; i < d->nargs + d->nkwonly; i++)
    if (!default_of(d, i))
      return missing(d, i);
  return 0;
}

/* Kept: reading it, or another argument, may run code that changes the function's defaults. */
static int add_default(PxDispatcher *d, PxArgs *a, uint32_t i) {
  PyObject *value = default_of(d, i);
  if (!value)
    return missing(d, i);
  return px_args_keep(a, value) < 0 ? -1 : px_args_add(a, value);
}

static int bind_keywords(PxDispatcher *d, PxArgs *a, PyObject *const *argv, Py_ssize_t n,
                         PyObject *kwnames) {
  uint32_t slots = d->nargs + d->nkwonly, last = (uint32_t)n;
  PyObject **values = PyMem_Calloc(slots + 1, sizeof *values);
  if (!values)
    return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++)
    values[i] = argv[i];
  int failed = 0;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames) && !failed; k++) {
    PyObject *name = PyTuple_GET_ITEM(kwnames, k);
    uint32_t i = parameter(d, name);
    failed = i == UINT32_MAX ? -1 : 0;
    if (!failed && values[i]) {
      PyErr_Format(PyExc_TypeError, "%U() got two values for the argument '%U'", function_name(d),
                   name);
      failed = -1;
    }
    if (!failed) {
      values[i] = argv[n + k];
      last = i >= last ? i + 1 : last;
    }
  }
  for (uint32_t i = 0; i < last && !failed; i++)
    failed = values[i] ? px_args_add(a, values[i]) : add_default(d, a, i);
  PyMem_Free(values);
  return failed ? -1 : check_rest(d, last);
}

int px_bind(PxDispatcher *d, PxArgs *a, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames) {
  bool keywords = kwnames && PyTuple_GET_SIZE(kwnames);
  a->callee = d;
  if (n > (Py_ssize_t)d->nargs &&
      (keywords || !d->varargs)) /* the compiler says what it thinks of *args */
    return too_many(d, n);
  if (keywords && bind_keywords(d, a, argv, n, kwnames) < 0)
    return -1;
  if (!keywords && n < (Py_ssize_t)(d->nargs + d->nkwonly) && check_rest(d, (uint32_t)n) < 0)
    return -1;
  for (Py_ssize_t i = 0; !keywords && i < n; i++)
    if (px_args_add(a, argv[i]) < 0)
      return -1;
  px_args_choose_narrow(a);
  return 0;
}

/* --- packing --- */

int px_pack(PxState *st, const RtParams *p, const PxLeaf *leaves, char *block) {
  for (const RtField *f = p->fields, *end = f + p->nfields; f < end; f++) {
    const PxLeaf *l = &leaves[f->leaf];
    char *at = block + f->offset;
    switch ((RtFieldKind)f->kind) {
    case RT_FIELD_POINTER: memcpy(at, &l->u.array.address, 8); break;
    case RT_FIELD_EXTENT32: {
      uint32_t extent = (uint32_t)l->u.array.shape[f->axis];
      memcpy(at, &extent, 4);
      break;
    }
    case RT_FIELD_EXTENT64: memcpy(at, &l->u.array.shape[f->axis], 8); break;
    case RT_FIELD_STRIDE: memcpy(at, &l->u.array.strides[f->axis], 8); break;
    case RT_FIELD_SCALAR: /* most are 8 bytes: then it is no call */
      if (f->size == 8)
        memcpy(at, l->u.bytes, 8);
      else
        memcpy(at, l->u.bytes, f->size);
      break;
    case RT_FIELD_TENSOR_MAP:
      PX_TRY_STATUS(st, rt_tensor_map(f->map, l->u.array.address, l->u.array.shape, at), return -1);
      break;
    case RT_FIELD_BLOCKS:
    case RT_FIELD_GRID:
    case RT_FIELD_TRAP: break; /* the runtime's */
    }
  }
  return 0;
}

/* --- host arrays on a GPU, before and after --- */

static const char labelled_help[] =
    "\n  help: pandas shares the memory of a Series or DataFrame and so writes to copies alone "
    "(copy-on-write), and what is not kept as a NumPy array is copied for the kernel: pass "
    "x = s.to_numpy(copy=True), then assign it, s[:] = x";

int px_check_writable(PxDispatcher *d, const PxOverload *o, const PxArgs *a) {
  for (uint32_t i = 0; i < a->nleaves && i < o->code->nargs; i++)
    if (o->code->args[i].written && a->leaves[i].readonly &&
        px_token_is_array(a->leaves[i].token)) {
      char who[PX_ARGUMENT_NAME];
      (void)px_argument_name(a, px_argument_of_leaf(a, i), who);
      if (a->leaves[i].readonly == PX_TRACKED)
        PyErr_Format(
            PyExc_TypeError,
            "%U() writes to a tensor that requires grad, %s, which autograd would not see: pass "
            "x.detach()",
            function_name(d), who);
      else
        PyErr_Format(PyExc_ValueError, "%U() writes to an array that is read-only: %s%s",
                     function_name(d), who,
                     a->leaves[i].readonly == PX_LABELLED
                         ? labelled_help
                         : "; so are arrays of bytes, of np.broadcast_to and of some libraries' "
                           "tables: pass x.copy()");
      return -1;
    }
  return 0;
}

/* The array, or the same array passed earlier, that owns the copy. */
static PxHeld *owner_of(PxArgs *a, PxHeld *h) {
  for (PxHeld *o = a->held; o; o = o->next)
    if (o->array == h->array && !o->in_place)
      return o;
  return h;
}

int px_copy_back(PxArgs *a, PxHeld *h) {
  if (px_has_gaps(h))
    return px_copy_back_gaps(a, h);
  PxHeld *owner = owner_of(a, h);
  RtStatus status = RT_OK;
  if (px_await_timed(a->st, a->device, a->stream) < 0)
    return -1;
  Py_BEGIN_ALLOW_THREADS
  if (owner->bytes)
    status = rt_copy_to_host(a->device, owner->view.buf, owner->address, owner->bytes, a->stream);
  if (status == RT_OK && a->stream)
    status = rt_stream_synchronize(a->device, a->stream);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(a->st, status, return -1);
  if (owner->staging != owner->array)
    return PyObject_SetItem(owner->array, Py_Ellipsis, owner->staging);
  return 0;
}

static int finish_held(PxOverload *o, PxArgs *a) {
  assert(!px_capturing()); /* a node has no host array to copy back */
  PxAwaited awaited = px_awaits(a->st, a->device, a->stream);
  bool copied = false;
  for (PxHeld *h = a->held; h; h = h->next) {
    if (!h->array || h->leaf >= o->code->nargs || !o->code->args[h->leaf].written)
      continue;
    if (px_copy_back(a, h) < 0)
      return -1;
    copied = true;
  }
  return copied ? px_check_traps(a->st, &awaited) : 0;
}

/* Memory that a stream other than the default one uses must not be freed before that stream is
 * done. */
static void mark_used(PxState *st, PyObject *arg, PyObject *stream) {
  if (Py_IS_TYPE(arg, st->array_type))
    px_array_used((PxArray *)arg, stream);
  else if (PyTuple_Check(arg))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arg); i++)
      mark_used(st, PyTuple_GET_ITEM(arg, i), stream);
}

void px_launch_mark(PxLauncher *l, const PxOverload *o, PyObject *const *argv, Py_ssize_t n) {
  PxState *st = px_state_of((PyObject *)l);
  mark_used(st, o->owners, l->stream);
  for (Py_ssize_t i = 0; i < n; i++)
    mark_used(st, argv[i], l->stream);
}

/* --- launching --- */

/* Threads a block: what suits the entry that the launch takes. */
static int choose_block(PxState *st, const PxLauncher *l, PxOverload *o, RtConfig *config) {
  RtEntryKind entry = rt_kernel_entry_of(o->kernel, l->ntasks, config->dynamic_shared);
  while (!rt_kernel_has(o->kernel, entry)) { /* the second may turn out to be of no use */
    if (px_entry_load(st, o, entry) < 0)
      return -1;
    entry = rt_kernel_entry_of(o->kernel, l->ntasks, config->dynamic_shared);
  }
  PX_TRY_STATUS(st,
                rt_kernel_best_block(o->kernel, entry, config->dynamic_shared, &config->block[0]),
                return -1);
  return 0;
}

/* forall: enough blocks for ntasks threads. */
static int choose_config(PxState *st, const PxLauncher *l, PxOverload *o, RtConfig *config) {
  if (!config->block[0] && choose_block(st, l, o, config) < 0)
    return -1;
  uint64_t blocks = (l->ntasks + config->block[0] - 1) / config->block[0];
  if (blocks > INT32_MAX) {
    PyErr_Format(
        PyExc_ValueError,
        "forall: %llu tasks need more blocks of %u threads than a grid has: give tpb= a larger block, or let each "
        "thread do more than one task in a loop",
        (unsigned long long)l->ntasks, config->block[0]);
    return -1;
  }
  config->grid[0] = (uint32_t)blocks;
  return 0;
}

/* Loads the entry that the launch wanted, and launches again; which may want the other one then. -1
 * with an exception, else 0 and the status. */
static int launch_loading(PxState *st, PxOverload *o, const RtConfig *config, char *block,
                          RtStatus *status, RtTrap *trap) {
  while (*status == RT_NO_ENTRY) {
    RtEntryKind wanted = rt_kernel_wants(o->kernel, config, block);
    if (wanted != RT_ENTRY_NONE && px_entry_load(st, o, wanted) < 0)
      return -1;
    Py_BEGIN_ALLOW_THREADS
    *status = rt_launch(o->kernel, config, block, trap);
    Py_END_ALLOW_THREADS
  }
  return 0;
}

static __attribute__((cold, noinline)) int not_launched(PxState *st, PxOverload *o,
                                                        const RtConfig *config, char *block,
                                                        RtStatus status, RtTrap *trap) {
  if (status == RT_NO_ENTRY) {
    if (launch_loading(st, o, config, block, &status, trap) < 0)
      return -1;
    if (status == RT_OK)
      return 0;
  }
  if (status == RT_CAPTURED)
    return PX_CAPTURED;
  if (status == RT_TRAPPED)
    px_raise_trap(st, o->code, rt_kernel_name(o->kernel), trap, o->exceptions, o->scope);
  else
    px_raise_status(st, status);
  return -1;
}

/* The launch itself. block: as the kernel takes it, and not used afterwards. PX_CAPTURED: it has
 * not happened. */
PX_HOT static inline int launch_block(PxState *st, PxOverload *o, RtKernel *kernel,
                                      const RtConfig *config, char *block) {
  RtTrap trap; /* of RT_TRAPPED alone */
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_launch(kernel, config, block, &trap);
  Py_END_ALLOW_THREADS
  return PX_LIKELY(status == RT_OK) ? 0 : not_launched(st, o, config, block, status, &trap);
}

static int launch_followed(PxOverload *o, RtConfig *config, PxFollow *f, char *block) {
  bool follows = px_follows(f);
  if (PX_UNLIKELY(px_leaves_out(o->guards, o->nguards, config, block)) &&
      px_advise_grid(f->st, o, config, block) < 0)
    return -1;
  if (follows && px_follow_before(f) < 0)
    return -1;
  config->stream = f->launch;
  int failed = launch_block(f->st, o, o->kernel, config, block);
  if (PX_UNLIKELY(px_covers()))
    px_tell_lines();
  if (failed || (follows && px_follow_after(f) < 0))
    return failed ? failed : -1;
  if (config->timeout && !rt_device_is_host(o->device) &&
      px_note_timed(f->st, o, f->launch, config->timeout) < 0)
    return -1;
  if (o->code->has_trap && !rt_device_is_host(o->device)) {
    px_note_launch(f->st, o, f->launch);
    return o->waits ? px_stream_wait(f->st, o->device, f->launch) : 0;
  }
  return 0;
}

int px_launch_followed(PxOverload *o, RtConfig *config, PxFollow *f, char *block) {
  PxPrints prints;
  if (!o->code->may_print)
    return launch_followed(o, config, f, block);
  if (px_prints_begin(f->st, o->device, f->launch, &prints) < 0)
    return -1;
  int failed = launch_followed(o, config, f, block);
  return px_prints_end(f->st, &prints, o->device, f->launch, failed);
}

PxOverload *px_dispatch_fresh(PxDispatcher *d, PxArgs *a) {
  PxOverload *o = px_dispatch_apart(d, a);
  if (!o || px_captures_hold(&o->captures))
    return o;
  int stale = px_stale_review(a->st, d, o);
  if (stale)
    Py_CLEAR(o);
  return stale > 0 ? px_dispatch_apart(d, a) : o;
}

int px_launch_advise(PxDispatcher *d, const PxArgs *a) {
  if (PX_UNLIKELY(a->st->why_host && a->on_host) && px_advise_host(a->st) < 0)
    return -1;
  return a->held && !a->on_host ? px_advise_copies(a->st, d, a) : 0;
}

int px_launch_prepare(PxLauncher *l, PxOverload *o, PxArgs *a, RtConfig *config) {
  *config = l->config;
  if (l->forall && choose_config(a->st, l, o, config) < 0)
    return -1;
  return a->any_readonly ? px_check_writable(l->dispatcher, o, a) : 0;
}

static int run(PxLauncher *l, PxOverload *o, PxArgs *a) {
  RtConfig config;
  if (px_launch_prepare(l, o, a, &config) < 0)
    return -1;
  assert(a->device == o->device && a->nleaves == o->code->nargs);
  _Alignas(16) char small[PX_BLOCK_ON_STACK];
  const RtParams *params = &o->code->params;
  char *block = params->bytes <= PX_BLOCK_ON_STACK ? small : PyMem_Malloc(params->bytes);
  if (!block)
    return PyErr_NoMemory(), -1;
  int failed = px_pack(a->st, params, a->leaves, block);
  failed = failed ? failed : px_launch_followed(o, &config, &a->follow, block);
  if (block != small)
    PyMem_Free(block);
  if (!a->held || (failed && failed != PX_UNPRINTED))
    return failed;
  PyObject *unprinted = failed ? px_raised() : NULL;
  failed = finish_held(o, a);
  if (unprinted && failed)
    Py_DECREF(unprinted);
  else if (unprinted)
    px_reraise(unprinted);
  return failed || unprinted ? -1 : 0;
}

/* After an attempt that was captured, or on a stream: its node, and who uses the memory. */
static __attribute__((noinline)) PyObject *finish_slowly(PxLauncher *l, PxOverload *o,
                                                         PyObject *const *argv, Py_ssize_t n,
                                                         PyObject *kwnames, int failed) {
  if (failed == PX_CAPTURED)
    failed = px_captured_launch(l, o, argv, n, kwnames);
  if (!failed && l->config.stream)
    px_launch_mark(l, o, argv, n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  return failed ? NULL : Py_NewRef(Py_None);
}

PX_HOT static inline PyObject *finish(PxLauncher *l, PxOverload *o, PyObject *const *argv,
                                      Py_ssize_t n, PyObject *kwnames, int failed) {
  if (PX_LIKELY(!failed && !l->config.stream))
    Py_RETURN_NONE;
  return finish_slowly(l, o, argv, n, kwnames, failed);
}

/* The way of a launch whose arguments no plan knows yet, and of all that plans do not serve. */
static __attribute__((noinline)) PyObject *launch_unplanned(PxLauncher *l, PyObject *const *argv,
                                                            Py_ssize_t n, PyObject *kwnames) {
  PxDispatcher *d = l->dispatcher;
  PxState *st = px_state_of((PyObject *)l);
  RtDevice *device = px_current_device(st);
  if (!device)
    return NULL;
  if (l->forall && !l->ntasks)
    Py_RETURN_NONE;
  if (px_is_checking()) /* the device has only now read PYPTX_DEVICE */
    return px_launch_checked((PyObject *)l, argv, n, kwnames);
  PxArgs a;
  px_args_init(&a, st, device, l->config.stream, d->options.numba_typing);
  a.wide = l->far;
  PxOverload *o = px_bind(d, &a, argv, n, kwnames) < 0 ? NULL : px_dispatch_fresh(d, &a);
  int failed = o && px_launch_advise(d, &a) == 0 ? run(l, o, &a) : -1;
  PX_FAILED_IS_RAISED(failed == -1 || failed == PX_UNPRINTED);
  if (!failed && !l->far)
    px_plan_learn(d, o, &a, argv, n, kwnames);
  px_args_clear(&a);
  PyObject *result = o ? finish(l, o, argv, n, kwnames, failed) : NULL;
  Py_XDECREF((PyObject *)o);
  return result;
}

/* With arrays of one library that works on the default stream, or no others than its own: the
 * launch is its next work. */
PX_HOT static inline int launch_theirs(PxLauncher *l, const PxPlan *p, char *block, bool *done) {
  uint64_t handle;
  *done = true;
  if (px_source_stream(p->st, p->sources[0], p->ordinal, &handle) < 0)
    return -1;
  if (handle <= 1)
    return launch_block(p->st, p->overload, p->kernel, &l->config, block);
  if ((*done = !p->on_default && !px_capturing())) {
    RtStreamRoom room;
    RtConfig config = l->config;
    config.stream = rt_stream_in(&room, p->device, handle);
    return launch_block(p->st, p->overload, p->kernel, &config, block);
  }
  return 0;
}

static __attribute__((noinline)) int launch_in_order(PxLauncher *l, const PxPlan *p, char *block) {
  RtConfig config = l->config;
  PxFollow f;
  if (l->forall && choose_config(p->st, l, p->overload, &config) < 0)
    return -1;
  px_plan_follow(p, l->config.stream, &f);
  return px_launch_followed(p->overload, &config, &f, block);
}

PX_HOT static inline int launch_planned(PxLauncher *l, const PxPlan *p, char *block) {
  if (PX_LIKELY(!(l->forall | p->more))) {
    bool done = false;
    if (PX_UNLIKELY(px_leaves_out(p->guards, p->nguards, &l->config, block)) &&
        px_advise_grid(p->st, p->overload, &l->config, block) < 0)
      return -1;
    if (!p->nsources)
      return launch_block(p->st, p->overload, p->kernel, &l->config, block);
    int failed = p->nsources == 1 && !l->config.stream ? launch_theirs(l, p, block, &done) : 0;
    if (done)
      return failed;
  }
  return launch_in_order(l, p, block);
}

PX_HOT static PyObject *launcher_call(PyObject *op, PyObject *const *argv, size_t nargsf,
                                      PyObject *kwnames) {
  PxLauncher *l = (PxLauncher *)op;
  Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  if (PX_UNLIKELY(px_is_checking()))
    return px_launch_checked(op, argv, n, kwnames);
  _Alignas(16) char block[PX_PLAN_BYTES];
  const PxPlan *p = px_plan_fill(l->dispatcher, argv, n, kwnames, block);
  if (PX_UNLIKELY(!p || l->far || (l->forall && !l->ntasks) ||
                  (p->captures && !px_captures_hold(p->captures))))
    return PyErr_Occurred() ? NULL : launch_unplanned(l, argv, n, kwnames);
  return finish(l, p->overload, argv, n, kwnames, launch_planned(l, p, block));
}

/* Arguments pass through the kernel's extensions first, which are Python. */
static PyObject *launcher_call_prepared(PyObject *op, PyObject *const *argv, size_t nargsf,
                                        PyObject *kwnames) {
  Py_ssize_t n = PyVectorcall_NARGS(nargsf), all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  PyObject *module = PyImport_ImportModule("pyptx.cuda._kernels");
  PyObject *values = module ? PyTuple_New(all) : NULL;
  for (Py_ssize_t i = 0; values && i < all; i++)
    PyTuple_SET_ITEM(values, i, Py_NewRef(argv[i]));
  PyObject *done = values ? PyObject_CallMethod(module, "launch_prepared", "OOO", op, values,
                                                kwnames ? kwnames : Py_None)
                          : NULL;
  Py_XDECREF(values);
  Py_XDECREF(module);
  return done;
}

static PyObject *launcher_call_plainly(PyObject *op, PyObject *const *argv, Py_ssize_t n,
                                       PyObject *kwnames) {
  return launcher_call(op, argv, (size_t)n, kwnames);
}

/* --- the object --- */

enum { MS = 1000000 }; /* in ns */

static void launcher_dealloc(PyObject *op) {
  PxLauncher *l = (PxLauncher *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, l->weakrefs);
  Py_CLEAR(l->dispatcher);
  Py_CLEAR(l->kernel);
  Py_CLEAR(l->stream);
  type->tp_free(op);
  Py_DECREF(type);
}

static int launcher_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxLauncher *)op)->dispatcher);
  Py_VISIT(((PxLauncher *)op)->kernel);
  Py_VISIT(((PxLauncher *)op)->stream);
  return 0;
}

static PyObject *launcher_repr(PyObject *op) {
  PxLauncher *l = (PxLauncher *)op;
  const uint32_t *g = l->config.grid, *b = l->config.block;
  if (l->forall)
    return PyUnicode_FromFormat("<pyptx launch of %U for %llu tasks>", function_name(l->dispatcher),
                                (unsigned long long)l->ntasks);
  return PyUnicode_FromFormat("<pyptx launch of %U[(%u, %u, %u), (%u, %u, %u)]>",
                              function_name(l->dispatcher), g[0], g[1], g[2], b[0], b[1], b[2]);
}

static PyObject *get_dispatcher(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxLauncher *)op)->kernel);
}

static PyObject *get_dims(PyObject *op, void *which) {
  const uint32_t *v = which ? ((PxLauncher *)op)->config.block : ((PxLauncher *)op)->config.grid;
  return px_uint3(v);
}

static PyObject *get_cluster(PyObject *op, void *Py_UNUSED(c)) {
  const uint32_t *v = ((PxLauncher *)op)->config.cluster;
  return v[0] ? px_uint3(v) : Py_NewRef(Py_None);
}

static PyObject *get_dependent(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong((long)((PxLauncher *)op)->config.dependent);
}

static PyObject *get_timeout(PyObject *op, void *Py_UNUSED(c)) {
  uint64_t ns = ((PxLauncher *)op)->config.timeout;
  return ns ? PyFloat_FromDouble((double)ns / 1e9) : Py_NewRef(Py_None);
}

static PyObject *get_stream(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxLauncher *)op)->stream);
}

/* A configuration travels with its kernel; its stream, if it has one, refuses. */
static PyObject *launcher_reduce(PyObject *op, PyObject *Py_UNUSED(args)) {
  PxLauncher *l = (PxLauncher *)op;
  const uint32_t *g = l->config.grid, *b = l->config.block;
  PyObject *make = PyObject_GetAttrString((PyObject *)l->kernel,
                                          l->forall ? "forall" : "configure");
  if (!make)
    return NULL;
  if (l->forall)
    return Py_BuildValue("N(KIOI)", make, (unsigned long long)l->ntasks, b[0], l->stream,
                         l->config.dynamic_shared);
  bool own = l->config.timeout == (uint64_t)l->kernel->timeout * MS;
  PyObject *timeout = own ? Py_NewRef(Py_None)
                          : PyFloat_FromDouble((double)l->config.timeout / 1e9);
  return Py_BuildValue("N((III)(III)OINNN)", make, g[0], g[1], g[2], b[0], b[1], b[2], l->stream,
                       l->config.dynamic_shared, get_cluster(op, NULL), get_dependent(op, NULL),
                       timeout);
}

static PyMethodDef launcher_methods[] = {
    {"bind", PX_KEYWORDS(px_launcher_bind), METH_FASTCALL | METH_KEYWORDS,
     "bind($self, /, *args, **kwargs)\n--\n\n"
     "This launch with these arguments, checked and converted once: calling the result\n"
     "launches again. Numbers keep their values; arrays are used where they lie now and stay\n"
     "alive. Host arrays cannot be bound on a GPU.\n\n"
     "Example:\n\n"
     "    step = add[1, 256].bind(d, d, e)\n"
     "    for _ in range(10):\n"
     "        step()"},
    {"_launch", PX_KEYWORDS(launcher_call_plainly), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__reduce__", launcher_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nWhat pickle keeps: the kernel and its configuration."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
     "__class_getitem__($type, item, /)\n--\n\nFor annotations."},
    {0},
};

static PyGetSetDef launcher_getset[] = {
    {"dispatcher", get_dispatcher, NULL, "The kernel.", NULL},
    {"griddim", get_dims, NULL, "Blocks of the grid.", NULL},
    {"blockdim", get_dims, NULL, "Threads of a block.", (void *)1},
    {"stream", get_stream, NULL, "The stream, or None for the default one.", NULL},
    {"cluster", get_cluster, NULL, "Blocks of a cluster, or None where each is alone.", NULL},
    {"programmatic_dependent_launch", get_dependent, NULL,
     "May it begin before the launch in front of it in the stream has ended.", NULL},
    {"timeout", get_timeout, NULL, "Seconds after which it ends with KernelTimeoutError, or None.",
     NULL},
    {0},
};

static PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PxLauncher, call), READONLY, NULL},
    PX_WEAKREFS(PxLauncher),
    {0},
};

static PyType_Slot launcher_slots[] = {
    {Py_tp_doc, "A kernel with its launch configuration; calling it launches."},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_traverse, launcher_traverse},
    {Py_tp_repr, launcher_repr},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, launcher_getset},
    {Py_tp_methods, launcher_methods},
    {Py_tp_members, launcher_members},
    {0, NULL},
};

PyType_Spec px_launcher_spec = {
    .name = "pyptx._pyptx.Launcher",
    .basicsize = sizeof(PxLauncher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = launcher_slots,
};

/* --- configurations --- */

/* What stands beside grid and block, as it was given; NULL: not. */
typedef struct Extras {
  PyObject *stream, *shared, *cluster;
  int dependent;
  int timeout; /* ms; -1: the kernel's own */
} Extras;

static PxLauncher *launcher_new(PxDispatcher *d, Extras x) {
  PxState *st = px_state_of((PyObject *)d);
  if (d->func_options.device) {
    PyErr_Format(PyExc_RuntimeError,
                 "Cannot compile a device function as a kernel: %U is called by kernels",
                 function_name(d));
    return NULL;
  }
  RtConfig config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dependent = x.dependent != 0};
  if (px_read_shared(x.shared, &config.dynamic_shared) < 0 ||
      px_read_cluster(x.cluster, config.cluster) < 0)
    return NULL;
  PyObject *stream = px_stream_argument(st, x.stream);
  PxLauncher *l = stream ? PyObject_GC_New(PxLauncher, st->launcher_type) : NULL;
  if (!l) {
    Py_XDECREF(stream);
    return NULL;
  }
  l->call = d->extensions ? launcher_call_prepared : launcher_call;
  l->dispatcher = (PxDispatcher *)Py_NewRef(d);
  l->kernel = (PxDispatcher *)Py_NewRef(d);
  l->stream = stream;
  l->config = config;
  l->config.stream = px_stream_of(stream);
  l->config.timeout = (uint64_t)(x.timeout < 0 ? d->timeout : x.timeout) * MS;
  l->forall = l->far = false;
  l->ntasks = 0;
  l->weakrefs = NULL;
  PyObject_GC_Track(l);
  return l;
}

static PyObject *configured(PxDispatcher *d, PyObject *grid, PyObject *block, Extras x) {
  PxLauncher *l = launcher_new(d, x);
  if (l && (px_read_dims("griddim", grid, l->config.grid) < 0 ||
            px_read_dims("blockdim", block, l->config.block) < 0 ||
            px_warn_of_grid(px_state_of((PyObject *)d), l->config.grid) < 0 ||
            (PX_UNLIKELY(px_block_is_odd(&l->config)) &&
             px_advise_block(px_state_of((PyObject *)d), d, &l->config) < 0)))
    Py_CLEAR(l);
  if (l)
    l->far = px_is_far(l->config.grid, l->config.block);
  return (PyObject *)l;
}

PyObject *px_dispatcher_subscript(PyObject *self, PyObject *key) {
  PxDispatcher *d = (PxDispatcher *)self;
  Py_ssize_t n = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 0;
  if (n < 2 || n > 5)
    return PyErr_Format(
        PyExc_ValueError,
        "must specify at least the griddim and blockdim%s: write %U[blocks, threads](...), and if needed "
        "a stream, the bytes of dynamic shared memory and a cluster behind them",
        n > 5 ? ", and at most five values" : "", function_name(d));
  PyObject *const *item = PySequence_Fast_ITEMS(key);
  return configured(
      d, item[0], item[1],
      (Extras){n > 2 ? item[2] : NULL, n > 3 ? item[3] : NULL, n > 4 ? item[4] : NULL, 0, -1});
}

/* The kernel as it is compiled for a launch with that timeout=: a new reference, and the time in
 * *ms. */
static PxDispatcher *timed_kernel(PyObject *kernel, PyObject *timeout, int *ms) {
  PyObject *module = PyImport_ImportModule("pyptx.cuda._jit"),
           *pair = module ? PyObject_CallMethod(module, "timed", "OO", kernel, timeout) : NULL,
           *made = NULL;
  if (pair && PyArg_ParseTuple(pair, "Oi", &made, ms))
    Py_INCREF(made);
  Py_XDECREF(pair);
  Py_XDECREF(module);
  return (PxDispatcher *)made;
}

PyObject *px_dispatcher_configure(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"griddim",   "blockdim", "stream",
                          "sharedmem", "cluster",  "programmatic_dependent_launch",
                          "timeout",   NULL};
  PyObject *grid, *block, *timeout = NULL;
  Extras x = {.timeout = -1};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOpO:configure", names, &grid, &block,
                                   &x.stream, &x.shared, &x.cluster, &x.dependent, &timeout))
    return NULL;
  if (!timeout || timeout == Py_None)
    return configured((PxDispatcher *)self, grid, block, x);
  PxDispatcher *d = timed_kernel(self, timeout, &x.timeout);
  PyObject *l = d ? configured(d, grid, block, x) : NULL;
  Py_XDECREF((PyObject *)d);
  if (l)
    Py_SETREF(((PxLauncher *)l)->kernel, (PxDispatcher *)Py_NewRef(self));
  return l;
}

PyObject *px_dispatcher_forall(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"ntasks", "tpb", "stream", "sharedmem", NULL};
  Extras x = {.timeout = -1};
  Py_ssize_t ntasks, tpb = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|nOO:forall", names, &ntasks, &tpb, &x.stream,
                                   &x.shared))
    return NULL;
  if (ntasks < 0)
    return PyErr_Format(PyExc_ValueError, "Can't create ForAll with negative task count: %zd",
                        ntasks);
  if (tpb < 0 || tpb > INT32_MAX)
    return PyErr_Format(PyExc_ValueError, "forall: tpb is %zd: that is no number of threads", tpb);
  PxLauncher *l = launcher_new((PxDispatcher *)self, x);
  if (l) {
    l->forall = true;
    l->ntasks = (uint64_t)ntasks;
    l->far = px_forall_is_far(l->ntasks, (uint64_t)tpb, l->kernel->options.max_threads);
    l->config.block[0] = (uint32_t)tpb;
  }
  return (PyObject *)l;
}
