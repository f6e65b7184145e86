/* Module: _pyptx, the C half of the package. Multi-phase initialisation, one PxState, heap types
 * only.
 *
 * Import does nothing that takes time: no NumPy, no CUDA driver, no LLVM, no opcode table. Each is
 * opened at its first use. */
#include <stdatomic.h>

#include "pyext/array/dlpack_export.h"
#include "pyext/array/foreign_types.h"
#include "pyext/compile/coverage.h"
#include "pyext/compile/intrinsic.h"
#include "pyext/compile/offline.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/record.h"
#include "pyext/compile/spills.h"
#include "pyext/launch/checking.h"
#include "pyext/launch/module_launch.h"
#include "pyext/launch/prints.h"
#include "pyext/launch/timeouts.h"
#include "pyext/launch/traps.h"
#include "pyext/objects/graph.h"
#include "pyext/snapshot/snapshot.h"
#include "pyext/state.h"

#include "codegen/compile.h"
#include "runtime/host/host.h"

static int make_types(PyObject *module, PxState *st) {
#define X(field, spec)                                                                             \
  st->field##_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);                \
  if (!st->field##_type || PyModule_AddType(module, st->field##_type) < 0)                         \
    return -1;
  PX_TYPES(X)
#undef X
  return 0;
}

static int make_names(PxState *st) {
#define X(n)                                                                                       \
  if (!(st->name.n = PyUnicode_InternFromString(#n)))                                              \
    return -1;
  PX_NAMES(X)
#undef X
  return 0;
}

/* Once a process: Python calls cg_shut after its last code, before C's exit handlers, which destroy
 * LLVM's objects. */
static int wait_for_compilations_at_exit(void) {
  static atomic_flag registered = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&registered) || Py_AtExit(cg_shut) == 0)
    return 0;
  atomic_flag_clear(&registered);
  PyErr_SetString(PyExc_ImportError,
                  "pyptx needs one of Python's 32 exit functions (Py_AtExit), and all are taken");
  return -1;
}

static int module_exec(PyObject *module) {
  PxState *st = px_state_of_module(module);
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "pyptx does not support subinterpreters: import it in the main interpreter, "
                    "or use threads or processes");
    return -1;
  }
  st->module = module;
  rt_host_ask(px_prints_ask);
  if (wait_for_compilations_at_exit() < 0)
    return -1;
  if (make_names(st) < 0 || make_types(module, st) < 0 || px_add_exchange(st->array_type) < 0)
    return -1;
  if (!(st->devices = PyDict_New()) || !(st->scalar_ids = PyDict_New()) ||
      !(st->record_ids = PyDict_New()) || !(st->class_dtypes = PyDict_New()) ||
      !(st->named = PyList_New(0)) || !(st->enums = PyList_New(0)) ||
      !(st->enum_ids = PyDict_New()) || !(st->named_ids = PyDict_New()))
    return -1;
  PyMethodDef *const tables[] = {px_device_functions,  px_stream_functions, px_graph_functions,
                                 px_array_functions,   px_memory_functions, px_operand_functions,
                                 px_type_functions,    px_cache_functions,  px_option_functions,
                                 px_warning_functions, px_module_functions, px_checking_functions,
                                 px_coverage_functions};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (PyModule_AddFunctions(module, tables[i]) < 0)
      return -1;
  if (PyModule_AddStringConstant(module, "__version__", PYPTX_VERSION) < 0)
    return -1;
  return px_add_intrinsics(st, module);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
  PxState *st = px_state_of_module(module);
#define X(field, spec) Py_VISIT(st->field##_type);
  PX_TYPES(X)
#undef X
  Py_VISIT(st->errors);
  Py_VISIT(st->numpy);
  Py_VISIT(st->np_ndarray);
  Py_VISIT(st->np_generic);
  Py_VISIT(st->np_dtype);
  Py_VISIT(st->scalar_ids);
  Py_VISIT(st->record_ids);
  Py_VISIT(st->class_dtypes);
  Py_VISIT(st->named);
  Py_VISIT(st->named_ids);
  Py_VISIT(st->enum_ids);
  for (PxOverload *o = st->pending; o; o = o->next_pending)
    Py_VISIT(o);
  Py_VISIT(st->devices);
  Py_VISIT(st->cache_problems);
  Py_VISIT(st->allocator);
  Py_VISIT(st->operations);
  return 0;
}

