/* Objects: attributes of every kind of value, assignment to them, and raise.
 *
 * In: an object and a name. Out: what the attribute is while the kernel is compiled (a constant, a
 * function, a method bound to its object) or, of arrays, an operation. Which attributes a kind of
 * object has is a table each; a name that is in none is an error that names the nearest, or what
 * to write instead (ir/base/advice.def). raise becomes a site (IrSite): class and message, which is
 * made of values where the thread stops. */
#include <string.h>

#include "ir/base/suggest.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

/* --- attributes --- */

/* of: what advice.def calls it, NULL if it has no rows; what: the message. Advice on the very name
 * is better than a similar name. */
static Val no_attribute(Ty *ty, const char *of, const char *what, const char *name,
                        const char *near) {
  const char *advice = of ? diag_advice(of, name) : NULL;
  return TY_FAIL_ADVISED(
      ty, advice, ERR_NO_ATTRIBUTE, what, name,
      near && !advice ? arena_printf(&ty->cx->arena, " (did you mean '%s'?)", near) : "");
}

/* A member of an intrinsic namespace: "cuda.shared" and "array". */
static Val member(Ty *ty, const char *space, const char *name) {
  const char *path = arena_printf(&ty->cx->arena, "%s.%s", space, name);
  IntrinsicId id = ir_intrinsic_by_path(path);
  bool ufunc = !strncmp(space, "numpy.", 6);
  if (id == INTR_NONE)
    return no_attribute(ty, ufunc ? "ufunc" : space, space, name,
                        ir_intrinsic_suggest(space, name));
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_INTRINSIC;
  f->i = id;
  return ty_const(ty, f);
}

static Val module_attr(Ty *ty, const Frozen *module, const char *name) {
  const Frozen *f = fz_attr(module, name);
  if (f && f->kind != FZ_UNSET)
    return ty_const(ty, f);
  const char *space = module->text;
  if (!strncmp(space, "pyptx.", 6))
    space += 6;
  bool ours = !strcmp(space, "cuda") || !strcmp(space, "cuda.cg") || !strcmp(space, "math") ||
              !strcmp(space, "cmath");
  return ours ? member(ty, space, name)
              : no_attribute(ty, module->text,
                             arena_printf(&ty->cx->arena, "module '%s'", module->text), name, NULL);
}

static Val array_shape(Ty *ty, Val a) {
  Val items[TY_MAX_NDIM + 1] = {0};
  for (unsigned k = 0; k < a.type->ndim; k++)
    items[k] = ty_extent(ty, a, k);
  return ty_make_tuple(ty, items, a.type->ndim);
}

static Val array_strides(Ty *ty, Val a) {
  Val items[TY_MAX_NDIM + 1] = {0};
  for (unsigned k = 0; k < a.type->ndim; k++)
    items[k] = ty_op_i(ty, OP_STRIDE, ty_id(ty, TY_PYINT), k, &a, 1);
  return ty_make_tuple(ty, items, a.type->ndim);
}

static Val product(Ty *ty, Val a, Val b) {
  Val r = ty_int_op(ty, OP_MUL, a, b);
  ty_flag(r, INS_NONNEGATIVE | INS_NO_WRAP);
  return r;
}

static Val array_size(Ty *ty, Val a) {
  Val r = a.type->ndim ? ty_extent(ty, a, 0) : ty_const_int(ty, 1);
  for (unsigned k = 1; k < a.type->ndim; k++)
    r = product(ty, r, ty_extent(ty, a, k));
  return r;
}

/* x.ctypes: its data is the address; what takes a CPointer finds the array in it. */
static Val array_ctypes(Ty *ty, Val a) {
  static const char *const names[] = {"data", "_array"};
  Val items[] = {ty_cast_id(ty, ty_op1(ty, OP_ADDRESS, ty_id(ty, TY_PYINT), a), TY_U64), a};
  Val t = ty_make_tuple(ty, items, 2);
  if (!ty_is_bottom(t))
    t.type = ty_named_tuple(ty->cx, t.type->elems, 2, names, "ctypes");
  return t;
}

static Val array_transposed(Ty *ty, Val a) { return ty_array_transpose(ty, a, NULL, 0); }

static Val array_last_transposed(Ty *ty, Val a) {
  Val axes[] = {ty_const_int(ty, -1), ty_const_int(ty, -2)};
  return a.type->ndim < 2 ? no_attribute(ty, NULL, TY_PRETTY(ty, a), "mT", NULL)
                          : ty_array_swapaxes(ty, a, axes, 2);
}

/* --- reshape --- */

