/* Assign: a[…] = value and a[…] op= value where a[…] is a view, and array op= value.
 *
 * ty_assign (both passes) checks the value and broadcasts it to the view as NumPy does; it leaves
 * one OP_ASSIGN. ty_lower_assigns, once all types of a function are final, replaces each by a loop
 * nest that stores one element after the other. Nothing is copied beforehand: where source and
 * target are views of one array with the same strides, the order is one that reads each element
 * before it is overwritten, so the result is NumPy's; where they overlap in another way, later
 * reads see earlier writes. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

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

/* May n elements stand for `want`? Raises what is known now, checks the rest where checks are
 * compiled in. */
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

/* A view of `source` with at most the target's axes, whose every axis can be read at the target's
 * index: an axis of one element has stride 0. */
static Val broadcast(Ty *ty, Val source, Val target) {
  unsigned have = source.type->ndim, want = target.type->ndim;
  unsigned extra = have > want ? have - want : 0, skip = have < want ? want - have : 0;
  IrView *view = CX_NEW(ty->cx, IrView);
  Val args[1 + 3 * TY_MAX_NDIM] = {source}, zero = ty_const_int(ty, 0), one = ty_const_int(ty, 1);
  uint32_t n = 1;
  for (unsigned k = 0; k < have; k++) {
    Val from = extent_of(ty, source, k);
    Val to = k < extra ? one : extent_of(ty, target, k - extra + skip);
    if (ty_is_bottom(from) || ty_is_bottom(to) || !fits(ty, from, to))
      return BOTTOM;
    view->kind[view->n++] = k < extra ? VIEW_INDEX : VIEW_SLICE;
    args[n++] = zero;
    if (k < extra)
      continue;
    args[n++] = to;
    args[n++] = ty_select(ty, equal(ty, from, to), one, zero);
  }
  const Type *type = ty_array_in(ty->cx, source.type, source.type->elem, have - extra, LAYOUT_A);
  Val r = ty_op(ty, OP_VIEW, type, args, n);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

static bool assignable(Ty *ty, Val value, Val target) {
  bool array = value.type->id == TY_ARRAY && !ty_has_fields(value);
  if (!array && !ty_is_value(value.type)) {
    (void)TY_FAIL(ty, ERR_STORE_VIEW, TY_PRETTY(ty, value), "a slice of an array");
    return false;
  }
  if (ty_can_store(array ? value.type->elem : value.type, target.type->elem))
    return true;
  (void)TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, value), TY_PRETTY(ty, target));
  return false;
}

static Val assign(Ty *ty, Op op, Val target, Val value) {
  Val args[2 + TY_MAX_NDIM] = {target, value};
  for (unsigned k = 0; k < target.type->ndim; k++)
    args[2 + k] = extent_of(ty, target, k);
  Val r = ty_op_i(ty, OP_ASSIGN, ty_id(ty, TY_VOID), op, args, 2u + target.type->ndim);
  if (r.ins) {
    TyAssign a = {r.ins, target.type, value.type};
    VEC_PUSH(&ty->cx->arena, &ty->spec->assigns, a);
  }
  return r;
}

/* One axis takes a tuple of as many numbers. */
static Val assign_tuple(Ty *ty, Val target, Val tuple) {
  uint32_t n = tuple.type->n;
  if (n == 1)
    return ty_assign(ty, target, ty_item(ty, tuple, 0));
  if (!fits(ty, ty_const_int(ty, n), extent_of(ty, target, 0)))
    return BOTTOM;
  for (uint32_t k = 0; k < n; k++) {
    Val item = ty_item(ty, tuple, k);
    if (ty_is_bottom(item))
      return BOTTOM;
    if (!ty_is_value(item.type) || !ty_can_store(item.type, target.type->elem))
      return TY_FAIL(ty, ERR_STORE_TYPE, TY_PRETTY(ty, item), TY_PRETTY(ty, target));
    (void)ty_op(ty, OP_STORE, ty_id(ty, TY_VOID),
                (Val[]){target, ty_const_int(ty, k), ty_cast(ty, item, target.type->elem)}, 3);
  }
  return ty_none(ty);
}

