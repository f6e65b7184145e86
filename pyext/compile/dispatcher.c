/* Dispatcher: options in, overloads found or compiled. Launching is in launch/launcher.c, looking
 * inside in inspect.c. */
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/options.h"

#include <string.h>
#include <unistd.h>

#include "pyext/compile/disk_cache.h"
#include "pyext/compile/inspect.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/checking.h"
#include "pyext/launch/entry_loading.h"
#include "pyext/launch/launcher.h"
#include "pyext/launch/plan.h"
#include "pyext/launch/scalar.h"
#include "pyext/launch/typeof.h"
#include "pyext/objects/device.h"
#include "pyext/objects/wait.h"

/* --- finding and compiling --- */

const char *px_parameter_name(PxDispatcher *d, uint32_t i) {
  PyObject *names = PyObject_GetAttrString(PyFunction_GetCode(d->function), "co_varnames");
  const char *name = NULL;
  if (names && PyTuple_Check(names) && i < (uint32_t)PyTuple_GET_SIZE(names))
    name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i)); /* the code object keeps the str */
  Py_XDECREF(names);
  PyErr_Clear();
  return name ? name : "?";
}

bool px_parameter_is(PxDispatcher *d, uint32_t i, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  PyErr_Clear();
  return text && !strcmp(text, px_parameter_name(d, i));
}

static bool entry_is(const PxEntry *e, RtDevice *device, const PxToken *tokens, uint32_t n) {
  return e->device == device && e->n == n && !memcmp(e->tokens, tokens, sizeof *tokens * n);
}

/* A new reference, or NULL without an exception. converted: set to the entry's. */
static PxOverload *find(PxDispatcher *d, RtDevice *device, const PxToken *tokens, uint32_t n,
                        bool *converted) {
  PxOverload *found = NULL;
  PX_BEGIN_LOCKED(d)
  if (d->last < d->nentries && entry_is(&d->entries[d->last], device, tokens, n))
    found = d->entries[d->last].overload;
  for (uint32_t i = 0; i < d->nentries && !found; i++)
    if (entry_is(&d->entries[i], device, tokens, n)) {
      found = d->entries[i].overload;
      d->last = i;
    }
  if (found) {
    *converted = d->entries[d->last].converted;
    Py_INCREF(found);
  }
  PX_END_LOCKED()
  return found;
}

static int add_entry(PxDispatcher *d, RtDevice *device, const PxToken *tokens, uint32_t n,
                     PxOverload *o, bool converted) {
  PxToken *copy = PyMem_Malloc(sizeof *copy * (n + 1));
  bool added = copy != NULL;
  if (copy && n)
    memcpy(copy, tokens, sizeof *copy * n);
  assert(o->device == device && (converted || o->signature.n == n));
  PX_BEGIN_LOCKED(d)
  if (added && d->nentries == d->max_entries) {
    uint32_t more = d->max_entries ? 2 * d->max_entries : 4;
    PxEntry *grown = PyMem_Realloc(d->entries, sizeof *grown * more);
    added = grown != NULL;
    if (grown) {
      d->entries = grown;
      d->max_entries = more;
    }
  }
  if (added)
    d->entries[d->nentries++] = (PxEntry){device, copy, n, (PxOverload *)Py_NewRef(o), converted};
  assert(d->nentries <= d->max_entries);
  PX_END_LOCKED()
  if (added)
    return 0;
  PyMem_Free(copy);
  PyErr_NoMemory();
  return -1;
}

/* An overload that a thread is making. Threads that want the same one wait for its lock; other
 * overloads of the kernel do not. */
typedef struct PxCompiling {
  struct PxCompiling *next;
  RtDevice *device;
  PxSignature signature; /* the compiling thread's */
  PyThread_type_lock done;
  unsigned long thread;
  pid_t process;  /* in a child of fork the thread does not exist */
  unsigned users; /* under the dispatcher's lock: the last frees it */
} PxCompiling;

static PxCompiling *compiling_new(const PxSignature *s, RtDevice *device) {
  PxCompiling *c = PyMem_Calloc(1, sizeof *c);
  PyThread_type_lock done = c ? PyThread_allocate_lock() : NULL;
  if (!done) {
    PyMem_Free(c);
    PyErr_NoMemory();
    return NULL;
  }
  PyThread_acquire_lock(done, WAIT_LOCK);
  *c = (PxCompiling){NULL, device, *s, done, PyThread_get_thread_ident(), getpid(), 1};
  return c;
}

/* The entry of the thread that is making this overload now, with a use more, or NULL and `mine` is
 * in the list. */
