/* Resolve: what Python's operations do with values of each kind, in strict operations. Operators,
 * equality, attributes, indices, iteration, calls, texts; a file for each kind of value that has
 * its own answers. The rules of the functions that kernels may call stand beside this
 * (rules/rules.h): the two call each other. */
#ifndef PYPTX_TYPEINFER_RESOLVE_RESOLVE_H
#define PYPTX_TYPEINFER_RESOLVE_RESOLVE_H

#include "ir/base/suggest.h"
#include "typeinfer/ty.h"

/* --- operators (arith.c) --- */
/* Errors: advice NULL is what operands of these types are told. */
Val ty_bad_operands(Ty *ty, Op op, Val a, Val b, const char *advice);
Val ty_whole_array(Ty *ty, Op op, Val array, Val other);
Val ty_binary(Ty *ty, Op op, Val a, Val b);
Val ty_unary(Ty *ty, Op op, Val a);
Val ty_truth(Ty *ty, Val v); /* pybool */
Val ty_not(Ty *ty, Val a);
Val ty_extend(Ty *ty, Val list, Val items); /* list or tuple with the items behind its own */

/* --- equality and identity (equal.c) --- */
Val ty_equal(Ty *ty, Op op, Val a, Val b); /* EQ, NE of anything */
Val ty_is(Ty *ty, Val a, Val b, bool negate);
Val ty_contains(Ty *ty, Val item, Val seq, bool negate);

/* --- what may be None (optional.c) --- */
/* The value of what may be None, behind a check; other values as they are. */
Val ty_given(Ty *ty, Val v);
/* v; an error if it may be None, which that use of it (a phrase) would take otherwise */
Val ty_tested(Ty *ty, Val v, const char *use);
Val ty_equal_optional(Ty *ty, Val a, Val b);
Val ty_is_none(Ty *ty, Val a, Val b, bool negate); /* `is` where one of them may be None */
Val ty_optional_truth(Ty *ty, Val v);

/* --- attributes and what is raised (object.c) --- */
Val ty_getattr(Ty *ty, Val obj, const char *name);
Val ty_setattr(Ty *ty, Val obj, const char *name, Val value);
/* On lists and the like from outside of the kernel; NULL: none. */
const char *ty_outside_advice(Val obj);
Val ty_dtype_of(Ty *ty, const Type *t, DtypeForm form); /* a type as a value */
Val ty_raise(Ty *ty, Ins *i);

