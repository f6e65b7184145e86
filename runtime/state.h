/* State: what the files of this room share and no other room sees.
 *
 * The room's only global state is here: the driver's entry points (written once, before
 * rt_driver_open returns RT_OK), the phase, the table of devices in driver/device.c, and each thread's
 * current device and last error. */
#ifndef PYPTX_RUNTIME_STATE_H
#define PYPTX_RUNTIME_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/driver/cuda.h"
#include "runtime/driver/device.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/stream.h"
#include "runtime/memory/memory.h"
#include "runtime/status.h"

#define LIKELY(e)   __builtin_expect(!!(e), 1)
#define UNLIKELY(e) __builtin_expect(!!(e), 0)
#define HOT         __attribute__((hot)) /* what every launch runs: the linker lays it side by side */

/* --- driver/driver.c --- */

typedef struct RtDriver {
#define ENTRY(name, symbol, params) CUresult(*name) params;
#define OPTIONAL                    ENTRY
#include "runtime/driver/driver.def"
#undef ENTRY
#undef OPTIONAL
} RtDriver;
extern RtDriver rt_cu;

typedef enum RtPhase {
  RT_PHASE_CLOSED, /* the driver has not been initialised */
  RT_PHASE_OPEN,
  RT_PHASE_FORKED, /* this is a child of a process that had initialised it */
  RT_PHASE_ENDED,  /* the process is ending: libcuda must not be called any more */
} RtPhase;
extern _Atomic int rt_phase;

RtStatus rt_driver_load(void);     /* opens libcuda, does not initialise it: safe before a fork */
RtStatus rt_driver_open(void);     /* and initialises it: cuInit */
RtStatus rt_driver_unusable(void); /* the error for a phase that is not OPEN */

/* CU(cuStreamQuery, (stream)): the call as a status. */
#define CU(name, arguments) rt_driver_check(rt_cu.name arguments, #name)
static inline RtStatus rt_driver_check(int result, const char *call) {
  return LIKELY(result == CUDA_SUCCESS) ? RT_OK : rt_driver_status(result, call);
}

/* --- status.c --- */

