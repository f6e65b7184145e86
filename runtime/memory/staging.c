/* Staging: large copies between pageable host memory and a GPU. In, a range of host memory, or the
 * elements of a strided host array; out, the same bytes on the other side, all of them there on
 * return.
 *
 * The driver copies pageable memory with one thread. Here several threads of the pool move chunks
 * to or from pinned buffers while the link moves others: each thread owns two buffers of a ring,
 * fills one while the other is under way, and takes the next chunk of the job when it is done. A
 * strided array is packed (or unpacked) by the same threads in the same pass. A GPU has one ring a
 * direction, made at the first large copy.
 *
 * Order: the user's stream is idle before the first chunk moves, and the last chunk has arrived
 * before the call returns, so the stream of the ring needs no events towards any other. A capture
 * of a graph cannot be waited for: such copies, and those of pinned memory, are the driver's. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/pool.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/unset.h"

enum { WORKERS = RT_STAGE_WORKERS, SLOTS = 2, SLOT_BYTES = 2 << 20, CHUNK_MIN = 256 << 10 };

/* --- elements --- */

/* The host side of a copy: contiguous bytes, or elements in C order that are strides apart. The
 * last axis is the run that is moved at once. */
typedef struct Side {
  char *base;
  unsigned ndim; /* 0: contiguous */
  size_t itemsize;
  int64_t shape[RT_MAX_AXES], strides[RT_MAX_AXES];
} Side;

/* Axes that lie behind each other without a gap become one; those of extent 1 are dropped. */
static Side side_of(const RtStrided *a) {
  Side s = {.base = a->base, .itemsize = a->itemsize};
  for (unsigned i = 0; i < a->ndim; i++) {
    if (a->shape[i] == 1)
      continue;
    unsigned last = s.ndim - 1;
    if (s.ndim && s.strides[last] == a->shape[i] * a->strides[i]) {
      s.shape[last] *= a->shape[i];
      s.strides[last] = a->strides[i];
      continue;
    }
    s.shape[s.ndim] = a->shape[i];
    s.strides[s.ndim++] = a->strides[i];
  }
  if (s.ndim == 0 || (s.ndim == 1 && s.strides[0] == (int64_t)s.itemsize))
    s.ndim = 0;
  return s;
}

#define MOVE(type)                                                                                 \
  for (int64_t i = 0; i < n; i++)                                                                  \
    memcpy(to + i * to_step, from + i * from_step, sizeof(type));                                  \
  break

/* n elements, the steps in bytes. */
static void move_run(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                     size_t itemsize) {
  if (to_step == (int64_t)itemsize && from_step == (int64_t)itemsize) {
    memcpy(to, from, (size_t)n * itemsize);
    return;
  }
  switch (itemsize) { /* a constant size makes each copy one load and one store */
  case 1: MOVE(uint8_t);
  case 2: MOVE(uint16_t);
  case 4: MOVE(uint32_t);
  case 8: MOVE(uint64_t);
  case 16: MOVE(uint64_t[2]);
  default:
    for (int64_t i = 0; i < n; i++)
      memcpy(to + i * to_step, from + i * from_step, itemsize);
  }
}

/* Bytes [at, at + bytes) of the elements in C order, to or from packed. at and bytes are multiples
 * of the item size. */
static void move(const Side *s, size_t at, size_t bytes, char *packed, int unpack) {
  if (!s->ndim) {
    char *place = s->base + at;
    memcpy(unpack ? place : packed, unpack ? packed : place, bytes);
    return;
  }
  int64_t item = (int64_t)s->itemsize, first = (int64_t)at / item, left = (int64_t)bytes / item;
  unsigned run = s->ndim - 1;
  while (left > 0) {
    int64_t rest = first / s->shape[run], column = first % s->shape[run];
    char *place = s->base + column * s->strides[run];
    for (unsigned i = run; i-- > 0; rest /= s->shape[i])
      place += rest % s->shape[i] * s->strides[i];
    int64_t n = s->shape[run] - column < left ? s->shape[run] - column : left;
    if (unpack)
      move_run(place, s->strides[run], packed, item, n, s->itemsize);
    else
      move_run(packed, item, place, s->strides[run], n, s->itemsize);
    packed += n * item;
    first += n;
    left -= n;
  }
}

/* --- the ring --- */

/* Afterwards the ring is as before its first copy. The context of an older epoch has taken stream
 * and events with it. */
static void ring_free(RtDevice *d, RtStage *r) {
  RtContext was SCOPED = {0};
  int alive = rt_enter_alive(&was, d, r->epoch);
  for (unsigned i = 0; i < WORKERS * SLOTS && alive; i++)
    if (r->events[i])
      rt_cu.cuEventDestroy(r->events[i]);
  if (alive && r->stream)
    rt_cu.cuStreamDestroy(r->stream);
  rt_pinned_free(r->memory);
  r->memory = NULL;
  r->stream = NULL;
  memset(r->events, 0, sizeof r->events);
}

