/* Allocations, the list of freed blocks, running out of memory, copies and pinned memory; on the
 * stand-in GPU and on the host. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/kernels.h"

static void reuse(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s, *foreign;
  RtMemoryStats stats;
  uint64_t a, b, c;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  EXPECT(rt_alloc(d, 1000, s, &a) == RT_OK && a % 256 == 0);
  rt_free(d, a, 1000, s);
  control->forget();
  EXPECT(rt_alloc(d, 1000, NULL, &b) == RT_OK && b != a); /* another stream's block is not taken */
  EXPECT(rt_alloc(d, 900, s, &c) == RT_OK && c == a); /* the same stream's is, its size rounded */
  EXPECT(control->calls("cuMemAllocAsync") == 1);
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_blocks == 2 && stats.live_bytes == 2048 && stats.peak_bytes == 2048 &&
         stats.allocations == 3);
  rt_free(d, b, 1000, NULL);
  rt_free(d, c, 900, s);
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_blocks == 0 && stats.cached_bytes == 2048 &&
         control->calls("cuMemFreeAsync") == 0);

  EXPECT(rt_stream_wrap(d, rt_stream_handle(s), &foreign) == RT_OK);
  EXPECT(rt_alloc(d, 5000, foreign, &a) == RT_OK);
  rt_free(d, a, 5000, foreign); /* whose stream may be gone tomorrow: not kept */
  EXPECT(control->calls("cuMemFreeAsync") == 1);
  rt_stream_release(foreign);
  EXPECT(control->live(SI_STREAM) == 1);
  rt_stream_release(s); /* takes the blocks kept for it along */
  EXPECT(control->live(SI_STREAM) == 0 && control->live(SI_MEMORY) == 1);

  EXPECT(rt_alloc(d, (size_t)32 << 20, NULL, &a) == RT_OK);
  rt_free(d, a, (size_t)32 << 20, NULL); /* too large to keep */
  EXPECT(control->live(SI_MEMORY) == 1 && control->misuse() == 0);
}

/* Taking and giving back what the list holds is no call into the driver, and happens only where it
 * may. */
static void again(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  RtMemoryStats stats;
  uint64_t a, b;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  EXPECT(rt_alloc(d, 1000, s, &a) == RT_OK);
  EXPECT(!rt_alloc_again(d, 1000, s, &b));
  control->forget();
  rt_free(d, a, 1000, s);
  EXPECT(!rt_alloc_again(d, 1000, NULL, &b) && !rt_alloc_again(d, 2000, s, &b) &&
         !rt_alloc_again(d, (size_t)32 << 20, s, &b));
  EXPECT(rt_alloc_again(d, 900, s, &b) && b == a && control->calls(NULL) == 0);
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_blocks == 1 && stats.live_bytes == 1024 && stats.allocations == 2);
  control->forget();
  rt_defer_begin(d); /* now a free only notes the block */
  rt_free(d, b, 900, s);
  EXPECT(!rt_alloc_again(d, 900, s, &b));
  rt_defer_end(d);
  EXPECT(rt_alloc_again(d, 900, NULL, &b) && b == a); /* the device was idle: it is any stream's */
  rt_free(d, b, 900, s);
  EXPECT(rt_device_reset(d) == RT_OK); /* takes list and stream along */
  EXPECT(!rt_alloc_again(d, 900, s, &b) && !rt_alloc_again(d, 900, NULL, &b));
  rt_stream_release(s);
  EXPECT(control->live(SI_MEMORY) == 0 && control->misuse() == 0);
}

/* More sizes than slots, and more bytes than are kept: nothing is lost. */
static void crowded(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  enum { BLOCKS = 100 };
  uint64_t a[BLOCKS];
  RtMemoryStats stats;
  for (int round = 0; round < 3; round++) {
    size_t unit = round == 2 ? (size_t)150000 : 1000;
    for (size_t i = 0; i < BLOCKS; i++)
      EXPECT(rt_alloc(d, unit * (i + 1), NULL, &a[i]) == RT_OK);
    for (size_t i = 0; i < BLOCKS; i++)
      rt_free(d, a[i], unit * (i + 1), NULL);
    EXPECT(control->live(SI_MEMORY) <= RT_CACHE_SLOTS);
    rt_memory_stats(d, &stats);
    EXPECT(stats.live_bytes == 0 && stats.cached_bytes <= (size_t)64 << 20);
  }
  uint64_t zero, one;
  EXPECT(rt_alloc(d, 0, NULL, &zero) == RT_OK && zero && rt_alloc(d, 0, NULL, &one) == RT_OK &&
         one != zero);
  rt_free(d, zero, 0, NULL);
  rt_free(d, one, 0, NULL);
  rt_free(d, 0, 100, NULL);
  rt_cache_flush(d, NULL, 1);
  EXPECT(control->live(SI_MEMORY) == 0 && control->misuse() == 0);
}

static void out_of_memory(int pools) {
  const StandinControl *control = standin_open(1);
  setenv("PYPTX_STANDIN_POOLS", pools ? "1" : "0", 1);
  RtDevice *d = gpu();
  uint64_t a, b;
  control->set_memory(10 << 20);
  EXPECT(rt_alloc(d, 6 << 20, NULL, &a) == RT_OK);
  rt_free(d, a, 6 << 20, NULL);
  EXPECT(control->live(SI_MEMORY) == (pools != 0));
  EXPECT(rt_alloc(d, 8 << 20, NULL, &a) == RT_OK); /* what was kept is given up for it */
  EXPECT(rt_alloc(d, 8 << 20, NULL, &b) == RT_NO_MEMORY && b == 0);
  EXPECT(has("8.0 MB") && has("2.0 MB of 10.0 MB") && has("1 arrays") && has("Stand-in GPU 0"));
  EXPECT(rt_error()->result == 2 &&
         strcmp(rt_error()->result_name, "CUDA_ERROR_OUT_OF_MEMORY") == 0);
  EXPECT(strcmp(rt_error()->call, pools ? "cuMemAllocAsync" : "cuMemAlloc") == 0);
  EXPECT(rt_alloc(d, SIZE_MAX, NULL, &b) == RT_NO_MEMORY);
  rt_free(d, a, 8 << 20, NULL);
  rt_cache_flush(d, NULL, 1);
  EXPECT(control->live(SI_MEMORY) == 0 && control->misuse() == 0);
}

