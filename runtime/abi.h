/* The border between compiled code and the runtime: data layouts only. Included by codegen, runtime
 * and pyext. */
#ifndef PYPTX_RUNTIME_ABI_H
#define PYPTX_RUNTIME_ABI_H

#include <stdint.h>

typedef enum RtFieldKind {
#define FIELD(ID, size, align, doc) RT_FIELD_##ID,
#include "runtime/abi.def"
#undef FIELD
} RtFieldKind;

typedef struct RtField {
  uint8_t kind; /* RtFieldKind */
  uint8_t size;
  uint8_t axis;  /* EXTENT*, STRIDE */
  uint16_t leaf; /* leaf argument */
  uint32_t offset;
  /* TENSOR_MAP: the boxes: log2 of the swizzle's bytes, or 0; from bit 8 RtTensorElement; from bit
   * 16 the rank; from bit 24 on a byte for each axis of the array: its extent in the box - 1 */
  uint64_t map;
} RtField;
enum {
  RT_MAP_ELEMENT = 8,
  RT_MAP_RANK = 16,
  RT_MAP_FORTRAN = 23,
  RT_MAP_BOX = 24,
  RT_MAP_AXES = 5
};
/* CUtensorMapDataType */
typedef enum RtTensorElement {
  RT_TENSOR_U8,
  RT_TENSOR_U16,
  RT_TENSOR_U32,
  RT_TENSOR_I32,
  RT_TENSOR_U64,
  RT_TENSOR_I64,
  RT_TENSOR_F16,
  RT_TENSOR_F32,
  RT_TENSOR_F64,
  RT_TENSOR_BF16
} RtTensorElement;

/* The second entry of a coarsened kernel (docs/COARSENING.md): a block of it runs `factor` blocks
 * of the launch, neighbours on `axis`. What is left of them runs by itself. */
#define RT_COARSE_SUFFIX "$coarse" /* of its symbol */
typedef struct RtCoarse {
  uint32_t factor, axis; /* factor 0: there is none */
  /* launches take it whose threads fill so many eighths of the device, with a block of it for about
   * each multiprocessor; 0: all */
  uint32_t fill;
  /* 1: a launch with a few more blocks of it than there are multiprocessors does not take it */
  uint32_t even;
  /* 1: what is left on a short axis runs in one block; else in a block each */
  uint32_t in_row;
  /* of the parameter block without the BLOCKS field: what the kernel itself takes */
  uint32_t plain_bytes;
} RtCoarse;

/* Registers of a thread with which a multiprocessor has so many of its threads. */
enum { RT_HALF_OF_THREADS = 64, RT_FIVE_EIGHTHS = 48, RT_THREE_QUARTERS = 40 };

typedef struct RtParams {
  RtField *fields;
  uint32_t nfields, bytes; /* bytes: end of the last field, which need not be a multiple of 8 */
  RtCoarse coarse;
  /* registers of a thread where a launch leaves them free (runtime/launch/launch.h); 0: as many as
   * the driver's compiler takes */
  uint32_t roomy;
  /* … where it does not, but its blocks are small enough for most of a multiprocessor's threads to
   * have so many, and the 32-bit number at `reading_at` in the parameter block, an extent, is at
   * least `reading_from` (0: any is) */
  uint32_t reading, reading_at, reading_from;
} RtParams;

enum { RT_TRAP_VALUES = 4, RT_FRAME_THREADS = 64 };
/* What a thread leaves when it stops; the first one wins. state 0: none, 1: being written, 2:
 * complete. */
typedef struct RtTrap {
  uint32_t state, site;
  uint32_t block[3], thread[3];
  int64_t values[RT_TRAP_VALUES];
  /* the host device's checks alone (host/check.h): what was found (RtFinding), and the other side
   * of it: another thread, and where it was */
  uint32_t finding, detail;
  uint32_t other_site, other_block[3], other_thread[3];
} RtTrap;

