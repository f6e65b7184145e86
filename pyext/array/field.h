/* Field: the fields of device arrays of structured dtypes. */
#ifndef PYPTX_PYEXT_ARRAY_FIELD_H
#define PYPTX_PYEXT_ARRAY_FIELD_H

#include "pyext/state.h"

bool px_array_has_fields(PyObject *self);
bool px_is_field_key(PyObject *key); /* a name or a list of names */
PyObject *px_array_get_field(PyObject *self, PyObject *key);
int px_array_set_field(PyObject *self, PyObject *key, PyObject *value);
PyObject *px_array_getattr(PyObject *self, PyObject *name);
int px_array_setattr(PyObject *self, PyObject *name, PyObject *value);

#endif
