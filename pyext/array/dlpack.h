/* DLPack: the public ABI of github.com/dmlc/dlpack, version 1.3, as this room speaks it, and how
 * tensors come in and go out.
 *
 * The declarations follow the specification; names are ours, layouts are theirs. Strides of a
 * tensor count elements. */
#ifndef PYPTX_PYEXT_ARRAY_DLPACK_H
#define PYPTX_PYEXT_ARRAY_DLPACK_H

#include "pyext/array/foreign.h"

/* --- the ABI --- */

enum { DL_MAJOR = 1, DL_MINOR = 3 };
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum {
  DL_INT,
  DL_UINT,
  DL_FLOAT,
  DL_OPAQUE,
  DL_BFLOAT,
  DL_COMPLEX,
  DL_BOOL,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E5M2 = 12,
  DL_FLOAT8_E8M0FNU = 14,
  DL_CODES
};
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 }; /* flags */

typedef struct DlVersion {
  uint32_t major, minor;
} DlVersion;

typedef struct DlTensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides; /* strides NULL: C order */
  uint64_t byte_offset;
} DlTensor;

typedef struct DlManaged { /* before version 1.0 */
  DlTensor tensor;
  void *context;
  void (*deleter)(struct DlManaged *self); /* may be NULL */
} DlManaged;

typedef struct DlVersioned {
  DlVersion version;
  void *context;
  void (*deleter)(struct DlVersioned *self); /* may be NULL */
  uint64_t flags;
  DlTensor tensor;
} DlVersioned;

typedef struct DlExchange { /* what a type's __dlpack_c_exchange_api__ points to */
  DlVersion version;
  struct DlExchange *older; /* the same for an older major version, or NULL */
  int (*allocate)(DlTensor *prototype, DlVersioned **out, void *context,
                  void (*fail)(void *context, const char *kind, const char *message));
  int (*managed_of)(void *object, DlVersioned **out); /* new, owned by the caller; no waiting */
  int (*object_of)(DlVersioned *managed, void **out); /* takes managed, if it succeeds */
  int (*tensor_of)(void *object, DlTensor *out);      /* borrowed from the object; may be NULL */
  int (*current_stream)(int32_t device_type, int32_t device, void **out);
} DlExchange;

#define DL_EXCHANGE_NAME "dlpack_exchange_api" /* of the capsule */

/* Code and bits of a scalar type; false where DLPack has none for it. */
bool px_dlpack_dtype(PxElem elem, uint8_t *code, uint8_t *bits);

/* --- in --- */

/* The tensor as a foreign array; keeper stays NULL. 0, or -1 with TypeError or BufferError. */
int px_dlpack_read(const DlTensor *t, PxForeign *out);
/* Where obj.__dlpack_device__() says that it lives: DL_CPU …; 0 where there is no DLPack, -1 with
 * an exception. */
int px_dlpack_device(PxState *st, PyObject *obj, int *id);
/* Through obj.__dlpack__(). On a GPU, work on the stream of that handle (0 and 1: the legacy
 * default one) is ordered after the producer's. out->keeper releases the tensor. 0, or -1 with an
 * exception. */
int px_dlpack_import(PxState *st, PyObject *obj, int device_type, uint64_t stream, PxForeign *out);
/* An owned managed tensor as a foreign array, whose keeper releases it. On failure it stays the
 * caller's. */
int px_dlpack_take(DlVersioned *managed, PxForeign *out);
/* The same, but on failure the tensor is released. */
int px_dlpack_own(DlVersioned *managed, PxForeign *out);
/* Undoes px_dlpack_take: the keeper releases nothing any more. */
void px_dlpack_leave(PyObject *keeper);
/* The exchange table of a type, or NULL; never raises. It lives as long as the process. */
const DlExchange *px_dlpack_exchange(PxState *st, PyTypeObject *type);

#endif
