/* Lanes: the function of one thread becomes one of W threads, neighbours along x. Private to this
 * room; host/thread_rows.c and fission/fission.c.
 *
 * In: an LLVM function of one thread, without barriers, in the form that cg_lanes_prepare leaves.
 * Out: a function of the same arguments that runs the W threads of which the arguments describe the
 * first, lane 0:
 *
 *   i32 f.lanes(args…, ptr results)
 *
 * results: <W x i32>, what f returns in each lane, or an i32 (cg_lanes_one_result); not written if
 * f returns nothing. The result is 0, or 1 if nothing has been done yet and the threads must run
 * one by one: a guard or a check is not the same for all of them, in front of any effect.
 *
 * Every value has a shape: the same for all lanes, that of lane 0 plus a constant number of steps,
 * or a vector. Where a branch is not the same for all, both sides run, one after the other, each if
 * any lane goes there, and what they do is masked; a loop runs until the last lane has left it.
 * What LLVM has no vector form of runs lane by lane. There is nothing to prove about memory:
 * threads between two barriers are independent. What this order can break is threads that wait for
 * one another in a loop; functions that could are refused, as is what is too large. Sources:
 * whole-function vectorisation (Karrenberg and Hack, 2011); shapes as in RV (Moll and Hack,
 * 2018). */
#ifndef PYPTX_CODEGEN_LANES_LANES_H
#define PYPTX_CODEGEN_LANES_LANES_H

#include "codegen/llvm/cg.h"

/* Metadata on a load that gives the same in all lanes, though its address differs. */
#define CG_UNIFORM_METADATA "pyptx.uniform"

/* i1 pyptx.all(i1 condition, i1 value): has the condition that value in all lanes? False if that is
 * not known. */
#define CG_ALL_NAME "pyptx.all"

typedef struct Lanes Lanes;

/* How the arguments of a function differ from lane to lane, and what is wanted of its lanes. */
typedef struct LanesHow {
  /* by argument: how much it grows from lane to lane; LANES_ANY: in no regular way */
  const int *steps;
  /* by argument: so many low bits are 0 in lane 0; NULL: none is known */
  const unsigned char *zeros;
  unsigned width;
  /* guards are to be the same for all lanes, or nothing is done; else they are masks */
  bool alone;
  bool whole;  /* lanes never run one by one instead: what fails a check traps at once */
  bool strict; /* what other threads may have changed is not taken for the same in all lanes */
} LanesHow;

enum { LANES_ANY = INT32_MIN };

/* The number of lanes for this machine; 0 if its vectors are too short to be worth it. */
unsigned cg_lanes_width(Cg *cg);
/* LLVM's passes on the module that make loops and branches regular; prepare inlines first. */
void cg_lanes_prepare(Cg *cg);
void cg_lanes_regulate(Cg *cg);
/* Loops of f with barriers or other meetings, if they are short; the function is to be regulated
 * again if it has changed. */
bool cg_lanes_unroll(Cg *cg, LLVMValueRef f);
/* NULL if f is refused. */
Lanes *cg_lanes_analyse(Cg *cg, LLVMValueRef f, const LanesHow *how);
/* The same, of a function in which loops that lanes leave one by one have a copy that they run
 * together (loop_versions.c). For threads one by one the copies are to be forgotten, once all lanes
 * have been written. */
Lanes *cg_lanes_analyse_doubled(Cg *cg, LLVMValueRef f, const LanesHow *how);
void cg_lanes_forget_doubles(Cg *cg);
/* Of a function with such copies: do the lanes of one go through memory in strides that are not
 * known, as by the grid? Then more lanes read longer pieces of it at a time. */
bool cg_lanes_stride(const Lanes *l);
/* Does the instruction do more than compute and read? */
bool cg_lanes_writes(LLVMValueRef instruction);
/* Is it the same in all threads of a block that all come there together? */
bool cg_lanes_uniform(const Lanes *l, LLVMValueRef v);
/* Do all threads of a block come to this instruction together? */
bool cg_lanes_together(const Lanes *l, LLVMValueRef instruction);
/* Of an operation of a warp: can it be one of the 32 lanes? */
bool cg_lanes_meet(Lanes *l, LLVMValueRef meeting);
/* f.lanes; NULL if something in it has no form for lanes. */
LLVMValueRef cg_lanes_write(Lanes *l);
/* Are there such guards, in a function that is small enough to be written a second time? */
bool cg_lanes_agree(const Lanes *l);
/* Of what has been written: do all lanes return the same? Then that is all that is in results. */
bool cg_lanes_one_result(const Lanes *l);

#endif
