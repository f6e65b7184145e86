/* Timeouts: launches on a GPU that have one, until they have ended.
 *
 * The driver can stop no kernel, but it can be asked whether an event has happened. So each such
 * launch is followed by an event, and whoever waits for the device asks for them in between. The
 * time of a launch counts from when somebody who waits finds that it is the oldest of its device:
 * what ran in front of it, and what the program did meanwhile, is not charged to it.
 *
 * The list st->timed is in the order of the launches. It changes under the module's lock, and
 * whether it is empty is read without. */
#include "pyext/launch/timeouts.h"

#include <time.h>

#include "pyext/compile/overload.h"
#include "pyext/objects/graph.h"
#include "pyext/raise.h"
#include "runtime/clock.h"

enum { MOST_PAUSE_NS = 1000000 };

typedef struct PxTimed {
  PxOverload *overload; /* owned */
  RtDevice *device;
  RtEvent *event;          /* behind the launch */
  uint64_t timeout, since; /* ns; since: a wait has first found it to be the oldest; 0: none yet */
  struct PxTimed *next;
} PxTimed;

static uint64_t now(void) { return (uint64_t)rt_clock_ns(); }

static void free_list(PxTimed *list) {
  for (PxTimed *next; list; list = next) {
    next = list->next;
    rt_event_release(list->event);
    Py_DECREF(list->overload);
    PyMem_Free(list);
  }
}

void px_forget_timed(PxState *st) {
  PxTimed *all = st->timed;
  st->timed = NULL;
  free_list(all);
}

/* Under the lock: those of the device (NULL: of all) that have ended, off the list, up to the first
 * that has not, which is returned. An event that cannot be asked counts as ended: its device was
 * reset, or the wait that follows says what is wrong. */
static PxTimed *oldest(PxState *st, const RtDevice *device, PxTimed **ended) {
  for (PxTimed **at = &st->timed; *at;) {
    PxTimed *t = *at;
    int done = 0;
    if (device && t->device != device) {
      at = &t->next;
      continue;
    }
    if (rt_event_query(t->event, &done) == RT_OK && !done)
      return t;
    PX_PUBLISH(*at, t->next);
    t->next = *ended;
    *ended = t;
  }
  return NULL;
}

static void drop_ended(PxState *st, const RtDevice *device) {
  PxTimed *ended = NULL;
  PX_BEGIN_LOCKED(st->module)
  (void)oldest(st, device, &ended);
  PX_END_LOCKED()
  free_list(ended);
}

int px_note_timed(PxState *st, PxOverload *o, RtStream *stream, uint64_t timeout) {
  PxTimed *t = PyMem_Calloc(1, sizeof *t);
  if (!t)
    return PyErr_NoMemory(), -1;
  *t = (PxTimed){.overload = (PxOverload *)Py_NewRef(o), .device = o->device, .timeout = timeout};
  RtStatus status = rt_event_new(o->device, 0, &t->event);
  if (status == RT_OK)
    status = rt_event_record(t->event, stream);
  if (status != RT_OK) {
    free_list(t);
    px_raise_status(st, status);
    return -1;
  }
  drop_ended(st, o->device);
  PX_BEGIN_LOCKED(st->module)
  PxTimed **end = &st->timed;
  while (*end)
    end = &(*end)->next;
  PX_PUBLISH(*end, t);
  PX_END_LOCKED()
  return 0;
}

/* 0, or -1 with the exception. */
static int look(PxState *st, const RtDevice *device) {
  PxTimed *ended = NULL;
  PxOverload *late = NULL;
  uint64_t timeout = 0;
  uint32_t behind = 0;
  PX_BEGIN_LOCKED(st->module)
  PxTimed *t = oldest(st, device, &ended);
  uint64_t time = now();
  if (t && !t->since)
    t->since = time;
  if (t && time - t->since > t->timeout) {
    late = (PxOverload *)Py_NewRef(t->overload);
    timeout = t->timeout;
    for (PxTimed *more = t->next; more; more = more->next)
      behind += more->device == t->device;
  }
  PX_END_LOCKED()
  free_list(ended);
  if (!late)
    return 0;
  px_raise_late_wait(st, rt_kernel_name(late->kernel), timeout, rt_device_label(late->device),
                     behind);
  Py_DECREF(late);
  return -1;
}

static int give_up(PxState *st) {
  st->gave_up = true;
  return -1;
}

int px_wait_timed(PxState *st, RtDevice *device, PxQuery query, void *work) {
  if (!PX_PUBLISHED(st->timed) || (device && rt_device_is_host(device)))
    return px_wait_heedful(query, work) < 0 ? give_up(st) : 0;
  for (uint64_t begin = now();;) {
    bool over;
    int done = 0;
    Py_BEGIN_ALLOW_THREADS
    over = query(work, &done) != RT_OK || done;
    uint64_t pause = (now() - begin) / 100;
    if (!over && pause > 1000)
      nanosleep(&(struct timespec){0, pause < MOST_PAUSE_NS ? (long)pause : MOST_PAUSE_NS}, NULL);
    Py_END_ALLOW_THREADS
    if (over) {
      drop_ended(st, device);
      return 0;
    }
    if (look(st, device) < 0 || PyErr_CheckSignals() < 0)
      return give_up(st);
  }
}

typedef struct Work {
  RtDevice *device;
  RtStream *stream;
} Work;

static RtStatus query_stream(void *work, int *done) {
  const Work *w = work;
  return rt_stream_query(w->device, w->stream, done);
}

int px_await_timed(PxState *st, RtDevice *device, RtStream *stream) {
  if (!PX_PUBLISHED(st->timed) || rt_device_is_host(device) || px_capturing())
    return 0;
  return px_wait_timed(st, device, query_stream, &(Work){device, stream});
}
