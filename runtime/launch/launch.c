/* Launch: in, a kernel, a configuration and a packed parameter block; out, work queued on the
 * stream, or done on the host device.
 *
 * rt_launch is the path that is paid at every call: no lock, no allocation, no call into the
 * driver but the launch. It trusts the thread's cached context, since a launch in a wrong one
 * fails, and then sets the context and tries once more. */
#include <assert.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/cluster.h"
#include "runtime/launch/cooperative.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/memory.h"

/* --- configuration --- */

static inline uint64_t threads_of(const RtConfig *c) {
  return (uint64_t)c->block[0] * c->block[1] * c->block[2];
}

/* n - 1 wraps for 0, so one comparison tests both ends. */
static inline int within(uint32_t n, uint32_t limit) { return n - 1 < limit; }

static inline int fits(const RtKernel *k, const RtConfig *c) {
  const RtLimits *l = &k->limits;
  uint32_t threads = atomic_load_explicit(&k->threads, memory_order_relaxed);
  uint32_t dynamic = atomic_load_explicit(&k->max_dynamic, memory_order_relaxed);
  return within(c->grid[0], l->grid[0]) & within(c->grid[1], l->grid[1]) &
             within(c->grid[2], l->grid[2]) & within(c->block[0], l->block[0]) &
             within(c->block[1], l->block[1]) & within(c->block[2], l->block[2]) &&
         threads_of(c) <= threads && c->dynamic_shared <= dynamic;
}

static RtStatus check_axes(const RtKernel *k, const char *what, const uint32_t n[3],
                           const uint32_t limit[3]) {
  for (int i = 0; i < 3; i++) {
    if (!n[i])
      return rt_fail(
          RT_BAD_LAUNCH,
          "every extent of grid and block is at least 1; skip the launch where there is nothing to do",
          "kernel '%s': the %s (%u, %u, %u) has a zero extent", k->name, what, n[0], n[1], n[2]);
    if (n[i] > limit[i])
      return rt_fail(RT_BAD_LAUNCH,
                     "use smaller extents, or let each thread do more than one element in a loop",
                     "kernel '%s': the %s (%u, %u, %u) is too large: %s allows (%u, %u, %u)",
                     k->name, what, n[0], n[1], n[2], k->device->name, limit[0], limit[1],
                     limit[2]);
  }
  return RT_OK;
}

static RtStatus check_threads(const RtKernel *k, const RtConfig *c) {
  unsigned long long threads = threads_of(c);
  if (threads > k->device->limits.threads)
    return rt_fail(RT_BAD_LAUNCH, "use fewer threads a block and more blocks",
                   "kernel '%s': %llu threads a block; %s allows %u", k->name, threads,
                   k->device->name, k->device->limits.threads);
  if (threads > k->threads && rt_device_is_host(k->device))
    return rt_fail(RT_BAD_LAUNCH, "use fewer threads a block, or compile with other launch_bounds=",
                   "kernel '%s': %llu threads a block; its launch_bounds= allow %u", k->name,
                   threads, k->threads);
  if (threads > k->threads)
    return rt_fail(
        RT_BAD_LAUNCH,
        "use fewer threads a block, or compile with max_registers= or launch_bounds=",
        "kernel '%s': %llu threads a block; with its %u registers a thread this kernel allows %u",
        k->name, threads, k->info.registers, k->threads);
  return RT_OK;
}

/* Everything that can be known before the launch: zero or too many blocks or threads, too much
 * shared memory (RT_BAD_LAUNCH). */
static RtStatus check_config(const RtKernel *k, const RtConfig *c) {
  if (fits(k, c))
    return RT_OK;
  TRY(check_threads(k, c));
  TRY(check_axes(k, "block", c->block, k->limits.block));
  TRY(check_axes(k, "grid", c->grid, k->limits.grid));
  if (c->dynamic_shared <= k->max_dynamic)
    return RT_OK;
  return rt_fail(
      RT_BAD_LAUNCH, "use smaller shared arrays",
      "kernel '%s': %u bytes of dynamic shared memory; beside its %u static bytes this kernel can have %u on %s",
      k->name, c->dynamic_shared, k->info.static_shared, k->max_dynamic, k->device->name);
}

/* --- launching --- */

RtStatus rt_allow_dynamic(RtKernel *k) {
  CUfunction function = rt_own_function(k);
  if (!function)
    return RT_NO_ENTRY;
  ENTER(k->device);
  int result = rt_cu.cuFuncSetAttribute(function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)k->max_dynamic);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuFuncSetAttribute", k->name);
  atomic_store_explicit(&k->allowed_dynamic, k->max_dynamic, memory_order_relaxed);
  return RT_OK;
}

