/* Entries: see entry_loading.h.
 *
 * An entry may be loaded long after the kernel was compiled, and again after a reset. So what that
 * takes is kept here: the images that it is linked with, and for the second entry the options of
 * the first compilation and its code before it became PTX (CgKernel.rest). One thread at a time
 * compiles and loads; the others wait for their turn and then find the work done. */
#include "pyext/launch/entry_loading.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pyext/compile/assembler_log.h"
#include "pyext/compile/disk_cache.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/spills.h"
#include "pyext/objects/wait.h"
#include "pyext/raise.h"

typedef struct PxEntries {
  CgOptions options;
  PxCaching caching;
  char *dump;       /* PyMem, or NULL */
  PyObject *label;  /* bytes: of the second entry in the disk cache; NULL: there is none */
  PyObject *linked; /* list: what both are linked with */
  PyObject *code;   /* the kernel's code object, for advice about it */
  CgKernel *coarse; /* NULL: not compiled yet */
  /* One thread at a time compiles and loads. */
  PyThread_type_lock turn;
  _Atomic unsigned long thread; /* whose turn it is; 0: nobody's */
  pid_t process;                /* in a child of fork the thread does not exist */
} PxEntries;

/* --- loading --- */

/* What the kernel is linked with, of the decorator's link= and of the functions that it declares: a
 * list of (kind, name, bytes), for this GPU. */
static PyObject *read_linked(PxDispatcher *d, PyObject *declared, RtDevice *device) {
  if (rt_device_is_host(device) || (!d->link && !PyTuple_GET_SIZE(declared)))
    return PyList_New(0);
  PyObject *module = PyImport_ImportModule("pyptx.cuda._link");
  PyObject *list = module
                       ? PyObject_CallMethod(module, "images", "OOi", d->link ? d->link : Py_None,
                                             declared, rt_device_capability(device))
                       : NULL;
  Py_XDECREF(module);
  return list;
}

static int read_inputs(PyObject *list, RtLinkInput *inputs) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "isy#", &inputs[i].kind, &inputs[i].name,
                          &inputs[i].data, &bytes))
      return -1;
    /* bytes objects end with 0, which PTX must */
    inputs[i].bytes = (size_t)bytes + (inputs[i].kind == RT_LINK_PTX);
  }
  return 0;
}

/* The kernel and what it is linked with as a cubin (bytes), where code for link-time optimisation
 * is part of that; else None. */
static PyObject *link_lto(PxOverload *o, const CgKernel *code, PyObject *linked) {
  if (!PyList_GET_SIZE(linked))
    return Py_NewRef(Py_None);
  PyObject *module = PyImport_ImportModule("pyptx.cuda._link");
  PyObject *whole = module ? PyObject_CallMethod(module, "link_lto", "isy#O",
                                                 rt_device_capability(o->device), code->symbol,
                                                 code->ptx, (Py_ssize_t)code->ptx_len, linked)
                           : NULL;
  Py_XDECREF(module);
  if (whole && whole != Py_None && !PyBytes_Check(whole)) {
    PyErr_SetString(PyExc_TypeError, "nvJitLink gave no bytes");
    Py_CLEAR(whole);
  }
  return whole;
}

PyObject *px_entry_advice(PxState *st, PxOverload *o, bool asked) {
  PyObject *list = PyList_New(0);
  if (!list || !o->entries || !rt_kernel_has(o->kernel, RT_ENTRY_OWN) ||
      PyList_GET_SIZE(o->entries->linked))
    return list;
  const RtKernelInfo *info = rt_kernel_info(o->kernel);
  const PxAssembled made = {o->code->ptx, info->local, info->registers, rt_kernel_words(o->kernel),
                            asked};
  if (px_add_assembled_advice(st, o->entries->code, &made, list) < 0)
    Py_CLEAR(list);
  return list;
}

/* What is known once the kernel's own entry is loaded. */
static int advise(PxState *st, PxOverload *o) {
  PyObject *list = px_entry_advice(st, o, false);
  PyObject *module = o->scope ? PyDict_GetItemString(o->scope, "__name__") : NULL;
  int failed = !list                   ? -1
               : PyList_GET_SIZE(list) ? px_show_list(st, list, module ? module : Py_None)
                                       : 0;
  Py_XDECREF(list);
  return failed;
}

