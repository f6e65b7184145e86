/* Offline: in, a function and a signature as text; out, the compiler's texts and facts as a dict.
 * No device is touched. */
#include "pyext/compile/offline.h"

#include <stdlib.h>
#include <string.h>

#include "pyext/compile/assembler_log.h"
#include "pyext/compile/disk_cache.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/raise.h"

/* Texts of a CgKernel by the name that the caller knows them by. cubin is made from the PTX
 * here. */
static const struct {
  const char *name;
  unsigned want;
  size_t at;
} texts[] = {
    {"ptx", 0, offsetof(CgKernel, ptx)},
    {"ssa", CG_WANT_SSA, offsetof(CgKernel, ssa)},
    {"types", CG_WANT_TYPES, offsetof(CgKernel, types)},
    {"values", CG_WANT_VALUES | CG_WANT_ONLY, offsetof(CgKernel, values)},
    {"typed", CG_WANT_TYPED, offsetof(CgKernel, typed)},
    {"llvm", CG_WANT_LLVM, offsetof(CgKernel, llvm)},
    {"llvm_opt", CG_WANT_LLVM_OPT, offsetof(CgKernel, llvm_opt)},
    {"asm", CG_WANT_ASM, offsetof(CgKernel, assembly)},
};
enum {
  NTEXTS = sizeof texts / sizeof *texts,
  CUBIN = 1 << 30,
  APART = 1 << 29,
  OURS = CUBIN | APART
};

static const char *text_of(const CgKernel *k, int i) {
  return *(char *const *)((const char *)k + texts[i].at);
}

/* Bits of CgWant, CUBIN, and APART, which is what a launch gets: the kernel's own entry as ptx, a
 * coarsened one as the ptx of "coarse"; -1 with ValueError for an unknown name. */
static int parse_want(const char *want, unsigned *bits) {
  *bits = 0;
  for (const char *s = want; *s;) {
    size_t n = strcspn(s, ",");
    unsigned ours = n != 5                    ? 0
                    : !strncmp(s, "cubin", n) ? CUBIN
                    : !strncmp(s, "apart", n) ? APART
                                              : 0;
    bool known = ours;
    *bits |= ours;
    for (int i = 0; i < NTEXTS && !known; i++)
      if ((known = strlen(texts[i].name) == n && !strncmp(s, texts[i].name, n)))
        *bits |= texts[i].want;
    if (!known) {
      PyErr_Format(PyExc_ValueError, "the compiler has no text '%.40s'", s);
      return -1;
    }
    s += n + (s[n] == ',');
  }
  return 0;
}

/* --- the answer --- */

static int put(PyObject *dict, const char *key, PyObject *value) { /* steals */
  int failed = value ? PyDict_SetItemString(dict, key, value) : -1;
  Py_XDECREF(value);
  return failed;
}

static PyObject *decoded(const char *s, size_t n) {
  return PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "replace");
}

static int put_texts(PyObject *dict, const CgKernel *k) {
  for (int i = 0; i < NTEXTS; i++) {
    const char *s = text_of(k, i);
    if (s && put(dict, texts[i].name, decoded(s, strlen(s))) < 0)
      return -1;
  }
  return 0;
}

