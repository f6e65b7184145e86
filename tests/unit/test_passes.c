/* Passes, one at a time: tests/passes/FAMILY/PASS/NAME.{ll,ssa,ptx} goes in, NAME.out is what comes
 * out. A row without a case is a failure.
 *
 * usage: test_passes [--update] [FILE…]     run from the root of the repository; --update writes
 * what comes out
 *
 * The first line of an input says how it is compiled, as words behind a comment sign:
 *   arch=sm_90  opt=3  fma=1  fast=0    options; ssa cases take for=host too
 *   before=regular,fission              rows of the family that run first: what the pass relies on
 *                                       is not in the text
 *   recursive  shared=64  limit=0       the program has a recursive function; static shared memory;
 *              PYPTX_INLINE_LIMIT
 *   timed                               options.timed
 *   avx512  vbmi                        a host case for a CPU with that (x86-64-v4; VBMI beside it)
 *   narrow                              the program of a narrow signature (ssa)
 *   axes=2                              the parameter block begins with a C array of float32 of so
 *                                       many axes, which is read
 *   coarse=1  of=4                      options.coarsen; the entry alone of a kernel that was
 *             planned with this factor
 * A line `;times N` has the next one N times, with its number in place of #. Host cases are for one
 * CPU, x86-64-v3, if they do not say more. */
#include <glob.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/passes.h"
#include "codegen/ssa/leaves.h"
#include "codegen/ssa/params.h"
#include "codegen/target.h"
#include "ir/verify.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"
#include "tests/unit/support/parse.h"

static int failures;

static const CgSymbol symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
    {NULL, NULL}};

static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  fseek(f, 0, SEEK_END);
  size_t n = (size_t)ftell(f);
  rewind(f);
  char *text = calloc(n + 1, 1);
  if (fread(text, 1, n, f) != n)
    text[0] = 0;
  fclose(f);
  return text;
}

/* --- a case --- */

typedef struct Case {
  char family[16], pass[32], extension[8];
  char before[128], arch[16], host[2];
  int opt, fma, fast, coarse, of, shared, axes;
  bool recursive, for_host, timed, narrow, avx512, vbmi;
  const char *limit;
} Case;

/* "tests/passes/nvptx/coarsen/x.ll" */
static bool split_path(const char *path, Case *c) {
  return sscanf(path, "tests/passes/%15[^/]/%31[^/]/%*[^.].%7s", c->family, c->pass,
                c->extension) == 3;
}

static void read_options(const char *text, Case *c, Cx *cx) {
  char *line = arena_strndup(&cx->arena, text, strcspn(text, "\n")), *rest;
  for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
    sscanf(w, "opt=%d", &c->opt), sscanf(w, "fma=%d", &c->fma), sscanf(w, "fast=%d", &c->fast);
    sscanf(w, "coarse=%d", &c->coarse), sscanf(w, "shared=%d", &c->shared);
    sscanf(w, "of=%d", &c->of), sscanf(w, "axes=%d", &c->axes);
    sscanf(w, "arch=%15s", c->arch), sscanf(w, "before=%127s", c->before);
    c->recursive |= !strcmp(w, "recursive"), c->for_host |= !strcmp(w, "for=host");
    c->timed |= !strcmp(w, "timed"), c->narrow |= !strcmp(w, "narrow");
    c->vbmi |= !strcmp(w, "vbmi"), c->avx512 |= c->vbmi || !strcmp(w, "avx512");
    if (!strncmp(w, "limit=", 6))
      c->limit = w + 6;
  }
  c->for_host |= !strcmp(c->family, "host");
}

