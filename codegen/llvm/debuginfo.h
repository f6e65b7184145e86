/* Debug info: Python lines in the code. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_DEBUGINFO_H
#define PYPTX_CODEGEN_LLVM_DEBUGINFO_H

#include "codegen/llvm/cg.h"

/* Does nothing unless options ask for lines (lineinfo or debug); then the others do nothing
 * either. */
void cg_debug_open(Cg *cg);
/* What is built from now on belongs to fn, whose LLVM function is f; NULL: to nothing. */
void cg_debug_function(Cg *cg, LLVMValueRef f, const Fn *fn);
void cg_debug_at(Cg *cg, LLVMBuilderRef b, Loc loc);
void cg_debug_close(Cg *cg); /* before the module is verified */

#endif
