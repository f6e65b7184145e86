/* Link: in, PTX whose functions are partly elsewhere, and the PTX, cubins, objects and libraries
 * where they are; out, a module with all of them. The driver's linker does it, and compiles what is
 * PTX. */
#include <string.h>

#include "runtime/driver/driver.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/link.h"

static RtStatus refused(const char *symbol, int result, const char *call, const char *what,
                        char *log) {
  RtStatus status = rt_driver_status_of(result, call, symbol);
  rt_squeeze_log(log);
  RtError why = *rt_error();
  const char *remedy =
      strstr(log, "ndefined") || strstr(log, "nresolved")
          ? "pass the file that defines it with link=; C++ functions are found as extern \"C\""
          : "see that each file is for this GPU, compiled for linking (nvcc -rdc=true), and what its name says";
  return status == RT_NO_MEMORY || status == RT_CONTEXT_LOST
             ? status
             : rt_fail_driver(RT_BAD_MODULE, result, why.call, remedy, "%.160s, linking %.80s%s%s",
                              why.text, what, *log ? ": " : "", log);
}

static int add(CUlinkState state, int kind, const char *name, const void *data, size_t bytes) {
  return rt_cu.cuLinkAddData(state, kind, (void *)(uintptr_t)data, bytes, name, 0, NULL, NULL);
}

/* ptx ends with 0. */
static RtStatus fill(CUlinkState state, const char *symbol, const char *ptx, const RtLinked *with,
                     char *log) {
  int result = add(state, CU_INPUT_PTX, symbol, ptx, strlen(ptx) + 1);
  if (result != CUDA_SUCCESS)
    return refused(symbol, result, "cuLinkAddData", symbol, log);
  for (unsigned i = 0; i < with->n; i++) {
    const RtLinkInput *in = &with->inputs[i];
    result = add(state, in->kind, in->name, in->data, in->bytes);
    if (result != CUDA_SUCCESS)
      return refused(symbol, result, "cuLinkAddData", in->name, log);
  }
  return RT_OK;
}

RtStatus rt_link(const char *symbol, const char *ptx, const RtLinked *with,
                 RtStatus (*load)(void *user, const char *cubin), void *user) {
  CUlinkState state;
  char info[RT_LOG_SIZE] = "", log[RT_LOG_SIZE] = "";
  void *cubin = NULL;
  size_t bytes = 0;
  int options[] = {CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE, CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE};
  void *values[] = {info, (void *)(uintptr_t)sizeof info, log, (void *)(uintptr_t)sizeof log};
  int result = rt_cu.cuLinkCreate(4, options, values, &state);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuLinkCreate", symbol);
  RtStatus status = fill(state, symbol, ptx, with, log);
  if (status == RT_OK && (result = rt_cu.cuLinkComplete(state, &cubin, &bytes)) != CUDA_SUCCESS)
    status = refused(symbol, result, "cuLinkComplete", symbol, log);
  if (status == RT_OK)
    status = load(user, cubin);
  RtError why = *rt_error();
  rt_cu.cuLinkDestroy(state); /* and the cubin with it */
  if (status != RT_OK)
    rt_set_error(&why);
  return status;
}
