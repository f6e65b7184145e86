/* Copies: see copies.h. Semantics: PTX ISA, mbarrier and cp.async. The blocks of a cluster take
 * turns on one thread of the process, so nothing here is atomic.
 *
 * A barrier's word in shared memory is a mark and its number in its block's table. */
#include "runtime/host/copies.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/flights.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/meetings.h"
#include "runtime/host/orders.h"
#include "runtime/host/proxies.h"
#include "runtime/host/reduce.h"
#include "runtime/host/warpgroups.h"

/* arrivals and bytes of a phase; alignment; each byte of the place of a copy under way */
enum { MOST = (1 << 20) - 1, BULK = 16, FILLED = 255 };
#define MARK (0x6d626172ull << 32)

typedef struct Mbarrier {
  char *at;
  uint32_t count, pending; /* arrivals of a phase; still to come */
  int64_t bytes;           /* still to come */
  int64_t index;           /* in its array */
  uint32_t by, since;      /* the thread that made it, and when (waits.h) */
  bool fenced;             /* asynchronous copies see it */
  uint32_t site, thread;   /* of who said last that bytes would come */
  int64_t phase;           /* that has not ended */
  int64_t *seen;           /* by thread: 2 + the phase that it has waited for last; 0: none */
} Mbarrier;

typedef struct Copy {
  char *to;
  const char *from;
  uint32_t bytes, valid; /* valid: are read; the others become 0 */
  char *barrier;         /* of a bulk load or an asynchronous store */
  char *kept;            /* of a bulk store: what it has read; of others: what it brings, or NULL */
  bool by_thread;        /* as threads write, not as bulk copies do */
  uint32_t site, thread;
  uint64_t block, group; /* group: of the thread */
} Copy;

typedef struct Queue {
  Copy *all;
  uint32_t n, room;
} Queue;

typedef struct Groups { /* of a thread: of one kind of copies */
  Queue queue;
  uint64_t committed;
} Groups;

struct RtCopies {
  Mbarrier *barriers;
  uint32_t nbarriers, room;
  Queue loads;
  Groups *own, *stores; /* by thread */
  uint32_t threads;
  uint32_t nstores; /* of all threads, that have not been waited for */
  char *box;        /* that is being loaded */
};

_Noreturn static void wrong(const RtHostLaunch *view, uint32_t site, RtCopyError error,
                            uint32_t thread, int64_t v0, int64_t v1, int64_t v2) {
  rt_host_trap(view, site + error, rt_host_place(view)->block, thread, v0, v1, v2, 0);
}

static void *need(const RtHostLaunch *view, uint32_t site, uint32_t thread, void *memory) {
  if (!memory)
    wrong(view, site, RT_COPY_MEMORY, thread, 0, 0, 0);
  return memory;
}

/* --- a block's --- */

static RtCopies *copies_of(const RtHostLaunch *view, uint32_t site, uint32_t thread, RtPlace *p) {
  if (p->copies)
    return p->copies;
  RtCopies *c = p->copies = need(view, site, thread, calloc(1, sizeof *c));
  c->threads = view->block[0] * view->block[1] * view->block[2];
  c->own = need(view, site, thread, calloc(c->threads, sizeof *c->own));
  c->stores = need(view, site, thread, calloc(c->threads, sizeof *c->stores));
  return c;
}

static void forget(Queue *q) {
  for (uint32_t k = 0; k < q->n; k++)
    free(q->all[k].kept);
  free(q->all);
}

void rt_copies_free(RtPlace *p) {
  RtCopies *c = p->copies;
  if (!c)
    return;
  for (uint32_t k = 0; k < c->nbarriers; k++)
    free(c->barriers[k].seen);
  for (uint32_t k = 0; k < c->threads && c->own && c->stores; k++)
    forget(&c->own[k].queue), forget(&c->stores[k].queue);
  forget(&c->loads);
  free(c->barriers);
  free(c->own);
  free(c->stores);
  free(c->box);
  free(c);
  p->copies = NULL;
}

