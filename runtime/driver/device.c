/* Device: in, an ordinal; out, one RtDevice for it that lives until the process ends. A GPU's
 * primary context is retained when it is opened and shared with every other library of the
 * process (PyTorch, CuPy …), so addresses and streams mean the same to all of them. The host
 * device answers the same questions from /proc and sysconf. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/utsname.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "runtime/host/pool.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/stream_state.h"

enum { MAX_GPUS = 128, HOST_SHARED = 48 * 1024, HOST_SHARED_OPTIN = 227 * 1024 };

/* What a kernel finds in a special register bounds what a launch may ask for: MOST_NTID_X and its
 * like. */
enum {
#define S(ID, ptx, path, kind, rule, of, least, most, host, doc) MOST_##ID = (int)(most),
#include "ir/registers.def"
#undef S
};

_Atomic int rt_gpus;

static _Atomic(RtDevice *) gpus[MAX_GPUS];
static pthread_mutex_t gpus_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static RtDevice host_device;

/* --- contexts --- */

RtStatus rt_gpu_count(int *count) {
  *count = 0;
  RtStatus status = rt_driver_open();
  if (status == RT_NO_DEVICE && rt_error()->result == CUDA_ERROR_NO_DEVICE)
    return RT_OK;
  TRY(status);
  return CU(cuDeviceGetCount, (count));
}

/* Memory that is freed stays with the process, so that the next allocation costs no call into
 * the kernel: up to half of what the device has, the rest is for others (rt_memory_limit). */
static RtStatus use_pool(RtDevice *d) {
  int pools = 0;
  d->pool = NULL;
  TRY(CU(cuDeviceGetAttribute, (&pools, CU_POOLS_SUPPORTED, d->handle)));
  if (!pools)
    return RT_OK;
  CUmemoryPool pool;
  uint64_t keep = 0;
  size_t total = 0;
  TRY(CU(cuDeviceGetDefaultMemPool, (&pool, d->handle)));
  TRY(CU(cuDeviceTotalMem, (&total, d->handle)));
  keep = total / 2;
  TRY(CU(cuMemPoolSetAttribute, (pool, CU_POOL_RELEASE_THRESHOLD, &keep)));
  d->pool = pool;
  return RT_OK;
}

/* Gives d a context. d->lock is held, or nobody else knows d yet. */
static RtStatus attach(RtDevice *d) {
  CUcontext context;
  TRY(CU(cuDevicePrimaryCtxRetain, (&context, d->handle)));
  RtStatus status = use_pool(d);
  if (status != RT_OK) {
    rt_cu.cuDevicePrimaryCtxRelease(d->handle);
    return status;
  }
  atomic_store(&d->context, context);
  return RT_OK;
}

RtStatus rt_device_context(RtDevice *d, CUcontext *context) {
  if (UNLIKELY(rt_phase != RT_PHASE_OPEN))
    return rt_driver_unusable();
  *context = atomic_load_explicit(&d->context, memory_order_acquire);
  if (LIKELY(*context != NULL))
    return RT_OK;
  pthread_mutex_lock(&d->lock); /* a reset failed half way */
  RtStatus status = atomic_load(&d->context) ? RT_OK : attach(d);
  *context = atomic_load(&d->context);
  pthread_mutex_unlock(&d->lock);
  return status;
}

RtDevice *rt_device_if_open(int ordinal) {
  return ordinal >= 0 && ordinal < MAX_GPUS ? atomic_load(&gpus[ordinal]) : NULL;
}

RtDevice *rt_device_of_context(CUcontext context) {
  int n = atomic_load(&rt_gpus);
  for (int i = 0; context && i < n; i++) {
    RtDevice *d = rt_device_if_open(i);
    if (d && atomic_load(&d->context) == context)
      return d;
  }
  return NULL;
}

RtStatus rt_device_synchronize(RtDevice *d) {
  if (rt_is_host(d))
    return rt_capture_wait(d, NULL);
  TRY(rt_capture_wait(d, NULL));
  ENTER(d);
  return CU(cuCtxSynchronize, ());
}

RtStatus rt_device_profile(RtDevice *d, int on) {
  if (rt_is_host(d))
    return RT_OK;
  ENTER(d);
  return on ? CU(cuProfilerStart, ()) : CU(cuProfilerStop, ());
}

