/* Target: what differs between a GPU and the host. Lowering asks it and never looks at which one it
 * is.
 *
 * Functions that take a Lower emit code at its builder's position, inside the function being
 * lowered, and leave the builder where code goes on. They may open blocks (lw_block). Kernel means
 * Program.fns[0]; the others are device functions.
 *
 * Order of calls: open, then for each Fn: (kernel: kernel_begin, else: nothing), the functions on
 * Lower as the body needs them, kernel_return at each return of the kernel; after the last Fn
 * finish; then link and its passes, as passes.def has them. */
#ifndef PYPTX_CODEGEN_TARGET_H
#define PYPTX_CODEGEN_TARGET_H

#include "codegen/llvm/cg.h"
#include "ir/registers.h"

typedef struct Lower Lower;

typedef enum BarrierVote { VOTE_AND, VOTE_OR, VOTE_COUNT } BarrierVote;
typedef enum FenceLevel { FENCE_BLOCK, FENCE_DEVICE, FENCE_SYSTEM } FenceLevel;

struct Target {
  const char *name;         /* "nvptx", "host": messages */
  unsigned space[4];        /* LLVM address space of each Space */
  const char *atomic_scope; /* syncscope of atomics: "device"; "" on the host */
  /* of those on shared memory: "singlethread" on the host, where a block runs on one thread */
  const char *shared_atomic_scope;
  bool traps_always; /* assert and raise trap whatever the options say */
  /* complex elements stand at multiples of their size (a launch checks it), not only of their
   * parts': one access */
  bool whole_complex;
  bool bfloat_by_bits; /* LLVM's bfloat operations are not IEEE's here: see lower/half.c */
  bool links; /* modules are linked with others: cuda.declare_device's functions can be called */
  bool
      gathers; /* functions in which threads meet are part of the kernel's own: inlined, however long they are */
  bool coarsens; /* kernels get a second entry for coarsened launches */
  /* 64-bit integers cost more than 32-bit ones: what fits is computed in 32 bits (ssa/narrow.h),
   * and loops are unrolled (lower/unroll_hints.h) */
  bool narrows;
  const char *too_deep; /* the message of a RecursionError */
  /* kernels that can trap, or have the grid's barrier, take a TRAP and a GRID field, as their
   * last */
  bool runtime_fields;

  /* --- the module --- */
  /* Checks request->arch and ptx_version (ERR_ARCH), sets cg->machine; cg_open then sets triple and
   * data layout from it. */
  void (*open)(Cg *cg);
  /* After all functions are lowered and before the module is verified: host entry, thread loops. */
  void (*finish)(Cg *cg);
  /* Brings in the code of library functions that the module declares (libdevice); nothing on the
   * host. */
  void (*link)(Cg *cg);
  /* Its own passes; the last fills cg->out->ptx, or ->host and ->jit (which then owns cg->context
   * and cg->module: sets both NULL). */
  const struct PassTable *passes;
  void (*release)(void *jit); /* frees CgKernel.jit */

  /* --- functions --- */
  /* The type of the hidden first parameter of every device function, NULL if there is none: what
   * carries the thread's identity. In a device function lowering sets lw->context to that
   * parameter; in the kernel kernel_begin sets it. Calls pass it on. */
  LLVMTypeRef (*context_type)(Cg *cg);
  /* Makes the kernel's function, with attributes, into lw->function; its entry block into
   * lw->entry, and puts the builder at that block's end. cg->out->params says what the parameter
   * block holds. */
  void (*kernel_begin)(Lower *lw);
  /* Field number i of the parameter block, as the LLVM type lw_field_type gives (i8 for bool, i32
   * for EXTENT32, a pointer in the global space for POINTER). Called in the entry block, once a
   * field. TRAP fields are not asked for. */
  LLVMValueRef (*param)(Lower *lw, uint32_t i);
  void (*kernel_return)(Lower *lw); /* ends the block */

