/* Typeof: the arguments of a launch as types and values, in one pass and without Python objects in
 * between.
 *
 * In: Python objects. Out: tokens (compile/signature.h), which compare with memcmp against a
 * compiled kernel's, and one PxLeaf for each number or array, from which the parameter block is
 * filled. Objects of the caller must live until px_args_clear. */
#ifndef PYPTX_PYEXT_LAUNCH_TYPEOF_H
#define PYPTX_PYEXT_LAUNCH_TYPEOF_H

#include "pyext/compile/signature.h"
#include "pyext/launch/stream_order.h"

#include "runtime/abi.h"

typedef struct PxLeaf {
  PxToken token;
  uint8_t readonly; /* PxReadOnly */
  union {
    struct {
      uint64_t address;
      const int64_t *shape, *strides; /* strides in bytes */
    } array;
    int64_t i;
    double d;
    unsigned char bytes[16]; /* the number as memory holds it */
  } u;
} PxLeaf;

/* A NumPy array of this launch, or an array of another library that must be kept or has many
 * axes. */
typedef struct PxHeld {
  struct PxHeld *next;
  PyObject *array;   /* the caller's NumPy array; NULL for a foreign array */
  PyObject *keeper;  /* of a foreign array */
  PyObject *staging; /* GPU: what is copied: the array, or a contiguous copy of it */
  Py_buffer view;    /* of staging, or of the array where it is used in place */
  bool has_view, readonly, in_place;
  uint32_t leaf;
  uint32_t arg;     /* number of the parameter, for messages */
  uint32_t epoch;   /* of the device: a reset took older memory away */
  uint64_t address; /* GPU: memory of this launch */
  size_t bytes;
  /* together.c: the array's place on the host, and the memory that it shares with others */
  uintptr_t low, high;
  bool gaps, apart, moves;
  uint32_t token; /* its number */
  PxElem elem;
  const struct PxHeld *block;
  int64_t shape[TY_MAX_NDIM], strides[TY_MAX_NDIM];
} PxHeld;

enum { PX_INLINE_LEAVES = 24, PX_INLINE_TOKENS = 32, PX_INLINE_DIMS = 64 };

/* What cuda.In and cuda.Out leave out. */
enum PxWay { PX_WAY_NOT_TO = 1, PX_WAY_NOT_BACK = 2 };

typedef struct PxArgs {
  PxState *st;
  RtDevice *device;
  RtStream *stream;
  bool on_host;
  bool any_readonly;
  bool wide;                   /* even if they fit a narrow signature */
  bool overlap;                /* arrays share memory, and the narrow version wants them apart */
  bool captured;               /* for a node of a graph, which no host array can be copied for */
  bool numba;                  /* Python's numbers are int64, float64, complex128 */
  uint8_t way;                 /* PxWay, of the argument being added */
  struct PxDispatcher *callee; /* whose arguments these are, for messages; set by px_bind */
  uint32_t arg;
  uint32_t depth;
  uint32_t ntokens, max_tokens, nleaves, max_leaves;
  PxToken *tokens;
  PxLeaf *leaves;
  PxHeld *held;
  PxFollow follow;
  uint32_t ndims;
  int64_t dims0[PX_INLINE_DIMS]; /* extents and strides of foreign arrays */
  PxToken tokens0[PX_INLINE_TOKENS];
  PxLeaf leaves0[PX_INLINE_LEAVES];
} PxArgs;

void px_args_init(PxArgs *a, PxState *st, RtDevice *device, RtStream *stream, bool numba);
/* Adds the next parameter's argument. 0, or -1 with TypeError and the like. */
int px_args_add(PxArgs *a, PyObject *arg);
/* With all arguments added: makes their signature narrow if they fit one. */
void px_args_choose_narrow(PxArgs *a);
/* Does a number of this type, at least the first 8 bytes of it, keep a signature from being narrow?
 * In typed code dates, spans and members of Enums are integers of 64 bits. */
static inline bool px_is_large(PxToken type, int64_t bits) {
  if (type == TY_U64)
    return (uint64_t)bits > TY_SMALL;
  bool whole = type == TY_PYINT || type == TY_I64 ||
               (type >= TY_SCALARS && !px_token_is_array(type));
  return whole && (uint64_t)bits + TY_SMALL + 1 > 2u * (uint64_t)TY_SMALL + 1;
}
/* Keeps an object until px_args_clear: one that the caller does not hold. 0 or -1. */
int px_args_keep(PxArgs *a, PyObject *value);
void px_args_clear(PxArgs *a);
/* What is kept of an array until px_args_clear. NULL with MemoryError. */
PxHeld *px_hold(PxArgs *a);
int px_held_view(PxArgs *a, PxHeld *h, PyObject *object, PxElem elem);
PxToken px_held_token(PxArgs *a, const PxHeld *h, PxElem elem, uint64_t address);
int px_held_leaf(PxArgs *a, PxHeld *h, PxToken token, uint64_t address);

enum { PX_ARGUMENT_NAME = 200 };
/* "argument 2 ('n')", by its number from 0. Returns text. */
const char *px_argument_name(const PxArgs *a, uint32_t arg, char text[PX_ARGUMENT_NAME]);
/* the number of the argument that a leaf is part of */
uint32_t px_argument_of_leaf(const PxArgs *a, uint32_t leaf);

#endif
