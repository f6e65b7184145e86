/* Foreign: arrays of other libraries, in: DLPack, its C exchange API, CuPy's attributes, __cuda_array_interface__ (versions 0 to 3).
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
typedef enum PxReadOnly {
  PX_WRITABLE,
  PX_READ_ONLY, /* it says so */
  PX_TRACKED,   /* autograd would not see it: a tensor that requires grad */
} PxReadOnly;

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
/* Adds the bytes that an axis spans, at most; false where a sum is beyond 63 bits: no array is, and offsets are not to overflow later. */
static inline bool px_add_reach(int64_t stride, int64_t extent, int64_t *reach) {
  int64_t way;
  return !__builtin_mul_overflow(stride, extent, &way) &&
         !__builtin_add_overflow(*reach, way < 0 ? ~way : way, reach);
}

/* Reads an interface dict. 0, or -1 with TypeError. */
int px_foreign_read(PxState *st, PyObject *interface, PxForeign *out);
/* Reads any array of another library; stream: of the work to come (0: the default one). 1, 0 if obj is none, -1 with an exception. */
int px_foreign_of(PxState *st, PyObject *obj, uint64_t stream, PxForeign *out);
/* Orders work on `stream` after the producer's work, without blocking this thread. PYPTX_CAI_SYNC=0 leaves that to the user. */
int px_foreign_wait(PxState *st, const PxForeign *f, RtDevice *d, RtStream *stream);
/* Can code on d use the memory? 0, or -1 with TypeError or ValueError. what: "argument 1", for messages. */
int px_foreign_check(const PxForeign *f, RtDevice *d, PyObject *obj, const char *what);

/* --- types that are read without a Python object in between --- */

struct DlExchange;
struct DlTensor;

/* one a type; never changes, lives as long as the module. In the order in which a launch reads it. */
typedef struct PxSource {
  PyTypeObject *type;
  /* the exchange table's; NULL: it has none */
  int (*tensor_of)(void *object, struct DlTensor *out);
  /* the type's own, if it is a C function and nothing stands before it; else NULL */
  getter requires_grad;
  void *closure;                                                     /* its */
  int (*stream_of)(int32_t device_type, int32_t device, void **out); /* the exchange table's */
  const struct DlExchange *exchange;                                 /* NULL: CuPy's ndarray */
  PyObject *current_stream;                                          /* CuPy's function */
  PyObject *descriptor;                                              /* that keeps requires_grad */
  bool autograd; /* tensors of PyTorch: requires_grad, is_conj, is_neg */
} PxSource;

/* The source of a type that was seen before, or NULL: a few nanoseconds. */
const PxSource *px_source_find(PxState *st, PyTypeObject *type);
/* The same, for a type that may not have been seen. NULL with or without an exception. */
const PxSource *px_source_of(PxState *st, PyTypeObject *type);
/* Is obj.requires_grad False, found without a look-up? false also where it is not known, or with an exception. */
static inline bool px_source_no_grad(const PxSource *s, PyObject *obj) {
  PyObject *answer = s->requires_grad ? s->requires_grad(obj, s->closure) : NULL;
  Py_XDECREF(answer);
  return answer == Py_False;
}
int px_source_read(PxState *st, const PxSource *source, PyObject *obj, PxForeign *out);
/* The stream that the library works on now; 0 for the default one. 0 or -1. */
int px_source_stream(PxState *st, const PxSource *source, int device, uint64_t *stream);
void px_sources_free(PxState *st);

#endif
