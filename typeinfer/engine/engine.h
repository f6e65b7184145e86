/* The engine, inside: passes over a whole function, and which functions there are. */
#ifndef PYPTX_TYPEINFER_ENGINE_ENGINE_H
#define PYPTX_TYPEINFER_ENGINE_ENGINE_H

#include "typeinfer/ty.h"

/* spec.c */
TySpec *ty_new_spec(TyProgram *p, const FrozenFunc *func, const Val *args, uint32_t n);
void ty_add_root(TyProgram *p, TySpec *s);
/* infer.c */
void ty_type_spec(TyProgram *p, TySpec *s); /* typing */
TyInfo ty_eval_phi(Ty *ty, Ins *phi);       /* the join of what reaches a phi */
/* rewrite.c: emission; s->fn is strict after it */
void ty_emit_spec(TyProgram *p, TySpec *s);
/* values.c: adds the function to cx->values, if they are wanted; before anything is rewritten */
void ty_list_values(Ty *ty);
/* unset.c: fills TySpec.first_edge; before anything is rewritten */
void ty_find_first_edges(Ty *ty);
/* iterators.c: no value that is an iterator, or holds one, is used twice; before anything is
 * rewritten */
void ty_check_iterators(Ty *ty);
/* remarks.c: what to advise of, seen while an instruction is rewritten */
void ty_remark_variable(Ty *ty, Ins *phi);
void ty_remark_operation(Ty *ty, Ins *i);
/* index_wraps.c: drops needless WRAP_INDEX, sets INS_NONNEGATIVE */
void ty_drop_wraps(Cx *cx, Fn *fn);

#endif
