/* Check: what its files share. Private to them: check.c (launches, blocks, order,
 * findings), check_cells.c (what was touched, by whom), check_entries.c (lines of cells),
 * check_rows.c (vectors), check_kept.c (of shared memory, noted if it matters) and check_touch.c
 * (one cell). */
#ifndef PYPTX_RUNTIME_HOST_CHECK_STATE_H
#define PYPTX_RUNTIME_HOST_CHECK_STATE_H

#include "runtime/host/check_cells.h"

/* A record: segment 32 | tick 10 | lane 5 | site 14 | kind 3. Of FULL the segment is the launch's
 * first, and what is between it and the kind an index. */
enum { KIND_BITS = 7, FULL = 3, SITE_BITS = 14, LANE_AT = 17, TICK_AT = 22, SEGMENT_AT = 32 };
enum { MOST_TICKS = 1023, TICKS = 512, FENCE_TICKS = 256, WARP = 32 };
enum {
  PIECE_BITS = 20, /* bytes of memory that one array of cells is for */
  ROWS = 1 << 14,
  KEEP_BYTES = 1 << 30, /* of cells, from launch to launch */
  MOST_FULL = 1 << 27,
  MOST_LOGS = 1 << 26,
  LOCALS = 8,
  LOCKS = 1 << 14,
  NEAR_LOCKS = 8,
  FLAGS = 1 << 14,
  FLAG_BYTES = 4,     /* elements this near are one flag */
  CHAINS = 1 << 10,   /* of releases, by the block */
  MOST_LINE_BITS = 5, /* a line has so many cells at most: their mask is a word */
  NEAR = 1 << 20,     /* local arrays no further apart are in one stretch of memory */
};
#define WHO ((uint64_t)-1 << LANE_AT)

/* Of joined blocks: the first thread's place in the row is `warp`, the row's first thread
 * `epoch`. */
typedef struct Segment {
  uint32_t block, epoch, grid, warp;
} Segment;

typedef struct Full {
  uint64_t write, read[2]; /* 0: none */
} Full;

/* How the lanes of an entry follow from its cells: the record's lane is that of cell 0 (modulo 32),
 * and each cell's is the next one (EACH) or the one before (BACK); or it is one lane; or only every
 * second cell (EVERY + 1), fourth (EVERY + 2) and so on is the next one's. OPEN: the line's cells
 * have records. */
enum { EACH, ONE, OPEN, BACK, EVERY };
enum { LOG = 7 };

/* An entry: these cells of a line were touched. The line's own one says where the others are. Where
 * time counts it is two words. */
enum { FORM_AT = 32, TWICE_AT = 36, MORE_AT = 37, FORMS = 15 };
typedef struct Line {
  uint64_t record;
  union {
    struct {
      uint32_t mask;
      /* twice: of joined blocks, two threads read each cell, and nobody writes; more: index of a
       * log + 1; 0: there are no others */
      uint32_t form : 4, twice : 1, more : 27;
    };
    uint64_t rest;
  };
} Line;

typedef struct Log {
  uint32_t n;   /* of a free one: the next free one's index + 1 */
  bool written; /* an entry is, or was, a write */
  /* if not, of joined blocks: cells that one thread reads, or several, as EACH */
  uint32_t once, twice;
  Line entries[LOG];
} Log;

typedef struct Piece {
  uintptr_t number;
  uint32_t shift, phase;     /* a cell is for 1 << shift bytes; the first whole line begins there */
  uint32_t least, line_bits; /* the shift and the lines that there is memory for */
  uint32_t base;             /* of the launch that uses it */
  uint64_t *cells;
  Line *lines;
  struct Piece *next;
} Piece;

