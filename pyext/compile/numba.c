/* Numba's objects: which they are is decided here; what stands for them, in pyptx/_numba.py. */
#include "pyext/compile/numba.h"

#include <string.h>

/* The name of the module that defines a function or class, or the class of any other object. New
 * reference or NULL. */
static PyObject *home_of(PxState *st, PyObject *object) {
  if (PyModule_Check(object))
    return PyModule_GetNameObject(object);
  if (PyFunction_Check(object))
    return Py_XNewRef(PyFunction_GetModule(object));
  PyTypeObject *class = PyType_Check(object) ? (PyTypeObject *)object : Py_TYPE(object);
  if (!PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE))
    return NULL;
  return px_getattr_optional((PyObject *)class, st->name.__module__);
}

static bool is_numbas(PxState *st, PyObject *object) {
  PyObject *home = home_of(st, object);
  const char *name = home && PyUnicode_Check(home) ? PyUnicode_AsUTF8(home) : NULL;
  bool found = name && !strncmp(name, "numba", 5) && (!name[5] || name[5] == '.');
  found |= name && !strcmp(name, "cffi.api"); /* ffi.from_buffer, which Numba's kernels may call */
  found |= name &&
           !strcmp(name, "pyptx._ufunc"); /* what @vectorize makes, which kernels may call */
  Py_XDECREF(home);
  PyErr_Clear();
  return found;
}

PyObject *px_own(PxState *st, PyObject *object) {
  if (!is_numbas(st, object))
    return Py_NewRef(object);
  PyObject *module = PyImport_ImportModule("pyptx._numba");
  PyObject *own = module ? PyObject_GetAttrString(module, "own") : NULL;
  PyObject *result = own ? PyObject_CallOneArg(own, object) : NULL;
  Py_XDECREF(own);
  Py_XDECREF(module);
  return result;
}
