/* Places: see block_places.h. One mutex a launch, held for a few instructions at a time. */
#include "runtime/host/block_places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/copies.h"
#include "runtime/host/flights.h"
#include "runtime/host/orders.h"
#include "runtime/host/proxies.h"
#include "runtime/host/registers.h"
#include "runtime/host/warpgroups.h"

enum { LEAST = 64 };                   /* places, whatever they take */
#define MOST_BYTES ((size_t)256 << 20) /* of all places together, beyond those */

static size_t aligned(size_t bytes) {
  return (bytes + RT_MEMORY_ALIGN - 1) / RT_MEMORY_ALIGN * RT_MEMORY_ALIGN;
}

size_t rt_place_bytes(size_t shared, size_t frame) {
  return aligned(sizeof(RtPlace)) + aligned(shared) + aligned(frame);
}

RtPlace *rt_cluster_member(const RtCluster *c, uint32_t rank) {
  return (RtPlace *)(void *)((char *)c->first + rank * c->stride);
}

RtPlace *rt_cluster_owner(RtPlace *p, const char *at) {
  for (uint32_t k = 0; k < p->cluster->blocks; k++) {
    RtPlace *m = rt_cluster_member(p->cluster, k);
    if (at >= m->shared && at < m->shared + p->cluster->shared_bytes)
      return m;
  }
  return p;
}

RtPlace *rt_place_member(const RtPlaces *p, RtPlace *place, uint32_t rank) {
  char *first = (char *)place + (p->members > 1 ? aligned(sizeof *place) : 0);
  return (RtPlace *)(void *)(first + rank * p->member_bytes);
}

static RtPlace *make(RtPlaces *p) {
  RtPlace *place = p->made < p->most ? aligned_alloc(RT_MEMORY_ALIGN, p->bytes) : NULL;
  if (!place) {
    p->most = p->made;
    return NULL;
  }
  *place = (RtPlace){.other = p->all};
  for (uint32_t k = 0; k < p->members; k++) {
    RtPlace *m = rt_place_member(p, place, k);
    if (m != place)
      *m = (RtPlace){.rank = k};
    m->shared = (char *)m + aligned(sizeof *m);
    m->frame = m->shared + aligned(p->shared_bytes);
  }
  p->all = place;
  p->made++;
  return place;
}

static void give_up(RtPlaces *p, RtPlace *place) {
  place->next = p->unused;
  p->unused = place;
}

bool rt_places_open(RtPlaces *p, size_t shared, size_t frame, uint64_t blocks, bool all,
                    uint32_t members) {
  size_t each = rt_place_bytes(shared, frame);
  *p = (RtPlaces){.shared_bytes = shared,
                  .bytes = members > 1 ? aligned(sizeof(RtPlace)) + members * each : each,
                  .members = members,
                  .member_bytes = each,
                  .blocks = blocks};
  pthread_mutex_init(&p->lock, NULL);
  uint64_t most = MOST_BYTES / p->bytes;
  p->most = all ? blocks : most < LEAST ? LEAST : most;
  do {
    RtPlace *place = make(p);
    if (!place)
      return false;
    give_up(p, place);
  } while (all && p->made < blocks);
  return true;
}

void rt_places_close(RtPlaces *p) {
  for (RtPlace *place = p->all, *other; place; place = other) {
    other = place->other;
    for (uint32_t k = 0; k < p->members; k++) {
      rt_proxy_close(rt_place_member(p, place, k));
      free(rt_place_member(p, place, k)->meetings);
      rt_warpgroups_end(rt_place_member(p, place, k));
      rt_copies_free(rt_place_member(p, place, k));
      rt_flights_close(rt_place_member(p, place, k));
      rt_orders_close(rt_place_member(p, place, k));
      rt_registers_end(rt_place_member(p, place, k));
    }
    free(place);
  }
  pthread_mutex_destroy(&p->lock);
}

static RtPlace *begin(RtPlaces *p) {
  if (p->begun == p->blocks)
    return NULL;
  RtPlace *place = p->unused ? p->unused : make(p);
  if (!place)
    return NULL;
  if (place == p->unused)
    p->unused = place->next;
  assert(p->begun < p->blocks);
  place->block = p->begun++;
  place->times = 0;
  place->standing = 0;
  memset(place->votes, 0, sizeof place->votes);
  return place;
}

/* --- rows --- */

