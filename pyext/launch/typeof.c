/* Typeof: one pass over the arguments. Exact types first (a launch in a loop sees only those), then
 * NumPy and foreign objects. */
#include "pyext/launch/typeof.h"

#include <string.h>

#include "pyext/array/copy.h"
#include "pyext/array/device_array.h"
#include "pyext/array/foreign.h"
#include "pyext/array/foreign_types.h"
#include "pyext/array/labelled.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/named_tuple.h"
#include "pyext/compile/record.h"
#include "pyext/compile/signature.h"
#include "pyext/compile/type.h"
#include "pyext/launch/stream_order.h"
#include "pyext/launch/together.h"
#include "pyext/launch/warnings.h"
#include "pyext/objects/graph.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

void px_args_init(PxArgs *a, PxState *st, RtDevice *device, RtStream *stream, bool numba) {
  a->st = st;
  a->device = device;
  a->stream = stream;
  a->on_host = rt_device_is_host(device);
  a->numba = numba;
  a->captured = a->wide = a->overlap = false;
  a->any_readonly = false;
  a->way = 0;
  a->callee = NULL;
  a->arg = a->depth = a->ntokens = a->nleaves = 0;
  a->max_tokens = PX_INLINE_TOKENS;
  a->max_leaves = PX_INLINE_LEAVES;
  a->tokens = a->tokens0;
  a->leaves = a->leaves0;
  a->held = NULL;
  a->ndims = 0;
  a->follow.st = st;
  a->follow.device = device;
  a->follow.named = a->follow.launch = stream;
  a->follow.on_default = a->follow.theirs_default = false;
  a->follow.nsources = a->follow.nhandles = 0;
}

static void held_free(PxArgs *a, PxHeld *h) {
  if (h->has_view)
    PyBuffer_Release(&h->view);
  if (h->address && !h->in_place && h->epoch == rt_device_epoch(a->device))
    rt_free(a->device, h->address, h->bytes, a->stream);
  Py_XDECREF(h->array);
  Py_XDECREF(h->keeper);
  Py_XDECREF(h->staging);
  PyMem_Free(h);
}

void px_args_clear(PxArgs *a) {
  for (PxHeld *h = a->held, *next; h; h = next) {
    next = h->next;
    held_free(a, h);
  }
  if (a->tokens != a->tokens0)
    PyMem_Free(a->tokens);
  if (a->leaves != a->leaves0)
    PyMem_Free(a->leaves);
  a->held = NULL;
  a->tokens = a->tokens0;
  a->leaves = a->leaves0;
  a->ntokens = a->nleaves = 0;
}

/* --- growing --- */

static void *grown(void *old, void *inlined, size_t used, size_t bytes) {
  void *p = PyMem_Malloc(bytes);
  if (!p) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(p, old, used);
  if (old != inlined)
    PyMem_Free(old);
  return p;
}

/* More than any kernel can have; tuples in tuples soon have more than memory holds. */
enum { MOST_TOKENS = 1 << 16 };

static int add_token(PxArgs *a, PxToken t) {
  if (a->ntokens == MOST_TOKENS) {
    char who[PX_ARGUMENT_NAME];
    PyErr_Format(PyExc_TypeError,
                 "%s brings the arguments to more than %d numbers and arrays: pass arrays",
                 px_argument_name(a, a->arg, who), MOST_TOKENS);
    return -1;
  }
  if (a->ntokens == a->max_tokens) {
    PxToken *p = grown(a->tokens, a->tokens0, sizeof *p * a->ntokens,
                       sizeof *p * a->max_tokens * 2);
    if (!p)
      return -1;
    a->tokens = p;
    a->max_tokens *= 2;
  }
  a->tokens[a->ntokens++] = t;
  return 0;
}

static PxLeaf *add_leaf(PxArgs *a, PxToken t) {
  if (a->nleaves == a->max_leaves) {
    PxLeaf *p = grown(a->leaves, a->leaves0, sizeof *p * a->nleaves, sizeof *p * a->max_leaves * 2);
    if (!p)
      return NULL;
    a->leaves = p;
    a->max_leaves *= 2;
  }
  if (add_token(a, px_token_plain(t)) < 0)
    return NULL;
  PxLeaf *leaf = &a->leaves[a->nleaves++];
  leaf->token = t;
  leaf->readonly = PX_WRITABLE;
  return leaf;
}

