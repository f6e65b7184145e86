/* Unroll hints: which loops LLVM is to unroll, and by what factor. Private to this room. */
#ifndef PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H
#define PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H

#include "codegen/lower/lower.h"

/* In: a function in order, with dominators and one back edge a loop. Out: INS_MASKED, INS_UNROLL_4
 * or INS_UNROLL_8 on the terminators of latches. Takes time linear in its size. */
void cg_hint_loops(Cx *cx, Fn *fn);
/* The hints as LLVM metadata, on the back edges of the function that has just been lowered. */
void lw_mark_loops(Lower *lw);

#endif
