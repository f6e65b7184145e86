/* Print: a function as text, for dumps, goldens and tests of passes.
 *
 *   func helper(x: float32, y: float32) -> float32 {
 *   b0:
 *     %3: pybool = gt %0, %1            ; 12:8
 *     condbr %3, b1, b2
 *   b1:                                  ; preds b0
 *     …
 * Types are left out where they are NULL (before typing). Tests read the text
 * back: tests/unit/support/parse.h. */
#ifndef PYPTX_IR_PRINT_H
#define PYPTX_IR_PRINT_H

#include "ir/cx.h"
#include "ir/fn.h"

/* One instruction of a block, with the end of its line. */
void ir_print_ins(Cx *cx, Buf *out, const Block *b, const Ins *i, bool locations);
void ir_print_fn(Cx *cx, Buf *out, const Fn *fn, bool locations);
char *ir_print(Cx *cx, const Program *program, bool locations);

#endif
