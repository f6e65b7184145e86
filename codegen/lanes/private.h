/* Lanes: what its files share. regions.c and shape.c analyse (loops, regions, order of blocks;
 * shapes); control.c writes control flow and masks, values.c instructions, memory.c loads and
 * stores. */
#ifndef PYPTX_CODEGEN_LANES_PRIVATE_H
#define PYPTX_CODEGEN_LANES_PRIVATE_H

#include "codegen/lanes/lanes.h"
#include "codegen/llvm/copy.h"

enum {
  LANES_BLOCKS = 192,
  LANES_INSTRUCTIONS = 3000,
  LANES_WORDS = LANES_BLOCKS / 64,
  LANES_ARRAY_BYTES = 1 << 20,
  LANES_LINE_BYTES = 64,
  LANES_JOINED = 4,         /* operations in one loop over lanes */
  LANES_MASKED_VALUES = 256 /* at most, in a function with a second, masked version */
};

typedef struct BlockSet {
  uint64_t words[LANES_WORDS];
} BlockSet;

static inline bool ln_in_set(const BlockSet *s, uint32_t k) {
  return s->words[k / 64] >> (k % 64) & 1;
}
static inline void ln_add_to(BlockSet *s, uint32_t k) {
  s->words[k / 64] |= (uint64_t)1 << (k % 64);
}

typedef enum ShapeKind { SHAPE_NONE, SHAPE_STEP, SHAPE_VECTOR } ShapeKind;
/* STEP: uniform or linear: lane k has lane 0's value plus k * step (of a pointer: bytes).
 * VECTOR: varying. NONE: not known yet; the analysis leaves none. The order is the lattice's. */
typedef struct Shape {
  ShapeKind kind;
  int64_t step;
  /* of a STEP integer: how many low bits of lane 0's value are known to be 0 (align.c) */
  unsigned zeros;
} Shape;

/* Of a varying value: linear with that step within each of the groups of 2**log lanes that begin at
 * a multiple of that (groups.c). Known with a log of 0: in no groups. */
typedef struct Group {
  bool known;
  unsigned log;
  int64_t step;
} Group;

/* The lanes first, first + by, … */
typedef struct Some {
  unsigned first, by;
} Some;

static inline bool ln_is_uniform(Shape s) { return s.kind == SHAPE_STEP && s.step == 0; }

/* A context is a loop, or the function (GRAPH_NONE). Its units are the blocks directly in it, and
 * the loops directly in it, each as a whole. */
typedef struct LaneLoop {
  const GraphLoop *in;
  uint32_t latch; /* the only one */
  BlockSet blocks;
  bool divergent; /* lanes leave it in different iterations: all its units are masked */
  bool masked;    /* as a unit of its parent */

  /* the rest is filled while f.lanes is written */
  LLVMValueRef mask;     /* alloca: the lanes that run it, if it is masked and not divergent */
  LLVMBasicBlockRef end; /* divergent: tests whether another iteration is needed */
} LaneLoop;

typedef struct LaneBlock {
  const GraphNode *in; /* with a trap: the branch is a check */
  uint32_t place;      /* in the order */
  bool splits;         /* ends in a divergent branch */
  BlockSet region;     /* splits: the blocks between it and its immediate post-dominator */
  bool masked;         /* as a unit of its context: it may run for some of the lanes only */
  bool follows;        /* masked: runs right after the one block that leads to it, under its mask */
  bool joins;          /* disjoint paths from a divergent branch join here: its phis are blends */
  bool writes;         /* it has effects */
  bool dirty;          /* effects of some lane may have happened before it */

  /* the rest is filled while f.lanes is written */
  LLVMBasicBlockRef test, body; /* test: skips the body while the mask is empty; if it waits() */
  /* alloca: the lanes that have reached it and not run it yet; of masked blocks, and of headers of
   * divergent loops */
  LLVMValueRef mask;
} LaneBlock;

