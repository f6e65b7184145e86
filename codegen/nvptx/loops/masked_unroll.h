/* NVPTX masked unrolling: loops of few iterations that load, eight iterations at once. */
#ifndef PYPTX_CODEGEN_NVPTX_LOOPS_MASKED_UNROLL_H
#define PYPTX_CODEGEN_NVPTX_LOOPS_MASKED_UNROLL_H

#include "codegen/llvm/cg.h"

/* Rewrites the marked loops of the optimised module, or what is left over of loops that LLVM has
 * unrolled by the metadata. write false: nothing is rewritten, but those that have another form are
 * marked for LLVM's unrolling, which the caller runs; are there such? */
bool cg_nvptx_masked(Cg *cg, bool write);
bool cg_nvptx_left_over(Cg *cg, bool write);

/* unrolled_loops.c: 32-bit words that a load reads; does the block branch to itself or out of the
 * loop? */
unsigned cg_nvptx_words_of(const Cg *cg, LLVMValueRef load);
bool cg_nvptx_is_block_loop(LLVMBasicBlockRef b);
/* How many instructions an operation is, about: of 64-bit integers two, a product of them four. */
unsigned cg_nvptx_instructions_of(const Cg *cg, LLVMValueRef i);
/* Is it a long operation, or one that ptxas gives a branch to a slow path? */
bool cg_nvptx_is_expensive(LLVMValueRef i);
/* Does LLVM unroll the loop with this latch once more? It is marked then. */
bool cg_nvptx_go_on_unrolling(Cg *cg, LLVMBasicBlockRef b);
/* Has the loop with this latch MARK_ONCE, and is none now, but for what simplifycfg does to it? */
bool cg_nvptx_runs_once(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef latch);
/* After all of LLVM's unrolling: ptxas unrolls short loops, four times, unless metadata forbids it.
 * Where nothing is loaded and LLVM has unrolled four times that is good: ptxas keeps the constants
 * of all rounds in the same registers. */
void cg_nvptx_leave_to_ptxas(Cg *cg);

#endif
