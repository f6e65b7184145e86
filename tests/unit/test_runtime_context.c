/* What is current in the driver: whatever is done on another device than the thread's own, the
 * context that was there is there again. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/graph.h"
#include "tests/standin/internal.h"
#include "tests/unit/support/kernels.h"
#include "tests/unit/support/load.h"

/* What a thread may have had: nothing, our GPU 0, or a context that another library made (the
 * stand-in takes any). */
enum { NONE, FIRST, FOREIGN, KINDS };
static struct CUctx_st foreign = {0, 1};

#ifdef __SANITIZE_THREAD__
enum { FAILURES = 0 }; /* some hundred turns with one thread, which races with no other */
#else
enum { FAILURES = 1 };
#endif

static const StandinControl *control;

static CUcontext now(void) { return control->context(); }

static CUcontext have(int kind, RtDevice *first) {
  CUcontext c = kind == FIRST ? first->context : kind == FOREIGN ? &foreign : NULL;
  EXPECT(rt_cu.cuCtxSetCurrent(c) == CUDA_SUCCESS);
  return c;
}

/* --- everything that runs on GPU 1 --- */

typedef struct Path {
  CUcontext was;
  RtDevice *first, *d;
  RtStream *s;
  RtEvent *start, *stop;
  RtKernel *k, *meet;
  RtGraph *graph;
  uint64_t a, b, here, shared, opened;
  void *pinned, *managed;
  int failing;
} Path;

/* Where the driver will not say or set what is current there is nothing to put back. */
static int excused(const Path *p) {
  return p->failing && control->fired() && !strncmp(control->fired_call(), "cuCtx", 5);
}

static void check(const Path *p, int line) {
  if (excused(p) || now() == p->was)
    return;
  fprintf(stderr, "%s:%d: another context is current\n", __FILE__, line);
  expect_failures++;
}

#define STEP(call)                                                                                 \
  do {                                                                                             \
    RtStatus status_ = call;                                                                       \
    check(p, __LINE__);                                                                            \
    if (status_ != RT_OK && status_ != RT_CAPTURED)                                                \
      return status_;                                                                              \
  } while (0)
#define SILENT(call)                                                                               \
  do {                                                                                             \
    call;                                                                                          \
    check(p, __LINE__);                                                                            \
  } while (0)

enum { LARGE = 8 << 20 };
static char data[LARGE];

static RtStatus memory(Path *p) {
  uint8_t handle[64];
  uint64_t offset, address, bytes = 0;
  size_t available, total;
  STEP(rt_device_memory(p->d, &available, &total));
  STEP(rt_memory_limit(p->d, &bytes, 0));
  STEP(rt_alloc(p->d, 64, p->s, &p->a));
  STEP(rt_alloc(p->d, LARGE, NULL, &p->b));
  STEP(rt_copy_to_device(p->d, p->a, data, 64, p->s));
  STEP(rt_copy_to_device(p->d, p->b, data, 64, NULL));
  STEP(rt_copy_to_device(p->d, p->b, data, LARGE, NULL)); /* by way of the ring */
  STEP(rt_copy_to_host(p->d, data, p->b, LARGE, p->s));
  STEP(rt_fill(p->d, p->b, 0, 64, p->s));
  STEP(rt_copy_on_device(p->d, p->a, p->b, 64, NULL));
  STEP(rt_copy_to_host(p->d, data, p->a, 64, p->s));
  STEP(rt_copy_to_host(p->d, data, p->b, 64, NULL));
  RtStrided gaps = {
      .base = data, .ndim = 1, .itemsize = 4, .shape = (int64_t[]){10}, .strides = (int64_t[]){8}};
  STEP(rt_copy_strided(p->d, p->b, &gaps, 0, NULL));
  STEP(rt_alloc(p->first, 64, NULL, &p->here));
  STEP(rt_copy_peer(p->d, p->a, p->first, p->here, 64, NULL));
  STEP(rt_copy_peer(p->first, p->here, p->d, p->a, 64, p->s));
  STEP(rt_pinned_alloc(p->d, 64, &p->pinned));
  STEP(rt_host_device_address(p->d, p->pinned, &address));
  STEP(rt_managed_alloc(p->d, 64, &p->managed));
  if (!p->failing) { /* what fails to be unregistered would stay so */
    STEP(rt_host_register(p->d, data, sizeof data));
    SILENT(rt_host_unregister(p->d, rt_device_epoch(p->d), data, sizeof data));
  }
  STEP(rt_shared_alloc(p->d, 64, &p->shared));
  STEP(rt_ipc_export(p->d, p->shared, handle, &offset));
  STEP(rt_ipc_open(p->d, handle, &p->opened));
  SILENT(rt_ipc_close(p->d, rt_device_epoch(p->d), p->opened));
  return RT_OK;
}

