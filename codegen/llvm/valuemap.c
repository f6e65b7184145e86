/* Valuemap: open addressing on the pointer, at most three quarters full. */
#include "codegen/llvm/valuemap.h"

#include <assert.h>

static uint32_t slot_of(const ValueMap *m, const void *key) {
  uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  uint32_t at = (uint32_t)(h >> 32) & (m->cap - 1);
  while (m->keys[at] && m->keys[at] != key)
    at = (at + 1) & (m->cap - 1);
  return at;
}

static void grow(ValueMap *m) {
  ValueMap old = *m;
  m->cap = old.cap ? old.cap * 2 : 64;
  m->keys = ARENA_ARRAY(m->arena, const void *, m->cap);
  m->values = ARENA_ARRAY(m->arena, uint32_t, m->cap);
  for (uint32_t k = 0; k < old.cap; k++) {
    if (!old.keys[k])
      continue;
    uint32_t at = slot_of(m, old.keys[k]);
    m->keys[at] = old.keys[k];
    m->values[at] = old.values[k];
  }
}

void valuemap_set(ValueMap *m, const void *key, uint32_t value) {
  assert(key && value != VALUEMAP_NONE);
  if (m->len + 1 > m->cap - m->cap / 4)
    grow(m);
  uint32_t at = slot_of(m, key);
  m->len += !m->keys[at];
  m->keys[at] = key;
  m->values[at] = value;
}

uint32_t valuemap_get(const ValueMap *m, const void *key) {
  if (!m->cap)
    return VALUEMAP_NONE;
  uint32_t at = slot_of(m, key);
  return m->keys[at] ? m->values[at] : VALUEMAP_NONE;
}
