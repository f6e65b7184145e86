/* Module and launch: compiled code on a device. */
#ifndef PYPTX_RUNTIME_LAUNCH_LAUNCH_H
#define PYPTX_RUNTIME_LAUNCH_LAUNCH_H

#include "runtime/abi.h"
#include "runtime/driver/device.h"
#include "runtime/launch/stream.h"

typedef struct RtKernel RtKernel;

/* A kernel's own code, and where params->coarse has a factor the second entry of a coarsened launch
 * (docs/COARSENING.md). Where params->roomy says so, a launch whose blocks are all resident at once
 * even with that many registers takes the own code compiled with them: ptxas by itself makes room
 * for a full device, and waits for the first loads before it issues the last. One that takes as
 * many waves of blocks with 48 registers as with all threads takes these. Where params->reading
 * says so, other launches take it with somewhat more registers than ptxas gives it, 40 or 48, if
 * their blocks still fill most of a multiprocessor: three quarters of the threads, or five eighths,
 * have more loads in flight than all of them with half as many each. Where it says from which
 * extent on, shorter loops do without, in which more threads are better. */
typedef enum RtEntryKind {
  RT_ENTRY_NONE,
  RT_ENTRY_OWN,
  RT_ENTRY_COARSE,
  RT_ENTRY_ROOMY,
  RT_ENTRY_AS_MANY_WAVES,
  RT_ENTRY_READING
} RtEntryKind;
enum { RT_ROOMY_ENTRIES = RT_ENTRY_READING - RT_ENTRY_ROOMY + 1 };

typedef struct RtKernelInfo {
  uint32_t registers, static_shared, constant, local, max_threads, binary_version;
} RtKernelInfo;

enum { RT_LINK_PTX = 1 };
typedef struct RtLinkInput {
  /* as the driver numbers them: 0 cubin, 1 PTX, which ends with 0, 2 fatbin, 3 object, 4 library of
   * objects */
  int kind;
  const char *name; /* for error texts */
  const void *data;
  size_t bytes;
} RtLinkInput;
typedef struct RtLinked {
  const RtLinkInput *inputs;
  unsigned n;
} RtLinked;
/* GPU: a kernel without code, which rt_kernel_add loads, an entry at a time, when a launch wants
 * it. has_trap: the module takes a TRAP field, for which the kernel gets an RtTrap of its own. */
RtStatus rt_kernel_open(RtDevice *d, const char *symbol, const RtParams *params, int has_trap,
                        RtKernel **out);
/* Loads an entry from PTX or a cubin (found out from its first bytes); the driver's log becomes
 * part of the error. `with`: code of other modules that it calls, which is linked to it and not
 * kept. Of one kernel one thread at a time may load; others may launch. */
RtStatus rt_kernel_add(RtKernel *k, RtEntryKind entry, const char *image, size_t size,
                       const RtLinked *with);
int rt_kernel_has(const RtKernel *k, RtEntryKind entry);
/* GPU: was the device reset since it was loaded? Then it has no entry, and rt_kernel_add makes it
 * as it was. */
int rt_kernel_is_stale(const RtKernel *k);
/* Host: code stays the caller's, and must outlive the kernel. */
RtStatus rt_kernel_host(RtDevice *d, const char *symbol, const RtHostCode *code,
                        const RtParams *params, RtKernel **out);
/* Host: a block has so many threads at most; 0: as many as the device allows. */
void rt_kernel_bound(RtKernel *k, uint32_t threads);
/* What error texts call the kernel: a copy of name, its symbol before. Not while another thread
 * uses the kernel. */
RtStatus rt_kernel_call_it(RtKernel *k, const char *name);
const char *rt_kernel_name(const RtKernel *k);
void rt_kernel_release(RtKernel *k);
/* of its own entry: zeros before that is loaded */
const RtKernelInfo *rt_kernel_info(const RtKernel *k);
/* What the driver's compiler said of the entry that was loaded last, on one line: "" if nothing,
 * as of code that it kept from an earlier process. */
const char *rt_kernel_words(const RtKernel *k);

/* A module with kernels and variables of another compiler: PTX, a cubin or a fatbin, of which PTX
 * alone can be linked with others. */
typedef struct RtModule RtModule;
RtStatus rt_module_open(RtDevice *d, const char *name, const char *image, size_t size,
                        const RtLinked *with, RtModule **out);
void rt_module_release(RtModule *m); /* after its kernels */
RtDevice *rt_module_device(const RtModule *m);
/* A kernel of it, loaded. params: its whole block. */
RtStatus rt_module_kernel(RtModule *m, const char *symbol, const RtParams *params, int has_trap,
                          RtKernel **out);
RtStatus rt_module_global(RtModule *m, const char *name, uint64_t *address, size_t *bytes);
/* Where parameter `index` of a loaded kernel lies in the block; size 0: there is no such, or the
 * driver is too old to say (before CUDA 12.4). */
RtStatus rt_kernel_param(RtKernel *k, uint32_t index, size_t *offset, size_t *size);

typedef struct RtConfig {
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  uint32_t cluster[3]; /* blocks that are scheduled together; 0: a launch without */
  uint32_t dependent;  /* 1: may begin before the launch in front of it in the stream has ended */
  RtStream *stream;    /* NULL: default */
  uint64_t timeout;    /* host: ns after which the launch ends with RT_TRAPPED; 0: never */
} RtConfig;

/* params: the packed block of params->bytes bytes; BLOCKS, GRID and TRAP fields are filled here.
 * GPU: asynchronous, and RT_NO_ENTRY where nothing has happened, since the entry that the launch
 * wants is not loaded: load that and launch again, which may then want the other one. Host: returns
 * when done, and RT_TRAPPED with *trap if a thread stopped. Call without the GIL. */
RtStatus rt_launch(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap);
/* The entry that a launch would want, and that is not loaded. params: as in rt_launch. */
RtEntryKind rt_kernel_wants(const RtKernel *k, const RtConfig *config, const void *params);
/* Above 48 KB of dynamic shared memory the driver wants to be told before a launch, and before it
 * is asked about one. Once, for all the device has; telling it twice does no harm. */
RtStatus rt_allow_dynamic(RtKernel *k) __attribute__((cold, noinline));
/* Does it synchronise its grid. */
int rt_kernel_is_cooperative(const RtKernel *k);
/* Most blocks of so many threads that a launch of a kernel with the grid's barrier can have: those
 * that can be resident at once. The kernel's own entry is loaded. */
RtStatus rt_kernel_grid_blocks(RtKernel *k, uint64_t threads, uint32_t dynamic_shared,
                               uint32_t *blocks);
/* Most clusters of a launch so configured that the device runs at once, however large the grid, a
 * multiple of the cluster. The host device runs one on each thread. */
RtStatus rt_kernel_clusters(RtKernel *k, const RtConfig *config, uint32_t *clusters);
/* GPU kernels with traps: RT_TRAPPED and *trap if a thread stopped since the last call; call after
 * a synchronisation. */
RtStatus rt_kernel_trap(RtKernel *k, RtTrap *trap);
/* For k.forall: the entry that a launch of so many threads along x takes, and threads a block, what
 * the occupancy calculator says of that entry, which is loaded. */
RtEntryKind rt_kernel_entry_of(const RtKernel *k, uint64_t threads, uint32_t dynamic_shared);
RtStatus rt_kernel_best_block(RtKernel *k, RtEntryKind entry, uint32_t dynamic_shared,
                              uint32_t *threads);

#endif
