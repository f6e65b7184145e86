/* Check entries: what a line of cells is known by, while entries tell what happened. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_ENTRIES_H
#define PYPTX_RUNTIME_HOST_CHECK_ENTRIES_H

#include "runtime/host/check_state.h"

/* The line gets one more entry. false: note_beside knows more, or the line is to be opened. */
bool rt_check_note_logged(RtCheck *c, Line *l, uint64_t record, uint64_t rest, uint32_t behind);
bool rt_check_note_beside(RtCheck *c, Line *l, uint64_t record, uint64_t rest, bool shared);
/* The cells of this one's line get what its entries say. */
void rt_check_open_line(RtCheck *c, const Piece *p, size_t cell);
void rt_check_free_logs(RtCheck *c);

#endif