typedef struct LaneValue {
  LLVMValueRef old;
  uint32_t block;
  Shape shape;
  bool outside; /* is a phi, an alloca, or used in other blocks or by phis: has a slot */
  /* a comparison that is assumed to be uniform, or a minimum or maximum that is assumed to be its
   * linear operand in all lanes, tested at run time: else the threads run one by one */
  bool agreed;
  bool late; /* a comparison that only its block's check uses: computed where that fails */
  /* an array of a thread whose elements, of that many bytes, are interleaved, or an address in it
   * (arrays.c); 0: any other value */
  uint64_t element;
  Group group;   /* of a varying value */
  bool read;     /* depends on what lanes have read (estimate.c) */
  uint32_t home; /* the innermost loop that it changes in (costs.c) */

  /* the rest is filled while f.lanes is written */
  LLVMValueRef slot; /* alloca, if outside */
  LLVMValueRef now;  /* in the block that is being written */
  /* allocas, of a load whose lanes walk (walks.c): what the next iterations read, and how much of
   * it has been used */
  LLVMValueRef tile, place;
} LaneValue;

struct Lanes {
  Cg *cg;
  Arena *arena;
  LLVMValueRef f;
  LLVMBuilderRef b;
  unsigned width, nargs;
  LanesHow how;
  FnGraph g;         /* with checks */
  LaneBlock *blocks; /* by node */
  uint32_t nblocks;
  VEC(LaneLoop) loops;
  uint32_t *order; /* blocks, topologically but for back edges; a loop's are contiguous */
  VEC(LaneValue) values;
  ValueMap value_of;
  unsigned uniform_kind, row_kind; /* metadata; row: LANES_ROW_METADATA */
  bool strides;                    /* a loop with two versions advances by what is no constant */

  /* the rest is filled while f.lanes is written */
  LLVMValueRef fn, results, result_slot;
  LLVMBasicBlockRef entry, end, alone;
  LLVMValueRef unread; /* alloca: memory.c has resting lanes store there; NULL: not yet */
  LLVMTypeRef mask_type;
  LLVMTypeRef result_type;
  bool failed, one_result;
  uint32_t at;           /* the block being written */
  LLVMValueRef mask_now; /* NULL: all lanes */
  struct {
    LLVMValueRef division, quotient, rest; /* the last one, by divide.c, in the same block */
  } divided;
  LLVMValueRef joined[LANES_JOINED]; /* have not been written: the next one's loop runs them too */
  unsigned njoined;

  /* while a trap is written, for the one lane that reports */
  LLVMValueRef lane; /* its number; NULL outside of traps */
  ValueMap copy_of;  /* instruction -> index in copies */
  VEC(LLVMValueRef) copies;
  /* on a side path: a value loaded from its slot here does not dominate what follows */
  bool reading;
};

static inline LaneValue *ln_value(Lanes *l, LLVMValueRef v) {
  uint32_t n = valuemap_get(&l->value_of, v);
  return n == VALUEMAP_NONE ? NULL : &l->values.data[n];
}
/* By how much an integer of that step is larger in the last lane than in lane 0. False where it may
 * wrap more than once in between: then the two ends say nothing about the other lanes. */
