/* Work: a snapshot in progress, as its files see it; others see snapshot.h. */
#ifndef PYPTX_PYEXT_SNAPSHOT_WORK_H
#define PYPTX_PYEXT_SNAPSHOT_WORK_H

#include "pyext/snapshot/snapshot.h"

typedef struct PxMemo PxMemo;
struct PxSnapshot {
  PxState *st;
  Cx *cx; /* its arena holds everything */
  RtDevice *device;
  PyObject *owners;     /* list: device arrays that are frozen */
  PyObject *declared;   /* list: device functions of other modules that are */
  PyObject *exceptions; /* dict: exception classes that are, by FZ_EXCEPTION's text */
  PyObject *keep;       /* list: what must stay alive while the memo compares addresses */
  PxMemo *memo;
  uint32_t memo_len, memo_cap;
  VEC(struct PxWork) work;
  uint32_t nfuncs, depth;
  const FuncOptions *all; /* of every function that has none of its own */
  bool mentions_complex;
  const Frozen *root;
  PxCaptures captures;
  Py_buffer elements; /* of an array, while they are copied */
  PyObject *failed;   /* the exception of a Python call, while unwinding */
};

struct PxWork { /* a function whose shell stands and whose contents are still to be frozen */
  PyObject *function;
  FrozenFunc *out;
};

/* Notes that the name means this value in a dict or a cell. */
void px_capture(PxSnapshot *s, PyObject *scope, PyObject *name, PyObject *value);

/* Leaves through the Cx with the Python exception that is set. */
_Noreturn void px_snapshot_raise(PxSnapshot *s);
/* Steals a new reference and keeps it as long as the snapshot; leaves if it is NULL. Returns it,
 * borrowed. */
PyObject *px_keep(PxSnapshot *s, PyObject *new_reference);
/* What a `lazy import` of CPython 3.15 stands for, and any other value as it is. Takes the
 * reference and gives a new one; NULL with an exception if the import fails. NULL is fine. */
PyObject *px_resolved(PyObject *value);
/* UTF-8 in the arena, ending with a NUL; leaves if it is no str. */
const char *px_freeze_text(PxSnapshot *s, PyObject *str);
const char *px_freeze_string(PxSnapshot *s, PyObject *str, size_t *length);

/* Makes `f` the frozen form of a Python function, and queues what it sees. */
Frozen *px_freeze_function(PxSnapshot *s, Frozen *f, PyObject *function,
                           const FuncOptions *options);

#endif
