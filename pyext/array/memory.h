/* Memory: who owns the bytes of device arrays and of pinned, mapped and managed host arrays. */
#ifndef PYPTX_PYEXT_ARRAY_MEMORY_H
#define PYPTX_PYEXT_ARRAY_MEMORY_H

#include "pyext/state.h"

typedef enum PxMemoryKind {
  PX_MEMORY_POOL,    /* of rt_alloc */
  PX_MEMORY_SHARED,  /* of rt_shared_alloc: other processes can open it */
  PX_MEMORY_FOREIGN, /* the owner's, which knows nothing of our streams */
  /* the owner's, who got it from the allocator in use: freed when the owner is */
  PX_MEMORY_PLUGIN,
} PxMemoryKind;

typedef struct PxMemory {
  PyObject_HEAD RtDevice *device;
  uint64_t address;
  size_t bytes;
  uint32_t epoch; /* a reset of the device took older memory away */
  uint8_t kind;   /* PxMemoryKind */
  bool mixed;     /* more than one stream used it */
  /* the Stream that used it last, NULL for the default: what its release waits for */
  PyObject *stream;
  PyObject *owner; /* FOREIGN, PLUGIN */
  PyObject *weakrefs;
} PxMemory;

/* Memory of somebody else, which lives until the last array in it is gone. */
PyObject *px_memory_foreign(PxState *st, RtDevice *d, uint64_t address, size_t bytes,
                            PyObject *owner);
/* New memory, from the allocator in use. Out of memory: what unreachable objects hold is freed,
 * then it is tried once more. */
PyObject *px_memory_new(PxState *st, RtDevice *d, size_t bytes, PyObject *stream);
/* Marks that work on `stream` (a Stream or None) uses it, through that array. */
void px_memory_used(PyObject *memory, PyObject *array, PyObject *stream);

#endif
