/* Proxies: see proxies.h. */
#include "runtime/host/proxies.h"

#include <stdlib.h>
#include <string.h>

void rt_proxy_begin(RtPlace *p) { p->proxy.known = p->proxy.fenced = false; }

void rt_proxy_close(RtPlace *p) {
  free(p->proxy.seen);
  p->proxy.seen = NULL;
}

static size_t bytes_of(const RtPlace *p) { return p->cluster->shared_bytes; }

static bool has_memory(RtPlace *p) {
  if (!p->proxy.seen)
    p->proxy.seen = malloc(bytes_of(p) + 1);
  return p->proxy.seen != NULL;
}

void rt_proxy_settle(RtPlace *p) {
  RtProxy *x = &p->proxy;
  if (!x->fenced)
    return;
  x->fenced = false;
  x->known = has_memory(p);
  if (x->known)
    memcpy(x->seen, p->shared, bytes_of(p));
}

void rt_proxy_brought(RtPlace *p, const char *at, size_t bytes) {
  RtProxy *x = &p->proxy;
  if (!x->known) {
    if (!has_memory(p))
      return;
    x->known = true;
    for (size_t k = 0; k < bytes_of(p); k++) /* none of it is seen */
      x->seen[k] = (char)~p->shared[k];
  }
  memcpy(x->seen + (at - p->shared), at, bytes);
}

size_t rt_proxy_seen(const RtPlace *p, const char *at, size_t bytes) {
  const char *seen = p->proxy.seen + (at - p->shared);
  size_t k = 0;
  while (p->proxy.known && k < bytes && seen[k] == at[k])
    k++;
  return k;
}

bool rt_proxy_sees(const RtPlace *p, const char *at, size_t bytes) {
  return rt_proxy_seen(p, at, bytes) == bytes;
}
