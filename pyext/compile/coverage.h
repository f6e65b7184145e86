/* Coverage: lines of kernels that ran on the host device, for coverage.py (pyptx/coverage.py). */
#ifndef PYPTX_PYEXT_COMPILE_COVERAGE_H
#define PYPTX_PYEXT_COMPILE_COVERAGE_H

#include "pyext/state.h"

/* Are lines counted in kernels that are compiled from now on? */
bool px_covers(void);
/* CgRequest.covers. */
unsigned char *px_covered_byte(const char *file, int line);
/* After launches: hands the lines that were reached to pyptx.coverage. What is
 * raised before stays; what goes wrong here is printed. */
void px_tell_lines(void);

extern PyMethodDef px_coverage_functions[];

#endif
