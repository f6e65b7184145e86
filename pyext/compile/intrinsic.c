/* Intrinsic stubs: pyptx.cuda.grid, .atomic.add, .threadIdx.x … as Python objects, made from
 * ir/intrinsics.def.
 *
 * In: the table. Out: a tree of objects that carry an IntrinsicId, which the snapshot reads. */
#include "pyext/compile/intrinsic.h"

#include <string.h>

static const char *last_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : path;
}

static void intrinsic_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  px_clear_weakrefs(self, ((PxIntrinsic *)self)->weakrefs);
  Py_CLEAR(((PxIntrinsic *)self)->members);
  type->tp_free(self);
  Py_DECREF(type);
}

static int intrinsic_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((PxIntrinsic *)self)->members);
  return 0;
}

static int intrinsic_clear(PyObject *self) {
  Py_CLEAR(((PxIntrinsic *)self)->members);
  return 0;
}

static const IntrinsicInfo *info_of(PyObject *self) {
  return &ir_intrinsics[((PxIntrinsic *)self)->id];
}

static PyObject *intrinsic_repr(PyObject *self) {
  const IntrinsicInfo *info = info_of(self);
  if (info->kind == INTRINSIC_FUNC)
    return PyUnicode_FromFormat("<pyptx.%s(%s)>", info->path, info->signature);
  return PyUnicode_FromFormat("<pyptx.%s>", info->path);
}

static PyObject *intrinsic_call(PyObject *self, PyObject *Py_UNUSED(args),
                                PyObject *Py_UNUSED(kwargs)) {
  const IntrinsicInfo *info = info_of(self);
  if (info->kind == INTRINSIC_FUNC)
    PyErr_Format(
        PyExc_TypeError,
        "%s(%s) can be called in a kernel only: this is host code. Call it from a function decorated with @cuda.jit",
        info->path, info->signature);
  else
    PyErr_Format(PyExc_TypeError, "%s is not a function: %s", info->path, info->doc);
  return NULL;
}

static PyObject *intrinsic_getattro(PyObject *self, PyObject *name) {
  PyObject *members = ((PxIntrinsic *)self)->members;
  if (members) {
    PyObject *found = px_dict_get(members, name);
    if (found || PyErr_Occurred())
      return found;
  }
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !members || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    return NULL;
  const char *path = info_of(self)->path, *near = ir_intrinsic_suggest(path, text);
  PyErr_Format(PyExc_AttributeError,
               near ? "%s has no attribute '%s'; did you mean '%s'?" : "%s has no attribute '%s'",
               path, text, near);
  return NULL;
}

static PyObject *intrinsic_dir(PyObject *self, PyObject *Py_UNUSED(args)) {
  PyObject *members = ((PxIntrinsic *)self)->members;
  return members ? PyDict_Keys(members) : PyList_New(0);
}

/* By reference: "cuda.atomic.add" is looked up again in the package when it is unpickled. */
static PyObject *intrinsic_reduce(PyObject *self, PyObject *Py_UNUSED(args)) {
  PyObject *find = PyObject_GetAttrString(px_state_of(self)->module, "_intrinsic");
  return find ? Py_BuildValue("N(s)", find, info_of(self)->path) : NULL;
}

static PyObject *get_doc(PyObject *self, void *Py_UNUSED(closure)) {
  const IntrinsicInfo *info = info_of(self);
  if (info->kind == INTRINSIC_FUNC)
    return PyUnicode_FromFormat("%s(%s)\n\n%s", last_name(info->path), info->signature, info->doc);
  return PyUnicode_FromString(info->doc);
}

static PyObject *get_name(PyObject *self, void *Py_UNUSED(closure)) {
  return PyUnicode_FromString(last_name(info_of(self)->path));
}

static PyObject *get_qualname(PyObject *self, void *Py_UNUSED(closure)) {
  const char *path = info_of(self)->path, *dot = strchr(path, '.');
  return PyUnicode_FromString(dot ? dot + 1 : path);
}

