/* Lower: typed SSA to LLVM IR, one function at a time. Private to this room.
 *
 * In: a typed, strict Fn. Out: an LLVM function with the meaning that semantics.md defines.
 *
 * A value of any type is its leaves (codegen/ssa/leaves.h), a flat list of LLVM values whose number
 * and types follow from the value's type alone: i1 for bools, iN, half, float, double, pointers;
 * extents and strides are i64. Phis, selects, parameters and results of device functions work leaf
 * by leaf, so the LLVM code has no aggregates. In memory a bool is one byte, 0 or 1. */
#ifndef PYPTX_CODEGEN_LOWER_LOWER_H
#define PYPTX_CODEGEN_LOWER_LOWER_H

#include "codegen/llvm/cg.h"
#include "codegen/ssa/leaves.h"
#include "codegen/target.h"

struct Lower {
  Cg *cg;
  Cx *cx;
  const Target *target;
  const CgTypes *t; /* &cg->t */
  LLVMBuilderRef b;
  Fn *fn;
  uint32_t number; /* of fn in the program */
  LLVMValueRef function;
  LLVMBasicBlockRef entry;     /* allocas are at its beginning */
  LLVMValueRef context;        /* see Target.context_type */
  LLVMValueRef path;           /* i32, paths.c; NULL: fn has one path */
  void *target_state;          /* the target's own, for this function */
  Ins *ins;                    /* the instruction that is being lowered, for messages */
  struct Divisions *divisions; /* divide.c: what the function has divided so far */
};

/* i32: what a thread that stops at the site leaves, which tells by which calls it came, too. */
LLVMValueRef lw_trap_site(Lower *lw, uint32_t site);

/* --- leaves --- */
/* The LLVM types of the leaves; returns their number. */
uint32_t lw_leaf_types(Cg *cg, const Type *t, LLVMTypeRef *out);
LLVMTypeRef lw_scalar_type(Cg *cg, TypeId id); /* in a register */
/* in memory: i8 for bools, a vector of two for complex */
LLVMTypeRef lw_memory_type(Cg *cg, TypeId id);
LLVMTypeRef lw_field_type(Cg *cg, uint32_t i); /* of field i, in the parameter block */
LLVMValueRef *lw_leaves(Lower *lw, Ins *i);    /* of an instruction that has been lowered */
LLVMValueRef lw_value(Lower *lw, Ins *i);      /* the one leaf of a real number */
/* The leaves of a complex number from its form in memory, and the reverse. */
void lw_split_complex(Lower *lw, LLVMValueRef memory, LLVMValueRef out[2]);
LLVMValueRef lw_join_complex(Lower *lw, TypeId id, LLVMValueRef const parts[2]);
void lw_set(Lower *lw, Ins *i, LLVMValueRef v);
/* The format and arguments of Target.print with C's conversions only. */
LLVMValueRef *lw_plain_print(Lower *lw, const char **format, LLVMValueRef const *args, unsigned *n);
void lw_set_leaves(Lower *lw, Ins *i, LLVMValueRef *leaves); /* in the arena; not copied */

/* Address of an element (memory.c); an index for each axis. */
LLVMValueRef lw_address(Lower *lw, Ins *array, Ins *const *indices);

/* --- small builders --- */
LLVMValueRef lw_int(Lower *lw, LLVMTypeRef t, int64_t v);
LLVMValueRef lw_i64(Lower *lw, int64_t v);
LLVMValueRef lw_i32(Lower *lw, int64_t v);
/* A new block at the end of the function; the builder stays where it is. */
LLVMBasicBlockRef lw_block(Lower *lw, const char *name);
/* Moves the builder to the end of the block. */
void lw_at(Lower *lw, LLVMBasicBlockRef block);
/* In the entry block. align 0: the type's own. */
LLVMValueRef lw_alloca(Lower *lw, LLVMTypeRef t, unsigned align, const char *name);
LLVMValueRef lw_intrinsic(Lower *lw, const char *name, const LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef const *args, unsigned nargs);
/* A call of an external function, which is declared at its first use. */
LLVMValueRef lw_call_extern(Lower *lw, const char *name, LLVMTypeRef result,
                            LLVMValueRef const *args, unsigned n);
/* A pointer to a constant string, as a generic address. */
LLVMValueRef lw_text(Lower *lw, const char *s);
/* Sets the fast-math flags of the options on a float operation; does nothing for other values. */
void lw_fast(Lower *lw, LLVMValueRef v);
/* Returns br, a conditional branch. */
LLVMValueRef lw_branch_weights(Lower *lw, LLVMValueRef br, uint32_t yes, uint32_t no);

#endif
