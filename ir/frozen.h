/* Frozen: Python objects as plain data. Globals, closure values, defaults and constants of a kernel
 * cross the border between CPython and the core in this form, once, when a signature is first
 * compiled.
 *
 * Produced by pyext/snapshot (from live objects, under the GIL) and tests (from recorded JSON); the
 * core only reads. Everything lives in one arena that the producer owns and keeps until the
 * compilation ends. */
#ifndef PYPTX_IR_FROZEN_H
#define PYPTX_IR_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/type.h"

typedef struct Frozen Frozen;
typedef struct Code Code;
typedef struct OpTable OpTable;

typedef enum FrozenKind {
  FZ_NONE,
  FZ_ELLIPSIS,
  FZ_BOOL, /* i: 0 or 1 */
  /* i; wide if it needs uint64 (i holds its bits) or does not fit 64 bits at all (text: its
   * digits) */
  FZ_INT,
  FZ_FLOAT,   /* re */
  FZ_COMPLEX, /* re, im */
  FZ_STR,     /* text, n bytes */
  FZ_BYTES,   /* text, n bytes */
  /* items, n; for a named tuple names and text, its class's name; a frozenset constant comes as a
   * tuple too */
  FZ_TUPLE,
  FZ_SLICE,  /* items[3] (3.14 keeps constant slices) */
  FZ_SCALAR, /* a NumPy scalar: type id in `type`, value in i / re / im */
  /* a NumPy datetime64 or timedelta64: type TY_DATETIME or TY_TIMEDELTA, text: its type's, value in
   * i */
  FZ_DATE,
  /* i: DtypeForm; a scalar type object: np.float32, pyptx.float32, np.dtype('f4'), builtins
   * int/float/bool/complex; a structured one or a date: type TY_RECORD, TY_DATETIME or
   * TY_TIMEDELTA, text: ir/type.h's */
  FZ_DTYPE,
  /* i: IntrinsicId (ir/intrinsics.h); func: a form of it that is Python code, or NULL */
  FZ_INTRINSIC,
  /* text: dotted name ("pyptx.cuda", "math", "numpy", a user module); attrs for the names that are
   * used */
  FZ_MODULE,
  FZ_FUNC,  /* func */
  FZ_CODE,  /* code: constants of functions that make functions */
  FZ_ARRAY, /* array: a host NumPy array, contents copied */
  /* an array in a device's memory, by address: text its type, array->address, extents, strides */
  FZ_DEVICE_ARRAY,
  /* an Enum class: text its name; names, items, n: its members and their values; attrs: members,
   * aliases too */
  FZ_ENUM,
  /* a member of an Enum whose members are no numbers or strings: items[0] its class, i its number
   * there */
  FZ_MEMBER,
  /* a named tuple class: text its name; names, n: fields; items: defaults, i of them, of the last
   * fields */
  FZ_NAMED,
  /* a device function of another module: text its symbol, names[0] its signature with the result,
   * i: 1 for Numba's ABI, 0 for C's */
  FZ_DECLARED,
  FZ_EXCEPTION, /* text: class name; an exception class or instance */
  FZ_UNSET,     /* text: name; a global that does not exist */
  /* text: type name, or if wide its own (a function or class; i: 1 for a class); anything a kernel
   * cannot use; attrs may hold what it can */
  FZ_OPAQUE,
} FrozenKind;

/* What is equal to what, and is what, depends on which of these an FZ_DTYPE is. */
typedef enum DtypeForm {
  DTYPE_CLASS,    /* np.float32, int: the class that has its type's name */
  DTYPE_INSTANCE, /* np.dtype('f4'), x.dtype */
  DTYPE_OTHER,    /* pyptx.float32, np.longlong */
} DtypeForm;

typedef struct Binding {
  const char *name;
  const Frozen *value;
} Binding;

/* Contents become text in PTX, four bytes for one, and seconds of the driver's time: what is larger
 * is an argument, or a device array. */
#define FZ_MAX_BYTES ((size_t)64 << 20)

typedef struct FrozenArray {
  TypeId elem;        /* a scalar, or TY_RECORD, TY_DATETIME, TY_TIMEDELTA */
  const char *record; /* of the latter the type's text */
  uint8_t ndim;
  int64_t extents[TY_MAX_NDIM];
  const void *data; /* C order, contiguous; NULL: more than FZ_MAX_BYTES */
  size_t nbytes;
  /* FZ_DEVICE_ARRAY, which has no data: it keeps its memory alive as long as the compiled kernel
   * lives */
  uint64_t address;
  int64_t strides[TY_MAX_NDIM]; /* bytes */
} FrozenArray;

/* What takes all items of a generator expression; min and max may have a key, and a result for no
 * items. */
