/* See standin.h. Signatures are held to runtime/driver/driver.def: each ENTRY is declared from it
 * under its exported name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/driver/cuda.h"
#include "runtime/status.h"
#include "tests/standin/internal.h"

EXPORT const StandinControl *standin_control(void);

enum { MAX_DEVICES = 8, MAX_CALLS = 128, POOL = 0x900 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st contexts[MAX_DEVICES];
static _Thread_local CUcontext current;
static Thing *things;
static struct {
  const char *name;
  int count;
} counts[MAX_CALLS];
static char fail_call[64];
static const char *fired_call = "";
static int fail_any, fail_left, fail_result, fail_fired, sticky, misuses, busy, initialised;
static size_t memory_size, memory_used;
static uint64_t pool_keeps;

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static int device_count(void) {
  long n = setting("PYPTX_STANDIN_DEVICES", 1);
  return n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : (int)n;
}

static size_t memory_total(void) {
  return memory_size ? memory_size : (size_t)setting("PYPTX_STANDIN_MEMORY", 1L << 30);
}

/* --- calls --- */

static void count_call(const char *name) {
  for (int i = 0; i < MAX_CALLS; i++) {
    if (!counts[i].name)
      counts[i].name = name;
    if (strcmp(counts[i].name, name) == 0) {
      counts[i].count++;
      return;
    }
  }
}

static int planned_failure(const char *name) {
  if (!fail_left || (!fail_any && strcmp(fail_call, name) != 0) || --fail_left)
    return 0;
  fail_fired = 1;
  fired_call = name;
  return fail_result;
}

void standin_lock(void) { pthread_mutex_lock(&lock); }

/* The lock is held. The result that the entry point must return at once, or 0. */
int standin_begin(const char *name, int needs_context) {
  count_call(name);
  int result = planned_failure(name);
  if (result)
    return result;
  if (!needs_context)
    return 0;
  if (!current || !current->retained) {
    misuses++;
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return sticky;
}

void standin_wait(pthread_cond_t *until) { pthread_cond_wait(until, &lock); }

int standin_end(int result) {
  pthread_mutex_unlock(&lock);
  return result;
}

int standin_misuse(int result) {
  misuses++;
  return standin_end(result);
}

static char order[4096]; /* what was put on which stream, a line each */
static size_t order_used;
static void *captured; /* a stream that is */

void standin_note(const char *what, const void *event, const void *stream) {
  if (order_used < sizeof order - 64)
    order_used += (size_t)sprintf(order + order_used, "%s %p %p\n", what, event, stream);
}

/* --- things --- */

Thing *standin_find(StandinKind kind, const void *handle) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == kind && t->handle == handle)
      return t;
  return NULL;
}

void *standin_make(StandinKind kind, size_t bytes) {
  Thing *t = calloc(1, sizeof *t);
  void *p = NULL;
  if (!t || posix_memalign(&p, 256, bytes ? bytes : 1)) {
    free(t);
    return NULL;
  }
  memset(p, kind == SI_MEMORY || kind == SI_PINNED ? 0xa5 : 0, bytes);
  *t = (Thing){.kind = kind,
               .device = current ? current->device : 0,
               .handle = p,
               .bytes = bytes,
               .next = things};
  things = t;
  memory_used += kind == SI_MEMORY ? bytes : 0;
  return p;
}

void standin_drop(Thing *t) {
  Thing **link = &things;
  while (*link != t)
    link = &(*link)->next;
  *link = t->next;
  memory_used -= t->kind == SI_MEMORY ? t->bytes : 0;
  graphs_forget(t);
  if (t->kind == SI_MODULE) {
    free(((CUmodule)t->handle)->text);
    for (Global *g = ((CUmodule)t->handle)->globals, *next; g; g = next) {
      next = g->next;
      free(g);
    }
  }
  if (t->kind == SI_LINK) {
    free(((CUlinkState)t->handle)->first);
    free(((CUlinkState)t->handle)->others);
  }
  free(t->handle);
  free(t);
}