/* --- what messages call an argument --- */

const char *px_argument_name(const PxArgs *a, uint32_t arg, char text[PX_ARGUMENT_NAME]) {
  bool known = a->callee && arg < a->callee->nargs + a->callee->nkwonly;
  const char *name = known ? px_parameter_name(a->callee, arg) : "";
  PyOS_snprintf(text, PX_ARGUMENT_NAME, known ? "argument %u ('%.150s')" : "argument %u", arg + 1,
                name);
  return text;
}

/* Tokens are arguments in order, a tuple's before those of its items. */
uint32_t px_argument_of_leaf(const PxArgs *a, uint32_t leaf) {
  uint32_t arg = 0, left = 1; /* tokens of this argument that are still to come */
  for (uint32_t k = 0, seen = 0; k < a->ntokens; k++) {
    bool tuple = px_token_is_tuple(a->tokens[k]);
    if (!tuple && seen++ == leaf)
      break;
    left += tuple ? px_token_items(a->tokens[k]) : 0;
    if (!--left) {
      arg++;
      left = 1;
    }
  }
  return arg;
}

/* --- numbers --- */

static int add_int(PxArgs *a, PyObject *arg) {
  int overflow = 0;
  long long v;
  if (!px_small_int(arg, &v))
    v = PyLong_AsLongLongAndOverflow(arg, &overflow);
  if (v == -1 && !overflow && PyErr_Occurred())
    return -1;
  if (overflow) {
    char who[PX_ARGUMENT_NAME];
    PyErr_Format(PyExc_OverflowError,
                 "%s does not fit 64 bits; pass np.uint64(x) for values up to 2**64 - 1",
                 px_argument_name(a, a->arg, who));
    return -1;
  }
  PxLeaf *leaf = add_leaf(a, a->numba ? TY_I64 : TY_PYINT);
  if (!leaf)
    return -1;
  leaf->u.i = v;
  return 0;
}

static int add_float(PxArgs *a, double v) {
  PxLeaf *leaf = add_leaf(a, a->numba ? TY_F64 : TY_PYFLOAT);
  if (!leaf)
    return -1;
  leaf->u.d = v;
  return 0;
}

static int add_bool(PxArgs *a, bool v) {
  PxLeaf *leaf = add_leaf(a, a->numba ? TY_BOOL : TY_PYBOOL);
  if (!leaf)
    return -1;
  leaf->u.bytes[0] = v;
  return 0;
}

static int add_complex(PxArgs *a, PyObject *arg) {
  Py_complex v = PyComplex_AsCComplex(arg);
  PxLeaf *leaf = add_leaf(a, a->numba ? TY_C128 : TY_PYCOMPLEX);
  if (!leaf)
    return -1;
  memcpy(leaf->u.bytes, &v.real, 8);
  memcpy(leaf->u.bytes + 8, &v.imag, 8);
  return 0;
}

static int unsupported(const PxArgs *a, PyObject *arg, const char *why) {
  char who[PX_ARGUMENT_NAME];
  PyErr_Format(PyExc_TypeError, "%s has type %.100s, which a kernel cannot take%s",
               px_argument_name(a, a->arg, who), Py_TYPE(arg)->tp_name, why);
  return -1;
}

static int unsupported_dtype(const PxArgs *a, PyObject *dtype) {
  char who[PX_ARGUMENT_NAME];
  px_refuse_dtype(a->st, px_argument_name(a, a->arg, who), dtype);
  return -1;
}

static int add_numpy_array(PxArgs *a, PyObject *arg);
static const char *hint(PyObject *arg);

