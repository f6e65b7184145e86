/* Snapshot of single objects: in, a live object; out, its frozen form (ir/frozen.h), the same one
 * for the same object.
 *
 * Each kind of object has a function that says whether an object is its own; the first that says so
 * wins, so they stand from special to general. A memo by address ends cycles and keeps identity; it
 * must know an object before its parts are frozen. What no function knows becomes opaque, with a
 * text that the compiler's message shows. */
#include "pyext/snapshot/object.h"

#include <string.h>

#include "pyext/compile/dispatcher.h"
#include "pyext/compile/intrinsic.h"
#include "pyext/compile/named_tuple.h"
#include "pyext/compile/numba.h"
#include "pyext/compile/signature.h"
#include "pyext/compile/type.h"
#include "pyext/snapshot/array.h"
#include "pyext/snapshot/code.h"
#include "pyext/snapshot/work.h"

enum { MAX_DEPTH = 100 };

/* --- memo: one frozen object for each live one, by address; s->keep holds them --- */

struct PxMemo {
  PyObject *key;
  Frozen *value;
  /* names that were asked for last, with their array: the same question is not asked twice */
  uint32_t nattributes;
  const char *const *attributes;
};

static PxMemo *memo_slot(PxMemo *table, uint32_t cap, PyObject *key) {
  uint32_t at = (uint32_t)(((uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  while (table[at & (cap - 1)].key && table[at & (cap - 1)].key != key)
    at++;
  return &table[at & (cap - 1)];
}

static void memo_grow(PxSnapshot *s) {
  uint32_t cap = s->memo_cap ? s->memo_cap * 2 : 64;
  PxMemo *table = PyMem_Calloc(cap, sizeof *table);
  if (!table)
    fail(s->cx, (Loc){0}, ERR_MEMORY);
  for (uint32_t i = 0; i < s->memo_cap; i++)
    if (s->memo[i].key)
      *memo_slot(table, cap, s->memo[i].key) = s->memo[i];
  PyMem_Free(s->memo);
  s->memo = table;
  s->memo_cap = cap;
}

static Frozen *memo_find(PxSnapshot *s, PyObject *key) {
  return s->memo_cap ? memo_slot(s->memo, s->memo_cap, key)->value : NULL;
}

static void memo_add(PxSnapshot *s, PyObject *key, Frozen *value) {
  if (s->memo_len * 2 >= s->memo_cap)
    memo_grow(s);
  assert(s->memo_len < s->memo_cap && !(s->memo_cap & (s->memo_cap - 1)));
  px_keep(s, Py_NewRef(key));
  PxMemo *slot = memo_slot(s->memo, s->memo_cap, key);
  assert(!slot->key || slot->key == key);
  s->memo_len += !slot->key;
  *slot = (PxMemo){.key = key, .value = value};
}

Frozen *px_new_frozen(PxSnapshot *s, FrozenKind kind) {
  Frozen *f = CX_NEW(s->cx, Frozen);
  f->kind = kind;
  return f;
}

/* --- plain constants --- */

static void freeze_int(PxSnapshot *s, Frozen *f, PyObject *object) {
  int overflow;
  f->kind = FZ_INT;
  f->i = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (!overflow)
    return;
  f->wide = true;
  uint64_t bits = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
  f->i = (int64_t)bits;
  if (overflow > 0 && !PyErr_Occurred())
    return;
  PyErr_Clear();
  f->i = 0;
  PyObject *digits = PyLong_Type.tp_repr(object); /* ValueError for thousands of digits */
  PyErr_Clear();
  f->text = digits ? px_freeze_text(s, px_keep(s, digits)) : fz_no_digits;
}

static void freeze_items(PxSnapshot *s, Frozen *f, PyObject *const *items, Py_ssize_t n) {
  const Frozen **out = CX_ARRAY(s->cx, const Frozen *, n + 1);
  for (Py_ssize_t i = 0; i < n; i++)
    out[i] = px_freeze(s, items[i]);
  f->items = out;
  f->n = (uint32_t)n;
}

static void name_tuple(PxSnapshot *s, Frozen *f, PyObject *class, PyObject *fields) {
  const char **names = CX_ARRAY(s->cx, const char *, PyTuple_GET_SIZE(fields) + 1);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); i++)
    names[i] = px_freeze_text(s, PyTuple_GET_ITEM(fields, i));
  f->names = names;
  f->text = px_freeze_text(s, px_keep(s, PyType_GetName((PyTypeObject *)class)));
}

/* The fields of a struct sequence, as sys.float_info is. New reference or NULL. */
static PyObject *sequence_fields(PxSnapshot *s, PyObject *object) {
  PyObject *class = (PyObject *)Py_TYPE(object);
  if (PyTuple_CheckExact(object) || PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
    return NULL;
  PyObject *fields = px_getattr_optional(class, s->st->name.__match_args__);
  PyErr_Clear();
  return fields;
}

static void freeze_tuple(PxSnapshot *s, Frozen *f, PyObject *object) {
  f->kind = FZ_TUPLE;
  freeze_items(s, f, PySequence_Fast_ITEMS(object), PyTuple_GET_SIZE(object));
  PyObject *fields = px_named_fields(s->st, (PyObject *)Py_TYPE(object));
  if (!fields)
    fields = sequence_fields(s, object);
  if (!fields)
    return;
  px_keep(s, fields);
  if (PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == PyTuple_GET_SIZE(object))
    name_tuple(s, f, (PyObject *)Py_TYPE(object), fields);
}

static void freeze_slice(PxSnapshot *s, Frozen *f, PyObject *object) {
  PySliceObject *slice = (PySliceObject *)object;
  PyObject *items[] = {slice->start, slice->stop, slice->step};
  f->kind = FZ_SLICE;
  freeze_items(s, f, items, 3);
}

static void freeze_str(PxSnapshot *s, Frozen *f, PyObject *object) {
  size_t n; /* there may be NULs inside */
  f->kind = FZ_STR;
  f->text = px_freeze_string(s, object, &n);
  f->n = (uint32_t)n;
}

/* A member of an Enum that is an int or the like is that value, and has its name and value as
 * attributes. */
static void name_member(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (!px_is_enum(s->st, (PyObject *)Py_TYPE(object)))
    return;
  PyObject *name = px_getattr_optional(object, s->st->name.name);
  PyErr_Clear();
  Binding *b = CX_ARRAY(s->cx, Binding, 2);
  Frozen *value = arena_memdup(&s->cx->arena, f, sizeof *f);
  b[0] = (Binding){"value", value};
  b[1] = (Binding){"name", px_freeze(s, name ? px_keep(s, name) : Py_None)};
  f->attrs = b;
  f->nattrs = 2;
}

/* Constants without identity; they are not remembered. */
static bool freeze_constant(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (object == Py_None) {
    f->kind = FZ_NONE;
  } else if (object == Py_Ellipsis) {
    f->kind = FZ_ELLIPSIS;
  } else if (PyBool_Check(object)) {
    f->kind = FZ_BOOL;
    f->i = object == Py_True;
  } else if (PyLong_Check(object)) {
    freeze_int(s, f, object);
    if (!PyLong_CheckExact(object)) /* IntEnum, IntFlag */
      name_member(s, f, object);
  } else if (PyFloat_CheckExact(object)) {
    f->kind = FZ_FLOAT;
    f->re = PyFloat_AS_DOUBLE(object);
  } else if (PyComplex_CheckExact(object)) {
    f->kind = FZ_COMPLEX;
    f->re = PyComplex_RealAsDouble(object);
    f->im = PyComplex_ImagAsDouble(object);
  } else if (PyUnicode_Check(object)) {
    freeze_str(s, f, object);
  } else if (PyBytes_CheckExact(object) && (size_t)PyBytes_GET_SIZE(object) > FZ_MAX_BYTES) {
    f->kind = FZ_OPAQUE;
    f->wide = true;
    f->text = arena_printf(&s->cx->arena, "a bytes object of %zd bytes, more than a kernel holds",
                           PyBytes_GET_SIZE(object));
  } else if (PyBytes_CheckExact(object)) {
    f->kind = FZ_BYTES;
    f->n = (uint32_t)PyBytes_GET_SIZE(object);
    f->text = arena_strndup(&s->cx->arena, PyBytes_AS_STRING(object), f->n);
  } else {
    return false;
  }
  return true;
}

/* --- what nothing knows --- */

/* Where a function or class is defined: also of `random.random`, a method that a module offers as a
 * function. New reference or NULL. */
static PyObject *home_of(PxSnapshot *s, PyObject *object) {
  PyObject *self = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL;
  bool method = self && !PyModule_Check(self);
  PyObject *home = method ? (PyObject *)Py_TYPE(self) : object;
  return px_getattr_optional(home, s->st->name.__module__);
}

static bool has_numpy_type(PyObject *object) {
  return !strncmp(Py_TYPE(object)->tp_name, "numpy.", 6);
}

/* "numpy.sum" for a function, method or class of a compiled module; NULL for other objects, which
 * are not asked. */
static const char *callable_name(PxSnapshot *s, PyObject *object) {
  bool of_numpy = has_numpy_type(object);
  if (PyMethod_Check(object)) { /* numpy.random.rand, a method of a generator that nobody sees */
    of_numpy = has_numpy_type(PyMethod_GET_SELF(object));
    object = PyMethod_GET_FUNCTION(object);
  }
  bool known = of_numpy || PyCFunction_CheckExact(object) || PyFunction_Check(object) ||
               Py_IS_TYPE(object, &PyType_Type);
  PyObject *module = known ? home_of(s, object) : NULL;
  PyObject *name = known ? px_getattr_optional(object, s->st->name.__name__) : NULL;
  const char *text = NULL;
  if (name && PyUnicode_Check(name)) {
    const char *n = PyUnicode_AsUTF8(name);
    const char *m = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool plain = !m || !strcmp(m, "builtins") || !strcmp(m, "__main__");
    if (m && !strcmp(m, "pyptx._pyptx"))
      m = "cuda";
    m += m && *m == '_'; /* "io.open": _io is where some versions define it */
    text = n ? arena_printf(&s->cx->arena, "%s%s%s", plain ? "" : m, plain ? "" : ".", n) : NULL;
  }
  Py_XDECREF(module);
  Py_XDECREF(name);
  PyErr_Clear();
  return text;
}

static void freeze_opaque(PxSnapshot *s, Frozen *f, PyObject *object) {
  const char *name = callable_name(s, object);
  f->kind = FZ_OPAQUE;
  f->wide = name != NULL;
  f->i = PyType_Check(object);
  f->text = name ? name : arena_strdup(&s->cx->arena, Py_TYPE(object)->tp_name);
}

/* --- classes and functions --- */

/* Is the __new__ that the class has namedtuple's own? Its class has _make beside it; one of a user
 * may do anything. */
static bool has_own_new(PxSnapshot *s, PyObject *class) {
  PyObject *mro = px_keep(s, PyObject_GetAttr(class, s->st->name.__mro__));
  for (Py_ssize_t i = 0; PyTuple_Check(mro) && i < PyTuple_GET_SIZE(mro); i++) {
    PyObject *dict = px_keep(s, PyObject_GetAttr(PyTuple_GET_ITEM(mro, i), s->st->name.__dict__));
    if (PyMapping_HasKeyString(dict, "__new__"))
      return PyMapping_HasKeyString(dict, "_make");
  }
  return false;
}

static bool freeze_named_class(PxSnapshot *s, Frozen *f, PyObject *class) {
  PyObject *fields = px_named_fields(s->st, class);
  if (!fields)
    return false;
  px_keep(s, fields);
  PyObject *defaults = px_getattr_optional(class, s->st->name._field_defaults);
  PyErr_Clear();
  if (!defaults || !PyDict_Check(px_keep(s, defaults)) || !has_own_new(s, class))
    return false;
  Py_ssize_t n = PyTuple_GET_SIZE(fields), count = PyDict_GET_SIZE(defaults);
  if (count > n)
    return false;
  const Frozen **items = CX_ARRAY(s->cx, const Frozen *, count + 1);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *value = px_dict_get(defaults, PyTuple_GET_ITEM(fields, n - count + i));
    if (!value)
      return false;
    items[i] = px_freeze(s, px_keep(s, value));
  }
  f->kind = FZ_NAMED;
  f->n = (uint32_t)n;
  f->i = count;
  f->items = items;
  name_tuple(s, f, class, fields);
  return true;
}

/* What a site calls an exception class: its name, with a number where two classes share one. */
static const char *exception_name(PxSnapshot *s, PyTypeObject *class) {
  const char *dot = strrchr(class->tp_name, '.'), *own = dot ? dot + 1 : class->tp_name;
  const char *name = arena_strdup(&s->cx->arena, own);
  PyObject *known;
  for (unsigned k = 2; (known = PyDict_GetItemString(s->exceptions, name)) != NULL; k++) {
    if (known == (PyObject *)class)
      return name;
    name = arena_printf(&s->cx->arena, "%s#%u", own, k);
  }
  if (PyDict_SetItemString(s->exceptions, name, (PyObject *)class) < 0)
    px_snapshot_raise(s);
  return name;
}

static bool freeze_class(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (freeze_named_class(s, f, object))
    return true;
  static const struct {
    PyTypeObject *type;
    TypeId id;
  } numbers[] = {
      {&PyBool_Type, TY_PYBOOL},
      {&PyLong_Type, TY_PYINT},
      {&PyFloat_Type, TY_PYFLOAT},
      {&PyComplex_Type, TY_PYCOMPLEX},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (object == (PyObject *)numbers[i].type) {
      px_freeze_dtype_of(f, numbers[i].id, DTYPE_CLASS);
      return true;
    }
  if (Py_IS_TYPE(object, s->st->type_type) && ((PxType *)object)->id < TY_SCALARS &&
      ((PxType *)object)->id > TY_NONE) {
    px_freeze_dtype_of(f, ((PxType *)object)->id, DTYPE_OTHER);
    return true;
  }
  TypeId id = Py_IS_TYPE(object, s->st->type_type) ? ((PxType *)object)->id : TY_VOID;
  if (id == TY_RECORD || id == TY_DATETIME || id == TY_TIMEDELTA) {
    px_freeze_dtype_of(f, id, DTYPE_OTHER);
    f->text = px_freeze_text(s, ((PxType *)object)->text);
    return true;
  }
  PyTypeObject *class = PyExceptionClass_Check(object)      ? (PyTypeObject *)object
                        : PyExceptionInstance_Check(object) ? Py_TYPE(object)
                                                            : NULL;
  if (!class)
    return false;
  f->kind = FZ_EXCEPTION;
  f->text = exception_name(s, class);
  return true;
}

/* A function of math, builtins or a ufunc that pyptx/_library.py has in Python. */
static bool freeze_library_function(PxSnapshot *s, Frozen *f, PyObject *object) {
  bool ufunc = !strcmp(Py_TYPE(object)->tp_name, "numpy.ufunc");
  if (!ufunc && !PyCFunction_Check(object))
    return false;
  PyObject *module = px_getattr_optional(object, s->st->name.__module__);
  const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
  name = name ? px_public_module(name) : "";
  bool ours_may_be = ufunc || !strcmp(name, "math") || !strcmp(name, "cmath") ||
                     !strcmp(name, "builtins");
  Py_XDECREF(module);
  PyErr_Clear();
  if (!ours_may_be)
    return false;
  PyObject *library = px_keep(s, PyImport_ImportModule("pyptx._library"));
  PyObject *functions = px_keep(s, PyObject_GetAttrString(library, "FUNCTIONS"));
  PyObject *ours = PyDict_GetItemWithError(functions, object); /* borrowed from a module's dict */
  if (!ours)
    return false;
  *f = *px_freeze(s, ours);
  return true;
}

/* NumPy's own functions in Python (ones, eye, full) make arrays: the message shall name them, not a
 * line of NumPy's. */
static bool is_of_numpy(PyObject *function) {
  PyObject *module = PyFunction_GetModule(function);
  const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
  PyErr_Clear();
  return name && !strncmp(name, "numpy", 5) && (name[5] == '.' || !name[5]);
}

/* A function that is declared for some types: its own, apart from the plain function that it was
 * made of. */
static void freeze_with_signatures(PxSnapshot *s, Frozen *f, const PxDispatcher *d) {
  const char **texts = CX_ARRAY(s->cx, const char *, d->nsignatures);
  for (uint32_t i = 0; i < d->nsignatures; i++) {
    const PxSignature *one = &d->signatures[i];
    PyObject *list = px_keep(s, px_signature_text(s->st, one->tokens, one->n));
    const char *result = one->result ? one->result : "";
    texts[i] = arena_printf(&s->cx->arena, "%s%s", result, px_freeze_text(s, list));
    s->mentions_complex |= strstr(texts[i], "complex") != NULL;
  }
  FuncOptions options = d->func_options;
  options.signatures = texts;
  options.nsignatures = d->nsignatures;
  px_freeze_function(s, f, d->function, &options);
}

static bool freeze_callable(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (PyFunction_Check(object)) {
    if (is_of_numpy(object))
      return false; /* opaque, with its name */
    px_freeze_function(s, f, object, NULL);
    return true;
  }
  if (Py_IS_TYPE(object, s->st->dispatcher_type)) {
    PxDispatcher *d = (PxDispatcher *)object;
    if (d->nsignatures) {
      freeze_with_signatures(s, f, d);
      return true;
    }
    Frozen *function = px_freeze(s, d->function); /* one FrozenFunc, however it is reached */
    if (function->kind == FZ_FUNC && !function->func->options)
      ((FrozenFunc *)(uintptr_t)function->func)->options =
          arena_memdup(&s->cx->arena, &d->func_options, sizeof d->func_options);
    *f = *function;
    return true;
  }
  IntrinsicId id = px_intrinsic_of(s->st, object);
  if (id == INTR_NONE)
    return freeze_library_function(s, f, object);
  (void)freeze_library_function(s, f, object); /* a form of it, or all that it does */
  f->kind = FZ_INTRINSIC;
  f->i = id;
  return true;
}

static bool freeze_module(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (!PyModule_Check(object))
    return false;
  const char *name = PyModule_GetName(object);
  PyErr_Clear();
  f->kind = FZ_MODULE;
  f->text = arena_strdup(&s->cx->arena, name ? name : "?");
  return true;
}

static bool freeze_collection(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (PyTuple_Check(object)) {
    freeze_tuple(s, f, object);
  } else if (PyFrozenSet_CheckExact(object)) { /* x in {1, 2, 3} */
    PyObject *list = px_keep(s, PySequence_List(object));
    if (PyList_Sort(list) < 0) /* the order of a set of str differs from process to process */
      PyErr_Clear();
    freeze_tuple(s, f, px_keep(s, PyList_AsTuple(list)));
  } else if (PySlice_Check(object)) {
    freeze_slice(s, f, object);
  } else if (PyCode_Check(object)) {
    f->kind = FZ_CODE;
    f->code = px_freeze_code(s, object);
  } else {
    return false;
  }
  return true;
}

static bool freeze_enum_class(PxSnapshot *s, Frozen *f, PyObject *class) {
  if (!px_is_enum(s->st, class))
    return false;
  PyObject *all = px_keep(s, PyObject_GetAttr(class, s->st->name.__members__));
  PyObject *pairs = px_keep(s, PyMapping_Items(all)), *members = px_keep(s, PySequence_List(class));
  Py_ssize_t n = PyList_GET_SIZE(members), npairs = PyList_GET_SIZE(pairs);
  const char **names = CX_ARRAY(s->cx, const char *, n + 1);
  const Frozen **values = CX_ARRAY(s->cx, const Frozen *, n + 1);
  Binding *attrs = CX_ARRAY(s->cx, Binding, npairs + 1);
  f->kind = FZ_ENUM;
  f->text = px_freeze_text(s, px_keep(s, PyType_GetName((PyTypeObject *)class)));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *member = PyList_GET_ITEM(members, i);
    /* as compile/named_tuple.c has it */
    names[i] = px_freeze_text(s, px_keep(s, PyObject_GetAttrString(member, "_name_")));
    values[i] = px_freeze(s, px_keep(s, PyObject_GetAttr(member, s->st->name.value)));
  }
  f->names = names;
  f->items = values;
  f->n = (uint32_t)n;
  for (Py_ssize_t i = 0; i < npairs; i++) { /* aliases too */
    PyObject *pair = PyList_GET_ITEM(pairs, i);
    attrs[i].name = px_freeze_text(s, PyTuple_GET_ITEM(pair, 0));
    attrs[i].value = px_freeze(s, PyTuple_GET_ITEM(pair, 1));
  }
  f->attrs = attrs;
  f->nattrs = (uint32_t)npairs;
  return true;
}

static bool freeze_enum(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (freeze_enum_class(s, f, object))
    return true;
  PyObject *class = (PyObject *)Py_TYPE(object);
  if (!px_is_enum(s->st, class))
    return false;
  if (px_enum_has_identity(s->st, Py_TYPE(object))) {
    const Frozen **items = CX_ARRAY(s->cx, const Frozen *, 1);
    items[0] = px_freeze(s, class);
    f->i = PyLong_AsLongLong(px_keep(s, PyObject_GetAttr(object, s->st->name._sort_order_)));
    if (PyErr_Occurred())
      px_snapshot_raise(s);
    f->items = items;
    f->kind = FZ_MEMBER;
    return items[0]->kind == FZ_ENUM;
  }
  PyObject *value = px_keep(s, PyObject_GetAttr(object, s->st->name.value));
  *f = *px_freeze(s, value);
  if (f->kind != FZ_OPAQUE)
    name_member(s, f, object);
  return f->kind != FZ_OPAQUE;
}

/* pyptx.cuda._link.DeclaredFunction: its class says so, with a property of (symbol, signature, is
 * Numba's ABI). */
static bool freeze_declared(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (PyType_Check(object) ||
      !PyObject_HasAttr((PyObject *)Py_TYPE(object), s->st->name.__pyptx_declared__))
    return false;
  PyObject *what = px_keep(s, PyObject_GetAttr(object, s->st->name.__pyptx_declared__));
  if (!PyTuple_Check(what) || PyTuple_GET_SIZE(what) != 3)
    return false;
  const char **signature = CX_ARRAY(s->cx, const char *, 1);
  f->text = px_freeze_text(s, PyTuple_GET_ITEM(what, 0));
  signature[0] = px_freeze_text(s, PyTuple_GET_ITEM(what, 1));
  f->names = signature;
  f->i = PyTuple_GET_ITEM(what, 2) == Py_True;
  f->kind = FZ_DECLARED;
  if (PyList_Append(s->declared, object) < 0)
    px_snapshot_raise(s);
  return true;
}

static bool (*const kinds[])(PxSnapshot *, Frozen *, PyObject *) = {
    freeze_collection, freeze_callable, freeze_class,    freeze_module,
    px_freeze_numpy,   freeze_enum,     freeze_declared, px_freeze_memory,
};

/* May code that names it make complex numbers? */
static bool mentions_complex(const Frozen *f) {
  TypeId id = f->type;
  switch (f->kind) {
  case FZ_COMPLEX: return true;
  case FZ_INTRINSIC: return !strncmp(ir_intrinsics[f->i].path, "cmath.", 6);
  case FZ_ARRAY: id = f->array->elem; break;
  case FZ_STR: id = ty_by_name(f->text, f->n); break;
  case FZ_DTYPE:
  case FZ_SCALAR: break;
  default: return false;
  }
  return id < TY_SCALARS && ty_scalar_info[id].kind == KIND_COMPLEX;
}

static Frozen *freeze_object(PxSnapshot *s, PyObject *object);

Frozen *px_freeze(PxSnapshot *s, PyObject *object) {
  Frozen *f = freeze_object(s, object);
  s->mentions_complex |= mentions_complex(f);
  return f;
}

/* What stands for an object of Numba's, or the object itself: so too where a kernel cannot have its
 * like, which the message then names. */
static PyObject *own_object(PxSnapshot *s, PyObject *object) {
  PyObject *own = px_own(s->st, object);
  PyErr_Clear();
  return own ? px_keep(s, own) : object;
}

static Frozen *freeze_object(PxSnapshot *s, PyObject *object) {
  Frozen *f = memo_find(s, object);
  if (f)
    return f;
  f = px_new_frozen(s, FZ_OPAQUE);
  if (freeze_constant(s, f, object))
    return f;
  PyObject *own = own_object(s, object);
  if (own != object) {
    f = px_freeze(s, own);
    memo_add(s, object, f);
    return f;
  }
  memo_add(s, object, f); /* before its contents, which may lead back to it */
  if (s->depth >= MAX_DEPTH) {
    f->text = "object nested more than 100 deep";
    return f;
  }
  s->depth++;
  bool known = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !known; i++)
    known = kinds[i](s, f, object);
  s->depth--;
  if (!known)
    freeze_opaque(s, f, object);
  return f;
}

