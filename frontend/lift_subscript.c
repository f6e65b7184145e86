/* Lift, subscripts and sequences: items, attributes, slices, tuples, lists, f-strings, unpacking,
 * sequence patterns. */
#include <string.h>

#include "frontend/lift_private.h"

void bc_lift_getitem(Lift *l) {
  Ins *index = bc_pop(l), *x = bc_pop(l);
  bc_push(l, bc_emit2(l, OP_GETITEM, x, index));
}

void bc_lift_setitem(Lift *l) { /* on the stack: value, container, index */
  Ins *index = bc_pop(l), *x = bc_pop(l), *value = bc_pop(l);
  bc_emit(l, OP_SETITEM, (Ins *[]){x, index, value}, 3);
}

void bc_lift_delitem(Lift *l) {
  Ins *index = bc_pop(l), *x = bc_pop(l);
  bc_emit2(l, OP_DELITEM, x, index);
}

void bc_lift_getattr(Lift *l) {
  Ins *i = bc_emit1(l, OP_GETATTR, bc_pop(l));
  i->name = bc_name_arg(l, l->node->arg);
  bc_push(l, i);
}

void bc_lift_setattr(Lift *l) {
  Ins *x = bc_pop(l), *value = bc_pop(l);
  bc_emit2(l, OP_SETATTR, x, value)->name = bc_name_arg(l, l->node->arg);
}

void bc_lift_delattr(Lift *l) {
  fail(l->cx, l->loc, ERR_DELETE,
       arena_printf(&l->cx->arena, "the attribute '%s'", bc_name_arg(l, l->node->arg)));
}

void bc_lift_build_slice(Lift *l) {
  Ins *parts[3];
  parts[2] = l->node->arg == 3 ? bc_pop(l) : bc_constant(l, fz_none(l->cx));
  parts[1] = bc_pop(l);
  parts[0] = bc_pop(l);
  bc_push(l, bc_emit(l, OP_MAKE_SLICE, parts, 3));
}

void bc_lift_build_tuple(Lift *l) {
  uint32_t n = l->node->arg;
  bc_push(l, bc_tuple(l, bc_pop_many(l, n), n));
}

void bc_lift_build_list(Lift *l) {
  uint32_t n = l->node->arg;
  bc_push(l, bc_emit(l, OP_MAKE_LIST, bc_pop_many(l, n), n));
}

/* [*x, *y]: written out as far as the items are known here. */
static void extend(Lift *l, Ins *with) {
  Ins *list = bc_peek(l, l->node->arg);
  uint32_t n = 0;
  Ins **items = list->op == OP_MAKE_LIST ? bc_items(l, with, &n) : NULL;
  if (!items) {
    bc_poke(l, l->node->arg, bc_emit2(l, OP_LIST_EXTEND, list, with));
    return;
  }
  Ins **all = CX_ARRAY(l->cx, Ins *, list->nargs + n + 1);
  if (list->nargs)
    memcpy(all, list->args, sizeof *all * list->nargs);
  memcpy(all + list->nargs, items, sizeof *all * n);
  bc_poke(l, l->node->arg, bc_emit(l, OP_MAKE_LIST, all, list->nargs + n));
}

void bc_lift_list_extend(Lift *l) { extend(l, bc_pop(l)); }

void bc_lift_list_append(Lift *l) {
  if (l->node->arg != 1) /* the loop of a comprehension stands between */
    fail(l->cx, l->loc, ERR_COMPREHENSION);
  Ins *item = bc_pop(l);
  extend(l, bc_emit1(l, OP_MAKE_TUPLE, item));
}

void bc_lift_list_to_tuple(Lift *l) {
  Ins *list = bc_pop(l);
  bc_push(l, list->op == OP_MAKE_LIST ? bc_tuple(l, list->args, list->nargs)
                                      : bc_emit2(l, OP_LIST_EXTEND, bc_tuple(l, NULL, 0), list));
}

/* The first item ends on top. */
static void push_unpacked(Lift *l, Ins *value, Op op, uint32_t n, int32_t shape) {
  Ins **items = CX_ARRAY(l->cx, Ins *, n + 1);
  uint32_t count = 0;
  Ins **known = op == OP_UNPACK ? bc_items(l, value, &count) : NULL;
  for (uint32_t k = 0; k < n; k++) {
    if (known && count == n) {
      items[k] = known[k];
      continue;
    }
    items[k] = bc_emit1(l, op, value);
    items[k]->aux.i = k;
    items[k]->aux2 = shape;
  }
  while (n)
    bc_push(l, items[--n]);
}

void bc_lift_unpack(Lift *l) {
  push_unpacked(l, bc_pop(l), OP_UNPACK, l->node->arg, (int32_t)l->node->arg);
}

void bc_lift_unpack_ex(Lift *l) {
  uint32_t arg = l->node->arg;
  push_unpacked(l, bc_pop(l), OP_UNPACK_EX, (arg & 0xFF) + (arg >> 8) + 1, (int32_t)arg);
}

void bc_lift_get_len(Lift *l) { bc_push(l, bc_emit1(l, OP_LEN_MATCH, bc_peek(l, 1))); }
void bc_lift_match_sequence(Lift *l) { bc_push(l, bc_emit1(l, OP_IS_SEQ, bc_peek(l, 1))); }

/* --- f-strings --- */

enum {
  CONVERTED = 1
}; /* aux2 of a FORMAT that still waits for its format instruction (3.13 and later) */

static Ins *format(Lift *l, Ins *value, uint32_t conversion) {
  static const char letters[] = {0, 's', 'r', 'a'};
  Ins *i = bc_emit1(l, OP_FORMAT, value);
  i->aux.i = letters[conversion & 3];
  return i;
}

void bc_lift_convert(Lift *l) {
  Ins *i = format(l, bc_pop(l), l->node->arg);
  i->aux2 = CONVERTED;
  bc_push(l, i);
}

void bc_lift_format(Lift *l) {
  Ins *spec = l->node->arg & 4 ? bc_pop(l) : NULL, *value = bc_pop(l);
  bool text = value->op == OP_FORMAT || value->op == OP_MAKE_STR;
  if (value->op == OP_FORMAT && value->aux2 == CONVERTED)
    value->aux2 = 0;
  else if (!text || spec || l->node->arg & 3) /* a string in a string is itself */
    value = format(l, value, l->node->arg & 3);
  if (spec) {
    Ins *i = bc_emit2(l, OP_FORMAT, value->args[0],
                      spec); /* behind the spec, which may be computed */
    i->aux.i = value->aux.i;
    value = i;
  }
  bc_push(l, value);
}

/* Empty parts go: 3.12 and 3.13 put one behind a nested format spec. */
void bc_lift_build_string(Lift *l) {
  uint32_t n = l->node->arg, kept = 0;
  Ins **parts = bc_pop_many(l, n);
  for (uint32_t k = 0; k < n; k++) {
    const Frozen *f = parts[k]->op == OP_CONST ? parts[k]->aux.frozen : NULL;
    if (!f || f->kind != FZ_STR || f->n)
      parts[kept++] = parts[k];
  }
  if (!kept)
    bc_push(l, bc_constant(l, fz_str(l->cx, "")));
  else if (kept == 1 && (parts[0]->op == OP_FORMAT || parts[0]->op == OP_MAKE_STR))
    bc_push(l, parts[0]);
  else
    bc_push(l, bc_emit(l, OP_MAKE_STR, parts, kept));
}
