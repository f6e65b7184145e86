/* Generator expressions: the object that a call of one's code makes, and what sum, any, all, min
 * and max make of it.
 *
 * The object is a pair, the function with its captured values and the iterable. Consuming it is a
 * call of the function in the variant that the frontend lifts for that consumer
 * (frontend/lift_generator.c), of the iterable and a start value. */
#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

Val ty_generator(Ty *ty, Val callee, Val iterable) {
  if (ty_is_bottom(callee) || ty_is_bottom(iterable))
    return BOTTOM;
  const Type *types[] = {callee.type, iterable.type};
  return ty_pack(ty, ty_frozen(ty->cx, TY_FUNC, &ty_generator_mark, types, 2),
                 (Val[]){callee, iterable}, 2);
}

/* One function a generator expression's and consumer. */
static const FrozenFunc *variant(Ty *ty, const FrozenFunc *func, Consumer consumer) {
  TyProgram *p = ty->p;
  for (uint32_t k = 0; k < p->variants.len; k++)
    if (p->variants.data[k].of == func && p->variants.data[k].made->consumer == consumer)
      return p->variants.data[k].made;
  FrozenFunc *made = CX_NEW(ty->cx, FrozenFunc);
  *made = *func;
  made->consumer = consumer;
  TyVariant v = {func, made};
  VEC_PUSH(&ty->cx->arena, &p->variants, v);
  return made;
}

/* min and max of what is known to be empty do not return: what stands for their result is used
 * nowhere. */
static Val chosen(Ty *ty, Consumer consumer, Val v) {
  bool chooses = CONSUME_KIND(consumer) == CONSUME_MIN || CONSUME_KIND(consumer) == CONSUME_MAX;
  bool never = chooses && !(consumer & CONSUME_DEFAULTED) && v.type && v.type->id == TY_NONE;
  return never ? ty_const_bool(ty, false) : v;
}

/* Of this iterable in place of its own. A generator that was passed on, and may be consumed twice,
 * is none that a kernel can have. */
static Val consume_of(Ty *ty, Val generator, Val iterable, Consumer consumer, Val start, Val key) {
  if (!generator.src || generator.src->op != OP_CALL)
    return TY_FAIL(ty, ERR_GENEXPR);
  Val callee = ty_item(ty, generator, 0);
  if (ty_is_bottom(callee))
    return BOTTOM;
  const FrozenFunc *func = callee.type->frozen->func;
  uint32_t ncaptured = callee.type->n ? func->code->nfrees : 0;
  Val *args = CX_ARRAY(ty->cx, Val, ncaptured + 3);
  uint32_t n = 0;
  args[n++] = iterable;
  args[n++] = start;
  if (consumer & CONSUME_KEYED)
    args[n++] = key;
  for (uint32_t k = 0; k < ncaptured; k++)
    args[n++] = ty_item(ty, callee, k);
  return chosen(ty, consumer, ty_call_spec(ty, variant(ty, func, consumer), args, n));
}

Val ty_consume(Ty *ty, Val generator, Consumer consumer, Val start, Val key) {
  return consume_of(ty, generator, ty_item(ty, generator, 1), consumer, start, key);
}

Val ty_consume_one(Ty *ty, Val generator, Val item) {
  if (ty_is_bottom(item))
    return BOTTOM;
  Val alone = ty_make_tuple(ty, &item, 1);
  return consume_of(ty, generator, alone, CONSUME_ONE, ty_none(ty), ty_none(ty));
}

bool ty_can_consume(Val v) {
  TypeId id = v.type->id;
  return id == TY_RANGE || ty_is_bytes(v) || id == TY_ENUMERATE || id == TY_ZIP ||
         (id == TY_ARRAY && v.type->ndim);
}

Val ty_consume_items(Ty *ty, const FrozenFunc *items, Val iterable, Consumer consumer, Val start,
                     Val key) {
  bool keyed = consumer & CONSUME_KEYED;
  return chosen(
      ty, consumer,
      ty_call_spec(ty, variant(ty, items, consumer), (Val[]){iterable, start, key}, 2 + keyed));
}
