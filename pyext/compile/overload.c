/* Overload: snapshot, compile, load; the attributes of a compiled kernel. */
#include "pyext/compile/overload.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/store/store.h"
#include "pyext/compile/coverage.h"
#include "pyext/compile/disk_cache.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/dims.h"
#include "pyext/launch/entry_loading.h"
#include "pyext/launch/launcher.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"
#include "pyext/snapshot/snapshot.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"

static const CgSymbol host_symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
    {NULL, NULL},
};

/* --- compiling --- */

PxTextRequest px_text_request(RtDevice *device, char arch[16]) {
  if (rt_device_is_host(device))
    return (PxTextRequest){.target = CG_HOST, .opt = -1, .device = device};
  snprintf(arch, 16, "sm_%d", rt_device_capability(device));
  return (PxTextRequest){.target = CG_NVPTX,
                         .arch = arch,
                         .ptx_version = rt_driver_ptx_version(),
                         .opt = -1,
                         .device = device};
}

const char *px_dump(const PxDispatcher *d) {
  return d->dump && PyUnicode_GET_LENGTH(d->dump) ? PyUnicode_AsUTF8(d->dump)
                                                  : getenv("PYPTX_DUMP");
}

int px_compile_request(PxState *st, PxCaching caching, const CgRequest *request, const char *label,
                       CgKernel **code, PxCacheUse *use) {
  Diag *diag = NULL;
  int failed = px_compile_cached(st, request->covers ? PX_CACHE_NEVER : caching, request, label,
                                 code, &diag, use);
  if (failed && diag)
    px_raise_diag(st, diag);
  else if (failed && !PyErr_Occurred())
    PyErr_NoMemory();
  diag_free(diag);
  PX_FAILED_IS_RAISED(failed);
  assert(failed || *code);
  return failed;
}

/* The key under which the disk cache has this kernel, as text; None where it cannot be kept. */
static PyObject *key_text(const CgRequest *request) {
  CgKey key;
  char text[2 * CG_DIGEST_BYTES + 1];
  int unkeepable;
  Py_BEGIN_ALLOW_THREADS
  unkeepable = cg_key(request, &key);
  Py_END_ALLOW_THREADS
  if (unkeepable)
    return Py_NewRef(Py_None);
  for (int i = 0; i < CG_DIGEST_BYTES; i++)
    snprintf(text + 2 * i, 3, "%02x", key.digest[i]);
  cg_key_free(&key);
  return PyUnicode_FromString(text);
}

