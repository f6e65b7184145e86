/* Ptxas: NVIDIA's assembler as a subprocess, if it is installed: PTX to cubin for `--emit cubin`
 * and tests. Kernels do not need it: the driver assembles their PTX. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/compile.h"

extern char **environ;

/* --- finding it --- */

static int is_program(const char *path, char *out, size_t size) {
  struct stat s;
  if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || access(path, X_OK) != 0 || strlen(path) >= size)
    return 0;
  strcpy(out, path);
  return 1;
}

static int in_folder(const char *folder, size_t n, const char *below, char *out, size_t size) {
  char path[PATH_MAX];
  if (!n || snprintf(path, sizeof path, "%.*s%s/ptxas", (int)n, folder, below) >= (int)sizeof path)
    return 0;
  return is_program(path, out, size);
}

int cg_find_ptxas(char *path, size_t size) {
  const char *given = getenv("PYPTX_PTXAS");
  if (given && *given) /* the user's choice is final: there is no search */
    return is_program(given, path, size) ? 0 : -1;
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
  for (size_t k = 0; k < sizeof homes / sizeof *homes; k++) {
    const char *home = getenv(homes[k]);
    if (home && in_folder(home, strlen(home), "/bin", path, size))
      return 0;
  }
  for (const char *p = getenv("PATH"); p && *p;) {
    size_t n = strcspn(p, ":");
    if (in_folder(p, n, "", path, size))
      return 0;
    p += n + (p[n] == ':');
  }
  return in_folder("/usr/local/cuda/bin", 19, "", path, size) ? 0 : -1;
}

/* --- running it --- */

/* The files of one run, in a temporary folder. */
typedef struct Job {
  char folder[PATH_MAX - 16], ptx[PATH_MAX], cubin[PATH_MAX], log[PATH_MAX];
} Job;

static void job_close(Job *j) {
  unlink(j->ptx), unlink(j->cubin), unlink(j->log);
  rmdir(j->folder);
}

/* -1 with errno, in which case no files are left. */
static int job_open(Job *j, const char *ptx) {
  const char *tmp = getenv("TMPDIR");
  snprintf(j->folder, sizeof j->folder, "%s/pyptx-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(j->folder))
    return -1;
  snprintf(j->ptx, sizeof j->ptx, "%s/kernel.ptx", j->folder);
  snprintf(j->cubin, sizeof j->cubin, "%s/kernel.cubin", j->folder);
  snprintf(j->log, sizeof j->log, "%s/log", j->folder);
  FILE *f = fopen(j->ptx, "we");
  bool ok = f && fputs(ptx, f) >= 0;
  ok = f && fclose(f) == 0 && ok;
  if (ok)
    return 0;
  int why = errno;
  job_close(j);
  errno = why;
  return -1;
}

/* 0 if it succeeded, or if its status is not available because the process ignores SIGCHLD; then
 * the cubin's existence tells. */
static int wait_for(pid_t pid) {
  int state = 0;
  while (waitpid(pid, &state, 0) < 0)
    if (errno != EINTR)
      return errno == ECHILD ? 0 : -1;
  return WIFEXITED(state) && WEXITSTATUS(state) == 0 ? 0 : -1;
}

static int run_ptxas(const char *program, const Job *j, const char *arch) {
  char option[64];
  snprintf(option, sizeof option, "-arch=%s", arch);
  char *args[] = {"ptxas", option, (char *)(uintptr_t)j->ptx, "-o", (char *)(uintptr_t)j->cubin,
                  NULL};
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files))
    return -1;
  posix_spawn_file_actions_addopen(&files, 1, j->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid;
  int failed = posix_spawn(&pid, program, &files, NULL, args, environ);
  posix_spawn_file_actions_destroy(&files);
  return failed ? -1 : wait_for(pid);
}

static void *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rbe");
  if (!f)
    return NULL;
  char *bytes = NULL;
  size_t n = 0, got;
  bool whole = true;
  do {
    char *grown = realloc(bytes, n + 65536 + 1);
    whole = grown != NULL;
    bytes = whole ? grown : bytes;
    got = whole ? fread(bytes + n, 1, 65536, f) : 0;
    n += got;
  } while (got);
  whole = whole && !ferror(f);
  fclose(f);
  if (!whole) {
    free(bytes);
    return NULL;
  }
  bytes[n] = 0;
  *size = n;
  return bytes;
}

/* A diagnostic outside of a compilation. */
static Diag *say(ErrorId id, const char *what) {
  char text[1500];
  snprintf(text, sizeof text, ir_errors[id].message, what);
  Diag d = {.id = id, .message = text, .remedy = (char *)(uintptr_t)ir_errors[id].remedy};
  return diag_copy(&d);
}

/* The PTX's own architecture where that is `arch` with a letter: sm_90a. */
static const char *target_of(const char *ptx, const char *arch, char out[16]) {
  static const char word[] = "\n.target ";
  const char *s = strstr(ptx, word);
  size_t n = strlen(arch);
  if (!s || strncmp(s + sizeof word - 1, arch, n) != 0 || s[sizeof word - 1 + n] != 'a' || n > 13)
    return arch;
  snprintf(out, 16, "%sa", arch);
  return out;
}

int cg_assemble(const char *ptx, const char *arch, void **cubin, size_t *size, Diag **error) {
  char program[PATH_MAX];
  *cubin = NULL, *error = NULL;
  if (cg_find_ptxas(program, sizeof program)) {
    *error = say(ERR_NO_PTXAS, "");
    return -1;
  }
  Job j;
  if (job_open(&j, ptx)) {
    *error = say(ERR_PTXAS, strerror(errno));
    return -1;
  }
  char own[16];
  if (run_ptxas(program, &j, target_of(ptx, arch, own)) == 0)
    *cubin = read_file(j.cubin, size);
  if (!*cubin) {
    size_t n = 0;
    char *log = read_file(j.log, &n);
    if (log && n > 1000)
      log[1000] = 0;
    *error = say(ERR_PTXAS, log && n ? log : "it could not be run");
    free(log);
  }
  job_close(&j);
  return *cubin ? 0 : -1;
}
