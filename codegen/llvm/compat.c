/* LLVM compat: see compat.h. */
#include "codegen/llvm/compat.h"

#include <llvm/Config/llvm-config.h>

#include "codegen/compile.h"

#if LLVM_VERSION_MAJOR < 22 || LLVM_VERSION_MAJOR > 23
#error "written for LLVM 22 and 23: check the names below, codegen/llvm/README.md says how"
#endif

const char cg_llvm_barrier[] = "llvm.nvvm.barrier.cta.sync.aligned.all";
const char cg_llvm_barrier_red_and[] = "llvm.nvvm.barrier.cta.red.and.aligned.all";
const char cg_llvm_barrier_red_or[] = "llvm.nvvm.barrier.cta.red.or.aligned.all";
const char cg_llvm_barrier_red_popc[] = "llvm.nvvm.barrier.cta.red.popc.aligned.all";

const char *cg_llvm_version(void) { return LLVM_VERSION_STRING; }
