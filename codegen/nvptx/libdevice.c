/* Libdevice: finds the file, reads it once in a process, and links the functions that a kernel
 * calls.
 *
 * The file holds some 500 functions, of which a kernel needs a few. Reading all bodies takes 20 ms,
 * the symbol table 1 ms. So the file is read lazily, and functions that are not called get internal
 * linkage, so that LLVM's linker drops them. The result is kept as bitcode, by the set of called
 * functions, since most kernels call the same few: the next kernel reads nothing else. Libdevice
 * selects between its variants by calls of __nvvm_reflect, which are folded here. */
#include "codegen/nvptx/libdevice.h"

#include <assert.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/nvptx/nvptx.h"

/* --- finding it --- */

typedef struct Search {
  char *found;  /* PATH_MAX bytes */
  char *looked; /* may be NULL */
  size_t looked_size, looked_len;
} Search;

static void note_place(Search *s, const char *path) {
  if (!s->looked || s->looked_len >= s->looked_size)
    return;
  int n = snprintf(s->looked + s->looked_len, s->looked_size - s->looked_len, "%s%s",
                   s->looked_len ? ", " : "", path);
  s->looked_len += n > 0 ? (size_t)n : 0;
}

static bool try_file(Search *s, const char *path) {
  struct stat about;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || access(path, R_OK) != 0 ||
      strlen(path) >= PATH_MAX)
    return false;
  memmove(s->found, path, strlen(path) + 1);
  return true;
}

/* Tries the matches of folder/pattern, the last in alphabetical order (the newest) first. */
static bool try_glob(Search *s, const char *folder, const char *pattern) {
  char path[PATH_MAX];
  if (!folder || !*folder ||
      snprintf(path, sizeof path, "%s/%s", folder, pattern) >= (int)sizeof path)
    return false;
  glob_t g = {0};
  bool found = false;
  if (glob(path, 0, NULL, &g) == 0)
    for (size_t k = g.gl_pathc; k-- > 0 && !found;)
      found = try_file(s, g.gl_pathv[k]);
  globfree(&g);
  if (!found)
    note_place(s, path);
  return found;
}

static bool try_site_packages(Search *s, const char *folder) {
  return try_glob(s, folder, "nvidia/*/nvvm/libdevice/libdevice*.bc") ||
         try_glob(s, folder, "triton/backends/nvidia/lib/libdevice*.bc");
}

static bool try_toolkit(Search *s, const char *folder) {
  return try_glob(s, folder, "nvvm/libdevice/libdevice*.bc");
}

/* The folder of site packages in which our own package is installed, and others may be. */
static bool try_beside_us(Search *s) {
  Dl_info info;
  char folder[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)cg_find_libdevice, &info) || !info.dli_fname ||
      strlen(info.dli_fname) >= sizeof folder)
    return false;
  strcpy(folder, info.dli_fname);
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(folder, '/');
    if (!slash)
      return false;
    *slash = 0;
  }
  return try_site_packages(s, folder);
}

const char *cg_find_libdevice(char *looked, size_t looked_size) {
  static _Thread_local char found[PATH_MAX];
  Search s = {.found = found, .looked = looked, .looked_size = looked_size};
  if (looked_size)
    *looked = 0;
  const char *given = getenv("PYPTX_LIBDEVICE");
  if (given && *given) { /* the user's choice is final: there is no search */
    note_place(&s, given);
    return try_file(&s, given) ? found : NULL;
  }
  bool ok = try_toolkit(&s, getenv("CUDA_HOME")) || try_toolkit(&s, getenv("CUDA_PATH")) ||
            try_beside_us(&s) || try_toolkit(&s, "/usr/local/cuda") ||
            try_glob(&s, "/usr/local", "cuda-*/nvvm/libdevice/libdevice*.bc") ||
            try_toolkit(&s, "/opt/cuda") ||
            try_glob(&s, "/usr/lib/nvidia-cuda-toolkit/libdevice", "libdevice*.bc");
  return ok ? found : NULL;
}

/* --- reading it, once in a process --- */