/* Behind the first line, with the lines that stand for many. */
static const char *written_out(Cx *cx, const char *text) {
  Buf b;
  int times = 0;
  buf_init(&b, &cx->arena);
  text += strcspn(text, "\n");
  text += *text == '\n';
  for (size_t n; *text; text += n) {
    n = strcspn(text, "\n");
    n += text[n] == '\n';
    if (!strncmp(text, ";times ", 7)) {
      times = atoi(text + 7);
      continue;
    }
    for (int k = 0; k < times; k++)
      for (size_t at = 0; at < n; at++)
        if (text[at] == '#')
          buf_printf(&b, "%d", k);
        else
          buf_putc(&b, text[at]);
    if (!times)
      buf_add(&b, text, n);
    times = 0;
  }
  return b.text;
}

/* --- in --- */

static void parse_module(Cg *cg, const char *text) {
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text),
                                                                         "case");
  LLVMModuleRef module;
  char *why = NULL;
  if (LLVMParseIRInContext(cg->context, buffer, &module, &why))
    cx_bug(cg->cx, "%s", why);
  LLVMSetModuleDataLayout(module, cg->layout);
  char *triple = LLVMGetTargetMachineTriple(cg->machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMDisposeModule(cg->module);
  cg->module = module;
  cg_verify_module(cg);
}

/* The same code whatever CPU the tests run on; false where LLVM has no such target. */
static bool take_host_machine(Cg *cg, const Case *c) {
  LLVMTargetRef target;
  char *why = NULL;
  static const char triple[] = "x86_64-unknown-linux-gnu";
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    LLVMDisposeMessage(why);
    return false;
  }
  LLVMDisposeTargetMachine(cg->machine);
  const char *cpu = c->vbmi     ? "icelake-server"
                    : c->avx512 ? "x86-64-v4"
                                : "x86-64-v3",
             *features = c->vbmi ? "+avx2,+fma,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512vbmi"
                         : c->avx512 ? "+avx2,+fma,+avx512f,+avx512bw,+avx512dq,+avx512vl"
                                     : "+avx2,+fma";
  cg->machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                        LLVMRelocPIC, LLVMCodeModelDefault);
  return true;
}

/* What `axes=` says. */
static Params *params_of(Cx *cx, unsigned axes) {
  Params *p = CX_NEW(cx, Params);
  const Type *t = ty_array(cx, ty_scalar(cx, TY_F32), axes, LAYOUT_C, SPACE_GLOBAL, false, false);
  VEC_PUSH(&cx->arena, &p->arrays, ((ArrayParam){.type = t, .used = true}));
  for (uint32_t k = 0; k < cg_leaf_count(t); k++) {
    unsigned axis = 0;
    RtFieldKind kind = cg_array_leaf(t, k, &axis);
    RtField field = cg_next_field(kind, k ? 4 : 8, axis, k, 0, &p->bytes);
    VEC_PUSH(&cx->arena, &p->fields, ((Param){.field = field, .type = t, .leaf = k}));
  }
  return p;
}

static bool open_case(Cg *cg, const Case *c, const char *text) {
  cg->program = CX_NEW(cg->cx, Program);
  if (!strcmp(c->extension, "ssa")) {
    cg->program = ir_parse(cg->cx, text);
    cg->program->narrow = c->narrow;
    return true;
  }
  if (c->recursive) {
    Fn *fn = CX_NEW(cg->cx, Fn);
    fn->recursive = true;
    VEC_PUSH(&cg->cx->arena, &cg->program->fns, fn);
  }
  cg_open(cg);
  if (c->for_host && !take_host_machine(cg, c))
    return false;
  cg->builder = LLVMCreateBuilderInContext(cg->context);
  if (!strcmp(c->extension, "ptx")) {
    cg->code = text, cg->code_len = strlen(text);
    return true;
  }
  parse_module(cg, text);
  cg->kernel = LLVMGetNamedFunction(cg->module, "k");
  cg->static_shared = (uint32_t)c->shared;
  if (c->axes)
    cg->params = params_of(cg->cx, (unsigned)c->axes);
  if (c->for_host)
    ((HostState *)cg->target_state)->thread = LLVMGetNamedFunction(cg->module, "k.thread");
  return true;
}

/* --- out --- */

