/* What the stand-in's files share. Everything but standin_control is hidden. */
#ifndef PYPTX_TESTS_STANDIN_INTERNAL_H
#define PYPTX_TESTS_STANDIN_INTERNAL_H

#include <pthread.h>

#include "runtime/driver/cuda.h"
#include "tests/standin/standin.h"

#define EXPORT                      __attribute__((visibility("default")))
#define HIDDEN                      __attribute__((visibility("hidden")))

#define ENTRY(name, symbol, params) EXPORT CUresult name params __asm__(symbol);
#define OPTIONAL                    ENTRY
#include "runtime/driver/driver.def"
#undef ENTRY
#undef OPTIONAL

struct CUctx_st {
  int device, retained;
};
typedef struct Global { /* of a module: memory of its own, which no PTX on the CPU uses */
  char name[128];
  CUdeviceptr address;
  size_t bytes;
  struct Global *next;
} Global;
struct CUmod_st {
  char *text;
  Global *globals;
};
struct CUlinkState_st {
  char *first, *others; /* texts: the PTX that came first, and all that came behind it */
  char *log;
};
struct CUfunc_st {
  char name[128];
  int device; /* of its module */
  int max_dynamic, large_clusters;
  long param_bytes; /* of its parameter block as the PTX declares it; -1: unknown */
  unsigned nparams, param_at[256], param_size[256];
  char *ptx;              /* its module's text: the module may be gone before */
  struct CUfunc_st *next; /* freed when the library is unloaded */
};

typedef struct Thing {
  StandinKind kind;
  int device;
  void *handle;
  size_t bytes;
  struct Thing *next;
  int pooled;     /* of cuMemAllocAsync */
  int registered; /* pinned memory that was there before */
} Thing;

/* What every entry point does first: takes the lock, counts, and returns at once where a failure
 * was planned or the context is missing. */
#define BEGIN(name, needs_context)                                                                 \
  standin_lock();                                                                                  \
  int result = standin_begin(#name, needs_context);                                                \
  if (result)                                                                                      \
  return standin_end(result)

HIDDEN void standin_lock(void);
HIDDEN int standin_begin(const char *name, int needs_context);
HIDDEN int standin_end(int result);    /* gives the lock back */
HIDDEN int standin_misuse(int result); /* and counts a wrong use */
HIDDEN Thing *standin_find(StandinKind kind, const void *handle);
HIDDEN void *standin_make(StandinKind kind, size_t bytes); /* zeroed where it is no memory */
HIDDEN void standin_drop(Thing *t);
HIDDEN int standin_is_stream(CUstream s);        /* of the device that is current */
HIDDEN int standin_is_here(int device);          /* is it current */
HIDDEN int standin_is_mine(CUdeviceptr address); /* no memory of another device */
HIDDEN int standin_is_memory(CUdeviceptr address, size_t bytes);
HIDDEN Thing *standin_holding(CUdeviceptr address); /* the memory that the address lies in */
HIDDEN int standin_is_pinned(CUdeviceptr address);
HIDDEN int standin_run(const StandinLaunch *launch); /* without the lock; what run answered */
HIDDEN void standin_answer(int result);
HIDDEN void standin_say(const char *words);

HIDDEN int standin_destroy(StandinKind kind, void *handle); /* and gives the lock back */
HIDDEN void standin_wait(pthread_cond_t *until);            /* without the lock meanwhile */

HIDDEN void standin_note(const char *what, const void *event, const void *stream); /* for order() */

static inline void *at(CUdeviceptr address) { return (void *)(uintptr_t)address; }

/* --- launches.c --- */

extern HIDDEN int standin_attributes[16]; /* what cuFuncGetAttribute answers */
extern HIDDEN StandinLaunch standin_last;
HIDDEN void standin_block(int on);
HIDDEN void standin_on_launch(void (*run)(const StandinLaunch *, void *), void *user);

/* --- graphs.c: all with the lock held --- */

typedef struct Work { /* of a node */
  enum { WORK_KERNEL, WORK_COPY, WORK_FILL } kind;
  StandinLaunch launch;
  CUfunction function;
  void *to;
  const void *from;
  size_t bytes;
  unsigned char byte;
} Work;

/* 0: the stream does not capture, do it now; 1: it is a node now; else minus the error. */
HIDDEN int graphs_take(CUstream stream, const Work *work);
HIDDEN int graphs_record(CUevent event, CUstream stream); /* as graphs_take */
HIDDEN int graphs_wait(CUstream stream, CUevent event);
/* a call that a capture forbids: the error, which spoils the capture, or 0 */
HIDDEN int graphs_refuse(CUstream stream);
HIDDEN int graphs_state(CUstream stream); /* CUstreamCaptureStatus */
HIDDEN int graphs_is_captured_event(CUevent event);
HIDDEN void graphs_forget(Thing *t); /* of a graph, exec or stream that is dropped */

#endif