/* What checked code looks for, as bits (@cuda.jit(check=)). */
enum {
  RT_CHECK_RACE = 1,
  RT_CHECK_SYNC = 2,
  RT_CHECK_INIT = 4,
  RT_CHECK_NAN = 8,
  RT_CHECK_OVERFLOW = 16,
  RT_CHECK_OF_PROGRAM = 32, /* PYPTX_CHECK asks: what cannot be followed runs unchecked (pyext) */
  RT_CHECK_BLOCKS = RT_CHECK_RACE | RT_CHECK_SYNC | RT_CHECK_INIT /* the runtime follows blocks */
};
/* An access to memory, as checked code says it: kind | site << RT_ACCESS_SITE. */
enum {
  RT_ACCESS_READ,
  RT_ACCESS_WRITE,
  RT_ACCESS_ATOMIC,
  RT_ACCESS_RELAXED = 4, /* a read that may be beside atomic operations: of a loop that waits, what
                            an atomic operation of the same thread then corrects, or an atomic
                            operation that changes nothing */
  RT_ACCESS_KINDS = 7,
  RT_ACCESS_SITE = 3
};
enum { RT_ACCESS_SITES = 1 << 14 }; /* of more sites the last stands for all */

/* RtTrap.finding */
typedef enum RtFinding {
  RT_FOUND_NONE,
  RT_FOUND_RACE,    /* detail: my kind of access | the other's << 4 | it is shared memory << 8 */
  RT_FOUND_UNSET,   /* read before it was written */
  RT_FOUND_LEFT,    /* a barrier that the other thread does not reach: it has ended at other_site */
  RT_FOUND_APART,   /* … it waits at other_site */
  RT_FOUND_LANE,    /* a warp operation waits for the other thread, which waits at other_site */
  RT_FOUND_GONE,    /* a shuffle reads from a lane that has ended at other_site */
  RT_FOUND_NO_LANE, /* … that the block does not have */
  RT_FOUND_OUTSIDE, /* a lane that is not in its own mask */
  RT_FOUND_NAN,     /* a nan or an infinity of finite operands */
  RT_FOUND_OVERFLOW, /* an integer that does not fit */
  RT_FOUND_UNNAMED,  /* a shuffle reads from a lane, which it names, that is not in its mask */
  /* not of checked code: the launch has lasted longer than its timeout, values[0] in ns; thread[0]
   * is RT_NO_THREAD where it is not known which thread was there */
  RT_FOUND_LATE,
} RtFinding;
enum { RT_NO_SITE = UINT32_MAX, RT_NO_THREAD = UINT32_MAX };

/* One worker's view of a launch on the host device. Compiled code reads it by offsetof. */
typedef struct RtHostLaunch {
  const void *params; /* the parameter block */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared; /* bytes */
  /* how often this block has left the entry to wait: not 0 goes on from its frame */
  uint32_t phase;
  void *shared; /* this worker's shared memory: static part, then dynamic; 64-byte aligned */
  void *frame;  /* this worker's memory of threads that wait at a barrier; 64-byte aligned */
  void *worker; /* the runtime's own */
  /* frames of recursive functions stay above this address; 0: it is not known */
  uintptr_t stack_end;
  uint32_t cluster[3]; /* blocks of a cluster, at least 1 */
  union {
    uint32_t row_threads; /* checked code: along x, of blocks that are joined */
    /* others, 1: arrays that the kernel only adds to (RtHostArray.sum) are this worker's own, and
     * it adds them to the launch's later */
    uint32_t own_sums;
  };
  struct RtCheck *check; /* of checked code, else NULL */
} RtHostLaunch;

/* Where threads of a host kernel meet. BLOCK is a plain barrier, GRID the grid's; at a YIELD nobody
 * waits, it lets all others have their turn; those from SYNC on are operations of a warp, the 32
 * threads with consecutive numbers. Codegen's word for these operations, too. */
typedef enum RtMeetKind {
  RT_MEET_BLOCK,
  RT_MEET_GRID,
  RT_MEET_YIELD,
  RT_MEET_SYNC,
  RT_MEET_SHFL_IDX,
  RT_MEET_SHFL_UP,
  RT_MEET_SHFL_DOWN,
  RT_MEET_SHFL_XOR,
  RT_MEET_ALL,
  RT_MEET_ANY,
  RT_MEET_EQ,
  RT_MEET_BALLOT,
  RT_MEET_MATCH_ANY,
  RT_MEET_MATCH_ALL,
  RT_MEET_ACTIVE,
  /* no operation of a warp: a thread waits until what its slots name is there (RtWait) */
  RT_MEET_WAIT,
  /* of all lanes of a warp: on fragments of matrices. VALUE is the address of the lane's record
   * (runtime/host/matrices.h), LANE the operation (RT_MATRIX_…) */
  RT_MEET_MATRIX
} RtMeetKind;

