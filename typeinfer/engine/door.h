/* The engine's door: what rules ask of the typing of the function that they run in, and of the
 * functions that it calls. The only header of engine/ that the floors below may include. */
#ifndef PYPTX_TYPEINFER_ENGINE_DOOR_H
#define PYPTX_TYPEINFER_ENGINE_DOOR_H

#include "typeinfer/ty.h"

/* --- operands of a lifted instruction (infer.c) --- */
/* Operand k; errors of unset and conflicting values. What may be None is its value, behind a
 * check. */
Val ty_arg(Ty *ty, Ins *i, uint32_t k);
/* The same for what takes a value that may be None. */
Val ty_arg_or_none(Ty *ty, Ins *i, uint32_t k);
Val ty_value(Ty *ty, Ins *i); /* the same, of a lifted instruction itself */

/* --- variables that some path leaves unset (unset.c) --- */
Val ty_read(Ty *ty, Ins *i); /* OP_READ */
/* A variable that a nested function captures: its value, or where it need not be set a pair of that
 * and whether it is, whose value a read of it gives (`name`: of the variable). */
Val ty_capture(Ty *ty, Ins *i);
Val ty_captured(Ty *ty, Val v, const char *name);

/* --- what to advise of (remarks.c) --- */
/* A number became `to`, where the user asked for no conversion: was it a Python number, and is that
 * one of 8 or 16 bits? */
void ty_remark_cut(Ty *ty, Val from, const Ins *to, Loc loc);

/* --- functions (spec.c) --- */
/* Arguments are the function's parameters (with captured values behind them), all bound. */
Val ty_call_spec(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n);

#endif
