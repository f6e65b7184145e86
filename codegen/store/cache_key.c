/* Cache key. In: a request. Out: a hash over everything that its code depends on.
 *
 * Hashed are the frozen function, which is all that the compiler sees of Python; the signature; the
 * options; the target, down to the CPU's features; and the build of pyptx, which stands for the
 * compiler and LLVM. Not hashed are
 *   - where dumps go;
 *   - who counts lines (covers): such code is not kept;
 *   - the source text, which only messages of failed compilations show;
 *   - the name of a function's module, which nothing reads: a worker that imports the main program
 *     as __mp_main__ finds the same kernels;
 *   - file names (store.h);
 *   - libdevice, whose hash a stored kernel that was linked with it carries (kernel_bytes.c).
 *
 * Two processes must get the same hash for the same program, although one object in the first may
 * be two equal objects in the second. So immutable values are hashed by value: a tuple or code
 * object by its own digest, which is computed once and remembered by address. Objects that can be
 * part of a cycle (functions, modules, other namespaces) are hashed as a number, in the order of
 * first visit, and their contents from a work list. */
#include "codegen/store/store.h"

#include <assert.h>
#include <link.h>
#include <llvm-c/blake3.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/cg.h"
#include "frontend/snapshot.h"

/* A new member of one of these structures must be hashed below, or left out with a reason above;
 * then its size here is updated. */
_Static_assert(sizeof(Frozen) == 112, "put_frozen hashes every member of Frozen");
_Static_assert(sizeof(FrozenFunc) == 88, "put_function hashes every member of FrozenFunc");
_Static_assert(sizeof(FuncOptions) == 24, "put_function hashes every member of FuncOptions");
_Static_assert(sizeof(Code) == 168, "put_code hashes every member of Code");
_Static_assert(sizeof(CgRequest) == 176, "put_request hashes every member of CgRequest");

typedef llvm_blake3_hasher Hash;

/* What is known of the object at an address: its digest, or its number if it can be part of a
 * cycle. */
typedef struct Seen {
  const void *at;
  uint32_t number;
  unsigned char digest[CG_DIGEST_BYTES];
} Seen;

typedef struct Work { /* an object with a number, whose contents are still to be hashed */
  const FrozenFunc *func;
  const Frozen *space;
} Work;

typedef struct Keying {
  Cx *cx;
  const CgRequest *request;
  CgKey *key;
  Seen *seen; /* open addressing */
  uint32_t cap, len;
  VEC(Work) work; /* index: the number */
  VEC(const char *) files;
} Keying;

/* --- bytes --- */

void cg_digest(const void *data, size_t size, unsigned char out[CG_DIGEST_BYTES]) {
  Hash h;
  llvm_blake3_hasher_init(&h);
  llvm_blake3_hasher_update(&h, data, size);
  llvm_blake3_hasher_finalize(&h, out, CG_DIGEST_BYTES);
}

static void put(Hash *h, const void *data, size_t n) { llvm_blake3_hasher_update(h, data, n); }
static void put_number(Hash *h, uint64_t n) { put(h, &n, sizeof n); }

static void put_double(Hash *h, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  put_number(h, bits);
}

static void put_bytes(Hash *h, const void *data, size_t n) {
  put_number(h, n);
  if (n)
    put(h, data, n);
}

static void put_text(Hash *h, const char *s) { /* NULL is not "" */
  put_number(h, s != NULL);
  if (s)
    put_bytes(h, s, strlen(s));
}

static void put_texts(Hash *h, const char *const *texts, uint32_t n) {
  put_number(h, texts ? n + 1ull : 0);
  for (uint32_t i = 0; texts && i < n; i++)
    put_text(h, texts[i]);
}

/* --- objects visited --- */

