/* Advice about launches: see advice.h. The place of a remark is the line of the program that
 * launches; code of pyptx between it and the launch is passed over, and of kernels that pyptx
 * launches for itself (ufuncs, reductions) nothing is said that their user cannot change. */
#include "pyext/launch/advice.h"

#include <stdlib.h>
#include <string.h>

#include "pyext/compile/dispatcher.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"

enum {
  MANY_BLOCKS = 1024, /* fewer leave a GPU's multiprocessors room for whatever a block wastes */
  MANY_COPIES = 10,   /* a loop */
};

/* --- the line that launches --- */

typedef struct Caller {
  PyFrameObject *frame;
  PyObject *globals, *code;
} Caller;

static void caller_clear(Caller *c) {
  Py_CLEAR(c->frame);
  Py_CLEAR(c->globals);
  Py_CLEAR(c->code);
}

static PyObject *module_of(const Caller *c, PxState *st) { /* borrowed, or NULL */
  PyObject *name = c->globals ? PyDict_GetItemWithError(c->globals, st->name.__name__) : NULL;
  PyErr_Clear();
  return name && PyUnicode_Check(name) ? name : NULL;
}

static bool is_in(const Caller *c, PxState *st, const char *module) {
  PyObject *name = module_of(c, st);
  const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
  PyErr_Clear();
  return text && !strncmp(text, module, strlen(module));
}

/* Of a new reference to a frame, which may be NULL. */
static Caller caller_at(PyFrameObject *frame) {
  Caller c = {.frame = frame};
  if (frame) {
    c.globals = PyFrame_GetGlobals(frame);
    c.code = (PyObject *)PyFrame_GetCode(frame);
  }
  return c;
}

/* The innermost frame outside of pyptx. own: pyptx launches a kernel of its own making. */
static Caller find_caller(PxState *st, bool *own) {
  Caller c = caller_at((PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame()));
  *own = is_in(&c, st, "pyptx.") && !is_in(&c, st, "pyptx.cuda._kernels");
  while (c.frame && is_in(&c, st, "pyptx.")) {
    PyFrameObject *back = PyFrame_GetBack(c.frame);
    caller_clear(&c);
    c = caller_at(back);
  }
  return c;
}

static const char *text_of(PyObject *code, const char *name, PyObject **keep) {
  *keep = code ? PyObject_GetAttrString(code, name) : NULL;
  const char *text = *keep && PyUnicode_Check(*keep) ? PyUnicode_AsUTF8(*keep) : NULL;
  PyErr_Clear();
  return text;
}

static void set_place(DiagPlace *at, const Caller *c) {
  int line = 0, end_line = 0, col = -1, end_col = -1;
  if (!c->frame || !PyCode_Addr2Location((PyCodeObject *)c->code, PyFrame_GetLasti(c->frame), &line,
                                         &col, &end_line, &end_col))
    line = c->frame ? PyFrame_GetLineNumber(c->frame) : 0;
  at->line = line;
  at->end_line = end_line > 0 ? end_line : line;
  at->col = col < 0 ? 0 : col;
  at->end_col = col < 0 || end_col < 0 ? 0 : end_col;
}

/* about: which kernel, or NULL. cause: a place in the kernel, with what it is; may be NULL. */
static int advise(PxState *st, const Caller *c, ErrorId id, const char *about,
                  const DiagPlace *cause, char *what, ...) {
  char message[768];
  va_list ap;
  va_start(ap, what);
  vsnprintf(message, sizeof message, ir_errors[id].message, ap);
  va_end(ap);
  PyObject *file, *function;
  Diag d = {.id = id, .message = message, .remedy = (char *)(uintptr_t)ir_errors[id].remedy};
  set_place(&d.at, c);
  d.at.file = text_of(c->code, "co_filename", &file);
  d.at.function = text_of(c->code, "co_qualname", &function);
  if (cause) {
    d.notes[0].at = *cause;
    d.notes[0].text = what;
    d.nnotes = 1;
  }
  PyObject *module = module_of(c, st);
  int failed = px_show_one_advice(st, &d, about, module ? module : Py_None, id == ERR_NO_GPU);
  Py_XDECREF(file);
  Py_XDECREF(function);
  return failed;
}

static const char *kernel_name(const PxDispatcher *d) {
  const char *text = PyUnicode_AsUTF8(((PyFunctionObject *)d->function)->func_qualname);
  PyErr_Clear();
  return text ? text : "the kernel";
}

/* --- grids smaller than what they are for --- */

static int64_t bound_of(const CgKernel *code, const CgGuard *g, const char *block) {
  const RtField *f = &code->params.fields[g->field];
  int64_t wide = 0;
  int32_t narrow;
  memcpy(&narrow, block + f->offset, sizeof narrow);
  if (f->size == 8)
    memcpy(&wide, block + f->offset, sizeof wide);
  return f->size == 8 ? wide : narrow;
}

/* The guard with the smallest bound along its axis, if that is beyond the grid: several guards of
 * one axis let pass what all of them do. */
