/* Threads: compilations, launches, memory, streams and events from many threads at once, on the
 * host device and on the stand-in driver. What each thread gets is compared; races are
 * ThreadSanitizer's to find (cmake -DTSAN=ON). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/compile.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/stream.h"
#include "runtime/memory/memory.h"
#include "tests/unit/support/corpus.h"
#include "tests/unit/support/load.h"
#include "tests/unit/support/standin.h"

enum { THREADS = 6, ROUNDS = 40, BLOCKS = 16, N = 1024 };

static const CgSymbol symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
    {NULL, NULL}};

static _Atomic int failures;
#define CHECK(c)                                                                                   \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #c, rt_error()->text);               \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

/* work(argument + k * size) in THREADS threads at once. */
static void in_threads(void *(*work)(void *), void *argument, size_t size) {
  pthread_t threads[THREADS];
  for (size_t k = 0; k < THREADS; k++)
    EXPECT(pthread_create(&threads[k], NULL, work, (char *)argument + k * size) == 0);
  for (size_t k = 0; k < THREADS; k++)
    pthread_join(threads[k], NULL);
  expect_failures += failures;
}

/* --- compiling --- */

static const struct {
  const char *name, *signature;
} functions[] = {
    {"add", "float32[::1], float32[::1], float32[::1]"},
    {"math_calls", "float32[::1]"},
    {"an error", NULL},
    {"while_loop", "float32[::1], pyint"},
    {"two_d", "float32[:,::1], float32[:,::1]"},
    {"shared_memory", "float32[::1]"},
    {"warp", "float32[::1]"},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static Corpus *corpus;
static char *expected[2][FUNCTIONS];

/* PTX or assembly, or the message; malloc'd. */
static char *text_of(CgTarget target, size_t k) {
  const FrozenFunc *f = corpus_func(corpus, functions[k].signature ? functions[k].name : "add");
  CgRequest r = {.func = f,
                 .signature = functions[k].signature ? functions[k].signature : "no_such_type",
                 .target = target,
                 .arch = target == CG_NVPTX ? "sm_80" : NULL,
                 .want = CG_WANT_ASM,
                 .symbols = symbols,
                 .options = {.opt = 3, .fma = 1}};
  CgKernel *kernel = NULL;
  Diag *error = NULL;
  int failed = cg_compile(&r, &kernel, &error);
  CHECK(!failed == (functions[k].signature != NULL));
  char *text = strdup(failed               ? error->message
                      : target == CG_NVPTX ? kernel->ptx
                                           : kernel->assembly);
  cg_kernel_free(kernel);
  diag_free(error);
  return text;
}

static void *compile_all(void *start) {
  size_t first = (size_t)(*(int *)start);
  for (size_t k = 0; k < 2 * FUNCTIONS; k++) {
    size_t at = (first + k) % (2 * FUNCTIONS);
    char *text = text_of((CgTarget)(at / FUNCTIONS), at % FUNCTIONS);
    CHECK(strcmp(text, expected[at / FUNCTIONS][at % FUNCTIONS]) == 0);
    free(text);
  }
  return NULL;
}

/* LLVM's own first use is in the race too: what is expected is compiled in a second round. */
static void *compile_first(void *start) {
  size_t at = (size_t)(*(int *)start) % (2 * FUNCTIONS);
  free(text_of((CgTarget)(at / FUNCTIONS), at % FUNCTIONS));
  return NULL;
}

static void compiling(int n) {
  (void)n;
  int starts[THREADS];
  for (int k = 0; k < THREADS; k++)
    starts[k] = 2 * k;
  in_threads(compile_first, starts, sizeof *starts);
  for (size_t k = 0; k < 2 * FUNCTIONS; k++)
    expected[k / FUNCTIONS][k % FUNCTIONS] = text_of((CgTarget)(k / FUNCTIONS), k % FUNCTIONS);
  in_threads(compile_all, starts, sizeof *starts);
  for (size_t k = 0; k < 2 * FUNCTIONS; k++)
    free(expected[k / FUNCTIONS][k % FUNCTIONS]);
}

/* A child of a process whose other threads are in the middle of compilations can compile. */
static _Atomic int stop_compiling;

static void *compile_until_told(void *unused) {
  (void)unused;
  while (!stop_compiling)
    free(text_of(CG_HOST, 0));
  return NULL;
}

static void forking(int n) {
  (void)n;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  /* GCC's AddressSanitizer and ThreadSanitizer do not hold the locks of their allocators across
   * fork: a child may wait for ever for a thread that it has not */
  return;
#endif
  pthread_t busy[2];
  char *first = text_of(CG_HOST, 0);
  for (int k = 0; k < 2; k++)
    EXPECT(pthread_create(&busy[k], NULL, compile_until_told, NULL) == 0);
  for (int k = 0; k < 10; k++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      char *text = text_of(CG_HOST, 0);
      _exit(strcmp(text, first) != 0);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
  stop_compiling = 1;
  for (int k = 0; k < 2; k++)
    pthread_join(busy[k], NULL);
  free(first);
}

/* --- the host device --- */

static CgKernel *host_code(void) {
  CgRequest r = {.func = corpus_func(corpus, "add"),
                 .signature = functions[0].signature,
                 .target = CG_HOST,
                 .symbols = symbols,
                 .options = {.opt = 3, .fma = 1}};
  CgKernel *k = NULL;
  Diag *error = NULL;
  EXPECT(cg_compile(&r, &k, &error) == 0);
  diag_free(error);
  return k;
}

static void pack(const RtParams *p, uint64_t const arrays[3], char *block) {
  uint32_t extent = N;
  uint64_t wide = N, stride = sizeof(float);
  for (uint32_t i = 0; i < p->nfields; i++) {
    const RtField *f = &p->fields[i];
    switch ((RtFieldKind)f->kind) {
    case RT_FIELD_POINTER: memcpy(block + f->offset, &arrays[f->leaf], 8); break;
    case RT_FIELD_EXTENT32: memcpy(block + f->offset, &extent, 4); break;
    case RT_FIELD_EXTENT64: memcpy(block + f->offset, &wide, 8); break;
    case RT_FIELD_STRIDE: memcpy(block + f->offset, &stride, 8); break;
    default: break;
    }
  }
}

typedef struct HostShared {
  RtDevice *device;
  CgKernel *code;
  RtKernel *kernel;
} HostShared;

static void add_once(const HostShared *h, float seed) {
  uint64_t at[3];
  for (int i = 0; i < 3; i++)
    CHECK(rt_alloc(h->device, N * sizeof(float), NULL, &at[i]) == RT_OK);
  for (int i = 0; i < N; i++)
    ((float *)at[0])[i] = seed, ((float *)at[1])[i] = (float)i;
  _Alignas(16) char block[256];
  pack(&h->code->params, at, block);
  RtConfig c = {.grid = {BLOCKS, 1, 1}, .block = {N / BLOCKS, 1, 1}};
  RtTrap trap;
  CHECK(rt_launch(h->kernel, &c, block, &trap) == RT_OK);
  float wrong = 0;
  for (int arrays = 0; arrays < 3; arrays++) /* whichever of them the corpus' add writes */
    for (int i = 0; i < N; i++)
      wrong += ((float *)at[arrays])[i] == seed + (float)i;
  CHECK(wrong >= N);
  for (int i = 0; i < 3; i++)
    rt_free(h->device, at[i], N * sizeof(float), NULL);
}

static void *launch_on_host(void *shared) {
  for (int round = 0; round < ROUNDS; round++) {
    const HostShared *h = *(HostShared **)shared;
    RtStream *s = NULL;
    RtEvent *e = NULL;
    CHECK(rt_stream_new(h->device, &s) == RT_OK && rt_event_new(h->device, 1, &e) == RT_OK);
    add_once(h, (float)round);
    CHECK(rt_event_record(e, s) == RT_OK && rt_stream_wait_event(s, e) == RT_OK);
    rt_event_release(e);
    rt_stream_release(s);
  }
  return NULL;
}

static void host(int n) {
  (void)n;
  setenv("PYPTX_HOST_THREADS", "4", 1);
  HostShared h = {.code = host_code()}, *shared[THREADS];
  EXPECT(rt_device_open(RT_HOST, &h.device) == RT_OK);
  EXPECT(rt_kernel_host(h.device, h.code->symbol, &h.code->host, &h.code->params, &h.kernel) ==
         RT_OK);
  for (int k = 0; k < THREADS; k++)
    shared[k] = &h;
  in_threads(launch_on_host, shared, sizeof *shared);
  RtMemoryStats stats;
  rt_memory_stats(h.device, &stats);
  EXPECT(stats.live_blocks == 0 && stats.live_bytes == 0);
  rt_kernel_release(h.kernel);
  cg_kernel_free(h.code);
}

/* --- GPUs --- */

typedef struct Box { /* memory that one thread allocates and another frees */
  _Atomic uint64_t address;
} Box;

static Box boxes[2][64];
static RtKernel *shared_kernels[2];
/* as standin_ptx has them */
static const RtParams vadd_params = {.bytes = 12}, stop_params = {.bytes = 24};

static void swap(RtDevice *d, int number, int box) {
  uint64_t fresh;
  CHECK(rt_alloc(d, (size_t)512 << (box & 3), NULL, &fresh) == RT_OK);
  uint64_t old = atomic_exchange(&boxes[number][box].address, fresh);
  rt_free(d, old, (size_t)512 << (box & 3), NULL);
}

static void use_stream(RtDevice *d, RtKernel *k) {
  RtStream *s = NULL;
  RtEvent *a = NULL, *b = NULL;
  uint64_t at = 0;
  char data[512] = {7}, back[512] = {0};
  int done;
  float ms;
  CHECK(rt_stream_new(d, &s) == RT_OK && rt_event_new(d, 1, &a) == RT_OK &&
        rt_event_new(d, 1, &b) == RT_OK);
  CHECK(rt_alloc(d, sizeof data, s, &at) == RT_OK);
  CHECK(rt_event_record(a, s) == RT_OK && rt_copy_to_device(d, at, data, sizeof data, s) == RT_OK);
  RtConfig c = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = s};
  char block[24] = {0};
  CHECK(rt_launch(k, &c, block, NULL) == RT_OK && rt_event_record(b, s) == RT_OK);
  CHECK(rt_stream_wait_event(s, a) == RT_OK && rt_stream_query(d, s, &done) == RT_OK);
  CHECK(rt_copy_to_host(d, back, at, sizeof back, s) == RT_OK &&
        rt_stream_synchronize(d, s) == RT_OK);
  CHECK(rt_event_elapsed(a, b, &ms) == RT_OK && memcmp(data, back, sizeof data) == 0);
  rt_free(d, at, sizeof data, s);
  rt_event_release(a);
  rt_event_release(b);
  rt_stream_release(s);
}

static void *use_gpus(void *number) {
  unsigned at = *(unsigned *)number;
  for (int round = 0; round < ROUNDS; round++) {
    int which = (int)(at >> 3) & 1;
    RtDevice *d = NULL;
    RtKernel *own = NULL;
    RtMemoryStats stats;
    size_t available, total;
    CHECK(rt_device_open(which, &d) == RT_OK && rt_device_memory(d, &available, &total) == RT_OK);
    for (int i = 0; i < 8; i++)
      swap(d, which, (int)((at = at * 1103515245u + 12345u) >> 16 & 63));
    CHECK(load_kernel(d, standin_ptx, strlen(standin_ptx), "stop", &stop_params, 0, &own) == RT_OK);
    use_stream(d, shared_kernels[which]);
    use_stream(d, own);
    CHECK(rt_device_synchronize(d) == RT_OK);
    rt_kernel_release(own);
    rt_memory_stats(d, &stats);
    sched_yield();
  }
  return NULL;
}

static void empty_boxes(int which, RtDevice *d) {
  for (int box = 0; box < 64; box++)
    rt_free(d, boxes[which][box].address, (size_t)512 << (box & 3), NULL);
  RtMemoryStats stats;
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_blocks == 0 && stats.live_bytes == 0);
}

