/* Assign: a[…] = value where a[…] is a view.
 *
 * ty_assign (both passes) checks the value and broadcasts it to the view as NumPy does; it leaves one OP_ASSIGN. ty_lower_assigns, once
 * all types of a function are final, replaces each by a loop nest that stores one element after the other, first index first. Source
 * and target are not told apart: where they overlap, later reads see earlier writes. */
#include "typeinfer/ty.h"

/* --- extents --- */

/* Emission: the operands of entry k of a view stand from here on. */
static uint32_t view_operand(const IrView *v, unsigned k) {
  uint32_t n = 1;
  while (k-- > 0)
    n += v->kind[k] == VIEW_INDEX ? 1 : v->kind[k] == VIEW_SLICE ? 3 : 0;
  return n;
}

static bool int_const(const Ins *i, int64_t *out) {
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, out);
}

/* Emission: an extent that the instructions behind an array tell. */
static bool known_extent(const Ins *i, unsigned axis, int64_t *out) {
  if (i->op == OP_ALLOC && !i->aux.alloc->dynamic) {
    *out = i->aux.alloc->extents[axis];
    return true;
  }
  if (i->op != OP_VIEW)
    return false;
  const IrView *v = i->aux.view;
  unsigned from = 0, kept = 0;
  for (unsigned k = 0; k < v->n; k++) {
    if (v->kind[k] >= VIEW_PERMUTE)
      return false;
    if (v->kind[k] != VIEW_INDEX && kept++ == axis) {
      *out = 1;
      return v->kind[k] == VIEW_NEWAXIS ||
             (v->kind[k] == VIEW_FULL ? known_extent(i->args[0], from, out)
                                      : int_const(i->args[view_operand(v, k) + 1], out));
    }
    from += v->kind[k] != VIEW_NEWAXIS;
  }
  return false;
}

static Val extent_of(Ty *ty, Val array, unsigned axis) {
  int64_t n;
  if (array.ins && known_extent(array.ins, axis, &n))
    return ty_const_int(ty, n);
  return ty_extent(ty, array, axis);
}

/* --- broadcasting --- */

static Val equal(Ty *ty, Val a, Val b) {
  int64_t x, y;
  if (fz_get_int(a.konst, &x) && fz_get_int(b.konst, &y))
    return ty_const_bool(ty, x == y);
  return ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), a, b);
}

/* May n elements stand for `want`? Raises what is known now, checks the rest where checks are compiled in. */
static bool fits(Ty *ty, Val n, Val want) {
  int64_t have = 0, need = 0;
  bool known = fz_get_int(n.konst, &have);
  if (known && have == 1)
    return true;
  if (known && fz_get_int(want.konst, &need)) {
    if (have == need)
      return true;
    Arena *arena = &ty->cx->arena;
    (void)TY_FAIL(ty, ERR_STORE_VIEW,
                  arena_printf(arena, "an axis of %lld elements", (long long)have),
                  arena_printf(arena, "an axis of %lld", (long long)need));
    return false;
  }
  if (ty->cx->checked && ty->emit) {
    Val same = equal(ty, n, want), one = equal(ty, n, ty_const_int(ty, 1));
    ty_check(ty, ty_op2(ty, OP_OR, ty_id(ty, TY_PYBOOL), same, one), "ValueError",
             "cannot assign an axis of {0} elements to an axis of {1}", (Val[]){n, want}, 2);
  }
  return true;
}

/* A view of `source` with at most the target's axes, whose every axis can be read at the target's index: an axis of one element has
 * stride 0. */
static Val broadcast(Ty *ty, Val source, Val target) {
  unsigned have = source.type->ndim, want = target.type->ndim;
  unsigned extra = have > want ? have - want : 0, skip = have < want ? want - have : 0;
  IrView *view = CX_NEW(ty->cx, IrView);
  Val args[1 + 3 * TY_MAX_NDIM] = {source}, zero = ty_const_int(ty, 0), one = ty_const_int(ty, 1);
  uint32_t n = 1;
  for (unsigned k = 0; k < have; k++) {
    Val from = extent_of(ty, source, k);
    Val to = k < extra ? one : extent_of(ty, target, k - extra + skip);
    if (is_bottom(from) || is_bottom(to) || !fits(ty, from, to))
      return BOTTOM;
    view->kind[view->n++] = k < extra ? VIEW_INDEX : VIEW_SLICE;
    args[n++] = zero;
    if (k < extra)
      continue;
    args[n++] = to;
    args[n++] = ty_select(ty, equal(ty, from, to), one, zero);
  }
  const Type *type = ty_array(ty->cx, source.type->elem, have - extra, LAYOUT_A,
                              (Space)source.type->space, source.type->wide, source.type->readonly);
  Val r = ty_op(ty, OP_VIEW, type, args, n);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

Val ty_assign(Ty *ty, Val target, Val value) {
  if (is_bottom(target) || is_bottom(value))
    return BOTTOM;
  bool array = value.type->id == TY_ARRAY;
  if (!array && !ty_is_number(value.type))
    return TY_FAIL(ty, ERR_STORE_VIEW, TY_PRETTY(ty, value), "a slice of an array");
  if (!ty_can_store(array ? value.type->elem : value.type, target.type->elem))
    return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, value), TY_PRETTY(ty, target));
  Val args[2 + TY_MAX_NDIM] = {target};
  args[1] = array ? broadcast(ty, value, target) : ty_cast(ty, value, target.type->elem);
  for (unsigned k = 0; k < target.type->ndim; k++)
    args[2 + k] = extent_of(ty, target, k);
  return ty_op(ty, OP_ASSIGN, ty_id(ty, TY_VOID), args, 2u + target.type->ndim);
}

