/* Spills: advice about registers that do not suffice, which only the assembler knows of. */
#ifndef PYPTX_PYEXT_COMPILE_SPILLS_H
#define PYPTX_PYEXT_COMPILE_SPILLS_H

#include "pyext/state.h"

/* What the GPU's assembler made of one kernel. */
typedef struct PxAssembled {
  const char *ptx;           /* from which */
  uint32_t local, registers; /* bytes of local memory of a thread; its registers */
} PxAssembled;

/* Advice PT807 of the kernel with that code object: new, or NULL where there is nothing to say, or
 * with an exception. */
PyObject *px_spill_advice(PxState *st, PyObject *code, const PxAssembled *made);
/* _spill_advice(code, ptx, local, registers): the same or None. */
PyObject *px_spill_advice_of(PyObject *module, PyObject *args);

#endif
