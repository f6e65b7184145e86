/* Status: how the world's failures travel. Every function of this room that can fail returns one;
 * details are per thread.
 *
 *   TRY(rt_device_open(0, &device));
 * The text says what happened, in which call and kernel, and what to do. */
#ifndef PYPTX_RUNTIME_STATUS_H
#define PYPTX_RUNTIME_STATUS_H

typedef enum RtStatus {
  RT_OK = 0,
  RT_NO_DRIVER,    /* libcuda is not there or too old */
  RT_NO_DEVICE,    /* no GPU, or a bad device number */
  RT_NO_MEMORY,    /* device or host memory */
  RT_BAD_ARGUMENT, /* the caller's value: ValueError */
  RT_BAD_LAUNCH,   /* configuration that the kernel or device cannot have: ValueError */
  RT_BAD_MODULE,   /* PTX or cubin refused */
  RT_CONTEXT_LOST, /* an earlier kernel failed: illegal address, trap … */
  RT_FAILED,       /* any other driver error */
  RT_CAPTURED,     /* no failure: the work has become a node of a graph (launch/graph.h) */
  /* no failure: the launch wants an entry that is not loaded yet (rt_kernel_wants in
   * launch/launch.h) */
  RT_NO_ENTRY,
  RT_INTERRUPTED, /* rt_host_ask said so: it has told what there is to tell */
  RT_TRAPPED,     /* a thread stopped with an exception: see the RtTrap */
} RtStatus;

typedef struct RtError {
  RtStatus status;
  int result;              /* CUresult, 0 if none */
  const char *result_name; /* "CUDA_ERROR_…" or "" */
  char call[48];           /* driver entry point */
  char text[512];          /* what happened */
  char remedy[256];
} RtError;

/* The calling thread's last error; valid until its next failing call. */
const RtError *rt_error(void);
RtStatus rt_fail(RtStatus status, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Translates a CUresult of a named call; RT_OK for 0. */
RtStatus rt_driver_status(int result, const char *call);

#define TRY(e)                                                                                     \
  do {                                                                                             \
    RtStatus status_ = (e);                                                                        \
    if (__builtin_expect(status_ != RT_OK, 0))                                                     \
      return status_;                                                                              \
  } while (0)

#endif
