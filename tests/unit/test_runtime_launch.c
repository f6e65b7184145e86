/* Loading and launching: what reaches the driver, what is caught before it, traps, lost
 * contexts; and the whole path from opening a device to the results, with each of its driver
 * calls failing in turn: the right status, and nothing left behind. */
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "tests/unit/support/kernels.h"
#include "tests/unit/support/load.h"

static void names(int n) {
  (void)n;
  (void)standin_open(1);
  RtKernel *k = load(gpu(), "vadd", &vadd_params);
  RtConfig none = {.block = {1, 1, 1}};
  EXPECT(try_launch(k, &none) == RT_BAD_LAUNCH && has("kernel 'vadd'"));
  EXPECT(rt_kernel_call_it(k, "f.<locals>.first") == RT_OK &&
         rt_kernel_call_it(k, "f.<locals>.add") == RT_OK);
  EXPECT(try_launch(k, &none) == RT_BAD_LAUNCH && has("kernel 'f.<locals>.add'"));
  rt_kernel_release(k);
}

static void launches(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  RtKernel *k = load(d, "vadd", &vadd_params);
  RtConfig c = {.grid = {5, 6, 7}, .block = {8, 9, 10}, .dynamic_shared = 11, .stream = s};
  Block b = {.pointer = 0x1122334455667788, .extent = 99};
  EXPECT(k->device == d && rt_kernel_info(k)->registers == 32 &&
         rt_kernel_info(k)->max_threads == 1024);
  control->forget();
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  EXPECT(control->calls(NULL) == 1); /* the launch and nothing else */
  const StandinLaunch *l = control->last();
  EXPECT(strcmp(l->kernel, "vadd") == 0 && l->bytes == 12 && memcmp(l->params, &b, 12) == 0);
  EXPECT(l->grid[0] == 5 && l->grid[1] == 6 && l->grid[2] == 7 && l->block[0] == 8 &&
         l->block[1] == 9 && l->block[2] == 10);
  EXPECT(l->dynamic_shared == 11 && (uintptr_t)l->stream == rt_stream_handle(s));
  uint32_t threads = 0;
  EXPECT(rt_kernel_best_block(k, RT_ENTRY_OWN, 0, &threads) == RT_OK && threads == 768);
  rt_kernel_release(k);
  k = load(d, "empty", &no_params);
  EXPECT(rt_launch(k, &c, NULL, NULL) == RT_OK && control->last()->bytes == 0);
  rt_kernel_release(k);
  rt_kernel_release(NULL);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* A block of the second entry runs 4 of the launch. */
static RtField coarse_fields[] = {
    {.kind = RT_FIELD_POINTER, .size = 8, .offset = 0},
    {.kind = RT_FIELD_EXTENT32, .size = 4, .offset = 8},
    {.kind = RT_FIELD_BLOCKS, .size = 4, .offset = 12},
};
typedef struct CoarseBlock {
  uint64_t pointer;
  uint32_t extent, blocks;
} CoarseBlock;

static RtKernel *open_coarse(RtDevice *d, RtCoarse coarse) {
  RtKernel *k = NULL;
  coarse.factor = 4;
  coarse.plain_bytes = 12;
  const RtParams params = {.fields = coarse_fields, .nfields = 3, .bytes = 16, .coarse = coarse};
  EXPECT(rt_kernel_open(d, "vadd", &params, 0, &k) == RT_OK);
  return k;
}

static RtStatus add(RtKernel *k, RtEntryKind entry) {
  return rt_kernel_add(k, entry, standin_ptx, strlen(standin_ptx), &(RtLinked){0});
}

static RtKernel *load_coarse(RtDevice *d, RtCoarse coarse) {
  RtKernel *k = open_coarse(d, coarse);
  EXPECT(add(k, RT_ENTRY_COARSE) == RT_OK && add(k, RT_ENTRY_OWN) == RT_OK);
  return k;
}

/* physical: the grid that the driver gets on the axis of the second entry; 0: it is the kernel's
 * own entry. */
static void expect_launch(const StandinControl *control, RtKernel *k, RtConfig c, int axis,
                          uint32_t physical) {
  CoarseBlock b = {1, 2, 77};
  control->forget();
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->calls(NULL) == 1);
  const StandinLaunch *l = control->last();
  EXPECT(strcmp(l->kernel, physical ? "vadd$coarse" : "vadd") == 0 &&
         l->bytes == (physical ? 16 : 12));
  for (int i = 0; i < 3; i++)
    EXPECT(l->grid[i] == (physical && i == axis ? physical : c.grid[i]) &&
           l->block[i] == c.block[i]);
  EXPECT(!physical || memcmp(l->params + 12, &c.grid[axis], 4) == 0);
}

