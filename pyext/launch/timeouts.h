/* Timeouts: how long this process waits for launches with a timeout on a GPU. */
#ifndef PYPTX_PYEXT_LAUNCH_TIMEOUTS_H
#define PYPTX_PYEXT_LAUNCH_TIMEOUTS_H

#include "pyext/objects/wait.h"

struct PxOverload;
/* A kernel was launched on a GPU, with a timeout of so many ns. 0, or -1 with an exception. */
int px_note_timed(PxState *st, struct PxOverload *o, RtStream *stream, uint64_t timeout);
void px_forget_timed(PxState *st);
/* px_wait_heedful for work of this device (NULL: not known), in any thread if launches with a
 * timeout are under way: -1 with KernelTimeoutError too, once the oldest of them has not ended for
 * its timeout. */
int px_wait_timed(PxState *st, RtDevice *device, PxQuery query, void *work);
/* Before a call in which the driver waits for the stream: the same, if there are such launches. */
int px_await_timed(PxState *st, RtDevice *device, RtStream *stream);

#endif