static RtStatus launches(Path *p) {
  float ms;
  int done;
  uint32_t n;
  RtTrap trap;
  Block block = {0};
  RtConfig c = config_of(1, 1);
  STEP(load_kernel(p->d, standin_ptx, strlen(standin_ptx), "stop", &stop_params, 1, &p->k));
  STEP(load_kernel(p->d, standin_ptx, strlen(standin_ptx), "meet", &meet_params, 1, &p->meet));
  STEP(rt_kernel_best_block(p->k, RT_ENTRY_OWN, 0, &n));
  STEP(rt_launch(p->k, &c, &block, NULL));
  STEP(rt_launch(p->meet, &c, &block, NULL));
  STEP(rt_event_record(p->start, p->s));
  c.stream = p->s;
  c.dynamic_shared = 60000;
  STEP(rt_launch(p->k, &c, &block, NULL));
  c.dynamic_shared = 0;
  c.cluster[0] = c.cluster[1] = c.cluster[2] = 1;
  STEP(rt_launch(p->k, &c, &block, NULL));
  STEP(rt_event_record(p->stop, p->s));
  STEP(rt_stream_wait_event(p->s, p->stop));
  STEP(rt_stream_order(p->d, p->s, NULL));
  STEP(rt_event_query(p->stop, &done));
  STEP(rt_stream_query(p->d, p->s, &done));
  STEP(rt_event_synchronize(p->stop));
  STEP(rt_event_elapsed(p->start, p->stop, &ms));
  STEP(rt_stream_synchronize(p->d, p->s));
  STEP(rt_device_synchronize(p->d));
  return rt_kernel_trap(p->k, &trap);
}

static RtStatus captured(Path *p) {
  int in_place;
  uint32_t node;
  Block block = {0};
  RtConfig c = config_of(1, 1);
  uint64_t more = 0;
  STEP(rt_graph_new(p->d, &p->graph));
  STEP(rt_graph_begin(p->graph, p->s));
  RtStatus status = rt_launch(p->k, &c, &block, NULL);
  check(p, __LINE__);
  RtStatus got = rt_alloc(p->d, 64, NULL, &more);
  check(p, __LINE__);
  SILENT(rt_free(p->d, more, 64, NULL));
  STEP(rt_graph_end(p->graph, status == RT_CAPTURED && got == RT_OK, &in_place));
  if (status != RT_CAPTURED)
    return status;
  TRY(got);
  STEP(rt_graph_launch(p->graph, NULL, NULL, &node));
  STEP(rt_graph_set_params(p->graph, 0, &block));
  return RT_OK;
}

static RtStatus path(Path *p) {
  STEP(rt_stream_new(p->d, &p->s));
  STEP(rt_event_new(p->d, 1, &p->start));
  STEP(rt_event_new(p->d, 1, &p->stop));
  TRY(memory(p));
  TRY(launches(p));
  return captured(p);
}

static void leave(Path *p) {
  SILENT(rt_graph_release(p->graph));
  SILENT(rt_free(p->d, p->a, 64, p->s));
  SILENT(rt_free_idle(p->d, p->b, LARGE));
  SILENT(rt_free(p->first, p->here, 64, p->s)); /* a stream of GPU 1 used it */
  SILENT(rt_pinned_free(p->pinned));
  SILENT(rt_managed_free(p->d, rt_device_epoch(p->d), p->managed));
  SILENT(rt_shared_free(p->d, rt_device_epoch(p->d), p->shared));
  SILENT(rt_kernel_release(p->k));
  SILENT(rt_kernel_release(p->meet));
  SILENT(rt_event_release(p->start));
  SILENT(rt_event_release(p->stop));
  SILENT(rt_stream_release(p->s));
  SILENT(rt_memory_trim(p->d, 0));
  SILENT(rt_memory_trim(p->first, 0));
}

static Path begin(int kind) {
  Path p = {0};
  EXPECT(rt_device_open(0, &p.first) == RT_OK && rt_device_open(1, &p.d) == RT_OK);
  p.was = have(kind, p.first);
  return p;
}

static void everything(int kind) {
  control = standin_open(2);
  setenv("PYPTX_HOST_THREADS", "4", 1);
  Path p = begin(kind);
  EXPECT(path(&p) == RT_OK);
  leave(&p);
  /* rt_stream_order's, which rests */
  EXPECT(standin_live(control) == 1 && control->live(SI_EVENT) == 1);
  EXPECT(control->misuse() == 0);
}

/* Errors on the way put it back too. */
static void failures(int kind) {
  control = standin_open(2);
  setenv("PYPTX_HOST_THREADS", "1", 1); /* no ring, which would be given up quietly */
  for (int nth = 1, fired = 1; fired; nth++) {
    Path p = begin(kind);
    p.failing = 1;
    control->fail(NULL, nth, 999);
    RtStatus status = path(&p);
    fired = control->fired();
    EXPECT(fired || status == RT_OK);
    control->fail(NULL, 0, 0);
    p.failing = 0;
    p.was = have(kind, p.first);
    leave(&p);
    EXPECT(nth < 1000);
  }
}

/* --- who is current --- */

