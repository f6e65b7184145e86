/* Traps: kernels that can raise and were launched on a GPU, until somebody has waited for the
 * device and looked.
 *
 * A launch returns before its kernel has run, so the list st->pending keeps each such overload,
 * once, by a reference of its own. Its order is that of the launches; it changes under the module's
 * lock, and whether it is empty is read without. */
#include "pyext/launch/traps.h"

#include "pyext/compile/overload.h"
#include "pyext/raise.h"

static _Thread_local bool is_quiet;

bool px_quiet_traps(bool quiet) {
  bool before = is_quiet;
  is_quiet = quiet;
  return before;
}

void px_note_launch(PxState *st, PxOverload *o) {
  assert(o->code->has_trap && !rt_device_is_host(o->device));
  PX_BEGIN_LOCKED(st->module)
  if (!o->pending) {
    PxOverload **end = &st->pending;
    while (*end)
      end = &(*end)->next_pending;
    o->pending = true;
    o->next_pending = NULL;
    PX_PUBLISH(*end, (PxOverload *)Py_NewRef(o));
  }
  PX_END_LOCKED()
}

static uint32_t count_pending(PxState *st, const RtDevice *device) {
  uint32_t n = 0;
  PX_BEGIN_LOCKED(st->module)
  for (PxOverload *o = st->pending; o; o = o->next_pending)
    n += o->device == device;
  PX_END_LOCKED()
  return n;
}

/* The first of a device (NULL: of any) that was launched, off the list: the caller's. */
static PxOverload *take_pending(PxState *st, const RtDevice *device) {
  PxOverload *o = NULL;
  PX_BEGIN_LOCKED(st->module)
  PxOverload **at = &st->pending;
  while (*at && device && (*at)->device != device)
    at = &(*at)->next_pending;
  o = *at;
  if (o) {
    assert(o->pending && Py_REFCNT((PyObject *)o) > 0);
    o->pending = false;
    PX_PUBLISH(*at, o->next_pending);
  }
  PX_END_LOCKED()
  return o;
}

void px_forget_pending(PxState *st) {
  for (PxOverload *o; (o = take_pending(st, NULL));)
    Py_DECREF(o);
}

/* What is launched meanwhile waits for the next synchronisation, and so do the others when one has
 * raised. */
int px_check_traps(PxState *st, RtDevice *device) {
  PX_HOLDS_GIL();
  if (!PX_PUBLISHED(st->pending) || is_quiet)
    return 0;
  RtStatus status = RT_OK;
  for (uint32_t n = count_pending(st, device); n && status == RT_OK; n--) {
    PxOverload *o = take_pending(st, device);
    if (!o)
      break;
    RtTrap trap = {0};
    status = rt_kernel_trap(o->kernel, &trap);
    if (status == RT_TRAPPED)
      px_raise_trap(st, o->code, rt_kernel_name(o->kernel), &trap, o->scope);
    else if (status != RT_OK)
      px_raise_status(st, status);
    Py_DECREF(o);
  }
  return status == RT_OK ? 0 : -1;
}
