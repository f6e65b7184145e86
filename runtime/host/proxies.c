/* Proxies: see proxies.h. */
#include "runtime/host/proxies.h"

#include <stdlib.h>
#include <string.h>

void rt_proxy_begin(RtPlace *p) { p->proxy.known = p->proxy.fenced = false; }

void rt_proxy_close(RtPlace *p) {
  free(p->proxy.seen);
  p->proxy.seen = NULL;
}

void rt_proxy_settle(RtPlace *p) {
  RtProxy *x = &p->proxy;
  if (!x->fenced)
    return;
  x->fenced = false;
  if (!x->seen)
    x->seen = malloc(p->shared_bytes + 1);
  x->known = x->seen != NULL;
  if (x->known)
    memcpy(x->seen, p->shared, p->shared_bytes);
}

bool rt_proxy_sees(const RtPlace *p, const char *at, size_t bytes) {
  return p->proxy.known && memcmp(at, p->proxy.seen + (at - p->shared), bytes) == 0;
}
