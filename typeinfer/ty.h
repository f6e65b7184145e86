/* Ty: the inside of typing. One struct a function being typed, one a program.
 *
 * Each rule is one C function that serves both passes over a function. It computes values (Val) through the builders below:
 *   typing    (ty->emit false) builders only compute types and constants; an error makes the value bottom and is not raised, since the
 *             types may still grow
 *   emission  (ty->emit true) types are final: builders insert strict instructions before ty->at, and errors are raised
 * So what is emitted has the type that was inferred, by construction. */
#ifndef PYPTX_TYPEINFER_TY_H
#define PYPTX_TYPEINFER_TY_H

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/cx.h"
#include "typeinfer/infer.h"
#include "typeinfer/value/promote.h"

/* A value in the lattice: bottom (type NULL), a compile-time constant (konst), or any value of a type. */
typedef struct Val {
  const Type *type;
  const Frozen *konst; /* its value, if it is known; fits the type */
  Ins *ins; /* emission: the strict instruction; NULL for what has no storage or is a constant */
  Ins *src; /* the lifted instruction that it came from */
  const struct Val *
      items; /* a tuple or packed object made here: its elements, and the tuple itself is made where it is
                            * needed whole; an array of constant shape: its extents */
} Val;

#define BOTTOM ((Val){0})
static inline bool is_bottom(Val v) { return !v.type; }

/* The types that meet in a variable are those of the values that reach it, through however many phis: a phi's own type is a step on the
 * way and no type of a value. So what a variable's type is does not hang on where paths meet first. Sorted by number, each once. */
typedef struct TyMet {
  uint32_t n; /* 2 or more */
  const Type *types[];
} TyMet;

enum { TY_MEET_MAX = 32 };
typedef struct TyMeeting {
  uint32_t n;
  const Type *types[TY_MEET_MAX];
} TyMeeting;

/* What is known about a lifted instruction; in Ins.note. */
typedef struct TyInfo {
  Val v;
  const TyMet *met; /* a phi of several types: which */
  Ins *unset;       /* may be unset: the OP_UNSET that reaches it */
  bool conflict;    /* a phi of types that have no common one */
  bool varies;      /* a phi whose value was known in a loop's first turn only */
} TyInfo;

typedef enum SpecState {
  SPEC_NEW,
  SPEC_TYPING,
  SPEC_PROVISIONAL,
  SPEC_TYPED,
  SPEC_EMITTING,
  SPEC_DONE
} SpecState;

/* target[...] = value, until the loops for it are made. */
typedef struct TyAssign {
  const Ins *ins;
  const Type *target, *value;
} TyAssign;

/* A phi once more, in another type: of the values that meet in it, not of what they became there. */
typedef struct TyTwin {
  Ins *phi, *made;
  const Type *type;
} TyTwin;

/* Whether the variable of a phi is set, as a phi beside it. */
typedef struct TySetBit {
  Ins *phi, *made;
} TySetBit;

/* One function for one row of argument types. */
typedef struct TySpec {
  const FrozenFunc *func;
  uint32_t nargs; /* parameters of the lifted function, then captured values */
  Val *args;      /* type, and konst where it is part of the identity */
  Fn *fn;
  Ins **params;         /* all of them, nargs; fn's are those that are passed, once it is emitted */
  struct TyInfo *infos; /* by id of lifted instructions: ninfos */
  uint32_t ninfos;
  const Type *result;  /* NULL: not known (yet) */
  TyMeeting *returned; /* what the returns of the sweep in progress bring */
  SpecState state;
  uint32_t level; /* depth in the stack of functions being typed */
  uint32_t low;   /* lowest level of a function in progress that its result depends on */
  uint32_t round; /* of the provisional result */
  uint32_t sweeps;
  uint32_t *
      order; /* by block id: place in the order of the function; NULL outside of the first typing */
  uint32_t *horizon; /* by block id: phis join what comes from blocks up to this place */
  Block **
      first_edge; /* by block id: header of a loop that runs at least once: where its first iteration comes from; NULL */
  uint8_t *taken; /* by block id: bits of the successors that control can go to; BLOCK_REACHED */
  bool recursive, stuck;
  bool const_args;       /* typed with its arguments' values */
  bool missing;          /* a value that must be a constant is not */
  bool reads_unset;      /* a variable that some path leaves unset is zero there: it is read */
  VEC(TyAssign) assigns; /* emission */
  VEC(TyTwin) twins;     /* emission */
  VEC(TySetBit) set;     /* emission */
  struct TySpec *next;   /* of the same hash */
} TySpec;

