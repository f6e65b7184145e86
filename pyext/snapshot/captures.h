/* Captures: the names whose meaning a kernel has frozen, and how a launch notices that one of them
 * means something else now. Globals, closure cells, and attributes of modules and of objects with a
 * dict; not the names of modules, of builtins and of C functions, which nobody gives another
 * meaning, and not what lies within pyptx and NumPy. */
#ifndef PYPTX_PYEXT_SNAPSHOT_CAPTURES_H
#define PYPTX_PYEXT_SNAPSHOT_CAPTURES_H

#include <time.h>

#include "pyext/state.h"

typedef struct PxCapture {
  PyObject *scope; /* a dict, or a cell */
  PyObject *name;  /* a str */
  PyObject *seen;  /* what the last look found; NULL: nothing */
  PyObject *code;  /* the code that it had; NULL: `seen` is no function of Python */
  PyObject *was;   /* what was frozen */
} PxCapture;

typedef struct PxCaptures {
  uint32_t n, cap;
  long tick; /* of the clock, when the names behind PX_ALWAYS were looked at last */
  PxCapture *items;
} PxCaptures;

/* Names that every launch looks at, some 8 ns each; those behind them are looked at once in a tick
 * of the kernel's coarse clock, which is a few milliseconds. */
enum { PX_ALWAYS = 8 };

/* Adds a name. value: what is frozen. 0, or -1 with MemoryError. */
int px_captures_add(PxState *st, PxCaptures *c, PyObject *scope, PyObject *name, PyObject *value);
int px_captures_visit(const PxCaptures *c, visitproc visit, void *arg);
void px_captures_clear(PxCaptures *c);

/* The Python function behind a function or a device function, borrowed; NULL: it is neither. */
PyObject *px_function_of(PxState *st, PyObject *value);
PyObject *px_captures_now(const PxCapture *c); /* borrowed, or NULL */

/* The code that a function has now; of what is no function of Python it is not asked. */
static inline bool px_capture_holds(const PxCapture *c) {
  PyObject *now = PyCell_Check(c->scope) ? PyCell_GET(c->scope)
                                         : PyDict_GetItemWithError(c->scope, c->name);
  if (now != c->seen)
    return false;
  return !c->code ||
         (PyFunction_Check(now) ? ((PyFunctionObject *)now)->func_code == c->code : true);
}

/* Is everything as it was seen last? Never raises. */
static inline bool px_captures_hold(PxCaptures *c) {
  uint32_t always = c->n < PX_ALWAYS ? c->n : PX_ALWAYS;
  for (uint32_t k = 0; k < always; k++)
    if (!px_capture_holds(&c->items[k]))
      return false;
  if (always == c->n)
    return true;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (now.tv_nsec == c->tick)
    return true;
  for (uint32_t k = always; k < c->n; k++)
    if (!px_capture_holds(&c->items[k]))
      return false;
  c->tick = now.tv_nsec;
  return true;
}

#endif
