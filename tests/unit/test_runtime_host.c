/* The host device's pool: every block runs once, traps stop a launch, launches from many threads
 * and from a forked child work. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/calls.h"
#include "runtime/host/host.h"
#include "runtime/host/parts.h"
#include "runtime/host/shares.h"
#include "tests/unit/support/expect.h"

typedef struct Params {
  _Atomic uint32_t *counts;
  uint64_t trap_from; /* blocks from this one on trap */
  unsigned spin;
  _Atomic uint64_t *threads_seen;
} Params;

/* Of all kernels here: what a block of the last launch took. */
static _Atomic uint32_t pace;

static void count_blocks(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  const Params *p = launch->params;
  for (uint64_t n = first; n < last; n++) {
    if (__atomic_load_n(rt_host_safepoint, __ATOMIC_RELAXED))
      rt_host_at_safepoint();
    for (volatile unsigned i = 0; i < p->spin; i++) {
    }
    atomic_fetch_add(&p->counts[n], 1);
    if (n >= p->trap_from)
      rt_host_trap(launch, 7, n, 5, (int64_t)n, -1, 0, 42);
  }
}

static void use_memory(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  const Params *p = launch->params;
  for (uint64_t n = first; n < last; n++) {
    memset(launch->shared, (int)n, 1000 + launch->dynamic_shared);
    memset(launch->frame, (int)n, 24 * 128);
    if (((uintptr_t)launch->shared | (uintptr_t)launch->frame) % 64 == 0)
      atomic_fetch_add(&p->counts[n], 1);
  }
}

static RtConfig config_of(uint32_t gx, uint32_t gy, uint32_t gz, uint32_t threads) {
  return (RtConfig){.grid = {gx, gy, gz}, .block = {threads, 1, 1}};
}

static int all_ones(const _Atomic uint32_t *counts, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    if (counts[i] != 1)
      return 0;
  return 1;
}

static void test_every_block_once(void) {
  static const uint32_t sizes[][4] = {
      {1, 1, 1, 1}, {2, 1, 1, 1024}, {7, 3, 2, 32}, {100000, 1, 1, 256}, {1, 5000, 3, 1}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const uint32_t *s = sizes[k];
    uint64_t total = (uint64_t)s[0] * s[1] * s[2];
    Params p = {.counts = calloc(total, 4), .trap_from = UINT64_MAX};
    RtConfig c = config_of(s[0], s[1], s[2], s[3]);
    RtTrap trap;
    EXPECT(rt_host_run(&(RtHostCode){.entry = count_blocks}, &pace, &c, &p, &trap) == RT_OK);
    EXPECT(trap.state == 0);
    EXPECT(all_ones(p.counts, total));
    free((void *)p.counts);
  }
}

/* A piece of more than a row ends with a row, or with its share. */
static int ends_well(const RtShares *s, uint64_t first, uint64_t n) {
  int ends = n <= s->row || (first + n) % s->row == 0;
  for (unsigned k = 0; k < s->count; k++)
    ends |= first + n == s->of[k].end;
  return ends;
}

static void take_shares(uint64_t total, uint64_t row, unsigned workers, bool in_one,
                        unsigned alone) {
  enum { MOST = 3000, WORKERS = 100 };
  static unsigned char taken[MOST];
  RtShares s;
  RtTaker takers[WORKERS];
  uint64_t first, n, all = 0;
  memset(taken, 0, sizeof taken);
  rt_shares_open(&s, total, row, workers, in_one);
  for (unsigned k = 0; k < workers; k++)
    takers[k] = (RtTaker){.share = k};
  for (; alone && (n = rt_shares_take(&s, &takers[0], 5, &first)); alone--)
    all += n, memset(taken + first, 1, n);
  EXPECT(rt_shares_left(&s) == total - all);
  takers[0].passed = 0;
  if (workers > 1)
    rt_shares_split(&s, workers, in_one);
  uint64_t before = 0;
  for (uint64_t most = 1; all > before || most == 1; most *= 2) {
    before = all;
    for (unsigned k = 0; k < workers; k++) {
      if (!(n = rt_shares_take(&s, &takers[k], most, &first)))
        continue;
      EXPECT(first + n <= total && !memchr(taken + first, 1, n) && ends_well(&s, first, n));
      all += n;
      memset(taken + first, 1, n);
    }
  }
  EXPECT(all == total && !memchr(taken, 0, total));
}

/* Takers in turns, one of which begins alone: every block once. */
static void test_shares(void) {
  static const uint64_t totals[] = {1, 2, 13, 64, 391, 3000}, rows[] = {1, 7, 64, 3000};
  static const unsigned workers[] = {1, 2, 14, RT_MOST_SHARES, 100};
  for (unsigned k = 0; k < 6 * 4 * 5 * 4; k++)
    take_shares(totals[k % 6], rows[k / 6 % 4], workers[k / 24 % 5], k / 120 & 1, k / 240 * 3);
}

