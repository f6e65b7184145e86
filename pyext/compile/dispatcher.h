/* Dispatcher: what @cuda.jit makes of a function. It holds the options and the compiled overloads,
 * and finds the one for a launch. */
#ifndef PYPTX_PYEXT_COMPILE_DISPATCHER_H
#define PYPTX_PYEXT_COMPILE_DISPATCHER_H

#include "pyext/compile/overload.h"
#include "pyext/state.h"

#include "codegen/compile.h"
#include "ir/frozen.h"

/* Arguments that were seen before, and the overload that takes them. */
typedef struct PxEntry {
  RtDevice *device; /* NULL: the entry is retired (launch/stale.c), and finds nothing */
  PxToken *tokens;
  uint32_t n;
  PxOverload *overload;
  bool converted; /* numbers are converted to the overload's types */
} PxEntry;

/* NumPy arrays that were copied to a GPU for launches. */
enum { PX_COPIES = 4 };
typedef struct PxCopies {
  const PyObject *last[PX_COPIES]; /* of the last launch: addresses to compare */
  uint32_t launches;               /* that copied one of these again */
  bool told;                       /* advice was given */
  uint64_t bytes;
} PxCopies;

typedef struct PxDispatcher {
  PyObject_HEAD PyObject *function;
  PyObject *dict, *weakrefs;
  PyObject *made; /* (signatures, fields of options.def that were set): what a pickle of it holds */
  FuncOptions func_options;
  CgOptions options;
  int inlining, caching;     /* InlineMode, PxCaching */
  int timeout;               /* of launches, in ms; 0: none */
  PyObject *link;            /* tuple of pyptx.cuda._link's, or NULL */
  PyObject *dump;            /* str that has UTF-8, or NULL */
  PyObject *extensions;      /* tuple of what prepares arguments, or NULL */
  PyObject *specializations; /* dict, or NULL */
  /* parameters: positional, of these without keyword, keyword-only */
  uint32_t nargs, nposonly, nkwonly;
  bool varargs;
  PxSignature *signatures; /* declared: no other is compiled for a launch */
  uint32_t nsignatures;
  PxEntry *entries; /* appended only, under the object's lock */
  uint32_t nentries, max_entries, last;
  struct PxCompiling *compiling; /* overloads that are being made, under the object's lock */
  bool told_block;               /* advice was given of blocks that leave lanes idle */
  PxCopies copies;               /* under the object's lock */
  /* launch/plan.h: all, and the one that served last; published; and what no launch finds any
   * more */
  struct PxPlan *plans, *plan, *retired;
} PxDispatcher;

struct PxArgs;
/* The overload for these arguments on their device: found, or compiled now. Converts numbers in
 * place where the overload declares other types. A new reference, or NULL with an exception. */
PxOverload *px_dispatch(PxDispatcher *d, struct PxArgs *args);
/* Name of a parameter, for messages: borrowed UTF-8. */
const char *px_parameter_name(PxDispatcher *d, uint32_t i);
bool px_parameter_is(PxDispatcher *d, uint32_t i, PyObject *name); /* a str */

/* The overload of a signature on the current device, compiled if need be. A new reference or
 * NULL. */
PxOverload *px_overload_for(PxDispatcher *d, const PxSignature *s, RtDevice *device);
/* Distinct overloads in order of compilation, narrow ones last, so that of two for the same types a
 * dict by these has the narrow one: a new list. */
PyObject *px_overload_list(PxDispatcher *d);

#endif
