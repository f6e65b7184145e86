/* Last steps: ranges that end within a step of 64 bits. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_LAST_STEPS_H
#define PYPTX_CODEGEN_SSA_LAST_STEPS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* In: a typed function in order, with dominators, and the marks of narrow. Out: no counter of a
 * range is compared after a step that may have wrapped. host: the program, if it is for the
 * host. */
void cg_leave_before_last_steps(Cx *cx, Program *host, Fn *fn);

#endif
