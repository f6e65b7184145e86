/* Check cells: who touched which memory last, in a checked launch. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_CELLS_H
#define PYPTX_RUNTIME_HOST_CHECK_CELLS_H

#include "runtime/host/check.h"

void rt_check_forget_cells(RtCheck *c);
void rt_check_free_logs(RtCheck *c);

/* --- called by compiled code --- */

/* `what`: kind and site. 0; 1: a race; 2: one of two plain writes, which is none if they write the
 * same value. */
uint8_t rt_check_access(const RtHostLaunch *view, const void *p, uint32_t thread, uint32_t what,
                        uint32_t bytes);
/* The same of the lanes of a vector that are in `mask`, of threads from `thread` on, `step` bytes
 * from one to the next: what rt_check_access finds, by lane. */
const uint8_t *rt_check_row(const RtHostLaunch *view, const void *p, uint32_t thread, uint32_t what,
                            uint32_t bytes, int64_t step, uint32_t mask);

#endif