static PyObject *get_text_signature(PyObject *self, void *Py_UNUSED(closure)) {
  const IntrinsicInfo *info = info_of(self);
  if (info->kind != INTRINSIC_FUNC)
    Py_RETURN_NONE;
  return PyUnicode_FromFormat("(%s)", info->signature);
}

/* For inspect.signature, which asks no object but functions and types for a text. */
static PyObject *get_signature(PyObject *self, void *Py_UNUSED(closure)) {
  const IntrinsicInfo *info = info_of(self);
  if (info->kind != INTRINSIC_FUNC)
    return PyErr_Format(PyExc_AttributeError, "%s is not a function", info->path);
  PyObject *text = PyUnicode_FromFormat("lambda %s: None", info->signature);
  PyObject *globals = text ? PyDict_New() : NULL;
  const char *source = globals ? PyUnicode_AsUTF8(text) : NULL;
  PyObject *same = source ? PyRun_String(source, Py_eval_input, globals, globals) : NULL;
  PyObject *inspect = same ? PyImport_ImportModule("inspect") : NULL;
  PyObject *signature = inspect ? px_call_method(inspect, "signature", same) : NULL;
  Py_XDECREF(inspect);
  Py_XDECREF(same);
  Py_XDECREF(globals);
  Py_XDECREF(text);
  return signature;
}

static PyGetSetDef intrinsic_getset[] = {
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__name__", get_name, NULL, NULL, NULL},
    {"__qualname__", get_qualname, NULL, NULL, NULL},
    {"__text_signature__", get_text_signature, NULL, NULL, NULL},
    {"__signature__", get_signature, NULL, NULL, NULL},
    {0},
};

static PyMethodDef intrinsic_methods[] = {
    {"__dir__", intrinsic_dir, METH_NOARGS, "__dir__($self, /)\n--\n\nThe names in it."},
    {"__reduce__", intrinsic_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nWhat pickle keeps: its name."},
    {0},
};

static PyMemberDef intrinsic_members[] = {PX_WEAKREFS(PxIntrinsic), {0}};

static PyType_Slot intrinsic_slots[] = {
    {Py_tp_members, intrinsic_members},   {Py_tp_dealloc, intrinsic_dealloc},
    {Py_tp_traverse, intrinsic_traverse}, {Py_tp_clear, intrinsic_clear},
    {Py_tp_repr, intrinsic_repr},         {Py_tp_call, intrinsic_call},
    {Py_tp_getattro, intrinsic_getattro}, {Py_tp_methods, intrinsic_methods},
    {Py_tp_getset, intrinsic_getset},     {0, NULL},
};

PyType_Spec px_intrinsic_spec = {
    .name = "pyptx._pyptx.Intrinsic",
    .basicsize = sizeof(PxIntrinsic),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = intrinsic_slots,
};

/* The dict that holds the object of `path`: the module's, or that of its namespace, which stands
 * earlier in the table. */
static PyObject *space_of(PyObject *top, const char *path) {
  PyObject *space = top;
  const char *from = strchr(path, '.') + 1;
  for (const char *dot; (dot = strchr(from, '.')); from = dot + 1) {
    PyObject *name = PyUnicode_FromStringAndSize(from, dot - from);
    PyObject *found = name ? PyDict_GetItemWithError(space, name)
                           : NULL; /* borrowed: top owns it */
    Py_XDECREF(name);
    if (!found || Py_TYPE(found)->tp_dealloc != intrinsic_dealloc ||
        !((PxIntrinsic *)found)->members) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_SystemError,
                     "intrinsics.def: the namespace of %s does not stand before it", path);
      return NULL;
    }
    space = ((PxIntrinsic *)found)->members;
  }
  return space;
}

