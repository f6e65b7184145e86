/* Code: a code object as frozen data, and the opcodes of the running interpreter. */
#ifndef PYPTX_PYEXT_SNAPSHOT_CODE_H
#define PYPTX_PYEXT_SNAPSHOT_CODE_H

#include "pyext/snapshot/work.h"

/* The opcode table of the running interpreter, made at the first call. NULL with an exception. */
const OpTable *px_optable(PxState *st);

const Code *px_freeze_code(PxSnapshot *s, PyObject *code);

#endif