/* A NumPy scalar: its type by dtype, its value through the buffer protocol. */
static int add_numpy_scalar(PxArgs *a, PyObject *arg) {
  PyObject *dtype = PyObject_GetAttr(arg, a->st->name.dtype);
  if (!dtype)
    return -1;
  PxElem elem = px_elem_of_dtype(a->st, dtype);
  Py_DECREF(dtype);
  if (elem != PX_NO_ELEM && px_elem_id(a->st, elem) == TY_RECORD)
    return add_numpy_array(a, arg); /* by reference: an array without axes */
  if (elem == PX_NO_ELEM)
    return unsupported(a, arg,
                       PyUnicode_Check(arg) || PyBytes_Check(arg)
                           ? hint(arg)
                           : ": pass what float(x), int(x) or complex(x) makes of it");
  Py_buffer view;
  if (PyObject_GetBuffer(arg, &view, PyBUF_SIMPLE) < 0)
    return -1;
  size_t size = px_elem_size(a->st, elem);
  bool whole = (size_t)view.len == size;
  PxLeaf *leaf = whole ? add_leaf(a, (PxToken)elem) : NULL;
  if (leaf)
    memcpy(leaf->u.bytes, view.buf, size);
  PyBuffer_Release(&view);
  return leaf ? 0 : whole ? -1 : unsupported(a, arg, ": its bytes are not those of its dtype");
}

/* --- arrays --- */

static int add_device_array(PxArgs *a, PxArray *array) {
  if (array->device != a->device) {
    char who[PX_ARGUMENT_NAME];
    PyErr_Format(
        PyExc_ValueError,
        "%s lives on %s, but the kernel runs on %s; copy it there, or launch in `with array.device:`",
        px_argument_name(a, a->arg, who), rt_device_label(array->device),
        rt_device_label(a->device));
    return -1;
  }
  if (array->elem == PX_NO_ELEM)
    return unsupported_dtype(a, array->dtype);
  if (PX_UNLIKELY(array->epoch != px_epoch_now(a->device))) {
    char who[PX_ARGUMENT_NAME];
    return px_array_check(array, px_argument_name(a, a->arg, who));
  }
  PxLeaf *leaf = add_leaf(a, array->token);
  if (!leaf)
    return -1;
  leaf->u.array.address = array->address;
  leaf->u.array.shape = array->dims;
  leaf->u.array.strides = array->dims + array->ndim;
  leaf->readonly = array->readonly;
  a->any_readonly |= array->readonly;
  a->follow.on_default = true;
  return 0;
}

PxHeld *px_hold(PxArgs *a) {
  PxHeld *h = PyMem_Calloc(1, sizeof *h);
  if (!h) {
    PyErr_NoMemory();
    return NULL;
  }
  h->leaf = a->nleaves;
  h->arg = a->arg;
  h->epoch = rt_device_epoch(a->device);
  h->next = a->held;
  a->held = h;
  return h;
}

int px_held_leaf(PxArgs *a, PxHeld *h, PxToken token, uint64_t address) {
  PxLeaf *leaf = add_leaf(a, token);
  if (!leaf)
    return -1;
  leaf->u.array.address = address;
  leaf->u.array.shape = h->shape;
  leaf->u.array.strides = h->strides;
  leaf->readonly = h->readonly;
  a->any_readonly |= h->readonly;
  return 0;
}

/* The element type of a NumPy array; PX_NO_ELEM with TypeError. */
static PxElem element_type(PxArgs *a, PyObject *arg) {
  PyObject *dtype = PyObject_GetAttr(arg, a->st->name.dtype);
  if (!dtype)
    return PX_NO_ELEM;
  PxElem id = px_elem_of_dtype(a->st, dtype);
  if (id == PX_NO_ELEM)
    unsupported_dtype(a, dtype);
  Py_DECREF(dtype);
  return id;
}

int px_held_view(PxArgs *a, PxHeld *h, PyObject *object, PxElem elem) {
  if (px_get_elements(a->st, object, &h->view, PyBUF_STRIDES, elem) < 0)
    return -1;
  h->has_view = true;
  if (h->view.ndim > TY_MAX_NDIM) {
    char who[PX_ARGUMENT_NAME];
    PyErr_Format(PyExc_TypeError, "%s has %d axes; a kernel takes at most %d",
                 px_argument_name(a, a->arg, who), h->view.ndim, TY_MAX_NDIM);
    return -1;
  }
  for (int i = 0; i < h->view.ndim; i++) {
    h->shape[i] = h->view.shape[i];
    h->strides[i] = h->view.strides[i];
  }
  h->bytes = (size_t)h->view.len;
  return 0;
}

/* Elements at odd addresses (a field of a packed record) are part of the type: align1
 * float32[:]. */
