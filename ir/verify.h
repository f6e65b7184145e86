/* Verify: the invariants of ir/fn.h, after each pass (debug builds, PYPTX_VERIFY=1, tests). A
 * violation is cx_bug(). */
#ifndef PYPTX_IR_VERIFY_H
#define PYPTX_IR_VERIFY_H

#include "ir/cx.h"
#include "ir/fn.h"

void ir_verify(Cx *cx, const Fn *fn, const char *pass);

#endif
