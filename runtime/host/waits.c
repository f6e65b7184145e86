/* Waits: see waits.h. The blocks of a cluster take turns on one thread of the process, so nothing
 * here is atomic. */
#include "runtime/host/waits.h"

#include "runtime/host/copies.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/flights.h"
#include "runtime/host/host.h"
#include "runtime/host/meetings.h"
#include "runtime/host/orders.h"
#include "runtime/host/proxies.h"
#include "runtime/host/registers.h"
#include "runtime/host/warpgroups.h"

enum { WARP = 32, MOST_IN_VAIN = 1 << 14 };

/* --- named barriers: PTX ISA, barrier.cta, but that threads count one by one --- */

static RtMisuse come(RtPlace *p, uint32_t thread, bool waits, uint32_t number, uint32_t threads) {
  RtNamedBarrier *b = &p->barriers[number % RT_NAMED_BARRIERS];
  bool valid = number && number < RT_NAMED_BARRIERS && threads && threads % WARP == 0;
  bool other = valid && b->arrived && b->threads != threads;
  if (!valid || other)
    return (RtMisuse){.wrong = 1,
                      .values = {number, threads, b->arrived, b->arrived ? b->threads : 0}};
  b->threads = threads;
  rt_meeting_arrives(p, number, thread);
  if (waits)
    rt_threads_put(&b->waited, thread);
  if (++b->arrived == threads) {
    rt_meeting_is_over(p, number);
    rt_meeting_lets_all_go(p, number, &b->waited);
    *b = (RtNamedBarrier){.phase = b->phase + 1};
  }
  return (RtMisuse){0};
}

static RtMisuse begin_barrier(RtPlace *p, uint32_t thread, uint32_t *what, uint64_t *operand) {
  uint32_t number = (uint32_t)*operand, phase = p->barriers[number % RT_NAMED_BARRIERS].phase;
  bool waits = *what == RT_WAIT_BARRIER_SYNC;
  RtMisuse m = come(p, thread, waits, number, (uint32_t)(*operand >> 32));
  if (*what == RT_WAIT_BARRIER_SYNC) {
    *what = RT_WAIT_BARRIER;
    *operand = number | (uint64_t)phase << 32;
  }
  return m;
}

/* --- clusters: PTX ISA, barrier.cluster --- */

static uint32_t exited(const RtCluster *c) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->blocks; k++) {
    const char *member = (const char *)c->first + k * c->stride;
    n += ((const RtPlace *)(const void *)member)->exited;
  }
  return n;
}

static void complete(RtCluster *c) {
  if (c->arrived && c->arrived + exited(c) >= c->threads) {
    c->arrived = 0;
    c->phase++;
    for (uint32_t k = 0; k < c->blocks; k++) {
      RtPlace *m = rt_cluster_member(c, k);
      m->exited += m->exited_behind, m->exited_behind = 0;
      rt_meeting_is_over(m, RT_AT_CLUSTER);
    }
  }
}

static RtMisuse arrive(RtPlace *p, uint32_t thread) {
  RtCluster *c = p->cluster;
  if (p->arrived_in[thread])
    return (RtMisuse){.wrong = 1};
  p->arrived_in[thread] = c->phase + 1;
  c->arrived++;
  rt_meeting_arrives(p, RT_AT_CLUSTER, thread);
  complete(c);
  return (RtMisuse){0};
}

/* --- both --- */

RtMisuse rt_wait_begin(RtPlace *p, uint32_t thread, uint32_t *what, uint64_t *operand) {
  RtMisuse m;
  switch (*what) {
  case RT_WAIT_BARRIER_SYNC:
  case RT_WAIT_BARRIER_ARRIVE: return begin_barrier(p, thread, what, operand);
  case RT_WAIT_CLUSTER_SYNC:
    m = arrive(p, thread);
    *what = RT_WAIT_CLUSTER;
    *operand = 1; /* it has arrived */
    return m;
  case RT_WAIT_CLUSTER_ARRIVE: return arrive(p, thread);
  case RT_WAIT_CLUSTER:
    m = (RtMisuse){.wrong = !*operand && !p->arrived_in[thread]};
    *operand = 1;
    return m;
  case RT_WAIT_PROXY: rt_proxy_come(p, thread); return (RtMisuse){0};
  case RT_WAIT_REGISTERS:
    *what = RT_WAIT_IN_REGISTERS;
    return rt_registers_come(p, thread, operand);
  case RT_WAIT_WARPGROUP:
    *what = RT_WAIT_IN_WARPGROUP;
    return rt_warpgroup_come(p, thread, operand);
  case RT_WAIT_PHASE:
  case RT_WAIT_TRY:
    p->cluster->tries |= *what == RT_WAIT_TRY;
    *what = *what == RT_WAIT_PHASE ? RT_WAIT_PHASE_ON : RT_WAIT_TRY_ON; /* fall through */
  case RT_WAIT_PHASE_ON:
  case RT_WAIT_TRY_ON: return rt_copies_arrive(p, *operand);
  default: return (RtMisuse){0}; /* it has come before */
  }
}