static int module_clear(PyObject *module) {
  PxState *st = px_state_of_module(module);
#define X(field, spec) Py_CLEAR(st->field##_type);
  PX_TYPES(X)
#undef X
#define X(n) Py_CLEAR(st->name.n);
  PX_NAMES(X)
#undef X
  Py_CLEAR(st->errors);
  Py_CLEAR(st->numpy);
  Py_CLEAR(st->np_ndarray);
  Py_CLEAR(st->np_generic);
  Py_CLEAR(st->np_dtype);
  for (int i = 0; i < TY_SCALARS; i++)
    Py_CLEAR(st->dtypes[i]);
  Py_CLEAR(st->scalar_ids);
  Py_CLEAR(st->record_ids);
  Py_CLEAR(st->class_dtypes);
  px_records_free(st);
  Py_CLEAR(st->named);
  Py_CLEAR(st->named_ids);
  Py_CLEAR(st->enums);
  Py_CLEAR(st->enum_ids);
  px_forget_pending(st);
  px_forget_timed(st);
  Py_CLEAR(st->devices);
  Py_CLEAR(st->cache_problems);
  Py_CLEAR(st->allocator);
  Py_CLEAR(st->operations);
  px_sources_free(st);
  return 0;
}

static void module_free(void *module) {
  PxState *st = px_state_of_module(module);
  if (!st)
    return;
  module_clear(module);
  if (st->ops)
    bc_optable_free(st->ops);
  st->ops = NULL;
  PyMem_Free(st->why_host);
  st->why_host = NULL;
  px_snapshot_free(st->complex_library);
  st->complex_library = NULL;
}

int px_need_numpy(PxState *st) {
  if (PX_PUBLISHED(st->np_dtype))
    return 0;
  PyObject *numpy = PyImport_ImportModule("numpy");
  if (!numpy)
    return -1;
  PyObject *ndarray = PyObject_GetAttrString(numpy, "ndarray");
  PyObject *generic = PyObject_GetAttrString(numpy, "generic");
  PyObject *dtype = PyObject_GetAttrString(numpy, "dtype");
  if (!ndarray || !generic || !dtype) {
    Py_XDECREF(ndarray);
    Py_XDECREF(generic);
    Py_XDECREF(dtype);
    Py_DECREF(numpy);
    return -1;
  }
  PX_BEGIN_LOCKED(st->module)
  if (!st->np_dtype) {
    st->numpy = Py_NewRef(numpy);
    st->np_ndarray = Py_NewRef(ndarray);
    st->np_generic = Py_NewRef(generic);
    PX_PUBLISH(st->np_dtype, Py_NewRef(dtype)); /* last: it is what readers test */
  }
  PX_END_LOCKED()
  Py_DECREF(ndarray);
  Py_DECREF(generic);
  Py_DECREF(dtype);
  Py_DECREF(numpy);
  return 0;
}

bool px_have_numpy(PxState *st) {
  if (PX_PUBLISHED(st->np_dtype))
    return true;
  PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
  PyObject *numpy = PyDict_GetItemString(modules, "numpy");
  if (!numpy || !PyObject_HasAttrString(numpy, "dtype")) /* absent, or half imported */
    return false;
  if (px_need_numpy(st) < 0) {
    PyErr_Clear();
    return false;
  }
  return true;
}

/* --- pickling --- */

PyObject *px_call_pickle(const char *name, PyObject *object) {
  PyObject *module = PyImport_ImportModule("pyptx._pickle");
  PyObject *result = module ? px_call_method(module, name, object) : NULL;
  Py_XDECREF(module);
  return result;
}

PyObject *px_refuse_pickle(PyObject *self, PyObject *Py_UNUSED(unused)) {
  return PyErr_Format(
      PyExc_TypeError,
      "cannot pickle or copy %R: it belongs to this process; make one where it is used", self);
}