static void put_ssa(Cg *cg, const Case *c, Buf *out) {
  buf_puts(out, ir_print(cg->cx, cg->program, false));
  for (uint32_t k = 0; k < cg->program->fns.len; k++) {
    const Fn *fn = cg->program->fns.data[k];
    if (!strcmp(c->pass, "inlining"))
      buf_printf(out, "%s: %s\n", fn->name, fn->inlining == INLINE_NEVER ? "a call" : "inlined");
    if (!strcmp(c->pass, "dominators"))
      FOR_BLOCKS (fn, b)
        if (b->idom && b->idom != b)
          buf_printf(out, "b%u below b%u\n", b->id, b->idom->id);
  }
}

/* Without what depends on the machine's target or says nothing. */
static void put_module(Cg *cg, Buf *out) {
  static const char *const left_out[] = {"; ModuleID", "source_filename", "target ", "; Function"};
  for (const char *s = cg_module_text(cg); *s;) {
    size_t n = strcspn(s, "\n");
    n += s[n] == '\n';
    bool kept = n > 1 || out->len;
    for (unsigned k = 0; k < sizeof left_out / sizeof *left_out; k++)
      kept &= strncmp(s, left_out[k], strlen(left_out[k])) != 0;
    if (kept)
      buf_add(out, s, n);
    s += n;
  }
}

/* Which one it is: take_host_machine's has a CPU of its own. */
static const char *machine_of(Cg *cg) {
  if (cg->machine_key || !cg->machine)
    return cg->machine_key;
  char *cpu = LLVMGetTargetMachineCPU(cg->machine);
  const char *copy = arena_strdup(&cg->cx->arena, cpu);
  LLVMDisposeMessage(cpu);
  return copy;
}

static void put_registers(const RtParams *p, Buf *out) {
  buf_printf(out, "roomy %u, reading %u", p->roomy, p->reading);
  if (p->reading_from)
    buf_printf(out, " from %u of parameter %u on", p->reading_from, p->reading_at);
  buf_puts(out, "\n");
}

static const char *result_of(Cg *cg, const Case *c, const Pass *p, const char *machine) {
  Buf out;
  buf_init(&out, &cg->cx->arena);
  if (p->text == TEXT_SSA)
    put_ssa(cg, c, &out);
  else if (!strcmp(c->pass, "machine"))
    buf_printf(&out, "%s\n", strcmp(machine, machine_of(cg)) ? "another" : "as before");
  else if (!strcmp(c->pass, "registers"))
    put_registers(&cg->out->params, &out);
  else if (p->text == TEXT_LLVM)
    put_module(cg, &out);
  else
    buf_puts(&out, cg->out->ptx ? cg->out->ptx : cg->code ? cg->code : cg->out->entry);
  if (cg->out->coarsening)
    buf_printf(&out, "coarsening: %s\n", cg->out->coarsening);
  if (cg->out->needs_apart)
    buf_puts(&out, "needs_apart\n");
  return out.text;
}

/* --- the run --- */

static const Pass *row_of(const char *family, const char *name, size_t n) {
  const Pass *p;
  size_t start = strlen(family);
  for (unsigned k = 0; (p = cg_pass(k)); k++)
    if (p->within && !strncmp(p->name, family, start) && p->name[start] == '.' &&
        strlen(p->name + start + 1) == n && !strncmp(p->name + start + 1, name, n))
      return p;
  return NULL;
}

static void compare(const char *path, const char *result, bool update) {
  size_t n = (size_t)(strrchr(path, '.') - path);
  char golden[256];
  snprintf(golden, sizeof golden, "%.*s.out", (int)n, path);
  char *wanted = read_file(golden);
  if (wanted && !strcmp(wanted, result)) {
    free(wanted);
    return;
  }
  if (update) {
    FILE *f = fopen(golden, "wb");
    fputs(result, f);
    fclose(f);
    fprintf(stderr, "wrote %s\n", golden);
  } else {
    fprintf(stderr, "%s: %s\n--- is\n%s--- %s\n%s", path, wanted ? "differs" : "no .out file",
            result, wanted ? "wanted" : "(test_passes --update writes it)", wanted ? wanted : "");
    failures++;
  }
  free(wanted);
}

