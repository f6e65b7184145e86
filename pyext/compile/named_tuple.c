/* Named: see named_tuple.h. st->named is a list of (title, fields), st->named_ids a dict from these
 * to numbers. */
#include "pyext/compile/named_tuple.h"

#include <string.h>

static bool is_name(PyObject *o) { return PyUnicode_Check(o) && PyUnicode_IsIdentifier(o) > 0; }

PyObject *px_named_fields(PxState *st, PyObject *class) {
  if (!PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) ||
      class == (PyObject *)&PyTuple_Type)
    return NULL;
  PyObject *fields = px_getattr_optional(class, st->name._fields);
  bool ok = fields && PyTuple_CheckExact(fields);
  for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(fields); i++)
    ok = is_name(PyTuple_GET_ITEM(fields, i));
  if (!ok)
    Py_CLEAR(fields);
  PyErr_Clear();
  return fields;
}

/* The number of a (title, fields) pair, given one if it is new. Steals the pair, which may be
 * NULL. */
static int number_of(PxState *st, PyObject *pair) {
  long number = -1;
  if (!pair)
    return -1;
  PX_BEGIN_LOCKED(st->module)
  PyObject *known = PyDict_GetItemWithError(st->named_ids, pair);
  if (known) {
    number = PyLong_AsLong(known);
  } else if (!PyErr_Occurred() && PyList_GET_SIZE(st->named) >= PX_MAX_NAMED) {
    PyErr_Format(PyExc_RuntimeError, "more than %d classes of named tuples", PX_MAX_NAMED);
  } else if (!PyErr_Occurred()) {
    PyObject *id = PyLong_FromSsize_t(PyList_GET_SIZE(st->named) + 1);
    if (id && PyList_Append(st->named, pair) == 0) {
      if (PyDict_SetItem(st->named_ids, pair, id) == 0)
        number = PyLong_AsLong(id);
    }
    Py_XDECREF(id);
  }
  PX_END_LOCKED()
  Py_DECREF(pair);
  return (int)number;
}

int px_named_of(PxState *st, PyObject *tuple) {
  PyObject *class = (PyObject *)Py_TYPE(tuple), *fields = px_named_fields(st, class);
  if (!fields || !PyTuple_GET_SIZE(fields) || PyTuple_GET_SIZE(fields) != PyTuple_GET_SIZE(tuple)) {
    Py_XDECREF(fields);
    return PX_NO_NAMES;
  }
  PyObject *title = PyType_GetName((PyTypeObject *)class);
  if (title && !is_name(title))
    Py_SETREF(title, PyUnicode_FromString("namedtuple"));
  PyObject *pair = title ? PyTuple_Pack(2, title, fields) : NULL;
  Py_XDECREF(title);
  Py_DECREF(fields);
  return number_of(st, pair);
}

int px_named_by_text(PxState *st, const char *title, const char *const *names, uint32_t n) {
  PyObject *fields = PyTuple_New(n);
  for (uint32_t i = 0; fields && i < n; i++) {
    PyObject *name = PyUnicode_FromString(names[i]);
    if (!name)
      Py_CLEAR(fields);
    else
      PyTuple_SET_ITEM(fields, i, name);
  }
  return fields ? number_of(st, Py_BuildValue("(sN)", title, fields)) : -1;
}

/* Entries are never removed or changed. */
static PyObject *entry(PxState *st, uint32_t number) {
  PyObject *pair = NULL;
  PX_BEGIN_LOCKED(st->module)
  pair = PyList_GET_ITEM(st->named, number - 1);
  PX_END_LOCKED()
  return pair;
}

PyObject *px_named_title(PxState *st, uint32_t number) {
  return PyTuple_GET_ITEM(entry(st, number), 0);
}

PyObject *px_named_field(PxState *st, uint32_t number, uint32_t k) {
  return PyTuple_GET_ITEM(PyTuple_GET_ITEM(entry(st, number), 1), k);
}

/* --- Enums --- st->enums is a list of texts, st->enum_ids a dict from classes and texts to
 * numbers */

bool px_is_enum(PxState *st, PyObject *class) {
  if (!PyType_Check(class) || !PyObject_HasAttr(class, st->name.__members__))
    return false;
  if (px_enum_known(st, (PyTypeObject *)class) >= 0)
    return true;
  PyObject *module = PyImport_ImportModule("enum");
  PyObject *meta = module ? PyObject_GetAttrString(module, "EnumMeta") : NULL;
  bool is = meta && PyType_Check(meta) && PyObject_TypeCheck(class, (PyTypeObject *)meta);
  Py_XDECREF(meta);
  Py_XDECREF(module);
  PyErr_Clear();
  return is;
}

