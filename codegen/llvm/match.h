/* Match: patterns of LLVM values. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_MATCH_H
#define PYPTX_CODEGEN_LLVM_MATCH_H

#include "codegen/llvm/cg.h"

static inline bool cg_is_op(LLVMValueRef v, LLVMOpcode op) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}
static inline bool cg_is_extension(LLVMValueRef v) {
  return LLVMIsAZExtInst(v) || LLVMIsASExtInst(v);
}

/* Such an operation on floats, which may be contracted with others. */
static inline bool cg_is_contractible(LLVMValueRef v, LLVMOpcode op) {
  return cg_is_op(v, op) && LLVMGetFastMathFlags(v) & LLVMFastMathAllowContract;
}
static inline bool cg_is_contractible_sum(LLVMValueRef v) {
  return cg_is_contractible(v, LLVMFAdd) || cg_is_contractible(v, LLVMFSub);
}

/* The flags of an operation on floats but for that one. */
static inline LLVMFastMathFlags cg_flags_without_contraction(LLVMValueRef v) {
  return LLVMGetFastMathFlags(v) & ~(LLVMFastMathFlags)LLVMFastMathAllowContract;
}

/* Do both operands hold where it does: `a and b`, or `b if a else False`? */
static inline bool cg_is_both(LLVMValueRef condition) {
  return cg_is_op(condition, LLVMAnd) ||
         (cg_is_op(condition, LLVMSelect) && LLVMIsNull(LLVMGetOperand(condition, 2)));
}

/* Is it `a | b` of numbers without a common bit, their sum? */
static inline bool cg_is_disjoint_or(LLVMValueRef v) {
  return cg_is_op(v, LLVMOr) && LLVMGetIsDisjoint(v);
}

/* The comparison of b with a that says what this one of a with b does. */
static inline LLVMIntPredicate cg_swapped(LLVMIntPredicate how) {
  switch (how) {
  case LLVMIntUGT: return LLVMIntULT;
  case LLVMIntUGE: return LLVMIntULE;
  case LLVMIntULT: return LLVMIntUGT;
  case LLVMIntULE: return LLVMIntUGE;
  case LLVMIntSGT: return LLVMIntSLT;
  case LLVMIntSGE: return LLVMIntSLE;
  case LLVMIntSLT: return LLVMIntSGT;
  case LLVMIntSLE: return LLVMIntSGE;
  default: return how;
  }
}

/* The comparison that holds where this one does not. */
static inline LLVMIntPredicate cg_negated(LLVMIntPredicate how) {
  switch (how) {
  case LLVMIntEQ: return LLVMIntNE;
  case LLVMIntNE: return LLVMIntEQ;
  case LLVMIntUGT: return LLVMIntULE;
  case LLVMIntUGE: return LLVMIntULT;
  case LLVMIntULT: return LLVMIntUGE;
  case LLVMIntULE: return LLVMIntUGT;
  case LLVMIntSGT: return LLVMIntSLE;
  case LLVMIntSGE: return LLVMIntSLT;
  case LLVMIntSLT: return LLVMIntSGE;
  default: return LLVMIntSGT;
  }
}

/* How many bits the integer has; 0: it is none. */
static inline unsigned cg_int_width(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
}

/* Is v the constant n of its type, of at most 64 bits? */
static inline bool cg_is_number(LLVMValueRef v, uint64_t n) {
  unsigned bits = LLVMIsAConstantInt(v) ? cg_int_width(v) : 0;
  return bits && bits <= 64 && (LLVMConstIntGetZExtValue(v) ^ n) << (64 - bits) == 0;
}

/* Does one of both operands hold where it does: `a or b`, or `True if a else b`? */
static inline bool cg_is_either(LLVMValueRef condition) {
  return cg_is_op(condition, LLVMOr) ||
         (cg_is_op(condition, LLVMSelect) && cg_is_number(LLVMGetOperand(condition, 1), 1));
}

/* The second operand of `a and b`, or of `a or b`, in either form. */
static inline LLVMValueRef cg_second_condition(LLVMValueRef condition) {
  return LLVMGetOperand(condition, LLVMIsASelectInst(condition) && cg_is_either(condition) ? 2 : 1);
}

static inline unsigned cg_count_uses(LLVMValueRef v) {
  unsigned n = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    n++;
  return n;
}

static inline bool cg_has_one_use(LLVMValueRef v) {
  LLVMUseRef u = LLVMGetFirstUse(v);
  return u && !LLVMGetNextUse(u);
}

