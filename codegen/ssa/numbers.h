/* Numbers: sums in narrow types, and float64 among float32. Private to this room. */
#ifndef PYPTX_CODEGEN_SSA_NUMBERS_H
#define PYPTX_CODEGEN_SSA_NUMBERS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* In: a typed program, with the sums, cuts and widenings that typing has found. Out: advice PT804
 * to PT806, and PT823, in cx. */
void cg_judge_numbers(Cx *cx, Program *program);

#endif
