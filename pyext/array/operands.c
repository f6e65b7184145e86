/* What an elementwise call asks of its operands before it launches: how they lie, as one key, and
 * views with other strides. */
#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/array/make.h"

enum { KEY_ROOM = 2048 };

typedef struct Key {
  size_t n;
  bool full;
  char bytes[KEY_ROOM];
} Key;

static void put(Key *k, const void *from, size_t n) {
  k->full = k->full || n > sizeof k->bytes - k->n;
  if (k->full)
    return;
  memcpy(k->bytes + k->n, from, n);
  k->n += n;
}

static void put_word(Key *k, uint32_t word) { put(k, &word, sizeof word); }

static void bytes_of(const PxArray *a, uint64_t *from, uint64_t *to) {
  *from = *to = a->address;
  for (unsigned k = 0; a->size && k < a->ndim; k++) {
    int64_t reach = px_strides(a)[k] * (px_shape(a)[k] - 1);
    *(reach < 0 ? from : to) += (uint64_t)reach;
  }
  *to += a->size ? a->itemsize : 0;
}

/* May an element of one be another element of the other? False if each is itself. */
static bool clash(const PxArray *a, const PxArray *b) {
  uint64_t a0, a1, b0, b1;
  bytes_of(a, &a0, &a1);
  bytes_of(b, &b0, &b1);
  if (a0 >= b1 || b0 >= a1)
    return false;
  return a->address != b->address || a->ndim != b->ndim || a->itemsize != b->itemsize ||
         memcmp(a->dims, b->dims, sizeof *a->dims * 2 * a->ndim) != 0;
}

/* A NumPy number's type; above all letters. 0 where kernels do not have it. */
static uint32_t generic_word(PxState *st, PyObject *object) {
  if (!st->np_generic || PyObject_IsInstance(object, st->np_generic) <= 0)
    return 0;
  PyObject *dtype = PyObject_GetAttr(object, st->name.dtype);
  PxElem elem = dtype ? px_elem_of_dtype(st, dtype) : PX_NO_ELEM;
  Py_XDECREF(dtype);
  return elem == PX_NO_ELEM ? 0 : 0x10000u + (uint32_t)elem;
}

/* 0 where the object is none that a key can name. */
static uint32_t scalar_word(PxState *st, PyObject *object) {
  if (PyFloat_CheckExact(object))
    return 'f';
  if (PyLong_CheckExact(object))
    return 'i';
  if (PyComplex_CheckExact(object))
    return 'c';
  return PyBool_Check(object) ? 'b' : generic_word(st, object);
}

static PyObject *module_layouts(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  PxState *st = px_state_of_module(module);
  const PxArray *out = n && Py_IS_TYPE(args[0], st->array_type) ? (PxArray *)args[0] : NULL;
  Key k;
  k.n = 0;
  k.full = false;
  bool arrays = false;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (Py_IS_TYPE(args[i], st->array_type)) {
      const PxArray *a = (PxArray *)args[i];
      if (a->elem == PX_NO_ELEM || (i && out && clash(out, a)))
        Py_RETURN_NONE;
      put_word(&k, a->token);
      put(&k, a->dims, sizeof *a->dims * 2 * a->ndim);
      arrays = true;
    } else {
      uint32_t word = i ? scalar_word(st, args[i]) : 'o';
      if (!word || (i == 0 && args[0] != Py_None))
        Py_RETURN_NONE;
      put_word(&k, word);
    }
  }
  if (k.full || !arrays)
    Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(k.bytes, (Py_ssize_t)k.n);
}

static PyObject *module_restrided(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  PyObject *array, *shape_arg, *strides_arg;
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM] = {0};
  if (!PyArg_ParseTuple(args, "O!OO!:_restrided", st->array_type, &array, &shape_arg, &PyTuple_Type,
                        &strides_arg))
    return NULL;
  int ndim = px_shape_argument(shape_arg, shape);
  if (ndim < 0)
    return NULL;
  if (PyTuple_GET_SIZE(strides_arg) != ndim)
    return PyErr_Format(PyExc_ValueError, "strides must be as many as the axes");
  for (int i = 0; i < ndim; i++) {
    strides[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides_arg, i));
    if (strides[i] == -1 && PyErr_Occurred())
      return NULL;
  }
  return px_array_view_of(array, 0, ((PxArray *)array)->dtype, (unsigned)ndim, shape, strides);
}

PyMethodDef px_operand_functions[] = {
    {"_layouts", (PyCFunction)(void (*)(void))module_layouts, METH_FASTCALL,
     "_layouts(out, *inputs): types, shapes and strides as bytes; None where one is neither a device "
     "array nor a number, or where out shares memory with an input that lies otherwise. out "
     "may be None."},
    {"_restrided", module_restrided, METH_VARARGS,
     "_restrided(array, shape, strides): a view from the same first element; strides in bytes."},
    {0},
};
