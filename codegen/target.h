/* Target: what differs between a GPU and the host. Lowering calls these functions and never tests
 * which device it compiles for.
 *
 * Functions that take a Lower emit code at its builder's position, inside the function that is
 * being lowered, and leave the builder where the code continues. They may create blocks (lw_block).
 * "The kernel" is Program.fns[0]; the others are device functions.
 *
 * Order of calls: open; then for each Fn (the kernel first: kernel_begin) the functions on Lower as
 * the body needs them, with kernel_return at each return of the kernel; finish after the last Fn;
 * then link and the target's passes, in the order of passes.def. */
#ifndef PYPTX_CODEGEN_TARGET_H
#define PYPTX_CODEGEN_TARGET_H

#include "codegen/llvm/cg.h"
#include "ir/registers.h"

typedef struct Lower Lower;

typedef enum BarrierVote { VOTE_AND, VOTE_OR, VOTE_COUNT } BarrierVote;
typedef enum FenceLevel { FENCE_BLOCK, FENCE_DEVICE, FENCE_SYSTEM } FenceLevel;

struct Target {
  const char *name;            /* "nvptx", "host": for messages */
  unsigned space[SPACE_COUNT]; /* LLVM address space of each Space */
  const char *atomic_scope;    /* syncscope of atomics: "device"; "" on the host */
  /* of atomics on shared memory: "singlethread" on the host, where one OS thread runs a block */
  const char *shared_atomic_scope;
  /* i1: is the memory of the atomic sum that is being lowered one OS thread's own now? Then it is
   * done in the scope of shared memory. NULL, the function or its result: never. */
  LLVMValueRef (*own_sum)(Lower *lw);
  bool vector_accesses; /* several elements are one load or store, else one each */
  /* How many bytes beyond a multiple of 64 a kernel's parameters begin in memory, which decides
   * where one that is so aligned lies among them; NULL: none. */
  uint32_t (*params_begin)(const Cg *cg);
  bool traps_always; /* assert and raise trap whatever the options say */
  /* complex elements are aligned to their own size (a launch checks it), not only to that of their
   * parts: one access loads both */
  bool whole_complex;
  bool bfloat_by_bits; /* LLVM's bfloat operations do not follow IEEE here: see lower/half.c */
  /* modules are linked with others, so functions of cuda.declare_device can be called */
  bool links;
  /* Inline assembly: i is an OP_CALL_C whose aux.frozen is its text. NULL: typing has refused
   * it. */
  void (*inline_text)(Lower *lw, Ins *i);
  /* functions that synchronise threads must be inlined into the kernel, however long they are */
  bool gathers;
  bool coarsens; /* kernels get a second entry for coarsened launches */
  /* 64-bit integers cost more than 32-bit ones: values that fit are computed in 32 bits
   * (ssa/narrow.h), and loops are unrolled (lower/unroll_hints.h) */
  bool narrows;
  const char *too_deep; /* the message of a RecursionError */
  /* kernels that can trap take a TRAP field, those with the grid's barrier a GRID field, at the end
   * of the parameter block */
  bool runtime_fields;

  /* --- the module --- */
  /* Checks request->arch and ptx_version (ERR_ARCH), sets cg->machine; cg_open then sets triple and
   * data layout from it. */
  void (*open)(Cg *cg);
  /* After all functions are lowered, before the module is verified: host entry, thread loops. */
  void (*finish)(Cg *cg);
  /* Links the code of library functions that the module declares (libdevice); does nothing on the
   * host. */
  void (*link)(Cg *cg);
  /* The target's own passes; the last fills cg->out->ptx, or ->host and ->jit (which takes over
   * cg->context and cg->module: both become NULL). */
  const struct PassTable *passes;
  void (*release)(void *jit); /* frees CgKernel.jit */

  /* --- functions --- */
  /* The type of the hidden first parameter of every device function, which carries the thread's
   * identity; NULL if there is none. In a device function lowering sets lw->context to that
   * parameter, in the kernel kernel_begin does; calls pass it on. */
  LLVMTypeRef (*context_type)(Cg *cg);
  /* Creates the kernel's function with its attributes (lw->function) and its entry block
   * (lw->entry), and places the builder at the end of that block. cg->out->params describes the
   * parameter block. */
  void (*kernel_begin)(Lower *lw);
  /* Field number i of the parameter block, as a value of the type lw_field_type(i): i8 for bool,
   * i32 for EXTENT32, a pointer in the global space for POINTER. Called in the entry block, once
   * for each field but the runtime's own (TRAP, GRID). */
  LLVMValueRef (*param)(Lower *lw, uint32_t i);
  void (*kernel_return)(Lower *lw); /* ends the block */

