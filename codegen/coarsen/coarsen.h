/* Coarsening: what its files share. A second entry of a kernel's module, in which one block runs
 * several neighbouring blocks of the launch; docs/COARSENING.md has the theory. shape.c decides
 * whether a kernel may be coarsened, uniform_threads.c whether its barriers are in control flow
 * that is uniform over the block. cost.c chooses a plan, from what loads.c says of its loads.
 * common_path.c finds what varies between the copies of a plan and the path that they share (with
 * bounds.c, which knows what a guard may be), and write_entry.c writes the entry. Private to this
 * folder. */
#ifndef PYPTX_CODEGEN_COARSEN_COARSEN_H
#define PYPTX_CODEGEN_COARSEN_COARSEN_H

#include "codegen/llvm/graph.h"
#include "codegen/target.h"

enum { CO_MAX_FACTOR = 8, CO_MAX_BLOCKS = 64, CO_MAX_INS = 1500 };

typedef struct CoIns {
  LLVMValueRef old;
  uint32_t block;
  SpecialReg sreg; /* the register that it reads, else SREG_NONE */
  unsigned axis;   /* 1 + axis of a sum blockIdx * blockDim + threadIdx, else 0 */
  uint32_t shared; /* 1 + number of the shared array that it loads from or writes to, else 0 */
  bool effects;    /* writes memory */
  bool reads;      /* a plain load */
  bool meets;      /* threads of the block synchronise in it: a barrier, a warp operation */
  bool barrier;    /* of the whole block */
  bool by_thread;  /* not known to be uniform over the threads of a block */
  /* The rest belongs to a plan. */
  bool varies; /* not the same in all copies */
  bool joins;  /* a phi where paths join that copies take by their own conditions */
  bool once;   /* is written once for all copies */
  /* The copies: one for each of the factor's blocks, then the one in the loop. */
  LLVMValueRef now[CO_MAX_FACTOR + 1];
} CoIns;

/* How a block of the common path ends: the path that all copies take in common. */
typedef enum CoKind {
  CO_OFF_PATH, /* it is not on the common path */
  CO_JUMP,
  CO_CHECK, /* a jump, unless the thread stops: the branch's other side ends in a trap */
  CO_SPLIT, /* a branch whose condition is the same in all copies */
  /* a branch before anything is written: all copies take one side, or the loop runs instead */
  CO_GUARD,
  CO_ARMS, /* a branch whose sides join again: each copy runs it by itself */
  CO_END,
} CoKind;

typedef uint64_t CoSet; /* of blocks, by number */

typedef struct CoBlock {
  const GraphNode *in;
  uint32_t first, last; /* instructions, last exclusive and past the terminator */
  CoSet loop;           /* the blocks of the loop whose header it is, else 0 */
  bool effects;         /* has an instruction that writes memory */
  bool meets, barrier;
  unsigned weight; /* instructions from here on the longest path, those of loops several times */
  /* The rest belongs to a plan. */
  CoKind kind;
  bool written;             /* memory may have been written by its end */
  unsigned taken;           /* GUARD: number of the successor on the common path */
  bool slanted;             /* GUARD: its condition is CO_SLANTED */
  uint32_t join;            /* ARMS: its immediate post-dominator */
  CoSet arms;               /* ARMS: the blocks between */
  LLVMBasicBlockRef common; /* its copy on the common path */
  LLVMBasicBlockRef now[CO_MAX_FACTOR + 1];
} CoBlock;

/* An array in shared memory. */
typedef struct CoShared {
  LLVMValueRef old;
  uint64_t bytes;
  bool varies;      /* of a plan: each copy has its own; else all copies write the same there */
  LLVMValueRef now; /* the copies' arrays in one, `stride` bytes from each to the next */
  uint64_t stride;
} CoShared;

typedef struct CoShape {
  Cg *cg;
  LLVMValueRef f;
  unsigned nparams;
  VEC(CoIns) ins;
  VEC(CoShared) shared;
  FnGraph g;
  CoBlock *blocks; /* by node, in reverse post-order */
  uint32_t nblocks;
  ValueMap ins_of, shared_of;
  bool loops, meets;  /* whether it has any */
  const char *reason; /* why it may not be coarsened, NULL if it may */
} CoShape;

typedef struct CoPlan {
  unsigned factor, axis; /* factor 1: not coarsened */
  unsigned fill;         /* as in RtCoarse: eighths of a device */
  bool even;             /* as in RtCoarse */
  unsigned reading;      /* as in RtParams, if the factor is 1 */
  bool in_row;           /* as in RtCoarse */
  /* blockIdx on the axis is used in sums blockIdx * blockDim + threadIdx only */
  bool linear;
  /* copies are neighbouring threads of the launch; else threads of neighbouring blocks */
  bool threads;
  const char *reason; /* why the factor is 1, else NULL */
} CoPlan;