static RtStatus ring_make(RtDevice *d, RtStage *r) {
  void *memory;
  r->epoch = rt_epoch(d);
  TRY(rt_pinned_alloc(d, (size_t)WORKERS * SLOTS * SLOT_BYTES, &memory));
  r->memory = memory;
  if (!rt_pinned_is(memory))
    return rt_fail(RT_FAILED, "", "this system cannot pin memory");
  TRY(CU(cuStreamCreate, (&r->stream, CU_STREAM_NON_BLOCKING)));
  for (unsigned i = 0; i < WORKERS * SLOTS; i++)
    TRY(CU(cuEventCreate, (&r->events[i], CU_EVENT_NO_TIMING)));
  return RT_OK;
}

static RtStatus ring_ready(RtDevice *d, RtStage *r) {
  if (r->memory && r->epoch == rt_epoch(d))
    return RT_OK;
  ring_free(d, r);
  RtStatus status = ring_make(d, r);
  if (status != RT_OK)
    ring_free(d, r);
  return status;
}

void rt_stage_flush(RtDevice *d) {
  for (int way = 0; way < 2; way++) {
    pthread_mutex_lock(&d->stages[way].lock);
    ring_free(d, &d->stages[way]);
    pthread_mutex_unlock(&d->stages[way].lock);
  }
}

/* --- a copy --- */

typedef struct Job {
  RtPoolJob pool; /* first */
  RtStage *ring;
  CUcontext context;
  const Side *host;
  uint64_t device;
  size_t bytes, chunk;
  int to_host;
  _Atomic size_t next;      /* bytes that have been taken */
  _Atomic unsigned workers; /* that have come */
  _Atomic int result;       /* of the first call that failed */
  const char *_Atomic call;
} Job;

static int good(Job *j, int result, const char *call) {
  int none = 0;
  if (LIKELY(result == CUDA_SUCCESS))
    return 1;
  if (atomic_compare_exchange_strong(&j->result, &none, result))
    atomic_store(&j->call, call);
  return 0;
}

#define GOOD(j, name, arguments) good(j, rt_cu.name arguments, #name)

static size_t take(Job *j, size_t *at) {
  if (atomic_load(&j->result) || (*at = atomic_fetch_add(&j->next, j->chunk)) >= j->bytes)
    return 0;
  assert(*at % j->chunk == 0); /* a chunk begins with a whole element */
  return j->bytes - *at < j->chunk ? j->bytes - *at : j->chunk;
}

static void send(Job *j, char *memory, const CUevent *events) {
  unsigned k = 0, busy = 0;
  for (size_t at, n; (n = take(j, &at)) > 0; k ^= 1) {
    char *slot = memory + (size_t)k * SLOT_BYTES;
    if (busy >> k & 1 && !GOOD(j, cuEventSynchronize, (events[k])))
      return;
    move(j->host, at, n, slot, 0);
    if (!GOOD(j, cuMemcpyHtoDAsync, (j->device + at, slot, n, j->ring->stream)) ||
        !GOOD(j, cuEventRecord, (events[k], j->ring->stream)))
      return;
    busy |= 1u << k;
  }
  for (k = 0; k < SLOTS; k++)
    if (busy >> k & 1 && !GOOD(j, cuEventSynchronize, (events[k])))
      return;
}

static void receive(Job *j, char *memory, const CUevent *events) {
  size_t at[SLOTS] = {0}, n[SLOTS] = {0};
  for (unsigned k = 0;; k ^= 1) {
    char *slot = memory + (size_t)k * SLOT_BYTES;
    if (n[k]) { /* filled the round before last */
      if (!GOOD(j, cuEventSynchronize, (events[k])))
        return;
      move(j->host, at[k], n[k], slot, 1);
    }
    n[k] = take(j, &at[k]);
    if (!n[k] && !n[k ^ 1])
      return;
    if (n[k] && (!GOOD(j, cuMemcpyDtoHAsync, (slot, j->device + at[k], n[k], j->ring->stream)) ||
                 !GOOD(j, cuEventRecord, (events[k], j->ring->stream))))
      return;
  }
}

static void work(RtPoolJob *pool, unsigned helper) {
  (void)helper;
  Job *j = (Job *)pool;
  unsigned me = atomic_fetch_add(&j->workers, 1);
  CUcontext now = NULL;
  if (me >= WORKERS)
    return;
  if (rt_cu.cuCtxGetCurrent(&now) != CUDA_SUCCESS || now != j->context) {
    rt_current = NULL;
    if (!GOOD(j, cuCtxSetCurrent, (j->context)))
      return;
  }
  char *memory = j->ring->memory + (size_t)me * SLOTS * SLOT_BYTES;
  const CUevent *events = j->ring->events + me * SLOTS;
  if (j->to_host)
    receive(j, memory, events);
  else
    send(j, memory, events);
}

/* Chunks are small enough that every thread has some, and whole elements. */
static size_t chunk_of(size_t bytes, size_t itemsize, unsigned threads) {
  size_t chunk = bytes / (threads * 4);
  chunk = chunk > SLOT_BYTES ? SLOT_BYTES : chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
  chunk = chunk / 4096 * 4096;
  return chunk - chunk % itemsize;
}

