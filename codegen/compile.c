/* Compile: the front door of the compiler.
 *
 * A call of cg_compile owns everything that the compilation allocates: one Cx with its arena, one
 * Cg with its LLVM context, and the kernel that is being filled. cg_guarded has the only CX_TRY of
 * the product, so every fail() and every fatal error of LLVM ends here: the diagnostic is copied
 * out of the arena, and the rest is freed. What happens in between is decided by passes.def; this
 * file resolves the request's defaults (target, symbol, implied options) and copies the results. */
#include "codegen/compile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/big_stack.h"
#include "codegen/fork_lock.h"
#include "codegen/llvm/cg.h"
#include "codegen/passes.h"
#include "codegen/target.h"
#include "ir/base/chars.h"

/* --- the request --- */

static const Target *target_of(CgTarget t) {
  return t == CG_HOST ? &cg_target_host : &cg_target_nvptx;
}

/* Names that have another meaning in PTX, or are not valid there. Ours contain a $. */
static bool is_reserved(const char *s) {
  return strncmp(s, "__nv", 4) == 0 || strcmp(s, "vprintf") == 0 || strcmp(s, "WARP_SZ") == 0 ||
         strcmp(s, "_") == 0;
}

/* A kernel's name in the module: letters, digits and _ only. LLVM does not mangle the names of
 * kernels, and ptxas rejects any other character. */
static const char *symbol_of(Cg *cg) {
  if (cg->request->coarse_of)
    return cg->request->coarse_of->symbol;
  const char *name = cg->request->symbol ? cg->request->symbol : cg->request->func->code->qualname;
  char *s = arena_strdup(&cg->cx->arena, name && *name ? name : "kernel");
  for (char *p = s; *p; p++)
    if (!char_is_alnum(*p))
      *p = '_';
  bool unsafe = char_is_digit(*s) || is_reserved(s);
  return unsafe ? arena_printf(&cg->cx->arena, "k_%s", s) : s;
}

static void prepare(Cg *cg) {
  const CgRequest *r = cg->request;
  Cx *cx = cg->cx;
  cg->options = r->options;
  cg->target = target_of(r->target);
  cg->dump = r->dump ? r->dump : getenv("PYPTX_DUMP");
  cg_read_pass_names(cg);
  CgOptions *o = &cg->options;
  if (o->debug || (r->target == CG_HOST && !o->unchecked))
    o->boundscheck = 1;
  o->opt = o->opt < 0 ? 0 : o->opt > 3 ? 3 : o->opt;
  cx->typing = o->numba_typing ? TYPING_NUMBA : TYPING_NUMPY;
  cx->checked = o->boundscheck;
  cx->debug = o->debug;
  cx->host = r->target == CG_HOST;
  cx->keeps_places = r->want & CG_WANT_TYPED;
  cx->marks_lines = cx->host && r->covers;
  cx->library = r->library;
  /* checked before any pass does work that would be thrown away */
  if (r->target == CG_NVPTX && !cg_arch_min_ptx(r->arch))
    fail(cx, (Loc){0}, ERR_ARCH, r->arch ? r->arch : "");
  if (r->coarse_of) /* launches take the entry where they take the kernel */
    cg->out->needs_apart = r->coarse_of->needs_apart;
  cg->name = symbol_of(cg);
  /* on the host a kernel may have the name of a function of the C library */
  cg->symbol = r->target == CG_HOST ? arena_printf(&cx->arena, "%s$kernel", cg->name) : cg->name;
}

static void finish(Cg *cg) {
  CgKernel *out = cg->out;
  assert(cg->name && cg->symbol && !out->symbol && !out->advice);
  const char *symbol = cg->request->coarse_of ? cg->symbol : cg->name;
  out->symbol = cg_strndup(cg, symbol, strlen(symbol));
  out->static_shared = cg->static_shared;
  out->local_bytes = cg->local_bytes;
  out->uses_dynamic_shared = cg->uses_dynamic_shared;
  out->has_barrier = cg->has_barrier;
  out->has_trap = cg->has_trap;
  out->may_print = cg->may_print;
  const uint32_t n = cg->cx->advice.len;
  out->advice = cg_calloc(cg, n + 1, sizeof *out->advice);
  for (; out->nadvice < n; out->nadvice++)
    if (!(out->advice[out->nadvice] = diag_copy(&cg->cx->advice.data[out->nadvice])))
      fail(cg->cx, (Loc){0}, ERR_MEMORY);
  if (cg->options.device_function) {
    const char *text = ty_name(cg->cx, cg->program->fns.data[0]->result);
    out->result = cg_strndup(cg, text, strlen(text));
  }
}

