/* Range: range objects as values (len(r), r[i], x in r), and reversed().
 *
 * Distances between int64s, and the size of a step, are uint64s: what lies between the ends of the
 * type has no room in an int64. */
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val count_of(Ty *ty, int64_t n) { return ty_scalar_const(ty, TY_U64, (double)n); }

static Val u64_op(Ty *ty, Op op, Val a, Val b) { return ty_op2(ty, op, ty_id(ty, TY_U64), a, b); }

/* to - from where from <= to. */
static Val distance(Ty *ty, Val from, Val to) {
  return ty_cast_id(ty, ty_op2(ty, OP_SUB, ty_id(ty, TY_PYINT), to, from), TY_U64);
}

/* Of a range that is known: Python's, of any size. */
static Val known_len(Ty *ty, Val start, Val stop, Val step) {
  Val zero = ty_const_int(ty, 0), one = ty_const_int(ty, 1);
  bool down;
  if (!fz_truth(ty_binary(ty, OP_LT, step, zero).konst, &down))
    return BOTTOM;
  Val span = down ? ty_binary(ty, OP_SUB, start, stop) : ty_binary(ty, OP_SUB, stop, start);
  Val width = down ? ty_unary(ty, OP_NEG, step) : step;
  Val last = ty_binary(ty, OP_FLOORDIV, ty_binary(ty, OP_SUB, span, one), width);
  Val n = ty_binary(ty, OP_ADD, last, one);
  bool none;
  return fz_truth(ty_binary(ty, OP_LE, span, zero).konst, &none) && none ? zero : n;
}

Val ty_range_len(Ty *ty, Val range) {
  Val start = ty_item(ty, range, 0), stop = ty_item(ty, range, 1), step = ty_item(ty, range, 2);
  Val zero = ty_const_int(ty, 0);
  if (ty_is_bottom(start) || ty_is_bottom(stop) || ty_is_bottom(step))
    return BOTTOM;
  if (start.konst && stop.konst && step.konst)
    return known_len(ty, start, stop, step);
  Val up = ty_int_test(ty, OP_GT, step, zero);
  Val low = ty_select(ty, up, start, stop), high = ty_select(ty, up, stop, start);
  Val some = ty_int_test(ty, OP_LT, low, high);
  int64_t k;
  if (fz_get_int(step.konst, &k) && (k == 1 || k == -1))
    return ty_select(ty, some, ty_int_op(ty, OP_SUB, high, low), zero);
  Val last = u64_op(ty, OP_SUB, distance(ty, low, high), count_of(ty, 1));
  Val n = u64_op(ty, OP_ADD, u64_op(ty, OP_FLOORDIV, last, ty_magnitude(ty, step)),
                 count_of(ty, 1));
  return ty_select(ty, some, ty_cast_id(ty, n, TY_PYINT), zero);
}

Val ty_range_item(Ty *ty, Val range, Val index) {
  if (index.type->id == TY_SLICE)
    return TY_FAIL(ty, ERR_BAD_OPERAND, "a slice", TY_PRETTY(ty, range));
  Val n = ty_len(ty, range), i = ty_to_index(ty, index);
  int64_t k, count;
  if (ty_is_bottom(n) || ty_is_bottom(i))
    return BOTTOM;
  if (fz_get_int(i.konst, &k) && fz_get_int(n.konst, &count)) {
    if (k < -count || k >= count)
      return TY_FAIL(ty, ERR_TUPLE_INDEX, (long long)k,
                     arena_printf(&ty->cx->arena, "a range of %lld", (long long)count));
    i = ty_const_int(ty, k < 0 ? k + count : k);
  } else {
    Val at = ty_op2(ty, OP_WRAP_INDEX, ty_id(ty, TY_PYINT), i, n);
    if (ty->cx->checked && ty->emit)
      ty_check(ty,
               ty_op2(ty, OP_LT, ty_id(ty, TY_PYBOOL), ty_cast_id(ty, at, TY_U64),
                      ty_cast_id(ty, n, TY_U64)),
               "IndexError", "range index {0} is out of range", &i, 1);
    i = at;
  }
  return ty_int_op(ty, OP_ADD, ty_item(ty, range, 0),
                   ty_int_op(ty, OP_MUL, i, ty_item(ty, range, 2)));
}

