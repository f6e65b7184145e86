/* The kernels of standin_ptx, as tests of the runtime load and launch them. */
#ifndef PYPTX_TESTS_SUPPORT_KERNELS_H
#define PYPTX_TESTS_SUPPORT_KERNELS_H

#include "runtime/launch/kernel.h"
#include "runtime/memory/memory.h"
#include "tests/unit/support/standin.h"

/* The parameter block of meet(); those of the others are its beginning. */
typedef struct Block {
  uint64_t pointer;
  uint32_t extent, pad;
  uint64_t trap, grid;
} Block;
extern RtField kernel_fields[4];
extern const RtParams no_params, vadd_params, stop_params, meet_params;

int has(const char *text); /* is it in the thread's last error */
RtDevice *gpu(void);       /* number 0 */
/* With a trap, if it has a field for one. */
RtKernel *load(RtDevice *d, const char *symbol, const RtParams *params);
/* On a parameter block of zeros. */
RtStatus try_launch(RtKernel *k, const RtConfig *config);
RtConfig config_of(uint32_t grid, uint32_t block);

#endif
