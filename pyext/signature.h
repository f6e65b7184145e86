/* Signature: the types of a launch's arguments as a vector of tokens, which compare with memcmp, and as text (ir/type.h).
 *
 * One token a scalar or array, depth first; a tuple is a token with its length, then its items' tokens. */
#ifndef PYPTX_PYEXT_SIGNATURE_H
#define PYPTX_PYEXT_SIGNATURE_H

#include "pyext/state.h"

typedef uint32_t PxToken;

enum {
  PX_ARRAY_TOKEN = 1 << 30, /* | elem | ndim << 8 | layout << 16 | wide << 18 */
  PX_TUPLE_TOKEN = 1 << 29, /* | number of items */
};

static inline PxToken px_array_token(TypeId elem, unsigned ndim, Layout layout, bool wide) {
  return PX_ARRAY_TOKEN | (PxToken)elem | ndim << 8 | (PxToken)layout << 16 | (PxToken)wide << 18;
}
static inline bool px_token_is_array(PxToken t) { return t & PX_ARRAY_TOKEN; }
static inline bool px_token_is_tuple(PxToken t) {
  return !px_token_is_array(t) && t & PX_TUPLE_TOKEN;
}
static inline uint32_t px_token_items(PxToken t) { return t & (PX_TUPLE_TOKEN - 1); }
static inline TypeId px_token_elem(PxToken t) { return (TypeId)(t & 0xff); }
static inline unsigned px_token_ndim(PxToken t) { return t >> 8 & 0xff; }
static inline Layout px_token_layout(PxToken t) { return (Layout)(t >> 16 & 3); }
static inline bool px_token_wide(PxToken t) { return t >> 18 & 1; }

/* Layout and token of an array that lies at these strides (bytes). Axes of extent 1 may have any stride; an empty array is C. */
PxToken px_token_of_layout(TypeId elem, unsigned ndim, size_t itemsize, const int64_t *shape,
                           const int64_t *strides);

typedef struct PxSignature {
  PxToken *tokens; /* PyMem */
  uint32_t n, nargs;
  bool returns; /* a type that is not void stands before the brackets */
} PxSignature;

void px_signature_clear(PxSignature *s);
/* "void(float32[:], int32)", "(float32[:], int32)" or "float32[:], int32". 0, or -1 with an exception (CompileValueError, PT219). */
int px_signature_parse(PxState *st, const char *text, PxSignature *out);
/* What users write: such a text, a signature object, or a tuple or list of types, texts and NumPy dtypes. */
int px_signature_argument(PxState *st, PyObject *arg, PxSignature *out);
/* "(float32[::1], pyint)": a new str. */
PyObject *px_signature_text(const PxToken *tokens, uint32_t n);
/* Number of tokens of the argument that starts here. */
uint32_t px_token_span(const PxToken *t);
/* A tuple of Type objects, one an argument. */
PyObject *px_signature_types(PxState *st, const PxToken *tokens, uint32_t n);

/* Can arguments of type `from` be passed to a kernel compiled for `to`? -1: no; else the price of it, 0 for the same types. */
int px_signature_price(const PxToken *from, uint32_t nfrom, const PxToken *to, uint32_t nto);

#endif
