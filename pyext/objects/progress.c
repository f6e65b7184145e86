/* Progress: see progress.h. That nothing is shown, for whatever reason, is no error. */
#include "pyext/objects/progress.h"

#include <stdarg.h>

static PyObject *call(const char *name, PyObject *argument) {
  PyObject *module = PyImport_ImportModule("pyptx._progress");
  PyObject *result = module ? px_call_method(module, name, argument) : NULL;
  Py_XDECREF(module);
  return result;
}

PyObject *px_progress_begin(const char *format, ...) {
  PyObject *raised = PyErr_Occurred() ? px_raised() : NULL;
  va_list values;
  va_start(values, format);
  PyObject *text = PyUnicode_FromFormatV(format, values);
  va_end(values);
  PyObject *work = text ? call("begin", text) : NULL;
  Py_XDECREF(text);
  PyErr_Clear();
  if (raised)
    px_reraise(raised);
  return work;
}

void px_progress_end(PyObject *work) {
  if (!work || work == Py_None) {
    Py_XDECREF(work);
    return;
  }
  PyObject *raised = PyErr_Occurred() ? px_raised() : NULL;
  Py_XDECREF(call("end", work));
  PyErr_Clear();
  Py_DECREF(work);
  if (raised)
    px_reraise(raised);
}
