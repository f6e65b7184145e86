/* Snapshot of code objects, and the opcode table of the running interpreter. */
#include <string.h>

#include "pyext/snapshot/code.h"
#include "pyext/snapshot/object.h"
#include "pyext/snapshot/work.h"

/* --- opcode table --- */

typedef struct Names { /* a NULL-terminated list of names, which the list of str keeps */
  const char *names[257];
  int n;
} Names;

/* Fills a table of numbers by opcode from the module: a mapping name → count (from 3.13 on) or a
 * list by number (before). */
static int cache_entries(PyObject *opcode, PyObject *opmap, uint8_t out[256]) {
  PyObject *entries = PyObject_GetAttrString(opcode, "_inline_cache_entries");
  if (!entries)
    return -1;
  PyObject *name, *number;
  Py_ssize_t at = 0;
  int failed = 0;
  while (!failed && PyDict_Next(opmap, &at, &name, &number)) {
    long op = PyLong_AsLong(number), count = 0;
    if (op < 0 || op > 255)
      continue;
    if (!PySequence_Check(entries)) {
      int known = PyMapping_HasKey(entries, name);
      PyObject *value = known ? PyObject_GetItem(entries, name) : NULL;
      count = value ? PyLong_AsLong(value) : 0;
      Py_XDECREF(value);
    } else if (op < PySequence_Size(entries)) {
      PyObject *value = PySequence_GetItem(entries, op);
      count = value ? PyLong_AsLong(value) : 0;
      Py_XDECREF(value);
    }
    out[op] = (uint8_t)count;
    failed = PyErr_Occurred() ? -1 : 0;
  }
  Py_DECREF(entries);
  return failed;
}

/* New reference: the name of an item of a list in opcode: a str, a pair (name, symbol), a class or
 * function, or, as its repr, another value (None, '', -1). */
static PyObject *name_of(PyObject *item) {
  if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) > 0)
    return Py_NewRef(PyTuple_GET_ITEM(item, 0));
  if (PyUnicode_Check(item) && PyUnicode_GET_LENGTH(item))
    return Py_NewRef(item);
  if (PyType_Check(item) || PyCFunction_Check(item))
    return PyObject_GetAttrString(item, "__name__");
  return PyObject_Repr(item);
}

/* opcode.ATTRIBUTE as names. Absent: an empty list. */
static int name_list(PyObject *opcode, const char *attribute, PyObject *keep, Names *out) {
  PyObject *list = PyObject_GetAttrString(opcode, attribute);
  if (!list) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return -1;
    PyErr_Clear();
    return 0;
  }
  PyObject *items = PySequence_List(list);
  Py_DECREF(list);
  int failed = items ? 0 : -1;
  for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(items) && out->n < 256; i++) {
    PyObject *name = name_of(PyList_GET_ITEM(items, i));
    failed = name ? PyList_Append(keep, name) : -1;
    Py_XDECREF(name);
    const char *text = failed ? NULL : PyUnicode_AsUTF8(name);
    failed = text ? 0 : -1;
    out->names[out->n] = text;
    out->n += !failed;
  }
  Py_XDECREF(items);
  return failed;
}

static OpTable *make_optable(PxState *st, PyObject *opcode, PyObject *opmap, PyObject *keep) {
  const char *names[256] = {0};
  uint8_t caches[256] = {0};
  Names binary = {0}, first = {0}, second = {0}, constants = {0}, special = {0};
  PyObject *name, *number;
  Py_ssize_t at = 0;
  while (PyDict_Next(opmap, &at, &name, &number)) {
    long op = PyLong_AsLong(number);
    if (op >= 0 && op <= 255 &&
        !(names[op] = PyUnicode_AsUTF8(name))) /* above: the compiler's pseudo instructions */
      return NULL;
  }
  if (PyErr_Occurred() || cache_entries(opcode, opmap, caches) < 0 ||
      name_list(opcode, "_nb_ops", keep, &binary) < 0 ||
      name_list(opcode, "_intrinsic_1_descs", keep, &first) < 0 ||
      name_list(opcode, "_intrinsic_2_descs", keep, &second) < 0 ||
      name_list(opcode, "_common_constants", keep, &constants) < 0 ||
      name_list(opcode, "_special_method_names", keep, &special) < 0)
    return NULL;
  OpTable *table = bc_optable_new(&(OpTableInput){
      .version = PY_MAJOR_VERSION * 100 + PY_MINOR_VERSION,
      .op_names = names,
      .cache_entries = caches,
      .binary_ops = binary.names,
      .intrinsic1 = first.n ? first.names : NULL,
      .intrinsic2 = second.n ? second.names : NULL,
      .common_constants = constants.n ? constants.names : NULL,
      .special_methods = special.n ? special.names : NULL,
  });
  if (!table)
    PyErr_NoMemory();
  (void)st;
  return table;
}

