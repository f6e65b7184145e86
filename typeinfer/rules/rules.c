/* Rules: the typing rule of each lifted operation, by table. */
#include "typeinfer/rules/rules.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

typedef Val (*OpRule)(Ty *ty, Ins *i);

static bool may_be_none(Val v) { return v.type && v.type->id == TY_OPTIONAL; }

static Val rule_binary(Ty *ty, Ins *i) {
  Val x = ty_arg_or_none(ty, i, 0), y = ty_arg_or_none(ty, i, 1);
  bool equality = i->op == OP_EQ || i->op == OP_NE;
  if (equality && (may_be_none(x) || may_be_none(y)))
    return ty_equal(ty, (Op)i->op, x, y);
  if (i->aux2 && x.type && x.type->id == TY_ARRAY)
    return ty_change(ty, (Op)i->op, x, ty_given(ty, y));
  return ty_binary(ty, (Op)i->op, ty_given(ty, x), ty_given(ty, y));
}
static Val rule_unary(Ty *ty, Ins *i) { return ty_unary(ty, (Op)i->op, ty_arg(ty, i, 0)); }
static Val rule_not(Ty *ty, Ins *i) { return ty_not(ty, ty_arg_or_none(ty, i, 0)); }
static Val rule_truth(Ty *ty, Ins *i) { return ty_truth(ty, ty_arg_or_none(ty, i, 0)); }
static Val rule_is(Ty *ty, Ins *i) {
  return ty_is(ty, ty_arg_or_none(ty, i, 0), ty_arg_or_none(ty, i, 1), i->op == OP_IS_NOT);
}
static Val rule_in(Ty *ty, Ins *i) {
  Val item = ty_arg_or_none(ty, i, 0), seq = ty_arg(ty, i, 1);
  bool tuple = seq.type && seq.type->id == TY_TUPLE;
  return ty_contains(ty, tuple ? item : ty_given(ty, item), seq, i->op == OP_NOT_IN);
}
static Val rule_getattr(Ty *ty, Ins *i) { return ty_getattr(ty, ty_arg(ty, i, 0), i->name); }
static Val rule_getitem(Ty *ty, Ins *i) {
  return ty_getitem(ty, ty_arg(ty, i, 0), ty_arg(ty, i, 1));
}
static Val rule_make_func(Ty *ty, Ins *i) { return ty_make_func(ty, i); }
static Val rule_make_str(Ty *ty, Ins *i) { return ty_make_str(ty, i); }
static Val rule_len(Ty *ty, Ins *i) { return ty_len(ty, ty_arg(ty, i, 0)); }
static Val rule_iter(Ty *ty, Ins *i) { return ty_iter(ty, ty_arg(ty, i, 0)); }
static Val rule_iter_start(Ty *ty, Ins *i) { return ty_iter_start(ty, ty_arg(ty, i, 0)); }
static Val rule_iter_more(Ty *ty, Ins *i) {
  return ty_iter_more(ty, ty_arg(ty, i, 0), ty_arg(ty, i, 1));
}
static Val rule_iter_item(Ty *ty, Ins *i) {
  return ty_iter_item(ty, ty_arg(ty, i, 0), ty_arg(ty, i, 1));
}
static Val rule_iter_step(Ty *ty, Ins *i) {
  return ty_iter_step(ty, ty_arg(ty, i, 0), ty_arg(ty, i, 1));
}
static Val rule_none(Ty *ty, Ins *i) {
  cx_bug(ty->cx, "%s has no typing rule", ir_op_info[i->op].text);
}
static Val rule_read(Ty *ty, Ins *i) { return ty_read(ty, i); }
static Val rule_const(Ty *ty, Ins *i) { return ty_const(ty, i->aux.frozen); }

static Val rule_global(Ty *ty, Ins *i) {
  uint32_t k;
  if (ty_is_capture(i->aux.frozen, &k)) {
    Val v = ty_value(ty, ty->spec->params[ty->spec->nargs - ty->spec->func->code->nfrees + k]);
    return i->aux2 ? v : ty_captured(ty, v, i->name);
  }
  return ty_const(ty, i->aux.frozen);
}