/* A list of n items, each made by `one`. */
static PyObject *list_of(uint32_t n, PyObject *(*one)(const CgKernel *, uint32_t),
                         const CgKernel *k) {
  PyObject *list = PyList_New(n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *item = one(k, i);
    if (item)
      PyList_SET_ITEM(list, i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *bool_of(int v) { return v ? Py_True : Py_False; }

/* Entries of RtParams with BLOCKS are the coarsened entry's; `bytes` is the kernel's own block. */
static uint32_t own_bytes(const CgKernel *k) {
  return k->params.coarse.factor ? k->params.coarse.plain_bytes : k->params.bytes;
}

static PyObject *one_argument(const CgKernel *k, uint32_t i) {
  const CgArg *a = &k->args[i];
  return Py_BuildValue("(OOO)", bool_of(a->is_array), bool_of(a->read), bool_of(a->written));
}

static PyObject *one_field(const CgKernel *k, uint32_t i) {
  static const char *const kinds[] = {
#define FIELD(ID, size, align, doc) #ID,
#include "runtime/abi.def"
#undef FIELD
  };
  const RtField *f = &k->params.fields[i];
  return Py_BuildValue("(siiiI)", kinds[f->kind], f->size, f->axis, f->leaf, f->offset);
}

static PyObject *one_site(const CgKernel *k, uint32_t i) {
  const CgSite *s = &k->sites[i];
  return Py_BuildValue("(zzzii)", s->exception, s->message, s->at.file, (int)s->at.line,
                       (int)s->at.col + 1);
}

static PyObject *one_timing(const CgKernel *k, uint32_t i) {
  return Py_BuildValue("(sd)", k->timings[i].pass, k->timings[i].ms);
}

static PyObject *answer(PxState *st, const CgKernel *k) {
  PyObject *dict = Py_BuildValue("{s:s,s:z,s:I,s:O,s:O,s:I,s:O}", "symbol", k->symbol, "result",
                                 k->result, "static_shared", k->static_shared, "dynamic_shared",
                                 bool_of(k->uses_dynamic_shared), "barrier",
                                 bool_of(k->has_barrier), "param_bytes", own_bytes(k), "in_row",
                                 bool_of(k->params.coarse.in_row));
  if (!dict)
    return NULL;
  if (put_texts(dict, k) < 0 || put(dict, "args", list_of(k->nargs, one_argument, k)) < 0 ||
      put(dict, "params", list_of(k->params.nfields, one_field, k)) < 0 ||
      put(dict, "sites", list_of(k->nsites, one_site, k)) < 0 ||
      (k->coarsening &&
       put(dict, "coarsening", decoded(k->coarsening, strlen(k->coarsening))) < 0) ||
      put(dict, "advice", px_advice_list(st, k)) < 0 ||
      put(dict, "timings", list_of(k->ntimings, one_timing, k)) < 0)
    Py_CLEAR(dict);
  return dict;
}

/* --- the work --- */

static int put_cubin(PxState *st, PyObject *dict, const CgKernel *k, const char *arch) {
  void *cubin = NULL;
  size_t size = 0;
  Diag *error = NULL;
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = cg_assemble(k->ptx, arch, &cubin, &size, &error);
  Py_END_ALLOW_THREADS
  if (failed) {
    bool inlined = error && error->id == ERR_PTXAS &&
                   px_raise_assembler_log(st, k->ptx, error->message);
    if (error && !inlined)
      px_raise_diag(st, error);
    else if (!error)
      PyErr_NoMemory();
    diag_free(error);
    return -1;
  }
  failed = put(dict, "cubin", PyBytes_FromStringAndSize(cubin, (Py_ssize_t)size));
  free(cubin);
  return failed;
}

/* cuda.jit(**options)(function): @cuda.jit reads options, nobody else. */
static PxDispatcher *decorate(PxState *st, PyObject *jit, PyObject *function, PyObject *options) {
  PyObject *none = PyTuple_New(0);
  PyObject *decorator = none ? PyObject_Call(jit, none, options) : NULL;
  PyObject *made = decorator ? PyObject_CallOneArg(decorator, function) : NULL;
  if (made && !Py_IS_TYPE(made, st->dispatcher_type)) {
    PyErr_Format(PyExc_TypeError, "%R cannot be compiled", function);
    Py_CLEAR(made);
  }
  Py_XDECREF(decorator);
  Py_XDECREF(none);
  return (PxDispatcher *)made;
}

/* The kernel's own function and options, with these besides: what options.def names as their fields
 * goes before what the kernel has. */
static PyObject *remake(PxState *st, PxDispatcher *base, PyObject *options) {
  PyObject *module = PyImport_ImportModule("pyptx.cuda._jit");
  PyObject *read = module ? px_call_method(module, "_read_given", options) : NULL;
  PyObject *fields = read ? PyDict_Copy(PyTuple_GET_ITEM(base->made, 1)) : NULL;
  PyObject *args = fields ? Py_BuildValue("(O())", base->function) : NULL;
  PyObject *made = args && PyDict_Update(fields, read) == 0
                       ? PyObject_Call((PyObject *)st->dispatcher_type, args, fields)
                       : NULL;
  Py_XDECREF(args);
  Py_XDECREF(fields);
  Py_XDECREF(read);
  Py_XDECREF(module);
  return made;
}

/* The function as a Dispatcher with these options besides its own: a new reference. */
static PxDispatcher *dispatcher_with(PxState *st, PyObject *function, PyObject *options) {
  if (Py_IS_TYPE(function, st->dispatcher_type))
    return (PxDispatcher *)(PyDict_GET_SIZE(options) ? remake(st, (PxDispatcher *)function, options)
                                                     : Py_NewRef(function));
  PyObject *cuda = PyImport_ImportModule("pyptx.cuda");
  PyObject *jit = cuda ? PyObject_GetAttrString(cuda, "jit") : NULL;
  PxDispatcher *made = jit ? decorate(st, jit, function, options) : NULL;
  Py_XDECREF(jit);
  Py_XDECREF(cuda);
  return made;
}

static int put_coarse(PxState *st, PxDispatcher *d, PyObject *dict, const CgKernel *k,
                      const PxTextRequest *text) {
  CgRequest request = {.coarse_of = k,
                       .target = CG_NVPTX,
                       .arch = text->arch,
                       .ptx_version = text->ptx_version,
                       .options = d->options,
                       .want = text->want,
                       .dump = px_dump(d)};
  CgKernel *coarse = NULL;
  PxCacheUse unused;
  if (!k->rest)
    return 0;
  if (px_compile_request(st, PX_CACHE_NEVER, &request, NULL, &coarse, &unused) < 0)
    return -1;
  int failed = put(dict, "coarse", answer(st, coarse));
  cg_kernel_free(coarse);
  return failed;
}

static PyObject *compile_one(PxState *st, PxDispatcher *d, const char *signature,
                             const PxTextRequest *text, bool cubin) {
  PxSignature s;
  CgKernel *k = NULL;
  if (px_signature_parse(st, signature, &s) < 0)
    return NULL;
  int failed = px_compile_text(st, d, &s, text, &k);
  px_signature_clear(&s);
  if (failed)
    return NULL;
  PyObject *dict = answer(st, k);
  if (dict && cubin && put_cubin(st, dict, k, text->arch) < 0)
    Py_CLEAR(dict);
  if (dict && put_coarse(st, d, dict, k, text) < 0)
    Py_CLEAR(dict);
  cg_kernel_free(k);
  return dict;
}

PyObject *px_compile_offline(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  PyObject *function, *options;
  const char *signature, *target, *want;
  PxTextRequest text = {.opt = -1};
  if (!PyArg_ParseTuple(args, "OssziO!s|z:_compile", &function, &signature, &target, &text.arch,
                        &text.ptx_version, &PyDict_Type, &options, &want, &text.symbol))
    return NULL;
  unsigned bits;
  if (parse_want(want, &bits) < 0)
    return NULL;
  text.want = bits & ~(unsigned)OURS;
  text.apart = bits & APART;
  text.target = strcmp(target, "host") ? CG_NVPTX : CG_HOST;
  if (text.target == CG_NVPTX && (!text.arch || strcmp(target, "nvptx")))
    return PyErr_Format(PyExc_ValueError, "the target is 'nvptx' with an architecture, or 'host'");
  if (text.target == CG_HOST && bits & CUBIN)
    return PyErr_Format(PyExc_ValueError, "a cubin is for a GPU");
  PxDispatcher *d = dispatcher_with(st, function, options);
  if (!d)
    return NULL;
  PyObject *dict = compile_one(st, d, signature, &text, bits & CUBIN);
  Py_DECREF(d);
  return dict;
}