/* The functions of some names and all their callees, as bitcode. */
typedef struct Part {
  struct Part *next;
  char *names; /* each followed by a space */
  LLVMMemoryBufferRef bitcode;
} Part;

/* Immutable except for `parts`; lives as long as the process. */
typedef struct Library {
  struct Library *next;
  char *path;
  char *bytes;
  size_t nbytes;
  unsigned char digest[CG_DIGEST_BYTES]; /* of the bytes */
  Part *parts;                           /* only grows; guarded by library_lock */
  int nparts;
} Library;

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static bool read_bytes(Library *lib) {
  FILE *f = fopen(lib->path, "rbe");
  if (!f)
    return false;
  long n = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  lib->bytes = n > 0 ? malloc((size_t)n) : NULL;
  bool ok = lib->bytes && fseek(f, 0, SEEK_SET) == 0 &&
            fread(lib->bytes, 1, (size_t)n, f) == (size_t)n;
  lib->nbytes = ok ? (size_t)n : 0;
  fclose(f);
  if (ok)
    cg_digest(lib->bytes, lib->nbytes, lib->digest);
  return ok;
}

static void library_free(Library *lib) {
  free(lib->bytes);
  free(lib->path);
  free(lib);
}

static Library *library_read(const char *path) {
  Library *lib = calloc(1, sizeof *lib);
  if (lib && (lib->path = strdup(path)) && read_bytes(lib))
    return lib;
  if (lib)
    library_free(lib);
  return NULL;
}

/* The library of a path; NULL if it cannot be read. The list only grows, by one entry for a
 * path. */
static Library *library_open(const char *path) {
  static Library *all;
  pthread_mutex_lock(&library_lock);
  Library *lib = all;
  while (lib && strcmp(lib->path, path) != 0)
    lib = lib->next;
  if (!lib && (lib = library_read(path))) {
    lib->next = all;
    all = lib;
  }
  pthread_mutex_unlock(&library_lock);
  return lib;
}

/* --- the parts of it that kernels need --- */

static bool is_wanted(LLVMValueRef f) {
  return LLVMIsDeclaration(f) && LLVMGetFirstUse(f) &&
         strncmp(LLVMGetValueName(f), "__nv_", 5) == 0;
}

/* The names of the functions that the module calls, each followed by a space; NULL if none. */
static const char *wanted_names(Cg *cg) {
  Buf b;
  buf_init(&b, &cg->cx->arena);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (is_wanted(f))
      buf_printf(&b, "%s ", LLVMGetValueName(f));
  return b.len ? b.text : NULL;
}

/* Removes the first of the names, and returns it; NULL if there is none left. */
static const char *next_name(Cg *cg, const char **names) {
  size_t n = strcspn(*names, " ");
  const char *name = n ? arena_strndup(&cg->cx->arena, *names, n) : NULL;
  *names += n + (n > 0);
  return name;
}

static LLVMModuleRef read_library(Cg *cg, const Library *lib, const char *names) {
  LLVMModuleRef m;
  LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRange(lib->bytes, lib->nbytes,
                                                                    "libdevice", 0);
  if (LLVMGetBitcodeModuleInContext2(cg->context, bytes, &m)) { /* else it owns the bytes */
    LLVMDisposeMemoryBuffer(bytes);
    fail(cg->cx, (Loc){0}, ERR_LIBDEVICE, next_name(cg, &names),
         arena_printf(&cg->cx->arena, "%s, which is damaged", lib->path));
  }
  return m;
}

static void link_modules(Cg *cg, LLVMModuleRef into, LLVMModuleRef from) {
  if (LLVMLinkModules2(into, from))
    fail(cg->cx, (Loc){0}, ERR_LLVM, cg->complaint ? cg->complaint : "libdevice cannot be linked");
}

/* Declares the named functions of the library in `part`. */
static void declare_wanted(Cg *cg, const Library *lib, LLVMModuleRef part, LLVMModuleRef all,
                           const char *names) {
  for (const char *name; (name = next_name(cg, &names));) {
    LLVMValueRef f = LLVMGetNamedFunction(all, name);
    if (!f || LLVMIsDeclaration(f))
      fail(cg->cx, (Loc){0}, ERR_LLVM,
           arena_printf(&cg->cx->arena, "%s has no function %s", lib->path, name));
    LLVMAddFunction(part, name, LLVMGlobalGetValueType(f));
  }
}

