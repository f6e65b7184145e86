/* Call paths: by which calls a thread came to where it stops.
 *
 * The paths from the kernel to a device function have numbers, 0 to n - 1: each call of it stands
 * for as many as its caller has, from CgCall.first on. So a caller on its own path p calls with
 * path first + p. That is an argument, which is a constant once the function is inlined; there is
 * none where there is one path. A place in such a function where threads stop has n numbers, from
 * CgSite.first on, so that the one in RtTrap.site tells both place and path.
 *
 * The paths of recursive functions, and of those that have too many, are not told apart: they begin
 * there. None are in the stable ABI, whose sites are numbers of a list. */
#include <assert.h>

#include "codegen/llvm/valuemap.h"
#include "codegen/lower/private.h"

enum { MOST_PATHS = 1024, FIRST_NUMBER = 1 << 24, MOST_NUMBERS = 1 << 30 };

typedef struct Call {
  Loc loc;
  uint32_t caller, callee, first;
} Call;

typedef struct Numbered { /* a site; first 0: it has only its own number */
  uint32_t first, function;
} Numbered;

typedef VEC(uint32_t) Indices;

struct CallPaths {
  uint32_t nfns;
  uint32_t *count;   /* paths of each function; 0: they begin there */
  Indices *calls_of; /* of each function */
  VEC(Call) calls;
  ValueMap by_ins; /* of OP_CALL_FN: the number of its call */
  VEC(Numbered) sites;
  uint32_t next; /* number that is free */
};

static void list_calls(Cg *cg, struct CallPaths *s, uint32_t *missing) {
  Arena *a = &cg->cx->arena;
  const Program *p = cg->program;
  ValueMap numbers = {.arena = a};
  for (uint32_t k = 0; k < s->nfns; k++)
    valuemap_set(&numbers, p->fns.data[k], k);
  for (uint32_t k = 0; k < s->nfns; k++)
    FOR_BLOCKS (p->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_CALL_FN) {
          uint32_t callee = valuemap_get(&numbers, i->aux.fn);
          if (callee == 0 || p->fns.data[callee]->recursive)
            continue;
          missing[callee]++;
          valuemap_set(&s->by_ins, i, s->calls.len);
          VEC_PUSH(a, &s->calls_of[k], s->calls.len);
          VEC_PUSH(a, &s->calls, ((Call){.loc = i->loc, .caller = k, .callee = callee}));
        }
}

/* Callers before callees; without calls of recursive functions there are no cycles. */
static void count(Cg *cg, struct CallPaths *s, uint32_t *missing) {
  Indices ready = {0};
  for (uint32_t k = 0; k < s->nfns; k++)
    if (!missing[k])
      VEC_PUSH(&cg->cx->arena, &ready, k);
  while (ready.len) {
    uint32_t caller = VEC_POP(&ready);
    uint32_t paths = s->count[caller] ? s->count[caller] : 1;
    for (uint32_t k = 0; k < s->calls_of[caller].len; k++) {
      Call *call = &s->calls.data[s->calls_of[caller].data[k]];
      uint32_t *n = &s->count[call->callee];
      call->first = *n;
      *n = *n + paths > MOST_PATHS ? MOST_PATHS + 1 : *n + paths;
      if (--missing[call->callee])
        continue;
      *n = *n > MOST_PATHS ? 0 : *n;
      VEC_PUSH(&cg->cx->arena, &ready, call->callee);
    }
  }
}

void lw_count_paths(Cg *cg) {
  Arena *a = &cg->cx->arena;
  uint32_t n = cg->program->fns.len;
  struct CallPaths *s = CX_NEW(cg->cx, struct CallPaths);
  *s = (struct CallPaths){.nfns = n,
                          .count = ARENA_ARRAY(a, uint32_t, n),
                          .calls_of = ARENA_ARRAY(a, Indices, n),
                          .by_ins = {.arena = a},
                          .next = FIRST_NUMBER};
  cg->paths = s;
  if (!cg->has_trap || cg->options.abi)
    return;
  uint32_t *missing = ARENA_ARRAY(a, uint32_t, n);
  list_calls(cg, s, missing);
  count(cg, s, missing);
}

bool lw_takes_path(const Cg *cg, uint32_t function) { return cg->paths->count[function] > 1; }

/* p + first, in the function that is being lowered, on its path p. */
static LLVMValueRef on_path(Lower *lw, uint32_t first) {
  LLVMValueRef at = lw_i32(lw, first);
  return lw->path ? l_add(lw->b, lw->path, at) : at;
}

LLVMValueRef lw_path_of_call(Lower *lw, const Ins *call) {
  const struct CallPaths *s = lw->cg->paths;
  return on_path(lw, s->calls.data[valuemap_get(&s->by_ins, call)].first);
}

LLVMValueRef lw_trap_site(Lower *lw, uint32_t site) {
  struct CallPaths *s = lw->cg->paths;
  uint32_t n = s->count[lw->number];
  Numbered *to;
  while (s->sites.len <= site)
    VEC_PUSH(&lw->cx->arena, &s->sites, (Numbered){0});
  to = &s->sites.data[site];
  if (!n || site >= FIRST_NUMBER || s->next + n > MOST_NUMBERS ||
      (to->first && to->function != lw->number))
    return lw_i32(lw, site);
  if (!to->first) {
    *to = (Numbered){.first = s->next, .function = lw->number};
    s->next += n;
  }
  return on_path(lw, to->first);
}

void lw_publish_paths(Cg *cg) {
  const struct CallPaths *s = cg->paths;
  CgKernel *out = cg->out;
  for (uint32_t k = 0; k < s->sites.len; k++) {
    out->sites[k].first = s->sites.data[k].first;
    out->sites[k].function = s->sites.data[k].function;
  }
  if (s->next == FIRST_NUMBER)
    return;
  out->calls = cg_calloc(cg, s->calls.len, sizeof *out->calls);
  for (uint32_t k = 0; k < s->calls.len; k++) {
    const Call *call = &s->calls.data[k];
    if (!s->count[call->callee])
      continue;
    CgCall *to = &out->calls[out->ncalls++];
    *to = (CgCall){.caller = call->caller, .callee = call->callee, .first = call->first};
    lw_copy_place(cg, &to->at, cx_place(call->loc));
  }
}
