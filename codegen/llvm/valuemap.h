/* Valuemap: a hash table from LLVM values to numbers, in an arena. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_VALUEMAP_H
#define PYPTX_CODEGEN_LLVM_VALUEMAP_H

#include "codegen/llvm/cg.h"

typedef struct ValueMap {
  Arena *arena;
  const void **keys;
  uint32_t *values;
  uint32_t cap, len; /* cap: a power of two, 0 at first */
} ValueMap;

enum { VALUEMAP_NONE = UINT32_MAX };

void valuemap_set(ValueMap *m, const void *key, uint32_t value); /* key: not NULL, not in yet */
uint32_t valuemap_get(const ValueMap *m, const void *key);       /* VALUEMAP_NONE if it is not in */

#endif
