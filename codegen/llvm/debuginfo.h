/* Debug info: Python's line numbers in the code. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_DEBUGINFO_H
#define PYPTX_CODEGEN_LLVM_DEBUGINFO_H

#include "codegen/llvm/cg.h"

/* Without the options lineinfo and debug this does nothing, and neither do the others then. */
void cg_debug_open(Cg *cg);
/* Instructions built from now on belong to fn, whose LLVM function is f; f NULL: to no function. */
void cg_debug_function(Cg *cg, LLVMValueRef f, const Fn *fn);
/* Instructions that b builds from now on have this location. */
void cg_debug_at(Cg *cg, LLVMBuilderRef b, Loc loc);
void cg_debug_close(Cg *cg); /* before the module is verified */

#endif
