/* Lower: typed SSA to LLVM IR, one function at a time. Private to this room.
 *
 * In: a typed, strict Fn. Out: an LLVM function that does what semantics.md says.
 *
 * A value of any type is its leaves (codegen/ssa/leaves.h), a flat row of LLVM values whose number
 * the type alone gives: i1 for bools, iN, half, float, double, pointers; extents and strides are
 * i64. Phis, selects, parameters and results of device functions work leaf by leaf, so no aggregate
 * exists in the LLVM code. In memory a bool is one byte, 0 or 1. */
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
  LLVMValueRef function;
  LLVMBasicBlockRef entry; /* allocas go to its beginning */
  LLVMValueRef context;    /* see Target.context_type */
  void *target_state;      /* the target's own, of this function */
  Ins *ins;                /* being lowered: for messages */
};

/* --- leaves --- */
/* LLVM types of the leaves; returns how many. */
uint32_t lw_leaf_types(Cg *cg, const Type *t, LLVMTypeRef *out);
LLVMTypeRef lw_scalar_type(Cg *cg, TypeId id); /* in a register */
/* in memory: i8 for bools, a vector of two for complex */
LLVMTypeRef lw_memory_type(Cg *cg, TypeId id);
LLVMTypeRef lw_field_type(Cg *cg, uint32_t i); /* of field i, in the parameter block */
LLVMValueRef *lw_leaves(Lower *lw, Ins *i);    /* of a lowered instruction */
LLVMValueRef lw_value(Lower *lw, Ins *i);      /* the leaf of a number */
/* A complex number's leaves from its form in memory, and back. */
void lw_split_complex(Lower *lw, LLVMValueRef memory, LLVMValueRef out[2]);
LLVMValueRef lw_join_complex(Lower *lw, TypeId id, LLVMValueRef const parts[2]);
void lw_set(Lower *lw, Ins *i, LLVMValueRef v);
/* See Target.print: format and arguments without the conversions that are not C's. */
LLVMValueRef *lw_plain_print(Lower *lw, const char **format, LLVMValueRef const *args, unsigned *n);
void lw_set_leaves(Lower *lw, Ins *i, LLVMValueRef *leaves); /* in the arena; not copied */

/* --- small builders --- */
LLVMValueRef lw_int(Lower *lw, LLVMTypeRef t, int64_t v);
LLVMValueRef lw_i64(Lower *lw, int64_t v);
LLVMValueRef lw_i32(Lower *lw, int64_t v);
LLVMBasicBlockRef lw_block(Lower *lw,
                           const char *name);   /* appended to the function; the builder stays */
void lw_at(Lower *lw, LLVMBasicBlockRef block); /* builder to its end */
LLVMValueRef lw_alloca(Lower *lw, LLVMTypeRef t, unsigned align,
                       const char *name); /* in the entry block */
LLVMValueRef lw_intrinsic(Lower *lw, const char *name, const LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef const *args, unsigned nargs);
/* A call of an external function, declared at first use. */
LLVMValueRef lw_call_extern(Lower *lw, const char *name, LLVMTypeRef result,
                            LLVMValueRef const *args, unsigned n);
LLVMValueRef lw_text(Lower *lw, const char *s); /* pointer to a constant string, generic address */
void lw_fast(
    Lower *lw,
    LLVMValueRef
        v); /* the fast-math flags of the options, on a float operation; returns nothing on others */
LLVMValueRef lw_branch_weights(Lower *lw, LLVMValueRef br, uint32_t yes,
                               uint32_t no); /* returns br */

#endif
