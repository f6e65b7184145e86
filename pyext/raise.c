/* Raise: Diag, RtError and RtTrap become Python exceptions, with the source line fetched only
 * now. */
#include "pyext/raise.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static PyObject *errors_module(PxState *st) { /* borrowed */
  if (!PX_PUBLISHED(st->errors)) {
    PyObject *errors = PyImport_ImportModule("pyptx.errors");
    if (!errors)
      return NULL;
    PX_BEGIN_LOCKED(st->module)
    if (!st->errors)
      PX_PUBLISH(st->errors, Py_NewRef(errors));
    PX_END_LOCKED()
    Py_DECREF(errors);
  }
  return st->errors;
}

PyObject *px_error_class(PxState *st, const char *name) {
  PyObject *errors = errors_module(st);
  return errors ? PyObject_GetAttrString(errors, name) : NULL;
}

void px_raise_lost(PxState *st, const char *format, ...) {
  PyObject *class = px_error_class(st, "ContextLostError");
  va_list values;
  va_start(values, format);
  if (class)
    PyErr_FormatV(class, format, values);
  va_end(values);
  Py_XDECREF(class);
}

/* Source line through linecache: a new str without newline, or NULL without an exception. */
static PyObject *linecache_line(const char *file, int32_t line) {
  PyObject *linecache = PyImport_ImportModule("linecache");
  PyObject *text = linecache ? PyObject_CallMethod(linecache, "getline", "si", file, (int)line)
                             : NULL;
  Py_XDECREF(linecache);
  PyObject *stripped = NULL;
  if (text && PyUnicode_Check(text) && PyUnicode_GetLength(text) > 0)
    stripped = PyObject_CallMethod(text, "rstrip", "s", "\r\n\f");
  Py_XDECREF(text);
  PyErr_Clear();
  return stripped;
}

/* How a file is named in messages (errors.shown_name): a new str, or NULL without an exception. */
static PyObject *shown_name(PxState *st, const char *file) {
  PyObject *errors = errors_module(st),
           *name = errors ? PyObject_CallMethod(errors, "shown_name", "s", file) : NULL;
  if (name && !PyUnicode_Check(name))
    Py_CLEAR(name);
  PyErr_Clear();
  return name;
}

typedef struct Texts {
  PxState *st;
  PyObject *alive; /* a list of what diag_render was given */
} Texts;

/* diag_render's listener. */
static const char *source_line(void *user, const char *file, int32_t line) {
  Texts *t = user;
  PyObject *text = line ? linecache_line(file, line) : shown_name(t->st, file);
  if (!text)
    return NULL;
  int failed = PyList_Append(t->alive, text);
  Py_DECREF(text);
  const char *utf8 = failed ? NULL : PyUnicode_AsUTF8(text);
  if (!utf8)
    PyErr_Clear();
  return utf8;
}

static void set_attribute(PyObject *e, const char *name,
                          PyObject *value) { /* steals; an exception without it is still useful */
  if (!value || PyObject_SetAttrString(e, name, value) < 0)
    PyErr_Clear();
  Py_XDECREF(value);
}

PyObject *px_text_or_none(const char *s) {
  return s ? PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace") : Py_NewRef(Py_None);
}

static void set_place(PyObject *e, const DiagPlace *at) {
  if (at->line <= 0 || !at->file)
    return;
  set_attribute(e, "filename", px_text_or_none(at->file));
  set_attribute(e, "lineno", PyLong_FromLong(at->line));
  set_attribute(e, "end_lineno", PyLong_FromLong(at->end_line > 0 ? at->end_line : at->line));
  if (at->end_col > 0) {
    set_attribute(e, "offset", PyLong_FromLong((long)at->col + 1));
    set_attribute(e, "end_offset", PyLong_FromLong((long)at->end_col + 1));
  }
  PyObject *line = linecache_line(at->file, at->line);
  if (line)
    set_attribute(e, "text", line);
}

