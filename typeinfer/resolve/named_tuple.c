/* Named tuples: tuples whose type has names. Making one binds arguments to fields as Python's class
 * does; all else is a tuple's. */
#include <string.h>

#include "ir/base/suggest.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val bind_error(Ty *ty, const char *title, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, arena_printf(&ty->cx->arena, "%s()", title), what);
}

/* items of n fields as a tuple of that class. */
static Val make(Ty *ty, const char *title, const char *const *names, const Val *items, uint32_t n) {
  Val t = ty_make_tuple(ty, items, n);
  if (ty_is_bottom(t) || !n)
    return t;
  t.type = ty_named_tuple(ty->cx, t.type->elems, n, names, title);
  if (t.konst) {
    Frozen *f = CX_NEW(ty->cx, Frozen);
    *f = *t.konst;
    f->names = names;
    f->text = title;
    t.konst = f;
  }
  return t;
}

/* The number of the field, or n. */
static uint32_t field_number(const char *const *names, uint32_t n, const char *name) {
  uint32_t k = 0;
  while (k < n && strcmp(names[k], name))
    k++;
  return k;
}

static bool all_known(const Val *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (ty_is_bottom(args[k]))
      return false;
  return true;
}

/* The last keys->n of the arguments have names: they go to the fields of those names. */
static bool bind_keys(Ty *ty, const char *title, const char *const *fields, uint32_t nfields,
                      const Val *args, const Frozen *keys, Val *items) {
  for (uint32_t k = 0; keys && k < keys->n; k++) {
    const char *key = keys->items[k]->text;
    uint32_t at = field_number(fields, nfields, key);
    if (at == nfields || !ty_is_bottom(items[at])) {
      (void)bind_error(
          ty, title,
          arena_printf(&ty->cx->arena,
                       at == nfields ? "there is no field '%s'" : "the field '%s' is given twice",
                       key));
      return false;
    }
    items[at] = args[k];
  }
  return true;
}

Val ty_call_named(Ty *ty, const Frozen *class, const Val *args, uint32_t n, const Frozen *names) {
  uint32_t nkeys = names ? names->n : 0, positional = n - nkeys, ndefaults = (uint32_t) class->i;
  if (!all_known(args, n))
    return BOTTOM;
  if (positional > class->n)
    return bind_error(
        ty, class->text,
        arena_printf(&ty->cx->arena, "it takes %u values, but %u are given", class->n, positional));
  Val *items = CX_ARRAY(ty->cx, Val, class->n + 1);
  memcpy(items, args, sizeof *items * positional);
  if (!bind_keys(ty, class->text, class->names, class->n, args + positional, names, items))
    return BOTTOM;
  for (uint32_t k = 0; k < class->n; k++) {
    if (!ty_is_bottom(items[k]))
      continue;
    if (k + ndefaults < class->n)
      return bind_error(ty, class->text,
                        arena_printf(&ty->cx->arena, "the field '%s' is missing", class->names[k]));
    items[k] = ty_const(ty, class->items[k + ndefaults - class->n]);
  }
  return make(ty, class->text, class->names, items, class->n);
}

/* --- _replace --- */

static const Frozen replace_mark = {.kind = FZ_OPAQUE, .text = "named tuple's _replace"};

bool ty_is_replace(Val callee) {
  return callee.type->id == TY_FUNC && callee.type->frozen == &replace_mark;
}

Val ty_call_replace(Ty *ty, Val callee, const Val *args, uint32_t n, const Frozen *names) {
  Val self = ty_item(ty, callee, 0);
  if (ty_is_bottom(self) || !all_known(args, n))
    return BOTTOM;
  const Type *t = self.type;
  if (n != (names ? names->n : 0))
    return bind_error(ty, "_replace", "it takes fields by name only");
  Val *items = CX_ARRAY(ty->cx, Val, t->n + 1);
  if (!bind_keys(ty, "_replace", t->names, t->n, args, names, items))
    return BOTTOM;
  for (uint32_t k = 0; k < t->n; k++)
    if (ty_is_bottom(items[k]))
      items[k] = ty_item(ty, self, k);
  return make(ty, t->title, t->names, items, t->n);
}

/* --- attributes --- */

static Val field_names(Ty *ty, const char *const *names, uint32_t n) {
  const Frozen **items = CX_ARRAY(ty->cx, const Frozen *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = fz_str(ty->cx, names[k]);
  return ty_const(ty, fz_tuple(ty->cx, items, n));
}

/* `__x` of a vector of floats of 8 bits, as CUDA C++ has it. In a class's body Python spells it
 * `_Class__x`. */
static bool is_bits(const Type *t, const char *name) {
  size_t n = strlen(name);
  return ty_is_vector(t) && ty_is_float8(t->elems[0]->id) && n > 2 && name[0] == '_' &&
         !strcmp(name + n - 3, "__x");
}

/* Its bits, the first number's lowest. */
static Val vector_bits(Ty *ty, Val v) {
  TypeId id = v.type->n == 2 ? TY_U16 : TY_U32;
  Val bits = {0};
  for (uint32_t k = 0; k < v.type->n; k++) {
    Val item = ty_item(ty, v, k);
    Val byte = ty_cast_id(ty, ty_intrinsic(ty, INTR_NP_VIEW, ty_id(ty, TY_U8), &item, 1), id);
    Val place = ty_cast_id(ty, ty_const_int(ty, 8 * k), id);
    bits = k ? ty_op2(ty, OP_OR, byte.type, bits, ty_op2(ty, OP_LSHIFT, byte.type, byte, place))
             : byte;
  }
  return bits;
}

Val ty_named_attribute(Ty *ty, Val obj, const char *name) {
  const Frozen *class = obj.type->id == TY_OBJECT ? obj.type->frozen : NULL;
  const char *const *names = class ? class->names : obj.type->names;
  uint32_t n = class ? class->n : obj.type->n, k = names ? field_number(names, n, name) : n;
  if (k < n && !class)
    return ty_item(ty, obj, k);
  if (is_bits(obj.type, name))
    return vector_bits(ty, obj);
  bool named = class || obj.type->title; /* a vector has names, but is no named tuple */
  if (named && !strcmp(name, "_fields"))
    return field_names(ty, names, n);
  if (named && !class && !strcmp(name, "_replace"))
    return ty_pack(ty, ty_frozen(ty->cx, TY_FUNC, &replace_mark, &obj.type, 1), &obj, 1);
  Suggest s = suggest_for(name);
  for (k = 0; names && !class && k < n; k++)
    suggest_try(&s, names[k]);
  const char *advice = named ? NULL : diag_advice("list", name);
  return TY_FAIL_ADVISED(ty, advice, ERR_NO_ATTRIBUTE, TY_PRETTY(ty, obj), name,
                         s.best ? arena_printf(&ty->cx->arena, " (did you mean '%s'?)", s.best)
                                : "");
}
