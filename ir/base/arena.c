/* Arena: bump allocation in chunks that double up to a limit. */
#include "ir/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaChunk {
  ArenaChunk *next;
  size_t size;
  char data[] __attribute__((aligned(16)));
};

enum { FIRST_CHUNK = 1 << 14, MAX_CHUNK = 1 << 20 };

void arena_init(Arena *a, void (*on_oom)(void *), void *user) {
  *a = (Arena){.on_oom = on_oom, .user = user};
}

void arena_free(Arena *a) {
  for (ArenaChunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  a->chunks = NULL;
  a->at = a->end = NULL;
  a->used = 0;
}

static void arena_new_chunk(Arena *a, size_t need) {
  size_t size = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
  if (size > MAX_CHUNK)
    size = MAX_CHUNK;
  if (size < need)
    size = need;
  ArenaChunk *c = size > SIZE_MAX - sizeof *c ? NULL : malloc(sizeof *c + size);
  if (!c) {
    if (a->on_oom)
      a->on_oom(a->user);
    abort();
  }
  c->next = a->chunks;
  c->size = size;
  a->chunks = c;
  a->at = c->data;
  a->end = c->data + size;
}

void *arena_alloc(Arena *a, size_t size) {
  size = (size + 15) & ~(size_t)15;
  if ((size_t)(a->end - a->at) < size)
    arena_new_chunk(a, size);
  void *p = a->at;
  a->at += size;
  a->used += size;
  return memset(p, 0, size);
}

void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size) {
  void *p = arena_alloc(a, new_size);
  if (old_size)
    memcpy(p, old, old_size);
  return p;
}

void *arena_memdup(Arena *a, const void *p, size_t n) {
  void *q = arena_alloc(a, n ? n : 1);
  if (n)
    memcpy(q, p, n);
  return q;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1);
  if (n)
    memcpy(p, s, n);
  return p;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(Arena *a, const char *format, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, format, ap);
  char *p = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
  if (n > 0)
    vsnprintf(p, (size_t)n + 1, format, again);
  va_end(again);
  return p;
}

char *arena_printf(Arena *a, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  char *p = arena_vprintf(a, format, ap);
  va_end(ap);
  return p;
}
