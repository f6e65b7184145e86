/* Describe: a typed program as JSON, for reports (pyptx/_report): what a reader of the printed form
 * would have to parse out of it again.
 *
 *   {"functions": [{"name", "symbol", "file", "line", "recursive", "params": [[name, type]…],
 *     "result": type,
 *     "places": [[variable or null, file, line, column, end line, end column, type, how]…],
 *     "blocks": [{"id", "idom" or null, "to": [id…], "code": [instruction…]}…]}…],
 *    "files": [name…]}
 *
 * A place is an expression, or a variable where it is set. how: "known" at compile time, "narrow"
 * for an integer of 64 bits that is computed in 32, or "". An instruction is {"id", "op", "text"
 * (ir_print_ins), "at": [file, line, column, end line, end column] or null, "args": [id…], "type"}
 * and by its operation
 *   load, store, atomic   "space", and "kind", "bits", "bytes" of an element
 *   alloc                 "space", "bytes" (0: dynamic)
 *   others                "kind", "bits" of the value; const: "value", of integers; phi: "from":
 *                         [block…], beside args; call_fn: "function", its number; intrinsic:
 *                         "path", "pure"
 * kind is one of b i u f c (bool, signed, unsigned, float, complex), or empty. Lines count from 1,
 * columns from 0, in bytes. The order of functions and blocks is the program's. */
#ifndef PYPTX_IR_DESCRIBE_H
#define PYPTX_IR_DESCRIBE_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Text in the Cx's arena. Blocks are in reverse post-order, with their dominators. */
char *ir_describe(Cx *cx, const Program *program);

#endif