static void run_rows(Cg *cg, const Case *c, const Pass *p) {
  for (const char *s = c->before; *s; s += strcspn(s, ","), s += *s == ',') {
    const Pass *first = row_of(c->family, s, strcspn(s, ","));
    if (!first)
      cx_bug(cg->cx, "before=%s: there is no such row", s);
    cg_run_row(cg, first);
  }
  cg_run_row(cg, p);
}

/* A parameter's field lies at its number. */
static void number_fields(Cg *cg) {
  RtParams *p = &cg->out->params;
  p->nfields = cg->kernel ? LLVMCountParams(cg->kernel) : 0;
  p->fields = calloc(p->nfields + 1, sizeof *p->fields);
  for (uint32_t k = 0; k < p->nfields; k++)
    p->fields[k].offset = k;
}

static void free_kernel(CgKernel *k, const Target *target) {
  target->release(k->jit);
  k->jit = NULL;
  cg_kernel_free(k);
}

/* What setjmp could lose is behind the pointer. */
typedef struct Run {
  Case c;
  Cx *cx;
  Cg *cg;
  const Pass *p;
  const char *result;
} Run;

static void run_case(Run *r, const char *path, const char *text) {
  if (!CX_TRY(r->cx)) {
    fprintf(stderr, "%s: %s\n", path, r->cx->diag.message);
    failures++;
    return;
  }
  read_options(text, &r->c, r->cx);
  if (r->c.limit)
    setenv("PYPTX_INLINE_LIMIT", r->c.limit, 1);
  r->cg->target = r->c.for_host ? &cg_target_host : &cg_target_nvptx;
  CgRequest *request = CX_NEW(r->cx, CgRequest);
  *request = (CgRequest){
      .arch = r->c.arch, .target = r->c.for_host ? CG_HOST : CG_NVPTX, .symbols = symbols};
  if (r->c.of) {
    CgKernel *planned = CX_NEW(r->cx, CgKernel);
    planned->params.coarse.factor = (uint8_t)r->c.of;
    request->coarse_of = planned;
  }
  r->cg->request = request;
  r->cg->options = (CgOptions){.opt = r->c.opt,
                               .fma = r->c.fma,
                               .fastmath = r->c.fast,
                               .coarsen = r->c.coarse,
                               .timed = r->c.timed};
  if (open_case(r->cg, &r->c, written_out(r->cx, text))) {
    const char *before = machine_of(r->cg);
    if (!strcmp(r->c.pass, "registers"))
      number_fields(r->cg);
    run_rows(r->cg, &r->c, r->p);
    r->result = result_of(r->cg, &r->c, r->p, before);
  }
  r->cx->caught = false;
}

static void run_file(const char *path, bool update) {
  Run r = {.c = {.opt = 3, .fma = 1, .coarse = CG_COARSEN_CHOOSE, .arch = "sm_90"}};
  char *text = read_file(path);
  r.p = text && split_path(path, &r.c) ? row_of(r.c.family, r.c.pass, strlen(r.c.pass)) : NULL;
  if (!r.p) {
    fprintf(stderr, "%s: no such file, or no pass of that name\n", path);
    failures++;
    free(text);
    return;
  }
  r.cx = cx_new();
  r.cg = CX_NEW(r.cx, Cg);
  *r.cg = (Cg){.cx = r.cx, .symbol = "k", .name = "k", .out = calloc(1, sizeof(CgKernel))};
  run_case(&r, path, text);
  if (r.result)
    compare(path, r.result, update);
  unsetenv("PYPTX_INLINE_LIMIT");
  cg_close(r.cg);
  if (r.cg->target)
    free_kernel(r.cg->out, r.cg->target);
  cx_free(r.cx);
  free(text);
}

/* --- every row has cases --- */

