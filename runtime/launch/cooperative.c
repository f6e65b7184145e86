/* Cooperative launches: of kernels whose blocks meet at a barrier of the grid, and so must all be
 * resident.
 *
 * The barrier's word (codegen/nvptx/grid_barrier.c) is the launch's own: allocated, cleared and
 * freed in the order of its stream. So launches of one kernel on several streams at once do not
 * share it, and one that was stopped in the middle leaves nothing behind. */
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/cooperative.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/memory.h"

enum { BARRIER_BYTES = 8 };

static RtStatus gpu_blocks(RtKernel *k, uint64_t threads, uint32_t dynamic_shared,
                           uint32_t *blocks) {
  int can = 0, multiprocessors = 0, each = 0;
  TRY(rt_device_attribute(k->device, CU_COOPERATIVE_LAUNCH, &can));
  TRY(rt_device_attribute(k->device, CU_MULTIPROCESSORS, &multiprocessors));
  if (dynamic_shared > atomic_load_explicit(&k->allowed_dynamic, memory_order_relaxed))
    TRY(rt_allow_dynamic(k));
  ENTER(k->device);
  int result = rt_cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, rt_own_function(k),
                                                                 (int)threads, dynamic_shared);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuOccupancyMaxActiveBlocksPerMultiprocessor", k->name);
  *blocks = can && each > 0 && multiprocessors > 0 ? (uint32_t)each * (uint32_t)multiprocessors : 0;
  return RT_OK;
}

RtStatus rt_kernel_grid_blocks(RtKernel *k, uint64_t threads, uint32_t dynamic_shared,
                               uint32_t *blocks) {
  *blocks = 0;
  if (threads - 1 >= k->threads || dynamic_shared > k->max_dynamic)
    return RT_OK; /* not even one */
  if (!rt_is_host(k->device))
    return gpu_blocks(k, threads, dynamic_shared, blocks);
  *blocks = rt_host_grid_blocks(&k->host, threads, dynamic_shared);
  return RT_OK;
}

RtStatus rt_cooperative_check(RtKernel *k, const RtConfig *c) {
  uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
  uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1];
  blocks = blocks > UINT32_MAX ? UINT64_MAX : blocks * c->grid[2];
  uint32_t most;
  TRY(rt_kernel_grid_blocks(k, threads, c->dynamic_shared, &most));
  if (blocks <= most)
    return RT_OK;
  return rt_fail(
      RT_BAD_LAUNCH,
      "use at most so many blocks, and let each thread do more than one element in a loop",
      "kernel '%s' synchronises its grid, so all its blocks must be resident at once: the grid has %llu; with blocks of %llu threads and %u bytes of dynamic shared memory %s has room for %u",
      k->name, (unsigned long long)blocks, (unsigned long long)threads, c->dynamic_shared,
      k->device->name, most);
}

static int queue(const RtKernel *k, const RtConfig *c, void **fields) {
  return rt_cu.cuLaunchCooperativeKernel(rt_own_function(k), c->grid[0], c->grid[1], c->grid[2],
                                         c->block[0], c->block[1], c->block[2], c->dynamic_shared,
                                         rt_handle(c->stream), fields);
}

static RtStatus launch(RtKernel *k, const RtConfig *c, char *params) {
  void **fields = malloc(sizeof *fields * k->nfields);
  if (!fields)
    return rt_fail(RT_NO_MEMORY, "", "no host memory to launch kernel '%s'", k->name);
  for (uint32_t i = 0; i < k->nfields; i++)
    fields[i] = params + k->field_offsets[i];
  int result = queue(k, c, fields);
  free(fields);
  return rt_launch_refused(k, result, "cuLaunchCooperativeKernel");
}

RtStatus rt_launch_cooperative(RtKernel *k, const RtConfig *c, char *params) {
  uint64_t word;
  ENTER(k->device);
  TRY(rt_cooperative_check(k, c));
  /* In a graph the word is the graph's; its launches follow one another, and each clears it. */
  int captured = rt_passing != NULL;
  TRY(captured ? rt_passing_alloc(k->device, BARRIER_BYTES, &word)
               : rt_alloc(k->device, BARRIER_BYTES, c->stream, &word));
  memcpy(params + k->grid_offset, &word, sizeof word);
  RtStatus status = CU(cuMemsetD8Async, (word, 0, BARRIER_BYTES, rt_handle(c->stream)));
  if (status == RT_OK)
    status = launch(k, c, params);
  if (!captured)
    rt_free(k->device, word, BARRIER_BYTES, c->stream);
  return status;
}
