/* Plan: what a launch with arguments of certain types does, worked out once: which word of which
 * argument goes where in the parameter block. In: arguments. Out: a parameter block, or the answer
 * that the plan is for others.
 *
 * A plan is only a shortcut: whatever it does not know takes the way of launcher.c, which alone
 * says what is wrong with an argument. So all that can be wrong is checked here too, and failing a
 * check is no error. Plans serve numbers, our own arrays and the arrays of the libraries in
 * source.h; once made they do not change, and they live as long as their dispatcher keeps its
 * overloads. */
#ifndef PYPTX_PYEXT_LAUNCH_PLAN_H
#define PYPTX_PYEXT_LAUNCH_PLAN_H

#include "pyext/compile/overload.h"
#include "pyext/launch/typeof.h"
#include "runtime/launch/launch.h"

enum { PX_BLOCK_ON_STACK = 1024 }; /* bytes of a parameter block that the stack has room for */

enum {
  PX_MAX_PLANS = 8,
  PX_PLAN_BYTES = PX_BLOCK_ON_STACK
}; /* of a dispatcher; of the block that px_plan_fill fills */

struct PxDispatcher;
struct PxOverload;

typedef struct PxPlan { /* in one piece with what it points to */
  PxState *st;
  RtDevice *device;
  RtKernel *kernel;  /* of the overload */
  PyObject *kwnames; /* of the call; NULL: none */
  Py_ssize_t npositional;
  struct PxStep *steps; /* one an argument, in the order of the parameters */
  struct PxMove *moves;
  uint64_t epoch;                 /* px_epoch_now when it was made */
  const _Atomic uint32_t *resets; /* of the device: after one more the plan serves nobody */
  int ordinal;                    /* of the device */
  uint16_t nsteps;
  uint8_t nsources;
  bool on_default;      /* arrays of ours are arguments */
  bool apart;           /* whether arrays overlap matters */
  uint8_t sizes;        /* PlanSizes */
  bool more;            /* there is more to do than the launch: px_launch_followed */
  PxCaptures *captures; /* of the overload; NULL: none */
  uint8_t nguards;      /* of the overload */
  PxGuard guards[PX_GUARDS];
  uint16_t nmoves, nmaps; /* tensor maps, made when all has been moved */
  struct PxMap *maps;
  const PxSource **sources;    /* whose current streams count, each once, PX_FOLLOWED at most */
  struct PxOverload *overload; /* the dispatcher's entries keep it */
  struct PxPlan *next, *next_retired;
} PxPlan;

/* Fills block for a call of the dispatcher's kernel, by the plan that fits its arguments. NULL:
 * none does; with an exception, an argument cannot be read. */
const PxPlan *px_plan_fill(struct PxDispatcher *d, PyObject *const *argv, Py_ssize_t n,
                           PyObject *kwnames, char block[PX_PLAN_BYTES]);
/* Makes a plan of a launch that has found its overload, if it is of a kind that a plan can serve.
 * Never raises. */
void px_plan_learn(struct PxDispatcher *d, struct PxOverload *o, const PxArgs *a,
                   PyObject *const *argv, Py_ssize_t n, PyObject *kwnames);
/* What px_follow_before begins with. */
void px_plan_follow(const PxPlan *p, RtStream *named, PxFollow *f);
/* No launch finds the plans of this overload any more. Under the dispatcher's lock. */
void px_plans_retire(struct PxDispatcher *d, const struct PxOverload *o);
/* Drops all plans: with the entries of the dispatcher. */
void px_plans_free(struct PxDispatcher *d);

#endif