static Val between(Ty *ty, Op from_op, Val from, Val x, Op to_op, Val to) {
  return ty_both(ty, OP_AND, ty_int_test(ty, from_op, from, x), ty_int_test(ty, to_op, x, to));
}

/* x in range(start, stop, step): inside, and a whole number of steps from the start. */
Val ty_range_contains(Ty *ty, Val item, Val range) {
  Val start = ty_item(ty, range, 0), stop = ty_item(ty, range, 1), step = ty_item(ty, range, 2);
  Val zero = ty_const_int(ty, 0), x = ty_cast_id(ty, item, TY_PYINT);
  if (ty_is_bottom(x) || ty_is_bottom(start) || ty_is_bottom(stop) || ty_is_bottom(step))
    return BOTTOM;
  Val up = ty_int_test(ty, OP_GT, step, zero);
  Val inside = ty_select(ty, up, between(ty, OP_LE, start, x, OP_LT, stop),
                         between(ty, OP_GE, start, x, OP_GT, stop));
  int64_t k;
  if (!fz_get_int(step.konst, &k) || (k != 1 && k != -1)) {
    Val far = distance(ty, ty_select(ty, up, start, x), ty_select(ty, up, x, start));
    Val rest = u64_op(ty, OP_MOD, far, ty_magnitude(ty, step));
    Val whole = ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), rest, count_of(ty, 0));
    inside = ty_both(ty, OP_AND, inside, whole);
  }
  if (item.type->id == TY_U64) /* above 2**63 it is in no range */
    inside = ty_both(ty, OP_AND, inside, ty_int_test(ty, OP_GE, x, zero));
  return inside;
}

/* 1 or -1, of a step. */
static Val sign(Ty *ty, Val step) {
  Val up = ty_int_test(ty, OP_GT, step, ty_const_int(ty, 0));
  return ty_select(ty, up, ty_const_int(ty, 1), ty_const_int(ty, -1));
}

/* Its stop is next to its last item, and so is an int64 unless that is the end of int64. */
static Val reversed_range(Ty *ty, Val r) {
  Val start = ty_item(ty, r, 0), step = ty_item(ty, r, 2), n = ty_len(ty, r);
  if (ty_is_bottom(n))
    return BOTTOM;
  Val last = ty_int_op(ty, OP_MUL, ty_int_op(ty, OP_SUB, n, ty_const_int(ty, 1)), step);
  Val parts[] = {ty_int_op(ty, OP_ADD, start, last), ty_int_op(ty, OP_SUB, start, sign(ty, step)),
                 ty_int_op(ty, OP_SUB, ty_const_int(ty, 0), step)};
  return ty_pack(ty, r.type, parts, 3);
}

static Val reversed_tuple(Ty *ty, Val t) {
  Val *items = CX_ARRAY(ty->cx, Val, t.type->n + 1);
  for (uint32_t k = 0; k < t.type->n; k++)
    items[k] = ty_item(ty, t, t.type->n - 1 - k);
  return ty_make_tuple(ty, items, t.type->n);
}

static Val backwards(Ty *ty, Val seq) {
  if (seq.type->id == TY_TUPLE)
    return reversed_tuple(ty, seq);
  if (seq.type->id == TY_RANGE)
    return reversed_range(ty, seq);
  if (seq.type->id != TY_ARRAY || !seq.type->ndim)
    return TY_FAIL(ty, ERR_ARGUMENT_TYPE, "reversed", "1", "a tuple, a range or an array",
                   TY_PRETTY(ty, seq));
  Val parts[] = {ty_none(ty), ty_none(ty), ty_const_int(ty, -1)};
  return ty_getitem(ty, seq, ty_slice(ty, parts));
}

Val ty_reversed(Ty *ty, Val seq) {
  Val items = backwards(ty, seq);
  return ty_is_bottom(items)
             ? BOTTOM
             : ty_pack(ty, ty_list_like(ty->cx, TY_REVERSED, &items.type, 1), &items, 1);
}

Val ty_sequence(Ty *ty, Val v) {
  return v.type && v.type->id == TY_REVERSED ? ty_item(ty, v, 0) : v;
}
