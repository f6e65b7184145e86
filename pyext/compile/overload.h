/* Overload: a kernel compiled for one signature and device, ready to be launched. */
#ifndef PYPTX_PYEXT_COMPILE_OVERLOAD_H
#define PYPTX_PYEXT_COMPILE_OVERLOAD_H

#include "pyext/compile/disk_cache.h"
#include "pyext/compile/signature.h"
#include "pyext/snapshot/captures.h"
#include "pyext/state.h"

#include "codegen/compile.h"
#include "runtime/launch/launch.h"

/* A guard of the kernel (CgGuard) as a launch looks at it: what its parameter block has there. */
typedef struct PxGuard {
  uint16_t offset;
  uint8_t wide, axis; /* 8 bytes, else 4; of the grid */
} PxGuard;
enum { PX_GUARDS = 3 };

typedef struct PxOverload {
  PyObject_HEAD RtDevice *device;
  PxSignature signature;
  PyObject *text;       /* str: "(float32[::1], pyint)" */
  PyObject *types;      /* tuple of Type */
  PyObject *scope;      /* the kernel's globals */
  PyObject *exceptions; /* dict: the classes that it may raise, by what its sites call them */
  PyObject *owners;     /* tuple: device arrays whose addresses the code holds */
  PxCaptures captures;  /* what the names that the code has frozen meant */
  CgKernel *code;
  RtKernel *kernel;
  /* what loads the kernel's, launch/entry_loading.c; NULL on the host device */
  struct PxEntries *entries;
  PxCacheUse cache; /* how the disk cache served it */
  bool waits;       /* a launch on a GPU waits for it, and raises what it raises */
  bool told;        /* advice was given of a grid that is smaller than the kernel's guard */
  uint8_t nguards;
  PxGuard guards[PX_GUARDS];
  /* launched on a GPU, and perhaps not yet ended: in st->pending (launch/traps.c) */
  bool pending;
  uint64_t launch, launched_on; /* the number of its last launch; the stream, or all of them */
  struct PxOverload *next_pending, *next_ended;
  PyObject *weakrefs;
} PxOverload;

struct PxDispatcher;

/* Compiles and loads. Runs the compiler without the GIL. signature is copied. A new reference, or
 * NULL with an exception. */
PxOverload *px_overload_compile(PxState *st, struct PxDispatcher *d, const PxSignature *signature,
                                RtDevice *device);

/* Compiles to text only, for a target that need not be here. code is freed with cg_kernel_free. 0
 * or -1. */
typedef struct PxTextRequest {
  CgTarget target;
  const char *arch;      /* "sm_90"; NULL: this CPU */
  int ptx_version;       /* 0: the lowest that arch allows */
  unsigned want;         /* CgWant */
  int opt;               /* -1: the dispatcher's */
  RtDevice *device;      /* whose arrays the code may hold by address; NULL: any */
  const char *symbol;    /* of the kernel in the module; NULL: made from its qualname */
  bool apart;            /* a coarsened entry is compiled by itself, if at all: CgRequest.apart */
  PxCacheUse *cache;     /* the disk cache may be used: set to what it did; NULL: compile */
  PyObject **owners;     /* set to a tuple of these arrays, if not NULL */
  PxCaptures *captures;  /* … and to the names that it has frozen; empty */
  PyObject **declared;   /* … and to one of the functions of other modules that it may call */
  PyObject **exceptions; /* … and to a dict of the exception classes that it may raise */
  PyObject **key;        /* do not compile: set to the disk cache's key as text, or to None */
} PxTextRequest;
int px_compile_text(PxState *st, struct PxDispatcher *d, const PxSignature *signature,
                    const PxTextRequest *text, CgKernel **code);
/* One compilation, with its errors as Python exceptions. label: of the file in the cache; NULL:
 * made from the request. 0 or -1. */
int px_compile_request(PxState *st, PxCaching caching, const CgRequest *request, const char *label,
                       CgKernel **code, PxCacheUse *use);
const char *px_dump(const struct PxDispatcher *d); /* which passes are dumped; NULL: none */
/* Which texts a device's own compilation is: its target and architecture. arch: room for
 * "sm_90". */
PxTextRequest px_text_request(RtDevice *device, char arch[16]);

#endif
