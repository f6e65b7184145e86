/* Places: memory for the blocks of a launch on the host that may leave compiled code in the middle,
 * to wait for other blocks.
 *
 * A block has a place from its beginning to its end: shared memory and frame, which any thread of
 * the process may go on with. Blocks that have met the grid's barrier wait until every other one
 * has come there; those whose threads all yield (RT_MEET_YIELD) are tried again whenever any block
 * has got further, from both ends of their order in turn, so that chains of blocks that wait for
 * one another dissolve in either direction. In between, blocks begin that have not, as long as
 * there are places: as many as blocks where the grid's barrier is used, else as many as memory
 * allows.
 *
 * The blocks of a cluster share a place, which has a member for each: they begin together, take
 * turns on one thread of the process, and keep their memory until the last of them has ended, so
 * that each may reach the others' shared memory. */
#ifndef PYPTX_RUNTIME_HOST_BLOCK_PLACES_H
#define PYPTX_RUNTIME_HOST_BLOCK_PLACES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/abi.h"

enum { RT_MEMORY_ALIGN = 1024 }; /* at least what an array may ask for */

/* WAITS: all its threads wait for others of the cluster, which have not come (waits.h). */
typedef enum RtPlaceState {
  RT_PLACE_ENDED,
  RT_PLACE_YIELDS,
  RT_PLACE_AT_GRID,
  RT_PLACE_WAITS
} RtPlaceState;

/* Threads of a block, as bits; what some of them do at a barrier (meetings.h). */
enum { RT_NAMED_BARRIERS = 16, RT_MOST_THREADS = 1024, RT_MEETINGS = 256 };
typedef struct RtThreads {
  uint64_t bits[RT_MOST_THREADS / 64];
} RtThreads;
typedef enum RtMeetingStep {
  RT_STEP_ARRIVES,   /* they */
  RT_STEP_ELSEWHERE, /* they arrive at a barrier of another block */
  RT_STEP_OTHER,     /* a thread of another block arrives here */
  RT_STEP_OVER,      /* all have come */
  RT_STEP_GOES_ON    /* they, behind it */
} RtMeetingStep;
typedef struct RtMeeting {
  uint32_t time; /* RtCluster.clock */
  RtMeetingStep what;
  uint32_t at; /* which barrier */
  RtThreads threads;
} RtMeeting;
typedef struct RtNamedBarrier {
  uint32_t threads, arrived, phase; /* threads 0: nobody has come in this phase */
  RtThreads waited;
} RtNamedBarrier;

/* The barrier of a cluster, or of a block that has none. */
typedef struct RtCluster {
  uint32_t blocks;
  uint32_t threads, arrived, phase;
  struct RtPlace *first;       /* member of rank 0; the others follow it, so many bytes apart */
  size_t stride, shared_bytes; /* shared_bytes: of each */
  /* arrivals at mbarriers; how many there were when threads at a try_wait went on without one last,
   * and how often they did since one came; are there such threads */
  uint64_t events, events_then;
  uint32_t in_vain;
  bool tries;
  uint32_t clock; /* meetings of threads, and barriers made (RtPlace.met) */
} RtCluster;

/* Which thread of the block wrote a byte of shared memory, and where. */
typedef struct RtWritten {
  uint32_t when; /* that thread came to a proxy fence (RtCluster.clock); 0: it has not since */
  uint32_t line;
  uint16_t by; /* 1 + its number; 0: no thread has */
} RtWritten;

/* What a copy brought into a piece of shared memory. */
typedef struct RtBrought {
  uint32_t when; /* RtCluster.clock; 0: no copy has */
  uint32_t at;   /* the barrier that it came to (meetings.h) */
} RtBrought;

/* Shared memory as asynchronous operations see it (proxies.h). */
typedef struct RtProxy {
  char *seen;         /* NULL before it is asked for */
  uint32_t *when;     /* of each piece of 16 bytes: when threads had written it (RtCluster.clock) */
  RtBrought *brought; /* by piece; NULL before a copy has come */
  bool known, fenced;
  bool *come;         /* by thread: to a fence; NULL before one has */
  RtWritten *written; /* by byte; NULL before one is */
  /* those of all bytes that are noted, and of those whose threads have come to no fence */
  size_t first, end, open, open_end;
} RtProxy;

/* Which of its words copies that have not arrived write (flights.h). */
typedef struct RtFlights {
  unsigned char *marks; /* NULL before it is asked for */
  size_t words;         /* that are marked */
} RtFlights;

/* A thread's use of a word of shared memory (orders.h). */
typedef struct RtUse {
  uint32_t time; /* RtCluster.clock */
  uint32_t line; /* 0: it came with the thread's copy */
  uint16_t by;   /* 1 + its number; 0: there is none */
  uint8_t rank;  /* of its block */
  uint8_t bytes : 4, atomic : 1;
} RtUse;
enum { RT_WRITERS = 2, RT_READERS = 3, RT_KNOWN = 16 };
typedef struct RtWord {
  uint64_t number; /* of the block whose uses these are */
  RtUse wrote[RT_WRITERS], read[RT_READERS];
} RtWord;
/* Threads that know of something, as far as somebody has asked. */
typedef struct RtKnown {
  uint32_t what, time;
  bool barrier;
  RtThreads threads;
} RtKnown;
typedef struct RtOrders {
  RtWord *words;   /* NULL before one is used */
  uint64_t number; /* of the block */
  RtKnown known[RT_KNOWN];
} RtOrders;

