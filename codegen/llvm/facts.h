/* Facts: the conditions that are known to hold, or not to, where a block runs. */
#ifndef PYPTX_CODEGEN_LLVM_FACTS_H
#define PYPTX_CODEGEN_LLVM_FACTS_H

#include "codegen/llvm/graph.h"

/* Neither `a and b` that holds nor `a or b` that does not: these are two facts. */
typedef struct Fact {
  LLVMValueRef condition;
  bool holds;
} Fact;

enum { MOST_FACTS = 32 }; /* further ones are left out */

typedef struct Facts {
  Fact list[MOST_FACTS];
  unsigned n;
} Facts;

/* What a terminator, if it is a branch, says wherever its edge to the block is taken. */
void cg_add_facts_of_edge(Facts *facts, LLVMValueRef end, LLVMBasicBlockRef to);
/* What the branches that all ways to the node take say there, the nearest first. Needs
 * dominators. */
void cg_add_facts_at(Facts *facts, const FnGraph *g, uint32_t node);

#endif