/* Of a kernel that a reset has taken away no entry is loaded: rt_kernel_add renews it. */
static inline RtStatus check_epoch(const RtKernel *k) {
  return LIKELY(!rt_is_stale(k)) ? RT_OK : RT_NO_ENTRY;
}

static inline int spreads(const struct RtCoarseEntry *e, uint64_t blocks) {
  return blocks >= e->blocks && blocks - e->full >= e->gap;
}

/* Enough blocks, and its registers allow blocks of that size. No product overflows: a grid is below
 * 2^31 x 2^16 x 2^16, and the thresholds below 2^32. */
static inline int takes_coarse(const RtKernel *k, const RtConfig *c) {
  const struct RtCoarseEntry *e = &k->coarse;
  uint64_t threads = threads_of(c), blocks = (uint64_t)c->grid[0] * c->grid[1],
           plane = threads * blocks;
  return threads <= atomic_load_explicit(&e->threads, memory_order_relaxed) &&
         c->grid[e->axis] >= e->least && !c->dynamic_shared &&
         (plane >= e->from || plane * c->grid[2] >= e->from) && spreads(e, blocks * c->grid[2]);
}

static inline int has_extent(const struct RtRoomyEntry *e, const void *params) {
  uint32_t n = 0;
  if (e->from)
    memcpy(&n, (const char *)params + e->at, sizeof n);
  return n >= e->from;
}

/* Do its blocks fill a multiprocessor well enough with more registers, and do they take one or two
 * waves, as without, where that matters? Blocks have whole warps. */
static inline int takes_roomy(const struct RtRoomyEntry *e, const RtConfig *c, const void *params) {
  uint32_t most = atomic_load_explicit(&e->threads, memory_order_relaxed);
  uint64_t threads = (threads_of(c) + 31) & ~31ull,
           blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
  if (threads > most || c->dynamic_shared)
    return 0;
  uint64_t each = most / threads, wave = e->multiprocessors * each,
           full = e->multiprocessors * (e->all / threads);
  bool same = !wave || blocks <= wave || (blocks > full && blocks <= 2 * wave);
  return each * threads >= e->least && same && has_extent(e, params);
}

static inline RtEntryKind roomy_entry(const RtKernel *k, const RtConfig *c, const void *params) {
  for (int n = 0; n < RT_ROOMY_ENTRIES; n++)
    if (k->roomy[n].registers && takes_roomy(&k->roomy[n], c, params))
      return RT_ENTRY_ROOMY + n;
  return RT_ENTRY_OWN;
}

static inline CUfunction function_of(const RtKernel *k, RtEntryKind entry) {
  return entry < RT_ENTRY_ROOMY ? rt_own_function(k)
                                : atomic_load_explicit(&k->roomy[entry - RT_ENTRY_ROOMY].function,
                                                       memory_order_acquire);
}

static inline CUfunction coarse_function(const RtKernel *k) {
  return atomic_load_explicit(&k->coarse.function, memory_order_acquire);
}

enum { FEW_WHOLE = 8 }; /* blocks of the second entry on its axis, beside what is left */

static RtEntry coarse_entry(const RtKernel *k, const RtConfig *c, void *params) {
  assert(k->coarse.factor && k->coarse.axis < 3 && c->grid[k->coarse.axis]);
  assert(k->coarse.field_offset + sizeof(uint32_t) <= k->param_bytes);
  RtEntry e = {coarse_function(k), {c->grid[0], c->grid[1], c->grid[2]}, k->param_bytes};
  uint32_t *blocks = &e.grid[k->coarse.axis];
  memcpy((char *)params + k->coarse.field_offset, blocks, sizeof *blocks);
  uint32_t whole = *blocks / k->coarse.factor, left = *blocks % k->coarse.factor;
  bool in_row = k->coarse.in_row && whole < FEW_WHOLE;
  *blocks = whole + (in_row ? left != 0 : left);
  return e;
}

static RtEntryKind choose(const RtKernel *k, const RtConfig *c, const void *params) {
  if (rt_has_attributes(c))
    return RT_ENTRY_OWN;
  if (k->coarse.factor && takes_coarse(k, c))
    return RT_ENTRY_COARSE;
  return roomy_entry(k, c, params);
}

RtEntry rt_entry_for(const RtKernel *k, const RtConfig *c, void *params) {
  RtEntryKind kind = choose(k, c, params);
  if (kind == RT_ENTRY_COARSE)
    return coarse_entry(k, c, params);
  return (RtEntry){function_of(k, kind), {c->grid[0], c->grid[1], c->grid[2]}, k->plain_bytes};
}

