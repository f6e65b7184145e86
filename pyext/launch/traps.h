/* Traps: what threads of asynchronous launches on a GPU have raised, asked for when a wait is
 * over. */
#ifndef PYPTX_PYEXT_LAUNCH_TRAPS_H
#define PYPTX_PYEXT_LAUNCH_TRAPS_H

#include "pyext/state.h"

struct PxOverload;
/* Remembers that a kernel with traps runs on a GPU. */
void px_note_launch(PxState *st, struct PxOverload *o);
void px_forget_pending(PxState *st);
/* After a synchronisation of a GPU: raises what a kernel raised. 0, or -1 with that exception. */
int px_check_traps(PxState *st, RtDevice *device);
/* From now on this thread's waits leave what kernels raised to later ones. Returns what held
 * before. */
bool px_quiet_traps(bool quiet);

#endif
