/* Driver probe: the runtime against a real GPU, without Python and LLVM. Checks the paths that a
 * stand-in driver cannot (a launch that computes, a trap in pinned memory, a refused module, a lost
 * context and its reset, a forked child), then prints nanoseconds per call beside the raw driver's.
 * Needs libc, dl, pthread and a driver only:
 *
 *   gcc -O2 -std=gnu11 -D_GNU_SOURCE -I. tests/tools/driver_probe.c $(find runtime -name '*.c') \
 *       -ldl -lpthread -lm -o probe && ./probe
 *   ./probe FILE.ptx KERNEL [PARAM_BYTES]   times launches of that kernel instead: one thread, its
 *                                           parameters all zero
 *
 * Ends with 0 if every check held, 77 without a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/driver/driver.h"
#include "runtime/launch/kernel.h"
#include "runtime/memory/memory.h"
#include "tests/unit/support/load.h"

static const char module_text[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n"
    "  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
    "  mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;\n"
    "  ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd7], %f3; ret;\n}\n"
    ".visible .entry stop(.param .u64 trap) {\n"
    "  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [trap]; atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p, %r1, 0; @%p ret;\n"
    "  mov.u32 %r2, 7; st.global.u32 [%rd1+4], %r2; mov.u32 %r2, %ctaid.x; st.global.u32 [%rd1+8], %r2;\n"
    "  mov.u32 %r2, %tid.x; st.global.u32 [%rd1+20], %r2; mov.u64 %rd2, -5; st.global.u64 [%rd1+32], %rd2;\n"
    "  membar.sys; mov.u32 %r2, 2; st.global.u32 [%rd1], %r2; ret;\n}\n"
    ".visible .entry poke(.param .u64 p) {\n"
    "  .reg .b32 %r1; .reg .b64 %rd1;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry share(.param .u64 p) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd1;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, dynamic; mov.u32 %r2, 42; st.shared.u32 [%r1+99996], %r2;\n"
    "  ld.shared.u32 %r2, [%r1+99996]; st.global.u32 [%rd1], %r2; ret;\n}\n";

static int failures;
#define EXPECT(c)                                                                                  \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      printf("FAILED %s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #c, rt_error()->text);    \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

typedef struct VaddParams {
  uint64_t a, b, c;
  uint32_t n, pad;
} VaddParams;
enum { VADD_BYTES = 28, N = 100000 };

static RtKernel *load(RtDevice *d, const char *symbol, RtField *field, uint32_t bytes) {
  RtParams params = {.fields = field, .nfields = field ? 1 : 0, .bytes = bytes};
  RtKernel *k = NULL;
  EXPECT(load_kernel(d, module_text, sizeof module_text - 1, symbol, &params, field != NULL, &k) ==
         RT_OK);
  return k;
}

static RtConfig config_of(uint32_t grid, uint32_t block) {
  return (RtConfig){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

static void show(const char *what) {
  printf("  %s\n    %s\n    remedy: %s\n", what, rt_error()->text, rt_error()->remedy);
}

/* --- checks --- */

static void check_vadd(RtDevice *d, RtStream *stream) {
  static float x[N], y[N], z[N];
  uint64_t address[3];
  RtKernel *k = load(d, "vadd", NULL, VADD_BYTES);
  for (int i = 0; i < N; i++)
    x[i] = (float)i, y[i] = 0.5f, z[i] = -1;
  for (int i = 0; i < 3; i++)
    EXPECT(rt_alloc(d, sizeof x, stream, &address[i]) == RT_OK);
  EXPECT(rt_copy_to_device(d, address[0], x, sizeof x, stream) == RT_OK);
  EXPECT(rt_copy_to_device(d, address[1], y, sizeof y, stream) == RT_OK);
  VaddParams p = {address[0], address[1], address[2], N, 0};
  RtConfig c = config_of((N + 255) / 256, 256);
  c.stream = stream;
  EXPECT(rt_launch(k, &c, &p, NULL) == RT_OK);
  EXPECT(rt_copy_to_host(d, z, address[2], sizeof z, stream) == RT_OK);
  EXPECT(rt_stream_synchronize(d, stream) == RT_OK);
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += z[i] != x[i] + y[i];
  EXPECT(wrong == 0);
  for (int i = 0; i < 3; i++)
    rt_free(d, address[i], sizeof x, stream);
  rt_kernel_release(k);
}

static void check_trap(RtDevice *d) {
  RtField field = {.kind = RT_FIELD_TRAP, .size = 8};
  RtKernel *k = load(d, "stop", &field, 8);
  RtConfig c = config_of(64, 128);
  RtTrap trap = {0};
  uint64_t block = 0;
  for (int round = 0; round < 2; round++) {
    EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK);
    EXPECT(rt_device_synchronize(d) == RT_OK);
    EXPECT(rt_kernel_trap(k, &trap) == RT_TRAPPED);
    EXPECT(trap.site == 7 && trap.block[0] < 64 && trap.thread[0] < 128 && trap.values[0] == -5);
    EXPECT(rt_kernel_trap(k, &trap) == RT_OK);
  }
  rt_kernel_release(k);
}