void rt_copies_reset(RtPlace *p) { rt_copies_free(p); }

static Copy *append(const RtHostLaunch *view, uint32_t site, uint32_t thread, Queue *q) {
  if (q->n == q->room) {
    uint32_t room = q->room ? 2 * q->room : 8;
    q->all = need(view, site, thread, realloc(q->all, room * sizeof *q->all));
    q->room = room;
  }
  Copy *c = &q->all[q->n++];
  *c = (Copy){.site = site, .thread = thread, .block = rt_host_place(view)->block};
  return c;
}

static bool has_ended(const RtPlace *p, const RtPlace *m) {
  return m != p && m->times && m->state == RT_PLACE_ENDED;
}

static Mbarrier *find(const RtCopies *c, const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  uint32_t k = (uint32_t)word;
  bool is = c && word >> 32 == MARK >> 32 && k < c->nbarriers && c->barriers[k].at == at;
  return is ? &c->barriers[k] : NULL;
}

/* --- copies arrive --- */

static const RtMisuse fine = {0};

/* Of the thread that began the copy, where it did. */
static RtMisuse of_copy(const Copy *c, RtCopyError error, int64_t v0, int64_t v1) {
  return (RtMisuse){error, {v0, v1}, true, c->site, c->thread, c->block};
}

/* The place of a copy under way: nobody has written to it? */
static RtMisuse untouched(const Copy *c) {
  uint32_t n = 0;
  if ((unsigned char)c->to[0] == FILLED && !memcmp(c->to, c->to + 1, c->bytes - 1))
    return fine;
  while ((unsigned char)c->to[n] == FILLED)
    n++;
  return of_copy(c, RT_COPY_WRITTEN, n, c->bytes);
}

static uint32_t number_of(const RtPlace *p, const Mbarrier *b) {
  return RT_AT_MBARRIERS + (uint32_t)(b - p->copies->barriers);
}

/* p: of the memory; b: the barrier that it comes to, or NULL. */
static RtMisuse deliver(RtPlace *p, const Copy *c, const Mbarrier *b) {
  RtMisuse m = untouched(c);
  memcpy(c->to, c->from, c->valid);
  memset(c->to + c->valid, 0, c->bytes - c->valid);
  rt_flight_lands(p, c->to, c->bytes);
  if (b && !c->by_thread)
    rt_proxy_brought(p, c->to, c->bytes, number_of(p, b));
  else
    rt_proxy_copied_by_thread(p, c->to, c->bytes);
  if (!b)
    rt_orders_copied(p, c->to, c->bytes, c->thread);
  return m;
}

static RtCopyError unmet(const RtUse *u, bool wrote) {
  if (!wrote)
    return RT_COPY_USED_UNMET;
  return u->line ? RT_COPY_WRITTEN_UNMET : RT_COPY_COPIED_UNMET;
}

/* A copy to these bytes begins: their place is filled. */
static void take_off(const RtHostLaunch *view, uint32_t site, uint32_t thread, RtPlace *p, char *to,
                     uint32_t bytes) {
  RtPlace *own = rt_host_place(view);
  uint32_t line = rt_warpgroups_read(p, to, bytes);
  if (rt_is_in_flight(p, to, bytes))
    wrong(view, site, RT_COPY_TWICE, thread, 0, 0, 0);
  if (line)
    wrong(view, site, RT_COPY_READ, thread, line, 0, 0);
  const RtEndedReading *r = rt_warpgroups_untold(p, own == p ? thread : RT_NO_THREAD, to, bytes);
  if (r)
    wrong(view, site, RT_COPY_READ_UNMET, thread, r->line, 0, 0);
  bool wrote;
  const RtUse *u = rt_orders_unknown(own, thread, p, to, bytes, &wrote);
  if (u)
    wrong(view, site, unmet(u, wrote), thread, u->by - 1, u->line, 0);
  if (!rt_flight_starts(p, to, bytes))
    wrong(view, site, RT_COPY_MEMORY, thread, 0, 0, 0);
  memset(to, FILLED, bytes);
}