typedef struct Warp {
  uint64_t stamp;    /* the upper part of the records of its lanes, without the lane */
  uint32_t all;      /* each lane is behind what any lane did at lower ticks */
  uint64_t acquired; /* the time of its last atomic operation */
  uint64_t
      fences[2]; /* segment and tick of the last fence, of the block's level and the device's */
  uint16_t (*seen)[WARP]; /* the same for single lanes: [of the one that is behind][of the other] */
  uint16_t *fenced;       /* by lane: 1 more than the tick of its last fence in this segment */
  bool locks;             /* some lane has released something in this segment */
} Warp;

/* What whoever does an atomic operation on an element is behind, of a segment: what lanes did at
 * lower ticks. */
typedef struct Lock {
  uintptr_t at;
  uint32_t segment;
  uint16_t seen[WARP];
} Lock;

/* When something was last released by an atomic operation on an element: who does one there later
 * has seen what was released by then. */
typedef struct Flag {
  uintptr_t at;
  uint64_t time;
} Flag;

/* The last fence of a block's threads, and the one at an earlier epoch. */
typedef struct Fence {
  uint32_t epoch, warps, old_epoch, old_warps; /* no warps: there was none */
} Fence;

/* An access to shared memory that is not noted yet: the arguments of rt_check_row. */
typedef struct Kept {
  uintptr_t at;
  int64_t step;
  uint32_t thread, what, bytes, mask;
} Kept;

/* Of shared memory, bytes from its beginning. */
typedef struct Span {
  size_t begin, end; /* of nothing: SIZE_MAX, 0 */
} Span;

struct RtCheckBlock {
  uint64_t number;
  uint32_t epoch, grid, nthreads, nwarps;
  int64_t nearest; /* what is so far from what was touched last is to be fetched ahead */
  uint32_t first;  /* segment */
  uint32_t begun;  /* … of this epoch: in shared memory what is older is ordered */
  uintptr_t shared, shared_end;
  /* Since the last barrier (check_kept.c). */
  Kept *kept;
  size_t most_kept, written_words;
  Span writes, reads;
  uint32_t nkept, room; /* for so many; 0: nothing is kept, or only with more memory */
  uint32_t marked;      /* the writes among so many of them have bits */
  bool keeps, has_bits;
  uint64_t *written; /* a bit for each byte */
  const RtHostLaunch *view;
  Fence fences[2]; /* of the block's level, of the device's */
  uint16_t *left;  /* by thread: the site at which it ended, 0: it has not */
  struct RtCheckBlock *next;
  Warp warps[];
};

/* What an access that was not ordered is at odds with, for the trap that may follow. */
typedef struct Conflict {
  uint64_t time, block; /* of the access, and its thread */
  uint32_t thread;
  uint32_t detail, other_site, other_thread;
  uint64_t other_block;
} Conflict;

/* What a block did up to this epoch, and some warps in it, is seen by whoever comes later. Of one
 * warp that is what it did until its fence. */
typedef struct Release {
  uint32_t block, epoch, warps, device;
  uint64_t time, until; /* segment and tick; 0: the whole epoch */
  size_t before;        /* index of the one before in its chain + 1; 0: none */
} Release;

/* The first read of memory that was not written. */
typedef struct Unset {
  bool found;
  uint32_t site, thread;
  uint64_t block;
  int64_t values[RT_TRAP_VALUES];
} Unset;

/* Of a site that reads or writes plainly: the piece of its last vector, and where vectors of the
 * block's first thread were the last time, and by how much further than the time before. */
typedef struct RtNext {
  uint64_t generation;   /* else the piece may be another by now */
  uintptr_t begin, size; /* vectors that begin here are in the piece */
  Line *lines;
  uint32_t shift, first; /* the number of its first cell */
  uint64_t row;
  int64_t step;
  bool is_far; /* by so much that it is to be fetched ahead */
} RtNext;

