/* compile_corpus: compiles a recorded function and prints what was asked for, or the error.
 *
 * usage: compile_corpus [OPTION]… VERSION NAME SIGNATURE
 *   -a ARCH     sm_XX (default sm_80), or host
 *   -e KIND     ssa types llvm llvm-opt ptx (asm on the host) params; default ptx
 *   -O N        0 to 3 (default 3)      -f  fastmath       -n  no fma      -m  Numba's typing
 *   -g debug    -l lines                -b  index checks   -x  exceptions  -d  a device function
 *   -D LETTERS  dump passes ('t': times)
 *   -r N        compile N times, and say how long each took */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "codegen/compile.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"
#include "tests/unit/support/corpus.h"

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static const struct {
  const char *name;
  unsigned want;
} kinds[] = {{"ssa", CG_WANT_SSA},   {"types", CG_WANT_TYPES},
             {"llvm", CG_WANT_LLVM}, {"llvm-opt", CG_WANT_LLVM_OPT},
             {"asm", CG_WANT_ASM},   {"ptx", 0},
             {"params", 0}};

static void print_params(const CgKernel *k) {
  static const char *const names[] = {
#define FIELD(ID, size, align, doc) #ID,
#include "runtime/abi.def"
#undef FIELD
  };
  for (uint32_t n = 0; n < k->params.nfields; n++) {
    const RtField *f = &k->params.fields[n];
    printf("%s leaf %u axis %u size %u offset %u\n", names[f->kind], f->leaf, f->axis, f->size,
           f->offset);
  }
  for (uint32_t n = 0; n < k->nargs; n++)
    printf("arg %u:%s%s%s\n", n, k->args[n].is_array ? " array" : "",
           k->args[n].read ? " read" : "", k->args[n].written ? " written" : "");
  printf("%u bytes, shared %u, local %u%s%s%s\n", k->params.bytes, k->static_shared, k->local_bytes,
         k->uses_dynamic_shared ? ", dynamic shared" : "", k->has_barrier ? ", barrier" : "",
         k->has_trap ? ", trap" : "");
}

static void print_kind(const CgKernel *k, const char *kind) {
  const char *text = strcmp(kind, "ssa") == 0        ? k->ssa
                     : strcmp(kind, "types") == 0    ? k->types
                     : strcmp(kind, "llvm") == 0     ? k->llvm
                     : strcmp(kind, "llvm-opt") == 0 ? k->llvm_opt
                     : strcmp(kind, "asm") == 0      ? k->assembly
                                                     : k->ptx;
  if (strcmp(kind, "params") == 0)
    print_params(k);
  else
    fputs(text ? text : "(none)\n", stdout);
}

int main(int argc, char **argv) {
  CgRequest r = {.arch = "sm_80", .options = {.opt = 3, .fma = 1}};
  const CgSymbol symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
      {0}};
  const char *kind = "ptx";
  int option, repeat = 1;
  while ((option = getopt(argc, argv, "a:e:O:fnmglbxdD:r:")) != -1)
    switch (option) {
    case 'a': r.arch = optarg; break;
    case 'e': kind = optarg; break;
    case 'O': r.options.opt = atoi(optarg); break;
    case 'f': r.options.fastmath = 511; break;
    case 'n': r.options.fma = 0; break;
    case 'm': r.options.numba_typing = 1; break;
    case 'g': r.options.debug = 1; break;
    case 'l': r.options.lineinfo = 1; break;
    case 'b': r.options.boundscheck = 1; break;
    case 'x': r.options.exceptions = 1; break;
    case 'd': r.options.device_function = 1; break;
    case 'D': r.dump = optarg; break;
    case 'r': repeat = atoi(optarg); break;
    default: return 2;
    }
  Corpus *c = argc - optind == 3 ? corpus_open(argv[optind]) : NULL;
  r.func = c ? corpus_func(c, argv[optind + 1]) : NULL;
  if (!r.func) {
    fprintf(
        stderr,
        "usage: compile_corpus [OPTION]... VERSION NAME SIGNATURE (options: see tests/tools/compile_corpus.c)\n");
    return 2;
  }
  r.signature = argv[optind + 2];
  if (strcmp(r.arch, "host") == 0)
    r.target = CG_HOST, r.arch = NULL, r.symbols = symbols;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strcmp(kinds[k].name, kind) == 0)
      r.want = kinds[k].want;
  int failed = 0;
  for (int n = 0; n < repeat; n++) {
    CgKernel *k = NULL;
    Diag *error = NULL;
    double start = now_ms();
    failed = cg_compile(&r, &k, &error);
    double end = now_ms();
    if (repeat > 1)
      fprintf(stderr, "%.2f ms\n", end - start);
    if (failed) {
      char *text = error ? diag_render(error, NULL, NULL) : NULL;
      fputs(text ? text : "no memory\n", stdout);
      free(text);
      n = repeat;
    } else if (n + 1 == repeat) {
      print_kind(k, kind);
    }
    cg_kernel_free(k);
    diag_free(error);
  }
  corpus_close(c);
  return failed ? 1 : 0;
}
