/* Instructions: the rows of ir/instructions.def, by intrinsic. */
#ifndef PYPTX_IR_INSTRUCTIONS_H
#define PYPTX_IR_INSTRUCTIONS_H

#include "ir/intrinsics.h"

typedef struct InstructionInfo {
  IntrinsicId id;   /* INTR_NONE: only inline PTX names it */
  const char *ptx;  /* as the PTX ISA writes it, or how it begins */
  const char *arch; /* "sm_90" and later; with the letter a, all: "sm_90a", "sm_90a or sm_100a" */
  int version;      /* 83 for 8.3 */
} InstructionInfo;

/* The row of an intrinsic; NULL: it needs nothing that not every architecture has. */
const InstructionInfo *ir_instruction(IntrinsicId id);
/* The next row behind `after` (NULL: the first) that a text of PTX names; NULL: there is none. */
const InstructionInfo *ir_instruction_in(const char *text, const InstructionInfo *after);

#endif
