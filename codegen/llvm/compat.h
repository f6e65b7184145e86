/* LLVM compat: what changes from one major of LLVM to the next, and nothing else.
 * LLVM_VERSION_MAJOR is spelled in this pair only. */
#ifndef PYPTX_CODEGEN_LLVM_COMPAT_H
#define PYPTX_CODEGEN_LLVM_COMPAT_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm/Config/llvm-config.h>
#include <stdbool.h>

enum {
  CG_LLVM_PTX_KERNEL = 71, /* calling convention; llvm-c has no name for it */
  /* emission kinds that llvm-c's enum lacks or names otherwise */
  CG_LLVM_DEBUG_LINES_ONLY = 2,
  CG_LLVM_DEBUG_DIRECTIVES = 3,
};

/* The newest PTX versions that it writes, oldest first; the labels of a branch, with one successor
 * or two, in a switch over opcodes. */
#if LLVM_VERSION_MAJOR < 23
#define CG_LLVM_NEWEST_PTX 90
#define CG_CASE_BRANCH     case LLVMBr
#else
#define CG_LLVM_NEWEST_PTX 90, 91, 92, 93
#define CG_CASE_BRANCH                                                                             \
  case LLVMUncondBr:                                                                               \
  case LLVMCondBr
#endif

static inline bool cg_llvm_is_branch(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  CG_CASE_BRANCH:
    return true;
  default: return false;
  }
}

/* Names that have changed between versions of LLVM. */
extern const char cg_llvm_barrier[];         /* (i32 barrier) */
extern const char cg_llvm_barrier_red_and[]; /* (i32 barrier, i1) -> i1 */
extern const char cg_llvm_barrier_red_or[];
extern const char cg_llvm_barrier_red_popc[]; /* (i32 barrier, i1) -> i32 */

#endif
