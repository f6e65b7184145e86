/* Device state: what the files of this room know of a device; other rooms know device.h.
 *
 * The table of devices is in device.c, under a lock of its own. */
#ifndef PYPTX_RUNTIME_DRIVER_DEVICE_STATE_H
#define PYPTX_RUNTIME_DRIVER_DEVICE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/driver/cuda.h"
#include "runtime/driver/device.h"
#include "runtime/memory/block_cache.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/staging.h"

enum { RT_SPARE_EVENTS = 8 };
struct RtKernel;
struct RtOwnStream;
struct RtDevice {
  int ordinal; /* RT_HOST or the GPU's number */
  CUdevice handle;
  _Atomic(CUcontext) context;
  _Atomic uint32_t epoch; /* counts resets: what belongs to an older one is gone */
  /* launched last on the default stream, for error texts; see rt_last_kernels */
  struct RtKernel *_Atomic last;
  CUmemoryPool pool; /* NULL: the device has no stream-ordered memory */
  int capability;
  char name[128], label[160];
  uint8_t uuid[16];
  RtLimits limits;

  pthread_mutex_t lock; /* guards what follows */
  RtFreeBlock cache[RT_CACHE_SLOTS];
  unsigned cache_next; /* the slot that a full cache gives up */
  size_t cache_bytes;
  CUevent spare[RT_SPARE_EVENTS]; /* for rt_stream_order */
  unsigned spares;
  uint32_t spare_epoch;
  RtDeferred *deferred; /* freed while deferring */

  _Atomic int deferring; /* rt_defer_begin less rt_defer_end */
  RtStage stages[2];     /* to the device, to the host; they have locks of their own */

  RtMemoryStats stats; /* atomic, not under the lock */

  struct RtOwnStream *streams; /* with the last ones on each; under driver/device.c's lock */
};

/* An open GPU (the thread's current one if it has one), or NULL. */
RtDevice *rt_device_any_gpu(void);
/* An open GPU's context, made again where a reset failed half way. */
RtStatus rt_device_context(RtDevice *d, CUcontext *context);
/* the open GPU whose primary context it is, or NULL */
RtDevice *rt_device_of_context(CUcontext context);
RtDevice *rt_device_if_open(int ordinal);
extern _Atomic int rt_gpus; /* that this process sees; 0 before the first is opened */
/* Which kernel was launched last on each stream of the thread's device, as the end of an error
 * text; "" where none was. */
void rt_last_kernels(char *text, size_t size);
void rt_forget_kernel(struct RtKernel *k);
/* enters it in its device's list, or takes it out */
void rt_last_of_stream(struct RtOwnStream *s, int alive);

static inline int rt_is_host(const RtDevice *d) { return d->ordinal == RT_HOST; }
static inline uint32_t rt_epoch(RtDevice *d) {
  return atomic_load_explicit(&d->epoch, memory_order_relaxed);
}

#endif
