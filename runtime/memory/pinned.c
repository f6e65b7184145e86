/* Pinned: host memory that a GPU reaches: in, sizes or ranges of the caller's own memory; out,
 * memory that copies move at the link's speed and that kernels may read and write in place. Managed
 * memory, which the driver moves between the two sides, and memory of other processes are here
 * too. */
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"

enum { HOST_ALIGN = 64, PAGE = 4096 };

/* --- pinned host memory --- */

/* In front of the memory that the caller gets. The memory is our own, and registered with the
 * driver: a reset of the device unpins it, but does not take it away from under an array. */
typedef struct Pinned {
  RtDevice *device; /* NULL: not pinned */
  uint32_t epoch;
} Pinned;

RtStatus rt_pinned_alloc(RtDevice *d, size_t bytes, void **out) {
  *out = NULL;
  if (!d || rt_is_host(d))
    d = rt_device_any_gpu();
  size_t all = bytes >= RT_ADDRESS_SPACE ? 0 : (bytes + HOST_ALIGN + PAGE - 1) / PAGE * PAGE;
  char *base = all ? aligned_alloc(PAGE, all) : NULL;
  char size[32];
  if (!base)
    return rt_fail(RT_NO_MEMORY, "work in smaller parts", "cannot allocate %s of host memory",
                   rt_size_text(bytes, size));
  Pinned *head = (Pinned *)base;
  *head = (Pinned){0};
  if (d) {
    RtContext was SCOPED = {0};
    RtStatus status = rt_enter(&was, d);
    if (status == RT_OK)
      status = CU(cuMemHostRegister, (base, all, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP));
    if (status != RT_OK && rt_error()->result != CUDA_ERROR_NOT_SUPPORTED) {
      free(base);
      return status;
    }
    if (status == RT_OK)
      *head = (Pinned){d, rt_epoch(d)};
  }
  *out = base + HOST_ALIGN;
  return RT_OK;
}

/* In a child of fork pinned pages may be missing, so nothing is touched there. */
void rt_pinned_free(void *p) {
  if (!p || rt_phase == RT_PHASE_FORKED)
    return;
  char *base = (char *)p - HOST_ALIGN;
  const Pinned *head = (Pinned *)base;
  RtContext was SCOPED = {0};
  if (head->device && rt_enter_alive(&was, head->device, head->epoch) &&
      rt_cu.cuMemHostUnregister(base) != CUDA_SUCCESS)
    return; /* to the driver it is still pinned: nobody else may get it */
  free(base);
}

int rt_pinned_is(const void *p) {
  return ((const Pinned *)((const char *)p - HOST_ALIGN))->device != NULL;
}

/* --- the caller's memory --- */

RtStatus rt_host_register(RtDevice *d, void *p, size_t bytes) {
  if (rt_is_host(d) || !bytes)
    return RT_OK;
  ENTER(d);
  return CU(cuMemHostRegister, (p, bytes, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP));
}

/* Copies and kernels may still use the pages: they are waited for. */
void rt_host_unregister(RtDevice *d, uint32_t epoch, void *p, size_t bytes) {
  RtContext was SCOPED = {0};
  if (rt_is_host(d) || !bytes || !rt_enter_alive(&was, d, epoch))
    return;
  rt_cu.cuCtxSynchronize();
  rt_cu.cuMemHostUnregister(p);
}

RtStatus rt_host_device_address(RtDevice *d, void *p, uint64_t *address) {
  CUdeviceptr found = (uintptr_t)p;
  *address = found;
  if (rt_is_host(d))
    return RT_OK;
  ENTER(d);
  TRY(CU(cuMemHostGetDevicePointer, (&found, p, 0)));
  *address = found;
  return RT_OK;
}

/* --- managed memory --- */

static RtStatus not_within(RtDevice *d, size_t bytes, size_t available, size_t total) {
  char size[32], have[32], all[32];
  return rt_fail(
      RT_NO_MEMORY, "work in smaller parts, or use cuda.mapped_array, which stays in host memory",
      "cannot allocate %s of managed memory on %s: %s of %s are free, and managed arrays "
      "must fit",
      rt_size_text(bytes, size), d->name, rt_size_text(available, have), rt_size_text(total, all));
}

