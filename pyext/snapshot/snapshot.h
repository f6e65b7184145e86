/* Snapshot: a live Python function, and all it can see, as frozen data (ir/frozen.h). Runs under the GIL, once a compilation.
 *
 * Frozen: the code object; globals and builtins that the code names; closure values; defaults; of modules and namespaces the
 * attributes that the code names; the functions reached so, by a work list (recursion and cycles are fine). */
#ifndef PYPTX_PYEXT_SNAPSHOT_SNAPSHOT_H
#define PYPTX_PYEXT_SNAPSHOT_SNAPSHOT_H

#include "ir/cx.h"
#include "ir/frozen.h"
#include "pyext/state.h"

typedef struct PxSnapshot PxSnapshot;

/* function: a Python function. device: where the kernel will run, whose arrays it may hold by address; NULL: any. NULL with an exception. */
PxSnapshot *px_snapshot(PxState *st, PyObject *function, const FuncOptions *options,
                        RtDevice *device);
/* The device arrays whose addresses the kernel holds, which must outlive it: a new tuple, or NULL with an exception. */
PyObject *px_snapshot_owners(const PxSnapshot *s);
/* Functions of other modules (cuda.declare_device) that it may call, in the same way. */
PyObject *px_snapshot_declared(const PxSnapshot *s);
/* Valid, and immutable, until px_snapshot_free; may be read without the GIL. */
const FrozenFunc *px_snapshot_func(const PxSnapshot *s);
void px_snapshot_free(PxSnapshot *s); /* with the GIL; NULL is fine */

/* The functions of pyptx._complex as a frozen module, if the snapshot or the signature mentions complex numbers; else NULL. -1 with an
 * exception. They are frozen once and live as long as the module. */
int px_complex_library(PxState *st, const PxSnapshot *s, const char *signature,
                       const Frozen **library);

/* The opcode table of the running interpreter, made at the first call. NULL with an exception. */
const OpTable *px_optable(PxState *st);

/* --- between the files of the snapshot --- */

typedef struct PxMemo PxMemo;
struct PxSnapshot {
  PxState *st;
  Cx *cx; /* its arena holds everything */
  RtDevice *device;
  PyObject *owners;   /* list: device arrays that are frozen */
  PyObject *declared; /* list: device functions of other modules that are */
  PyObject *keep;     /* list: what must stay alive while the memo compares addresses */
  PxMemo *memo;
  uint32_t memo_len, memo_cap;
  VEC(struct PxWork) work;
  uint32_t nfuncs, depth;
  const FuncOptions *all; /* of every function that has none of its own */
  bool mentions_complex;
  const Frozen *root;
  Py_buffer elements; /* of an array, while they are copied */
  PyObject *failed;   /* the exception of a Python call, while unwinding */
};

struct PxWork { /* a function whose shell stands and whose contents are still to be frozen */
  PyObject *function;
  FrozenFunc *out;
};

/* Leaves through the Cx with the Python exception that is set. */
_Noreturn void px_snapshot_raise(PxSnapshot *s);
/* Steals a new reference and keeps it as long as the snapshot; leaves if it is NULL. Returns it, borrowed. */
PyObject *px_keep(PxSnapshot *s, PyObject *new_reference);
/* What a `lazy import` of CPython 3.15 stands for, and any other value as it is. Takes the reference and gives a new one; NULL with an
 * exception if the import fails. NULL is fine. */
PyObject *px_resolved(PyObject *value);
Frozen *px_freeze(PxSnapshot *s, PyObject *object);
const Code *px_freeze_code(PxSnapshot *s, PyObject *code);
Frozen *px_new_frozen(PxSnapshot *s, FrozenKind kind);
/* UTF-8 in the arena, ending with a NUL; leaves if it is no str. */
const char *px_freeze_text(PxSnapshot *s, PyObject *str);
const char *px_freeze_string(PxSnapshot *s, PyObject *str, size_t *length);

#endif
