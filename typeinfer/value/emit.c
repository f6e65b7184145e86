/* Emit: values and, in emission, the instructions behind them. */
#include <string.h>

#include "typeinfer/value/value.h"

const Type *ty_id(Ty *ty, TypeId id) { return ty_scalar(ty->cx, id); }

/* --- storage --- */

uint32_t ty_parts(Ty *ty, const Type *t, const Type *const **elems) {
  if (t->id == TY_RANGE) {
    const Type **three = CX_ARRAY(ty->cx, const Type *, 3);
    three[0] = three[1] = three[2] = ty_id(ty, TY_PYINT);
    *elems = three;
    return 3;
  }
  if (t->id == TY_ENUMERATE) {
    const Type **two = CX_ARRAY(ty->cx, const Type *, 2);
    two[0] = t->elems[0];
    two[1] = ty_id(ty, TY_PYINT);
    *elems = two;
    return 2;
  }
  if (ty_is_complex(t)) {
    const Type **two = CX_ARRAY(ty->cx, const Type *, 2);
    two[0] = two[1] = ty_id(ty, ty_part_id(t->id));
    *elems = two;
    return 2;
  }
  *elems = t->elems;
  return t->n;
}

static bool is_packed(const Type *t) {
  if (ty_is_complex(t))
    return true;
  return t->id >= TY_TUPLE && t->id != TY_ARRAY && (t->n || t->id == TY_RANGE || t->id == TY_TUPLE);
}

bool ty_stored(const Type *t) {
  if (t->id == TY_RANGE || t->id == TY_ARRAY || ty_is_value(t))
    return true;
  for (uint32_t k = 0; k < t->n; k++)
    if (ty_stored(t->elems[k]))
      return true;
  return t->id == TY_ENUMERATE || t->id == TY_ENUM;
}

/* An array of dates is one of int64. */
static const Type *array_storage(Ty *ty, const Type *t) {
  if (t->flat)
    t = ty_array_flat_like(ty->cx, t, false);
  if (!ty_is_date(t->elem))
    return t;
  Type stored = *t;
  stored.elem = ty_id(ty, TY_I64);
  stored.text = NULL;
  return ty_intern(ty->cx, &stored);
}

