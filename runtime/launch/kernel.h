/* Kernel: what the files of this room know of a kernel; other rooms know launch.h. */
#ifndef PYPTX_RUNTIME_LAUNCH_KERNEL_H
#define PYPTX_RUNTIME_LAUNCH_KERNEL_H

#include <stdatomic.h>

#include "runtime/driver/cuda.h"
#include "runtime/driver/device_state.h"
#include "runtime/launch/launch.h"

/* What the driver is told for a configuration: the kernel's own entry, or the coarsened one. */
typedef struct RtEntry {
  CUfunction function;
  uint32_t grid[3];
  size_t bytes; /* of parameters */
} RtEntry;
/* fills the BLOCKS field */
RtEntry rt_entry_for(const RtKernel *k, const RtConfig *config, void *params);

/* What differs once an entry is loaded is atomic: other threads launch meanwhile. The functions are
 * stored last. */
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
  uint32_t has_roomy;               /* one of `roomy` has registers: 0 or 1 */
  RtLimits limits;                  /* the device's */
  struct RtCoarseEntry {            /* the second entry: launch/launch.c, docs/COARSENING.md */
    uint32_t factor, axis;          /* factor 0: there is none */
    uint32_t in_row;                /* as in RtCoarse */
    uint32_t least;                 /* blocks on the axis */
    /* most threads of a block that it can have: the device's limit until it is loaded; 0: it is of
     * no use */
    _Atomic uint32_t threads;
    uint32_t field_offset; /* of the BLOCKS field */
    uint64_t from, blocks; /* threads and blocks of a launch from which on it is taken … */
    /* … but not for `gap` sizes from `full` blocks on, with which some multiprocessors have two of
     * its blocks and most one */
    uint64_t full, gap;
    _Atomic(CUfunction) function;
    CUmodule module;
    uint32_t fill;               /* 0: every launch that can takes it */
    uint32_t max_threads, local; /* as loaded */
  } coarse;
  struct RtRoomyEntry {
    uint32_t registers; /* of a thread; 0: there is none */
    /* threads that a multiprocessor can have with them (0: it has turned out to be of no use), and
     * how many of these whole blocks have to be */
    _Atomic uint32_t threads;
    uint32_t least;
    /* a launch takes as many waves of blocks on so many multiprocessors as if each had `all`
     * threads; 0: any launch does */
    uint32_t multiprocessors, all;
    uint32_t at, from; /* the number at `at` in the parameter block is at least `from`; 0: any is */
    _Atomic(CUfunction) function;
    CUmodule module;
    uint32_t most, local;    /* threads if it is of use; its local memory, as loaded */
  } roomy[RT_ROOMY_ENTRIES]; /* from RT_ENTRY_ROOMY on */
  uint64_t trap_address;     /* of *trap as the device sees it */
  uint32_t param_bytes;      /* of the whole block */
  /* of its last tensor map, among the fields and in the block; 0: it has none */
  uint32_t map_field, map_offset;
  /* rt_kernel_best_block without dynamic shared memory, of its own entry and of the second; 0: not
   * asked yet */
  _Atomic uint32_t best_block[2];
  uint32_t nfields, *field_offsets; /* of a cooperative kernel */
  RtHostCode host;
  _Atomic uint32_t host_block_ns; /* what a block took in its last launch; 0: there was none */
  RtTrap *trap; /* GPU: mapped pinned memory, readable even after the context is lost */
  CUmodule module;
  RtKernelInfo info;
  char *words;      /* of the driver's compiler about the entry that was loaded last; NULL: none */
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

enum { RT_LOG_SIZE = 4096 };
void rt_squeeze_log(char *log); /* module.c: onto one line */
/* What a launch fails with where another library has changed the context since rt_current was set
 * (launch/launch.c). */
int rt_is_wrong_context(int result);
/* Translates what a launch failed with, which may be its local memory. */
RtStatus rt_launch_refused(const struct RtKernel *k, int result, const char *call);

#endif