Frozen *px_freeze_root(PxSnapshot *s, PyObject *function, const FuncOptions *options) {
  Frozen *f = px_new_frozen(s, FZ_OPAQUE);
  memo_add(s, function, f);
  return px_freeze_function(s, f, function, options);
}

/* --- attributes --- */

/* Does a module make attributes when it is asked for them: by a `__getattr__` of its own (PEP 562),
 * or by its class, as that of importlib.util.LazyLoader? pyptx's own list in _LAZY what of that
 * kernels know. */
static bool may_make(PyObject *module, PyObject *attribute) {
  const char *name = PyModule_GetName(module);
  PyErr_Clear();
  if (name && !strncmp(name, "pyptx", 5) && (!name[5] || name[5] == '.')) {
    PyObject *lazy = PyDict_GetItemString(PyModule_GetDict(module), "_LAZY"); /* borrowed */
    return lazy && PyAnySet_Check(lazy) && PySet_Contains(lazy, attribute) == 1;
  }
  return !PyModule_CheckExact(module) ||
         PyMapping_HasKeyString(PyModule_GetDict(module), "__getattr__");
}

/* What may be asked for attributes without running its code: modules, classes and instances with a
 * dict. New reference or NULL. */
static PyObject *own_attribute(PxSnapshot *s, PyObject *object, PyObject *name) {
  PyObject *value = NULL;
  if (PyModule_Check(object)) {
    value = px_resolved(px_dict_get(PyModule_GetDict(object), name));
    if (!value && may_make(object, name))
      value = px_getattr_optional(object, name);
  } else if (PyType_Check(object)) {
    /* Enum members are descriptors in some versions, so the class is asked where it is an Enum. */
    bool is_enum = px_is_enum(s->st, object);
    PyObject *dict = is_enum ? NULL : px_getattr_optional(object, s->st->name.__dict__);
    value = is_enum ? px_getattr_optional(object, name)
            : dict  ? PyObject_GetItem(dict, name)
                    : NULL;
    Py_XDECREF(dict);
    if (value && Py_IS_TYPE(value, &PyStaticMethod_Type)) {
      PyObject *function = PyObject_GetAttrString(value, "__func__");
      Py_SETREF(value, function);
    }
  } else {
    PyObject *dict = px_getattr_optional(object, s->st->name.__dict__);
    value = dict && PyDict_Check(dict) ? px_dict_get(dict, name) : NULL;
    Py_XDECREF(dict);
  }
  PyErr_Clear();
  return value;
}

