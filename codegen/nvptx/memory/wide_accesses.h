/* NVPTX wide accesses: what wide_accesses.c knows of the accesses of a thread, for staged_stores.c.
 */
#ifndef PYPTX_CODEGEN_NVPTX_MEMORY_WIDE_ACCESSES_H
#define PYPTX_CODEGEN_NVPTX_MEMORY_WIDE_ACCESSES_H

#include "codegen/llvm/cg.h"

enum { RUN_MOST = 96 }; /* accesses of a run */

typedef struct Access {
  LLVMValueRef ins, from, index; /* the address: from[index] and a constant; index may be NULL */
  LLVMTypeRef element, type;     /* element: by which the index counts */
  int64_t constant;              /* bytes */
  unsigned bytes, group;         /* group: the number of the first access with its common address */
  bool done, erased;
} Access;

typedef struct Run { /* accesses of one kind in a block, in order */
  Cg *cg;
  bool stores;
  Access all[RUN_MOST];
  unsigned n;
} Run;

/* The group's common address, computed where the builder is; the address of a place of it. */
LLVMValueRef cg_access_common(Cg *cg, const Access *a);
LLVMValueRef cg_access_at(Cg *cg, LLVMValueRef from, int64_t constant);

/* staged_stores.c: writes the stores of a run, whose groups are known, in front of `end`, so that a
 * warp writes its records together. Nothing if they are of another form. */
void cg_stage_stores(Run *r, LLVMValueRef end);

#endif
