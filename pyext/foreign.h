/* Foreign: GPU arrays of other libraries through __cuda_array_interface__ (versions 0 to 3). */
#ifndef PYPTX_PYEXT_FOREIGN_H
#define PYPTX_PYEXT_FOREIGN_H

#include "pyext/state.h"

typedef struct PxForeign {
  uint64_t address;
  PyObject *dtype; /* owned by the caller after a successful read */
  size_t itemsize;
  unsigned ndim;
  bool readonly;
  bool has_stream;
  uint64_t stream; /* the producer's: 1 legacy, 2 per-thread, else a handle */
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM];
} PxForeign;

/* Reads the interface dict. 0, or -1 with TypeError. */
int px_foreign_read(PxState *st, PyObject *interface, PxForeign *out);
/* Orders work on `stream` after the producer's work, without blocking this thread. PYPTX_CAI_SYNC=0 leaves that to the user. */
int px_foreign_wait(PxState *st, const PxForeign *f, RtDevice *d, RtStream *stream);

#endif
