/* Overlap: do arrays of a launch share memory? Code of narrow versions may rely on it that they do
 * not (CgKernel.needs_apart): all ways of a launch look, and take the wide version where they
 * do. */
#ifndef PYPTX_PYEXT_LAUNCH_OVERLAP_H
#define PYPTX_PYEXT_LAUNCH_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PX_MOST_SPANS = 32 }; /* more arrays count as overlapping */

typedef struct PxSpans { /* from the first to behind the last byte of each array */
  uint64_t low[PX_MOST_SPANS], high[PX_MOST_SPANS];
  uint32_t n;
  bool overlap;
} PxSpans;

struct PxArgs;
struct PxDispatcher;
/* px_dispatch, and once more for the wide version where arrays overlap. */
struct PxOverload *px_dispatch_apart(struct PxDispatcher *d, struct PxArgs *a);

/* strides in bytes; NULL: those of C order. What lies between two elements counts as the array's
 * own. */
static inline void px_add_span(PxSpans *s, uint64_t address, unsigned ndim, size_t itemsize,
                               const int64_t *shape, const int64_t *strides) {
  uint64_t low = address, high = address + itemsize;
  int64_t stride = (int64_t)itemsize;
  for (unsigned k = ndim; k-- > 0;) {
    if (!shape[k])
      return;
    int64_t reach = (shape[k] - 1) * (strides ? strides[k] : stride);
    stride *= shape[k];
    *(reach < 0 ? &low : &high) += (uint64_t)reach;
  }
  for (uint32_t k = 0; k < s->n; k++)
    s->overlap |= low < s->high[k] && s->low[k] < high;
  s->overlap |= s->n == PX_MOST_SPANS;
  if (!s->overlap) {
    s->low[s->n] = low;
    s->high[s->n++] = high;
  }
}

#endif