static void check_copies(RtDevice *d, RtStream *s) {
  char from[100], to[100] = {0};
  uint64_t a, b;
  memset(from, 7, sizeof from);
  EXPECT(rt_alloc(d, 100, s, &a) == RT_OK && rt_alloc(d, 100, s, &b) == RT_OK);
  EXPECT(rt_fill(d, b, 9, 100, s) == RT_OK);
  EXPECT(rt_copy_to_device(d, a, from, 100, s) == RT_OK);
  EXPECT(rt_copy_on_device(d, b + 10, a, 50, s) == RT_OK);
  EXPECT(rt_copy_to_host(d, to, b, 100, s) == RT_OK && rt_stream_synchronize(d, s) == RT_OK);
  EXPECT(to[9] == 9 && to[10] == 7 && to[59] == 7 && to[60] == 9);
  EXPECT(rt_copy_to_device(d, a, NULL, 0, s) == RT_OK &&
         rt_copy_to_host(d, NULL, a, 0, s) == RT_OK);
  EXPECT(rt_copy_on_device(d, a, 0, 0, s) == RT_OK && rt_fill(d, 0, 0, 0, s) == RT_OK);
  rt_free(d, a, 100, s);
  rt_free(d, b, 100, s);
}

static void copies(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  RtDevice *d = gpu(), *other;
  RtStream *s, *t;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  check_copies(d, NULL);
  EXPECT(control->calls("cuMemcpyHtoD") == 1 && control->calls("cuMemcpyDtoH") == 1);
  check_copies(d, s);
  EXPECT(control->calls("cuMemcpyHtoDAsync") == 1 && control->calls("cuMemcpyDtoHAsync") == 1);
  EXPECT(rt_device_open(1, &other) == RT_OK && rt_stream_new(other, &t) == RT_OK);
  uint64_t a;
  EXPECT(rt_alloc(d, 100, NULL, &a) == RT_OK);
  EXPECT(rt_fill(d, a, 1, 100, t) == RT_BAD_ARGUMENT && has("Stand-in GPU 1"));
  rt_free(d, a, 100, t); /* of another device: waits for it */
  rt_stream_release(t);
  rt_stream_release(s);
  EXPECT(rt_device_make_current(d) == RT_OK);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void pinned(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  void *p, *q;
  EXPECT(rt_pinned_alloc(NULL, 1000, &p) == RT_OK && p && (uintptr_t)p % 64 == 0);
  memset(p, 1, 1000);
  rt_pinned_free(p); /* no GPU is open: plain memory */
  EXPECT(control->calls(NULL) == 0);
  RtDevice *d = gpu();
  EXPECT(rt_pinned_alloc(NULL, 0, &p) == RT_OK && rt_pinned_alloc(NULL, 5000, &q) == RT_OK &&
         control->live(SI_PINNED) == 2);
  memset(q, 1, 5000);
  rt_pinned_free(p);
  EXPECT(control->live(SI_PINNED) == 1);
  EXPECT(rt_device_reset(d) == RT_OK);
  memset(q, 2, 5000); /* survives a reset */
  rt_pinned_free(q);
  rt_pinned_free(NULL);
  control->fail("cuMemHostRegister", 1, 801);
  EXPECT(rt_pinned_alloc(NULL, 1000, &p) == RT_OK); /* a system that cannot pin: it works, slower */
  rt_pinned_free(p);
  control->fail("cuMemHostRegister", 1, 2);
  EXPECT(rt_pinned_alloc(NULL, 1000, &p) == RT_NO_MEMORY && !p);
  EXPECT(rt_pinned_alloc(NULL, SIZE_MAX, &p) == RT_NO_MEMORY && !p);
  EXPECT(control->live(SI_PINNED) == 0 && control->misuse() == 0);
}

static void host(int n) {
  (void)n;
  RtDevice *d;
  RtMemoryStats before, after;
  uint64_t a, b;
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK);
  rt_memory_stats(d, &before);
  check_copies(d, NULL);
  EXPECT(rt_alloc(d, 0, NULL, &a) == RT_OK && a % 64 == 0 && rt_alloc(d, 0, NULL, &b) == RT_OK &&
         a != b);
  rt_memory_stats(d, &after);
  EXPECT(after.live_blocks == before.live_blocks + 2 &&
         after.allocations == before.allocations + 4 && after.cached_bytes == 0);
  rt_free(d, a, 0, NULL);
  rt_free(d, b, 0, NULL);
  rt_memory_stats(d, &after);
  EXPECT(after.live_blocks == before.live_blocks && after.live_bytes == before.live_bytes &&
         after.peak_bytes >= 128);
  EXPECT(rt_alloc(d, (size_t)1 << 60, NULL, &a) == RT_NO_MEMORY && a == 0 &&
         has(rt_device_name(d)));
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(reuse, 0);
  RUN(again, 0);
  RUN(crowded, 0);
  RUN(out_of_memory, 1);
  RUN(out_of_memory, 0);
  RUN(copies, 0);
  RUN(pinned, 0);
  RUN(host, 0);
  return expect_failures != 0;
}
