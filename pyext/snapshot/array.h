/* Arrays in a snapshot: NumPy's, whose elements become constants, and device arrays, whose
 * addresses do. */
#ifndef PYPTX_PYEXT_SNAPSHOT_ARRAY_H
#define PYPTX_PYEXT_SNAPSHOT_ARRAY_H

#include "pyext/snapshot/work.h"

/* Both: false if the object is none of theirs. */
bool px_freeze_numpy(PxSnapshot *s, Frozen *f, PyObject *object);
/* Ours, or of another library by __cuda_array_interface__, which is asked of objects that nothing
 * else knows. */
bool px_freeze_memory(PxSnapshot *s, Frozen *f, PyObject *object);

#endif
