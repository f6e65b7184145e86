/* Far apart: neighbouring threads that access memory far apart. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_FAR_APART_H
#define PYPTX_CODEGEN_SSA_FAR_APART_H

#include "ir/cx.h"
#include "ir/fn.h"

/* In: a typed program. Out: advice PT802, PT803 and PT824 in cx. */
void cg_find_far_apart(Cx *cx, Program *program);

#endif