const Type *ty_storage(Ty *ty, const Type *t) {
  if (ty_is_date(t))
    return ty_id(ty, TY_I64);
  if (t->id == TY_ARRAY)
    return array_storage(ty, t);
  if (t->id == TY_ENUM)
    return ty_id(ty, TY_PYINT);
  if (!is_packed(t) || ty_is_complex(t)) /* a complex number is two leaves under its own type */
    return t;
  const Type *const *elems;
  uint32_t n = ty_parts(ty, t, &elems);
  const Type **stored = CX_ARRAY(ty->cx, const Type *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    stored[k] = ty_storage(ty, elems[k]);
  return ty_tuple(ty->cx, stored, n);
}

bool ty_same(Ty *ty, Val a, Val b) {
  if (a.type != b.type || !a.konst != !b.konst || (a.konst && !fz_same(a.konst, b.konst)) ||
      !a.items != !b.items)
    return false;
  if (!a.items || a.items == b.items || a.konst)
    return true;
  const Type *const *elems;
  uint32_t n = a.type->id == TY_ARRAY ? a.type->ndim : ty_parts(ty, a.type, &elems);
  for (uint32_t k = 0; k < n; k++)
    if (!ty_same(ty, a.items[k], b.items[k]))
      return false;
  return true;
}

/* --- instructions --- */

static Ins *insert(Ty *ty, Op op, const Type *type, Ins *const *args, uint32_t n) {
  CX_ASSERT(ty->cx, ty->emit && ty->at && type);
  Ins *i = ir_ins(ty->cx, ty->fn, op, ty_storage(ty, type), ty->at->loc, args, n);
  ir_insert_before(ty->at, i);
  return i;
}

static Ins *whole_tuple(Ty *ty, Val v) {
  const Type *const *elems;
  uint32_t n = ty_parts(ty, v.type, &elems);
  Ins **args = CX_ARRAY(ty->cx, Ins *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    args[k] = ty_ins(ty, ty_item(ty, v, k));
  return insert(ty, OP_MAKE_TUPLE, v.type, args, n);
}

/* A Python int that 64 bits do not hold has no instruction. */
static _Noreturn void fail_wide(Ty *ty, Val v) {
  bool is_unsigned = !v.konst->text;
  advise(ty->cx, is_unsigned
                     ? "np.uint64(x) holds it; a Python int in a kernel has 63 bits and a sign"
                     : "a Python int in a kernel has 63 bits and a sign: compute with floats "
                       "(10.0**30), or in smaller numbers");
  fail(ty->cx, v.src ? v.src->loc : ty->at->loc, ERR_LITERAL_RANGE, fz_text(ty->cx, v.konst),
       is_unsigned ? "int64" : "64 bits");
}

Ins *ty_ins(Ty *ty, Val v) {
  if (v.ins)
    return v.ins;
  CX_ASSERT(ty->cx, ty->emit && v.type);
  if (v.konst && v.konst->kind == FZ_INT && v.konst->wide && ty_kind(v.type) != KIND_UINT)
    fail_wide(ty, v);
  if (is_packed(v.type))
    return whole_tuple(ty, v);
  CX_ASSERT(ty->cx, v.konst || !ty_stored(v.type));
  if (v.type->id == TY_ARRAY) {
    Ins *i = insert(ty, OP_CONST_ARRAY, v.type, NULL, 0);
    i->aux.frozen = v.konst;
    return i;
  }
  Ins *i = insert(ty, OP_CONST, v.type, NULL, 0);
  i->aux.frozen = v.type->id == TY_ENUM || ty_is_date(v.type) ? fz_int(ty->cx, v.konst->i)
                  : ty_is_number(v.type)                      ? ty_normal(ty->cx, v.konst, v.type)
                  : v.konst                                   ? v.konst
                                                              : v.type->frozen;
  if (!i->aux.frozen)
    i->aux.frozen = fz_none(ty->cx);
  return i;
}

/* Does it compute with numbers, not only move them? */
static bool computes(Op op) {
  return (op >= OP_ADD && op <= OP_GE) || op == OP_CHECK || op == OP_PRINT;
}

static bool holds_float8(const Type *type, const Val *args, uint32_t n) {
  bool holds = ty_is_float8(type->id);
  for (uint32_t k = 0; k < n && !holds; k++)
    holds = ty_is_float8(args[k].type->id);
  return holds;
}

/* 8-bit floats have no operations: their values are computed as float32, which has more than twice
 * their bits, so that + - * / and square roots are rounded once. */
static const Type *wide_type(Ty *ty, const Type *type) {
  return ty_is_float8(type->id) ? ty_id(ty, TY_F32) : type;
}

static const Val *wide_values(Ty *ty, const Val *args, uint32_t n) {
  Val *wide = CX_ARRAY(ty->cx, Val, n + 1);
  for (uint32_t k = 0; k < n; k++)
    wide[k] = ty_is_float8(args[k].type->id) ? ty_cast_id(ty, args[k], TY_F32) : args[k];
  return wide;
}

Val ty_op(Ty *ty, Op op, const Type *type, const Val *args, uint32_t n) {
  Val r = {.type = type};
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (computes(op) && holds_float8(type, args, n))
    return ty_cast(ty, ty_op(ty, op, wide_type(ty, type), wide_values(ty, args, n), n), type);
  if (!ty->emit)
    return r;
  Ins *few[8], **ins = n <= 8 ? few : CX_ARRAY(ty->cx, Ins *, n);
  for (uint32_t k = 0; k < n; k++)
    ins[k] = ty_ins(ty, args[k]);
  r.ins = insert(ty, op, type, ins, n);
  return r;
}

Val ty_op_i(Ty *ty, Op op, const Type *type, int64_t aux, const Val *args, uint32_t n) {
  Val r = ty_op(ty, op, type, args, n);
  if (r.ins)
    r.ins->aux.i = aux;
  return r;
}

Val ty_op1(Ty *ty, Op op, const Type *type, Val a) { return ty_op(ty, op, type, &a, 1); }
Val ty_op2(Ty *ty, Op op, const Type *type, Val a, Val b) {
  return ty_op(ty, op, type, (Val[]){a, b}, 2);
}

static Val int_op(Ty *ty, Op op, TypeId result, Val a, Val b) {
  const Frozen *k = ty_fold_binary(ty->cx, op, a.konst, b.konst);
  return k ? ty_constant(ty, k, result) : ty_op2(ty, op, ty_id(ty, result), a, b);
}

Val ty_int_op(Ty *ty, Op op, Val a, Val b) { return int_op(ty, op, TY_PYINT, a, b); }
Val ty_int_test(Ty *ty, Op op, Val a, Val b) { return int_op(ty, op, TY_PYBOOL, a, b); }

Val ty_intrinsic(Ty *ty, IntrinsicId id, const Type *type, const Val *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return BOTTOM;
  if (id != INTR_NP_VIEW && holds_float8(type, args, n)) { /* a view has the bits */
    if (id == INTR_MATH_NEXTAFTER)
      return TY_FAIL(
          ty, ERR_ARGUMENTS, "nextafter",
          "8-bit floats have no neighbours: convert x with np.float32(x), or step through "
          "its bits, x.view(np.uint8)");
    const Val *wide = wide_values(ty, args, n);
    return ty_cast(ty, ty_intrinsic(ty, id, wide_type(ty, type), wide, n), type);
  }
  Val r = ty_op(ty, OP_INTRINSIC, type, args, n);
  if (r.ins) {
    r.ins->aux.intrinsic = id;
    if (ir_intrinsics[id].effect == EFFECT_SYNC)
      ty->fn->has_barrier = true;
  }
  return r;
}

Val ty_select(Ty *ty, Val cond, Val yes, Val no) {
  bool taken;
  CX_ASSERT(ty->cx, ty_is_bottom(yes) || ty_is_bottom(no) || yes.type == no.type);
  if (!ty_is_bottom(yes) && !ty_is_bottom(no) && fz_truth(cond.konst, &taken))
    return taken ? yes : no;
  return ty_op(ty, OP_SELECT, yes.type, (Val[]){cond, yes, no}, 3);
}

Val ty_both(Ty *ty, Op op, Val a, Val b) {
  bool known, stops = op == OP_OR;
  if (ty_is_bottom(a) || ty_is_bottom(b))
    return BOTTOM;
  CX_ASSERT(ty->cx, a.type->id == TY_PYBOOL && b.type->id == TY_PYBOOL);
  if (fz_truth(a.konst, &known))
    return known == stops ? a : b;
  if (fz_truth(b.konst, &known))
    return known == stops ? b : a;
  return ty_op2(ty, op, ty_id(ty, TY_PYBOOL), a, b);
}

Val ty_negation(Ty *ty, Val a) {
  bool known;
  if (fz_truth(a.konst, &known))
    return ty_const_bool(ty, !known);
  return ty_op1(ty, OP_NOT, ty_id(ty, TY_PYBOOL), a);
}

void ty_check(Ty *ty, Val cond, const char *exception, const char *message, const Val *vals,
              uint32_t n) {
  bool known;
  if (!ty->emit || (fz_truth(cond.konst, &known) && known))
    return;
  Val args[4] = {cond};
  CX_ASSERT(ty->cx, n < 4);
  for (uint32_t k = 0; k < n; k++)
    args[k + 1] = vals[k];
  Val c = ty_op(ty, OP_CHECK, ty_id(ty, TY_VOID), args, n + 1);
  c.ins->aux.site = ir_site(ty->cx, ty->p->program, exception, message, ty->at->loc);
}

void ty_flag(Val v, unsigned flags) {
  if (v.ins)
    v.ins->flags |= (uint16_t)flags;
}

/* --- tuples and packed objects --- */

static TySize *size_slot(TyProgram *p, const Type *t) {
  static const TySize none = {0};
  while (p->sizes.len <= t->number)
    VEC_PUSH(&p->cx->arena, &p->sizes, none);
  return &p->sizes.data[t->number];
}

const Frozen ty_generator_mark = {.kind = FZ_OPAQUE, .text = "generator"};

bool ty_is_generator(Val v) {
  return v.type->id == TY_FUNC && v.type->frozen == &ty_generator_mark;
}

bool ty_is_iterator(const Type *t) {
  return t->id == TY_ENUMERATE || t->id == TY_ZIP || t->id == TY_REVERSED ||
         (t->id == TY_ARRAY && t->flat) || ty_is_generator((Val){.type = t});
}

/* Parts are known types, or come from a signature, which is small. */
static TySize size_of(Ty *ty, const Type *t, int depth) {
  bool iterator = ty_is_iterator(t);
  if (!is_packed(t) || depth > TY_MAX_DEPTH)
    return (TySize){1, 1, iterator};
  TySize s = *size_slot(ty->p, t);
  if (s.leaves)
    return s;
  const Type *const *elems;
  uint32_t n = ty_parts(ty, t, &elems), leaves = 1, deep = 0;
  for (uint32_t k = 0; k < n; k++) {
    TySize e = size_of(ty, elems[k], depth + 1);
    leaves += e.leaves;
    deep = e.depth > deep ? e.depth : deep;
    iterator |= e.iterator;
  }
  s = (TySize){(uint16_t)(leaves > UINT16_MAX ? UINT16_MAX : leaves), (uint16_t)(deep + 1),
               iterator};
  return *size_slot(ty->p, t) = s;
}

bool ty_holds_iterator(Ty *ty, const Type *t) { return size_of(ty, t, 0).iterator; }

Val ty_pack(Ty *ty, const Type *type, const Val *items, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(items[k]))
      return BOTTOM;
  TySize size = size_of(ty, type, 0);
  if (size.depth > TY_MAX_DEPTH || size.leaves > TY_MAX_TUPLE)
    return TY_FAIL(ty, ERR_TOO_LARGE, "the tuple",
                   size.depth > TY_MAX_DEPTH ? "it is nested too deep"
                                             : "it has more than 4096 elements");
  return (Val){.type = type,
               .items = arena_memdup(&ty->cx->arena, items, sizeof *items * (n + !n))};
}

Val ty_make_tuple(Ty *ty, const Val *items, uint32_t n) {
  bool all = true;
  const Type **types = CX_ARRAY(ty->cx, const Type *, n + 1);
  const Frozen **konst = CX_ARRAY(ty->cx, const Frozen *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    if (ty_is_bottom(items[k]))
      return BOTTOM;
    types[k] = items[k].type;
    konst[k] = items[k].konst;
    all &= konst[k] != NULL;
  }
  Val none = {0};
  Val r = ty_pack(ty, ty_tuple(ty->cx, types, n), n ? items : &none, n);
  if (all && !ty_is_bottom(r))
    r.konst = fz_tuple(ty->cx, konst, n);
  return r;
}

Val ty_make_sequence(Ty *ty, const Val *items, uint32_t n, bool list) {
  Val r = ty_make_tuple(ty, items, n);
  if (list && !ty_is_bottom(r))
    r.type = ty_list(ty->cx, r.type->elems, n);
  return r;
}

Val ty_slice(Ty *ty, const Val parts[3]) {
  const Type *types[3];
  for (int k = 0; k < 3; k++) {
    if (ty_is_bottom(parts[k]))
      return BOTTOM;
    if (parts[k].type->id != TY_NONE && !ty_is_integral(parts[k].type))
      return TY_FAIL(ty, ERR_INDEX_TYPE, TY_PRETTY(ty, parts[k]));
    types[k] = parts[k].type;
  }
  return ty_pack(ty, ty_list_like(ty->cx, TY_SLICE, types, 3), parts, 3);
}

Val ty_item(Ty *ty, Val tuple, uint32_t k) {
  if (ty_is_bottom(tuple))
    return BOTTOM;
  if (tuple.items)
    return tuple.items[k];
  const Type *const *elems;
  uint32_t n = ty_parts(ty, tuple.type, &elems);
  CX_ASSERT(ty->cx, k < n);
  if (tuple.konst && tuple.konst->kind == FZ_TUPLE) {
    Val v = ty_const(ty, tuple.konst->items[k]);
    v.type = elems[k];
    return v;
  }
  if (tuple.konst && ty_is_complex(tuple.type))
    return ty_scalar_const(ty, elems[k]->id, k ? tuple.konst->im : tuple.konst->re);
  if (!ty_stored(elems[k]))
    return (Val){.type = elems[k],
                 .konst = elems[k]->id == TY_NONE ? fz_none(ty->cx) : elems[k]->frozen};
  return ty_op_i(ty, OP_TUPLE_GET, elems[k], k, &tuple, 1);
}

Val ty_extent(Ty *ty, Val array, unsigned axis) {
  CX_ASSERT(ty->cx, array.type->id == TY_ARRAY && axis < array.type->ndim);
  const Frozen *f = array.konst;
  if (f && (f->kind == FZ_ARRAY || f->kind == FZ_DEVICE_ARRAY))
    return ty_const_int(ty, f->array->extents[axis]);
  if (array.items && array.items[axis].konst)
    return array.items[axis];
  if (array.type->pointer)
    return TY_FAIL(ty, ERR_NO_ATTRIBUTE, TY_PRETTY(ty, array), "shape", "");
  Val n = ty_op_i(ty, OP_EXTENT, ty_id(ty, TY_PYINT), axis, &array, 1);
  ty_flag(n, INS_NONNEGATIVE);
  return n;
}
