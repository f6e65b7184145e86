/* Optimize: LLVM's passes over the module of a GPU kernel, by options.opt. At 3 those of optimize.def; at 1 and 2 LLVM's own lists. */
#include "codegen/optimize.h"

typedef enum Where { MODULE, FUNCTION, LOOP, LOOP_MSSA } Where;
typedef enum When { ALWAYS, CALLS } When;

typedef struct Row {
  Where where;
  When when;
  const char *pass;
} Row;

static const Row rows[] = {
#define P(where, when, pass, why) {where, when, pass},
#include "codegen/optimize.def"
#undef P
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Flushing subnormals is a property of functions, and inlining wants it to be the same in both. */
static void flush_subnormals(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      cg_attribute_text(cg, f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

static bool has_calls(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (f != cg->kernel && !LLVMIsDeclaration(f))
      return true;
  return false;
}

static const char *const opens[] = {[MODULE] = "",
                                    [FUNCTION] = "function(",
                                    [LOOP] = "function(loop(",
                                    [LOOP_MSSA] = "function(loop-mssa("};
static const char *const closes[] = {
    [MODULE] = "", [FUNCTION] = ")", [LOOP] = "))", [LOOP_MSSA] = "))"};

static void put_pass(Buf *b, Where at, const Row *row) {
  if (at != row->where)
    buf_puts(b, closes[at]);
  if (b->len)
    buf_putc(b, ',');
  if (at != row->where)
    buf_puts(b, opens[row->where]);
  buf_puts(b, row->pass);
}

static const char *pipeline(Cg *cg) {
  bool calls = has_calls(cg);
  Where at = MODULE;
  Buf b;
  buf_init(&b, &cg->cx->arena);
  for (int k = 0; k < ROWS; k++) {
    if (rows[k].when == CALLS && !calls)
      continue;
    put_pass(&b, at, &rows[k]);
    at = rows[k].where;
  }
  buf_puts(&b, closes[at]);
  return b.text;
}

void cg_optimize_gpu(Cg *cg) {
  static const char *const of_llvm[] = {
      "default<O0>", "default<O1>", "function(simplifycfg<bonus-inst-threshold=8>),default<O2>"};
  if (cg->options.fastmath & CG_FAST_FTZ)
    flush_subnormals(cg);
  cg_run_passes(cg, cg->options.opt < 3 ? of_llvm[cg->options.opt] : pipeline(cg));
}
