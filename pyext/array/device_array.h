/* Device array: an n-dimensional array in the memory of a device.
 *
 * Shape, strides (bytes) and dtype never change once made, so a launch reads them without a lock.
 * Views share one Memory. */
#ifndef PYPTX_PYEXT_ARRAY_DEVICE_ARRAY_H
#define PYPTX_PYEXT_ARRAY_DEVICE_ARRAY_H

#include "pyext/array/memory.h"
#include "pyext/compile/signature.h"
#include "pyext/state.h"

typedef struct PxArray {
  PyObject_VAR_HEAD PyObject *memory; /* PxMemory */
  PyObject *dtype;                    /* NumPy's */
  PyObject *stream; /* of bind(): the Stream of copies that name none; NULL: the default one */
  RtDevice *device;
  uint64_t epoch;   /* px_epoch_of the memory: a launch compares it instead of the device */
  uint64_t address; /* of element 0 */
  PxToken token;    /* what a launch compares; valid if elem is */
  PxElem elem;      /* PX_NO_ELEM: kernels cannot take it */
  bool readonly;
  unsigned ndim;
  size_t itemsize;
  int64_t size; /* elements */
  PyObject *weakrefs;
  bool whole;     /* strides are multiples of itemsize */
  int64_t dims[]; /* shape, then strides, then strides in elements, valid if whole */
} PxArray;

/* Tells the GPUs apart, and what was there before a reset from what came after it. */
static inline uint64_t px_epoch_of(const RtDevice *d, uint32_t epoch) {
  return (uint64_t)(uint32_t)rt_device_ordinal(d) << 32 | epoch;
}
static inline uint64_t px_epoch_now(const RtDevice *d) {
  return px_epoch_of(d, rt_device_epoch(d));
}
/* Was the device not reset since? Else ContextLostError. who: "argument 1 ('x')", for messages;
 * NULL: the device array. 0 or -1. */
int px_array_check(const PxArray *a, const char *who);

static inline const int64_t *px_shape(const PxArray *a) { return a->dims; }
static inline const int64_t *px_strides(const PxArray *a) { return a->dims + a->ndim; }
static inline const int64_t *px_element_strides(const PxArray *a) { /* NULL: they are no integers */
  return a->whole ? a->dims + 2 * (size_t)a->ndim : NULL;
}

/* Marks that work on `stream` (a Stream or None) uses the memory. */
static inline void px_array_used(PxArray *a, PyObject *stream) {
  px_memory_used(a->memory, (PyObject *)a, stream);
}
#endif
