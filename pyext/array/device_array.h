/* Device array: an n-dimensional array in the memory of a device.
 *
 * Shape, strides (bytes) and dtype never change once made, so a launch reads them without a lock. Views share one Memory. */
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
/* Was the device not reset since? Else ContextLostError. who: "argument 1 ('x')", for messages; NULL: the device array. 0 or -1. */
int px_array_check(const PxArray *a, const char *who);

static inline const int64_t *px_shape(const PxArray *a) { return a->dims; }
static inline const int64_t *px_strides(const PxArray *a) { return a->dims + a->ndim; }
static inline const int64_t *px_element_strides(const PxArray *a) { /* NULL: they are no integers */
  return a->whole ? a->dims + 2 * (size_t)a->ndim : NULL;
}
bool px_is_contiguous(const PxArray *a, Layout layout); /* LAYOUT_C or LAYOUT_F */

/* --- making --- all return new references or NULL with an exception */

/* strides NULL: C order. */
PyObject *px_array_view(PxState *st, PyObject *memory, uint64_t address, PyObject *dtype,
                        unsigned ndim, const int64_t *shape, const int64_t *strides);
/* Uninitialised, on the current device. */
PyObject *px_array_empty(PxState *st, PyObject *dtype, unsigned ndim, const int64_t *shape,
                         Layout layout, PyObject *stream);
/* The same on d. */
PyObject *px_array_empty_on(PxState *st, RtDevice *d, PyObject *dtype, unsigned ndim,
                            const int64_t *shape, Layout layout, PyObject *stream);
struct PxForeign;
/* On memory of another library. owner is kept alive, beside f->keeper; may be NULL. */
PyObject *px_array_from_foreign(PxState *st, const struct PxForeign *f, PyObject *owner);
/* On memory that the interface dict names, of the current device; sync: after the producer's work. */
PyObject *px_array_from_interface(PxState *st, PyObject *interface, PyObject *owner, bool sync);
/* As px_array_view, of another array's memory, read-only and bound as that is. offset in bytes from its element 0. */
PyObject *px_array_view_of(PyObject *array, int64_t offset, PyObject *dtype, unsigned ndim,
                           const int64_t *shape, const int64_t *strides);
/* Binds a new array, which nobody else has seen yet, to a Stream; None: to none. */
void px_array_set_stream(PyObject *fresh, PyObject *stream);
/* Marks that work on `stream` (a Stream or None) uses the memory. */
static inline void px_array_used(PxArray *a, PyObject *stream) {
  px_memory_used(a->memory, (PyObject *)a, stream);
}
/* As px_stream_argument; where that is the default stream, the one that the array is bound to. */
PyObject *px_array_stream(PxArray *a, PyObject *arg);

/* An int or a sequence of ints >= 0. Returns the number of axes, -1 with an exception. */
int px_shape_argument(PyObject *arg, int64_t shape[TY_MAX_NDIM]);
PyObject *px_dtype_argument(PxState *st, PyObject *arg);
PyObject *px_dims_tuple(const int64_t *dims, unsigned n);

/* --- copy.c --- */

PyObject *px_array_copy_to_host(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_copy_to_device(PyObject *self, PyObject *args, PyObject *kwargs);
bool px_is_masked(PyObject *array); /* a numpy.ma.MaskedArray */
PyObject *px_array_array(PyObject *self, PyObject *args, PyObject *kwargs);
/* A new NumPy array with the elements. stream: a Stream or None; the copy is complete when it returns. */
PyObject *px_array_to_numpy(PxArray *a, PyObject *stream);
/* self[...] = value, as NumPy's assignment casts and broadcasts. 0 or -1. */
int px_array_assign(PxArray *a, PyObject *value, PyObject *stream);
PyObject *px_array_duplicate(PyObject *self, PyObject *memo);
PyObject *px_to_device(PyObject *module, PyObject *args, PyObject *kwargs);

/* --- field.c: structured dtypes --- */

bool px_array_has_fields(PyObject *self);
bool px_is_field_key(PyObject *key); /* a name or a list of names */
PyObject *px_array_get_field(PyObject *self, PyObject *key);
int px_array_set_field(PyObject *self, PyObject *key, PyObject *value);
PyObject *px_array_getattr(PyObject *self, PyObject *name);
int px_array_setattr(PyObject *self, PyObject *name, PyObject *value);

/* --- index.c --- */

PyObject *px_array_scalar(PyObject *view); /* the element of an array without axes, on the host */

PyObject *px_array_subscript(PyObject *self, PyObject *key);
int px_array_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *px_array_item(PyObject *self, Py_ssize_t i);
PyObject *px_array_reshape(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_ravel(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_transpose(PyObject *self, PyObject *args);
PyObject *px_array_squeeze(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_retype(PyObject *self, PyObject *dtype);
PyObject *px_array_split(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_bind(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *px_array_part(PyObject *self, void *imag); /* .real, and .imag where imag is not NULL */

#endif
