/* Orders: see orders.h. */
#include "runtime/host/orders.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/flights.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/meetings.h"
#include "runtime/host/proxies.h"
#include "runtime/host/waits.h"
#include "runtime/host/warpgroups.h"

enum { WORD = 4, WARP = 32, PIECE = 16, SEVERAL = UINT16_MAX };

static size_t words_of(const RtPlace *p) { return (p->cluster->shared_bytes + WORD - 1) / WORD; }

void rt_orders_begin(RtPlace *p) {
  p->orders.number++;
  memset(p->orders.known, 0, sizeof p->orders.known);
}

void rt_orders_close(RtPlace *p) {
  free(p->orders.words);
  p->orders = (RtOrders){0};
}

/* --- who knows what --- */

/* Threads that know what has come to a barrier, or what a thread did, at that time; what is known
 * grows, so that the answer is kept. */
static bool knows(RtPlace *p, uint32_t thread, bool barrier, uint32_t what, uint32_t time) {
  RtKnown *k = &p->orders.known[(what ^ time) % RT_KNOWN];
  bool same = k->what == what + 1 && k->time == time && k->barrier == barrier;
  if (same && rt_threads_have(&k->threads, thread))
    return true;
  *k = (RtKnown){.what = what + 1, .time = time, .barrier = barrier};
  if (barrier)
    rt_meeting_told_at(p, what, time, &k->threads);
  else
    rt_meeting_told(p, what, 1, time, &k->threads);
  return rt_threads_have(&k->threads, thread);
}

/* The same of a thread of another block. */
static bool has_been_told(const RtPlace *p, uint32_t thread, const RtPlace *q, bool barrier,
                          uint32_t what, uint32_t time) {
  time = rt_meeting_told_others(q, barrier, what, time);
  return time && (p->all_met > time || p->met[thread] > time || p->met_outside[thread] > time ||
                  p->warp_met[thread / WARP] > time);
}

static bool knows_use(const RtPlace *p, uint32_t thread, const RtUse *u) {
  RtPlace *q = rt_cluster_member(p->cluster, u->rank);
  uint32_t by = u->by - 1u;
  if (u->by == SEVERAL || p->met_outside[thread] > u->time)
    return true;
  if (q != p)
    return has_been_told(p, thread, q, false, by, u->time);
  return by == thread || p->all_met > u->time ||
         (by / WARP == thread / WARP && p->warp_met[thread / WARP] > u->time) ||
         knows(q, thread, false, by, u->time);
}

/* What copies have brought to these bytes of m's memory. */
static bool knows_copies(const RtPlace *p, uint32_t thread, RtPlace *m, const char *at,
                         size_t bytes) {
  size_t first = (size_t)(at - m->shared) / PIECE, end = (size_t)(at - m->shared) + bytes;
  for (size_t k = first; k * PIECE < end; k++) {
    const RtBrought *b = rt_proxy_copied(m, m->shared + k * PIECE);
    if (!b || p->met_outside[thread] > b->when || p->all_met > b->when)
      continue;
    if (p == m ? !knows(m, thread, true, b->at, b->when)
               : !has_been_told(p, thread, m, true, b->at, b->when))
      return false;
  }
  return true;
}

/* --- words --- */

static RtWord *words_at(RtPlace *m, const char *at) {
  if (!m->orders.words)
    m->orders.words = calloc(words_of(m) + 1, sizeof *m->orders.words);
  return m->orders.words ? m->orders.words + (size_t)(at - m->shared) / WORD : NULL;
}

static bool is_of(const RtPlace *m, const RtWord *w) { return w->number == m->orders.number; }

static RtWord *of_block(const RtPlace *m, RtWord *w) {
  if (!is_of(m, w))
    *w = (RtWord){.number = m->orders.number};
  return w;
}

/* Bits of the bytes of word k, from the one at `at` on, that an access has. */
static uint8_t bytes_in(size_t k, const char *at, size_t bytes, const RtPlace *m) {
  size_t begin = (size_t)(at - m->shared), end = begin + bytes, word = (begin / WORD + k) * WORD;
  unsigned low = begin > word ? (unsigned)(begin - word) : 0,
           high = end < word + WORD ? (unsigned)(end - word) : WORD;
  return (uint8_t)((1u << high) - (1u << low));
}

static size_t nwords(const char *at, size_t bytes, const RtPlace *m) {
  size_t begin = (size_t)(at - m->shared);
  return (begin + bytes + WORD - 1) / WORD - begin / WORD;
}

/* One of the uses, of which none is of all these bytes and known, that the thread does not know. */
static const RtUse *unknown(const RtPlace *p, uint32_t thread, const RtUse *uses, unsigned n,
                            uint8_t mask, bool atomic) {
  for (unsigned k = 0; k < n; k++)
    if (uses[k].by && uses[k].bytes & mask && !(atomic && uses[k].atomic) &&
        !knows_use(p, thread, &uses[k]))
      return &uses[k];
  return NULL;
}

/* Where a use is kept: in place of one of the same thread that it covers, an empty one, or one of
 * the warp; else of any. */
static void keep(RtUse *uses, unsigned n, RtUse u) {
  unsigned at = (u.by - 1u) / WARP % n;
  bool found = false;
  for (unsigned k = 0; k < n && !found; k++)
    if (uses[k].by == u.by && uses[k].rank == u.rank && uses[k].atomic == u.atomic &&
        (uses[k].time == u.time || !(uses[k].bytes & ~u.bytes)))
      at = k, found = true;
  for (unsigned k = 0; k < n && !found; k++)
    if (!uses[k].by)
      at = k, found = true;
  if (uses[at].by == u.by && uses[at].rank == u.rank && uses[at].time == u.time)
    u.bytes |= uses[at].bytes;
  uses[at] = u;
}