static const CgGuard *violated(const CgKernel *code, const RtConfig *c, const char *block) {
  for (unsigned axis = 0; axis < 3; axis++) {
    const CgGuard *least = NULL;
    for (uint32_t k = 0; k < code->nguards; k++) {
      const CgGuard *g = &code->guards[k];
      if (g->axis == axis && (!least || bound_of(code, g, block) < bound_of(code, least, block)))
        least = g;
    }
    if (least && bound_of(code, least, block) > (int64_t)c->grid[axis] * c->block[axis])
      return least;
  }
  return NULL;
}

int px_advise_grid(PxState *st, PxOverload *o, const RtConfig *c, const char *block) {
  const CgGuard *g = o->told ? NULL : violated(o->code, c, block);
  if (!g)
    return 0;
  static const char *const axes[] = {"x", "y", "z"};
  char what[256];
  long long bound = bound_of(o->code, g, block);
  unsigned long long threads = (unsigned long long)c->grid[g->axis] * c->block[g->axis];
  if (g->extent)
    snprintf(what, sizeof what, "'%.150s' has %lld elements along axis %d", g->name, bound,
             (int)o->code->params.fields[g->field].axis);
  else
    snprintf(what, sizeof what, "'%.150s' is %lld", g->name, bound);
  bool own;
  Caller caller = find_caller(st, &own);
  int failed = own ? 0
                   : advise(st, &caller, ERR_GRID_SMALL, g->at.function, &g->at,
                            "what the kernel guards", threads, axes[g->axis], what, threads);
  caller_clear(&caller);
  o->told = !failed;
  return failed;
}

/* --- blocks --- */

int px_advise_block(PxState *st, PxDispatcher *d, const RtConfig *c) {
  unsigned threads = c->block[0] * c->block[1] * c->block[2];
  unsigned long long blocks = (unsigned long long)c->grid[0] * c->grid[1] * c->grid[2];
  if (d->told_block || blocks < MANY_BLOCKS || threads > 1024)
    return 0;
  RtDevice *device = px_current_device(st);
  PyErr_Clear(); /* the launch raises it */
  if (!device || rt_device_is_host(device))
    return 0;
  bool own;
  Caller caller = find_caller(st, &own);
  int failed = own ? 0
                   : advise(st, &caller, threads < 32 ? ERR_BLOCK_SMALL : ERR_BLOCK_ODD,
                            kernel_name(d), NULL, NULL, blocks, threads, 32 - threads % 32);
  caller_clear(&caller);
  d->told_block = !failed;
  return failed;
}

/* --- copies --- */

/* Of this launch, the bytes of arrays that the launch before copied too. Their addresses are
 * compared and nothing else: an array that came to the place of another costs as much. */
static uint64_t copied_again(PxCopies *copies, const PxArgs *a) {
  const PyObject *now[PX_COPIES] = {NULL};
  unsigned n = 0;
  uint64_t bytes = 0;
  for (const PxHeld *h = a->held; h; h = h->next) {
    if (!h->array || h->in_place)
      continue;
    for (unsigned k = 0; k < PX_COPIES; k++)
      bytes += copies->last[k] == h->array ? h->bytes : 0;
    if (n < PX_COPIES)
      now[n++] = h->array;
  }
  memcpy(copies->last, now, sizeof now);
  return bytes;
}

static const char *size_text(uint64_t bytes, char text[32]) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  double v = (double)bytes;
  unsigned k = 0;
  for (; v >= 1000 && k + 1 < sizeof units / sizeof *units; k++)
    v /= 1000;
  snprintf(text, 32, k && v < 100 ? "%.1f %s" : "%.0f %s", v, units[k]);
  return text;
}

int px_advise_copies(PxState *st, PxDispatcher *d, const PxArgs *a) {
  bool many;
  uint64_t all;
  PX_BEGIN_LOCKED(d)
  uint64_t bytes = copied_again(&d->copies, a);
  d->copies.launches += bytes != 0;
  all = d->copies.bytes += bytes;
  many = bytes && d->copies.launches >= MANY_COPIES && !d->copies.told;
  PX_END_LOCKED()
  if (!many)
    return 0;
  bool own;
  char size[32];
  Caller caller = find_caller(st, &own);
  int failed = own ? 0
                   : advise(st, &caller, ERR_COPIED, kernel_name(d), NULL, NULL,
                            (unsigned)MANY_COPIES, kernel_name(d), size_text(all, size));
  caller_clear(&caller);
  d->copies.told = !failed;
  return failed;
}

/* --- captured names --- */

int px_advise_stale(PxState *st, PxDispatcher *d, PyObject *name) {
  bool own;
  Caller caller = find_caller(st, &own);
  const char *text = PyUnicode_AsUTF8(name);
  PyErr_Clear();
  int failed = advise(st, &caller, ERR_STALE, NULL, NULL, NULL, text ? text : "?", kernel_name(d));
  caller_clear(&caller);
  return failed;
}

/* --- no GPU --- */

int px_advise_host(PxState *st) {
  if (st->said_host)
    return 0;
  bool own;
  Caller caller = find_caller(st, &own);
  int failed = advise(st, &caller, ERR_NO_GPU, NULL, NULL, NULL, st->why_host);
  caller_clear(&caller);
  st->said_host = !failed;
  return failed;
}