static PxCompiling *join_or_list(PxDispatcher *d, PxCompiling *mine) {
  const PxSignature *s = &mine->signature;
  PxCompiling *c;
  PX_BEGIN_LOCKED(d)
  for (c = d->compiling; c; c = c->next)
    if (c->process == mine->process && c->device == mine->device && c->signature.n == s->n &&
        !memcmp(c->signature.tokens, s->tokens, sizeof *s->tokens * s->n))
      break;
  if (c) {
    c->users++;
  } else {
    mine->next = d->compiling;
    d->compiling = mine;
  }
  PX_END_LOCKED()
  return c;
}

static void unlist(PxDispatcher *d, PxCompiling *mine) {
  PX_BEGIN_LOCKED(d)
  for (PxCompiling **at = &d->compiling; *at; at = &(*at)->next)
    if (*at == mine) {
      *at = mine->next;
      break;
    }
  PX_END_LOCKED()
  PyThread_release_lock(mine->done);
}

static void leave(PxDispatcher *d, PxCompiling *c) {
  unsigned left;
  PX_BEGIN_LOCKED(d)
  assert(c->users);
  left = --c->users;
  PX_END_LOCKED()
  if (left)
    return;
  PyThread_free_lock(c->done);
  PyMem_Free(c);
}

/* Waits until another thread has made the overload, or failed to. 0, or -1 if that thread is this
 * one, or Python's end has stopped it. */
static int wait_for(PxDispatcher *d, PxCompiling *c) {
  int failed = c->thread == PyThread_get_thread_ident() ? -1 : 0;
  if (failed) {
    PyErr_Format(PyExc_RuntimeError, "kernel %U is launched while this thread compiles it",
                 ((PyFunctionObject *)d->function)->func_qualname);
  } else if (!(failed = px_wait_lock(c->done, ((PyFunctionObject *)d->function)->func_qualname,
                                     NULL))) {
    PyThread_release_lock(c->done); /* the next that waits takes it */
  }
  leave(d, c);
  return failed;
}

static PxOverload *find_compiled(PxDispatcher *d, const PxSignature *s, RtDevice *device) {
  bool converted = false;
  PxOverload *o = find(d, device, s->tokens, s->n, &converted);
  if (o && converted)
    Py_CLEAR(o);
  return o;
}

static PxOverload *compile_listed(PxDispatcher *d, const PxSignature *s, RtDevice *device) {
  /* it may have been made before we were in the list */
  PxOverload *o = find_compiled(d, s, device);
  if (o)
    return o;
  o = px_overload_compile(px_state_of((PyObject *)d), d, s, device);
  if (o && add_entry(d, device, s->tokens, s->n, o, false) < 0)
    Py_CLEAR(o);
  return o;
}

/* A thread that has waited for one that failed compiles too, and gets the error as its own. */
PxOverload *px_overload_for(PxDispatcher *d, const PxSignature *s, RtDevice *device) {
  PxOverload *o;
  PX_HOLDS_GIL();
  while (!(o = find_compiled(d, s, device))) {
    PxCompiling *mine = compiling_new(s, device);
    if (!mine)
      return NULL;
    PxCompiling *other = join_or_list(d, mine);
    if (!other) {
      o = compile_listed(d, s, device);
      unlist(d, mine);
      leave(d, mine);
      return o;
    }
    PyThread_release_lock(mine->done);
    leave(d, mine);
    if (wait_for(d, other) < 0)
      return NULL;
  }
  return o;
}

/* --- declared signatures --- */