/* A function (by code) that needs its arguments' values, not only their types. */
typedef struct TyWant {
  const Code *code;
  struct TyWant *next;
} TyWant;

/* Leaves and nesting of a packed type; limits keep recursion over types and the flattened values small. */
typedef struct TySize {
  uint16_t leaves, depth;
  bool iterator; /* is one, or holds one */
} TySize;

/* A generator expression's function, and what it is for one consumer. */
typedef struct TyVariant {
  const FrozenFunc *of, *made;
} TyVariant;

enum { BLOCK_REACHED = 4 };
enum {
  SPEC_SLOTS = 256,
  TY_MAX_CALLS = 500, /* one in the other; codegen/big_stack.c has the stack for so many */
  TY_MAX_TYPES = 50,  /* of one function, while they are typed */
  TY_MAX_SPECS = 4096,
  TY_MAX_DEPTH = 64,
  TY_MAX_TEXT = 4096
};

typedef struct TyProgram {
  Cx *cx;
  Program *program;
  TySpec *specs[SPEC_SLOTS];
  TyWant *wants;
  VEC(const Frozen *) frozen; /* canonical objects behind types */
  VEC(const Frozen *) nested; /* FZ_FUNC of nested functions */
  VEC(TyVariant) variants;    /* of generator expressions */
  VEC(TySpec *) stack;        /* being typed */
  uint32_t round;             /* of the fixpoint of recursive functions */
  uint32_t changes;           /* results that grew */
  bool kernel;                /* the first function is one: it returns nothing */
  uint32_t npassed;           /* parameters that the signature names */
  uint32_t nfns, nspecs;
  VEC(TySize) sizes; /* by Type.number: of packed types */
} TyProgram;

typedef struct Ty {
  Cx *cx;
  TyProgram *p;
  TySpec *spec;
  Fn *fn;
  bool emit;
  bool stuck; /* an error was held back in this sweep */
  Ins *at;    /* the lifted instruction being typed or rewritten */
} Ty;

static inline TyInfo *ty_info(const Ty *ty, const Ins *i) { return &ty->spec->infos[i->id]; }

/* Raises in emission; in typing the value is bottom. Arguments as for fail() behind the location. */
#define TY_FAIL(ty, ...) TY_FAIL_AT(ty, (ty)->at->loc, __VA_ARGS__)
#define TY_FAIL_AT(ty, loc, ...)                                                                   \
  ((ty)->emit ? fail((ty)->cx, (loc), __VA_ARGS__) : (void)((ty)->stuck = true), BOTTOM)
/* The same with another remedy than the row's, where `remedy` is not NULL. */
#define TY_FAIL_ADVISED(ty, remedy, ...)                                                           \
  ((ty)->emit ? advise((ty)->cx, (remedy)) : (void)0, TY_FAIL(ty, __VA_ARGS__))
#define TY_PRETTY(ty, v) ty_pretty((ty)->cx, (v).type)

/* --- operands (engine/infer.c) --- */
Val ty_arg(
    Ty *ty, Ins *i,
    uint32_t k); /* operand k of a lifted instruction; errors of unset and conflicting values */
Val ty_arg_or_none(Ty *ty, Ins *i,
                   uint32_t k); /* the same for what takes a value that may be None */
