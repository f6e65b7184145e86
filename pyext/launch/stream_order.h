/* Stream order: a launch without a stream runs on the current stream of the libraries whose arrays
 * it takes, after their work on these arrays and before what they do next. */
#ifndef PYPTX_PYEXT_LAUNCH_STREAM_ORDER_H
#define PYPTX_PYEXT_LAUNCH_STREAM_ORDER_H

#include "pyext/array/foreign_types.h"
#include "pyext/state.h"

enum { PX_FOLLOWED = 8 };

/* The streams of other libraries whose arrays are arguments. */
typedef struct PxFollow {
  PxState *st;
  RtDevice *device;
  RtStream *named;  /* the caller's, or NULL */
  RtStream *launch; /* what the kernel runs on: named, or that of another library */
  RtStreamRoom room;
  bool on_default;     /* work of ours is on the default stream: device arrays, NumPy's copies */
  bool theirs_default; /* work of another library is */
  unsigned nsources, nhandles;
  const PxSource *sources[PX_FOLLOWED]; /* whose current streams count */
  uint64_t handles[PX_FOLLOWED];        /* never 0 or 1 */
} PxFollow;

/* Remembers whose stream counts. 0 or -1. */
int px_follow_source(PxFollow *f, const PxSource *source);
int px_follow_handle(PxFollow *f, uint64_t handle);
/* Chooses f->launch, and orders it after the work on the arguments. 0 or -1. Once for each copy of
 * f. */
int px_follow_before(PxFollow *f);
/* Orders what the libraries, and we on the default stream, do next after the launch. 0 or -1. */
int px_follow_after(PxFollow *f);

static inline bool px_follows(const PxFollow *f) {
  return f->nsources | f->nhandles || (f->named && f->theirs_default);
}

#endif
