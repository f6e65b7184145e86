/* Cx: one compilation. Arena, interned strings and types, the error, and the way out.
 *
 *   Cx *cx = cx_new();
 *   if (CX_TRY(cx)) { … passes …; } else { cx->diag says why; }
 *   cx_free(cx);
 *
 * Errors of the user's kernel: fail(cx, loc, ERR_…, …) fills cx->diag and goes to the CX_TRY; it
 * never returns. Never call it from an LLVM callback or with a Python frame above the CX_TRY. A Cx
 * is used by one thread at a time. */
#ifndef PYPTX_IR_CX_H
#define PYPTX_IR_CX_H

#include <setjmp.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/diag.h"
#include "ir/base/intern.h"
#include "ir/base/vec.h"
#include "ir/fn.h"
#include "ir/type.h"

typedef enum Typing { TYPING_NUMPY, TYPING_NUMBA } Typing;

typedef struct Cx {
  Arena arena;
  Intern strings;
  TypeTable types;
  Diag diag;
  jmp_buf out; /* set by CX_TRY */
  bool caught;
  const char *remedy; /* from advise() */
  VEC(Diag) advice;   /* from cx_advice(): each place once */
  Buf values;         /* where wanted (its arena is set): typeinfer/engine/values.c */
  const char *pass;   /* name of the running pass, for internal errors */

  /* options that more than one room reads; the rest are codegen's */
  Typing typing;
  bool checked; /* index checks, assert and raise compiled in */
  bool debug;
  bool host;         /* code for the host device */
  bool keeps_places; /* Fn.places are wanted */

  /* the calls that led here, innermost last: notes of an error in a device function */
  struct {
    Loc loc;
    const char *name;
  } calls[64];
  uint32_t ncalls;

  /* front end as seen from typing: lifts a function; set by the driver of the compilation */
  Fn *(*lift)(struct Cx *cx, const FrozenFunc *func);
  void *user; /* that driver's own */
  /* functions of complex numbers by name (pyptx/_complex.py), or NULL where no code mentions any */
  const struct Frozen *library;
} Cx;

Cx *cx_new(void); /* NULL if there is no memory */
void cx_free(Cx *cx);

#define CX_TRY(cx) ((cx)->caught = true, !setjmp((cx)->out))
/* Once a compilation, at the top of the core: codegen/compile.c, and tests. Without it fail()
 * aborts. */

_Noreturn void fail(Cx *cx, Loc loc, ErrorId id, ...);
/* What to do, for the error that a following fail() raises: in place of its row's remedy. NULL: the
 * row's. */
void advise(Cx *cx, const char *remedy);
/* What the user should know of a kernel that compiles all the same: a row A of errors.def. Takes
 * the notes before it; what has the same first note and message is said once. */
void cx_advice(Cx *cx, Loc loc, ErrorId id, ...);
/* "// what at 12:4-20 in kernel of file.py": a comment in PTX that tells where an instruction comes
 * from, in inline assembly of LLVM. */
void cx_put_place(Buf *out, const char *what, Loc loc);
/* A place as messages hold it; its texts are the code's. */
DiagPlace cx_place(Loc loc);
/* Adds a place to what a following fail() or cx_advice() says. */
void note(Cx *cx, Loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* We are wrong: an assertion that reports the pass instead of ending the process. */
_Noreturn void cx_bug(Cx *cx, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define CX_ASSERT(cx, c)   ((c) ? (void)0 : cx_bug((cx), "%s:%d: %s", __FILE__, __LINE__, #c))

#define CX_NEW(cx, T)      ARENA_NEW(&(cx)->arena, T)
#define CX_ARRAY(cx, T, n) ARENA_ARRAY(&(cx)->arena, T, n)
static inline const char *cx_intern(Cx *cx, const char *s) { return intern(&cx->strings, s); }

#endif
