/* Link: PTX with the code of other modules that it calls, by the driver's linker. */
#ifndef PYPTX_RUNTIME_LAUNCH_LINK_H
#define PYPTX_RUNTIME_LAUNCH_LINK_H

#include "runtime/launch/launch.h"

/* Links, and calls load with what comes of it, which is gone when load has returned. A context is
 * current. */
RtStatus rt_link(const char *symbol, const char *ptx, const RtLinked *with,
                 RtStatus (*load)(void *user, const char *cubin), void *user);

#endif
