/* Fuzz: a target of objects.py (PYPTX_FUZZ_TARGET) by libFuzzer, in a Python of its own with the instrumented module.
 *
 * Input: what the target's choices are drawn from. Lines of pyptx's own Python count as edges, as the module's C does. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 1 << 14 };

/* libFuzzer finds them by the name of their section. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t lines[LINES];

static PyObject *one; /* takes the bytes of an input */

static void give_up(void) {
  PyErr_Print();
  abort();
}

static int count_line(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
  (void)self, (void)arg;
  if (what != PyTrace_LINE)
    return 0;
  PyCodeObject *code = PyFrame_GetCode(frame);
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  const char *ours = file ? strstr(file, "/pyptx/") : NULL;
  if (ours) {
    uint32_t h = (uint32_t)PyFrame_GetLineNumber(frame);
    for (; *ours; ours++)
      h = h * 31 + (unsigned char)*ours;
    lines[(h ^ h >> 15) % LINES]++;
  }
  Py_DECREF(code);
  return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  PyConfig config;
  (void)argc, (void)argv;
  (void)setenv("PYTHONMALLOC", "malloc", 1); /* so that the sanitizer sees each object */
  (void)setenv("PYTHONHASHSEED", "0", 1);
  (void)setenv("PYTHONWARNINGS", "ignore", 1);
  (void)setenv("PYPTX_DEVICE", "host", 1);
  (void)setenv("PYPTX_ADVICE", "0", 1);
  (void)setenv("PYPTX_FUZZ_SITE", PYPTX_FUZZ_SITE, 0); /* of a program that was carried elsewhere */
  (void)setenv("PYPTX_SOURCE_DIR", PYPTX_SOURCE_DIR, 0);
  (void)unsetenv("PYPTX_DRIVER");
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.write_bytecode = 0;
  PyConfig_SetBytesString(&config, &config.executable, PYPTX_FUZZ_PYTHON);
  PyConfig_SetBytesString(&config, &config.program_name, PYPTX_FUZZ_PYTHON);
  if (PyStatus_Exception(Py_InitializeFromConfig(&config)))
    abort();
  PyConfig_Clear(&config);
  if (PyRun_SimpleString(
          "import os, sys\n"
          "sys.path[:0] = [os.environ['PYPTX_FUZZ_SITE'], os.environ['PYPTX_SOURCE_DIR'] + "
          "'/tests/fuzz']"))
    abort();
  PyObject *objects = PyImport_ImportModule("objects");
  one = objects ? PyObject_CallMethod(objects, "one", "s", PYPTX_FUZZ_TARGET) : NULL;
  if (!one)
    give_up();
  Py_DECREF(objects);
  PyEval_SetTrace(count_line, NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  PyObject *done = PyObject_CallFunction(one, "y#", (const char *)data, (Py_ssize_t)size);
  if (!done)
    give_up();
  Py_DECREF(done);
  return 0;
}
