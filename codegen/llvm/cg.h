/* Cg: the LLVM side of one compilation. Private to this room, the only one that includes llvm-c.
 *
 * The passes of passes.def share it: each fills in what its `gives` names, and may read what its
 * `needs` name. A Cg is used by one thread. The LLVM objects belong to `context`; cg_close disposes
 * of what is left of them, except after a fatal error of LLVM, when their state is unknown and they
 * are leaked on purpose. */
#ifndef PYPTX_CODEGEN_LLVM_CG_H
#define PYPTX_CODEGEN_LLVM_CG_H

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/compile.h"
#include "codegen/llvm/emit.h"
#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/cx.h"
#include "ir/fn.h"
#include "ir/print.h"

typedef struct Target Target;
typedef struct Pass Pass;
typedef struct DebugInfo DebugInfo;

typedef struct CgTypes { /* LLVM types of `context` */
  LLVMTypeRef none, i1, i8, i16, i32, i64, f16, bf16, f32, f64;
  LLVMTypeRef ptr;                /* address space 0 */
  LLVMTypeRef space[SPACE_COUNT]; /* pointer into a Space, as the target numbers it */
} CgTypes;

typedef struct PassTime {
  const Pass *pass;
  double ms;
} PassTime;

/* Where the parts of optimize.def end. */
typedef enum LlvmPart { LLVM_ROTATE = 1, LLVM_UNROLL_FULL, LLVM_UNROLL, LLVM_PARTS } LlvmPart;

typedef struct Cg {
  Cx *cx;
  const CgRequest *request;
  CgOptions options; /* the request's, with those that they imply (compile.c) */
  const Target *target;
  void *target_state; /* the target's own, in the arena */
  /* the passes to dump, or NULL: names and letters, separated by commas; and the letters alone */
  const char *dump, *dump_letters;
  const char *skip;                     /* names of passes to skip, or NULL */
  bool verifies;                        /* after each pass */
  bool keeps_guards;                    /* LLVM's passes leave slow operations guarded */
  VEC(PassTime) times;                  /* in the order in which they began */
  Fn *lifted;                           /* lift: the kernel, until typing asks for it */
  VEC(const FrozenFunc *) lifted_funcs; /* those whose text is in lifted_text */
  Buf lifted_text;
  Program *program;   /* infer */
  const char *name;   /* of the kernel: letters, digits, _ */
  const char *symbol; /* in the module: the name, on the host with a suffix */
  CgKernel *out;      /* being filled; malloc'd members, freed by cg_kernel_free */

  LLVMContextRef context; /* owned, NULL once the host's JIT has taken it */
  LLVMModuleRef module;   /* owned, NULL once taken */
  /* owned; with a machine_key it is left to the next compilation (machines.h) */
  LLVMTargetMachineRef machine;
  const char *machine_key;
  LLVMTargetDataRef layout;
  LLVMBuilderRef builder;
  CgTypes t;
  const struct Params *params; /* what the kernel's parameter block holds (ssa/params.h) */
  LLVMValueRef *functions;     /* one for each of Program.fns, NULL for a kernel */
  struct CallPaths *paths;     /* lower/paths.c */
  uint32_t ntexts;
  DebugInfo *debug;             /* NULL without line information */
  LLVMMetadataRef coarse_scope; /* with line information: the scope of the coarsened entry */
  LLVMValueRef kernel;          /* on NVPTX the kernel, on the host what the runtime calls */

  uint32_t static_shared, local_bytes, constant_bytes; /* bytes so far */
  bool uses_dynamic_shared, has_barrier, has_trap, may_print;
  bool shows_stores; /* asynchronous operations read what threads store in shared memory */
  bool meets_apart;  /* threads meet at more than plain barriers, or copies arrive for them */
  bool bulk_stores;  /* GPU: copies that read shared memory may be under way at the kernel's end */
  bool bulk_loads;   /* … that write it; so they may while threads still read it */
  bool has_numbers;  /* code of others may reach arrays by their addresses as numbers */
  const IrSite *too_deep; /* RecursionError's, if there are recursive functions and traps */
  bool meets_grid;        /* has the grid's barrier */
  LlvmPart llvm_parts;    /* how many have run */
  bool had_calls;         /* of functions with a body, when the first of them began */
  bool alternates;        /* loops are unrolled since something in them comes back */
  uint32_t whole_code;    /* instructions of loops that were unrolled for local arrays */
  const char *code;       /* NVPTX: the output of LLVM's code generator, in the arena */
  size_t code_len;
  bool broken;           /* LLVM had a fatal error: its objects are leaked */
  const char *complaint; /* LLVM's first error diagnostic, NULL if none */
  uint32_t stack_bytes;  /* the frames of all functions with cg_report_frame in emitted code */
} Cg;