/* pyptx.CompileTypeError for "TypeError"; pyptx.CompileError where errors.py has no such class. */
static PyObject *compile_error_class(PxState *st, const char *builtin) {
  char name[64];
  snprintf(name, sizeof name, "Compile%s", builtin);
  PyObject *class = px_error_class(st, name);
  if (!class && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    class = px_error_class(st, "CompileError");
  }
  return class;
}

/* An exception of that class whose text shows the source, with its code. */
static PyObject *diag_exception(PxState *st, PyObject *class, const Diag *d) {
  Texts texts = {st, PyList_New(0)};
  if (!texts.alive)
    return NULL;
  char *rendered = diag_render(d, source_line, &texts);
  PyObject *message = rendered ? px_text_or_none(rendered) : px_text_or_none(d->message);
  free(rendered);
  PyObject *e = message ? PyObject_CallOneArg(class, message) : NULL;
  if (e)
    set_attribute(e, "code", PyUnicode_FromString(ir_errors[d->id].code));
  Py_XDECREF(message);
  Py_DECREF(texts.alive);
  return e;
}

void px_raise_diag(PxState *st, const Diag *d) {
  PyObject *class = compile_error_class(st, ir_errors[d->id].exception);
  PyObject *e = class ? diag_exception(st, class, d) : NULL;
  if (e) {
    set_attribute(e, "msg",
                  PyUnicode_FromFormat("%s: %s\n  help: %s", ir_errors[d->id].code,
                                       d->message ? d->message : "", d->remedy ? d->remedy : ""));
    set_place(e, &d->at);
    PyErr_SetObject(class, e);
  }
  Py_XDECREF(e);
  Py_XDECREF(class);
}

/* --- advice --- */

static PyObject *one_advice(PxState *st, PyObject *class, const Diag *d, bool brief) {
  Diag shown = *d;
  if (brief)
    shown.at = (DiagPlace){0};
  PyObject *e = diag_exception(st, class, &shown);
  if (!e)
    return NULL;
  set_attribute(e, "message", px_text_or_none(d->message));
  set_attribute(e, "help", px_text_or_none(d->remedy));
  set_attribute(e, "file", px_text_or_none(d->at.file));
  if (d->at.line > 0)
    set_attribute(e, "line", PyLong_FromLong(d->at.line));
  if (d->at.end_col > 0)
    set_attribute(e, "column", PyLong_FromLong((long)d->at.col + 1));
  return e;
}

PyObject *px_advice_of(PxState *st, const Diag *d, bool brief) {
  PyObject *class = px_error_class(st, "Advice");
  PyObject *e = class ? one_advice(st, class, d, brief) : NULL;
  Py_XDECREF(class);
  return e;
}

PyObject *px_advice_list(PxState *st, const CgKernel *code) {
  PyObject *list = PyList_New(0), *class = list ? px_error_class(st, "Advice") : NULL;
  if (!class)
    Py_CLEAR(list);
  for (uint32_t k = 0; list && k < code->nadvice; k++) {
    PyObject *e = one_advice(st, class, code->advice[k], false);
    if (!e || PyList_Append(list, e) < 0)
      Py_CLEAR(list);
    Py_XDECREF(e);
  }
  Py_XDECREF(class);
  return list;
}

