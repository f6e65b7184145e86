/* Warnings of launches: off unless pyptx.config switches them on, since small grids and host arrays
 * are what most first kernels have. */
#include "pyext/launch/warnings.h"

#include <string.h>

#include "ir/base/diag.h"
#include "pyext/objects/device.h"
#include "pyext/raise.h"
#include "runtime/driver/cuda.h"
#include "runtime/driver/device.h"

static int warn(const char *text) {
  PyObject *errors = PyImport_ImportModule("pyptx.errors");
  PyObject *class = errors ? PyObject_CallMethod(errors, "advice_class", NULL) : NULL;
  int failed = class ? PyErr_WarnEx(class, text, 1) : -1;
  Py_XDECREF(class);
  Py_XDECREF(errors);
  return failed;
}

/* Numba's bound, whatever the GPU: its programs expect no warning beyond it. */
enum { FEW_BLOCKS = 128 };

int px_warn_of_grid(PxState *st, const uint32_t grid[3]) {
  if (PX_LIKELY(!st->warns_of_grids))
    return 0;
  RtDevice *device = px_current_device(st);
  if (!device || rt_device_is_host(device))
    return device ? 0 : -1;
  unsigned __int128 blocks = (unsigned __int128)grid[0] * grid[1] * grid[2];
  if (blocks >= FEW_BLOCKS)
    return 0;
  char text[128];
  PyOS_snprintf(text, sizeof text,
                "Grid size %u will likely result in GPU under-utilization due to low occupancy.",
                (unsigned)blocks);
  return warn(text);
}

int px_warn_of_copy(PxState *st) {
  return PX_LIKELY(!st->warns_of_copies)
             ? 0
             : warn("Host array used in CUDA kernel will incur copy overhead to/from device.");
}

static PyObject *set_warnings(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  int grids, copies;
  if (!PyArg_ParseTuple(args, "pp:_warnings", &grids, &copies))
    return NULL;
  st->warns_of_grids = grids;
  st->warns_of_copies = copies;
  Py_RETURN_NONE;
}

static PyObject *advice_row(PyObject *Py_UNUSED(module), PyObject *code) {
  const char *text = PyUnicode_AsUTF8(code);
  for (int i = ERR_OK + 1; text && i < ERR_COUNT; i++)
    if (!strcmp(ir_errors[i].code, text))
      return Py_BuildValue("ss", ir_errors[i].message, ir_errors[i].remedy);
  if (text)
    PyErr_SetObject(PyExc_KeyError, code);
  return NULL;
}

PyMethodDef px_warning_functions[] = {
    {"_advice_row", advice_row, METH_O,
     "_advice_row(code): (message, remedy) of a row of ir/base/errors.def."},
    {"_warnings", set_warnings, METH_VARARGS,
     "_warnings(grids, copies): does it warn of grids that leave a GPU idle, and of host arrays that are copied."},
    {0},
};