Val ty_value(Ty *ty, Ins *i);   /* the same, of a lifted instruction itself */

/* --- building (value/emit.c) --- */
const Type *ty_id(Ty *ty, TypeId id);
Val ty_op(Ty *ty, Op op, const Type *type, const Val *args,
          uint32_t n); /* bottom if an argument is */
Val ty_op_i(Ty *ty, Op op, const Type *type, int64_t aux, const Val *args, uint32_t n);
Val ty_op1(Ty *ty, Op op, const Type *type, Val a);
Val ty_op2(Ty *ty, Op op, const Type *type, Val a, Val b);
Val ty_int_op(Ty *ty, Op op, Val a, Val b);   /* of pyints, a pyint; folded where both are known */
Val ty_int_test(Ty *ty, Op op, Val a, Val b); /* the same, a comparison */
Val ty_intrinsic(Ty *ty, IntrinsicId id, const Type *type, const Val *args, uint32_t n);
Val ty_select(Ty *ty, Val cond, Val yes, Val no); /* yes and no of one type */
Val ty_make_tuple(Ty *ty, const Val *items, uint32_t n);
Val ty_make_sequence(Ty *ty, const Val *items, uint32_t n, bool list); /* or a list */
Val ty_pack(Ty *ty, const Type *type, const Val *items,
            uint32_t n);                    /* an object stored as a tuple: range, closure … */
Val ty_item(Ty *ty, Val tuple, uint32_t k); /* element of a tuple or packed object */
Val ty_extent(Ty *ty, Val array, unsigned axis); /* pyint */
void ty_flag(Val v, unsigned flags);             /* on the emitted instruction, if there is one */
Ins *ty_ins(Ty *ty, Val v); /* emission only: the instruction, made now for constants */
const Type *ty_storage(Ty *ty, const Type *t); /* the type that emitted instructions have */
bool ty_stored(const Type *t);                 /* has it any storage */
bool ty_holds_iterator(Ty *ty, const Type *t); /* is it an iterator, or is one among its parts */
uint32_t ty_parts(Ty *ty, const Type *t,
                  const Type *const **elems); /* elements of a tuple or of a packed object */
bool ty_same(Ty *ty, Val a, Val b);           /* the same point of the lattice */

/* --- constants (value/fold.c) --- */
Val ty_const(Ty *ty,
             const Frozen *f); /* any frozen object as a value; undefined names are errors */
Val ty_const_int(Ty *ty, int64_t v);
Val ty_const_float(Ty *ty, double v);
Val ty_const_bool(Ty *ty, bool v); /* pybool */
Val ty_none(Ty *ty);
Val ty_constant(Ty *ty, const Frozen *f, TypeId id); /* a number constant in the form of its type */
Val ty_scalar_const(Ty *ty, TypeId id, double v);    /* a number of that type */
bool fz_same(const Frozen *a, const Frozen *b);
bool fz_get_int(const Frozen *f,
                int64_t *out); /* an int, bool or integer scalar that fits 64 bits */
bool fz_truth(const Frozen *f, bool *out);
const Frozen *ty_fold_binary(Cx *cx, Op op, const Frozen *a,
                             const Frozen *b); /* weak numbers and strings; NULL: not folded */
const Frozen *ty_fold_unary(Cx *cx, Op op, const Frozen *a);
const Frozen *ty_fold_cast(Cx *cx, const Frozen *f, TypeId to);
const Frozen *ty_normal(Cx *cx, const Frozen *f,
                        const Type *t);       /* a number constant as codegen wants it */
bool ty_int_fits(const Frozen *f, TypeId to); /* an FZ_INT in the range of an integer type */
const Frozen *ty_canonical(TyProgram *p, const Frozen *f);
/* The type of a frozen dtype or of a frozen array's elements. */
const Type *ty_elem(Ty *ty, TypeId id, const char *record);

