/* Print and parse: a function as text and back, for dumps, goldens and pass tests.
 *
 *   func helper(x: float32, y: float32) -> float32 {
 *   b0:
 *     %3: pybool = gt %0, %1            ; 12:8
 *     condbr %3, b1, b2
 *   b1:                                  ; preds b0
 *     …
 * Types are left out where they are NULL (before typing). ir_parse reads what ir_print writes, for
 * the ops and constants that have a text form (numbers, strings, None, tuples, intrinsics, dtypes,
 * modules by name). */
#ifndef PYPTX_IR_PRINT_H
#define PYPTX_IR_PRINT_H

#include "ir/cx.h"
#include "ir/fn.h"

void ir_print_fn(Cx *cx, Buf *out, const Fn *fn, bool locations);
char *ir_print(Cx *cx, const Program *program, bool locations);
/* fail()s with ERR_CORRUPT on bad text; calls between the functions of the text are resolved by
 * name. */
Program *ir_parse(Cx *cx, const char *text);
Fn *ir_parse_fn(Cx *cx, const char *text); /* the first function */

#endif
