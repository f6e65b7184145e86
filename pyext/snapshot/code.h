/* Code: a code object as frozen data, with the opcodes of the running interpreter. */
#ifndef PYPTX_PYEXT_SNAPSHOT_CODE_H
#define PYPTX_PYEXT_SNAPSHOT_CODE_H

#include "pyext/snapshot/work.h"

const Code *px_freeze_code(PxSnapshot *s, PyObject *code);

#endif
