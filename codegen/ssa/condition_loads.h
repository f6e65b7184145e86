/* Condition loads: what a loop's condition loads, in front of the loop. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_CONDITION_LOADS_H
#define PYPTX_CODEGEN_SSA_CONDITION_LOADS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Needs ir_join_latches and dominators, and keeps them. */
void cg_load_conditions(Cx *cx, Fn *fn);

#endif
