/* Narrow: which 64-bit integers fit 32 bits. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_NARROW_H
#define PYPTX_CODEGEN_SSA_NARROW_H

#include "ir/cx.h"
#include "ir/fn.h"

/* In: a typed function in order, with dominators. Out: INS_I32, INS_U32 and INS_INDEX on its
 * instructions. */
void cg_narrow(Cx *cx, Fn *fn);

/* In: a typed function. Out: INS_LOW on its phis, and INS_NO_WRAP gone from what is computed of
 * them where only low bits are right. */
void cg_narrow_low(Cx *cx, Fn *fn);

#endif