void rt_orders_copied(RtPlace *p, const char *at, size_t bytes, uint32_t thread) {
  RtWord *w = words_at(p, at);
  RtUse u = {.time = rt_meeting_now(p, thread),
             .by = (uint16_t)(1 + thread),
             .rank = (uint8_t)p->rank,
             .bytes = 15};
  for (size_t k = 0, n = nwords(at, bytes, p); w && k < n; k++)
    *of_block(p, &w[k]) = (RtWord){.number = p->orders.number, .wrote = {u}};
}

const RtUse *rt_orders_unknown(const RtPlace *p, uint32_t thread, RtPlace *m, const char *at,
                               size_t bytes, bool *wrote) {
  RtWord *w = m->orders.words ? words_at(m, at) : NULL;
  const RtUse *u = NULL;
  for (size_t k = 0, n = nwords(at, bytes, m); w && !u && k < n; k++) {
    if (!is_of(m, &w[k]))
      continue;
    u = unknown(p, thread, w[k].read, RT_READERS, 15, false);
    *wrote = !u;
    u = u ? u : unknown(p, thread, w[k].wrote, RT_WRITERS, 15, false);
  }
  return u;
}

/* --- uses --- */

_Noreturn static void wrong(const RtHostLaunch *view, uint32_t site, RtOrderError error,
                            uint32_t thread, const RtUse *u) {
  rt_host_trap(view, site + error, rt_host_place(view)->block, thread, u ? u->by - 1 : 0,
               u ? u->line : 0, 0, 0);
}

/* The block whose memory it is; NULL: it is not followed. */
static RtPlace *followed(const RtHostLaunch *view, const char *at, uint32_t bytes) {
  RtPlace *p = rt_host_place(view);
  if (!p || !p->cluster || !p->met)
    return NULL;
  RtPlace *m = rt_cluster_owner(p, at);
  bool inside = at >= m->shared && (size_t)(at - m->shared) + bytes <= p->cluster->shared_bytes;
  return inside ? m : NULL;
}

static RtUse use_of(RtPlace *p, uint32_t thread, uint32_t line) {
  return (RtUse){.time = rt_meeting_now(p, thread),
                 .line = line,
                 .by = (uint16_t)(1 + thread),
                 .rank = (uint8_t)p->rank};
}

void rt_host_reads(const RtHostLaunch *view, const char *at, uint32_t thread, uint32_t line,
                   uint32_t bytes, uint32_t site) {
  RtPlace *p = rt_host_place(view), *m = followed(view, at, bytes);
  RtWord *w = m ? words_at(m, at) : NULL;
  if (!w)
    return;
  if (rt_is_in_flight(m, at, bytes))
    wrong(view, site, RT_ORDER_COMING, thread, NULL);
  if (!knows_copies(p, thread, m, at, bytes))
    wrong(view, site, RT_ORDER_NOT_WAITED, thread, NULL);
  RtUse now = use_of(p, thread, line);
  for (size_t k = 0, n = nwords(at, bytes, m); k < n; k++) {
    RtWord *word = of_block(m, &w[k]);
    now.bytes = bytes_in(k, at, bytes, m);
    const RtUse *u = unknown(p, thread, word->wrote, RT_WRITERS, now.bytes, false);
    if (u)
      wrong(view, site, u->line ? RT_ORDER_WRITTEN : RT_ORDER_COPIED, thread, u);
    keep(word->read, RT_READERS, now);
  }
}

/* Writes of one value by several threads are no mistake: it is nobody's then. In one line they may
 * be lanes of a vector, of which all have come before one writes. */
static void note_write(RtWord *word, const RtPlace *p, RtUse now, bool same) {
  const RtUse *u = unknown(p, now.by - 1u, word->wrote, RT_WRITERS, now.bytes, now.atomic);
  if (u && (same || u->line == now.line))
    now.by = SEVERAL;
  for (unsigned k = 0; !now.atomic && k < RT_WRITERS; k++) {
    word->wrote[k].bytes &= (uint8_t)~now.bytes;
    if (!word->wrote[k].bytes)
      word->wrote[k].by = 0;
  }
  keep(word->wrote, RT_WRITERS, now);
}

void rt_host_wrote(const RtHostLaunch *view, const char *at, uint32_t thread, uint32_t line,
                   uint32_t bytes, uint32_t site, uint32_t how) {
  RtPlace *p = rt_host_place(view), *m = followed(view, at, bytes);
  if (!m)
    return;
  rt_proxy_wrote(p, at, thread, line, bytes);
  const RtEndedReading *r = rt_warpgroups_untold(p, thread, at, bytes);
  if (r)
    rt_host_trap(view, r->site + RT_WARPGROUP_REWRITTEN + r->which, p->block, thread, line, 0, 0,
                 0);
  RtWord *w = words_at(m, at);
  RtUse now = use_of(p, thread, line);
  now.atomic = how == RT_STORE_ATOMIC;
  for (size_t k = 0, n = nwords(at, bytes, m); w && k < n; k++) {
    RtWord *word = of_block(m, &w[k]);
    now.bytes = bytes_in(k, at, bytes, m);
    const RtUse *u =
        how == RT_STORE_SAME ? NULL : unknown(p, thread, word->read, RT_READERS, now.bytes, false);
    if (u)
      wrong(view, site, RT_ORDER_READ, thread, u);
    note_write(word, p, now, how == RT_STORE_SAME);
  }
}

void rt_host_acquires(const RtHostLaunch *view, uint32_t thread) {
  RtPlace *p = rt_host_place(view);
  if (p && p->cluster)
    rt_wait_met(p, thread);
}