/* --- the door --- */

typedef struct Guarded {
  Cg *cg;
  void (*body)(Cg *);
  int result;
} Guarded;

/* All state is behind the pointer, since locals that change after setjmp are indeterminate when
 * longjmp returns there. */
static void run_guarded(void *p) {
  Guarded *g = p;
  if (CX_TRY(g->cg->cx)) {
    g->body(g->cg);
    g->cg->cx->caught = false;
    g->result = 0;
  }
}

static void fail_for_memory(Cg *cg) { fail(cg->cx, (Loc){0}, ERR_MEMORY); }

int cg_guarded(Cg *cg, void (*body)(Cg *)) {
  Guarded g = {cg, body, -1};
  assert(cg->cx && !cg->cx->caught); /* guards do not nest */
  if (!cg_on_stack(run_guarded, &g)) {
    g.body = fail_for_memory;
    run_guarded(&g);
  }
  return g.result;
}

static void compile(Cg *cg) {
  prepare(cg);
  cg_run(cg);
  finish(cg);
}

int cg_compile(const CgRequest *request, CgKernel **out, Diag **error) {
  assert(request->func || request->coarse_of);
  *out = NULL;
  *error = NULL;
  Cx *cx = cx_new();
  Cg *cg = calloc(1, sizeof *cg);
  CgKernel *kernel = calloc(1, sizeof *kernel);
  int result = -1;
  if (cx && cg && kernel) {
    *cg = (Cg){.cx = cx, .request = request, .out = kernel};
    kernel->target = request->target;
    cg_enter();
    result = cg_guarded(cg, compile);
    cg_close(cg);
    cg_leave();
    if (result)
      *error = diag_copy(&cx->diag);
  }
  if (result) {
    cg_kernel_free(kernel);
    kernel = NULL;
  }
  *out = kernel;
  free(cg);
  cx_free(cx);
  return result;
}

static void free_sites(CgKernel *k) {
  for (uint32_t n = 0; n < k->ncalls; n++) {
    free((void *)(uintptr_t)k->calls[n].at.file);
    free((void *)(uintptr_t)k->calls[n].at.function);
  }
  free(k->calls);
  for (uint32_t n = 0; k->sites && n < k->nsites; n++) {
    free(k->sites[n].exception);
    free(k->sites[n].message);
    free((void *)(uintptr_t)k->sites[n].at.file);
    free((void *)(uintptr_t)k->sites[n].at.function);
  }
  free(k->sites);
}

static void free_guards(CgKernel *k) {
  for (uint32_t n = 0; n < k->nguards; n++) {
    free(k->guards[n].name);
    free((void *)(uintptr_t)k->guards[n].at.file);
    free((void *)(uintptr_t)k->guards[n].at.function);
  }
  free(k->guards);
}

static void release(void *p) {
  const CgKernel *k = p;
  target_of(k->target)->release(k->jit);
}

void cg_kernel_free(CgKernel *k) {
  if (!k)
    return;
  cg_enter();
  if (k->jit)
    (void)cg_on_stack(release, k); /* without memory for a thread the code is leaked */
  cg_leave();
  free_sites(k);
  free_guards(k);
  for (uint32_t n = 0; n < k->nadvice; n++)
    diag_free(k->advice[n]);
  free(k->advice);
  char *texts[] = {k->symbol, k->ptx,   k->ssa,        k->types,    k->values,
                   k->typed,  k->llvm,  k->llvm_opt,   k->assembly, k->result,
                   k->object, k->entry, k->coarsening, k->rest};
  for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
    free(texts[n]);
  for (uint32_t n = 0; k->imports && n < k->nimports; n++)
    free(k->imports[n]);
  free(k->imports);
  free(k->params.fields);
  free(k->args);
  free(k->timings);
  free(k);
}

const char *cg_host_cpu(void) {
  static _Thread_local char name[64];
  char *text = LLVMGetHostCPUName();
  strncpy(name, text, sizeof name - 1);
  LLVMDisposeMessage(text);
  return name;
}
