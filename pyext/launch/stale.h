/* Stale: kernels whose captured names mean something else now. */
#ifndef PYPTX_PYEXT_LAUNCH_STALE_H
#define PYPTX_PYEXT_LAUNCH_STALE_H

#include "pyext/compile/dispatcher.h"

/* The captures of the overload do not hold. A value that was replaced is said once (PT816). 1: a
 * function was redefined, and the dispatcher has forgotten the overload, which is compiled again;
 * 0: it serves; -1: an exception. */
int px_stale_review(PxState *st, PxDispatcher *d, PxOverload *o);

#endif
