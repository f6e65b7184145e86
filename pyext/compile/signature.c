/* Signature: tokens out of text, text out of tokens, and what may be passed for what. */
#include "pyext/compile/signature.h"

#include <string.h>

#include "ir/cx.h"
#include "pyext/compile/named_tuple.h"
#include "pyext/compile/numba.h"
#include "pyext/compile/record.h"
#include "pyext/compile/type.h"
#include "pyext/raise.h"

Layout px_layout_of(const PxPlace *p) {
  bool c = true, f = true, empty = false;
  uint64_t expect = p->itemsize; /* it wraps where the size is yet to be refused */
  for (unsigned i = p->ndim; i-- > 0; expect *= (uint64_t)p->shape[i]) {
    c &= p->shape[i] == 1 || (uint64_t)p->strides[i] == expect;
    empty |= p->shape[i] == 0;
  }
  expect = p->itemsize;
  for (unsigned i = 0; i < p->ndim; expect *= (uint64_t)p->shape[i], i++)
    f &= p->shape[i] == 1 || (uint64_t)p->strides[i] == expect;
  return c || empty ? LAYOUT_C : f ? LAYOUT_F : LAYOUT_A;
}

PxToken px_token_of(PxState *st, PxElem elem, const PxPlace *p) {
  uint64_t bits = p->address;
  bool wide = ty_is_wide(p->shape, p->ndim), empty = false, is_long = false;
  for (unsigned i = 0; i < p->ndim; i++) {
    empty |= p->shape[i] == 0;
    is_long |= p->shape[i] > TY_SMALL;
    bits |= p->shape[i] > 1 ? (uint64_t)p->strides[i] : 0;
  }
  bool parts = p->on_host && !px_elem_is_listed(elem) && ty_scalar_info[elem].kind == KIND_COMPLEX;
  unsigned own = px_elem_align(st, elem) >> parts, align = (unsigned)bits & (own - 1);
  align = empty ? 0 : align & -align; /* the lowest bit that is set */
  return px_array_token(elem, p->ndim, px_layout_of(p), wide, align) |
         (is_long ? PX_LONG_TOKEN : 0);
}

void px_signature_clear(PxSignature *s) {
  PyMem_Free(s->tokens);
  PyMem_Free(s->result);
  *s = (PxSignature){0};
}

/* Number of tokens of the argument that starts here. */
static uint32_t token_span(const PxToken *t) {
  if (!px_token_is_tuple(*t))
    return 1;
  uint32_t span = 1;
  for (uint32_t i = px_token_items(*t); i > 0; i--)
    span += token_span(t + span);
  return span;
}

/* --- text in --- */

typedef VEC(PxToken) Tokens;

static bool add_tokens(PxState *st, Cx *cx, Tokens *out, const Type *t, const char **error) {
  if (t->id == TY_RECORD) /* one record: an array without axes */
    t = ty_array(cx, t, 0, LAYOUT_C, SPACE_GLOBAL, false, false);
  if (t->id == TY_TUPLE) {
    int named = t->title ? px_named_by_text(st, t->title, t->names, t->n) : PX_NO_NAMES;
    if (named < 0) {
      PyErr_Clear();
      *error = "there are too many classes of named tuples";
      return false;
    }
    VEC_PUSH(&cx->arena, out, PX_TUPLE_TOKEN | t->n | (PxToken)named << PX_NAMED_SHIFT);
    for (uint32_t i = 0; i < t->n; i++)
      if (!add_tokens(st, cx, out, t->elems[i], error))
        return false;
    return true;
  }
  if (t->id == TY_ARRAY) {
    if (t->space != SPACE_GLOBAL)
      *error = arena_printf(&cx->arena, "%s is not in global memory", ty_name(cx, t));
    PxElem elem = t->elem->id >= TY_SCALARS ? px_elem_of_text(st, ty_name(cx, t->elem))
                                            : t->elem->id;
    if (elem == PX_NO_ELEM) {
      PyErr_Clear();
      *error = arena_printf(&cx->arena, "%.200s is no record type of kernels",
                            ty_name(cx, t->elem));
    }
    VEC_PUSH(&cx->arena, out,
             px_array_token(elem, t->ndim, (Layout)t->layout, t->wide, t->align) |
                 (t->pointer ? PX_POINTER_TOKEN : 0));
    return !*error;
  }
  if (t->id == TY_ENUM) {
    int number = px_enum_by_text(st, ty_name(cx, t));
    if (number < 0)
      PyErr_Clear();
    VEC_PUSH(&cx->arena, out, PX_ENUM_TOKEN | (PxToken)number);
    if (number < 0)
      *error = "there are too many Enums";
    return number >= 0;
  }
  if (ty_is_date(t)) {
    PxElem elem = px_elem_of_text(st, ty_name(cx, t));
    if (elem == PX_NO_ELEM) {
      PyErr_Clear();
      *error = "there are too many types of records and dates";
    }
    VEC_PUSH(&cx->arena, out, elem);
    return !*error;
  }
  if (t->id >= TY_SCALARS || t->id == TY_VOID) {
    *error = arena_printf(&cx->arena, "%s cannot be an argument", ty_name(cx, t));
    return false;
  }
  VEC_PUSH(&cx->arena, out, (PxToken)t->id);
  return true;
}

