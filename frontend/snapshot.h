/* Snapshot: opcode tables of a CPython version, as data. A Code (ir/frozen.h) points to the table
 * of the interpreter that made it.
 *
 * In: (name, number) pairs of opcode.opmap, inline cache sizes, and the version's operator and
 * intrinsic names.
 * Out: an OpTable that maps each byte to the meaning in frontend/opcodes.def. Names that
 * opcodes.def does not know stay usable for messages and are an error (ERR_BYTECODE) where
 * reachable code uses them: never a guess. */
#ifndef PYPTX_FRONTEND_SNAPSHOT_H
#define PYPTX_FRONTEND_SNAPSHOT_H

#include "ir/frozen.h"

typedef struct OpTableInput {
  int version;                 /* 311 … 315 */
  const char *const *op_names; /* 256 entries by opcode number, NULL where there is none */
  /* 256 entries: inline cache units (2 bytes each) after the opcode */
  const uint8_t *cache_entries;
  const char *const *binary_ops; /* names by BINARY_OP argument: "NB_ADD" … ; NULL-terminated */
  const char *const *intrinsic1; /* CALL_INTRINSIC_1 names, NULL-terminated; NULL in 3.11 */
  const char *const *intrinsic2;
  /* 3.14 LOAD_COMMON_CONSTANT: "AssertionError" …, NULL-terminated */
  const char *const *common_constants;
  const char *const *special_methods; /* 3.14 LOAD_SPECIAL */
} OpTableInput;

/* Copies everything; freed with bc_optable_free. Immutable after, so threads share it. NULL on no
 * memory. */
OpTable *bc_optable_new(const OpTableInput *in);
void bc_optable_free(OpTable *t);
int bc_optable_version(const OpTable *t);

#endif
