/* Options: the fields of a dispatcher that are rows of codegen/options.def. */
#ifndef PYPTX_PYEXT_COMPILE_OPTIONS_H
#define PYPTX_PYEXT_COMPILE_OPTIONS_H

#include "pyext/compile/dispatcher.h"

/* Sets them to what a dict has of them, by name, or what they are unset. 0 or -1. */
int px_options_set(PxDispatcher *d, PyObject *fields);

#endif
