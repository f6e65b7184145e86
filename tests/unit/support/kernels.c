#include "tests/unit/support/kernels.h"
#include "tests/unit/support/load.h"

#include <string.h>

RtField kernel_fields[4] = {
    {.kind = RT_FIELD_POINTER, .size = 8, .offset = 0},
    {.kind = RT_FIELD_EXTENT32, .size = 4, .offset = 8},
    {.kind = RT_FIELD_TRAP, .size = 8, .offset = 16},
    {.kind = RT_FIELD_GRID, .size = 8, .offset = 24},
};
const RtParams no_params = {.bytes = 0},
               vadd_params = {.fields = kernel_fields, .nfields = 2, .bytes = 12},
               stop_params = {.fields = kernel_fields, .nfields = 3, .bytes = 24},
               meet_params = {.fields = kernel_fields, .nfields = 4, .bytes = 32};

int has(const char *text) { return strstr(rt_error()->text, text) != NULL; }

RtDevice *gpu(void) {
  RtDevice *d = NULL;
  EXPECT(rt_device_open(0, &d) == RT_OK);
  return d;
}

RtKernel *load(RtDevice *d, const char *symbol, const RtParams *params) {
  RtKernel *k = NULL;
  EXPECT(load_kernel(d, standin_ptx, strlen(standin_ptx), symbol, params, params->nfields > 2,
                     &k) == RT_OK);
  return k;
}

RtStatus try_launch(RtKernel *k, const RtConfig *config) {
  Block block = {0};
  return rt_launch(k, config, &block, NULL);
}

RtConfig config_of(uint32_t grid, uint32_t block) {
  return (RtConfig){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
}
