/* Value: the builders that rules compute with. A builder takes values and gives a value; in
 * emission it inserts the strict instructions for it before ty->at. Of a bottom it makes a bottom,
 * unless it says otherwise. Nothing here calls up: no rule, no attribute, no call. */
#ifndef PYPTX_TYPEINFER_VALUE_VALUE_H
#define PYPTX_TYPEINFER_VALUE_VALUE_H

#include "typeinfer/ty.h"
#include "typeinfer/value/promote.h"

/* --- building (emit.c) --- */
const Type *ty_id(Ty *ty, TypeId id);
Val ty_op(Ty *ty, Op op, const Type *type, const Val *args, uint32_t n);
Val ty_op_i(Ty *ty, Op op, const Type *type, int64_t aux, const Val *args, uint32_t n);
Val ty_op1(Ty *ty, Op op, const Type *type, Val a);
Val ty_op2(Ty *ty, Op op, const Type *type, Val a, Val b);
Val ty_int_op(Ty *ty, Op op, Val a, Val b);   /* of pyints, a pyint; folded where both are known */
Val ty_int_test(Ty *ty, Op op, Val a, Val b); /* the same, a comparison */
Val ty_intrinsic(Ty *ty, IntrinsicId id, const Type *type, const Val *args, uint32_t n);
Val ty_select(Ty *ty, Val cond, Val yes, Val no); /* yes and no of one type */
Val ty_both(Ty *ty, Op op, Val a, Val b);         /* AND, OR of two pybools, both at hand */
Val ty_negation(Ty *ty, Val a);                   /* not a, of a pybool */
/* Where checks are compiled in: the thread stops with that exception unless cond holds. {0} and so
 * on of the message are vals, three at most. */
void ty_check(Ty *ty, Val cond, const char *exception, const char *message, const Val *vals,
              uint32_t n);
void ty_flag(Val v, unsigned flags); /* on the emitted instruction, if there is one */
Ins *ty_ins(Ty *ty, Val v);          /* emission only: the instruction, made now for constants */

/* --- tuples and packed objects (emit.c): a range, a slice or a closure is stored as a tuple --- */
Val ty_make_tuple(Ty *ty, const Val *items, uint32_t n);
Val ty_make_sequence(Ty *ty, const Val *items, uint32_t n, bool list); /* or a list */
Val ty_pack(Ty *ty, const Type *type, const Val *items, uint32_t n);
Val ty_slice(Ty *ty, const Val parts[3]);
Val ty_item(Ty *ty, Val tuple, uint32_t k);
Val ty_extent(Ty *ty, Val array, unsigned axis); /* pyint */
const Type *ty_storage(Ty *ty, const Type *t);   /* the type that emitted instructions have */
bool ty_stored(const Type *t);                   /* has it any storage */
/* The parts of a tuple or packed object. Returns how many. */
uint32_t ty_parts(Ty *ty, const Type *t, const Type *const **elems);
bool ty_same(Ty *ty, Val a, Val b); /* the same point of the lattice */
/* Stands for the function in a generator expression's type. */
extern const Frozen ty_generator_mark;
bool ty_is_generator(Val v);
/* What is used up by being used: enumerate(), zip(), reversed(), x.flat, a generator expression. */
bool ty_is_iterator(const Type *t);
bool ty_holds_iterator(Ty *ty, const Type *t); /* is it an iterator, or is one among its parts */
static inline bool ty_has_fields(Val v) {      /* an array of records, or one record */
  return v.type && v.type->id == TY_ARRAY && v.type->elem->id == TY_RECORD;
}
static inline bool ty_is_record(Val v) { return ty_has_fields(v) && !v.type->ndim; }

