/* Memory: allocations on a device, and copies. The host device uses aligned host memory through the
 * same calls. */
#ifndef PYPTX_RUNTIME_MEMORY_MEMORY_H
#define PYPTX_RUNTIME_MEMORY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/driver/device.h"
#include "runtime/launch/stream.h"

/* 0 bytes give a valid, unique-enough address that must be freed too. Stream-ordered; frees are
 * ordered after work on the stream. */
RtStatus rt_alloc(RtDevice *d, size_t bytes, RtStream *stream, uint64_t *address);
/* The same, if freed memory that is kept for that stream serves: then at once, and without the
 * driver. 0: it does not, and nothing has happened. */
int rt_alloc_again(RtDevice *d, size_t bytes, const RtStream *stream, uint64_t *address);
/* Never fails; safe from any thread, at exit and in a child of fork. Not for memory from before a
 * reset: rt_device_epoch(d) must be what it was at rt_alloc, since the address may be another
 * array's by now. */
void rt_free(RtDevice *d, uint64_t address, size_t bytes, RtStream *stream);
/* As rt_free, for a block that several streams used: once the device is idle. */
void rt_free_idle(RtDevice *d, uint64_t address, size_t bytes);
/* Between the two, frees wait until the last rt_defer_end, or until memory is short. They nest,
 * across threads too. */
void rt_defer_begin(RtDevice *d);
void rt_defer_end(RtDevice *d);
/* Gives freed memory that is kept for reuse back to the system, all but `keep` bytes; waits for the
 * device. */
RtStatus rt_memory_trim(RtDevice *d, size_t keep);
/* The bytes of freed memory that the pool keeps across synchronisation; 0 where there is no
 * pool. */
RtStatus rt_memory_limit(RtDevice *d, uint64_t *bytes, int set);
/* d: the GPU that pins it; NULL or the host device: any that is open. All GPUs reach it. */
RtStatus rt_pinned_alloc(RtDevice *d, size_t bytes, void **out);
void rt_pinned_free(void *p);
/* Pins the caller's own memory, which kernels reach at rt_host_device_address. The epoch is the
 * device's at the call. Unregistering waits for the device. The host device does nothing: all of
 * its memory is as good. */
RtStatus rt_host_register(RtDevice *d, void *p, size_t bytes);
void rt_host_unregister(RtDevice *d, uint32_t epoch, void *p, size_t bytes);
RtStatus rt_host_device_address(RtDevice *d, void *p, uint64_t *address);
/* Memory that the driver moves to the side that uses it; refused beyond the device's free memory. A
 * reset of the device takes it away. */
RtStatus rt_managed_alloc(RtDevice *d, size_t bytes, void **out);
void rt_managed_free(RtDevice *d, uint32_t epoch, void *p);

/* Memory of a GPU that other processes can open: not from the pool, so that allocating and freeing
 * it waits for the device. */
RtStatus rt_shared_alloc(RtDevice *d, size_t bytes, uint64_t *address);
void rt_shared_free(RtDevice *d, uint32_t epoch, uint64_t address);
/* offset: of the address in the allocation that the handle names. */
RtStatus rt_ipc_export(RtDevice *d, uint64_t address, uint8_t handle[64], uint64_t *offset);
RtStatus rt_ipc_open(RtDevice *d, const uint8_t handle[64], uint64_t *address);
void rt_ipc_close(RtDevice *d, uint32_t epoch, uint64_t address);
int rt_pinned_is(const void *p); /* of rt_pinned_alloc: did the driver pin it */

/* Memory of the host device that something else than a kernel or these functions writes. */
void rt_note_written(uint64_t address, size_t bytes);
/* stream NULL: the default stream, and the call returns when the copy is done. With a stream,
 * copies of pinned memory run behind the call; those of pageable memory are done on return, large
 * ones staged by several threads: staging.c. */
RtStatus rt_copy_to_device(RtDevice *d, uint64_t to, const void *from, size_t bytes,
                           RtStream *stream);
RtStatus rt_copy_to_host(RtDevice *d, void *to, uint64_t from, size_t bytes, RtStream *stream);
/* The elements of a strided host array, in C order, from or to contiguous memory of the device.
 * Returns when the host array is free, or filled. */
enum { RT_MAX_AXES = 32 };
typedef struct RtStrided {
  char *base; /* of element 0 */
  size_t itemsize;
  unsigned ndim;
  const int64_t *shape, *strides; /* strides in bytes, of any sign */
} RtStrided;
RtStatus rt_copy_strided(RtDevice *d, uint64_t device, const RtStrided *a, int to_host,
                         RtStream *stream);
/* Elements of one shape that are strided on both sides; sides of the host are its addresses. *done
 * 0: the driver has no such copy, and nothing was done. The sides must not overlap. stream: as for
 * the other copies. */
typedef struct RtBoxes {
  enum { RT_BOX_TO_DEVICE, RT_BOX_TO_HOST, RT_BOX_ON_DEVICE } way;
  uint64_t to, from;
  size_t itemsize;
  unsigned ndim;
  const int64_t *shape, *to_strides, *from_strides;
} RtBoxes;
RtStatus rt_copy_boxes(RtDevice *d, const RtBoxes *boxes, RtStream *stream, int *done);
RtStatus rt_copy_on_device(RtDevice *d, uint64_t to, uint64_t from, size_t bytes, RtStream *stream);
/* From one GPU's memory to another's. stream: of either of them; NULL: behind all work of both, and
 * before what comes later. */
RtStatus rt_copy_peer(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                      size_t bytes, RtStream *stream);
RtStatus rt_fill(RtDevice *d, uint64_t to, uint8_t byte, size_t bytes, RtStream *stream);

/* Is this memory that CUDA knows: of a GPU, managed or pinned? *ordinal: its GPU's number. */
int rt_pointer_is_known(uint64_t address, int *ordinal);

typedef struct RtMemoryStats {
  uint64_t live_bytes, live_blocks, peak_bytes, cached_bytes, allocations;
} RtMemoryStats;
void rt_memory_stats(RtDevice *d, RtMemoryStats *out);

#endif