PxToken px_held_token(PxArgs *a, const PxHeld *h, PxElem elem, uint64_t address) {
  return px_token_of(a->st, elem,
                     &(PxPlace){address, (unsigned)h->view.ndim, (size_t)h->view.itemsize, h->shape,
                                h->strides, a->on_host});
}

/* A record's buffer is read-only, whatever its flags say; its memory is not. */
static int read_only(PxArgs *a, PxHeld *h, PyObject *arg) {
  PyObject *flags = PyObject_GetAttr(arg, a->st->name.flags);
  PyObject *writeable = flags ? PyObject_GetAttr(flags, a->st->name.writeable) : NULL;
  Py_XDECREF(flags);
  h->readonly = writeable == Py_False;
  Py_XDECREF(writeable);
  return writeable ? 0 : -1;
}

/* On the host device the kernel works on the array's own memory. */
static int add_array_in_place(PxArgs *a, PxHeld *h, PyObject *arg, PxElem elem) {
  if (px_held_view(a, h, arg, elem) < 0)
    return -1;
  h->in_place = true;
  uint64_t address = (uint64_t)(uintptr_t)h->view.buf;
  if (read_only(a, h, arg) < 0)
    return -1;
  return px_held_leaf(a, h, px_held_token(a, h, elem, address), address);
}

/* The same array passed twice is one array on the device too. */
static PxHeld *same_array(PxArgs *a, PyObject *arg) {
  for (PxHeld *h = a->held; h; h = h->next)
    if (h->array == arg && h->address)
      return h;
  return NULL;
}

/* May the copy of an array in Fortran order stay so? Not where all that was declared asks for
 * C's. */
static bool may_be_fortran(const PxArgs *a) {
  const PxDispatcher *d = a->callee;
  for (uint32_t i = 0; d && i < d->nsignatures; i++) {
    const PxSignature *s = &d->signatures[i];
    if (a->ntokens < s->n && px_token_is_array(s->tokens[a->ntokens]) &&
        px_token_layout(s->tokens[a->ntokens]) != LAYOUT_C)
      return true;
  }
  return d && !d->nsignatures;
}

/* New reference: the array, or a contiguous copy of it. */
static PyObject *contiguous(const PxArgs *a, PyObject *array) {
  if (may_be_fortran(a)) {
    PyObject *flags = PyObject_GetAttr(array, a->st->name.flags);
    PyObject *fortran = flags ? PyObject_GetAttrString(flags, "fnc")
                              : NULL; /* and not in C order */
    Py_XDECREF(flags);
    Py_XDECREF(fortran);
    if (!fortran || fortran == Py_True)
      return fortran ? Py_NewRef(array) : NULL;
  }
  return PyObject_CallMethod(a->st->numpy, "require", "OOs", array, Py_None, "C");
}

/* On a GPU it is copied: contiguous, in the order that it has, or else in C's. What is written is
 * copied back by the launcher. The same array has the same order at each place that it is
 * passed. */
static int add_array_copy(PxArgs *a, PxHeld *h, PyObject *arg, PxElem elem) {
  if (read_only(a, h, arg) < 0 || px_warn_of_copy(a->st) < 0)
    return -1;
  h->elem = elem;
  h->token = a->ntokens;
  PxHeld *same = same_array(a, arg);
  int shared = same && !same->block ? 0 : px_add_together(a, h, arg);
  if (shared)
    return shared < 0 ? -1 : 0;
  if (!(a->way & PX_WAY_NOT_BACK))
    h->array = Py_NewRef(arg);
  bool is_record = !PyObject_TypeCheck(arg, (PyTypeObject *)a->st->np_ndarray);
  h->staging = is_record               ? Py_NewRef(arg)
               : same && same->staging ? Py_NewRef(same->staging)
                                       : contiguous(a, arg);
  if (!h->staging || px_held_view(a, h, h->staging, elem) < 0)
    return -1;
  PxToken token = px_held_token(a, h, elem, 0); /* the copy is aligned */
  if (same) {
    h->in_place = true; /* the first one owns the memory */
    same->apart |= a->way != 0;
    h->low = same->low, h->high = same->high, h->gaps = same->gaps, h->apart = same->apart;
    return px_held_leaf(a, h, token, same->address);
  }
  RtStatus status;
  a->follow.on_default = true;
  Py_BEGIN_ALLOW_THREADS
  status = rt_alloc(a->device, h->bytes, a->stream, &h->address);
  if (status == RT_OK && h->bytes && !(a->way & PX_WAY_NOT_TO))
    status = rt_copy_to_device(a->device, h->address, h->view.buf, h->bytes, a->stream);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(a->st, status, return -1);
  return px_held_leaf(a, h, token, h->address);
}

