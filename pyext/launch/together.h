/* Together: NumPy arrays of one launch that share memory share it on the GPU too. */
#ifndef PYPTX_PYEXT_LAUNCH_TOGETHER_H
#define PYPTX_PYEXT_LAUNCH_TOGETHER_H

#include "pyext/launch/typeof.h"

/* Adds an array whose elements earlier arrays of the launch have, too: 1. 0: none has, and nothing
 * has happened. -1 with an exception. */
int px_add_together(PxArgs *a, PxHeld *h, PyObject *arg);
/* Is it in such memory with gaps between its elements, so that its copy back is the one below? */
bool px_has_gaps(const PxHeld *h);
int px_copy_back_gaps(PxArgs *a, PxHeld *h);

#endif
