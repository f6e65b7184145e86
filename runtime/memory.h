/* Memory: allocations on a device, and copies. The host device uses aligned host memory through the same calls. */
#ifndef PYPTX_RUNTIME_MEMORY_H
#define PYPTX_RUNTIME_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/device.h"
#include "runtime/stream.h"

/* 0 bytes give a valid, unique-enough address that must be freed too. Stream-ordered; frees are ordered after work on the stream. */
RtStatus rt_alloc(RtDevice *d, size_t bytes, RtStream *stream, uint64_t *address);
/* Never fails; safe from any thread, at exit and in a child of fork. Not for memory from before a reset: rt_device_epoch(d) must be what it was
 * at rt_alloc, since the address may be another array's by now. */
void rt_free(RtDevice *d, uint64_t address, size_t bytes, RtStream *stream);
RtStatus rt_pinned_alloc(size_t bytes, void **out);
void rt_pinned_free(void *p);

/* stream NULL: the default stream, and the call returns when the copy is done (pageable host memory). */
RtStatus rt_copy_to_device(RtDevice *d, uint64_t to, const void *from, size_t bytes, RtStream *stream);
RtStatus rt_copy_to_host(RtDevice *d, void *to, uint64_t from, size_t bytes, RtStream *stream);
RtStatus rt_copy_on_device(RtDevice *d, uint64_t to, uint64_t from, size_t bytes, RtStream *stream);
/* From one GPU's memory to another's. stream: of either of them; NULL: behind all work of both, and before what comes later. */
RtStatus rt_copy_peer(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from, size_t bytes, RtStream *stream);
RtStatus rt_fill(RtDevice *d, uint64_t to, uint8_t byte, size_t bytes, RtStream *stream);

/* The number of the GPU that an address belongs to; RT_FAILED, with no error set, where CUDA does not know it. */
RtStatus rt_pointer_gpu(uint64_t address, int *ordinal);

typedef struct RtMemoryStats { uint64_t live_bytes, live_blocks, peak_bytes, cached_bytes, allocations; } RtMemoryStats;
void rt_memory_stats(RtDevice *d, RtMemoryStats *out);

#endif