/* check= on a GPU (PT817), PYPTX_CHECK of what the host cannot follow (PT819): once a kernel. */
static int advise_unchecked(PxState *st, PyObject *function, const char *row) {
  PyObject *advise = px_error_class(st, "advise"),
           *name = advise ? PyObject_GetAttr(function, st->name.__name__) : NULL,
           *done = name ? PyObject_CallFunction(advise, "sO", row, name) : NULL;
  Py_XDECREF(advise);
  Py_XDECREF(name);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/* The kernel without the checks that cannot follow it, where the program asked for them and not
 * the kernel itself. */
static int compile_unfollowed(PxState *st, PxDispatcher *d, const PxTextRequest *text,
                              CgRequest *request, CgKernel **code) {
  bool follows = !(*code)->host.waits || !(request->options.check & RT_CHECK_BLOCKS);
  if (text->target != CG_HOST || follows || !(d->options.check & RT_CHECK_OF_PROGRAM))
    return 0;
  cg_kernel_free(*code);
  *code = NULL;
  request->options.check &= ~RT_CHECK_BLOCKS;
  PxCacheUse unused;
  return advise_unchecked(st, d->function, "PT819") < 0 ||
         px_compile_request(st, text->cache ? (PxCaching)d->caching : PX_CACHE_NEVER, request, NULL,
                            code, text->cache ? text->cache : &unused);
}

int px_compile_text(PxState *st, PxDispatcher *d, const PxSignature *signature,
                    const PxTextRequest *text, CgKernel **code) {
  PyObject *sig = px_signature_text(st, signature->tokens, signature->n);
  PxSnapshot *snapshot = sig ? px_snapshot(st, d->function, &d->func_options, text->device) : NULL;
  if (!snapshot) {
    Py_XDECREF(sig);
    return -1;
  }
  const char *types = PyUnicode_AsUTF8(sig);
  const Frozen *library = NULL;
  if (!types || px_complex_library(st, snapshot, types, &library) < 0) {
    px_snapshot_free(snapshot);
    Py_DECREF(sig);
    return -1;
  }
  CgRequest request = {
      .func = px_snapshot_func(snapshot),
      .signature = types,
      .library = library,
      .symbol = text->symbol,
      .target = text->target,
      .arch = text->arch,
      .ptx_version = text->ptx_version,
      .options = d->options,
      .want = text->want,
      .dump = px_dump(d),
      .apart = text->apart,
      .symbols = host_symbols,
      .covers = px_covers() ? px_covered_byte : NULL,
  };
  if (text->opt >= 0)
    request.options.opt = text->opt;
  if (!text->device && request.options.coarsen == CG_COARSEN_LAUNCHED)
    request.options.coarsen = 1;
  if (text->target != CG_HOST)
    request.options.timed = 0;
  request.options.check &= ~RT_CHECK_OF_PROGRAM;
  if (text->target != CG_HOST && request.options.check) {
    request.options.check = 0;
    if (advise_unchecked(st, d->function, "PT817") < 0) {
      px_snapshot_free(snapshot);
      Py_DECREF(sig);
      return -1;
    }
  }
  PxCacheUse unused;
  int failed = text->key
                   ? !(*text->key = key_text(&request))
                   : px_compile_request(st, text->cache ? (PxCaching)d->caching : PX_CACHE_NEVER,
                                        &request, NULL, code, text->cache ? text->cache : &unused);
  if (!failed && !text->key)
    failed = compile_unfollowed(st, d, text, &request, code);
  if (!failed && text->owners)
    failed = !(*text->owners = px_snapshot_owners(snapshot));
  if (!failed && text->declared)
    failed = !(*text->declared = px_snapshot_declared(snapshot));
  if (!failed && text->exceptions)
    *text->exceptions = px_snapshot_exceptions(snapshot);
  if (!failed && text->captures)
    px_snapshot_captures(snapshot, text->captures);
  px_snapshot_free(snapshot);
  Py_DECREF(sig);
  return failed ? -1 : 0;
}

/* Errors at run time name the kernel as Python does; a name that is no text leaves the symbol. */
static int call_it(PxState *st, PxOverload *o, PyObject *function) {
  PyObject *name = PyObject_GetAttrString(function, "__qualname__");
  const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
  RtStatus status = text ? rt_kernel_call_it(o->kernel, text) : RT_OK;
  Py_XDECREF(name);
  PyErr_Clear();
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}

static PxOverload *overload_new(PxState *st, PxDispatcher *d, const PxSignature *signature,
                                RtDevice *device) {
  PxOverload *o = PyObject_GC_New(PxOverload, st->overload_type);
  if (!o)
    return NULL;
  memset((char *)o + sizeof(PyObject), 0, sizeof *o - sizeof(PyObject));
  o->device = device;
  o->waits = d->options.debug && d->options.numba_typing;
  o->scope = Py_XNewRef(PyFunction_GetGlobals(d->function));
  PyObject_GC_Track(o);
  o->signature.tokens = PyMem_Malloc(sizeof(PxToken) * (signature->n + 1));
  if (!o->signature.tokens) {
    PyErr_NoMemory();
    Py_DECREF(o);
    return NULL;
  }
  if (signature->n)
    memcpy(o->signature.tokens, signature->tokens, sizeof(PxToken) * signature->n);
  o->signature.n = signature->n;
  o->signature.nargs = signature->nargs;
  o->text = px_signature_text(st, signature->tokens, signature->n);
  o->types = o->text ? px_signature_types(st, signature->tokens, signature->n) : NULL;
  if (!o->types)
    Py_CLEAR(o);
  return o;
}

/* PYPTX_ADVICE=port: what is compiled is compared with what Numba would make of it. */
static int compare_typings(PxDispatcher *d, PxOverload *o) {
  const char *mode = getenv("PYPTX_ADVICE");
  if (!mode || strcmp(mode, "port"))
    return 0;
  PyObject *port = PyImport_ImportModule("pyptx._port");
  PyObject *done = port ? PyObject_CallMethod(port, "used", "OO", d, o->text) : NULL;
  Py_XDECREF(port);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/* The code's guards, of which the first PX_GUARDS count. */
static void set_guards(PxOverload *o) {
  const CgKernel *code = o->code;
  for (uint32_t k = 0; k < code->nguards && o->nguards < PX_GUARDS; k++) {
    const RtField *f = &code->params.fields[code->guards[k].field];
    if ((f->size == 4 || f->size == 8) && f->offset <= UINT16_MAX)
      o->guards[o->nguards++] = (PxGuard){
          .offset = (uint16_t)f->offset, .wide = f->size == 8, .axis = code->guards[k].axis};
  }
}

PxOverload *px_overload_compile(PxState *st, PxDispatcher *d, const PxSignature *signature,
                                RtDevice *device) {
  char arch[16];
  PxTextRequest text = px_text_request(device, arch);
  PxOverload *o = overload_new(st, d, signature, device);
  if (!o)
    return NULL;
  PyObject *declared = NULL;
  text.owners = &o->owners;
  text.cache = &o->cache;
  text.captures = &o->captures;
  text.declared = &declared;
  text.exceptions = &o->exceptions;
  text.apart = true;
  if (px_compile_text(st, d, signature, &text, &o->code) < 0 ||
      px_show_advice(st, o->code, d->function) < 0 || compare_typings(d, o) < 0 ||
      px_entries_open(st, d, o, declared) < 0 || call_it(st, o, d->function) < 0)
    Py_CLEAR(o);
  if (o)
    set_guards(o);
  Py_XDECREF(declared);
  assert(!o || (o->code && o->kernel && o->owners));
  PX_FAILED_IS_RAISED(!o);
  return o;
}

/* --- the object --- */

static void overload_dealloc(PyObject *op) {
  PxOverload *o = (PxOverload *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  assert(!o->pending); /* the list has a reference of its own */
  px_clear_weakrefs(op, o->weakrefs);
  if (o->kernel)
    rt_kernel_release(o->kernel);
  px_entries_free(o);
  if (o->code)
    cg_kernel_free(o->code);
  px_signature_clear(&o->signature);
  Py_CLEAR(o->text);
  Py_CLEAR(o->types);
  Py_CLEAR(o->scope);
  Py_CLEAR(o->exceptions);
  Py_CLEAR(o->owners);
  px_captures_clear(&o->captures);
  type->tp_free(op);
  Py_DECREF(type);
}

static int overload_traverse(PyObject *op, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(((PxOverload *)op)->types);
  Py_VISIT(((PxOverload *)op)->scope);
  Py_VISIT(((PxOverload *)op)->exceptions);
  Py_VISIT(((PxOverload *)op)->owners);
  return px_captures_visit(&((PxOverload *)op)->captures, visit, arg);
}

static int overload_clear(PyObject *op) {
  Py_CLEAR(((PxOverload *)op)->scope);
  Py_CLEAR(((PxOverload *)op)->exceptions);
  px_captures_clear(&((PxOverload *)op)->captures);
  return 0;
}

static PyObject *overload_repr(PyObject *op) {
  PxOverload *o = (PxOverload *)op;
  return PyUnicode_FromFormat("<pyptx kernel %s%U for '%s'>", o->code->symbol, o->text,
                              rt_device_name(o->device));
}

static PyObject *get_types(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxOverload *)op)->types);
}
static PyObject *get_text(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxOverload *)op)->text);
}
static PyObject *get_owners(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxOverload *)op)->owners);
}
static PyObject *get_cache(PyObject *op, void *Py_UNUSED(c)) {
  static const char *const uses[] = {
      [PX_CACHE_UNUSED] = NULL, [PX_CACHE_HIT] = "hit", [PX_CACHE_MISS] = "miss"};
  return Py_BuildValue("z", uses[((PxOverload *)op)->cache]);
}
static PyObject *get_symbol(PyObject *op, void *Py_UNUSED(c)) {
  return PyUnicode_FromString(((PxOverload *)op)->code->symbol);
}
static PyObject *get_device(PyObject *op, void *Py_UNUSED(c)) {
  return px_device_object(px_state_of(op), ((PxOverload *)op)->device);
}