static int no_host_array(const PxArgs *a, PyObject *arg) {
  char who[PX_ARGUMENT_NAME];
  PyErr_Format(
      PyExc_RuntimeError,
      "%s is a host array (%.100s), which a launch in a graph cannot take\n"
      "  help: copy it to the device before the capture, with cuda.to_device(), and pass that",
      px_argument_name(a, a->arg, who), Py_TYPE(arg)->tp_name);
  return -1;
}

static int add_numpy_array(PxArgs *a, PyObject *arg) {
  PxElem elem = element_type(a, arg);
  if (elem == PX_NO_ELEM || ((a->captured || px_capturing()) && no_host_array(a, arg) < 0))
    return -1;
  PxHeld *h = px_hold(a);
  if (!h)
    return -1;
  if (!a->on_host)
    return add_array_copy(a, h, arg, elem);
  if (!(a->way & PX_WAY_NOT_BACK))
    return add_array_in_place(a, h, arg, elem);
  PyObject *copy = PyObject_CallMethod(arg, "copy", NULL); /* which the view keeps */
  int failed = copy ? add_array_in_place(a, h, copy, elem) : -1;
  Py_XDECREF(copy);
  return failed;
}

/* --- arrays of other libraries --- */

enum { MAX_DEPTH = 32 };

static int check_foreign(PxArgs *a, PyObject *arg, const PxForeign *f) {
  if (f->elem == PX_NO_ELEM)
    return unsupported_dtype(a, f->dtype);
  if (f->device == rt_device_ordinal(a->device) || f->device == PX_ANYWHERE)
    return 0;
  char who[PX_ARGUMENT_NAME];
  return px_foreign_check(f, a->device, arg, px_argument_name(a, a->arg, who));
}

/* Takes f->keeper. */
static int64_t *foreign_dims(PxArgs *a, PxForeign *f) {
  if (!f->keeper && a->ndims + 2 * f->ndim <= PX_INLINE_DIMS) {
    int64_t *dims = a->dims0 + a->ndims;
    a->ndims += 2 * f->ndim;
    return dims;
  }
  PxHeld *h = px_hold(a);
  if (!h)
    return NULL;
  h->in_place = true;
  h->keeper = f->keeper;
  f->keeper = NULL;
  _Static_assert(offsetof(PxHeld, strides) == offsetof(PxHeld, shape) + sizeof h->shape,
                 "dims lie in one piece");
  return h->shape;
}

/* Clears f. */
static int add_foreign(PxArgs *a, PyObject *arg, PxForeign *f) {
  int64_t *dims = check_foreign(a, arg, f) < 0 ? NULL : foreign_dims(a, f);
  PxLeaf *leaf = NULL;
  if (dims) {
    memcpy(dims, f->shape, sizeof *dims * f->ndim);
    memcpy(dims + f->ndim, f->strides, sizeof *dims * f->ndim);
    leaf = add_leaf(a, px_token_of(a->st, f->elem,
                                   &(PxPlace){f->address, f->ndim, f->itemsize, dims,
                                              dims + f->ndim, a->on_host}));
  }
  if (leaf) {
    leaf->u.array.address = f->address;
    leaf->u.array.shape = dims;
    leaf->u.array.strides = dims + f->ndim;
    leaf->readonly = f->readonly;
    a->any_readonly |= f->readonly;
  }
  px_foreign_clear(f);
  if (!leaf)
    return -1;
  return f->has_stream && !a->on_host ? px_follow_handle(&a->follow, f->stream) : 0;
}

static int add_source(PxArgs *a, PyObject *arg, const PxSource *source) {
  PxForeign f;
  if (px_source_read(a->st, source, arg, &f) < 0 || add_foreign(a, arg, &f) < 0)
    return -1;
  return a->on_host ? 0 : px_follow_source(&a->follow, source);
}

