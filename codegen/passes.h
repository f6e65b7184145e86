/* Passes: the one loop over passes.def. Private to this room. */
#ifndef PYPTX_CODEGEN_PASSES_H
#define PYPTX_CODEGEN_PASSES_H

#include "codegen/llvm/cg.h"

typedef enum CgState {
  CG_NOTHING = 0,
  CG_LIFTED = 1,
  CG_TYPED = 2,
  CG_LOWERED = 4,
  CG_LINKED = 8,
  CG_OPTIMIZED = 16,
  CG_COARSENED = 32,
  CG_EMITTED = 64,
} CgState;

/* Runs them all on cg, whose request, options, target and out are set: dumps what request->dump names, keeps the texts that
 * request->want names, times each, verifies after each. Fails like the passes. */
void cg_run(Cg *cg);
/* of request->coarse_of: module and kernel as its coarsen pass left them */
void cg_open_rest(Cg *cg);

#define P(ID, letter, needs, gives, text, doc) void cg_pass_##ID(Cg *cg);
#include "codegen/passes.def"
#undef P

#endif