static void *open_gpus(void *unused) {
  (void)unused;
  RtDevice *one = NULL, *two = NULL;
  int count = 0;
  CHECK(rt_gpu_count(&count) == RT_OK && count == 2);
  CHECK(rt_device_open(0, &one) == RT_OK && rt_device_open(1, &two) == RT_OK && one != two);
  return NULL;
}

static void gpus(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  unsigned seeds[THREADS];
  for (unsigned k = 0; k < THREADS; k++)
    seeds[k] = 77 * k;
  in_threads(open_gpus, seeds, sizeof *seeds);
  RtDevice *d[2];
  for (int k = 0; k < 2; k++) {
    EXPECT(rt_device_open(k, &d[k]) == RT_OK);
    EXPECT(load_kernel(d[k], standin_ptx, strlen(standin_ptx), "vadd", &vadd_params, 0,
                       &shared_kernels[k]) == RT_OK);
  }
  EXPECT(control->calls("cuInit") == 1 && control->live(SI_CONTEXT) == 2);
  in_threads(use_gpus, seeds, sizeof *seeds);
  for (int k = 0; k < 2; k++) {
    empty_boxes(k, d[k]);
    rt_kernel_release(shared_kernels[k]);
  }
  EXPECT(control->misuse() == 0 && control->live(SI_STREAM) == 0 && control->live(SI_EVENT) == 0 &&
         control->live(SI_MODULE) == 0);
}

