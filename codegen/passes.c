/* Passes: runs, times, verifies and dumps. A new pass is a row of passes.def and its function. */
#include "codegen/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codegen/target.h"
#include "frontend/lift.h"
#include "ir/verify.h"
#include "typeinfer/infer.h"

typedef enum TextKind { TEXT_SSA, TEXT_LLVM, TEXT_CODE } TextKind;

typedef struct Pass {
  const char *name;
  char letter;
  unsigned needs, gives;
  TextKind text;
  void (*run)(Cg *cg);
} Pass;

static const Pass passes[] = {
#define P(ID, letter, needs, gives, text, doc)                                                     \
  {#ID, letter, CG_##needs, CG_##gives, TEXT_##text, cg_pass_##ID},
#include "codegen/passes.def"
#undef P
};
enum { NPASSES = sizeof passes / sizeof *passes };

/* --- dumps and texts --- */

static bool dumps(const Cg *cg, char letter) { return cg->dump && strchr(cg->dump, letter); }

static void put_dump(const Cg *cg, char letter, const char *name, const char *text) {
  if (cg->request->sink)
    cg->request->sink(cg->request->sink_user, letter, name, text);
  else
    fprintf(stderr, "== %c %s: %s\n%s%s", letter, name, cg->name, text,
            *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static const char *pass_text(Cg *cg, const Pass *p) {
  switch (p->text) {
  case TEXT_SSA:
    return p->gives == CG_LIFTED ? cg->lifted_text.text : ir_print(cg->cx, cg->program, true);
  case TEXT_LLVM: return cg->module ? cg_module_text(cg) : "";
  case TEXT_CODE: break;
  }
  return cg->out->ptx ? cg->out->ptx : cg->out->assembly ? cg->out->assembly : "";
}

static char *kept(Cg *cg, const char *text) {
  return cg_strndup(cg, text ? text : "", text ? strlen(text) : 0);
}

/* The texts that the caller wants, each at its moment. */
static void keep_texts(Cg *cg, const Pass *p) {
  unsigned want = cg->request->want;
  CgKernel *out = cg->out;
  if (p->gives == CG_TYPED && want & CG_WANT_SSA) /* all functions have been lifted by now */
    out->ssa = kept(cg, cg->lifted_text.text);
  if (p->gives == CG_TYPED && want & CG_WANT_TYPES)
    out->types = kept(cg, ir_print(cg->cx, cg->program, false));
  if (p->gives == CG_LOWERED && want & CG_WANT_LLVM)
    out->llvm = kept(cg, cg_module_text(cg));
  if (p->gives == CG_COARSENED && want & CG_WANT_LLVM_OPT)
    out->llvm_opt = kept(cg, cg_module_text(cg));
}

/* --- the loop --- */

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool verifies(void) {
#ifdef NDEBUG
  const char *v = getenv("PYPTX_VERIFY");
  return v && *v == '1';
#else
  return true;
#endif
}

static void verify(Cg *cg, const Pass *p) {
  if (p->gives == CG_TYPED)
    for (uint32_t k = 0; k < cg->program->fns.len; k++) {
      ir_verify(cg->cx, cg->program->fns.data[k], p->name);
      ty_verify(cg->cx, cg->program->fns.data[k]);
    }
  if (p->text == TEXT_LLVM && cg->module)
    cg_verify_module(cg);
}

static void put_timings(Cg *cg) {
  Buf b;
  buf_init(&b, &cg->cx->arena);
  double total = 0;
  for (uint32_t k = 0; k < cg->out->ntimings; k++) {
    buf_printf(&b, "%-10s %8.3f ms\n", cg->out->timings[k].pass, cg->out->timings[k].ms);
    total += cg->out->timings[k].ms;
  }
  buf_printf(&b, "%-10s %8.3f ms, %zu KiB of arena\n", "total", total, cg->cx->arena.used >> 10);
  put_dump(cg, 't', "timings", b.text);
}

/* What is there when the caller has all that is wanted. */
static unsigned enough(unsigned want) {
  if (!(want & CG_WANT_ONLY) || want & (CG_WANT_ASM | CG_WANT_OBJECT))
    return CG_EMITTED;
  return want & CG_WANT_LLVM_OPT ? CG_COARSENED : want & CG_WANT_LLVM ? CG_LOWERED : CG_TYPED;
}

/* Number of the first pass. A coarsened entry alone begins with what LLVM's passes left. */
static int begin(Cg *cg, unsigned *state) {
  int k = 0;
  if (!cg->request->coarse_of)
    return k;
  cg_open_rest(cg);
  for (*state = passes[k].gives; !(passes[k].gives & CG_OPTIMIZED); *state |= passes[k].gives)
    k++;
  return k + 1;
}

void cg_run(Cg *cg) {
  unsigned state = CG_NOTHING;
  bool verifying = verifies();
  buf_init(&cg->lifted_text, &cg->cx->arena);
  cg->out->timings = cg_calloc(cg, NPASSES, sizeof *cg->out->timings);
  for (int k = begin(cg, &state); k < NPASSES && !(state & enough(cg->request->want)); k++) {
    const Pass *p = &passes[k];
    cg->cx->pass = p->name;
    CX_ASSERT(cg->cx, (state & p->needs) == p->needs);
    double start = now_ms();
    p->run(cg);
    cg->out->timings[cg->out->ntimings].pass = p->name;
    cg->out->timings[cg->out->ntimings++].ms = now_ms() - start;
    state |= p->gives;
    if (dumps(cg, p->letter))
      put_dump(cg, p->letter, p->name, pass_text(cg, p));
    keep_texts(cg, p);
    if (verifying)
      verify(cg, p);
  }
  if (dumps(cg, 't'))
    put_timings(cg);
}

/* --- the front passes: the other rooms' doors --- */

/* Typing lifts through this: the kernel is there already, the functions that it calls are lifted as they are met. */
static Fn *lift(Cx *cx, const FrozenFunc *func) {
  Cg *cg = cx->user;
  Fn *fn = func == cg->request->func ? cg->lifted : NULL;
  if (fn) {
    cg->lifted = NULL;
    return fn;
  }
  fn = bc_lift(cx, func);
  bool seen = false;
  for (uint32_t k = 0; k < cg->lifted_funcs.len && !seen; k++)
    seen = cg->lifted_funcs.data[k] == func;
  if (seen || !(cg->request->want & CG_WANT_SSA || dumps(cg, 'S')))
    return fn;
  VEC_PUSH(&cx->arena, &cg->lifted_funcs, func);
  size_t start = cg->lifted_text.len;
  ir_print_fn(cx, &cg->lifted_text, fn, dumps(cg, 'S'));
  if (func != cg->request->func && dumps(cg, 'S'))
    put_dump(cg, 'S', "lift", cg->lifted_text.text + start);
  return fn;
}

void cg_pass_lift(Cg *cg) {
  cg->cx->user = cg;
  cg->cx->lift = lift;
  cg->lifted = lift(cg->cx, cg->request->func);
}

void cg_pass_infer(Cg *cg) {
  Signature sig = ty_signature(cg->cx, cg->request->signature);
  cg->program = ty_infer(cg->cx, cg->request->func, &sig, !cg->options.device_function);
}

/* --- the back passes: the target's --- */

void cg_pass_link(Cg *cg) { cg->target->link(cg); }
void cg_pass_optimize(Cg *cg) { cg->target->optimize(cg); }
void cg_pass_emit(Cg *cg) { cg->target->emit(cg); }