RtEntryKind rt_kernel_wants(const RtKernel *k, const RtConfig *c, const void *params) {
  RtEntryKind entry = choose(k, c, params);
  return rt_kernel_has(k, entry) ? RT_ENTRY_NONE : entry;
}

enum { NOT_LOADED = -1 }; /* where a CUresult is given: nothing was asked of the driver */

static inline int queue_entry(CUfunction function, const uint32_t grid[3], size_t bytes,
                              const RtConfig *c, void *params) {
  if (UNLIKELY(!function))
    return NOT_LOADED;
  void *extra[] = {CU_PARAM_BUFFER, params, CU_PARAM_BUFFER_SIZE, &bytes, CU_PARAM_END};
  return rt_cu.cuLaunchKernel(function, grid[0], grid[1], grid[2], c->block[0], c->block[1],
                              c->block[2], c->dynamic_shared, rt_handle(c->stream), NULL,
                              bytes ? extra : NULL);
}

static __attribute__((noinline)) int queue_coarse(const RtKernel *k, const RtConfig *c,
                                                  void *params) {
  RtEntry e = coarse_entry(k, c, params);
  return queue_entry(e.function, e.grid, e.bytes, c, params);
}

HOT static inline int queue(const RtKernel *k, const RtConfig *c, void *params) {
  if (UNLIKELY(k->coarse.factor != 0) && takes_coarse(k, c))
    return queue_coarse(k, c, params);
  if (UNLIKELY(k->has_roomy))
    return queue_entry(function_of(k, roomy_entry(k, c, params)), c->grid, k->plain_bytes, c,
                       params);
  return queue_entry(rt_own_function(k), c->grid, k->plain_bytes, c, params);
}

/* A launch from a thread whose context is another's, which is put back. As rt_enter sets
 * rt_current, it goes straight on. */
static __attribute__((cold, noinline)) RtStatus
launch_elsewhere(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap) {
  ENTER(k->device);
  return rt_launch(k, config, params, trap);
}