/* What only exports a buffer, or NumPy's interface, is host memory: it goes as NumPy's view of
 * it. */
static int add_host_memory(PxArgs *a, PyObject *arg, bool *is) {
  *is = false;
  if (PyBytes_Check(arg) || PyUnicode_Check(arg) || PyType_Check(arg) || px_is_c_address(arg))
    return 0;
  PyObject *interface =
      PyObject_CheckBuffer(arg) ? NULL : px_getattr_optional(arg, a->st->name.__array_interface__);
  *is = interface || PyObject_CheckBuffer(arg);
  Py_XDECREF(interface);
  if (!*is)
    return PyErr_Occurred() ? -1 : 0;
  PyObject *array = px_need_numpy(a->st) < 0 ? NULL : px_call_method(a->st->numpy, "asarray", arg);
  int failed = array ? add_numpy_array(a, array) : -1;
  Py_XDECREF(array); /* what holds its memory is held */
  return failed;
}

static int add_argument(PxArgs *a, PyObject *arg);

/* What it holds: an array of NumPy, or of another library. */
static int add_wrapped(PxArgs *a, PyObject *arg) {
  if (a->depth == MAX_DEPTH)
    return unsupported(a, arg, ": it wraps itself");
  PyObject *data = PyObject_GetAttr(arg, a->st->name.data);
  a->depth++;
  int failed = !data || px_args_keep(a, data) < 0 || add_argument(a, data) < 0 ? -1 : 0;
  a->depth--;
  Py_XDECREF(data);
  return failed;
}

static int add_labelled(PxArgs *a, PyObject *arg) {
  PyObject *array = px_labelled_values(a->st, arg);
  int failed = array ? add_numpy_array(a, array) : -1;
  if (!failed && a->leaves[a->nleaves - 1].readonly)
    a->leaves[a->nleaves - 1].readonly = PX_LABELLED;
  Py_XDECREF(array); /* what holds its memory is held */
  return failed;
}

/* An array of another library whose type was not seen before, or that needs Python code to be
 * read. */
static int add_any_array(PxArgs *a, PyObject *arg, bool *is) {
  const PxSource *source = PyType_Check(arg) ? NULL : px_source_of(a->st, Py_TYPE(arg));
  *is = true;
  if (source)
    return add_source(a, arg, source);
  PxForeign f;
  int found = PyErr_Occurred()
                  ? -1
                  : px_foreign_of(a->st, arg, a->stream ? rt_stream_handle(a->stream) : 0, &f);
  if (found)
    return found < 0 ? -1 : (a->follow.on_default |= f.keeper != NULL, add_foreign(a, arg, &f));
  if (px_is_of_xarray(arg))
    return add_wrapped(a, arg);
  if (px_is_of_pandas(arg))
    return add_labelled(a, arg);
  return add_host_memory(a, arg, is);
}

/* --- the rest --- */

static int add_tuple(PxArgs *a, PyObject *arg) {
  Py_ssize_t n = PyTuple_GET_SIZE(arg);
  if (n > TY_MAX_TUPLE || a->depth == MAX_DEPTH)
    return unsupported(a, arg, ": it is too large or nested too deep; pass an array");
  int named = PyTuple_CheckExact(arg) ? PX_NO_NAMES : px_named_of(a->st, arg);
  if (named < 0 || add_token(a, PX_TUPLE_TOKEN | (PxToken)n | (PxToken)named << PX_NAMED_SHIFT) < 0)
    return -1;
  a->depth++;
  for (Py_ssize_t i = 0; i < n; i++) {
    uint32_t number = a->arg;
    if (px_args_add(a, PyTuple_GET_ITEM(arg, i)) < 0)
      return -1;
    a->arg = number;
  }
  a->depth--;
  return 0;
}

/* A member of an Enum, by its number. */
static int add_member(PxArgs *a, PyObject *arg) {
  int number = px_enum_of(a->st, (PyObject *)Py_TYPE(arg));
  PyObject *order = number >= 0 ? PyObject_GetAttr(arg, a->st->name._sort_order_) : NULL;
  long long index = order ? PyLong_AsLongLong(order) : -1;
  Py_XDECREF(order);
  if (order && index < 0 && !PyErr_Occurred())
    return unsupported(a, arg, ": its _sort_order_ was changed");
  PxLeaf *leaf = index < 0 ? NULL : add_leaf(a, PX_ENUM_TOKEN | (PxToken)number);
  if (!leaf)
    return -1;
  leaf->u.i = index;
  return 0;
}

