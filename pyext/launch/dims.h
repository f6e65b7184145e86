/* Dims: the numbers of a launch configuration, as Python gives them. */
#ifndef PYPTX_PYEXT_LAUNCH_DIMS_H
#define PYPTX_PYEXT_LAUNCH_DIMS_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* An int or a tuple of 1 to 3 as three extents, the missing ones 1. what: "griddim", for errors.
 * 0, or -1 with TypeError, or ValueError for too many. */
int px_read_dims(const char *what, PyObject *arg, uint32_t out[3]);
/* The same of a cluster; None, NULL and single blocks are 0, a launch without. */
int px_read_cluster(PyObject *arg, uint32_t out[3]);
/* Bytes of dynamic shared memory; None and NULL are 0. 0, or -1 with TypeError or ValueError. */
int px_read_shared(PyObject *arg, uint32_t *out);

/* Are there more threads or blocks along an axis than narrow versions are for (TY_SMALL,
 * TY_BLOCKS)? */
bool px_is_far(const uint32_t grid[3], const uint32_t block[3]);
/* The same of forall. tpb: threads a block, 0: what suits, which is a warp at least or
 * max_threads (0: no limit). */
bool px_forall_is_far(uint64_t ntasks, uint64_t tpb, uint32_t max_threads);

#endif
