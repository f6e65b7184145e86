/* Stale: see stale.h. Globals and closure values are constants of a compiled kernel, as in Numba,
 * so that another value is only said. A function that was written again, in a notebook's cell or by
 * a reload, is what its author wants to run: the kernel is compiled again, with everything that it
 * captures as it is now. */
#include "pyext/launch/stale.h"

#include <string.h>

#include "pyext/launch/advice.h"
#include "pyext/launch/plan.h"
#include "pyext/snapshot/captures.h"

/* --- is it another? --- */

/* What == compares at little cost and without code of its own. */
static bool is_plain(PxState *st, PyObject *v) {
  return PyLong_CheckExact(v) || PyFloat_CheckExact(v) || PyComplex_CheckExact(v) ||
         PyBool_Check(v) || PyUnicode_CheckExact(v) || PyBytes_CheckExact(v) ||
         (px_have_numpy(st) && (PyObject_TypeCheck(v, (PyTypeObject *)st->np_generic) ||
                                PyObject_TypeCheck(v, (PyTypeObject *)st->np_dtype)));
}

static bool equal(PyObject *a, PyObject *b) {
  int same = PyObject_RichCompareBool(a, b, Py_EQ);
  PyErr_Clear();
  return same == 1;
}

static bool is_nan(PyObject *v) {
  PyObject *other = PyObject_RichCompare(v, v, Py_NE);
  int is = other ? PyObject_IsTrue(other) : 0;
  Py_XDECREF(other);
  PyErr_Clear();
  return is == 1;
}

/* The bytes of two arrays; those that lie apart in memory, or are of a type that buffers do not
 * have, differ. */
static bool same_bytes(PyObject *a, PyObject *b) {
  Py_buffer x, y;
  bool same = false;
  if (PyObject_GetBuffer(a, &x, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
    if (PyObject_GetBuffer(b, &y, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
      same = x.ndim == y.ndim && x.len == y.len && !strcmp(x.format, y.format);
      for (int k = 0; same && k < x.ndim; k++)
        same = x.shape[k] == y.shape[k];
      same = same && !strchr(x.format, 'O') && !memcmp(x.buf, y.buf, (size_t)x.len);
      PyBuffer_Release(&y);
    }
    PyBuffer_Release(&x);
  }
  PyErr_Clear();
  return same;
}

/* What a notebook's cell that is run again makes anew is the same: arrays, tuples, nan. */
static bool same_value(PxState *st, PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (!a || !b || Py_TYPE(a) != Py_TYPE(b))
    return false;
  if (px_have_numpy(st) && (PyObject *)Py_TYPE(a) == st->np_ndarray)
    return same_bytes(a, b);
  if (!PyTuple_Check(a))
    return is_plain(st, a) && (equal(a, b) || (is_nan(a) && is_nan(b)));
  bool same = PyTuple_GET_SIZE(a) == PyTuple_GET_SIZE(b);
  for (Py_ssize_t k = 0; same && k < PyTuple_GET_SIZE(a); k++)
    same = same_value(st, PyTuple_GET_ITEM(a, k), PyTuple_GET_ITEM(b, k));
  return same;
}

static bool same_attribute(PxState *st, PyObject *a, PyObject *b, PyObject *(*get)(PyObject *)) {
  return same_value(st, get(a), get(b));
}

/* The same text again gives another function that means the same, if it captures nothing in
 * cells. */
static bool same_function(PxState *st, PyObject *a, PyObject *b, PyObject *code) {
  int same = PyObject_RichCompareBool(code, PyFunction_GetCode(b), Py_EQ);
  PyErr_Clear();
  return same == 1 && same_attribute(st, a, b, PyFunction_GetDefaults) &&
         same_attribute(st, a, b, PyFunction_GetKwDefaults) &&
         same_attribute(st, a, b, PyFunction_GetClosure) &&
         same_attribute(st, a, b, PyFunction_GetGlobals);
}

/* --- what is done about it --- */

/* Plans and entries of other threads' launches may be in use: they stay as long as the dispatcher,
 * where no new launch finds them. */
static void retire(PxDispatcher *d, const PxOverload *o) {
  PX_BEGIN_LOCKED(d)
  for (uint32_t k = 0; k < d->nentries; k++)
    if (d->entries[k].overload == o)
      d->entries[k].device = NULL;
  px_plans_retire(d, o);
  PX_END_LOCKED()
}

static void look_again(PxState *st, PxCapture *c, PyObject *now) {
  PyObject *function = px_function_of(st, now);
  PyObject *seen = c->seen, *code = c->code;
  c->code = Py_XNewRef(function ? PyFunction_GetCode(function) : NULL);
  c->seen = Py_XNewRef(now);
  Py_XDECREF(seen);
  Py_XDECREF(code);
}

static bool is_function(PyObject *value) {
  return value && PyCallable_Check(value) && !PyType_Check(value);
}

static bool is_redefined(PxState *st, const PxCapture *c, PyObject *now) {
  PyObject *before = px_function_of(st, c->seen), *after = px_function_of(st, now);
  return is_function(now) && is_function(c->was) &&
         !(before && after && c->code && same_function(st, before, after, c->code));
}

/* Of one name: 0, or -1 with an exception. */
static int say(PxState *st, PxDispatcher *d, PxCapture *c) {
  PyObject *now = Py_XNewRef(px_captures_now(c));
  bool functions = is_function(now) && is_function(c->was);
  int failed = !functions && now && now != c->seen && !same_value(st, now, c->was)
                   ? px_advise_stale(st, d, c->name)
                   : 0;
  if (!failed)
    look_again(st, c, now);
  Py_XDECREF(now);
  return failed;
}

int px_stale_review(PxState *st, PxDispatcher *d, PxOverload *o) {
  PxCapture *c = o->captures.items, *end = c + o->captures.n;
  for (; c < end; c++)
    if (!px_capture_holds(c) && is_redefined(st, c, px_captures_now(c))) {
      retire(d, o);
      return 1;
    }
  for (c = o->captures.items; c < end; c++)
    if (!px_capture_holds(c) && say(st, d, c) < 0)
      return -1;
  return 0;
}
