/* libdevice's functions: the rows of ir/libdevice.def as data. Their ids are a range of
 * IntrinsicId. */
#ifndef PYPTX_IR_LIBDEVICE_H
#define PYPTX_IR_LIBDEVICE_H

#include "ir/intrinsics.h"
#include "ir/type.h"

enum { LIBDEVICE_MAX_PARAMS = 4, LIBDEVICE_MAX_OUTPUTS = 2 };

typedef struct LibdeviceInfo {
  const char *symbol; /* "__nv_sincos" */
  TypeId result;      /* TY_VOID: only outputs */
  unsigned nparams;
  TypeId params[LIBDEVICE_MAX_PARAMS];
  unsigned noutputs;
  TypeId outputs[LIBDEVICE_MAX_OUTPUTS];
} LibdeviceInfo;

/* The row of an intrinsic whose lowering is LOWER_LIBDEVICE. */
const LibdeviceInfo *ir_libdevice(IntrinsicId id);

#endif
