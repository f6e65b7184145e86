/* Optimize: LLVM's passes over the module of a GPU kernel, by options.opt. */
#include "codegen/optimize.h"

/* Flushing subnormals is a property of functions, and inlining wants it to be the same in both. */
static void flush_subnormals(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      cg_attribute_text(cg, f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

void cg_optimize_gpu(Cg *cg) {
  static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                          "default<O3>"};
  if (cg->options.fastmath & CG_FAST_FTZ)
    flush_subnormals(cg);
  cg_run_passes(cg, pipelines[cg->options.opt]);
}