static inline bool ln_rise(const Lanes *l, LLVMTypeRef t, int64_t step, int64_t *rise) {
  unsigned bits = LLVMGetIntTypeWidth(t);
  if (__builtin_mul_overflow(step, (int64_t)l->width - 1, rise))
    return false;
  return bits >= 64 || !((uint64_t)(*rise < 0 ? -*rise : *rise) >> bits);
}
/* The loop whose header the block is; GRAPH_NONE if it is none. */
static inline uint32_t ln_own_loop(const Lanes *l, uint32_t block) {
  uint32_t n = l->blocks[block].in->loop;
  return n != GRAPH_NONE && l->loops.data[n].in->header == block ? n : GRAPH_NONE;
}
/* May it run for some of the lanes only? */
static inline bool ln_may_rest(const Lanes *l, uint32_t block) {
  bool rest = l->blocks[block].masked;
  for (uint32_t n = l->blocks[block].in->loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    rest |= l->loops.data[n].masked;
  return rest;
}
static inline bool ln_loop_has(const Lanes *l, uint32_t loop, uint32_t block) {
  return loop == GRAPH_NONE || ln_in_set(&l->loops.data[loop].blocks, block);
}

/* regions.c */
bool ln_find_flow(Lanes *l);     /* blocks, loops, order; false: refused */
void ln_merge_latches(Lanes *l); /* changes the function; l is of no use after it */
/* marks the block's branch as divergent: its region, the masks, loops that become divergent */
void ln_split(Lanes *l, uint32_t block);
/* next_block.c: beside a contiguous access of so many bytes; first: lane 0's address */
void ln_fetch_for_next(Lanes *l, LLVMValueRef pointer, LLVMValueRef first, uint64_t bytes,
                       bool writes);
/* align.c: what follows from the low bits of lane 0's value, where a step is 1 and lanes do not
 * cross a multiple of their number */
unsigned ln_zeros(Lanes *l, LLVMValueRef i); /* of an instruction */
bool ln_is_aligned(const Lanes *l, Shape s);
/* The shape of such an operation, NONE if that tells nothing. */
Shape ln_aligned_shape(Lanes *l, LLVMValueRef i);
/* groups.c */
void ln_find_groups(Lanes *l); /* of the varying values */
Group ln_group(Lanes *l, LLVMValueRef v);
/* Of a load or store that is one contiguous access for each group of so many lanes; else 0. */
unsigned ln_grouped(Lanes *l, LLVMValueRef access);
LLVMValueRef ln_load_grouped(Lanes *l, LLVMValueRef load, unsigned lanes);
void ln_store_grouped(Lanes *l, LLVMValueRef store, unsigned lanes);
/* Does one lane at most run the block? */
bool ln_runs_alone(Lanes *l, uint32_t block);
/* No other lanes run the block; a vector of these alone. */
Some ln_lanes_of(Lanes *l, uint32_t block);
LLVMValueRef ln_only(Lanes *l, Some some, LLVMValueRef vector);
/* arrays.c */
void ln_find_arrays(Lanes *l);                                   /* sets `element` of the values */
uint64_t ln_array_bytes(const Lanes *l, const LaneValue *array); /* of one lane */
LLVMValueRef ln_make_array(Lanes *l, const LaneValue *array);    /* all lanes' */
bool ln_is_of_own_array(Lanes *l, LLVMValueRef pointer); /* one whose elements are interleaved */
void ln_store_own(Lanes *l, LLVMValueRef value, LLVMValueRef first, LLVMValueRef mask,
                  unsigned align);
/* What the index of an address counts; of interleaved arrays in all lanes together. */
LLVMTypeRef ln_gep_unit(Lanes *l, LLVMValueRef gep);
/* estimate.c */
bool ln_is_worth_it(Lanes *l);
bool ln_has_no_gather(const Lanes *l, LLVMTypeRef t); /* bytes and words */
int64_t ln_weight(const Lanes *l, uint32_t loop);     /* of what is in it, by its depth */
/* costs.c: true where nothing is counted */
bool ln_saves_instructions(Lanes *l);
/* Does it depend on what lanes have read which of them run the block? */
bool ln_rests_by_data(Lanes *l, uint32_t block);
/* alone.c: does LLVM write the loop of a single thread with vectors of its iterations? And is v,
 * in a loop, its counter: a phi that is one more in each iteration? */
bool ln_vectorises_alone(Lanes *l, uint32_t loop);
bool ln_counts_by_one(Lanes *l, uint32_t loop, LLVMValueRef v);
/* shape.c */
Shape ln_shape(Lanes *l, LLVMValueRef v);
bool ln_all_uniform(Lanes *l, LLVMValueRef instruction); /* its operands */
/* Of a phi: do its lanes come from different edges, or from different iterations? */
bool ln_is_blend(const Lanes *l, const LaneValue *phi);
/* Is the sign extension (zero extension) of v, lane by lane, lane 0's and the same steps? */
bool ln_extends(Lanes *l, LLVMValueRef v, bool is_signed);
typedef struct VectorForm { /* an intrinsic */
  const char *name;
  uint8_t types;  /* its overloads: of the result, and of the first argument after that */
  uint8_t scalar; /* bits: arguments that stay numbers */
} VectorForm;
enum { FORM_RESULT, FORM_RESULT_AND_FIRST, FORM_FIRST };
/* Functions of checked code that have one for all lanes, with two arguments more: the step from one
 * lane's element to the next one's, and the mask. */
typedef struct RowForm {
  const char *name, *row;
  bool is_access, answers; /* the third argument is the thread; by lane, in an array */
} RowForm;
/* NULL if it is no such call, or the step is not known. */
const RowForm *ln_row_form(Lanes *l, LLVMValueRef call);
/* Of a minimum or maximum of integers: the comparison of x with y that holds where the result is x;
 * else 0. */
unsigned ln_extreme(LLVMValueRef instruction);
const VectorForm *ln_vector_form(LLVMValueRef call); /* NULL if it is no such call */
bool ln_is_nothing(LLVMValueRef call);               /* lifetimes, assumptions, scopes, places */
/* warp.c */
Shape ln_meeting_shape(Lanes *l, LLVMValueRef meeting);
/* The last step of a butterfly, after which all lanes have the same? Its operands may vary. */
bool ln_is_total(const Lanes *l, LLVMValueRef v);
/* its result, i64 or a vector of it */
LLVMValueRef ln_write_meeting(Lanes *l, LLVMValueRef meeting);
/* control.c: lanes for a block, which it runs later; mask: NULL is all */
void ln_wait_for(Lanes *l, uint32_t block, LLVMValueRef mask);
/* few.c: is the block the header of a loop that lanes leave by what they read, without effects? */
bool ln_is_search(Lanes *l, uint32_t header);
LLVMValueRef ln_are_few(Lanes *l, LLVMValueRef mask); /* i1 */
/* The loop for one lane of the mask after the other. */
void ln_write_search(Lanes *l, uint32_t header, LLVMValueRef mask);
/* values.c */
bool ln_is_element(LLVMTypeRef t); /* of a vector */
bool ln_is_pair(LLVMTypeRef t);
LLVMTypeRef ln_vector_type(Lanes *l, LLVMTypeRef t); /* NULL if there is none */
LLVMValueRef ln_scalar(Lanes *l, LLVMValueRef old);  /* lane 0's */
LLVMValueRef ln_vector(Lanes *l, LLVMValueRef old);
LLVMValueRef ln_splat(Lanes *l, LLVMValueRef scalar);
LLVMValueRef ln_number(Lanes *l, LLVMTypeRef t, int64_t v); /* a constant */
/* <0, step, 2 * step, …> of integers */
LLVMValueRef ln_steps_vector(Lanes *l, LLVMTypeRef t, int64_t step);
LLVMValueRef ln_in_lane(Lanes *l, LLVMValueRef old, LLVMValueRef lane);
void ln_write_instruction(Lanes *l, LLVMValueRef i);
LLVMValueRef ln_copy_scalar(Lanes *l, LLVMValueRef i); /* with lane 0's operands */
LLVMValueRef ln_copy_in_lane(Lanes *l, LLVMValueRef i, LLVMValueRef lane);
/* The value of f.lanes, scalar or vector by its shape, which some block has written. */
LLVMValueRef ln_read(Lanes *l, LaneValue *v);
/* Can it be read now? Values of other blocks can where some block uses them: an operand of what is
 * used there need not be. */
bool ln_is_here(Lanes *l, LLVMValueRef old);
LLVMValueRef ln_insert(Lanes *l, LLVMValueRef vector, LLVMValueRef one, LLVMValueRef lane);
LLVMValueRef ln_bits(Lanes *l, LLVMValueRef mask);        /* as an integer */
LLVMValueRef ln_lowest_bit(Lanes *l, LLVMValueRef bits);  /* i64: how many bits if none is set */
LLVMValueRef ln_highest_bit(Lanes *l, LLVMValueRef bits); /* i64 */
/* lane_loops.c; v: NULL if it has no value */
void ln_write_lane_by_lane(Lanes *l, LLVMValueRef i, LaneValue *v);
/* Is it written with the next one, in the same block? */
bool ln_waits_for_next(Lanes *l, LLVMValueRef i);
bool ln_is_short(const Lanes *l, LLVMValueRef i);
void ln_write_short(Lanes *l, LLVMValueRef i, LaneValue *v);
/* atomics.c: an atomic on memory of this OS thread whose lanes have elements of their own */
bool ln_is_apart(Lanes *l, LLVMValueRef i);
void ln_write_apart(Lanes *l, LLVMValueRef i, LaneValue *v);
/* One that all lanes do to one element, and whose result is not used. */
bool ln_is_reduced(Lanes *l, LLVMValueRef i);
void ln_write_reduced(Lanes *l, LLVMValueRef i, LaneValue *v);
/* A loop over the lanes, or over the set bits of a mask, from the lowest. */
typedef struct LaneLoopNow {
  LLVMValueRef left; /* alloca: the number of the next lane; with a mask its remaining bits */
  LLVMValueRef mask; /* the remaining bits in this iteration; NULL without a mask */
  LLVMBasicBlockRef head, done;
  LLVMValueRef lane; /* i64 */
} LaneLoopNow;
LaneLoopNow ln_begin_lanes(Lanes *l, LLVMValueRef mask); /* mask: NULL is all */
/* by: how many lanes the body has run; 1 with a mask */
void ln_end_lanes(Lanes *l, const LaneLoopNow *lanes, unsigned by);
bool ln_fills_bytes(const Lanes *l, LLVMTypeRef t); /* an element without padding */
LLVMValueRef ln_mask_or_all(Lanes *l);
LLVMValueRef ln_new_slot(Lanes *l, LLVMTypeRef t);        /* alloca */
LLVMValueRef ln_in_memory(Lanes *l, LLVMValueRef vector); /* the same, with that in it */
LLVMBasicBlockRef ln_new_block(Lanes *l, const char *name);
/* mask: NULL is all */
LLVMValueRef ln_and(Lanes *l, LLVMValueRef mask, LLVMValueRef vector, bool negate);
LLVMValueRef ln_any(Lanes *l, LLVMValueRef mask);
/* Has the CPU masks of vectors, which its gathers and scatters take (AVX-512)? */
bool ln_has_masks(const Lanes *l);
/* The counter of a loop down the rows of an array in which `pointer` is a place; else NULL. */
LLVMValueRef ln_counter_of_rows(Lanes *l, LLVMValueRef pointer, const LaneLoop *loop);
/* i64: the first lane of a mask that is not empty; of NULL (all lanes), 0 */
LLVMValueRef ln_first(Lanes *l, LLVMValueRef mask);
void ln_run_alone_unless(Lanes *l, LLVMValueRef ok);
/* compares.c */
LLVMValueRef ln_compare(Lanes *l, LLVMValueRef icmp); /* as a vector */
/* i1: the comparison has the value `holds` in all lanes, concluded from the first and the last;
 * NULL where these two do not decide it. */
LLVMValueRef ln_ends_agree(Lanes *l, LaneValue *icmp, bool holds);
/* The same of a check of what may count from the end: none of them does, and it holds. */
LLVMValueRef ln_ends_are_whole(Lanes *l, LLVMValueRef icmp);
/* The same in the lanes of the current mask, from the first and the last of these. */
LLVMValueRef ln_running_ends_agree(Lanes *l, LaneValue *icmp, bool holds);
LLVMValueRef ln_running_ends_are_whole(Lanes *l, LLVMValueRef icmp);
/* Where these two do not agree, is there a lane in which it has not that value? */
bool ln_ends_decide(Lanes *l, LLVMValueRef icmp, bool holds);
/* Of a comparison: do both sides have a step? */
bool ln_keeps_order(Lanes *l, LLVMValueRef instruction);
void ln_write_agreed(Lanes *l, LaneValue *v); /* a value with that assumption */
/* products.c: low halves of long products; before the analysis */
void ln_shorten_products(Cg *cg, LLVMValueRef f);
LLVMValueRef ln_square(Lanes *l, LLVMValueRef i); /* NULL: it is no such square */
/* loop_versions.c: has the loop one exit, at the header, no loops in it, no meetings, and no more
 * than that? */
bool ln_is_closed(Lanes *l, const LaneLoop *loop, unsigned instructions, unsigned blocks);
/* Does what ends the loop at its header advance by what is no constant? */
bool ln_has_stride(const Lanes *l, const LaneLoop *loop);
/* The trap of a block that has been copied: from the copy, too. */
void ln_enter_trap(Lanes *l, uint32_t block, const RegionCopy *copies);
LLVMValueRef ln_call_all(Lanes *l, LLVMValueRef condition, bool value); /* of pyptx.all */
/* row_versions.c: changes the function; l is of no use after it, if it is true. Quotients and rests
 * of its versions have metadata of this name. */
#define LANES_ROW_METADATA "pyptx.row"
bool ln_make_row_versions(Lanes *l);
/* divide.c: is this division of integers written as one of floats? */
bool ln_divides(const Lanes *l, LLVMValueRef division);
LLVMValueRef ln_divide(Lanes *l, LLVMValueRef division, LLVMValueRef x, LLVMValueRef y);
/* conversions.c: is it a conversion of a float to an integer for which LLVM has no vector form? */
bool ln_saturates(const Lanes *l, LLVMValueRef call);
void ln_write_saturating(Lanes *l, LLVMValueRef call, LaneValue *v);
/* memory.c */
void ln_write_load(Lanes *l, LLVMValueRef i, LaneValue *v);
void ln_write_store(Lanes *l, LLVMValueRef i);
/* under the current mask */
LLVMValueRef ln_gather(Lanes *l, LLVMTypeRef vector, LLVMValueRef pointers, unsigned align);
/* Are the lanes' elements contiguous, without padding between them? */
bool ln_is_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t);
/* contiguous; mask: NULL is all */
LLVMValueRef ln_load_run(Lanes *l, LLVMTypeRef all, LLVMValueRef first, LLVMValueRef mask,
                         unsigned align);
