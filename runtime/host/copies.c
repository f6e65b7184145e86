/* Copies: see copies.h. Semantics: PTX ISA, mbarrier and cp.async. The blocks of a cluster take
 * turns on one thread of the process, so nothing here is atomic.
 *
 * A barrier's word in shared memory is a mark and its number in its block's table. */
#include "runtime/host/copies.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/proxies.h"
#include "runtime/host/reduce.h"

enum { MOST = (1 << 20) - 1, BULK = 16 }; /* arrivals and bytes of a phase; alignment */
#define MARK (0x6d626172ull << 32)

typedef struct Mbarrier {
  char *at;
  uint32_t count, pending; /* arrivals of a phase; still to come */
  int64_t bytes;           /* still to come */
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
  uint64_t group; /* of the thread */
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
  char *box; /* that is being loaded */
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
  *c = (Copy){.site = site, .thread = thread};
  return c;
}

static RtPlace *member(const RtCluster *c, uint32_t rank) {
  return (RtPlace *)(void *)((char *)c->first + rank * c->stride);
}

/* Of the cluster, in whose shared memory the address lies; p's otherwise. */
static RtPlace *place_of(RtPlace *p, const char *at) {
  for (uint32_t k = 0; k < p->cluster->blocks; k++) {
    RtPlace *m = member(p->cluster, k);
    if (at >= m->shared && at < m->shared + p->cluster->shared_bytes)
      return m;
  }
  return p;
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

static void deliver(RtPlace *p, const Copy *c) {
  memcpy(c->to, c->from, c->valid);
  memset(c->to + c->valid, 0, c->bytes - c->valid);
  if (c->barrier && !c->by_thread)
    rt_proxy_brought(p, c->to, c->bytes);
}

static void end_phase(RtPlace *p, Mbarrier *b) {
  p->cluster->events++;
  if (b->pending || b->bytes)
    return;
  b->phase++;
  b->pending = b->count;
}

/* All loads that come to the barrier, as one: their order is nobody's. */
static void deliver_loads(RtPlace *p, Mbarrier *b) {
  RtCopies *c = p->copies;
  uint32_t kept = 0;
  int64_t bytes = 0;
  for (uint32_t k = 0; k < c->loads.n; k++) {
    Copy *load = &c->loads.all[k];
    if (load->barrier == b->at) {
      deliver(p, load);
      free(load->kept);
      bytes += load->bytes;
    } else {
      c->loads.all[kept++] = *load;
    }
  }
  c->loads.n = kept;
  if (!bytes)
    return;
  b->bytes -= bytes;
  end_phase(p, b);
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
    return (RtMisuse){RT_COPY_NO_BARRIER, {index_in(operand)}};
  if (!is_over(b, operand >> RT_WAIT_PARITY_SHIFT))
    deliver_loads(p, b);
  if (has_more_bytes(b))
    return (RtMisuse){RT_COPY_MORE_BYTES, {index_in(operand), b->phase, -b->bytes}};
  return (RtMisuse){0};
}

bool rt_copies_phase_over(RtPlace *p, uint32_t thread, uint64_t operand, bool note) {
  Mbarrier *b = waited(p, operand);
  bool over = b && is_over(b, operand >> RT_WAIT_PARITY_SHIFT);
  if (over && note && b->seen)
    b->seen[thread] = b->phase + 1;
  return over;
}

void rt_copies_values(const RtPlace *p, uint64_t operand, int64_t out[RT_TRAP_VALUES]) {
  const Mbarrier *b = waited(p, operand);
  out[0] = index_in(operand);
  if (b)
    out[1] = b->phase, out[2] = b->pending, out[3] = b->bytes;
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
  RtPlace *p = rt_host_place(view), *m = place_of(p, address);
  At a = {view, site, thread, m, address, index};
  if (has_ended(p, m))
    misused(&a, RT_COPY_BLOCK_ENDED, m->rank, 0);
  return a;
}

static Mbarrier *existing(const At *a) {
  Mbarrier *b = find(a->place->copies, a->address);
  if (!b)
    misused(a, RT_COPY_NO_BARRIER, 0, 0);
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
  *b = (Mbarrier){.at = a->address, .count = (uint32_t)count, .pending = (uint32_t)count};
  b->seen = need(a->view, a->site, a->thread, calloc(c->threads, sizeof *b->seen));
  c->nbarriers++;
  memcpy(a->address, &word, sizeof word);
}

static void expect(const At *a, Mbarrier *b, int64_t bytes) {
  if (bytes < 0 || b->bytes + bytes > MOST)
    misused(a, RT_COPY_EXPECTED, b->phase, bytes);
  b->bytes += bytes;
}

static void arrive(const At *a, Mbarrier *b) {
  if (!b->pending)
    deliver_loads(a->place, b);
  if (!b->pending)
    misused(a, RT_COPY_TOO_MANY, b->phase, b->bytes);
  b->pending--;
  if (has_more_bytes(b))
    misused(a, RT_COPY_MORE_BYTES, b->phase, -b->bytes);
  end_phase(a->place, b);
}

/* --- a thread's own copies --- */

/* Those of groups before `from`; what a store has read must be the same. */
static void complete(const RtHostLaunch *view, RtPlace *p, Groups *g, uint64_t from) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < g->queue.n; k++) {
    Copy *c = &g->queue.all[k];
    if (c->group >= from) {
      g->queue.all[kept++] = *c;
      continue;
    }
    if (!c->kept) {
      deliver(p, c);
      continue;
    }
    for (uint32_t n = 0; n < c->bytes; n++)
      if (c->kept[n] != c->from[n])
        wrong(view, c->site, RT_COPY_CHANGED, c->thread, n, c->bytes, 0);
    free(c->kept);
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
  Copy *c = append(view, site, thread, &g->queue);
  c->to = to, c->from = from, c->bytes = bytes, c->group = g->committed;
  c->valid = valid < 0 ? 0 : valid > bytes ? bytes : (uint32_t)valid;
  memset(to, 255, bytes);
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

/* Notes what comes to the barrier: from `from`, or `values`, which are kept. */
static Copy *load_to(const At *a, char *to, uint32_t bytes, const char *from, const char *values) {
  (void)existing(a);
  Copy *c = append(a->view, a->site, a->thread, &a->place->copies->loads);
  c->to = to, c->from = from;
  if (values) {
    c->kept = need(a->view, a->site, a->thread, malloc(bytes));
    c->from = memcpy(c->kept, values, bytes);
  }
  c->bytes = c->valid = bytes;
  c->barrier = a->address;
  memset(c->to, 255, bytes);
  return c;
}

/* To this block, or to those of the mask. */
static void load_to_all(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b,
                        uint32_t bytes, const char *box) {
  RtPlace *p = rt_host_place(view);
  const RtCluster *cluster = p->cluster;
  uint64_t blocks = b->blocks ? (uint64_t)b->blocks : 1ull << p->rank;
  if (blocks >> cluster->blocks)
    wrong(view, site, RT_COPY_NO_BLOCK, thread, b->blocks, cluster->blocks, 0);
  for (uint32_t k = 0; k < cluster->blocks; k++) {
    RtPlace *m = member(cluster, k);
    if (!(blocks >> k & 1))
      continue;
    At a = at(view, site, thread, m->shared + (b->barrier - p->shared), b->index);
    (void)load_to(&a, m->shared + (b->to - p->shared), bytes, b->from, box);
  }
}

void rt_host_bulk_load(const RtHostLaunch *view, uint32_t site, uint32_t thread, const RtBulk *b) {
  uint32_t bytes = bulk_bytes(view, site, thread, b, true);
  load_to_all(view, site, thread, b, bytes, NULL);
}

void rt_host_store_async(const RtHostLaunch *view, uint32_t site, uint32_t thread, char *to,
                         const char *values, uint32_t bytes, char *barrier, int64_t index) {
  At a = at(view, site, thread, barrier, index);
  load_to(&a, to, bytes, NULL, values)->by_thread = true;
}

/* Of this thread's group, from shared memory; what is there is looked at when it is waited for. */
static void note_store(const RtHostLaunch *view, uint32_t site, uint32_t thread, const char *from,
                       uint32_t bytes) {
  RtPlace *p = rt_host_place(view);
  Groups *g = groups_of(view, site, thread, true);
  size_t seen = rt_proxy_seen(p, from, bytes);
  if (seen < bytes)
    wrong(view, site, RT_COPY_UNFENCED, thread, (int64_t)seen, bytes, 0);
  Copy *c = append(view, site, thread, &g->queue);
  c->kept = need(view, site, thread, malloc(bytes));
  c->from = from, c->bytes = bytes, c->group = g->committed;
  memcpy(c->kept, from, bytes);
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
    wrong(view, site, RT_COPY_INDEX, thread, x->index_of[x->rank - 1], BULK / x->size, 0);
  for (uint32_t k = 0; !load && k < (uint32_t)x->rank; k++)
    if (x->index_of[k] < 0)
      wrong(view, site, RT_COPY_BEFORE, thread, x->index_of[k], k, 0);
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
}