/* The elements of A and B of mma.sync. An operation is k | m << 8 | factor << 16 | bytes of an
 * element of C << 20; or RT_MATRIX_MOVE, with 1, 2 or 4 for the number of matrices that ldmatrix,
 * or with STORE stmatrix, moves. */
typedef enum RtMatrixFactor {
  RT_MATRIX_F16,
  RT_MATRIX_BF16,
  RT_MATRIX_TF32,
  RT_MATRIX_F64,
  RT_MATRIX_E4M3,
  RT_MATRIX_E5M2,
  RT_MATRIX_S8,
  RT_MATRIX_U8
} RtMatrixFactor;
enum { RT_MATRIX_STORE = 8, RT_MATRIX_TRANSPOSED = 16, RT_MATRIX_MOVE = 1 << 30 };

/* What a thread at RT_MEET_WAIT does: the slot MASK. VALUE is the operand: of a named barrier its
 * number, and above 32 bits the threads that it is for; of those of a cluster nothing. */
typedef enum RtWait {
  RT_WAIT_BARRIER_SYNC,
  RT_WAIT_BARRIER_ARRIVE,
  RT_WAIT_CLUSTER_SYNC,
  RT_WAIT_CLUSTER_ARRIVE,
  RT_WAIT_CLUSTER,
  RT_WAIT_PROXY,     /* a proxy fence: nobody waits (runtime/host/proxies.h) */
  RT_WAIT_STORES,    /* for this thread's bulk stores: all others have a turn meanwhile */
  RT_WAIT_REGISTERS, /* setmaxregister_…; VALUE: RT_REGISTERS_… */
  RT_WAIT_WARPGROUP, /* an operation of a warpgroup; VALUE: the address of an RtWarpgroupOp */
  /* the runtime's own: it has arrived; VALUE: the number, and above the phase */
  RT_WAIT_BARRIER,
  RT_WAIT_IN_WARPGROUP,
  RT_WAIT_IN_REGISTERS,
  /* of an mbarrier: until its phase has ended, or until nobody gets further. VALUE is its address,
   * with its index in the array from bit 48 on, and the parity in bit 63 */
  RT_WAIT_PHASE,
  RT_WAIT_TRY,
  RT_WAIT_PHASE_ON, /* the runtime's own: it has come before */
  RT_WAIT_TRY_ON
} RtWait;
enum { RT_WAIT_INDEX_SHIFT = 48, RT_WAIT_PARITY_SHIFT = 63 };

/* A thread at RT_WAIT_REGISTERS: the registers that it asks for, and from bit 16 on those that a
 * thread has at the launch, 0 where that is not known. */
enum { RT_REGISTERS_INCREASE = 1 << 15, RT_REGISTERS_FIRST = 16 };
/* What can be wrong with them, by the number of its site, and the values of its message. */
enum {
  RT_REGISTERS_ABSENT,  /* warpgroup, threads that have come, all of its threads */
  RT_REGISTERS_IN_VAIN, /* warpgroup, registers a thread, those of the others, those of all */
  RT_REGISTERS_APART,   /* warpgroup, the thread that differs, registers, those of thread 0 */
  RT_REGISTERS_OTHER,   /* warpgroup, registers that it has, registers */
  RT_REGISTERS_MEMORY,
  RT_REGISTERS_ERRORS
};

/* What is done with an mbarrier, with a number: arrivals or bytes. */
typedef enum RtMbarrierOp {
  RT_MBARRIER_INIT,
  RT_MBARRIER_INVAL,
  RT_MBARRIER_ARRIVE,
  RT_MBARRIER_EXPECT,
  RT_MBARRIER_ARRIVE_EXPECT,
  RT_MBARRIER_COPIES /* this thread's copies, then an arrival */
} RtMbarrierOp;
/* Groups of a thread's copies. */
typedef enum RtCopyGroups {
  RT_COPIES_COMMIT,
  RT_COPIES_WAIT,
  RT_COPIES_BULK_COMMIT,
  RT_COPIES_BULK_WAIT
} RtCopyGroups;

