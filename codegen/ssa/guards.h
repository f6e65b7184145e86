/* Guards: which arguments say how many threads a launch must have. */
#ifndef PYPTX_CODEGEN_SSA_GUARDS_H
#define PYPTX_CODEGEN_SSA_GUARDS_H

#include "codegen/ssa/params.h"

/* The guards of a kernel, for launches to compare with their grids: CgKernel.guards, whose texts
 * are the arena's here. Needs dominators. */
typedef VEC(CgGuard) Guards;
Guards cg_find_guards(Cx *cx, Program *program, const Params *params);

#endif