bool px_enum_has_identity(PxState *st, PyTypeObject *class) {
  return !PyObject_HasAttr((PyObject *)class, st->name._flag_mask_) &&
         !PyType_IsSubtype(class, &PyLong_Type) && !PyType_IsSubtype(class, &PyFloat_Type) &&
         !PyType_IsSubtype(class, &PyUnicode_Type);
}

static int known_enum(PxState *st, PyObject *key) {
  PyObject *known = PyDict_GetItemWithError(st->enum_ids, key);
  return known ? (int)PyLong_AsLong(known) : -1;
}

/* The number of a text, given one if it is new; key: what is to be found by it too, or NULL. */
static int enum_number(PxState *st, PyObject *text, PyObject *key) {
  int number = -1;
  PX_BEGIN_LOCKED(st->module)
  number = known_enum(st, text);
  if (number < 0 && !PyErr_Occurred() && PyList_GET_SIZE(st->enums) < PX_MAX_NAMED &&
      PyList_Append(st->enums, text) == 0)
    number = (int)PyList_GET_SIZE(st->enums) - 1;
  PyObject *id = number >= 0 ? PyLong_FromLong(number) : NULL;
  if (!id || PyDict_SetItem(st->enum_ids, text, id) < 0 ||
      (key && PyDict_SetItem(st->enum_ids, key, id) < 0))
    number = -1;
  Py_XDECREF(id);
  PX_END_LOCKED()
  if (number < 0 && !PyErr_Occurred())
    PyErr_Format(PyExc_RuntimeError, "more than %d Enums", PX_MAX_NAMED);
  return number;
}

int px_enum_by_text(PxState *st, const char *text) {
  PyObject *s = PyUnicode_FromString(text);
  int number = s ? enum_number(st, s, NULL) : -1;
  Py_XDECREF(s);
  return number;
}

/* Names are _name_: a class may give its members another name. */
static PyObject *name_of(PyObject *member) {
  PyObject *name = PyObject_GetAttrString(member, "_name_");
  if (name && !PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "the _name_ of an Enum's member is no str: %R", name);
    Py_CLEAR(name);
  }
  return name;
}

/* "RED=1", with values that are int (of 64 bits) or float and finite. */
static PyObject *member_text(PxState *st, PyObject *member) {
  PyObject *name = name_of(member);
  PyObject *value = name ? PyObject_GetAttr(member, st->name.value) : NULL, *text = NULL;
  if (value) {
    bool number = PyFloat_CheckExact(value);
    if (PyLong_CheckExact(value)) {
      int overflow;
      (void)PyLong_AsLongLongAndOverflow(value, &overflow);
      number = !overflow;
    }
    text = number ? PyUnicode_FromFormat("%U=%R", name, value) : Py_NewRef(name);
  }
  Py_XDECREF(value);
  Py_XDECREF(name);
  return text;
}

static PyObject *class_text(PxState *st, PyObject *class) {
  PyObject *members = PySequence_List(class), *parts = members ? PyList_New(0) : NULL;
  for (Py_ssize_t i = 0; parts && i < PyList_GET_SIZE(members); i++) {
    PyObject *one = member_text(st, PyList_GET_ITEM(members, i));
    if (!one || PyList_Append(parts, one) < 0)
      Py_CLEAR(parts);
    Py_XDECREF(one);
  }
  PyObject *comma = PyUnicode_FromString(", "),
           *inner = parts && comma ? PyUnicode_Join(comma, parts) : NULL;
  PyObject *name = inner ? PyType_GetName((PyTypeObject *)class) : NULL;
  PyObject *text = name ? PyUnicode_FromFormat("enum %U(%U)", name, inner) : NULL;
  Py_XDECREF(name);
  Py_XDECREF(inner);
  Py_XDECREF(comma);
  Py_XDECREF(parts);
  Py_XDECREF(members);
  return text;
}

int px_enum_known(PxState *st, PyTypeObject *class) {
  int number = -1;
  PX_BEGIN_LOCKED(st->module)
  number = known_enum(st, (PyObject *)class);
  PX_END_LOCKED()
  PyErr_Clear();
  return number;
}

int px_enum_of(PxState *st, PyObject *class) {
  int number = px_enum_known(st, (PyTypeObject *)class);
  if (number >= 0)
    return number;
  PyObject *text = class_text(st, class);
  number = text ? enum_number(st, text, class) : -1;
  Py_XDECREF(text);
  return number;
}

PyObject *px_enum_text(PxState *st, uint32_t number) {
  PyObject *text = NULL;
  PX_BEGIN_LOCKED(st->module)
  text = PyList_GET_ITEM(st->enums, number);
  PX_END_LOCKED()
  return text;
}
