/* Plan: see plan.h. Code that a launch runs is kept together and short: beside a driver that has
 * emptied the caches, a launch costs what it reads. */
#include "pyext/launch/plan.h"

#include <stdatomic.h>
#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/array/dlpack.h"
#include "pyext/array/foreign.h"
#include "pyext/array/foreign_types.h"
#include "pyext/compile/coverage.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/record.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/overlap.h"
#include "pyext/launch/scalar.h"
#include "pyext/launch/stream_order.h"
#include "pyext/launch/typeof.h"
#include "pyext/objects/device.h"
#include "pyext/objects/graph.h"
#include "runtime/launch/tensor_map.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a move of 8 bytes moves the low ones of a smaller number");

typedef enum StepKind {
  STEP_ARRAY,  /* our own */
  STEP_OBJECT, /* a number as it lies in the object: Python's floats, NumPy's scalars */
  STEP_INT64,  /* such, an integer of 64 bits */
  STEP_INT,
  STEP_BOOL,
  STEP_CONVERT, /* the same, as the overload declares them */
  STEP_TENSOR,  /* through an exchange table, in C order, narrow and aligned */
  STEP_SOURCE,  /* any array that array/foreign_types.c reads */
} StepKind;

/* Which integers a plan takes. A plan of the wide version leaves to the narrow one what that can
 * take; arrays need no look, since their tokens say whether they are long. Arrays that overlap
 * count as large where the narrow version wants them apart. */
typedef enum PlanSizes { SIZES_ANY, SIZES_SMALL, SIZES_LARGE } PlanSizes;

typedef struct PxStep {
  PyTypeObject *type;        /* of the argument, exactly */
  PxToken token;             /* of arrays: the argument's; CONVERT: the number that is wanted */
  uint8_t kind, nmoves, arg; /* arg: where in the call */
  bool written;
  const PxSource *source; /* TENSOR, SOURCE */
  uint32_t dtype;         /* TENSOR: of DlTensor */
  uint32_t itemsize;      /* of arrays */
  uint8_t ndim, align;    /* TENSOR */
  bool floating;          /* TENSOR: autograd may have something to say */
  uint8_t given;          /* CONVERT: the TypeId of the argument */
} PxStep;

/* 8 bytes at `from` in what the step reads (the array, the number, a PxForeign) go to `to` in the
 * block. Moves are in the order of the block, so the bytes that a smaller field does not have are
 * written over by the next one, or lie behind the last. */
typedef struct PxMove {
  uint16_t from, to;
} PxMove;

typedef struct PxMap { /* a tensor map: RtField's, and where it goes */
  uint64_t map;
  uint16_t to;
} PxMap;

enum { SLACK = 8 };

/* Where a map will be, the moves put what it is made of: behind what a field in front of it may
 * overwrite. */
enum { MAP_ADDRESS = SLACK, MAP_SHAPE = MAP_ADDRESS + 8 };
_Static_assert(MAP_SHAPE + 8 * RT_MAP_AXES <= RT_TENSOR_MAP_BYTES, "a map has room for them");

/* --- filling --- */

/* The same as px_dlpack_read and px_token_of would find, for what most tensors are. */
static inline bool read_tensor(const PxPlan *p, const PxStep *s, PyObject *arg, PxForeign *out) {
  DlTensor t;
  uint32_t dtype;
  if (s->source->tensor_of(arg, &t) != 0)
    return false;
  memcpy(&dtype, &t.dtype, sizeof dtype);
  if (dtype != s->dtype || t.device.type != DL_CUDA || t.device.id != p->ordinal ||
      t.ndim != s->ndim || !t.data || (t.ndim && !t.shape))
    return false;
  int64_t expect = 1;
  bool fits = true;
  for (unsigned i = s->ndim; i-- > 0;) {
    int64_t extent = t.shape[i], stride = t.strides ? t.strides[i] : expect;
    fits &= extent > 0 && (stride == expect || extent == 1);
    fits &= extent <= TY_SMALL;
    out->shape[i] = extent;
    if (__builtin_mul_overflow(expect, extent, &expect))
      return false;
  }
  out->address = (uint64_t)(uintptr_t)t.data + t.byte_offset;
  fits &= expect <= TY_NARROW && !(out->address & (s->align - 1u));
  if (fits && s->floating) /* a single element may be a negation still to be done */
    return expect != 1 && (!s->written || px_source_no_grad(s->source, arg));
  return fits;
}

