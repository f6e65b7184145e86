/* Check touch: one cell of a checked launch. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_TOUCH_H
#define PYPTX_RUNTIME_HOST_CHECK_TOUCH_H

#include "runtime/host/check_state.h"

/* The cell gets a write and others; each may be 0. */
void rt_check_expand(RtCheck *c, uint64_t *cell, uint64_t write, uint64_t read0, uint64_t read1);
bool rt_check_are_of_one_warp(const RtCheck *c, uint64_t a, uint64_t b);
/* The cell is of this launch. Returns what rt_check_access says. */
uint32_t rt_check_touch_slowly(RtCheck *c, uintptr_t at, uint64_t *cell, uint64_t me);

#endif
