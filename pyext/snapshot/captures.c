/* Captures: see captures.h. What is done about a name that changed is launch/stale.c. */
#include "pyext/snapshot/captures.h"

#include <string.h>

#include "pyext/compile/dispatcher.h"

PyObject *px_function_of(PxState *st, PyObject *value) {
  if (!value || PyFunction_Check(value))
    return value;
  return Py_IS_TYPE(value, st->dispatcher_type) ? ((PxDispatcher *)value)->function : NULL;
}

PyObject *px_captures_now(const PxCapture *c) {
  return PyCell_Check(c->scope) ? PyCell_GET(c->scope) : PyDict_GetItemWithError(c->scope, c->name);
}

/* A value, a class, or a function that was written in Python. */
static bool may_change(PxState *st, PyObject *value) {
  if (PyModule_Check(value) || PyCFunction_Check(value) || Py_IS_TYPE(value, st->intrinsic_type))
    return false;
  return strcmp(Py_TYPE(value)->tp_name, "numpy.ufunc") != 0;
}

int px_captures_add(PxState *st, PxCaptures *c, PyObject *scope, PyObject *name, PyObject *value) {
  if (!may_change(st, value))
    return 0;
  for (uint32_t k = 0; k < c->n; k++)
    if (c->items[k].scope == scope && c->items[k].name == name)
      return 0;
  if (c->n == c->cap) {
    uint32_t cap = c->cap ? 2 * c->cap : 4;
    PxCapture *grown = PyMem_Realloc(c->items, sizeof *grown * cap);
    if (!grown)
      return PyErr_NoMemory(), -1;
    c->items = grown;
    c->cap = cap;
  }
  PyObject *function = px_function_of(st, value);
  c->items[c->n++] = (PxCapture){
      .scope = Py_NewRef(scope),
      .name = Py_NewRef(name),
      .seen = Py_NewRef(value),
      .code = Py_XNewRef(function ? PyFunction_GetCode(function) : NULL),
      .was = Py_NewRef(value),
  };
  return 0;
}

int px_captures_visit(const PxCaptures *c, visitproc visit, void *arg) {
  for (uint32_t k = 0; k < c->n; k++) {
    Py_VISIT(c->items[k].scope);
    Py_VISIT(c->items[k].seen);
    Py_VISIT(c->items[k].code);
    Py_VISIT(c->items[k].was);
  }
  return 0;
}

void px_captures_clear(PxCaptures *c) {
  PxCapture *items = c->items;
  uint32_t n = c->n;
  c->items = NULL;
  c->n = c->cap = 0;
  for (uint32_t k = 0; k < n; k++) {
    Py_DECREF(items[k].scope);
    Py_DECREF(items[k].name);
    Py_XDECREF(items[k].seen);
    Py_XDECREF(items[k].code);
    Py_DECREF(items[k].was);
  }
  PyMem_Free(items);
}