/* How many threads' copies a condition splits. */
typedef enum CoBound {
  CO_BOUND,   /* few: it compares indices of the plan's axis with what is the same everywhere */
  CO_SLANTED, /* those along a line: it compares indices of two axes */
  CO_NO_BOUND /* any */
} CoBound;

/* What loads in loops cost. */
typedef struct CoLoads {
  /* loads done once for all copies; those among them in which each thread has a line of its own */
  unsigned once, scattered;
  /* loads of global memory that each copy does; those among them whose lines no other thread
   * uses */
  unsigned own, streamed;
} CoLoads;

/* Analyses cg->kernel; one of more than `most` instructions is refused. */
CoShape *co_shape(Cg *cg, uint32_t most);
CoPlan co_plan(CoShape *s);
/* The plan for this axis and factor, which were chosen before. */
CoPlan co_plan_again(const CoShape *s, unsigned axis, unsigned factor);
/* The registers that a thread of the entry may have; 0: any number. Needs co_common_path. */
unsigned co_registers(const CoShape *s, const CoPlan *plan);
/* The cost of the loads that are done once for all copies. */
unsigned co_loads_once(const CoShape *s);
/* Of the loads of `factor` neighbouring threads along the axis: how many repeat an address that
 * another of them loads. */
unsigned co_shared_loads(const CoShape *s, unsigned axis, unsigned factor);
/* The assumed number of iterations of all loops around an instruction. */
unsigned co_rounds(const CoShape *s, const CoIns *i);
CoLoads co_loads_in_loops(const CoShape *s);
/* The bytes of global memory that a thread's loads bring from places of its own, without those
 * whose addresses are loaded: what it has in flight if its code is straight. */
unsigned co_in_flight(const CoShape *s);
/* Are most addresses of what the copies load themselves made of what they have loaded? */
bool co_gathers(const CoShape *s);
/* The same of what each copy loads for itself in loops, by what it has loaded for itself. */
bool co_gathers_in_loops(const CoShape *s);
/* Fills CoIns.by_thread. A text if some threads of a block may have ended where others synchronise,
 * else NULL. */
const char *co_threads(CoShape *s);
/* Fills the fields of a shape that belong to a plan: what varies, and the common path. The reason
 * if there is none, else NULL. */
const char *co_common_path(CoShape *s, const CoPlan *plan);
CoBound co_bound(const CoShape *s, const CoPlan *p, LLVMValueRef condition);
/* The arms of branches at which copies hardly ever differ: they compare indices with what is the
 * same in all copies, as where a window reaches the border of an image. */
CoSet co_bounded_arms(const CoShape *s, const CoPlan *p);
/* The blocks of the common path that each copy runs by itself. */
CoSet co_arms(const CoShape *s);
/* Settles the kernel's contractions, before co_shape. */
void co_contract(Cg *cg);
/* Writes the second entry. */
void co_write(CoShape *s, const CoPlan *plan, const char *symbol);

/* The instruction's entry; NULL for arguments, constants and blocks. */
static inline CoIns *co_ins(const CoShape *s, LLVMValueRef v) {
  uint32_t n = valuemap_get(&s->ins_of, v);
  return n == VALUEMAP_NONE ? NULL : &s->ins.data[n];
}
/* Does it read a register that is uniform in no larger scope than this? */
static inline bool co_differs_in(const CoIns *i, RegisterScope of) {
  return i->sreg != SREG_NONE && ir_registers[i->sreg].of >= of;
}
static inline bool co_has(CoSet set, uint32_t block) { return set >> block & 1; }
static inline CoSet co_one(uint32_t block) { return (CoSet)1 << block; }
/* Does the block's branch lead to a trap, besides its one successor? */
static inline bool co_checks(const CoBlock *b) { return b->in->trap != NULL; }
/* The condition of a block with several successors, or with a check. */
LLVMValueRef co_condition(const CoShape *s, const CoBlock *b);
/* The immediate post-dominator of b; b itself if there is none. */
uint32_t co_join(const CoShape *s, uint32_t b);
/* The blocks that can be reached from one without passing the other, which is left out. */
CoSet co_between(const CoShape *s, uint32_t from, uint32_t to);
/* The shared array that an address or an operand is in; NULL: none, or not known. */
CoShared *co_shared(const CoShape *s, LLVMValueRef address);
/* Is blockIdx on this axis read; and if so, in sums with threadIdx only? */
bool co_reads_axis(const CoShape *s, unsigned axis);
bool co_is_linear(const CoShape *s, unsigned axis);
/* Is threadIdx on this axis read outside of such sums, or a register that depends on the lane? */
bool co_reads_thread(const CoShape *s, unsigned axis);

#endif
