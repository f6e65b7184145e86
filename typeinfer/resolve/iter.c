/* Iteration: ITER* to arithmetic. A range's state is its item; any other sequence's is the index.
 *
 * The counters do not wrap: a loop that counts past 2**63 by small steps does not end in anyone's
 * lifetime. By large steps it does, and codegen/ssa/last_steps.c has it leave before the last
 * one. */
#include "ir/registers.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

/* --- the sequence --- */

/* A tuple that is looped over: its elements take the type that the loop variable has. */
static Val common_tuple(Ty *ty, Val t) {
  if (ty_is_bottom(t)) /* one that is too large */
    return BOTTOM;
  const Type *elem = t.type->n ? ty_join_all(ty, t.type->elems, t.type->n) : NULL;
  if (!elem)
    return t.type->n ? TY_FAIL(ty, ERR_LOOP_MIXED, TY_PRETTY(ty, t)) : t;
  const Type **elems = CX_ARRAY(ty->cx, const Type *, t.type->n);
  for (uint32_t k = 0; k < t.type->n; k++)
    elems[k] = elem;
  return ty_cast(ty, t, ty_tuple(ty->cx, elems, t.type->n));
}

Val ty_iter(Ty *ty, Val v) {
  if (ty_is_bottom(v))
    return BOTTOM;
  switch (v.type->id) {
  case TY_TUPLE: return common_tuple(ty, v);
  case TY_OBJECT:
    if (v.type->frozen->kind == FZ_ENUM)
      return common_tuple(ty, ty_enum_members(ty, v.type->frozen));
    if (ty_is_bytes(v))
      return v;
    break;
  case TY_RANGE:
  case TY_ENUMERATE:
  case TY_ZIP: return v;
  case TY_REVERSED: return ty_iter(ty, ty_sequence(ty, v));
  case TY_ARRAY:
    if (v.type->ndim)
      return v;
    if (ty_is_record(v))
      return common_tuple(ty, ty_record_items(ty, v));
    break;
  case TY_FUNC:
    if (ty_is_generator(v))
      return TY_FAIL(ty, ERR_GENEXPR);
    break;
  default: break;
  }
  return TY_FAIL_ADVISED(ty, ty_outside_advice(v), ERR_NOT_ITERABLE, TY_PRETTY(ty, v));
}

/* --- by index --- */

static Val has_index(Ty *ty, Val seq, Val i) {
  if (ty_is_bottom(seq))
    return BOTTOM;
  switch (seq.type->id) {
  case TY_ENUMERATE: return has_index(ty, ty_item(ty, seq, 0), i);
  case TY_ZIP: {
    Val r = ty_const_bool(ty, seq.type->n != 0);
    for (uint32_t k = 0; k < seq.type->n; k++)
      r = ty_both(ty, OP_AND, r, has_index(ty, ty_item(ty, seq, k), i));
    return r;
  }
  default: return ty_int_test(ty, OP_LT, i, ty_len(ty, seq));
  }
}

static Val counted(Ty *ty, Op op, Val a, Val b) {
  Val r = ty_int_op(ty, op, a, b);
  ty_flag(r, INS_NO_WRAP);
  return r;
}

/* By small steps no loop gets where i * step leaves 64 bits; by large ones the product may, on its
 * way from a start below zero to an item above. */
static Val range_at(Ty *ty, Val range, Val i) {
  enum { SMALL = 1 << 16 };
  Val start = ty_item(ty, range, 0), step = ty_item(ty, range, 2);
  int64_t by;
  bool small = fz_get_int(step.konst, &by) && by >= -SMALL && by <= SMALL;
  Val (*op)(Ty *, Op, Val, Val) = small ? counted : ty_int_op;
  return op(ty, OP_ADD, start, op(ty, OP_MUL, i, step));
}

static Val at_index(Ty *ty, Val seq, Val i) {
  if (ty_is_bottom(seq) || ty_is_bottom(i))
    return BOTTOM;
  switch (seq.type->id) {
  case TY_RANGE: return range_at(ty, seq, i);
  case TY_ENUMERATE: {
    Val pair[] = {counted(ty, OP_ADD, ty_item(ty, seq, 1), i),
                  at_index(ty, ty_item(ty, seq, 0), i)};
    return ty_make_tuple(ty, pair, 2);
  }
  case TY_ZIP: {
    Val *items = CX_ARRAY(ty->cx, Val, seq.type->n + 1);
    for (uint32_t k = 0; k < seq.type->n; k++)
      items[k] = at_index(ty, ty_item(ty, seq, k), i);
    return ty_make_tuple(ty, items, seq.type->n);
  }
  case TY_TUPLE: /* the index is in range by construction */
    if (seq.type->n && !ty_stored(seq.type->elems[0]))
      return ty_item(ty, seq, 0);
    if (!seq.type->n)
      return ty_none(ty); /* never reached */
    return ty_op2(ty, OP_TUPLE_INDEX, seq.type->elems[0], seq, i);
  default: {
    bool checked = ty->cx->checked;
    ty->cx->checked = false;
    Val r = ty_getitem(ty, seq, i);
    ty->cx->checked = checked;
    return r;
  }
  }
}

/* --- the protocol --- */

Val ty_iter_start(Ty *ty, Val seq) {
  if (ty_is_bottom(seq))
    return BOTTOM;
  return seq.type->id == TY_RANGE ? ty_item(ty, seq, 0) : ty_const_int(ty, 0);
}

/* Emission: a value that is > 0 wherever it runs: constants, block and grid sizes, their products
 * and sums. */
static bool positive(const Ins *i, int depth) {
  if (!i || depth > 4)
    return false;
  int64_t least, most;
  if (i->op == OP_INTRINSIC)
    return ir_register_bounds(i->aux.intrinsic, &least, &most) && least > 0;
  if (i->op == OP_CONST)
    return i->aux.frozen->kind == FZ_INT && i->aux.frozen->i > 0;
  bool pair = i->op == OP_MUL || i->op == OP_ADD;
  return pair && (i->flags & INS_NO_WRAP) && positive(i->args[0], depth + 1) &&
         positive(i->args[1], depth + 1);
}

Val ty_iter_more(Ty *ty, Val seq, Val state) {
  if (ty_is_bottom(seq) || ty_is_bottom(state))
    return BOTTOM;
  CX_ASSERT(ty->cx, state.type->id == TY_PYINT);
  if (seq.type->id != TY_RANGE)
    return has_index(ty, seq, state);
  Val stop = ty_item(ty, seq, 1), step = ty_item(ty, seq, 2);
  int64_t k;
  if (fz_get_int(step.konst, &k))
    return ty_int_test(ty, k > 0 ? OP_LT : OP_GT, state, stop);
  if (positive(step.ins, 0))
    return ty_int_test(ty, OP_LT, state, stop);
  Val up = ty_int_test(ty, OP_GT, step, ty_const_int(ty, 0));
  return ty_select(ty, up, ty_int_test(ty, OP_LT, state, stop),
                   ty_int_test(ty, OP_GT, state, stop));
}

Val ty_iter_item(Ty *ty, Val seq, Val state) {
  if (ty_is_bottom(seq) || ty_is_bottom(state))
    return BOTTOM;
  return seq.type->id == TY_RANGE ? state : at_index(ty, seq, state);
}

Val ty_iter_step(Ty *ty, Val seq, Val state) {
  if (ty_is_bottom(seq) || ty_is_bottom(state))
    return BOTTOM;
  bool range = seq.type->id == TY_RANGE;
  return counted(ty, OP_ADD, state, range ? ty_item(ty, seq, 2) : ty_const_int(ty, 1));
}
