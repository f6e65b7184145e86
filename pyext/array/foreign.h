/* Foreign: arrays of other libraries, in: DLPack, its C exchange API, CuPy's attributes,
 * __cuda_array_interface__ (versions 0 to 3).
 *
 * Nothing is copied, and nothing that an object says is trusted further than it can be checked. */
#ifndef PYPTX_PYEXT_ARRAY_FOREIGN_H
#define PYPTX_PYEXT_ARRAY_FOREIGN_H

#include "pyext/compile/signature.h"
#include "pyext/state.h"

enum { /* PxForeign.device, beside GPU numbers and RT_HOST */
       PX_UNKNOWN_GPU = -2,
       PX_ANYWHERE = -3, /* pinned and managed memory: the host and every GPU */
};

/* Why a kernel must not write to an array. */
enum PxReadOnly {
  PX_WRITABLE,
  PX_READ_ONLY, /* it says so */
  PX_TRACKED,   /* autograd would not see it: a tensor that requires grad */
  PX_LABELLED,  /* pandas shares it, or it is a copy (labelled.h) */
};

typedef struct PxForeign {
  uint64_t address;
  PyObject *dtype;  /* owned by the caller after a successful read; NULL: elem's */
  PyObject *keeper; /* owned likewise: what keeps the memory, NULL where the object itself does */
  PxElem elem;
  size_t itemsize;
  unsigned ndim;
  int device;
  uint8_t readonly; /* PxReadOnly */
  bool has_stream;
  uint64_t stream; /* the producer's: 1 legacy, 2 per-thread, else a handle */
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM]; /* bytes */
} PxForeign;

void px_foreign_clear(PxForeign *f);
/* Adds the bytes that an axis spans, at most; false where a sum is beyond 63 bits: no array is, and
 * offsets are not to overflow later. */
static inline bool px_add_reach(int64_t stride, int64_t extent, int64_t *reach) {
  int64_t way;
  return !__builtin_mul_overflow(stride, extent, &way) &&
         !__builtin_add_overflow(*reach, way < 0 ? ~way : way, reach);
}

/* Reads an interface dict. 0, or -1 with TypeError. */
int px_foreign_read(PxState *st, PyObject *interface, PxForeign *out);
/* Reads any array of another library; stream: of the work to come (0: the default one). 1, 0 if obj
 * is none, -1 with an exception. */
int px_foreign_of(PxState *st, PyObject *obj, uint64_t stream, PxForeign *out);
/* Orders work on `stream` after the producer's work, without blocking this thread. PYPTX_CAI_SYNC=0
 * leaves that to the user. */
int px_foreign_wait(PxState *st, const PxForeign *f, RtDevice *d, RtStream *stream);
/* Can code on d use the memory? 0, or -1 with TypeError or ValueError. what: "argument 1", for
 * messages. */
int px_foreign_check(const PxForeign *f, RtDevice *d, PyObject *obj, const char *what);

#endif