struct RtCheck {
  RtNext *next;        /* by site */
  uint64_t generation; /* of pieces */
  uint32_t checks, base, grid;
  uint32_t line_bits; /* of the launch: lines have so many cells as their logarithm says */
  /* Blocks are joined: a segment is of 32 neighbours of a row of them, and nothing orders threads.
   * Their numbers begin with `begin`, the number in its block of the row's first one; else that is
   * 0, and they are those in a block. */
  bool joined;
  uint32_t begin, row_width;            /* … of a block's row */
  uint32_t first_segment, row_segments; /* of all of the rows, of one */
  uint64_t row_stamp;                   /* of the row's first thread */
  RtCheckBlock *block, *blocks, *spare; /* blocks: of places */
  RtCheckBlock *const *turns;           /* of blocks from first_turn on; NULL: none is taken */
  uint64_t first_turn;
  Segment *segments;
  size_t nsegments, most_segments; /* numbers from base on */
  Full *full;
  size_t nfull, most_full;
  uint32_t free_full; /* index + 1 */
  Log *logs;
  size_t nlogs, most_logs;
  uint32_t free_log; /* index + 1 */
  Lock *locks;       /* LOCKS; a lock is at one of NEAR_LOCKS places */
  Flag *flags;       /* FLAGS, in the same way */
  uint64_t lost;     /* the latest time of a flag that had to give way: all flags count as that */
  Release *releases;
  size_t nreleases, most_releases, chains[CHAINS]; /* index of the last one + 1 */
  uint64_t time;
  struct {
    uintptr_t at, end;
  } locals[LOCALS]; /* where local arrays were */
  size_t cell_bytes;
  bool no_memory; /* less has been noted than has happened */
  Unset unset;
  Conflict conflicts[WARP]; /* by lane of the vector */
  uint64_t nconflicts;
  uint32_t lane; /* of the vector, whose access is noted by itself */
  uint8_t found[WARP];
  uint32_t unset_of[WARP]; /* of rt_check_row and rt_check_unset_row, by lane */
  uintptr_t row;           /* 0, or where the row begins whose lanes are noted one by one */
  uint32_t ended_at;       /* of a block that has ended: 1 more than the site; 0: none */
  uint64_t ended;
  RtFinding finding;
  uint32_t detail, other_site, other_thread;
  uint64_t other_block;
  Piece *rows[ROWS];
  RtCheck *idle;
};

/* --- records --- */

static inline uint64_t rt_check_lanes(uint32_t n) { return (uint64_t)n << LANE_AT; }
static inline uint32_t rt_check_kind_of(uint64_t record) { return (uint32_t)record & KIND_BITS; }
static inline uint32_t rt_check_tick_of(uint64_t record) {
  return (uint32_t)(record >> TICK_AT) & MOST_TICKS;
}
static inline uint32_t rt_check_lane_of(uint64_t record) {
  return (uint32_t)(record >> LANE_AT) & (WARP - 1);
}
static inline uint32_t rt_check_site_of(uint64_t record) {
  return (uint32_t)(record >> RT_ACCESS_SITE) & (RT_ACCESS_SITES - 1);
}
static inline uint32_t rt_check_segment_of(uint64_t record) {
  return (uint32_t)(record >> SEGMENT_AT);
}
static inline bool rt_check_is_stale(const RtCheck *c, uint64_t record) {
  return rt_check_segment_of(record) < c->base;
}
static inline size_t rt_check_full_of(uint64_t cell) { return (uint32_t)cell >> RT_ACCESS_SITE; }
static inline bool rt_check_is_alike(uint64_t a, uint64_t b) {
  return rt_check_kind_of(a) == rt_check_kind_of(b);
}
static inline uint64_t rt_check_stamp(const RtCheck *c, uint32_t number) {
  return c->joined ? c->row_stamp + ((uint64_t)(number / WARP) << SEGMENT_AT)
                   : c->block->warps[number / WARP].stamp;
}
static inline bool rt_check_is_shared(const RtCheck *c, uintptr_t at) {
  return at >= c->block->shared && at < c->block->shared_end;
}

#endif