static void check_cases(void) {
  const Pass *p;
  for (unsigned k = 0; (p = cg_pass(k)); k++) {
    if (!p->within)
      continue;
    char pattern[128];
    glob_t found;
    const char *dot = strchr(p->name, '.');
    snprintf(pattern, sizeof pattern, "tests/passes/%.*s/%s/*.out", (int)(dot - p->name), p->name,
             dot + 1);
    size_t n = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;
    if (n < (p->skippable ? 2 : 1)) {
      fprintf(stderr, "%s has %zu cases: each pass needs one, and one that may be skipped two\n",
              p->name, n);
      failures++;
    }
    globfree(&found);
  }
}

/* --- the machinery itself --- */

static bool always(const Cg *cg) { return cg != NULL; }

static void leave_open_block(Cg *cg) {
  LLVMAppendBasicBlockInContext(cg->context, cg->kernel, "open");
}

static void check_order(void) {
  static const Pass good[] = {{.name = "f.a", .within = "lower", .after = ""},
                              {.name = "f.b", .within = "emit", .after = "a"}},
                    late[] = {{.name = "f.b", .within = "lower", .after = "a"},
                              {.name = "f.a", .within = "lower", .after = ""}},
                    unknown[] = {{.name = "f.a", .within = "lowering", .after = ""}},
                    mixed[] = {{.name = "f.a", .within = "emit", .after = ""},
                               {.name = "f.b", .within = "lower", .after = ""}};
  bool right = !cg_misplaced_row(&(PassTable){good, 2}) &&
               cg_misplaced_row(&(PassTable){late, 2}) == &late[0] &&
               cg_misplaced_row(&(PassTable){unknown, 1}) == unknown &&
               cg_misplaced_row(&(PassTable){mixed, 2}) == &mixed[1];
  if (!right) {
    fprintf(stderr, "cg_misplaced_row does not see what it should\n");
    failures++;
  }
}

/* A pass that leaves a bad module is named. */
static void check_verifying(void) {
  static const Pass bad = {.name = "nvptx.bad",
                           .within = "optimize",
                           .after = "",
                           .when = always,
                           .text = TEXT_LLVM,
                           .run = leave_open_block};
  Cx *cx = cx_new();
  Cg *cg = CX_NEW(cx, Cg);
  CgKernel kernel = {0};
  CgRequest request = {.arch = "sm_90"};
  *cg = (Cg){.cx = cx,
             .symbol = "k",
             .name = "k",
             .out = &kernel,
             .request = &request,
             .target = &cg_target_nvptx};
  if (CX_TRY(cx)) {
    cg_open(cg);
    parse_module(cg, "define void @k() {\n  ret void\n}\n");
    cg->kernel = LLVMGetNamedFunction(cg->module, "k");
    cg_run_row(cg, &bad);
    fprintf(stderr, "a module with an open block passed\n");
    failures++;
  } else if (!strstr(cx->diag.message, "nvptx.bad")) {
    fprintf(stderr, "the message does not name the pass: %s\n", cx->diag.message);
    failures++;
  }
  cg_close(cg);
  cx_free(cx);
}

int main(int argc, char **argv) {
  bool update = argc > 1 && !strcmp(argv[1], "--update");
  int first = 1 + update;
  glob_t found = {0};
  for (int k = first; k < argc; k++)
    run_file(argv[k], update);
  if (first < argc)
    return failures != 0;
  static const char *const patterns[] = {"tests/passes/*/*/*.ll", "tests/passes/*/*/*.ssa",
                                         "tests/passes/*/*/*.ptx"};
  for (int k = 0; k < 3; k++)
    glob(patterns[k], k ? GLOB_APPEND : 0, NULL, &found);
  for (size_t k = 0; k < found.gl_pathc; k++)
    run_file(found.gl_pathv[k], update);
  fprintf(stderr, "%zu cases\n", found.gl_pathc);
  globfree(&found);
  check_cases();
  check_order();
  check_verifying();
  return failures != 0;
}