/* Whatever it is, as the long way reads it. */
static bool read_source(const PxPlan *p, const PxStep *s, PyObject *arg, PxForeign *out) {
  if (px_source_read(p->st, s->source, arg, out) < 0)
    return false;
  bool fits = out->elem != PX_NO_ELEM &&
              (out->device == p->ordinal || out->device == PX_ANYWHERE) && !out->keeper &&
              !(out->readonly && s->written) &&
              px_token_of(p->st, out->elem,
                          &(PxPlace){out->address, out->ndim, out->itemsize, out->shape,
                                     out->strides, p->ordinal == RT_HOST}) == s->token;
  px_foreign_clear(out);
  return fits;
}

static inline bool read_int(PyObject *arg, long long *out) {
  int overflow = 0;
  if (!px_small_int(arg, out))
    *out = PyLong_AsLongLongAndOverflow(arg, &overflow);
  return !overflow;
}

static const char *in_object(PyObject *arg) { return (const char *)arg + sizeof(PyObject); }
_Static_assert(offsetof(PyFloatObject, ob_fval) == sizeof(PyObject),
               "a float is its head and its value");

static bool convert(const PxStep *s, PyObject *arg, char out[16]) {
  long long i = 0;
  const void *value = &i;
  if (PyBool_Check(arg))
    *(char *)&i = arg == Py_True;
  else if (!PyLong_CheckExact(arg))
    value = in_object(arg);
  else if (!read_int(arg, &i))
    return false;
  return px_convert_scalar((TypeId)s->given, value, (TypeId)s->token, out);
}

static inline bool array_fits(uint64_t epoch, const PxStep *s, const PxArray *a) {
  return a->token == s->token && a->epoch == epoch && !(a->readonly & s->written);
}

/* false: the array cannot have such a map, of which the other way tells. */
static __attribute__((noinline)) bool make_maps(const PxPlan *p, char *block) {
  for (const PxMap *m = p->maps, *end = m + p->nmaps; m < end; m++) {
    uint64_t address;
    int64_t shape[RT_MAP_AXES];
    memcpy(&address, block + m->to + MAP_ADDRESS, sizeof address);
    memcpy(shape, block + m->to + MAP_SHAPE, sizeof shape);
    if (rt_tensor_map(m->map, address, shape, block + m->to) != RT_OK)
      return false;
  }
  return true;
}

/* from: what the step has read. */
static __attribute__((noinline)) void add_span(PxSpans *all, const PxStep *s, const void *from) {
  const PxForeign *f = from;
  const PxArray *a = from;
  if (s->kind == STEP_ARRAY)
    px_add_span(all, a->address, a->ndim, a->itemsize, a->dims, a->dims + a->ndim);
  else
    px_add_span(all, f->address, px_token_ndim(s->token), s->itemsize, f->shape,
                px_token_layout(s->token) == LAYOUT_C ? NULL : f->strides);
}

