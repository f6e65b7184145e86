/* Usage: what the parameter block of a kernel holds. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_PARAMS_H
#define PYPTX_CODEGEN_SSA_PARAMS_H

#include "codegen/llvm/cg.h"

/* Fills cg->out->params and ->args from cg->program; trap_field: a TRAP field comes last; grid_field: a GRID field behind that. Fails with ERR_PARAM_SIZE.
 * Ins.note of every instruction is overwritten. */
void cg_lay_out_params(Cg *cg, bool trap_field, bool grid_field);

#endif
