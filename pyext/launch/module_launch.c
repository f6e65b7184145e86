/* Module launch: see module_launch.h.
 *
 * In: a parameter block with its numbers filled in, by pyptx/cuda/_module.py, which checks and
 * converts them, and the arrays whose addresses, extents and strides belong in it. Arrays of other
 * libraries and NumPy's take the way that they take in other launches: typeof.c reads them,
 * stream_order.c orders the launch, and what was copied for it is copied back. */
#include "pyext/launch/module_launch.h"

#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/launch/dims.h"
#include "pyext/launch/launcher.h"
#include "pyext/launch/typeof.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"

#define MODULE "pyptx.module"
#define KERNEL "pyptx.module_kernel"

typedef struct PxModuleKernel {
  PyObject *module; /* the capsule, which outlives it */
  RtDevice *device;
  RtKernel *kernel;
  RtParams params; /* the fields that arrays fill, and the runtime's; bytes: the whole block */
} PxModuleKernel;

/* --- modules --- */

static void module_free(PyObject *capsule) {
  rt_module_release(PyCapsule_GetPointer(capsule, MODULE));
}

static int read_links(PyObject *list, RtLinkInput *inputs) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "isy#", &inputs[i].kind, &inputs[i].name,
                          &inputs[i].data, &bytes))
      return -1;
    inputs[i].bytes = (size_t)bytes + (inputs[i].kind == RT_LINK_PTX); /* with the 0 behind it */
  }
  return 0;
}

