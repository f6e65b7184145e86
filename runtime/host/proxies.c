/* Proxies: see proxies.h. */
#include "runtime/host/proxies.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/waits.h"

enum { PIECE = 16 };

/* None of these bytes is noted; none is open. */
static void close_range(RtProxy *x) { x->open = SIZE_MAX, x->open_end = 0; }

static void forget(RtProxy *x, size_t first, size_t end) {
  if (x->written && first < end)
    memset(x->written + first, 0, (end - first) * sizeof *x->written);
}

static size_t bytes_of(const RtPlace *p) { return p->cluster->shared_bytes; }

static size_t pieces_of(const RtPlace *p) { return (bytes_of(p) + PIECE - 1) / PIECE; }

void rt_proxy_begin(RtPlace *p) {
  RtProxy *x = &p->proxy;
  x->known = x->fenced = false;
  forget(x, x->first, x->end);
  x->first = SIZE_MAX, x->end = 0;
  close_range(x);
  if (x->brought)
    memset(x->brought, 0, pieces_of(p) * sizeof *x->brought);
  if (x->come)
    memset(x->come, 0, p->threads * sizeof *x->come);
}

void rt_proxy_close(RtPlace *p) {
  free(p->proxy.seen);
  free(p->proxy.when);
  free(p->proxy.come);
  free(p->proxy.written);
  free(p->proxy.brought);
  p->proxy = (RtProxy){0};
}

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

void rt_proxy_come(RtPlace *p, uint32_t thread) {
  RtProxy *x = &p->proxy;
  x->fenced = true;
  if (!x->come)
    x->come = calloc(p->threads, sizeof *x->come);
  if (x->come)
    x->come[thread] = true;
}

/* What threads that have come had written. */
static void fence_written(RtPlace *p) {
  RtProxy *x = &p->proxy;
  size_t first = x->open, end = x->open_end;
  if (!x->come)
    return;
  uint32_t now = rt_wait_time(p);
  close_range(x);
  for (size_t k = first; k < end; k++) {
    RtWritten *w = &x->written[k];
    if (!w->by || w->when)
      continue;
    if (x->come[w->by - 1]) {
      w->when = now;
    } else {
      x->open = k < x->open ? k : x->open;
      x->open_end = k + 1;
    }
  }
  memset(x->come, 0, p->threads * sizeof *x->come);
}

void rt_proxy_settle(RtPlace *p) {
  RtProxy *x = &p->proxy;
  if (!x->fenced)
    return;
  x->fenced = false;
  fence_written(p);
  if (!has_memory(p))
    return;
  note(p, !x->known);
  x->known = true;
}

static void note_copy(RtPlace *p, size_t first, size_t end, uint32_t barrier) {
  RtProxy *x = &p->proxy;
  if (!x->brought)
    x->brought = calloc(pieces_of(p) + 1, sizeof *x->brought);
  RtBrought now = {.when = rt_wait_time(p), .at = barrier};
  for (size_t k = first / PIECE; x->brought && k * PIECE < end; k++)
    x->brought[k] = now;
}

const RtBrought *rt_proxy_copied(const RtPlace *p, const char *at) {
  const RtBrought *b = p->proxy.brought;
  size_t k = (size_t)(at - p->shared) / PIECE;
  return b && b[k].when ? &b[k] : NULL;
}

void rt_proxy_copied_by_thread(RtPlace *p, const char *at, size_t bytes) {
  size_t first = (size_t)(at - p->shared);
  forget(&p->proxy, first, first + bytes);
}

void rt_proxy_brought(RtPlace *p, const char *at, size_t bytes, uint32_t barrier) {
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
  forget(x, first, first + bytes);
  note_copy(p, first, first + bytes, barrier);
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

/* --- who wrote what --- */

const RtWritten *rt_proxy_written(const RtPlace *p, const char *at) {
  const RtWritten *w = p->proxy.written;
  return w && w[at - p->shared].by ? &w[at - p->shared] : NULL;
}

const RtWritten *rt_proxy_unfenced(const RtPlace *p, const char *at, size_t bytes) {
  const RtProxy *x = &p->proxy;
  size_t first = (size_t)(at - p->shared);
  for (size_t k = first; k < first + bytes && x->open < x->open_end; k++)
    if (x->written[k].by && !x->written[k].when)
      return &x->written[k];
  return NULL;
}

void rt_proxy_wrote(RtPlace *p, const char *at, uint32_t thread, uint32_t line, uint32_t bytes) {
  RtPlace *m = rt_cluster_owner(p, at);
  RtProxy *x = &m->proxy;
  size_t first = (size_t)(at - m->shared), all = bytes_of(m);
  if (at < m->shared || first + bytes > all)
    return;
  if (p != m) {
    forget(x, first, first + bytes);
    return;
  }
  if (!x->written)
    x->written = calloc(all, sizeof *x->written);
  if (!x->written)
    return;
  RtWritten now = {.by = (uint16_t)(1 + thread), .line = line};
  for (size_t k = first; k < first + bytes; k++)
    x->written[k] = now;
  size_t end = first + bytes;
  x->first = first < x->first ? first : x->first, x->end = end > x->end ? end : x->end;
  x->open = first < x->open ? first : x->open, x->open_end = end > x->open_end ? end : x->open_end;
}