/* What a bulk store does with the elements that are there: the operations of ir/bulk.def in their
 * order from 1 on, and their types. */
typedef enum RtReduceOp {
  RT_REDUCE_NOT,
  RT_REDUCE_ADD,
  RT_REDUCE_MIN,
  RT_REDUCE_MAX,
  RT_REDUCE_AND,
  RT_REDUCE_OR,
  RT_REDUCE_XOR
} RtReduceOp;
typedef enum RtReduced {
  RT_REDUCED_I32,
  RT_REDUCED_U32,
  RT_REDUCED_I64,
  RT_REDUCED_U64,
  RT_REDUCED_F16,
  RT_REDUCED_BF16,
  RT_REDUCED_F32,
  RT_REDUCED_F64
} RtReduced;
typedef struct RtReduce {
  int64_t op, type;
} RtReduce;

/* A box: of a load to shared memory, of a store from it. Extents and indices in the array's own
 * order; of one in Fortran order those of the transposed array. */
typedef struct RtTensor {
  char *shared, *global; /* global: element 0 of the array */
  int64_t elements;      /* in shared memory */
  int64_t size, rank, swizzle, fortran;
  int64_t extent[RT_MAP_AXES], box[RT_MAP_AXES], index_of[RT_MAP_AXES];
  char *barrier;
  int64_t index, blocks; /* as RtBulk */
  RtReduce reduce;
} RtTensor;

/* What can be wrong with mbarriers and copies: the error's site is the instruction's first and
 * these (codegen/host/copies.c has the messages). */
typedef enum RtCopyError {
  RT_COPY_IN_VAIN,
  RT_COPY_IN_VAIN_MORE, /* … and has got more bytes than were expected */
  RT_COPY_PASSED,       /* … for a phase that has passed */
  RT_COPY_NO_BARRIER,
  RT_COPY_NOT_MET,
  RT_COPY_UNFENCED_BARRIER,
  RT_COPY_BARRIER_AGAIN,
  RT_COPY_COUNT,
  RT_COPY_TOO_MANY,
  RT_COPY_EXPECTED,
  RT_COPY_MORE_BYTES,
  RT_COPY_PHASE_AGAIN,
  RT_COPY_PARITY,
  RT_COPY_BLOCK_ENDED,
  RT_COPY_BLOCK_ENDS, /* its rank */
  RT_COPY_NO_BLOCK,
  RT_COPY_TO,
  RT_COPY_FROM,
  RT_COPY_SIZE,
  RT_COPY_DIFFER,
  RT_COPY_STRIDE,
  RT_COPY_INDEX,
  RT_COPY_FIRST_INDEX, /* the same of an array in Fortran order */
  RT_COPY_BEFORE,
  RT_COPY_UNFENCED,
  RT_COPY_UNFENCED_BY, /* the thread that wrote it, and its line */
  RT_COPY_UNMET,
  RT_COPY_CHANGED,
  RT_COPY_COMING,
  RT_COPY_NOT_WAITED, /* for a copy that has arrived */
  RT_COPY_TWICE,
  RT_COPY_READ,
  RT_COPY_READ_UNMET,    /* by an operation that has ended: its line */
  RT_COPY_USED_UNMET,    /* by a thread: it, its line */
  RT_COPY_WRITTEN_UNMET, /* the same */
  RT_COPY_COPIED_UNMET,  /* by its cp_async */
  RT_COPY_WRITTEN,
  RT_COPY_LEFT,
  RT_COPY_EXPECTED_LEFT,
  RT_COPY_MEMORY,
  RT_COPY_ERRORS
} RtCopyError;

/* A use of shared memory that nothing orders: the thread that used it before, and its line. */
typedef enum RtOrderError {
  RT_ORDER_COMING,     /* read before the copy has come */
  RT_ORDER_NOT_WAITED, /* … or been waited for by the thread, or one that it has met */
  RT_ORDER_COPIED,     /* read, and a thread's cp_async wrote it */
  RT_ORDER_WRITTEN,    /* read, and a thread wrote it */
  RT_ORDER_READ,       /* written, and a thread read it */
  RT_ORDER_ERRORS
} RtOrderError;
/* What a thread stores: what may be another value than the one that is there; the same; a sum and
 * the like. */
