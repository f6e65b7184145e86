/* Launches with attributes: in clusters, whose blocks are scheduled together and reach each other's
 * shared memory, and such that may begin before the one in front of them has ended. */
#ifndef PYPTX_RUNTIME_LAUNCH_CLUSTER_H
#define PYPTX_RUNTIME_LAUNCH_CLUSTER_H

#include "runtime/launch/launch.h"

static inline int rt_has_attributes(const RtConfig *c) {
  return (c->cluster[0] | c->dependent) != 0;
}
/* as rt_launch_cooperative */
RtStatus rt_launch_attributes(RtKernel *k, const RtConfig *config, void *params);
RtStatus rt_attributes_check(const RtKernel *k, const RtConfig *config);

#endif
