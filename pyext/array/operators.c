/* Operators of device arrays: from Python's slots to the functions of pyptx._array_operators, on
 * the device of the arrays. */
#include "pyext/array/operators.h"

#include "pyext/array/device_array.h"
#include "pyext/launch/traps.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"

typedef enum Operation {
#define UNARY(name, slot)   DO_##slot,
#define BINARY(name, slot)  DO_##slot,
#define INPLACE(name, slot) DO_##slot,
#define COMPARE(name)       DO_##name,
#define METHOD(name, doc)   DO_METHOD_##name,
#include "pyext/array/operators.def"
  DO_POWER,
  DO_INPLACE_POWER,
  DO_TRUTH,
  DO_CONTAINS,
  DO_TEXT,
  OPERATIONS
} Operation;

static const char *const names[OPERATIONS] = {
#define UNARY(name, slot)   #name,
#define BINARY(name, slot)  #name,
#define INPLACE(name, slot) "inplace_" #name,
#define COMPARE(name)       #name,
#define METHOD(name, doc)   "method_" #name,
#include "pyext/array/operators.def"
    "power", "inplace_power", "truth", "contains", "text",
};

/* The functions by Operation, borrowed. */
static PyObject *load_operations(PxState *st) {
  PyObject *module = PyImport_ImportModule("pyptx._array_operators");
  PyObject *table = module ? PyObject_GetAttrString(module, "OPERATIONS") : NULL;
  PyObject *tuple = table ? PyTuple_New(OPERATIONS) : NULL;
  for (Py_ssize_t i = 0; tuple && i < OPERATIONS; i++) {
    PyObject *found = PyMapping_GetItemString(table, names[i]);
    if (found)
      PyTuple_SET_ITEM(tuple, i, found);
    else
      Py_CLEAR(tuple);
  }
  Py_XDECREF(table);
  Py_XDECREF(module);
  if (!tuple)
    return NULL;
  PX_BEGIN_LOCKED(st->module)
  if (!st->operations)
    PX_PUBLISH(st->operations, Py_NewRef(tuple));
  PX_END_LOCKED()
  Py_DECREF(tuple);
  return st->operations;
}

static PyObject *operation(PxState *st, Operation op) {
  PyObject *table = PX_PUBLISHED(st->operations);
  if (PX_UNLIKELY(!table) && !(table = load_operations(st)))
    return NULL;
  return PyTuple_GET_ITEM(table, op);
}

/* On the device of the array, whichever is the current one. */
static PyObject *on_device_of(PyObject *a, PyObject *function, PyObject *const *args, size_t n) {
  RtDevice *selected = px_selected_device();
  px_select_device(((PxArray *)a)->device);
  PyObject *result = PyObject_Vectorcall(function, args, n, NULL);
  px_select_device(selected);
  return result;
}

static PyObject *unary(Operation op, PyObject *a) {
  PyObject *function = operation(px_state_of(a), op);
  return function ? on_device_of(a, function, &a, 1) : NULL;
}

/* Our type has no subclasses. */
static bool is_array(const PyObject *a) { return Py_TYPE(a)->tp_hash == px_array_hash; }

static int check_devices(const PxArray *a, const PxArray *b) {
  if (a->device == b->device)
    return 0;
  PyErr_Format(PyExc_ValueError,
               "the arrays are on different devices, %s and %s\n"
               "  help: copy one of them: with a.device: b = cuda.to_device(b)",
               rt_device_label(a->device), rt_device_label(b->device));
  return -1;
}

/* One of the two is a device array. The function gets the stream that the first array with one is
 * bound to, or None. */
static PyObject *binary(Operation op, PyObject *a, PyObject *b) {
  PyObject *first = is_array(a) ? a : b;
  PyObject *function = operation(px_state_of(first), op);
  if (!function)
    return NULL;
  PyObject *stream = ((PxArray *)first)->stream;
  if (first == a && is_array(b)) {
    if (check_devices((PxArray *)a, (PxArray *)b) < 0)
      return NULL;
    stream = stream ? stream : ((PxArray *)b)->stream;
  }
  PyObject *args[] = {a, b, stream ? stream : Py_None};
  return on_device_of(first, function, args, 3);
}

/* --- slots --- */

#define UNARY(name, slot)                                                                          \
  PyObject *px_array_##slot(PyObject *a) { return unary(DO_##slot, a); }
#define BINARY(name, slot)                                                                         \
  PyObject *px_array_##slot(PyObject *a, PyObject *b) { return binary(DO_##slot, a, b); }
#define INPLACE(name, slot)                                                                        \
  PyObject *px_array_##slot(PyObject *a, PyObject *b) { return binary(DO_##slot, a, b); }
#include "pyext/array/operators.def"

static PyObject *power(Operation op, PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None)
    Py_RETURN_NOTIMPLEMENTED;
  return binary(op, a, b);
}

PyObject *px_array_power(PyObject *a, PyObject *b, PyObject *modulus) {
  return power(DO_POWER, a, b, modulus);
}
PyObject *px_array_inplace_power(PyObject *a, PyObject *b, PyObject *modulus) {
  return power(DO_INPLACE_POWER, a, b, modulus);
}

PyObject *px_array_compare(PyObject *a, PyObject *b, int op) {
  static const Operation operations[] = {
#define COMPARE(name) DO_##name,
#include "pyext/array/operators.def"
  };
  return binary(operations[op], a, b);
}

Py_hash_t px_array_hash(PyObject *a) { return PyBaseObject_Type.tp_hash(a); }

int px_array_truth(PyObject *a) {
  PyObject *truth = unary(DO_TRUTH, a);
  int is = truth ? PyObject_IsTrue(truth) : -1;
  Py_XDECREF(truth);
  return is;
}

int px_array_contains(PyObject *a, PyObject *x) {
  PyObject *found = binary(DO_CONTAINS, a, x);
  int is = found ? PyObject_IsTrue(found) : -1;
  Py_XDECREF(found);
  return is;
}

PyObject *px_array_text(PyObject *a) {
  bool quiet = px_quiet_traps(true);
  PyObject *text = unary(DO_TEXT, a);
  px_quiet_traps(quiet);
  return text;
}

/* --- methods --- */

static PyObject *with_self(PyObject *self, PyObject *args) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  PyObject *all = PyTuple_New(n + 1);
  if (!all)
    return NULL;
  PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < n; i++)
    PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
  return all;
}

static PyObject *method(Operation op, PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *function = operation(px_state_of(self), op);
  PyObject *all = function ? with_self(self, args) : NULL;
  if (!all)
    return NULL;
  RtDevice *selected = px_selected_device();
  px_select_device(((PxArray *)self)->device);
  PyObject *result = PyObject_Call(function, all, kwargs);
  px_select_device(selected);
  Py_DECREF(all);
  return result;
}

#define METHOD(name, doc)                                                                          \
  PyObject *px_array_method_##name(PyObject *self, PyObject *args, PyObject *kwargs) {             \
    return method(DO_METHOD_##name, self, args, kwargs);                                           \
  }
#include "pyext/array/operators.def"
