/* Optimize: LLVM's passes over the module of a kernel. Private to this room. */
#ifndef PYPTX_CODEGEN_LLVM_OPTIMIZE_H
#define PYPTX_CODEGEN_LLVM_OPTIMIZE_H

#include "codegen/llvm/cg.h"

/* The GPU's passes at opt=3: what is in front of the rotation of loops; what is left in front of
 * full unrolling, for kernels with local arrays alone; in front of unrolling, for those with loops
 * that we unroll; and all of them, or what is left. */
void cg_optimize_to_rotate(Cg *cg);
void cg_optimize_loops(Cg *cg);
void cg_optimize_to_unroll(Cg *cg);
void cg_optimize_gpu(Cg *cg);
bool cg_has_allocas(const Cg *cg); /* has some function one? */
void cg_optimize_host(Cg *cg);     /* after the loops over threads and blocks have been added */

/* The pipeline that simplifies a module before our own passes analyse it. */
const char *cg_cleaning(Cg *cg);

#endif
