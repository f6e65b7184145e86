/* Keep guards: while LLVM's passes run, slow operations stay behind the branches that guard them.
 * Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_KEEP_GUARDS_H
#define PYPTX_CODEGEN_LLVM_KEEP_GUARDS_H

#include "codegen/llvm/cg.h"

/* An IEEE root or quotient of floats, or a long division of 64-bit integers by a constant. */
bool cg_is_slow(const Cg *cg, LLVMValueRef i);
bool cg_has_slow(const Cg *cg, LLVMValueRef f); /* is one in the function? */
/* Around LLVM's passes, where Cg.keeps_guards (cg_run_passes does it). */
void cg_hold_guarded(Cg *cg);
void cg_release_guarded(Cg *cg);

#endif
