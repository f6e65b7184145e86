/* Together: see together.h. A GPU's kernel works on copies of NumPy arrays. With a copy of its own
 * for each of two arrays that overlap (u[1:] and u[:-1], a matrix and its interior), a store to one
 * would not be seen through the other, and the second to be copied back would undo what the first
 * one brought. So the bytes from the first to the last of such arrays become one block on the
 * device, in which each lies as it does on the host. What lies between their elements is of the
 * same array on the host, whose views they are: it is copied along, and not back. */
#include "pyext/launch/together.h"

#include "pyext/compile/dispatcher.h"
#include "pyext/compile/type.h"
#include "pyext/launch/timeouts.h"
#include "pyext/raise.h"
#include "runtime/memory/memory.h"

/* Of a NumPy array that is not empty; else from 0 to 0. */
static void span_of(const Py_buffer *v, uintptr_t *low, uintptr_t *high) {
  *low = (uintptr_t)v->buf;
  *high = *low + (size_t)v->itemsize;
  for (int i = 0; i < v->ndim; i++) {
    if (!v->shape[i]) {
      *low = *high = 0;
      return;
    }
    Py_ssize_t reach = (v->shape[i] - 1) * v->strides[i];
    if (reach < 0)
      *low += (uintptr_t)reach;
    else
      *high += (uintptr_t)reach;
  }
}

/* Kernels that were declared for contiguous arrays, and those of modules, which know of no strides,
 * take copies without gaps. */
static bool takes_gaps(const PxArgs *a, const PxHeld *h) {
  const PxDispatcher *d = a->callee;
  for (uint32_t i = 0; d && i < d->nsignatures; i++) {
    const PxSignature *s = &d->signatures[i];
    if (h->token >= s->n || !px_token_is_array(s->tokens[h->token]) ||
        px_token_layout(s->tokens[h->token]) != LAYOUT_A)
      return false;
  }
  return d;
}

/* The elements of one may lie between those of the other (two fields of records, every second
 * element). NumPy looks; what takes long to find out counts as shared. */
static int share_elements(PxArgs *a, PyObject *x, PyObject *y) {
  PyTypeObject *array = (PyTypeObject *)a->st->np_ndarray;
  if (!PyObject_TypeCheck(x, array) || !PyObject_TypeCheck(y, array))
    return 1; /* one record, which NumPy would copy */
  PyObject *answer = PyObject_CallMethod(a->st->numpy, "shares_memory", "OOi", x, y, 10000);
  if (!answer && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
    PyErr_Clear();
    return 1;
  }
  int shared = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return shared;
}

static int shares(PxArgs *a, const PxHeld *h, PyObject *arg, const PxHeld *o) {
  if (!o->array || o->apart || h->low >= o->high || o->low >= h->high)
    return 0;
  if (!h->gaps && !o->gaps)
    return 1;
  if ((h->gaps && !takes_gaps(a, h)) || (o->gaps && !takes_gaps(a, o)))
    return 0;
  return share_elements(a, arg, o->array);
}

static PxHeld *new_block(PxArgs *a, uintptr_t low, uintptr_t high) {
  PxHeld *b = px_hold(a);
  if (!b)
    return NULL;
  b->low = low;
  b->high = high;
  b->bytes = high - low;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_alloc(a->device, b->bytes, a->stream, &b->address);
  if (status == RT_OK)
    status = rt_copy_to_device(a->device, b->address, (const void *)low, b->bytes, a->stream);
  Py_END_ALLOW_THREADS
  PX_TRY_STATUS(a->st, status, return NULL);
  return b;
}

/* As it lies on the host, in the block. */
static int place(PxArgs *a, PxHeld *h, const PxHeld *block) {
  if (h->has_view)
    PyBuffer_Release(&h->view);
  h->has_view = false;
  if (h->address && !h->in_place)
    rt_free(a->device, h->address, h->bytes, a->stream);
  h->in_place = true;
  h->address = 0;
  Py_XSETREF(h->staging, Py_NewRef(h->array));
  if (px_held_view(a, h, h->array, h->elem) < 0)
    return -1;
  h->block = block;
  h->address = block->address + ((uintptr_t)h->view.buf - block->low);
  return 0;
}

/* One that has been added: its leaf moves along. */
static int move(PxArgs *a, PxHeld *h, const PxHeld *block) {
  if (place(a, h, block) < 0)
    return -1;
  PxLeaf *leaf = &a->leaves[h->leaf];
  leaf->u.array.address = h->address;
  leaf->token = px_held_token(a, h, h->elem, h->address);
  a->tokens[h->token] = px_token_plain(leaf->token);
  return 0;
}