/* --- methods (methods.c, array_methods.c) --- */
bool ty_is_method(Val callee);          /* array.reshape, number.conjugate, bound to their object */
const char *ty_method_name(Val callee); /* of one */
Val ty_call_method(Ty *ty, Val callee, const Val *args, uint32_t n);
/* obj.name as a function object. False: it has no such method; those it has are tried for `s`. */
bool ty_find_method(Ty *ty, Val obj, const char *name, Val *out, Suggest *s);
Val ty_weak_number(Ty *ty, Val v);              /* the Python number of a NumPy number */
Val ty_magnitude(Ty *ty, Val x);                /* the absolute value of an integer as uint64 */
Val ty_bit_count(Ty *ty, Val x, TypeId result); /* bits set in the absolute value of an integer */
Val ty_reshape(Ty *ty, Val array, const Val *args, uint32_t n); /* object.c */
Val ty_array_ravel(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_view(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_transpose(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_swapaxes(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_item(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_fill(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_flat(Ty *ty, Val array);
Val ty_array_set_flat(Ty *ty, Val array, Val value);

/* --- indices and unpacking (index.c) --- */
Val ty_getitem(Ty *ty, Val obj, Val index);
Val ty_setitem(Ty *ty, Val obj, Val index, Val value);
Val ty_unpack(Ty *ty, Val seq, uint32_t k, uint32_t n);
Val ty_unpack_ex(Ty *ty, Val seq, uint32_t k, uint32_t before, uint32_t after);
/* Resolves the indices of one element: writes array->ndim pyint values in range. False: not an
 * element index (or an error). */
bool ty_element(Ty *ty, Val array, Val index, Val *out);
bool ty_is_bytes(Val v);
Val ty_bytes_tuple(Ty *ty, Val bytes);
Val ty_len(Ty *ty, Val v);

/* --- assignment to views (assign.c) --- */
Val ty_assign(Ty *ty, Val target, Val value); /* to all elements of a view */
/* target op= value, element by element; gives the target */
Val ty_change(Ty *ty, Op op, Val target, Val value);
/* NumPy's casting="same_kind": the kinds may grow, not shrink */
bool ty_same_kind(const Type *from, const Type *to);
void ty_lower_assigns(Ty *ty); /* OP_ASSIGN to loops; types are final */

/* --- iteration (iter.c, range.c) --- */
Val ty_iter(Ty *ty, Val v);
Val ty_iter_start(Ty *ty, Val seq);
Val ty_iter_more(Ty *ty, Val seq, Val state);
Val ty_iter_item(Ty *ty, Val seq, Val state);
Val ty_iter_step(Ty *ty, Val seq, Val state);
Val ty_reversed(Ty *ty, Val seq);
Val ty_range_len(Ty *ty, Val range);
Val ty_sequence(Ty *ty, Val v); /* what reversed() runs over; anything else as it is */
Val ty_range_item(Ty *ty, Val range, Val index);
/* Of what a loop runs over; zip() gives as many as its shortest. */
Val ty_item_count(Ty *ty, Val seq);
Val ty_range_contains(Ty *ty, Val item, Val range);

/* --- records (record.c) --- */
/* The field of an array of records or of one: a number, else a view. */
Val ty_get_field(Ty *ty, Val obj, const char *name);
Val ty_get_barriers(Ty *ty, Val a); /* the words of cuda.mbarrier, which nothing else may see */
Val ty_get_field_at(Ty *ty, Val record, uint32_t k); /* of one record */
Val ty_set_field(Ty *ty, Val obj, const char *name, Val value);
Val ty_set_field_at(Ty *ty, Val record, uint32_t k, Val value);
/* obj[index] of a record: the number of the field; UINT32_MAX after an error. */
uint32_t ty_field_number(Ty *ty, Val record, Val index);
Val ty_record_items(Ty *ty, Val record);             /* a tuple of the fields as they are now */
Val ty_assign_record(Ty *ty, Val target, Val value); /* field by field, by position */

/* --- named tuples (named_tuple.c), Enums (enum.c) --- */
Val ty_call_named(Ty *ty, const Frozen *class, const Val *args, uint32_t n, const Frozen *names);
/* x._replace of a named tuple, a bound method. */
bool ty_is_replace(Val callee);
Val ty_call_replace(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names);
/* A field, or what named tuples have beside their fields. */
Val ty_named_attribute(Ty *ty, Val obj, const char *name);
Val ty_equal_members(Ty *ty, Val a, Val b, bool negate); /* of one class */
Val ty_enum_attribute(Ty *ty, Val member, const char *name);
Val ty_enum_members(Ty *ty, const Frozen *class);

/* --- texts (text.c) --- */
/* cuda.threadIdx and its like, which have .x, .y and .z */
bool ty_is_position(Val v);
Val ty_make_str(Ty *ty, Ins *i);
Val ty_format(Ty *ty, Ins *i);
/* A text with holes: the parts of print, f-strings and messages. Values are appended to out. */
typedef struct TyText {
  Buf format;                /* {} for each value, {0} or {0:f} in messages; braces doubled */
  bool numbered;             /* a message */
  const FrozenFunc *library; /* format_int of pyptx/_library.py; NULL: not there */
  uint32_t n;
  Val values[64];
} TyText;
/* as str(), repr() or ascii() has it */
typedef enum TyQuoting { TY_STR_OF, TY_REPR_OF, TY_ASCII_OF } TyQuoting;
Val ty_text_arg(Ty *ty, Ins *i, uint32_t k); /* an operand that becomes text */
/* False after an error in typing. */
bool ty_text_add(Ty *ty, TyText *t, Val v, TyQuoting quoting, int depth);
bool ty_is_fstring(Val v); /* known by its parts only */

/* --- calls (call.c) --- */
Val ty_call(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names);
Val ty_call_library(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n,
                    const Frozen *names);
Val ty_call_star(Ty *ty, Ins *i);
Val ty_call_intrinsic(Ty *ty, IntrinsicId id, const Val *args, uint32_t n, const Frozen *names);
Val ty_convert(Ty *ty, TypeId to, const Val *args, uint32_t n); /* int(x), np.float32(x) … */
Val ty_make_func(Ty *ty, Ins *i);
bool ty_is_capture(const Frozen *f, uint32_t *k); /* stands for captured value k in a closure */
/* Says that argument k is of the wrong type: `want` is a phrase. */
Val ty_argument_type(Ty *ty, const TyCall *c, uint32_t k, const char *want);
#define TY_CONSUMED "something to loop over" /* what sum, any, all, min and max take */

/* --- functions with signatures (declared.c) --- */
Val ty_call_declared(Ty *ty, const Frozen *f, const Val *args, uint32_t n, const Frozen *names);
/* The arguments of a function with signatures, converted in place to the one that they fit best,
 * whose result goes to *result (NULL: none is named). False after an error. */
bool ty_as_declared(Ty *ty, const FrozenFunc *func, Val *args, uint32_t n, const Type **result);
Val ty_result_as_declared(Ty *ty, const FrozenFunc *func, Val v, const Type *result);

/* --- generator expressions (generator.c) --- */
Val ty_generator(Ty *ty, Val callee, Val iterable);
/* start: of a sum, or the result for no items; key: if CONSUME_KEYED */
Val ty_consume(Ty *ty, Val generator, Consumer consumer, Val start, Val key);
/* What it makes of one item of what it runs over: such an item gives exactly one. */
Val ty_consume_one(Ty *ty, Val generator, Val item);
/* ty_consume of what a loop runs over; items is (x for x in …) as a function, from
 * pyptx/_library.py. */
bool ty_can_consume(Val v);
Val ty_consume_items(Ty *ty, const FrozenFunc *items, Val iterable, Consumer consumer, Val start,
                     Val key);

#endif
