/* Checking: see checking.h. Which variant a launch takes is decided in pyptx/cuda/_checking.py. */
#include "pyext/launch/checking.h"

#include "pyext/objects/graph.h"
#include "runtime/memory/unset.h"

_Atomic uint32_t px_checking_threads;
static _Thread_local long checks; /* RT_CHECK_… of this thread's block; 0: it is in none */

static _Atomic bool in_python;
static _Thread_local long compiled; /* kernels launched by this thread run compiled all the same */

static bool px_runs_in_python(void) {
  return atomic_load_explicit(&in_python, memory_order_relaxed) && !compiled && !px_capturing();
}

bool px_checking_here(void) { return checks != 0 || px_runs_in_python(); }

void px_step_in_python(void) {
  if (!atomic_exchange(&in_python, true))
    atomic_fetch_add(&px_checking_threads, 1u);
}

/* FUNCTION of pyptx.cuda._checking of the launcher and its arguments. */
static PyObject *pass_on(const char *function, PyObject *launcher, PyObject *const *argv,
                         Py_ssize_t n, PyObject *kwnames) {
  PyObject *module = PyImport_ImportModule("pyptx.cuda._checking");
  PyObject *launch = module ? PyObject_GetAttrString(module, function) : NULL;
  Py_ssize_t all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  PyObject **values = launch ? PyMem_Malloc(sizeof *values * (size_t)(all + 1)) : NULL;
  PyObject *result = NULL;
  if (launch && !values)
    PyErr_NoMemory();
  if (values) {
    values[0] = launcher;
    for (Py_ssize_t i = 0; i < all; i++)
      values[1 + i] = argv[i];
    result = PyObject_Vectorcall(launch, values, (size_t)n + 1, kwnames);
  }
  PyMem_Free(values);
  Py_XDECREF(launch);
  Py_XDECREF(module);
  return result;
}

PyObject *px_launch_checked(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                            PyObject *kwnames) {
  return pass_on("launch", launcher, argv, n, kwnames);
}

PyObject *px_bind_checked(PyObject *launcher, PyObject *const *argv, Py_ssize_t n,
                          PyObject *kwnames) {
  return pass_on("bind", launcher, argv, n, kwnames);
}

PyObject *px_dispatcher_py_run(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *module = PyImport_ImportModule("pyptx._stepping");
  PyObject *run = module ? PyObject_GetAttrString(module, "py_run") : NULL;
  PyObject *kernel = run ? PyTuple_Pack(1, self) : NULL;
  PyObject *all = kernel ? PySequence_Concat(kernel, args) : NULL;
  PyObject *result = all ? PyObject_Call(run, all, kwargs) : NULL;
  Py_XDECREF(all);
  Py_XDECREF(kernel);
  Py_XDECREF(run);
  Py_XDECREF(module);
  return result;
}

/* Sets this thread's checks and returns those before. */
static PyObject *set_checking(PyObject *Py_UNUSED(module), PyObject *bits) {
  long now = PyLong_AsLong(bits), before = checks;
  if (now == -1 && PyErr_Occurred())
    return NULL;
  if (!before != !now)
    atomic_fetch_add(&px_checking_threads, now ? 1u : UINT32_MAX);
  checks = now;
  return PyLong_FromLong(before);
}

/* Sets whether this thread's launches run compiled under PYPTX_DEVICE=python, and returns what held
 * before. */
static PyObject *set_compiled(PyObject *Py_UNUSED(module), PyObject *yes) {
  long now = PyLong_AsLong(yes), before = compiled;
  if (now == -1 && PyErr_Occurred())
    return NULL;
  compiled = now;
  return PyLong_FromLong(before);
}

static PyObject *runs_in_python(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(px_runs_in_python());
}

static PyObject *get_checking(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
  return PyLong_FromLong(checks);
}

/* 1: somebody looks for memory that was not written; -1: no longer. */
static PyObject *watch_unset(PyObject *Py_UNUSED(module), PyObject *by) {
  long n = PyLong_AsLong(by);
  if (n == -1 && PyErr_Occurred())
    return NULL;
  rt_unset_watch(n < 0 ? -1 : 1);
  Py_RETURN_NONE;
}

PyMethodDef px_checking_functions[] = {
    {"_checking", set_checking, METH_O, NULL},
    {"_watch_unset", watch_unset, METH_O, NULL},
    {"_checking_here", get_checking, METH_NOARGS, NULL},
    {"_compiled_here", set_compiled, METH_O, NULL},
    {"_in_python", runs_in_python, METH_NOARGS, NULL},
    {0},
};