typedef enum Consumer {
  CONSUME_NONE,
  CONSUME_SUM,
  CONSUME_ANY,
  CONSUME_ALL,
  CONSUME_MIN,
  CONSUME_MAX,
  CONSUME_ONE, /* not all items: what is made of one, for `a, b = (f(x) for x in pair)` */
  CONSUME_KEYED = 8,
  CONSUME_DEFAULTED = 16
} Consumer;
#define CONSUME_KIND(c) ((Consumer)((c) & (CONSUME_KEYED - 1)))

/* A Python function: its code and what it sees. Defaults follow Python: the last ndefaults
 * positional parameters. */
typedef struct FrozenFunc {
  const Code *code;
  const char *module;
  const Binding *globals; /* the names of code->names that resolve to globals or builtins */
  uint32_t nglobals;
  const Frozen *const *closure; /* one a free variable of the code; FZ_UNSET for an empty cell */
  const Frozen *const *defaults;
  uint32_t ndefaults;
  const Binding *kwdefaults;
  uint32_t nkwdefaults;
  const struct FuncOptions *options; /* of @cuda.jit, NULL for a plain function */
  /* of a generator expression's code: what a call of it computes, of an iterable, a start value (or
   * that for no items), and a key */
  Consumer consumer;
} FrozenFunc;

typedef enum InlineMode { INLINE_AUTO, INLINE_ALWAYS, INLINE_NEVER } InlineMode;
typedef struct FuncOptions {
  bool device;
  /* multiplications and additions are not contracted, sums not reordered, whatever the
   * compilation's options */
  bool exact;
  InlineMode inlining;
  /* "int32(int32, float32[:])": what a call converts its arguments to, and its result if one is
   * named. 0: it takes them as they are */
  const char *const *signatures;
  uint32_t nsignatures;
} FuncOptions;

struct Frozen {
  FrozenKind kind;
  bool wide;
  TypeId type; /* FZ_SCALAR, FZ_DATE, FZ_DTYPE */
  int64_t i;
  double re, im;
  const char *text;
  uint32_t n;
  const Frozen *const *items;
  const char *const *names;
  const Binding *attrs;
  uint32_t nattrs;
  const FrozenFunc *func;
  const Code *code;
  const FrozenArray *array;
};

/* A code object, as data. Index spaces follow CPython: LOAD_FAST, LOAD_DEREF and friends of 3.11
 * and later index localsplus = varnames, then cell variables that are not parameters, then free
 * variables. */
struct Code {
  const char *name, *qualname, *filename;
  uint32_t flags;
  int32_t firstlineno;
  /* argcount includes positional-only, as in CPython */
  uint32_t argcount, posonlyargcount, kwonlyargcount;
  uint32_t nlocals, stacksize;
  const char *const *localsplus;
  uint32_t nlocalsplus, ncells, nfrees; /* the last nfrees of localsplus are free variables */
  const char *const *names;
  uint32_t nnames;
  const Frozen *const *consts;
  uint32_t nconsts;
  const uint8_t *bytes, *linetable, *exceptiontable;
  uint32_t nbytes, nlinetable, nexceptiontable;
  const OpTable *ops; /* frontend/snapshot.h: the version's opcode numbers */
  /* the function's source text from firstlineno on, or NULL: for messages only */
  const char *source;
};

enum {
  CODE_VARARGS = 0x04,
  CODE_VARKEYWORDS = 0x08,
  CODE_GENERATOR = 0x20,
  CODE_COROUTINE = 0x80,
  CODE_ASYNC_GENERATOR = 0x200
};

bool code_is_genexpr(const Code *code); /* of (x for x in y), not of a function that yields */

/* The attribute of a frozen object under that name, or NULL. */
const Frozen *fz_attr(const Frozen *f, const char *name);
const Binding *fz_find(const Binding *b, uint32_t n, const char *name);
bool fz_same(const Frozen *a, const Frozen *b); /* one value of one type; either may be NULL */
/* An int, bool or integer scalar that fits 64 bits. False: it is none, or f is NULL. */
bool fz_get_int(const Frozen *f, int64_t *out);
/* Is it a function of pyptx itself (cuda.coop, cuda.random, …), which needs no advice? */
bool fz_is_ours(const FrozenFunc *f);
bool fz_truth(const Frozen *f, bool *out); /* as bool(f) has it; false: not known, or f is NULL */
/* Text of the FZ_OPAQUE that stands among a MAKE_FUNC's operands before the defaults of
 * keyword-only parameters: its items are their names. */
extern const char fz_keywords_mark[];
extern const char fz_no_digits[]; /* text of an FZ_INT so large that its digits are not kept */
/* Short text for messages and dumps: 3, 1.5, 'fast', (1, 2), <function helper>, <module numpy>. */
struct Cx;
const char *fz_text(struct Cx *cx, const Frozen *f);

#endif
