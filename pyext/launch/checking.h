/* Checking: launches that are not simply the kernel's: within cuda.checking, which run a checked
 * variant of it, and those of PYPTX_DEVICE=python, which run it as Python. */
#ifndef PYPTX_PYEXT_LAUNCH_CHECKING_H
#define PYPTX_PYEXT_LAUNCH_CHECKING_H

#include <stdatomic.h>

#include "pyext/state.h"

/* How many threads are in such a block, and one for PYPTX_DEVICE=python. */
extern _Atomic uint32_t px_checking_threads;
bool px_checking_here(void);
static inline bool px_is_checking(void) {
  return atomic_load_explicit(&px_checking_threads, memory_order_relaxed) && px_checking_here();
}
PyObject *px_launch_checked(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                            PyObject *kwnames);

/* PYPTX_DEVICE is python. */
void px_step_in_python(void);
/* launcher.bind(…) then. */
PyObject *px_bind_checked(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                          PyObject *kwnames);

/* kernel.py_run(…) */
PyObject *px_dispatcher_py_run(PyObject *self, PyObject *args, PyObject *kwargs);
#define PX_PY_RUN_DOC                                                                                        \
  "py_run($self, griddim, blockdim, /, *args, thread=None, block=None, sharedmem=0, **kwargs)\n"             \
  "--\n\n"                                                                                                   \
  "Runs the kernel's own Python function, thread by thread, on the CPU, whatever the device:\n"              \
  "breakpoint(), pdb and coverage.py work in it. grid, block and bytes of dynamic shared memory\n"           \
  "are as in a launch, the arguments too. breakpoint() stops in one thread only where thread=,\n"            \
  "an int or a tuple of up to three, says so, and in one block only where block= does.\n"                    \
  "Arrays of a GPU are copied to the host for the run, and back. It returns when all threads\n"              \
  "have ended; what one raises is raised, with its thread and block. SyncError: threads\n"                   \
  "that wait for one another for ever. NotImplementedError: a name that has no meaning in Python, such as\n" \
  "cuda.mma_sync.\n\n"                                                                                       \
  "Example:\n\n"                                                                                             \
  "    add.py_run(4, 256, d, d, e)"

extern PyMethodDef px_checking_functions[];

#endif
