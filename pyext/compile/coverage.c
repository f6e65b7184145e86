/* Coverage: see coverage.h.
 *
 * Each line of each compilation has a byte, which its code sets, and which is cleared when it is
 * told. It lives as long as the process, since the code does not say when it is freed. Compilations
 * add to the list without a lock. */
#include "pyext/compile/coverage.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Line {
  struct Line *next;
  _Atomic unsigned char reached;
  int line;
  char file[];
} Line;

static Line *_Atomic lines;
static char *_Atomic own_folder; /* whose files are not counted; NULL: nothing is */

bool px_covers(void) { return atomic_load_explicit(&own_folder, memory_order_relaxed) != NULL; }

unsigned char *px_covered_byte(const char *file, int line) {
  const char *own = atomic_load(&own_folder);
  if (!own || !file || *file == '<' || strncmp(file, own, strlen(own)) == 0)
    return NULL;
  size_t n = strlen(file) + 1;
  Line *l = malloc(sizeof *l + n);
  if (!l)
    return NULL;
  atomic_init(&l->reached, 0);
  l->line = line;
  memcpy(l->file, file, n);
  l->next = atomic_load(&lines);
  while (!atomic_compare_exchange_weak(&lines, &l->next, l))
    ;
  return (unsigned char *)&l->reached;
}

static int add(PyObject *found, const Line *l) {
  PyObject *file = PyUnicode_DecodeFSDefault(l->file),
           *all = file ? PyDict_GetItemWithError(found, file) : NULL,
           *number = PyLong_FromLong(l->line);
  Py_XINCREF(all);
  if (file && !all && !PyErr_Occurred()) {
    all = PySet_New(NULL);
    if (all && PyDict_SetItem(found, file, all) < 0)
      Py_CLEAR(all);
  }
  int failed = all && number ? PySet_Add(all, number) : -1;
  Py_XDECREF(file);
  Py_XDECREF(all);
  Py_XDECREF(number);
  return failed;
}

/* {file: {line, …}} of what was reached since it was asked last, or NULL. */
static PyObject *take(void) {
  PyObject *found = PyDict_New();
  for (Line *l = atomic_load(&lines); l && found; l = l->next)
    if (atomic_load_explicit(&l->reached, memory_order_relaxed) &&
        atomic_exchange(&l->reached, 0) && add(found, l) < 0)
      Py_CLEAR(found);
  return found;
}

void px_tell_lines(void) {
  PyObject *before = px_raised();
  PyObject *found = take();
  PyObject *module = found && PyDict_GET_SIZE(found) ? PyImport_ImportModule("pyptx.coverage")
                                                     : NULL;
  PyObject *told = module ? px_call_method(module, "_tell", found) : NULL;
  if (PyErr_Occurred())
    PyErr_WriteUnraisable(NULL);
  Py_XDECREF(told);
  Py_XDECREF(module);
  Py_XDECREF(found);
  if (before)
    px_reraise(before);
}

/* _cover(folder): kernels that are compiled from now on count their lines, but for those in files
 * of this folder. */
static PyObject *cover(PyObject *Py_UNUSED(module), PyObject *folder) {
  PyObject *bytes = NULL;
  if (!PyUnicode_FSConverter(folder, &bytes))
    return NULL;
  char *text = strdup(PyBytes_AS_STRING(bytes)), *none = NULL;
  Py_DECREF(bytes);
  if (!text)
    return PyErr_NoMemory();
  if (!atomic_compare_exchange_strong(&own_folder, &none, text))
    free(text);
  Py_RETURN_NONE;
}

PyMethodDef px_coverage_functions[] = {
    {"_cover", cover, METH_O, NULL},
    {0},
};
