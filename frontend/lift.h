/* Lift: the bytecode of one function to SSA. The front door of this room.
 *
 * In: a FrozenFunc. Out: an untyped Fn (stage L ops), ordered, phis minimal, dead code gone; a fail() with the source position
 * for a construct that kernels cannot have. Parameters are the positional, then keyword-only, then *args (a tuple) ones.
 * The same source gives the same Fn for every CPython version, up to what CPython's own compiler does differently. */
#ifndef PYPTX_FRONTEND_LIFT_H
#define PYPTX_FRONTEND_LIFT_H

#include "ir/cx.h"
#include "ir/fn.h"

Fn *bc_lift(Cx *cx, const FrozenFunc *func);

/* Names that the code reads as globals (LOAD_GLOBAL, LOAD_NAME), each once, NULL-terminated, in the arena of cx:
 * what a snapshot must bind. Also the attribute names used, all of co_names. */
const char *const *bc_global_names(Cx *cx, const Code *code);

#endif