static void end_phase(RtPlace *p, Mbarrier *b) {
  p->cluster->events++;
  if (b->pending || b->bytes)
    return;
  rt_meeting_is_over(p, number_of(p, b));
  b->phase++;
  b->pending = b->count;
}

/* All loads that come to the barrier, as one: their order is nobody's. */
static RtMisuse deliver_loads(RtPlace *p, Mbarrier *b) {
  RtCopies *c = p->copies;
  RtMisuse m = fine;
  uint32_t kept = 0;
  int64_t bytes = 0;
  for (uint32_t k = 0; k < c->loads.n; k++) {
    Copy *load = &c->loads.all[k];
    if (load->barrier == b->at) {
      RtMisuse here = deliver(p, load, b);
      m = m.wrong ? m : here;
      free(load->kept);
      bytes += load->bytes;
    } else {
      c->loads.all[kept++] = *load;
    }
  }
  c->loads.n = kept;
  if (!bytes)
    return m;
  b->bytes -= bytes;
  end_phase(p, b);
  return m;
}

static bool has_more_bytes(const Mbarrier *b) { return !b->pending && b->bytes < 0; }

static int64_t index_in(uint64_t operand) { return operand >> RT_WAIT_INDEX_SHIFT & 0x7fff; }

static Mbarrier *waited(const RtPlace *p, uint64_t operand) {
  const uint64_t address = (1ull << RT_WAIT_INDEX_SHIFT) - 1;
  return find(p->copies, (const char *)(uintptr_t)(operand & address));
}

/* The phase with that parity has ended. */
static bool is_over(const Mbarrier *b, uint64_t parity) {
  return (b->phase & 1) != (int64_t)parity;
}

RtMisuse rt_copies_arrive(RtPlace *p, uint64_t operand) {
  Mbarrier *b = waited(p, operand);
  if (!b)
    return (RtMisuse){.wrong = RT_COPY_NO_BARRIER, .values = {index_in(operand)}};
  RtMisuse m = is_over(b, operand >> RT_WAIT_PARITY_SHIFT) ? fine : deliver_loads(p, b);
  if (m.wrong)
    return m;
  if (has_more_bytes(b))
    return (RtMisuse){.wrong = RT_COPY_MORE_BYTES,
                      .values = {index_in(operand), b->phase, -b->bytes}};
  return fine;
}

bool rt_copies_phase_over(RtPlace *p, uint32_t thread, uint64_t operand, bool note) {
  Mbarrier *b = waited(p, operand);
  bool over = b && is_over(b, operand >> RT_WAIT_PARITY_SHIFT);
  if (over && note && b->seen)
    b->seen[thread] = b->phase + 1;
  return over;
}

uint32_t rt_copies_barrier(const RtPlace *p, uint64_t operand) {
  return number_of(p, waited(p, operand));
}

uint32_t rt_copies_values(const RtPlace *p, uint32_t thread, uint64_t operand,
                          int64_t out[RT_TRAP_VALUES]) {
  const Mbarrier *b = waited(p, operand);
  out[0] = index_in(operand);
  if (!b)
    return RT_COPY_IN_VAIN;
  out[1] = b->phase, out[2] = b->pending, out[3] = b->bytes;
  if (b->bytes < 0) {
    out[3] = -b->bytes;
    return RT_COPY_IN_VAIN_MORE;
  }
  bool behind = b->phase >= 2 && b->seen[thread] != b->phase + 1;
  if (behind)
    out[2] = b->phase - 2;
  return behind ? RT_COPY_PASSED : RT_COPY_IN_VAIN;
}

/* --- barriers --- */

/* What an instruction works on. */
typedef struct At {
  const RtHostLaunch *view;
  uint32_t site, thread;
  RtPlace *place; /* of the memory */
  char *address;
  int64_t index;
} At;

_Noreturn static void misused(const At *a, RtCopyError error, int64_t v1, int64_t v2) {
  wrong(a->view, a->site, error, a->thread, a->index, v1, v2);
}

