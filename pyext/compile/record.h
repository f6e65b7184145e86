/* Record: NumPy's structured dtypes, and those of dates with a unit, as element types of kernels.
 *
 * Elements are numbers, so that tokens (signature.h) compare with memcmp: a scalar's TypeId, or
 * PX_RECORD_ELEM + k for the k-th such type that this module has met. They are told apart by their
 * text (ir/type.h): equal dtypes are one element. */
#ifndef PYPTX_PYEXT_COMPILE_RECORD_H
#define PYPTX_PYEXT_COMPILE_RECORD_H

#include "pyext/state.h"

typedef uint32_t PxElem;

enum { PX_RECORD_ELEM = 256, PX_NO_ELEM = 0xffff, PX_MAX_RECORDS = PX_NO_ELEM - PX_RECORD_ELEM };

typedef struct PxRecord { /* never changes, never freed before the module */
  char *text;             /* "record(x: float32 @0; 4)", "datetime64[ns]" */
  PyObject *dtype;
  TypeId id; /* TY_RECORD, TY_DATETIME, TY_TIMEDELTA */
  uint32_t size, align;
} PxRecord;

static inline bool px_elem_is_listed(PxElem e) { return e >= PX_RECORD_ELEM && e != PX_NO_ELEM; }
static inline TypeId px_elem_id(PxState *st, PxElem e) {
  return px_elem_is_listed(e) ? st->records[e - PX_RECORD_ELEM]->id : (TypeId)e;
}
/* The element type of a NumPy dtype object (borrowed); PX_NO_ELEM if kernels cannot have it. Never
 * raises. */
PxElem px_elem_of_dtype(PxState *st, PyObject *dtype);
/* Of a record's or a date's text. PX_NO_ELEM with an exception. */
PxElem px_elem_of_text(PxState *st, const char *text);
const char *px_elem_text(PxState *st, PxElem e);
unsigned px_elem_align(PxState *st, PxElem e);
size_t px_elem_size(PxState *st, PxElem e);
/* A new reference, or NULL with TypeError. */
PyObject *px_elem_dtype(PxState *st, PxElem e);
/* TypeError: who is an array of a dtype that kernels cannot have, and why. */
void px_refuse_dtype(PxState *st, const char *who, PyObject *dtype);
void px_records_free(PxState *st);

#endif
