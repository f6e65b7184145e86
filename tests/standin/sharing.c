/* The stand-in's handles for other processes. Only cuMemAlloc's memory has one: its address. One
 * process plays both sides. */
#include <string.h>

#include "tests/standin/internal.h"

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  BEGIN(cuMemGetAddressRange, 1);
  const Thing *t = standin_holding(address);
  if (!t)
    return standin_misuse(CUDA_ERROR_NOT_FOUND);
  *base = (uintptr_t)t->handle;
  *bytes = t->bytes;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
  BEGIN(cuIpcGetMemHandle, 1);
  const Thing *t = standin_find(SI_MEMORY, (void *)(uintptr_t)address);
  if (!t || t->pooled)
    return standin_end(CUDA_ERROR_INVALID_VALUE);
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &address, sizeof address);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
  BEGIN(cuIpcOpenMemHandle, 1);
  (void)flags;
  memcpy(address, &handle, sizeof *address);
  return standin_end(standin_find(SI_MEMORY, (void *)(uintptr_t)*address)
                         ? CUDA_SUCCESS
                         : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  BEGIN(cuIpcCloseMemHandle, 1);
  return standin_find(SI_MEMORY, (void *)(uintptr_t)address)
             ? standin_end(CUDA_SUCCESS)
             : standin_misuse(CUDA_ERROR_INVALID_VALUE);
}
