/* Progress: a line on standard error while something takes more than about a second
 * (pyptx/_progress.py). */
#ifndef PYPTX_PYEXT_OBJECTS_PROGRESS_H
#define PYPTX_PYEXT_OBJECTS_PROGRESS_H

#include "pyext/state.h"

/* Copies of fewer bytes take no second anywhere. */
enum { PX_PROGRESS_BYTES = 256 << 20 };

/* What begins now, as in PyUnicode_FromFormat. What px_progress_end wants; never an exception. */
PyObject *px_progress_begin(const char *format, ...);
void px_progress_end(PyObject *work);

#endif