static void check_shared(RtDevice *d) {
  RtKernel *k = load(d, "share", NULL, 8);
  uint64_t address = 0;
  uint32_t value = 0, threads = 0;
  RtConfig c = config_of(1, 1);
  c.dynamic_shared = 100000;
  EXPECT(rt_alloc(d, 4, NULL, &address) == RT_OK);
  if (d->limits.shared_optin >= c.dynamic_shared) {
    EXPECT(rt_launch(k, &c, &address, NULL) == RT_OK);
    EXPECT(rt_copy_to_host(d, &value, address, 4, NULL) == RT_OK);
    EXPECT(value == 42);
  }
  c.dynamic_shared = 1 << 20;
  EXPECT(rt_launch(k, &c, &address, NULL) == RT_BAD_LAUNCH);
  show("1 MB of dynamic shared memory:");
  EXPECT(rt_kernel_best_block(k, RT_ENTRY_OWN, 0, &threads) == RT_OK && threads >= 32);
  rt_free(d, address, 4, NULL);
  rt_kernel_release(k);
}

static void check_refusals(RtDevice *d) {
  static const char bad[] =
      ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { frobnicate; }\n";
  static const char future[] = ".version 99.0\n.target sm_52\n.address_size 64\n";
  RtParams params = {0};
  RtKernel *k;
  uint64_t address;
  EXPECT(load_kernel(d, bad, sizeof bad - 1, "k", &params, 0, &k) == RT_BAD_MODULE);
  show("bad PTX:");
  EXPECT(load_kernel(d, future, sizeof future - 1, "k", &params, 0, &k) == RT_BAD_MODULE);
  show("PTX from the future:");
  EXPECT(load_kernel(d, module_text, sizeof module_text - 1, "nothere", &params, 0, &k) ==
         RT_BAD_MODULE);
  show("a missing kernel:");
  EXPECT(rt_alloc(d, (size_t)1 << 44, NULL, &address) == RT_NO_MEMORY);
  show("16 TB:");
}

static void check_events(RtDevice *d) {
  RtStream *s = NULL;
  RtEvent *a = NULL, *b = NULL;
  float ms = -1;
  void *pinned = NULL;
  EXPECT(rt_stream_new(d, &s) == RT_OK);
  EXPECT(rt_event_new(d, 1, &a) == RT_OK && rt_event_new(d, 1, &b) == RT_OK);
  EXPECT(rt_event_record(a, s) == RT_OK);
  check_vadd(d, s);
  EXPECT(rt_event_record(b, s) == RT_OK && rt_event_synchronize(b) == RT_OK);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_OK && ms > 0);
  EXPECT(rt_pinned_alloc(NULL, 1000, &pinned) == RT_OK);
  printf("  pinned memory: %s\n", pinned ? "ok" : "no");
  rt_pinned_free(pinned);
  rt_event_release(a);
  rt_event_release(b);
  rt_stream_release(s);
}

static void check_fork(RtDevice *d) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    EXPECT(rt_device_synchronize(d) == RT_FAILED);
    show("in a forked child:");
    fflush(stdout);
    _exit(failures);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(rt_device_synchronize(d) == RT_OK);
}

/* Last: nothing made before it lives on. */
static void check_lost_context(RtDevice *d) {
  RtKernel *k = load(d, "poke", NULL, 8);
  RtConfig c = config_of(1, 1);
  uint64_t nowhere = 16;
  EXPECT(rt_launch(k, &c, &nowhere, NULL) == RT_OK);
  EXPECT(rt_device_synchronize(d) == RT_CONTEXT_LOST);
  show("an illegal address:");
  EXPECT(rt_launch(k, &c, &nowhere, NULL) == RT_CONTEXT_LOST);
  RtStatus reset = rt_device_reset(d); /* driver 580: CUDA stays unusable until the process ends */
  EXPECT(reset == RT_OK || reset == RT_CONTEXT_LOST);
  EXPECT(rt_launch(k, &c, &nowhere, NULL) == RT_CONTEXT_LOST);
  show("a kernel from before the reset:");
  rt_kernel_release(k);
  if (reset == RT_OK)
    check_vadd(d, NULL);
}

/* --- times --- */

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef struct Bench {
  RtDevice *d;
  RtKernel *k;
  RtConfig c;
  unsigned char params[4096];
} Bench;

static void by_params(Bench *b) {
  VaddParams *p = (VaddParams *)b->params;
  void *each[] = {&p->a, &p->b, &p->c, &p->n};
  rt_cu.cuLaunchKernel(b->k->function, 1, 1, 1, b->c.block[0], 1, 1, 0, NULL, each, NULL);
}

