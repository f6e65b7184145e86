/* Types: interned in one compilation, so equal types are equal pointers.
 *
 * In: a Cx and the parts of a type. Out: the one `const Type *` for it. Types never change once
 * made. Text form (ty_name, ty_parse): "float32", "pyint", "none", "float32[:,:]" (layout A),
 * "float32[:,::1]" (C), "float32[::1,:]" (F), "(pyint, float32[::1])" (tuple), "Point(x: float32,
 * n: pyint)" (named tuple: its class's name and fields), "enum Color(RED=1, GREEN=2)" (a member of
 * an Enum, with the values that are numbers), "datetime64[ns]", "timedelta64[25s]", "timedelta64"
 * (NumPy's dates and time spans; ir/datetime.c), a trailing '!' on an array marks 64-bit extents,
 * "CPointer(float32)" an address of such (an array of unknown extent),
 * "align2 float32[:]" elements that start at multiples of 2 only, "record(x: float32 @0, v:
 * int8[3,2] @4; 12)" a NumPy structured dtype (fields with byte offsets, then the item size; see
 * ir/record.c), "record(…)[::1]" an array of them, "record(…)[]" one. The same text is the border
 * format for signatures: `pyptx compile --sig`, the cache key, CgRequest.signature. */
#ifndef PYPTX_IR_TYPE_H
#define PYPTX_IR_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Cx;
struct Frozen;

typedef enum TypeId {
#define T(ID, name, kind, bits, weak, npy, others) TY_##ID,
#include "ir/types.def"
#undef T
  TY_SCALARS,            /* number of scalar ids; the compound ones follow */
  TY_TUPLE = TY_SCALARS, /* elems, n; names for a named tuple */
  TY_ARRAY,              /* elem, ndim, layout, space, wide, readonly */
  TY_STR,                /* a string known at compile time; frozen is its value */
  TY_SLICE,              /* elems: start, stop, step types */
  TY_RANGE,              /* weak start, stop, step: lowered as a tuple of three pyint */
  TY_ENUMERATE,          /* elems[0]: the iterable */
  TY_ZIP,                /* elems: the iterables */
  TY_REVERSED,           /* elems[0]: a sequence that is backwards already */
  TY_OPTIONAL,           /* elems: pybool, is it there; the type of what is None otherwise */
  /* frozen: FZ_FUNC or FZ_INTRINSIC or FZ_DTYPE …; elems: captured closure values' types */
  TY_FUNC,
  TY_MODULE, /* frozen: FZ_MODULE */
  TY_DTYPE,  /* frozen: FZ_DTYPE; also callable: a conversion */
  TY_OBJECT, /* frozen: any other compile-time object (exception class, Ellipsis, …) */
  /* fields, nfields, size: elem of arrays only; a record value is an array of it without axes */
  TY_RECORD,
  TY_ENUM, /* frozen: FZ_ENUM, the class; a member is stored as its number, a pyint */
  /* unit, multiple: NumPy's datetime64; stored as an int64, elements of arrays too */
  TY_DATETIME,
  TY_TIMEDELTA, /* unit, multiple: NumPy's timedelta64; likewise */
} TypeId;

typedef enum TypeKind {
  KIND_NONE,
  KIND_BOOL,
  KIND_INT,
  KIND_UINT,
  KIND_FLOAT,
  KIND_COMPLEX,
  KIND_OTHER
} TypeKind;
typedef enum DateUnit { /* coarse to fine; years and months are of no fixed length */
                        DATE_Y,
                        DATE_M,
                        DATE_W,
                        DATE_D,
                        DATE_HOUR,
                        DATE_MIN,
                        DATE_S,
                        DATE_MS,
                        DATE_US,
                        DATE_NS,
                        DATE_PS,
                        DATE_FS,
                        DATE_AS,
                        DATE_GENERIC, /* any: takes the other operand's */
                        DATE_UNITS,
} DateUnit;
typedef enum Layout { LAYOUT_C, LAYOUT_F, LAYOUT_A } Layout;
typedef enum Space {
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_LOCAL,
  SPACE_CONST,
  SPACE_CLUSTER, /* shared memory of a block of the cluster, this one or another */
  SPACE_COUNT
} Space;

