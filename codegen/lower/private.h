/* Lower, between its files: one function for each operation, dispatched by lower.c. Private to this
 * folder. */
#ifndef PYPTX_CODEGEN_LOWER_PRIVATE_H
#define PYPTX_CODEGEN_LOWER_PRIVATE_H

#include "codegen/lower/lower.h"

/* What lowering keeps about a Block in Block.note. */
typedef struct BlockNote {
  LLVMBasicBlockRef begin, end; /* end: the LLVM block with its terminator; NULL until lowered */
  /* the block on its second edge, or its back edge (control.c); NULL if it needs none */
  LLVMBasicBlockRef edge;
} BlockNote;

/* parameters.c */
void lw_publish_params(Cg *cg); /* copies cg->params to cg->out */
void lw_kernel_parameters(Lower *lw);
void lw_device_parameters(Lower *lw);

/* paths.c */
void lw_count_paths(Cg *cg);                         /* once has_trap is known */
bool lw_takes_path(const Cg *cg, uint32_t function); /* as its last argument */
LLVMValueRef lw_path_of_call(Lower *lw, const Ins *call);
void lw_publish_paths(Cg *cg); /* to the sites and calls of cg->out */

/* places.c: what belongs in front of the first operation of a block, and of its terminator; the
 * yield of a back edge. */
void lw_place_at(Lower *lw, const Block *b);
void lw_place_behind(Lower *lw, const Block *b);
void lw_yield(Lower *lw, const Ins *branch);

/* lower.c */
/* to: part of what is freed with the kernel, so that it is whole whatever fails. */
void lw_copy_place(Cg *cg, DiagPlace *to, DiagPlace at);

/* values.c */
void lw_constant(Lower *lw, Ins *i);
/* Undef, or zeros with Ins.aux2. Also the value of a kernel's parameter until its fields are
 * read. */
void lw_unset(Lower *lw, Ins *i);
void lw_make_tuple(Lower *lw, Ins *i);
void lw_tuple_get(Lower *lw, Ins *i);
void lw_tuple_index(Lower *lw, Ins *i);
void lw_extent(Lower *lw, Ins *i);
void lw_wrap_index(Lower *lw, Ins *i);

/* arith.c */
/* The low 32 bits of a 64-bit value; if that is an extension, its operand. */
LLVMValueRef lw_low(Lower *lw, LLVMValueRef v);
/* The 64-bit value of i, which is known to fit 32 bits, from its low 32 bits. */
LLVMValueRef lw_extended(Lower *lw, const Ins *i, LLVMValueRef v);
void lw_arithmetic(Lower *lw, Ins *i);
void lw_truediv(Lower *lw, Ins *i);
void lw_compare(Lower *lw, Ins *i);
void lw_shift(Lower *lw, Ins *i);
void lw_divide(Lower *lw, Ins *i); /* floordiv, mod */
/* The same of integers, x and y (divide.c). */
void lw_divide_integers(Lower *lw, Ins *i, LLVMValueRef x, LLVMValueRef y);
void lw_power(Lower *lw, Ins *i);
void lw_unary(Lower *lw, Ins *i); /* neg, invert, not, truth */
void lw_cast_ins(Lower *lw, Ins *i);
/* A number of type `from` as type `to`. */
LLVMValueRef lw_convert(Lower *lw, LLVMValueRef v, const Type *from, const Type *to);
LLVMValueRef lw_math(Lower *lw, const char *name, LLVMValueRef const *args, unsigned n);
LLVMValueRef lw_is_nan(Lower *lw, LLVMValueRef x);

/* half.c */
bool lw_is_narrow(const Lower *lw, LLVMTypeRef t); /* float16 or bfloat16 */
/* A 16-bit float as float; other values as they are. */
LLVMValueRef lw_widen(Lower *lw, LLVMValueRef v);
/* Widened, but only if LLVM cannot compute in v's own type. */
LLVMValueRef lw_ready(Lower *lw, LLVMValueRef v);
/* The result of an operation on widened operands, rounded to t. */
LLVMValueRef lw_fit(Lower *lw, LLVMValueRef v, LLVMTypeRef t);
LLVMValueRef lw_to_bfloat(Lower *lw, LLVMValueRef v, bool is_signed);
/* Any number as a float that rounds to 16 bits or fewer as the number itself does. */
LLVMValueRef lw_sticky(Lower *lw, LLVMValueRef v, bool is_signed);
/* float8.c; id: of the 8-bit float */
LLVMValueRef lw_float8_to_float(Lower *lw, LLVMValueRef v, TypeId id);
LLVMValueRef lw_to_float8(Lower *lw, LLVMValueRef v, bool is_signed, TypeId id); /* of any number */
LLVMValueRef lw_int_to_half(Lower *lw, LLVMValueRef v, bool is_signed);          /* of any number */
LLVMValueRef lw_half_nextafter(Lower *lw, LLVMValueRef x, LLVMValueRef y);

/* memory.c */
void lw_load(Lower *lw, Ins *i);
void lw_store(Lower *lw, Ins *i);
void lw_view(Lower *lw, Ins *i);
void lw_alloc(Lower *lw, Ins *i);
void lw_const_array(Lower *lw, Ins *i);
/* The address of constants in memory, once in a module: SSA has a constant for each use, and a copy
 * for each would not fit the constant cache of a GPU, which has 2 KB. */
LLVMValueRef lw_constant_table(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                               const char *name);
void lw_stride(Lower *lw, Ins *i);
void lw_array_address(Lower *lw, Ins *i);

/* atomic.c */
void lw_atomic(Lower *lw, Ins *i);
/* Says of what an access, or an atomic operation, became what INS_AHEAD says of that. */
void lw_mark_ahead(Lower *lw, const Ins *i, LLVMValueRef access);

/* control.c */
void lw_phi(Lower *lw, Ins *i);
void lw_finish_phis(Lower *lw);
void lw_branch(Lower *lw, Ins *i);
void lw_condbranch(Lower *lw, Ins *i);
void lw_return(Lower *lw, Ins *i);
void lw_select(Lower *lw, Ins *i);
void lw_check(Lower *lw, Ins *i);
/* The thread stops at the site unless ok holds; the builder continues where it does. */
void lw_stop_unless(Lower *lw, LLVMValueRef ok, const IrSite *site, Ins *const *values, uint32_t n);
void lw_check_index(Lower *lw, Ins *i);
void lw_raise(Lower *lw, Ins *i);
/* Do assert and raise trap, rather than only stop the thread? */
bool lw_traps_on_raise(const Cg *cg);

/* call.c */
void lw_declare(Cg *cg, Fn *fn); /* LLVM function of a device function */
void lw_call(Lower *lw, Ins *i);
void lw_call_declared(Lower *lw, Ins *i);
void lw_line(Lower *lw, Ins *i);
void lw_print(Lower *lw, Ins *i);

/* intrinsic.c */
void lw_intrinsic_ins(Lower *lw, Ins *i);

#endif
