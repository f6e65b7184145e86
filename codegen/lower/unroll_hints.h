/* Loops: which loops LLVM is to unroll, and how often. Private to this room. */
#ifndef PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H
#define PYPTX_CODEGEN_LOWER_UNROLL_HINTS_H

#include "codegen/lower/lower.h"

/* Marks back edges of the function that has just been lowered, which is in order, with dominators and one back edge a loop. Takes time
 * in proportion to its size. */
void cg_mark_loops(Lower *lw);

#endif
