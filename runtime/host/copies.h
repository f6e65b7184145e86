/* Copies: mbarriers and asynchronous copies of the blocks on the host.
 *
 * A copy to shared memory is noted where it begins, and its place filled with bytes of 255; it
 * arrives when a thread waits for the barrier, or its own thread for the group, that it comes to.
 * So who reads without waiting reads nan, and bytes that nobody waits for are found at the block's
 * end. A copy from shared memory is done at once. What it reads is kept until the thread waits for
 * it, and must be the same then; and it must be what copies may see: of what threads write, what
 * was there at the last proxy fence. */
#ifndef PYPTX_RUNTIME_HOST_COPIES_H
#define PYPTX_RUNTIME_HOST_COPIES_H

#include "runtime/host/waits.h"

/* What a place has, made at its first use. */
typedef struct RtCopies RtCopies;

/* A block begins; its memory is given back. */
void rt_copies_reset(RtPlace *p);
void rt_copies_free(RtPlace *p);
/* The block has ended: traps if bytes are left that nobody has waited for or that never came, if
 * what stores read has changed, or if operations of a warpgroup are in flight. */
void rt_copies_end(const RtHostLaunch *view, const RtPlace *p);

/* Of a thread that waits: what has been copied to the barrier arrives; may it go on? */
RtMisuse rt_copies_arrive(RtPlace *p, uint64_t operand);
bool rt_copies_phase_over(RtPlace *p, uint32_t thread, uint64_t operand, bool note);
uint32_t rt_copies_barrier(const RtPlace *p, uint64_t operand); /* its number (meetings.h) */
uint32_t rt_copies_values(const RtPlace *p, uint32_t thread, uint64_t operand,
                          int64_t out[RT_TRAP_VALUES]); /* which RtCopyError it is */
/* Is what bulk stores read that have not been waited for as it was? */
RtMisuse rt_copies_compare(const RtPlace *p);

/* Called by compiled host code. site: the first of RtCopyError's. */
void rt_host_mbarrier(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *at,
                      int64_t index, uint32_t op, int64_t number);
/* A fence: copies see the block's barriers that this thread has made, or all. */
void rt_host_barriers_fenced(const RtHostLaunch *view, uint32_t thread, uint32_t all);
/* In front of a wait: traps if it is wrong. */
void rt_host_mbarrier_look(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *at,
                           int64_t index, int64_t parity);
uint32_t rt_host_mbarrier_passed(const RtHostLaunch *view, const char *at, int64_t parity);
void rt_host_copy(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *to,
                  const char *from, uint32_t bytes, int64_t valid);
void rt_host_copy_groups(const RtHostLaunch *view, uint32_t site, uint32_t thread, uint32_t op,
                         int64_t count);
void rt_host_bulk_load(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b);
void rt_host_bulk_store(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b);
/* to, barrier: of a block of the cluster. */
void rt_host_store_async(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *to,
                         const char *values, uint32_t bytes, char *barrier, int64_t index);
void rt_host_tensor_load(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                         const RtTensor *x);
void rt_host_tensor_store(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                          const RtTensor *x);

#endif
