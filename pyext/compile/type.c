/* Type: scalar types, array types and signatures, for eager compilation, dtype arguments and
 * conversions in kernels. */
#include "pyext/compile/type.h"

#include <string.h>

#include "pyext/compile/numba.h"
#include "pyext/compile/record.h"
#include "pyext/compile/signature.h"

static PyObject *type_make(PxState *st, TypeId id, PyObject *text) { /* steals text */
  if (!text)
    return NULL;
  PxType *self = PyObject_New(PxType, id == TY_FUNC ? st->signature_type : st->type_type);
  if (!self) {
    Py_DECREF(text);
    return NULL;
  }
  self->id = id;
  self->text = text;
  self->weakrefs = NULL;
  return (PyObject *)self;
}

/* Elements of arrays that are no scalars of ir/types.def. */
static bool is_listed(TypeId id) {
  return id == TY_RECORD || id == TY_DATETIME || id == TY_TIMEDELTA;
}

/* One record type, no array of it. */
static bool is_record_text(const char *s) {
  size_t n = strlen(s);
  return n > 7 && !strncmp(s, "record(", 7) && s[n - 1] == ')' && !ty_is_named_text(s);
}

static bool is_pointer_text(const char *s) { return !strncmp(s, "CPointer(", 9); }

PyObject *px_type_new(PxState *st, PyObject *text) {
  Py_ssize_t n;
  const char *s = PyUnicode_AsUTF8AndSize(text, &n);
  if (!s)
    return NULL;
  TypeId id = is_record_text(s)                      ? TY_RECORD
              : ty_date_text_id(s) != TY_SCALARS     ? ty_date_text_id(s)
              : ty_is_enum_text(s)                   ? TY_ENUM
              : *s == '(' || ty_is_named_text(s)     ? TY_TUPLE
              : strchr(s, '[') || is_pointer_text(s) ? TY_ARRAY
                                                     : ty_by_name(s, (size_t)n);
  if (!strncmp(s, "void(", 5))
    id = TY_FUNC;
  return type_make(st, id, Py_NewRef(text));
}

static void type_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  px_clear_weakrefs(self, ((PxType *)self)->weakrefs);
  Py_CLEAR(((PxType *)self)->text);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *type_repr(PyObject *self) { return Py_NewRef(((PxType *)self)->text); }

static Py_hash_t type_hash(PyObject *self) { return PyObject_Hash(((PxType *)self)->text); }

static PyObject *type_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(other) != Py_TYPE(self) || (op != Py_EQ && op != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyUnicode_RichCompare(((PxType *)self)->text, ((PxType *)other)->text, op);
}

/* --- float32[:, ::1] --- */

/* 0 for ':', 1 for '::1', -1 with an exception. */
static int axis_mark(PyObject *item) {
  if (PySlice_Check(item)) {
    PySliceObject *s = (PySliceObject *)item;
    if (s->start == Py_None && s->stop == Py_None) {
      if (s->step == Py_None)
        return 0;
      if (PyLong_Check(s->step) && PyLong_AsLong(s->step) == 1)
        return 1;
    }
  }
  PyErr_Clear();
  PyErr_Format(
      PyExc_TypeError,
      "write array types as float32[:], float32[:, :], float32[::1] or float32[:, ::1]; %R is not an axis",
      item);
  return -1;
}

