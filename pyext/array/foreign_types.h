/* Foreign types: types of other libraries' arrays that are read without a Python object in
 * between. */
#ifndef PYPTX_PYEXT_ARRAY_FOREIGN_TYPES_H
#define PYPTX_PYEXT_ARRAY_FOREIGN_TYPES_H

#include "pyext/array/foreign.h"

struct DlExchange;
struct DlTensor;

/* one a type; never changes, lives as long as the module. In the order in which a launch reads
 * it. */
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
/* Is obj.requires_grad False, found without a look-up? false also where it is not known, or with an
 * exception. */
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
