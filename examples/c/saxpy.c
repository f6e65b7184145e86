/* y = a * x + y on the GPU, by the kernel of kernels.py: saxpy IMAGE, a fatbin or PTX of pyptx
 * compile. Prints "ok" and exits with 0 if every element is right. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "saxpy.h"

#define CHECK(call) check(call, #call)

static void check(CUresult result, const char *call) {
  const char *text = "?";
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: %s\n", call, text);
  exit(1);
}

/* A file, with a 0 behind it: PTX is a text. */
static void *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = -1;
  char *data = NULL;
  if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
      fseek(file, 0, SEEK_SET) == 0 && (data = calloc(1, (size_t)size + 1)) != NULL &&
      fread(data, 1, (size_t)size, file) != (size_t)size)
    size = -1;
  if (file)
    fclose(file);
  if (size < 0 || !data) {
    perror(path);
    exit(1);
  }
  return data;
}

static CUdeviceptr to_device(const float *from, size_t bytes) {
  CUdeviceptr to;
  CHECK(cuMemAlloc(&to, bytes));
  CHECK(cuMemcpyHtoD(to, from, bytes));
  return to;
}

enum { N = 1000, THREADS = 128 };

int main(int argc, char **argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  float x[N], y[N], result[N];
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = (float)(3 * i);
  }
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  void *image = read_file(argc > 1 ? argv[1] : "saxpy.fatbin");
  CHECK(cuModuleLoadDataEx(&module, image, 0, NULL, NULL));
  CHECK(cuModuleGetFunction(&kernel, module, saxpy_SYMBOL));

  saxpy_params p = {.a = 2.5f};
  CUdeviceptr d_x = to_device(x, sizeof x), d_y = to_device(y, sizeof y);
  saxpy_set_x(&p, d_x, N);
  saxpy_set_y(&p, d_y, N);
  CHECK(saxpy_launch(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, &p));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(result, d_y, sizeof result));
  for (int i = 0; i < N; i++) /* exact: all are halves of small integers */
    wrong += result[i] != 2.5f * x[i] + y[i];

  p.x_shape0 = -1; /* refused before the driver sees it */
  wrong += saxpy_launch(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, &p) != CUDA_ERROR_INVALID_VALUE;
  CHECK(cuMemFree(d_x));
  CHECK(cuMemFree(d_y));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  free(image);
  puts(wrong ? "wrong" : "ok");
  return wrong != 0;
}