static const char *skip_space(const char *s) { return s + strspn(s, " \t\r\n"); }

/* Where the parenthesis at s closes, or NULL. */
static const char *closing(const char *s) {
  int depth = 0;
  for (; *s; s++) {
    depth += (*s == '(') - (*s == ')');
    if (!depth)
      return s;
  }
  return NULL;
}

/* The parenthesis that is closed at the text's end, if all before it is one type: "(float32,
 * float32)(int32)". NULL: there is none. */
static const char *list_behind_result(const char *s) {
  const char *open = NULL, *end = NULL;
  int depth = 0;
  for (; *s; s++) {
    if (*s == '(' && !depth)
      open = s;
    depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    if (*s == ')' && !depth)
      end = s;
    if (*s == ',' && !depth)
      return NULL;
  }
  return open && end > open && !*skip_space(end + 1) ? open : NULL;
}

/* The argument list of a signature: inside "void(…)" or "(…)", or all of the text. What stands
 * before the bracket must be a type. */
static const char *argument_list(Cx *cx, const char *text, const Type **result, bool *enclosed,
                                 const char **error) {
  const char *s = skip_space(text), *first = s + strcspn(s, "([,:");
  const char *open = list_behind_result(s);
  *enclosed = false;
  if (!open)
    open = first;
  if (*open != '(' || (open == first && (ty_is_named_text(s) || ty_is_enum_text(s) ||
                                         (open - s >= 6 && !strncmp(open - 6, "record", 6)))))
    return s;
  const char *close = closing(open);
  if (!close)
    *error = "a ')' is missing";
  if (!close || *skip_space(close + 1))
    return s;
  *enclosed = true;
  size_t word = strcspn(s, " \t\r\n(");
  bool is_void = word == 4 && !strncmp(s, "void", 4) && skip_space(s + word) == open;
  const char *end = s;
  const Type *t = open > s && !is_void ? ty_parse(cx, &end, error) : NULL;
  *result = t && t->id != TY_NONE ? t : NULL;
  if (t && skip_space(end) != open)
    *error = arena_printf(&cx->arena, "expected '(' at '%.20s'", end);
  return skip_space(arena_strndup(&cx->arena, open + 1, (size_t)(close - open - 1)));
}

static const char *parse_list(PxState *st, Cx *cx, const char *text, Tokens *out,
                              const Type **result, PxSignature *signature) {
  bool enclosed;
  bool narrow;
  const char *error = NULL;
  const char *s = argument_list(cx, ty_skip_narrow(text, &narrow), result, &enclosed, &error);
  if (error)
    return error;
  while (*s) {
    const Type *t = ty_parse(cx, &s, &error);
    if (!t || !add_tokens(st, cx, out, t, &error))
      return error ? error : "not a type";
    signature->nargs++;
    s = skip_space(s);
    if (!*s)
      break;
    if (*s != ',')
      return arena_printf(&cx->arena, "expected ',' at '%.20s'", s);
    s = skip_space(s + 1);
    if (!*s && !enclosed) /* "(float32,)" is how Python writes a list of one */
      return "a type is missing after the last comma";
  }
  if (narrow && out->len)
    out->data[0] |= PX_NARROW_TOKEN;
  return NULL;
}