static PyObject *type_subscript(PyObject *self, PyObject *key) {
  PxType *t = (PxType *)self;
  if (t->id <= TY_NONE || (t->id >= TY_SCALARS && !is_listed(t->id)))
    return PyErr_Format(PyExc_TypeError, "an array of %U is not possible", t->text);
  bool tuple = PyTuple_Check(key);
  Py_ssize_t n = tuple ? PyTuple_GET_SIZE(key) : 1;
  if (n > TY_MAX_NDIM)
    return PyErr_Format(PyExc_TypeError, "an array has at most %d axes", TY_MAX_NDIM);
  Layout layout = LAYOUT_A;
  for (Py_ssize_t i = 0; i < n; i++) {
    int mark = axis_mark(tuple ? PyTuple_GET_ITEM(key, i) : key);
    if (mark < 0)
      return NULL;
    if (mark && ((i > 0 && i + 1 < n) || layout != LAYOUT_A))
      return PyErr_Format(PyExc_TypeError,
                          "'::1' marks the last axis (C order) or the first (Fortran order)");
    if (mark)
      layout = i + 1 == n ? LAYOUT_C : LAYOUT_F;
  }
  PxState *st = px_state_of(self);
  PxElem elem = is_listed(t->id) ? px_elem_of_text(st, PyUnicode_AsUTF8(t->text)) : t->id;
  if (elem == PX_NO_ELEM)
    return NULL;
  PxToken token = px_array_token(elem, (unsigned)n, layout, false, 0);
  PyObject *list = px_signature_types(st, &token, 1);
  PyObject *type = list ? Py_NewRef(PyTuple_GET_ITEM(list, 0)) : NULL;
  Py_XDECREF(list);
  return type;
}

/* --- void(float32[:], int32); float32(1.5) --- */

static PyObject *signature_of(PyObject *self, PyObject *args) {
  PyObject *parts = PyTuple_New(PyTuple_GET_SIZE(args));
  if (!parts)
    return NULL;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject *item = px_own(px_state_of(self), PyTuple_GET_ITEM(args, i));
    if (!item || Py_TYPE(item) != Py_TYPE(self)) { /* a signature is no type */
      if (item)
        PyErr_Format(PyExc_TypeError, "a signature holds types, not %R", item);
      Py_XDECREF(item);
      Py_DECREF(parts);
      return NULL;
    }
    PyTuple_SET_ITEM(parts, i, Py_NewRef(((PxType *)item)->text));
    Py_DECREF(item);
  }
  PyObject *comma = PyUnicode_FromString(", ");
  PyObject *inner = comma ? PyUnicode_Join(comma, parts) : NULL;
  Py_XDECREF(comma);
  Py_DECREF(parts);
  PyObject *text = inner ? PyUnicode_FromFormat("%U(%U)", ((PxType *)self)->text, inner) : NULL;
  Py_XDECREF(inner);
  return type_make(px_state_of(self), TY_FUNC, text);
}

static PyObject *host_class(PxState *st, TypeId id) {
  switch (id) {
  case TY_PYBOOL: return Py_NewRef((PyObject *)&PyBool_Type);
  case TY_PYINT: return Py_NewRef((PyObject *)&PyLong_Type);
  case TY_PYFLOAT: return Py_NewRef((PyObject *)&PyFloat_Type);
  case TY_PYCOMPLEX: return Py_NewRef((PyObject *)&PyComplex_Type);
  default: break;
  }
  PyObject *dtype = px_dtype_of_type(st, id);
  PyObject *code = dtype && ty_is_ml_dtype(id) ? PyObject_GetAttrString(dtype, "char") : NULL;
  if (code && PyUnicode_CompareWithASCIIString(code, "V") == 0) {
    PyErr_Format(PyExc_TypeError,
                 "NumPy has no %s numbers; install ml_dtypes, whose %s is used then",
                 ty_scalar_info[id].name, ty_scalar_info[id].name);
    Py_CLEAR(dtype);
  }
  Py_XDECREF(code);
  PyObject *class = dtype ? PyObject_GetAttrString(dtype, "type") : NULL;
  Py_XDECREF(dtype);
  return class;
}

static PyObject *type_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  PxType *t = (PxType *)self;
  PyObject *first = PyTuple_GET_SIZE(args) ? px_own(px_state_of(self), PyTuple_GET_ITEM(args, 0))
                                           : Py_NewRef(Py_None);
  if (!first)
    return NULL;
  bool types = t->id == TY_VOID || t->id == TY_NONE || Py_TYPE(first) == Py_TYPE(self);
  Py_DECREF(first);
  if (types && (!kwargs || !PyDict_GET_SIZE(kwargs)))
    return signature_of(self, args);
  if (t->id >= TY_SCALARS)
    return PyErr_Format(PyExc_TypeError, "%U does not convert values", t->text);
  PyObject *class = host_class(px_state_of(self), t->id);
  PyObject *value = class ? PyObject_Call(class, args, kwargs) : NULL;
  Py_XDECREF(class);
  return value;
}

