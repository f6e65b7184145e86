/* See standin.h. Signatures are held to runtime/driver.def: each ENTRY is declared from it under
 * its exported name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda.h"
#include "runtime/status.h"
#include "tests/standin/standin.h"

#define EXPORT                      __attribute__((visibility("default")))

#define ENTRY(name, symbol, params) EXPORT CUresult name params __asm__(symbol);
#define OPTIONAL                    ENTRY
#include "runtime/driver.def"
#undef ENTRY
#undef OPTIONAL
EXPORT const StandinControl *standin_control(void);

enum { MAX_DEVICES = 8, MAX_CALLS = 128, POOL = 0x900 };

struct CUctx_st {
  int device, retained;
};
struct CUmod_st {
  char *text;
};
struct CUfunc_st {
  char name[128];
  int max_dynamic;
  struct CUfunc_st *next; /* freed when the library is unloaded */
};

typedef struct Thing {
  StandinKind kind;
  int device;
  void *handle;
  size_t bytes;
  struct Thing *next;
} Thing;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st contexts[MAX_DEVICES];
static _Thread_local CUcontext current;
static Thing *things;
static struct CUfunc_st *functions;
static struct {
  const char *name;
  int count;
} counts[MAX_CALLS];
static char fail_call[64];
static const char *fired_call = "";
static int fail_any, fail_left, fail_result, fail_fired, sticky, misuses, busy, initialised;
static size_t memory_size, memory_used;
static int attributes[16] = {1024, 0, 0, 0, 32, 90, 90};
static void (*launched)(const StandinLaunch *, void *);
static void *launched_user;
static StandinLaunch last_launch;

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

/* What every entry point does first, the lock held: the result that it must return at once, or
 * 0. */
static int begin(const char *name, int needs_context) {
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

#define BEGIN(name, needs_context)                                                                 \
  pthread_mutex_lock(&lock);                                                                       \
  int result = begin(#name, needs_context);                                                        \
  if (result)                                                                                      \
  return end(result)

static int end(int result) {
  pthread_mutex_unlock(&lock);
  return result;
}

static int misuse(int result) {
  misuses++;
  return end(result);
}

static char order[4096]; /* what was put on which stream, a line each */
static size_t order_used;
static void *captured; /* a stream that is */
static void note(const char *what, const void *event, const void *stream) {
  if (order_used < sizeof order - 64)
    order_used += (size_t)sprintf(order + order_used, "%s %p %p\n", what, event, stream);
}

/* --- things --- */

static Thing *find(StandinKind kind, const void *handle) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == kind && t->handle == handle)
      return t;
  return NULL;
}

static void *make(StandinKind kind, size_t bytes) {
  Thing *t = calloc(1, sizeof *t);
  void *p = NULL;
  if (!t || posix_memalign(&p, 256, bytes ? bytes : 1)) {
    free(t);
    return NULL;
  }
  memset(p, 0xa5, bytes);
  *t = (Thing){kind, current ? current->device : 0, p, bytes, things};
  things = t;
  memory_used += kind == SI_MEMORY ? bytes : 0;
  return p;
}

static void drop(Thing *t) {
  Thing **link = &things;
  while (*link != t)
    link = &(*link)->next;
  *link = t->next;
  memory_used -= t->kind == SI_MEMORY ? t->bytes : 0;
  if (t->kind == SI_MODULE)
    free(((CUmodule)t->handle)->text);
  free(t->handle);
  free(t);
}

static int destroy(StandinKind kind, void *handle) {
  Thing *t = find(kind, handle);
  if (!t)
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  drop(t);
  return end(CUDA_SUCCESS);
}

static int is_stream(CUstream s) {
  return (uintptr_t)s <= CU_STREAM_PER_THREAD_HANDLE || find(SI_STREAM, s);
}

/* A range must lie in one live allocation. */
static int is_memory(CUdeviceptr address, size_t bytes) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == SI_MEMORY && address >= (uintptr_t)t->handle &&
        address + bytes <= (uintptr_t)t->handle + t->bytes)
      return 1;
  return 0;
}

