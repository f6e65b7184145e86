/* Wait: for a GPU, without the GIL, so that Ctrl-C is heard. */
#ifndef PYPTX_PYEXT_OBJECTS_WAIT_H
#define PYPTX_PYEXT_OBJECTS_WAIT_H

#include "pyext/state.h"

/* Asks whether the work is done; anything but RT_OK ends the wait, and is left for the driver's own
 * wait to report. */
typedef RtStatus (*PxQuery)(void *work, int *done);

/* Returns 0 when the work is done or cannot be asked for, -1 with what a signal's handler raised:
 * then the work goes on. In threads that Python's handlers do not run in it returns at once, and
 * the driver waits. */
int px_wait_heedful(PxQuery query, void *work);

/* Waits for a lock of pythread.h that another thread holds while it compiles this kernel (name, or
 * the symbol where that is NULL). 0, or -1 without the lock: with what a signal's handler raised,
 * or RuntimeError where Python is finalizing and has stopped that thread, which will never release
 * it. */
int px_wait_lock(PyThread_type_lock lock, PyObject *name, const char *symbol);

/* Lets Python's handlers of signals run. 1 if one raised. */
int px_ask_handlers(void);

#endif
