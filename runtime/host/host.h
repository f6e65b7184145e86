/* Host: the CPU as a device. A pool of OS threads runs blocks; started at the first launch, sized
 * by the CPUs this process may use (PYPTX_HOST_THREADS overrides, then OMP_NUM_THREADS). A child
 * made by fork starts a pool of its own. */
#ifndef PYPTX_RUNTIME_HOST_HOST_H
#define PYPTX_RUNTIME_HOST_HOST_H

#include "runtime/abi.h"
#include "runtime/host/check_cells.h"
#include "runtime/host/check_rows.h"
#include "runtime/host/safepoint.h"
#include "runtime/launch/launch.h"

/* *block_ns: what a block took in the kernel's last launch, 0 before the first; this one sets
 * it. */
RtStatus rt_host_run(const RtHostCode *code, _Atomic uint32_t *block_ns, const RtConfig *config,
                     const void *params, RtTrap *trap);
/* Most blocks of so many threads that a launch with the grid's barrier can have: they all keep
 * their memory until its end. */
uint32_t rt_host_grid_blocks(const RtHostCode *code, uint64_t threads, uint32_t dynamic_shared);
unsigned rt_host_threads(void);
/* Launches ask it now and then, in the thread that launched: not 0 ends them with RT_INTERRUPTED.
 * Set once, at the beginning. */
void rt_host_ask(int (*ask)(void));

/* Called by compiled host code. block and thread are linear numbers, x fastest. Does not return:
 * the worker gives up its blocks. */
_Noreturn void rt_host_trap(const RtHostLaunch *launch, uint32_t site, uint64_t block,
                            uint32_t thread, int64_t v0, int64_t v1, int64_t v2, int64_t v3);
/* A checked launch has no memory for what it notes: ends it with RT_NO_MEMORY. */
_Noreturn void rt_host_stop_short(const RtHostLaunch *launch);
/* Behind the safepoints of calls.h. Does not return if the launch is to stop. */
void rt_host_at_safepoint_now(uint32_t site);
/* printf of one text, in one write, with conversions of its own: runtime/host/print.c. */
int rt_host_print(const char *format, ...);

#endif