/* --- entries: whoever wants one that is not there loads it, while others launch --- */

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static RtKernel *of_two[ROUNDS];

static void launch_loading(RtKernel *k, uint32_t blocks) {
  RtConfig c = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}};
  _Alignas(16) char block[16] = {0};
  RtStatus status;
  while ((status = rt_launch(k, &c, block, NULL)) == RT_NO_ENTRY) {
    pthread_mutex_lock(&loading);
    /* another thread may have had the lock before */
    RtEntryKind wanted = rt_kernel_wants(k, &c, block);
    if (wanted != RT_ENTRY_NONE)
      CHECK(rt_kernel_add(k, wanted, standin_ptx, strlen(standin_ptx), &(RtLinked){0}) == RT_OK);
    pthread_mutex_unlock(&loading);
  }
  CHECK(status == RT_OK);
}

static void *use_entries(void *number) {
  for (int round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < 6; i++)
      launch_loading(of_two[round], (*(unsigned *)number + i) % 3 ? 9 : 1);
  return NULL;
}

static void entries(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  static RtField fields[] = {{.kind = RT_FIELD_POINTER, .size = 8},
                             {.kind = RT_FIELD_EXTENT32, .size = 4, .offset = 8},
                             {.kind = RT_FIELD_BLOCKS, .size = 4, .offset = 12}};
  const RtParams params = {
      .fields = fields, .nfields = 3, .bytes = 16, .coarse = {.factor = 4, .plain_bytes = 12}};
  RtDevice *d = NULL;
  unsigned numbers[THREADS];
  EXPECT(rt_device_open(0, &d) == RT_OK);
  for (unsigned k = 0; k < THREADS; k++)
    numbers[k] = k;
  for (int round = 0; round < ROUNDS; round++)
    EXPECT(rt_kernel_open(d, "vadd", &params, 0, &of_two[round]) == RT_OK);
  in_threads(use_entries, numbers, sizeof *numbers);
  EXPECT(control->calls("cuModuleLoadDataEx") == 2 * ROUNDS);
  for (int round = 0; round < ROUNDS; round++)
    rt_kernel_release(of_two[round]);
  EXPECT(control->misuse() == 0 && control->live(SI_MODULE) == 0);
}

#define RUN(f) failed += scenario(#f, f, 0)

int main(void) {
  int failed = 0;
  corpus = corpus_open("3.12");
  if (!corpus)
    return 77;
  RUN(gpus);
  RUN(entries);
  RUN(host);
  RUN(compiling);
  RUN(forking);
  corpus_close(corpus);
  return failed != 0;
}