int standin_destroy(StandinKind kind, void *handle) {
  Thing *t = standin_find(kind, handle);
  if (!t)
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  standin_drop(t);
  return standin_end(CUDA_SUCCESS);
}

int standin_is_here(int device) { return current && current->device == device; }

int standin_is_stream(CUstream s) {
  if ((uintptr_t)s <= CU_STREAM_PER_THREAD_HANDLE)
    return 1;
  const Thing *t = standin_find(SI_STREAM, s);
  return t && standin_is_here(t->device);
}

int standin_is_mine(CUdeviceptr address) {
  const Thing *t = standin_holding(address);
  return !t || standin_is_here(t->device);
}

/* A range must lie in one live allocation. */
int standin_is_memory(CUdeviceptr address, size_t bytes) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == SI_MEMORY && address >= (uintptr_t)t->handle &&
        address + bytes <= (uintptr_t)t->handle + t->bytes)
      return 1;
  return 0;
}

/* --- driver and device --- */

/* As libcuda does where the kernel's module is not loaded: its child runs nvidia-modprobe. */
static void run_modprobe(void) {
  pid_t child = fork();
  if (!child)
    _exit(0);
  waitpid(child, NULL, 0);
}

CUresult cuInit(unsigned flags) {
  BEGIN(cuInit, 0);
  (void)flags;
  if (setting("PYPTX_STANDIN_MODPROBE", 0))
    run_modprobe();
  if (!device_count())
    return standin_end(CUDA_ERROR_NO_DEVICE);
  initialised = 1;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version) {
  BEGIN(cuDriverGetVersion, 0);
  *version = (int)setting("PYPTX_STANDIN_VERSION", 13000);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuGetErrorName(CUresult code, const char **name) {
  *name = code == 4242 ? "CUDA_ERROR_FROM_THE_FUTURE" : NULL;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
  *text = code == 4242 ? "a newer driver's error" : NULL;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
  BEGIN(cuDeviceGetCount, 0);
  *count = device_count();
  return standin_end(initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN(cuDeviceGet, 0);
  if (ordinal < 0 || ordinal >= device_count())
    return standin_misuse(CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  BEGIN(cuDeviceGetName, 0);
  snprintf(name, (size_t)size, "Stand-in GPU %d", device);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  BEGIN(cuDeviceGetUuid, 0);
  memset(uuid->bytes, device + 1, sizeof uuid->bytes);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  BEGIN(cuDeviceGetUuid_v2, 0);
  memset(uuid->bytes, device + 1, sizeof uuid->bytes);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  static const int answers[128] = {
      [1] = 1024,  [2] = 1024,  [3] = 1024,  [4] = 64,  [5] = INT32_MAX, [6] = 65535,
      [7] = 65535, [8] = 49152, [9] = 65536, [10] = 32, [13] = 1500000,  [16] = 132,
      [39] = 2048, [41] = 1,    [83] = 1,    [95] = 1,  [97] = 232448};
  BEGIN(cuDeviceGetAttribute, 0);
  (void)device;
  long capability = setting("PYPTX_STANDIN_CAPABILITY", 90);
  if (attribute < 1 || attribute >= 128)
    return standin_end(CUDA_ERROR_INVALID_VALUE);
  *value = attribute == CU_CAPABILITY_MAJOR   ? (int)(capability / 10)
           : attribute == CU_CAPABILITY_MINOR ? (int)(capability % 10)
           : attribute == CU_POOLS_SUPPORTED  ? setting("PYPTX_STANDIN_POOLS", 1) != 0
                                              : answers[attribute];
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  BEGIN(cuDeviceTotalMem, 0);
  (void)device;
  *bytes = memory_total();
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  BEGIN(cuDevicePrimaryCtxRetain, 0);
  contexts[device].device = device;
  contexts[device].retained++;
  *context = &contexts[device];
  return standin_end(CUDA_SUCCESS);
}

static void empty(int device) {
  for (Thing *t = things, *next; t; t = next) {
    next = t->next;
    if (t->device == device)
      standin_drop(t);
  }
  sticky = 0;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  BEGIN(cuDevicePrimaryCtxRelease, 0);
  if (!contexts[device].retained)
    return standin_misuse(CUDA_ERROR_INVALID_CONTEXT);
  if (!--contexts[device].retained)
    empty(device);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  BEGIN(cuDevicePrimaryCtxReset, 0);
  empty(device);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  BEGIN(cuCtxGetCurrent, 0);
  *context = current;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  BEGIN(cuCtxSetCurrent, 0);
  current = context;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device) {
  BEGIN(cuCtxGetDevice, 1);
  *device = current->device;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void) {
  BEGIN(cuCtxSynchronize, 1);
  return standin_end(CUDA_SUCCESS);
}

/* --- memory --- */

CUresult cuMemGetInfo(size_t *available, size_t *total) {
  BEGIN(cuMemGetInfo, 1);
  *total = memory_total();
  *available = *total > memory_used ? *total - memory_used : 0;
  return standin_end(CUDA_SUCCESS);
}

static CUresult allocate(CUdeviceptr *address, size_t bytes, int pooled) {
  if (bytes > memory_total() || memory_used > memory_total() - bytes)
    return standin_end(CUDA_ERROR_OUT_OF_MEMORY);
  *address = (uintptr_t)standin_make(SI_MEMORY, bytes);
  if (*address)
    things->pooled = pooled;
  return standin_end(*address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  BEGIN(cuMemAlloc, 1);
  return allocate(address, bytes, 0);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  BEGIN(cuMemAllocAsync, 1);
  if ((result = graphs_refuse(stream)))
    return standin_misuse(result);
  if (!standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  return allocate(address, bytes, 1);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  BEGIN(cuMemAllocManaged, 1);
  return flags == CU_MEM_ATTACH_GLOBAL ? allocate(address, bytes, 0)
                                       : standin_misuse(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemFree(CUdeviceptr address) {
  BEGIN(cuMemFree, 1);
  if (!standin_is_mine(address))
    return standin_misuse(CUDA_ERROR_INVALID_CONTEXT);
  return standin_destroy(SI_MEMORY, at(address));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  BEGIN(cuMemFreeAsync, 1);
  if ((result = graphs_refuse(stream)))
    return standin_misuse(result);
  return standin_is_stream(stream) && standin_is_mine(address)
             ? standin_destroy(SI_MEMORY, at(address))
             : standin_misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  BEGIN(cuDeviceGetDefaultMemPool, 0);
  *pool = (CUmemoryPool)(uintptr_t)(POOL + device);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
  BEGIN(cuMemPoolSetAttribute, 0);
  (void)pool;
  pool_keeps = *(const uint64_t *)value;
  return standin_end(attribute == CU_POOL_RELEASE_THRESHOLD ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
  BEGIN(cuMemPoolGetAttribute, 0);
  (void)pool;
  *(uint64_t *)value = attribute == CU_POOL_RELEASE_THRESHOLD ? pool_keeps : memory_used;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  BEGIN(cuMemPoolTrimTo, 0);
  (void)pool, (void)keep;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  BEGIN(cuMemHostAlloc, 1);
  (void)flags;
  *address = standin_make(SI_PINNED, bytes);
  return standin_end(*address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemFreeHost(void *address) {
  BEGIN(cuMemFreeHost, 1);
  return standin_destroy(SI_PINNED, address);
}

/* Registered memory is its owner's: a thing of its own that says where and how much. */
typedef struct Registered {
  const void *address;
  size_t bytes;
} Registered;

static Thing *registered(const void *address) {
  for (Thing *t = things; t; t = t->next)
    if (t->registered && ((Registered *)t->handle)->address == address)
      return t;
  return NULL;
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags) {
  BEGIN(cuMemHostRegister, 1);
  (void)flags;
  if (registered(address))
    return standin_misuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  Registered *p = standin_make(SI_PINNED, sizeof *p);
  if (p) {
    *p = (Registered){address, bytes};
    standin_find(SI_PINNED, p)->registered = 1;
  }
  return standin_end(p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

int standin_is_pinned(CUdeviceptr address) {
  for (Thing *t = things; t; t = t->next) {
    if (t->kind != SI_PINNED)
      continue;
    Registered range = {t->handle, t->bytes};
    if (t->registered)
      range = *(const Registered *)t->handle;
    uintptr_t from = (uintptr_t)range.address;
    if (address >= from && address < from + range.bytes)
      return 1;
  }
  return 0;
}

Thing *standin_holding(CUdeviceptr address) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == SI_MEMORY && address >= (uintptr_t)t->handle &&
        address < (uintptr_t)t->handle + t->bytes)
      return t;
  return NULL;
}

/* Memory that was not made here is nobody's, which is no error. */
CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                                CUdeviceptr address) {
  BEGIN(cuPointerGetAttributes, 0);
  int type = standin_is_memory(address, 1) ? 2 : standin_is_pinned(address) ? 1 : 0;
  for (unsigned i = 0; i < count; i++)
    switch (attributes[i]) {
    case CU_POINTER_MEMORY_TYPE: *(unsigned *)values[i] = (unsigned)type; break;
    case CU_POINTER_ORDINAL:
      *(int *)values[i] = type == 2 ? standin_holding(address)->device : type ? 0 : -2;
      break;
    default: return standin_misuse(CUDA_ERROR_INVALID_VALUE);
    }
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemHostUnregister(void *address) {
  BEGIN(cuMemHostUnregister, 1);
  Thing *t = registered(address);
  if (!t)
    return standin_misuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  standin_drop(t);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags) {
  BEGIN(cuMemHostGetDevicePointer, 1);
  (void)flags;
  *address = (uintptr_t)host;
  return standin_end(CUDA_SUCCESS);
}

/* --- streams and events --- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  BEGIN(cuStreamCreate, 1);
  (void)flags;
  *stream = standin_make(SI_STREAM, 64);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuStreamDestroy(CUstream stream) {
  BEGIN(cuStreamDestroy, 1);
  return standin_destroy(SI_STREAM, stream);
}

static CUresult on_stream(CUstream stream, int can_be_busy) {
  if (!standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  return standin_end(can_be_busy && busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN(cuStreamSynchronize, 1);
  if ((result = graphs_refuse(stream)))
    return standin_misuse(result);
  return on_stream(stream, 0);
}

CUresult cuStreamQuery(CUstream stream) {
  BEGIN(cuStreamQuery, 1);
  if ((result = graphs_refuse(stream)))
    return standin_misuse(result);
  return on_stream(stream, 1);
}

CUresult cuStreamIsCapturing(CUstream stream, int *state) {
  BEGIN(cuStreamIsCapturing, 1);
  *state = captured && captured == stream ? CU_CAPTURE_ACTIVE : graphs_state(stream);
  return standin_is_stream(stream) ? standin_end(CUDA_SUCCESS)
                                   : standin_misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN(cuStreamWaitEvent, 1);
  (void)flags;
  standin_note("wait", event, stream);
  if (!standin_find(SI_EVENT, event))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  int taken = graphs_wait(stream, event);
  return taken < 0 ? standin_end(-taken) : on_stream(stream, 0);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  BEGIN(cuEventCreate, 1);
  (void)flags;
  *event = standin_make(SI_EVENT, 64);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuEventDestroy(CUevent event) {
  BEGIN(cuEventDestroy, 1);
  return standin_destroy(SI_EVENT, event);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN(cuEventRecord, 1);
  standin_note("record", event, stream);
  const Thing *t = standin_find(SI_EVENT, event);
  if (!t || !standin_is_here(t->device))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  int taken = graphs_record(event, stream);
  return taken < 0 ? standin_end(-taken) : on_stream(stream, 0);
}

CUresult cuEventSynchronize(CUevent event) {
  BEGIN(cuEventSynchronize, 1);
  if (!standin_find(SI_EVENT, event))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  return standin_end(graphs_is_captured_event(event) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent event) {
  BEGIN(cuEventQuery, 1);
  if (!standin_find(SI_EVENT, event))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  return standin_end(busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent stop) {
  BEGIN(cuEventElapsedTime, 1);
  if (!standin_find(SI_EVENT, start) || !standin_find(SI_EVENT, stop))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  *ms = 1.5f;
  return standin_end(busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuProfilerStart(void) {
  BEGIN(cuProfilerStart, 1);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuProfilerStop(void) {
  BEGIN(cuProfilerStop, 1);
  return standin_end(CUDA_SUCCESS);
}

/* --- control --- */

static void control_fail(const char *call, int nth, int result) {
  pthread_mutex_lock(&lock);
  snprintf(fail_call, sizeof fail_call, "%s", call ? call : "");
  fail_any = !call;
  fail_left = nth;
  fail_result = result;
  fail_fired = 0;
  fired_call = "";
  pthread_mutex_unlock(&lock);
}

static int control_fired(void) { return fail_fired; }
static const char *control_fired_call(void) { return fired_call; }
static void control_stick(int result) { sticky = result; }

static int control_calls(const char *call) {
  int n = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MAX_CALLS && counts[i].name; i++)
    if (!call || strcmp(call, counts[i].name) == 0)
      n += counts[i].count;
  pthread_mutex_unlock(&lock);
  return n;
}

static void control_forget(void) {
  pthread_mutex_lock(&lock);
  memset(counts, 0, sizeof counts);
  fail_left = fail_fired = 0;
  order_used = order[0] = 0;
  pthread_mutex_unlock(&lock);
}

static int control_live(StandinKind kind) {
  int n = 0;
  pthread_mutex_lock(&lock);
  for (Thing *t = things; t; t = t->next)
    n += t->kind == kind;
  for (int i = 0; i < MAX_DEVICES && kind == SI_CONTEXT; i++)
    n += contexts[i].retained;
  pthread_mutex_unlock(&lock);
  return n;
}

static int by_address(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (x[0] > y[0]) - (x[0] < y[0]);
}

static size_t control_reachable(uint64_t (*ranges)[2], size_t n) {
  size_t found = 0;
  pthread_mutex_lock(&lock);
  for (Thing *t = things; t; t = t->next) {
    if (t->kind != SI_MEMORY && t->kind != SI_PINNED)
      continue;
    const Registered *r = t->registered ? t->handle : &(Registered){t->handle, t->bytes};
    if (found < n) {
      ranges[found][0] = (uintptr_t)r->address;
      ranges[found][1] = ranges[found][0] + r->bytes;
    }
    found++;
  }
  pthread_mutex_unlock(&lock);
  if (ranges)
    qsort(ranges, found < n ? found : n, sizeof *ranges, by_address);
  return found;
}

static void *control_context(void) { return current; }
static const char *control_order(void) { return order; }
static void control_capture(void *stream) { captured = stream; }
static int control_misuse(void) { return misuses; }
static void control_set_memory(size_t bytes) { memory_size = bytes; }
static void control_set_attribute(int attribute, int value) {
  standin_attributes[attribute & 15] = value;
}
static const StandinLaunch *control_last(void) { return &standin_last; }
static void control_busy(int on) { busy = on; }

const StandinControl *standin_control(void) {
  static const StandinControl control = {
      control_fail,       control_fired,         control_fired_call, control_stick,
      control_calls,      control_forget,        control_live,       control_misuse,
      control_set_memory, control_set_attribute, standin_on_launch,  control_last,
      control_busy,       control_order,         control_capture,    standin_block,
      control_reachable,  control_context,       standin_answer,     standin_say,
  };
  return &control;
}