RtMisuse rt_wait_begun(RtPlace *p) {
  RtMisuse m = p->proxy.fenced ? rt_copies_compare(p) : (RtMisuse){0};
  rt_proxy_settle(p);
  return m;
}

RtMisuse rt_wait_quiet(RtPlace *p) {
  p->quiet = true;
  return rt_warpgroups_go_on(p);
}

void rt_wait_report(const RtHostLaunch *view, const RtMisuse *m, uint32_t site, uint64_t block,
                    uint32_t thread) {
  const int64_t *v = m->values;
  if (m->elsewhere)
    rt_host_trap(view, m->site + m->wrong, m->block, m->thread, v[0], v[1], v[2], v[3]);
  if (m->wrong)
    rt_host_trap(view, site + m->wrong, block, thread, v[0], v[1], v[2], v[3]);
}

/* --- who has met whom: by the time of the last meeting, and without a look at who came to it but
 * for warps (meetings.h looks closer) --- */

void rt_wait_all_met(RtPlace *p) {
  if (p && p->met)
    p->all_met = ++p->cluster->clock;
}

void rt_wait_warp_met(RtPlace *p, uint32_t first) {
  if (p && p->met)
    p->warp_met[first / WARP] = ++p->cluster->clock;
}

void rt_wait_met(RtPlace *p, uint32_t thread) {
  p->mapped.in = 0;
  if (p->met)
    p->met[thread] = p->met_outside[thread] = ++p->cluster->clock;
}

/* It goes on behind a barrier. */
static void went_on(RtPlace *p, uint32_t thread, uint32_t at) {
  rt_meeting_lets_go(p, at, thread);
  p->met[thread] = p->cluster->clock;
}

uint32_t rt_wait_time(RtPlace *p) { return ++p->cluster->clock; }

bool rt_wait_has_met(const RtPlace *p, uint32_t thread, const RtPlace *q, uint32_t other,
                     uint32_t time) {
  if (p->met[thread] > time)
    return true;
  return p == q && (thread == other || p->all_met > time ||
                    (thread / WARP == other / WARP && p->warp_met[thread / WARP] > time));
}

static bool is_over(RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand) {
  if (what == RT_WAIT_BARRIER)
    return p->barriers[(uint32_t)operand % RT_NAMED_BARRIERS].phase != (uint32_t)(operand >> 32);
  if (what == RT_WAIT_IN_WARPGROUP)
    return rt_warpgroup_is_past(p, operand);
  if (what == RT_WAIT_IN_REGISTERS)
    return rt_registers_are_there(p, operand);
  if (what == RT_WAIT_STORES)
    return p->quiet;
  if (what == RT_WAIT_PHASE_ON || what == RT_WAIT_TRY_ON) {
    bool over = rt_copies_phase_over(p, thread, operand, what == RT_WAIT_PHASE_ON);
    if (over) {
      p->mapped.in = 0;
      went_on(p, thread, rt_copies_barrier(p, operand));
    }
    return over || (what == RT_WAIT_TRY_ON && p->gives_up);
  }
  if (what != RT_WAIT_CLUSTER)
    return true; /* an arrival */
  if (p->arrived_in[thread] == p->cluster->phase + 1)
    return false;
  p->arrived_in[thread] = 0;
  return true;
}

bool rt_wait_is_over(RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand) {
  bool over = is_over(p, thread, what, operand);
  if (over && what == RT_WAIT_CLUSTER)
    went_on(p, thread, RT_AT_CLUSTER);
  if (over && what == RT_WAIT_BARRIER)
    p->met[thread] = rt_wait_time(p);
  return over;
}

void rt_wait_exited(RtPlace *p, const uint32_t *next) {
  if (!p->cluster)
    return;
  p->exited = p->exited_behind = 0;
  for (uint32_t t = 0; t < p->threads; t++)
    if (!next || !next[t])
      *(p->arrived_in[t] == p->cluster->phase + 1 ? &p->exited_behind : &p->exited) += 1;
  complete(p->cluster);
}

/* Who uses another block's memory must be ordered before that block's end: by the cluster's
 * barrier, or by something that the block waits for. */
void rt_wait_end(const RtHostLaunch *view, const RtPlace *p) {
  const RtMapped *m = &p->mapped;
  if (m->in && m->in == p->cluster->phase + 1)
    rt_host_trap(view, m->site, m->block, m->thread, p->rank, 0, 0, 0);
}