int px_signature_parse(PxState *st, const char *text, PxSignature *out) {
  *out = (PxSignature){0};
  Cx *cx = cx_new();
  if (!cx) {
    PyErr_NoMemory();
    return -1;
  }
  if (CX_TRY(cx)) {
    Tokens tokens = {0};
    const Type *result = NULL;
    const char *error = parse_list(st, cx, text, &tokens, &result, out);
    if (error)
      fail(cx, (Loc){0}, ERR_SIGNATURE, arena_printf(&cx->arena, "%s in '%.200s'", error, text));
    if (result && !(out->result = px_copy_text(ty_name(cx, result))))
      fail(cx, (Loc){0}, ERR_MEMORY);
    if (!(out->tokens = PyMem_Malloc(sizeof(PxToken) * (tokens.len + 1))))
      fail(cx, (Loc){0}, ERR_MEMORY);
    if (tokens.len)
      memcpy(out->tokens, tokens.data, sizeof(PxToken) * tokens.len);
    out->n = tokens.len;
    cx_free(cx);
    return 0;
  }
  px_raise_diag(st, &cx->diag);
  cx_free(cx);
  px_signature_clear(out);
  return -1;
}

static int put_text(PyObject *parts, const char *text) {
  PyObject *s = PyUnicode_FromString(text);
  int failed = s ? PyList_Append(parts, s) : -1;
  Py_XDECREF(s);
  return failed;
}

static PyObject *joined(PyObject *parts) {
  PyObject *empty = PyUnicode_FromStringAndSize(NULL, 0);
  PyObject *text = empty ? PyUnicode_Join(empty, parts) : NULL;
  Py_XDECREF(empty);
  return text;
}

/* --- objects in --- */

/* The name of a NumPy dtype, or of the dtype that a scalar class or a Python class (int, float)
 * stands for. */
static PyObject *dtype_text(PxState *st, PyObject *arg) {
  PyObject *dtype = px_need_numpy(st) < 0 ? NULL : PyObject_CallOneArg(st->np_dtype, arg);
  PxElem elem = dtype ? px_elem_of_dtype(st, dtype) : PX_NO_ELEM;
  Py_XDECREF(dtype);
  if (elem != PX_NO_ELEM)
    return PyUnicode_FromString(px_elem_text(st, elem));
  PyErr_Clear();
  return PyErr_Format(PyExc_TypeError,
                      "a signature holds types such as float32 or float32[:], not %R", arg);
}

static int put_argument(PxState *st, PyObject *arg, PyObject *parts);

static int put_arguments(PxState *st, PyObject *list, PyObject *parts) {
  if (Py_EnterRecursiveCall(" in a signature"))
    return -1;
  PyObject *items = PySequence_Tuple(list); /* reading one may change the list */
  Py_ssize_t n = items ? PyTuple_GET_SIZE(items) : 0;
  int failed = items ? put_text(parts, "(") : -1;
  for (Py_ssize_t i = 0; i < n && !failed; i++)
    failed = (i && put_text(parts, ", ") < 0) ||
             put_argument(st, PyTuple_GET_ITEM(items, i), parts) < 0;
  Py_XDECREF(items);
  Py_LeaveRecursiveCall();
  return failed || put_text(parts, n == 1 ? ",)" : ")") < 0 ? -1 : 0;
}

