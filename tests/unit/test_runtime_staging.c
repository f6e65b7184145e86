/* Large copies of pageable memory: what arrives, strided arrays, which way a copy goes, and what a
 * failing call of the driver leaves behind. On the stand-in GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/memory.h"
#include "runtime/memory/staging.h"
#include "tests/unit/support/standin.h"

enum { MB = 1 << 20 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { COPIES = 4, STRIDED = 10, STEP = 4 }; /* here each byte costs more */
#else
enum { COPIES = 12, STRIDED = 40, STEP = 1 };
#endif

static RtDevice *gpu(int threads) {
  RtDevice *d = NULL;
  setenv("PYPTX_HOST_THREADS", threads == 1 ? "1" : threads == 3 ? "3" : "12", 1);
  EXPECT(rt_device_open(0, &d) == RT_OK);
  return d;
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static char *noise(size_t bytes, uint32_t *state) {
  char *p = malloc(bytes);
  for (size_t i = 0; p && i < bytes; i++)
    p[i] = (char)next_random(state);
  EXPECT(p != NULL);
  return p;
}

static void random_sizes(int threads) {
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(threads);
  RtStream *s;
  uint32_t state = 7;
  uint64_t a;
  enum { LARGEST = 40 * MB };
  char *from = noise(LARGEST, &state), *to = calloc(1, LARGEST);
  EXPECT(rt_stream_new(d, &s) == RT_OK && rt_alloc(d, LARGEST, s, &a) == RT_OK);
  for (int i = 0; i < COPIES; i++) {
    size_t least = i & 2 ? RT_STAGE_MIN_TO_HOST : RT_STAGE_MIN_TO_DEVICE;
    size_t bytes = i == 0 ? RT_STAGE_MIN_TO_DEVICE
                          : next_random(&state) % (LARGEST - least) + least;
    size_t at = next_random(&state) % (LARGEST - bytes + 1);
    RtStream *stream = i & 1 ? s : NULL;
    memset(to, 0, LARGEST);
    EXPECT(rt_copy_to_device(d, a + at, from + at, bytes, stream) == RT_OK);
    EXPECT(rt_copy_to_host(d, to + at, a + at, bytes, stream) == RT_OK);
    EXPECT(memcmp(to + at, from + at, bytes) == 0);
    EXPECT((!at || !to[at - 1]) && (at + bytes == LARGEST || !to[at + bytes]));
  }
  EXPECT((control->calls("cuMemHostRegister") == 2) == (threads > 1)); /* a ring each way */
  rt_free(d, a, LARGEST, s);
  rt_stream_release(s);
  EXPECT(rt_memory_trim(d, 0) == RT_OK);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
  free(from);
  free(to);
}

/* Any axes, any strides: against one element after the other. */
static void strided(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(12);
  uint32_t state = 3;
  enum { ROOM = 64 * MB };
  char *host = noise(ROOM, &state), *packed = malloc(ROOM), *copy = malloc(ROOM);
  uint64_t device;
  EXPECT(rt_alloc(d, ROOM, NULL, &device) == RT_OK);
  static const int64_t shapes[][3] = {
      {1000, 700, 3}, {3, 5, 7}, {300, 1, 9000}, {1, 1, 1}, {200, 50, 200}};
  static const int64_t steps[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
  static const size_t sizes[] = {1, 2, 4, 8, 16, 12};
  for (int round = 0; round < STRIDED; round++) {
    const int64_t *shape = shapes[next_random(&state) % 5], *order = steps[next_random(&state) % 4];
    size_t item = sizes[next_random(&state) % 6], count = (size_t)(shape[0] * shape[1] * shape[2]);
    int64_t strides[3], stride = (int64_t)item, first = 0;
    if (count * item > ROOM / 3)
      continue;
    for (int k = 2; k >= 0; k--) { /* axis order[k] is the k-th slowest in memory */
      strides[order[k]] = stride;
      stride *= shape[order[k]];
    }
    for (int k = 0; k < 3; k++) {
      if (next_random(&state) % 3 == 0)
        strides[k] *= -1;
      first += strides[k] < 0 ? -strides[k] * (shape[k] - 1) : 0;
    }
    RtStrided a = {host + first, item, 3, shape, strides};
    EXPECT(rt_copy_strided(d, device, &a, 0, NULL) == RT_OK);
    EXPECT(rt_copy_to_host(d, packed, device, count * item, NULL) == RT_OK);
    const char *at = packed;
    int same = 1;
    for (int64_t i = 0; i < shape[0]; i++)
      for (int64_t j = 0; j < shape[1]; j++)
        for (int64_t k = 0; k < shape[2]; k++, at += item)
          same &= !memcmp(at, a.base + i * strides[0] + j * strides[1] + k * strides[2], item);
    EXPECT(same);
    memcpy(copy, host, ROOM);
    memset(host, 0, (size_t)stride);
    EXPECT(rt_copy_strided(d, device, &a, 1, NULL) == RT_OK);
    /* every element came back to its place, and nothing else */
    EXPECT(memcmp(copy, host, ROOM) == 0);
  }
  rt_free(d, device, ROOM, NULL);
  EXPECT(rt_memory_trim(d, 0) == RT_OK && standin_live(control) == 0 && control->misuse() == 0);
  free(host);
  free(packed);
  free(copy);
}

static void ways(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(12);
  void *pinned;
  uint64_t a;
  char *pageable = calloc(1, 8 * MB);
  EXPECT(rt_alloc(d, 8 * MB, NULL, &a) == RT_OK && rt_pinned_alloc(NULL, 8 * MB, &pinned) == RT_OK);
  EXPECT(rt_copy_to_device(d, a, pinned, 8 * MB, NULL) == RT_OK); /* straight */
  EXPECT(control->calls("cuMemcpyHtoD") == 1 && control->calls("cuMemcpyHtoDAsync") == 0);
  EXPECT(rt_copy_to_device(d, a, pageable, RT_STAGE_MIN_TO_DEVICE - 1, NULL) == RT_OK);
  EXPECT(control->calls("cuMemcpyHtoD") == 2 && control->calls("cuMemHostRegister") == 1);
  EXPECT(rt_copy_to_device(d, a, pageable, 8 * MB, NULL) == RT_OK); /* staged */
  EXPECT(control->calls("cuMemcpyHtoD") == 2 && control->calls("cuMemcpyHtoDAsync") > 1);
  EXPECT(rt_device_reset(d) == RT_OK); /* takes ring and array along */
  EXPECT(rt_alloc(d, 8 * MB, NULL, &a) == RT_OK);
  EXPECT(rt_copy_to_host(d, pageable, a, 8 * MB, NULL) == RT_OK);
  EXPECT(rt_copy_to_device(d, a, pageable, 8 * MB, NULL) == RT_OK);
  rt_free(d, a, 8 * MB, NULL);
  rt_pinned_free(pinned);
  EXPECT(rt_memory_trim(d, 0) == RT_OK && standin_live(control) == 0 && control->misuse() == 0);
  free(pageable);
}

/* Every call that a copy makes fails in turn: an error of that call or, where there is another way,
 * the right bytes; and the next copy works. */
static void failing_calls(int to_host) {
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(3);
  uint32_t state = 11;
  enum { BYTES = 9 * MB };
  char *host = noise(BYTES, &state), *back = malloc(BYTES);
  int failed = 0, n = 1;
  for (;; n += STEP) {
    uint64_t a;
    EXPECT(rt_alloc(d, BYTES, NULL, &a) == RT_OK);
    if (to_host)
      EXPECT(rt_copy_to_device(d, a, host, BYTES, NULL) == RT_OK);
    control->forget();
    control->fail(NULL, n, CUDA_ERROR_INVALID_VALUE);
    RtStatus status = to_host ? rt_copy_to_host(d, back, a, BYTES, NULL)
                              : rt_copy_to_device(d, a, host, BYTES, NULL);
    int fired = control->fired();
    char call[64];
    snprintf(call, sizeof call, "%s", control->fired_call());
    control->forget();
    if (status != RT_OK) {
      failed++;
      EXPECT(rt_error()->result == CUDA_ERROR_INVALID_VALUE && !strcmp(rt_error()->call, call));
    } else {
      memset(to_host ? host : back, 0, to_host ? 0 : BYTES);
      EXPECT(to_host || rt_copy_to_host(d, back, a, BYTES, NULL) == RT_OK);
      EXPECT(memcmp(host, back, BYTES) == 0);
    }
    EXPECT(rt_copy_to_device(d, a, host, BYTES, NULL) == RT_OK &&
           rt_copy_to_host(d, back, a, BYTES, NULL) == RT_OK && memcmp(host, back, BYTES) == 0);
    rt_free(d, a, BYTES, NULL);
    EXPECT(rt_memory_trim(d, 0) == RT_OK);
    EXPECT(standin_live(control) == 0 && control->misuse() == 0);
    if (!fired)
      break;
  }
  EXPECT(failed > 10 / STEP && n > 40);
  free(host);
  free(back);
}

/* Copies of several threads share the rings. */
static void *copier(void *device) {
  RtDevice *d = device;
  uint32_t state = (uint32_t)(uintptr_t)&state;
  enum { BYTES = 6 * MB };
  char *host = noise(BYTES, &state), *back = malloc(BYTES);
  uint64_t a;
  EXPECT(rt_alloc(d, BYTES, NULL, &a) == RT_OK);
  for (int i = 0; i < 5; i++) {
    host[i * MB]++;
    EXPECT(rt_copy_to_device(d, a, host, BYTES, NULL) == RT_OK &&
           rt_copy_to_host(d, back, a, BYTES, NULL) == RT_OK && memcmp(host, back, BYTES) == 0);
  }
  rt_free(d, a, BYTES, NULL);
  free(host);
  free(back);
  return NULL;
}

static void many_threads(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(12);
  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    EXPECT(pthread_create(&threads[i], NULL, copier, d) == 0);
  for (int i = 0; i < 6; i++)
    pthread_join(threads[i], NULL);
  EXPECT(rt_memory_trim(d, 0) == RT_OK && standin_live(control) == 0 && control->misuse() == 0);
}

/* Frees wait for the end of the outermost defer, or for memory to run out. */
static void deferred(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(12);
  uint64_t a, b;
  control->set_memory(100 * MB);
  EXPECT(rt_alloc(d, 20 * MB, NULL, &a) == RT_OK && rt_alloc(d, 20 * MB, NULL, &b) == RT_OK);
  rt_defer_begin(d);
  rt_defer_begin(d);
  control->forget();
  rt_free(d, a, 20 * MB, NULL);
  rt_defer_end(d);
  EXPECT(control->live(SI_MEMORY) == 2 && control->calls("cuMemFreeAsync") == 0);
  EXPECT(rt_alloc(d, 70 * MB, NULL, &a) == RT_OK); /* memory is short */
  EXPECT(control->live(SI_MEMORY) == 2);
  rt_free(d, a, 70 * MB, NULL);
  rt_free_idle(d, b, 20 * MB);
  EXPECT(control->live(SI_MEMORY) == 2);
  rt_defer_end(d);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
  rt_defer_begin(d);
  EXPECT(rt_alloc(d, 20 * MB, NULL, &a) == RT_OK);
  rt_free(d, a, 20 * MB, NULL);
  EXPECT(rt_device_reset(d) == RT_OK);
  rt_defer_end(d);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* Host memory that is registered, managed or opened from another process. */
static void host_kinds(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(12), *host;
  RtMemoryStats stats;
  EXPECT(rt_device_open(RT_HOST, &host) == RT_OK);
  control->set_memory(100 * MB);
  char *own = calloc(1, MB);
  uint64_t a, limit = 0;
  void *p;
  uint32_t epoch = rt_device_epoch(d);
  EXPECT(rt_host_register(d, own, MB) == RT_OK && rt_host_device_address(d, own, &a) == RT_OK && a);
  EXPECT(rt_host_register(d, own, MB) == RT_BAD_ARGUMENT);
  rt_host_unregister(d, epoch, own, MB);
  EXPECT(control->live(SI_PINNED) == 0);
  EXPECT(rt_host_register(host, own, MB) == RT_OK &&
         rt_host_device_address(host, own, &a) == RT_OK && a == (uintptr_t)own);
  rt_host_unregister(host, 0, own, MB);

  EXPECT(rt_managed_alloc(d, 101 * MB, &p) == RT_NO_MEMORY && !p &&
         strstr(rt_error()->text, "101.0 MB") && strstr(rt_error()->text, "100.0 MB of 100.0 MB"));
  EXPECT(rt_managed_alloc(d, MB, &p) == RT_OK && p);
  memset(p, 1, MB);
  rt_managed_free(d, epoch, p);
  EXPECT(rt_managed_alloc(host, MB, &p) == RT_OK && p);
  rt_managed_free(host, 0, p);
  EXPECT(rt_managed_alloc(host, (size_t)1 << 55, &p) == RT_NO_MEMORY);

  uint8_t handle[64];
  uint64_t opened, offset;
  EXPECT(rt_alloc(d, MB, NULL, &a) == RT_OK);
  EXPECT(rt_ipc_export(d, a, handle, &offset) == RT_BAD_ARGUMENT &&
         strstr(rt_error()->remedy, "shareable"));
  rt_free(d, a, MB, NULL);
  EXPECT(rt_shared_alloc(d, MB, &a) == RT_OK);
  EXPECT(rt_ipc_export(d, a + 100, handle, &offset) == RT_OK && offset == 100);
  EXPECT(rt_ipc_open(d, handle, &opened) == RT_OK && opened == a);
  rt_ipc_close(d, epoch, opened);
  rt_shared_free(d, epoch, a);
  EXPECT(rt_shared_alloc(d, 200 * MB, &a) == RT_NO_MEMORY && a == 0);
  EXPECT(rt_shared_alloc(host, MB, &a) == RT_BAD_ARGUMENT &&
         rt_ipc_open(host, handle, &a) == RT_BAD_ARGUMENT &&
         rt_ipc_export(host, 0, handle, &a) == RT_BAD_ARGUMENT);

  EXPECT(rt_memory_limit(d, &limit, 0) == RT_OK && limit > 0);
  limit = 12345;
  EXPECT(rt_memory_limit(d, &limit, 1) == RT_OK);
  limit = 0;
  EXPECT(rt_memory_limit(d, &limit, 0) == RT_OK && limit == 12345);
  EXPECT(rt_memory_limit(host, &limit, 1) == RT_OK && limit == 0);
  EXPECT(rt_memory_trim(d, 0) == RT_OK && rt_memory_trim(host, 0) == RT_OK);
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_bytes == 0 && standin_live(control) == 0);
  EXPECT(control->misuse() == 1); /* the second registration */
  free(own);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(random_sizes, 12);
  RUN(random_sizes, 3);
  RUN(random_sizes, 1);
  RUN(strided, 0);
  RUN(ways, 0);
  RUN(failing_calls, 0);
  RUN(failing_calls, 1);
  RUN(many_threads, 0);
  RUN(deferred, 0);
  RUN(host_kinds, 0);
  return expect_failures != 0;
}
