/* Options of @cuda.jit: the rows of codegen/options.def for Python, which reads what a decorator or
 * a command line says
 * (pyptx/_options.py), and the fields that it has read into a Dispatcher. */
#include <string.h>

#include "pyext/compile/options.h"
#include "pyext/state.h"

/* --- where values are kept --- */

/* A field of a Dispatcher, and the option that sets it: an int, or an object of a type, which is
 * NULL while it is not set. */
static const struct Place {
  const char *option, *field; /* NULL: the option has none */
  size_t at;
  int unset, from, to;
  PyTypeObject *type; /* NULL: an int */
} places[] = {
#define CODE(field, unset, from, to)                                                               \
#field, offsetof(PxDispatcher, options.field), unset, from, to, NULL
#define HELD(field, unset, from, to)                             #field, offsetof(PxDispatcher, field), unset, from, to, NULL
#define OBJECT(field, type)                                      #field, offsetof(PxDispatcher, field), 0, 0, 0, &type
#define NOWHERE                                                  NULL, 0, 0, 0, 0, NULL
#define O(name, kind, place, devices, environment, command, doc) {#name, place},
#define F(option, place)                                         {#option, place},
#include "codegen/options.def"
#undef F
#undef O
#undef NOWHERE
#undef OBJECT
#undef HELD
#undef CODE
};
enum { NPLACES = sizeof places / sizeof *places };

static int set_int(int *field, const struct Place *p, PyObject *value) {
  int over = 0;
  long n = PyLong_Check(value) ? PyLong_AsLongAndOverflow(value, &over) : -1;
  if (!PyLong_Check(value) || over || n < p->from || n > p->to) {
    PyErr_Format(PyExc_TypeError,
                 "the field %s of a Dispatcher must be an int from %d to %d, not %R", p->field,
                 p->from, p->to, value);
    return -1;
  }
  *field = (int)n;
  return 0;
}

/* A str has UTF-8 from then on, so that it can be read without a failure. */
static int set_object(PyObject **field, const struct Place *p, PyObject *value) {
  if (value == Py_None) {
    Py_CLEAR(*field);
    return 0;
  }
  if (!PyObject_TypeCheck(value, p->type)) {
    PyErr_Format(PyExc_TypeError, "the field %s of a Dispatcher must be a %s, not %R", p->field,
                 p->type->tp_name, value);
    return -1;
  }
  if (PyUnicode_Check(value) && !PyUnicode_AsUTF8(value))
    return -1;
  Py_XSETREF(*field, Py_NewRef(value));
  return 0;
}

static int set_field(PxDispatcher *d, const char *name, PyObject *value) {
  for (int i = 0; i < NPLACES; i++) {
    void *field = (char *)d + places[i].at;
    if (places[i].field && !strcmp(name, places[i].field))
      return places[i].type ? set_object(field, &places[i], value)
                            : set_int(field, &places[i], value);
  }
  PyErr_Format(PyExc_TypeError, "a Dispatcher has no field '%s'", name);
  return -1;
}

int px_options_set(PxDispatcher *d, PyObject *fields) {
  for (int i = 0; i < NPLACES; i++)
    if (places[i].field && !places[i].type)
      *(int *)(void *)((char *)d + places[i].at) = places[i].unset;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; fields && PyDict_Next(fields, &at, &key, &value);) {
    const char *name = PyUnicode_AsUTF8(key);
    if (!name || set_field(d, name, value) < 0)
      return -1;
  }
  d->func_options = (FuncOptions){.device = d->options.device_function,
                                  .inlining = (InlineMode)d->inlining};
  return 0;
}

/* --- the rows, for Python --- */

static const struct Row {
  const char *name, *kind, *type, *shown, *devices, *environment, *command, *doc;
  int least, most;
} rows[] = {
#define FLAG                  .kind = "FLAG", .most = 1
#define NUMBER(least_, most_) .kind = "NUMBER", .least = least_, .most = most_
#define COUNT(least_, most_)  .kind = "COUNT", .least = least_, .most = most_
#define CHOICE(names)         .kind = "CHOICE", .type = names
#define OWN(least_, most_, type_, shown_)                                                          \
  .kind = "OWN", .least = least_, .most = most_, .type = type_, .shown = shown_
#define O(name_, kind_, place, devices_, environment_, command_, doc_)                             \
  {.name = #name_,                                                                                 \
   kind_,                                                                                          \
   .devices = #devices_,                                                                           \
   .environment = environment_,                                                                    \
   .command = command_,                                                                            \
   .doc = doc_},
#define F(option, place)
#include "codegen/options.def"
#undef F
#undef O
#undef OWN
#undef CHOICE
#undef COUNT
#undef NUMBER
#undef FLAG
};

static int append(PyObject *list, PyObject *item) { /* steals */
  int failed = item ? PyList_Append(list, item) : -1;
  Py_XDECREF(item);
  return failed;
}

static int add_rows(PyObject *options, PyObject *fields, PyObject *flags) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct Row *r = &rows[i];
    if (append(options, Py_BuildValue("(ssiizzssss)", r->name, r->kind, r->least, r->most, r->type,
                                      r->shown, r->devices, r->environment, r->command, r->doc)))
      return -1;
  }
  for (int i = 0; i < NPLACES; i++) {
    const struct Place *p = &places[i];
    PyObject *row = !p->field ? Py_NewRef(Py_None)
                    : p->type ? Py_BuildValue("(ssO)", p->option, p->field, Py_None)
                              : Py_BuildValue("(ssi)", p->option, p->field, p->unset);
    if (append(fields, row))
      return -1;
  }
#define M(ID, name, bits, in_true, doc)                                                            \
  if (append(flags, Py_BuildValue("(sii)", name, bits, in_true)))                                  \
    return -1;
#include "codegen/fastmath.def"
#undef M
  return 0;
}

static PyObject *option_rows(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
  PyObject *options = PyList_New(0), *fields = PyList_New(0), *flags = PyList_New(0);
  if (options && fields && flags && add_rows(options, fields, flags) == 0)
    return Py_BuildValue("(NNN)", options, fields, flags);
  Py_XDECREF(options);
  Py_XDECREF(fields);
  Py_XDECREF(flags);
  return NULL;
}

PyMethodDef px_option_functions[] = {
    {"_options", option_rows, METH_NOARGS, NULL},
    {0},
};
