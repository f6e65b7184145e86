/* Copy: copies of instructions and of regions of blocks; instructions moved, or erased. Private to
 * this room, and the only place that clones instructions. */
#ifndef PYPTX_CODEGEN_LLVM_COPY_H
#define PYPTX_CODEGEN_LLVM_COPY_H

#include "codegen/llvm/graph.h"

/* A copy at the builder's position, without a name. operands: one for each; NULL keeps the
 * original's. */
LLVMValueRef copy_ins(LLVMBuilderRef b, LLVMValueRef i, const LLVMValueRef *operands);

/* Takes the flags of an operation on integers or addresses back: what they promise holds where the
 * original runs, and need not hold elsewhere. */
void copy_forget_flags(LLVMValueRef i);

/* Replaces i, which has two operands, by the same that may not be contracted: LLVM can only add
 * flags to an instruction. */
void copy_without_contraction(LLVMBuilderRef b, LLVMValueRef i);

/* Is v this instruction, or one of its block behind it? */
bool copy_is_behind(LLVMValueRef front, LLVMValueRef v);
/* Moves v, and what it is computed of, in front of an instruction of its block, where it is behind.
 * It keeps its line. */
void copy_move_front(LLVMBuilderRef b, LLVMValueRef front, LLVMValueRef v);

/* Erases v, of up to two operands, if it has no uses, and then its operands likewise. */
void copy_erase_unused(LLVMValueRef v);

typedef struct RegionCopy {
  Cg *cg;
  ValueMap number; /* of originals, instructions and blocks: index into `now` */
  VEC(LLVMValueRef) now;
} RegionCopy;

/* Copies the blocks, inserted before `before`. References among the blocks become references among
 * the copies, all others stay. Phis of blocks outside the region get no entries for the new edges:
 * that is the caller's task. */
RegionCopy copy_region(Cg *cg, const LLVMBasicBlockRef *blocks, uint32_t n,
                       LLVMBasicBlockRef before, const char *name);
/* Adds all attributes of a function, its result and its parameters. */
void copy_attributes(Arena *arena, LLVMValueRef from, LLVMValueRef to);
/* A function of the same type, attributes and body, with internal linkage; *copy: of what. Its
 * parameters take the place of f's. f has no debug information. The builder is left elsewhere. */
LLVMValueRef copy_function(Cg *cg, LLVMValueRef f, const char *name, RegionCopy *copy);
/* The same of a type with more parameters behind them. */
LLVMValueRef copy_function_as(Cg *cg, LLVMValueRef f, LLVMTypeRef type, const char *name,
                              RegionCopy *copy);
/* The copy of an instruction or block; what was not copied is returned as it is. */
LLVMValueRef copy_of(const RegionCopy *r, LLVMValueRef old);
LLVMBasicBlockRef copy_of_block(const RegionCopy *r, LLVMBasicBlockRef old);
/* The phis of blocks behind those that were copied get what the copies come with. */
void copy_join_exits(const RegionCopy *r, const LLVMBasicBlockRef *blocks, uint32_t n);

#endif