static LLVMMemoryBufferRef make_part(Cg *cg, const Library *lib, const char *names) {
  LLVMModuleRef all = read_library(cg, lib, names),
                part = LLVMModuleCreateWithNameInContext("libdevice", cg->context);
  declare_wanted(cg, lib, part, all, names);
  for (LLVMValueRef f = LLVMGetFirstFunction(all); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && !LLVMGetNamedFunction(part, LLVMGetValueName(f)))
      LLVMSetLinkage(f, LLVMInternalLinkage);
  LLVMSetTarget(all, LLVMGetTarget(cg->module));
  LLVMSetModuleDataLayout(all, cg->layout);
  LLVMSetTarget(part, LLVMGetTarget(cg->module));
  LLVMSetModuleDataLayout(part, cg->layout);
  link_modules(cg, part, all);
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(part);
  LLVMDisposeModule(part);
  return bitcode;
}

static const Part *find_part(const Library *lib, const char *names) {
  const Part *p = lib->parts;
  while (p && strcmp(p->names, names) != 0)
    p = p->next;
  return p;
}

/* The bitcode of the part for these names, made now or kept from before. *mine: the caller disposes
 * of it. */
static LLVMMemoryBufferRef open_part(Cg *cg, Library *lib, const char *names, bool *mine) {
  enum { MAX_PARTS = 256 };
  pthread_mutex_lock(&library_lock);
  const Part *known = find_part(lib, names);
  pthread_mutex_unlock(&library_lock);
  *mine = !known;
  if (known)
    return known->bitcode;
  LLVMMemoryBufferRef bitcode = make_part(cg, lib, names);
  Part *new = calloc(1, sizeof *new);
  char *copy = strdup(names);
  pthread_mutex_lock(&library_lock);
  if (new &&copy && lib->nparts < MAX_PARTS && !find_part(lib, names)) {
    *new = (Part){.next = lib->parts, .names = copy, .bitcode = bitcode};
    lib->parts = new;
    lib->nparts++;
    *mine = false;
    new = NULL, copy = NULL;
  }
  pthread_mutex_unlock(&library_lock);
  free(new);
  free(copy);
  return bitcode;
}

/* --- linking --- */

static void link_wanted(Cg *cg, Library *lib, const char *names) {
  bool mine;
  assert(*names && names[strlen(names) - 1] == ' ');
  LLVMMemoryBufferRef bitcode = open_part(cg, lib, names, &mine);
  LLVMModuleRef m;
  bool bad = LLVMParseBitcodeInContext2(cg->context, bitcode, &m);
  if (mine)
    LLVMDisposeMemoryBuffer(bitcode);
  if (bad)
    cx_bug(cg->cx, "libdevice's part for %s cannot be read", names);
  link_modules(cg, cg->module, m);
  for (const char *name; (name = next_name(cg, &names));)
    LLVMSetLinkage(LLVMGetNamedFunction(cg->module, name), LLVMInternalLinkage);
}

/* The name that a call of __nvvm_reflect asks for: a constant string, perhaps cast; NULL if it is
 * not known. */
static const char *reflected(LLVMValueRef call, size_t *n) {
  LLVMValueRef v = LLVMGetOperand(call, 0);
  while (v && LLVMIsAConstantExpr(v))
    v = LLVMGetOperand(v, 0);
  LLVMValueRef init = v && LLVMIsAGlobalVariable(v) ? LLVMGetInitializer(v) : NULL;
  return init && LLVMIsConstantString(init) ? LLVMGetAsString(init, n) : NULL;
}

