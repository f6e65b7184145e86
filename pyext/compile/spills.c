/* Spills: see spills.h.
 *
 * Local memory holds three things: local arrays that keep their addresses, for instance since they
 * are indexed by a number of the launch, which PTX declares as a depot; the frames of functions
 * that are called; and what did not fit in the registers. The last is always a surprise: it is what
 * exceeds the depots, of kernels that call nothing. Arrays are said to whoever asks what a kernel
 * takes: mostly nothing but memory can hold them (a row whose length is data, a sort in place). */
#include "pyext/compile/spills.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"
#include "pyext/compile/assembler_log.h"
#include "pyext/raise.h"

enum { FEW_BYTES = 32 }; /* eight registers, and what rounding adds to a depot */

/* Of all depots: ".local .align 4 .b8 __local_depot0[400];". False: it cannot be told. */
static bool declared_local(const char *ptx, uint64_t *bytes) {
  static const char depot[] = "\t__local_depot";
  *bytes = 0;
  if (strstr(ptx, ".func ") || strstr(ptx, ", debug"))
    return false;
  for (const char *at = ptx; (at = strstr(at, depot)); at += sizeof depot - 1) {
    const char *open = at + sizeof depot - 1 + strspn(at + sizeof depot - 1, "0123456789");
    if (*open == '[')
      *bytes += strtoull(open + 1, NULL, 10);
  }
  return true;
}

/* New; NULL: there is nothing to say, or with an exception. */
static PyObject *spill_advice(PxState *st, PyObject *code, const PxAssembled *made) {
  uint64_t own;
  char message[256];
  if (made->local < FEW_BYTES || !declared_local(made->ptx, &own) || made->local < own + FEW_BYTES)
    return NULL;
  const ErrorInfo *row = &ir_errors[ERR_SPILLED];
  PyObject *file = PyObject_GetAttrString(code, "co_filename"),
           *name = PyObject_GetAttrString(code, "co_qualname"),
           *line = PyObject_GetAttrString(code, "co_firstlineno");
  PyObject *file_text = file ? PyUnicode_AsEncodedString(file, "utf-8", "replace") : NULL,
           *name_text = name ? PyUnicode_AsEncodedString(name, "utf-8", "replace") : NULL;
  PyObject *advice = NULL;
  if (file_text && name_text && line) {
    Diag d = {.id = ERR_SPILLED, .message = message, .remedy = (char *)(uintptr_t)row->remedy};
    d.at = (DiagPlace){.file = PyBytes_AsString(file_text),
                       .function = PyBytes_AsString(name_text),
                       .line = (int32_t)PyLong_AsLong(line)};
    snprintf(message, sizeof message, row->message, (unsigned)(made->local - own),
             (unsigned)made->registers);
    advice = px_advice_of(st, &d, false);
  }
  Py_XDECREF(file);
  Py_XDECREF(name);
  Py_XDECREF(line);
  Py_XDECREF(file_text);
  Py_XDECREF(name_text);
  return advice;
}

static int local_advice(PxState *st, const PxAssembled *made, PyObject *list) {
  uint64_t own;
  bool there = made->asked && made->local && declared_local(made->ptx, &own) && own;
  return there ? px_add_local_advice(st, made->ptx, made->local, list) : 0;
}

int px_add_assembled_advice(PxState *st, PyObject *code, const PxAssembled *made, PyObject *list) {
  PyObject *spilled = spill_advice(st, code, made);
  int failed = spilled ? PyList_Append(list, spilled) : PyErr_Occurred() ? -1 : 0;
  Py_XDECREF(spilled);
  if (failed || local_advice(st, made, list) < 0)
    return -1;
  return px_add_assembler_advice(st, made->ptx, made->words, list);
}

PyObject *px_assembled_advice(PyObject *module, PyObject *args) {
  PyObject *code;
  PxAssembled made = {0};
  int asked = 0;
  if (!PyArg_ParseTuple(args, "OsIIs|p", &code, &made.ptx, &made.local, &made.registers,
                        &made.words, &asked))
    return NULL;
  made.asked = asked;
  PxState *st = PyModule_GetState(module);
  if (px_raise_assembler_log(st, made.ptx, made.words))
    return NULL;
  PyObject *list = PyList_New(0);
  if (list && px_add_assembled_advice(st, code, &made, list) < 0)
    Py_CLEAR(list);
  return list;
}
