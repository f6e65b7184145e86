/* Infer: a type for every value. The front door of this room.
 *
 * In: the kernel's FrozenFunc and the argument types. Out: a Program whose functions are typed and
 * strict: every op stage B or T, operands of exactly the types ops.def asks for, casts explicit,
 * compile-time branches folded, index wrap and checks explicit. The rules are semantics.md's:
 * promotion in typeinfer/value/promote.def (one row set a Typing), joins at phis, weak scalars.
 * Needs cx->lift, cx->typing, cx->checked, cx->debug. Fails with PT2xx, PT3xx. */
#ifndef PYPTX_TYPEINFER_INFER_H
#define PYPTX_TYPEINFER_INFER_H

#include "ir/cx.h"
#include "ir/fn.h"

typedef struct Signature {
  const Type **args; /* arena */
  uint32_t nargs;
  const Type *result; /* NULL where not given; "void(...)" gives TY_NONE */
  bool narrow;        /* Program.narrow */
} Signature;

/* "float32[::1], pyint", "(float32[::1], pyint)", "narrow (float32[::1], pyint)" or
 * "void(float32[:], int32)". Fails with
 * ERR_SIGNATURE. Array types written without a layout mark are layout A; TY_NONE is written
 * none. */
Signature ty_signature(Cx *cx, const char *text);

/* is_kernel: results other than None are errors. Device functions are compiled alone for `pyptx
 * compile` of device=True functions. */
Program *ty_infer(Cx *cx, const FrozenFunc *func, const Signature *sig, bool is_kernel);

/* Operand and result types of a strict function, beside ir_verify. A violation is cx_bug(). */
void ty_verify(Cx *cx, const Fn *fn);

#endif
