/* A libcuda that loads modules otherwise than they were given, and is the driver's for all else: built against the real one, whose other
 * entry points are found behind it (tests/gpu/faults.py builds it, and PYPTX_DRIVER names it). From the environment:
 *
 *   SHIM_LEVEL=0…4      the optimisation of the driver's compiler
 *   SHIM_PTXAS=OPTIONS  ptxas with these options makes the cubin instead
 *   SHIM_EDIT=COMMAND   a filter that the PTX goes through before, with SHIM_PTXAS
 *   SHIM_KEEP=FILE      FILE.ptx, and FILE.cubin, which the driver's compiler made of it
 *   SHIM_STACK=BYTES    of local memory for calls, of each thread
 *
 * What a kernel takes of a thread's local memory and registers goes to the standard error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Result;
typedef void *Handle;
typedef Result Load(Handle *module, const void *image, unsigned count, int *options, void **values);
Load cuModuleLoadDataEx;
Result cuModuleGetFunction(Handle *function, Handle module, const char *name);
Result cuFuncGetAttribute(int *value, int attribute, Handle function);
Result cuCtxSetLimit(int limit, size_t value) __attribute__((weak));
Result cuCtxGetLimit(size_t *value, int limit) __attribute__((weak));
Result cuLinkCreate_v2(unsigned count, int *options, void **values, Handle *state);
Result cuLinkAddData_v2(Handle state, int kind, void *data, size_t bytes, const char *name,
                        unsigned count, int *options, void **values);
Result cuLinkComplete(Handle state, void **cubin, size_t *bytes);

enum { LEVEL = 7, STACK = 0, PTX = 1, REGISTERS = 4, LOCAL = 3, NO_BINARY = 209 };

static void *whole_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END))
    return NULL;
  *bytes = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*bytes + 1);
  if (fread(text, 1, *bytes, f) != *bytes)
    *bytes = 0;
  text[*bytes] = 0;
  fclose(f);
  return text;
}

static void write_file(const char *base, const char *end, const void *data, size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", base, end);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes)
    fprintf(stderr, "shim: %s cannot be written\n", path);
  if (f)
    fclose(f);
}

/* The cubin that ptxas makes, or NULL. */
static void *assembled(const char *ptx, const char *how) {
  char base[64] = "/tmp/shim-XXXXXX", command[4096], target[32] = "sm_90";
  const char *at = strstr(ptx, ".target ");
  size_t bytes;
  if (!mkdtemp(base))
    return NULL;
  if (at)
    sscanf(at, ".target %31[a-z0-9_]", target);
  strcat(base, "/k");
  write_file(base, ".ptx", ptx, strlen(ptx));
  if (getenv("SHIM_EDIT")) {
    snprintf(command, sizeof command, "%s < %s.ptx > %s.edited && mv %s.edited %s.ptx",
             getenv("SHIM_EDIT"), base, base, base, base);
    if (system(command))
      return NULL;
  }
  snprintf(command, sizeof command, "ptxas -arch=%s %s %s.ptx -o %s.cubin >&2", target, how, base,
           base);
  if (system(command))
    return NULL;
  strcat(base, ".cubin");
  return whole_file(base, &bytes);
}

static Result by_driver(Handle *module, const void *image, unsigned count, int *options,
                        void **values, int level);

static Result through_linker(Handle *module, const char *ptx, const char *keep, int level) {
  Handle state;
  void *cubin, *values[] = {(void *)(intptr_t)level};
  size_t bytes;
  int options[] = {LEVEL};
  write_file(keep, ".ptx", ptx, strlen(ptx));
  Result result = cuLinkCreate_v2(level >= 0, options, values, &state);
  if (!result)
    result = cuLinkAddData_v2(state, PTX, (void *)(uintptr_t)ptx, strlen(ptx) + 1, "k", 0, NULL,
                              NULL);
  if (!result)
    result = cuLinkComplete(state, &cubin, &bytes);
  if (result)
    return result;
  write_file(keep, ".cubin", cubin, bytes);
  return by_driver(module, cubin, 0, NULL, NULL, -1);
}

static void tell(Handle module, const char *ptx) {
  char name[256];
  const char *at = strstr(ptx, ".entry ");
  Handle f;
  int local = -1, registers = -1;
  size_t stack = 0;
  if (!at || sscanf(at, ".entry %255[A-Za-z0-9_$]", name) != 1 ||
      cuModuleGetFunction(&f, module, name))
    return;
  cuFuncGetAttribute(&local, LOCAL, f);
  cuFuncGetAttribute(&registers, REGISTERS, f);
  if (cuCtxGetLimit)
    cuCtxGetLimit(&stack, STACK);
  fprintf(stderr, "shim: %s: %d bytes of local memory, %d registers, stack limit %zu\n", name,
          local, registers, stack);
}

/* With the level beside the options that it was given. */
static Result by_driver(Handle *module, const void *image, unsigned count, int *options,
                        void **values, int level) {
  Load *real = (Load *)dlsym(RTLD_NEXT, "cuModuleLoadDataEx");
  int more[32];
  void *more_values[32];
  if (level < 0 || count > 31)
    return real(module, image, count, options, values);
  memcpy(more, options, count * sizeof *more);
  memcpy(more_values, values, count * sizeof *more_values);
  more[count] = LEVEL;
  more_values[count] = (void *)(intptr_t)level;
  return real(module, image, count + 1, more, more_values);
}

Result cuModuleLoadDataEx(Handle *module, const void *image, unsigned count, int *options,
                          void **values) {
  const char *level = getenv("SHIM_LEVEL"), *ptxas = getenv("SHIM_PTXAS"),
             *keep = getenv("SHIM_KEEP"), *stack = getenv("SHIM_STACK");
  int is_ptx = memcmp(image, "\177ELF", 4) != 0, wanted = level ? atoi(level) : -1;
  if (stack && cuCtxSetLimit && cuCtxSetLimit(STACK, strtoul(stack, NULL, 0)))
    fprintf(stderr, "shim: the stack limit was refused\n");
  void *cubin = ptxas && is_ptx ? assembled(image, ptxas) : NULL;
  if (ptxas && is_ptx && !cubin)
    return NO_BINARY;
  Result result = cubin            ? by_driver(module, cubin, count, options, values, -1)
                  : keep && is_ptx ? through_linker(module, image, keep, wanted)
                                   : by_driver(module, image, count, options, values, wanted);
  if (!result && is_ptx)
    tell(*module, image);
  return result;
}