static bool asked_before(PxSnapshot *s, PyObject *object, const char *const *names, uint32_t n) {
  PxMemo *slot = s->memo_cap ? memo_slot(s->memo, s->memo_cap, object) : NULL;
  if (!slot || !slot->key)
    return true; /* a constant */
  if (slot->attributes == names && slot->nattributes == n)
    return true;
  slot->attributes = names;
  slot->nattributes = n;
  return false;
}

static void add_attribute(PxSnapshot *s, Frozen *f, const char *name, const Frozen *value) {
  if (!(f->nattrs & (f->nattrs - 1))) { /* 0, 1, 2, 4, 8 …: full */
    Binding *more = CX_ARRAY(s->cx, Binding, f->nattrs ? 2 * f->nattrs : 1);
    if (f->nattrs)
      memcpy(more, f->attrs, sizeof *more * f->nattrs);
    f->attrs = more;
  }
  ((Binding *)(uintptr_t)f->attrs)[f->nattrs++] = (Binding){name, value};
}

/* Of a class it is not noted: its dict shows itself to nobody. */
static void capture_attribute(PxSnapshot *s, PyObject *object, PyObject *name, PyObject *value) {
  PyObject *dict = PyType_Check(object) ? NULL : px_getattr_optional(object, s->st->name.__dict__);
  PyErr_Clear();
  if (!dict)
    return;
  px_keep(s, dict);
  if (PyDict_Check(dict) && PyDict_GetItemWithError(dict, name) == value)
    px_capture(s, dict, name, value);
  PyErr_Clear();
}

void px_freeze_attributes(PxSnapshot *s, Frozen *f, PyObject *object, const char *const *names,
                          uint32_t n) {
  if ((f->kind != FZ_MODULE && f->kind != FZ_OPAQUE && !PyFunction_Check(object)) ||
      asked_before(s, object, names, n))
    return;
  object = own_object(s, object);
  if (s->depth >= MAX_DEPTH)
    return;
  s->depth++;
  for (uint32_t i = 0; i < n; i++) {
    const Frozen *known = fz_attr(f, names[i]); /* of another function; this one may ask it more */
    if (known && known->kind != FZ_MODULE && known->kind != FZ_OPAQUE)
      continue;
    PyObject *name = px_keep(s, PyUnicode_InternFromString(names[i]));
    PyObject *value = own_attribute(s, object, name);
    bool plain = value && (PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value));
    if (!value || (PyFunction_Check(object) && !plain)) /* of functions, what leads to no others */
      continue;
    Frozen *v = px_freeze(s, px_keep(s, value));
    capture_attribute(s, object, name, value);
    if (!known)
      add_attribute(s, f, names[i], v);
    px_freeze_attributes(s, v, value, names, n);
  }
  s->depth--;
}
