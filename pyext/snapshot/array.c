/* Snapshot of NumPy's scalars, arrays and dtypes, and of arrays in the memory of devices. */
#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/make.h"
#include "pyext/compile/record.h"
#include "pyext/compile/signature.h"
#include "pyext/compile/type.h"
#include "pyext/launch/scalar.h"
#include "pyext/snapshot/array.h"
#include "pyext/snapshot/object.h"
#include "pyext/snapshot/work.h"

/* --- NumPy --- */

/* A class that has its dtype's name, bool_ too: np.longlong is not np.int64, though both make one
 * dtype. */
static DtypeForm form_of(PxSnapshot *s, PyObject *object, PyObject *dtype) {
  if (object == dtype)
    return DTYPE_INSTANCE;
  PyObject *name = px_keep(s, PyObject_GetAttr(dtype, s->st->name.name));
  const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  const char *class = ((PyTypeObject *)object)->tp_name, *dot = strrchr(class, '.');
  class = dot ? dot + 1 : class;
  size_t n = text ? strlen(text) : 0;
  PyErr_Clear();
  bool own = n && !strncmp(class, text, n) && (!class[n] || !strcmp(class + n, "_"));
  return own ? DTYPE_CLASS : DTYPE_OTHER;
}

static void freeze_elem(PxSnapshot *s, Frozen *f, PxElem e, DtypeForm form) {
  px_freeze_dtype_of(f, px_elem_id(s->st, e), form);
  if (px_elem_is_listed(e))
    f->text = arena_strdup(&s->cx->arena, px_elem_text(s->st, e));
}

static bool freeze_numpy_scalar(PxSnapshot *s, Frozen *f, PyObject *object) {
  PyObject *dtype = px_keep(s, PyObject_GetAttr(object, s->st->name.dtype));
  PxElem e = px_elem_of_dtype(s->st, dtype);
  TypeId id = px_elem_id(s->st, e);
  bool date = id == TY_DATETIME || id == TY_TIMEDELTA;
  Py_buffer view;
  if ((id >= TY_SCALARS && !date) || PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) {
    PyErr_Clear();
    return false;
  }
  bool whole = (size_t)view.len >= px_elem_size(s->st, e);
  PxNumber n = {0};
  if (whole)
    n = px_read_number(date ? TY_I64 : id, view.buf);
  PyBuffer_Release(&view);
  if (!whole)
    return false;
  f->kind = date ? FZ_DATE : FZ_SCALAR;
  f->type = id;
  f->text = date ? arena_strdup(&s->cx->arena, px_elem_text(s->st, e)) : NULL;
  f->i = n.i;
  f->re = n.re;
  f->im = n.im;
  return true;
}

static void copy_elements(PxSnapshot *s, FrozenArray *array, PyObject *object, PxElem id) {
  PyObject *flat =
      px_keep(s, PyObject_CallMethod(s->st->numpy, "require", "OOs", object, Py_None, "C"));
  Py_buffer *view = &s->elements; /* released with the snapshot where the arena is full */
  if (px_get_elements(s->st, flat, view, PyBUF_ND, id) < 0)
    px_snapshot_raise(s);
  array->nbytes = (size_t)view->len;
  array->data = arena_memdup(&s->cx->arena, view->buf, (size_t)view->len);
  PyBuffer_Release(view);
}

static bool freeze_numpy_array(PxSnapshot *s, Frozen *f, PyObject *object) {
  PyObject *dtype = px_keep(s, PyObject_GetAttr(object, s->st->name.dtype));
  PxElem id = px_elem_of_dtype(s->st, dtype);
  if (id == PX_NO_ELEM)
    return false;
  FrozenArray *array = CX_NEW(s->cx, FrozenArray);
  int ndim = px_shape_argument(px_keep(s, PyObject_GetAttr(object, s->st->name.shape)),
                               array->extents);
  if (ndim < 0) {
    PyErr_Clear();
    return false;
  }
  array->ndim = (uint8_t)ndim;
  array->elem = px_elem_id(s->st, id);
  if (px_elem_is_listed(id))
    array->record = arena_strdup(&s->cx->arena, px_elem_text(s->st, id));
  array->nbytes = PyLong_AsSize_t(px_keep(s, PyObject_GetAttr(object, s->st->name.nbytes)));
  if (PyErr_Occurred())
    px_snapshot_raise(s);
  if (array->nbytes <= FZ_MAX_BYTES)
    copy_elements(s, array, object, id);
  f->kind = FZ_ARRAY;
  f->array = array;
  return true;
}

static bool is_instance(PxSnapshot *s, PyObject *object, PyObject *class) {
  int is = PyObject_IsInstance(object, class);
  if (is < 0)
    px_snapshot_raise(s);
  return is;
}

/* An np.iinfo or np.finfo that was made outside of the kernel: what kernels have of it
 * (typeinfer/rules/limits.c), as NumPy says it. */