static PyObject *get_ptx(PyObject *op, void *Py_UNUSED(c)) {
  const CgKernel *c = ((PxOverload *)op)->code;
  if (!c->ptx)
    Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(c->ptx, (Py_ssize_t)strlen(c->ptx), "replace");
}

static PyObject *get_coarse_ptx(PyObject *op, void *Py_UNUSED(c)) {
  const char *ptx;
  if (px_entry_coarse_ptx(px_state_of(op), (PxOverload *)op, &ptx) < 0)
    return NULL;
  return ptx ? PyUnicode_DecodeUTF8(ptx, (Py_ssize_t)strlen(ptx), "replace") : Py_NewRef(Py_None);
}

static PyObject *get_cooperative(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong(rt_kernel_is_cooperative(((PxOverload *)op)->kernel));
}

static PyObject *get_info(PyObject *op, void *which) {
  if (px_entry_own(px_state_of(op), (PxOverload *)op) < 0)
    return NULL;
  const RtKernelInfo *info = rt_kernel_info(((PxOverload *)op)->kernel);
  uint32_t v;
  memcpy(&v, (const char *)info + (uintptr_t)which, sizeof v);
  return PyLong_FromUnsignedLong(v);
}

static PyObject *get_coarsening(PyObject *op, void *Py_UNUSED(c)) {
  return Py_BuildValue("z", ((PxOverload *)op)->code->coarsening);
}

