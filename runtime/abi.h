/* The border between compiled code and the runtime: data layouts only. Included by codegen, runtime and pyext. */
#ifndef PYPTX_RUNTIME_ABI_H
#define PYPTX_RUNTIME_ABI_H

#include <stdint.h>

typedef enum RtFieldKind {
#define FIELD(ID, size, align, doc) RT_FIELD_##ID,
#include "runtime/abi.def"
#undef FIELD
} RtFieldKind;

typedef struct RtField {
  uint8_t kind; /* RtFieldKind */
  uint8_t size;
  uint8_t axis; /* EXTENT*, STRIDE */
  uint16_t leaf; /* leaf argument */
  uint32_t offset;
} RtField;

typedef struct RtParams {
  RtField *fields;
  uint32_t nfields, bytes; /* bytes: end of the last field, which need not be a multiple of 8 */
} RtParams;

enum { RT_TRAP_VALUES = 4, RT_FRAME_THREADS = 64 };
/* What a thread leaves when it stops; the first one wins. state 0: none, 1: being written, 2: complete. */
typedef struct RtTrap {
  uint32_t state, site;
  uint32_t block[3], thread[3];
  int64_t values[RT_TRAP_VALUES];
} RtTrap;

/* One worker's view of a launch on the host device. Fields are in codegen/target_host.c too: keep the order. */
typedef struct RtHostLaunch {
  const void *params;       /* 0: the parameter block */
  uint32_t grid[3];         /* 8 */
  uint32_t block[3];        /* 20 */
  uint32_t dynamic_shared;  /* 32 bytes */
  uint32_t pad;
  void *shared;             /* 40: this worker's shared memory: static part, then dynamic; 64-byte aligned */
  void *frame;              /* 48: this worker's memory of threads that wait at a barrier; 64-byte aligned */
  void *worker;             /* 56: runtime's own */
  const uint32_t *stop;     /* 64: not 0 once another worker's thread has trapped: looked at before each block */
} RtHostLaunch;

/* Runs blocks first <= n < last of the grid, numbered x fastest. */
typedef void (*RtHostEntry)(const RtHostLaunch *launch, uint64_t first, uint64_t last);

typedef struct RtHostCode {
  RtHostEntry entry;
  uint32_t static_shared;   /* bytes of shared memory before the dynamic part */
  uint32_t frame_bytes;     /* a thread of a block, whose number of threads is rounded up to RT_FRAME_THREADS; 0 without barriers */
} RtHostCode;

#endif