static bool check_shape(Ty *ty, Val *extents, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (ty_is_bottom(extents[k]))
      return false;
    if (!ty_is_integral(extents[k].type)) {
      (void)TY_FAIL(ty, ERR_ARGUMENT_TYPE, "reshape", arena_printf(&ty->cx->arena, "%u", k + 1),
                    "an integer", TY_PRETTY(ty, extents[k]));
      return false;
    }
    extents[k] = ty_cast_id(ty, extents[k], TY_PYINT);
  }
  return true;
}

/* May it be -1, for all that is known when a kernel is compiled? */
static bool may_be_open(Val extent) {
  return !extent.konst && !(extent.ins && extent.ins->flags & INS_NONNEGATIVE);
}

static Val is_open(Ty *ty, Val extent) {
  return ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), extent, ty_const_int(ty, -1));
}

/* The same of extents that are known at run time only. */
static void fill_open_extents(Ty *ty, Val *extents, uint32_t n, Val size) {
  Val one = ty_const_int(ty, 1), rest = one;
  for (uint32_t k = 0; k < n; k++) {
    Val factor = may_be_open(extents[k]) ? ty_select(ty, is_open(ty, extents[k]), one, extents[k])
                                         : extents[k];
    rest = ty_binary(ty, OP_MUL, rest, factor);
  }
  Val left = ty_binary(ty, OP_FLOORDIV, size, rest);
  for (uint32_t k = 0; k < n; k++)
    if (may_be_open(extents[k]))
      extents[k] = ty_select(ty, is_open(ty, extents[k]), left, extents[k]);
}

/* The extent that is -1 becomes what is left of the size. */
static void fill_extent(Ty *ty, Val *extents, uint32_t n, Val size) {
  int64_t v;
  uint32_t open = n;
  bool known = false, maybe = false;
  for (uint32_t k = 0; k < n; k++) {
    known |= fz_get_int(extents[k].konst, &v) && v == -1;
    maybe |= may_be_open(extents[k]);
  }
  if (maybe && !known)
    fill_open_extents(ty, extents, n, size);
  Val rest = ty_const_int(ty, 1);
  for (uint32_t k = 0; k < n; k++)
    if (fz_get_int(extents[k].konst, &v) && v == -1 && open == n)
      open = k;
    else
      rest = ty_binary(ty, OP_MUL, rest,
                       extents[k]); /* the user's numbers: nothing is known of them */
  if (open < n) {
    extents[open] = ty_binary(ty, OP_FLOORDIV, size, rest);
    rest = ty_binary(ty, OP_MUL, rest, extents[open]);
  }
  if (!ty->cx->checked)
    return;
  ty_check(ty, ty_op2(ty, OP_EQ, ty_id(ty, TY_PYBOOL), rest, size), "ValueError",
           "cannot reshape an array of size {0} into one of size {1}", (Val[]){size, rest}, 2);
  for (uint32_t k = 0; k < n; k++)
    if (fz_get_int(extents[k].konst, &v) ? v < 0 : may_be_open(extents[k]))
      ty_check(ty, ty_op2(ty, OP_GE, ty_id(ty, TY_PYBOOL), extents[k], ty_const_int(ty, 0)),
               "ValueError", "cannot reshape an array of size {0}: an extent is {1}",
               (Val[]){size, extents[k]}, 2);
}

