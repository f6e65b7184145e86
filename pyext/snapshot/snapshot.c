/* Snapshot: the work list over functions, what a function sees, and the way out. Single objects are
 * in object.c. */
#include "pyext/snapshot/snapshot.h"

#include <string.h>

#include "frontend/lift.h"
#include "pyext/raise.h"
#include "pyext/snapshot/object.h"
#include "pyext/snapshot/work.h"

enum {
  MAX_FUNCTIONS = 2000
}; /* what a kernel can reach by names; more is a library reached by accident */

_Noreturn void px_snapshot_raise(PxSnapshot *s) {
  assert(!s->failed && PyErr_Occurred());
  s->failed = px_raised();
  if (!s->failed)
    fail(s->cx, (Loc){0}, ERR_MEMORY);
  fail(s->cx, (Loc){0}, ERR_INTERNAL, "snapshot", "a Python call failed");
}

PyObject *px_keep(PxSnapshot *s, PyObject *new_reference) {
  int failed = new_reference ? PyList_Append(s->keep, new_reference) : -1;
  Py_XDECREF(new_reference);
  if (failed)
    px_snapshot_raise(s);
  return new_reference;
}

const char *px_freeze_text(PxSnapshot *s, PyObject *str) {
  size_t n;
  return px_freeze_string(s, str, &n);
}

const char *px_freeze_string(PxSnapshot *s, PyObject *str, size_t *length) {
  Py_ssize_t n;
  const char *text = PyUnicode_Check(str) ? PyUnicode_AsUTF8AndSize(str, &n) : NULL;
  if (!text && PyUnicode_Check(str)) { /* lone surrogates */
    PyErr_Clear();
    PyObject *bytes = px_keep(s, PyUnicode_AsEncodedString(str, "utf-8", "replace"));
    text = PyBytes_AS_STRING(bytes);
    n = PyBytes_GET_SIZE(bytes);
  } else if (!text) {
    PyErr_Format(PyExc_TypeError, "a name in a code object is not a str but %.100s",
                 Py_TYPE(str)->tp_name);
    px_snapshot_raise(s);
  }
  *length = (size_t)n;
  return arena_strndup(&s->cx->arena, text, (size_t)n);
}

/* --- names --- */

typedef VEC(const char *) Names;

static bool has_name(const Names *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++)
    if (!strcmp(names->data[i], name))
      return true;
  return false;
}

/* Globals that the code, or code that it makes functions of, reads; and all attribute names of
 * both. */
static void collect_names(PxSnapshot *s, const Code *code, Names *globals, Names *attributes) {
  for (const char *const *name = bc_global_names(s->cx, code); *name; name++)
    if (!has_name(globals, *name))
      VEC_PUSH(&s->cx->arena, globals, *name);
  for (uint32_t i = 0; i < code->nnames; i++)
    if (!has_name(attributes, code->names[i]))
      VEC_PUSH(&s->cx->arena, attributes, code->names[i]);
  for (uint32_t i = 0; i < code->nconsts; i++)
    if (code->consts[i]->kind == FZ_CODE)
      collect_names(s, code->consts[i]->code, globals, attributes);
}

/* --- functions --- */

static Frozen *unset(PxSnapshot *s, const char *name) {
  Frozen *f = px_new_frozen(s, FZ_UNSET);
  f->text = name;
  return f;
}

/* The value of a name as the function sees it: its globals, then its builtins. NULL if there is
 * none. */
PyObject *px_resolved(PyObject *value) {
#if PY_VERSION_HEX >= 0x030F0000
  if (value && !strcmp(Py_TYPE(value)->tp_name, "lazy_import"))
    Py_SETREF(value, PyObject_CallMethod(value, "resolve", NULL));
#endif
  return value;
}

static bool is_library(const char *module) {
  static const char *const libraries[] = {"pyptx", "numpy", "numba", "math", "cmath"};
  for (size_t k = 0; module && k < sizeof libraries / sizeof *libraries; k++) {
    size_t n = strlen(libraries[k]);
    if (!strncmp(module, libraries[k], n) && (!module[n] || module[n] == '.'))
      return true;
  }
  return false;
}

void px_capture(PxSnapshot *s, PyObject *scope, PyObject *name, PyObject *value) {
  PyObject *module = PyDict_Check(scope) ? PyDict_GetItemWithError(scope, s->st->name.__name__)
                                         : NULL;
  const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
  PyErr_Clear();
  if (!is_library(text) && px_captures_add(s->st, &s->captures, scope, name, value) < 0)
    px_snapshot_raise(s);
}

/* The value of a name as the function sees it: its globals, then its builtins. NULL if there is
 * none. */