  /* --- memory --- */
  /* Shared memory at this offset of the block's static part, which cg->static_shared already
   * includes. */
  LLVMValueRef (*shared_static)(Lower *lw, uint64_t bytes, unsigned align, uint32_t offset,
                                const char *name);
  /* its address, 16-byte aligned at least */
  LLVMValueRef (*shared_dynamic)(Lower *lw, unsigned align);
  LLVMValueRef (*shared_dynamic_bytes)(Lower *lw); /* i32 */
  /* Read-only data, as a pointer in SPACE_CONST. */
  LLVMValueRef (*constant)(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                           const char *name);
  /* A load or store with a cache hint, of a type as it is in memory. NULL, and no code is emitted,
   * if the memory that the pointer addresses has no such hint. */
  LLVMValueRef (*load_hinted)(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p);
  LLVMValueRef (*store_hinted)(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p);

  /* --- threads --- */
  LLVMValueRef (*sreg)(Lower *lw, SpecialReg r); /* i32 */
  void (*instruction)(Lower *lw, Ins *i);        /* of a row of ir/instructions.def */
  /* For coarsening, which works on a module and has no Lower: reads a register; the register that a
   * call reads, SREG_NONE if it reads none. */
  LLVMValueRef (*read_register)(Cg *cg, LLVMBuilderRef b, SpecialReg r);
  SpecialReg (*register_of)(LLVMValueRef call);
  void (*barrier)(Lower *lw);
  void (*grid_barrier)(Lower *lw); /* cg->meets_grid is set */
  LLVMValueRef (*barrier_vote)(Lower *lw, BarrierVote vote, LLVMValueRef i1); /* i32 */
  /* A warp operation, of the kinds from RT_MEET_SYNC on. mask: i32; value: i32 or i64, for votes
   * i1; lane: i32; an operand that the kind does not have is NULL. The result is NULL for SYNC, of
   * value's type for shuffles, else i32: 0 or 1 for ALL, ANY and EQ, a mask of lanes otherwise. */
  LLVMValueRef (*warp)(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                       LLVMValueRef lane);
  void (*fence)(Lower *lw, FenceLevel level);
  void (*nanosleep)(Lower *lw, LLVMValueRef ns); /* i32; may do nothing */
  /* Lets the other threads run before this one continues; NULL where the hardware schedules them.
   * site: of the loop that waits, or RT_NO_SITE. */
  void (*yield)(Lower *lw, uint32_t site);
  /* In code with options.timed: the thread is at that site, the beginning of an iteration of a loop
   * or (in_loop false) the beginning of a loop. NULL: the option has no effect. */
  void (*place)(Lower *lw, uint32_t site, bool in_loop);

  /* --- stopping --- */
  /* The thread stops at site with values (i64, n <= RT_TRAP_VALUES); ends the block. */
  void (*trap)(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n);
  void (*stop)(Lower *lw); /* silently; ends the block */
  /* i1: does the stack have room for the function that begins here and for those that it calls?
   * NULL: frames of recursive functions are not on the call stack (flatten/flatten.h). */
  LLVMValueRef (*stack_suffices)(Lower *lw);
  /* At the beginning of a recursive function, after that check; NULL: nothing is to be done. */
  void (*enter_recursion)(Lower *lw);

  /* Around each operation of code with options.check, or with shared memory that asynchronous
   * operations read: what is to be noted or asked of it. NULL: neither has an effect. */
  void (*check_before)(Lower *lw, Ins *i);
  /* At the beginning of the kernel, whose parameters are there. */
  void (*check_begin)(Lower *lw);
  void (*check_after)(Lower *lw, Ins *i);

  /* --- values --- */
  /* This target's column of ir/intrinsics.def. */
  const Lowering *(*lowering)(const IntrinsicInfo *info);
  /* The symbol of a C math function ("sin", "pow") for float or double: "__nv_sinf", "sinf". Arena
   * or static text. */
  const char *(*math_name)(Cg *cg, const char *name, bool is_float32);
  /* x (float or double) as an integer of 8 to 64 bits: saturating, and 0 for nan. */
  LLVMValueRef (*float_to_int)(Lower *lw, LLVMValueRef x, unsigned bits, bool is_signed);
  /* An 8-bit float of that type as a float, and a float as the next 8-bit one, of those that are
   * finite any for what lies beyond them. NULL where the device has no instruction for it, as the
   * functions themselves. */
  LLVMValueRef (*float8_to_float)(Lower *lw, LLVMValueRef v, TypeId id);
  LLVMValueRef (*float_to_float8)(Lower *lw, LLVMValueRef v, TypeId id);
  /* printf of one text. Arguments are i64 (%lld, %llu), double (%g …) and pointers to text (%s).
   * Beyond C's conversions %r, %R, %H and %B print a double, float32, float16 or bfloat16 (passed
   * as a double) as Python, NumPy and ml_dtypes do, %z and %Z two doubles or float32s as a complex
   * number (%-z always in parentheses), and %p is %f with a percent sign; lw_plain_print replaces
   * them by the nearest that C's printf has. */
  void (*print)(Lower *lw, const char *format, LLVMValueRef const *args, unsigned n);
};

extern const Target cg_target_nvptx, cg_target_host;

#endif