/* --- attributes --- */

static PyObject *get_text(PyObject *self, void *Py_UNUSED(closure)) {
  return Py_NewRef(((PxType *)self)->text);
}

/* The one token of an array's type; false with AttributeError, by that name, for other types. */
static bool array_token(PyObject *self, const char *name, PxToken *token) {
  PxType *t = (PxType *)self;
  PyObject *list = t->id == TY_ARRAY ? PyUnicode_FromFormat("(%U)", t->text) : NULL;
  PxSignature sig = {0};
  bool known = list && px_signature_parse(px_state_of(self), PyUnicode_AsUTF8(list), &sig) == 0 &&
               sig.n == 1;
  if (known)
    *token = sig.tokens[0];
  else if (!PyErr_Occurred())
    PyErr_Format(PyExc_AttributeError, "%U is not an array and has no %s", t->text, name);
  px_signature_clear(&sig);
  Py_XDECREF(list);
  return known;
}

static PyObject *elements_type(PyObject *self) {
  PxState *st = px_state_of(self);
  PxToken token;
  PyObject *text = array_token(self, "dtype", &token)
                       ? PyUnicode_FromString(px_elem_text(st, px_token_elem(token)))
                       : NULL;
  PyObject *type = text ? px_type_new(st, text) : NULL;
  Py_XDECREF(text);
  return type;
}

static PyObject *get_dtype(PyObject *self, void *Py_UNUSED(closure)) {
  PxType *t = (PxType *)self;
  if (is_listed(t->id)) {
    PxState *st = px_state_of(self);
    PxElem elem = px_elem_of_text(st, PyUnicode_AsUTF8(t->text));
    return elem == PX_NO_ELEM ? NULL : px_elem_dtype(st, elem);
  }
  if (t->id == TY_ARRAY)
    return elements_type(self);
  if (t->id >= TY_SCALARS)
    return PyErr_Format(PyExc_AttributeError, "%U has no dtype", t->text);
  PyObject *dtype = px_dtype_of_type(px_state_of(self), t->id);
  if (!dtype && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_AttributeError, "NumPy has no dtype for %U", t->text);
  }
  return dtype;
}

static PyObject *get_ndim(PyObject *self, void *Py_UNUSED(closure)) {
  PxToken token;
  return array_token(self, "ndim", &token) ? PyLong_FromLong(px_token_ndim(token)) : NULL;
}

static PyObject *get_layout(PyObject *self, void *Py_UNUSED(closure)) {
  static const char *const names[] = {[LAYOUT_C] = "C", [LAYOUT_F] = "F", [LAYOUT_A] = "A"};
  PxToken token;
  return array_token(self, "layout", &token) ? PyUnicode_FromString(names[px_token_layout(token)])
                                             : NULL;
}

/* The parts of a signature; closure: 0 its arguments, 1 its result. */
static PyObject *get_part(PyObject *self, void *result) {
  PxType *t = (PxType *)self;
  PxState *st = px_state_of(self);
  PxSignature sig = {0};
  if (px_signature_parse(st, PyUnicode_AsUTF8(t->text), &sig) < 0)
    return NULL;
  PyObject *text = result ? PyUnicode_FromString(sig.result ? sig.result : "none") : NULL;
  PyObject *part = text     ? px_type_new(st, text)
                   : result ? NULL
                            : px_signature_types(st, sig.tokens, sig.n);
  Py_XDECREF(text);
  px_signature_clear(&sig);
  return part;
}

static PyObject *get_bitwidth(PyObject *self, void *Py_UNUSED(closure)) {
  PxType *t = (PxType *)self;
  if (t->id >= TY_SCALARS)
    return PyErr_Format(PyExc_AttributeError, "%U is not a scalar type", t->text);
  return PyLong_FromLong(ty_scalar_info[t->id].bits);
}

static PyObject *get_underlying_float(PyObject *self, void *Py_UNUSED(closure)) {
  PxType *t = (PxType *)self;
  if (t->id != TY_C64 && t->id != TY_C128)
    return PyErr_Format(PyExc_AttributeError, "%U is not a complex type", t->text);
  const char *name = ty_scalar_info[t->id == TY_C64 ? TY_F32 : TY_F64].name;
  PyObject *text = PyUnicode_FromString(name);
  return text ? px_type_new(px_state_of(self), text) : NULL;
}