/* false: an argument is none for the plan, or cannot be read, which is an exception. */
PX_HOT static inline bool fill(const PxPlan *p, PyObject *const *argv, char *block) {
  const PxMove *m = p->moves;
  const uint64_t epoch = p->epoch; /* block may be anything to the compiler */
  bool large = false;
  PxSpans spans;
  spans.n = 0;
  spans.overlap = false;
  for (const PxStep *s = p->steps, *end = s + p->nsteps; s < end; s++) {
    PyObject *arg = argv[s->arg];
    const void *from = arg;
    union {
      long long i;
      char bytes[16];
      PxForeign foreign;
    } read;
    if (PX_UNLIKELY(Py_TYPE(arg) != s->type))
      return false;
    switch ((StepKind)s->kind) {
    case STEP_ARRAY:
      if (!array_fits(epoch, s, (const PxArray *)arg))
        return false;
      break;
    case STEP_OBJECT: break;
    case STEP_INT64:
      memcpy(&read.i, in_object(arg), sizeof read.i);
      large |= px_is_large(s->token, read.i);
      break;
    case STEP_INT:
      if (!read_int(arg, &read.i))
        return false;
      large |= px_is_large(TY_I64, read.i);
      from = &read;
      break;
    case STEP_BOOL:
      read.i = arg == Py_True;
      from = &read;
      break;
    case STEP_CONVERT:
      if (!convert(s, arg, read.bytes))
        return false;
      from = &read;
      break;
    case STEP_TENSOR:
      from = &read;
      if (read_tensor(p, s, arg, &read.foreign))
        break;
      /* fall through */
    case STEP_SOURCE:
      if (PyErr_Occurred() || !read_source(p, s, arg, &read.foreign))
        return false;
      from = &read;
      break;
    }
    if (PX_UNLIKELY(p->apart) && px_token_is_array(s->token))
      add_span(&spans, s, from);
    for (const PxMove *last = m + s->nmoves; m < last; m++)
      memcpy(block + m->to, (const char *)from + m->from, 8);
  }
  large |= spans.overlap;
  if (PX_UNLIKELY(p->nmaps != 0) && !make_maps(p, block))
    return false;
  return p->sizes == SIZES_ANY ||
         (large || px_capturing() ? p->sizes == SIZES_LARGE : p->sizes == SIZES_SMALL);
}

static bool same_names(PyObject *a, PyObject *b) {
  Py_ssize_t n = a && b ? PyTuple_GET_SIZE(a) : 0;
  bool same = a && b && n == PyTuple_GET_SIZE(b);
  for (Py_ssize_t i = 0; same && i < n; i++)
    same = PyTuple_GET_ITEM(a, i) == PyTuple_GET_ITEM(b, i);
  return same;
}

/* The names that a call site writes are the same object each time; those of **arguments are the
 * same names, as a rule interned. */
PX_HOT static inline bool is_for(const PxPlan *p, RtDevice *device, Py_ssize_t n,
                                 PyObject *kwnames) {
  return p->npositional == n && p->device == device &&
         atomic_load_explicit(p->resets, memory_order_relaxed) == (uint32_t)p->epoch &&
         (p->kwnames == kwnames || same_names(p->kwnames, kwnames));
}

static __attribute__((noinline)) const PxPlan *fill_by_other(PxDispatcher *d, const PxPlan *tried,
                                                             RtDevice *device,
                                                             PyObject *const *argv, Py_ssize_t n,
                                                             PyObject *kwnames, char *block) {
  for (PxPlan *p = PX_PUBLISHED(d->plans); p && !PyErr_Occurred(); p = p->next) {
    if (p == tried || !is_for(p, device, n, kwnames))
      continue;
    if (fill(p, argv, block)) {
      PX_PUBLISH(d->plan, p);
      return p;
    }
  }
  return NULL;
}

PX_HOT const PxPlan *px_plan_fill(PxDispatcher *d, PyObject *const *argv, Py_ssize_t n,
                                  PyObject *kwnames, char block[PX_PLAN_BYTES]) {
  const PxPlan *p = PX_PUBLISHED(d->plan);
  if (!p)
    return NULL;
  RtDevice *device = px_current_device(p->st);
  if (PX_LIKELY(is_for(p, device, n, kwnames) && fill(p, argv, block)))
    return p;
  return fill_by_other(d, p, device, argv, n, kwnames, block);
}

void px_plan_follow(const PxPlan *p, RtStream *named, PxFollow *f) {
  f->st = p->st;
  f->device = p->device;
  f->named = f->launch = named;
  f->on_default = p->on_default;
  f->theirs_default = false;
  f->nhandles = 0;
  f->nsources = p->nsources;
  memcpy(f->sources, p->sources, sizeof *f->sources * p->nsources);
}

