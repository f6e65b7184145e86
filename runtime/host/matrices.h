/* Matrices: operations of a warp on fragments of matrices, on the host.
 *
 * All 32 lanes come, each with the address of its record: of mma.sync A, B and C as its lane holds
 * them, one after the other, D in the place of C; of ldmatrix and stmatrix the address of a row of
 * 16 bytes, and behind its 8 bytes four registers of 32 bits. */
#ifndef PYPTX_RUNTIME_HOST_MATRICES_H
#define PYPTX_RUNTIME_HOST_MATRICES_H

#include "runtime/abi.h"

/* op: RT_MATRIX_OP; records: one a lane. */
void rt_matrix_operate(uint32_t op, const uint64_t records[32]);

/* An element of A or B, as the operation reads it: of float32s the bits of tf32. */
double rt_matrix_element(RtMatrixFactor factor, const char *at);

#endif