static PyObject *signature_list(PxDispatcher *d) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < d->nsignatures; i++) {
    const PxSignature *s = &d->signatures[i];
    PyObject *text = px_signature_text(px_state_of((PyObject *)d), s->tokens, s->n);
    if (!text || PyList_Append(list, text) < 0)
      Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

/* What to do about the first argument that a kernel of one signature cannot take: a new str, ""
 * where the texts of both say it best, as of tuples, which have several tokens. */
static PyObject *what_differs(PxDispatcher *d, const PxArgs *a) {
  const PxSignature *s = &d->signatures[0];
  char who[PX_ARGUMENT_NAME];
  for (uint32_t k = 0; d->nsignatures == 1 && s->n == a->ntokens && k < s->n; k++) {
    PxToken given = px_token_plain(a->tokens[k]), want = px_token_plain(s->tokens[k]);
    if (px_token_is_tuple(given) || px_token_is_tuple(want))
      break;
    if (px_signature_price(&given, 1, &want, 1) >= 0 || !px_argument_name(a, k, who))
      continue;
    if (px_token_is_pointer(s->tokens[k]))
      return PyUnicode_FromFormat("; %s is an address: pass an int, " PX_ADDRESSES, who);
    if (!px_token_is_array(given) && px_token_is_array(want))
      return PyUnicode_FromFormat("; %s is no array: pass np.array([x]), or declare a number", who);
    if (!px_token_is_array(given))
      return PyUnicode_FromFormat("; %s: convert it before the launch, or declare its type", who);
    if (!px_token_is_array(want) || px_token_ndim(given) != px_token_ndim(want))
      return PyUnicode_FromFormat(px_token_is_array(want)
                                      ? "; %s has %u axes where %u are declared: pass x.ravel() or "
                                        "x[None], or declare as many"
                                      : "; %s is an array where a number is declared: pass x[i]",
                                  who, px_token_ndim(given), px_token_ndim(want));
    PxElem elem = px_token_elem(want);
    if (px_token_elem(given) != elem && elem < TY_SCALARS && px_token_elem(given) < TY_SCALARS)
      return PyUnicode_FromFormat("; %s: pass x.astype(np.%s), a copy, or make the array so", who,
                                  ty_scalar_info[elem].name);
    return PyUnicode_FromFormat("; %s lies in another order in memory: pass "
                                "np.ascontiguousarray(x), or declare [:] for any order",
                                who);
  }
  return PyUnicode_FromString("");
}

static void no_signature(PxDispatcher *d, const PxArgs *a) {
  PyObject *given = px_signature_shown(a->st, a->tokens, a->ntokens), *declared = signature_list(d);
  PyObject *separator = given && declared ? PyUnicode_FromString(", ") : NULL;
  PyObject *text = separator ? PyUnicode_Join(separator, declared) : NULL;
  PyObject *differs = text ? what_differs(d, a) : NULL;
  if (differs)
    PyErr_Format(PyExc_TypeError, "No matching definition for %U: %U was declared for %U%U", given,
                 ((PyFunctionObject *)d->function)->func_qualname, text, differs);
  Py_XDECREF(differs);
  Py_XDECREF(text);
  Py_XDECREF(separator);
  Py_XDECREF(declared);
  Py_XDECREF(given);
}

/* The declared signature that the arguments fit at the least price, or NULL with TypeError. */
static const PxSignature *choose(PxDispatcher *d, const PxArgs *a) {
  const PxSignature *best = NULL;
  int best_price = 0;
  for (uint32_t i = 0; i < d->nsignatures; i++) {
    int price = px_signature_price(a->tokens, a->ntokens, d->signatures[i].tokens,
                                   d->signatures[i].n);
    if (price >= 0 && (!best || price < best_price)) {
      best = &d->signatures[i];
      best_price = price;
    }
  }
  if (!best)
    no_signature(d, a);
  return best;
}

static int convert_numbers(PxArgs *a, const PxOverload *o) {
  uint32_t leaf = 0;
  for (uint32_t i = 0; i < o->signature.n; i++) {
    PxToken to = px_token_plain(o->signature.tokens[i]);
    if (px_token_is_tuple(to))
      continue;
    assert(leaf < a->nleaves);
    PxLeaf *l = &a->leaves[leaf++];
    if (px_token_is_pointer(to)) {
      static const int64_t unknown[] = {0}; /* nothing reads the extent of a pointer */
      uint64_t address = (uint64_t)l->u.i;
      l->u.array.address = address;
      l->u.array.shape = l->u.array.strides = unknown;
      l->token = to;
    }
    if (l->token == to || px_token_is_array(to))
      continue;
    unsigned char value[16];
    memcpy(value, l->u.bytes, sizeof value);
    if (!px_convert_scalar((TypeId)l->token, value, (TypeId)to, l->u.bytes)) {
      char who[PX_ARGUMENT_NAME];
      PyErr_Format(PyExc_OverflowError, "%s does not fit %s",
                   px_argument_name(a, px_argument_of_leaf(a, leaf - 1), who),
                   ty_scalar_info[to].name);
      return -1;
    }
    l->token = to;
  }
  return 0;
}

static PxOverload *dispatch_slow(PxDispatcher *d, PxArgs *a) {
  PxSignature given = {.tokens = a->tokens, .n = a->ntokens};
  const PxSignature *s = d->nsignatures ? choose(d, a) : &given;
  PxOverload *o = s ? px_overload_for(d, s, a->device) : NULL;
  if (o && s != &given &&
      (s->n != given.n || memcmp(s->tokens, given.tokens, sizeof *given.tokens * given.n))) {
    if (add_entry(d, a->device, given.tokens, given.n, o, true) < 0 || convert_numbers(a, o) < 0)
      Py_CLEAR(o);
  }
  return o;
}

PxOverload *px_dispatch(PxDispatcher *d, PxArgs *a) {
  PX_HOLDS_GIL();
  bool converted = false;
  PxOverload *o = find(d, a->device, a->tokens, a->ntokens, &converted);
  if (!o)
    return dispatch_slow(d, a);
  if (converted && convert_numbers(a, o) < 0)
    Py_CLEAR(o);
  return o;
}

PyObject *px_overload_list(PxDispatcher *d) {
  PyObject *list = PyList_New(0);
  PX_BEGIN_LOCKED(d)
  for (uint32_t k = 0; k < 2 * d->nentries && list; k++) {
    const PxEntry *e = &d->entries[k % d->nentries];
    bool narrow = px_is_narrow(e->tokens, e->n), now = k >= d->nentries;
    if (e->device && !e->converted && narrow == now &&
        PyList_Append(list, (PyObject *)e->overload) < 0)
      Py_CLEAR(list);
  }
  PX_END_LOCKED()
  return list;
}

/* --- making --- */

static int read_code(PxState *st, PxDispatcher *d) {
  PyObject *code = PyFunction_GetCode(d->function);
  PyObject *const names[] = {st->name.co_argcount, st->name.co_kwonlyargcount, st->name.co_flags,
                             st->name.co_posonlyargcount};
  long values[4];
  for (int i = 0; i < 4; i++) {
    PyObject *v = PyObject_GetAttr(code, names[i]);
    values[i] = v ? PyLong_AsLong(v) : -1;
    Py_XDECREF(v);
    if (values[i] < 0)
      return -1;
  }
  d->nargs = (uint32_t)values[0];
  d->nkwonly = (uint32_t)values[1];
  d->nposonly = (uint32_t)values[3];
  d->varargs = values[2] & (CODE_VARARGS | CODE_VARKEYWORDS);
  return 0;
}

static int read_signatures(PxState *st, PxDispatcher *d, PyObject *list) {
  Py_ssize_t n = PySequence_Size(list);
  if (n < 0 || !(d->signatures = PyMem_Calloc((size_t)n + 1, sizeof *d->signatures)))
    return n < 0 ? -1 : (PyErr_NoMemory(), -1);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(list, i);
    int failed = item ? px_signature_argument(st, item, &d->signatures[i]) : -1;
    Py_XDECREF(item);
    if (failed)
      return -1;
    d->nsignatures++;
    if (d->signatures[i].result && !d->func_options.device)
      return PyErr_Format(PyExc_TypeError,
                          "%U() is a kernel and returns nothing: its signature begins with void; "
                          "@cuda.jit(device=True) makes a function that kernels call",
                          ((PyFunctionObject *)d->function)->func_qualname),
             -1;
    if (d->signatures[i].nargs > d->nargs + d->nkwonly)
      return PyErr_Format(PyExc_TypeError, "%U() takes %u argument%s, but its signature has %u",
                          ((PyFunctionObject *)d->function)->func_qualname, d->nargs + d->nkwonly,
                          d->nargs + d->nkwonly == 1 ? "" : "s", d->signatures[i].nargs),
             -1;
  }
  return 0;
}

