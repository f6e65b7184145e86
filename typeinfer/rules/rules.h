/* Rules: a function for each lifted operation and for each intrinsic, and what those share. */
#ifndef PYPTX_TYPEINFER_RULES_RULES_H
#define PYPTX_TYPEINFER_RULES_RULES_H

#include "typeinfer/ty.h"

Val ty_eval(Ty *ty, Ins *i); /* rules.c: the rule of a lifted instruction */

enum { TY_MAX_ARGS = 64 };
struct TyCall { /* a call of an intrinsic, bound to its signature */
  IntrinsicId id;
  const char *name; /* "cuda.atomic.add" */
  uint32_t n;       /* parameters; of *args: arguments */
  Val args[TY_MAX_ARGS];
  bool given[TY_MAX_ARGS];
  Val options[4]; /* keyword-only parameters behind *args, in their order; no type: not given */
  const FrozenFunc *library; /* a form of it, or a part, that is Python code; NULL */
};

/* Which overloads a function of math has in Numba's typing: of floats; of narrow integers as
 * float32s besides; pow's. */
typedef enum TyOverloads { TY_OF_FLOATS, TY_OF_NARROW, TY_OF_POW } TyOverloads;

/* The rules of intrinsics: rows that give one rule different arguments do not compile. */
#define CALL                                                         Ty *ty, const TyCall *c
#define ARG(type, value)                                             type
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) Val ty_rule_##rule;
#include "ir/intrinsics.def"
#undef I
#undef ARG
#undef CALL

/* --- shared by rules, and by the operators and methods of resolve/ --- */
/* complex_functions.c: the function of pyptx/_complex.py of that name, of numbers of z's type. */
Val ty_complex_function(Ty *ty, const char *name, const Val *z, uint32_t n);
bool ty_is_complex_call(const TyCall *c); /* all arguments are numbers, and one is complex */
/* dates.c */
/* np.datetime64(…), np.timedelta64(…) */
Val ty_make_date(Ty *ty, TypeId id, const Val *args, uint32_t n);
Val ty_date_astype(Ty *ty, Val v, Val dtype); /* of a date, or of an integer to a date */
/* all arguments are numbers or dates, and one is a date */
bool ty_is_date_call(const TyCall *c);
/* ufunc.c: np.sin(x, out) of arrays, by Python code of pyptx/_library.py. False: it is no such
 * call. */
bool ty_ufunc_into(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names,
                   Val *result);
bool ty_is_narrow(const Type *t); /* math.c: becomes float32 without loss, as Numba sees it */
Val ty_exponent(Ty *ty, Val v);   /* math.c: an integer as ldexp takes it */
/* vector.c: a call that begins with an array and an index: the array and resolved indices of a row
 * of so many bytes there. It is checked that it begins at a multiple of them, and that the array
 * has so many elements there as must be present. */
bool ty_row_of_bytes(Ty *ty, const TyCall *c, uint32_t bytes, uint32_t present, Val *args);
/* vector.c: the kernel's own memory that an array is a view of; NULL: a parameter's, or not
 * known. */
IrAlloc *ty_own_memory(const Ins *array);
/* copies.c: the element type of cuda.shared.array(n, cuda.mbarrier) */
const Type *ty_mbarrier(Ty *ty);
/* hardware.c: a shared array as the block whose rank is argument k has it */
Val ty_map_shared(Ty *ty, const TyCall *c, Val array, uint32_t k);
/* copies.c: the barrier that arguments k and k + 1 name: the array and indices; how many values, 0
 * after an error. elsewhere: or one of another block. */
uint32_t ty_read_barrier(Ty *ty, const TyCall *c, uint32_t k, bool elsewhere, Val *out);
/* copies.c: argument k: the blocks that a load goes to, as bits; 0: to this one. */
Val ty_read_multicast(Ty *ty, const TyCall *c, uint32_t k);
/* copies.c: argument k of a bulk copy, cache= or reduce=: the number of its row in ir/bulk.def from
 * 1 on, or 0; false after an error. */
bool ty_read_policy(Ty *ty, const TyCall *c, uint32_t k, Val *out);
bool ty_read_reduction(Ty *ty, const TyCall *c, uint32_t k, const Type *elem, Val *out);
/* warpgroup.c: may these be accumulators; the row and the column of a thread's element of them */
bool ty_are_accumulators(const Type *t);
Val ty_accumulator_row(Ty *ty, Val self, const Val *args, uint32_t n);
Val ty_accumulator_col(Ty *ty, Val self, const Val *args, uint32_t n);
/* builtin.c */
Val ty_round_digits(Ty *ty, Val x, int64_t n);

#endif
