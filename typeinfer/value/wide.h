/* Wide: Python's integers beyond 64 bits, which constants may be while the kernel is compiled.
 *
 * In and out: FZ_INT and FZ_BOOL. A result is wide only if it does not fit int64; one of more than
 * WIDE_BITS bits has no digits, and neither have results made from it. Nothing here takes
 * noticeable time or memory, whatever the operands. */
#ifndef PYPTX_TYPEINFER_VALUE_WIDE_H
#define PYPTX_TYPEINFER_VALUE_WIDE_H

#include "ir/cx.h"
#include "ir/fn.h"

enum { WIDE_BITS = 4096 };

bool wide_is_int(const Frozen *f); /* a Python int or bool */
/* + - * // % ** << >> & | ^, and / to a float; NULL where Python raises ZeroDivisionError or
 * ValueError, or / has no float. */
const Frozen *wide_binary(Cx *cx, Op op, const Frozen *a, const Frozen *b);
const Frozen *wide_unary(Cx *cx, Op op, const Frozen *a);
/* -1, 0, 1; 2: not known, or a nan. Either may be a float. */
int wide_compare(const Frozen *a, const Frozen *b);
/* Rounded to nearest, even; an infinity beyond the range, nan without digits. */
double wide_double(const Frozen *f);
/* Bits of the absolute value, and how many are set; -1: not known. */
int64_t wide_bit_length(const Frozen *f);
int64_t wide_bit_count(const Frozen *f);

#endif
