#include "ir/base/intern.h"

#include <string.h>

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed) {
  const unsigned char *c = p;
  uint64_t h = seed ^ 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++)
    h = (h ^ c[i]) * 0x100000001b3u;
  return h ^ h >> 32;
}

void intern_init(Intern *t, Arena *arena) {
  *t = (Intern){.arena = arena, .cap = 64};
  t->slots = ARENA_ARRAY(arena, const char *, t->cap);
}

static void intern_rehash(Intern *t) {
  const char **old = t->slots;
  uint32_t old_cap = t->cap;
  t->cap *= 2;
  t->slots = ARENA_ARRAY(t->arena, const char *, t->cap);
  for (uint32_t i = 0; i < old_cap; i++) {
    if (!old[i])
      continue;
    uint32_t at = (uint32_t)hash_bytes(old[i], strlen(old[i]), 0) & (t->cap - 1);
    while (t->slots[at])
      at = (at + 1) & (t->cap - 1);
    t->slots[at] = old[i];
  }
}

const char *intern_n(Intern *t, const char *s, size_t n) {
  if (t->len * 2 >= t->cap)
    intern_rehash(t);
  uint32_t at = (uint32_t)hash_bytes(s, n, 0) & (t->cap - 1);
  for (; t->slots[at]; at = (at + 1) & (t->cap - 1))
    if (!strncmp(t->slots[at], s, n) && !t->slots[at][n])
      return t->slots[at];
  t->len++;
  return t->slots[at] = arena_strndup(t->arena, s, n);
}

const char *intern(Intern *t, const char *s) { return intern_n(t, s, strlen(s)); }