static void by_buffer(Bench *b) {
  size_t bytes = b->k->param_bytes;
  void *extra[] = {CU_PARAM_BUFFER, b->params, CU_PARAM_BUFFER_SIZE, &bytes, CU_PARAM_END};
  rt_cu.cuLaunchKernel(b->k->function, 1, 1, 1, b->c.block[0], 1, 1, 0, NULL, NULL,
                       bytes ? extra : NULL);
}

static void by_runtime(Bench *b) { rt_launch(b->k, &b->c, b->params, NULL); }
static void by_get_current(Bench *b) {
  CUcontext context;
  (void)b;
  rt_cu.cuCtxGetCurrent(&context);
}
static void by_make_current(Bench *b) { rt_device_make_current(b->d); }
static void by_pool(Bench *b) {
  CUdeviceptr p;
  (void)b;
  rt_cu.cuMemAllocAsync(&p, 1 << 20, NULL);
  rt_cu.cuMemFreeAsync(p, NULL);
}
static void by_alloc(Bench *b) {
  uint64_t p;
  rt_alloc(b->d, 1 << 20, NULL, &p);
  rt_free(b->d, p, 1 << 20, NULL);
}

static int by_size(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The median of 15 batches of 500 calls, which fit the launch queue; the GPU drains it between
 * batches. */
static void measure(const char *what, Bench *b, void (*call)(Bench *)) {
  enum { BATCHES = 15, CALLS = 500 };
  double ns[BATCHES];
  for (int i = -2; i < BATCHES; i++) {
    rt_device_synchronize(b->d);
    double start = now_ns();
    for (int j = 0; j < CALLS; j++)
      call(b);
    if (i >= 0)
      ns[i] = (now_ns() - start) / CALLS;
  }
  qsort(ns, BATCHES, sizeof *ns, by_size);
  printf("  %-44s %9.1f ns   (fastest %.1f)\n", what, ns[BATCHES / 2], ns[0]);
}

static void measure_all(Bench *b, int ours) {
  for (int round = 0; round < 2; round++) {
    if (ours)
      measure("cuLaunchKernel, kernelParams (the C floor)", b, by_params);
    measure("cuLaunchKernel, parameter buffer", b, by_buffer);
    measure("rt_launch", b, by_runtime);
  }
  measure("cuCtxGetCurrent", b, by_get_current);
  measure("rt_device_make_current", b, by_make_current);
  measure("cuMemAllocAsync + cuMemFreeAsync, 1 MB", b, by_pool);
  measure("rt_alloc + rt_free, 1 MB", b, by_alloc);
}

static char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  if (f && fseek(f, 0, SEEK_END) == 0 && (text = malloc((size_t)ftell(f))) != NULL) {
    *size = (size_t)ftell(f);
    rewind(f);
    *size = fread(text, 1, *size, f);
  }
  if (f)
    fclose(f);
  return text;
}

static int time_file(RtDevice *d, char **argv, int argc) {
  size_t size = 0;
  char *image = read_file(argv[1], &size);
  Bench b = {.d = d, .c = config_of(1, 1)};
  RtParams params = {.bytes = argc > 3 ? (uint32_t)atoi(argv[3]) : 0};
  if (!image || params.bytes > sizeof b.params) {
    printf("cannot use %s\n", argv[1]);
    return 2;
  }
  if (load_kernel(d, image, size, argv[2], &params, 0, &b.k) != RT_OK) {
    show("not loaded:");
    free(image);
    return 1;
  }
  free(image);
  measure_all(&b, 0);
  RtStatus status = rt_device_synchronize(d);
  if (status != RT_OK)
    show("after the launches:");
  rt_kernel_release(b.k);
  return status != RT_OK;
}

int main(int argc, char **argv) {
  int count = 0;
  RtDevice *d;
  if (rt_gpu_count(&count) != RT_OK || !count) {
    printf("no GPU: %s\n", rt_error()->text);
    return 77;
  }
  if (rt_device_open(0, &d) != RT_OK) {
    show("not opened:");
    return 1;
  }
  printf("%s, sm_%d, %d GPU(s); driver %d, PTX ISA %d, %s\n", rt_device_name(d),
         rt_device_capability(d), count, rt_driver_version(), rt_driver_ptx_version(),
         rt_driver_path());
  if (argc > 2)
    return time_file(d, argv, argc);
  Bench b = {.d = d, .c = config_of(1, 32), .k = load(d, "vadd", NULL, VADD_BYTES)};
  if (!b.k)
    return 1;
  measure_all(&b, 1);
  rt_kernel_release(b.k);
  check_vadd(d, NULL);
  check_trap(d);
  check_shared(d);
  check_refusals(d);
  check_events(d);
  check_fork(d);
  check_lost_context(d);
  printf(failures ? "%d checks failed\n" : "all checks hold\n", failures);
  return failures != 0;
}