  /* --- memory --- */
  /* Shared memory at this offset of the block's static part (so far cg->static_shared bytes were
   * given out). */
  LLVMValueRef (*shared_static)(Lower *lw, uint64_t bytes, unsigned align, uint32_t offset,
                                const char *name);
  LLVMValueRef (*shared_dynamic)(Lower *lw);       /* its address, 16-byte aligned */
  LLVMValueRef (*shared_dynamic_bytes)(Lower *lw); /* i32 */
  /* Data that no thread writes, as a pointer in SPACE_CONST. */
  LLVMValueRef (*constant)(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                           const char *name);
  /* A load or store of a type as it is in memory, with a hint; NULL, and nothing done, where the
   * memory behind the pointer has none. */
  LLVMValueRef (*load_hinted)(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p);
  LLVMValueRef (*store_hinted)(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p);

  /* --- threads --- */
  LLVMValueRef (*sreg)(Lower *lw, SpecialReg r); /* i32 */
  /* Where kernels are coarsened, of a module without a Lower: reads a register, and which one a
   * call reads (SREG_NONE: it does not). */
  LLVMValueRef (*read_register)(Cg *cg, LLVMBuilderRef b, SpecialReg r);
  SpecialReg (*register_of)(LLVMValueRef call);
  void (*barrier)(Lower *lw);
  void (*grid_barrier)(Lower *lw);                                            /* cg->meets_grid */
  LLVMValueRef (*barrier_vote)(Lower *lw, BarrierVote vote, LLVMValueRef i1); /* i32 */
  /* An operation of a warp, of kinds from RT_MEET_SYNC on: mask i32; value i32 or i64, of votes i1;
   * lane i32; NULL for those that the kind has not. Returns for shuffles a value of value's type,
   * for SYNC NULL, else i32: 0 or 1 for ALL, ANY, EQ, lanes for the others. */
  LLVMValueRef (*warp)(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                       LLVMValueRef lane);
  void (*fence)(Lower *lw, FenceLevel level);
  void (*nanosleep)(Lower *lw, LLVMValueRef ns); /* i32; may do nothing */
  /* The other threads have their turn before this one goes on; NULL where they have it anyway. */
  void (*yield)(Lower *lw);

  /* --- stopping --- */
  /* The thread stops at site with values (i64, n <= RT_TRAP_VALUES); ends the block. */
  void (*trap)(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n);
  void (*stop)(Lower *lw); /* silently; ends the block */
  /* i1: is there room on the stack for the function that begins here, and those it calls? NULL:
   * recursion runs on a stack of ours (flatten/flatten.h) */
  LLVMValueRef (*stack_suffices)(Lower *lw);
  /* At the beginning of a recursive function, behind that; NULL: nothing is to be done. */
  void (*enter_recursion)(Lower *lw);

  /* --- values --- */
  const Lowering *(*lowering)(
      const IntrinsicInfo *info); /* this target's column of ir/intrinsics.def */
  /* C's name of a math function of float or double ("sin", "pow"): "__nv_sinf", "sinf". Arena or
   * static text. */
  const char *(*math_name)(Cg *cg, const char *name, bool is_float32);
  /* Saturating, nan gives 0: x (float or double) to an integer of 8..64 bits. */
  LLVMValueRef (*float_to_int)(Lower *lw, LLVMValueRef x, unsigned bits, bool is_signed);
  /* printf of one text. Arguments are i64 (%lld, %llu), double (%g …) and pointers to text (%s);
   * %r, %R, %H and %B print a double, float32, float16 or bfloat16 (as a double) as Python does, %z
   * and %Z two doubles or float32 as a complex number, %-z in parentheses always, %p is %f with a
   * percent sign; lw_plain_print replaces them by the nearest that C's printf has. */
  void (*print)(Lower *lw, const char *format, LLVMValueRef const *args, unsigned n);
};

extern const Target cg_target_nvptx, cg_target_host;

#endif
