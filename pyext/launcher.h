/* Launcher: a dispatcher with its launch configuration: k[grid, block, stream, shared], k.forall(n). Calling it launches. */
#ifndef PYPTX_PYEXT_LAUNCHER_H
#define PYPTX_PYEXT_LAUNCHER_H

#include "pyext/dispatcher.h"
#include "runtime/launch.h"

typedef struct PxLauncher {
  PyObject_HEAD vectorcallfunc call;
  PxDispatcher *dispatcher;
  PyObject *stream; /* a Stream or None; config.stream is its */
  RtConfig config;
  bool forall;
  uint64_t ntasks; /* forall */
} PxLauncher;

/* Fills a parameter block from the values of a launch; TRAP and GRID are left to the runtime. */
void px_pack(const RtParams *params, const PxLeaf *leaves, char *block);
/* 0, or -1 with ValueError if the kernel writes to an argument that is read-only. */
int px_check_writable(PxDispatcher *d, const PxOverload *o, const PxArgs *a);
/* An int or a tuple of 1 to 3 as three extents, the missing ones 1. what: "the grid", for errors. 0, or -1 with an exception. */
int px_read_dims(const char *what, PyObject *arg, uint32_t out[3]);

#endif
