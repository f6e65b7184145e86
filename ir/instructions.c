/* Instructions: the rows, by intrinsic and in a text. */
#include "ir/instructions.h"

#include <string.h>

static const InstructionInfo named[] = {
#define N(ID, path, signature, rule, effect, ptx, arch, version, host, doc)                        \
  {INTR_##ID, ptx, arch, version},
#include "ir/instructions.def"
    {INTR_NONE, "", "sm_75", 0},
};

static const InstructionInfo in_text[] = {
#define M(prefix, arch, version) {INTR_NONE, prefix, arch, version},
#include "ir/instructions.def"
};

const InstructionInfo *ir_instruction(IntrinsicId id) {
  for (size_t k = 0; k < sizeof named / sizeof *named; k++)
    if (named[k].id == id)
      return &named[k];
  return NULL;
}

const InstructionInfo *ir_instruction_in(const char *text, const InstructionInfo *after) {
  const InstructionInfo *end = in_text + sizeof in_text / sizeof *in_text;
  for (const InstructionInfo *row = after ? after + 1 : in_text; row < end; row++)
    if (strstr(text, row->ptx))
      return row;
  return NULL;
}