static int put_argument(PxState *st, PyObject *arg, PyObject *parts) {
  if (PyTuple_Check(arg) || PyList_Check(arg))
    return put_arguments(st, arg, parts);
  PyObject *text, *own = px_own(st, arg);
  if (!own)
    return -1;
  if (Py_IS_TYPE(own, st->type_type))
    text = Py_NewRef(((PxType *)own)->text);
  else if (arg == Py_None)
    text = PyUnicode_FromString("none");
  else
    text = PyUnicode_Check(arg) ? Py_NewRef(arg) : dtype_text(st, arg);
  Py_DECREF(own);
  int failed = text ? PyList_Append(parts, text) : -1;
  Py_XDECREF(text);
  return failed;
}

int px_signature_argument(PxState *st, PyObject *object, PxSignature *out) {
  PyObject *text = NULL, *arg = px_own(st, object);
  if (!arg)
    return -1;
  if (PyTuple_Check(arg) || PyList_Check(arg)) {
    PyObject *parts = PyList_New(0);
    if (parts && put_argument(st, arg, parts) == 0)
      text = joined(parts);
    Py_XDECREF(parts);
  } else if (PyUnicode_Check(arg)) {
    text = Py_NewRef(arg);
  } else if (Py_IS_TYPE(arg, st->signature_type)) {
    text = Py_NewRef(((PxType *)arg)->text);
  } else if (Py_IS_TYPE(arg, st->type_type)) { /* a type alone is the list of one */
    text = PyUnicode_FromFormat("(%U)", ((PxType *)arg)->text);
  } else {
    PyErr_Format(PyExc_TypeError,
                 "a signature is a str, a tuple of types, or void(...), not %.100s",
                 Py_TYPE(arg)->tp_name);
  }
  Py_DECREF(arg);
  const char *s = text ? px_c_text(text) : NULL;
  int failed = s ? px_signature_parse(st, s, out) : -1;
  Py_XDECREF(text);
  return failed;
}

/* --- text out --- */

/* Appends to a list of str. Returns the tokens used, 0 on error. */
static uint32_t put_tokens(PxState *st, const PxToken *t, PyObject *parts);

static int put_array(PxState *st, PxToken t, PyObject *parts) {
  char text[16 + 4 * 64];
  if (px_token_is_pointer(t))
    return put_text(parts, "CPointer(") < 0 ||
                   put_text(parts, px_elem_text(st, px_token_elem(t))) < 0 ||
                   put_text(parts, ")") < 0
               ? -1
               : 0;
  if (px_token_align(t)) {
    snprintf(text, sizeof text, "align%u ", px_token_align(t));
    if (put_text(parts, text) < 0)
      return -1;
  }
  if (put_text(parts, px_elem_text(st, px_token_elem(t))) < 0)
    return -1;
  unsigned ndim = px_token_ndim(t);
  Layout layout = px_token_layout(t);
  int at = snprintf(text, sizeof text, "[");
  for (unsigned i = 0; i < ndim; i++) {
    bool one = layout == LAYOUT_C ? i + 1 == ndim : layout == LAYOUT_F && i == 0;
    at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", i ? "," : "", one ? "::1" : ":");
  }
  snprintf(text + at, sizeof text - (size_t)at, "]%s", px_token_wide(t) ? "!" : "");
  return put_text(parts, text);
}

static int put_name(PyObject *parts, PyObject *name, const char *behind) {
  return PyList_Append(parts, name) < 0 || put_text(parts, behind) < 0 ? -1 : 0;
}

static uint32_t put_tuple(PxState *st, const PxToken *t, PyObject *parts) {
  uint32_t used = 1, n = px_token_items(*t), named = px_token_named(*t);
  if (named ? put_name(parts, px_named_title(st, named), "(") < 0 : put_text(parts, "(") < 0)
    return 0;
  for (uint32_t i = 0; i < n; i++) {
    if ((i && put_text(parts, ", ") < 0) ||
        (named && put_name(parts, px_named_field(st, named, i), ": ") < 0))
      return 0;
    uint32_t one = put_tokens(st, t + used, parts);
    if (!one)
      return 0;
    used += one;
  }
  return put_text(parts, n == 1 && !named ? ",)" : ")") < 0 ? 0 : used;
}

