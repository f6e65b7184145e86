/* Snapshot of single objects: constants, NumPy's, modules, namespaces, functions' shells. */
#ifndef PYPTX_PYEXT_SNAPSHOT_OBJECT_H
#define PYPTX_PYEXT_SNAPSHOT_OBJECT_H

#include "pyext/snapshot/work.h"

/* The frozen form of an object: the same one for the same object. */
Frozen *px_freeze(PxSnapshot *s, PyObject *object);
Frozen *px_new_frozen(PxSnapshot *s, FrozenKind kind);
/* The kernel itself. */
Frozen *px_freeze_root(PxSnapshot *s, PyObject *function, const FuncOptions *options);
/* Adds to the frozen form of a module or namespace those of the names that it has, and theirs. */
void px_freeze_attributes(PxSnapshot *s, Frozen *f, PyObject *object, const char *const *names,
                          uint32_t n);

static inline void px_freeze_dtype_of(Frozen *f, TypeId id, DtypeForm form) {
  f->kind = FZ_DTYPE;
  f->type = id;
  f->i = form;
}

#endif