static PyObject *look_up(PxSnapshot *s, PyObject *globals, PyObject *builtins, const char *name) {
  PyObject *key = px_keep(s, PyUnicode_InternFromString(name));
  PyObject *value = px_dict_get(globals, key);
  if (!value && !PyErr_Occurred() && builtins)
    value = PyDict_Check(builtins) ? px_dict_get(builtins, key)
                                   : px_getattr_optional(builtins, key);
  value = px_resolved(value);
  if (!value && PyErr_Occurred())
    px_snapshot_raise(s);
  if (value && px_keep(s, value) && PyDict_GetItemWithError(globals, key) == value)
    px_capture(s, globals, key, value);
  return value;
}

static Frozen *freeze_with(PxSnapshot *s, PyObject *value, const Names *attributes) {
  Frozen *f = px_freeze(s, value);
  px_freeze_attributes(s, f, value, attributes->data, attributes->len);
  return f;
}

static void freeze_globals(PxSnapshot *s, PyObject *function, FrozenFunc *out, const Names *globals,
                           const Names *attributes) {
  PyObject *scope = PyFunction_GetGlobals(function); /* borrowed: the function is kept */
  PyObject *builtins = px_getattr_optional(function, s->st->name.__builtins__);
  if (!builtins)
    PyErr_Clear();
  else
    px_keep(s, builtins);
  Binding *b = CX_ARRAY(s->cx, Binding, globals->len + 1);
  for (uint32_t i = 0; i < globals->len; i++) {
    PyObject *value = look_up(s, scope, builtins, globals->data[i]);
    b[i] = (Binding){globals->data[i],
                     value ? freeze_with(s, value, attributes) : unset(s, globals->data[i])};
  }
  out->globals = b;
  out->nglobals = globals->len;
}

static void freeze_closure(PxSnapshot *s, PyObject *function, FrozenFunc *out,
                           const Names *attributes) {
  PyObject *cells = PyFunction_GetClosure(function);
  uint32_t n = cells && PyTuple_Check(cells) ? (uint32_t)PyTuple_GET_SIZE(cells) : 0,
           nfrees = out->code->nfrees;
  const Frozen **values = CX_ARRAY(s->cx, const Frozen *, nfrees + 1);
  for (uint32_t i = 0; i < nfrees; i++) {
    PyObject *value = i < n ? PyCell_Get(PyTuple_GET_ITEM(cells, i)) : NULL;
    const char *name = out->code->localsplus[out->code->nlocalsplus - nfrees + i];
    if (value) {
      px_keep(s, value);
      px_capture(s, PyTuple_GET_ITEM(cells, i), px_keep(s, PyUnicode_InternFromString(name)),
                 value);
    }
    values[i] = value ? freeze_with(s, value, attributes) : unset(s, name);
  }
  out->closure = values;
}

static void freeze_defaults(PxSnapshot *s, PyObject *function, FrozenFunc *out) {
  PyObject *defaults = PyFunction_GetDefaults(function);
  if (defaults && PyTuple_Check(defaults)) {
    px_keep(s, Py_NewRef(defaults)); /* reading one may change the function's */
    out->ndefaults = (uint32_t)PyTuple_GET_SIZE(defaults);
    const Frozen **values = CX_ARRAY(s->cx, const Frozen *, out->ndefaults + 1);
    for (uint32_t i = 0; i < out->ndefaults; i++)
      values[i] = px_freeze(s, PyTuple_GET_ITEM(defaults, i));
    out->defaults = values;
  }
  PyObject *kwdefaults = PyFunction_GetKwDefaults(function);
  if (kwdefaults && PyDict_Check(kwdefaults)) {
    PyObject *copy = px_keep(s, PyDict_Copy(kwdefaults)), *name, *value;
    Binding *b = CX_ARRAY(s->cx, Binding, PyDict_GET_SIZE(copy) + 1);
    for (Py_ssize_t at = 0; PyDict_Next(copy, &at, &name, &value);) {
      b[out->nkwdefaults].name = px_freeze_text(s, name);
      b[out->nkwdefaults++].value = px_freeze(s, value);
    }
    out->kwdefaults = b;
  }
}

static void freeze_contents(PxSnapshot *s, struct PxWork w) {
  Names globals = {0}, attributes = {0};
  collect_names(s, w.out->code, &globals, &attributes);
  freeze_globals(s, w.function, w.out, &globals, &attributes);
  freeze_closure(s, w.function, w.out, &attributes);
  freeze_defaults(s, w.function, w.out);
}

Frozen *px_freeze_function(PxSnapshot *s, Frozen *f, PyObject *function,
                           const FuncOptions *options) {
  if (s->nfuncs++ >= MAX_FUNCTIONS) {
    f->kind = FZ_OPAQUE;
    f->text = "function (more than 2000 functions can be reached from the kernel)";
    return f;
  }
  const Frozen *code = px_freeze(s, PyFunction_GetCode(function));
  if (code->kind != FZ_CODE) {
    f->text = "function";
    return f;
  }
  FrozenFunc *out = CX_NEW(s->cx, FrozenFunc);
  f->kind = FZ_FUNC;
  f->func = out;
  out->code = code->code;
  if (!options)
    options = s->all;
  if (options)
    out->options = arena_memdup(&s->cx->arena, options, sizeof *options);
  PyObject *module = PyFunction_GetModule(function);
  out->module = module && PyUnicode_Check(module) ? px_freeze_text(s, module) : "";
  struct PxWork w = {function, out};
  VEC_PUSH(&s->cx->arena, &s->work, w);
  return f;
}

