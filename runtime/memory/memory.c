/* Memory: in, sizes and streams; out, addresses. On a GPU blocks come from the driver's
 * stream-ordered pool, which keeps what is freed; a short list of freed blocks in front of it
 * saves even that call. A block in the list was freed on a stream and is used again on that
 * stream only, so stream order alone makes the reuse safe. On the host device a block is aligned
 * host memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/staging.h"
#include "runtime/memory/unset.h"

enum { HOST_ALIGN = 64, BLOCK_ALIGN = 256, PAGE = 4096 };
static const size_t cache_block_max = (size_t)16 << 20; /* larger ones go to the pool at once */
static const size_t cache_max = (size_t)64 << 20;

/* --- numbers --- */

static void add(uint64_t *to, uint64_t n) { __atomic_fetch_add(to, n, __ATOMIC_RELAXED); }
static void subtract(uint64_t *from, uint64_t n) { __atomic_fetch_sub(from, n, __ATOMIC_RELAXED); }

static void count_alloc(RtDevice *d, size_t bytes) {
  RtMemoryStats *s = &d->stats;
  uint64_t live = __atomic_add_fetch(&s->live_bytes, bytes, __ATOMIC_RELAXED);
  uint64_t peak = __atomic_load_n(&s->peak_bytes, __ATOMIC_RELAXED);
  add(&s->live_blocks, 1);
  add(&s->allocations, 1);
  while (live > peak && !__atomic_compare_exchange_n(&s->peak_bytes, &peak, live, 1,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void count_free(RtDevice *d, size_t bytes) {
  subtract(&d->stats.live_bytes, bytes);
  subtract(&d->stats.live_blocks, 1);
}

void rt_memory_stats(RtDevice *d, RtMemoryStats *out) {
  out->live_bytes = __atomic_load_n(&d->stats.live_bytes, __ATOMIC_RELAXED);
  out->live_blocks = __atomic_load_n(&d->stats.live_blocks, __ATOMIC_RELAXED);
  out->peak_bytes = __atomic_load_n(&d->stats.peak_bytes, __ATOMIC_RELAXED);
  out->allocations = __atomic_load_n(&d->stats.allocations, __ATOMIC_RELAXED);
  out->cached_bytes = 0;
  if (rt_is_host(d) || rt_phase != RT_PHASE_OPEN)
    return;
  uint64_t reserved = 0, used = 0;
  pthread_mutex_lock(&d->lock);
  out->cached_bytes = d->cache_bytes;
  pthread_mutex_unlock(&d->lock);
  if (d->pool &&
      rt_cu.cuMemPoolGetAttribute(d->pool, CU_POOL_RESERVED, &reserved) == CUDA_SUCCESS &&
      rt_cu.cuMemPoolGetAttribute(d->pool, CU_POOL_USED, &used) == CUDA_SUCCESS && reserved > used)
    out->cached_bytes += reserved - used;
}

/* --- the driver's memory --- */

static int driver_alloc(RtDevice *d, size_t bytes, CUstream stream, CUdeviceptr *address,
                        const char **call) {
  *call = d->pool ? "cuMemAllocAsync" : "cuMemAlloc";
  return d->pool ? rt_cu.cuMemAllocAsync(address, bytes, stream) : rt_cu.cuMemAlloc(address, bytes);
}

/* Results are ignored: nothing can be done about a block that cannot be freed, and a lost
 * context has freed it already. */
static void driver_free(RtDevice *d, uint64_t address, CUstream stream) {
  if (d->pool) {
    rt_cu.cuMemFreeAsync(address, stream);
    return;
  }
  rt_cu.cuStreamSynchronize(stream);
  rt_cu.cuMemFree(address);
}

/* --- the list of freed blocks --- */

/* A stream whose number means the same stream wherever and whenever it is used. */
static int cacheable(const RtDevice *d, const RtStream *s, size_t bytes) {
  return d->pool && bytes <= cache_block_max && (!s || s->owned || s->handle == NULL);
}

/* Under the lock: is cache_bytes the sum of the slots? */
static __attribute__((unused)) int cache_adds_up(const RtDevice *d) {
  size_t sum = 0;
  for (int i = 0; i < RT_CACHE_SLOTS; i++)
    sum += d->cache[i].bytes;
  return sum == d->cache_bytes && sum <= cache_max;
}

/* Gives the lock back. */
static uint64_t cache_take_locked(RtDevice *d, size_t bytes, CUstream stream) {
  uint64_t address = 0;
  for (int i = 0; i < RT_CACHE_SLOTS && d->cache_bytes && !address; i++) {
    RtFreeBlock *b = &d->cache[i];
    if (b->bytes != bytes || b->stream != stream)
      continue;
    address = b->address;
    assert(d->cache_bytes >= bytes);
    d->cache_bytes -= bytes;
    b->bytes = 0;
  }
  assert(cache_adds_up(d));
  pthread_mutex_unlock(&d->lock);
  return address;
}

static uint64_t cache_take(RtDevice *d, size_t bytes, CUstream stream) {
  pthread_mutex_lock(&d->lock);
  return cache_take_locked(d, bytes, stream);
}

static RtFreeBlock *empty_slot(RtDevice *d) {
  for (int i = 0; i < RT_CACHE_SLOTS; i++)
    if (!d->cache[i].bytes)
      return &d->cache[i];
  return NULL;
}

/* Puts a block into the list, if nothing must leave it for that; no call into the driver follows
 * then. */
static int cache_keep(RtDevice *d, RtFreeBlock block) {
  assert(block.bytes && block.address); /* a slot of 0 bytes is empty */
  pthread_mutex_lock(&d->lock);
  RtFreeBlock *slot = d->cache_bytes + block.bytes <= cache_max ? empty_slot(d) : NULL;
  if (slot) {
    d->cache_bytes += block.bytes;
    *slot = block;
  }
  assert(cache_adds_up(d));
  pthread_mutex_unlock(&d->lock);
  return slot != NULL;
}

/* Puts a block into the list; what must leave it for that, possibly the block itself, is
 * returned. */
static RtFreeBlock cache_put(RtDevice *d, RtFreeBlock block) {
  RtFreeBlock out = block;
  assert(block.bytes && block.address);
  pthread_mutex_lock(&d->lock);
  RtFreeBlock *slot = empty_slot(d);
  if (!slot)
    slot = &d->cache[d->cache_next++ % RT_CACHE_SLOTS];
  if (d->cache_bytes - slot->bytes + block.bytes <= cache_max) {
    out = *slot;
    d->cache_bytes += block.bytes - slot->bytes;
    *slot = block;
  }
  assert(cache_adds_up(d));
  pthread_mutex_unlock(&d->lock);
  return out;
}

void rt_cache_flush(RtDevice *d, CUstream stream, int all) {
  RtFreeBlock out[RT_CACHE_SLOTS];
  int n = 0;
  pthread_mutex_lock(&d->lock);
  for (int i = 0; i < RT_CACHE_SLOTS; i++) {
    RtFreeBlock *b = &d->cache[i];
    if (!b->bytes || (!all && b->stream != stream))
      continue;
    out[n++] = *b;
    d->cache_bytes -= b->bytes;
    b->bytes = 0;
  }
  assert(cache_adds_up(d) && (!all || !d->cache_bytes));
  pthread_mutex_unlock(&d->lock);
  for (int i = 0; i < n; i++)
    driver_free(d, out[i].address, out[i].stream);
}

static void deferred_forget(RtDevice *d) {
  for (RtDeferred *b = d->deferred, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  d->deferred = NULL;
}

void rt_cache_forget(RtDevice *d) {
  deferred_forget(d);
  memset(d->cache, 0, sizeof d->cache);
  d->cache_bytes = 0;
  __atomic_store_n(&d->stats.live_bytes, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&d->stats.live_blocks, 0, __ATOMIC_RELAXED);
}

/* --- allocations --- */

static size_t round_up(size_t bytes, size_t to) { return bytes ? (bytes + to - 1) / to * to : to; }

static RtStatus too_large(RtDevice *d, size_t bytes) {
  char size[32];
  return rt_fail(RT_NO_MEMORY, "check the array's shape", "cannot allocate %s on %s",
                 rt_size_text(bytes, size), d->name);
}

static RtStatus no_memory(RtDevice *d, size_t bytes, int result, const char *call) {
  char size[32], available[32], total[32], live[32], kept[32];
  RtMemoryStats stats;
  size_t free_now = 0, all = 0;
  rt_memory_stats(d, &stats);
  rt_device_memory(d, &free_now, &all);
  return rt_fail_driver(
      RT_NO_MEMORY, result, call,
      "delete arrays that are no longer needed, or work in smaller parts; `nvidia-smi` shows "
      "what other processes hold",
      "cannot allocate %s on %s: %s of %s are free, and this process holds %s in %llu arrays and keeps %s for reuse",
      rt_size_text(bytes, size), d->name, rt_size_text(free_now, available),
      rt_size_text(all, total), rt_size_text(stats.live_bytes, live),
      (unsigned long long)stats.live_blocks, rt_size_text(stats.cached_bytes, kept));
}

/* A stream that a reset of its device has taken away must not reach the driver. */
static RtStatus enter(RtContext *was, RtDevice *d, const RtStream *s) {
  TRY(rt_enter(was, d));
  return rt_stream_check(d, s);
}

/* Frees what was deferred. The device is idle, its context current. */
static void flush_deferred(RtDevice *d);

/* Gives what is freed but kept back to the system, but for `keep` bytes of the pool. The context is
 * current. Failures are the next call's to report. */
static void release_kept(RtDevice *d, size_t keep) {
  rt_cu.cuCtxSynchronize();
  flush_deferred(d);
  rt_cache_flush(d, NULL, 1);
  rt_cu.cuCtxSynchronize(); /* frees are ordered work too */
  if (d->pool)
    rt_cu.cuMemPoolTrimTo(d->pool, keep);
}

RtStatus rt_memory_trim(RtDevice *d, size_t keep) {
  if (rt_is_host(d))
    return RT_OK;
  ENTER(d);
  rt_stage_flush(d);
  release_kept(d, keep);
  return RT_OK;
}

RtStatus rt_memory_limit(RtDevice *d, uint64_t *bytes, int set) {
  if (!d->pool) {
    *bytes = 0;
    return RT_OK;
  }
  ENTER(d);
  if (set)
    return CU(cuMemPoolSetAttribute, (d->pool, CU_POOL_RELEASE_THRESHOLD, bytes));
  return CU(cuMemPoolGetAttribute, (d->pool, CU_POOL_RELEASE_THRESHOLD, bytes));
}

static RtStatus gpu_alloc(RtDevice *d, size_t bytes, RtStream *stream, uint64_t *address) {
  assert(bytes && bytes % BLOCK_ALIGN == 0);
  CUdeviceptr found = 0;
  const char *call;
  RtContext was SCOPED = {0};
  TRY(enter(&was, d, stream));
  if (cacheable(d, stream, bytes) && (*address = cache_take(d, bytes, rt_handle(stream))) != 0)
    return RT_OK;
  int result = driver_alloc(d, bytes, rt_handle(stream), &found, &call);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* what is freed but kept may be enough */
    release_kept(d, 0);
    result = driver_alloc(d, bytes, rt_handle(stream), &found, &call);
  }
  *address = found;
  return result == CUDA_ERROR_OUT_OF_MEMORY ? no_memory(d, bytes, result, call)
                                            : rt_driver_check(result, call);
}

int rt_alloc_again(RtDevice *d, size_t bytes, const RtStream *stream, uint64_t *address) {
  if (rt_is_host(d) || rt_capture || bytes > cache_block_max || rt_phase != RT_PHASE_OPEN)
    return 0;
  bytes = round_up(bytes, BLOCK_ALIGN);
  if (!cacheable(d, stream, bytes) ||
      (stream && (stream->device != d || stream->epoch != rt_epoch(d))))
    return 0;
  *address = pthread_mutex_trylock(&d->lock) == 0 ? cache_take_locked(d, bytes, rt_handle(stream))
                                                  : 0;
  if (*address)
    count_alloc(d, bytes);
  return *address != 0;
}

/* Large pages for large memory: a fault for each 4 KiB costs many times the write of it. Advice,
 * which the system need not follow. */
static void *host_alloc(size_t bytes) {
  enum { LARGE = 4 << 20 };
  char *p = aligned_alloc(HOST_ALIGN, bytes);
#ifdef MADV_HUGEPAGE
  if (p && bytes >= LARGE) {
    size_t skip = -(uintptr_t)p % PAGE;
    (void)madvise(p + skip, (bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE);
  }
#endif
  return p;
}

RtStatus rt_alloc(RtDevice *d, size_t bytes, RtStream *stream, uint64_t *address) {
  *address = 0;
  if (bytes >= RT_ADDRESS_SPACE)
    return too_large(d, bytes);
  if (UNLIKELY(rt_capture != NULL))
    return rt_capture_alloc(d, bytes, address);
  if (rt_is_host(d)) {
    bytes = round_up(bytes, HOST_ALIGN);
    void *p = host_alloc(bytes);
    if (!p)
      return no_memory(d, bytes, 0, "");
    *address = (uintptr_t)p;
    if (UNLIKELY(rt_unset_is_watched()))
      rt_unset_mark(*address, bytes);
  } else {
    bytes = round_up(bytes, BLOCK_ALIGN);
    TRY(gpu_alloc(d, bytes, stream, address));
  }
  count_alloc(d, bytes);
  return RT_OK;
}

/* --- frees --- */

static void gpu_free(RtDevice *d, uint64_t address, size_t bytes, CUstream stream, int keep) {
  RtFreeBlock block = {address, bytes, stream};
  if (keep)
    block = cache_put(d, block);
  if (block.bytes)
    driver_free(d, block.address, block.stream);
}

/* Between rt_defer_begin and rt_defer_end a free only notes the block. Its stream may be gone by
 * then, so the blocks are freed when the whole device is idle. 0: it was not noted. */
static int defer(RtDevice *d, uint64_t address, size_t bytes) {
  RtDeferred *b = atomic_load(&d->deferring) ? malloc(sizeof *b) : NULL;
  if (!b)
    return 0;
  pthread_mutex_lock(&d->lock);
  /* still: the flush comes after it is 0, and takes the lock */
  int noted = atomic_load(&d->deferring) != 0;
  if (noted) {
    *b = (RtDeferred){d->deferred, address, bytes};
    d->deferred = b;
  }
  pthread_mutex_unlock(&d->lock);
  if (!noted)
    free(b);
  return noted;
}

static void flush_deferred(RtDevice *d) {
  pthread_mutex_lock(&d->lock);
  RtDeferred *b = d->deferred;
  d->deferred = NULL;
  pthread_mutex_unlock(&d->lock);
  for (RtDeferred *next; b; b = next) {
    next = b->next;
    gpu_free(d, b->address, b->bytes, NULL, d->pool && b->bytes <= cache_block_max);
    free(b);
  }
}

void rt_defer_begin(RtDevice *d) { atomic_fetch_add(&d->deferring, 1); }

void rt_defer_end(RtDevice *d) {
  assert(atomic_load(&d->deferring) > 0);
  RtContext was SCOPED = {0};
  if (atomic_fetch_sub(&d->deferring, 1) != 1 || rt_is_host(d) ||
      !rt_enter_alive(&was, d, rt_epoch(d)))
    return;
  pthread_mutex_lock(&d->lock);
  int any = d->deferred != NULL;
  pthread_mutex_unlock(&d->lock);
  if (any)
    rt_cu.cuCtxSynchronize();
  flush_deferred(d);
}

void rt_free(RtDevice *d, uint64_t address, size_t bytes, RtStream *stream) {
  if (!address)
    return;
  if (rt_is_host(d)) {
    bytes = round_up(bytes, HOST_ALIGN); /* as it was noted: what is left would be another's */
    rt_unset_written(address, bytes);
    free((void *)(uintptr_t)address);
    count_free(d, bytes);
    return;
  }
  if (UNLIKELY(rt_captures) && rt_capture_defer(d, address, bytes))
    return;
  if (stream &&
      stream->device !=
          d) { /* another device's stream used the block: there is no order to rely on, so wait */
    RtContext was SCOPED = {0};
    if (rt_enter_alive(&was, stream->device, stream->epoch))
      rt_cu.cuStreamSynchronize(stream->handle);
    stream = NULL;
  }
  if (rt_phase != RT_PHASE_OPEN || (stream && stream->epoch != rt_epoch(d)))
    return;
  if (stream && stream->apart) /* work on the default stream, which nobody notes, may use it too */
    rt_stream_order(d, NULL, stream);
  bytes = round_up(bytes, BLOCK_ALIGN);
  if (!atomic_load(&d->deferring) && cacheable(d, stream, bytes) &&
      cache_keep(d, (RtFreeBlock){address, bytes, rt_handle(stream)})) {
    count_free(d, bytes);
    return;
  }
  RtContext was SCOPED = {0};
  if (!rt_enter_alive(&was, d, rt_epoch(d)))
    return;
  count_free(d, bytes);
  if (!defer(d, address, bytes))
    gpu_free(d, address, bytes, rt_handle(stream), cacheable(d, stream, bytes));
}

void rt_free_idle(RtDevice *d, uint64_t address, size_t bytes) {
  RtContext was SCOPED = {0};
  if (!rt_is_host(d) && !rt_captures && !atomic_load(&d->deferring) &&
      rt_enter_alive(&was, d, rt_epoch(d)))
    rt_cu.cuCtxSynchronize();
  rt_free(d, address, bytes, NULL);
}

/* --- copies --- */

void rt_note_written(uint64_t address, size_t bytes) { rt_unset_written(address, bytes); }

RtStatus rt_copy_to_device(RtDevice *d, uint64_t to, const void *from, size_t bytes,
                           RtStream *stream) {
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_capture_copy(d, stream, (RtCopy){RT_COPY_TO_DEVICE, 0, to, (uintptr_t)from, bytes});
  if (rt_is_host(d)) {
    rt_unset_written(to, bytes);
    memmove((void *)(uintptr_t)to, from, bytes);
    return RT_OK;
  }
  int done = 0;
  RtContext was SCOPED = {0};
  TRY(enter(&was, d, stream));
  if (bytes >= RT_STAGE_MIN_TO_DEVICE)
    TRY(rt_stage_bytes(d, (char *)(uintptr_t)from, to, bytes, 0, rt_handle(stream), &done));
  if (done)
    return RT_OK;
  if (!stream)
    return CU(cuMemcpyHtoD, (to, from, bytes));
  return CU(cuMemcpyHtoDAsync, (to, from, bytes, stream->handle));
}

RtStatus rt_copy_to_host(RtDevice *d, void *to, uint64_t from, size_t bytes, RtStream *stream) {
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_capture_copy(d, stream, (RtCopy){RT_COPY_TO_HOST, 0, (uintptr_t)to, from, bytes});
  if (rt_is_host(d)) {
    memmove(to, (const void *)(uintptr_t)from, bytes);
    return RT_OK;
  }
  int done = 0;
  RtContext was SCOPED = {0};
  TRY(enter(&was, d, stream));
  if (bytes >= RT_STAGE_MIN_TO_HOST)
    TRY(rt_stage_bytes(d, to, from, bytes, 1, rt_handle(stream), &done));
  if (done)
    return RT_OK;
  if (!stream)
    return CU(cuMemcpyDtoH, (to, from, bytes));
  return CU(cuMemcpyDtoHAsync, (to, from, bytes, stream->handle));
}

RtStatus rt_copy_on_device(RtDevice *d, uint64_t to, uint64_t from, size_t bytes,
                           RtStream *stream) {
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_capture_copy(d, stream, (RtCopy){RT_COPY_ON_DEVICE, 0, to, from, bytes});
  if (rt_is_host(d)) {
    rt_unset_written(to, bytes);
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return RT_OK;
  }
  RtContext was SCOPED = {0};
  TRY(enter(&was, d, stream));
  return CU(cuMemcpyDtoDAsync, (to, from, bytes, rt_handle(stream)));
}

RtStatus rt_copy_peer(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                      size_t bytes, RtStream *stream) {
  RtDevice *d = stream && stream->device == from_device ? from_device : to_device;
  if (rt_is_host(to_device) || rt_is_host(from_device))
    return rt_fail(RT_BAD_ARGUMENT, "copy to a NumPy array first",
                   "the host device is no GPU's peer");
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_fail(RT_BAD_ARGUMENT, "copy before or after the capture",
                   "a graph of one device cannot copy to or from another");
  CUcontext there, here;
  RtContext was SCOPED = {0};
  TRY(rt_device_context(from_device, &here));
  TRY(rt_device_context(to_device, &there));
  TRY(enter(&was, d, stream));
  if (!stream)
    return CU(cuMemcpyPeer, (to, there, from, here, bytes));
  return CU(cuMemcpyPeerAsync, (to, there, from, here, bytes, stream->handle));
}

RtStatus rt_fill(RtDevice *d, uint64_t to, uint8_t byte, size_t bytes, RtStream *stream) {
  if (!bytes)
    return RT_OK;
  if (UNLIKELY(rt_capture != NULL))
    return rt_capture_copy(d, stream, (RtCopy){RT_COPY_FILL, byte, to, 0, bytes});
  if (rt_is_host(d)) {
    rt_unset_written(to, bytes);
    memset((void *)(uintptr_t)to, byte, bytes);
    return RT_OK;
  }
  RtContext was SCOPED = {0};
  TRY(enter(&was, d, stream));
  return CU(cuMemsetD8Async, (to, byte, bytes, rt_handle(stream)));
}

int rt_pointer_is_known(uint64_t address, int *ordinal) {
  unsigned kind = 0;
  int attributes[] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_ORDINAL};
  void *values[] = {&kind, ordinal};
  /* asked for one attribute of memory that it does not know, the driver reports an error */
  return rt_driver_open() == RT_OK &&
         rt_cu.cuPointerGetAttributes(2, attributes, values, address) == CUDA_SUCCESS && kind != 0;
}
