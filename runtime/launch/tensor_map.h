/* Tensor maps: the 128 bytes by which a GPU copies boxes of an array. */
#ifndef PYPTX_RUNTIME_LAUNCH_TENSOR_MAP_H
#define PYPTX_RUNTIME_LAUNCH_TENSOR_MAP_H

#include <stdint.h>

#include "runtime/launch/launch.h"

enum { RT_TENSOR_MAP_BYTES = 128 };

/* Of a C-contiguous array. map: RtField's. */
RtStatus rt_tensor_map(uint64_t map, uint64_t address, const int64_t *shape,
                       char out[RT_TENSOR_MAP_BYTES]);

#endif