/* What functools.update_wrapper would copy: in the kernel's own dict, so that it can be set, and
 * does not hide what the type says of itself. */
static int name_as_function(PxState *st, PxDispatcher *d) {
  PyObject *names[] = {st->name.__module__, st->name.__name__, st->name.__qualname__,
                       st->name.__doc__};
  if (!(d->dict = PyDict_New()))
    return -1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    PyObject *value = PyObject_GetAttr(d->function, names[i]);
    int failed = value ? PyDict_SetItem(d->dict, names[i], value) : -1;
    Py_XDECREF(value);
    if (failed)
      return -1;
  }
  return PyDict_SetItem(d->dict, st->name.__wrapped__, d->function);
}

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *function, *signatures;
  if (!PyArg_ParseTuple(args, "O!O:Dispatcher", &PyFunction_Type, &function, &signatures))
    return NULL;
  PxDispatcher *d = (PxDispatcher *)type->tp_alloc(type, 0);
  if (!d)
    return NULL;
  PxState *st = PyType_GetModuleState(type);
  d->function = Py_NewRef(function);
  d->made = kwargs ? Py_BuildValue("(ON)", signatures, PyDict_Copy(kwargs))
                   : Py_BuildValue("(O{})", signatures);
  if (d->made && px_options_set(d, kwargs) == 0 && name_as_function(st, d) == 0 &&
      read_code(st, d) == 0 && read_signatures(st, d, signatures) == 0)
    return (PyObject *)d;
  Py_DECREF(d);
  return NULL;
}