Val ty_assign(Ty *ty, Val target, Val value) {
  if (ty_is_bottom(target) || ty_is_bottom(value))
    return BOTTOM;
  if (ty_has_fields(target))
    return ty_assign_record(ty, target, value);
  if (value.type->id == TY_TUPLE && target.type->ndim == 1)
    return assign_tuple(ty, target, value);
  if (!assignable(ty, value, target))
    return BOTTOM;
  if (value.type->id != TY_ARRAY && !target.type->ndim)
    return ty_op2(ty, OP_STORE, ty_id(ty, TY_VOID), target, ty_cast(ty, value, target.type->elem));
  if (value.type->id == TY_ARRAY)
    value = broadcast(ty, value, target);
  else
    value = ty_cast(ty, value, target.type->elem);
  return assign(ty, (Op)0, target, value);
}

/* --- target op= value --- */

bool ty_same_kind(const Type *from, const Type *to) {
  if (ty_is_date(from) || ty_is_date(to))
    return from->id == to->id && ty_can_store(from, to);
  static const uint8_t rank[] = {
      [KIND_BOOL] = 0, [KIND_UINT] = 1, [KIND_INT] = 2, [KIND_FLOAT] = 3, [KIND_COMPLEX] = 4};
  return rank[ty_kind(from)] <= rank[ty_kind(to)];
}

/* The type of one element's result; NULL after an error. */
static const Type *change_type(Ty *ty, Op op, const Type *elem, Val value) {
  Ty quiet = *ty;
  quiet.emit = false;
  Val old = {.type = elem};
  if (value.type->id == TY_ARRAY)
    value = (Val){.type = value.type->elem};
  Val r = ty_binary(&quiet, op, old, value);
  ty->stuck |= quiet.stuck;
  if (ty_is_bottom(r) && ty->emit) { /* again, to raise it; nothing is computed from the operands */
    old.ins = ty_ins(ty, ty_const_int(ty, 1));
    value.ins = value.konst ? NULL : old.ins;
    r = ty_binary(ty, op, old, value);
  }
  return r.type;
}

Val ty_change(Ty *ty, Op op, Val target, Val value) {
  if (ty_is_bottom(target) || ty_is_bottom(value) || !assignable(ty, value, target))
    return BOTTOM;
  const Type *elem = target.type->elem,
             *t = ty_has_fields(target) ? NULL : change_type(ty, op, elem, value);
  if (ty_has_fields(target))
    return TY_FAIL(ty, ERR_RECORD_OPERAND, ty_op_text(op), TY_PRETTY(ty, target));
  if (!t)
    return BOTTOM;
  if (target.type->readonly)
    return TY_FAIL(ty, ERR_READ_ONLY, TY_PRETTY(ty, target));
  if (!ty_is_weak(t) && !ty_same_kind(t, elem))
    return TY_FAIL(ty, ERR_STORE_TYPE, ty_pretty(ty->cx, t), TY_PRETTY(ty, target));
  if (value.type->id == TY_ARRAY) {
    if (value.type->ndim > target.type->ndim)
      return TY_FAIL(ty, ERR_STORE_VIEW, TY_PRETTY(ty, value), TY_PRETTY(ty, target));
    value = broadcast(ty, value, target);
  }
  return ty_is_bottom(assign(ty, op, target, value)) ? BOTTOM : target;
}

/* --- loops --- */