static PyObject *get_timings(PyObject *op, void *Py_UNUSED(c)) {
  const CgKernel *c = ((PxOverload *)op)->code;
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < c->ntimings; i++) {
    PyObject *pair = Py_BuildValue("(sd)", c->timings[i].pass, c->timings[i].ms);
    if (!pair || PyList_Append(list, pair) < 0)
      Py_CLEAR(list);
    Py_XDECREF(pair);
  }
  return list;
}

static int check_dynamic(Py_ssize_t bytes) {
  if (bytes >= 0 && bytes <= INT32_MAX)
    return 0;
  PyErr_Format(PyExc_ValueError, "the dynamic shared memory is %zd bytes: that is not possible",
               bytes);
  return -1;
}

static PyObject *max_cooperative_grid_blocks(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"blockdim", "dynsmemsize", NULL};
  PxOverload *o = (PxOverload *)op;
  PyObject *dim;
  Py_ssize_t shared = 0;
  uint32_t block[3], blocks = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:max_cooperative_grid_blocks", names, &dim,
                                   &shared) ||
      px_read_dims("blockdim", dim, block) < 0)
    return NULL;
  if (check_dynamic(shared) < 0)
    return NULL;
  uint64_t threads = (uint64_t)block[0] * block[1];
  threads = threads > UINT32_MAX ? UINT32_MAX : threads * block[2];
  if (px_entry_own(px_state_of(op), o) < 0)
    return NULL;
  PX_TRY_STATUS(px_state_of(op),
                rt_kernel_grid_blocks(o->kernel, threads, (uint32_t)shared, &blocks), return NULL);
  return PyLong_FromUnsignedLong(blocks);
}

static PyObject *max_active_clusters(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"cluster", "blockdim", "dynsmemsize", NULL};
  PxOverload *o = (PxOverload *)op;
  PyObject *cluster, *dim;
  Py_ssize_t shared = 0;
  uint32_t clusters = 0;
  RtConfig c = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|n:max_active_clusters", names, &cluster, &dim,
                                   &shared) ||
      px_read_dims("cluster", cluster, c.cluster) < 0 || px_read_dims("blockdim", dim, c.block) < 0)
    return NULL;
  if (check_dynamic(shared) < 0)
    return NULL;
  c.dynamic_shared = (uint32_t)shared;
  memcpy(c.grid, c.cluster, sizeof c.grid);
  if (px_entry_own(px_state_of(op), o) < 0)
    return NULL;
  PX_TRY_STATUS(px_state_of(op), rt_kernel_clusters(o->kernel, &c, &clusters), return NULL);
  return PyLong_FromUnsignedLong(clusters);
}

