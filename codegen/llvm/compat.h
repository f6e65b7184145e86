/* LLVM compat: what changes from one major of LLVM to the next, and nothing else.
 * LLVM_VERSION_MAJOR is spelled in this pair only. */
#ifndef PYPTX_CODEGEN_LLVM_COMPAT_H
#define PYPTX_CODEGEN_LLVM_COMPAT_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

enum {
  CG_LLVM_PTX_KERNEL = 71, /* calling convention; llvm-c has no name for it */
  /* emission kinds that llvm-c's enum lacks or names otherwise */
  CG_LLVM_DEBUG_LINES_ONLY = 2,
  CG_LLVM_DEBUG_DIRECTIVES = 3,
};

/* Names that have changed between versions of LLVM. */
extern const char cg_llvm_barrier[];         /* (i32 barrier) */
extern const char cg_llvm_barrier_red_and[]; /* (i32 barrier, i1) -> i1 */
extern const char cg_llvm_barrier_red_or[];
extern const char cg_llvm_barrier_red_popc[]; /* (i32 barrier, i1) -> i32 */

#endif