/* Another block of the cluster has mapped this one's shared memory, or comes to its barrier. */
typedef struct RtMapped {
  uint32_t
      in; /* 1 + the cluster's phase; 0: none has, or this block has waited for something since */
  uint32_t site, thread;
  uint64_t block;
} RtMapped;

typedef struct RtPlace {
  uint64_t block;
  uint32_t times; /* it has been entered */
  RtPlaceState state;
  uint32_t site, thread; /* at the grid's barrier: a thread of it, and where */
  uint32_t votes[4];     /* RtMeetState's, while it yields */
  uint64_t standing;     /* where its threads stood when they yielded last */
  bool waited;           /* its state was WAITS when it was entered */
  bool moved;            /* they have got further since the block was entered */
  bool from_back;        /* where it was taken from */
  char *shared, *frame;
  /* of launches whose code waits */
  RtNamedBarrier barriers[RT_NAMED_BARRIERS];
  RtCluster *cluster, own;
  uint32_t rank;
  /* threads that have ended: but for those that had arrived at the cluster's barrier in this phase;
   * these */
  uint32_t exited, exited_behind;
  uint32_t *arrived_in; /* by thread: 1 + the cluster's phase in which it has arrived, 0: in none */
  /* when, by the cluster's clock, all threads of the block met last; each of them others; others
   * but at a barrier; the lanes of each warp */
  uint32_t all_met, *met, *met_outside, *warp_met;
  RtMeeting *meetings; /* a ring of RT_MEETINGS; NULL before the first */
  uint32_t nmeetings;  /* so many, all in all */
  uint32_t threads;    /* of the block */
  RtMapped mapped;
  RtProxy proxy;
  RtFlights flights;
  RtOrders orders;
  struct RtWarpgroup *warpgroups; /* of whole ones so many as the block has; NULL: none has come */
  struct RtCopies *copies;        /* mbarriers, copies (copies.h); NULL: none yet */
  struct RtRegisters *registers;  /* of warpgroups (registers.h); NULL: none has asked for any */
  bool gives_up;                  /* threads at a try_wait go on, once */
  uint32_t turn;                  /* of warpgroups that wait */
  bool quiet;                     /* nobody else gets further: who gives others a turn goes on */
  uint32_t what;                  /* while its state is WAITS: what `thread` waits for */
  uint64_t operand;
  struct RtCheckBlock *check;            /* of a checked launch: what is noted of the block */
  struct RtPlace *next, *before, *other; /* in its row; of all */
} RtPlace;

typedef struct RtPlaceRow {
  RtPlace *first, *last;
} RtPlaceRow;

typedef struct RtPlaces {
  pthread_mutex_t lock;
  size_t shared_bytes, bytes; /* of a place */
  uint32_t members;           /* of a place: blocks of a cluster; 1 without */
  size_t member_bytes;
  uint64_t blocks, begun, ended;
  uint64_t made, most; /* places */
  RtPlace *all, *unused;
  /* they yield: to be tried; tried in vain since a block got further, those in front of `ready` and
   * those behind it */
  RtPlaceRow ready, front, back;
  unsigned turn;
  unsigned idle;
  RtPlace *at_grid;
  uint64_t nat_grid;
} RtPlaces;

/* Bytes of a place. */
size_t rt_place_bytes(size_t shared, size_t frame);
/* blocks: or clusters of so many members. false: there is no memory; rt_places_close all the
 * same. */
bool rt_places_open(RtPlaces *p, size_t shared, size_t frame, uint64_t blocks, bool all,
                    uint32_t members);
/* A cluster's block of that rank; that in whose shared memory an address lies, or else p. */
RtPlace *rt_cluster_member(const RtCluster *c, uint32_t rank);
RtPlace *rt_cluster_owner(RtPlace *p, const char *at);
/* Member `rank` of a cluster's place. */
RtPlace *rt_place_member(const RtPlaces *p, RtPlace *place, uint32_t rank);
void rt_places_close(RtPlaces *p);
/* A block that is to run; NULL: there is none for this thread now. *idle: so often all that yield
 * have been tried in vain since any block got further. */
RtPlace *rt_places_take(RtPlaces *p, unsigned *idle);
/* It has left compiled code. */
void rt_places_put(RtPlaces *p, RtPlace *place);
/* Blocks that have not begun, or yield. */
uint64_t rt_places_ready(RtPlaces *p);
/* Nobody runs: those at the grid's barrier go on. Returns how many; if others have ended none goes
 * on, and *first is the one with the lowest number. */
uint64_t rt_places_meet(RtPlaces *p, const RtPlace **first);

#endif