static uint32_t put_tokens(PxState *st, const PxToken *t, PyObject *parts) {
  if (px_token_is_tuple(*t))
    return put_tuple(st, t, parts);
  if (px_token_is_enum(*t))
    return PyList_Append(parts, px_enum_text(st, *t & (PX_ENUM_TOKEN - 1))) < 0 ? 0 : 1;
  int failed = px_token_is_array(*t) ? put_array(st, *t, parts)
                                     : put_text(parts, px_elem_text(st, px_token_plain(*t)));
  return failed < 0 ? 0 : 1;
}

PyObject *px_signature_text(PxState *st, const PxToken *tokens, uint32_t n) {
  PyObject *parts = PyList_New(0);
  if (!parts)
    return NULL;
  int failed = put_text(parts, px_is_narrow(tokens, n) ? "narrow (" : "(");
  for (uint32_t at = 0, used; at < n && !failed; at += used) {
    failed = at && put_text(parts, ", ") < 0;
    used = failed ? 0 : put_tokens(st, tokens + at, parts);
    failed |= !used;
  }
  PyObject *text = failed || put_text(parts, ")") < 0 ? NULL : joined(parts);
  Py_DECREF(parts);
  return text;
}

PyObject *px_signature_shown(PxState *st, const PxToken *tokens, uint32_t n) {
  PyObject *text = px_signature_text(st, tokens, n);
  PyObject *shown = text ? PyObject_CallMethod(text, "removeprefix", "s", "narrow ") : NULL;
  Py_XDECREF(text);
  return shown;
}

static PyObject *one_type(PxState *st, const PxToken *t) {
  PyObject *parts = PyList_New(0);
  PyObject *text = parts && put_tokens(st, t, parts) ? joined(parts) : NULL;
  Py_XDECREF(parts);
  PyObject *type = text ? px_type_new(st, text) : NULL;
  Py_XDECREF(text);
  return type;
}

PyObject *px_signature_types(PxState *st, const PxToken *tokens, uint32_t n) {
  PyObject *list = PyList_New(0);
  if (!list)
    return NULL;
  for (uint32_t at = 0; at < n; at += token_span(tokens + at)) {
    PyObject *type = one_type(st, tokens + at);
    int failed = type ? PyList_Append(list, type) : -1;
    Py_XDECREF(type);
    if (failed) {
      Py_DECREF(list);
      return NULL;
    }
  }
  PyObject *types = PyList_AsTuple(list);
  Py_DECREF(list);
  return types;
}

/* --- passing --- */

enum {
  NO = -1,
  WEAK_PRICE = 1,
  SAFE_PRICE = 4,
  LAYOUT_PRICE = 2,
  WIDE_PRICE = 1, /* of a signature, where a narrow one may be declared too */
  NAMES_PRICE = 1,
  LOSSY_PRICE = 1000, /* more than all others of a signature together, nearly always */
  LOSSY_KIND_PRICE = 100,
  SIGN_PRICE = 500 /* an array's integers taken for those of the other signedness */
};

/* What the declared type may not hold: an integer that does not fit is an error of the launch, a
 * float is rounded. A float is no integer, a complex number no float, and no number a bool. */
static int lossy_price(const ScalarInfo *f, const ScalarInfo *t) {
  bool whole = f->kind == KIND_INT || f->kind == KIND_UINT;
  if (t->kind == KIND_BOOL || (!whole && f->kind > t->kind))
    return NO;
  int kinds = f->kind == t->kind ? 0 : t->kind <= KIND_UINT ? 1 : 2;
  return LOSSY_PRICE + kinds * LOSSY_KIND_PRICE + 16 - t->bits / 8;
}

/* Same-kind widening, integers to wide enough floats, and weak numbers to what their kind fits,
 * before all that may lose something. */