static int dispatcher_traverse(PyObject *op, visitproc visit, void *arg) {
  PxDispatcher *d = (PxDispatcher *)op;
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(d->function);
  Py_VISIT(d->dict);
  Py_VISIT(d->made);
  Py_VISIT(d->link);
  Py_VISIT(d->dump);
  Py_VISIT(d->extensions);
  Py_VISIT(d->specializations);
  for (uint32_t i = 0; i < d->nentries; i++)
    Py_VISIT(d->entries[i].overload);
  return 0;
}

static int dispatcher_clear(PyObject *op) {
  PxDispatcher *d = (PxDispatcher *)op;
  uint32_t n = d->nentries;
  px_plans_free(d);
  d->nentries = 0;
  for (uint32_t i = 0; i < n; i++) {
    PyMem_Free(d->entries[i].tokens);
    Py_DECREF(d->entries[i].overload);
  }
  Py_CLEAR(d->dict);
  Py_CLEAR(d->specializations);
  return 0; /* the function stays: methods that run during the collection read it */
}

static void dispatcher_dealloc(PyObject *op) {
  PxDispatcher *d = (PxDispatcher *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, d->weakrefs);
  dispatcher_clear(op);
  Py_CLEAR(d->function);
  Py_CLEAR(d->made);
  Py_CLEAR(d->link);
  Py_CLEAR(d->dump);
  Py_CLEAR(d->extensions);
  PyMem_Free(d->entries);
  for (uint32_t i = 0; i < d->nsignatures; i++)
    px_signature_clear(&d->signatures[i]);
  PyMem_Free(d->signatures);
  type->tp_free(op);
  Py_DECREF(type);
}

/* --- the object --- */

static PyObject *dispatcher_repr(PyObject *op) {
  PxDispatcher *d = (PxDispatcher *)op;
  return PyUnicode_FromFormat("<pyptx %s %U>",
                              d->func_options.device ? "device function" : "kernel",
                              ((PyFunctionObject *)d->function)->func_qualname);
}

static PyObject *dispatcher_call(PyObject *op, PyObject *Py_UNUSED(args),
                                 PyObject *Py_UNUSED(kwargs)) {
  PxDispatcher *d = (PxDispatcher *)op;
  PyObject *name = ((PyFunctionObject *)d->function)->func_name;
  if (d->func_options.device)
    return PyErr_Format(PyExc_TypeError,
                        "%U is a device function: kernels call it; on the host use %U.py_func(...)",
                        name, name);
  return PyErr_Format(
      PyExc_ValueError,
      "Kernel launch configuration was not specified: write %U[blocks, threads](...), or %U.forall(n)(...)",
      name, name);
}

/* What a user has compiled serves all launches that it can: none compiles a narrow version. */
static int serve_narrow(PxDispatcher *d, const PxSignature *s, PxOverload *o) {
  if (!s->n || px_is_narrow(s->tokens, s->n))
    return 0;
  bool converted;
  *s->tokens |= PX_NARROW_TOKEN;
  PxOverload *other = find(d, o->device, s->tokens, s->n, &converted);
  int failed = other ? 0 : add_entry(d, o->device, s->tokens, s->n, o, true);
  *s->tokens &= ~PX_NARROW_TOKEN;
  Py_XDECREF((PyObject *)other);
  return failed;
}

static PyObject *dispatcher_compile(PyObject *op, PyObject *arg) {
  PxDispatcher *d = (PxDispatcher *)op;
  PxState *st = px_state_of(op);
  PxSignature s = {0};
  RtDevice *device = px_current_device(st);
  if (!device || px_signature_argument(st, arg, &s) < 0)
    return NULL;
  PyObject *result = NULL;
  if (!d->func_options.device) {
    result = (PyObject *)px_overload_for(d, &s, device);
    if (result && (px_entry_own(st, (PxOverload *)result) < 0 ||
                   serve_narrow(d, &s, (PxOverload *)result) < 0))
      Py_CLEAR(result);
  } else {
    char arch[16];
    PxTextRequest text = px_text_request(device, arch);
    CgKernel *code = NULL;
    if (px_compile_text(st, d, &s, &text, &code) == 0) {
      cg_kernel_free(code);
      result = Py_NewRef(Py_None);
    }
  }
  px_signature_clear(&s);
  return result;
}