static int add(PxState *st, PxOverload *o, RtEntryKind entry, const CgKernel *code,
               PyObject *linked) {
  RtStatus status;
  RtLinkInput *inputs = PyMem_Calloc((size_t)PyList_GET_SIZE(linked) + 1, sizeof *inputs);
  if (!inputs || read_inputs(linked, inputs) < 0) {
    PyMem_Free(inputs);
    return inputs ? -1 : (PyErr_NoMemory(), -1);
  }
  RtLinked with = {inputs, (unsigned)PyList_GET_SIZE(linked)};
  PyObject *whole = link_lto(o, code, linked);
  if (!whole) {
    PyMem_Free(inputs);
    return -1;
  }
  const char *image = code->ptx;
  size_t size = code->ptx_len;
  if (whole != Py_None) { /* nvJitLink's cubin, in which all is */
    image = PyBytes_AS_STRING(whole);
    size = (size_t)PyBytes_GET_SIZE(whole);
    with.n = 0;
  }
  Py_BEGIN_ALLOW_THREADS
  status = rt_kernel_add(o->kernel, entry, image, size, &with);
  Py_END_ALLOW_THREADS
  Py_DECREF(whole);
  PyMem_Free(inputs);
  if (status == RT_BAD_MODULE && rt_error() &&
      px_raise_assembler_log(st, code->ptx, rt_error()->text))
    return -1;
  PX_TRY_STATUS(st, status, return -1);
  return entry == RT_ENTRY_OWN ? advise(st, o) : 0;
}

static int open_kernel(PxState *st, const PxDispatcher *d, PxOverload *o) {
  const CgKernel *c = o->code;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_device_is_host(o->device)
               ? rt_kernel_host(o->device, c->symbol, &c->host, &c->params, &o->kernel)
               : rt_kernel_open(o->device, c->symbol, &c->params, c->has_trap, &o->kernel);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(st, status, return -1);
  if (rt_device_is_host(o->device))
    rt_kernel_bound(o->kernel, (uint32_t)d->options.max_threads);
  return 0;
}

/* --- two entries --- */

/* Names of files and functions need not be text: what is none becomes "?". */
static PyObject *label_of(PxDispatcher *d, const PxOverload *o) {
  char arch[16];
  PyObject *code = PyFunction_GetCode(d->function),
           *file = PyObject_GetAttrString(code, "co_filename");
  PyObject *line = file ? PyObject_GetAttrString(code, "co_firstlineno") : NULL, *label = NULL;
  if (line && px_text_request(o->device, arch).arch)
    label = PyUnicode_FromFormat("%U, coarsened\t%U\t%s\tpyptx %s, Python %d.%d\t%U:%S",
                                 ((PyFunctionObject *)d->function)->func_qualname, o->text, arch,
                                 PYPTX_VERSION, PY_MAJOR_VERSION, PY_MINOR_VERSION, file, line);
  PyObject *bytes = label ? PyUnicode_AsEncodedString(label, "utf-8", "replace") : NULL;
  Py_XDECREF(file);
  Py_XDECREF(line);
  Py_XDECREF(label);
  return bytes;
}

static int keep_entries(PxDispatcher *d, PxOverload *o, PyObject *linked) {
  PxEntries *e = o->entries = PyMem_Calloc(1, sizeof *e);
  const char *dump = px_dump(d);
  if (!e)
    return PyErr_NoMemory(), -1;
  e->options = d->options;
  e->caching = (PxCaching)d->caching;
  e->linked = Py_NewRef(linked);
  e->code = Py_NewRef(PyFunction_GetCode(d->function));
  e->process = getpid();
  if (!(e->turn = PyThread_allocate_lock()))
    return PyErr_NoMemory(), -1;
  if (!o->code->rest)
    return 0;
  if (dump && !(e->dump = px_copy_text(dump)))
    return PyErr_NoMemory(), -1;
  return (e->label = label_of(d, o)) ? 0 : -1;
}

void px_entries_free(PxOverload *o) {
  PxEntries *e = o->entries;
  if (!e)
    return;
  if (e->turn)
    PyThread_free_lock(e->turn);
  cg_kernel_free(e->coarse);
  PyMem_Free(e->dump);
  Py_XDECREF(e->label);
  Py_XDECREF(e->linked);
  Py_XDECREF(e->code);
  PyMem_Free(e);
  o->entries = NULL;
}