/* As rt_fail, for a failed driver call whose text is better than the table's. */
RtStatus rt_fail_driver(RtStatus status, int result, const char *call, const char *remedy,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
void rt_set_error(const RtError *e); /* puts back a copy: cleaning up may have failed too */
/* As rt_driver_status, with "kernel NAME" in the text. */
RtStatus rt_driver_status_of(int result, const char *call, const char *kernel);
/* "1.5 GB" */
const char *rt_size_text(uint64_t bytes, char text[32]);

/* --- driver/device.c --- */

enum { RT_CACHE_SLOTS = 32, RT_SPARE_EVENTS = 8 };
typedef struct
    RtFreeBlock { /* freed on its stream, and free to be used again on that stream alone */
  uint64_t address;
  size_t bytes; /* 0: the slot is empty */
  CUstream stream;
} RtFreeBlock;

typedef struct RtDeferred {
  struct RtDeferred *next;
  uint64_t address;
  size_t bytes;
} RtDeferred;

/* The pinned ring of one direction of large copies: memory/staging.c. Smaller ones than MIN are the driver's: below it staging was slower on an
 * H200 with 16 cores. Elements with gaps must be packed anyway, so there it pays sooner. */
enum {
  RT_STAGE_WORKERS = 8,
  RT_STAGE_MIN_TO_DEVICE = 6 << 20,
  RT_STAGE_MIN_TO_HOST = 3 << 20,
  RT_STAGE_MIN_STRIDED = 1 << 20
};
typedef struct RtStage {
  pthread_mutex_t lock; /* held while a copy runs */
  uint32_t epoch;
  char *memory; /* NULL: not made */
  CUstream stream;
  CUevent events[RT_STAGE_WORKERS * 2];
} RtStage;

struct RtOwnStream;
struct RtDevice {
  int ordinal; /* RT_HOST or the GPU's number */
  CUdevice handle;
  _Atomic(CUcontext) context;
  _Atomic uint32_t epoch; /* counts resets: what belongs to an older one is gone */
  /* launched last on the default stream, for error texts; see rt_last_kernels */
  RtKernel *_Atomic last;
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
/* Which kernel was launched last on each stream of the thread's device, as the end of an error text; "" where none was. */
void rt_last_kernels(char *text, size_t size);
void rt_forget_kernel(RtKernel *k);
/* enters it in its device's list, or takes it out */
void rt_last_of_stream(struct RtOwnStream *s, int alive);

static inline int rt_is_host(const RtDevice *d) { return d->ordinal == RT_HOST; }
static inline uint32_t rt_epoch(RtDevice *d) {
  return atomic_load_explicit(&d->epoch, memory_order_relaxed);
}

/* --- driver/context.c --- */

/* The device whose context this thread made current last. Another library may have changed it
 * since: only the launch path trusts it, since a launch in a wrong context fails, while an
 * allocation would succeed on the wrong device. Of the default TLS model: initial-exec would put all
 * of the module's TLS into the small reserve that dlopen has, and import would fail beside PyTorch. */
extern _Thread_local RtDevice *rt_current;

/* Makes a GPU's context current (the host device has none), and notes in *was what rt_leave puts back: the context that another
 * library or another device of ours had there. Where none was current it stays, on a machine with one GPU. */
RtStatus rt_enter(RtContext *was, RtDevice *d);
/* For releases: 0 if nothing can or need be released (ended, forked, older epoch), no error is set. */
int rt_enter_alive(RtContext *was, RtDevice *d, uint32_t epoch);
void rt_leave(RtContext *was);
/* What a launch fails with where another library has changed the context since rt_current was set (launch/launch.c). */
int rt_is_wrong_context(int result);
/* Translates what a launch failed with, which may be its local memory. */
RtStatus rt_launch_refused(const struct RtKernel *k, int result, const char *call);

/* RtContext was SCOPED = {0}: it is left where it goes out of scope. ENTER(d): from here to the end of the block. */
#define SCOPED __attribute__((cleanup(rt_leave)))
#define ENTER(d)                                                                                   \
  RtContext was_ SCOPED = {0};                                                                     \
  TRY(rt_enter(&was_, d))

/* --- memory/memory.c --- */

/* No machine has more, and sizes below it can be rounded up. */
#define RT_ADDRESS_SPACE ((size_t)1 << 56)

/* Gives the cached blocks of a stream (all: of every stream) back to the driver. The context is
 * current. */
void rt_cache_flush(RtDevice *d, CUstream stream, int all);
/* frees what was deferred. The device is idle, its context current. */
void rt_deferred_flush(RtDevice *d);
void rt_cache_forget(RtDevice *d); /* after a reset: drops cache and numbers, calls nothing */

/* --- memory/staging.c --- */

/* A copy of RT_STAGE_MIN_… bytes or more, the context current. done 0: it was not made, and is the
 * driver's to make. */
RtStatus rt_stage_bytes(RtDevice *d, char *host, uint64_t device, size_t bytes, int to_host,
                        CUstream stream, int *done);
void rt_stage_flush(RtDevice *d); /* frees the rings; the next large copy makes them again */

/* --- launch/stream.c --- */

struct RtStream {
  RtDevice *device;
  CUstream handle;
  uint32_t epoch;
  uint8_t owned;
  uint8_t apart;    /* it may not wait for the legacy default stream, nor that for it */
  uint64_t capture; /* the capture that it takes part in (launch/graph.c), 0: none */
  /* where to note what is launched on it: its own, or the device's if it is but a view of a stream */
  RtKernel *_Atomic *last;
  int32_t mark;
};

typedef struct RtOwnStream { /* of rt_stream_new and rt_stream_wrap */
  RtStream stream;
  RtKernel *_Atomic last;
  struct RtOwnStream *next, **link;
} RtOwnStream;

static inline void rt_note_last(RtDevice *d, const RtStream *s, RtKernel *k) {
  RtKernel *_Atomic *last = s ? s->last : &d->last;
  if (atomic_load_explicit(last, memory_order_relaxed) != k)
    atomic_store_explicit(last, k, memory_order_relaxed);
}

RtStatus rt_stream_check(RtDevice *d,
                         const RtStream *s); /* s is d's, or NULL, and no older than its context */

static inline CUstream rt_handle(const RtStream *s) { return s ? s->handle : NULL; }

/* --- launch/graph.c --- */

/* What this thread captures. A function that queues work, waits or allocates asks it first, and if it is not NULL hands the call on to
 * one of these. While it is set rt_current is NULL: a launch asks only then. */
extern _Thread_local struct RtGraph *rt_capture;
/* while such a call is passed on, rt_capture is NULL and this is set */
extern _Thread_local struct RtGraph *rt_passing;
/* of all threads: what is freed while there are any waits for their end */
extern _Atomic unsigned rt_captures;

typedef struct RtCopy {
  enum { RT_COPY_TO_DEVICE, RT_COPY_TO_HOST, RT_COPY_ON_DEVICE, RT_COPY_FILL } way;
  uint8_t byte;
  uint64_t to, from;
  size_t bytes;
} RtCopy;

RtStatus rt_capture_launch(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap);
RtStatus rt_capture_copy(RtDevice *d, RtStream *s, RtCopy copy);
RtStatus rt_capture_alloc(RtDevice *d, size_t bytes, uint64_t *address);
int rt_capture_defer(RtDevice *d, uint64_t address, size_t bytes); /* 0: free it now */
RtStatus rt_capture_wait(RtDevice *d, RtStream *s); /* refuses to wait for what is captured */
/* An event of the capture: where it stands in the order. *capture 0: it is not one. */
RtStatus rt_capture_record(RtDevice *d, RtStream *s, uint64_t *capture, int32_t *mark);
RtStatus rt_capture_join(RtDevice *d, RtStream *s, uint64_t capture, int32_t mark);
/* Memory that lives as long as the graph that a launch is passed on for. */
/* NULL is the captured stream while this thread captures */
RtStream *rt_stream_now(RtDevice *d, RtStream *s);
RtStatus rt_passing_alloc(RtDevice *d, size_t bytes, uint64_t *address);

/* --- launch/cooperative.c --- */

/* Refuses a grid that cannot be resident. The device is current, and what other launches check has been checked. */
RtStatus rt_launch_cooperative(RtKernel *k, const RtConfig *config, char *params);
RtStatus rt_cooperative_check(RtKernel *k, const RtConfig *config);

/* --- launch/link.c --- */

enum { RT_LOG_SIZE = 4096 };
void rt_squeeze_log(char *log); /* launch/module.c: on one line */
/* Links, and calls load with what comes of it, which is gone when load has returned. A context is current. */
RtStatus rt_link(const char *symbol, const char *ptx, const RtLinked *with,
                 RtStatus (*load)(void *user, const char *cubin), void *user);

/* --- launch/cluster.c --- */

/* as rt_launch_cooperative */
RtStatus rt_launch_cluster(RtKernel *k, const RtConfig *config, void *params);
RtStatus rt_cluster_check(const RtKernel *k, const RtConfig *config);

/* --- launch/launch.c, launch/module.c --- */

/* What the driver is told for a configuration: the kernel's own entry, or the coarsened one. */
typedef struct RtEntry {
  CUfunction function;
  uint32_t grid[3];
  size_t bytes; /* of parameters */
} RtEntry;
/* fills the BLOCKS field */
RtEntry rt_entry_for(const RtKernel *k, const RtConfig *config, void *params);

/* What differs once an entry is loaded is atomic: other threads launch meanwhile. The functions are stored last. */
struct RtKernel { /* first what every launch reads, in two cache lines */
  RtDevice *device;
  _Atomic(CUfunction) function; /* its own entry; NULL: not loaded */
  _Atomic uint32_t epoch;       /* of the device when it was opened, or renewed */
  uint32_t plain_bytes;         /* of the parameter block, as the kernel's own entry takes it */
  int32_t trap_offset;          /* of the TRAP field in the parameter block, -1 without */
  int32_t grid_offset;          /* of the GRID field: launches are cooperative; -1 without */
  /* most of a block: the device's limit until its own entry is loaded */
  _Atomic uint32_t threads;
  _Atomic uint32_t max_dynamic;     /* bytes of dynamic shared memory that the kernel can have */
  _Atomic uint32_t allowed_dynamic; /* … without asking the driver for more, or for the entry */
  RtLimits limits;                  /* the device's */
  struct RtCoarseEntry {            /* the second entry: launch/launch.c, docs/COARSENING.md */
    uint32_t factor, axis;          /* factor 0: there is none */
    uint32_t least;                 /* blocks on the axis */
    /* most threads of a block that it can have: the device's limit until it is loaded; 0: it is of no use */
    _Atomic uint32_t threads;
    uint32_t field_offset; /* of the BLOCKS field */
    uint64_t from, blocks; /* threads and blocks of a launch from which on it is taken … */
    /* … but not for `gap` sizes from `full` blocks on, with which some multiprocessors have two of its blocks and most one */
    uint64_t full, gap;
    _Atomic(CUfunction) function;
    CUmodule module;
    uint32_t fill;               /* 0: every launch that can takes it */
    uint32_t max_threads, local; /* as loaded */
  } coarse;
  uint64_t trap_address; /* of *trap as the device sees it */
  uint32_t param_bytes;  /* of the whole block */
  /* rt_kernel_best_block without dynamic shared memory, of its own entry and of the second; 0: not asked yet */
  _Atomic uint32_t best_block[2];
  uint32_t nfields, *field_offsets; /* of a cooperative kernel */
  RtHostCode host;
  RtTrap *trap; /* GPU: mapped pinned memory, readable even after the context is lost */
  CUmodule module;
  RtKernelInfo info;
  const char *name; /* for error texts: the symbol, or what rt_kernel_call_it gave */
  char symbol[];
};

/* Was its device reset since? */
static inline int rt_is_stale(const RtKernel *k) {
  return atomic_load_explicit(&k->epoch, memory_order_acquire) != rt_epoch(k->device);
}

static inline CUfunction rt_own_function(const RtKernel *k) {
  return atomic_load_explicit(&k->function, memory_order_acquire);
}

#endif