/* --- making --- */

typedef struct Making {
  PxDispatcher *d;
  PxOverload *overload;
  const PxArgs *a;
  PxPlan *plan;
} Making;

/* A scalar of NumPy's own classes, whose value stands behind the head (numpy/arrayscalars.h), as a
 * look at this one confirms. */
static bool is_numpy_scalar(PxState *st, PyObject *arg, PxToken *given) {
  PyTypeObject *type = Py_TYPE(arg);
  if (!px_have_numpy(st) || type->tp_flags & Py_TPFLAGS_HEAPTYPE ||
      !PyType_IsSubtype(type, (PyTypeObject *)st->np_generic))
    return false;
  PyObject *dtype = PyObject_GetAttr(arg, st->name.dtype);
  PxElem elem = dtype ? px_elem_of_dtype(st, dtype) : PX_NO_ELEM;
  Py_XDECREF(dtype);
  Py_buffer view;
  bool is = elem < TY_SCALARS && PyObject_GetBuffer(arg, &view, PyBUF_SIMPLE) == 0;
  if (is) {
    Py_ssize_t bytes = view.len < SLACK ? SLACK : view.len; /* are moved */
    is = type->tp_basicsize >= (Py_ssize_t)sizeof(PyObject) + bytes &&
         !memcmp(in_object(arg), view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
  }
  PyErr_Clear();
  *given = elem;
  return is;
}

/* The kind of a number, and the token that px_args_add gives it; -1: it is none. */
static int number_kind(const Making *m, PyObject *arg, PxToken *given) {
  bool numba = m->a->numba;
  PyTypeObject *t = Py_TYPE(arg);
  if (t == &PyLong_Type) {
    *given = numba ? TY_I64 : TY_PYINT;
    return STEP_INT;
  }
  if (t == &PyBool_Type) {
    *given = numba ? TY_BOOL : TY_PYBOOL;
    return STEP_BOOL;
  }
  *given = numba ? TY_F64 : TY_PYFLOAT;
  return t == &PyFloat_Type || is_numpy_scalar(m->plan->st, arg, given) ? STEP_OBJECT : -1;
}

static void add_source(PxPlan *p, PxStep *s, const PxSource *source) {
  unsigned i = 0;
  s->source = source;
  while (i < p->nsources && p->sources[i] != source)
    i++;
  if (p->ordinal != RT_HOST && i == p->nsources && i < PX_FOLLOWED)
    p->sources[p->nsources++] = source;
}

/* Tensors that read_tensor can tell: all but those that are in another order than C's, wide, out of
 * line, of complex numbers. */
static bool is_plain(const Making *m, const PxStep *s) {
  PxElem elem = px_token_elem(s->token);
  return s->source->tensor_of && m->plan->ordinal != RT_HOST &&
         px_token_layout(s->token) == LAYOUT_C && !px_token_wide(s->token) &&
         !px_token_is_long(s->token) && !px_token_align(s->token) && elem < TY_SCALARS &&
         (TypeKind)ty_scalar_info[elem].kind != KIND_COMPLEX;
}

static bool make_source(Making *m, PxStep *s, PyObject *arg) {
  const PxSource *source = px_source_find(m->plan->st, Py_TYPE(arg));
  if (!source || !px_token_is_array(s->token) || (source->exchange && !source->tensor_of))
    return false;
  s->kind = STEP_SOURCE;
  add_source(m->plan, s, source);
  uint8_t code, bits;
  if (!is_plain(m, s) || !px_dlpack_dtype(px_token_elem(s->token), &code, &bits))
    return true;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype = {code, bits, 1};
  memcpy(&s->dtype, &dtype, sizeof s->dtype);
  s->kind = STEP_TENSOR;
  s->floating = source->autograd &&
                (TypeKind)ty_scalar_info[px_token_elem(s->token)].kind == KIND_FLOAT;
  s->ndim = (uint8_t)px_token_ndim(s->token);
  s->align = (uint8_t)px_elem_align(m->plan->st, px_token_elem(s->token));
  return true;
}

static bool make_step(Making *m, uint32_t leaf, PyObject *arg) {
  PxStep *s = &m->plan->steps[leaf];
  PxToken given;
  int number = number_kind(m, arg, &given);
  s->type = Py_TYPE(arg);
  s->written = leaf < m->overload->code->nargs && m->overload->code->args[leaf].written;
  if (number >= 0) {
    PxToken wanted = px_token_plain(m->overload->signature.tokens[leaf]);
    bool wide = number == STEP_OBJECT && (given == TY_I64 || given == TY_U64);
    s->kind = (uint8_t)(given != wanted ? STEP_CONVERT : wide ? STEP_INT64 : number);
    s->given = (uint8_t)given;
    s->token = wanted;
    /* what is converted is not looked at */
    return wanted < TY_SCALARS && (given == wanted || m->plan->sizes == SIZES_ANY);
  }
  s->token = m->a->leaves[leaf].token;
  if (px_token_is_array(s->token))
    s->itemsize = (uint32_t)px_elem_size(m->plan->st, px_token_elem(s->token));
  if (s->type != m->plan->st->array_type)
    return make_source(m, s, arg);
  s->kind = STEP_ARRAY;
  m->plan->on_default = true;
  return px_token_is_array(s->token);
}

static size_t place_of(const PxStep *s, const RtField *f) {
  bool own = s->kind == STEP_ARRAY;
  size_t shape = own ? offsetof(PxArray, dims) : offsetof(PxForeign, shape);
  size_t strides = own ? shape + sizeof(int64_t) * px_token_ndim(s->token)
                       : offsetof(PxForeign, strides);
  switch ((RtFieldKind)f->kind) {
  case RT_FIELD_POINTER: return own ? offsetof(PxArray, address) : offsetof(PxForeign, address);
  case RT_FIELD_EXTENT32:
  case RT_FIELD_EXTENT64: return shape + sizeof(int64_t) * f->axis;
  case RT_FIELD_STRIDE: return strides + sizeof(int64_t) * f->axis;
  default: return s->kind == STEP_OBJECT || s->kind == STEP_INT64 ? sizeof(PyObject) : 0;
  }
}

static void add_move(PxPlan *p, PxStep *s, size_t from, size_t to) {
  p->moves[p->nmoves++] = (PxMove){(uint16_t)from, (uint16_t)to};
  s->nmoves++;
}

/* The moves of a field, which stand behind those before it. */
static bool make_moves(PxPlan *p, const RtField *f, uint32_t *end) {
  PxStep *s = &p->steps[f->leaf];
  bool array = px_token_is_array(s->token);
  if (array == (f->kind == RT_FIELD_SCALAR) || f->offset < *end)
    return false;
  for (uint32_t k = 0; k < f->size; k += 8)
    add_move(p, s, place_of(s, f) + k, f->offset + k);
  *end = f->offset + f->size;
  return true;
}

/* Of what the map is made. */
static bool make_map(PxPlan *p, const RtField *f) {
  PxStep *s = &p->steps[f->leaf];
  RtField of = {.kind = RT_FIELD_POINTER};
  if (!px_token_is_array(s->token) || s->nmoves > UINT8_MAX - (1 + RT_MAP_AXES))
    return false;
  add_move(p, s, place_of(s, &of), f->offset + MAP_ADDRESS);
  of.kind = RT_FIELD_EXTENT64;
  for (of.axis = 0; of.axis < px_token_ndim(s->token); of.axis++)
    add_move(p, s, place_of(s, &of), f->offset + MAP_SHAPE + sizeof(int64_t) * of.axis);
  p->maps[p->nmaps++] = (PxMap){f->map, (uint16_t)f->offset};
  return true;
}

/* The runtime's own fields are not filled here. */
static bool is_filled(const RtField *f) {
  return f->kind != RT_FIELD_BLOCKS && f->kind != RT_FIELD_TRAP && f->kind != RT_FIELD_GRID;
}

/* Step by step. Maps stand behind all other fields, those stand in the order of the steps. */
static bool make_all_moves(const Making *m) {
  const RtParams *params = &m->overload->code->params;
  const RtField *fields = params->fields, *last = fields + params->nfields;
  uint32_t end = 0;
  for (uint32_t leaf = 0; leaf < m->plan->nsteps; leaf++)
    for (const RtField *f = fields; f < last; f++)
      if (f->leaf == leaf && is_filled(f) &&
          !(f->kind == RT_FIELD_TENSOR_MAP ? make_map(m->plan, f) : make_moves(m->plan, f, &end)))
        return false;
  for (const RtField *f = fields; f < last; f++)
    if (is_filled(f) && f->leaf >= m->plan->nsteps)
      return false;
  return true;
}

/* Where in the call the parameter's value is; -1: nowhere. */
static Py_ssize_t place_in_call(PxDispatcher *d, uint32_t parameter, Py_ssize_t n,
                                PyObject *kwnames) {
  if ((Py_ssize_t)parameter < n)
    return (Py_ssize_t)parameter;
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++)
    if (px_parameter_is(d, parameter, PyTuple_GET_ITEM(kwnames, k)))
      return n + k;
  return -1;
}