PyObject *px_html(PyObject *self, PyObject *Py_UNUSED(unused)) {
  PyObject *module = PyImport_ImportModule("pyptx._html");
  PyObject *result = module ? PyObject_CallMethod(module, "of", "Oi", self, px_capturing()) : NULL;
  Py_XDECREF(module);
  return result;
}

/* --- facts for `pyptx info` and `pyptx compile` --- */

static PyObject *facts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  char looked[2048] = "", ptxas[1024];
  const char *libdevice = cg_find_libdevice(looked, sizeof looked);
  int found = cg_find_ptxas(ptxas, sizeof ptxas) == 0;
  int driver = rt_driver_version();
  return Py_BuildValue("{s:s,s:s,s:z,s:s,s:z,s:i,s:i,s:z,s:I}", "llvm", cg_llvm_version(),
                       "host_cpu", cg_host_cpu(), "libdevice", libdevice, "libdevice_looked",
                       looked, "ptxas", found ? ptxas : NULL, "driver", driver, "driver_ptx",
                       rt_driver_ptx_version(), "driver_path", driver ? rt_driver_path() : NULL,
                       "host_threads", rt_host_threads());
}

static PyObject *ptx_versions(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  PyObject *list = PyList_New(0);
  for (const int *v = cg_ptx_versions(); list && *v; v++) {
    PyObject *version = PyLong_FromLong(*v);
    if (!version || PyList_Append(list, version) < 0)
      Py_CLEAR(list);
    Py_XDECREF(version);
  }
  return list;
}

static PyObject *arch_min_ptx(PyObject *Py_UNUSED(module), PyObject *arg) {
  const char *arch = px_c_text(arg);
  return arch ? PyLong_FromLong(cg_arch_min_ptx(arch)) : NULL;
}

static PyObject *passes(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  PyObject *list = PyList_New(0);
  CgPassFacts p;
  for (unsigned k = 0; list && cg_pass_facts(k, &p); k++) {
    PyObject *row = Py_BuildValue("(szisO)", p.name, p.within, p.opt, p.why,
                                  p.skippable ? Py_True : Py_False);
    if (!row || PyList_Append(list, row) < 0)
      Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *capturing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(px_capturing());
}

static PyMethodDef methods[] = {
    {"_facts", facts, METH_NOARGS,
     "What a bug report needs: versions and where things were found."},
    {"_intrinsic", px_find_intrinsic, METH_O,
     "The object of a path such as 'cuda.atomic.add': how they are unpickled."},
    {"_capturing", capturing, METH_NOARGS, "Is a graph being captured by this thread."},
    {"_compile", px_compile_offline, METH_VARARGS,
     "_compile(function, signature, target, arch, ptx_version, options, want): texts of one kernel, without a device (compile/offline.h)."},
    {"_assembled_advice", px_assembled_advice, METH_VARARGS,
     "_assembled_advice(code, ptx, local, registers, words, asked=False): the list of Advice about what the assembler made of a kernel."},
    {"_passes", passes, METH_NOARGS,
     "_passes(): (name, the pass that it is a part of or None, lowest opt, why, whether PYPTX_SKIP may leave it out) of every pass."},
    {"_ptx_versions", ptx_versions, METH_NOARGS,
     "_ptx_versions(): the PTX versions that are written, oldest first, as 83 for 8.3."},
    {"_arch_min_ptx", arch_min_ptx, METH_O,
     "Lowest PTX ISA of an architecture, as 10 * major + minor; 0 if it is unknown."},
    {0},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* per-object locks: compat.h */
#endif
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,         .m_name = "pyptx._pyptx", .m_doc = "The C half of pyptx.",
    .m_size = sizeof(PxState),     .m_methods = methods,     .m_slots = slots,
    .m_traverse = module_traverse, .m_clear = module_clear,  .m_free = module_free,
};

PyMODINIT_FUNC PyInit__pyptx(void);
PyMODINIT_FUNC PyInit__pyptx(void) { return PyModuleDef_Init(&module_def); }
