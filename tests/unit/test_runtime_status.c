/* Every CUresult has a text, a remedy and its class; results newer than the
 * table are asked from the driver. */
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/device.h"
#include "runtime/internal.h"
#include "tests/unit/support/standin.h"

static const struct {
  int code;
  RtStatus status;
  const char *name, *what, *remedy;
} rows[] = {
#define RESULT(code, NAME, status, what, remedy) {code, status, "CUDA_" #NAME, what, remedy},
#include "runtime/status.def"
#undef RESULT
};
enum { ROWS = sizeof rows / sizeof *rows };

static void check_rows(void) {
  for (int i = 1; i < ROWS; i++) {
    EXPECT(rows[i].code > rows[i - 1].code);
    EXPECT(rt_driver_status(rows[i].code, "cuSomething") == rows[i].status);
    const RtError *e = rt_error();
    EXPECT(e->status == rows[i].status && e->result == rows[i].code);
    EXPECT(strcmp(e->result_name, rows[i].name) == 0 && strcmp(e->call, "cuSomething") == 0);
    EXPECT(strstr(e->text, rows[i].what) && strstr(e->text, rows[i].name) &&
           strncmp(e->text, "cuSomething: ", 13) == 0);
    EXPECT(strcmp(e->remedy, rows[i].remedy) == 0); /* it is not cut off */
    EXPECT(*e->remedy);
  }
}

static void check_others(void) {
  EXPECT(rt_driver_status(0, "cuInit") == RT_OK);
  EXPECT(rt_driver_status(4242, "cuInit") == RT_FAILED); /* no driver is open */
  EXPECT(*rt_error()->result_name == 0 && strstr(rt_error()->text, "4242"));
  EXPECT(rt_driver_status_of(701, "cuLaunchKernel", "vadd") == RT_BAD_LAUNCH);
  EXPECT(strncmp(rt_error()->text, "kernel 'vadd': cuLaunchKernel: ", 31) == 0);
  EXPECT(rt_fail(RT_BAD_ARGUMENT, "do %s", "n is %d", 3) == RT_BAD_ARGUMENT);
  EXPECT(strcmp(rt_error()->text, "n is 3") == 0 && strcmp(rt_error()->remedy, "do %s") == 0);
  EXPECT(rt_error()->result == 0 && *rt_error()->result_name == 0 && *rt_error()->call == 0);
  char long_text[2000];
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = 0;
  rt_fail(RT_FAILED, long_text, "%s", long_text);
  EXPECT(strlen(rt_error()->text) == sizeof rt_error()->text - 1 &&
         strlen(rt_error()->remedy) == sizeof rt_error()->remedy - 1);
}

static void check_sizes(void) {
  char text[32];
  EXPECT(strcmp(rt_size_text(0, text), "0 bytes") == 0);
  EXPECT(strcmp(rt_size_text(1023, text), "1023 bytes") == 0);
  EXPECT(strcmp(rt_size_text(1536, text), "1.5 KB") == 0);
  EXPECT(strcmp(rt_size_text((uint64_t)3 << 30, text), "3.0 GB") == 0);
  EXPECT(strcmp(rt_size_text((uint64_t)1 << 60, text), "1048576.0 TB") == 0);
}

static void future_result(int n) {
  (void)n;
  int count;
  standin_open(1);
  EXPECT(rt_gpu_count(&count) == RT_OK);
  EXPECT(rt_driver_status(4242, "cuInit") == RT_FAILED);
  EXPECT(strcmp(rt_error()->result_name, "CUDA_ERROR_FROM_THE_FUTURE") == 0 &&
         strstr(rt_error()->text, "a newer driver's error"));
}

int main(void) {
  check_rows();
  check_others();
  check_sizes();
  expect_failures += scenario("future result", future_result, 0);
  return expect_failures != 0;
}
