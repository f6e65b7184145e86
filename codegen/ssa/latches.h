/* Latches: searches that LLVM is to rotate. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_LATCHES_H
#define PYPTX_CODEGEN_SSA_LATCHES_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Needs ir_join_latches, dominators and the marks of loops, and keeps them. */
void cg_part_latches(Cx *cx, Fn *fn);

#endif