/* A Flag or the like stands for its value, if that is a number. */
static int add_enum(PxArgs *a, PyObject *arg, bool *is_enum) {
  *is_enum = px_is_enum(a->st, (PyObject *)Py_TYPE(arg));
  if (!*is_enum)
    return 0;
  if (px_enum_has_identity(a->st, Py_TYPE(arg)))
    return add_member(a, arg);
  PyObject *value = PyObject_GetAttr(arg, a->st->name.value);
  if (!value)
    return -1;
  int failed = PyLong_Check(value) || PyFloat_Check(value) ? px_args_add(a, value)
                                                           : unsupported(a, arg, "");
  Py_DECREF(value);
  return failed;
}

static const char *hint(PyObject *arg) {
  if (px_is_tracer(arg))
    return ": " PX_TRACER_HELP;
  if (px_is_c_address(arg))
    return ": pass the address as an int, x.ctypes.data or "
           "ctypes.cast(p, ctypes.c_void_p).value, to a types.CPointer";
  if (PyList_Check(arg))
    return ": pass np.array(x), or a tuple";
  if (PyDict_Check(arg))
    return ": pass its values one by one, or an array";
  if (PyType_Check(arg) || PyFunction_Check(arg) || PyCFunction_Check(arg) || PyModule_Check(arg) ||
      !strncmp(Py_TYPE(arg)->tp_name, "pyptx.", 6))
    return ": make it a global or a closure value of the kernel";
  if (PyRange_Check(arg) || PySlice_Check(arg))
    return ": pass its numbers";
  if (PyAnySet_Check(arg))
    return ": pass np.array(sorted(x))";
  if (PyUnicode_Check(arg) || PyBytes_Check(arg))
    return ": pass a number, or select on the host";
  if (!strncmp(Py_TYPE(arg)->tp_name, "datetime.", 9))
    return ": pass np.datetime64(x) or np.timedelta64(x)";
  if (PyObject_CheckBuffer(arg) || PyObject_HasAttrString(arg, "__array__"))
    return ": pass np.asarray(x)";
  if (PyObject_HasAttrString(arg, "__float__")) /* Decimal, Fraction */
    return ": pass float(x)";
  return ": pass its numbers and arrays one by one, or make its class a typing.NamedTuple";
}

int px_args_keep(PxArgs *a, PyObject *value) {
  PxHeld *h = px_hold(a);
  if (!h)
    return -1;
  h->in_place = true;
  h->keeper = Py_NewRef(value);
  return 0;
}

/* An array of a class of its own may lie in memory that the GPU reaches (mapped_array). */
static int add_array_subclass(PxArgs *a, PyObject *arg) {
  bool exact = Py_IS_TYPE(arg, (PyTypeObject *)a->st->np_ndarray);
  if (!exact && px_is_masked(arg))
    return unsupported(a, arg,
                       ", as its mask would be lost: pass x.filled(value), or x.data and x.mask");
  bool plain = a->on_host || exact;
  PyObject *interface = plain ? NULL
                              : px_getattr_optional(arg, a->st->name.__cuda_array_interface__);
  PxForeign f;
  if (!interface)
    return PyErr_Occurred() ? -1 : add_numpy_array(a, arg);
  int failed = px_foreign_read(a->st, interface, &f);
  Py_DECREF(interface);
  f.device = PX_ANYWHERE;
  return failed < 0 ? -1 : add_foreign(a, arg, &f);
}

/* cuda.In, Out, InOut: an argument that says which copies it needs. */
static int add_hint(PxArgs *a, PyObject *arg, PyObject *way) {
  int to, back;
  if (!PyArg_ParseTuple(way, "pp", &to, &back))
    return -1;
  if (a->depth == MAX_DEPTH)
    return unsupported(a, arg, ": it stands for itself");
  PyObject *value = PyObject_GetAttr(arg, a->st->name.value);
  /* it may be made anew each time that it is asked for */
  int kept = value ? px_args_keep(a, value) : -1;
  Py_XDECREF(value);
  if (kept < 0)
    return -1;
  a->depth++;
  a->way = (uint8_t)((to ? 0 : PX_WAY_NOT_TO) | (back ? 0 : PX_WAY_NOT_BACK));
  uint32_t number = a->arg;
  int failed = px_args_add(a, value);
  a->arg = number;
  a->way = 0;
  a->depth--;
  return failed;
}