static At at(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *address,
             int64_t index) {
  RtPlace *p = rt_host_place(view), *m = rt_cluster_owner(p, address);
  At a = {view, site, thread, m, address, index};
  if (has_ended(p, m))
    misused(&a, RT_COPY_BLOCK_ENDED, m->rank, 0);
  return a;
}

static Mbarrier *existing(const At *a) {
  Mbarrier *b = find(a->place->copies, a->address);
  if (!b)
    misused(a, RT_COPY_NO_BARRIER, 0, 0);
  const RtPlace *p = rt_host_place(a->view);
  if (p == a->place ? !rt_meeting_tells(p, a->thread, b->by, b->since)
                    : !rt_wait_has_met(p, a->thread, a->place, b->by, b->since))
    misused(a, RT_COPY_NOT_MET, b->by, 0);
  return b;
}

static void init(const At *a, int64_t count) {
  RtCopies *c = copies_of(a->view, a->site, a->thread, a->place);
  const Mbarrier *before = find(c, a->address);
  if (before)
    misused(a, RT_COPY_BARRIER_AGAIN, before->phase, 0);
  if (count < 1 || count > MOST)
    misused(a, RT_COPY_COUNT, count, 0);
  if (c->nbarriers == c->room) {
    uint32_t room = c->room ? 2 * c->room : 8;
    c->barriers = need(a->view, a->site, a->thread,
                       realloc(c->barriers, room * sizeof *c->barriers));
    c->room = room;
  }
  uint64_t word = MARK | c->nbarriers;
  Mbarrier *b = &c->barriers[c->nbarriers];
  *b = (Mbarrier){.at = a->address,
                  .index = a->index,
                  .count = (uint32_t)count,
                  .pending = (uint32_t)count,
                  .by = a->thread,
                  .since = rt_wait_time(a->place)};
  b->seen = need(a->view, a->site, a->thread, calloc(c->threads, sizeof *b->seen));
  c->nbarriers++;
  memcpy(a->address, &word, sizeof word);
}

static void expect(const At *a, Mbarrier *b, int64_t bytes) {
  if (bytes < 0 || b->bytes + bytes > MOST)
    misused(a, RT_COPY_EXPECTED, b->phase, bytes);
  b->bytes += bytes;
  b->site = a->site, b->thread = a->thread;
}

static void report(const RtHostLaunch *view, RtMisuse m) { rt_wait_report(view, &m, 0, 0, 0); }

/* Those that go on behind the barrier know what the thread knows now. */
static void comes(const At *a, const Mbarrier *b) {
  RtPlace *p = rt_host_place(a->view);
  if (p == a->place) {
    rt_meeting_arrives(p, number_of(p, b), a->thread);
    return;
  }
  a->place->mapped = (RtMapped){p->cluster->phase + 1, a->site + RT_COPY_BLOCK_ENDS, a->thread,
                                p->block};
  rt_meeting_arrives_elsewhere(p, a->thread);
  rt_meeting_other_arrives(a->place, number_of(a->place, b));
}

static void arrive(const At *a, Mbarrier *b) {
  if (!b->pending)
    misused(a, RT_COPY_TOO_MANY, b->phase, b->bytes);
  comes(a, b);
  b->pending--;
  if (has_more_bytes(b))
    misused(a, RT_COPY_MORE_BYTES, b->phase, -b->bytes);
  end_phase(a->place, b);
}

/* --- a thread's own copies --- */

/* What a store has read must be the same. */
static RtMisuse compare(const Copy *c) {
  uint32_t n = 0;
  if (!memcmp(c->kept, c->from, c->bytes))
    return fine;
  while (c->kept[n] == c->from[n])
    n++;
  return of_copy(c, RT_COPY_CHANGED, n, c->bytes);
}