static Seen *slot_of(Seen *table, uint32_t cap, const void *at) {
  assert(cap && !(cap & (cap - 1)));
  uint32_t k = (uint32_t)(((uintptr_t)at >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  while (table[k & (cap - 1)].at && table[k & (cap - 1)].at != at)
    k++;
  return &table[k & (cap - 1)];
}

static Seen *find(Keying *k, const void *at) {
  Seen *s = k->cap ? slot_of(k->seen, k->cap, at) : NULL;
  return s && s->at ? s : NULL;
}

static Seen *add(Keying *k, const void *at) {
  if (k->len * 2 >= k->cap) {
    uint32_t cap = k->cap ? 2 * k->cap : 256;
    Seen *table = CX_ARRAY(k->cx, Seen, cap);
    for (uint32_t i = 0; i < k->cap; i++)
      if (k->seen[i].at)
        *slot_of(table, cap, k->seen[i].at) = k->seen[i];
    k->seen = table;
    k->cap = cap;
  }
  Seen *s = slot_of(k->seen, k->cap, at);
  assert(at && !s->at && k->len < k->cap); /* added once, and there is a free slot */
  s->at = at;
  k->len++;
  return s;
}

static void put_reference(Keying *k, Hash *h, const FrozenFunc *func, const Frozen *space) {
  assert(!func != !space);
  const void *at = func ? (const void *)func : space;
  Seen *s = find(k, at);
  if (!s) {
    s = add(k, at);
    s->number = k->work.len;
    VEC_PUSH(&k->cx->arena, &k->work, ((Work){func, space}));
  }
  put_number(h, s->number);
}

static uint64_t number_of_file(Keying *k, const char *name) {
  for (uint32_t i = 0; i < k->files.len; i++)
    if (!strcmp(k->files.data[i], name))
      return i;
  VEC_PUSH(&k->cx->arena, &k->files, name);
  return k->files.len - 1;
}

/* --- frozen objects --- */

static void put_code(Keying *k, Hash *h, const Code *c);
static void put_contents(Keying *k, Hash *h, const Frozen *f);

/* By digest, which is computed once: tuples that share their items are not walked once for each
 * path to them, which would be exponential. */
static void put_shared(Keying *k, Hash *h, const Code *code, const Frozen *value) {
  const void *at = code ? (const void *)code : value;
  Seen *s = find(k, at);
  if (!s) {
    Hash own;
    unsigned char digest[CG_DIGEST_BYTES];
    llvm_blake3_hasher_init(&own);
    if (code)
      put_code(k, &own, code);
    else
      put_contents(k, &own, value);
    llvm_blake3_hasher_finalize(&own, digest, sizeof digest);
    s = add(k, at);
    memcpy(s->digest, digest, sizeof digest);
  }
  put(h, s->digest, sizeof s->digest);
}

/* Every plain member that some kind uses, including those that this kind does not use today; what a
 * kind refers to is hashed by its case of put_frozen. */
static void put_plain(Hash *h, const Frozen *f) {
  put_number(h, f->type);
  put_number(h, (uint64_t)f->i);
  put_double(h, f->re);
  put_double(h, f->im);
  if (f->kind == FZ_STR || f->kind == FZ_BYTES)
    put_bytes(h, f->text, f->n);
  else
    put_text(h, f->text);
}

static void put_frozen(Keying *k, Hash *h, const Frozen *f) {
  assert(f); /* a NULL value would hash like whatever follows it */
  put_number(h, (uint64_t)f->kind << 1 | f->wide);
  switch (f->kind) {
  case FZ_FUNC: put_reference(k, h, f->func, NULL); return;
  case FZ_MODULE:
  case FZ_OPAQUE:
  case FZ_ENUM: put_reference(k, h, NULL, f); return;
  case FZ_MEMBER:
    put_number(h, (uint64_t)f->i);
    put_reference(k, h, NULL, f->items[0]);
    return;
  case FZ_DEVICE_ARRAY: /* an address */
    fail(k->cx, (Loc){0}, ERR_INTERNAL, "key", "an address has no meaning in another process");
  case FZ_TUPLE:
  case FZ_SLICE:
  case FZ_NAMED:
  case FZ_ARRAY: put_shared(k, h, NULL, f); break;
  case FZ_CODE: put_shared(k, h, f->code, NULL); break;
  case FZ_INTRINSIC:
    put_number(h, f->func != NULL);
    if (f->func)
      put_reference(k, h, f->func, NULL);
    put_plain(h, f);
    break;
  case FZ_NONE:
  case FZ_ELLIPSIS:
  case FZ_BOOL:
  case FZ_INT:
  case FZ_FLOAT:
  case FZ_COMPLEX:
  case FZ_SCALAR:
  case FZ_DATE:
  case FZ_STR:
  case FZ_BYTES:
  case FZ_DTYPE:
  case FZ_EXCEPTION:
  case FZ_UNSET: put_plain(h, f); break;
  case FZ_DECLARED: /* the files that define it are linked later, and no part of the PTX */
    put_plain(h, f);
    put_text(h, f->names[0]);
    break;
  }
  put_number(h, f->nattrs); /* a number may be a member of an Enum, with a name */
  for (uint32_t i = 0; i < f->nattrs; i++) {
    put_text(h, f->attrs[i].name);
    put_frozen(k, h, f->attrs[i].value);
  }
}

/* The contents of a value that several others may refer to. */
static void put_contents(Keying *k, Hash *h, const Frozen *f) {
  if (f->kind == FZ_ARRAY) {
    const FrozenArray *a = f->array;
    put_number(h, a->elem);
    put_text(h, a->record);
    put_bytes(h, a->extents, sizeof *a->extents * a->ndim);
    put_number(h, a->nbytes);
    if (a->data)
      put_bytes(h, a->data, a->nbytes);
    return;
  }
  assert(f->kind == FZ_TUPLE || f->kind == FZ_SLICE || f->kind == FZ_NAMED);
  uint32_t items = f->kind == FZ_NAMED ? (uint32_t)f->i : f->n;
  put_plain(h, f);
  put_texts(h, f->names, f->n);
  put_number(h, items);
  for (uint32_t i = 0; i < items; i++)
    put_frozen(k, h, f->items[i]);
}

static void put_bindings(Keying *k, Hash *h, const Binding *b, uint32_t n) {
  put_number(h, n);
  for (uint32_t i = 0; i < n; i++) {
    put_text(h, b[i].name);
    put_frozen(k, h, b[i].value);
  }
}

static void put_values(Keying *k, Hash *h, const Frozen *const *values, uint32_t n) {
  put_number(h, n);
  for (uint32_t i = 0; i < n; i++)
    put_frozen(k, h, values[i]);
}

static void put_code(Keying *k, Hash *h, const Code *c) {
  const CgOptions *o = &k->request->options;
  const uint64_t numbers[] = {c->flags,
                              (uint64_t)c->firstlineno,
                              c->argcount,
                              c->posonlyargcount,
                              c->kwonlyargcount,
                              c->nlocals,
                              c->stacksize,
                              c->ncells,
                              c->nfrees,
                              number_of_file(k, c->filename),
                              (uint64_t)bc_optable_version(c->ops)};
  put(h, numbers, sizeof numbers);
  put_text(h, c->name);
  put_text(h, c->qualname);
  put_text(h, o->lineinfo || o->debug ? c->filename : NULL);
  put_texts(h, c->localsplus, c->nlocalsplus);
  put_texts(h, c->names, c->nnames);
  put_values(k, h, c->consts, c->nconsts);
  put_bytes(h, c->bytes, c->nbytes);
  put_bytes(h, c->linetable, c->nlinetable);
  put_bytes(h, c->exceptiontable, c->nexceptiontable);
}

static void put_function(Keying *k, Hash *h, const FrozenFunc *f) {
  assert(f->code && (f->closure || !f->code->nfrees));
  put_shared(k, h, f->code, NULL);
  put_bindings(k, h, f->globals, f->nglobals);
  put_values(k, h, f->closure, f->code->nfrees);
  put_values(k, h, f->defaults, f->ndefaults);
  put_bindings(k, h, f->kwdefaults, f->nkwdefaults);
  put_number(h, f->options != NULL);
  if (f->options) {
    put_number(h, (uint64_t)f->options->device << 1 | f->options->exact);
    put_number(h, f->options->inlining);
    put_texts(h, f->options->signatures, f->options->nsignatures);
  }
  put_number(h, f->consumer);
}

static void put_space(Keying *k, Hash *h, const Frozen *f) {
  put_plain(h, f);
  put_texts(h, f->names, f->n);
  put_values(k, h, f->items, f->items ? f->n : 0);
  put_bindings(k, h, f->attrs, f->nattrs);
}

/* --- the build --- */

/* The build id of the file that contains this function: the linker's hash over compiler, runtime
 * and LLVM. 2: found; 1: this is the file, but it has none; 0: another file, go on. */
static int note_build(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  uintptr_t here = (uintptr_t)(void *)(uintptr_t)cg_digest;
  const char *note = NULL, *end = NULL;
  bool ours = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t at = info->dlpi_addr + p->p_vaddr;
    ours |= p->p_type == PT_LOAD && here - at < p->p_memsz;
  }
  for (int i = 0; ours && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_NOTE)
      continue;
    note = (const char *)(info->dlpi_addr + p->p_vaddr);
    end = note + p->p_memsz;
    while (end - note > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
      const ElfW(Nhdr) *n = (const void *)note;
      const char *name = note + sizeof *n, *data = name + ((n->n_namesz + 3u) & ~3u);
      if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
        put_bytes(user, data, n->n_descsz);
        return 2;
      }
      note = data + ((n->n_descsz + 3u) & ~3u);
    }
  }
  return ours;
}

