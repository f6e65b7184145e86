/* Proxies: shared memory as asynchronous operations see it, which go another way to memory than
 * threads do: what threads wrote since the last proxy fence is not seen.
 *
 * Stores are not followed. The memory as it was at the block's last proxy fence is kept, and what
 * differs from it has been written since. A fence of any thread counts, as in PTX's memory model,
 * where it may be another's than the writer's, behind a barrier. When it came to the fence is kept,
 * too: who reads what others wrote has met them since. */
#ifndef PYPTX_RUNTIME_HOST_PROXIES_H
#define PYPTX_RUNTIME_HOST_PROXIES_H

#include "runtime/host/block_places.h"

/* A block begins; its place ends. */
void rt_proxy_begin(RtPlace *p);
void rt_proxy_close(RtPlace *p);
/* Some threads have come to a proxy fence (RtProxy.fenced): takes note of the memory, once. */
void rt_proxy_settle(RtPlace *p);
/* An asynchronous operation has written these bytes. */
void rt_proxy_brought(RtPlace *p, const char *at, size_t bytes);
/* How many of these bytes of the block's shared memory, from the first one on, asynchronous
 * operations see as they are. */
size_t rt_proxy_seen(const RtPlace *p, const char *at, size_t bytes);
/* When threads had written what is at this address, and passed a fence; 0: they have not, or an
 * asynchronous operation has since. */
uint32_t rt_proxy_time(const RtPlace *p, const char *at);
/* Do asynchronous operations see these bytes of the block's shared memory as they are? */
bool rt_proxy_sees(const RtPlace *p, const char *at, size_t bytes);

#endif