static int add_slow(PxArgs *a, PyObject *arg) {
  const PxSource *source = px_source_find(a->st, Py_TYPE(arg));
  if (source)
    return add_source(a, arg, source);
  if (PyTuple_Check(arg))
    return add_tuple(a, arg);
  if (px_have_numpy(a->st)) {
    int is = PyObject_IsInstance(arg, a->st->np_ndarray);
    if (is)
      return is < 0 ? -1 : add_array_subclass(a, arg);
    is = PyObject_IsInstance(arg, a->st->np_generic);
    if (is)
      return is < 0 ? -1 : add_numpy_scalar(a, arg);
  }
  if (arg == Py_None)
    return add_leaf(a, TY_NONE) ? 0 : -1;
  if (PyLong_Check(arg))
    return add_int(a, arg);
  if (PyFloat_Check(arg))
    return add_float(a, PyFloat_AsDouble(arg));
  if (PyComplex_Check(arg))
    return add_complex(a, arg);
  if (px_enum_known(a->st, Py_TYPE(arg)) >= 0)
    return add_member(a, arg);
  bool is;
  int failed = add_any_array(a, arg, &is);
  if (is || failed)
    return failed;
  PyObject *way = px_getattr_optional(arg, a->st->name.__pyptx_way__);
  if (way && PyTuple_Check(way)) {
    int added = add_hint(a, arg, way);
    Py_DECREF(way);
    return added;
  }
  Py_XDECREF(way);
  if (PyErr_Occurred())
    return -1;
  bool is_enum;
  failed = add_enum(a, arg, &is_enum);
  return is_enum ? failed : unsupported(a, arg, hint(arg));
}

static int add_argument(PxArgs *a, PyObject *arg) {
  PyTypeObject *type = Py_TYPE(arg);
  if (type == a->st->array_type)
    return add_device_array(a, (PxArray *)arg);
  if (type == &PyLong_Type)
    return add_int(a, arg);
  if (type == &PyFloat_Type)
    return add_float(a, PyFloat_AS_DOUBLE(arg));
  if (type == &PyBool_Type)
    return add_bool(a, arg == Py_True);
  return add_slow(a, arg);
}

/* One leaf for each token that is no tuple, and as many tokens as the tuples say. */
static __attribute__((unused)) bool is_whole(const PxArgs *a) {
  uint32_t leaves = 0, left = 0;
  for (uint32_t i = 0; i < a->ntokens; i++) {
    bool tuple = px_token_is_tuple(a->tokens[i]);
    left += !left;
    left += (tuple ? px_token_items(a->tokens[i]) : 0) - 1;
    if (!tuple &&
        (leaves == a->nleaves || px_token_plain(a->leaves[leaves++].token) != a->tokens[i]))
      return false;
  }
  return !left && leaves == a->nleaves && a->ndims <= PX_INLINE_DIMS;
}

int px_args_add(PxArgs *a, PyObject *arg) {
  if (add_argument(a, arg) < 0) {
    assert(PyErr_Occurred());
    return -1;
  }
  assert(a->depth || is_whole(a)); /* the items of a tuple come through here too */
  a->arg++;
  return 0;
}

/* The one place that says where narrow versions are used: on GPUs. (The host's lanes are as wide as
 * their widest value, which is a float's or an index's that codegen/lanes narrows by itself.) A
 * captured launch may be given other numbers, and so takes the wide version. */
void px_args_choose_narrow(PxArgs *a) {
  bool narrow = !a->on_host && !a->wide && a->ntokens && (a->captured || !px_capturing());
  for (uint32_t i = 0; narrow && i < a->nleaves; i++)
    narrow = !px_token_is_long(a->leaves[i].token) &&
             !px_is_large(a->leaves[i].token, a->leaves[i].u.i);
  if (narrow)
    a->tokens[0] |= PX_NARROW_TOKEN;
}
