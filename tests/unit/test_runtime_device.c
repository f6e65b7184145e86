/* Finding a driver, opening devices, contexts that other libraries change, forks and resets. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "tests/unit/support/kernels.h"

static void no_driver(int n) {
  (void)n;
  int count = 7;
  RtDevice *d;
  setenv("PYPTX_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT(rt_gpu_count(&count) == RT_NO_DRIVER && count == 0);
  EXPECT(has("/nonexistent/libcuda.so.1") && *rt_error()->remedy);
  EXPECT(rt_device_open(0, &d) == RT_NO_DRIVER && !d);
  EXPECT(rt_driver_version() == 0 && rt_driver_ptx_version() == 0 && !rt_driver_path());
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK && d);
  /* found after all: the failure is not remembered */
  const StandinControl *control = standin_open(1);
  EXPECT(rt_gpu_count(&count) == RT_OK && count == 1 && control->calls("cuInit") == 1);
}

static void not_a_driver(int n) {
  (void)n;
  int count;
  setenv("PYPTX_DRIVER", "libm.so.6", 1);
  EXPECT(rt_gpu_count(&count) == RT_NO_DRIVER && has("lacks cuInit"));
}

static void no_gpu(int n) {
  (void)n;
  int count = 7;
  RtDevice *d;
  standin_open(0);
  EXPECT(rt_gpu_count(&count) == RT_OK && count == 0);
  EXPECT(rt_device_open(0, &d) == RT_NO_DEVICE && !d && has("no GPU"));
  EXPECT(rt_driver_version() == 13000 && rt_driver_ptx_version() == 90);
}

static const struct {
  const char *cuda;
  int ptx;
} versions[] = {{"10020", 0},  {"11000", 70}, {"11040", 74}, {"11080", 78}, {"12000", 80},
                {"12050", 85}, {"12060", 85}, {"12070", 86}, {"12080", 87}, {"12090", 88},
                {"13000", 90}, {"13010", 91}, {"14020", 91}};

static void ptx_version(int n) {
  const StandinControl *control = standin_open(1);
  setenv("PYPTX_STANDIN_VERSION", versions[n].cuda, 1);
  EXPECT(rt_driver_version() == atoi(versions[n].cuda) &&
         rt_driver_ptx_version() == versions[n].ptx);
  EXPECT(strcmp(rt_driver_path(), getenv("PYPTX_DRIVER")) == 0);
  EXPECT(control->calls("cuInit") == 0); /* the version alone does not spoil a fork */
}

static void two_devices(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  RtDevice *a, *b, *again, *none;
  EXPECT(rt_device_open(0, &a) == RT_OK && rt_device_open(1, &b) == RT_OK && a != b);
  EXPECT(rt_device_open(0, &again) == RT_OK && again == a && control->live(SI_CONTEXT) == 2);
  EXPECT(rt_device_open(2, &none) == RT_NO_DEVICE && !none && has("no GPU 2") && has("sees 2"));
  EXPECT(rt_device_open(-2, &none) == RT_NO_DEVICE);
  EXPECT(rt_device_ordinal(b) == 1 && !rt_device_is_host(b) && rt_device_capability(b) == 90);
  EXPECT(strcmp(rt_device_name(b), "Stand-in GPU 1") == 0);
  uint8_t uuid[16];
  rt_device_uuid(b, uuid);
  EXPECT(uuid[0] == 2 && uuid[15] == 2);
  const RtLimits *l = &a->limits;
  EXPECT(l->threads == 1024 && l->block[2] == 64 && l->grid[0] == INT32_MAX && l->grid[1] == 65535);
  EXPECT(l->shared == 49152 && l->shared_optin == 232448);
  int value = 0;
  size_t available = 0, total = 0;
  EXPECT(rt_device_attribute(a, 16, &value) == RT_OK && value == 132);
  EXPECT(rt_device_attribute(a, 9999, &value) == RT_BAD_ARGUMENT);
  EXPECT(rt_device_memory(a, &available, &total) == RT_OK && available == total &&
         total == (size_t)1 << 30);

  CUcontext current;
  EXPECT(rt_device_make_current(a) == RT_OK && rt_current == a);
  EXPECT(rt_device_make_current(b) == RT_OK && rt_current == b);
  control->forget();
  EXPECT(rt_device_make_current(b) == RT_OK && control->calls("cuCtxSetCurrent") == 0);
  rt_cu.cuCtxSetCurrent(NULL); /* another library's doing */
  EXPECT(rt_device_synchronize(b) == RT_OK);
  EXPECT(rt_cu.cuCtxGetCurrent(&current) == 0 && !current);
  EXPECT(control->misuse() == 0);
}

