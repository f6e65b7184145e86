/* Lift: the bytecode of one function to SSA. The front door of this room.
 *
 * In: a FrozenFunc. Out: an untyped Fn (stage L ops), ordered, phis minimal, dead code gone; a
 * fail() with the source position for a construct that kernels cannot have. Parameters are the
 * positional, then keyword-only, then *args (a tuple) ones. A free variable is an OP_GLOBAL of its
 * closure value, FZ_UNSET if there is none. A nested function takes the values of variables when it
 * is made; ERR_CAPTURE where Python would see another value. f(*t) of a tuple that is written out
 * or constant is a plain CALL. Ins.name of a value is the variable that it is first stored in,
 * where the operation has no name of its own. The same source gives the same Fn for every CPython
 * version, up to what CPython's own compiler does differently (tests/cases/bytecode/README.md). */
#ifndef PYPTX_FRONTEND_LIFT_H
#define PYPTX_FRONTEND_LIFT_H

#include "ir/cx.h"
#include "ir/fn.h"

Fn *bc_lift(Cx *cx, const FrozenFunc *func);

/* Names that the code and the functions nested in it read as globals, each once, NULL-terminated,
 * in the arena of cx: what a snapshot must bind, also in the FrozenFunc of a nested function.
 * fail()s on damaged code. */
const char *const *bc_global_names(Cx *cx, const Code *code);

#endif
