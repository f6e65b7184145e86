/* libdevice's functions: the rows. */
#include "ir/libdevice.h"

#define I32  TY_I32
#define U32  TY_I32
#define I64  TY_I64
#define U64  TY_I64
#define F32  TY_F32
#define F64  TY_F64
#define H16  TY_I16
#define VOID TY_VOID
#define P1(t, a)                                                                                   \
  1, { t }
#define P2(t, a, u, b)                                                                             \
  2, { t, u }
#define P3(t, a, u, b, v, c)                                                                       \
  3, { t, u, v }
#define P4(t, a, u, b, v, c, w, d)                                                                 \
  4, { t, u, v, w }
#define O0                                                                                         \
  0, { 0 }
#define O1(t, a)                                                                                   \
  1, { t }
#define O2(t, a, u, b)                                                                             \
  2, { t, u }

static const LibdeviceInfo rows[] = {
#define L(name, result, params, outputs, host, doc) {"__nv_" #name, result, params, outputs},
#include "ir/libdevice.def"
#undef L
};

const LibdeviceInfo *ir_libdevice(IntrinsicId id) { return &rows[id - INTR_CUDA_LIBDEVICE - 1]; }