/* A place is running (in no list), ready, tried in vain (front, back), at the grid's barrier, or
 * unused. Under the lock. */
static __attribute__((unused)) bool is_sound(const RtPlaces *p) {
  return p->begun <= p->blocks && p->ended + p->nat_grid <= p->begun &&
         p->made <= p->blocks + LEAST && !p->ready.first == !p->ready.last &&
         !p->front.first == !p->front.last && !p->back.first == !p->back.last &&
         !p->at_grid == !p->nat_grid;
}

static void append(RtPlaceRow *row, RtPlace *place) {
  assert(!row->last || !row->last->next);
  place->next = NULL, place->before = row->last;
  *(row->last ? &row->last->next : &row->first) = place;
  row->last = place;
}

static void prepend(RtPlaceRow *row, RtPlace *place) {
  assert(!row->first || !row->first->before);
  place->before = NULL, place->next = row->first;
  *(row->first ? &row->first->before : &row->last) = place;
  row->first = place;
}

static RtPlace *remove_end(RtPlaceRow *row, bool last) {
  RtPlace *place = last ? row->last : row->first;
  if (!place)
    return NULL;
  *(place->before ? &place->before->next : &row->first) = place->next;
  *(place->next ? &place->next->before : &row->last) = place->before;
  place->from_back = last;
  return place;
}

/* a, then b; a is left empty. */
static void join(RtPlaceRow *a, RtPlaceRow *b) {
  if (a->last) {
    a->last->next = b->first;
    *(b->first ? &b->first->before : &b->last) = a->last;
    b->first = a->first;
  }
  *a = (RtPlaceRow){0};
}

/* A block has got further: what others wait for may be there. */
static void try_all(RtPlaces *p) {
  join(&p->front, &p->ready);
  join(&p->ready, &p->back);
  p->ready = p->back;
  p->back = (RtPlaceRow){0};
}

/* --- blocks come and go --- */

RtPlace *rt_places_take(RtPlaces *p, unsigned *idle) {
  pthread_mutex_lock(&p->lock);
  bool last = ++p->turn & 2;
  RtPlace *place = p->turn & 1 ? begin(p) : NULL;
  if (!place)
    place = remove_end(&p->ready, last);
  if (!place)
    place = begin(p);
  if (!place) {
    try_all(p);
    p->idle++;
    place = remove_end(&p->ready, last);
  }
  *idle = p->idle;
  assert(is_sound(p));
  pthread_mutex_unlock(&p->lock);
  for (uint32_t k = 0; place && !place->times && k < p->members; k++)
    memset(rt_place_member(p, place, k)->shared, 255, p->shared_bytes);
  return place;
}

void rt_places_put(RtPlaces *p, RtPlace *place) {
  pthread_mutex_lock(&p->lock);
  place->times++;
  if (place->state != RT_PLACE_YIELDS || place->moved) {
    try_all(p);
    p->idle = 0;
  }
  if (place->state == RT_PLACE_YIELDS) {
    if (place->times == 1)
      append(&p->back, place);
    else if (place->from_back)
      prepend(&p->back, place);
    else
      append(&p->front, place);
  } else if (place->state == RT_PLACE_AT_GRID) {
    place->next = p->at_grid;
    p->at_grid = place;
    p->nat_grid++;
  } else {
    assert(place->state == RT_PLACE_ENDED);
    p->ended++;
    give_up(p, place);
  }
  assert(is_sound(p));
  pthread_mutex_unlock(&p->lock);
}

uint64_t rt_places_ready(RtPlaces *p) {
  pthread_mutex_lock(&p->lock);
  uint64_t n = p->blocks - p->begun;
  try_all(p);
  for (const RtPlace *place = p->ready.first; place; place = place->next)
    n++;
  pthread_mutex_unlock(&p->lock);
  return n;
}

uint64_t rt_places_meet(RtPlaces *p, const RtPlace **first) {
  uint64_t n = p->nat_grid;
  *first = NULL;
  for (const RtPlace *place = p->at_grid; place && p->ended; place = place->next)
    if (!*first || place->block < (*first)->block)
      *first = place;
  while (p->at_grid && !p->ended) {
    RtPlace *place = p->at_grid;
    p->at_grid = place->next;
    append(&p->ready, place);
  }
  p->nat_grid = p->ended ? n : 0;
  return n;
}
