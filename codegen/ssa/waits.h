/* Waits: loops in which a thread waits for other threads. Private to this room; lowering asks. */
#ifndef PYPTX_CODEGEN_SSA_WAITS_H
#define PYPTX_CODEGEN_SSA_WAITS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Marks the terminator of each such loop's last block with INS_YIELDS. After ir_join_latches and
 * ir_dominators of all functions. */
void cg_find_waits(Cx *cx, Program *program);

#endif
