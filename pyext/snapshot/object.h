/* Snapshot of single objects: constants, NumPy's, modules, namespaces, functions' shells. */
#ifndef PYPTX_PYEXT_SNAPSHOT_OBJECT_H
#define PYPTX_PYEXT_SNAPSHOT_OBJECT_H

#include "pyext/snapshot/snapshot.h"

/* snapshot.c: makes `f` the frozen form of a Python function, and queues what it sees. */
Frozen *px_freeze_function(PxSnapshot *s, Frozen *f, PyObject *function,
                           const FuncOptions *options);
/* The kernel itself. */
Frozen *px_freeze_root(PxSnapshot *s, PyObject *function, const FuncOptions *options);
/* Adds to the frozen form of a module or namespace those of the names that it has, and theirs. */
void px_freeze_attributes(PxSnapshot *s, Frozen *f, PyObject *object, const char *const *names,
                          uint32_t n);

/* Kinds of objects: false if it is none of them. array.c: */
bool px_freeze_numpy(PxSnapshot *s, Frozen *f, PyObject *object);
/* Ours, or of another library by __cuda_array_interface__, which is asked of objects that nothing else knows. */
bool px_freeze_memory(PxSnapshot *s, Frozen *f, PyObject *object);

static inline void px_freeze_dtype_of(Frozen *f, TypeId id, DtypeForm form) {
  f->kind = FZ_DTYPE;
  f->type = id;
  f->i = form;
}

#endif
