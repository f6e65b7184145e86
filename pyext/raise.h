/* Raise: the failures of the other rooms as Python exceptions. Every function sets the exception;
 * those that return return -1 or NULL. */
#ifndef PYPTX_PYEXT_RAISE_H
#define PYPTX_PYEXT_RAISE_H

#include "pyext/state.h"

#include "codegen/compile.h"
#include "ir/base/diag.h"
#include "runtime/abi.h"
#include "runtime/status.h"

/* A compile error: a subclass of pyptx.CompileError and of the builtin that errors.def names. */
void px_raise_diag(PxState *st, const Diag *d);
/* What the compiler noticed: a list of pyptx.Advice; and their warnings, of a kernel that is this
 * function. 0, or -1 with an exception, which a warning may be. */
PyObject *px_advice_list(PxState *st, const CgKernel *code);
int px_show_advice(PxState *st, const CgKernel *code, PyObject *function);
/* One of them, new, whose text does not repeat the place if it is brief; a list as warnings, of a
 * kernel in the module of that name, which filters see; and both at once. */
PyObject *px_advice_of(PxState *st, const Diag *d, bool brief);
int px_show_list(PxState *st, PyObject *list, PyObject *module);
int px_show_one_advice(PxState *st, const Diag *d, const char *about, PyObject *module, bool brief);
/* The calling thread's last RtError. RT_TRAPPED does not come here: px_raise_trap. */
void px_raise_status(PxState *st, RtStatus status);
/* The wait for a launch on a GPU has lasted for its timeout, in ns; `behind`: as many launches with
 * one wait behind it. */
void px_raise_late_wait(PxState *st, const char *kernel, uint64_t timeout, const char *device,
                        unsigned behind);
/* A thread stopped: the exception class that the site names, with message, thread, block, file and
 * line. exceptions: the classes that the kernel was compiled with; scope: its globals, where one of
 * them may have been defined anew. Both may be NULL. */
void px_raise_trap(PxState *st, const CgKernel *code, const char *name, const RtTrap *trap,
                   PyObject *exceptions, PyObject *scope);
/* ContextLostError: what was asked for went with a reset of its device. Format as
 * PyErr_Format's. */
void px_raise_lost(PxState *st, const char *format, ...);
/* The class pyptx.errors.NAME: a new reference. */
PyObject *px_error_class(PxState *st, const char *name);

#define PX_TRY_STATUS(st, e, failed)                                                               \
  do {                                                                                             \
    RtStatus px_status_ = (e);                                                                     \
    if (px_status_ != RT_OK) {                                                                     \
      px_raise_status((st), px_status_);                                                           \
      failed;                                                                                      \
    }                                                                                              \
  } while (0)

/* A str, or None for NULL. New reference; NULL with an error only if there is no memory. */
PyObject *px_text_or_none(const char *s);

#endif