/* The array's place on the host. */
static int look(PxArgs *a, PxHeld *h, PyObject *arg) {
  Py_buffer view;
  if (px_get_elements(a->st, arg, &view, PyBUF_STRIDES, h->elem) < 0)
    return -1;
  span_of(&view, &h->low, &h->high);
  h->gaps = !PyBuffer_IsContiguous(&view, 'C');
  PyBuffer_Release(&view);
  h->apart = a->way || h->low == h->high; /* cuda.In and cuda.Out say what they mean */
  return 0;
}

/* Marks those that share elements with the array, and what lies in one block with them: how many.
 * low and high become the ends of them all. */
static int mark(PxArgs *a, const PxHeld *h, PyObject *arg, uintptr_t *low, uintptr_t *high) {
  int marked = 0;
  for (PxHeld *o = a->held; o; o = o->next) {
    int shared = o == h || h->apart ? 0 : shares(a, h, arg, o);
    if (shared < 0)
      return -1;
    o->moves = shared;
    marked += shared;
    uintptr_t from = o->block ? o->block->low : o->low, to = o->block ? o->block->high : o->high;
    *low = shared && from < *low ? from : *low;
    *high = shared && to > *high ? to : *high;
  }
  for (PxHeld *o = a->held; o; o = o->next)
    for (PxHeld *k = a->held; o->moves && o->block && k; k = k->next)
      k->moves |= k->block == o->block;
  return marked;
}

int px_add_together(PxArgs *a, PxHeld *h, PyObject *arg) {
  if (look(a, h, arg) < 0)
    return -1;
  uintptr_t low = h->low, high = h->high;
  int marked = mark(a, h, arg, &low, &high);
  if (marked <= 0)
    return marked;
  const PxHeld *block = NULL;
  for (const PxHeld *o = a->held; o && !block; o = o->next)
    if (o->moves && o->block && o->block->low <= low && high <= o->block->high)
      block = o->block;
  if (!block && !(block = new_block(a, low, high)))
    return -1;
  for (PxHeld *o = a->held; o; o = o->next)
    if (o->moves && o->block != block && move(a, o, block) < 0)
      return -1;
  h->array = Py_NewRef(arg);
  a->follow.on_default = true;
  if (place(a, h, block) < 0)
    return -1;
  return px_held_leaf(a, h, px_held_token(a, h, h->elem, h->address), h->address) < 0 ? -1 : 1;
}

/* --- back --- */

bool px_has_gaps(const PxHeld *h) { return h->block && h->gaps; }

/* The elements of the array, in bytes that lie as its own do. */
static PyObject *as_array(PxArgs *a, const PxHeld *h, PyObject *bytes) {
  PyObject *shape = PyObject_GetAttrString(h->array, "shape");
  PyObject *strides = shape ? PyObject_GetAttrString(h->array, "strides") : NULL;
  PyObject *dtype = strides ? PyObject_GetAttr(h->array, a->st->name.dtype) : NULL;
  PyObject *made = dtype ? PyObject_CallFunction(a->st->np_ndarray, "OOOnO", shape, dtype, bytes,
                                                 (Py_ssize_t)((uintptr_t)h->view.buf - h->low),
                                                 strides)
                         : NULL;
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  Py_XDECREF(dtype);
  return made;
}

int px_copy_back_gaps(PxArgs *a, PxHeld *h) {
  PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(h->high - h->low));
  if (!bytes || px_await_timed(a->st, a->device, a->stream) < 0) {
    Py_XDECREF(bytes);
    return -1;
  }
  void *to = PyByteArray_AS_STRING(bytes);
  uint64_t from = h->block->address + (h->low - h->block->low);
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_copy_to_host(a->device, to, from, h->high - h->low, a->stream);
  if (status == RT_OK && a->stream)
    status = rt_stream_synchronize(a->device, a->stream);
  Py_END_ALLOW_THREADS
  PyObject *back = NULL;
  if (status == RT_OK)
    back = as_array(a, h, bytes);
  else
    px_raise_status(a->st, status);
  int failed = back ? PyObject_SetItem(h->array, Py_Ellipsis, back) : -1;
  Py_XDECREF(back);
  Py_DECREF(bytes);
  return failed;
}