/* a[i] op= x has changed the view a[i]; what Python then stores into a[i] is that view itself. */
static bool stores_itself(Ty *ty, const Ins *i) {
  const Ins *change = i->args[2],
            *view = change->nargs == 2 && change->aux2 ? change->args[0] : NULL;
  bool same = view && view->op == OP_GETITEM && change->op >= OP_ADD && change->op <= OP_MATMUL &&
              view->args[0] == i->args[0] && view->args[1] == i->args[1];
  Val v = same ? ty_arg(ty, (Ins *)(uintptr_t)i, 2) : BOTTOM;
  return v.type && v.type->id == TY_ARRAY;
}

static Val rule_setitem(Ty *ty, Ins *i) {
  if (stores_itself(ty, i))
    return ty_none(ty);
  return ty_setitem(ty, ty_arg(ty, i, 0), ty_arg(ty, i, 1), ty_arg(ty, i, 2));
}

static Val rule_line(Ty *ty, Ins *i) {
  (void)i;
  (void)ty_op(ty, OP_LINE, ty_id(ty, TY_VOID), NULL, 0);
  return ty_none(ty);
}

static Val rule_setattr(Ty *ty, Ins *i) {
  return ty_setattr(ty, ty_arg(ty, i, 0), i->name, ty_arg(ty, i, 1));
}

static Val rule_delitem(Ty *ty, Ins *i) {
  (void)i;
  return TY_FAIL(ty, ERR_DELETE, "an element");
}

/* Operands from number `from` on, as they are; NULL if one is bottom. */
static Val *operands(Ty *ty, Ins *i, uint32_t from) {
  Val *v = CX_ARRAY(ty->cx, Val, i->nargs + 1);
  bool ok = true;
  for (uint32_t k = from; k < i->nargs; k++) {
    v[k - from] = ty_arg_or_none(ty, i, k);
    ok &= !ty_is_bottom(v[k - from]);
  }
  return ok ? v : NULL;
}

/* Is a function with captured values among what the value holds? */
static bool holds_closure(const Type *t, int depth) {
  if (t->id == TY_FUNC && t->n)
    return true;
  for (uint32_t k = 0; k < t->n && depth < TY_MAX_DEPTH; k++)
    if (holds_closure(t->elems[k], depth + 1))
      return true;
  return false;
}

/* What a call gives: a nested function that it hands back has captured values, which the caller may
 * have changed by then. */
static Val called(Ty *ty, const Ins *i, Val v) {
  for (uint32_t k = 0; ty->emit && !ty_is_bottom(v) && k < ty->fn->handed.len; k++) {
    const IrHanded *h = &ty->fn->handed.data[k];
    if (h->call != i || !holds_closure(v.type, 0))
      continue;
    note(ty->cx, h->made, "%s is defined here", h->function);
    note(ty->cx, i->loc, "this call gives a function that uses '%s'", h->variable);
    advise(ty->cx, h->advice);
    return TY_FAIL_AT(ty, h->assigned, ERR_CAPTURE, h->variable, h->function);
  }
  return v;
}

/* A Python function takes what may be None; what is printed or asked for its class would have to be
 * None then. */
static Val call_operand(Ty *ty, Val callee, Val v) {
  const Frozen *f = callee.type->frozen;
  bool function = callee.type->id == TY_FUNC && f;
  if (function && f->kind == FZ_FUNC && !(f->func->options && f->func->options->nsignatures))
    return v;
  IntrinsicId id = function && f->kind == FZ_INTRINSIC ? (IntrinsicId)f->i : INTR_NONE;
  bool tested = id == INTR_PY_PRINT || id == INTR_PY_ISINSTANCE || id == INTR_PY_TYPE ||
                id == INTR_PY_ROUND || id == INTR_PY_SLICE;
  return tested ? ty_tested(ty, v, "this call") : ty_given(ty, v);
}