typedef struct Nest {
  Block *latch[TY_MAX_NDIM];
  Ins *counter[TY_MAX_NDIM];
  Val index[TY_MAX_NDIM]; /* of the element: the counter, or from the end */
  Val down[TY_MAX_NDIM];  /* is it from the end; without a type: never */
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

/* for counter in range(extent), behind `from`, which has no terminator yet. Returns the body, which
 * has none either. */
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

/* What an array is a view of. */
static const Ins *root_of(const Ins *i) {
  while (i->op == OP_VIEW)
    i = i->args[0];
  return i;
}

/* May the two overlap so that the order of the elements matters? Two parameters are taken for two
 * arrays. */
static bool may_overlap(const Ins *to, const Ins *from) {
  if (from->type->id != TY_ARRAY || from->type->elem != to->type->elem ||
      from->type->space != to->type->space)
    return false;
  const Ins *a = root_of(to), *b = root_of(from);
  bool apart = (a->op == OP_PARAM || a->op == OP_ALLOC) && (b->op == OP_PARAM || b->op == OP_ALLOC);
  return a == b || !apart;
}

/* Before the loops: addresses are gone through upwards where the source lies behind the target,
 * downwards where it lies before it. So an element is read before it is overwritten where both have
 * the same strides. */
static void choose_order(Ty *ty, Nest *nest, const Ins *assign) {
  Val to = {.type = assign->args[0]->type, .ins = assign->args[0]};
  Val from = {.type = assign->args[1]->type, .ins = assign->args[1]};
  const Type *pyint = ty_id(ty, TY_PYINT), *pybool = ty_id(ty, TY_PYBOOL);
  Val before = ty_op2(ty, OP_LT, pybool, ty_op1(ty, OP_ADDRESS, pyint, from),
                      ty_op1(ty, OP_ADDRESS, pyint, to));
  for (unsigned k = 0; k < to.type->ndim; k++) {
    Val stride = ty_op_i(ty, OP_STRIDE, pyint, k, &to, 1);
    nest->down[k] = ty_op2(ty, OP_NE, pybool, before,
                           ty_op2(ty, OP_LT, pybool, stride, ty_const_int(ty, 0)));
  }
}

/* In the innermost block. */
static void find_indices(Ty *ty, Nest *nest, const Ins *assign) {
  const Type *pyint = ty_id(ty, TY_PYINT);
  for (unsigned k = 0; k < assign->args[0]->type->ndim; k++) {
    Val counter = counter_val(nest, k), extent = {.type = pyint, .ins = assign->args[2 + k]};
    nest->index[k] = counter;
    if (!nest->down[k].type)
      continue;
    Val last = ty_op2(ty, OP_SUB, pyint, extent, ty_const_int(ty, 1));
    nest->index[k] = ty_select(ty, nest->down[k], ty_op2(ty, OP_SUB, pyint, last, counter),
                               counter);
  }
}

/* The types of an assignment's operands, which its instructions have as they are stored. */
static const TyAssign *types_of(Ty *ty, const Ins *assign) {
  for (uint32_t k = ty->spec->assigns.len; k-- > 0;)
    if (ty->spec->assigns.data[k].ins == assign)
      return &ty->spec->assigns.data[k];
  cx_bug(ty->cx, "%%%u: an assignment without types", assign->id);
}

static void store_one(Ty *ty, const Ins *assign, const Nest *nest) {
  Ins *to = assign->args[0], *from = assign->args[1];
  const TyAssign *types = types_of(ty, assign);
  const Type *elem = types->target->elem;
  unsigned n = to->type->ndim;
  Val args[2 + TY_MAX_NDIM] = {{.type = types->target, .ins = to}};
  Val value = {.type = types->value,
               .konst = from->op == OP_CONST && !ty_is_date(types->value) ? from->aux.frozen : NULL,
               .ins = from};
  for (unsigned k = 0; k < n; k++)
    args[1 + k] = nest->index[k];
  if (from->type->id == TY_ARRAY) {
    unsigned have = from->type->ndim;
    Val read[1 + TY_MAX_NDIM] = {value};
    for (unsigned k = 0; k < have; k++)
      read[1 + k] = nest->index[n - have + k];
    value = ty_op(ty, OP_LOAD, types->value->elem, read, 1 + have);
  }
  if (assign->aux.i)
    value = ty_binary(ty, (Op)assign->aux.i, ty_op(ty, OP_LOAD, elem, args, 1 + n), value);
  args[1 + n] = ty_cast(ty, value, elem);
  (void)ty_op(ty, OP_STORE, ty_id(ty, TY_VOID), args, 2 + n);
}

static void lower(Ty *ty, Ins *assign) {
  Nest nest = {0};
  unsigned n = assign->args[0]->type->ndim;
  ty->at = assign;
  if (may_overlap(assign->args[0], assign->args[1]))
    choose_order(ty, &nest, assign);
  Block *at = assign->block, *out = ir_split(ty->cx, ty->fn, assign);
  for (unsigned k = 0; k < n; k++)
    at = open_loop(ty, &nest, k, at, assign->args[2 + k], k ? nest.latch[k - 1] : out, assign->loc);
  ty->at = typed(ty, ir_br(ty->cx, ty->fn, at, n ? nest.latch[n - 1] : out, assign->loc));
  find_indices(ty, &nest, assign);
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
