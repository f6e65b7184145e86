/* Calls: functions of compiled host code beside those of the other headers. */
#ifndef PYPTX_RUNTIME_HOST_CALLS_H
#define PYPTX_RUNTIME_HOST_CALLS_H

#include "runtime/abi.h"

/* rt_host_trap of a thread that counts tx on from the blocks before its own along x. */
_Noreturn void rt_host_trap_in_line(const RtHostLaunch *launch, uint32_t site, uint32_t bx,
                                    uint32_t by, uint32_t bz, uint32_t tx, uint32_t thread,
                                    int64_t v0, int64_t v1, int64_t v2, int64_t v3);
/* Where the shared memory at this address is in the block of that rank of the cluster; traps at
 * the site if there is none, at the one behind it if that block has ended, at the third behind it
 * if it is used at once and need not have begun. */
void *rt_host_map_shared(const RtHostLaunch *view, uint32_t site, uint32_t thread, void *address,
                         uint32_t rank, uint32_t at_once);
/* Where rt_host_safepoint is not 0. Does not return if the launch is to stop. On x86-64 it leaves
 * all registers as they are. */
void rt_host_at_safepoint(void);
/* The same in code that is compiled for launches with a timeout: a thread was last at that site. */
void rt_host_at_site(uint32_t site);

#endif