enum { RT_STORE_OTHER, RT_STORE_SAME, RT_STORE_ATOMIC };

enum { RT_COPY_OWN = -1 }; /* to this block alone */
/* A bulk copy: elements of both sides, and of a load the barrier. */
typedef struct RtBulk {
  char *to;
  const char *from;
  int64_t to_elements, from_elements, size; /* size: of an element */
  char *barrier;
  int64_t index, blocks; /* of the barrier; RT_COPY_OWN, or the ranks that get it as bits */
  RtReduce reduce;
} RtBulk;

/* What a thread brings to an operation of its warpgroup (runtime/host/warpgroups.h). Behind it lie
 * its fragment of A, where that is in registers, and its accumulators, which are changed there. */
typedef enum RtWarpgroupKind {
  RT_WARPGROUP_FENCE,
  RT_WARPGROUP_MMA,
  RT_WARPGROUP_COMMIT,
  RT_WARPGROUP_WAIT
} RtWarpgroupKind;
enum { RT_WARPGROUP_FRAGMENTS = 8 };
/* Misuse, by the number of its site behind that of the operation; and the values of its message */
enum {
  RT_WARPGROUP_PARTIAL = 1, /* warpgroup, threads that it has */
  RT_WARPGROUP_APART,       /* warpgroup, the thread that differs */
  RT_WARPGROUP_GIVEN,
  RT_WARPGROUP_UNFENCED,
  RT_WARPGROUP_UNSEEN, /* row of tile A; the next: of tile B */
  RT_WARPGROUP_UNSEEN_B,
  RT_WARPGROUP_UNFENCED_BY, /* row of tile A, thread that wrote it, line; the next: of tile B */
  RT_WARPGROUP_UNFENCED_BY_B,
  RT_WARPGROUP_OVERWRITTEN, /* line of the mma, whose tile A it is; the next: whose tile B */
  RT_WARPGROUP_OVERWRITTEN_B,
  RT_WARPGROUP_COMING, /* row of tile A; the next: of tile B */
  RT_WARPGROUP_COMING_B,
  RT_WARPGROUP_NOT_MET, /* thread that has not met who wrote tile A; the next: tile B */
  RT_WARPGROUP_NOT_MET_B,
  RT_WARPGROUP_NOT_WAITED, /* row of tile A, thread that has not waited for its copy; then: B */
  RT_WARPGROUP_NOT_WAITED_B,
  RT_WARPGROUP_REWRITTEN, /* line in which another thread has written tile A since; then: B */
  RT_WARPGROUP_REWRITTEN_B,
  RT_WARPGROUP_LEFT,
  RT_WARPGROUP_IN_FLIGHT, /* groups in flight */
  RT_WARPGROUP_MEMORY,
  RT_WARPGROUP_MISUSES
};
typedef struct RtWarpgroupOp {
  uint32_t kind, site, line;
  uint32_t pending; /* WAIT: groups that may be left in flight */
  /* elements of the accumulators, one fragment after the other; 0: no more */
  uint32_t elements[RT_WARPGROUP_FRAGMENTS];
  uint32_t halves; /* bit f: those of fragment f are float16, each in the low half of a word */
  /* MMA */
  uint32_t factor, k; /* RtMatrixFactor */
  uint32_t swizzle, majors;
  uint32_t registers;        /* bytes of the fragment of A; 0: it is a tile */
  uint32_t whole;            /* accumulators are integers */
  uint64_t tile[2], part[2]; /* of A and B: address, bytes from one part to the next */
} RtWarpgroupOp;

/* Segment number k of a kernel begins behind point k; 0 is the beginning. */
typedef struct RtMeetPoint {
  uint32_t kind, site; /* site: of the trap when a thread waits here in vain */
} RtMeetPoint;

/* A thread's part of the frame in a kernel with meetings: field at offset k of thread t is at frame
 * + k * stride + t * its size. */
