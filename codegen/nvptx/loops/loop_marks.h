/* Loop marks: metadata by which passes say what is to become of a loop, or what a loop was. */
#ifndef PYPTX_CODEGEN_NVPTX_LOOPS_LOOP_MARKS_H
#define PYPTX_CODEGEN_NVPTX_LOOPS_LOOP_MARKS_H

#include "codegen/llvm/cg.h"

enum { MASKED_COPIES = 8 };

/* Metadata on the back edge of a loop: LLVM unrolls it `count` times, or leaves it to
 * cg_nvptx_masked. LLVM gives what it makes of the former marks of its own: MARK_UNROLLED, and
 * MARK_REST to the loop for the iterations that are left over. */
void cg_mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count);
/* The same of a loop of some ten or twenty iterations: what LLVM makes of it has MARK_SHORT. */
void cg_mark_short_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count);
/* The same of what is left over, `most` iterations: the loop that LLVM makes may run once at most,
 * and has MARK_ONCE then. */
void cg_mark_rest_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count, unsigned most);
void cg_mark_masked(LLVMContextRef c, LLVMValueRef branch);
/* Of loops that a pass of ours has unrolled: the marks that LLVM would give them. NULL: there is no
 * such loop. */
void cg_mark_made(LLVMContextRef c, LLVMValueRef unrolled, LLVMValueRef rest, unsigned count);
/* The mark of what is left over, of so many iterations at most and at least. */
void cg_mark_left(LLVMContextRef c, LLVMValueRef branch, unsigned most, unsigned least);
/* It stays a loop as it is: LLVM, and ptxas, do not unroll it. */
void cg_mark_rolled(LLVMContextRef c, LLVMValueRef branch);
/* The same, of a loop that local_rings.c has put around one of `count` iterations, which LLVM
 * unrolls. */
void cg_mark_circles(LLVMContextRef c, LLVMValueRef branch, unsigned count);
/* LLVM unrolls it fully: by its trip count, or, if data may end it earlier, by `most` iterations
 * (0 otherwise). The second takes back all such marks that are left in the module. */
void cg_mark_whole(LLVMContextRef c, LLVMValueRef branch, unsigned most);
void cg_unmark_whole(Cg *cg);

typedef enum LoopMark {
  MARK_MASKED,
  MARK_REST,
  MARK_LEAST,
  MARK_WHOLE,
  MARK_CIRCLES,
  MARK_UNROLLED,
  MARK_ONCE,
  MARK_SHORT,
  MARK_COUNT
} LoopMark;

/* The number of a mark: how many iterations become one (COUNT: will, by LLVM), or are left at most
 * (LEAST: at least). 0 if the loop with this latch does not have it. */
unsigned cg_mark_of(const Cg *cg, LLVMBasicBlockRef latch, LoopMark mark);
/* Has the loop with this back edge any? */
bool cg_is_marked(const Cg *cg, LLVMValueRef branch);
/* Takes all metadata of the loop away. */
void cg_unmark(Cg *cg, LLVMValueRef branch);

#endif
