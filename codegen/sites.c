/* Sites: what the number that a stopped thread leaves stands for; see lower/paths.c. */
#include "codegen/compile.h"

CgStop cg_stop(const CgKernel *k, uint32_t number) {
  CgStop stop = {.left = k->ncalls};
  if (number < k->nsites)
    stop.site = &k->sites[number];
  for (uint32_t n = 0; n < k->nsites && number >= k->nsites; n++) {
    const CgSite *s = &k->sites[n];
    if (s->first && s->first <= number && (!stop.site || s->first > stop.site->first))
      stop.site = s;
  }
  if (stop.site && number >= k->nsites) {
    stop.function = stop.site->function;
    stop.path = number - stop.site->first;
  }
  return stop;
}

uint32_t cg_paths_of(const CgKernel *k, uint32_t function) {
  uint32_t n = function == 0;
  for (uint32_t c = 0; c < k->ncalls; c++)
    n += k->calls[c].callee == function ? cg_paths_of(k, k->calls[c].caller) : 0;
  return n;
}

const CgCall *cg_caller(const CgKernel *k, CgStop *stop) {
  const CgCall *found = NULL;
  for (uint32_t n = 0; n < k->ncalls && stop->left; n++) {
    const CgCall *c = &k->calls[n];
    if (c->callee == stop->function && c->first <= stop->path &&
        (!found || c->first > found->first))
      found = c;
  }
  if (!found)
    return NULL;
  stop->left--;
  stop->function = found->caller;
  stop->path -= found->first;
  return found;
}