static PyObject *module_open(PyObject *self, PyObject *args) {
  PxState *st = px_state_of_module(self);
  const char *name, *image;
  Py_ssize_t size;
  PyObject *links;
  if (!PyArg_ParseTuple(args, "sy#O!:_module_open", &name, &image, &size, &PyList_Type, &links))
    return NULL;
  RtDevice *device = px_current_device(st);
  RtLinkInput *inputs = PyMem_Calloc((size_t)PyList_GET_SIZE(links) + 1, sizeof *inputs);
  if (!device || !inputs || read_links(links, inputs) < 0) {
    PyMem_Free(inputs);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  RtLinked with = {inputs, (unsigned)PyList_GET_SIZE(links)};
  RtModule *m = NULL;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_module_open(device, name, image, (size_t)size, &with, &m);
  Py_END_ALLOW_THREADS
  PyMem_Free(inputs);
  PX_TRY_STATUS(st, status, return NULL);
  PyObject *capsule = PyCapsule_New(m, MODULE, module_free);
  if (!capsule)
    rt_module_release(m);
  return capsule;
}

static PyObject *module_global(PyObject *self, PyObject *args) {
  PyObject *capsule;
  const char *name;
  if (!PyArg_ParseTuple(args, "Os:_module_global", &capsule, &name))
    return NULL;
  RtModule *m = PyCapsule_GetPointer(capsule, MODULE);
  uint64_t address = 0;
  size_t bytes = 0;
  if (!m)
    return NULL;
  PX_TRY_STATUS(px_state_of_module(self), rt_module_global(m, name, &address, &bytes), return NULL);
  return Py_BuildValue("(Kn)", (unsigned long long)address, (Py_ssize_t)bytes);
}

/* --- kernels --- */

static void kernel_free(PxModuleKernel *k) {
  rt_kernel_release(k->kernel);
  PyMem_Free(k->params.fields);
  Py_XDECREF(k->module);
  PyMem_Free(k);
}

static void kernel_capsule_free(PyObject *capsule) {
  kernel_free(PyCapsule_GetPointer(capsule, KERNEL));
}

/* [(kind, axis, array, offset)]: kinds as in runtime/abi.def. */
static int read_fields(PyObject *list, RtParams *p) {
  static const struct {
    const char *name;
    uint8_t size;
  } kinds[] = {
#define FIELD(ID, size, align, doc) {#ID, size},
#include "runtime/abi.def"
#undef FIELD
  };
  p->nfields = (uint32_t)PyList_GET_SIZE(list);
  p->fields = PyMem_Calloc(p->nfields + 1, sizeof *p->fields);
  if (!p->fields)
    return PyErr_NoMemory(), -1;
  for (uint32_t i = 0; i < p->nfields; i++) {
    const char *kind;
    unsigned char axis;
    unsigned short leaf;
    unsigned offset;
    size_t k = 0, n = sizeof kinds / sizeof *kinds;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sbHI", &kind, &axis, &leaf, &offset))
      return -1;
    while (k < n && strcmp(kinds[k].name, kind) != 0)
      k++;
    if (k == n || !kinds[k].size || axis >= TY_MAX_NDIM ||
        (uint64_t)offset + kinds[k].size > p->bytes ||
        (i && offset < p->fields[i - 1].offset + p->fields[i - 1].size)) {
      PyErr_Format(PyExc_ValueError, "the parameter block has no field %s at %u", kind, offset);
      return -1;
    }
    p->fields[i] = (RtField){
        .kind = (uint8_t)k, .size = kinds[k].size, .axis = axis, .leaf = leaf, .offset = offset};
  }
  return 0;
}

static bool has_field(const RtParams *p, RtFieldKind kind) {
  for (uint32_t i = 0; i < p->nfields; i++)
    if (p->fields[i].kind == kind)
      return true;
  return false;
}

static PyObject *module_kernel(PyObject *self, PyObject *args) {
  PxState *st = px_state_of_module(self);
  PyObject *capsule, *fields;
  const char *symbol;
  PxModuleKernel *k = PyMem_Calloc(1, sizeof *k);
  if (!k)
    return PyErr_NoMemory();
  if (!PyArg_ParseTuple(args, "OsIO!:_module_kernel", &capsule, &symbol, &k->params.bytes,
                        &PyList_Type, &fields) ||
      read_fields(fields, &k->params) < 0)
    return kernel_free(k), NULL;
  RtModule *m = PyCapsule_GetPointer(capsule, MODULE);
  k->device = m ? px_current_device(st) : NULL;
  if (!k->device)
    return kernel_free(k), NULL;
  k->module = Py_NewRef(capsule);
  RtStatus status = rt_module_kernel(m, symbol, &k->params, has_field(&k->params, RT_FIELD_TRAP),
                                     &k->kernel);
  k->device = k->kernel ? rt_module_device(m) : k->device;
  PX_TRY_STATUS(st, status, return (kernel_free(k), NULL));
  PyObject *made = PyCapsule_New(k, KERNEL, kernel_capsule_free);
  if (!made)
    kernel_free(k);
  return made;
}

/* [(offset, size)] of its parameters, as the driver knows them; empty if it does not. */
static PyObject *module_params(PyObject *self, PyObject *capsule) {
  PxModuleKernel *k = PyCapsule_GetPointer(capsule, KERNEL);
  PyObject *list = k ? PyList_New(0) : NULL;
  for (uint32_t i = 0; list; i++) {
    size_t offset, size;
    PX_TRY_STATUS(px_state_of_module(self), rt_kernel_param(k->kernel, i, &offset, &size),
                  return (Py_DECREF(list), NULL));
    if (!size)
      break;
    PyObject *item = Py_BuildValue("(nn)", (Py_ssize_t)offset, (Py_ssize_t)size);
    if (!item || PyList_Append(list, item) < 0)
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *module_facts(PyObject *Py_UNUSED(self), PyObject *capsule) {
  PxModuleKernel *k = PyCapsule_GetPointer(capsule, KERNEL);
  if (!k)
    return NULL;
  const RtKernelInfo *i = rt_kernel_info(k->kernel);
  return Py_BuildValue("{s:I,s:I,s:I,s:I,s:I}", "registers", i->registers, "static_shared",
                       i->static_shared, "constant", i->constant, "local", i->local, "max_threads",
                       i->max_threads);
}

/* --- launches --- */

/* What a thread left that stopped, as (site, block, thread, values); None. Waits for the launch. */
static PyObject *trap_of(PxState *st, const PxModuleKernel *k, RtStream *stream) {
  RtTrap trap;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_stream_synchronize(k->device, stream);
  if (status == RT_OK)
    status = rt_kernel_trap(k->kernel, &trap);
  Py_END_ALLOW_THREADS
  if (status == RT_TRAPPED)
    return Py_BuildValue("(I(III)(III)(LLLL))", trap.site, trap.block[0], trap.block[1],
                         trap.block[2], trap.thread[0], trap.thread[1], trap.thread[2],
                         (long long)trap.values[0], (long long)trap.values[1],
                         (long long)trap.values[2], (long long)trap.values[3]);
  PX_TRY_STATUS(st, status, return NULL);
  Py_RETURN_NONE;
}

/* 1: it became a node of a graph. */
static int queue(PxState *st, const PxModuleKernel *k, RtConfig *config, PxArgs *a, char *block) {
  bool follows = px_follows(&a->follow);
  RtTrap unused;
  RtStatus status;
  if (follows && px_follow_before(&a->follow) < 0)
    return -1;
  config->stream = follows ? a->follow.launch : config->stream;
  Py_BEGIN_ALLOW_THREADS
  status = rt_launch(k->kernel, config, block, &unused);
  Py_END_ALLOW_THREADS
  if (status == RT_NO_ENTRY) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the kernel's module is gone: the device was reset; make the Module again");
    return -1;
  }
  if (status == RT_CAPTURED)
    return 1;
  PX_TRY_STATUS(st, status, return -1);
  return follows ? px_follow_after(&a->follow) : 0;
}

/* Of NumPy's arrays those that the kernel may have written; nothing is known of most kernels. */
static int copy_back(PxArgs *a) {
  for (PxHeld *h = a->held; h; h = h->next)
    if (h->array && !h->readonly && px_copy_back(a, h) < 0)
      return -1;
  return 0;
}

static int add_arrays(PxArgs *a, const PxModuleKernel *k, PyObject *arrays) {
  Py_ssize_t n = PyTuple_GET_SIZE(arrays);
  for (Py_ssize_t i = 0; i < n; i++) {
    if (px_args_add(a, PyTuple_GET_ITEM(arrays, i)) < 0)
      return -1;
    if (a->nleaves != (uint32_t)i + 1 || !px_token_is_array(a->leaves[i].token)) {
      PyErr_Format(PyExc_TypeError, "%R is not one array", PyTuple_GET_ITEM(arrays, i));
      return -1;
    }
  }
  for (uint32_t i = 0; i < k->params.nfields; i++) {
    const RtField *f = &k->params.fields[i];
    bool ours = f->kind == RT_FIELD_TRAP || f->kind == RT_FIELD_GRID;
    if (!ours && (f->leaf >= a->nleaves || (f->kind != RT_FIELD_POINTER &&
                                            f->axis >= px_token_ndim(a->leaves[f->leaf].token)))) {
      PyErr_SetString(PyExc_ValueError, "an array of the launch has too few axes");
      return -1;
    }
  }
  return 0;
}

static int read_config(PxState *st, PyObject *key, RtConfig *config, PyObject **stream) {
  PyObject *grid, *block, *given;
  Py_ssize_t shared;
  *config = (RtConfig){.grid = {1, 1, 1}, .block = {1, 1, 1}};
  if (!PyArg_ParseTuple(key, "OOOn", &grid, &block, &given, &shared) ||
      px_read_dims("the grid", grid, config->grid) < 0 ||
      px_read_dims("the block", block, config->block) < 0)
    return -1;
  if (shared < 0 || shared > INT32_MAX) {
    PyErr_Format(PyExc_ValueError, "the dynamic shared memory is %zd bytes: that is not possible",
                 shared);
    return -1;
  }
  config->dynamic_shared = (uint32_t)shared;
  *stream = px_stream_argument(st, given);
  config->stream = *stream ? px_stream_of(*stream) : NULL;
  return *stream ? 0 : -1;
}

static PyObject *launch(PxState *st, PyObject *capsule, RtConfig *config, PyObject *stream,
                        PyObject *arrays, char *block) {
  const PxModuleKernel *k = PyCapsule_GetPointer(capsule, KERNEL);
  PxArgs a;
  px_args_init(&a, st, k->device, config->stream, false);
  int failed = add_arrays(&a, k, arrays);
  if (!failed) {
    failed = px_pack(st, &k->params, a.leaves, block);
    failed = failed ? failed : queue(st, k, config, &a, block);
  }
  if (failed > 0) {
    failed = px_captured_module_launch(capsule, arrays);
    px_args_clear(&a);
    return failed ? NULL : Py_NewRef(Py_None);
  }
  if (!failed)
    failed = copy_back(&a);
  PyObject *trap = failed                                 ? NULL
                   : has_field(&k->params, RT_FIELD_TRAP) ? trap_of(st, k, config->stream)
                                                          : Py_NewRef(Py_None);
  for (Py_ssize_t i = 0; trap && config->stream && i < PyTuple_GET_SIZE(arrays); i++)
    if (Py_IS_TYPE(PyTuple_GET_ITEM(arrays, i), st->array_type))
      px_array_used((PxArray *)PyTuple_GET_ITEM(arrays, i), stream);
  px_args_clear(&a);
  return trap;
}

static PyObject *module_launch(PyObject *self, PyObject *args) {
  PxState *st = px_state_of_module(self);
  PyObject *capsule, *key, *arrays, *stream = NULL;
  const char *block;
  Py_ssize_t bytes;
  if (!PyArg_ParseTuple(args, "OO!y#O!:_module_launch", &capsule, &PyTuple_Type, &key, &block,
                        &bytes, &PyTuple_Type, &arrays))
    return NULL;
  PxModuleKernel *k = PyCapsule_GetPointer(capsule, KERNEL);
  if (!k)
    return NULL;
  if (bytes != (Py_ssize_t)k->params.bytes)
    return PyErr_Format(PyExc_ValueError, "the parameter block has %u bytes, not %zd",
                        k->params.bytes, bytes);
  if (px_capturing() && has_field(&k->params, RT_FIELD_TRAP))
    return PyErr_Format(PyExc_RuntimeError,
                        "this kernel of a cuda.Module cannot be recorded in a graph: its threads "
                        "may stop with exceptions, which a launch waits for");
  RtConfig config;
  if (read_config(st, key, &config, &stream) < 0)
    return NULL;
  char *copy = PyMem_Malloc((size_t)bytes + 16);
  PyObject *result = NULL;
  if (copy) {
    memcpy(copy, block, (size_t)bytes);
    result = launch(st, capsule, &config, stream, arrays, copy);
  } else {
    PyErr_NoMemory();
  }
  PyMem_Free(copy);
  Py_DECREF(stream);
  return result;
}

PyMethodDef px_module_functions[] = {
    {"_module_open", module_open, METH_VARARGS, NULL},
    {"_module_global", module_global, METH_VARARGS, NULL},
    {"_module_kernel", module_kernel, METH_VARARGS, NULL},
    {"_module_params", module_params, METH_O, NULL},
    {"_module_facts", module_facts, METH_O, NULL},
    {"_module_launch", module_launch, METH_VARARGS, NULL},
    {0},
};
