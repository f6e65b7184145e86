/* Entries: a compiled kernel's code onto its device. A kernel that is coarsened
 * (docs/COARSENING.md) has two entries, each compiled by itself and loaded when a launch first
 * wants it; one that loads much in a loop has its code with two limits of registers, of which a
 * launch wants one; every other kernel is loaded when it has been compiled. After a reset of the
 * device all are loaded again when a launch wants them. */
#ifndef PYPTX_PYEXT_LAUNCH_ENTRY_LOADING_H
#define PYPTX_PYEXT_LAUNCH_ENTRY_LOADING_H

#include "pyext/compile/overload.h"

/* Fills o->kernel, and o->entries on a GPU. declared: the functions of other modules that the code
 * may call. 0 or -1. */
int px_entries_open(PxState *st, struct PxDispatcher *d, PxOverload *o, PyObject *declared);
void px_entries_free(PxOverload *o); /* after its kernel */

/* Loads an entry, unless that is done; threads that want one wait for each other. Compiles a
 * coarsened one first. 0 or -1. */
int px_entry_load(PxState *st, PxOverload *o, RtEntryKind entry);
/* The kernel's own, which what is told about it goes by. */
int px_entry_own(PxState *st, PxOverload *o);
/* Advice about the kernel's own entry: a new list, empty where it is not loaded; NULL with an
 * exception. asked: what its loading has not shown besides (PT810). */
PyObject *px_entry_advice(PxState *st, PxOverload *o, bool asked);
/* PTX of the coarsened entry, compiled if it was not: borrowed. *ptx is NULL if there is none. 0 or
 * -1. */
int px_entry_coarse_ptx(PxState *st, PxOverload *o, const char **ptx);

#endif