static bool make(Making *m, PyObject *const *argv, Py_ssize_t n, PyObject *kwnames) {
  for (uint32_t i = 0; i < m->plan->nsteps; i++) {
    Py_ssize_t at = place_in_call(m->d, i, n, kwnames);
    if (at < 0 || at > UINT8_MAX || !make_step(m, i, argv[at]))
      return false;
    m->plan->steps[i].arg = (uint8_t)at;
  }
  return make_all_moves(m);
}

static void plan_free(PxPlan *p) {
  Py_XDECREF(p->kwnames);
  PyMem_Free(p);
}

static PlanSizes sizes_of(const PxDispatcher *d, const PxOverload *o, const PxArgs *a) {
  if (px_is_narrow(o->signature.tokens, o->signature.n))
    return SIZES_SMALL;
  if (a->overlap)
    return SIZES_LARGE;
  bool large = false, is_long = false;
  for (uint32_t i = 0; i < a->nleaves; i++) {
    is_long |= px_token_is_long(a->leaves[i].token);
    large |= px_is_large(a->leaves[i].token, a->leaves[i].u.i);
  }
  return large && !is_long && !d->nsignatures && !a->on_host ? SIZES_LARGE : SIZES_ANY;
}

static PxPlan *plan_new(PxState *st, PxOverload *o, const PxArgs *a, Py_ssize_t n,
                        PyObject *kwnames) {
  size_t steps = sizeof(PxStep) * a->nleaves, sources = sizeof(PxSource *) * PX_FOLLOWED;
  uint32_t fields = o->code->params.nfields; /* of 16 bytes at most, or of maps */
  size_t maps = sizeof(PxMap) * fields, moves = sizeof(PxMove) * (1 + RT_MAP_AXES) * fields;
  PxPlan *p = PyMem_Calloc(1, sizeof *p + steps + sources + maps + moves);
  if (!p)
    return NULL;
  p->st = st;
  p->device = a->device;
  p->epoch = px_epoch_now(a->device);
  p->resets = rt_device_epoch_place(a->device);
  p->ordinal = rt_device_ordinal(a->device);
  p->overload = o;
  p->kernel = o->kernel;
  p->captures = o->captures.n ? &o->captures : NULL;
  p->nguards = o->nguards;
  memcpy(p->guards, o->guards, sizeof p->guards);
  p->kwnames = Py_XNewRef(kwnames);
  p->npositional = n;
  p->nsteps = (uint16_t)a->nleaves;
  p->apart = o->code->needs_apart || a->overlap;
  p->more = o->code->may_print || px_covers() ||
            ((o->code->has_trap || a->callee->options.timed) && !a->on_host);
  p->steps = (PxStep *)(p + 1);
  p->sources = (const PxSource **)(p->steps + a->nleaves);
  p->maps = (PxMap *)(p->sources + PX_FOLLOWED);
  p->moves = (PxMove *)(p->maps + fields);
  return p;
}

