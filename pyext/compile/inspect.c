/* Inspect: what a dispatcher's overloads look like. Compilation to text without a device is in
 * offline.c.
 *
 * PTX is kept with a loaded kernel. Other texts are made on request by compiling once more, with
 * the globals of now. */
#include "pyext/compile/inspect.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/entry_loading.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"

/* --- texts of overloads --- */

typedef const char *(*TextOf)(const CgKernel *code);

static const char *asm_of(const CgKernel *c) { return c->ptx ? c->ptx : c->assembly; }
static const char *llvm_of(const CgKernel *c) { return c->llvm_opt ? c->llvm_opt : c->llvm; }
static const char *ssa_of(const CgKernel *c) { return c->ssa; }
static const char *types_of(const CgKernel *c) { return c->types; }

/* What is asked of an overload: a text that compiling gives, the compiler's advice, or what the
 * loaded kernel takes, one number or all. */
typedef struct Question {
  unsigned want;
  TextOf of;     /* NULL: one of the others */
  bool advice;   /* which compiling gives too */
  bool all;      /* what the loaded kernel takes, as a dict */
  size_t number; /* in RtKernelInfo */
} Question;

static PyObject *text_for(PxDispatcher *d, const PxSignature *s, RtDevice *device,
                          const Question *q) {
  char arch[16];
  PxTextRequest request = px_text_request(device, arch);
  request.want = q->want | CG_WANT_ONLY;
  request.apart = q->of == asm_of; /* as an overload's: the kernel's own entry */
  CgKernel *code = NULL;
  if (px_compile_text(px_state_of((PyObject *)d), d, s, &request, &code) < 0)
    return NULL;
  PyObject *answer = q->advice ? px_advice_list(px_state_of((PyObject *)d), code)
                               : px_text_or_none(q->of(code));
  cg_kernel_free(code);
  return answer;
}

static PyObject *all_advice(PxState *st, PxOverload *o) {
  PyObject *list = px_advice_list(st, o->code),
           *loaded = list ? px_entry_advice(st, o, true) : NULL;
  if (!loaded || PyList_SetSlice(list, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, loaded) < 0)
    Py_CLEAR(list);
  Py_XDECREF(loaded);
  return list;
}

static PyObject *loaded_resources(PxState *st, PxOverload *o) {
  const RtKernelInfo *info = rt_kernel_info(o->kernel);
  return Py_BuildValue("{s:I,s:I,s:I,s:I,s:O,s:O,s:I,s:N,s:s}", "registers", info->registers,
                       "static_shared", info->static_shared, "constant", info->constant, "local",
                       info->local, "spill_stores", Py_None, "spill_loads", Py_None, "max_threads",
                       info->max_threads, "advice", px_entry_advice(st, o, true), "log",
                       rt_kernel_words(o->kernel));
}

static PyObject *of_overload(PxDispatcher *d, PxOverload *o, const Question *q) {
  if (q->advice)
    return all_advice(px_state_of((PyObject *)d), o);
  if (!q->of) {
    if (px_entry_own(px_state_of((PyObject *)d), o) < 0)
      return NULL;
    if (q->all)
      return loaded_resources(px_state_of((PyObject *)d), o);
    uint32_t v;
    memcpy(&v, (const char *)rt_kernel_info(o->kernel) + q->number, sizeof v);
    return PyLong_FromUnsignedLong(v);
  }
  if (q->of == asm_of && o->code->ptx)
    return px_text_or_none(o->code->ptx);
  return text_for(d, &o->signature, o->device, q);
}

/* Is a narrow version compiled for this signature, and no other? */
static bool is_narrow_alone(PxDispatcher *d, const PxSignature *s, RtDevice *device) {
  PyObject *list = px_overload_list(d);
  bool narrow = false, other = !list || !s->n;
  for (Py_ssize_t i = 0; list && !other && i < PyList_GET_SIZE(list); i++) {
    const PxOverload *o = (PxOverload *)PyList_GET_ITEM(list, i);
    const PxToken *t = o->signature.tokens;
    if (o->device != device || o->signature.n != s->n ||
        memcmp(t + 1, s->tokens + 1, sizeof *t * (s->n - 1)))
      continue;
    other = *t == *s->tokens;
    narrow |= *t == (*s->tokens | PX_NARROW_TOKEN);
  }
  Py_XDECREF(list);
  PyErr_Clear();
  return narrow && !other;
}