RtMisuse rt_copies_compare(const RtPlace *p) {
  const RtCopies *c = p->copies;
  RtMisuse m = fine;
  for (uint32_t t = 0; !m.wrong && c && c->nstores && t < c->threads; t++)
    for (uint32_t k = 0; !m.wrong && k < c->stores[t].queue.n; k++)
      m = compare(&c->stores[t].queue.all[k]);
  return m;
}

/* Those of groups before `from`. */
static void complete(const RtHostLaunch *view, RtPlace *p, Groups *g, uint64_t from) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < g->queue.n; k++) {
    Copy *c = &g->queue.all[k];
    if (c->group >= from) {
      g->queue.all[kept++] = *c;
      continue;
    }
    if (!c->kept) {
      report(view, deliver(p, c, NULL));
      continue;
    }
    report(view, compare(c));
    free(c->kept);
    p->copies->nstores--;
  }
  g->queue.n = kept;
}

static Groups *groups_of(const RtHostLaunch *view, uint32_t site, uint32_t thread, bool stores) {
  RtCopies *c = copies_of(view, site, thread, rt_host_place(view));
  return stores ? &c->stores[thread] : &c->own[thread];
}

void rt_host_mbarrier(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *address,
                      int64_t index, uint32_t op, int64_t number) {
  At a = at(view, site, thread, address, index);
  if (op == RT_MBARRIER_INIT) {
    init(&a, number);
    return;
  }
  Mbarrier *b = existing(&a);
  switch (op) {
  case RT_MBARRIER_INVAL: b->at = NULL; return;
  case RT_MBARRIER_ARRIVE: arrive(&a, b); return;
  case RT_MBARRIER_EXPECT: expect(&a, b, number); return;
  case RT_MBARRIER_ARRIVE_EXPECT:
    expect(&a, b, number);
    arrive(&a, b);
    return;
  case RT_MBARRIER_COPIES:
    complete(view, a.place, groups_of(view, site, thread, false), UINT64_MAX);
    arrive(&a, b);
    return;
  }
}

void rt_host_barriers_fenced(const RtHostLaunch *view, uint32_t thread, uint32_t all) {
  RtCopies *c = rt_host_place(view)->copies;
  for (uint32_t k = 0; c && k < c->nbarriers; k++)
    c->barriers[k].fenced |= all || c->barriers[k].by == thread;
}

void rt_host_mbarrier_look(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *address,
                           int64_t index, int64_t parity) {
  At a = at(view, site, thread, address, index);
  const Mbarrier *b = existing(&a);
  if (parity != 0 && parity != 1)
    misused(&a, RT_COPY_PARITY, parity, 0);
  if (is_over(b, (uint64_t)parity) && b->seen[thread] == b->phase + 1)
    misused(&a, RT_COPY_PHASE_AGAIN, b->phase, parity);
}

uint32_t rt_host_mbarrier_passed(const RtHostLaunch *view, const char *address, int64_t parity) {
  const Mbarrier *b = find(rt_host_place(view)->copies, address);
  return b && is_over(b, (uint64_t)parity);
}

void rt_host_copy(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *to,
                  const char *from, uint32_t bytes, int64_t valid) {
  Groups *g = groups_of(view, site, thread, false);
  take_off(view, site, thread, rt_host_place(view), to, bytes);
  Copy *c = append(view, site, thread, &g->queue);
  c->to = to, c->from = from, c->bytes = bytes, c->group = g->committed;
  c->valid = valid < 0 ? 0 : valid > bytes ? bytes : (uint32_t)valid;
}

void rt_host_copy_groups(const RtHostLaunch *view, uint32_t site, uint32_t thread, uint32_t op,
                         int64_t count) {
  bool stores = op == RT_COPIES_BULK_COMMIT || op == RT_COPIES_BULK_WAIT;
  Groups *g = groups_of(view, site, thread, stores);
  if (op == RT_COPIES_COMMIT || op == RT_COPIES_BULK_COMMIT)
    g->committed++;
  else if (g->committed > (uint64_t)count)
    complete(view, rt_host_place(view), g, g->committed - (uint64_t)count);
}

