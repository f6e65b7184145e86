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

#endif