static void test_memory(void) {
  Params p = {.counts = calloc(3000, 4)};
  RtConfig c = config_of(3000, 1, 1, 100);
  c.dynamic_shared = 5000;
  RtHostCode code = {.entry = use_memory, .static_shared = 1000, .frame_bytes = 24};
  EXPECT(rt_host_run(&code, &pace, &c, &p, NULL) == RT_OK);
  EXPECT(all_ones(p.counts, 3000));
  code.frame_bytes = UINT32_MAX; /* 4 GiB a thread: more than there is, or at least not touched */
  c.block[0] = 1 << 30;
  EXPECT(rt_host_run(&code, &pace, &c, &p, NULL) == RT_NO_MEMORY);
  free((void *)p.counts);
}

static void test_trap(void) {
  enum { TOTAL = 200000, FROM = 1000 };
  Params p = {.counts = calloc(TOTAL, 4), .trap_from = FROM};
  RtConfig c = config_of(TOTAL / 4, 2, 2, 64);
  c.block[1] = 2;
  RtTrap trap;
  EXPECT(rt_host_run(&(RtHostCode){.entry = count_blocks}, &pace, &c, &p, &trap) == RT_TRAPPED);
  EXPECT(trap.state == 2 && trap.site == 7);
  uint64_t n = trap.block[0] + (uint64_t)(TOTAL / 4) * (trap.block[1] + 2 * trap.block[2]);
  EXPECT(n >= FROM && n < TOTAL && trap.values[0] == (int64_t)n && trap.values[1] == -1 &&
         trap.values[3] == 42);
  EXPECT(trap.thread[0] == 5 && trap.thread[1] == 0);
  uint64_t ran = 0;
  for (uint64_t i = FROM; i < TOTAL; i++)
    ran += p.counts[i];
  EXPECT(ran >= 1 && ran <= rt_host_threads());
  EXPECT(p.counts[n] == 1);
  /* the next launch is not disturbed */
  memset((void *)p.counts, 0, TOTAL * 4);
  p.trap_from = UINT64_MAX;
  EXPECT(rt_host_run(&(RtHostCode){.entry = count_blocks}, &pace, &c, &p, &trap) == RT_OK);
  EXPECT(all_ones(p.counts, TOTAL));
  free((void *)p.counts);
}

/* A thread of a long row, by its place in it. */
static void count_threads(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  const Params *p = launch->params;
  uint32_t width = launch->block[0];
  for (uint64_t i = first * width; i < last * width; i++) {
    atomic_fetch_add(&p->counts[i], 1);
    if (i == p->trap_from)
      rt_host_trap(launch, 7, i / width, (uint32_t)(i % width), (int64_t)width, 0, 0, 0);
  }
}

/* A launch of few long blocks has more blocks, whose threads are named as those of the few. */
static void test_parts(void) {
  enum { BLOCKS = 7, WIDTH = 96, THREAD = 3 * WIDTH + 83 };
  RtHostCode code = {.entry = count_threads, .parts = 1}, whole = {.entry = count_threads};
  EXPECT(rt_parts_of(&code, BLOCKS, WIDTH, 5, 1000000) == 6);
  EXPECT(rt_parts_of(&code, BLOCKS, WIDTH, 5, 17000) == 3); /* of 6, those that last 4 us */
  EXPECT(rt_parts_of(&code, 200, WIDTH, 5, 1000000) == 2);
  EXPECT(rt_parts_of(&code, 320, WIDTH, 5, 1000000) == 1);
  EXPECT(rt_parts_of(&code, BLOCKS, 100, 5, 1000000) == 1);
  EXPECT(rt_parts_of(&code, BLOCKS, WIDTH, 5, 0) == 1);
  EXPECT(rt_parts_of(&code, BLOCKS, WIDTH, 1, 1000000) == 1);
  EXPECT(rt_parts_of(&code, 1, WIDTH, 5, 1000000) == 1);
  EXPECT(rt_parts_of(&whole, BLOCKS, WIDTH, 5, 1000000) == 1);
  RtConfig c = config_of(BLOCKS, 1, 1, WIDTH);
  for (int k = 0; k < 2; k++) {
    _Atomic uint32_t long_pace = 1000000;
    Params p = {.counts = calloc(BLOCKS * WIDTH, 4), .trap_from = k ? THREAD : UINT64_MAX};
    RtTrap trap;
    EXPECT(rt_host_run(&code, &long_pace, &c, &p, &trap) == (k ? RT_TRAPPED : RT_OK));
    EXPECT(k || all_ones(p.counts, BLOCKS * WIDTH));
    bool splits = rt_host_threads() > 1;
    EXPECT(!k || (trap.values[0] == (splits ? 16 : WIDTH) && trap.block[0] == THREAD / WIDTH &&
                  trap.thread[0] == THREAD % WIDTH));
    free((void *)p.counts);
  }
}

typedef struct Often {
  _Atomic uint32_t counts[500];
  bool bad;
  _Atomic bool done;
} Often;

