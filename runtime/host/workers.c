/* Workers: the memory of a thread that runs blocks.
 *
 * In: how much stack, shared memory and frames a launch needs. Out: the calling thread's worker.
 * What a launch had stays for the next one, up to KEEP_BYTES of each kind. */
#include "runtime/host/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  KEEP_BYTES = 16 << 20, /* a thread keeps up to this much memory from launch to launch */
  /* of one worker's memory: more is a mistake, and would only be found out by swapping */
  MOST_GIB = 64,
};

static pthread_key_t worker_key;
static bool have_worker_key;

static void free_worker(void *p) {
  RtWorker *w = p;
  free(w->shared.at);
  free(w->frame.at);
  free(w->sums.at);
  free(w);
}

static void make_worker_key(void) {
  have_worker_key = pthread_key_create(&worker_key, free_worker) == 0;
}

static void find_stack(RtWorker *w) {
  pthread_attr_t own;
  void *low;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &own) != 0)
    return;
  if (pthread_attr_getstack(&own, &low, &size) == 0)
    w->stack_low = (uintptr_t)low, w->stack_high = (uintptr_t)low + size;
  pthread_attr_destroy(&own);
}

uintptr_t rt_worker_stack_end(const RtWorker *w, size_t stack_bytes) {
  return w->stack_low ? w->stack_low + stack_bytes + RT_STACK_REST : 0;
}

/* Where the thread runs on a stack of somebody's making (a coroutine's), nothing is known of
 * that. */
static bool has_stack(const RtWorker *w, size_t stack_bytes) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return !w->stack_low || (here > rt_worker_stack_end(w, stack_bytes) && here < w->stack_high);
}

static RtWorker *own_worker(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_worker_key);
  if (!have_worker_key)
    return NULL;
  RtWorker *w = rt_worker_here();
  if (w)
    return w;
  w = calloc(1, sizeof *w);
  if (w)
    find_stack(w);
  if (w && pthread_setspecific(worker_key, w) != 0) {
    free(w);
    w = NULL;
  }
  return w;
}

static bool reserve(RtBuffer *b, size_t size) {
  if (size <= b->size)
    return true;
  if (size >> 30 >= MOST_GIB)
    return false;
  free(b->at);
  size = (size + RT_MEMORY_ALIGN - 1) / RT_MEMORY_ALIGN * RT_MEMORY_ALIGN;
  b->at = aligned_alloc(RT_MEMORY_ALIGN, size);
  b->size = b->at ? size : 0;
  if (b->at)
    memset(b->at, 0, size);
  return b->at != NULL;
}

static void trim(RtBuffer *b) {
  if (b->size > KEEP_BYTES) {
    free(b->at);
    *b = (RtBuffer){0};
  }
}

static RtWorker *idle_worker(void) {
  RtWorker *w = own_worker();
  if (!w || !w->launch)
    return w;
  RtWorker *nested = calloc(1, sizeof *nested);
  if (nested && pthread_setspecific(worker_key, nested) != 0) {
    free(nested);
    nested = NULL;
  }
  if (nested)
    nested->outer = w, nested->stack_low = w->stack_low, nested->stack_high = w->stack_high;
  return nested;
}

static void give_back(RtWorker *w) {
  w->launch = NULL;
  if (!w->outer)
    return;
  pthread_setspecific(worker_key, w->outer);
  free_worker(w);
}

RtWorker *rt_worker_enter(size_t stack_bytes, size_t shared, size_t frame, bool *is_short) {
  RtWorker *w = idle_worker();
  *is_short = w && !has_stack(w, stack_bytes);
  if (!w)
    return NULL;
  if (*is_short || !reserve(&w->shared, shared) || !reserve(&w->frame, frame)) {
    give_back(w);
    return NULL;
  }
  return w;
}

void *rt_worker_reserve(RtBuffer *b, size_t size) { return reserve(b, size) ? b->at : NULL; }

void rt_worker_leave(RtWorker *w) {
  trim(&w->shared);
  trim(&w->frame);
  give_back(w);
}

RtWorker *rt_worker_here(void) { return pthread_getspecific(worker_key); }
