/* Proxies: see proxies.h. */
#include "runtime/host/proxies.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/waits.h"

enum { PIECE = 16 };

void rt_proxy_begin(RtPlace *p) { p->proxy.known = p->proxy.fenced = false; }

void rt_proxy_close(RtPlace *p) {
  free(p->proxy.seen);
  free(p->proxy.when);
  p->proxy.seen = NULL, p->proxy.when = NULL;
}

static size_t bytes_of(const RtPlace *p) { return p->cluster->shared_bytes; }

static size_t pieces_of(const RtPlace *p) { return (bytes_of(p) + PIECE - 1) / PIECE; }

static bool has_memory(RtPlace *p) {
  RtProxy *x = &p->proxy;
  if (!x->seen)
    x->seen = malloc(pieces_of(p) * PIECE + 1);
  if (!x->when)
    x->when = malloc((pieces_of(p) + 1) * sizeof *x->when);
  return x->seen && x->when;
}

/* Takes note of what differs, or of all. */
static void note(RtPlace *p, bool all) {
  RtProxy *x = &p->proxy;
  uint32_t now = rt_wait_time(p);
  for (size_t k = 0, n = bytes_of(p); k * PIECE < n; k++) {
    const char *at = p->shared + k * PIECE;
    size_t bytes = n - k * PIECE < PIECE ? n - k * PIECE : PIECE;
    if (all || memcmp(x->seen + k * PIECE, at, bytes) != 0) {
      memcpy(x->seen + k * PIECE, at, bytes);
      x->when[k] = now;
    }
  }
}

void rt_proxy_settle(RtPlace *p) {
  RtProxy *x = &p->proxy;
  if (!x->fenced)
    return;
  x->fenced = false;
  if (!has_memory(p))
    return;
  note(p, !x->known);
  x->known = true;
}

void rt_proxy_brought(RtPlace *p, const char *at, size_t bytes) {
  RtProxy *x = &p->proxy;
  if (!x->known) {
    if (!has_memory(p))
      return;
    x->known = true;
    memset(x->when, 0, pieces_of(p) * sizeof *x->when);
    for (size_t k = 0; k < bytes_of(p); k++) /* none of it is seen */
      x->seen[k] = (char)~p->shared[k];
  }
  size_t first = (size_t)(at - p->shared);
  memcpy(x->seen + first, at, bytes);
  for (size_t k = first / PIECE; k * PIECE < first + bytes; k++)
    x->when[k] = 0;
}

uint32_t rt_proxy_time(const RtPlace *p, const char *at) {
  return p->proxy.known ? p->proxy.when[(size_t)(at - p->shared) / PIECE] : 0;
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
