/* Warnings: of launches that Numba warns of, where pyptx.config asks for them. */
#ifndef PYPTX_PYEXT_LAUNCH_WARNINGS_H
#define PYPTX_PYEXT_LAUNCH_WARNINGS_H

#include "pyext/state.h"

/* A grid that leaves multiprocessors of a GPU idle. 0, or -1 where the warning is an error. */
int px_warn_of_grid(PxState *st, const uint32_t grid[3]);
/* A host array that is copied for a launch. Likewise. */
int px_warn_of_copy(PxState *st);

#endif
