/* Parts: see parts.h. */
#include "runtime/host/parts.h"

enum {
  EACH = 64,      /* with so many blocks a worker, one more or less is short beside its share */
  PART_NS = 4000, /* a part lasts at least so long: many times what taking it does */
  VECTOR = 16,    /* a part's width is a multiple */
};

/* A single block runs on one thread, in order, as the first launch's blocks do on each. */
uint32_t rt_parts_of(const RtHostCode *code, uint64_t blocks, uint32_t width, unsigned workers,
                     uint64_t block_ns) {
  uint64_t wanted = (uint64_t)EACH * workers;
  if (!code->parts || code->checks || workers == 1 || blocks <= 1 || blocks >= wanted ||
      width % VECTOR)
    return 1;
  uint64_t most = block_ns / PART_NS, enough = (wanted + blocks - 1) / blocks;
  uint32_t n = width / VECTOR;
  most = most < enough ? most : enough;
  while (n > 1 && (n > most || width / VECTOR % n))
    n--;
  return n;
}
