/* Make: new device arrays, views of old ones, and what users write for a shape, a dtype and a
 * stream. */
#ifndef PYPTX_PYEXT_ARRAY_MAKE_H
#define PYPTX_PYEXT_ARRAY_MAKE_H

#include "pyext/array/device_array.h"

/* All return new references or NULL with an exception */

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
/* On memory that the interface dict names, of the current device; sync: after the producer's
 * work. */
PyObject *px_array_from_interface(PxState *st, PyObject *interface, PyObject *owner, bool sync);
/* As px_array_view, of another array's memory, read-only and bound as that is. offset in bytes from
 * its element 0. */
PyObject *px_array_view_of(PyObject *array, int64_t offset, PyObject *dtype, unsigned ndim,
                           const int64_t *shape, const int64_t *strides);
/* Binds a new array, which nobody else has seen yet, to a Stream; None: to none. */
void px_array_set_stream(PyObject *fresh, PyObject *stream);
/* As px_stream_argument; where that is the default stream, the one that the array is bound to. */
PyObject *px_array_stream(PxArray *a, PyObject *arg);

/* An int or a sequence of ints >= 0. Returns the number of axes, -1 with an exception. */
int px_shape_argument(PyObject *arg, int64_t shape[TY_MAX_NDIM]);
PyObject *px_dtype_argument(PxState *st, PyObject *arg);
PyObject *px_dims_tuple(const int64_t *dims, unsigned n);

bool px_is_contiguous(const PxArray *a, Layout layout); /* LAYOUT_C or LAYOUT_F */

#endif