static void forked(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d, *host;
  int count, status = -1;
  uint64_t address, on_host;
  EXPECT(rt_device_open(0, &d) == RT_OK && rt_alloc(d, 1000, NULL, &address) == RT_OK);
  pid_t child = fork();
  if (child == 0) {
    expect_failures = 0;
    control->forget();
    EXPECT(rt_gpu_count(&count) == RT_FAILED && has("forked") &&
           strstr(rt_error()->remedy, "spawn"));
    EXPECT(rt_device_open(0, &d) == RT_FAILED && !d);
    d = rt_current;
    EXPECT(!d);
    _exit(expect_failures);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  child = fork();
  if (child == 0) {
    expect_failures = 0;
    control->forget();
    RtMemoryStats stats;
    EXPECT(rt_device_synchronize(d) == RT_FAILED && has("forked"));
    EXPECT(rt_alloc(d, 10, NULL, &address) == RT_FAILED);
    rt_free(d, address, 1000, NULL);
    rt_memory_stats(d, &stats);
    EXPECT(control->calls(NULL) == 0);
    EXPECT(rt_device_open(RT_HOST, &host) == RT_OK && rt_alloc(host, 100, NULL, &on_host) == RT_OK);
    rt_free(host, on_host, 100, NULL);
    _exit(expect_failures);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(rt_device_synchronize(d) == RT_OK);
  rt_free(d, address, 1000, NULL);
}

/* It must not wait for the lock that opening the driver holds. */
static void driver_that_forks(int n) {
  (void)n;
  int count = 0;
  standin_open(1);
  setenv("PYPTX_STANDIN_MODPROBE", "1", 1);
  alarm(20); /* a deadlock ends the test */
  EXPECT(rt_gpu_count(&count) == RT_OK && count == 1);
  alarm(0);
}

static void reset(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d;
  RtStream *s;
  RtEvent *e;
  uint64_t address;
  RtMemoryStats stats;
  EXPECT(rt_device_open(0, &d) == RT_OK && rt_device_epoch(d) == 0);
  EXPECT(rt_stream_new(d, &s) == RT_OK && rt_event_new(d, 1, &e) == RT_OK);
  EXPECT(rt_alloc(d, 1000, s, &address) == RT_OK);
  rt_free(d, address, 1000, s); /* into the list */
  EXPECT(rt_alloc(d, 2000, NULL, &address) == RT_OK);
  control->stick(700);
  EXPECT(rt_device_synchronize(d) == RT_CONTEXT_LOST);
  EXPECT(rt_device_reset(d) == RT_OK && rt_device_epoch(d) == 1 && standin_live(control) == 0 &&
         control->live(SI_CONTEXT) == 1);
  rt_memory_stats(d, &stats);
  EXPECT(stats.live_bytes == 0 && stats.live_blocks == 0 && stats.cached_bytes == 0);
  EXPECT(rt_stream_synchronize(d, s) == RT_CONTEXT_LOST &&
         rt_event_record(e, NULL) == RT_CONTEXT_LOST);
  EXPECT(rt_alloc(d, 1000, s, &address) == RT_CONTEXT_LOST && has("reset after this stream"));
  rt_stream_release(s);
  rt_event_release(e);
  EXPECT(control->misuse() == 0);
  EXPECT(rt_alloc(d, 1000, NULL, &address) == RT_OK && standin_live(control) == 1);
  rt_free(d, address, 1000, NULL);
}

/* A reset that fails half way leaves a device that comes back at its next use. */
static void failing_reset(int nth) {
  const StandinControl *control = standin_open(1);
  RtDevice *d;
  EXPECT(rt_device_open(0, &d) == RT_OK);
  control->fail(NULL, nth, 999);
  RtStatus status = rt_device_reset(d);
  int fired = control->fired();
  control->fail(NULL, 0, 0);
  EXPECT(status == RT_OK || fired);
  EXPECT(rt_device_synchronize(d) == RT_OK);
  EXPECT(fired || nth > 5);
}

static void failing_open(int nth) {
  const StandinControl *control = standin_open(1);
  RtDevice *d;
  control->fail(NULL, nth, 999);
  RtStatus status = rt_device_open(0, &d);
  int fired = control->fired();
  control->fail(NULL, 0, 0);
  EXPECT((status != RT_OK) == fired && (d == NULL) == fired);
  EXPECT(!fired || (rt_error()->result == 999 && *rt_error()->call));
  EXPECT(control->live(SI_CONTEXT) == !fired);
  EXPECT(rt_device_open(0, &d) == RT_OK &&
         control->live(SI_CONTEXT) == 1); /* the next try succeeds */
  EXPECT(rt_device_synchronize(d) == RT_OK && control->misuse() == 0);
  EXPECT(fired || nth > 15);
}

static void *open_and_use(void *seen) {
  RtDevice *d = NULL;
  uint64_t address = 0;
  for (int i = 0; i < 200; i++) {
    EXPECT(rt_device_open(0, &d) == RT_OK && rt_device_synchronize(d) == RT_OK);
    EXPECT(rt_alloc(d, 1000 + (size_t)i, NULL, &address) == RT_OK);
    EXPECT(rt_fill(d, address, 1, 1000, NULL) == RT_OK);
    rt_free(d, address, 1000 + (size_t)i, NULL);
  }
  *(RtDevice **)seen = d;
  return NULL;
}

static void threads(int n) {
  (void)n;
  enum { THREADS = 8 };
  const StandinControl *control = standin_open(1);
  pthread_t thread[THREADS];
  RtDevice *seen[THREADS];
  for (int i = 0; i < THREADS; i++)
    EXPECT(pthread_create(&thread[i], NULL, open_and_use, &seen[i]) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; i++)
    EXPECT(seen[i] == seen[0]);
  RtMemoryStats stats;
  rt_memory_stats(seen[0], &stats);
  EXPECT(stats.live_blocks == 0 && stats.live_bytes == 0 && stats.allocations == 200 * THREADS);
  EXPECT(control->live(SI_CONTEXT) == 1 && control->calls("cuInit") == 1 && control->misuse() == 0);
}

static RtDevice *exit_device;
static void after_the_driver(void) {
  if (rt_device_synchronize(exit_device) != RT_FAILED || !has("ending"))
    _exit(9);
  rt_free(exit_device, 0x1000, 10, NULL); /* no call */
}

static void at_exit(int n) {
  (void)n;
  standin_open(1);
  /* before the driver is opened, so it runs after the runtime's handler */
  atexit(after_the_driver);
  EXPECT(rt_device_open(0, &exit_device) == RT_OK);
}

static void host(int n) {
  (void)n;
  setenv("PYPTX_DRIVER", "/nonexistent", 1);
  RtDevice *d;
  int value = -1;
  size_t available = 0, total = 0;
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK && rt_device_is_host(d) &&
         rt_device_ordinal(d) == RT_HOST);
  EXPECT(*rt_device_name(d) && rt_device_capability(d) == 0);
  EXPECT(rt_device_make_current(d) == RT_OK && rt_device_synchronize(d) == RT_OK &&
         rt_device_reset(d) == RT_OK);
  const RtLimits *l = &d->limits;
  EXPECT(l->threads == 1024 && l->grid[0] == INT32_MAX && l->grid[1] == 65535 &&
         l->shared == 49152 && l->shared_optin == 232448);
  EXPECT(rt_device_attribute(d, 1, &value) == RT_OK && value == 1024);
  EXPECT(rt_device_attribute(d, 16, &value) == RT_OK && value >= 1);
  EXPECT(rt_device_attribute(d, 32, &value) == RT_BAD_ARGUMENT && has("32"));
  EXPECT(rt_device_memory(d, &available, &total) == RT_OK && available > 0 && available <= total);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(no_driver, 0);
  RUN(not_a_driver, 0);
  RUN(no_gpu, 0);
  for (int i = 0; i < (int)(sizeof versions / sizeof *versions); i++)
    RUN(ptx_version, i);
  RUN(two_devices, 0);
  RUN(forked, 0);
  RUN(driver_that_forks, 0);
  RUN(reset, 0);
  for (int i = 1; i <= 6; i++)
    RUN(failing_reset, i);
  for (int i = 1; i <= 24; i++)
    RUN(failing_open, i);
  RUN(threads, 0);
  RUN(at_exit, 0);
  RUN(host, 0);
  return expect_failures != 0;
}
