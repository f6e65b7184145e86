/* Traps: what threads of asynchronous launches on a GPU have raised, asked for when a wait is
 * over. */
#ifndef PYPTX_PYEXT_LAUNCH_TRAPS_H
#define PYPTX_PYEXT_LAUNCH_TRAPS_H

#include "pyext/state.h"

struct PxOverload;
/* What has ended when a wait is over, as it is known when the wait begins: of a device those of the
 * first `launches` launches that are on the stream. */
typedef struct PxAwaited {
  RtDevice *device;  /* NULL: any */
  uint64_t launches; /* 0: nobody knows what has ended */
  uint64_t stream;   /* its handle, or PX_ALL_STREAMS */
} PxAwaited;
#define PX_ALL_STREAMS UINT64_MAX

/* Remembers that a kernel with traps runs on a stream of a GPU. */
void px_note_launch(PxState *st, struct PxOverload *o, RtStream *stream);
void px_forget_pending(PxState *st);
/* In front of a wait for a stream, for a whole device. */
PxAwaited px_awaits(PxState *st, RtDevice *device, RtStream *stream);
PxAwaited px_awaits_all(PxState *st, RtDevice *device);
/* After it: raises what a kernel raised. 0, or -1 with that exception. */
int px_check_traps(PxState *st, const PxAwaited *awaited);
/* What the device's kernels have raised, where nobody can be told by an exception. */
void px_report_traps(PxState *st, RtDevice *device);
/* From now on this thread's waits leave what kernels raised to later ones. Returns what held
 * before. */
bool px_quiet_traps(bool quiet);

#endif
