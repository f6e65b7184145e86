/* Context: which GPU is current in a thread, entered for the length of a function and left at every
 * return. */
#ifndef PYPTX_RUNTIME_DRIVER_CONTEXT_H
#define PYPTX_RUNTIME_DRIVER_CONTEXT_H

#include "runtime/driver/device_state.h"
#include "runtime/internal.h"

/* The device whose context this thread made current last. Another library may have changed it
 * since: only the launch path trusts it, since a launch in a wrong context fails, while an
 * allocation would succeed on the wrong device. Of the default TLS model: initial-exec would put
 * all of the module's TLS into the small reserve that dlopen has, and import would fail beside
 * PyTorch. */
extern _Thread_local RtDevice *rt_current;

/* Makes a GPU's context current (the host device has none), and notes in *was what rt_leave puts
 * back: the context that another library or another device of ours had there. Where none was
 * current it stays, on a machine with one GPU. */
RtStatus rt_enter(RtContext *was, RtDevice *d);
/* For releases: 0 if nothing can or need be released (ended, forked, older epoch), no error is
 * set. */
int rt_enter_alive(RtContext *was, RtDevice *d, uint32_t epoch);
void rt_leave(RtContext *was);
/* RtContext was SCOPED = {0}: it is left where it goes out of scope. ENTER(d): from here to the end
 * of the block. */
#define SCOPED __attribute__((cleanup(rt_leave)))
#define ENTER(d)                                                                                   \
  RtContext was_ SCOPED = {0};                                                                     \
  TRY(rt_enter(&was_, d))

#endif
