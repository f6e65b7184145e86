/* The part of the CUDA driver's binary interface that this room uses, declared here so that no
 * toolkit is needed to build. Names and numbers are NVIDIA's. Which entry points: driver.def. */
#ifndef PYPTX_RUNTIME_DRIVER_CUDA_H
#define PYPTX_RUNTIME_DRIVER_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult; /* status.def has them all */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef struct CUkernelNodeParams { /* CUDA_KERNEL_NODE_PARAMS_v1 */
  CUfunction function;
  unsigned grid[3], block[3], dynamic_shared;
  void **params, **extra;
} CUkernelNodeParams;
typedef struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int allowed;
    char room[64];
  } value;
} CUlaunchAttribute;
typedef struct CUlaunchConfig {
  unsigned grid[3], block[3], dynamic_shared;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned nattributes;
} CUlaunchConfig;
typedef struct CUmemcpy3D { /* CUDA_MEMCPY3D_v2 */
  size_t src_x, src_y, src_z, src_lod;
  int src_type;
  const void *src_host;
  CUdeviceptr src_device;
  void *src_array, *reserved0;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  int dst_type;
  void *dst_host;
  CUdeviceptr dst_device;
  void *dst_array, *reserved1;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
} CUmemcpy3D;
typedef struct CUuuid {
  unsigned char bytes[16];
} CUuuid;
typedef struct CUipcMemHandle {
  char reserved[64];
} CUipcMemHandle;
typedef size_t (*CUoccupancyB2DSize)(int block);

enum {
#define RESULT(code, NAME, status, what, remedy) CUDA_##NAME = code,
#include "runtime/status.def"
#undef RESULT
};

enum { /* CUdevice_attribute */
       CU_MAX_THREADS_PER_BLOCK = 1,
       CU_MAX_BLOCK_DIM_X = 2,
       CU_MAX_GRID_DIM_X = 5,
       CU_MAX_SHARED_PER_BLOCK = 8,
       CU_TOTAL_CONSTANT = 9,
       CU_WARP_SIZE = 10,
       CU_CLOCK_RATE = 13,
       CU_MULTIPROCESSORS = 16,
       CU_INTEGRATED = 18,
       CU_CAN_MAP_HOST = 19,
       CU_CONCURRENT_KERNELS = 31,
       CU_MAX_THREADS_PER_MULTIPROCESSOR = 39,
       CU_UNIFIED_ADDRESSING = 41,
       CU_CAPABILITY_MAJOR = 75,
       CU_CAPABILITY_MINOR = 76,
       CU_MANAGED_MEMORY = 83,
       CU_PAGEABLE_ACCESS = 88,
       CU_COOPERATIVE_LAUNCH = 95,
       CU_MAX_SHARED_OPTIN = 97,
       CU_POOLS_SUPPORTED = 115,
};

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS = 0,
       CU_FUNC_SHARED = 1,
       CU_FUNC_CONST = 2,
       CU_FUNC_LOCAL = 3,
       CU_FUNC_REGISTERS = 4,
       CU_FUNC_BINARY_VERSION = 6,
       CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CU_FUNC_NON_PORTABLE_CLUSTER = 14,
};

/* CUjitInputType */
enum { CU_INPUT_CUBIN, CU_INPUT_PTX, CU_INPUT_FATBIN, CU_INPUT_OBJECT, CU_INPUT_LIBRARY };
enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE = 2 };       /* CUmemorytype */
enum { CU_LAUNCH_CLUSTER = 4, CU_LAUNCH_DEPENDENT = 6 }; /* CUlaunchAttributeID */
enum { CU_POOL_RELEASE_THRESHOLD = 4, CU_POOL_RESERVED = 5, CU_POOL_USED = 7 };
enum {
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_INFO_LOG = 3,
  CU_JIT_INFO_LOG_SIZE = 4,
  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_SIZE = 6
};
enum {
  CU_HOST_PORTABLE = 1,
  CU_HOST_DEVICEMAP = 2
}; /* of cuMemHostAlloc and cuMemHostRegister alike */
enum { CU_EVENT_NO_TIMING = 2 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_CAPTURE_RELAXED = 2 }; /* CUstreamCaptureMode */
/* CUstreamCaptureStatus */
enum { CU_CAPTURE_NONE = 0, CU_CAPTURE_ACTIVE = 1, CU_CAPTURE_INVALIDATED = 2 };
enum { CU_POINTER_MEMORY_TYPE = 2, CU_POINTER_ORDINAL = 9 }; /* CUpointer_attribute */
enum { CU_MEM_ATTACH_GLOBAL = 1 };
enum { CU_IPC_LAZY_PEER_ACCESS = 1 };
enum { CU_STREAM_LEGACY_HANDLE = 1, CU_STREAM_PER_THREAD_HANDLE = 2 };

/* The extra argument of cuLaunchKernel. */
#define CU_PARAM_END         ((void *)0)
#define CU_PARAM_BUFFER      ((void *)1)
#define CU_PARAM_BUFFER_SIZE ((void *)2)

#endif
