/* Launches of kernels that other compilers made: what pyptx.cuda.Module stands on. */
#ifndef PYPTX_PYEXT_LAUNCH_MODULE_LAUNCH_H
#define PYPTX_PYEXT_LAUNCH_MODULE_LAUNCH_H

#include "pyext/state.h"

/* _module_open, _module_kernel, _module_launch …: pyptx/cuda/_module.py calls them. */
extern PyMethodDef px_module_functions[];

#endif
