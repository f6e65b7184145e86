/* Proxies: shared memory as asynchronous operations see it, which go another way to memory than
 * threads do: what threads wrote since the last proxy fence is not seen.
 *
 * The memory as it was at the block's last proxy fence is kept, and what differs from it has been
 * written since, however. When it came to the fence is kept, too: who reads what others wrote has
 * met them since. Stores of the block's own threads are followed, too: the thread that wrote comes
 * to a fence itself, and who begins a copy or multiplies has met it behind that. Of what copies
 * brought it is kept at which barrier, and when. What threads of another block write here needs a
 * fence of this block, behind the meeting of the cluster. */
#ifndef PYPTX_RUNTIME_HOST_PROXIES_H
#define PYPTX_RUNTIME_HOST_PROXIES_H

#include "runtime/host/block_places.h"

/* A block begins; its place ends. */
void rt_proxy_begin(RtPlace *p);
void rt_proxy_close(RtPlace *p);
/* A thread has come to a proxy fence. */
void rt_proxy_come(RtPlace *p, uint32_t thread);
/* Some threads have come to a proxy fence (RtProxy.fenced): takes note of the memory, once. */
void rt_proxy_settle(RtPlace *p);
/* An asynchronous operation that comes to a barrier (meetings.h) has written these bytes. */
void rt_proxy_brought(RtPlace *p, const char *at, size_t bytes, uint32_t barrier);
/* The last one that wrote in the piece of 16 bytes at this address; NULL: none has. */
const RtBrought *rt_proxy_copied(const RtPlace *p, const char *at);
/* A copy that counts as a thread's writes has written these bytes. */
void rt_proxy_copied_by_thread(RtPlace *p, const char *at, size_t bytes);
/* How many of these bytes of the block's shared memory, from the first one on, asynchronous
 * operations see as they are. */
size_t rt_proxy_seen(const RtPlace *p, const char *at, size_t bytes);
/* When threads had written what is at this address, and passed a fence; 0: they have not, or an
 * asynchronous operation has since. */
uint32_t rt_proxy_time(const RtPlace *p, const char *at);
/* Do asynchronous operations see these bytes of the block's shared memory as they are? */
bool rt_proxy_sees(const RtPlace *p, const char *at, size_t bytes);

/* A thread of p writes these bytes of its block's shared memory, or of another one's. */
void rt_proxy_wrote(RtPlace *p, const char *at, uint32_t thread, uint32_t line, uint32_t bytes);
/* Who wrote this byte; NULL: no thread, or a copy has since. Of several bytes, one whose thread has
 * come to no fence since; NULL: there is none. */
const RtWritten *rt_proxy_written(const RtPlace *p, const char *at);
const RtWritten *rt_proxy_unfenced(const RtPlace *p, const char *at, size_t bytes);

#endif