/* The type of a value as an argument. */
static PyObject *dispatcher_typeof(PyObject *op, PyObject *value) {
  PxDispatcher *d = (PxDispatcher *)op;
  PxState *st = px_state_of(op);
  RtDevice *device = px_current_device(st);
  if (!device)
    return NULL;
  PxArgs a;
  px_args_init(&a, st, device, NULL, d->options.numba_typing);
  PyObject *types = px_args_add(&a, value) < 0 ? NULL : px_signature_types(st, a.tokens, a.ntokens);
  px_args_clear(&a);
  PyObject *type = types ? PySequence_GetItem(types, 0) : NULL;
  Py_XDECREF(types);
  return type;
}

static PyObject *dispatcher_specialize(PyObject *op, PyObject *args) {
  PyObject *module = PyImport_ImportModule("pyptx.cuda._kernels");
  PyObject *made = module ? PyObject_CallMethod(module, "specialize", "OO", op, args) : NULL;
  Py_XDECREF(module);
  return made;
}

static PyObject *get_specializations(PyObject *op, void *Py_UNUSED(c)) {
  PxDispatcher *d = (PxDispatcher *)op;
  PyObject *found;
  PX_BEGIN_LOCKED(d)
  if (!d->specializations)
    d->specializations = PyDict_New();
  found = Py_XNewRef(d->specializations);
  PX_END_LOCKED()
  return found;
}

static PyObject *get_specialized(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong(((PxDispatcher *)op)->nsignatures == 1);
}

static PyObject *get_extensions(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *extensions = ((PxDispatcher *)op)->extensions;
  return extensions ? PySequence_List(extensions) : PyList_New(0);
}

static PyObject *dispatcher_reduce(PyObject *op, PyObject *Py_UNUSED(args)) {
  return px_call_pickle("reduce_kernel", op);
}

/* A kernel is its own copy, as a function is. */
static PyObject *dispatcher_copy(PyObject *op, PyObject *Py_UNUSED(args)) { return Py_NewRef(op); }

static PyObject *get_made(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxDispatcher *)op)->made);
}

static PyObject *get_function(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxDispatcher *)op)->function);
}

static PyObject *get_device_flag(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong(((PxDispatcher *)op)->func_options.device);
}

/* The counts and the place, made by the package's Python half. */
static PyObject *get_stats(PyObject *op, void *Py_UNUSED(c)) {
  PyObject *list = px_overload_list((PxDispatcher *)op);
  PyObject *module = list ? PyImport_ImportModule("pyptx._cache") : NULL;
  PyObject *stats = module ? px_call_method(module, "stats", list) : NULL;
  Py_XDECREF(module);
  Py_XDECREF(list);
  return stats;
}

static PyObject *get_declared(PyObject *op, void *Py_UNUSED(c)) {
  return signature_list((PxDispatcher *)op);
}

static PyGetSetDef dispatcher_getset[] = {
    {"py_func", get_function, NULL, "The Python function.", NULL},
    {"stats", get_stats, NULL,
     "What the disk cache did: cache_path, cache_hits and cache_misses, two dicts of signature: number.",
     NULL},
    {"_made", get_made, NULL, "(signatures, options) that it was made with.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"device", get_device_flag, NULL, "Is this a device function.", NULL},
    {"overloads", px_get_overloads, NULL, "dict: argument types → compiled kernel.", NULL},
    {"signatures", px_get_signatures, NULL, "Argument types of the compiled kernels.", NULL},
    {"specializations", get_specializations, NULL,
     "dict: (compute capability, argument types) → kernel that specialize() made.", NULL},
    {"specialized", get_specialized, NULL, "Is this kernel for one declared signature.", NULL},
    {"extensions", get_extensions, NULL, "A list: what prepares arguments (see @cuda.jit).", NULL},
    {"declared_signatures", get_declared, NULL, "Signatures that were given to @cuda.jit, as text.",
     NULL},
    {0},
};

static PyMemberDef dispatcher_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PxDispatcher, dict), READONLY, NULL},
    PX_WEAKREFS(PxDispatcher),
    {0},
};