/* cmake/flags.cmake asks the linker for a build id; without one no kernel is stored. */
static void put_build(Keying *k, Hash *h) {
  put_text(h, PYPTX_VERSION);
  put_text(h, cg_llvm_version());
  if (dl_iterate_phdr(note_build, h) != 2)
    fail(k->cx, (Loc){0}, ERR_INTERNAL, "key", "this build of pyptx has no build id");
}

/* --- the request --- */

static void put_message(Hash *h, char *llvm_text) {
  put_text(h, llvm_text);
  LLVMDisposeMessage(llvm_text);
}

static void put_target(Hash *h, const CgRequest *r) {
  put_number(h, r->target);
  put_text(h, r->arch);
  put_number(h, (uint64_t)r->ptx_version);
  put_text(h, getenv("PYPTX_SKIP"));
  put_text(h, getenv("PYPTX_INLINE_LIMIT"));
  if (r->target != CG_HOST)
    return;
  put_message(h, LLVMGetDefaultTargetTriple());
  put_message(h, LLVMGetHostCPUName());
  put_message(h, LLVMGetHostCPUFeatures());
  put_text(h, getenv("PYPTX_HOST_FEATURES"));
}

static void put_function_and_library(Keying *k, Hash *h, const CgRequest *r) {
  put_reference(k, h, r->func, NULL);
  put_number(h, r->library != NULL);
  if (r->library)
    put_reference(k, h, NULL, r->library);
}