static int scalar_price(TypeId from, TypeId to) {
  if (from == to)
    return 0;
  if (from <= TY_NONE || to <= TY_NONE || from >= TY_SCALARS || to >= TY_SCALARS)
    return NO;
  const ScalarInfo *f = &ty_scalar_info[from], *t = &ty_scalar_info[to];
  if (f->weak)
    return f->kind <= t->kind || (f->kind == KIND_INT && t->kind == KIND_UINT)
               ? WEAK_PRICE + (int)t->kind - (int)f->kind
               : NO;
  unsigned fb = f->bits, tb = t->bits;
  bool safe = false;
  switch (t->kind) {
  case KIND_BOOL: break;
  case KIND_INT:
    safe = f->kind == KIND_BOOL || (f->kind == KIND_INT && fb <= tb) ||
           (f->kind == KIND_UINT && fb < tb);
    break;
  case KIND_UINT: safe = f->kind == KIND_BOOL || (f->kind == KIND_UINT && fb <= tb); break;
  case KIND_FLOAT:
    safe = f->kind == KIND_FLOAT ? fb <= tb : f->kind <= KIND_UINT && (fb < tb || tb == 64);
    break;
  case KIND_COMPLEX: safe = f->kind == KIND_COMPLEX ? fb <= tb : 2 * fb <= tb; break;
  default: break;
  }
  return safe ? SAFE_PRICE + (int)(tb - fb) / 8 : lossy_price(f, t);
}

/* Integers of one width. */
static bool differ_in_sign(PxElem a, PxElem b) {
  if (a <= TY_NONE || b <= TY_NONE || a >= TY_SCALARS || b >= TY_SCALARS)
    return false;
  const ScalarInfo *f = &ty_scalar_info[a], *t = &ty_scalar_info[b];
  return f->bits == t->bits && ((f->kind == KIND_INT && t->kind == KIND_UINT) ||
                                (f->kind == KIND_UINT && t->kind == KIND_INT));
}

static int array_price(PxToken from, PxToken to) {
  bool sign = differ_in_sign(px_token_elem(from), px_token_elem(to));
  if ((px_token_elem(from) != px_token_elem(to) && !sign) ||
      px_token_ndim(from) != px_token_ndim(to))
    return NO;
  unsigned have = px_token_align(from), need = px_token_align(to); /* 0: all that the type has */
  if ((px_token_wide(from) && !px_token_wide(to)) || (have && (!need || have < need)))
    return NO;
  int price = (px_token_wide(from) != px_token_wide(to)) + (have != need) + sign * SIGN_PRICE;
  if (px_token_layout(from) == px_token_layout(to))
    return price;
  /* One axis that is contiguous either way: C and F are the same memory. */
  if (px_token_ndim(from) == 1 && px_token_layout(from) != LAYOUT_A)
    return price + LAYOUT_PRICE;
  return px_token_layout(to) == LAYOUT_A ? price + LAYOUT_PRICE : NO;
}

int px_signature_price(const PxToken *from, uint32_t nfrom, const PxToken *to, uint32_t nto) {
  if (nfrom != nto || (px_is_narrow(to, nto) && !px_is_narrow(from, nfrom)))
    return NO;
  int price = px_is_narrow(from, nfrom) && !px_is_narrow(to, nto) ? WIDE_PRICE : 0;
  for (uint32_t i = 0; i < nfrom; i++) {
    PxToken a = px_token_plain(from[i]), b = px_token_plain(to[i]);
    if (a == b)
      continue;
    if (px_token_is_tuple(a) && px_token_is_tuple(b) && px_token_items(a) == px_token_items(b) &&
        !px_token_named(b)) { /* a named tuple is a tuple */
      price += NAMES_PRICE;
      continue;
    }
    if (px_token_is_pointer(b)) { /* an address is a number */
      if (a != TY_PYINT && a != TY_I64 && a != TY_U64)
        return NO;
      price += WEAK_PRICE;
      continue;
    }
    if (px_token_is_enum(a) || px_token_is_enum(b) || px_token_is_tuple(a) ||
        px_token_is_tuple(b) || px_token_is_array(a) != px_token_is_array(b))
      return NO;
    int one = px_token_is_array(a) ? array_price(a, b) : scalar_price((TypeId)a, (TypeId)b);
    if (one < 0)
      return NO;
    price += one;
  }
  return price;
}