bool rt_wait_gives_up(RtCluster *c) {
  if (c->events != c->events_then)
    c->in_vain = 0;
  c->events_then = c->events;
  if (!c->tries || c->in_vain++ >= MOST_IN_VAIN)
    return false;
  for (uint32_t k = 0; k < c->blocks; k++) {
    char *at = (char *)c->first + k * c->stride;
    ((RtPlace *)(void *)at)->gives_up = true;
  }
  return true;
}

bool rt_wait_is_outside(const RtPlace *p, uint32_t what) {
  bool outside = what == RT_WAIT_CLUSTER || what == RT_WAIT_PHASE_ON || what == RT_WAIT_TRY_ON;
  return outside && p->cluster->blocks > 1;
}

uint32_t rt_wait_values(const RtPlace *p, uint32_t thread, uint32_t what, uint64_t operand,
                        int64_t out[RT_TRAP_VALUES]) {
  memset(out, 0, RT_TRAP_VALUES * sizeof *out);
  if (what == RT_WAIT_BARRIER) {
    const RtNamedBarrier *b = &p->barriers[(uint32_t)operand % RT_NAMED_BARRIERS];
    out[0] = (uint32_t)operand, out[1] = b->arrived, out[2] = b->threads;
  } else if (what == RT_WAIT_IN_WARPGROUP) {
    out[0] = (uint32_t)operand, out[1] = rt_warpgroup_arrived(p, operand);
  } else if (what == RT_WAIT_PHASE_ON || what == RT_WAIT_TRY_ON) {
    return rt_copies_values(p, thread, operand, out);
  } else if (what == RT_WAIT_IN_REGISTERS) {
    return rt_registers_values(p, operand, out);
  } else {
    const RtCluster *c = p->cluster;
    out[0] = (int64_t)c->threads - c->arrived - exited(c), out[1] = c->threads;
  }
  return 0;
}

/* A block begins. */
static void reset(RtPlace *p, uint32_t threads) {
  memset(p->barriers, 0, sizeof p->barriers);
  memset(p->arrived_in, 0, threads * sizeof *p->arrived_in);
  memset(p->met, 0, threads * sizeof *p->met);
  memset(p->met_outside, 0, threads * sizeof *p->met_outside);
  p->nmeetings = 0;
  memset(p->warp_met, 0, (threads + WARP - 1) / WARP * sizeof *p->warp_met);
  p->all_met = 0;
  p->exited = p->exited_behind = 0;
  p->threads = threads;
  p->mapped = (RtMapped){0};
  rt_proxy_begin(p);
  rt_warpgroups_end(p);
  rt_registers_end(p);
  p->gives_up = p->quiet = false;
  p->turn = 0;
  rt_copies_reset(p);
  rt_flights_begin(p);
  rt_orders_begin(p);
}

/* --- clusters --- */

static uint64_t product(const uint32_t n[3]) { return (uint64_t)n[0] * n[1] * n[2]; }

/* The number of the block with that rank in that cluster. */
static uint64_t block_in_cluster(const RtHostLaunch *v, uint64_t cluster, uint32_t rank) {
  uint64_t block = 0, times = 1;
  for (int k = 0; k < 3; k++) {
    uint64_t n = v->grid[k] / v->cluster[k];
    block += times * (cluster % n * v->cluster[k] + rank % v->cluster[k]);
    cluster /= n, rank /= v->cluster[k];
    times *= v->grid[k];
  }
  return block;
}

static void begin_member(const RtPlaces *places, const RtHostLaunch *view, size_t arrivals_at,
                         RtPlace *p, uint32_t rank) {
  RtPlace *m = rt_place_member(places, p, rank);
  if (m != p) {
    m->block = block_in_cluster(view, p->block, rank);
    m->times = 0;
    m->standing = 0;
    m->state = RT_PLACE_YIELDS;
    memset(m->votes, 0, sizeof m->votes);
  }
  m->cluster = &p->own;
  m->rank = rank;
  uint32_t threads = (uint32_t)product(view->block);
  m->arrived_in = (uint32_t *)(void *)(m->frame + arrivals_at);
  m->met = m->arrived_in + threads;
  m->met_outside = m->met + threads;
  m->warp_met = m->met_outside + threads;
  reset(m, threads);
}

void rt_wait_begin_place(const RtPlaces *places, const RtHostLaunch *view, size_t arrivals_at,
                         RtPlace *p) {
  uint32_t n = places->members;
  p->own = (RtCluster){.blocks = n,
                       .threads = n * (uint32_t)product(view->block),
                       .first = rt_place_member(places, p, 0),
                       .shared_bytes = places->shared_bytes,
                       .stride = places->member_bytes};
  for (uint32_t k = 0; k < n; k++)
    begin_member(places, view, arrivals_at, p, k);
}
