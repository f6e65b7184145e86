/* Scalar: numbers as memory holds them. */
#ifndef PYPTX_PYEXT_LAUNCH_SCALAR_H
#define PYPTX_PYEXT_LAUNCH_SCALAR_H

#include "ir/type.h"

typedef struct PxNumber {
  /* INT: i; UINT: i holds the bits; FLOAT: re; COMPLEX: re, im. BOOL reads as UINT */
  TypeKind kind;
  int64_t i;
  double re, im;
} PxNumber;

PxNumber px_read_number(TypeId id, const void *p);
/* Writes a number of type `from` as type `to` does: how an int32 parameter takes a Python int.
 * false if it does not fit. */
bool px_convert_scalar(TypeId from, const void *value, TypeId to, void *out);

#endif
