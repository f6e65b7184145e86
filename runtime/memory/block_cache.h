/* Block cache: freed memory that a device keeps for reuse, and memory whose release is put off
 * (memory.c). Guarded by the lock of the device. */
#ifndef PYPTX_RUNTIME_MEMORY_BLOCK_CACHE_H
#define PYPTX_RUNTIME_MEMORY_BLOCK_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/driver/cuda.h"
#include "runtime/driver/device.h"

enum { RT_CACHE_SLOTS = 32 };
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

/* No machine has more, and sizes below it can be rounded up. */
#define RT_ADDRESS_SPACE ((size_t)1 << 56)

/* Gives the cached blocks of a stream (all: of every stream) back to the driver. The context is
 * current. */
void rt_cache_flush(RtDevice *d, CUstream stream, int all);
void rt_cache_forget(RtDevice *d); /* after a reset: drops cache and numbers, calls nothing */

#endif
