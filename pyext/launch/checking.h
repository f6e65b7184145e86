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
/* Do this thread's launches run as Python. */
bool px_runs_in_python(void);
/* launcher.bind(…) then. */
PyObject *px_bind_in_python(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                            PyObject *kwnames);

extern PyMethodDef px_checking_functions[];

#endif
