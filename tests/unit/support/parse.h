/* Parse: the text that ir_print writes, back into functions, as far as ops and constants have a
 * text form (numbers, strings, None, tuples, intrinsics, dtypes, modules by name). */
#ifndef PYPTX_TESTS_PARSE_H
#define PYPTX_TESTS_PARSE_H

#include "ir/print.h"

/* fail()s with ERR_CORRUPT on bad text; calls between the functions of the text are resolved by
 * name. */
Program *ir_parse(Cx *cx, const char *text);
Fn *ir_parse_fn(Cx *cx, const char *text); /* the first function */

#endif