static Val rule_call(Ty *ty, Ins *i) {
  Val callee = ty_arg(ty, i, 0), *args = operands(ty, i, 1);
  for (uint32_t k = 0; args && !ty_is_bottom(callee) && k + 1 < i->nargs; k++)
    if (ty_is_bottom(args[k] = call_operand(ty, callee, args[k])))
      return BOTTOM;
  return args ? called(ty, i, ty_call(ty, callee, args, i->nargs - 1, i->aux.names)) : BOTTOM;
}

static Val rule_call_star(Ty *ty, Ins *i) { return called(ty, i, ty_call_star(ty, i)); }

static Val rule_make_tuple(Ty *ty, Ins *i) {
  Val *items = operands(ty, i, 0);
  return items ? ty_make_sequence(ty, items, i->nargs, i->op == OP_MAKE_LIST) : BOTTOM;
}

static Val rule_make_slice(Ty *ty, Ins *i) {
  Val *parts = operands(ty, i, 0);
  for (uint32_t k = 0; parts && k < 3; k++)
    if (ty_is_bottom(ty_tested(ty, parts[k], "a slice")))
      return BOTTOM;
  return parts ? ty_slice(ty, parts) : BOTTOM;
}

static Val rule_format(Ty *ty, Ins *i) { return ty_format(ty, i); }

static Val rule_unpack(Ty *ty, Ins *i) {
  return ty_unpack(ty, ty_arg(ty, i, 0), (uint32_t)i->aux.i, (uint32_t)i->aux2);
}

static Val rule_unpack_ex(Ty *ty, Ins *i) {
  return ty_unpack_ex(ty, ty_arg(ty, i, 0), (uint32_t)i->aux.i, (uint32_t)i->aux2 & 255,
                      (uint32_t)i->aux2 >> 8);
}

static Val rule_make_dict(Ty *ty, Ins *i) {
  (void)i;
  return TY_FAIL(ty, ERR_DICT);
}

static Val rule_list_extend(Ty *ty, Ins *i) {
  Val a = ty_arg(ty, i, 0), b = ty_sequence(ty, ty_arg(ty, i, 1));
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  if (a.type->id != TY_TUPLE || b.type->id != TY_TUPLE)
    return TY_FAIL(ty, ERR_STAR_CALL);
  return ty_extend(ty, a, b);
}

static Val rule_is_seq(Ty *ty, Ins *i) {
  Val v = ty_arg(ty, i, 0);
  return ty_is_bottom(v) ? BOTTOM
                         : ty_const_bool(ty, v.type->id == TY_TUPLE || v.type->id == TY_RANGE);
}

static const OpRule rules[OP_COUNT] = {
#define OP(ID, text, stage, lo, hi, effect, rule, lower, doc) [OP_##ID] = rule_##rule,
#include "ir/ops.def"
#undef OP
};

/* Without weak numbers: the type with int64, float64, complex128 and bool in their place. */
static const Type *strong_type(Ty *ty, const Type *t) {
  if (ty_is_scalar(t))
    return ty_id(ty, ty_strengthen(t->id));
  if (t->id == TY_OPTIONAL)
    return ty_map_optional(ty, t, strong_type);
  if (t->id != TY_TUPLE)
    return t;
  const Type **elems = CX_ARRAY(ty->cx, const Type *, t->n + 1);
  for (uint32_t k = 0; k < t->n; k++)
    elems[k] = strong_type(ty, t->elems[k]);
  return ty_tuple_like(ty->cx, elems, t);
}

/* What only the loop itself reads. */
static bool is_control(const Ins *i) {
  return i->op == OP_ITER_START || i->op == OP_ITER_MORE || i->op == OP_ITER_STEP;
}

Val ty_eval(Ty *ty, Ins *i) {
  Val v = rules[i->op](ty, i);
  if (ty_is_bottom(v))
    return v;
  if (!ty_policy(ty->cx)->weak && !is_control(i))
    v = ty_cast(ty, v, strong_type(ty, v.type));
  v.src = i->op == OP_READ ? v.src : i;
  return v;
}