int px_show_list(PxState *st, PyObject *list, PyObject *module) {
  PyObject *show = px_error_class(st, "show_advice");
  PyObject *done = show ? PyObject_CallFunctionObjArgs(show, list, module, NULL) : NULL;
  Py_XDECREF(show);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

int px_show_advice(PxState *st, const CgKernel *code, PyObject *function) {
  if (!code->nadvice && !getenv("PYPTX_ADVICE")) /* whose value may be wrong */
    return 0;
  PyObject *list = px_advice_list(st, code);
  PyObject *module = list ? PyObject_GetAttr(function, st->name.__module__) : NULL;
  if (list && !module) {
    PyErr_Clear();
    module = Py_NewRef(Py_None);
  }
  int failed = list ? px_show_list(st, list, module) : -1;
  Py_XDECREF(module);
  Py_XDECREF(list);
  return failed;
}

int px_show_one_advice(PxState *st, const Diag *d, const char *about, PyObject *module,
                       bool brief) {
  PyObject *e = px_advice_of(st, d, brief);
  if (e)
    set_attribute(e, "_about", px_text_or_none(about));
  PyObject *list = e ? Py_BuildValue("[O]", e) : NULL;
  int failed = list ? px_show_list(st, list, module) : -1;
  Py_XDECREF(list);
  Py_XDECREF(e);
  return failed;
}

/* --- driver --- */

static PyObject *status_class(PxState *st, const RtError *error) {
  switch (error->status) {
  case RT_BAD_ARGUMENT:
  case RT_BAD_LAUNCH: return Py_NewRef(PyExc_ValueError);
  case RT_NO_DRIVER: return px_error_class(st, "NoDriverError");
  case RT_NO_DEVICE: return px_error_class(st, "NoDeviceError");
  case RT_NO_MEMORY: return px_error_class(st, "OutOfMemoryError");
  case RT_CONTEXT_LOST: return px_error_class(st, "ContextLostError");
  case RT_BAD_MODULE: return px_error_class(st, "ModuleError");
  default: return px_error_class(st, "CudaAPIError");
  }
}

void px_raise_status(PxState *st, RtStatus status) {
  assert(status != RT_OK && status != RT_CAPTURED && status != RT_NO_ENTRY && status != RT_TRAPPED);
  const RtError *error = rt_error();
  if (status == RT_INTERRUPTED) { /* by a signal's handler, which raised */
    assert(PyErr_Occurred());
    return;
  }
  if (!error || error->status != status) { /* the room forgot its text: say at least which kind */
    PyErr_Format(PyExc_RuntimeError, "the runtime failed with status %d", (int)status);
    return;
  }
  PyObject *class = status_class(st, error);
  if (!class)
    return;
  PyObject *message = PyUnicode_FromFormat("%s%s%s", error->text,
                                           *error->remedy ? "\n  help: " : "", error->remedy);
  PyObject *e = message ? PyObject_CallOneArg(class, message) : NULL;
  if (e && class != PyExc_ValueError) {
    set_attribute(e, "call", px_text_or_none(error->call));
    set_attribute(e, "result", PyLong_FromLong(error->result));
    set_attribute(e, "result_name", px_text_or_none(error->result_name));
  }
  if (e)
    PyErr_SetObject(class, e);
  Py_XDECREF(e);
  Py_XDECREF(message);
  Py_DECREF(class);
}

/* --- traps --- */

/* As Python writes it: with the fewest digits that mean this number, as a float32 where it is
 * one. */
static int put_real(char *out, size_t size, double d, int flags) {
  double shortest = d;
  for (int digits = 1; digits <= 9 && (double)(float)d == d; digits++) {
    char *text = PyOS_double_to_string(d, 'g', digits, 0, NULL);
    shortest = text ? PyOS_string_to_double(text, NULL, NULL) : d;
    PyMem_Free(text);
    if ((float)shortest == (float)d)
      break;
  }
  char *text = PyOS_double_to_string(shortest, 'r', 0, flags, NULL);
  int n = snprintf(out, size, "%s", text ? text : "?");
  PyMem_Free(text);
  PyErr_Clear();
  return n;
}

static int put_complex(char *out, size_t size, double re, double im) {
  if (re == 0 && !signbit(re)) {
    int n = put_real(out, size, im, 0);
    return n + snprintf(out + n, size - (size_t)n, "j");
  }
  int n = snprintf(out, size, "(");
  n += put_real(out + n, size - (size_t)n, re, 0);
  n += put_real(out + n, size - (size_t)n, im, Py_DTSF_SIGN);
  return n + snprintf(out + n, size - (size_t)n, "j)");
}

/* format(value, spec) by Python; returns how many bytes, none if it fails. s stands behind the
 * '='. */
static size_t put_formatted(char *out, size_t size, char form, int64_t value, const char *s,
                            const char *end) {
  double d;
  memcpy(&d, &value, sizeof d);
  PyObject *number = form == 'F'   ? PyFloat_FromDouble(d)
                     : form == 'U' ? PyLong_FromUnsignedLongLong((uint64_t)value)
                                   : PyLong_FromLongLong(value);
  PyObject *spec = PyUnicode_DecodeUTF8(s, end - s, "replace");
  PyObject *text = number && spec ? PyObject_Format(number, spec) : NULL;
  Py_ssize_t n = 0;
  const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
  size_t kept = bytes && (size_t)n < size ? (size_t)n : 0;
  if (kept)
    memcpy(out, bytes, kept);
  Py_XDECREF(number);
  Py_XDECREF(spec);
  Py_XDECREF(text);
  PyErr_Clear();
  return kept;
}

/* The site's message with {0} … {3} filled in, {0:f} as a float, {0:x} as a mask, {0:z} as a
 * complex number of {0} and {1}, {0:F=SPEC}, {0:D=SPEC}, {0:U=SPEC} as Python formats a float, an
 * int, an unsigned int; a doubled brace stands for one, others that mean nothing else stay. */
static PyObject *trap_text(const char *message, const int64_t *values) {
  char out[1024];
  size_t at = 0;
  for (const char *s = message; *s && at + 80 < sizeof out;) {
    bool hole = s[0] == '{' && s[1] >= '0' && s[1] < '0' + RT_TRAP_VALUES;
    const char *end =
        hole && s[2] == ':' && s[3] && strchr("FDU", s[3]) && s[4] == '=' ? strchr(s, '}') : NULL;
    if ((*s == '{' || *s == '}') && s[1] == *s) {
      out[at++] = *s;
      s += 2;
    } else if (end) {
      at += put_formatted(out + at, sizeof out - at - 80, s[3], values[s[1] - '0'], s + 5, end);
      s = end + 1;
    } else if (hole && (s[2] == '}' || !strncmp(s + 2, ":f}", 3) || !strncmp(s + 2, ":x}", 3) ||
                        !strncmp(s + 2, ":z}", 3))) {
      int k = s[1] - '0';
      double d[2] = {0};
      memcpy(d, values + k, k + 1 < RT_TRAP_VALUES ? sizeof d : sizeof *d);
      char form = s[2] == ':' ? s[3] : 'd';
      char *to = out + at;
      size_t room = sizeof out - at;
      at += (size_t)(form == 'z'   ? put_complex(to, room, d[0], d[1])
                     : form == 'f' ? put_real(to, room, d[0], Py_DTSF_ADD_DOT_0)
                     : form == 'x' ? snprintf(to, room, "0x%08llx", (long long)values[k])
                                   : snprintf(to, room, "%lld", (long long)values[k]));
      s += form == 'd' ? 3 : 5;
    } else {
      out[at++] = *s++;
    }
  }
  return PyUnicode_DecodeUTF8(out, (Py_ssize_t)at, "replace");
}

static bool same_text(PyObject *a, PyObject *b, const char *attribute) {
  PyObject *x = PyObject_GetAttrString(a, attribute), *y = PyObject_GetAttrString(b, attribute);
  bool same = x && y && PyUnicode_Check(x) && PyUnicode_Check(y) && !PyUnicode_Compare(x, y);
  Py_XDECREF(x);
  Py_XDECREF(y);
  PyErr_Clear();
  return same;
}

/* The exception class of that name: what the kernel was compiled with, or what has been defined in
 * its place since then (a notebook's cell that was run again); a builtin; RuntimeError. */
static PyObject *trap_class(const char *name, PyObject *exceptions, PyObject *scope) {
  PyObject *key = PyUnicode_FromString(name), *builtins = PyImport_ImportModule("builtins");
  PyObject *class = key && exceptions ? px_dict_get(exceptions, key) : NULL;
  PyObject *now = key && scope && PyDict_Check(scope) ? px_dict_get(scope, key) : NULL;
  if (class && now && PyExceptionClass_Check(now) && same_text(class, now, "__module__") &&
      same_text(class, now, "__qualname__"))
    Py_SETREF(class, Py_NewRef(now));
  Py_XDECREF(now);
  PyErr_Clear();
  if (!class)
    class = builtins ? PyObject_GetAttrString(builtins, name) : NULL;
  Py_XDECREF(builtins);
  Py_XDECREF(key);
  PyErr_Clear();
  if (class && PyExceptionClass_Check(class))
    return class;
  Py_XDECREF(class);
  return Py_NewRef(PyExc_RuntimeError);
}

/* "\n  file:line:column, in function\n    source line"; at NULL: not known. how: "" or words. */
static PyObject *trap_place(PxState *st, const DiagPlace *at, const char *how, const char *symbol) {
  if (!at || !at->file)
    return PyUnicode_FromFormat("\n  %sin %s", how, symbol);
  PyObject *file = shown_name(st, at->file),
           *line = at->line > 0 ? linecache_line(at->file, at->line) : NULL,
           *stripped = line ? PyObject_CallMethod(line, "strip", NULL) : NULL;
  PyObject *place = PyUnicode_FromFormat(
      "\n  %s%V:%d:%d, in %s%s%V", how, file, at->file, (int)at->line, (int)at->col + 1,
      at->function ? at->function : symbol, stripped ? "\n    " : "", stripped, "");
  Py_XDECREF(stripped);
  Py_XDECREF(line);
  Py_XDECREF(file);
  return place;
}

/* The place of the stop, then those of the calls that led to it, innermost first. */
static PyObject *trap_places(PxState *st, const CgKernel *code, CgStop stop) {
  const CgCall *call;
  PyObject *all = trap_place(st, stop.site ? &stop.site->at : NULL, "", code->symbol);
  while (all && (call = cg_caller(code, &stop)) != NULL) {
    PyObject *place = trap_place(st, &call->at, "called from ", code->symbol);
    PyUnicode_Append(&all, place);
    Py_XDECREF(place);
  }
  return all;
}

static PyObject *trap_message(PxState *st, const CgKernel *code, CgStop stop, const RtTrap *trap) {
  PyObject *text = stop.site ? trap_text(stop.site->message, trap->values)
                             : PyUnicode_FromString("a thread stopped");
  PyObject *places = text ? trap_places(st, code, stop) : NULL, *message = NULL;
  if (places)
    message = PyUnicode_FromFormat("%U%U\n  in thread (%u, %u, %u) of block (%u, %u, %u)", text,
                                   places, trap->thread[0], trap->thread[1], trap->thread[2],
                                   trap->block[0], trap->block[1], trap->block[2]);
  Py_XDECREF(places);
  Py_XDECREF(text);
  return message;
}

/* Where a class cannot be called with a message alone (UnicodeDecodeError, one that wants two
 * arguments): RuntimeError, which names it, with the reason as its cause. */
static PyObject *trap_exception(PyObject *class, PyObject *message) {
  PyObject *e = PyObject_CallOneArg(class, message);
  if (e && PyExceptionInstance_Check(e))
    return e;
  if (!e && !PyErr_ExceptionMatches(PyExc_Exception))
    return NULL;
  PyObject *why = e ? NULL : px_raised();
  Py_XDECREF(e);
  PyObject *text = PyUnicode_FromFormat("%s: %U", ((PyTypeObject *)class)->tp_name, message);
  e = text ? PyObject_CallOneArg(PyExc_RuntimeError, text) : NULL;
  Py_XDECREF(text);
  if (e && why)
    PyException_SetCause(e, why); /* takes it */
  else
    Py_XDECREF(why);
  return e;
}

enum { MOST_CALLS = 32 };

/* A place, and the calls that led to it, innermost first. */
typedef struct Chain {
  const DiagPlace *at[MOST_CALLS];
  uint32_t n;
} Chain;

/* An access's own number has no path in it: the calls are known where there is one way only. */
static Chain chain_of(const CgKernel *code, uint32_t number) {
  Chain c = {.n = 0};
  CgStop stop = cg_stop(code, number);
  if (!stop.site || !stop.site->at.file)
    return c;
  c.at[c.n++] = &stop.site->at;
  if (number < code->nsites) {
    if (!stop.site->first || cg_paths_of(code, stop.site->function) != 1)
      return c;
    stop.function = stop.site->function;
  }
  for (const CgCall *call; c.n < MOST_CALLS && (call = cg_caller(code, &stop)) != NULL;)
    c.at[c.n++] = &call->at;
  return c;
}

/* [(file, line, column, end line, end column, function)] */
static PyObject *chain_list(const CgKernel *code, const Chain *c) {
  PyObject *list = PyList_New(0);
  for (uint32_t k = 0; list && k < c->n; k++) {
    const DiagPlace *at = c->at[k];
    PyObject *place = Py_BuildValue("(Niiiis)", px_text_or_none(at->file), (int)at->line,
                                    (int)at->col, (int)at->end_line, (int)at->end_col,
                                    at->function ? at->function : code->symbol);
    if (!place || PyList_Append(list, place) < 0)
      Py_CLEAR(list);
    Py_XDECREF(place);
  }
  return list;
}

/* Which of the places the exception's own attributes tell. */
static uint32_t chosen(PyObject *e, uint32_t n) {
  PyObject *index = PyObject_GetAttrString(e, "_chosen");
  long k = index ? PyLong_AsLong(index) : 0;
  Py_XDECREF(index);
  PyErr_Clear();
  return k >= 0 && (uint32_t)k < n ? (uint32_t)k : 0;
}

/* What checked code has found; errors.py has the words. */
static void raise_finding(PxState *st, const CgKernel *code, const RtTrap *trap) {
  const CgSite *site = cg_stop(code, trap->site).site;
  Chain mine = chain_of(code, trap->site), other = chain_of(code, trap->other_site);
  PyObject *make = px_error_class(st, "_finding"),
           *text = trap_text(site ? site->message : "", trap->values),
           *here = chain_list(code, &mine), *there = chain_list(code, &other);
  PyObject *e = make && text && here && there
                    ? PyObject_CallFunction(
                          make, "IIOOONNNN(LLLL)", (unsigned)trap->finding, (unsigned)trap->detail,
                          text, here, there, px_uint3(trap->thread), px_uint3(trap->block),
                          px_uint3(trap->other_thread), px_uint3(trap->other_block),
                          (long long)trap->values[0], (long long)trap->values[1],
                          (long long)trap->values[2], (long long)trap->values[3])
                    : NULL;
  if (e && PyExceptionInstance_Check(e)) {
    if (mine.n)
      set_place(e, mine.at[chosen(e, mine.n)]);
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  }
  Py_XDECREF(e);
  Py_XDECREF(make);
  Py_XDECREF(text);
  Py_XDECREF(here);
  Py_XDECREF(there);
}

/* "kernel NAME has run for longer than its timeout …", with the places, and the thread if it is
 * known. */
static PyObject *late_message(PxState *st, const CgKernel *code, CgStop stop, const char *name,
                              const RtTrap *trap) {
  double seconds = (double)trap->values[0] / 1e9;
  char limit[64];
  put_real(limit, sizeof limit, seconds, 0);
  PyObject *places = stop.site ? trap_places(st, code, stop) : PyUnicode_FromString(""),
           *thread = NULL, *message = NULL;
  if (places && trap->thread[0] != RT_NO_THREAD)
    thread = PyUnicode_FromFormat("\n  in thread (%u, %u, %u) of block (%u, %u, %u)",
                                  trap->thread[0], trap->thread[1], trap->thread[2], trap->block[0],
                                  trap->block[1], trap->block[2]);
  if (places && (thread || !PyErr_Occurred()))
    message = PyUnicode_FromFormat(
        "kernel '%s' has run for longer than its timeout of %s s%U%V\n  help: a loop that waits for "
        "what no thread does never ends; where the kernel needs longer, launch it with a larger "
        "timeout= (PYPTX_TIMEOUT for a whole program)",
        name, limit, places, thread, "");
  Py_XDECREF(thread);
  Py_XDECREF(places);
  return message;
}

/* KernelTimeoutError, without a place; takes the message. */
static PyObject *late_error(PxState *st, const char *kernel, uint64_t timeout, PyObject *message) {
  PyObject *class = message ? px_error_class(st, "KernelTimeoutError") : NULL,
           *e = class ? PyObject_CallOneArg(class, message) : NULL;
  if (e) {
    set_attribute(e, "kernel", px_text_or_none(kernel));
    set_attribute(e, "timeout", PyFloat_FromDouble((double)timeout / 1e9));
  }
  Py_XDECREF(class);
  Py_XDECREF(message);
  return e;
}

void px_raise_late_wait(PxState *st, const char *kernel, uint64_t timeout, const char *device,
                        unsigned behind) {
  char limit[64];
  put_real(limit, sizeof limit, (double)timeout / 1e9, 0);
  PyObject *e = late_error(
      st, kernel, timeout,
      PyUnicode_FromFormat(
          "the wait for kernel '%s' on %s has lasted longer than its timeout of %s s (%u launch%s "
          "with a timeout behind it)\n  help: nothing can stop a kernel that runs on a GPU "
          "but the end of its process: end it, and run the program with PYPTX_DEVICE=host, where "
          "the error names the loop; where the kernel needs longer, launch it with a larger timeout= "
          "(PYPTX_TIMEOUT for a whole program)",
          kernel, device, limit, behind, behind == 1 ? "" : "es"));
  if (e)
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  Py_XDECREF(e);
}

static void raise_late(PxState *st, const CgKernel *code, const char *name, const RtTrap *trap) {
  CgStop stop = cg_stop(code, trap->site);
  bool known = trap->thread[0] != RT_NO_THREAD;
  PyObject *e = late_error(st, name, (uint64_t)trap->values[0],
                           late_message(st, code, stop, name, trap));
  if (e) {
    set_attribute(e, "thread", known ? px_uint3(trap->thread) : Py_NewRef(Py_None));
    set_attribute(e, "block", known ? px_uint3(trap->block) : Py_NewRef(Py_None));
    if (stop.site)
      set_place(e, &stop.site->at);
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  }
  Py_XDECREF(e);
}

void px_raise_trap(PxState *st, const CgKernel *code, const char *name, const RtTrap *trap,
                   PyObject *exceptions, PyObject *scope) {
  assert(trap->state == 2); /* complete */
  if (trap->finding == RT_FOUND_LATE) {
    raise_late(st, code, name, trap);
    return;
  }
  if (trap->finding != RT_FOUND_NONE) {
    raise_finding(st, code, trap);
    return;
  }
  CgStop stop = cg_stop(code, trap->site);
  const CgSite *site = stop.site;
  PyObject *class = trap_class(site ? site->exception : "RuntimeError", exceptions, scope);
  PyObject *message = trap_message(st, code, stop, trap);
  if (message && PyType_Check(class) &&
      PyType_IsSubtype((PyTypeObject *)class, (PyTypeObject *)PyExc_KeyError)) {
    PyObject *plain = px_error_class(st, "_Plain");
    Py_SETREF(message, plain ? PyObject_CallOneArg(plain, message) : NULL);
    Py_XDECREF(plain);
  }
  PyObject *e = message ? trap_exception(class, message) : NULL;
  Py_XDECREF(message);
  if (e) {
    set_attribute(e, "thread", px_uint3(trap->thread));
    set_attribute(e, "block", px_uint3(trap->block));
    /* OSError's is a part of its text, and so are SyntaxError's */
    if (site && !PyObject_HasAttrString((PyObject *)Py_TYPE(e), "filename"))
      set_place(e, &site->at);
    PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  }
  Py_XDECREF(e);
  Py_DECREF(class);
}
