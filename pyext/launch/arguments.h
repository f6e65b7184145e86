/* Arguments: those of a function that is called often, without the tuple and dict that
 * PyArg_ParseTupleAndKeywords wants. */
#ifndef PYPTX_PYEXT_LAUNCH_ARGUMENTS_H
#define PYPTX_PYEXT_LAUNCH_ARGUMENTS_H

#include "pyext/compat.h"

typedef struct PxSpec {
  const char *function;     /* for messages */
  const char *const *names; /* of the parameters, in order */
  unsigned required, all;
} PxSpec;

/* Of a METH_FASTCALL | METH_KEYWORDS call. out: one each parameter, borrowed; NULL where it is not
 * given. 0, or -1 with TypeError. */
int px_arguments(const PxSpec *spec, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames,
                 PyObject **out);

#endif