/* --- conversion (value/cast.c) --- */
const Type *ty_join(Ty *ty, const Type *a, const Type *b);             /* NULL: none */
const Type *ty_join_all(Ty *ty, const Type *const *types, uint32_t n); /* in no order; n > 0 */
void ty_meet_type(Ty *ty, TyMeeting *m, const Type *t);
void ty_meet_value(Ty *ty, TyMeeting *m, const TyInfo *info);
const Type *ty_meeting_type(Ty *ty, const TyMeeting *m); /* NULL: none */
/* Whether a value of one of those types may become another number of type `to` by way of type `by`. */
bool ty_loses(const TyMet *met, const Type *by, const Type *to);
const TyMet *ty_met(Ty *ty, const TyMeeting *m, const TyMet *last); /* last itself, if it is that */
bool ty_same_met(const TyMet *a, const TyMet *b);
Val ty_cast(Ty *ty, Val v,
            const Type *to); /* C's conversion; v's type must be castable (numbers; joins) */
Val ty_cast_id(Ty *ty, Val v, TypeId to);
Val ty_operand(Ty *ty, Val v,
               TypeId to);   /* weak operand to strong type: a literal out of range is an error */
Val ty_truth(Ty *ty, Val v); /* pybool */
/* Does an element of that type take such a value: a number, and no complex one for a real element; a date its own kind, or an integer. */
bool ty_can_store(const Type *value, const Type *elem);
Val ty_to_index(Ty *ty, Val v); /* an integer as pyint; other types: ERR_INDEX_TYPE */

/* --- what may be None (resolve/optional.c) --- */
bool ty_has_none(const Type *t);            /* None, or what may be it */
const Type *ty_without_none(const Type *t); /* NULL: of None */
/* ty_join_all where one of the types has None */
const Type *ty_join_none(Ty *ty, const Type *const *types, uint32_t n);
const Type *ty_map_optional(Ty *ty, const Type *t, const Type *(*map)(Ty *, const Type *));
Val ty_to_optional(Ty *ty, Val v, const Type *to); /* of None or a value */
Val ty_is_there(Ty *ty, Val v);                    /* pybool: is it no None */
Val ty_given(Ty *ty,
             Val v); /* the value of what may be None, behind a check; other values as they are */
/* v; an error if it may be None, which that use of it (a phrase) would take otherwise */
Val ty_tested(Ty *ty, Val v, const char *use);
Val ty_equal_optional(Ty *ty, Val a, Val b);
Val ty_is_none(Ty *ty, Val a, Val b, bool negate); /* `is` where one of them may be None */
Val ty_optional_truth(Ty *ty, Val v);

/* --- operators (resolve/arith.c, resolve/equal.c) --- */
/* Errors: advice NULL is what operands of these types are told. */
Val ty_bad_operands(Ty *ty, Op op, Val a, Val b, const char *advice);
Val ty_whole_array(Ty *ty, Op op, Val array, Val other);
Val ty_binary(Ty *ty, Op op, Val a, Val b);
Val ty_unary(Ty *ty, Op op, Val a);
Val ty_not(Ty *ty, Val a);
Val ty_equal(Ty *ty, Op op, Val a, Val b); /* EQ, NE of anything */
Val ty_both(Ty *ty, Op op, Val a, Val b);  /* AND, OR of two pybools, both at hand */
Val ty_is(Ty *ty, Val a, Val b, bool negate);
Val ty_contains(Ty *ty, Val item, Val seq, bool negate);
const char *ty_op_text(Op op);              /* "+" */
Val ty_extend(Ty *ty, Val list, Val items); /* list or tuple with the items behind its own */
/* Where checks are compiled in: the thread stops with that exception unless cond holds. {0} … of the message are vals. */
void ty_check(Ty *ty, Val cond, const char *exception, const char *message, const Val *vals,
              uint32_t n);

typedef struct TyCall TyCall;

