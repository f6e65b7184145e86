/* Labelled: see labelled.h. Classes are known by the module that they come from, so that neither
 * library is imported. */
#include "pyext/array/labelled.h"

#include <string.h>

static bool begins(const char *text, const char *word) {
  size_t n = strlen(word);
  return !strncmp(text, word, n) && (!text[n] || text[n] == '.');
}

/* The module that a class names, "" where there is none. Borrowed from it. */
static const char *module_of(PyTypeObject *type) {
  PyObject *module = type->tp_dict ? PyDict_GetItemString(type->tp_dict, "__module__") : NULL;
  const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
  if (!text)
    PyErr_Clear();
  return text ? text : "";
}

/* Has the class, or one that it is derived from, that name in that library? */
static bool is_of(PyObject *object, const char *library, const char *const *names) {
  PyObject *mro = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
    PyTypeObject *type = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
    const char *dot = strrchr(type->tp_name, '.'), *name = dot ? dot + 1 : type->tp_name;
    for (const char *const *n = names; *n; n++)
      if (!strcmp(*n, name) && begins(module_of(type), library))
        return true;
  }
  return false;
}

bool px_is_of_pandas(PyObject *object) {
  static const char *const names[] = {"Series", "DataFrame", "Index", NULL};
  return is_of(object, "pandas", names);
}

bool px_is_of_xarray(PyObject *object) {
  static const char *const names[] = {"DataArray", "Variable", NULL};
  return is_of(object, "xarray", names);
}

bool px_is_tracer(PyObject *object) {
  static const char *const names[] = {"Tracer", NULL};
  return is_of(object, "jax", names);
}

bool px_is_c_address(PyObject *object) {
  const char *class = Py_TYPE(object)->tp_name, *meta = Py_TYPE(Py_TYPE(object))->tp_name;
  bool simple = strstr(meta, "PyCSimpleType") &&
                (!strcmp(class, "c_void_p") || !strcmp(class, "c_char_p"));
  return simple || strstr(meta, "PyCPointerType") || !strcmp(class, "_ctypes");
}

/* -1 with an exception. */
static int same_memory(PxState *st, PyObject *a, PyObject *b) {
  PyObject *shared = PyObject_CallMethod(st->numpy, "may_share_memory", "OO", a, b);
  int is = shared ? PyObject_IsTrue(shared) : -1;
  Py_XDECREF(shared);
  return is;
}

/* Asked twice: what is another array each time is a copy. */
PyObject *px_labelled_values(PxState *st, PyObject *object) {
  PyObject *array = px_need_numpy(st) < 0 ? NULL : px_call_method(st->numpy, "asarray", object);
  PyObject *again = array ? px_call_method(st->numpy, "asarray", object) : NULL;
  int shared = again ? same_memory(st, array, again) : -1;
  PyObject *set = !shared ? PyObject_CallMethod(array, "setflags", "i", 0) : NULL;
  bool failed = shared < 0 || (!shared && !set);
  Py_XDECREF(set);
  Py_XDECREF(again);
  if (failed)
    Py_CLEAR(array);
  return array;
}
