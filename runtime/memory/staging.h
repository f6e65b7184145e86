/* Staging: large copies of pageable memory by several threads through a pinned ring (staging.c). */
#ifndef PYPTX_RUNTIME_MEMORY_STAGING_H
#define PYPTX_RUNTIME_MEMORY_STAGING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/driver/cuda.h"
#include "runtime/driver/device.h"

/* The pinned ring of one direction of large copies: memory/staging.c. Smaller ones than MIN are the
 * driver's: below it staging was slower on an H200 with 16 cores. Elements with gaps must be packed
 * anyway, so there it pays sooner. */
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

/* A copy of RT_STAGE_MIN_… bytes or more, the context current. done 0: it was not made, and is the
 * driver's to make. */
RtStatus rt_stage_bytes(RtDevice *d, char *host, uint64_t device, size_t bytes, int to_host,
                        CUstream stream, int *done);
void rt_stage_flush(RtDevice *d); /* frees the rings; the next large copy makes them again */

#endif