enum { TY_MAX_NDIM = 16, TY_MAX_TUPLE = 4096 };

/* A field of a record: one element, or a nested array in C order. */
typedef struct RecordField {
  const char *name;
  /* of an element: a scalar, a record, or void: bytes that a kernel can copy, not read (texts) */
  const struct Type *type;
  uint32_t offset; /* bytes from the start of the record */
  uint8_t ndim;
  const int64_t *extents;
} RecordField;

/* Up to so many elements the number of an element fits an int32, and so does an index from which it
 * is at most TY_REACH away. */
enum { TY_REACH = 1024, TY_NARROW = INT32_MAX - TY_REACH };
/* What a narrow signature promises: the arguments' integers of 64 bits are -TY_SMALL - 1 to
 * TY_SMALL, and their extents at most that, as are the threads along an axis of the grid. So the
 * sum of two, and one more, fits an int32. Along an axis are at most TY_BLOCKS blocks, so that
 * blockIdx * 128 fits; only blocks of fewer than 128 threads could be more. */
enum { TY_SMALL_BITS = 30, TY_SMALL = (1 << TY_SMALL_BITS) - 1, TY_BLOCKS = 1 << 23 };

typedef struct Type {
  TypeId id;
  uint32_t number; /* order of creation, for stable dumps and tables */
  /* TY_ARRAY */
  const struct Type *elem;
  uint8_t ndim;
  uint8_t layout; /* Layout */
  uint8_t space;  /* Space */
  bool wide;      /* more than TY_NARROW elements */
  bool list;      /* TY_TUPLE: a list that is written out; equal to lists only */
  bool flat;      /* TY_ARRAY: of one axis, what .flat gives: an iterator; not in strict code */
  bool pointer;   /* TY_ARRAY: of one axis and unknown extent: CPointer(float32) */
  bool readonly;  /* stores are errors: constant memory, read-only host arrays */
  /* bytes that addresses of elements are multiples of, if fewer than the element's own (ty_align);
   * else 0 */
  uint8_t align;
  /* TY_TUPLE, TY_SLICE, TY_ENUMERATE, TY_ZIP, TY_REVERSED, TY_OPTIONAL, TY_FUNC */
  const struct Type *const *elems;
  const char *const *names; /* named tuple, vector: one a element, else NULL */
  const char *title;        /* named tuple: the name of its class */
  uint32_t n;
  /* TY_STR, TY_FUNC, TY_MODULE, TY_DTYPE, TY_OBJECT */
  const struct Frozen *frozen;
  /* TY_RECORD */
  const RecordField *fields;
  uint32_t nfields, size; /* size: bytes from one record to the next */
  /* TY_DATETIME, TY_TIMEDELTA */
  uint8_t unit;     /* DateUnit */
  int32_t multiple; /* a value counts so many units: 25 of timedelta64[25s]; 1 for generic */
  const char *text; /* ty_name's cache */
} Type;

typedef struct ScalarInfo {
  const char *name, *npy, *other_names;
  TypeKind kind;
  uint8_t bits;
  bool weak;
} ScalarInfo;

extern const ScalarInfo ty_scalar_info[TY_SCALARS];

/* The format of a float of at most 16 bits; NULL for other types. */
const struct HalfFormat *ty_half_format(TypeId id);
/* A float of 8 bits: stored, loaded and converted; typing computes in float32 (ty_op). */
static inline bool ty_is_float8(TypeId id) { return id >= TY_E4M3 && id <= TY_E8M0; }
/* NumPy has none of its own: on the host it is the dtype of that name in the package ml_dtypes. */
static inline bool ty_is_ml_dtype(TypeId id) { return id == TY_BF16 || ty_is_float8(id); }

