/* Driver: the entry points of libcuda, which is opened at first use (driver.def lists them), and
 * the phase that the process is in with it.
 *
 * rt_cu is written once, before rt_driver_open first returns RT_OK, and read without a lock after
 * it. */
#ifndef PYPTX_RUNTIME_DRIVER_DRIVER_H
#define PYPTX_RUNTIME_DRIVER_DRIVER_H

#include <stdatomic.h>

#include "runtime/driver/cuda.h"
#include "runtime/internal.h"

typedef struct RtDriver {
#define ENTRY(name, symbol, params) CUresult(*name) params;
#define OPTIONAL                    ENTRY
#include "runtime/driver/driver.def"
#undef ENTRY
#undef OPTIONAL
} RtDriver;
extern RtDriver rt_cu;

enum RtPhase {
  RT_PHASE_CLOSED, /* the driver has not been initialised */
  RT_PHASE_OPEN,
  RT_PHASE_FORKED, /* this is a child of a process that had initialised it */
  RT_PHASE_ENDED,  /* the process is ending: libcuda must not be called any more */
};
extern _Atomic int rt_phase;

RtStatus rt_driver_open(void);     /* opens libcuda and initialises it: cuInit */
RtStatus rt_driver_unusable(void); /* the error for a phase that is not OPEN */

/* CU(cuStreamQuery, (stream)): the call as a status. */
#define CU(name, arguments) rt_driver_check(rt_cu.name arguments, #name)
static inline RtStatus rt_driver_check(int result, const char *call) {
  return LIKELY(result == CUDA_SUCCESS) ? RT_OK : rt_driver_status(result, call);
}

#endif
