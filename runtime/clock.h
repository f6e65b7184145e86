/* Clock: what deadlines and pauses are measured with. */
#ifndef PYPTX_RUNTIME_CLOCK_H
#define PYPTX_RUNTIME_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, in ns. */
static inline int64_t rt_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
