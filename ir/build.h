/* Build: the only writer of functions, blocks, instructions and their links. */
#ifndef PYPTX_IR_BUILD_H
#define PYPTX_IR_BUILD_H

#include "ir/cx.h"
#include "ir/fn.h"

Fn *ir_fn(Cx *cx, const char *name, uint32_t nparams, const char *const *param_names);
/* A program-level site number for a check or raise. */
const IrSite *ir_site(Cx *cx, Program *program, const char *exception, const char *message,
                      Loc loc);

Block *ir_block(Cx *cx, Fn *fn); /* appended to the function */

/* A fresh instruction, in no block. args are copied; the op's arity is asserted in ir_verify. */
Ins *ir_ins(Cx *cx, Fn *fn, Op op, const Type *type, Loc loc, Ins *const *args, uint32_t nargs);
void ir_append(Block *b, Ins *i); /* at the end (before nothing) */
void ir_insert_before(Ins *at, Ins *i);
void ir_insert_phi(Block *b, Ins *phi); /* after the phis that are there */
void ir_remove(Ins *i);                 /* out of its block; args stay readable */
void ir_add_arg(Cx *cx, Ins *i, Ins *arg);

/* Ends a block: appends the terminator and links successors and predecessors. */
Ins *ir_br(Cx *cx, Fn *fn, Block *from, Block *to, Loc loc);
Ins *ir_condbr(Cx *cx, Fn *fn, Block *from, Ins *cond, Block *yes, Block *no, Loc loc);
Ins *ir_ret(Cx *cx, Fn *fn, Block *from, Ins *value, Loc loc);
void ir_unlink(Block *from, Block *to); /* one edge; drops the operand of to's phis */
/* The edges into `to` from its predecessors k with through[k] go to a new block first, which goes
 * on to `to` and has the phis for that. */
Block *ir_join_edges(Cx *cx, Fn *fn, Block *to, const bool *through);
void ir_fold_condbr(Cx *cx, Ins *condbr, bool taken); /* becomes br to the taken side */
/* block ends before `at`; returns the new block that begins with it */
Block *ir_split(Cx *cx, Fn *fn, Ins *at);

/* All uses of `from` mean `to`: cheap mark; ir_settle rewrites every operand of the function
 * once. */
void ir_replace(Ins *from, Ins *to);
Ins *ir_real(Ins *i); /* follows replacements */
void ir_settle(Fn *fn);

/* Constants; appended to block b (anywhere before a terminator is fine) */
Ins *ir_const(Cx *cx, Fn *fn, const Frozen *f, const Type *type, Loc loc); /* in no block */
const Frozen *fz_int(Cx *cx, int64_t v);
const Frozen *fz_uint(Cx *cx, uint64_t v); /* wide, if int64 does not hold it */
const Frozen *fz_float(Cx *cx, double v);
const Frozen *fz_bool(Cx *cx, bool v);
/* weak: FZ_COMPLEX, strong: FZ_SCALAR */
const Frozen *fz_complex(Cx *cx, TypeId type, double re, double im);
const Frozen *fz_str(Cx *cx, const char *s);
/* there may be NULs inside; one is at the end */
const Frozen *fz_strn(Cx *cx, const char *s, uint32_t n);
const Frozen *fz_none(Cx *cx);
const Frozen *fz_tuple(Cx *cx, const Frozen *const *items, uint32_t n);

#endif
