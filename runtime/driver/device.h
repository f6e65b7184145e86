/* Device: GPUs through the Driver API (libcuda opened at first use), and the host device beside
 * them. Thread-safe. */
#ifndef PYPTX_RUNTIME_DRIVER_DEVICE_H
#define PYPTX_RUNTIME_DRIVER_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

/* one a GPU, plus one for the host; live until the process ends */
typedef struct RtDevice RtDevice;

enum { RT_HOST = -1 };

/* RT_NO_DRIVER where there is no libcuda; opens it; a driver without a GPU counts 0 */
RtStatus rt_gpu_count(int *count);
/* RT_HOST for the host device; retains the primary context */
RtStatus rt_device_open(int ordinal, RtDevice **out);
int rt_device_ordinal(const RtDevice *d);
int rt_device_is_host(const RtDevice *d);
/* Makes a GPU's context this thread's, and leaves it there. Nothing else in this room does: what
 * the other functions displace, they put back. */
RtStatus rt_device_make_current(RtDevice *d);
/* A thread's CUDA context, to be put back: of one of our devices, of another library, or none. */
typedef struct RtContext {
  void *handle;
  RtDevice *device; /* whose primary context it is: it may be another one after a reset */
  uint8_t known;
} RtContext;
RtContext rt_context_now(void);          /* opens nothing; none before the driver is in use */
void rt_context_put_back(RtContext was); /* nothing if it is not known */
/* The GPU that this thread's context is for, whoever set it; NULL where none is open for it:
 * *ordinal is the one to open, or -1. */
RtDevice *rt_context_device(int *ordinal);
RtStatus rt_device_synchronize(RtDevice *d);
/* tells profilers that record between start and stop only; nothing on the host device */
RtStatus rt_device_profile(RtDevice *d, int on);
/* Destroys the device's context with all memory, streams, events and modules in it, and makes a
 * fresh one. Behind RT_CONTEXT_LOST that is all a process can do: whether the driver then lets it
 * go on depends on the fault. Streams and events made before know it, and kernels are loaded again
 * (rt_kernel_add); memory does not: an address allocated under an older epoch must not be freed or
 * used. */
RtStatus rt_device_reset(RtDevice *d);
uint32_t rt_device_epoch(const RtDevice *d);                      /* counts resets */
const _Atomic uint32_t *rt_device_epoch_place(const RtDevice *d); /* where it is counted */
const char *rt_device_name(const RtDevice *d);
/* for messages: "GPU 1 (NVIDIA H200)", "the host device" */
const char *rt_device_label(const RtDevice *d);
void rt_device_uuid(const RtDevice *d, uint8_t uuid[16]);
int rt_device_capability(const RtDevice *d); /* 90 for sm_90; 0 host */
/* CUdevice_attribute number; the host answers the ones that have a meaning */
RtStatus rt_device_attribute(RtDevice *d, int attribute, int *value);
RtStatus rt_device_memory(RtDevice *d, size_t *free_bytes, size_t *total);
typedef struct RtLimits {
  uint32_t threads, block[3], grid[3], shared, shared_optin;
} RtLimits;
/* it was in use, and this is a child of fork, or the process is ending */
int rt_driver_is_over(void);
int rt_driver_version(void); /* 13000 for CUDA 13.0, 0 without driver */
/* newest PTX ISA it takes, e.g. 90; 0 without driver */
int rt_driver_ptx_version(void);
const char *rt_driver_path(void); /* libcuda's file, or NULL */

#endif