static int add_intrinsic(PxState *st, PyObject *top, IntrinsicId id) {
  PyObject *space = space_of(top, ir_intrinsics[id].path);
  if (!space)
    return -1;
  PxIntrinsic *self = PyObject_GC_New(PxIntrinsic, st->intrinsic_type);
  if (!self)
    return -1;
  self->id = id;
  self->members = NULL;
  self->weakrefs = NULL;
  int failed = ir_intrinsics[id].kind == INTRINSIC_SPACE && !(self->members = PyDict_New());
  PyObject_GC_Track(self);
  if (!failed)
    failed = PyDict_SetItemString(space, last_name(ir_intrinsics[id].path), (PyObject *)self);
  Py_DECREF(self);
  return failed ? -1 : 0;
}

int px_add_intrinsics(PxState *st, PyObject *module) {
  PyObject *top = PyDict_New();
  if (!top)
    return -1;
  for (int i = 0; i < INTR_COUNT; i++)
    if (!strncmp(ir_intrinsics[i].path, "cuda.", 5) && add_intrinsic(st, top, (IntrinsicId)i) < 0) {
      Py_DECREF(top);
      return -1;
    }
  int failed = PyModule_AddObjectRef(module, "intrinsics", top);
  Py_DECREF(top);
  return failed;
}

PyObject *px_find_intrinsic(PyObject *module, PyObject *path) {
  const char *text = PyUnicode_AsUTF8(path);
  PyObject *top = text ? PyObject_GetAttrString(module, "intrinsics") : NULL;
  if (!top)
    return NULL;
  PyObject *found = NULL;
  IntrinsicId id = strncmp(text, "cuda.", 5) ? INTR_NONE : ir_intrinsic_by_path(text);
  PyObject *space = id == INTR_NONE ? NULL : space_of(top, text);
  if (space)
    found = Py_XNewRef(PyDict_GetItemString(space, last_name(text)));
  if (!found && !PyErr_Occurred())
    PyErr_Format(PyExc_LookupError, "this version of pyptx has no %s", text);
  Py_DECREF(top);
  return found;
}

/* 'math.sin' of a C function or class: its module and qualified name. false without an error if it
 * has none. */
static bool path_of(PxState *st, PyObject *object, char *path, size_t size) {
  PyObject *module = px_getattr_optional(object, st->name.__module__);
  PyObject *name = module ? px_getattr_optional(object, st->name.__qualname__) : NULL;
  if (module && !name && !PyErr_Occurred())
    name = px_getattr_optional(object, st->name.__name__);
  bool found = false;
  if (module && name && PyUnicode_Check(module) && PyUnicode_Check(name)) {
    const char *m = PyUnicode_AsUTF8(module), *n = PyUnicode_AsUTF8(name);
    if (m && n)
      found = (size_t)snprintf(path, size, "%s.%s", px_public_module(m), n) < size;
  }
  Py_XDECREF(module);
  Py_XDECREF(name);
  PyErr_Clear();
  return found;
}

/* A NumPy ufunc has no module before NumPy 2.x: it is found by its name. */
static bool ufunc_path(PxState *st, PyObject *object, char *path, size_t size) {
  if (strcmp(Py_TYPE(object)->tp_name, "numpy.ufunc"))
    return false;
  PyObject *name = px_getattr_optional(object, st->name.__name__);
  const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  bool found = text && (size_t)snprintf(path, size, "numpy.%s", text) < size;
  Py_XDECREF(name);
  PyErr_Clear();
  return found;
}

IntrinsicId px_intrinsic_of(PxState *st, PyObject *object) {
  if (Py_IS_TYPE(object, st->intrinsic_type))
    return ((PxIntrinsic *)object)->id;
  char path[128];
  bool named = PyCFunction_Check(object) || PyType_Check(object) ||
               !strcmp(Py_TYPE(object)->tp_name, "numpy._ArrayFunctionDispatcher"); /* np.ndim */
  if (named ? path_of(st, object, path, sizeof path) : ufunc_path(st, object, path, sizeof path))
    return ir_intrinsic_by_path(path);
  return INTR_NONE;
}
