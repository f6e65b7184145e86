/* Arguments: see arguments.h. The messages are CPython's. */
#include "pyext/launch/arguments.h"

#include <string.h>

static int too_many(const PxSpec *spec, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s() takes at most %u argument%s (%zd given)", spec->function,
               spec->all, spec->all == 1 ? "" : "s", given);
  return -1;
}

static int put(const PxSpec *spec, PyObject *name, PyObject *value, PyObject **out) {
  for (unsigned i = 0; i < spec->all; i++) {
    if (PyUnicode_CompareWithASCIIString(name, spec->names[i]) != 0)
      continue;
    if (out[i]) {
      PyErr_Format(PyExc_TypeError, "argument for %s() given by name ('%U') and position (%u)",
                   spec->function, name, i + 1);
      return -1;
    }
    out[i] = value;
    return 0;
  }
  PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", spec->function,
               name);
  return -1;
}

int px_arguments(const PxSpec *spec, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames,
                 PyObject **out) {
  Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  if (n + nkw > (Py_ssize_t)spec->all)
    return too_many(spec, n + nkw);
  for (Py_ssize_t i = 0; i < (Py_ssize_t)spec->all; i++)
    out[i] = i < n ? argv[i] : NULL;
  for (Py_ssize_t k = 0; k < nkw; k++)
    if (put(spec, PyTuple_GET_ITEM(kwnames, k), argv[n + k], out) < 0)
      return -1;
  for (unsigned i = 0; i < spec->required; i++)
    if (!out[i]) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %u)", spec->function,
                   spec->names[i], i + 1);
      return -1;
    }
  return 0;
}