static void coarse(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  enum { FROM = 2 * 132 * 2048 / 256 }; /* blocks of 256 threads that fill the device twice */
  RtKernel *k = load_coarse(gpu(), (RtCoarse){.axis = 0, .fill = 16});
  expect_launch(control, k, config_of(FROM - 1, 256), 0, 0);
  expect_launch(control, k, config_of(FROM, 256), 0, FROM / 4);
  expect_launch(control, k, config_of(FROM + 3, 256), 0, FROM / 4 + 3);
  expect_launch(control, k, config_of(INT32_MAX, 1), 0, (1u << 29) + 2);
  RtConfig c = {.grid = {1, 65535, 1}, .block = {1024, 1, 1}};
  expect_launch(control, k, c, 0, 0); /* nothing to put together */
  c = (RtConfig){.grid = {INT32_MAX, 65535, 65535}, .block = {1024, 1, 1}};
  expect_launch(control, k, c, 0, (1u << 29) + 2);
  c = (RtConfig){.grid = {3, 11, 65535}, .block = {32, 1, 1}};
  expect_launch(control, k, c, 0, 0);
  c.grid[0] = 4;
  expect_launch(control, k, c, 0, 1);
  c = config_of(FROM, 256);
  c.dynamic_shared = 8;
  expect_launch(control, k, c, 0, 0);
  rt_kernel_release(k);

  /* what is left runs in a row on a short axis */
  k = load_coarse(gpu(), (RtCoarse){.axis = 0, .fill = 16, .in_row = 1});
  c = (RtConfig){.grid = {8, FROM, 1}, .block = {256, 1, 1}};
  expect_launch(control, k, c, 0, 2);
  c.grid[0] = 11;
  expect_launch(control, k, c, 0, 3);
  c.grid[0] = 31;
  expect_launch(control, k, c, 0, 8);
  c.grid[0] = 35;
  expect_launch(control, k, c, 0, 8 + 3);
  rt_kernel_release(k);

  /* blocks of the launch for a block of the second entry on most multiprocessors */
  enum { BUSY = (4 * 132 + 1) * 7 / 8 };
  k = load_coarse(gpu(), (RtCoarse){.axis = 1, .fill = 4});
  c = (RtConfig){.grid = {3, BUSY / 3 - 1, 1}, .block = {1024, 1, 1}};
  expect_launch(control, k, c, 1, 0);
  c.grid[1]++;
  expect_launch(control, k, c, 1, BUSY / 3 / 4 + BUSY / 3 % 4);
  c = (RtConfig){.grid = {1, 4, BUSY / 4 + 1}, .block = {1024, 1, 1}};
  expect_launch(control, k, c, 1, 1);
  expect_launch(control, k, (RtConfig){.grid = {1, 4, 133}, .block = {1024, 1, 1}}, 1, 1);
  rt_kernel_release(k);
  /* more than a block of it for each multiprocessor, and fewer than 5/4 */
  k = load_coarse(gpu(), (RtCoarse){.axis = 0, .fill = 8, .even = 1});
  enum { ONE_EACH = 4 * 132, MORE = 4 * 132 + 1 + (4 * 132 + 1) / 4 };
  expect_launch(control, k, config_of(ONE_EACH, 1024), 0, 132);
  expect_launch(control, k, config_of(ONE_EACH + 1, 1024), 0, 0);
  expect_launch(control, k, config_of(MORE - 1, 1024), 0, 0);
  expect_launch(control, k, config_of(MORE, 1024), 0, MORE / 4 + MORE % 4);
  rt_kernel_release(k);

  k = load_coarse(gpu(), (RtCoarse){.axis = 2});
  c = (RtConfig){.grid = {5, 6, 2}, .block = {8, 8, 8}};
  expect_launch(control, k, c, 2, 2);
  c.grid[2] = 9;
  expect_launch(control, k, c, 2, 3);
  c.grid[2] = 1;
  expect_launch(control, k, c, 2, 0);
  RtKernel *forced = NULL, *spilled = NULL;
  setenv("PYPTX_STANDIN_SPILLED", "16", 1);
  spilled = load_coarse(gpu(), (RtCoarse){.axis = 0, .fill = 16});
  forced = load_coarse(gpu(), (RtCoarse){.axis = 0});
  expect_launch(control, spilled, config_of(FROM, 256), 0, 0); /* slower than the plain one */
  expect_launch(control, forced, config_of(FROM, 256), 0, FROM / 4);
  rt_kernel_release(spilled);
  rt_kernel_release(forced);
  k->coarse.threads = 256; /* its registers leave no room for larger blocks */
  c.grid[2] = 9;
  expect_launch(control, k, c, 2, 0);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* What a launch wants that is not there: it asks the driver for nothing, and loading that is
 * enough. */
static void wants(RtKernel *k, RtConfig c, RtEntryKind wanted) {
  const StandinControl *control = standin_open(1);
  control->forget();
  EXPECT(rt_launch(k, &c, &(CoarseBlock){0}, NULL) == RT_NO_ENTRY && control->calls(NULL) == 0);
  EXPECT(rt_kernel_wants(k, &c, NULL) == wanted && !rt_kernel_has(k, wanted));
  EXPECT(add(k, wanted) == RT_OK && rt_kernel_has(k, wanted) &&
         control->calls("cuModuleLoadDataEx") == 1);
  /* again: nothing to do */
  EXPECT(add(k, wanted) == RT_OK && control->calls("cuModuleLoadDataEx") == 1);
}

static RtKernel *open_roomy(RtDevice *d) {
  RtKernel *k = NULL;
  const RtParams params = {.fields = coarse_fields, .nfields = 2, .bytes = 12, .roomy = 64};
  EXPECT(rt_kernel_open(d, "vadd", &params, 0, &k) == RT_OK);
  return k;
}

/* Launches whose blocks are resident at once with 64 registers take the entry that has them. */
static void more_registers(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  int multiprocessors = 0, each = 0;
  EXPECT(rt_device_attribute(gpu(), CU_MULTIPROCESSORS, &multiprocessors) == RT_OK);
  EXPECT(rt_device_attribute(gpu(), CU_MAX_THREADS_PER_MULTIPROCESSOR, &each) == RT_OK);
  uint32_t all = (uint32_t)multiprocessors * ((uint32_t)each / 2 / 128);
  RtConfig few = config_of(all, 128), many = config_of(4 * all, 128), odd = config_of(4 * all, 129),
           one = config_of(1, 32), shared = config_of(1, 32), cluster = config_of(2, 32);
  shared.dynamic_shared = 8;
  cluster.cluster[0] = 2, cluster.cluster[1] = cluster.cluster[2] = 1;
  const RtConfig own[] = {many, odd, shared, cluster};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    RtKernel *k = open_roomy(gpu());
    wants(k, few, RT_ENTRY_ROOMY);
    EXPECT(rt_kernel_wants(k, &one, NULL) == RT_ENTRY_NONE);
    expect_launch(control, k, one, 0, 0);
    EXPECT(rt_kernel_info(k)->registers == 0); /* of its own entry, which no launch has wanted */
    wants(k, own[i], RT_ENTRY_OWN);
    EXPECT(rt_launch(k, &own[i], &(CoarseBlock){0}, NULL) == RT_OK);
    rt_kernel_release(k);
  }
  setenv("PYPTX_STANDIN_SPILLED", "16", 1); /* the values do not fit: launches take the other one */
  setenv("PYPTX_STANDIN_SPILLED_ALL", "1", 1);
  RtKernel *k = open_roomy(gpu());
  EXPECT(rt_kernel_wants(k, &few, NULL) == RT_ENTRY_ROOMY && add(k, RT_ENTRY_ROOMY) == RT_OK);
  unsetenv("PYPTX_STANDIN_SPILLED");
  unsetenv("PYPTX_STANDIN_SPILLED_ALL");
  EXPECT(rt_kernel_wants(k, &few, NULL) == RT_ENTRY_OWN && add(k, RT_ENTRY_OWN) == RT_OK);
  EXPECT(rt_launch(k, &few, &(CoarseBlock){0}, NULL) == RT_OK && !k->roomy[0].threads);
  rt_kernel_release(k);
  setenv("PYPTX_STANDIN_SPILLED", "16", 1); /* a local array, which its own entry has as well */
  setenv("PYPTX_STANDIN_SPILLED_ALL", "1", 1);
  k = open_roomy(gpu());
  EXPECT(add(k, RT_ENTRY_ROOMY) == RT_OK && rt_kernel_wants(k, &few, NULL) == RT_ENTRY_OWN);
  EXPECT(add(k, RT_ENTRY_OWN) == RT_OK && k->roomy[0].threads == (uint32_t)each / 2);
  EXPECT(rt_launch(k, &few, &(CoarseBlock){0}, NULL) == RT_OK);
  unsetenv("PYPTX_STANDIN_SPILLED");
  unsetenv("PYPTX_STANDIN_SPILLED_ALL");
  rt_kernel_release(k);
  k = open_roomy(gpu()); /* an instruction takes more registers: the same */
  control->fail("cuModuleLoadDataEx", 1, 218 /* INVALID_PTX */);
  EXPECT(add(k, RT_ENTRY_ROOMY) == RT_OK && rt_kernel_wants(k, &few, NULL) == RT_ENTRY_OWN);
  control->forget();
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* Launches that take one or two waves, as without, take the entry with 48. */
static void as_many_waves(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  int multiprocessors = 0, each = 0;
  EXPECT(rt_device_attribute(gpu(), CU_MULTIPROCESSORS, &multiprocessors) == RT_OK);
  EXPECT(rt_device_attribute(gpu(), CU_MAX_THREADS_PER_MULTIPROCESSOR, &each) == RT_OK);
  uint32_t full = (uint32_t)multiprocessors * ((uint32_t)each / 128),
           wave = (uint32_t)multiprocessors * ((uint32_t)each * 5 / 8 / 128);
  const struct {
    uint32_t blocks;
    RtEntryKind wanted;
  } of[] = {{wave, RT_ENTRY_AS_MANY_WAVES},
            {wave + 1, RT_ENTRY_OWN},
            {full, RT_ENTRY_OWN},
            {full + 1, RT_ENTRY_AS_MANY_WAVES},
            {2 * wave, RT_ENTRY_AS_MANY_WAVES},
            {2 * wave + 1, RT_ENTRY_OWN}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    RtKernel *k = open_roomy(gpu());
    RtConfig c = config_of(of[i].blocks, 128);
    wants(k, c, of[i].wanted);
    EXPECT(rt_launch(k, &c, &(CoarseBlock){0}, NULL) == RT_OK);
    rt_kernel_release(k);
  }
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* Others take the entry with 40, or 48, if whole blocks are most of the threads that a
 * multiprocessor can have with them. */
static void most_threads(int registers) {
  const StandinControl *control = standin_open(1);
  const RtParams params = {.fields = coarse_fields,
                           .nfields = 2,
                           .bytes = 12,
                           .roomy = 64,
                           .reading = (uint32_t)registers};
  int each = 0;
  EXPECT(rt_device_attribute(gpu(), CU_MAX_THREADS_PER_MULTIPROCESSOR, &each) == RT_OK);
  uint32_t most = (uint32_t)each * (registers == 40 ? 6 : 5) / 8;
  RtConfig few = config_of(1, 128), many = config_of(1 << 20, 128),
           large = config_of(1 << 20, 1024), shared = config_of(1 << 20, 128);
  shared.dynamic_shared = 8;
  RtKernel *k = NULL;
  EXPECT(rt_kernel_open(gpu(), "vadd", &params, 0, &k) == RT_OK);
  wants(k, many, RT_ENTRY_READING);
  expect_launch(control, k, many, 0, 0);
  wants(k, few, RT_ENTRY_ROOMY);
  EXPECT(rt_kernel_wants(k, &shared, NULL) == RT_ENTRY_OWN);
  bool few_blocks = most / 1024 * 1024 < most - most / 8;
  EXPECT((rt_kernel_wants(k, &large, NULL) == RT_ENTRY_OWN) == few_blocks);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* … from an extent on, if it says so, which is a parameter. */
static void long_loops(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  const RtParams params = {.fields = coarse_fields,
                           .nfields = 2,
                           .bytes = 12,
                           .reading = 40,
                           .reading_at = 8,
                           .reading_from = 100};
  const CoarseBlock more = {.extent = 100}, less = {.extent = 99};
  RtConfig c = config_of(1 << 20, 128);
  RtKernel *k = NULL;
  EXPECT(rt_kernel_open(gpu(), "vadd", &params, 0, &k) == RT_OK);
  EXPECT(rt_kernel_wants(k, &c, &more) == RT_ENTRY_READING);
  EXPECT(rt_kernel_wants(k, &c, &less) == RT_ENTRY_OWN && add(k, RT_ENTRY_OWN) == RT_OK);
  EXPECT(rt_launch(k, &c, &(CoarseBlock){.extent = 99}, NULL) == RT_OK);
  EXPECT(rt_launch(k, &c, &(CoarseBlock){.extent = 100}, NULL) == RT_NO_ENTRY);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void entries_when_wanted(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtConfig few = config_of(1, 32), many = config_of(9, 32), shared = config_of(9, 32),
           cluster = config_of(8, 32), large = config_of(9, 1024);
  shared.dynamic_shared = 8;
  cluster.cluster[0] = 2, cluster.cluster[1] = cluster.cluster[2] = 1;
  RtKernel *k = open_coarse(gpu(), (RtCoarse){.axis = 0});
  EXPECT(rt_kernel_info(k)->registers == 0 && !rt_kernel_has(k, RT_ENTRY_OWN));
  EXPECT(rt_kernel_entry_of(k, 2048, 0) == RT_ENTRY_COARSE &&
         rt_kernel_entry_of(k, 2047, 0) == RT_ENTRY_OWN &&
         rt_kernel_entry_of(k, 2048, 8) == RT_ENTRY_OWN);
  wants(k, many, RT_ENTRY_COARSE); /* and that is all that large launches load */
  uint32_t threads = 0;
  EXPECT(rt_kernel_best_block(k, RT_ENTRY_COARSE, 0, &threads) == RT_OK && threads == 768);
  expect_launch(control, k, many, 0, 3);
  wants(k, few, RT_ENTRY_OWN);
  expect_launch(control, k, few, 0, 0);
  expect_launch(control, k, many, 0, 3);
  EXPECT(rt_kernel_info(k)->registers == 32);
  rt_kernel_release(k);
  const RtConfig own[] = {few, shared, cluster};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    k = open_coarse(gpu(), (RtCoarse){.axis = 0});
    wants(k, own[i], RT_ENTRY_OWN);
    EXPECT(rt_launch(k, &own[i], &(CoarseBlock){0}, NULL) == RT_OK &&
           rt_kernel_wants(k, &own[i], NULL) == RT_ENTRY_NONE);
    rt_kernel_release(k);
  }
  setenv("PYPTX_STANDIN_SPILLED", "16", 1); /* local memory: that hangs on the kernel's own */
  k = open_coarse(gpu(), (RtCoarse){.axis = 0, .fill = 8});
  many.grid[0] = 1 << 20;
  wants(k, many, RT_ENTRY_COARSE);
  EXPECT(rt_kernel_entry_of(k, 1 << 30, 0) == RT_ENTRY_OWN);
  wants(k, many, RT_ENTRY_OWN);
  expect_launch(control, k, many, 0, 0);
  rt_kernel_release(k);
  unsetenv("PYPTX_STANDIN_SPILLED");
  k = open_coarse(gpu(), (RtCoarse){.axis = 0});
  control->fail("cuModuleGetFunction", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(add(k, RT_ENTRY_COARSE) == RT_NO_MEMORY && !rt_kernel_has(k, RT_ENTRY_COARSE));
  wants(k, large, RT_ENTRY_COARSE); /* it may be tried again */
  /* … and its registers leave no room for larger blocks */
  k->coarse.threads = k->coarse.max_threads = 256;
  wants(k, large, RT_ENTRY_OWN);
  expect_launch(control, k, large, 0, 0);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static RtStatus load_again(RtKernel *k) {
  return rt_kernel_add(k, RT_ENTRY_OWN, standin_ptx, strlen(standin_ptx), &(RtLinked){0});
}

static void stop_thread(const StandinLaunch *launch, void *user) {
  RtTrap *trap;
  memcpy(&trap, launch->params + 16, sizeof trap);
  trap->site = 3;
  trap->thread[1] = 4;
  trap->values[2] = -9;
  trap->state = *(uint32_t *)user;
}

static void traps(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "stop", &stop_params), *without = NULL;
  EXPECT(load_kernel(d, standin_ptx, strlen(standin_ptx), "stop", &stop_params, 0, &without) ==
         RT_OK);
  RtConfig c = config_of(1, 1);
  Block b = {0};
  RtTrap trap = {0};
  uint32_t state = 2;
  EXPECT(control->live(SI_PINNED) == 1);
  EXPECT(rt_kernel_trap(k, &trap) == RT_OK && rt_kernel_trap(without, &trap) == RT_OK);
  control->on_launch(stop_thread, &state);
  for (int i = 0; i < 2; i++) {
    EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && b.trap != 0);
    EXPECT(rt_kernel_trap(k, &trap) == RT_TRAPPED && has("stop"));
    EXPECT(trap.site == 3 && trap.thread[1] == 4 && trap.values[2] == -9);
    EXPECT(rt_kernel_trap(k, &trap) == RT_OK);
  }
  state = 1;
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK &&
         rt_kernel_trap(k, &trap) == RT_OK); /* still being written */
  control->on_launch(NULL, NULL);
  EXPECT(rt_device_reset(d) == RT_OK && rt_kernel_trap(k, &trap) == RT_OK);
  EXPECT(load_again(k) == RT_OK);
  control->on_launch(stop_thread, &state);
  state = 2;
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && rt_kernel_trap(k, &trap) == RT_TRAPPED);
  control->on_launch(NULL, NULL);
  rt_kernel_release(k);
  rt_kernel_release(without);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void refusals(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu(), *host;
  RtKernel *k;
  static const char bad[] = ".version 8.0\nrefuse this";
  EXPECT(load_kernel(d, bad, strlen(bad), "vadd", &no_params, 0, &k) == RT_BAD_MODULE && !k);
  EXPECT(has("kernel 'vadd'") && has("CUDA_ERROR_INVALID_PTX") &&
         has("line 7; fatal : Parsing error near 'this'"));
  EXPECT(strcmp(rt_error()->call, "cuModuleLoadDataEx") == 0 && rt_error()->result == 218);
  EXPECT(load_kernel(d, "nonsense", 8, "vadd", &no_params, 0, &k) == RT_BAD_MODULE &&
         has("INVALID_IMAGE"));
  EXPECT(load_kernel(d, "", 0, "vadd", &no_params, 0, &k) == RT_BAD_MODULE);
  EXPECT(load_kernel(d, standin_ptx, strlen(standin_ptx), "nothere", &no_params, 0, &k) ==
         RT_BAD_MODULE);
  EXPECT(has("no kernel 'nothere'") && !k);
  EXPECT(load_kernel(d, "\177ELF and more", 13, "anything", &no_params, 0, &k) == RT_OK);
  rt_kernel_release(k);
  char cut[1000]; /* the text need not end in a NUL */
  memset(cut, 'x', sizeof cut);
  memcpy(cut, standin_ptx, strlen(standin_ptx));
  EXPECT(load_kernel(d, cut, strlen(standin_ptx), "vadd", &no_params, 0, &k) == RT_OK);
  rt_kernel_release(k);
  RtHostCode code = {0};
  EXPECT(rt_kernel_host(d, "f", &code, &no_params, &k) == RT_BAD_ARGUMENT && !k);
  EXPECT(rt_device_open(RT_HOST, &host) == RT_OK);
  EXPECT(load_kernel(host, standin_ptx, strlen(standin_ptx), "vadd", &no_params, 0, &k) ==
             RT_BAD_ARGUMENT &&
         !k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static RtConfig clustered(uint32_t blocks) {
  return (RtConfig){.grid = {64, 4, 2}, .block = {32, 1, 1}, .cluster = {blocks, 2, 1}};
}

static void clusters(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  RtKernel *k = load(d, "stop", &stop_params);
  RtConfig c = clustered(4);
  Block b = {.pointer = 7, .extent = 8};
  c.stream = s;
  c.dynamic_shared = 100;
  control->forget();
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->calls(NULL) == 1);
  const StandinLaunch *l = control->last();
  EXPECT(l->cluster[0] == 4 && l->cluster[1] == 2 && l->cluster[2] == 1 && l->grid[1] == 4);
  EXPECT(l->bytes == 24 && memcmp(l->params, &b, 24) == 0 && b.trap == k->trap_address);
  EXPECT(l->dynamic_shared == 100 && (uintptr_t)l->stream == rt_stream_handle(s));
  c = clustered(8);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->last()->cluster[0] == 8);
  control->forget();
  c = clustered(16);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_LAUNCH && has("'stop'") && has("(16, 2, 1)"));
  c = (RtConfig){.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1u << 31, 1u << 31, 1u << 31}};
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_LAUNCH && has("at most 16"));
  c = clustered(3);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_LAUNCH && has("(64, 4, 2) is not a multiple"));
  EXPECT(control->calls(NULL) == 0);
  c = clustered(8);
  for (int call = 0; call < 2; call++) {
    control->fail(call ? "cuLaunchKernelEx" : "cuFuncSetAttribute", 1, 912);
    EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_LAUNCH && has("kernel 'stop'") &&
           has("cluster size"));
  }
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  uint32_t most = 0; /* 8 parts, in each 16 multiprocessors for 64 blocks of 32 threads */
  EXPECT(rt_kernel_clusters(k, &c, &most) == RT_OK && most == 8 * (16 * 64 / 16));
  c.dynamic_shared = 100001;
  control->forget();
  EXPECT(rt_kernel_clusters(k, &c, &most) == RT_OK && most == 8 * (16 / 16));
  EXPECT(control->calls("cuFuncSetAttribute") == 2); /* the cluster's size, and the memory */
  c.dynamic_shared = 1 << 30;
  EXPECT(rt_kernel_clusters(k, &c, &most) == RT_OK && most == 0);
  c = clustered(16);
  EXPECT(rt_kernel_clusters(k, &c, &most) == RT_BAD_LAUNCH && has("(16, 2, 1)"));
  c = clustered(8);
  for (int call = 0; call < 2; call++) {
    control->fail(call ? "cuOccupancyMaxActiveClusters" : "cuFuncSetAttribute", 1, 912);
    EXPECT(rt_kernel_clusters(k, &c, &most) == RT_BAD_LAUNCH && has("kernel 'stop'"));
  }
  rt_kernel_release(k);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void no_clusters(int n) {
  (void)n;
  setenv("PYPTX_STANDIN_CAPABILITY", "89", 1);
  const StandinControl *control = standin_open(1);
  RtKernel *k = load(gpu(), "stop", &stop_params);
  RtConfig c = clustered(2);
  EXPECT(rt_launch(k, &c, &(Block){0}, NULL) == RT_BAD_LAUNCH && has("9.0") && has("has 8.9"));
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* PTX that calls a function of another module; each step of linking fails in turn, and what is
 * missing is named. */
static void linking(int n) {
  (void)n;
  static const char caller[] =
      ".version 8.0\n.target sm_75\n.extern .func (.param .b32 r) twice (.param .b32 x);\n"
      ".visible .entry vadd(.param .u64 a, .param .u32 n) { ret; }\n";
  static const char callee[] =
      ".version 8.0\n.func (.param .b32 r) twice(.param .b32 x) { ret; }\n";
  static const char *const steps[] = {"cuLinkCreate", "cuLinkAddData", "cuLinkComplete",
                                      "cuModuleLoadDataEx"};
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtLinkInput inputs[] = {{RT_LINK_PTX, "callee.ptx", callee, sizeof callee},
                          {0, "code.cubin", "\177ELF", 4}};
  RtLinked with = {inputs, 2};
  RtKernel *k = NULL;
  EXPECT(link_kernel(d, caller, strlen(caller), &with, "vadd", &vadd_params, 0, &k) == RT_OK && k);
  EXPECT(control->calls("cuLinkAddData") == 3 && control->live(SI_LINK) == 0 &&
         control->live(SI_MODULE) == 1);
  rt_kernel_release(k);
  for (int step = 0; step < 4; step++)
    for (int nth = 1; nth <= (step == 1 ? 3 : 1); nth++) {
      control->fail(steps[step], nth, step & 1 ? 2 : 999);
      EXPECT(link_kernel(d, caller, strlen(caller), &with, "vadd", &vadd_params, 0, &k) != RT_OK &&
             !k);
      EXPECT(has(steps[step]) && has("vadd") && standin_live(control) == 0);
    }
  with.inputs = inputs + 1;
  with.n = 1;
  EXPECT(link_kernel(d, caller, strlen(caller), &with, "vadd", &vadd_params, 0, &k) ==
             RT_BAD_MODULE &&
         !k);
  EXPECT(has("ndefined reference to 'twice'") && strstr(rt_error()->remedy, "link="));
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void lost_context(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "vadd", &vadd_params);
  RtConfig c = config_of(1, 1);
  Block b = {0};
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  control->stick(700);
  EXPECT(rt_device_synchronize(d) == RT_CONTEXT_LOST);
  EXPECT(has("cuCtxSynchronize") && has("CUDA_ERROR_ILLEGAL_ADDRESS") &&
         has("last kernel launched was 'vadd'"));
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_CONTEXT_LOST && has("cuLaunchKernel"));
  rt_kernel_release(k);
  EXPECT(rt_device_synchronize(d) == RT_CONTEXT_LOST &&
         !has("vadd")); /* forgotten with the kernel */
  EXPECT(rt_device_reset(d) == RT_OK);
  k = load(d, "vadd", &vadd_params);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  EXPECT(rt_device_reset(d) == RT_OK);
  EXPECT(rt_kernel_is_stale(k) && !rt_kernel_has(k, RT_ENTRY_OWN));
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_NO_ENTRY && rt_kernel_wants(k, &c, NULL) == RT_ENTRY_OWN);
  EXPECT(load_again(k) == RT_OK && !rt_kernel_is_stale(k) && rt_launch(k, &c, &b, NULL) == RT_OK);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* A library that leaves this thread with no context, or another: the launch notices and repairs
 * it. */