/* Initialises the targets (once a process) and creates context, module, machine and types. cg_close
 * undoes it, also for a Cg that was opened in part. In between LLVM's errors in this thread become
 * fail(ERR_LLVM). */
void cg_open(Cg *cg);
/* The same, with a module that is read from bitcode. */
void cg_open_bitcode(Cg *cg, const char *bytes, size_t n);
void cg_close(Cg *cg);
/* Releases the machine before cg_close. */
void cg_close_machine(Cg *cg);
/* Only the first part of cg_open: the targets, and the handling of this thread's LLVM errors. */
void cg_start_llvm(Cg *cg);
/* Runs body(cg). -1 if it fails, with the reason in cg->cx->diag. In compile.c, which has the one
 * CX_TRY. */
int cg_guarded(Cg *cg, void (*body)(Cg *));

/* What an atomic operation with operand v stores if the element is `old`; NULL for operations that
 * are not known (lower/atomic.c). */
LLVMValueRef cg_atomic_result(LLVMBuilderRef b, LLVMAtomicRMWBinOp op, LLVMValueRef old,
                              LLVMValueRef v);

/* --- helpers that every file of the room uses --- */
/* A copy in malloc'd memory for CgKernel; fails with ERR_MEMORY. */
char *cg_strndup(Cg *cg, const char *s, size_t n);
void *cg_calloc(Cg *cg, size_t n, size_t size);
/* fail(ERR_LLVM) if e is an error; takes ownership of e. */
void cg_check(Cg *cg, LLVMErrorRef e);
/* fail(ERR_LLVM) if LLVM has reported an error through the context. */
void cg_check_complaint(Cg *cg);
/* The module's text, in the arena. */
const char *cg_module_text(Cg *cg);
/* Runs an LLVM pass pipeline ("default<O3>", "function(sroa)") on the module. */
void cg_run_passes(Cg *cg, const char *pipeline);
/* The same on one function. */
void cg_run_function_passes(Cg *cg, LLVMValueRef fn, const char *pipeline);
/* The intrinsic's declaration; name without its overload suffix. A name that LLVM does not know is
 * an internal error. */
LLVMValueRef cg_intrinsic_fn(Cg *cg, const char *name, const LLVMTypeRef *overloads, unsigned n);
/* Adds an enum attribute, or one of text. */
void cg_attribute(Cg *cg, LLVMValueRef fn, LLVMAttributeIndex at, const char *name, uint64_t value);
void cg_attribute_text(Cg *cg, LLVMValueRef fn, const char *key, const char *value);
/* How often the sides of a conditional branch are taken; returns it. */
LLVMValueRef cg_branch_weights(Cg *cg, LLVMValueRef branch, uint32_t yes, uint32_t no);
/* Of a branch of which one side is hardly ever taken. */
enum { CG_OFTEN = 1 << 20 };
void cg_verify_module(Cg *cg);
/* Code generation adds the function's frame to cg->stack_bytes. */
void cg_report_frame(Cg *cg, LLVMValueRef fn);
/* Assembly or object code of the module; the caller disposes of the buffer. */
LLVMMemoryBufferRef cg_emit(Cg *cg, LLVMCodeGenFileType kind);
LLVMTypeRef cg_float_type(Cg *cg, unsigned bits);
LLVMTypeRef cg_int_type(Cg *cg, unsigned bits);

#endif