/* Every parameter is given, each is one number or array, and nothing had to be copied or kept. */
static bool is_simple(const PxDispatcher *d, const PxOverload *o, const PxArgs *a) {
  uint32_t all = d->nargs + d->nkwonly;
  return !d->varargs && a->nleaves == all && a->ntokens == all && o->signature.n == all &&
         !a->held && !a->follow.nhandles && all <= UINT8_MAX &&
         o->code->params.bytes + SLACK <= PX_PLAN_BYTES;
}

/* Names that are not interned have a plan that serves nobody: one is enough. */
static bool has_one(const PxDispatcher *d, const PxPlan *fresh) {
  for (const PxPlan *p = d->plans; p; p = p->next) {
    bool same = p->overload == fresh->overload && p->epoch == fresh->epoch &&
                p->npositional == fresh->npositional &&
                !memcmp(p->steps, fresh->steps, sizeof *p->steps * p->nsteps);
    if (same && (p->kwnames == fresh->kwnames ||
                 (p->kwnames && fresh->kwnames &&
                  PyTuple_GET_SIZE(p->kwnames) == PyTuple_GET_SIZE(fresh->kwnames))))
      return true;
  }
  return false;
}

static bool is_full(PxDispatcher *d) {
  unsigned n = 0;
  for (const PxPlan *p = PX_PUBLISHED(d->plans); p; p = p->next)
    n += p->epoch == px_epoch_now(p->device);
  return n >= PX_MAX_PLANS;
}