static void stolen_context(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "vadd", &vadd_params);
  RtConfig c = config_of(1, 1);
  Block b = {0};
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  rt_cu.cuCtxSetCurrent(NULL);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  control->fail("cuLaunchKernel", 1, 400);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->fired());
  control->fail("cuLaunchKernel", 1, 701);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_LAUNCH && has("kernel 'vadd'") && has("registers"));
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0);
}

/* --- the whole path, each call failing --- */

typedef struct Path {
  RtDevice *d;
  RtStream *s;
  RtEvent *start, *stop;
  RtKernel *k, *coarse;
  uint64_t a, b;
  void *pinned;
} Path;

static RtStatus walk(Path *p) {
  char data[64] = {1};
  float ms;
  int done;
  uint32_t threads;
  size_t available, total;
  RtTrap trap;
  RtConfig c = config_of(1, 1);
  Block block = {0};
  TRY(rt_device_open(0, &p->d));
  TRY(rt_device_memory(p->d, &available, &total));
  TRY(rt_stream_new(p->d, &p->s));
  TRY(rt_event_new(p->d, 1, &p->start));
  TRY(rt_event_new(p->d, 1, &p->stop));
  TRY(load_kernel(p->d, standin_ptx, strlen(standin_ptx), "stop", &stop_params, 1, &p->k));
  const RtParams params = {.fields = coarse_fields,
                           .nfields = 3,
                           .bytes = 16,
                           .coarse = {.factor = 4, .plain_bytes = 12}};
  RtConfig several = config_of(9, 1);
  TRY(rt_kernel_open(p->d, "vadd", &params, 0, &p->coarse));
  TRY(add(p->coarse, RT_ENTRY_OWN));
  TRY(add(p->coarse, RT_ENTRY_COARSE));
  TRY(rt_launch(p->coarse, &several, &(CoarseBlock){0}, NULL));
  TRY(rt_kernel_best_block(p->k, RT_ENTRY_OWN, 0, &threads));
  TRY(rt_pinned_alloc(NULL, 64, &p->pinned));
  TRY(rt_alloc(p->d, 64, p->s, &p->a));
  TRY(rt_alloc(p->d, 64, NULL, &p->b));
  TRY(rt_copy_to_device(p->d, p->a, data, 64, p->s));
  TRY(rt_copy_to_device(p->d, p->b, data, 64, NULL));
  TRY(rt_fill(p->d, p->b, 0, 64, p->s));
  TRY(rt_event_record(p->start, p->s));
  c.stream = p->s;
  c.dynamic_shared = 60000;
  TRY(rt_launch(p->k, &c, &block, NULL));
  TRY(rt_event_record(p->stop, p->s));
  TRY(rt_stream_wait_event(p->s, p->stop));
  TRY(rt_copy_on_device(p->d, p->a, p->b, 64, p->s));
  TRY(rt_copy_to_host(p->d, data, p->a, 64, p->s));
  TRY(rt_copy_to_host(p->d, data, p->b, 64, NULL));
  TRY(rt_event_query(p->stop, &done));
  TRY(rt_stream_query(p->d, p->s, &done));
  TRY(rt_event_synchronize(p->stop));
  TRY(rt_event_elapsed(p->start, p->stop, &ms));
  TRY(rt_stream_synchronize(p->d, p->s));
  TRY(rt_device_synchronize(p->d));
  return rt_kernel_trap(p->k, &trap);
}