/* --- front door --- */

static int take(PxSnapshot *s, PyObject *function, const FuncOptions *options) {
  if (!CX_TRY(s->cx))
    return -1;
  s->root = px_freeze_root(s, function, options);
  while (s->work.len)
    freeze_contents(s, VEC_POP(&s->work));
  return 0;
}

void px_snapshot_free(PxSnapshot *s) {
  if (!s)
    return;
  PyBuffer_Release(&s->elements);
  Py_XDECREF(s->keep);
  Py_XDECREF(s->owners);
  Py_XDECREF(s->declared);
  Py_XDECREF(s->exceptions);
  px_captures_clear(&s->captures);
  cx_free(s->cx);
  PyMem_Free(s->memo);
  PyMem_Free(s);
}

static PxSnapshot *snapshot_new(PxState *st, RtDevice *device) {
  PxSnapshot *s = PyMem_Calloc(1, sizeof *s);
  if (!s || !(s->cx = cx_new()) || !(s->keep = PyList_New(0)) || !(s->owners = PyList_New(0)) ||
      !(s->declared = PyList_New(0)) || !(s->exceptions = PyDict_New())) {
    px_snapshot_free(s);
    PyErr_NoMemory();
    return NULL;
  }
  s->st = st;
  s->device = device;
  return s;
}

static PxSnapshot *snapshot_done(PxState *st, PxSnapshot *s, int failed) {
  if (!failed) {
    assert(s->root && !s->work.len && !s->depth && !s->failed && !PyErr_Occurred());
    return s;
  }
  if (s->failed)
    px_reraise(s->failed);
  else
    px_raise_diag(st, &s->cx->diag);
  px_snapshot_free(s);
  return NULL;
}

PyObject *px_snapshot_owners(const PxSnapshot *s) { return PyList_AsTuple(s->owners); }
void px_snapshot_captures(PxSnapshot *s, PxCaptures *out) {
  assert(!out->n);
  *out = s->captures;
  s->captures = (PxCaptures){0};
}
PyObject *px_snapshot_declared(const PxSnapshot *s) { return PyList_AsTuple(s->declared); }
PyObject *px_snapshot_exceptions(const PxSnapshot *s) { return Py_NewRef(s->exceptions); }

PxSnapshot *px_snapshot(PxState *st, PyObject *function, const FuncOptions *options,
                        RtDevice *device) {
  PX_HOLDS_GIL();
  assert(PyFunction_Check(function));
  PxSnapshot *s = snapshot_new(st, device);
  return s ? snapshot_done(st, s, take(s, function, options)) : NULL;
}

/* --- the library of complex functions --- */

static int take_library(PxSnapshot *s) {
  if (!CX_TRY(s->cx))
    return -1;
  PyObject *module = px_keep(s, PyImport_ImportModule("pyptx._complex"));
  PyObject *functions = px_keep(s, PyObject_GetAttrString(module, "FUNCTIONS"));
  uint32_t n = (uint32_t)PyTuple_GET_SIZE(functions);
  Frozen *library = px_new_frozen(s, FZ_MODULE);
  Binding *b = CX_ARRAY(s->cx, Binding, n);
  library->text = "pyptx._complex";
  library->attrs = b;
  library->nattrs = n;
  for (uint32_t i = 0; i < n; i++) {
    b[i].value = px_freeze(s, PyTuple_GET_ITEM(functions, i));
    b[i].name = b[i].value->func->code->name;
  }
  s->root = library;
  while (s->work.len)
    freeze_contents(s, VEC_POP(&s->work));
  return 0;
}

static PxSnapshot *library_new(PxState *st) {
  static const FuncOptions options = {.device = true, .exact = true, .inlining = INLINE_AUTO};
  PxSnapshot *s = snapshot_new(st, NULL);
  if (!s)
    return NULL;
  s->all = &options;
  return snapshot_done(st, s, take_library(s));
}

int px_complex_library(PxState *st, const PxSnapshot *s, const char *signature,
                       const Frozen **library) {
  *library = NULL;
  if (!s->mentions_complex && !strstr(signature, "complex"))
    return 0;
  if (!PX_PUBLISHED(st->complex_library)) {
    PxSnapshot *fresh = library_new(st);
    if (!fresh)
      return -1;
    PX_BEGIN_LOCKED(st->module)
    if (!st->complex_library) {
      PX_PUBLISH(st->complex_library, fresh);
      fresh = NULL;
    }
    PX_END_LOCKED()
    px_snapshot_free(fresh); /* another thread was first */
  }
  *library = st->complex_library->root;
  return 0;
}

const FrozenFunc *px_snapshot_func(const PxSnapshot *s) { return s->root->func; }