/* --- bulk copies --- */

/* Addresses in shared memory count from its beginning, as on a GPU. */
static uint64_t beyond(const RtPlace *p, const char *address, bool shared) {
  return (shared ? (uint64_t)(address - p->shared) : (uint64_t)(uintptr_t)address) % BULK;
}

static uint32_t bulk_bytes(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                           const RtBulk *b, bool load) {
  const RtPlace *p = rt_host_place(view);
  int64_t bytes = b->to_elements * b->size;
  if (b->to_elements != b->from_elements)
    wrong(view, site, RT_COPY_DIFFER, thread, b->from_elements, b->to_elements, 0);
  if (bytes <= 0 || bytes % BULK || bytes > INT32_MAX)
    wrong(view, site, RT_COPY_SIZE, thread, bytes, 0, 0);
  uint64_t to = beyond(p, b->to, load), from = beyond(p, b->from, !load);
  if (to || from)
    wrong(view, site, to ? RT_COPY_TO : RT_COPY_FROM, thread, (int64_t)(to ? to : from), BULK, 0);
  return (uint32_t)bytes;
}

/* Notes what comes to the barrier: from `from`, or `values`, which are kept. by_thread: as threads
 * write. */
static void load_to(const At *a, char *to, uint32_t bytes, const char *from, const char *values,
                    bool by_thread) {
  const Mbarrier *b = existing(a);
  if (!by_thread && !b->fenced)
    misused(a, RT_COPY_UNFENCED_BARRIER, b->by, 0);
  comes(a, b);
  take_off(a->view, a->site, a->thread, a->place, to, bytes);
  Copy *c = append(a->view, a->site, a->thread, &a->place->copies->loads);
  c->to = to, c->from = from;
  if (values) {
    c->kept = need(a->view, a->site, a->thread, malloc(bytes));
    c->from = memcpy(c->kept, values, bytes);
  }
  c->bytes = c->valid = bytes;
  c->barrier = a->address;
  c->by_thread = by_thread;
}

/* To this block, or to those of the mask. */
static void load_to_all(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b,
                        uint32_t bytes, const char *box) {
  RtPlace *p = rt_host_place(view);
  const RtCluster *cluster = p->cluster;
  uint64_t blocks = b->blocks == RT_COPY_OWN ? 1ull << p->rank : (uint64_t)b->blocks;
  if (!blocks || blocks >> cluster->blocks)
    wrong(view, site, RT_COPY_NO_BLOCK, thread, b->blocks, cluster->blocks, 0);
  for (uint32_t k = 0; k < cluster->blocks; k++) {
    RtPlace *m = rt_cluster_member(cluster, k);
    if (!(blocks >> k & 1))
      continue;
    At a = at(view, site, thread, m->shared + (b->barrier - p->shared), b->index);
    load_to(&a, m->shared + (b->to - p->shared), bytes, b->from, box, false);
  }
}

void rt_host_bulk_load(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b) {
  uint32_t bytes = bulk_bytes(view, site, thread, b, true);
  load_to_all(view, site, thread, b, bytes, NULL);
}

void rt_host_store_async(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *to,
                         const char *values, uint32_t bytes, char *barrier, int64_t index) {
  At a = at(view, site, thread, barrier, index);
  load_to(&a, to, bytes, NULL, values, true);
}

/* Each thread that wrote these bytes has come to a fence since, and this one has met it behind
 * that. */
static void check_writers(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                          const char *from, uint32_t bytes) {
  const RtPlace *p = rt_host_place(view);
  RtWritten last = {0};
  for (uint32_t k = 0; k < bytes; k++) {
    const RtWritten *w = rt_proxy_written(p, from + k);
    if (!w || (w->by == last.by && w->when == last.when))
      continue;
    last = *w;
    uint32_t by = w->by - 1u;
    if (!w->when || !rt_meeting_tells(p, thread, by, w->when))
      rt_host_trap(view, site + (w->when ? RT_COPY_UNMET : RT_COPY_UNFENCED_BY), p->block, thread,
                   k, bytes, by, w->line);
  }
}

