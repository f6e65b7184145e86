/* Loops: which loops LLVM is to unroll, and how often. Private to this room. */
#ifndef PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H
#define PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H

#include "codegen/lower/lower.h"

/* In: a function in order, with dominators and one back edge a loop. Out: INS_MASKED, INS_UNROLL_4
 * and INS_UNROLL_8 on the branches that close loops. Takes time in proportion to its size. */
void cg_hint_loops(Cx *cx, Fn *fn);
/* The same for LLVM, on the branches of the function that has just been lowered. */
void lw_mark_loops(Lower *lw);

#endif
