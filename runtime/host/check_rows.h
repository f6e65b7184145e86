/* Check rows: what the lanes of a vector touch, by one call of compiled code. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_ROWS_H
#define PYPTX_RUNTIME_HOST_CHECK_ROWS_H

#include "runtime/host/check.h"

/* rt_check_access of the lanes of a vector that are in `mask`, of threads from `thread` on, `step`
 * bytes from one to the next: what that finds, by lane. */
const uint8_t *rt_check_row(const RtHostLaunch *view, const void *p, uint32_t thread, uint32_t what,
                            uint32_t bytes, int64_t step, uint32_t mask);
/* The same, noted now. */
const uint8_t *rt_check_row_slowly(const RtHostLaunch *view, uintptr_t at, uint32_t thread,
                                   uint32_t what, uint32_t bytes, int64_t step, uint32_t mask);

#endif
