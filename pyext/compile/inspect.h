/* Inspect: what a dispatcher tells about its compiled kernels: the methods inspect_*, get_* and
 * resources. */
#ifndef PYPTX_PYEXT_COMPILE_INSPECT_H
#define PYPTX_PYEXT_COMPILE_INSPECT_H

#include "pyext/state.h"

PyObject *px_inspect_asm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_llvm(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_ssa(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_types(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_advice(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_inspect_sass(PyObject *self, PyObject *args, PyObject *kwargs);
#define PX_RESOURCES_DOC                                                                             \
  "resources($self, /, signature=None, arch=None)\n--\n\n"                                           \
  "What a kernel takes, and the assembler's own words: a dict, or a dict of them by signature.\n\n"  \
  "{\"registers\", \"static_shared\", \"constant\", \"local\", \"spill_stores\", \"spill_loads\",\n" \
  "\"max_threads\", \"advice\", \"log\"}: registers of a thread; bytes of a block's static shared\n" \
  "memory, of constant memory, of a thread's local memory and of what is stored to it and\n"         \
  "loaded because the registers do not suffice; the most threads of a block; a list of\n"            \
  "pyptx.Advice of what the assembler says, with the line in Python; all that it says, as\n"         \
  "text. Of the current device by its driver, which does not know the spills (None) and says\n"      \
  "nothing of code that it has kept from an earlier process; zeros on the host device. arch:\n"      \
  "\"sm_90\" or \"H100\", which need not be there: by ptxas (pip install nvidia-cuda-nvcc),\n"       \
  "which does not know max_threads.\n\n"                                                             \
  "Example:\n\n"                                                                                     \
  "    for signature, found in add.resources().items():\n"                                           \
  "        print(found[\"registers\"], found[\"local\"], *found[\"advice\"])"
PyObject *px_resources(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_report(PyObject *self, PyObject *args, PyObject *kwargs);
/* dict: types of the arguments → compiled kernel; its keys */
PyObject *px_get_overloads(PyObject *op, void *closure);
PyObject *px_get_signatures(PyObject *op, void *closure);
PyObject *px_get_regs(PyObject *self, PyObject *args);
PyObject *px_get_shared(PyObject *self, PyObject *args);
PyObject *px_get_const(PyObject *self, PyObject *args);
PyObject *px_get_local(PyObject *self, PyObject *args);
PyObject *px_get_max_threads(PyObject *self, PyObject *args);

#endif
