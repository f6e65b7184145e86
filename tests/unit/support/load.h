/* A kernel with its own entry loaded at once, as tests want it and the product never does. */
#ifndef PYPTX_TESTS_SUPPORT_LOAD_H
#define PYPTX_TESTS_SUPPORT_LOAD_H

#include "runtime/internal.h"
#include "runtime/launch/launch.h"

static inline RtStatus link_kernel(RtDevice *d, const char *image, size_t size,
                                   const RtLinked *with, const char *symbol, const RtParams *params,
                                   int has_trap, RtKernel **out) {
  RtKernel *k;
  *out = NULL;
  TRY(rt_kernel_open(d, symbol, params, has_trap, &k));
  RtStatus status = rt_kernel_add(k, RT_ENTRY_OWN, image, size, with);
  if (status != RT_OK) {
    RtError why = *rt_error();
    rt_kernel_release(k);
    rt_set_error(&why);
    return status;
  }
  *out = k;
  return RT_OK;
}

static inline RtStatus load_kernel(RtDevice *d, const char *image, size_t size, const char *symbol,
                                   const RtParams *params, int has_trap, RtKernel **out) {
  return link_kernel(d, image, size, &(RtLinked){0}, symbol, params, has_trap, out);
}

#endif