static PyObject *type_reduce(PyObject *self, PyObject *Py_UNUSED(args)) {
  PyObject *make = PyObject_GetAttrString(px_state_of(self)->module, "_type");
  return make ? Py_BuildValue("N(O)", make, ((PxType *)self)->text) : NULL;
}

static PyGetSetDef type_getset[] = {
    {"name", get_text, NULL, "The text of the type, as signatures write it.", NULL},
    {"dtype", get_dtype, NULL,
     "NumPy's dtype of a scalar type, so that np.dtype(float32) works; of an array type the type of its elements.",
     NULL},
    {"bitwidth", get_bitwidth, NULL, "Bits of a scalar type.", NULL},
    {"underlying_float", get_underlying_float, NULL, "Type of the parts of a complex type.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes of an array type.", NULL},
    {"layout", get_layout, NULL, "Order of an array type: 'C', 'F', or 'A' for any strides.", NULL},
    {0},
};

static PyGetSetDef signature_getset[] = {
    {"args", get_part, NULL, "The types of the arguments, as a tuple.", NULL},
    {"return_type", get_part, NULL, "The type of the result; none for void.", (void *)1},
    {0},
};

static PyMethodDef type_methods[] = {
    {"__reduce__", type_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nWhat pickle keeps: the type's name."},
    {0},
};

static PyMemberDef type_members[] = {PX_WEAKREFS(PxType), {0}};

static PyType_Slot type_slots[] = {
    {Py_tp_members, type_members},
    {Py_tp_doc,
     "A type of kernels: float32, float32[:, ::1].\n\n"
     "Calling a scalar type on the host gives a NumPy scalar; calling a type with types gives a signature."},
    {Py_tp_dealloc, type_dealloc},
    {Py_tp_repr, type_repr},
    {Py_tp_hash, type_hash},
    {Py_tp_richcompare, type_compare},
    {Py_mp_subscript, type_subscript},
    {Py_tp_call, type_call},
    {Py_tp_getset, type_getset},
    {Py_tp_methods, type_methods},
    {0, NULL},
};

PyType_Spec px_type_spec = {
    .name = "pyptx._pyptx.Type",
    .basicsize = sizeof(PxType),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = type_slots,
};

static PyType_Slot signature_slots[] = {
    {Py_tp_members, type_members},
    {Py_tp_doc, "The types of a function's arguments and result: void(float32[:], int32). Made by "
                "calling a type with types; equal to those of the same text."},
    {Py_tp_dealloc, type_dealloc},
    {Py_tp_repr, type_repr},
    {Py_tp_hash, type_hash},
    {Py_tp_richcompare, type_compare},
    {Py_tp_getset, signature_getset},
    {Py_tp_methods, type_methods},
    {0, NULL},
};

PyType_Spec px_signature_spec = {
    .name = "pyptx._pyptx.Signature",
    .basicsize = sizeof(PxType),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = signature_slots,
};

/* --- NumPy's dtypes --- */

/* By the array interface's string: '<f4', '|b1'. A foreign byte order is not a kernel's. */
static TypeId type_of_typestr(const char *s) {
  const char native = PY_LITTLE_ENDIAN ? '<' : '>';
  if (*s != native && *s != '|' && *s != '=')
    return TY_SCALARS;
  for (int i = TY_BOOL; i < TY_SCALARS; i++)
    if (*ty_scalar_info[i].npy && !strcmp(ty_scalar_info[i].npy, s + 1))
      return (TypeId)i;
  return TY_SCALARS;
}

/* ml_dtypes' 8-bit floats share their strings: their names tell which one it is. */
static TypeId float8_of_dtype(PyObject *dtype) {
  PyObject *name = PyObject_GetAttrString(dtype, "name");
  TypeId id = TY_SCALARS;
  for (TypeId t = TY_E4M3; name && t <= TY_E8M0; t++)
    if (PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, ty_scalar_info[t].name))
      id = t;
  Py_XDECREF(name);
  return id;
}

