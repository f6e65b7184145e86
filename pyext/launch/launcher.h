/* Launcher: a dispatcher with its launch configuration: k[grid, block, stream, shared],
 * k.forall(n). Calling it launches. */
#ifndef PYPTX_PYEXT_LAUNCH_LAUNCHER_H
#define PYPTX_PYEXT_LAUNCH_LAUNCHER_H

#include "pyext/compile/dispatcher.h"
#include "pyext/launch/typeof.h"
#include "runtime/launch/launch.h"

typedef struct PxLauncher {
  PyObject_HEAD vectorcallfunc call;
  /* what is compiled, and the kernel that was configured: another one where a timeout was given */
  PxDispatcher *dispatcher, *kernel;
  PyObject *stream; /* a Stream or None; config.stream is its */
  RtConfig config;
  bool forall;
  bool far;        /* px_is_far: not for narrow versions, and no plan serves it */
  uint64_t ntasks; /* forall */
  PyObject *weakrefs;
} PxLauncher;

/* k[…], k.configure(…), k.forall(n): launchers of a dispatcher. */
PyObject *px_dispatcher_subscript(PyObject *self, PyObject *key);
PyObject *px_dispatcher_configure(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_dispatcher_forall(PyObject *self, PyObject *args, PyObject *kwargs);

/* --- the steps of a launch --- */

/* Adds the arguments of a call to `a`: positional, keyword and, where a later one is given,
 * default. 0 or -1. */
int px_bind(PxDispatcher *d, PxArgs *a, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames);

/* After px_bind: px_dispatch_apart, and what is done where captured names mean something else. */
PxOverload *px_dispatch_fresh(PxDispatcher *d, PxArgs *a);
/* After px_bind and px_dispatch: what the user should know. 0, or -1 with an exception. */
int px_launch_advise(PxDispatcher *d, const PxArgs *a);
/* After px_bind and px_dispatch: what can be wrong with configuration and arguments. 0 or -1. */
int px_launch_prepare(PxLauncher *l, PxOverload *o, PxArgs *a, RtConfig *config);
/* Fills a parameter block from the values of a launch; BLOCKS, TRAP and GRID are left to the
 * runtime. */
int px_pack(PxState *st, const RtParams *params, const PxLeaf *leaves, char *block);
/* 0, or -1 with ValueError or TypeError if the kernel writes to an argument that it must not write
 * to. */
int px_check_writable(PxDispatcher *d, const PxOverload *o, const PxArgs *a);
/* A host array of a launch, which is queued, gets what the kernel wrote; waits for it. 0 or -1. */
int px_copy_back(PxArgs *a, PxHeld *h);
enum { PX_CAPTURED = 1 }; /* the launch is a node of a graph, and has not happened */
/* The launch, between what it follows. f and block serve this launch only. 0, PX_CAPTURED, -1, or
 * PX_UNPRINTED (prints.h): it has happened, and an exception is set. */
int px_launch_followed(PxOverload *o, RtConfig *config, PxFollow *f, char *block);
/* After a launch on a stream of its own: the memory of these arguments is in use there. */
void px_launch_mark(PxLauncher *l, const PxOverload *o, PyObject *const *argv, Py_ssize_t n);

#endif
