/* Status: in, a CUresult or a failure of our own; out, an RtStatus and the thread's RtError.
 * Texts come from status.def; a result it does not list is asked from the driver. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/driver/device_state.h"
#include "runtime/driver/driver.h"

static _Thread_local RtError last_error;

const RtError *rt_error(void) { return &last_error; }

void rt_set_error(const RtError *e) { last_error = *e; }

typedef struct Row {
  int code;
  RtStatus status;
  const char *name, *what, *remedy;
} Row;

static const Row rows[] = {
#define RESULT(code, NAME, status, what, remedy) {code, status, "CUDA_" #NAME, what, remedy},
#include "runtime/status.def"
#undef RESULT
};

static const Row *row_of(int result) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].code == result)
      return &rows[i];
  return NULL;
}

/* The row, or what the driver says of a result newer than the table. */
static Row describe(int result) {
  const Row *known = row_of(result);
  if (known)
    return *known;
  Row row = {result, RT_FAILED, NULL, NULL, "see the CUDA driver documentation of this error"};
  if (rt_cu.cuGetErrorName && rt_cu.cuGetErrorName(result, &row.name) != CUDA_SUCCESS)
    row.name = NULL;
  if (rt_cu.cuGetErrorString && rt_cu.cuGetErrorString(result, &row.what) != CUDA_SUCCESS)
    row.what = NULL;
  if (!row.name)
    row.name = "";
  if (!row.what)
    row.what = "an error that this driver does not name";
  return row;
}

static RtError *begin(RtStatus status, int result, const char *call, const char *remedy) {
  RtError *e = &last_error;
  e->status = status;
  e->result = result;
  e->result_name = result ? describe(result).name : "";
  snprintf(e->call, sizeof e->call, "%s", call);
  snprintf(e->remedy, sizeof e->remedy, "%s", remedy ? remedy : "");
  return e;
}

RtStatus rt_fail(RtStatus status, const char *remedy, const char *format, ...) {
  RtError *e = begin(status, 0, "", remedy);
  va_list args;
  va_start(args, format);
  vsnprintf(e->text, sizeof e->text, format, args);
  va_end(args);
  return status;
}

RtStatus rt_fail_driver(RtStatus status, int result, const char *call, const char *remedy,
                        const char *format, ...) {
  RtError *e = begin(status, result, call, remedy);
  va_list args;
  va_start(args, format);
  vsnprintf(e->text, sizeof e->text, format, args);
  va_end(args);
  return status;
}

/* A lost context is noticed by whatever call comes next, so the text names the kernel that ran last
 * on each stream. */
RtStatus rt_driver_status(int result, const char *call) {
  if (result == CUDA_SUCCESS)
    return RT_OK;
  Row row = describe(result);
  char kernels[320] = "";
  if (row.status == RT_CONTEXT_LOST)
    rt_last_kernels(kernels, sizeof kernels);
  return rt_fail_driver(row.status, result, call, row.remedy, "%s: %s (%s, %d)%s", call, row.what,
                        row.name, result, kernels);
}

RtStatus rt_driver_status_of(int result, const char *call, const char *kernel) {
  if (result == CUDA_SUCCESS)
    return RT_OK;
  Row row = describe(result);
  if (row.status == RT_CONTEXT_LOST) /* the fault is an earlier launch's */
    return rt_driver_status(result, call);
  return rt_fail_driver(row.status, result, call, row.remedy, "kernel '%s': %s: %s (%s, %d)",
                        kernel, call, row.what, row.name, result);
}

const char *rt_size_text(uint64_t bytes, char text[32]) {
  static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double n = (double)bytes;
  size_t unit = 0;
  for (; n >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
    n /= 1024;
  snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
  return text;
}
