/* Stack: what a compilation needs of it, wherever it is called from. Private to this room. */
#ifndef PYPTX_CODEGEN_BIG_STACK_H
#define PYPTX_CODEGEN_BIG_STACK_H

#include <stdbool.h>

/* Runs body(arg) where the stack suffices: here, else on a thread of its own, for which this one
 * waits. False, and nothing was run: there is no memory for one. */
bool cg_on_stack(void (*body)(void *), void *arg);

#endif
