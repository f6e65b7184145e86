/* Fields of device arrays of structured dtype: d['x'], d.x, and the same of one record, an array
 * without axes.
 *
 * A field is a view of the same memory; a number of one record is copied to the host. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/field.h"
#include "pyext/array/index.h"
#include "pyext/array/make.h"

bool px_array_has_fields(PyObject *self) {
  PyObject *names = px_getattr_optional(((PxArray *)self)->dtype, px_state_of(self)->name.names);
  PyErr_Clear();
  Py_XDECREF(names);
  return names && names != Py_None;
}

/* The axes of a nested array follow the array's own. */
static PyObject *field_view(PyObject *self, PyObject *dtype, int64_t offset) {
  PxArray *a = (PxArray *)self;
  PxState *st = px_state_of(self);
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM], extents[TY_MAX_NDIM];
  int nested = 0;
  PyObject *sub = PyObject_GetAttrString(dtype, "subdtype"), *elem = NULL, *view = NULL;
  if (sub == Py_None)
    elem = Py_NewRef(dtype);
  else if (sub && PyTuple_Check(sub) && PyTuple_GET_SIZE(sub) == 2 &&
           (nested = px_shape_argument(PyTuple_GET_ITEM(sub, 1), extents)) >= 0)
    elem = Py_NewRef(PyTuple_GET_ITEM(sub, 0));
  PyObject *size = elem ? PyObject_GetAttr(elem, st->name.itemsize) : NULL;
  int64_t stride = size ? PyLong_AsLongLong(size) : -1;
  if (elem && a->ndim + (unsigned)nested > TY_MAX_NDIM) {
    PyErr_Format(PyExc_ValueError, "the field's array has more than %d axes", TY_MAX_NDIM);
  } else if (stride >= 0) {
    memcpy(shape, px_shape(a), sizeof *shape * a->ndim);
    memcpy(strides, px_strides(a), sizeof *strides * a->ndim);
    for (int k = nested; k-- > 0; stride *= extents[k]) {
      shape[a->ndim + (unsigned)k] = extents[k];
      strides[a->ndim + (unsigned)k] = stride;
    }
    view = px_array_view_of(self, offset, elem, a->ndim + (unsigned)nested, shape, strides);
  }
  Py_XDECREF(size);
  Py_XDECREF(elem);
  Py_XDECREF(sub);
  return view;
}

/* key: a name, or a list of names. NULL with KeyError or TypeError. */
static PyObject *field_of(PyObject *self, PyObject *key) {
  PxArray *a = (PxArray *)self;
  PyObject *view = NULL;
  if (!px_array_has_fields(self))
    return PyErr_Format(
        PyExc_TypeError,
        "a device array of %S has no fields: index it with ints, slices, ... and None", a->dtype);
  if (PyList_Check(key)) { /* a dtype of these fields at their offsets */
    PyObject *dtype = PyObject_GetItem(a->dtype, key);
    view = dtype ? field_view(self, dtype, 0) : NULL;
    Py_XDECREF(dtype);
    return view;
  }
  PyObject *fields = PyObject_GetAttrString(a->dtype, "fields");
  PyObject *entry = fields ? PyObject_GetItem(fields, key) : NULL;
  if (!entry && PyErr_ExceptionMatches(PyExc_KeyError)) {
    PyErr_Clear();
    PyObject *names = PyObject_GetAttr(a->dtype, px_state_of(self)->name.names);
    if (names)
      PyErr_Format(PyExc_KeyError, "no field %R: the device array has %S", key, names);
    Py_XDECREF(names);
  }
  if (entry && PyTuple_Check(entry) && PyTuple_GET_SIZE(entry) >= 2)
    view = field_view(self, PyTuple_GET_ITEM(entry, 0),
                      PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 1)));
  Py_XDECREF(entry);
  Py_XDECREF(fields);
  return view;
}

bool px_is_field_key(PyObject *key) {
  return PyUnicode_Check(key) ||
         (PyList_Check(key) && PyList_GET_SIZE(key) && PyUnicode_Check(PyList_GET_ITEM(key, 0)));
}

PyObject *px_array_get_field(PyObject *self, PyObject *key) {
  PyObject *view = field_of(self, key);
  if (!view || ((PxArray *)view)->ndim || px_array_has_fields(view))
    return view;
  PyObject *scalar = px_array_scalar(view);
  Py_DECREF(view);
  return scalar;
}

int px_array_set_field(PyObject *self, PyObject *key, PyObject *value) {
  PyObject *view = field_of(self, key);
  int failed = view ? px_array_assign((PxArray *)view, value, Py_None) : -1;
  Py_XDECREF(view);
  return failed;
}

/* --- attributes: the array's own first, as np.recarray has it --- */

static bool is_field(PyObject *self, PyObject *name) {
  PyObject *fields =
      px_array_has_fields(self) ? PyObject_GetAttrString(((PxArray *)self)->dtype, "fields") : NULL;
  int has = fields ? PyMapping_HasKey(fields, name) : 0;
  Py_XDECREF(fields);
  PyErr_Clear();
  return has > 0;
}

PyObject *px_array_getattr(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  if (!is_field(self, name)) {
    PyErr_Restore(type, error, trace);
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  return px_array_get_field(self, name);
}

int px_array_setattr(PyObject *self, PyObject *name, PyObject *value) {
  bool own = PyObject_HasAttr((PyObject *)Py_TYPE(self), name);
  if (!own && value && is_field(self, name))
    return px_array_set_field(self, name, value);
  return PyObject_GenericSetAttr(self, name, value);
}