static void *at(CUdeviceptr address) { return (void *)(uintptr_t)address; }

/* --- driver and device --- */

CUresult cuInit(unsigned flags) {
  BEGIN(cuInit, 0);
  (void)flags;
  if (!device_count())
    return end(CUDA_ERROR_NO_DEVICE);
  initialised = 1;
  return end(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version) {
  BEGIN(cuDriverGetVersion, 0);
  *version = (int)setting("PYPTX_STANDIN_VERSION", 13000);
  return end(CUDA_SUCCESS);
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
  return end(initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN(cuDeviceGet, 0);
  if (ordinal < 0 || ordinal >= device_count())
    return misuse(CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  BEGIN(cuDeviceGetName, 0);
  snprintf(name, (size_t)size, "Stand-in GPU %d", device);
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  BEGIN(cuDeviceGetUuid, 0);
  memset(uuid->bytes, device + 1, sizeof uuid->bytes);
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  BEGIN(cuDeviceGetUuid_v2, 0);
  memset(uuid->bytes, device + 1, sizeof uuid->bytes);
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  static const int answers[128] = {
      [1] = 1024,  [2] = 1024,  [3] = 1024,  [4] = 64,     [5] = INT32_MAX, [6] = 65535,
      [7] = 65535, [8] = 49152, [9] = 65536, [10] = 32,    [13] = 1500000,  [16] = 132,
      [39] = 2048, [41] = 1,    [95] = 1,    [97] = 232448};
  BEGIN(cuDeviceGetAttribute, 0);
  (void)device;
  long capability = setting("PYPTX_STANDIN_CAPABILITY", 90);
  if (attribute < 1 || attribute >= 128)
    return end(CUDA_ERROR_INVALID_VALUE);
  *value = attribute == CU_CAPABILITY_MAJOR   ? (int)(capability / 10)
           : attribute == CU_CAPABILITY_MINOR ? (int)(capability % 10)
           : attribute == CU_POOLS_SUPPORTED  ? setting("PYPTX_STANDIN_POOLS", 1) != 0
                                              : answers[attribute];
  return end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  BEGIN(cuDevicePrimaryCtxRetain, 0);
  contexts[device].device = device;
  contexts[device].retained++;
  *context = &contexts[device];
  return end(CUDA_SUCCESS);
}

static void empty(int device) {
  for (Thing *t = things, *next; t; t = next) {
    next = t->next;
    if (t->device == device)
      drop(t);
  }
  sticky = 0;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  BEGIN(cuDevicePrimaryCtxRelease, 0);
  if (!contexts[device].retained)
    return misuse(CUDA_ERROR_INVALID_CONTEXT);
  if (!--contexts[device].retained)
    empty(device);
  return end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  BEGIN(cuDevicePrimaryCtxReset, 0);
  empty(device);
  return end(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  BEGIN(cuCtxGetCurrent, 0);
  *context = current;
  return end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  BEGIN(cuCtxSetCurrent, 0);
  current = context;
  return end(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void) {
  BEGIN(cuCtxSynchronize, 1);
  return end(CUDA_SUCCESS);
}

/* --- memory --- */

CUresult cuMemGetInfo(size_t *available, size_t *total) {
  BEGIN(cuMemGetInfo, 1);
  *total = memory_total();
  *available = *total > memory_used ? *total - memory_used : 0;
  return end(CUDA_SUCCESS);
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
  BEGIN(cuPointerGetAttribute, 0);
  for (Thing *t = things; t; t = t->next)
    if (t->kind == SI_MEMORY && attribute == CU_POINTER_ORDINAL && address - (uintptr_t)t->handle < t->bytes)
      return *(int *)value = t->device, end(CUDA_SUCCESS);
  return end(CUDA_ERROR_INVALID_VALUE);
}

static CUresult allocate(CUdeviceptr *address, size_t bytes) {
  if (bytes > memory_total() || memory_used > memory_total() - bytes)
    return end(CUDA_ERROR_OUT_OF_MEMORY);
  *address = (uintptr_t)make(SI_MEMORY, bytes);
  return end(*address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  BEGIN(cuMemAlloc, 1);
  return allocate(address, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  BEGIN(cuMemAllocAsync, 1);
  return is_stream(stream) ? allocate(address, bytes) : misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuMemFree(CUdeviceptr address) {
  BEGIN(cuMemFree, 1);
  return destroy(SI_MEMORY, at(address));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  BEGIN(cuMemFreeAsync, 1);
  return is_stream(stream) ? destroy(SI_MEMORY, at(address)) : misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  BEGIN(cuDeviceGetDefaultMemPool, 0);
  *pool = (CUmemoryPool)(uintptr_t)(POOL + device);
  return end(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
  BEGIN(cuMemPoolSetAttribute, 0);
  (void)pool, (void)value;
  return end(attribute == CU_POOL_RELEASE_THRESHOLD ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
  BEGIN(cuMemPoolGetAttribute, 0);
  (void)pool, (void)attribute;
  *(uint64_t *)value = memory_used;
  return end(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  BEGIN(cuMemPoolTrimTo, 0);
  (void)pool, (void)keep;
  return end(CUDA_SUCCESS);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  BEGIN(cuMemHostAlloc, 1);
  (void)flags;
  *address = make(SI_PINNED, bytes);
  return end(*address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemFreeHost(void *address) {
  BEGIN(cuMemFreeHost, 1);
  return destroy(SI_PINNED, address);
}

/* Registered memory is its owner's: a thing of its own that holds the address as its first
 * bytes. */
static Thing *registered(const void *address) {
  for (Thing *t = things; t; t = t->next)
    if (t->kind == SI_PINNED && t->bytes == sizeof address && *(void **)t->handle == address)
      return t;
  return NULL;
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags) {
  BEGIN(cuMemHostRegister, 1);
  (void)bytes, (void)flags;
  if (registered(address))
    return misuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  void **p = make(SI_PINNED, sizeof address);
  if (p)
    *p = address;
  return end(p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemHostUnregister(void *address) {
  BEGIN(cuMemHostUnregister, 1);
  Thing *t = registered(address);
  if (!t)
    return misuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  drop(t);
  return end(CUDA_SUCCESS);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags) {
  BEGIN(cuMemHostGetDevicePointer, 1);
  (void)flags;
  *address = (uintptr_t)host;
  return end(CUDA_SUCCESS);
}

/* to or from is memory of the device where its flag says so. */
static CUresult copy(void *to, const void *from, size_t bytes, int device_to, int device_from,
                     CUstream stream) {
  if ((device_to && !is_memory((uintptr_t)to, bytes)) ||
      (device_from && !is_memory((uintptr_t)from, bytes)))
    return misuse(CUDA_ERROR_INVALID_VALUE);
  if (!is_stream(stream))
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  memmove(to, from, bytes);
  return end(CUDA_SUCCESS);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  BEGIN(cuMemcpyHtoD, 1);
  return copy(at(to), from, bytes, 1, 0, NULL);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  BEGIN(cuMemcpyDtoH, 1);
  return copy(to, at(from), bytes, 0, 1, NULL);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyHtoDAsync, 1);
  return copy(at(to), from, bytes, 1, 0, stream);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyDtoHAsync, 1);
  return copy(to, at(from), bytes, 0, 1, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyDtoDAsync, 1);
  return copy(at(to), at(from), bytes, 1, 1, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream) {
  BEGIN(cuMemsetD8Async, 1);
  if (!is_memory(to, bytes) || !is_stream(stream))
    return misuse(CUDA_ERROR_INVALID_VALUE);
  memset(at(to), byte, bytes);
  return end(CUDA_SUCCESS);
}

/* --- modules and launches --- */

/* Text is PTX if it has a .version; a cubin is kept as "any kernel". */
static int refuse(const char *text, unsigned count, const int *options, void **values) {
  if (strstr(text, ".version") && !strstr(text, "refuse this"))
    return CUDA_SUCCESS;
  for (unsigned i = 0; i < count; i++)
    if (options[i] == CU_JIT_ERROR_LOG)
      strcpy(values[i],
             "ptxas application ptx input, line 7; fatal :\n   Parsing error near 'this'\n");
  return strstr(text, ".version") ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
  BEGIN(cuModuleLoadDataEx, 1);
  int cubin = memcmp(image, "\177ELF", 4) == 0;
  if (!cubin && (result = refuse(image, count, options, values)) != CUDA_SUCCESS)
    return end(result);
  CUmodule m = make(SI_MODULE, sizeof *m);
  if (!m)
    return end(CUDA_ERROR_OUT_OF_MEMORY);
  m->text = cubin ? NULL : strdup(image);
  *module = m;
  return end(CUDA_SUCCESS);
}

CUresult cuModuleUnload(CUmodule module) {
  BEGIN(cuModuleUnload, 1);
  return destroy(SI_MODULE, module);
}

static int has_entry(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *p = text; (p = strstr(p, ".entry")) != NULL;) {
    p += strlen(".entry");
    p += strspn(p, " \t\n");
    if (strncmp(p, name, n) == 0 && strspn(p + n, " \t\n(") > 0)
      return 1;
  }
  return 0;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN(cuModuleGetFunction, 1);
  if (!find(SI_MODULE, module))
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  if (module->text && !has_entry(module->text, name))
    return end(CUDA_ERROR_NOT_FOUND);
  CUfunction f = calloc(1, sizeof *f);
  if (!f)
    return end(CUDA_ERROR_OUT_OF_MEMORY);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->max_dynamic = 49152 - attributes[CU_FUNC_SHARED];
  f->next = functions;
  *function = functions = f;
  return end(CUDA_SUCCESS);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  BEGIN(cuFuncGetAttribute, 1);
  (void)function;
  *value = attributes[attribute & 15];
  return end(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  BEGIN(cuFuncSetAttribute, 1);
  if (attribute != CU_FUNC_MAX_DYNAMIC_SHARED)
    return misuse(CUDA_ERROR_INVALID_VALUE);
  function->max_dynamic = value;
  return end(CUDA_SUCCESS);
}

static void read_extra(StandinLaunch *l, void **extra) {
  const void *buffer = NULL;
  for (; extra && *extra != CU_PARAM_END; extra += 2)
    if (extra[0] == CU_PARAM_BUFFER)
      buffer = extra[1];
    else if (extra[0] == CU_PARAM_BUFFER_SIZE)
      l->bytes = *(size_t *)extra[1];
  if (buffer)
    memcpy(l->params, buffer, l->bytes < sizeof l->params ? l->bytes : sizeof l->params);
}

/* Notes a launch under the lock; not 0: the error it is. */
static int note_launch(CUfunction function, const StandinLaunch *launch) {
  const unsigned *g = launch->grid, *b = launch->block;
  if (!is_stream(launch->stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2] || b[0] * b[1] * b[2] > 1024 ||
      (int)launch->dynamic_shared > function->max_dynamic)
    return CUDA_ERROR_INVALID_VALUE;
  last_launch = *launch;
  memcpy(last_launch.kernel, function->name, sizeof last_launch.kernel);
  return CUDA_SUCCESS;
}

static CUresult run_launch(void) {
  void (*run)(const StandinLaunch *, void *) = launched;
  void *user = launched_user;
  end(CUDA_SUCCESS);
  if (run)
    run(&last_launch, user);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned dynamic_shared, CUstream stream,
                        void **params, void **extra) {
  BEGIN(cuLaunchKernel, 1);
  (void)params;
  note("launch", NULL, stream);
  StandinLaunch l = {.grid = {gx, gy, gz},
                     .block = {bx, by, bz},
                     .dynamic_shared = dynamic_shared,
                     .stream = stream};
  read_extra(&l, extra);
  int bad = note_launch(function, &l);
  return bad ? misuse(bad) : run_launch();
}

/* As many blocks as there are threads for. */
enum { MULTIPROCESSORS = 132, THREADS_EACH = 2048 };

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared,
                                   CUstream stream, void **params) {
  BEGIN(cuLaunchCooperativeKernel, 1);
  StandinLaunch l = {.grid = {gx, gy, gz},
                     .block = {bx, by, bz},
                     .dynamic_shared = dynamic_shared,
                     .stream = stream,
                     .cooperative = 1,
                     .fields = params};
  int bad = note_launch(function, &l);
  if (bad)
    return misuse(bad);
  if ((uint64_t)gx * gy * gz > MULTIPROCESSORS * (THREADS_EACH / (bx * by * bz)))
    return end(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  return run_launch();
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared) {
  BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor, 1);
  (void)function;
  *blocks = dynamic_shared > 100000 ? 1 : THREADS_EACH / threads;
  return end(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  BEGIN(cuOccupancyMaxPotentialBlockSize, 1);
  (void)function, (void)shared_of, (void)shared, (void)limit;
  *min_grid = 132;
  *block = 768;
  return end(CUDA_SUCCESS);
}

/* --- streams and events --- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  BEGIN(cuStreamCreate, 1);
  (void)flags;
  *stream = make(SI_STREAM, 16);
  return end(CUDA_SUCCESS);
}

CUresult cuStreamDestroy(CUstream stream) {
  BEGIN(cuStreamDestroy, 1);
  return destroy(SI_STREAM, stream);
}

static CUresult on_stream(CUstream stream, int can_be_busy) {
  if (!is_stream(stream))
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  return end(can_be_busy && busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN(cuStreamSynchronize, 1);
  return on_stream(stream, 0);
}

CUresult cuStreamQuery(CUstream stream) {
  BEGIN(cuStreamQuery, 1);
  return on_stream(stream, 1);
}

CUresult cuStreamIsCapturing(CUstream stream, int *state) {
  BEGIN(cuStreamIsCapturing, 1);
  *state = captured && captured == stream;
  return on_stream(stream, 0);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN(cuStreamWaitEvent, 1);
  (void)flags;
  note("wait", event, stream);
  return find(SI_EVENT, event) ? on_stream(stream, 0) : misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  BEGIN(cuEventCreate, 1);
  (void)flags;
  *event = make(SI_EVENT, 16);
  return end(CUDA_SUCCESS);
}

CUresult cuEventDestroy(CUevent event) {
  BEGIN(cuEventDestroy, 1);
  return destroy(SI_EVENT, event);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN(cuEventRecord, 1);
  note("record", event, stream);
  return find(SI_EVENT, event) ? on_stream(stream, 0) : misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventSynchronize(CUevent event) {
  BEGIN(cuEventSynchronize, 1);
  return find(SI_EVENT, event) ? end(CUDA_SUCCESS) : misuse(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventQuery(CUevent event) {
  BEGIN(cuEventQuery, 1);
  if (!find(SI_EVENT, event))
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  return end(busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent stop) {
  BEGIN(cuEventElapsedTime, 1);
  if (!find(SI_EVENT, start) || !find(SI_EVENT, stop))
    return misuse(CUDA_ERROR_INVALID_HANDLE);
  *ms = 1.5f;
  return end(busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
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

static int control_misuse(void) { return misuses; }
static const char *control_order(void) { return order; }
static void control_capture(void *stream) { captured = stream; }
static void control_set_memory(size_t bytes) { memory_size = bytes; }
static void control_set_attribute(int attribute, int value) { attributes[attribute & 15] = value; }
static const StandinLaunch *control_last(void) { return &last_launch; }
static void control_busy(int on) { busy = on; }

static void control_on_launch(void (*run)(const StandinLaunch *, void *), void *user) {
  pthread_mutex_lock(&lock);
  launched = run;
  launched_user = user;
  pthread_mutex_unlock(&lock);
}

const StandinControl *standin_control(void) {
  static const StandinControl control = {
      control_fail,       control_fired,         control_fired_call, control_stick,
      control_calls,      control_forget,        control_live,       control_misuse,
      control_set_memory, control_set_attribute, control_on_launch,  control_last,
      control_busy,       control_order,         control_capture,
  };
  return &control;
}

__attribute__((destructor)) static void unload(void) {
  while (functions) {
    struct CUfunc_st *next = functions->next;
    free(functions);
    functions = next;
  }
}