void ln_store_run(Lanes *l, LLVMValueRef value, LLVMValueRef first, LLVMValueRef mask,
                  unsigned align);
void ln_prefetch(Lanes *l, LLVMValueRef at, bool writes);
/* An address from which as many zeros may be read as a cache line has. */
LLVMValueRef ln_zeros_to_read(Lanes *l);
/* from_end.c: the x of `x + n if x < 0 else x`, in the forms that LLVM gives it; NULL if v has none
 * of them. */
LLVMValueRef ln_unwrapped(LLVMValueRef v);
void ln_keep_for_runs(Lanes *l);
/* An access that is contiguous where the index x is not negative. */
typedef struct Run {
  LLVMValueRef x;     /* i64; NULL: the access is not of this form */
  LLVMValueRef first; /* lane 0's address, if x is not negative */
  LLVMValueRef added; /* bytes, where it is; NULL: not known at this point */
  int64_t step;       /* of x */
  int64_t by;         /* bytes from lane to lane: the size of an element, up or down */
} Run;
Run ln_find_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t);
typedef struct RunBlocks {
  LLVMBasicBlockRef run, wrapped, done;
} RunBlocks;
/* Leaves the builder in `run`, where no lane of the mask has a negative index. The test of the lane
 * with the least one decides it mostly, whether it is in the mask or not; else that of the least
 * one of the mask. */
