/* Snapshot: a live Python function, and all it can see, as frozen data (ir/frozen.h). Runs under
 * the GIL, once a compilation.
 *
 * Frozen: the code object; globals and builtins that the code names; closure values; defaults; of
 * modules and namespaces the attributes that the code names; the functions reached so, by a work
 * list (recursion and cycles are fine). */
#ifndef PYPTX_PYEXT_SNAPSHOT_SNAPSHOT_H
#define PYPTX_PYEXT_SNAPSHOT_SNAPSHOT_H

#include "ir/cx.h"
#include "ir/frozen.h"
#include "pyext/snapshot/captures.h"
#include "pyext/state.h"

typedef struct PxSnapshot PxSnapshot;

/* function: a Python function. device: where the kernel will run, whose arrays it may hold by
 * address; NULL: any. NULL with an exception. */
PxSnapshot *px_snapshot(PxState *st, PyObject *function, const FuncOptions *options,
                        RtDevice *device);
/* The device arrays whose addresses the kernel holds, which must outlive it: a new tuple, or NULL
 * with an exception. */
PyObject *px_snapshot_owners(const PxSnapshot *s);
/* The names that it has frozen, with what they mean; moved to *out. */
void px_snapshot_captures(PxSnapshot *s, PxCaptures *out);
/* Functions of other modules (cuda.declare_device) that it may call, in the same way. */
PyObject *px_snapshot_declared(const PxSnapshot *s);
/* The exception classes that it may raise: a dict by the name that its sites have. */
PyObject *px_snapshot_exceptions(const PxSnapshot *s);
/* Valid, and immutable, until px_snapshot_free; may be read without the GIL. */
const FrozenFunc *px_snapshot_func(const PxSnapshot *s);
void px_snapshot_free(PxSnapshot *s); /* with the GIL; NULL is fine */

/* The functions of pyptx._complex as a frozen module, if the snapshot or the signature mentions
 * complex numbers; else NULL. -1 with an exception. They are frozen once and live as long as the
 * module. */
int px_complex_library(PxState *st, const PxSnapshot *s, const char *signature,
                       const Frozen **library);

#endif
