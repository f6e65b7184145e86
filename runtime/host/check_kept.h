/* Check kept: accesses to shared memory that are noted only if they matter. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_KEPT_H
#define PYPTX_RUNTIME_HOST_CHECK_KEPT_H

#include "runtime/host/check_state.h"

/* An access to the block's shared memory, as rt_check_row has it. true: it is kept, and no race.
 * false: it is to be noted now; what was kept has been. */
bool rt_check_keep(const RtHostLaunch *view, uintptr_t at, uint32_t thread, uint32_t what,
                   uint32_t bytes, int64_t step, uint32_t mask);
/* What orders accesses comes: those that are kept are noted, as they were. */
void rt_check_note_kept(const RtCheck *c);
/* For a block with so much shared memory. Without memory nothing is kept. */
void rt_check_keep_from(RtCheckBlock *b);
/* All of it is ordered. */
void rt_check_forget_kept(RtCheckBlock *b);
void rt_check_free_kept(RtCheckBlock *b);

#endif
