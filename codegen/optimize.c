/* Optimize: LLVM's passes over the module of a GPU kernel, by options.opt. */
#include "codegen/optimize.h"

void cg_optimize_gpu(Cg *cg) {
  static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>", "default<O3>"};
  int opt = cg->options.opt < 0 ? 0 : cg->options.opt > 3 ? 3 : cg->options.opt;
  cg_run_passes(cg, pipelines[opt]);
}