enum {
  /* uint32_t: the segment in front of which it waits, 0 once it has ended; alone in kernels without
   * meetings */
  RT_SLOT_NEXT = 0,
  RT_SLOT_MASK = 4,    /* uint32_t: the lanes it waits for */
  RT_SLOT_VALUE = 8,   /* uint64_t: what it brings */
  RT_SLOT_RESULT = 16, /* uint64_t: what it gets */
  RT_SLOT_LANE = 24,   /* uint32_t: of a shuffle: source, delta or lane mask */
  RT_SLOT_BYTES = 32
};
/* What compiled code and the runtime tell each other about a block of such a kernel. */
typedef struct RtMeetState {
  /* ayes and voters of the barrier passed last, and of the one being arrived at, which become the
   * former when the threads are released from it */
  uint32_t votes[4];
  uint32_t cursor;       /* the runtime's: threads below it have had their turn */
  uint32_t first, count; /* a run of threads along x that all run one segment */
  uint32_t at[3];        /* threadIdx of the first */
} RtMeetState;

/* How a block goes on after a meeting: the number of the segment that all its threads run; 0: it
 * has ended, or waits for other blocks; APART: the threads whose next has the bit READY run that
 * one, as rt_host_run_of_threads finds them. */
enum { RT_GO_APART = INT32_MAX, RT_NEXT_READY = 1 << 30 };

/* Runs blocks first <= n < last of the grid, numbered x fastest. */
typedef void (*RtHostEntry)(const RtHostLaunch *launch, uint64_t first, uint64_t last);

/* RtHostCode.turns: checked code that runs several blocks row by row says whose turn it is
 * (rt_check_turn), or they are one row (rt_check_along). */
enum { RT_TURNS_NONE, RT_TURNS_TAKEN, RT_TURNS_JOINED };

/* An array whose elements a kernel uses, as its parameter block has it. */
enum { RT_SUM_NONE, RT_SUM_INTEGER, RT_SUM_FLOAT };
enum { RT_HOST_ARRAYS = 8, RT_HOST_AXES = 4 };
typedef struct RtHostArray {
  uint32_t sum;   /* RT_SUM_…: no thread does anything with it but atomic sums without a result */
  uint32_t bytes; /* of an element */
  uint32_t axes, wide; /* wide: extents are of 64 bits */
  /* offsets of its fields: the address, each axis's extent and, where has_strides, its stride */
  uint32_t pointer, has_strides, extents[RT_HOST_AXES], strides[RT_HOST_AXES];
} RtHostArray;

typedef struct RtHostCode {
  RtHostEntry entry;
  uint32_t static_shared; /* bytes of shared memory before the dynamic part */
  uint32_t constant;      /* bytes of its constant arrays */
  /* a thread of a block, whose number of threads is rounded up to RT_FRAME_THREADS; 0 without
   * barriers */
  uint32_t frame_bytes;
  /* the grid's barrier is used: blocks keep frame and shared memory until all have ended */
  uint32_t meets_grid;
  /* threads yield: a block whose threads all wait for others leaves, and others run meanwhile */
  uint32_t yields;
  /* threads wait for named barriers or their cluster, or reach its shared memory: its blocks take
   * turns */
  uint32_t waits;
  /* blocks that run in one call do the turns of a loop by the grid's stride together: the more of
   * them, the longer the pieces of memory */
  uint32_t strides;
  /* more blocks along x, in proportion less wide, run the same threads
   * (codegen/host/joined_blocks.c) */
  uint32_t parts;
  uint32_t stack_bytes; /* of the frames of all its functions, each once */
  uint32_t checks;      /* RT_CHECK_…: what it looks for */
  uint32_t turns;       /* RtTurns */
  /* all arrays, if some are sums and it is known that no others are used; else none */
  uint32_t narrays, param_bytes;
  RtHostArray arrays[RT_HOST_ARRAYS];
} RtHostCode;

/* Local memory of a thread on a GPU, bytes: the stack, which is there from the start, and the most
 * with it (the CUDA C++ guide; 523,264 beside the stack run on an H200, 524,000 are refused). More
 * than the stack is set aside by the first launch that wants so much, for every thread that the
 * device can run at once. */
enum { RT_STACK_BYTES = 1024, RT_LOCAL_BYTES = 512 * 1024 };

#endif
