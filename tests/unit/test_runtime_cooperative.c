/* Kernels whose grid meets: how they reach the driver, what is refused before it, failures of each
 * call on the way; and on the host device how blocks go on in phases, and what is said when some
 * have ended. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "tests/unit/support/kernels.h"

/* --- the driver's side --- */

/* During the launch: the parameters are where they should be, and the barrier's word is clear and
 * the launch's own. */
typedef struct Seen {
  const Block *block;
  uint64_t words[4];
  int n;
} Seen;

static void look(const StandinLaunch *l, void *user) {
  Seen *s = user;
  const char *base = (const char *)s->block;
  EXPECT(l->cooperative && l->bytes == 32 && memcmp(l->params, base, 32) == 0);
  for (int k = 0; k < 4; k++)
    EXPECT((const char *)l->fields[k] == base + kernel_fields[k].offset);
  EXPECT(s->block->trap != 0 && s->block->grid != 0);
  uint64_t word;
  memcpy(&word, (const void *)(uintptr_t)s->block->grid,
         sizeof word); /* the stand-in's memory is ours */
  EXPECT(word == 0);
  memset((void *)(uintptr_t)s->block->grid, 0x5a,
         sizeof word); /* as a launch that was stopped in the middle */
  s->words[s->n++ & 3] = s->block->grid;
}

static void launches(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "meet", &meet_params);
  RtStream *a, *b;
  EXPECT(rt_stream_new(d, &a) == RT_OK && rt_stream_new(d, &b) == RT_OK);
  Block block = {.pointer = 0x1122334455667788, .extent = 99};
  Seen seen = {.block = &block};
  control->on_launch(look, &seen);
  control->forget();
  RtConfig c = {.grid = {5, 2, 3}, .block = {8, 4, 2}, .dynamic_shared = 11, .stream = a};
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
  EXPECT(control->calls("cuLaunchCooperativeKernel") == 1 && control->calls("cuLaunchKernel") == 0);
  EXPECT(control->calls("cuMemsetD8Async") == 1);
  const StandinLaunch *l = control->last();
  EXPECT(l->grid[0] == 5 && l->grid[1] == 2 && l->grid[2] == 3 && l->block[0] == 8 &&
         l->block[1] == 4 && l->block[2] == 2);
  EXPECT(l->dynamic_shared == 11 && (uintptr_t)l->stream == rt_stream_handle(a));
  /* the word of a launch that may still run on one stream is not that of a launch on another */
  c.stream = b;
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK && seen.words[1] != seen.words[0]);
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK && seen.n == 3);
  control->on_launch(NULL, NULL);
  rt_kernel_release(k);
  rt_stream_release(a);
  rt_stream_release(b);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void limits(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "meet", &meet_params);
  Block block = {0};
  uint32_t blocks;
  EXPECT(rt_kernel_grid_blocks(k, 256, 0, &blocks) == RT_OK && blocks == 132 * 8);
  EXPECT(rt_kernel_grid_blocks(k, 256, 100001, &blocks) == RT_OK && blocks == 132);
  EXPECT(rt_kernel_grid_blocks(k, 0, 0, &blocks) == RT_OK && blocks == 0);
  EXPECT(rt_kernel_grid_blocks(k, 1025, 0, &blocks) == RT_OK && blocks == 0);
  EXPECT(rt_kernel_grid_blocks(k, 32, 1 << 30, &blocks) == RT_OK && blocks == 0);
  RtConfig c = config_of(132 * 8, 256);
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
  c.grid[0]++;
  control->forget();
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_BAD_LAUNCH);
  EXPECT(has("kernel 'meet' synchronises its grid") && has("the grid has 1057") &&
         has("256 threads") && has("room for 1056") && *rt_error()->remedy);
  c = (RtConfig){.grid = {INT32_MAX, 65535, 65535}, .block = {1, 1, 1}};
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_BAD_LAUNCH);
  EXPECT(control->calls("cuLaunchCooperativeKernel") == 0 &&
         control->calls("cuMemAllocAsync") == 0);
  rt_kernel_release(k);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

enum { FAILURES = 16 };

/* Each driver call of a launch fails in turn: an error, and nothing is left. */
static void failures(int nth) {
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "meet", &meet_params);
  Block block = {0};
  RtConfig c = config_of(2, 32);
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
  control->forget();
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
  int calls = control->calls(NULL);
  EXPECT(calls < FAILURES);
  control->fail(NULL, nth, 999);
  RtStatus status = rt_launch(k, &c, &block, NULL);
  /* where the current context cannot be told it is set again */
  if (control->fired() && strcmp(control->fired_call(), "cuCtxGetCurrent") != 0)
    EXPECT(status == RT_FAILED && rt_error()->result == 999);
  else
    EXPECT(status == RT_OK);
  EXPECT(control->fired() == (nth <= calls));
  control->fail(NULL, 0, 0);
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
  rt_kernel_release(k);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* --- the host device --- */

enum { BLOCKS = 300, PHASES = 5 };
static _Atomic uint32_t arrived[PHASES + 1];
static _Atomic int early;

/* Every block counts itself in each phase, and finds that all had been counted in the one before;
 * its memory is its own. */
static void phases(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  const RtHostLaunch v = *launch;
  EXPECT(last == first + 1);
  uint64_t *mine = v.shared;
  uint32_t phase = v.phase;
  if (phase ? *mine != first * 1000 + phase - 1 : *mine != UINT64_MAX)
    early = 1;
  *mine = first * 1000 + phase;
  if (phase && arrived[phase - 1] != BLOCKS)
    early = 1;
  arrived[phase]++;
  if (phase < PHASES)
    rt_host_wait_for_grid(launch, 3, first, 0);
}

static void some_end(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  (void)last;
  if (first % 3 || launch->phase == 0)
    rt_host_wait_for_grid(launch, 3, first, 5);
}

static void host(int n) {
  (void)n;
  setenv("PYPTX_HOST_THREADS", "3", 1);
  RtDevice *d;
  RtKernel *k;
  RtHostCode code = {.entry = phases, .static_shared = 8, .frame_bytes = 32, .meets_grid = 1};
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK);
  EXPECT(rt_kernel_host(d, "phases", &code, &meet_params, &k) == RT_OK);
  RtConfig c = config_of(BLOCKS, 64);
  RtTrap trap = {0};
  Block block = {0};
  EXPECT(rt_launch(k, &c, &block, &trap) == RT_OK && !early);
  for (int p = 0; p <= PHASES; p++)
    EXPECT(arrived[p] == BLOCKS);
  uint32_t blocks;
  EXPECT(rt_kernel_grid_blocks(k, 64, 0, &blocks) == RT_OK && blocks > BLOCKS);
  c.grid[0] = blocks + 1;
  EXPECT(rt_launch(k, &c, &block, &trap) == RT_BAD_LAUNCH && has("synchronises its grid"));
  rt_kernel_release(k);
  code.entry = some_end;
  EXPECT(rt_kernel_host(d, "some_end", &code, &meet_params, &k) == RT_OK);
  c.grid[0] = 10;
  EXPECT(rt_launch(k, &c, &block, &trap) == RT_TRAPPED);
  EXPECT(trap.state == 2 && trap.site == 4 && trap.block[0] == 1 && trap.thread[0] == 5 &&
         trap.values[0] == 4 && trap.values[1] == 10);
  rt_kernel_release(k);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(host, 0);
  RUN(launches, 0);
  RUN(limits, 0);
  for (int nth = 1; nth <= FAILURES; nth++)
    RUN(failures, nth);
  return expect_failures != 0;
}
