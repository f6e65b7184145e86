/* Signature: the types of a launch's arguments as a vector of tokens, which compare with memcmp,
 * and as text (ir/type.h).
 *
 * One token a scalar or array, depth first; a tuple is a token with its length and class, then its
 * items' tokens. */
#ifndef PYPTX_PYEXT_COMPILE_SIGNATURE_H
#define PYPTX_PYEXT_COMPILE_SIGNATURE_H

#include "pyext/compile/record.h"

typedef uint32_t PxToken;

enum {
  PX_ARRAY_TOKEN = 1 << 30, /* | elem | ndim << 16 | layout << 21 | wide << 23 | align << 24 */
  /* | number of items | number of the named tuple's class (named_tuple.h) << 13 */
  PX_TUPLE_TOKEN = 1 << 29,
  PX_NAMED_SHIFT = 13,
  PX_POINTER_TOKEN = 1 << 27, /* with PX_ARRAY_TOKEN, of a parameter: CPointer(float32) */
  PX_ENUM_TOKEN = 1 << 28,    /* | number of the Enum's type (named_tuple.h) */
  /* with PX_ARRAY_TOKEN, of an argument, not of a signature: it has an axis beyond TY_SMALL */
  PX_LONG_TOKEN = 1 << 28,
};
/* Set in the first token: the signature is narrow, which means that every integer of 64 bits among
 * the arguments, every extent and the threads along each axis fit 31 bits (TY_SMALL), and that an
 * axis has at most TY_BLOCKS blocks. Its text begins with "narrow". */
#define PX_NARROW_TOKEN ((PxToken)1 << 31)

/* align: 0 for the element's own, else bytes (a power of two, at most 8), as Type.align. */
static inline PxToken px_array_token(PxElem elem, unsigned ndim, Layout layout, bool wide,
                                     unsigned align) {
  return PX_ARRAY_TOKEN | elem | ndim << 16 | (PxToken)layout << 21 | (PxToken)wide << 23 |
         (PxToken)(align ? __builtin_ctz(align) + 1 : 0) << 24;
}
static inline bool px_token_is_array(PxToken t) { return t & PX_ARRAY_TOKEN; }
static inline bool px_token_is_pointer(PxToken t) {
  return px_token_is_array(t) && t & PX_POINTER_TOKEN;
}
/* What stands for an address, in messages. */
#define PX_ADDRESSES                                                                                \
  "d.device_ctypes_pointer.value of a device array, or x.ctypes.data of a NumPy array on the host " \
  "device"
static inline bool px_token_is_tuple(PxToken t) {
  return !px_token_is_array(t) && t & PX_TUPLE_TOKEN;
}
static inline bool px_token_is_enum(PxToken t) {
  return !(t & (PX_ARRAY_TOKEN | PX_TUPLE_TOKEN)) && t & PX_ENUM_TOKEN;
}
static inline uint32_t px_token_items(PxToken t) { return t & ((1u << PX_NAMED_SHIFT) - 1); }
static inline uint32_t px_token_named(PxToken t) {
  return (t & (PX_TUPLE_TOKEN - 1)) >> PX_NAMED_SHIFT;
}
static inline PxElem px_token_elem(PxToken t) { return t & 0xffff; }
static inline unsigned px_token_ndim(PxToken t) { return t >> 16 & 31; }
static inline Layout px_token_layout(PxToken t) { return (Layout)(t >> 21 & 3); }
static inline bool px_token_wide(PxToken t) { return t >> 23 & 1; }
static inline bool px_token_is_long(PxToken t) { return px_token_is_array(t) && t & PX_LONG_TOKEN; }
static inline unsigned px_token_align(PxToken t) {
  return t >> 24 & 7 ? 1u << ((t >> 24 & 7) - 1) : 0;
}

typedef struct PxPlace { /* where an array's elements lie; strides in bytes */
  uint64_t address;
  unsigned ndim;
  size_t itemsize;
  const int64_t *shape, *strides;
  /* a GPU loads both parts of a complex number at once, and wants them aligned for that */
  bool on_host;
} PxPlace;

/* Axes of extent 1 may have any stride; an empty array is C. */
Layout px_layout_of(const PxPlace *p);
/* An argument's: with PX_LONG_TOKEN where that is so. */
PxToken px_token_of(PxState *st, PxElem elem, const PxPlace *p);

typedef struct PxSignature {
  PxToken *tokens; /* PyMem */
  uint32_t n, nargs;
  /* PyMem: the text of the type that stands before the brackets; NULL: none does, or void */
  char *result;
} PxSignature;

static inline bool px_is_narrow(const PxToken *tokens, uint32_t n) {
  return n && *tokens & PX_NARROW_TOKEN;
}
static inline PxToken px_token_plain(PxToken t) {
  return t & ~(PX_NARROW_TOKEN | (px_token_is_array(t) ? PX_LONG_TOKEN : 0));
}

void px_signature_clear(PxSignature *s);
/* "void(float32[:], int32)", "(float32[:], int32)" or "float32[:], int32", with "narrow " in front
 * of a narrow one. 0, or -1 with an exception (CompileValueError, PT219). */
int px_signature_parse(PxState *st, const char *text, PxSignature *out);
/* What users write: such a text, a signature object, or a tuple or list of types, texts and NumPy
 * dtypes. */
int px_signature_argument(PxState *st, PyObject *arg, PxSignature *out);
/* "(float32[::1], pyint)": a new str. */
PyObject *px_signature_text(PxState *st, const PxToken *tokens, uint32_t n);
/* The same as users write it, without a mark of the version. */
PyObject *px_signature_shown(PxState *st, const PxToken *tokens, uint32_t n);
/* A tuple of Type objects, one an argument. */
PyObject *px_signature_types(PxState *st, const PxToken *tokens, uint32_t n);

/* Can arguments of type `from` be passed to a kernel compiled for `to`? -1: no; else the price of
 * it, 0 for the same types. */
int px_signature_price(const PxToken *from, uint32_t nfrom, const PxToken *to, uint32_t nto);

#endif