/* The thread knows of the arrival of each copy that wrote these bytes. */
static void check_copies(const RtHostLaunch *view, uint32_t site, uint32_t thread, const char *from,
                         uint32_t bytes) {
  const RtPlace *p = rt_host_place(view);
  RtBrought last = {0};
  for (uint32_t k = 0; k < bytes; k += BULK) {
    const RtBrought *b = rt_proxy_copied(p, from + k);
    RtThreads told;
    if (!b || (b->at == last.at && b->when == last.when))
      continue;
    last = *b;
    rt_meeting_told_at(p, b->at, b->when, &told);
    if (!rt_threads_have(&told, thread))
      wrong(view, site, RT_COPY_NOT_WAITED, thread, k, bytes, 0);
  }
}

/* Of this thread's group, from shared memory; what is there is looked at when it is waited for. */
static void note_store(const RtHostLaunch *view, uint32_t site, uint32_t thread, const char *from,
                       uint32_t bytes) {
  RtPlace *p = rt_host_place(view);
  Groups *g = groups_of(view, site, thread, true);
  size_t seen = rt_proxy_seen(p, from, bytes);
  if (rt_is_in_flight(p, from, bytes))
    wrong(view, site, RT_COPY_COMING, thread, 0, 0, 0);
  if (seen < bytes)
    wrong(view, site, RT_COPY_UNFENCED, thread, (int64_t)seen, bytes, 0);
  check_writers(view, site, thread, from, bytes);
  check_copies(view, site, thread, from, bytes);
  Copy *c = append(view, site, thread, &g->queue);
  c->kept = need(view, site, thread, malloc(bytes));
  c->from = from, c->bytes = bytes, c->group = g->committed;
  memcpy(c->kept, from, bytes);
  p->copies->nstores++;
}

void rt_host_bulk_store(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b) {
  uint32_t bytes = bulk_bytes(view, site, thread, b, false);
  note_store(view, site, thread, b->from, bytes);
  rt_reduce_store(&b->reduce, b->to, b->from, bytes);
}

/* --- boxes --- */

/* Byte n of a box in shared memory: pieces of 16 bytes change places within rows of the swizzle, as
 * bits of the address do. */
static uint32_t swizzled(uint32_t n, uint32_t swizzle) {
  uint32_t pieces = swizzle / BULK;
  return swizzle ? n ^ (n >> 7 & (pieces - 1)) << 4 : n;
}

/* Rows of a box, along its last axis; their length in bytes, that in shared memory with the padding
 * of a narrow swizzled box, and how many bytes there are in all. */
typedef struct Box {
  uint32_t rows, row, bytes;
} Box;

static Box box_of(const RtTensor *x) {
  Box b = {.rows = 1, .row = (uint32_t)(x->box[x->rank - 1] * x->size)};
  for (int64_t k = 0; k + 1 < x->rank; k++)
    b.rows *= (uint32_t)x->box[k];
  b.bytes = b.rows * b.row;
  return b;
}

/* Row `number` of the box in global memory, from the array's first axis on: which of its bytes lie
 * in the array, and where its byte 0 is, or would be. */
static char *row_of(const RtTensor *x, const Box *b, uint32_t number, uint32_t *from,
                    uint32_t *to) {
  int64_t at = 0, last = x->rank - 1, place[RT_MAP_AXES];
  bool inside = true;
  for (int64_t k = last - 1; k >= 0; k--) {
    place[k] = x->index_of[k] + number % x->box[k];
    number /= (uint32_t)x->box[k];
    inside &= place[k] >= 0 && place[k] < x->extent[k];
  }
  for (int64_t k = 0; k < last; k++)
    at = (at + place[k]) * x->extent[k + 1];
  int64_t first = x->index_of[last], most = b->row / x->size;
  int64_t low = first < 0 ? -first : 0, high = x->extent[last] - first;
  low = low > most ? most : low, high = high > most ? most : high;
  *from = (uint32_t)(low * x->size);
  *to = inside && high > low ? (uint32_t)(high * x->size) : *from;
  return *to > *from ? x->global + (at + first) * x->size : NULL;
}