static PyMethodDef overload_methods[] = {
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"max_cooperative_grid_blocks", PX_KEYWORDS(max_cooperative_grid_blocks),
     METH_VARARGS | METH_KEYWORDS,
     "max_cooperative_grid_blocks($self, /, blockdim, dynsmemsize=0)\n--\n\n"
     "Most blocks of blockdim threads (an int or a tuple) and dynsmemsize bytes of dynamic shared memory\n"
     "that the device can hold at once: as many as the grid of a kernel that synchronises it can have."},
    {"max_active_clusters", PX_KEYWORDS(max_active_clusters), METH_VARARGS | METH_KEYWORDS,
     "max_active_clusters($self, /, cluster, blockdim, dynsmemsize=0)\n--\n\n"
     "Most clusters of so many blocks (cluster: an int or a tuple), each of blockdim threads (likewise)\n"
     "and dynsmemsize bytes of dynamic shared memory, that the device runs at once. A kernel whose\n"
     "clusters stay, and take one piece of work after the other, is launched with so many: fewer leave\n"
     "multiprocessors idle, and more begin when the others have ended. A cluster lies in one part of\n"
     "the GPU, so that it is less than the blocks of max_cooperative_grid_blocks. The host device runs\n"
     "one on each of its threads.\n\n"
     "ValueError: the device has no clusters, or none of so many blocks."},
    {0},
};

static PyGetSetDef overload_getset[] = {
    {"signature", get_types, NULL, "Types of the arguments.", NULL},
    {"signature_text", get_text, NULL, "Types of the arguments as text.", NULL},
    {"frozen_arrays", get_owners, NULL,
     "Device arrays among the kernel's globals and closure values: its code holds their addresses, and the kernel keeps them alive.",
     NULL},
    {"cache", get_cache, NULL,
     "How the disk cache served it: 'hit', 'miss' (compiled, and kept), or None if it was not asked.",
     NULL},
    {"symbol", get_symbol, NULL, "Name of the kernel in its module.", NULL},
    {"device", get_device, NULL, "The device it was compiled for.", NULL},
    {"ptx", get_ptx, NULL, "The PTX text of the kernel's own entry; None on the host device.",
     NULL},
    {"coarse_ptx", get_coarse_ptx, NULL,
     "The PTX text of the entry that large launches take (see coarsening), which is compiled now if none has wanted it yet; None if there is none.",
     NULL},
    {"coarsening", get_coarsening, NULL,
     "How many blocks of a large launch one block runs, or why it is one: '4 neighbouring blocks along x', 'not coarsened: switched off'; None on the host device.",
     NULL},
    {"timings", get_timings, NULL, "[(pass, milliseconds)] of its compilation.", NULL},
    {"cooperative", get_cooperative, NULL,
     "Does it synchronise its grid, all blocks of which must be on the device at once.", NULL},
    {"regs_per_thread", get_info, NULL, "Registers of a thread; 0 on the host device.",
     (void *)offsetof(RtKernelInfo, registers)},
    {"shared_mem_per_block", get_info, NULL, "Bytes of static shared memory of a block.",
     (void *)offsetof(RtKernelInfo, static_shared)},
    {"const_mem_size", get_info, NULL,
     "Bytes of constant memory: of the arrays that cuda.const.array_like, or a global, puts there.",
     (void *)offsetof(RtKernelInfo, constant)},
    {"local_mem_per_thread", get_info, NULL, "Bytes of local memory of a thread.",
     (void *)offsetof(RtKernelInfo, local)},
    {"max_threads_per_block", get_info, NULL, "Most threads that a block of this kernel can have.",
     (void *)offsetof(RtKernelInfo, max_threads)},
    {0},
};

static PyMemberDef overload_members[] = {PX_WEAKREFS(PxOverload), {0}};

static PyType_Slot overload_slots[] = {
    {Py_tp_members, overload_members},
    {Py_tp_doc, "A kernel compiled for one signature and device."},
    {Py_tp_dealloc, overload_dealloc},
    {Py_tp_traverse, overload_traverse},
    {Py_tp_clear, overload_clear},
    {Py_tp_repr, overload_repr},
    {Py_tp_getset, overload_getset},
    {Py_tp_methods, overload_methods},
    {0, NULL},
};

PyType_Spec px_overload_spec = {
    .name = "pyptx._pyptx.CompiledKernel",
    .basicsize = sizeof(PxOverload),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = overload_slots,
};
