/* Prints: what kernels print goes through sys.stdout, in order with Python's own prints.
 *
 * Where sys.stdout is what Python began with (sys.__stdout__), kernels write to its file descriptor
 * themselves, and what Python still holds goes out first. Anything else (a notebook's, one that
 * contextlib.redirect_stdout or pytest has put there, None) is written to when the launch is over.
 * For that a launch on a GPU is waited for: its text would come when the redirection has ended. */
#ifndef PYPTX_PYEXT_LAUNCH_PRINTS_H
#define PYPTX_PYEXT_LAUNCH_PRINTS_H

#include "pyext/state.h"

typedef struct PxPrints {
  bool kept; /* for sys.stdout */
  bool gpu;
} PxPrints;

/* Before a launch on the stream that may print. 0, or -1 with what is no Exception (Ctrl-C). As in
 * input(), an error of flush is none here: it is that of who writes next. */
int px_prints_begin(PxState *st, RtDevice *device, RtStream *stream, PxPrints *p);
/* After it: `failed` is what the launch gave, which is waited for on the stream if it has begun.
 * Returns failed, -1 where waiting has failed, or PX_UNPRINTED with what sys.stdout has raised, as
 * print() would raise it; the launch has happened. */
int px_prints_end(PxState *st, const PxPrints *p, RtDevice *device, RtStream *stream, int failed);
enum { PX_UNPRINTED = 2 };

/* For rt_host_ask: handlers of signals run, and what a launch has printed so far is written. */
int px_prints_ask(void);

#endif
