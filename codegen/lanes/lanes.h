/* Lanes: whole-function vectorisation. The function of one thread becomes one of W threads,
 * neighbours along x. Used by host/thread_rows.c and fission/fission.c only.
 *
 * In: an LLVM function of one thread, without barriers, in the form that cg_lanes_prepare leaves.
 * Out: a function of the same arguments, which describe lane 0; it runs that thread and the W - 1
 * that follow:
 *
 *   i32 f.lanes(args…, ptr results)
 *
 * results: <W x i32>, what f returns in each lane, or an i32 (cg_lanes_one_result); not written if
 * f returns nothing. The function's own result is 0, or 1 if a guard or a check diverged before any
 * effect: then nothing has been done, and the caller runs the threads one by one.
 *
 * Every value has a shape: uniform, linear (lane 0's value plus a constant step for each lane), or
 * varying, which is a vector. A divergent branch is linearised: both sides run, one after the
 * other, under masks, and a side whose mask is empty is skipped. A divergent loop runs until its
 * last lane has left. An operation for which LLVM has no vector form runs lane by lane. Nothing
 * needs to be proved about memory, since threads between two barriers are independent. This order
 * of execution can only break threads that wait for one another in a loop; functions in which they
 * might are refused, as are functions that are too large. Sources: whole-function vectorisation
 * (Karrenberg and Hack, 2011); shapes as in RV (Moll and Hack, 2018). */
#ifndef PYPTX_CODEGEN_LANES_LANES_H
#define PYPTX_CODEGEN_LANES_LANES_H

#include "codegen/llvm/cg.h"

/* Metadata on a load that gives the same value in all lanes, though its address varies. */
#define CG_UNIFORM_METADATA "pyptx.uniform"

/* i1 pyptx.all(i1 condition, i1 value): does the condition have that value in all lanes? False
 * where that is not known. */
#define CG_ALL_NAME "pyptx.all"

/* void pyptx.place(i32, i32): executed once for all lanes, and whatever the mask. */
#define CG_PLACE_NAME "pyptx.place"

typedef struct Lanes Lanes;

/* How the arguments of a function differ from lane to lane, and how its lanes are to run. */
typedef struct LanesHow {
  /* by argument: by how much it grows from lane to lane; LANES_ANY: it varies */
  const int *steps;
  /* by argument: how many low bits are 0 in lane 0; NULL: none is known */
  const unsigned char *zeros;
  /* lanes: a power of two */
  unsigned width;
  /* a guard that is not uniform makes the function return 1; without this, guards are masks */
  bool alone;
  /* with `alone`: guards on a thread's place in its block too, not only on that in the grid */
  bool places;
  /* a failed check traps at once; without `alone`, the function never returns 1 */
  bool whole;
  /* the argument that is one more in the block that runs next, where the function runs once for
   * each; 0: none (next_block.c) */
  unsigned next;
  /* a load that other threads may write between is not uniform, even from a uniform address */
  bool strict;
  /* … except one of memory that stays as it is while the kernel runs; NULL: all */
  bool (*lasts)(const Cg *cg, LLVMValueRef f, LLVMValueRef load);
} LanesHow;

enum { LANES_ANY = INT32_MIN };

/* The number of lanes for this machine; 0 if its vectors are too short to be worth it. */
unsigned cg_lanes_width(Cg *cg);
/* How many of these, as 32 bits each, are in one register; 0 too. */
unsigned cg_lanes_part(Cg *cg);
/* Has the CPU these features, by LLVM's names, with spaces between? */
bool cg_lanes_have(Cg *cg, const char *features);
/* LLVM's passes over the module: loops with one preheader, one latch and closed SSA, branches
 * instead of switches. prepare inlines first. */
void cg_lanes_prepare(Cg *cg);
void cg_lanes_regulate(Cg *cg);
void cg_lanes_regulate_one(Cg *cg, LLVMValueRef f);
/* Unrolls fully the loops of f with barriers or other meetings whose trip count is known and small.
 * True if it has changed f, which must then be regulated again. */
bool cg_lanes_unroll(Cg *cg, LLVMValueRef f);
/* Copies of a segment f for masks on which the places of its lanes depend (mask_versions.c), and a
 * function with f's parameters that says which one a block runs: 0 is f, 1 the first copy. n is 0
 * if there are none; what has been made must be regulated. */
enum { CG_MASK_VERSIONS = 8 };
typedef struct MaskVersions {
  LLVMValueRef choice, fns[CG_MASK_VERSIONS];
  bool one_result[CG_MASK_VERSIONS]; /* cg_lanes_one_result of those that have been written */
  unsigned n;
} MaskVersions;
MaskVersions cg_lanes_mask_versions(Cg *cg, LLVMValueRef f, const LanesHow *how);
/* NULL if f is refused. */
Lanes *cg_lanes_analyse(Cg *cg, LLVMValueRef f, const LanesHow *how);
/* The same, after each divergent loop that qualifies has been given a version in front that runs
 * while all lanes continue (loop_versions.c). The function of one thread has no use for these
 * versions: once all lanes have been written, the caller drops them (forget_doubles); those of one
 * function, or of all (NULL). */
Lanes *cg_lanes_analyse_doubled(Cg *cg, LLVMValueRef f, const LanesHow *how);
void cg_lanes_forget_doubles(Cg *cg, LLVMValueRef f);
/* Of a function with such versions: does one of these loops advance by a stride that is no constant
 * (a grid-stride loop)? Then more lanes pay, since each iteration reads a longer run of memory. */
bool cg_lanes_stride(const Lanes *l);
/* How many vectors at once pay where loops add up what they read down the rows of an array, or all
 * elements are bytes or words; else 1 (row_runs.c). */
unsigned cg_lanes_at_once(Lanes *l);
/* Does the instruction do more than compute and read? */
bool cg_lanes_writes(LLVMValueRef instruction);
/* Is the value uniform over the block, provided that the whole block arrives uniformly? */
bool cg_lanes_uniform(const Lanes *l, LLVMValueRef v);
/* Is control uniform at this instruction: do all threads of a block, or none, execute it? */
bool cg_lanes_together(const Lanes *l, LLVMValueRef instruction);
/* Of a warp operation: can it be written as an operation on 32 lanes? */
bool cg_lanes_meet(Lanes *l, LLVMValueRef meeting);
/* f.lanes; NULL if something in f has no vector form, or vectors would not pay. Once for each l. */
LLVMValueRef cg_lanes_write(Lanes *l);
/* Does f have guards that were assumed to be uniform (LanesHow.alone), and is it small enough for a
 * second version in which they are masks? */
bool cg_lanes_agree(Lanes *l);
bool cg_lanes_have_loops(const Lanes *l);
/* Of what has been written: is the returned value uniform? Then results is one i32. */
bool cg_lanes_one_result(const Lanes *l);

#endif