static void answer_reflection(Cg *cg) {
  int fast = cg->options.fastmath;
  const struct {
    const char *name;
    int value;
  } answers[] = {
      {"__CUDA_FTZ", (fast & CG_FAST_FTZ) != 0},
      {"__CUDA_PREC_DIV", !(fast & CG_FAST_DIV)},
      {"__CUDA_PREC_SQRT", !(fast & CG_FAST_SQRT)},
      {"__CUDA_ARCH", cg_nvptx_arch_number(cg) * 10},
  };
  LLVMValueRef reflect = LLVMGetNamedFunction(cg->module, "__nvvm_reflect");
  LLVMUseRef use;
  while (reflect && (use = LLVMGetFirstUse(reflect))) {
    LLVMValueRef call = LLVMGetUser(use);
    size_t n = 0;
    const char *name = LLVMIsACallInst(call) ? reflected(call, &n) : NULL;
    int value = 0;
    for (size_t k = 0; name && k < sizeof answers / sizeof *answers; k++)
      if (strncmp(answers[k].name, name, n) == 0 && strlen(answers[k].name) <= n)
        value = answers[k].value;
    LLVMReplaceAllUsesWith(call, l_int(LLVMTypeOf(call), (unsigned)value));
    LLVMInstructionEraseFromParent(call);
  }
}

/* These are documented to give the low 32 bits of the product. But their multiplication has flags
 * that rule out overflow, by which LLVM widens it in the caller. */
static const char *const wrapping[] = {"__nv_mul24", "__nv_umul24"};

static void let_multiply_wrap(LLVMValueRef fn) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (LLVMGetInstructionOpcode(i) == LLVMMul) {
        LLVMSetNSW(i, 0);
        LLVMSetNUW(i, 0);
      }
}

void cg_link_libdevice(Cg *cg) {
  const char *names = wanted_names(cg), *rest = names;
  if (!names)
    return;
  char looked[1024];
  const char *path = cg_find_libdevice(looked, sizeof looked);
  if (!path)
    fail(cg->cx, (Loc){0}, ERR_LIBDEVICE, next_name(cg, &rest),
         arena_strdup(&cg->cx->arena, looked));
  Library *lib = library_open(path);
  if (!lib)
    fail(cg->cx, (Loc){0}, ERR_LIBDEVICE, next_name(cg, &rest),
         arena_printf(&cg->cx->arena, "%s, which is damaged", path));
  link_wanted(cg, lib, names);
  cg->out->uses_libdevice = 1;
  memcpy(cg->out->libdevice, lib->digest, sizeof cg->out->libdevice);
  answer_reflection(cg);
  for (size_t k = 0; k < sizeof wrapping / sizeof *wrapping; k++) {
    LLVMValueRef fn = LLVMGetNamedFunction(cg->module, wrapping[k]);
    if (fn)
      let_multiply_wrap(fn);
  }
  cg_check_complaint(cg);
}

/* --- its digest, for cache keys --- */

/* The digest of a file, valid while its size and times stay the same. */
typedef struct Known {
  struct Known *next;
  char *path;
  struct stat about;
  unsigned char digest[CG_DIGEST_BYTES];
} Known;

static bool looks_the_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static Known *known_read(const char *path, const struct stat *about) {
  Library lib = {.path = (char *)(uintptr_t)path};
  bool ok = read_bytes(&lib);
  free(lib.bytes);
  Known *k = ok ? calloc(1, sizeof *k) : NULL;
  if (k && !(k->path = strdup(path))) {
    free(k);
    k = NULL;
  }
  if (k) {
    k->about = *about;
    memcpy(k->digest, lib.digest, sizeof k->digest);
  }
  return k;
}

/* The list only grows, by an entry for each path and each change of it. */
bool cg_libdevice_digest(unsigned char digest[CG_DIGEST_BYTES]) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static Known *all;
  char looked[1];
  struct stat about;
  const char *path = cg_find_libdevice(looked, sizeof looked);
  if (!path || stat(path, &about))
    return false;
  pthread_mutex_lock(&lock);
  Known *k = all;
  while (k && !(strcmp(k->path, path) == 0 && looks_the_same(&k->about, &about)))
    k = k->next;
  if (!k && (k = known_read(path, &about))) {
    k->next = all;
    all = k;
  }
  if (k)
    memcpy(digest, k->digest, CG_DIGEST_BYTES);
  pthread_mutex_unlock(&lock);
  return k != NULL;
}
