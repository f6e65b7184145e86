/* Wait: for a GPU, and for other threads. The driver's own waits do not end for signals. So the
 * main thread asks, at first without a pause, as the driver does, then with pauses of a hundredth
 * of what it has waited, and lets Python's handlers run in between. */
#include "pyext/objects/wait.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clock.h"

enum { SPIN_NS = 10000000, SIGNALS_NS = 20000000, PAUSE_MAX_NS = 1000000, LOCK_US = 50000 };

/* Until it is done, cannot be asked, or SIGNALS_NS have passed. */
static bool ask(PxQuery query, void *work, int64_t begin) {
  for (int64_t from = rt_clock_ns(), at = from; at - from < SIGNALS_NS; at = rt_clock_ns()) {
    int done = 0;
    if (query(work, &done) != RT_OK || done)
      return true;
    int64_t pause = (at - begin) / 100;
    if (at - begin > SPIN_NS)
      nanosleep(&(struct timespec){0, pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS}, NULL);
  }
  return false;
}

int px_wait_heedful(PxQuery query, void *work) {
  PX_HOLDS_GIL();
  if (syscall(SYS_gettid) != getpid())
    return 0;
  int64_t begin = rt_clock_ns();
  for (;;) {
    bool over;
    Py_BEGIN_ALLOW_THREADS
    over = ask(query, work, begin);
    Py_END_ALLOW_THREADS
    if (over)
      return 0;
    if (PyErr_CheckSignals() < 0)
      return -1;
  }
}

/* While Python finalizes no other thread gets the GIL: what is held then stays held. */
int px_wait_lock(PyThread_type_lock lock, PyObject *name, const char *symbol) {
  bool over = px_is_finalizing();
  if (over && !PyThread_acquire_lock(lock, NOWAIT_LOCK)) {
    PyErr_Format(
        PyExc_RuntimeError,
        "kernel %V was being compiled by a thread that Python's end has stopped: join threads before the program ends",
        name, symbol);
    return -1;
  }
  if (over)
    return 0;
  /* a signal ends the wait if it comes to this thread; if not, it is seen at the next turn */
  for (;;) {
    PyLockStatus got;
    Py_BEGIN_ALLOW_THREADS
    got = PyThread_acquire_lock_timed(lock, LOCK_US, 1);
    Py_END_ALLOW_THREADS
    if (got == PY_LOCK_ACQUIRED)
      return 0;
    if (PyErr_CheckSignals() < 0)
      return -1;
  }
}

int px_ask_handlers(void) {
  if (syscall(SYS_gettid) != getpid() || !Py_IsInitialized())
    return 0;
  PyGILState_STATE state = PyGILState_Ensure();
  int raised = PyErr_CheckSignals() < 0;
  PyGILState_Release(state);
  return raised;
}