static void with_one_gpu_it_stays(int n) {
  (void)n;
  control = standin_open(1);
  RtDevice *d = gpu();
  uint64_t address;
  EXPECT(rt_alloc(d, 64, NULL, &address) == RT_OK && now() == d->context);
  control->forget();
  rt_free(d, address, 64, NULL);
  EXPECT(rt_device_synchronize(d) == RT_OK && control->calls("cuCtxSetCurrent") == 0);
  EXPECT(rt_cu.cuCtxSetCurrent(&foreign) == CUDA_SUCCESS);
  EXPECT(rt_device_synchronize(d) == RT_OK && now() == &foreign);
}

/* The launch trusts what it set, and finds out. */
static void launches_of_a_changed_context(int n) {
  (void)n;
  control = standin_open(2);
  Path path = begin(NONE), *p = &path;
  RtKernel *k = load(p->d, "vadd", &vadd_params);
  RtConfig c = config_of(1, 1), cluster = c;
  Block block = {0};
  cluster.cluster[0] = cluster.cluster[1] = cluster.cluster[2] = 1;
  EXPECT(rt_device_make_current(p->d) == RT_OK && rt_current == p->d);
  control->forget();
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK && control->calls(NULL) == 1);
  for (int i = 0; i < 2 * KINDS; i++) {
    RtConfig *config = i % 2 ? &cluster : &c;
    p->was = have(i / 2, p->first);
    /* is told that the context is wrong */
    SILENT(EXPECT(rt_launch(k, config, &block, NULL) == RT_OK));
    SILENT(EXPECT(rt_launch(k, config, &block, NULL) == RT_OK)); /* and knows */
    EXPECT(rt_device_make_current(p->d) == RT_OK);
  }
  control->forget(); /* back on the short way */
  EXPECT(rt_launch(k, &c, &block, NULL) == RT_OK && control->calls(NULL) == 1);
  rt_kernel_release(k);
  EXPECT(control->misuse() == 2); /* no context at all, which the stand-in counts */
}

static void the_device_of_a_context(int n) {
  (void)n;
  int ordinal;
  control = standin_open(3);
  EXPECT(!rt_context_device(&ordinal) && ordinal == -1 && rt_context_now().known &&
         control->calls(NULL) == 0);
  Path p = begin(NONE);
  EXPECT(!rt_context_device(&ordinal) && ordinal == -1);
  have(FIRST, p.first);
  EXPECT(rt_context_device(&ordinal) == p.first && rt_current == p.first);
  EXPECT(rt_cu.cuCtxSetCurrent(p.d->context) == CUDA_SUCCESS &&
         rt_context_device(&ordinal) == p.d && rt_current == p.d);
  have(FOREIGN, p.first);
  /* a launch must make the primary one current */
  EXPECT(rt_context_device(&ordinal) == p.first && rt_current != p.first);
  CUcontext third;
  EXPECT(rt_cu.cuDevicePrimaryCtxRetain(&third, 2) == CUDA_SUCCESS &&
         rt_cu.cuCtxSetCurrent(third) == CUDA_SUCCESS);
  EXPECT(!rt_context_device(&ordinal) && ordinal == 2);
  RtContext was = rt_context_now();
  EXPECT(was.known && was.handle == third && !was.device);
  have(FIRST, p.first);
  rt_context_put_back(was);
  EXPECT(now() == third);
  have(FIRST, p.first);
  was = rt_context_now();
  EXPECT(rt_device_reset(p.first) == RT_OK && now() == p.first->context && was.device == p.first);
  EXPECT(control->misuse() == 0);
}

static RtDevice *both[2];
static void *of_one_thread(void *number) {
  RtDevice *own = both[(uintptr_t)number % 2], *other = both[1 - (uintptr_t)number % 2];
  uint64_t a, b;
  EXPECT(rt_device_make_current(own) == RT_OK);
  for (int i = 0; i < 100; i++) {
    EXPECT(rt_alloc(other, 64, NULL, &a) == RT_OK && rt_alloc(own, 64, NULL, &b) == RT_OK);
    EXPECT(rt_copy_peer(own, b, other, a, 64, NULL) == RT_OK &&
           rt_fill(other, a, 1, 64, NULL) == RT_OK);
    rt_free(other, a, 64, NULL);
    rt_free(own, b, 64, NULL);
    EXPECT(rt_device_synchronize(other) == RT_OK && now() == own->context && rt_current == own);
  }
  return NULL;
}

static void threads(int n) {
  (void)n;
  enum { THREADS = 8 };
  control = standin_open(2);
  pthread_t thread[THREADS];
  EXPECT(rt_device_open(0, &both[0]) == RT_OK && rt_device_open(1, &both[1]) == RT_OK);
  for (uintptr_t i = 0; i < THREADS; i++)
    EXPECT(pthread_create(&thread[i], NULL, of_one_thread, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  EXPECT(control->misuse() == 0);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  for (int kind = NONE; kind < KINDS; kind++) {
    RUN(everything, kind);
    if (FAILURES)
      RUN(failures, kind);
  }
  RUN(with_one_gpu_it_stays, 0);
  RUN(launches_of_a_changed_context, 0);
  RUN(the_device_of_a_context, 0);
  RUN(threads, 0);
  return expect_failures != 0;
}