/* --- complex numbers (value/complex.c): two floats under a complex type --- */
Val ty_complex(Ty *ty, const Type *t, Val re, Val im); /* of parts of t's part type */
Val ty_part(Ty *ty, Val z, uint32_t k);          /* real or imaginary part of a complex value */
Val ty_to_complex(Ty *ty, Val v, const Type *t); /* any number */
Val ty_complex_of(Ty *ty, const Type *t, Val re,
                  Val im); /* complex(re, im): numbers, complex ones too */
Val ty_complex_truth(Ty *ty, Val z);
Val ty_complex_negative(Ty *ty, Val z);
Val ty_complex_conjugate(Ty *ty, Val z);
Val ty_complex_abs(Ty *ty, Val z);
Val ty_complex_binary(Ty *ty, const TyOp *types, Val a, Val b);
Val ty_complex_multiply(Ty *ty, Val a, Val b);       /* of one type */
Val ty_complex_ordered(Ty *ty, Op op, Val a, Val b); /* of one type, by np.less and its kin */
/* rules/complex_functions.c: the function of pyptx/_complex.py of that name, of numbers of z's type. */
Val ty_complex_function(Ty *ty, const char *name, const Val *z, uint32_t n);
bool ty_is_narrow(const Type *t);         /* converts to float32 without loss, as Numba sees it */
Val ty_exponent(Ty *ty, Val v);           /* rules/math.c: an integer as ldexp takes it */
bool ty_is_complex_call(const TyCall *c); /* all arguments are numbers, and one is complex */

/* --- objects (resolve/object.c, resolve/index.c, resolve/iter.c) --- */
Val ty_getattr(Ty *ty, Val obj, const char *name);
bool ty_is_position(
    Val v); /* resolve/text.c: cuda.threadIdx and its like, which have .x, .y and .z */