/* A thread that works in the context goes on in the new one. */
static RtStatus renew(RtDevice *d) {
  assert(!rt_is_host(d) && pthread_mutex_trylock(&d->lock) != 0);
  RtContext was = rt_context_now();
  atomic_fetch_add(&d->epoch, 1);
  atomic_store(&d->context, NULL);
  rt_current = NULL;
  rt_cache_forget(d);
  RtStatus status = CU(cuDevicePrimaryCtxReset, (d->handle));
  rt_cu.cuDevicePrimaryCtxRelease(d->handle); /* ours; a failure leaves nothing to do */
  if (status == RT_OK)
    status = attach(d);
  if (status == RT_OK && was.device == d)
    rt_context_put_back(was);
  return status;
}

RtStatus rt_device_reset(RtDevice *d) {
  if (rt_is_host(d))
    return RT_OK;
  if (rt_phase != RT_PHASE_OPEN)
    return rt_driver_unusable();
  pthread_mutex_lock(&d->lock);
  RtStatus status = renew(d);
  pthread_mutex_unlock(&d->lock);
  return status;
}

/* --- the kernels launched last --- */

void rt_last_of_stream(RtOwnStream *s, int alive) {
  RtDevice *d = s->stream.device;
  if (rt_is_host(d) || rt_phase == RT_PHASE_FORKED)
    return; /* in a child of fork the lock's owner may not exist */
  pthread_mutex_lock(&last_lock);
  if (alive) {
    s->next = d->streams;
    s->link = &d->streams;
    d->streams = s;
  } else {
    *s->link = s->next;
  }
  if (s->next)
    s->next->link = alive ? &s->next : s->link;
  pthread_mutex_unlock(&last_lock);
}

/* Another kernel of the list, if it fits. */
static void add_last(char *text, size_t size, const RtKernel *k, const RtStream *s) {
  size_t at = strlen(text), name = strlen(k->name) > 100 ? 100 : strlen(k->name);
  int is_first = at == 0;
  if (size - at < name + 60)
    return;
  at += (size_t)snprintf(text + at, size - at, "%s'%.100s'",
                         is_first ? "; the last kernel launched was " : ", ", k->name);
  if (s)
    snprintf(text + at, size - at, " on stream %#llx", (unsigned long long)rt_stream_handle(s));
  else
    snprintf(text + at, size - at, " on the default stream");
}

/* What stopped the device may be any of them. The lock keeps a kernel alive while its name is
 * copied: rt_kernel_release forgets it under the same lock. */
void rt_last_kernels(char *text, size_t size) {
  RtDevice *d = rt_current;
  *text = 0;
  if (!d)
    return;
  pthread_mutex_lock(&last_lock);
  const RtKernel *k = atomic_load(&d->last);
  if (k)
    add_last(text, size, k, NULL);
  for (const RtOwnStream *s = d->streams; s; s = s->next)
    if ((k = atomic_load(&s->last)) != NULL)
      add_last(text, size, k, &s->stream);
  pthread_mutex_unlock(&last_lock);
}

void rt_forget_kernel(RtKernel *k) {
  if (rt_phase == RT_PHASE_FORKED)
    return;
  pthread_mutex_lock(&last_lock);
  RtKernel *expected = k;
  atomic_compare_exchange_strong(&k->device->last, &expected, NULL);
  for (RtOwnStream *s = k->device->streams; s; s = s->next) {
    expected = k;
    atomic_compare_exchange_strong(&s->last, &expected, NULL);
  }
  pthread_mutex_unlock(&last_lock);
}

/* --- opening a GPU --- */

static RtStatus attribute(const RtDevice *d, int which, uint32_t *out) {
  int value = 0;
  TRY(CU(cuDeviceGetAttribute, (&value, which, d->handle)));
  *out = value > 0 ? (uint32_t)value : 0;
  return RT_OK;
}

