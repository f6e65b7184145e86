/* Stand-in: a libcuda.so.1 for machines without a GPU, for tests of the paths of runtime/
 * (PYPTX_DRIVER=build/…/standin/libcuda.so.1). Device memory is host memory, launches do nothing or
 * run a callback (tests/ptx_on_cpu runs the PTX in it), and every entry point can be told to fail.
 * What is alive is counted, and wrong use (a dead handle, a missing context) is an error result and
 * counted too.
 *
 * From outside: PYPTX_STANDIN_DEVICES, _VERSION (13000), _CAPABILITY (90), _MEMORY (bytes),
 * _POOLS (0 or 1), _SPILLED (bytes, 0), _MODPROBE (1: cuInit forks). From C: standin_control. */
#ifndef PYPTX_TESTS_STANDIN_H
#define PYPTX_TESTS_STANDIN_H

#include <stddef.h>
#include <stdint.h>

typedef enum StandinKind {
  SI_CONTEXT,
  SI_MEMORY,
  SI_PINNED,
  SI_MODULE,
  SI_STREAM,
  SI_EVENT,
  SI_GRAPH,
  SI_EXEC,
  SI_LINK,
  SI_KINDS
} StandinKind;

typedef struct StandinLaunch {
  char kernel[128];
  unsigned grid[3], block[3], dynamic_shared;
  void *stream;
  size_t bytes;
  unsigned char params[4096];
  int cooperative;
  unsigned cluster[3]; /* 0: without */
  /* of a cooperative launch: the addresses of the parameters, while the call lasts */
  void **fields;
  const char *ptx; /* of the function's module; NULL: a cubin */
} StandinLaunch;

typedef struct StandinControl {
  /* The nth call (from 1) of an entry point from now on returns result, once. call NULL: of any
   * entry point. nth 0: no failure. */
  void (*fail)(const char *call, int nth, int result);
  int (*fired)(void);              /* whether that failure has happened */
  const char *(*fired_call)(void); /* in which call; "" */
  /* Every call in a context returns result until the context is reset: an illegal address … */
  void (*stick)(int result);
  int (*calls)(const char *call); /* how often it was called since forget(); NULL: all */
  void (*forget)(void);           /* forgets calls and the planned failure */
  int (*live)(StandinKind kind);
  int (*misuse)(void);              /* wrong uses since the library was loaded */
  void (*set_memory)(size_t bytes); /* of each device */
  void (*set_attribute)(int function_attribute, int value); /* what cuFuncGetAttribute answers */
  void (*on_launch)(void (*run)(const StandinLaunch *launch, void *user), void *user);
  const StandinLaunch *(*last)(void);
  void (*busy)(int on); /* queries answer CUDA_ERROR_NOT_READY */
  /* Since forget(), a line each: "launch (nil) STREAM", "record EVENT STREAM", "wait EVENT
   * STREAM". */
  const char *(*order)(void);
  void (*capture)(void *stream); /* it answers that it is being captured; NULL: none does */
  void (*block)(int on);         /* launches wait, as with a full queue, until it is off again */
  /* What kernels may touch: [from, to) of the first n allocations, in order of addresses; how many
   * there are. */
  size_t (*reachable)(uint64_t (*ranges)[2], size_t n);
  void *(*context)(void);         /* this thread's, without a call that counts */
  void (*answer)(int result);     /* in on_launch's run: what the launch returns */
  void (*say)(const char *words); /* what the compiler says of every PTX that is loaded */
} StandinControl;

const StandinControl *standin_control(void);

#endif
