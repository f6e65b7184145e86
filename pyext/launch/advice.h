/* Advice about launches: rows PT811 to PT819 of ir/base/errors.def, each said once a kernel. Only
 * px_leaves_out is on the way of a launch in a loop. What returns an int gives 0, or -1 with an
 * exception, which a filter may make of a warning. */
#ifndef PYPTX_PYEXT_LAUNCH_ADVICE_H
#define PYPTX_PYEXT_LAUNCH_ADVICE_H

#include "pyext/compile/overload.h"
#include "pyext/launch/typeof.h"
#include "runtime/launch/launch.h"

struct PxDispatcher;

/* Does the grid have fewer threads than a guard of the kernel lets pass? block: filled. */
static inline bool px_leaves_out(const PxGuard *guards, unsigned n, const RtConfig *c,
                                 const char *block) {
  for (unsigned k = 0; k < n; k++) {
    int64_t bound = 0;
    int32_t narrow;
    if (guards[k].wide) {
      memcpy(&bound, block + guards[k].offset, sizeof bound);
    } else {
      memcpy(&narrow, block + guards[k].offset, sizeof narrow);
      bound = narrow;
    }
    if (bound > (int64_t)c->grid[guards[k].axis] * c->block[guards[k].axis])
      return true;
  }
  return false;
}
/* It does: says so. */
int px_advise_grid(PxState *st, PxOverload *o, const RtConfig *c, const char *block);

/* k[grid, block]: blocks that leave lanes of their warps idle. */
static inline bool px_block_is_odd(const RtConfig *c) {
  return (c->block[0] * c->block[1] * c->block[2]) & 31;
}
int px_advise_block(PxState *st, struct PxDispatcher *d, const RtConfig *c);

/* A launch with NumPy arrays, which a GPU gets copies of. */
int px_advise_copies(PxState *st, struct PxDispatcher *d, const PxArgs *a);

/* A captured name has been given another value. */
int px_advise_stale(PxState *st, struct PxDispatcher *d, PyObject *name);

/* A launch on the host device, which nobody chose. */
int px_advise_host(PxState *st);

#endif
