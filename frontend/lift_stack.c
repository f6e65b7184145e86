/* Lift, stack and variables: loads, stores, and moves between slots. Nothing but constants and
 * globals makes instructions. */
#include <string.h>

#include "frontend/lift_private.h"

/* 3.14 folds slices of constants, alone and in index tuples; here they are always built. */
static Ins *constant(Lift *l, const Frozen *f) {
  bool slices = f->kind == FZ_SLICE;
  for (uint32_t k = 0; f->kind == FZ_TUPLE && k < f->n; k++)
    slices |= f->items[k]->kind == FZ_SLICE;
  if (!slices)
    return bc_constant(l, f);
  uint32_t n = f->kind == FZ_SLICE ? 3 : f->n;
  Ins **items = CX_ARRAY(l->cx, Ins *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    const Frozen *item = f->items[k];
    if (item->kind == FZ_SLICE) {
      Ins *parts[3];
      for (int p = 0; p < 3; p++)
        parts[p] = bc_constant(l, item->items[p]);
      items[k] = bc_emit(l, OP_MAKE_SLICE, parts, 3);
    } else {
      items[k] = bc_constant(l, item);
    }
  }
  return bc_emit(l, f->kind == FZ_SLICE ? OP_MAKE_SLICE : OP_MAKE_TUPLE, items, n);
}

void bc_lift_const(Lift *l) { bc_push(l, constant(l, bc_const_arg(l, l->node->arg))); }
void bc_lift_small_int(Lift *l) { bc_push(l, bc_constant(l, fz_int(l->cx, l->node->arg))); }

static void note_read(Lift *l) {
  if (l->node->arg < l->code->nlocalsplus)
    VEC_PUSH(&l->cx->arena, &l->fn->reads, ((IrRead){bc_var_name(l, l->node->arg), l->loc}));
}

/* Behind a read that may raise the variable is set. */
static Ins *read_local(Lift *l) {
  uint32_t var = l->node->arg;
  Ins *value = bc_local(l, var);
  if (!l->maybe_unset[l->at])
    return value;
  value = bc_emit1(l, OP_READ, value);
  value->name = bc_var_name(l, var);
  bc_write(l, var, value);
  return value;
}

/* What a nested function captures: the variable, which need not be set. */
static Ins *cell(Lift *l) {
  Ins *value = bc_local(l, l->node->arg);
  if (bc_is_free(l, l->node->arg))
    value->aux2 = 1;
  return value;
}

void bc_lift_load_fast(Lift *l) {
  note_read(l);
  bc_push(l, bc_is_cell(l, l->node->arg) ? cell(l) : read_local(l));
  bool iterates = l->func->consumer && !l->node->arg;
  /* its caller has made an iterator, up to 3.13 */
  if (iterates && l->bc->nodes.data[l->node->succ[0]].op != BC_get_iter)
    bc_lift_get_iter(l);
}

void bc_lift_load_deref(Lift *l) { bc_push(l, read_local(l)); }

/* A value that has no name yet takes the variable's, for messages. */
static void name_value(Lift *l, Ins *value, uint32_t var) {
  switch ((Op)value->op) {
  case OP_CONST:
  case OP_GLOBAL:
  case OP_GETATTR:
  case OP_PARAM:
  case OP_PHI:
  case OP_READ:
  case OP_UNSET: return;
  default:
    if (!value->name)
      value->name = bc_var_name(l, var);
  }
}

void bc_lift_store_fast(Lift *l) {
  uint32_t var = l->node->arg;
  if (var >= l->code->nlocalsplus || bc_is_free(l, var))
    bc_damaged(l, "a variable is out of range");
  Ins *value = bc_pop(l);
  name_value(l, value, var);
  if (l->cx->keeps_places)
    VEC_PUSH(&l->cx->arena, &l->fn->places,
             ((IrPlace){.variable = bc_var_name(l, var), .ins = value, .loc = l->loc}));
  bc_write(l, var, value);
}

void bc_lift_store_deref(Lift *l) {
  uint32_t var = l->node->arg;
  if (var < l->code->nlocalsplus && bc_is_free(l, var))
    fail(l->cx, l->loc, ERR_NONLOCAL_STORE, bc_var_name(l, var));
  bc_lift_store_fast(l);
  l->stored_cells[var] = true;
}

void bc_lift_delete_fast(Lift *l) {
  uint32_t var = l->node->arg;
  if (var >= l->code->nlocalsplus || bc_is_free(l, var))
    bc_damaged(l, "a variable is out of range");
  (void)read_local(l);
  Ins *i = bc_emit(l, OP_UNSET, NULL, 0);
  i->aux.name = i->name = bc_var_name(l, var);
  bc_write(l, var, i);
}

void bc_lift_delete_deref(Lift *l) {
  uint32_t var = l->node->arg;
  if (var >= l->code->nlocalsplus)
    bc_damaged(l, "a variable is out of range");
  fail(l->cx, l->loc, ERR_DELETE,
       arena_printf(&l->cx->arena, "'%s', which a nested function uses,", bc_var_name(l, var)));
}

void bc_lift_delete_global(Lift *l) {
  fail(l->cx, l->loc, ERR_DELETE,
       arena_printf(&l->cx->arena, "the global variable '%s'", bc_name_arg(l, l->node->arg)));
}

void bc_lift_store_global(Lift *l) {
  fail(l->cx, l->loc, ERR_GLOBAL_STORE, bc_name_arg(l, l->node->arg));
}

void bc_lift_load_global(Lift *l) {
  const char *name = bc_name_arg(l, l->node->arg);
  if (!strcmp(name, BC_PYTEST))
    fail(l->cx, l->loc, ERR_REWRITTEN);
  const Frozen **f = &l->globals[l->node->arg];
  if (!*f) {
    const Binding *b = fz_find(l->func->globals, l->func->nglobals, name);
    if (b) {
      *f = b->value;
    } else {
      Frozen *missing = CX_NEW(l->cx, Frozen);
      missing->kind = FZ_UNSET;
      missing->text = name;
      *f = missing;
    }
  }
  bc_push(l, bc_global(l, *f, name));
}

void bc_lift_assertion_error(Lift *l) { bc_push(l, bc_exception(l, "AssertionError")); }

/* 3.14: AssertionError, NotImplementedError, and tuple, all, any, which only come with generator
 * expressions. */
void bc_lift_common_constant(Lift *l) {
  const OpTable *t = l->bc->ops;
  if (l->node->arg >= t->ncommon)
    bc_damaged(l, "a common constant is out of range");
  bc_push(l, bc_exception(l, cx_intern(l->cx, t->common_constant[l->node->arg])));
}

void bc_lift_pop(Lift *l) {
  Ins *top = bc_peek(l, 1);
  if (top == l->block->last && top->op == OP_GETATTR)
    top->aux2 = 1;
  l->depth--;
}
void bc_lift_push_null(Lift *l) { bc_push(l, l->null); }
void bc_lift_copy(Lift *l) { bc_push(l, bc_peek(l, l->node->arg)); }

void bc_lift_swap(Lift *l) {
  Ins *top = bc_peek(l, 1), *other = bc_peek(l, l->node->arg);
  bc_poke(l, 1, other);
  bc_poke(l, l->node->arg, top);
}
