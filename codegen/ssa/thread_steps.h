/* Thread steps: by how much each integer of a program differs between neighbouring threads. Private
 * to this room. */
#ifndef PYPTX_CODEGEN_SSA_THREAD_STEPS_H
#define PYPTX_CODEGEN_SSA_THREAD_STEPS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* A step that is a number of the launch, not of the program: an extent, an argument. */
#define STEP_OF_LAUNCH INT64_MAX

typedef struct ThreadStep {
  enum { STEP_NONE, STEP_KNOWN, STEP_UNKNOWN } state; /* NONE: no value reaches it (yet) */
  int64_t by[3]; /* KNOWN: from one threadIdx.x (y, z) to the next */
} ThreadStep;

typedef struct ThreadSteps ThreadSteps;

/* In: a typed program. NULL: it is too large to say. */
ThreadSteps *cg_thread_steps(Cx *cx, const Program *program);
/* Of an instruction of function number fn of the program. */
ThreadStep cg_thread_step(const ThreadSteps *s, uint32_t fn, const Ins *i);
ThreadStep cg_sum_of_steps(ThreadStep a, ThreadStep b, int64_t sign);
ThreadStep cg_multiple_of_step(ThreadStep a, ThreadStep b, const Ins *by);

#endif
