/* Intern: one pointer for each distinct string, so that names compare with ==. */
#ifndef PYPTX_IR_BASE_INTERN_H
#define PYPTX_IR_BASE_INTERN_H

#include "ir/base/arena.h"

typedef struct Intern {
  Arena *arena;
  const char **slots; /* open addressing, power of two */
  uint32_t cap, len;
} Intern;

void intern_init(Intern *t, Arena *arena);
const char *intern_n(Intern *t, const char *s, size_t n);
const char *intern(Intern *t, const char *s);
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed); /* FNV-1a, for tables only */

#endif
