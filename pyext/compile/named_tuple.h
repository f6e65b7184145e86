/* Named: the classes of named tuples by number, for tokens of signatures. Number 0 is the plain
 * tuple.
 *
 * Two classes of one name with the same fields are one: all that a kernel sees of them. The table
 * holds texts, not the classes. */
#ifndef PYPTX_PYEXT_COMPILE_NAMED_TUPLE_H
#define PYPTX_PYEXT_COMPILE_NAMED_TUPLE_H

#include "pyext/state.h"

enum { PX_NO_NAMES = 0, PX_MAX_NAMED = (1 << 16) - 1 };

/* The number of a tuple's class; -1 with an exception. */
int px_named_of(PxState *st, PyObject *tuple);
/* The same by texts; names: n of them, UTF-8. */
int px_named_by_text(PxState *st, const char *title, const char *const *names, uint32_t n);
/* Of a number > 0: the name of the class and its fields, borrowed. */
PyObject *px_named_title(PxState *st, uint32_t number);
PyObject *px_named_field(PxState *st, uint32_t number, uint32_t k);
/* The fields of a named tuple class: a new tuple of str, or NULL; no exception is left. class: any
 * type. */
PyObject *px_named_fields(PxState *st, PyObject *class);

/* --- Enums: types of members that are no numbers, by number from 0 */

/* Is it a class made by enum.EnumType? Never raises. */
bool px_is_enum(PxState *st, PyObject *class);
/* Has the class members that are told apart by identity, not by value (Enum; not IntEnum, Flag,
 * StrEnum)? */
bool px_enum_has_identity(PxState *st, PyTypeObject *class);
/* The number of a member's type; -1 with an exception. The class is kept: a launch finds it by its
 * address. */
int px_enum_of(PxState *st, PyObject *class);
/* The number of a class that was asked for before, or -1; never raises. */
int px_enum_known(PxState *st, PyTypeObject *class);
int px_enum_by_text(PxState *st, const char *text);
PyObject *px_enum_text(PxState *st, uint32_t number); /* borrowed */

#endif