/* --- loops --- */

typedef struct Nest {
  Block *latch[TY_MAX_NDIM];
  Ins *counter[TY_MAX_NDIM];
} Nest;

static Ins *typed(Ty *ty, Ins *i) {
  i->type = ty_id(ty, TY_VOID);
  return i;
}

static Ins *constant(Ty *ty, int64_t v, Ins *before) {
  Ins *i = ir_const(ty->cx, ty->fn, fz_int(ty->cx, v), ty_id(ty, TY_PYINT), before->loc);
  ir_insert_before(before, i);
  return i;
}

/* for counter in range(extent), behind `from`, which has no terminator yet. Returns the body, which has none either. */
static Block *open_loop(Ty *ty, Nest *nest, unsigned k, Block *from, Ins *extent, Block *out,
                        Loc loc) {
  Cx *cx = ty->cx;
  Fn *fn = ty->fn;
  Block *head = ir_block(cx, fn), *body = ir_block(cx, fn), *latch = ir_block(cx, fn);
  Ins *enter = typed(ty, ir_br(cx, fn, from, head, loc));
  Ins *back = typed(ty, ir_br(cx, fn, latch, head, loc));
  Ins *zero = constant(ty, 0, enter);
  Ins *phi = ir_ins(cx, fn, OP_PHI, ty_id(ty, TY_PYINT), loc, &zero, 1);
  ir_insert_phi(head, phi);
  Ins *next = ir_ins(cx, fn, OP_ADD, phi->type, loc, (Ins *[]){phi, constant(ty, 1, back)}, 2);
  next->flags |= INS_NO_WRAP;
  ir_insert_before(back, next);
  ir_add_arg(cx, phi, next);
  Ins *more = ir_ins(cx, fn, OP_LT, ty_id(ty, TY_PYBOOL), loc, (Ins *[]){phi, extent}, 2);
  ir_append(head, more);
  typed(ty, ir_condbr(cx, fn, head, more, body, out, loc));
  nest->counter[k] = phi;
  nest->latch[k] = latch;
  return body;
}

static Val counter_val(const Nest *nest, unsigned k) {
  return (Val){.type = nest->counter[k]->type, .ins = nest->counter[k]};
}

static void store_one(Ty *ty, const Ins *assign, const Nest *nest) {
  Ins *to = assign->args[0], *from = assign->args[1];
  unsigned n = to->type->ndim;
  Val args[2 + TY_MAX_NDIM] = {{.type = to->type, .ins = to}},
               value = {.type = from->type, .ins = from};
  if (from->type->id == TY_ARRAY) {
    unsigned have = from->type->ndim;
    Val read[1 + TY_MAX_NDIM] = {value};
    for (unsigned k = 0; k < have; k++)
      read[1 + k] = counter_val(nest, n - have + k);
    value = ty_cast(ty, ty_op(ty, OP_LOAD, from->type->elem, read, 1 + have), to->type->elem);
  }
  for (unsigned k = 0; k < n; k++)
    args[1 + k] = counter_val(nest, k);
  args[1 + n] = value;
  (void)ty_op(ty, OP_STORE, ty_id(ty, TY_VOID), args, 2 + n);
}

static void lower(Ty *ty, Ins *assign) {
  Nest nest;
  unsigned n = assign->args[0]->type->ndim;
  Block *at = assign->block, *out = ir_split(ty->cx, ty->fn, assign);
  for (unsigned k = 0; k < n; k++)
    at = open_loop(ty, &nest, k, at, assign->args[2 + k], k ? nest.latch[k - 1] : out, assign->loc);
  ty->at = typed(ty, ir_br(ty->cx, ty->fn, at, n ? nest.latch[n - 1] : out, assign->loc));
  store_one(ty, assign, &nest);
  ir_remove(assign);
}

void ty_lower_assigns(Ty *ty) {
  FOR_BLOCKS (ty->fn, b)
    FOR_INS (b, i)
      if (i->op == OP_ASSIGN) {
        lower(ty, i);
        break; /* the rest of the block is a block of its own now, which comes later */
      }
}
