#include "tests/unit/support/standin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char standin_ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry vadd(.param .u64 a, .param .u32 n) { ret; }\n"
    ".visible .entry vadd$coarse(.param .u64 a, .param .u32 n, .param .u32 blocks) { ret; }\n"
    ".visible .entry stop(.param .u64 .ptr .global .align 8 a, .param .u32 n, .param .u64 t) { ret; }\n"
    ".visible .entry meet(\n\t.param .u64 a,\n\t.param .u32 n,\n\t.param .u64 t,\n\t.param .u64 g\n)\n{ ret; }\n"
    ".visible .entry empty() { ret; }\n";

const StandinControl *standin_open(int devices) {
#ifdef PYPTX_STANDIN
  char text[16];
  void *library = dlopen(PYPTX_STANDIN, RTLD_NOW | RTLD_LOCAL);
  const StandinControl *(*control)(void) = NULL;
  if (library)
    *(void **)&control = dlsym(library, "standin_control");
  if (!control)
    exit(77);
  snprintf(text, sizeof text, "%d", devices);
  setenv("PYPTX_STANDIN_DEVICES", text, 1);
  setenv("PYPTX_DRIVER", PYPTX_STANDIN, 1);
  return control();
#else
  (void)devices;
  exit(77);
#endif
}

/* A child that was skipped counts as good: where the stand-in is missing there is nothing to
 * hold. */
int scenario(const char *name, void (*run)(int n), int n) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    expect_failures = 0;
    run(n);
    exit(expect_failures != 0);
  }
  int status = -1;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
      (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77))
    return 0;
  fprintf(stderr, "scenario %s (%d) failed: %s %d\n", name, n,
          WIFSIGNALED(status) ? "signal" : "status",
          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return 1;
}

int standin_live(const StandinControl *control) {
  int n = 0;
  for (int kind = SI_CONTEXT + 1; kind < SI_KINDS; kind++)
    n += control->live((StandinKind)kind);
  return n;
}