TypeId px_type_of_dtype(PxState *st, PyObject *dtype) {
  PyObject *known = PyDict_GetItemWithError(st->scalar_ids, dtype); /* borrowed: never removed */
  if (known)
    return (TypeId)PyLong_AsLong(known);
  PyErr_Clear();
  TypeId id = TY_SCALARS;
  PyObject *names = px_getattr_optional(dtype, st->name.names); /* of a structured dtype */
  PyObject *str = names == Py_None ? px_getattr_optional(dtype, st->name.str) : NULL;
  const char *text = str && PyUnicode_Check(str) ? PyUnicode_AsUTF8(str) : NULL;
  if (text)
    id = type_of_typestr(text);
  if (id < TY_SCALARS && ty_is_float8(id))
    id = float8_of_dtype(dtype);
  PyObject *number = PyLong_FromLong(id);
  /* dtypes of users are not kept alive: only those that mean a type */
  if (number && id < TY_SCALARS)
    (void)PyDict_SetItem(st->scalar_ids, dtype, number);
  Py_XDECREF(number);
  Py_XDECREF(str);
  Py_XDECREF(names);
  PyErr_Clear();
  return id;
}

/* Of bfloat16 and 8-bit floats NumPy has none: that of ml_dtypes, or where that is not installed
 * bytes without a meaning. */
static PyObject *ml_dtype(PxState *st, TypeId id) {
  PyObject *package = PyImport_ImportModule("ml_dtypes");
  if (!package && !PyErr_ExceptionMatches(PyExc_ImportError))
    return NULL;
  PyErr_Clear();
  PyObject *class = package ? PyObject_GetAttrString(package, ty_scalar_info[id].name) : NULL;
  PyObject *dtype = class ? PyObject_CallOneArg(st->np_dtype, class)
                    : package
                        ? NULL
                        : PyObject_CallFunction(st->np_dtype, "s", ty_is_float8(id) ? "V1" : "V2");
  Py_XDECREF(class);
  Py_XDECREF(package);
  return dtype;
}

PyObject *px_dtype_of_type(PxState *st, TypeId id) {
  static const char *const weak[] = {
      [TY_PYBOOL] = "b1", [TY_PYINT] = "i8", [TY_PYFLOAT] = "f8", [TY_PYCOMPLEX] = "c16"};
  if (id >= TY_SCALARS)
    return PyErr_Format(PyExc_TypeError, "not a scalar type");
  if (PX_PUBLISHED(st->dtypes[id]))
    return Py_NewRef(st->dtypes[id]);
  const char *text = ty_scalar_info[id].weak ? weak[id] : ty_scalar_info[id].npy;
  if (!*text)
    return PyErr_Format(PyExc_TypeError, "NumPy has no dtype for %s", ty_scalar_info[id].name);
  if (px_need_numpy(st) < 0)
    return NULL;
  PyObject *dtype = ty_is_ml_dtype(id) ? ml_dtype(st, id)
                                       : PyObject_CallFunction(st->np_dtype, "s", text);
  if (!dtype)
    return NULL;
  PX_BEGIN_LOCKED(st->module)
  if (!st->dtypes[id])
    PX_PUBLISH(st->dtypes[id], Py_NewRef(dtype));
  PX_END_LOCKED()
  return dtype;
}

static int get_buffer(PyObject *array, Py_buffer *view, int flags, PxElem elem) {
  if (elem >= TY_SCALARS || !ty_is_ml_dtype((TypeId)elem))
    return PyObject_GetBuffer(array, view, flags);
  PyObject *bits = PyObject_CallMethod(array, "view", "s", elem == TY_BF16 ? "u2" : "u1");
  /* the buffer keeps it */
  int failed = bits ? PyObject_GetBuffer(bits, view, flags) : -1;
  Py_XDECREF(bits);
  return failed;
}

int px_get_elements(PxState *st, PyObject *array, Py_buffer *view, int flags, PxElem elem) {
  if (get_buffer(array, view, flags, elem) < 0)
    return -1;
  if ((size_t)view->itemsize == px_elem_size(st, elem))
    return 0;
  PyErr_Format(PyExc_TypeError,
               "%.100s says that its dtype is %s, but its elements have %zd bytes: pass "
               "np.asarray(x)",
               Py_TYPE(array)->tp_name, px_elem_text(st, elem), view->itemsize);
  PyBuffer_Release(view);
  return -1;
}

