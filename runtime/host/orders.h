/* Orders: who reads and writes which words of shared memory, in code whose threads meet at more
 * than plain barriers. Who reads what another thread wrote, or a copy brought, has met it since,
 * and so has who writes, or begins a copy to, what another one has read (meetings.h).
 *
 * Of a word the last few uses are kept; those that are forgotten are not complained of. */
#ifndef PYPTX_RUNTIME_HOST_ORDERS_H
#define PYPTX_RUNTIME_HOST_ORDERS_H

#include "runtime/host/block_places.h"

/* A block begins; its place ends. */
void rt_orders_begin(RtPlace *p);
void rt_orders_close(RtPlace *p);
/* A copy that its own thread waits for (cp_async) has arrived: others have to meet that thread. */
void rt_orders_copied(RtPlace *p, const char *at, size_t bytes, uint32_t thread);
/* A use of these bytes of m's memory that a thread of p does not know of, before it begins a copy
 * to there; NULL: there is none. *wrote: it is no reading. */
const RtUse *rt_orders_unknown(const RtPlace *p, uint32_t thread, RtPlace *m, const char *at,
                               size_t bytes, bool *wrote);

/* Called by compiled host code. A thread reads, or writes (how: RT_STORE_OTHER …), shared memory of
 * its block or another one. site: the first of RtOrderError's. */
void rt_host_reads(const RtHostLaunch *view, const char *at, uint32_t thread, uint32_t line,
                   uint32_t bytes, uint32_t site);
void rt_host_wrote(const RtHostLaunch *view, const char *at, uint32_t thread, uint32_t line,
                   uint32_t bytes, uint32_t site, uint32_t how);
/* What the thread reads here it may have waited for: it counts as having met all. */
void rt_host_acquires(const RtHostLaunch *view, uint32_t thread);

#endif