static unsigned threads_of(void) {
  unsigned n = rt_pool_threads();
  return n > WORKERS ? WORKERS : n;
}

/* The ring is ready and locked, the user's stream idle. */
static RtStatus run(RtDevice *d, RtStage *r, const Side *host, uint64_t device, size_t bytes,
                    int to_host) {
  unsigned threads = threads_of();
  Job j = {.pool = {.work = work},
           .ring = r,
           .context = atomic_load(&d->context),
           .host = host,
           .device = device,
           .bytes = bytes,
           .chunk = chunk_of(bytes, host->itemsize, threads),
           .to_host = to_host};
  assert(threads >= 2 && threads <= WORKERS && r->memory);
  assert(j.chunk && j.chunk <= SLOT_BYTES && j.chunk % host->itemsize == 0);
  rt_pool_offer(&j.pool, threads - 1);
  work(&j.pool, 0);
  while (!rt_pool_close(&j.pool, UINT32_MAX)) {
  }
  assert(j.result || atomic_load(&j.next) >= bytes);
  if (!j.result)
    return RT_OK;
  rt_cu.cuStreamSynchronize(r->stream); /* chunks may still be under way: the ring is used again */
  return rt_driver_status(j.result, j.call ? j.call : "");
}

/* --- which way a copy goes --- */

/* Memory that the driver knows (pinned, managed) moves at the link's speed already. */
static int is_known(const void *p) {
  int ordinal;
  return rt_pointer_is_known((uintptr_t)p, &ordinal);
}

static int is_capturing(CUstream stream) {
  int capturing = 0;
  return stream && (rt_cu.cuStreamIsCapturing(stream, &capturing) != CUDA_SUCCESS || capturing);
}

static RtStatus staged(RtDevice *d, const Side *host, uint64_t device, size_t bytes, int to_host,
                       CUstream stream, int *done) {
  assert(to_host == 0 || to_host == 1);
  RtStage *r = &d->stages[to_host];
  *done = 0;
  if (threads_of() < 2 || is_capturing(stream))
    return RT_OK;
  TRY(CU(cuStreamSynchronize, (stream)));
  pthread_mutex_lock(&r->lock);
  RtStatus status = RT_OK;
  if (ring_ready(d, r) == RT_OK) { /* without a ring the driver's copy is as good, only slower */
    *done = 1;
    status = run(d, r, host, device, bytes, to_host);
  }
  pthread_mutex_unlock(&r->lock);
  return status;
}

RtStatus rt_stage_bytes(RtDevice *d, char *host, uint64_t device, size_t bytes, int to_host,
                        CUstream stream, int *done) {
  Side side = {.base = host, .itemsize = 1};
  *done = 0;
  if (is_known(host) && is_known(host + bytes - 1))
    return RT_OK;
  return staged(d, &side, device, bytes, to_host, stream, done);
}

/* Small arrays, and those that cannot be staged, are packed into memory of this call. */
static RtStatus packed_copy(RtDevice *d, const Side *host, uint64_t device, size_t bytes,
                            int to_host, RtStream *stream) {
  char size[32], *packed = malloc(bytes);
  if (!packed)
    return rt_fail(RT_NO_MEMORY, "work in smaller parts", "cannot allocate %s of host memory",
                   rt_size_text(bytes, size));
  RtStatus status;
  if (to_host) {
    status = rt_copy_to_host(d, packed, device, bytes, stream);
    if (status == RT_OK)
      status = rt_stream_synchronize(d, stream);
    if (status == RT_OK)
      move(host, 0, bytes, packed, 1);
  } else {
    move(host, 0, bytes, packed, 0);
    status = rt_copy_to_device(d, device, packed, bytes, stream);
  }
  free(packed);
  return status;
}

RtStatus rt_copy_strided(RtDevice *d, uint64_t device, const RtStrided *a, int to_host,
                         RtStream *stream) {
  Side side = side_of(a);
  size_t bytes = a->itemsize;
  for (unsigned i = 0; i < a->ndim; i++)
    bytes *= (size_t)a->shape[i];
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_fail(RT_BAD_ARGUMENT,
                   "copy to or from a contiguous array of the same shape and dtype",
                   "a graph cannot capture a copy of a strided host array");
  if (rt_is_host(d)) {
    if (!to_host)
      rt_unset_written(device, bytes);
    move(&side, 0, bytes, (char *)(uintptr_t)device, to_host);
    return RT_OK;
  }
  int done = 0;
  if (bytes >= RT_STAGE_MIN_STRIDED && a->itemsize <= CHUNK_MIN / 4) {
    ENTER(d);
    TRY(rt_stream_check(d, stream));
    TRY(staged(d, &side, device, bytes, to_host, rt_handle(stream), &done));
  }
  return done ? RT_OK : packed_copy(d, &side, device, bytes, to_host, stream);
}