static void move_rows(const RtTensor *x, const Box *b, char *shared, bool load) {
  for (uint32_t k = 0; k < b->rows; k++) {
    uint32_t from, to;
    char *row = row_of(x, b, k, &from, &to);
    for (uint32_t n = from; n < to; n++) {
      char *there = shared + swizzled(k * b->row + n, (uint32_t)x->swizzle);
      if (load)
        *there = row[n];
      else if (!x->reduce.op)
        row[n] = *there;
      else if ((n - from) % x->size == 0) /* an element is in one piece of the swizzle */
        rt_reduce_store(&x->reduce, row + n, there, (uint32_t)x->size);
    }
  }
}

static Box check_tensor(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtTensor *x,
                        bool load) {
  const RtPlace *p = rt_host_place(view);
  Box b = box_of(x);
  int64_t align = x->swizzle ? 8 * x->swizzle : 128, off = (x->shared - p->shared) % align;
  int64_t elements = b.bytes / x->size, row = x->extent[x->rank - 1] * x->size;
  uint64_t base = (uint64_t)(uintptr_t)x->global % BULK;
  if (x->elements != elements)
    wrong(view, site, RT_COPY_DIFFER, thread, load ? elements : x->elements,
          load ? x->elements : elements, 0);
  if (off)
    wrong(view, site, load ? RT_COPY_TO : RT_COPY_FROM, thread, off, align, 0);
  if (base)
    wrong(view, site, load ? RT_COPY_FROM : RT_COPY_TO, thread, (int64_t)base, BULK, 0);
  if (row % BULK)
    wrong(view, site, RT_COPY_STRIDE, thread, row, 0, 0);
  if (x->index_of[x->rank - 1] % (BULK / x->size))
    wrong(view, site, x->fortran ? RT_COPY_FIRST_INDEX : RT_COPY_INDEX, thread,
          x->index_of[x->rank - 1], BULK / x->size, 0);
  for (uint32_t k = 0; !load && k < (uint32_t)x->rank; k++)
    if (x->index_of[k] < 0)
      wrong(view, site, RT_COPY_BEFORE, thread, x->index_of[k], x->fortran ? x->rank - 1 - k : k,
            0);
  return b;
}

void rt_host_tensor_load(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                         const RtTensor *x) {
  const RtBulk bulk = {
      .to = x->shared, .barrier = x->barrier, .index = x->index, .blocks = x->blocks};
  Box b = check_tensor(view, site, thread, x, true);
  RtCopies *c = copies_of(view, site, thread, rt_host_place(view));
  c->box = need(view, site, thread, calloc(1, b.bytes));
  move_rows(x, &b, c->box, true);
  load_to_all(view, site, thread, &bulk, b.bytes, c->box);
  free(c->box);
  c->box = NULL;
}

void rt_host_tensor_store(const RtHostLaunch *view, uint32_t site, uint32_t thread,
                          const RtTensor *x) {
  Box b = check_tensor(view, site, thread, x, false);
  note_store(view, site, thread, x->shared, b.bytes);
  move_rows(x, &b, x->shared, false);
}

void rt_copies_end(const RtHostLaunch *view, const RtPlace *p) {
  const RtCopies *c = p->copies;
  if (c && c->loads.n)
    wrong(view, c->loads.all->site, RT_COPY_LEFT, c->loads.all->thread, c->loads.all->bytes, 0, 0);
  for (uint32_t k = 0; c && k < c->nbarriers; k++) {
    const Mbarrier *b = &c->barriers[k];
    if (b->at && b->bytes > 0)
      wrong(view, b->site, RT_COPY_EXPECTED_LEFT, b->thread, b->index, b->phase, b->bytes);
  }
  report(view, rt_copies_compare(p));
  report(view, rt_warpgroups_left(p));
}