static PyObject *of_signature(PxDispatcher *d, PyObject *signature, const Question *q) {
  PxState *st = px_state_of((PyObject *)d);
  PxSignature s = {0};
  RtDevice *device = px_current_device(st);
  if (!device || px_signature_argument(st, signature, &s) < 0)
    return NULL;
  PyObject *answer = NULL;
  if (is_narrow_alone(d, &s, device)) /* what launches take */
    *s.tokens |= PX_NARROW_TOKEN;
  if (q->of || q->advice) {
    answer = text_for(d, &s, device, q);
  } else {
    PxOverload *o = px_overload_for(d, &s, device);
    answer = o ? of_overload(d, o, q) : NULL;
    Py_XDECREF((PyObject *)o);
  }
  px_signature_clear(&s);
  return answer;
}

/* For a signature, or for None of all overloads: a dict by their signatures. */
static PyObject *inspect(PyObject *self, PyObject *signature, const Question *q) {
  PxDispatcher *d = (PxDispatcher *)self;
  if (signature != Py_None)
    return of_signature(d, signature, q);
  PyObject *list = px_overload_list(d), *dict = list ? PyDict_New() : NULL;
  for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(list); i++) {
    PxOverload *o = (PxOverload *)PyList_GET_ITEM(list, i);
    PyObject *answer = of_overload(d, o, q);
    if (!answer || PyDict_SetItem(dict, o->types, answer) < 0)
      Py_CLEAR(dict);
    Py_XDECREF(answer);
  }
  Py_XDECREF(list);
  return dict;
}

/* format: of PyArg_ParseTupleAndKeywords, with the method's name. */
static PyObject *texts(PyObject *self, PyObject *args, PyObject *kwargs, const char *format,
                       unsigned want, TextOf of) {
  static char *names[] = {"signature", NULL};
  PyObject *signature = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &signature))
    return NULL;
  return inspect(self, signature, &(Question){.want = want, .of = of});
}

PyObject *px_inspect_asm(PyObject *self, PyObject *args, PyObject *kwargs) {
  return texts(self, args, kwargs, "|O:inspect_asm", CG_WANT_ASM, asm_of);
}
PyObject *px_inspect_llvm(PyObject *self, PyObject *args, PyObject *kwargs) {
  return texts(self, args, kwargs, "|O:inspect_llvm", CG_WANT_LLVM_OPT, llvm_of);
}
PyObject *px_inspect_ssa(PyObject *self, PyObject *args, PyObject *kwargs) {
  return texts(self, args, kwargs, "|O:inspect_ssa", CG_WANT_SSA, ssa_of);
}

/* What Numba's prints goes to a file where one is given. */
static PyObject *write_texts(PyObject *found, PyObject *file) {
  Py_ssize_t at = 0;
  PyObject *key, *text = found;
  bool many = PyDict_Check(found);
  int failed = 0;
  while (!failed && (!many || PyDict_Next(found, &at, &key, &text))) {
    failed = PyFile_WriteObject(text, file, Py_PRINT_RAW);
    if (!many)
      break;
  }
  Py_DECREF(found);
  return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *px_inspect_types(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"signature", "file", NULL};
  PyObject *signature = Py_None, *file = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:inspect_types", names, &signature, &file))
    return NULL;
  PyObject *found = inspect(self, signature, &(Question){.want = CG_WANT_TYPES, .of = types_of});
  return found && file != Py_None ? write_texts(found, file) : found;
}

PyObject *px_advice(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"signature", NULL};
  PyObject *signature = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:advice", names, &signature))
    return NULL;
  return inspect(self, signature, &(Question){.want = CG_WANT_TYPES, .advice = true});
}

/* Of the current device, or with arch= by ptxas, which the package's Python half runs. */
PyObject *px_resources(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"signature", "arch", NULL};
  PyObject *signature = Py_None, *arch = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:resources", names, &signature, &arch))
    return NULL;
  if (((PxDispatcher *)self)->func_options.device)
    return PyErr_Format(PyExc_RuntimeError,
                        "resources: a device function takes none of its own: it is compiled in the "
                        "kernels that call it");
  if (arch == Py_None)
    return inspect(self, signature, &(Question){.all = true});
  PyObject *tools = PyImport_ImportModule("pyptx._tools");
  PyObject *found =
      tools ? PyObject_CallMethod(tools, "resources_for", "OOO", self, signature, arch) : NULL;
  Py_XDECREF(tools);
  return found;
}