static void leave(Path *p) {
  rt_free(p->d, p->a, 64, p->s);
  rt_free(p->d, p->b, 64, NULL);
  rt_pinned_free(p->pinned);
  rt_kernel_release(p->k);
  rt_kernel_release(p->coarse);
  rt_event_release(p->start);
  rt_event_release(p->stop);
  rt_stream_release(p->s);
  if (p->d)
    rt_cache_flush(p->d, NULL, 1);
}

static const int injected[] = {999, 2, 700, 400, 1};
static const RtStatus expected[] = {RT_FAILED, RT_NO_MEMORY, RT_CONTEXT_LOST, RT_BAD_ARGUMENT,
                                    RT_BAD_ARGUMENT};
static int path_calls; /* about: how many driver calls the path makes */

/* Where a call may fail and the path goes on: the context is set again, the launch or the
 * allocation tried again. */
static int harmless(const char *call, int result) {
  return strcmp(call, "cuCtxGetCurrent") == 0 ||
         (strcmp(call, "cuLaunchKernel") == 0 && result == 400) ||
         (strcmp(call, "cuMemAllocAsync") == 0 && result == 2);
}

static void failing_path(int n) {
  const StandinControl *control = standin_open(1);
  int which = n % 8, nth = n / 8;
  Path p = {0};
  control->fail(NULL, nth, injected[which]);
  RtStatus status = walk(&p);
  int fired = control->fired();
  const char *call = control->fired_call();
  RtError error = *rt_error();
  control->fail(NULL, 0, 0);
  leave(&p);
  EXPECT(standin_live(control) == 0);
  EXPECT(control->misuse() == 0);
  if (!fired) {
    EXPECT(status == RT_OK);
    EXPECT(nth > path_calls);
  } else if (status == RT_OK) {
    EXPECT(harmless(call, injected[which]));
  } else {
    EXPECT(status == expected[which] && error.result == injected[which]);
    EXPECT(*error.text && strcmp(error.call, call) == 0);
  }
}

