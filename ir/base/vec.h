/* Vec: a growing array in an arena. VEC(T) names the struct; old storage stays in the arena until
 * its end.
 *
 *   VEC(Ins *) work = {0};
 *   VEC_PUSH(&cx->arena, &work, ins);
 *   for (uint32_t i = 0; i < work.len; i++) use(work.data[i]); */
#ifndef PYPTX_IR_BASE_VEC_H
#define PYPTX_IR_BASE_VEC_H

#include "ir/base/arena.h"

#define VEC(T)                                                                                     \
  struct {                                                                                         \
    T *data;                                                                                       \
    uint32_t len, cap;                                                                             \
  }

#define VEC_RESERVE(arena, v, n)                                                                   \
  do {                                                                                             \
    uint32_t want_ = (n);                                                                          \
    if (want_ > (v)->cap) {                                                                        \
      uint32_t cap_ = (v)->cap ? (v)->cap : 8;                                                     \
      while (cap_ < want_)                                                                         \
        cap_ *= 2;                                                                                 \
      (v)->data = arena_grow((arena), (v)->data, sizeof *(v)->data * (v)->len,                     \
                             sizeof *(v)->data * cap_);                                            \
      (v)->cap = cap_;                                                                             \
    }                                                                                              \
  } while (0)

#define VEC_PUSH(arena, v, x)                                                                      \
  do {                                                                                             \
    VEC_RESERVE((arena), (v), (v)->len + 1);                                                       \
    (v)->data[(v)->len++] = (x);                                                                   \
  } while (0)

#define VEC_POP(v) ((v)->data[--(v)->len])

#endif