/* Machine code: through ptxas and a disassembler, which the package's Python half runs; of the
 * current GPU, or with arch= of any. */
PyObject *px_inspect_sass(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"signature", "arch", NULL};
  PyObject *signature = Py_None, *arch = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:inspect_sass", names, &signature, &arch))
    return NULL;
  if (((PxDispatcher *)self)->func_options.device)
    return PyErr_Format(PyExc_RuntimeError,
                        "Cannot inspect SASS of a device function: it is compiled in the kernels "
                        "that call it, which have some");
  RtDevice *device = px_current_device(px_state_of(self));
  if (!device)
    return NULL;
  if (arch == Py_None && rt_device_is_host(device))
    return PyErr_Format(
        PyExc_RuntimeError,
        "inspect_sass: the current device is the host; SASS is a GPU's machine code: say which with arch='sm_90' (inspect_asm shows the host's)");
  PyObject *tools = PyImport_ImportModule("pyptx._tools");
  if (!tools || arch != Py_None) {
    PyObject *sass = tools ? PyObject_CallMethod(tools, "sass_for", "OOO", self, signature, arch)
                           : NULL;
    Py_XDECREF(tools);
    return sass;
  }
  PyObject *asms = inspect(self, signature, &(Question){.want = CG_WANT_ASM, .of = asm_of});
  PyObject *sass =
      asms ? PyObject_CallMethod(tools, "sass", "Oi", asms, rt_device_capability(device)) : NULL;
  Py_DECREF(tools);
  Py_XDECREF(asms);
  return sass;
}

/* --- the report, which the package's Python half makes --- */

PyObject *px_report(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *module = PyImport_ImportModule("pyptx._report");
  PyObject *function = module ? PyObject_GetAttrString(module, "report") : NULL;
  PyObject *own = function ? PyTuple_Pack(1, self) : NULL;
  PyObject *all = own ? PySequence_Concat(own, args) : NULL;
  PyObject *made = all ? PyObject_Call(function, all, kwargs) : NULL;
  Py_XDECREF(all);
  Py_XDECREF(own);
  Py_XDECREF(function);
  Py_XDECREF(module);
  return made;
}

PyObject *px_get_overloads(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *list = px_overload_list((PxDispatcher *)op), *dict = list ? PyDict_New() : NULL;
  for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(list); i++) {
    PyObject *o = PyList_GET_ITEM(list, i);
    if (PyDict_SetItem(dict, ((PxOverload *)o)->types, o) < 0)
      Py_CLEAR(dict);
  }
  Py_XDECREF(list);
  return dict;
}

PyObject *px_get_signatures(PyObject *op, void *c) {
  PyObject *dict = px_get_overloads(op, c), *keys = dict ? PyDict_Keys(dict) : NULL;
  Py_XDECREF(dict);
  return keys;
}

/* --- numbers of overloads --- */

/* A kernel that is declared for one signature has one number, as Numba's. */
static PyObject *numbers(PyObject *self, PyObject *args, size_t offset) {
  PxDispatcher *d = (PxDispatcher *)self;
  PyObject *signature = Py_None;
  if (!PyArg_ParseTuple(args, "|O", &signature))
    return NULL;
  const Question q = {.number = offset};
  if (signature != Py_None || d->nsignatures != 1)
    return inspect(self, signature, &q);
  PxSignature *only = d->signatures;
  PyObject *text = px_signature_text(px_state_of(self), only->tokens, only->n);
  PyObject *answer = text ? of_signature(d, text, &q) : NULL;
  Py_XDECREF(text);
  return answer;
}

PyObject *px_get_regs(PyObject *self, PyObject *args) {
  return numbers(self, args, offsetof(RtKernelInfo, registers));
}
PyObject *px_get_shared(PyObject *self, PyObject *args) {
  return numbers(self, args, offsetof(RtKernelInfo, static_shared));
}
PyObject *px_get_const(PyObject *self, PyObject *args) {
  return numbers(self, args, offsetof(RtKernelInfo, constant));
}
PyObject *px_get_local(PyObject *self, PyObject *args) {
  return numbers(self, args, offsetof(RtKernelInfo, local));
}
PyObject *px_get_max_threads(PyObject *self, PyObject *args) {
  return numbers(self, args, offsetof(RtKernelInfo, max_threads));
}