/* --- module functions --- */

static PyObject *module_type(PyObject *module, PyObject *text) {
  PxState *st = px_state_of_module(module);
  const char *s = px_c_text(text);
  if (!s)
    return NULL;
  if (!strcmp(s, "void"))
    return type_make(st, TY_VOID, Py_NewRef(text));
  if (is_record_text(s))
    return px_elem_of_text(st, s) == PX_NO_ELEM ? NULL : type_make(st, TY_RECORD, Py_NewRef(text));
  const char *open = strchr(s, '(');
  if (open && open > s && !is_pointer_text(s) && !ty_is_named_text(s) && !ty_is_enum_text(s) &&
      !(open - s >= 6 && !strncmp(open - 6, "record", 6)))
    return type_make(st, TY_FUNC, Py_NewRef(text));
  /* One argument of a list, so that a tuple's parentheses are its own. */
  PyObject *list = PyUnicode_FromFormat("(%U)", text);
  PxSignature sig = {0};
  int failed = list ? px_signature_parse(st, PyUnicode_AsUTF8(list), &sig) : -1;
  Py_XDECREF(list);
  if (failed)
    return NULL;
  PyObject *types = px_signature_types(st, sig.tokens, sig.n);
  px_signature_clear(&sig);
  PyObject *type = NULL;
  if (types && PyTuple_GET_SIZE(types) == 1)
    type = Py_NewRef(PyTuple_GET_ITEM(types, 0));
  else if (types)
    PyErr_Format(PyExc_ValueError, "%R is not one type", text);
  Py_XDECREF(types);
  return type;
}

/* For the package's Python half: px_own, of the items of lists and tuples too. */
static PyObject *module_own(PyObject *module, PyObject *object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))
    return px_own(px_state_of_module(module), object);
  if (Py_EnterRecursiveCall(" in a signature"))
    return NULL;
  PyObject *items = PySequence_List(object);
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
    PyObject *own = module_own(module, PyList_GET_ITEM(items, i));
    if (!own || PyList_SetItem(items, i, own) < 0)
      Py_CLEAR(items);
  }
  Py_LeaveRecursiveCall();
  if (items && PyTuple_CheckExact(object))
    Py_SETREF(items, PyList_AsTuple(items));
  return items;
}

static PyObject *from_dtype(PyObject *module, PyObject *arg) {
  PxState *st = px_state_of_module(module);
  PyObject *dtype = px_need_numpy(st) < 0 ? NULL : PyObject_CallOneArg(st->np_dtype, arg);
  PxElem elem = dtype ? px_elem_of_dtype(st, dtype) : PX_NO_ELEM;
  if (dtype && elem == PX_NO_ELEM)
    PyErr_Format(PyExc_TypeError, "kernels have no type for the dtype %S", dtype);
  Py_XDECREF(dtype);
  PyObject *text = elem != PX_NO_ELEM ? PyUnicode_FromString(px_elem_text(st, elem)) : NULL;
  PyObject *type = text ? px_type_new(st, text) : NULL;
  Py_XDECREF(text);
  return type;
}

PyMethodDef px_type_functions[] = {
    {"from_dtype", from_dtype, METH_O,
     "from_dtype($module, dtype, /)\n--\n\n"
     "The type of a NumPy dtype or of what np.dtype() takes: float32, or for a structured\n"
     "dtype a record type. from_dtype(dt)[:] is an array of it. TypeError for what kernels\n"
     "cannot have (texts, objects, other byte orders).\n\n"
     "Example:\n\n"
     "    point = pyptx.from_dtype(np.dtype([(\"x\", np.float32), (\"y\", np.float32)]))"},
    {"_own", module_own, METH_O,
     "_own(object): what stands here for a type, signature or compiled function of Numba's (numba.h); other objects as they are."},
    {"_type", module_type, METH_O,
     "_type(text): the type that a text such as 'float32[:, ::1]' names."},
    {0},
};
