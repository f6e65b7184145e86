/* Accumulators: private to this room. */
#ifndef PYPTX_CODEGEN_SSA_ACCUMULATORS_H
#define PYPTX_CODEGEN_SSA_ACCUMULATORS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* An error where the program reads what cuda.wgmma.mma gives before cuda.wgmma.wait has given it
 * back. */
void cg_check_accumulators(Cx *cx, Program *program);

#endif