/* --- making --- */
const Type *ty_scalar(struct Cx *cx, TypeId id);
const Type *ty_tuple(struct Cx *cx, const Type *const *elems, uint32_t n);
const Type *ty_list(struct Cx *cx, const Type *const *elems, uint32_t n);
/* The names and title are copied; the type of a named tuple without fields is that of (). */
const Type *ty_named_tuple(struct Cx *cx, const Type *const *elems, uint32_t n,
                           const char *const *names, const char *title);
/* A tuple of these types, with the names of `like`. */
const Type *ty_tuple_like(struct Cx *cx, const Type *const *elems, const Type *like);
/* and are both lists, or neither */
bool ty_same_names(const Type *a, const Type *b);
/* A vector: a tuple of n numbers of one type, 1 to 4, with the names x y z w; frozen is its
 * constructor. */
const Type *ty_vector(struct Cx *cx, const struct Frozen *constructor, const Type *elem,
                      uint32_t n);
/* Of an array with these extents; no axis of a narrow one has more than TY_NARROW either. */
bool ty_is_wide(const int64_t *extents, unsigned ndim);
/* Is it an integer of which a narrow signature promises something? */
bool ty_may_be_small(const Type *t);
/* "narrow " in front of a signature: returns what follows, *narrow says whether it was there. */
const char *ty_skip_narrow(const char *text, bool *narrow);
const Type *ty_array(struct Cx *cx, const Type *elem, unsigned ndim, Layout layout, Space space,
                     bool wide, bool readonly);
/* An array in the memory that the array `of` lies in, with its address alignment. */
const Type *ty_array_in(struct Cx *cx, const Type *of, const Type *elem, unsigned ndim,
                        Layout layout);
const Type *ty_array_flat_like(struct Cx *cx, const Type *array, bool flat);
/* The same type with elements at multiples of `align` bytes (a power of two). */
const Type *ty_array_aligned(struct Cx *cx, const Type *array, unsigned align);
/* fields are copied */
const Type *ty_record(struct Cx *cx, const RecordField *fields, uint32_t n, uint32_t size);
const Type *ty_enum(struct Cx *cx, const struct Frozen *class); /* of members of an Enum; enum.c */
const Type *ty_date(struct Cx *cx, TypeId id, DateUnit unit, int32_t multiple); /* datetime.c */
/* SLICE, RANGE, ENUMERATE, ZIP, REVERSED, OPTIONAL */
const Type *ty_list_like(struct Cx *cx, TypeId id, const Type *const *elems, uint32_t n);
const Type *ty_frozen(struct Cx *cx, TypeId id, const struct Frozen *f, const Type *const *elems,
                      uint32_t n);

