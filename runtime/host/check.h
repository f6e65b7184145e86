/* Check: what checked code and the runtime note while a launch runs on the host device, to find
 * races, barriers that not all threads reach, and memory that is read before it is written.
 *
 * In: each access, fence and meeting of each thread. Out: a finding, which becomes the launch's
 * trap. A checked launch runs on one OS thread, its blocks one after another or in turns, so that
 * the same launch finds the same. */
#ifndef PYPTX_RUNTIME_HOST_CHECK_H
#define PYPTX_RUNTIME_HOST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi.h"

typedef struct RtCheck RtCheck;
typedef struct RtCheckBlock RtCheckBlock;

/* For one launch; NULL: there is no memory. The shadow of memory is kept for the next one. */
RtCheck *rt_check_open(uint32_t checks, uint32_t width, bool joined); /* of its blocks */
void rt_check_close(RtCheck *c);

/* A block begins on this memory. place: what is kept for a block that may leave compiled code; NULL
 * at first. false: there is no memory. */
bool rt_check_begin(RtCheck *c, RtCheckBlock **place, uint64_t block, const RtHostLaunch *view,
                    size_t shared_bytes);
/* The blocks from `first` on that have begun take turns. */
enum { RT_CHECK_TURNS = 32 };
void rt_check_take_turns(RtCheck *c, RtCheckBlock *const *places, uint64_t first);
/* The block that has begun and those behind it are joined: vectors go across their boundaries.
 * false: there is no memory. */
bool rt_check_join(RtCheck *c, const RtHostLaunch *view);
/* It goes on. */
void rt_check_resume(RtCheck *c, RtCheckBlock *place);
/* All blocks have met. */
void rt_check_grid(RtCheck *c);

/* All threads of the block have passed a barrier; the lanes in `who` of the warp that begins at
 * thread `first` a warp operation. */
void rt_check_barrier(const RtHostLaunch *view);
void rt_check_warp(RtCheck *c, uint32_t first, uint32_t who);
/* 1 more than the site at which a thread ended; 0: it has not. */
uint32_t rt_check_left(const RtCheck *c, uint32_t thread);
uint32_t rt_check_kinds(const RtCheck *c);
/* The other side of a finding, for the trap that follows. */
void rt_check_note(RtCheck *c, RtFinding finding, uint32_t detail, uint32_t site, uint64_t block,
                   uint32_t thread);
/* Fills the trap's part about the finding that was noted, a race as this thread met it. */
void rt_check_fill(RtCheck *c, RtTrap *trap, const RtHostLaunch *view, uint32_t thread);

/* A block has ended that others wait for at the grid's barrier: notes it, if barriers are looked
 * at. */
bool rt_check_note_ended(RtCheck *c);

/* Was there no memory for what happened? Then silence says nothing. */
bool rt_check_is_short(const RtCheck *c);
/* All blocks have run: is there something to say that was kept until now? */
bool rt_check_ends(RtCheck *c, RtTrap *trap, const RtHostLaunch *view);

/* --- for check_cells.c --- */

bool rt_check_grow(void **array, size_t *most, size_t n, size_t size);
void *rt_check_map(size_t bytes); /* zeros; NULL: there is no memory */
/* Does the access of this record come before what `me` does now? shared: it is the block's own
 * memory. */
bool rt_check_is_before(const RtCheck *c, uint64_t record, uint64_t me, bool shared);
bool rt_check_is_row_before(const RtCheck *c, uint64_t record, uint64_t me, bool shared);
/* writes: it is an atomic operation, and no relaxed read, which acquires only. */
void rt_check_order_by_atomic(RtCheck *c, uint32_t thread, uintptr_t at, bool writes);

/* Whose access this is: the block's number; *thread: in the block. */
uint64_t rt_check_whose(const RtCheck *c, uint64_t record, uint32_t *thread);

/* --- called by compiled code --- */

/* All lanes of the warp that begins at thread `first` have done a warp operation. */
void rt_check_met(const RtHostLaunch *view, uint32_t first);
/* A row of joined blocks begins, at this thread of each. */
void rt_check_along(const RtHostLaunch *view, uint32_t first);
/* What follows is done by this block. */
void rt_check_turn(const RtHostLaunch *view, uint64_t block);
void rt_check_fence(const RtHostLaunch *view, uint32_t thread, uint32_t device);
/* site: 1 more than its number; 0: the thread goes on. */
void rt_check_leave(const RtHostLaunch *view, uint32_t thread, uint32_t site);
/* Before a trap of checked arithmetic. */
void rt_check_found(const RtHostLaunch *view, uint32_t finding);
/* Has some of these bytes not been written? They count as written from then on. */
uint32_t rt_check_unset(const RtHostLaunch *view, const void *p, uint32_t bytes);
void rt_check_unset_at(const RtHostLaunch *view, uint32_t site, uint64_t block, uint32_t thread,
                       int64_t v0, int64_t v1, int64_t v2, int64_t v3);
void rt_check_set(const RtHostLaunch *view, const void *p, uint32_t bytes);
/* These bytes become a copy of others: written as far as those are. */
void rt_check_copy(const RtHostLaunch *view, const void *p, uint32_t bytes, const void *from);
/* rt_check_unset, rt_check_set for the lanes in `mask`, `step` bytes from one to the next; answers
 * by lane. */
const uint32_t *rt_check_unset_row(const RtHostLaunch *view, const void *p, uint32_t bytes,
                                   int64_t step, uint32_t mask);
void rt_check_set_row(const RtHostLaunch *view, const void *p, uint32_t bytes, int64_t step,
                      uint32_t mask);
/* A local array begins its life. */
void rt_check_local(const RtHostLaunch *view, const void *p, uint32_t bytes);

#endif
