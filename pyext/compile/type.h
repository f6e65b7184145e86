/* Type: pyptx.float32, float32[:, ::1], void(float32[:], int32) as Python objects: immutable, equal
 * when their text is. */
#ifndef PYPTX_PYEXT_COMPILE_TYPE_H
#define PYPTX_PYEXT_COMPILE_TYPE_H

#include "pyext/compile/record.h"

typedef struct PxType {
  PyObject_HEAD TypeId id; /* a scalar, TY_ARRAY, TY_TUPLE; TY_FUNC for a signature */
  PyObject *text; /* str, as ir/type.h writes types; a signature: "void(float32[:], int32)" */
  PyObject *weakrefs;
} PxType;

/* From canonical text, not checked. */
PyObject *px_type_new(PxState *st, PyObject *text);

/* TypeId of a NumPy dtype object (borrowed), TY_SCALARS if kernels cannot have it. Never raises. */
TypeId px_type_of_dtype(PxState *st, PyObject *dtype);
/* NumPy's dtype of a scalar type: a new reference; NULL with TypeError if there is none. bfloat16:
 * ml_dtypes' dtype, or "V2". */
PyObject *px_dtype_of_type(PxState *st, TypeId id);
/* The buffer of a NumPy array with elements of that type, as PyObject_GetBuffer; bfloat16 arrays
 * export none of their own. TypeError where its elements have another size: a subclass may say
 * anything of itself. */
int px_get_elements(PxState *st, PyObject *array, Py_buffer *view, int flags, PxElem elem);

#endif
