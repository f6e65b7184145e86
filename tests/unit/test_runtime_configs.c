/* Launch configurations: what no device takes, and what a kernel's threads, registers and shared
 * memory leave no room for. */
#include <stdint.h>

#include "runtime/driver/context.h"
#include "tests/unit/support/kernels.h"
#include "tests/unit/support/load.h"

static const struct {
  RtConfig config;
  const char *text;
} bad_configs[] = {
    {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, "grid (0, 1, 1) has a zero extent"},
    {{.grid = {1, 1, 0}, .block = {1, 1, 1}}, "grid (1, 1, 0) has a zero extent"},
    {{.grid = {1, 1, 1}, .block = {1, 0, 1}}, "block (1, 0, 1) has a zero extent"},
    {{.grid = {1, 1, 1}, .block = {2000, 1, 1}}, "2000 threads a block"},
    {{.grid = {1, 1, 1}, .block = {64, 64, 1}}, "4096 threads a block"},
    {{.grid = {1, 1, 1}, .block = {65536, 65536, 65536}}, "threads a block"},
    {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, "block (1, 1, 65) is too large"},
    {{.grid = {1, 65536, 1}, .block = {1, 1, 1}}, "grid (1, 65536, 1) is too large"},
    {{.grid = {1, 1, 65536}, .block = {1, 1, 1}}, "grid (1, 1, 65536) is too large"},
    {{.grid = {UINT32_MAX, 1, 1}, .block = {1, 1, 1}}, "is too large"},
    {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 232449},
     "232449 bytes of dynamic shared memory"},
};

static void check_configs(RtKernel *k) {
  Block b = {0};
  for (size_t i = 0; i < sizeof bad_configs / sizeof *bad_configs; i++) {
    EXPECT(rt_launch(k, &bad_configs[i].config, &b, NULL) == RT_BAD_LAUNCH);
    EXPECT(has(bad_configs[i].text) && has("kernel 'vadd'") && *rt_error()->remedy);
  }
}

static void configs(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  RtDevice *d = gpu(), *other;
  RtKernel *k = load(d, "vadd", &vadd_params);
  control->forget();
  check_configs(k);
  EXPECT(control->calls(NULL) == 0);
  RtConfig most = {
      .grid = {INT32_MAX, 65535, 65535}, .block = {16, 1, 64}, .dynamic_shared = 232448};
  EXPECT(try_launch(k, &most) == RT_OK);
  rt_kernel_release(k);

  control->set_attribute(CU_FUNC_MAX_THREADS, 512);
  control->set_attribute(CU_FUNC_SHARED, 1000);
  k = load(d, "vadd", &vadd_params);
  RtConfig c = config_of(1, 513);
  EXPECT(try_launch(k, &c) == RT_BAD_LAUNCH && has("513 threads") && has("32 registers") &&
         has("512"));
  c = config_of(1, 512);
  c.dynamic_shared = 232448 - 1000;
  EXPECT(try_launch(k, &c) == RT_OK);
  c.dynamic_shared++;
  EXPECT(try_launch(k, &c) == RT_BAD_LAUNCH && has("1000 static bytes"));
  RtStream *s;
  Block b = {0};
  c.dynamic_shared = 0;
  EXPECT(rt_device_open(1, &other) == RT_OK && rt_stream_new(other, &s) == RT_OK);
  c.stream = s;
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_ARGUMENT && has("Stand-in GPU 1"));
  rt_stream_release(s);
  rt_kernel_release(k);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void dynamic_shared(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtKernel *k = load(d, "vadd", &vadd_params);
  RtConfig c = config_of(1, 1);
  Block b = {0};
  c.dynamic_shared = 49152;
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->calls("cuFuncSetAttribute") == 0);
  c.dynamic_shared = 100000;
  control->fail("cuFuncSetAttribute", 1, 1);
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_BAD_ARGUMENT && has("cuFuncSetAttribute") && has("vadd"));
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK);
  c.dynamic_shared = 232448;
  EXPECT(rt_launch(k, &c, &b, NULL) == RT_OK && control->calls("cuFuncSetAttribute") == 2);
  rt_kernel_release(k);
  EXPECT(control->misuse() == 0);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(configs, 0);
  RUN(dynamic_shared, 0);
  return expect_failures != 0;
}
