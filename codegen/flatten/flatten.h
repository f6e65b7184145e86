/* Flatten: recursion on GPUs without recursive calls. Private to this room.
 *
 * In: the linked module, before LLVM's passes. Out: a module whose call graph has no cycles.
 *
 * The functions of each cycle become one function, a machine: `next` looks at a state and goes to
 * the piece of code that it names; a call among them puts what is live behind it on a stack of the
 * thread's own, sets the arguments and the callee's state, and goes to `next`; a return takes the
 * state that is on top. At `next` the lanes that came in together vote whether any is still busy:
 * so they come together at every call and return, and leave together. Why that must be:
 * codegen/flatten/README.md.
 *
 * Where members have barriers or operations of a warp, only the lanes that are deepest go on: so
 * those that return early wait for the others, as they would behind a call.
 *
 * The stack is one array of local memory in the kernel, options.stack bytes long, which the
 * machines are handed. A call that does not fit stops: with a RecursionError where exceptions are
 * asked for, else by a trap instruction. */
#ifndef PYPTX_CODEGEN_FLATTEN_FLATTEN_H
#define PYPTX_CODEGEN_FLATTEN_FLATTEN_H

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

enum { CG_STACK_BYTES = 1024, FL_LEAST_ALIGN = 8 };

void cg_flatten_recursion(Cg *cg);

/* --- between flatten.c, frames.c and machine.c --- */

typedef struct FlMember FlMember;

typedef struct FlCall { /* of one member by another */
  LLVMValueRef call;
  FlMember *to;
  uint64_t *live; /* set of boxes that are read behind it, by FlMember.boxes */
  uint32_t bytes; /* its frame: those, and the state where it goes on */
} FlCall;

typedef struct FlArray { /* an alloca whose address is used: one an activation */
  LLVMValueRef array;
  uint32_t offset; /* in the activation's area */
} FlArray;

struct FlMember {
  LLVMValueRef fn; /* its body moves into the machine */
  unsigned nargs;
  unsigned *fixed;      /* of each: the machine's parameter that it always is, 0 for none */
  LLVMValueRef *args;   /* the others' boxes, NULL for those */
  LLVMValueRef *stores; /* of the parameters into them, while it is a function */
  LLVMValueRef result;  /* a box of the machine, NULL for none */
  LLVMTypeRef result_type;
  LLVMBasicBlockRef entry;
  bool entered;          /* called from elsewhere */
  unsigned first, field; /* if so: of the machine's parameters, and of its result */
  unsigned state;
  VEC(LLVMValueRef) boxes; /* allocas that are only loaded and stored */
  ValueMap numbers;        /* of boxes */
  VEC(FlArray) arrays;
  uint32_t area; /* bytes of its arrays, which lie on top of the caller's frame */
  VEC(FlCall) calls;
};

typedef struct FlMachine {
  Cg *cg;
  Arena *arena;
  LLVMBuilderRef b;
  VEC(FlMember *) members;
  bool meets;     /* has barriers or operations of a warp */
  uint32_t align; /* of all frames and areas */
  LLVMValueRef fn;
  LLVMTypeRef type, result;
  LLVMValueRef top, state; /* boxes: bytes on the stack; where to go */
  LLVMValueRef callers;    /* the lanes that came together */
  LLVMValueRef base, room; /* the stack, and its bytes */
  LLVMBasicBlockRef next, overflow;
} FlMachine;

/* The machine's parameters: these, the context of device functions if they have one, then those of
 * the members that are entered. */
enum { FL_PARAM_STACK, FL_PARAM_ROOM, FL_PARAM_ENTRY, FL_PARAM_CONTEXT };

/* frames.c: what the members keep, and where. Leaves no phi and no value that is used behind a call
 * or in another block. */
void fl_lay_out(FlMachine *m);
/* Offset of a box in a call's frame, box after box; starts with *at = 0. */
uint32_t fl_place(const FlMachine *m, LLVMValueRef box, uint32_t *at);

/* machine.c */
void fl_write(FlMachine *m);
/* At the builder's place in the machine: how much is on its stack (i32), and the address behind so
 * much. */
LLVMValueRef fl_top(FlMachine *m);
LLVMValueRef fl_address(FlMachine *m, LLVMValueRef top);

LLVMTypeRef fl_local(const Cg *cg); /* a pointer into local memory */
uint32_t fl_stack_bytes(const Cg *cg);
bool fl_has_context(const Cg *cg);

#endif