/* The bitcode from which a coarsened entry is made says all about the kernel. */
static void put_coarse(Hash *h, const CgKernel *k) {
  assert(k->rest && k->params.coarse.factor);
  put(h, &k->params.coarse, sizeof k->params.coarse);
  put_text(h, k->symbol);
  put_bytes(h, k->rest, k->rest_len);
}

static void put_request(Cg *cg) {
  Keying *k = cg->target_state;
  const CgRequest *r = k->request;
  Hash h;
  llvm_blake3_hasher_init(&h);
  put_text(&h, "pyptx kernel, format 2");
  put_build(k, &h);
  put_target(&h, r);
  /* the rows of options.def that are CODE, all of them ints, and so without padding */
  _Static_assert(sizeof r->options % sizeof(int) == 0, "CgOptions consists of ints");
  put(&h, &r->options, sizeof r->options);
  put_number(&h, r->apart != 0);
  put_text(&h, r->signature);
  put_text(&h, r->symbol);
  put_number(&h, r->coarse_of != NULL);
  if (r->coarse_of)
    put_coarse(&h, r->coarse_of);
  else
    put_function_and_library(k, &h, r);
  for (uint32_t i = 0; i < k->work.len; i++) { /* grows while it is worked off */
    Work w = k->work.data[i];
    if (w.func)
      put_function(k, &h, w.func);
    else
      put_space(k, &h, w.space);
  }
  llvm_blake3_hasher_finalize(&h, k->key->digest, CG_DIGEST_BYTES);
  k->key->files = cg_calloc(cg, k->files.len, sizeof *k->key->files);
  k->key->nfiles = k->files.len;
  for (uint32_t i = 0; i < k->files.len; i++)
    k->key->files[i] = k->files.data[i];
}

int cg_key(const CgRequest *request, CgKey *key) {
  memset(key, 0, sizeof *key);
  Keying k = {.request = request, .key = key};
  Cg cg = {.request = request, .target_state = &k};
  if (!(k.cx = cg.cx = cx_new()))
    return -1;
  int failed = cg_guarded(&cg, put_request);
  cx_free(cg.cx);
  return failed;
}

void cg_key_free(CgKey *key) {
  free(key->files);
  memset(key, 0, sizeof *key);
}
