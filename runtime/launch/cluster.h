/* Cluster launches: blocks that are scheduled together and reach each other's shared memory. */
#ifndef PYPTX_RUNTIME_LAUNCH_CLUSTER_H
#define PYPTX_RUNTIME_LAUNCH_CLUSTER_H

#include "runtime/launch/launch.h"

/* as rt_launch_cooperative */
RtStatus rt_launch_cluster(RtKernel *k, const RtConfig *config, void *params);
RtStatus rt_cluster_check(const RtKernel *k, const RtConfig *config);

#endif