static RtStatus read_limits(RtDevice *d) {
  RtLimits *l = &d->limits;
  uint32_t major, minor;
  TRY(attribute(d, CU_CAPABILITY_MAJOR, &major));
  TRY(attribute(d, CU_CAPABILITY_MINOR, &minor));
  d->capability = (int)(major * 10 + minor);
  TRY(attribute(d, CU_MAX_THREADS_PER_BLOCK, &l->threads));
  for (int i = 0; i < 3; i++) {
    TRY(attribute(d, CU_MAX_BLOCK_DIM_X + i, &l->block[i]));
    TRY(attribute(d, CU_MAX_GRID_DIM_X + i, &l->grid[i]));
  }
  TRY(attribute(d, CU_MAX_SHARED_PER_BLOCK, &l->shared));
  TRY(attribute(d, CU_MAX_SHARED_OPTIN, &l->shared_optin));
  if (l->shared_optin < l->shared)
    l->shared_optin = l->shared;
  return RT_OK;
}

static RtStatus read_identity(RtDevice *d) {
  CUuuid uuid;
  TRY(CU(cuDeviceGetName, (d->name, (int)sizeof d->name, d->handle)));
  if (rt_cu.cuDeviceGetUuid_v2) /* tells the slices of a partitioned GPU apart */
    TRY(CU(cuDeviceGetUuid_v2, (&uuid, d->handle)));
  else
    TRY(CU(cuDeviceGetUuid, (&uuid, d->handle)));
  memcpy(d->uuid, uuid.bytes, sizeof d->uuid);
  return RT_OK;
}

static RtStatus open_gpu(int ordinal, RtDevice **out) {
  RtDevice *d = calloc(1, sizeof *d);
  if (!d)
    return rt_fail(RT_NO_MEMORY, "", "no memory for a device's description");
  d->ordinal = ordinal;
  RtStatus status = CU(cuDeviceGet, (&d->handle, ordinal));
  if (status == RT_OK)
    status = read_identity(d);
  snprintf(d->label, sizeof d->label, "GPU %d (%s)", ordinal, d->name);
  if (status == RT_OK)
    status = read_limits(d);
  if (status == RT_OK)
    status = attach(d);
  if (status != RT_OK) {
    free(d);
    return status;
  }
  pthread_mutex_init(&d->lock, NULL);
  for (int i = 0; i < 2; i++)
    pthread_mutex_init(&d->stages[i].lock, NULL);
  *out = d;
  return RT_OK;
}

static RtStatus check_ordinal(int ordinal) {
  int count;
  TRY(rt_driver_open());
  TRY(CU(cuDeviceGetCount, (&count)));
  if (count > MAX_GPUS)
    count = MAX_GPUS;
  atomic_store(&rt_gpus, count);
  if (ordinal >= 0 && ordinal < count)
    return RT_OK;
  return rt_fail(
      RT_NO_DEVICE,
      "cuda.list_devices() shows the devices; CUDA_VISIBLE_DEVICES hides or reorders them",
      "there is no GPU %d: this process sees %d", ordinal, count);
}

/* --- the host --- */

/* The value of the first line "KEY : value" of a file of /proc. */
static int proc_line(const char *file, const char *key, char *value, size_t size) {
  FILE *f = fopen(file, "re");
  char line[256];
  int found = 0;
  if (!f)
    return 0;
  while (!found && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key)) != 0)
      continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
    found = *value != 0;
  }
  fclose(f);
  return found;
}

static void open_host(void) {
  RtDevice *d = &host_device;
  struct utsname system;
  d->ordinal = RT_HOST;
  if (!proc_line("/proc/cpuinfo", "model name", d->name, sizeof d->name))
    snprintf(d->name, sizeof d->name, "CPU (%s)", uname(&system) == 0 ? system.machine : "unknown");
  memcpy(d->uuid, "pyptx host (CPU)", sizeof d->uuid);
  snprintf(d->label, sizeof d->label, "the host device");
  d->limits = (RtLimits){.threads = MOST_NTID_X,
                         .block = {MOST_NTID_X, MOST_NTID_Y, MOST_NTID_Z},
                         .grid = {MOST_NCTAID_X, MOST_NCTAID_Y, MOST_NCTAID_Z},
                         .shared = HOST_SHARED,
                         .shared_optin = HOST_SHARED_OPTIN};
  pthread_mutex_init(&d->lock, NULL);
}