RunBlocks ln_branch_on_sign(Lanes *l, const Run *r);
LLVMValueRef ln_wrapped_addresses(Lanes *l, const Run *r); /* if `added` is known */
/* Such a value at the builder's position, in one lane or (NULL) as a vector; NULL: it is none. */
LLVMValueRef ln_wrap_again(Lanes *l, LLVMValueRef v, LLVMValueRef lane);
/* near.c: an access that gathers or scatters, unless its elements happen to follow each other:
 * `first`, lane 0's address, is where they do. ln_begin_run leaves the builder in `there`, where
 * that access is to be written, and is false if there is no reason to expect it; ln_else_run leaves
 * it in `other`. */
typedef struct NearRun {
  LLVMValueRef first;
  LLVMBasicBlockRef there, other, done;
} NearRun;
bool ln_may_be_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t); /* is there a reason? */
bool ln_begin_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, NearRun *run);
/* The same of an access that goes to `first` in all lanes, or gathers. */
bool ln_begin_one(Lanes *l, LLVMValueRef pointer, NearRun *run);
void ln_else_run(Lanes *l, const NearRun *run);
void ln_end_run(Lanes *l, const NearRun *run);
/* patterns.c: by how much the value is larger in each lane than in lane 0, modulo its type; of a
 * pointer bytes. False where that is not known. */
