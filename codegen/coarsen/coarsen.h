/* Coarsening, between its files: a second entry of a kernel's module, in which one block runs
 * several neighbouring blocks of the launch. docs/COARSENING.md has the theory; shape.c says what a
 * kernel is and whether it may be coarsened, uniform_threads.c whether all threads come to its
 * barriers, cost.c how it is coarsened, by what loads.c says of its loads, common_path.c on which
 * way copies go together then, write_entry.c writes it. Private to this room. */
#ifndef PYPTX_CODEGEN_COARSEN_COARSEN_H
#define PYPTX_CODEGEN_COARSEN_COARSEN_H

#include "codegen/llvm/graph.h"
#include "codegen/target.h"

enum { CO_MAX_FACTOR = 8, CO_MAX_BLOCKS = 64, CO_MAX_INS = 1500 };

typedef struct CoIns {
  LLVMValueRef old;
  uint32_t block;
  SpecialReg sreg; /* of a read of one, else SREG_NONE */
  unsigned axis;   /* 1 + axis of a sum blockIdx * blockDim + threadIdx, else 0 */
  uint32_t shared; /* 1 + number of the shared array that it loads from or writes to, else 0 */
  bool effects;    /* writes memory */
  bool reads;      /* a plain load */
  bool meets;      /* threads of the block meet in it: a barrier, an operation of a warp */
  bool barrier;    /* all of them */
  bool by_thread;  /* not the same in all threads of a block, for all that is known */
  /* Of a plan: */
  bool varies; /* not the same in all copies */
  bool joins;  /* a phi where ways meet that copies take by their own conditions */
  bool once;   /* stands once for all copies */
  /* The copies: one for each of the factor's blocks, and behind them the one in the loop. */
  LLVMValueRef now[CO_MAX_FACTOR + 1];
} CoIns;

/* How a block of the way on which copies go together ends. */
typedef enum CoKind {
  CO_APART, /* it is not on that way */
  CO_JUMP,
  CO_SPLIT, /* a branch by a condition that is the same in all copies */
  /* a branch before anything is written: all copies take one of its ways, or the loop runs
   * instead */
  CO_GUARD,
  CO_ARMS, /* a branch whose ways meet: copy by copy */
  CO_END,
} CoKind;

typedef uint64_t CoSet; /* of blocks, by number */

typedef struct CoBlock {
  const GraphNode *in;
  uint32_t first, last; /* instructions, last exclusive and past the terminator */
  CoSet loop;           /* of its header: blocks of the loop, else 0 */
  bool effects;         /* has an instruction that writes memory */
  bool meets, barrier;
  unsigned weight; /* instructions here and in all that can follow, those of loops several times */
  /* Of a plan: */
  CoKind kind;
  bool written;               /* memory may have been written by its end */
  unsigned taken;             /* GUARD: number of the successor */
  uint32_t meet;              /* ARMS: where its ways meet */
  CoSet arms;                 /* ARMS: blocks between */
  LLVMBasicBlockRef together; /* on the way */
  LLVMBasicBlockRef now[CO_MAX_FACTOR + 1];
} CoBlock;

typedef struct CoShared { /* an array in shared memory */
  LLVMValueRef old;
  uint64_t bytes;
  bool varies;      /* of a plan: each copy has its own; else they all write the same there */
  LLVMValueRef now; /* of all copies, one behind another, `stride` bytes apart */
  uint64_t stride;
} CoShared;

typedef struct CoShape {
  Cg *cg;
  LLVMValueRef f;
  unsigned nparams;
  VEC(CoIns) ins;
  VEC(CoShared) shared;
  FnGraph g;
  CoBlock *blocks; /* by node: each comes behind those that lead to it, but for loops */
  uint32_t nblocks;
  ValueMap ins_of, shared_of;
  bool loops, meets;  /* has some */
  const char *reason; /* why it may not be coarsened, NULL if it may */
} CoShape;

typedef struct CoPlan {
  unsigned factor, axis; /* factor 1: not coarsened */
  unsigned fill;         /* as in RtCoarse: eighths of a device */
  bool even;             /* as in RtCoarse */
  bool linear; /* blockIdx on the axis is used in sums blockIdx * blockDim + threadIdx only */
  /* copies are neighbouring threads of the launch; else threads of neighbouring blocks */
  bool threads;
  const char *reason; /* of factor 1 */
} CoPlan;

/* What loads in loops cost. */
typedef struct CoLoads {
  /* by all copies together; those of them whose threads load from lines of their own */
  unsigned once, scattered;
  /* of global memory, by each copy; those of them of which no other thread's load has any use */
  unsigned own, streamed;
} CoLoads;

/* Reads cg->kernel, which has a reason if it has more than `most` instructions. */
CoShape *co_shape(Cg *cg, uint32_t most);
CoPlan co_plan(CoShape *s);
/* The plan for this axis and factor, which were chosen before. */
CoPlan co_plan_again(const CoShape *s, unsigned axis, unsigned factor);
/* What loads cost that copies do once. */
unsigned co_loads_once(const CoShape *s);
/* How many loads of `factor` neighbouring threads along the axis are of an address that another one
 * of theirs loads too. */
unsigned co_shared_loads(const CoShape *s, unsigned axis, unsigned factor);
/* assumed, of all loops around an instruction */
unsigned co_rounds(const CoShape *s, const CoIns *i);
CoLoads co_loads_in_loops(const CoShape *s);
/* Fills CoIns.by_thread. The reason why some threads of a block may have ended where others meet,
 * else NULL. */
const char *co_threads(CoShape *s);
/* Fills what a shape says of a plan: what varies, and the way on which copies go together. The
 * reason where there is none, else NULL. */
const char *co_way(CoShape *s, const CoPlan *plan);
/* Settles the kernel's contractions, before co_shape. */
void co_contract(Cg *cg);
/* Writes the second entry. */
void co_write(CoShape *s, const CoPlan *plan, const char *symbol);

/* The instruction's entry; NULL for arguments, constants and blocks. */
static inline CoIns *co_ins(const CoShape *s, LLVMValueRef v) {
  uint32_t n = valuemap_get(&s->ins_of, v);
  return n == VALUEMAP_NONE ? NULL : &s->ins.data[n];
}
/* A register that is the same in no more than this. */
static inline bool co_differs_in(const CoIns *i, RegisterScope of) {
  return i->sreg != SREG_NONE && ir_registers[i->sreg].of >= of;
}
static inline bool co_has(CoSet set, uint32_t block) { return set >> block & 1; }
static inline CoSet co_one(uint32_t block) { return (CoSet)1 << block; }
LLVMValueRef co_condition(const CoShape *s, const CoBlock *b); /* of one with several successors */
/* the first block that every way from b passes behind it; b itself if there is none */
uint32_t co_meeting(const CoShape *s, uint32_t b);
/* what can be reached from one without passing the other, which is left out */
CoSet co_between(const CoShape *s, uint32_t from, uint32_t to);
/* The shared array that an address or an operand is in; NULL: none, or not known. */
CoShared *co_shared(const CoShape *s, LLVMValueRef address);
/* Is blockIdx on this axis read; and is it, with threadIdx, used in sums only? */
bool co_reads_axis(const CoShape *s, unsigned axis);
bool co_is_linear(const CoShape *s, unsigned axis);
/* Is threadIdx on this axis read outside of sums, or what depends on the lane? */
bool co_reads_thread(const CoShape *s, unsigned axis);

#endif
