/* Cooperative launches: of kernels that use the grid's barrier, whose blocks are all resident at
 * once. */
#ifndef PYPTX_RUNTIME_LAUNCH_COOPERATIVE_H
#define PYPTX_RUNTIME_LAUNCH_COOPERATIVE_H

#include "runtime/launch/launch.h"

/* Refuses a grid that cannot be resident. The device is current, and what other launches check has
 * been checked. */
RtStatus rt_launch_cooperative(RtKernel *k, const RtConfig *config, char *params);
RtStatus rt_cooperative_check(RtKernel *k, const RtConfig *config);

#endif
