/* Prints: see prints.h. */
#include "pyext/launch/prints.h"

#include <stdlib.h>

#include "pyext/objects/graph.h"
#include "pyext/objects/stream.h"
#include "pyext/objects/wait.h"
#include "runtime/driver/device.h"
#include "runtime/host/print_capture.h"

/* Launches of host kernels whose prints are kept, in all threads. */
static _Atomic int host_captures;

static PyObject *get_stdout(const char *name) { /* new; NULL without an exception: there is none */
  return Py_XNewRef(PySys_GetObject(name));
}

/* 1: flushed. 0: it cannot be. -1 with what is no Exception. */
static int flush(PxState *st, PyObject *out) {
  PyObject *done = PyObject_CallMethodNoArgs(out, st->name.flush);
  if (done) {
    Py_DECREF(done);
    return 1;
  }
  if (!PyErr_ExceptionMatches(PyExc_Exception))
    return -1;
  PyErr_Clear();
  return 0;
}

int px_prints_begin(PxState *st, RtDevice *device, RtStream *stream, PxPrints *p) {
  *p = (PxPrints){.gpu = !rt_device_is_host(device)};
  if (px_capturing() || rt_stream_captured(device, stream)) /* the launch becomes a node */
    return 0;
  PyObject *out = get_stdout("stdout"), *own = get_stdout("__stdout__");
  int flushed = out && out != Py_None && out == own ? flush(st, out) : 0;
  Py_XDECREF(own);
  Py_XDECREF(out);
  p->kept = flushed == 0 && rt_print_capture_begin(p->gpu);
  if (p->kept && !p->gpu)
    host_captures++;
  return flushed < 0 ? -1 : 0;
}

/* As print() has it: nothing for None, RuntimeError where sys.stdout was deleted. */
static int write_text(const char *text, size_t n) {
  PyObject *out = get_stdout("stdout");
  if (!out)
    PyErr_SetString(PyExc_RuntimeError, "lost sys.stdout");
  if (!out || out == Py_None) {
    Py_XDECREF(out);
    return out ? 0 : -1;
  }
  PyObject *line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
  PyObject *done = line ? px_call_method(out, "write", line) : NULL;
  Py_XDECREF(done);
  Py_XDECREF(line);
  Py_DECREF(out);
  return done ? 0 : -1;
}

static int hand_on(void) {
  size_t n;
  char *text = rt_print_take(&n);
  int failed = n ? write_text(text, n) : 0;
  free(text);
  return failed;
}

int px_prints_end(PxState *st, const PxPrints *p, RtDevice *device, RtStream *stream, int failed) {
  if (!p->kept)
    return failed;
  if (p->gpu && !failed)
    failed = px_stream_wait(st, device, stream);
  rt_print_capture_end(p->gpu);
  if (!p->gpu)
    host_captures--;
  PyObject *raised = failed ? px_raised() : NULL;
  int unprinted = hand_on();
  if (!raised)
    return unprinted ? PX_UNPRINTED : failed;
  if (unprinted)
    PyErr_WriteUnraisable(NULL);
  px_reraise(raised);
  return failed;
}

/* What cannot be written now is tried again when the launch is over, which raises then. */
static void hand_on_early(void) {
  size_t n;
  char *text = rt_print_take(&n);
  if (n && write_text(text, n) < 0) {
    PyErr_Clear();
    rt_print_put_back(text, n);
  }
  free(text);
}

int px_prints_ask(void) {
  if (px_ask_handlers())
    return 1;
  if (host_captures && Py_IsInitialized()) {
    PyGILState_STATE state = PyGILState_Ensure();
    hand_on_early();
    PyGILState_Release(state);
  }
  return 0;
}