int px_entries_open(PxState *st, PxDispatcher *d, PxOverload *o, PyObject *declared) {
  PyObject *linked = read_linked(d, declared, o->device);
  int failed = linked ? open_kernel(st, d, o) : -1;
  if (!failed && !rt_device_is_host(o->device))
    failed = keep_entries(d, o, linked);
  bool chosen = o->code->rest || o->code->params.roomy ||
                o->code->params.reading; /* which entry, by the launch */
  if (!failed && !rt_device_is_host(o->device) && !chosen)
    failed = add(st, o, RT_ENTRY_OWN, o->code, linked);
  Py_XDECREF(linked);
  return failed;
}

/* --- turns --- */

static PyThread_type_lock turn_of(PxOverload *o) {
  PxEntries *e = o->entries;
  PyThread_type_lock turn;
  PX_BEGIN_LOCKED(o)
  if (e->process != getpid() && (turn = PyThread_allocate_lock())) {
    e->turn = turn; /* the other is the parent's, held or not */
    e->process = getpid();
    atomic_store(&e->thread, 0);
  }
  turn = e->turn;
  PX_END_LOCKED()
  return turn;
}

/* 0, or -1 if it is this thread's already (a signal handler or the like has launched in the
 * middle), or that of one that Python's end has stopped. */
static int begin_turn(PxOverload *o) {
  PyThread_type_lock turn = turn_of(o);
  if (atomic_load(&o->entries->thread) == PyThread_get_thread_ident()) {
    PyErr_Format(PyExc_RuntimeError, "kernel %s is launched while this thread compiles it",
                 o->code->symbol);
    return -1;
  }
  if (px_wait_lock(turn, NULL, o->code->symbol) < 0)
    return -1;
  assert(!atomic_load(&o->entries->thread)); /* whoever had it has ended */
  atomic_store(&o->entries->thread, PyThread_get_thread_ident());
  return 0;
}

static void end_turn(PxOverload *o) {
  assert(atomic_load(&o->entries->thread) == PyThread_get_thread_ident());
  atomic_store(&o->entries->thread, 0);
  PyThread_release_lock(o->entries->turn);
}

/* --- the second entry --- */

static int compile_coarse(PxState *st, PxOverload *o) {
  PxEntries *e = o->entries;
  char arch[16];
  assert(o->code->rest && e->label);
  if (e->coarse)
    return 0;
  PxTextRequest device = px_text_request(o->device, arch);
  CgRequest request = {.coarse_of = o->code,
                       .target = CG_NVPTX,
                       .arch = device.arch,
                       .ptx_version = device.ptx_version,
                       .options = e->options,
                       .dump = e->dump};
  PxCacheUse unused;
  return px_compile_request(st, e->caching, &request, PyBytes_AS_STRING(e->label), &e->coarse,
                            &unused);
}

/* The code holds the addresses of arrays that the reset has taken away. */
static int check_owners(PxState *st, const PxOverload *o) {
  if (!rt_kernel_is_stale(o->kernel) || !o->owners || !PyTuple_GET_SIZE(o->owners))
    return 0;
  px_raise_lost(
      st,
      "%s was reset after kernel '%s' was compiled with device arrays among its globals or closure values, which are "
      "gone\n  help: make these arrays again, and the kernel anew: cuda.jit(kernel.py_func)",
      rt_device_label(o->device), o->code->symbol);
  return -1;
}

static int load(PxState *st, PxOverload *o, RtEntryKind entry) {
  assert(entry != RT_ENTRY_NONE && (entry != RT_ENTRY_COARSE || o->code->rest));
  if (rt_kernel_has(o->kernel, entry)) /* who had the turn before has done it */
    return 0;
  if (check_owners(st, o) < 0)
    return -1;
  if (entry == RT_ENTRY_COARSE && compile_coarse(st, o) < 0)
    return -1;
  return add(st, o, entry, entry == RT_ENTRY_COARSE ? o->entries->coarse : o->code,
             o->entries->linked);
}

int px_entry_load(PxState *st, PxOverload *o, RtEntryKind entry) {
  PX_HOLDS_GIL();
  if (rt_kernel_has(o->kernel, entry))
    return 0;
  if (begin_turn(o) < 0)
    return -1;
  int failed = load(st, o, entry);
  end_turn(o);
  return failed;
}

int px_entry_own(PxState *st, PxOverload *o) { return px_entry_load(st, o, RT_ENTRY_OWN); }

int px_entry_coarse_ptx(PxState *st, PxOverload *o, const char **ptx) {
  *ptx = NULL;
  if (!o->code->rest)
    return 0;
  if (begin_turn(o) < 0)
    return -1;
  int failed = compile_coarse(st, o);
  end_turn(o);
  if (!failed)
    *ptx = o->entries->coarse->ptx;
  return failed;
}
