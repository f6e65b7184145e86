/* Sums: arrays that a kernel only adds to, as each worker's own memory during a launch.
 * codegen/host/own_sums.c says which they are, and why that is right. */
#ifndef PYPTX_RUNTIME_HOST_SUMS_H
#define PYPTX_RUNTIME_HOST_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi.h"

typedef struct RtSums {
  const RtHostCode *code;
  const void *params;           /* the launch's */
  size_t bytes;                 /* of a worker's memory; 0: no arrays are its own */
  size_t at[RT_HOST_ARRAYS];    /* of the elements in it, behind its parameter block */
  size_t count[RT_HOST_ARRAYS]; /* elements; 0: the array stays the launch's */
  unsigned workers;
} RtSums;

/* Of a launch of so many threads, and of workers that share it. */
RtSums rt_sums_of(const RtHostCode *code, const void *params, uint64_t threads, uint64_t workers);
/* Fills a worker's memory: a parameter block, which it returns, and elements that add nothing. */
const void *rt_sums_begin(const RtSums *s, void *own);
/* Adds what is there to the launch's arrays, atomically; then it adds nothing again. number: the
 * worker's. */
void rt_sums_give(const RtSums *s, void *own, unsigned number);

#endif