bool ty_is_method(Val callee);          /* array.reshape, number.conjugate, bound to their object */
const char *ty_method_name(Val callee); /* of one */
Val ty_call_method(Ty *ty, Val callee, const Val *args, uint32_t n);
/* resolve/methods.c: obj.name as a function object. False: it has no such method; those it has are tried for `s`. */
bool ty_find_method(Ty *ty, Val obj, const char *name, Val *out, Suggest *s);
Val ty_reshape(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_size(Ty *ty, Val array);
/* resolve/array_methods.c */
Val ty_array_ravel(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_view(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_transpose(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_swapaxes(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_item(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_fill(Ty *ty, Val array, const Val *args, uint32_t n);
Val ty_array_flat(Ty *ty, Val array);
Val ty_array_set_flat(Ty *ty, Val array, Val value);
Val ty_dtype_of(Ty *ty, const Type *t, DtypeForm form); /* a type as a value */
Val ty_round_digits(Ty *ty, Val x, int64_t n);          /* rules/builtin.c */
Val ty_weak_number(Ty *ty, Val v);                      /* the Python number of a NumPy number */
Val ty_magnitude(Ty *ty, Val x);                /* the absolute value of an integer as uint64 */
Val ty_bit_count(Ty *ty, Val x, TypeId result); /* bits set in the absolute value of an integer */
Val ty_getitem(Ty *ty, Val obj, Val index);
Val ty_setitem(Ty *ty, Val obj, Val index, Val value);
Val ty_setattr(Ty *ty, Val obj, const char *name, Val value);
Val ty_assign(Ty *ty, Val target, Val value); /* resolve/assign.c: to all elements of a view */
Val ty_change(Ty *ty, Op op, Val target,
              Val value); /* target op= value, element by element; gives the target */
/* NumPy's casting="same_kind": the kinds may grow, not shrink */
bool ty_same_kind(const Type *from, const Type *to);
/* rules/ufunc.c: np.sin(x, out) of arrays, by Python code of pyptx/_library.py. False: it is no such call. */
bool ty_ufunc_into(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names,
                   Val *result);
/* --- records (resolve/record.c) --- */
static inline bool ty_has_fields(Val v) {
  return v.type && v.type->id == TY_ARRAY && v.type->elem->id == TY_RECORD;
}
static inline bool ty_is_record(Val v) { return ty_has_fields(v) && !v.type->ndim; }
/* The field of an array of records or of one: a number, else a view. */
Val ty_get_field(Ty *ty, Val obj, const char *name);
Val ty_get_field_at(Ty *ty, Val record, uint32_t k); /* of one record */
Val ty_set_field(Ty *ty, Val obj, const char *name, Val value);
Val ty_set_field_at(Ty *ty, Val record, uint32_t k, Val value);
/* obj[index] of a record: the number of the field; UINT32_MAX after an error. */
uint32_t ty_field_number(Ty *ty, Val record, Val index);
Val ty_record_items(Ty *ty, Val record);             /* a tuple of the fields as they are now */
Val ty_assign_record(Ty *ty, Val target, Val value); /* field by field, by position */
Val ty_unpack(Ty *ty, Val seq, uint32_t k, uint32_t n);
Val ty_unpack_ex(Ty *ty, Val seq, uint32_t k, uint32_t before, uint32_t after);
/* Resolves the indices of one element: writes array->ndim pyint values in range. False: not an element index (or an error). */
bool ty_element(Ty *ty, Val array, Val index, Val *out);
bool ty_is_bytes(Val v);
Val ty_bytes_tuple(Ty *ty, Val bytes);
Val ty_len(Ty *ty, Val v);
Val ty_reversed(Ty *ty, Val seq); /* resolve/range.c */
Val ty_range_len(Ty *ty, Val range);
Val ty_sequence(Ty *ty, Val v); /* what reversed() runs over; anything else as it is */
Val ty_range_item(Ty *ty, Val range, Val index);
Val ty_range_contains(Ty *ty, Val item, Val range);
/* on lists and the like from outside of the kernel; NULL: none */
const char *ty_outside_advice(Val obj);
Val ty_iter(Ty *ty, Val v);
Val ty_iter_start(Ty *ty, Val seq);
Val ty_iter_more(Ty *ty, Val seq, Val state);
Val ty_iter_item(Ty *ty, Val seq, Val state);
Val ty_iter_step(Ty *ty, Val seq, Val state);
Val ty_raise(Ty *ty, Ins *i);
Val ty_slice(Ty *ty, const Val parts[3]);
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

/* --- named tuples (resolve/named_tuple.c) --- */
Val ty_call_named(Ty *ty, const Frozen *class, const Val *args, uint32_t n, const Frozen *names);
/* x._replace of a named tuple, a bound method. */
bool ty_is_replace(Val callee);
Val ty_call_replace(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names);
/* A field, or what named tuples have beside their fields. */
Val ty_named_attribute(Ty *ty, Val obj, const char *name);

/* --- Enums (resolve/enum.c) --- */
Val ty_equal_members(Ty *ty, Val a, Val b, bool negate); /* of one class */
Val ty_enum_attribute(Ty *ty, Val member, const char *name);
Val ty_enum_members(Ty *ty, const Frozen *class);

/* --- calls (resolve/call.c, engine/spec.c) --- */
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
Val ty_call(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names);
Val ty_call_library(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n,
                    const Frozen *names);
Val ty_call_star(Ty *ty, Ins *i);
Val ty_call_intrinsic(Ty *ty, IntrinsicId id, const Val *args, uint32_t n, const Frozen *names);
Val ty_convert(Ty *ty, TypeId to, const Val *args, uint32_t n); /* int(x), np.float32(x) … */
Val ty_make_func(Ty *ty, Ins *i);
Val ty_call_func(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names);
/* resolve/declared.c: a call of a function of another module; the arguments of one with signatures, converted in place to the one that they fit
 * best, whose result goes to *result (NULL: none is named), false after an error; and what it returned, converted to that. */
Val ty_call_declared(Ty *ty, const Frozen *f, const Val *args, uint32_t n, const Frozen *names);
bool ty_as_declared(Ty *ty, const FrozenFunc *func, Val *args, uint32_t n, const Type **result);
Val ty_result_as_declared(Ty *ty, const FrozenFunc *func, Val v, const Type *result);
/* Arguments are the function's parameters (with captured values behind them), all bound. */
Val ty_call_spec(Ty *ty, const FrozenFunc *func, const Val *args, uint32_t n);
/* resolve/iterators.c: what is used up by being used; and that no value that is one, or holds one, is used twice. Before emission. */
bool ty_is_iterator(const Type *t);
void ty_check_iterators(Ty *ty);
/* resolve/generator.c */
bool ty_is_generator(Val v);
Val ty_generator(Ty *ty, Val callee, Val iterable);
/* start: of a sum, or the result for no items; key: if CONSUME_KEYED */
Val ty_consume(Ty *ty, Val generator, Consumer consumer, Val start, Val key);
/* The same of what a loop runs over; items is (x for x in …) as a function, from pyptx/_library.py. */
bool ty_can_consume(Val v);
Val ty_consume_items(Ty *ty, const FrozenFunc *items, Val iterable, Consumer consumer, Val start,
                     Val key);

const Frozen *ty_capture_marker(TyProgram *p,
                                uint32_t k); /* stands in FrozenFunc.closure for captured value k */
bool ty_is_capture(const Frozen *f, uint32_t *k);
/* Says that a value is not known; the function may be typed again with its arguments' values. */
void ty_want_values(Ty *ty);
Val ty_not_constant(Ty *ty, const char *what, const char *advice); /* NULL: the row's remedy */
#define TY_CONSUMED "something to loop over" /* what sum, any, all, min and max take */
Val ty_argument_type(Ty *ty, const TyCall *c, uint32_t k, const char *want);

/* Which overloads a function of math has in Numba's typing: of floats; of narrow integers as float32s besides; pow's. */
typedef enum TyOverloads { TY_OF_FLOATS, TY_OF_NARROW, TY_OF_POW } TyOverloads;

/* The rules of intrinsics: rows that give one rule different arguments do not compile. */
#define CALL                                                         Ty *ty, const TyCall *c
#define ARG(type, value)                                             type
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) Val ty_rule_##rule;
#include "ir/intrinsics.def"
#undef I
#undef ARG
#undef CALL

/* --- passes over a whole function --- */
Val ty_eval(Ty *ty, Ins *i);                /* rules/rules.c: the rule of a lifted instruction */
void ty_type_spec(TyProgram *p, TySpec *s); /* engine/infer.c: typing */
void ty_emit_spec(TyProgram *p,
                  TySpec *s); /* engine/rewrite.c: emission; s->fn is strict after it */
/* engine/index_wraps.c: drops needless WRAP_INDEX, sets INS_NONNEGATIVE */
void ty_drop_wraps(Cx *cx, Fn *fn);
void ty_lower_assigns(Ty *ty); /* resolve/assign.c: OP_ASSIGN to loops; types are final */
bool ty_edge_taken(const TySpec *s, const Block *from, const Block *to);
TyInfo ty_eval_phi(Ty *ty, Ins *phi);      /* engine/infer.c: the join of what reaches a phi */
void ty_add_root(TyProgram *p, TySpec *s); /* engine/spec.c */
/* engine/unset.c: fills TySpec.first_edge; before anything is rewritten */
void ty_find_first_edges(Ty *ty);
Val ty_read(Ty *ty, Ins *i); /* OP_READ */
/* A variable that a nested function captures: its value, or where it need not be set a pair of that and whether it is, whose value a
 * read of it gives (`name`: of the variable). */
Val ty_capture(Ty *ty, Ins *i);
Val ty_captured(Ty *ty, Val v, const char *name);
TySpec *ty_new_spec(TyProgram *p, const FrozenFunc *func, const Val *args,
                    uint32_t n); /* engine/spec.c */

#endif