bool ln_pattern(Lanes *l, LLVMValueRef v, int64_t *all);
/* strides.c: is it a load or store of elements near each other, at known places, that is written
 * without a gather? Not a contiguous one. */
bool ln_is_spread(Lanes *l, LLVMValueRef access, bool masked);
LLVMValueRef ln_load_spread(Lanes *l, LLVMValueRef load);
void ln_store_spread(Lanes *l, LLVMValueRef store);
/* The same in shared memory, as a NearRun whose `first` is the first element: what is between the
 * elements may be read, and written back. */
bool ln_begin_inside(Lanes *l, LLVMValueRef access, NearRun *run);
LLVMValueRef ln_load_inside(Lanes *l, LLVMValueRef load, LLVMValueRef first);
void ln_store_inside(Lanes *l, LLVMValueRef store, LLVMValueRef first);
/* How many bytes of the block's static shared memory lie behind the address; 0: it is none. */
uint64_t ln_left_of_shared(Lanes *l, LLVMValueRef address);
LLVMValueRef ln_index_inside(Lanes *l, LLVMValueRef pointer); /* that may be tested, or NULL */
/* Has the CPU instructions that gather and scatter elements of that type, under a mask too? */
bool ln_gathers(const Lanes *l, LLVMTypeRef element);
/* Is an access to such elements, at steps from lane to lane, written one by one? All lanes run. */
bool ln_steps_alone(Lanes *l, LLVMValueRef pointer, LLVMTypeRef element);
LLVMValueRef ln_load_steps(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer, unsigned align);
void ln_store_steps(Lanes *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align);
/* tables.c: a load from a short table in shared memory, at varying places */
bool ln_is_look_up(Lanes *l, LLVMValueRef load);
LLVMValueRef ln_look_up(Lanes *l, LLVMValueRef load);
/* What tells the place there, of an address of bytes in shared memory; NULL: there are no such
 * look-ups. */
LLVMValueRef ln_index_of_table(Lanes *l, LLVMValueRef pointer);
/* walks.c: loads of which each lane reads the next element in each iteration of a loop */
bool ln_walks(Lanes *l, LLVMValueRef load, uint32_t block);
void ln_make_walk(Lanes *l, LaneValue *v);    /* gives it a tile, if it is one */
void ln_begin_walks(Lanes *l, uint32_t loop); /* in front of the loop */
LLVMValueRef ln_load_walk(Lanes *l, LaneValue *v, LLVMValueRef pointers, unsigned align);

#endif