Val ty_reshape(Ty *ty, Val a, const Val *args, uint32_t n) {
  Val extents[TY_MAX_NDIM + 1] = {a};
  bool is_tuple = n == 1 && args[0].type && args[0].type->id == TY_TUPLE;
  uint32_t ndim = is_tuple ? args[0].type->n : n;
  if (ndim < 1 || ndim > TY_MAX_NDIM)
    return TY_FAIL(ty, ERR_ARGUMENTS, "reshape", "it takes 1 to 16 integers, or a tuple of them");
  if (a.type->layout != LAYOUT_C)
    return TY_FAIL(ty, ERR_LAYOUT, "reshape", TY_PRETTY(ty, a));
  for (uint32_t k = 0; k < ndim; k++)
    extents[1 + k] = is_tuple ? ty_item(ty, args[0], k) : args[k];
  if (!check_shape(ty, extents + 1, ndim))
    return BOTTOM;
  fill_extent(ty, extents + 1, ndim, array_size(ty, a));
  IrView *view = CX_NEW(ty->cx, IrView);
  view->n = 1;
  view->kind[0] = VIEW_RESHAPE;
  const Type *t = a.type;
  Val r = ty_op(ty, OP_VIEW, ty_array_in(ty->cx, t, t->elem, ndim, LAYOUT_C), extents, ndim + 1);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

/* --- tables --- */

static Val array_ndim(Ty *ty, Val a) { return ty_const_int(ty, a.type->ndim); }
static Val array_itemsize(Ty *ty, Val a) {
  return ty_const_int(ty, (int64_t)ty_size(a.type->elem));
}
static Val array_nbytes(Ty *ty, Val a) {
  return product(ty, array_size(ty, a), array_itemsize(ty, a));
}
static Val itself(Ty *ty, Val a) {
  (void)ty;
  return a;
}

Val ty_dtype_of(Ty *ty, const Type *t, DtypeForm form) {
  Frozen *f = CX_NEW(ty->cx, Frozen);
  f->kind = FZ_DTYPE;
  f->i = form;
  f->type = t->id;
  f->text = t->id >= TY_SCALARS ? ty_name(ty->cx, t) : NULL;
  return ty_const(ty, f);
}
static Val array_dtype(Ty *ty, Val a) { return ty_dtype_of(ty, a.type->elem, DTYPE_INSTANCE); }

/* The parts of a complex array as an array of floats, which can be stored to. */
static Val array_part(Ty *ty, Val a, uint8_t part) {
  const Type *t = a.type;
  IrView *view = CX_NEW(ty->cx, IrView);
  view->n = 1;
  view->kind[0] = VIEW_PART;
  view->axes[0] = part;
  Val r = ty_op1(ty, OP_VIEW,
                 ty_array_in(ty->cx, t, ty_id(ty, ty_part_id(t->elem->id)), t->ndim, LAYOUT_A), a);
  if (r.ins)
    r.ins->aux.view = view;
  return r;
}

static Val array_real(Ty *ty, Val a) {
  return ty_is_complex(a.type->elem) ? array_part(ty, a, 0) : a;
}

static Val array_imag(Ty *ty, Val a) {
  if (!ty_is_complex(a.type->elem))
    return no_attribute(ty, "array", TY_PRETTY(ty, a), "imag", NULL);
  return array_part(ty, a, 1);
}

static Val number_real(Ty *ty, Val a) {
  if (ty_is_complex(a.type))
    return ty_part(ty, a, 0);
  return a.type->id == TY_PYBOOL ? ty_cast_id(ty, a, TY_PYINT) : a;
}

static Val number_imag(Ty *ty, Val a) {
  if (ty_is_complex(a.type))
    return ty_part(ty, a, 1);
  return ty_scalar_const(ty, a.type->id == TY_PYBOOL ? TY_PYINT : a.type->id, 0);
}

static Val number_ndim(Ty *ty, Val a) {
  (void)a;
  return ty_const_int(ty, 0);
}
static Val number_size(Ty *ty, Val a) {
  (void)a;
  return ty_const_int(ty, 1);
}
static Val number_shape(Ty *ty, Val a) {
  (void)a;
  return ty_make_tuple(ty, NULL, 0);
}
static Val number_itemsize(Ty *ty, Val a) { return ty_const_int(ty, (int64_t)ty_size(a.type)); }
static Val number_dtype(Ty *ty, Val a) { return ty_dtype_of(ty, a.type, DTYPE_INSTANCE); }

/* start, stop, step of a range or a slice */
static Val part0(Ty *ty, Val a) { return ty_item(ty, a, 0); }
static Val part1(Ty *ty, Val a) { return ty_item(ty, a, 1); }
static Val part2(Ty *ty, Val a) { return ty_item(ty, a, 2); }

/* x.dtype.type */
static Val dtype_class(Ty *ty, Val a) {
  const Frozen *f = a.type->frozen;
  return f->i == DTYPE_INSTANCE ? ty_dtype_of(ty, ty_elem(ty, f->type, f->text), DTYPE_CLASS) : a;
}

static Val dtype_itemsize(Ty *ty, Val a) {
  const Frozen *f = a.type->frozen;
  return ty_const_int(ty, (int64_t)ty_size(ty_elem(ty, f->type, f->text)));
}

/* As np.dtype has them: 'float32', 'f' and 'f4'. */
static Val dtype_name(Ty *ty, Val a) {
  const Frozen *f = a.type->frozen;
  return f->type < TY_SCALARS
             ? ty_const(ty, fz_str(ty->cx, ty_scalar_info[ty_strengthen(f->type)].name))
             : no_attribute(ty, NULL, TY_PRETTY(ty, a), "name", NULL);
}

static Val dtype_kind(Ty *ty, Val a) {
  static const char *const kinds[] = {[KIND_BOOL] = "b",
                                      [KIND_INT] = "i",
                                      [KIND_UINT] = "u",
                                      [KIND_FLOAT] = "f",
                                      [KIND_COMPLEX] = "c"};
  TypeId id = a.type->frozen->type;
  const char *kind = id < TY_SCALARS && *ty_scalar_info[id].npy != 'V'
                         ? kinds[ty_scalar_info[id].kind]
                     : id == TY_DATETIME  ? "M"
                     : id == TY_TIMEDELTA ? "m"
                                          : "V";
  return ty_const(ty, fz_str(ty->cx, kind));
}

typedef struct Attribute {
  const char *name;
  Val (*get)(Ty *ty, Val obj);
} Attribute;

static const Attribute array_attributes[] = {
    {"shape", array_shape},       {"size", array_size},
    {"ndim", array_ndim},         {"strides", array_strides},
    {"T", array_transposed},      {"mT", array_last_transposed},
    {"flat", ty_array_flat},      {"dtype", array_dtype},
    {"itemsize", array_itemsize}, {"nbytes", array_nbytes},
    {"real", array_real},         {"imag", array_imag},
    {"ctypes", array_ctypes},     {NULL, NULL},
};
static const Attribute number_attributes[] = {
    {"real", number_real}, {"imag", number_imag}, {NULL, NULL}};
/* of NumPy's numbers only */
static const Attribute scalar_attributes[] = {{"ndim", number_ndim},
                                              {"size", number_size},
                                              {"shape", number_shape},
                                              {"itemsize", number_itemsize},
                                              {"nbytes", number_itemsize},
                                              {"dtype", number_dtype},
                                              {"T", itself},
                                              {NULL, NULL}};
static const Attribute range_attributes[] = {
    {"start", part0}, {"stop", part1}, {"step", part2}, {NULL, NULL}};
static const Attribute dtype_attributes[] = {{"type", dtype_class},
                                             {"itemsize", dtype_itemsize},
                                             {"name", dtype_name},
                                             {"kind", dtype_kind},
                                             {NULL, NULL}};

static Val from_table(Ty *ty, const Attribute *table, Val obj, const char *name) {
  Suggest s = suggest_for(name);
  Val method;
  bool scalar = table == number_attributes && !ty_is_weak(obj.type);
  const Attribute *tables[] = {table, scalar ? scalar_attributes : NULL};
  for (unsigned k = 0; k < 2 && tables[k]; k++)
    for (const Attribute *at = tables[k]; at->name; at++) {
      if (!strcmp(at->name, name))
        return at->get(ty, obj);
      suggest_try(&s, at->name);
    }
  if (ty_find_method(ty, obj, name, &method, &s))
    return method;
  for (uint32_t k = 0; ty_has_fields(obj) && k < obj.type->elem->nfields; k++)
    suggest_try(&s, obj.type->elem->fields[k].name);
  const char *of = obj.type->id == TY_ARRAY ? "array" : ty_is_number(obj.type) ? "number" : NULL;
  return no_attribute(ty, of, TY_PRETTY(ty, obj), name, s.best);
}

static bool is_own_attribute(Val array, const char *name) {
  for (const Attribute *a = array_attributes; a->name && array.type->ndim; a++)
    if (!strcmp(a->name, name))
      return true;
  return false;
}

/* Arrays of records have their own attributes first, as np.recarray has; one record has its fields
 * first. */
static Val array_attribute(Ty *ty, Val obj, const char *name) {
  bool field = ty_has_fields(obj) && ty_find_field(obj.type->elem, name);
  return field && !is_own_attribute(obj, name) ? ty_get_field(ty, obj, name)
                                               : from_table(ty, array_attributes, obj, name);
}

Val ty_setattr(Ty *ty, Val obj, const char *name, Val value) {
  if (ty_is_bottom(obj) || ty_is_bottom(value))
    return BOTTOM;
  if (obj.type->id == TY_ARRAY && !strcmp(name, "flat"))
    return ty_array_set_flat(ty, obj, value);
  bool field = ty_has_fields(obj) && !is_own_attribute(obj, name);
  /* r.shape of a record without that field */
  for (const Attribute *a = array_attributes; a->name && field; a++)
    field = strcmp(a->name, name) || ty_find_field(obj.type->elem, name);
  return field ? ty_set_field(ty, obj, name, value)
               : TY_FAIL(ty, ERR_SETATTR, name, TY_PRETTY(ty, obj));
}

Val ty_getattr(Ty *ty, Val obj, const char *name) {
  if (ty_is_bottom(obj))
    return BOTTOM;
  const Frozen *f = obj.type->frozen;
  /* IntEnum: name, value */
  if (obj.konst && obj.konst->kind != FZ_MODULE && fz_attr(obj.konst, name))
    return ty_const(ty, fz_attr(obj.konst, name));
  switch (obj.type->id) {
  case TY_MODULE: return module_attr(ty, f, name);
  case TY_ARRAY: return array_attribute(ty, obj, name);
  case TY_TUPLE: {
    Suggest unused = suggest_for(name);
    Val method;
    bool found = ty_are_accumulators(obj.type) && ty_find_method(ty, obj, name, &method, &unused);
    return found ? method : ty_named_attribute(ty, obj, name);
  }
  case TY_ENUM: return ty_enum_attribute(ty, obj, name);
  case TY_DTYPE: return from_table(ty, dtype_attributes, obj, name);
  case TY_RANGE:
  case TY_SLICE: return from_table(ty, range_attributes, obj, name);
  case TY_FUNC:
    if (f->kind == FZ_INTRINSIC)
      return member(ty, ir_intrinsics[f->i].path, name);
    if (fz_attr(f, name))
      return ty_const(ty, fz_attr(f, name));
    if (f->kind == FZ_FUNC && !strcmp(name, "py_func")) /* of what is frozen as its function */
      return obj;
    break;
  case TY_OBJECT:
    if (f->kind == FZ_NAMED)
      return ty_named_attribute(ty, obj, name);
    if (fz_attr(f, name))
      return ty_const(ty, fz_attr(f, name));
    break;
  case TY_DATETIME:
  case TY_TIMEDELTA: return from_table(ty, scalar_attributes, obj, name);
  default:
    if (ty_is_number(obj.type))
      return from_table(ty, number_attributes, obj, name);
  }
  bool list = obj.type->id == TY_OBJECT && f->kind == FZ_OPAQUE && !strcmp(f->text, "list");
  const char *of = list                      ? "list"
                   : obj.type->id == TY_STR  ? "str"
                   : obj.type->id == TY_NONE ? "number"
                                             : NULL;
  if (obj.type->id == TY_OBJECT && f->kind == FZ_OPAQUE && !f->wide && !list)
    return TY_FAIL_ADVISED(
        ty,
        "an object's methods and properties are not followed: write a function of numbers and arrays",
        ERR_NO_ATTRIBUTE, TY_PRETTY(ty, obj), name, "");
  Suggest s = suggest_for(name);
  for (uint32_t k = 0; obj.konst && k < obj.konst->nattrs; k++)
    suggest_try(&s, obj.konst->attrs[k].name);
  return no_attribute(ty, of, TY_PRETTY(ty, obj), name, s.best);
}

/* --- raise --- */

/* The message of an exception: its arguments as Python shows them. */
static bool exception_text(Ty *ty, Ins *call, TyText *t) {
  if (call->nargs == 2)
    return ty_text_add(ty, t, ty_text_arg(ty, call, 1), TY_STR_OF, 0);
  for (uint32_t k = 1; k < call->nargs; k++) {
    buf_puts(&t->format, k == 1 ? "(" : ", ");
    if (!ty_text_add(ty, t, ty_text_arg(ty, call, k), TY_REPR_OF, 1))
      return false;
  }
  buf_puts(&t->format, call->nargs > 2 ? ")" : "");
  return true;
}

Val ty_raise(Ty *ty, Ins *i) {
  if (!i->nargs)
    return TY_FAIL(ty, ERR_TRY);
  Val e = ty_arg(ty, i, 0);
  if (ty_is_bottom(e))
    return BOTTOM;
  if (e.type->id != TY_OBJECT || e.type->frozen->kind != FZ_EXCEPTION)
    return TY_FAIL_ADVISED(ty, "raise an exception: raise ValueError(\"negative\")",
                           ERR_BAD_OPERAND, "raise", TY_PRETTY(ty, e));
  TyText *t = CX_NEW(ty->cx, TyText);
  t->numbered = true;
  buf_init(&t->format, &ty->cx->arena);
  /* and not by a function that is called */
  bool made_here = e.src && e.src->op == OP_CALL && ty_arg(ty, e.src, 0).type == e.type;
  if (made_here && !exception_text(ty, e.src, t))
    return BOTTOM;
  if (ty->emit) {
    Ins **args = CX_ARRAY(ty->cx, Ins *, t->n + 1);
    for (uint32_t k = 0; k < t->n; k++)
      args[k] = ty_ins(ty, t->values[k]);
    i->args = args;
    i->nargs = t->n;
    i->aux.site = ir_site(ty->cx, ty->p->program, e.type->frozen->text, t->format.text, i->loc);
  }
  return ty_none(ty);
}
