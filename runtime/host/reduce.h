/* Reduce: stores that combine each element with the one that is there. */
#ifndef PYPTX_RUNTIME_HOST_REDUCE_H
#define PYPTX_RUNTIME_HOST_REDUCE_H

#include "runtime/abi.h"

/* Stores so many bytes, whole elements; each is combined atomically where r->op says so. */
void rt_reduce_store(const RtReduce *r, char *to, const char *from, uint32_t bytes);

#endif