static void measure_path(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  Path p = {0};
  EXPECT(walk(&p) == RT_OK);
  EXPECT(control->calls(NULL) >= 80 && control->calls(NULL) < 130);
  leave(&p);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* --- the host device --- */

static void add_one(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  uint32_t *counts;
  memcpy(&counts, launch->params, sizeof counts);
  for (uint64_t n = first; n < last; n++)
    counts[n]++;
}

static void stop_at_three(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  for (uint64_t n = first; n < last; n++)
    if (n == 3)
      rt_host_trap(launch, 8, n, 2, 1, 2, 3, 4);
}

static void host(int n) {
  (void)n;
  RtDevice *d;
  RtKernel *k;
  uint32_t counts[1000] = {0}, threads = 0, *p = counts;
  RtHostCode code = {.entry = add_one, .static_shared = 100};
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK);
  EXPECT(rt_kernel_host(d, "add_one", &code, &vadd_params, &k) == RT_OK);
  EXPECT(rt_kernel_info(k)->static_shared == 100 && rt_kernel_info(k)->max_threads == 1024);
  EXPECT(rt_kernel_best_block(k, RT_ENTRY_OWN, 0, &threads) == RT_OK && threads >= 32 &&
         threads <= 1024);
  RtConfig c = config_of(1000, 64);
  RtTrap trap = {0};
  EXPECT(rt_launch(k, &c, &p, &trap) == RT_OK);
  for (int i = 0; i < 1000; i++)
    EXPECT(counts[i] == 1);
  c.grid[0] = 0;
  EXPECT(rt_launch(k, &c, &p, &trap) == RT_BAD_LAUNCH && has("add_one"));
  rt_kernel_release(k);
  code.entry = stop_at_three;
  EXPECT(rt_kernel_host(d, "stop", &code, &vadd_params, &k) == RT_OK);
  c = config_of(10, 64);
  EXPECT(rt_launch(k, &c, &p, &trap) == RT_TRAPPED && trap.site == 8 && trap.block[0] == 3 &&
         trap.values[3] == 4);
  EXPECT(rt_kernel_trap(k, &trap) == RT_OK);
  rt_kernel_release(k);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(names, 0);
  RUN(launches, 0);
  RUN(coarse, 0);
  RUN(entries_when_wanted, 0);
  RUN(more_registers, 0);
  RUN(as_many_waves, 0);
  RUN(most_threads, 40);
  RUN(most_threads, 48);
  RUN(long_loops, 0);
  RUN(traps, 0);
  RUN(refusals, 0);
  RUN(clusters, 0);
  RUN(linking, 0);
  RUN(no_clusters, 0);
  RUN(lost_context, 0);
  RUN(stolen_context, 0);
  RUN(host, 0);
  RUN(measure_path, 0);
  path_calls = 79;
  for (int which = 0; which < (int)(sizeof injected / sizeof *injected); which++)
    for (int nth = 1; nth <= 130; nth++)
      RUN(failing_path, nth * 8 + which);
  return expect_failures != 0;
}
