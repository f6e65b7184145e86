/* NVPTX strided unrolling: loops whose step is known at run time, unrolled without their trip
 * count. */
#ifndef PYPTX_CODEGEN_NVPTX_LOOPS_STRIDED_UNROLL_H
#define PYPTX_CODEGEN_NVPTX_LOOPS_STRIDED_UNROLL_H

#include "codegen/llvm/cg.h"

/* A loop of one block that goes on while next, which is counter + step, is less than end. The
 * addition does not wrap around. */
typedef struct Stride {
  LLVMValueRef compare, counter, next, step, end;
  bool is_signed; /* the comparison, and what the addition does not do */
} Stride;

/* false: the loop, whose step and end must not change, has another form. */
bool cg_read_stride(LLVMBasicBlockRef block, Stride *s);
/* Is there an iteration so many behind the one with this counter? before: is there the one in front
 * of it; NULL: there is. Written where cg's builder stands. */
LLVMValueRef cg_stride_has(Cg *cg, const Stride *s, LLVMValueRef counter, unsigned behind,
                           LLVMValueRef before);

/* short_rows.c: is it made of constants, of arguments, and of registers that all threads of a block
 * read alike? */
bool cg_nvptx_same_in_block(LLVMValueRef v);
/* … and of registers that differ between threads, but for a lane's? */
bool cg_nvptx_is_of_place(LLVMValueRef v);
/* Do threads that differ in threadIdx.x alone have the same, as a warp's do where a block is at
 * least that wide? For choices of speed: what was loaded may have been stored to in between. */
bool cg_nvptx_same_along_x(LLVMValueRef v);

/* Is there a loop that is to be unrolled? */
bool cg_nvptx_has_loops_to_unroll(const Cg *cg);
/* Unrolls those whose step is known at run time, and sets the one iteration of short rows apart;
 * before LLVM's own unrolling. */
void cg_nvptx_unroll_strides(Cg *cg);
/* Unrolls one: `count` iterations at once, and a loop for what is left over, which is marked as
 * LLVM's is. most: as many iterations are there at most; 0: it is not known. false: nothing has
 * changed, since the loop has another form. */
bool cg_nvptx_unroll_stride(Cg *cg, LLVMBasicBlockRef block, unsigned count, unsigned most);

#endif