static PyMethodDef dispatcher_methods[] = {
    {"configure", PX_KEYWORDS(px_dispatcher_configure), METH_VARARGS | METH_KEYWORDS,
     "configure($self, /, griddim, blockdim, stream=0, sharedmem=0, cluster=None, "
     "programmatic_dependent_launch=False, timeout=None)\n--\n\n"
     "The same as k[griddim, blockdim, stream, sharedmem, cluster]: blocks and threads are\n"
     "ints or tuples of 1 to 3, sharedmem is bytes of dynamic shared memory. cluster: an int\n"
     "or a tuple of 1 to 3: so many blocks, at most 8, or 16 where the GPU has them, run at\n"
     "once on neighbouring multiprocessors; the grid is a multiple of it. It needs compute\n"
     "capability 9.0; cuda.cg.this_cluster() names it. programmatic_dependent_launch: the\n"
     "launch may begin before the one in front of it in the stream has ended; its kernel calls\n"
     "cuda.grid_dependency_control_wait() before it reads what that one writes. It needs\n"
     "compute capability 9.0; on the host device launches run one after the other. timeout:\n"
     "seconds after which a launch on the host device ends with KernelTimeoutError; 0: never.\n\n"
     "Example:\n\n"
     "    launch = add.configure(1, 256)           # as add[1, 256]\n"
     "    launch(d, d, e)"},
    {"forall", PX_KEYWORDS(px_dispatcher_forall), METH_VARARGS | METH_KEYWORDS,
     "forall($self, /, ntasks, tpb=0, stream=0, sharedmem=0)\n--\n\n"
     "A launch of at least ntasks threads in one dimension; tpb, the threads per block, is\n"
     "chosen by the driver's occupancy calculator where it is 0.\n\n"
     "Example:\n\n"
     "    add.forall(d.size)(d, d, e)"},
    {"py_run", PX_KEYWORDS(px_dispatcher_py_run), METH_VARARGS | METH_KEYWORDS, PX_PY_RUN_DOC},
    {"compile", dispatcher_compile, METH_O,
     "compile($self, sig, /)\n--\n\n"
     "Compile for a signature on the current device; returns the compiled kernel.\n\n"
     "Example:\n\n"
     "    compiled = add.compile(\"void(float32[::1], float32[::1], float32[::1])\")"},
    {"specialize", dispatcher_specialize, METH_VARARGS,
     "specialize($self, /, *args)\n--\n\n"
     "A kernel for the types of these arguments, or for these types, and no others; the same\n"
     "one when asked again. RuntimeError if this one is already for declared types.\n\n"
     "Example:\n\n"
     "    add_float32 = add.specialize(d, d, e)"},
    {"_typeof", dispatcher_typeof, METH_O, NULL},
    {"inspect_asm", PX_KEYWORDS(px_inspect_asm), METH_VARARGS | METH_KEYWORDS,
     "inspect_asm($self, /, signature=None)\n--\n\n"
     "PTX, or the host's assembly on the host device: one text, or a dict by signature.\n"
     "Without a signature of what is compiled.\n\n"
     "Example:\n\n"
     "    for signature, text in add.inspect_asm().items():\n"
     "        lines = text.count(\"\\n\")"},
    {"inspect_llvm", PX_KEYWORDS(px_inspect_llvm), METH_VARARGS | METH_KEYWORDS,
     "inspect_llvm($self, /, signature=None)\n--\n\n"
     "Optimised LLVM IR: one text, or a dict by signature.\n\n"
     "Example:\n\n"
     "    texts = add.inspect_llvm()"},
    {"inspect_ssa", PX_KEYWORDS(px_inspect_ssa), METH_VARARGS | METH_KEYWORDS,
     "inspect_ssa($self, /, signature=None)\n--\n\n"
     "Untyped SSA: one text, or a dict by signature.\n\n"
     "Example:\n\n"
     "    texts = add.inspect_ssa()"},
    {"inspect_types", PX_KEYWORDS(px_inspect_types), METH_VARARGS | METH_KEYWORDS,
     "inspect_types($self, /, signature=None, file=None)\n--\n\n"
     "Typed SSA: one text, or a dict by signature. With a file it is written there instead.\n\n"
     "Example:\n\n"
     "    texts = add.inspect_types()"},
    {"advice", PX_KEYWORDS(px_advice), METH_VARARGS | METH_KEYWORDS,
     "advice($self, /, signature=None)\n--\n\n"
     "What the compiler noticed: a list of pyptx.Advice, shown or not, or a dict by signature.\n\n"
     "Example:\n\n"
     "    for signature, found in add.advice().items():\n"
     "        print(*found)"},
    {"inspect_sass", PX_KEYWORDS(px_inspect_sass), METH_VARARGS | METH_KEYWORDS,
     "inspect_sass($self, /, signature=None, arch=None)\n--\n\n"
     "GPU machine code, under comments that say registers, spills, shared memory and\n"
     "occupancy; arch: \"sm_90\" or \"H100\", which need not be there. Needs ptxas and nvdisasm\n"
     "(pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm).\n\n"
     "Example:\n\n"
     "    print(add.inspect_sass(arch=\"H100\"))"},
    {"resources", PX_KEYWORDS(px_resources), METH_VARARGS | METH_KEYWORDS, PX_RESOURCES_DOC},
    {"report", PX_KEYWORDS(px_report), METH_VARARGS | METH_KEYWORDS,
     "report($self, /, signature=None, *, arch=None, gpu=None, block=None, dynamic_shared=0)\n--\n\n"
     "What became of the kernel, as one HTML page: Python, SSA, PTX and SASS line by line, with\n"
     "types, registers, occupancy, the place in the roofline, and advice. It shows itself in a\n"
     "notebook; .save(path) and .open() are for elsewhere, str() is a summary. No GPU is needed.\n"
     "signature: types as text or a tuple; None: all that are declared or compiled. gpu: a name\n"
     "as \"H100\"; arch: \"sm_90\", if that GPU is not named. block: threads of a block;\n"
     "dynamic_shared: bytes of a launch.\n\n"
     "Example:\n\n"
     "    add.report(gpu=\"H100\").save(\"add.html\")"},
    {"get_regs_per_thread", px_get_regs, METH_VARARGS,
     "get_regs_per_thread($self, signature=None, /)\n--\n\n"
     "Registers of a thread. For a signature, or the one that is declared, a number; else a\n"
     "dict by signatures. 0 on the host device.\n\n"
     "Example:\n\n"
     "    registers = add.get_regs_per_thread()"},
    {"get_shared_mem_per_block", px_get_shared, METH_VARARGS,
     "get_shared_mem_per_block($self, signature=None, /)\n--\n\n"
     "Bytes of static shared memory of a block: a number, or a dict by signatures.\n\n"
     "Example:\n\n"
     "    sizes = add.get_shared_mem_per_block()"},
    {"get_const_mem_size", px_get_const, METH_VARARGS,
     "get_const_mem_size($self, signature=None, /)\n--\n\n"
     "Bytes of constant memory: a number, or a dict by signatures.\n\n"
     "Example:\n\n"
     "    sizes = add.get_const_mem_size()"},
    {"get_local_mem_per_thread", px_get_local, METH_VARARGS,
     "get_local_mem_per_thread($self, signature=None, /)\n--\n\n"
     "Bytes of local memory of a thread: a number, or a dict by signatures.\n\n"
     "Example:\n\n"
     "    sizes = add.get_local_mem_per_thread()"},
    {"get_max_threads_per_block", px_get_max_threads, METH_VARARGS,
     "get_max_threads_per_block($self, signature=None, /)\n--\n\n"
     "The largest block that the kernel can be launched with: a number, or a dict by\n"
     "signatures.\n\nExample:\n\n"
     "    sizes = add.get_max_threads_per_block()"},
    {"__reduce__", dispatcher_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\n"
     "What pickle keeps: its name; cloudpickle also its function."},
    {"__copy__", dispatcher_copy, METH_NOARGS, "__copy__($self, /)\n--\n\nThe kernel itself."},
    {"__deepcopy__", dispatcher_copy, METH_O,
     "__deepcopy__($self, memo, /)\n--\n\n"
     "The kernel itself."},
    {"_repr_html_", px_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nWhat a notebook shows."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
     "__class_getitem__($type, item, /)\n--\n\nFor annotations."},
    {0},
};

static PyType_Slot dispatcher_slots[] = {
    {Py_tp_doc, "Dispatcher(function, signatures, /, **options)\n--\n\n"
                "A kernel, or a device function, that @cuda.jit made of a Python function.\n\n"
                "kernel[blocks, threads](...) launches it; kernel.py_func is the Python function."},
    {Py_tp_new, dispatcher_new},
    {Py_tp_dealloc, dispatcher_dealloc},
    {Py_tp_traverse, dispatcher_traverse},
    {Py_tp_clear, dispatcher_clear},
    {Py_tp_repr, dispatcher_repr},
    {Py_tp_call, dispatcher_call},
    {Py_mp_subscript, px_dispatcher_subscript},
    {Py_tp_getset, dispatcher_getset},
    {Py_tp_members, dispatcher_members},
    {Py_tp_methods, dispatcher_methods},
    {0, NULL},
};

PyType_Spec px_dispatcher_spec = {
    .name = "pyptx._pyptx.Dispatcher",
    .basicsize = sizeof(PxDispatcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dispatcher_slots,
};
