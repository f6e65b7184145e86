/* Optimize: LLVM's passes over the module of a GPU kernel, by options.opt. */
#include "codegen/optimize.h"

/* Flushing subnormals is a property of functions, and inlining wants it to be the same in both. */
static void flush_subnormals(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      cg_attribute_text(cg, f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

/* First of all, `a and b` becomes one branch where b is a few operations: a loop `while n < limit and x * x <= 4` then has one exit, and is
 * rotated whole. Later, values that b shares with the loop's body keep LLVM from it. */
#define JOIN "function(simplifycfg<bonus-inst-threshold=8>)"

void cg_optimize_gpu(Cg *cg) {
  static const char *const pipelines[] = {"default<O0>", "default<O1>", JOIN ",default<O2>",
                                          JOIN ",default<O3>"};
  if (cg->options.fastmath & CG_FAST_FTZ)
    flush_subnormals(cg);
  cg_run_passes(cg, pipelines[cg->options.opt]);
}