/* --- asking --- */
static inline bool ty_is_scalar(const Type *t) { return t->id < TY_SCALARS && t->id > TY_NONE; }
static inline TypeKind ty_kind(const Type *t) {
  return t->id < TY_SCALARS ? ty_scalar_info[t->id].kind : KIND_OTHER;
}
static inline unsigned ty_bits(const Type *t) {
  return t->id < TY_SCALARS ? ty_scalar_info[t->id].bits : 0;
}
static inline bool ty_is_weak(const Type *t) {
  return t->id < TY_SCALARS && ty_scalar_info[t->id].weak;
}
/* bools are numbers, as in Python */
static inline bool ty_is_number(const Type *t) { return ty_is_scalar(t); }
static inline bool ty_is_date(const Type *t) {
  return t->id == TY_DATETIME || t->id == TY_TIMEDELTA;
}
/* What an array can hold as one element, and a variable as one value: a number or a date. */
static inline bool ty_is_value(const Type *t) { return ty_is_scalar(t) || ty_is_date(t); }
static inline bool ty_is_integral(const Type *t) {
  TypeKind k = ty_kind(t);
  return k >= KIND_BOOL && k <= KIND_UINT;
}
static inline bool ty_is_signed(const Type *t) { return ty_kind(t) == KIND_INT; }
static inline bool ty_is_float(const Type *t) { return ty_kind(t) == KIND_FLOAT; }
static inline bool ty_is_vector(const Type *t) { return t->id == TY_TUPLE && t->frozen; }
static inline bool ty_is_complex(const Type *t) { return ty_kind(t) == KIND_COMPLEX; }
/* The type of the two parts of a complex one. */
static inline TypeId ty_part_id(TypeId complex) {
  return complex == TY_C64 ? TY_F32 : complex == TY_C128 ? TY_F64 : TY_PYFLOAT;
}
/* bytes of one element in memory; 0 where it has no storage */
size_t ty_size(const Type *t);
unsigned ty_align(const Type *t); /* what addresses of a scalar or record are multiples of */
static inline unsigned ty_array_align(const Type *a) {
  return a->align ? a->align : ty_align(a->elem);
}
uint64_t ty_field_bytes(const RecordField *f);
const RecordField *ty_find_field(const Type *record, const char *name); /* NULL: none */
const char *ty_name(struct Cx *cx, const Type *t);                      /* text form, as above */
/* for messages: "Python int", "float32", "array(float32, 2d, C)" */
const char *ty_pretty(struct Cx *cx, const Type *t);

/* --- dates (datetime.c) --- */
/* A count of `from` times num / den is one of `to`. False: there is no such ratio (years and days,
 * into generic, more than 63 bits). */
bool ty_date_ratio(const Type *from, const Type *to, int64_t *num, int64_t *den);
/* NumPy's common type, of kind id: the largest unit that both are multiples of. NULL: none (time
 * spans of months and of days). */
const Type *ty_date_promote(struct Cx *cx, TypeId id, const Type *a, const Type *b);
/* "25s" of "timedelta64[25s]": advances *text behind it. */
bool ty_parse_unit(const char **text, DateUnit *unit, int32_t *multiple);

/* --- text in --- parses one type at *text, advances it; NULL with *error set (arena text) if it is
 * not one */
const Type *ty_parse(struct Cx *cx, const char **text, const char **error);
bool ty_is_named_text(const char *s); /* does a named tuple's type begin there, "Point(x: …" */
/* scalar by its name or one of the others; TY_SCALARS if none */
TypeId ty_by_name(const char *name, size_t n);

bool ty_is_enum_text(const char *s); /* does an Enum's type begin there, "enum Color(…" */
bool ty_is_date_text(const char *s); /* "datetime64…", "m8…" */
/* the kind of a text that is one date type and no more; TY_SCALARS for others */
TypeId ty_date_text_id(const char *s);
size_t ty_word_length(const char *s); /* of an identifier */

/* --- between type.c, record.c, enum.c and datetime.c --- */
struct Buf;
void ty_put_type(struct Cx *cx, struct Buf *b, const Type *t);
void ty_put_enum(struct Cx *cx, struct Buf *b, const Type *t);
/* behind "enum " */
const Type *ty_parse_enum(struct Cx *cx, const char **text, const char **error);
void ty_put_date(struct Buf *b, const Type *t);
void ty_put_unit(struct Buf *b, const Type *t); /* "25s"; nothing for generic */
const Type *ty_parse_date(struct Cx *cx, const char **text, const char **error);
void ty_put_record(struct Cx *cx, struct Buf *b, const Type *t);
/* behind "record" */
const Type *ty_parse_record(struct Cx *cx, const char **text, const char **error);
const Type *ty_intern(struct Cx *cx, const Type *key);

typedef struct TypeTable {
  const Type **slots;
  uint32_t cap, len;
  const Type *scalars[TY_SCALARS];
  uint32_t depth; /* of the tuple being parsed */
  const Type **enums;
  uint32_t nenums;
} TypeTable;

#endif