static RtStatus check_managed(RtDevice *d, size_t bytes) {
  size_t available = 0, total = 0;
  int managed = 1;
  if (!rt_is_host(d))
    TRY(CU(cuDeviceGetAttribute, (&managed, CU_MANAGED_MEMORY, d->handle)));
  if (!managed)
    return rt_fail(RT_BAD_ARGUMENT, "use cuda.mapped_array", "%s has no managed memory", d->name);
  TRY(rt_device_memory(d, &available, &total));
  if (bytes <= available)
    return RT_OK;
  TRY(rt_memory_trim(d, 0));
  TRY(rt_device_memory(d, &available, &total));
  return bytes <= available ? RT_OK : not_within(d, bytes, available, total);
}

RtStatus rt_managed_alloc(RtDevice *d, size_t bytes, void **out) {
  CUdeviceptr address = 0;
  *out = NULL;
  ENTER(d);
  TRY(check_managed(d, bytes));
  size_t whole = bytes ? (bytes + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN : HOST_ALIGN;
  if (rt_is_host(d)) {
    *out = aligned_alloc(HOST_ALIGN, whole);
    return *out ? RT_OK : not_within(d, bytes, 0, 0);
  }
  TRY(CU(cuMemAllocManaged, (&address, whole, CU_MEM_ATTACH_GLOBAL)));
  *out = (void *)(uintptr_t)address;
  return RT_OK;
}

void rt_managed_free(RtDevice *d, uint32_t epoch, void *p) {
  RtContext was SCOPED = {0};
  if (!p)
    return;
  if (rt_is_host(d)) {
    free(p);
  } else if (rt_enter_alive(&was, d, epoch)) {
    rt_cu.cuCtxSynchronize();
    rt_cu.cuMemFree((uintptr_t)p);
  }
}

/* --- other processes --- */

RtStatus rt_shared_alloc(RtDevice *d, size_t bytes, uint64_t *address) {
  CUdeviceptr found = 0;
  *address = 0;
  if (rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT,
                   "share NumPy arrays with multiprocessing.shared_memory, or select a GPU",
                   "memory of the host device cannot be shared with other processes through CUDA");
  ENTER(d);
  int result = rt_cu.cuMemAlloc(&found, bytes ? bytes : 1);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    TRY(rt_memory_trim(d, 0));
    result = rt_cu.cuMemAlloc(&found, bytes ? bytes : 1);
  }
  TRY(rt_driver_check(result, "cuMemAlloc"));
  *address = found;
  return RT_OK;
}

void rt_shared_free(RtDevice *d, uint32_t epoch, uint64_t address) {
  RtContext was SCOPED = {0};
  if (!address || !rt_enter_alive(&was, d, epoch))
    return;
  rt_cu.cuCtxSynchronize();
  rt_cu.cuMemFree(address);
}

RtStatus rt_ipc_export(RtDevice *d, uint64_t address, uint8_t handle[64], uint64_t *offset) {
  CUipcMemHandle found;
  CUdeviceptr base = 0;
  size_t bytes;
  if (rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT, "share NumPy arrays with multiprocessing.shared_memory",
                   "an array of the host device has no IPC handle");
  ENTER(d);
  TRY(CU(cuMemGetAddressRange, (&base, &bytes, address)));
  int result = rt_cu.cuIpcGetMemHandle(&found, base);
  if (result == CUDA_ERROR_INVALID_VALUE)
    return rt_fail_driver(RT_BAD_ARGUMENT, result, "cuIpcGetMemHandle",
                          "make it inside `with cuda.shareable():`",
                          "this array's memory comes from the memory pool, which other processes "
                          "cannot open");
  TRY(rt_driver_check(result, "cuIpcGetMemHandle"));
  memcpy(handle, found.reserved, 64);
  *offset = address - base;
  return RT_OK;
}

RtStatus rt_ipc_open(RtDevice *d, const uint8_t handle[64], uint64_t *address) {
  CUipcMemHandle h;
  CUdeviceptr found = 0;
  if (rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT, "select the GPU that the array lives on",
                   "the host device cannot open an IPC handle");
  memcpy(h.reserved, handle, 64);
  ENTER(d);
  TRY(CU(cuIpcOpenMemHandle, (&found, h, CU_IPC_LAZY_PEER_ACCESS)));
  *address = found;
  return RT_OK;
}

void rt_ipc_close(RtDevice *d, uint32_t epoch, uint64_t address) {
  RtContext was SCOPED = {0};
  if (!rt_enter_alive(&was, d, epoch))
    return;
  rt_cu.cuCtxSynchronize();
  rt_cu.cuIpcCloseMemHandle(address);
}
