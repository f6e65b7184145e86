/* Context: which CUDA context each thread has. The driver keeps one a thread, and all libraries of
 * the process share it: PyTorch and CuPy take it for their current device. So what is done here on
 * another device than the thread's own puts back what it displaced (rt_enter, rt_leave); only
 * rt_device_make_current, which selecting a device is, leaves its context behind. */
#include "runtime/driver/context.h"

#include <assert.h>

#include "runtime/driver/driver.h"
#include "runtime/launch/capture.h"

_Thread_local RtDevice *rt_current;

static void note(RtDevice *d) { rt_current = rt_capture ? NULL : d; }

static RtContext context_of(CUcontext handle) {
  RtDevice *d = rt_current;
  if (!d || atomic_load(&d->context) != handle)
    d = rt_device_of_context(handle);
  return (RtContext){handle, d, 1};
}

static RtStatus set(RtDevice *d, CUcontext wanted) {
  rt_current = NULL;
  TRY(CU(cuCtxSetCurrent, (wanted)));
  note(d);
  return RT_OK;
}

/* Where none was current it stays: the next call is the cheaper. But with several GPUs the context
 * is also what says which one the thread works on (rt_context_device). */
static int is_to_stay(CUcontext now) { return !now && atomic_load(&rt_gpus) == 1; }

RtStatus rt_enter(RtContext *was, RtDevice *d) {
  CUcontext wanted, now = NULL;
  if (rt_is_host(d))
    return RT_OK;
  TRY(rt_device_context(d, &wanted));
  int result = rt_cu.cuCtxGetCurrent(&now);
  if (LIKELY(result == CUDA_SUCCESS && now == wanted)) {
    note(d);
    return RT_OK;
  }
  RtContext before = context_of(now);
  TRY(set(d, wanted));
  if (result == CUDA_SUCCESS && !is_to_stay(now)) {
    assert(!was->known); /* one place for one context to put back */
    *was = before;
  }
  return RT_OK;
}

int rt_enter_alive(RtContext *was, RtDevice *d, uint32_t epoch) {
  CUcontext now = NULL, wanted = atomic_load(&d->context);
  if (rt_phase != RT_PHASE_OPEN || rt_epoch(d) != epoch || !wanted)
    return 0;
  int result = rt_cu.cuCtxGetCurrent(&now);
  if (result == CUDA_SUCCESS && now == wanted)
    return 1;
  RtContext before = context_of(now);
  rt_current = NULL;
  if (rt_cu.cuCtxSetCurrent(wanted) != CUDA_SUCCESS)
    return 0;
  if (result == CUDA_SUCCESS && !is_to_stay(now)) { /* as in rt_enter: not what is not known */
    assert(!was->known);
    *was = before;
  }
  return 1;
}

void rt_leave(RtContext *was) {
  if (UNLIKELY(was->known))
    rt_context_put_back(*was);
}

RtStatus rt_device_make_current(RtDevice *d) {
  RtContext stays = {0};
  return rt_enter(&stays, d);
}

RtContext rt_context_now(void) {
  CUcontext now = NULL;
  if (rt_phase == RT_PHASE_CLOSED)
    return (RtContext){.known = 1};
  if (rt_phase != RT_PHASE_OPEN || rt_cu.cuCtxGetCurrent(&now) != CUDA_SUCCESS)
    return (RtContext){0};
  return context_of(now);
}

/* A failure leaves nothing to do: who works in that context next is told. */
void rt_context_put_back(RtContext was) {
  if (!was.known || rt_phase != RT_PHASE_OPEN)
    return;
  assert(!was.device || !rt_is_host(was.device));
  rt_current = NULL;
  CUcontext handle = was.device ? atomic_load(&was.device->context) : was.handle;
  if (rt_cu.cuCtxSetCurrent(handle) == CUDA_SUCCESS && was.device)
    note(was.device);
}

/* --- whose it is --- */

static int ordinal_now(void) {
  CUdevice mine, one;
  if (rt_cu.cuCtxGetDevice(&mine) != CUDA_SUCCESS)
    return -1;
  for (int i = 0; i < atomic_load(&rt_gpus); i++)
    if (rt_cu.cuDeviceGet(&one, i) == CUDA_SUCCESS && one == mine)
      return i;
  return -1;
}

RtDevice *rt_context_device(int *ordinal) {
  CUcontext now = NULL;
  *ordinal = -1;
  if (rt_phase != RT_PHASE_OPEN || rt_cu.cuCtxGetCurrent(&now) != CUDA_SUCCESS || !now)
    return NULL;
  RtDevice *d = context_of(now).device;
  if (LIKELY(d != NULL)) {
    note(d);
    return d;
  }
  *ordinal = ordinal_now();
  return rt_device_if_open(*ordinal);
}