/* The address that it is by the indices of instructions: an array's. */
static inline LLVMValueRef cg_array_of(LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address))
    address = LLVMGetOperand(address, 0);
  return address;
}

/* The address that p lies behind by constant indices alone; *bytes: by so many. */
LLVMValueRef cg_base_of(const Cg *cg, LLVMValueRef p, int64_t *bytes);

/* v without extensions. */
static inline LLVMValueRef cg_peel(LLVMValueRef v) {
  while (cg_is_extension(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* --- the global index: blockIdx * blockDim + threadIdx --- */

typedef struct Registers {                     /* how the module reads special registers */
  int (*of)(const void *user, LLVMValueRef v); /* the SpecialReg that v is, else -1 */
  const void *user;
  /* match only sums that are nuw and nsw, which may be widened term by term */
  bool exact;
} Registers;

/* 1 + axis if v is such a sum, whose terms may be extended; else 0. */
unsigned match_global_index(const Registers *r, LLVMValueRef v);
/* Is v, a term of such sums along the axis, used in them only? */
bool match_only_in_sums(const Registers *r, LLVMValueRef v, unsigned axis);

/* How many of the lowest bits of an integer are certainly 0? Of a counter those of its start and of
 * its step. */
unsigned cg_low_zeros(LLVMValueRef v);

/* --- instructions --- */

/* A direct call of the function of that name. */
bool cg_is_call_of(LLVMValueRef i, const char *name);
/* A call of a function whose name begins so: "llvm.smin." of any type. */
bool cg_is_call_of_any(LLVMValueRef i, const char *prefix);
/* Of a load or store: neither volatile nor atomic. */
bool cg_is_plain_access(LLVMValueRef i);
/* Is it a function of its operands alone, without side effects? False for what is not known
 * here. */
bool cg_only_computes(LLVMValueRef i);
/* May it run where the kernel would not run it? An operation without effects that is defined for
 * all operands. */
bool cg_is_speculatable(LLVMValueRef i);
/* Does the comparison hold of these numbers, extended with their signs? */
bool cg_compares(LLVMIntPredicate how, int64_t a, int64_t b);
/* Is v a parameter of a GPU's kernel, and so the same in all threads? */
bool cg_is_kernel_argument(LLVMValueRef v);
/* A place to which a pass would move code: whether the value of an instruction is known there, and
 * whether one may be computed there (NULL: if it is speculatable). */
typedef struct Spot {
  bool (*has)(void *user, LLVMValueRef i), (*takes)(void *user, LLVMValueRef i);
  void *user;
} Spot;
/* Is v known there, or can be computed there by a few operations of what is? */
bool cg_is_ready(const Spot *s, LLVMValueRef v);
/* Is v a load, or made of one by a few operations? Of that block all of it, if one is given. */
bool cg_is_of_load(LLVMValueRef v, LLVMBasicBlockRef block);
/* Is it an intrinsic such as an approximate exponential: no memory, no other threads? */
bool cg_is_function_of_operands(LLVMValueRef i);
/* Metadata of a 64-bit division whose operands do not both fit 32 bits. */
#define CG_LONG_DIVISION "pyptx.long"
/* Puts it on the division, if it is one: prepare.c hides it from a test of its operands' size. */
void cg_mark_long_division(Cg *cg, LLVMValueRef division);
/* Metadata of an access: before its low half was taken, its index was one of an array of at most
 * TY_NARROW elements. */
#define CG_IN_RANGE "pyptx.in_range"
/* Metadata of a load, a store or an atomic sum: such a load may go in front of all such stores and
 * sums of its loop. LLVM has this kind for loops of which it names the parallel ones; here it names
 * none. Where LLVM's passes make one of two accesses that have it they keep it, which they do with
 * no kind of ours. */
#define CG_AHEAD "llvm.mem.parallel_loop_access"
bool cg_goes_ahead(const Cg *cg, LLVMValueRef access);
/* Metadata of a store: the number of the copy, a thread of its own, that coarsening has made of it.
 * Where nothing synchronises, stores of different copies have no order. */
#define CG_COPY "pyptx.copy"
/* Metadata of an alloca: the comment (cx_put_place) of the local array that it is. */
#define CG_PLACE "pyptx.place"
/* A division or remainder of integers. */
bool cg_is_division(LLVMValueRef i);

#endif
