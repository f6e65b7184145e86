/* Place: where a thread is along an axis of the grid. */
#ifndef PYPTX_IR_PLACE_H
#define PYPTX_IR_PLACE_H

#include "ir/fn.h"

/* Is i, an operation, blockIdx * blockDim of one axis, that plus threadIdx, or gridDim * blockDim?
 * Casts to 32 bits or more are looked through. */
bool ir_is_place(const Ins *i);

#endif
