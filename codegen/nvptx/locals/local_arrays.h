/* NVPTX local arrays: what the passes that bring them into registers know of one. */
#ifndef PYPTX_CODEGEN_NVPTX_LOCALS_LOCAL_ARRAYS_H
#define PYPTX_CODEGEN_NVPTX_LOCALS_LOCAL_ARRAYS_H

#include "codegen/llvm/cg.h"
#include "codegen/llvm/graph.h"

enum {
  /* Arrays of a kernel that may become registers, all together: 128 registers of the 255 that a
   * thread may have. 8 x 8 float64 is one such array; ptxas gives a Cholesky factorisation in it
   * 94 registers, as nvcc does. */
  LOCAL_MOST_BYTES = 512,
  /* Elements of an array whose index is not known when compiling: each such access is a comparison
   * and a selection for each element. Lanes with different indices touch as many lines of local
   * memory. */
  LOCAL_MOST_OPAQUE = 4,
};

/* A load or store at array + offset + scale * index, in bytes; index is NULL if the offset is all
 * of it. An index may also be an address: a selection or phi of addresses in the array, which count
 * as their distance from its beginning. */
typedef struct LocalAccess {
  LLVMValueRef ins, index;
  int64_t scale, offset;
} LocalAccess;

typedef struct LocalArray {
  LLVMValueRef alloca;
  uint64_t bytes;
  VEC(LocalAccess) accesses;
  VEC(LLVMValueRef) choices; /* selections and phis of its addresses */
} LocalArray;

typedef VEC(LocalArray) LocalArrays;

/* The small arrays of f that are only read and written, element by element: no address is kept or
 * passed on. Empty if all together are larger than LOCAL_MOST_BYTES. */
LocalArrays cg_local_arrays(Cg *cg, LLVMValueRef f);
/* Is v an address in the array at a constant distance from its beginning? */
bool cg_local_distance(const Cg *cg, LLVMValueRef array, LLVMValueRef v, int64_t *bytes);
/* The type of an access's element. */
LLVMTypeRef cg_local_type(const LocalAccess *a);

/* local_rings.c: of loops whose length is not known and that go through one of these arrays in
 * circles, a circle becomes a loop of known length. True: the function has other blocks. */
bool cg_nvptx_local_rings(Cg *cg, const FnGraph *g, const LocalArrays *arrays);

/* --- integers of at most 64 bits, as numbers: one bit is 0 or 1, others are signed --- */

int64_t cg_int_value(LLVMValueRef constant);
/* What a binary operation or conversion of integers gives for these operands; false: nothing, or it
 * is not known here. */
bool cg_fold(LLVMValueRef operation, int64_t a, int64_t b, int64_t *result);
/* What v, which is made of the phi and constants, is where the phi is n; false: it is made of
 * others, or that is not known here. */
bool cg_value_at(LLVMValueRef v, LLVMValueRef phi, int64_t n, int64_t *value);

#endif