int rt_is_wrong_context(int result) {
  return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE ||
         result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static uint32_t local_bytes(const RtKernel *k) {
  return k->info.local > k->coarse.local ? k->info.local : k->coarse.local;
}

static int lacks_local(const RtKernel *k, int result) {
  return result == CUDA_ERROR_OUT_OF_MEMORY && local_bytes(k) > RT_STACK_BYTES;
}

static RtStatus no_local_memory(const RtKernel *k, int result, const char *call) {
  int multiprocessors = 0, each = 0;
  size_t available = 0, total = 0;
  char needed[32], available_text[32];
  TRY(rt_device_attribute(k->device, CU_MULTIPROCESSORS, &multiprocessors));
  TRY(rt_device_attribute(k->device, CU_MAX_THREADS_PER_MULTIPROCESSOR, &each));
  rt_device_memory(k->device, &available, &total);
  uint64_t threads = (uint64_t)multiprocessors * (uint64_t)each;
  return rt_fail_driver(
      RT_NO_MEMORY, result, call,
      "use smaller local arrays, or an array argument with a part for each thread; or delete arrays that are no longer needed",
      "kernel '%s': %u bytes of local memory a thread are %s for the %llu threads that %s can run at once, and %s are free",
      k->name, local_bytes(k), rt_size_text(local_bytes(k) * threads, needed),
      (unsigned long long)threads, k->device->name, rt_size_text(available, available_text));
}

RtStatus rt_launch_refused(const RtKernel *k, int result, const char *call) {
  if (lacks_local(k, result))
    return no_local_memory(k, result, call);
  if (result != CUDA_ERROR_INVALID_VALUE || local_bytes(k) < RT_LOCAL_BYTES / 2)
    return rt_driver_status_of(result, call, k->name);
  return rt_fail_driver(
      RT_BAD_LAUNCH, result, call,
      "use smaller local arrays, or an array argument with a part for each thread",
      "kernel '%s': the driver refused %u bytes of local memory a thread; with the stack %d are the most",
      k->name, local_bytes(k), RT_LOCAL_BYTES);
}

static __attribute__((cold, noinline)) RtStatus launch_failed(RtKernel *k, const RtConfig *c,
                                                              void *params, int result) {
  RtContext was SCOPED = {0};
  if (rt_is_wrong_context(result)) {
    TRY(rt_enter(&was, k->device));
    result = queue(k, c, params);
  }
  /* it may have taken the second entry, which was being loaded and allows no such blocks */
  if (result != CUDA_SUCCESS && k->coarse.factor && threads_of(c) > atomic_load(&k->coarse.threads))
    result = queue(k, c, params);
  if (result == NOT_LOADED)
    return RT_NO_ENTRY;
  TRY(check_config(k, c)); /* its limits may have become known since the launch looked at them */
  if (lacks_local(k, result)) {
    TRY(rt_memory_trim(k->device, 0)); /* what is freed but kept may be enough */
    result = queue(k, c, params);
  }
  return rt_launch_refused(k, result, "cuLaunchKernel");
}

HOT RtStatus rt_launch(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap) {
  RtDevice *d = k->device;
  assert(params || !k->param_bytes);
  if (UNLIKELY(!fits(k, config)))
    TRY(check_config(k, config));
  if (UNLIKELY(config->stream != NULL))
    TRY(rt_stream_check(d, config->stream));
  if (UNLIKELY(rt_is_host(d))) {
    if (k->host.meets_grid)
      TRY(rt_cooperative_check(k, config));
    if (rt_has_attributes(config))
      TRY(rt_attributes_check(k, config));
    return LIKELY(!rt_capture) ? rt_host_run(&k->host, &k->host_block_ns, config, params, trap)
                               : rt_capture_launch(k, config, params, trap);
  }
  if (UNLIKELY(rt_current != d)) {
    return rt_capture ? rt_capture_launch(k, config, params, trap)
                      : launch_elsewhere(k, config, params, trap);
  }
  TRY(check_epoch(k));
  if (UNLIKELY(k->trap_offset >= 0))
    memcpy((char *)params + k->trap_offset, &k->trap_address, sizeof k->trap_address);
  if (UNLIKELY(config->dynamic_shared >
               atomic_load_explicit(&k->allowed_dynamic, memory_order_relaxed)))
    TRY(rt_allow_dynamic(k));
  if (UNLIKELY((k->grid_offset >= 0) | (int)rt_has_attributes(config))) {
    if (!rt_own_function(k))
      return RT_NO_ENTRY;
    TRY(rt_has_attributes(config) ? rt_launch_attributes(k, config, params)
                                  : rt_launch_cooperative(k, config, params));
  } else {
    int result = queue(k, config, params);
    if (UNLIKELY(result != CUDA_SUCCESS))
      TRY(launch_failed(k, config, params, result));
  }
  rt_note_last(d, config->stream, k);
  return RT_OK;
}

/* --- after and around a launch --- */

RtStatus rt_kernel_trap(RtKernel *k, RtTrap *trap) {
  if (!k->trap || k->epoch != rt_epoch(k->device) || rt_phase != RT_PHASE_OPEN)
    return RT_OK;
  uint32_t complete = 2;
  if (__atomic_load_n(&k->trap->state, __ATOMIC_ACQUIRE) != complete)
    return RT_OK;
  *trap = *k->trap;
  if (!__atomic_compare_exchange_n(&k->trap->state, &complete, 0, 0, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return RT_OK; /* another thread has taken it */
  return rt_fail(RT_TRAPPED, "", "a thread of kernel '%s' stopped", k->name);
}

RtEntryKind rt_kernel_entry_of(const RtKernel *k, uint64_t threads, uint32_t dynamic_shared) {
  const struct RtCoarseEntry *e = &k->coarse;
  int coarse = e->factor && !e->axis && !dynamic_shared && threads >= e->from &&
               threads / k->limits.threads >= e->least &&
               atomic_load_explicit(&e->threads, memory_order_relaxed);
  return coarse ? RT_ENTRY_COARSE : RT_ENTRY_OWN;
}

RtStatus rt_kernel_best_block(RtKernel *k, RtEntryKind entry, uint32_t dynamic_shared,
                              uint32_t *threads) {
  int grid = 0, block = 0;
  _Atomic uint32_t *kept = &k->best_block[entry == RT_ENTRY_COARSE];
  *threads = k->threads < 256 ? k->threads : 256;
  if (rt_is_host(k->device))
    return RT_OK;
  uint32_t known = dynamic_shared ? 0 : atomic_load_explicit(kept, memory_order_relaxed);
  if (known) {
    *threads = known;
    return RT_OK;
  }
  ENTER(k->device);
  CUfunction function = entry == RT_ENTRY_COARSE ? coarse_function(k) : rt_own_function(k);
  int result = rt_cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, dynamic_shared,
                                                      0);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuOccupancyMaxPotentialBlockSize", k->name);
  if (block > 0)
    *threads = (uint32_t)block;
  if (!dynamic_shared)
    atomic_store_explicit(kept, *threads, memory_order_relaxed);
  return RT_OK;
}
