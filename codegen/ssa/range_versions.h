/* Range versions: loops over ranges whose step is known at run time only, written twice. */
#ifndef PYPTX_CODEGEN_SSA_RANGE_VERSIONS_H
#define PYPTX_CODEGEN_SSA_RANGE_VERSIONS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Needs ir_join_latches and dominators, and keeps them. */
void cg_version_ranges(Cx *cx, Fn *fn);

#endif
