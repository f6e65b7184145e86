/* Spills: advice about registers that do not suffice, and about arrays that cannot be in any; with
 * it all that only the assembler knows. */
#ifndef PYPTX_PYEXT_COMPILE_SPILLS_H
#define PYPTX_PYEXT_COMPILE_SPILLS_H

#include "pyext/state.h"

/* What the GPU's assembler made of one kernel. */
typedef struct PxAssembled {
  const char *ptx;           /* from which */
  uint32_t local, registers; /* bytes of local memory of a thread; its registers */
  const char *words;         /* its log */
  bool asked;                /* somebody wants to know, and PT810 besides */
} PxAssembled;

/* Appends to the list what there is to say of the kernel with that code object: PT807, PT810, and
 * what the log says (assembler_log.h). 0 or -1. */
int px_add_assembled_advice(PxState *st, PyObject *code, const PxAssembled *made, PyObject *list);
/* _assembled_advice(code, ptx, local, registers, words, asked=False): that list. */
PyObject *px_assembled_advice(PyObject *module, PyObject *args);

#endif
