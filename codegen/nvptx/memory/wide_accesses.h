/* NVPTX wide accesses: what wide_accesses.c knows of the accesses of a thread, for staged_stores.c
 * and wide_rows.c. */
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

typedef struct Gain {
  unsigned fewer, words; /* accesses less; 32-bit words of its accesses */
  unsigned widest;       /* bytes of its widest access */
} Gain;

typedef struct Run { /* accesses of one kind in a block, in order */
  Cg *cg;
  bool stores;
  bool common; /* widen what asks the same in all threads only */
  /* Writes the chosen groups' accesses in front of `end`. */
  void (*write)(struct Run *r, const Gain *gains, const bool *chosen, LLVMValueRef end);
  void *user;
  Access all[RUN_MOST];
  unsigned n;
} Run;

/* What is known of a load's address, or a store's; do two have a common one? */
Access cg_access_of(const Cg *cg, LLVMValueRef i, bool store);
bool cg_is_side_by_side(const Access *a, const Access *b);
/* The group's common address, computed where the builder is; the address of a place of it. */
LLVMValueRef cg_access_common(Cg *cg, const Access *a);
LLVMValueRef cg_access_at(Cg *cg, LLVMValueRef from, int64_t constant);

/* Has groups of a block's accesses written by r->write, where they gain enough. */
void cg_wide_visit(Run *r, LLVMBasicBlockRef block);
/* What is 0 if all accesses of a group may be wide, of what all threads have in common. NULL if its
 * address is made of more. */
LLVMValueRef cg_wide_common_bits(Cg *cg, const Access *a, unsigned widest);
/* A group's accesses in the wide form. wide: the value of each load, by its number in the run. */
void cg_wide_write(Run *r, unsigned group, LLVMValueRef *wide);

/* staged_stores.c: writes the stores of a run, whose groups are known, in front of `end`, so that a
 * warp writes its records together. Nothing if they are of another form. */
void cg_stage_stores(Run *r, LLVMValueRef end);

#endif