/* The opcode table of the running interpreter, made at the first call. NULL with an exception. */
static const OpTable *optable(PxState *st) {
  if (PX_PUBLISHED(st->ops))
    return st->ops;
  PyObject *opcode = PyImport_ImportModule("opcode");
  PyObject *found = opcode ? PyObject_GetAttrString(opcode, "opmap") : NULL;
  PyObject *opmap = found ? PyDict_New()
                          : NULL; /* from 3.15 on it is a frozendict, which is no dict */
  if (opmap && PyDict_Update(opmap, found) < 0)
    Py_CLEAR(opmap);
  PyObject *keep = opmap ? PyList_New(0) : NULL;
  OpTable *table = keep ? make_optable(st, opcode, opmap, keep) : NULL;
  if (!table && !PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "the opcode module of this interpreter has no opmap");
  Py_XDECREF(found);
  Py_XDECREF(keep);
  Py_XDECREF(opmap);
  Py_XDECREF(opcode);
  PX_BEGIN_LOCKED(st->module)
  if (table && st->ops)
    bc_optable_free(table); /* another thread was first */
  else if (table)
    PX_PUBLISH(st->ops, table);
  PX_END_LOCKED()
  return table ? st->ops : NULL;
}

/* --- code objects --- */

static uint32_t get_uint(PxSnapshot *s, PyObject *code, PyObject *name) {
  long v = PyLong_AsLong(px_keep(s, PyObject_GetAttr(code, name)));
  if (v == -1 && PyErr_Occurred())
    px_snapshot_raise(s);
  return (uint32_t)v;
}

static const char *get_text(PxSnapshot *s, PyObject *code, PyObject *name) {
  return px_freeze_text(s, px_keep(s, PyObject_GetAttr(code, name)));
}

/* The bytes are copied: co_code is made anew at each access. */
static const uint8_t *get_bytes(PxSnapshot *s, PyObject *code, PyObject *name, uint32_t *n) {
  PyObject *bytes = px_keep(s, PyObject_GetAttr(code, name));
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0)
    px_snapshot_raise(s);
  *n = (uint32_t)size;
  return arena_memdup(&s->cx->arena, data, (size_t)size + 1);
}

static PyObject *get_tuple(PxSnapshot *s, PyObject *code, PyObject *name) {
  PyObject *tuple = px_keep(s, PyObject_GetAttr(code, name));
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "a field of the code object is not a tuple");
    px_snapshot_raise(s);
  }
  return tuple;
}

static bool holds(PyObject *tuple, PyObject *str) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(tuple, i), str) == 0)
      return true;
  return false;
}

/* localsplus: variables, then cells that are not parameters, then free variables. */
static void freeze_locals(PxSnapshot *s, PyObject *co, Code *out) {
  PyObject *vars = get_tuple(s, co, s->st->name.co_varnames),
           *cells = get_tuple(s, co, s->st->name.co_cellvars);
  PyObject *frees = get_tuple(s, co, s->st->name.co_freevars);
  Py_ssize_t most = PyTuple_GET_SIZE(vars) + PyTuple_GET_SIZE(cells) + PyTuple_GET_SIZE(frees);
  const char **names = CX_ARRAY(s->cx, const char *, most + 1);
  uint32_t n = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(vars); i++)
    names[n++] = px_freeze_text(s, PyTuple_GET_ITEM(vars, i));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); i++)
    if (!holds(vars, PyTuple_GET_ITEM(cells, i)))
      names[n++] = px_freeze_text(s, PyTuple_GET_ITEM(cells, i));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(frees); i++)
    names[n++] = px_freeze_text(s, PyTuple_GET_ITEM(frees, i));
  out->localsplus = names;
  out->nlocalsplus = n;
  out->ncells = (uint32_t)PyTuple_GET_SIZE(cells);
  out->nfrees = (uint32_t)PyTuple_GET_SIZE(frees);
}

const Code *px_freeze_code(PxSnapshot *s, PyObject *co) {
  PxState *st = s->st;
  Code *out = CX_NEW(s->cx, Code);
  out->name = get_text(s, co, st->name.co_name);
  out->qualname = get_text(s, co, st->name.co_qualname);
  out->filename = get_text(s, co, st->name.co_filename);
  out->flags = get_uint(s, co, st->name.co_flags);
  out->firstlineno = (int32_t)get_uint(s, co, st->name.co_firstlineno);
  out->argcount = get_uint(s, co, st->name.co_argcount);
  out->posonlyargcount = get_uint(s, co, st->name.co_posonlyargcount);
  out->kwonlyargcount = get_uint(s, co, st->name.co_kwonlyargcount);
  out->nlocals = get_uint(s, co, st->name.co_nlocals);
  out->stacksize = get_uint(s, co, st->name.co_stacksize);
  freeze_locals(s, co, out);
  PyObject *names = get_tuple(s, co, st->name.co_names);
  out->nnames = (uint32_t)PyTuple_GET_SIZE(names);
  const char **texts = CX_ARRAY(s->cx, const char *, out->nnames + 1);
  for (uint32_t i = 0; i < out->nnames; i++)
    texts[i] = px_freeze_text(s, PyTuple_GET_ITEM(names, i));
  out->names = texts;
  PyObject *consts = get_tuple(s, co, st->name.co_consts);
  out->nconsts = (uint32_t)PyTuple_GET_SIZE(consts);
  const Frozen **values = CX_ARRAY(s->cx, const Frozen *, out->nconsts + 1);
  for (uint32_t i = 0; i < out->nconsts; i++)
    values[i] = px_freeze(s, PyTuple_GET_ITEM(consts, i));
  out->consts = values;
  out->bytes = get_bytes(s, co, st->name.co_code, &out->nbytes);
  out->linetable = get_bytes(s, co, st->name.co_linetable, &out->nlinetable);
  out->exceptiontable = get_bytes(s, co, st->name.co_exceptiontable, &out->nexceptiontable);
  out->ops = optable(st);
  if (!out->ops)
    px_snapshot_raise(s);
  return out;
}
