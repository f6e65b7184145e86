/* Parts of blocks: a launch with more blocks than it was asked for, each less wide.
 *
 * Of a launch with few blocks for its workers, some run one block more than others, or the longest
 * ones: most of them wait in the end. codegen/host/joined_blocks.c says which kernels cannot
 * tell, and why. */
#ifndef PYPTX_RUNTIME_HOST_PARTS_H
#define PYPTX_RUNTIME_HOST_PARTS_H

#include <stdint.h>

#include "runtime/abi.h"

/* So many parts of each block, of the same width. block_ns: what a block took in the kernel's last
 * launch, 0: not known. */
uint32_t rt_parts_of(const RtHostCode *code, uint64_t blocks, uint32_t width, unsigned workers,
                     uint64_t block_ns);

#endif