static RtStatus host_attribute(int which, int *value) {
  const RtLimits *l = &host_device.limits;
  const struct {
    int which;
    long value;
  } answers[] = {
      {CU_MAX_THREADS_PER_BLOCK, l->threads},
      {CU_MAX_BLOCK_DIM_X, l->block[0]},
      {CU_MAX_BLOCK_DIM_X + 1, l->block[1]},
      {CU_MAX_BLOCK_DIM_X + 2, l->block[2]},
      {CU_MAX_GRID_DIM_X, l->grid[0]},
      {CU_MAX_GRID_DIM_X + 1, l->grid[1]},
      {CU_MAX_GRID_DIM_X + 2, l->grid[2]},
      {CU_MAX_SHARED_PER_BLOCK, l->shared},
      {CU_MAX_SHARED_OPTIN, l->shared_optin},
      {CU_TOTAL_CONSTANT, 65536},
      {CU_WARP_SIZE, 32},
      {CU_MULTIPROCESSORS, (long)rt_host_threads()},
      {CU_INTEGRATED, 1},
      {CU_CAN_MAP_HOST, 1},
      {CU_CONCURRENT_KERNELS, 0},
      {CU_MAX_THREADS_PER_MULTIPROCESSOR, l->threads},
      {CU_UNIFIED_ADDRESSING, 1},
      {CU_CAPABILITY_MAJOR, 0},
      {CU_CAPABILITY_MINOR, 0},
      {CU_MANAGED_MEMORY, 1},
      {CU_PAGEABLE_ACCESS, 1},
      {CU_POOLS_SUPPORTED, 0},
      {CU_COOPERATIVE_LAUNCH, 1},
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    if (answers[i].which == which) {
      *value = (int)answers[i].value;
      return RT_OK;
    }
  return rt_fail(RT_BAD_ARGUMENT, "ask a GPU, or use an attribute that a CPU has too",
                 "the host device has no attribute %d", which);
}

static RtStatus host_memory(size_t *available, size_t *total) {
  char text[64];
  *total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  *available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  if (proc_line("/proc/meminfo", "MemAvailable", text, sizeof text))
    *available = (size_t)strtoull(text, NULL, 10) * 1024;
  return RT_OK;
}

/* --- all devices --- */

RtStatus rt_device_open(int ordinal, RtDevice **out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  *out = NULL;
  if (ordinal == RT_HOST) {
    TRY(rt_pool_check());
    pthread_once(&once, open_host);
    *out = &host_device;
    return RT_OK;
  }
  if (ordinal >= 0 && ordinal < MAX_GPUS && rt_phase == RT_PHASE_OPEN &&
      (*out = atomic_load(&gpus[ordinal])) != NULL)
    return RT_OK;
  TRY(check_ordinal(ordinal));
  TRY(rt_pool_check());
  pthread_mutex_lock(&gpus_lock);
  RtDevice *d = atomic_load(&gpus[ordinal]);
  RtStatus status = d ? RT_OK : open_gpu(ordinal, &d);
  atomic_store(&gpus[ordinal], d);
  pthread_mutex_unlock(&gpus_lock);
  *out = d;
  return status;
}

RtDevice *rt_device_any_gpu(void) {
  if (rt_phase != RT_PHASE_OPEN)
    return NULL;
  RtDevice *d = rt_current;
  for (int i = 0; !d && i < MAX_GPUS; i++)
    d = atomic_load(&gpus[i]);
  return d;
}

int rt_device_ordinal(const RtDevice *d) { return d->ordinal; }
int rt_device_is_host(const RtDevice *d) { return rt_is_host(d); }
const char *rt_device_name(const RtDevice *d) { return d->name; }
const char *rt_device_label(const RtDevice *d) { return d->label; }
void rt_device_uuid(const RtDevice *d, uint8_t uuid[16]) { memcpy(uuid, d->uuid, 16); }
int rt_device_capability(const RtDevice *d) { return d->capability; }
uint32_t rt_device_epoch(const RtDevice *d) { return atomic_load(&d->epoch); }

const _Atomic uint32_t *rt_device_epoch_place(const RtDevice *d) { return &d->epoch; }

RtStatus rt_device_attribute(RtDevice *d, int which, int *value) {
  if (rt_is_host(d))
    return host_attribute(which, value);
  if (rt_phase != RT_PHASE_OPEN)
    return rt_driver_unusable();
  return CU(cuDeviceGetAttribute, (value, which, d->handle));
}

RtStatus rt_device_memory(RtDevice *d, size_t *available, size_t *total) {
  if (rt_is_host(d))
    return host_memory(available, total);
  ENTER(d);
  return CU(cuMemGetInfo, (available, total));
}