static void *launch_often(void *arg) {
  Often *o = arg;
  for (int k = 0; k < 200; k++) {
    uint32_t total = 1 + (uint32_t)(k * 37 % 500);
    Params p = {.counts = o->counts, .trap_from = k % 5 == 4 ? total / 2 : UINT64_MAX, .spin = 50};
    RtConfig c = config_of(total, 1, 1, k % 2 ? 16 : 512);
    RtTrap trap;
    memset((void *)o->counts, 0, sizeof o->counts);
    RtStatus s = rt_host_run(&(RtHostCode){.entry = count_blocks}, &pace, &c, &p, &trap);
    if (k % 5 == 4 ? s != RT_TRAPPED || trap.values[0] < total / 2
                   : s != RT_OK || !all_ones(o->counts, total))
      o->bad = true;
  }
  return NULL;
}

static void test_many_callers(void) {
  enum { N = 8 };
  pthread_t threads[N];
  static Often often[N];
  for (int i = 0; i < N; i++)
    EXPECT(pthread_create(&threads[i], NULL, launch_often, &often[i]) == 0);
  for (int i = 0; i < N; i++) {
    pthread_join(threads[i], NULL);
    EXPECT(!often[i].bad);
  }
}

static void *launch_until(void *arg) {
  Often *o = arg;
  while (!atomic_load(&o->done))
    launch_often(o);
  return NULL;
}

/* Forks while another thread launches: the child's pool must work, whatever state it was copied
 * in. That thread allocates nothing: ThreadSanitizer does not hold its allocator's locks across a
 * fork, so that a child may wait for ever for a thread that it has not. */
static void test_fork(void) {
  static Often busy, own;
  pthread_t other;
  EXPECT(pthread_create(&other, NULL, launch_until, &busy) == 0);
  for (int k = 0; k < 20; k++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      launch_often(&own);
      _exit(own.bad);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
  atomic_store(&busy.done, true);
  pthread_join(other, NULL);
  EXPECT(!busy.bad);
}

/* --- timeouts --- */

static void never_end(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  const Params *p = launch->params;
  for (uint64_t n = first; n < last; n++)
    while (n >= p->trap_from)
      if (__atomic_load_n(rt_host_safepoint, __ATOMIC_RELAXED))
        rt_host_at_site(9);
}

static void take_long(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  (void)launch;
  for (uint64_t n = first; n < last; n++)
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static void *run_endless(void *failures) {
  Params p = {.trap_from = 50};
  RtConfig c = config_of(60, 1, 1, 64);
  c.timeout = 30000000;
  for (int k = 0; k < 3; k++) {
    RtTrap trap;
    RtStatus status = rt_host_run(&(RtHostCode){.entry = never_end}, &pace, &c, &p, &trap);
    *(int *)failures += status != RT_TRAPPED || trap.state != 2 || trap.finding != RT_FOUND_LATE ||
                        trap.site != 9 || trap.values[0] != 30000000 ||
                        trap.thread[0] != RT_NO_THREAD;
  }
  return failures;
}

static void test_timeouts(void) {
  enum { CALLERS = 4 };
  pthread_t callers[CALLERS];
  int bad[CALLERS] = {0};
  for (int k = 0; k < CALLERS; k++)
    EXPECT(pthread_create(&callers[k], NULL, run_endless, &bad[k]) == 0);
  for (int k = 0; k < CALLERS; k++) {
    pthread_join(callers[k], NULL);
    EXPECT(!bad[k]);
  }
  RtTrap trap;
  RtConfig c = config_of(10000, 1, 1, 64);
  c.timeout = 30000000;
  EXPECT(rt_host_run(&(RtHostCode){.entry = take_long}, &pace, &c, NULL, &trap) == RT_TRAPPED);
  EXPECT(trap.finding == RT_FOUND_LATE && trap.site == RT_NO_SITE);
  c.timeout = 60000000000u;
  c.grid[0] = 4;
  EXPECT(rt_host_run(&(RtHostCode){.entry = take_long}, &pace, &c, NULL, &trap) == RT_OK &&
         !trap.state);
  EXPECT(!rt_host_safepoint[0]); /* nobody is asked to stop any more */
}

static void time_empty_launch(void) {
  Params p = {.counts = calloc(4, 4), .trap_from = UINT64_MAX};
  RtConfig c = config_of(4, 1, 1, 128);
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < 10000; i++)
    rt_host_run(&(RtHostCode){.entry = count_blocks}, &pace, &c, &p, NULL);
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("a small launch: %.0f ns, %u threads\n",
         ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 10000,
         rt_host_threads());
  free((void *)p.counts);
}

int main(void) {
  setenv("PYPTX_HOST_THREADS", "5", 0);
  test_every_block_once();
  test_shares();
  test_memory();
  test_trap();
  test_parts();
  test_many_callers();
  test_timeouts();
  test_fork();
  time_empty_launch();
  return expect_failures != 0;
}
