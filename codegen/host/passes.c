/* Host passes: the rows of passes.def. */
#include "codegen/passes.h"

#include "codegen/host/entry.h"
#include "codegen/llvm/optimize.h"

#define P(...) PASS_WHEN(__VA_ARGS__)
#include "codegen/host/passes.def"
#undef P
static const Pass rows[] = {
#define P(...) PASS_ROW("host", __VA_ARGS__)
#include "codegen/host/passes.def"
#undef P
};
const PassTable cg_host_passes = {rows, sizeof rows / sizeof *rows};
