/* Dims: see dims.h. */
#include "pyext/launch/dims.h"

#include <string.h>

#include "ir/type.h"

/* In the words of Numba's messages, which programs search for. */
static int bad_dim(const char *what, PyObject *arg) {
  PyErr_Format(PyExc_TypeError, "%s must be a sequence of integers, got [%R]%s", what, arg,
               PyFloat_Check(arg) ? ": divide with //"
                                  : ": write 1, 2 or 3 integers, or an integer");
  return -1;
}

static int bad_rank(const char *what, PyObject *items) {
  PyObject *list = PySequence_List(items);
  if (list)
    PyErr_Format(PyExc_ValueError, "%s must be a sequence of 1, 2 or 3 integers, got %R", what,
                 list);
  Py_XDECREF(list);
  return -1;
}

static int one_dim(const char *what, PyObject *arg, uint32_t *out) {
  if (!PyIndex_Check(arg) || PyBool_Check(arg))
    return bad_dim(what, arg);
  Py_ssize_t v = PyNumber_AsSsize_t(arg, NULL); /* huge ones clip, and are refused below */
  if (v == -1 && PyErr_Occurred()) {            /* an array has __index__, and few can be one */
    bool array = PySequence_Check(arg) && PyErr_ExceptionMatches(PyExc_TypeError);
    return array ? (PyErr_Clear(), bad_dim(what, arg)) : -1;
  }
  if (v < 1 || v > INT32_MAX) {
    PyErr_Format(PyExc_ValueError,
                 v < 1 ? "%s is %S: it must be at least 1" : "%s is %S: it is too large", what,
                 arg);
    return -1;
  }
  *out = (uint32_t)v;
  return 0;
}

int px_read_dims(const char *what, PyObject *arg, uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  if (PyLong_Check(arg))
    return one_dim(what, arg, out);
  if (!PyTuple_Check(arg) && !PyList_Check(arg))
    return one_dim(what, arg, out);
  PyObject *items = PySequence_Tuple(arg); /* __index__ may change a list */
  Py_ssize_t n = items ? PyTuple_GET_SIZE(items) : 0;
  int failed = !items ? -1 : n < 1 || n > 3 ? bad_rank(what, items) : 0;
  for (Py_ssize_t i = 0; i < n && !failed; i++)
    failed = one_dim(what, PyTuple_GET_ITEM(items, i), &out[i]);
  Py_XDECREF(items);
  return failed;
}

int px_read_shared(PyObject *arg, uint32_t *out) {
  *out = 0;
  if (!arg || arg == Py_None)
    return 0;
  if (!PyIndex_Check(arg)) {
    PyErr_Format(PyExc_TypeError, "the dynamic shared memory is a number of bytes, not %R", arg);
    return -1;
  }
  Py_ssize_t v = PyNumber_AsSsize_t(arg, NULL); /* huge ones clip */
  if (v == -1 && PyErr_Occurred())
    return -1;
  if (v < 0 || v > INT32_MAX) {
    PyErr_Format(PyExc_ValueError, "the dynamic shared memory is %S bytes: that is not possible",
                 arg);
    return -1;
  }
  *out = (uint32_t)v;
  return 0;
}

/* The driver is not told of clusters of one block: it would place the blocks as it places clusters,
 * which took a third of a matrix product's speed (H200). */
int px_read_cluster(PyObject *arg, uint32_t out[3]) {
  memset(out, 0, 3 * sizeof *out);
  int failed = arg && arg != Py_None ? px_read_dims("cluster", arg, out) : 0;
  if (out[0] == 1 && out[1] == 1 && out[2] == 1)
    memset(out, 0, 3 * sizeof *out);
  return failed;
}

bool px_is_far(const uint32_t grid[3], const uint32_t block[3]) {
  bool far = false;
  for (int axis = 0; axis < 3; axis++)
    far |= grid[axis] > TY_BLOCKS || (uint64_t)grid[axis] * block[axis] > TY_SMALL;
  return far;
}

bool px_forall_is_far(uint64_t ntasks, uint64_t tpb, uint32_t max_threads) {
  uint64_t chosen = max_threads && max_threads < 32 ? max_threads : 32, least = tpb ? tpb : chosen;
  bool many = (ntasks + least - 1) / least > TY_BLOCKS;
  return many || ntasks > TY_SMALL - 1024; /* the last block may have threads to spare */
}