/* --- constants (fold.c) --- */
/* Any frozen object as a value; undefined names are errors. */
Val ty_const(Ty *ty, const Frozen *f);
Val ty_const_int(Ty *ty, int64_t v);
Val ty_const_float(Ty *ty, double v);
Val ty_const_bool(Ty *ty, bool v); /* pybool */
Val ty_none(Ty *ty);
Val ty_constant(Ty *ty, const Frozen *f, TypeId id); /* a number constant in the form of its type */
Val ty_scalar_const(Ty *ty, TypeId id, double v);    /* a number of that type */
/* Weak numbers and strings; NULL: not folded. */
const Frozen *ty_fold_binary(Cx *cx, Op op, const Frozen *a, const Frozen *b);
const Frozen *ty_fold_unary(Cx *cx, Op op, const Frozen *a);
const Frozen *ty_fold_cast(Cx *cx, const Frozen *f, TypeId to);
/* A number constant as code generation wants it. */
const Frozen *ty_normal(Cx *cx, const Frozen *f, const Type *t);
bool ty_int_fits(const Frozen *f, TypeId to); /* an FZ_INT in the range of an integer type */
const Frozen *ty_canonical(TyProgram *p, const Frozen *f);
/* The type of a frozen dtype or of a frozen array's elements. */
const Type *ty_elem(Ty *ty, TypeId id, const char *record);
/* Says that a value is not known; the function may be typed again with its arguments' values. */
void ty_want_values(Ty *ty);
Val ty_not_constant(Ty *ty, const char *what, const char *advice); /* NULL: the row's remedy */

/* --- common types and conversion (cast.c) --- */
const Type *ty_join(Ty *ty, const Type *a, const Type *b);             /* NULL: none */
const Type *ty_join_all(Ty *ty, const Type *const *types, uint32_t n); /* in no order; n > 0 */
void ty_meet_value(Ty *ty, TyMeeting *m, const TyInfo *info);
const Type *ty_meeting_type(Ty *ty, const TyMeeting *m); /* NULL: none */
/* Whether a value of one of those types may become another number of type `to` on the way through
 * type `by`. */
bool ty_loses(const TyMet *met, const Type *by, const Type *to);
const TyMet *ty_met(Ty *ty, const TyMeeting *m, const TyMet *last); /* last itself, if it is that */
bool ty_same_met(const TyMet *a, const TyMet *b);
/* C's conversion; v's type must be castable (numbers; joins). */
Val ty_cast(Ty *ty, Val v, const Type *to);
Val ty_cast_id(Ty *ty, Val v, TypeId to);
/* A weak operand in a strong type: a literal out of range is an error. */
Val ty_operand(Ty *ty, Val v, TypeId to);
Val ty_to_index(Ty *ty, Val v); /* an integer as pyint; other types: ERR_INDEX_TYPE */
/* Of what may be None (resolve/optional.c): the same, its value's type as map() has it. */
const Type *ty_map_optional(Ty *ty, const Type *t, const Type *(*map)(Ty *, const Type *));

/* --- complex numbers (complex.c): two floats under a complex type --- */
Val ty_complex(Ty *ty, const Type *t, Val re, Val im); /* of parts of t's part type */
Val ty_part(Ty *ty, Val z, uint32_t k);          /* real or imaginary part of a complex value */
Val ty_to_complex(Ty *ty, Val v, const Type *t); /* any number */
/* complex(re, im): numbers, complex ones too */
Val ty_complex_of(Ty *ty, const Type *t, Val re, Val im);
Val ty_complex_truth(Ty *ty, Val z);
Val ty_complex_negative(Ty *ty, Val z);
Val ty_complex_conjugate(Ty *ty, Val z);
Val ty_complex_abs(Ty *ty, Val z);
Val ty_complex_binary(Ty *ty, const TyOp *types, Val a, Val b); /* but no power */
Val ty_complex_multiply(Ty *ty, Val a, Val b);                  /* of one type */
Val ty_complex_ordered(Ty *ty, Op op, Val a, Val b); /* of one type, by np.less and its kin */
/* Does an element of that type take such a value: a number, and no complex one for a real element;
 * a date its own kind, or an integer. */
bool ty_can_store(const Type *value, const Type *elem);

#endif
