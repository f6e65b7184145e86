/* Unset: a bit for each byte, in pieces that are made where memory is noted and are kept. Pieces
 * are found without a lock: they are only ever added. */
#include "runtime/memory/unset.h"

#include <pthread.h>
#include <stdlib.h>

enum { PIECE_BITS = 16, PIECE_BYTES = 1 << PIECE_BITS, WORDS = PIECE_BYTES / 64, ROWS = 1 << 12 };

typedef struct Piece {
  uintptr_t number;
  struct Piece *next;
  _Atomic uint64_t words[WORDS];
} Piece;

_Atomic uint32_t rt_unset_watchers;
static Piece *_Atomic rows[ROWS];
static atomic_bool marked; /* since rt_unset_forget */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static Piece *find(uintptr_t number) {
  Piece *p = atomic_load_explicit(&rows[number % ROWS], memory_order_acquire);
  while (p && p->number != number)
    p = p->next;
  return p;
}

/* NULL: there is no memory, and the bytes count as written. */
static Piece *find_or_make(uintptr_t number) {
  Piece *p = find(number);
  if (p)
    return p;
  pthread_mutex_lock(&making);
  p = find(number);
  if (!p && (p = calloc(1, sizeof *p))) {
    p->number = number;
    p->next = atomic_load(&rows[number % ROWS]);
    atomic_store_explicit(&rows[number % ROWS], p, memory_order_release);
  }
  pthread_mutex_unlock(&making);
  return p;
}

/* The bits of `n` bytes from `at` on that are in one word. */
static uint64_t mask_of(size_t at, size_t n) {
  uint64_t ones = n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
  return ones << at;
}

typedef enum What { MARK, CLEAR, ANY } What;

static bool in_piece(Piece *p, size_t at, size_t end, What what) {
  while (at < end) {
    size_t bit = at % 64, n = end - at < 64 - bit ? end - at : 64 - bit;
    _Atomic uint64_t *word = &p->words[at / 64];
    uint64_t mask = mask_of(bit, n), old = atomic_load_explicit(word, memory_order_relaxed);
    if (what == ANY && (old & mask))
      return true;
    if (what == MARK && (old & mask) != mask)
      atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
    if (what == CLEAR && (old & mask))
      atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed);
    at += n;
  }
  return false;
}

static bool walk(uintptr_t at, size_t bytes, What what) {
  for (uintptr_t end = at + bytes; at < end;) {
    uintptr_t number = at >> PIECE_BITS, next = (number + 1) << PIECE_BITS;
    uintptr_t stop = end < next ? end : next;
    Piece *p = what == MARK ? find_or_make(number) : find(number);
    if (p && in_piece(p, at % PIECE_BYTES, stop - (number << PIECE_BITS), what))
      return true;
    at = stop;
  }
  return false;
}

void rt_unset_mark(uintptr_t at, size_t bytes) {
  atomic_store_explicit(&marked, true, memory_order_relaxed);
  walk(at, bytes, MARK);
}
void rt_unset_clear(uintptr_t at, size_t bytes) { walk(at, bytes, CLEAR); }
bool rt_unset_any(uintptr_t at, size_t bytes) { return walk(at, bytes, ANY); }

void rt_unset_forget(void) {
  if (!atomic_exchange(&marked, false))
    return;
  for (size_t k = 0; k < ROWS; k++)
    for (Piece *p = atomic_load(&rows[k]); p; p = p->next)
      in_piece(p, 0, PIECE_BYTES, CLEAR);
}

void rt_unset_watch(int by) {
  if (atomic_fetch_add(&rt_unset_watchers, (uint32_t)by) == 1 && by < 0)
    rt_unset_forget();
}
