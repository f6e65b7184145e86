/* Narrow: which 64-bit integers fit 32 bits. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_NARROW_H
#define PYPTX_CODEGEN_SSA_NARROW_H

#include "ir/cx.h"
#include "ir/fn.h"
#include "ir/interval.h"

/* In: a typed function in order, with dominators. Out: INS_I32, INS_U32 and INS_INDEX on its
 * instructions; grid-stride loops may have a clamped start and step. */
void cg_narrow(Cx *cx, Fn *fn);

/* Is `test` the condition of such a loop? Of its counter and stop, too, it fits 32 bits then. */
bool cg_narrow_clamps(const Intervals *v, const Ins *test);

/* In: a typed function. Out: INS_LOW on phis of which only the low half is read; INS_NO_WRAP is
 * removed from all values whose upper half is no longer computed. */
void cg_narrow_low(Cx *cx, Fn *fn);

#endif
