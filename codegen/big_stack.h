/* Big stack: a compilation has enough stack, whichever thread it is called from. Private to this
 * room. */
#ifndef PYPTX_CODEGEN_BIG_STACK_H
#define PYPTX_CODEGEN_BIG_STACK_H

#include <stdbool.h>

/* Runs body(arg) on this thread if its stack suffices, else on a new thread, for which this one
 * waits. False: the thread could not be created, and nothing was run. */
bool cg_on_stack(void (*body)(void *), void *arg);

#endif
