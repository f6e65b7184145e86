/* Flatten: recursion on GPUs without recursive calls.
 *
 * In: the linked module, before LLVM's passes. Out: a module whose call graph has no cycles.
 *
 * The functions of each strongly connected component of the call graph become one function, a
 * machine: a loop over a `switch`, whose header is the block `next`. `next` dispatches on a state.
 * A call among the members pushes the values that are live after it and the state in which the
 * caller resumes, sets the arguments and the callee's state, and branches to `next`; a return pops
 * its caller's state. At `next` the lanes that entered the machine vote whether any is still busy.
 * So they reconverge at every call and return, and leave the machine as one group. Why that is
 * necessary: codegen/flatten/README.md.
 *
 * Where members have barriers or warp operations, only the lanes with the deepest stacks continue:
 * those that return early wait for the others, as they would after a call.
 *
 * The stack is one array of local memory in the kernel, options.stack bytes long, which is passed
 * to the machines. A call whose frame does not fit stops the thread: with a RecursionError where
 * exceptions are asked for, else by a trap instruction. */
#ifndef PYPTX_CODEGEN_FLATTEN_FLATTEN_H
#define PYPTX_CODEGEN_FLATTEN_FLATTEN_H

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

enum { CG_STACK_BYTES = 1024, FL_LEAST_ALIGN = 8 };

void cg_flatten_recursion(Cg *cg);

/* --- between flatten.c, frames.c and machine.c --- */

typedef struct FlMember FlMember;

/* A call of one member by another, or by itself. */
typedef struct FlCall {
  LLVMValueRef call;
  FlMember *to;
  uint64_t *live; /* the boxes that are live after it: a set by FlMember.boxes */
  uint32_t bytes; /* of its frame: these boxes, and the state in which the caller resumes */
} FlCall;

/* An alloca whose address is used: each activation has its own. */
typedef struct FlArray {
  LLVMValueRef array;
  uint32_t offset; /* in the activation's area */
} FlArray;

/* A function of the component. A box is an alloca that is only loaded and stored; mem2reg promotes
 * it when the machine is written. */
struct FlMember {
  LLVMValueRef fn; /* its body moves into the machine */
  unsigned nargs;
  unsigned *fixed;      /* by parameter: the machine's that it always equals, 0 for none */
  LLVMValueRef *args;   /* by parameter: its box, NULL if it is fixed */
  LLVMValueRef *stores; /* by parameter: the store into its box, while this is a function */
  LLVMValueRef result;  /* a box of the machine, NULL for none */
  LLVMTypeRef result_type;
  LLVMBasicBlockRef entry;
  bool entered;          /* it is called from outside of the machine */
  unsigned first, field; /* if so: its first parameter in the machine's, its field of the result */
  unsigned state;        /* in which it begins */
  VEC(LLVMValueRef) boxes;
  ValueMap numbers; /* of boxes */
  VEC(FlArray) arrays;
  uint32_t area; /* bytes of its arrays, which are on top of the caller's frame */
  VEC(FlCall) calls;
};

typedef struct FlMachine {
  Cg *cg;
  Arena *arena;
  LLVMBuilderRef b;
  VEC(FlMember *) members;
  bool meets;     /* it has barriers or warp operations */
  uint32_t align; /* of all frames and areas */
  LLVMValueRef fn;
  LLVMTypeRef type, result;
  LLVMValueRef top, state; /* boxes: bytes on the stack; the next state */
  LLVMValueRef callers;    /* the mask of the lanes that entered the machine */
  LLVMValueRef base, room; /* the stack, and its size in bytes */
  LLVMBasicBlockRef next, overflow;
} FlMachine;

/* The machine's parameters: these, the context of device functions if they have one, then those of
 * the members that are entered. */
enum { FL_PARAM_STACK, FL_PARAM_ROOM, FL_PARAM_ENTRY, FL_PARAM_CONTEXT };

/* frames.c: which values each call must keep, and the layout of its frame. Leaves no phi, and no
 * value but boxes and arrays that is used in another block or across a call. */
void fl_lay_out(FlMachine *m);
/* Offset of a box in a call's frame, box after box; starts with *at = 0. */
uint32_t fl_place(const FlMachine *m, LLVMValueRef box, uint32_t *at);

/* machine.c */
void fl_write(FlMachine *m);
/* At the builder's position in the machine: the number of bytes on its stack (i32), and the address
 * of the byte at such an offset. */
LLVMValueRef fl_top(FlMachine *m);
LLVMValueRef fl_address(FlMachine *m, LLVMValueRef top);

LLVMTypeRef fl_local(const Cg *cg); /* a pointer into local memory */
uint32_t fl_stack_bytes(const Cg *cg);
bool fl_has_context(const Cg *cg);

#endif