static bool freeze_limits(PxSnapshot *s, Frozen *f, PyObject *object) {
  static const char *const members[] = {"bits",
                                        "dtype",
                                        "eps",
                                        "epsneg",
                                        "iexp",
                                        "kind",
                                        "machep",
                                        "max",
                                        "maxexp",
                                        "min",
                                        "minexp",
                                        "negep",
                                        "nexp",
                                        "nmant",
                                        "precision",
                                        "resolution",
                                        "tiny",
                                        "smallest_normal",
                                        "smallest_subnormal"};
  enum { N = sizeof members / sizeof *members };
  PyTypeObject *type = Py_TYPE(object);
  const char *dot = strrchr(type->tp_name, '.'), *name = dot ? dot + 1 : type->tp_name;
  if (strcmp(name, "iinfo") && strcmp(name, "finfo"))
    return false;
  PyObject *class = px_keep(s, PyObject_GetAttrString(s->st->numpy, name));
  if (class != (PyObject *)type)
    return false;
  Binding *b = CX_ARRAY(s->cx, Binding, N);
  f->kind = FZ_OPAQUE;
  f->wide = true; /* its name */
  f->text = arena_printf(&s->cx->arena, "numpy.%s", name);
  f->attrs = b;
  for (size_t k = 0; k < N; k++) {
    PyObject *value = PyObject_GetAttrString(object, members[k]);
    PyErr_Clear();
    if (value)
      b[f->nattrs++] = (Binding){members[k], px_freeze(s, px_keep(s, value))};
  }
  return true;
}

bool px_freeze_numpy(PxSnapshot *s, Frozen *f, PyObject *object) {
  PxState *st = s->st;
  if (!px_have_numpy(st))
    return false;
  if (is_instance(s, object, st->np_generic))
    return freeze_numpy_scalar(s, f, object) || freeze_numpy_array(s, f, object);
  if (is_instance(s, object, st->np_ndarray)) /* a mask would be lost */
    return !px_is_masked(object) && freeze_numpy_array(s, f, object);
  if (freeze_limits(s, f, object))
    return true;
  PyObject *dtype = NULL;
  if (is_instance(s, object, st->np_dtype))
    dtype = object;
  /* np.floating and the like: an error or a warning, no dtype */
  else if (PyType_Check(object) &&
           PyType_IsSubtype((PyTypeObject *)object, (PyTypeObject *)st->np_generic))
    dtype = PyObject_CallOneArg(st->np_dtype, object);
  if (dtype && dtype != object)
    px_keep(s, dtype);
  PyErr_Clear();
  PxElem id = dtype ? px_elem_of_dtype(st, dtype) : PX_NO_ELEM;
  if (id != PX_NO_ELEM)
    freeze_elem(s, f, id, form_of(s, object, dtype));
  return id != PX_NO_ELEM;
}

/* --- memory of devices, by address --- */

/* Its type as text: of one argument, without the brackets of the list. */
static const char *array_type(PxSnapshot *s, const PxArray *a) {
  const char *text = px_freeze_text(s, px_keep(s, px_signature_text(s->st, &a->token, 1)));
  return arena_printf(&s->cx->arena, "%s%.*s", a->readonly ? "readonly " : "",
                      (int)strlen(text) - 2, text + 1);
}

static void freeze_device_array(PxSnapshot *s, Frozen *f, PxArray *a) {
  if (a->elem == PX_NO_ELEM || (s->device && a->device != s->device)) {
    f->kind = FZ_OPAQUE;
    f->wide = true;
    f->text = arena_printf(&s->cx->arena, "a device array on '%s', of no use for a kernel on '%s'",
                           rt_device_name(a->device), s->device ? rt_device_name(s->device) : "?");
    if (a->elem == PX_NO_ELEM)
      f->text = "a device array of a dtype that kernels do not have";
    return;
  }
  if (px_array_check(a, "a device array that the kernel names") < 0)
    px_snapshot_raise(s);
  FrozenArray *array = CX_NEW(s->cx, FrozenArray);
  array->ndim = (uint8_t)a->ndim;
  memcpy(array->extents, px_shape(a), sizeof *a->dims * a->ndim);
  memcpy(array->strides, px_strides(a), sizeof *a->dims * a->ndim);
  array->address = a->address;
  f->kind = FZ_DEVICE_ARRAY;
  f->text = array_type(s, a);
  f->array = array;
  if (PyList_Append(s->owners, (PyObject *)a) < 0)
    px_snapshot_raise(s);
}

bool px_freeze_memory(PxSnapshot *s, Frozen *f, PyObject *object) {
  if (Py_IS_TYPE(object, s->st->array_type)) {
    freeze_device_array(s, f, (PxArray *)object);
    return true;
  }
  if (PyType_Check(object) || !s->device || rt_device_is_host(s->device))
    return false;
  PyObject *interface = px_getattr_optional(object, s->st->name.__cuda_array_interface__);
  PyErr_Clear();
  if (!interface)
    return false;
  px_keep(s, interface);
  freeze_device_array(
      s, f, (PxArray *)px_keep(s, px_array_from_interface(s->st, interface, object, true)));
  return true;
}
