/* Compat: the one place that knows how CPython versions differ for this room. Supported: 3.11 to
 * 3.15; free-threaded builds work (docs/TESTING.md).
 *
 * Free-threaded builds: objects that change after they are made guard themselves with
 * PX_BEGIN_LOCKED(object). What is changed under a lock must not itself be the object of the lock:
 * a list's own methods would take it again, and give it up for a moment. */
#ifndef PYPTX_PYEXT_COMPAT_H
#define PYPTX_PYEXT_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#if PY_VERSION_HEX < 0x030B0000
#error "CPython 3.11 or later is needed"
#endif

#ifdef Py_GIL_DISABLED /* elsewhere the macro is a brace, and the object would be unused */
#define PX_BEGIN_LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object);
#define PX_END_LOCKED()         Py_END_CRITICAL_SECTION()
#else
#define PX_BEGIN_LOCKED(object)                                                                    \
  {                                                                                                \
    (void)(object);
#define PX_END_LOCKED() }
#endif

/* Functions that every launch runs: the linker lays them side by side. */
#define PX_HOT         __attribute__((hot))
#define PX_LIKELY(e)   __builtin_expect(!!(e), 1)
#define PX_UNLIKELY(e) __builtin_expect(!!(e), 0)

/* At the head of what runs Python code or makes objects. */
#define PX_HOLDS_GIL() assert(PyGILState_Check())
/* At the border of a call: "NULL or -1 and an exception, or neither". */
#define PX_FAILED_IS_RAISED(failed) assert(!(failed) == !PyErr_Occurred())

/* A pointer that is set once, under a lock, and read without one. */
#define PX_PUBLISHED(field)      __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define PX_PUBLISH(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

#if PY_VERSION_HEX < 0x030C0000
#define PX_NO_SUBINTERPRETER_SLOT 1
#endif

/* Value of an attribute, or NULL without an error where there is none; NULL with an error for any
 * other failure. */
static inline PyObject *px_getattr_optional(PyObject *object, PyObject *name) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *value = NULL;
  (void)PyObject_GetOptionalAttr(object, name, &value);
  return value;
#else
  PyObject *value = PyObject_GetAttr(object, name);
  if (!value && PyErr_ExceptionMatches(PyExc_AttributeError))
    PyErr_Clear();
  return value;
#endif
}

/* New reference to dict[key], or NULL; an error only if hashing or comparing failed. */
static inline PyObject *px_dict_get(PyObject *dict, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *value = NULL;
  (void)PyDict_GetItemRef(dict, key, &value);
  return value;
#else
  return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* Is it an int of one digit, and which? Exact ints only. */
static inline bool px_small_int(PyObject *i, long long *out) {
#if PY_VERSION_HEX >= 0x030C0000
  bool small = PyUnstable_Long_IsCompact((PyLongObject *)i);
  *out = small ? PyUnstable_Long_CompactValue((PyLongObject *)i) : 0;
  return small;
#else
  Py_ssize_t n = Py_SIZE(i);
  *out = n ? (long long)n * ((PyLongObject *)i)->ob_digit[0] : 0;
  return n >= -1 && n <= 1;
#endif
}

/* object.name(arg). PyObject_CallMethod with the format "O" is no way to say that: it makes a
 * tuple's items the arguments. */
static inline PyObject *px_call_method(PyObject *object, const char *name, PyObject *arg) {
  PyObject *text = PyUnicode_FromString(name);
  PyObject *result = text ? PyObject_CallMethodOneArg(object, text, arg) : NULL;
  Py_XDECREF(text);
  return result;
}

static inline PyObject *px_raised(void) {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace)
    PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
#endif
}

static inline void px_reraise(PyObject *exception) { /* steals */
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(exception);
#else
  PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_DECREF(exception);
#endif
}

static inline bool px_is_finalizing(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

/* PyMem; NULL, without an exception, where there is no memory. */
static inline char *px_copy_text(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = PyMem_Malloc(n);
  return copy ? memcpy(copy, s, n) : NULL;
}

/* A str of the user's as C reads it: one with a NUL inside is refused, of which C would read the
 * part before it. NULL with an exception. */
static inline const char *px_c_text(PyObject *text) {
  Py_ssize_t n;
  const char *s = PyUnicode_AsUTF8AndSize(text, &n);
  if (!s || strlen(s) == (size_t)n)
    return s;
  PyErr_Format(PyExc_ValueError, "a NUL character in %R", text);
  return NULL;
}

/* A tuple of three extents or positions. */
static inline PyObject *px_uint3(const uint32_t v[3]) {
  return Py_BuildValue("(III)", v[0], v[1], v[2]);
}

/* Weak references to objects of a type: a member `weakrefs` of theirs, NULL at first, this row
 * among the type's members, and px_clear_weakrefs in its dealloc, while the object is whole. */
#define PX_WEAKREFS(object)                                                                        \
  { "__weaklistoffset__", T_PYSSIZET, offsetof(object, weakrefs), READONLY, NULL }
static inline void px_clear_weakrefs(PyObject *object, PyObject *weakrefs) {
  if (weakrefs)
    PyObject_ClearWeakRefs(object);
}

/* A function of a method table that takes keywords, or arguments as a vector. */
#define PX_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

/* The module under whose name functions are known: _operator's as operator's, and those of
 * math.integer (3.15), which math has too, as math's. */
static inline const char *px_public_module(const char *module) {
  if (!strcmp(module, "math.integer"))
    return "math";
  return *module == '_' ? module + 1 : module;
}

#endif
