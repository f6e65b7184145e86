/* Lowering of the recorded functions: the signatures of tests/cases/types/NAME.types go through the
 * whole compiler, for the GPU and for the host, from the code objects of every recorded CPython
 * version. The machine code must not depend on the version: so versions without an interpreter on
 * this machine are covered too. What typing rejects (the error goldens) is left out. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/compile.h"
#include "runtime/host/calls.h"
#include "runtime/host/host.h"
#include "tests/unit/support/corpus.h"

enum { VERSIONS = 4 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STEP = VERSIONS - 1 }; /* the first and the last: here each costs twice as much */
#else
enum { STEP = 1 };
#endif

static const CgSymbol host_symbols[] = {
    {"rt_host_trap", (void *)(uintptr_t)rt_host_trap},
    {"rt_host_print", (void *)(uintptr_t)rt_host_print},
    {"rt_host_trap_in_line", (void *)(uintptr_t)rt_host_trap_in_line},
    {"rt_host_at_safepoint", (void *)(uintptr_t)rt_host_at_safepoint},
    {"rt_host_safepoint", (void *)(uintptr_t)rt_host_safepoint},
    {0}};
static int failures;
static unsigned compiled_functions;
static Corpus *corpora[VERSIONS];

/* The assembly, or the message of an error; malloc'd. */
static char *assembly(const FrozenFunc *f, const char *signature, CgTarget target, unsigned numba,
                      unsigned device) {
  CgRequest r = {
      .func = f,
      .signature = signature,
      .target = target,
      .want = CG_WANT_ASM,
      .arch = target == CG_NVPTX ? "sm_80" : NULL,
      .symbols = host_symbols,
      .options = {.opt = 3, .fma = 1, .numba_typing = (int)numba, .device_function = (int)device}};
  CgKernel *k = NULL;
  Diag *error = NULL;
  char *text;
  if (cg_compile(&r, &k, &error) == 0) {
    compiled_functions++;
    text = strdup(target == CG_NVPTX ? k->ptx : k->assembly);
  } else {
    text = strdup(error ? error->message : "no memory");
  }
  cg_kernel_free(k);
  diag_free(error);
  return text;
}

static void compare(const char *name, const char *signature, CgTarget target, unsigned numba,
                    unsigned device) {
  char *first = NULL;
  for (int v = 0; v < VERSIONS; v += STEP) {
    const FrozenFunc *f = corpus_func(corpora[v], name);
    char *text = f ? assembly(f, signature, target, numba, device) : strdup("no such function");
    if (first && strcmp(first, text)) {
      fprintf(stderr, "%s(%s) for the %s: %s differs from %s\n", name, signature,
              target == CG_NVPTX ? "GPU" : "host", corpus_versions[v], corpus_versions[0]);
      failures++;
    }
    if (first)
      free(text);
    else
      first = text;
  }
  free(first);
}

/* A golden's line "== -d -n SIGNATURE"; its text is an error where it begins with a code. */
static void section(const char *name, char *line) {
  unsigned numba = 0, device = 0;
  char *s = line + 3;
  for (; *s == '-' && s[1]; s += 3) {
    numba |= s[1] == 'n';
    device |= s[1] == 'd';
  }
  compare(name, s, CG_NVPTX, numba, device);
  if (!device) /* a function alone has no host entry */
    compare(name, s, CG_HOST, numba, device);
}

static void golden(const char *folder, const char *file) {
  char path[512], name[256], line[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "== ", 3) == 0)
      section(name, line);
  }
  if (f)
    fclose(f);
}

int main(void) {
  static const char folder[] = "tests/cases/types";
  DIR *d = opendir(folder);
  for (int v = 0; v < VERSIONS; v++) {
    corpora[v] = corpus_open(corpus_versions[v]);
    if (!corpora[v] || !d) {
      fprintf(stderr, "no corpus of %s\n", corpus_versions[v]);
      return 1;
    }
  }
  for (struct dirent *e; (e = readdir(d));) {
    const char *dot = strchr(e->d_name, '.');
    if (dot && strcmp(dot, ".types") == 0)
      golden(folder, e->d_name);
  }
  closedir(d);
  for (int v = 0; v < VERSIONS; v++)
    corpus_close(corpora[v]);
  if (compiled_functions < 400 / STEP) {
    fprintf(stderr, "only %u compilations succeeded\n", compiled_functions);
    failures++;
  }
  printf("%u compilations, %d differences\n", compiled_functions, failures);
  return failures != 0;
}
