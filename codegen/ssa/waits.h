/* Waits: loops in which a thread waits for other threads. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_WAITS_H
#define PYPTX_CODEGEN_SSA_WAITS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* In: a program whose functions have been through ir_join_latches and ir_dominators. Out:
 * INS_YIELDS on the terminator of each such loop's latch, INS_POLLED on what its end reads. */
void cg_find_waits(Cx *cx, Program *program);

#endif