static bool publish(PxDispatcher *d, PxPlan *fresh) {
  assert(!fresh->next && fresh->kernel == fresh->overload->kernel &&
         fresh->nsources <= PX_FOLLOWED);
  bool taken;
  PX_BEGIN_LOCKED(d)
  taken = !is_full(d) && !has_one(d, fresh);
  if (taken) {
    fresh->next = d->plans;
    PX_PUBLISH(d->plans, fresh);
    PX_PUBLISH(d->plan, fresh);
  }
  PX_END_LOCKED()
  return taken;
}

void px_plan_learn(PxDispatcher *d, PxOverload *o, const PxArgs *a, PyObject *const *argv,
                   Py_ssize_t n, PyObject *kwnames) {
  if (is_full(d))
    return;
  if (kwnames && !PyTuple_GET_SIZE(kwnames))
    kwnames = NULL;
  PxPlan *p = is_simple(d, o, a) ? plan_new(a->st, o, a, n, kwnames) : NULL;
  if (p)
    p->sizes = (uint8_t)sizes_of(d, o, a);
  if (p && (!make(&(Making){d, o, a, p}, argv, n, kwnames) || !publish(d, p)))
    plan_free(p);
}

/* Who walks the list meanwhile may still stand on one of them, and goes on along its link. */
void px_plans_retire(PxDispatcher *d, const PxOverload *o) {
  PX_PUBLISH(d->plan, (PxPlan *)NULL);
  for (PxPlan **at = &d->plans; *at;) {
    PxPlan *p = *at;
    if (p->overload != o) {
      at = &p->next;
      continue;
    }
    PX_PUBLISH(*at, p->next);
    p->next_retired = d->retired;
    d->retired = p;
  }
}

void px_plans_free(PxDispatcher *d) {
  PxPlan *p = d->plans, *retired = d->retired;
  d->plans = d->plan = d->retired = NULL;
  for (PxPlan *next; p; p = next) {
    next = p->next;
    plan_free(p);
  }
  for (PxPlan *next; retired; retired = next) {
    next = retired->next_retired;
    plan_free(retired);
  }
}
