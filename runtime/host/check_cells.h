/* Check cells: who touched which memory last, in a checked launch. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_CELLS_H
#define PYPTX_RUNTIME_HOST_CHECK_CELLS_H

#include "runtime/host/check.h"

void rt_check_forget_cells(RtCheck *c);
/* The piece of an access, fine enough for it. NULL: there is no memory. */
struct Piece *rt_check_find_piece(RtCheck *c, uintptr_t at, uint32_t bytes);
/* The cell of a line that is opened, if nobody else has touched it, or nobody who is not ordered;
 * false: touch knows more. What is in cells of a line that was not open is older than its entry. */
bool rt_check_note_cell(RtCheck *c, const struct Piece *p, size_t k, uint64_t me, uint32_t behind);

/* --- called by compiled code --- */

/* `what`: kind and site. 0; 1: a race; 2: one of two plain writes, which is none if they write the
 * same value. */
uint8_t rt_check_access(const RtHostLaunch *view, const void *p, uint32_t thread, uint32_t what,
                        uint32_t bytes);
/* The same, noted now. */
uint8_t rt_check_access_now(const RtHostLaunch *view, const void *p, uint32_t thread, uint32_t what,
                            uint32_t bytes);

#endif
