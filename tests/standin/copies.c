/* The stand-in's copies and fills: done at once, unless the stream captures. */
#include <string.h>

#include "tests/standin/internal.h"

static int is_on(CUdeviceptr address, int device) {
  const Thing *t = standin_holding(address);
  return t && t->device == device;
}

/* to or from is memory of a device where its flag says so. */
static CUresult copy_any(void *to, const void *from, size_t bytes, int device_to, int device_from,
                         CUstream stream) {
  if ((device_to && !standin_is_memory((uintptr_t)to, bytes)) ||
      (device_from && !standin_is_memory((uintptr_t)from, bytes)))
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  if (!standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  int taken = graphs_take(stream,
                          &(Work){.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes});
  if (taken)
    return standin_end(taken < 0 ? -taken : CUDA_SUCCESS);
  memmove(to, from, bytes);
  return standin_end(CUDA_SUCCESS);
}

/* Of the current one: on the default stream of another there would be no order. */
static CUresult copy(void *to, const void *from, size_t bytes, int device_to, int device_from,
                     CUstream stream) {
  if ((device_to && !standin_is_mine((uintptr_t)to)) ||
      (device_from && !standin_is_mine((uintptr_t)from)))
    return standin_misuse(CUDA_ERROR_INVALID_CONTEXT);
  return copy_any(to, from, bytes, device_to, device_from, stream);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  BEGIN(cuMemcpyHtoD, 1);
  return copy(at(to), from, bytes, 1, 0, NULL);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  BEGIN(cuMemcpyDtoH, 1);
  return copy(to, at(from), bytes, 0, 1, NULL);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyHtoDAsync, 1);
  return copy(at(to), from, bytes, 1, 0, stream);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyDtoHAsync, 1);
  return copy(to, at(from), bytes, 0, 1, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyDtoDAsync, 1);
  return copy(at(to), at(from), bytes, 1, 1, stream);
}

/* Row by row. A side's rows must lie in its memory, and not overlap. */
static CUresult copy_boxes(const CUmemcpy3D *c, CUstream stream) {
  const char *from = c->src_type == CU_MEMORY_HOST ? c->src_host : at(c->src_device);
  char *to = c->dst_type == CU_MEMORY_HOST ? c->dst_host : at(c->dst_device);
  if (c->src_pitch < c->width || c->dst_pitch < c->width || c->src_height < c->height ||
      c->dst_height < c->height || c->src_x || c->src_y || c->src_z || c->dst_x || c->dst_y ||
      c->dst_z || c->src_array || c->dst_array)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  if (graphs_state(stream) != CU_CAPTURE_NONE || !standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++) {
      const char *f = from + (z * c->src_height + y) * c->src_pitch;
      char *t = to + (z * c->dst_height + y) * c->dst_pitch;
      if ((c->src_type == CU_MEMORY_DEVICE &&
           !(standin_is_memory((uintptr_t)f, c->width) && standin_is_mine((uintptr_t)f))) ||
          (c->dst_type == CU_MEMORY_DEVICE &&
           !(standin_is_memory((uintptr_t)t, c->width) && standin_is_mine((uintptr_t)t))))
        return standin_misuse(CUDA_ERROR_INVALID_VALUE);
      memmove(t, f, c->width);
    }
  return standin_end(CUDA_SUCCESS);
}

CUresult cuMemcpy3D(const CUmemcpy3D *c) {
  BEGIN(cuMemcpy3D, 1);
  return copy_boxes(c, NULL);
}

CUresult cuMemcpy3DAsync(const CUmemcpy3D *c, CUstream stream) {
  BEGIN(cuMemcpy3DAsync, 1);
  return copy_boxes(c, stream);
}

static CUresult copy_peer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                          size_t bytes, CUstream stream) {
  if (!there->retained || !here->retained || !is_on(to, there->device) ||
      !is_on(from, here->device))
    return standin_misuse(CUDA_ERROR_INVALID_CONTEXT);
  return copy_any(at(to), at(from), bytes, 1, 1, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                      size_t bytes) {
  BEGIN(cuMemcpyPeer, 1);
  return copy_peer(to, there, from, here, bytes, NULL);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                           size_t bytes, CUstream stream) {
  BEGIN(cuMemcpyPeerAsync, 1);
  return copy_peer(to, there, from, here, bytes, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream) {
  BEGIN(cuMemsetD8Async, 1);
  if (!standin_is_memory(to, bytes) || !standin_is_mine(to) || !standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  int taken = graphs_take(stream,
                          &(Work){.kind = WORK_FILL, .to = at(to), .byte = byte, .bytes = bytes});
  if (taken)
    return standin_end(taken < 0 ? -taken : CUDA_SUCCESS);
  memset(at(to), byte, bytes);
  return standin_end(CUDA_SUCCESS);
}

/* The map is what it was made of, so that a test can look at it. */
CUresult cuTensorMapEncodeTiled(void *map, int element, cuuint32_t rank, CUdeviceptr address,
                                const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  BEGIN(cuTensorMapEncodeTiled, 1);
  (void)interleave, (void)promotion, (void)fill;
  if ((uintptr_t)map % 64 || element < 0 || element > 9 || !rank || rank > 5 || address % 16 ||
      swizzle < 0 || swizzle > 3)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  for (cuuint32_t k = 0; k < rank; k++)
    if (!dims[k] || !box[k] || box[k] > 256 || steps[k] != 1 || (k + 1 < rank && strides[k] % 16))
      return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  struct {
    CUdeviceptr address;
    cuuint64_t dims[5];
    cuuint32_t box[5];
    int element, swizzle;
  } made = {.address = address, .element = element, .swizzle = swizzle};
  memcpy(made.dims, dims, sizeof *dims * rank);
  memcpy(made.box, box, sizeof *box * rank);
  memset(map, 0, 128);
  memcpy(map, &made, sizeof made);
  return standin_end(CUDA_SUCCESS);
}
